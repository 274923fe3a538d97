/* See ranks.h. */
#include "format/plan/ranks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan-checker.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skranks.h"

_Static_assert(sizeof(struct sk_ranks_group) == 16, "struct sk_ranks_group");
_Static_assert(sizeof(struct sk_ranks_exchange) == 32, "struct sk_ranks_exchange");
_Static_assert(sizeof(struct sk_ranks) == 56, "struct sk_ranks");

/* The current place, for messages, and their buffer. */
struct reader {
	struct sk_ranks_view *view;
	const char *record; /* NULL: the section */
	uint32_t index;
	char *error;
	size_t error_size;
};

static bool fail(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(const struct reader *reader, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (reader->record)
		snprintf(reader->error, reader->error_size, "ranks: %s %" PRIu32 ": %s", reader->record, reader->index,
			 text);
	else
		snprintf(reader->error, reader->error_size, "ranks: %s", text);
	return false;
}

/* ---- the section's tables ---- */

/* Return the offset in the section that a place-relative field refers to. */
static int64_t target_of(const struct sk_ranks *ranks, const int32_t *field)
{
	return ((const char *)field - (const char *)ranks) + (int64_t)*field;
}

static bool open_table(const struct reader *reader, const char *name, const struct sk_plan_table *table,
		       size_t record_size, uint32_t most, const void **records)
{
	const struct sk_ranks *ranks = reader->view->ranks;
	int64_t start = target_of(ranks, &table->offset);
	size_t alignment = record_size % 8 == 0 ? 8 : record_size % 4 == 0 ? 4 : 1;

	*records = NULL;
	if (!table->count)
		return true;
	if (table->count > most)
		return fail(reader, "%" PRIu32 " %s are more than %" PRIu32, table->count, name, most);
	if (start < (int64_t)sizeof(*ranks) ||
	    !sk_plan_within((uint64_t)start, table->count * (uint64_t)record_size, ranks->size))
		return fail(reader, "the table of %s (%" PRIu32 " records) lies outside the section", name,
			    table->count);
	if ((uint64_t)start % alignment)
		return fail(reader, "the table of %s is not aligned to %zu bytes", name, alignment);
	*records = (const char *)ranks + start;
	return true;
}

static bool open_tables(const struct reader *reader)
{
	struct sk_ranks_view *view = reader->view;
	const struct sk_ranks *ranks = view->ranks;
	const void *groups, *members, *exchanges, *strings;

	if (!open_table(reader, "groups", &ranks->groups, sizeof(*view->groups), SK_MAX_GROUPS, &groups) ||
	    !open_table(reader, "members", &ranks->members, sizeof(*view->members), SK_MAX_GROUPS * SK_MAX_RANKS,
			&members) ||
	    !open_table(reader, "exchanges", &ranks->exchanges, sizeof(*view->exchanges), SK_MAX_EXCHANGES,
			&exchanges) ||
	    !open_table(reader, "strings", &ranks->strings, 1, INT32_MAX, &strings))
		return false;
	if (ranks->strings.count && ((const char *)strings)[ranks->strings.count - 1] != '\0')
		return fail(reader, "the last string has no end");
	view->groups = groups;
	view->members = members;
	view->exchanges = exchanges;
	view->rank_count = ranks->ranks;
	view->group_count = ranks->groups.count;
	view->exchange_count = ranks->exchanges.count;
	return true;
}

static bool check_string(const struct reader *reader, const int32_t *field, const char *noun)
{
	const struct sk_ranks *ranks = reader->view->ranks;
	int64_t target = target_of(ranks, field), strings = target_of(ranks, &ranks->strings.offset);

	if (*field == 0)
		return fail(reader, "%s is missing", noun);
	if (target < strings || target - strings >= (int64_t)ranks->strings.count)
		return fail(reader, "%s lies outside the strings", noun);
	return *sk_plan_string(field) || fail(reader, "%s is empty", noun);
}

static bool check_header(const struct reader *reader, const void *bytes, size_t size)
{
	const struct sk_ranks *ranks = bytes;

	if ((uintptr_t)bytes % 8)
		return fail(reader, "they are not aligned to 8 bytes");
	if (size < sizeof(*ranks))
		return fail(reader, "%zu bytes are too few", size);
	if (ranks->magic != SK_RANKS_MAGIC)
		return fail(reader, "they have no magic number");
	if (ranks->version != SK_RANKS_VERSION)
		return fail(reader, "version %" PRIu32 " is not supported (this is %u)", ranks->version,
			    SK_RANKS_VERSION);
	if (ranks->size < sizeof(*ranks) || ranks->size > size)
		return fail(reader, "they claim %" PRIu64 " bytes and have %zu", ranks->size, size);
	if (ranks->ranks < 1 || ranks->ranks > SK_MAX_RANKS)
		return fail(reader, "%" PRIu32 " ranks are not from 1 to %d", ranks->ranks, SK_MAX_RANKS);
	return !ranks->reserved || fail(reader, "a reserved field is not zero");
}

/* ---- groups ---- */

/* Check that each rank is in one part. */
static bool check_members(const struct reader *reader, const struct sk_ranks_group *group)
{
	const struct sk_ranks_view *view = reader->view;
	uint8_t seen[SK_MAX_RANKS] = {0};

	for (uint32_t i = 0; i < view->rank_count; i++) {
		uint32_t rank = view->members[group->first_member + i];

		if (rank >= view->rank_count)
			return fail(reader,
				    "member %" PRIu32 " is rank %" PRIu32 ", which there is not (%" PRIu32 " ranks)", i,
				    rank, view->rank_count);
		if (seen[rank]++)
			return fail(reader, "rank %" PRIu32 " is in it twice, so another one is in none of its parts",
				    rank);
	}
	return true;
}

static bool check_group(const struct reader *reader, const struct sk_ranks_group *group)
{
	const struct sk_ranks_view *view = reader->view;

	if (!check_string(reader, &group->name, "the name"))
		return false;
	for (uint32_t i = 0; i < reader->index; i++)
		if (!strcmp(sk_plan_string(&view->groups[i].name), sk_plan_string(&group->name)))
			return fail(reader, "'%s' is also the name of group %" PRIu32, sk_plan_string(&group->name), i);
	if (!group->size || view->rank_count % group->size)
		return fail(reader, "parts of %" PRIu32 " ranks do not divide %" PRIu32 " ranks", group->size,
			    view->rank_count);
	if (group->reserved)
		return fail(reader, "a reserved field is not zero");
	if (!sk_plan_within(group->first_member, view->rank_count, view->ranks->members.count))
		return fail(reader, "its members are out of range (%" PRIu32 " in all)", view->ranks->members.count);
	return check_members(reader, group);
}

/* ---- exchanges ---- */

static bool has_root(uint32_t kind)
{
	return kind == SK_EXCHANGE_BROADCAST || kind == SK_EXCHANGE_SEND;
}

static bool check_exchange(const struct reader *reader, const struct sk_ranks_exchange *exchange)
{
	const struct sk_ranks_view *view = reader->view;
	uint64_t all;
	uint32_t size;

	if (reader->index && exchange->task <= exchange[-1].task)
		return fail(reader,
			    "its task %" PRIu32 " does not come after task %" PRIu32
			    ", which the exchange before it has",
			    exchange->task, exchange[-1].task);
	if (!check_string(reader, &exchange->op, "the operator"))
		return false;
	if (exchange->kind >= SK_EXCHANGE_KIND_COUNT)
		return fail(reader, "kind %u is unknown", exchange->kind);
	if (exchange->dtype == SK_DTYPE_NONE || exchange->dtype >= SK_DTYPE_COUNT)
		return fail(reader, "element type %u is unknown", exchange->dtype);
	if (exchange->reserved)
		return fail(reader, "a reserved field is not zero");
	if (exchange->group >= view->group_count)
		return fail(reader, "group %" PRIu32 " is out of range (%" PRIu32 " groups)", exchange->group,
			    view->group_count);
	size = view->groups[exchange->group].size;
	if (exchange->root >= (has_root(exchange->kind) ? size : 1))
		return fail(reader, "member %" PRIu32 " cannot be its root", exchange->root);
	if (exchange->peer >= (exchange->kind == SK_EXCHANGE_SEND ? size : 1))
		return fail(reader, "member %" PRIu32 " cannot receive it", exchange->peer);
	if (!exchange->bytes || __builtin_mul_overflow(exchange->bytes, (uint64_t)size, &all) || all > INT64_MAX)
		return fail(reader, "%" PRIu64 " bytes for each of %" PRIu32 " members cannot be exchanged",
			    exchange->bytes, size);
	return true;
}

static bool check_contents(struct reader *reader)
{
	const struct sk_ranks_view *view = reader->view;

	reader->record = "group";
	for (reader->index = 0; reader->index < view->group_count; reader->index++)
		if (!check_group(reader, &view->groups[reader->index]))
			return false;
	reader->record = "exchange";
	for (reader->index = 0; reader->index < view->exchange_count; reader->index++)
		if (!check_exchange(reader, &view->exchanges[reader->index]))
			return false;
	return true;
}

bool sk_ranks_open(const void *bytes, size_t size, struct sk_ranks_view *view, char *error, size_t error_size)
{
	struct reader reader = {.view = view, .error = error, .error_size = error_size};

	*view = (struct sk_ranks_view){.ranks = bytes};
	if (check_header(&reader, bytes, size) && open_tables(&reader) && check_contents(&reader))
		return true;
	*view = (struct sk_ranks_view){NULL};
	return false;
}

/* ---- queries ---- */

const struct sk_ranks_exchange *sk_ranks_find(const struct sk_ranks_view *view, uint32_t task)
{
	uint32_t low = 0, high = view->exchange_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (view->exchanges[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low < view->exchange_count && view->exchanges[low].task == task ? &view->exchanges[low] : NULL;
}

uint64_t sk_ranks_sent(const struct sk_ranks_view *view, const struct sk_ranks_exchange *exchange)
{
	bool parts = exchange->kind == SK_EXCHANGE_ALL_TO_ALL;

	return exchange->bytes * (parts ? view->groups[exchange->group].size : 1);
}

uint64_t sk_ranks_received(const struct sk_ranks_view *view, const struct sk_ranks_exchange *exchange)
{
	return exchange->bytes * (has_root(exchange->kind) ? 1 : view->groups[exchange->group].size);
}

const uint32_t *sk_ranks_part(const struct sk_ranks_view *view, const struct sk_ranks_group *group, uint32_t rank,
			      uint32_t *place)
{
	const uint32_t *members = &view->members[group->first_member];
	uint32_t at = 0;

	while (members[at] != rank)
		at++;
	*place = at % group->size;
	return &members[at - *place];
}

void sk_ranks_text(const struct sk_ranks_view *view, const struct sk_plan_view *plan,
		   const struct sk_ranks_exchange *exchange, char *text, size_t size)
{
	const char *op = sk_plan_string(&exchange->op), *kind = sk_exchange_kind_name(exchange->kind);
	bool named = strcmp(op, kind) != 0;

	snprintf(text, size, "exchange '%s' (%s%s%s of group %s, %" PRIu64 " bytes)",
		 sk_plan_string(&plan->tasks[exchange->task].name), op, named ? ", " : "", named ? kind : "",
		 sk_plan_string(&view->groups[exchange->group].name), sk_ranks_sent(view, exchange));
}

/* FNV-1a of 64 bits: the numbers are few, and the hash need not resist an attacker. */
static void add_number(uint64_t *hash, uint64_t number)
{
	for (uint32_t i = 0; i < sizeof(number); i++)
		*hash = (*hash ^ (number >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
}

uint64_t sk_ranks_hash(const struct sk_ranks_view *view, const struct sk_ranks_exchange *exchange)
{
	const struct sk_ranks_group *group = &view->groups[exchange->group];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	add_number(&hash, view->rank_count);
	add_number(&hash, (uint64_t)(exchange - view->exchanges));
	add_number(&hash, exchange->kind);
	add_number(&hash, exchange->dtype);
	add_number(&hash, exchange->bytes);
	add_number(&hash, exchange->root);
	add_number(&hash, exchange->peer);
	add_number(&hash, group->size);
	for (uint32_t m = 0; m < view->rank_count; m++)
		add_number(&hash, view->members[group->first_member + m]);
	return hash;
}

/* ---- agreement with the plan ---- */

/* Return the bytes of the call's accesses of that kind, if they are of one pointer without gaps; else 0. */
static uint64_t accessed(const struct sk_plan_view *plan, const struct sk_plan_call *call, enum sk_access access)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);
	const struct sk_plan_pattern *pattern;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		if (sk_plan_access(&arguments[i]) == SK_ACCESS_NONE)
			continue;
		pattern = sk_plan_pattern(plan, &arguments[i]); /* it may see them in another shape */
		if (arguments[i].kind != SK_ARGUMENT_POINTER || (pattern && (pattern->count || pattern->halo)) ||
		    arguments[i].access == (SK_ACCESS_READ | SK_ACCESS_WRITE) ||
		    (arguments[i].access == access && bytes))
			return 0;
		if (arguments[i].access == access)
			bytes = arguments[i].size;
	}
	return bytes;
}

/* Check a call of the plan that is an exchange: one core makes it once, in a superkernel or in a launch of its own. */
static bool check_call(const struct reader *reader, const struct sk_plan_view *plan, const struct sk_plan_step *step,
		       const struct sk_plan_call *call)
{
	const struct sk_ranks_exchange *exchange = &reader->view->exchanges[reader->index];
	const char *name = sk_plan_string(&plan->tasks[call->task].name);
	uint32_t sides = SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE;

	if (step->kind != SK_STEP_BLOCKS || step->blocks != 1 ||
	    (step->flags & (SK_STEP_RESIDENT | sides)) != SK_STEP_RESIDENT)
		return fail(reader, "task '%s' is not one call on one core", name);
	if (accessed(plan, call, SK_ACCESS_READ) != sk_ranks_sent(reader->view, exchange) ||
	    accessed(plan, call, SK_ACCESS_WRITE) != sk_ranks_received(reader->view, exchange))
		return fail(reader,
			    "it sends %" PRIu64 " bytes and receives %" PRIu64 ", but task '%s' reads %" PRIu64
			    " and writes %" PRIu64,
			    sk_ranks_sent(reader->view, exchange), sk_ranks_received(reader->view, exchange), name,
			    accessed(plan, call, SK_ACCESS_READ), accessed(plan, call, SK_ACCESS_WRITE));
	return true;
}

/* Check a call that is no exchange of the list, if `exchange` is NULL, or that is that one. */
static bool check_place(struct reader *reader, const struct sk_plan_view *plan, uint32_t number,
			const struct sk_plan_call *call, const struct sk_ranks_exchange *exchange)
{
	const char *launch = sk_plan_string(&plan->launches[number].name);
	const struct sk_plan_task *task = &plan->tasks[call->task];
	uint8_t kind = sk_plan_form(&plan->launches[number])->kind;

	reader->record = NULL;
	if (!exchange)
		return kind != SK_LAUNCH_EXCHANGE ||
		       fail(reader, "launch '%s' is for an exchange, and task '%s' is none", launch,
			    sk_plan_string(&task->name));
	reader->record = "exchange";
	reader->index = (uint32_t)(exchange - reader->view->exchanges);
	return kind == SK_LAUNCH_TASK || (kind != SK_LAUNCH_SINGLE && task->launch == number) ||
	       fail(reader, "task '%s' runs in launch '%s', which has no exchange", sk_plan_string(&task->name),
		    launch);
}

/* Check the exchanges among the launch's calls, and add their number to *found. */
static bool check_launch(struct reader *reader, const struct sk_plan_view *plan, uint32_t number, uint32_t *found)
{
	const struct sk_plan_launch *launch = &plan->launches[number];
	const struct sk_plan_step *step = &plan->steps[launch->first_step];

	if (!reader->view->exchange_count && sk_plan_form(launch)->kind != SK_LAUNCH_EXCHANGE)
		return true;
	for (uint32_t s = 0; s < sk_plan_form(launch)->step_count; s++, step++) {
		struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
			const struct sk_ranks_exchange *exchange = sk_ranks_find(reader->view, call->task);

			if (!check_place(reader, plan, number, call, exchange) ||
			    (exchange && !check_call(reader, plan, step, call)))
				return false;
			*found += exchange != NULL;
		}
	}
	return true;
}

bool sk_ranks_check(const struct sk_ranks_view *view, const struct sk_plan_view *plan, char *error, size_t error_size)
{
	struct reader reader = {.view = (struct sk_ranks_view *)(uintptr_t)view,
				.record = "exchange",
				.error = error,
				.error_size = error_size};
	uint32_t found = 0, entries = 0;

	for (; reader.index < view->exchange_count; reader.index++)
		if (view->exchanges[reader.index].task >= plan->task_count)
			return fail(&reader, "task %" PRIu32 " is out of range (%" PRIu32 " tasks)",
				    view->exchanges[reader.index].task, plan->task_count);
	for (uint32_t i = 0; i < plan->launch_count; i++)
		if (!check_launch(&reader, plan, i, i < plan->network_launch_count ? &found : &entries))
			return false;
	reader.record = NULL;
	return found == view->exchange_count ||
	       fail(&reader, "there are %" PRIu32 " exchanges, and the launches make %" PRIu32, view->exchange_count,
		    found);
}
