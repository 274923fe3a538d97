/* The service for kernels of exchanges (sk_exchange of skkernel.h): the bytes of a task that ranks exchange, by the
 * package's record and the device's transport. The thread is in the runtime meanwhile, so a kernel that is expelled
 * never holds a lock of the transport. */
#include "config.h"

#include "loader/flight/flight.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skranks.h"
#include "loader/arch/machine.h"
#include "loader/core/core.h"
#include "loader/ranks/transport.h"

enum { SPINS = 500, YIELDS = 1000, SHORTEST_SLEEP = 20000, LONGEST_SLEEP = 500000 /* ns */ };

/* Wait for the turn-th time. Other ranks may need this processor. */
static void wait_a_turn(uint32_t turn)
{
	long time = turn - SPINS - YIELDS < 5 ? SHORTEST_SLEEP << (turn - SPINS - YIELDS) : LONGEST_SLEEP;

	if (turn < SPINS) {
		sk_pause();
	} else if (turn < SPINS + YIELDS) {
		sched_yield();
	} else {
		sk_cancellation_hold();
		nanosleep(&(struct timespec){.tv_nsec = time}, NULL);
	}
}

static bool is_told_to_leave(const struct sk_flight *flight)
{
	return atomic_load_explicit(&flight->aborted, memory_order_acquire) != SK_ABORT_NONE;
}

/* Note why the exchange did not end, for the message of the flight, and leave the call. */
static _Noreturn void leave(struct sk_device_core *core, const struct sk_transport *transport, const char *title)
{
	struct sk_flight *flight = core->flight;
	bool late = is_told_to_leave(flight);
	char why[sizeof(flight->exchange) / 2];

	transport->describe(transport->context, why, sizeof(why));
	snprintf(flight->exchange, sizeof(flight->exchange), "%s: %s", title, why);
	flight->exchange_late = late;
	sk_call_leave(SK_STATUS_ABORTED);
}

static void run(struct sk_device_core *core, const struct sk_transfer *transfer)
{
	const struct sk_transport *transport = core->flight->kernel->module->transport;
	enum sk_transfer_state state;

	transport->start(transport->context, transfer);
	for (uint32_t turn = 0; (state = transport->test(transport->context)) != SK_TRANSFER_ENDED;) {
		if (state == SK_TRANSFER_FAILED || is_told_to_leave(core->flight))
			leave(core, transport, transfer->title);
		wait_a_turn(turn);
		turn += turn < UINT32_MAX;
	}
}

/* Return the exchange of the block's task; NULL: it is none. */
static const struct sk_ranks_exchange *find(const struct sk_block *block, const struct skrt_kernel *kernel)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_step *step = &plan->steps[plan->launches[kernel->launch].first_step + block->step];

	return sk_ranks_find(&kernel->module->ranks, plan->calls[step->first_call].task);
}

/* An instance has been made only if the plan and its exchanges agree, and the transport has the package's ranks. A
 * package for one rank has no transport. */
void sk_block_exchange(const struct sk_block *block, const void *from, void *to)
{
	struct sk_device_core *core = block->core;
	const struct skrt_module *module = core->flight->kernel->module;
	const struct sk_ranks_exchange *exchange = find(block, core->flight->kernel);
	const struct sk_ranks_view *ranks = &module->ranks;
	struct sk_host *host = core->call.host;
	bool before = host->in_runtime;
	char title[192];

	if (!exchange)
		sk_call_end("sk_exchange, but the package has no record of an exchange for it,",
			    __builtin_return_address(0));
	sk_fibre_tidy();
	host->in_runtime = true;
	if (module->transport) {
		const struct sk_ranks_group *group = &ranks->groups[exchange->group];
		struct sk_transfer transfer = {.kind = (enum sk_exchange_kind)exchange->kind,
					       .size = group->size,
					       .root = exchange->root,
					       .peer = exchange->peer,
					       .bytes = exchange->bytes,
					       .send = from,
					       .receive = to,
					       .title = title,
					       .hash = sk_ranks_hash(ranks, exchange)};

		transfer.members = sk_ranks_part(ranks, group, module->transport->rank, &transfer.place);
		sk_ranks_text(ranks, &module->plan, exchange, title, sizeof(title));
		run(core, &transfer);
	} else {
		memcpy(to, from, exchange->bytes);
	}
	host->in_runtime = before;
}
