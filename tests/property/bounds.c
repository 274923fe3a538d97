/* The property test of manifests with sizes with bounds (random-bounds.h). A package with bounds has, at each size, the
 * bits of a static package that is linked for this size: with any number of cores, task by task, serially, with guards,
 * in one instance of which sizes change. The verifier of static plans accepts its plan at each size. Without any one
 * await it is refused. With damaged sizes it is too, unless these have no effect or are those of another manifest. It
 * is refused if a static link is, at some size. If it is refused although static links at many sizes are not, that is
 * counted, by message.
 *
 *   bounds [--cases COUNT] [--seed FIRST] [--tasks N,N…] [--jobs COUNT] [--print] [--missed] KERNELS.o
 *
 * A case is a seed. Cases run in child processes. A case that fails is made smaller, task by task, and its manifest is
 * printed. --missed prints the first manifest of each message with which a manifest is refused though it holds. */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "src/proof/proof.h"
#include "tests/lib/random.h"
#include "tests/property/bounds-link.h"
#include "tests/property/random-bounds.h"

enum {
	MOST_JOBS = 16,
	BATCH = 50, /* cases of one child process */
	SECONDS = 120, /* for one case */
	SIZES = 7, /* at which a package is compared */
	MORE_SIZES = 40, /* at which a manifest that was refused is tried */
	RUNS = 2, /* in one instance: tensors keep their contents */
	MOST_BOUND = 48,
	DAMAGES = 4, /* packages with damaged sizes … */
	ALL_DAMAGES = 50, /* … and in each such case, one for each change of each record */
	DAMAGED_SIZES = 100, /* at which the numbers of such a package are compared … */
	DAMAGED_RUNS = 6, /* … and its results */
	ENOUGH = 100, /* cases of which most must link */
	GUARD = 64, /* bytes after bound memory that must stay as they are */
	TEXT = 1 << 15,
	MOST_REASONS = 64,
	REASON = 160,
};

struct options {
	uint64_t cases, seed;
	uint32_t jobs, tasks;
	bool print, missed;
	const char *kernels;
};

/* Shared by all processes. */
struct board {
	uint64_t cases, linked, refused, missed, compared, verified, removals, damaged, damages_refused;
	struct reason {
		uint64_t count, seed;
		char text[REASON];
	} reasons[MOST_REASONS];
	struct slot {
		uint64_t seed; /* that runs */
		char message[TEXT];
	} slots[MOST_JOBS + 1]; /* the last one is for cases that are made smaller */
};

struct test {
	const struct options *options;
	struct board *board;
	struct slot *slot;
	struct bounds_case drawn;
	uint64_t random;
	char sizes[128]; /* the present ones, for messages */
};

static void fail(struct test *test, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

static void fail(struct test *test, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(test->slot->message, TEXT, format, args);
	va_end(args);
	_exit(1);
}

static void add(uint64_t *counter, uint64_t number)
{
	__atomic_fetch_add(counter, number, __ATOMIC_RELAXED);
}

/* ---- runs ---- */

enum mode { FUSED, UNFUSED, SERIAL };

/* A package in an instance, and the memory bound to it. */
struct run {
	const char *name;
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	uint8_t *memory[MOST_BOUND];
	uint64_t bytes[MOST_BOUND];
	uint32_t count;
};

static void must(struct test *test, const struct run *run, enum skrt_status status)
{
	if (status != SKRT_OK)
		fail(test, "%s at %s: %s: %s", run->name, test->sizes, skrt_status_name(status), skrt_error());
}

static void open_run(struct test *test, struct run *run, const struct link *link)
{
	const struct skrt_source source = {.size = sizeof(source), .memory = link->package, .bytes = link->size};

	must(test, run, skrt_module_load_from(run->device, &source, &run->module));
	must(test, run, skrt_instance_create(run->module, &run->instance));
	must(test, run, skrt_stream_create(run->device, &run->stream));
	run->count = skrt_module_tensor_count(run->module);
	if (run->count > MOST_BOUND)
		abort();
}

static void release(struct run *run)
{
	for (uint32_t i = 0; i < run->count; i++)
		free(run->memory[i]);
}

static void close_run(struct test *test, struct run *run)
{
	must(test, run, skrt_stream_destroy(run->stream));
	must(test, run, skrt_instance_destroy(run->instance));
	must(test, run, skrt_module_unload(run->module));
	release(run);
}

/* Bind memory of the present sizes. The contents follow from the number of the byte and the tensor's name. */
static void bind_memory(struct test *test, struct run *run)
{
	for (uint32_t i = 0; i < run->count; i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};
		uint64_t room;

		must(test, run, skrt_instance_tensor(run->instance, i, &tensor));
		run->bytes[i] = tensor.bytes;
		room = (tensor.bytes + tensor.padding + GUARD + 63) / 64 * 64;
		run->memory[i] = aligned_alloc(64, room);
		if (!run->memory[i])
			abort();
		for (uint64_t b = 0; b < room; b++)
			run->memory[i][b] = (uint8_t)(b * 37 + (uint64_t)tensor.name[1] * 11 + (b >> 8));
		must(test, run, skrt_instance_bind(run->instance, i, run->memory[i], tensor.bytes + tensor.padding));
	}
}

