/* What the options of scopes say about one superkernel: joined where its tasks are in several scopes, and checked
 * against the device and the tasks. */
#ifndef SK_LAUNCH_OPTIONS_H
#define SK_LAUNCH_OPTIONS_H

#include "src/model/model.h"
#include "src/model/scope.h"

/* Checks what can only be checked once kernels and device are known: that lists name kernels of their scope, and that
 * there are as many cores as options ask for. False after an error. */
bool sk_launch_options_check(const struct sk_model *model);

/* The options of tasks that are in all of these scopes: the greater alignment, preload and number of copies, the
 * smaller number of cores, whatever is 1 anywhere, all names of all lists. */
struct sk_launch_options sk_launch_options_join(const struct sk_model *model, const uint32_t *scopes, size_t count);

/* SK_STEP_FLUSH_… of the task's step. */
uint32_t sk_launch_options_flushes(const struct sk_model *model, const struct sk_launch_options *options,
				   uint32_t task);

/* By lane of the device, cores that the superkernel runs on; 0: all. */
void sk_launch_options_cores(const struct sk_model *model, const struct sk_launch_options *options,
			     uint32_t cores[SK_MAX_LANES]);

#endif
