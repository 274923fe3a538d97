/* Turns canonical calls into the model's tasks; see link.h. Tensors have the names of their values. A view's name, used
 * only in messages, also gives its type and shape. */
#include "src/link/link.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "src/model/model.h"

struct lowering {
	const struct sk_op_graph *graph;
	struct sk_model *model;
	uint32_t *tensors; /* by value: its tensor, or SK_NONE */
	uint32_t *numbers; /* by task: numbers already tried for further tasks of its name */
	uint32_t *composites; /* by composite, then by node: the model's, plus 1 */
	uint32_t scope; /* of nodes that name none; SK_NONE: no scope */
	uint32_t *slices; /* by value: its slice, plus 1; 0: none */
	struct sk_constants *constants; /* of all networks; NULL: a single network */
};

/* ---- tensors ---- */

uint32_t sk_graph_lower_tensor(struct sk_model *model, const struct sk_tensor *tensor)
{
	uint32_t index = (uint32_t)model->tensors.count;

	if (tensor->view_of == SK_NONE)
		sk_map_insert(&model->tensor_names, tensor->name, strlen(tensor->name), index);
	sk_array_push(model->arena, &model->tensors, *tensor);
	return index;
}

static struct sk_tensor shaped_tensor(const char *name, struct sk_place place, enum sk_dtype dtype, uint32_t rank,
				      const uint64_t *shape)
{
	struct sk_tensor tensor = {.name = name,
				   .place = place,
				   .dtype = dtype,
				   .rank = rank,
				   .elements = 1,
				   .view_of = SK_NONE,
				   .binding = SK_NONE};

	for (uint32_t i = 0; i < rank; i++)
		tensor.elements *= tensor.shape[i] = shape[i];
	tensor.bytes = tensor.elements * sk_dtype_size(dtype);
	return tensor;
}

/* A constant that is new but has the name of an existing one gets the network's name as a prefix. */
static const char *free_name(const struct lowering *lowering, const struct sk_value *value)
{
	bool taken = value->contents && lowering->graph->network &&
		     sk_map_find(&lowering->model->tensor_names, value->name, strlen(value->name)) != SK_NONE;

	return taken ? sk_arena_print(lowering->model->arena, "%s:%s", lowering->graph->network, value->name)
		     : value->name;
}

/* Return the tensor of a value that has bytes of its own. */
static uint32_t root_tensor(struct lowering *lowering, uint32_t index)
{
	const struct sk_value *value = &lowering->graph->values.items[index];
	const uint32_t next = (uint32_t)lowering->model->tensors.count;
	struct sk_tensor tensor;

	if (lowering->tensors[index] == SK_NONE && lowering->constants && value->contents) {
		uint32_t first = sk_constants_add(lowering->constants, value, next);

		if (first != next)
			lowering->tensors[index] = first;
	}
	if (lowering->tensors[index] != SK_NONE)
		return lowering->tensors[index];
	tensor = shaped_tensor(free_name(lowering, value), value->place, value->dtype, value->rank, value->shape);
	tensor.contents = value->contents;
	tensor.sizes = lowering->graph->sizes ? value->sizes : NULL;
	tensor.role = value->contents ? SK_ROLE_CONSTANT
		      : value->kept   ? SK_ROLE_INOUT
		      : value->input  ? SK_ROLE_INPUT
		      : value->output ? SK_ROLE_OUTPUT
				      : SK_ROLE_TEMPORARY; /* even if no task reads it */
	tensor.role_declared = true;
	return lowering->tensors[index] = sk_graph_lower_tensor(lowering->model, &tensor);
}

static bool is_whole(const struct sk_tensor *root, const struct sk_operand *operand, uint64_t offset)
{
	return !offset && !operand->stride && operand->dtype == root->dtype && operand->rank == root->rank &&
	       !memcmp(operand->shape, root->shape, root->rank * sizeof(*root->shape));
}

