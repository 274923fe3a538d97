/* Passes over graphs: inference, canonical calls, constants, slices, states, names. */
#ifndef SK_GRAPH_PASSES_PASSES_H
#define SK_GRAPH_PASSES_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

struct sk_arena;
struct sk_constants;

/* ==== canonical-graph.c ====
 *
 * From nodes to canonical calls. */

/* Outputs that are constants, or depend on constants alone, become copies of these, so that each output is something
 * that a node makes; other nodes read the constants. */
void sk_graph_keep_outputs(struct sk_op_graph *graph);

/* Turns what the wanted values depend on into calls, in the order of the nodes. All errors are collected; false if
 * there was one. */
bool sk_graph_canonical(struct sk_op_graph *graph, const uint32_t *wanted, size_t count, sk_graph_calls *calls);

/* ==== infer-graph.c ====
 *
 * Shape and type inference: from the graph's inputs to every value, node by node. */

/* Computes values that depend on constants only: afterwards each wanted one has contents. False after an error. */
typedef bool sk_fold(const void *context, struct sk_op_graph *graph, const uint32_t *wanted, size_t count);

/* Brings all nodes to the newest operator sets and infers the whole graph: afterwards each value that a node makes is
 * static. Where inference demands values that depend on constants only, `fold` computes them. All errors are collected;
 * false if there was one: then the nodes whose outputs are not static are removed. */
bool sk_graph_infer(struct sk_op_graph *graph, sk_fold *fold, const void *context);

/* Marks the values that depend on constants only (`fixed`), as inference does: a pass may have made more of them. */
void sk_graph_mark_fixed(struct sk_op_graph *graph);

/* ==== keep-states.c ====
 *
 * States: an input of the network and the output that takes its place in the next run become one tensor, which the
 * package reads and writes. */

/* Comes in: the graph with its states, and the calls of its nodes. Goes out: outputs that are states are gone, and what
 * made them writes the input's bytes: calls that update a few rows do it in place, where nobody needs the old rows
 * afterwards; others get a copy behind them. All errors are collected; false if there was one. */
bool sk_graph_keep_states(struct sk_op_graph *graph, sk_graph_calls *calls);

/* ==== network-names.c ====
 *
 * Names of what is one network's alone, where a package has several. */

/* Puts the network's name and a colon in front of the names of the graph, and of its nodes, their scopes and values,
 * but not of constants, which networks share. NULL: it has no name, and nothing changes. */
void sk_graph_set_network(struct sk_op_graph *graph, const char *network);

/* ==== normalised-graph.c ====
 *
 * Normalised convolutions: what is known of a channel when linking goes into the filters. */

/* Conv of f32 with constant filters and bias, of which a BatchNormalization with constant statistics alone takes the
 * result, becomes one Conv with seven inputs, scale, bias, mean and variance of the channels behind its own, and the
 * attribute epsilon. It is the same but for rounding. */
void sk_graph_normalise(struct sk_op_graph *graph);

/* ==== quantised-graph.c ====
 *
 * Quantised products: how tools write them, and how they are computed. */

/* MatMul of what two DequantizeLinear make, of which a QuantizeLinear alone takes the result, becomes one
 * QLinearMatMul, which is the same but for rounding, if the right one is one matrix. All values are static. */
void sk_graph_quantise(struct sk_op_graph *graph);

/* ==== slices.c ====
 *
 * Nodes without a task: Split and Concat whose parts are slices of one buffer. A part of a Split is its input's bytes,
 * wherever they are one run of them, and stays so. What a Concat would copy is computed where the copy would be, if it
 * has bytes of its own that nobody else wants to have in another place. In: nodes that may (sk_graph_node.slices), and
 * calls, with constants folded. Out: fewer copies, values that are views, and which nodes have no task. */

/* True if some node has no task. */
bool sk_graph_place_slices(struct sk_op_graph *graph, sk_graph_calls *calls);

/* ==== unify-constants.c ====
 *
 * Equal constants become one. Behind folding, so that what has been packed twice counts, too. */

/* Of constants of the same bytes that the calls read only the first one keeps its own; others become views of it. */
void sk_graph_unify_constants(struct sk_op_graph *graph, const sk_graph_calls *calls);

/* Constants of several graphs, by their bytes. */
struct sk_constants *sk_constants_create(struct sk_arena *arena);

/* The number of the first constant that was added with the same type and bytes: this one, if there is none. One without
 * bytes is like no other. */
uint32_t sk_constants_add(struct sk_constants *constants, const struct sk_value *value, uint32_t number);

#endif
