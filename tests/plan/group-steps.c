/* group-steps PACKAGE: join each run of a launch's steps that are divided alike, on the same cores, without awaits in
 * between, into one step, with the calls of all. sklink links no package with such steps, but every reader of plans
 * must handle them. Dispatchers are made again to match.
 *
 * group-steps --blindly PACKAGE: also drop the awaits inside a run, even if they are needed.
 *
 * group-steps --tiles N PACKAGE: the same as the first, with steps in tiles of N elements.
 *
 * Prints how many steps have several calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "tests/lib/match-code.h"
#include "tests/lib/own-records.h"

enum { MOST_BYTES = 16 << 20 };

/* Plans are aligned in the file as in memory. */
static bool find_plan(char *bytes, size_t size, struct sk_plan_view *view)
{
	char error[256];

	for (size_t at = 0; at + sizeof(struct sk_plan) <= size; at += SK_PLAN_ALIGN)
		if (sk_plan_open(bytes + at, size - at, view, error, sizeof(error)))
			return true;
	return false;
}

static bool may_join(const struct sk_plan_launch *launch, const struct sk_plan_step *first,
		     const struct sk_plan_step *next, bool blindly)
{
	uint32_t alone = SK_STEP_ONE_CALL | SK_STEP_FLUSH_BEFORE | SK_STEP_FLUSH_AFTER;

	return sk_plan_form(launch)->kind == SK_LAUNCH_SUPERKERNEL &&
	       !(sk_plan_form(launch)->flags & SK_LAUNCH_SYNC_ALL) && !((first->flags | next->flags) & alone) &&
	       first->lane == next->lane && first->kind == next->kind && first->core_set == next->core_set &&
	       first->partition == next->partition && first->blocks == next->blocks && first->extent == next->extent &&
	       (blindly || !next->await_count);
}

/* The tables as they become: shorter. */
struct tables {
	struct sk_plan_step *steps;
	struct sk_plan_await *awaits;
	uint32_t *place_of; /* by step as it was: its present index */
	uint32_t step_count, await_count;
};

static void keep_await(struct tables *tables, struct sk_plan_step *step, uint32_t awaited)
{
	for (uint32_t i = 0; i < step->await_count; i++)
		if (tables->awaits[step->first_await + i].step == awaited)
			return;
	tables->awaits[tables->await_count++].step = awaited;
	step->await_count++;
}

static void add_step(struct tables *tables, const struct sk_plan_view *view, const struct sk_plan_step *step)
{
	struct sk_plan_step *added = &tables->steps[tables->step_count++];

	*added = *step;
	added->first_await = tables->await_count;
	added->await_count = 0;
	for (uint32_t i = 0; i < step->await_count; i++)
		keep_await(tables, added, tables->place_of[view->awaits[step->first_await + i].step]);
}

/* count: the launch's steps before launches that share its form were joined. */
static void join_launch(struct tables *tables, const struct sk_plan_view *view, struct sk_plan_launch *launch,
			uint32_t count, bool blindly)
{
	uint32_t first = tables->step_count, numbers[SK_MAX_LANES] = {0};

	for (uint32_t i = launch->first_step; i < launch->first_step + count; i++) {
		const struct sk_plan_step *step = &view->steps[i];
		struct sk_plan_step *last = &tables->steps[tables->step_count - 1];

		if (tables->step_count > first && may_join(launch, last, step, blindly)) {
			last->call_count += step->call_count;
			last->flags |= step->flags;
		} else {
			add_step(tables, view, step);
			numbers[step->lane]++;
			tables->steps[tables->step_count - 1].number = numbers[step->lane];
		}
		tables->place_of[i] = tables->step_count - 1;
	}
	launch->first_step = first;
	plan_form(launch)->step_count = tables->step_count - first;
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		plan_form(launch)->lane_steps[lane] = numbers[lane];
}

/* After awaits are dropped blindly, publish only the steps that are still awaited. */
static void publish_what_is_awaited(struct tables *tables)
{
	for (uint32_t i = 0; i < tables->step_count; i++)
		tables->steps[i].flags &= (uint16_t)~SK_STEP_PUBLISH;
	for (uint32_t i = 0; i < tables->await_count; i++)
		tables->steps[tables->awaits[i].step].flags |= SK_STEP_PUBLISH;
}

