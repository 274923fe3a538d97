/* The words of thunks; see plan.h. */
#include "format/plan/plan.h"

#include "format/convention.h"
#include "format/skplan.h"

/* Terms depend on values that are known only when the call is made. */
bool sk_thunk_has_word(const struct sk_plan_step *step, const struct sk_plan_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
	case SK_ARGUMENT_LOAD:
	case SK_ARGUMENT_RESULT:
	case SK_ARGUMENT_SYMBOL:
	case SK_ARGUMENT_VALUE:
		return true;
	case SK_ARGUMENT_LENGTH:
		return step->kind != SK_STEP_SPLIT;
	case SK_ARGUMENT_EXPRESSION:
		return argument->size == 0;
	default:
		return false;
	}
}

uint64_t sk_thunk_scalar(const struct sk_plan_step *step, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument)
{
	uint64_t value = argument->kind == SK_ARGUMENT_LENGTH ? sk_plan_extent(step, call) : argument->value;

	return sk_scalar_bits(value, argument->dtype);
}
