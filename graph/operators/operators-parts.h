/* Shared by the files of this room: nodes that expand to others, models of ai.onnx.ml, inlined bodies, windows. */
#ifndef SK_GRAPH_OPERATORS_OPERATORS_PARTS_H
#define SK_GRAPH_OPERATORS_OPERATORS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "graph/graph.h"

struct sk_schema;
struct sk_size;
struct sk_sizes;

/* ==== expansion.c ====
 *
 * Building blocks for `expand` of a schema, which replaces a node by others. */

/* The most values and nodes that expansions may add (`copied` of sk_op_graph), so that a small file cannot make a huge
 * graph. */
enum { SK_MOST_COPIED = 1 << 20 };

struct sk_expansion {
	struct sk_op_graph *graph;
	const struct sk_graph_node *node; /* to be replaced … */
	sk_graph_nodes *nodes; /* … by these */
};

/* Report an error at the node; return false. */
bool sk_expansion_refuse(const struct sk_expansion *expansion, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return a value; NULL for SK_NONE. The pointer is valid until a value is added. */
const struct sk_value *sk_expansion_read(const struct sk_expansion *expansion, uint32_t value);

/* Append a node with that input and output. The pointer is valid until the next one is added. */
struct sk_graph_node *sk_expansion_node(const struct sk_expansion *expansion, const char *op, uint32_t input,
					uint32_t output);

/* Add an output of a new node, without type and shape. */
uint32_t sk_expansion_value(const struct sk_expansion *expansion);

/* Append a node of the op with two inputs; return its output. */
uint32_t sk_expansion_binary(const struct sk_expansion *expansion, const char *op, uint32_t a, uint32_t b);

/* Append a node of the op with these inputs, at least one, of which the first is present; return its output. */
uint32_t sk_expansion_call(const struct sk_expansion *expansion, const char *op, size_t count, const uint32_t *inputs);
#define SK_EXPANSION(EXPANSION, OP, ...)                                                                               \
	sk_expansion_call(EXPANSION, OP, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
			  (uint32_t[]){__VA_ARGS__})

/* The same, with a given output. */
void sk_expansion_into(const struct sk_expansion *expansion, const char *op, size_t count, const uint32_t *inputs,
		       uint32_t output);

/* Return the node that was appended last. */
struct sk_graph_node *sk_expansion_last(const struct sk_expansion *expansion);

/* Set an attribute of the node that was appended last. */
void sk_expansion_set(const struct sk_expansion *expansion, const char *name, int64_t integer);

/* Give the node that was appended last the attribute that the replaced node has, if it has it, under the name `as`. */
void sk_expansion_keep(const struct sk_expansion *expansion, const char *name, const char *as);

/* Return an input or an output of the replaced node; SK_NONE: it is absent. */
uint32_t sk_expansion_input(const struct sk_expansion *expansion, size_t number);
uint32_t sk_expansion_output(const struct sk_expansion *expansion, size_t number);

/* Return a constant list of integers, and a constant number of the type of the value `like`, without dimensions. */
uint32_t sk_expansion_integers(const struct sk_expansion *expansion, size_t count, const int64_t *integers);
uint32_t sk_expansion_real(const struct sk_expansion *expansion, double real, uint32_t like);

/* Append a Cast. The type's number is that of files (TensorProto.DataType). */
enum sk_expansion_type { SK_EXPANSION_F32 = 1, SK_EXPANSION_I32 = 6, SK_EXPANSION_I64 = 7 };
uint32_t sk_expansion_cast(const struct sk_expansion *expansion, uint32_t value, enum sk_expansion_type type);

/* Append a Transpose in an order of axes, and one that moves the last of `rank` axes to axis 1, or axis 1 to the end.
 */
uint32_t sk_expansion_transpose(const struct sk_expansion *expansion, uint32_t value, size_t count,
				const int64_t *order);
uint32_t sk_expansion_channels(const struct sk_expansion *expansion, uint32_t value, uint32_t rank, bool to_end);

/* Return dimension d of a value as a list of one i64, and 0, 1, ... below a number, which is a list of one. */
uint32_t sk_expansion_dimension(const struct sk_expansion *expansion, uint32_t value, int64_t d);
uint32_t sk_expansion_count_to(const struct sk_expansion *expansion, uint32_t number);

/* Return the value with more axes of one element, or in another shape (as inputs of Unsqueeze and Reshape). */
uint32_t sk_expansion_unsqueeze(const struct sk_expansion *expansion, uint32_t value, size_t count,
				const int64_t *axes);
uint32_t sk_expansion_reshape(const struct sk_expansion *expansion, uint32_t value, size_t count, const int64_t *shape);

/* Return rows [batch, rows, heads * width] as [batch, heads, rows, width]. */
uint32_t sk_expansion_heads(const struct sk_expansion *expansion, uint32_t value, int64_t heads);

/* Split a value along an axis into pieces of these sizes. */
void sk_expansion_split(const struct sk_expansion *expansion, uint32_t from, int64_t axis, size_t count,
			const int64_t *sizes, uint32_t *pieces);

/* Concatenate the tensors, at least one, to the output along an axis; if they are stacked, along a new axis. */
void sk_expansion_concat(const struct sk_expansion *expansion, const sk_graph_sequence *tensors, int64_t axis,
			 bool stacked, uint32_t output);

/* ==== small-numbers.c ====
 *
 * A few integers that nodes compute from constants, without kernels. */

enum { SK_MOST_SMALL = 8 };

struct sk_small {
	enum sk_dtype dtype;
	uint32_t rank; /* 0 or 1 */
	uint64_t count;
	int64_t items[SK_MOST_SMALL];
};

struct sk_small_known {
	uint32_t node; /* the node of the expansion that makes the value; SK_NONE: none does */
	bool tried, found;
	struct sk_small numbers;
};

/* Begins with the expansion, and zeros. The nodes of the expansion may become more, and do not change. */
struct sk_small_numbers {
	const struct sk_expansion *expansion;
	size_t nodes; /* of the expansion that are noted */
	SK_ARRAY(struct sk_small_known) known; /* by value */
};

/* Find the truth value that nodes of the graph or of the expansion compute. False if it is not known so. */
bool sk_small_truth(struct sk_small_numbers *small, uint32_t value, bool *truth);

/* ==== attention-forms.c ==== */

/* Attention with windows, or with scores as an output (`expands` and `expand` of its schema). */
bool sk_attention_is_other(const struct sk_op_graph *graph, const struct sk_graph_node *node);
bool sk_attention_expand_other(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes);

/* ==== quantised-rows.c ==== */

/* MatMulInteger and QLinearMatMul with zero points or scales of rows, or scales of half precision (`expands` and
 * `expand` of their schemas). */
bool sk_quantised_is_other(const struct sk_op_graph *graph, const struct sk_graph_node *node);
bool sk_quantised_expand_other(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes);

/* ==== microsoft-quantised.c ==== */

/* MatMulNBits of 8 bits is a DequantizeLinear and a MatMul (`expands` and `expand` of its schema). */
bool sk_microsoft_is_bytes(const struct sk_op_graph *graph, const struct sk_graph_node *node);
bool sk_microsoft_expand_bytes(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes);

/* ==== classical-parts.c ====
 *
 * The common parts of the operators of ai.onnx.ml, which expand to nodes of other operators. Functions that return a
 * value add nodes that compute it; functions that return bool are false after an error. */

#define SK_CLASSICAL_DOMAIN "ai.onnx.ml"

uint32_t sk_classical_unary(const struct sk_expansion *expansion, const char *op, uint32_t value);

/* Where: the element of `yes` or `no`. */
uint32_t sk_classical_choose(const struct sk_expansion *expansion, uint32_t condition, uint32_t yes, uint32_t no);

/* Convert to f32, f64, i32, i64 or bool. */
uint32_t sk_classical_cast(const struct sk_expansion *expansion, uint32_t value, enum sk_dtype dtype);

/* Reduce along the last axis, which stays with one element. */
uint32_t sk_classical_reduce(const struct sk_expansion *expansion, const char *op, uint32_t value);

/* Return a constant of f32 or f64; the second one has no dimensions. */
uint32_t sk_classical_reals(const struct sk_expansion *expansion, enum sk_dtype dtype, uint32_t rank,
			    const uint64_t *shape, const double *reals);
uint32_t sk_classical_real(const struct sk_expansion *expansion, enum sk_dtype dtype, double real);

/* Make the value, which is f32 or f64, that output of the node, which is f32. Nothing happens if it is unused. */
void sk_classical_deliver(const struct sk_expansion *expansion, uint32_t value, enum sk_dtype dtype, size_t output);

/* An input of numbers, or the value that it has become. */
struct sk_classical_input {
	uint32_t value;
	const char *name;
	enum sk_dtype dtype; /* f32, f64, i32 or i64 */
	uint32_t rank; /* at least 1 */
	uint64_t width; /* elements along the last axis, the same at all sizes with bounds */
};

bool sk_classical_input(const struct sk_expansion *expansion, size_t number, struct sk_classical_input *input);

/* Read the first input, [N, F], or [F], which becomes [1, F]. Integers become f32. */
bool sk_classical_rows(const struct sk_expansion *expansion, struct sk_classical_input *input);

/* Return the input as floats: integers become f32. */
uint32_t sk_classical_floats(const struct sk_expansion *expansion, struct sk_classical_input *input);

/* Return an attribute that is a list of numbers; NULL and *count 0 if it is absent or empty. */
const double *sk_classical_list(const struct sk_expansion *expansion, const char *name, size_t *count);

/* The labels of a classifier's classes. */
struct sk_classical_labels {
	size_t count; /* at least 1 */
	const int64_t *integers; /* NULL: they are texts, and nothing needs them */
};

/* Read the labels, of which `integers` is the attribute of numbers. */
bool sk_classical_labels(const struct sk_expansion *expansion, const char *integers,
			 struct sk_classical_labels *labels);

/* Make the first output the label with the largest of the scores [N, labels], the first one of equal scores. Nothing
 * happens if the output is unused. */
void sk_classical_label(const struct sk_expansion *expansion, const struct sk_classical_labels *labels,
			uint32_t scores);

enum sk_classical_transform {
	SK_TRANSFORM_NONE,
	SK_TRANSFORM_SOFTMAX,
	SK_TRANSFORM_LOGISTIC,
	SK_TRANSFORM_SOFTMAX_ZERO,
	SK_TRANSFORM_PROBIT,
};

/* Read `post_transform`. */
bool sk_classical_read_transform(const struct sk_expansion *expansion, enum sk_classical_transform *transform);

/* Make the transformed scores, f32 or f64, that output of the node, which is f32. Nothing happens if it is unused. */
void sk_classical_scores(const struct sk_expansion *expansion, enum sk_classical_transform transform, uint32_t scores,
			 enum sk_dtype dtype, size_t output);

/* The same for the only output of an operator, which has the type of the scores. */
void sk_classical_typed_scores(const struct sk_expansion *expansion, enum sk_classical_transform transform,
			       uint32_t scores, enum sk_dtype dtype);

/* ==== classical-forest.c ====
 *
 * Trees as they are described, and as the operator TreeSums of the domain "sklink" reads them. */

enum sk_tree_mode {
	SK_TREE_LEQ,
	SK_TREE_LT,
	SK_TREE_GTE,
	SK_TREE_GT,
	SK_TREE_EQ,
	SK_TREE_NEQ,
	SK_TREE_MEMBER,
	SK_TREE_LEAF,
};

struct sk_tree_node {
	enum sk_tree_mode mode;
	const char *label; /* for messages: "node 3 of tree 0" */
	int64_t feature;
	double split;
	bool missing; /* a NaN goes where the test is true */
	uint32_t yes, no; /* nodes */
	const double *members; /* of MEMBER: the numbers that the feature may be */
	size_t member_count;
	uint32_t first_vote, votes; /* of a leaf */
	bool visited;
};

struct sk_forest {
	enum sk_dtype dtype; /* f32 or f64: of features, splits and weights */
	struct sk_tree_node *nodes;
	uint32_t count;
	const uint32_t *roots; /* trees are summed in this order */
	size_t trees;
	const double *weights; /* of votes: those of a leaf are consecutive */
	const int64_t *targets;
	size_t votes;
	uint64_t target_count;
	const char *aggregate; /* "sum", "min" or "max" */
};

/* Return [n, targets] for the rows x [n, f] of the forest's type. False after an error: a node is reached twice, or a
 * feature or target does not exist. Marks the nodes that are reached. */
bool sk_forest_sums(const struct sk_expansion *expansion, struct sk_forest *forest, const struct sk_classical_input *x,
		    uint32_t *sums);

/* ==== inlining.c ====
 *
 * Inlining: bodies of If, Loop, Scan and SequenceMap become nodes of the enclosing graph, as copies of their nodes and
 * values under new names. Captured values are found by name. */

/* Inline the body with these values as its inputs; the prefix is added to its names. Return its outputs, as values of
 * the graph. NULL after an error. */
const uint32_t *sk_inline_body(const struct sk_expansion *expansion, const struct sk_op_graph *body, const char *prefix,
			       const uint32_t *inputs);

/* ==== symbolic-values.c ====
 *
 * Sizes and elements of values as expressions of dimensions with bounds. */

struct sk_symbolic {
	struct sk_op_graph *graph;
	struct sk_graph_node *node;
	const struct sk_schema *schema;
	struct sk_sizes *sizes;
};

/* Elements with an expression are tracked in values of so many elements. */
enum { SK_MOST_TERMS = 64 };

/* True if a dimension of the value depends on dimensions with bounds. */
bool sk_symbolic_has_sizes(const struct sk_value *value);

/* Return the input of that number if its elements are demanded; NULL: they are not, or it is absent. */
const struct sk_value *sk_symbolic_demanded(const struct sk_symbolic *symbolic, size_t number);

/* True if all elements of a value are expressions, and its type is not of half precision. */
bool sk_symbolic_is_known(const struct sk_value *value);

/* Return a dimension as a size. */
const struct sk_size *sk_symbolic_size(const struct sk_symbolic *symbolic, const struct sk_value *value, uint32_t d);

/* Return the elements of a value as sizes, NULL for those that are not an expression; the list is NULL if nothing is
 * known of them. */
const struct sk_size *const *sk_symbolic_terms(const struct sk_symbolic *symbolic, const struct sk_value *value,
					       uint64_t *count);

/* Set dimension d of an output; false with an error if the size is NULL, or shrinks where a dimension grows. */
bool sk_symbolic_put(const struct sk_symbolic *symbolic, size_t output, uint32_t d, const struct sk_size *size);

/* ==== symbolic-trials.c ==== */

/* Return the sizes of all dimensions that the shapes of the graph have: those of the sample, or the largest; NULL if
 * there is no dimension with bounds. */
const uint64_t *sk_symbolic_present(const struct sk_op_graph *graph);

/* Compare the sizes and terms of the outputs with inference from numbers, at the largest, at the least and at other
 * sizes. False after an error. */
bool sk_symbolic_compare(const struct sk_symbolic *symbolic);

/* True if numbers can be inferred at some of many sizes: the attributes, the ranks and the counts of elements, which
 * are the same at all sizes, are then those of the operator. */
bool sk_symbolic_fits(const struct sk_symbolic *symbolic);

/* Set all dimensions of the outputs, each of which is a dimension or a demanded element of an input, the sum of two, or
 * a number. */
bool sk_symbolic_lift(const struct sk_symbolic *symbolic);

/* ==== symbolic-messages.c ==== */

/* Report an error at the node; return false. */
bool sk_symbolic_error(const struct sk_symbolic *symbolic, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True if two sizes are certainly equal. Otherwise report that they `are` "broadcast", with sizes for which they
 * differ, and with options that make them equal. */
bool sk_symbolic_equal(const struct sk_symbolic *symbolic, const char *are, const struct sk_size *a,
		       const struct sk_size *b);

/* Return the number of the dimension that the size is; SK_NONE: it is none. */
uint32_t sk_size_lone_dimension(const struct sk_sizes *sizes, const struct sk_size *size);

/* ==== symbolic-shapes.c ==== */

/* True if the operator broadcasts its inputs, and has no attributes or elements that decide on shapes. */
bool sk_symbolic_is_broadcast(const struct sk_graph_node *node);

/* Set the sizes of all outputs. Numbers have been inferred at some sizes, or the operator broadcasts. */
bool sk_symbolic_shapes(const struct sk_symbolic *symbolic);

/* ==== symbolic-elements.c ==== */

/* Return the terms of an output of at most SK_MOST_TERMS elements; NULL: none is known. */
const struct sk_size **sk_symbolic_elements(const struct sk_symbolic *symbolic, size_t output);

/* ==== window.c ====
 *
 * Windows over the spatial dimensions of an input [n, c, ...]: the common part of convolutions and pools. */

enum { SK_WINDOW_MAX_SPATIAL = 3 };

/* One item for each spatial dimension. */
struct sk_windows {
	uint32_t spatial;
	int64_t size[SK_WINDOW_MAX_SPATIAL], strides[SK_WINDOW_MAX_SPATIAL], dilations[SK_WINDOW_MAX_SPATIAL];
	int64_t begin[SK_WINDOW_MAX_SPATIAL], end[SK_WINDOW_MAX_SPATIAL]; /* pads */
	int64_t in[SK_WINDOW_MAX_SPATIAL], out[SK_WINDOW_MAX_SPATIAL];
};

/* Read a list attribute of `count` items, each at least `least`; the default of all items is `otherwise`. Like all of
 * these functions, false after an error. */
bool sk_window_list(const struct sk_inference *inference, const char *name, uint32_t count, int64_t least,
		    int64_t otherwise, int64_t *items);

/* Read all attributes except the size of the window, which must be set. The output is computed separately. */
bool sk_window_read(const struct sk_inference *inference, const struct sk_value *from, struct sk_windows *window);

/* Compute the number of positions. */
bool sk_window_output(const struct sk_inference *inference, struct sk_windows *window);

/* Set the size of the window to that of the filters, which kernel_shape must agree with. */
bool sk_window_filters(const struct sk_inference *inference, const struct sk_value *w, struct sk_windows *window);

/* Read all attributes of a convolution of x with filters w; bias may be NULL. */
bool sk_window_convolution(const struct sk_inference *inference, const struct sk_value *x, const struct sk_value *w,
			   const struct sk_value *bias, struct sk_windows *window, int64_t *group);

/* Set an output of n times c planes of the window's output size. */
bool sk_window_infer(const struct sk_inference *inference, size_t output, enum sk_dtype dtype, uint64_t n, uint64_t c,
		     const struct sk_windows *window);

/* Return the number of spatial dimensions in calls. Kernels have two or three; a single dimension becomes the second of
 * two. */
uint32_t sk_window_spatial(const struct sk_windows *window);

/* Extend a list of items accordingly; the item added before a single one is `first`. */
void sk_window_widen(const struct sk_windows *window, const int64_t *items, int64_t first, int64_t *widened);

/* Add spatial, strides, dilations and pads to the call. */
void sk_call_window(const struct sk_canonical *canonical, struct sk_graph_call *call, const struct sk_windows *window);

/* Return a value [a, b, ...] with the number of spatial dimensions in calls. */
struct sk_operand sk_operand_spatial(const struct sk_op_graph *graph, uint32_t value);

/* Return the node's auto_pad: NOTSET if it is absent, or empty, as older exporters write it. */
const char *sk_window_auto_pad(const struct sk_graph_node *node);

#endif
