/* The dimensions of dynamic packages: their description, the sizes that an instance has for them, and the sizes that
 * the shape of a bound array says. */
#include "config.h"

#include "loader/device/device.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- of a module ---- */

uint32_t skrt_module_dimension_count(const struct skrt_module *module)
{
	return module->dims.dimension_count;
}

static enum skrt_status refuse_index(const struct skrt_module *module, uint32_t index)
{
	return sk_fail(SKRT_INVALID_ARGUMENT, "%s: no dimension number %" PRIu32 " (there are %" PRIu32 ")",
		       module->path, index, module->dims.dimension_count);
}

enum skrt_status skrt_module_dimension(const struct skrt_module *module, uint32_t index,
				       struct skrt_dimension *dimension)
{
	if (!module || !dimension)
		return sk_fail_null(__func__);
	if (index >= module->dims.dimension_count)
		return refuse_index(module, index);
	const struct sk_dims_dimension *record = &module->dims.dimensions[index];
	const struct skrt_dimension own = {
		.size = sizeof(own),
		.name = sk_plan_string(&record->name),
		.network = sk_plan_string(&record->network),
		.least = record->least,
		.most = record->most,
		.multiple = record->multiple,
		.usual = record->usual,
	};
	return sk_struct_write("skrt_dimension", &own, sizeof(own), dimension);
}

/* ---- of an instance ---- */

static enum skrt_status refuse_size(const struct skrt_module *module, uint32_t dimension, uint64_t size)
{
	char text[SK_ERROR_SIZE - 128];

	sk_dims_refusal_text(&module->dims.dimensions[dimension], size, module->path, text, sizeof(text));
	return sk_fail(SKRT_INVALID_ARGUMENT, "%s", text);
}

static enum skrt_status refuse_name(const struct skrt_instance *instance, const char *name)
{
	const struct skrt_module *module = instance->module;
	char names[256];

	sk_dims_names_text(&module->dims, instance->network.name, names, sizeof(names));
	return sk_fail(SKRT_NOT_FOUND, "%s: no dimension '%s'%s%s", module->path, name, *names ? "; it has " : "",
		       names);
}

static void resize_instance(struct skrt_instance *instance, const uint64_t *sizes)
{
	if (!sk_chosen_set(instance, sizes))
		return;
	instance->bound = ++instance->module->device->bound;
	instance->checked = false;
	sk_once_forget(instance);
}

enum skrt_status skrt_instance_set_dimension(struct skrt_instance *instance, const char *name, uint64_t size)
{
	uint64_t sizes[SK_MAX_DIMENSIONS];

	if (!instance || !name)
		return sk_fail_null(__func__);
	struct skrt_module *module = instance->module;
	const struct sk_dims_view *dims = &module->dims;
	uint32_t index = sk_dims_find(dims, instance->network.name, name);
	if (index == SK_NO_INDEX)
		return refuse_name(instance, name);
	if (!sk_dims_takes(&dims->dimensions[index], size))
		return refuse_size(module, index, size);
	enum skrt_status status = sk_device_lock(module->device);
	if (status)
		return status;
	status = sk_instance_check_idle(instance);
	if (!status) {
		memcpy(sizes, instance->sizes->sizes, dims->dimension_count * sizeof(*sizes));
		sizes[index] = size;
		instance->sizes->setters[index] = SK_NO_INDEX;
		resize_instance(instance, sizes);
	}
	sk_device_unlock(module->device);
	return status;
}

static enum skrt_status describe_extent(const struct skrt_instance *instance, uint32_t index,
					struct skrt_extent *extent)
{
	const struct skrt_module *module = instance->module;

