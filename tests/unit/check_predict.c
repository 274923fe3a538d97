/* Predicted time: profiles and cost files as people write them, small networks with times worked out by hand, and
 * properties that hold for any network. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/profile/profile.h"
#include "format/skplan.h"
#include "loader/predict/predict-parts.h"
#include "loader/predict/predict.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;

static void setup(void)
{
	arena = sk_arena_create();
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

/* Cores of 1 GHz, so that a cycle is a ns. Launching costs 100, waiting 10, an await that is over 1, a call 2. */
#define COSTS                                                                                                          \
	"clock: 1 GHz\nlaunch: 100 ns\nawait: 10 ns\ncheck: 1 ns\ncall: 2 ns\nflush: 20 ns\ncode-fetch: 1 GB/s\n"      \
	"memory: unlimited\ncore-memory: unlimited\n"
#define ONE_LANE "name: one\nlanes: core\ncore.cores: 2\ncore.operations: 4\ncore.code-cache: 100 B\n" COSTS
#define TWO_LANES                                                                                                      \
	"name: two\nlanes: cube vector\ncube.cores: 2\ncube.operations: 4\ncube.code-cache: 100 B\n"                   \
	"vector.cores: 3\nvector.operations: 2\nvector.code-cache: 100 B\n" COSTS

static struct sk_profile profile_of(const char *text)
{
	struct sk_profile profile;
	char error[512];

	if (!sk_profile_parse("test", text, &profile, error, sizeof(error)))
		ck_abort_msg("%s", error);
	return profile;
}

static struct sk_profile one_lane(uint32_t cores)
{
	struct sk_profile profile = profile_of(ONE_LANE);

	profile.lanes[0].cores = cores;
	return profile;
}

/* ---- simulating plans ---- */

static struct sk_simulation simulate_network(const struct sk_network *network, const struct sk_profile *profile)
{
	struct sk_simulation result;
	char error[512];

	if (!sk_simulate(network, profile, &result, error, sizeof(error)))
		ck_abort_msg("%s", error);
	return result;
}

static struct sk_simulation simulate(const struct sk_plan_view *view, const struct sk_profile *profile, enum sk_way way)
{
	const uint32_t lanes[SK_MAX_LANES] = {0, 1};
	struct sk_network network;
	struct sk_costs costs;
	char error[512];

	struct sk_plan_network own = {0};

	ck_assert(sk_plan_check_all(view, error, sizeof(error)));
	ck_assert(sk_plan_next_network(view, &own));
	ck_assert(sk_costs_collect(&(struct sk_costs_source){view, &own, profile, lanes, NULL, NULL}, &costs, error,
				   sizeof(error)));
	ck_assert(sk_network_build(view, &own, costs.work, lanes, way, &network));

	struct sk_simulation result = simulate_network(&network, profile);

	sk_network_free(&network);
	sk_costs_free(&costs);
	return result;
}

static double time_of(struct plan *plan, const struct sk_profile *profile, enum sk_way way)
{
	struct sk_plan_view view = plan_view(plan);
	struct sk_simulation result = simulate(&view, profile, way);
	double time = result.time;

	sk_simulation_free(&result);
	return time;
}

static uint32_t plain(struct plan *plan, const char *name, uint32_t stream, uint64_t cycles)
{
	uint32_t step = plan_plain(plan, name, stream);

	plan_cost(plan, SK_COST_CYCLES, cycles);
	return step;
}

static struct plan *one_launch(uint32_t lanes)
{
	struct plan *plan = plan_create(arena, lanes);

	plan_launch(plan, "l", SK_LAUNCH_SUPERKERNEL);
	return plan;
}

/* ---- by hand ---- */

#define EXPECT(value, expected) ck_assert_double_eq_tol(value, expected, 1e-9)

/* ---- options of scopes ---- */

/* Three tasks of 10 ns with different kernels of 30 ns to fetch. */
static double time_with_code(const struct sk_plan_view *view, const struct sk_profile *profile, enum sk_way way)
{
	const uint32_t lanes[SK_MAX_LANES] = {0, 1};
	struct sk_work work[3];
	struct sk_network network;
	struct sk_plan_network own = {0};

	for (int i = 0; i < 3; i++)
		work[i] = (struct sk_work){.compute = 10, .code = 30};
	ck_assert(sk_plan_next_network(view, &own));
	ck_assert(sk_network_build(view, &own, work, lanes, way, &network));
	for (uint32_t i = 0; i < 3; i++)
		network.steps[i].kernel = i;

	struct sk_simulation result = simulate_network(&network, profile);
	double time = result.time;

	sk_simulation_free(&result);
	sk_network_free(&network);
	return time;
}

START_TEST(options_cost)
{
	struct sk_profile profile = one_lane(1);
	struct plan *plan = one_launch(1);

	for (uint32_t i = 0; i < 3; i++)
		plain(plan, "t", 0, 10);

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_launch *launch = (struct sk_plan_launch *)view.launches;
	struct sk_plan_step *steps = (struct sk_plan_step *)view.steps;

	EXPECT(time_with_code(&view, &profile, SK_WAY_FUSED), 100 + 3 * (2 + 30 + 10));
	/* The first kernel is fetched while it is called, each other one since the core came to the task before: the
	 * third one for 2 + 10 + 2 ns. */
	plan_form(launch)->preload = SK_PRELOAD_FUNCTION;
	EXPECT(time_with_code(&view, &profile, SK_WAY_FUSED), 100 + (2 + 28 + 10) + (2 + 10) + (2 + 16 + 10));
	plan_form(launch)->preload = SK_PRELOAD_NONE;
	EXPECT(time_with_code(&view, &profile, SK_WAY_PRELOAD), 100 + (2 + 28 + 10) + (2 + 10) + (2 + 16 + 10));
	EXPECT(time_with_code(&view, &profile, SK_WAY_FLUSH), 100 + 3 * (2 + 30 + 10) + 3 * 20);
	steps[0].flags |= SK_STEP_FLUSH_BEFORE | SK_STEP_FLUSH_AFTER;
	steps[2].flags |= SK_STEP_FLUSH_AFTER;
	EXPECT(time_with_code(&view, &profile, SK_WAY_FUSED), 100 + 3 * (2 + 30 + 10) + 3 * 20);
	/* After each step, and before the first one as before. */
	EXPECT(time_with_code(&view, &profile, SK_WAY_FLUSH), 100 + 3 * (2 + 30 + 10) + 4 * 20);
}
END_TEST

