/* Order between the cores of a checked launch: awaits and progress as in the plan, and the services that kernels use
 * inside their calls. Synchronisation among blocks (sk_sync_all, flags) orders their own accesses, which the plan does
 * not describe. It does not order those of other tasks; awaits do. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"

/* ---- awaits and progress ---- */

void sk_checked_finish(struct sk_checked *checked)
{
	const struct sk_core *own = &checked->core->abi;

	if (checked->finished)
		return;
	checked->finished = true;
	if (checked->clocks)
		sk_clocks_finish(checked->clocks, checked->row, checked->step);
	if (checked->step->flags & SK_STEP_PUBLISH)
		__atomic_store_n(own->progress, own->lanes[own->lane].base + checked->step->number, __ATOMIC_RELEASE);
}

/* ---- services for kernels ---- */

static struct sk_checked *checked_of(const struct sk_block *block)
{
	return sk_checked_of(block->core);
}

static void sync_all(const struct sk_block *block)
{
	struct sk_checked *checked = checked_of(block);

	sk_checked_pause(checked);
	sk_block_functions.sync_all(block);
	sk_checked_resume(checked);
}

static void set_flag(const struct sk_block *block, uint32_t flag)
{
	sk_block_check_flag(block, flag, __builtin_return_address(0));
	sk_block_functions.set_flag(block, flag);
}

static void wait_flag(const struct sk_block *block, uint32_t flag)
{
	struct sk_checked *checked = checked_of(block);

	sk_block_check_flag(block, flag, __builtin_return_address(0));
	sk_checked_pause(checked);
	sk_block_functions.wait_flag(block, flag);
	sk_checked_resume(checked);
}

/* The call is closed. */
static void await_once(struct sk_checked *checked)
{
	if (checked->block.waited || !(checked->step->flags & SK_STEP_EARLY_WAIT))
		return;
	if (!sk_checked_await(checked))
		sk_call_leave(SK_STATUS_ABORTED);
	checked->block.waited = 1;
}

static void wait_pre_task_end(const struct sk_block *block)
{
	struct sk_checked *checked = checked_of(block);
	bool opens = checked->phase == SK_BEFORE_WAIT;

	sk_checked_pause(checked);
	await_once(checked);
	if (opens)
		sk_checked_open(checked);
	else
		sk_checked_resume(checked);
}

/* After this the block touches no tensor, whether its progress is published here or not. */
static void set_next_task_start(const struct sk_block *block)
{
	struct sk_checked *checked = checked_of(block);

	if (!(checked->step->flags & SK_STEP_EARLY_SET))
		return;
	sk_checked_close(checked);
	if (sk_block_publishes(block)) {
		await_once(checked);
		sk_checked_finish(checked);
	}
	sk_checked_resume(checked);
}

const struct sk_block_functions sk_checked_functions = {sync_all, set_flag, wait_flag, wait_pre_task_end,
							set_next_task_start, sk_block_exchange};
