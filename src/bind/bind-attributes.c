/* Attributes of a request: checks of the signature's conditions, and values passed to the kernel. These are numbers,
 * and addresses of lists, which become constants of the package. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

/* ---- conditions ---- */

const struct sk_attribute *sk_binder_attribute(const struct sk_binder *binder, const char *name)
{
	return sk_attribute_find(binder->request->attributes, binder->request->attribute_count, name);
}

/* Signatures can name the value of an attribute that a request does not have: the default. */
static bool is_default(const struct sk_attribute *condition)
{
	return condition->kind == SK_ATTRIBUTE_STRING && !strcmp(condition->string, SK_ATTRIBUTE_DEFAULT);
}

static void report_condition(struct sk_binder *binder, const struct sk_attribute *condition,
			     const struct sk_attribute *has)
{
	struct sk_arena *arena = binder->model->arena;

	if (sk_binder_fails(binder))
		return;
	if (has)
		sk_binder_error(binder, has->place, "attribute '%s' is %s, but the kernel wants %s", has->name,
				sk_attribute_text(arena, has), sk_attribute_text(arena, condition));
	else
		sk_binder_error(binder, binder->request->place, "no attribute '%s', which the kernel wants to be %s",
				condition->name, sk_attribute_text(arena, condition));
}

static void report_unnamed(struct sk_binder *binder, const struct sk_attribute *attribute)
{
	const struct sk_signature *signature = binder->signature;
	struct sk_arena *arena = binder->model->arena;

	if (!sk_binder_fails(binder))
		sk_binder_error(
			binder, attribute->place, "attribute '%s' is %s, but the kernel does not know it%s",
			attribute->name, sk_attribute_text(arena, attribute),
			sk_did_you_mean(arena, attribute->name, signature->attributes, signature->attribute_count));
}

static bool is_named(const struct sk_signature *signature, const char *name)
{
	for (uint32_t i = 0; i < signature->attribute_count; i++)
		if (!strcmp(signature->attributes[i], name))
			return true;
	return false;
}

void sk_binder_check_attributes(struct sk_binder *binder)
{
	const struct sk_request *request = binder->request;
	const struct sk_signature *signature = binder->signature;

	for (size_t i = 0; i < request->attribute_count; i++)
		if (!is_named(signature, request->attributes[i].name))
			report_unnamed(binder, &request->attributes[i]);
	for (uint32_t i = 0; i < signature->condition_count; i++) {
		const struct sk_attribute *condition = &signature->conditions[i];
		const struct sk_attribute *has = sk_binder_attribute(binder, condition->name);

		if (has ? !sk_attribute_same(has, condition) : !is_default(condition))
			report_condition(binder, condition, has);
	}
}

/* ---- values ---- */

static void report_kind(struct sk_binder *binder, const char *of, const struct sk_attribute *attribute,
			const char *needs)
{
	if (!sk_binder_fails(binder))
		sk_binder_error(binder, attribute->place, "attribute '%s' is %s, but '%s' %s", attribute->name,
				sk_attribute_text(binder->model->arena, attribute), of, needs);
}

bool sk_binder_bind_integer(struct sk_binder *binder, const char *of, const struct sk_value_expression *value,
			    int64_t *integer)
{
	const struct sk_attribute *attribute = sk_binder_attribute(binder, value->name);

	if (attribute && attribute->kind == SK_ATTRIBUTE_INTEGER) {
		*integer = attribute->integer;
		return true;
	}
	if (attribute)
		report_kind(binder, of, attribute, "needs a whole number");
	else
		sk_binder_error(binder, binder->request->place, "no attribute '%s' for the value of '%s'", value->name,
				of);
	return false;
}

static void bind_real(struct sk_binder *binder, const char *of, const struct sk_attribute *attribute,
		      struct sk_argument *argument)
{
	bool integer = attribute->kind == SK_ATTRIBUTE_INTEGER;
	struct sk_number number = {.kind = SK_NUMBER_REAL,
				   .real = integer ? (double)attribute->integer : attribute->real};
	char text[32];

	snprintf(text, sizeof(text), "%.17g", number.real);
	number.text = text;
	if (!integer && attribute->kind != SK_ATTRIBUTE_REAL)
		report_kind(binder, of, attribute, "needs a number");
	else if (!sk_number_bits(&number, argument->dtype, &argument->value))
		report_kind(binder, of, attribute, "has a type without such a number");
}

