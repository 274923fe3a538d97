/* Sizes in normal form; see sizes.h. A size is a sum of terms: an integer times a product of *atoms*. Atoms are the
 * dimensions (divided by their multiple), floor(a/b), and min(a,0), by which min(a,b) is b + min(a-b,0) and max(a,b) is
 * a - min(a-b,0); so equal terms of minima and maxima cancel as those of sums do. Terms, sizes and atoms exist once:
 * equal ones have one address. A sum in which a single term has an atom min(d,0) is also min(first,second) or
 * max(first,second), by which its bounds are found and its text is written.
 *
 * Whatever a text asks for, work is bounded: a size has few terms, few factors, a limited weight (the length of its
 * text) and values below 2^62 in all partial results, so evaluation needs no checks. */
#include "base/sizes.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/sizes-terms.h"

enum {
	MAX_WEIGHT = 256, /* terms, factors and operands of a size, and of those in its atoms */
	MAX_CHOICES = 4, /* minima and maxima of a size that is also written as a choice */
	MAX_REFINED = 5, /* floors of a size that are replaced by their bounds */
};

#define LIMIT (INT64_C(1) << 62)

/* ---- terms ---- */

/* Order terms by degree, the highest first, then by their atoms. */
static int order_terms(const struct sk_term *a, const struct sk_term *b)
{
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	for (size_t i = 0; i < a->count; i++)
		if (a->factors[i] != b->factors[i])
			return a->factors[i] < b->factors[i] ? -1 : 1;
	return 0;
}

static bool multiply_terms(const struct sk_term *a, const struct sk_term *b, struct sk_term *product)
{
	size_t i = 0, j = 0;

	memset(product, 0, sizeof(*product));
	if (a->count + b->count > SK_SIZE_MAX_FACTORS ||
	    __builtin_mul_overflow(a->coefficient, b->coefficient, &product->coefficient))
		return false;
	while (i < a->count || j < b->count) {
		bool first = j == b->count || (i < a->count && a->factors[i] <= b->factors[j]);

		product->factors[product->count++] = first ? a->factors[i++] : b->factors[j++];
	}
	return true;
}

/* Divide the term, or return false if it is not a multiple. */
bool sk_terms_divide(const struct sk_term *a, const struct sk_term *b, struct sk_term *quotient)
{
	size_t j = 0;

	memset(quotient, 0, sizeof(*quotient));
	if (a->coefficient == INT64_MIN || a->coefficient % b->coefficient != 0 || b->count > a->count)
		return false;
	quotient->coefficient = a->coefficient / b->coefficient;
	for (size_t i = 0; i < a->count; i++) {
		if (j < b->count && a->factors[i] == b->factors[j])
			j++;
		else
			quotient->factors[quotient->count++] = a->factors[i];
	}
	return j == b->count;
}

/* ---- forms ---- */

void sk_form_add(struct sk_form *form, const struct sk_term *term)
{
	size_t low = 0, high = form->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = order_terms(&form->terms[middle], term);

		if (!order) {
			struct sk_term *same = &form->terms[middle];

			form->failed |=
				__builtin_add_overflow(same->coefficient, term->coefficient, &same->coefficient);
			if (!same->coefficient)
				memmove(same, same + 1, (--form->count - middle) * sizeof(*same));
			return;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!term->coefficient)
		return;
	if (form->count == SK_FORM_ROOM) {
		form->failed = true;
		return;
	}
	memmove(&form->terms[low + 1], &form->terms[low], (form->count++ - low) * sizeof(*term));
	form->terms[low] = *term;
}

void sk_form_init(struct sk_form *form)
{
	form->count = 0;
	form->failed = false;
}

static void form_add_number(struct sk_form *form, int64_t number)
{
	struct sk_term term = {.coefficient = number};

	sk_form_add(form, &term);
}

