/* Sets of dimensions: which networks a link makes of a model. */
#ifndef SK_NETWORKS_H
#define SK_NETWORKS_H

#include "src/command/command.h"
#include "src/model/graph-file.h"

struct sk_networks {
	sk_names names; /* of the sets, in the order in which they stand; empty: there is one network, without a name */
	sk_dimensions dimensions; /* of all of them */
};

/* Takes --dim, and then what a manifest says. False after errors. */
bool sk_networks_list(const struct sk_command_line *command, const struct sk_graph_file *file, const char *model,
		      struct sk_arena *arena, struct sk_diag *diag, struct sk_networks *networks);

#endif
