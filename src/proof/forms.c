/* See forms.h. */
#include "src/proof/forms.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/plan/dims.h"
#include "format/skdims.h"
#include "format/skplan.h"

enum {
	MAX_REPLACEMENTS = 6, /* of atoms by bounds of theirs in one test of a sign */
	MOST_SIZES = 4096, /* at which a form is evaluated in one test of a sign … */
};

/* … and in all tests of a proof. */
#define MOST_LOOKS (UINT64_C(1) << 25)

/* ---- sums of terms ---- */

/* A form that is being made. */
struct sum {
	bool unknown;
	uint32_t count;
	struct sk_normal_term terms[SK_NORMAL_MAX_TERMS];
};

static int compare_factors(const struct sk_normal_term *one, const struct sk_normal_term *other)
{
	if (one->count != other->count)
		return one->count < other->count ? -1 : 1;
	for (uint32_t i = 0; i < one->count; i++)
		if (one->factors[i] != other->factors[i])
			return one->factors[i] < other->factors[i] ? -1 : 1;
	return 0;
}

static void remove_term(struct sum *sum, uint32_t place)
{
	sum->count--;
	memmove(&sum->terms[place], &sum->terms[place + 1], (sum->count - place) * sizeof(*sum->terms));
}

static void insert_term(struct sum *sum, uint32_t place, const struct sk_normal_term *term)
{
	if (sum->count == SK_NORMAL_MAX_TERMS) {
		sum->unknown = true;
		return;
	}
	memmove(&sum->terms[place + 1], &sum->terms[place], (sum->count - place) * sizeof(*sum->terms));
	sum->terms[place] = *term;
	sum->count++;
}

static void add_term(struct sum *sum, const struct sk_normal_term *term)
{
	uint32_t place = 0;

	while (place < sum->count && compare_factors(&sum->terms[place], term) < 0)
		place++;
	if (term->coefficient == 0)
		return;
	if (place == sum->count || compare_factors(&sum->terms[place], term) != 0) {
		insert_term(sum, place, term);
		return;
	}

	int64_t *coefficient = &sum->terms[place].coefficient;

	sum->unknown |= __builtin_add_overflow(*coefficient, term->coefficient, coefficient);
	if (*coefficient == 0)
		remove_term(sum, place);
}

static void add_product(struct sum *sum, const struct sk_normal_term *a, const struct sk_normal_term *b)
{
	struct sk_normal_term term = {.count = a->count + b->count};

	if (term.count > SK_NORMAL_MAX_FACTORS ||
	    __builtin_mul_overflow(a->coefficient, b->coefficient, &term.coefficient)) {
		sum->unknown = true;
		return;
	}
	for (uint32_t i = 0, j = 0; i + j < term.count;) {
		bool first = j == b->count || (i < a->count && a->factors[i] <= b->factors[j]);

		term.factors[i + j] = first ? a->factors[i] : b->factors[j];
		i += first;
		j += !first;
	}
	add_term(sum, &term);
}

/* Add the form `factor` times. */
static void add_times(struct sum *sum, const struct sk_normal *form, int64_t factor)
{
	const struct sk_normal_term times = {.coefficient = factor};

	for (uint32_t i = 0; i < form->count; i++)
		add_product(sum, &form->terms[i], &times);
}

static const struct sk_normal *finish(struct sk_arena *arena, const struct sum *sum)
{
	struct sk_normal *form;

	if (sum->unknown)
		return NULL;
	form = sk_arena_alloc(arena, 1, sizeof(*form) + sum->count * sizeof(*form->terms));
	form->count = sum->count;
	memcpy(form->terms, sum->terms, sum->count * sizeof(*form->terms));
	return form;
}

const struct sk_normal *sk_normal_number(struct sk_normals *forms, uint64_t number)
{
	struct sum sum = {.unknown = number > INT64_MAX};

	add_term(&sum, &(struct sk_normal_term){.coefficient = sum.unknown ? 0 : (int64_t)number});
	return finish(forms->arena, &sum);
}

