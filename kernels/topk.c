/* topk.c: the largest or smallest elements along an axis, in order: x [o,k,i] -> v [o,t,i], indices i64 [o,t,i]. Equal
 * ones keep their order; a NaN is larger than all others.
 *
 * variants: OP=TopK TYPE=numbers
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

/* A column of the outputs. Its first elements are a heap with the last one in the order on top. */
struct heap {
	element *values;
	int64_t *indices, stride;
	int largest;
};

/* Return whether the first one comes before the second one. */
static ALWAYS_INLINE int precedes(const struct heap *heap, element a, int64_t index_a, element b, int64_t index_b)
{
	number one = LOAD(TYPE, a), other = LOAD(TYPE, b);
	int less = one < other || (!IS_NAN(one) && IS_NAN(other));
	int more = one > other || (IS_NAN(one) && !IS_NAN(other));

	if (less || more)
		return heap->largest ? more : less;
	return index_a < index_b;
}

static ALWAYS_INLINE int is_in_front(const struct heap *heap, int64_t a, int64_t b)
{
	return precedes(heap, heap->values[a * heap->stride], heap->indices[a * heap->stride],
			heap->values[b * heap->stride], heap->indices[b * heap->stride]);
}

static ALWAYS_INLINE void swap(const struct heap *heap, int64_t a, int64_t b)
{
	element value = heap->values[a * heap->stride];
	int64_t index = heap->indices[a * heap->stride];

	heap->values[a * heap->stride] = heap->values[b * heap->stride];
	heap->indices[a * heap->stride] = heap->indices[b * heap->stride];
	heap->values[b * heap->stride] = value;
	heap->indices[b * heap->stride] = index;
}

/* Let the element sink until none of those below comes after it. */
static ALWAYS_INLINE void sink(const struct heap *heap, int64_t at, int64_t count)
{
	for (int64_t next; (next = 2 * at + 1) < count; at = next) {
		if (next + 1 < count && is_in_front(heap, next, next + 1))
			next++;
		if (is_in_front(heap, next, at))
			return;
		swap(heap, at, next);
	}
}

static void find(const struct heap *heap, const element *x, int64_t k, int64_t t)
{
	int64_t stride = heap->stride;

	for (int64_t p = 0; p < t; p++) {
		heap->values[p * stride] = x[p * stride];
		heap->indices[p * stride] = p;
	}
	for (int64_t at = t / 2; at-- > 0;)
		sink(heap, at, t);
	for (int64_t p = t; p < k; p++) {
		if (!precedes(heap, x[p * stride], p, heap->values[0], heap->indices[0]))
			continue;
		heap->values[0] = x[p * stride];
		heap->indices[0] = p;
		sink(heap, 0, t);
	}
	for (int64_t count = t - 1; count > 0; count--) {
		swap(heap, 0, count);
		sink(heap, 0, count);
	}
}

void KERNEL(const element *x, element *v, int64_t *indices, int64_t o, int64_t k, int64_t i, int64_t t, int64_t largest)
{
	for (int64_t row = 0; row < o; row++)
		for (int64_t j = 0; j < i; j++) {
			const struct heap heap = {v + row * t * i + j, indices + row * t * i + j, i, largest != 0};

			find(&heap, x + row * k * i + j, k, t);
		}
}
SIGNATURE("split=o op=" TEXT(OP), "in x " TEXT(TYPE) "[o,k,i], out v " TEXT(
					  TYPE) "[o,t,i], out indices i64[o,t,i], o i64, k i64, i i64, t i64, "
						"largest i64 = attr(largest, 1)");
