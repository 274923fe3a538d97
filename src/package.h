/* src/package: what sklink makes itself, handed to the linker as sections. In: the finished plan. Out: the dispatchers,
 * the plan, the constants, the report and the note of versions, with the symbols and relocations that tie them
 * together. */
#ifndef SK_PACKAGE_H
#define SK_PACKAGE_H

#include "loader/plan.h"
#include "model.h"
#include "partition.h"
#include "plan.h"

/* Adds everything to the linker. plan is a view of image, and plan_symbol its global symbol. *dispatcher_size becomes
 * the bytes of the dispatchers' code. False after an error in the model's sink. */
bool sk_package_build(struct sk_model *model, const struct sk_partition *partition, const struct sk_plan_image *image,
		      const struct sk_plan_view *plan, const char *plan_symbol, struct sk_linker *linker,
		      uint64_t *dispatcher_size);

#endif
