/* Sizes that are known only when a package runs: expressions of dimensions with bounds, for sklink's front ends and
 * planner. */
#ifndef SK_BASE_SIZES_H
#define SK_BASE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_arena;

/* A size is an integer function of the dimensions of one link: a sum of products of dimensions and of *atoms*
 * floor(a/n), min(a,b) and max(a,b), with integer coefficients. Sizes are interned in their universe: two sizes of one
 * universe are the same function by construction exactly if their pointers are equal. (Different pointers can still be
 * equal functions, where atoms hide it; sk_size_compare decides more.) Sizes live as long as the universe's arena, and
 * are immutable. */
struct sk_size;
struct sk_sizes;

/* A dimension: `least` <= value <= `most`, and value = 0 modulo `multiple`, which divides both bounds. */
struct sk_size_dimension {
	const char *name;
	const char *network; /* the network that it belongs to; NULL: there is one network */
	uint64_t least, most, multiple; /* multiple >= 1 */
	uint64_t usual; /* for choices of speed: a value in the bounds */
};

/* Create an empty universe in the arena. */
struct sk_sizes *sk_sizes_create(struct sk_arena *arena);

/* Add a dimension, and return it as a size. With a multiple m above 1 the dimension is m times an inner variable, so
 * that exact divisions by m need no atom. Names are unique within a network. The bounds must be in order and below
 * 2^31. */
const struct sk_size *sk_sizes_add_dimension(struct sk_sizes *sizes, const struct sk_size_dimension *dimension);

/* Return the number of dimensions, and a dimension by its number in the order in which they were added. */
size_t sk_sizes_count(const struct sk_sizes *sizes);
const struct sk_size_dimension *sk_sizes_dimension(const struct sk_sizes *sizes, size_t number);
const struct sk_size *sk_sizes_variable(const struct sk_sizes *sizes, size_t number);

/* Return the number of the network's dimension of that name; SK_NONE: there is none. */
uint32_t sk_sizes_find(const struct sk_sizes *sizes, const char *network, const char *name, size_t length);

/* ---- arithmetic ----
 *
 * All functions take NULL for an operand that could not be represented, and return NULL then; also on overflow of 63
 * bits of a coefficient or of a bound, and where a size would have more than SK_SIZE_MAX_TERMS terms. A caller that
 * gets NULL reports that the size cannot be expressed. */

enum { SK_SIZE_MAX_TERMS = 64, SK_SIZE_MAX_FACTORS = 8 };

const struct sk_size *sk_size_number(struct sk_sizes *sizes, int64_t number);
const struct sk_size *sk_size_add(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);
const struct sk_size *sk_size_subtract(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);
const struct sk_size *sk_size_multiply(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);

/* floor(a/b), ceil(a/b) and a - b*floor(a/b) for a divisor that is positive in all bounds, else NULL. Whole factors
 * cancel (n*h/n = h), and floor((n*a + b)/n) = a + floor(b/n). */
const struct sk_size *sk_size_floor(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);
const struct sk_size *sk_size_ceil(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);
const struct sk_size *sk_size_modulo(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);

/* a/b if b divides a for all values of the dimensions by its form, else NULL. */
const struct sk_size *sk_size_quotient(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);

/* An atom only where the bounds of a - b do not decide. */
const struct sk_size *sk_size_min(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);
const struct sk_size *sk_size_max(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);

/* ---- questions ---- */

/* True if the size is a number; then *number is it (number may be NULL). */
bool sk_size_is_number(const struct sk_size *size, int64_t *number);

/* Bounds: least and most that the size cannot leave. They are values that it takes if it grows or shrinks in each
 * dimension (sk_size_grows), and otherwise perhaps wider. */
int64_t sk_size_least(const struct sk_size *size);
int64_t sk_size_most(const struct sk_size *size);

/* True if it is certain that the size does not decrease when any dimension grows. Such a size takes its most at the
 * largest sizes. */
bool sk_size_grows(const struct sk_size *size);

