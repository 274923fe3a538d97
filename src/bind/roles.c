/* Roles: the relation of each tensor to the program that runs the package. The input is the bound tasks in network
 * order. The output is the role and binding number of every tensor with memory of its own, and the contents of
 * constants. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/npy/npy.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "src/bind/bind-parts.h"
#include "src/bind/bind.h"
#include "src/model/model.h"

/* An argument of a task; task SK_NONE: there is none. */
struct access {
	uint32_t task, argument;
};

static const struct access never = {SK_NONE, SK_NONE};

static const char *const role_texts[] = {[SK_ROLE_INPUT] = "an input",
					 [SK_ROLE_OUTPUT] = "an output",
					 [SK_ROLE_INOUT] = "an inout",
					 [SK_ROLE_CONSTANT] = "a constant",
					 [SK_ROLE_TEMPORARY] = "a temporary"};

/* The network's accesses to a tensor. */
struct use {
	struct access first_read, first_write, last_read, last_write;
	bool inherits; /* some bytes are read before any task writes them */
};

static void note_accesses(struct use *uses, const struct sk_task *task, uint32_t index, enum sk_access access)
{
	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];

		if (argument->tensor == SK_NONE || !(argument->access & access))
			continue;

		struct use *use = &uses[argument->tensor];
		struct access *first = access == SK_ACCESS_WRITE ? &use->first_write : &use->first_read;
		struct access *last = access == SK_ACCESS_WRITE ? &use->last_write : &use->last_read;

		*last = (struct access){index, a};
		if (first->task == SK_NONE)
			*first = *last;
	}
}

static struct use *collect_uses(const struct sk_model *model, const struct sk_gaps *gaps)
{
	struct use *uses = SK_NEW_ARRAY(model->arena, struct use, model->tensors.count + 1);

	for (size_t i = 0; i < model->tensors.count; i++)
		uses[i] = (struct use){never, never, never, never, false};
	for (uint32_t t = 0; t < model->tasks.count; t++) {
		note_accesses(uses, &model->tasks.items[t], t, SK_ACCESS_READ);
		note_accesses(uses, &model->tasks.items[t], t, SK_ACCESS_WRITE);
	}
	for (size_t i = 0; i < gaps->reads.count; i++)
		uses[gaps->reads.items[i].tensor].inherits = true;
	return uses;
}

/* Return true if it is the argument's tensor, or a view of the same bytes. */
static bool is_tensor_of(const struct sk_model *model, uint32_t index, const struct sk_argument *argument)
{
	if (index == SK_NONE)
		return false;

	const struct sk_tensor *tensor = &model->tensors.items[index];

	return (tensor->view_of == SK_NONE ? index : tensor->view_of) == argument->tensor &&
	       tensor->view_offset == argument->offset && sk_tensor_span(tensor) == argument->size;
}

/* Return the place where the task names the argument's tensor. */
static struct sk_place place_of_access(const struct sk_model *model, struct access access)
{
	const struct sk_task *task = &model->tasks.items[access.task];
	const struct sk_argument *argument = &task->bound.arguments[access.argument];

	for (size_t i = 0; i < task->said.args.count; i++)
		if (is_tensor_of(model, task->said.args.items[i].tensor, argument))
			return sk_task_place(task, task->said.args.items[i].spot);
	for (size_t i = 0; i < task->said.set.count; i++)
		if (task->said.set.items[i].kind == SK_SET_TENSOR &&
		    is_tensor_of(model, task->said.set.items[i].tensor, argument))
			return task->said.set.items[i].place;
	return task->place;
}

static void refuse_write(struct sk_model *model, uint32_t index, const struct use *use)
{
	const struct sk_tensor *tensor = &model->tensors.items[index];

	if (use->first_write.task == SK_NONE)
		return;
	sk_error(model->diag, place_of_access(model, use->first_write), "%s '%s' cannot be written",
		 tensor->role == SK_ROLE_CONSTANT ? "constant" : "input", tensor->name);
	sk_note(model->diag, "declared at %s%s", sk_place_text(model->arena, tensor->place),
		tensor->role == SK_ROLE_CONSTANT ? "" : "; a tensor that is read and written is role: inout");
}

