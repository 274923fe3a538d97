/* where.c: Where: condition, a, b -> y: a if the condition holds, otherwise b. Elements are moved, whatever their type
 * is.
 *
 * variants: OP=Where TYPE=all FORM=same,strided
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

#define IS_STRIDED_strided 1

static inline void choose(const uint8_t *condition, const element *a, const element *b, element *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		element x = a[i], z = b[i];

		y[i] = condition[i] ? x : z;
	}
}

#if !JOIN(IS_STRIDED_, FORM)

void KERNEL(const uint8_t *condition, const element *a, const element *b, element *y, int64_t n)
{
	choose(condition, a, b, y, n);
}
SIGNATURE("split=n op=Where",
	  "in condition bool[n], in a " TEXT(TYPE) "[n], in b " TEXT(TYPE) "[n], out y@a " TEXT(TYPE) "[n], n i64");

#else

enum { CHUNK = 128 };

DEFINE_GATHERED(gathered_conditions, uint8_t)
DEFINE_GATHERED(gathered, element)

void KERNEL(const uint8_t *condition, const element *a, const element *b, element *y, int64_t n, int64_t first,
	    int64_t rank, const int64_t *dims, const int64_t *strides0, const int64_t *strides1,
	    const int64_t *strides2)
{
	int64_t step_condition = last_stride(rank, strides0), step_a = last_stride(rank, strides1);
	int64_t step_b = last_stride(rank, strides2), run;
	uint8_t conditions[CHUNK];
	element chunk_a[CHUNK], chunk_b[CHUNK];
	struct walk walk;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, y += run) {
		run = walk_run(&walk, n < CHUNK ? n : CHUNK);
		choose(gathered_conditions(condition + walk_place(&walk, strides0), step_condition, conditions, run),
		       gathered(a + walk_place(&walk, strides1), step_a, chunk_a, run),
		       gathered(b + walk_place(&walk, strides2), step_b, chunk_b, run), y, run);
		walk_on(&walk, run);
	}
}
SIGNATURE("split=n op=Where(form=strided)",
	  "in condition bool[c], in a " TEXT(TYPE) "[p], in b " TEXT(TYPE) "[q], out y " TEXT(
		  TYPE) "[n], n i64, first i64 = begin(n), rank i64 = attr(rank), dims ptr = attr(dims), strides0 ptr "
			"= attr(strides0), "
			"strides1 ptr = attr(strides1), strides2 ptr = attr(strides2)");

#endif
