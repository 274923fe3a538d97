/* See proof.h. */
#include "src/proof/proof.h"

#include "base/arena.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"

/* Bytes that calls of a step access. Different byte ranges are different items, even if they overlap. */
struct thing {
	uint64_t bytes;
	uint32_t counted[2]; /* the last call that read it and the last that wrote it, from 1; 0: none */
};

enum { READ, WRITE };

struct meter {
	const struct sk_plan_view *view;
	struct sk_arena *arena;
	struct sk_map numbers;
	SK_ARRAY(struct thing) things;
	struct sk_traffic traffic;
	bool tiles;
};

static struct thing *find_thing(struct meter *meter, const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(meter->view, argument);
	const uint64_t key[] = {argument->space, argument->index, rows.start, rows.width, rows.stride, rows.count};
	uint32_t fresh = (uint32_t)meter->things.count;
	uint32_t number = sk_map_insert(&meter->numbers, sk_arena_copy(meter->arena, (const char *)key, sizeof(key)),
					sizeof(key), fresh);

	if (number == fresh)
		sk_array_push(meter->arena, &meter->things, (struct thing){rows.width * rows.count, {0, 0}});
	return &meter->things.items[number];
}

/* A call reads before it writes, so bytes written in place have also been read. */
static void count_argument(struct meter *meter, uint32_t call, const struct sk_plan_argument *argument, int way)
{
	struct thing *thing = find_thing(meter, argument);
	bool cached =
		meter->tiles && (argument->space == SK_SPACE_SCRATCH || thing->counted[WRITE] || thing->counted[way]);

	if (thing->counted[way] == call)
		return;
	thing->counted[way] = call;
	meter->traffic.apart += thing->bytes;
	meter->traffic.moved += cached ? 0 : thing->bytes;
}

struct sk_traffic sk_traffic_of_step(struct sk_arena *arena, const struct sk_plan_view *view,
				     const struct sk_plan_step *step)
{
	static const enum sk_access accesses[] = {[READ] = SK_ACCESS_READ, [WRITE] = SK_ACCESS_WRITE};
	struct meter meter = {.view = view, .arena = arena, .tiles = step->tile};

	sk_map_init(&meter.numbers, arena);
	for (uint32_t c = 0; c < step->call_count; c++)
		for (int way = READ; way <= WRITE; way++) {
			const struct sk_plan_call *call = &view->calls[step->first_call + c];
			const struct sk_plan_argument *arguments = sk_plan_arguments(view, call);

			for (uint32_t i = 0; i < call->argument_count; i++)
				if (arguments[i].kind != SK_ARGUMENT_STATE && arguments[i].space != SK_SPACE_SIZES &&
				    sk_plan_access(&arguments[i]) & accesses[way])
					count_argument(&meter, c + 1, &arguments[i], way);
		}
	return meter.traffic;
}
