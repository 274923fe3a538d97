/* Checks that each tensor's role matches its uses by tasks, and that its place matches its role. */
#include "src/proof/proof-parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

static enum sk_space space_of(enum sk_role role)
{
	switch (role) {
	case SK_ROLE_INPUT:
	case SK_ROLE_OUTPUT:
	case SK_ROLE_INOUT:
		return SK_SPACE_BINDING;
	case SK_ROLE_CONSTANT:
		return SK_SPACE_CONSTANT;
	case SK_ROLE_TEMPORARY:
		return SK_SPACE_WORKSPACE;
	default:
		return SK_SPACE_NONE;
	}
}

/* Only inputs and inouts have a range: two numbers in ascending order. */
static bool check_range(const struct sk_consistency *check, const struct sk_plan_tensor *tensor)
{
	const char *name = sk_plan_string(&tensor->name);
	double low, high;
	int end = -1;

	if (!sk_plan_type(tensor)->range)
		return true;
	if (tensor->role != SK_ROLE_INPUT && tensor->role != SK_ROLE_INOUT)
		return sk_contradict(check, "%s: only inputs and inouts have a range of random values", name);
	if (sscanf(sk_plan_string(&sk_plan_type(tensor)->range), "%lf %lf%n", &low, &high, &end) != 2 ||
	    sk_plan_string(&sk_plan_type(tensor)->range)[end] || !(low <= high))
		return sk_contradict(check, "%s: its range of random values is not two numbers in order", name);
	return true;
}

static bool check_tensor(const struct sk_consistency *check, const struct sk_plan_tensor *tensor)
{
	const char *name = sk_plan_string(&tensor->name);
	bool bound = tensor->space == SK_SPACE_BINDING;
	uint64_t rest = 0;

	for (uint32_t d = sk_plan_type(tensor)->rank; d < SK_MAX_RANK; d++)
		rest |= sk_plan_type(tensor)->shape[d];
	if (rest)
		return sk_contradict(check, "%s: it has more dimensions than %u", name, sk_plan_type(tensor)->rank);
	if (!bound && tensor->index)
		return sk_contradict(check, "%s: only bound tensors have a number", name);
	if (tensor->role != SK_ROLE_TEMPORARY && tensor->unshared_offset)
		return sk_contradict(check, "%s: only temporaries lie in the unshared workspace", name);
	if ((bound || tensor->space == SK_SPACE_NONE) && tensor->offset)
		return sk_contradict(check, "%s: it has an offset of its own", name);
	if (tensor->offset % SK_PLAN_ALIGNMENT || tensor->unshared_offset % SK_PLAN_ALIGNMENT)
		return sk_contradict(check, "%s: it is not aligned to %d bytes", name, SK_PLAN_ALIGNMENT);
	if (tensor->role == SK_ROLE_TEMPORARY && tensor->space == SK_SPACE_SCRATCH)
		return true; /* scratch-check.c proves that it may be there */
	return sk_same_number(check, name, "its space", tensor->space, space_of(tensor->role)) &&
	       (!bound ||
		sk_same_number(check, name, "the tensor bound under its number", check->view->bindings[tensor->index],
			       (uint64_t)(tensor - check->view->tensors)));
}

struct use {
	bool read, written, read_first; /* in the network's order; a task reads before it writes */
	uint64_t over_read; /* the most bytes past the end of an access that may also be read */
};

static void note_access(const struct sk_plan_view *view, const struct sk_plan_argument *argument, bool write,
			struct use *uses)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	struct use *use = &uses[argument->tensor];

	if (argument->space == SK_SPACE_SIZES) /* they belong to no tensor */
		return;
	if (pattern && pattern->over_read > use->over_read)
		use->over_read = pattern->over_read;
	if (argument->kind == SK_ARGUMENT_STATE || !(write ? sk_access_writes(argument) : sk_access_reads(argument)))
		return;
	use->read_first |= !write && !use->written;
	*(write ? &use->written : &use->read) = true;
}

