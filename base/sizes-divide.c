/* Quotients, minima and maxima of sizes, in normal form; see sizes.h and sizes.c. */
#include "base/sizes.h"

#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "base/sizes-terms.h"

static const struct sk_size *negate(struct sk_sizes *sizes, const struct sk_size *a)
{
	return sk_size_subtract(sizes, sk_size_number(sizes, 0), a);
}

static const struct sk_size *multiply_term(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_term *term)
{
	struct sk_form form;

	if (!a)
		return NULL;
	sk_form_init(&form);
	sk_form_add_size(&form, a, term);
	return sk_form_intern(sizes, &form);
}

/* ---- common factors ---- */

/* Keep the part of the term that also divides all terms of the size. */
static void reduce_common(const struct sk_size *size, struct sk_term *common)
{
	for (size_t i = 0; i < size->count; i++) {
		const struct sk_term *term = &size->terms[i];
		struct sk_term kept = {.coefficient = (int64_t)sk_common_divisor((uint64_t)common->coefficient,
										 sk_magnitude(term->coefficient))};

		for (size_t j = 0, k = 0; j < common->count && k < term->count;) {
			uint32_t ours = common->factors[j], theirs = term->factors[k];

			if (ours == theirs)
				kept.factors[kept.count++] = ours;
			j += ours <= theirs;
			k += theirs <= ours;
		}
		*common = kept;
	}
}

/* Find the largest term that divides all terms of the size, and that is at least `least` in all of its factors. */
static struct sk_term common_term(const struct sk_size *size, int64_t least)
{
	struct sk_term common = {.coefficient = (int64_t)sk_magnitude(size->terms[0].coefficient)};

	for (size_t j = 0; j < size->terms[0].count; j++)
		if (size->sizes->atoms.items[size->terms[0].factors[j]]->least >= least)
			common.factors[common.count++] = size->terms[0].factors[j];
	reduce_common(size, &common);
	return common;
}

static bool is_one(const struct sk_term *term)
{
	return term->coefficient == 1 && !term->count;
}

/* Divide a size by a term that divides it. */
static const struct sk_size *divide_by_term(struct sk_sizes *sizes, const struct sk_size *size,
					    const struct sk_term *by)
{
	struct sk_form form;

	sk_form_init(&form);
	for (size_t i = 0; i < size->count; i++) {
		struct sk_term quotient;

		form.failed |= !sk_terms_divide(&size->terms[i], by, &quotient);
		if (!form.failed)
			sk_form_add(&form, &quotient);
	}
	return sk_form_intern(sizes, &form);
}

/* ---- quotients ---- */

/* Divide with a remainder, in which no term is a multiple of the divisor's first one. False on overflow. */
static bool divide(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b,
		   const struct sk_size **quotient, const struct sk_size **rest)
{
	struct sk_form whole, left;

	sk_form_init(&whole);
	sk_form_init(&left);
	sk_form_add_size(&left, a, &(struct sk_term){.coefficient = 1});
	for (size_t steps = 0, i = 0; i < left.count && !left.failed;) {
		struct sk_term part, minus;

		if (!sk_terms_divide(&left.terms[i], &b->terms[0], &part)) {
			i++;
			continue;
		}
		minus = part;
		if (steps++ == SK_FORM_ROOM || part.coefficient == INT64_MIN)
			return false;
		minus.coefficient = -part.coefficient;
		sk_form_add(&whole, &part);
		sk_form_add_size(&left, b, &minus); /* removes the term, and changes only later ones */
	}
	*quotient = sk_form_intern(sizes, &whole);
	*rest = sk_form_intern(sizes, &left);
	return *quotient && *rest;
}

const struct sk_size *sk_size_quotient(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	const struct sk_size *quotient, *rest;

	if (!a || !b || (b->least <= 0 && b->most >= 0))
		return NULL;
	return divide(sizes, a, b, &quotient, &rest) && !rest->count ? quotient : NULL;
}

