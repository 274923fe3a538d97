/* Shared by the files of this room: messages of a model, scopes of names, tensors, dumps and marks of other systems. */
#ifndef SK_GRAPH_ONNX_ONNX_PARTS_H
#define SK_GRAPH_ONNX_ONNX_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

struct sk_arena;

/* ==== onnx-messages.c ====
 *
 * The messages of ONNX files, as structs, and one description of them: which fields a message has, with the numbers and
 * names that onnx.proto publishes. All readers and writers of messages go by it. Fields that nobody here needs are not
 * in the structs. */

enum sk_onnx_kind {
	SK_ONNX_INTEGER, /* int64_t; all varints of protobuf: numbers, enums, bools */
	SK_ONNX_FLOAT, /* float */
	SK_ONNX_DOUBLE, /* double */
	SK_ONNX_STRING, /* const char *, without NUL inside; NULL: absent */
	SK_ONNX_BYTES, /* struct sk_onnx_bytes */
	SK_ONNX_MESSAGE, /* a pointer to its struct; NULL: absent */
	SK_ONNX_IGNORED, /* of any type; only its presence is known */
};

/* Bytes where they stand in the file. As a list of float or double (which is not aligned) size counts bytes, too. */
struct sk_onnx_bytes {
	const uint8_t *bytes;
	size_t size;
};

/* What every message begins with. */
struct sk_onnx_message {
	uint32_t present; /* bit i: the field that is the i-th in the description occurs */
	uint32_t line, column; /* of a text; 0: none */
};

struct sk_onnx_field {
	const char *name; /* in the text format */
	uint16_t number;
	uint16_t offset; /* in the message's struct */
	enum sk_onnx_kind kind;
	/* A list: SK_ARRAY of the kind's type; of messages, of their structs; of floats and doubles, struct
	 * sk_onnx_bytes. */
	bool repeated;
	const struct sk_onnx_type *type; /* of a message */
	const char *const *words; /* of an enum: the names of 0, 1 … up to NULL; "" where there is none */
};

/* At most as many fields as `present` has bits. */
enum { SK_ONNX_MAX_FIELDS = 32 };

struct sk_onnx_type {
	const char *name;
	size_t size; /* of the struct */
	const struct sk_onnx_field *fields;
	size_t count;
};

struct sk_onnx_entry {
	struct sk_onnx_message message;
	const char *key, *value;
};

/* An entry of a model's metadata, which may be anything. */
struct sk_onnx_property {
	struct sk_onnx_message message;
	struct sk_onnx_bytes key, value;
};

struct sk_onnx_dimension {
	struct sk_onnx_message message;
	int64_t value;
	const char *parameter;
};

/* Positions in the descriptions, for those whose presence says something. */
enum { SK_ONNX_DIMENSION_VALUE };
enum { SK_ONNX_TENSOR_RAW, SK_ONNX_TENSOR_SEGMENT };
enum {
	SK_ONNX_VALUE_F,
	SK_ONNX_VALUE_I,
	SK_ONNX_VALUE_S,
	SK_ONNX_VALUE_T,
	SK_ONNX_VALUE_G,
	SK_ONNX_VALUE_FLOATS,
	SK_ONNX_VALUE_INTS,
	SK_ONNX_VALUE_STRINGS,
	SK_ONNX_VALUE_OTHER, /* this one and those behind it are of kinds that are refused */
	SK_ONNX_VALUES = SK_ONNX_VALUE_OTHER + 6,
};
enum {
	SK_ONNX_TYPE_TENSOR,
	SK_ONNX_TYPE_OTHER,
	SK_ONNX_TYPE_SEQUENCE = SK_ONNX_TYPE_OTHER, /* the first one of the others */
	SK_ONNX_TYPES = SK_ONNX_TYPE_OTHER + 5
};

struct sk_onnx_shape {
	struct sk_onnx_message message;
	SK_ARRAY(struct sk_onnx_dimension) dimensions;
};

