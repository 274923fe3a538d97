/* Check suite for src/bind/kernels, src/bind/operators, src/bind/bind and src/bind/roles: from a manifest and a table
 * of functions to bound tasks. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/npy/npy.h"
#include "format/plan/isa.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "src/bind/bind-parts.h"
#include "src/bind/bind.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "tests/lib/fake-linker.h"
#include "tests/lib/random.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_linker *linker;
static struct sk_model *model;

static const struct fake_function functions[] = {
	{"k.o", "mul", "split=n; in x f32[n], in y f32[n], out z f32[n], n i64", 0, false},
	{"k.o", "scale", "split=n; in x f32[n], out y@x f32[n], n i32, alpha f32", 0, false},
	{"k.o", "bias", "split=m; in x f32[m,n], in b f32[n], out y f32[m,n], m i64, n i64", 0, false},
	{"k.o", "pack", "split=n; in x u8[n*4], out y u8[n*4], n i64", 0, false},
	{"k.o", "outer", "in x f32[m*n], in a f32[m], out y f32[n,2], n i64, m i64", 0, false},
	{"k.o", "matmul",
	 "blocks=m; block, in a f32[m,k], in b f32[k,n], out c f32[m,n], scratch t[100], scratch u[4], m i64, lda i64",
	 0, false},
	{"k.o", "spmd", "vector blocks; block, in x f32[n], out y f32[n]", 0, false},
	{"k.o", "cube", "cube; in x f32[n], out y f32[n]", 0, false},
	{"k.o", "dot", "ref n i32, in x f64[n], in y f64[n] -> out r f64", 0, false},
	{"k.o", "four", "in x f32[4], inout y f32[n]", 0, false},
	{"k.o", "at", "in x f32[n], out y f32[n], pos i64, ref row i32", 0, false},
	{"k.o", "types", "inout x f32[n], a i8, b u8, c i16, d u16, e i32, f u32, g i64, h u64, i f32, j f64, n u8", 0,
	 false},
	{"k.o", "counter", "out y f32[n]", 7, false},
	{"k.o", "spread", "split=n; out y f32[n], n i64", 8, false},
	{"k.o", "shared", "split=n reentrant; out y f32[n], n i64", 8, false},
	{"k.o", "both", "mix; block, inout x f32[n]", 0, false},
	{"k.o", "sides", "mix aic=cube aiv=nothing; block, inout x f32[n]", 0, false},
	{"k.o", "early", "blocks early-start=set; block, inout x f32[n]", 0, false},
	{"k.o", "broken", "in x f23[n]", 0, false},
	{"k.o", "bare", NULL, 0, false},
	{"k.o", "data", "in x f32[n]", 0, true},
	{"k.o", "relu_f32", "split=n op=Relu; in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "relu_f64", "split=n op=Relu; in x f64[n], out y f64[n], n i64", 0, false},
	{"k.o", "relu_mix", "mix op=Relu; block, in x u16[n], out y u16[n]", 0, false},
	{"m.o", "relu_blocks", "blocks op=Relu; block, in x f32[n], out y f32[n]", 0, false},
	{"lib.a(relu.o)", "relu_i8", "split=n op=Relu; in x i8[n], out y i8[n], n i64", 0, false},
	{"lib.a(gemv.o)", "gemv", NULL, 0, false},
	{"lib.a(mul.o)", "mul", "split=n; in x f64[n], in y f64[n], out z f64[n], n i64", 0, false},
	{"other.a(tanh.o)", "tanh_f32", "split=n op=Tanh; in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "fixed",
	 "in x f32[n], in y u8[m*4], a i32 = 4*n+m-1, b i16 = -(m/3), c f32 = -inf, d f16 = 1.5, e u8 = 'T', f ptr = "
	 "null, g u64 = 18446744073709551615, ref h i64 = sizeof(y)",
	 0, false},
	{"k.o", "parts",
	 "split=n; a u64 = size(n)*4, in x f32[n], out y f32[n], b i64 = begin(n)+1, ref c i32 = end(n)-begin(n), d "
	 "i32 = "
	 "(begin(n)+7)/8, e i64 = (8*begin(n)+4)/4-m, in w u8[m], f i64 = size(n)-size(n)",
	 0, false},
	{"k.o", "indexed", "blocks; i u8 = block.index, out y f32[n], c i32 = block.count*2, j i64 = 3*(block.index/2)",
	 0, false},
	{"k.o", "ranged",
	 "blocks=n; b i32 = begin(n), e i32 = end(n), s i32 = size(n), i i64 = block.index, out y f32[n]", 0, false},
	{"k.o", "grid",
	 "grid=2,m,n/256; i i32 = block.index, x i32 = block.index.x, y i32 = block.index.y, z i32 = block.index.z, nx "
	 "i32 = block.count.x, ny i32 = block.count.y, nz i64 = block.count.z, all i64 = block.count, out t u8[m], in "
	 "s "
	 "f32[n]",
	 0, false},
	{"k.o", "tiles",
	 "tile=m:6,n:16; m u8, l u64 = size(n), in a f32[m,k], in b f32[k,n], in p f32[n*4,k], out c f32[m,n] whole, i "
	 "i64 = "
	 "begin(m), j i64 = end(n), n i32, inout d@c f32[m,n]",
	 0, false},
	{"k.o", "each", "each=m,n; i i32 = begin(m), s i32 = size(m), m i16, in x f32[m], out y f32[m,n]", 0, false},
	{"k.o", "square", "tile=m:4,n:8; m i64, n i64, in x f32[m,k], out y@x f32[m,n]", 0, false},
	{"k.o", "small", "split=n; a u16 = size(n), inout x f32[n]", 0, false},
	{"k.o", "late", "split=n; a i16 = end(n), b i16 = begin(n), inout x f32[n]", 0, false},
	{"k.o", "below", "split=n; a u32 = begin(n)-1, n i64, inout x f32[n]", 0, false},
	{"k.o", "rounded", "split=n; a i32 = (begin(n)+size(n))/3, n i64, inout x f32[n]", 0, false},
	{"k.o", "negative", "a i32 = (n-100)/7, inout x f32[n]", 0, false},
	{"k.o", "zero", "a i32 = n/(n-n), inout x f32[n]", 0, false},
	{"k.o", "vast", "a u64 = n*18446744073709551615*n, inout x f32[n]", 0, false},
	{"k.o", "attributes",
	 "op=Any(mode=linear,form=same,k=3,a=0.5,l=[1,2]); in x f32[n], out y f32[n], axis i32 = attr(axis), e f32 = "
	 "attr(e), s i64 = n*attr(axis)+attr(more, 7), d f64 = attr(d,-2), p ptr = attr(pads), q {q ptr = "
	 "attr(scales), r "
	 "ptr = attr(none, null)}*",
	 0, false},
	{"k.o", "optional", "in? a f32[n], out y f32[n], in b f32[n], out? z f32[n], in? c f32[4], n i64", 0, false},
	{"k.o", "added", "inout y f32[n], in x f32[n]", 0, false},
	{"k.o", "own", "in x f32[n], out y f32[n]", .thread_storage = ".tbss in k.o"},
	{"k.o", "own_reentrant", "split=n reentrant; in x f32[n], out y f32[n], n i64",
	 .thread_storage = ".tbss in k.o"},
	{"k.o", "own_waits", "blocks sync-all reentrant; block, out y f32[n]", .thread_storage = ".tbss in k.o"},
	{"k.o", "own_early", "blocks early-start=both reentrant; block, out y f32[n]",
	 .thread_storage = ".tbss in k.o"},
	{"k.o", "own_sets", "blocks early-start=set reentrant; block, out y f32[n]", .thread_storage = ".tbss in k.o"},
	{"k.o", "own_mix", "mix reentrant; block, out y f32[n]"},
	{"k.o", "own_mix_mix_aic", NULL},
	{"k.o", "own_mix_mix_aiv", NULL, .thread_storage = ".tdata in k.o"},
};

static void set_up(void)
{
	open_sink();
	linker = fake_linker_create(arena, &diag, functions, sizeof(functions) / sizeof(functions[0]));
	sk_linker_add_file(linker, "k.o", false);
	sk_linker_add_file(linker, "m.o", false);
}

/* The tensors of most tests. */
#define TENSORS                                                                                                        \
	"sklink: 1\n"                                                                                                  \
	"tensors:\n"                                                                                                   \
	"  a: {dtype: f32, shape: [64, 1024]}\n"                                                                       \
	"  b: {dtype: f32, shape: [64, 1024]}\n"                                                                       \
	"  c: {dtype: f32, shape: [64, 1024]}\n"                                                                       \
	"  s: {dtype: f32, shape: [1024]}\n"                                                                           \
	"  d: {dtype: f64, shape: [1024]}\n"                                                                           \
	"  e: {dtype: f64, shape: [1024]}\n"                                                                           \
	"  f: {dtype: f64, shape: [1]}\n"                                                                              \
	"  i: {dtype: i64, shape: [1]}\n"                                                                              \
	"  j: {dtype: i32, shape: [1]}\n"                                                                              \
	"  u: {dtype: u8, shape: [2, 2, 8]}\n"                                                                         \
	"  w: {dtype: u8, shape: [32]}\n"                                                                              \
	"  top: {of: a, shape: [32, 1024]}\n"                                                                          \
	"  low: {of: a, shape: [32, 1024], offset: [32, 0]}\n"                                                         \
	"  mid: {of: a, shape: [32, 1024], offset: [16, 0]}\n"
#define TASKS TENSORS "tasks:\n"

/* Read, find and bind; true if all of it went well. */
static bool link_model(const char *text)
{
	model = sk_model_create(arena, &diag);
	return sk_manifest_parse(model, "m.yaml", text, strlen(text)) && sk_kernels_find(model, linker) &&
	       sk_model_bind(model);
}

static void link_good(const char *text)
{
	bool linked = link_model(text);
	expect_messages("");
	ck_assert(linked);
}

static const struct sk_argument *argument(uint32_t task, uint32_t index)
{
	ck_assert_uint_lt(task, model->tasks.count);
	ck_assert_uint_lt(index, model->tasks.items[task].bound.argument_count);
	return &model->tasks.items[task].bound.arguments[index];
}

static uint32_t tensor(const char *name)
{
	return sk_map_find(&model->tensor_names, name, strlen(name));
}

static const struct sk_kernel *kernel(uint32_t task)
{
	return &model->kernels.items[model->tasks.items[task].bound.kernel];
}

static void check_pointer(uint32_t task, uint32_t index, const char *name, uint64_t offset, uint64_t size,
			  uint64_t element_bytes, enum sk_access access)
{
	const struct sk_argument *a = argument(task, index);

	ck_assert_int_eq(a->kind, SK_ARGUMENT_POINTER);
	ck_assert_uint_eq(a->tensor, tensor(name));
	ck_assert_uint_eq(a->offset, offset);
	ck_assert_uint_eq(a->size, size);
	ck_assert_uint_eq(a->element_bytes, element_bytes);
	ck_assert_int_eq(a->access, access);
	ck_assert(!a->by_reference);
}

static void check_value(uint32_t task, uint32_t index, enum sk_dtype dtype, uint64_t value)
{
	const struct sk_argument *a = argument(task, index);

	ck_assert_int_eq(a->kind, SK_ARGUMENT_VALUE);
	ck_assert_int_eq(a->dtype, dtype);
	ck_assert_uint_eq(a->value, value);
	ck_assert_uint_eq(a->tensor, SK_NONE);
	ck_assert_int_eq(a->access, SK_ACCESS_NONE);
}

#define READ  SK_ACCESS_READ
#define WRITE SK_ACCESS_WRITE

/* ---- arguments ---- */

START_TEST(test_split)
{
	link_good(TASKS "  - {name: t, kernel: mul, args: [a, b, c]}\n"
			"  - {name: u, kernel: bias, args: [c, s, a]}\n"
			"  - {name: v, kernel: pack, args: [u, w]}\n"
			"  - {name: low, kernel: scale, args: {y: low, x: top}, set: {alpha: 2}}\n");

	check_pointer(0, 0, "a", 0, 262144, 4, READ);
	check_pointer(0, 2, "c", 0, 262144, 4, WRITE);
	ck_assert_int_eq(argument(0, 3)->kind, SK_ARGUMENT_LENGTH);
	ck_assert_int_eq(argument(0, 3)->dtype, SK_I64);
	ck_assert_uint_eq(model->tasks.items[0].bound.extent, 65536);
	ck_assert_uint_eq(model->tasks.items[0].bound.block_count, 0);
	ck_assert_uint_eq(model->tasks.items[0].bound.argument_count, 4);
	/* By rows: whole rows; the bias is shared; the scalar n is not a range. */
	check_pointer(1, 0, "c", 0, 262144, 4096, READ);
	check_pointer(1, 1, "s", 0, 4096, 0, READ);
	ck_assert_int_eq(argument(1, 3)->kind, SK_ARGUMENT_LENGTH);
	check_value(1, 4, SK_I64, 1024);
	ck_assert_uint_eq(model->tasks.items[1].bound.extent, 64);
	/* A product: four bytes per element of n; any shape of 32 bytes will do. */
	check_pointer(2, 0, "u", 0, 32, 4, READ);
	ck_assert_uint_eq(model->tasks.items[2].bound.extent, 8);
	/* By name, and views: the root and an offset. */
	check_pointer(3, 0, "a", 0, 131072, 4, READ);
	check_pointer(3, 1, "a", 131072, 131072, 4, WRITE);
}
END_TEST

