/* Normal forms of the values of a dynamic package, for the proof. This is not the planner's arithmetic (base/sizes.h),
 * and shares no code with it. */
#ifndef SK_SRC_PROOF_FORMS_H
#define SK_SRC_PROOF_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skdims.h"
#include "format/skrows.h"

struct sk_diag;
struct sk_dims_view;
struct sk_plan_view;
struct sk_step_access;

/* ==== forms.c ====
 *
 * A form is a sum of monomials with integer coefficients. Its variables are the dimensions, each divided by its
 * multiple, and atoms: floor(form/number), min(form, form) and max(form, form). Input: the values of .sk.dims. Output:
 * forms, and answers that are certain for all sizes within the bounds. NULL is an unknown form: a coefficient
 * overflows, or there are too many terms. All functions take it, and then return NULL or false.
 *
 * No variable is negative or decreases when a dimension grows. A form is therefore within the bounds that follow from
 * the least and the most of its variables. */

enum { SK_NORMAL_MAX_TERMS = 64, SK_NORMAL_MAX_FACTORS = 8 };

struct sk_normal_term {
	int64_t coefficient; /* not 0 */
	uint32_t count; /* factors, in ascending order; 0: the constant term */
	uint32_t factors[SK_NORMAL_MAX_FACTORS]; /* variables */
};

/* The terms are sorted by their factors, and no two have the same ones. */
struct sk_normal {
	uint32_t count;
	struct sk_normal_term terms[];
};

struct sk_normal_variable {
	uint8_t op; /* enum sk_dims_op: DIMENSION, FLOOR, MIN, MAX */
	uint64_t number; /* FLOOR: the divisor */
	const struct sk_normal *a, *b; /* atoms: operands */
	int64_t least, most;
};

struct sk_normals {
	struct sk_arena *arena;
	const struct sk_dims_view *dims;
	SK_ARRAY(struct sk_normal_variable) variables; /* the dimensions come first */
	const struct sk_normal **values; /* by value */
	uint64_t looks; /* at forms at single sizes */
};

void sk_normals_build(struct sk_normals *forms, struct sk_arena *arena, const struct sk_dims_view *dims);

/* Return the form of a number, or that of a value; of the number if the value is SK_NO_INDEX. */
const struct sk_normal *sk_normal_number(struct sk_normals *forms, uint64_t number);
const struct sk_normal *sk_normal_value(struct sk_normals *forms, uint32_t value, uint64_t number);

const struct sk_normal *sk_normal_add(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b);
const struct sk_normal *sk_normal_subtract(struct sk_normals *forms, const struct sk_normal *a,
					   const struct sk_normal *b);
const struct sk_normal *sk_normal_multiply(struct sk_normals *forms, const struct sk_normal *a,
					   const struct sk_normal *b);

/* Return the least or the most of two sums of values. */
const struct sk_normal *sk_normal_least(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b);
const struct sk_normal *sk_normal_most(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b);

/* Return a form that is a / b for all sizes, or NULL if none is found. */
const struct sk_normal *sk_normal_quotient(struct sk_normals *forms, const struct sk_normal *a,
					   const struct sk_normal *b);

/* True if the form is certainly a multiple of the number for all sizes; all are tried if there are few. */
bool sk_normal_divides(struct sk_normals *forms, const struct sk_normal *form, uint64_t number);

/* True if the two are certainly equal, or one is certainly at most the other, for all sizes. Where sums do not show it,
 * all sizes are tried if there are few. */
bool sk_normal_equal(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b);
bool sk_normal_at_most(struct sk_normals *forms, const struct sk_normal *a, const struct sk_normal *b);

/* True if the form has one value for all sizes; *number is it. */
bool sk_normal_is_number(const struct sk_normal *form, int64_t *number);

/* Evaluate a variable at sizes of the dimensions, each divided by its multiple. False on overflow. */
bool sk_normal_variable_at(const struct sk_normals *forms, uint32_t number, const int64_t *sizes, int64_t *result);

/* Evaluate the form at the least or at the most sizes. For a value, or a sum of values, these are its least and its
 * most: the operations of .sk.dims never decrease. */
bool sk_normal_corner(const struct sk_normals *forms, const struct sk_normal *form, bool most, int64_t *number);

/* ==== sized.c ====
 *
 * Accesses of a plan's steps at all sizes of its dimensions: as access.c does for one size. Input: the plan's view,
 * which has the largest sizes, and the forms of its fields. Output: forms and answers that hold for all sizes. */

