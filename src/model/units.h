/* Units: the grain in which the cores divide a split task's extent. In come the model and the tasks of one launch; out
 * comes a unit (in elements of the extent) per task, or per several that are divided together.
 *
 * Elementwise tasks have at least 64 elements, so that a kernel's vector body and scalar tail fall on the same elements
 * however the work is cut; row-wise tasks have one row; where a kernel computes tiles, units are whole tiles. A kernel
 * that promises another unit (split=n:1) has it where there are more than 64 elements, but so few that it can matter:
 * 16384, such as the sums of rows. Tasks
 * that share a tensor written in the launch get a common unit in bytes, so that each core reads what it has written
 * itself: the least common multiple, taken to a fixpoint over all tensors and tasks that hang together. For an
 * elementwise and a row-wise task that is 64 / gcd(64, row length) rows. Where there is no fixpoint all of them keep
 * their minimum, and awaits do the work. So they do where a task that makes many operations would be left to one core,
 * such as a product of which somebody normalizes the one row. */
#ifndef SK_UNITS_H
#define SK_UNITS_H

#include "src/model/model.h"

/* The unit of a split task by itself, as in its own entry. */
uint64_t sk_minimum_unit(const struct sk_model *model, uint32_t task);

/* The least common multiple; false on overflow. Both are at least 1. */
bool sk_common_multiple(uint64_t a, uint64_t b, uint64_t *result);

/* Tasks that are divided together, each into as many units: in elements of an extent of which each of theirs is a
 * multiple.
 */
struct sk_unit_item {
	const uint32_t *tasks;
	uint32_t count;
	uint64_t extent;
	uint64_t least; /* the unit that fits all of them; 0: they are not split */
};

/* Units by item; 0 for those that are not split. */
uint64_t *sk_units_choose(const struct sk_model *model, const struct sk_unit_item *items, uint32_t count);

#endif
