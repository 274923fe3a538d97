/* Predicted time: an event simulation over the plan. */
#ifndef SK_LOADER_PREDICT_PREDICT_H
#define SK_LOADER_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/plan/plan.h"

struct sk_profile;
struct sk_ranks_view;
struct sk_work;

/* ==== predict.c ====
 *
 * Predicted time: the time of a package's network on a device that a profile describes, unfused, fused, and fused in
 * other ways; the critical path, and the parts of its time. No kernel runs. */

struct sk_predict_options {
	const struct sk_plan_network *network; /* of the plan */
	const struct sk_ranks_view *ranks; /* of its package; NULL: it is for one process */
	const char *device; /* a profile's name or path; NULL: the one that the package was linked for */
	const char *costs; /* path of a cost file (predict.h), or NULL */
	const char *trace; /* path of a file for the cores' activities in the unfused and the fused run, or NULL */
	const char *sizes; /* of a package with bounds: those of the plan, "batch=2, seq=37"; NULL: it has none */
	uint32_t cores; /* of each lane; 0: as in the profile */
	struct sk_task_filter tasks; /* for the critical path: only these are shown */
	bool by_kernel; /* for the critical path: only the kernels, and all of them */
};

/* Print the prediction. On failure return false, print nothing, and put the reason into `error`. */
bool sk_predict(const struct sk_plan_view *plan, const struct sk_predict_options *options, FILE *stream, char *error,
		size_t error_size);

/* ==== costs.c ====
 *
 * The time of each call of a plan on a profile's device: from a file of measured or guessed times, else from the
 * manifest's `cost:` or the kernel's signature, else from the bytes of its arguments. Exchanges between ranks take the
 * time of the profile's link.
 *
 * A cost file has lines `task: time`, with the time of the whole task if one core did all of it, as "1.2 us" (ns, us,
 * ms) or "900 cycles" of the profile's clock. Names are written like the keys in format/profile/profile.h. A line
 * `sizes: batch=2, seq=37` says that its times are those of a package with bounds at these sizes. `skrun --measure`
 * writes such a file. */

struct sk_costs {
	struct sk_work *work; /* by call of the plan; nothing for calls of task entries. Free it with sk_costs_free */
	uint32_t from_file, from_plan, from_link, from_arguments; /* tasks of the network */
};

/* Where the costs of a plan come from, and what they are for. */
struct sk_costs_source {
	const struct sk_plan_view *plan; /* has passed sk_plan_check_all */
	const struct sk_plan_network *network; /* of the plan */
	const struct sk_profile *profile;
	const uint32_t *lanes; /* by lane of the plan, the profile's */
	const char *sizes; /* as in struct sk_predict_options */
	const char *file; /* path of a cost file, or NULL */
	const struct sk_ranks_view *ranks; /* of the package; NULL: it is for one process */
};

/* False with the reason in `error`; then nothing is to be freed. */
bool sk_costs_collect(const struct sk_costs_source *source, struct sk_costs *costs, char *error, size_t error_size);
void sk_costs_free(struct sk_costs *costs);

/* Print a line of a cost file, for measurements. */
void sk_costs_print(const char *task, double nanoseconds, FILE *stream);

#endif