struct sk_sized_access;

struct sk_sized {
	const struct sk_plan_view *view;
	struct sk_normals forms;
	struct sk_sized_access **accesses; /* by argument: the facts about it; NULL: none yet */
};

/* The bytes of an access. */
struct sk_sized_rows {
	const struct sk_normal *start, *width, *stride, *count; /* a single row: stride and count are NULL */
	const struct sk_normal *end;
	struct sk_rows hull; /* contains the bytes at every size */
	struct sk_rows core; /* bytes that are accessed at every size; width 0: there are none */
	bool certain; /* the access is made at every size */
};

void sk_sized_init(struct sk_sized *sized, struct sk_arena *arena, const struct sk_plan_view *view,
		   const struct sk_dims_view *dims);

/* Return the form of a field of a record, which has the number at the largest sizes. */
const struct sk_normal *sk_sized_field(struct sk_sized *sized, enum sk_dims_table table, uint32_t record, size_t offset,
				       uint64_t number);

/* The same for a field of a record in its table. */
#define SK_SIZED_FIELD(sized, table, records, record, field)                                                           \
	sk_sized_field((sized), (table), (uint32_t)((record) - (records)), offsetof(__typeof__(*(record)), field),     \
		       (record)->field)

/* Return the form of the bytes of a shape of a record, from its elements' size. */
const struct sk_normal *sk_sized_shape_bytes(struct sk_sized *sized, enum sk_dims_table table, uint32_t record,
					     size_t offset, const uint64_t *shape, uint64_t rank, uint64_t bytes);

/* Return the form of the bytes of an element of the divided extent. */
const struct sk_normal *sk_sized_element_bytes(struct sk_sized *sized, const struct sk_step_access *access);

/* True if the argument's place, size or bytes of an element depend on sizes. */
bool sk_sized_varies(struct sk_sized *sized, const struct sk_step_access *access);

/* Return the rows of the access; NULL: their bounds are unknown. */
const struct sk_sized_rows *sk_sized_rows(struct sk_sized *sized, const struct sk_step_access *access);

/* True if two accesses have the same bytes, in elements of equally many bytes, at all sizes. */
bool sk_sized_same_rows(struct sk_sized *sized, const struct sk_step_access *one, const struct sk_step_access *other);

/* True if the two certainly have no common byte at any size. */
bool sk_sized_apart(struct sk_sized *sized, const struct sk_sized_rows *one, const struct sk_sized_rows *other);

/* The same as the functions of access.c, for all sizes. */
bool sk_sized_same_core(struct sk_sized *sized, const struct sk_step_access *one, const struct sk_step_access *other);
bool sk_sized_allowed_within_call(struct sk_sized *sized, const struct sk_step_access *one,
				  const struct sk_step_access *other);
bool sk_sized_write_allowed(struct sk_sized *sized, const struct sk_step_access *access);

/* Return an error if the access, to tiles in the scratch, does not have the place and bytes of its tiles at all sizes,
 * or has not all tiles of its tensor; NULL: it does. Then scratch-check.c, which has seen the largest sizes, has shown
 * the rest for all of them: tiles, units of steps in tiles (sized-verify.c) and numbers of elements for each element of
 * a step are numbers. */
const char *sk_sized_check_tile(struct sk_sized *sized, const struct sk_step_access *access);

/* Return an error if the access, which touches memory, can leave its tensor at some size, or contradicts its division;
 * NULL: it does not. `start`: of the tensor in its space. */
const char *sk_sized_check(struct sk_sized *sized, const struct sk_step_access *access, uint64_t start);

/* ==== sized-contents.c ====
 *
 * The bytes of tensors that have been written, as pieces between forms. Input: accesses, in the plan's order. Output:
 * whether a read finds all of its bytes written, last as bytes of its tensor, at every size. */

struct sk_sized_pieces;

struct sk_sized_contents {
	struct sk_sized *sized;
	struct sk_sized_pieces *tensors; /* by tensor */
};

void sk_sized_contents_init(struct sk_sized_contents *contents, struct sk_sized *sized);

/* True if the bytes are certainly covered by pieces of the tensor that have been written and not overwritten. */
bool sk_sized_covered(struct sk_sized_contents *contents, uint32_t tensor, const struct sk_sized_rows *rows);

