/* Check suite for src/manifest/manifest and base/document: the models of good manifests, the exact messages for bad
 * ones, and errors for damaged ones. The examples of doc/reference/manifest.md and doc/reference/signatures.md are also
 * parsed here. */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_model *parse_sized(const char *text, size_t size)
{
	struct sk_model *model = sk_model_create(arena, &diag);

	return sk_manifest_parse(model, "m.yaml", text, size) ? model : NULL;
}

/* Keep the manifest, for scripts that compare other readers with this one, in the folder that the environment names. */
static void keep(const char *text)
{
	const char *folder = getenv("KEEP_MANIFESTS");
	char path[PATH_MAX];
	int descriptor;

	if (!folder || strlen(text) > 65536)
		return;
	snprintf(path, sizeof(path), "%s/XXXXXX.yaml", folder);
	descriptor = mkstemps(path, strlen(".yaml"));
	ck_assert_int_ge(descriptor, 0);
	ck_assert_int_eq(write(descriptor, text, strlen(text)), strlen(text));
	close(descriptor);
}

static struct sk_model *parse(const char *text)
{
	keep(text);
	return parse_sized(text, strlen(text));
}

/* The text must be a manifest without errors and warnings. */
static struct sk_model *parse_good(const char *text)
{
	struct sk_model *model = parse(text);
	expect_messages("");
	ck_assert_ptr_nonnull(model);
	return model;
}

static const struct sk_tensor *tensor(const struct sk_model *model, const char *name)
{
	uint32_t index = sk_map_find(&model->tensor_names, name, strlen(name));

	ck_assert_uint_ne(index, SK_NONE);
	ck_assert_str_eq(model->tensors.items[index].name, name);
	return &model->tensors.items[index];
}

static const struct sk_task *task(const struct sk_model *model, const char *name)
{
	uint32_t index = sk_map_find(&model->task_names, name, strlen(name));

	ck_assert_uint_ne(index, SK_NONE);
	ck_assert_str_eq(model->tasks.items[index].name, name);
	return &model->tasks.items[index];
}

/* ---- good manifests ---- */

/* Has something of everything. */
static const char complete[] =
	"sklink: 1\n"
	"device: a3\n"
	"library: [libops.a, /usr/lib/libmore.a]\n"
	"tasks:\n"
	"  - {name: scale, kernel: mul, args: [x, w, t], scope: sp1, set: {alpha: 0.5, k: -3, lda: n, pos: {tensor: "
	"p}}}\n"
	"  - {name: act, op: Gelu, args: {y: y, x: t}, stream: 3, scope: [sp2, sp1], after: scale, record: done, "
	"cost: {cube: {cycles: 9, before-wait: 7, after-set: 2}, vector: {waits: 3}}}\n"
	"  - {name: last, kernel: mul, args: [v, w, vv], scope: null, blocks: 12, after: [act, scale], wait: [done], "
	"cost: {operations: 4096, bytes: 0, code: 9007199254740992}}\n"
	"  - name: plain\n"
	"    kernel: \"axpy\"\n"
	"    scope: [sp1, null]\n"
	"    set: {h: 0xff, big: 18446744073709551615, small: -9223372036854775808, e: -1.5e3, inf: -.inf, nan: .nan}\n"
	"scopes:\n"
	"  sp2: {options: \"stream-fusion=1:profiling=1\"}\n"
	"tensors:\n"
	"  x: {dtype: f32, shape: [64, 1024]}\n"
	"  w: {dtype: f32, shape: [1024], data: data/w.npy}\n"
	"  t: {dtype: f32, shape: [64, 1024], role: temporary}\n"
	"  vv: {of: v, offset: [3, 0], shape: [1, 1024]}\n"
	"  v: {of: x, offset: [32, 0], shape: [32, 1024]}\n"
	"  part: {of: vv, offset: [0, 10], shape: [1, 5]}\n"
	"  /layer.0/y: {dtype: bf16, shape: [2, 3, 4], role: output, unwritten: keep}\n"
	"  y: {dtype: f32, shape: [64, 1024]}\n"
	"  p: {dtype: i64, shape: [1], role: inout}\n"
	"kernels:\n"
	"  axpy: {symbol: daxpy_, object: libblas.a, signature: \"ref n i32, ref alpha f64, in x f64[n], inout y "
	"f64[n]\"}\n"
	"  mul:\n"
	"    signature: >-\n"
	"      split=n; in x f32[n], in y f32[n],\n"
	"      out z f32[n], n i64\n"
	"  bare: {}\n";

START_TEST(test_tensors)
{
	const struct sk_model *model = parse_good(complete);
	const struct sk_tensor *x = tensor(model, "x"), *w = tensor(model, "w"), *vv = tensor(model, "vv"),
			       *part = tensor(model, "part"), *y = tensor(model, "/layer.0/y");

	ck_assert_uint_eq(model->tensors.count, 9);
	ck_assert_ptr_eq(x, &model->tensors.items[0]); /* manifest order */
	ck_assert_int_eq(x->dtype, SK_F32);
	ck_assert_uint_eq(x->rank, 2);
	ck_assert_uint_eq(x->shape[1], 1024);
	ck_assert_uint_eq(x->elements, 65536);
	ck_assert_uint_eq(x->bytes, 262144);
	ck_assert_uint_eq(x->view_of, SK_NONE);
	ck_assert_uint_eq(x->place.line, 15);
	ck_assert_uint_eq(x->place.column, 3);
	ck_assert(!x->role_declared);
	ck_assert_int_eq(w->role, SK_ROLE_CONSTANT);
	ck_assert_str_eq(w->data, "data/w.npy");
	ck_assert_int_eq(tensor(model, "t")->role, SK_ROLE_TEMPORARY);
	ck_assert_int_eq(tensor(model, "p")->role, SK_ROLE_INOUT);
	ck_assert_uint_eq(y->bytes, 48);
	ck_assert(y->keeps_unwritten && !x->keeps_unwritten);
	ck_assert_int_eq(y->role, SK_ROLE_OUTPUT);
	ck_assert(y->role_declared);
	/* A view of a view that comes later: resolved to the root. */
	ck_assert_uint_eq(vv->view_of, 0);
	ck_assert_uint_eq(vv->view_offset, 35 * 1024 * 4);
	ck_assert_uint_eq(vv->bytes, 4096);
	ck_assert_int_eq(vv->dtype, SK_F32);
	ck_assert_uint_eq(part->view_of, 0);
	ck_assert_uint_eq(part->view_offset, 35 * 1024 * 4 + 40);
	ck_assert_uint_eq(part->bytes, 20);
}
END_TEST

/* gcc makes the same f16 of these numbers as _Float16. */
START_TEST(test_constants)
{
	const struct sk_model *model = parse_good(
		"sklink: 1\n"
		"tensors:\n"
		"  flat: {dtype: i16, shape: [2, 2], data: [-1, 0x10, 3, 32767]}\n"
		"  nested: {dtype: u8, shape: [2, 1, 2], data: [[[1, 2]], [[3, 255]]]}\n"
		"  flags: {dtype: bool, shape: [3], data: [true, false, 1]}\n"
		"  f16: {dtype: f16, shape: [10], data: [1, -2.5, 65504, 65519, 6.1035e-5, 5.97e-8, 0.1, .inf, -0.0, "
		"2049]}\n"
		"  bf16: {dtype: bf16, shape: [5], data: [1, 3.1415927, 1.00390625, 1.01171875, -.inf]}\n"
		"  f32: {dtype: f32, shape: [2], data: [16777217, 0.1]}\n"
		"  ones: {dtype: f64, shape: [3], fill: 1}\n"
		"  text: {dtype: u8, shape: [5], text: abc}\n"
		"  path: {dtype: u8, shape: [5], data: abc}\n"
		"tasks: [{name: a, kernel: k, args: [flat]}]\n");
	static const int16_t flat[] = {-1, 16, 3, 32767};
	static const uint16_t f16[] = {0x3c00, 0xc100, 0x7bff, 0x7bff, 0x0400, 0x0001, 0x2e66, 0x7c00, 0x8000, 0x6800};
	static const uint16_t bf16[] = {0x3f80, 0x4049, 0x3f80, 0x3f82, 0xff80};
	static const float f32[] = {16777216, 0.1f};
	double one = 1;

	ck_assert_mem_eq(tensor(model, "flat")->contents, flat, sizeof(flat));
	ck_assert_mem_eq(tensor(model, "nested")->contents, "\1\2\3\xff", 4);
	ck_assert_mem_eq(tensor(model, "flags")->contents, "\1\0\1", 3);
	ck_assert_mem_eq(tensor(model, "f16")->contents, f16, sizeof(f16));
	ck_assert_mem_eq(tensor(model, "bf16")->contents, bf16, sizeof(bf16));
	ck_assert_mem_eq(tensor(model, "f32")->contents, f32, sizeof(f32));
	ck_assert(tensor(model, "ones")->filled && !memcmp(&tensor(model, "ones")->fill, &one, 8));
	ck_assert_mem_eq(tensor(model, "text")->contents, "abc\0\0", 5);
	ck_assert_ptr_null(tensor(model, "path")->contents);
	ck_assert_str_eq(tensor(model, "path")->data, "abc");
	ck_assert_int_eq(tensor(model, "ones")->role, SK_ROLE_CONSTANT);
}
END_TEST

