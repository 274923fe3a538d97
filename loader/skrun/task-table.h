/* skrun --profile: a trace's totals, as a table or as data. Shares are of the time that all cores had, so they add up
 * to 100 with what cores did besides, and with tasks that nobody has asked for. */
#ifndef SK_LOADER_TASK_TABLE_H
#define SK_LOADER_TASK_TABLE_H

#include <stdbool.h>

#include "loader/skrun/run-options.h"
#include "loader/skrun/session.h"

/* Prints those tasks that the options choose, or their kernels, the longest first. False after "skrun: error: …". */
bool sk_task_table_print(const struct sk_session *session, const struct sk_run_options *options);

/* The same as a member of an object in JSON: , "profile": {…} */
bool sk_task_table_put_json(const struct sk_session *session, const struct sk_run_options *options);

#endif
