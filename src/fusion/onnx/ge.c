/* From GE's words to ONNX's; see ge.h. */
#include "src/fusion/onnx/ge.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/map.h"
#include "src/fusion/onnx/aliases.h"

bool sk_onnx_is_ge_note(const char *name)
{
	static const char *const names[] = {
		"T",
		"atomic_output_index",
		"can_reused_for_concat_optimize",
		"continuous_input",
		"continuous_output",
		"dst_index",
		"dst_name",
		"dtype",
		"format",
		"id",
		"imply_type",
		"index",
		"input_i",
		"input_name",
		"is_input_const",
		"op_para_size",
		"output_i",
		"reference",
		"src_index",
		"src_name",
		"stream_id",
		"workspace",
		"workspace_bytes",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return !strncmp(name, "input_desc_", 11) || !strncmp(name, "output_desc_", 12);
}

/* ---- the model ---- */

/* A node that is an input of the graph. */
struct data {
	int64_t index; /* among them */
	uint32_t node;
};

struct translation {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *path;
	struct sk_onnx_graph *graph;
	struct sk_map inputs; /* outputs of Data nodes, to their nodes */
	SK_ARRAY(struct data) data;
};

static const sk_onnx_imports *imports_of(struct sk_arena *arena, const char *domain, int64_t version)
{
	sk_onnx_imports *imports = SK_NEW(arena, sk_onnx_imports);

	sk_array_push(arena, imports, (struct sk_onnx_import){.domain = domain, .version = version});
	return imports;
}

static const char *type_of(const struct sk_onnx_node *node)
{
	const char *op = node->op ? node->op : "";

	return !strncmp(op, "ge:", 3) ? op + 3 : op;
}

static bool is_ge(const struct sk_onnx_model *model)
{
	if (model->producer && !strcmp(model->producer, "GE"))
		return true;
	for (size_t i = 0; i < model->graph->nodes.count; i++)
		if (type_of(&model->graph->nodes.items[i]) != model->graph->nodes.items[i].op &&
		    model->graph->nodes.items[i].op)
			return true;
	return false;
}

static struct sk_onnx_attribute *find_attribute(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

/* "peer:-1" says that a node runs behind another one, of which it needs no value. */
static bool is_control(const char *name)
{
	size_t length = strlen(name);

	return length >= 3 && !strcmp(name + length - 3, ":-1");
}

static void drop_controls(struct sk_onnx_node *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->inputs.count; i++)
		if (!is_control(node->inputs.items[i]))
			node->inputs.items[kept++] = node->inputs.items[i];
	node->inputs.count = kept;
	kept = 0;
	for (size_t i = 0; i < node->outputs.count; i++)
		if (!is_control(node->outputs.items[i]))
			node->outputs.items[kept++] = node->outputs.items[i];
	node->outputs.count = kept;
}

/* ---- types of outputs ---- */

/* GE's types, with its numbers and those of onnx.proto. */
static const struct {
	const char *name;
	int64_t number, element;
} types[] = {
	{"DT_FLOAT", 0, 1},    {"DT_FLOAT16", 1, 10}, {"DT_INT8", 2, 3},    {"DT_INT32", 3, 6}, {"DT_UINT8", 4, 2},
	{"DT_INT16", 6, 5},    {"DT_UINT16", 7, 4},   {"DT_UINT32", 8, 12}, {"DT_INT64", 9, 7}, {"DT_UINT64", 10, 13},
	{"DT_DOUBLE", 11, 11}, {"DT_BOOL", 12, 9},    {"DT_BF16", 27, 16},
};

/* DT_FLOAT and the like, as numbers of onnx.proto; 0: another one. */
static int64_t element_of(struct sk_onnx_bytes name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (name.size == strlen(types[i].name) && !memcmp(name.bytes, types[i].name, name.size))
			return types[i].element;
	return 0;
}

const char *sk_onnx_ge_type_name(int64_t element)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].element == element)
			return types[i].name;
	return "DT_UNDEFINED";
}

static int64_t element_of_number(int64_t number)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].number == number)
			return types[i].element;
	return 0;
}

/* What output_desc_dtype:0 and output_desc_shape:0 say of output 0. -2 is a shape of unknown rank. */
static struct sk_onnx_value_info describe(struct translation *translation, const struct sk_onnx_node *node,
					  size_t output, const char *name)
{
	struct sk_arena *arena = translation->arena;
	const struct sk_onnx_attribute *dtype =
		find_attribute(node, sk_arena_print(arena, "output_desc_dtype:%zu", output));
	const struct sk_onnx_attribute *shape =
		find_attribute(node, sk_arena_print(arena, "output_desc_shape:%zu", output));
	struct sk_onnx_value_info info = {.message = node->message, .name = name};
	struct sk_onnx_tensor_type *tensor = SK_NEW(arena, struct sk_onnx_tensor_type);

	info.type = SK_NEW(arena, struct sk_onnx_value_type);
	info.type->tensor = tensor;
	tensor->element = dtype ? element_of(dtype->s) : 0;
	if (!shape || (shape->integers.count == 1 && shape->integers.items[0] == -2))
		return info;
	tensor->shape = SK_NEW(arena, struct sk_onnx_shape);
	for (size_t i = 0; i < shape->integers.count; i++)
		sk_array_push(arena, &tensor->shape->dimensions,
			      (struct sk_onnx_dimension){.message.present = 1u << SK_ONNX_DIMENSION_VALUE,
							 .value = shape->integers.items[i]});
	return info;
}

/* ---- nodes ---- */

