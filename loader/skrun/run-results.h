/* What skrun says of the time that runs took: for people, and with --json as data, which skrun(1) describes. */
#ifndef SK_LOADER_RUN_RESULTS_H
#define SK_LOADER_RUN_RESULTS_H

#include "loader/skrun/run-options.h"
#include "loader/skrun/session.h"

/* --time: of the runs, in seconds, which get sorted. */
void sk_results_print_time(const struct sk_session *session, const struct sk_run_options *options, double *seconds);

/* --json: what --time and --profile have found, as one object. The seconds get sorted. False after "skrun: error: …".
 */
bool sk_results_print_json(const struct sk_session *session, const struct sk_run_options *options, double *seconds);

#endif
