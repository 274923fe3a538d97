/* The plan's reader: the arguments of calls, made of lists that calls share and of the operands of each call. They are
 * made when a launch is checked, in memory that costs nothing until then: running a launch needs none of them. */
#include <inttypes.h>
#include <string.h>

#include "format/plan/plan-checker.h"
#include "format/skplan.h"

/* Find the place of the operand; `unshared`: for a task entry. */
static bool place_operand(const struct sk_plan_checker *checker, uint32_t number, bool unshared,
			  struct sk_plan_argument *argument)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_tensor *tensor;
	uint64_t offset;

	if (number >= view->operand_count || view->operands[number] >= view->tensor_count)
		return sk_plan_fail(checker, "operand %u is none of %u, or no tensor", number, view->operand_count);
	if (argument->space || argument->index || argument->tensor)
		return sk_plan_fail(checker, "an operand's place is its tensor's alone");
	tensor = &view->tensors[view->operands[number]];
	unshared &= tensor->role == SK_ROLE_TEMPORARY;
	offset = unshared ? tensor->unshared_offset : tensor->offset;
	argument->flags &= (uint16_t)~SK_ARGUMENT_OPERAND;
	argument->space = unshared ? SK_SPACE_WORKSPACE : tensor->space;
	argument->index = tensor->space == SK_SPACE_BINDING ? tensor->index : 0;
	argument->tensor = view->operands[number];
	return !__builtin_add_overflow(argument->offset, offset, &argument->offset) ||
	       sk_plan_fail(checker, "its offset is too large");
}

bool sk_plan_make_arguments(struct sk_plan_checker *checker, const struct sk_plan_call *call, bool unshared)
{
	static const struct sk_plan_argument none;
	const struct sk_plan_view *view = checker->view;
	uint32_t operand = call->first_operand;

	if (!view->list_count || !call->argument_count)
		return true;
	if (!view->made) /* tests provide their own */
		return view->arguments || sk_plan_fail(checker, "no memory has been reserved for its arguments");
	if (!sk_plan_within(call->list, call->argument_count, view->list_count))
		return sk_plan_fail(checker, "its list, records %u to %" PRIu64 ", is out of range (%u records)",
				    call->list, (uint64_t)call->list + call->argument_count - 1, view->list_count);
	for (uint32_t i = 0; i < call->argument_count; i++) {
		struct sk_plan_argument argument = view->lists[call->list + i];
		struct sk_plan_argument *made = &view->made[call->first_argument + i];

		checker->argument = i;
		if (argument.flags & SK_ARGUMENT_OPERAND && !place_operand(checker, operand++, unshared, &argument))
			return false;
		/* Others may be reading a record that was made before, and that has been checked as one of their
		 * call. */
		if (memcmp(made, &argument, sizeof(argument)) != 0) {
			if (memcmp(made, &none, sizeof(none)) != 0)
				return sk_plan_fail(checker, "its arguments overlap those of another call");
			*made = argument;
		}
	}
	checker->argument = SK_NO_INDEX;
	return true;
}
