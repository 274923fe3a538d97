/* `tasks:` of the manifest. Input: the list's node. Output: model->tasks in network order, with all keys; kernels and
 * arguments stay names until they are bound. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/signature/signature.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

enum {
	MAX_STREAM = 65535,
	MAX_BLOCKS = 1 << 20,
};

/* ---- set ---- */

/* All tensors have already been read. */
static uint32_t find_tensor(const struct sk_document *document, const struct sk_node *name)
{
	struct sk_model *model = document->owner;
	uint32_t index = sk_map_find(&model->tensor_names, name->text, name->length);

	if (index == SK_NONE)
		sk_error(model->diag, sk_node_place(document, name), "unknown tensor '%s'%s", name->text,
			 SK_SUGGEST_NAME(model, name->text, model->tensors.items, model->tensors.count));
	return index;
}

static void read_tensor_name(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_set *set = target;

	if (sk_expect_original(document, value, "'tensor'", NULL)) {
		set->tensor = find_tensor(document, value);
		set->place = sk_node_place(document, value);
	}
}

static bool is_expression(const struct sk_model *model, const char *text)
{
	const char *error;

	return model->sizes && sk_size_parse(model->sizes, NULL, text, &error);
}

/* Read an expression of the manifest's dimensions. */
static bool read_expression(const struct sk_document *document, const struct sk_node *value, struct sk_set *set)
{
	uint64_t number;
	const char *error = sk_manifest_parse_size(document->owner, set->text, &number);

	if (error)
		sk_error(document->diag, sk_node_place(document, value),
			 "the value of '%s': %s; a number that depends on sizes must not be negative", set->name,
			 error);
	set->number = (struct sk_number){.kind = SK_NUMBER_INTEGER, .integer = (int64_t)number, .text = set->text};
	return !error;
}

/* Read a number, an expression of dimensions, an extent's name, or {tensor: name}. */
static bool read_set_value(const struct sk_document *document, const struct sk_node *value, struct sk_set *set)
{
	static const struct sk_field fields[] = {{"tensor", true, read_tensor_name}};
	bool valid = true;

	if (value->kind == SK_NODE_MAP) {
		set->kind = SK_SET_TENSOR;
		set->tensor = SK_NONE;
		sk_read_fields(document, value, "the value of", set->name, fields, 1, set);
		return set->tensor != SK_NONE;
	}
	if (value->kind == SK_NODE_LIST || !value->length) {
		sk_error(document->diag, sk_node_place(document, value),
			 "the value of '%s' must be a number, the name of an extent, or {tensor: NAME}", set->name);
		return false;
	}
	set->text = sk_arena_copy(document->arena, value->text, value->length);
	set->kind = SK_SET_NUMBER;
	if (sk_manifest_parse_number(set->text, &set->number, &valid)) {
		if (!valid)
			sk_error(document->diag, sk_node_place(document, value),
				 "'%s' is not a number that can be passed", value->text);
		return valid;
	}
	if (!strcmp(value->text, "true") || !strcmp(value->text, "false")) {
		sk_error(document->diag, sk_node_place(document, value), "'%s' is not a number; write %c", value->text,
			 *value->text == 't' ? '1' : '0');
		return false;
	}
	if (is_expression(document->owner, set->text))
		return read_expression(document, value, set);
	set->kind = SK_SET_EXTENT;
	return true; /* binding the task checks that the kernel has that extent */
}

static void read_set(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task *task = target;

	if (!sk_expect_map(document, value, "'set'", NULL))
		return;
	task->said.set.items = SK_NEW_ARRAY(document->arena, struct sk_set, value->count + 1);
	task->said.set.capacity = value->count + 1;
	for (const struct sk_node *key = sk_node_first(value); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		struct sk_set set = {.place = sk_node_place(document, key)};
		struct sk_name name;

		if (!sk_read_name(document, key, "the name of a scalar", NULL, &name))
			continue;
		set.name = name.text;
		if (read_set_value(document, sk_node_value(key), &set))
			sk_array_push(document->arena, &task->said.set, set);
	}
}

/* ---- the other keys ---- */

static void read_name(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_name name;

	if (sk_read_original(document, value, "the name of a task", NULL, &name))
		((struct sk_task *)target)->name = name.text;
}

static void read_named(const struct sk_document *document, const struct sk_node *value, const char *what,
		       struct sk_named *named)
{
	struct sk_name name;

	if (sk_read_name(document, value, what, NULL, &name))
		*named = (struct sk_named){name.text, sk_spot_of(name.place)};
}

static void read_kernel(const struct sk_document *document, void *target, const struct sk_node *value)
{
	read_named(document, value, "'kernel'", &((struct sk_task *)target)->said.kernel_name);
}

static void read_op(const struct sk_document *document, void *target, const struct sk_node *value)
{
	read_named(document, value, "'op'", &((struct sk_task *)target)->said.op);
}

