/* Calls of package code: each on a fibre of its own, so that whatever happens in it ends the call and not the process.
 * A call ends when its function returns, when that function (or what it calls) raises a fault or calls a function of
 * the class ENDS of format/imports.def, or when another thread has it expelled.
 *
 *   call.c    fibres with a beginning and an end; threads that host them
 *   signal.c  faults and expulsions
 *   thread-storage.c  what packages have for each thread
 *
 * A thread hosts calls from its own stack: it resumes one, which runs until it ends or gives way to another one. */
#ifndef SK_LOADER_CALL_H
#define SK_LOADER_CALL_H

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "loader/arch/machine.h"
#include "loader/core/fibre.h"
#include "loader/core/loaded.h"

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

#endif
