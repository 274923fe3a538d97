/* Composites: nodes that graph-kernel fusion has put together, each with its name, and the passes that make them.
 * Passes say of each node which group it is in; the composites of the graph follow from that. */
#ifndef SK_COMPOSITES_H
#define SK_COMPOSITES_H

#include <stdint.h>

#include "graph/manager/manager.h"

struct sk_op_graph;

/* Stage "cluster". Wraps sums, differences and products that hang together, two at least: "Mul_Add_fusion". */
enum sk_pass_result sk_pass_fuse_basic(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Stage "cluster". Whatever the list of the target has and hangs together becomes one composite, other composites
 * included; what hangs together with nothing is one by itself. */
enum sk_pass_result sk_pass_graph_kernel_cluster(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Stage "split". Cuts composites into those that are computed in one loop: "Mul_Add_split". */
enum sk_pass_result sk_pass_graph_kernel_splitter(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* By node the number of its group, below the number of nodes, or SK_NONE. Each group is a composite then: the one that
 * it was, if it has the same members, or a new one, named after its operators and the ending. */
enum sk_pass_result sk_composites_assign(struct sk_op_graph *graph, const uint32_t *groups, const char *ending);

#endif
