/* Calls of package code on stacks of their own: fibres and faults; thread-local storage, unwind tables, and functions
 * that run at exit. */
#ifndef SK_LOADER_CORE_CORE_H
#define SK_LOADER_CORE_CORE_H

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/arch/machine.h"

/* ==== fibre.c ====
 *
 * Fibres: stacks on which a thread runs several things in turn, with explicit switches. A fibre that has begun stays on
 * its thread until it has ended; then any thread may begin it again.
 *
 *   fibre.c                      stacks; notifications of sanitizers and valgrind
 *   loader/arch/x86_64/fibre.S   the switch
 *
 * A thread's own stack is also a fibre, made by sk_fibre_of_thread, without memory of its own. */

/* Bytes of the inaccessible guard below each stack. A function without stack clash protection can touch a large array
 * far below the stack, where another fibre's stack may lie. The large guard costs only address space. If the process
 * has a limit of address space (RLIMIT_AS), the small one is used. */
enum { SK_FIBRE_GUARD = 1 << 30, SK_FIBRE_SMALL_GUARD = 256 << 10 };

struct sk_fibre {
	void *sp; /* while it does not run: the place of its registers on its stack; NULL: it has not begun */
	char *stack; /* lowest byte, above the guard. A thread's own fibre: NULL, or the value that AddressSanitizer
		      * needs */
	size_t size, guard; /* bytes of the stack, and of its guard */
	struct sk_fibre *(*run)(void *context);
	void *context;
	bool escaped; /* a signal handler sends the thread here: see sk_fibre_escape */
	void *tsan; /* ThreadSanitizer's fibre; NULL: not prepared yet */
	void *fake_stack; /* AddressSanitizer's, while it does not run */
	unsigned valgrind; /* number of the stack */
};

/* Make a stack of `size` bytes (rounded up to pages); only its used pages take memory. Return false, with errno, for
 * lack of address space. */
bool sk_fibre_open(struct sk_fibre *fibre, size_t size);

/* Free the stack. The fibre must not run. */
void sk_fibre_close(struct sk_fibre *fibre);

/* Make the fibre of the calling thread's own stack; it is valid as long as the thread. */
void sk_fibre_of_thread(struct sk_fibre *fibre);

/* Make the next switch to the fibre call run(context), in the standard modes of floating point, independent of the
 * thread's modes. The fibre ends by a switch, or by returning the fibre to continue, which has begun. Its earlier state
 * is dropped. */
void sk_fibre_prepare(struct sk_fibre *fibre, struct sk_fibre *(*run)(void *context), void *context);

/* Leave `from`, which runs, and continue `to` where it was left. Return when another fibre switches back. Registers
 * that a function must preserve, and modes and exception flags of floating point, are preserved. `last`: no fibre will
 * switch back. */
void sk_fibre_switch(struct sk_fibre *from, struct sk_fibre *to, bool last);

/* The address at which a signal handler makes a thread continue, with the stack pointer to->sp, to leave its fibre for
 * good and arrive in `to`. The handler also sets to->escaped. */
void sk_fibre_escape(void);

/* Restore the control state that other code relies on, and that a switch leaves as it is. Call this as soon as foreign
 * code has returned. */
void sk_fibre_tidy(void);

/* Return whether the address lies in the fibre's stack, or in its guard. */
bool sk_fibre_holds(const struct sk_fibre *fibre, const void *address);
bool sk_fibre_guards(const struct sk_fibre *fibre, const void *address);

/* ==== thread-storage.c ====
 *
 * Thread-local storage of packages. The C library gives blocks only to modules that it has loaded itself, so packages
 * get theirs here. Each thread that runs a package's code has a block. It is made before the first instruction of a
 * call, and made again after a call that ended in the middle. Code that calls __tls_get_addr gets this room's function.
 * Code that uses a distance from the thread pointer needs the block at the same place in every thread; libskrt has a
 * small area for these. */

/* Bytes of each thread that are shared by all blocks at a fixed distance from the thread pointer. It is small, because
 * a library that is loaded by dlopen gets such memory from some hundred bytes that the C library reserves for all of
 * them. */
enum { SK_STATIC_STORAGE = 256, SK_STATIC_STORAGE_ALIGNMENT = 64 };

/* The contents from which the blocks of a package are made. */
struct sk_thread_storage {
	const void *image; /* `filled` bytes; the rest of a block is zero */
	size_t filled, size, alignment;
	bool is_static; /* the block must be at a fixed distance from the thread pointer */
	uint64_t number; /* by which package code refers to it; 0: the package has no blocks */
	uint64_t generation; /* counts the owners that the number has had, over all numbers */
	size_t place; /* of a static block, in the shared area */
};