/* Four units on four cores, and on two of them. */
START_TEST(fewer_cores)
{
	struct sk_profile profile = one_lane(4);
	struct plan *plan = one_launch(1);

	plan_split(plan, "s", 256, 64);
	plan_cost(plan, SK_COST_CYCLES, 400);

	struct sk_plan_view view = plan_view(plan);
	struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);

	EXPECT(result.time, 100 + 2 + 100);
	sk_simulation_free(&result);
	plan_form(&view.launches[0])->lane_cores[0] = 2;
	result = simulate(&view, &profile, SK_WAY_FUSED);
	EXPECT(result.time, 100 + 2 + 200);
	sk_simulation_free(&result);
	plan_form(&view.launches[0])->lane_cores[0] = 9; /* more than there are */
	result = simulate(&view, &profile, SK_WAY_FUSED);
	EXPECT(result.time, 100 + 2 + 100);
	sk_simulation_free(&result);
}
END_TEST

START_TEST(chain_on_one_core)
{
	struct sk_profile profile = one_lane(1);
	struct plan *plan = one_launch(1);

	plain(plan, "a", 0, 10);
	plain(plan, "b", 0, 20);
	plain(plan, "c", 0, 30);
	/* One launch, and each task with its call; three launches; two awaits of the core's own steps. */
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + (2 + 10) + (2 + 20) + (2 + 30));
	EXPECT(time_of(plan, &profile, SK_WAY_UNFUSED), 3 * 100 + 6 + 60);
	EXPECT(time_of(plan, &profile, SK_WAY_LANE_BARRIER), 166 + 2 * 1);
	EXPECT(time_of(plan, &profile, SK_WAY_SYNC_ALL), 166 + 2 * 1);

	struct sk_plan_view view = plan_view(plan);
	struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);

	EXPECT(result.parts[SK_PART_LAUNCH], 100);
	EXPECT(result.parts[SK_PART_CALL], 6);
	EXPECT(result.parts[SK_PART_RUN], 60);
	EXPECT(result.busy[0], 60.0 / 166);
	ck_assert_uint_eq(result.path_count, 3);
	ck_assert_uint_eq(result.path[1].step, 1);
	EXPECT(result.path[0].parts[SK_PART_LAUNCH], 100);
	EXPECT(result.path[2].parts[SK_PART_RUN], 30);
	sk_simulation_free(&result);
}
END_TEST

START_TEST(await_on_two_cores)
{
	struct sk_profile profile = one_lane(2);
	struct plan *plan = one_launch(1);
	uint32_t a = plain(plan, "a", 0, 10);

	plain(plan, "b", 1, 20);
	plan_await(plan, a);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + (2 + 10) + 10 + (2 + 20));

	struct sk_plan_view view = plan_view(plan);
	struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);

	EXPECT(result.parts[SK_PART_AWAIT], 10);
	EXPECT(result.path[1].parts[SK_PART_AWAIT], 10);
	ck_assert_uint_eq(result.path[0].core, 0);
	ck_assert_uint_eq(result.path[1].core, 1);
	EXPECT(result.busy[0], 30.0 / (2 * 144));
	sk_simulation_free(&result);

	/* b's core is busy until long after a has ended: the await is a look. The path never leaves that core. */
	plan = one_launch(1);
	a = plain(plan, "a", 0, 10);
	plain(plan, "c", 1, 50);
	plain(plan, "b", 1, 20);
	plan_await(plan, a);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + (2 + 50) + 1 + (2 + 20));
	view = plan_view(plan);
	result = simulate(&view, &profile, SK_WAY_FUSED);
	EXPECT(result.parts[SK_PART_AWAIT], 0);
	ck_assert_uint_eq(result.path_count, 2);
	ck_assert_uint_eq(result.path[0].step, 1);
	sk_simulation_free(&result);

	/* All await a. Its own core goes on at once, with two of three units; the other one a wait later, with one. */
	plan = one_launch(1);
	a = plain(plan, "a", 1, 10);
	plan_split(plan, "b", 30, 10);
	plan_cost(plan, SK_COST_CYCLES, 36);
	plan_await(plan, a);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + (2 + 10) + 1 + (2 + 24));
	profile.await = 30;
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + (2 + 10) + 30 + (2 + 12));
	profile.await = 10;

	/* If waiting costs nothing, the path leads through a all the same. */
	profile.await = 0;
	plan = one_launch(1);
	a = plain(plan, "a", 0, 10);
	plain(plan, "b", 1, 20);
	plan_await(plan, a);
	view = plan_view(plan);
	result = simulate(&view, &profile, SK_WAY_FUSED);
	EXPECT(result.time, 100 + (2 + 10) + 1 + (2 + 20));
	EXPECT(result.parts[SK_PART_RUN], 30);
	EXPECT(result.parts[SK_PART_CALL], 5);
	ck_assert_uint_eq(result.path_count, 2);
	sk_simulation_free(&result);
	profile.await = 10;

	/* a has ended 4 ns before b's core comes, which cannot see that yet. */
	plan = one_launch(1);
	a = plain(plan, "a", 0, 10);
	plain(plan, "c", 1, 14);
	plain(plan, "b", 1, 20);
	plan_await(plan, a);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + (2 + 10) + 10 + (2 + 20));
}
END_TEST

START_TEST(division)
{
	struct sk_profile profile = one_lane(3);
	struct plan *plan = one_launch(1);

	/* Ten units on three cores: 3, 3, 4. */
	plan_split(plan, "a", 100, 10);
	plan_cost(plan, SK_COST_CYCLES, 100);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 40);

	/* The last unit is short: units of 40, 40, 20 of 100. */
	plan = one_launch(1);
	plan_split(plan, "a", 100, 40);
	plan_cost(plan, SK_COST_CYCLES, 100);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 40);

	/* Five blocks on three cores: two of them on the first two cores. */
	plan = one_launch(1);
	plan_blocks(plan, "a", 5);
	plan_cost(plan, SK_COST_CYCLES, 100);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 40);
	plan = one_launch(1);
	plan_blocks_range(plan, "a", 1000, 5);
	plan_cost(plan, SK_COST_CYCLES, 100);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 40);

	/* One unit: two cores have nothing to do, but the next step's await waits for all three. */
	plan = one_launch(1);

	uint32_t a = plan_split(plan, "a", 64, 64);

	plan_cost(plan, SK_COST_CYCLES, 30);
	plan_split(plan, "b", 192, 64);
	plan_cost(plan, SK_COST_CYCLES, 30);
	plan_await(plan, a);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 30 + 10 + 2 + 10);

	/* Operations: four in a cycle. */
	plan = one_launch(1);
	plan_plain(plan, "a", 0);
	plan_cost(plan, SK_COST_OPERATIONS, 100);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 25);
}
END_TEST

START_TEST(two_lanes)
{
	struct sk_profile profile = profile_of(TWO_LANES);
	struct plan *plan = one_launch(2);

	/* Independent: side by side in one launch. Unfused they are on one stream. */
	plan_blocks(plan, "cube", 2);
	plan_cost(plan, SK_COST_CYCLES, 20);
	plan_lane(plan, 1);
	plan_blocks(plan, "vector", 1);
	plan_cost(plan, SK_COST_CYCLES, 30);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 30);
	EXPECT(time_of(plan, &profile, SK_WAY_LANE_BARRIER), 100 + 2 + 30);
	EXPECT(time_of(plan, &profile, SK_WAY_SYNC_ALL), 100 + (2 + 10) + 10 + (2 + 30));
	EXPECT(time_of(plan, &profile, SK_WAY_UNFUSED), 100 + (2 + 10) + 100 + (2 + 30));

	struct sk_plan_view view = plan_view(plan);
	struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);

	EXPECT(result.busy[0], 20.0 / (2 * 132));
	EXPECT(result.busy[1], 30.0 / (3 * 132));
	sk_simulation_free(&result);
}
END_TEST