static void assign_role(struct sk_model *model, uint32_t index, const struct use *use)
{
	struct sk_tensor *tensor = &model->tensors.items[index];
	bool unread = use->first_read.task == SK_NONE, unwritten = use->first_write.task == SK_NONE;

	if (unread && unwritten && (tensor->role != SK_ROLE_OUTPUT || tensor->keeps_unwritten)) {
		sk_warning(model->diag, tensor->place, "no task uses tensor '%s'", tensor->name);
		tensor->role = SK_ROLE_NONE;
		return;
	}
	if (tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_CONSTANT)
		refuse_write(model, index, use);
	if (tensor->role != SK_ROLE_NONE)
		return;
	tensor->role = unwritten ? SK_ROLE_INPUT : unread ? SK_ROLE_OUTPUT : SK_ROLE_TEMPORARY;
	if (tensor->role == SK_ROLE_TEMPORARY && !use->inherits && use->last_write.task >= use->last_read.task)
		sk_warning(model->diag, place_of_access(model, use->last_write),
			   "the bytes written to '%s' here are never read, and '%s' is a temporary; a result needs "
			   "role: output",
			   tensor->name, tensor->name);
}

/* ---- bytes that no task has written ---- */

/* Return a text such as "bytes [256, 512) of 't' (elements [64, 128))", with the number of further ranges. */
static const char *bytes_text(const struct sk_model *model, const struct sk_gap *gap, size_t count)
{
	const struct sk_tensor *tensor = &model->tensors.items[gap->tensor];
	uint64_t size = sk_dtype_size(tensor->dtype);
	const char *more = count == 1 ? ""
				      : sk_arena_print(model->arena, " and %zu more range%s of it", count - 1,
						       count == 2 ? "" : "s");

	return sk_arena_print(model->arena,
			      "bytes [%" PRIu64 ", %" PRIu64 ") of '%s' (elements [%" PRIu64 ", %" PRIu64 "))%s",
			      gap->low, gap->high, tensor->name, gap->low / size, gap->high / size, more);
}

/* Report the gaps of one argument, or of one tensor at the end. */
static void report_gaps(const struct sk_model *model, const struct sk_gap *gap, size_t count)
{
	const struct sk_tensor *tensor = &model->tensors.items[gap->tensor];
	const char *bytes = bytes_text(model, gap, count);

	if (gap->task == SK_NONE) {
		if (tensor->role == SK_ROLE_OUTPUT && !tensor->keeps_unwritten)
			sk_error(model->diag, tensor->place,
				 "no task writes %s, an output; to keep the caller's contents there, add "
				 "unwritten: keep",
				 bytes);
		return;
	}
	if (tensor->role != SK_ROLE_OUTPUT && tensor->role != SK_ROLE_TEMPORARY)
		return; /* it has its contents from outside */
	sk_error(model->diag, place_of_access(model, (struct access){gap->task, gap->argument}),
		 "task '%s' reads %s, which no task before it writes", model->tasks.items[gap->task].name, bytes);
	sk_note(model->diag, "'%s' is declared at %s; if it keeps its contents from run to run, it is role: inout",
		tensor->name, sk_place_text(model->arena, tensor->place));
}

static void check_gaps(const struct sk_model *model, const struct sk_gap *gaps, size_t count)
{
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1; next < count && gaps[next].tensor == gaps[first].tensor &&
				       gaps[next].task == gaps[first].task &&
				       gaps[next].argument == gaps[first].argument;)
			next++;
		report_gaps(model, &gaps[first], next - first);
	}
}

/* ---- results that no task reads ---- */

/* Return whether the task has no effect but the bytes that it writes through the argument. */
static bool is_for_one(const struct sk_model *model, const struct sk_task *task, uint32_t number)
{
	for (uint32_t a = 0; a < task->bound.argument_count; a++)
		if (a != number && task->bound.arguments[a].tensor != SK_NONE &&
		    task->bound.arguments[a].access & SK_ACCESS_WRITE)
			return false;
	return model->kernels.items[task->bound.kernel].state_count == 0;
}

/* A task can have an unused result besides a used one; several unused results may share a tensor. */
static void report_dead_store(const struct sk_model *model, const struct sk_dead_store *store)
{
	const struct sk_task *task = &model->tasks.items[store->task];
	const struct sk_tensor *tensor = &model->tensors.items[task->bound.arguments[store->argument].tensor];

	if (!is_for_one(model, task, store->argument) ||
	    (tensor->role != SK_ROLE_TEMPORARY && tensor->role != SK_ROLE_OUTPUT))
		return;
	sk_warning(model->diag, place_of_access(model, (struct access){store->task, store->argument}),
		   "no task reads the bytes of '%s' that task '%s' writes here: task '%s' overwrites them first",
		   tensor->name, task->name, model->tasks.items[store->by].name);
}

