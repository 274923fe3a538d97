/* The history of a piece of memory: for each byte, who wrote it last and who has read it since. In come accesses, in
 * the order in which they are meant to happen; out come the earlier ones that each of them conflicts with. The verifier
 * keeps one per space.
 *
 * An access is a number of the caller's. Bytes with the same history are one segment, cut where an access begins or
 * ends, in a treap: an access costs logarithmic time, plus the segments and readers it meets; a write makes one segment
 * of all that it covers. */
#ifndef SK_HISTORY_H
#define SK_HISTORY_H

#include <stdint.h>

#include "src/base/arena.h"
#include "stubs/skplan.h"

/* What the histories of one caller share. */
struct sk_history_pool {
	struct sk_arena *arena;
	uint64_t looks_left; /* at segments and readers; 0: there were too many */
	uint32_t random; /* state of the priorities' generator, never 0 */
};

struct sk_history {
	struct sk_history_pool *pool;
	struct sk_segment *root;
};

void sk_history_pool_init(struct sk_history_pool *pool, struct sk_arena *arena, uint64_t looks);
void sk_history_init(struct sk_history *history, struct sk_history_pool *pool);

/* Notes the access to [low, high), low < high, and calls `conflict` for each earlier one that it must come behind: the
 * last writer of each of its bytes, and for a write also those who have read the byte since. The same one can be named
 * several times. Those named imply all others, if "comes behind" is transitive. For a read of bytes that nobody has
 * written it calls `conflict` with SK_NO_INDEX. kind: enum sk_access bits. Does nothing when no look is left. */
void sk_history_access(struct sk_history *history, uint64_t low, uint64_t high, uint32_t access, unsigned kind,
		       void (*conflict)(void *context, uint32_t earlier), void *context);

#endif