static const struct sk_normal *combine(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b,
				       int64_t factor)
{
	struct sum sum = {.unknown = !a || !b};

	if (!sum.unknown) {
		add_times(&sum, a, 1);
		add_times(&sum, b, factor);
	}
	return finish(forms->arena, &sum);
}

const struct sk_normal *sk_normal_add(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b)
{
	return combine(forms, a, b, 1);
}

const struct sk_normal *sk_normal_subtract(struct sk_normals *forms, const struct sk_normal *a,
					   const struct sk_normal *b)
{
	return combine(forms, a, b, -1);
}

const struct sk_normal *sk_normal_multiply(struct sk_normals *forms, const struct sk_normal *a,
					   const struct sk_normal *b)
{
	struct sum sum = {.unknown = !a || !b};

	for (uint32_t i = 0; !sum.unknown && i < a->count; i++)
		for (uint32_t j = 0; !sum.unknown && j < b->count; j++)
			add_product(&sum, &a->terms[i], &b->terms[j]);
	return finish(forms->arena, &sum);
}

/* True if the two are the same sum. */
static bool is_same(const struct sk_normal *a, const struct sk_normal *b)
{
	if (!a || !b || a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->terms[i].coefficient != b->terms[i].coefficient ||
		    compare_factors(&a->terms[i], &b->terms[i]) != 0)
			return false;
	return true;
}

/* True if the number divides all coefficients. */
static bool divides_terms(const struct sk_normal *form, uint64_t number)
{
	for (uint32_t i = 0; form && number && i < form->count; i++)
		if (form->terms[i].coefficient % (int64_t)number)
			return false;
	return form && number && number <= INT64_MAX;
}

bool sk_normal_is_number(const struct sk_normal *form, int64_t *number)
{
	if (!form || form->count > 1 || (form->count && form->terms[0].count))
		return false;
	*number = form->count ? form->terms[0].coefficient : 0;
	return true;
}

/* ---- bounds ---- */

/* The term's least value, or its most. */
static bool term_bound(const struct sk_normals *forms, const struct sk_normal_term *term, bool most, int64_t *bound)
{
	bool overflow = false;

	*bound = term->coefficient;
	for (uint32_t i = 0; i < term->count; i++) {
		const struct sk_normal_variable *variable = &forms->variables.items[term->factors[i]];

		overflow |= __builtin_mul_overflow(
			*bound, (term->coefficient > 0) == most ? variable->most : variable->least, bound);
	}
	return !overflow;
}

/* Set bounds that the form does not leave. */
static bool find_bounds(const struct sk_normals *forms, const struct sk_normal *form, int64_t *least, int64_t *most)
{
	*least = *most = 0;
	for (uint32_t i = 0; form && i < form->count; i++) {
		int64_t low, high;

		if (!term_bound(forms, &form->terms[i], false, &low) ||
		    !term_bound(forms, &form->terms[i], true, &high) || __builtin_add_overflow(*least, low, least) ||
		    __builtin_add_overflow(*most, high, most))
			return false;
	}
	return form != NULL;
}

bool sk_normal_corner(const struct sk_normals *forms, const struct sk_normal *form, bool most, int64_t *number)
{
	*number = 0;
	for (uint32_t i = 0; form && i < form->count; i++) {
		int64_t value = form->terms[i].coefficient;
		bool overflow = false;

		for (uint32_t j = 0; j < form->terms[i].count; j++) {
			const struct sk_normal_variable *variable = &forms->variables.items[form->terms[i].factors[j]];

			overflow |= __builtin_mul_overflow(value, most ? variable->most : variable->least, &value);
		}
		if (overflow || __builtin_add_overflow(*number, value, number))
			return false;
	}
	return form != NULL;
}

