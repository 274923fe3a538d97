/* The machine that libskrt runs on, for all other rooms of the runtime. Each machine's header defines these inline,
 * since awaits and traces use them:
 *
 *   SK_MACHINE
 *       its number in ELF headers and plans (EM_…)
 *   SK_CALL_SIZE
 *       bytes of a dispatcher's call of a kernel
 *   sk_pause()
 *       spend a moment in a waiting loop
 *   sk_counter()
 *       read the counter by which dispatchers note times, after all preceding instructions have been executed
 *   sk_thread_pointer()
 *       return the address relative to which the calling thread's variables lie
 *   sk_order_nontemporal()
 *       make this thread's earlier stores past its caches visible before its later stores
 *   sk_call_target(call)
 *       return the target of the dispatcher's call of a kernel at the address; NULL: not such a call
 *   sk_tile_place(code, end, tile)
 *       if a dispatcher's loop over tiles of so many elements begins at the code, return the distance above the stack
 *       pointer at which it keeps the current tile, a struct sk_core_range, while kernels run; negative: no loop begins
 *       there
 *   SK_TRAP_CODE_SIZE, sk_trap_name(trap)
 *       bytes of the code of a trap, an instruction that sklink puts in place of undefined functions; return the
 *       name of the trap at the address, a pointer to anywhere. NULL: not a trap
 *   SK_HOOK_REACH, sk_hook_of_call(start, end)
 *       if the code from start on, at most so many bytes, ends with a call by a pointer that has an address of its own,
 *       return that address; NULL: another call, or not known
 *   sk_dynamic_kind(type)
 *       the kind of a relocation of a package
 *   sk_machine_convention(), SK_INTEGERS, SK_FLOATS
 *       the calling convention, and the most registers of each kind that pass arguments
 *   sk_machine_imports()
 *       the imports that packages may have beside format/imports.def, from libraries that only this machine has
 *   struct sk_modes, sk_standard_modes, sk_modes_read(), sk_modes_load(modes)
 *       the modes of floating point; those in which programs and package code begin; those of the calling thread
 *   struct sk_control
 *       control state that a function must preserve, before a call and after it
 *
 * The rest of this header declares functions that are not inline. A machine is a header beside this one and a folder;
 * configure makes host.h a link to the header of the machine that it finds. */
#ifndef SK_LOADER_MACHINE_H
#define SK_LOADER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/convention.h"
#include "format/import-row.h"

/* Relocations of loaded packages. The word at the place becomes one of these: the sum of the image's bias and the
 * addend; the symbol's address; the number by which __tls_get_addr knows the package's blocks; or a distance from the
 * thread pointer, either that of the addend in the package's block or that of the symbol if there is one. */
enum sk_dynamic_kind {
	SK_DYNAMIC_UNSUPPORTED,
	SK_DYNAMIC_BIAS,
	SK_DYNAMIC_SYMBOL,
	SK_DYNAMIC_BLOCK,
	SK_DYNAMIC_DISTANCE,
};

#include "loader/arch/host.h"

/* Return a description of an unsupported type of relocation, for messages. */
const char *sk_dynamic_name(uint32_t type);

/* ---- for signal handlers; `context` is their third argument ---- */

/* The reason why the processor did not execute an instruction, if the signal does not tell it. */
enum sk_refusal_kind {
	SK_REFUSAL_NONE, /* the signal tells it, or the instruction was executed */
	SK_REFUSAL_UNKNOWN,
	SK_REFUSAL_PRIVILEGED, /* only the system may execute it */
	SK_REFUSAL_ADDRESS, /* no processor can have that address */
	SK_REFUSAL_ALIGNMENT,
	SK_REFUSAL_JUMP, /* it jumps to an address that no processor can have */
};

struct sk_refusal {
	enum sk_refusal_kind kind;
	const char *instruction; /* PRIVILEGED: its name */
	const void *address; /* ADDRESS, ALIGNMENT: of the access */
	uint32_t alignment; /* ALIGNMENT: the address has to be a multiple of this */
};

struct sk_interrupted {
	const void *pc; /* in the instruction that raised the signal, if one did */
	const void *sp;
	bool write, fetch; /* a fault of memory: the access was a write; of an instruction, which lies at pc */
	struct sk_refusal refusal;
};

/* Return the state of the thread at the time of the signal of that number. */
struct sk_interrupted sk_context_read(const void *context, int number);

/* Make the thread continue at `place`, with that stack pointer, when the handler returns. */
void sk_context_go_on(void *context, void (*place)(void), void *sp);

/* A record at the lowest address of a thread's alternate stack. Package code may change the register by which a thread
 * finds its own memory; a handler finds that memory by this record. */
struct sk_thread_record {
	const struct sk_thread_record *self;
	uint64_t mark; /* identifies a record, together with self */
	uintptr_t thread; /* the value of the register; while a signal is handled: the value that it had at the
			   * signal */
	uintptr_t found;
};

/* Make the record of the calling thread. */
void sk_thread_record_make(struct sk_thread_record *record);

/* Restore the register from the record and return true if it had been changed. A handler calls this first, before it
 * uses any memory of the thread. A record exists only if libskrt made the alternate stack. */
bool sk_context_find_thread(const void *context);

/* ---- for fibres; loader/core/core.h has the rest ---- */

/* Save the registers that a function must preserve on the stack, store the stack pointer in *left, switch to sp and
 * restore the registers saved there. */
void sk_fibre_jump(void **left, void *sp);

/* Store the stack pointer as sk_fibre_jump does, call run(argument) in the standard modes on a stack that ends at
 * `top`, a multiple of 16, and switch to the sp that run returns. */
void sk_fibre_begin(void **left, char *top, void *(*run)(void *argument), void *argument);

/* ---- for checked calls ---- */

/* The arguments and results of a call. */
struct sk_registers {
	uint64_t integers[SK_INTEGERS];
	uint64_t floats[SK_FLOATS];
	uint64_t stack_count;
	const uint64_t *stack;
	uint64_t integer_result;
	uint64_t float_result;
	struct sk_control control;
};

/* Call the function. */
void sk_invoke(struct sk_registers *registers, void (*function)(void));

/* Return false, with one sentence in finding, if the function of the call has changed control state that it must
 * preserve. */
bool sk_control_is_tidy(const struct sk_control *control, char *finding, size_t size);

#endif
