/* From a launch of the plan to machine code. The dispatcher is made from the plan itself, not from the schedule
 * that the plan was written from, so whoever has a package can make it again and compare (skdump --verify).
 *
 *   plan --dispatcher.c--> neutral ops --emit.h--> bytes and relocations --debug-line.c--> DWARF
 */
#ifndef SK_DISPATCHER_H
#define SK_DISPATCHER_H

#include <stdbool.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skabi.h"

/* What a relocation in a dispatcher refers to. */
enum sk_code_target {
	SK_CODE_KERNEL, /* the function of plan kernel number `index` */
	SK_CODE_VECTOR_KERNEL, /* the function of its vector side */
	SK_CODE_CONSTANTS, /* the start of the constants */
	SK_CODE_SYMBOL, /* what plan symbol number `index` names */
};

struct sk_code_relocation {
	uint64_t offset;
	bool call; /* the architecture's call; otherwise 32-bit PC-relative */
	enum sk_code_target target;
	uint32_t index;
	int64_t addend;
};

/* A function in the code; the first one is the entry. */
struct sk_code_symbol {
	const char *name;
	uint64_t offset, size;
};

/* From this offset on, code is for this task: it awaits for it, runs it or publishes it; or it begins or ends a
 * function, next to that task's code. */
struct sk_code_part {
	uint64_t offset;
	uint32_t task;
	bool frame;
};

struct sk_code {
	struct sk_arena *arena; /* of the arrays */
	SK_ARRAY(uint8_t) bytes;
	uint32_t alignment; /* that the bytes need */
	SK_ARRAY(struct sk_code_relocation) relocations;
	SK_ARRAY(struct sk_code_symbol) symbols;
	SK_ARRAY(struct sk_code_part) parts; /* by offset; each function begins with one, but thunks have none */
	/* One CIE and an FDE per function, as .eh_frame has them; each FDE's 32-bit PC-relative start address stands at
	 * eh_frame_starts[i] and refers to symbols[i]. */
	SK_ARRAY(uint8_t) eh_frame;
	SK_ARRAY(uint64_t) eh_frame_starts;
};

enum sk_entry_kind {
	SK_ENTRY_PARALLEL, /* int NAME(struct sk_core *) */
	SK_ENTRY_SERIAL, /* int NAME_serial(void *const *tensors, void *workspace); the launch's scratch, if any, lies
			    in the workspace behind workspace_size bytes (unshared_workspace_size for task entries) */
};

enum { SK_CODE_ALIGNMENT = 64 };

/* Synthesizes one entry of a launch that sk_plan_check_launch has accepted, behind what the code holds already. `name`
 * is the entry's symbol, which must live as long as the code. Returns NULL, or the reason why it cannot be done. The
 * scratch arena holds the reason, and nothing else that anybody needs afterwards. */
const char *sk_dispatcher_emit(struct sk_arena *scratch, const struct sk_plan_view *plan, uint32_t launch,
			       enum sk_entry_kind kind, const char *name, struct sk_code *code);

#endif
