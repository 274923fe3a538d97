/* Checked launches of calls that a plan made by hand describes: loops, rows, reads around parts, memory behind
 * pointers. tests/runtime/guard.sh and check-races.sh check packages that sklink makes. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/statuses.h"
#include "tests/lib/suite.h"

/* The entry is for the plan; checked launches call the kernel. */
#define PREAMBLE                                                                                                       \
	"#include \"format/skabi.h\"\n"                                                                                \
	"int l(struct sk_core *core) { return core != 0; }\n"

enum { CONTROL, X, Y, TENSORS };
enum { FLOATS = 8192 };
static const struct handmade_tensor tensors[] = {
	{"control", SK_U64, SK_ROLE_INPUT, 8},
	{"x", SK_F32, SK_ROLE_INPUT, FLOATS},
	{"y", SK_F32, SK_ROLE_OUTPUT, FLOATS},
	{NULL},
};

static _Alignas(64) uint64_t control[8];
static _Alignas(64) float x[FLOATS], y[FLOATS];
static uint32_t checks;
static char said[512]; /* by the last run */

/* ---- running ---- */

static void make(const char *path, const char *source, const struct handmade_step *steps, uint32_t step_count,
		 struct sk_plan_partition partition)
{
	const struct handmade_launch launches[] = {
		{.name = "l",
		 .kind = SK_LAUNCH_SUPERKERNEL,
		 .scratch_size = 256,
		 .partitions = {partition},
		 .partition_count = 1,
		 .steps = steps,
		 .step_count = step_count},
		{NULL},
	};
	const struct handmade_package package = {
		.lane_count = 1, .tensors = tensors, .launches = launches, .source = source};

	handmade_make(path, &package);
}

static enum skrt_status run_package(struct skrt_device *device, const char *path)
{
	void *const bindings[TENSORS] = {control, x, y};
	const uint64_t sizes[TENSORS] = {sizeof(control), sizeof(x), sizeof(y)};
	const struct skrt_kernel *kernel;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	ok(skrt_module_load(device, path, &module));
	ok(skrt_instance_create(module, &instance));
	ok(skrt_stream_create(device, &stream));
	for (uint32_t i = 0; i < TENSORS; i++)
		ok(skrt_instance_bind(instance, i, bindings[i], sizes[i]));
	ok(skrt_module_find_kernel(module, "l", &kernel));

	enum skrt_status status = skrt_run(stream, instance, kernel);

	snprintf(said, sizeof(said), "%s", status ? skrt_error() : "");
	ok(skrt_stream_destroy(stream));
	ok(skrt_instance_destroy(instance));
	ok(skrt_module_unload(module));
	return status;
}

/* Make a package of the steps, divided like that, and run it on so many cores. */
static enum skrt_status run(const char *source, const struct handmade_step *steps, uint32_t step_count,
			    struct sk_plan_partition partition, uint32_t cores)
{
	const struct skrt_device_options options = {
		.size = sizeof(options), .device = "host", .cores = cores, .checks = checks};
	struct skrt_device *device;
	char path[128];

	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
	make(path, source, steps, step_count, partition);
	ok(skrt_device_open(&options, &device));

	enum skrt_status status = run_package(device, path);

	ok(skrt_device_close(device));
	return status;
}

static void setup(void)
{
	checks = SKRT_GUARD | SKRT_CHECK_RACES;
	memset(control, 0, sizeof(control));
	memset(y, 0, sizeof(y));
	for (int i = 0; i < FLOATS; i++)
		x[i] = (float)i;
}

#define POINTER(number, how, ...)                                                                                      \
	{                                                                                                              \
		.kind = SK_ARGUMENT_POINTER, .dtype = SK_F32, .access = SK_ACCESS_##how, .space = SK_SPACE_BINDING,    \
		.index = (number), .tensor = (number), __VA_ARGS__                                                     \
	}
#define CONTROLLED POINTER(CONTROL, READ, .size = 64)
#define EXPRESSION(term)                                                                                               \
	{                                                                                                              \
		.kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_I64, .index = (term), .size = 1                            \
	}
#define VARIABLE(name)                                                                                                 \
	{                                                                                                              \
		.variable = SK_VARIABLE_##name, .factor = 1, .divisor = 1                                              \
	}
