/* The sizes of an instance of a dynamic package; see flight.h. In: a size of each dimension. Out: the values of the
 * package's sizes, the slots after the bindings, which dispatchers read, and the ranges of the cores. */
#include "config.h"

#include "loader/flight/flight.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "loader/skrt.h"

/* ---- values ---- */

static void evaluate_sizes(struct skrt_instance *instance)
{
	const struct sk_plan_view *plan = &instance->module->plan;
	const struct sk_dims_view *dims = &instance->module->dims;
	struct sk_chosen *sizes = instance->sizes;

	sk_dims_evaluate(dims, sizes->sizes, sizes->values);
	for (uint32_t i = 0; i < dims->slot_count; i++)
		instance->bindings[plan->binding_count + i] = (void *)(uintptr_t)sizes->values[dims->slots[i].value];
	sizes->number++;
}

bool sk_chosen_open(struct skrt_instance *instance)
{
	const struct skrt_module *module = instance->module;
	const struct sk_dims_view *dims = &module->dims;
	struct sk_chosen *sizes;

	if (!dims->dims)
		return true;
	sizes = instance->sizes = calloc(1, sizeof(*sizes));
	if (!sizes)
		return false;
	sizes->values = calloc(dims->value_count + (size_t)1, sizeof(*sizes->values));
	sizes->ranges = calloc(module->plan.launch_count + (size_t)1, sizeof(*sizes->ranges));
	sizes->bound = calloc(module->plan.binding_count + (size_t)1, sizeof(*sizes->bound));
	if (!sizes->values || !sizes->ranges || !sizes->bound)
		return false;
	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		sizes->sizes[i] = dims->dimensions[i].usual;
		sizes->setters[i] = SK_NO_INDEX;
	}
	evaluate_sizes(instance);
	return true;
}

void sk_chosen_close(struct skrt_instance *instance)
{
	struct sk_chosen *sizes = instance->sizes;

	if (!sizes)
		return;
	for (uint32_t i = 0; sizes->ranges && i < instance->module->plan.launch_count; i++)
		free(sizes->ranges[i].items);
	sk_plan_close(&sizes->plan);
	free(sizes->ranges);
	free(sizes->values);
	free(sizes->bound);
	free(sizes);
	instance->sizes = NULL;
}

bool sk_chosen_set(struct skrt_instance *instance, const uint64_t *sizes)
{
	size_t bytes = instance->module->dims.dimension_count * sizeof(*sizes);

	if (!memcmp(instance->sizes->sizes, sizes, bytes))
		return false;
	memcpy(instance->sizes->sizes, sizes, bytes);
	evaluate_sizes(instance);
	return true;
}

bool sk_chosen_make_plan(struct skrt_instance *instance)
{
	const struct sk_plan_view *plan = &instance->module->plan;
	struct sk_chosen *sizes = instance->sizes;
	struct sk_plan_view concrete;

	if (!sk_dims_concretise(&instance->module->dims, plan, sizes->sizes, &concrete))
		return false;
	/* References to code, and to forms, are those of the package. */
	concrete.launches = plan->launches;
	concrete.kernels = plan->kernels;
	concrete.symbols = plan->symbols;
	sk_plan_close(&sizes->plan);
	sizes->plan = concrete;
	instance->plan = &sizes->plan;
	return true;
}

/* ---- numbers of the plan ---- */

uint64_t sk_sized(const struct skrt_instance *instance, enum sk_dims_table table, uint32_t record, size_t offset,
		  uint64_t number)
{
	uint32_t value = SK_NO_INDEX;

	if (instance->sizes)
		value = sk_dims_value_of(&instance->module->dims, table, record, offset);
	return value == SK_NO_INDEX ? number : instance->sizes->values[value];
}

#define SIZED(instance, table, records, record, field)                                                                 \
	sk_sized((instance), (table), (uint32_t)((record) - (instance)->module->plan.records),                         \
		 offsetof(__typeof__(*(record)), field), (record)->field)

