/* MINDIR files to ONNX's messages; see onnx-parts.h.
 *
 * A file has a graph, functions that it calls, and primitives, to which nodes refer as "REF::NAME". Names in a graph
 * begin with the name of the graph and a colon. A node has one output, which may be a tuple. The order of side effects
 * is data as well: nodes read and make monads, which are values without contents. Here every name is bound to a tensor
 * of ONNX's graph, to a constant, to a tuple of such bindings, or to an order. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

/* The number in onnx.proto of f64, and a second one in mind_ir.proto. */
enum { ELEMENT_F64 = 11, ELEMENT_FLOAT64 = 17 };

/* Calls in calls, as deep as ONNX's bodies. */
enum { MAX_CALLS = 30 };

typedef SK_ARRAY(struct sk_mindir_binding) bindings;

struct reader {
	struct sk_diag *diag;
	const char *path;
	const struct sk_mindir_model *model;
	struct sk_map functions, primitives; /* by name, to index */
	struct sk_mindir_target target;
	size_t nodes, most_nodes; /* read so far, with those of each call; and their limit */
};

/* A call of a graph. */
struct call {
	struct reader *reader;
	const struct sk_mindir_graph *graph;
	const struct call *outer; /* NULL: the model's graph */
	const char *prefix; /* of names in ONNX's graph */
	unsigned depth;
	struct sk_map names; /* to bindings */
	bindings bound;
};

static bool read_graph(struct call *call, const struct sk_mindir_binding *operands, size_t count,
		       struct sk_mindir_binding *result);

static bool refuse(struct reader *reader, const struct sk_mindir_node *node, const char *op, const char *wrong)
{
	const char *name = node->scope && *node->scope ? node->scope : node->name ? node->name : "";

	sk_error(reader->diag, (struct sk_place){.file = reader->path}, "node '%s' (%s): %s", name, op ? op : "",
		 wrong);
	return false;
}

/* ---- names ---- */

/* Return the name without that of its graph. */
static const char *local_name(const struct call *call, const char *name)
{
	size_t length = strlen(call->graph->name ? call->graph->name : "");

	if (length && !strncmp(name, call->graph->name, length) && name[length] == ':' && name[length + 1])
		name += length + 1;
	return *call->prefix ? sk_arena_join(call->reader->diag->arena, call->prefix, name) : name;
}

static void bind(struct call *call, const char *name, struct sk_mindir_binding binding)
{
	uint32_t new = (uint32_t)call->bound.count;
	uint32_t index = sk_map_insert(&call->names, name, strlen(name), new);

	if (index == new)
		sk_array_push(call->reader->diag->arena, &call->bound, binding);
	else
		call->bound.items[index] = binding;
}

/* Graphs may use names of the graphs that call them. NULL: nothing has that name. */
static const struct sk_mindir_binding *find(const struct call *call, const char *name)
{
	for (; call; call = call->outer) {
		uint32_t index = sk_map_find(&call->names, name, strlen(name));

		if (index != SK_NONE)
			return &call->bound.items[index];
	}
	return NULL;
}

/* ---- tensors ---- */

static int64_t element_of(int64_t type)
{
	return type == ELEMENT_FLOAT64 ? ELEMENT_F64 : type;
}

/* Return ONNX's description of a value. A dimension of -1 is open; a single one of -2 is a tensor of unknown rank. */
static struct sk_onnx_value_info describe(struct sk_arena *arena, const char *name,
					  const struct sk_mindir_tensor *tensor)
{
	struct sk_onnx_value_info info = {.name = name};
	const struct sk_onnx_tensor *type = &tensor->tensor;

	info.type = SK_NEW(arena, struct sk_onnx_value_type);
	info.type->tensor = SK_NEW(arena, struct sk_onnx_tensor_type);
	info.type->tensor->element = element_of(type->element);
	if (type->dimensions.count == 1 && type->dimensions.items[0] == -2)
		return info;
	info.type->tensor->shape = SK_NEW(arena, struct sk_onnx_shape);
	for (size_t i = 0; i < type->dimensions.count; i++) {
		bool known = type->dimensions.items[i] >= 0;

		sk_array_push(arena, &info.type->tensor->shape->dimensions,
			      (struct sk_onnx_dimension){.message.present = known ? 1u << SK_ONNX_DIMENSION_VALUE : 0,
							 .value = type->dimensions.items[i]});
	}
	return info;
}

