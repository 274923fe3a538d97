/* Dumps under the names, and for the variables, of CANN's graph engine: ge_onnx_00000000_graph_0_PreRunBegin.pbtxt. In:
 * the graph, at each of GE's stages. Out: files for DUMP_GE_GRAPH. */
#ifndef SK_GE_DUMPS_H
#define SK_GE_DUMPS_H

#include "graph/onnx/onnx.h"

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
