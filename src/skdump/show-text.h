/* What several sections of skdump's output have in common: words for what the plan says, and how tables stand. Texts
 * lie in the show's arena, or in the plan. */
#ifndef SK_SHOW_TEXT_H
#define SK_SHOW_TEXT_H

#include "base/table.h"
#include "src/skdump/show.h"

static inline const char *sk_show_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Thousands of rows may have one and the same name, so one of a MB would make GBs: of such there is the beginning. */
const char *sk_show_short(const struct sk_show *show, const char *name);

/* A name of the plan, as short. */
const char *sk_show_name(const struct sk_show *show, const int32_t *reference);
const char *sk_show_name_or_dash(const struct sk_show *show, const int32_t *reference);
const char *sk_show_task(const struct sk_show *show, const struct sk_plan_call *call);
const char *sk_show_kind(const struct sk_plan_launch *launch);

/* How many launches are shown: task entries, which come last, if they are asked for. */
uint32_t sk_show_launch_count(const struct sk_show *show);
uint32_t sk_show_count_awaits(const struct sk_plan_view *plan, const struct sk_plan_launch *launch);

/* The cells of a table's first row, up to NULL. */
static inline void sk_show_headings(struct sk_table *table, const char *const *texts)
{
	for (; *texts; texts++)
		sk_table_cell(table, "%s", *texts);
}

#define HEADINGS(table, ...) sk_show_headings(table, (const char *const[]){__VA_ARGS__, NULL})

/* A section: its title, its table, an empty line. */
void sk_show_table(const struct sk_show *show, const char *title, struct sk_table *table);

#endif
