/* From the graph of operators to a model's messages, as text; see onnx.h. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "graph/graph.h"
#include "graph/onnx/onnx-parts.h"
#include "graph/onnx/onnx.h"

/* The version of the format that has all that is written. In a dump constants of at least EXTERNAL_FROM bytes are
 * external, with the alignment that packages use. */
enum { IR_VERSION = 8, EXTERNAL_FROM = 1024, EXTERNAL_ALIGNMENT = 64 };

struct writing {
	struct sk_arena *arena;
	struct sk_onnx_model *model;
	struct sk_map domains; /* to the model's imports */
	struct sk_onnx_weights *weights; /* of a dump; NULL: not a dump */
};

static struct sk_onnx_graph *write_graph(struct writing *writing, const struct sk_op_graph *graph);

static struct sk_onnx_bytes bytes_of(const char *text)
{
	return (struct sk_onnx_bytes){(const uint8_t *)text, strlen(text)};
}

/* ---- values ---- */

static struct sk_onnx_shape *write_shape(struct sk_arena *arena, const struct sk_value *value)
{
	struct sk_onnx_shape *shape = SK_NEW(arena, struct sk_onnx_shape);

	for (uint32_t i = 0; i < value->rank; i++) {
		struct sk_onnx_dimension dimension = {0};

		if (value->shape[i] == SK_UNKNOWN) { /* the name of a dimension replaces its size */
			dimension.parameter = value->symbols[i];
		} else if (value->sizes[i]) {
			dimension.parameter = sk_size_text(arena, value->sizes[i]);
		} else {
			dimension.value = (int64_t)value->shape[i];
			dimension.message.present = 1u << SK_ONNX_DIMENSION_VALUE;
		}
		sk_array_push(arena, &shape->dimensions, dimension);
	}
	return shape;
}

static struct sk_onnx_value_info write_info(struct sk_arena *arena, const struct sk_value *value)
{
	struct sk_onnx_value_info info = {.name = value->name};

	if (!value->dtype && !value->shaped)
		return info;
	info.type = SK_NEW(arena, struct sk_onnx_value_type);
	info.type->tensor = SK_NEW(arena, struct sk_onnx_tensor_type);
	info.type->tensor->element = sk_onnx_element_of(value->dtype);
	if (value->shaped)
		info.type->tensor->shape = write_shape(arena, value);
	return info;
}

/* Return the offset of the contents among the weights; append them if they are new. The address is the key: no pass
 * changes contents. */
static uint64_t find_place(struct sk_onnx_weights *weights, const struct sk_value *value)
{
	struct sk_arena *arena = weights->places.arena;
	const void **key = SK_NEW(arena, const void *);
	uint32_t new = (uint32_t)weights->parts.count, part;

	*key = value->contents;
	part = sk_map_insert(&weights->places, (const char *)key, sizeof(*key), new);
	if (part == new) {
		uint64_t size = sk_value_bytes(value);

		sk_array_push(arena, &weights->parts, (struct sk_file_part){weights->size, value->contents, size});
		weights->size += (size + EXTERNAL_ALIGNMENT - 1) / EXTERNAL_ALIGNMENT * EXTERNAL_ALIGNMENT;
	}
	return weights->parts.items[part].offset;
}

static void write_external(struct writing *writing, const struct sk_value *value, struct sk_onnx_tensor *tensor)
{
	struct sk_arena *arena = writing->arena;
	uint64_t offset = find_place(writing->weights, value);
	const struct sk_onnx_entry entries[] = {
		{.key = "location", .value = writing->weights->location},
		{.key = "offset", .value = sk_arena_print(arena, "%" PRIu64, offset)},
		{.key = "length", .value = sk_arena_print(arena, "%" PRIu64, sk_value_bytes(value))},
	};

	tensor->location = SK_ONNX_EXTERNAL;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		sk_array_push(arena, &tensor->external, entries[i]);
}

static struct sk_onnx_tensor write_tensor(struct writing *writing, const struct sk_value *value, const char *name)
{
	struct sk_onnx_tensor tensor = {.name = name, .element = sk_onnx_element_of(value->dtype)};

	for (uint32_t i = 0; i < value->rank; i++)
		sk_array_push(writing->arena, &tensor.dimensions, (int64_t)value->shape[i]);
	if (writing->weights && writing->weights->extent != SK_DUMP_FULL)
		return tensor;
	if (writing->weights && sk_value_bytes(value) >= EXTERNAL_FROM) {
		write_external(writing, value, &tensor);
		return tensor;
	}
	tensor.raw = (struct sk_onnx_bytes){value->contents, sk_value_bytes(value)};
	tensor.message.present = 1u << SK_ONNX_TENSOR_RAW;
	return tensor;
}

