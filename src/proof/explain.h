/* Explanations: what became of one task, in sentences. In come a package's plan, its account and the facts that its
 * proof rests on; so sklink and skdump say the same. */
#ifndef SK_EXPLAIN_H
#define SK_EXPLAIN_H

#include <stdio.h>

#include "src/proof/account.h"

struct sk_explanation {
	struct sk_arena *arena;
	const struct sk_plan_view *plan;
	const struct sk_account *account; /* NULL: it has been stripped */
	const struct sk_facts *facts;
	FILE *stream;
};

/* The task of that name, or SK_NO_INDEX after an error with a suggestion in the sink. */
uint32_t sk_explain_find(struct sk_diag *diag, const struct sk_plan_view *plan, const char *name);

void sk_explain(const struct sk_explanation *explanation, uint32_t task);

/* Those of these names that the plan has; the others are errors in the sink, as sk_explain_find says. */
void sk_explain_tasks(const struct sk_explanation *explanation, struct sk_diag *diag, const char *const *names,
		      size_t count);

/* The temporaries in the order of their places in the unshared workspace. */
struct sk_temporaries {
	uint32_t *tensors; /* of the plan */
	uint32_t count;
};

struct sk_temporaries sk_temporaries_sort(struct sk_arena *arena, const struct sk_plan_view *plan);

/* Words that the report needs, too: "read after write", and the tensor that an access names, "'t'". */
const char *sk_fact_reason(const struct sk_plan_view *plan, const struct sk_fact *fact);
const char *sk_fact_tensor(struct sk_arena *arena, const struct sk_plan_view *plan,
			   const struct sk_temporaries *temporaries, const struct sk_step_access *access);

#endif
