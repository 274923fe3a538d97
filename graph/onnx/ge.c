/* Translation from GE's vocabulary to ONNX's; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/onnx/onnx.h"

/* The most outputs of a node. Outputs that a dump leaves out take space as well. */
enum { MAX_OUTPUTS = 1024 };

/* ---- the model ---- */

typedef SK_ARRAY(uint32_t) numbers;

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

/* True for two attributes with the same value. */
static bool is_same(const struct sk_onnx_attribute *a, const struct sk_onnx_attribute *b)
{
	bool same = a->type == b->type && a->i == b->i && !memcmp(&a->f, &b->f, sizeof(a->f)) &&
		    sk_onnx_same_bytes(a->s, b->s) && sk_onnx_same_bytes(a->floats, b->floats) &&
		    a->integers.count == b->integers.count && a->strings.count == b->strings.count && a->t == b->t;

	for (size_t i = 0; same && i < a->integers.count; i++)
		same = a->integers.items[i] == b->integers.items[i];
	for (size_t i = 0; same && i < a->strings.count; i++)
		same = sk_onnx_same_bytes(a->strings.items[i], b->strings.items[i]);
	return same;
}

/* Several passes of GE may have written an attribute, all with the same value. False after an error. */
static bool drop_repeated(const struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	struct sk_map names;
	size_t kept = 0;
	bool same = true;

	sk_map_init(&names, translation->arena);
	for (size_t i = 0; i < node->attributes.count; i++) {
		const struct sk_onnx_attribute attribute = node->attributes.items[i];
		const char *name = attribute.name ? attribute.name : "";
		uint32_t first = sk_map_insert(&names, name, strlen(name), (uint32_t)kept);

		if (first == kept)
			node->attributes.items[kept++] = attribute;
		else if (same && !is_same(&node->attributes.items[first], &attribute)) {
			sk_ge_report(translation, node,
				     sk_arena_print(translation->arena, "it has the attribute '%s' twice", name));
			same = false;
		}
	}
	node->attributes.count = kept;
	sk_map_release(&names);
	return same;
}

/* "peer:-1" is a control dependency, without a value. */
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

/* ---- outputs ---- */

/* Return the number of a listed output: that in "node:number", or else its position in the list. */
static size_t output_number(const struct sk_onnx_node *node, size_t listed)
{
	const char *colon = strrchr(node->outputs.items[listed], ':'), *digits = colon ? colon + 1 : "";
	size_t length = strspn(digits, "0123456789");

	return length && !digits[length] ? strtoul(digits, NULL, 10) : listed;
}

/* Return the least number of outputs: a split has a number of parts, even if some are unused. */
static size_t count_parts(const struct sk_onnx_node *node)
{
	const struct sk_onnx_attribute *count = sk_ge_attribute(node, "num_split");
	int64_t parts = !count ? 0 : count->integers.count == 1 ? count->integers.items[0] : count->i;

	return parts > 0 && parts <= MAX_OUTPUTS ? (size_t)parts : 0;
}

/* Insert absent outputs: a dump may list only those that are used. False after an error. */
static bool place_outputs(const struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	size_t listed = node->outputs.count, count = listed > count_parts(node) ? listed : count_parts(node);
	const char **names;

	for (size_t i = 0; i < listed; i++) {
		size_t place = output_number(node, i);

		count = place < count ? count : place + 1;
		if (place < listed || place < MAX_OUTPUTS)
			continue;
		sk_ge_report(translation, node,
			     sk_arena_print(translation->arena, "output '%s' has a number above %d",
					    node->outputs.items[i], MAX_OUTPUTS - 1));
		return false;
	}
	names = SK_NEW_ARRAY(translation->arena, const char *, count + 1);
	for (size_t i = 0; i < listed; i++) {
		size_t place = output_number(node, i);

		if (names[place]) {
			sk_ge_report(translation, node,
				     sk_arena_print(translation->arena, "'%s' and '%s' are both its output %zu",
						    names[place], node->outputs.items[i], place));
			return false;
		}
		names[place] = node->outputs.items[i];
	}
	node->outputs.count = 0;
	for (size_t i = 0; i < count; i++)
		sk_array_push(translation->arena, &node->outputs, names[i] ? names[i] : "");
	return true;
}

/* ---- types of outputs ---- */

