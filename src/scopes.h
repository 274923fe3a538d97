/* The scopes of a graph: which nodes are in which, and what is wanted of them. */
#ifndef SK_SCOPES_H
#define SK_SCOPES_H

#include "graph/graph.h"
#include "src/command/command.h"
#include "src/model/model.h"

/* Puts the nodes that a manifest and --scope mean into their scopes, whatever the file says of them; of several that
 * mean a node, the last one counts. Unnamed nodes are called like the first value that they make. False after an error.
 */
bool sk_scopes_assign(const struct sk_command_line *command, const struct sk_graph_file *file,
		      struct sk_op_graph *graph);

/* The scope of nodes that are in none: a graph without scopes is one scope, of its own name. NULL: there are others. */
const char *sk_scopes_default(const struct sk_op_graph *graph);

/* Has symbols of the launches of that scope begin with the package's name, which the model has, instead of the graph's.
 */
void sk_scopes_set_symbol(const struct sk_op_graph *graph, struct sk_model *model, const char *scope);

/* Gives the model's scopes the options that their nodes ask for, unless the manifest has some. False after an error. */
bool sk_scopes_take_options(struct sk_op_graph *graph, struct sk_model *model);

#endif
