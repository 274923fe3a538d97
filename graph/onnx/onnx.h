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
 * ONNX files, in protobuf's wire format or text format: the reader to the graph of operators, and the writer of
 * texts. */

/* True if the file is to be read as a model: by the ending of its name (.onnx, .pb, .mindir, .pbtxt, .onnxtxt,
 * .textproto), or else by its first bytes. */
bool sk_onnx_is_model(const char *path);

/* Read the file into a graph of the nodes that its outputs need. Elements of constants stay in the mapped file, or in
 * the files of external data beside it, at any alignment. Calls of the model's functions are replaced by the nodes of
 * these, with the function as origin. Links to external data may lead out of the model's folder only if `links` is
 * true. All errors are reported; NULL if there was one. */
struct sk_op_graph *sk_onnx_read(struct sk_arena *arena, struct sk_diag *diag, const char *path, bool links);

/* The same, for a check of as much of the file as possible. */
struct sk_onnx_reading {
	bool links; /* links to external data may lead out of the model's folder */
	bool no_data; /* files of external data may be absent: their elements are 0, and the graph names the first one
		       */
	bool partial; /* if values are refused, return the graph without their types, after errors about them */
};

struct sk_op_graph *sk_onnx_read_as(struct sk_arena *arena, struct sk_diag *diag, const char *path,
				    const struct sk_onnx_reading *reading);

/* The parts of a graph that a dump has. */
enum sk_dump_extent {
	SK_DUMP_FULL = 1,
	SK_DUMP_NO_WEIGHTS, /* without contents of constants, and without texts in attributes */
	SK_DUMP_STRUCTURE, /* nodes and edges */
};

/* Constants of several texts in one file beside them. Each is stored once. */
struct sk_onnx_weights {
	const char *location; /* the file's name, without a folder */
	enum sk_dump_extent extent; /* of the texts; parts exist only for SK_DUMP_FULL */
	bool decisions; /* of nodes without a task the texts have the note _no_task, and nothing about memory */
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size;
	struct sk_map places; /* address of the contents -> part */
};

/* Write the graph for --dump-dir: constants of 1 KiB and more become parts of the weights, and nodes get notes as in
 * GE's dumps. Reading it gives the same graph, including composites. The weights' map must be initialised. */
void sk_onnx_write_dump(const struct sk_op_graph *graph, struct sk_onnx_weights *weights, FILE *stream);

/* Write the graph as text, with all facts. Reading it gives the same graph, except for places. */
void sk_onnx_write_text(const struct sk_op_graph *graph, FILE *stream);

/* ==== aliases.c ====
 *
 * Aliases: operators of other vocabularies that are ONNX's, or sklink's own, under another name (aliases.def). */

/* Translate the node with the source's operator `name` ("ge", "mindspore") to ONNX's, or to one of the domain "sklink".
 * False, without a change, if there is no equivalent. The caller sets the origin. */
bool sk_onnx_translate_alias(struct sk_arena *arena, const char *source, const char *name, struct sk_onnx_node *node);

/* True if the source's operator computes element by element, for any order of a tensor's elements. */
bool sk_onnx_alias_is_elementwise(const char *source, const char *name);

/* A source's name of an operator. */
struct sk_onnx_alias {
	const char *name; /* NULL: none */
	uint32_t outputs;
	const char *rules; /* as in aliases.def */
};

/* Return the source's first alias of the operator that begins with the prefix. */
struct sk_onnx_alias sk_onnx_find_alias(struct sk_arena *arena, const char *source, const char *prefix,
					const char *domain, const char *op);

/* Return the source's name of an attribute, by the rules of an alias. If it has a number there instead of the value,
 * *place is that number; otherwise -1. */
const char *sk_onnx_alias_attribute(struct sk_arena *arena, const char *rules, const struct sk_attribute *attribute,
				    int64_t *place);

/* Translate all nodes of a model in a domain that is named like a source, or in that of TorchAir, which uses GE's
 * names. Their origin is the domain and the name. Calls of the model's own functions must have been replaced before. */
void sk_onnx_translate_domains(struct sk_arena *arena, struct sk_onnx_model *model);

/* ==== marks.c ====
 *
 * Marks: attributes of nodes for sklink, which do not affect the result. GE writes such attributes, and TorchAir asks
 * it to. */

#define SK_ONNX_SCOPE	       "_super_kernel_scope"
#define SK_ONNX_SCOPE_OPTIONS  "_super_kernel_options"
#define SK_ONNX_STREAM	       "stream_id"
#define SK_ONNX_STREAM_LABEL   "_user_stream_label"
#define SK_ONNX_PRIORITY       "_user_stream_priority"
#define SK_ONNX_CUBE_CORES     "_op_aicore_num"
#define SK_ONNX_VECTOR_CORES   "_op_vectorcore_num"
#define SK_ONNX_ORIGIN	       "_origin"
#define SK_ONNX_RULE	       "_rule"
#define SK_ONNX_COMPOSITE      "_composite" /* the number in the file; */
#define SK_ONNX_COMPOSITE_NAME "_composite_name"
#define SK_ONNX_VERSION	       "_version" /* of the domain's operator set, if it is not the imported one */

/* Notes of nodes from dumps of GE: 1 if formats are converted for the node, or if the node does that; the axis of a
 * Split as GE's rules see it. */
#define SK_ONNX_CONVERTS   "_converts"
#define SK_ONNX_SPLIT_AXIS "_split_axis"

/* Keys of the model's metadata: the full names of the passes that have run on the graph, separated by spaces; */
#define SK_ONNX_PASSES "sklink.passes"

/* and, with a number appended, a scope without nodes. */
#define SK_ONNX_IDLE_SCOPE "sklink.scope."

/* Add the attribute to the node: as a mark or a note, if its name shows that, or otherwise as an attribute of the
 * operator. */
void sk_onnx_add_attribute(struct sk_arena *arena, struct sk_graph_node *node, const struct sk_attribute *attribute);

#endif
