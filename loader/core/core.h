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
 * Fibres: stacks of their own on which a thread runs one thing after another, switching by hand. A fibre that has begun
 * stays on the thread that began it until it has ended; then any thread may begin it anew.
 *
 *   fibre.c          stacks, and what sanitizers and valgrind are told
 *   loader/arch/x86_64/fibre.S   the switch
 *
 * A thread's own stack is a fibre too, without memory of its own: the one that sk_fibre_of_thread makes. */

/* Bytes below each stack that nobody may touch. A function without stack clash protection touches a large array
 * wherever it likes, far below the stack, where another fibre's may lie: the guard is as large as address space is
 * cheap, which costs no memory. A process of which address space is counted (RLIMIT_AS) has the small one. */
enum { SK_FIBRE_GUARD = 1 << 30, SK_FIBRE_SMALL_GUARD = 256 << 10 };

struct sk_fibre {
	void *sp; /* while it does not run: where its registers lie on its stack; NULL: it has not begun */
	char *stack; /* lowest byte; the guard lies below. A thread's: NULL, or what only AddressSanitizer wants to know
		      */
	size_t size, guard; /* bytes of the stack, and of its guard */
	struct sk_fibre *(*run)(void *context);
	void *context;
	bool escaped; /* a signal handler sends the thread here: see sk_fibre_escape */
	void *tsan; /* ThreadSanitizer's fibre; NULL: not prepared yet */
	void *fake_stack; /* AddressSanitizer's, while it does not run */
	unsigned valgrind; /* number of the stack */
};

/* Makes a stack of `size` bytes (rounded up to pages), which takes memory only as far as it is used. False: there is no
 * room, and errno says why. */
bool sk_fibre_open(struct sk_fibre *fibre, size_t size);

/* Frees the stack. The fibre must not run. */
void sk_fibre_close(struct sk_fibre *fibre);

/* The calling thread's own stack; valid while it lasts. */
void sk_fibre_of_thread(struct sk_fibre *fibre);

/* The next switch to the fibre calls run(context), in the standard modes of floating point, whatever those of the
 * thread are. It ends with the fibre that goes on, which has begun, or by a switch. Whatever the fibre did before is
 * forgotten. */
void sk_fibre_prepare(struct sk_fibre *fibre, struct sk_fibre *(*run)(void *context), void *context);

/* Leaves `from`, which runs, and goes on where `to` was left. Returns when somebody switches back. Registers that a
 * function must preserve are preserved, and modes and exception flags of floating point. `last` says that nobody will.
 */
void sk_fibre_switch(struct sk_fibre *from, struct sk_fibre *to, bool last);

/* For signal handlers: where a thread must go on, with the stack pointer to->sp, to leave its fibre for good and arrive
 * in `to`. The handler also sets to->escaped. */
void sk_fibre_escape(void);

/* Foreign code may return with control state that other code does not expect. This puts right what a switch does not:
 * before the thread does anything else. */
void sk_fibre_tidy(void);

/* Whether the address lies in the fibre's stack; in its guard. */
bool sk_fibre_holds(const struct sk_fibre *fibre, const void *address);
bool sk_fibre_guards(const struct sk_fibre *fibre, const void *address);

/* ==== thread-storage.c ====
 *
 * Thread-local storage of packages. The C library gives blocks to what it has loaded itself, so a package gets its
 * blocks here: one for each thread that runs its code, made before the first instruction of a call, and made anew when
 * a call has been left in the middle. Code that asks __tls_get_addr gets this room's; code that reads a distance from
 * the thread pointer wants the block at the same place in every thread, of which libskrt has a little to give away. */

/* Bytes of each thread that blocks at one distance from the thread pointer share. Few: a library that is loaded by
 * dlopen gets such memory from some hundred bytes that the C library keeps for all of them. */
enum { SK_STATIC_STORAGE = 256, SK_STATIC_STORAGE_ALIGNMENT = 64 };

/* What the blocks of a package are made from. */
struct sk_thread_storage {
	const void *image; /* `filled` bytes; the rest of a block is zero */
	size_t filled, size, alignment;
	bool is_static; /* the block has to be at one distance from the thread pointer */
	uint64_t number; /* that package code knows it by; 0: the package has no blocks */
	uint64_t generation; /* of all that have had the number */
	size_t place; /* of a static block, among the bytes that they share */
};

