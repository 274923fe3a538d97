/* The property test. Every network that network.c makes must link, with a plan that the verifier proves. It must
 * compute the interpreter's results, on the host and on the simulated device, with any number of cores that progress in
 * any order. It must pass --check-split, except for a task whose kernel belies its signature, if it gets one. The plan
 * must lose its proof when any one await is taken out. The manifest must be refused when it does not give the origin of
 * bytes that no task writes. Some mutants of each package (--mutants) are tried, as plan-mutants.h describes.
 *
 *   property [--cases COUNT] [--seed FIRST] [--jobs COUNT] [--tasks N,N…] [--mutants COUNT] [--keep FOLDER] [--print]
 *            KERNELS.o
 *
 * A case is a seed. Cases run in child processes, some hundred one after another. A failing case is made smaller, task
 * by task, and then left in a folder (--keep) with its manifest, inputs, expected results and the command that repeats
 * it. --tasks leaves all tasks but these out of each case; --print shows the manifest and runs nothing. The test ends
 * with a table of the features of the cases; a feature that never came up in many cases is also a failure. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "loader/skrt.h"
#include "src/bind/bind.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "src/package/package.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/whole-link.h"
#include "tests/property/network.h"
#include "tests/property/plan-mutants.h"

enum {
	MOST_JOBS = 64,
	BATCH = 200, /* cases of one child process */
	SECONDS = 120, /* for one case */
	FEWER_SECONDS = 10, /* while one that takes longer than that is made smaller */
	MOST_FAILURES = 5,
	MOST_REMOVALS = 24, /* awaits of a plan that are taken out, each by itself */
	ENOUGH = 250, /* cases among which there must be one of every kind … */
	ENOUGH_FOR_MUTANTS = 1000, /* … and one with a mutant of every field */
	RUNS = 2, /* of a network in one instance: state kept from run to run counts */
	GUARD = 64, /* bytes after bound memory that must stay as they are */
	GUARD_BYTE = 0xd7,
	HOST_DEVICES = 4,
	TEXT = 4096,
};

/* ---- features of cases ---- */

enum kind {
	KIND_STREAMS,
	KIND_LAUNCHES,
	KIND_SEGMENTS,
	KIND_SUPERKERNELS,
	KIND_LONG,
	KIND_MIXED_STREAMS,
	KIND_AWAITS,
	KIND_AWAITS_ALL,
	KIND_AWAITS_HOME,
	KIND_AWAITS_LANE,
	KIND_ELIDED,
	KIND_SHARED_WORKSPACE,
	KIND_VIEWS,
	KIND_VIEWS_OF_VIEWS,
	KIND_ROWS,
	KIND_ROWS_OF_ROWS,
	KIND_ROWS_WRITTEN,
	KIND_ROWS_MIXED,
	KIND_HALOS,
	KIND_BEHIND_TEMPORARIES,
	KIND_BEHIND_CONSTANTS,
	KIND_BEHIND_BOUND,
	KIND_DATA,
	KIND_IN_PLACE,
	KIND_LOADS,
	KIND_INPUT,
	KIND_OUTPUT,
	KIND_INOUT,
	KIND_CONSTANT,
	KIND_TEMPORARY,
	KIND_KEPT,
	KIND_PARTS,
	KIND_REFUSED_READ,
	KIND_REFUSED_OUTPUT,
	KIND_STRICT,
	KIND_REFUSED_SCOPE,
	KIND_REFUSED_NESTED,
	KIND_AFTER,
	KIND_EVENTS,
	KIND_UNFUSIBLE,
	KIND_NULL_SCOPE,
	KIND_ONCE,
	KIND_SCOPE_SETS,
	KIND_CUBE,
	KIND_DEFAULT_BLOCKS,
	KIND_RESIDENT,
	KIND_SYNC_DROP,
	KIND_SYNC_RISE,
	KIND_REMOVED,
	KIND_REMOVED_FOLLOWS,
	KIND_UNFUSED_RUN,
	KIND_SERIAL_RUN,
	KIND_CHECKED_RUN,
	KIND_CHECKED_EARLY,
	KIND_STATES_MEET,
	KIND_EARLY_STATES,
	KIND_LATE_STATES,
	KIND_CHECKED_RESIDENT,
	KIND_TILES,
	KIND_SEVERAL_TILES,
	KIND_IN_SCRATCH,
	KIND_SCALES,
	KIND_LONG_GROUP,
	KIND_LOOPS_IN_TILES,
	KIND_MOVED_TILES,
	KIND_FRAMES_IN_TILES,
	KIND_STATUS_IN_TILES,
	KIND_TILES_BESIDE_FLUSHES,
	KIND_TILES_BESIDE_MIX,
	KIND_TILES_BEHIND_ONCE,
	KIND_CHECKED_TILES,
	KIND_CHECKED_SHORTEST,
	KIND_HONEST,
	KIND_LIAR,
	KIND_SHORT_LIAR,
	KIND_INPUT_LIAR,
	KIND_UNWRITTEN_LIAR,
	KIND_BY_BLOCKS,
	KIND_BY_UNEQUAL_BLOCKS,
	KIND_TILES_BY_BLOCKS,
	KIND_PLACED,
	KIND_PLACED_TILES,
	KIND_PLACED_BLOCKS,
	KIND_PLACED_ELIDED,
	KIND_PLACED_LIMITED,
	KINDS,
};

static const char *const kind_names[KINDS] = {
	[KIND_STREAMS] = "several streams",
	[KIND_LAUNCHES] = "several launches",
	[KIND_SEGMENTS] = "a scope in several segments",
	[KIND_SUPERKERNELS] = "a superkernel of several tasks",
	[KIND_LONG] = "a superkernel of eight tasks or more",
	[KIND_MIXED_STREAMS] = "several streams in one superkernel",
	[KIND_AWAITS] = "awaits",
	[KIND_AWAITS_ALL] = "awaits on all cores",
	[KIND_AWAITS_HOME] = "awaits on a home",
	[KIND_AWAITS_LANE] = "awaits on the other lane",
	[KIND_ELIDED] = "a task that needs an earlier one and awaits nothing",
	[KIND_SHARED_WORKSPACE] = "temporaries that share bytes",
	[KIND_VIEWS] = "views",
	[KIND_VIEWS_OF_VIEWS] = "views of views",
	[KIND_ROWS] = "views with gaps",
	[KIND_ROWS_OF_ROWS] = "views with gaps of views with gaps",
	[KIND_ROWS_WRITTEN] = "temporaries that are written in rows with gaps",
	[KIND_ROWS_MIXED] = "tensors with rows that are not equally far apart",
	[KIND_HALOS] = "parts that read what others of a temporary have",
	[KIND_BEHIND_TEMPORARIES] = "temporaries behind which is read",
	[KIND_BEHIND_CONSTANTS] = "constants behind which is read",
	[KIND_BEHIND_BOUND] = "bound tensors behind which is read",
	[KIND_DATA] = "constants in the manifest",
	[KIND_IN_PLACE] = "arguments in place",
	[KIND_LOADS] = "scalars out of tensors",
	[KIND_INPUT] = "inputs",
	[KIND_OUTPUT] = "outputs",
	[KIND_INOUT] = "inouts",
	[KIND_CONSTANT] = "constants",
	[KIND_TEMPORARY] = "temporaries",
	[KIND_KEPT] = "outputs that nobody writes whole",
	[KIND_PARTS] = "temporaries that nobody writes whole",
	[KIND_REFUSED_READ] = "links refused: a task reads what nobody has written",
	[KIND_REFUSED_OUTPUT] = "links refused: nobody writes all of an output",
	[KIND_STRICT] = "scopes that are whole, as strict-scope-check=abort wants",
	[KIND_REFUSED_SCOPE] = "links refused: a scope is not whole",
	[KIND_REFUSED_NESTED] = "links refused: nested scopes are two superkernels",
	[KIND_AFTER] = "after",
	[KIND_EVENTS] = "events",
	[KIND_UNFUSIBLE] = "unfusible kernels",
	[KIND_NULL_SCOPE] = "scope: null",
	[KIND_ONCE] = "tasks that run once",
	[KIND_SCOPE_SETS] = "tasks in several scopes",
	[KIND_CUBE] = "kernels for the cube lane",
	[KIND_DEFAULT_BLOCKS] = "the device's number of blocks",
	[KIND_RESIDENT] = "blocks that wait for one another, in a superkernel of several tasks",
	[KIND_SYNC_DROP] = "a scope that sk_sync_all splits: fewer cores",
	[KIND_SYNC_RISE] = "a scope that sk_sync_all splits: more cores",
	[KIND_REMOVED] = "proofs lost without an await",
	[KIND_REMOVED_FOLLOWS] = "proofs lost without the order of two launches",
	[KIND_UNFUSED_RUN] = "runs task by task",
	[KIND_SERIAL_RUN] = "runs on one thread",
	[KIND_CHECKED_RUN] = "checked runs",
	[KIND_CHECKED_EARLY] = "checked runs of kernels that start early",
	[KIND_STATES_MEET] = "hidden state that tasks of several streams of a superkernel have",
	[KIND_EARLY_STATES] = "kernels that start early and have hidden state",
	[KIND_LATE_STATES] = "kernels that could start early and whose hidden state others have",
	[KIND_CHECKED_RESIDENT] = "checked runs of blocks that wait for one another",
	[KIND_TILES] = "tile groups",
	[KIND_SEVERAL_TILES] = "tile groups of several tiles",
	[KIND_IN_SCRATCH] = "tile groups of several tiles with temporaries in the scratch",
	[KIND_SCALES] = "tile groups that count in rows and in elements",
	[KIND_LONG_GROUP] = "tile groups of four tasks or more",
	[KIND_LOOPS_IN_TILES] = "tile groups with loops inside",
	[KIND_MOVED_TILES] = "tile groups of tasks that are no neighbours in the network",
	[KIND_FRAMES_IN_TILES] = "tile groups with compilers' frames inside",
	[KIND_STATUS_IN_TILES] = "tile groups with kernels that return a status",
	[KIND_TILES_BESIDE_FLUSHES] = "tile groups in a superkernel with tasks around which caches are flushed",
	[KIND_TILES_BESIDE_MIX] = "tile groups in a superkernel with a mix task",
	[KIND_TILES_BEHIND_ONCE] = "tile groups behind tasks that run once",
	[KIND_CHECKED_TILES] = "checked runs of tile groups",
	[KIND_CHECKED_SHORTEST] = "checked runs of tile groups with the shortest tiles",
	[KIND_HONEST] = "tasks that compute the same in calls for parts",
	[KIND_LIAR] = "tasks that compute something else in calls for parts",
	[KIND_SHORT_LIAR] = "tasks that would if they were larger",
	[KIND_INPUT_LIAR] = "tasks that write through a pointer to an input",
	[KIND_UNWRITTEN_LIAR] = "tasks that leave part of an output unwritten",
	[KIND_BY_BLOCKS] = "divided tasks that keep to another one's blocks",
	[KIND_BY_UNEQUAL_BLOCKS] = "divided tasks that keep to another one's blocks of unequal length",
	[KIND_TILES_BY_BLOCKS] = "tile groups that keep to a task's blocks",
	[KIND_PLACED] = "steps that begin at another core than the first one",
	[KIND_PLACED_TILES] = "tile groups that do",
	[KIND_PLACED_BLOCKS] = "steps in blocks that do",
	[KIND_PLACED_ELIDED] = "two such steps in a row, of which none awaits the other",
	[KIND_PLACED_LIMITED] = "such steps where options leave them fewer cores, in a launch of two lanes",
};

