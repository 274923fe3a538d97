/* The texts of the reasons; see planning-parts.h. */
#include "src/planning/planning-parts.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "src/planning/planning.h"

const char *sk_tile_reason_code(enum sk_tile_reason reason)
{
	static const char *const codes[SK_TILE_REASON_COUNT] = {
		[SK_TILE_JOINED] = "TILE_JOINED",
		[SK_TILE_FIRST] = "TILE_FIRST",
		[SK_TILE_SWITCHED_OFF] = "TILE_SWITCHED_OFF",
		[SK_TILE_SYNC_ALL] = "TILE_SYNC_ALL",
		[SK_TILE_NOT_DIVIDED] = "TILE_NOT_DIVIDED",
		[SK_TILE_UNTILED] = "TILE_UNTILED",
		[SK_TILE_FLUSHED] = "TILE_FLUSHED",
		[SK_TILE_SIZES] = "TILE_SIZES",
		[SK_TILE_HIDDEN_STATE] = "TILE_HIDDEN_STATE",
		[SK_TILE_SCALAR] = "TILE_SCALAR",
		[SK_TILE_LARGE_OPERAND] = "TILE_LARGE_OPERAND",
		[SK_TILE_OTHER_COMPOSITE] = "TILE_OTHER_COMPOSITE",
		[SK_TILE_OTHER_LANE] = "TILE_OTHER_LANE",
		[SK_TILE_EVENT] = "TILE_EVENT",
		[SK_TILE_AFTER] = "TILE_AFTER",
		[SK_TILE_TOO_MANY] = "TILE_TOO_MANY",
		[SK_TILE_SHARED] = "TILE_SHARED",
		[SK_TILE_TABLE] = "TILE_TABLE",
		[SK_TILE_HALO] = "TILE_HALO",
		[SK_TILE_OTHER_PARTS] = "TILE_OTHER_PARTS",
		[SK_TILE_BETWEEN] = "TILE_BETWEEN",
		[SK_TILE_MOVED] = "TILE_MOVED",
		[SK_TILE_NOTHING_SHARED] = "TILE_NOTHING_SHARED",
		[SK_TILE_FEW_UNITS] = "TILE_FEW_UNITS",
		[SK_TILE_NO_TILE] = "TILE_NO_TILE",
	};

	return reason < SK_TILE_REASON_COUNT ? codes[reason] : "?";
}

static const char *task_name(const struct sk_model *model, uint32_t task)
{
	return task == SK_NONE ? "?" : model->tasks.items[task].name;
}

/* Return the text after numbers that choices are made for. */
static const char *usual_text(const struct sk_model *model)
{
	return model->has_bounds ? " at the usual sizes" : "";
}

/* Return the text for a task that would be in a group. */
static const char *group_text(struct sk_arena *arena, const struct sk_model *model,
			      const struct sk_tile_verdict *verdict)
{
	const char *group =
		sk_arena_print(arena, "as one group from '%s' on they would", task_name(model, verdict->cause));

	if (verdict->reason == SK_TILE_FEW_UNITS)
		return sk_arena_print(arena, "%s have %" PRIu64 " unit%s of work for all cores%s, fewer than %" PRIu64,
				      group, verdict->amount, sk_plural(verdict->amount), usual_text(model),
				      verdict->limit);
	if (verdict->amount == UINT64_MAX)
		return sk_arena_print(arena, "%s have no common unit", group);
	return sk_arena_print(arena, "%s use %" PRIu64 " bytes at once in the smallest tile%s, more than %" PRIu64,
			      group, verdict->amount, usual_text(model), verdict->limit);
}

static const char *composite_text(struct sk_arena *arena, const struct sk_model *model, uint32_t task)
{
	uint32_t composite = model->tasks.items[task].said.composite;
	const char *name = composite ? model->composites.items[composite - 1] : NULL;

	return name ? sk_arena_print(arena, "composite '%s'", name) : "no composite";
}

/* Return the text for two tasks that access a tensor. */
static const char *shared_text(struct sk_arena *arena, const struct sk_model *model,
			       const struct sk_tile_verdict *verdict, const char *but)
{
	return sk_arena_join_all(arena, "it shares '",
				 verdict->tensor == SK_NONE ? "?" : model->tensors.items[verdict->tensor].name,
				 "' with '", task_name(model, verdict->cause), "', and ", but, NULL);
}

