/* The texts of the reasons; see planning-parts.h. */
#include "src/planning/planning-parts.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "src/planning/planning.h"

const char *sk_block_reason_code(enum sk_block_reason reason)
{
	static const char *const codes[SK_BLOCKS_REASON_COUNT] = {
		[SK_BLOCKS_NONE] = "BLOCKS_NONE",
		[SK_BLOCKS_FOLLOWED] = "BLOCKS_FOLLOWED",
		[SK_BLOCKS_SWITCHED_OFF] = "BLOCKS_SWITCHED_OFF",
		[SK_BLOCKS_SYNC_ALL] = "BLOCKS_SYNC_ALL",
		[SK_BLOCKS_OTHER_LANE] = "BLOCKS_OTHER_LANE",
		[SK_BLOCKS_RESIDENT] = "BLOCKS_RESIDENT",
		[SK_BLOCKS_EARLY] = "BLOCKS_EARLY",
		[SK_BLOCKS_NO_ROWS] = "BLOCKS_NO_ROWS",
		[SK_BLOCKS_SIZES] = "BLOCKS_SIZES",
		[SK_BLOCKS_OTHER_PARTS] = "BLOCKS_OTHER_PARTS",
		[SK_BLOCKS_OTHER_ROWS] = "BLOCKS_OTHER_ROWS",
		[SK_BLOCKS_OFF_UNIT] = "BLOCKS_OFF_UNIT",
		[SK_BLOCKS_TOO_FEW] = "BLOCKS_TOO_FEW",
	};

	return reason < SK_BLOCKS_REASON_COUNT ? codes[reason] : "?";
}

/* Return the text after "cores do not keep to their blocks of '…': ". */
static const char *obstacle_text(struct sk_arena *arena, const struct sk_model *model,
				 const struct sk_block_verdict *verdict)
{

	switch (verdict->reason) {
	case SK_BLOCKS_SWITCHED_OFF:
		return "the scope has tile-fusion=0";
	case SK_BLOCKS_SYNC_ALL:
		return "the scope has debug-sync-all=1";
	case SK_BLOCKS_OTHER_LANE:
		return "they run in different lanes";
	case SK_BLOCKS_RESIDENT:
		return "its blocks wait for one another";
	case SK_BLOCKS_EARLY:
		return "it starts early";
	case SK_BLOCKS_NO_ROWS:
		return "its signature does not say which rows a block computes, as blocks= does";
	case SK_BLOCKS_SIZES:
		return "at some sizes blocks begin inside units of this task";
	case SK_BLOCKS_OTHER_PARTS:
		return sk_arena_print(arena, "the two do not both access '%s' by the same parts",
				      model->tensors.items[verdict->tensor].name);
	case SK_BLOCKS_OTHER_ROWS:
		return sk_arena_print(arena,
				      "%" PRIu64 " elements are not a whole number for each of its %" PRIu64 " rows",
				      verdict->limit, verdict->amount);
	case SK_BLOCKS_OFF_UNIT:
		return sk_arena_print(
			arena, "one begins at row %" PRIu64 ", inside a unit of %" PRIu64 " elements of this task",
			verdict->amount, verdict->limit);
	default:
		return sk_arena_print(arena, "it has %" PRIu64 ", fewer than the %" PRIu64 " cores with work here",
				      verdict->amount, verdict->limit);
	}
}

const char *sk_block_reason_text(struct sk_arena *arena, const struct sk_model *model,
				 const struct sk_block_verdict *verdict)
{
	const char *task = verdict->task == SK_NONE ? "?" : model->tasks.items[verdict->task].name;

	if (verdict->reason == SK_BLOCKS_NONE)
		return "shares no bytes with a task in blocks";
	if (verdict->reason == SK_BLOCKS_FOLLOWED)
		return sk_arena_print(arena, "each core computes the rows of its blocks of '%s'", task);
	return sk_arena_print(arena, "cores do not keep to their blocks of '%s': %s", task,
			      obstacle_text(arena, model, verdict));
}
