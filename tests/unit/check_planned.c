/* The verifier on plans of random models: every plan is accepted, and after damage to one await or one address the
 * verdict is that of a brute-force search for races. */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/package/package.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"
#include "tests/lib/messages.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/races.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { MODELS = 100, MOST_CORES = 7 };

static const struct random_options variants[] = {
	{.lanes = 1, .tasks = 9, .streams = 3, .tensors = 6, .one_scope = true},
	{.lanes = 1, .tasks = 12, .streams = 2, .tensors = 10},
	{.lanes = 2, .tasks = 8, .streams = 3, .tensors = 7, .one_scope = true},
	{.lanes = 1, .tasks = 8, .streams = 3, .tensors = 6, .one_scope = true, .together = true},
	{.lanes = 2, .tasks = 8, .streams = 3, .tensors = 6, .one_scope = true, .together = true},
	{.lanes = 2, .tasks = 9, .streams = 3, .tensors = 6, .together = true},
	{.lanes = 1, .tasks = 10, .streams = 3, .tensors = 9, .one_scope = true, .states = true},
	{.lanes = 2, .tasks = 9, .streams = 3, .tensors = 9, .states = true},
	{.lanes = 1, .tasks = 12, .streams = 3, .tensors = 4, .one_scope = true, .rows = true},
	{.lanes = 2, .tasks = 9, .streams = 3, .tensors = 4, .rows = true},
	{.lanes = 1, .tasks = 12, .streams = 2, .tensors = 8, .one_scope = true, .rows = true, .passing = true},
	/* Rows of different strides are compared by their ends, which the search for races does not. */
	{.lanes = 1, .tasks = 12, .streams = 3, .tensors = 4, .one_scope = true, .rows = true, .strides = true},
	{.lanes = 2, .tasks = 12, .streams = 3, .tensors = 4, .rows = true, .strides = true},
};

/* A random model's plan, and the orders that its `after` and events want. */
struct planned {
	struct sk_plan_view view;
	struct sk_account account;
};

static struct planned plan_model(struct test_model *test)
{
	struct sk_fusion *fusion = sk_fusion_build(&test->model);
	struct sk_schedule *schedule = sk_schedule_build(&test->model, fusion);
	struct sk_memory *memory = sk_memory_plan(&test->model, fusion, schedule);
	struct planned planned;
	struct sk_plan_image image;
	char error[256];

	ck_assert_ptr_nonnull(memory);
	ck_assert(sk_plan_write(&test->model, fusion, schedule, memory, EM_X86_64, SK_TASKS_BY_THUNKS, &image));

	/* Tests change one launch or one tensor alone. */
	struct sk_plan *plan = sk_arena_alloc(test->arena, own_records_size((void *)image.bytes), 1);

	own_records(plan, (void *)image.bytes);
	ck_assert_msg(sk_plan_open(plan, plan->size, &planned.view, error, sizeof(error)), "%s", error);
	ck_assert_msg(sk_plan_check_all(&planned.view, error, sizeof(error)), "%s", error);
	planned.view.made = NULL; /* tests change the arguments */
	planned.account = sk_account_build(test->arena, &test->model, fusion, schedule->groups);
	return planned;
}

/* The verdict on the plan, or on a copy of it with a damage. */
static bool accepts(struct test_model *test, const struct sk_plan_view *view, const struct sk_account *account)
{
	struct sk_diag diag;

	sk_diag_init(&diag, test->arena);
	return sk_verify(test->arena, &diag, view, "random", account->orders, account->order_count, NULL);
}

/* The same verdict without the manifest's wishes beside its data. Another oracle decides about the values that reads
 * find. */
static bool accepts_data(struct test_model *test, const struct sk_plan_view *view)
{
	struct sk_diag diag;
	bool astray = reads_astray(view);

	sk_diag_init(&diag, test->arena);

	bool accepted = sk_verify(test->arena, &diag, view, "random", NULL, 0, NULL);
	char *text = take_messages(&diag);
	bool ordered = !says_more(text);

	ck_assert_msg(says_astray(text) == astray, "reads %s what they should: %s", astray ? "do not find" : "find",
		      text);
	ck_assert(accepted == (ordered && !astray));
	free(text);
	return ordered;
}

static bool has_races(const struct sk_plan_view *view)
{
	return races_exist_up_to(view, MOST_CORES);
}