struct sk_onnx_tensor_type {
	struct sk_onnx_message message;
	int64_t element;
	struct sk_onnx_shape *shape; /* NULL: not even the rank is known */
};

struct sk_onnx_value_type {
	struct sk_onnx_message message;
	struct sk_onnx_tensor_type *tensor;
};

struct sk_onnx_value_info {
	struct sk_onnx_message message;
	const char *name;
	struct sk_onnx_value_type *type;
};

enum { SK_ONNX_EXTERNAL = 1 };

struct sk_onnx_tensor {
	struct sk_onnx_message message;
	const char *name;
	SK_ARRAY(int64_t) dimensions;
	int64_t element; /* the number of its type in onnx.proto */
	int64_t location; /* SK_ONNX_EXTERNAL or 0 */
	struct sk_onnx_bytes raw, floats, doubles;
	SK_ARRAY(int64_t) integers32;
	SK_ARRAY(int64_t) integers64;
	SK_ARRAY(int64_t) unsigned64;
	SK_ARRAY(struct sk_onnx_entry) external;
};

/* The numbers of AttributeProto.AttributeType. */
enum sk_onnx_attribute_type {
	SK_ONNX_UNDEFINED,
	SK_ONNX_ATTRIBUTE_FLOAT,
	SK_ONNX_ATTRIBUTE_INT,
	SK_ONNX_ATTRIBUTE_STRING,
	SK_ONNX_ATTRIBUTE_TENSOR,
	SK_ONNX_ATTRIBUTE_GRAPH,
	SK_ONNX_ATTRIBUTE_FLOATS,
	SK_ONNX_ATTRIBUTE_INTS,
	SK_ONNX_ATTRIBUTE_STRINGS,
};

struct sk_onnx_graph;

struct sk_onnx_attribute {
	struct sk_onnx_message message;
	const char *name;
	const char *reference; /* in a function: the name of the function's attribute whose value it has */
	int64_t type;
	float f;
	int64_t i;
	struct sk_onnx_bytes s;
	struct sk_onnx_tensor *t;
	struct sk_onnx_graph *g;
	struct sk_onnx_bytes floats;
	SK_ARRAY(int64_t) integers;
	SK_ARRAY(struct sk_onnx_bytes) strings;
};

struct sk_onnx_import {
	struct sk_onnx_message message;
	const char *domain;
	int64_t version;
};

typedef SK_ARRAY(struct sk_onnx_import) sk_onnx_imports;

struct sk_onnx_node {
	struct sk_onnx_message message;
	const char *name, *op, *domain, *overload;
	SK_ARRAY(const char *) inputs;
	SK_ARRAY(const char *) outputs;
	SK_ARRAY(struct sk_onnx_attribute) attributes;
	/* In no file: of nodes that were a function's, its operator sets and the operator that has called it. */
	const sk_onnx_imports *imports;
	const char *origin;
	size_t stray; /* of a node with another name: the number, from 1 on, of an input that its operator has not; 0:
			 none */
};

typedef SK_ARRAY(struct sk_onnx_node) sk_onnx_nodes;

/* A sparse tensor: known, so that it can be refused by its name. */
struct sk_onnx_sparse {
	struct sk_onnx_message message;
	struct sk_onnx_tensor *values;
};

struct sk_onnx_graph {
	struct sk_onnx_message message;
	const char *name;
	sk_onnx_nodes nodes;
	SK_ARRAY(struct sk_onnx_tensor) initializers;
	SK_ARRAY(struct sk_onnx_value_info) inputs;
	SK_ARRAY(struct sk_onnx_value_info) outputs;
	SK_ARRAY(struct sk_onnx_value_info) infos;
	SK_ARRAY(struct sk_onnx_sparse) sparse;
};

struct sk_onnx_function {
	struct sk_onnx_message message;
	const char *name, *domain, *overload;
	SK_ARRAY(const char *) inputs;
	SK_ARRAY(const char *) outputs;
	SK_ARRAY(struct sk_onnx_attribute) defaults;
	sk_onnx_nodes nodes;
	sk_onnx_imports imports;
};