START_TEST(test_attributes)
{
	const struct sk_model *model =
		parse_good("sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}, y: {dtype: f32, shape: [4]}}\n"
			   "tasks:\n"
			   "  - {name: t, op: Conv, attr: {group: 1, low: -9223372036854775808, alpha: 5e-1, mode: "
			   "linear, one: \"1\", "
			   "pads: [0, -1, 2], scales: [1, .5], none: []}, inputs: [x, null, x], outputs: y}\n"
			   "  - {name: u, op: Conv, attr: {}, args: [~, x, y]}\n"
			   "  - {name: v, op: Conv, outputs: [x, y]}\n"
			   "  - {name: w, op: Conv, args: {x: x, b: null}}\n");
	const struct sk_task *t = task(model, "t");
	const struct sk_attribute *a = t->said.attributes.items;

	ck_assert_uint_eq(t->said.attributes.count, 8);
	ck_assert_str_eq(a[0].name, "group");
	ck_assert_uint_eq(a[0].place.line, 4);
	ck_assert_uint_eq(a[0].place.column, 32);
	ck_assert(a[0].kind == SK_ATTRIBUTE_INTEGER && a[0].integer == 1);
	ck_assert(a[1].kind == SK_ATTRIBUTE_INTEGER && a[1].integer == INT64_MIN);
	ck_assert(a[2].kind == SK_ATTRIBUTE_REAL && a[2].real == 0.5);
	ck_assert(a[3].kind == SK_ATTRIBUTE_STRING && !strcmp(a[3].string, "linear"));
	ck_assert(a[4].kind == SK_ATTRIBUTE_STRING && !strcmp(a[4].string, "1"));
	ck_assert(a[5].kind == SK_ATTRIBUTE_INTEGERS && a[5].count == 3 && a[5].integers[1] == -1);
	ck_assert(a[6].kind == SK_ATTRIBUTE_REALS && a[6].count == 2 && a[6].reals[0] == 1 && a[6].reals[1] == 0.5);
	ck_assert(a[7].kind == SK_ATTRIBUTE_INTEGERS && a[7].count == 0);
	ck_assert(t->said.directed && t->said.input_count == 3 && t->said.args.count == 4);
	ck_assert_uint_eq(t->said.args.items[1].tensor, SK_NONE);
	ck_assert_uint_eq(t->said.args.items[3].tensor, 1);
	ck_assert(!task(model, "u")->said.directed && task(model, "u")->said.args.count == 3);
	ck_assert_uint_eq(task(model, "u")->said.args.items[0].tensor, SK_NONE);
	ck_assert(task(model, "v")->said.directed && task(model, "v")->said.input_count == 0);
	ck_assert_uint_eq(task(model, "v")->said.args.count, 2);
	ck_assert_uint_eq(task(model, "w")->said.args.items[1].tensor, SK_NONE);
}
END_TEST

START_TEST(test_tasks)
{
	const struct sk_model *model = parse_good(complete);
	const struct sk_task *scale = task(model, "scale"), *act = task(model, "act"), *last = task(model, "last");

	ck_assert_uint_eq(model->tasks.count, 4);
	ck_assert_str_eq(scale->said.kernel_name.text, "mul");
	ck_assert_uint_eq(scale->said.kernel_name.spot.line, 5);
	ck_assert_uint_eq(scale->said.kernel_name.spot.column, 27);
	ck_assert_ptr_null(scale->said.op.text);
	ck_assert_uint_eq(scale->said.args.count, 3);
	ck_assert_uint_eq(scale->said.arg_names.count, 0);
	ck_assert_str_eq(model->tensors.items[scale->said.args.items[2].tensor].name, "t");
	ck_assert_uint_eq(scale->said.args.items[2].spot.column, 45);
	ck_assert_uint_eq(scale->said.stream, 0);
	ck_assert_uint_eq(scale->bound.kernel, SK_NONE);
	ck_assert_str_eq(act->said.op.text, "Gelu");
	ck_assert_ptr_null(act->said.kernel_name.text);
	ck_assert_uint_eq(act->said.args.count, 2);
	ck_assert_str_eq(act->said.arg_names.items[1].text, "x");
	ck_assert_str_eq(model->tensors.items[act->said.args.items[1].tensor].name, "t");
	ck_assert_uint_eq(act->said.stream, 3);
	ck_assert_uint_eq(last->said.blocks, 12);
	ck_assert_uint_eq(last->said.cost->count, 1);
	ck_assert_uint_eq(last->said.cost->of[0].given,
			  1 << SK_COST_OPERATIONS | 1 << SK_COST_BYTES | 1 << SK_COST_CODE);
	ck_assert_uint_eq(last->said.cost->of[0].values[SK_COST_OPERATIONS], 4096);
	ck_assert_uint_eq(last->said.cost->of[0].values[SK_COST_BYTES], 0);
	ck_assert_uint_eq(last->said.cost->of[0].values[SK_COST_CODE], SK_COST_MAX);
	ck_assert_uint_eq(act->said.cost->count, 2);
	ck_assert_uint_eq(act->said.cost->of[0].values[SK_COST_AFTER_SET], 2);
	ck_assert_uint_eq(act->said.cost->of[1].given, 1 << SK_COST_WAITS);
	ck_assert_uint_eq(act->said.cost->of[1].values[SK_COST_WAITS], 3);
	ck_assert_ptr_null(scale->said.cost);
}
END_TEST

START_TEST(test_order)
{
	const struct sk_model *model = parse_good(complete);
	const struct sk_task *act = task(model, "act"), *last = task(model, "last");

	ck_assert_uint_eq(act->said.after.count, 1);
	ck_assert_uint_eq(act->said.after.items[0], 0);
	ck_assert_uint_eq(last->said.after.count, 2);
	ck_assert_uint_eq(last->said.after.items[0], 1);
	ck_assert_uint_eq(model->events.count, 1);
	ck_assert_str_eq(model->events.items[0].name, "done");
	ck_assert_uint_eq(act->said.record.count, 1);
	ck_assert_uint_eq(act->said.record.items[0], 0);
	ck_assert_uint_eq(last->said.wait.count, 1);
	ck_assert_uint_eq(last->said.wait.items[0], 0);
}
END_TEST

START_TEST(test_scopes)
{
	const struct sk_model *model = parse_good(complete);
	const struct sk_task *scale = task(model, "scale"), *act = task(model, "act");

	ck_assert_uint_eq(model->scopes.count, 2);
	ck_assert_str_eq(model->scopes.items[0].name, "sp2"); /* the declared one */
	ck_assert(model->scopes.items[0].stream_fusion);
	ck_assert(model->scopes.items[0].launch.profiling);
	ck_assert_str_eq(model->scopes.items[1].name, "sp1");
	ck_assert(!model->scopes.items[1].stream_fusion && !model->scopes.items[1].launch.profiling);
	ck_assert_uint_eq(scale->said.scopes.count, 1);
	ck_assert_uint_eq(scale->said.scopes.items[0], 1);
	ck_assert(!scale->said.never_fuse);
	ck_assert_uint_eq(act->said.scopes.count, 2); /* sorted */
	ck_assert_uint_eq(act->said.scopes.items[0], 0);
	ck_assert_uint_eq(act->said.scopes.items[1], 1);
	ck_assert(task(model, "last")->said.never_fuse);
	ck_assert_uint_eq(task(model, "last")->said.scopes.count, 0);
	ck_assert(task(model, "plain")->said.never_fuse);
	ck_assert_uint_eq(task(model, "plain")->said.scopes.count, 1);
}
END_TEST

/* Overriding with the text leaves these messages. */
static void override(struct sk_model *model, const char *text, const char *expected)
{
	bool good = sk_scope_options_override(model, (struct sk_place){.file = "there", .line = 1, .column = 1}, text);
	expect_messages(expected);
	ck_assert_int_eq(good, !*expected);
}

