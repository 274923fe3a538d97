/* From canonical calls to the model: values become tensors, calls become tasks. */
#ifndef SK_LOWER_H
#define SK_LOWER_H

#include "graph/canonical.h"
#include "graph/passes/unify-constants.h"
#include "src/model/model.h"

/* Adds to a model, which is empty or has other networks, what the calls need: tasks with an op, attributes and args,
 * and the tensors of all values that they use, of the roles that the graph gives them. Nodes that name no scope are in
 * one that is called `scope`; NULL: in none. Constants that another network has are its tensors, if there are several;
 * else `constants` is NULL. */
void sk_graph_lower(const struct sk_op_graph *graph, const sk_graph_calls *calls, const char *scope,
		    struct sk_constants *constants, struct sk_model *model);

#endif
