/* What the files share that compare calls with signatures (calls.h): the call at hand, with what is known of its
 * extents, and how they say that the two do not agree. What returns false has said why. */
#ifndef SK_CALL_CHECK_H
#define SK_CALL_CHECK_H

#include "base/diag.h"
#include "src/proof/call-values.h"

struct sk_calls {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_signature **signatures; /* by kernel */
	const struct sk_plan_call **states_of; /* by kernel: the first call of it */

	/* The call at hand. */
	const struct sk_plan_launch *launch;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	uint64_t extents[SK_MAX_PARAMETERS]; /* or SK_EXTENT_UNKNOWN */
	uint64_t frames[SK_MAX_PARAMETERS]; /* by STRUCT: where it stands in the scratch */
};

/* ---- call-check.c: what the others ask ---- */

/* Returns false, always. */
bool sk_call_disagree(struct sk_calls *calls, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct sk_plan_argument *sk_call_argument(const struct sk_calls *calls, uint32_t number);

/* "'x'"; the result's number is the one behind the parameters'. */
const char *sk_call_parameter_text(const struct sk_calls *calls, uint32_t number);

/* A tensor is passed for the parameter: it takes one, and is not one of those that may be absent and are. */
bool sk_call_has_tensor(const struct sk_calls *calls, uint32_t number);

uint64_t sk_call_elements(const struct sk_calls *calls, const struct sk_plan_argument *argument);

/* A value of an extent's name; two of them must agree. */
bool sk_call_learn(struct sk_calls *calls, uint32_t extent, uint64_t value);

/* What a dimension is, where that is known; else SK_EXTENT_UNKNOWN. */
uint64_t sk_call_dimension(const struct sk_calls *calls, const struct sk_extent *extent);

struct sk_call_values sk_call_known_values(const struct sk_calls *calls);

bool sk_call_names_extent(const struct sk_value_expression *value, uint32_t extent);

/* The argument is what the expression says. */
bool sk_call_check_value(struct sk_calls *calls, uint32_t number, const struct sk_value_expression *value);

/* ---- call-spread.c: units, blocks, sides and loops ---- */

/* The unit of a call that has so many elements of the divided extent, by itself. Units are whole tiles. */
uint64_t sk_call_minimum_unit(const struct sk_plan_view *view, const struct sk_plan_call *call, uint64_t extent,
			      const struct sk_signature *signature);
bool sk_call_check_spread(struct sk_calls *calls);

/* ---- call-memory.c: tensors ---- */

bool sk_call_check_memory(struct sk_calls *calls, uint32_t number, enum sk_dtype dtype, unsigned access);
bool sk_call_check_tensor(struct sk_calls *calls, uint32_t number);

/* How the tensor's bytes lie, once the extents are known. */
bool sk_call_check_pattern(struct sk_calls *calls, uint32_t number);

/* Which arguments may be the same bytes. */
bool sk_call_check_overlaps(struct sk_calls *calls);

/* ---- call-arguments.c: each argument by itself ---- */

bool sk_call_check_arguments(struct sk_calls *calls);

/* ---- call-extents.c: what is known once all arguments have been looked at ---- */

bool sk_call_check_extents(struct sk_calls *calls);

/* What the signature says of scalars, and of how many blocks there are. */
bool sk_call_check_values(struct sk_calls *calls);

#endif
