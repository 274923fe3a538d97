/* From a model's messages to the graph of operators; see onnx.h. */
#include "graph/onnx/onnx.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "graph/graph.h"
#include "graph/onnx/onnx-parts.h"

/* Models import a handful of operator sets. The list is searched for each node, so it is limited. */
enum { MAX_IMPORTS = 1000, MANY_ATTRIBUTES = 16 };

/* The depth of nested bodies, including those of functions. It agrees with the limit of nested messages. */
enum { MAX_BODIES = 30 };

struct reader {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_onnx_files files;
	struct sk_onnx_model *model;
	struct sk_map warned; /* domains without an operator set, once warned about */
	bool dump; /* the file is a dump of --dump-dir: nodes have notes */
	struct sk_map composites; /* numbers in the file, to indices in the graph */
	struct sk_composite_names names; /* of composites */
	bool partial; /* refused values do not end the reading */
	unsigned refused; /* errors about refused values */
};

/* One graph: the model's, or a body in it. */
struct builder {
	struct reader *reader;
	unsigned depth; /* of nested bodies */
	struct sk_onnx_scope scope;
	struct sk_op_graph *graph;
};

static struct sk_op_graph *build(struct reader *reader, const struct sk_onnx_graph *source,
				 const struct builder *outer);

static struct sk_place place_of_message(const struct reader *reader, const struct sk_onnx_message *message)
{
	return (struct sk_place){.file = reader->files.path, .line = message->line, .column = message->column};
}

static bool has_ending(const char *text, const char *ending)
{
	size_t length = strlen(text), size = strlen(ending);

	return length > size && !strcmp(text + length - size, ending);
}

/* ---- values ---- */

static void refuse_value(const struct builder *builder, const struct sk_onnx_definition *definition,
			 const struct sk_onnx_message *message, const char *wrong)
{
	static const char *const kinds[] = {"input", "initializer", "initializer", "value"};
	struct sk_diag *diag = builder->reader->diag;
	unsigned errors = diag->errors;

	sk_error_alike(
		diag, place_of_message(builder->reader, message),
		sk_arena_print(diag->arena, "%s: %s", kinds[definition->origin], wrong),
		sk_arena_print(diag->arena, "%s '%s'%s%s", kinds[definition->origin], definition->name,
			       definition->origin == SK_ONNX_PRODUCED ? " of " : "",
			       definition->origin == SK_ONNX_PRODUCED
				       ? sk_onnx_node_label(diag->arena,
							    &builder->scope.source->nodes.items[definition->index])
				       : ""),
		"%s", wrong);
	builder->reader->refused += diag->errors - errors;
}

/* Return the value; the pointer is valid until the next value is added. */
static struct sk_value *value_of(struct builder *builder, const char *name)
{
	uint32_t index = sk_graph_value(builder->graph, name);

	return &builder->graph->values.items[index];
}

static void add_constant(struct builder *builder, const struct sk_onnx_definition *definition)
{
	const struct sk_onnx_graph *source = builder->scope.source;
	const bool is_sparse = definition->origin == SK_ONNX_SPARSE_CONSTANT;
	const struct sk_onnx_message *message = is_sparse ? &source->sparse.items[definition->index].message
							  : &source->initializers.items[definition->index].message;
	struct sk_onnx_files *files = &builder->reader->files;
	struct sk_value *value = value_of(builder, definition->name);
	const char *wrong = is_sparse
				    ? sk_onnx_take_sparse(files, &source->sparse.items[definition->index], value)
				    : sk_onnx_take_tensor(files, &source->initializers.items[definition->index], value);

	value->place = place_of_message(builder->reader, message);
	if (wrong)
		refuse_value(builder, definition, message, wrong);
}

/* Outputs of nodes may be sequences of tensors, and so may inputs of bodies. Inference resolves them. */
static bool is_sequence(const struct sk_onnx_value_type *type)
{
	return type && sk_onnx_has(&type->message, SK_ONNX_TYPE_SEQUENCE);
}

static bool is_of_texts(const struct sk_onnx_value_type *type)
{
	enum { TEXTS = 8 /* TensorProto.STRING */ };

	return type && type->tensor && type->tensor->element == TEXTS;
}

