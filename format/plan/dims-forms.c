/* See dims-forms.h. Forms are those of base/sizes.h: sums of products, in one universe for all networks. */
#include "format/plan/dims-forms.h"

#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"

static const struct sk_size *make_form(struct sk_forms *forms, const struct sk_dims_value *value)
{
	bool pair = value->op == SK_DIMS_ADD || value->op == SK_DIMS_MULTIPLY || value->op == SK_DIMS_MIN ||
		    value->op == SK_DIMS_MAX;
	const struct sk_size *a = value->op < SK_DIMS_ADD ? NULL : forms->values[value->a];
	const struct sk_size *b = pair			       ? forms->values[value->b]
				  : value->number <= INT64_MAX ? sk_size_number(forms->sizes, (int64_t)value->number)
							       : NULL;

	switch ((enum sk_dims_op)value->op) {
	case SK_DIMS_DIMENSION:
		return sk_sizes_variable(forms->sizes, value->a);
	case SK_DIMS_ADD:
		return sk_size_add(forms->sizes, a, b);
	case SK_DIMS_SUBTRACT:
		return sk_size_subtract(forms->sizes, a, b);
	case SK_DIMS_MULTIPLY:
		return sk_size_multiply(forms->sizes, a, b);
	case SK_DIMS_FLOOR:
		return sk_size_floor(forms->sizes, a, b);
	case SK_DIMS_MIN:
		return sk_size_min(forms->sizes, a, b);
	case SK_DIMS_MAX:
		return sk_size_max(forms->sizes, a, b);
	default:
		return b;
	}
}

struct sk_forms *sk_forms_make(struct sk_arena *arena, const struct sk_dims_view *dims)
{
	struct sk_forms *forms = SK_NEW(arena, struct sk_forms);

	forms->dims = dims;
	forms->sizes = sk_sizes_create(arena);
	forms->values = SK_NEW_ARRAY(arena, const struct sk_size *, dims->value_count + (size_t)1);
	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &dims->dimensions[i];
		const char *network = sk_plan_string(&dimension->network), *name = sk_plan_string(&dimension->name);

		sk_sizes_add_dimension(forms->sizes,
				       &(struct sk_size_dimension){
					       .name = *network ? sk_arena_print(arena, "%s:%s", network, name) : name,
					       .least = dimension->least,
					       .most = dimension->most,
					       .multiple = dimension->multiple,
					       .usual = dimension->usual,
				       });
	}
	for (uint32_t i = 0; i < dims->value_count; i++)
		forms->values[i] = make_form(forms, &dims->values[i]);
	return forms;
}

const char *sk_form_text(struct sk_arena *arena, const struct sk_size *form)
{
	return form ? sk_size_text(arena, form) : NULL;
}

const char *sk_forms_text(struct sk_arena *arena, const struct sk_forms *forms, uint32_t value)
{
	char text[SK_DIMS_TEXT_SIZE];

	if (forms->values[value])
		return sk_size_text(arena, forms->values[value]);
	sk_dims_value_text(forms->dims, value, text, sizeof(text));
	return sk_arena_copy(arena, text, strlen(text));
}