#define SCALAR(type, ...)                                                                                              \
	{                                                                                                              \
		.kind = SK_ARGUMENT_VALUE, .dtype = (type), __VA_ARGS__                                                \
	}

/* ---- tiles ---- */

/* Rows of y lie further apart than they are wide; tiles do not divide them. */
enum { ROWS = 20, COLUMNS = 18, APART = 24, TILE_ROWS = 6, TILE_COLUMNS = 8 };

/* y = 2 * x for a tile. At the row and column that the control names, the control's third word chooses another write,
 * and its fourth one is the status. */
static const char tile_source[] = PREAMBLE
	"int kernel(const unsigned long *control, float *y, const float *x, long rows, long columns, long row,\n"
	"           long column)\n"
	"{ for (long i = 0; i < rows; i++) for (long j = 0; j < columns; j++)\n"
	"    y[i * 24 + j] = 2 * x[i * 18 + j];\n"
	"  if (control[0] != 1 + row || control[1] != column) return 0;\n"
	"  y[(long)control[2]] = 1; return (int)control[3]; }\n";

static const struct handmade_call tile_call = {
	.argument_count = 7,
	.loop_count = 2,
	.term_count = 4,
	.pattern_count = 2,
	.arguments = {CONTROLLED,
		      POINTER(Y, WRITE, .size = 4 * ((ROWS - 1) * APART + COLUMNS), .element_bytes = 4 * APART,
			      .value = 1),
		      POINTER(X, READ, .size = 4 * ROWS * COLUMNS, .element_bytes = 4 * COLUMNS, .value = 2),
		      EXPRESSION(0), EXPRESSION(1), EXPRESSION(2), EXPRESSION(3)},
	.loops = {{ROWS, TILE_ROWS}, {COLUMNS, TILE_COLUMNS}},
	.terms = {VARIABLE(SIZE), VARIABLE(INNER_SIZE), VARIABLE(BEGIN), VARIABLE(INNER_BEGIN)},
	.patterns = {{.width = 4 * COLUMNS, .stride = 4 * APART, .count = ROWS, .inner_bytes = 4}, {.inner_bytes = 4}},
};

static const struct handmade_step tile_steps[] = {{"tiled", 0, 0, HANDMADE_NO_STATE, &tile_call}};

static enum skrt_status run_tiles(uint32_t cores)
{
	return run(tile_source, tile_steps, 1, (struct sk_plan_partition){ROWS, TILE_ROWS}, cores);
}

START_TEST(tiles_compute)
{
	ck_assert_msg(run_tiles((uint32_t)_i) == SKRT_OK, "%s", said);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < APART; j++)
			ck_assert_float_eq(y[i * APART + j], j < COLUMNS ? 2 * x[i * COLUMNS + j] : 0);
}
END_TEST

/* From the tile of rows 6 to 11 and columns 8 to 15: its own elements, and those beside it. */
static const struct {
	long place;
	bool allowed;
} places[] = {{0, true},
	      {7, true},
	      {8, false},
	      {-1, false},
	      {5 * APART + 7, true},
	      {5 * APART + 8, false},
	      {6 * APART, false},
	      {-APART, false},
	      {APART - 1, false}};

START_TEST(tiles_are_guarded)
{
	control[0] = 1 + TILE_ROWS;
	control[1] = TILE_COLUMNS;
	control[2] = (uint64_t)places[_i].place;
	ck_assert_int_eq(run_tiles(2), places[_i].allowed ? SKRT_OK : SKRT_KERNEL_FAILED);
	if (!places[_i].allowed)
		ck_assert_msg(strstr(said, "task 'tiled'") && strstr(said, "it has written at byte"), "%s", said);
}
END_TEST

/* A status ends the loops. */
START_TEST(tiles_fail)
{
	control[0] = 1 + TILE_ROWS;
	control[1] = TILE_COLUMNS;
	control[3] = 77;
	ck_assert_int_eq(run_tiles(1), SKRT_KERNEL_FAILED);
	ck_assert_msg(strstr(said, "77"), "%s", said);
	ck_assert_float_eq(y[7 * APART], 0);
}
END_TEST

/* ---- rows, and reads around parts ---- */

