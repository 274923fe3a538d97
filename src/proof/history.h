/* The history of a piece of memory: for each byte, who wrote it last and who has read it since. In come accesses, in
 * the order in which they are meant to happen; out come the earlier ones that each of them conflicts with. The verifier
 * keeps one per space, and one for temporaries that are accessed in rows and share bytes with each other.
 *
 * An access is a number of the caller's. Bytes with the same history are one box (base/boxes.h), cut where an
 * access begins or ends: an access costs logarithmic time, plus the boxes and readers it meets; a write makes one box
 * of all that it covers, or two or three where rows begin inside of it.
 *
 * There is a sheet of boxes for each stride that accesses have rows in, and each sheet knows what surely happened:
 * single rows are on all sheets, others on that of their stride. Rows of different strides are compared one with
 * another. */
#ifndef SK_HISTORY_H
#define SK_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/boxes.h"
#include "format/skrows.h"

/* What a byte has seen. */
struct sk_history_past;

/* What the histories of one caller share. */
struct sk_history_pool {
	struct sk_arena *arena;
	uint64_t looks_left; /* at boxes, readers and rows; 0: there were too many */
	uint64_t steps; /* nodes of the maps that have been looked at */
	/* Values of the boxes; the first one is that of bytes nobody has touched. */
	SK_ARRAY(struct sk_history_past) pasts;
};

/* An access in rows of one of several strides. */
struct sk_history_rows {
	struct sk_rows rows;
	uint32_t access;
	bool write;
};

/* All single rows, and the rows of one stride. */
struct sk_history_sheet {
	struct sk_boxes boxes;
	SK_ARRAY(struct sk_history_rows) rows; /* with several sheets: since a single row has overwritten all of them */
	struct sk_rows extent; /* of these */
};

struct sk_history {
	struct sk_history_pool *pool;
	SK_ARRAY(struct sk_history_sheet) sheets; /* by stride; without rows one, without a stride */
};

void sk_history_pool_init(struct sk_history_pool *pool, struct sk_arena *arena, uint64_t looks);
void sk_history_init(struct sk_history *history, struct sk_history_pool *pool);

/* There will be rows of this stride. Before the first access. */
void sk_history_add_stride(struct sk_history *history, uint64_t stride);

/* Notes the access to the rows, and calls `conflict` for each earlier one that it must come behind: the last writer of
 * each of its bytes, and for a write also those who have read the byte since. The same one can be named several times.
 * Those named imply all others, if "comes behind" is transitive. For a read of bytes that no sheet shows as written it
 * calls `conflict` with SK_NO_INDEX. kind: enum sk_access bits. Does nothing when no look is left. */
void sk_history_access(struct sk_history *history, const struct sk_rows *rows, uint32_t access, unsigned kind,
		       void (*conflict)(void *context, uint32_t earlier), void *context);

#endif