/* ---- signs ---- */

/* Variables that may be counted down from their most, in one test. */
enum { MAX_COUNTED_DOWN = 4 };

/* Add the term with each variable written as its least value plus one that is at least 0; for those in the set, as its
 * most minus one that is at least 0. */
static void add_shifted(struct sum *sum, const struct sk_normals *forms, const struct sk_normal_term *term,
			const uint32_t *down, uint32_t set)
{
	for (uint32_t chosen = 0; chosen < 1u << term->count; chosen++) {
		struct sk_normal_term part = {.coefficient = term->coefficient};

		for (uint32_t i = 0; i < term->count; i++) {
			const struct sk_normal_variable *variable = &forms->variables.items[term->factors[i]];
			bool is_down = false;

			for (uint32_t d = 0; d < MAX_COUNTED_DOWN; d++)
				is_down |= set >> d & 1 && down[d] == term->factors[i];
			if (chosen >> i & 1)
				part.factors[part.count++] = term->factors[i];
			sum->unknown |=
				__builtin_mul_overflow(part.coefficient,
						       !(chosen >> i & 1) ? (is_down ? variable->most : variable->least)
						       : is_down	  ? -1
									  : 1,
						       &part.coefficient);
		}
		add_term(sum, &part);
	}
}

/* Add to the bound the least value of the shifted term: its variables are from 0 to their ranges. */
static bool add_least(const struct sk_normals *forms, const struct sk_normal_term *term, int64_t *bound)
{
	int64_t least = term->coefficient, range;

	if (term->count && least >= 0)
		return true;
	for (uint32_t i = 0; i < term->count; i++) {
		const struct sk_normal_variable *variable = &forms->variables.items[term->factors[i]];

		if (__builtin_sub_overflow(variable->most, variable->least, &range) ||
		    __builtin_mul_overflow(least, range, &least))
			return false;
	}
	return !__builtin_add_overflow(*bound, least, bound);
}

/* True if the sum of the least values of the shifted terms is at least 0. Where all variable terms have one sign, that
 * is the least value of the form. */
static bool is_at_least_0_shifted(const struct sk_normals *forms, const struct sk_normal *form, const uint32_t *down,
				  uint32_t set)
{
	struct sum sum = {0};
	int64_t bound = 0;

	for (uint32_t i = 0; i < form->count; i++)
		add_shifted(&sum, forms, &form->terms[i], down, set);
	for (uint32_t i = 0; i < sum.count && !sum.unknown; i++)
		sum.unknown |= !add_least(forms, &sum.terms[i], &bound);
	return !sum.unknown && bound >= 0;
}

/* Compute the form where the variables in the set have their most, and the others their least. */
static bool find_at_corner(const struct sk_normals *forms, const struct sk_normal *form, const uint32_t *down,
			   uint32_t set, int64_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < form->count; i++) {
		const struct sk_normal_term *term = &form->terms[i];
		int64_t value = term->coefficient;
		bool overflow = false;

		for (uint32_t j = 0; j < term->count; j++) {
			const struct sk_normal_variable *variable = &forms->variables.items[term->factors[j]];
			uint32_t d = 0;

			while (down[d] != term->factors[j])
				d++;
			overflow |=
				__builtin_mul_overflow(value, set >> d & 1 ? variable->most : variable->least, &value);
		}
		if (overflow || __builtin_add_overflow(*number, value, number))
			return false;
	}
	return true;
}

/* A form that is linear in each of its variables, all of which are listed, has its least value at a corner. */
static bool is_at_least_0_at_corners(const struct sk_normals *forms, const struct sk_normal *form,
				     const uint32_t *variables, uint32_t count)
{
	int64_t number;

	for (uint32_t i = 0; i < form->count; i++)
		for (uint32_t j = 1; j < form->terms[i].count; j++)
			if (form->terms[i].factors[j] == form->terms[i].factors[j - 1])
				return false;
	for (uint32_t set = 0; set < 1u << count; set++)
		if (!find_at_corner(forms, form, variables, set, &number) || number < 0)
			return false;
	return true;
}

