/* Explanations: what became of one task, in sentences. In come a package's plan, its account and the facts that its
 * proof rests on; so sklink and skdump say the same. */
#ifndef SK_EXPLAIN_H
#define SK_EXPLAIN_H

#include <stdio.h>

#include "src/proof/account.h"
#include "src/proof/fact-words.h"

/* Where tasks run, and whose facts are whose, so that explaining all tasks takes no longer than reading the plan and
 * the facts. */
struct sk_explanation_index {
	struct sk_temporaries temporaries;
	const struct sk_task_call *calls; /* by task */
	uint32_t *first[2]; /* by call: the first fact of which it is the earlier [0] or the later [1] one; SK_NO_INDEX:
			       none */
	uint32_t *next[2]; /* by fact: the next one */
};

struct sk_explanation_index sk_explanation_index(struct sk_arena *arena, const struct sk_plan_view *plan,
						 const struct sk_facts *facts);

struct sk_explanation {
	struct sk_arena *arena;
	const struct sk_plan_view *plan;
	const struct sk_account *account; /* NULL: it has been stripped */
	const struct sk_facts *facts;
	const struct sk_explanation_index *index; /* of these facts */
	FILE *stream;
};

/* The task of that name, or SK_NO_INDEX after an error with a suggestion in the sink. */
uint32_t sk_explain_find(struct sk_diag *diag, const struct sk_plan_view *plan, const char *name);

void sk_explain(const struct sk_explanation *explanation, uint32_t task);

/* Those of these names that the plan has, or the account; the others are errors in the sink, as sk_explain_find says.
 */
void sk_explain_tasks(const struct sk_explanation *explanation, struct sk_diag *diag, const char *const *names,
		      size_t count);

#endif
