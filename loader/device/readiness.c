/* Preparation of an instance for a launch: the bindings of its tensors are checked once, and its workspaces are mapped
 * when a launch first needs them. */
#include "config.h"

#include "loader/device/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- workspaces ---- */

/* Set offsets and size of a workspace for tasks that need `bytes`, with scratch for every core. */
static bool lay_out_workspace(struct sk_workspace *workspace, uint64_t bytes, uint64_t scratch, uint64_t cores)
{
	uint64_t all;

	if (__builtin_add_overflow(bytes, SK_LINE - 1, &workspace->scratch) ||
	    __builtin_add_overflow(scratch, SK_LINE - 1, &workspace->scratch_stride))
		return false;
	workspace->scratch &= ~(uint64_t)(SK_LINE - 1);
	workspace->scratch_stride &= ~(uint64_t)(SK_LINE - 1);
	/* The scratch for serial entries begins directly after `bytes`; core 0 has at least as much. */
	return !__builtin_mul_overflow(workspace->scratch_stride, cores, &all) &&
	       !__builtin_add_overflow(workspace->scratch, all, &workspace->size);
}

/* Return the bytes of scratch that a core needs: the most of any of the network's launches, or of the task entries. */
static uint64_t scratch_size(const struct sk_plan_view *plan, bool unshared)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < plan->form_count; i++) {
		const struct sk_plan_form *form = &plan->forms[i];

		if ((form->kind == SK_LAUNCH_TASK) == unshared && form->scratch_size > size)
			size = form->scratch_size;
	}
	return size;
}

enum skrt_status sk_instance_make_workspace(struct skrt_instance *instance, bool unshared)
{
	const struct skrt_module *module = instance->module;
	const struct sk_plan *plan = module->plan.plan;
	struct sk_workspace workspace = {0};
	uint64_t bytes = unshared ? plan->unshared_workspace_size : plan->workspace_size;
	uint64_t cores = sk_core_row(module->cores, module->plan.lane_count, 0);

	if (!lay_out_workspace(&workspace, bytes, scratch_size(&module->plan, unshared), cores))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: a workspace of %" PRIu64 " bytes is too large", module->path,
			       bytes);
	if (workspace.size == 0)
		workspace.size = SK_LINE;
	workspace.memory = mmap(NULL, workspace.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (workspace.memory == MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a workspace of %" PRIu64 " bytes: %s",
			       module->path, workspace.size, strerror(errno));
	if (instance->fill)
		memset(workspace.memory, instance->fill, workspace.size);
	instance->workspaces[unshared] = workspace;
	if (!sk_once_open(instance, unshared))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for an instance", module->path);
	return SKRT_OK;
}

/* ---- sizes ---- */

/* Return another tensor, the shape of which has set a dimension of the value; SK_NO_INDEX: none. */
static uint32_t find_setter(const struct skrt_instance *instance, uint32_t value, uint32_t binding)
{
	const struct sk_dims_view *dims = &instance->module->dims;
	uint32_t setter = SK_NO_INDEX;

	for (uint32_t i = 0; i < dims->dimension_count; i++)
		if (instance->sizes->setters[i] != binding && instance->sizes->setters[i] != SK_NO_INDEX &&
		    sk_dims_depends(dims, value, i))
			setter = instance->sizes->setters[i];
	return setter;
}

static enum skrt_status contradict(const struct skrt_instance *instance, const struct skrt_tensor *tensor,
				   uint32_t binding, uint32_t extent)
{
	const struct skrt_module *module = instance->module;
	const struct sk_plan_view *plan = &module->plan;
	uint32_t value = sk_sized_extent_value(module, sk_plan_type(&plan->tensors[plan->bindings[binding]]), extent);
	uint32_t setter = find_setter(instance, value, binding);
	char text[96], bound[128];

	sk_dims_value_text(&module->dims, value, text, sizeof(text));
	sk_print_shape(tensor->rank, instance->sizes->bound[binding].shape, bound, sizeof(bound));
	if (setter == SK_NO_INDEX)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' is bound as %s, but %s is %" PRIu64,
			       module->path, tensor->name, bound, text, tensor->shape[extent]);
	return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' is bound as %s, but %s is %" PRIu64 " by tensor '%s'",
		       module->path, tensor->name, bound, text, tensor->shape[extent],
		       sk_plan_string(&plan->tensors[plan->bindings[setter]].name));
}