/* Add the terms of a size, each times a term. */
void sk_form_add_size(struct sk_form *form, const struct sk_size *size, const struct sk_term *times)
{
	for (size_t i = 0; i < size->count; i++) {
		struct sk_term product;

		if (multiply_terms(&size->terms[i], times, &product))
			sk_form_add(form, &product);
		else
			form->failed = true;
	}
}

static const struct sk_term ONE = {.coefficient = 1}, MINUS_ONE = {.coefficient = -1};

/* ---- integers ---- */

uint64_t sk_magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

int64_t sk_floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* ---- values ---- */

static int64_t atom_at(const struct sk_sizes *sizes, const struct sk_size_atom *atom, const uint64_t *values)
{
	if (atom->kind == SK_SIZE_DIMENSION)
		return (int64_t)(values[atom->dimension] / sizes->dimensions.items[atom->dimension].multiple);

	int64_t a = sk_size_at(atom->a, values);

	if (atom->kind == SK_SIZE_FLOOR) {
		int64_t divisor = sk_size_at(atom->b, values);

		return divisor > 0 ? sk_floor_divide(a, divisor) : 0;
	}
	return a < 0 ? a : 0;
}

int64_t sk_size_at(const struct sk_size *size, const uint64_t *values)
{
	int64_t sum = 0;

	for (size_t i = 0; i < size->count; i++) {
		const struct sk_term *term = &size->terms[i];
		int64_t product = term->coefficient;

		for (size_t j = 0; j < term->count; j++)
			product *= atom_at(size->sizes, size->sizes->atoms.items[term->factors[j]], values);
		sum += product;
	}
	return sum;
}

/* ---- bounds of a new size ---- */

struct interval {
	int64_t least, most;
};

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct interval meet(struct interval a, struct interval b)
{
	return (struct interval){larger(a.least, b.least), smaller(a.most, b.most)};
}

/* Compute the interval of the sum of terms, with atoms that take any of their values. False if a partial result of an
 * evaluation could reach the limit. */
static bool bound_terms(const struct sk_sizes *sizes, const struct sk_term *terms, size_t count,
			struct interval *bounds)
{
	int64_t sum = 0;

	*bounds = (struct interval){0, 0};
	for (size_t i = 0; i < count; i++) {
		struct interval product = {terms[i].coefficient, terms[i].coefficient};
		int64_t largest = terms[i].coefficient;

		if (largest <= -LIMIT || largest >= LIMIT)
			return false;
		largest = largest < 0 ? -largest : largest;
		for (size_t j = 0; j < terms[i].count; j++) {
			const struct sk_size_atom *atom = sizes->atoms.items[terms[i].factors[j]];
			int64_t most = larger(1, larger(-atom->least, atom->most)); /* one of the others may be 0 */

			if (__builtin_mul_overflow(largest, most, &largest) || largest >= LIMIT)
				return false;

			int64_t a = product.least * atom->least, b = product.least * atom->most;
			int64_t c = product.most * atom->least, d = product.most * atom->most;

			product.least = smaller(smaller(a, b), smaller(c, d));
			product.most = larger(larger(a, b), larger(c, d));
		}
		sum += largest;
		if (sum >= LIMIT)
			return false;
		bounds->least += product.least;
		bounds->most += product.most;
	}
	return true;
}

/* Replace each atom by its least value plus a variable of at least 0, which the result has in place of the atom. */
void sk_size_shift(const struct sk_size *size, struct sk_form *shifted)
{
	sk_form_init(shifted);
	for (size_t i = 0; i < size->count && !shifted->failed; i++) {
		const struct sk_term *term = &size->terms[i];
		struct sk_term parts[1 << SK_SIZE_MAX_FACTORS];
		size_t count = 1;

		parts[0] = (struct sk_term){.coefficient = term->coefficient};
		for (size_t j = 0; j < term->count; j++) {
			int64_t least = size->sizes->atoms.items[term->factors[j]]->least;

			for (size_t k = 0; k < count; k++) {
				parts[count + k] = parts[k];
				parts[k].factors[parts[k].count++] = term->factors[j];
				/* In bounds: bound_terms has seen larger products. */
				parts[count + k].coefficient *= least;
			}
			count *= least ? 2 : 1;
		}
		for (size_t k = 0; k < count; k++)
			sk_form_add(shifted, &parts[k]);
	}
}

