/* The machine that libskrt runs on, for all other rooms of the runtime. Here is what must be inline, since awaits and
 * traces use it:
 *
 *   SK_MACHINE
 *       its number in ELF headers and plans (EM_…)
 *   SK_CALL_SIZE
 *       bytes of a dispatcher's call of a kernel
 *   sk_pause()
 *       spends a moment of a loop that waits
 *   sk_counter()
 *       the counter that dispatchers note times of, read when what stands before has been executed
 *   sk_thread_pointer()
 *       the address that the calling thread's variables are found from
 *   sk_order_nontemporal()
 *       what this thread has stored past its caches is seen before what it stores from here on
 *   sk_call_target(call)
 *       where a dispatcher's call of a kernel leads that stands at the address; NULL: it is none
 *   sk_tile_place(code, end, tile)
 *       how many bytes above the stack pointer a dispatcher's loop through tiles of so many elements, if it begins at
 * the code, has the tile at hand while kernels run, a struct sk_core_range; negative: none begins there
 *   SK_TRAP_CODE_SIZE, sk_trap_name(trap)
 *       bytes of the code of a trap, an instruction that sklink puts in place of functions that nothing defines;
 *       where the one at the address has its name, which may be anywhere. NULL: it is none
 *   sk_dynamic_kind(type)
 *       what a relocation of a package wants
 *   sk_machine_convention(), SK_INTEGERS, SK_FLOATS
 *       how calls pass arguments, and in how many registers at most
 *   sk_machine_imports()
 *       what packages may import beside format/imports.def, from libraries that only this machine has
 *   struct sk_modes, sk_standard_modes, sk_modes_read(), sk_modes_load(modes)
 *       the modes of floating point; those that programs and package code begin in; those of the calling thread
 *   struct sk_control
 *       control state that a function must leave as it was, before a call and behind it
 *
 * and below what need not be inline. A machine is a header beside this one and a folder; configure makes host.h a link
 * to the header of the machine that it finds. */
#ifndef SK_LOADER_MACHINE_H
#define SK_LOADER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/convention.h"
#include "format/import-row.h"

/* What relocations of loaded packages want: the word at the place becomes the image's bias and the addend; the symbol's
 * address; what __tls_get_addr knows the package's blocks by; or the distance from the thread pointer, of the addend in
 * the package's block, or of the symbol if there is one. */
enum sk_dynamic_kind {
	SK_DYNAMIC_UNSUPPORTED,
	SK_DYNAMIC_BIAS,
	SK_DYNAMIC_SYMBOL,
	SK_DYNAMIC_BLOCK,
	SK_DYNAMIC_DISTANCE,
};

#include "loader/arch/host.h"

/* What an unsupported type of relocation stands for, for messages. */
const char *sk_dynamic_name(uint32_t type);

/* ---- for signal handlers, whose third argument is the context ---- */

/* Why the processor did not execute an instruction, where it does not say so itself. */
enum sk_refusal_kind {
	SK_REFUSAL_NONE, /* it has said why, or has executed it */
	SK_REFUSAL_UNKNOWN,
	SK_REFUSAL_PRIVILEGED, /* only the system may execute it */
	SK_REFUSAL_ADDRESS, /* no processor can have that address */
	SK_REFUSAL_ALIGNMENT,
	SK_REFUSAL_JUMP, /* it leads to an address that no processor can have */
};

struct sk_refusal {
	enum sk_refusal_kind kind;
	const char *instruction; /* PRIVILEGED: its name */
	const void *address; /* ADDRESS, ALIGNMENT: of the access */
	uint32_t alignment; /* ALIGNMENT: what the address has to be a multiple of */
};

struct sk_interrupted {
	const void *pc; /* in the instruction that raised the signal, if one did */
	const void *sp;
	bool write, fetch; /* a fault of memory: the access was a write; of an instruction, which lies at pc */
	struct sk_refusal refusal;
};

/* Where the signal of that number found the thread. */
struct sk_interrupted sk_context_read(const void *context, int number);

/* When the handler returns, the thread goes on at `where`, with that stack pointer. */
void sk_context_go_on(void *context, void (*where)(void), void *sp);

/* Lies at the lowest address of a thread's alternate stack. Package code may change the register by which a thread
 * finds its own memory; a handler finds it again here. */
struct sk_thread_record {
	const struct sk_thread_record *self;
	uint64_t mark; /* with self: that it is one */
	uintptr_t thread; /* what the register holds; while a signal is handled: what it has held */
	uintptr_t found;
};

/* Of the calling thread. */
void sk_thread_record_make(struct sk_thread_record *record);

/* The first thing that a handler does, before anything that is the thread's own: true if the register had been changed,
 * and now is as in the record. A thread with an alternate stack of others' making has no record. */
bool sk_context_find_thread(const void *context);

/* ---- for fibres; loader/core/core.h has the rest ---- */

/* Stores the stack pointer in *left, behind everything that a function must preserve, and takes sp with what lies
 * there. */
void sk_fibre_jump(void **left, void *sp);

/* Stores the stack pointer as sk_fibre_jump does, calls run(argument) in the standard modes on a stack that ends at
 * `top`, a multiple of 16, and takes the sp that run returns. */
void sk_fibre_begin(void **left, char *top, void *(*run)(void *argument), void *argument);

/* ---- for checked calls ---- */

/* What a call passes and returns. */
struct sk_registers {
	uint64_t integers[SK_INTEGERS];
	uint64_t floats[SK_FLOATS];
	uint64_t stack_count;
	const uint64_t *stack;
	uint64_t integer_result;
	uint64_t float_result;
	struct sk_control control;
};

/* Calls the function. */
void sk_invoke(struct sk_registers *registers, void (*function)(void));

/* False: a call whose function has returned has not left control state as it found it; the finding is one sentence. */
bool sk_control_is_tidy(const struct sk_control *control, char *finding, size_t size);

#endif
