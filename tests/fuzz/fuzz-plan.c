/* See fuzz-plan.h. */
#include "tests/fuzz/fuzz-plan.h"

#include "format/plan/plan.h"
#include "src/package/package.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"
#include "stubs/dispatcher/dispatcher.h"
#include "tests/fuzz/fuzz.h"

/* A launch may hold a call that no dispatcher can make, and then says why; it must not be hidden in the plan. */
static void emit_all(struct sk_arena *arena, const struct sk_plan_view *plan)
{
	for (uint32_t launch = 0; launch < plan->launch_count; launch++)
		for (int kind = SK_ENTRY_PARALLEL; kind <= SK_ENTRY_SERIAL; kind++) {
			struct sk_code code = {.arena = arena};
			const char *reason =
				sk_dispatcher_emit(arena, plan, NULL, launch, (enum sk_entry_kind)kind, "entry", &code);

			fuzz_promise(reason || code.bytes.count, "a dispatcher has code or a reason why not");
		}
}

void fuzz_plan(struct sk_model *model, struct sk_diag *diag)
{
	struct sk_fusion *fusion = sk_fusion_build(model);
	struct sk_schedule *schedule = fusion ? sk_schedule_build(model, fusion) : NULL;
	struct sk_memory *memory = schedule ? sk_memory_plan(model, fusion, schedule) : NULL;
	enum { X86_64 = 62 };
	struct sk_plan_image image;
	struct sk_plan_view view;
	char error[256];

	if (!memory || !sk_plan_write(model, fusion, schedule, memory, X86_64, SK_TASKS_BY_THUNKS, &image)) {
		fuzz_promise(diag->errors, "a manifest that cannot be planned gives an error");
		return;
	}
	fuzz_promise(sk_plan_open(image.bytes, image.size, &view, error, sizeof(error)), "a plan can be opened");
	fuzz_promise(sk_plan_check_all(&view, error, sizeof(error)), "a plan is well-formed");

	struct sk_account account = sk_account_build(model->arena, model, fusion, schedule->groups);

	fuzz_promise(sk_verify(model->arena, diag, &view, "plan", account.orders, account.order_count, NULL),
		     "a plan can be proved");
	fuzz_promise(sk_calls_check(model->arena, diag, &view, "plan"), "a plan calls kernels as their signatures say");
	fuzz_promise(sk_consistency_check(model->arena, diag, &view, "plan", &account),
		     "a plan does not contradict itself");
	emit_all(model->arena, &view);
	sk_plan_close(&view);
	fuzz_accept();
}