/* ---- expressions ---- */

static void check_expression(uint32_t task, uint32_t index, enum sk_dtype dtype, int64_t value, uint32_t count)
{
	const struct sk_argument *a = argument(task, index);

	ck_assert_int_eq(a->kind, SK_ARGUMENT_EXPRESSION);
	ck_assert_int_eq(a->dtype, dtype);
	ck_assert_int_eq((int64_t)a->value, value);
	ck_assert_uint_eq(a->term_count, count);
}

static void check_term(uint32_t task, uint32_t index, uint32_t number, struct sk_plan_term term)
{
	const struct sk_argument *a = argument(task, index);

	ck_assert_uint_lt(number, a->term_count);
	ck_assert_uint_eq(a->terms[number].variable, term.variable);
	ck_assert_int_eq(a->terms[number].factor, term.factor);
	ck_assert_uint_eq(a->terms[number].addend, term.addend);
	ck_assert_uint_eq(a->terms[number].divisor, term.divisor);
	ck_assert_uint_eq(a->terms[number].modulus, term.modulus);
}

START_TEST(test_fixed_expressions)
{
	link_good(TASKS "  - {name: t, kernel: fixed, args: [s, w], set: {}}\n");
	ck_assert_int_eq(argument(0, 1)->kind, SK_ARGUMENT_POINTER);
	check_value(0, 2, SK_I32, 4 * 1024 + 8 - 1);
	check_value(0, 3, SK_I16, 0xfffe);
	check_value(0, 4, SK_F32, 0xff800000);
	check_value(0, 5, SK_F16, 0x3e00);
	check_value(0, 6, SK_U8, 'T');
	check_value(0, 7, SK_U64, 0);
	check_value(0, 8, SK_U64, UINT64_MAX);
	check_value(0, 9, SK_I64, 32);
	ck_assert(argument(0, 9)->by_reference);
}
END_TEST

#define BEGIN SK_VARIABLE_BEGIN
#define SIZE  SK_VARIABLE_SIZE
#define BLOCK SK_VARIABLE_BLOCK

START_TEST(test_expressions_of_parts)
{
	link_good(TASKS "  - {name: t, kernel: parts, args: [a, b, w]}\n");
	check_expression(0, 0, SK_U64, 0, 1);
	check_term(0, 0, 0, (struct sk_plan_term){SIZE, .factor = 4, .divisor = 1});
	check_expression(0, 3, SK_I64, 1, 1);
	check_term(0, 3, 0, (struct sk_plan_term){BEGIN, .factor = 1, .divisor = 1});
	/* Terms that cancel out are dropped, and exact quotients need no division. */
	check_expression(0, 4, SK_I32, 0, 1);
	ck_assert(argument(0, 4)->by_reference);
	check_term(0, 4, 0, (struct sk_plan_term){SIZE, .factor = 1, .divisor = 1});
	check_expression(0, 5, SK_I32, 0, 1);
	check_term(0, 5, 0, (struct sk_plan_term){BEGIN, .factor = 1, .addend = 7, .divisor = 8});
	check_expression(0, 6, SK_I64, 1 - 32, 1);
	check_term(0, 6, 0, (struct sk_plan_term){BEGIN, .factor = 2, .divisor = 1});
	check_value(0, 8, SK_I64, 0);
}
END_TEST

START_TEST(test_expressions_of_blocks)
{
	link_good(TASKS "  - {name: t, kernel: indexed, args: [s], blocks: 4}\n"
			"  - {name: u, kernel: indexed, args: [s], blocks: 1}\n"
			"  - {name: v, kernel: ranged, args: [s], blocks: 4}\n");
	check_expression(0, 0, SK_U8, 0, 1);
	check_term(0, 0, 0, (struct sk_plan_term){BLOCK, .factor = 1, .divisor = 1});
	check_value(0, 2, SK_I32, 8);
	check_expression(0, 3, SK_I64, 0, 1);
	check_term(0, 3, 0, (struct sk_plan_term){BLOCK, .factor = 3, .divisor = 2});
	/* One block is block 0. */
	check_value(1, 0, SK_U8, 0);
	check_value(1, 2, SK_I32, 2);
	check_value(1, 3, SK_I64, 0);
	check_expression(2, 0, SK_I32, 0, 1);
	check_term(2, 0, 0, (struct sk_plan_term){BLOCK, .factor = 256, .divisor = 1});
	check_expression(2, 1, SK_I32, 256, 1);
	check_value(2, 2, SK_I32, 256);
	check_expression(2, 3, SK_I64, 0, 1);
}
END_TEST

/* Compute the plan's argument for the block. */
static uint64_t value_for(uint32_t task, uint32_t index, uint64_t block)
{
	const struct sk_argument *found = argument(task, index);
	uint64_t value = found->value;

	for (uint32_t i = 0; i < found->term_count; i++)
		value += (block + found->terms[i].addend) / found->terms[i].divisor * (uint64_t)found->terms[i].factor;
	return value;
}

/* Up to 10 blocks of any extent: begin, end and size are those of sk_block_range. */
START_TEST(test_unequal_blocks)
{
	const char *tensors = "sklink: 1\ntensors:\n", *tasks = "tasks:\n";
	uint64_t blocks = (uint64_t)_i, most = 3 * blocks;

	for (uint64_t n = 1; n <= most; n++) {
		tensors = sk_arena_print(arena, "%s  y%u: {dtype: f32, shape: [%u]}\n", tensors, (unsigned)n,
					 (unsigned)n);
		tasks = sk_arena_print(arena, "%s  - {name: t%u, kernel: ranged, args: [y%u], blocks: %u}\n", tasks,
				       (unsigned)n, (unsigned)n, (unsigned)blocks);
	}
	link_good(sk_arena_print(arena, "%s%s", tensors, tasks));
	for (uint64_t n = 1; n <= most; n++)
		for (uint64_t block = 0; block < blocks; block++) {
			uint64_t begin = n * block / blocks, end = n * (block + 1) / blocks;

			ck_assert_uint_eq(value_for((uint32_t)n - 1, 0, block), begin);
			ck_assert_uint_eq(value_for((uint32_t)n - 1, 1, block), end);
			ck_assert_uint_eq(value_for((uint32_t)n - 1, 2, block), end - begin);
		}
}
END_TEST

#define INNER_BEGIN SK_VARIABLE_INNER_BEGIN
#define INNER_SIZE  SK_VARIABLE_INNER_SIZE

START_TEST(test_loops)
{
	link_good("sklink: 1\n"
		  "tensors: {a: {dtype: f32, shape: [300, 8]}, b: {dtype: f32, shape: [8, 40]}, c: {dtype: f32, shape: "
		  "[300, 40]},\n"
		  "  p: {dtype: f32, shape: [160, 8]}, x: {dtype: f32, shape: [300]}}\n"
		  "tasks: [{name: t, kernel: tiles, args: [a, b, p, c, c]}, {name: u, kernel: each, args: [x, c]}]\n");

	const struct sk_task *t = &model->tasks.items[0], *u = &model->tasks.items[1];

	ck_assert_uint_eq(t->bound.extent, 300);
	ck_assert_uint_eq(t->bound.loop_count, 2);
	ck_assert_uint_eq(t->bound.loops[0].extent, 300);
	ck_assert_uint_eq(t->bound.loops[0].tile, 6);
	ck_assert_uint_eq(t->bound.loops[1].extent, 40);
	ck_assert_uint_eq(t->bound.loops[1].tile, 16);
	/* A length that fits for a tile need not fit for all. */
	check_expression(0, 0, SK_U8, 0, 1);
	check_term(0, 0, 0, (struct sk_plan_term){SIZE, .factor = 1, .divisor = 1});
	check_term(0, 1, 0, (struct sk_plan_term){INNER_SIZE, .factor = 1, .divisor = 1});
	check_pointer(0, 2, "a", 0, 9600, 32, READ);
	ck_assert_ptr_null(argument(0, 2)->pattern);
	check_pointer(0, 3, "b", 0, 1280, 0, READ);
	ck_assert_uint_eq(argument(0, 3)->pattern->inner_bytes, 4);
	ck_assert_uint_eq(argument(0, 4)->pattern->inner_bytes, 4 * 8 * 4);
	check_pointer(0, 5, "c", 0, 48000, 160, WRITE);
	ck_assert(argument(0, 5)->whole && !argument(0, 2)->whole);
	ck_assert_uint_eq(argument(0, 5)->pattern->inner_bytes, 4);
	check_term(0, 6, 0, (struct sk_plan_term){BEGIN, .factor = 1, .divisor = 1});
	check_expression(0, 7, SK_I64, 0, 2);
	check_term(0, 7, 0, (struct sk_plan_term){INNER_BEGIN, .factor = 1, .divisor = 1});
	check_term(0, 7, 1, (struct sk_plan_term){INNER_SIZE, .factor = 1, .divisor = 1});
	check_term(0, 8, 0, (struct sk_plan_term){INNER_SIZE, .factor = 1, .divisor = 1});
	/* One element has length 1. */
	ck_assert_uint_eq(u->bound.loops[0].tile, 1);
	check_expression(1, 0, SK_I32, 0, 1);
	check_value(1, 1, SK_I32, 1);
	check_value(1, 2, SK_I16, 1);
}
END_TEST

START_TEST(test_grid)
{
	link_good(TASKS "  - {name: t, kernel: grid, args: [w, s]}\n");
	ck_assert_uint_eq(model->tasks.items[0].bound.block_count, 2 * 32 * 4);
	check_term(0, 0, 0, (struct sk_plan_term){BLOCK, .factor = 1, .divisor = 1});
	check_term(0, 1, 0, (struct sk_plan_term){BLOCK, .factor = 1, .divisor = 1, .modulus = 2});
	check_term(0, 2, 0, (struct sk_plan_term){BLOCK, .factor = 1, .divisor = 2, .modulus = 32});
	check_term(0, 3, 0, (struct sk_plan_term){BLOCK, .factor = 1, .divisor = 64});
	check_value(0, 4, SK_I32, 2);
	check_value(0, 5, SK_I32, 32);
	check_value(0, 6, SK_I64, 4);
	check_value(0, 7, SK_I64, 256);
}
END_TEST

START_TEST(test_products)
{
	link_good(
		"sklink: 1\n"
		"tensors: {x: {dtype: f32, shape: [12]}, a: {dtype: f32, shape: [3]}, y: {dtype: f32, shape: [4, 2]}}\n"
		"tasks: [{name: t, kernel: outer, args: [x, a, y]}]\n");
	check_value(0, 3, SK_I64, 4);
	check_value(0, 4, SK_I64, 3);
	check_pointer(0, 0, "x", 0, 48, 0, READ);
}
END_TEST

START_TEST(test_folding)
{
	link_good("sklink: 1\n"
		  "tensors:\n"
		  "  x: {dtype: f32, shape: [2, 3, 8]}\n"
		  "  b: {dtype: f32, shape: [2, 4]}\n"
		  "  y: {dtype: f32, shape: [6, 8]}\n"
		  "tasks: [{name: t, kernel: bias, args: [x, b, y]}]\n");
	ck_assert_uint_eq(model->tasks.items[0].bound.extent, 6);
	check_value(0, 4, SK_I64, 8);
}
END_TEST

