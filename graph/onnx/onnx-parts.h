/* Shared by the files of this room: messages of a model, scopes of names, tensors, dumps, and the vocabulary of GE. */
#ifndef SK_GRAPH_ONNX_ONNX_PARTS_H
#define SK_GRAPH_ONNX_ONNX_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

struct sk_arena;

/* ==== onnx-messages.c ====
 *
 * The messages of ONNX files as structs, and one table that describes them: the fields of each message, with the
 * numbers and names of onnx.proto. All readers and writers of messages use it. Fields that are not needed are not in
 * the structs. */

enum sk_onnx_kind {
	SK_ONNX_INTEGER, /* int64_t; all varints of protobuf: numbers, enums, bools */
	SK_ONNX_FLOAT, /* float */
	SK_ONNX_DOUBLE, /* double */
	SK_ONNX_STRING, /* const char *, without a NUL inside; NULL: absent */
	SK_ONNX_BYTES, /* struct sk_onnx_bytes */
	SK_ONNX_MESSAGE, /* a pointer to its struct; NULL: absent */
	SK_ONNX_IGNORED, /* of any type; only its presence is recorded */
};

/* Bytes in the file. In a list of float or double (which is not aligned) size also counts bytes. */
struct sk_onnx_bytes {
	const uint8_t *bytes;
	size_t size;
};

/* The beginning of every message. */
struct sk_onnx_message {
	uint32_t present; /* bit i: the i-th field of the description occurs */
	uint32_t line, column; /* in a text file; 0: none */
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
	const char *const *words; /* of an enum: the names of 0, 1 … up to NULL; "" for a gap */
};

/* `present` has a bit for each field. */
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

/* An entry of a model's metadata, which may be any text. */
struct sk_onnx_property {
	struct sk_onnx_message message;
	struct sk_onnx_bytes key, value;
};

struct sk_onnx_dimension {
	struct sk_onnx_message message;
	int64_t value;
	const char *parameter;
};

/* Indices in the descriptions of fields that are tested for presence. */
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
	SK_ONNX_VALUE_OTHER, /* from here on, kinds that are refused */
	SK_ONNX_VALUES = SK_ONNX_VALUE_OTHER + 6,
};
enum {
	SK_ONNX_TYPE_TENSOR,
	SK_ONNX_TYPE_OTHER,
	SK_ONNX_TYPE_SEQUENCE = SK_ONNX_TYPE_OTHER, /* the first one of these */
	SK_ONNX_TYPES = SK_ONNX_TYPE_OTHER + 5
};

struct sk_onnx_shape {
	struct sk_onnx_message message;
	SK_ARRAY(struct sk_onnx_dimension) dimensions;
};

struct sk_onnx_tensor_type {
	struct sk_onnx_message message;
	int64_t element;
	struct sk_onnx_shape *shape; /* NULL: the rank is unknown */
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
	const char *reference; /* in a function: the function's attribute that provides the value */
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
	/* Not in files. For nodes of a function: its operator sets, and the operator that called it. */
	const sk_onnx_imports *imports;
	const char *origin;
	const char *wrong; /* of a translated node: the reason why it has no translation; NULL: none */
	size_t stray; /* of a translated node: the number, from 1, of an input that the operator does not have; 0: none
		       */
	SK_ARRAY(const char *) told; /* of a translated node: sentences about its formats */
	const char *refused; /* of a translated node: "'adj_x1' must be 0", about an attribute; NULL: none */
};

typedef SK_ARRAY(struct sk_onnx_node) sk_onnx_nodes;