/* Return the text after "not in one group with '…' before it: ". */
static const char *obstacle_text(struct sk_arena *arena, const struct sk_model *model,
				 const struct sk_tile_verdict *verdict)
{
	const char *cause = task_name(model, verdict->cause);
	const char *tensor = verdict->tensor == SK_NONE ? "?" : model->tensors.items[verdict->tensor].name;

	switch (verdict->reason) {
	case SK_TILE_SWITCHED_OFF:
		return "the scope has tile-fusion=0";
	case SK_TILE_SYNC_ALL:
		return "the scope has debug-sync-all=1";
	case SK_TILE_NOT_DIVIDED:
		return sk_arena_join_all(arena, "the kernel of '", cause, "' cannot be called for any part of its work",
					 NULL);
	case SK_TILE_UNTILED:
		return sk_arena_join_all(arena, "the kernel of '", cause, "' is marked untiled", NULL);
	case SK_TILE_FLUSHED:
		return sk_arena_join_all(arena, "the data cache is flushed around '", cause, "'", NULL);
	case SK_TILE_HIDDEN_STATE:
		return sk_arena_join_all(arena, "the kernel of '", cause, "' has hidden state", NULL);
	case SK_TILE_SCALAR:
		return sk_arena_print(arena, "'%s' reads a scalar from tensor '%s'", cause, tensor);
	case SK_TILE_LARGE_OPERAND:
		return sk_arena_print(
			arena, "each call of '%s' reads the same %" PRIu64 " bytes%s, which are more than %" PRIu64,
			cause, verdict->amount, usual_text(model), verdict->limit);
	case SK_TILE_OTHER_COMPOSITE:
		return sk_arena_print(arena, "graph-kernel fusion has it in %s, and that one in %s",
				      composite_text(arena, model, verdict->cause),
				      composite_text(arena, model, verdict->before));
	case SK_TILE_OTHER_LANE:
		return "they run in different lanes";
	case SK_TILE_EVENT:
		return sk_arena_print(arena, "'%s' %s an event", cause,
				      verdict->cause == verdict->before ? "records" : "waits for");
	case SK_TILE_AFTER:
		return sk_arena_print(arena, "it comes after '%s', as the manifest says", cause);
	case SK_TILE_TOO_MANY:
		return sk_arena_print(arena, "%" PRIu64 " tasks are in one group there", verdict->limit);
	case SK_TILE_BETWEEN:
		return sk_arena_print(arena, "'%s' comes between them", cause);
	case SK_TILE_MOVED:
		return "the manifest has it before that one";
	case SK_TILE_NOTHING_SHARED:
		return "they divide no bytes alike, so there is nothing to save";
	case SK_TILE_SHARED:
		return shared_text(arena, model, verdict, "not both access it by parts");
	case SK_TILE_TABLE:
		return shared_text(arena, model, verdict, "one of them reaches it through a table of addresses");
	case SK_TILE_HALO:
		return shared_text(arena, model, verdict, "one of them reads beyond its part of it");
	case SK_TILE_SIZES:
		return shared_text(arena, model, verdict,
				   "for each element of the one, the other has a number of them that depends on sizes");
	case SK_TILE_OTHER_PARTS:
		return shared_text(arena, model, verdict, "the two divide it in different ways");
	default:
		return group_text(arena, model, verdict);
	}
}

/* Return the reason why the group's tiles are long. */
static const char *length_text(struct sk_arena *arena, const struct sk_model *model,
			       const struct sk_tile_verdict *verdict)
{
	if (!verdict->amount)
		return "";
	return sk_arena_print(arena,
			      "; tiles are long, since the %" PRIu64
			      " bytes that a core needs for its part%s stay in its cache of %" PRIu64,
			      verdict->amount, usual_text(model), verdict->limit);
}

static const char *sharing_text(struct sk_arena *arena, const struct sk_model *model,
				const struct sk_tile_verdict *verdict)
{
	const char *cause = task_name(model, verdict->cause);

	if (verdict->tensor == SK_NONE)
		return sk_arena_print(arena, "two groups meet in '%s'", cause);
	return sk_arena_join_all(arena, "it shares '", model->tensors.items[verdict->tensor].name, "' with '", cause,
				 "', part by part", NULL);
}

const char *sk_tile_reason_text(struct sk_arena *arena, const struct sk_model *model,
				const struct sk_tile_verdict *verdict)
{
	const char *before = task_name(model, verdict->before);

	switch (verdict->reason) {
	case SK_TILE_JOINED:
		return sk_arena_join_all(arena, "in one group with '", before,
					 "' before it: ", sharing_text(arena, model, verdict),
					 length_text(arena, model, verdict), NULL);
	case SK_TILE_FIRST:
		return "is the first task of its launch";
	default:
		return sk_arena_join_all(arena, "not in one group with '", before,
					 "' before it: ", obstacle_text(arena, model, verdict), NULL);
	}
}