START_TEST(test_blocks)
{
	link_good("sklink: 1\n"
		  "device: a3\n"
		  "tensors: {a: {dtype: f32, shape: [10, 8]}, b: {dtype: f32, shape: [8, 4]}, c: {dtype: f32, shape: "
		  "[10, 4]},\n"
		  "          d: {dtype: f32, shape: [10, 4]}, e: {dtype: f32, shape: [10, 4]}}\n"
		  "tasks:\n"
		  "  - {name: t, kernel: matmul, args: [a, b, c], set: {lda: k}}\n"
		  "  - {name: u, kernel: matmul, args: [a, b, c], set: {lda: 0x10}, blocks: 3}\n"
		  "  - {name: v, kernel: spmd, args: [c, d]}\n"
		  "  - {name: w, kernel: cube, args: [d, e]}\n");

	const struct sk_task *tasks = model->tasks.items;

	ck_assert_int_eq(argument(0, 0)->kind, SK_ARGUMENT_BLOCK);
	check_pointer(0, 1, "a", 0, 320, 32, READ);
	check_pointer(0, 2, "b", 0, 128, 0, READ);
	check_pointer(0, 3, "c", 0, 160, 16, WRITE);
	ck_assert_int_eq(argument(0, 4)->kind, SK_ARGUMENT_SCRATCH);
	ck_assert_uint_eq(argument(0, 4)->offset, 0);
	ck_assert_uint_eq(argument(0, 4)->size, 100);
	ck_assert_uint_eq(argument(0, 5)->offset, 128);
	ck_assert_uint_eq(tasks[0].bound.scratch_size, 192);
	check_value(0, 6, SK_I64, 10); /* the whole extent: a block finds its range itself */
	check_value(0, 7, SK_I64, 8);
	check_value(1, 7, SK_I64, 16);
	ck_assert_uint_eq(tasks[0].bound.extent, 10);
	ck_assert_uint_eq(tasks[0].bound.block_count, 48);
	ck_assert_uint_eq(tasks[1].bound.block_count, 3);
	check_pointer(2, 1, "c", 0, 160, 0, READ);
	ck_assert_uint_eq(tasks[2].bound.extent, 0);
	ck_assert_uint_eq(tasks[2].bound.block_count, 48);
	/* Lanes: any and vector go to 1, cube to 0. */
	ck_assert_uint_eq(tasks[0].bound.lane, 1);
	ck_assert_uint_eq(tasks[2].bound.lane, 1);
	ck_assert_uint_eq(tasks[3].bound.lane, 0);
}
END_TEST

START_TEST(test_host_has_one_lane)
{
	link_good(TASKS "  - {name: t, kernel: cube, args: [a, b]}\n"
			"  - {name: u, kernel: spmd, args: [b, c]}\n");
	ck_assert_uint_eq(model->tasks.items[0].bound.lane, 0);
	ck_assert_uint_eq(model->tasks.items[1].bound.lane, 0);
	ck_assert_uint_eq(model->tasks.items[1].bound.block_count, 8);
}
END_TEST

START_TEST(test_result_and_state)
{
	link_good(TASKS "  - {name: t, kernel: dot, args: [d, e, f]}\n"
			"  - {name: u, kernel: dot, args: {r: f, y: d, x: e}}\n"
			"  - {name: v, kernel: counter, args: [c]}\n"
			"  - {name: w, kernel: shared, args: [b]}\n");
	check_value(0, 0, SK_I32, 1024);
	ck_assert(argument(0, 0)->by_reference);
	check_pointer(0, 1, "d", 0, 8192, 0, READ);
	ck_assert_int_eq(argument(0, 3)->kind, SK_ARGUMENT_RESULT);
	ck_assert_int_eq(argument(0, 3)->dtype, SK_F64);
	ck_assert_uint_eq(argument(0, 3)->tensor, tensor("f"));
	ck_assert_uint_eq(argument(0, 3)->size, 8);
	ck_assert_int_eq(argument(0, 3)->access, WRITE);
	check_pointer(1, 1, "e", 0, 8192, 0, READ);
	ck_assert_uint_eq(argument(1, 3)->tensor, tensor("f"));
	/* Hidden state comes after all other arguments; reentrant kernels have none. */
	ck_assert_uint_eq(model->tasks.items[2].bound.argument_count, 2);
	ck_assert_int_eq(argument(2, 1)->kind, SK_ARGUMENT_STATE);
	ck_assert_uint_eq(argument(2, 1)->value, 7);
	ck_assert_int_eq(argument(2, 1)->access, READ | WRITE);
	ck_assert_uint_eq(model->tasks.items[3].bound.argument_count, 2);
}
END_TEST

START_TEST(test_scalars_from_tensors)
{
	link_good(TASKS "  - {name: t, kernel: at, args: [a, b], set: {pos: {tensor: i}, row: {tensor: j}}}\n");
	ck_assert_int_eq(argument(0, 2)->kind, SK_ARGUMENT_LOAD);
	ck_assert_int_eq(argument(0, 2)->dtype, SK_I64);
	ck_assert_uint_eq(argument(0, 2)->tensor, tensor("i"));
	ck_assert_uint_eq(argument(0, 2)->size, 8);
	ck_assert_int_eq(argument(0, 2)->access, READ);
	/* By address: the tensor's own address will do. */
	check_pointer(0, 3, "j", 0, 4, 0, READ);
}
END_TEST

START_TEST(test_in_place)
{
	link_good(TASKS "  - {name: t, kernel: scale, args: [a, a], set: {alpha: 1}}\n"
			"  - {name: u, kernel: scale, args: [top, top], set: {alpha: 1}}\n"
			"  - {name: v, kernel: scale, args: [top, low], set: {alpha: 1}}\n"
			"  - {name: w, kernel: mul, args: [a, a, b]}\n");
	check_pointer(0, 1, "a", 0, 262144, 4, WRITE);
}
END_TEST

/* ---- scalars ---- */

static const struct {
	const char *name, *value;
	enum sk_dtype dtype;
	uint64_t bits;
} scalars[] = {
	{"a", "-128", SK_I8, 0x80},
	{"a", "127", SK_I8, 127},
	{"b", "255", SK_U8, 255},
	{"c", "-32768", SK_I16, 0x8000},
	{"d", "0xffff", SK_U16, 0xffff},
	{"e", "-1", SK_I32, 0xffffffff},
	{"f", "4294967295", SK_U32, 0xffffffff},
	{"g", "-9223372036854775808", SK_I64, (uint64_t)1 << 63},
	{"g", "9223372036854775807", SK_I64, INT64_MAX},
	{"h", "18446744073709551615", SK_U64, UINT64_MAX},
	{"h", "-0", SK_U64, 0},
	{"e", "n", SK_I32, 64}, /* an extent */
	{"i", "1", SK_F32, 0x3f800000},
	{"i", "-2", SK_F32, 0xc0000000},
	{"i", "0.1", SK_F32, 0x3dcccccd},
	{"i", "-.inf", SK_F32, 0xff800000},
	{"i", "-inf", SK_F32, 0xff800000},
	{"j", "inf", SK_F64, 0x7ff0000000000000},
	{"j", "nan", SK_F64, 0x7ff8000000000000},
	/* Rounded once: by way of double it would be 1.0. */
	{"i", "1.00000005960464484", SK_F32, 0x3f800001},
	{"i", "18446744073709551615", SK_F32, 0x5f800000},
	{"j", "0.1", SK_F64, 0x3fb999999999999a},
	{"j", "-1e300", SK_F64, 0xfe37e43c8800759c},
	{"j", "-3", SK_F64, 0xc008000000000000},
	{"j", "+.inf", SK_F64, 0x7ff0000000000000},
};

START_TEST(test_scalars)
{
	char text[1024];
	uint32_t index = (uint32_t)(scalars[_i].name[0] - 'a');

	snprintf(text, sizeof(text),
		 "sklink: 1\n"
		 "tensors: {x: {dtype: f32, shape: [64]}}\n"
		 "tasks: [{name: t, kernel: types, args: [x], set: {");
	for (char name = 'a'; name <= 'j'; name++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c: %s, ", name,
			 name == scalars[_i].name[0] ? scalars[_i].value : "0");
	strcat(text, "}}]\n");
	link_good(text);
	check_value(0, 1 + index, scalars[_i].dtype, scalars[_i].bits);
	check_value(0, 11, SK_U8, 64);
	for (uint32_t i = 0; i < 10; i++)
		if (i != index)
			ck_assert_uint_eq(argument(0, 1 + i)->value, 0);
}
END_TEST

/* ---- attributes ---- */

#define ATTRIBUTES "mode: linear, k: 3, a: 0.5, l: [1, 2.0], axis: -1, e: 1, pads: [1, -2], scales: [0.5, 2]"

static void check_list(uint32_t index, enum sk_dtype dtype, const char *name, const void *bytes)
{
	const struct sk_argument *a = argument(0, index);
	const struct sk_tensor *list = &model->tensors.items[tensor(name)];

	check_pointer(0, index, name, 0, list->bytes, 0, READ);
	ck_assert_int_eq(a->dtype, dtype);
	ck_assert_int_eq(list->dtype, dtype);
	ck_assert_int_eq(list->role, SK_ROLE_CONSTANT);
	ck_assert_uint_eq(list->rank, 1);
	ck_assert_uint_eq(list->shape[0] * sk_dtype_size(dtype), list->bytes);
	ck_assert_mem_eq(list->contents, bytes, list->bytes);
}

START_TEST(test_attributes)
{
	static const int64_t pads[] = {1, -2};
	static const float scales[] = {0.5f, 2};

	link_good(TASKS "  - {name: t, kernel: attributes, args: [a, b], attr: {" ATTRIBUTES "}}\n"
			"  - {name: u, kernel: attributes, args: [a, c], attr: {" ATTRIBUTES
			", more: 1, d: 0.5, none: [3]}}\n"
			"  - {name: v, op: Any, args: [a, c], attr: {" ATTRIBUTES ", form: same, none: []}}\n");
	check_value(0, 2, SK_I32, UINT32_MAX);
	check_value(0, 3, SK_F32, 0x3f800000);
	check_value(0, 4, SK_I64, (uint64_t)(-65536 + 7));
	check_value(1, 4, SK_I64, (uint64_t)(-65536 + 1));
	check_value(0, 5, SK_F64, 0xc000000000000000);
	check_value(1, 5, SK_F64, 0x3fe0000000000000);
	check_list(6, SK_I64, "i64[1, -2]", pads);
	check_list(8, SK_F32, "f32[0.5, 2]", scales);
	ck_assert(argument(0, 8)->is_field);
	check_value(0, 9, SK_U64, 0);
	check_value(2, 9, SK_U64, 0);
	/* Equal lists are one constant. */
	ck_assert_uint_eq(argument(0, 6)->tensor, argument(1, 6)->tensor);
	ck_assert_uint_eq(argument(1, 9)->tensor, tensor("i64[3]"));
	ck_assert_ptr_eq(kernel(2), kernel(0));
	ck_assert_uint_eq(model->tensors.count, 17);
	ck_assert(sk_model_assign_roles(model));
	ck_assert_int_eq(model->tensors.items[tensor("i64[3]")].role, SK_ROLE_CONSTANT);
}
END_TEST

/* A list's name is its own. */
START_TEST(test_list_names)
{
	link_good("sklink: 1\n"
		  "tensors: {a: {dtype: f32, shape: [4]}, \"i64[3]\": {dtype: f32, shape: [4]}}\n"
		  "tasks: [{name: t, kernel: attributes, args: [a, \"i64[3]\"], attr: {" ATTRIBUTES ", none: [3]}}]\n");
	check_pointer(0, 9, "i64[3]'", 0, 8, 0, READ);
}
END_TEST

START_TEST(test_optional)
{
	link_good(TASKS "  - {name: t, kernel: optional, args: [null, b, c]}\n"
			"  - {name: u, kernel: optional, args: [a, b, c, null, null]}\n"
			"  - {name: v, kernel: optional, args: {y: b, b: c, z: a, c: ~}}\n"
			"  - {name: w, kernel: optional, inputs: [null, c], outputs: b}\n"
			"  - {name: x, kernel: optional, inputs: [a, c, null, null], outputs: [b]}\n"
			"  - {name: y, kernel: added, inputs: [a, b], outputs: a}\n"
			"  - {name: z, kernel: dot, inputs: [d, e], outputs: f}\n");
	for (uint32_t t = 0; t < 5; t++) {
		check_pointer(t, 1, "b", 0, 262144, 0, WRITE);
		check_pointer(t, 2, "c", 0, 262144, 0, READ);
		check_value(t, 4, SK_U64, 0);
		check_value(t, 5, SK_I64, 65536);
	}
	check_value(0, 0, SK_U64, 0);
	check_pointer(1, 0, "a", 0, 262144, 0, READ);
	check_pointer(2, 3, "a", 0, 262144, 0, WRITE);
	check_value(3, 0, SK_U64, 0);
	check_pointer(4, 0, "a", 0, 262144, 0, READ);
	check_pointer(5, 0, "a", 0, 262144, 0, READ | WRITE);
	check_pointer(5, 1, "b", 0, 262144, 0, READ);
	ck_assert_uint_eq(argument(6, 3)->tensor, tensor("f"));
}
END_TEST

/* ---- kernels ---- */