uint64_t sk_sized_argument(const struct skrt_instance *instance, const struct sk_plan_call *call,
			   const struct sk_plan_argument *argument, size_t offset, uint64_t number)
{
	const struct skrt_module *module = instance->module;
	const struct sk_dims_view *dims = &module->dims;
	uint32_t value;

	if (!instance->sizes)
		return number;
	value = sk_dims_argument_value(dims, &module->plan, call,
				       (uint32_t)(argument - sk_plan_arguments(&module->plan, call)), offset);
	/* The offset of an operand is that in its tensor, after the tensor's. */
	return value == SK_NO_INDEX ? number : number - dims->most[value] + instance->sizes->values[value];
}

uint64_t sk_sized_extent(const struct skrt_instance *instance, const struct sk_plan_step *step)
{
	return SIZED(instance, SK_DIMS_STEPS, steps, step, extent);
}

uint32_t sk_sized_extent_value(const struct skrt_module *module, const struct sk_plan_type *type, uint32_t extent)
{
	return sk_dims_value_of(&module->dims, SK_DIMS_TYPES, (uint32_t)(type - module->plan.types),
				offsetof(struct sk_plan_type, shape) + extent * sizeof(*type->shape));
}

struct sk_plan_partition sk_sized_partition(const struct skrt_instance *instance, uint32_t index)
{
	const struct sk_plan_partition *partition = &instance->module->plan.partitions[index];
	struct sk_plan_partition sized = *partition;

	sized.extent = SIZED(instance, SK_DIMS_PARTITIONS, partitions, partition, extent);
	sized.unit = SIZED(instance, SK_DIMS_PARTITIONS, partitions, partition, unit);
	sized.rows = SIZED(instance, SK_DIMS_PARTITIONS, partitions, partition, rows);
	return sized;
}

enum skrt_status sk_instance_tensor(const struct skrt_instance *instance, uint32_t index, struct skrt_tensor *tensor)
{
	const struct sk_plan_view *plan = &instance->module->plan;
	enum skrt_status status = sk_module_tensor(instance->module, index, tensor);

	if (status || !instance->sizes)
		return status;
	const struct sk_plan_type *type = sk_plan_type(&plan->tensors[plan->bindings[index]]);
	uint32_t record = (uint32_t)(type - plan->types);

	tensor->bytes = SIZED(instance, SK_DIMS_TYPES, types, type, bytes);
	for (uint32_t i = 0; i < type->rank; i++)
		tensor->shape[i] =
			sk_sized(instance, SK_DIMS_TYPES, record,
				 offsetof(struct sk_plan_type, shape) + i * sizeof(*type->shape), type->shape[i]);
	return SKRT_OK;
}

/* ---- ranges ---- */

static void fill_ranges(const struct skrt_instance *instance, const struct skrt_kernel *kernel,
			struct sk_core_range *ranges)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	uint32_t first = plan->launches[kernel->launch].first_partition, row = 0;

	for (uint32_t i = 0; i < kernel->partition_count; i++) {
		struct sk_plan_partition partition = sk_sized_partition(instance, first + i);

		row = 0;
		for (uint32_t lane = 0; lane < plan->lane_count; lane++)
			for (uint32_t core = 0; core < kernel->cores[lane]; core++)
				ranges[row++ * kernel->partition_count + i] =
					sk_core_range_of(&partition, core, kernel->cores[lane]);
	}
}

const struct sk_core_range *sk_sized_ranges(const struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	struct sk_sized_ranges *own;
	uint64_t rows = sk_core_row(kernel->cores, kernel->module->plan.lane_count, 0);

	if (!instance->sizes)
		return kernel->ranges;
	own = &instance->sizes->ranges[kernel->launch];
	if (!own->items)
		own->items = calloc(rows * kernel->partition_count + 1, sizeof(*own->items));
	if (own->items && own->number != instance->sizes->number) {
		fill_ranges(instance, kernel, own->items);
		own->number = instance->sizes->number;
	}
	return own->items;
}