START_TEST(plans_are_accepted)
{
	const struct random_options *options = &variants[_i];

	for (uint64_t seed = 0; seed < 4 * MODELS; seed++) {
		struct test_model *test = random_model(seed, options);
		struct planned planned = plan_model(test);
		struct sk_diag diag;

		sk_diag_init(&diag, test->arena);
		if (!sk_verify(test->arena, &diag, &planned.view, "random", planned.account.orders,
			       planned.account.order_count, NULL))
			sk_diag_flush(&diag, "rejected", 0, stdout);
		ck_assert_msg(diag.errors == 0, "seed %u", (unsigned)seed);
		if (seed < MODELS)
			ck_assert_msg(!has_races(&planned.view), "seed %u", (unsigned)seed);
		test_model_destroy(test);
	}
}
END_TEST

/* Each await is needed. Without some there are races; the others stand for `after` and events: without them only an
 * order is lost, and a verifier without the orders accepts the plan. */
START_TEST(every_await_is_missed)
{
	uint32_t races = 0, orders = 0;

	for (uint64_t seed = 0; seed < MODELS; seed++) {
		struct test_model *test = random_model(seed, &variants[_i]);
		struct planned planned = plan_model(test);

		for (uint32_t i = 0; i < planned.view.await_count; i++) {
			struct sk_plan_view without = plan_without_await(test->arena, &planned.view, i);
			bool accepted = accepts_data(test, &without);

			ck_assert_msg(!accepts(test, &without, &planned.account), "seed %u, await %u", (unsigned)seed,
				      i);
			ck_assert_msg(accepted != has_races(&without), "seed %u, await %u: %s", (unsigned)seed, i,
				      accepted ? "accepted" : "rejected");
			races += !accepted;
			orders += accepted;
		}
		test_model_destroy(test);
	}
	ck_assert_uint_gt(orders, 0);
	ck_assert_uint_gt(races, MODELS / 2);
	ck_assert_uint_gt(races, orders);
}
END_TEST

/* Steps that could start early but for the hidden state that they share: where one of them does, the verdict is that of
 * the search. Some flags do no harm, since an earlier await orders the calls as wholes. */
START_TEST(early_starts)
{
	uint32_t late = 0, rejected = 0;

	for (uint64_t seed = 0; seed < 2 * MODELS && variants[_i].states; seed++) {
		struct test_model *test = random_model(seed, &variants[_i]);
		struct sk_plan_view view = plan_model(test).view;

		for (uint32_t i = 0; i < view.launch_count; i++)
			plan_form(&view.launches[i])->flags |= SK_LAUNCH_EARLY;
		for (uint32_t i = 0; i < view.step_count; i++) {
			struct sk_plan_step *step = (struct sk_plan_step *)&view.steps[i];
			uint32_t can = view.kernels[sk_plan_step_calls(&view, step).first->kernel].early &
				       ~(uint32_t)step->flags;

			for (uint32_t flag = SK_STEP_EARLY_WAIT; flag <= SK_STEP_EARLY_SET; flag *= 2) {
				if (!(can & flag))
					continue;
				step->flags ^= (uint16_t)flag;

				bool accepted = accepts_data(test, &view);

				ck_assert_msg(accepted != has_races(&view), "seed %u, step %u, flag %u: %s",
					      (unsigned)seed, i, flag, accepted ? "accepted" : "rejected");
				step->flags ^= (uint16_t)flag;
				rejected += !accepted;
				late++;
			}
		}
		test_model_destroy(test);
	}
	ck_assert(!variants[_i].states || (rejected > late / 2 && rejected > 20));
}
END_TEST

/* The sides of a mix task have equal arguments, or the plan's reader refuses them. */
static bool is_of_side(const struct sk_plan_view *view, uint32_t argument)
{
	for (uint32_t i = 0; i < view->step_count; i++)
		if (argument - view->calls[view->steps[i].first_call].first_argument <
		    view->calls[view->steps[i].first_call].argument_count)
			return view->steps[i].flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE);
	return false;
}

