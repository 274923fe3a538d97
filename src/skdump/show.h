/* What skdump shows of a package, a function per section. Each begins with a heading and ends with an empty line. */
#ifndef SK_SHOW_H
#define SK_SHOW_H

#include <stdio.h>

#include "format/plan/task-filter.h"
#include "src/skdump/package-file.h"

struct sk_show {
	struct sk_arena *arena; /* for the tables' cells */
	const struct sk_package_file *file;
	bool task_entries; /* launches and steps of task entries, too */
	struct sk_task_filter tasks; /* of steps and reasons, those that are shown */
	bool by_kernel; /* of steps, sums by kernel */
	FILE *stream;
};

void sk_show_summary(const struct sk_show *show);
void sk_show_bindings(const struct sk_show *show);
void sk_show_launches(const struct sk_show *show);
void sk_show_steps(const struct sk_show *show);
void sk_show_memory(const struct sk_show *show);
void sk_show_reasons(const struct sk_show *show);
void sk_show_kernels(const struct sk_show *show); /* the steps, by kernel */

/* All of the network for Graphviz, and no section. */
void sk_show_dot(const struct sk_show *show);

#endif
