/* Tests of src/planning/plan-writer.c: the reader finds in a written plan the same as was planned. */
#include "format/skplan.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "format/plan/plan.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { N = 4096, MACHINE = 62, RANDOM_MODELS = 300 };

static struct test_model *test;
static struct sk_fusion *fusion;
static struct sk_schedule *schedule;
static struct sk_memory *memory;
static struct sk_plan_image image;
static struct sk_plan_view view;

static void set_up(void)
{
	test = test_model_create(1);
	for (char name[] = "a"; name[0] <= 'f'; name[0]++)
		add_tensor(test, name, SK_F32, N);
}

static void tear_down(void)
{
	test_model_destroy(test);
}

/* Plans, writes and reads; the reader must accept everything. */
static void write_plan(enum sk_task_entries task_entries)
{
	char error[256] = "";

	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(fusion);
	schedule = sk_schedule_build(&test->model, fusion);
	memory = sk_memory_plan(&test->model, fusion, schedule);
	ck_assert(sk_plan_write(&test->model, fusion, schedule, memory, MACHINE, task_entries, &image));
	ck_assert_uint_eq((uintptr_t)image.bytes % SK_PLAN_ALIGN, 0);
	ck_assert_msg(sk_plan_open(image.bytes, image.size, &view, error, sizeof(error)), "%s", error);
	ck_assert_msg(sk_plan_check_all(&view, error, sizeof(error)), "%s", error);
}

static const struct sk_plan_tensor *tensor_named(const char *name)
{
	for (uint32_t i = 0; i < view.tensor_count; i++)
		if (strcmp(sk_plan_string(&view.tensors[i].name), name) == 0)
			return &view.tensors[i];
	ck_abort_msg("no tensor %s", name);
}

static const struct sk_plan_relocation *relocation_at(const void *field)
{
	uint64_t offset = (uint64_t)((const uint8_t *)field - image.bytes);

	for (size_t i = 0; i < image.relocations.count; i++)
		if (image.relocations.items[i].offset == offset)
			return &image.relocations.items[i];
	return NULL;
}

static void expect_relocation(const void *field, enum sk_plan_target target, uint32_t index)
{
	const struct sk_plan_relocation *relocation = relocation_at(field);

	ck_assert_ptr_nonnull(relocation);
	ck_assert_int_eq(relocation->target, target);
	ck_assert_uint_eq(relocation->index, index);
	ck_assert_int_eq(*(const int32_t *)field, 0);
}

START_TEST(test_header)
{
	add_task(test, "t", PLAIN, 0, "s", in("a"), out("b"));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_uint_eq(view.plan->machine, MACHINE);
	ck_assert_uint_eq(view.plan->size, image.size);
	ck_assert_uint_eq(view.plan->constants_size, 0);
	ck_assert_str_eq(sk_plan_string(&view.plan->device), "host");
	ck_assert_uint_eq(view.lane_count, 1);
	ck_assert_str_eq(sk_plan_string(&view.lanes[0]), "core");
	ck_assert_uint_eq(view.launch_count, 2);
	ck_assert_uint_eq(view.network_launch_count, 1);
	ck_assert_ptr_null(relocation_at(&view.plan->constants));
	ck_assert_uint_eq(image.relocations.count, 2 * 2 + 1);
	expect_relocation(&view.launches[0].entry, SK_PLAN_ENTRY, 0);
	expect_relocation(&view.launches[0].serial_entry, SK_PLAN_SERIAL_ENTRY, 0);
	expect_relocation(&view.launches[1].entry, SK_PLAN_ENTRY, 1);
	expect_relocation(&view.kernels[0].code, SK_PLAN_KERNEL, 0);
	for (size_t i = 1; i < image.relocations.count; i++)
		ck_assert_uint_gt(image.relocations.items[i].offset, image.relocations.items[i - 1].offset);
}
END_TEST

START_TEST(test_no_task_entries)
{
	add_task(test, "t", PLAIN, 0, "s", in("a"), out("b"));
	write_plan(SK_TASKS_WITHOUT);
	ck_assert_uint_eq(view.launch_count, 1);
	ck_assert_uint_eq(view.tasks[0].task_launch, SK_NO_INDEX);
	ck_assert_uint_eq(image.relocations.count, 2 + 1);
}
END_TEST