static const char *take_type(const struct builder *builder, const struct sk_onnx_value_type *type,
			     struct sk_value *value)
{
	return is_sequence(type) ? NULL : sk_onnx_take_type(builder->reader->arena, type, value);
}

/* Append which node needs the texts. */
static const char *name_user(const struct builder *builder, const char *name, const char *wrong)
{
	const struct sk_onnx_graph *source = builder->scope.source;

	for (size_t n = 0; n < source->nodes.count; n++)
		for (size_t i = 0; i < source->nodes.items[n].inputs.count; i++)
			if (builder->scope.visits[n].wanted && !strcmp(source->nodes.items[n].inputs.items[i], name))
				return sk_arena_print(
					builder->reader->arena,
					"%s, and %s needs its texts; compute its result in front of the model, and "
					"make that an input, or keep only outputs that do not need it",
					wrong, sk_onnx_node_label(builder->reader->arena, &source->nodes.items[n]));
	return wrong;
}

/* Inputs that the outputs do not need are kept, since callers pass them. An input that is not a tensor must not be
 * needed. */
static void add_input(struct builder *builder, const struct sk_onnx_definition *definition)
{
	const struct sk_onnx_value_info *info = definition->info;
	struct sk_value probe = {0};
	const char *wrong = builder->depth ? take_type(builder, info->type, &probe)
					   : sk_onnx_take_type(builder->reader->arena, info->type, &probe);

	if (!wrong && probe.element)
		wrong = sk_arena_print(builder->reader->arena,
				       "its elements are of type %s, which only constants can have",
				       sk_narrow_name(&probe));
	if (wrong && is_of_texts(info->type))
		wrong = name_user(builder, definition->name, wrong);
	if (wrong && definition->used)
		refuse_value(builder, definition, &info->message, wrong);
	if (wrong)
		return;

	uint32_t index = sk_graph_value(builder->graph, definition->name);
	struct sk_value *value = &builder->graph->values.items[index];

	value->place = place_of_message(builder->reader, &info->message);
	value->input = true;
	take_type(builder, info->type, value);
	sk_array_push(builder->reader->arena, &builder->graph->inputs, index);
}