START_TEST(launches)
{
	struct sk_profile profile = profile_of(TWO_LANES);
	struct plan *plan = one_launch(2);

	/* On one lane, one after the other, though nothing else orders them. */
	plain(plan, "a", 0, 10);
	plan_launch(plan, "m", SK_LAUNCH_SINGLE);
	plain(plan, "b", 1, 20);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 12 + 100 + 22);

	/* On different lanes at the same time, unless one follows the other. */
	for (int follows = 0; follows < 2; follows++) {
		plan = one_launch(2);
		plain(plan, "a", 0, 10);
		plan_launch(plan, "m", SK_LAUNCH_SINGLE);
		if (follows)
			plan_follow(plan, 0);
		plan_lane(plan, 1);
		plain(plan, "b", 0, 20);
		EXPECT(time_of(plan, &profile, SK_WAY_FUSED), follows ? 100 + 12 + 100 + 22 : 100 + 22);
	}

	/* A task in the launch that follows waits for the last task of each lane, also unfused: cube 10, vector 50. */
	plan = one_launch(2);
	plain(plan, "a", 0, 10);
	plan_lane(plan, 1);
	plain(plan, "b", 0, 50);
	plan_launch(plan, "m", SK_LAUNCH_SINGLE);
	plan_follow(plan, 0);
	plain(plan, "c", 0, 20);

	struct sk_plan_view view = plan_view(plan);

	for (uint32_t i = 0; i < view.task_count; i++)
		((struct sk_plan_task *)view.tasks)[i].stream = i; /* so that only lanes and follows order them */

	struct sk_simulation result = simulate(&view, &profile, SK_WAY_UNFUSED);

	EXPECT(result.time, 100 + 52 + 100 + 22);
	EXPECT(result.parts[SK_PART_LAUNCH], 200);
	ck_assert_uint_eq(result.path_count, 2);
	sk_simulation_free(&result);
}
END_TEST

START_TEST(shared_memory)
{
	struct sk_profile profile = one_lane(2);
	struct plan *plan = one_launch(1);

	profile.memory = 4;
	profile.core_memory = 3;
	/* Both move bytes from 102 on, 2 a ns each. At 132 the second one is done; the first has 60 left, at 3 a ns. */
	plan_plain(plan, "a", 0);
	plan_cost(plan, SK_COST_BYTES, 120);
	plan_plain(plan, "b", 1);
	plan_cost(plan, SK_COST_BYTES, 60);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 152);
	EXPECT(time_of(plan, &profile, SK_WAY_UNFUSED), 100 + (2 + 40) + 100 + (2 + 20));

	/* Computing goes on while bytes move, and takes longer; b's core then has 90 bytes at 2, then 3 a ns. */
	plan = one_launch(1);
	plan_plain(plan, "a", 0);
	plan_cost(plan, SK_COST_BYTES, 60);
	plan_cost(plan, SK_COST_CYCLES, 100);
	plan_plain(plan, "b", 1);
	plan_cost(plan, SK_COST_BYTES, 90);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 202);
	plan_plain(plan, "c", 1);
	plan_cost(plan, SK_COST_CYCLES, 70);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 102 + 30 + 10 + 2 + 70);

	/* Without a cost: the bytes of the arguments, those that are read and written twice. */
	plan = one_launch(1);

	uint32_t x = plan_tensor(plan, "x", SK_F32, 15, SK_ROLE_INPUT),
		 y = plan_tensor(plan, "y", SK_F32, 15, SK_ROLE_INOUT);

	plan_plain(plan, "a", 0);
	plan_access(plan, x, SK_ACCESS_READ);
	plan_access(plan, y, SK_ACCESS_READ | SK_ACCESS_WRITE);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 100 + 2 + 180 / 3);
}
END_TEST

/* The task added last does so much of its work before its wait and after its set. */
static void start_early(struct plan *plan, unsigned flags, uint64_t before_wait, uint64_t after_set)
{
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_BLOCK});
	plan_flags(plan, flags);
	plan_cost(plan, SK_COST_BEFORE_WAIT, before_wait);
	plan_cost(plan, SK_COST_AFTER_SET, after_set);
}

START_TEST(early_start)
{
	struct sk_profile profile = one_lane(2);
	struct plan *plan = one_launch(1);
	uint32_t a = plain(plan, "a", 0, 50), b = plain(plan, "b", 1, 40);

	plan_await(plan, a);
	start_early(plan, SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET, 15, 5);
	plain(plan, "c", 0, 20);
	plan_await(plan, b);

	struct sk_plan_view view = plan_view(plan);

	/* a from 100 to 152; b is seen to go on at 162 and ends at 204; c goes on at 214. */
	EXPECT(time_of(plan, &profile, SK_WAY_LATE), 214 + 2 + 20);

	/* At 162 b has only 20 left up to its set, so c goes on at 192. */
	struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);

	EXPECT(result.time, 192 + 2 + 20);
	EXPECT(result.parts[SK_PART_LAUNCH], 100);
	EXPECT(result.parts[SK_PART_AWAIT], 10 + 10);
	EXPECT(result.parts[SK_PART_CALL], 2 + 2);
	EXPECT(result.parts[SK_PART_RUN], 50 + 20 + 20);
	EXPECT(result.busy[0], (50 + 40 + 20) / (2 * 214.0));
	ck_assert_uint_eq(result.path_count, 3);
	EXPECT(result.path[1].parts[SK_PART_CALL], 0);
	sk_simulation_free(&result);

	/* If all three can: c is called before 192, and after its call the dispatcher looks at the await once more. */
	((struct sk_plan_kernel *)view.kernels)[0].early = SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET;
	result = simulate(&view, &profile, SK_WAY_EARLY);
	EXPECT(result.time, 192 + 20 + 1);
	EXPECT(result.parts[SK_PART_CALL], 2 + 1);
	sk_simulation_free(&result);
	result = simulate(&view, &profile, SK_WAY_LATE);
	EXPECT(result.time, 214 + 2 + 20);
	sk_simulation_free(&result);

	/* Waiting alone, and setting alone. */
	((struct sk_plan_kernel *)view.kernels)[0].early = SK_STEP_EARLY_WAIT;
	result = simulate(&view, &profile, SK_WAY_EARLY);
	EXPECT(result.time, 162 + 25 + 1 + 10 + 20 + 1);
	sk_simulation_free(&result);
	((struct sk_plan_kernel *)view.kernels)[0].early = SK_STEP_EARLY_SET;
	result = simulate(&view, &profile, SK_WAY_EARLY);
	EXPECT(result.time, 162 + 2 + 35 + 10 + 2 + 20);
	sk_simulation_free(&result);
}
END_TEST