/* ---- attributes ---- */

static struct sk_onnx_bytes write_reals(struct sk_arena *arena, const double *reals, size_t count)
{
	float *floats = SK_NEW_ARRAY(arena, float, count);

	for (size_t i = 0; i < count; i++)
		floats[i] = (float)reals[i];
	return (struct sk_onnx_bytes){(const uint8_t *)floats, count * sizeof(*floats)};
}

static struct sk_onnx_attribute write_attribute(struct sk_arena *arena, const struct sk_attribute *from)
{
	static const enum sk_onnx_attribute_type types[] = {
		[SK_ATTRIBUTE_INTEGER] = SK_ONNX_ATTRIBUTE_INT,	  [SK_ATTRIBUTE_REAL] = SK_ONNX_ATTRIBUTE_FLOAT,
		[SK_ATTRIBUTE_STRING] = SK_ONNX_ATTRIBUTE_STRING, [SK_ATTRIBUTE_INTEGERS] = SK_ONNX_ATTRIBUTE_INTS,
		[SK_ATTRIBUTE_REALS] = SK_ONNX_ATTRIBUTE_FLOATS,  [SK_ATTRIBUTE_STRINGS] = SK_ONNX_ATTRIBUTE_STRINGS,
	};
	struct sk_onnx_attribute to = {.name = from->name, .type = types[from->kind]};

	switch (from->kind) {
	case SK_ATTRIBUTE_INTEGER:
		to.i = from->integer;
		break;
	case SK_ATTRIBUTE_REAL:
		to.f = (float)from->real;
		break;
	case SK_ATTRIBUTE_STRING:
		to.s = bytes_of(from->string);
		break;
	case SK_ATTRIBUTE_INTEGERS:
		for (size_t i = 0; i < from->count; i++)
			sk_array_push(arena, &to.integers, from->integers[i]);
		break;
	case SK_ATTRIBUTE_REALS:
		to.floats = write_reals(arena, from->reals, from->count);
		break;
	case SK_ATTRIBUTE_STRINGS:
		for (size_t i = 0; i < from->count; i++)
			sk_array_push(arena, &to.strings, bytes_of(from->strings[i]));
		break;
	}
	return to;
}

static void write_word(struct sk_arena *arena, struct sk_onnx_node *node, const char *name, const char *word)
{
	if (word)
		sk_array_push(arena, &node->attributes,
			      (struct sk_onnx_attribute){
				      .name = name, .type = SK_ONNX_ATTRIBUTE_STRING, .s = bytes_of(word)});
}

static void write_number(struct sk_arena *arena, struct sk_onnx_node *node, const char *name, int64_t number)
{
	sk_array_push(arena, &node->attributes,
		      (struct sk_onnx_attribute){.name = name, .type = SK_ONNX_ATTRIBUTE_INT, .i = number});
}

