/* How ranks exchange bytes: the table of functions that moves them, and the simulation of ranks on one machine. */
#ifndef SK_LOADER_RANKS_TRANSPORT_H
#define SK_LOADER_RANKS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skranks.h"

/* ==== transport ====
 *
 * A transport connects the ranks of a run. It moves bytes and does no arithmetic. A rank has one exchange at a time: it
 * starts one when the one before it has ended, and all ranks start the same ones in the same order. */

/* An exchange, as a rank takes part in it. Memory belongs to the caller, and must stay while the exchange runs. */
struct sk_transfer {
	enum sk_exchange_kind kind;
	const uint32_t *members; /* the ranks of the group, in its order */
	uint32_t size, place; /* their number; this rank's place among them */
	uint32_t root, peer; /* places; see enum sk_exchange_kind */
	uint64_t bytes; /* see enum sk_exchange_kind */
	const void *send;
	void *receive; /* shares no byte with `send` */
	const char *title; /* for messages: "exchange 'sum' (AllReduce of group tp, 4096 bytes)" */
	uint64_t hash; /* equal on all ranks that take part in the same exchange of the same package */
};

enum sk_transfer_state {
	SK_TRANSFER_RUNS,
	SK_TRANSFER_ENDED, /* everything is received, and `send` may change */
	SK_TRANSFER_FAILED, /* it will never end, and no other one can start */
};

struct sk_transport {
	void *context;
	uint32_t rank, ranks;
	/* Start the transfer; it is copied, without the memory. `test` reports failures. */
	void (*start)(void *context, const struct sk_transfer *transfer);
	/* Go on with it, without waiting. One thread at a time calls it. */
	enum sk_transfer_state (*test)(void *context);
	/* Describe the failure; or, while it runs, the missing ranks: "rank 1 did not come". */
	void (*describe)(void *context, char *text, size_t size);
	/* Let the exchanges of all ranks fail, now and from now on, with this text: the rank cannot go on. */
	void (*abort)(void *context, const char *text);
};

/* ==== simulated.c ====
 *
 * Simulated ranks: processes of one machine with shared memory, made by fork. A rank copies its bytes to the shared
 * memory; when all of the group have come, each copies those for it. */

struct sk_shared_ranks;

/* Make the shared memory for so many ranks, each of which sends at most `most` bytes at once. seed: not 0: ranks come
 * to each exchange in an order of its own. NULL: no memory; errno says why. */
struct sk_shared_ranks *sk_simulation_open(uint32_t ranks, uint64_t most, uint64_t seed);

/* Fill in the transport of a rank. Each process does that after the fork. */
void sk_simulation_join(struct sk_shared_ranks *simulation, uint32_t rank, struct sk_transport *transport);

/* As `abort` of the rank's transport, for a process that sees a rank end. */
void sk_simulation_abort(struct sk_shared_ranks *simulation, uint32_t rank, const char *text);

#endif