static struct interval bound_shifted(const struct sk_sizes *sizes, const struct sk_form *shifted)
{
	struct interval bounds = {0, 0};

	for (size_t i = 0; i < shifted->count; i++) {
		const struct sk_term *term = &shifted->terms[i];
		int64_t product = term->coefficient;
		bool failed = false;

		for (size_t j = 0; j < term->count; j++) {
			const struct sk_size_atom *atom = sizes->atoms.items[term->factors[j]];

			failed |= __builtin_mul_overflow(product, atom->most - atom->least, &product);
		}
		failed |= !term->count && (__builtin_add_overflow(bounds.least, product, &bounds.least) ||
					   __builtin_add_overflow(bounds.most, product, &bounds.most));
		if (term->count)
			failed |= product < 0 ? __builtin_add_overflow(bounds.least, product, &bounds.least)
					      : __builtin_add_overflow(bounds.most, product, &bounds.most);
		if (failed)
			return (struct interval){INT64_MIN, INT64_MAX};
	}
	return bounds;
}

/* Set whether the sum grows or shrinks with all dimensions: its variables do, and each of its terms. */
static void direct(const struct sk_sizes *sizes, const struct sk_form *shifted, struct sk_size *size)
{
	size->grows = size->shrinks = !shifted->failed;
	for (size_t i = 0; i < shifted->count; i++) {
		const struct sk_term *term = &shifted->terms[i];

		for (size_t j = 0; j < term->count; j++) {
			const struct sk_size_atom *atom = sizes->atoms.items[term->factors[j]];

			size->grows &= term->coefficient > 0 ? atom->grows : atom->shrinks;
			size->shrinks &= term->coefficient > 0 ? atom->shrinks : atom->grows;
		}
	}
}

/* Find the newest atom of the kind, which may have the others in it; SK_NONE: there is none. */
static uint32_t newest_atom(const struct sk_size *size, enum sk_size_kind kind)
{
	uint32_t newest = SK_NONE;

	for (size_t i = 0; i < size->count; i++)
		for (size_t j = 0; j < size->terms[i].count; j++) {
			uint32_t atom = size->terms[i].factors[j];

			if (size->sizes->atoms.items[atom]->kind == kind && (newest == SK_NONE || atom > newest))
				newest = atom;
		}
	return newest;
}

/* Write the sum as times * atom + rest. False if the atom has a power. */
static bool split(const struct sk_size *size, uint32_t atom, struct sk_form *times, struct sk_form *rest)
{
	const struct sk_term factor = {.coefficient = 1, .count = 1, .factors = {atom}};

	sk_form_init(times);
	sk_form_init(rest);
	for (size_t i = 0; i < size->count; i++) {
		struct sk_term quotient, again;

		if (!sk_terms_divide(&size->terms[i], &factor, &quotient)) {
			sk_form_add(rest, &size->terms[i]);
			continue;
		}
		if (sk_terms_divide(&quotient, &factor, &again))
			return false;
		sk_form_add(times, &quotient);
	}
	return true;
}

/* Add the product of the two sums to the form. */
static void add_product(struct sk_form *form, const struct sk_size *size, const struct sk_form *times)
{
	for (size_t i = 0; i < times->count; i++)
		sk_form_add_size(form, size, &times->terms[i]);
}

/* Write a sum as a choice: rest + t*min(d,0) is min(rest + t*d, rest), or their maximum if t is negative. t has at most
 * so many terms. */
