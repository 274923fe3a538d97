/* Ranks in a model or a manifest: their number, groups, and the exchanges that tasks stand for. The
 * records of a package are in format/skranks.h. */
#ifndef SK_FORMAT_EXCHANGE_H
#define SK_FORMAT_EXCHANGE_H

#include <stdint.h>

#include "format/skranks.h"

/* A division of all ranks into parts of `size` ranks each. */
struct sk_rank_group {
	const char *name;
	uint32_t size;
	const uint32_t *members; /* the numbers of all ranks, part after part */
};

/* The groups of a link with ranks. The first one is "world": all ranks in their order. */
struct sk_rank_groups {
	uint32_t ranks; /* 0: the link is for one process, and has no groups */
	uint32_t count;
	struct sk_rank_group items[SK_MAX_GROUPS];
};

/* The exchange that a task or a call stands for; its bytes are those of the tensors. */
struct sk_exchange {
	enum sk_exchange_kind kind;
	uint32_t group; /* index */
	uint32_t root, peer; /* members, as in struct sk_ranks_exchange */
	const char *op; /* the operator that it is a part of */
};

#endif
