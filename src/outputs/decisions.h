/* --report: all that has been decided about a link, for programs. In: a linked package's plan, report and facts. Out: a
 * file in JSON; doc/sklink.1 says what it holds. */
#ifndef SK_DECISIONS_H
#define SK_DECISIONS_H

#include "format/profile/profile.h"
#include "src/model/model.h"
#include "src/package/entries.h"
#include "src/planning/without-groups.h"
#include "src/proof/account.h"

struct sk_decisions {
	const char *manifest; /* its path, as given */
	const struct sk_profile *device; /* that the plan is for */
	const struct sk_plan_view *plan;
	const struct sk_model *model; /* for what the plan does not have: idle tasks, and nodes without a task */
	const struct sk_account *account;
	const struct sk_without_groups *without_groups;
	const struct sk_facts *facts;
	const struct sk_entries *entries; /* SK_ENTRIES of them */
	uint64_t output_size; /* bytes of the package */
};

/* Writes the file. False after an error in the sink. */
bool sk_decisions_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
			const struct sk_decisions *input);

#endif
