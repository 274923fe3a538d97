/* composites.c: elementwise operators of two to four inputs that are more than one operation, most of them what is
 * left of a gradient: x0, x1 ... -> y of the same type. The forms: same shapes, and `strided`, where inputs lie anyhow.
 *
 * variants: OP=SqrtGrad TYPE=floats FORM=same,strided ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

/* Each operator has its number of inputs. */
#define INPUTS_SqrtGrad 2
static inline number op_SqrtGrad(number y, number gradient)
{
	return gradient / (2 * y);
}

/* ---- lists of as many items as there are inputs ---- */

#define COUNT JOIN(INPUTS_, OP)
#if COUNT == 2
#define EACH(item)  item(0), item(1)
#define TEXTS(item) item(0) item(1)
#elif COUNT == 3
#define EACH(item)  item(0), item(1), item(2)
#define TEXTS(item) item(0) item(1) item(2)
#else
#define EACH(item)  item(0), item(1), item(2), item(3)
#define TEXTS(item) item(0) item(1) item(2) item(3)
#endif

#define POINTER(i)	 const element *x##i
#define LOADED(i)	 LOAD(TYPE, x##i[at])
#define STRIDES(i)	 const int64_t *strides##i
#define PLACE(i)	 gathered(x##i + walk_place(&walk, strides##i), last_stride(rank, strides##i), chunks[i], run)
#define SAME_INPUT(i)	 "in x" #i " " TEXT(TYPE) "[n], "
#define STRIDED_INPUT(i) "in x" #i " " TEXT(TYPE) "[n" #i "], "
#define STRIDES_TEXT(i)	 ", strides" #i " ptr = attr(strides" #i ")"

static inline void apply(EACH(POINTER), element *y, int64_t n)
{
	INDEPENDENT
	for (int64_t at = 0; at < n; at++)
		y[at] = STORE(TYPE, JOIN(op_, OP)(EACH(LOADED)));
}

#define IS_STRIDED_strided 1
#if !JOIN(IS_STRIDED_, FORM)

void KERNEL(EACH(POINTER), element *y, int64_t n)
{
#define GIVEN(i) x##i
	apply(EACH(GIVEN), y, n);
}
SIGNATURE("split=n op=" TEXT(OP), TEXTS(SAME_INPUT) "out y@x0 " TEXT(TYPE) "[n], n i64");

#else

enum { CHUNK = 128 };

DEFINE_GATHERED(gathered, element)

void KERNEL(EACH(POINTER), element *y, int64_t n, int64_t first, int64_t rank, const int64_t *dims, EACH(STRIDES))
{
	element chunks[COUNT][CHUNK];
	struct walk walk;
	int64_t run;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, y += run) {
		run = walk_run(&walk, n < CHUNK ? n : CHUNK);
		apply(EACH(PLACE), y, run);
		walk_on(&walk, run);
	}
}
SIGNATURE("split=n op=" TEXT(OP) "(form=strided)",
	  TEXTS(STRIDED_INPUT) "out y " TEXT(TYPE) "[n], n i64, first i64 = begin(n), rank i64 = attr(rank), "
						   "dims ptr = attr(dims)" TEXTS(STRIDES_TEXT));

#endif
