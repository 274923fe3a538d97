/* Dumps of graph-kernel fusion: the graph after each pass, as files of --dump-dir, of the flag dump_as_text, and of
 * GE's environment variables. */
#ifndef SK_DUMPS_H
#define SK_DUMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/onnx/onnx.h"

struct sk_arena;
struct sk_diag;
struct sk_ge_request;
struct sk_op_graph;

/* Folders of dumps; NULL: not requested. Missing folders are made. */
struct sk_dump_folders {
	const char *dumps; /* --dump-dir */
	const char *texts; /* the flag dump_as_text */
	struct sk_ge_request *ge; /* GE's environment variables */
};

struct sk_dumps;

/* Begin the dumps of the graph, and write the first one: 6_validate.dot, .ir and .pbtxt. NULL after an error. */
struct sk_dumps *sk_dumps_begin(const struct sk_op_graph *graph, struct sk_dump_folders folders);

/* To be called after each pass that has run, with its full name ("stage1_cluster_3_graph_kernel_cluster") and its plain
 * name. Dump the graph if the pass changed it, and in any case at the end of a stage of MindSpore's two-stage fusion.
 * False after an error. */
bool sk_dumps_after(struct sk_dumps *dumps, const struct sk_op_graph *graph, const char *full, const char *pass,
		    bool changed);

/* To be called after the passes that look for patterns. False after an error. */
bool sk_dumps_patterns(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* To be called after the last pass. False after an error. */
bool sk_dumps_transformed(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* To be called once nodes are calls. Write the texts. False after an error. */
bool sk_dumps_end(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* To be called once the places of values in memory are known. Write the last dump and the constants of all dumps, and
 * remove dumps of an earlier link that this one has not replaced. False after an error. */
bool sk_dumps_placed(struct sk_dumps *dumps, const struct sk_op_graph *graph);

/* ==== ge-dumps.c ====
 *
 * Dumps under the names, and for the environment variables, of CANN's graph engine:
 * ge_onnx_00000000_graph_0_PreRunBegin.pbtxt. */

/* The dumps requested for all graphs of a link. */
struct sk_ge_request {
	enum sk_dump_extent extent; /* DUMP_GE_GRAPH */
	const char *level; /* DUMP_GRAPH_LEVEL, "2" if it is not set */
	const char *folder; /* DUMP_GRAPH_PATH, or the default folder; NULL: no dumps */
	bool onnx, readable; /* DUMP_GRAPH_FORMAT: the forms; the first one by default */
	uint32_t files, graphs; /* numbers used in file names so far */
};

/* GE's environment variables; NULL: not set. */
struct sk_ge_variables {
	const char *extent, *level, *path, *format;
};

/* Read the variables. `folder` is the default of DUMP_GRAPH_PATH. False after an error. */
bool sk_ge_request_read(struct sk_diag *diag, const struct sk_ge_variables *variables, const char *folder,
			struct sk_ge_request *request);

/* True if such a dump could replace a file of that path. */
bool sk_ge_request_replaces(struct sk_arena *arena, const struct sk_ge_request *request, const char *path);

enum sk_ge_stage {
	SK_GE_BEGIN, /* PreRunBegin: types and shapes are known */
	SK_GE_FUSED, /* PreRunAfterOptimize2: after all passes except the one that leaves nodes without a task */
	SK_GE_END, /* PreRunAfterOptimizeGraphBeforeBuild: after that one */
	SK_GE_PASS, /* after a named pass */
};

struct sk_ge_dumps;

/* Begin the dumps of the next graph. */
struct sk_ge_dumps *sk_ge_dumps_begin(struct sk_arena *arena, struct sk_ge_request *request);

/* Write the file, if it is requested. `pass` is the full name for SK_GE_PASS. False after an error. */
bool sk_ge_dumps_add(struct sk_ge_dumps *dumps, const struct sk_op_graph *graph, enum sk_ge_stage stage,
		     const char *pass);

/* Write the constants, and warn about requested names that no dump has. False after an error. */
bool sk_ge_dumps_end(struct sk_ge_dumps *dumps, struct sk_diag *diag);

#endif