static void check_unwritten_key(const struct sk_model *model, const struct sk_tensor *tensor)
{
	if (tensor->keeps_unwritten && tensor->role != SK_ROLE_OUTPUT && tensor->role != SK_ROLE_NONE)
		sk_error(model->diag, tensor->place, "tensor '%s' has 'unwritten', but is not an output", tensor->name);
}

/* The role may be declared or follow from the tasks; a tensor that no task uses has had a warning. */
static void check_range_key(const struct sk_model *model, const struct sk_tensor *tensor)
{
	if (tensor->range && tensor->role != SK_ROLE_INPUT && tensor->role != SK_ROLE_INOUT &&
	    tensor->role != SK_ROLE_NONE)
		sk_error(model->diag, tensor->range_place,
			 "only an input or inout has a range of random values; tensor '%s' is %s", tensor->name,
			 role_texts[tensor->role]);
}

/* ---- tasks that run once ---- */

/* Return, by tensor, the first task that runs once and writes it, or SK_NONE. */
static uint32_t *find_once_writers(const struct sk_model *model)
{
	uint32_t *writers = SK_NEW_ARRAY(model->arena, uint32_t, model->tensors.count + 1);

	for (size_t i = 0; i < model->tensors.count; i++)
		writers[i] = SK_NONE;
	for (uint32_t t = (uint32_t)model->tasks.count; t-- > 0;) {
		const struct sk_task *task = &model->tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count && task->said.once; a++)
			if (task->bound.arguments[a].tensor != SK_NONE &&
			    task->bound.arguments[a].access & SK_ACCESS_WRITE)
				writers[task->bound.arguments[a].tensor] = t;
	}
	return writers;
}

/* A task that runs once must read the same values in every run, and no other task may change its results. */
static void check_once_access(const struct sk_model *model, const uint32_t *writers, struct access access)
{
	const struct sk_task *task = &model->tasks.items[access.task];
	const struct sk_argument *argument = &task->bound.arguments[access.argument];
	const struct sk_tensor *tensor = &model->tensors.items[argument->tensor];
	bool reads = argument->access & SK_ACCESS_READ, writes = argument->access & SK_ACCESS_WRITE;
	bool result = tensor->role == SK_ROLE_TEMPORARY && writers[argument->tensor] != SK_NONE;

	if (writes && tensor->role != SK_ROLE_TEMPORARY) {
		sk_error(model->diag, place_of_access(model, access),
			 "task '%s' runs once, but writes '%s', %s: its results are temporaries, which the instance "
			 "keeps",
			 task->name, tensor->name, role_texts[tensor->role]);
		if (!tensor->role_declared)
			sk_note(model->diag, "no task reads it; if it is not needed, give it role: temporary");
		return;
	}
	if (reads && tensor->role != SK_ROLE_CONSTANT && !result)
		sk_error(model->diag, place_of_access(model, access),
			 "task '%s' runs once, but reads '%s', %s, which may differ in the next run: only "
			 "constants and results of such tasks can be read",
			 task->name, tensor->name, role_texts[tensor->role]);
}

/* A run that fails is repeated, and must read the same values again. */
static void check_once_rewrite(const struct sk_model *model, struct access access)
{
	const struct sk_task *task = &model->tasks.items[access.task];
	const struct sk_argument *written = &task->bound.arguments[access.argument];

	for (uint32_t a = 0; a < task->bound.argument_count && written->access & SK_ACCESS_WRITE; a++) {
		const struct sk_argument *read = &task->bound.arguments[a];

		if (read->tensor != written->tensor || !(read->access & SK_ACCESS_READ))
			continue;
		sk_error(model->diag, place_of_access(model, access),
			 "task '%s' runs once, but reads '%s' and writes it: if it fails, its next run would find the "
			 "changes of this one; let it write another tensor",
			 task->name, model->tensors.items[read->tensor].name);
		return;
	}
}

