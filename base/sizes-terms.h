/* Terms of sizes, for the files of sizes.h only. */
#ifndef SK_BASE_SIZES_TERMS_H
#define SK_BASE_SIZES_TERMS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"

struct sk_term {
	int64_t coefficient;
	uint64_t count;
	uint32_t factors[SK_SIZE_MAX_FACTORS]; /* atoms in ascending order; zero after `count` */
};

struct sk_size {
	struct sk_sizes *sizes;
	int64_t least, most;
	const struct sk_size *first, *second; /* of a choice */
	const struct sk_size *same; /* an equal sum without subtracted quotients, which grows; NULL: none */
	const struct sk_size *factor, *lifted; /* a choice that is first + factor * max(lifted,0), and all three grow;
						  NULL: it is none */
	enum sk_size_kind choice; /* SK_SIZE_MIN, SK_SIZE_MAX: of the two; SK_SIZE_SUM: there is none */
	uint32_t count, weight;
	uint32_t floors, minima; /* also in operands */
	bool grows, shrinks;
	struct sk_term terms[]; /* without zeros; the highest degree first */
};

struct sk_size_atom {
	const struct sk_size *a, *b; /* FLOOR: a/b; MIN: min(a,0) */
	uint64_t dimension;
	enum sk_size_kind kind; /* DIMENSION, FLOOR, MIN */
	uint32_t weight;
	int64_t least, most;
	bool grows, shrinks;
};

/* The part of an atom by which it is found. */
enum { SK_ATOM_KEY = offsetof(struct sk_size_atom, kind) + sizeof(enum sk_size_kind) };

struct sk_sizes {
	struct sk_arena *arena;
	SK_ARRAY(struct sk_size_dimension) dimensions;
	SK_ARRAY(const struct sk_size *) variables; /* by dimension */
	SK_ARRAY(uint64_t) leasts; /* by dimension */
	SK_ARRAY(uint64_t) mosts;
	SK_ARRAY(struct sk_size_atom *) atoms;
	SK_ARRAY(struct sk_size *) all;
	struct sk_map atoms_by_key, sizes_by_terms, dimensions_by_name; /* a name begins with its network */
};

enum { SK_FORM_ROOM = 2 * SK_SIZE_MAX_TERMS };

/* A sum that is being computed. */
struct sk_form {
	size_t count;
	bool failed; /* a coefficient has overflowed, or it has too many terms */
	struct sk_term terms[SK_FORM_ROOM];
};

/* Divide the term; false if it is not a multiple. */
bool sk_terms_divide(const struct sk_term *a, const struct sk_term *b, struct sk_term *quotient);

void sk_form_init(struct sk_form *form);
void sk_form_add(struct sk_form *form, const struct sk_term *term);

/* Add the terms of a size, each times a term. */
void sk_form_add_size(struct sk_form *form, const struct sk_size *size, const struct sk_term *times);

/* Return the sum as a size; NULL: it cannot be represented. */
const struct sk_size *sk_form_intern(struct sk_sizes *sizes, const struct sk_form *form);

/* Return the atom as a size. */
const struct sk_size *sk_size_of_atom(struct sk_sizes *sizes, struct sk_size_atom atom);

/* Return floor(a/b) as an atom. No whole part is taken out. */
const struct sk_size *sk_size_floor_atom(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);

/* Write the size as a sum of terms in which each atom stands for the atom minus its least value. */
void sk_size_shift(const struct sk_size *size, struct sk_form *shifted);

/* Round towards minus infinity. */
int64_t sk_floor_divide(int64_t a, int64_t b);
uint64_t sk_magnitude(int64_t number);

#endif
