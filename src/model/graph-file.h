/* The model file that a manifest names, and what it says of it. Texts are as on the command line. */
#ifndef SK_GRAPH_FILE_H
#define SK_GRAPH_FILE_H

#include "src/model/scope.h"

struct sk_graph_file {
	struct sk_name path; /* resolved; NULL: it names none */
	sk_names shapes, dimensions, frozen, states; /* NAME=VALUE */
	sk_names scopes; /* NAME=PATTERN */
};

#endif
