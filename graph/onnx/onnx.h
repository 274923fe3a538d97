/* ONNX files, binary or text, to the graph, and the graph to texts. */
#ifndef SK_GRAPH_ONNX_ONNX_H
#define SK_GRAPH_ONNX_ONNX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"

struct sk_arena;
struct sk_attribute;
struct sk_diag;
struct sk_graph_node;
struct sk_onnx_model;
struct sk_onnx_node;
struct sk_op_graph;

/* ==== onnx.c ====
 *
 * ONNX files, as protobuf's wire format or as its text format. Comes in: a model. Goes out: the graph of operators; and
 * the other way round, as text. */

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

/* ==== aliases.c ====
 *
 * Operators of others that are ONNX's, or sklink's own, under another name (aliases.def). */

/* Makes the node, whose operator the source ("ge", "mindspore") calls so, one of ONNX's or of the domain "sklink";
 * false, and nothing changes, if there is none that computes this. The caller says where it comes from. */
bool sk_onnx_translate_alias(struct sk_arena *arena, const char *source, const char *name, struct sk_onnx_node *node);

/* Whether what the source calls so takes each element by itself, in whatever order a tensor's elements lie. */
bool sk_onnx_alias_is_elementwise(const char *source, const char *name);

/* What a source calls an operator. */
struct sk_onnx_alias {
	const char *name; /* NULL: nothing */
	uint32_t outputs;
	const char *rules; /* as aliases.def has them */
};

/* The first name of the operator, in the source, that begins so. */
struct sk_onnx_alias sk_onnx_find_alias(struct sk_arena *arena, const char *source, const char *prefix,
					const char *domain, const char *op);

/* Does this with all nodes of a model that are in a domain of such a name, or in that of TorchAir, whose names are
 * GE's; their origin is the domain and the name. Calls of the model's own functions have been replaced before. */
void sk_onnx_translate_domains(struct sk_arena *arena, struct sk_onnx_model *model);

/* ==== marks.c ====
 *
 * What nodes of a model say to sklink, and not to whoever computes: marks, which are attributes with names of their own
 * (GE writes them so, and TorchAir asks it to). */

#define SK_ONNX_SCOPE	       "_super_kernel_scope"
#define SK_ONNX_SCOPE_OPTIONS  "_super_kernel_options"
#define SK_ONNX_STREAM	       "stream_id"
#define SK_ONNX_ORIGIN	       "_origin"
#define SK_ONNX_RULE	       "_rule"
#define SK_ONNX_COMPOSITE      "_composite" /* its number in the file; */
#define SK_ONNX_COMPOSITE_NAME "_composite_name"
#define SK_ONNX_VERSION	       "_version" /* of its domain, where it is not the one that the model imports */

/* Keys of the model's metadata. The passes of fusion that have run on the graph, by their full names, with spaces
 * between them: */
#define SK_ONNX_PASSES "sklink.passes"

/* and, with a number after it, a scope that no node is in any more. */
#define SK_ONNX_IDLE_SCOPE "sklink.scope."

/* Adds the attribute to the node: as one of its marks or notes, if it is one, or to compute by. The node's origin is
 * known already: attributes of GE's own are notes of GE's nodes only. */
void sk_onnx_add_attribute(struct sk_arena *arena, struct sk_graph_node *node, const struct sk_attribute *attribute);

#endif
