/* The messages of MINDIR files, with the numbers of mind_ir.proto; see onnx-parts.h. Fields that are not needed are not
 * in the structs. */
#include "graph/onnx/onnx-parts.h"

#define ENTRY(of, member, name, number, kind, list, type)                                                              \
	{                                                                                                              \
		name, number, offsetof(struct sk_mindir_##of, member), SK_ONNX_##kind, list, type, NULL                \
	}
#define FIELD(of, member, name, number, kind)	ENTRY(of, member, name, number, kind, false, NULL)
#define LIST(of, member, name, number, kind)	ENTRY(of, member, name, number, kind, true, NULL)
#define ONE(of, member, name, number, message)	ENTRY(of, member, name, number, MESSAGE, false, &message)
#define MANY(of, member, name, number, message) ENTRY(of, member, name, number, MESSAGE, true, &message)
#define TYPE(of, name)                                                                                                 \
	{                                                                                                              \
		name, sizeof(struct sk_mindir_##of), of##_fields, sizeof(of##_fields) / sizeof(of##_fields[0])         \
	}

static const struct sk_onnx_field external_fields[] = {
	FIELD(external, location, "location", 1, STRING),
	FIELD(external, offset, "offset", 2, INTEGER),
	FIELD(external, length, "length", 3, INTEGER),
};
static const struct sk_onnx_type external_type = TYPE(external, "ExternalDataProto");

/* The first field of ONNX's tensors is also the first one here, so that its presence has the same bit. */
static const struct sk_onnx_field tensor_fields[] = {
	[SK_ONNX_TENSOR_RAW] = FIELD(tensor, tensor.raw, "raw_data", 9, BYTES),
	[SK_ONNX_TENSOR_SEGMENT] = FIELD(tensor, tensor.name, "name", 7, STRING),
	LIST(tensor, tensor.dimensions, "dims", 1, INTEGER),
	FIELD(tensor, tensor.element, "data_type", 2, INTEGER),
	LIST(tensor, tensor.floats, "float_data", 3, FLOAT),
	LIST(tensor, tensor.integers32, "int32_data", 4, INTEGER),
	LIST(tensor, tensor.integers64, "int64_data", 6, INTEGER),
	LIST(tensor, tensor.doubles, "double_data", 10, DOUBLE),
	LIST(tensor, tensor.unsigned64, "uint64_data", 11, INTEGER),
	ONE(tensor, external, "external_data", 12, external_type),
	FIELD(tensor, compression, "compression_type", 16, INTEGER),
};
static const struct sk_onnx_type tensor_type = TYPE(tensor, "TensorProto");

static const struct sk_onnx_type attribute_type;
static const struct sk_onnx_field attribute_fields[] = {
	[SK_MINDIR_F] = FIELD(attribute, f, "f", 2, FLOAT),
	[SK_MINDIR_I] = FIELD(attribute, i, "i", 3, INTEGER),
	[SK_MINDIR_D] = FIELD(attribute, d, "d", 4, DOUBLE),
	[SK_MINDIR_S] = FIELD(attribute, s, "s", 5, BYTES),
	FIELD(attribute, name, "name", 1, STRING),
	ONE(attribute, t, "t", 6, tensor_type),
	LIST(attribute, floats, "floats", 8, FLOAT),
	LIST(attribute, doubles, "doubles", 9, DOUBLE),
	LIST(attribute, integers, "ints", 10, INTEGER),
	LIST(attribute, strings, "strings", 11, BYTES),
	MANY(attribute, tensors, "tensors", 12, tensor_type),
	FIELD(attribute, type, "type", 16, INTEGER),
	MANY(attribute, values, "values", 17, attribute_type),
};
static const struct sk_onnx_type attribute_type = TYPE(attribute, "AttributeProto");

static const struct sk_onnx_field value_fields[] = {
	FIELD(value, name, "name", 1, STRING),
	MANY(value, tensors, "tensor", 2, tensor_type),
};
static const struct sk_onnx_type value_type = TYPE(value, "ValueInfoProto");

static const struct sk_onnx_field node_fields[] = {
	LIST(node, inputs, "input", 1, STRING),
	LIST(node, outputs, "output", 2, STRING),
	FIELD(node, name, "name", 3, STRING),
	FIELD(node, op, "op_type", 4, STRING),
	MANY(node, attributes, "attribute", 5, attribute_type),
	FIELD(node, scope, "domain", 7, STRING),
};
static const struct sk_onnx_type node_type = TYPE(node, "NodeProto");

static const struct sk_onnx_field graph_fields[] = {
	MANY(graph, nodes, "node", 1, node_type),
	FIELD(graph, name, "name", 2, STRING),
	MANY(graph, parameters, "parameter", 3, tensor_type),
	MANY(graph, inputs, "input", 5, value_type),
	MANY(graph, outputs, "output", 6, value_type),
};
static const struct sk_onnx_type graph_type = TYPE(graph, "GraphProto");

static const struct sk_onnx_field primitive_fields[] = {
	FIELD(primitive, name, "name", 1, STRING),
	FIELD(primitive, op, "op_type", 2, STRING),
	MANY(primitive, attributes, "attribute", 3, attribute_type),
};
static const struct sk_onnx_type primitive_type = TYPE(primitive, "PrimitiveProto");

static const struct sk_onnx_field model_fields[] = {
	FIELD(model, ir_version, "ir_version", 1, STRING),
	FIELD(model, producer, "producer_name", 2, STRING),
	ONE(model, graph, "graph", 7, graph_type),
	MANY(model, functions, "functions", 8, graph_type),
	MANY(model, primitives, "primitives", 12, primitive_type),
	FIELD(model, version, "mind_ir_version", 13, INTEGER),
};
const struct sk_onnx_type sk_mindir_model_type = TYPE(model, "ModelProto");