/* So many tasks by themselves, then so many in one launch. */
static void write_launches(uint32_t alone, uint32_t together, enum sk_task_entries task_entries)
{
	static char names[64][8];

	tear_down();
	set_up();
	for (uint32_t i = 0; i < alone + together; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		add_task(test, names[i], PLAIN, 0, i < alone ? NULL : "s", in("a"), out("b"));
	}
	write_plan(task_entries);
}

/* For any number of launches in the network, and of launches after them. */
START_TEST(test_network_launches)
{
	for (uint32_t alone = 0; alone <= 20; alone++)
		for (uint32_t together = alone == 0; together <= 40; together += 13) {
			uint32_t launches = alone + (together != 0);

			write_launches(alone, together, SK_TASKS_BY_THUNKS);
			ck_assert_uint_eq(view.network_launch_count, launches);
			ck_assert_uint_eq(view.launch_count, launches + alone + together);
			sk_plan_close(&view);
			write_launches(alone, together, SK_TASKS_WITHOUT);
			ck_assert_uint_eq(view.network_launch_count, launches);
			ck_assert_uint_eq(view.launch_count, launches);
			sk_plan_close(&view);
		}
}
END_TEST

START_TEST(test_thunks)
{
	add_task(test, "t", PLAIN, 0, "s", in("a"), out("b"));
	write_plan(SK_TASKS_BY_THUNKS);
	ck_assert_uint_eq(view.launch_count, 2);
	ck_assert_uint_eq(view.tasks[0].task_launch, 1);
	ck_assert_uint_eq(sk_plan_form(&view.launches[0])->flags, 0);
	ck_assert_uint_eq(sk_plan_form(&view.launches[1])->flags, SK_LAUNCH_THUNK);
	ck_assert_int_eq(view.launches[1].serial_entry, 0);
	ck_assert_uint_eq(image.relocations.count, 2 + 1 + 1); /* entries, a thunk, a kernel */
}
END_TEST

START_TEST(test_addresses)
{
	/* b and c are temporaries with offsets of their own in the unshared workspace; d lies where b was. */
	add_task(test, "t0", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "t1", PLAIN, 0, "s", part(in("b"), 256, 1024), out("c"));
	add_task(test, "t2", PLAIN, 0, "s", in("c"), out("d"));
	add_task(test, "t3", PLAIN, 0, "s", in("d"), inout("e"), value(77), load("f"), hidden(5));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_uint_eq(view.binding_count, 3);
	ck_assert_int_eq(tensor_named("a")->role, SK_ROLE_INPUT);
	ck_assert_int_eq(tensor_named("a")->space, SK_SPACE_BINDING);
	ck_assert_int_eq(tensor_named("e")->role, SK_ROLE_INOUT);
	ck_assert_uint_eq(tensor_named("e")->index, 1);
	ck_assert_str_eq(sk_plan_string(&view.tensors[view.bindings[1]].name), "e");
	ck_assert_int_eq(tensor_named("b")->space, SK_SPACE_WORKSPACE);
	ck_assert_uint_eq(tensor_named("d")->offset, 0);
	ck_assert_uint_eq(tensor_named("d")->unshared_offset, 2 * 4 * N);
	ck_assert_uint_eq(view.plan->workspace_size, 2 * 4 * N);
	ck_assert_uint_eq(view.plan->unshared_workspace_size, 3 * 4 * N);

	const struct sk_plan_call *fused = sk_plan_launch_calls(&view, &view.launches[0]).first;
	const struct sk_plan_call *single = sk_plan_launch_calls(&view, &view.launches[3]).first; /* t2's entry */

	ck_assert_uint_eq(view.arguments[fused[1].first_argument].offset, 256);
	ck_assert_uint_eq(view.arguments[fused[1].first_argument].size, 1024);
	ck_assert_uint_eq(view.arguments[fused[2].first_argument + 1].offset, 0);
	ck_assert_uint_eq(view.arguments[single->first_argument].offset, 4 * N);
	ck_assert_uint_eq(view.arguments[single->first_argument + 1].offset, 2 * 4 * N);

	const struct sk_plan_argument *arguments = &view.arguments[fused[3].first_argument];

	ck_assert_int_eq(arguments[1].space, SK_SPACE_BINDING);
	ck_assert_uint_eq(arguments[1].index, 1);
	ck_assert_int_eq(arguments[1].access, SK_ACCESS_READ | SK_ACCESS_WRITE);
	ck_assert_int_eq(arguments[2].kind, SK_ARGUMENT_VALUE);
	ck_assert_int_eq(arguments[2].space, SK_SPACE_NONE);
	ck_assert_uint_eq(arguments[2].value, 77);
	ck_assert_int_eq(arguments[3].kind, SK_ARGUMENT_LOAD);
	ck_assert_uint_eq(arguments[3].index, 2);
	ck_assert_int_eq(arguments[3].access, SK_ACCESS_READ);
	ck_assert_int_eq(arguments[4].space, SK_SPACE_STATE);
	ck_assert_uint_eq(arguments[4].index, 5);
	ck_assert_uint_eq(arguments[4].value, 0);
}
END_TEST