/* True if a view of the whole tensor may be one of a part of it at other sizes with bounds. */
static bool may_be_part(const struct sk_op_graph *graph, uint32_t value)
{
	return graph->sizes && graph->values.items[value].view_of != SK_NONE;
}

/* Return the innermost slice that contains the value's bytes, plus 1; 0: none. */
static uint32_t slice_of(const struct lowering *lowering, uint32_t value)
{
	for (; value != SK_NONE; value = lowering->graph->values.items[value].view_of)
		if (lowering->slices[value])
			return lowering->slices[value];
	return 0;
}

/* Return the tensor for an operand: the value's own tensor if the operand is the whole value, otherwise a view of
 * it. */
static uint32_t operand_tensor(struct lowering *lowering, const struct sk_operand *operand)
{
	struct sk_model *model = lowering->model;
	uint64_t offset = operand->offset + sk_value_offset(lowering->graph, operand->value);
	struct sk_tensor view;
	uint32_t root;

	if (operand->value == SK_NONE)
		return SK_NONE;
	root = root_tensor(lowering, sk_value_root(lowering->graph, operand->value));
	if (is_whole(&model->tensors.items[root], operand, offset) && !may_be_part(lowering->graph, operand->value))
		return root;
	view = shaped_tensor(lowering->graph->values.items[operand->value].name,
			     lowering->graph->values.items[operand->value].place, operand->dtype, operand->rank,
			     operand->shape);
	view.view_of = root;
	view.slice = slice_of(lowering, operand->value);
	view.reshaped = true;
	view.view_offset = offset * sk_dtype_size(operand->dtype);
	if (operand->stride && operand->shape[0] > 1)
		view.rows = (struct sk_rows){.start = view.view_offset,
					     .width = operand->shape[operand->rank - 1] * sk_dtype_size(view.dtype),
					     .stride = operand->stride * sk_dtype_size(view.dtype),
					     .count = operand->shape[0]};
	sk_array_push(model->arena, &model->tensors,
		      view); /* names of views are for messages only and are never looked up */
	return (uint32_t)model->tensors.count - 1;
}

/* ---- tasks ---- */

static uint32_t scope_of(struct lowering *lowering, const char *name, struct sk_place place)
{
	struct sk_model *model = lowering->model;
	uint32_t new = (uint32_t)model->scopes.count;
	uint32_t scope = sk_map_insert(&model->scope_names, name, strlen(name), new);

	if (scope == new) {
		struct sk_scope added = {.name = name, .place = place};

		if (lowering->graph->network) {
			const char *base = name + strlen(lowering->graph->network) + 1;
			uint32_t declared = sk_map_find(&model->scope_names, base, strlen(base));

			if (declared != SK_NONE)
				added = model->scopes.items[declared];
			added.name = name;
			added.base = base;
		}
		sk_array_push(model->arena, &model->scopes, added);
	}
	return scope;
}

/* Return the number that distinguishes the node's composite from others. Calls of a node outside of composites also get
 * a number in common. */
static uint32_t composite_of(struct lowering *lowering, uint32_t number)
{
	const struct sk_op_graph *graph = lowering->graph;
	uint32_t composite = graph->nodes.items[number].composite;
	uint32_t *known = &lowering->composites[composite ? composite - 1 : graph->composites.count + number];

	if (!graph->composites_hold)
		return 0;
	if (!*known) {
		sk_array_push(lowering->model->arena, &lowering->model->composites,
			      composite ? graph->composites.items[composite - 1].name : NULL);
		*known = (uint32_t)lowering->model->composites.count;
	}
	return *known;
}

/* Return a unique task name, made from the node's name or that of the first value that it makes. Values that calls make
 * are unsuitable, since the model may not have them. */
