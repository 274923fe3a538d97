/* The ranks of a package that several processes run together: the section .sk.ranks, with the groups of ranks and the
 * exchanges between them. It is part of the interface between linker and loader (format/skplan.h).
 *
 * All ranks run the same package, so its exchanges are in the same order on each. An exchange is a step of one block
 * with SK_STEP_RESIDENT, in a superkernel or in a launch of kind SK_LAUNCH_EXCHANGE. A package without the section is
 * for one process, and has no launch of that kind. The section is allocated and found by the dynamic symbol
 * sk_ranks. Its form is that of the plan: little-endian, used in place, place-relative references (struct
 * sk_plan_table, strings), natural alignment, reserved fields zero. Other programs read it through format/plan/ranks.c
 * only, which checks it before use. */
#ifndef SK_RANKS_H
#define SK_RANKS_H

#include <stdint.h>

#include "format/skplan.h"

/* The records read as tables: */
/* clang-format off */

#define SK_RANKS_MAGIC 0x4b524b53u /* "SKRK" */
#define SK_RANKS_VERSION 1u

enum {
	SK_MAX_RANKS = 1024, /* of a package */
	SK_MAX_GROUPS = 64,
	SK_MAX_EXCHANGES = 1 << 20,
};

/* The movement of bytes between the n members of a group, numbered from 0 in the group's order. A task of an exchange
 * reads one tensor, which the rank sends, and writes one that it receives. The order is part of the format. */
enum sk_exchange_kind {
	SK_EXCHANGE_ALL_GATHER, /* `bytes` of each member; each receives all of them, member 0's first: n * bytes */
	SK_EXCHANGE_ALL_TO_ALL, /* n * bytes of each member: part p is for member p. Each receives n * bytes: the part
				   for it of member 0, of member 1 … */
	SK_EXCHANGE_BROADCAST,	/* each receives the `bytes` of member `root` */
	SK_EXCHANGE_SEND,	/* member `peer` receives the `bytes` of member `root`; the others receive zeros */
	SK_EXCHANGE_KIND_COUNT,
};

/* Return the name in manifests and messages; "?" for an invalid number. */
static inline const char *sk_exchange_kind_name(uint32_t kind)
{
	static const char *const names[SK_EXCHANGE_KIND_COUNT] = {"all-gather", "all-to-all", "broadcast", "send"};

	return kind < SK_EXCHANGE_KIND_COUNT ? names[kind] : "?";
}

/* A division of all ranks into parts of `size` ranks each. Ranks exchange data within their part; in messages "the
 * group" of a rank is its part. */
struct sk_ranks_group {
	int32_t name;	       /* string; unique */
	uint32_t size;	       /* of each part; it divides the number of ranks */
	uint32_t first_member; /* index into members: `ranks` numbers of ranks, part after part. Each occurs once */
	uint32_t reserved;
};

/* An exchange of the network. They are in the order of the tasks, which is that in which every rank starts them. */
struct sk_ranks_exchange {
	uint32_t task;	   /* index into tasks of the plan */
	int32_t op;	   /* string, for messages: the operator that it is a part of, such as "AllReduce" */
	uint8_t kind;	   /* enum sk_exchange_kind */
	uint8_t dtype;	   /* enum sk_dtype of the tensors, for messages */
	uint16_t reserved;
	uint32_t group;	   /* index into groups */
	uint32_t root;	   /* BROADCAST, SEND: member of the group; else 0 */
	uint32_t peer;	   /* SEND: member of the group; else 0 */
	uint64_t bytes;	   /* see enum sk_exchange_kind; at least 1 */
};

struct sk_ranks {
	uint32_t magic;
	uint32_t version; /* SK_RANKS_VERSION */
	uint64_t size;	  /* of the whole section, this header included */
	uint32_t ranks;	  /* the number of ranks, from 1 to SK_MAX_RANKS */
	uint32_t reserved;
	struct sk_plan_table groups;	/* struct sk_ranks_group */
	struct sk_plan_table members;	/* uint32_t: numbers of ranks */
	struct sk_plan_table exchanges; /* struct sk_ranks_exchange */
	struct sk_plan_table strings;	/* bytes; the last one is NUL, every string is inside */
};

#endif