struct sk_onnx_model {
	struct sk_onnx_message message;
	int64_t ir_version;
	const char *producer;
	struct sk_onnx_graph *graph;
	sk_onnx_imports imports;
	SK_ARRAY(struct sk_onnx_property) metadata;
	SK_ARRAY(struct sk_onnx_function) functions;
};

extern const struct sk_onnx_type sk_onnx_model_type;

/* Of an item of the field's list; 1 for lists of bytes. */
size_t sk_onnx_item_size(const struct sk_onnx_field *field);

/* The message, which may be NULL, has the field of that position in its description. */
static inline bool sk_onnx_has(const struct sk_onnx_message *message, unsigned position)
{
	return message && (message->present >> position & 1);
}

/* ==== dump-notes.c ====
 *
 * What nodes of a dump say beside what they compute, in GE's words (ge_onnx_*.pbtxt): for people and for viewers of
 * models. Who reads the dump leaves it out. */

/* What made a model that has such notes. */
#define SK_DUMP_PRODUCER "sklink --dump-dir"

/* Where values come from and go to, by value. */
struct sk_dump_edges {
	int64_t *places; /* which output of its node it is; -1: it is an input or a constant */
	struct sk_uses uses;
};

struct sk_dump_edges *sk_dump_notes_edges(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Adds the notes of the graph's node of that number, and sorts all attributes by their names, as GE does. */
void sk_dump_notes_add(struct sk_arena *arena, const struct sk_op_graph *graph, const struct sk_dump_edges *edges,
		       uint32_t number, struct sk_onnx_node *to);

/* Whether the attribute is one of them. */
bool sk_dump_notes_has(const char *name);

/* ==== files.c ====
 *
 * The files that a model is in: its own, and those of external data beside it. Small ones are read, larger ones mapped
 * until the process ends. */

struct sk_onnx_files {
	struct sk_diag *diag;
	const char *path; /* the model's */
	bool links; /* those of external data may lead out of its folder */
	SK_ARRAY(struct sk_onnx_bytes) external;
	SK_ARRAY(const char *) paths; /* of these */
	struct sk_map locations; /* to external */
};

void sk_onnx_files_init(struct sk_onnx_files *files, struct sk_diag *diag, const char *path);

/* The bytes of the model's file. False after an error. */
bool sk_onnx_files_model(struct sk_onnx_files *files, struct sk_onnx_bytes *bytes);

/* The bytes of a file in the model's folder, or below it. NULL, or why it cannot be used. */
const char *sk_onnx_files_external(struct sk_onnx_files *files, const char *location, struct sk_onnx_bytes *bytes);

/* How many bytes of the file there are, up to the size; 0 if it cannot be read, or is no regular file. */
size_t sk_onnx_files_start(const char *path, uint8_t *bytes, size_t size);

/* ==== functions.c ====
 *
 * The functions that a model brings along: their calls are replaced by what they consist of. */

/* Afterwards no node of the model's graph, or of a body in it, calls a function of the model. What this may make is
 * limited by the size of the file. False after an error. */
bool sk_onnx_expand_functions(struct sk_diag *diag, const char *path, struct sk_onnx_model *model, size_t file_size);

/* ==== ge.c ====
 *
 * Graphs that GE has dumped (ge_onnx_*.pbtxt): messages of ONNX's description, but with nodes for inputs, constants and
 * outputs, "peer:index" for values and operators of its own. */

/* Turns such a model into what ONNX would say; any other one stays as it is. Operators that are ONNX's under another
 * name get that one, the others are in the domain "ge"; all keep "ge:" and their name as origin. False after an error.
 */
bool sk_onnx_translate_ge(struct sk_diag *diag, const char *path, struct sk_onnx_model *model);

/* An attribute that GE gives its nodes whatever they compute. */
bool sk_onnx_is_ge_note(const char *name);

/* GE's name of the type that has this number in onnx.proto, such as "DT_FLOAT". */
const char *sk_onnx_ge_type_name(int64_t element);

/* ==== onnx-scope.c ====
 *
 * The names of one graph of a model, and which of its nodes are wanted in which order. */

enum sk_onnx_origin { SK_ONNX_INPUT, SK_ONNX_CONSTANT, SK_ONNX_SPARSE_CONSTANT, SK_ONNX_PRODUCED };

/* What a name stands for. */
struct sk_onnx_definition {
	const char *name;
	enum sk_onnx_origin origin;
	uint32_t index; /* in the graph's list of inputs, initializers or sparse ones; of the node that produces it */
	const struct sk_onnx_value_info *info; /* what the file says of its type; NULL: nothing */
	bool used; /* by nodes that are wanted, or as an output */
};

/* A node on the way to its place in the order. */
struct sk_onnx_visit {
	bool wanted, open, done;
	SK_ARRAY(uint32_t) uses; /* definitions of this graph that it needs, those for its bodies, too */
};

struct sk_onnx_scope {
	struct sk_diag *diag;
	const char *path;
	const struct sk_onnx_graph *source;
	const struct sk_onnx_scope *outer; /* of a body: the names around it */
	struct sk_map names; /* to definitions */
	SK_ARRAY(struct sk_onnx_definition) definitions;
	struct sk_onnx_visit *visits; /* of each node */
	SK_ARRAY(uint32_t) order; /* nodes that the outputs need, producers in front of users */
};

/* Finds out all of that. False after errors: names that are defined twice or nowhere, nodes that wait for each other.
 */
bool sk_onnx_scope_open(struct sk_onnx_scope *scope, struct sk_diag *diag, const char *path,
			const struct sk_onnx_graph *source, const struct sk_onnx_scope *outer);

/* What the name stands for in this graph; NULL: nothing. */
struct sk_onnx_definition *sk_onnx_scope_find(const struct sk_onnx_scope *scope, const char *name);

/* "node '/layer.3/MatMul' (MatMul)", in the arena. */
const char *sk_onnx_node_label(struct sk_arena *arena, const struct sk_onnx_node *node);

/* ==== tensors.c ====
 *
 * Tensors and types of tensors: what messages say of them becomes type, shape and contents of values. */

/* Type and shape, as far as they are said. NULL, or why no tensor of sklink can be such. */
const char *sk_onnx_take_type(struct sk_arena *arena, const struct sk_onnx_value_type *type, struct sk_value *value);

/* Type, shape and contents of a constant. Contents stay where they are in the file, at any alignment, if they are raw;
 * otherwise they are converted. NULL, or why it cannot be. */
const char *sk_onnx_take_tensor(struct sk_onnx_files *files, const struct sk_onnx_tensor *tensor,
				struct sk_value *value);

/* The number of the type in onnx.proto; 0: none. */
int64_t sk_onnx_element_of(enum sk_dtype dtype);

/* ==== text-format.c ====
 *
 * Protobuf's text format. Comes in: a text. Goes out: messages, as onnx-parts.h describes them; and the other way
 * round. */

/* NULL after an error, which has line and column. Takes time and memory by the size, whatever the bytes are. */
struct sk_onnx_model *sk_onnx_parse(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text);

/* The bytes begin like a model in this format. */
bool sk_onnx_looks_textual(struct sk_onnx_bytes bytes);

/* All fields that are present. What has been written is read as the same message. */
void sk_onnx_print(const struct sk_onnx_model *model, FILE *stream);

/* ==== wire.c ====
 *
 * Protobuf's wire format. Comes in: bytes. Goes out: messages, as onnx-parts.h describes them. Texts are copied, all
 * other bytes stay where they are. */

/* NULL after an error. Takes time and memory by the size, whatever the bytes are. */
struct sk_onnx_model *sk_onnx_decode(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes);

/* The bytes begin like a model in this format: fields that a model has, with what they must be. */
bool sk_onnx_looks_encoded(struct sk_onnx_bytes bytes);

#endif
