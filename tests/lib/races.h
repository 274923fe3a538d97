/* An oracle for the verifier: looks for races in a plan by brute force, for given numbers of cores, without any of the
 * verifier's reasoning. It takes every core of every step as an event, orders the events by program order, awaits and
 * follows, computes the bytes that each event touches as skplan.h defines them, and compares all pairs. An event has
 * hidden state for the whole of its call, even if the kernel starts early. If blocks do not divide their data, each
 * core counts as having one, since the blocks' numbers do not order them: only addresses and core sets do.
 *
 * Calls of a step that share bytes have the network's order, also on one core: if the step is in tiles, a later call's
 * tile comes before an earlier call's next one. In the scratch each tile begins at the same place; there two tensors of
 * one call must lie apart, and reads_astray checks that a call finds the right bytes. */
#ifndef SK_TESTS_RACES_H
#define SK_TESTS_RACES_H

#include "format/plan/plan.h"
#include "format/skplan.h"

/* True if two conflicting events are not ordered when lane i has cores[i] cores. */
bool races_exist(const struct sk_plan_view *view, const uint32_t cores[SK_MAX_LANES]);

/* True if it is so for any number of cores up to the limit, in any combination of the lanes. */
bool races_exist_up_to(const struct sk_plan_view *view, uint32_t limit);

/* Another oracle: return true if a task of the network reads a byte of a temporary or an output that no earlier step
 * has written, or that was last written as a byte of another tensor. It goes in the order of the plan's steps, byte by
 * byte, for tensors of small plans. One core writes and reads the scratch tile by tile; a read there must also find the
 * same byte of the tensor. Kernels' own scratch must not overlap it when it is read. */
bool reads_astray(const struct sk_plan_view *view);

/* Return whether the verifier's messages mention such reads (says_astray), and anything else (says_more). */
bool says_astray(const char *messages);
bool says_more(const char *messages);

#endif
