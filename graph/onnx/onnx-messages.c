/* The description of ONNX's messages; see onnx-parts.h. Numbers and names are those of onnx.proto. */
#include "graph/onnx/onnx-parts.h"

#define FIELD(message, member, name, number, kind)                                                                     \
	{                                                                                                              \
		name, number, offsetof(struct sk_onnx_##message, member), SK_ONNX_##kind, false, NULL, NULL            \
	}
#define LIST(message, member, name, number, kind)                                                                      \
	{                                                                                                              \
		name, number, offsetof(struct sk_onnx_##message, member), SK_ONNX_##kind, true, NULL, NULL             \
	}
#define ONE(message, member, name, number, of)                                                                         \
	{                                                                                                              \
		name, number, offsetof(struct sk_onnx_##message, member), SK_ONNX_MESSAGE, false, &of, NULL            \
	}
#define MANY(message, member, name, number, of)                                                                        \
	{                                                                                                              \
		name, number, offsetof(struct sk_onnx_##message, member), SK_ONNX_MESSAGE, true, &of, NULL             \
	}
#define ENUM(message, member, name, number, words)                                                                     \
	{                                                                                                              \
		name, number, offsetof(struct sk_onnx_##message, member), SK_ONNX_INTEGER, false, NULL, words          \
	}
#define IGNORED(name, number)                                                                                          \
	{                                                                                                              \
		name, number, 0, SK_ONNX_IGNORED, true, NULL, NULL                                                     \
	}
#define TYPE(of, name)                                                                                                 \
	{                                                                                                              \
		name, sizeof(struct sk_onnx_##of), of##_fields, sizeof(of##_fields) / sizeof(of##_fields[0])           \
	}

static const struct sk_onnx_field entry_fields[] = {
	FIELD(entry, key, "key", 1, STRING),
	FIELD(entry, value, "value", 2, STRING),
};
static const struct sk_onnx_type entry_type = TYPE(entry, "StringStringEntryProto");

static const struct sk_onnx_field property_fields[] = {
	FIELD(property, key, "key", 1, BYTES),
	FIELD(property, value, "value", 2, BYTES),
};
static const struct sk_onnx_type property_type = TYPE(property, "StringStringEntryProto");

static const struct sk_onnx_field dimension_fields[] = {
	[SK_ONNX_DIMENSION_VALUE] = FIELD(dimension, value, "dim_value", 1, INTEGER),
	FIELD(dimension, parameter, "dim_param", 2, STRING),
	IGNORED("denotation", 3),
};
static const struct sk_onnx_type dimension_type = TYPE(dimension, "Dimension");

static const struct sk_onnx_field shape_fields[] = {
	MANY(shape, dimensions, "dim", 1, dimension_type),
};
static const struct sk_onnx_type shape_type = TYPE(shape, "TensorShapeProto");

static const struct sk_onnx_field tensor_type_fields[] = {
	FIELD(tensor_type, element, "elem_type", 1, INTEGER),
	ONE(tensor_type, shape, "shape", 2, shape_type),
};
static const struct sk_onnx_type tensor_type_type = TYPE(tensor_type, "TypeProto.Tensor");

static const struct sk_onnx_field value_type_fields[] = {
	[SK_ONNX_TYPE_TENSOR] = ONE(value_type, tensor, "tensor_type", 1, tensor_type_type),
	[SK_ONNX_TYPE_OTHER] = IGNORED("sequence_type", 4),
	IGNORED("map_type", 5),
	IGNORED("opaque_type", 7),
	IGNORED("sparse_tensor_type", 8),
	IGNORED("optional_type", 9),
	[SK_ONNX_TYPES] = IGNORED("denotation", 6),
};
static const struct sk_onnx_type value_type_type = TYPE(value_type, "TypeProto");

static const struct sk_onnx_field value_info_fields[] = {
	FIELD(value_info, name, "name", 1, STRING),
	ONE(value_info, type, "type", 2, value_type_type),
	IGNORED("doc_string", 3),
	IGNORED("metadata_props", 4),
};
static const struct sk_onnx_type value_info_type = TYPE(value_info, "ValueInfoProto");

static const char *const location_words[] = {"DEFAULT", "EXTERNAL", NULL};
static const struct sk_onnx_field tensor_fields[] = {
	[SK_ONNX_TENSOR_RAW] = FIELD(tensor, raw, "raw_data", 9, BYTES),
	[SK_ONNX_TENSOR_SEGMENT] = IGNORED("segment", 3),
	LIST(tensor, dimensions, "dims", 1, INTEGER),
	FIELD(tensor, element, "data_type", 2, INTEGER),
	LIST(tensor, floats, "float_data", 4, FLOAT),
	LIST(tensor, integers32, "int32_data", 5, INTEGER),
	IGNORED("string_data", 6),
	LIST(tensor, integers64, "int64_data", 7, INTEGER),
	FIELD(tensor, name, "name", 8, STRING),
	LIST(tensor, doubles, "double_data", 10, DOUBLE),
	LIST(tensor, unsigned64, "uint64_data", 11, INTEGER),
	IGNORED("doc_string", 12),
	MANY(tensor, external, "external_data", 13, entry_type),
	ENUM(tensor, location, "data_location", 14, location_words),
	IGNORED("metadata_props", 16),
};
static const struct sk_onnx_type tensor_type = TYPE(tensor, "TensorProto");

static const struct sk_onnx_field sparse_fields[] = {
	ONE(sparse, values, "values", 1, tensor_type),
	ONE(sparse, indices, "indices", 2, tensor_type),
	LIST(sparse, dimensions, "dims", 3, INTEGER),
};
static const struct sk_onnx_type sparse_type = TYPE(sparse, "SparseTensorProto");

static const struct sk_onnx_type graph_type;

static const char *const attribute_words[] = {
	"UNDEFINED", "FLOAT",	"INT",	  "STRING",	   "TENSOR",	     "GRAPH",	   "FLOATS",	  "INTS",
	"STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS", NULL};
static const struct sk_onnx_field attribute_fields[] = {
	[SK_ONNX_VALUE_F] = FIELD(attribute, f, "f", 2, FLOAT),
	[SK_ONNX_VALUE_I] = FIELD(attribute, i, "i", 3, INTEGER),
	[SK_ONNX_VALUE_S] = FIELD(attribute, s, "s", 4, BYTES),
	[SK_ONNX_VALUE_T] = ONE(attribute, t, "t", 5, tensor_type),
	[SK_ONNX_VALUE_G] = ONE(attribute, g, "g", 6, graph_type),
	[SK_ONNX_VALUE_FLOATS] = LIST(attribute, floats, "floats", 7, FLOAT),
	[SK_ONNX_VALUE_INTS] = LIST(attribute, integers, "ints", 8, INTEGER),
	[SK_ONNX_VALUE_STRINGS] = LIST(attribute, strings, "strings", 9, BYTES),
	[SK_ONNX_VALUE_OTHER] = IGNORED("tensors", 10),
	IGNORED("graphs", 11),
	IGNORED("tp", 14),
	IGNORED("type_protos", 15),
	IGNORED("sparse_tensor", 22),
	IGNORED("sparse_tensors", 23),
	[SK_ONNX_VALUES] = FIELD(attribute, name, "name", 1, STRING),
	FIELD(attribute, reference, "ref_attr_name", 21, STRING),
	ENUM(attribute, type, "type", 20, attribute_words),
	IGNORED("doc_string", 13),
};
static const struct sk_onnx_type attribute_type = TYPE(attribute, "AttributeProto");

static const struct sk_onnx_field import_fields[] = {
	FIELD(import, domain, "domain", 1, STRING),
	FIELD(import, version, "version", 2, INTEGER),
};
static const struct sk_onnx_type import_type = TYPE(import, "OperatorSetIdProto");

static const struct sk_onnx_field node_fields[] = {
	LIST(node, inputs, "input", 1, STRING),
	LIST(node, outputs, "output", 2, STRING),
	FIELD(node, name, "name", 3, STRING),
	FIELD(node, op, "op_type", 4, STRING),
	MANY(node, attributes, "attribute", 5, attribute_type),
	IGNORED("doc_string", 6),
	FIELD(node, domain, "domain", 7, STRING),
	FIELD(node, overload, "overload", 8, STRING),
	IGNORED("metadata_props", 9),
	IGNORED("device_configurations", 10),
};
static const struct sk_onnx_type node_type = TYPE(node, "NodeProto");

static const struct sk_onnx_field graph_fields[] = {
	MANY(graph, nodes, "node", 1, node_type),
	FIELD(graph, name, "name", 2, STRING),
	MANY(graph, initializers, "initializer", 5, tensor_type),
	IGNORED("doc_string", 10),
	MANY(graph, inputs, "input", 11, value_info_type),
	MANY(graph, outputs, "output", 12, value_info_type),
	MANY(graph, infos, "value_info", 13, value_info_type),
	IGNORED("quantization_annotation", 14),
	MANY(graph, sparse, "sparse_initializer", 15, sparse_type),
	IGNORED("metadata_props", 16),
};
static const struct sk_onnx_type graph_type = TYPE(graph, "GraphProto");

static const struct sk_onnx_field function_fields[] = {
	FIELD(function, name, "name", 1, STRING),
	LIST(function, inputs, "input", 4, STRING),
	LIST(function, outputs, "output", 5, STRING),
	IGNORED("attribute", 6),
	MANY(function, nodes, "node", 7, node_type),
	IGNORED("doc_string", 8),
	MANY(function, imports, "opset_import", 9, import_type),
	FIELD(function, domain, "domain", 10, STRING),
	MANY(function, defaults, "attribute_proto", 11, attribute_type),
	IGNORED("value_info", 12),
	FIELD(function, overload, "overload", 13, STRING),
	IGNORED("metadata_props", 14),
};
static const struct sk_onnx_type function_type = TYPE(function, "FunctionProto");

static const struct sk_onnx_field model_fields[] = {
	FIELD(model, ir_version, "ir_version", 1, INTEGER),
	FIELD(model, producer, "producer_name", 2, STRING),
	IGNORED("producer_version", 3),
	IGNORED("domain", 4),
	IGNORED("model_version", 5),
	IGNORED("doc_string", 6),
	ONE(model, graph, "graph", 7, graph_type),
	MANY(model, imports, "opset_import", 8, import_type),
	MANY(model, metadata, "metadata_props", 14, property_type),
	IGNORED("training_info", 20),
	MANY(model, functions, "functions", 25, function_type),
	IGNORED("configuration", 26),
};
const struct sk_onnx_type sk_onnx_model_type = TYPE(model, "ModelProto");

size_t sk_onnx_item_size(const struct sk_onnx_field *field)
{
	switch (field->kind) {
	case SK_ONNX_INTEGER:
		return sizeof(int64_t);
	case SK_ONNX_STRING:
		return sizeof(char *);
	case SK_ONNX_BYTES:
		return sizeof(struct sk_onnx_bytes);
	case SK_ONNX_MESSAGE:
		return field->type->size;
	default:
		return 1;
	}
}