static void add_external(struct sk_arena *arena, const struct sk_mindir_external *external,
			 struct sk_onnx_tensor *tensor)
{
	const char *const texts[][2] = {{"location", external->location},
					{"offset", sk_arena_print(arena, "%" PRId64, external->offset)},
					{"length", sk_arena_print(arena, "%" PRId64, external->length)}};

	tensor->location = SK_ONNX_EXTERNAL;
	for (size_t i = external->location ? 0 : 1; i < 3; i++)
		sk_array_push(arena, &tensor->external,
			      (struct sk_onnx_entry){.key = texts[i][0], .value = texts[i][1]});
}

/* Add a constant, and return its name; NULL after an error. */
static const char *add_tensor(struct reader *reader, const struct sk_mindir_tensor *source, const char *name)
{
	struct sk_onnx_tensor tensor = source->tensor;

	if (source->compression) {
		sk_error(reader->diag, (struct sk_place){.file = reader->path},
			 "tensor '%s' is compressed; export the model without compression", name);
		return NULL;
	}
	tensor.message.present &= 1u << SK_ONNX_TENSOR_RAW;
	tensor.element = element_of(tensor.element);
	tensor.name = sk_mindir_new_name(&reader->target, name);
	if (source->external)
		add_external(reader->diag->arena, source->external, &tensor);
	sk_array_push(reader->diag->arena, &reader->target.graph->initializers, tensor);
	return tensor.name;
}

static struct sk_mindir_binding value_of(const char *name, int64_t element)
{
	return (struct sk_mindir_binding){.kind = SK_MINDIR_VALUE, .name = name, .element = element_of(element)};
}

/* ---- constants ---- */

static bool is_tuple(const struct sk_mindir_attribute *attribute)
{
	return attribute->type == SK_MINDIR_TUPLE || attribute->type == SK_MINDIR_TUPLE_LIST;
}

/* Return the only tensor of the attribute; NULL: it is none, or several. */
static const struct sk_mindir_tensor *tensor_in(const struct sk_mindir_attribute *attribute)
{
	if (attribute->type != SK_MINDIR_TENSORS && attribute->type != SK_MINDIR_TENSOR)
		return NULL;
	return attribute->tensors.count == 1 ? &attribute->tensors.items[0] : attribute->t;
}

static bool bind_constant(struct reader *reader, const struct sk_mindir_attribute *value, const char *name,
			  struct sk_mindir_binding *binding)
{
	const struct sk_mindir_tensor *tensor = tensor_in(value);
	bool plain = true;

	*binding = (struct sk_mindir_binding){.kind = SK_MINDIR_CONSTANT, .name = name, .constant = value};
	if (tensor) {
		*binding = value_of(add_tensor(reader, tensor, name), tensor->tensor.element);
		return binding->name;
	}
	if (value->type == SK_MINDIR_MONAD || value->type == SK_MINDIR_IO_MONAD)
		binding->kind = SK_MINDIR_ORDER;
	else if (value->type == SK_MINDIR_NONE || value->type == SK_MINDIR_TYPE_NULL)
		binding->kind = SK_MINDIR_ABSENT;
	if (!is_tuple(value))
		return true;

	struct sk_mindir_binding *items =
		SK_NEW_ARRAY(reader->diag->arena, struct sk_mindir_binding, value->values.count + 1);