static void reserve_args(const struct sk_document *document, struct sk_task_said *said, size_t count)
{
	said->args.items = SK_NEW_ARRAY(document->arena, struct sk_named_tensor, count);
	said->args.capacity = (uint32_t)count;
}

/* Read a tensor's name, or null for a tensor that is not passed. Return false after an error. */
static bool read_argument(const struct sk_document *document, const struct sk_node *node, const char *of,
			  struct sk_named_tensor *tensor)
{
	*tensor = (struct sk_named_tensor){SK_NONE, {node->line, node->column}};
	if (sk_node_is_null(node))
		return true;
	if (!sk_expect_original(document, node, of ? "argument" : "an argument", of))
		return false;
	tensor->tensor = find_tensor(document, node);
	return true;
}

/* Read one tensor or a list of them. */
static void read_operands(const struct sk_document *document, struct sk_task_said *said, const struct sk_node *value)
{
	for (const struct sk_node *item = sk_node_items(value, NULL); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item)) {
		struct sk_named_tensor tensor;

		if (read_argument(document, item, NULL, &tensor))
			sk_array_push(document->arena, &said->args, tensor);
	}
}

static void read_args(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task *task = target;

	if (value->kind != SK_NODE_MAP) {
		size_t count;

		if (value->kind == SK_NODE_SCALAR && !value->length) {
			sk_error(document->diag, sk_node_place(document, value), "'args' must be a list or a map");
			return;
		}
		sk_node_items(value, &count);
		reserve_args(document, &task->said, count);
		read_operands(document, &task->said, value);
		return;
	}
	reserve_args(document, &task->said, value->count);
	task->said.arg_names.items = SK_NEW_ARRAY(document->arena, struct sk_name, value->count + 1);
	task->said.arg_names.capacity = value->count + 1;
	for (const struct sk_node *key = sk_node_first(value); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		struct sk_named_tensor tensor;
		struct sk_name parameter;

		if (!sk_read_name(document, key, "the name of a parameter", NULL, &parameter) ||
		    !read_argument(document, sk_node_value(key), parameter.text, &tensor))
			continue;
		sk_array_push(document->arena, &task->said.arg_names, parameter);
		sk_array_push(document->arena, &task->said.args, tensor);
	}
}

static void read_stream(const struct sk_document *document, void *target, const struct sk_node *value)
{
	uint64_t stream;

	if (sk_read_integer(document, value, "'stream'", NULL, 0, MAX_STREAM, &stream))
		((struct sk_task *)target)->said.stream = (uint32_t)stream;
}

static int compare_indices(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void read_scope(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_model *model = document->owner;
	struct sk_task *task = target;

	for (const struct sk_node *item = sk_node_items(value, NULL); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item)) {
		if (sk_node_is_null(item))
			task->said.never_fuse = true;
		else if (item->kind == SK_NODE_SCALAR && item->plain && !strcmp(item->text, "None"))
			sk_error(document->diag, sk_node_place(document, item),
				 "'None' is neither null nor, without quotes, a scope; write null if the task must "
				 "never be fused");
		else if (sk_expect_identifier(document, item, "'scope' (null: never fuse)", NULL))
			sk_array_push(document->arena, &task->said.scopes, sk_manifest_scope(document, item));
	}
	if (task->said.scopes.count < 2)
		return;
	qsort(task->said.scopes.items, task->said.scopes.count, sizeof(uint32_t), compare_indices);
	for (size_t i = 1; i < task->said.scopes.count; i++) {
		if (task->said.scopes.items[i] != task->said.scopes.items[i - 1])
			continue;
		sk_error(document->diag, sk_node_place(document, value), "scope '%s' is given twice",
			 model->scopes.items[task->said.scopes.items[i]].name);
		return;
	}
}

static struct sk_task_names *names_of(const struct sk_document *document, struct sk_task_said *said)
{
	if (!said->names)
		said->names = SK_NEW(document->arena, struct sk_task_names);
	return said->names;
}

static void read_after(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task_names *names = names_of(document, &((struct sk_task *)target)->said);
	size_t count;

	names->after.items = sk_read_names(document, value, "'after'", sk_read_original, &count);
	names->after.count = names->after.capacity = (uint32_t)count;
}

static void read_record(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task_names *names = names_of(document, &((struct sk_task *)target)->said);
	size_t count;

	names->record.items = sk_read_names(document, value, "'record'", sk_read_name, &count);
	names->record.count = names->record.capacity = (uint32_t)count;
}

static void read_wait(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task_names *names = names_of(document, &((struct sk_task *)target)->said);
	size_t count;

	names->wait.items = sk_read_names(document, value, "'wait'", sk_read_name, &count);
	names->wait.count = names->wait.capacity = (uint32_t)count;
}

static void read_blocks(const struct sk_document *document, void *target, const struct sk_node *value)
{
	sk_read_integer(document, value, "'blocks'", NULL, 1, MAX_BLOCKS, &((struct sk_task *)target)->said.blocks);
}