static void find_choice(struct sk_sizes *sizes, struct sk_size *size, size_t most_terms)
{
	uint32_t atom = newest_atom(size, SK_SIZE_MIN);
	struct sk_form times, first, second;
	const struct sk_size *factor;

	size->choice = SK_SIZE_SUM;
	if (atom == SK_NONE || size->minima > MAX_CHOICES || !split(size, atom, &times, &second) ||
	    times.count > most_terms)
		return;
	factor = sk_form_intern(sizes, &times);
	if (!factor || (factor->least < 0 && factor->most > 0))
		return;
	first = second;
	add_product(&first, sizes->atoms.items[atom]->a, &times);
	size->first = sk_form_intern(sizes, &first);
	size->second = sk_form_intern(sizes, &second);
	if (size->first && size->second)
		size->choice = factor->least >= 0 ? SK_SIZE_MIN : SK_SIZE_MAX;
}

/* Write rest + t*min(d,0), which is the choice of rest + t*d and rest, as rest + t*d - t*max(d,0). */
static void find_lifted(struct sk_sizes *sizes, struct sk_size *size)
{
	uint32_t atom = newest_atom(size, SK_SIZE_MIN);
	const struct sk_size *d = atom == SK_NONE ? NULL : sizes->atoms.items[atom]->a, *factor;
	struct sk_form times, rest;

	if (!d || !split(size, atom, &times, &rest))
		return;
	for (size_t i = 0; i < times.count; i++)
		times.terms[i].coefficient = -times.terms[i].coefficient;
	factor = sk_form_intern(sizes, &times);
	if (!factor || factor->least < 0 || !factor->grows || !d->grows || !size->first->grows)
		return;
	size->factor = factor;
	size->lifted = d;
	size->grows = true;
}

static struct interval bound_choice(const struct sk_size *size)
{
	const struct sk_size *a = size->first, *b = size->second;

	if (size->choice == SK_SIZE_MIN)
		return (struct interval){smaller(a->least, b->least), smaller(a->most, b->most)};
	return (struct interval){larger(a->least, b->least), larger(a->most, b->most)};
}

/* Bound a sum that has times * floor(a/n), by n * floor(a/n), which is from a - (n-1) to a. */
static struct interval bound_floor(struct sk_sizes *sizes, const struct sk_size *size)
{
	struct interval bounds = {INT64_MIN, INT64_MAX};
	uint32_t number = newest_atom(size, SK_SIZE_FLOOR);
	struct sk_form times, rest, sum;
	int64_t n;

	if (number == SK_NONE || !sk_size_is_number(sizes->atoms.items[number]->b, &n) ||
	    !split(size, number, &times, &rest))
		return bounds;

	const struct sk_size *factor = sk_form_intern(sizes, &times), *others = sk_form_intern(sizes, &rest);
	const struct sk_term by = {.coefficient = n}, less = {.coefficient = -(n - 1)};

	if (!factor || !others || (factor->least < 0 && factor->most > 0))
		return bounds;
	sk_form_init(&sum);
	sk_form_add_size(&sum, others, &by);
	for (size_t i = 0; i < factor->count; i++)
		sk_form_add_size(&sum, sizes->atoms.items[number]->a, &factor->terms[i]);

	const struct sk_size *one = sk_form_intern(sizes, &sum);

	sk_form_add_size(&sum, factor, &less);

	const struct sk_size *other = sk_form_intern(sizes, &sum);
	const struct sk_size *low = factor->least < 0 ? one : other, *high = factor->least < 0 ? other : one;

	if (low)
		bounds.least = -sk_floor_divide(-low->least, n);
	if (high)
		bounds.most = sk_floor_divide(high->most, n);
	return bounds;
}

/* Find a quotient by a number in the term. */
static const struct sk_size_atom *find_quotient(const struct sk_sizes *sizes, const struct sk_term *term, int64_t *by,
						struct sk_term *rest)
{
	for (size_t j = 0; j < term->count; j++) {
		const struct sk_size_atom *atom = sizes->atoms.items[term->factors[j]];
		const struct sk_term factor = {.coefficient = 1, .count = 1, .factors = {term->factors[j]}};

		if (atom->kind == SK_SIZE_FLOOR && sk_size_is_number(atom->b, by) && *by > 1 &&
		    sk_terms_divide(term, &factor, rest))
			return atom;
	}
	return NULL;
}

