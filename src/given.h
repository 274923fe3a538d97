/* What the command line, or a manifest, says of a model's inputs and outputs. */
#ifndef SK_GIVEN_H
#define SK_GIVEN_H

#include "graph/graph.h"
#include "src/command/command.h"
#include "src/model/graph-file.h"

/* Sets what --shape, --freeze and --state say of the graph's inputs, and then what a manifest says; and the dimensions
 * of all networks, and of this one (NULL: it has no name). Values of --keep become outputs. All errors are collected;
 * false if there was one. */
bool sk_given_apply(const struct sk_command_line *command, const struct sk_graph_file *file,
		    const sk_dimensions *dimensions, const char *network, struct sk_op_graph *graph);

#endif