/* Check that the memory bound to the tensor, which is described at the present sizes, has its bytes and its shape. */
static enum skrt_status check_sizes(const struct skrt_instance *instance, const struct skrt_tensor *tensor,
				    uint32_t binding)
{
	const struct sk_bound *bound;

	if (!instance->sizes || !instance->bindings[binding])
		return SKRT_OK;
	bound = &instance->sizes->bound[binding];
	for (uint32_t i = 0; i < tensor->rank && bound->shaped; i++)
		if (bound->shape[i] != tensor->shape[i])
			return contradict(instance, tensor, binding, i);
	if (bound->bytes < tensor->padding || bound->bytes - tensor->padding < tensor->bytes)
		return sk_fail(SKRT_INVALID_ARGUMENT,
			       "%s: tensor '%s' has %" PRIu64 " bytes at the sizes of the instance, bound are %" PRIu64,
			       instance->module->path, tensor->name, tensor->bytes, bound->bytes);
	return SKRT_OK;
}

/* ---- bindings ---- */

struct range {
	uintptr_t start, end;
	bool written;
	uint32_t binding;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* Go through the ranges by address, and compare each with the earlier one that reaches farthest, and with the written
 * one that reaches farthest. Two that overlap, one of them written, are found at the start of the later one. */
static enum skrt_status check_overlap(const struct skrt_instance *instance, struct range *ranges, uint32_t count)
{
	const struct range *farthest = NULL, *written = NULL;
	struct skrt_tensor one, other;

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (uint32_t i = 0; i < count; i++) {
		const struct range *range = &ranges[i];
		const struct range *before = range->written ? farthest : written;

		if (before && range->start < before->end) {
			sk_module_tensor(instance->module, before->binding, &one);
			sk_module_tensor(instance->module, range->binding, &other);
			return sk_fail(
				SKRT_INVALID_ARGUMENT,
				"%s: tensors '%s' and '%s' are bound to overlapping memory, and are not both inputs",
				instance->module->path, one.name, other.name);
		}
		if (!farthest || range->end > farthest->end)
			farthest = range;
		if (range->written && (!written || range->end > written->end))
			written = range;
	}
	return SKRT_OK;
}

static enum skrt_status check_bindings(const struct skrt_instance *instance)
{
	const struct skrt_module *module = instance->module;
	const struct sk_plan_network *network = &instance->network;
	uint32_t used = 0;
	struct range *ranges = calloc(network->binding_count + (size_t)1, sizeof(*ranges));
	enum skrt_status status = SKRT_OK;

	if (!ranges)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory", module->path);
	for (uint32_t i = network->first_binding; i < network->first_binding + network->binding_count && !status; i++) {
		struct skrt_tensor tensor;
		uintptr_t start = (uintptr_t)instance->bindings[i];

		sk_instance_tensor(instance, i, &tensor);
		if (!start && (tensor.bytes || tensor.padding))
			status = sk_fail(SKRT_NOT_BOUND, "%s: tensor '%s' is not bound", module->path, tensor.name);
		else
			status = check_sizes(instance, &tensor, i);
		if (tensor.bytes)
			ranges[used++] = (struct range){start, start + tensor.bytes, tensor.role != SKRT_INPUT, i};
	}
	if (!status)
		status = check_overlap(instance, ranges, used);
	free(ranges);
	return status;
}

/* ---- the instance ---- */

enum skrt_status sk_instance_check_idle(const struct skrt_instance *instance)
{
	if (!instance->pending)
		return SKRT_OK;
	return sk_fail(SKRT_BUSY, "%s: the instance is in use; launches pending: %" PRIu32, instance->module->path,
		       instance->pending);
}

/* A launch accesses only tensors of its own network, which only an instance of that network binds. */
static bool is_of_network(const struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	return kernel->network == instance->network.name || !strcmp(kernel->network, instance->network.name);
}

enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	enum skrt_status status;

	if (!is_of_network(instance, kernel))
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: launch %s is not of the instance's network '%s'",
			       instance->module->path, kernel->name, instance->network.name);
	if (instance->serial)
		return sk_fail(SKRT_BUSY, "%s: a serial run of the instance is going on", instance->module->path);
	if (!instance->checked) {
		status = check_bindings(instance);
		if (!status && instance->module->device->checks && instance->sizes &&
		    instance->sizes->guarded != instance->sizes->number)
			status = sk_instance_make_guard(instance);
		if (status)
			return status;
		instance->checked = true;
	}
	return instance->workspaces[kernel->unshared].memory ? SKRT_OK
							     : sk_instance_make_workspace(instance, kernel->unshared);
}