/* Copy a part of x, row by row; the control says how many floats are read after it. */
static const char copy_source[] = PREAMBLE
	"int kernel(const unsigned long *control, float *y, const float *x, long rows, long width, long apart)\n"
	"{ volatile float more = 0;\n"
	"  for (long i = 0; i < rows; i++) for (long j = 0; j < width; j++)\n"
	"    y[i * apart + j] = x[i * apart + j];\n"
	"  for (unsigned long i = 0; i < control[0]; i++) more += x[(rows - 1) * apart + width + (long)i];\n"
	"  return 0; }\n";

enum { HALF_APART = 64, HALF_ROWS = 100 };

/* So many columns of a matrix with rows of 64: the part of x that makes a part of y, or all of y, which each core
 * reads. */
#define MATRIX(first, wide) .offset = 4 * (first), .size = 4 * ((HALF_ROWS - 1) * HALF_APART + (wide))
#define PATTERN(wide)                                                                                                  \
	{                                                                                                              \
		.width = 4 * (wide), .stride = 4 * HALF_APART, .count = HALF_ROWS                                      \
	}
#define HALF(first, wide)                                                                                              \
	{                                                                                                              \
		.argument_count = 6, .term_count = 1, .pattern_count = 2,                                              \
		.arguments = {CONTROLLED,                                                                              \
			      POINTER(Y, WRITE, MATRIX(first, wide), .element_bytes = 4 * HALF_APART, .value = 1),     \
			      POINTER(X, READ, MATRIX(first, wide), .element_bytes = 4 * HALF_APART, .value = 2),      \
			      EXPRESSION(0),                                                                           \
			      SCALAR(SK_I64, .value = (wide)),                                                         \
			      SCALAR(SK_I64, .value = HALF_APART)},                                                    \
		.terms = {VARIABLE(SIZE)}, .patterns = {PATTERN(wide), PATTERN(wide)},                                 \
	}
#define SHARED(first, wide)                                                                                            \
	{                                                                                                              \
		.argument_count = 6, .pattern_count = 2,                                                               \
		.arguments = {CONTROLLED,                                                                              \
			      POINTER(Y, READ, MATRIX(first, wide), .value = 1),                                       \
			      POINTER(X, READ, MATRIX(first, wide), .value = 2),                                       \
			      SCALAR(SK_I64),                                                                          \
			      SCALAR(SK_I64),                                                                          \
			      SCALAR(SK_I64)},                                                                         \
		.patterns = {PATTERN(wide), PATTERN(wide)},                                                            \
	}

static const struct handmade_call left = HALF(0, 32), right = HALF(32, 32), all_left = SHARED(0, 32),
				  all_right = SHARED(32, 32), one_more = SHARED(31, 4);

/* No step awaits another: a writer of the right columns of some rows and a reader of the left columns of all may run at
 * once; a common column is a race as soon as there is a second core. */
START_TEST(rows_race)
{
	static const struct {
		const struct handmade_call *first, *second;
		bool races;
	} cases[] = {{&left, &right, false},
		     {&left, &left, false},
		     {&right, &all_left, false},
		     {&right, &all_right, true},
		     {&left, &one_more, true}};
	const struct handmade_step steps[] = {{"first", 0, 0, HANDMADE_NO_STATE, cases[_i].first},
					      {"second", 0, 0, HANDMADE_NO_STATE, cases[_i].second}};
	const struct sk_plan_partition partition = {HALF_ROWS, 1};

	checks = SKRT_CHECK_RACES;
	ck_assert_msg(run(copy_source, steps, 2, partition, 1) == SKRT_OK, "%s", said);
	ck_assert_int_eq(run(copy_source, steps, 2, partition, 3), cases[_i].races ? SKRT_KERNEL_FAILED : SKRT_OK);
	if (cases[_i].races)
		ck_assert_msg(strstr(said, "race: it ") && strstr(said, "of tensor 'y', which task"), "%s", said);
}
END_TEST

/* A plan can let a task read bytes that no task writes, though sklink makes no such plan. */
START_TEST(reads_unwritten)
{
	const struct handmade_step steps[] = {{"early", 0, 0, HANDMADE_NO_STATE, &all_left},
					      {"late", 0, 0, HANDMADE_NO_STATE, &left}};

	ck_assert_int_eq(run(copy_source, steps, 2, (struct sk_plan_partition){HALF_ROWS, 1}, 1), SKRT_KERNEL_FAILED);
	ck_assert_msg(strstr(said, "task 'early'") &&
			      strstr(said, "it reads tensor 'y', of which no call has written bytes 0 to 127"),
		      "%s", said);
}
END_TEST

