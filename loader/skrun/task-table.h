/* skrun --profile: a trace's totals as a table. */
#ifndef SK_LOADER_TASK_TABLE_H
#define SK_LOADER_TASK_TABLE_H

#include <stdbool.h>

#include "loader/skrt.h"

/* Prints it, the longest task first. False after "skrun: error: …". */
bool sk_task_table_print(const struct skrt_trace *trace);

#endif