START_TEST(test_constants)
{
	uint32_t small = add_tensor(test, "small", SK_I8, 65), large = add_tensor(test, "large", SK_F32, N);

	test->model.tensors.items[small].role = SK_ROLE_CONSTANT;
	test->model.tensors.items[large].role = SK_ROLE_CONSTANT;
	add_task(test, "t", PLAIN, 0, "s", in("small"), part(in("large"), 64, 64), out("b"));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_uint_eq(image.constants.count, 2);
	ck_assert_uint_eq(image.constants.items[0].tensor, small);
	ck_assert_uint_eq(image.constants.items[0].offset, 0);
	ck_assert_uint_eq(image.constants.items[0].size, 65);
	ck_assert_uint_eq(image.constants.items[1].tensor, large);
	ck_assert_uint_eq(image.constants.items[1].offset, 128);
	ck_assert_uint_eq(image.constants_size, 128 + 4 * N);
	ck_assert_uint_eq(view.plan->constants_size, 128 + 4 * N);
	ck_assert_uint_eq(tensor_named("large")->offset, 128);
	ck_assert_int_eq(view.arguments[1].space, SK_SPACE_CONSTANT);
	ck_assert_uint_eq(view.arguments[1].offset, 192);
	expect_relocation(&view.plan->constants, SK_PLAN_CONSTANTS, 0);
}
END_TEST

START_TEST(test_views_are_left_out)
{
	uint32_t half = add_tensor(test, "half", SK_F32, N / 2);

	test->model.tensors.items[half].view_of = 0;
	add_task(test, "t", PLAIN, 0, "s", in("a"), out("b"));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_uint_eq(view.tensor_count, 6);
	ck_assert_int_eq(tensor_named("c")->space, SK_SPACE_NONE);
}
END_TEST

