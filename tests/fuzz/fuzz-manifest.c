/* Fuzz target: a manifest through the rooms that need no object: parsed, its kernels found in a table, bound, cut into
 * launches, scheduled, given memory, written as a plan. What sklink has planned must pass its own checks, whatever the
 * manifest was, and have dispatchers. */
#include "tests/fuzz/fuzz.h"

#include "loader/plan/plan.h"
#include "src/bind/bind.h"
#include "src/bind/kernels.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "src/package/account-builder.h"
#include "src/planning/fusion.h"
#include "src/planning/memory.h"
#include "src/planning/plan-writer.h"
#include "src/planning/schedule.h"
#include "src/proof/verify.h"
#include "stubs/dispatcher/dispatcher.h"
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

/* A launch may hold a call that no dispatcher can make, and then says why; it must not be hidden in the plan. */
static void emit_all(struct sk_arena *arena, const struct sk_plan_view *plan)
{
	for (uint32_t launch = 0; launch < plan->launch_count; launch++)
		for (int kind = SK_ENTRY_PARALLEL; kind <= SK_ENTRY_SERIAL; kind++) {
			struct sk_code code = {.arena = arena};
			const char *reason =
				sk_dispatcher_emit(arena, plan, launch, (enum sk_entry_kind)kind, "entry", &code);

			fuzz_promise(reason || code.bytes.count, "a dispatcher has code or a reason why not");
		}
}

static void plan_model(struct sk_model *model, struct sk_diag *diag)
{
	struct sk_fusion *fusion = sk_fusion_build(model);
	struct sk_schedule *schedule = fusion ? sk_schedule_build(model, fusion) : NULL;
	struct sk_memory *memory = schedule ? sk_memory_plan(model, fusion, schedule) : NULL;
	enum { X86_64 = 62 };
	struct sk_plan_image image;
	struct sk_plan_view view;
	char error[256];

	if (!memory || !sk_plan_write(model, fusion, schedule, memory, X86_64, true, &image)) {
		fuzz_promise(diag->errors, "a manifest that cannot be planned gives an error");
		return;
	}
	fuzz_promise(sk_plan_open(image.bytes, image.size, &view, error, sizeof(error)), "a plan can be opened");
	fuzz_promise(sk_plan_check_all(&view, error, sizeof(error)), "a plan is well-formed");

	struct sk_account account = sk_account_build(model, fusion);

	fuzz_promise(sk_verify(model->arena, diag, &view, "plan", account.orders, account.order_count, NULL),
		     "a plan can be proved");
	emit_all(model->arena, &view);
	fuzz_accept();
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
	if (sk_manifest_parse(model, "no-such-folder/fuzz.yaml", bytes, size) && sk_kernels_find(model, linker) &&
	    sk_model_bind(model) && sk_model_assign_roles(model))
		plan_model(model, &diag);
	else
		fuzz_promise(diag.errors, "a manifest that is refused gives an error");
	sk_arena_destroy(arena);
	return 0;
}