/* The order of a and b that is certain for all values of the dimensions. */
enum sk_size_order {
	SK_SIZE_UNKNOWN,
	SK_SIZE_LESS, /* a < b */
	SK_SIZE_LESS_OR_EQUAL, /* a <= b, and not certainly less */
	SK_SIZE_EQUAL,
	SK_SIZE_GREATER_OR_EQUAL,
	SK_SIZE_GREATER,
	SK_SIZE_DIFFERENT, /* never equal, in no certain order */
};

/* Sign of a - b: each dimension is its least value plus a variable of at least 0; coefficients of one sign decide, else
 * an interval, else it is unknown. */
enum sk_size_order sk_size_compare(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b);

static inline bool sk_size_at_most(enum sk_size_order order)
{
	return order == SK_SIZE_LESS || order == SK_SIZE_LESS_OR_EQUAL || order == SK_SIZE_EQUAL;
}

/* True if the size has a dimension in it, by number. */
bool sk_size_has(const struct sk_size *size, size_t dimension);

/* Evaluate the size for values of all dimensions, by number. Out of bounds, a quotient is 0 if its divisor is not
 * positive. */
int64_t sk_size_at(const struct sk_size *size, const uint64_t *values);

/* Choose values of all dimensions in their bounds by the number of a try: 0 all the least, 1 all the most, then small
 * ones, and from 64 on any, each fourth of them a corner (67, 71 ...). */
void sk_sizes_choose(const struct sk_sizes *sizes, uint32_t attempt, uint64_t *values);

/* Find values of the dimensions for which a and b differ, among the corners and a fixed sequence of other values.
 * False: none was found. */
bool sk_size_differ(const struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b, uint64_t *values);

/* ---- structure, for writers of .sk.dims ---- */

enum sk_size_kind {
	SK_SIZE_NUMBER,
	SK_SIZE_DIMENSION,
	SK_SIZE_SUM,
	SK_SIZE_PRODUCT,
	SK_SIZE_FLOOR,
	SK_SIZE_MIN,
	SK_SIZE_MAX
};

/* One step of the evaluation of a size. Steps refer to earlier ones only. */
struct sk_size_step {
	enum sk_size_kind kind;
	uint32_t a, b; /* SUM, PRODUCT, FLOOR, MIN, MAX: earlier steps; DIMENSION: a is its number */
	int64_t number; /* NUMBER */
};

/* Call `put` for each step of the evaluation, which returns the step's number for later ones; the same step may be put
 * again, and put then returns the same number. Return the number of the size's own step. A sum is evaluated so that no
 * partial result is negative where that can be arranged (subtrahends last). */
uint32_t sk_size_walk(const struct sk_size *size, uint32_t (*put)(void *context, const struct sk_size_step *step),
		      void *context);

/* ---- texts ---- */

/* Return a text in the arena such as "512*batch*seq", "floor((w+1)/2)", "past+seq", for messages and manifests, which
 * sk_size_parse reads. */
const char *sk_size_text(struct sk_arena *arena, const struct sk_size *size);

/* Return "batch=3, seq=17" for values of the network's dimensions with more than one value, in the arena. */
const char *sk_sizes_values_text(struct sk_arena *arena, const struct sk_sizes *sizes, const char *network,
				 const uint64_t *values);

/* True if the dimension is one of the network (NULL: of the only one). */
bool sk_size_dimension_is_of(const struct sk_size_dimension *dimension, const char *network);

/* Read an expression of names and integers with + - * / // % ( ) floor(a/b) ceil(a/b) min(a,b) max(a,b), in which names
 * are dimensions of the network. "/" is exact where its operands divide, and floor otherwise, as in texts of exporters.
 * On an error return NULL, and in *error a text in the arena with the reason. */
const struct sk_size *sk_size_parse(struct sk_sizes *sizes, const char *network, const char *text, const char **error);

/* Read the bounds of "--dim NAME=LO..HI[:MULTIPLE][@USUAL]" after the equals sign; "LO" alone is LO..LO. Without USUAL
 * it is the most. On an error return false, and in *error a text with the reason. */
bool sk_size_parse_bounds(struct sk_arena *arena, const char *text, struct sk_size_dimension *dimension,
			  const char **error);

#endif