/* Assign a number, and a place if the package needs one. On failure *room is the number of unassigned bytes for static
 * blocks, or SIZE_MAX if memory is missing. */
bool sk_thread_storage_open(struct sk_thread_storage *storage, size_t *room);

/* Close the storage, when no thread runs the package's code any more. Threads keep their blocks until the number has a
 * new owner, or until they end. */
void sk_thread_storage_close(struct sk_thread_storage *storage);

/* Return the distance of static blocks from the thread pointer. */
uint64_t sk_thread_storage_distance(const struct sk_thread_storage *storage);

/* Return the distance of the C library's errno from the thread pointer. */
uint64_t sk_errno_distance(void);

/* Make sure that the calling thread has a block. False: no memory. */
bool sk_thread_storage_enter(const struct sk_thread_storage *storage);

/* Reset the calling thread's block to its initial contents. */
void sk_thread_storage_renew(const struct sk_thread_storage *storage);

/* The argument of the function that packages call as __tls_get_addr, which returns the byte's address in the calling
 * thread. */
struct sk_thread_address {
	uint64_t number, offset;
};
void *sk_thread_storage_find(const struct sk_thread_address *address);

/* ==== loaded.c ====
 *
 * The package of the code that a call runs, with the properties that the code needs from its loader. */

/* glibc has it from 2.35 on. */
#ifdef DLFO_EH_SEGMENT_TYPE
#define SK_FINDS_OBJECTS 1
#endif

struct dl_phdr_info;

struct sk_package {
	struct sk_thread_storage storage;
	uintptr_t start, end; /* of its memory */
	bool calls_others; /* its imports may read the locale, or reach cancellation points */
	void *frames; /* its PT_GNU_EH_FRAME, the table for finding its unwind information; NULL: it has none */
};

#ifdef SK_FINDS_OBJECTS
/* Find the object at the address, for unwinders. Packages call this as _dl_find_object. */
int sk_find_object(void *address, struct dl_find_object *result);
#endif

/* Visit the loaded objects until a visit returns non-zero, and return that result. Packages call this as
 * dl_iterate_phdr. */
int sk_visit_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data);

/* ==== call.c ====
 *
 * Calls of package code: each on a fibre of its own, so that a fault ends the call and not the process. A call ends
 * when its function returns, or when another thread has it expelled. It also ends when that function, or one that it
 * calls, raises a fault or calls a function of the class ENDS of format/imports.def.
 *
 *   call.c            fibres with a beginning and an end; threads that host them
 *   signal.c          faults and expulsions
 *   thread-storage.c  thread-local storage of packages
 *
 * A thread hosts calls from its own stack: it resumes one, which runs until it ends or gives way to another one. */

enum sk_fault_kind {
	SK_FAULT_NONE,
	SK_FAULT_SIGNAL, /* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP */
	SK_FAULT_ENDED, /* abort, exit and the like */
	SK_FAULT_EXPELLED, /* it took too long */
	SK_FAULT_NO_STORAGE, /* it did not begin: no memory for the thread's block of thread-local storage */
};

/* The end of a call that did not return. Its stack is unchanged until the next call begins on it. */
struct sk_fault {
	enum sk_fault_kind kind;
	int signal, code; /* SIGNAL: si_signo, si_code */
	bool write, fetch; /* SIGSEGV, SIGBUS: the access was a write; of an instruction, which lies at pc */
	bool lost_thread; /* the register that leads to the thread's own memory had been changed */
	const char *function; /* ENDED: the function that was called */
	const void *pc; /* in the faulting code; ENDED: in the instruction that called the function */
	const void *address; /* SIGNAL: si_addr */
	const void *sp; /* its stack begins here */
	struct sk_refusal refusal; /* SIGNAL */
};

struct sk_host;

struct sk_call {
	struct sk_fibre fibre;
	const struct sk_package *package; /* the owner of the code that it runs; NULL: none */
	struct sk_host *host; /* while the call has not ended */
	int (*function)(void *context);
	void *context;
	int result; /* 0 if it did not return */
	const _Atomic bool *due; /* the call is to be expelled; NULL: never */
	bool begun, over;
	struct sk_fault fault;
};

