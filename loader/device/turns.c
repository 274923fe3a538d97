/* Conditions for starting a command; see device.h. */
#include "config.h"

#include "loader/device/device.h"

#include "format/plan/plan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"

/* ---- the order within an instance ---- */

/* Launches that are queued in the plan's order are one run through the network. */
void sk_turn_enter_instance(struct sk_command *command)
{
	struct skrt_instance *instance = command->launch.instance;
	const struct skrt_kernel *kernel = command->launch.kernel;
	bool in_network = kernel->launch < kernel->module->plan.network_launch_count;

	if (!instance->first || !in_network || kernel->launch < instance->next_launch)
		instance->run++;
	instance->next_launch = in_network ? kernel->launch + 1 : UINT32_MAX;
	command->launch.run = instance->run;
	command->launch.before = instance->last;
	command->launch.after = NULL;
	if (instance->last)
		instance->last->launch.after = command;
	else
		instance->first = command;
	instance->last = command;
	instance->pending++;
}

void sk_turn_leave_instance(struct sk_command *command)
{
	struct skrt_instance *instance = command->launch.instance;
	struct sk_command *before = command->launch.before, *after = command->launch.after;

	*(before ? &before->launch.after : &instance->first) = after;
	*(after ? &after->launch.before : &instance->last) = before;
	if (command->launch.kernel->launch < instance->module->plan.network_launch_count)
		instance->ended[command->launch.kernel->launch] = command->launch.run;
	instance->pending--;
}

bool sk_turn_has_come(const struct sk_command *command)
{
	const struct skrt_instance *instance = command->launch.instance;
	const struct sk_plan_view *plan = &instance->module->plan;
	const struct sk_plan_launch *record = &plan->launches[command->launch.kernel->launch];

	if (instance->first == command)
		return true;
	if (instance->first->launch.run != command->launch.run)
		return false;
	for (uint32_t i = 0; i < sk_plan_form(record)->follow_count; i++) {
		uint32_t followed = plan->follows[record->first_follow + i];

		if (followed <
		    instance->network.first_launch) /* of another network, which this instance does not run */
			continue;
		if (instance->ended[followed] < command->launch.run && !sk_once_is_done(instance, followed))
			return false;
	}
	return true;
}

/* Return whether launches of different instances share hidden state. All modules of a plan share that of its kernels,
 * and all packages share the state of the C library. */
static bool share_state(const struct skrt_kernel *kernel, const struct skrt_kernel *other)
{
	uint32_t common = sk_kernel_states(kernel) & sk_kernel_states(other);

	if (other->module->plan.plan != kernel->module->plan.plan)
		common &= ~(uint32_t)SK_STATES_OWN;
	return common & (SK_STATES_OWN | SK_STATES_LIBRARY);
}

/* Instances share the states of a kernel's blocks, and hidden state. */
bool sk_turn_shares_nothing(const struct skrt_device *device, const struct sk_command *command)
{
	const struct skrt_kernel *kernel = command->launch.kernel;
	uint32_t left = device->flight_count;

	for (uint32_t i = 0; left > 0; i++) {
		const struct sk_flight *other = device->flights[i];

		if (!other || !other->command)
			continue;
		left--;
		if (other->kernel == kernel && kernel->block_count)
			return false;
		if (other->instance != command->launch.instance && share_state(kernel, other->kernel))
			return false;
	}
	return true;
}

/* ---- exchanges ---- */

void sk_turn_enter_exchange(struct sk_command *command)
{
	struct sk_commands *exchanges = &command->stream->device->exchanges;

	if (!command->launch.kernel->exchanges)
		return;
	command->launch.exchange = NULL;
	if (exchanges->first)
		exchanges->last->launch.exchange = command;
	else
		exchanges->first = command;
	exchanges->last = command;
}

/* Only the first one can start, or be skipped. */
void sk_turn_leave_exchange(struct sk_command *command)
{
	if (command->launch.kernel->exchanges)
		command->stream->device->exchanges.first = command->launch.exchange;
}

bool sk_turn_may_exchange(const struct skrt_device *device, const struct sk_command *command)
{
	return !command->launch.kernel->exchanges || device->exchanges.first == command;
}

/* ---- events ---- */

void sk_turn_enter_event(struct sk_command *command)
{
	struct skrt_event *event = command->event.event;

	command->event.after = NULL;
	if (command->kind == SK_COMMAND_RECORD) {
		command->event.record = ++event->recorded;
		if (event->records.first)
			event->records.last->event.after = command;
		else
			event->records.first = command;
		event->records.last = command;
		sk_count(&event->pending, 1);
	} else if (!event->pending) {
		command->event.event = NULL;
	} else {
		command->event.record = event->recorded;
		command->event.after = event->waits;
		event->waits = command;
	}
}

void sk_turn_reach(struct sk_command *record)
{
	struct skrt_event *event = record->event.event;
	struct sk_command **link = &event->records.first, *before = NULL;

	for (; *link != record; link = &(*link)->event.after)
		before = *link;
	*link = record->event.after;
	if (event->records.last == record)
		event->records.last = before;
	event->time = sk_now();
	for (link = &event->waits; *link;) {
		struct sk_command *wait = *link;

		if (event->records.first && event->records.first->event.record <= wait->event.record) {
			link = &wait->event.after;
			continue;
		}
		*link = wait->event.after;
		wait->event.event = NULL;
	}
	if (sk_count(&event->pending, -1) == 0)
		pthread_cond_broadcast(&event->reached);
}
