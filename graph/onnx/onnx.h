/* ONNX files, as protobuf's wire format or as its text format. Comes in: a model. Goes out: the graph of operators; and
 * the other way round, as text. */
#ifndef SK_ONNX_H
#define SK_ONNX_H

#include <stdio.h>

#include "base/file.h"
#include "graph/graph.h"

/* True if the file is to be read as a model: by the ending of its name (.onnx, .pb, .pbtxt, .onnxtxt, .textproto), or,
 * whatever its name is, by how it begins. */
bool sk_onnx_is_model(const char *path);

/* Reads the file into a graph of the nodes that its outputs need. Elements of constants stay where they are in the
 * mapped file, or in the files of external data beside it, at any alignment. Calls of the model's functions are
 * replaced by their nodes, whose origin is the function. Links among the files of external data may lead out of the
 * model's folder only if `links` is true. All errors are in the sink; NULL if there was one. */
struct sk_op_graph *sk_onnx_read(struct sk_arena *arena, struct sk_diag *diag, const char *path, bool links);

/* How much of a graph a dump has. */
enum sk_dump_extent {
	SK_DUMP_FULL = 1,
	SK_DUMP_NO_WEIGHTS, /* but for what constants hold, and texts that nodes have as attributes */
	SK_DUMP_STRUCTURE, /* nodes, and what they read and make */
};

/* Constants of several texts, which stand in one file beside them: each once, wherever it is used. */
struct sk_onnx_weights {
	const char *location; /* the file's name, without a folder */
	enum sk_dump_extent extent; /* of the texts; with less than all of a graph there are no parts */
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size;
	struct sk_map places; /* address of the contents -> part */
};

/* Writes the graph as --dump-dir wants it: constants from a KiB on become parts of the weights, and nodes say besides
 * what GE's dumps say of theirs. What is read of it is the same graph, composites included. The weights' map has been
 * made ready. */
void sk_onnx_write_dump(const struct sk_op_graph *graph, struct sk_onnx_weights *weights, FILE *stream);

/* Writes the graph as text, with everything that it says. What is read of it is the same graph, but for places. */
void sk_onnx_write_text(const struct sk_op_graph *graph, FILE *stream);

#endif