static const char *task_name(struct lowering *lowering, const struct sk_graph_call *call, uint32_t index)
{
	const struct sk_op_graph *graph = lowering->graph;
	struct sk_model *model = lowering->model;
	const char *base = sk_node_name(graph, &graph->nodes.items[call->node]), *name = base;
	uint32_t first;

	if (call->once) /* the node's name is for what it computes in each run */
		name = base = sk_arena_join(model->arena, base, "/once");
	first = sk_map_insert(&model->task_names, name, strlen(name), index);
	if (first == index)
		return name;
	do
		name = sk_arena_print(model->arena, "%s#%u", base, 2 + lowering->numbers[first]++);
	while (sk_map_insert(&model->task_names, name, strlen(name), index) != index);
	return name;
}

/* Record scopes without any task left, by their names in the file and in the package. */
static void add_idle_scopes(const struct lowering *lowering)
{
	const struct sk_op_graph *graph = lowering->graph;
	struct sk_model *model = lowering->model;

	for (size_t i = 0; i < graph->scopes.count; i++) {
		const char *name = graph->scopes.items[i];
		const char *base = graph->network ? name + strlen(graph->network) + 1 : name;

		if (sk_map_find(&model->scope_names, name, strlen(name)) != SK_NONE)
			continue;
		sk_map_insert(&model->idle_scopes, name, strlen(name), 0);
		sk_map_insert(&model->idle_scopes, base, strlen(base), 0);
	}
}

static void add_args(struct lowering *lowering, struct sk_task *task, const struct sk_operand *operands, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sk_array_push(
			lowering->model->arena, &task->said.args,
			(struct sk_named_tensor){operand_tensor(lowering, &operands[i]), sk_spot_of(task->place)});
}

static void add_task(struct lowering *lowering, const struct sk_graph_call *call)
{
	const struct sk_graph_node *node = &lowering->graph->nodes.items[call->node];
	struct sk_model *model = lowering->model;
	struct sk_task task = {.place = node->place,
			       .said.op = {call->op, sk_spot_of(node->place)},
			       .said.network = lowering->graph->network,
			       .told.origin = node->origin ? node->origin : node->op,
			       .told.rule = node->rule,
			       .said.composite = composite_of(lowering, call->node),
			       .said.directed = true,
			       .said.input_count = (uint32_t)call->inputs.count,
			       .said.stream = node->stream,
			       .said.never_fuse = node->scope && !*node->scope,
			       .said.once = call->once,
			       .told.refusals = node->refusals,
			       .said.exchange = call->exchange,
			       .said.blocks = call->exchange ? 1 : 0,
			       .bound.kernel = SK_NONE};

	task.name = task_name(lowering, call, (uint32_t)model->tasks.count);
	for (size_t i = 0; i < call->attributes.count; i++)
		sk_array_push(model->arena, &task.said.attributes, call->attributes.items[i]);
	add_args(lowering, &task, call->inputs.items, call->inputs.count);
	add_args(lowering, &task, call->outputs.items, call->outputs.count);
	if (node->scope && *node->scope)
		sk_array_push(model->arena, &task.said.scopes, scope_of(lowering, node->scope, node->place));
	else if (!node->scope && lowering->scope != SK_NONE)
		sk_array_push(model->arena, &task.said.scopes, lowering->scope);
	sk_array_push(model->arena, &model->tasks, task);
}

/* The package keeps the names of such inputs, so that their data may be given, too. */
static void leave_out(struct lowering *lowering, const struct sk_value *value)
{
	sk_array_push(lowering->model->arena, &lowering->model->unused, value->name);
	sk_warning(lowering->graph->diag, value->place, "nothing uses input '%s'; the package does not have it",
		   value->name);
}

