/* What there would be without tile groups, for the report. In come the model and its launches; out come counts of a
 * schedule and a memory plan of which nothing else is used. */
#ifndef SK_WITHOUT_GROUPS_H
#define SK_WITHOUT_GROUPS_H

#include "src/planning/fusion.h"

struct sk_without_groups {
	uint64_t awaits; /* of all launches */
	uint64_t workspace; /* bytes; UINT64_MAX: more than 64 bits can count */
};

struct sk_without_groups sk_plan_without_groups(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