static void run_each(struct test *test, struct run *run, enum mode mode)
{
	struct skrt_kernel_info info = {.size = sizeof(info)};
	uint32_t count = mode == UNFUSED ? skrt_module_task_count(run->module) : skrt_module_kernel_count(run->module);

	for (uint32_t i = 0; i < count; i++) {
		const struct skrt_kernel *kernel;

		must(test, run,
		     mode == UNFUSED ? skrt_module_task(run->module, i, &kernel)
				     : skrt_module_kernel(run->module, i, &kernel));
		skrt_kernel_describe(kernel, &info);
		if (info.has_serial_entry && (mode == SERIAL || i % 2))
			must(test, run, skrt_run_serial(run->instance, kernel));
		else
			must(test, run, skrt_run(run->stream, run->instance, kernel));
	}
}

static void run_network(struct test *test, struct run *run, enum mode mode, int fill)
{
	must(test, run, skrt_instance_fill_workspace(run->instance, fill));
	if (mode == FUSED)
		must(test, run, skrt_run_network(run->stream, run->instance));
	else
		run_each(test, run, mode);
}

static void compare(struct test *test, const struct run *run, const struct run *wanted)
{
	if (run->count != wanted->count)
		fail(test, "%s at %s: %u tensors are bound, not %u", run->name, test->sizes, run->count, wanted->count);
	for (uint32_t i = 0; i < run->count; i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		must(test, run, skrt_instance_tensor(run->instance, i, &tensor));
		if (run->bytes[i] != wanted->bytes[i])
			fail(test, "%s at %s: tensor %s has %llu bytes, not %llu", run->name, test->sizes, tensor.name,
			     (unsigned long long)run->bytes[i], (unsigned long long)wanted->bytes[i]);
		for (uint64_t b = 0; b < run->bytes[i] + GUARD; b++)
			if (run->memory[i][b] != wanted->memory[i][b])
				fail(test, "%s at %s: byte %llu of tensor %s (%llu bytes) differs", run->name,
				     test->sizes, (unsigned long long)b, tensor.name,
				     (unsigned long long)run->bytes[i]);
	}
	add(&test->board->compared, 1);
}

static void set_sizes(struct test *test, const struct run *run, const uint64_t *sizes)
{
	for (uint32_t d = 0; d < test->drawn.dimension_count; d++) {
		const char name[] = {(char)('a' + d), 0};

		must(test, run, skrt_instance_set_dimension(run->instance, name, sizes[d]));
	}
}

/* ---- devices ---- */

enum device { ONE_CORE, TWO_CORES, THREE_CORES, GUARDED, DEVICES };

static const char *const device_names[DEVICES] = {"one core", "two cores", "three cores", "guards and races"};

/* Devices stay open as long as the process. */
static struct skrt_device *device_of(struct test *test, enum device device)
{
	static struct skrt_device *devices[2][DEVICES];
	bool simulated = strcmp(test->drawn.device, "host") != 0;
	const struct skrt_device_options options = {.size = sizeof(options),
						    .device = test->drawn.device,
						    .cores = device == GUARDED ? 2 : 1 + device,
						    .checks = device == GUARDED ? SKRT_GUARD | SKRT_CHECK_RACES : 0,
						    .seed = simulated ? 1 + random_below(&test->random, 1000) : 0,
						    .stack_size = 65536};
	struct run none = {.name = "a device"};

	if (!devices[simulated][device])
		must(test, &none, skrt_device_open(&options, &devices[simulated][device]));
	return devices[simulated][device];
}

/* ---- one package ---- */