/* Grow the tensor by an element, without regard to its neighbours. */
static void grow(struct sk_plan *plan, struct sk_plan_tensor *tensor)
{
	uint32_t size = sk_dtype_size(sk_plan_type(tensor)->dtype);

	plan_type(tensor)->rank = 1;
	plan_type(tensor)->shape[0] = plan_type(tensor)->bytes / size + 1;
	plan_type(tensor)->bytes += size;
	plan->workspace_size += size;
	plan->unshared_workspace_size += size;
}

/* Moves one pointer of each plan by an element; its tensor grows with it. */
START_TEST(moved_addresses)
{
	uint32_t rejected = 0, moved = 0;

	for (uint64_t seed = 0; seed < 4 * MODELS; seed++) {
		struct test_model *test = random_model(seed, &variants[_i]);
		struct sk_plan_view view = plan_model(test).view;
		uint64_t state = seed;
		uint32_t argument = random_below(&state, view.argument_count);
		struct sk_plan_argument *record = (struct sk_plan_argument *)&view.arguments[argument];
		uint64_t limit = record->space == SK_SPACE_WORKSPACE ? view.plan->workspace_size : record->size;
		bool network =
			argument <
			sk_plan_launch_calls(&view, &view.launches[view.network_launch_count]).first->first_argument;

		if (network && !is_of_side(&view, argument) && record->kind == SK_ARGUMENT_POINTER &&
		    record->offset + record->size < limit) {
			grow((struct sk_plan *)view.plan, (struct sk_plan_tensor *)&view.tensors[record->tensor]);
			record->offset += sk_dtype_size(record->dtype);
			bool accepted = accepts_data(test, &view);

			ck_assert_msg(accepted != has_races(&view), "seed %u, argument %u: %s", (unsigned)seed,
				      argument, accepted ? "accepted" : "rejected");
			rejected += !accepted;
			moved++;
		}
		test_model_destroy(test);
	}
	ck_assert_uint_gt(moved, 0);
	ck_assert_uint_gt(rejected, 0);
}
END_TEST

/* Two halves of a matrix, side by side, are written in two streams, and then all of it is read: both must be awaited,
 * and neither await covers the other half, though their rows are interleaved. */
START_TEST(halves_side_by_side)
{
	struct test_model *test = test_model_create(1);
	struct planned planned;

	add_tensor(test, "x", SK_F32, 8);
	add_tensor(test, "t", SK_F32, 16, 8);
	add_tensor(test, "y", SK_F32, 8);
	fuse_streams(test, "s");
	add_task(test, "left", PLAIN, 0, "s", in("x"), rows(out("t"), 0, 16, 32, 16));
	add_task(test, "right", PLAIN, 1, "s", in("x"), rows(out("t"), 16, 16, 32, 16));
	add_task(test, "whole", PLAIN, 2, "s", in("t"), out("y"));
	test_model_finish(test);
	planned = plan_model(test);
	ck_assert_uint_eq(planned.view.await_count, 2);
	ck_assert(accepts(test, &planned.view, &planned.account));
	for (uint32_t i = 0; i < 2; i++) {
		struct sk_plan_view without = plan_without_await(test->arena, &planned.view, i);

		ck_assert(!accepts(test, &without, &planned.account));
	}
	test_model_destroy(test);
}
END_TEST

/* Heads of layers, in two streams: their inputs use the memory of earlier layers' inputs. */
static struct test_model *layers_of_heads(void)
{
	enum { LAYERS = 4, HEADS = 2, ROW = 64, HEAD = ROW / HEADS, ROW_COUNT = 16 };
	struct test_model *test = test_model_create(1);

	fuse_streams(test, "s");
	add_tensor(test, "b0", SK_F32, ROW_COUNT, ROW / 4);
	for (uint32_t i = 1; i <= LAYERS; i++) {
		const char *from = sk_arena_print(test->arena, "a%u", i), *to = sk_arena_print(test->arena, "b%u", i);

		add_tensor(test, from, SK_F32, ROW_COUNT, ROW / 4);
		add_tensor(test, to, SK_F32, ROW_COUNT, ROW / 4);
		add_task(test, from, PLAIN, 0, "s", in(sk_arena_print(test->arena, "b%u", i - 1)), out(from));
		for (uint32_t h = 0; h < HEADS; h++)
			add_task(test, sk_arena_print(test->arena, "h%u.%u", i, h), PLAIN, h, "s",
				 rows(in(from), h * HEAD, HEAD, ROW, ROW_COUNT),
				 rows(out(to), h * HEAD, HEAD, ROW, ROW_COUNT));
	}
	add_tensor(test, "y", SK_F32, ROW_COUNT, ROW / 4);
	add_task(test, "last", PLAIN, 0, "s", in(sk_arena_print(test->arena, "b%u", LAYERS)), out("y"));
	test_model_finish(test);
	return test;
}