/* Return floor((floor(x/k) + c) / n) as floor((x + c*k) / (n*k)), for numbers; NULL: it is not of this form. */
static const struct sk_size *merge_floors(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	if (!a->count || a->count > 2 || a->terms[0].count != 1 || a->terms[0].coefficient != 1 ||
	    (a->count == 2 && a->terms[1].count))
		return NULL;

	const struct sk_size_atom *inner = sizes->atoms.items[a->terms[0].factors[0]];
	const struct sk_size *offset = sk_size_number(sizes, a->count == 2 ? a->terms[1].coefficient : 0);

	if (inner->kind != SK_SIZE_FLOOR || !sk_size_is_number(b, NULL) || !sk_size_is_number(inner->b, NULL))
		return NULL;
	return sk_size_floor(sizes, sk_size_add(sizes, inner->a, sk_size_multiply(sizes, offset, inner->b)),
			     sk_size_multiply(sizes, b, inner->b));
}

/* Return floor(a/b) of an a without multiples of b. */
static const struct sk_size *floor_rest(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	const struct sk_size *less = sk_size_subtract(sizes, b, a), *more = sk_size_add(sizes, a, b), *merged;
	int64_t n;

	if (sk_size_is_number(b, &n) && sk_floor_divide(a->least, n) == sk_floor_divide(a->most, n))
		return sk_size_number(sizes, sk_floor_divide(a->least, n));
	if (a->least >= 0 && less && less->least >= 1)
		return sk_size_number(sizes, 0);
	if (a->most < 0 && more && more->least >= 0)
		return sk_size_number(sizes, -1);
	/* The parts of the choice have fewer minima; without those of a divisor, this comes to an end. */
	if (a->choice != SK_SIZE_SUM && !b->minima) {
		const struct sk_size *first = sk_size_floor(sizes, a->first, b);
		const struct sk_size *second = sk_size_floor(sizes, a->second, b);

		return a->choice == SK_SIZE_MIN ? sk_size_min(sizes, first, second) : sk_size_max(sizes, first, second);
	}
	merged = merge_floors(sizes, a, b);
	return merged ? merged : sk_size_floor_atom(sizes, a, b);
}

static bool has_minimum(const struct sk_sizes *sizes, const struct sk_term *term)
{
	for (size_t j = 0; j < term->count; j++)
		if (sizes->atoms.items[term->factors[j]]->kind == SK_SIZE_MIN)
			return true;
	return false;
}

/* Take the multiples of n out of a: whole terms, then parts of terms, but not of those that make a choice. */
static void take_multiples(const struct sk_sizes *sizes, const struct sk_size *a, int64_t n, bool parts,
			   struct sk_form *whole)
{
	sk_form_init(whole);
	for (size_t i = 0; i < a->count; i++) {
		struct sk_term term = a->terms[i];
		bool exact = term.coefficient % n == 0;

		term.coefficient = sk_floor_divide(term.coefficient, n);
		if (exact || !term.count || (parts && !has_minimum(sizes, &term)))
			sk_form_add(whole, &term);
	}
}

/* True if all terms with atoms are negative, and there are some. */
static bool is_negative(const struct sk_size *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->terms[i].count && a->terms[i].coefficient > 0)
			return false;
	return a->count && a->terms[0].count;
}

/* Return floor(a/n) without a common divisor: floor((g*a + c) / (g*n)) is floor((a + floor(c/g)) / n). */
static const struct sk_size *floor_coprime(struct sk_sizes *sizes, const struct sk_size *a, int64_t n)
{
	uint64_t divisor = (uint64_t)n;
	struct sk_form form;

	for (size_t i = 0; i < a->count; i++)
		if (a->terms[i].count)
			divisor = sk_common_divisor(divisor, sk_magnitude(a->terms[i].coefficient));
	if (divisor == 1)
		return floor_rest(sizes, a, sk_size_number(sizes, n));
	sk_form_init(&form);
	for (size_t i = 0; i < a->count; i++) {
		struct sk_term term = a->terms[i];

		term.coefficient = sk_floor_divide(term.coefficient, (int64_t)divisor);
		sk_form_add(&form, &term);
	}
	return sk_size_floor(sizes, sk_form_intern(sizes, &form), sk_size_number(sizes, n / (int64_t)divisor));
}

