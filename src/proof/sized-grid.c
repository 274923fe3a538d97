/* See forms.h. A number is a polynomial of the dimensions in each class of sizes modulo its period: floor(n / k) is one
 * for sizes that are equal modulo k. Two of degree g that are equal at g + 1 consecutive sizes of each class are equal.
 * A polynomial that is a multiple of a number there is one everywhere, too. Where min and max have a part, or the grid
 * would have as many points, it has all sizes.
 *
 * The period of floor(n / 32) is 32, but the numbers that it is compared with are often other quotients of n: lengths
 * of one picture after some halvings. Then sizes n with equal quotients are one: the quotients are looked at as
 * functions of the number of such a step, which have a period of 1 or 2. This is seen by looking at all n. */
#include "src/proof/forms.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/plan/dims.h"
#include "format/skdims.h"
#include "format/skplan.h"

enum {
	MOST_PERIOD = 1 << 16,
	FEW_POINTS = 4, /* of a dimension: fewer are not looked for */
	MOST_STEPS = 1 << 14, /* sizes of a dimension that are looked through for steps */
	MOST_STEP_PERIOD = 64,
};

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
	uses->variable_count = (uint32_t)variables;
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
	*grid = (struct sk_sized_grid){
		.variables = SK_NEW_ARRAY(uses->sized->forms.arena, bool, uses->variable_count + (size_t)1)};
	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		grid->uses[d] = (struct sk_sized_use){.period = 1};
		grid->divisors[d] = 1;
	}
}

static void mark_variables(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value)
{
	const struct sk_normal *form = uses->sized->forms.values[value];

	grid->unknown |= !form;
	for (uint32_t i = 0; form && i < form->count; i++)
		for (uint32_t j = 0; j < form->terms[i].count; j++)
			grid->variables[form->terms[i].factors[j]] = true;
}

/* Return the use of a value whose variables become those of the grid. */
static const struct sk_sized_use *use_value(const struct sk_sized_uses *uses, struct sk_sized_grid *grid,
					    uint32_t value)
{
	mark_variables(uses, grid, value);
	return &uses->values[value * (size_t)count_dimensions(uses)];
}

void sk_sized_grid_add(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value)
{
	const struct sk_sized_use *use = use_value(uses, grid, value);

	for (uint32_t d = 0; d < count_dimensions(uses); d++)
		join(&grid->uses[d], &use[d]);
}

void sk_sized_grid_add_product(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t one,
			       uint32_t other)
{
	const struct sk_sized_use *a = use_value(uses, grid, one), *b = use_value(uses, grid, other);

	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		struct sk_sized_use product = a[d];
		uint32_t degree = product.degree + b[d].degree;

		join(&product, &b[d]);
		product.degree = degree;
		join(&grid->uses[d], &product);
	}
}

void sk_sized_grid_add_divisor(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint64_t divisor)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		uint64_t product = divisor > MOST_PERIOD ? 0 : grid->divisors[d] * divisor;

		if (!grid->uses[d].degree)
			continue;
		set_period(&grid->uses[d], divisor > MOST_PERIOD ? divisor : grid->uses[d].period * divisor);
		grid->divisors[d] = product > MOST_PERIOD ? 0 : (uint32_t)product;
	}
}

void sk_sized_grid_take_all(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value)
{
	const struct sk_sized_use *use = use_value(uses, grid, value);

	for (uint32_t d = 0; d < count_dimensions(uses); d++)
		grid->uses[d].every |= use[d].degree || use[d].every;
}

/* ---- steps ---- */

static bool depends(const struct sk_sized_uses *uses, uint32_t variable, uint32_t dimension)
{
	const struct sk_sized_use *use = &uses->variables[variable * (size_t)count_dimensions(uses) + dimension];

	return use->degree || use->every;
}

/* True if each variable of the grid that depends on the dimension depends on it alone. */
static bool is_alone(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint32_t dimension)
{
	for (uint32_t v = 0; v < uses->variable_count; v++)
		for (uint32_t d = 0; d < count_dimensions(uses); d++)
			if (grid->variables[v] && d != dimension && depends(uses, v, dimension) && depends(uses, v, d))
				return false;
	return true;
}

/* The values of the variables of some steps, by step and place of the variable. */
struct walk {
	const struct sk_sized_uses *uses;
	struct sk_sized_steps *steps;
	uint32_t *variables, count;
	int64_t *values;
};

/* Go through all sizes, and keep those with other values than at the one before. False on overflow. */
static bool walk_sizes(struct walk *walk)
{
	const struct sk_normals *forms = &walk->uses->sized->forms;
	const uint32_t d = walk->steps->dimension;
	const struct sk_normal_variable *variable = &forms->variables.items[d];
	int64_t sizes[SK_MAX_DIMENSIONS] = {0};

	for (int64_t size = variable->most; size >= variable->least; size--) {
		int64_t *values = &walk->values[walk->steps->count * walk->count];

		sizes[d] = size;
		for (uint32_t i = 0; i < walk->count; i++)
			if (!sk_normal_variable_at(forms, walk->variables[i], sizes, &values[i]))
				return false;
		if (walk->steps->count && !memcmp(values, values - walk->count, walk->count * sizeof(*values)))
			continue;
		walk->steps->sizes[walk->steps->count++] = (uint64_t)size * forms->dims->dimensions[d].multiple;
	}
	return true;
}

