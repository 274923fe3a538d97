/* Nodes of models that split or join, of which no plan knows: which of them have no task, for --report and --explain.
 * In: the model, bound. Out: JSON, and sentences. */
#ifndef SK_VIRTUAL_NODES_H
#define SK_VIRTUAL_NODES_H

#include <stdbool.h>
#include <stdio.h>

#include "src/model/model.h"

/* The keys "no_task" and "peak" of the report. */
void sk_virtual_nodes_report(const struct sk_model *model, FILE *stream);

/* Whether a node without a task has the name. */
bool sk_virtual_nodes_has(const struct sk_model *model, const char *name);

/* What there is to say of those that have the name. */
void sk_virtual_nodes_explain(const struct sk_model *model, const char *name, FILE *stream);

#endif