START_TEST(test_launches)
{
	struct test_spread flags = ELEMENTWISE(N);

	flags.status = flags.nontemporal = true;
	add_task(test, "t0", flags, 2, "s", in("a"), out("b"), scratch(100));
	add_task(test, "u", UNFUSIBLE, 2, "s", in("b"), out("c"));
	add_task(test, "t1", BLOCKS(8), 2, "s", in("c"), out("d"));
	add_task(test, "t2", BLOCKS_RANGE(4, N), 2, "s", in("d"), out("e"));
	add_task(test, "t3", PLAIN, 3, "s", in("e"), out("f"));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_uint_eq(view.network_launch_count, 3);
	ck_assert_uint_eq(view.launch_count, 3 + 5);

	const struct sk_plan_launch *first = &view.launches[0], *second = &view.launches[1], *third = &view.launches[2];

	ck_assert_str_eq(sk_plan_string(&first->name), "sk_s_start_t0_end_t0");
	ck_assert_str_eq(sk_plan_string(&sk_plan_form(first)->scope), "s");
	ck_assert_str_eq(sk_plan_string(&second->name), "sk_task_u");
	ck_assert_str_eq(sk_plan_string(&sk_plan_form(second)->scope), "");
	ck_assert_str_eq(sk_plan_string(&view.tasks[1].scope), "s");
	ck_assert_uint_eq(sk_plan_form(first)->kind, SK_LAUNCH_SUPERKERNEL);
	ck_assert_uint_eq(sk_plan_form(second)->kind, SK_LAUNCH_SINGLE);
	ck_assert_uint_eq(sk_plan_form(first)->stream, 2);
	ck_assert_uint_eq(sk_plan_form(first)->scratch_size, 128);
	ck_assert_uint_eq(sk_plan_form(third)->scratch_size, 0);
	ck_assert_uint_eq(sk_plan_form(third)->follow_count, 1);
	ck_assert_uint_eq(view.follows[third->first_follow], 1);
	ck_assert_uint_eq(sk_plan_form(third)->lane_steps[0], 3);

	const struct sk_plan_step *steps = &view.steps[third->first_step];

	ck_assert_uint_eq(view.steps[0].flags, SK_STEP_NONTEMPORAL);
	ck_assert_uint_eq(view.calls[0].flags, SK_CALL_STATUS);
	ck_assert_uint_eq(view.steps[0].extent, N);
	ck_assert_uint_eq(view.partitions[view.steps[0].partition].unit, 64);
	ck_assert_uint_eq(steps[0].flags, SK_STEP_PUBLISH);
	ck_assert_uint_eq(steps[0].blocks, 8);
	ck_assert_uint_eq(steps[1].await_count, 1);
	ck_assert_uint_eq(view.awaits[steps[1].first_await].step, third->first_step);
	ck_assert_uint_eq(view.partitions[steps[1].partition].extent, 4);
	ck_assert_uint_eq(view.partitions[steps[1].partition].unit, 1);
	ck_assert_uint_eq(steps[2].number, 3);
	ck_assert_uint_eq(view.homes[steps[2].core_set].stream, 3);
	ck_assert_uint_eq(steps[2].flags, 0);

	const struct sk_plan_launch *entry = &view.launches[view.tasks[4].task_launch];

	ck_assert_str_eq(sk_plan_string(&entry->name), "sk_unfused_t3");
	ck_assert_str_eq(sk_plan_string(&sk_plan_form(entry)->scope), "s");
	ck_assert_uint_eq(sk_plan_form(entry)->kind, SK_LAUNCH_TASK);
	ck_assert_uint_eq(sk_plan_form(entry)->stream, 3);
	ck_assert_uint_eq(sk_plan_form(entry)->follow_count, 0);
	ck_assert_uint_eq(view.steps[entry->first_step].number, 1);
	ck_assert_uint_eq(view.steps[entry->first_step].await_count, 0);
	ck_assert_uint_eq(view.homes[view.steps[entry->first_step].core_set].stream, 3);
	ck_assert_uint_eq(view.tasks[4].launch, 2);
	ck_assert_uint_eq(view.tasks[4].line, test->model.tasks.items[4].place.line);
	ck_assert_uint_eq(sk_plan_form(&view.launches[view.tasks[0].task_launch])->scratch_size, 128);
}
END_TEST

START_TEST(test_task_entries_have_their_own_unit)
{
	add_tensor(test, "x", SK_F32, 64, 1000);
	add_tensor(test, "y", SK_F32, 64, 1000);
	add_tensor(test, "z", SK_F32, 64, 1000);
	add_task(test, "t0", ELEMENTWISE(64000), 0, "s", in("x"), out("y"));
	add_task(test, "t1", ROWS(64), 0, "s", in("y"), out("z"));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_uint_eq(view.partitions[view.steps[0].partition].unit, 8000);
	ck_assert_uint_eq(view.partitions[view.steps[1].partition].unit, 8);
	ck_assert_uint_eq(view.partitions[view.steps[2].partition].unit, 64);
	ck_assert_uint_eq(view.partitions[view.steps[3].partition].unit, 1);
}
END_TEST

START_TEST(test_strings_are_shared)
{
	add_task(test, "t0", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "t1", PLAIN, 0, "s", in("a"), out("c"));
	write_plan(SK_TASKS_BY_ENTRIES);
	ck_assert_ptr_eq(sk_plan_string(&view.tasks[0].scope), sk_plan_string(&view.tasks[1].scope));
	ck_assert_ptr_eq(sk_plan_string(&view.kernels[0].name), sk_plan_string(&view.kernels[0].symbol));
	ck_assert_ptr_ne(sk_plan_string(&view.tasks[0].name), sk_plan_string(&view.tasks[1].name));
}
END_TEST

