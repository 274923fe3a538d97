/* The rule of segments, compared with its definition: random models of a few tasks, and for each of them all ways to
 * divide its scopes into segments. `fits` has the conditions of a division; it reads the models' tasks and no result of
 * src/planning/segments.c.
 *
 * The segments of a scope are numbered from 0. sk_segments_place must choose the first of all divisions in
 * lexicographic order: the first task is in as low a segment as it can be in, then the second one, and so on. If there
 * is one scope and only dependencies divide it, each single task must also be in the lowest segment in which any
 * division has it: the scope loses no more than it must. (Where scopes that would wait for each other meet cuts for
 * sk_sync_all, the first division is not promised; in these models it is made all the same.) */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { MODELS = 2000, MOST_TASKS = 7, LANES = 2, DEVICE_CORES = 2, CUBE_CORES = 24, VECTOR_CORES = 48 };

/* Properties of random models. */
static const struct variant {
	uint32_t lanes, tasks; /* tasks: at most */
	bool scopes; /* tasks in two scopes and in both; otherwise one scope */
	bool apart; /* many streams, so that their order does not hide the others' */
	bool together; /* tasks with blocks that run at once, on devices with sync-all-split */
} variants[] = {
	{.lanes = 1, .tasks = 6},
	{.lanes = 2, .tasks = MOST_TASKS, .scopes = true},
	{.lanes = 1, .tasks = MOST_TASKS, .scopes = true, .apart = true},
	{.lanes = 1, .tasks = MOST_TASKS, .together = true},
	{.lanes = 2, .tasks = MOST_TASKS, .together = true},
	{.lanes = 2, .tasks = MOST_TASKS, .together = true, .scopes = true},
};

/* A model, and the facts that the definition needs. */
struct trial {
	uint64_t seed;
	struct variant variant;
	struct test_model *test;
	uint32_t count;
	bool path[MOST_TASKS][MOST_TASKS]; /* from the earlier task to the later one, over all that binds launches */
	uint32_t set[MOST_TASKS]; /* number of the task's set of scopes; 0: none */
	bool fusible[MOST_TASKS];
	uint32_t cores[MOST_TASKS][LANES]; /* that a superkernel may have with the task in it */
	bool synchronises[MOST_TASKS]; /* it must not have more */
	bool limited, fed; /* stream-fusion=0, feed-sync-all=1 */
	uint32_t level[MOST_TASKS]; /* the division that is checked; for tasks that can be fused */
	uint32_t found[MOST_TASKS]; /* the result of sk_segments_place */
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- models ---- */

/* The cores that the spread keeps busy: on one lane of two cores blocks take turns, unless they wait for one another.
 */
static void note_cores(struct trial *trial, uint32_t task, const struct test_spread *spread)
{
	uint32_t *cores = trial->cores[task], vector = spread->blocks * spread->mix_ratio;
	uint32_t calls = spread->extent ? (uint32_t)spread->extent : spread->blocks ? spread->blocks : 1;
	bool pairs = trial->variant.lanes == 2;

	trial->synchronises[task] = spread->sync_all && !trial->fed;
	if (spread->mix_ratio) {
		cores[0] = pairs ? spread->blocks : spread->blocks + vector;
		cores[1] = pairs ? vector : 0;
		return;
	}
	cores[spread->lane] = pairs || spread->sync_all ? calls : least(calls, DEVICE_CORES);
	if (!pairs || !trial->synchronises[task])
		return;
	cores[1 - spread->lane] = spread->lane ? (calls + 1) / 2 : least(2 * calls, VECTOR_CORES);
}

static struct test_spread random_spread(uint64_t *state, const struct variant *variant)
{
	static const uint32_t counts[] = {3, 4, 6, 12, 24};
	uint32_t count = counts[random_below(state, 5)], lane = random_below(state, variant->lanes);
	struct test_spread spread = on_lane(random_below(state, 4) ? PLAIN : BLOCKS(25), lane);

