/* The graph dumps of TorchAir (config.debug.graph_dump); see onnx-parts.h.
 *
 * Type "txt" is GE's own GraphDef: a list of `op`, with the descriptions of their tensors as messages. Type "pbtxt" is
 * a GraphDef of TensorFlow, for its viewers: a list of `node`, with attributes that are texts of GE's messages. An
 * attribute "[i]NAME" or "[o]NAME" is then the description of an input or an output.
 *
 * Both become the messages of a dump of GE (ge_onnx_*.pbtxt), which ge.c translates. */
#include "graph/onnx/onnx-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

/* ---- messages ---- */

struct def_value;

struct def_entry {
	struct sk_onnx_message message;
	const char *key;
	struct def_value *value;
};

typedef SK_ARRAY(struct def_entry) def_entries;

struct def_shape {
	struct sk_onnx_message message;
	SK_ARRAY(int64_t) dimensions;
};

/* A tensor without its elements. */
struct def_desc {
	struct sk_onnx_message message;
	int64_t element; /* an index in element_words */
	struct def_shape *shape; /* NULL: not given */
	const char *layout;
	def_entries attributes;
};

typedef SK_ARRAY(struct def_desc) def_descs;

struct def_tensor {
	struct sk_onnx_message message;
	struct def_desc *desc;
	struct sk_onnx_bytes data;
};

struct def_list {
	struct sk_onnx_message message;
	SK_ARRAY(struct sk_onnx_bytes) strings;
	SK_ARRAY(int64_t) integers;
	struct sk_onnx_bytes floats;
	SK_ARRAY(int64_t) flags;
};

/* Indices of fields that are tested for presence. */
enum { VALUE_S, VALUE_I, VALUE_F, VALUE_B, VALUE_DT, VALUE_LIST, VALUE_T };

struct def_value {
	struct sk_onnx_message message;
	struct sk_onnx_bytes s;
	int64_t i, b, dt;
	float f;
	struct def_list *list;
	struct def_tensor *t;
};

struct def_op {
	struct sk_onnx_message message;
	const char *name, *type;
	SK_ARRAY(const char *) inputs;
	def_entries attributes;
	def_descs input_descs, output_descs;
};

struct def_text {
	struct sk_onnx_message message;
	struct sk_onnx_bytes s;
};

/* An attribute of a node of TensorFlow. */
struct def_named_text {
	struct sk_onnx_message message;
	const char *key;
	struct def_text *value;
};

struct def_node {
	struct sk_onnx_message message;
	const char *name, *op;
	SK_ARRAY(const char *) inputs;
	SK_ARRAY(struct def_named_text) attributes;
};

struct def_graph {
	struct sk_onnx_message message;
	const char *name;
	SK_ARRAY(struct def_op) ops;
	SK_ARRAY(struct def_node) nodes;
};

/* ---- their descriptions, with the names of ge_ir.proto, and of graph.proto of TensorFlow ---- */

