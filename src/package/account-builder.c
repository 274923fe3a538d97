/* See package.h. */
#include "src/package/package.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "src/model/model.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

/* Return the reason why the task was or was not fused. For a task that a node has become, also say if it only copies
 * elements for kernels' sake. */
static const char *sentence_of(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
			       uint32_t number)
{
	const struct sk_task *task = &model->tasks.items[number];
	const char *reason = sk_reason_text(arena, model, fusion, number);

	if (!task->told.origin || !task->said.op.text || strcmp(task->said.op.text, "Copy") != 0)
		return reason;
	return sk_arena_print(arena, "%s; it copies elements to where the node's operator, %s, has or needs them",
			      reason, task->told.origin);
}

/* Return "'gelu' of set 'onnx'", without the rule's place, so that links in different directories make the same
 * package. */
static const char *rule_of(struct sk_arena *arena, const struct sk_model *model, uint32_t task)
{
	static const char place[] = "' at ";
	const char *rule = model->tasks.items[task].told.rule, *end = rule;

	for (const char *at = rule; at && (at = strstr(at, place)) != NULL; at++)
		end = at + 1;
	return rule ? sk_arena_copy(arena, rule, (size_t)(end - rule)) : NULL;
}

/* Return "lib.a(member.o)" for "folder/lib.a(member.o)". */
static const char *without_folders(const char *object)
{
	size_t length = strlen(object);
	const char *member = length && object[length - 1] == ')' ? strrchr(object, '(') : NULL, *name = object;

	for (const char *at = object; *at && at != member; at++)
		if (*at == '/')
			name = at + 1;
	return name;
}

static const struct sk_account_entry *list_tasks(struct sk_arena *arena, const struct sk_model *model,
						 const struct sk_fusion *fusion, const struct sk_tile_groups *groups)
{
	struct sk_account_entry *entries = SK_NEW_ARRAY(arena, struct sk_account_entry, model->tasks.count);
	const char *label = NULL, *scope = NULL; /* copies, since the account outlives the planned names */

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct sk_task_placement *placement = &fusion->tasks[i];
		const struct sk_block_verdict *blocks = &groups->block_verdicts[i];
		const char *file = model->tasks.items[i].place.file;

		if (placement->scope != label) {
			label = placement->scope;
			scope = label ? sk_arena_copy(arena, label, strlen(label)) : NULL;
		}
		entries[i] = (struct sk_account_entry){
			.task = i,
			.launch = placement->launch,
			.name = model->tasks.items[i].name,
			.scope = scope,
			.code = sk_reason_code(placement->reason),
			.sentence = sentence_of(arena, model, fusion, i),
			.tile_code = sk_tile_reason_code(groups->verdicts[i].reason),
			.tile_sentence = sk_tile_reason_text(arena, model, &groups->verdicts[i]),
			.rule = rule_of(arena, model, i),
			.file = file ? without_folders(file) : NULL,
		};
		if (blocks->reason != SK_BLOCKS_NONE) {
			entries[i].block_code = sk_block_reason_code(blocks->reason);
			entries[i].block_sentence = sk_block_reason_text(arena, model, blocks);
		}
	}
	return entries;
}

/* A task's recorders are in the order of its waits. */
static void list_orders(struct sk_arena *arena, const struct sk_model *model,
			const struct sk_dependencies *dependencies, struct sk_account *account)
{
	SK_ARRAY(struct sk_wanted_order) orders = {0};

	for (uint32_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		for (size_t i = 0; i < task->said.after.count; i++)
			sk_array_push(arena, &orders, (struct sk_wanted_order){task->said.after.items[i], t, NULL});
		for (size_t i = 0; i < task->said.wait.count; i++)
			sk_array_push(
				arena, &orders,
				(struct sk_wanted_order){dependencies->recorders[dependencies->first_recorder[t] + i],
							 t, model->events.items[task->said.wait.items[i]].name});
	}
	account->orders = orders.items;
	account->order_count = orders.count;
}

/* Copies of kernels follow all kernels in the plan, and are left out here. */
static void list_objects(struct sk_arena *arena, const struct sk_model *model, struct sk_account *account)
{
	account->object_count = model->kernels.count;
	account->objects = SK_NEW_ARRAY(arena, const char *, model->kernels.count + 1);
	for (size_t i = 0; i < model->kernels.count; i++)
		account->objects[i] = without_folders(model->kernels.items[i].object_name);
}

/* Return, by tensor of the model, the tensor's number in the plan, which has no views. */
static const uint32_t *number_tensors(struct sk_arena *arena, const struct sk_model *model)
{
	uint32_t *numbers = SK_NEW_ARRAY(arena, uint32_t, model->tensors.count + 1), next = 0;

	for (size_t i = 0; i < model->tensors.count; i++)
		numbers[i] = model->tensors.items[i].view_of == SK_NONE ? next++ : SK_NONE;
	return numbers;
}

static const struct sk_account_slice *list_slices(struct sk_arena *arena, const struct sk_model *model,
						  const struct sk_virtual_node *node, const uint32_t *numbers)
{
	struct sk_account_slice *slices = SK_NEW_ARRAY(arena, struct sk_account_slice, node->slice_count + 1);

	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_node_part *part = &model->slices.items[node->first_slice + i];

		slices[i] = (struct sk_account_slice){part->name, numbers[part->tensor], part->offset, part->bytes};
	}
	return slices;
}

static void list_nodes(struct sk_arena *arena, const struct sk_model *model, struct sk_account *account)
{
	SK_ARRAY(struct sk_account_node) nodes = {0};
	const uint32_t *numbers = number_tensors(arena, model);

	for (size_t i = 0; i < model->virtual_nodes.count; i++) {
		const struct sk_virtual_node *node = &model->virtual_nodes.items[i];

		if (node->no_task)
			sk_array_push(arena, &nodes,
				      (struct sk_account_node){node->name, node->op, node->joins, node->slice_count,
							       list_slices(arena, model, node, numbers)});
	}
	account->nodes = nodes.items;
	account->node_count = nodes.count;
}

struct sk_account sk_account_build(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
				   const struct sk_tile_groups *groups)
{
	struct sk_account account = {.entries = list_tasks(arena, model, fusion, groups), .count = model->tasks.count};

	list_orders(arena, model, fusion->dependencies, &account);
	list_objects(arena, model, &account);
	list_nodes(arena, model, &account);
	return account;
}