static struct use *collect_uses(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	struct use *uses = SK_NEW_ARRAY(check->arena, struct use, view->tensor_count);

	for (uint32_t t = 0; t < view->task_count; t++) {
		const struct sk_plan_call *call = &view->calls[check->places[t].call];

		for (uint32_t i = 0; i < 2u * call->argument_count; i++)
			note_access(view, &view->arguments[call->first_argument + i % call->argument_count],
				    i >= call->argument_count, uses);
	}
	return uses;
}

static bool check_role(const struct sk_consistency *check, const struct sk_plan_tensor *tensor, const struct use *use)
{
	const char *name = sk_plan_string(&tensor->name);
	bool made_inside = tensor->role == SK_ROLE_OUTPUT || tensor->role == SK_ROLE_TEMPORARY;

	if (use->written && (tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_CONSTANT))
		return sk_contradict(check, "%s: it is an input or a constant, and a task writes it", name);
	if (use->read_first && made_inside)
		return sk_contradict(
			check, "%s: it is an output or a temporary, and a task reads it before one writes it", name);
	if (!sk_same_number(check, name, "the padding", sk_plan_type(tensor)->padding, use->over_read))
		return false;
	return use->written || !made_inside || !sk_plan_type(tensor)->bytes ||
	       sk_contradict(check, "%s: it is an output or a temporary, and no task writes it", name);
}

static int compare_unshared(const void *a, const void *b)
{
	const struct sk_plan_tensor *one = *(const struct sk_plan_tensor *const *)a;
	const struct sk_plan_tensor *other = *(const struct sk_plan_tensor *const *)b;

	return (one->unshared_offset > other->unshared_offset) - (one->unshared_offset < other->unshared_offset);
}

/* Single tasks may run in any order that the caller likes, so no two temporaries share bytes there. */
static bool check_unshared(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_tensor **temporaries =
		SK_NEW_ARRAY(check->arena, const struct sk_plan_tensor *, view->tensor_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < view->tensor_count; i++)
		if (view->tensors[i].role == SK_ROLE_TEMPORARY && sk_plan_type(&view->tensors[i])->bytes)
			temporaries[count++] = &view->tensors[i];
	qsort(temporaries, count, sizeof(*temporaries), compare_unshared);
	for (uint32_t i = 1; i < count; i++)
		if (temporaries[i]->unshared_offset - temporaries[i - 1]->unshared_offset <
		    sk_plan_type(temporaries[i - 1])->bytes)
			return sk_contradict(check, "'%s' and '%s' share bytes of the unshared workspace",
					     sk_plan_string(&temporaries[i - 1]->name),
					     sk_plan_string(&temporaries[i]->name));
	return true;
}

bool sk_consistency_check_tensors(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	const struct use *uses = collect_uses(check);
	uint64_t workspace = 0, unshared = 0, constants = 0, constants_room = 0;
	bool sound = true;

	for (uint32_t i = 0; i < view->tensor_count; i++) {
		const struct sk_plan_tensor *tensor = &view->tensors[i];

		sound &= check_tensor(check, tensor) && check_range(check, tensor) &&
			 check_role(check, tensor, &uses[i]);
		if (tensor->space == SK_SPACE_WORKSPACE)
			sk_raise(&workspace, sk_align_plan(tensor->offset + sk_plan_type(tensor)->bytes +
							   sk_plan_type(tensor)->padding));
		if (tensor->role == SK_ROLE_TEMPORARY)
			sk_raise(&unshared, sk_align_plan(tensor->unshared_offset + sk_plan_type(tensor)->bytes +
							  sk_plan_type(tensor)->padding));
		if (tensor->space == SK_SPACE_CONSTANT) {
			sound &= sk_same_number(check, sk_plan_string(&tensor->name), "its offset", tensor->offset,
						sk_align_plan(constants));
			constants = tensor->offset + sk_plan_type(tensor)->bytes;
			sk_raise(&constants_room, constants + sk_plan_type(tensor)->padding);
		}
	}
	return sound && sk_same_number(check, "header", "the workspace", view->plan->workspace_size, workspace) &&
	       sk_same_number(check, "header", "the unshared workspace", view->plan->unshared_workspace_size,
			      unshared) &&
	       sk_same_number(check, "header", "the size of constants", view->plan->constants_size, constants_room) &&
	       check_unshared(check);
}