/* Shared by all processes. */
struct board {
	uint64_t cases;
	uint64_t kinds[KINDS], kernels[NETWORK_KERNELS]; /* cases that have one */
	uint64_t removals, launches, packages;
	uint64_t mutants_accepted, mutants_refused, fields[MOST_MUTANT_FIELDS]; /* of plans; those that were changed */
	uint64_t mutants_beside_tiles; /* of plans with a tile group */
	struct slot {
		uint64_t seed; /* that runs */
		char message[TEXT]; /* its error */
	} slots[MOST_JOBS + 1]; /* the last one is for cases that are made smaller */
};

struct options {
	uint64_t cases, seed;
	uint32_t jobs, tasks, mutants;
	const char *keep, *kernels;
	bool print;
};

/* One case. */
struct property {
	const struct options *options;
	struct board *board;
	struct slot *slot;
	const char *folder; /* where its constants are */
	struct network *network;
	bool kinds[KINDS];
	const char *device; /* that the package is planned for */
	uint32_t blocks[2]; /* the device's numbers, by lane of a3 */
	struct sk_arena *arena; /* of the link */
	struct sk_diag diag;
	struct sk_linker *linker;
	struct sk_plan_view plan;
	struct sk_account account; /* with the orders that `after` and events want */
	const uint8_t *package;
	uint64_t package_size;
	struct network_state *expected[RUNS]; /* after each run */
};

static void add(uint64_t *counter, uint64_t number)
{
	__atomic_fetch_add(counter, number, __ATOMIC_RELAXED);
}

static void note(struct property *property, enum kind kind, bool has)
{
	property->kinds[kind] |= has;
}

static void fail(struct property *property, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

static void fail(struct property *property, const char *format, ...)
{
	char *message = property->slot->message;
	va_list args;
	int length = snprintf(message, TEXT, "device %s: ", property->device);

	va_start(args, format);
	vsnprintf(message + length, TEXT - (size_t)length, format, args);
	va_end(args);
	_exit(1);
}

/* ---- files ---- */

static void *allocate(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		abort();
	return memory;
}

static FILE *create_file(const char *folder, const char *name)
{
	char path[TEXT];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	stream = fopen(path, "wb");
	if (!stream) {
		fprintf(stderr, "property: %s: %s\n", path, strerror(errno));
		abort();
	}
	return stream;
}

/* The values as bytes of their type. */
static void *pack(enum sk_dtype dtype, const uint64_t *values, uint64_t count)
{
	size_t size = sk_dtype_size(dtype);
	uint8_t *bytes = allocate(count * size);

	for (uint64_t i = 0; i < count; i++)
		memcpy(bytes + i * size, &values[i], size);
	return bytes;
}

/* Version 1.0, as NumPy writes it. */
static void write_npy(const char *folder, const char *name, const struct network_tensor *tensor, const uint64_t *values)
{
	FILE *stream = create_file(folder, name);
	void *bytes = pack(tensor->dtype, values, tensor->elements);
	unsigned size = sk_dtype_size(tensor->dtype);
	char head[118];
	int length = snprintf(head, sizeof(head), "{'descr': '%cu%u', 'fortran_order': False, 'shape': (",
			      size == 1 ? '|' : '<', size);

	for (uint32_t d = 0; d < tensor->rank; d++)
		length += snprintf(head + length, sizeof(head) - (size_t)length, "%llu,",
				   (unsigned long long)tensor->shape[d]);
	length += snprintf(head + length, sizeof(head) - (size_t)length, "), }");
	fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, stream);
	fprintf(stream, "%-117s\n", head);
	fwrite(bytes, size, tensor->elements, stream);
	fclose(stream);
	free(bytes);
}

static void write_tensors(const struct network *network, const char *folder, enum sk_role role, char prefix,
			  uint64_t *const *values)
{
	for (uint32_t i = 0; i < network->tensor_count; i++) {
		char name[32];

		if (network->tensors[i].root != i || network->tensors[i].role != role)
			continue;
		snprintf(name, sizeof(name), "%c%u.npy", prefix, i);
		write_npy(folder, name, &network->tensors[i], values[i]);
	}
}

/* A device like the built-in one, on which sk_sync_all splits; that one has so many cores that options of scopes may
 * ask for some of them. */
static void write_profile(const char *folder, const char *device)
{
	char path[TEXT], line[256];

	snprintf(path, sizeof(path), TOP_SRCDIR "/format/profile/%s.profile", device);

	FILE *from = fopen(path, "r"), *stream = create_file(folder, strrchr(path, '/') + 1);

	if (!from) {
		fprintf(stderr, "property: %s: %s\n", path, strerror(errno));
		abort();
	}
	while (fgets(line, sizeof(line), from))
		if (!strncmp(line, "name:", 5))
			fprintf(stream, "name: %s-split\n", device);
		else
			fputs(strncmp(line, "core.cores:", 11) ? line : "core.cores: 48\n", stream);
	fputs("sync-all-split: true\n", stream);
	fclose(from);
	fclose(stream);
}

/* ---- the link ---- */

/* Return the messages so far, as text that need not be freed. */
static const char *messages(struct property *property)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		abort();
	sk_diag_flush(&property->diag, "sklink", 2, stream);
	fclose(stream);
	return text;
}

static struct sk_model *read_model(struct property *property)
{
	struct sk_model *model = sk_model_create(property->arena, &property->diag);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	char path[TEXT];

	if (!stream)
		abort();
	network_print(property->network, property->device, stream);
	fclose(stream);
	snprintf(path, sizeof(path), "%s/model.yaml", property->folder);
	if (!sk_manifest_parse(model, sk_arena_print(property->arena, "%s", path), text, size))
		fail(property, "%s", messages(property));
	free(text);
	return model;
}

/* True if the verifier accepts the plan, and finds that it keeps the orders that the manifest wants. */
static bool verify(const struct property *property, struct sk_arena *arena, struct sk_diag *diag,
		   const struct sk_plan_view *plan)
{
	return sk_verify(arena, diag, plan, "model.yaml", property->account.orders, property->account.order_count,
			 NULL) &&
	       sk_consistency_check(arena, diag, plan, "model.yaml", &property->account);
}

static void note_reasons(struct property *property)
{
	for (size_t i = 0; i < property->account.count; i++) {
		note(property, KIND_SYNC_DROP, !strcmp(property->account.entries[i].code, "SYNCALL_OP_DROP"));
		note(property, KIND_SYNC_RISE, !strcmp(property->account.entries[i].code, "SYNCALL_OP_RISE"));
	}
}

static bool plan_model(struct property *property, struct sk_model *model, struct sk_plan_image *image)
{
	struct sk_fusion *fusion = sk_fusion_build(model);
	struct sk_schedule *schedule = fusion ? sk_schedule_build(model, fusion) : NULL;
	struct sk_memory *memory = schedule ? sk_memory_plan(model, fusion, schedule) : NULL;
	enum sk_task_entries task_entries = property->network->seed % 4 ? SK_TASKS_BY_THUNKS : SK_TASKS_BY_ENTRIES;
	char error[256];

	if (!memory || !sk_plan_write(model, fusion, schedule, memory, EM_X86_64, task_entries, image))
		return false;
	if (!sk_plan_open(image->bytes, image->size, &property->plan, error, sizeof(error)))
		fail(property, "the plan is refused: %s", error);
	property->account = sk_account_build(model->arena, model, fusion, schedule->groups);
	note_reasons(property);
	return verify(property, property->arena, &property->diag, &property->plan);
}