static bool is_linear(const struct walk *walk, uint32_t period)
{
	const size_t row = (size_t)walk->count * period;
	const int64_t *values = walk->values;

	for (size_t i = 2 * row; i < walk->steps->count * walk->count; i++)
		if (values[i] - values[i - row] != values[i - row] - values[i - 2 * row])
			return false;
	return true;
}

static struct sk_sized_steps *find_steps(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid,
					 uint32_t dimension)
{
	const struct sk_normals *forms = &uses->sized->forms;
	const size_t sizes =
		(size_t)(forms->variables.items[dimension].most - forms->variables.items[dimension].least) + 1;
	struct sk_arena *scratch = sk_arena_create();
	struct sk_sized_steps *steps = SK_NEW(forms->arena, struct sk_sized_steps);
	struct walk walk = {.uses = uses,
			    .steps = steps,
			    .variables = SK_NEW_ARRAY(scratch, uint32_t, uses->variable_count + (size_t)1)};

	*steps = (struct sk_sized_steps){.variables = grid->variables,
					 .dimension = dimension,
					 .sizes = SK_NEW_ARRAY(forms->arena, uint64_t, sizes)};
	for (uint32_t v = 0; v < uses->variable_count; v++)
		if (grid->variables[v] && depends(uses, v, dimension))
			walk.variables[walk.count++] = v;
	walk.values = SK_NEW_ARRAY(scratch, int64_t, sizes * walk.count);
	if (walk_sizes(&walk))
		for (uint32_t period = 1; period <= MOST_STEP_PERIOD && !steps->period; period++)
			steps->period = is_linear(&walk, period) ? period : 0;
	else
		steps->count = 0;
	sk_arena_destroy(scratch);
	return steps;
}

/* True if both have the same variables of the dimension. */
static bool has_variables(const struct sk_sized_uses *uses, const bool *one, const bool *other, uint32_t dimension)
{
	for (uint32_t v = 0; v < uses->variable_count; v++)
		if (one[v] != other[v] && depends(uses, v, dimension))
			return false;
	return true;
}

/* Return the steps of the dimension; NULL: they are not known. */
static const struct sk_sized_steps *steps_of(struct sk_sized_uses *uses, const struct sk_sized_grid *grid,
					     uint32_t dimension)
{
	const struct sk_normal_variable *variable = &uses->sized->forms.variables.items[dimension];
	size_t i = 0;

	if (variable->most - variable->least >= MOST_STEPS || grid->unknown || !is_alone(uses, grid, dimension))
		return NULL;
	while (i < uses->steps.count &&
	       (uses->steps.items[i]->dimension != dimension ||
		!has_variables(uses, uses->steps.items[i]->variables, grid->variables, dimension)))
		i++;
	if (i == uses->steps.count)
		sk_array_push(uses->sized->forms.arena, &uses->steps, find_steps(uses, grid, dimension));
	return uses->steps.items[i]->count ? uses->steps.items[i] : NULL;
}

/* ---- finished grids ---- */

/* Let the dimension have fewer sizes if there are fewer steps. */
static void take_steps(struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t d)
{
	const struct sk_sized_steps *steps = grid->counts[d] > FEW_POINTS ? steps_of(uses, grid, d) : NULL;
	struct sk_sized_use *use = &grid->uses[d];
	uint64_t period = steps ? steps->period * (uint64_t)grid->divisors[d] : 0;
	uint64_t wanted = period * (SK_SIZED_DEGREES * (uint64_t)use->degree + 1);
	bool all = !period || use->every || period > MOST_PERIOD || (steps && wanted >= steps->count);

	if (!steps || (all ? steps->count : wanted) >= grid->counts[d])
		return;
	grid->steps[d] = steps;
	grid->all[d] = all;
	grid->counts[d] = all ? steps->count : wanted;
	use->period = all ? 1 : (uint32_t)period;
}

uint64_t sk_sized_grid_finish(struct sk_sized_uses *uses, struct sk_sized_grid *grid)
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
		take_steps(uses, grid, d);
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
		uint64_t number = point % grid->counts[d];

		sizes[d] = grid->steps[d] ? grid->steps[d]->sizes[number]
					  : dims->dimensions[d].most - number * dims->dimensions[d].multiple;
		point /= grid->counts[d];
	}
}

/* True if the sizes of the dimension are those of steps, of which the value has another variable. */
static bool is_hidden(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint32_t value,
		      uint32_t dimension)
{
	const struct sk_normal *form = uses->sized->forms.values[value];

	for (uint32_t i = 0; grid->steps[dimension] && form && i < form->count; i++)
		for (uint32_t j = 0; j < form->terms[i].count; j++)
			if (!grid->variables[form->terms[i].factors[j]] &&
			    depends(uses, form->terms[i].factors[j], dimension))
				return true;
	return grid->steps[dimension] && !form;
}

bool sk_sized_grid_suffices(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint32_t value)
{
	for (uint32_t d = 0; d < count_dimensions(uses); d++) {
		const struct sk_sized_use *use = &uses->values[value * (size_t)count_dimensions(uses) + d];
		bool periods = grid->steps[d] || grid->uses[d].period % use->period == 0;

		if (is_hidden(uses, grid, value, d) ||
		    (!grid->all[d] &&
		     (use->every || !periods || use->degree > SK_SIZED_DEGREES * grid->uses[d].degree)))
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