START_TEST(test_kernels)
{
	link_good(TENSORS "kernels:\n"
			  "  gemv: {object: lib.a, signature: \"in x f32[n], out y f32[n]\"}\n"
			  "  twice: {symbol: mul}\n"
			  "  second: {symbol: mul, object: lib.a}\n"
			  "  unused: {symbol: nowhere, object: missing.a}\n"
			  "tasks:\n"
			  "  - {name: t, kernel: mul, args: [a, b, c]}\n"
			  "  - {name: u, kernel: gemv, args: [a, b]}\n"
			  "  - {name: v, kernel: twice, args: [a, b, c]}\n"
			  "  - {name: w, kernel: second, args: [d, d, e]}\n"
			  "  - {name: x, kernel: mul, args: [b, a, c]}\n");
	ck_assert_uint_eq(model->kernels.count, 4);
	ck_assert_str_eq(kernel(0)->name, "mul");
	ck_assert_str_eq(kernel(0)->object_name, "k.o");
	ck_assert_uint_eq(kernel(0)->place.line, 23);
	ck_assert_str_eq(kernel(1)->symbol, "gemv");
	ck_assert_str_eq(kernel(1)->object_name, "lib.a(gemv.o)");
	ck_assert_str_eq(kernel(1)->signature->text, "in x f32[n], out y f32[n]");
	ck_assert_uint_eq(kernel(1)->place.line, 18);
	ck_assert_uint_eq(kernel(1)->code, 26);
	ck_assert_str_eq(kernel(2)->name, "twice");
	ck_assert_str_eq(kernel(2)->symbol, "mul");
	ck_assert_ptr_eq(kernel(2)->signature, kernel(0)->signature); /* parsed once */
	ck_assert_str_eq(kernel(3)->object_name, "lib.a(mul.o)");
	ck_assert_ptr_eq(kernel(4), kernel(0));
	ck_assert(fake_linker_pulled(linker, "gemv"));
	ck_assert(!fake_linker_pulled(linker, "relu_i8"));
}
END_TEST

/* op: of the first library that has one, and archives only where `library` names them. */
START_TEST(test_op)
{
	sk_linker_add_file(linker, "other.a", false);
	link_good(TENSORS "  p: {dtype: i8, shape: [8]}\n"
			  "  q: {dtype: i8, shape: [8]}\n"
			  "library: lib.a\n"
			  "kernels:\n"
			  "  mine: {symbol: bare, signature: \"op=Relu; in x f64[4], out y f64[4]\"}\n"
			  "tasks:\n"
			  "  - {name: t, op: Relu, args: [a, b]}\n"
			  "  - {name: u, op: Relu, args: [d, e]}\n"
			  "  - {name: v, op: Relu, args: [p, q]}\n"
			  "  - {name: w, op: Relu, args: [b, c], blocks: 4}\n"
			  "  - {name: x, op: Relu, args: [a, c]}\n"
			  "  - {name: y, kernel: relu_f32, args: [a, c]}\n");
	ck_assert_str_eq(kernel(0)->name, "relu_f32");
	ck_assert_str_eq(kernel(1)->name, "relu_f64");
	ck_assert_str_eq(kernel(2)->object_name, "lib.a(relu.o)");
	ck_assert_str_eq(kernel(3)->name, "relu_blocks");
	ck_assert_ptr_eq(kernel(4), kernel(0));
	ck_assert_uint_eq(model->tasks.items[3].bound.block_count, 4);
	ck_assert(fake_linker_pulled(linker, "relu_i8"));
	ck_assert(!fake_linker_pulled(linker, "relu_mix"));
}
END_TEST

/* A caller without a task asks with tensors of no model. It gets a kernel, or the reason why there is none; no message
 * is printed. */
START_TEST(test_op_without_a_task)
{
	struct sk_tensor x = {.name = "x", .dtype = SK_F64, .rank = 1, .shape = {8}, .elements = 8, .bytes = 64}, y = x;
	struct sk_request_argument arguments[] = {{&x, 0, {0}}, {&y, 1, {0}}};
	struct sk_request request = {.arguments = {.items = arguments, .count = 2}};
	struct sk_record_signatures signatures;
	struct sk_ops ops;

	x.view_of = y.view_of = SK_NONE;
	model = sk_model_create(arena, &diag);
	sk_record_signatures_init(&signatures, model);
	sk_ops_init(&ops, model, linker, &signatures, NULL, 0);
	ck_assert_str_eq(sk_ops_find(&ops, "Relu", &request)->name, "relu_f64");
	x.dtype = y.dtype = SK_F32;
	ck_assert_str_eq(sk_ops_find(&ops, "Relu", &request)->name, "relu_f32");
	request.blocks = 2;
	ck_assert_str_eq(sk_ops_find(&ops, "Relu", &request)->name, "relu_blocks");

	y.dtype = SK_I8;
	request.blocks = 0;
	ck_assert_ptr_null(sk_ops_find(&ops, "Relu", &request));

	struct sk_misfits misfits = sk_ops_explain(&ops, "Relu", &request, NULL);

	ck_assert(!misfits.more);
	ck_assert_uint_eq(misfits.items.count, 4);
	ck_assert_str_eq(misfits.items.items[0].kernel->name, "relu_f32");
	ck_assert_str_eq(misfits.items.items[0].reason, "argument 'y' is f32, but tensor 'x' is i8");
	ck_assert_uint_eq(sk_ops_explain(&ops, "Gelu", &request, NULL).items.count, 0);
	ck_assert_uint_eq(model->tasks.count + model->tensors.count + model->kernels.count, 0);
	ck_assert_uint_eq(diag.errors, 0);
}
END_TEST

/* From an archive only those signatures are read that say the op, or do not clearly say one; from objects all are read.
 * */
START_TEST(test_signatures_of_other_ops_wait)
{
	static const struct fake_function table[] = {
		{"lib.a(a.o)", "first", "split=n op=Neg; in x f32[n], out y f32[n], n i64", 0, false},
		{"lib.a(b.o)", "bad", "op=Abs; in x f23[n]", 0, false},
		{"lib.a(c.o)", "second", "op=Neg(k=1); in x f32[n], out y f32[n]", 0, false},
		{"lib.a(d.o)", "unclear", "op=Neg op=Abs; in x f32[n], out y f32[n]", 0, false},
		{"object.o", "other", "op=Sqrt; in x f23[n]", 0, false},
	};
	struct sk_tensor x = {.name = "x", .dtype = SK_F32, .rank = 1, .shape = {8}, .elements = 8, .bytes = 32}, y = x;
	struct sk_request_argument arguments[] = {{&x, 0, {0}}, {&y, 1, {0}}};
	struct sk_request request = {.arguments = {.items = arguments, .count = 2}};
	struct sk_linker *archive = fake_linker_create(arena, &diag, table, sizeof(table) / sizeof(table[0]));
	const uint32_t library = sk_linker_add_file(archive, "lib.a", false);
	struct sk_record_signatures signatures;
	struct sk_ops ops;

	sk_linker_add_file(archive, "object.o", false);
	x.view_of = y.view_of = SK_NONE;
	model = sk_model_create(arena, &diag);
	sk_record_signatures_init(&signatures, model);
	sk_ops_init(&ops, model, archive, &signatures, &library, 1);
	ck_assert_str_eq(sk_ops_find(&ops, "Neg", &request)->name, "first");
	ck_assert_uint_eq(sk_ops_explain(&ops, "Neg", &request, NULL).items.count, 2);
	expect_messages("t: error: lib.a(d.o):(.sk.kernels+0x30): signature, column 8: duplicate attribute 'op'\n"
			"t: error: object.o:(.sk.kernels+0x40): signature, column 15: unknown type 'f23'; did you mean "
			"'f32'?\n");
	ck_assert_ptr_null(sk_ops_find(&ops, "Abs", &request));
	ck_assert_ptr_null(sk_ops_find(&ops, "Abs", &request));
	expect_messages("t: error: lib.a(b.o):(.sk.kernels+0x10): signature, column 14: unknown type 'f23'; did you "
			"mean 'f32'?\n");
	ck_assert_uint_eq(signatures.parsed.count, 5);
	ck_assert_uint_eq(sk_ops_explain(&ops, "Abs", &request, NULL).items.count, 0);
}
END_TEST

/* A declared kernel that says op= comes first. */
START_TEST(test_declared_op)
{
	link_good(TENSORS "kernels:\n"
			  "  mine: {symbol: bare, signature: \"op=Relu; in x f32[n], out y f32[n]\"}\n"
			  "tasks:\n"
			  "  - {name: t, op: Relu, args: [a, b]}\n"
			  "  - {name: u, kernel: mine, args: [a, b]}\n");
	ck_assert_str_eq(kernel(0)->name, "mine");
	ck_assert_str_eq(kernel(0)->symbol, "bare");
	ck_assert_ptr_eq(kernel(0), kernel(1));
}
END_TEST

/* ---- op: kernels at random ---- */

enum { OP_ROUNDS = 300, OP_KERNELS = 24, OP_TASKS = 24, OP_TENSORS = 12 };

static const char *const random_dtypes[] = {"f32", "i32"};

/* Few shapes, so that several kernels often fit: of any shape with so many elements, or of two or three dimensions. */
static void print_random_kernel(FILE *stream, uint32_t number, uint64_t *random)
{
	static const char *const inputs[] = {"6", "12", "n", "m,n", "m,6", "m,2", "m,2,n", "m,3,2", "3,m", "m,n*2"};
	static const char *const outputs[] = {"n", "6", "n*2", "3", "m", "m,6", "2,m"};
	static const char *const conditions[] = {"",	  "",	       "",	  "(k=1)",  "(k=2)",
						 "(w=a)", "(w=a,k=1)", "(k=1.5)", "(l=[1])"};
	static const char *const others[] = {"", "", "", ", v i64 = attr(k, 5)", ", v i64 = attr(k)", ", a i32"};
	bool blocks = !random_below(random, 4);

	fprintf(stream, "  k%u: {symbol: bare, signature: \"op=%s%s%s%s; in %s %s[%s], out %s f32[%s]%s%s\"}\n", number,
		random_below(random, 4) ? "Any" : "Other",
		conditions[random_below(random, 3) ? 0 : random_below(random, 9)], blocks ? " blocks" : "",
		random_below(random, 6) ? "" : " isa=avx2", random_below(random, 6) ? "x" : "first",
		random_dtypes[!random_below(random, 8)], inputs[random_below(random, 10)],
		random_below(random, 6) ? "y" : "second", outputs[random_below(random, 7)],
		random_below(random, 4) ? "" : ", in? z f32[2]", blocks ? ", block" : others[random_below(random, 6)]);
}

static void print_random_task(FILE *stream, uint32_t number, uint64_t *random)
{
	static const char *const args[] = {"args: [t%u, t%u]", "args: {x: t%u, y: t%u}", "inputs: t%u, outputs: [t%u]",
					   "args: [t%u, t%u, null]", "inputs: [t%u, null], outputs: t%u"};
	static const char *const attributes[] = {"",	       "",	 "",	   "k: 1", "k: 2.0",
						 "w: a, k: 1", "l: [1]", "k: 1.5", "w: b"};

	fprintf(stream, "  - {name: a%u, op: Any, attr: {%s}, ", number,
		attributes[random_below(random, 4) ? 0 : random_below(random, 9)]);
	fprintf(stream, args[random_below(random, 5)], random_below(random, OP_TENSORS),
		random_below(random, OP_TENSORS));
	fputs("}\n", stream);
}

static char *random_ops(uint64_t *random)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	fputs("sklink: 1\ntensors:\n", stream);
	for (uint32_t i = 0; i < OP_TENSORS; i++)
		fprintf(stream, "  t%u: {dtype: %s, shape: [%u, %u, %u]}\n", i,
			random_dtypes[random_below(random, 6) == 0], 1 + random_below(random, 3),
			1 + random_below(random, 3), 1 + random_below(random, 6));
	fputs("kernels:\n", stream);
	for (uint32_t i = 0; i < OP_KERNELS; i++)
		print_random_kernel(stream, i, random);
	fputs("tasks:\n", stream);
	for (uint32_t i = 0; i < OP_TASKS; i++)
		print_random_task(stream, i, random);
	fclose(stream);
	return text;
}

/* Count the kernel's demands in the signature's text: conditions, numbers in brackets, and an instruction set. */
static uint32_t weight_of(const char *text)
{
	uint32_t weight = 0;

	for (const char *at = strpbrk(text, "[,"); at; at = strpbrk(at + 1, "[,"))
		weight += 2 * (at[1] >= '0' && at[1] <= '9' && strcspn(at, "]") < strcspn(at, " "));
	if (strncmp(text, "op=Any(", 7) == 0)
		for (const char *at = text + 3; *at != ')'; at++)
			weight += 2 * (*at == '=');
	weight -= strstr(text, "(l=[1])") ? 2 : 0; /* it is not a dimension */
	return weight + (strstr(text, "isa=") != NULL);
}