	for (size_t i = 0; i < value->values.count; i++) {
		if (!bind_constant(reader, &value->values.items[i], name, &items[i]))
			return false;
		plain &= items[i].kind == SK_MINDIR_CONSTANT && !is_tuple(&value->values.items[i]);
	}
	if (!plain)
		binding->kind = SK_MINDIR_ITEMS;
	binding->items = items;
	binding->count = value->values.count;
	return true;
}

static const struct sk_mindir_attribute *find_attribute(const sk_mindir_attributes *attributes, const char *name)
{
	for (size_t i = 0; i < attributes->count; i++)
		if (attributes->items[i].name && !strcmp(attributes->items[i].name, name))
			return &attributes->items[i];
	return NULL;
}

/* ---- nodes that order, pass on or combine values ---- */

static struct sk_mindir_binding items_of(const struct sk_mindir_binding *operands, size_t count)
{
	return (struct sk_mindir_binding){.kind = SK_MINDIR_ITEMS, .items = operands, .count = count};
}

static const char *take_item(const struct sk_mindir_binding *operands, size_t count, struct sk_mindir_binding *result)
{
	const struct sk_mindir_binding *tuple = &operands[0];
	const struct sk_mindir_attribute *index = count == 2 ? operands[1].constant : NULL;
	int64_t number;

	if (!index || operands[1].kind != SK_MINDIR_CONSTANT || index->integers.count > 1)
		return "its operands are not a tuple and a number";
	number = index->integers.count ? index->integers.items[0] : index->i;
	if (number < 0)
		number += (int64_t)tuple->count;
	if ((tuple->kind != SK_MINDIR_ITEMS && tuple->kind != SK_MINDIR_CONSTANT) || number < 0 ||
	    (uint64_t)number >= tuple->count)
		return "it takes an item that the tuple does not have";
	*result = tuple->items[number];
	return NULL;
}

/* Compute the result of a primitive that becomes no node. *wrong is NULL, or the reason for a failure. False: the
 * primitive becomes a node. */
static bool take_structure(const char *op, const struct sk_mindir_binding *operands, size_t count,
			   struct sk_mindir_binding *result, const char **wrong)
{
	static const char *const same[] = {"Load", "Depend", "StopGradient", "Return", NULL};
	static const char *const chosen[] = {"Partial", "Switch", "SwitchLayer", "While", NULL};

	*wrong = NULL;
	if (!strcmp(op, "MakeTuple") || !strcmp(op, "MakeList")) {
		*result = items_of(operands, count);
		return true;
	}
	if (!strcmp(op, "UpdateState")) {
		*result = (struct sk_mindir_binding){.kind = SK_MINDIR_ORDER};
		return true;
	}
	for (size_t i = 0; same[i]; i++) {
		if (strcmp(op, same[i]) != 0)
			continue;
		*wrong = count ? NULL : "it has no operand";
		if (count)
			*result = operands[0];
		return true;
	}
	if (!strcmp(op, "TupleGetItem") || !strcmp(op, "ListGetItem")) {
		*wrong = take_item(operands, count, result);
		return true;
	}
	for (size_t i = 0; chosen[i]; i++)
		if (!strcmp(op, chosen[i])) {
			*wrong = "it chooses a graph while the network runs; sklink calls only graphs that the file "
				 "names: "
				 "export the network without control flow that depends on values";
			return true;
		}
	return false;
}

/* ---- nodes of operators ---- */

/* Add an output of that type, and return its binding. */
static struct sk_mindir_binding add_output(struct reader *reader, const char *name, const struct sk_mindir_tensor *type,
					   struct sk_onnx_node *to)
{
	struct sk_arena *arena = reader->diag->arena;
	const char *new = sk_mindir_new_name(&reader->target, name);

	sk_array_push(arena, &to->outputs, new);
	if (type)
		sk_array_push(arena, &reader->target.graph->infos, describe(arena, new, type));
	return value_of(new, type ? type->tensor.element : 0);
}

