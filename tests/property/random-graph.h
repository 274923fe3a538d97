/* Random graphs of ONNX operators for the property test of models (graphs.c): values of every type and shape, nodes
 * that read any of them, constants, scopes and streams. A graph states its nodes' meaning in its own fields, from which
 * graph-reference.c computes them. It is written as lines for tests/lib/make-model, for the operator set that it was
 * drawn for. */
#ifndef SK_TESTS_RANDOM_GRAPH_H
#define SK_TESTS_RANDOM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/skplan.h"

enum { GRAPH_NODES = 64, GRAPH_VALUES = 1000, NODE_INPUTS = 8, NODE_OUTPUTS = 6, NODE_TEXT = 800 };

typedef long double number; /* holds all elements of all types */

enum graph_kind { GRAPH_INPUT, GRAPH_CONSTANT, GRAPH_COMPUTED };

struct graph_value {
	enum graph_kind kind;
	enum sk_dtype dtype;
	uint32_t rank;
	int64_t shape[SK_MAX_RANK], count;
	bool is_output, is_absent; /* where not all values are outputs */
	bool is_inner; /* of a pattern */
	bool is_size; /* computed from shapes alone: nodes may need its elements when linking */
	uint32_t uses;
	number *elements; /* of inputs and constants; of computed values, the results of a run */
	number *error; /* how far each of them may be from its exact value; NULL: they are exact */
};

/* The meaning of a node. The fields that are used depend on the operator. */
struct graph_node {
	const char *op;
	uint32_t inputs[NODE_INPUTS], input_count, outputs[NODE_OUTPUTS], output_count;
	int64_t axis; /* not negative */
	int64_t list_count, list[SK_MAX_RANK]; /* axes, permutations, repeats, sizes, spatial extents of a window */
	int64_t starts[SK_MAX_RANK], steps[SK_MAX_RANK]; /* of every dimension; of windows the padding, the strides */
	int64_t dilations[SK_MAX_RANK], group;
	bool flag, other_flag;
	const char *mode;
	double alpha, beta;
	char attributes[NODE_TEXT]; /* as make-model has them */
	uint32_t scope, stream; /* scope 0: none */
	bool goes_on; /* it continues the pattern of the node before it */
	bool removed; /* its outputs are inputs of the graph */
};

/* Several graphs, which share nothing but the file and the operator set: a link costs more than a graph. */
struct graph {
	uint64_t seed;
	bool is_scattered; /* each node has a scope of its own, so nothing may be put together */
	uint32_t opset, part_count;
	uint32_t node_count, value_count;
	struct graph_node nodes[GRAPH_NODES];
	struct graph_value values[GRAPH_VALUES];
};

/* The same graph for the same seed. Nodes of which the bit in `removed` is set are left out, and their outputs become
 * inputs. */
struct graph *graph_create(uint64_t seed, uint64_t removed);
void graph_free(struct graph *graph);

/* The lines for make-model, with all values as outputs; with those that are meant to be; or with these and all that are
 * not inner values of a pattern. */
enum graph_outputs { GRAPH_ALL, GRAPH_SOME, GRAPH_OUTER };
bool graph_has(const struct graph *graph, uint32_t index, enum graph_outputs outputs);
void graph_write(const struct graph *graph, FILE *file, enum graph_outputs outputs);

/* Elements as the bytes of their type, and back. Floats are rounded to the nearest number, ties to even. */
void graph_encode(enum sk_dtype dtype, const number *elements, int64_t count, void *bytes);
void graph_decode(enum sk_dtype dtype, const void *bytes, int64_t count, number *elements);

/* A unit of the last place of a number of that size. */
number graph_unit(enum sk_dtype dtype, number x);

/* Compute the expected elements of output `output` of the node from the elements of its inputs, and how far each result
 * may be from them (infinity: anything is accepted). Return false if the operator's result is not defined. */
bool graph_reference(const struct graph *graph, const struct graph_node *node, uint32_t output, number *expected,
		     number *room);
/* Return how much farther element `i` may be from it if rules of expansion compute the node. */
number graph_expansion_room(const struct graph *graph, const struct graph_node *node, int64_t i);
/* Add the effects of the inputs' errors to the output's. */
void graph_spread(const struct graph *graph, const struct graph_node *node, uint32_t output, const number *expected,
		  number *room);
/* Move the inputs by at most their errors. Return an element that leaves its room by that; -1: none does. The rounding
 * of references may use 2^-8 of a room. */
int64_t graph_outside(const struct graph *graph, const struct graph_node *node, uint32_t output, const number *expected,
		      const number *room);
/* Return whether the element that was found is the expected one. */
bool graph_is_near(enum sk_dtype dtype, number found, number expected, number room);

#endif
