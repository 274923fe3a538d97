/* The schemas of operators, with a file for each family, and the reasons for operators that are absent. */
#ifndef SK_GRAPH_OPERATORS_OPERATORS_H
#define SK_GRAPH_OPERATORS_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"
#include "graph/graph.h"

/* ==== absent.c ====
 *
 * Known operators that sklink does not have. */

/* Return a sentence about the reason for the absence, and a remedy; NULL: the operator is not known either. */
const char *sk_operator_absence(const char *domain, const char *op);

/* ==== schema.c ====
 *
 * The schema of each operator. One table refers to all of them; families of operators have files of their own in
 * graph/operators/. */

enum {
	SK_VARIADIC = 255,
	SK_NEWEST = 28, /* the operator set of ONNX of nodes that passes make */
};

struct sk_schema {
	const char *op; /* "": any operator of the domain */
	const char *domain; /* "" is ai.onnx */
	uint8_t min_inputs, max_inputs; /* SK_VARIADIC: any number */
	uint8_t min_outputs, max_outputs;
	uint32_t
		demands; /* bit i: the shapes of the outputs depend on the elements of input i, not just on its shape */
	bool sequences; /* inputs may be sequences of tensors */
	const struct sk_schema_attribute *attributes; /* ends with one without a name; NULL: none */
	/* Upgrade a node of an older operator set to the newest one; NULL: the operator never changed. Constants that
	 * replace attributes are added to the graph. An upgraded node is left unchanged, since dumps have such nodes.
	 * False after an error. */
	bool (*upgrade)(struct sk_op_graph *graph, struct sk_graph_node *node);
	/* Nodes of older operator sets may have a meaning that newer nodes cannot express, and then keep their version;
	 * 0: none do. Rules apply to the newest form, and skip these. */
	uint32_t means_since;
	/* In place of the two below: as soon as the demanded inputs are constants, append nodes that replace this one.
	 * False after an error. */
	bool (*expand)(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes);
	/* True if that applies to the node; NULL: to all nodes. */
	bool (*expands)(const struct sk_op_graph *graph, const struct sk_graph_node *node);
	/* Set type and shape of the outputs. Inputs are static, and demanded ones are constants. */
	bool (*infer)(struct sk_inference *inference);
	/* Add the calls that compute the outputs. */
	bool (*canonical)(struct sk_canonical *canonical);
};

/* Return the schema; NULL: unknown operator. */
const struct sk_schema *sk_schema_find(const char *domain, const char *op);

/* Return the schema of that number, counted from 0; NULL after the last one. */
const struct sk_schema *sk_schema_at(size_t number);

/* True if each node draws random numbers of its own. False for NULL. */
bool sk_schema_is_random(const struct sk_schema *schema);

/* Turn attributes of a node of GE into notes if the operator does not have them: GE gives its nodes many attributes,
 * for its own passes. Other nodes are unchanged. */
void sk_schema_note(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema);

/* Check the numbers of inputs and outputs, and the attributes with their kinds. `given` is the number of inputs in the
 * file: an upgrade may have added inputs for attributes. False after errors at the node. */
bool sk_schema_check(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_schema *schema,
		     size_t given);

/* ==== symbolic-sizes.c ====
 *
 * Sizes that depend on dimensions with bounds (sk_value.sizes): those of a node's outputs as expressions of those of
 * its inputs. Numbers have been inferred before, at the largest sizes. Small integers that depend on constants alone
 * are expressions without dimensions. */

/* Check, before a node is inferred or expanded, that no choice of it depends on dimensions with bounds. False after an
 * error. */
bool sk_symbolic_check(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema);

/* Return the elements of a value by its terms, at the sizes of the graph's shapes; NULL: not each is an expression, or
 * they are of half precision. */
const void *sk_symbolic_contents(const struct sk_op_graph *graph, const struct sk_value *value);

/* Set sizes and terms of the outputs. Each result is compared with inference from numbers, at the largest, at the least
 * and at other sizes. False after an error. */
bool sk_symbolic_infer(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema);

/* Make the value a constant if its elements are known to be small integers, or if there are none; return whether it is
 * one then. Its shape is known. */
bool sk_symbolic_constant(struct sk_op_graph *graph, uint32_t value);

/* Replace the error of numbers that cannot be inferred at the largest sizes, which came after `before`, by an error
 * about sizes, if sizes are the reason. True if no size is the reason after all. */
bool sk_symbolic_explain(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema,
			 const struct sk_diag *before);

/* ==== symbolic-calls.c ====
 *
 * Values with sizes as elements, as tensors. */

/* True if all outputs that are no constants are lists of numbers that a call can get from slots: a call of the node
 * needs no inputs. */
