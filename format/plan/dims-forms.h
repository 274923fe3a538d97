/* The values of a .sk.dims as forms (base/sizes.h) and their texts, for programs with an arena. */
#ifndef SK_FORMAT_PLAN_DIMS_FORMS_H
#define SK_FORMAT_PLAN_DIMS_FORMS_H

#include <stdint.h>

struct sk_arena;
struct sk_dims_view;
struct sk_size;
struct sk_sizes;

struct sk_forms {
	const struct sk_dims_view *dims;
	struct sk_sizes *sizes;
	const struct sk_size **values; /* by value; NULL: too long */
};

struct sk_forms *sk_forms_make(struct sk_arena *arena, const struct sk_dims_view *dims);

/* Return the text of a value, "512*batch*seq", or of a form; of NULL, a form that is too long, it is NULL. In a package
 * of several networks names of dimensions are those of --dim, "network:name", in quotation marks. */
const char *sk_forms_text(struct sk_arena *arena, const struct sk_forms *forms, uint32_t value);
const char *sk_form_text(struct sk_arena *arena, const struct sk_size *form);

#endif