START_TEST(test_options_from_outside)
{
	struct sk_model *model = parse_good(complete);
	const struct sk_scope *sp2 = &model->scopes.items[0], *sp1 = &model->scopes.items[1];

	/* Option by option; others stay as they are. */
	override(model, "sp2=strict-scope-check=abort", "");
	ck_assert(sp2->stream_fusion);
	ck_assert_int_eq(sp2->strict, SK_STRICT_ABORT);
	ck_assert_int_eq(sp1->strict, SK_STRICT_NONE);
	override(model, " * = strict-scope-check=bypass ; sp1=stream-fusion=1:strict-scope-check=abort;", "");
	ck_assert_int_eq(sp2->strict, SK_STRICT_BYPASS);
	ck_assert_int_eq(sp1->strict, SK_STRICT_ABORT);
	ck_assert(sp1->stream_fusion);
	override(model, "", "");

	override(model, "sp1=stream-fusion=1;sp3=stream-fusion=0",
		 "t: error: there:1:21: unknown scope 'sp3'; did you mean 'sp2'?\n"
		 ">>> in 'sp1=stream-fusion=1;sp3=stream-fusion=0'\n");
	override(model, "sp1=stream-fusion=1:strict=abort",
		 "t: error: there:1:21: unknown scope option 'strict'\n>>> in 'sp1=stream-fusion=1:strict=abort'\n");
	override(model, "*=stream-fusion=1: stream-fusion=0",
		 "t: error: there:1:20: scope option 'stream-fusion' is given twice\n"
		 ">>> in '*=stream-fusion=1: stream-fusion=0'\n");
	override(model, "sp1=\"stream_fusion=1:dcci_after-kernel_end=a, b\"", "");
	ck_assert(sp1->stream_fusion && sp1->launch.flush_after.count == 2);
	override(model, "sp1=stream-fusion=1:stream_fusion=0",
		 "t: error: there:1:21: scope option 'stream_fusion' is given twice\n"
		 ">>> in 'sp1=stream-fusion=1:stream_fusion=0'\n");
	override(model, "sp1=dcci-after-kernel-end=cub,vec, cub",
		 "t: error: there:1:36: scope option 'dcci-after-kernel-end' names 'cub' twice\n"
		 ">>> in 'sp1=dcci-after-kernel-end=cub,vec, cub'\n");
	override(model, "sp1=\"stream-fusion=1",
		 "t: error: there:1:5: unknown scope option '\"stream-fusion'; did you mean 'stream-fusion'?\n"
		 ">>> in 'sp1=\"stream-fusion=1'\n");
	override(model, "stream-fusion",
		 "t: error: there:1:1: 'stream-fusion' is not SCOPE=OPTIONS\n>>> in 'stream-fusion'\n");
	override(model, "sp1=", "t: error: there:1:1: 'sp1=' is not SCOPE=OPTIONS\n>>> in 'sp1='\n");
}
END_TEST

START_TEST(test_set)
{
	const struct sk_model *model = parse_good(complete);
	const struct sk_set *set = task(model, "scale")->said.set.items, *more = task(model, "plain")->said.set.items;

	ck_assert_uint_eq(task(model, "scale")->said.set.count, 4);
	ck_assert_str_eq(set[0].name, "alpha");
	ck_assert_int_eq(set[0].number.kind, SK_NUMBER_REAL);
	ck_assert_double_eq(set[0].number.real, 0.5);
	ck_assert_uint_eq(set[0].place.column, 67);
	ck_assert_int_eq(set[1].kind, SK_SET_NUMBER);
	ck_assert_int_eq(set[1].number.kind, SK_NUMBER_INTEGER);
	ck_assert_int_eq(set[1].number.integer, -3);
	ck_assert(set[1].number.negative);
	ck_assert_int_eq(set[2].kind, SK_SET_EXTENT);
	ck_assert_str_eq(set[2].text, "n");
	ck_assert_int_eq(set[3].kind, SK_SET_TENSOR);
	ck_assert_str_eq(model->tensors.items[set[3].tensor].name, "p");
	ck_assert_int_eq(more[0].number.integer, 255);
	ck_assert_uint_eq((uint64_t)more[1].number.integer, UINT64_MAX);
	ck_assert(!more[1].number.negative);
	ck_assert_int_eq(more[2].number.integer, INT64_MIN);
	ck_assert(more[2].number.negative);
	ck_assert_double_eq(more[3].number.real, -1500.0);
	ck_assert(isinf(more[4].number.real) && more[4].number.real < 0);
	ck_assert(isnan(more[5].number.real));
}
END_TEST

START_TEST(test_kernels)
{
	const struct sk_model *model = parse_good(complete);
	const struct sk_declared_kernel *axpy = &model->declared.items[0], *mul = &model->declared.items[1];

	ck_assert_uint_eq(model->declared.count, 3);
	ck_assert_uint_eq(sk_map_find(&model->declared_names, "mul", 3), 1);
	ck_assert_str_eq(axpy->symbol.text, "daxpy_");
	ck_assert_str_eq(axpy->object.text, "libblas.a");
	ck_assert_str_eq(axpy->parsed->text, "ref n i32, ref alpha f64, in x f64[n], inout y f64[n]");
	ck_assert_ptr_null(mul->symbol.text);
	ck_assert_str_eq(mul->parsed->text, "split=n; in x f32[n], in y f32[n], out z f32[n], n i64");
	ck_assert_ptr_null(model->declared.items[2].parsed);
	ck_assert_str_eq(model->device->name, "a3");
	ck_assert_uint_eq(model->device->lane_count, 2);
	ck_assert_str_eq(model->device->lanes[1].name, "vector");
	ck_assert_uint_eq(model->device->lanes[0].blocks, 24);
	ck_assert_uint_eq(model->device->lanes[1].blocks, 48);
	ck_assert_uint_eq(model->libraries.count, 2);
	ck_assert_str_eq(model->libraries.items[0].text, "libops.a");
}
END_TEST

START_TEST(test_json)
{
	const struct sk_model *model =
		parse_good("{\"sklink\": 1, \"device\": \"host\",\n"
			   " \"tensors\": {\"x\": {\"dtype\": \"f32\", \"shape\": [2, 3]}},\n"
			   " \"tasks\": [{\"name\": \"a\", \"kernel\": \"k\", \"args\": [\"x\"], \"scope\": null,\n"
			   "   \"set\": {\"alpha\": -1.5e-3}}]}\n");

	ck_assert_str_eq(model->device->name, "host");
	ck_assert_str_eq(model->device->lanes[0].name, "core");
	ck_assert_uint_eq(model->device->lanes[0].blocks, 8);
	ck_assert_uint_eq(tensor(model, "x")->bytes, 24);
	ck_assert(task(model, "a")->said.never_fuse);
	ck_assert_double_eq(task(model, "a")->said.set.items[0].number.real, -0.0015);
}
END_TEST

#define JSON	 "{\"sklink\": 1,\n \"tensors\": {\""
#define JSON_END "\": {\"dtype\": \"f32\", \"shape\": [2]}}, \"tasks\": []}\n"

/* All escapes of RFC 8259, section 7. Half of a character is none, and only JSON has two escapes for one. */
START_TEST(test_json_strings)
{
	static const struct {
		const char *text, *scalar;
	} cases[] = {
		{"{\"k\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\uD834\\uDD1E.\\\\ud83d\\\\ude00\"}",
		 "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80\xf0\x9d\x84\x9e.\\ud83d\\ude00"},
		{"{\"k\": '\"\\ud83d\\ude00\"'}", "\"\\ud83d\\ude00\""}, /* quotes that JSON has not */
		{"k: \\ud83d\\ude00\n", "\\ud83d\\ude00"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sk_document document = {arena, &diag, "m.yaml", "the text", NULL};
		const struct sk_node *root = sk_document_parse(&document, arena, cases[i].text, strlen(cases[i].text));

		ck_assert_ptr_nonnull(root);
		ck_assert_str_eq(sk_node_value(sk_node_first(root))->text, cases[i].scalar);
	}
}
END_TEST

START_TEST(test_bad_json)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{JSON "\\ud83d\\ude00\": {\"dtyp\": 1}}, \"tasks\": []}", "m.yaml:2:31: "}, /* the place after a pair */
		{JSON "\\ud83d" JSON_END, "invalid Unicode character"},
		{JSON "\\ude00\\ud83d" JSON_END, "invalid Unicode character"},
		{JSON "\\ud83d\\u0041" JSON_END, "invalid Unicode character"},
		{JSON "\\ud83d\\ude0", "invalid YAML"},
		{JSON "\\ud83d\\ude00\\", "invalid YAML"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_ptr_null(parse(cases[i].text));

		char *messages = take_messages(&diag);

		ck_assert_msg(strstr(messages, cases[i].message) != NULL, "%zu: %s", i, messages);
		free(messages);
	}
}
END_TEST

