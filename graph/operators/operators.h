/* The schemas of operators, a family a file, and the reasons for operators that are absent. */
#ifndef SK_GRAPH_OPERATORS_OPERATORS_H
#define SK_GRAPH_OPERATORS_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"
#include "graph/graph.h"

/* ==== absent.c ====
 *
 * Operators that sklink knows of and does not have. */

/* Why there is no such operator, and what to do: a sentence about it, or NULL: nobody knows the operator. */
const char *sk_operator_absence(const char *domain, const char *op);

/* ==== schema.c ====
 *
 * What is known of each operator: its schema. One table holds them all; families of operators have files of their own
 * in graph/operators/. */

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

/* ==== families ====
 *
 * The families of operators. Each table ends with a schema without an op. */

extern const struct sk_schema sk_operators_attention[];
extern const struct sk_schema sk_operators_axes[];
extern const struct sk_schema sk_operators_bodies[];
extern const struct sk_schema sk_operators_collectives[];
extern const struct sk_schema sk_operators_columns[];
extern const struct sk_schema sk_operators_composites[];
extern const struct sk_schema sk_operators_einsum[];
extern const struct sk_schema sk_operators_elementwise[];
extern const struct sk_schema sk_operators_fourier[];
extern const struct sk_schema sk_operators_fused_normal[];
extern const struct sk_schema sk_operators_fused_products[];
extern const struct sk_schema sk_operators_gradients[];
extern const struct sk_schema sk_operators_indexing[];
extern const struct sk_schema sk_operators_kernels[]; /* of all names */
extern const struct sk_schema sk_operators_losses[];
extern const struct sk_schema sk_operators_microsoft[];
extern const struct sk_schema sk_operators_moves[];
extern const struct sk_schema sk_operators_normal[];
extern const struct sk_schema sk_operators_optimisers[];
extern const struct sk_schema sk_operators_pads[];
extern const struct sk_schema sk_operators_primitives[];
extern const struct sk_schema sk_operators_products[];
extern const struct sk_schema sk_operators_quantised[];
extern const struct sk_schema sk_operators_quantised_products[];
extern const struct sk_schema sk_operators_random[];
extern const struct sk_schema sk_operators_recurrent[];
extern const struct sk_schema sk_operators_resize[];
extern const struct sk_schema sk_operators_sampling[];
extern const struct sk_schema sk_operators_sequences[];
extern const struct sk_schema sk_operators_shapes[];
extern const struct sk_schema sk_operators_signals[];
extern const struct sk_schema sk_operators_training[];
extern const struct sk_schema sk_operators_transposed[];
extern const struct sk_schema sk_operators_windows[];

/* One value becomes another: bit i of the set says that axis i is reduced. */
bool sk_canonical_reduce(struct sk_canonical *canonical, const char *op, uint32_t from, uint32_t to, uint32_t set);

/* One value is repeated until it has the shape of the other one. */
bool sk_canonical_expand(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* A factor [k, n], or [n, k] if it is turned, as PackMatMulB makes it: panels [(n + 15) / 16, k, 16] (f64: of 8) in the
 * order in which products read it. */
uint32_t sk_canonical_pack(struct sk_canonical *canonical, uint32_t b, uint64_t k, uint64_t n, bool turned);

/* to = a b, of so many matrices [m, k] and [k, n], one behind the other. */
void sk_canonical_product(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint32_t to, uint64_t batches,
			  uint64_t m, uint64_t k, uint64_t n);

/* Products of matrices of bytes: of so many batches, of dimensions `shape`, which factors may be broadcast to. */
struct sk_integer_product {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t batches, m, k, n;
};

/* sums, of i32, = (a - az) (b - bz), of two factors and two zero points, which may be SK_NONE. */
bool sk_canonical_integer_product(struct sk_canonical *canonical, const struct sk_integer_product *product,
				  const uint32_t factors[2], const uint32_t zeros[2], uint32_t sums);

#endif
