/* The service for kernels of exchanges (sk_exchange of skkernel.h): the bytes of a task that ranks exchange, by the
 * package's record and the device's transport. The thread is in the runtime meanwhile, so a kernel that is expelled
 * never holds a lock of the transport.
 *
 * The core waits as in an await, for a word of its own: the worker goes on with the exchange whenever it looks for a
 * core that can go on. Some cores block their thread instead. In a checked launch the memory of the call stays open, so
 * no other call may run. On a simulated device the order of cores must not depend on the time: the core counts as
 * ready, and blocks when its turn comes. */
#include "config.h"

#include "loader/flight/flight.h"

#include <inttypes.h>
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
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/ranks/transport.h"
#include "loader/skrt-transport.h"

enum {
	SPINS = 500,
	YIELDS = 1000,
	SHORTEST_SLEEP = 20000, /* ns */
	LONGEST_SLEEP = 500000,
	TESTS = 64, /* between two looks at the time */
};

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
static _Noreturn void leave(struct sk_device_core *core, const char *title, const char *why, const char *within)
{
	struct sk_flight *flight = core->flight;
	bool late = atomic_load_explicit(&flight->aborted, memory_order_acquire) == SK_ABORT_TIMEOUT;

	snprintf(flight->exchange, sizeof(flight->exchange), "%s: %s%s", title, why, late ? "" : within);
	flight->exchange_late = late;
	sk_call_leave(SK_STATUS_ABORTED);
}

/* On a device without a time-out exchanges have one of their own. */
static bool is_late(const struct sk_device_core *core)
{
	return core->exchange_end && sk_now() > core->exchange_end;
}

/* Leave an exchange that runs or has failed. The core keeps the transport, as a sign that the exchange is open. */
static _Noreturn void give_up(struct sk_device_core *core, const char *title)
{
	char why[sizeof(core->flight->exchange) / 2], within[32] = "";

	core->transport->describe(core->transport->context, why, sizeof(why));
	if (is_late(core))
		snprintf(within, sizeof(within), " within %" PRIu64 " s",
			 core->flight->kernel->module->exchange_timeout / 1000000000);
	leave(core, title, why, within);
}

/* The time is looked at now and then. */
void sk_exchange_go_on(struct sk_device_core *core)
{
	if (core->exchange == SKRT_TRANSFER_RUNS)
		core->exchange = (int)core->transport->test(core->transport->context);
	if (core->exchange != SKRT_TRANSFER_RUNS || (++core->exchange_tests % TESTS == 0 && is_late(core)))
		core->exchanged = 1;
}

/* title: of the exchange that the transfer is, or is made for. */
static void run(struct sk_device_core *core, const struct skrt_transfer *transfer, const char *title)
{
	const struct skrt_module *module = core->flight->kernel->module;

	module->transport->start(module->transport->context, transfer);
	core->transport = module->transport;
	core->exchange = SKRT_TRANSFER_RUNS;
	core->exchange_end = module->exchange_timeout ? sk_now() + (int64_t)module->exchange_timeout : 0;
	core->exchange_tests = 0;
	core->exchanged = 0;
	if (!core->flight->checks && core->abi.runtime->await(&core->abi, &core->exchanged, 1, 1))
		give_up(core, title);
	core->call.host->in_runtime = true;
	for (uint32_t turn = 0; core->exchange != SKRT_TRANSFER_ENDED; turn += turn < UINT32_MAX) {
		sk_exchange_go_on(core);
		if (core->exchange == SKRT_TRANSFER_FAILED || is_told_to_leave(core->flight) || is_late(core))
			give_up(core, title);
		if (core->exchange == SKRT_TRANSFER_RUNS)
			wait_a_turn(turn);
	}
	core->transport = NULL;
}

/* Let all ranks say to which exchange they come. */
static void compare_places(struct sk_device_core *core, const struct skrt_transfer *transfer)
{
	const struct skrt_module *module = core->flight->kernel->module;
	char why[sizeof(core->flight->exchange) / 2];

	run(core, sk_rank_places_begin(module->rank_places, transfer), transfer->title);
	if (!sk_rank_places_agree(module->rank_places, why, sizeof(why)))
		leave(core, transfer->title, why, "");
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
		struct skrt_transfer transfer = {.kind = exchange->kind,
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
		if (module->rank_places)
			compare_places(core, &transfer);
		run(core, &transfer, title);
	} else {
		memcpy(to, from, exchange->bytes);
	}
	host->in_runtime = before;
}