/* A thread that hosts calls. */
struct sk_host {
	struct sk_fibre own;
	struct sk_call *running; /* NULL: the thread is on its own stack */
	struct sk_call *ended; /* the last one */
	volatile sig_atomic_t
		in_runtime; /* while a call runs: it is in libskrt's own code, where faults do not end the call */
	bool ready;
	int *error; /* the thread's errno; finding it takes a function call */
	bool mask_known; /* the thread's signal mask has been read: */
	bool blocks_faults, blocks_expulsion;
	uint32_t entered; /* see sk_cancellation_enter */
	bool held; /* the thread cannot be cancelled */
	int cancellation; /* as it was before */
	locale_t locale; /* of the thread, while it hosts calls in the C locale; 0: it is in its own */
};

/* Make a call with a stack of so many bytes. False: no memory. */
bool sk_call_open(struct sk_call *call, size_t stack_size);
void sk_call_close(struct sk_call *call);

/* Return the calling thread as a host, with a stack for signal handlers, which it keeps until it ends. */
struct sk_host *sk_host_of_thread(void);

/* Prevent cancellation of the thread from sk_cancellation_enter to the matching leave, because a cancelled thread would
 * never release its locks and flights; a cancellation waits until then. Threads are cancelled only at cancellation
 * points, in waits and in file operations, and changing the C library's cancellation state takes longer than most code
 * between the two. So sk_cancellation_hold changes it; call it before such a point, any number of times. */
void sk_cancellation_enter(void);
void sk_cancellation_hold(void);
void sk_cancellation_leave(void);

/* Prevent cancellation of the calling thread in the function that contains this. */
#define SK_UNCANCELLED                                                                                                 \
	__attribute__((cleanup(sk_cancellation_end), unused)) bool uncancelled =                                       \
		(sk_cancellation_enter(), sk_cancellation_hold(), true)
static inline void sk_cancellation_end(const bool *unused)
{
	(void)unused;
	sk_cancellation_leave();
}

/* Return the calling thread's host for a signal handler; make nothing. */
struct sk_host *sk_host_in_handler(void);

/* Prepare a call of function(context), for the next resume, with the thread state that the package's code needs. The
 * call's earlier state is dropped. When *due, which must stay readable while the call runs, is true, the call may be
 * expelled; NULL: never. */
void sk_call_prepare(struct sk_call *call, const struct sk_package *package, int (*function)(void *context),
		     void *context, const _Atomic bool *due);

/* Continue the call, from the thread's own stack, in the C locale if its package can observe the locale. Return the
 * call that has ended: that one, or one that was given way to. */
struct sk_call *sk_call_resume(struct sk_host *host, struct sk_call *call);

/* Continue another call, from one that has not ended. Return when a call gives way to this one, or a thread resumes
 * it. */
void sk_call_give_way(struct sk_host *host, struct sk_call *call);

/* End the call that the calling thread runs, as if it had returned. */
_Noreturn void sk_call_leave(int result);

/* End the call that the calling thread runs. If it runs none, the package made the thread itself, and the process
 * ends. */
_Noreturn void sk_call_end(const char *function, const void *caller);

/* Note that the running call has ended. The thread must then switch to its own stack. */
void sk_call_over(struct sk_host *host);

/* ---- signal.c ---- */

/* Install the handlers, once for the process. Faults in other code are passed on to the previous handlers. */
void sk_signals_install(void);

/* Unblock the signals of faults, and the one that expels if that may happen, before the thread runs package code. A
 * fault with a blocked signal would end the process, with any handlers. Return true if they were blocked; then
 * sk_signals_block restores the thread's mask. A system call takes as long as a launch, so the mask is read only once,
 * and again after sk_signals_forget on the thread. */
bool sk_signals_unblock(struct sk_host *host, bool expels, sigset_t *before);
void sk_signals_block(const sigset_t *before);
void sk_signals_forget(void);

/* Send the thread the signal that expels its call, if that is due and the call is not in the runtime. */
void sk_signals_expel(pthread_t thread);

/* ==== exit-functions.c ====
 *
 * Functions that package code has registered to be called before the package is unloaded, mainly destructors of C++
 * objects with static storage. The C library has a list of its own, for the objects that it has loaded itself. */

/* Register a function, at any time. Packages call this as __cxa_atexit. Not 0: no memory. */
int sk_exit_function_add(void (*function)(void *), void *argument, void *handle);

/* Call the functions that the package has registered, the last one first, including those registered meanwhile.
 * Packages call this as __cxa_finalize when they are destructed. */
void sk_exit_functions_call(void *handle);

/* Drop the functions of an unloaded package that have not been called. */
void sk_exit_functions_forget(const struct sk_package *package);

#endif
