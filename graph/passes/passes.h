/* Passes over graphs: inference, canonical calls, constants, slices, states, names. */
#ifndef SK_GRAPH_PASSES_PASSES_H
#define SK_GRAPH_PASSES_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

struct sk_arena;
struct sk_constants;

/* ==== caches.c ====
 *
 * States that grow: a cache for the rows of both values, and the decision where rows are appended in place. */

/* Give each state with an output that has more rows than the input a cache, and mark the outputs whose rows nodes
 * append to it. Add calls that read past rows, before all others. All errors are reported; false if there was one. */
bool sk_graph_begin_caches(struct sk_op_graph *graph, sk_graph_calls *calls);

/* True if the output of the state has more rows than the input along one axis. */
bool sk_graph_could_be_cache(const struct sk_op_graph *graph, const struct sk_graph_state *state);

/* If there are caches, remove the calls with results that no other call and no output needs: those that read rows of a
 * cache, and repeat heads, in place of which Attention reads the cache. All nodes are calls. */
void sk_graph_end_caches(const struct sk_op_graph *graph, sk_graph_calls *calls);

/* ==== canonical-graph.c ====
 *
 * From nodes to canonical calls. */

/* Turn outputs that depend on constants alone into copies of those, so that a node makes each output; other nodes read
 * the constants. */
void sk_graph_keep_outputs(struct sk_op_graph *graph);

/* Turn the nodes that the wanted values depend on into calls, in the order of the nodes. All errors are reported; false
 * if there was one. */
bool sk_graph_canonical(struct sk_op_graph *graph, const uint32_t *wanted, size_t count, sk_graph_calls *calls);

/* ==== infer-graph.c ====
 *
 * Shape and type inference: from the graph's inputs to every value, node by node. */

/* Compute values that depend on constants only: afterwards each wanted one has contents. False after an error. */
typedef bool sk_fold(const void *context, struct sk_op_graph *graph, const uint32_t *wanted, size_t count);

/* Upgrade all nodes to the newest operator sets and infer the whole graph: afterwards each value that a node makes is
 * static. Where inference needs the elements of a value that depends on constants only, `fold` computes them. All
 * errors are reported; false if there was one, and then nodes with outputs that are not static are removed. */
bool sk_graph_infer(struct sk_op_graph *graph, sk_fold *fold, const void *context);

/* Report that sizes with bounds are impossible for the reason, and the sizes that the inferred outputs would have. */
void sk_graph_refuse_bounds(struct sk_op_graph *graph, const char *reason);

/* Mark the values that depend on constants only (`fixed`), as inference does. A pass may have made more of them. */
void sk_graph_mark_fixed(struct sk_op_graph *graph);

/* ==== keep-states.c ====
 *
 * States: an input of the network and the output that replaces it in the next run become one tensor, which the package
 * reads and writes. */

/* Merge the outputs that are states into their inputs. Calls that update a few rows write the input in place, if
 * nothing reads the old rows afterwards; other results are copied to the input after all calls. All errors are
 * reported; false if there was one. */
bool sk_graph_keep_states(struct sk_op_graph *graph, sk_graph_calls *calls);

/* ==== narrow-weights.c ====
 *
 * Constants of types that only files have (graph.h, narrow.c). */

/* Let products read weights of 2 and 4 bits as they are: a MatMul or Gemm of a DequantizeLinear with constants becomes
 * a MatMulNBits, if the scales are one number, one for each column, or one for each block of a column, and
 * GatherBlockQuantized reads bytes of two numbers. All other such constants become their numbers. This is the first
 * pass: only types and shapes of constants are known. */
void sk_graph_take_narrow(struct sk_op_graph *graph);

/* ==== network-names.c ====
 *
 * Names of one network in a package of several. */

/* Put the network's name and a colon before the names of the graph, its nodes, scopes and values, but not of constants,
 * which networks share. NULL: the network has no name, and nothing changes. */
void sk_graph_set_network(struct sk_op_graph *graph, const char *network);

/* ==== normalised-graph.c ====
 *
 * Normalised convolutions: facts about a channel that are known when linking are folded into the filters. */

/* Merge a BatchNormalization with constant statistics into the Conv before it, if it is the only user of that. The Conv
 * is of f32, with constant filters and bias. It gets four more inputs, scale, bias, mean and variance of the channels,
 * and the attribute epsilon. The result is the same except for rounding. */
void sk_graph_normalise(struct sk_op_graph *graph);

/* ==== quantised-graph.c ====
 *
 * Quantised products: from the form that tools write to the form that is computed. */

/* Turn a MatMul of two DequantizeLinear into one QLinearMatMul, if a QuantizeLinear is its only user and its right
 * factor is one matrix. The result is the same except for rounding. All values are static. */
void sk_graph_quantise(struct sk_op_graph *graph);

/* ==== slices.c ====
 *
 * Nodes without a task: Split and Concat with parts that are slices of one buffer. A part of a Split is a view of its
 * input if its bytes are contiguous. An input of a Concat is computed in the place that it would be copied to, if it
 * has bytes of its own that no other node wants in another place. In: the nodes that may have slices
 * (sk_graph_node.slices), and calls with constants folded. Out: fewer copies, values that are views, and the marks of
 * nodes without a task. */

/* Place slices. True if some node has no task. */
bool sk_graph_place_slices(struct sk_op_graph *graph, sk_graph_calls *calls);

/* ==== unify-constants.c ====
 *
 * Equal constants become one. This runs after folding, so that equal packed constants are found as well. */

/* Make each constant that the calls read a view of the first one with the same bytes. */
void sk_graph_unify_constants(struct sk_op_graph *graph, const sk_graph_calls *calls);

/* Create an empty set of constants of several graphs, by their bytes. */
struct sk_constants *sk_constants_create(struct sk_arena *arena);

/* Return the constants of the set with a number below the limit, to which none can be added. */
struct sk_constants *sk_constants_before(const struct sk_constants *constants, struct sk_arena *arena, uint32_t limit);

/* Add a constant. Return the number of the first one of the same type and bytes, which is `number` if there is none. A
 * constant without bytes equals no other. */
uint32_t sk_constants_add(struct sk_constants *constants, const struct sk_value *value, uint32_t number);

#endif