/* True for a note about the memory of a node without a task. */
static bool is_about_memory(const char *name)
{
	static const char *const names[] = {"_no_padding_continuous_input", "_no_padding_continuous_output",
					    "_output_reuse_input", "_reuse_input_on_dim_index"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool has_decisions(const struct writing *writing)
{
	return writing->weights && writing->weights->decisions;
}

/* Write the marks that onnx.h describes. */
static void write_marks(const struct writing *writing, const struct sk_op_graph *graph,
			const struct sk_graph_node *node, struct sk_onnx_node *to)
{
	struct sk_arena *arena = writing->arena;

	if (node->composite) {
		write_number(arena, to, SK_ONNX_COMPOSITE, node->composite);
		write_word(arena, to, SK_ONNX_COMPOSITE_NAME, graph->composites.items[node->composite - 1].name);
	}
	write_word(arena, to, SK_ONNX_SCOPE, node->scope);
	write_word(arena, to, SK_ONNX_SCOPE_OPTIONS, node->scope_options);
	write_word(arena, to, SK_ONNX_ORIGIN, node->origin);
	write_word(arena, to, SK_ONNX_RULE, node->rule);
	if (node->stream)
		write_number(arena, to, SK_ONNX_STREAM, node->stream);
	if (node->cube_cores)
		write_number(arena, to, SK_ONNX_CUBE_CORES, node->cube_cores);
	if (node->vector_cores)
		write_number(arena, to, SK_ONNX_VECTOR_CORES, node->vector_cores);
	for (size_t i = 0; i < node->notes.count; i++)
		if (!node->no_task || !has_decisions(writing) || !is_about_memory(node->notes.items[i].name))
			sk_array_push(arena, &to->attributes, write_attribute(arena, &node->notes.items[i]));
}

/* Values computed by passes are constants, so their producers are not written. */
static bool is_made(const struct sk_op_graph *graph, uint32_t value)
{
	return value != SK_NONE && !graph->values.items[value].contents;
}

/* ---- nodes ---- */

/* A file imports one version of a domain: that of its first node. */
static void write_version(struct writing *writing, const struct sk_graph_node *node, struct sk_onnx_node *to)
{
	uint32_t new = (uint32_t)writing->model->imports.count;
	uint32_t import = sk_map_insert(&writing->domains, node->domain, strlen(node->domain), new);

	if (import != new && writing->model->imports.items[import].version != node->version)
		write_number(writing->arena, to, SK_ONNX_VERSION, node->version);
	if (import == new)
		sk_array_push(writing->arena, &writing->model->imports,
			      (struct sk_onnx_import){.domain = node->domain, .version = node->version});
}

/* Drop attributes that are a text; lists of texts have another type. */
static void drop_texts(struct sk_onnx_node *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].type != SK_ONNX_ATTRIBUTE_STRING)
			node->attributes.items[kept++] = node->attributes.items[i];
	node->attributes.count = kept;
}

static const char *name_of(const struct sk_op_graph *graph, uint32_t value)
{
	return value == SK_NONE ? "" : graph->values.items[value].name;
}

/* Write all facts about a node except inputs and outputs. With edges it gets notes; see onnx-parts.h. */
static void write_attributes(struct writing *writing, const struct sk_op_graph *graph,
			     const struct sk_dump_edges *edges, uint32_t number, struct sk_onnx_node *to)
{
	struct sk_arena *arena = writing->arena;
	const struct sk_graph_node *node = &graph->nodes.items[number];

	write_version(writing, node, to);
	for (size_t i = 0; i < node->attributes.count; i++)
		sk_array_push(arena, &to->attributes, write_attribute(arena, &node->attributes.items[i]));
	for (size_t i = 0; i < node->tensors.count; i++) {
		struct sk_onnx_tensor *tensor = SK_NEW(arena, struct sk_onnx_tensor);

		*tensor = write_tensor(writing, &graph->values.items[node->tensors.items[i].value], NULL);
		sk_array_push(arena, &to->attributes,
			      (struct sk_onnx_attribute){.name = node->tensors.items[i].name,
							 .type = SK_ONNX_ATTRIBUTE_TENSOR,
							 .t = tensor});
	}
	for (size_t i = 0; i < node->graphs.count; i++)
		sk_array_push(arena, &to->attributes,
			      (struct sk_onnx_attribute){.name = node->graphs.items[i].name,
							 .type = SK_ONNX_ATTRIBUTE_GRAPH,
							 .g = write_graph(writing, node->graphs.items[i].graph)});
	write_marks(writing, graph, node, to);
	if (writing->weights && writing->weights->extent == SK_DUMP_NO_WEIGHTS)
		drop_texts(to);
	if (edges)
		sk_dump_notes_add(arena, graph, edges, number, !has_decisions(writing), to);
}

static struct sk_onnx_node write_node(struct writing *writing, const struct sk_op_graph *graph,
				      const struct sk_dump_edges *edges, uint32_t number)
{
	struct sk_arena *arena = writing->arena;
	const struct sk_graph_node *node = &graph->nodes.items[number];
	struct sk_onnx_node to = {
		.op = node->op, .name = *node->name ? node->name : NULL, .domain = *node->domain ? node->domain : NULL};

	for (size_t i = 0; i < node->inputs.count; i++)
		sk_array_push(arena, &to.inputs, name_of(graph, node->inputs.items[i]));
	for (size_t i = 0; i < node->outputs.count; i++)
		sk_array_push(arena, &to.outputs,
			      is_made(graph, node->outputs.items[i]) ? name_of(graph, node->outputs.items[i]) : "");
	if (!writing->weights || writing->weights->extent != SK_DUMP_STRUCTURE)
		write_attributes(writing, graph, edges, number, &to);
	return to;
}