/* The schema says which scalars are texts: names may look like YAML's numbers, nulls and booleans. */
START_TEST(test_scalars_are_what_the_schema_says)
{
	const struct sk_model *model =
		parse_good("sklink: \"1\"\n"
			   "tensors: {y: {dtype: f32, shape: [\"4\"]}, 1: {dtype: f32, shape: [4]}}\n"
			   "tasks: [{name: yes, kernel: off, args: [y, 1], scope: \"null\"},\n"
			   "  {name: a, kernel: off, args: [y, 1], scope: Null},\n"
			   "  {name: b, kernel: off, args: [y, 1], scope: NULL},\n"
			   "  {name: c, kernel: off, args: [y, 1], scope: 'NULL'},\n"
			   "  {name: d, kernel: off, args: [y, 1], scope: [\"None\", ~]}]\n");

	ck_assert_uint_eq(tensor(model, "1")->elements, 4);
	ck_assert_str_eq(task(model, "yes")->said.kernel_name.text, "off");
	ck_assert(!task(model, "yes")->said.never_fuse);
	ck_assert_str_eq(model->scopes.items[0].name, "null");
	ck_assert(task(model, "a")->said.never_fuse && task(model, "b")->said.never_fuse &&
		  task(model, "d")->said.never_fuse);
	ck_assert(!task(model, "c")->said.never_fuse);
	ck_assert_uint_eq(model->scopes.count, 3);
}
END_TEST

