/* The texts of the flag dump_as_text: which nodes have become a composite, and into what composites have been cut.
 * Their layout is that of MindSpore's graph_kernel_cluster_<pid>.txt and graph_kernel_split_mode.<pid>.txt. */
#ifndef SK_DUMP_CLUSTERS_H
#define SK_DUMP_CLUSTERS_H

#include "base/file.h"
#include "graph/graph.h"

/* A file that grows. */
struct sk_cluster_text {
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size;
};

struct sk_cluster_texts {
	struct sk_cluster_text clusters, splits;
	/* As the last pass has left it: */
	SK_ARRAY(uint32_t) before; /* by value: the composite plus 1 of the node that makes it */
	sk_texts names; /* of the composites */
};

/* Nothing has been put together yet but what the graph has. */
void sk_cluster_texts_begin(struct sk_cluster_texts *texts, const struct sk_op_graph *graph);

/* Adds what a pass has put together, or what it has cut, if it is one that cuts. */
void sk_cluster_texts_add(struct sk_cluster_texts *texts, const struct sk_op_graph *graph, bool cuts);

#endif