/* Run the stages of sklink.c, without those for files. */
static bool link_model(struct property *property, struct sk_model *model)
{
	struct sk_package_parts parts = {0};
	struct sk_plan_image *image = SK_NEW(property->arena, struct sk_plan_image);

	if (!sk_kernels_find(model, property->linker) || !sk_model_bind(model) || !sk_model_assign_roles(model))
		return false;
	if (!plan_model(property, model, image))
		return false;

	struct sk_package_input input = {.model = model, .image = image, .plan = &property->plan, .threads = 1};

	sk_account_pack(property->arena, &property->account, &input.account, &input.account_size);
	if (!sk_package_build(&input, property->linker, &parts))
		return false;
	if (!link_whole(property->linker) ||
	    !sk_seal_write(property->arena, &property->diag, property->linker, &parts, NULL))
		return false;
	property->package = sk_linker_bytes(property->linker, &property->package_size);
	return true;
}

static void begin_link(struct property *property)
{
	property->arena = sk_arena_create();
	property->plan = (struct sk_plan_view){0}; /* another link has its own plan */
	sk_diag_init(&property->diag, property->arena);
	property->diag.no_warnings = true;
	property->linker =
		sk_linker_create(property->arena, &property->diag, &(struct sk_linker_options){.threads = 1});
	sk_linker_add_file(property->linker, property->options->kernels, false);
}

static void link_case(struct property *property)
{
	begin_link(property);
	if (!link_model(property, read_model(property)) || property->diag.errors)
		fail(property, "%s", messages(property));
}

static void unlink_case(struct property *property)
{
	sk_linker_destroy(property->linker);
	sk_plan_close(&property->plan);
	sk_arena_destroy(property->arena);
}

/* ---- refusals ---- */

/* Return true if an error names the first unwritten bytes of the flawed tensor, and the task that reads them. */
static bool names_gap(const struct network *network, const char *text)
{
	const struct network_tensor *tensor = &network->tensors[network->flawed];
	bool output = tensor->role == SK_ROLE_OUTPUT;
	unsigned long long element = output ? tensor->unwritten : tensor->gap;
	char who[64], what[64];

	if (output)
		snprintf(who, sizeof(who), "no task writes bytes [%llu, ", element * sk_dtype_size(tensor->dtype));
	else
		snprintf(who, sizeof(who), "task 'n%u' reads bytes [%llu, ", tensor->gap_task,
			 element * sk_dtype_size(tensor->dtype));
	snprintf(what, sizeof(what), " of 't%u' (elements [%llu, ", network->flawed, element);
	return strstr(text, who) && strstr(text, what);
}

/* Check that a manifest is refused if it does not say enough about one tensor. */
static void check_refusal(struct property *property)
{
	static const enum sk_role lies[] = {SK_ROLE_NONE, SK_ROLE_OUTPUT, SK_ROLE_TEMPORARY};
	struct network *network = property->network;
	uint64_t random = ~network->seed ^ property->blocks[1];
	uint32_t count = 0;

	for (uint32_t i = 0; i < network->tensor_count; i++)
		if (network_can_flaw(network, i) && network_draw(&random, ++count) == 0)
			network->flawed = i;
	if (!count)
		return;

	bool output = network->tensors[network->flawed].role == SK_ROLE_OUTPUT;

	network->flaw = output ? SK_ROLE_OUTPUT : lies[network_draw(&random, 3)];
	begin_link(property);

	struct sk_model *model = read_model(property);

	if (!sk_kernels_find(model, property->linker) || !sk_model_bind(model))
		fail(property, "%s", messages(property));
	if (sk_model_assign_roles(model))
		fail(property, "nobody writes some bytes of t%u, and sklink does not notice", network->flawed);

	const char *text = messages(property);

	if (!names_gap(network, text))
		fail(property, "the message does not name the bytes of t%u that nobody writes: %s", network->flawed,
		     text);
	note(property, output ? KIND_REFUSED_OUTPUT : KIND_REFUSED_READ, true);
	unlink_case(property);
	network->flawed = NETWORK_NONE;
}

/* ---- the proof ---- */

/* The network's number of a task of the plan. */
static uint32_t task_number(const struct sk_plan_view *plan, uint32_t task)
{
	return (uint32_t)strtoul(sk_plan_string(&plan->tasks[task].name) + 1, NULL, 10);
}

static uint32_t task_of_step(const struct property *property, uint32_t step)
{
	return task_number(&property->plan, property->plan.calls[property->plan.steps[step].first_call].task);
}

/* Take one record out of a table of 32-bit numbers: of those from first, count are left. */
static void take_out(uint32_t *numbers, uint32_t first, uint32_t index, uint32_t count)
{
	memmove(&numbers[index], &numbers[index + 1], (first + count - index) * sizeof(*numbers));
}

/* Copy the plan, aligned as plans are, so that each launch and each tensor has a form or type of its own. */
static struct sk_plan_view copy_plan(struct property *property, struct sk_arena *arena)
{
	uint64_t size = own_records_size(property->plan.plan);
	uintptr_t raw = (uintptr_t)sk_arena_alloc(arena, size + SK_PLAN_ALIGN, 1);
	void *copy = (void *)((raw + SK_PLAN_ALIGN - 1) / SK_PLAN_ALIGN * SK_PLAN_ALIGN);
	struct sk_plan_view view;
	char error[256];

	own_records(copy, property->plan.plan);
	if (!sk_plan_open(copy, size, &view, error, sizeof(error)))
		fail(property, "the copy of a plan is refused: %s", error);
	return view;
}

/* Return true if the verifier's message is about tasks that are not in order: because of their data or the manifest's
 * wishes, in one launch or in two, or because of debug-sync-all. */
static bool is_about_order(const char *message)
{
	return strstr(message, "nothing orders task") || strstr(message, "are not ordered") ||
	       strstr(message, "may begin before task");
}

/* True if the verifier accepts the plan. It may refuse it for the order of tasks only: nothing else is wrong with it.
 */
static bool is_proved(struct property *property, struct sk_arena *arena, const struct sk_plan_view *view)
{
	struct sk_diag diag;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		abort();
	sk_diag_init(&diag, arena);

	bool proved = verify(property, arena, &diag, view);

	sk_diag_flush(&diag, "sklink", 0, stream);
	fclose(stream);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, "sklink: ", 8) && !is_about_order(line))
			fail(property, "without an await, the verifier says: %s", line);
	if (proved == (size > 0))
		fail(property, "the verifier refuses without a reason, or gives one and accepts");
	free(text);
	return proved;
}

/* Without this await of the step. */
static void check_await(struct property *property, uint32_t step, uint32_t await)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_plan_view without = copy_plan(property, arena);
	struct sk_plan_step *record = (struct sk_plan_step *)(uintptr_t)&without.steps[step];
	uint32_t later = task_of_step(property, step), earlier = task_of_step(property, without.awaits[await].step);

	record->await_count--;
	take_out((uint32_t *)(uintptr_t)without.awaits, record->first_await, await, record->await_count);
	add(&property->board->removals, 1);
	if (!is_proved(property, arena, &without))
		note(property, KIND_REMOVED, true);
	else
		fail(property, "task n%u need not await n%u: without it, the verifier accepts the plan", later,
		     earlier);
	sk_plan_close(&without);
	sk_arena_destroy(arena);
}

/* Without the order of two launches. */
static void check_follow(struct property *property, uint32_t launch, uint32_t follow)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_plan_view without = copy_plan(property, arena);
	struct sk_plan_launch *record = (struct sk_plan_launch *)(uintptr_t)&without.launches[launch];
	const struct sk_plan_launch *earlier = &without.launches[without.follows[follow]];

	plan_form(record)->follow_count--;
	take_out((uint32_t *)(uintptr_t)without.follows, record->first_follow, follow,
		 sk_plan_form(record)->follow_count);
	add(&property->board->removals, 1);
	if (!is_proved(property, arena, &without))
		note(property, KIND_REMOVED_FOLLOWS, true);
	else
		fail(property, "launch '%s' need not follow '%s': without it, the verifier accepts the plan",
		     sk_plan_string(&record->name), sk_plan_string(&earlier->name));
	sk_plan_close(&without);
	sk_arena_destroy(arena);
}

static void check_awaits_of_step(struct property *property, uint32_t step, uint64_t *random)
{
	const struct sk_plan_step *record = &property->plan.steps[step];

	for (uint32_t a = record->first_await; a < record->first_await + record->await_count; a++)
		if (network_draw(random, property->plan.await_count) < MOST_REMOVALS)
			check_await(property, step, a);
}

static void check_proof(struct property *property)
{
	const struct sk_plan_view *plan = &property->plan;
	uint64_t random = property->network->seed;

	for (uint32_t l = 0; l < plan->network_launch_count; l++) {
		const struct sk_plan_launch *launch = &plan->launches[l];

		for (uint32_t f = launch->first_follow; f < launch->first_follow + sk_plan_form(launch)->follow_count;
		     f++)
			check_follow(property, l, f);
		for (uint32_t s = launch->first_step; s < launch->first_step + sk_plan_form(launch)->step_count; s++)
			check_awaits_of_step(property, s, &random);
	}
}

/* ---- strict checks of scopes ---- */

/* The division of a scope without a strict check. */
struct division {
	uint32_t tasks, singles, superkernels;
	bool nested; /* its superkernels have tasks of other sets of scopes */
};

static struct division divide_scope(const struct property *property, uint32_t scope)
{
	const struct sk_plan_view *plan = &property->plan;
	uint32_t launch = SK_NO_INDEX, scopes = 0;
	struct division division = {0};

