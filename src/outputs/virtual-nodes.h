/* Nodes of models that split or join, of which no plan knows: which of them have no task, for --report and --explain.
 * In: the model, bound. Out: JSON, and sentences. */
#ifndef SK_VIRTUAL_NODES_H
#define SK_VIRTUAL_NODES_H

#include <stdio.h>

#include "src/model/model.h"

/* The keys "no_task" and "peak" of the report. */
void sk_virtual_nodes_report(const struct sk_model *model, FILE *stream);

/* What no package says of them: what they save. */
void sk_virtual_nodes_explain(const struct sk_model *model, FILE *stream);

#endif