/* Try each variable from its least and from its most value. */
static bool is_plainly_at_least_0(const struct sk_normals *forms, const struct sk_normal *form)
{
	uint32_t down[MAX_COUNTED_DOWN], count = 0;
	bool all = true;

	for (uint32_t i = 0; i < form->count; i++)
		for (uint32_t j = 0; j < form->terms[i].count; j++) {
			uint32_t known = 0;

			while (known < count && down[known] != form->terms[i].factors[j])
				known++;
			all &= known < count || count < MAX_COUNTED_DOWN;
			if (known == count && count < MAX_COUNTED_DOWN)
				down[count++] = form->terms[i].factors[j];
		}
	for (uint32_t set = 0; set < 1u << count; set++)
		if (is_at_least_0_shifted(forms, form, down, set))
			return true;
	return all && is_at_least_0_at_corners(forms, form, down, count);
}

/* Return the variable with the highest number; atoms come after the variables in them. */
static uint32_t last_variable(const struct sk_normal *form)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < form->count; i++)
		for (uint32_t j = 0; j < form->terms[i].count; j++)
			last = form->terms[i].factors[j] > last ? form->terms[i].factors[j] : last;
	return last;
}

/* Return `times` the form, with `bound` for `times` the variable in each of its terms. All terms that have the variable
 * have it once, and coefficients of the given sign; else return NULL. */
static const struct sk_normal *replace(struct sk_normals *forms, const struct sk_normal *form, uint32_t variable,
				       bool positive, const struct sk_normal *bound, int64_t times)
{
	struct sum sum = {.unknown = !bound};

	for (uint32_t i = 0; !sum.unknown && i < form->count; i++) {
		const struct sk_normal_term *term = &form->terms[i];
		struct sk_normal_term rest = {.coefficient = term->coefficient};

		for (uint32_t j = 0; j < term->count; j++)
			if (term->factors[j] != variable)
				rest.factors[rest.count++] = term->factors[j];
		if (rest.count == term->count) {
			add_product(&sum, term, &(struct sk_normal_term){.coefficient = times});
			continue;
		}
		sum.unknown |= rest.count + 1 != term->count || (term->coefficient > 0) != positive;
		for (uint32_t j = 0; !sum.unknown && j < bound->count; j++)
			add_product(&sum, &rest, &bound->terms[j]);
	}
	return finish(forms->arena, &sum);
}

static bool is_at_least_0(struct sk_normals *forms, const struct sk_normal *form, unsigned replacements);

/* min(a, b) is at most a, and at most b; max(a, b) is at least these. Where that is of no use, the form is at least 0
 * with a in the atom's place, and with b. */
static bool is_at_least_0_with_either(struct sk_normals *forms, const struct sk_normal *form, uint32_t number,
				      unsigned replacements)
{
	const struct sk_normal_variable atom = forms->variables.items[number];
	bool is_max = atom.op == SK_DIMS_MAX;

	return is_at_least_0(forms, replace(forms, form, number, is_max, atom.a, 1), replacements) ||
	       is_at_least_0(forms, replace(forms, form, number, is_max, atom.b, 1), replacements) ||
	       (is_at_least_0(forms, replace(forms, form, number, !is_max, atom.a, 1), replacements) &&
		is_at_least_0(forms, replace(forms, form, number, !is_max, atom.b, 1), replacements));
}

/* The form is at least the one with a bound of the atom in its place: a lower bound where its coefficients are
 * positive, an upper one where they are negative. Other variables in the atom's terms are not negative. */