/* The one that fits and asks for most; *tied: another one asks for as much. */
static uint32_t best_that_fits(const struct sk_request *request, bool *tied)
{
	uint32_t best = SK_NONE, most = 0;

	*tied = false;
	for (uint32_t i = 0; i < model->declared.count; i++) {
		const struct sk_signature *signature = model->declared.items[i].parsed;
		uint32_t weight = weight_of(signature->text);

		if (strcmp(signature->op, "Any") != 0 || (best != SK_NONE && weight < most) ||
		    !sk_bind_fits(model, request, signature))
			continue;
		*tied = best != SK_NONE && weight == most;
		if (!*tied)
			best = i;
		most = weight;
	}
	return best;
}

/* No kernel is passed over that fits, or that asks for more than another one. */
START_TEST(test_ops_at_random)
{
	uint64_t random = 1, found = 0, later = 0, tied = 0;

	for (uint32_t round = 0; round < OP_ROUNDS; round++) {
		struct sk_record_signatures signatures;
		struct sk_request request = {0};
		struct sk_ops ops;
		char *text = random_ops(&random);

		model = sk_model_create(arena, &diag);
		if (!sk_manifest_parse(model, "m.yaml", text, strlen(text)))
			ck_abort_msg("%s", take_messages(&diag));
		sk_record_signatures_init(&signatures, model);
		sk_ops_init(&ops, model, linker, &signatures, NULL, 0);
		for (uint32_t t = 0; t < OP_TASKS; t++) {
			const struct sk_task *task = &model->tasks.items[t];

			sk_request_of_task(model, task, &request);

			bool ambiguous;
			const struct sk_op_kernel *kernel = sk_ops_find(&ops, "Any", &request);
			uint32_t wanted = best_that_fits(&request, &ambiguous);

			ck_assert_msg((kernel != NULL) == (wanted != SK_NONE) && (ops.tied != NULL) == ambiguous,
				      "round %u, %s: %s, tied: %d, but k%u fits", round, task->name,
				      kernel ? kernel->name : "none", ops.tied != NULL, wanted);
			ck_assert_msg(!kernel || ambiguous || kernel->declared == wanted,
				      "round %u, %s: %s, but k%u fits", round, task->name, kernel->name, wanted);
			found += wanted != SK_NONE;
			tied += ambiguous;
			later += wanted != SK_NONE && wanted > 2;
		}
		free(text);
	}
	/* No outcome is rare. */
	ck_assert_uint_gt(found, OP_ROUNDS * OP_TASKS / 10);
	ck_assert_uint_lt(found, OP_ROUNDS * OP_TASKS * 9 / 10);
	ck_assert_uint_gt(later, found / 4);
	ck_assert_uint_gt(tied, found / 20);
	ck_assert_uint_lt(tied, found / 2);
}
END_TEST