#define FIELD(message, member, name, kind)                                                                             \
	{                                                                                                              \
		name, 0, offsetof(struct def_##message, member), SK_ONNX_##kind, false, NULL, NULL                     \
	}
#define LIST(message, member, name, kind)                                                                              \
	{                                                                                                              \
		name, 0, offsetof(struct def_##message, member), SK_ONNX_##kind, true, NULL, NULL                      \
	}
#define ONE(message, member, name, of)                                                                                 \
	{                                                                                                              \
		name, 0, offsetof(struct def_##message, member), SK_ONNX_MESSAGE, false, &of, NULL                     \
	}
#define MANY(message, member, name, of)                                                                                \
	{                                                                                                              \
		name, 0, offsetof(struct def_##message, member), SK_ONNX_MESSAGE, true, &of, NULL                      \
	}
#define ENUM(message, member, name, words)                                                                             \
	{                                                                                                              \
		name, 0, offsetof(struct def_##message, member), SK_ONNX_INTEGER, false, NULL, words                   \
	}
#define ENUMS(message, member, name, words)                                                                            \
	{                                                                                                              \
		name, 0, offsetof(struct def_##message, member), SK_ONNX_INTEGER, true, NULL, words                    \
	}
#define IGNORED(name)                                                                                                  \
	{                                                                                                              \
		name, 0, 0, SK_ONNX_IGNORED, true, NULL, NULL                                                          \
	}
#define TYPE(of, name)                                                                                                 \
	{                                                                                                              \
		name, sizeof(struct def_##of), of##_fields, sizeof(of##_fields) / sizeof(of##_fields[0])               \
	}

static const char *const flag_words[] = {"false", "true", NULL};
static const char *const element_words[] = {"DT_UNDEFINED",	 "DT_FLOAT",	   "DT_FLOAT16",
					    "DT_INT8",		 "DT_UINT8",	   "DT_INT16",
					    "DT_UINT16",	 "DT_INT32",	   "DT_INT64",
					    "DT_UINT32",	 "DT_UINT64",	   "DT_BOOL",
					    "DT_DOUBLE",	 "DT_STRING",	   "DT_DUAL_SUB_INT8",
					    "DT_DUAL_SUB_UINT8", "DT_COMPLEX64",   "DT_COMPLEX128",
					    "DT_QINT8",		 "DT_QINT16",	   "DT_QINT32",
					    "DT_QUINT8",	 "DT_QUINT16",	   "DT_RESOURCE",
					    "DT_STRING_REF",	 "DT_DUAL",	   "DT_VARIANT",
					    "DT_BF16",		 "DT_INT4",	   "DT_UINT1",
					    "DT_INT2",		 "DT_UINT2",	   "DT_COMPLEX32",
					    "DT_HIFLOAT8",	 "DT_FLOAT8_E5M2", "DT_FLOAT8_E4M3FN",
					    "DT_FLOAT8_E8M0",	 "DT_FLOAT6_E3M2", "DT_FLOAT6_E2M3",
					    "DT_FLOAT4_E2M1",	 "DT_FLOAT4_E1M2", NULL};
enum { ELEMENTS = sizeof(element_words) / sizeof(element_words[0]) - 1 };

static const struct sk_onnx_type value_type;

static const struct sk_onnx_field entry_fields[] = {
	FIELD(entry, key, "key", STRING),
	ONE(entry, value, "value", value_type),
};
static const struct sk_onnx_type entry_type = TYPE(entry, "AttrEntry");

static const struct sk_onnx_field shape_fields[] = {
	LIST(shape, dimensions, "dim", INTEGER),
};
static const struct sk_onnx_type shape_type = TYPE(shape, "ShapeDef");

static const struct sk_onnx_field desc_fields[] = {
	ENUM(desc, element, "dtype", element_words),
	ONE(desc, shape, "shape", shape_type),
	FIELD(desc, layout, "layout", STRING),
	MANY(desc, attributes, "attr", entry_type),
	IGNORED("name"),
	IGNORED("has_out_attr"),
	IGNORED("size"),
	IGNORED("weight_size"),
	IGNORED("reuse_input"),
	IGNORED("output_tensor"),
	IGNORED("device_type"),
	IGNORED("input_tensor"),
	IGNORED("real_dim_cnt"),
	IGNORED("reuse_input_index"),
	IGNORED("data_offset"),
	IGNORED("cmps_size"),
	IGNORED("cmps_tab"),
	IGNORED("cmps_tab_offset"),
	IGNORED("cmpsinfo"),
	IGNORED("all_offset_quant_info"),
};
static const struct sk_onnx_type desc_type = TYPE(desc, "TensorDescriptor");

static const struct sk_onnx_field tensor_fields[] = {
	ONE(tensor, desc, "desc", desc_type),
	FIELD(tensor, data, "data", BYTES),
};
static const struct sk_onnx_type tensor_type = TYPE(tensor, "TensorDef");

static const struct sk_onnx_field list_fields[] = {
	LIST(list, strings, "s", BYTES),
	LIST(list, integers, "i", INTEGER),
	LIST(list, floats, "f", FLOAT),
	ENUMS(list, flags, "b", flag_words),
	ENUMS(list, integers, "dt", element_words),
	IGNORED("val_type"),
	IGNORED("bt"),
	IGNORED("td"),
	IGNORED("t"),
	IGNORED("g"),
	IGNORED("na"),
};
static const struct sk_onnx_type list_type = TYPE(list, "ListValue");

static const struct sk_onnx_field value_fields[] = {
	[VALUE_S] = FIELD(value, s, "s", BYTES),
	[VALUE_I] = FIELD(value, i, "i", INTEGER),
	[VALUE_F] = FIELD(value, f, "f", FLOAT),
	[VALUE_B] = ENUM(value, b, "b", flag_words),
	[VALUE_DT] = ENUM(value, dt, "dt", element_words),
	[VALUE_LIST] = ONE(value, list, "list", list_type),
	[VALUE_T] = ONE(value, t, "t", tensor_type),
	IGNORED("bt"),
	IGNORED("func"),
	IGNORED("td"),
	IGNORED("g"),
	IGNORED("list_list_int"),
	IGNORED("list_list_float"),
	IGNORED("expression"),
};
static const struct sk_onnx_type value_type = TYPE(value, "AttrDef");

static const struct sk_onnx_field op_fields[] = {
	FIELD(op, name, "name", STRING),
	FIELD(op, type, "type", STRING),
	LIST(op, inputs, "input", STRING),
	MANY(op, attributes, "attr", entry_type),
	MANY(op, input_descs, "input_desc", desc_type),
	MANY(op, output_descs, "output_desc", desc_type),
	IGNORED("has_out_attr"),
	IGNORED("id"),
	IGNORED("stream_id"),
	IGNORED("input_name"),
	IGNORED("src_name"),
	IGNORED("src_index"),
	IGNORED("dst_name"),
	IGNORED("dst_index"),
	IGNORED("input_i"),
	IGNORED("output_i"),
	IGNORED("workspace"),
	IGNORED("workspace_bytes"),
	IGNORED("is_input_const"),
	IGNORED("subgraph_name"),
};
static const struct sk_onnx_type op_type = TYPE(op, "OpDef");

static const struct sk_onnx_field text_fields[] = {
	FIELD(text, s, "s", BYTES),
	IGNORED("list"),
	IGNORED("i"),
	IGNORED("f"),
	IGNORED("b"),
	IGNORED("type"),
	IGNORED("shape"),
	IGNORED("tensor"),
	IGNORED("func"),
	IGNORED("placeholder"),
};
static const struct sk_onnx_type text_type = TYPE(text, "AttrValue");

static const struct sk_onnx_field named_text_fields[] = {
	FIELD(named_text, key, "key", STRING),
	ONE(named_text, value, "value", text_type),
};
static const struct sk_onnx_type named_text_type = TYPE(named_text, "AttrEntry");

static const struct sk_onnx_field node_fields[] = {
	FIELD(node, name, "name", STRING),
	FIELD(node, op, "op", STRING),
	LIST(node, inputs, "input", STRING),
	MANY(node, attributes, "attr", named_text_type),
	IGNORED("device"),
	IGNORED("experimental_debug_info"),
	IGNORED("experimental_type"),
};
static const struct sk_onnx_type node_type = TYPE(node, "NodeDef");

static const struct sk_onnx_field graph_fields[] = {
	FIELD(graph, name, "name", STRING),
	MANY(graph, ops, "op", op_type),
	MANY(graph, nodes, "node", node_type),
	IGNORED("input"),
	IGNORED("output"),
	IGNORED("attr"),
	IGNORED("versions"),
	IGNORED("version"),
	IGNORED("library"),
};
static const struct sk_onnx_type graph_type = TYPE(graph, "GraphDef");

/* ---- from TensorFlow's messages to GE's ---- */

struct reading {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *path;
};

/* Parse the text of an attribute, which is a message of GE. */
static bool parse_text(const struct reading *reading, const struct def_node *node, const struct def_named_text *named,
		       const struct sk_onnx_type *type, void *message)
{
	const char *key = named->key ? named->key : "";
	struct sk_onnx_bytes text = {(const uint8_t *)"", 0};
	const struct sk_onnx_message *place = &node->message;

	if (named->value && sk_onnx_has(&named->value->message, 0)) {
		text = named->value->s;
		place = &named->value->message;
	} else if (named->value && named->value->message.present) {
		sk_error(reading->diag,
			 (struct sk_place){.file = reading->path, .line = place->line, .column = place->column},
			 "node '%s': attribute '%s' is no text; of the graphs of TensorFlow, sklink reads those that "
			 "TorchAir writes (graph_dump.type=\"pbtxt\"), with attributes as texts of GE",
			 node->name ? node->name : "", key);
		return false;
	}
	return sk_onnx_parse_inner(
		reading->diag, reading->path, place,
		sk_arena_print(reading->arena, "attribute '%s' of node '%s'", key, node->name ? node->name : ""), type,
		message, text);
}

/* Translate "^peer", which is an edge of control, and "peer", which is the first output. */
static const char *input_name(const struct reading *reading, const char *name)
{
	if (*name == '^')
		return sk_arena_join(reading->arena, name + 1, ":-1");
	return !*name || strrchr(name, ':') ? name : sk_arena_join(reading->arena, name, ":0");
}

static bool take_node(const struct reading *reading, const struct def_node *node, struct def_op *op)
{
	bool taken = true;

	*op = (struct def_op){.message.line = node->message.line,
			      .message.column = node->message.column,
			      .name = node->name,
			      .type = node->op};
	for (size_t i = 0; i < node->inputs.count; i++)
		sk_array_push(reading->arena, &op->inputs, input_name(reading, node->inputs.items[i]));
	for (size_t i = 0; i < node->attributes.count; i++) {
		const struct def_named_text *named = &node->attributes.items[i];
		const char *key = named->key ? named->key : "";
		struct def_value *value = NULL;
		struct def_desc desc = {.element = 0};

		if (!strncmp(key, "[i]", 3) || !strncmp(key, "[o]", 3)) {
			taken &= parse_text(reading, node, named, &desc_type, &desc);
			if (key[1] == 'i')
				sk_array_push(reading->arena, &op->input_descs, desc);
			else
				sk_array_push(reading->arena, &op->output_descs, desc);
			continue;
		}
		value = SK_NEW(reading->arena, struct def_value);
		taken &= parse_text(reading, node, named, &value_type, value);
		sk_array_push(reading->arena, &op->attributes,
			      ((struct def_entry){.message.line = named->message.line,
						  .message.column = named->message.column,
						  .key = key,
						  .value = value}));
	}
	return taken;
}

/* ---- from GE's messages to those of its dumps ---- */

static struct sk_onnx_bytes bytes_of(const char *text)
{
	return (struct sk_onnx_bytes){(const uint8_t *)text, strlen(text)};
}

static const char *element_name(int64_t element)
{
	return element > 0 && element < ELEMENTS ? element_words[element] : element_words[0];
}

static struct sk_onnx_tensor *take_tensor(const struct reading *reading, const struct def_tensor *source)
{
	struct sk_onnx_tensor *tensor = SK_NEW(reading->arena, struct sk_onnx_tensor);
	const struct def_desc *desc = source->desc;

	tensor->message = source->message;
	tensor->message.present = 1u << SK_ONNX_TENSOR_RAW;
	tensor->element = desc ? sk_onnx_ge_element(bytes_of(element_name(desc->element))) : 0;
	tensor->raw = source->data;
	for (size_t i = 0; desc && desc->shape && i < desc->shape->dimensions.count; i++)
		sk_array_push(reading->arena, &tensor->dimensions, desc->shape->dimensions.items[i]);
	return tensor;
}

static void take_list(const struct reading *reading, const struct def_list *list, struct sk_onnx_attribute *attribute)
{
	attribute->type = list->strings.count ? SK_ONNX_ATTRIBUTE_STRINGS
			  : list->floats.size ? SK_ONNX_ATTRIBUTE_FLOATS
					      : SK_ONNX_ATTRIBUTE_INTS;
	attribute->floats = list->floats;
	for (size_t i = 0; i < list->strings.count; i++)
		sk_array_push(reading->arena, &attribute->strings, list->strings.items[i]);
	for (size_t i = 0; i < list->integers.count; i++)
		sk_array_push(reading->arena, &attribute->integers, list->integers.items[i]);
	for (size_t i = 0; i < list->flags.count; i++)
		sk_array_push(reading->arena, &attribute->integers, list->flags.items[i]);
}

/* An attribute of another kind is refused where the node is read. */
static struct sk_onnx_attribute attribute_of(const struct reading *reading, const struct def_entry *entry)
{
	struct sk_onnx_attribute attribute = {.message.line = entry->message.line,
					      .message.column = entry->message.column,
					      .name = entry->key,
					      .type = SK_ONNX_UNDEFINED};
	const struct def_value *value = entry->value;
	const struct sk_onnx_message *has = value ? &value->message : NULL;

	if (sk_onnx_has(has, VALUE_S)) {
		attribute.type = SK_ONNX_ATTRIBUTE_STRING;
		attribute.s = value->s;
	} else if (sk_onnx_has(has, VALUE_F)) {
		attribute.type = SK_ONNX_ATTRIBUTE_FLOAT;
		attribute.f = value->f;
	} else if (sk_onnx_has(has, VALUE_I) || sk_onnx_has(has, VALUE_B) || sk_onnx_has(has, VALUE_DT)) {
		attribute.type = SK_ONNX_ATTRIBUTE_INT;
		attribute.i = value->i + value->b + value->dt;
	} else if (sk_onnx_has(has, VALUE_LIST)) {
		take_list(reading, value->list, &attribute);
	} else if (sk_onnx_has(has, VALUE_T)) {
		attribute.type = SK_ONNX_ATTRIBUTE_TENSOR;
		attribute.t = take_tensor(reading, value->t);
	}
	return attribute;
}

static void add_desc_field(const struct reading *reading, struct sk_onnx_node *node, const char *side,
			   const char *field, size_t number, struct sk_onnx_attribute attribute)
{
	attribute.name = sk_arena_print(reading->arena, "%s_desc_%s:%zu", side, field, number);
	sk_array_push(reading->arena, &node->attributes, attribute);
}

/* Writers give every tensor a type, but that of a tensor without shape and without torch's description may be wrong. */
static bool has_type(const struct def_desc *desc)
{
	bool described = desc->shape;

	for (size_t i = 0; i < desc->attributes.count && !described; i++)
		described = desc->attributes.items[i].key && !strcmp(desc->attributes.items[i].key, "_meta");
	return described;
}

static void add_desc(const struct reading *reading, struct sk_onnx_node *node, const char *side, size_t number,
		     const struct def_desc *desc)
{
	struct sk_onnx_attribute shape = {.type = SK_ONNX_ATTRIBUTE_INTS};

	if (has_type(desc))
		add_desc_field(reading, node, side, "dtype", number,
			       (struct sk_onnx_attribute){.type = SK_ONNX_ATTRIBUTE_STRING,
							  .s = bytes_of(element_name(desc->element))});
	if (desc->layout && *desc->layout)
		add_desc_field(
			reading, node, side, "layout", number,
			(struct sk_onnx_attribute){.type = SK_ONNX_ATTRIBUTE_STRING, .s = bytes_of(desc->layout)});
	for (size_t i = 0; desc->shape && i < desc->shape->dimensions.count; i++)
		sk_array_push(reading->arena, &shape.integers, desc->shape->dimensions.items[i]);
	if (desc->shape)
		add_desc_field(reading, node, side, "shape", number, shape);
	for (size_t i = 0; i < desc->attributes.count; i++) {
		const struct def_entry *entry = &desc->attributes.items[i];

		if (entry->key && !strcmp(entry->key, "origin_format"))
			add_desc_field(reading, node, side, "origin_layout", number, attribute_of(reading, entry));
		else if (entry->key && !strcmp(entry->key, "origin_shape"))
			add_desc_field(reading, node, side, "origin_shape", number, attribute_of(reading, entry));
	}
}

/* Notes with other values than numbers, texts and lists are dropped. */
static void add_op(const struct reading *reading, const struct def_op *op, struct sk_onnx_graph *graph)
{
	struct sk_onnx_node node = {.message.line = op->message.line,
				    .message.column = op->message.column,
				    .name = op->name,
				    .op = sk_arena_join(reading->arena, "ge:", op->type ? op->type : "")};

	for (size_t i = 0; i < op->inputs.count; i++)
		sk_array_push(reading->arena, &node.inputs, op->inputs.items[i]);
	for (size_t i = 0; i < op->output_descs.count; i++)
		sk_array_push(reading->arena, &node.outputs,
			      sk_arena_print(reading->arena, "%s:%zu", op->name ? op->name : "", i));
	for (size_t i = 0; i < op->attributes.count; i++) {
		struct sk_onnx_attribute attribute = attribute_of(reading, &op->attributes.items[i]);

		if (attribute.type != SK_ONNX_UNDEFINED || !attribute.name || *attribute.name != '_')
			sk_array_push(reading->arena, &node.attributes, attribute);
	}
	for (size_t i = 0; i < op->input_descs.count; i++)
		add_desc(reading, &node, "input", i, &op->input_descs.items[i]);
	for (size_t i = 0; i < op->output_descs.count; i++)
		add_desc(reading, &node, "output", i, &op->output_descs.items[i]);
	sk_array_push(reading->arena, &graph->nodes, node);
}

struct sk_onnx_model *sk_onnx_parse_graph_def(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text)
{
	const struct reading reading = {diag->arena, diag, path};
	struct def_graph graph = {.name = NULL};
	struct sk_onnx_model *model = SK_NEW(diag->arena, struct sk_onnx_model);
	bool taken = true;

	if (!sk_onnx_parse_inner(diag, path, NULL, NULL, &graph_type, &graph, text))
		return NULL;
	model->producer = "GE";
	model->ir_version = 8;
	model->graph = SK_NEW(diag->arena, struct sk_onnx_graph);
	model->graph->name = graph.name;
	for (size_t i = 0; i < graph.ops.count; i++)
		add_op(&reading, &graph.ops.items[i], model->graph);
	for (size_t i = 0; i < graph.nodes.count && !sk_diag_is_hopeless(diag); i++) {
		struct def_op op;

		if (take_node(&reading, &graph.nodes.items[i], &op))
			add_op(&reading, &op, model->graph);
		else
			taken = false;
	}
	return taken ? model : NULL;
}
