/* Shared by the files of this room: nodes that expand to others, bodies that are inlined, windows. */
#ifndef SK_GRAPH_OPERATORS_OPERATORS_PARTS_H
#define SK_GRAPH_OPERATORS_OPERATORS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"
#include "graph/graph.h"

/* ==== expansion.c ====
 *
 * What the schema of a node that others take the place of (`expand`) makes these of. */

/* What nodes that are expanded may become, in values and nodes (sk_op_graph's `copied`), so that a small file makes no
 * endless graph. */
enum { SK_MOST_COPIED = 1 << 20 };

struct sk_expansion {
	struct sk_op_graph *graph;
	const struct sk_graph_node *node; /* which others take the place of … */
	sk_graph_nodes *nodes; /* … these */
};

/* An error at the node; returns false. */
bool sk_expansion_refuse(const struct sk_expansion *expansion, const char *why);

/* One of these, with that input and that output. The pointer is valid until the next one is made. */
struct sk_graph_node *sk_expansion_node(const struct sk_expansion *expansion, const char *op, uint32_t input,
					uint32_t output);

/* A value that one of these makes, of which nothing is known yet. */
uint32_t sk_expansion_value(const struct sk_expansion *expansion);

/* What that op makes of two values. */
uint32_t sk_expansion_binary(const struct sk_expansion *expansion, const char *op, uint32_t a, uint32_t b);

/* The output is the tensors, of which there is at least one, along an axis; one that is made for them, if they are
 * stacked. */
void sk_expansion_concat(const struct sk_expansion *expansion, const sk_graph_sequence *tensors, int64_t axis,
			 bool stacked, uint32_t output);

/* ==== inlining.c ====
 *
 * Bodies of If, Loop, Scan and SequenceMap become nodes of the graph around them: copies of their nodes, with names of
 * their own, and of their values; what they take from the graph around them is found there by its name. */

/* The body with these values as its inputs, in front of whose names stands the prefix; its outputs are values of the
 * graph then. NULL after an error. */
const uint32_t *sk_inline_body(const struct sk_expansion *expansion, const struct sk_op_graph *body, const char *prefix,
			       const uint32_t *inputs);

/* ==== window.c ====
 *
 * Windows that go over the spatial dimensions of an input [n, c, ...]: what convolutions and pools have in common,
 * whatever they make of what a window sees. */

enum { SK_WINDOW_MAX_SPATIAL = 3 };

/* One item for each spatial dimension. */
struct sk_windows {
	uint32_t spatial;
	int64_t size[SK_WINDOW_MAX_SPATIAL], strides[SK_WINDOW_MAX_SPATIAL], dilations[SK_WINDOW_MAX_SPATIAL];
	int64_t begin[SK_WINDOW_MAX_SPATIAL], end[SK_WINDOW_MAX_SPATIAL]; /* pads */
	int64_t in[SK_WINDOW_MAX_SPATIAL], out[SK_WINDOW_MAX_SPATIAL];
};

/* A list attribute of so many items, `least` or more each; all of them `otherwise` if the node does not have it. False
 * after an error, as all of these. */
bool sk_window_list(const struct sk_inference *inference, const char *name, uint32_t count, int64_t least,
		    int64_t otherwise, int64_t *items);

/* Everything but the size of the window, which is known, and the output. */
bool sk_window_read(const struct sk_inference *inference, const struct sk_value *from, struct sk_windows *window);

/* How often it fits. */
bool sk_window_output(const struct sk_inference *inference, struct sk_windows *window);

/* The size of the window, which is that of the filters, and of kernel_shape where that is given. */
bool sk_window_filters(const struct sk_inference *inference, const struct sk_value *w, struct sk_windows *window);

/* All that a convolution of x with filters w says, bias may be NULL. */
bool sk_window_convolution(const struct sk_inference *inference, const struct sk_value *x, const struct sk_value *w,
			   const struct sk_value *bias, struct sk_windows *window, int64_t *group);

/* An output of n times c planes as large as the window's. */
bool sk_window_infer(const struct sk_inference *inference, size_t output, enum sk_dtype dtype, uint64_t n, uint64_t c,
		     const struct sk_windows *window);

/* How many spatial dimensions calls have: kernels have two or three, and a single one is the second one of two. */
uint32_t sk_window_spatial(const struct sk_windows *window);

/* Items for as many, the one in front of a single one is `first`. */
void sk_window_widen(const struct sk_windows *window, const int64_t *items, int64_t first, int64_t *widened);

/* Adds spatial, strides, dilations and pads. */
void sk_call_window(const struct sk_canonical *canonical, struct sk_graph_call *call, const struct sk_windows *window);

/* A value [a, b, ...] with as many spatial dimensions as calls have. */
struct sk_operand sk_operand_spatial(const struct sk_op_graph *graph, uint32_t value);

/* The node's auto_pad: NOTSET if it has none, or an empty one, as older exporters write. */
const char *sk_window_auto_pad(const struct sk_graph_node *node);

#endif
