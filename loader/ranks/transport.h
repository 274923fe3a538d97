/* How ranks exchange bytes: transports, in shared objects or simulated on one machine, and numbers that all ranks
 * exchange beside their packages' data. */
#ifndef SK_LOADER_RANKS_TRANSPORT_H
#define SK_LOADER_RANKS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/skrt-transport.h"

struct sk_plan_view;
struct sk_ranks_view;

/* ==== transport ====
 *
 * A transport connects the ranks of a run. Its functions are those of struct skrt_transport_table. */

struct sk_transport {
	void *context;
	const char *name;
	uint32_t rank, ranks;
	uint64_t room; /* most bytes that a rank can send to each at once; 0: any */
	bool checked; /* before each exchange, all ranks compare where they are */
	void (*start)(void *context, const struct skrt_transfer *transfer);
	enum skrt_transfer_state (*test)(void *context);
	void (*describe)(void *context, char *text, size_t size);
	void (*abort)(void *context, const char *text); /* of simulated ranks it returns; then the process ends */
	int (*is_open)(void *context);
	const char *(*close)(void *context);
};

enum { SK_RANKS_TIMEOUT = 60000 /* ms: the usual time-out of exchanges */ };

/* ==== simulated.c ====
 *
 * Simulated ranks: processes of one machine with shared memory, made by fork. A rank copies its bytes to the shared
 * memory; when all of the group have come, each copies those for it. */

struct sk_shared_ranks;

enum { SK_SIMULATION_LEAST = 4096 /* bytes that a rank can always send at once */ };

/* Make the shared memory for so many ranks, each of which sends at most `most` bytes at once. seed: not 0: ranks come
 * to each exchange in an order of its own. NULL: no memory; errno says why. */
struct sk_shared_ranks *sk_simulation_open(uint32_t ranks, uint64_t most, uint64_t seed);

/* Fill in the transport of a rank. Each process does that after the fork. */
void sk_simulation_join(struct sk_shared_ranks *simulation, uint32_t rank, struct sk_transport *transport);

/* As `abort` of the rank's transport, for a process that sees a rank end. */
void sk_simulation_abort(struct sk_shared_ranks *simulation, uint32_t rank, const char *text);

/* ==== plugin.c ====
 *
 * Transports in shared objects. */

/* A program that starts processes, as it shows in their environment. */
struct sk_launcher {
	const char *transport; /* the one that connects its processes; NULL: this process has no such launcher */
	const char *variable; /* of the environment, which has the number of processes */
	uint32_t rank, ranks; /* as the environment says */
};

/* Find the launcher of this process. */
struct sk_launcher sk_launcher_find(void);

/* Return the name or file of the transport of this process; NULL: it is alone. It is what SKRT_TRANSPORT says, unless
 * that is "none", or what connects the launcher's processes if there are several. */
const char *sk_plugin_choose(const struct sk_launcher *launcher);

/* Open it. False, with the reason: no such file, another version, or as many ranks as the launcher does not have. */
bool sk_plugin_open(const char *name, const struct sk_launcher *launcher, struct sk_transport *transport, char *error,
		    size_t error_size);

/* ==== gather.c ====
 *
 * Numbers that all ranks exchange beside their packages' data, such as comparisons. All ranks call these functions in
 * the same order, between exchanges. False, with the reason: after that the transport is of no use. */

struct sk_gathering {
	const struct sk_transport *transport;
	uint64_t timeout; /* ms */
	char *error;
	size_t error_size;
};

/* Give each rank the `bytes` of all of them, in their order. title: for messages, "the end of the runs". */
bool sk_gather(const struct sk_gathering *gathering, const char *title, const void *own, void *all, uint64_t bytes);

/* Bring the bytes of rank `from` to rank 0, in parts; they are `size` on both. On other ranks the memory is not used.
 */
bool sk_bring(const struct sk_gathering *gathering, const char *title, uint32_t from, void *bytes, uint64_t size);

/* The places of all ranks in their order of exchanges, compared before each exchange to find ranks with another order:
 * for transports with `checked`. */
struct sk_rank_places;

/* Return memory for them, or NULL. Free it with sk_rank_places_close. */
struct sk_rank_places *sk_rank_places_open(const struct sk_transport *transport);
void sk_rank_places_close(struct sk_rank_places *places);

/* Return the exchange of all ranks that comes before `transfer`. After it has ended, sk_rank_places_agree returns
 * whether all ranks come to the same one; else the text names two ranks. */
const struct skrt_transfer *sk_rank_places_begin(struct sk_rank_places *places, const struct skrt_transfer *transfer);
bool sk_rank_places_agree(const struct sk_rank_places *places, char *text, size_t size);

/* ==== compare.c ====
 *
 * The packages of the ranks, compared before anything runs. */

struct sk_comparison {
	struct sk_gathering gathering;
	const struct sk_ranks_view *ranks;
	const struct sk_plan_view *plan;
	uint64_t number; /* of the packages that this process has compared */
	bool own_packages; /* each rank is meant to have a package of its own: their seals may differ */
};

/* Compare the exchanges and the seals. False on all ranks, with a text that names two of them, if they differ. */
bool sk_ranks_compare(const struct sk_comparison *comparison);

#endif