static void check_plan(struct test *test, struct link *link, const uint64_t *sizes)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_plan_view concrete;
	struct sk_diag diag;

	sk_diag_init(&diag, arena);
	if (!sk_dims_concretise(&link->dims, &link->plan, sizes, &concrete))
		abort();
	if (!sk_verify(arena, &diag, &concrete, "model.yaml", link->account.orders, link->account.order_count, NULL))
		fail(test, "the plan at %s is refused: %s", test->sizes, messages_of(&diag));
	add(&test->board->verified, 1);
	sk_plan_close(&concrete);
	sk_arena_destroy(arena);
}

static void name_sizes(struct test *test, const uint64_t *sizes)
{
	size_t length = 0;

	for (uint32_t d = 0; d < test->drawn.dimension_count; d++)
		length += (size_t)snprintf(test->sizes + length, sizeof(test->sizes) - length, "%s%c=%llu",
					   d ? ", " : "", 'a' + d, (unsigned long long)sizes[d]);
}

/* Compute the results of a static link for these sizes, on one core. */
static void run_static(struct test *test, const uint64_t *sizes, struct run *run)
{
	char *text = bounds_manifest(&test->drawn, sizes);
	struct link link;

	begin_link(&link, test->options->kernels, text, NULL);
	if (!link.linked)
		fail(test, "links, but is refused at %s: %s", test->sizes, messages_of(&link.diag));
	*run = (struct run){.name = "static", .device = device_of(test, ONE_CORE)};
	open_run(test, run, &link);
	bind_memory(test, run);
	for (int i = 0; i < RUNS; i++)
		run_network(test, run, SERIAL, 0x5a);
	must(test, run, skrt_stream_destroy(run->stream));
	must(test, run, skrt_instance_destroy(run->instance));
	must(test, run, skrt_module_unload(run->module));
	end_link(&link);
	free(text);
}

static void run_sizes(struct test *test, struct run *runs, const uint64_t *sizes, const struct run *wanted,
		      uint32_t number)
{
	static const char *const names[] = {"fused", "task by task", "serial"};
	char name[64];

	for (enum device device = 0; device < DEVICES; device++) {
		struct run *run = &runs[device];
		enum mode mode = device == ONE_CORE ? number % 3 : FUSED;

		if (device == GUARDED && number % 3)
			continue;
		snprintf(name, sizeof(name), "%s, %s", device_names[device], names[mode]);
		run->name = name;
		set_sizes(test, run, sizes);
		bind_memory(test, run);
		for (int i = 0; i < RUNS; i++)
			run_network(test, run, mode, 0xff);
		compare(test, run, wanted);
		release(run);
		memset(run->memory, 0, sizeof(run->memory));
	}
}

static void check_package(struct test *test, struct link *link)
{
	struct run runs[DEVICES] = {{0}}, wanted;
	uint64_t sizes[BOUNDS_DIMENSIONS];

	for (enum device device = 0; device < DEVICES; device++) {
		runs[device] = (struct run){.name = device_names[device], .device = device_of(test, device)};
		open_run(test, &runs[device], link);
	}
	for (uint32_t i = 0; i < SIZES; i++) {
		bounds_sizes(&test->drawn, &test->random, i, sizes);
		name_sizes(test, sizes);
		run_static(test, sizes, &wanted);
		check_plan(test, link, sizes);
		run_sizes(test, runs, sizes, &wanted, i);
		release(&wanted);
	}
	for (enum device device = 0; device < DEVICES; device++)
		close_run(test, &runs[device]);
}

/* ---- awaits ---- */

/* Without an await of the step. */
static void check_await(struct test *test, struct link *link, uint32_t step, uint32_t await)
{
	struct sk_arena *arena = sk_arena_create();
	const struct sk_plan *plan = link->plan.plan;
	uintptr_t raw = (uintptr_t)sk_arena_alloc(arena, plan->size + SK_PLAN_ALIGN, 1);
	void *copy = (void *)((raw + SK_PLAN_ALIGN - 1) / SK_PLAN_ALIGN * SK_PLAN_ALIGN);
	struct sk_plan_view view;
	struct sk_dims_view dims;
	struct sk_diag diag;
	char error[256];

	sk_diag_init(&diag, arena);
	memcpy(copy, plan, plan->size);
	if (!sk_plan_open(copy, plan->size, &view, error, sizeof(error)) ||
	    !sk_dims_open(link->image.sizes, link->image.sizes_size, &view, &dims, error, sizeof(error)))
		fail(test, "the copy of a plan is refused: %s", error);

	struct sk_plan_step *record = (struct sk_plan_step *)(uintptr_t)&view.steps[step];
	struct sk_plan_await *awaits = (struct sk_plan_await *)(uintptr_t)view.awaits;

	record->await_count--;
	memmove(&awaits[await], &awaits[await + 1],
		(record->first_await + record->await_count - await) * sizeof(*awaits));
	add(&test->board->removals, 1);
	if (verify_plan(link, arena, &diag, &view) && sk_verify_sizes(arena, &diag, &view, &dims, "model.yaml"))
		fail(test, "step %u need not await step %u: without it, the plan is accepted", step,
		     link->plan.awaits[await].step);
	sk_dims_close(&dims);
	sk_plan_close(&view);
	sk_arena_destroy(arena);
}