/* Record that the tensor's bytes have been written; pieces of other temporaries that may share bytes with them end. */
void sk_sized_write(struct sk_sized_contents *contents, uint32_t tensor, const struct sk_sized_rows *rows);

/* ==== sized-calls.c ====
 *
 * Report calls that contradict their kernels' signatures at some size. Input: a plan whose accesses have been proved
 * for all sizes. */

void sk_sized_calls_check(struct sk_arena *arena, struct sk_diag *diag, struct sk_sized *sized, const char *file);

/* ==== sized-entries.c ====
 *
 * Report tasks that have other numbers in their own entry than in their call in the network, or in one side of a mix
 * task than in the other, at some size. */

void sk_sized_entries_check(struct sk_arena *arena, struct sk_diag *diag, struct sk_sized *sized, const char *file);

/* ==== sized-grid.c ====
 *
 * Grids of sizes at which equal numbers are equal at all sizes. Input: the values of the numbers. Output: the sizes,
 * and degrees of other numbers that have been computed there. */

enum {
	SK_SIZED_DEGREES = 2, /* compared numbers have at most so many times the degree of the values */
	SK_SIZED_MOST_DEGREE = 16,
	SK_SIZED_UNLIKE = UINT32_MAX /* a degree of numbers of which some are unknown */
};

/* The use of one dimension by a number. */
struct sk_sized_use {
	uint32_t degree, period;
	bool every; /* it is not such a polynomial: all sizes must be looked at */
};

struct sk_sized_uses {
	struct sk_sized *sized;
	uint32_t variable_count; /* those of values; forms that are made later may have others */
	struct sk_sized_use *variables, *values; /* by number and dimension */
	SK_ARRAY(struct sk_sized_steps *) steps; /* those found so far */
};

/* Sizes of a dimension at which variables of that dimension alone have other values than at the sizes before: from the
 * most downwards, one size for each combination of values. */
struct sk_sized_steps {
	const bool *variables; /* by number: those in the comparison … */
	uint32_t dimension; /* … of this dimension alone */
	uint64_t count;
	uint64_t *sizes;
	uint32_t period; /* of the numbers of the sizes: each variable is linear in each class; 0: none is known */
};

/* Sizes of the dimensions, from the most downwards; the first dimension changes fastest. */
struct sk_sized_grid {
	struct sk_sized_use uses[SK_MAX_DIMENSIONS];
	uint64_t counts[SK_MAX_DIMENSIONS];
	bool all[SK_MAX_DIMENSIONS]; /* these are all sizes, or all combinations of values */
	uint32_t divisors[SK_MAX_DIMENSIONS]; /* of quotients of the values, their product; 0: too large */
	bool *variables; /* by number: the comparison has it */
	bool unknown; /* it has a value without a form */
	const struct sk_sized_steps
		*steps[SK_MAX_DIMENSIONS]; /* the sizes are the first of these; NULL: all multiples */
};

void sk_sized_uses_build(struct sk_sized_uses *uses, struct sk_sized *sized);

/* Begin a grid. Add the points that a value needs; that the product of two values needs; that quotients of the values
 * so far by a number need; or all sizes of the dimensions of a value. Then find the sizes, and return the number of
 * points. */
void sk_sized_grid_init(const struct sk_sized_uses *uses, struct sk_sized_grid *grid);
void sk_sized_grid_add(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value);
void sk_sized_grid_add_product(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t one,
			       uint32_t other);
void sk_sized_grid_add_divisor(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint64_t divisor);
void sk_sized_grid_take_all(const struct sk_sized_uses *uses, struct sk_sized_grid *grid, uint32_t value);
uint64_t sk_sized_grid_finish(struct sk_sized_uses *uses, struct sk_sized_grid *grid);

/* True if a finished grid has the points that comparisons of the value need. */
bool sk_sized_grid_suffices(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint32_t value);

/* Find the sizes of a point of a finished grid. */
void sk_sized_grid_point(const struct sk_sized_uses *uses, const struct sk_sized_grid *grid, uint64_t point,
			 uint64_t *sizes);

/* Return the degree in a dimension of the polynomials that have these numbers at the points, where not all sizes are in
 * the grid; UINT64_MAX is an unknown number. */
uint32_t sk_sized_grid_degree(const struct sk_sized_grid *grid, uint32_t dimension, const uint64_t *numbers,
			      uint64_t points);

#endif