/* Add the outputs of a node, as its attribute "shape" describes them. */
static const char *add_outputs(struct reader *reader, const char *name, const struct sk_mindir_attribute *shape,
			       struct sk_onnx_node *to, struct sk_mindir_binding *result)
{
	struct sk_mindir_binding *items;
	size_t count = shape && is_tuple(shape) ? shape->values.count : 0;

	if (!shape || !is_tuple(shape)) {
		*result = add_output(reader, name, shape ? tensor_in(shape) : NULL, to);
		return NULL;
	}
	items = SK_NEW_ARRAY(reader->diag->arena, struct sk_mindir_binding, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!tensor_in(&shape->values.items[i]))
			return "one of its outputs is not a tensor";
		items[i] = add_output(reader, sk_arena_print(reader->diag->arena, "%s:%zu", name, i),
				      tensor_in(&shape->values.items[i]), to);
	}
	*result = items_of(items, count);
	return NULL;
}

/* True for an attribute that says nothing about the result. */
static bool is_note(const char *name)
{
	static const char *const notes[] = {
		"shape",
		"input_names",
		"output_names",
		"side_effect_propagate",
		"primitive_target",
		"no_eliminate",
		"IsFeatureMapOutput",
		"IsFeatureMapInputList",
		"recompute",
		"visited",
		"is_load",
		"checkpoint",
		"side_effect_backprop",
		"has_dynamic_value",
		"func_name",
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (!strcmp(notes[i], name))
			return true;
	return false;
}

static const char *add_attributes(struct sk_arena *arena, const sk_mindir_attributes *attributes,
				  struct sk_onnx_node *to)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < attributes->count && !wrong; i++) {
		const struct sk_mindir_attribute *attribute = &attributes->items[i];

		if (attribute->name && *attribute->name && !is_note(attribute->name))
			wrong = sk_mindir_take_attribute(arena, attribute->name, attribute, to);
	}
	return wrong;
}

static const char *add_node(struct call *call, const struct sk_mindir_node *node, const char *op,
			    const struct sk_mindir_primitive *primitive, const struct sk_mindir_binding *operands,
			    size_t count, struct sk_mindir_binding *result)
{
	struct reader *reader = call->reader;
	struct sk_arena *arena = reader->diag->arena;
	struct sk_onnx_node to = {.name = node->scope && *node->scope ? node->scope : node->name,
				  .domain = "mindspore"};
	sk_onnx_imports *imports = SK_NEW(arena, sk_onnx_imports);
	const char *wrong = sk_mindir_take_operands(&reader->target, op, operands, count, &to);

	sk_array_push(arena, imports, (struct sk_onnx_import){.domain = "mindspore", .version = 1});
	to.imports = imports;
	if (!wrong && primitive)
		wrong = add_attributes(arena, &primitive->attributes, &to);
	if (!wrong)
		wrong = add_attributes(arena, &node->attributes, &to);
	if (!wrong)
		wrong = sk_mindir_check_operands(arena, op, operands, count, &to);
	if (!wrong)
		wrong = add_outputs(reader, local_name(call, node->outputs.items[0]),
				    find_attribute(&node->attributes, "shape"), &to, result);
	if (!wrong)
		sk_array_push(arena, &reader->target.graph->nodes, to);
	return wrong;
}

/* ---- calls ---- */

static bool call_graph(struct call *call, const struct sk_mindir_node *node, const struct sk_mindir_graph *graph,
		       const struct sk_mindir_binding *operands, size_t count, struct sk_mindir_binding *result)
{
	struct reader *reader = call->reader;
	struct call inner = {.reader = reader, .graph = graph, .outer = call, .depth = call->depth + 1};

	if (call->depth == MAX_CALLS)
		return refuse(reader, node, graph->name, "it is one of more than 30 calls in one another");
	if (count != graph->inputs.count)
		return refuse(reader, node, graph->name,
			      sk_arena_print(reader->diag->arena, "it has %zu operands, and its graph %zu inputs",
					     count, graph->inputs.count));
	inner.prefix = sk_arena_print(reader->diag->arena, "%s/", local_name(call, node->outputs.items[0]));
	return read_graph(&inner, operands, count, result);
}

