/* The ranks of a link: their number, their groups, and the order of exchanges; see model.h. */
#include "src/model/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/exchange.h"
#include "format/skranks.h"

bool sk_model_set_ranks(struct sk_model *model, uint64_t ranks, struct sk_place place)
{
	struct sk_rank_groups *groups = model->ranks;
	uint32_t *members;

	if (ranks < 1 || ranks > SK_MAX_RANKS) {
		sk_error(model->diag, place, "%" PRIu64 " ranks are not from 1 to %d", ranks, SK_MAX_RANKS);
		return false;
	}
	if (groups && groups->ranks != ranks) {
		sk_error(model->diag, place, "the manifest is for %" PRIu64 " ranks, and --ranks says %" PRIu32, ranks,
			 groups->ranks);
		return false;
	}
	if (groups)
		return true;
	groups = model->ranks = SK_NEW(model->arena, struct sk_rank_groups);
	members = SK_NEW_ARRAY(model->arena, uint32_t, ranks);
	for (uint32_t i = 0; i < ranks; i++)
		members[i] = i;
	groups->ranks = (uint32_t)ranks;
	groups->items[groups->count++] = (struct sk_rank_group){"world", (uint32_t)ranks, members};
	return true;
}

uint32_t sk_model_find_group(const struct sk_model *model, const char *name)
{
	for (uint32_t i = 0; model->ranks && i < model->ranks->count; i++)
		if (!strcmp(model->ranks->items[i].name, name))
			return i;
	return SK_NONE;
}

/* The parts of a group, as they are read. */
struct parts {
	uint32_t *members;
	uint32_t count, size; /* size 0: the first part has not ended */
};

/* Read "0,1/2,3". Return NULL, or why the text is not a group. */
static const char *read_parts(struct sk_arena *arena, const char *text, uint32_t ranks, struct parts *parts)
{
	bool seen[SK_MAX_RANKS] = {false};
	uint32_t start = 0;

	for (const char *at = text;; at++) {
		char *end;
		unsigned long rank = strtoul(at, &end, 10);

		if (*at < '0' || *at > '9' || (*end && *end != ',' && *end != '/'))
			return "ranks are numbers with commas between them, and parts of the group have a slash "
			       "between them, such as 0,1/2,3";
		if (rank >= ranks)
			return sk_arena_print(arena, "there is no rank %lu among %" PRIu32, rank, ranks);
		if (seen[rank])
			return sk_arena_print(arena, "rank %lu is given twice", rank);
		seen[rank] = true;
		parts->members[parts->count++] = (uint32_t)rank;
		at = end;
		if (*at == ',')
			continue;
		if (parts->size && parts->count - start != parts->size)
			return sk_arena_print(arena, "one part has %" PRIu32 " ranks, and another one has %" PRIu32,
					      parts->size, parts->count - start);
		parts->size = parts->count - start;
		start = parts->count;
		if (!*at)
			break;
	}
	for (uint32_t i = 0; i < ranks; i++)
		if (!seen[i])
			return sk_arena_print(arena,
					      "it leaves out rank %" PRIu32
					      ", and all ranks run the package: give each a part, such as 0,1/2,3",
					      i);
	return NULL;
}

bool sk_model_add_group(struct sk_model *model, const char *name, const char *text, struct sk_place place)
{
	struct sk_rank_groups *groups = model->ranks;
	struct parts parts = {.size = 0};
	const char *why;

	if (!groups)
		why = "the number of ranks is missing; --ranks, or 'ranks' of a manifest, says it";
	else if (!*name)
		why = "it has no name";
	else if (sk_model_find_group(model, name) != SK_NONE)
		why = strcmp(name, "world") ? "it is given twice"
					    : "it is the group of all ranks, which is always there";
	else if (groups->count == SK_MAX_GROUPS)
		why = sk_arena_print(model->arena, "there are at most %d groups", SK_MAX_GROUPS);
	else {
		parts.members = SK_NEW_ARRAY(model->arena, uint32_t, groups->ranks);
		why = read_parts(model->arena, text, groups->ranks, &parts);
	}
	if (why) {
		sk_error(model->diag, place, "group '%s': %s", name, why);
		return false;
	}
	groups->items[groups->count++] = (struct sk_rank_group){name, parts.size, parts.members};
	return true;
}

static bool same_network(const struct sk_task *a, const struct sk_task *b)
{
	return !a->said.network || !b->said.network ? a->said.network == b->said.network
						    : !strcmp(a->said.network, b->said.network);
}

void sk_model_order_exchanges(struct sk_model *model)
{
	uint32_t last = SK_NONE;

	for (uint32_t t = 0; t < model->tasks.count; t++) {
		struct sk_task *task = &model->tasks.items[t];
		bool known = last == SK_NONE || !task->said.exchange ||
			     !same_network(task, &model->tasks.items[last]);

		for (size_t i = 0; i < task->said.after.count && !known; i++)
			known = task->said.after.items[i] == last;
		if (!known)
			sk_array_push(model->arena, &task->said.after, last);
		if (task->said.exchange)
			last = t;
	}
}