/* A sparse tensor. */
struct sk_onnx_sparse {
	struct sk_onnx_message message;
	struct sk_onnx_tensor *values, *indices;
	SK_ARRAY(int64_t) dimensions;
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
	bool translated; /* not in the file: made by kinds.c */
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

/* Return the size of an item of the field's list; 1 for lists of bytes. */
size_t sk_onnx_item_size(const struct sk_onnx_field *field);

/* True if the message has the field of that index in its description. The message may be NULL. */
static inline bool sk_onnx_has(const struct sk_onnx_message *message, unsigned position)
{
	return message && (message->present >> position & 1);
}

static inline bool sk_onnx_same_bytes(struct sk_onnx_bytes a, struct sk_onnx_bytes b)
{
	return a.size == b.size && (!a.size || !memcmp(a.bytes, b.bytes, a.size));
}

/* ==== dump-notes.c ====
 *
 * Notes of nodes in a dump, in GE's words (ge_onnx_*.pbtxt): for people and for viewers of models. The reader of a dump
 * ignores them. */

/* The producer of models with such notes. */
#define SK_DUMP_PRODUCER "sklink --dump-dir"

/* The edges of values, by value. */
struct sk_dump_edges {
	int64_t *places; /* the number of the producer's output; -1: an input or a constant */
	struct sk_uses uses;
};

struct sk_dump_edges *sk_dump_notes_edges(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Add the notes of the graph's node of that number, and sort all attributes by name, as GE does. `places`: also the
 * places of the parts of a node without a task. */
void sk_dump_notes_add(struct sk_arena *arena, const struct sk_op_graph *graph, const struct sk_dump_edges *edges,
		       uint32_t number, bool places, struct sk_onnx_node *to);

/* True if the attribute is a note. */
bool sk_dump_notes_has(const char *name);

/* True if it describes a tensor of the node. */
bool sk_dump_notes_describes(const char *name);

/* ==== files.c ====
 *
 * The files of a model: its own, and those of external data beside it. Small ones are read, larger ones mapped until
 * the process ends. */

struct sk_onnx_files {
	struct sk_diag *diag;
	const char *path; /* of the model */
	bool links; /* paths of external data may lead out of the model's folder by links */
	bool no_data; /* files of external data may be absent; their elements are 0 then */
	const char *absent; /* the first one; NULL: none */
	SK_ARRAY(struct sk_onnx_bytes) external;
	SK_ARRAY(const char *) paths; /* of external data */
	struct sk_map locations; /* to external */
	uint64_t sparse, dense; /* bytes of sparse tensors, and those that they have become */
};

void sk_onnx_files_init(struct sk_onnx_files *files, struct sk_diag *diag, const char *path);

/* Return the bytes of the model's file. False after an error. */
bool sk_onnx_files_model(struct sk_onnx_files *files, struct sk_onnx_bytes *bytes);

/* Return the bytes of a file in the model's folder, or below it; NULL bytes if it may be absent, and is. The result is
 * NULL, or the reason for a failure. */
const char *sk_onnx_files_external(struct sk_onnx_files *files, const char *location, struct sk_onnx_bytes *bytes);

/* Return so many bytes of 0, in memory that is not taken until it is read. NULL: there is no memory. */
const uint8_t *sk_onnx_files_zeros(uint64_t size);

/* Return the number of bytes at the start of the file, at most `size`; 0 if it cannot be read, or is not a regular
 * file. */
size_t sk_onnx_files_start(const char *path, uint8_t *bytes, size_t size);

/* ==== functions.c ====
 *
 * The functions of a model: their calls are replaced by their nodes. */

/* Replace all calls of the model's functions, in its graph and in bodies. The memory that this takes is limited by the
 * size of the file. False after an error. */
bool sk_onnx_expand_functions(struct sk_diag *diag, const char *path, struct sk_onnx_model *model, size_t file_size);

/* ==== sends.c ====
 *
 * Nodes that send data to other ranks, and nodes that receive them. */

/* Make each pair of such nodes, with one tag in one group, one node. Report the others. */
void sk_onnx_join_sends(struct sk_diag *diag, const char *path, struct sk_onnx_graph *graph);

/* ==== ge.c ====
 *
 * Graphs dumped by GE (ge_onnx_*.pbtxt): they use ONNX's messages, but have nodes for inputs, constants and outputs,
 * values "peer:index", and GE's operators. */

/* Translate such a model to ONNX's conventions; any other one is unchanged. Operators with a counterpart in ONNX become
 * that one, others are in the domain "ge"; the origin of all of them is "ge:" and their name. False after an error. */
bool sk_onnx_translate_ge(struct sk_diag *diag, const char *path, struct sk_onnx_model *model);

/* ==== ge-nodes.c ====
 *
 * Nodes of dumps, and the types of GE. */

/* A node that is an input of the graph. */
struct sk_ge_data {
	int64_t index; /* GE's index of the input */
	uint32_t node;
};

/* The producer of a value, and the number of the output. */
struct sk_ge_maker {
	uint32_t node;
	uint32_t output;
};

/* A dump during its translation. */
struct sk_ge_translation {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *path;
	struct sk_onnx_graph *graph;
	struct sk_map inputs; /* outputs of Data nodes, to these nodes */
	SK_ARRAY(struct sk_ge_data) data;
	struct sk_map values; /* names in the dump, to producers */
	SK_ARRAY(struct sk_ge_maker) makers;
	bool *needed; /* by node: outputs of the graph depend on it */
	sk_onnx_nodes added; /* nodes that the dump does not have */
	struct sk_map converted; /* names of values and forms, to those of the nodes that convert them */
};

/* The number of int4 in onnx.proto. A tensor is bytes here, u8, of two elements each, so its last dimension is half as
 * large. */
enum { SK_GE_INT4 = 22, SK_GE_BYTES = 2 };

/* Return the number in onnx.proto of GE's number; 0: unknown. */
int64_t sk_ge_element_of_number(int64_t number);

/* Return the number in onnx.proto of a type with such a name; 0: unknown. */
int64_t sk_onnx_ge_element(struct sk_onnx_bytes name);

/* Return GE's name of the type with this number in onnx.proto, such as "DT_FLOAT". */
const char *sk_onnx_ge_type_name(int64_t element);

/* Return the import of one version of an operator set, for a node. */
const sk_onnx_imports *sk_ge_imports(struct sk_arena *arena, const char *domain, int64_t version);

/* Return the attribute; NULL: the node does not have it. */
struct sk_onnx_attribute *sk_ge_attribute(const struct sk_onnx_node *node, const char *name);

/* Report an error at the node. */
void sk_ge_report(const struct sk_ge_translation *translation, const struct sk_onnx_node *node, const char *text);

/* ==== ge-formats.c ====
 *
 * Storage formats in dumps of GE: nodes of tensors that are stored in other dimensions than they have axes. */

/* Translate a node of GE's type `type` with an equivalent here. It computes stored elements where that gives the same;
 * otherwise nodes TransData are added that make its tensors those of their origin, and its results what the dump says.
 * Operators that are unknown here have kernels of the user, which handle formats. False after an error. */
bool sk_ge_translate_formats(struct sk_ge_translation *translation, struct sk_onnx_node *node, const char *type);

/* ==== marks.c ====
 *
 * Marks, see onnx.h, before nodes become those of the graph. */

/* Give the nodes with labels of streams the numbers of these streams. They follow the numbers in the file, in the order
 * of their priority, and of their first nodes. */
void sk_onnx_number_streams(struct sk_arena *arena, struct sk_onnx_graph *graph);

/* Warn once of each mark that has no effect. */
void sk_onnx_tell_marks(struct sk_diag *diag, const char *path, const struct sk_onnx_graph *graph);

/* ==== aliases.c, kinds.c ====
 *
 * Operators of other vocabularies. */

/* Apply the rules of an alias to the attributes and inputs of a node. */
void sk_onnx_apply_rules(struct sk_arena *arena, struct sk_onnx_node *node, const char *rules);

/* True if GE's operator is one of kinds.def. */
bool sk_onnx_is_kind(const char *name);

/* True if it is, and computes element by element. */
bool sk_onnx_kind_is_elementwise(const char *name);

/* Make the nodes of these operators, in the domains "ge" and "torchair", calls of functions. A node that has no such
 * meaning keeps its operator, and the reason. */
void sk_onnx_translate_kinds(struct sk_arena *arena, struct sk_onnx_model *model);

/* ==== graph-def.c ====
 *
 * The graph dumps of TorchAir: texts of GE's GraphDef, and of TensorFlow's with texts of GE inside. */

/* Parse such a text to a model as GE dumps it, which sk_onnx_translate_ge translates. NULL after an error, which is
 * reported with line and column. */
struct sk_onnx_model *sk_onnx_parse_graph_def(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text);

/* ==== mindir-messages.c ====
 *
 * The messages of MINDIR files, MindSpore's format of models. */

struct sk_mindir_external {
	struct sk_onnx_message message;
	const char *location;
	int64_t offset, length;
};

struct sk_mindir_tensor {
	struct sk_onnx_tensor tensor; /* without its external data */
	struct sk_mindir_external *external;
	int64_t compression; /* 0: none */
};

/* The numbers of AttributeProto.AttributeType that are not types of ONNX's tensors, and those of scalars. */
enum sk_mindir_type {
	SK_MINDIR_FLOAT = 1,
	SK_MINDIR_STRING = 8,
	SK_MINDIR_BOOL = 9,
	SK_MINDIR_DOUBLE = 11,
	SK_MINDIR_TENSOR = 17,
	SK_MINDIR_TENSORS = 19,
	SK_MINDIR_TUPLE = 20,
	SK_MINDIR_TUPLE_LIST = 21,
	SK_MINDIR_MONAD = 23,
	SK_MINDIR_IO_MONAD = 24,
	SK_MINDIR_NONE = 25,
	SK_MINDIR_TYPE_NULL = 36,
};

/* Indices of fields that are tested for presence. */
enum { SK_MINDIR_F, SK_MINDIR_I, SK_MINDIR_D, SK_MINDIR_S };

struct sk_mindir_attribute;

typedef SK_ARRAY(struct sk_mindir_attribute) sk_mindir_attributes;

/* An attribute, a constant, or a type. */
struct sk_mindir_attribute {
	struct sk_onnx_message message;
	const char *name;
	float f;
	int64_t i;
	double d;
	struct sk_onnx_bytes s;
	struct sk_mindir_tensor *t;
	struct sk_onnx_bytes floats, doubles;
	SK_ARRAY(int64_t) integers;
	SK_ARRAY(struct sk_onnx_bytes) strings;
	SK_ARRAY(struct sk_mindir_tensor) tensors;
	int64_t type;
	sk_mindir_attributes values; /* of a tuple */
};

struct sk_mindir_value {
	struct sk_onnx_message message;
	const char *name;
	SK_ARRAY(struct sk_mindir_tensor) tensors; /* of its type */
};

struct sk_mindir_node {
	struct sk_onnx_message message;
	const char *name, *op;
	const char *scope; /* the name that MindSpore prints */
	SK_ARRAY(const char *) inputs;
	SK_ARRAY(const char *) outputs;
	sk_mindir_attributes attributes;
};

struct sk_mindir_graph {
	struct sk_onnx_message message;
	const char *name;
	SK_ARRAY(struct sk_mindir_node) nodes;
	SK_ARRAY(struct sk_mindir_tensor) parameters;
	SK_ARRAY(struct sk_mindir_value) inputs;
	SK_ARRAY(struct sk_mindir_value) outputs;
};

struct sk_mindir_primitive {
	struct sk_onnx_message message;
	const char *name, *op;
	sk_mindir_attributes attributes;
};

struct sk_mindir_model {
	struct sk_onnx_message message;
	const char *ir_version, *producer;
	struct sk_mindir_graph *graph;
	SK_ARRAY(struct sk_mindir_graph) functions;
	SK_ARRAY(struct sk_mindir_primitive) primitives;
	int64_t version;
};

extern const struct sk_onnx_type sk_mindir_model_type;

/* ==== mindir.c ====
 *
 * From MINDIR to ONNX's messages, with primitives as operators of the domain "mindspore". Calls of graphs are replaced
 * by their nodes; tuples, and nodes that only order others, do not become nodes. */

/* Read such a file to a model; NULL after an error. */
struct sk_onnx_model *sk_mindir_read(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes);

/* True if the bytes begin like such a file. */
bool sk_mindir_looks_like(struct sk_onnx_bytes bytes);

/* ==== mindir-operands.c ====
 *
 * The operands of MindSpore's primitives (mindir.def). */

/* What a name of a MINDIR graph stands for. */
enum sk_mindir_kind {
	SK_MINDIR_VALUE, /* a tensor */
	SK_MINDIR_CONSTANT, /* a number or a text, or a tuple of such constants, which is not a tensor yet */
	SK_MINDIR_ITEMS, /* a tuple with a tensor */
	SK_MINDIR_ABSENT, /* None */
	SK_MINDIR_ORDER, /* an order of nodes */
};

struct sk_mindir_binding {
	enum sk_mindir_kind kind;
	const char *name; /* of a tensor, in ONNX's graph */
	int64_t element; /* of a tensor: its type's number in onnx.proto; 0: unknown */
	const struct sk_mindir_attribute *constant;
	const struct sk_mindir_binding *items;
	size_t count;
};

/* The graph of ONNX's that is made. */
struct sk_mindir_target {
	struct sk_arena *arena;
	struct sk_onnx_graph *graph;
	struct sk_map names; /* of tensors */
};

/* Return the name, with a number appended if it is in use, and note it as in use. */
const char *sk_mindir_new_name(struct sk_mindir_target *target, const char *name);

/* Add the operands of the primitive `op` to the node, and set the node's operator. The result is NULL, or the reason
 * for a failure. */
const char *sk_mindir_take_operands(struct sk_mindir_target *target, const char *op,
				    const struct sk_mindir_binding *operands, size_t count, struct sk_onnx_node *node);

/* Check that each operand of the primitive that the node lacks is one of its attributes, which have been added to it:
 * sklink takes no defaults. The result is as above. */
const char *sk_mindir_check_operands(struct sk_arena *arena, const char *op, const struct sk_mindir_binding *items,
				     size_t count, const struct sk_onnx_node *node);

/* Make a constant a tensor, in the type of that number in onnx.proto, or that of its numbers for 0. NULL: it is not a
 * tensor of rank 0 or 1. */
const char *sk_mindir_constant(struct sk_mindir_target *target, const char *name, int64_t element,
			       const struct sk_mindir_attribute *constant);

/* Add an attribute of a primitive; the result is NULL, or the reason for a failure. */
const char *sk_mindir_take_attribute(struct sk_arena *arena, const char *name,
				     const struct sk_mindir_attribute *constant, struct sk_onnx_node *node);
/* ==== onnx-scope.c ====
 *
 * The names of one graph of a model, and the order of the nodes that are needed. */

enum sk_onnx_origin { SK_ONNX_INPUT, SK_ONNX_CONSTANT, SK_ONNX_SPARSE_CONSTANT, SK_ONNX_PRODUCED };

/* The definition of a name. */
struct sk_onnx_definition {
	const char *name;
	enum sk_onnx_origin origin;
	uint32_t index; /* in the graph's list of inputs, initializers, sparse initializers, or nodes */
	const struct sk_onnx_value_info *info; /* the declared type; NULL: none */
	bool used; /* by needed nodes, or as an output */
};

/* A node during the depth-first search for the order. */
struct sk_onnx_visit {
	bool wanted, open, done;
	SK_ARRAY(uint32_t) uses; /* definitions of this graph that it needs, also in its bodies */
};

struct sk_onnx_scope {
	struct sk_diag *diag;
	const char *path;
	const struct sk_onnx_graph *source;
	const struct sk_onnx_scope *outer; /* of a body: the enclosing scope */
	struct sk_map names; /* to definitions */
	SK_ARRAY(struct sk_onnx_definition) definitions;
	struct sk_onnx_visit *visits; /* by node */
	SK_ARRAY(uint32_t) order; /* nodes that the outputs need, producers before users */
};

/* Compute all of that. False after errors: names that are defined twice or not at all, and cycles of nodes. */
bool sk_onnx_scope_open(struct sk_onnx_scope *scope, struct sk_diag *diag, const char *path,
			const struct sk_onnx_graph *source, const struct sk_onnx_scope *outer);

/* Return the definition of the name in this graph; NULL: none. */
struct sk_onnx_definition *sk_onnx_scope_find(const struct sk_onnx_scope *scope, const char *name);

/* Return a text such as "node '/layer.3/MatMul' (MatMul)", in the arena. */
const char *sk_onnx_node_label(struct sk_arena *arena, const struct sk_onnx_node *node);

/* ==== tensors.c ====
 *
 * Tensors and types: from messages to the type, shape and contents of values. */

/* Set type and shape, as far as they are given. The result is NULL, or the reason why sklink cannot represent the
 * tensor. */
const char *sk_onnx_take_type(struct sk_arena *arena, const struct sk_onnx_value_type *type, struct sk_value *value);

/* Set type, shape and contents of a constant. Raw contents stay in the file, at any alignment; others are converted.
 * The result is NULL, or the reason for a failure. */
const char *sk_onnx_take_tensor(struct sk_onnx_files *files, const struct sk_onnx_tensor *tensor,
				struct sk_value *value);

/* Return the number of the type in onnx.proto; 0: none. */
int64_t sk_onnx_element_of(enum sk_dtype dtype);

/* ==== sparse.c ==== */

/* Set type, shape and contents of a constant that is sparse in the file; it is dense here. The result is NULL, or the
 * reason for a failure. */
const char *sk_onnx_take_sparse(struct sk_onnx_files *files, const struct sk_onnx_sparse *sparse,
				struct sk_value *value);

/* ==== narrow.c ====
 *
 * Uses of constants of types that only files have. */

/* Report an error at each node, bodies included, that uses such a constant in another way than reading its numbers. */
void sk_onnx_check_narrow(struct sk_op_graph *graph);

/* ==== text-format.c ====
 *
 * Protobuf's text format: the parser from a text to messages, and the printer. */

/* Parse a model; NULL after an error, which is reported with line and column. Time and memory are linear in the size
 * for any bytes. */
struct sk_onnx_model *sk_onnx_parse(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text);

/* True if the bytes begin like a model in this format. */
bool sk_onnx_looks_textual(struct sk_onnx_bytes bytes);

/* Parse any message. `outer`: if the text is in a message of the file, this message, which places errors, and with it
 * `inside`, a name of the text. False after an error. */
bool sk_onnx_parse_inner(struct sk_diag *diag, const char *path, const struct sk_onnx_message *outer,
			 const char *inside, const struct sk_onnx_type *type, void *message, struct sk_onnx_bytes text);

/* True if the bytes begin like a GraphDef of GE or of TensorFlow. */
bool sk_onnx_looks_graph_def(struct sk_onnx_bytes bytes);

/* Print all fields that are present. Reading the text gives the same message. */
void sk_onnx_print(const struct sk_onnx_model *model, FILE *stream);

/* ==== wire.c ====
 *
 * Protobuf's wire format: the decoder from bytes to messages. Texts are copied, all other bytes stay in the file. */

/* Decode a model; NULL after an error. Time and memory are linear in the size for any bytes. */
struct sk_onnx_model *sk_onnx_decode(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes);

/* Decode any message; `format` names the format of the file for errors. False after an error. */
bool sk_onnx_decode_message(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes, const char *format,
			    const struct sk_onnx_type *type, void *message);

/* True if the bytes begin like a model in this format: with fields of a model and plausible values. */
bool sk_onnx_looks_encoded(struct sk_onnx_bytes bytes);

#endif
