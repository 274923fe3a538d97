/* The section .sk.ranks (format/skranks.h): the ranks of the model, their groups, and its tasks that are exchanges.
 * Input: a bound model. Output: bytes. */
#include "src/planning/planning-parts.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/exchange.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

struct maker {
	struct sk_arena *arena;
	const struct sk_rank_groups *groups;
	SK_ARRAY(struct sk_ranks_group) records;
	SK_ARRAY(uint32_t) members;
	SK_ARRAY(struct sk_ranks_exchange) exchanges;
	SK_ARRAY(char) strings;
	struct sk_map known; /* strings */
};

/* Return the place of the string among all. */
static int32_t add_string(struct maker *maker, const char *text)
{
	uint32_t place = (uint32_t)maker->strings.count;
	uint32_t first = sk_map_insert(&maker->known, text, strlen(text), place);

	for (const char *c = text; first == place; c++) {
		sk_array_push(maker->arena, &maker->strings, *c);
		if (!*c)
			break;
	}
	return (int32_t)first;
}

static void add_groups(struct maker *maker)
{
	for (uint32_t g = 0; g < maker->groups->count; g++) {
		const struct sk_rank_group *group = &maker->groups->items[g];
		struct sk_ranks_group record = {.name = add_string(maker, group->name),
						.size = group->size,
						.first_member = (uint32_t)maker->members.count};

		sk_array_push(maker->arena, &maker->records, record);
		for (uint32_t i = 0; i < maker->groups->ranks; i++)
			sk_array_push(maker->arena, &maker->members, group->members[i]);
	}
}

/* The task reads the bytes that the rank sends. */
static uint64_t part_bytes(const struct maker *maker, const struct sk_task *task)
{
	const struct sk_exchange *exchange = task->said.exchange;
	uint64_t sent = 0;

	for (uint32_t i = 0; i < task->bound.argument_count; i++)
		if (task->bound.arguments[i].kind == SK_ARGUMENT_POINTER &&
		    task->bound.arguments[i].access == SK_ACCESS_READ)
			sent = task->bound.arguments[i].size;
	return exchange->kind == SK_EXCHANGE_ALL_TO_ALL ? sent / maker->groups->items[exchange->group].size : sent;
}

static void add_exchanges(struct maker *maker, const struct sk_model *model)
{
	for (uint32_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];
		const struct sk_exchange *exchange = task->said.exchange;

		if (!exchange)
			continue;
		struct sk_ranks_exchange record = {
			.task = t,
			.op = add_string(maker, exchange->op),
			.kind = (uint8_t)exchange->kind,
			.dtype = (uint8_t)model->tensors.items[task->said.args.items[0].tensor].dtype,
			.group = exchange->group,
			.root = exchange->root,
			.peer = exchange->peer,
			.bytes = part_bytes(maker, task)};

		sk_array_push(maker->arena, &maker->exchanges, record);
	}
}

/* Append a table, and return its place. */
static size_t place_table(struct sk_ranks *ranks, struct sk_plan_table *table, size_t count, size_t record_size)
{
	size_t place = (ranks->size + 7) / 8 * 8;

	table->count = (uint32_t)count;
	table->offset = count ? (int32_t)(place - (size_t)((char *)&table->offset - (char *)ranks)) : 0;
	ranks->size = place + count * record_size;
	return place;
}

static void put_table(uint8_t *bytes, size_t place, const void *records, size_t size)
{
	if (size)
		memcpy(bytes + place, records, size);
}

void sk_plan_write_ranks(const struct sk_model *model, struct sk_plan_image *image)
{
	struct maker maker = {.arena = model->arena, .groups = model->ranks};
	struct sk_ranks ranks = {.magic = SK_RANKS_MAGIC,
				 .version = SK_RANKS_VERSION,
				 .size = sizeof(ranks),
				 .ranks = model->ranks->ranks};
	size_t groups, members, exchanges, strings;
	uint8_t *bytes;

	sk_map_init(&maker.known, maker.arena);
	add_groups(&maker);
	add_exchanges(&maker, model);
	groups = place_table(&ranks, &ranks.groups, maker.records.count, sizeof(*maker.records.items));
	members = place_table(&ranks, &ranks.members, maker.members.count, sizeof(*maker.members.items));
	exchanges = place_table(&ranks, &ranks.exchanges, maker.exchanges.count, sizeof(*maker.exchanges.items));
	strings = place_table(&ranks, &ranks.strings, maker.strings.count, 1);
	for (size_t i = 0; i < maker.records.count; i++)
		maker.records.items[i].name += (int32_t)(strings - (groups + i * sizeof(*maker.records.items) +
								    offsetof(struct sk_ranks_group, name)));
	for (size_t i = 0; i < maker.exchanges.count; i++)
		maker.exchanges.items[i].op += (int32_t)(strings - (exchanges + i * sizeof(*maker.exchanges.items) +
								    offsetof(struct sk_ranks_exchange, op)));
	bytes = (void *)SK_NEW_ARRAY(model->arena, uint64_t, (ranks.size + 7) / 8);
	put_table(bytes, 0, &ranks, sizeof(ranks));
	put_table(bytes, groups, maker.records.items, maker.records.count * sizeof(*maker.records.items));
	put_table(bytes, members, maker.members.items, maker.members.count * sizeof(*maker.members.items));
	put_table(bytes, exchanges, maker.exchanges.items, maker.exchanges.count * sizeof(*maker.exchanges.items));
	put_table(bytes, strings, maker.strings.items, maker.strings.count);
	image->ranks = bytes;
	image->ranks_size = ranks.size;
}
