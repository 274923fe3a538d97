/* See forms.h. A number is a polynomial of the dimensions in each class of sizes modulo its period: floor(n / k) is one
 * for sizes that are equal modulo k. Two of degree g that are equal at g + 1 consecutive sizes of each class are equal.
 * A polynomial that is a multiple of a number there is one everywhere, too. Where min and max have a part, or the grid
 * would have as many points, it has all sizes. */
#include "src/proof/forms.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/plan/dims.h"
#include "format/skdims.h"
#include "format/skplan.h"

enum { MOST_PERIOD = 1 << 16 };

static uint32_t count_dimensions(const struct sk_sized_uses *uses)
{
	return uses->sized->forms.dims->dimension_count;
}

static void set_period(struct sk_sized_use *use, uint64_t period)
{
	use->every |= period > MOST_PERIOD;
	use->period = use->every ? 1 : (uint32_t)period;
}

/* Add a use by another number of the same comparison. */
static void join(struct sk_sized_use *use, const struct sk_sized_use *other)
{
	use->degree = use->degree > other->degree ? use->degree : other->degree;
	use->every |= other->every;
	set_period(use, (uint64_t)use->period / sk_common_divisor(use->period, other->period) * other->period);
}

static void use_term(const struct sk_sized_uses *uses, const struct sk_normal_term *term, struct sk_sized_use *use)
{
	uint32_t count = count_dimensions(uses);

	for (uint32_t d = 0; d < count; d++) {
		struct sk_sized_use product = {.period = 1};

		for (uint32_t i = 0; i < term->count; i++) {
			struct sk_sized_use factor = uses->variables[term->factors[i] * (size_t)count + d];
			uint32_t degree = product.degree + factor.degree;

			join(&product, &factor);
			product.degree = degree;
		}
		join(&use[d], &product);
	}
}

static void use_form(const struct sk_sized_uses *uses, const struct sk_normal *form, struct sk_sized_use *use)
{
	for (uint32_t i = 0; form && i < form->count; i++)
		use_term(uses, &form->terms[i], use);
	for (uint32_t d = 0; !form && d < count_dimensions(uses); d++)
		use[d].every = true;
}

static void use_variable(const struct sk_sized_uses *uses, uint32_t number, struct sk_sized_use *use)
{
	const struct sk_normal_variable *variable = &uses->sized->forms.variables.items[number];

	if (variable->op == SK_DIMS_DIMENSION) {
		use[number].degree = 1;
		return;
	}
	use_form(uses, variable->a, use);
	if (variable->op != SK_DIMS_FLOOR)
		use_form(uses, variable->b, use);
	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		bool used = use[d].degree || use[d].every;

		use[d].every |= used && variable->op != SK_DIMS_FLOOR;
		if (used && variable->op == SK_DIMS_FLOOR)
			set_period(&use[d], variable->number > MOST_PERIOD ? variable->number
									   : use[d].period * variable->number);
	}
}

static struct sk_sized_use *make_uses(struct sk_arena *arena, size_t count)
{
	struct sk_sized_use *uses = SK_NEW_ARRAY(arena, struct sk_sized_use, count);

	for (size_t i = 0; i < count; i++)
		uses[i].period = 1;
	return uses;
}

void sk_sized_uses_build(struct sk_sized_uses *uses, struct sk_sized *sized)
{
	const struct sk_dims_view *dims = sized->forms.dims;
	size_t count = dims->dimension_count, variables = sized->forms.variables.count;

	uses->sized = sized;
	uses->variables = make_uses(sized->forms.arena, variables * count);
	for (uint32_t i = 0; i < variables; i++)
		use_variable(uses, i, &uses->variables[i * count]);
	uses->values = make_uses(sized->forms.arena, dims->value_count * count);
	for (uint32_t i = 0; i < dims->value_count; i++)
		use_form(uses, sized->forms.values[i], &uses->values[i * count]);
}

/* ---- grids ---- */

void sk_sized_grid_init(const struct sk_sized_uses *uses, struct sk_sized_grid *grid)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++)
		grid->uses[d] = (struct sk_sized_use){.period = 1};
}

