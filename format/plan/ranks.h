/* The reader of .sk.ranks: groups of ranks, and the exchanges between them. */
#ifndef SK_FORMAT_PLAN_RANKS_H
#define SK_FORMAT_PLAN_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_plan_view;
struct sk_ranks;
struct sk_ranks_exchange;
struct sk_ranks_group;

struct sk_ranks_view {
	const struct sk_ranks *ranks; /* NULL: the package is for one process, and all counts are 0 */
	const struct sk_ranks_group *groups;
	const uint32_t *members;
	const struct sk_ranks_exchange *exchanges;
	uint32_t rank_count, group_count, exchange_count;
};

/* Check an untrusted section by itself, and fill the view. `bytes` must be aligned to 8 and outlive the view. Errors
 * are text in the caller's buffer: "ranks: exchange 3: group 5 is out of range (2 groups)". */
bool sk_ranks_open(const void *bytes, size_t size, struct sk_ranks_view *view, char *error, size_t error_size);

/* Check that the exchanges are those of the plan. All its launches have been checked. One core makes each exchange
 * once, in a superkernel or in a launch of kind SK_LAUNCH_EXCHANGE, which has nothing else; and each moves as many
 * bytes as its task reads and writes. A view without ranks: the plan has no launch of that kind. */
bool sk_ranks_check(const struct sk_ranks_view *view, const struct sk_plan_view *plan, char *error, size_t error_size);

/* Return the exchange of a task; NULL: it is none. */
const struct sk_ranks_exchange *sk_ranks_find(const struct sk_ranks_view *view, uint32_t task);

/* Return the bytes that a rank sends in an exchange, and that it receives. */
uint64_t sk_ranks_sent(const struct sk_ranks_view *view, const struct sk_ranks_exchange *exchange);
uint64_t sk_ranks_received(const struct sk_ranks_view *view, const struct sk_ranks_exchange *exchange);

/* Return the ranks of the group's part that the rank is in, in the order of the group: `size` numbers; and its own
 * place among them. */
const uint32_t *sk_ranks_part(const struct sk_ranks_view *view, const struct sk_ranks_group *group, uint32_t rank,
			      uint32_t *place);

/* Write "exchange 'ar_3' (AllReduce, all-gather of group tp, 4096 bytes)": the task, and the bytes that a rank
 * sends. */
void sk_ranks_text(const struct sk_ranks_view *view, const struct sk_plan_view *plan,
		   const struct sk_ranks_exchange *exchange, char *text, size_t size);

/* Return a number that differs if the place of the exchange in the list, its kind, type, bytes, group or roots do, or
 * the number of ranks. Names do not count. */
uint64_t sk_ranks_hash(const struct sk_ranks_view *view, const struct sk_ranks_exchange *exchange);

#endif
