/* The plan's writer: what has been planned, as the tables of format/skplan.h. In come the model, its launches, their
 * schedule and the memory; out come the bytes of .sk.plan, what in them the linker has to relocate, and where each
 * constant lies.
 *
 * The launches of the network stand first, in the order of the fusion; then, unless they are not wanted, the task
 * entries sk_unfused_<task>, one per task in network order: one step, the smallest unit, the unshared workspace.
 * Records of each launch, and of each step, stand together and in order in every table. Tensors are those with memory
 * of their own: no views. */
#ifndef SK_PLAN_WRITER_H
#define SK_PLAN_WRITER_H

#include "src/model/model.h"
#include "src/planning/memory.h"

enum sk_plan_target {
	SK_PLAN_ENTRY, /* the entry of plan launch `index`; its name is sk_plan_string(&launch->name) */
	SK_PLAN_SERIAL_ENTRY, /* its serial entry, <name>_serial */
	SK_PLAN_KERNEL, /* the function of kernel `index`, of the model and of the plan */
	SK_PLAN_VECTOR_KERNEL, /* the function of its vector side */
	SK_PLAN_SYMBOL, /* symbol `index`, of the model and of the plan */
	SK_PLAN_CONSTANTS, /* the start of the constants */
};

/* The 32-bit field at the offset holds 0 and is to hold the target's address minus its own. */
struct sk_plan_relocation {
	uint64_t offset;
	enum sk_plan_target target;
	uint32_t index;
};

struct sk_plan_constant {
	uint32_t tensor; /* of the model */
	uint64_t offset; /* from the start of the constants, a multiple of SK_CONSTANT_ALIGNMENT */
	uint64_t size;
};

enum { SK_CONSTANT_ALIGNMENT = 64 };

struct sk_plan_image {
	uint8_t *bytes; /* aligned to SK_PLAN_ALIGN; all of it is in the model's arena */
	uint64_t size;
	SK_ARRAY(struct sk_plan_relocation) relocations; /* by offset */
	SK_ARRAY(struct sk_plan_constant) constants; /* by offset */
	uint64_t constants_size;
};

/* How tasks run by themselves. */
enum sk_task_entries {
	SK_TASKS_WITHOUT, /* not at all */
	SK_TASKS_BY_THUNKS, /* those that are called in one way share a thunk */
	SK_TASKS_BY_ENTRIES, /* each has entries of its own, a serial one, too */
};

/* machine: EM_… False if the plan exceeds 2 GiB or the constants 64 bits (said in the sink). */
bool sk_plan_write(const struct sk_model *model, const struct sk_fusion *fusion, const struct sk_schedule *schedule,
		   const struct sk_memory *memory, uint32_t machine, enum sk_task_entries task_entries,
		   struct sk_plan_image *image);

#endif
