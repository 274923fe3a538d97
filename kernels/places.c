/* places.c: converts the indices of ScatterElements, GatherND and similar operators to numbers of rows, for Gather and
 * Scatter. Numbers below 0 count from the end; numbers out of range are an error of the task.
 *
 * variants: OP=ElementPlaces,TuplePlaces
 */
#include "kernels/family.h"

#define ElementPlaces 0
#define TuplePlaces   1

#if OP == ElementPlaces
/* Index i of a tensor of `dims` is the place of an element along one axis, of k elements that are `step` apart; along
 * the other axes the element has the place of the index. */
int KERNEL(const int64_t *indices, int64_t *places, int64_t n, int64_t first, int64_t rank, const int64_t *dims,
	   const int64_t *strides, int64_t k, int64_t step)
{
	int64_t along = rank ? strides[rank - 1] : 0, run;
	struct walk walk;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run) {
		int64_t place = walk_place(&walk, strides);

		run = walk_run(&walk, n);
		for (int64_t i = 0; i < run; i++, place += along) {
			int64_t index = *indices++;

			index += index < 0 ? k : 0;
			if (index < 0 || index >= k)
				return 1;
			*places++ = place + index * step;
		}
		walk_on(&walk, run);
	}
	return 0;
}
SIGNATURE("split=n op=ElementPlaces",
	  "in indices i64[n], out places i64[n], n i64, first i64 = begin(n), rank i64 = attr(rank), dims ptr = "
	  "attr(dims), "
	  "strides0 ptr = attr(strides0), k i64 = attr(k), step i64 = attr(step) -> status");

#else
/* Each tuple of q numbers is a place in a tensor of `dims`; there is one of these tensors for every `per` tuples. */
int KERNEL(const int64_t *indices, int64_t *places, int64_t m, int64_t q, int64_t first, int64_t per,
	   const int64_t *dims)
{
	for (int64_t r = 0; r < m; r++) {
		int64_t place = (first + r) / per;

		for (int64_t d = 0; d < q; d++) {
			int64_t index = *indices++;

			index += index < 0 ? dims[d] : 0;
			if (index < 0 || index >= dims[d])
				return 1;
			place = place * dims[d] + index;
		}
		places[r] = place;
	}
	return 0;
}
SIGNATURE("split=m op=TuplePlaces",
	  "in indices i64[m,q], out places i64[m], m i64, q i64, first i64 = begin(m), per i64 = "
	  "attr(per), dims ptr = attr(dims) -> status");
#endif