	for (uint32_t t = 0; t < plan->task_count; t++) {
		const struct network_task *task = &property->network->tasks[task_number(plan, t)];
		bool fused = sk_plan_form(&plan->launches[plan->tasks[t].launch])->kind == SK_LAUNCH_SUPERKERNEL;

		if (task->never_fuse || !(task->scopes >> scope & 1))
			continue;
		division.tasks++;
		division.singles += !fused;
		if (!fused || plan->tasks[t].launch == launch)
			continue;
		division.nested |= division.superkernels && task->scopes != scopes;
		division.superkernels++;
		launch = plan->tasks[t].launch;
		scopes = task->scopes;
	}
	return division;
}

/* With strict-scope-check=abort for one of the scopes the link is refused if the plan without it has not got that scope
 * whole, and else it is the same. Leaves the plan as it is. */
static void check_strictly(struct property *property)
{
	struct network *network = property->network;
	struct property strict = *property;
	uint64_t random = ~network->seed;
	uint32_t scope = network->scope_count ? network_draw(&random, network->scope_count) : NETWORK_NONE;

	if (scope == NETWORK_NONE || network->options[scope][1]) /* strict-scope-check has been given */
		return;

	struct division division = divide_scope(property, scope);
	bool whole = division.singles == 0 && division.superkernels <= 1;
	struct sk_plan_image image;

	if (!division.tasks)
		return;
	network->strict = scope;
	begin_link(&strict);

	struct sk_model *model = read_model(&strict);

	if (!sk_kernels_find(model, strict.linker) || !sk_model_bind(model) || !sk_model_assign_roles(model))
		fail(property, "%s", messages(&strict));
	if (plan_model(&strict, model, &image) != whole)
		fail(property, "scope s%u is %u superkernels and %u single tasks, and strict-scope-check=abort %s",
		     scope, division.superkernels, division.singles, whole ? messages(&strict) : "lets it pass");
	if (!whole && !strstr(messages(&strict), "cannot be fused whole (strict-scope-check=abort)"))
		fail(property, "a scope that is not whole is refused for another reason");
	note(property, whole ? KIND_STRICT : division.nested ? KIND_REFUSED_NESTED : KIND_REFUSED_SCOPE, true);
	unlink_case(&strict);
	network->strict = NETWORK_NONE;
}

/* ---- features of the case ---- */

static void note_await(struct property *property, const struct sk_plan_step *step, const struct sk_plan_step *awaited)
{
	note(property, KIND_AWAITS, true);
	note(property, KIND_AWAITS_ALL, awaited->core_set == SK_ALL_CORES);
	note(property, KIND_AWAITS_HOME, awaited->core_set != SK_ALL_CORES);
	note(property, KIND_AWAITS_LANE, awaited->lane != step->lane);
}

/* Note the features of a step with a kernel that keeps state. */
static void note_state(struct property *property, const struct sk_plan_launch *launch, uint32_t index)
{
	const struct sk_plan_view *plan = &property->plan;
	const struct sk_plan_step *step = &plan->steps[index];
	const struct network_task *task = &property->network->tasks[task_of_step(property, index)];
	bool meets = false;

	for (uint32_t e = launch->first_step; e < index; e++) {
		const struct network_task *other = &property->network->tasks[task_of_step(property, e)];

		meets |= plan->steps[e].core_set != step->core_set && other->kernel->state == task->kernel->state &&
			 (other->dtype == task->dtype || task->kernel->state == STATE_LIBRARY);
	}
	note(property, KIND_STATES_MEET, meets);
	note(property, KIND_EARLY_STATES, step->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET));
	note(property, KIND_LATE_STATES,
	     meets && plan->kernels[plan->calls[step->first_call].kernel].early & ~(uint32_t)step->flags &
			      SK_STEP_EARLY_WAIT);
}

static const struct kernel *kernel_of(const struct property *property, const struct sk_plan_call *call)
{
	return property->network->tasks[task_number(&property->plan, call->task)].kernel;
}

static bool has_steps_with(const struct property *property, const struct sk_plan_launch *launch, uint16_t flags)
{
	for (uint32_t s = launch->first_step; s < launch->first_step + sk_plan_form(launch)->step_count; s++)
		if (property->plan.steps[s].flags & flags)
			return true;
	return false;
}

static bool follows_once(const struct property *property, const struct sk_plan_launch *launch)
{
	for (uint32_t f = launch->first_follow; f < launch->first_follow + sk_plan_form(launch)->follow_count; f++)
		if (sk_plan_form(&property->plan.launches[property->plan.follows[f]])->flags & SK_LAUNCH_ONCE)
			return true;
	return false;
}

static void note_tiles(struct property *property, const struct sk_plan_step *step)
{
	struct sk_plan_calls calls = sk_plan_step_calls(&property->plan, step);

	note(property, KIND_TILES, true);
	note(property, KIND_SEVERAL_TILES, step->extent > step->tile);
	note(property, KIND_LONG_GROUP, step->call_count >= 4);
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		note(property, KIND_SCALES, call->scale != calls.first->scale);
		note(property, KIND_LOOPS_IN_TILES, call->loop_count);
		note(property, KIND_MOVED_TILES,
		     call > calls.first && call->task > call[-1].task + 1 &&
			     property->plan.tasks[call->task - 1].launch == property->plan.tasks[call->task].launch);
		note(property, KIND_FRAMES_IN_TILES, strstr(kernel_of(property, call)->attributes, "frame="));
		note(property, KIND_STATUS_IN_TILES, call->flags & SK_CALL_STATUS);
		for (uint32_t i = 0; i < call->argument_count; i++)
			note(property, KIND_IN_SCRATCH,
			     step->extent > step->tile &&
				     property->plan.arguments[call->first_argument + i].space == SK_SPACE_SCRATCH);
	}
}

static void note_partition(struct property *property, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &property->plan.partitions[step->partition];

	note(property, KIND_BY_BLOCKS, partition->blocks);
	note(property, KIND_BY_UNEQUAL_BLOCKS, partition->blocks && partition->rows % partition->blocks);
	note(property, KIND_TILES_BY_BLOCKS, partition->blocks && step->tile);
}

static void note_place(struct property *property, const struct sk_plan_launch *launch, uint32_t index)
{
	const struct sk_plan_step *step = &property->plan.steps[index];
	bool placed = !(step->flags & SK_STEP_RESIDENT) && sk_plan_first_core(&property->plan, step);

	note(property, KIND_PLACED, placed);
	note(property, KIND_PLACED_TILES, placed && step->tile);
	note(property, KIND_PLACED_BLOCKS, placed && step->blocks);
	note(property, KIND_PLACED_LIMITED,
	     placed && sk_plan_form(launch)->lane_cores[step->lane] && sk_plan_form(launch)->lane_steps[0] &&
		     sk_plan_form(launch)->lane_steps[1]);
	note(property, KIND_PLACED_ELIDED,
	     placed && index > launch->first_step && step->partition == step[-1].partition &&
		     step->partition != SK_NO_INDEX && !step->await_count &&
		     network_conflict(property->network, task_of_step(property, index - 1),
				      task_of_step(property, index)));
}

static void note_launch(struct property *property, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *plan = &property->plan;

	note(property, KIND_SUPERKERNELS, sk_plan_form(launch)->step_count > 1);
	note(property, KIND_LONG, sk_plan_form(launch)->step_count >= 8);
	for (uint32_t s = launch->first_step; s < launch->first_step + sk_plan_form(launch)->step_count; s++) {
		const struct sk_plan_step *step = &plan->steps[s];

		if (step->tile) {
			note_tiles(property, step);
			note(property, KIND_TILES_BESIDE_FLUSHES,
			     has_steps_with(property, launch, SK_STEP_FLUSH_BEFORE | SK_STEP_FLUSH_AFTER));
			note(property, KIND_TILES_BESIDE_MIX, has_steps_with(property, launch, SK_STEP_CUBE_SIDE));
			note(property, KIND_TILES_BEHIND_ONCE, follows_once(property, launch));
		}
		if (step->kind == SK_STEP_SPLIT)
			note_partition(property, step);
		note_place(property, launch, s);
		note(property, KIND_RESIDENT,
		     sk_plan_form(launch)->step_count > 2 &&
			     property->network->tasks[task_of_step(property, s)].kernel->is_resident);
		for (uint32_t a = 0; a < step->await_count; a++)
			note_await(property, step, &plan->steps[plan->awaits[step->first_await + a].step]);
		note(property, KIND_MIXED_STREAMS,
		     sk_plan_step_task(plan, step)->stream != sk_plan_form(launch)->stream);
		if (property->network->tasks[task_of_step(property, s)].kernel->state)
			note_state(property, launch, s);
		for (uint32_t e = launch->first_step; e < s && !step->await_count; e++)
			note(property, KIND_ELIDED,
			     task_of_step(property, e) != task_of_step(property, s) &&
				     network_conflict(property->network, task_of_step(property, e),
						      task_of_step(property, s)));
	}
}

/* Check sync-all-split: the superkernel of a task that calls sk_sync_all takes, of each of the task's lanes, only the
 * task's cores. But where a group has one cube core and two vector cores, an odd number of vector cores leaves one
 * idle. (The sides of mix tasks can be in groups of other kinds.) */