static void check_awaits(struct test *test, struct link *link)
{
	for (uint32_t s = 0; s < link->plan.step_count; s++) {
		const struct sk_plan_step *step = &link->plan.steps[s];

		for (uint32_t a = step->first_await; a < step->first_await + step->await_count; a++)
			check_await(test, link, s, a);
	}
}

/* ---- damaged sizes ---- */

/* Run a package at these sizes: once on several cores, and once serially as `other`; compare the results. */
static void compare_once(struct test *test, struct run *run, struct run *other, const uint64_t *sizes)
{
	struct run *runs[] = {run, other};

	for (int i = 0; i < 2; i++) {
		set_sizes(test, runs[i], sizes);
		bind_memory(test, runs[i]);
		run_network(test, runs[i], i ? SERIAL : FUSED, 0xff);
	}
	compare(test, run, other);
	for (int i = 0; i < 2; i++) {
		release(runs[i]);
		memset(runs[i]->memory, 0, sizeof(runs[i]->memory));
	}
}

/* A package that is accepted though its sizes are damaged has the same numbers at all sizes, and gives the same
 * results. If numbers differ that only the manifest gives, it is that of another manifest, and computes the same
 * serially. */
static void check_damaged(struct test *test, struct link *link, struct link *damaged)
{
	struct run run = {.name = "damaged", .device = device_of(test, TWO_CORES)};
	struct run own = {.name = "damaged, serial", .device = device_of(test, ONE_CORE)};
	struct run whole = {.name = "whole", .device = device_of(test, ONE_CORE)};
	uint64_t sizes[BOUNDS_DIMENSIONS];

	open_run(test, &run, damaged);
	open_run(test, &own, damaged);
	open_run(test, &whole, link);
	for (uint32_t i = 0; i < DAMAGED_SIZES; i++) {
		enum damage damage;

		bounds_sizes(&test->drawn, &test->random, i, sizes);
		name_sizes(test, sizes);
		damage = compare_damage(link, damaged, sizes);
		if (damage == WRONG)
			fail(test, "is accepted with other numbers at %s: %s", test->sizes, damaged->damaged);
		check_plan(test, damaged, sizes);
		if (i < DAMAGED_RUNS)
			compare_once(test, &run, damage == SAME ? &whole : &own, sizes);
	}
	close_run(test, &run);
	close_run(test, &own);
	close_run(test, &whole);
}

/* Link with a change of the sizes. */
static void check_change(struct test *test, struct link *link, uint32_t number)
{
	const struct change change = {&test->random, number};
	struct link damaged;

	begin_link(&damaged, test->options->kernels, link->text, &change);
	if (damaged.linked)
		check_damaged(test, link, &damaged);
	else if (!damaged.diag.errors)
		fail(test, "is refused without a message: %s", damaged.damaged);
	add(damaged.linked ? &test->board->damaged : &test->board->damages_refused, 1);
	end_link(&damaged);
}

static void check_damage(struct test *test, struct link *link)
{
	uint32_t count = test->slot->seed % ALL_DAMAGES ? 0 : count_changes(link);

	for (int i = 0; i < DAMAGES; i++)
		check_change(test, link, SK_NO_INDEX);
	for (uint32_t number = 0; number < count; number++) {
		alarm(SECONDS);
		if (opens_changed(link, number))
			check_change(test, link, number);
		else
			add(&test->board->damages_refused, 1);
	}
}

/* ---- refusals ---- */