/* Make a tensor of int4 one of bytes. */
static void pack_type(const struct sk_ge_translation *translation, const struct sk_onnx_node *node, const char *name,
		      struct sk_onnx_tensor_type *tensor)
{
	size_t rank = tensor->shape->dimensions.count;
	struct sk_onnx_dimension *last = rank ? &tensor->shape->dimensions.items[rank - 1] : NULL;

	if (!last || last->value % 2) {
		sk_ge_report(translation, node,
			     sk_arena_print(translation->arena,
					    "'%s' is int4, and its last dimension does not have whole bytes", name));
		return;
	}
	tensor->element = SK_GE_BYTES;
	last->value /= 2;
}

/* Read output_desc_dtype:0 and output_desc_shape:0. -2 is a shape of unknown rank. */
static struct sk_onnx_value_info read_output_type(struct sk_ge_translation *translation,
						  const struct sk_onnx_node *node, size_t output, const char *name)
{
	struct sk_arena *arena = translation->arena;
	const struct sk_onnx_attribute *dtype =
		sk_ge_attribute(node, sk_arena_print(arena, "output_desc_dtype:%zu", output));
	const struct sk_onnx_attribute *shape =
		sk_ge_attribute(node, sk_arena_print(arena, "output_desc_shape:%zu", output));
	struct sk_onnx_value_info info = {.message = node->message, .name = name};
	struct sk_onnx_tensor_type *tensor = SK_NEW(arena, struct sk_onnx_tensor_type);

	info.type = SK_NEW(arena, struct sk_onnx_value_type);
	info.type->tensor = tensor;
	tensor->element = dtype ? sk_onnx_ge_element(dtype->s) : 0;
	if (!shape || (shape->integers.count == 1 && shape->integers.items[0] == -2))
		return info;
	tensor->shape = SK_NEW(arena, struct sk_onnx_shape);
	for (size_t i = 0; i < shape->integers.count; i++)
		sk_array_push(arena, &tensor->shape->dimensions,
			      (struct sk_onnx_dimension){.message.present = 1u << SK_ONNX_DIMENSION_VALUE,
							 .value = shape->integers.items[i]});
	if (tensor->element == SK_GE_INT4)
		pack_type(translation, node, name, tensor);
	return info;
}

/* ---- nodes ---- */

static bool is_constant(const struct sk_onnx_node *node)
{
	return !strcmp(type_of(node), "Const") || !strcmp(type_of(node), "Constant");
}

/* Make the tensor of value_desc_dtype, value_desc_shape and value_data, the bytes of its elements. NULL: there are no
 * contents. */
static struct sk_onnx_tensor *described_tensor(const struct sk_ge_translation *translation,
					       const struct sk_onnx_node *node)
{
	const struct sk_onnx_attribute *dtype = sk_ge_attribute(node, "value_desc_dtype");
	const struct sk_onnx_attribute *shape = sk_ge_attribute(node, "value_desc_shape");
	const struct sk_onnx_attribute *data = sk_ge_attribute(node, "value_data");
	struct sk_onnx_tensor *tensor = SK_NEW(translation->arena, struct sk_onnx_tensor);
	bool empty = false;

	for (size_t i = 0; shape && i < shape->integers.count; i++) {
		sk_array_push(translation->arena, &tensor->dimensions, shape->integers.items[i]);
		empty |= !shape->integers.items[i];
	}
	if (!dtype || (!data && !empty))
		return NULL;
	tensor->message = node->message;
	tensor->message.present = 1u << SK_ONNX_TENSOR_RAW;
	tensor->element = sk_onnx_ge_element(dtype->s);
	if (tensor->element == SK_GE_INT4 && tensor->dimensions.count) {
		tensor->element = SK_GE_BYTES;
		tensor->dimensions.items[tensor->dimensions.count - 1] /= 2;
	}
	if (data)
		tensor->raw = data->s;
	return tensor;
}

static bool translate_constant(struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	struct sk_onnx_attribute *value = sk_ge_attribute(node, "value");
	struct sk_onnx_attribute contents = {.name = "value", .type = SK_ONNX_ATTRIBUTE_TENSOR};

	if (value)
		contents = *value;
	if (!contents.t)
		contents.t = described_tensor(translation, node);
	if (!contents.t) {
		sk_error(translation->diag,
			 (struct sk_place){translation->path, node->message.line, node->message.column, NULL, {0}},
			 "constant '%s' has no contents in this dump; GE writes them with DUMP_GE_GRAPH=1",
			 node->name ? node->name : "");
		return false;
	}
	node->attributes.count = 0;
	sk_array_push(translation->arena, &node->attributes, contents);
	node->op = "Constant";
	node->imports = sk_ge_imports(translation->arena, "", 13);
	return true;
}