static void check_split(struct property *property, const struct sk_plan_launch *launch)
{
	for (uint32_t s = launch->first_step; s < launch->first_step + sk_plan_form(launch)->step_count; s++) {
		const struct sk_plan_step *step = &property->plan.steps[s];
		const struct kernel *kernel = property->network->tasks[task_of_step(property, s)].kernel;
		uint32_t taken = sk_plan_form(launch)->device_cores[step->lane],
			 idle = step->lane == 1 ? step->blocks % 2 : 0;

		if (kernel->is_resident && !kernel->is_mix && !(step->flags & SK_STEP_FEED) &&
		    taken > step->blocks + idle)
			fail(property, "%s takes %u cores of a lane, task n%u only %u", sk_plan_string(&launch->name),
			     taken, task_of_step(property, s), step->blocks);
	}
}

static void note_plan(struct property *property)
{
	const struct sk_plan_view *plan = &property->plan;

	note(property, KIND_LAUNCHES, plan->network_launch_count > 1);
	note(property, KIND_SHARED_WORKSPACE, plan->plan->workspace_size < plan->plan->unshared_workspace_size);
	for (uint32_t l = 0; l < plan->network_launch_count; l++) {
		const struct sk_plan_launch *launch = &plan->launches[l];

		note_launch(property, launch);
		if (property->network->splits)
			check_split(property, launch);
		for (uint32_t e = 0; e < l; e++)
			note(property, KIND_SEGMENTS,
			     sk_plan_form(launch)->kind == SK_LAUNCH_SUPERKERNEL &&
				     sk_plan_form(&plan->launches[e])->kind == SK_LAUNCH_SUPERKERNEL &&
				     !strcmp(sk_plan_string(&sk_plan_form(launch)->scope),
					     sk_plan_string(&sk_plan_form(&plan->launches[e])->scope)));
	}
}

static void note_task(struct property *property, const struct network_task *task)
{
	const struct kernel *kernel = task->kernel;

	note(property, KIND_STREAMS, task->stream > 0);
	note(property, KIND_AFTER, task->after);
	note(property, KIND_EVENTS, task->wait);
	note(property, KIND_UNFUSIBLE, task->unfusible);
	note(property, KIND_NULL_SCOPE, task->never_fuse);
	note(property, KIND_ONCE, task->once);
	note(property, KIND_SCOPE_SETS, task->scopes & (task->scopes - 1));
	note(property, KIND_CUBE, *task->lane == 'c');
	note(property, KIND_DEFAULT_BLOCKS, kernel->has_blocks && !task->blocks);
	for (uint32_t i = 0; i < kernel->set_count; i++)
		note(property, KIND_LOADS, task->sets[i].kind == SET_TENSOR);
	for (uint32_t i = 0; i < kernel->tensor_count; i++) {
		const struct network_tensor *tensor = &property->network->tensors[task->tensors[i]];
		uint32_t alias = kernel->tensors[i].alias_of, of = tensor->view_of;

		note(property, KIND_IN_PLACE, alias != NETWORK_NONE && task->tensors[i] == task->tensors[alias]);
		const struct network_tensor *root = &property->network->tensors[tensor->root];
		bool temporary = root->role == SK_ROLE_TEMPORARY, gaps = tensor->width < tensor->elements;

		note(property, KIND_ROWS, gaps);
		note(property, KIND_ROWS_OF_ROWS,
		     gaps && property->network->tensors[of].width < property->network->tensors[of].elements);
		note(property, KIND_ROWS_WRITTEN, gaps && temporary && kernel->tensors[i].access & SK_ACCESS_WRITE);
		note(property, KIND_ROWS_MIXED, gaps && network_has_mixed_rows(property->network, tensor->root));
		note(property, KIND_HALOS, temporary && strchr(kernel->tensors[i].extents[0], '+'));
		note(property, KIND_BEHIND_TEMPORARIES, temporary && kernel->tensors[i].reads_behind);
		note(property, KIND_BEHIND_CONSTANTS,
		     root->role == SK_ROLE_CONSTANT && kernel->tensors[i].reads_behind);
		note(property, KIND_BEHIND_BOUND,
		     !temporary && root->role != SK_ROLE_CONSTANT && kernel->tensors[i].reads_behind);
		note(property, KIND_DATA, root->role == SK_ROLE_CONSTANT && root->data);
		note(property, KIND_VIEWS, of != NETWORK_NONE);
		note(property, KIND_VIEWS_OF_VIEWS,
		     of != NETWORK_NONE && property->network->tensors[of].view_of != NETWORK_NONE);
	}
}

static void note_network(struct property *property)
{
	const struct network *network = property->network;

	for (uint32_t i = 0; i < network->task_count; i++) {
		if (network->tasks[i].dropped)
			continue;
		note_task(property, &network->tasks[i]);
	}
	for (uint32_t i = 0; i < network->tensor_count; i++) {
		const struct network_tensor *tensor = &network->tensors[i];

		if (tensor->role != SK_ROLE_NONE)
			note(property, KIND_INPUT + tensor->role - SK_ROLE_INPUT, true);
		note(property, KIND_KEPT, tensor->role == SK_ROLE_OUTPUT && tensor->unwritten < tensor->elements);
		note(property, KIND_PARTS, tensor->role == SK_ROLE_TEMPORARY && tensor->unwritten < tensor->elements);
	}
}

/* ---- runs ---- */

enum mode { FUSED, UNFUSED, SERIAL };

struct run {
	struct skrt_device *device;
	enum mode mode;
	uint32_t count; /* of runs */
	uint64_t seed; /* of the memory's first contents */
	char name[100];
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	uint8_t *memory[NETWORK_TENSORS];
};

static void must(struct property *property, const struct run *run, enum skrt_status status)
{
	if (status != SKRT_OK)
		fail(property, "%s: %s: %s", run->name, skrt_status_name(status), skrt_error());
}

static uint32_t root_of(const struct skrt_tensor *tensor)
{
	return (uint32_t)strtoul(tensor->name + 1, NULL, 10);
}