void sk_sized_grid_add(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++)
		join(&grid->uses[d], &uses->values[value * (size_t)count_dimensions(uses) + d]);
}

void sk_sized_grid_add_product(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t one,
			       uint32_t other)
{
	size_t count = count_dimensions(uses);

	for (uint32_t d = 0; d < count; d++) {
		struct sk_sized_use product = uses->values[one * count + d];
		uint32_t degree = product.degree + uses->values[other * count + d].degree;

		join(&product, &uses->values[other * count + d]);
		product.degree = degree;
		join(&grid->uses[d], &product);
	}
}

void sk_sized_grid_add_divisor(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint64_t divisor)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++)
		if (grid->uses[d].degree)
			set_period(&grid->uses[d], divisor > MOST_PERIOD ? divisor : grid->uses[d].period * divisor);
}

void sk_sized_grid_take_all(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		const struct sk_sized_use *use = &uses->values[value * (size_t)count_dimensions(uses) + d];

		grid->uses[d].every |= use->degree || use->every;
	}
}

uint64_t sk_sized_grid_finish(const struct sk_sized_uses *uses, struct sk_sized_grid *grid)
{
	uint64_t points = 1;

	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		const struct sk_normal_variable *variable = &uses->sized->forms.variables.items[d];
		struct sk_sized_use *use = &grid->uses[d];
		uint64_t sizes = (uint64_t)(variable->most - variable->least) + 1;

		use->every |= SK_SIZED_DEGREES * use->degree > SK_SIZED_MOST_DEGREE;

		uint64_t wanted = use->period * (uint64_t)(SK_SIZED_DEGREES * use->degree + 1);

		if (!use->degree && !use->every)
			sizes = 1;
		grid->all[d] = use->every || wanted >= sizes;
		grid->counts[d] = grid->all[d] ? sizes : wanted;
		if (!sk_mul(points, grid->counts[d], &points))
			points = UINT64_MAX;
	}
	return points;
}

void sk_sized_grid_point(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint64_t point,
			 uint64_t *sizes)
{
	const struct sk_dims_view *dims = uses->sized->forms.dims;

	for (uint32_t d = 0; d < dims->dimension_count; d++) {
		sizes[d] = dims->dimensions[d].most - point % grid->counts[d] * dims->dimensions[d].multiple;
		point /= grid->counts[d];
	}
}

bool sk_sized_grid_suffices(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint32_t value)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		const struct sk_sized_use *use = &uses->values[value * (size_t)count_dimensions(uses) + d];

		if (!grid->all[d] && (use->every || grid->uses[d].period % use->period ||
				      use->degree > SK_SIZED_DEGREES * grid->uses[d].degree))
			return false;
	}
	return true;
}

/* Return the degree of the numbers that lie `apart` from one another, or SK_SIZED_UNLIKE if some are unknown. */
static uint32_t degree_of_line(const uint64_t *numbers, size_t apart, uint32_t count)
{
	__int128 differences[SK_SIZED_MOST_DEGREE + 1];
	uint32_t unknown = 0, degree = 0;

	for (uint32_t i = 0; i < count; i++) {
		unknown += numbers[i * apart] == UINT64_MAX;
		differences[i] = (__int128)numbers[i * apart];
	}
	if (unknown)
		return unknown == count ? 0 : SK_SIZED_UNLIKE;
	for (uint32_t order = 1; order < count; order++)
		for (uint32_t i = 0; i + order < count; i++) {
			differences[i] = differences[i + 1] - differences[i];
			degree = differences[i] ? order : degree;
		}
	return degree;
}

uint32_t sk_sized_grid_degree(const struct sk_sized_grid *grid, uint32_t dimension, const uint64_t *numbers,
			      uint64_t points)
{
	uint64_t apart = 1, count = grid->counts[dimension], period = grid->uses[dimension].period;
	uint32_t most = 0;

	for (uint32_t d = 0; d < dimension; d++)
		apart *= grid->counts[d];
	for (uint64_t point = 0; point < points; point++) {
		uint32_t degree;

		if (point / apart % count >= period)
			continue; /* of a line that has begun */
		degree = degree_of_line(&numbers[point], apart * period, (uint32_t)(count / period));
		most = degree > most ? degree : most;
	}
	return most;
}
