/* The messages of ONNX files, as structs, and one description of them: which fields a message has, with the numbers and
 * names that onnx.proto publishes. All readers and writers of messages go by it. Fields that nobody here needs are not
 * in the structs. */
#ifndef SK_ONNX_MESSAGES_H
#define SK_ONNX_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

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

#endif