/* Mark values that nodes use or that are outputs. Other constants are tensors of attributes, or unused. */
static bool *find_used(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	bool *used = SK_NEW_ARRAY(arena, bool, graph->values.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++)
		for (size_t j = 0; j < graph->nodes.items[i].inputs.count; j++)
			if (graph->nodes.items[i].inputs.items[j] != SK_NONE && !graph->nodes.items[i].removed)
				used[graph->nodes.items[i].inputs.items[j]] = true;
	for (size_t i = 0; i < graph->outputs.count; i++)
		used[graph->outputs.items[i]] = true;
	return used;
}

static struct sk_onnx_graph *write_graph(struct writing *writing, const struct sk_op_graph *graph)
{
	struct sk_arena *arena = writing->arena;
	struct sk_onnx_graph *to = SK_NEW(arena, struct sk_onnx_graph);
	const bool *used = find_used(arena, graph);
	const struct sk_dump_edges *edges = writing->weights ? sk_dump_notes_edges(arena, graph) : NULL;

	to->name = graph->name;
	for (size_t i = 0; i < graph->inputs.count; i++)
		if (!graph->values.items[graph->inputs.items[i]].contents)
			sk_array_push(arena, &to->inputs,
				      write_info(arena, &graph->values.items[graph->inputs.items[i]]));
	for (size_t i = 0; i < graph->outputs.count; i++)
		sk_array_push(arena, &to->outputs, write_info(arena, &graph->values.items[graph->outputs.items[i]]));
	for (size_t i = 0; i < graph->values.count; i++) {
		const struct sk_value *value = &graph->values.items[i];

		if (value->contents && used[i])
			sk_array_push(arena, &to->initializers, write_tensor(writing, value, value->name));
		else if (is_made(graph, (uint32_t)i) && value->node != SK_NONE && !value->output &&
			 (value->dtype || value->shaped))
			sk_array_push(arena, &to->infos, write_info(arena, value));
	}
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		if (sk_node_is_live(graph, &graph->nodes.items[i]))
			sk_array_push(arena, &to->nodes, write_node(writing, graph, edges, i));
	return to;
}

/* ---- metadata ---- */

static void write_property(struct writing *writing, const char *key, struct sk_onnx_bytes value)
{
	sk_array_push(writing->arena, &writing->model->metadata,
		      (struct sk_onnx_property){.key = bytes_of(key), .value = value});
}

static void write_passes(struct writing *writing, const sk_texts *passes)
{
	struct sk_text text;

	if (!passes->count)
		return;
	sk_text_open(&text);
	for (size_t i = 0; i < passes->count; i++)
		fprintf(text.stream, "%s%s", i ? " " : "", passes->items[i]);
	sk_text_close(writing->arena, &text);
	write_property(writing, SK_ONNX_PASSES, (struct sk_onnx_bytes){(const uint8_t *)text.bytes, text.size});
}

/* Write the scopes that no node names. */
static void write_idle_scopes(struct writing *writing, const struct sk_op_graph *graph)
{
	struct sk_map said;
	uint32_t count = 0;

	sk_map_init(&said, writing->arena);
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];

		if (node->scope && sk_node_is_live(graph, node))
			sk_map_insert(&said, node->scope, strlen(node->scope), SK_NONE);
	}
	for (size_t i = 0; i < graph->scopes.count; i++) {
		const char *scope = graph->scopes.items[i];

		if (sk_map_insert(&said, scope, strlen(scope), count) != count)
			continue;
		write_property(writing, sk_arena_print(writing->arena, SK_ONNX_IDLE_SCOPE "%" PRIu32, count++),
			       bytes_of(scope));
	}
}

static void write_model(const struct sk_op_graph *graph, struct sk_onnx_weights *weights, FILE *stream)
{
	struct sk_arena *arena = sk_arena_create();
	struct writing writing = {.arena = arena, .model = SK_NEW(arena, struct sk_onnx_model), .weights = weights};

	sk_map_init(&writing.domains, arena);
	writing.model->ir_version = IR_VERSION;
	writing.model->producer = weights ? SK_DUMP_PRODUCER : "sklink";
	writing.model->graph = write_graph(&writing, graph);
	write_passes(&writing, &graph->passes);
	write_idle_scopes(&writing, graph);
	sk_onnx_print(writing.model, stream);
	sk_arena_destroy(arena);
}

void sk_onnx_write_text(const struct sk_op_graph *graph, FILE *stream)
{
	write_model(graph, NULL, stream);
}

void sk_onnx_write_dump(const struct sk_op_graph *graph, struct sk_onnx_weights *weights, FILE *stream)
{
	write_model(graph, weights, stream);
}