/* True if the node makes constants, or moves their elements. */
static bool keeps_elements(const struct sk_onnx_node *node)
{
	static const char *const ops[] = {"Constant", "Flatten",   "Identity", "Reshape",
					  "Squeeze",  "Transpose", "Unsqueeze"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (node->op && !strcmp(node->op, ops[i]))
			return true;
	return false;
}

static void add_produced(struct builder *builder, const struct sk_onnx_definition *definition)
{
	const struct sk_onnx_node *node = &builder->scope.source->nodes.items[definition->index];
	const struct sk_onnx_message *message = &node->message;
	struct sk_value *value = value_of(builder, definition->name);
	const char *wrong = NULL;

	value->place = place_of_message(builder->reader, message);
	if (definition->info)
		wrong = take_type(builder, definition->info->type, value);
	if (!wrong && value->element && !keeps_elements(node)) {
		wrong = sk_arena_print(builder->reader->arena,
				       "its elements are of type %s, which sklink does not have",
				       sk_narrow_name(value));
		value->element = 0;
	}
	if (wrong && is_of_texts(definition->info->type))
		wrong = sk_arena_print(builder->reader->arena,
				       "%s; take it out of the model's outputs, and keep the numbers that it is made "
				       "from (of a classifier, the scores)",
				       wrong);
	if (wrong)
		refuse_value(builder, definition, message, wrong);
}

/* Names of values are registered before attributes add further values. */
static void add_values(struct builder *builder)
{
	for (size_t i = 0; i < builder->scope.definitions.count; i++) {
		const struct sk_onnx_definition *definition = &builder->scope.definitions.items[i];

		if (definition->origin == SK_ONNX_INPUT)
			add_input(builder, definition);
		else if (!definition->used)
			continue;
		else if (definition->origin == SK_ONNX_PRODUCED)
			add_produced(builder, definition);
		else
			add_constant(builder, definition);
	}
}

/* ---- attributes ---- */

static void refuse_attribute(struct builder *builder, const struct sk_onnx_node *node,
			     const struct sk_onnx_attribute *attribute, const char *wrong)
{
	sk_error(builder->reader->diag, place_of_message(builder->reader, &node->message), "%s: attribute '%s' %s",
		 sk_onnx_node_label(builder->reader->arena, node), attribute->name ? attribute->name : "", wrong);
}

/* Return the type of the attribute; SK_ONNX_UNDEFINED if the kind is not supported, or the value is of another kind.
 * The first version of the format had no types: there the field that is present decides. An attribute without a value
 * is 0. */
static int64_t type_of(const struct sk_onnx_attribute *attribute)
{
	static const int64_t types[SK_ONNX_VALUES] = {
		[SK_ONNX_VALUE_F] = SK_ONNX_ATTRIBUTE_FLOAT,   [SK_ONNX_VALUE_I] = SK_ONNX_ATTRIBUTE_INT,
		[SK_ONNX_VALUE_S] = SK_ONNX_ATTRIBUTE_STRING,  [SK_ONNX_VALUE_T] = SK_ONNX_ATTRIBUTE_TENSOR,
		[SK_ONNX_VALUE_G] = SK_ONNX_ATTRIBUTE_GRAPH,   [SK_ONNX_VALUE_FLOATS] = SK_ONNX_ATTRIBUTE_FLOATS,
		[SK_ONNX_VALUE_INTS] = SK_ONNX_ATTRIBUTE_INTS, [SK_ONNX_VALUE_STRINGS] = SK_ONNX_ATTRIBUTE_STRINGS,
	};
	int64_t type = attribute->type;

	for (unsigned i = 0; i < SK_ONNX_VALUES; i++) {
		if (!sk_onnx_has(&attribute->message, i))
			continue;
		if (type != SK_ONNX_UNDEFINED && type != types[i])
			return SK_ONNX_UNDEFINED;
		type = types[i];
	}
	return type;
}

static bool take_text(struct sk_arena *arena, struct sk_onnx_bytes bytes, const char **text)
{
	if (bytes.size && memchr(bytes.bytes, 0, bytes.size))
		return false;
	*text = sk_arena_copy(arena, bytes.size ? (const char *)bytes.bytes : "", bytes.size);
	return true;
}

static bool take_texts(struct sk_arena *arena, const struct sk_onnx_attribute *source, struct sk_attribute *attribute)
{
	const char **texts = SK_NEW_ARRAY(arena, const char *, source->strings.count);

	for (size_t i = 0; i < source->strings.count; i++)
		if (!take_text(arena, source->strings.items[i], &texts[i]))
			return false;
	attribute->strings = texts;
	attribute->count = source->strings.count;
	return true;
}

static void take_reals(struct sk_arena *arena, struct sk_onnx_bytes floats, struct sk_attribute *attribute)
{
	size_t count = floats.size / sizeof(float);
	double *reals = SK_NEW_ARRAY(arena, double, count);

	for (size_t i = 0; i < count; i++) {
		float real;

		memcpy(&real, floats.bytes + i * sizeof(real), sizeof(real));
		reals[i] = (double)real;
	}
	attribute->reals = reals;
	attribute->count = count;
}

static void add_tensor(struct builder *builder, struct sk_graph_node *to, const struct sk_onnx_node *node,
		       const struct sk_onnx_attribute *source)
{
	struct sk_op_graph *graph = builder->graph;
	struct sk_value tensor = {0};
	const char *wrong =
		source->t ? sk_onnx_take_tensor(&builder->reader->files, source->t, &tensor) : "there is none";

	if (wrong) {
		refuse_attribute(builder, node, source,
				 sk_arena_print(builder->reader->arena, "has a tensor that cannot be used: %s", wrong));
		return;
	}

	uint32_t index =
		sk_graph_new_value(graph, sk_arena_print(graph->arena, "%s.%s", node->outputs.items[0], source->name),
				   tensor.dtype, tensor.rank, tensor.shape);

	graph->values.items[index].contents = tensor.contents;
	graph->values.items[index].element = tensor.element;
	if (tensor.element && to->outputs.count && to->outputs.items[0] != SK_NONE)
		graph->values.items[to->outputs.items[0]].element = tensor.element;
	graph->values.items[index].packed = tensor.packed;
	graph->values.items[index].place = place_of_message(builder->reader, &node->message);
	sk_array_push(graph->arena, &to->tensors, (struct sk_attribute_tensor){source->name, index});
}

static void add_graph(struct builder *builder, struct sk_graph_node *to, const struct sk_onnx_node *node,
		      const struct sk_onnx_attribute *source)
{
	struct sk_op_graph *graph;

	if (!source->g || builder->depth == MAX_BODIES) {
		refuse_attribute(builder, node, source,
				 source->g ? "is one of more than 30 graphs in one another" : "has no graph");
		return;
	}
	graph = build(builder->reader, source->g, builder);
	if (graph)
		sk_array_push(builder->reader->arena, &to->graphs, (struct sk_attribute_graph){source->name, graph});
}

/* Refuse an attribute with a value that cannot be represented. GE gives its nodes attributes that mean nothing to the
 * operator, so there it is kept as an empty list. */
static void refuse_value_of(struct builder *builder, struct sk_graph_node *to, const struct sk_onnx_node *node,
			    const struct sk_onnx_attribute *source, const char *wrong)
{
	const struct sk_attribute empty = {.name = source->name,
					   .place = place_of_message(builder->reader, &source->message),
					   .kind = SK_ATTRIBUTE_STRINGS};

	if (sk_node_is_of_ge(to))
		sk_onnx_add_attribute(builder->reader->arena, to, &empty);
	else
		refuse_attribute(builder, node, source, wrong);
}

static void add_attribute(struct builder *builder, struct sk_graph_node *to, const struct sk_onnx_node *node,
			  const struct sk_onnx_attribute *source)
{
	struct sk_arena *arena = builder->reader->arena;
	struct sk_attribute attribute = {.name = source->name,
					 .place = place_of_message(builder->reader, &source->message)};
	bool text = true;

	switch (type_of(source)) {
	case SK_ONNX_ATTRIBUTE_FLOAT:
		attribute.kind = SK_ATTRIBUTE_REAL;
		attribute.real = (double)source->f;
		break;
	case SK_ONNX_ATTRIBUTE_INT:
		attribute.kind = SK_ATTRIBUTE_INTEGER;
		attribute.integer = source->i;
		break;
	case SK_ONNX_ATTRIBUTE_STRING:
		attribute.kind = SK_ATTRIBUTE_STRING;
		text = take_text(arena, source->s, &attribute.string);
		break;
	case SK_ONNX_ATTRIBUTE_TENSOR:
		add_tensor(builder, to, node, source);
		return;
	case SK_ONNX_ATTRIBUTE_GRAPH:
		add_graph(builder, to, node, source);
		return;
	case SK_ONNX_ATTRIBUTE_FLOATS:
		attribute.kind = SK_ATTRIBUTE_REALS;
		take_reals(arena, source->floats, &attribute);
		break;
	case SK_ONNX_ATTRIBUTE_INTS:
		attribute.kind = SK_ATTRIBUTE_INTEGERS;
		attribute.integers = source->integers.items;
		attribute.count = source->integers.count;
		break;
	case SK_ONNX_ATTRIBUTE_STRINGS:
		attribute.kind = SK_ATTRIBUTE_STRINGS;
		text = take_texts(arena, source, &attribute);
		break;
	default:
		refuse_value_of(
			builder, to, node, source,
			"is neither a number, a text, a list of these, a tensor nor a graph, or says that it is "
			"something else than it is");
		return;
	}
	if (!text)
		refuse_value_of(builder, to, node, source, "has a text with a NUL");
	else
		sk_onnx_add_attribute(arena, to, &attribute);
}

/* Return the name of an attribute that occurs twice; NULL: none does. */
static const char *find_repeated(struct sk_arena *arena, const struct sk_onnx_node *node)
{
	struct sk_map names;
	const char *repeated = NULL;

	sk_map_init(&names, arena);
	for (uint32_t i = 0; i < node->attributes.count && !repeated; i++) {
		const char *name = node->attributes.items[i].name ? node->attributes.items[i].name : "";

		for (uint32_t j = 0; node->attributes.count <= MANY_ATTRIBUTES && j < i && !repeated; j++)
			if (!strcmp(node->attributes.items[j].name ? node->attributes.items[j].name : "", name))
				repeated = name;
		if (node->attributes.count > MANY_ATTRIBUTES && sk_map_insert(&names, name, strlen(name), i) != i)
			repeated = name;
	}
	sk_map_release(&names);
	return repeated;
}

/* ---- nodes ---- */

static const char *plain_domain(const char *domain)
{
	return !domain || !strcmp(domain, "ai.onnx") ? "" : domain;
}

/* Return the version; 0: the domain is not imported. */
static uint32_t find_import(const sk_onnx_imports *imports, const char *domain)
{
	int64_t version = 0;

	for (size_t i = 0; i < imports->count; i++)
		if (!strcmp(plain_domain(imports->items[i].domain), domain) && imports->items[i].version > version)
			version = imports->items[i].version;
	return version < INT32_MAX ? (uint32_t)version : INT32_MAX;
}

/* Return the version of the domain's operator set for the node. A function determines it for its nodes. */
static uint32_t version_of(struct builder *builder, const struct sk_onnx_node *node)
{
	struct reader *reader = builder->reader;
	const char *domain = plain_domain(node->domain);
	uint32_t version = node->imports ? find_import(node->imports, domain) : 0;

	if (!version)
		version = find_import(&reader->model->imports, domain);
	if (version)
		return version;
	/* Models of the first two versions of the format import nothing, and mean version 1. */
	if (reader->model->ir_version >= 3 && reader->warned.count < MAX_IMPORTS &&
	    sk_map_find(&reader->warned, domain, strlen(domain)) == SK_NONE) {
		sk_map_insert(&reader->warned, domain, strlen(domain), 0);
		sk_warning(reader->diag, place_of_message(reader, &node->message),
			   "%s: the model does not say which version of the operator set '%s' it is written for; it is "
			   "taken to be 1",
			   sk_onnx_node_label(reader->arena, node), *domain ? domain : "ai.onnx");
	}
	return 1;
}

static uint32_t find_value(struct builder *builder, const char *name)
{
	return *name ? sk_graph_value(builder->graph, name) : SK_NONE;
}

static void add_operands(struct builder *builder, struct sk_graph_node *to, uint32_t number,
			 const struct sk_onnx_node *node)
{
	struct sk_arena *arena = builder->reader->arena;

	for (size_t i = 0; i < node->inputs.count; i++)
		sk_array_push(arena, &to->inputs, find_value(builder, node->inputs.items[i]));
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_onnx_definition *definition =
			sk_onnx_scope_find(&builder->scope, node->outputs.items[i]);
		uint32_t value = definition && definition->used ? find_value(builder, node->outputs.items[i]) : SK_NONE;

		sk_array_push(arena, &to->outputs, value);
		if (value != SK_NONE)
			builder->graph->values.items[value].node = number;
	}
}