static void bind_tensors(struct property *property, struct run *run)
{
	for (uint32_t i = 0; i < skrt_module_tensor_count(run->module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		must(property, run, skrt_module_tensor(run->module, i, &tensor));

		uint32_t root = root_of(&tensor);
		const struct network_tensor *expected = &property->network->tensors[root];
		void *values = pack(expected->dtype, property->network->contents[root], expected->elements);
		uint64_t room = (tensor.bytes + tensor.padding + GUARD + 63) / 64 * 64;

		run->memory[root] = aligned_alloc(64, room);
		if (!run->memory[root])
			abort();
		memset(run->memory[root], GUARD_BYTE, room);
		memcpy(run->memory[root], values, tensor.bytes);
		free(values);
		must(property, run,
		     skrt_instance_bind(run->instance, i, run->memory[root], tensor.bytes + tensor.padding));
	}
}

static void compare_tensor(struct property *property, const struct run *run, uint32_t root, uint32_t number)
{
	const struct network_tensor *tensor = &property->network->tensors[root];
	uint32_t size = sk_dtype_size(tensor->dtype);
	uint8_t *expected = pack(tensor->dtype, property->expected[number]->values[root], tensor->elements);
	const uint8_t *found = run->memory[root];

	for (uint64_t i = 0; i < tensor->elements * size; i++)
		if (found[i] != expected[i])
			fail(property, "%s, run %u: element %llu of tensor t%u is wrong", run->name, number + 1,
			     (unsigned long long)(i / size), root);
	for (uint64_t i = tensor->elements * size; i < tensor->elements * size + GUARD; i++)
		if (found[i] != GUARD_BYTE)
			fail(property, "%s, run %u: a byte behind tensor t%u was written", run->name, number + 1, root);
	free(expected);
}

/* Launches with blocks that wait for one another have no serial entry. */
static void run_serially(struct property *property, struct run *run)
{
	struct skrt_kernel_info info = {.size = sizeof(info)};

	for (uint32_t i = 0; i < skrt_module_kernel_count(run->module); i++) {
		const struct skrt_kernel *kernel;

		must(property, run, skrt_module_kernel(run->module, i, &kernel));
		skrt_kernel_describe(kernel, &info);
		if (info.has_serial_entry)
			must(property, run, skrt_run_serial(run->instance, kernel));
		else
			must(property, run, skrt_run(run->stream, run->instance, kernel));
	}
}

/* Run each task by its own thunk or functions; every second one on one thread. */
static void run_tasks(struct property *property, struct run *run)
{
	struct skrt_kernel_info info = {.size = sizeof(info)};

	for (uint32_t i = 0; i < skrt_module_task_count(run->module); i++) {
		const struct skrt_kernel *kernel;

		must(property, run, skrt_module_task(run->module, i, &kernel));
		skrt_kernel_describe(kernel, &info);
		if (i % 2 && info.has_serial_entry)
			must(property, run, skrt_run_serial(run->instance, kernel));
		else
			must(property, run, skrt_run(run->stream, run->instance, kernel));
	}
}

static void run_once(struct property *property, struct run *run)
{
	switch (run->mode) {
	case FUSED:
		must(property, run, skrt_run_network(run->stream, run->instance));
		break;
	case UNFUSED:
		run_tasks(property, run);
		note(property, KIND_UNFUSED_RUN, true);
		break;
	case SERIAL:
		run_serially(property, run);
		note(property, KIND_SERIAL_RUN, true);
		break;
	}
}

static void open_package(struct property *property, struct run *run)
{
	const struct skrt_source source = {
		.size = sizeof(source), .memory = property->package, .bytes = property->package_size};

	must(property, run, skrt_module_load_from(run->device, &source, &run->module));
	must(property, run, skrt_instance_create(run->module, &run->instance));
	must(property, run, skrt_stream_create(run->device, &run->stream));
	bind_tensors(property, run);
}

static void close_package(struct property *property, struct run *run)
{
	must(property, run, skrt_stream_destroy(run->stream));
	must(property, run, skrt_instance_destroy(run->instance));
	must(property, run, skrt_module_unload(run->module));
	for (uint32_t i = 0; i < property->network->tensor_count; i++)
		free(run->memory[i]);
	add(&property->board->launches, run->count);
}

static void run_package(struct property *property, struct run *run)
{
	open_package(property, run);
	for (uint32_t i = 0; i < run->count; i++) {
		must(property, run, skrt_instance_fill_workspace(run->instance, (int)(run->seed + i) & 0xff));
		run_once(property, run);
		for (uint32_t root = 0; root < property->network->tensor_count; root++)
			if (run->memory[root])
				compare_tensor(property, run, root, i);
	}
	close_package(property, run);
}

static const char *mode_name(enum mode mode)
{
	static const char *const names[] = {"fused", "unfused", "serial"};

	return names[mode];
}

/* The host's devices, with 1, 2, 3 and 5 cores, stay open as long as the process. */
static void run_on_host(struct property *property, enum mode mode, uint32_t count, uint64_t *random)
{
	static struct skrt_device *devices[HOST_DEVICES];
	static const uint32_t cores[HOST_DEVICES] = {1, 2, 3, 5};
	uint32_t choice = network_draw(random, HOST_DEVICES);
	const struct skrt_device_options options = {.size = sizeof(options), .cores = cores[choice]};
	struct run run = {.mode = mode, .count = count, .seed = *random};

	snprintf(run.name, sizeof(run.name), "host with %u cores, %s", cores[choice], mode_name(mode));
	if (!devices[choice])
		must(property, &run, skrt_device_open(&options, &devices[choice]));
	run.device = devices[choice];
	run_package(property, &run);
}

static void run_simulated(struct property *property, enum mode mode, uint32_t count, uint64_t *random)
{
	static const uint32_t cores[] = {1, 2, 3, 4, 5, 7, 9, 16};
	const struct skrt_device_options options = {.size = sizeof(options),
						    .device = "a3",
						    .cores = cores[network_draw(random, 8)],
						    .seed = network_draw(random, 1u << 30),
						    .stack_size = 65536};
	struct run run = {.mode = mode, .count = count, .seed = *random};

	snprintf(run.name, sizeof(run.name), "a3 with %u cores and seed %llu, %s", options.cores,
		 (unsigned long long)options.seed, mode_name(mode));
	must(property, &run, skrt_device_open(&options, &run.device));
	run_package(property, &run);
	must(property, &run, skrt_device_close(run.device));
}

/* Correct kernels and plans must give neither accesses out of bounds nor races. */
static void run_checked(struct property *property, uint64_t *random)
{
	static const uint32_t cores[] = {1, 2, 3, 5};
	const struct sk_plan_view *plan = &property->plan;
	const struct skrt_device_options options = {.size = sizeof(options),
						    .device = network_draw(random, 2) ? "a3" : "host",
						    .cores = cores[network_draw(random, 4)],
						    .checks = SKRT_GUARD | SKRT_CHECK_RACES,
						    .stack_size = 65536};
	struct run run = {.mode = FUSED, .count = 1, .seed = *random};

	snprintf(run.name, sizeof(run.name), "%s with %u cores and checks", options.device, options.cores);
	must(property, &run, skrt_device_open(&options, &run.device));
	run_package(property, &run);
	must(property, &run, skrt_device_close(run.device));
	note(property, KIND_CHECKED_RUN, true);
	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		note(property, KIND_CHECKED_EARLY, sk_plan_form(&plan->launches[i])->flags & SK_LAUNCH_EARLY);
		note(property, KIND_CHECKED_RESIDENT, sk_plan_is_resident(&plan->launches[i]));
	}
	for (uint32_t i = 0; i < plan->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[i];

		note(property, KIND_CHECKED_TILES, step->tile);
		note(property, KIND_CHECKED_SHORTEST,
		     step->tile && step->extent > step->tile && step->tile == plan->partitions[step->partition].unit);
	}
}

static void check_runs(struct property *property)
{
	uint64_t random = property->network->seed ^ property->blocks[1];

	for (uint32_t i = 0; i < RUNS; i++) {
		property->expected[i] = network_begin(property->network);
		for (uint32_t run = 0; run <= i; run++)
			network_run(property->network, property->expected[i], property->blocks);
	}
	run_on_host(property, FUSED, RUNS, &random);
	run_simulated(property, FUSED, RUNS, &random);
	run_simulated(property, FUSED, 1, &random);
	switch (network_draw(&random, 4)) {
	case 0:
		run_on_host(property, UNFUSED, RUNS, &random);
		break;
	case 1:
		run_simulated(property, UNFUSED, RUNS, &random);
		break;
	case 2:
		run_checked(property, &random);
		break;
	default:
		run_on_host(property, SERIAL, RUNS, &random);
	}
	for (uint32_t i = 0; i < RUNS; i++)
		network_end(property->network, property->expected[i]);
}

/* ---- kernels that belie their signatures ---- */

static bool can_lie(const struct network_task *task, const struct liar *liar)
{
	return task->n >= liar->least && task->w >= liar->least_columns;
}

/* Choose a task of the network, and a liar that may take its kernel's place; NULL: there is none. Tasks that run once
 * are excluded: their lie would be found again before each task that needs them. */
static const struct liar *choose_liar(const struct network *network, uint64_t *random, uint32_t *number)
{
	const struct liar *chosen = NULL;
	uint32_t count = 0;

	for (uint32_t t = 0; t < network->task_count; t++)
		for (const struct liar *liar = network_liars(); liar->kernel.function; liar++) {
			const struct network_task *task = &network->tasks[t];
			const struct kernel *honest = task->kernel;

			if (task->dropped || task->once || (liar->lie != LIE_SPLIT && !can_lie(task, liar)) ||
			    strcmp(honest->attributes, liar->kernel.attributes) ||
			    strcmp(honest->parameters, liar->kernel.parameters) || network_draw(random, ++count))
				continue;
			chosen = liar;
			*number = t;
		}
	return chosen;
}

/* Return whether the task of the plan has several units, and so many elements. */
static bool is_divided(const struct property *property, uint32_t task, uint64_t least)
{
	const struct sk_plan_view *plan = &property->plan;
	const struct sk_plan_step *step = &plan->steps[plan->launches[plan->tasks[task].task_launch].first_step];

	return step->kind == SK_STEP_SPLIT && step->extent > plan->partitions[step->partition].unit &&
	       step->extent >= least;
}

/* Run each task by itself: the liar must be found if its tensors are large enough, and no other task. */
static void run_in_parts(struct property *property, struct run *run, uint32_t liar, uint64_t least)
{
	open_package(property, run);
	must(property, run, skrt_instance_fill_workspace(run->instance, (int)run->seed & 0xff));
	for (uint32_t i = 0; i < skrt_module_task_count(run->module); i++) {
		bool lies = task_number(&property->plan, i) == liar,
		     divided = is_divided(property, i, lies ? least : 0);
		const struct skrt_kernel *kernel;

		must(property, run, skrt_module_task(run->module, i, &kernel));
		enum skrt_status status = skrt_run(run->stream, run->instance, kernel);

		note(property, KIND_HONEST, !lies && divided);
		note(property, KIND_LIAR, lies && divided);
		note(property, KIND_SHORT_LIAR, lies && !divided);
		if (!lies || !divided)
			must(property, run, status);
		else if (status != SKRT_KERNEL_FAILED || !strstr(skrt_error(), "it contradicts 'split'"))
			fail(property, "%s: task n%u belies 'split', and nobody notices", run->name, liar);
	}
	close_package(property, run);
}

static void expect_lie(struct property *property, const struct run *run, enum skrt_status status, uint32_t task,
		       enum lie lie)
{
	static const char *const findings[] = {
		[LIE_INPUT] = "of which the call may ", [LIE_UNWRITTEN] = "it has not written"};
	char name[32];

	snprintf(name, sizeof(name), "task 'n%u': ", task);
	if (status != SKRT_KERNEL_FAILED || !strstr(skrt_error(), name) || !strstr(skrt_error(), findings[lie]))
		fail(property, "%s: task n%u belies a direction (%d): %s", run->name, task, lie,
		     status ? skrt_error() : "nobody notices");
}

/* Run the network, or its tasks one by one: the first error must be the liar's. */
static void run_to_lie(struct property *property, struct run *run, uint32_t liar, enum lie lie)
{
	const struct skrt_kernel *kernel;
	bool found = run->mode == FUSED;

	open_package(property, run);
	must(property, run, skrt_instance_fill_workspace(run->instance, (int)run->seed & 0xff));
	if (found)
		expect_lie(property, run, skrt_run_network(run->stream, run->instance), liar, lie);
	for (uint32_t i = 0; i < skrt_module_task_count(run->module) && !found; i++) {
		must(property, run, skrt_module_task(run->module, i, &kernel));
		found = task_number(&property->plan, i) == liar;
		if (found)
			expect_lie(property, run, skrt_run(run->stream, run->instance, kernel), liar, lie);
		else
			must(property, run, skrt_run(run->stream, run->instance, kernel));
	}
	note(property, lie == LIE_INPUT ? KIND_INPUT_LIAR : KIND_UNWRITTEN_LIAR, true);
	close_package(property, run);
}

