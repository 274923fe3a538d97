/* What the command line, or a manifest, says of a model's inputs. */
#ifndef SK_GIVEN_H
#define SK_GIVEN_H

#include "src/command/command.h"
#include "src/fusion/graph.h"
#include "src/model/graph-file.h"

/* Sets what --shape, --dim, --freeze and --state say of the graph's inputs, and then what a manifest says. All errors are
 * collected; false if there was one. */
bool sk_given_apply(const struct sk_command_line *command, const struct sk_graph_file *file, struct sk_op_graph *graph);

#endif
