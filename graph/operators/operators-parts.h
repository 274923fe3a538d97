/* Shared by the files of this room: nodes that expand to others, inlined bodies, windows. */
#ifndef SK_GRAPH_OPERATORS_OPERATORS_PARTS_H
#define SK_GRAPH_OPERATORS_OPERATORS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"
#include "graph/graph.h"

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
bool sk_expansion_refuse(const struct sk_expansion *expansion, const char *reason);

/* Append a node with that input and output. The pointer is valid until the next one is added. */
struct sk_graph_node *sk_expansion_node(const struct sk_expansion *expansion, const char *op, uint32_t input,
					uint32_t output);

/* Add an output of a new node, without type and shape. */
uint32_t sk_expansion_value(const struct sk_expansion *expansion);

/* Append a node of the op with two inputs; return its output. */
uint32_t sk_expansion_binary(const struct sk_expansion *expansion, const char *op, uint32_t a, uint32_t b);

/* Concatenate the tensors, at least one, to the output along an axis; if they are stacked, along a new axis. */
void sk_expansion_concat(const struct sk_expansion *expansion, const sk_graph_sequence *tensors, int64_t axis,
			 bool stacked, uint32_t output);

/* ==== inlining.c ====
 *
 * Inlining: bodies of If, Loop, Scan and SequenceMap become nodes of the enclosing graph, as copies of their nodes and
 * values under new names. Captured values are found by name. */

/* Inline the body with these values as its inputs; the prefix is added to its names. Return its outputs, as values of
 * the graph. NULL after an error. */
const uint32_t *sk_inline_body(const struct sk_expansion *expansion, const struct sk_op_graph *body, const char *prefix,
			       const uint32_t *inputs);

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
