/* The names of one graph of a model, and which of its nodes are wanted in which order. */
#ifndef SK_ONNX_SCOPE_H
#define SK_ONNX_SCOPE_H

#include "base/diag.h"
#include "base/map.h"
#include "graph/onnx/onnx-messages.h"

enum sk_onnx_origin { SK_ONNX_INPUT, SK_ONNX_CONSTANT, SK_ONNX_SPARSE_CONSTANT, SK_ONNX_PRODUCED };

/* What a name stands for. */
struct sk_onnx_definition {
	const char *name;
	enum sk_onnx_origin origin;
	uint32_t index; /* in the graph's list of inputs, initializers or sparse ones; of the node that produces it */
	const struct sk_onnx_value_info *info; /* what the file says of its type; NULL: nothing */
	bool used; /* by nodes that are wanted, or as an output */
};

/* A node on the way to its place in the order. */
struct sk_onnx_visit {
	bool wanted, open, done;
	SK_ARRAY(uint32_t) uses; /* definitions of this graph that it needs, those for its bodies, too */
};

struct sk_onnx_scope {
	struct sk_diag *diag;
	const char *path;
	const struct sk_onnx_graph *source;
	const struct sk_onnx_scope *outer; /* of a body: the names around it */
	struct sk_map names; /* to definitions */
	SK_ARRAY(struct sk_onnx_definition) definitions;
	struct sk_onnx_visit *visits; /* of each node */
	SK_ARRAY(uint32_t) order; /* nodes that the outputs need, producers in front of users */
};

/* Finds out all of that. False after errors: names that are defined twice or nowhere, nodes that wait for each other.
 */
bool sk_onnx_scope_open(struct sk_onnx_scope *scope, struct sk_diag *diag, const char *path,
			const struct sk_onnx_graph *source, const struct sk_onnx_scope *outer);

/* What the name stands for in this graph; NULL: nothing. */
struct sk_onnx_definition *sk_onnx_scope_find(const struct sk_onnx_scope *scope, const char *name);

/* "node '/layer.3/MatMul' (MatMul)", in the arena. */
const char *sk_onnx_node_label(struct sk_arena *arena, const struct sk_onnx_node *node);

#endif