/* Return the least sum of terms of which n times subtracts no term of the size. */
static const struct sk_size *cover(struct sk_sizes *sizes, const struct sk_size *size, int64_t n)
{
	struct sk_form form;

	sk_form_init(&form);
	for (size_t i = 0; i < size->count; i++) {
		struct sk_term term = size->terms[i];

		term.coefficient = -sk_floor_divide(-term.coefficient, n);
		if (term.count && term.coefficient > 0)
			sk_form_add(&form, &term);
	}
	return sk_form_intern(sizes, &form);
}

/* Return the size with other quotients for those that it subtracts: s - floor((s+1)/2) is floor(s/2). -floor(a/n) is
 * floor((n*s - a + n-1)/n) - s for any s. NULL: it subtracts none by a number. */
static const struct sk_size *complement(const struct sk_size *size)
{
	struct sk_sizes *sizes = size->sizes;
	struct sk_form form;
	bool found = false;

	sk_form_init(&form);
	for (size_t i = 0; i < size->count && !form.failed; i++) {
		struct sk_term rest;
		int64_t n;
		const struct sk_size_atom *atom =
			size->terms[i].coefficient < 0 ? find_quotient(sizes, &size->terms[i], &n, &rest) : NULL;

		if (!atom) {
			sk_form_add(&form, &size->terms[i]);
			continue;
		}

		const struct sk_size *by = atom->b, *s = cover(sizes, atom->a, n);
		const struct sk_size *of = sk_size_subtract(sizes, sk_size_multiply(sizes, by, s), atom->a);

		of = sk_size_add(sizes, of, sk_size_number(sizes, n - 1));
		of = of && !sk_size_is_number(of, NULL) ? sk_size_floor_atom(sizes, of, by) : NULL;
		if (!of)
			return NULL;
		sk_form_add_size(&form, s, &rest);
		rest.coefficient = -rest.coefficient;
		sk_form_add_size(&form, of, &rest);
		found = true;
	}
	return found && !form.failed ? sk_form_intern(sizes, &form) : NULL;
}

/* Set direction and bounds of a new size. False if it can be too large. */
static bool measure(struct sk_sizes *sizes, struct sk_size *size)
{
	struct interval bounds;
	struct sk_form shifted;

	if (!bound_terms(sizes, size->terms, size->count, &bounds))
		return false;
	find_choice(sizes, size, 1);
	sk_size_shift(size, &shifted);
	direct(sizes, &shifted, size);
	if (size->choice == SK_SIZE_SUM && !size->grows && !size->shrinks)
		find_choice(sizes, size, SK_SIZE_MAX_TERMS);
	if (size->choice != SK_SIZE_SUM) {
		size->grows |= size->first->grows && size->second->grows;
		size->shrinks |= size->first->shrinks && size->second->shrinks;
	}
	if (size->choice == SK_SIZE_MAX && (!size->grows || size->first->least < 0 || size->second->least < 0))
		find_lifted(sizes, size);
	if (!size->grows && !size->shrinks && size->floors <= MAX_REFINED) {
		size->same = complement(size);
		size->same = size->same && size->same->grows ? size->same : NULL;
		size->grows = size->same != NULL;
	}
	if (size->grows || size->shrinks) {
		size->least = sk_size_at(size, size->grows ? sizes->leasts.items : sizes->mosts.items);
		size->most = sk_size_at(size, size->grows ? sizes->mosts.items : sizes->leasts.items);
		return true;
	}
	if (!shifted.failed)
		bounds = meet(bounds, bound_shifted(sizes, &shifted));
	if (size->choice != SK_SIZE_SUM)
		bounds = meet(bounds, bound_choice(size));
	if (size->floors <= MAX_REFINED)
		bounds = meet(bounds, bound_floor(sizes, size));
	size->least = bounds.least;
	size->most = bounds.most;
	return true;
}

/* ---- interning ---- */