/* In some cases a kernel is replaced by one that belies its signature. */
static void check_lies(struct property *property)
{
	uint64_t random = property->network->seed ^ property->blocks[1] << 20;
	uint32_t task = 0, cores = 1 + network_draw(&random, 4);
	struct skrt_device_options options = {.size = sizeof(options),
					      .device = network_draw(&random, 2) ? "a3" : "host",
					      .cores = cores,
					      .stack_size = 65536};
	const struct liar *liar = network_draw(&random, 3) ? NULL : choose_liar(property->network, &random, &task);
	const struct kernel *honest = property->network->tasks[task].kernel;
	struct run run = {.mode = UNFUSED, .count = 1, .seed = random};

	if (!liar)
		return;
	options.checks = liar->lie == LIE_SPLIT ? SKRT_CHECK_SPLIT : SKRT_GUARD;
	if (liar->lie != LIE_SPLIT && network_draw(&random, 2))
		run.mode = FUSED;
	property->network->tasks[task].kernel = &liar->kernel;
	link_case(property);
	snprintf(run.name, sizeof(run.name), "%s with %u cores, %s", options.device, options.cores,
		 liar->lie == LIE_SPLIT ? "in parts"
		 : run.mode == FUSED	? "guarded"
					: "guarded, task by task");
	must(property, &run, skrt_device_open(&options, &run.device));
	if (liar->lie == LIE_SPLIT)
		run_in_parts(property, &run, task, liar->least);
	else
		run_to_lie(property, &run, task, liar->lie);
	must(property, &run, skrt_device_close(run.device));
	unlink_case(property);
	property->network->tasks[task].kernel = honest;
}

/* ---- mutants of the plan ---- */

static bool has_tiles(const struct sk_plan_view *plan)
{
	for (uint32_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i].tile)
			return true;
	return false;
}

/* Numbers of mutants go on from package to package; in place of a field that the plan has no record with comes the next
 * one. */
static void try_mutants(struct property *property, const struct mutant_package *package, uint64_t number)
{
	struct board *board = property->board;

	for (uint32_t i = 0; i < property->options->mutants; i++) {
		struct mutant_outcome outcome = {.changed = false};
		uint64_t mutant = number * property->options->mutants + i;
		bool good = true;

		for (uint32_t j = 0; j < mutant_field_count() && !outcome.changed; j++)
			good = mutant_try(package, mutant + j, &outcome);
		add(&board->fields[outcome.field], outcome.changed);
		add(&board->mutants_accepted, outcome.accepted);
		add(&board->mutants_refused, outcome.refused);
		add(&board->mutants_beside_tiles, outcome.changed && has_tiles(&property->plan));
		if (!good)
			fail(property, "a mutant is accepted: %s", outcome.text);
	}
}

static void check_mutants(struct property *property, uint64_t number)
{
	const struct sk_plan_view *plan = &property->plan;
	void *contents[NETWORK_TENSORS];

	for (uint32_t i = 0; i < plan->binding_count; i++) {
		uint32_t root = (uint32_t)strtoul(sk_plan_string(&plan->tensors[plan->bindings[i]].name) + 1, NULL, 10);
		const struct network_tensor *tensor = &property->network->tensors[root];

		contents[i] = pack(tensor->dtype, property->network->contents[root], tensor->elements);
	}
	try_mutants(property, &(struct mutant_package){property->package, property->package_size, contents}, number);
	for (uint32_t i = 0; i < plan->binding_count; i++)
		free(contents[i]);
}

/* ---- a case ---- */

/* The number of blocks of a blocks kernel if the task gives none: from the built-in profiles. */
static const struct planned_device {
	const char *name;
	uint32_t blocks[2];
} planned_devices[] = {{"host", {8, 8}}, {"a3", {24, 48}}};

enum { PLANNED_DEVICES = sizeof(planned_devices) / sizeof(planned_devices[0]) };

static void check_package(struct property *property, const struct planned_device *device)
{
	property->device = device->name;
	if (property->network->splits)
		write_profile(property->folder, device->name);
	memcpy(property->blocks, device->blocks, sizeof(property->blocks));
	check_refusal(property);
	link_case(property);
	note_plan(property);
	check_proof(property);
	check_strictly(property);
	check_runs(property);
	check_mutants(property, property->network->seed * PLANNED_DEVICES + (uint64_t)(device - planned_devices));
	unlink_case(property);
	check_lies(property);
	add(&property->board->packages, 1);
}

static void count_kinds(struct property *property)
{
	struct board *board = property->board;
	bool kernels[NETWORK_KERNELS] = {false};

	add(&board->cases, 1);
	for (uint32_t i = 0; i < property->network->task_count; i++)
		kernels[property->network->tasks[i].kernel - network_kernels()] = true;
	for (uint32_t i = 0; i < KINDS; i++)
		add(&board->kinds[i], property->kinds[i]);
	for (uint32_t i = 0; i < NETWORK_KERNELS; i++)
		add(&board->kernels[i], kernels[i]);
}

/* End the process with status 1 and a message in the slot if something is wrong. */
static void check_case(const struct options *options, struct board *board, struct slot *slot, const char *folder,
		       uint64_t seed, uint32_t tasks, unsigned seconds)
{
	struct property property = {.options = options, .board = board, .slot = slot, .folder = folder, .device = "?"};

	slot->seed = seed;
	strcpy(slot->message, "ended without a message");
	alarm(seconds);
	property.network = network_create(seed, tasks);
	write_tensors(property.network, folder, SK_ROLE_CONSTANT, 'c', property.network->contents);
	note_network(&property);
	for (size_t i = 0; i < PLANNED_DEVICES; i++)
		check_package(&property, &planned_devices[i]);
	if (slot != &board->slots[MOST_JOBS])
		count_kinds(&property);
	network_destroy(property.network);
	alarm(0);
}

/* ---- child processes ---- */

/* The folder of a process is made and removed by its parent. */
static void folder_name(char *name, size_t size, const char *base, uint32_t number)
{
	snprintf(name, size, "%s/%u", base, number);
}

static void make_folder(const char *name)
{
	if (mkdir(name, 0777) && errno != EEXIST) {
		fprintf(stderr, "property: %s: %s\n", name, strerror(errno));
		exit(2);
	}
}

static void remove_folder(const char *name)
{
	for (uint32_t i = 0; i < NETWORK_TENSORS; i++) {
		char path[TEXT];

		snprintf(path, sizeof(path), "%.3000s/c%u.npy", name, i);
		unlink(path);
	}
	for (size_t i = 0; i < PLANNED_DEVICES; i++) {
		char path[TEXT];

		snprintf(path, sizeof(path), "%.3000s/%s.profile", name, planned_devices[i].name);
		unlink(path);
	}
	rmdir(name);
}

static pid_t fork_or_exit(void)
{
	fflush(NULL);

	pid_t child = fork();

	if (child < 0) {
		perror("property: fork");
		exit(2);
	}
	return child;
}

static bool has_hung(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}

/* Add the end of the child, if its message does not give it. */
static void complete_message(struct slot *slot, int status)
{
	size_t length = strlen(slot->message);

	if (has_hung(status))
		snprintf(slot->message, TEXT, "takes more than %d seconds", SECONDS);
	else if (WIFSIGNALED(status))
		snprintf(slot->message + length, TEXT - length, " (signal %d)", WTERMSIG(status));
}

/* The run as a whole. */
struct session {
	const struct options *options;
	struct board *board;
	char base[TEXT / 2]; /* folder of the processes' folders */
	uint32_t failures;
	uint64_t next, end; /* seeds that no process has got yet */
	struct job {
		pid_t process; /* 0: none */
		uint64_t first, end;
	} jobs[MOST_JOBS];
};

/* ---- failures ---- */

/* Run the case with these tasks alone. Return 0, or waitpid's status after a failure; the message is in the last slot.
 * */
static int run_alone(struct session *session, uint64_t seed, uint32_t tasks, unsigned seconds)
{
	struct slot *slot = &session->board->slots[MOST_JOBS];
	char folder[TEXT];
	int status;

	folder_name(folder, sizeof(folder), session->base, MOST_JOBS);
	make_folder(folder);

	pid_t child = fork_or_exit();

	if (child == 0) {
		check_case(session->options, session->board, slot, folder, seed, tasks, seconds);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child) {
		perror("property: waitpid");
		exit(2);
	}
	remove_folder(folder);
	complete_message(slot, status);
	return status;
}

/* Take out tasks, one at a time, as long as the case still fails. */
static uint32_t shrink(struct session *session, uint64_t seed, unsigned seconds)
{
	struct network *network = network_create(seed, session->options->tasks);
	uint32_t tasks = session->options->tasks & (uint32_t)((UINT64_C(1) << network->task_count) - 1);
	bool changed = true;

	network_destroy(network);
	while (changed) {
		changed = false;
		for (uint32_t i = NETWORK_TASKS; i-- > 0;) {
			uint32_t fewer = tasks & ~(1u << i);

			if (fewer == tasks || !fewer || !run_alone(session, seed, fewer, seconds))
				continue;
			tasks = fewer;
			changed = true;
		}
	}
	return tasks;
}

static void print_command(const struct session *session, FILE *stream, uint64_t seed, uint32_t tasks)
{
	const char *separator = " --tasks ";

	fprintf(stream, "tests/property/property --cases 1 --seed %llu", (unsigned long long)seed);
	for (uint32_t i = 0; i < NETWORK_TASKS; i++) {
		if (!(tasks >> i & 1))
			continue;
		fprintf(stream, "%s%u", separator, i);
		separator = ",";
	}
	fprintf(stream, " %s\n", session->options->kernels);
}

/* Write the manifest for a device, and its data: constants c<tensor>.npy, the bound tensors before the run
 * i<tensor>.npy, and after it e<tensor>.npy. */