static bool is_at_least_0_without(struct sk_normals *forms, const struct sk_normal *form, uint32_t number,
				  unsigned replacements)
{
	const struct sk_normal_variable atom = forms->variables.items[number];
	const struct sk_normal *bound;
	int64_t divisor = (int64_t)atom.number;

	switch (atom.op) {
	case SK_DIMS_FLOOR: /* a - (number - 1) <= number * floor(a / number) <= a */
		bound = sk_normal_subtract(forms, atom.a, sk_normal_number(forms, atom.number - 1));
		return is_at_least_0(forms, replace(forms, form, number, false, atom.a, divisor), replacements) ||
		       is_at_least_0(forms, replace(forms, form, number, true, bound, divisor), replacements);
	case SK_DIMS_MIN:
	case SK_DIMS_MAX:
		return is_at_least_0_with_either(forms, form, number, replacements);
	default:
		return false;
	}
}

static bool is_at_least_0(struct sk_normals *forms, const struct sk_normal *form, unsigned replacements)
{
	int64_t least, most;

	if (!form)
		return false;
	if (is_plainly_at_least_0(forms, form) || (find_bounds(forms, form, &least, &most) && least >= 0))
		return true;
	return replacements && forms->variables.count &&
	       is_at_least_0_without(forms, form, last_variable(form), replacements - 1);
}

/* ---- all sizes ---- */

/* Mark the dimensions in the form, also in its atoms. */
static void mark_dimensions(const struct sk_normals *forms, const struct sk_normal *form, bool *marks)
{
	for (uint32_t i = 0; i < form->count; i++)
		for (uint32_t j = 0; j < form->terms[i].count; j++) {
			uint32_t number = form->terms[i].factors[j];
			const struct sk_normal_variable *variable = &forms->variables.items[number];

			if (variable->op == SK_DIMS_DIMENSION) {
				marks[number] = true;
				continue;
			}
			mark_dimensions(forms, variable->a, marks);
			if (variable->op != SK_DIMS_FLOOR)
				mark_dimensions(forms, variable->b, marks);
		}
}

static bool evaluate(const struct sk_normals *forms, const struct sk_normal *form, const int64_t *sizes,
		     int64_t *result);

bool sk_normal_variable_at(const struct sk_normals *forms, uint32_t number, const int64_t *sizes, int64_t *result)
{
	const struct sk_normal_variable *variable = &forms->variables.items[number];
	int64_t a, b;

	if (variable->op == SK_DIMS_DIMENSION) {
		*result = sizes[number];
		return true;
	}
	if (!evaluate(forms, variable->a, sizes, &a) || a < 0)
		return false;
	if (variable->op == SK_DIMS_FLOOR) {
		*result = a / (int64_t)variable->number;
		return true;
	}
	*result = a;
	if (!evaluate(forms, variable->b, sizes, &b))
		return false;
	if ((b < a) == (variable->op == SK_DIMS_MIN))
		*result = b;
	return true;
}

/* Evaluate the form at sizes of the dimensions, each divided by its multiple. False on overflow. */
static bool evaluate(const struct sk_normals *forms, const struct sk_normal *form, const int64_t *sizes,
		     int64_t *result)
{
	*result = 0;
	for (uint32_t i = 0; i < form->count; i++) {
		int64_t product = form->terms[i].coefficient, factor;

		for (uint32_t j = 0; j < form->terms[i].count; j++)
			if (!sk_normal_variable_at(forms, form->terms[i].factors[j], sizes, &factor) ||
			    __builtin_mul_overflow(product, factor, &product))
				return false;
		if (__builtin_add_overflow(*result, product, result))
			return false;
	}
	return true;
}

/* Go to the next sizes of the dimensions with marks. False: there are no more. */
static bool next_sizes(const struct sk_normals *forms, const bool *marks, int64_t *sizes)
{
	for (uint32_t d = 0; d < forms->dims->dimension_count; d++) {
		if (!marks[d])
			continue;
		if (sizes[d] < forms->variables.items[d].most) {
			sizes[d]++;
			return true;
		}
		sizes[d] = forms->variables.items[d].least;
	}
	return false;
}