/* The dispatcher waits before it loads a scalar for b, and publishes after storing its result; c waits by itself. */
START_TEST(early_around_the_call)
{
	struct sk_profile profile = one_lane(2);
	struct plan *plan = one_launch(1);
	uint32_t tensor = plan_tensor(plan, "t", SK_F32, 1, SK_ROLE_INOUT);
	uint32_t a = plain(plan, "a", 0, 50), b = plain(plan, "b", 1, 40);

	plan_await(plan, a);
	start_early(plan, 0, 15, 5);
	(_i ? plan_result : plan_load)(plan, tensor, 0);
	plain(plan, "c", 0, 20);
	plan_await(plan, b);

	struct sk_plan_view view = plan_view(plan);

	((struct sk_plan_kernel *)view.kernels)[0].early = SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET;

	struct sk_simulation result = simulate(&view, &profile, SK_WAY_EARLY);

	EXPECT(result.time, (_i ? 162 + 25 + 1 : 162 + 2 + 35) + 10 + 20 + 1);
	sk_simulation_free(&result);
}
END_TEST

START_TEST(early_blocks)
{
	struct sk_profile profile = one_lane(2);
	struct plan *plan = one_launch(1);
	uint32_t a = plain(plan, "a", 0, 50);

	plan_blocks(plan, "b", 4);
	plan_cost(plan, SK_COST_CYCLES, 200);
	plan_await(plan, a);
	start_early(plan, SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET, 40, 20);
	/* Each core has two blocks of 10 + 35 + 5: the one of a begins at 152 and finds a ended, the other one goes on
	 * at 162. Both look at the await once more for the second block, and once after it. */
	EXPECT(time_of(plan, &profile, SK_WAY_LATE), 162 + 2 + 100);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 152 + 2 + 10 + 1 + 90 + 2);
	profile.await = 30;
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 182 + 90 + 2);
	profile.await = 10;

	/* 85 ns of computing meanwhile, 170 of moving: neither the beginning nor the end moves anything. */
	plan_cost(plan, SK_COST_BYTES, 340);
	profile.core_memory = 1;
	EXPECT(time_of(plan, &profile, SK_WAY_LATE), 162 + 2 + 10 + 170 + 5);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 152 + 2 + 10 + 1 + 170 + 5 + 2);

	/* A core without a block also awaits, and others await its published step. */
	plan = one_launch(1);
	a = plain(plan, "a", 0, 50);

	uint32_t b = plan_blocks(plan, "b", 1);

	plan_cost(plan, SK_COST_CYCLES, 0);
	plan_await(plan, a);
	start_early(plan, SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET, 0, 0);
	plain(plan, "c", 0, 30);
	plan_await(plan, b);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 162 + 10 + 2 + 30);
}
END_TEST

START_TEST(mix)
{
	struct sk_profile profile = profile_of(TWO_LANES);

	for (uint32_t waits = 0; waits <= 2; waits += 2) {
		struct plan *plan = one_launch(2);

		plan_lane(plan, 1);
		plain(plan, "v", 0, 40);

		uint32_t m = plan_mix(plan, "m", 2, 2);

		plan_cost(plan, SK_COST_CYCLES, 20);
		plan_vector_cost(plan, SK_COST_CYCLES, 60);
		plan_cost(plan, SK_COST_WAITS, waits);
		plan_vector_cost(plan, SK_COST_WAITS, waits);
		plan_lane(plan, 0);
		plain(plan, "c", 0, 10);
		plan_await(plan, m);
		plan_await(plan, m + 1);

		/* v has the first vector core up to 142. Sides that wait for each other begin when it has been called:
		 * at 144, with two waits of 10, then 10 on the cube and 30 on the vector cores. */
		struct sk_plan_view view = plan_view(plan);
		struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);
		double ended = waits ? 144 + 20 + 30 : 142 + 2 + 30;

		EXPECT(result.time, ended + 10 + 2 + 10);
		EXPECT(result.parts[SK_PART_AWAIT], 10 + 10.0 * waits);
		EXPECT(result.busy[0], (10 + 10 + 10) / (2 * result.time));
		EXPECT(result.busy[1], (40 + 30 + 30) / (3 * result.time));
		sk_simulation_free(&result);
		EXPECT(time_of(plan, &profile, SK_WAY_UNFUSED), 142 + 100 + 2 + 10 * waits + 30 + 100 + 2 + 10);
	}
}
END_TEST

/* On one lane the vector side has the cores after the cube side's; if they share them, they run one after the other. */
START_TEST(mix_on_one_lane)
{
	for (uint32_t waits = 0; waits <= 1; waits++) {
		struct plan *plan = one_launch(1);

		plan_mix(plan, "m", 2, 2);
		plan_cost(plan, SK_COST_CYCLES, 40);
		plan_cost(plan, SK_COST_WAITS, waits);

		struct sk_profile four = one_lane(4), two = one_lane(2);

		EXPECT(time_of(plan, &four, SK_WAY_FUSED), 100 + 2 + 10 + 10 * waits);
		EXPECT(time_of(plan, &four, SK_WAY_LANE_BARRIER), 100 + 2 + 10 + 10 * waits);
		EXPECT(time_of(plan, &four, SK_WAY_SYNC_ALL), 100 + 2 + 10 + 10 * waits);
		EXPECT(time_of(plan, &two, SK_WAY_FUSED), 100 + 2 * (2 + 10 + 10 * waits));

		/* Core 0 is done with the cube side long before the vector side ends; a barrier awaits both. */
		plan_vector_cost(plan, SK_COST_CYCLES, 100);
		plain(plan, "c", 0, 5);
		EXPECT(time_of(plan, &four, SK_WAY_FUSED), 100 + 2 + 50);
		EXPECT(time_of(plan, &four, SK_WAY_LANE_BARRIER), 152 + 10 + 1 + 2 + 5);
		EXPECT(time_of(plan, &four, SK_WAY_SYNC_ALL), 152 + 10 + 1 + 2 + 5);
	}
}
END_TEST

START_TEST(sync_all)
{
	struct sk_profile profile = one_lane(3);
	struct plan *plan = one_launch(1);

	plain(plan, "a", 1, 50);
	plan_blocks(plan, "s", 2);
	plan_resident(plan);
	plan_cost(plan, SK_COST_CYCLES, 20);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 152 + 2 + 10);
	plan_cost(plan, SK_COST_WAITS, 3);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 152 + 2 + 30 + 10);

	/* The path leads over the block that comes last, whichever ends last. */
	struct sk_plan_view view = plan_view(plan);
	struct sk_simulation result = simulate(&view, &profile, SK_WAY_FUSED);

	EXPECT(result.parts[SK_PART_RUN], 50 + 10);
	EXPECT(result.parts[SK_PART_AWAIT], 30);
	EXPECT(result.parts[SK_PART_CALL], 2 + 2);
	sk_simulation_free(&result);
}
END_TEST