/* Return the origin, which files written by sklink have as an attribute. */
static const char *origin_of(struct reader *reader, const struct sk_onnx_node *node)
{
	const char *origin = NULL;

	for (size_t i = 0; i < node->attributes.count && !node->origin; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, SK_ONNX_ORIGIN) &&
		    take_text(reader->arena, node->attributes.items[i].s, &origin) && *origin)
			return origin;
	return node->origin && *node->origin ? node->origin : NULL;
}

/* Return the operator of a composite that the expander has made: its name without a number, unless it ends as those of
 * other passes do; NULL: it does. */
static const char *expanded_operator(struct sk_arena *arena, const char *name)
{
	size_t length = strlen(name), digits = length;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits < length && digits > 1 && name[digits - 1] == '_')
		length = digits - 1;
	name = sk_arena_copy(arena, name, length);
	return has_ending(name, "_fusion") || has_ending(name, "_split") ? NULL : name;
}

/* Keep the composites of an earlier link. */
static void take_composite(struct builder *builder, const struct sk_onnx_node *node, struct sk_graph_node *to)
{
	struct sk_op_graph *graph = builder->graph;
	const int64_t *number = NULL;
	struct sk_composite composite = {NULL, NULL};

	for (size_t i = 0; i < node->attributes.count; i++)
		if (!node->attributes.items[i].name)
			continue;
		else if (!strcmp(node->attributes.items[i].name, SK_ONNX_COMPOSITE))
			number = &node->attributes.items[i].i;
		else if (!strcmp(node->attributes.items[i].name, SK_ONNX_COMPOSITE_NAME))
			take_text(graph->arena, node->attributes.items[i].s, &composite.name);
	if (!number || !composite.name || builder->depth)
		return;

	uint32_t new = (uint32_t)graph->composites.count;
	uint32_t index = sk_map_insert(&builder->reader->composites, (const char *)number, sizeof(*number), new);

	if (index == new) {
		composite.expanded = expanded_operator(graph->arena, composite.name);
		composite.name = sk_composite_names_add(&builder->reader->names, composite.name);
		sk_array_push(graph->arena, &graph->composites, composite);
	}
	to->composite = index + 1;
}

