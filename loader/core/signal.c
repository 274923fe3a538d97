/* Faults in package code, and expulsions from it. A handler records the event in the call that the thread runs, and
 * makes the thread continue on its own stack, as if the call had been left; the kernel restores the signal mask.
 * Signals that do not come from package code are passed on to the previous handlers. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "loader/arch/machine.h"
#include "loader/core/core.h"

/* SIGURG expels a call: by default it is ignored, debuggers pass it on without stopping, and one too many does no
 * harm. */
enum { EXPULSION = SIGURG };

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static struct sigaction handlers[NSIG]; /* the previous handlers */

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &handlers[number];
	bool sent = info->si_code <= 0; /* by a process, not by an instruction that would raise it again */

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(number, info, context);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(number);
	} else if (number != EXPULSION && !(sent && old->sa_handler == SIG_IGN)) {
		signal(number, SIG_DFL);
		if (sent || number == SIGTRAP) /* the instruction would not raise it again */
			raise(number);
	}
}

/* End the call: when the handler returns, the thread is on its own stack. */
static void leave(struct sk_host *host, void *context)
{
	sk_call_over(host);
	host->own.escaped = true;
	sk_context_go_on(context, sk_fibre_escape, host->own.sp);
}

static void handle_fault(int number, siginfo_t *info, void *pointer, bool lost_thread)
{
	struct sk_host *host = sk_host_in_handler();

	sk_fibre_tidy(); /* the system clears most of the flags, but not AC */
	if (!host->running || host->in_runtime || info->si_code <= 0) {
		pass_on(number, info, pointer);
		return;
	}
	struct sk_interrupted at = sk_context_read(pointer, number);
	host->running->fault = (struct sk_fault){
		.kind = SK_FAULT_SIGNAL,
		.signal = number,
		.code = info->si_code,
		.address = info->si_addr,
		.pc = at.pc,
		.sp = at.sp,
		.write = at.write,
		.fetch = at.fetch,
		.lost_thread = lost_thread,
		.refusal = at.refusal,
	};
	leave(host, pointer);
}

/* Do not test for the signal's source: it is missing if the system had no memory for it, or the user no signals left.
 * The call holds the request. If there is none, the call has ended meanwhile, or will notice in the runtime by
 * itself. */
static void handle_expulsion(int number, siginfo_t *info, void *pointer, bool lost_thread)
{
	struct sk_host *host = sk_host_in_handler();

	sk_fibre_tidy();
	if (host->running && !host->in_runtime && host->running->due && atomic_load(host->running->due)) {
		struct sk_interrupted at = sk_context_read(pointer, number);

		host->running->fault = (struct sk_fault){
			.kind = SK_FAULT_EXPELLED, .pc = at.pc, .sp = at.sp, .lost_thread = lost_thread};
		leave(host, pointer);
	} else if (info->si_code != SI_QUEUE || info->si_pid != getpid() || info->si_value.sival_ptr != handlers) {
		pass_on(number, info, pointer);
	}
}

/* A separate function, because the compiler may read the thread's own memory at the beginning of a function. The
 * handler itself, which has nothing on the stack, does not. */
static __attribute__((noinline)) void handle(int number, siginfo_t *info, void *context, bool lost_thread)
{
	(number == EXPULSION ? handle_expulsion : handle_fault)(number, info, context, lost_thread);
}

static void enter_handler(int number, siginfo_t *info, void *context)
{
	handle(number, info, context, sk_context_find_thread(context));
}

static void install(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	sigemptyset(&action.sa_mask);
	action.sa_sigaction = enter_handler;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, &handlers[faults[i]]);
	sigaction(EXPULSION, &action, &handlers[EXPULSION]);
}

void sk_signals_install(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

/* ---- the signal masks of threads ---- */

static void look(struct sk_host *host)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	host->blocks_faults = false;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		host->blocks_faults |= sigismember(&mask, faults[i]) == 1;
	host->blocks_expulsion = sigismember(&mask, EXPULSION) == 1;
	host->mask_known = true;
}

bool sk_signals_unblock(struct sk_host *host, bool expels, sigset_t *before)
{
	sigset_t unblocked;

	if (!host->mask_known)
		look(host);
	if (!host->blocks_faults && !(host->blocks_expulsion && expels))
		return false;
	sigemptyset(&unblocked);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaddset(&unblocked, faults[i]);
	if (expels)
		sigaddset(&unblocked, EXPULSION);
	return !pthread_sigmask(SIG_UNBLOCK, &unblocked, before);
}

void sk_signals_block(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

void sk_signals_forget(void)
{
	sk_host_in_handler()->mask_known = false;
}

/* ---- expulsion ---- */

void sk_signals_expel(pthread_t thread)
{
	/* The value distinguishes this signal from those of others. */
	pthread_sigqueue(thread, EXPULSION, (union sigval){.sival_ptr = handlers});
}
