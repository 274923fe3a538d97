/* See words.h. */
#include "loader/plan/words.h"

#include "stubs/convention.h"

/* Where the extent is not shared out, the part is all of it. */
static bool is_known(const struct sk_plan_step *step, uint8_t variable)
{
	return step->kind != SK_STEP_SPLIT && (variable == SK_VARIABLE_BEGIN || variable == SK_VARIABLE_SIZE);
}

bool sk_thunk_has_word(const struct sk_plan_view *view, const struct sk_plan_step *step,
		       const struct sk_plan_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
	case SK_ARGUMENT_LOAD:
	case SK_ARGUMENT_RESULT:
	case SK_ARGUMENT_SYMBOL:
	case SK_ARGUMENT_VALUE:
		return true;
	case SK_ARGUMENT_LENGTH:
		return is_known(step, SK_VARIABLE_SIZE);
	case SK_ARGUMENT_EXPRESSION:
		for (uint64_t i = 0; i < argument->size; i++)
			if (!is_known(step, view->terms[argument->index + i].variable))
				return false;
		return true;
	default:
		return false;
	}
}

uint64_t sk_thunk_scalar(const struct sk_plan_view *view, const struct sk_plan_step *step,
			 const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	uint64_t extent = sk_plan_extent(step, call), value = argument->value;

	if (argument->kind == SK_ARGUMENT_LENGTH)
		value = extent;
	for (uint64_t i = 0; argument->kind == SK_ARGUMENT_EXPRESSION && i < argument->size; i++) {
		const struct sk_plan_term *term = &view->terms[argument->index + i];

		value += sk_plan_term_value(term, term->variable == SK_VARIABLE_BEGIN ? 0 : extent);
	}
	return sk_scalar_bits(value, argument->dtype);
}