enum wanted { ZERO, NOT_NEGATIVE, MULTIPLE };

static bool is_wanted(int64_t value, enum wanted wanted, uint64_t number)
{
	return wanted == ZERO ? value == 0 : value >= 0 && (wanted == NOT_NEGATIVE || (uint64_t)value % number == 0);
}

/* True if the form has a value that is wanted at each size. False also if these are too many sizes. */
static bool is_at_all_sizes(struct sk_normals *forms, const struct sk_normal *form, enum wanted wanted, uint64_t number)
{
	bool marks[SK_MAX_DIMENSIONS] = {false};
	int64_t sizes[SK_MAX_DIMENSIONS], value;
	uint64_t count = 1;

	mark_dimensions(forms, form, marks);
	for (uint32_t d = 0; d < forms->dims->dimension_count; d++) {
		const struct sk_normal_variable *variable = &forms->variables.items[d];

		sizes[d] = variable->least;
		if (marks[d] && count <= MOST_SIZES)
			count *= (uint64_t)(variable->most - variable->least) + 1;
	}
	if (count > MOST_SIZES)
		return false;
	do {
		if (forms->looks++ >= MOST_LOOKS || !evaluate(forms, form, sizes, &value) ||
		    !is_wanted(value, wanted, number))
			return false;
	} while (next_sizes(forms, marks, sizes));
	return true;
}

bool sk_normal_at_most(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b)
{
	const struct sk_normal *difference = sk_normal_subtract(forms, b, a);

	return difference && (is_at_least_0(forms, difference, MAX_REPLACEMENTS) ||
			      is_at_all_sizes(forms, difference, NOT_NEGATIVE, 0));
}

bool sk_normal_divides(struct sk_normals *forms, const struct sk_normal *form, uint64_t number)
{
	return divides_terms(form, number) || (form && number && is_at_all_sizes(forms, form, MULTIPLE, number));
}

bool sk_normal_equal(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b)
{
	const struct sk_normal *difference;

	if (is_same(a, b))
		return true;
	difference = sk_normal_subtract(forms, a, b);
	return difference && is_at_all_sizes(forms, difference, ZERO, 0);
}

/* ---- values ---- */

static const struct sk_normal *variable_form(struct sk_normals *forms, uint32_t number, uint64_t multiple)
{
	struct sum sum = {.count = 1};

	sum.terms[0] = (struct sk_normal_term){.coefficient = (int64_t)multiple, .count = 1, .factors = {number}};
	return finish(forms->arena, &sum);
}

static bool same_operands(const struct sk_normal_variable *one, const struct sk_normal_variable *other)
{
	if (one->op != other->op || one->number != other->number || !is_same(one->a, other->a))
		return one->op == other->op && one->op != SK_DIMS_FLOOR && is_same(one->a, other->b) &&
		       is_same(one->b, other->a);
	return one->op == SK_DIMS_FLOOR || is_same(one->b, other->b);
}

static const struct sk_normal *atom_form(struct sk_normals *forms, const struct sk_normal_variable *atom)
{
	uint32_t number = forms->dims->dimension_count;

	while (number < forms->variables.count && !same_operands(&forms->variables.items[number], atom))
		number++;
	if (number == forms->variables.count)
		sk_array_push(forms->arena, &forms->variables, *atom);
	return variable_form(forms, number, 1);
}

