/* src/package: what sklink makes itself, handed to the linker as sections. In: the finished plan. Out: the dispatchers,
 * the plan, the constants, the report and the note of versions, with the symbols and relocations that tie them
 * together. */
#ifndef SK_PACKAGE_H
#define SK_PACKAGE_H

#include "loader/plan.h"
#include "model.h"
#include "partition.h"
#include "plan.h"

/* Bytes of code that a task takes. */
struct sk_task_code {
	uint64_t dispatcher; /* of the launch that runs it, all lanes */
	uint64_t serial; /* of that launch's serial entry */
	uint64_t entries; /* of its own entries, parallel and serial, without what each function begins and ends with */
};

struct sk_package_code {
	uint64_t size; /* of all dispatchers and serial entries */
	struct sk_task_code *tasks; /* by number */
};

/* Adds everything to the linker. plan is a view of image. False after an error in the model's sink. */
bool sk_package_build(struct sk_model *model, const struct sk_partition *partition, const struct sk_plan_image *image,
		      const struct sk_plan_view *plan, struct sk_linker *linker, struct sk_package_code *sizes);

#endif
