/* From the plan to neutral ops; debug information and unwind tables of dispatchers. */
#ifndef SK_STUBS_DISPATCHER_DISPATCHER_H
#define SK_STUBS_DISPATCHER_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/plan/plan.h"

struct sk_arena;
struct sk_dims_view;
struct sk_entry_ops;
struct sk_plan_launch;
struct sk_relocation_table;

/* ==== dispatcher.c ====
 *
 * From a launch of the plan to machine code. The dispatcher is made from the plan itself, not from the schedule that
 * the plan was written from. Any program with the package can therefore make it again and compare (skdump --verify).
 *
 * plan --dispatcher.c--> neutral ops --emit.h--> bytes and relocations --debug-line.c--> DWARF */

/* The target of a relocation in a dispatcher. */
enum sk_code_target {
	SK_CODE_KERNEL, /* the function of plan kernel number `index` */
	SK_CODE_VECTOR_KERNEL, /* the function of its vector side */
	SK_CODE_CONSTANTS, /* the start of the constants */
	SK_CODE_SYMBOL, /* the target of plan symbol number `index` */
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

/* From this offset on, code belongs to this task: it waits for the task, runs it or publishes it; or it begins or ends
 * a function, next to that task's code. */
struct sk_code_part {
	uint64_t offset;
	uint32_t task;
	bool frame;
};

struct sk_code {
	struct sk_arena *arena; /* of the arrays */
	SK_ARRAY(uint8_t) bytes;
	uint32_t alignment; /* that the bytes require */
	SK_ARRAY(struct sk_code_relocation) relocations;
	SK_ARRAY(struct sk_code_symbol) symbols;
	SK_ARRAY(struct sk_code_part) parts; /* by offset; each function begins with one, but thunks have none */
	/* One CIE and an FDE for each function, as in .eh_frame; each FDE's 32-bit PC-relative start address is at
	 * eh_frame_starts[i] and refers to symbols[i]. */
	SK_ARRAY(uint8_t) eh_frame;
	SK_ARRAY(uint64_t) eh_frame_starts;
};

enum sk_entry_kind {
	SK_ENTRY_PARALLEL, /* int NAME(struct sk_core *) */
	SK_ENTRY_SERIAL, /* int NAME_serial(void *const *tensors, void *workspace); the launch's scratch, if any,
			    follows the workspace_size bytes of the workspace (unshared_workspace_size for task entries)
			    */
};

enum { SK_CODE_ALIGNMENT = 64 };

/* Append one entry of a launch that sk_plan_check_launch has accepted to the code. `name` is the entry's symbol, which
 * must live as long as the code. The code reads numbers that vary with the sizes of a dynamic package from their slots;
 * dims NULL: the package is static. Return NULL, or the reason for a failure. The scratch arena has the reason, and
 * nothing else that is needed afterwards. */
const char *sk_dispatcher_emit(struct sk_arena *scratch, const struct sk_plan_view *plan,
			       const struct sk_dims_view *dims, uint32_t launch, enum sk_entry_kind kind,
			       const char *name, struct sk_code *code);

/* Set reads[value] for each value of the sizes that the code of the launch's entries reads, and that needs a slot
 * therefore. The slots of `dims` are not used. Return as above. */
const char *sk_dispatcher_read(struct sk_arena *scratch, const struct sk_plan_view *plan,
			       const struct sk_dims_view *dims, uint32_t launch, bool *reads);

/* ==== debug-line.c ====
 *
 * Debug information for dispatchers: each step's code belongs to its task's line in the manifest. In: the code of all
 * entries, as sk_dispatcher_emit has made it. Out: the contents of .debug_info, .debug_line and .debug_abbrev, one
 * compilation unit with the manifest as its source, and the places of missing addresses and offsets.
 *
 * Format: DWARF 4, which every reader knows and which names a file without a directory. */

enum sk_debug_part { SK_DEBUG_INFO, SK_DEBUG_LINE, SK_DEBUG_ABBREV, SK_DEBUG_PARTS };

/* A field for the linker: 32 bits, the offset of the part's contents in its joined section; or, if part is
 * SK_DEBUG_PARTS, 64 bits: the address of the code plus addend. */
struct sk_debug_reference {
	uint64_t offset;
	enum sk_debug_part part;
	uint64_t addend;
};

struct sk_debug_section {
	const char *name;
	SK_ARRAY(uint8_t) bytes;
	SK_ARRAY(struct sk_debug_reference) references;
};

struct sk_debug {
	struct sk_arena *arena;
	struct sk_debug_section parts[SK_DEBUG_PARTS];
};

/* `source` is the manifest's path, used unchanged; `producer` is the program's name and version. The code belongs to
 * launches of the plan and has at least one function. */
void sk_debug_build(struct sk_debug *debug, struct sk_arena *arena, const char *source, const char *producer,
		    const struct sk_plan_view *plan, const struct sk_code *code);

/* ==== eh_frame.c ====
 *
 * Unwind tables for synthesized functions. In: the canonical frame address (CFA) and the saved registers, reported
 * while a function is emitted. Out: one CIE and an FDE for each function in sk_code's eh_frame. Only the numbers in
 * struct sk_eh_machine depend on the architecture.
 *
 * Format: Linux Standard Base core specification, "Exception Frames"; DWARF 5 section 6.4. */

struct sk_eh_machine {
	uint8_t code_alignment; /* factor of every advance */
	int8_t data_alignment; /* factor of every save */
	uint8_t return_address; /* DWARF register */
	uint8_t stack_pointer; /* DWARF register that the CFA is relative to */
	uint8_t cfa_offset; /* CFA at a function's first instruction */
	int8_t return_address_at; /* bytes from the CFA; 0: in its register */
};

struct sk_eh_frame {
	struct sk_code *code;
	const struct sk_eh_machine *machine;
	uint64_t record; /* start of the current FDE */
	uint64_t function; /* offset of the function in the code */
	uint64_t place; /* rows are complete up to here */
};

void sk_eh_open(struct sk_eh_frame *frame, struct sk_code *code, const struct sk_eh_machine *machine);

/* All offsets are those of the code; they must not decrease within a function. */
void sk_eh_function_begin(struct sk_eh_frame *frame, uint64_t offset);
void sk_eh_cfa_offset(struct sk_eh_frame *frame, uint64_t offset, uint32_t bytes);
void sk_eh_saved(struct sk_eh_frame *frame, uint64_t offset, uint8_t dwarf_register, uint32_t bytes_below_cfa);
void sk_eh_remember(struct sk_eh_frame *frame, uint64_t offset);
void sk_eh_restore(struct sk_eh_frame *frame, uint64_t offset);
void sk_eh_function_end(struct sk_eh_frame *frame, uint64_t offset);

/* ==== emit ====
 *
 * The functions of an architecture for the dispatcher: a row for each. */

struct sk_emitter {
	uint32_t machine; /* EM_… */
	const char *name;
	const struct sk_relocation_table *relocations;
	/* Append the code of the ops. Return NULL, or the reason for a failure (in scratch). */
	const char *(*emit)(struct sk_arena *scratch, const struct sk_entry_ops *program, struct sk_code *code);
};

#define SK_MACHINE(name) extern const struct sk_emitter sk_emitter_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* Return the row of an ELF machine; NULL: there is none. */
const struct sk_emitter *sk_emitter_find(uint32_t machine);

/* ==== thunk.c ====
 *
 * The thunk of a task's own launch: the dispatcher of a plan with this launch alone, without the values that differ
 * between tasks with the same form of call. In: a launch that sk_plan_check_launch has accepted. Out: that plan, and
 * all facts that the code depends on as bytes. Launches with equal bytes have the same thunk, which is
 * position-independent and has no references. */

struct sk_thunk {
	/* The launch is its first one. Values of words (format/plan/plan.h) are read from the words, which take the
	 * place of bindings and workspace: an address is a binding, and a number is loaded from the workspace. A call's
	 * kernel and task are the numbers of their words. */
	struct sk_plan_view plan;
	const char *key;
	size_t key_size;
};

/* True if a launch can have a thunk: all its numbers that vary with the sizes are words. dims NULL: none varies. */
bool sk_thunk_takes(struct sk_arena *scratch, const struct sk_plan_view *plan, const struct sk_dims_view *dims,
		    const struct sk_plan_launch *launch);

void sk_thunk_make(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_plan_launch *launch,
		   struct sk_thunk *thunk);

#endif