enum { PAGE_FLOATS = 1024, PARTS = 4 };

/* Each part is a page; x and y end with theirs. */
static struct handmade_call around(uint64_t offset, uint64_t halo, uint64_t over_read)
{
	return (struct handmade_call){
		.argument_count = 6,
		.term_count = 1,
		.pattern_count = 1,
		.arguments = {CONTROLLED,
			      POINTER(Y, WRITE, .offset = offset, .size = 4 * PAGE_FLOATS * PARTS,
				      .element_bytes = 4 * PAGE_FLOATS),
			      POINTER(X, READ, .size = 4 * PAGE_FLOATS * PARTS + halo, .element_bytes = 4 * PAGE_FLOATS,
				      .value = halo || over_read ? 1 : 0),
			      EXPRESSION(0), SCALAR(SK_I64, .value = PAGE_FLOATS),
			      SCALAR(SK_I64, .value = PAGE_FLOATS)},
		.terms = {VARIABLE(SIZE)},
		.patterns = {{.halo = halo, .over_read = over_read}},
	};
}

static const struct sk_plan_partition pages = {PARTS, 1};

/* The number of floats that each call reads after its part, and the number that it may read. */
START_TEST(reads_around_parts)
{
	static const struct {
		uint64_t reads, halo, over_read;
		bool allowed;
	} cases[] = {{0, 0, 0, true}, {1, 0, 0, false},	   {1, 4, 0, true},
		     {1, 0, 4, true}, {1100, 4, 0, false}, {1100, 4400, 0, true}};
	const struct handmade_call call = around(0, cases[_i].halo, cases[_i].over_read);
	const struct handmade_step steps[] = {{"around", 0, 0, HANDMADE_NO_STATE, &call}};

	control[0] = cases[_i].reads;
	ck_assert_msg(run(copy_source, steps, 1, pages, 2) == (cases[_i].allowed ? SKRT_OK : SKRT_KERNEL_FAILED), "%s",
		      said);
	if (!cases[_i].allowed)
		ck_assert_msg(strstr(said, "read at address"), "%s", said);
}
END_TEST

/* Between few rows that lie pages apart, the pages are closed. */
START_TEST(reads_between_rows)
{
	const struct handmade_call call = {
		.argument_count = 6,
		.pattern_count = 1,
		.arguments = {CONTROLLED, POINTER(Y, WRITE, .size = 8 * PARTS, .element_bytes = 8),
			      POINTER(X, READ, .size = 4 * 3 * PAGE_FLOATS + 16, .value = 1),
			      SCALAR(SK_I64, .value = 1), SCALAR(SK_I64, .value = 4), SCALAR(SK_I64)},
		.patterns = {{.width = 16, .stride = 4 * 3 * PAGE_FLOATS, .count = 2}},
	};
	const struct handmade_step steps[] = {{"between", 0, 0, HANDMADE_NO_STATE, &call}};

	ck_assert_msg(run(copy_source, steps, 1, pages, 2) == SKRT_OK, "%s", said);
	control[0] = PAGE_FLOATS;
	ck_assert_int_eq(run(copy_source, steps, 1, pages, 2), SKRT_KERNEL_FAILED);
	ck_assert_msg(strstr(said, "of tensor 'x'") && strstr(said, "16 of every 12288"), "%s", said);
}
END_TEST

/* A halo is written by others, so it must be awaited; elements read past the end need not be. */
START_TEST(halos_race)
{
	bool halo = _i;
	const struct handmade_call write = around(0, 0, 0);
	struct handmade_call read = around(4 * PAGE_FLOATS * PARTS, halo ? 4 : 0, halo ? 0 : 4);
	const struct handmade_step steps[] = {{"first", 0, 0, HANDMADE_NO_STATE, &write},
					      {"second", 0, 0, HANDMADE_NO_STATE, &read}};

	checks = SKRT_CHECK_RACES;
	read.arguments[2].index = read.arguments[2].tensor = Y;
	read.arguments[1].index = read.arguments[1].tensor = Y;
	ck_assert_msg(run(copy_source, steps, 2, pages, 1) == SKRT_OK, "%s", said);
	ck_assert_int_eq(run(copy_source, steps, 2, pages, 2), halo ? SKRT_KERNEL_FAILED : SKRT_OK);
	if (halo)
		ck_assert_msg(strstr(said, "race: it "), "%s", said);
}
END_TEST

