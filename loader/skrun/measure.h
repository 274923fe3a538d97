/* skrun --measure: what each task takes by itself, for predictions (costs.h has the file's format). */
#ifndef SK_LOADER_MEASURE_H
#define SK_LOADER_MEASURE_H

#include "loader/skrun/session.h"

/* Runs all tasks, one after the other on the calling thread, `rounds` times, and writes the median time of each.
 * Nothing but the kernel and its dispatcher is timed. False after printing an error. */
bool sk_measure(struct sk_session *session, const char *path, uint32_t rounds);

#endif