static uint64_t weigh(const struct sk_sizes *sizes, const struct sk_form *form)
{
	uint64_t weight = form->count;

	for (size_t i = 0; i < form->count; i++)
		for (size_t j = 0; j < form->terms[i].count; j++)
			weight += sizes->atoms.items[form->terms[i].factors[j]]->weight;
	return weight;
}

/* Count the floors and minima in the size, and in their operands. Each replacement of the newest one by its operands
 * leaves fewer of them, which bounds the work of find_choice and bound_floor. */
static void count_atoms(struct sk_size *size)
{
	uint32_t seen[MAX_WEIGHT], count = 0;

	for (size_t i = 0; i < size->count; i++)
		for (size_t j = 0; j < size->terms[i].count; j++) {
			uint32_t number = size->terms[i].factors[j], k = 0;
			const struct sk_size_atom *atom = size->sizes->atoms.items[number];

			if (atom->kind == SK_SIZE_DIMENSION)
				continue;
			while (k < count && seen[k] != number)
				k++;
			if (k < count)
				continue;
			seen[count++] = number;
			size->floors +=
				(atom->kind == SK_SIZE_FLOOR) + atom->a->floors + (atom->b ? atom->b->floors : 0);
			size->minima += (atom->kind == SK_SIZE_MIN) + atom->a->minima + (atom->b ? atom->b->minima : 0);
		}
}

const struct sk_size *sk_form_intern(struct sk_sizes *sizes, const struct sk_form *form)
{
	size_t bytes = form->count * sizeof(form->terms[0]);

	if (form->failed || form->count > SK_SIZE_MAX_TERMS)
		return NULL;

	uint32_t known = sk_map_find(&sizes->sizes_by_terms, (const char *)form->terms, bytes);

	if (known != SK_NONE)
		return sizes->all.items[known];

	uint64_t weight = weigh(sizes, form);

	if (weight > MAX_WEIGHT)
		return NULL;

	struct sk_size *size = sk_arena_alloc(sizes->arena, 1, sizeof(*size) + bytes);

	size->sizes = sizes;
	size->count = (uint32_t)form->count;
	size->weight = (uint32_t)weight;
	memcpy(size->terms, form->terms, bytes);
	count_atoms(size);
	if (!measure(sizes, size))
		return NULL;
	sk_map_insert(&sizes->sizes_by_terms, (const char *)size->terms, bytes, (uint32_t)sizes->all.count);
	sk_array_push(sizes->arena, &sizes->all, size);
	return size;
}

/* Return the atom as a size. */
const struct sk_size *sk_size_of_atom(struct sk_sizes *sizes, struct sk_size_atom atom)
{
	uint32_t number = sk_map_find(&sizes->atoms_by_key, (const char *)&atom, SK_ATOM_KEY);
	struct sk_form form;

	if (number == SK_NONE) {
		struct sk_size_atom *copy = SK_NEW(sizes->arena, struct sk_size_atom);

		number = (uint32_t)sizes->atoms.count;
		*copy = atom;
		sk_array_push(sizes->arena, &sizes->atoms, copy);
		sk_map_insert(&sizes->atoms_by_key, (const char *)copy, SK_ATOM_KEY, number);
	}
	sk_form_init(&form);
	sk_form_add(&form, &(struct sk_term){.coefficient = 1, .count = 1, .factors = {number}});
	return sk_form_intern(sizes, &form);
}

const struct sk_size *sk_size_floor_atom(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	bool fixed = sk_size_is_number(b, NULL), positive = a->least >= 0;
	struct sk_size_atom atom = {
		.a = a,
		.b = b,
		.kind = SK_SIZE_FLOOR,
		.weight = a->weight + b->weight + 1,
		.least = sk_floor_divide(a->least, a->least < 0 ? b->least : b->most),
		.most = sk_floor_divide(a->most, a->most < 0 ? b->most : b->least),
		.grows = a->grows && (fixed || (positive && b->shrinks)),
		.shrinks = a->shrinks && (fixed || (positive && b->grows)),
	};

	return sk_size_of_atom(sizes, atom);
}