/* floor((n*a + b) / n) = a + floor(b / n). All coefficients of b are from 0 to n - 1. */
static const struct sk_normal *floor_form(struct sk_normals *forms, const struct sk_normal *a, uint64_t divisor)
{
	struct sum whole = {.unknown = !a || divisor == 0 || divisor > INT64_MAX}, rest = {0};
	struct sk_normal_variable atom = {.op = SK_DIMS_FLOOR, .number = divisor};
	int64_t number;

	for (uint32_t i = 0; !whole.unknown && i < a->count; i++) {
		struct sk_normal_term term = a->terms[i];
		int64_t n = (int64_t)divisor, left = term.coefficient % n;

		term.coefficient /= n;
		if (left < 0) {
			left += n;
			term.coefficient--;
		}
		add_term(&whole, &term);
		term.coefficient = left;
		add_term(&rest, &term);
	}
	if (whole.unknown)
		return NULL;
	atom.a = finish(forms->arena, &rest);
	if (sk_normal_is_number(atom.a, &number))
		return finish(forms->arena, &whole); /* it is less than the divisor */
	if (!sk_normal_corner(forms, atom.a, false, &atom.least) || !sk_normal_corner(forms, atom.a, true, &atom.most))
		return NULL;
	atom.least /= (int64_t)divisor;
	atom.most /= (int64_t)divisor;
	return sk_normal_add(forms, finish(forms->arena, &whole), atom_form(forms, &atom));
}

const struct sk_normal *sk_normal_quotient(struct sk_normals *forms, const struct sk_normal *a,
					   const struct sk_normal *b)
{
	int64_t number, least, most_a, most_b;

	if (sk_normal_is_number(b, &number))
		return number > 0 && divides_terms(a, (uint64_t)number) ? floor_form(forms, a, (uint64_t)number) : NULL;
	if (find_bounds(forms, a, &least, &most_a) && find_bounds(forms, b, &least, &most_b) && most_b > 0 &&
	    most_a >= 0) {
		const struct sk_normal *constant = sk_normal_number(forms, (uint64_t)(most_a / most_b));

		if (sk_normal_equal(forms, sk_normal_multiply(forms, constant, b), a))
			return constant;
	}
	for (uint32_t i = 0; i < forms->dims->value_count; i++)
		if (is_same(sk_normal_multiply(forms, forms->values[i], b), a))
			return forms->values[i];
	return NULL;
}

/* Reduce the common divisor of terms to one of the form's terms too; a coefficient of 0: there are no terms yet. */
static void find_common(const struct sk_normal *form, struct sk_normal_term *common)
{
	for (uint32_t i = 0; i < form->count; i++) {
		const struct sk_normal_term *term = &form->terms[i];
		uint32_t kept = 0;

		if (!common->coefficient)
			*common = *term;
		common->coefficient = (int64_t)sk_common_divisor((uint64_t)llabs(common->coefficient),
								 (uint64_t)llabs(term->coefficient));
		for (uint32_t j = 0, k = 0; j < common->count; j++) {
			while (k < term->count && term->factors[k] < common->factors[j])
				k++;
			if (k < term->count && term->factors[k] == common->factors[j]) {
				common->factors[kept++] = common->factors[j];
				k++;
			}
		}
		common->count = kept;
	}
}

/* Return the form divided by a term that divides each of its terms. */
static const struct sk_normal *divide_form(struct sk_normals *forms, const struct sk_normal *form,
					   const struct sk_normal_term *divisor)
{
	struct sum sum = {0};

	for (uint32_t i = 0; i < form->count; i++) {
		struct sk_normal_term quotient = {.coefficient = form->terms[i].coefficient / divisor->coefficient};

		for (uint32_t j = 0, k = 0; j < form->terms[i].count; j++)
			if (k < divisor->count && form->terms[i].factors[j] == divisor->factors[k])
				k++;
			else
				quotient.factors[quotient.count++] = form->terms[i].factors[j];
		add_term(&sum, &quotient);
	}
	return finish(forms->arena, &sum);
}

