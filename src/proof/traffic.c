/* See proof.h. */
#include "src/proof/proof.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"

/* Bytes that calls of a step access. Different byte ranges are different items, even if they overlap. */
struct thing {
	uint32_t counted[2]; /* the last call that read it and the last that wrote it, from 1; 0: none */
};

enum { READ, WRITE };

struct counter {
	const struct sk_traffic_meter *meter;
	struct sk_arena *arena;
	struct sk_map numbers;
	SK_ARRAY(struct thing) things;
	bool tiles;
};

static struct thing *find_thing(struct counter *counter, const struct sk_plan_argument *argument, const uint64_t *rows)
{
	uint64_t key[2 + SK_TRAFFIC_KEY] = {argument->space, argument->index};
	uint32_t fresh = (uint32_t)counter->things.count, number;

	memcpy(key + 2, rows, SK_TRAFFIC_KEY * sizeof(*rows));
	number = sk_map_insert(&counter->numbers, sk_arena_copy(counter->arena, (const char *)key, sizeof(key)),
			       sizeof(key), fresh);
	if (number == fresh)
		sk_array_push(counter->arena, &counter->things, (struct thing){{0, 0}});
	return &counter->things.items[number];
}

/* A call reads before it writes, so bytes written in place have also been read. */
static void count_argument(struct counter *counter, uint32_t call, const struct sk_plan_argument *argument,
			   const uint64_t *rows, int way)
{
	struct thing *thing = find_thing(counter, argument, rows);
	bool cached =
		counter->tiles && (argument->space == SK_SPACE_SCRATCH || thing->counted[WRITE] || thing->counted[way]);

	if (thing->counted[way] == call)
		return;
	thing->counted[way] = call;
	counter->meter->count(counter->meter->context, rows, cached);
}

void sk_traffic_measure(struct sk_arena *arena, const struct sk_plan_view *view, const struct sk_plan_step *step,
			const struct sk_traffic_meter *meter)
{
	static const enum sk_access accesses[] = {[READ] = SK_ACCESS_READ, [WRITE] = SK_ACCESS_WRITE};
	struct counter counter = {.meter = meter, .arena = arena, .tiles = step->tile};
	uint64_t rows[SK_TRAFFIC_KEY];

	sk_map_init(&counter.numbers, arena);
	for (uint32_t c = 0; c < step->call_count; c++)
		for (int way = READ; way <= WRITE; way++) {
			const struct sk_plan_call *call = &view->calls[step->first_call + c];
			const struct sk_plan_argument *arguments = sk_plan_arguments(view, call);

			for (uint32_t i = 0; i < call->argument_count; i++) {
				if (arguments[i].kind == SK_ARGUMENT_STATE || arguments[i].space == SK_SPACE_SIZES ||
				    !(sk_plan_access(&arguments[i]) & accesses[way]))
					continue;
				meter->rows(meter->context, call, i, rows);
				count_argument(&counter, c + 1, &arguments[i], rows, way);
			}
		}
}

/* ---- in numbers ---- */

struct numbers {
	const struct sk_plan_view *view;
	struct sk_traffic traffic;
};

static void number_rows(void *context, const struct sk_plan_call *call, uint32_t argument, uint64_t *key)
{
	const struct numbers *numbers = context;
	struct sk_rows rows = sk_plan_rows(numbers->view, &sk_plan_arguments(numbers->view, call)[argument]);

	memcpy(key, (const uint64_t[]){rows.start, rows.width, rows.stride, rows.count}, SK_TRAFFIC_KEY * sizeof(*key));
}

static void count_number(void *context, const uint64_t *key, bool cached)
{
	struct numbers *numbers = context;

	numbers->traffic.apart += key[1] * key[3];
	numbers->traffic.moved += cached ? 0 : key[1] * key[3];
}

struct sk_traffic sk_traffic_of_step(struct sk_arena *arena, const struct sk_plan_view *view,
				     const struct sk_plan_step *step)
{
	struct numbers numbers = {.view = view};
	const struct sk_traffic_meter meter = {number_rows, count_number, &numbers};

	sk_traffic_measure(arena, view, step, &meter);
	return numbers.traffic;
}