/* Report a task that overwrites a result of a task that runs once. */
static void check_once_result(const struct sk_model *model, const uint32_t *writers, struct access access)
{
	const struct sk_task *task = &model->tasks.items[access.task];
	const struct sk_argument *argument = &task->bound.arguments[access.argument];
	uint32_t writer = writers[argument->tensor];

	if (writer == SK_NONE || !(argument->access & SK_ACCESS_WRITE))
		return;
	sk_error(model->diag, place_of_access(model, access),
		 "task '%s', which runs every time, writes '%s', a result of task '%s', which runs once", task->name,
		 model->tensors.items[argument->tensor].name, model->tasks.items[writer].name);
}

static void check_once(const struct sk_model *model)
{
	const uint32_t *writers = find_once_writers(model);

	for (uint32_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];
		const struct sk_kernel *kernel = &model->kernels.items[task->bound.kernel];

		if (task->said.once && kernel->state_count)
			sk_error(model->diag, task->place,
				 "task '%s' runs once, but its kernel '%s' has hidden state; if no call uses what an "
				 "earlier one left there, mark it reentrant",
				 task->name, kernel->name);
		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			const struct access access = {t, a};

			if (task->bound.arguments[a].tensor == SK_NONE || !task->bound.arguments[a].access)
				continue;
			if (!task->said.once) {
				check_once_result(model, writers, access);
				continue;
			}
			check_once_access(model, writers, access);
			check_once_rewrite(model, access);
		}
	}
}

/* ---- constants ---- */

static void fill_constant(struct sk_model *model, struct sk_tensor *tensor)
{
	uint32_t size = sk_dtype_size(tensor->dtype);
	uint8_t *bytes = sk_arena_alloc(model->arena, tensor->bytes, 1);

	for (uint64_t at = 0; at < tensor->bytes; at += size)
		memcpy(bytes + at, &tensor->fill, size); /* little-endian, like packages */
	tensor->contents = bytes;
}

static void read_constant(struct sk_model *model, struct sk_tensor *tensor)
{
	struct sk_npy npy;
	char error[256];

	if (!sk_npy_open(tensor->data, tensor->dtype, &npy, error, sizeof(error))) {
		sk_error(model->diag, tensor->place, "constant '%s': %s: %s", tensor->name, tensor->data, error);
		return;
	}
	/* The mapping stays until the program ends: the package is written from it. */
	tensor->contents = npy.data;
	if (npy.rank == tensor->rank && !memcmp(npy.shape, tensor->shape, npy.rank * sizeof(npy.shape[0])))
		return;
	sk_error(model->diag, tensor->place, "constant '%s' is %s, but %s is %s", tensor->name,
		 sk_shape_text(model->arena, tensor->rank, tensor->shape), tensor->data,
		 sk_shape_text(model->arena, npy.rank, npy.shape));
	tensor->contents = NULL;
	sk_npy_close(&npy);
}

bool sk_model_assign_roles(struct sk_model *model)
{
	unsigned errors = model->diag->errors;
	const struct sk_gaps gaps = sk_gaps_find(model);
	const struct use *uses = collect_uses(model, &gaps);

	for (uint32_t i = 0; i < model->tensors.count; i++) {
		struct sk_tensor *tensor = &model->tensors.items[i];

		if (tensor->view_of != SK_NONE)
			continue;
		assign_role(model, i, &uses[i]);
		check_unwritten_key(model, tensor);
		check_range_key(model, tensor);
		if (tensor->role == SK_ROLE_CONSTANT && tensor->filled)
			fill_constant(model, tensor);
		else if (tensor->role == SK_ROLE_CONSTANT && tensor->data)
			read_constant(model, tensor);
		if (tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_OUTPUT || tensor->role == SK_ROLE_INOUT)
			tensor->binding = model->binding_count++;
	}
	check_gaps(model, gaps.reads.items, gaps.reads.count);
	check_gaps(model, gaps.ends.items, gaps.ends.count);
	for (size_t i = 0; i < gaps.stores.count; i++)
		report_dead_store(model, &gaps.stores.items[i]);
	check_once(model);
	return model->diag->errors == errors;
}

void sk_model_add_dependencies(const struct sk_model *model, struct sk_linker *linker)
{
	for (size_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].data)
			sk_linker_add_dependency(linker, model->tensors.items[i].data, true);
	if (model->graph.path.text)
		sk_linker_add_dependency(linker, model->graph.path.text, true);
	if (model->device_file)
		sk_linker_add_dependency(linker, model->device_file, true);
}