/* The list becomes a constant only if the request is a task's. */
static void bind_list(struct sk_binder *binder, const char *of, const struct sk_attribute *attribute,
		      struct sk_argument *argument)
{
	if (attribute->kind != SK_ATTRIBUTE_INTEGERS && attribute->kind != SK_ATTRIBUTE_REALS) {
		report_kind(binder, of, attribute, "needs a list of numbers");
		return;
	}
	if (!attribute->count)
		return; /* null */
	argument->kind = SK_ARGUMENT_POINTER;
	argument->dtype = attribute->kind == SK_ATTRIBUTE_INTEGERS ? SK_I64 : SK_F32;
	argument->access = SK_ACCESS_READ;
	argument->list = attribute;
}

void sk_binder_bind_attribute(struct sk_binder *binder, const struct sk_parameter *parameter,
			      struct sk_argument *argument)
{
	const struct sk_value_expression *value = parameter->value;
	const struct sk_attribute *attribute = sk_binder_attribute(binder, value->name);

	argument->kind = SK_ARGUMENT_VALUE;
	if (!attribute && value->left)
		argument->value = value->left->number; /* bits of a float, or of null */
	else if (!attribute)
		sk_binder_error(binder, binder->request->place, "no attribute '%s' for the value of '%s'", value->name,
				parameter->name);
	else if (parameter->pointer)
		bind_list(binder, parameter->name, attribute, argument);
	else
		bind_real(binder, parameter->name, attribute, argument);
}

/* ---- lists as constants ---- */

/* Return the bytes of the list as kernels read them. */
static void *list_bytes(struct sk_arena *arena, const struct sk_attribute *list)
{
	float *reals;

	if (list->kind == SK_ATTRIBUTE_INTEGERS) {
		int64_t *integers = SK_NEW_ARRAY(arena, int64_t, list->count);

		memcpy(integers, list->integers, list->count * sizeof(*integers));
		return integers;
	}
	reals = SK_NEW_ARRAY(arena, float, list->count);
	for (size_t i = 0; i < list->count; i++)
		reals[i] = (float)list->reals[i];
	return reals;
}

/* Return a name such as "i64[0, 1]", with quotes appended until no other tensor has it. */
static const char *list_name(const struct sk_model *model, enum sk_dtype dtype, const struct sk_attribute *list)
{
	const char *name = sk_arena_join(model->arena, sk_dtype_name(dtype), sk_attribute_text(model->arena, list));

	while (sk_map_find(&model->tensor_names, name, strlen(name)) != SK_NONE)
		name = sk_arena_join(model->arena, name, "'");
	return name;
}

/* Return the tensor of a list. Equal lists are one tensor. */
static uint32_t list_tensor(struct sk_model *model, struct sk_map *lists, const struct sk_attribute *list,
			    enum sk_dtype dtype)
{
	void *bytes = list_bytes(model->arena, list);
	uint64_t size = list->count * sk_dtype_size(dtype);
	char *key = SK_NEW_ARRAY(model->arena, char, size + 1);
	uint32_t new = (uint32_t)model->tensors.count, known;
	struct sk_tensor tensor = {.place = list->place,
				   .dtype = dtype,
				   .rank = 1,
				   .shape = {list->count},
				   .elements = list->count,
				   .bytes = size,
				   .role = SK_ROLE_CONSTANT,
				   .view_of = SK_NONE,
				   .contents = bytes,
				   .binding = SK_NONE};

	key[0] = (char)dtype;
	memcpy(key + 1, bytes, size);
	known = sk_map_insert(lists, key, size + 1, new);
	if (known != new)
		return known;
	tensor.name = list_name(model, dtype, list);
	sk_map_insert(&model->tensor_names, tensor.name, strlen(tensor.name), new);
	sk_array_push(model->arena, &model->tensors, tensor);
	return new;
}

void sk_bind_lists(struct sk_model *model, struct sk_map *lists, struct sk_argument *arguments, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct sk_argument *argument = &arguments[i];

		if (!argument->list)
			continue;
		argument->tensor = list_tensor(model, lists, argument->list, argument->dtype);
		argument->size = model->tensors.items[argument->tensor].bytes;
	}
}
