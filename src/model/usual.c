/* See model.h. */
#include "src/model/model.h"

#include <stddef.h>

#include "base/ranges.h"
#include "base/sizes.h"
#include "format/skdims.h"
#include "format/skplan.h"

uint64_t sk_usual_number(const struct sk_model *model, const struct sk_size *size, uint64_t number)
{
	uint64_t usual[SK_MAX_DIMENSIONS];

	if (!size || sk_sizes_count(model->sizes) > SK_MAX_DIMENSIONS)
		return number;
	for (size_t d = 0; d < sk_sizes_count(model->sizes); d++)
		usual[d] = sk_sizes_dimension(model->sizes, d)->usual;
	return (uint64_t)sk_size_at(size, usual);
}

const struct sk_size *sk_number_size(const struct sk_model *model, const struct sk_size *size, uint64_t number)
{
	return size || !model->sizes ? size : sk_size_number(model->sizes, (int64_t)number);
}

uint64_t sk_usual_extent(const struct sk_model *model, const struct sk_task *task)
{
	return sk_usual_number(model, sk_task_extent_size(task), task->bound.extent);
}

uint64_t sk_usual_element_bytes(const struct sk_model *model, const struct sk_argument *argument)
{
	return sk_usual_number(model, SK_ARGUMENT_SIZE(argument, element_bytes), argument->element_bytes);
}

bool sk_products_equal(const struct sk_model *model, struct sk_sized_number a, struct sk_sized_number b,
		       struct sk_sized_number c, struct sk_sized_number d)
{
	uint64_t one, other;
	const struct sk_size *size;

	if (!sk_mul(a.number, b.number, &one) || !sk_mul(c.number, d.number, &other) || one != other)
		return false;
	if (!a.size && !b.size && !c.size && !d.size)
		return true;
	size = sk_size_multiply(model->sizes, sk_number_size(model, a.size, a.number),
				sk_number_size(model, b.size, b.number));
	return size && size == sk_size_multiply(model->sizes, sk_number_size(model, c.size, c.number),
						sk_number_size(model, d.size, d.number));
}