/* True if the source has described the node's tensors, as GE does: their formats have a meaning. */
static bool is_described(const struct sk_onnx_node *node)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && sk_dump_notes_describes(node->attributes.items[i].name) &&
		    strstr(node->attributes.items[i].name, "_desc_origin_"))
			return true;
	return false;
}

/* True if the attribute is not part of the node: it names the node's composite, or is a note of a dump. */
static bool is_left_out(const struct reader *reader, const struct sk_onnx_attribute *attribute, bool described)
{
	const char *name = attribute->name;

	if (described && sk_dump_notes_describes(name))
		return false;

	return !strcmp(name, SK_ONNX_COMPOSITE) || !strcmp(name, SK_ONNX_COMPOSITE_NAME) ||
	       (reader->dump && (sk_dump_notes_has(name) || (!strcmp(name, "_no_task") && !attribute->i)));
}

static void add_node(struct builder *builder, const struct sk_onnx_node *node)
{
	struct reader *reader = builder->reader;
	uint32_t number = (uint32_t)builder->graph->nodes.count;
	const char *repeated = find_repeated(reader->arena, node);
	bool described = reader->dump && is_described(node);
	struct sk_graph_node *to;

	if (!node->op || !*node->op) {
		sk_error(reader->diag, place_of_message(reader, &node->message), "%s names no operator",
			 sk_onnx_node_label(reader->arena, node));
		return;
	}
	if (node->wrong)
		sk_error(reader->diag, place_of_message(reader, &node->message), "%s: %s",
			 sk_onnx_node_label(reader->arena, node), node->wrong);
	if (node->refused)
		sk_error(reader->diag, place_of_message(reader, &node->message), "%s: attribute %s",
			 sk_onnx_node_label(reader->arena, node), node->refused);
	if (node->stray)
		sk_error(reader->diag, place_of_message(reader, &node->message),
			 "%s: its input %zu is none of those of %s", sk_onnx_node_label(reader->arena, node),
			 node->stray - 1, node->op);
	to = sk_graph_add_node(builder->graph, node->op);
	to->name = node->name ? node->name : "";
	to->place = place_of_message(reader, &node->message);
	to->domain = plain_domain(node->domain);
	to->origin = origin_of(reader, node);
	if (repeated)
		sk_error(reader->diag, to->place, "%s has the attribute '%s' twice",
			 sk_onnx_node_label(reader->arena, node), repeated);
	to->version = version_of(builder, node);
	for (size_t i = 0; i < node->told.count; i++)
		sk_array_push(reader->arena, &to->refusals, node->told.items[i]);
	add_operands(builder, to, number, node);
	for (size_t i = 0; i < node->attributes.count && !sk_diag_is_hopeless(reader->diag); i++)
		if (node->attributes.items[i].reference && *node->attributes.items[i].reference)
			refuse_attribute(builder, node, &node->attributes.items[i],
					 "refers to an attribute of a function, but is in none");
		else if (!node->attributes.items[i].name || !*node->attributes.items[i].name)
			refuse_attribute(builder, node, &node->attributes.items[i], "has no name");
		else if (!is_left_out(reader, &node->attributes.items[i], described))
			add_attribute(builder, to, node, &node->attributes.items[i]);
	take_composite(builder, node, to);
}

