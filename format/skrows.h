/* Rows of bytes: the bytes of a strided access, or of any other one as a single row. The planner of accesses, the
 * proof, and the runtime checks share these functions, and draw their own conclusions. */
#ifndef SK_ROWS_H
#define SK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct sk_rows {
	uint64_t start; /* of the first row */
	uint64_t width; /* bytes of a row, at least 1 */
	uint64_t stride; /* from the start of one row to that of the next, at least the width; 0 for a single row */
	uint64_t count; /* at least 1 */
};

/* Return the end of the last row; all rows are within 64 bits. */
static inline uint64_t sk_rows_end(const struct sk_rows *rows)
{
	return rows->start + (rows->count - 1) * rows->stride + rows->width;
}

/* True if rows share a byte with a single row, or with rows of equal stride. */
static inline bool sk_rows_meet(const struct sk_rows *one, const struct sk_rows *other)
{
	uint64_t stride = one->count > 1 ? one->stride : other->stride;

	if (one->start >= sk_rows_end(other) || other->start >= sk_rows_end(one))
		return false;
	if (one->count == 1 && other->count == 1)
		return true;

	/* Find row k of the other rows, relative to the first ones, that begins less than its width before one of them,
	 * and before that one ends. Only the least k that begins late enough can qualify. */
	__int128 distance = (__int128)one->start - other->start, late = distance - (__int128)other->width;
	__int128 row = late >= 0 ? late / stride + 1 : -((-late + stride - 1) / stride) + 1;
	__int128 least = 1 - (__int128)one->count, most = (__int128)other->count - 1;

	row = row < least ? least : row;
	return row <= most && row * stride < distance + (__int128)one->width;
}

/* Return a single row from the first byte to the last. */
static inline struct sk_rows sk_rows_extent(const struct sk_rows *rows)
{
	return (struct sk_rows){rows->start, sk_rows_end(rows) - rows->start, 0, 1};
}

/* True if the two share a byte. This is exact if one of them is a single row, or their strides are equal. Otherwise it
 * is true as soon as each has a byte between the first and last byte of the other. */
static inline bool sk_rows_overlap(const struct sk_rows *one, const struct sk_rows *other)
{
	struct sk_rows extent = sk_rows_extent(one), other_extent = sk_rows_extent(other);

	if (one->count == 1 || other->count == 1 || one->stride == other->stride)
		return sk_rows_meet(one, other);
	return sk_rows_meet(one, &other_extent) && sk_rows_meet(&extent, other);
}

#endif
