/* What cores would do when, as a file in the Trace Event format, for the viewers that traces of runs are for
 * (loader/trace/trace-file.c): a process for each lane of each way to run, a row for each of its cores, a slice for
 * each step, and an arrow from what let it go on. */
#ifndef SK_LOADER_PREDICTED_TRACE_H
#define SK_LOADER_PREDICTED_TRACE_H

#include <stdio.h>

#include "loader/predict/simulate.h"

struct sk_predicted_trace {
	FILE *file; /* NULL: nobody wants one */
	uint32_t processes, arrows; /* so far: their numbers */
};

/* path NULL: a trace that nobody wants. False with errno. */
bool sk_predicted_trace_open(const char *path, struct sk_predicted_trace *trace);

/* Adds a simulated run; `run` is what it is called. */
void sk_predicted_trace_add(struct sk_predicted_trace *trace, const char *run, const struct sk_plan_view *plan,
			    const struct sk_profile *profile, const struct sk_network *network,
			    const struct sk_simulation *simulation);

/* Makes it the file of that path, if it is whole, and else leaves what was there. False with errno. */
bool sk_predicted_trace_close(struct sk_predicted_trace *trace, const char *path, bool whole);

#endif