/* Only inputs that calls use become tensors; no data need be bound to the others. */
static void add_inputs(struct lowering *lowering, const sk_graph_calls *calls)
{
	const struct sk_op_graph *graph = lowering->graph;
	bool *used = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	for (size_t c = 0; c < calls->count; c++)
		for (size_t i = 0; i < calls->items[c].inputs.count; i++)
			for (uint32_t value = calls->items[c].inputs.items[i].value; value != SK_NONE;
			     value = graph->values.items[value].view_of)
				used[value] = true;
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		if (value->contents)
			continue;
		if (value->output)
			sk_warning(graph->diag, value->place,
				   "output '%s' is also an input; the package has it as input only", value->name);
		if (used[graph->inputs.items[i]] || value->output || value->kept)
			root_tensor(lowering, graph->inputs.items[i]);
		else
			leave_out(lowering, value);
	}
}

/* Dimensions of 0 leave no calls; that is seldom intended. */
static void check_calls(const struct sk_op_graph *graph, const sk_graph_calls *calls)
{
	for (size_t i = 0; i < graph->outputs.count && !calls->count; i++) {
		const struct sk_value *value = &graph->values.items[graph->outputs.items[i]];

		if (sk_value_elements(value))
			continue;
		sk_warning(graph->diag, value->place, "nothing is left to compute: output '%s' is %s", value->name,
			   sk_partial_shape_text(graph->arena, value->rank, value->shape));
		return;
	}
}

/* Constants in a draft precede other constants. They keep the draft's order, in which calls read them. */
static void add_drafted(struct lowering *lowering, const sk_graph_calls *calls)
{
	const struct sk_op_graph *graph = lowering->graph;

	for (size_t c = 0; c < calls->count; c++)
		for (size_t i = 0; i < calls->items[c].inputs.count; i++) {
			uint32_t root = sk_value_root(graph, calls->items[c].inputs.items[i].value);

			if (root != SK_NONE &&
			    sk_file_is_drafted(&lowering->model->draft, graph->values.items[root].contents))
				root_tensor(lowering, root);
		}
}

/* ---- nodes that split or join ---- */

/* Return the value between the part and the whole that is itself a view of the whole's bytes; SK_NONE if the part has
 * bytes of its own. A part of a Split is a view of the root of its bytes. */
static uint32_t sliced_value(const struct sk_op_graph *graph, bool joins, uint32_t part, uint32_t whole)
{
	if (part == SK_NONE || !sk_value_elements(&graph->values.items[part]))
		return SK_NONE;
	if (!joins)
		return sk_value_root(graph, part) == sk_value_root(graph, whole) ? part : SK_NONE;
	while (part != SK_NONE && graph->values.items[part].view_of != whole)
		part = graph->values.items[part].view_of;
	return part;
}

static void add_slice(struct lowering *lowering, struct sk_virtual_node *to, uint32_t value)
{
	const struct sk_op_graph *graph = lowering->graph;
	struct sk_model *model = lowering->model;

	if (lowering->slices[value])
		return; /* an input that occurs twice is the same part */
	sk_array_push(model->arena, &model->slices,
		      (struct sk_node_part){.name = graph->values.items[value].name,
					    .tensor = sk_value_root(graph, value),
					    .offset = sk_value_offset(graph, value) *
						      sk_dtype_size(graph->values.items[value].dtype),
					    .bytes = sk_value_bytes(&graph->values.items[value])});
	lowering->slices[value] = (uint32_t)model->slices.count;
	to->slice_count++;
}

static uint32_t whole_of(const struct sk_graph_node *node)
{
	return sk_node_is(node, "Concat") ? node->outputs.items[0] : node->inputs.items[0];
}

static void add_virtual_node(struct lowering *lowering, const struct sk_graph_node *node)
{
	const struct sk_op_graph *graph = lowering->graph;
	bool joins = sk_node_is(node, "Concat");
	const uint32_t *parts = joins ? node->inputs.items : node->outputs.items;
	struct sk_virtual_node added = {.name = sk_node_name(graph, node),
					.place = node->place,
					.op = node->origin ? node->origin : node->op,
					.joins = joins,
					.no_task = node->no_task,
					.refusals = node->refusals,
					.first_slice = (uint32_t)lowering->model->slices.count};

	for (size_t i = 0; i < (joins ? node->inputs.count : node->outputs.count); i++) {
		uint32_t value = sliced_value(graph, joins, parts[i], whole_of(node));

		if (value != SK_NONE)
			add_slice(lowering, &added, value);
	}
	sk_array_push(lowering->model->arena, &lowering->model->virtual_nodes, added);
}

