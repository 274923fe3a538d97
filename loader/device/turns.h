/* What a command waits for beside those in front of it in its stream: launches of its instance, launches that share
 * something with it, the record of an event. All under the device's lock. */
#ifndef SK_LOADER_TURNS_H
#define SK_LOADER_TURNS_H

#include "loader/device/device.h"

/* A launch has been queued; it has ended. */
void sk_turn_enter_instance(struct sk_command *command);
void sk_turn_leave_instance(struct sk_command *command);

/* Whether all that the launch follows in its instance has ended. Where a launch that the plan says is not there, as in
 * a run that leaves it out, nothing says which of those before it that one follows: so all must have ended. */
bool sk_turn_has_come(const struct sk_command *command);

/* Whether no flight has anything in common with the launch that only one of them may have. */
bool sk_turn_shares_nothing(const struct skrt_device *device, const struct sk_command *command);

/* A record, or a wait, has been queued; a wait for which nothing is pending has no event any more. */
void sk_turn_enter_event(struct sk_command *command);

/* The record has been reached; and with it whatever waited for no later one that is pending. */
void sk_turn_reach(struct sk_command *record);

#endif