/* Add a scope even if none of its nodes is left. */
static void add_unneeded_scope(struct builder *builder, const struct sk_onnx_node *node)
{
	struct sk_op_graph *graph = builder->graph;
	const char *scope = "";

	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, SK_ONNX_SCOPE) &&
		    take_text(graph->arena, node->attributes.items[i].s, &scope) && *scope)
			sk_array_push(graph->arena, &graph->scopes, scope);
}

static void add_outputs(struct builder *builder)
{
	const struct sk_onnx_graph *source = builder->scope.source;
	struct sk_op_graph *graph = builder->graph;

	for (size_t i = 0; i < source->outputs.count; i++) {
		const char *name = source->outputs.items[i].name;
		uint32_t value = find_value(builder, name);

		if (value == SK_NONE)
			continue;
		if (graph->values.items[value].output)
			sk_error(graph->diag, place_of_message(builder->reader, &source->outputs.items[i].message),
				 "output '%s' is listed twice", name);
		graph->values.items[value].output = true;
		sk_array_push(graph->arena, &graph->outputs, value);
	}
}

static struct sk_op_graph *build(struct reader *reader, const struct sk_onnx_graph *source, const struct builder *outer)
{
	struct builder builder = {.reader = reader, .depth = outer ? outer->depth + 1 : 0};
	unsigned errors = reader->diag->errors, refused = reader->refused, found;