/* ---- nodes ---- */

/* Return the bindings of the node's inputs; NULL after an error. */
static struct sk_mindir_binding *find_operands(const struct call *call, const struct sk_mindir_node *node,
					       const char *op)
{
	struct sk_arena *arena = call->reader->diag->arena;
	struct sk_mindir_binding *operands = SK_NEW_ARRAY(arena, struct sk_mindir_binding, node->inputs.count + 1);

	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_mindir_binding *found = find(call, node->inputs.items[i]);

		if (!found) {
			refuse(call->reader, node, op,
			       sk_arena_print(arena, "it reads '%s', which no node before it makes",
					      node->inputs.items[i]));
			return NULL;
		}
		operands[i] = *found;
	}
	return operands;
}

/* True if an operand orders the node: it has an effect beside its result. */
static bool has_order(const struct sk_mindir_binding *operands, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (operands[i].kind == SK_MINDIR_ORDER)
			return true;
	return false;
}

static bool read_operator(struct call *call, const struct sk_mindir_node *node, struct sk_mindir_binding *result)
{
	struct reader *reader = call->reader;
	const char *op = node->op ? node->op : "", *wrong;
	bool reference = !strncmp(op, "REF::", 5);
	const char *name = reference ? op + 5 : op;
	uint32_t function = sk_map_find(&reader->functions, name, strlen(name));
	uint32_t index = sk_map_find(&reader->primitives, name, strlen(name));
	const struct sk_mindir_primitive *primitive = index != SK_NONE ? &reader->model->primitives.items[index] : NULL;
	const struct sk_mindir_binding *operands;

	if (primitive && primitive->op)
		op = primitive->op;
	else if (reference && function == SK_NONE)
		return refuse(reader, node, name,
			      "it calls neither a primitive nor a graph of the file, but a value; export the network "
			      "without control flow that depends on values");
	operands = find_operands(call, node, primitive ? op : name);
	if (!operands)
		return false;
	if (!primitive && function != SK_NONE)
		return call_graph(call, node, &reader->model->functions.items[function], operands, node->inputs.count,
				  result);
	if (take_structure(op, operands, node->inputs.count, result, &wrong))
		return !wrong || refuse(reader, node, op, wrong);
	wrong = has_order(operands, node->inputs.count)
			? "it has an effect beside its result, such as a new value of a parameter; sklink reads "
			  "networks "
			  "that only compute their outputs: export the network for inference"
			: add_node(call, node, op, primitive, operands, node->inputs.count, result);
	return !wrong || refuse(reader, node, op, wrong);
}

static bool read_node(struct call *call, const struct sk_mindir_node *node)
{
	struct reader *reader = call->reader;
	struct sk_mindir_binding result = {.kind = SK_MINDIR_ABSENT};
	const struct sk_mindir_attribute *value;

	if (++reader->nodes > reader->most_nodes)
		return refuse(reader, node, node->op, "the calls of graphs make more nodes than the file has bytes");
	if (node->outputs.count != 1 || !*node->outputs.items[0])
		return refuse(reader, node, node->op, "it does not have one output");
	if (node->op && !strcmp(node->op, "Constant")) {
		value = find_attribute(&node->attributes, "value");
		if (!value)
			return refuse(reader, node, node->op, "it has no value");
		if (!bind_constant(reader, value, local_name(call, node->outputs.items[0]), &result))
			return false;
	} else if (!read_operator(call, node, &result)) {
		return false;
	}
	bind(call, node->outputs.items[0], result);
	return true;
}

/* ---- graphs ---- */