static void read_once(const struct sk_document *document, void *target, const struct sk_node *value)
{
	static const char *const choices[] = {"false", "true"};
	size_t choice;

	if (sk_read_choice(document, value, "'once'", NULL, choices, 2, &choice))
		((struct sk_task *)target)->said.once = choice == 1;
}

/* ---- the section ---- */

/* A task gives its tensors as `args`, or as `inputs` and `outputs`. */
struct task_nodes {
	struct sk_task task; /* first, because the other keys' functions take it as their target */
	const struct sk_node *args, *inputs, *outputs;
	struct sk_exchange_nodes exchange;
};

static void read_tensors(const struct sk_document *document, struct task_nodes *nodes)
{
	struct sk_task *task = &nodes->task;
	const struct sk_node *directed = nodes->inputs ? nodes->inputs : nodes->outputs;

	if (nodes->args && directed)
		sk_error(document->diag, sk_node_place(document, directed),
			 "a task has 'args', or 'inputs' and 'outputs', not both");
	if (nodes->args)
		read_args(document, task, nodes->args);
	task->said.directed = directed != NULL;
	if (nodes->inputs)
		read_operands(document, &task->said, nodes->inputs);
	task->said.input_count = (uint32_t)task->said.args.count;
	if (nodes->outputs)
		read_operands(document, &task->said, nodes->outputs);
}

static void add_task(struct sk_model *model, const struct sk_task *task)
{
	uint32_t index = (uint32_t)model->tasks.count;
	uint32_t first = sk_map_insert(&model->task_names, task->name, strlen(task->name), index);

	if (first != index) {
		sk_error(model->diag, task->place, "duplicate task '%s'", task->name);
		sk_note(model->diag, "first given at %s", sk_place_text(model->arena, model->tasks.items[first].place));
	}
	sk_array_push(model->arena, &model->tasks, *task);
}

static void read_task(const struct sk_document *document, const struct sk_node *node)
{
	struct sk_model *model = document->owner;
	static const struct sk_field fields[] = {
		{"name", true, read_name},
		{"kernel", false, read_kernel},
		{"op", false, read_op},
		{"attr", false, sk_manifest_read_attributes},
		{"args", false, NULL, offsetof(struct task_nodes, args)},
		{"inputs", false, NULL, offsetof(struct task_nodes, inputs)},
		{"outputs", false, NULL, offsetof(struct task_nodes, outputs)},
		{"stream", false, read_stream},
		{"scope", false, read_scope},
		{"set", false, read_set},
		{"after", false, read_after},
		{"record", false, read_record},
		{"wait", false, read_wait},
		{"blocks", false, read_blocks},
		{"cost", false, sk_manifest_read_cost},
		{"once", false, read_once},
		{"exchange", false, NULL, offsetof(struct task_nodes, exchange.kind)},
		{"group", false, NULL, offsetof(struct task_nodes, exchange.group)},
		{"root", false, NULL, offsetof(struct task_nodes, exchange.root)},
		{"peer", false, NULL, offsetof(struct task_nodes, exchange.peer)},
	};
	struct task_nodes nodes = {.task = {.place = sk_node_place(document, node), .bound.kernel = SK_NONE}};
	struct sk_task *task = &nodes.task;
	unsigned errors = document->diag->errors;

	sk_read_fields(document, node, "a task", NULL, fields, sizeof(fields) / sizeof(fields[0]), &nodes);
	read_tensors(document, &nodes);
	if (task->said.op.text && !strcmp(task->said.op.text, "Exchange"))
		sk_error(document->diag, sk_task_place(task, task->said.op.spot),
			 "'Exchange' is the operator of tasks that have 'exchange' in place of 'op'");
	sk_manifest_read_exchange(document, &nodes.exchange, task);
	if (task->said.kernel_name.text && task->said.op.text)
		sk_error(document->diag, sk_task_place(task, task->said.op.spot),
			 "a task has a 'kernel' or an 'op', not both");
	else if (!task->said.kernel_name.text && !task->said.op.text && document->diag->errors == errors)
		sk_error(document->diag, task->place, "task '%s' has neither 'kernel' nor 'op'", task->name);
	if (task->name)
		add_task(model, task);
}

void sk_manifest_read_tasks(const struct sk_document *document, const struct sk_node *list)
{
	struct sk_model *model = document->owner;
	if (!sk_expect_list(document, list, "'tasks'", NULL))
		return;
	if (!list->count)
		sk_error(document->diag, sk_node_place(document, list), "there are no tasks");
	model->tasks.items = SK_NEW_ARRAY(document->arena, struct sk_task, list->count + 1);
	model->tasks.capacity = list->count + 1;
	sk_map_reserve(&model->task_names, list->count);
	for (const struct sk_node *item = sk_node_first(list); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item))
		read_task(document, item);
}
