/* What sklink makes itself, handed to the linker as sections. In: the finished plan. Out: the
 * dispatchers, the plan, the constants, the account and the note of versions, with the symbols and relocations that tie
 * them together. */
#ifndef SK_PACKAGE_H
#define SK_PACKAGE_H

#include "format/plan/plan.h"
#include "src/model/model.h"
#include "src/package/entries.h"
#include "src/package/weights-file.h"
#include "src/planning/plan-writer.h"
#include "src/proof/account.h"

/* What the package is made from. */
struct sk_package_input {
	struct sk_model *model;
	const void *account; /* from sk_account_pack */
	uint64_t account_size;
	const struct sk_plan_image *image; /* and a view of it */
	const struct sk_plan_view *plan;
	const char *name; /* NULL: that of its first launch */
	bool relocatable; /* the package is an object */
	bool debug; /* shows a debugger which task's line of the manifest code belongs to */
	unsigned threads;
	const char *weights; /* path of the file for constants; NULL: they are in the package */
};

/* What has been made, for those who speak of it or complete it. */
struct sk_package_parts {
	const char *name; /* of the package in C */
	const char *plan_symbol; /* global: what the plan is found by */
	struct sk_entries entries[SK_ENTRIES]; /* the code of the plan's launches */
	sk_section plan; /* whose seal is still empty */
	struct sk_package_weights weights;
};

/* Adds everything to the linker. False after an error in the model's sink. */
bool sk_package_build(const struct sk_package_input *input, struct sk_linker *linker, struct sk_package_parts *parts);

#endif