/* Calls of three kernels of 50 bytes; the memory for code has 100: the oldest one is dropped first. */
START_TEST(code_fetch)
{
	const uint32_t order[] = {0, 1, 0, 2, 0, 2};
	enum { CALLS = sizeof(order) / sizeof(order[0]) };
	struct sk_network_step steps[CALLS];
	struct sk_network_launch launch = {.step_count = CALLS};
	struct sk_network network = {.launches = &launch, .launch_count = 1, .steps = steps, .step_count = CALLS};
	struct sk_profile profile = one_lane(1);

	for (int i = 0; i < CALLS; i++)
		steps[i] = (struct sk_network_step){
			.kind = SK_STEP_PLAIN, .kernel = order[i], .work = {.compute = 10, .code = 50}};

	struct sk_simulation result = simulate_network(&network, &profile);

	EXPECT(result.time, 100 + 6 * 12 + 4 * 50);
	EXPECT(result.parts[SK_PART_FETCH], 4 * 50);
	EXPECT(result.path[2].parts[SK_PART_FETCH], 0);
	EXPECT(result.path[4].parts[SK_PART_FETCH], 50);
	sk_simulation_free(&result);

	/* Kernels larger than the memory come every time. */
	profile.lanes[0].code_cache = 49;
	result = simulate_network(&network, &profile);
	EXPECT(result.parts[SK_PART_FETCH], 6 * 50);
	sk_simulation_free(&result);
}
END_TEST

/* ---- properties of all predictions ---- */

static uint32_t below(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33) % limit;
}

static uint32_t random_mix(struct plan *plan, uint64_t *state)
{
	uint32_t blocks = 1 + below(state, 3);
	uint32_t step = plan_mix(plan, "t", blocks, blocks * (1 + below(state, 2)));

	plan_cost(plan, SK_COST_CYCLES, below(state, 1000));
	plan_cost(plan, SK_COST_WAITS, below(state, 3));
	if (below(state, 2)) {
		plan_vector_cost(plan, SK_COST_BYTES, below(state, 1000));
		plan_vector_cost(plan, SK_COST_WAITS, below(state, 3));
	}
	return step;
}

static uint32_t random_step(struct plan *plan, uint64_t *state, uint32_t lanes)
{
	uint32_t kind = below(state, 4), cycles = below(state, 1000), step;

	if (kind == 3)
		return random_mix(plan, state);
	plan_lane(plan, below(state, lanes));
	switch (kind) {
	case 0:
		step = plan_plain(plan, "t", below(state, 5));
		break;
	case 1:
		step = plan_split(plan, "t", 1 + below(state, 1000), 1 + below(state, 100));
		break;
	default:
		step = plan_blocks(plan, "t", 1 + below(state, 9));
		break;
	}
	plan_cost(plan, SK_COST_CYCLES, cycles);
	plan_cost(plan, SK_COST_BYTES, below(state, 1000));
	plan_cost(plan, SK_COST_CODE, below(state, 80));
	if (kind != 1 && below(state, 2))
		start_early(plan, below(state, 2) ? SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET : SK_STEP_EARLY_WAIT,
			    below(state, cycles / 2 + 1), below(state, cycles / 2 + 1));
	return step;
}

static struct sk_plan_view random_plan(uint64_t seed, uint32_t lanes)
{
	struct plan *plan = plan_create(arena, lanes);
	uint64_t state = seed;

	for (uint32_t launch = 0, count = 1 + below(&state, 4); launch < count; launch++) {
		uint32_t steps[12];

		plan_launch(plan, "l", SK_LAUNCH_SUPERKERNEL);
		if (launch && below(&state, 2))
			plan_follow(plan, below(&state, launch));
		for (uint32_t i = 0, size = 1 + below(&state, 12); i < size; i++) {
			steps[i] = random_step(plan, &state, lanes);
			for (uint32_t a = 0; i && a < below(&state, 3); a++)
				plan_await(plan, steps[below(&state, i)]);
		}
	}
	return plan_view(plan);
}

/* The critical path is in order, without gaps, and its parts make up the time. */
static void check_path(const struct sk_simulation *result)
{
	double sum = 0;

	for (uint32_t i = 0; i < result->path_count; i++)
		for (int part = 0; part < SK_PARTS; part++) {
			ck_assert_double_ge(result->path[i].parts[part], 0);
			sum += result->path[i].parts[part];
		}
	ck_assert_double_eq_tol(sum, result->time, 1e-6);
	for (int part = 0; part < SK_PARTS; part++)
		sum -= result->parts[part];
	ck_assert_double_eq_tol(sum, 0, 1e-6);
	for (int lane = 0; lane < SK_MAX_LANES; lane++)
		ck_assert(result->busy[lane] >= 0 && result->busy[lane] <= 1 + 1e-12);
}

/* With memory for all, fusing does not cost more than it saves as long as awaits cost less than launches; more awaits
 * never make a run quicker; and the same network takes the same time again. */
START_TEST(fused_is_not_slower)
{
	uint32_t lanes = (uint32_t)_i % 2 + 1;
	struct sk_plan_view view = random_plan((uint64_t)_i, lanes);
	struct sk_profile profile = profile_of(lanes == 1 ? ONE_LANE : TWO_LANES);
	double times[SK_WAYS];

	profile.lanes[0].cores = 1 + (uint32_t)_i % 5;
	profile.lanes[0].code_cache = profile.lanes[1].code_cache = 1000;
	((struct sk_plan_kernel *)view.kernels)[0].early = SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET;
	for (int way = 0; way < SK_WAYS; way++) {
		struct sk_simulation result = simulate(&view, &profile, way), again = simulate(&view, &profile, way);

		check_path(&result);
		ck_assert(result.time == again.time);
		ck_assert(!memcmp(result.path, again.path, result.path_count * sizeof(*result.path)));
		times[way] = result.time;
		sk_simulation_free(&result);
		sk_simulation_free(&again);
	}
	ck_assert_double_le(times[SK_WAY_FUSED], times[SK_WAY_UNFUSED] + 1e-6);
	ck_assert_double_le(times[SK_WAY_FUSED], times[SK_WAY_LANE_BARRIER] + 1e-6);

	/* The same with shared memory: only the path has to be right. */
	profile.memory = 2;
	profile.core_memory = 1.5;
	for (int way = 0; way < SK_WAYS; way++) {
		struct sk_simulation result = simulate(&view, &profile, way);

		check_path(&result);
		sk_simulation_free(&result);
	}
}
END_TEST