bool sk_symbolic_lists(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* Add the calls that write these numbers (Sizes). */
void sk_symbolic_list(struct sk_canonical *canonical);

/* ==== size-lists.c ====
 *
 * The operator Sizes: a list of expressions of dimensions with bounds. */

/* Make the producer of the value a list of its elements. False: it is one already, or has several outputs; or the value
 * is no list of 64-bit integers that depend on dimensions with bounds. */
bool sk_size_list_make(struct sk_op_graph *graph, uint32_t value);

/* ==== families ====
 *
 * The families of operators. Each table ends with a schema without an op. */

extern const struct sk_schema sk_operators_attention[];
extern const struct sk_schema sk_operators_attention_forms[];
extern const struct sk_schema sk_operators_axes[];
extern const struct sk_schema sk_operators_bodies[];
extern const struct sk_schema sk_operators_classical[];
extern const struct sk_schema sk_operators_classical_svm[];
extern const struct sk_schema sk_operators_classical_tables[];
extern const struct sk_schema sk_operators_classical_trees[];
extern const struct sk_schema sk_operators_forest[];
extern const struct sk_schema sk_operators_collectives[];
extern const struct sk_schema sk_operators_columns[];
extern const struct sk_schema sk_operators_composites[];
extern const struct sk_schema sk_operators_einsum[];
extern const struct sk_schema sk_operators_elementwise[];
extern const struct sk_schema sk_operators_formats[];
extern const struct sk_schema sk_operators_fourier[];
extern const struct sk_schema sk_operators_fused_normal[];
extern const struct sk_schema sk_operators_fused_products[];
extern const struct sk_schema sk_operators_gradients[];
extern const struct sk_schema sk_operators_indexing[];
extern const struct sk_schema sk_operators_kernels[]; /* of any name */
extern const struct sk_schema sk_operators_linear_attention[];
extern const struct sk_schema sk_operators_losses[];
extern const struct sk_schema sk_operators_microsoft[];
extern const struct sk_schema sk_operators_microsoft_attention[];
extern const struct sk_schema sk_operators_microsoft_layers[];
extern const struct sk_schema sk_operators_microsoft_products[];
extern const struct sk_schema sk_operators_microsoft_quantised[];
extern const struct sk_schema sk_operators_moves[];
extern const struct sk_schema sk_operators_normal[];
extern const struct sk_schema sk_operators_optimisers[];
extern const struct sk_schema sk_operators_pads[];
extern const struct sk_schema sk_operators_primitives[];
extern const struct sk_schema sk_operators_products[];
extern const struct sk_schema sk_operators_quantised[];
extern const struct sk_schema sk_operators_quantised_gates[];
extern const struct sk_schema sk_operators_quantised_products[];
extern const struct sk_schema sk_operators_random[];
extern const struct sk_schema sk_operators_recurrent[];
extern const struct sk_schema sk_operators_resize[];
extern const struct sk_schema sk_operators_sampling[];
extern const struct sk_schema sk_operators_sequences[];
extern const struct sk_schema sk_operators_shapes[];
extern const struct sk_schema sk_operators_signals[];
extern const struct sk_schema sk_operators_size_lists[];
extern const struct sk_schema sk_operators_training[];
extern const struct sk_schema sk_operators_transposed[];
extern const struct sk_schema sk_operators_windows[];

/* Reduce one value to another: bit i of the set says that axis i is reduced. */
bool sk_canonical_reduce(struct sk_canonical *canonical, const char *op, uint32_t from, uint32_t to, uint32_t set);

/* Broadcast a value to the shape of the other one. */
bool sk_canonical_expand(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* Copy the first `sizes` elements along each axis of `from`, and fill the rest of `to` with zeros. */
bool sk_canonical_pad(struct sk_canonical *canonical, uint32_t to, uint32_t from, const uint64_t *sizes);

/* Pack a factor [k, n], or [n, k] if it is turned, by PackMatMulB: panels [(n + 15) / 16, k, 16] (f64: of 8) in the
 * order in which products read them. */
uint32_t sk_canonical_pack(struct sk_canonical *canonical, uint32_t b, uint64_t k, uint64_t n, bool turned);

/* to = a b, for `count` consecutive matrices [m, k] and [k, n]. */
void sk_canonical_product(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint32_t to, uint64_t batches,
			  uint64_t m, uint64_t k, uint64_t n);

/* The columns of a product, divided among its outputs. */
struct sk_column_pieces {
	size_t count;
	uint64_t sizes[3];
	int64_t activated; /* the index of the only piece that is activated; -1: all */
};

/* Read the attributes `sizes` and `activated` of a product with n columns; false after an error. */
bool sk_infer_pieces(const struct sk_inference *inference, uint64_t n, struct sk_column_pieces *pieces);

/* Return some columns of a factor [k, n], or rows of [n, k] if it is turned: itself, or a copy. */
uint32_t sk_canonical_columns(struct sk_canonical *canonical, uint32_t factor, bool turned, uint64_t first,
			      uint64_t count);

/* Products of matrices of bytes. `shape` is the shape of the batches, which factors may be broadcast to. */
struct sk_integer_product {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t batches, m, k, n;
};

/* sums, of i32, = (a - az) (b - bz), of two factors and two zero points, which may be SK_NONE. */
bool sk_canonical_integer_product(struct sk_canonical *canonical, const struct sk_integer_product *product,
				  const uint32_t factors[2], const uint32_t zeros[2], uint32_t sums);

#endif