	if (index >= module->dims.dimension_count)
		return refuse_index(module, index);
	const struct sk_dims_dimension *record = &module->dims.dimensions[index];
	if (strcmp(sk_plan_string(&record->network), instance->network.name))
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: dimension '%s' is of network '%s', not of '%s'",
			       module->path, sk_plan_string(&record->name), sk_plan_string(&record->network),
			       instance->network.name);
	uint32_t setter = instance->sizes->setters[index];
	bool shown = setter != SK_NO_INDEX;
	*extent = (struct skrt_extent){
		.size = sizeof(*extent),
		.present = instance->sizes->sizes[index],
		.is_shown = shown,
		.tensor = shown ? setter : 0,
	};
	return SKRT_OK;
}

enum skrt_status skrt_instance_dimension(const struct skrt_instance *instance, uint32_t index,
					 struct skrt_extent *extent)
{
	struct skrt_extent own;

	if (!instance || !extent)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(instance->module->device);
	if (status)
		return status;
	status = describe_extent(instance, index, &own);
	sk_device_unlock(instance->module->device);
	return status ? status : sk_struct_write("skrt_extent", &own, sizeof(own), extent);
}

enum skrt_status skrt_instance_tensor(const struct skrt_instance *instance, uint32_t index, struct skrt_tensor *tensor)
{
	struct skrt_tensor own;

	if (!instance || !tensor)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(instance->module->device);
	if (status)
		return status;
	status = sk_instance_tensor(instance, index, &own);
	sk_device_unlock(instance->module->device);
	return status ? status : sk_struct_write("skrt_tensor", &own, sizeof(own), tensor);
}

/* ---- the sizes of an array ---- */

/* The search for the sizes that a shape says. */
struct fit {
	const struct skrt_module *module;
	const struct sk_plan_type *type;
	const uint64_t *shape;
	uint64_t sizes[SK_MAX_DIMENSIONS];
	bool given[SK_MAX_DIMENSIONS]; /* by the shape */
	uint64_t *values;
	uint32_t refused; /* a dimension that does not take its size; SK_NO_INDEX: none */
};

/* Return the value at the sizes, with another one of a dimension. */
static uint64_t value_at(struct fit *fit, uint32_t value, uint32_t dimension, uint64_t size)
{
	uint64_t before = fit->sizes[dimension];

	fit->sizes[dimension] = size;
	sk_dims_evaluate(&fit->module->dims, fit->sizes, fit->values);
	fit->sizes[dimension] = before;
	return fit->values[value];
}

/* Find the dimensions that the value depends on, and that the shape has not given. Return their number. */
static uint32_t count_unknown(struct fit *fit, uint32_t value, uint32_t *last)
{
	const struct sk_dims_view *dims = &fit->module->dims;
	uint32_t count = 0;

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		if (fit->given[i] || !sk_dims_depends(dims, value, i))
			continue;
		*last = i;
		count++;
	}
	return count;
}

/* Set the dimension to the size with which the value is the extent; false: there is none. With several such sizes the
 * shape does not show the dimension, which stays as it is, and the extent is compared at the launch. Values do not
 * decrease. */
static bool solve(struct fit *fit, uint32_t value, uint32_t dimension, uint64_t extent)
{
	const struct sk_dims_dimension *record = &fit->module->dims.dimensions[dimension];
	uint64_t low = record->least / record->multiple, high = record->most / record->multiple;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (value_at(fit, value, dimension, middle * record->multiple) < extent)
			low = middle + 1;
		else
			high = middle;
	}
	if (value_at(fit, value, dimension, low * record->multiple) != extent)
		return false;
	if (low < record->most / record->multiple &&
	    value_at(fit, value, dimension, (low + 1) * record->multiple) == extent)
		return true;
	fit->sizes[dimension] = low * record->multiple;
	fit->given[dimension] = true;
	return true;
}

/* Take an extent that is a dimension. */
static bool take_dimension(struct fit *fit, uint32_t dimension, uint64_t extent)
{
	if (fit->given[dimension] && fit->sizes[dimension] != extent)
		return false;
	fit->sizes[dimension] = extent;
	fit->given[dimension] = true;
	if (!sk_dims_takes(&fit->module->dims.dimensions[dimension], extent))
		fit->refused = dimension;
	return true;
}