/* Return min(a, b) or max(a, b) as a common factor times an atom: variables are not negative. */
static const struct sk_normal *least_or_most_form(struct sk_normals *forms, enum sk_dims_op op,
						  const struct sk_normal *a, const struct sk_normal *b)
{
	struct sk_normal_variable atom = {.op = (uint8_t)op};
	struct sk_normal_term common = {0};
	struct sum product = {0};
	int64_t least, most;

	if (!a || !b)
		return NULL;
	if (sk_normal_at_most(forms, a, b))
		return op == SK_DIMS_MIN ? a : b;
	if (sk_normal_at_most(forms, b, a))
		return op == SK_DIMS_MIN ? b : a;
	find_common(a, &common);
	find_common(b, &common);
	atom.a = divide_form(forms, a, &common);
	atom.b = divide_form(forms, b, &common);
	if (!sk_normal_corner(forms, atom.a, false, &atom.least) ||
	    !sk_normal_corner(forms, atom.a, true, &atom.most) || !sk_normal_corner(forms, atom.b, false, &least) ||
	    !sk_normal_corner(forms, atom.b, true, &most))
		return NULL;
	atom.least = (least < atom.least) == (op == SK_DIMS_MIN) ? least : atom.least;
	atom.most = (most < atom.most) == (op == SK_DIMS_MIN) ? most : atom.most;
	if (atom.least < 0)
		return NULL;
	add_product(&product, &common, &atom_form(forms, &atom)->terms[0]);
	return finish(forms->arena, &product);
}

const struct sk_normal *sk_normal_least(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b)
{
	return least_or_most_form(forms, SK_DIMS_MIN, a, b);
}

const struct sk_normal *sk_normal_most(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b)
{
	return least_or_most_form(forms, SK_DIMS_MAX, a, b);
}

static const struct sk_normal *subtract_number(struct sk_normals *forms, const struct sk_normal *a, uint64_t number)
{
	int64_t least;

	if (!sk_normal_corner(forms, a, false, &least) || least < 0 || (uint64_t)least < number)
		return NULL;
	return sk_normal_subtract(forms, a, sk_normal_number(forms, number));
}

static const struct sk_normal *make_value(struct sk_normals *forms, const struct sk_dims_value *value)
{
	const struct sk_normal **values = forms->values;

	switch ((enum sk_dims_op)value->op) {
	case SK_DIMS_NUMBER:
		return sk_normal_number(forms, value->number);
	case SK_DIMS_DIMENSION:
		return variable_form(forms, value->a, forms->dims->dimensions[value->a].multiple);
	case SK_DIMS_ADD:
		return sk_normal_add(forms, values[value->a], values[value->b]);
	case SK_DIMS_SUBTRACT:
		return subtract_number(forms, values[value->a], value->number);
	case SK_DIMS_MULTIPLY:
		return sk_normal_multiply(forms, values[value->a], values[value->b]);
	case SK_DIMS_FLOOR:
		return floor_form(forms, values[value->a], value->number);
	case SK_DIMS_MIN:
	case SK_DIMS_MAX:
		return least_or_most_form(forms, (enum sk_dims_op)value->op, values[value->a], values[value->b]);
	default:
		return NULL;
	}
}

void sk_normals_build(struct sk_normals *forms, struct sk_arena *arena, const struct sk_dims_view *dims)
{
	*forms = (struct sk_normals){.arena = arena, .dims = dims};
	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &dims->dimensions[i];

		sk_array_push(arena, &forms->variables,
			      (struct sk_normal_variable){.op = SK_DIMS_DIMENSION,
							  .least = (int64_t)(dimension->least / dimension->multiple),
							  .most = (int64_t)(dimension->most / dimension->multiple)});
	}
	forms->values = sk_arena_alloc(arena, dims->value_count, sizeof(const struct sk_normal *));
	for (uint32_t i = 0; i < dims->value_count; i++)
		forms->values[i] = make_value(forms, &dims->values[i]);
}

const struct sk_normal *sk_normal_value(struct sk_normals *forms, uint32_t value, uint64_t number)
{
	return value == SK_NO_INDEX ? sk_normal_number(forms, number) : forms->values[value];
}
