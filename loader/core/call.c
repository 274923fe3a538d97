/* Calls of package code on fibres, and the threads that host them. The data of a thread that a signal handler needs are
 * in one thread-local record. It uses the model initial-exec, since a handler must not allocate. */
#include "config.h"

#include "loader/core/core.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "loader/arch/machine.h"

enum { SIGNAL_STACK = 64 << 10 };

static _Thread_local struct sk_host host_of_thread __attribute__((tls_model("initial-exec")));

/* ---- threads ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t signal_stack; /* of threads that had none */

/* The thread may have replaced or disabled the alternate stack meanwhile: then it is only freed. */
static void free_signal_stack(void *stack)
{
	stack_t there;

	if (!sigaltstack(NULL, &there) && there.ss_sp == stack)
		sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	free(stack);
}

static void make_key(void)
{
	pthread_key_create(&signal_stack, free_signal_stack);
}

/* Without an alternate stack a stack overflow could not be reported: the handler would have no stack to run on. Without
 * memory for one, everything else works. */
static void make_signal_stack(void)
{
	stack_t there;

	if (sigaltstack(NULL, &there) || !(there.ss_flags & SS_DISABLE))
		return;
	pthread_once(&once, make_key);
	void *stack = malloc(SIGNAL_STACK);
	if (stack)
		sk_thread_record_make(stack);
	if (stack && !sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIGNAL_STACK}, NULL))
		pthread_setspecific(signal_stack, stack);
	else
		free(stack);
}

struct sk_host *sk_host_of_thread(void)
{
	struct sk_host *host = &host_of_thread;

	if (!host->ready) {
		sk_fibre_of_thread(&host->own);
		host->error = &errno;
		make_signal_stack();
		host->ready = true;
	}
	return host;
}

struct sk_host *sk_host_in_handler(void)
{
	return &host_of_thread;
}

void sk_cancellation_enter(void)
{
	host_of_thread.entered++;
}

void sk_cancellation_hold(void)
{
	struct sk_host *host = &host_of_thread;

	if (!host->held)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &host->cancellation);
	host->held = true;
}

void sk_cancellation_leave(void)
{
	struct sk_host *host = &host_of_thread;

	if (--host->entered || !host->held)
		return;
	host->held = false;
	pthread_setcancelstate(host->cancellation, NULL);
}

/* ---- calls ---- */

bool sk_call_open(struct sk_call *call, size_t stack_size)
{
	memset(call, 0, sizeof(*call));
	return sk_fibre_open(&call->fibre, stack_size);
}

void sk_call_close(struct sk_call *call)
{
	sk_fibre_close(&call->fibre);
}

void sk_call_over(struct sk_host *host)
{
	host->in_runtime = true;
	host->running->over = true;
	host->ended = host->running;
	host->running = NULL;
}

/* Run the call, on its fibre. */
static struct sk_fibre *run_on_fibre(void *context)
{
	struct sk_call *call = context;
	struct sk_host *host = call->host;

	if (call->package && call->package->calls_others)
		sk_cancellation_hold();
	if (call->package && !sk_thread_storage_enter(&call->package->storage)) {
		call->fault =
			(struct sk_fault){.kind = SK_FAULT_NO_STORAGE, .sp = call->fibre.stack + call->fibre.size};
	} else {
		*host->error = 0;
		host->in_runtime = false;
		call->result = call->function(call->context);
		sk_fibre_tidy();
	}
	sk_call_over(host);
	return &host->own;
}

void sk_call_prepare(struct sk_call *call, const struct sk_package *package, int (*function)(void *context),
		     void *context, const _Atomic bool *due)
{
	call->package = package;
	call->function = function;
	call->context = context;
	call->due = due;
	call->result = 0;
	call->begun = false;
	call->over = false;
	call->fault.kind = SK_FAULT_NONE;
	sk_fibre_prepare(&call->fibre, run_on_fibre, call);
}

/* Enter the C locale until the thread is back on its own stack. */
static void enter_locale(struct sk_host *host, const struct sk_call *call)
{
	if (!host->locale && call->package && call->package->calls_others)
		host->locale = uselocale(sk_c_locale());
}

static void leave_locale(struct sk_host *host)
{
	if (host->locale)
		uselocale(host->locale);
	host->locale = (locale_t)0;
}

struct sk_call *sk_call_resume(struct sk_host *host, struct sk_call *call)
{
	int error = *host->error; /* package code may change errno meanwhile */

	call->host = host;
	call->begun = true;
	host->in_runtime = true;
	host->running = call;
	enter_locale(host, call);
	sk_fibre_switch(&host->own, &call->fibre, false);
	leave_locale(host);
	*host->error = error;
	/* A call that ended in the middle of a function leaves its variables in any state, so they are renewed. No
	 * other call of the thread is affected: waiting calls are not inside functions with such variables. */
	if (host->ended->fault.kind != SK_FAULT_NONE && host->ended->fault.kind != SK_FAULT_NO_STORAGE &&
	    host->ended->package)
		sk_thread_storage_renew(&host->ended->package->storage);
	return host->ended;
}

void sk_call_give_way(struct sk_host *host, struct sk_call *call)
{
	struct sk_call *from = host->running;

	call->host = host;
	call->begun = true;
	host->running = call;
	enter_locale(host, call);
	sk_fibre_switch(&from->fibre, &call->fibre, false);
}

_Noreturn void sk_call_leave(int result)
{
	struct sk_host *host = &host_of_thread;
	struct sk_call *call = host->running;

	sk_fibre_tidy();
	host->in_runtime = true;
	call->result = result;
	sk_call_over(host);
	sk_fibre_switch(&call->fibre, &host->own, true);
	__builtin_unreachable();
}

_Noreturn void sk_call_end(const char *function, const void *caller)
{
	struct sk_host *host = &host_of_thread;
	struct sk_call *call = host->running;

	if (!call)
		abort();
	sk_fibre_tidy();
	host->in_runtime = true;
	call->fault = (struct sk_fault){
		.kind = SK_FAULT_ENDED,
		.function = function,
		.pc = (const char *)caller - 1,
		.sp = __builtin_frame_address(0),
	};
	sk_call_over(host);
	sk_fibre_switch(&call->fibre, &host->own, true);
	__builtin_unreachable();
}
