/* Dumps of graph-kernel fusion: what becomes of a graph, pass by pass, as files. In: the graph, after each pass. Out:
 * files of --dump-dir, of the flag dump_as_text, and of GE's variables. */
#ifndef SK_DUMPS_H
#define SK_DUMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/onnx/onnx.h"

struct sk_arena;
struct sk_diag;
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
bool sk_dumps_transformed(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* To be called once nodes are calls: writes the texts. False after an error. */
bool sk_dumps_end(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* Where values of the graph lie is known: writes the last dump, and the constants of all, and removes what an earlier
 * link has left of dumps that this one has not. False after an error. */
bool sk_dumps_placed(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* ==== ge-dumps.c ====
 *
 * Dumps under the names, and for the variables, of CANN's graph engine: ge_onnx_00000000_graph_0_PreRunBegin.pbtxt. In:
 * the graph, at each of GE's stages. Out: files for DUMP_GE_GRAPH. */

/* What somebody wants of all graphs of a link. */
struct sk_ge_request {
	enum sk_dump_extent extent; /* DUMP_GE_GRAPH */
	const char *level; /* DUMP_GRAPH_LEVEL, "2" if it is not set */
	const char *folder; /* DUMP_GRAPH_PATH, or another one; NULL: nobody wants any */
	bool onnx, readable; /* DUMP_GRAPH_FORMAT: which forms; without it the first one */
	uint32_t files, graphs; /* so far: the numbers in names of files */
};

/* GE's variables; NULL: one is not set. */
struct sk_ge_variables {
	const char *extent, *level, *path, *format;
};

/* Reads the variables. `folder` is where dumps are without DUMP_GRAPH_PATH. False after an error. */
bool sk_ge_request_read(struct sk_diag *diag, const struct sk_ge_variables *variables, const char *folder,
			struct sk_ge_request *request);

/* Whether a file of that path could be replaced by such a dump. */
bool sk_ge_request_replaces(struct sk_arena *arena, const struct sk_ge_request *request, const char *path);

enum sk_ge_stage {
	SK_GE_BEGIN, /* PreRunBegin: types and shapes are known */
	SK_GE_FUSED, /* PreRunAfterOptimize2: behind all passes but the one that leaves nodes without a task */
	SK_GE_END, /* PreRunAfterOptimizeGraphBeforeBuild: behind that */
	SK_GE_PASS, /* behind a pass, which has a name */
};

struct sk_ge_dumps;

/* Of the next graph. */
struct sk_ge_dumps *sk_ge_dumps_begin(struct sk_arena *arena, struct sk_ge_request *request);

/* Writes the file, if it is wanted. `pass` is the full name of SK_GE_PASS. False after an error. */
bool sk_ge_dumps_add(struct sk_ge_dumps *dumps, const struct sk_op_graph *graph, enum sk_ge_stage stage,
		     const char *pass);

/* Writes the constants, and warns of names that no dump has. False after an error. */
bool sk_ge_dumps_end(struct sk_ge_dumps *dumps, struct sk_diag *diag);

#endif