/* The common parts of launches and tensors are in the plan once, and so is the name of a task that ends its entry's
 * name. */
START_TEST(test_records_are_shared)
{
	const struct sk_plan_launch *entries;

	add_task(test, "t0", ELEMENTWISE(N), 0, "s", in("a"), out("b"));
	add_task(test, "t-1", ELEMENTWISE(N), 0, "s", in("b"), out("c"));
	add_task(test, "t2", ELEMENTWISE(N), 1, "s", in("c"), out("d"));
	add_task(test, "t3", PLAIN, 1, "s", in("d"), out("e"));
	add_task(test, "t4", PLAIN, 1, "s", in("e"), out("f"));
	write_plan(SK_TASKS_BY_THUNKS);
	entries = &view.launches[view.network_launch_count];
	ck_assert_ptr_eq(sk_plan_form(&entries[0]), sk_plan_form(&entries[1]));
	ck_assert_ptr_ne(sk_plan_form(&entries[1]), sk_plan_form(&entries[2])); /* another stream */
	ck_assert_ptr_eq(sk_plan_form(&entries[3]), sk_plan_form(&entries[4]));
	ck_assert_uint_eq(sk_plan_form(&entries[2])->stream, 1);
	ck_assert_uint_eq(entries[0].first_partition, entries[2].first_partition);
	ck_assert_uint_eq(entries[3].first_home, entries[4].first_home);
	ck_assert_ptr_eq(sk_plan_type(tensor_named("a")), sk_plan_type(tensor_named("b")));
	ck_assert_uint_eq(sk_plan_type(tensor_named("b"))->shape[0], N);
	ck_assert_str_eq(sk_plan_string(&entries[0].name), "sk_unfused_t0");
	ck_assert_ptr_eq(sk_plan_string(&entries[0].name) + strlen("sk_unfused_"), sk_plan_string(&view.tasks[0].name));
	ck_assert_str_eq(sk_plan_string(&view.tasks[1].name), "t-1");
	ck_assert_str_eq(sk_plan_string(&entries[1].name), "sk_unfused_t_x2D1");
}
END_TEST

/* Patterns decide about awaits here and about proofs there: both must be the same. */
static void compare_patterns(uint32_t number)
{
	const struct sk_launch_schedule *launch = &schedule->launches[number];

	for (uint32_t s = 0; s < launch->step_count; s++) {
		const struct sk_plan_step *step = &view.steps[view.launches[number].first_step + s];
		struct sk_plan_calls calls = sk_plan_step_calls(&view, step);
		const struct sk_step *planned = &launch->steps[s];

		ck_assert_uint_eq(step->call_count, planned->task_count);
		ck_assert_uint_eq(step->await_count, planned->await_count);
		for (uint32_t c = 0; c < step->call_count; c++) {
			const struct sk_plan_call *call = &calls.first[c];
			const struct sk_task *task = &test->model.tasks.items[planned->tasks[c]];

			ck_assert_uint_eq(call->task, planned->tasks[c]);
			for (uint32_t a = 0; a < call->argument_count; a++) {
				const struct sk_plan_argument *argument = &view.arguments[call->first_argument + a];
				struct sk_units units = sk_plan_units(&view, step, call, argument);
				struct sk_pattern pattern = sk_schedule_pattern(&test->model, launch, s, task, a);

				ck_assert_uint_eq(units.units, pattern.units);
				ck_assert_uint_eq(units.unit_bytes, pattern.unit_bytes);
			}
		}
	}
}

/* ---- lists of arguments ---- */

/* Calls that differ only in tensors share one list, also with the tasks' own entries; other differences need another
 * list. */
