/* The model file that a manifest names, and what it says of it. Texts are as on the command line. */
#ifndef SK_GRAPH_FILE_H
#define SK_GRAPH_FILE_H

#include "src/model/scope.h"

/* What dimensions that the model calls by a name are. */
struct sk_dimension {
	const char *network; /* the set that says so; NULL: it holds for all networks */
	struct sk_name size; /* NAME=N */
};

typedef SK_ARRAY(struct sk_dimension) sk_dimensions;

struct sk_graph_file {
	struct sk_name path; /* resolved; NULL: it names none */
	sk_names shapes, frozen, states; /* NAME=VALUE */
	sk_dimensions dimensions; /* those of a set one behind the other */
	sk_names scopes; /* NAME=PATTERN */
	struct sk_name fusion; /* flags of graph-kernel fusion; NULL: it has none */
	struct sk_name switches; /* path of a file of switches, resolved; NULL: none */
	sk_names rules; /* paths of files of rules, resolved */
	bool no_patterns; /* "pattern_fusion_pass: false" */
	bool fusion_in_line; /* their characters stand in the manifest from that place on */
};

#endif
