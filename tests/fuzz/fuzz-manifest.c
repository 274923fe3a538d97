/* Fuzz target: a manifest through the stages that need no object. It is parsed, its kernels are found in a table, and
 * it is bound, cut into launches, scheduled, given memory and written as a plan. For any manifest the plan must pass
 * sklink's own checks and have dispatchers. */
#include "tests/fuzz/fuzz-plan.h"
#include "tests/fuzz/fuzz.h"

#include "base/arena.h"
#include "base/diag.h"
#include "graph/manager/manager.h"
#include "linker/linker.h"
#include "src/bind/bind.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "tests/lib/fake-linker.h"

/* The kernels of tests/lib/kernels.c and of the samples, and some of each other kind. */
static const struct fake_function functions[] = {
	{"k.o", "scale", "split=n; in x f32[n], out y f32[n], n i64, factor f32", 0, false},
	{"k.o", "add", "split=n; in a f32[n], in b f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "shift_rows", "split=rows; in x f32[rows,width], out y f32[rows,width], rows i64, width i64", 0, false},
	{"k.o", "reverse", "blocks; block, in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "twice", "blocks=n; block, in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "prefix", "in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "host_only", "unfusible; in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "checked", "in x f32[n], out y f32[n], n i64 -> status", 0, false},
	{"k.o", "mul_f32", "split=n; in x f32[n], out y f32[n], n i64, factor f32", 0, false},
	{"k.o", "add_f32", "split=n; in x f32[n], out y f32[n], n i64, summand f32", 0, false},
	{"k.o", "pow_f32", "split=n; in x f32[n], out y f32[n], n i64, exponent f32", 0, false},
	{"k.o", "quant_matmul",
	 "split=m; in x1 i8[m,k], in x2 i8[n,k], in channel_scale f32[n], in token_scale f32[m], out y bf16[m,n], "
	 "m i64, n i64, k i64, scratch blocks[147456]",
	 0, false},
	{"k.o", "dequant_swiglu_quant",
	 "split=m; in x bf16[m,n], in weight_scale f32[m,n], out y i8[m,h], out scale f32[m], m i64, n i64, h i64 -> "
	 "status",
	 0, false},
	{"k.o", "outer", "in x f32[m*n], in a f32[m], out y f32[n,2], n i64, m i64", 0, false},
	{"k.o", "cube", "cube nontemporal; in x f32[n], out y f32[n]", 0, false},
	{"k.o", "spmd", "vector blocks=n; block, in x f32[n], inout y f32[n], scratch t[100]", 0, false},
	{"k.o", "at", "in x f32[n], out y@x f32[n], pos i64, ref row i32", 0, false},
	{"k.o", "counter", "out y f32[n]", 7, false},
	{"k.o", "shared", "split=n reentrant; out y f32[n], n i64", 8, false},
	{"k.o", "relu", "split=n op=Relu; in x f32[n], out y f32[n], n i64", 0, false},
	{"k.o", "broken", "in x f23[n]", 0, false},
	{"k.o", "bare", NULL, 0, false},
	{"k.o", "data", "in x f32[n]", 0, true},
	{"lib.a(daxpy.o)", "daxpy_", NULL, 0, false},
	{"lib.a(ddot.o)", "ddot_", "ref n i32, in x f64[n], ref incx i32, in y f64[n], ref incy i32 -> out r f64", 0,
	 false},
	{"lib.a(relu.o)", "relu_f64", "split=n op=Relu; in x f64[n], out y f64[n], n i64", 0, false},
};

/* No text of flags is an error, and lists and passes can be decided for each. */
static void try_flags(struct sk_model *model)
{
	static const struct sk_graph_pass passes[] = {
		{"fusion_group", "rule", 0, NULL},
		{"cluster", "expand", 1, NULL},
		{"cluster", "cse", 2, NULL},
		{"split", "cse", 3, NULL},
		{0},
	};
	struct sk_flags_text text = {model->graph.fusion.text, model->graph.fusion.place, model->graph.fusion_in_line};
	unsigned errors = model->diag->errors;
	struct sk_fusion_flags flags;

	sk_fusion_flags_read(model->arena, model->diag, text, SK_TARGET_ASCEND, &flags);
	sk_lists_check_names(model->arena, model->diag, &flags);
	sk_valid_ops(model->arena, &flags, SK_LIST_EXPAND);
	sk_valid_ops(model->arena, &flags, SK_LIST_CLUSTER);
	sk_passes_choose(model->arena, model->diag, passes, &flags);
	fuzz_promise(model->diag->errors == errors && flags.opt_level <= 3, "flags are read, whatever they are");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	struct sk_linker *linker =
		fake_linker_create(arena, &diag, functions, sizeof(functions) / sizeof(functions[0]));
	struct sk_model *model = sk_model_create(arena, &diag);

	sk_linker_add_file(linker, "k.o", false);

	bool parsed = sk_manifest_parse(model, "no-such-folder/fuzz.yaml", bytes, size);

	if (parsed && model->graph.fusion.text)
		try_flags(model);
	if (parsed && sk_kernels_find(model, linker) && sk_model_bind(model) && sk_model_assign_roles(model))
		fuzz_plan(model, &diag);
	else
		fuzz_promise(diag.errors, "a manifest that is refused gives an error");
	sk_arena_destroy(arena);
	return 0;
}
