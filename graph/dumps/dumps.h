/* Dumps of graph-kernel fusion: what becomes of a graph, pass by pass, as files. In: the graph, after each pass. Out:
 * files of --dump-dir, of the flag dump_as_text, and of GE's variables. */
#ifndef SK_DUMPS_H
#define SK_DUMPS_H

#include <stdbool.h>

struct sk_ge_request;
struct sk_op_graph;

/* Where files are to be; NULL: nobody has asked for such ones. Folders are made if they are missing. */
struct sk_dump_folders {
	const char *dumps; /* --dump-dir */
	const char *texts; /* the flag dump_as_text */
	struct sk_ge_request *ge; /* GE's variables */
};

struct sk_dumps;

/* Of the graph, of which it writes the first dump: 6_validate.dot, .ir and .pbtxt. NULL after an error. */
struct sk_dumps *sk_dumps_begin(const struct sk_op_graph *graph, struct sk_dump_folders folders);

/* To be called after each pass that has run, by its full name ("stage1_cluster_3_graph_kernel_cluster") and by the name
 * of the pass alone. What the pass has changed is dumped; and where a stage of MindSpore's two-stage fusion ends, the
 * graph is, whether or not it has changed. False after an error. */
bool sk_dumps_after(struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *full, const char *pass,
		    bool changed);

/* To be called behind the passes that look for patterns. False after an error. */
bool sk_dumps_patterns(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* To be called behind the last pass. False after an error. */
bool sk_dumps_fused(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* To be called once nodes are calls: writes the texts. False after an error. */
bool sk_dumps_end(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* Where values of the graph lie is known: writes the last dump, and the constants of all, and removes what an earlier
 * link has left of dumps that this one has not. False after an error. */
bool sk_dumps_placed(struct sk_dumps *dumps, const struct sk_op_graph *graph);

#endif