/* Replace names and numbers, so that messages of one kind are equal. */
static void generalise(const char *message, char *text, size_t size)
{
	const char *from = message;
	size_t length = 0;
	bool quoted = false;

	for (; *from && *from != '\n' && length + 2 < size; from++) {
		if (*from == '\'') {
			quoted = !quoted;
			continue;
		}
		if (quoted || *from == ',' || (*from >= '0' && *from <= '9')) {
			if (!length || text[length - 1] != '#')
				text[length++] = '#';
			continue;
		}
		text[length++] = *from;
	}
	text[length] = 0;
}

static void note_reason(struct test *test, const char *message)
{
	char text[REASON];

	generalise(message, text, sizeof(text));
	for (uint32_t i = 0; i < MOST_REASONS; i++) {
		struct reason *reason = &test->board->reasons[i];
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&reason->seed, &none, test->slot->seed + 1, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST)) {
			memcpy(reason->text, text, sizeof(text));
			if (test->options->missed) {
				char *manifest = bounds_manifest(&test->drawn, NULL);

				printf("seed %llu: %s%s\n", (unsigned long long)test->slot->seed, message, manifest);
				fflush(stdout);
				free(manifest);
			}
		}
		if (strcmp(reason->text, text))
			continue;
		add(&reason->count, 1);
		return;
	}
}

/* True if static links at many sizes are accepted. */
static bool holds(struct test *test)
{
	bool linked = true;

	for (uint32_t i = 0; i < MORE_SIZES && linked; i++) {
		uint64_t sizes[BOUNDS_DIMENSIONS];
		struct link link;
		char *text;

		bounds_sizes(&test->drawn, &test->random, i, sizes);
		text = bounds_manifest(&test->drawn, sizes);
		begin_link(&link, test->options->kernels, text, NULL);
		linked = link.linked;
		end_link(&link);
		free(text);
	}
	return linked;
}

static void check_refusal(struct test *test, struct link *link)
{
	char *text = messages_of(&link->diag);

	add(&test->board->refused, 1);
	if (!*text)
		fail(test, "is refused without a message");
	if (strstr(text, "internal error"))
		fail(test, "%s", text);
	if (holds(test)) {
		add(&test->board->missed, 1);
		note_reason(test, text);
	}
	free(text);
}

/* ---- cases ---- */

/* End the process with status 1 and a message in the slot if something is wrong. */
static void check_case(const struct options *options, struct board *board, struct slot *slot, uint64_t seed,
		       uint32_t tasks)
{
	struct test *test = calloc(1, sizeof(*test));
	struct link link;
	char *text;

	if (!test)
		abort();
	*test = (struct test){.options = options, .board = board, .slot = slot, .random = seed};
	slot->seed = seed;
	strcpy(slot->message, "ended without a message");
	alarm(SECONDS);
	bounds_draw(&test->drawn, seed, tasks);
	text = bounds_manifest(&test->drawn, NULL);
	begin_link(&link, test->options->kernels, text, NULL);
	add(&board->cases, 1);
	if (link.linked) {
		add(&board->linked, 1);
		check_package(test, &link);
		check_awaits(test, &link);
		check_damage(test, &link);
	} else {
		check_refusal(test, &link);
	}
	end_link(&link);
	free(text);
	free(test);
	alarm(0);
}

static pid_t fork_or_exit(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0) {
		perror("bounds: fork");
		exit(2);
	}
	return child;
}

/* Run the case with these tasks alone; return whether it fails. */
static bool fails_alone(const struct options *options, struct board *board, uint64_t seed, uint32_t tasks)
{
	pid_t child = fork_or_exit();
	int status;

	if (child == 0) {
		check_case(options, board, &board->slots[MOST_JOBS], seed, tasks);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFSIGNALED(status))
		snprintf(board->slots[MOST_JOBS].message, TEXT, "signal %d", WTERMSIG(status));
	return status != 0;
}

static void report_failure(const struct options *options, struct board *board, const struct slot *slot)
{
	static struct bounds_case drawn;
	uint32_t tasks = options->tasks;

	fprintf(stderr, "FAIL: seed %llu: %s\n", (unsigned long long)slot->seed, slot->message);
	for (uint32_t i = 0; i < BOUNDS_TASKS; i++)
		if (tasks >> i & 1 && tasks != 1u << i && fails_alone(options, board, slot->seed, tasks & ~(1u << i)))
			tasks &= ~(1u << i);
	fprintf(stderr, "with fewer tasks: %s\n",
		fails_alone(options, board, slot->seed, tasks) ? board->slots[MOST_JOBS].message : "nothing");
	bounds_draw(&drawn, slot->seed, tasks);
	fprintf(stderr, "%s", bounds_manifest(&drawn, NULL));
}

