/* See op-index.h. Forms and classes are found by keys of numbers, whose bytes the maps take as strings. */
#include "src/bind/op-index.h"

#include <string.h>

#include "src/bind/binder.h"
#include "src/model/tensor.h"

enum {
	FORM_WORDS = 1 + 2 * (SK_MAX_PARAMETERS + 1),
	CLASS_NUMBERS = 1 + SK_MAX_PARAMETERS * SK_MAX_RANK,
};

void sk_op_index_init(struct sk_op_index *index, const struct sk_model *model)
{
	*index = (struct sk_op_index){.model = model};
	sk_map_init(&index->names, model->arena);
	sk_map_init(&index->form_numbers, model->arena);
	sk_map_init(&index->class_numbers, model->arena);
}

static bool is_fixed(const struct sk_parameter *parameter, uint32_t dimension)
{
	return !parameter->extents[dimension].name_count;
}

static uint32_t name_number(struct sk_op_index *index, const char *name)
{
	return sk_map_insert(&index->names, name, strlen(name), (uint32_t)index->names.count);
}

/* The value of the key, which is `fresh` if it is new. */
static uint32_t number_of(struct sk_op_index *index, struct sk_map *map, const void *key, size_t bytes, uint32_t fresh)
{
	uint32_t number = sk_map_find(map, key, bytes);

	if (number != SK_NONE)
		return number;
	return sk_map_insert(map, sk_arena_copy(index->model->arena, key, bytes), bytes, fresh);
}

/* ---- kernels ---- */

uint32_t sk_op_index_form(struct sk_op_index *index, uint32_t op, const struct sk_signature *signature, uint32_t *last)
{
	uint32_t words[FORM_WORDS], count = 0, fresh = (uint32_t)index->forms.count;

	words[count++] = op;
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];
		uint32_t fixed = 0;

		if (parameter->kind != SK_PARAMETER_TENSOR)
			continue;
		for (uint32_t d = 0; d < parameter->rank; d++)
			fixed |= (uint32_t)is_fixed(parameter, d) << d;
		words[count++] = name_number(index, parameter->name);
		words[count++] = parameter->dtype | parameter->rank << 8 | fixed << 16;
	}
	if (signature->result) {
		words[count++] = name_number(index, signature->result);
		words[count++] = signature->result_dtype; /* of no dimensions, as no parameter is */
	}

	uint32_t form = number_of(index, &index->form_numbers, words, count * sizeof(*words), fresh);

	if (form == fresh) {
		sk_array_push(index->model->arena, &index->forms,
			      (struct sk_op_form){.signature = signature, .next = SK_NONE});
		if (*last != SK_NONE)
			index->forms.items[*last].next = form;
		*last = form;
	}
	return form;
}

uint32_t sk_op_index_class(struct sk_op_index *index, uint32_t form, const struct sk_signature *signature)
{
	uint64_t numbers[CLASS_NUMBERS];
	uint32_t count = 0;

	numbers[count++] = form;
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		for (uint32_t d = 0; parameter->kind == SK_PARAMETER_TENSOR && d < parameter->rank; d++)
			if (is_fixed(parameter, d))
				numbers[count++] = parameter->extents[d].constant;
	}

	uint32_t class = number_of(index, &index->class_numbers, numbers, count * sizeof(*numbers), index->class_count);

	index->class_count += class == index->class_count;
	return class;
}

/* ---- requests ---- */

/* The tensor for a parameter, which is the one of that number that takes one; NULL: there is none. */
static const struct sk_tensor *tensor_for(const struct sk_request *request, uint32_t number, const char *name)
{
	if (!request->parameters)
		return number < request->arguments.count ? request->arguments.items[number].tensor : NULL;
	for (size_t i = 0; i < request->arguments.count; i++)
		if (!strcmp(request->parameters[i].text, name))
			return request->arguments.items[i].tensor;
	return NULL;
}

uint32_t sk_op_index_find(const struct sk_op_index *index, uint32_t form, const struct sk_request *request)
{
	const struct sk_signature *signature = index->forms.items[form].signature;
	uint64_t numbers[CLASS_NUMBERS];
	uint32_t count = 0, taken = 0;

	numbers[count++] = form;
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		if (parameter->kind != SK_PARAMETER_TENSOR)
			continue;

		const struct sk_tensor *tensor = tensor_for(request, taken++, parameter->name);

		if (!tensor || tensor->dtype != parameter->dtype ||
		    (parameter->rank > 1 && tensor->rank < parameter->rank))
			return SK_NONE;
		for (uint32_t d = 0; d < parameter->rank; d++)
			if (is_fixed(parameter, d))
				numbers[count++] = sk_folded_dimension(tensor, parameter, d);
	}
	if (signature->result) {
		const struct sk_tensor *tensor = tensor_for(request, taken, signature->result);

		if (!tensor || tensor->dtype != signature->result_dtype)
			return SK_NONE;
	}
	return sk_map_find(&index->class_numbers, (const char *)numbers, count * sizeof(*numbers));
}