	switch (variant->together ? random_below(state, 6) : 5) {
	case 0:
	case 1:
		spread = on_lane(SYNC_ALL(count), lane);
		break;
	case 2:
		spread = MIX(count, 1 + random_below(state, 2));
		spread.sync_all = random_below(state, 2);
		break;
	case 3:
		spread = on_lane(ROWS(6), lane);
		break;
	case 4:
		spread = on_lane(BLOCKS(count), lane);
		break;
	default:
		break;
	}
	spread.unfusible = random_below(state, 6) == 0;
	return spread;
}

/* Add a task that writes a tensor of its own, reads some earlier ones, and perhaps uses one that others also write. */
static void add_random_task(struct trial *trial, uint64_t *state, uint32_t streams)
{
	static const char *const scopes[] = {NULL, "s", "t", "s t"};
	static const uint32_t one[] = {1, 1, 1, 1, 1, 0}, two[] = {1, 1, 2, 2, 3, 0};
	struct sk_arena *arena = trial->test->arena;
	struct test_spread spread = random_spread(state, &trial->variant);
	uint32_t number = trial->count++, chosen = random_below(state, 6), count = 0;
	uint32_t set = trial->variant.scopes ? two[chosen] : one[chosen];
	struct test_access accesses[MOST_TASKS + 1] = {out(sk_arena_print(arena, "x%u", number))};

	add_tensor(trial->test, accesses[count++].tensor, SK_F32, 4800);
	for (uint32_t i = 0; i < number; i++)
		if (random_below(state, 5) == 0)
			accesses[count++] = in(sk_arena_print(arena, "x%u", i));
	if (random_below(state, 5) == 0)
		accesses[count++] = random_below(state, 2) ? in("shared") : out("shared");
	test_add_task(trial->test, sk_arena_print(arena, "t%u", number), spread, random_below(state, streams),
		      scopes[set], accesses, count);
	if (set && random_below(state, 12) == 0) {
		never_fuse(trial->test, number);
		set = 0;
	}
	if (number && random_below(state, 6) == 0)
		add_after(trial->test, number, random_below(state, number));
	if (number && random_below(state, 4) == 0)
		add_event(trial->test, random_below(state, number), number);
	trial->set[number] = set;
	trial->fusible[number] =
		set && !spread.unfusible &&
		!(trial->variant.lanes == 2 && spread.blocks > (spread.lane ? VECTOR_CORES : CUBE_CORES));
	note_cores(trial, number, &spread);
}

/* Limit the streams of a scope to the first two of its tasks that could be fused. */
static void limit_streams(struct trial *trial)
{
	for (uint32_t t = 0; t < trial->count; t++) {
		uint32_t streams = 0;

		for (uint32_t stream = 0; stream < 3; stream++) {
			bool uses = false;

			for (uint32_t p = 0; p < t; p++)
				uses |= trial->fusible[p] && trial->set[p] == trial->set[t] &&
					trial->test->model.tasks.items[p].said.stream == stream &&
					stream != trial->test->model.tasks.items[t].said.stream;
			streams += uses;
		}
		trial->fusible[t] &= streams < 2;
	}
}

static void find_paths(struct trial *trial)
{
	for (uint32_t b = 0; b < trial->count; b++)
		for (uint32_t a = b; a-- > 0;) {
			trial->path[a][b] = tasks_depend(trial->test->model.tasks.items, a, b);
			for (uint32_t k = a + 1; k < b; k++)
				trial->path[a][b] |= trial->path[a][k] && trial->path[k][b];
		}
}

static void make_trial(struct trial *trial, uint64_t seed, const struct variant *variant)
{
	uint64_t state = seed;
	uint32_t tasks = 2 + random_below(&state, variant->tasks - 1);
	uint32_t streams = variant->apart ? 3 * MOST_TASKS : 1 + random_below(&state, 3);

	*trial = (struct trial){.seed = seed, .variant = *variant, .test = test_model_create(variant->lanes)};
	trial->limited = !variant->apart && random_below(&state, 4) == 0;
	trial->fed = variant->together && random_below(&state, 8) == 0;
	add_tensor(trial->test, "shared", SK_F32, 4800);
	for (uint32_t i = 0; i < tasks; i++)
		add_random_task(trial, &state, streams);
	for (const char *const *scope = (const char *const[]){"s", "t", NULL}; *scope; scope++) {
		if (!trial->limited)
			fuse_streams(trial->test, *scope);
		if (trial->fed)
			feed_sync_all(trial->test, *scope);
	}
	if (variant->together)
		split_at_sync_all(trial->test);
	test_model_finish(trial->test);
	find_paths(trial);
	if (trial->limited)
		limit_streams(trial);
}

/* ---- the definition ---- */

static bool same_launch(const struct trial *trial, uint32_t a, uint32_t b)
{
	return a == b || (trial->fusible[a] && trial->fusible[b] && trial->set[a] == trial->set[b] &&
			  trial->level[a] == trial->level[b]);
}

/* Launches of the tasks up to the last one: none depends on itself, directly or through others. */
static bool is_acyclic(const struct trial *trial, uint32_t last)
{
	bool path[MOST_TASKS][MOST_TASKS] = {0}; /* between launches; each is at the number of its first task */
	uint32_t launch[MOST_TASKS];

	for (uint32_t t = 0; t <= last; t++)
		for (launch[t] = 0; !same_launch(trial, launch[t], t);)
			launch[t]++;
	for (uint32_t b = 0; b <= last; b++)
		for (uint32_t a = 0; a < b; a++)
			path[launch[a]][launch[b]] |= trial->path[a][b] && launch[a] != launch[b];
	for (uint32_t k = 0; k <= last; k++)
		for (uint32_t a = 0; a <= last; a++)
			for (uint32_t b = 0; b <= last; b++)
				path[a][b] |= path[a][k] && path[k][b];
	for (uint32_t t = 0; t <= last; t++)
		if (path[t][t])
			return false;
	return true;
}

/* Return whether a division of the tasks up to this one is allowed, if it is without this one. */
static bool fits(const struct trial *trial, uint32_t task)
{
	for (uint32_t p = 0; p < task; p++) {
		if (trial->set[p] != trial->set[task])
			continue;
		/* A task that cannot be fused ends the segment for tasks that follow it and for tasks that depend on
		 * it. */
		if (!trial->fusible[p] && trial->path[p][task] && trial->level[task] == 0)
			return false;
		/* Segments have the order in which their tasks depend on each other. */
		if (trial->fusible[p] && trial->path[p][task] && trial->level[p] > trial->level[task])
			return false;
		/* With sync-all-split no task takes more cores than a task that calls sk_sync_all. */
		if (!same_launch(trial, p, task) || !trial->variant.together)
			continue;
		for (uint32_t lane = 0; lane < LANES; lane++) {
			uint32_t own = trial->cores[task][lane], other = trial->cores[p][lane];

			if ((trial->synchronises[task] && own < other) || (trial->synchronises[p] && other < own))
				return false;
		}
	}
	/* No path leaves a segment and comes back, also not through segments of other scopes. */
	return is_acyclic(trial, task);
}

/* Make the first division in lexicographic order. There is one: a task may always have a segment of its own. */
static bool find_first(struct trial *trial, uint32_t task)
{
	if (task == trial->count)
		return true;
	if (!trial->fusible[task])
		return find_first(trial, task + 1);
	for (uint32_t level = 0; level < trial->count; level++) {
		trial->level[task] = level;
		if (fits(trial, task) && find_first(trial, task + 1))
			return true;
	}
	return false;
}

/* Fail if any division has a task in a lower segment than the one that was found. */
static void check_all(struct trial *trial, uint32_t task)
{
	if (task < trial->count && !trial->fusible[task]) {
		check_all(trial, task + 1);
		return;
	}
	for (uint32_t t = 0; task == trial->count && t < trial->count; t++)
		ck_assert_msg(!trial->fusible[t] || trial->level[t] >= trial->found[t],
			      "seed %llu: task %u could be in segment %u, and is in %u",
			      (unsigned long long)trial->seed, t, trial->level[t], trial->found[t]);
	for (uint32_t level = 0; task < trial->count && level < trial->count; level++) {
		trial->level[task] = level;
		if (fits(trial, task))
			check_all(trial, task + 1);
	}
}

/* The same for the first segment of the only scope, more simply: all tasks before the task can be fused, and no path to
 * it leaves the scope's tasks. */
static bool belongs_first(const struct trial *trial, uint32_t task)
{
	for (uint32_t p = 0; p < task; p++) {
		if (!trial->path[p][task])
			continue;
		if (trial->set[p] && !trial->fusible[p])
			return false;
		for (uint32_t x = p + 1; x < task && trial->fusible[p]; x++)
			if (!trial->fusible[x] && trial->path[p][x] && trial->path[x][task])
				return false;
	}
	return true;
}

/* ---- the comparison ---- */

static void place(struct trial *trial)
{
	struct sk_model *model = &trial->test->model;
	struct sk_segments *segments = sk_segments_build(model, sk_dependencies_build(model));

	ck_assert_ptr_nonnull(segments);
	sk_segments_place(segments);
	for (uint32_t t = 0; t < trial->count; t++) {
		const struct sk_group *group = &segments->groups.items[segments->group_of[t]];

		ck_assert_msg((segments->verdict[t] == SK_REASON_CAN_FUSE) == trial->fusible[t],
			      "seed %llu: can task %u be fused?", (unsigned long long)trial->seed, t);
		ck_assert_uint_eq(group->set == SK_NONE, !trial->fusible[t]);
		trial->found[t] = group->level;
		if (group->level)
			ck_assert_msg(segments->cause[t] < t, "seed %llu: why is task %u not in the first segment?",
				      (unsigned long long)trial->seed, t);
	}
}

static void check_first(struct trial *trial)
{
	ck_assert(find_first(trial, 0));
	for (uint32_t t = 0; t < trial->count; t++)
		ck_assert_msg(!trial->fusible[t] || trial->level[t] == trial->found[t],
			      "seed %llu: task %u is in segment %u, not %u", (unsigned long long)trial->seed, t,
			      trial->found[t], trial->level[t]);
}

static void check_least(struct trial *trial)
{
	for (uint32_t t = 0; t < trial->count; t++)
		ck_assert_msg(!trial->fusible[t] || belongs_first(trial, t) == (trial->found[t] == 0),
			      "seed %llu: is task %u in the first segment?", (unsigned long long)trial->seed, t);
	check_all(trial, 0);
}

static bool is_whole(const struct trial *trial)
{
	for (uint32_t t = 0; t < trial->count; t++)
		if (trial->fusible[t] && trial->found[t])
			return false;
	return true;
}

START_TEST(rule_of_segments)
{
	const struct variant *variant = &variants[_i];
	uint32_t divided = 0;

	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct trial trial;

		make_trial(&trial, seed, variant);
		place(&trial);
		check_first(&trial);
		if (!variant->scopes && !variant->together)
			check_least(&trial);
		divided += !is_whole(&trial);
		test_model_destroy(trial.test);
	}
	ck_assert_uint_gt(divided, MODELS / 5);
}
END_TEST

