/* See bind-parts.h. A copy is a task of the op that lowering uses for copies. It precedes the task that reads the
 * tensor, or follows the one that writes it. */
#include "src/bind/bind-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/model/model.h"

/* Tensors begin at multiples of this. */
enum { ALIGNMENT = 64 };

static const char *free_name(const struct sk_model *model, const struct sk_map *names, const char *base)
{
	const char *name = base;

	for (unsigned i = 2; sk_map_find(names, name, strlen(name)) != SK_NONE; i++)
		name = sk_arena_print(model->arena, "%s#%u", base, i);
	return name;
}

static uint32_t add_tensor(struct sk_model *model, struct sk_tensor tensor)
{
	sk_array_push(model->arena, &model->tensors, tensor);
	return (uint32_t)model->tensors.count - 1;
}

/* Add the whole tensor as one row, for kernels that only move elements. */
static uint32_t add_row(struct sk_model *model, uint32_t index)
{
	struct sk_tensor row = model->tensors.items[index];

	row.view_of = row.view_of == SK_NONE ? index : row.view_of;
	row.dtype = sk_dtype_moved(row.dtype);
	row.rank = 1;
	row.shape[0] = row.elements;
	row.reshaped = true;
	return add_tensor(model, row);
}

/* Add a tensor like the view, with bytes of its own. */
static uint32_t add_whole(struct sk_model *model, const struct sk_task *task, uint32_t index)
{
	struct sk_tensor whole = model->tensors.items[index];

	whole.name =
		free_name(model, &model->tensor_names, sk_arena_print(model->arena, "%s:%s", task->name, whole.name));
	whole.role = SK_ROLE_TEMPORARY;
	whole.role_declared = true;
	whole.view_of = SK_NONE;
	whole.view_offset = 0;
	whole.slice = 0;
	whole.reshaped = false;
	sk_map_insert(&model->tensor_names, whole.name, strlen(whole.name), (uint32_t)model->tensors.count);
	return add_tensor(model, whole);
}

static struct sk_task copy_task(struct sk_model *model, const struct sk_task *task, uint32_t view, uint32_t from,
				uint32_t to)
{
	const struct sk_tensor seen = model->tensors.items[view];
	struct sk_task copy = {.place = task->place,
			       .said.op = {"Copy", sk_spot_of(task->place)},
			       .said.network = task->said.network,
			       .told.origin = task->told.origin,
			       .said.composite = task->said.composite,
			       .said.directed = true,
			       .said.input_count = 1,
			       .said.stream = task->said.stream,
			       .said.scopes = task->said.scopes,
			       .bound.kernel = SK_NONE};

	copy.name = free_name(model, &model->task_names, sk_arena_print(model->arena, "%s:copy", task->name));
	sk_map_insert(&model->task_names, copy.name, strlen(copy.name), SK_NONE - 1);
	sk_array_push(model->arena, &copy.said.args,
		      (struct sk_named_tensor){add_row(model, from), sk_spot_of(task->place)});
	sk_array_push(model->arena, &copy.said.args,
		      (struct sk_named_tensor){add_row(model, to), sk_spot_of(task->place)});
	sk_array_push(model->arena, &copy.told.refusals,
		      sk_arena_print(model->arena,
				     "No kernel of %s takes '%s' at byte %" PRIu64
				     " of '%s', since they need greater alignment",
				     task->said.op.text, seen.name, seen.view_offset,
				     model->tensors.items[seen.view_of].name));
	return copy;
}

static bool is_unaligned(const struct sk_tensor *tensor)
{
	return tensor->view_of != SK_NONE && tensor->view_offset % ALIGNMENT && !tensor->rows.count;
}

bool sk_unaligned_copy(struct sk_model *model, struct sk_task *task, struct sk_unaligned *unaligned)
{
	*unaligned = (struct sk_unaligned){.tensors = model->tensors.count};
	for (size_t i = 0; i < task->said.args.count; i++)
		sk_array_push(model->arena, &unaligned->args, task->said.args.items[i]);
	for (size_t i = 0; i < task->said.args.count && task->said.directed; i++) {
		uint32_t view = task->said.args.items[i].tensor, whole;

		if (view == SK_NONE || !is_unaligned(&model->tensors.items[view]))
			continue;
		whole = add_whole(model, task, view);
		task->said.args.items[i].tensor = whole;
		if (i < task->said.input_count)
			sk_array_push(model->arena, &unaligned->before, copy_task(model, task, view, view, whole));
		else
			sk_array_push(model->arena, &unaligned->behind, copy_task(model, task, view, whole, view));
	}
	return unaligned->before.count + unaligned->behind.count != 0;
}

void sk_unaligned_undo(struct sk_model *model, struct sk_task *task, const struct sk_unaligned *unaligned)
{
	memcpy(task->said.args.items, unaligned->args.items, unaligned->args.count * sizeof(*unaligned->args.items));
	model->tensors.count = unaligned->tensors;
}