/* Take an extent that is another expression. One with several unknown dimensions is compared at the launch. */
static bool take_expression(struct fit *fit, uint32_t value, uint64_t extent)
{
	uint32_t unknown = 0, count = count_unknown(fit, value, &unknown);

	if (extent > fit->module->dims.most[value])
		return false;
	if (count == 1)
		return solve(fit, value, unknown, extent);
	return count > 1 || value_at(fit, value, 0, fit->sizes[0]) == extent;
}

/* Find the sizes that the shape says; false: it does not fit. */
static bool fit_shape(struct fit *fit)
{
	const struct sk_dims_view *dims = &fit->module->dims;
	bool fits = true;

	for (uint32_t i = 0; i < fit->type->rank && fits; i++) {
		uint32_t value = sk_sized_extent_value(fit->module, fit->type, i);

		if (value == SK_NO_INDEX)
			fits = fit->shape[i] == fit->type->shape[i];
		else if (dims->values[value].op == SK_DIMS_DIMENSION)
			fits = take_dimension(fit, dims->values[value].a, fit->shape[i]);
	}
	for (uint32_t i = 0; i < fit->type->rank && fits && fit->refused == SK_NO_INDEX; i++) {
		uint32_t value = sk_sized_extent_value(fit->module, fit->type, i);

		if (value != SK_NO_INDEX && dims->values[value].op != SK_DIMS_DIMENSION)
			fits = take_expression(fit, value, fit->shape[i]);
	}
	return fits;
}

/* Write "[seq, 64]"; extents for which there is no room are "…". */
static void print_sizes(const struct skrt_module *module, const struct sk_plan_type *type, char *text, size_t size)
{
	char extent[96];
	size_t used = (size_t)snprintf(text, size, "[");

	for (uint32_t i = 0; i < type->rank; i++) {
		uint32_t value = sk_sized_extent_value(module, type, i);

		snprintf(extent, sizeof(extent), "%" PRIu64, type->shape[i]);
		if (value != SK_NO_INDEX)
			sk_dims_value_text(&module->dims, value, extent, sizeof(extent));
		if (used + strlen(extent) + sizeof(", , …]") > size) {
			used += (size_t)snprintf(text + used, size - used, "%s…", i ? ", " : "");
			break;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", extent);
	}
	snprintf(text + used, size - used, "]");
}

enum skrt_status sk_instance_fit(struct skrt_instance *instance, uint32_t binding, const uint64_t *shape)
{
	struct skrt_module *module = instance->module;
	const struct sk_plan_tensor *tensor = &module->plan.tensors[module->plan.bindings[binding]];
	struct fit fit = {.module = module, .type = sk_plan_type(tensor), .shape = shape, .refused = SK_NO_INDEX};
	char wanted[256], found[128];
	bool fits;

	fit.values = calloc(module->dims.value_count + (size_t)1, sizeof(*fit.values));
	if (!fit.values)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory", module->path);
	memcpy(fit.sizes, instance->sizes->sizes, sizeof(fit.sizes));
	fits = fit_shape(&fit);
	free(fit.values);
	if (fit.refused != SK_NO_INDEX)
		return refuse_size(module, fit.refused, fit.sizes[fit.refused]);
	if (!fits) {
		print_sizes(module, fit.type, wanted, sizeof(wanted));
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has the shape %s, bound is %s", module->path,
			       sk_plan_string(&tensor->name), wanted,
			       sk_print_shape(fit.type->rank, shape, found, sizeof(found)));
	}
	for (uint32_t i = 0; i < module->dims.dimension_count; i++)
		if (fit.given[i] || instance->sizes->setters[i] == binding)
			instance->sizes->setters[i] = fit.given[i] ? binding : SK_NO_INDEX;
	resize_instance(instance, fit.sizes);
	return SKRT_OK;
}
