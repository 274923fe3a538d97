/* Ranks in skdump's output: their groups, and the exchanges between them. See skdump.h. */
#include "src/skdump/skdump.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "format/skranks.h"

static const char *group_text(const struct sk_show *show, uint32_t group)
{
	const struct sk_ranks_view *ranks = &show->file->ranks;
	const struct sk_ranks_group *record = &ranks->groups[group];
	const char *text = sk_arena_print(show->arena, "%s ", sk_show_name(show, &record->name));

	for (uint32_t i = 0; i < ranks->rank_count; i++)
		text = sk_arena_print(show->arena, "%s%s%" PRIu32, text,
				      !i			? ""
				      : i % record->size	? ","
								: "/",
				      ranks->members[record->first_member + i]);
	return text;
}

const char *sk_show_ranks(const struct sk_show *show)
{
	const struct sk_ranks_view *ranks = &show->file->ranks;
	const char *text;

	if (!ranks->ranks)
		return NULL;
	text = sk_arena_print(show->arena, "%" PRIu32 ", with %" PRIu32 " exchange%s; group%s", ranks->rank_count,
			      ranks->exchange_count, sk_plural(ranks->exchange_count), sk_plural(ranks->group_count));
	for (uint32_t i = 0; i < ranks->group_count; i++)
		text = sk_arena_print(show->arena, "%s%s %s", text, i ? ";" : "", group_text(show, i));
	return text;
}

/* A broadcast has a root; bytes sent by it reach one member, or all. */
static const char *kind_text(const struct sk_show *show, const struct sk_ranks_exchange *exchange)
{
	const char *name = sk_exchange_kind_name(exchange->kind);

	if (exchange->kind == SK_EXCHANGE_BROADCAST)
		return sk_arena_print(show->arena, "%s from %" PRIu32, name, exchange->root);
	if (exchange->kind == SK_EXCHANGE_SEND)
		return sk_arena_print(show->arena, "%s from %" PRIu32 " to %" PRIu32, name, exchange->root,
				      exchange->peer);
	return name;
}

void sk_show_exchanges(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const struct sk_ranks_view *ranks = &show->file->ranks;
	struct sk_table table;

	if (!ranks->exchange_count)
		return;
	sk_table_init(&table, show->arena, "rllllrr");
	for (size_t i = 0; i < 7; i++)
		sk_table_cell(&table, "%s", (const char *const[]){"#", "task", "operator", "kind", "group", "sends",
								 "receives"}[i]);
	for (uint32_t i = 0; i < ranks->exchange_count; i++) {
		const struct sk_ranks_exchange *exchange = &ranks->exchanges[i];

		sk_table_cell(&table, "%" PRIu32, i);
		sk_table_cell(&table, "%s", sk_show_name(show, &plan->tasks[exchange->task].name));
		sk_table_cell(&table, "%s", sk_show_name(show, &exchange->op));
		sk_table_cell(&table, "%s", kind_text(show, exchange));
		sk_table_cell(&table, "%s", sk_show_name(show, &ranks->groups[exchange->group].name));
		sk_table_cell(&table, "%" PRIu64, sk_ranks_sent(ranks, exchange));
		sk_table_cell(&table, "%" PRIu64, sk_ranks_received(ranks, exchange));
	}
	sk_show_table(show, "exchanges", &table);
}

static void put_group(const struct sk_ranks_view *ranks, const struct sk_ranks_group *group, struct sk_json *json)
{
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "name", sk_plan_string(&group->name));
	sk_json_begin_list(json, "parts", SK_JSON_LINE);
	for (uint32_t i = 0; i < ranks->rank_count; i += group->size) {
		sk_json_begin_list(json, NULL, SK_JSON_LINE);
		for (uint32_t m = 0; m < group->size; m++)
			sk_json_put_number(json, NULL, ranks->members[group->first_member + i + m]);
		sk_json_end(json);
	}
	sk_json_end(json);
	sk_json_end(json);
}

static void put_exchange(const struct sk_ranks_view *ranks, const struct sk_ranks_exchange *exchange,
			 struct sk_json *json)
{
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_number(json, "task", exchange->task);
	sk_json_put_string(json, "operator", sk_plan_string(&exchange->op));
	sk_json_put_string(json, "kind", sk_exchange_kind_name(exchange->kind));
	sk_json_put_string(json, "group", sk_plan_string(&ranks->groups[exchange->group].name));
	sk_json_put_string(json, "dtype", sk_dtype_name((enum sk_dtype)exchange->dtype));
	sk_json_put_number(json, "root", exchange->root);
	sk_json_put_number(json, "peer", exchange->peer);
	sk_json_put_number(json, "sends", sk_ranks_sent(ranks, exchange));
	sk_json_put_number(json, "receives", sk_ranks_received(ranks, exchange));
	sk_json_end(json);
}

void sk_ranks_put_json(const struct sk_ranks_view *ranks, struct sk_json *json)
{
	if (!ranks->ranks)
		return;
	sk_json_put_number(json, "ranks", ranks->rank_count);
	sk_json_begin_list(json, "groups", SK_JSON_LINES);
	for (uint32_t i = 0; i < ranks->group_count; i++)
		put_group(ranks, &ranks->groups[i], json);
	sk_json_end(json);
	sk_json_begin_list(json, "exchanges", SK_JSON_LINES);
	for (uint32_t i = 0; i < ranks->exchange_count; i++)
		put_exchange(ranks, &ranks->exchanges[i], json);
	sk_json_end(json);
}