/* PhonySplit and PhonyConcat have a number as a list, which may have several items for several axes. They have no task
 * wherever that is possible. */
static void translate_phony(struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	static const char *const names[] = {"split_dim", "num_split", "concat_dim"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sk_onnx_attribute *list = sk_ge_attribute(node, names[i]);

		if (!list || list->integers.count != 1)
			continue;
		*list = (struct sk_onnx_attribute){.message = list->message,
						   .name = list->name,
						   .type = SK_ONNX_ATTRIBUTE_INT,
						   .i = list->integers.items[0]};
		list->message.present = 1u << SK_ONNX_VALUE_I;
	}
	if (!sk_ge_attribute(node, "_no_task"))
		sk_array_push(translation->arena, &node->attributes,
			      (struct sk_onnx_attribute){.name = "_no_task", .type = SK_ONNX_ATTRIBUTE_INT, .i = 1});
}

/* Return the attribute that is a type; NULL: none is. */
static struct sk_onnx_attribute *find_type(const struct sk_onnx_node *node, const char *type)
{
	/* Operators with that prefix. */
	static const struct {
		const char *type, *attribute;
	} typed[] = {
		{"AscendAntiQuant", "dst_type"},
		{"ArgM", "dtype"},
		{"Cast", "dst_type"},
		{"QuantBatchMatmul", "dtype"},
		{"ReduceMeanWithCast", "dtype"},
		{"SearchSorted", "dtype"},
		{"Shape", "dtype"},
		{"TopKV2", "indices_dtype"},
	};

	for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
		if (!strncmp(type, typed[i].type, strlen(typed[i].type)))
			return sk_ge_attribute(node, typed[i].attribute);
	return NULL;
}

static bool translate_operator(struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	const char *type = type_of(node);
	struct sk_onnx_attribute *target = find_type(node, type);
	bool aliased, needed = translation->needed[node - translation->graph->nodes.items];

	if (!strncmp(type, "Phony", 5))
		translate_phony(translation, node);
	if (target)
		target->i = sk_ge_element_of_number(target->i);
	aliased = sk_onnx_translate_alias(translation->arena, "ge", type, node);
	if (!aliased) {
		node->op = type;
		node->domain = "ge";
		node->imports = sk_ge_imports(translation->arena, node->domain, 1);
	}
	node->origin = sk_arena_print(translation->arena, "ge:%s", type);
	for (size_t i = 0; i < node->outputs.count; i++)
		if (*node->outputs.items[i])
			sk_array_push(translation->arena, &translation->graph->infos,
				      read_output_type(translation, node, i, node->outputs.items[i]));
	return (!aliased && !sk_onnx_is_kind(type)) || !needed || sk_ge_translate_formats(translation, node, type);
}

/* Name inputs after their nodes. */
static void rename_inputs(struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		uint32_t data = sk_map_find(&translation->inputs, node->inputs.items[i], strlen(node->inputs.items[i]));

		if (data != SK_NONE)
			node->inputs.items[i] = translation->graph->nodes.items[data].name;
	}
}

static bool translate_node(struct sk_ge_translation *translation, struct sk_onnx_node *node)
{
	const char *type = type_of(node);

	rename_inputs(translation, node);
	if (is_constant(node))
		return true;
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
	return translate_operator(translation, node);
}

/* ---- inputs ---- */

/* Compare by GE's index. */
static int compare_data(const void *first, const void *second)
{
	const struct sk_ge_data *a = first, *b = second;

	return a->index != b->index ? (a->index > b->index) - (a->index < b->index)
				    : (a->node > b->node) - (a->node < b->node);
}