/* A parameter without elements in the file is an input of the model. */
static bool bind_parameter(struct call *call, const struct sk_mindir_tensor *parameter)
{
	struct reader *reader = call->reader;
	const char *name = parameter->tensor.name ? parameter->tensor.name : "", *local = local_name(call, name);

	if (!sk_onnx_has(&parameter->tensor.message, SK_ONNX_TENSOR_RAW) && !parameter->external) {
		local = sk_mindir_new_name(&reader->target, local);
		sk_array_push(reader->diag->arena, &reader->target.graph->inputs,
			      describe(reader->diag->arena, local, parameter));
	} else {
		local = add_tensor(reader, parameter, local);
	}
	bind(call, name, value_of(local, parameter->tensor.element));
	return local;
}

/* Bind the inputs of the model's graph. */
static bool bind_inputs(struct call *call)
{
	struct reader *reader = call->reader;

	for (size_t i = 0; i < call->graph->inputs.count; i++) {
		const struct sk_mindir_value *input = &call->graph->inputs.items[i];
		const char *name = input->name ? input->name : "";
		const char *new = sk_mindir_new_name(&reader->target, local_name(call, name));

		if (input->tensors.count != 1) {
			sk_error(reader->diag, (struct sk_place){.file = reader->path},
				 "input '%s' is not a tensor; export the network with inputs that are tensors", new);
			return false;
		}
		sk_array_push(reader->diag->arena, &reader->target.graph->inputs,
			      describe(reader->diag->arena, new, &input->tensors.items[0]));
		bind(call, name, value_of(new, input->tensors.items[0].tensor.element));
	}
	return true;
}

static bool find_result(struct call *call, struct sk_mindir_binding *result)
{
	struct reader *reader = call->reader;
	size_t count = call->graph->outputs.count;
	struct sk_mindir_binding *items = SK_NEW_ARRAY(reader->diag->arena, struct sk_mindir_binding, count + 1);

	for (size_t i = 0; i < count; i++) {
		const char *name = call->graph->outputs.items[i].name ? call->graph->outputs.items[i].name : "";
		const struct sk_mindir_binding *found = find(call, name);

		if (!found) {
			sk_error(reader->diag, (struct sk_place){.file = reader->path},
				 "output '%s' of graph '%s' is made by no node", name,
				 call->graph->name ? call->graph->name : "");
			return false;
		}
		items[i] = *found;
	}
	*result = count == 1 ? items[0] : items_of(items, count);
	return true;
}

static bool read_graph(struct call *call, const struct sk_mindir_binding *operands, size_t count,
		       struct sk_mindir_binding *result)
{
	const struct sk_mindir_graph *graph = call->graph;
	bool good = true;

	sk_map_init(&call->names, call->reader->diag->arena);
	for (size_t i = 0; call->outer && i < count; i++)
		bind(call, graph->inputs.items[i].name ? graph->inputs.items[i].name : "", operands[i]);
	good = call->outer || bind_inputs(call);
	for (size_t i = 0; i < graph->parameters.count && good; i++)
		good = bind_parameter(call, &graph->parameters.items[i]);
	for (size_t i = 0; i < graph->nodes.count && good; i++)
		good = read_node(call, &graph->nodes.items[i]);
	return good && find_result(call, result);
}

/* ---- the model ---- */

/* Copy a value that is an output twice. */
static const char *copy_output(struct sk_mindir_target *target, const char *name)
{
	struct sk_onnx_node node = {.name = name, .op = "Identity", .domain = ""};
	sk_onnx_imports *imports = SK_NEW(target->arena, sk_onnx_imports);
	const char *copy = sk_mindir_new_name(target, name);

	sk_array_push(target->arena, imports, (struct sk_onnx_import){.domain = "", .version = 13});
	node.imports = imports;
	sk_array_push(target->arena, &node.inputs, name);
	sk_array_push(target->arena, &node.outputs, copy);
	sk_array_push(target->arena, &target->graph->nodes, node);
	return copy;
}

