/* Roles: what each tensor is to whoever runs the package. Comes in: the bound tasks in network order. Goes out: role
 * and binding number of every tensor that has memory of its own, and the contents of constants. */
#include <inttypes.h>
#include <string.h>

#include "bind.h"
#include "loader/npy.h"
#include "manifest.h"

/* What the network does with a tensor. Task indices, SK_NONE: never. */
struct use {
	uint32_t first_read, first_write;
	uint32_t inherited_read; /* the first read that no write precedes */
	uint32_t last_read, last_write;
};

static void note_accesses(struct use *uses, const struct sk_task *task, uint32_t index, enum sk_access access)
{
	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];

		if (argument->tensor == SK_NONE || !(argument->access & access))
			continue;

		struct use *use = &uses[argument->tensor];

		*(access == SK_ACCESS_WRITE ? &use->last_write : &use->last_read) = index;
		if (access == SK_ACCESS_WRITE && use->first_write == SK_NONE)
			use->first_write = index;
		if (access == SK_ACCESS_READ && use->first_read == SK_NONE)
			use->first_read = index;
		if (access == SK_ACCESS_READ && use->first_write == SK_NONE && use->inherited_read == SK_NONE)
			use->inherited_read = index;
	}
}

static struct use *collect_uses(const struct sk_model *model)
{
	struct use *uses = SK_NEW_ARRAY(model->arena, struct use, model->tensors.count + 1);

	for (size_t i = 0; i < model->tensors.count; i++)
		uses[i] = (struct use){SK_NONE, SK_NONE, SK_NONE, SK_NONE, SK_NONE};
	/* A task reads all its arguments before it writes one. */
	for (uint32_t t = 0; t < model->tasks.count; t++) {
		note_accesses(uses, &model->tasks.items[t], t, SK_ACCESS_READ);
		note_accesses(uses, &model->tasks.items[t], t, SK_ACCESS_WRITE);
	}
	return uses;
}

/* Where the task names the tensor, or a view of it. */
static struct sk_place place_of_use(const struct sk_model *model, uint32_t task_index, uint32_t tensor)
{
	const struct sk_task *task = &model->tasks.items[task_index];

	for (size_t i = 0; i < task->args.count; i++) {
		const struct sk_name *arg = &task->args.items[i];
		uint32_t index = sk_map_find(&model->tensor_names, arg->text, strlen(arg->text));

		if (index == tensor || (index != SK_NONE && model->tensors.items[index].view_of == tensor))
			return arg->place;
	}
	return task->place;
}

static void refuse_write(struct sk_model *model, uint32_t index, const struct use *use)
{
	const struct sk_tensor *tensor = &model->tensors.items[index];

	if (use->first_write == SK_NONE)
		return;
	sk_error(model->diag, place_of_use(model, use->first_write, index), "%s '%s' cannot be written",
		 tensor->role == SK_ROLE_CONSTANT ? "constant" : "input", tensor->name);
	sk_note(model->diag, "declared at %s%s", sk_place_text(model->arena, tensor->place),
		tensor->role == SK_ROLE_CONSTANT ? "" : "; a tensor that is read and written is role: inout");
}

/* Whatever is read first has its contents from outside. */
static void refuse_inherited_read(struct sk_model *model, uint32_t index, const struct use *use)
{
	const struct sk_tensor *tensor = &model->tensors.items[index];

	if (use->inherited_read == SK_NONE)
		return;

	struct sk_place place = place_of_use(model, use->inherited_read, index);

	if (use->first_write == SK_NONE)
		sk_error(model->diag, place, "%s '%s' is read, but never written",
			 tensor->role == SK_ROLE_OUTPUT ? "output" : "temporary", tensor->name);
	else
		sk_error(model->diag, place,
			 "tensor '%s' is read before it is first written; if it keeps its contents from run to run, "
			 "declare it with role: inout",
			 tensor->name);
	sk_note(model->diag, "declared at %s", sk_place_text(model->arena, tensor->place));
}

static void check_declared(struct sk_model *model, uint32_t index, const struct use *use)
{
	const struct sk_tensor *tensor = &model->tensors.items[index];

	switch (tensor->role) {
	case SK_ROLE_INPUT:
	case SK_ROLE_CONSTANT:
		refuse_write(model, index, use);
		break;
	case SK_ROLE_OUTPUT:
		if (use->first_write == SK_NONE && use->first_read == SK_NONE)
			sk_error(model->diag, tensor->place, "output '%s' is never written", tensor->name);
		refuse_inherited_read(model, index, use);
		break;
	case SK_ROLE_TEMPORARY:
		refuse_inherited_read(model, index, use);
		break;
	case SK_ROLE_INOUT:
	case SK_ROLE_NONE:
		break;
	}
}

static void assign_role(struct sk_model *model, uint32_t index, const struct use *use)
{
	struct sk_tensor *tensor = &model->tensors.items[index];
	bool unused = use->first_read == SK_NONE && use->first_write == SK_NONE;

	if (unused && tensor->role != SK_ROLE_OUTPUT) {
		sk_warning(model->diag, tensor->place, "no task uses tensor '%s'", tensor->name);
		tensor->role = SK_ROLE_NONE;
		return;
	}
	if (tensor->role != SK_ROLE_NONE) {
		check_declared(model, index, use);
		return;
	}
	if (use->first_write == SK_NONE) {
		tensor->role = SK_ROLE_INPUT;
		return;
	}
	tensor->role = use->first_read == SK_NONE ? SK_ROLE_OUTPUT : SK_ROLE_TEMPORARY;
	refuse_inherited_read(model, index, use);
	if (use->first_read != SK_NONE && use->inherited_read == SK_NONE && use->last_write >= use->last_read)
		sk_warning(model->diag, place_of_use(model, use->last_write, index),
			   "what is written to '%s' here is never read, and '%s' is a temporary; a result needs role: "
			   "output",
			   tensor->name, tensor->name);
}

/* ---- constants ---- */

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
	const struct use *uses = collect_uses(model);

	for (uint32_t i = 0; i < model->tensors.count; i++) {
		struct sk_tensor *tensor = &model->tensors.items[i];

		if (tensor->view_of != SK_NONE)
			continue;
		assign_role(model, i, &uses[i]);
		if (tensor->role == SK_ROLE_CONSTANT)
			read_constant(model, tensor);
		if (tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_OUTPUT || tensor->role == SK_ROLE_INOUT)
			tensor->binding = model->binding_count++;
	}
	return model->diag->errors == errors;
}