START_TEST(test_paths)
{
	static const struct {
		const char *manifest, *directory, *resolved;
	} cases[] = {
		{"m.yaml", ".", "a/b.o"},
		{"./m.yaml", ".", "a/b.o"},
		{"net/m.yaml", "net", "net/a/b.o"},
		{"/m.yaml", "/", "/a/b.o"},
		{"/net/m.yaml", "/net", "/net/a/b.o"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sk_model *model = sk_model_create(arena, &diag);

		ck_assert(sk_manifest_parse(model, cases[i].manifest, complete, strlen(complete)));
		ck_assert_str_eq(model->directory, cases[i].directory);
		ck_assert_str_eq(sk_model_path(model, "a/b.o"), cases[i].resolved);
		ck_assert_str_eq(sk_model_path(model, "/a/b.o"), "/a/b.o");
	}
}
END_TEST

/* ---- bad manifests ---- */

#define TENSORS                                                                                                        \
	"sklink: 1\n"                                                                                                  \
	"tensors:\n"                                                                                                   \
	"  x: {dtype: f32, shape: [4]}\n"                                                                              \
	"  y: {dtype: f32, shape: [4]}\n"
#define TASK                                                                                                           \
	"tasks:\n"                                                                                                     \
	"  - {name: a, kernel: k, args: [x, y]}\n"
#define TASK_IN_SCOPE                                                                                                  \
	"tasks:\n"                                                                                                     \
	"  - {name: a, kernel: k, args: [x, y], scope: a}\n"
#define ONE_TASK(tensors)                                                                                              \
	"sklink: 1\n"                                                                                                  \
	"tensors:\n" tensors "tasks:\n"                                                                                \
	"  - {name: a, kernel: k}\n"

/* A line of `messages` per error, without "t: error: ". */
static const struct {
	const char *text, *messages;
} bad[] = {
	/* a model's fusion */
	{"sklink: 1\ngraph: m.onnx\nfusion: [--opt_level=1]\n", "m.yaml:3:9: 'fusion' must be a text, not a list\n"},
	{"sklink: 1\ngraph: m.onnx\nswitches: [s.json]\n", "m.yaml:3:11: 'switches' must be a text, not a list\n"},
	{"sklink: 1\ngraph: m.onnx\nswitches: ''\n", "m.yaml:3:11: 'switches' must be a text, not nothing\n"},
	{"sklink: 1\ngraph: m.onnx\nfusion: {opt_level: 1}\n", "m.yaml:3:9: 'fusion' must be a text, not a map\n"},
	{TENSORS "tasks:\n  - {name: a, kernel: k, args: [x]}\nfusion: \"\"\n",
	 "m.yaml:7:9: this applies to a model, but no 'graph' names one\n"},
	/* yaml */
	{"", "m.yaml:1:1: the manifest is empty\n"},
	{"# nothing\n", "m.yaml:1:1: the manifest is empty\n"},
	{"sklink: 1\n"
	 "--- \n"
	 "sklink: 1\n",
	 "m.yaml:3:1: one document is expected, but a second one starts here\n"},
	{"a: b: c\n", "m.yaml:1:5: invalid YAML: mapping values are not allowed in this context\n"},
	{"sklink: [1\n", "m.yaml:2:1: invalid YAML: did not find expected ',' or ']' while parsing a flow sequence\n"},
	{"sklink: 1\n"
	 "\tx: 2\n",
	 "m.yaml:2:1: invalid YAML: a tab stands here; YAML is indented with blanks only\n"},
	{"- a\n", "m.yaml:1:1: the manifest must be a map, not a list\n"},
	{"just text\n", "m.yaml:1:1: the manifest must be a map, not 'just text'\n"},
	{"sklink: \"\\0\"\n", "m.yaml:1:9: a scalar cannot hold a NUL character\n"},
	{"sklink: 1\n"
	 "sklink: 1\n",
	 "m.yaml:2:1: duplicate key 'sklink'\n"
	 ">>> first given at m.yaml:1:1\n"},
	{TENSORS "tasks: &t []\n", "m.yaml:5:8: anchors and aliases are not accepted (&t)\n"},
	{"# %TAG\n%TAG !t! t:\n%TAG !t! t:\n---\nsklink: 1\n", "m.yaml:2:1: tags are not accepted (%TAG)\n"},
	{"sklink: 1\n...\n%TAG !t! t:\n", "m.yaml:3:1: tags are not accepted (%TAG)\n"},
	{"sklink: *t\n", "m.yaml:1:9: anchors and aliases are not accepted (*t)\n"},
	{"sklink: !!int 1\n", "m.yaml:1:9: tags are not accepted (tag:yaml.org,2002:int)\n"},
	{"<<: {sklink: 1}\n", "m.yaml:1:1: merge keys (<<) are not accepted\n"},
	{"? [a]\n"
	 ": 1\n",
	 "m.yaml:1:3: a key must be a name, not a list\n"},
	{"{? {a: b} : 1}\n", "m.yaml:1:4: a key must be a name, not a map\n"},
	/* top */
	{"{}\n", "m.yaml:1:1: the manifest has no 'sklink'\n"
		 "m.yaml:1:1: the manifest has no 'tensors'\n"
		 "m.yaml:1:1: the manifest has no 'tasks'\n"},
	{"sklink: 2\n"
	 "tensors: {}\n"
	 "tasks: []\n",
	 "m.yaml:1:9: the manifest is of format version 2, but this sklink reads version 1\n"
	 "m.yaml:3:8: there are no tasks\n"},
	{"sklink: one\n"
	 "tensors: []\n"
	 "tasks: {}\n",
	 "m.yaml:1:9: 'sklink' (the format version) must be an integer from 1 to 4294967295, not 'one'\n"
	 "m.yaml:2:10: 'tensors' must be a map, not a list\n"
	 "m.yaml:3:8: 'tasks' must be a list, not a map\n"},
	{"sklink: 1\n"
	 "tensor: {}\n"
	 "tasks: []\n",
	 "m.yaml:2:1: unknown key 'tensor' in the manifest; did you mean 'tensors'?\n"
	 "m.yaml:1:1: the manifest has no 'tensors'\n"
	 "m.yaml:3:8: there are no tasks\n"},
	{TENSORS "device: hots\n" TASK, "m.yaml:5:9: 'device' (if it is not the path of a profile) must be host or a3, "
					"not 'hots'; did you mean 'host'?\n"},
	{TENSORS "device: a2\n" TASK, "m.yaml:5:9: 'device' (if it is not the path of a profile) must be host or a3, "
				      "not 'a2'; did you mean 'a3'?\n"},
	{TENSORS "device: [host]\n" TASK,
	 "m.yaml:5:9: 'device' (if it is not the path of a profile) must be host or a3, not a list\n"},
	{TENSORS "macro: [a.yaml]\n" TASK, "m.yaml:5:1: unknown key 'macro' in the manifest\n"},
	{TENSORS "library: [a.a, {}]\n" TASK, "m.yaml:5:16: a library must be a text, not a map\n"},
	{TENSORS "tasks: []\n", "m.yaml:5:8: there are no tasks\n"},
	/* tensors */
	{ONE_TASK("  x: {dtype: f23, shape: [4]}\n"),
	 "m.yaml:3:14: the dtype of tensor 'x' must be i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 or "
	 "bool, not 'f23'; did you mean 'f32'?\n"},
	{ONE_TASK("  x: {shape: [4]}\n"), "m.yaml:3:3: tensor 'x' has no 'dtype'\n"},
	{ONE_TASK("  x: {dtype: f32}\n"), "m.yaml:3:3: tensor 'x' has no 'shape'\n"},
	{ONE_TASK("  x: 4\n"), "m.yaml:3:6: tensor 'x' must be a map, not '4'\n"},
	{ONE_TASK("  x: {dtyp: f32, shape: [4]}\n"),
	 "m.yaml:3:7: unknown key 'dtyp' in tensor 'x'; did you mean 'dtype'?\n"
	 "m.yaml:3:3: tensor 'x' has no 'dtype'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: 4}\n"), "m.yaml:3:26: the shape of tensor 'x' must be a list, not '4'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [1,1,1,1,1,1,1,1,1]}\n"),
	 "m.yaml:3:26: the shape of tensor 'x' must have at most 8 dimensions, not 9\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [0, 4294967296, 4294967296]}\n"),
	 "m.yaml:3:26: tensor 'x' is larger than 2^63 bytes\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [-1]}\n"),
	 "m.yaml:3:27: each dimension of tensor 'x' must be an integer from 0 to 9223372036854775807, not '-1'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [010]}\n"),
	 "m.yaml:3:27: each dimension of tensor 'x' must be an integer from 0 to 9223372036854775807, not '010'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4.0]}\n"),
	 "m.yaml:3:27: each dimension of tensor 'x' must be an integer from 0 to 9223372036854775807, not '4.0'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [99999999999999999999]}\n"),
	 "m.yaml:3:27: each dimension of tensor 'x' must be an integer from 0 to 9223372036854775807, not "
	 "'99999999999999999999'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4611686018427387904]}\n"),
	 "m.yaml:3:26: tensor 'x' is larger than 2^63 bytes\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4294967296, 4294967296]}\n"),
	 "m.yaml:3:26: tensor 'x' is larger than 2^63 bytes\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], role: imput}\n"),
	 "m.yaml:3:37: the role of tensor 'x' must be input, output, inout, constant or temporary, not 'imput'; did "
	 "you mean 'input'?\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], role: constant}\n"),
	 "m.yaml:3:37: constant 'x' has no 'data', 'fill' or 'text'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], role: input, data: w.npy}\n"),
	 "m.yaml:3:37: tensor 'x' has 'data', so its role is constant, not input\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], role: input, fill: 1}\n"),
	 "m.yaml:3:37: tensor 'x' has 'fill', so its role is constant, not input\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], fill: 1, data: x.npy}\n"),
	 "m.yaml:3:37: constant 'x' has its contents twice; 'data', 'fill' and 'text' exclude each other\n"},
	{ONE_TASK("  x: {dtype: u8, shape: [4], fill: 256}\n"),
	 "m.yaml:3:36: an element of constant 'x' is u8, not '256'\n"},
	{ONE_TASK("  x: {dtype: f16, shape: [4], fill: 65520}\n"),
	 "m.yaml:3:37: an element of constant 'x' is f16, not '65520'\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [4], fill: [1]}\n"),
	 "m.yaml:3:37: an element of constant 'x' is i32, not a list\n"},
	{ONE_TASK("  x: {dtype: bool, shape: [2], data: [true, 2]}\n"),
	 "m.yaml:3:45: an element of constant 'x' is true or false, not '2'\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [4], data: [0, 1.5, 2, 3]}\n"),
	 "m.yaml:3:41: an element of constant 'x' is i32, not '1.5'\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [4], data: [0, 1, 2]}\n"),
	 "m.yaml:3:37: constant 'x' is [4], so this must be a list of 4, not of 3\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [2, 2], data: [0, 1, 2]}\n"),
	 "m.yaml:3:40: constant 'x' has 4 elements, not 3\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [2, 2], data: [0, 1, [2], 3]}\n"),
	 "m.yaml:3:47: an element of constant 'x' is i32, not a list\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [2, 2], data: [[0, 1], 2]}\n"),
	 "m.yaml:3:49: constant 'x' is [2, 2], so this must be a list of 2, not one value\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [2, 2], data: [[0, [1, 2]], [2, 3]]}\n"),
	 "m.yaml:3:45: an element of constant 'x' is i32, not a list\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [2, 1073741824], data: [[0], [1]]}\n"),
	 "m.yaml:3:50: constant 'x' is [2, 1073741824], so this must be a list of 1073741824, not of 1\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [2], data: {a: 1}}\n"),
	 "m.yaml:3:37: the data of tensor 'x' must be a text, not a map\n"},
	{ONE_TASK("  x: {dtype: u8, shape: [1073741825], fill: 0}\n"),
	 "m.yaml:3:45: constant 'x' has 1073741825 bytes, and at most 1073741824 are filled; store them in a .npy "
	 "file\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], text: abcd}\n"),
	 "m.yaml:3:37: constant 'x' has 'text', so its dtype is u8, not f32\n"},
	{ONE_TASK("  x: {dtype: u8, shape: [3], text: abcd}\n"),
	 "m.yaml:3:36: the text of constant 'x' has 4 bytes, but the tensor has 3\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4], offset: [0]}\n"),
	 "m.yaml:3:39: only a view has an offset; name the tensor that 'x' is a part of with 'of'\n"},
	{ONE_TASK("  \"x\\x7f\": {dtype: f32, shape: [4]}\n"),
	 "m.yaml:3:3: the name of a tensor must be a name in UTF-8 without control characters, not 'x\\x7f'\n"},
	{ONE_TASK("  \"\": {dtype: f32, shape: [4]}\n"),
	 "m.yaml:3:3: the name of a tensor must be a name, not nothing\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4]}\n"
		  "  v: {of: z, shape: [4]}\n"),
	 "m.yaml:4:11: unknown tensor 'z'\n"},
	{ONE_TASK("  weight: {dtype: f32, shape: [4]}\n"
		  "  v: {of: wieght, shape: [4]}\n"),
	 "m.yaml:4:11: unknown tensor 'wieght'; did you mean 'weight'?\n"},
	{ONE_TASK("  v: {of: v, shape: [4]}\n"), "m.yaml:3:11: view 'v' is part of itself\n"},
	{ONE_TASK("  v: {of: w, shape: [4]}\n"
		  "  w: {of: u, shape: [4]}\n"
		  "  u: {of: v, shape: [4]}\n"),
	 "m.yaml:3:11: view 'v' is part of itself\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [4]}\n"),
	 "m.yaml:4:3: view 'v' needs as many dimensions as 'x', which is [4, 4]\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [2, 4], offset: [1]}\n"),
	 "m.yaml:4:3: view 'v' needs as many dimensions as 'x', which is [4, 4]\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [2, 4], offset: [3, 0]}\n"),
	 "m.yaml:4:37: view 'v' ends after 'x' in dimension 0: 3 + 2 > 4\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [5, 4]}\n"),
	 "m.yaml:4:21: view 'v' ends after 'x' in dimension 0: 0 + 5 > 4\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [3, 4, 4]}\n"
		  "  v: {of: x, shape: [3, 2, 2]}\n"),
	 "m.yaml:4:21: view 'v' has gaps of several kinds: a slice [3, 2, 2] of 'x' is not a set of rows at equal "
	 "distances; write it as 3 views, one for each index of dimension 0\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4], as: u8}\n"),
	 "m.yaml:3:38: only a view is the bytes of another tensor 'as' a type; the type of 'x' is its 'dtype'\n"},
	{ONE_TASK("  x: {dtype: u8, shape: [4, 6]}\n"
		  "  v: {of: x, as: f32}\n"),
	 "m.yaml:4:18: view 'v' cannot be f32: rows of 'x' have 6 bytes, and each must begin and end at a multiple of "
	 "4\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 6]}\n"
		  "  v: {of: x, as: i32}\n"),
	 "m.yaml:4:18: view 'v' of 'x', which is f32, cannot be i32: a view has the bytes of another type as u8, or "
	 "bytes "
	 "(u8) as another type\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [4, 4], dtype: f32, role: input, data: x.npy}\n"),
	 "m.yaml:4:36: a view has the dtype of the tensor it is part of; the same bytes in another type are 'as'\n"
	 "m.yaml:4:47: a view has the role of the tensor it is part of\n"
	 "m.yaml:4:60: a view has the data of the tensor it is part of\n"},
	{"sklink: 1\n"
	 "tensors: {x: {dtype: f32, shape: [4]}}\n"
	 "tasks: [{name: a, kernel: k, args: [x], scope: None}]\n",
	 "m.yaml:3:48: 'None' is neither null nor, without quotes, a scope; write null if the task must never be "
	 "fused\n"},
	{ONE_TASK("  x: {dtype: i8, shape: [4, 4], range: [0, 128]}\n"),
	 "m.yaml:3:44: the range of tensor 'x' needs integers from -128 to 127\n"},
	{ONE_TASK("  x: {dtype: i32, shape: [4, 4], range: [0.5, 1]}\n"),
	 "m.yaml:3:42: the range of tensor 'x' needs integers from -2147483648 to 2147483647\n"},
	{ONE_TASK("  x: {dtype: f16, shape: [4, 4], range: [0, 7e4]}\n"),
	 "m.yaml:3:45: the range of tensor 'x' needs numbers from -65504 to 65504\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4], range: [2, 1]}\n"),
	 "m.yaml:3:41: the range of tensor 'x' ends before it begins\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4], range: [1]}\n"),
	 "m.yaml:3:41: the range of tensor 'x' is two numbers, [LOW, HIGH], not 1\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4], unwritten: kept}\n"),
	 "m.yaml:3:45: 'unwritten' of tensor 'x' must be keep, not 'kept'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4], unwritten: keep}\n"
		  "  v: {of: x, shape: [4, 4], unwritten: keep}\n"),
	 "m.yaml:4:40: a view has the 'unwritten' of the tensor it is part of\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x}\n"),
	 "m.yaml:4:3: view 'v' has no 'shape'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [1, 4], offset: [18446744073709551615, 0]}\n"),
	 "m.yaml:4:38: each offset of view 'v' must be an integer from 0 to 9223372036854775807, not "
	 "'18446744073709551615'\n"},
	{ONE_TASK("  x: {dtype: f32, shape: [4, 4]}\n"
		  "  v: {of: x, shape: [1, 4], offset: [9223372036854775807, 0]}\n"),
	 "m.yaml:4:37: view 'v' ends after 'x' in dimension 0: 9223372036854775807 + 1 > 4\n"},
	/* kernels */
	{TENSORS "kernels: []\n" TASK, "m.yaml:5:10: 'kernels' must be a map, not a list\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbl: f}\n" TASK,
	 "m.yaml:6:7: unknown key 'symbl' in kernel 'k'; did you mean 'symbol'?\n"},
	{TENSORS "kernels:\n"
		 "  k: {signature: \"in x f23[n]\"}\n" TASK,
	 "m.yaml:6:24: signature, column 6: unknown type 'f23'; did you mean 'f32'?\n"},
	{TENSORS "kernels:\n"
		 "  k: {signature: in x f23}\n" TASK,
	 "m.yaml:6:23: signature, column 6: unknown type 'f23'; did you mean 'f32'?\n"},
	{TENSORS "kernels:\n"
		 "  k:\n"
		 "    signature: >-\n"
		 "      in x f32[n],\n"
		 "      out y f23[n]\n" TASK,
	 "m.yaml:7:16: signature, column 20: unknown type 'f23'; did you mean 'f32'?\n"},
	{TENSORS "kernels:\n"
		 "  k: {signature: \"in x f32[n], \\u0020out y f23[n]\"}\n" TASK,
	 "m.yaml:6:18: signature, column 21: unknown type 'f23'; did you mean 'f32'?\n"},
	{TENSORS "kernels:\n"
		 "  k: {signature: [in]}\n" TASK,
	 "m.yaml:6:18: a signature must be a text, not a list\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: \"\"}\n" TASK,
	 "m.yaml:6:15: the symbol of a kernel must be a name, not nothing\n"},
	{TENSORS "kernels:\n"
		 "  k: {object: }\n" TASK,
	 "m.yaml:6:15: the object of a kernel must be a text, not nothing\n"},
	/* scopes */
	{TENSORS "scopes: []\n" TASK_IN_SCOPE, "m.yaml:5:9: 'scopes' must be a map, not a list\n"},
	{TENSORS "scopes:\n"
		 "  1a: {}\n" TASK_IN_SCOPE,
	 "m.yaml:6:3: the name of a scope must be a C identifier, not '1a'\n"},
	{TENSORS "scopes:\n"
		 "  a: {option: \"\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:7: unknown key 'option' in scope 'a'; did you mean 'options'?\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream-fusoin=1\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:17: unknown scope option 'stream-fusoin'; did you mean 'stream-fusion'?\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream-fusion=2\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:17: scope option 'stream-fusion' must be 0 or 1, not '2'\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: stream-fusion=1:stream-fusion=0}\n" TASK_IN_SCOPE,
	 "m.yaml:6:32: scope option 'stream-fusion' is given twice\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream-fusion\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:17: scope option 'stream-fusion' has no value; write stream-fusion=1\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream-fusion=: =1\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:17: scope option 'stream-fusion' has no value; write stream-fusion=1\n"
	 "m.yaml:6:33: a scope option has no name; write name=value:name=value\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream-fusion=1::beginning=0\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:33: a scope option has no name; write name=value:name=value\n"
	 "m.yaml:6:34: unknown scope option 'beginning'\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: 1}\n" TASK_IN_SCOPE,
	 "m.yaml:6:16: unknown scope option '1'\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: [a]}\n" TASK_IN_SCOPE,
	 "m.yaml:6:16: the options of a scope must be a text, not a list\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream.fusion=1\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:17: unknown scope option 'stream.fusion'; did you mean 'stream-fusion'?\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"strict-scope-check=split\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:17: scope option 'strict-scope-check' must be bypass or abort, not 'split'\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \" stream-fusion = 1 : strict-scope-check = \"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:38: scope option 'strict-scope-check' has no value; write strict-scope-check=abort\n"},
	{TENSORS "scopes:\n"
		 "  a: {options: \"stream-fusion=1:\"}\n" TASK_IN_SCOPE,
	 "m.yaml:6:33: a scope option has no name; write name=value:name=value\n"},
	/* tasks */
	{TENSORS "tasks:\n"
		 "  - x\n",
	 "m.yaml:6:5: a task must be a map, not 'x'\n"},
	{TENSORS "tasks:\n"
		 "  - {}\n",
	 "m.yaml:6:5: a task has no 'name'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a}\n",
	 "m.yaml:6:5: task 'a' has neither 'kernel' nor 'op'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, op: K}\n",
	 "m.yaml:6:30: a task has a 'kernel' or an 'op', not both\n"},
	{TENSORS "tasks:\n"
		 "  - {nam: a, kernel: k}\n",
	 "m.yaml:6:6: unknown key 'nam' in a task; did you mean 'name'?\n"
	 "m.yaml:6:5: a task has no 'name'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: \"a\\tb\", kernel: k}\n",
	 "m.yaml:6:12: the name of a task must be a name in UTF-8 without control characters, not 'a\\x09b'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: \"\", kernel: k}\n",
	 "m.yaml:6:12: the name of a task must be a name, not nothing\n"},
	{TENSORS "tasks:\n"
		 "  - {name: \"a b\", kernel: k, after: c}\n",
	 "m.yaml:6:37: unknown task 'c'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k}\n"
		 "  - {name: a, kernel: k}\n",
	 "m.yaml:7:5: duplicate task 'a'\n"
	 ">>> first given at m.yaml:6:5\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k=1}\n",
	 "m.yaml:6:23: 'kernel' must be a name without blanks, control characters and '=', not 'k=1'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, record: \"e f\"}\n",
	 "m.yaml:6:34: 'record' must be a name without blanks, control characters and '=', not 'e f'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: [k]}\n",
	 "m.yaml:6:23: 'kernel' must be a name, not a list\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, args: {x: [x]}}\n",
	 "m.yaml:6:36: argument 'x' must be a name, not a list\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, args: [[x]]}\n",
	 "m.yaml:6:33: an argument must be a name, not a list\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, args: }\n",
	 "m.yaml:6:32: 'args' must be a list or a map\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, args: [x], outputs: [x]}\n",
	 "m.yaml:6:46: a task has 'args', or 'inputs' and 'outputs', not both\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, inputs: {x: x}}\n",
	 "m.yaml:6:34: an argument must be a name, not a map\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, inputs: [x, xx]}\n",
	 "m.yaml:6:38: unknown tensor 'xx'; did you mean 'x'?\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, attr: [1]}\n",
	 "m.yaml:6:32: 'attr' must be a map, not a list\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, attr: {axis: {b: 1}, c: ~, d: , e: true, f: 9223372036854775808, g: [1, x], "
		 "h: [1, [2]], i: 1e999, 'j k': 1}}\n",
	 "m.yaml:6:39: attribute 'axis' must be a number, a word, or a list of numbers\n"
	 "m.yaml:6:50: attribute 'c' must be a number, a word, or a list of numbers\n"
	 "m.yaml:6:56: attribute 'd' must be a number, a word, or a list of numbers\n"
	 "m.yaml:6:61: 'true' is not a number; write 1\n"
	 "m.yaml:6:70: '9223372036854775808' is not a number that an attribute can be\n"
	 "m.yaml:6:98: the list 'g' has numbers only: [0, 1] or [0.5, 1]\n"
	 "m.yaml:6:109: the list 'h' has numbers only: [0, 1] or [0.5, 1]\n"
	 "m.yaml:6:118: '1e999' is not a number that an attribute can be\n"
	 "m.yaml:6:125: the name of an attribute must be a name without blanks, control characters and '=', not 'j "
	 "k'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, args: [z]}\n",
	 "m.yaml:6:33: unknown tensor 'z'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, args: {x: z}}\n",
	 "m.yaml:6:36: unknown tensor 'z'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, stream: -1}\n",
	 "m.yaml:6:34: 'stream' must be an integer from 0 to 65535, not '-1'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, stream: 65536}\n",
	 "m.yaml:6:34: 'stream' must be an integer from 0 to 65535, not '65536'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, scope: [s, s]}\n",
	 "m.yaml:6:33: scope 's' is given twice\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, scope: }\n",
	 "m.yaml:6:33: 'scope' (null: never fuse) must be a C identifier, not nothing\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, scope: a.b}\n",
	 "m.yaml:6:33: 'scope' (null: never fuse) must be a C identifier, not 'a.b'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, blocks: 0}\n",
	 "m.yaml:6:34: 'blocks' must be an integer from 1 to 1048576, not '0'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, once: 1}\n",
	 "m.yaml:6:32: 'once' must be false or true, not '1'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, cost: {}}\n"
		 "  - {name: b, kernel: k, cost: {cycles: 1, operations: 1}}\n"
		 "  - {name: c, kernel: k, cost: {bites: 1}}\n"
		 "  - {name: d, kernel: k, cost: {bytes: -1}}\n"
		 "  - {name: e, kernel: k, cost: {cycles: 9007199254740993}}\n"
		 "  - {name: f, kernel: k, cost: 5}\n",
	 "m.yaml:6:32: 'cost' is empty; give 'cycles' or 'operations', 'bytes', 'code'\n"
	 "m.yaml:7:32: 'cost' has 'cycles' or 'operations', not both\n"
	 "m.yaml:8:33: unknown key 'bites' in 'cost'; did you mean 'bytes'?\n"
	 "m.yaml:9:40: 'bytes' must be an integer from 0 to 9007199254740992, not '-1'\n"
	 "m.yaml:10:41: 'cycles' must be an integer from 0 to 9007199254740992, not '9007199254740993'\n"
	 "m.yaml:11:32: 'cost' must be a map, not '5'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, cost: {cube: {cycles: 1}}}\n"
		 "  - {name: b, kernel: k, cost: {bytes: 1, cube: {cycles: 1}, vector: {cycles: 1}}}\n"
		 "  - {name: c, kernel: k, cost: {cube: {cycles: 1}, vector: {}}}\n"
		 "  - {name: d, kernel: k, cost: {cube: {cycles: 1}, vector: {cube: {}}}}\n"
		 "  - {name: e, kernel: k, cost: {bytes: 1, before-wait: 1}}\n"
		 "  - {name: f, kernel: k, cost: {cycles: 5, before-wait: 3, after-set: 3}}\n"
		 "  - {name: g, kernel: k, cost: {operations: 5, after-set: 6}}\n"
		 "  - {name: h, kernel: k, cost: {cube: 3, vector: {operations: 1, cycles: 1}}}\n",
	 "m.yaml:6:32: 'cost' has both 'cube' and 'vector' and nothing else, or neither\n"
	 "m.yaml:7:32: 'cost' has both 'cube' and 'vector' and nothing else, or neither\n"
	 "m.yaml:8:60: the cost of the vector side is empty; give 'cycles' or 'operations', 'bytes', 'code'\n"
	 "m.yaml:9:61: unknown key 'cube' in the cost of the vector side\n"
	 "m.yaml:10:56: 'before-wait' is a part of 'cycles' or 'operations', but neither is given\n"
	 "m.yaml:11:57: 'before-wait' and 'after-set' are parts of 'cycles', but together exceed it\n"
	 "m.yaml:12:59: 'before-wait' and 'after-set' are parts of 'operations', but together exceed it\n"
	 "m.yaml:13:39: the cost of the cube side must be a map, not '3'\n"
	 "m.yaml:13:50: the cost of the vector side has 'cycles' or 'operations', not both\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: [1]}\n",
	 "m.yaml:6:31: 'set' must be a map, not a list\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: [1]}}\n",
	 "m.yaml:6:35: the value of 'n' must be a number, the name of an extent, or {tensor: NAME}\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: }}\n",
	 "m.yaml:6:35: the value of 'n' must be a number, the name of an extent, or {tensor: NAME}\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: true}}\n",
	 "m.yaml:6:35: 'true' is not a number; write 1\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: 010}}\n",
	 "m.yaml:6:35: '010' is not a number that can be passed\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: 18446744073709551616}}\n",
	 "m.yaml:6:35: '18446744073709551616' is not a number that can be passed\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: -9223372036854775809}}\n",
	 "m.yaml:6:35: '-9223372036854775809' is not a number that can be passed\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: 0x}}\n",
	 "m.yaml:6:35: '0x' is not a number that can be passed\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: 1e999}}\n",
	 "m.yaml:6:35: '1e999' is not a number that can be passed\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: 1.2.3}}\n",
	 "m.yaml:6:35: '1.2.3' is not a number that can be passed\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: {tensr: x}}}\n",
	 "m.yaml:6:36: unknown key 'tensr' in the value of 'n'; did you mean 'tensor'?\n"
	 "m.yaml:6:35: the value of 'n' has no 'tensor'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: {tensor: z}}}\n",
	 "m.yaml:6:44: unknown tensor 'z'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, set: {n: {tensor: x, more: 1}}}\n",
	 "m.yaml:6:47: unknown key 'more' in the value of 'n'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, after: b}\n",
	 "m.yaml:6:33: unknown task 'b'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: first, kernel: k}\n"
		 "  - {name: a, kernel: k, after: frist}\n",
	 "m.yaml:7:33: unknown task 'frist'; did you mean 'first'?\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, after: [a]}\n",
	 "m.yaml:6:34: task 'a' cannot come after itself\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, after: [b]}\n"
		 "  - {name: b, kernel: k}\n",
	 "m.yaml:6:34: task 'b' comes later than 'a': tasks must be listed in a valid order\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, wait: e}\n",
	 "m.yaml:6:32: no task before 'a' records event 'e'\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, wait: e, record: e}\n",
	 "m.yaml:6:32: no task before 'a' records event 'e'\n"
	 ">>> the task records it itself, when it has ended: it would wait forever\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, wait: e}\n"
		 "  - {name: b, kernel: k, record: e}\n",
	 "m.yaml:6:32: no task before 'a' records event 'e'\n"
	 ">>> task 'b' records it, at m.yaml:7:5; tasks are listed in a valid order, so the wait would never end\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, record: done}\n"
		 "  - {name: b, kernel: k, wait: dome}\n",
	 "m.yaml:7:32: no task before 'b' records event 'dome'; did you mean 'done'?\n"},
	{TENSORS "tasks:\n"
		 "  - {name: a, kernel: k, record: e}\n"
		 "  - {name: b, kernel: k, record: [e]}\n",
	 "m.yaml:7:35: event 'e' is recorded twice\n"
	 ">>> first recorded at m.yaml:6:34\n"},
};