START_TEST(shares_add_up)
{
	uint64_t state = (uint64_t)_i;

	for (int i = 0; i < 500; i++) {
		uint32_t cores = 1 + below(&state, 100);
		struct sk_network_step step = {.kind = below(&state, SK_STEP_KIND_COUNT),
					       .stream = below(&state, 200),
					       .blocks = 1 + below(&state, 100),
					       .partition = {1 + below(&state, 5000), 1 + below(&state, 300), 0, 0}};

		if (below(&state, 3) == 0) {
			step.partition.rows = step.partition.extent;
			step.partition.blocks = 1 + below(&state, 50);
		}
		double sum = 0;

		for (uint32_t core = 0; core < cores; core++)
			sum += sk_network_share(&step, core, cores);
		ck_assert_double_eq_tol(sum, 1, 1e-9);
	}

	/* Nothing overflows where a plan may be largest. */
	struct sk_network_step huge = {.kind = SK_STEP_SPLIT, .partition = {UINT64_MAX, UINT64_MAX - 1, 0, 0}};

	EXPECT(sk_network_share(&huge, 4095, 4096), 0x1p-64);
	EXPECT(sk_network_share(&huge, 2047, 4096), 1);
	EXPECT(sk_network_share(&huge, 0, 4096), 0);
}
END_TEST

START_TEST(more_cores_are_not_slower)
{
	struct plan *plan = one_launch(1);
	uint64_t state = (uint64_t)_i;
	double last = (double)INFINITY;

	for (int i = 0; i < 8; i++) {
		plan_split(plan, "t", 1 + below(&state, 1000), 1 + below(&state, 50));
		plan_cost(plan, SK_COST_CYCLES, below(&state, 1000));
	}
	for (uint32_t cores = 1; cores < 40; cores++) {
		struct sk_profile profile = one_lane(cores);
		double time = time_of(plan, &profile, SK_WAY_LANE_BARRIER);

		ck_assert_double_le(time, last + 1e-9);
		last = time;
	}
}
END_TEST

/* The rate that all cores get together is the memory's: never more bytes than that, and with enough cores not less. */
START_TEST(memory_is_used_up)
{
	struct sk_profile profile = one_lane(7);
	struct plan *plan = one_launch(1);

	profile.memory = 5;
	profile.core_memory = 1;
	plan_split(plan, "a", 7000, 1);
	plan_cost(plan, SK_COST_BYTES, 7000);
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 102 + 7000 / 5.0);
	profile.memory = 50;
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 102 + 7000 / 7.0);
	profile.memory = (double)INFINITY;
	EXPECT(time_of(plan, &profile, SK_WAY_FUSED), 102 + 7000 / 7.0);
}
END_TEST

START_TEST(too_large)
{
	struct sk_network_step step = {.kind = SK_STEP_PLAIN, .kernel = 1u << 24};
	struct sk_network_launch launch = {.step_count = 1};
	struct sk_network network = {.launches = &launch, .launch_count = 1, .steps = &step, .step_count = 1};
	struct sk_profile profile = one_lane(1);
	struct sk_simulation result;
	char error[512] = "";

	ck_assert(!sk_simulate(&network, &profile, &result, error, sizeof(error)));
	ck_assert_str_eq(error, "1 steps and 16777217 kernels on 1 cores are too many for a prediction");
}
END_TEST

/* ---- profiles ---- */

START_TEST(builtin_profiles)
{
	struct sk_profile host, a3;
	char error[512] = "";

	ck_assert_msg(sk_profile_load("host", &host, error, sizeof(error)), "%s", error);
	ck_assert_msg(sk_profile_load("a3", &a3, error, sizeof(error)), "%s", error);
	ck_assert_str_eq(host.name, "host");
	ck_assert_uint_eq(host.lane_count, 1);
	ck_assert_uint_eq(host.lanes[0].blocks, 8);
	ck_assert_str_eq(a3.name, "a3");
	ck_assert_uint_eq(a3.lane_count, 2);
	ck_assert_uint_eq(a3.lanes[0].cores, 24);
	ck_assert_uint_eq(a3.lanes[1].cores, 48);
	ck_assert_uint_eq(a3.lanes[1].blocks, 48);
	EXPECT(a3.memory, 1600);
	EXPECT(a3.launch, 800);
	ck_assert(!host.sync_all_split && !a3.sync_all_split);
	ck_assert_uint_eq(sk_profile_lane(&a3, "vector"), 1);
	ck_assert_uint_eq(sk_profile_lane(&a3, "core"), SK_NO_INDEX);

	struct sk_profile same;

	ck_assert_msg(sk_profile_load(TOP_SRCDIR "/format/profile/a3.profile", &same, error, sizeof(error)), "%s",
		      error);
	ck_assert_uint_eq(memcmp(&same, &a3, sizeof(a3)), 0);
}
END_TEST

static const struct bad_profile {
	const char *text, *error;
} bad_profiles[] = {
	{"", "p: the profile has no 'name'"},
	{"\n# only a comment\n", "p: the profile has no 'name'"},
	{"name p\n", "p:1: 'key: value' is expected, not 'name p'"},
	{"name:\n", "p:1: 'name' has no value"},
	{": p\n", "p:1: there is no key before the colon"},
	{"name: a\033[1m\n", "p:1: a control character"},
	{"name: two words\n", "p:1: a profile's name has up to 63 letters, digits, '-' and '_'"},
	{"name: a\nname: b\n", "p:2: 'name' is given twice; first in line 1"},
	{"nam: a\n", "p:1: unknown key 'nam'"},
	{"lanes: a b c\n", "p:1: 'lanes' must be one name, or the name of the lane of cube kernels and the name of the "
			   "lane of all others"},
	{"lanes: a a\n", "p:1: both lanes have the same name"},
	{"core.cores: 2\n", "p:1: 'core.cores' is of no lane that 'lanes' has named before"},
	{"lanes: core\ncor.cores: 2\n", "p:2: 'cor.cores' is of no lane that 'lanes' has named before"},
	{"lanes: core\ncore.core: 2\n", "p:2: unknown key 'core' of a lane"},
	{"lanes: core\ncore.cores: 0\n", "p:2: 'core.cores' must be a whole number from 1 to 4096, not '0'"},
	{"lanes: core\ncore.cores: 4097\n", "p:2: 'core.cores' must be a whole number from 1 to 4096, not '4097'"},
	{"lanes: core\ncore.cores: 2.5\n", "p:2: 'core.cores' must be a whole number from 1 to 4096, not '2.5'"},
	{"lanes: core\ncore.operations: 0\n", "p:2: 'core.operations' must be greater than 0"},
	{"lanes: core\ncore.operations: 4 a cycle\n", "p:2: 'core.operations' must be a number, not '4 a cycle'"},
	{"lanes: core\ncore.code-cache: 32\n",
	 "p:2: 'core.code-cache' must be a number with one of the units B, KiB, MiB, GiB, not '32'"},
	{"clock: 0 GHz\n", "p:1: 'clock' must be greater than 0"},
	{"launch: 1 s\n", "p:1: 'launch' must be a number with one of the units ns, us, ms, not '1 s'"},
	{"launch: -1 ns\n", "p:1: 'launch' must be a number with one of the units ns, us, ms, not '-1 ns'"},
	{"launch: nan ns\n", "p:1: 'launch' must be a number with one of the units ns, us, ms, not 'nan ns'"},
	{"launch: 1e999 ns\n", "p:1: 'launch' is too large"},
	{"launch: unlimited\n", "p:1: 'launch' must be a number with one of the units ns, us, ms, not 'unlimited'"},
	{"sync-all-split: yes\n", "p:1: 'sync-all-split' must be true or false"},
	{"sync-all-split: true\nsync-all-split: false\n", "p:2: 'sync-all-split' is given twice; first in line 1"},
	{"memory: 0 GB/s\n", "p:1: 'memory' must be greater than 0"},
	{"name: a\nlanes: core\n", "p: the profile has no 'clock'"},
	{"name: a\nlanes: core\n" COSTS "core.cores: 1\ncore.operations: 1\n",
	 "p: the profile has no 'core.code-cache'"},
};