/* ---- memory behind pointers ---- */

/* The kernel spoils the frame. */
static const char frame_source[] = PREAMBLE
	"struct frame { short kind; unsigned char begin; float scale; float *y; float *rows[3]; long third; };\n"
	"void kernel(struct frame *frame, const unsigned long *control, long long *status)\n"
	"{ if (frame->kind != -2 || *status || frame->third != (frame->begin + 1) / 3 * 5) { *status = 99; return; }\n"
	"  for (int i = 0; i < 3; i++) frame->y[i] = frame->scale * frame->rows[i][frame->begin];\n"
	"  for (unsigned long i = 0; i < sizeof(*frame) + control[0]; i++) ((volatile char *)frame)[i] = 0x55;\n"
	"  *status = control[1] ? 1L << 40 : 0; }\n";

#define FRAME	      64 /* where it is in the scratch */
#define FIELD(offset) .flags = SK_ARGUMENT_FIELD, .field = FRAME + (offset)

static const struct handmade_call frame_call = {
	.returns_nothing = true,
	.argument_count = 9,
	.loop_count = 1,
	.term_count = 2,
	.pattern_count = 1,
	.arguments = {{.kind = SK_ARGUMENT_SCRATCH, .offset = FRAME, .size = 48},
		      CONTROLLED,
		      SCALAR(SK_I16, .value = 0xfffe, FIELD(0)),
		      {.kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U8, .index = 0, .size = 1, FIELD(2)},
		      SCALAR(SK_F32, .value = 0x40000000 /* 2.0 */, FIELD(4)),
		      POINTER(Y, WRITE, .size = 3 * 4 * ROWS, .element_bytes = 3 * 4, FIELD(8)),
		      POINTER(X, READ, .size = 4 * (ROWS + 200), .value = 1, FIELD(16)),
		      {.kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_I64, .index = 1, .size = 1, FIELD(40)},
		      SCALAR(SK_I64, .flags = SK_ARGUMENT_BY_REFERENCE | SK_ARGUMENT_STATUS)},
	.loops = {{ROWS, 1}},
	.terms = {VARIABLE(BEGIN), {.variable = SK_VARIABLE_BEGIN, .factor = 5, .addend = 1, .divisor = 3}},
	.patterns = {{.table_count = 3, .table_stride = 400}},
};

static const struct handmade_step frame_steps[] = {{"framed", 0, 0, HANDMADE_NO_STATE, &frame_call}};

START_TEST(frames)
{
	ck_assert_msg(run(frame_source, frame_steps, 1, (struct sk_plan_partition){ROWS, 1}, 3) == SKRT_OK, "%s", said);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < 3; j++)
			ck_assert_float_eq(y[3 * i + j], 2 * x[100 * j + i]);
}
END_TEST

/* Bytes after the frame do not belong to the call; a status of which only the upper half is set counts as 1. */
START_TEST(frames_that_fail)
{
	control[_i] = 1;
	ck_assert_int_eq(run(frame_source, frame_steps, 1, (struct sk_plan_partition){ROWS, 1}, 2), SKRT_KERNEL_FAILED);
	ck_assert_msg(strstr(said, _i ? "status 1" : "of the core's scratch"), "%s", said);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("checks");
	TCase *calls = tcase_create("calls");

	scratch_add(calls);
	tcase_add_checked_fixture(calls, setup, NULL);
	tcase_set_timeout(calls, 60);
	tcase_add_loop_test(calls, tiles_compute, 1, 6);
	tcase_add_loop_test(calls, tiles_are_guarded, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_test(calls, tiles_fail);
	tcase_add_loop_test(calls, rows_race, 0, 5);
	tcase_add_loop_test(calls, reads_around_parts, 0, 6);
	tcase_add_test(calls, reads_unwritten);
	tcase_add_test(calls, reads_between_rows);
	tcase_add_loop_test(calls, halos_race, 0, 2);
	tcase_add_test(calls, frames);
	tcase_add_loop_test(calls, frames_that_fail, 0, 2);
	suite_add_tcase(suite, calls);
	return run_suite(suite);
}