/* Without the program's name, which no table needs to repeat. */
static void strip_prefixes(char *messages)
{
	static const char *const prefixes[] = {"t: error: ", "t: "};

	for (size_t i = 0; i < 2; i++)
		for (char *at = messages; (at = strstr(at, prefixes[i]));)
			if (at == messages || at[-1] == '\n')
				memmove(at, at + strlen(prefixes[i]), strlen(at + strlen(prefixes[i])) + 1);
			else
				at++;
}

START_TEST(test_bad)
{
	ck_assert_ptr_null(parse(bad[_i].text));

	char *messages = take_messages(&diag);

	strip_prefixes(messages);
	ck_assert_str_eq(messages, bad[_i].messages);
	free(messages);
}
END_TEST

START_TEST(test_warnings)
{
	ck_assert_ptr_nonnull(parse(TENSORS "scopes: {sp1: {options: \"stream-fusion=1\"}}\n" TASK));

	expect_messages("t: warning: m.yaml:5:10: no task is in scope 'sp1'\n");
	ck_assert_ptr_nonnull(
		parse(TENSORS "scopes: {layer: {}}\ntasks: [{name: t, kernel: f, args: [x, y], scope: layr}]\n"));
	expect_messages("t: warning: m.yaml:5:10: no task is in scope 'layer'; did you mean 'layr'?\n");
}
END_TEST