/* Make the tensors of the result outputs, those of tuples in order. */
static bool make_outputs(struct reader *reader, const struct sk_mindir_binding *result)
{
	struct sk_mindir_target *target = &reader->target;
	const char *name = result->kind == SK_MINDIR_VALUE ? result->name : NULL;

	if (result->kind == SK_MINDIR_ITEMS) {
		for (size_t i = 0; i < result->count; i++)
			if (!make_outputs(reader, &result->items[i]))
				return false;
		return true;
	}
	if (result->kind == SK_MINDIR_CONSTANT)
		name = sk_mindir_constant(target, result->name, 0, result->constant);
	if (!name) {
		sk_error(reader->diag, (struct sk_place){.file = reader->path},
			 "an output of the model is not a tensor");
		return false;
	}
	for (size_t i = 0; i < target->graph->outputs.count; i++)
		if (!strcmp(target->graph->outputs.items[i].name, name)) {
			name = copy_output(target, name);
			break;
		}
	sk_array_push(target->arena, &target->graph->outputs, (struct sk_onnx_value_info){.name = name});
	return true;
}

static struct sk_onnx_model *new_model(struct sk_arena *arena)
{
	struct sk_onnx_model *model = SK_NEW(arena, struct sk_onnx_model);

	model->ir_version = 8;
	model->producer = "MindSpore";
	model->graph = SK_NEW(arena, struct sk_onnx_graph);
	sk_array_push(arena, &model->imports, (struct sk_onnx_import){.domain = "", .version = 17});
	return model;
}

static void index_names(struct reader *reader)
{
	const struct sk_mindir_model *model = reader->model;

	sk_map_init(&reader->functions, reader->diag->arena);
	sk_map_init(&reader->primitives, reader->diag->arena);
	for (uint32_t i = 0; i < model->functions.count; i++) {
		const char *name = model->functions.items[i].name ? model->functions.items[i].name : "";

		sk_map_insert(&reader->functions, name, strlen(name), i);
	}
	for (uint32_t i = 0; i < model->primitives.count; i++) {
		const char *name = model->primitives.items[i].name ? model->primitives.items[i].name : "";

		sk_map_insert(&reader->primitives, name, strlen(name), i);
	}
}

struct sk_onnx_model *sk_mindir_read(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes)
{
	struct reader reader = {.diag = diag, .path = path, .most_nodes = bytes.size};
	struct sk_mindir_model *source = SK_NEW(diag->arena, struct sk_mindir_model);
	struct sk_onnx_model *model = new_model(diag->arena);
	struct call call = {.reader = &reader, .prefix = ""};
	struct sk_mindir_binding result;

	if (!sk_onnx_decode_message(diag, path, bytes, "a MINDIR file", &sk_mindir_model_type, source))
		return NULL;
	if (!source->graph) {
		sk_error(diag, (struct sk_place){.file = path}, "this is not a MINDIR file: it has no graph");
		return NULL;
	}
	reader.model = source;
	reader.target = (struct sk_mindir_target){.arena = diag->arena, .graph = model->graph};
	sk_map_init(&reader.target.names, diag->arena);
	index_names(&reader);
	call.graph = source->graph;
	model->graph->name = source->graph->name;
	return read_graph(&call, NULL, 0, &result) && make_outputs(&reader, &result) ? model : NULL;
}

/* A file begins with the version of the format, a text such as "1.1", and the producer. In ONNX's models the first
 * field is a number. */
bool sk_mindir_looks_like(struct sk_onnx_bytes bytes)
{
	static const char producer[] = "\x12\x09MindSpore";
	size_t size = bytes.size > 2 && bytes.bytes[0] == 0x0a && bytes.bytes[1] < 16 ? 2u + bytes.bytes[1] : 0;

	return size && bytes.size >= size + sizeof(producer) - 1 &&
	       !memcmp(bytes.bytes + size, producer, sizeof(producer) - 1);
}
