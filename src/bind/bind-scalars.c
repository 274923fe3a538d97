/* Scalars: an extent's value, a number or an extent from `set`, or an element of a tensor that is read when the task
 * runs. Numbers are checked against the type that the function takes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/bind/binder.h"
#include "src/model/model.h"
#include "src/model/signature.h"
#include "src/model/task.h"
#include "src/model/tensor.h"
#include "src/signature/signature-parser.h"

static bool is_float(enum sk_dtype type)
{
	return type == SK_F32 || type == SK_F64;
}

static bool is_signed(enum sk_dtype type)
{
	return type == SK_I8 || type == SK_I16 || type == SK_I32 || type == SK_I64;
}

static uint64_t float_bits(double value, enum sk_dtype type)
{
	float narrow = (float)value;
	uint32_t bits32;
	uint64_t bits64;

	if (type == SK_F32) {
		memcpy(&bits32, &narrow, sizeof(bits32));
		return bits32;
	}
	memcpy(&bits64, &value, sizeof(bits64));
	return bits64;
}

/* The bits of an integer in the given type, zero-extended. False if it does not fit. */
static bool integer_bits(uint64_t value, bool negative, enum sk_dtype type, uint64_t *bits)
{
	uint32_t width = 8 * sk_dtype_size(type);
	uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
	uint64_t largest = is_signed(type) ? mask >> 1 : mask;

	*bits = value & mask;
	if (negative)
		return is_signed(type) && -value <= largest + 1;
	return value <= largest;
}

static void report_misfit(struct sk_binder *binder, const struct sk_set *set, enum sk_dtype type)
{
	sk_binder_error(binder, set->place, "'%s' cannot be %s: it is %s", set->name, set->text, sk_dtype_name(type));
}

static void bind_integer(struct sk_binder *binder, const struct sk_set *set, enum sk_dtype type, uint64_t *bits)
{
	uint64_t value = (uint64_t)set->integer;

	if (is_float(type) && set->negative)
		*bits = float_bits(type == SK_F32 ? (float)set->integer : (double)set->integer, type);
	else if (is_float(type))
		*bits = float_bits(type == SK_F32 ? (float)value : (double)value, type);
	else if (!integer_bits(value, set->negative, type, bits))
		report_misfit(binder, set, type);
}

/* The text is converted once more for f32, since rounding twice is not the same as rounding once. */
static void bind_float(struct sk_binder *binder, const struct sk_set *set, enum sk_dtype type, uint64_t *bits)
{
	double value = set->real;

	if (type == SK_F32 && isfinite(value)) {
		float narrow = strtof(set->text, NULL);

		if (isinf(narrow) || (narrow == 0 && value != 0))
			report_misfit(binder, set, type);
		value = (double)narrow;
	}
	if (is_float(type))
		*bits = float_bits(value, type);
	else
		report_misfit(binder, set, type);
}

static void bind_extent(struct sk_binder *binder, const struct sk_parameter *parameter, uint32_t extent,
			struct sk_place place, uint64_t *bits)
{
	uint64_t value = binder->extents[extent];
	const char *name = binder->signature->extents[extent];

	if (is_float(parameter->dtype))
		sk_binder_error(binder, place, "'%s' cannot be the extent '%s': it is %s", parameter->name, name,
				sk_dtype_name(parameter->dtype));
	else if (!integer_bits(value, false, parameter->dtype, bits))
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

static void bind_tensor(struct sk_binder *binder, const struct sk_parameter *parameter, const struct sk_set *set,
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
	if (extent != SK_NONE) {
		if (set)
			sk_binder_error(binder, set->place,
					"'%s' cannot be set: it is the extent of that name, %" PRIu64, set->name,
					binder->extents[extent]);
		if (signature->spread == SK_STEP_SPLIT && extent == signature->spread_extent)
			argument->kind = SK_ARGUMENT_LENGTH;
		bind_extent(binder, parameter, extent, binder->request->place, &argument->value);
		if (argument->kind == SK_ARGUMENT_LENGTH)
			argument->value = 0;
		return true;
	}
	if (!set)
		return false;
	switch (set->kind) {
	case SK_SET_INTEGER:
		bind_integer(binder, set, parameter->dtype, &argument->value);
		break;
	case SK_SET_FLOAT:
		bind_float(binder, set, parameter->dtype, &argument->value);
		break;
	case SK_SET_EXTENT:
		bind_named_extent(binder, parameter, set, &argument->value);
		break;
	case SK_SET_TENSOR:
		bind_tensor(binder, parameter, set, argument);
		break;
	}
	return true;
}