struct sk_sizes *sk_sizes_create(struct sk_arena *arena)
{
	struct sk_sizes *sizes = SK_NEW(arena, struct sk_sizes);

	sizes->arena = arena;
	sk_map_init(&sizes->atoms_by_key, arena);
	sk_map_init(&sizes->sizes_by_terms, arena);
	sk_map_init(&sizes->dimensions_by_name, arena);
	return sizes;
}

/* Return the name after its network; *length is that of the name before. */
static const char *network_name(struct sk_arena *arena, const char *network, const char *name, size_t *length)
{
	const char *key = network ? sk_arena_print(arena, "%s\n%.*s", network, (int)*length, name) : name;

	*length += network ? strlen(network) + 1 : 0;
	return key;
}

const struct sk_size *sk_sizes_add_dimension(struct sk_sizes *sizes, const struct sk_size_dimension *dimension)
{
	uint64_t multiple = dimension->multiple, number = sizes->dimensions.count;
	size_t length = strlen(dimension->name);
	const char *name = network_name(sizes->arena, dimension->network, dimension->name, &length);
	const struct sk_size *variable;

	sk_array_push(sizes->arena, &sizes->dimensions, *dimension);
	sk_array_push(sizes->arena, &sizes->leasts, dimension->least);
	sk_array_push(sizes->arena, &sizes->mosts, dimension->most);
	if (dimension->least == dimension->most) {
		variable = sk_size_number(sizes, (int64_t)dimension->least);
	} else {
		struct sk_size_atom atom = {.dimension = number,
					    .kind = SK_SIZE_DIMENSION,
					    .weight = 1,
					    .least = (int64_t)(dimension->least / multiple),
					    .most = (int64_t)(dimension->most / multiple),
					    .grows = true};
		const struct sk_size *inner = sk_size_of_atom(sizes, atom);

		variable = sk_size_multiply(sizes, sk_size_number(sizes, (int64_t)multiple), inner);
	}
	sk_array_push(sizes->arena, &sizes->variables, variable);
	sk_map_insert(&sizes->dimensions_by_name, name, length, (uint32_t)number);
	return variable;
}

size_t sk_sizes_count(const struct sk_sizes *sizes)
{
	return sizes->dimensions.count;
}

const struct sk_size_dimension *sk_sizes_dimension(const struct sk_sizes *sizes, size_t number)
{
	return &sizes->dimensions.items[number];
}

const struct sk_size *sk_sizes_variable(const struct sk_sizes *sizes, size_t number)
{
	return sizes->variables.items[number];
}

uint32_t sk_sizes_find(const struct sk_sizes *sizes, const char *network, const char *name, size_t length)
{
	const char *key = network_name(sizes->arena, network, name, &length);

	return sk_map_find(&sizes->dimensions_by_name, key, length);
}

/* ---- sums and products ---- */

const struct sk_size *sk_size_number(struct sk_sizes *sizes, int64_t number)
{
	struct sk_form form;

	sk_form_init(&form);
	form_add_number(&form, number);
	return sk_form_intern(sizes, &form);
}

static const struct sk_size *add_times(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b,
				       const struct sk_term *times)
{
	struct sk_form form;

	if (!a || !b)
		return NULL;
	sk_form_init(&form);
	sk_form_add_size(&form, a, &ONE);
	sk_form_add_size(&form, b, times);
	return sk_form_intern(sizes, &form);
}

const struct sk_size *sk_size_add(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	return add_times(sizes, a, b, &ONE);
}

const struct sk_size *sk_size_subtract(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	return add_times(sizes, a, b, &MINUS_ONE);
}

const struct sk_size *sk_size_multiply(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	struct sk_form form;

	if (!a || !b)
		return NULL;
	sk_form_init(&form);
	for (size_t i = 0; i < b->count && !form.failed; i++)
		sk_form_add_size(&form, a, &b->terms[i]);
	return sk_form_intern(sizes, &form);
}

/* ---- questions ---- */

