/* What is known of each operator: its schema. One table holds them all; families of operators have files of their own
 * in graph/operators/. */
#ifndef SK_SCHEMA_H
#define SK_SCHEMA_H

#include "graph/canonical.h"
#include "graph/graph.h"
#include "graph/infer.h"

enum {
	SK_VARIADIC = 255,
	SK_NEWEST = 24, /* operator set of ONNX of the nodes that passes make */
};

struct sk_schema {
	const char *op; /* "": any of the domain */
	const char *domain; /* "" is ai.onnx */
	uint8_t min_inputs, max_inputs; /* SK_VARIADIC: any number */
	uint8_t min_outputs, max_outputs;
	uint32_t demands; /* bit i: the shapes of the outputs depend on the values of input i, not just on its shape */
	bool sequences; /* inputs may be sequences of tensors */
	const struct sk_schema_attribute *attributes; /* up to one without a name; NULL: there are none */
	/* Brings a node of an older operator set to the newest one; NULL: nothing has ever changed. Constants that it
	 * needs (axes that were attributes) it adds to the graph. A node that it has brought there it leaves alone,
	 * since dumps have such nodes. False after an error. */
	bool (*upgrade)(struct sk_op_graph *graph, struct sk_graph_node *node);
	/* Nodes of older operator sets may mean what no newer node says, and keep their version; 0: none do. Rules,
	 * which are about the newest form, leave these alone. */
	uint32_t means_since;
	/* Instead of the two below: as soon as the demanded inputs are constants other nodes take its place, which are
	 * appended. False after an error. */
	bool (*expand)(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes);
	/* Of which nodes that holds; NULL: of all. */
	bool (*expands)(const struct sk_op_graph *graph, const struct sk_graph_node *node);
	/* Sets type and shape of the outputs, from inputs that are static and demanded ones that are constants. */
	bool (*infer)(struct sk_inference *inference);
	/* Adds the calls that compute the outputs. */
	bool (*canonical)(struct sk_canonical *canonical);
};

/* NULL: nobody knows the operator. */
const struct sk_schema *sk_schema_find(const char *domain, const char *op);

/* The schema of that number, from 0 on; NULL behind the last one. */
const struct sk_schema *sk_schema_at(size_t number);

/* True if nodes draw random numbers, each its own; NULL draws none. */
bool sk_schema_is_random(const struct sk_schema *schema);

/* Numbers of inputs and outputs, attributes and their kinds are as the schema says. The node had `given` inputs in its
 * file: an upgrade may have made more of them, of attributes. False after errors at the node. */
bool sk_schema_check(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_schema *schema,
		     size_t given);

#endif
