/* Composites: named sets of nodes that graph-kernel fusion combines, and the passes that make them. A pass assigns each
 * node to a group; the composites of the graph follow from the groups. */
#ifndef SK_COMPOSITES_H
#define SK_COMPOSITES_H

#include <stdint.h>

#include "graph/manager/manager.h"

struct sk_op_graph;

/* Stage "cluster". Combine at least two connected sums, differences or products: "Mul_Add_fusion". */
enum sk_pass_result sk_pass_fuse_basic(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Stage "cluster". Combine connected operators of the target's list, including existing composites. An operator of the
 * list that is connected to no other becomes a composite of its own. */
enum sk_pass_result sk_pass_graph_kernel_cluster(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Stage "split". Cut composites into pieces of one loop each: "Mul_Add_split". */
enum sk_pass_result sk_pass_graph_kernel_splitter(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Make each group a composite. `groups` has by node the number of its group, below the number of nodes, or SK_NONE. A
 * group with the members of a former composite keeps it; a new one is named after its operators, with the given
 * ending. */
enum sk_pass_result sk_composites_assign(struct sk_op_graph *graph, const uint32_t *groups, const char *ending);

#endif