/* Gives it a number, and a place if it needs one. On failure *room is what there is left of such places, or SIZE_MAX if
 * memory is missing. */
bool sk_thread_storage_open(struct sk_thread_storage *storage, size_t *room);

/* No thread is in the package's code any more. What threads have for it they keep until the number has a new owner, or
 * they end. */
void sk_thread_storage_close(struct sk_thread_storage *storage);

/* How far from the thread pointer static blocks are. */
uint64_t sk_thread_storage_distance(const struct sk_thread_storage *storage);

/* How far from the thread pointer the C library's errno is. */
uint64_t sk_errno_distance(void);

/* The calling thread has a block. False: no memory. */
bool sk_thread_storage_enter(const struct sk_thread_storage *storage);

/* The calling thread's block is as it was in the beginning. */
void sk_thread_storage_renew(const struct sk_thread_storage *storage);

/* Where the thread has the byte: what packages call as __tls_get_addr. */
struct sk_thread_address {
	uint64_t number, offset;
};
void *sk_thread_storage_find(const struct sk_thread_address *address);

/* ==== loaded.c ====
 *
 * The package whose code a call runs, as far as that code depends on who has loaded it. */

/* glibc has it from 2.35 on. */
#ifdef DLFO_EH_SEGMENT_TYPE
#define SK_FINDS_OBJECTS 1
#endif

struct dl_phdr_info;

struct sk_package {
	struct sk_thread_storage storage;
	uintptr_t start, end; /* where it lies */
	bool calls_others; /* what it imports may read the locale, or come to places where threads are cancelled */
	void *frames; /* its PT_GNU_EH_FRAME: the table by which its unwind information is found; NULL: it has none */
};

#ifdef SK_FINDS_OBJECTS
/* What packages call as _dl_find_object: what lies at the address, as far as who unwinds wants to know it. */
int sk_find_object(void *address, struct dl_find_object *result);
#endif

/* What they call as dl_iterate_phdr: visits what has been loaded until a visit's result is not 0, and returns that. */
int sk_visit_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data);

/* ==== call.c ====
 *
 * Calls of package code: each on a fibre of its own, so that whatever happens in it ends the call and not the process.
 * A call ends when its function returns, when that function (or what it calls) raises a fault or calls a function of
 * the class ENDS of format/imports.def, or when another thread has it expelled.
 *
 *   call.c    fibres with a beginning and an end; threads that host them
 *   signal.c  faults and expulsions
 *   thread-storage.c  what packages have for each thread
 *
 * A thread hosts calls from its own stack: it resumes one, which runs until it ends or gives way to another one. */

enum sk_fault_kind {
	SK_FAULT_NONE,
	SK_FAULT_SIGNAL, /* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP */
	SK_FAULT_ENDED, /* abort, exit and the like */
	SK_FAULT_EXPELLED, /* it took too long */
	SK_FAULT_NO_STORAGE, /* it did not begin: no memory for the thread's block of thread-local storage */
};

/* How a call ended that did not return. Its stack is untouched until the next call begins on it. */
struct sk_fault {
	enum sk_fault_kind kind;
	int signal, code; /* SIGNAL: si_signo, si_code */
	bool write, fetch; /* SIGSEGV, SIGBUS: the access was a write; of an instruction, which lies at pc */
	bool lost_thread; /* the register that leads to the thread's own memory had been changed */
	const char *function; /* ENDED: which one was called */
	const void *pc; /* where it was; ENDED: in the instruction that called the function */
	const void *address; /* SIGNAL: si_addr */
	const void *sp; /* its stack begins here */
	struct sk_refusal refusal; /* SIGNAL */
};

struct sk_host;

struct sk_call {
	struct sk_fibre fibre;
	const struct sk_package *package; /* whose code it runs; NULL: nobody's */
	struct sk_host *host; /* while it is not over */
	int (*function)(void *context);
	void *context;
	int result; /* 0 if it did not return */
	const _Atomic bool *due; /* it is to be expelled; NULL: it never is */
	bool begun, over;
	struct sk_fault fault;
};

