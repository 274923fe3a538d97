/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"

bool sk_call_disagree(struct sk_calls *calls, const char *format, ...)
{
	const struct sk_plan_view *view = calls->view;
	const struct sk_plan_kernel *kernel = &view->kernels[calls->call->kernel];
	va_list args;

	va_start(args, format);

	const char *text = sk_arena_print_list(calls->arena, format, args);

	va_end(args);
	sk_error(calls->diag, (struct sk_place){.file = calls->file},
		 "launch '%s': the call of task '%s' contradicts the signature of kernel '%s': %s",
		 sk_plan_string(&calls->launch->name), sk_plan_string(&view->tasks[calls->call->task].name),
		 sk_plan_string(&kernel->name), text);
	sk_note(calls->diag, "the signature is: %s", calls->signature->text);
	return false;
}

const struct sk_plan_argument *sk_call_argument(const struct sk_calls *calls, uint32_t number)
{
	return &calls->view->arguments[calls->call->first_argument + number];
}

const char *sk_call_parameter_text(const struct sk_calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const char *name = number < signature->parameter_count ? signature->parameters[number].name : signature->result;

	return sk_arena_print(calls->arena, "'%s'", name ? name : "block");
}

bool sk_call_has_tensor(const struct sk_calls *calls, uint32_t number)
{
	return calls->signature->parameters[number].kind == SK_PARAMETER_TENSOR &&
	       sk_call_argument(calls, number)->kind == SK_ARGUMENT_POINTER;
}

uint64_t sk_call_elements(const struct sk_calls *calls, const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(calls->view, argument);

	return rows.count * (rows.width / sk_dtype_size(argument->dtype));
}

bool sk_call_learn(struct sk_calls *calls, uint32_t extent, uint64_t value)
{
	if (calls->extents[extent] != SK_EXTENT_UNKNOWN && calls->extents[extent] != value)
		return sk_call_disagree(calls, "extent '%s' is %" PRIu64 " and %" PRIu64,
					calls->signature->extents[extent], calls->extents[extent], value);
	calls->extents[extent] = value;
	return true;
}

uint64_t sk_call_dimension(const struct sk_calls *calls, const struct sk_extent *extent)
{
	uint64_t sum = 0;

	for (; extent; extent = extent->more) {
		uint64_t product = extent->constant;

		for (uint32_t i = 0; i < extent->name_count; i++)
			if (calls->extents[extent->names[i]] == SK_EXTENT_UNKNOWN ||
			    !sk_mul(product, calls->extents[extent->names[i]], &product))
				return SK_EXTENT_UNKNOWN;
		sum += extent->subtracted ? -product : product;
	}
	return sum;
}

struct sk_call_values sk_call_known_values(const struct sk_calls *calls)
{
	return (struct sk_call_values){calls->view, calls->step, calls->call, calls->signature, calls->extents};
}

bool sk_call_names_extent(const struct sk_value_expression *value, uint32_t extent)
{
	if (value->kind == SK_VALUE_EXTENT)
		return value->index == extent;
	return (value->left && sk_call_names_extent(value->left, extent)) ||
	       (value->right && sk_call_names_extent(value->right, extent));
}

bool sk_call_check_value(struct sk_calls *calls, uint32_t number, const struct sk_value_expression *value)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_call_values values = sk_call_known_values(calls);
	bool literal = value->kind == SK_VALUE_REAL || value->kind == SK_VALUE_NULL;

	/* Only the plan knows the values of a task's attributes; they are numbers, as for values that tasks set. */
	if (value->kind == SK_VALUE_ATTRIBUTE)
		return argument->kind == SK_ARGUMENT_VALUE ||
		       sk_call_disagree(calls, "%s is not one number", sk_call_parameter_text(calls, number));
	return (literal ? argument->kind == SK_ARGUMENT_VALUE && argument->value == value->number
			: sk_call_value_agrees(&values, value, argument)) ||
	       sk_call_disagree(calls, "%s is not %s", sk_call_parameter_text(calls, number),
				value->text ? value->text : "how long its part is");
}
