/* Forms of numbers that are known at some sizes; see bind-parts.h. A form is a sum of columns with integer
 * coefficients. A column is a product of dimensions, or contains a quotient. The coefficients are found by elimination
 * modulo a prime, and the form is then compared with all numbers. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "src/bind/bind-parts.h"

#define PRIME ((UINT64_C(1) << 61) - 1)

enum {
	FURTHER_POINTS = 10, /* beyond those that determine the coefficients */
	NEAR_POINTS = 3, /* of each dimension, and of all together */
	MOST_CORNERS = 4, /* all combinations of the least and the largest sizes of so many dimensions */
	MOST_COLUMNS = 256,
	MOST_DIVISOR = 256, /* of quotients that no expression of the manifest shows … */
	MOST_REST = 16, /* … and of those with any rest */
	MOST_COEFFICIENT = 1 << 30,
	MOST_COMPARED = 1 << 20, /* sizes at which an expression is compared with its form */
	MOST_EXCEPTIONS = 64,
	MOST_SUGGESTIONS = 512,
	MOST_PAIRED = 48, /* of them, in sums of two … */
	MOST_MULTIPLIED = 20, /* … and in products of two */
};

struct column {
	const struct sk_size *size;
	const int64_t *numbers; /* by point */
};

struct sk_fit {
	struct sk_arena *arena;
	struct sk_sizes *sizes;
	const char *network; /* of its dimensions; all others have their largest sizes */
	size_t count; /* points */
	uint64_t **points; /* by point: the sizes of all dimensions */
	SK_ARRAY(const struct sk_size *) dimensions; /* those with several sizes, divided by their multiple */
	SK_ARRAY(struct column) products; /* by degree */
	size_t ends[3]; /* of the products with at most one, two, three factors */
	SK_ARRAY(struct column) quotients; /* expressions of the manifest, and their complements */
	SK_ARRAY(struct column) suggestions;
	struct sk_map suggested; /* sizes */
	bool grows; /* only forms that never shrink are wanted */
	const struct sk_size *unclear; /* an expression that cannot be compared with its form; NULL: none */
	const bool *known; /* by point: a number that the form must have; NULL: all are */
	uint8_t *key; /* of sk_fit_find: the numbers by point, then whether they are known */
	struct sk_map found; /* key -> form */
	SK_ARRAY(const struct sk_size *) forms;
};

/* ---- points ---- */

