/* What each call of a plan takes on a profile's device: from a file of measured or guessed times, else from the
 * manifest's `cost:` or the kernel's signature, else from the bytes of its arguments.
 *
 * A cost file has lines `task: time`, the time of the whole task if one core did all of it, as "1.2 us" (ns, us, ms) or
 * "900 cycles" of the profile's clock; names as format/profile/lines.h has keys. `skrun --measure` writes one. */
#ifndef SK_LOADER_COSTS_H
#define SK_LOADER_COSTS_H

#include <stdio.h>

#include "loader/predict/network.h"

struct sk_costs {
	struct sk_work *work; /* by call of the plan; of task entries' calls nothing. Free it with sk_costs_free */
	uint32_t from_file, from_plan, from_arguments; /* tasks of the network */
};

/* The plan must have passed sk_plan_check_all. lanes: by lane of the plan, the profile's. file: NULL, or the path of a
 * cost file. False with the reason in `error`; then nothing is to be freed. */
bool sk_costs_collect(const struct sk_plan_view *plan, const struct sk_plan_network *network,
		      const struct sk_profile *profile, const uint32_t *lanes, const char *file, struct sk_costs *costs,
		      char *error, size_t error_size);
void sk_costs_free(struct sk_costs *costs);

/* A line of a cost file, for who measures. */
void sk_costs_print(const char *task, double nanoseconds, FILE *stream);

#endif
