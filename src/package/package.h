/* src/package/package: what sklink makes itself, handed to the linker as sections. In: the finished plan. Out: the
 * dispatchers, the plan, the constants, the report and the note of versions, with the symbols and relocations that tie
 * them together. */
#ifndef SK_PACKAGE_H
#define SK_PACKAGE_H

#include "loader/plan/plan.h"
#include "src/model/model.h"
#include "src/package/entries.h"
#include "src/planning/plan-writer.h"
#include "src/proof/report.h"

struct sk_package_options {
	bool debug; /* shows a debugger which task's line of the manifest code belongs to */
	unsigned threads;
};

/* Adds everything to the linker. plan is a view of image, and plan_symbol its global symbol;
 * entries become the code of its launches, and *plan_section the plan's. False after an error in the model's sink. */
bool sk_package_build(struct sk_model *model, const struct sk_report *report, const struct sk_plan_image *image,
		      const struct sk_plan_view *plan, const char *plan_symbol, struct sk_linker *linker,
		      const struct sk_package_options *options, struct sk_entries entries[SK_ENTRIES],
		      sk_section *plan_section);

#endif