	if (!sk_onnx_scope_open(&builder.scope, reader->diag, reader->files.path, source, outer ? &outer->scope : NULL))
		return NULL;
	builder.graph = sk_graph_create(reader->arena, reader->diag, reader->files.path);
	builder.graph->name = source->name ? source->name : "";
	builder.graph->outer = outer ? outer->graph : NULL;
	add_values(&builder);
	add_outputs(&builder);
	for (size_t i = 0; i < builder.scope.order.count && !sk_diag_is_hopeless(reader->diag); i++)
		add_node(&builder, &source->nodes.items[builder.scope.order.items[i]]);
	for (size_t i = 0; i < source->nodes.count && !outer; i++)
		if (!builder.scope.visits[i].wanted)
			add_unneeded_scope(&builder, &source->nodes.items[i]);
	if (!outer)
		sk_onnx_check_narrow(builder.graph);
	found = reader->diag->errors - errors - (reader->partial ? reader->refused - refused : 0);
	return found ? NULL : builder.graph;
}

static void take_passes(struct sk_op_graph *graph, const char *text)
{
	while (*(text += strspn(text, " "))) {
		size_t length = strcspn(text, " ");

		sk_array_push(graph->arena, &graph->passes, sk_arena_copy(graph->arena, text, length));
		text += length;
	}
}

/* Restore the facts about the graph that were written to the metadata. */
static void take_metadata(const struct reader *reader, struct sk_op_graph *graph)
{
	for (size_t i = 0; i < reader->model->metadata.count; i++) {
		const struct sk_onnx_property *property = &reader->model->metadata.items[i];
		const char *key, *value;

		if (!take_text(reader->arena, property->key, &key) ||
		    !take_text(reader->arena, property->value, &value))
			continue;
		if (!strcmp(key, SK_ONNX_PASSES))
			take_passes(graph, value);
		else if (!strncmp(key, SK_ONNX_IDLE_SCOPE, strlen(SK_ONNX_IDLE_SCOPE)) && *value)
			sk_array_push(graph->arena, &graph->scopes, value);
	}
}

/* ---- files ---- */

static bool has_graph(struct reader *reader)
{
	if (!reader->model->graph)
		sk_error(reader->diag, (struct sk_place){.file = reader->files.path},
			 "this is not an ONNX model: it has no graph");
	return reader->model->graph != NULL;
}

