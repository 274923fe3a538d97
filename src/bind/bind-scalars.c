/* Scalars: a value in the signature (bind-expressions.c), an extent, a number or an extent from `set`, or an element of
 * a tensor that is read when the task runs. Numbers are checked against the type of the parameter. */
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/map.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

static void report_misfit(struct sk_binder *binder, const struct sk_set *set, enum sk_dtype type)
{
	sk_binder_error(binder, set->place, "'%s' cannot be %s: it is %s", set->name, set->text, sk_dtype_name(type));
}

static void bind_number(struct sk_binder *binder, const struct sk_set *set, enum sk_dtype type, uint64_t *bits)
{
	if (!sk_number_bits(&set->number, type, bits))
		report_misfit(binder, set, type);
}

static void bind_extent(struct sk_binder *binder, const struct sk_parameter *parameter, uint32_t extent,
			struct sk_place place, uint64_t *bits)
{
	uint64_t value = binder->extents[extent];
	const char *name = binder->signature->extents[extent];

	if (sk_dtype_is_float(parameter->dtype))
		sk_binder_error(binder, place, "'%s' cannot be the extent '%s': it is %s", parameter->name, name,
				sk_dtype_name(parameter->dtype));
	else if (!sk_integer_bits(value, false, parameter->dtype, bits))
		sk_binder_error(binder, place, "'%s' is %s, but extent '%s' is %" PRIu64, parameter->name,
				sk_dtype_name(parameter->dtype), name, value);
}

static void bind_named_extent(struct sk_binder *binder, const struct sk_parameter *parameter, const struct sk_set *set,
			      uint64_t *bits)
{
	const struct sk_signature *signature = binder->signature;
	uint32_t extent = sk_signature_find_extent(signature, set->text);

	if (extent == SK_NONE)
		sk_binder_error(
			binder, set->place, "'%s' is neither a number nor an extent of the kernel%s", set->text,
			sk_did_you_mean(binder->model->arena, set->text, signature->extents, signature->extent_count));
	else
		bind_extent(binder, parameter, extent, set->place, bits);
}

void sk_binder_bind_element(struct sk_binder *binder, const struct sk_parameter *parameter, const struct sk_set *set,
			    struct sk_argument *argument)
{
	const struct sk_model *model = binder->model;
	const struct sk_tensor *tensor = &model->tensors.items[set->tensor];

	if (tensor->elements != 1 || tensor->dtype != parameter->dtype) {
		sk_binder_error(binder, set->place, "'%s' is one %s, but tensor '%s' is %s %s", parameter->name,
				sk_dtype_name(parameter->dtype), tensor->name, sk_dtype_name(tensor->dtype),
				sk_shape_text(model->arena, tensor->rank, tensor->shape));
		return;
	}
	argument->kind = parameter->by_reference ? SK_ARGUMENT_POINTER : SK_ARGUMENT_LOAD;
	argument->by_reference = false;
	argument->access = SK_ACCESS_READ;
	argument->tensor = tensor->view_of == SK_NONE ? set->tensor : tensor->view_of;
	argument->offset = tensor->view_offset;
	argument->size = tensor->bytes;
}

/* Bind a scalar with an extent's name: the whole extent, or the length of a part. */
static void bind_length(struct sk_binder *binder, const struct sk_parameter *parameter, uint32_t extent,
			struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_value_expression size = {.kind = SK_VALUE_SIZE, .index = extent, .text = parameter->name};

	if (signature->loop_count && sk_signature_divides(signature, extent)) {
		sk_binder_bind_value(binder, parameter->name, &size, argument);
		return;
	}
	bind_extent(binder, parameter, extent, binder->request->place, &argument->value);
	if (signature->spread == SK_STEP_SPLIT && extent == signature->spread_extent) {
		argument->kind = SK_ARGUMENT_LENGTH;
		argument->value = 0;
	}
}

static const struct sk_set *find_set(const struct sk_request *request, const char *name)
{
	for (size_t i = 0; i < request->set_count; i++)
		if (!strcmp(request->set[i].name, name))
			return &request->set[i];
	return NULL;
}

bool sk_binder_bind_scalar(struct sk_binder *binder, const struct sk_parameter *parameter, struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_set *set = find_set(binder->request, parameter->name);
	uint32_t extent = sk_signature_find_extent(signature, parameter->name);

	argument->kind = SK_ARGUMENT_VALUE;
	argument->by_reference = parameter->by_reference;
	if (parameter->value) {
		if (set)
			sk_binder_error(binder, set->place, "'%s' cannot be set: the signature says that it is %s",
					set->name, parameter->value->text);
		if (parameter->value->kind == SK_VALUE_ATTRIBUTE &&
		    (parameter->pointer || sk_dtype_is_float(parameter->dtype)))
			sk_binder_bind_attribute(binder, parameter, argument);
		else
			sk_binder_bind_value(binder, parameter->name, parameter->value, argument);
		return true;
	}
	if (signature->status != SK_NONE && parameter == &signature->parameters[signature->status]) {
		if (set)
			sk_binder_error(binder, set->place, "'%s' cannot be set: it is a status, and 0 before the call",
					set->name);
		argument->is_status = true;
		return true;
	}
	if (extent != SK_NONE) {
		if (set)
			sk_binder_error(binder, set->place,
					"'%s' cannot be set: it is the extent of that name, %" PRIu64, set->name,
					binder->extents[extent]);
		bind_length(binder, parameter, extent, argument);
		return true;
	}
	if (!set)
		return false;
	switch (set->kind) {
	case SK_SET_NUMBER:
		bind_number(binder, set, parameter->dtype, &argument->value);
		break;
	case SK_SET_EXTENT:
		bind_named_extent(binder, parameter, set, &argument->value);
		break;
	case SK_SET_TENSOR:
		sk_binder_bind_element(binder, parameter, set, argument);
		break;
	}
	return true;
}
