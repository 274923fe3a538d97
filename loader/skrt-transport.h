/* Transports of libskrt: shared objects that move bytes between the ranks of a run, processes that run one package
 * together. libskrt opens one with dlopen, so that it needs no library of a transport by itself. The environment
 * variable SKRT_TRANSPORT names it: a name, such as mpich, or the path of a file. Without the variable it is the one
 * for the program that has started the process, such as mpirun of MPICH.
 *
 * A transport moves bytes and does no arithmetic, so the results of a package do not depend on it. It exports one
 * symbol, skrt_transport_table. */
#ifndef SKRT_TRANSPORT_H
#define SKRT_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises with each change of this file. libskrt refuses tables of another version. */
#define SKRT_TRANSPORT_VERSION 1

/* The movement of bytes between the n members of a group, numbered from 0 in the group's order. */
enum skrt_exchange_kind {
	SKRT_EXCHANGE_ALL_GATHER, /* `bytes` of each member; each receives all of them, member 0's first */
	SKRT_EXCHANGE_ALL_TO_ALL, /* n * bytes of each member: part p is for member p. Each receives n * bytes: the part
				   * for it of member 0, of member 1 … */
	SKRT_EXCHANGE_BROADCAST, /* each receives the `bytes` of member `root` */
	SKRT_EXCHANGE_SEND, /* member `peer` receives the `bytes` of member `root`; the others receive zeros */
};

/* An exchange, as a rank takes part in it. All memory belongs to libskrt. It stays while the exchange runs, except
 * `title`, which is for the call of `start`. */
struct skrt_transfer {
	uint32_t kind; /* enum skrt_exchange_kind */
	uint32_t size, place; /* the number of members; this rank's place among them */
	uint32_t root, peer; /* places; see enum skrt_exchange_kind */
	const uint32_t *members; /* their ranks, in the order of the group */
	uint64_t bytes; /* see enum skrt_exchange_kind; at least 1 */
	const void *send;
	void *receive; /* shares no byte with `send` */
	const char *title; /* for messages: "exchange 'sum' (AllReduce of group tp, 4096 bytes)" */
	uint64_t hash; /* equal on all ranks that take part in the same exchange; others differ with near certainty */
};

enum skrt_transfer_state {
	SKRT_TRANSFER_RUNS,
	SKRT_TRANSFER_ENDED, /* everything is received, and `send` may change */
	SKRT_TRANSFER_FAILED, /* it will never end, and no other one can start */
};

/* The functions of a transport. libskrt calls one at a time, from any thread. A rank has one exchange at a time. All
 * ranks of the run, not only the members of its group, start the same exchanges in the same order: the n-th one of a
 * rank is part of the n-th one of each rank. */
struct skrt_transport_table {
	uint32_t version; /* SKRT_TRANSPORT_VERSION */
	const char *name; /* for messages, such as "mpich" */

	/* Connect this process to the others of the run. It may wait for them.
	 *
	 * @param rank, ranks: receive this process's number, and the number of processes
	 * @param error: receives the reason, a sentence without an end
	 * @return the context for the other functions; NULL after an error */
	void *(*open)(uint32_t *rank, uint32_t *ranks, char *error, size_t error_size);

	/* Start an exchange, after the one before it has ended. `test` reports failures. */
	void (*start)(void *context, const struct skrt_transfer *transfer);

	/* Go on with the exchange, without waiting. */
	enum skrt_transfer_state (*test)(void *context);

	/* Describe the failure; or, while the exchange runs, the ranks that are missing: "rank 1 did not come". */
	void (*describe)(void *context, char *text, size_t size);

	/* End the run: this rank cannot go on. Let the exchanges of the others fail with this text in theirs, if they
	 * can still be told, then end all processes of the run. It does not return. */
	void (*abort)(void *context, const char *text);

	/* Return 0 if the program has disconnected this process by itself, such as by MPI_Finalize. Then none of the
	 * other functions is called any more, unless an exchange is still to be started, which fails. */
	int (*is_open)(void *context);

	/* Disconnect, after all ranks have said, in an exchange, that they have ended. NULL, or the reason of a
	 * failure, a text that stays. */
	const char *(*close)(void *context);
};

/* The symbol of a transport. */
extern const struct skrt_transport_table skrt_transport_table;

#ifdef __cplusplus
}
#endif

#endif
