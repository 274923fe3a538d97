/* See bind.h. Forms and classes are found by keys of numbers; the maps take their bytes as strings. */
#include "src/bind/bind-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind.h"
#include "src/model/model.h"

enum {
	FORM_WORDS = 1 + 2 * (SK_MAX_PARAMETERS + 1 + SK_MAX_ATTRIBUTES),
	CLASS_NUMBERS = 1 + SK_MAX_ATTRIBUTES + SK_MAX_PARAMETERS * SK_MAX_RANK,
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
	return !parameter->optional && !parameter->extents[dimension].name_count;
}

/* Return whether the required value of the attribute can be represented by one number. */
static bool is_exact(const struct sk_attribute *condition)
{
	return condition->kind == SK_ATTRIBUTE_INTEGER || condition->kind == SK_ATTRIBUTE_STRING;
}

static uint32_t name_number(struct sk_op_index *index, const char *name)
{
	return sk_map_insert(&index->names, name, strlen(name), (uint32_t)index->names.count);
}

/* Return the value of the key, which is `fresh` if it is new. */
static uint32_t number_of_key(struct sk_op_index *index, struct sk_map *map, const void *key, size_t bytes,
			      uint32_t fresh)
{
	uint32_t number = sk_map_find(map, key, bytes);

	if (number != SK_NONE)
		return number;
	return sk_map_insert(map, sk_arena_copy(index->model->arena, key, bytes), bytes, fresh);
}

/* ---- kernels ---- */

static void add_words(uint32_t *words, uint32_t *count, uint32_t name, uint32_t rest)
{
	words[(*count)++] = name;
	words[(*count)++] = rest;
}

static void add_parameter(struct sk_op_index *index, const struct sk_parameter *parameter, uint32_t *words,
			  uint32_t *count)
{
	uint32_t rest = parameter->dtype | parameter->rank << 8 | (uint32_t)parameter->access << 24 |
			(uint32_t)parameter->optional << 26;

	for (uint32_t d = 0; d < parameter->rank; d++)
		rest |= (uint32_t)is_fixed(parameter, d) << (16 + d);
	add_words(words, count, name_number(index, parameter->name), rest);
}

uint32_t sk_op_index_form(struct sk_op_index *index, uint32_t op, const struct sk_signature *signature, uint32_t *last)
{
	uint32_t words[FORM_WORDS], count = 0, fresh = (uint32_t)index->forms.count;

	words[count++] = op;
	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].kind == SK_PARAMETER_TENSOR)
			add_parameter(index, &signature->parameters[p], words, &count);
	if (signature->result) /* without dimensions, which no parameter has */
		add_words(words, &count, name_number(index, signature->result), signature->result_dtype);
	for (uint32_t i = 0; i < signature->condition_count; i++)
		add_words(words, &count, name_number(index, signature->conditions[i].name),
			  UINT32_C(1) << 31 | signature->conditions[i].kind);

	uint32_t form = number_of_key(index, &index->form_numbers, words, count * sizeof(*words), fresh);

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
	for (uint32_t i = 0; i < signature->condition_count; i++) {
		const struct sk_attribute *condition = &signature->conditions[i];

		if (is_exact(condition))
			numbers[count++] = condition->kind == SK_ATTRIBUTE_INTEGER
						   ? (uint64_t)condition->integer
						   : name_number(index, condition->string);
	}
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		for (uint32_t d = 0; parameter->kind == SK_PARAMETER_TENSOR && d < parameter->rank; d++)
			if (is_fixed(parameter, d))
				numbers[count++] = parameter->extents[d].constant;
	}

	uint32_t class =
		number_of_key(index, &index->class_numbers, numbers, count * sizeof(*numbers), index->class_count);

	index->class_count += class == index->class_count;
	return class;
}

/* ---- requests ---- */

/* The numbers of tensors, inputs and outputs of a request that parameters have taken. */
struct taken {
	size_t all, inputs, outputs;
};

/* Return the tensor for a parameter, or the first of several operands; NULL: there is none. */
static const struct sk_tensor *take_tensor(const struct sk_request *request, struct taken *taken, enum sk_access access,
					   const char *name, size_t operands)
{
	const size_t inputs = request->input_count, count = request->arguments.count;
	size_t number = taken->all, end = count;

	if (request->parameters) {
		for (number = 0; number < count && strcmp(request->parameters[number].text, name) != 0;)
			number++;
	} else if (request->directed) {
		number = access & SK_ACCESS_READ ? taken->inputs : inputs + taken->outputs;
		end = access & SK_ACCESS_READ ? inputs : count;
		taken->inputs += (access & SK_ACCESS_READ) != 0;
		taken->outputs += (access & SK_ACCESS_WRITE) != 0;
	}
	taken->all += operands;
	return number < end ? request->arguments.items[number].tensor : NULL;
}

/* Get the number that represents the attribute's value; return false if no kernel of the form has such a condition. */
static bool number_of_attribute(const struct sk_op_index *index, const struct sk_request *request,
				const struct sk_attribute *condition, uint64_t *number)
{
	const struct sk_attribute *has =
		sk_attribute_find(request->attributes, request->attribute_count, condition->name);
	const char *word = has ? has->string : SK_ATTRIBUTE_DEFAULT;

	if (condition->kind == SK_ATTRIBUTE_STRING) {
		if (has && has->kind != SK_ATTRIBUTE_STRING)
			return false;
		*number = sk_map_find(&index->names, word, strlen(word));
		return *number != SK_NONE;
	}
	int64_t integer;

	if (!has || !sk_attribute_integer(has, &integer))
		return false;
	*number = (uint64_t)integer;
	return true;
}

uint32_t sk_op_index_find(const struct sk_op_index *index, uint32_t form, const struct sk_request *request)
{
	const struct sk_signature *signature = index->forms.items[form].signature;
	uint64_t numbers[CLASS_NUMBERS];
	struct taken taken = {0};
	uint32_t count = 0;

	numbers[count++] = form;
	for (uint32_t i = 0; i < signature->condition_count; i++)
		if (is_exact(&signature->conditions[i]) &&
		    !number_of_attribute(index, request, &signature->conditions[i], &numbers[count++]))
			return SK_NONE;
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		if (parameter->kind != SK_PARAMETER_TENSOR)
			continue;

		bool open = parameter->first_operand == p && parameter->owner == signature->open_table;
		const struct sk_tensor *tensor = take_tensor(request, &taken, parameter->access, parameter->name,
							     open ? sk_request_operands(request, signature) : 1);

		if (!tensor && parameter->optional)
			continue;
		if (!tensor || tensor->dtype != parameter->dtype ||
		    (parameter->rank > 1 && tensor->rank < parameter->rank))
			return SK_NONE;
		for (uint32_t d = 0; d < parameter->rank; d++)
			if (is_fixed(parameter, d))
				numbers[count++] = sk_folded_dimension(tensor, parameter, d);
	}
	if (signature->result) {
		const struct sk_tensor *tensor = take_tensor(request, &taken, SK_ACCESS_WRITE, signature->result, 1);

		if (!tensor || tensor->dtype != signature->result_dtype)
			return SK_NONE;
	}
	return sk_map_find(&index->class_numbers, (const char *)numbers, count * sizeof(*numbers));
}