/* An allowed set is picked, the greater set first; a kernel that a task names is taken as it is. */
START_TEST(test_isa)
{
	static const char text[] =
		TENSORS "kernels:\n"
			"  base: {symbol: bare, signature: \"op=Relu; in x f32[n], out y f32[n]\"}\n"
			"  v3: {symbol: bare, signature: \"op=Relu isa=x86-64-v3; in x f32[n], out y "
			"f32[n]\"}\n"
			"  v4: {symbol: bare, signature: \"op=Relu isa=x86-64-v4; in x f32[n], out y "
			"f32[n]\"}\n"
			"tasks:\n"
			"  - {name: t, op: Relu, args: [a, b]}\n"
			"  - {name: u, kernel: v4, args: [a, b]}\n";
	static const struct {
		const char *allowed, *picked;
	} cases[] = {{"x86-64", "base"}, {"x86-64-v2", "base"}, {"x86-64-v3", "v3"}, {"x86-64-v4", "v4"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		model = sk_model_create(arena, &diag);
		model->allowed_isa = sk_isa_expand(sk_isa_find(cases[i].allowed, strlen(cases[i].allowed)));
		ck_assert(sk_manifest_parse(model, "m.yaml", text, strlen(text)) && sk_kernels_find(model, linker));
		ck_assert_str_eq(kernel(0)->name, cases[i].picked);
		ck_assert_str_eq(kernel(1)->name, "v4");
	}
	model = sk_model_create(arena, &diag);
	model->allowed_isa = 1;

	static const char none[] = TENSORS "kernels:\n"
					   "  v3: {symbol: bare, signature: \"op=Gelu isa=fma+avx2; in x f32[n], out y "
					   "f32[n]\"}\n"
					   "tasks:\n"
					   "  - {name: t, op: Gelu, args: [a, b]}\n";

	ck_assert(sk_manifest_parse(model, "m.yaml", none, strlen(none)) && !sk_kernels_find(model, linker));
	expect_messages("t: error: m.yaml:20:19: no kernel for op 'Gelu' fits task 't'\n"
			">>> v3 (m.yaml): needs x86-64+avx2+fma, which --isa does not allow\n");
}
END_TEST

/* An object beside the manifest is preferred to the search paths. */
START_TEST(test_object_beside_the_manifest)
{
	char directory[] = "check_bind.XXXXXX", path[64], manifest[64];
	static const char text[] = TENSORS "kernels: {m: {symbol: mul, object: lib.a}}\n"
					   "tasks: [{name: t, kernel: m, args: [d, d, e]}]\n";

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/lib.a", directory);
	snprintf(manifest, sizeof(manifest), "%s/m.yaml", directory);

	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fclose(file);
	model = sk_model_create(arena, &diag);
	ck_assert(sk_manifest_parse(model, manifest, text, strlen(text)));
	ck_assert(sk_kernels_find(model, linker));
	ck_assert_str_eq(kernel(0)->object_name, "lib.a(mul.o)");
	remove(path);
	rmdir(directory);
}
END_TEST

/* ---- errors ---- */

/* The text after the messages' "t: error: ". */
static const struct {
	const char *text, *messages;
} bad[] = {
	/* attributes */
	{TENSORS "kernels:\n"
		 "  one: {symbol: bare, signature: \"op=Any; in x f32[n], out y f32[n]\"}\n"
		 "  two: {symbol: bare, signature: \"op=Any(k=1); in x f32[n], out y f32[n]\"}\n"
		 "  three: {symbol: bare, signature: \"op=Any; in x f32[m,n], out y f32[m,n]\"}\n"
		 "  four: {symbol: bare, signature: \"op=Any; in x f32[m,4], out y f32[m,4]\"}\n"
		 "tasks:\n"
		 "  - {name: t, op: Any, args: [a, b]}\n"
		 "  - {name: u, op: Any, args: [a, b], attr: {k: 1}}\n",
	 "m.yaml:23:19: two kernels for op 'Any' fit task 't' equally well: name one under 'kernel', or put its "
	 "library first\n"
	 ">>> one (m.yaml): op=Any; in x f32[n], out y f32[n]\n"
	 ">>> three (m.yaml): op=Any; in x f32[m,n], out y f32[m,n]\n"},
	{TASKS "  - {name: t, kernel: attributes, args: [a, b], attr: {mode: cubic, k: 3.5, l: [1], axi: 1}}\n",
	 "m.yaml:18:85: kernel 'attributes': attribute 'axi' is 1, but the kernel does not know it; did you mean "
	 "'axis'?\n"
	 "m.yaml:18:56: kernel 'attributes': attribute 'mode' is cubic, but the kernel wants linear\n"
	 "m.yaml:18:69: kernel 'attributes': attribute 'k' is 3.5, but the kernel wants 3\n"
	 "m.yaml:18:5: kernel 'attributes': no attribute 'a', which the kernel wants to be 0.5\n"
	 "m.yaml:18:77: kernel 'attributes': attribute 'l' is [1], but the kernel wants [1, 2]\n"},
	{TASKS "  - {name: t, op: Any, args: [a, b], attr: {" ATTRIBUTES ", form: row}}\n",
	 "m.yaml:18:19: no kernel for op 'Any' fits task 't'\n"
	 ">>> attributes (k.o): attribute 'form' is row, but the kernel wants same\n"},
	{TASKS "  - {name: t, kernel: attributes, args: [a, b], attr: {" ATTRIBUTES ", none: 1, more: 1.5, d: x}}\n",
	 "m.yaml:18:155: kernel 'attributes': attribute 'more' is 1.5, but 's' needs a whole number\n"
	 "m.yaml:18:166: kernel 'attributes': attribute 'd' is x, but 'd' needs a number\n"
	 "m.yaml:18:146: kernel 'attributes': attribute 'none' is 1, but 'r' needs a list of numbers\n"},
	{TASKS "  - {name: t, kernel: attributes, args: [a, b], attr: {mode: linear, k: 3, a: 0.5, l: [1, 2], scales: "
	       "x, pads: 1, e: [1]}}\n",
	 "m.yaml:18:5: kernel 'attributes': no attribute 'axis' for the value of 'axis'\n"
	 "m.yaml:18:115: kernel 'attributes': attribute 'e' is [1], but 'e' needs a number\n"
	 "m.yaml:18:5: kernel 'attributes': no attribute 'axis' for the value of 's'\n"
	 "m.yaml:18:106: kernel 'attributes': attribute 'pads' is 1, but 'p' needs a list of numbers\n"
	 "m.yaml:18:95: kernel 'attributes': attribute 'scales' is x, but 'q' needs a list of numbers\n"},
	{TASKS "  - {name: t, kernel: mul, args: [a, b, c], attr: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}\n",
	 "m.yaml:18:52: kernel 'mul': attribute 'x' is [1, 2, 3, 4, 5, 6, 7, 8, …], but the kernel does not know it\n"},
	/* tensors that may be absent, and tensors by direction */
	{TASKS "  - {name: t, kernel: optional, args: [a, null, b]}\n",
	 "m.yaml:18:43: kernel 'optional': argument 'y' cannot be absent\n"},
	{TASKS "  - {name: t, kernel: optional, args: [a, b]}\n",
	 "m.yaml:18:40: kernel 'optional': 3 to 5 arguments are needed (in? a f32, out y f32, in b f32, out? z f32, "
	 "in? c f32), but 2 given\n"},
	{TASKS "  - {name: t, kernel: optional, args: {y: a, z: b}}\n",
	 "m.yaml:18:5: kernel 'optional': no tensor for 'b'\n"},
	{TASKS "  - {name: t, kernel: optional, args: [a, b, c, null, s]}\n",
	 "m.yaml:18:55: kernel 'optional': argument 'c' (tensor 's' [1024], dimension 0) must be 4, but is 1024\n"},
	{TASKS "  - {name: t, kernel: optional, inputs: [a, b, s, s], outputs: [b]}\n",
	 "m.yaml:18:5: kernel 'optional': 4 inputs and 1 output are given, but the kernel has in? a f32, out y f32, in "
	 "b f32, out? z f32, in? c f32\n"},
	{TASKS "  - {name: t, kernel: optional, inputs: a, outputs: [b]}\n",
	 "m.yaml:18:5: kernel 'optional': 1 input and 1 output are given, but the kernel has in? a f32, out y f32, in "
	 "b f32, out? z f32, in? c f32\n"},
	{TASKS "  - {name: t, kernel: added, inputs: [a, b], outputs: c}\n",
	 "m.yaml:18:55: kernel 'added': 'y' is read and written, but the input for it is tensor 'a', and the output "
	 "tensor 'c'\n"},
	/* expressions */
	{TASKS "  - {name: t, kernel: fixed, args: [s, w], set: {a: 1}}\n",
	 "m.yaml:18:50: kernel 'fixed': 'a' cannot be set: the signature says that it is 4*n+m-1\n"},
	{TASKS "  - {name: t, kernel: small, args: [a]}\n",
	 "m.yaml:18:5: kernel 'small': 'a = size(n)' does not fit into u16\n"},
	{TASKS "  - {name: t, kernel: late, args: [top]}\n",
	 "m.yaml:18:5: kernel 'late': 'a = end(n)' does not fit into i16\n"},
	{TASKS "  - {name: t, kernel: below, args: [a]}\n",
	 "m.yaml:18:5: kernel 'below': 'a = begin(n)-1' does not fit into u32\n"},
	{TASKS "  - {name: t, kernel: rounded, args: [a]}\n",
	 "m.yaml:18:5: kernel 'rounded': 'a = (begin(n)+size(n))/3' divides a value that differs from call to call, "
	 "with a remainder\n"},
	{"sklink: 1\ntensors: {x: {dtype: f32, shape: [10]}}\ntasks: [{name: t, kernel: negative, args: [x]}]\n",
	 "m.yaml:3:9: kernel 'negative': 'a = (n-100)/7' rounds a negative number\n"},
	{TASKS "  - {name: t, kernel: zero, args: [a]}\n", "m.yaml:18:5: kernel 'zero': 'a = n/(n-n)' divides by 0\n"},
	{TASKS "  - {name: t, kernel: vast, args: [a]}\n",
	 "m.yaml:18:5: kernel 'vast': 'a = n*18446744073709551615*n' is too large to be computed\n"},
	{TASKS "  - {name: t, kernel: ranged, args: [s], blocks: 21}\n",
	 "m.yaml:18:5: kernel 'ranged': 's = size(n)' is too long a sum, since 21 blocks of 1024 are not equally "
	 "large: "
	 "take a number of blocks that divides it, or up to 10 blocks, or a function that has the parameter 'block'\n"},
	{TASKS "  - {name: t, kernel: grid, args: [w, d]}\n",
	 "m.yaml:18:39: kernel 'grid': argument 's' is f32, but tensor 'd' is f64\n"},
	{TASKS "  - {name: t, kernel: grid, args: [w, s], blocks: 2}\n",
	 "m.yaml:18:5: kernel 'grid': the task has 'blocks', but the signature has a grid, which gives their number\n"},
	{"sklink: 1\ntensors: {w: {dtype: u8, shape: [1048576]}, s: {dtype: f32, shape: [512]}}\n"
	 "tasks: [{name: t, kernel: grid, args: [w, s]}]\n",
	 "m.yaml:3:9: kernel 'grid': the grid has more than 1048576 blocks\n"},
	{"sklink: 1\ntensors: {w: {dtype: u8, shape: [1]}, s: {dtype: f32, shape: [10]}}\n"
	 "tasks: [{name: t, kernel: grid, args: [w, s]}]\n",
	 "m.yaml:3:9: kernel 'grid': 'grid = n/256' is not greater than 0\n"},
	/* x is read whole by each tile, so y, which tiles write, cannot be x. */
	{"sklink: 1\ntensors: {x: {dtype: f32, shape: [8, 8]}}\ntasks: [{name: t, kernel: square, args: [x, x]}]\n",
	 "m.yaml:3:45: kernel 'square': 'x' and 'y' overlap, but are not the same bytes divided alike\n"},
	/* arguments and types */
	{TASKS "  - {name: t, kernel: mul, args: [a, b]}\n",
	 "m.yaml:18:35: kernel 'mul': 3 arguments are needed (in x f32, in y f32, out z f32), but 2 given\n"},
	{TASKS "  - {name: t, kernel: mul, args: [a, b, c, a]}\n",
	 "m.yaml:18:35: kernel 'mul': 3 arguments are needed (in x f32, in y f32, out z f32), but 4 given\n"},
	{TASKS "  - {name: t, kernel: mul}\n",
	 "m.yaml:18:5: kernel 'mul': 3 arguments are needed (in x f32, in y f32, out z f32), but 0 given\n"},
	{TASKS "  - {name: t, kernel: dot, args: [d, e]}\n",
	 "m.yaml:18:35: kernel 'dot': 3 arguments are needed (in x f64, in y f64, out r f64), but 2 given\n"},
	{TASKS "  - {name: t, kernel: mul, args: {x: a, y: b}}\n", "m.yaml:18:5: kernel 'mul': no tensor for 'z'\n"},
	{TASKS "  - {name: t, kernel: mul, args: {x: a, y: b, zz: c}}\n",
	 "m.yaml:18:47: kernel 'mul': no parameter 'zz'; did you mean 'z'?\n"
	 "m.yaml:18:5: kernel 'mul': no tensor for 'z'\n"},
	{TASKS "  - {name: t, kernel: mul, args: {x: a, y: b, z: c, n: a}}\n",
	 "m.yaml:18:53: kernel 'mul': 'n' is a scalar; give its value under 'set'\n"},
	{TASKS "  - {name: t, kernel: matmul, args: {a: a, b: b, c: c, t: a}, set: {lda: 1}}\n",
	 "m.yaml:18:56: kernel 'matmul': 't' is scratch memory, which needs no tensor\n"},
	{TASKS "  - {name: t, kernel: mul, args: [a, b, d]}\n",
	 "m.yaml:18:41: kernel 'mul': argument 'z' is f32, but tensor 'd' is f64\n"},
	{TASKS "  - {name: t, kernel: dot, args: [d, e, d]}\n",
	 "m.yaml:18:41: kernel 'dot': the result 'r' is one element, but tensor 'd' is [1024]\n"},
	{TASKS "  - {name: t, kernel: dot, args: [d, e, i]}\n",
	 "m.yaml:18:41: kernel 'dot': argument 'r' is f64, but tensor 'i' is i64\n"},
	{TASKS "  - {name: t, kernel: bias, args: [s, s, c]}\n",
	 "m.yaml:18:36: kernel 'bias': argument 'x' has 2 dimensions, but tensor 's' is [1024]\n"},
	/* extents */
	{TASKS "  - {name: t, kernel: mul, args: [a, s, c]}\n",
	 "m.yaml:18:38: kernel 'mul': extent 'n' is 1024 in argument 'y' (tensor 's' [1024], dimension 0), but 65536 "
	 "in argument 'x' (tensor 'a' [64, 1024], all elements)\n"},
	{TASKS "  - {name: t, kernel: bias, args: [a, a, c]}\n",
	 "m.yaml:18:39: kernel 'bias': extent 'n' is 65536 in argument 'b' (tensor 'a' [64, 1024], all elements), but "
	 "1024 in argument 'x' (tensor 'a' [64, 1024], dimension 1)\n"},
	{TASKS "  - {name: t, kernel: four, args: [s, a]}\n",
	 "m.yaml:18:36: kernel 'four': argument 'x' (tensor 's' [1024], dimension 0) must be 4, but is 1024\n"},
	{"sklink: 1\n"
	 "tensors: {x: {dtype: u8, shape: [10]}, y: {dtype: u8, shape: [12]}}\n"
	 "tasks: [{name: t, kernel: pack, args: [x, y]}]\n",
	 "m.yaml:3:40: kernel 'pack': argument 'x' (tensor 'x' [10], dimension 0) is 10, which is not n*4, with n = 3 "
	 "by argument 'y' (tensor 'y' [12], dimension 0)\n"},
	{"sklink: 1\n"
	 "tensors: {x: {dtype: f32, shape: [13]}, a: {dtype: f32, shape: [3]}, y: {dtype: f32, shape: [4, 2]}}\n"
	 "tasks: [{name: t, kernel: outer, args: [x, a, y]}]\n",
	 "m.yaml:3:41: kernel 'outer': argument 'x' (tensor 'x' [13], dimension 0) is 13, which is not m*n, with m = 3 "
	 "by argument 'a' (tensor 'a' [3], dimension 0), n = 4 by argument 'y' (tensor 'y' [4, 2], dimension 0)\n"},
	{"sklink: 1\n"
	 "tensors: {x: {dtype: f32, shape: [12]}, a: {dtype: f32, shape: [3]}, y: {dtype: f32, shape: [5, 2]}}\n"
	 "tasks: [{name: t, kernel: outer, args: [x, a, y]}]\n",
	 "m.yaml:3:41: kernel 'outer': argument 'x' (tensor 'x' [12], dimension 0) is 12, which is not m*n, with m = 3 "
	 "by argument 'a' (tensor 'a' [3], dimension 0), n = 5 by argument 'y' (tensor 'y' [5, 2], dimension 0)\n"},
	{"sklink: 1\n"
	 "tensors: {x: {dtype: f32, shape: [65536, 65536]}, y: {dtype: f32, shape: [65536, 65536]}}\n"
	 "tasks: [{name: t, kernel: scale, args: [x, y], set: {alpha: 1}}]\n",
	 "m.yaml:3:9: kernel 'scale': 'n' is i32, but extent 'n' is 4294967296\n"},
	/* scalars */
	{TASKS "  - {name: t, kernel: scale, args: [a, b]}\n",
	 "m.yaml:18:5: kernel 'scale': no value for 'alpha'; give it under 'set'\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alhpa: 1}}\n",
	 "m.yaml:18:50: kernel 'scale': no scalar 'alhpa'; did you mean 'alpha'?\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alpha: 1, x: 2}}\n",
	 "m.yaml:18:60: kernel 'scale': 'x' is not a scalar and cannot be set\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alpha: 1, n: 2}}\n",
	 "m.yaml:18:60: kernel 'scale': 'n' cannot be set: it is the extent of that name, 65536\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alpha: 1e39}}\n",
	 "m.yaml:18:50: kernel 'scale': 'alpha' cannot be 1e39: it is f32\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alpha: 1e-60}}\n",
	 "m.yaml:18:50: kernel 'scale': 'alpha' cannot be 1e-60: it is f32\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alpha: n}}\n",
	 "m.yaml:18:50: kernel 'scale': 'alpha' cannot be the extent 'n': it is f32\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, b], set: {alpha: {tensor: f}}}\n",
	 "m.yaml:18:66: kernel 'scale': 'alpha' is one f32, but tensor 'f' is f64 [1]\n"},
	{TASKS "  - {name: t, kernel: at, args: [a, b], set: {pos: 1, row: 4294967296}}\n",
	 "m.yaml:18:55: kernel 'at': 'row' cannot be 4294967296: it is i32\n"},
	{TASKS "  - {name: t, kernel: at, args: [a, b], set: {pos: 1.0, row: -2147483649}}\n",
	 "m.yaml:18:47: kernel 'at': 'pos' cannot be 1.0: it is i64\n"
	 "m.yaml:18:57: kernel 'at': 'row' cannot be -2147483649: it is i32\n"},
	{TASKS "  - {name: t, kernel: at, args: [a, b], set: {pos: m, row: {tensor: i}}}\n",
	 "m.yaml:18:47: kernel 'at': 'm' is neither a number nor an extent of the kernel\n"
	 "m.yaml:18:69: kernel 'at': 'row' is one i32, but tensor 'i' is i64 [1]\n"},
	{TASKS "  - {name: t, kernel: at, args: [a, b], set: {pos: {tensor: s}, row: 0}}\n",
	 "m.yaml:18:61: kernel 'at': 'pos' is one i64, but tensor 's' is f32 [1024]\n"},
	{TASKS "  - {name: t, kernel: at, args: [a, b]}\n",
	 "m.yaml:18:5: kernel 'at': no value for 'pos', 'row'; give it under 'set'\n"},
	{TASKS "  - {name: t, kernel: types, args: [s], set: {a: 128, b: -1, c: 32768, d: 65536, e: 2147483648, f: -1, "
	       "g: 9223372036854775808, h: -1, i: 0, j: 0}}\n",
	 "m.yaml:18:47: kernel 'types': 'a' cannot be 128: it is i8\n"
	 "m.yaml:18:55: kernel 'types': 'b' cannot be -1: it is u8\n"
	 "m.yaml:18:62: kernel 'types': 'c' cannot be 32768: it is i16\n"
	 "m.yaml:18:72: kernel 'types': 'd' cannot be 65536: it is u16\n"
	 "m.yaml:18:82: kernel 'types': 'e' cannot be 2147483648: it is i32\n"
	 "m.yaml:18:97: kernel 'types': 'f' cannot be -1: it is u32\n"
	 "m.yaml:18:104: kernel 'types': 'g' cannot be 9223372036854775808: it is i64\n"
	 "m.yaml:18:128: kernel 'types': 'h' cannot be -1: it is u64\n"
	 "m.yaml:18:5: kernel 'types': 'n' is u8, but extent 'n' is 1024\n"},
	/* overlaps */
	{TASKS "  - {name: t, kernel: mul, args: [a, b, a]}\n",
	 "m.yaml:18:41: kernel 'mul': 'z' overlaps 'x', and one of them is written; a signature that allows this says "
	 "z@x\n"},
	{TASKS "  - {name: t, kernel: scale, args: [top, mid], set: {alpha: 1}}\n",
	 "m.yaml:18:42: kernel 'scale': 'x' and 'y' overlap, but are not the same bytes divided alike\n"},
	{TASKS "  - {name: t, kernel: scale, args: [a, top], set: {alpha: 1}}\n",
	 "m.yaml:18:40: kernel 'scale': extent 'n' is 32768 in argument 'y' (tensor 'top' [32, 1024], all elements), "
	 "but 65536 in argument 'x' (tensor 'a' [64, 1024], all elements)\n"},
	{TASKS "  - {name: t, kernel: at, args: [s, s], set: {pos: {tensor: i}, row: {tensor: j}}}\n",
	 "m.yaml:18:37: kernel 'at': 'y' overlaps 'x', and one of them is written; a signature that allows this says "
	 "y@x\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: bare, signature: \"split=n; in x f32[m], out y@x f32[n], n i64\"}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [a, a]}\n",
	 "m.yaml:20:36: kernel 'k': 'x' and 'y' overlap, but are not the same bytes divided alike\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: bare, signature: \"blocks=n; block, in x f32[m], out y@x f32[n]\"}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [a, a]}\n",
	 "m.yaml:20:36: kernel 'k': 'x' and 'y' overlap, but are not the same bytes divided alike\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: bare, signature: \"inout x i64[n], pos i64\"}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [i], set: {pos: {tensor: i}}}\n",
	 "m.yaml:20:5: kernel 'k': 'pos' overlaps 'x', and one of them is written\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: bare, signature: \"in x f64[n] -> out r f64\"}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [f, f]}\n",
	 "m.yaml:20:36: kernel 'k': 'r' overlaps 'x', and one of them is written\n"},
	/* blocks and lanes */
	{TASKS "  - {name: t, kernel: mul, args: [a, b, c], blocks: 4}\n",
	 "m.yaml:18:5: kernel 'mul': the task has 'blocks', but the signature has neither 'blocks' nor "
	 "'blocks=NAME'\n"},
	/* kernels */
	{TASKS "  - {name: t, kernel: mull, args: [a, b, c]}\n",
	 "m.yaml:18:23: unknown kernel 'mull'; did you mean 'mul'?\n"},
	{TASKS "  - {name: t, kernel: nothing, args: [a]}\n"
	       "  - {name: u, kernel: nothing, args: [a]}\n",
	 "m.yaml:18:23: unknown kernel 'nothing': it is neither declared under 'kernels' nor a function of an input\n"},
	{TASKS "  - {name: t, kernel: bare, args: [a]}\n",
	 "m.yaml:18:23: function 'bare' in k.o has no signature; declare it under 'kernels'\n"},
	{TASKS "  - {name: t, kernel: data, args: [a]}\n", "k.o:(.sk.kernels+0x140): 'data' is not a function\n"},
	{TASKS "  - {name: t, kernel: broken, args: [a]}\n",
	 "k.o:(.sk.kernels+0x120): signature, column 6: unknown type 'f23'; did you mean 'f32'?\n"},
	{TASKS "  - {name: t, kernel: both, args: [a]}\n",
	 "k.o:(.sk.kernels+0xf0): kernel 'both': no function 'both_mix_aic'; the signature of a mix kernel can name "
	 "another one: aic=NAME\n"},
	{TASKS "  - {name: t, kernel: sides, args: [a]}\n",
	 "k.o:(.sk.kernels+0x100): kernel 'sides': no function 'nothing'; the signature of a mix kernel can name "
	 "another one: aiv=NAME\n"},
	{TASKS "  - {name: t, kernel: spread, args: [a]}\n",
	 "m.yaml:18:23: kernel 'spread' has hidden state (.bss.s8 in k.o) and cannot run on several cores at once; if "
	 "it can, mark it reentrant\n"
	 ">>> everything in the kernel's section counts; -ffunction-sections gives each function its own\n"},
	{TASKS "  - {name: s, kernel: own_sets, args: [c]}\n"
	       "  - {name: r, kernel: own_reentrant, args: [a, b]}\n"
	       "  - {name: t, kernel: own, args: [a, b]}\n",
	 "m.yaml:20:23: kernel 'own' reaches thread-local storage (.tbss in k.o): calls run on any thread; if no call "
	 "depends on values that an earlier one has left there, mark it reentrant\n"
	 ">>> everything in the kernel's section counts; -ffunction-sections gives each function its own\n"},
	{TASKS "  - {name: t, kernel: own_waits, args: [a]}\n",
	 "m.yaml:18:23: kernel 'own_waits' reaches thread-local storage (.tbss in k.o): its blocks wait for one "
	 "another, "
	 "and meanwhile another block's call may run on the same thread; keep the variables on the stack\n"
	 ">>> everything in the kernel's section counts; -ffunction-sections gives each function its own\n"},
	{TASKS "  - {name: t, kernel: own_mix, args: [a]}\n",
	 "m.yaml:18:23: kernel 'own_mix' reaches thread-local storage (.tdata in k.o): its blocks wait for one "
	 "another, "
	 "and meanwhile another block's call may run on the same thread; keep the variables on the stack\n"
	 ">>> everything in the kernel's section counts; -ffunction-sections gives each function its own\n"},
	{TASKS "  - {name: t, kernel: own_early, args: [a]}\n",
	 "m.yaml:18:23: kernel 'own_early' reaches thread-local storage (.tbss in k.o): it waits inside its call "
	 "(early-start), and meanwhile another call may run on the same thread; keep the variables on the stack, or do "
	 "not start early\n"
	 ">>> everything in the kernel's section counts; -ffunction-sections gives each function its own\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: mull}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [a]}\n",
	 "m.yaml:18:15: kernel 'k': no function 'mull' in any input; did you mean 'mul'?\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: gemm, object: lib.a}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [a]}\n",
	 "m.yaml:18:15: kernel 'k': no function 'gemm' in lib.a; did you mean 'gemv'?\n"},
	{TENSORS "kernels:\n"
		 "  k: {symbol: bare}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [a]}\n",
	 "m.yaml:18:3: kernel 'k': the object has no signature for 'bare' (k.o); give it here: signature: \"…\"\n"},
	{TENSORS "kernels:\n"
		 "  k: {object: no.a}\n"
		 "  l: {object: sub/no.a}\n"
		 "  m: {object: no.a}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: k, args: [a]}\n"
		 "  - {name: u, kernel: l, args: [a]}\n"
		 "  - {name: v, kernel: m, args: [a]}\n",
	 "m.yaml:18:15: cannot find 'no.a', nor is it on the search paths (-L)\n"
	 "m.yaml:19:15: cannot find 'sub/no.a'\n"},
	{TENSORS "kernels:\n"
		 "  kernel: {symbol: mul}\n"
		 "tasks:\n"
		 "  - {name: t, kernel: kernal, args: [a]}\n",
	 "m.yaml:20:23: unknown kernel 'kernal'; did you mean 'kernel'?\n"},
	{TENSORS "library: [no.a]\n"
		 "tasks: [{name: t, kernel: mul, args: [a, b, c]}]\n",
	 "m.yaml:17:11: cannot find 'no.a', nor is it on the search paths (-L)\n"},
	/* op */
	{TASKS "  - {name: t, op: Rellu, args: [a, b]}\n",
	 "m.yaml:18:19: no kernel has op=Rellu; did you mean 'Relu'?\n"},
	{TASKS "  - {name: t, op: Relu, args: [a, c, b]}\n",
	 "m.yaml:18:19: no kernel for op 'Relu' fits task 't'\n"
	 ">>> relu_f32 (k.o): 2 arguments are needed (in x f32, out y f32), but 3 given\n"
	 ">>> relu_blocks (m.o): 2 arguments are needed (in x f32, out y f32), but 3 given\n"
	 ">>> relu_f64 (k.o): 2 arguments are needed (in x f64, out y f64), but 3 given\n"
	 ">>> relu_mix (k.o): 2 arguments are needed (in x u16, out y u16), but 3 given\n"},
	{TASKS "  - {name: t, op: Relu, args: [i, j]}\n",
	 "m.yaml:18:19: no kernel for op 'Relu' fits task 't'\n"
	 ">>> relu_f32 (k.o): argument 'x' is f32, but tensor 'i' is i64\n"
	 ">>> relu_f64 (k.o): argument 'x' is f64, but tensor 'i' is i64\n"
	 ">>> relu_mix (k.o): argument 'x' is u16, but tensor 'i' is i64\n"
	 ">>> relu_blocks (m.o): argument 'x' is f32, but tensor 'i' is i64\n"},
	{TASKS "  - {name: t, op: Tanh, args: [a, b]}\n", "m.yaml:18:19: no kernel has op=Tanh\n"},
};

static void strip_prefixes(char *messages)
{
	static const char prefix[] = "t: error: ";

	for (char *at = messages; (at = strstr(at, prefix));)
		memmove(at, at + strlen(prefix), strlen(at + strlen(prefix)) + 1);
}

START_TEST(test_bad)
{
	ck_assert(!link_model(bad[_i].text));

	char *messages = take_messages(&diag);

	strip_prefixes(messages);
	ck_assert_str_eq(messages, bad[_i].messages);
	free(messages);
}
END_TEST

/* ---- roles ---- */

START_TEST(test_roles)
{
	link_good(TENSORS "  h: {dtype: f32, shape: [32, 1024]}\n"
			  "tasks:\n"
			  "  - {name: t, kernel: mul, args: [top, low, h]}\n"
			  "  - {name: u, kernel: bias, args: [b, s, c]}\n"
			  "  - {name: v, kernel: dot, args: [d, e, f]}\n");
	ck_assert(sk_model_assign_roles(model));

	static const struct {
		const char *name;
		enum sk_role role;
		uint32_t binding;
	} expected[] = {
		{"a", SK_ROLE_INPUT, 0},	{"b", SK_ROLE_INPUT, 1},      {"c", SK_ROLE_OUTPUT, 2},
		{"s", SK_ROLE_INPUT, 3},	{"d", SK_ROLE_INPUT, 4},      {"e", SK_ROLE_INPUT, 5},
		{"f", SK_ROLE_OUTPUT, 6},	{"i", SK_ROLE_NONE, SK_NONE}, {"j", SK_ROLE_NONE, SK_NONE},
		{"top", SK_ROLE_NONE, SK_NONE}, {"h", SK_ROLE_OUTPUT, 7},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_int_eq(model->tensors.items[tensor(expected[i].name)].role, expected[i].role);
		ck_assert_uint_eq(model->tensors.items[tensor(expected[i].name)].binding, expected[i].binding);
	}
	ck_assert_uint_eq(model->binding_count, 8);

	expect_messages("t: warning: m.yaml:10:3: no task uses tensor 'i'\n"
			"t: warning: m.yaml:11:3: no task uses tensor 'j'\n"
			"t: warning: m.yaml:12:3: no task uses tensor 'u'\n"
			"t: warning: m.yaml:13:3: no task uses tensor 'w'\n");
}
END_TEST

/* x has the role and is an argument of these tasks; y is bound to any tensor that they need. */
#define RANGE(column, role)                                                                                            \
	"m.yaml:3:" column ": only an input or inout has a range of random values; tensor 'x' is " role "\n"

#define ROLE(role, tasks)                                                                                              \
	"sklink: 1\n"                                                                                                  \
	"tensors:\n"                                                                                                   \
	"  x: {dtype: f32, shape: [4, 4]" role "}\n"                                                                   \
	"  y: {dtype: f32, shape: [4, 4], role: inout}\n"                                                              \
	"  z: {dtype: f32, shape: [4], role: inout}\n"                                                                 \
	"  part: {of: x, shape: [1, 4], offset: [2, 0]}\n"                                                             \
	"  half: {of: x, shape: [2, 4], offset: [2, 0]}\n"                                                             \
	"  rest: {of: half, shape: [1, 4], offset: [1, 0]}\n"                                                          \
	"  one: {of: x, shape: [1, 1], offset: [0, 1]}\n"                                                              \
	"tasks:\n" tasks "  - {name: other, kernel: four, args: [z, y]}\n"
#define READS	    "  - {name: reads, kernel: cube, args: [x, y]}\n"
#define WRITES	    "  - {name: writes, kernel: cube, args: [y, x]}\n"
#define OVERWRITES  "  - {name: overwrites, kernel: cube, args: [y, x]}\n"
#define CHANGES	    "  - {name: changes, kernel: four, args: [z, x]}\n"
#define WRITES_PART "  - {name: writes_part, kernel: cube, args: [z, part]}\n"
#define WRITES_REST "  - {name: writes_rest, kernel: cube, args: [z, rest]}\n"
#define READS_PART  "  - {name: reads_part, kernel: cube, args: [part, z]}\n"
#define LOADS	    "  - {name: loads, kernel: scale, args: [y, y], set: {alpha: {tensor: one}}}\n"
#define UNWRITTEN(place, task, bytes, elements, ...)                                                                   \
	"m.yaml:" place ": task '" task "' reads bytes " bytes " of 'x' (elements " elements ")" __VA_ARGS__           \
	", which no task before it writes\n"                                                                           \
	">>> 'x' is declared at m.yaml:3:3; if it keeps its contents from run to run, it is role: inout\n"
#define OVERWRITTEN(place, task, by)                                                                                   \
	"t: warning: m.yaml:" place ": no task reads the bytes of 'x' that task '" task "' writes here: task '" by     \
	"' overwrites them first\n"
#define NEVER(bytes, elements, ...)                                                                                    \
	"m.yaml:3:3: no task writes bytes " bytes " of 'x' (elements " elements ")" __VA_ARGS__                        \
	", an output; to keep the caller's contents there, add unwritten: keep\n"

static const struct {
	const char *text;
	enum sk_role role; /* NONE: refused */
	const char *messages;
} roles[] = {
	{ROLE("", READS), SK_ROLE_INPUT, ""},
	{ROLE("", WRITES), SK_ROLE_OUTPUT, ""},
	{ROLE("", WRITES READS), SK_ROLE_TEMPORARY, ""},
	{ROLE("", WRITES CHANGES READS), SK_ROLE_TEMPORARY, ""},
	{ROLE("", WRITES CHANGES), SK_ROLE_TEMPORARY,
	 "t: warning: m.yaml:12:45: the bytes written to 'x' here are never read, and 'x' is a temporary; a result "
	 "needs role: output\n"},
	{ROLE(", role: temporary", WRITES CHANGES), SK_ROLE_TEMPORARY, ""},
	{ROLE(", role: output", WRITES CHANGES), SK_ROLE_OUTPUT, ""},
	{ROLE(", role: input", READS), SK_ROLE_INPUT, ""},
	{ROLE(", role: output", WRITES READS), SK_ROLE_OUTPUT, ""},
	{ROLE(", role: temporary", WRITES), SK_ROLE_TEMPORARY, ""},
	{ROLE(", role: inout", CHANGES), SK_ROLE_INOUT, ""},
	{ROLE(", role: inout", READS WRITES), SK_ROLE_INOUT, ""},
	{ROLE(", role: inout", WRITES), SK_ROLE_INOUT, ""},
	{ROLE(", role: input", WRITES), SK_ROLE_NONE,
	 "m.yaml:11:44: input 'x' cannot be written\n"
	 ">>> declared at m.yaml:3:3; a tensor that is read and written is role: inout\n"},
	{ROLE(", role: output", READS), SK_ROLE_NONE, UNWRITTEN("11:40", "reads", "[0, 64)", "[0, 16)")},
	{ROLE(", role: output", "  - {name: n, kernel: counter, args: [y]}\n"), SK_ROLE_NONE,
	 NEVER("[0, 64)", "[0, 16)")},
	{ROLE(", role: output", CHANGES), SK_ROLE_NONE, UNWRITTEN("11:45", "changes", "[0, 64)", "[0, 16)")},
	{ROLE(", role: temporary", READS), SK_ROLE_NONE, UNWRITTEN("11:40", "reads", "[0, 64)", "[0, 16)")},
	{ROLE(", role: temporary", READS WRITES), SK_ROLE_NONE, UNWRITTEN("11:40", "reads", "[0, 64)", "[0, 16)")},
	{ROLE("", READS WRITES), SK_ROLE_NONE, UNWRITTEN("11:40", "reads", "[0, 64)", "[0, 16)")},
	{ROLE("", CHANGES), SK_ROLE_NONE, UNWRITTEN("11:45", "changes", "[0, 64)", "[0, 16)")},
	{ROLE(", role: input", WRITES_PART), SK_ROLE_NONE,
	 "m.yaml:11:49: input 'x' cannot be written\n"
	 ">>> declared at m.yaml:3:3; a tensor that is read and written is role: inout\n"},
	{ROLE("", READS WRITES_PART), SK_ROLE_NONE, UNWRITTEN("11:40", "reads", "[0, 64)", "[0, 16)")},
	/* A part is written: rows 2 of 0 to 3. */
	{ROLE("", WRITES_PART READS), SK_ROLE_NONE,
	 UNWRITTEN("12:40", "reads", "[0, 32)", "[0, 8)", " and 1 more range of it")},
	{ROLE("", WRITES_PART READS_PART), SK_ROLE_TEMPORARY, ""},
	{ROLE("", WRITES_PART WRITES_REST READS), SK_ROLE_NONE, UNWRITTEN("13:40", "reads", "[0, 32)", "[0, 8)")},
	{ROLE("", WRITES_PART WRITES_REST READS_PART), SK_ROLE_TEMPORARY, ""},
	{ROLE(", role: output", WRITES_PART READS_PART), SK_ROLE_NONE,
	 NEVER("[0, 32)", "[0, 8)", " and 1 more range of it")},
	{ROLE("", WRITES_PART), SK_ROLE_NONE, NEVER("[0, 32)", "[0, 8)", " and 1 more range of it")},
	{ROLE("", WRITES_PART WRITES_REST), SK_ROLE_NONE, NEVER("[0, 32)", "[0, 8)")},
	{ROLE("", WRITES_PART WRITES), SK_ROLE_OUTPUT, OVERWRITTEN("11:49", "writes_part", "writes")},
	{ROLE(", role: inout", WRITES_PART READS), SK_ROLE_INOUT, ""},
	/* A scalar loaded from a tensor is a read as well; the first read is an error, later ones are not. */
	{ROLE(", role: temporary", WRITES_PART LOADS), SK_ROLE_NONE, UNWRITTEN("12:70", "loads", "[4, 8)", "[1, 2)")},
	{ROLE(", role: temporary", READS_PART READS CHANGES), SK_ROLE_NONE,
	 UNWRITTEN("11:45", "reads_part", "[32, 48)", "[8, 12)")
		 UNWRITTEN("12:40", "reads", "[0, 32)", "[0, 8)", " and 1 more range of it")},
	/* Tensors that are overwritten before any of their elements has been read. */
	{ROLE("", WRITES OVERWRITES READS), SK_ROLE_TEMPORARY, OVERWRITTEN("11:44", "writes", "overwrites")},
	{ROLE(", role: temporary", WRITES OVERWRITES READS), SK_ROLE_TEMPORARY,
	 OVERWRITTEN("11:44", "writes", "overwrites")},
	{ROLE("", WRITES OVERWRITES), SK_ROLE_OUTPUT, OVERWRITTEN("11:44", "writes", "overwrites")},
	{ROLE("", WRITES CHANGES OVERWRITES READS), SK_ROLE_TEMPORARY, OVERWRITTEN("12:45", "changes", "overwrites")},
	{ROLE("", WRITES_PART WRITES_REST OVERWRITES READS), SK_ROLE_TEMPORARY,
	 OVERWRITTEN("11:49", "writes_part", "overwrites") OVERWRITTEN("12:49", "writes_rest", "overwrites")},
	{ROLE("", WRITES READS OVERWRITES READS_PART), SK_ROLE_TEMPORARY, ""},
	{ROLE("", WRITES READS_PART OVERWRITES READS), SK_ROLE_TEMPORARY, ""},
	{ROLE("", WRITES WRITES_PART WRITES_REST READS), SK_ROLE_TEMPORARY, ""},
	{ROLE(", role: inout", WRITES OVERWRITES READS), SK_ROLE_INOUT, ""},
	/* unwritten: keep */
	{ROLE(", unwritten: keep", WRITES_PART), SK_ROLE_OUTPUT, ""},
	{ROLE(", unwritten: keep", WRITES), SK_ROLE_OUTPUT, ""},
	{ROLE(", role: output, unwritten: keep", WRITES_PART READS_PART), SK_ROLE_OUTPUT, ""},
	{ROLE(", role: output, unwritten: keep", WRITES_PART READS), SK_ROLE_NONE,
	 UNWRITTEN("12:40", "reads", "[0, 32)", "[0, 8)", " and 1 more range of it")},
	{ROLE(", unwritten: keep", READS), SK_ROLE_NONE,
	 "m.yaml:3:3: tensor 'x' has 'unwritten', but is not an output\n"},
	{ROLE(", role: inout, unwritten: keep", WRITES), SK_ROLE_NONE,
	 "m.yaml:3:3: tensor 'x' has 'unwritten', but is not an output\n"},
	/* range: of a role that is declared, and of one that follows from the tasks */
	{ROLE(", range: [0, 1]", READS), SK_ROLE_INPUT, ""},
	{ROLE(", role: inout, range: [0, 1]", WRITES), SK_ROLE_INOUT, ""},
	{ROLE(", role: output, range: [0, 1]", WRITES), SK_ROLE_NONE, RANGE("55", "an output")},
	{ROLE(", range: [0, 1]", WRITES), SK_ROLE_NONE, RANGE("41", "an output")},
	{ROLE(", range: [0, 1]", WRITES READS), SK_ROLE_NONE, RANGE("41", "a temporary")},
};

START_TEST(test_roles_one_by_one)
{
	link_good(roles[_i].text);
	ck_assert_int_eq(sk_model_assign_roles(model), roles[_i].role != SK_ROLE_NONE);

	char *messages = take_messages(&diag);

	strip_prefixes(messages);
	ck_assert_str_eq(messages, roles[_i].messages);
	if (roles[_i].role)
		ck_assert_int_eq(model->tensors.items[tensor("x")].role, roles[_i].role);
	free(messages);
}
END_TEST

START_TEST(test_constants)
{
	static const float values[4] = {1, 2, 3, 4};
	static const uint64_t shape[] = {4}, wrong_shape[] = {2, 2};
	static const char text[] = "sklink: 1\n"
				   "tensors:\n"
				   "  x: {dtype: f32, shape: [4], data: w.npy}\n"
				   "  y: {dtype: f32, shape: [4]}\n"
				   "tasks: [{name: t, kernel: cube, args: [x, y]}]\n";
	char directory[] = "check_bind.XXXXXX", path[64], manifest[64], error[128];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/w.npy", directory);
	snprintf(manifest, sizeof(manifest), "%s/m.yaml", directory);
	for (int round = 0; round < 4; round++) {
		if (round > 0)
			ck_assert(sk_npy_write(path, round == 2 ? SK_I32 : SK_F32, round == 3 ? 2 : 1,
					       round == 3 ? wrong_shape : shape, values, error, sizeof(error)));
		model = sk_model_create(arena, &diag);
		ck_assert(sk_manifest_parse(model, manifest, text, strlen(text)) && sk_kernels_find(model, linker) &&
			  sk_model_bind(model));

		/* 0: no file, 1: right, 2: wrong type, 3: wrong shape */
		ck_assert_int_eq(sk_model_assign_roles(model), round == 1);
		if (round == 1) {
			ck_assert_int_eq(model->tensors.items[0].role, SK_ROLE_CONSTANT);
			ck_assert_mem_eq(model->tensors.items[0].contents, values, sizeof(values));
			ck_assert_uint_eq(model->tensors.items[0].binding, SK_NONE);
			continue;
		}

		char *messages = take_messages(&diag), place[80];

		snprintf(place, sizeof(place), "t: error: %s/m.yaml:3:3: constant 'x'", directory);
		ck_assert_msg(!strncmp(messages, place, strlen(place)), "%s", messages);
		if (round == 0)
			ck_assert_ptr_nonnull(strstr(messages, "No such file"));
		if (round == 3)
			ck_assert_ptr_nonnull(strstr(messages, "is [4], but"));
		free(messages);
	}
	remove(path);
	rmdir(directory);
}
END_TEST

static Suite *bind_suite(void)
{
	Suite *suite = suite_create("bind");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, set_up, close_sink);
	tcase_add_test(tcase, test_split);
	tcase_add_test(tcase, test_fixed_expressions);
	tcase_add_test(tcase, test_expressions_of_parts);
	tcase_add_test(tcase, test_expressions_of_blocks);
	tcase_add_loop_test(tcase, test_unequal_blocks, 1, 11);
	tcase_add_test(tcase, test_grid);
	tcase_add_test(tcase, test_loops);
	tcase_add_test(tcase, test_products);
	tcase_add_test(tcase, test_folding);
	tcase_add_test(tcase, test_blocks);
	tcase_add_test(tcase, test_host_has_one_lane);
	tcase_add_test(tcase, test_result_and_state);
	tcase_add_test(tcase, test_scalars_from_tensors);
	tcase_add_test(tcase, test_in_place);
	tcase_add_loop_test(tcase, test_scalars, 0, sizeof(scalars) / sizeof(scalars[0]));
	tcase_add_test(tcase, test_attributes);
	tcase_add_test(tcase, test_list_names);
	tcase_add_test(tcase, test_optional);
	tcase_add_test(tcase, test_kernels);
	tcase_add_test(tcase, test_op);
	tcase_add_test(tcase, test_op_without_a_task);
	tcase_add_test(tcase, test_signatures_of_other_ops_wait);
	tcase_add_test(tcase, test_declared_op);
	tcase_add_test(tcase, test_ops_at_random);
	tcase_add_test(tcase, test_isa);
	tcase_add_test(tcase, test_object_beside_the_manifest);
	tcase_add_loop_test(tcase, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tcase, test_roles);
	tcase_add_loop_test(tcase, test_roles_one_by_one, 0, sizeof(roles) / sizeof(roles[0]));
	tcase_add_test(tcase, test_constants);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(bind_suite());
}
