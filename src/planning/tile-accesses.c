/* See planning-parts.h. */
#include "src/planning/planning-parts.h"

#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

/* Return why two accesses to common bytes, one of them a write, do not fall to the same parts. */
static enum sk_tile_reason obstacle_of(const struct sk_argument *a, const struct sk_argument *b)
{
	if ((a->pattern && a->pattern->table_count) || (b->pattern && b->pattern->table_count))
		return SK_TILE_TABLE;
	if ((a->pattern && a->pattern->halo) || (b->pattern && b->pattern->halo))
		return SK_TILE_HALO;
	return sk_is_divided(a) && sk_is_divided(b) ? SK_TILE_OTHER_PARTS : SK_TILE_SHARED;
}

/* Return true if the access may touch bytes at some size that it does not touch at the largest ones. */
static bool moves(const struct sk_argument *argument)
{
	return SK_ARGUMENT_SIZE(argument, offset) ||
	       sk_varying_find(argument->varying, SK_DIMS_PATTERNS, offsetof(struct sk_plan_pattern, stride));
}

bool sk_extents_are_proportional(const struct sk_model *model, const struct sk_task *one, const struct sk_task *other)
{
	return sk_products_equal(model, sk_sized_extent_of(one), sk_plain_number(other->bound.extent),
				 sk_sized_extent_of(other), sk_plain_number(one->bound.extent));
}

enum sk_tile_reason sk_tile_compare(const struct sk_model *model, const struct sk_task *one,
				    const struct sk_argument *a, const struct sk_task *other,
				    const struct sk_argument *b)
{
	enum sk_access access = sk_argument_access(a), other_access = sk_argument_access(b);
	struct sk_rows rows = sk_argument_rows(a), other_rows = sk_argument_rows(b);
	bool write = (access | other_access) & SK_ACCESS_WRITE;

	if (!access || !other_access || a->tensor != b->tensor)
		return SK_TILE_NOTHING_SHARED;
	if (sk_divides_alike(model, one, a, other, b))
		return sk_extents_are_proportional(model, one, other) ? SK_TILE_JOINED : SK_TILE_SIZES;
	if (write && (moves(a) || moves(b) || sk_rows_overlap(&rows, &other_rows)))
		return obstacle_of(a, b);
	return SK_TILE_NOTHING_SHARED;
}