START_TEST(bad_profile)
{
	const struct bad_profile *bad = &bad_profiles[_i];
	struct sk_profile profile;
	char error[512] = "";

	ck_assert(!sk_profile_parse("p", bad->text, &profile, error, sizeof(error)));
	ck_assert_str_eq(error, bad->error);
}
END_TEST

START_TEST(profile_text)
{
	struct sk_profile profile =
		profile_of("# a comment\n\n  name : x-1_Y # another\r\nlanes:\tfirst   second\n"
			   "first.cores:3\nfirst.operations: 1.5e2\nfirst.code-cache: 2 KiB\nfirst.data-cache: 3 MiB\n"
			   "second.cores: 4096\nsecond.blocks: 7\nsecond.operations: .5\n"
			   "second.code-cache: 0 B\nclock: 500 MHz\nlaunch: 1.5ms\nawait: 2 us\n"
			   "check: 0 ns\ncall: 1e1 ns\nflush: 3 ns\ncode-fetch: unlimited\nmemory: 2 TB/s\n"
			   "core-memory: 500 MB/s\nsync-all-split: true");

	ck_assert_str_eq(profile.name, "x-1_Y");
	ck_assert_str_eq(profile.lanes[1].name, "second");
	ck_assert_uint_eq(profile.lanes[0].blocks, 3);
	ck_assert_uint_eq(profile.lanes[1].blocks, 7);
	EXPECT(profile.lanes[0].operations, 150);
	EXPECT(profile.lanes[0].code_cache, 2048);
	EXPECT(profile.lanes[0].data_cache, 3 << 20);
	EXPECT(profile.lanes[1].data_cache, 0);
	EXPECT(profile.clock, 0.5);
	EXPECT(profile.launch, 1.5e6);
	EXPECT(profile.await, 2000);
	EXPECT(profile.call, 10);
	EXPECT(profile.flush, 3);
	ck_assert(isinf(profile.code_fetch));
	EXPECT(profile.memory, 2000);
	EXPECT(profile.core_memory, 0.5);
	ck_assert(profile.sync_all_split);
	ck_assert(!profile_of(ONE_LANE).sync_all_split);
	ck_assert(!profile_of(ONE_LANE "sync-all-split: false\n").sync_all_split);
}
END_TEST

/* With any single wrong byte a profile is refused, or every time predicted from it is finite. */
START_TEST(corrupt_profile)
{
	static const char bytes[] = "\n:#. 09eE-+\x7f\xff\t";
	struct plan *plan = one_launch(2);
	char text[] = TWO_LANES, error[512];
	uint32_t good = 0;

	plan_blocks(plan, "a", 5);
	plan_cost(plan, SK_COST_CYCLES, SK_COST_MAX);
	plan_cost(plan, SK_COST_BYTES, SK_COST_MAX);
	plan_cost(plan, SK_COST_CODE, SK_COST_MAX);
	plan_lane(plan, 1);
	plain(plan, "b", 7, 1);

	struct sk_plan_view view = plan_view(plan);

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		for (size_t b = 0; b < sizeof(bytes); b++) {
			struct sk_profile profile;
			char saved = text[i];

			text[i] = bytes[b]; /* the last one is NUL: the text ends here */

			bool sound = sk_profile_parse("p", text, &profile, error, sizeof(error));

			text[i] = saved;
			if (!sound || profile.lane_count != 2)
				continue;

			struct sk_simulation result = simulate(&view, &profile, SK_WAY_UNFUSED);

			good++;
			ck_assert(isfinite(result.time) && result.time > 0);
			sk_simulation_free(&result);
		}
	ck_assert_uint_gt(good, 100);
}
END_TEST

START_TEST(profile_files)
{
	struct sk_profile profile;
	char error[512] = "";

	ck_assert(!sk_profile_load("a4", &profile, error, sizeof(error)));
	ck_assert_str_eq(error, "a4: No such file or directory");
	ck_assert(!sk_profile_load("/dev/zero", &profile, error, sizeof(error)));
	ck_assert_str_eq(error, "/dev/zero: not a regular file");
	ck_assert(!sk_profile_load(".", &profile, error, sizeof(error)));
	ck_assert_str_eq(error, ".: not a regular file");

	char path[] = "/tmp/check_predict.XXXXXX";
	int descriptor = mkstemp(path);

	ck_assert_int_ge(descriptor, 0);
	ck_assert_int_eq(write(descriptor, "name: a\0b\n", 10), 10);
	ck_assert(!sk_profile_load(path, &profile, error, sizeof(error)));
	ck_assert(strstr(error, "not a text file: it has a NUL byte"));
	ck_assert_int_eq(ftruncate(descriptor, SK_LINES_MAX_BYTES + 1), 0);
	ck_assert(!sk_profile_load(path, &profile, error, sizeof(error)));
	ck_assert(strstr(error, "the file is too large"));
	close(descriptor);
	unlink(path);
}
END_TEST

/* ---- costs ---- */

/* Collect the costs of two tasks, at sizes, from a file with the text. Return the error, or NULL. */
static const char *collect_at(const char *sizes, const char *text, struct sk_costs *costs)
{
	static char error[512];
	const uint32_t lanes[SK_MAX_LANES] = {0, 1};
	struct sk_profile profile = one_lane(2);
	struct plan *plan = one_launch(1);
	char path[] = "/tmp/check_predict.XXXXXX";
	int descriptor = mkstemp(path);

	plain(plan, "second", 0, 10);
	plan_cost(plan, SK_COST_CYCLES, 10);
	plan_cost(plan, SK_COST_BYTES, 77);
	plain(plan, "first", 1, 20);
	profile.clock = 2;

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_network own = {0};

	ck_assert(sk_plan_next_network(&view, &own));
	ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
	close(descriptor);

	const struct sk_costs_source source = {&view, &own, &profile, lanes, sizes, path};
	bool good = sk_costs_collect(&source, costs, error, sizeof(error));

	unlink(path);
	ck_assert(good || !strncmp(error, path, strlen(path)));
	return good ? NULL : error + strlen(path);
}

