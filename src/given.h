/* What the command line says of a model's inputs. */
#ifndef SK_GIVEN_H
#define SK_GIVEN_H

#include "src/command/command.h"
#include "src/fusion/graph.h"

/* Sets what --shape, --dim, --freeze and --state say of the graph's inputs. All errors are collected; false if there was one. */
bool sk_given_apply(const struct sk_command_line *command, struct sk_op_graph *graph);

#endif