static struct sk_plan_tensor *tensor_of(const struct sk_plan_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->tensor_count; i++)
		if (!strcmp(sk_plan_string(&view->tensors[i].name), name))
			return (struct sk_plan_tensor *)&view->tensors[i];
	ck_abort_msg("no tensor '%s'", name);
}

/* Move a tensor within the workspace of the network, or within that of tasks' own entries, with all accesses to it. */
static void move(const struct sk_plan_view *view, const char *name, uint64_t offset, bool unshared)
{
	struct sk_plan_tensor *tensor = tensor_of(view, name);
	uint64_t *place = unshared ? &tensor->unshared_offset : &tensor->offset;

	for (uint32_t i = 0; i < view->launch_count; i++) {
		struct sk_plan_calls calls = sk_plan_launch_calls(view, &view->launches[i]);

		if ((sk_plan_form(&view->launches[i])->kind == SK_LAUNCH_TASK) != unshared)
			continue;
		for (uint32_t a = calls.first->first_argument;
		     a < calls.end[-1].first_argument + calls.end[-1].argument_count; a++)
			if (view->arguments[a].space == SK_SPACE_WORKSPACE &&
			    &view->tensors[view->arguments[a].tensor] == tensor)
				((struct sk_plan_argument *)&view->arguments[a])->offset += offset - *place;
	}
	*place = offset;
}

/* Return the errors of the plan, without the manifest's wishes beside its data. */
static char *errors_of(struct test_model *test, const struct sk_plan_view *view)
{
	struct sk_diag diag;

	sk_diag_init(&diag, test->arena);
	sk_verify(test->arena, &diag, view, "random", NULL, 0, NULL);
	return take_messages(&diag);
}

START_TEST(rows_in_one_place)
{
	struct test_model *test = layers_of_heads();
	struct planned planned = plan_model(test);
	uint64_t bytes = sk_plan_type(tensor_of(&planned.view, "a1"))->bytes;

	ck_assert_uint_eq(planned.view.plan->workspace_size, 2 * bytes);
	ck_assert(accepts(test, &planned.view, &planned.account));
	ck_assert(!has_races(&planned.view));
	for (uint32_t i = 0; i < planned.view.await_count; i++) {
		struct sk_plan_view without = plan_without_await(test->arena, &planned.view, i);

		ck_assert_msg(!accepts_data(test, &without), "await %u", i);
	}
	test_model_destroy(test);
}
END_TEST

/* Heads may overwrite the bytes that they read themselves, since these are known exactly; one column further they
 * overwrite bytes that others still read. */
START_TEST(rows_in_a_wrong_place)
{
	struct test_model *test = layers_of_heads();
	struct planned planned = plan_model(test);
	uint64_t bytes = sk_plan_type(tensor_of(&planned.view, "a1"))->bytes;
	char *text;

	move(&planned.view, "b1", 0, false);
	ck_assert(accepts(test, &planned.view, &planned.account));
	ck_assert(!has_races(&planned.view));
	move(&planned.view, "b1", 4, false);
	ck_assert(has_races(&planned.view));
	text = errors_of(test, &planned.view);
	ck_assert_msg(strstr(text, "reads 'a1', but task 'h1.0' has last written 'b1' there"), "%s", text);
	free(text);
	move(&planned.view, "b1", bytes, false);
	ck_assert(accepts(test, &planned.view, &planned.account));
	test_model_destroy(test);
}
END_TEST