static const char *collect(const char *text, struct sk_costs *costs)
{
	return collect_at(NULL, text, costs);
}

START_TEST(cost_files)
{
	struct sk_costs costs;

	ck_assert_ptr_null(collect("first: 1.5 us\n", &costs));
	EXPECT(costs.work[1].compute, 1500);
	EXPECT(costs.work[0].compute, 5);
	EXPECT(costs.work[0].bytes, 77);
	ck_assert_uint_eq(costs.from_file, 1);
	ck_assert_uint_eq(costs.from_plan, 1);
	ck_assert_uint_eq(costs.from_arguments, 0);
	sk_costs_free(&costs);

	/* A measured time includes the bytes. */
	ck_assert_ptr_null(collect("second: 900 cycles\nfirst: 0 ns", &costs));
	EXPECT(costs.work[0].compute, 450);
	EXPECT(costs.work[0].bytes, 0);
	sk_costs_free(&costs);

	ck_assert_str_eq(collect("# x\nthird: 1 ns\n", &costs), ":2: the package has no task 'third'");
	ck_assert_str_eq(collect("first: 1 ns\n\nfirst: 1 ns\n", &costs),
			 ":3: task 'first' is given twice; first in line 1");
	ck_assert_str_eq(collect("first: 1\n", &costs),
			 ":1: 'first' must be a number with one of the units ns, us, ms, cycles, not '1'");
	ck_assert_str_eq(collect("first\n", &costs), ":1: 'key: value' is expected, not 'first'");
}
END_TEST

/* Times of one size are not those of another one. */
START_TEST(cost_files_of_sizes)
{
	struct sk_costs costs;

	ck_assert_ptr_null(collect_at("b=2, s=37", "sizes: b=2, s=37\nfirst: 1.5 us\n", &costs));
	EXPECT(costs.work[1].compute, 1500);
	sk_costs_free(&costs);
	ck_assert_str_eq(collect_at("b=2, s=38", "first: 1 ns\nsizes: b=2, s=37\n", &costs),
			 ":2: these times are those of b=2, s=37, and the prediction is for b=2, s=38: measure at "
			 "these sizes, or predict for those with --dim");
	ck_assert_ptr_null(collect_at("b=2, s=38", "first: 1 ns\n", &costs));
	sk_costs_free(&costs);
	ck_assert_str_eq(collect_at("b=2, s=38", "sizes: 3 ns\n", &costs), ":1: the package has no task 'sizes'");
	ck_assert_str_eq(collect("sizes: b=2, s=37\n", &costs), ":1: the package has no task 'sizes'");
}
END_TEST

/* ---- the table ---- */

START_TEST(printed)
{
	struct plan *plan = one_launch(1);
	struct sk_plan_view view;
	struct sk_plan_network network = {0};
	struct sk_predict_options options = {.network = &network, .cores = 2};
	char error[512] = "", *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	plan_device(plan, "test", 2, 0); /* no profile has that name */
	for (int i = 0; i < 60; i++)
		plain(plan, "same", (uint32_t)i % 2, 10);
	view = plan_view(plan);
	ck_assert(sk_plan_next_network(&view, &network));
	ck_assert(!sk_predict(&view, &options, stream, error, sizeof(error)));
	ck_assert(strstr(error, "linked for device 'test', which has a profile file: give it with --device"));
	options.device = "a3";
	ck_assert(!sk_predict(&view, &options, stream, error, sizeof(error)));
	ck_assert(strstr(error, "profile a3 has no lane 'core'"));
	fflush(stream);
	ck_assert_uint_eq(size, 0);
	options.device = "host";
	ck_assert_msg(sk_predict(&view, &options, stream, error, sizeof(error)), "%s", error);
	fclose(stream);
	ck_assert(strstr(text, "predicted for host: 2 cores; 60 tasks in 1 launch\n"));
	ck_assert(strstr(text, "costs: 60 from manifest and kernels; 0 of no known cost\n"));
	ck_assert(strstr(text, "critical path of the fused run, 30 of 60 steps\n"));
	free(text);
}
END_TEST

/* Lanes are named by the author of the profile. */
START_TEST(trace_with_hostile_lane)
{
	struct sk_profile profile = {.lane_count = 1, .lanes[0] = {.name = "a\"},\\\n", .cores = 1}};
	struct sk_predicted_trace trace;
	char path[] = "/tmp/check_predict.XXXXXX", text[256] = "";
	int descriptor = mkstemp(path);

	ck_assert(descriptor >= 0 && close(descriptor) == 0);
	ck_assert(sk_predicted_trace_open(path, &trace));
	sk_predicted_trace_add(&trace, "run", NULL, &profile, NULL, &(struct sk_simulation){0});
	ck_assert(sk_predicted_trace_close(&trace, path, NULL, true));

	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	unlink(path);
	ck_assert_str_eq(text,
			 "{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":"
			 "{\"name\":\"run, a\\\"},\\\\\\u000a\"}}\n],\n\"displayTimeUnit\":\"ns\",\n"
			 "\"otherData\":{\"predicted\":true}}\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("predict");
	TCase *tests = tcase_create("predict");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, chain_on_one_core);
	tcase_add_test(tests, options_cost);
	tcase_add_test(tests, fewer_cores);
	tcase_add_test(tests, await_on_two_cores);
	tcase_add_test(tests, division);
	tcase_add_test(tests, two_lanes);
	tcase_add_test(tests, launches);
	tcase_add_test(tests, shared_memory);
	tcase_add_test(tests, early_start);
	tcase_add_loop_test(tests, early_around_the_call, 0, 2);
	tcase_add_test(tests, early_blocks);
	tcase_add_test(tests, mix);
	tcase_add_test(tests, mix_on_one_lane);
	tcase_add_test(tests, sync_all);
	tcase_add_test(tests, code_fetch);
	tcase_add_loop_test(tests, fused_is_not_slower, 0, 300);
	tcase_add_loop_test(tests, shares_add_up, 0, 4);
	tcase_add_loop_test(tests, more_cores_are_not_slower, 0, 20);
	tcase_add_test(tests, memory_is_used_up);
	tcase_add_test(tests, too_large);
	tcase_add_test(tests, builtin_profiles);
	tcase_add_loop_test(tests, bad_profile, 0, sizeof(bad_profiles) / sizeof(bad_profiles[0]));
	tcase_add_test(tests, profile_text);
	tcase_add_test(tests, corrupt_profile);
	tcase_add_test(tests, profile_files);
	tcase_add_test(tests, cost_files);
	tcase_add_test(tests, cost_files_of_sizes);
	tcase_add_test(tests, printed);
	tcase_add_test(tests, trace_with_hostile_lane);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
