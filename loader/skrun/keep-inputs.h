/* What a run reads stays as it is: the package, its weights, the costs of a prediction. */
#ifndef SK_LOADER_KEEP_INPUTS_H
#define SK_LOADER_KEEP_INPUTS_H

#include "loader/skrun/run-options.h"

/* False after "skrun: error: …": a file at that path, where an output is to be, is one of them. NULL is nothing. */
bool sk_keep_inputs(const struct sk_session *session, const struct sk_run_options *options, const char *output);

#endif