START_TEST(test_lists_are_shared)
{
	static const uint32_t lists[] = {0, 0, 3, 6};

	add_task(test, "t0", PLAIN, 0, "s", in("a"), out("b"), value(77));
	add_task(test, "t1", PLAIN, 0, "s", in("b"), out("c"), value(77));
	add_task(test, "t2", PLAIN, 0, "s", in("c"), out("d"), value(78));
	add_task(test, "t3", PLAIN, 0, "s", part(in("d"), 256, 1024), out("e"), value(77));
	write_plan(true);
	ck_assert_uint_eq(view.argument_count, 2 * 4 * 3);
	ck_assert_uint_eq(view.list_count, 3 * 3);
	ck_assert_uint_eq(view.operand_count, 4 * 2);
	for (uint32_t i = 0; i < 4; i++) {
		const struct sk_plan_call *fused = &sk_plan_launch_calls(&view, &view.launches[0]).first[i];
		const struct sk_plan_call *own = sk_plan_launch_calls(&view, &view.launches[1 + i]).first;

		ck_assert_uint_eq(fused->list, lists[i]);
		ck_assert_uint_eq(own->list, fused->list);
		ck_assert_uint_eq(own->first_operand, fused->first_operand);
		for (uint32_t a = 0; a < 2; a++) {
			const struct sk_plan_argument *argument = &view.arguments[fused->first_argument + a];

			ck_assert_int_eq(*sk_plan_string(&view.tensors[argument->tensor].name), (int)('a' + i + a));
			ck_assert_uint_eq(argument->flags, 0);
		}
	}
}
END_TEST

/* Until a launch is checked, its arguments are empty. */
START_TEST(test_arguments_are_made_when_launches_are_checked)
{
	struct sk_plan_view fresh;
	char error[256];

	add_task(test, "t0", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "t1", PLAIN, 0, "s", in("b"), out("c"));
	write_plan(true);
	ck_assert(sk_plan_open(image.bytes, image.size, &fresh, error, sizeof(error)));
	for (uint32_t i = 0; i < fresh.argument_count; i++)
		ck_assert_int_eq(fresh.arguments[i].kind, SK_ARGUMENT_NONE);
	ck_assert(sk_plan_check_launch(&fresh, 2, error, sizeof(error)));
	for (uint32_t i = 0; i < fresh.argument_count; i++)
		ck_assert_int_eq(fresh.arguments[i].kind, i < 6 ? SK_ARGUMENT_NONE : SK_ARGUMENT_POINTER);
	sk_plan_close(&fresh);
	ck_assert_ptr_null(fresh.arguments);
	sk_plan_close(&fresh);
	/* A user that needs no arguments has no memory for them, and cannot check a launch before there is some. */
	ck_assert(sk_plan_open_tables(image.bytes, image.size, &fresh, error, sizeof(error)));
	ck_assert_ptr_null(fresh.arguments);
	ck_assert(!sk_plan_check_launch(&fresh, 2, error, sizeof(error)));
	ck_assert_str_eq(error, "plan: launch 2: step 0: no memory has been reserved for its arguments");
	ck_assert(sk_plan_make_room(&fresh, error, sizeof(error)));
	ck_assert(sk_plan_check_launch(&fresh, 2, error, sizeof(error)));
	sk_plan_close(&fresh);
}
END_TEST

static void refuse(const char *message)
{
	struct sk_plan_view damaged;
	char error[256] = "";
	bool good = sk_plan_open(image.bytes, image.size, &damaged, error, sizeof(error)) &&
		    sk_plan_check_all(&damaged, error, sizeof(error));

	ck_assert_msg(!good && strstr(error, message), "'%s' is not in '%s'", message, error);
	sk_plan_close(&damaged);
}

/* The field is that for a moment. */
#define REFUSED(message, field, number)                                                                                \
	do {                                                                                                           \
		__typeof__(field) *place = (__typeof__(field) *)(uintptr_t) & (field), before = *place;                \
                                                                                                                       \
		*place = (number);                                                                                     \
		refuse(message);                                                                                       \
		*place = before;                                                                                       \
	} while (0)