static const struct sk_size *floor_by_number(struct sk_sizes *sizes, const struct sk_size *a, int64_t n)
{
	const struct sk_size *divisor = sk_size_number(sizes, n);

	for (int parts = 0; parts < 2; parts++) {
		struct sk_form form;

		take_multiples(sizes, a, n, parts, &form);

		const struct sk_size *whole = sk_form_intern(sizes, &form);

		if (!whole)
			return NULL;
		if (whole->count)
			return sk_size_add(
				sizes, whole,
				sk_size_floor(sizes,
					      sk_size_subtract(sizes, a, sk_size_multiply(sizes, whole, divisor)),
					      divisor));
		/* -ceil(-a/n): its atom grows where a shrinks. */
		if (!parts && is_negative(a))
			return negate(sizes, sk_size_ceil(sizes, negate(sizes, a), divisor));
	}
	return floor_coprime(sizes, a, n);
}

const struct sk_size *sk_size_floor(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	const struct sk_size *quotient, *rest;
	int64_t n;

	if (!a || !b || b->least < 1)
		return NULL;
	if (sk_size_is_number(b, &n))
		return n == 1 || !a->count ? a : floor_by_number(sizes, a, n);

	struct sk_term common = common_term(b, 1);

	reduce_common(a, &common);
	if (!is_one(&common))
		return sk_size_floor(sizes, divide_by_term(sizes, a, &common), divide_by_term(sizes, b, &common));
	if (!divide(sizes, a, b, &quotient, &rest))
		return NULL;
	return quotient->count ? sk_size_add(sizes, quotient, sk_size_floor(sizes, rest, b)) : floor_rest(sizes, a, b);
}

const struct sk_size *sk_size_ceil(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	const struct sk_size *more = sk_size_subtract(sizes, sk_size_add(sizes, a, b), sk_size_number(sizes, 1));

	return sk_size_floor(sizes, more, b);
}

const struct sk_size *sk_size_modulo(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	return sk_size_subtract(sizes, a, sk_size_multiply(sizes, b, sk_size_floor(sizes, a, b)));
}

/* ---- minima and maxima ---- */

/* Return min(d,0). Of d, -d and their multiples one has an atom. */
static const struct sk_size *minimum_with_zero(struct sk_sizes *sizes, const struct sk_size *d)
{
	if (!d)
		return NULL;
	if (d->least >= 0)
		return sk_size_number(sizes, 0);
	if (d->most <= 0)
		return d;

	struct sk_term common = common_term(d, 0);

	if (!is_one(&common))
		return multiply_term(sizes, minimum_with_zero(sizes, divide_by_term(sizes, d, &common)), &common);
	if (d->terms[0].coefficient < 0)
		return sk_size_add(sizes, minimum_with_zero(sizes, negate(sizes, d)), d);

	struct sk_size_atom atom = {.a = d,
				    .kind = SK_SIZE_MIN,
				    .weight = d->weight + 1,
				    .least = d->least,
				    .most = 0,
				    .grows = d->grows,
				    .shrinks = d->shrinks};

	return sk_size_of_atom(sizes, atom);
}

const struct sk_size *sk_size_min(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	return sk_size_add(sizes, b, minimum_with_zero(sizes, sk_size_subtract(sizes, a, b)));
}

const struct sk_size *sk_size_max(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b)
{
	return sk_size_subtract(sizes, a, minimum_with_zero(sizes, sk_size_subtract(sizes, a, b)));
}