/* If rows have several strides, or some tensor has none, no memory may be shared; nor if tasks run one by one. */
START_TEST(rows_apart)
{
	for (uint32_t kind = 0; kind < 3; kind++) {
		struct test_model *test = test_model_create(1);

		add_tensor(test, "x", SK_F32, 64);
		add_tensor(test, "t", SK_F32, 64);
		add_tensor(test, "u", SK_F32, 64);
		add_tensor(test, "y", SK_F32, 64);
		add_task(test, "a", PLAIN, 0, "s", in("x"), out("t"));
		add_task(test, "b", PLAIN, 0, "s", rows(in("t"), 0, 16, 32, 8), part(out("y"), 0, 128));
		add_task(test, "c", PLAIN, 0, "s", in("x"), out("u"));
		add_task(test, "d", PLAIN, 0, "s", kind == 1 ? in("u") : rows(in("u"), 0, 16, kind ? 32 : 64, 4),
			 part(out("y"), 128, 128));
		test_model_finish(test);

		struct planned planned = plan_model(test);
		struct sk_plan_tensor *t = tensor_of(&planned.view, "t"), *u = tensor_of(&planned.view, "u");
		char *text;

		ck_assert_msg((t->offset == u->offset) == (kind == 2), "kind %u", kind);
		ck_assert(accepts(test, &planned.view, &planned.account));
		if (kind < 2)
			move(&planned.view, "u", t->offset, false);
		else
			move(&planned.view, "u", t->unshared_offset, true);
		text = errors_of(test, &planned.view);
		ck_assert_msg(strstr(text, "is accessed in rows, but shares bytes of the workspace with"), "%s", text);
		free(text);
		test_model_destroy(test);
	}
}
END_TEST

/* More streams than homes: some share one. The plan is still proved, and each await is needed. */
START_TEST(more_streams_than_homes)
{
	struct test_model *test = random_model(
		1,
		&(struct random_options){.lanes = 1, .tasks = 1200, .streams = 1000, .tensors = 16, .one_scope = true});
	struct planned planned = plan_model(test);

	ck_assert_uint_eq(sk_plan_form(&planned.view.launches[0])->home_count, SK_MAX_HOMES);
	ck_assert(accepts(test, &planned.view, &planned.account));
	ck_assert_uint_gt(planned.view.await_count, 29);
	for (uint32_t i = 0; i < planned.view.await_count; i += 29) {
		struct sk_plan_view without = plan_without_await(test->arena, &planned.view, i);

		ck_assert_msg(!accepts(test, &without, &planned.account), "await %u", i);
	}
	test_model_destroy(test);
}
END_TEST

/* More launches in more streams than `before` and the verifier's clocks have room for. */
START_TEST(more_chains_than_are_kept)
{
	enum { TASKS = 4200 };
	struct test_model *test =
		random_model(1, &(struct random_options){.lanes = 1, .tasks = TASKS, .streams = 50000, .tensors = 16});

	for (uint32_t t = 0; t < TASKS; t++)
		never_fuse(test, t);
	struct sk_fusion *fusion = sk_fusion_build(&test->model);

	ck_assert_uint_eq(fusion->launch_count, TASKS);
	ck_assert_uint_eq(fusion->kept_chains, SK_MAX_BEFORE / TASKS);

	struct planned planned = plan_model(test);
	const struct sk_plan_view *view = &planned.view;
	uint32_t rejected = 0;

	ck_assert(accepts(test, view, &planned.account));
	for (uint32_t i = view->follow_count / 2; i < view->follow_count; i += view->follow_count / 8) {
		uint32_t *follow = (uint32_t *)&view->follows[i], kept = *follow;

		*follow = 0;
		rejected += !accepts(test, view, &planned.account);
		*follow = kept;
	}
	ck_assert_uint_gt(rejected, 0);
	test_model_destroy(test);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("planned");
	TCase *tcase = tcase_create("planned");
	int all = sizeof(variants) / sizeof(variants[0]), variant_count = all;

	while (variants[variant_count - 1].strides)
		variant_count--;

	int without_rows = variant_count;

	while (variants[without_rows - 1].rows)
		without_rows--;

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, plans_are_accepted, 0, all);
	tcase_add_loop_test(tcase, every_await_is_missed, 0, variant_count);
	tcase_add_loop_test(tcase, early_starts, 0, variant_count);
	tcase_add_loop_test(tcase, moved_addresses, 0, without_rows);
	tcase_add_test(tcase, halves_side_by_side);
	tcase_add_test(tcase, rows_in_one_place);
	tcase_add_test(tcase, rows_in_a_wrong_place);
	tcase_add_test(tcase, rows_apart);
	tcase_add_test(tcase, more_streams_than_homes);
	tcase_add_test(tcase, more_chains_than_are_kept);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
