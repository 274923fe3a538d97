/* The facts that a proof rests on, in words: for explanations, and for programs that read reports. */
#ifndef SK_FACT_WORDS_H
#define SK_FACT_WORDS_H

#include <stdio.h>

#include "src/proof/verify.h"

/* The temporaries in the order of their places in the unshared workspace. */
struct sk_temporaries {
	uint32_t *tensors; /* of the plan */
	uint32_t count;
};

struct sk_temporaries sk_temporaries_sort(struct sk_arena *arena, const struct sk_plan_view *plan);

/* The tensor that an access names, in quotes; words for several where it can be any of them. In the arena. */
const char *sk_fact_tensor_text(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_temporaries *temporaries, const struct sk_step_access *access);

/* Members of an object in JSON, behind others of it: why one comes before the other ("read after write"), for which
 * tensor or event, and what holds that ("other await"). */
void sk_fact_put_json(struct sk_arena *arena, FILE *stream, const struct sk_plan_view *plan,
		      const struct sk_temporaries *temporaries, const struct sk_fact *fact);

#endif