/* Put a table after those so far; its records may come from its old place or from elsewhere. */
static char *put(char *end, struct sk_plan_table *table, const void *records, uint32_t count, size_t size)
{
	char *start = (char *)(((uintptr_t)end + 7) & ~(uintptr_t)7);

	*table = (struct sk_plan_table){0};
	if (!count)
		return end;
	memset(end, 0, (size_t)(start - end));
	memmove(start, records, count * size);
	table->count = count;
	table->offset = (int32_t)(start - (char *)&table->offset);
	return start + count * size;
}

/* Move up the tables from the steps on, which hold no references. The rest before the strings becomes one table. */
static void write_tables(const struct sk_plan_view *view, const struct tables *tables)
{
	struct sk_plan *plan = (struct sk_plan *)(uintptr_t)view->plan;
	char *strings = (char *)&plan->strings.offset + plan->strings.offset;
	char *end = (char *)(uintptr_t)view->steps;

	end = put(end, &plan->steps, tables->steps, tables->step_count, sizeof(*tables->steps));
	end = put(end, &plan->calls, view->calls, view->call_count, sizeof(*view->calls));
	end = put(end, &plan->awaits, tables->awaits, tables->await_count, sizeof(*tables->awaits));
	end = put(end, &plan->lists, view->lists, view->list_count, sizeof(*view->lists));
	end = put(end, &plan->operands, view->operands, view->operand_count, sizeof(*view->operands));
	end = put(end, &plan->follows, view->follows, view->follow_count, sizeof(*view->follows));
	memset(end, 0, (size_t)(strings - end));
	plan->strings.offset = (int32_t)(end - (char *)&plan->strings.offset);
	plan->strings.count += (uint32_t)(strings - end);
}

static void group(const struct sk_plan_view *view, bool blindly, uint64_t tile)
{
	struct tables tables = {
		.steps = calloc(view->step_count + 1, sizeof(*tables.steps)),
		.awaits = calloc(view->await_count + 1, sizeof(*tables.awaits)),
		.place_of = calloc(view->step_count + 1, sizeof(*tables.place_of)),
	};
	uint32_t several = 0, *counts = calloc(view->launch_count, sizeof(*counts));

	for (uint32_t i = 0; i < view->launch_count; i++)
		counts[i] = sk_plan_form(&view->launches[i])->step_count;
	for (uint32_t i = 0; i < view->launch_count; i++)
		join_launch(&tables, view, (struct sk_plan_launch *)(uintptr_t)&view->launches[i], counts[i], blindly);
	publish_what_is_awaited(&tables);
	for (uint32_t i = 0; i < tables.step_count; i++) {
		if (tables.steps[i].call_count == 1)
			continue;
		several++;
		tables.steps[i].tile = tile ? tile : tables.steps[i].tile;
	}
	write_tables(view, &tables);
	printf("%u\n", several);
	free(counts);
	free(tables.steps);
	free(tables.awaits);
	free(tables.place_of);
}

static bool write_file(const char *path, const char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	bool good = file && fwrite(bytes, 1, size, file) == size;

	return file && fclose(file) == 0 && good;
}

int main(int argc, char **argv)
{
	char *bytes = aligned_alloc(SK_PLAN_ALIGN, MOST_BYTES);
	uint64_t tile = argc == 4 && !strcmp(argv[1], "--tiles") ? strtoull(argv[2], NULL, 0) : 0;
	bool blindly = tile || (argc == 3 && !strcmp(argv[1], "--blindly"));
	const char *path = argc == 2 || blindly ? argv[argc - 1] : NULL;
	FILE *file = path ? fopen(path, "rb") : NULL;
	struct sk_plan_view view;

	if (!bytes || !file)
		return EXIT_FAILURE;

	size_t size = fread(bytes, 1, MOST_BYTES, file);

	fclose(file);
	if (!find_plan(bytes, size, &view))
		return EXIT_FAILURE;
	group(&view, blindly, tile);
	if (!write_file(path, bytes, size))
		return EXIT_FAILURE;
	match_code(path, (uint8_t *)bytes, size);

	bool written = write_file(path, bytes, size);

	free(bytes);
	return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
