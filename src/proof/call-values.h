/* Whether what a plan passes for a parameter is what the signature's expression says. In come the call, and what is
 * known of its extents; out comes whether the two are the same for every call that the step makes. The expression is
 * computed as it stands, without the terms that sklink makes of it. */
#ifndef SK_CALL_VALUES_H
#define SK_CALL_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/signature/signature-parser.h"

/* An extent that nothing has told so far, or what is computed from one. */
#define SK_EXTENT_UNKNOWN UINT64_MAX

struct sk_call_values {
	const struct sk_plan_view *view;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	const uint64_t *extents; /* or SK_EXTENT_UNKNOWN */
};

/* True, too, if extents that it names are not known. The argument is a VALUE or an EXPRESSION. */
bool sk_call_value_agrees(const struct sk_call_values *values, const struct sk_value_expression *value,
			  const struct sk_plan_argument *argument);

/* What the expression is that no call has another value of; false if that is not known. */
bool sk_call_constant(const struct sk_call_values *values, const struct sk_value_expression *value, uint64_t *constant);

#endif
