/* Faults in package code, and expulsions from it. A handler notes what happened in the call that the thread runs, and
 * lets the thread go on in its own stack, as if the call had been left: the kernel restores the signal mask on the way.
 * Signals that do not come from package code go on to whoever handled them before. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "loader/core/call.h"

/* SIGURG expels: by default it is ignored, debuggers pass it on without stopping, and nobody minds one too many. */
enum { EXPULSION = SIGURG };

enum { TRAP_FLAG = 0x100 }; /* of the flags: every instruction raises SIGTRAP */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static struct sigaction before[NSIG];

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[number];
	bool sent = info->si_code <= 0; /* by a process, not by an instruction that would raise it again */

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(number, info, context);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(number);
	} else if (number != EXPULSION && !(sent && old->sa_handler == SIG_IGN)) {
		signal(number, SIG_DFL);
		if (sent || number == SIGTRAP) /* which the instruction would not raise again */
			raise(number);
	}
}

/* Ends the call: when the handler returns, the thread is on its own stack. */
static void leave(struct sk_host *host, ucontext_t *context)
{
	sk_call_over(host);
	host->own.escaped = true;
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)host->own.sp;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)sk_fibre_escape;
}

static struct sk_fault *note(struct sk_call *call, enum sk_fault_kind kind, const ucontext_t *context)
{
	call->fault = (struct sk_fault){
		.kind = kind,
		.pc = (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP],
		.sp = (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RSP],
	};
	return &call->fault;
}

static void handle_fault(int number, siginfo_t *info, void *pointer)
{
	struct sk_host *host = sk_host_in_handler();
	ucontext_t *context = pointer;

	sk_fibre_tidy(); /* the system clears most of the flags, not AC */
	if (!host->running || host->in_runtime || info->si_code <= 0) {
		pass_on(number, info, pointer);
		return;
	}
	struct sk_fault *fault = note(host->running, SK_FAULT_SIGNAL, context);
	fault->signal = number;
	fault->code = info->si_code;
	fault->address = info->si_addr;
	/* Traps are raised behind their instruction, which may be the function's last. */
	if (number == SIGTRAP)
		fault->pc = (const char *)fault->pc - 1;
	/* Bit 1 of a page fault's error code: the access was a write. */
	fault->write = context->uc_mcontext.gregs[REG_ERR] & 2;
	leave(host, context);
}

/* The system may have had no memory to say where the signal comes from, or the user no signals left: what is due
 * is in the call. If none is, it has ended meanwhile, or will notice in the runtime by itself. */
static void handle_expulsion(int number, siginfo_t *info, void *pointer)
{
	struct sk_host *host = sk_host_in_handler();

	sk_fibre_tidy();
	if (host->running && !host->in_runtime && host->running->due && atomic_load(host->running->due)) {
		note(host->running, SK_FAULT_EXPELLED, pointer);
		leave(host, pointer);
	} else if (info->si_code != SI_QUEUE || info->si_pid != getpid() || info->si_value.sival_ptr != before) {
		pass_on(number, info, pointer);
	}
}

static void install(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	sigemptyset(&action.sa_mask);
	action.sa_sigaction = handle_fault;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, &before[faults[i]]);
	action.sa_sigaction = handle_expulsion;
	sigaction(EXPULSION, &action, &before[EXPULSION]);
}

void sk_signals_install(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

void sk_signals_expel(pthread_t thread)
{
	/* The value is to tell it from other people's signals. */
	pthread_sigqueue(thread, EXPULSION, (union sigval){.sival_ptr = before});
}
