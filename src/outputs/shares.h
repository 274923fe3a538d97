/* The end of the map: what each kernel and each task costs. In: a linked package. Out: two tables of bytes. */
#ifndef SK_SHARES_H
#define SK_SHARES_H

#include "src/model/model.h"
#include "src/package/package.h"

/* In the model's arena. `entries` are those of the plan's launches. */
const char *sk_shares_text(const struct sk_model *model, const struct sk_plan_view *plan,
			   const struct sk_entries entries[SK_ENTRIES], struct sk_linker *linker);

#endif