/* Run the cases of a process's seeds, each `step`th; return the number of failures. */
static uint32_t run_cases(const struct options *options, struct board *board, uint32_t number)
{
	const uint64_t end = options->seed + options->cases;
	struct slot *slot = &board->slots[number];
	uint32_t failures = 0;

	for (uint64_t first = options->seed + number; first < end && failures < 3;) {
		pid_t child = fork_or_exit();
		int status;

		if (child == 0) {
			uint32_t done = 0;

			for (uint64_t seed = first; seed < end && done < BATCH; seed += options->jobs, done++)
				check_case(options, board, slot, seed, options->tasks);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child)
			abort();
		if (!status) {
			first += (uint64_t)BATCH * options->jobs;
			continue;
		}
		if (WIFSIGNALED(status))
			snprintf(slot->message, TEXT, "signal %d", WTERMSIG(status));
		failures++;
		first = slot->seed + options->jobs;
		report_failure(options, board, slot);
	}
	return failures;
}

static void print_summary(const struct options *options, const struct board *board)
{
	printf("%llu manifests from seed %llu: %llu linked; %llu results compared, %llu plans of one size verified, "
	       "%llu "
	       "plans without an await refused, %llu packages with damaged sizes refused and %llu accepted\n"
	       "%llu refused, of which %llu hold at %d sizes\n",
	       (unsigned long long)board->cases, (unsigned long long)options->seed, (unsigned long long)board->linked,
	       (unsigned long long)board->compared, (unsigned long long)board->verified,
	       (unsigned long long)board->removals, (unsigned long long)board->damages_refused,
	       (unsigned long long)board->damaged, (unsigned long long)board->refused,
	       (unsigned long long)board->missed, MORE_SIZES);
	for (uint32_t i = 0; i < MOST_REASONS && board->reasons[i].count; i++)
		printf("%8llu  %s (seed %llu)\n", (unsigned long long)board->reasons[i].count, board->reasons[i].text,
		       (unsigned long long)board->reasons[i].seed - 1);
}

static int run_all(const struct options *options)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool failed = false;

	if (board == MAP_FAILED)
		abort();
	for (uint32_t i = 0; i < options->jobs; i++)
		if (fork_or_exit() == 0)
			exit(run_cases(options, board, i) ? 1 : 0);
	for (int status; wait(&status) > 0;)
		failed |= status != 0;
	print_summary(options, board);
	if (failed || options->cases < ENOUGH || options->tasks != UINT32_MAX)
		return failed;
	if (2 * board->linked < board->cases || 4 * board->missed > board->linked || !board->removals) {
		fprintf(stderr, "FAIL: too few manifests link, or too many are refused though they hold\n");
		return 1;
	}
	return 0;
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr, "usage: bounds [--cases COUNT] [--seed FIRST] [--jobs COUNT] [--tasks N,N...] [--print] "
			"[--missed] KERNELS.o\n");
	exit(2);
}

static uint32_t parse_tasks(char *text)
{
	uint32_t tasks = 0;

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
		tasks |= 1u << strtoul(word, NULL, 10) % 32;
	return tasks;
}

static void print_manifest(const struct options *options)
{
	static struct bounds_case drawn;
	char *text;

	bounds_draw(&drawn, options->seed, options->tasks);
	text = bounds_manifest(&drawn, NULL);
	fputs(text, stdout);
	free(text);
}

int main(int argc, char **argv)
{
	struct options options = {.cases = 200, .seed = 1, .jobs = 2, .tasks = UINT32_MAX};

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--print"))
			options.print = true;
		else if (!strcmp(argv[i], "--missed"))
			options.missed = true;
		else if (argv[i][0] != '-')
			options.kernels = argv[i];
		else if (i + 1 == argc)
			usage();
		else if (!strcmp(argv[i], "--cases"))
			options.cases = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--seed"))
			options.seed = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--jobs"))
			options.jobs = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--tasks"))
			options.tasks = parse_tasks(argv[++i]);
		else
			usage();
	}
	if ((!options.kernels && !options.print) || options.jobs < 1 || options.jobs > MOST_JOBS)
		usage();
	if (!options.print)
		return run_all(&options);
	print_manifest(&options);
	return 0;
}
