/* The account: what became of each task and why, which orders the manifest wants beside those of the data, where
 * kernels are from, and which nodes of a model have no task: for people, and for the proof. It travels in the package
 * as the section .sk.report, which is not loaded and which only skdump reads: an 8-byte little-endian size, then a zlib
 * stream of that many bytes of text. The text has a line per task, behind these a line per order and one per kernel,
 * and then for each node without a task a line and one per slice, their fields separated by tabs:
 *
 *   task  name  scope or -  launch  CODE  sentence  TILE_CODE  sentence  BLOCKS_CODE or -  sentence  rule or -
 *   later task  earlier task  event or -
 *   kernel  object
 *   node  operator  splits or joins  number of slices
 *   part  tensor  offset  bytes
 *
 * with the tasks' and the launch's numbers in the plan, the reason code of the fusion and the reason in words, and the
 * same of whether the task is in one tile group with the one in front of it in its launch, and of whether it keeps to
 * the blocks of another one, if that is a question; and the rule that has made the model's node, if one has. Of an
 * event, the tasks that wait for it and record it: what follows for their streams is in the plan. Orders stand in the
 * order of their later tasks. Behind them stand the plan's kernels, with the object or "archive(member)" of each,
 * without folders: so links in other folders make the same package. Of a slice, the tensor's number in the plan, and
 * where in that tensor it is. */
#ifndef SK_ACCOUNT_H
#define SK_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/proof/verify.h"

#define SK_ACCOUNT_SECTION ".sk.report"

/* The only code with which a task is in one step with the one in front of it. */
#define SK_ACCOUNT_JOINED "TILE_JOINED"

/* The only code with which cores have blocks of another task, as its step's partition says. */
#define SK_ACCOUNT_FOLLOWED "BLOCKS_FOLLOWED"

struct sk_account_entry {
	uint32_t task; /* index into the plan's tasks */
	uint32_t launch; /* index into the plan's launches: the one that runs it */
	const char *name; /* of the task */
	const char *scope; /* NULL: none */
	const char *code; /* reason code: why the task was fused, or why not */
	const char *sentence; /* the reason, for people */
	const char *tile_code; /* reason code: why the task is in one tile group with the one in front of it, or not */
	const char *tile_sentence;
	const char *
		block_code; /* why each core computes what it has of another task's blocks, or not; NULL: no question */
	const char *block_sentence; /* NULL: no question */
	const char *rule; /* that has made the model's node; NULL: none */
};

/* A part of what a node splits or joins that is bytes of the other side, so that nothing moves them. */
struct sk_account_slice {
	const char *name; /* of the part */
	uint32_t tensor; /* index into the plan's tensors */
	uint64_t offset, bytes;
};

/* A node of a model for which nothing is launched. */
struct sk_account_node {
	const char *name;
	const char *op; /* as the model calls it */
	bool joins; /* or it splits */
	uint32_t slice_count; /* as many as it has parts with elements */
	const struct sk_account_slice *slices;
};

struct sk_account {
	const struct sk_account_entry *entries;
	size_t count;
	const struct sk_wanted_order *orders;
	size_t order_count;
	const char **objects; /* by kernel of the plan, without the copies behind them */
	size_t object_count;
	const struct sk_account_node *nodes; /* without a task */
	size_t node_count;
};

/* Packs the account into the section's contents, in the arena. Tabs and line ends inside a field become spaces. */
void sk_account_pack(struct sk_arena *arena, const struct sk_account *account, const void **bytes, uint64_t *size);

/* Unpacks a section's contents into the arena. Returns NULL, or what is wrong with them; then the account is empty.
 * Trusts nothing: sizes, the stream and every line are checked; what the numbers mean is for the caller to check. */
const char *sk_account_unpack(struct sk_arena *arena, const void *bytes, uint64_t size, struct sk_account *account);

/* Whether a node without a task has the name. */
bool sk_account_has_node(const struct sk_account *account, const char *name);

/* What the account says about the task, or NULL. */
const struct sk_account_entry *sk_account_find(const struct sk_account *account, uint32_t task);

#endif
