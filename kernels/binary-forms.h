/* binary-forms.h: the functions and signatures of elementwise kernels with two inputs, by FORM. The includer defines
 * before it
 *
 *	element, result		types of the elements of inputs and output
 *	of_operands		the operator: static inline result of_operands(element a, element b)
 *	RESULT			the word for the output's type in signatures; that of the inputs is TYPE
 *	RESULT_DIFFERS		if it is another one
 *	CONDITION		the part of op=OP(...) in the signature beside the form, if there is one
 *
 * The forms: same shapes; `scalar`, `row` and `column`, where b is one element, one row, one column for all rows of a;
 * `cycle`, where b has rows that begin again after the last one; `lscalar`, `lrow` and `lcolumn`, where a is; and
 * `strided`, where both have any strides. Lengths of rows and steps within them are hoisted, so that each loop goes
 * over adjacent memory. */
#ifndef SK_KERNELS_BINARY_FORMS_H
#define SK_KERNELS_BINARY_FORMS_H

#include "kernels/family.h"

#define FORM_same     0
#define FORM_scalar   1
#define FORM_lscalar  2
#define FORM_row      3
#define FORM_lrow     4
#define FORM_column   5
#define FORM_lcolumn  6
#define FORM_strided  7
#define FORM_cycle    8
#define IS_FORM(form) (JOIN(FORM_, FORM) == FORM_##form)

/* op= with its conditions. */
#ifndef CONDITION
#define OPERATOR_WITH(form) "op=" TEXT(OP) "(" form ")"
#define OPERATOR_ALONE	    "op=" TEXT(OP)
#else
#define OPERATOR_WITH(form) "op=" TEXT(OP) "(" CONDITION ", " form ")"
#define OPERATOR_ALONE	    "op=" TEXT(OP) "(" CONDITION ")"
#endif
#if IS_FORM(same)
#define OPERATOR OPERATOR_ALONE
#else
#define OPERATOR OPERATOR_WITH("form=" TEXT(FORM))
#endif

#define INPUT(name, shape)  "in " name " " TEXT(TYPE) shape
#define OUTPUT(name, shape) "out " name " " RESULT shape
/* The output may share memory with an input of as many elements of this type. */
#ifdef RESULT_DIFFERS
#define IN_PLACE(name) "y"
#else
#define IN_PLACE(name) "y@" name
#endif

/* `steps` 0 or 1: the distance to the next element. They are constants wherever this is called. */
static inline __attribute__((always_inline)) void row_of_operands(const element *a, const element *b, result *y,
								  int64_t n, int64_t step_a, int64_t step_b)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = of_operands(a[i * step_a], b[i * step_b]);
}

#if IS_FORM(same)
void KERNEL(const element *a, const element *b, result *y, int64_t n)
{
	row_of_operands(a, b, y, n, 1, 1);
}
SIGNATURE("split=n:1 " OPERATOR, INPUT("a", "[n]") ", " INPUT("b", "[n]") ", " OUTPUT(IN_PLACE("a"), "[n]") ", n i64");

#elif IS_FORM(scalar) || IS_FORM(lscalar)
void KERNEL(const element *a, const element *b, result *y, int64_t n)
{
	/* Loaded here, since the compiler cannot know that the output and the scalar do not overlap. */
#if IS_FORM(scalar)
	const element scalar = *b;
	row_of_operands(a, &scalar, y, n, 1, 0);
#else
	const element scalar = *a;
	row_of_operands(&scalar, b, y, n, 0, 1);
#endif
}
#if IS_FORM(scalar)
SIGNATURE("split=n:1 " OPERATOR, INPUT("a", "[n]") ", " INPUT("b", "[1]") ", " OUTPUT(IN_PLACE("a"), "[n]") ", n i64");
#else
SIGNATURE("split=n:1 " OPERATOR, INPUT("a", "[1]") ", " INPUT("b", "[n]") ", " OUTPUT(IN_PLACE("b"), "[n]") ", n i64");
#endif

#elif IS_FORM(row) || IS_FORM(lrow)
void KERNEL(const element *a, const element *b, result *y, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m; i++)
		row_of_operands(a + (IS_FORM(row) ? i * n : 0), b + (IS_FORM(row) ? 0 : i * n), y + i * n, n, 1, 1);
}
#if IS_FORM(row)
SIGNATURE("split=m " OPERATOR,
	  INPUT("a", "[m,n]") ", " INPUT("b", "[n]") ", " OUTPUT(IN_PLACE("a"), "[m,n]") ", m i64, n i64");
#else
SIGNATURE("split=m " OPERATOR,
	  INPUT("a", "[n]") ", " INPUT("b", "[m,n]") ", " OUTPUT(IN_PLACE("b"), "[m,n]") ", m i64, n i64");
#endif

#elif IS_FORM(cycle)
/* Row i of a part is row first + i of a: there is at least one row in b. */
void KERNEL(const element *a, const element *b, result *y, int64_t m, int64_t n, int64_t p, int64_t first)
{
	int64_t row = m ? first % p : 0;

	for (int64_t i = 0; i < m; i++, row = row + 1 < p ? row + 1 : 0)
		row_of_operands(a + i * n, b + row * n, y + i * n, n, 1, 1);
}
SIGNATURE("split=m " OPERATOR,
	  INPUT("a", "[m,n]") ", " INPUT("b", "[p,n]") ", " OUTPUT(
		  IN_PLACE("a"), "[m,n]") ", m i64, n i64, p i64, first i64 = begin(m)");

#elif IS_FORM(column) || IS_FORM(lcolumn)
void KERNEL(const element *a, const element *b, result *y, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m; i++) {
#if IS_FORM(column)
		const element scalar = b[i];
		row_of_operands(a + i * n, &scalar, y + i * n, n, 1, 0);
#else
		const element scalar = a[i];
		row_of_operands(&scalar, b + i * n, y + i * n, n, 0, 1);
#endif
	}
}
#if IS_FORM(column)
SIGNATURE("split=m " OPERATOR,
	  INPUT("a", "[m,n]") ", " INPUT("b", "[m,1]") ", " OUTPUT(IN_PLACE("a"), "[m,n]") ", m i64, n i64");
#else
SIGNATURE("split=m " OPERATOR,
	  INPUT("a", "[m,1]") ", " INPUT("b", "[m,n]") ", " OUTPUT(IN_PLACE("b"), "[m,n]") ", m i64, n i64");
#endif

#else
enum { CHUNK = 128 };

DEFINE_GATHERED(gathered, element)

void KERNEL(const element *a, const element *b, result *y, int64_t n, int64_t first, int64_t rank, const int64_t *dims,
	    const int64_t *strides0, const int64_t *strides1)
{
	int64_t step_a = last_stride(rank, strides0), step_b = last_stride(rank, strides1), run;
	element chunk_a[CHUNK], chunk_b[CHUNK];
	struct walk walk;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, y += run) {
		run = walk_run(&walk, n < CHUNK ? n : CHUNK);
		row_of_operands(gathered(a + walk_place(&walk, strides0), step_a, chunk_a, run),
				gathered(b + walk_place(&walk, strides1), step_b, chunk_b, run), y, run, 1, 1);
		walk_on(&walk, run);
	}
}
SIGNATURE("split=n " OPERATOR,
	  INPUT("a", "[p]") ", " INPUT("b", "[q]") ", " OUTPUT(
		  "y", "[n]") ", n i64, first i64 = begin(n), rank i64 = attr(rank), dims ptr = attr(dims), strides0 "
			      "ptr = attr(strides0), "
			      "strides1 ptr = attr(strides1)");
#endif

#endif