/* A thread that hosts calls. */
struct sk_host {
	struct sk_fibre own;
	struct sk_call *running; /* NULL: the thread is on its own stack */
	struct sk_call *ended; /* the last one */
	volatile sig_atomic_t
		in_runtime; /* while a call runs: it is in libskrt's own code, which faults do not excuse */
	bool ready;
	int *error; /* the thread's errno, which takes a call to find */
	bool mask_known; /* what the thread blocks has been looked at: */
	bool blocks_faults, blocks_expulsion;
	uint32_t entered; /* see sk_cancellation_enter */
	bool held; /* the thread cannot be cancelled */
	int cancellation; /* as it was before */
	locale_t locale; /* of the thread, while it hosts calls in the C locale; 0: it is in its own */
};

/* A call with a stack of so many bytes. False: no memory. */
bool sk_call_open(struct sk_call *call, size_t stack_size);
void sk_call_close(struct sk_call *call);

/* The calling thread as a host: with a stack for signal handlers, which it keeps until it ends. */
struct sk_host *sk_host_of_thread(void);

/* A thread that is cancelled would leave what it holds and plays behind: from sk_cancellation_enter to the leave that
 * belongs to it, it is not; cancelling it waits until then. But threads are cancelled in a few places only, in waits
 * and in files, and telling the C library to hold that back takes longer than most of what goes on between the two. So
 * it is told by sk_cancellation_hold, which stands in front of such a place, any number of times. */
void sk_cancellation_enter(void);
void sk_cancellation_hold(void);
void sk_cancellation_leave(void);

/* In a function with this the calling thread is not cancelled. */
#define SK_UNCANCELLED                                                                                                 \
	__attribute__((cleanup(sk_cancellation_end), unused)) bool uncancelled =                                       \
		(sk_cancellation_enter(), sk_cancellation_hold(), true)
static inline void sk_cancellation_end(const bool *unused)
{
	(void)unused;
	sk_cancellation_leave();
}

/* The calling thread as sk_host_of_thread says, for a signal handler, which only looks. */
struct sk_host *sk_host_in_handler(void);

/* Forgets what the call did before; resumed next, it calls function(context), with what the package's code wants of the
 * thread. When *due is true, which stays readable while the call runs, it may be expelled; NULL: never. */
void sk_call_prepare(struct sk_call *call, const struct sk_package *package, int (*function)(void *context),
		     void *context, const _Atomic bool *due);

/* From the thread's own stack: goes on with the call, in the C locale if its package could tell. Returns when a call
 * has ended: that one, or one that was given way to. */
struct sk_call *sk_call_resume(struct sk_host *host, struct sk_call *call);

/* From a call that is not over: goes on with another one. Returns when somebody gives way to this one, or resumes it.
 */
void sk_call_give_way(struct sk_host *host, struct sk_call *call);

/* Ends the call that the calling thread runs, as if it had returned. */
_Noreturn void sk_call_leave(int result);

/* Ends the call that the calling thread runs. A thread that runs none is of a package's own making: there is nothing to
 * end but the process. */
_Noreturn void sk_call_end(const char *function, const void *caller);

/* Notes that the running call is over. The thread's next step must be to its own stack. */
void sk_call_over(struct sk_host *host);

/* ---- signal.c ---- */

/* Installs the handlers, once for the process. Faults elsewhere go on to the handlers that were there before. */
void sk_signals_install(void);

/* A fault whose signal the thread blocks would end the process, whatever handlers there are. So before the thread runs
 * package code these signals are unblocked, and the one that expels if that may happen; true: they were blocked, and
 * sk_signals_block gives the thread back the mask that it had. Asking the system takes as long as a launch, so what a
 * thread blocks is looked at once, and again when sk_signals_forget has been called on it. */
bool sk_signals_unblock(struct sk_host *host, bool expels, sigset_t *before);
void sk_signals_block(const sigset_t *before);
void sk_signals_forget(void);

/* Sends the thread what expels the call that it runs, if that is due and not in the runtime. */
void sk_signals_expel(pthread_t thread);

/* ==== exit-functions.c ====
 *
 * What package code has registered to be called before the package goes: the destructors of C++ objects with static
 * storage, above all. The C library has its own list of such functions, for what it has loaded itself. */

/* What packages call as __cxa_atexit, at any time. Not 0: no memory. */
int sk_exit_function_add(void (*function)(void *), void *argument, void *handle);

/* What they call as __cxa_finalize, when they are destructed: calls what the package has registered, the last one
 * first, also what these functions register. */
void sk_exit_functions_call(void *handle);

/* The package goes: what has not been called never will be. */
void sk_exit_functions_forget(const struct sk_package *package);

#endif