/* Level 1 of s leads to d's input, through t's segment; level 0, which is still empty, does not. */
START_TEST(level_0_is_apart)
{
	struct test_model *test = test_model_create(1);

	fuse_streams(test, "s");
	fuse_streams(test, "t");
	for (char name[] = "x0"; name[1] <= '4'; name[1]++)
		add_tensor(test, name, SK_F32, 16);
	add_task(test, "u", UNFUSIBLE, 0, "s", out("x0"));
	add_task(test, "a", PLAIN, 1, "s", in("x0"), out("x1"));
	add_task(test, "b", PLAIN, 2, "t", in("x1"), out("x2"));
	add_task(test, "c", PLAIN, 3, "t", out("x3"));
	add_task(test, "d", PLAIN, 4, "s", in("x3"), out("x4"));
	test_model_finish(test);

	struct sk_segments *segments = sk_segments_build(&test->model, sk_dependencies_build(&test->model));

	sk_segments_place(segments);
	ck_assert_uint_eq(segments->groups.items[segments->group_of[1]].level, 1);
	ck_assert_uint_eq(segments->group_of[2], segments->group_of[3]);
	ck_assert_uint_eq(segments->groups.items[segments->group_of[4]].level, 0);
	test_model_destroy(test);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("segments");
	TCase *tcase = tcase_create("segments");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, rule_of_segments, 0, sizeof(variants) / sizeof(variants[0]));
	tcase_add_test(tcase, level_0_is_apart);
	suite_add_tcase(suite, tcase);

	return run_suite(suite);
}