START_TEST(test_damaged_lists)
{
	struct sk_plan *plan;
	struct sk_plan_call *call;
	struct sk_plan_argument *list;
	uint32_t *operands;

	add_task(test, "t0", PLAIN, 0, "s", in("a"), out("b"), value(77));
	add_task(test, "t1", PLAIN, 0, "s", in("b"), out("c"), value(77));
	write_plan(true);
	plan = (struct sk_plan *)view.plan;
	call = (struct sk_plan_call *)view.calls;
	list = (struct sk_plan_argument *)view.lists;
	operands = (uint32_t *)view.operands;
	REFUSED("version 12 is not supported (this is 15)", plan->version, 12);
	REFUSED("its list, records 1 to 3, is out of range (3 records)", call->list, 1);
	REFUSED("its list, records 4294967295 to 4294967297, is out of range", call->list, UINT32_MAX);
	REFUSED("argument 1: operand 4 is none of 4", call[1].first_operand, 3);
	REFUSED("argument 0: operand 4294967295 is none of 4", call[1].first_operand, UINT32_MAX);
	REFUSED("step 1: argument 1: operand 3 is none of 4, or no tensor", operands[3], view.tensor_count);
	REFUSED("argument 0: an operand's place is its tensor's alone", list[0].space, SK_SPACE_WORKSPACE);
	REFUSED("argument 0: an operand's place is its tensor's alone", list[0].tensor, 1);
	REFUSED("argument 1: an operand's place is its tensor's alone", list[1].index, 1);
	REFUSED("argument 0: ", list[0].offset, UINT64_MAX);
	REFUSED("argument 0: 16384 bytes at offset 4 lie outside", list[0].offset, 4);
	REFUSED("argument 0: flags 0x80 are unknown", list[0].flags, SK_ARGUMENT_OPERAND | 128);
	REFUSED("argument 2: flags 0x80 are unknown", list[2].flags, 128);
	REFUSED("a reserved field is not zero", call->reserved, 1);
	REFUSED("its arguments overlap those of another one", call[1].first_argument, 0);
	REFUSED("arguments 12 to 14 are out of range (12 in all)", call[1].first_argument, 12);
	REFUSED("4294967295 arguments are too many for", plan->arguments.count, UINT32_MAX);
	REFUSED("it has arguments, and lists of them", plan->arguments.offset, 8);
	REFUSED("the table of lists (4294967295 records) lies outside the plan", plan->lists.count, UINT32_MAX);
	REFUSED("the table of operands (4294967295 records) lies outside the plan", plan->operands.count, UINT32_MAX);
	REFUSED("the table of arguments (12 records) lies outside the plan", plan->lists.count, 0);
}
END_TEST

START_TEST(test_random)
{
	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++) {
		test = random_model(seed, &(struct random_options){2, 24, 4, false, 12});
		write_plan(seed % 2);
		ck_assert_uint_eq(view.network_launch_count, fusion->launch_count);
		for (uint32_t l = 0; l < fusion->launch_count; l++) {
			const struct sk_plan_launch *launch = &view.launches[l];

			ck_assert_str_eq(sk_plan_string(&launch->name), fusion->launches[l].name);
			ck_assert_uint_eq(sk_plan_form(launch)->follow_count, fusion->launches[l].follow_count);
			ck_assert_uint_eq(sk_plan_form(launch)->step_count, fusion->launches[l].task_count);
			compare_patterns(l);
		}
		tear_down();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("writer");
	TCase *hand = tcase_create("by hand"), *random = tcase_create("random");

	tcase_add_checked_fixture(hand, set_up, tear_down);
	tcase_add_test(hand, test_header);
	tcase_add_test(hand, test_no_task_entries);
	tcase_add_test(hand, test_network_launches);
	tcase_add_test(hand, test_thunks);
	tcase_add_test(hand, test_addresses);
	tcase_add_test(hand, test_constants);
	tcase_add_test(hand, test_views_are_left_out);
	tcase_add_test(hand, test_launches);
	tcase_add_test(hand, test_task_entries_have_their_own_unit);
	tcase_add_test(hand, test_strings_are_shared);
	tcase_add_test(hand, test_records_are_shared);
	tcase_add_test(hand, test_lists_are_shared);
	tcase_add_test(hand, test_arguments_are_made_when_launches_are_checked);
	tcase_add_test(hand, test_damaged_lists);
	suite_add_tcase(suite, hand);

	tcase_set_timeout(random, 120);
	tcase_add_test(random, test_random);
	suite_add_tcase(suite, random);
	return run_suite(suite);
}