/* Slices are added before tasks, which see values through them. Each slice's outer slice is set once all slices are
 * known. */
static void add_virtual_nodes(struct lowering *lowering)
{
	const struct sk_op_graph *graph = lowering->graph;
	struct sk_model *model = lowering->model;
	SK_ARRAY(uint32_t) wholes = {NULL, 0, 0};
	size_t first = model->virtual_nodes.count;

	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		if (!(sk_node_is(node, "Split") || sk_node_is(node, "Concat")) || !sk_node_is_live(graph, node))
			continue;
		add_virtual_node(lowering, node);
		sk_array_push(model->arena, &wholes, whole_of(node));
	}
	for (size_t i = 0; i < wholes.count; i++) {
		const struct sk_virtual_node *node = &model->virtual_nodes.items[first + i];
		uint32_t outer = slice_of(lowering, wholes.items[i]);

		for (uint32_t s = node->first_slice; s < node->first_slice + node->slice_count; s++)
			model->slices.items[s].outer = outer ? outer - 1 : SK_NONE;
	}
}

/* Called after tasks, which have made the tensors that they use. Nodes of unused values are dropped. */
static void end_virtual_nodes(struct lowering *lowering, size_t first)
{
	struct sk_model *model = lowering->model;
	size_t kept = first;

	for (size_t i = first; i < model->virtual_nodes.count; i++) {
		struct sk_virtual_node *node = &model->virtual_nodes.items[i];
		bool used = node->slice_count || node->refusals.count;

		for (uint32_t s = node->first_slice; s < node->first_slice + node->slice_count; s++) {
			struct sk_node_part *slice = &model->slices.items[s];

			slice->tensor = lowering->tensors[slice->tensor];
			used &= slice->tensor != SK_NONE;
		}
		if (used)
			model->virtual_nodes.items[kept++] = *node;
	}
	model->virtual_nodes.count = kept;
}

void sk_graph_lower(const struct sk_op_graph *graph, const sk_graph_calls *calls, const char *scope,
		    struct sk_constants *constants, struct sk_model *model)
{
	struct lowering lowering = {
		.graph = graph,
		.model = model,
		.tensors = SK_NEW_ARRAY(model->arena, uint32_t, graph->values.count + 1),
		.numbers = SK_NEW_ARRAY(model->arena, uint32_t, model->tasks.count + calls->count + 1),
		.composites = SK_NEW_ARRAY(graph->arena, uint32_t, graph->composites.count + graph->nodes.count + 1),
		.slices = SK_NEW_ARRAY(graph->arena, uint32_t, graph->values.count + 1),
		.scope = SK_NONE,
		.constants = constants};
	const size_t virtual_nodes = model->virtual_nodes.count;
	const struct sk_place place = {.file = graph->file};

	for (size_t i = 0; i < graph->values.count; i++)
		lowering.tensors[i] = SK_NONE;
	if (scope)
		lowering.scope = scope_of(&lowering, scope, place);

	check_calls(graph, calls);
	/* Bindings are numbered in the order of the file. */
	add_inputs(&lowering, calls);
	for (size_t i = 0; i < graph->outputs.count; i++)
		root_tensor(&lowering, graph->outputs.items[i]);
	add_drafted(&lowering, calls);
	add_virtual_nodes(&lowering);
	for (size_t i = 0; i < calls->count; i++)
		add_task(&lowering, &calls->items[i]);
	add_idle_scopes(&lowering);
	end_virtual_nodes(&lowering, virtual_nodes);
	for (size_t i = 0; i < model->scopes.count; i++)
		model->scopes.items[i].declared = true;
}