static void add_inputs(struct sk_ge_translation *translation)
{
	struct sk_onnx_graph *graph = translation->graph;

	for (uint32_t i = 0; i < graph->nodes.count; i++) {
		struct sk_onnx_node *node = &graph->nodes.items[i];

		if (strcmp(type_of(node), "Data") || !node->name || !*node->name)
			continue;

		const struct sk_onnx_attribute *index = sk_ge_attribute(node, "index");

		sk_array_push(translation->arena, &translation->data, (struct sk_ge_data){index ? index->i : 0, i});
		for (size_t j = 0; j < node->outputs.count; j++)
			sk_map_insert(&translation->inputs, node->outputs.items[j], strlen(node->outputs.items[j]), i);
	}
	if (!translation->data.count)
		return;
	qsort(translation->data.items, translation->data.count, sizeof(*translation->data.items), compare_data);
	graph->inputs.count = 0;
	for (size_t i = 0; i < translation->data.count; i++) {
		const struct sk_onnx_node *node = &graph->nodes.items[translation->data.items[i].node];

		sk_array_push(translation->arena, &graph->inputs, read_output_type(translation, node, 0, node->name));
	}
}

/* Record the outputs of all nodes, and their producers. */
static bool add_makers(struct sk_ge_translation *translation)
{
	sk_onnx_nodes *nodes = &translation->graph->nodes;
	bool placed = true;

	for (uint32_t n = 0; n < nodes->count && !sk_diag_is_hopeless(translation->diag); n++) {
		struct sk_onnx_node *node = &nodes->items[n];

		drop_controls(node);
		placed &= drop_repeated(translation, node);
		placed &= place_outputs(translation, node);
		for (uint32_t i = 0; i < node->outputs.count; i++) {
			const char *name = node->outputs.items[i];

			if (!*name) /* absent */
				continue;
			sk_map_insert(&translation->values, name, strlen(name), (uint32_t)translation->makers.count);
			if (!strcmp(type_of(node), "Data") && node->name) /* the name of its output from now on */
				sk_map_insert(&translation->values, node->name, strlen(node->name),
					      (uint32_t)translation->makers.count);
			sk_array_push(translation->arena, &translation->makers, (struct sk_ge_maker){n, i});
		}
	}
	return placed;
}

static void need(const struct sk_ge_translation *translation, const char *name, numbers *open)
{
	uint32_t index = sk_map_find(&translation->values, name, strlen(name));
	uint32_t node = index == SK_NONE ? SK_NONE : translation->makers.items[index].node;

	if (node == SK_NONE || translation->needed[node])
		return;
	translation->needed[node] = true;
	sk_array_push(translation->arena, open, node);
}

/* Nodes that no output needs are not checked. */
static void mark_needed(struct sk_ge_translation *translation)
{
	const struct sk_onnx_graph *graph = translation->graph;
	numbers open = {NULL, 0, 0};

	translation->needed = SK_NEW_ARRAY(translation->arena, bool, graph->nodes.count + 1);
	for (size_t i = 0; i < graph->outputs.count; i++)
		need(translation, graph->outputs.items[i].name ? graph->outputs.items[i].name : "", &open);
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (!strcmp(type_of(&graph->nodes.items[n]), "NetOutput")) {
			translation->needed[n] = true;
			sk_array_push(translation->arena, &open, n);
		}
	while (open.count) {
		const struct sk_onnx_node *node = &graph->nodes.items[open.items[--open.count]];

		for (size_t i = 0; i < node->inputs.count; i++)
			need(translation, node->inputs.items[i], &open);
	}
}

bool sk_onnx_translate_ge(struct sk_diag *diag, const char *path, struct sk_onnx_model *model)
{
	struct sk_ge_translation translation = {
		.arena = diag->arena, .diag = diag, .path = path, .graph = model->graph};
	bool ok;

	if (!is_ge(model))
		return true;
	sk_map_init(&translation.inputs, diag->arena);
	sk_map_init(&translation.values, diag->arena);
	sk_map_init(&translation.converted, diag->arena);
	ok = add_makers(&translation);
	mark_needed(&translation);
	add_inputs(&translation);
	for (size_t i = 0; i < model->graph->nodes.count && !sk_diag_is_hopeless(diag); i++)
		ok = translate_node(&translation, &model->graph->nodes.items[i]) && ok;
	for (size_t i = 0; i < translation.added.count; i++)
		sk_array_push(diag->arena, &model->graph->nodes, translation.added.items[i]);
	for (size_t i = 0; i < model->graph->nodes.count - translation.added.count && !sk_diag_is_hopeless(diag); i++)
		if (translation.needed[i] &&
		    is_constant(&model->graph->nodes.items[i])) /* its descriptions are dropped */
			ok = translate_constant(&translation, &model->graph->nodes.items[i]) && ok;
	return ok;
}