bool sk_size_is_number(const struct sk_size *size, int64_t *number)
{
	if (size->count && size->terms[0].count)
		return false;
	if (number)
		*number = size->least;
	return true;
}

int64_t sk_size_least(const struct sk_size *size)
{
	return size->least;
}

int64_t sk_size_most(const struct sk_size *size)
{
	return size->most;
}

bool sk_size_grows(const struct sk_size *size)
{
	return size->grows;
}

/* True if the sum is never 0, since its terms with atoms have a common divisor that its number lacks. */
static bool is_never_zero(const struct sk_size *size)
{
	uint64_t divisor = 0;

	for (size_t i = 0; i + 1 < size->count; i++)
		divisor = sk_common_divisor(divisor, sk_magnitude(size->terms[i].coefficient));

	const struct sk_term *last = size->count ? &size->terms[size->count - 1] : NULL;

	return last && !last->count && divisor && sk_magnitude(last->coefficient) % divisor != 0;
}

enum sk_size_order sk_size_compare(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	const struct sk_size *difference = sk_size_subtract(sizes, a, b);

	if (!difference)
		return SK_SIZE_UNKNOWN;
	if (!difference->least && !difference->most)
		return SK_SIZE_EQUAL;
	if (difference->most < 0)
		return SK_SIZE_LESS;
	if (difference->least > 0)
		return SK_SIZE_GREATER;

	bool different = is_never_zero(difference);

	if (!difference->most)
		return different ? SK_SIZE_LESS : SK_SIZE_LESS_OR_EQUAL;
	if (!difference->least)
		return different ? SK_SIZE_GREATER : SK_SIZE_GREATER_OR_EQUAL;
	return different ? SK_SIZE_DIFFERENT : SK_SIZE_UNKNOWN;
}

bool sk_size_has(const struct sk_size *size, size_t dimension)
{
	for (size_t i = 0; i < size->count; i++)
		for (size_t j = 0; j < size->terms[i].count; j++) {
			const struct sk_size_atom *atom = size->sizes->atoms.items[size->terms[i].factors[j]];

			if (atom->kind == SK_SIZE_DIMENSION ? atom->dimension == dimension
							    : sk_size_has(atom->a, dimension))
				return true;
			if (atom->b && sk_size_has(atom->b, dimension))
				return true;
		}
	return false;
}

/* ---- differences ---- */

/* Small values come early: a reader sees the reason in them. */
static uint64_t choose_value(const struct sk_size_dimension *dimension, size_t number, uint32_t attempt)
{
	uint64_t count = (dimension->most - dimension->least) / dimension->multiple + 1;
	uint64_t hash = (attempt * UINT64_C(0x9e3779b97f4a7c15)) ^ ((number + 1) * UINT64_C(0xc2b2ae3d27d4eb4f));

	hash ^= hash >> 29;
	hash *= UINT64_C(0xbf58476d1ce4e5b9);
	hash ^= hash >> 32;
	if (attempt < 2)
		hash = attempt ? count - 1 : 0;
	else if (attempt < 64)
		hash %= 2 + attempt / 4;
	else if (attempt % 4 == 3)
		hash = hash & 1 ? count - 1 : 0;
	return dimension->least + hash % count * dimension->multiple;
}

void sk_sizes_choose(const struct sk_sizes *sizes, uint32_t attempt, uint64_t *values)
{
	for (size_t i = 0; i < sizes->dimensions.count; i++)
		values[i] = choose_value(&sizes->dimensions.items[i], i, attempt);
}

bool sk_size_differ(const struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b, uint64_t *values)
{
	enum { ATTEMPTS = 512 };

	for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
		for (size_t i = 0; i < sizes->dimensions.count; i++) {
			const struct sk_size_dimension *dimension = &sizes->dimensions.items[i];
			bool matters = sk_size_has(a, i) || sk_size_has(b, i);

			values[i] = matters ? choose_value(dimension, i, attempt) : dimension->usual;
		}
		if (sk_size_at(a, values) != sk_size_at(b, values))
			return true;
	}
	return false;
}