static void keep_network(const struct network *network, const char *folder, const struct planned_device *device)
{
	static const enum sk_role bound[] = {SK_ROLE_INPUT, SK_ROLE_OUTPUT, SK_ROLE_INOUT};
	struct network_state *expected = network_begin(network);
	char path[TEXT];

	snprintf(path, sizeof(path), "%.2000s/%s", folder, device->name);
	make_folder(path);

	FILE *stream = create_file(path, "model.yaml");

	network_print(network, device->name, stream);
	fclose(stream);
	if (network->splits)
		write_profile(path, device->name);
	network_run(network, expected, device->blocks);
	write_tensors(network, path, SK_ROLE_CONSTANT, 'c', network->contents);
	for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); i++) {
		write_tensors(network, path, bound[i], 'i', network->contents);
		if (bound[i] != SK_ROLE_INPUT)
			write_tensors(network, path, bound[i], 'e', expected->values);
	}
	network_end(network, expected);
}

static void keep_failure(const struct session *session, uint64_t seed, uint32_t tasks, const char *message)
{
	struct network *network = network_create(seed, tasks);
	char folder[TEXT / 2];

	make_folder(session->options->keep);
	snprintf(folder, sizeof(folder), "%s/seed-%llu", session->options->keep, (unsigned long long)seed);
	make_folder(folder);
	for (size_t i = 0; i < PLANNED_DEVICES; i++)
		keep_network(network, folder, &planned_devices[i]);

	FILE *stream = create_file(folder, "README");

	fprintf(stream, "%s\n\n", message);
	print_command(session, stream, seed, tasks);
	fclose(stream);
	network_destroy(network);
	fprintf(stderr, "its manifests and data are in %s\n", folder);
}

static void report_failure(struct session *session, const struct slot *slot)
{
	uint64_t seed = slot->seed;
	const char *message = slot->message;
	uint32_t tasks = session->options->tasks;
	int status;

	fprintf(stderr, "FAIL: seed %llu: %s\n", (unsigned long long)seed, message);
	session->failures++;
	if ((status = run_alone(session, seed, tasks, SECONDS))) {
		uint32_t fewer = shrink(session, seed, has_hung(status) ? FEWER_SECONDS : SECONDS);

		/* A case that was only slow with fewer tasks gets its whole time once more. */
		if (run_alone(session, seed, fewer, SECONDS))
			tasks = fewer;
		else
			run_alone(session, seed, tasks, SECONDS);
		message = session->board->slots[MOST_JOBS].message;
		fprintf(stderr, "with fewer tasks: %s\nto repeat it: ", message);
	} else {
		fprintf(stderr, "it does not always fail; to repeat it: ");
	}
	print_command(session, stderr, seed, tasks);
	keep_failure(session, seed, tasks, message);
}

/* ---- all cases ---- */

static void run_batch(const struct session *session, uint32_t number)
{
	const struct job *job = &session->jobs[number];
	char folder[TEXT];

	folder_name(folder, sizeof(folder), session->base, number);
	for (uint64_t seed = job->first; seed < job->end; seed++)
		check_case(session->options, session->board, &session->board->slots[number], folder, seed,
			   session->options->tasks, SECONDS);
	_exit(0);
}

static void start_job(struct session *session, uint32_t number)
{
	struct job *job = &session->jobs[number];

	if (job->first == job->end) {
		uint64_t left = session->end - session->next, batch = left < BATCH ? left : BATCH;

		job->first = session->next;
		job->end = session->next += batch;
	}
	if (job->first == job->end || session->failures >= MOST_FAILURES)
		return;
	job->process = fork_or_exit();
	if (job->process == 0)
		run_batch(session, number);
}

static void end_job(struct session *session, uint32_t number, int status)
{
	struct job *job = &session->jobs[number];
	struct slot *slot = &session->board->slots[number];

	job->process = 0;
	job->first = job->end;
	if (!status)
		return;
	complete_message(slot, status);
	job->first = slot->seed + 1;
	report_failure(session, slot);
}

static void run_all(struct session *session)
{
	uint32_t running;

	do {
		int status;

		running = 0;
		for (uint32_t i = 0; i < session->options->jobs; i++) {
			if (!session->jobs[i].process)
				start_job(session, i);
			running += session->jobs[i].process != 0;
		}
		if (!running)
			break;

		pid_t ended = wait(&status);

		for (uint32_t i = 0; i < session->options->jobs; i++)
			if (session->jobs[i].process == ended)
				end_job(session, i, status);
	} while (running);
}

/* Return the number of kinds that no case had. */
static uint32_t print_summary(const struct session *session)
{
	const struct board *board = session->board;
	const struct kernel *kernels = network_kernels();
	uint32_t missing = 0;

	printf("%llu cases from seed %llu: %llu packages, %llu runs of them, %llu proofs of damaged plans\ncases "
	       "with\n",
	       (unsigned long long)board->cases, (unsigned long long)session->options->seed,
	       (unsigned long long)board->packages, (unsigned long long)board->launches,
	       (unsigned long long)board->removals);
	for (uint32_t i = 0; i < KINDS; i++) {
		printf("%8llu  %s\n", (unsigned long long)board->kinds[i], kind_names[i]);
		missing += !board->kinds[i];
	}
	printf("%8llu mutants of plans were accepted, and %llu refused\n", (unsigned long long)board->mutants_accepted,
	       (unsigned long long)board->mutants_refused);
	printf("%8llu mutants changed plans with tile groups\n", (unsigned long long)board->mutants_beside_tiles);
	missing += session->options->mutants && !board->mutants_beside_tiles;
	for (uint32_t i = 0; session->options->mutants && i < mutant_field_count(); i++) {
		char name[MUTANT_TEXT];

		if (!board->fields[i])
			printf("%8d  %s\n", 0, mutant_field_name(i, name));
		missing += !board->fields[i] && session->options->cases >= ENOUGH_FOR_MUTANTS;
	}
	printf("and with kernels\n");
	for (uint32_t i = 0; kernels[i].function; i++) {
		printf("%8llu  %s %s\n", (unsigned long long)board->kernels[i], kernels[i].function,
		       *kernels[i].attributes ? kernels[i].attributes : "on one core");
		missing += !board->kernels[i];
	}
	return missing;
}

static struct board *create_board(void)
{
	void *memory = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("property: mmap");
		exit(2);
	}
	return memory;
}

static int run_cases(const struct options *options)
{
	struct session session = {.options = options,
				  .board = create_board(),
				  .next = options->seed,
				  .end = options->seed + options->cases};
	const char *temporary = getenv("TMPDIR");
	char folder[TEXT];

	snprintf(session.base, sizeof(session.base), "%.1000s/property-XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(session.base)) {
		perror("property: mkdtemp");
		return 2;
	}
	for (uint32_t i = 0; i < options->jobs; i++) {
		folder_name(folder, sizeof(folder), session.base, i);
		make_folder(folder);
	}
	run_all(&session);
	for (uint32_t i = 0; i < options->jobs; i++) {
		folder_name(folder, sizeof(folder), session.base, i);
		remove_folder(folder);
	}
	rmdir(session.base);

	if (session.failures)
		return 1;

	uint32_t missing = print_summary(&session);

	if (missing && options->cases >= ENOUGH && options->tasks == UINT32_MAX) {
		fprintf(stderr, "FAIL: %u lines of the table are 0: the generator does not reach them\n", missing);
		return 1;
	}
	return 0;
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr,
		"usage: property [--cases COUNT] [--seed FIRST] [--jobs COUNT] [--tasks N,N...] [--mutants COUNT] "
		"[--keep FOLDER] [--print] KERNELS.o\n");
	exit(2);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || end == text)
		usage();
	return number;
}

static uint32_t parse_tasks(char *text)
{
	uint32_t tasks = 0;

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		uint64_t task = parse_number(word);

		if (task >= NETWORK_TASKS)
			usage();
		tasks |= 1u << task;
	}
	return tasks;
}

static void parse_option(struct options *options, const char *name, char *value)
{
	if (!strcmp(name, "--cases"))
		options->cases = parse_number(value);
	else if (!strcmp(name, "--seed"))
		options->seed = parse_number(value);
	else if (!strcmp(name, "--jobs"))
		options->jobs = (uint32_t)parse_number(value);
	else if (!strcmp(name, "--tasks"))
		options->tasks = parse_tasks(value);
	else if (!strcmp(name, "--mutants"))
		options->mutants = (uint32_t)parse_number(value);
	else if (!strcmp(name, "--keep"))
		options->keep = value;
	else
		usage();
}

static void print_manifests(const struct options *options)
{
	for (uint64_t i = 0; i < options->cases; i++) {
		struct network *network = network_create(options->seed + i, options->tasks);

		network_print(network, "host", stdout);
		network_destroy(network);
	}
}

int main(int argc, char **argv)
{
	struct options options = {
		.cases = 1000, .seed = 1, .jobs = 2, .tasks = UINT32_MAX, .mutants = 2, .keep = "property-failures"};

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--print"))
			options.print = true;
		else if (argv[i][0] != '-' && !options.kernels)
			options.kernels = argv[i];
		else if (i + 1 < argc)
			parse_option(&options, argv[i], argv[i + 1]), i++;
		else
			usage();
	}
	if (!options.kernels || options.jobs < 1 || options.jobs > MOST_JOBS ||
	    options.seed + options.cases < options.seed)
		usage();
	if (!options.print)
		return run_cases(&options);
	print_manifests(&options);
	return 0;
}
