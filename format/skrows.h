/* Bytes in rows: what a strided access touches, and any other one, which is a single row. For who plans accesses, who
 * proves them and who watches them; each asks in its own way what follows from it. */
#ifndef SK_ROWS_H
#define SK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct sk_rows {
	uint64_t start; /* of the first row */
	uint64_t width; /* bytes of a row, at least 1 */
	uint64_t stride; /* from the start of one row to that of the next, at least the width; of a single row 0 */
	uint64_t count; /* at least 1 */
};

/* Behind the last row's last byte; the rows lie within 64 bits. */
static inline uint64_t sk_rows_end(const struct sk_rows *rows)
{
	return rows->start + (rows->count - 1) * rows->stride + rows->width;
}

/* Whether rows have a byte in common with a single row, or with rows of equal stride. */
static inline bool sk_rows_meet(const struct sk_rows *one, const struct sk_rows *other)
{
	uint64_t stride = one->count > 1 ? one->stride : other->stride;

	if (one->start >= sk_rows_end(other) || other->start >= sk_rows_end(one))
		return false;
	if (one->count == 1 && other->count == 1)
		return true;

	/* Row k of the other one, counted from the first one's rows: it begins less than its width in front of one of
	 * them, and before that one ends. The least k that begins late enough is the only one to look at. */
	__int128 distance = (__int128)one->start - other->start, late = distance - (__int128)other->width;
	__int128 row = late >= 0 ? late / stride + 1 : -((-late + stride - 1) / stride) + 1;
	__int128 least = 1 - (__int128)one->count, most = (__int128)other->count - 1;

	row = row < least ? least : row;
	return row <= most && row * stride < distance + (__int128)one->width;
}

/* The single row from the first byte to the last. */
static inline struct sk_rows sk_rows_extent(const struct sk_rows *rows)
{
	return (struct sk_rows){rows->start, sk_rows_end(rows) - rows->start, 0, 1};
}

/* Whether the two have a byte in common. Exact if one of them is a single row, or their strides agree; else they count
 * as if they had where each of them has a byte between the other one's first and last. */
static inline bool sk_rows_overlap(const struct sk_rows *one, const struct sk_rows *other)
{
	struct sk_rows extent = sk_rows_extent(one), other_extent = sk_rows_extent(other);

	if (one->count == 1 || other->count == 1 || one->stride == other->stride)
		return sk_rows_meet(one, other);
	return sk_rows_meet(one, &other_extent) && sk_rows_meet(&extent, other);
}

#endif