/* Bytes that are not text: libyaml names the byte, sklink the line. */
START_TEST(test_bytes)
{
	static const struct {
		const char *text;
		size_t size;
		const char *messages;
	} cases[] = {
		{"sklink: 1\ndev\0ice: host\n", 24,
		 "m.yaml:2:4: not a text file: control characters are not allowed\n"},
		{"sklink: 1\n\ndevice: \xff\n", 21, "m.yaml:3:9: not a text file: invalid leading UTF-8 octet\n"},
		{"sklink: \xc3(\n", 11, "m.yaml:1:10: not a text file: invalid trailing UTF-8 octet\n"},
		{"\xff\xfes\0k\0", 6, "m.yaml:1:1: not a text file: invalid leading UTF-8 octet\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_ptr_null(parse_sized(cases[i].text, cases[i].size));

		char *messages = take_messages(&diag);

		strip_prefixes(messages);
		ck_assert_str_eq(messages, cases[i].messages);
		free(messages);
	}
}
END_TEST

START_TEST(test_files)
{
	struct sk_model *model = sk_model_create(arena, &diag);

	ck_assert(!sk_manifest_read(model, "/nonexistent/m.yaml"));
	ck_assert(!sk_manifest_read(model, "/"));

	expect_messages("t: error: /nonexistent/m.yaml: cannot open the manifest: No such file or directory\n"
			"t: error: /: cannot read the manifest: Is a directory\n");

	char path[] = "check_manifest.XXXXXX";
	int descriptor = mkstemp(path);

	ck_assert_int_ge(descriptor, 0);

	FILE *file = fdopen(descriptor, "w");

	/* Larger than the first read. */
	ck_assert_int_ge(fputs(complete, file), 0);
	for (unsigned i = 0; i < 20000; i++)
		ck_assert_int_ge(fputs("# 789\n", file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert(sk_manifest_read(sk_model_create(arena, &diag), path));
	remove(path);
}
END_TEST

/* Text that is made of one piece, many times. */
static char *repeat(const char *head, const char *piece, size_t count, const char *tail)
{
	size_t size = strlen(head) + count * strlen(piece) + strlen(tail) + 1;
	char *text = malloc(size), *end = stpcpy(text, head);

	for (size_t i = 0; i < count; i++)
		end = stpcpy(end, piece);
	strcpy(end, tail);
	return text;
}

/* Manifests that would take long, or much memory, stop early with an error. */
START_TEST(test_limits)
{
	static const struct {
		const char *head, *piece;
		size_t count;
		const char *tail, *message;
	} cases[] = {
		{"", "[", 100000, "", "m.yaml:1:33: nested deeper than 32 levels\n"},
		{"", "{", 100000, "", "m.yaml:1:33: nested deeper than 32 levels\n"},
		{"", "- ", 100000, "", "m.yaml:1:65: nested deeper than 32 levels\n"},
		{"", "? ", 100000, "", "nested deeper than 32 levels\n"},
		{"[", "[],", 5000000, "]", "too many entries (more than 4194304)\n"},
		{"", "# 4567890123456\n", (64 << 20) / 16 + 1, "", "m.yaml: the manifest is larger than 64 MiB\n"},
		{"sklink: 1\ntensors: {}\ntasks: [", "x,", 1000000, "]\n",
		 "m.yaml: too many errors; the rest of the manifest has not been checked\n"},
		{"sklink: 1\ntensors: {", "x: 1,", 200000, "}\n",
		 "too many errors; nothing behind this place has been read\n"},
		{"", "*a ", 1000, "", "anchors and aliases are not accepted"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = repeat(cases[i].head, cases[i].piece, cases[i].count, cases[i].tail);

		ck_assert_ptr_null(parse(text));
		ck_assert_uint_le(diag.errors, 1200);

		char *messages = take_messages(&diag);

		ck_assert_msg(strstr(messages, cases[i].message), "case %zu: %.1000s", i, messages);
		free(messages);
		free(text);
		close_sink();
		open_sink();
	}
}
END_TEST

/* ---- damaged manifests ---- */

/* A damaged manifest is accepted or has an error. */
static void parse_damaged(const char *text, size_t size)
{
	char *copy = malloc(size + 1); /* exactly as large, so that AddressSanitizer sees reads past the end */

	memcpy(copy, text, size);
	open_sink();

	const struct sk_model *model = parse_sized(copy, size);

	ck_assert((model == NULL) == (diag.errors > 0));
	close_sink();
	free(copy);
}

START_TEST(test_truncated)
{
	for (size_t size = 0; size < strlen(complete); size++)
		parse_damaged(complete, size);
}
END_TEST

START_TEST(test_flipped)
{
	static const char characters[] = "\n\t :-[]{},\"'#&*!|>%@?0.yx\\~\xff\xc3\x01";
	uint32_t random = 1;
	char text[sizeof(complete)];

	for (unsigned round = 0; round < 4000; round++) {
		memcpy(text, complete, sizeof(complete));
		for (unsigned flips = 0; flips <= round % 4; flips++) {
			random = random * 1664525 + 1013904223;

			char *at = &text[(random >> 8) % (sizeof(complete) - 1)];

			random = random * 1664525 + 1013904223;
			*at = round % 2 ? characters[(random >> 8) % (sizeof(characters) - 1)]
					: (char)(*at ^ (1 << (random >> 29)));
		}
		parse_damaged(text, strlen(text));
	}
}
END_TEST

/* ---- the reference ---- */

static char *read_reference(const char *name)
{
	const char *source = getenv("top_srcdir");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/doc/reference/%s", source ? source : ".", name);

	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "cannot open %s", path);

	char *text = calloc(1, 1 << 18);

	ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, file), 0);
	fclose(file);
	return text;
}

/* Return the next block fenced by ```language, NUL-terminated in place; *text moves past it. */
static char *next_block(char **text, const char *language)
{
	char fence[32];

	snprintf(fence, sizeof(fence), "\n```%s\n", language);

	char *block = strstr(*text, fence);

	if (!block)
		return NULL;
	block += strlen(fence);

	char *end = strstr(block, "\n```\n");

	ck_assert_ptr_nonnull(end);
	end[1] = 0;
	*text = end + 2;
	return block;
}

START_TEST(test_manifests_of_the_reference)
{
	char *reference = read_reference("manifest.md"), *rest = reference, *block;
	unsigned count = 0;

	for (; (block = next_block(&rest, "yaml")); count++)
		parse_good(block);
	ck_assert_uint_ge(count, 4);
	free(reference);
}
END_TEST

START_TEST(test_signatures_of_the_reference)
{
	const char *name = "signatures.md";
	char *reference = read_reference(name), *rest = reference, *block;
	unsigned count = 0;

	for (; (block = next_block(&rest, "signature"));)
		for (char *line = strtok(block, "\n"); line; line = strtok(NULL, "\n"), count++) {
			const struct sk_signature *signature = sk_signature_parse(
				arena, &diag, (struct sk_place){.file = name, .line = 1, .column = 1}, line);
			char *messages = take_messages(&diag);

			ck_assert_str_eq(messages, "");
			ck_assert_str_eq(signature->text, line); /* examples are written as sklink writes them */
			free(messages);
		}
	ck_assert_uint_ge(count, 30);
	free(reference);
}
END_TEST

static Suite *manifest_suite(void)
{
	Suite *suite = suite_create("manifest");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, open_sink, close_sink);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_tensors);
	tcase_add_test(tcase, test_constants);
	tcase_add_test(tcase, test_attributes);
	tcase_add_test(tcase, test_tasks);
	tcase_add_test(tcase, test_order);
	tcase_add_test(tcase, test_scopes);
	tcase_add_test(tcase, test_options_from_outside);
	tcase_add_test(tcase, test_set);
	tcase_add_test(tcase, test_kernels);
	tcase_add_test(tcase, test_json);
	tcase_add_test(tcase, test_json_strings);
	tcase_add_test(tcase, test_bad_json);
	tcase_add_test(tcase, test_scalars_are_what_the_schema_says);
	tcase_add_test(tcase, test_paths);
	tcase_add_loop_test(tcase, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tcase, test_warnings);
	tcase_add_test(tcase, test_bytes);
	tcase_add_test(tcase, test_files);
	tcase_add_test(tcase, test_limits);
	suite_add_tcase(suite, tcase);

	TCase *damaged = tcase_create("damaged");

	tcase_set_timeout(damaged, 120);
	tcase_add_test(damaged, test_truncated);
	tcase_add_test(damaged, test_flipped);
	suite_add_tcase(suite, damaged);

	TCase *reference = tcase_create("reference");

	tcase_add_checked_fixture(reference, open_sink, close_sink);
	tcase_add_test(reference, test_manifests_of_the_reference);
	tcase_add_test(reference, test_signatures_of_the_reference);
	suite_add_tcase(suite, reference);
	return suite;
}

int main(void)
{
	return run_suite(manifest_suite());
}