static bool check_model(struct reader *reader)
{
	const struct sk_onnx_model *model = reader->model;
	struct sk_place place = {.file = reader->files.path};

	if (!model->graph->outputs.count)
		sk_error(reader->diag, place, "the model has no outputs");
	else if (model->imports.count > MAX_IMPORTS)
		sk_error(reader->diag, place, "the model imports more than %d operator sets", MAX_IMPORTS);
	else
		return true;
	return false;
}

static bool has_ending_of_text(const char *path)
{
	return has_ending(path, ".pbtxt") || has_ending(path, ".onnxtxt") || has_ending(path, ".textproto");
}

bool sk_onnx_is_model(const char *path)
{
	uint8_t bytes[256];
	struct sk_onnx_bytes start = {bytes, 0};

	if (has_ending(path, ".onnx") || has_ending(path, ".pb") || has_ending(path, ".mindir") ||
	    has_ending_of_text(path))
		return true;
	start.size = sk_onnx_files_start(path, bytes, sizeof(bytes));
	return sk_onnx_looks_encoded(start) || sk_onnx_looks_textual(start) || sk_onnx_looks_graph_def(start) ||
	       sk_mindir_looks_like(start);
}

/* The contents of a file take precedence over its name. */
static bool is_text(const char *path, struct sk_onnx_bytes bytes)
{
	return sk_onnx_looks_textual(bytes) || (has_ending_of_text(path) && !sk_onnx_looks_encoded(bytes));
}

/* The contents of a file take precedence over its name. */
static struct sk_onnx_model *read_model(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes)
{
	if (sk_onnx_looks_graph_def(bytes))
		return sk_onnx_parse_graph_def(diag, path, bytes);
	if (sk_mindir_looks_like(bytes) || (has_ending(path, ".mindir") && !sk_onnx_looks_encoded(bytes)))
		return sk_mindir_read(diag, path, bytes);
	return is_text(path, bytes) ? sk_onnx_parse(diag, path, bytes) : sk_onnx_decode(diag, path, bytes);
}

struct sk_op_graph *sk_onnx_read(struct sk_arena *arena, struct sk_diag *diag, const char *path, bool links)
{
	return sk_onnx_read_as(arena, diag, path, &(struct sk_onnx_reading){.links = links});
}

struct sk_op_graph *sk_onnx_read_as(struct sk_arena *arena, struct sk_diag *diag, const char *path,
				    const struct sk_onnx_reading *reading)
{
	struct reader reader = {.arena = arena, .diag = diag, .partial = reading->partial};
	struct sk_onnx_bytes bytes;
	struct sk_op_graph *graph;

	sk_map_init(&reader.warned, arena);
	sk_onnx_files_init(&reader.files, diag, path);
	reader.files.links = reading->links;
	reader.files.no_data = reading->no_data;
	if (!sk_onnx_files_model(&reader.files, &bytes))
		return NULL;
	reader.model = read_model(diag, path, bytes);
	reader.dump = reader.model && reader.model->producer && !strcmp(reader.model->producer, SK_DUMP_PRODUCER);
	sk_map_init(&reader.composites, arena);
	reader.names = sk_composite_names(arena, NULL);
	if (!reader.model || !has_graph(&reader))
		return NULL;
	sk_onnx_join_sends(diag, path, reader.model->graph);
	if (!sk_onnx_translate_ge(diag, path, reader.model) || !check_model(&reader))
		return NULL;
	sk_onnx_translate_kinds(arena, reader.model);
	if (!sk_onnx_expand_functions(diag, path, reader.model, bytes.size))
		return NULL;
	sk_onnx_translate_domains(arena, reader.model);
	sk_onnx_number_streams(arena, reader.model->graph);
	sk_onnx_tell_marks(diag, path, reader.model->graph);
	graph = build(&reader, reader.model->graph, NULL);
	if (!graph)
		return NULL;
	take_metadata(&reader, graph);
	graph->read_values = (uint32_t)graph->values.count;
	graph->absent_data = reader.files.absent;
	graph->partial = reader.refused;
	for (size_t i = 0; i < reader.files.paths.count; i++)
		sk_array_push(arena, &graph->data, reader.files.paths.items[i]);
	return graph;
}