static bool translate_constant(struct translation *translation, struct sk_onnx_node *node)
{
	struct sk_onnx_attribute *value = find_attribute(node, "value");

	if (!value || !value->t) {
		sk_error(translation->diag,
			 (struct sk_place){translation->path, node->message.line, node->message.column, NULL, {0}},
			 "constant '%s' has no contents in this dump; GE writes them with DUMP_GE_GRAPH=1",
			 node->name ? node->name : "");
		return false;
	}
	node->attributes.items[0] = *value;
	node->attributes.count = 1;
	node->op = "Constant";
	node->imports = imports_of(translation->arena, "", 13);
	return true;
}

/* PhonySplit and PhonyConcat have one number as a list of numbers, of which there may be more for several axes, and
 * have no task wherever that can be. */
static void translate_phony(struct translation *translation, struct sk_onnx_node *node)
{
	static const char *const names[] = {"split_dim", "num_split", "concat_dim"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sk_onnx_attribute *list = find_attribute(node, names[i]);

		if (!list || list->integers.count != 1)
			continue;
		*list = (struct sk_onnx_attribute){.message = list->message,
						   .name = list->name,
						   .type = SK_ONNX_ATTRIBUTE_INT,
						   .i = list->integers.items[0]};
		list->message.present = 1u << SK_ONNX_VALUE_I;
	}
	if (!find_attribute(node, "_no_task"))
		sk_array_push(translation->arena, &node->attributes,
			      (struct sk_onnx_attribute){.name = "_no_task", .type = SK_ONNX_ATTRIBUTE_INT, .i = 1});
}

static void translate_operator(struct translation *translation, struct sk_onnx_node *node)
{
	const char *type = type_of(node);
	const char *name = !strcmp(type, "Cast") ? "dst_type" : strncmp(type, "QuantBatchMatmul", 16) ? "" : "dtype";
	struct sk_onnx_attribute *target = find_attribute(node, name);

	if (!strncmp(type, "Phony", 5))
		translate_phony(translation, node);
	if (target)
		target->i = element_of_number(target->i);
	if (!sk_onnx_translate_alias(translation->arena, "ge", type, node)) {
		node->op = type;
		node->domain = "ge";
		node->imports = imports_of(translation->arena, node->domain, 1);
	}
	node->origin = sk_arena_print(translation->arena, "ge:%s", type);
	for (size_t i = 0; i < node->outputs.count; i++)
		sk_array_push(translation->arena, &translation->graph->infos,
			      describe(translation, node, i, node->outputs.items[i]));
}

/* Inputs are called like their nodes. */
static void rename_inputs(struct translation *translation, struct sk_onnx_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		uint32_t data = sk_map_find(&translation->inputs, node->inputs.items[i], strlen(node->inputs.items[i]));

		if (data != SK_NONE)
			node->inputs.items[i] = translation->graph->nodes.items[data].name;
	}
}

static bool translate_node(struct translation *translation, struct sk_onnx_node *node)
{
	const char *type = type_of(node);

	drop_controls(node);
	rename_inputs(translation, node);
	if (!strcmp(type, "Const") || !strcmp(type, "Constant"))
		return translate_constant(translation, node);
	if (!strcmp(type, "Data")) {
		node->outputs.count = 0;
		return true;
	}
	if (!strcmp(type, "NetOutput")) {
		translation->graph->outputs.count = 0;
		for (size_t i = 0; i < node->inputs.count; i++)
			if (*node->inputs.items[i])
				sk_array_push(translation->arena, &translation->graph->outputs,
					      (struct sk_onnx_value_info){.message = node->message,
									  .name = node->inputs.items[i]});
		node->outputs.count = 0;
		return true;
	}
	translate_operator(translation, node);
	return true;
}

/* ---- inputs ---- */

/* In the order that GE gives them. */
static int compare_data(const void *first, const void *second)
{
	const struct data *a = first, *b = second;

	return a->index != b->index ? (a->index > b->index) - (a->index < b->index)
				    : (a->node > b->node) - (a->node < b->node);
}

static void add_inputs(struct translation *translation)
{
	struct sk_onnx_graph *graph = translation->graph;

	for (uint32_t i = 0; i < graph->nodes.count; i++) {
		struct sk_onnx_node *node = &graph->nodes.items[i];

		if (strcmp(type_of(node), "Data") || !node->name || !*node->name)
			continue;

		const struct sk_onnx_attribute *index = find_attribute(node, "index");

		sk_array_push(translation->arena, &translation->data, (struct data){index ? index->i : 0, i});
		for (size_t j = 0; j < node->outputs.count; j++)
			sk_map_insert(&translation->inputs, node->outputs.items[j], strlen(node->outputs.items[j]), i);
	}
	if (!translation->data.count)
		return;
	qsort(translation->data.items, translation->data.count, sizeof(*translation->data.items), compare_data);
	graph->inputs.count = 0;
	for (size_t i = 0; i < translation->data.count; i++) {
		const struct sk_onnx_node *node = &graph->nodes.items[translation->data.items[i].node];

		sk_array_push(translation->arena, &graph->inputs, describe(translation, node, 0, node->name));
	}
}

bool sk_onnx_translate_ge(struct sk_diag *diag, const char *path, struct sk_onnx_model *model)
{
	struct translation translation = {.arena = diag->arena, .diag = diag, .path = path, .graph = model->graph};
	bool ok = true;

	if (!is_ge(model))
		return true;
	sk_map_init(&translation.inputs, diag->arena);
	add_inputs(&translation);
	for (size_t i = 0; i < model->graph->nodes.count && !sk_diag_is_hopeless(diag); i++)
		ok = translate_node(&translation, &model->graph->nodes.items[i]) && ok;
	return ok;
}