/* True if the dimension has several sizes, and is one of the network's. */
static bool varies(const struct sk_fit *fit, const struct sk_size_dimension *dimension)
{
	return dimension->least < dimension->most && sk_size_dimension_is_of(dimension, fit->network);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t *add_point(struct sk_fit *fit)
{
	size_t dimensions = sk_sizes_count(fit->sizes);
	uint64_t *point = fit->points[fit->count++] = SK_NEW_ARRAY(fit->arena, uint64_t, dimensions + 1);

	for (size_t d = 0; d < dimensions; d++)
		point[d] = sk_sizes_dimension(fit->sizes, d)->most;
	return point;
}

/* The least size is special where it is 1: strides of one row do not show. It is among the corners. */
static void add_random_point(struct sk_fit *fit, uint64_t *state)
{
	uint64_t *point = add_point(fit);

	for (size_t d = 0; d < sk_sizes_count(fit->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(fit->sizes, d);
		uint64_t sizes = (dimension->most - dimension->least) / dimension->multiple + 1, from = sizes > 4;

		if (varies(fit, dimension))
			point[d] =
				dimension->least + (from + next_random(state) % (sizes - from)) * dimension->multiple;
	}
}

/* Some dimensions have their least size, and the others their largest one. */
static void add_corner(struct sk_fit *fit, size_t which)
{
	uint64_t *point = add_point(fit);
	size_t bounded = 0;

	for (size_t d = 0; d < sk_sizes_count(fit->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(fit->sizes, d);

		if (!varies(fit, dimension))
			continue;
		if (fit->dimensions.count <= MOST_CORNERS ? which >> bounded & 1
							  : which == bounded || which == fit->dimensions.count)
			point[d] = dimension->least;
		bounded++;
	}
}

/* One dimension (`which`; all: the number of dimensions) is so many steps from its least size, or a step from its
 * largest one; the others have their largest ones. */
static void add_point_near(struct sk_fit *fit, size_t which, uint64_t steps, bool from_most)
{
	uint64_t *point = add_point(fit);
	size_t bounded = 0;

	for (size_t d = 0; d < sk_sizes_count(fit->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(fit->sizes, d);
		uint64_t last = (dimension->most - dimension->least) / dimension->multiple, step;

		if (!varies(fit, dimension))
			continue;
		step = steps < last ? steps : last;
		if (bounded == which || which == fit->dimensions.count)
			point[d] = dimension->least + (from_most ? last - step : step) * dimension->multiple;
		bounded++;
	}
}

/* Numbers that the proof does not compare with anything, such as the offset of a part that a model cuts out, have no
 * support but the points. Where forms do not hold, that is mostly near the bounds: windows get shorter than a kernel,
 * and ends of parts meet. */
static void add_near_points(struct sk_fit *fit)
{
	for (size_t which = 0; which <= fit->dimensions.count; which++) {
		if (which == fit->dimensions.count && which == 1)
			break; /* all are that one */
		add_point_near(fit, which, 1, false);
		add_point_near(fit, which, 2, false);
		add_point_near(fit, which, 1, true);
	}
}

static void choose_points(struct sk_fit *fit, size_t columns, size_t further)
{
	size_t dimensions = fit->dimensions.count, corners = 1;
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

	corners = dimensions <= MOST_CORNERS ? (size_t)1 << dimensions : dimensions + 1;
	fit->points = SK_NEW_ARRAY(fit->arena, uint64_t *,
				   columns + FURTHER_POINTS + corners + NEAR_POINTS * (dimensions + 1) + further + 1);
	add_point(fit);
	while (fit->count < columns + FURTHER_POINTS)
		add_random_point(fit, &state);
	for (size_t i = 0; i < corners; i++)
		add_corner(fit, i);
	add_near_points(fit);
}

/* ---- columns ---- */

static const int64_t *numbers_of(const struct sk_fit *fit, const struct sk_size *size)
{
	int64_t *numbers = SK_NEW_ARRAY(fit->arena, int64_t, fit->count);

	for (size_t p = 0; p < fit->count; p++)
		numbers[p] = sk_size_at(size, fit->points[p]);
	return numbers;
}

static void add_product(struct sk_fit *fit, const struct sk_size *size)
{
	if (size)
		sk_array_push(fit->arena, &fit->products, (struct column){.size = size});
}

static const struct sk_size *times(const struct sk_fit *fit, const struct sk_size *a, const struct sk_size *b)
{
	return sk_size_multiply(fit->sizes, a, b);
}

/* All products of up to three dimensions; of many dimensions those of different ones. */
static void make_products(struct sk_fit *fit)
{
	const struct sk_size *const *dimensions = fit->dimensions.items;
	size_t count = fit->dimensions.count, repeated = count <= 4;

	add_product(fit, sk_size_number(fit->sizes, 1));
	for (size_t a = 0; a < count; a++)
		add_product(fit, dimensions[a]);
	fit->ends[0] = fit->products.count;
	for (size_t a = 0; a < count; a++)
		for (size_t b = a; b < count; b++)
			add_product(fit, times(fit, dimensions[a], dimensions[b]));
	fit->ends[1] = fit->products.count;
	for (size_t a = 0; a < count; a++)
		for (size_t b = a + !repeated; b < count; b++)
			for (size_t c = b + !repeated; c < count; c++)
				add_product(fit, times(fit, times(fit, dimensions[a], dimensions[b]), dimensions[c]));
	fit->ends[2] = fit->products.count;
}

size_t sk_fit_count(const struct sk_fit *fit)
{
	return fit->count;
}

const uint64_t *sk_fit_point(const struct sk_fit *fit, size_t point)
{
	return fit->points[point];
}

/* ---- elimination ---- */

static uint64_t multiply(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b % PRIME);
}

static uint64_t residue(int64_t number)
{
	int64_t rest = number % (int64_t)PRIME;

	return rest < 0 ? (uint64_t)(rest + (int64_t)PRIME) : (uint64_t)rest;
}

static uint64_t inverse(uint64_t number)
{
	uint64_t result = 1;

	for (uint64_t exponent = PRIME - 2; exponent; exponent >>= 1, number = multiply(number, number))
		if (exponent & 1)
			result = multiply(result, number);
	return result;
}

/* The equations of the known points: the columns' numbers, then the number wanted. */
struct equations {
	size_t rows, columns;
	uint64_t *cells;
};

static uint64_t *row_of(const struct equations *equations, size_t row)
{
	return equations->cells + row * (equations->columns + 1);
}

static void swap_rows(const struct equations *equations, size_t a, size_t b)
{
	for (size_t c = 0; c <= equations->columns; c++) {
		uint64_t cell = row_of(equations, a)[c];

		row_of(equations, a)[c] = row_of(equations, b)[c];
		row_of(equations, b)[c] = cell;
	}
}

/* Clear the column in all rows but this one, and set its cell to 1. */
static void clear_column(const struct equations *equations, size_t row, size_t column)
{
	uint64_t *own = row_of(equations, row), factor = inverse(own[column]);

	for (size_t c = column; c <= equations->columns; c++)
		own[c] = multiply(own[c], factor);
	for (size_t r = 0; r < equations->rows; r++) {
		uint64_t *other = row_of(equations, r), cell = other[column];

		for (size_t c = column; r != row && cell && c <= equations->columns; c++)
			other[c] = (other[c] + PRIME - multiply(cell, own[c])) % PRIME;
	}
}

/* Solve the equations; columns that the others determine have the coefficient 0. False: there is no solution. */
static bool solve(const struct equations *equations, int64_t *coefficients)
{
	size_t solved = 0;

	for (size_t column = 0; column < equations->columns; column++) {
		size_t row = solved;

		coefficients[column] = 0;
		while (row < equations->rows && !row_of(equations, row)[column])
			row++;
		if (row == equations->rows)
			continue;
		swap_rows(equations, row, solved);
		clear_column(equations, solved, column);
		coefficients[column] = (int64_t)solved++ + 1;
	}
	for (size_t row = solved; row < equations->rows; row++)
		if (row_of(equations, row)[equations->columns])
			return false;
	for (size_t column = 0; column < equations->columns; column++) {
		uint64_t cell = coefficients[column]
					? row_of(equations, (size_t)coefficients[column] - 1)[equations->columns]
					: 0;

		coefficients[column] = cell > PRIME / 2 ? -(int64_t)(PRIME - cell) : (int64_t)cell;
	}
	return true;
}

static bool is_known(const struct sk_fit *fit, size_t point)
{
	return !fit->known || fit->known[point];
}

static bool equals(const struct sk_fit *fit, const struct sk_size *size, const uint64_t *numbers)
{
	for (size_t p = 0; p < fit->count; p++)
		if (is_known(fit, p) && (uint64_t)sk_size_at(size, fit->points[p]) != numbers[p])
			return false;
	return true;
}

/* Find the coefficients of the columns for which their sum has the numbers. */
static bool find_coefficients(const struct sk_fit *fit, const struct column *columns, size_t count,
			      const uint64_t *numbers, int64_t *coefficients)
{
	struct sk_arena *scratch = sk_arena_create();
	struct equations equations = {.columns = count,
				      .cells = SK_NEW_ARRAY(scratch, uint64_t, fit->count * (count + 1))};
	bool solved;

	for (size_t p = 0; p < fit->count; p++) {
		if (!is_known(fit, p))
			continue;
		for (size_t c = 0; c < count; c++)
			row_of(&equations, equations.rows)[c] = residue(columns[c].numbers[p]);
		row_of(&equations, equations.rows++)[count] = numbers[p] % PRIME;
	}
	solved = equations.rows > count && solve(&equations, coefficients);
	for (size_t c = 0; solved && c < count; c++)
		solved = coefficients[c] > -MOST_COEFFICIENT && coefficients[c] < MOST_COEFFICIENT;
	sk_arena_destroy(scratch);
	return solved;
}

/* Return the sum if it has the numbers and, if that is wanted, never shrinks; else NULL. */
static const struct sk_size *add_up(const struct sk_fit *fit, const struct column *columns, size_t count,
				    const int64_t *coefficients, const uint64_t *numbers)
{
	const struct sk_size *sum = sk_size_number(fit->sizes, 0);

	for (size_t c = 0; c < count; c++)
		if (coefficients[c])
			sum = sk_size_add(fit->sizes, sum,
					  times(fit, sk_size_number(fit->sizes, coefficients[c]), columns[c].size));
	return sum && (!fit->grows || sk_size_grows(sum)) && equals(fit, sum, numbers) ? sum : NULL;
}

static const struct sk_size *combine(const struct sk_fit *fit, const struct column *columns, size_t count,
				     const uint64_t *numbers)
{
	int64_t coefficients[MOST_COLUMNS];

	return find_coefficients(fit, columns, count, numbers, coefficients)
		       ? add_up(fit, columns, count, coefficients, numbers)
		       : NULL;
}

/* ---- suggestions ---- */

void sk_fit_suggest(struct sk_fit *fit, const struct sk_size *size)
{
	uint32_t number = (uint32_t)fit->suggestions.count;

	if (!size || sk_size_is_number(size, NULL) || number == MOST_SUGGESTIONS ||
	    sk_map_insert(&fit->suggested, sk_arena_copy(fit->arena, (const char *)&size, sizeof(size)), sizeof(size),
			  number) != number)
		return;
	sk_array_push(fit->arena, &fit->suggestions, (struct column){size, numbers_of(fit, size)});
	sk_map_init(&fit->found, fit->arena); /* some numbers may get other forms */
}

void sk_fit_suggest_products(struct sk_fit *fit)
{
	size_t count = fit->suggestions.count < MOST_MULTIPLIED ? fit->suggestions.count : MOST_MULTIPLIED;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			sk_fit_suggest(fit, times(fit, fit->suggestions.items[i].size, fit->suggestions.items[j].size));
}

/* Return the suggestion so many times, if that has the numbers; 0: any number of times above 1. */
static const struct sk_size *times_suggestion(const struct sk_fit *fit, const struct column *column, uint64_t times_it,
					      const uint64_t *numbers)
{
	int64_t largest = column->numbers[0];
	const struct sk_size *form;
	uint64_t factor = times_it;

	if ((fit->grows && !sk_size_grows(column->size)) || largest <= 0 || numbers[0] % (uint64_t)largest)
		return NULL;
	if (!factor)
		factor = numbers[0] / (uint64_t)largest;
	if ((!times_it && factor < 2) || factor >= MOST_COEFFICIENT)
		return NULL;
	for (size_t p = 0; p < fit->count; p++)
		if (is_known(fit, p) && (uint64_t)column->numbers[p] * factor != numbers[p])
			return NULL;
	form = times(fit, sk_size_number(fit->sizes, (int64_t)factor), column->size);
	return form && equals(fit, form, numbers) ? form : NULL;
}

/* Return a suggestion or a multiple of one that has the numbers. */
static const struct sk_size *find_suggestion(const struct sk_fit *fit, const uint64_t *numbers)
{
	const struct sk_size *form = NULL;

	for (int multiple = 0; multiple < 2; multiple++)
		for (size_t i = 0; i < fit->suggestions.count && !form; i++)
			form = times_suggestion(fit, &fit->suggestions.items[i], !multiple, numbers);
	return form;
}

/* Return a sum of multiples of two suggestions and a number. */
static const struct sk_size *find_pair(const struct sk_fit *fit, const uint64_t *numbers)
{
	size_t count = fit->suggestions.count < MOST_PAIRED ? fit->suggestions.count : MOST_PAIRED;
	struct column columns[3] = {fit->products.items[0]};
	const struct sk_size *form = NULL;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count && !form; j++) {
			columns[1] = fit->suggestions.items[i];
			columns[2] = fit->suggestions.items[j];
			form = combine(fit, columns, 2 + (i != j), numbers);
		}
	return form;
}

/* ---- quotients ---- */

/* Products of dimensions, each also times a quotient. */
struct quotient {
	struct column columns[MOST_COLUMNS];
	size_t count;
	int64_t coefficients[MOST_COLUMNS];
};

static bool fits_quotient(const struct sk_fit *fit, struct sk_arena *scratch, const int64_t *of,
			  const uint64_t *numbers, size_t products, struct quotient *quotient)
{
	quotient->count = 0;
	for (size_t i = 0; i < products && quotient->count + 2 <= MOST_COLUMNS; i++) {
		int64_t *product = SK_NEW_ARRAY(scratch, int64_t, fit->count);

		for (size_t p = 0; p < fit->count; p++)
			product[p] = (int64_t)multiply(residue(of[p]), residue(fit->products.items[i].numbers[p]));
		quotient->columns[quotient->count++] = fit->products.items[i];
		quotient->columns[quotient->count++] = (struct column){NULL, product};
	}
	return find_coefficients(fit, quotient->columns, quotient->count, numbers, quotient->coefficients);
}

static const struct sk_size *form_of(const struct sk_fit *fit, struct quotient *quotient, const struct sk_size *size,
				     const uint64_t *numbers)
{
	for (size_t i = 0; 2 * i < quotient->count; i++)
		quotient->columns[2 * i + 1].size = times(fit, size, fit->products.items[i].size);
	return add_up(fit, quotient->columns, quotient->count, quotient->coefficients, numbers);
}

/* Return a form with quotients of the manifest's expressions: one of them, or all. */
static const struct sk_size *combine_expressions(const struct sk_fit *fit, struct sk_arena *scratch,
						 const uint64_t *numbers)
{
	const struct sk_size *form = NULL;
	struct quotient quotient;

	for (int degree = 0; degree < 2; degree++)
		for (size_t i = 0; i < fit->quotients.count && !form; i++)
			if (fits_quotient(fit, scratch, fit->quotients.items[i].numbers, numbers, fit->ends[degree],
					  &quotient))
				form = form_of(fit, &quotient, fit->quotients.items[i].size, numbers);
	if (form || fit->ends[0] + fit->quotients.count > MOST_COLUMNS)
		return form;
	memcpy(quotient.columns, fit->products.items, fit->ends[0] * sizeof(*quotient.columns));
	if (fit->quotients.count)
		memcpy(quotient.columns + fit->ends[0], fit->quotients.items,
		       fit->quotients.count * sizeof(*quotient.columns));
	return combine(fit, quotient.columns, fit->ends[0] + fit->quotients.count, numbers);
}

/* floor((product + rest) / divisor) */
struct division {
	const struct column *product;
	int64_t rest, divisor;
};

static const struct sk_size *combine_division(const struct sk_fit *fit, const struct division *division,
					      size_t products, const uint64_t *numbers)
{
	struct sk_arena *scratch = sk_arena_create();
	int64_t *of = SK_NEW_ARRAY(scratch, int64_t, fit->count);
	const struct sk_size *sum, *form = NULL;
	struct quotient quotient;

	for (size_t p = 0; p < fit->count; p++)
		of[p] = (division->product->numbers[p] + division->rest) / division->divisor;
	if (fits_quotient(fit, scratch, of, numbers, products, &quotient)) {
		sum = sk_size_add(fit->sizes, division->product->size, sk_size_number(fit->sizes, division->rest));
		sum = sk_size_floor(fit->sizes, sum, sk_size_number(fit->sizes, division->divisor));
		form = form_of(fit, &quotient, sum, numbers);
	}
	sk_arena_destroy(scratch);
	return form;
}

/* Return a form with a quotient of one or two dimensions and a constant. Of great divisors only the two quotients that
 * round down and up are tried. */
static const struct sk_size *combine_divisions(const struct sk_fit *fit, const uint64_t *numbers)
{
	const struct sk_size *form = NULL;

	for (int64_t divisor = 2; divisor <= MOST_DIVISOR; divisor++)
		for (int64_t rest = 0; rest < divisor; rest += divisor <= MOST_REST || rest ? 1 : divisor - 1)
			for (size_t i = 1; i < fit->ends[1] && !form; i++)
				form = combine_division(fit, &(struct division){&fit->products.items[i], rest, divisor},
							fit->ends[0], numbers);
	for (int64_t divisor = 2; divisor <= MOST_REST; divisor++)
		for (int64_t rest = 0; rest < divisor; rest += divisor - 1)
			for (size_t i = 1; i < fit->ends[0] && !form; i++)
				form = combine_division(fit, &(struct division){&fit->products.items[i], rest, divisor},
							fit->ends[1], numbers);
	return form;
}

/* ---- the whole ---- */

/* Add an expression that is not a sum of products. */
static void add_quotient(struct sk_fit *fit, const struct sk_size *size)
{
	const int64_t *numbers = numbers_of(fit, size);

	for (size_t i = 0; i < fit->quotients.count; i++)
		if (fit->quotients.items[i].size == size)
			return;
	if (!combine(fit, fit->products.items, fit->ends[2], (const uint64_t *)numbers))
		sk_array_push(fit->arena, &fit->quotients, (struct column){size, numbers});
}

/* The steps of an expression, as sizes. */
struct complements {
	struct sk_fit *fit;
	SK_ARRAY(const struct sk_size *) steps;
};

/* Of floor(x/n) add x - floor(x/n), which is floor(((n-1)*x + n-1)/n). It does not shrink, which the difference does
 * not show. */
static const struct sk_size *put_floor(const struct complements *complements, const struct sk_size *x,
				       const struct sk_size *by)
{
	struct sk_sizes *sizes = complements->fit->sizes;
	const struct sk_size *less = sk_size_subtract(sizes, by, sk_size_number(sizes, 1));
	const struct sk_size *complement =
		sk_size_floor(sizes, sk_size_add(sizes, sk_size_multiply(sizes, less, x), less), by);

	if (complement && sk_size_is_number(by, NULL))
		add_quotient(complements->fit, complement);
	return sk_size_floor(sizes, x, by);
}

static const struct sk_size *step_size(const struct complements *complements, const struct sk_size_step *step)
{
	struct sk_sizes *sizes = complements->fit->sizes;
	bool leaf = step->kind == SK_SIZE_NUMBER || step->kind == SK_SIZE_DIMENSION;
	const struct sk_size *a = leaf ? NULL : complements->steps.items[step->a];
	const struct sk_size *b = leaf ? NULL : complements->steps.items[step->b];

	switch (step->kind) {
	case SK_SIZE_NUMBER:
		return sk_size_number(sizes, step->number);
	case SK_SIZE_DIMENSION:
		return sk_sizes_variable(sizes, step->a);
	case SK_SIZE_SUM:
		return sk_size_add(sizes, a, b);
	case SK_SIZE_PRODUCT:
		return sk_size_multiply(sizes, a, b);
	case SK_SIZE_FLOOR:
		return put_floor(complements, a, b);
	case SK_SIZE_MIN:
		return sk_size_min(sizes, a, b);
	default:
		return sk_size_max(sizes, a, b);
	}
}

static uint32_t put_complement(void *context, const struct sk_size_step *step)
{
	struct complements *complements = context;

	sk_array_push(complements->fit->arena, &complements->steps, step_size(complements, step));
	return (uint32_t)complements->steps.count - 1;
}

static void add_complements(struct sk_fit *fit, const struct sk_size *size)
{
	struct complements complements = {.fit = fit};

	sk_size_walk(size, put_complement, &complements);
}

/* Points that a fit needs beside its own. */
typedef SK_ARRAY(uint64_t *) points;

static struct sk_fit *make_fit(struct sk_arena *arena, struct sk_sizes *sizes, const char *network,
			       const struct sk_size *const *expressions, size_t count, const points *further)
{
	struct sk_fit *fit = SK_NEW(arena, struct sk_fit);

	fit->arena = arena;
	fit->sizes = sizes;
	fit->network = network;
	sk_map_init(&fit->found, arena);
	sk_map_init(&fit->suggested, arena);
	for (size_t d = 0; d < sk_sizes_count(sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(sizes, d);
		const struct sk_size *multiple = sk_size_number(sizes, (int64_t)dimension->multiple);

		if (varies(fit, dimension))
			sk_array_push(arena, &fit->dimensions,
				      sk_size_quotient(sizes, sk_sizes_variable(sizes, d), multiple));
	}
	make_products(fit);
	choose_points(fit, fit->products.count, further->count);
	for (size_t i = 0; i < further->count; i++)
		fit->points[fit->count++] = further->items[i];
	fit->key = SK_NEW_ARRAY(arena, uint8_t, fit->count * (sizeof(uint64_t) + sizeof(bool)));
	for (size_t i = 0; i < fit->products.count; i++)
		fit->products.items[i].numbers = numbers_of(fit, fit->products.items[i].size);
	for (size_t i = 0; i < count && fit->quotients.count < MOST_COLUMNS / 4; i++)
		add_quotient(fit, expressions[i]);
	for (size_t i = 0; i < count && fit->quotients.count < MOST_COLUMNS / 4; i++)
		add_complements(fit, expressions[i]);
	return fit;
}

static const struct sk_size *find(const struct sk_fit *fit, const uint64_t *numbers)
{
	struct sk_arena *scratch = sk_arena_create();
	const struct sk_size *form = find_suggestion(fit, numbers);

	for (int degree = 0; degree < 3 && !form; degree++)
		form = combine(fit, fit->products.items, fit->ends[degree], numbers);
	if (!form)
		form = combine_expressions(fit, scratch, numbers);
	if (!form)
		form = find_pair(fit, numbers);
	sk_arena_destroy(scratch);
	return form;
}

/* A form that shrinks is of use to an error only. */
static const struct sk_size *find_best(struct sk_fit *fit, const uint64_t *numbers)
{
	const struct sk_size *form;

	fit->grows = true;
	form = find(fit, numbers);
	form = form ? form : combine_divisions(fit, numbers);
	fit->grows = false;
	return form ? form : find(fit, numbers);
}

const struct sk_size *sk_fit_find(struct sk_fit *fit, const uint64_t *numbers, const bool *known)
{
	size_t size = fit->count * (sizeof(*numbers) + sizeof(*known));
	uint32_t found;

	memcpy(fit->key, numbers, fit->count * sizeof(*numbers));
	for (size_t p = 0; p < fit->count; p++)
		fit->key[fit->count * sizeof(*numbers) + p] = !known || known[p];
	found = sk_map_find(&fit->found, (const char *)fit->key, size);
	if (found != SK_NONE)
		return fit->forms.items[found];
	sk_map_insert(&fit->found, sk_arena_copy(fit->arena, (const char *)fit->key, size), size,
		      (uint32_t)fit->forms.count);
	fit->known = known;
	sk_array_push(fit->arena, &fit->forms, find_best(fit, numbers));
	return fit->forms.items[fit->forms.count - 1];
}

/* ---- exceptions ---- */

/* Go to the next sizes of the dimensions in either expression. False: there are no more. */
static bool next_sizes(const struct sk_fit *fit, const struct sk_size *one, const struct sk_size *other,
		       uint64_t *point)
{
	for (size_t d = 0; d < sk_sizes_count(fit->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(fit->sizes, d);

		if (!sk_size_has(one, d) && !sk_size_has(other, d))
			continue;
		if (point[d] < dimension->most) {
			point[d] += dimension->multiple;
			return true;
		}
		point[d] = dimension->least;
	}
	return false;
}

/* Find sizes at which the two differ. NULL: there are none, or *compared is false. */
static uint64_t *find_exception(const struct sk_fit *fit, const struct sk_size *one, const struct sk_size *other,
				bool *compared)
{
	size_t dimensions = sk_sizes_count(fit->sizes), looks = 0;
	uint64_t *point = SK_NEW_ARRAY(fit->arena, uint64_t, dimensions + 1);

	*compared = true;
	if (sk_size_compare(fit->sizes, one, other) == SK_SIZE_EQUAL)
		return NULL;
	for (size_t d = 0; d < dimensions; d++)
		point[d] = sk_sizes_dimension(fit->sizes, d)->least;
	do {
		if (sk_size_at(one, point) != sk_size_at(other, point))
			return point;
		*compared = looks++ < MOST_COMPARED;
	} while (*compared && next_sizes(fit, one, other, point));
	return NULL;
}

/* Return sizes at which an expression differs from the form that its numbers at the points have, or NULL. */
static uint64_t *exception_of(struct sk_fit *fit, const struct sk_size *const *expressions, size_t count)
{
	struct sk_map seen;

	sk_map_init(&seen, fit->arena);
	for (size_t i = 0; i < count && !fit->unclear; i++) {
		bool compared = true;
		uint64_t *point = NULL;
		const struct sk_size *form;

		if (sk_map_insert(&seen, (const char *)&expressions[i], sizeof(expressions[i]), (uint32_t)i) != i)
			continue;
		form = sk_fit_find(fit, (const uint64_t *)numbers_of(fit, expressions[i]), NULL);
		if (form)
			point = find_exception(fit, expressions[i], form, &compared);
		if (point)
			return point;
		if (!compared)
			fit->unclear = expressions[i];
	}
	return NULL;
}

struct sk_fit *sk_fit_new(struct sk_arena *arena, struct sk_sizes *sizes, const char *network,
			  const struct sk_size *const *expressions, size_t count)
{
	points further = {0};
	struct sk_fit *fit;
	uint64_t *point;

	while (fit = make_fit(arena, sizes, network, expressions, count, &further),
	       (point = exception_of(fit, expressions, count)) && further.count < MOST_EXCEPTIONS)
		sk_array_push(arena, &further, point);
	if (point)
		fit->unclear = expressions[0];
	for (size_t i = 0; i < count; i++)
		sk_fit_suggest(fit, expressions[i]);
	return fit;
}

const struct sk_size *sk_fit_unclear(const struct sk_fit *fit)
{
	return fit->unclear;
}
