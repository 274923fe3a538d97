/* See plan-mutants.h. */
#include "tests/property/plan-mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "src/proof/proof.h"
#include "src/skdump/skdump.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/match-code.h"
#include "tests/property/network.h"

/* ---- the fields ---- */

/* N: a number; A: an array of numbers; R: a reference, relative to its own place. All of a record's, in order. */
/* clang-format off */
#define TABLE_FIELDS(N, r, name) N(r, name.offset) N(r, name.count)
#define HEADER_FIELDS(N, A, R, r) \
	N(r, magic) N(r, version) N(r, abi_version) N(r, machine) N(r, size) N(r, workspace_size) \
	N(r, unshared_workspace_size) N(r, constants_size) N(r, isa) R(r, constants) R(r, device) A(r, resident_cores) \
	A(r, device_cores) TABLE_FIELDS(N, r, lanes) TABLE_FIELDS(N, r, forms) TABLE_FIELDS(N, r, launches) TABLE_FIELDS(N, r, tasks) TABLE_FIELDS(N, r, costs) \
	TABLE_FIELDS(N, r, kernels) TABLE_FIELDS(N, r, types) TABLE_FIELDS(N, r, tensors) TABLE_FIELDS(N, r, bindings) TABLE_FIELDS(N, r, steps) \
	TABLE_FIELDS(N, r, calls) TABLE_FIELDS(N, r, awaits) TABLE_FIELDS(N, r, arguments) TABLE_FIELDS(N, r, lists) \
	TABLE_FIELDS(N, r, operands) TABLE_FIELDS(N, r, loops) \
	TABLE_FIELDS(N, r, terms) TABLE_FIELDS(N, r, patterns) TABLE_FIELDS(N, r, symbols) TABLE_FIELDS(N, r, partitions) \
	TABLE_FIELDS(N, r, homes) TABLE_FIELDS(N, r, follows) TABLE_FIELDS(N, r, strings) \
	N(r, seal.file_size) A(r, seal.rest) A(r, seal.signature) A(r, seal.loaded)
#define FORM_FIELDS(N, A, R, r) \
	R(r, scope) R(r, network) N(r, step_count) N(r, follow_count) N(r, partition_count) N(r, home_count) \
	N(r, task_count) N(r, stream) A(r, lane_steps) N(r, scratch_size) A(r, resident_cores) A(r, device_cores) \
	N(r, flags) N(r, kind) N(r, reserved) N(r, preload) N(r, copies) N(r, func_align) A(r, lane_cores)
#define LAUNCH_FIELDS(N, A, R, r) \
	R(r, name) R(r, entry) R(r, serial_entry) R(r, form) N(r, first_step) N(r, first_follow) \
	N(r, first_partition) N(r, first_home)
#define TASK_FIELDS(N, A, R, r) \
	R(r, name) R(r, scope) N(r, kernel) N(r, stream) N(r, launch) N(r, task_launch) N(r, line) N(r, cost) \
	N(r, vector_cost)
#define COST_FIELDS(N, A, R, r) N(r, given) N(r, reserved) A(r, values)
#define KERNEL_FIELDS(N, A, R, r) \
	R(r, name) R(r, symbol) R(r, signature) R(r, code) N(r, isa) N(r, code_size) N(r, first_copy) \
	R(r, vector_code) N(r, vector_code_size) N(r, early) N(r, flags)
#define TYPE_FIELDS(N, A, R, r) \
	N(r, dtype) N(r, rank) N(r, reserved) R(r, range) N(r, bytes) N(r, padding) A(r, shape)
#define TENSOR_FIELDS(N, A, R, r) \
	R(r, name) R(r, type) N(r, role) N(r, space) N(r, reserved) N(r, index) N(r, offset) N(r, unshared_offset)
#define STEP_FIELDS(N, A, R, r) \
	N(r, first_call) N(r, call_count) N(r, lane) N(r, kind) N(r, flags) N(r, number) N(r, core_set) \
	N(r, partition) N(r, blocks) N(r, first_await) N(r, await_count) N(r, first_core) N(r, extent) N(r, tile)
#define CALL_FIELDS(N, A, R, r) N(r, task) N(r, kernel) N(r, first_argument) N(r, list) N(r, first_operand) \
	N(r, first_loop) N(r, argument_count) N(r, flags) N(r, loop_count) N(r, reserved) N(r, scale)
#define LOOP_FIELDS(N, A, R, r) N(r, extent) N(r, tile)
#define TERM_FIELDS(N, A, R, r) N(r, variable) A(r, reserved) N(r, factor) N(r, addend) N(r, divisor) N(r, modulus)
#define PATTERN_FIELDS(N, A, R, r) \
	N(r, width) N(r, stride) N(r, count) N(r, inner_bytes) N(r, halo) N(r, over_read) N(r, table_count) \
	N(r, table_stride) N(r, rank) A(r, shape)
#define SYMBOL_FIELDS(N, A, R, r) R(r, name) R(r, address)
#define AWAIT_FIELDS(N, A, R, r) N(r, step)
#define ARGUMENT_FIELDS(N, A, R, r) \
	N(r, kind) N(r, dtype) N(r, access) N(r, space) N(r, index) N(r, offset) N(r, size) N(r, element_bytes) \
	N(r, value) N(r, flags) N(r, field) N(r, tensor)
#define PARTITION_FIELDS(N, A, R, r) N(r, extent) N(r, unit) N(r, rows) N(r, blocks) N(r, first_core)
#define HOME_FIELDS(N, A, R, r) N(r, lane) N(r, stream)
#define NUMBER_FIELDS(N, A, R, r) N(r, number)
#define NAME_FIELDS(N, A, R, r) R(r, name)
#define BYTE_FIELDS(N, A, R, r) N(r, byte)

/* The records, each with its table in the header. The header is in none: the magic number stands for it. */
#define RECORDS(X) \
	X(sk_plan, HEADER_FIELDS, magic) \
	X(sk_plan_form, FORM_FIELDS, forms) \
	X(sk_plan_launch, LAUNCH_FIELDS, launches) \
	X(sk_plan_task, TASK_FIELDS, tasks) \
	X(sk_plan_cost, COST_FIELDS, costs) \
	X(sk_plan_kernel, KERNEL_FIELDS, kernels) \
	X(sk_plan_type, TYPE_FIELDS, types) \
	X(sk_plan_tensor, TENSOR_FIELDS, tensors) \
	X(sk_plan_step, STEP_FIELDS, steps) \
	X(sk_plan_call, CALL_FIELDS, calls) \
	X(sk_plan_await, AWAIT_FIELDS, awaits) \
	X(sk_plan_argument, ARGUMENT_FIELDS, lists) \
	X(number, NUMBER_FIELDS, operands) \
	X(sk_plan_loop, LOOP_FIELDS, loops) \
	X(sk_plan_term, TERM_FIELDS, terms) \
	X(sk_plan_pattern, PATTERN_FIELDS, patterns) \
	X(sk_plan_symbol, SYMBOL_FIELDS, symbols) \
	X(sk_plan_partition, PARTITION_FIELDS, partitions) \
	X(sk_plan_home, HOME_FIELDS, homes) \
	X(number, NUMBER_FIELDS, bindings) \
	X(number, NUMBER_FIELDS, follows) \
	X(name, NAME_FIELDS, lanes) \
	X(byte, BYTE_FIELDS, strings)
/* clang-format on */

/* Records of tables that have no struct in skplan.h. */
struct number {
	uint32_t number;
};
struct name {
	int32_t name;
};
struct byte {
	uint8_t byte;
};

/* A new field must be added to the lists above, or this does not compile: the sizes must add up to that of the record,
 * and so must the differences of squares from end to start, which would differ if another field were listed twice
 * instead. */
#define SIZE(r, name)	 +sizeof(((struct r *)0)->name)
#define START(r, name)	 (uint64_t) offsetof(struct r, name)
#define END(r, name)	 (START(r, name) SIZE(r, name))
#define SQUARES(r, name) +(END(r, name) * END(r, name) - START(r, name) * START(r, name))
#define COVERED(r, fields, table)                                                                                      \
	_Static_assert((0 fields(SIZE, SIZE, SIZE, r)) == sizeof(struct r), "fields of " #r " are missing");           \
	_Static_assert((0 fields(SQUARES, SQUARES, SQUARES, r)) == sizeof(struct r) * sizeof(struct r),                \
		       "of the fields of " #r " one stands twice, and one is missing");
RECORDS(COVERED)

/* A new table also stops the compilation: the sizes of all tables, including that of arguments, which has no records in
 * packages, must add up to the distance from the first one to the seal. */
#define TABLE_SIZE(r, fields, table) +sizeof(((struct sk_plan *)0)->table)
_Static_assert((0 RECORDS(TABLE_SIZE)) - sizeof(uint32_t) + sizeof(struct sk_plan_table) ==
		       offsetof(struct sk_plan, seal) - offsetof(struct sk_plan, lanes),
	       "a table is missing");

struct field {
	const char *name;
	uint16_t offset, size, width; /* width: of one number */
	bool is_reference;
};

struct record {
	const char *name;
	uint16_t table; /* in the header; 0: it is the header */
	uint16_t size;
	const struct field *fields;
	uint32_t field_count;
};

#define ROW(r, name, width, reference)                                                                                 \
	{#name, offsetof(struct r, name), sizeof(((struct r *)0)->name), width, reference},
#define NUMBER_ROW(r, name)    ROW(r, name, sizeof(((struct r *)0)->name), false)
#define ARRAY_ROW(r, name)     ROW(r, name, sizeof(((struct r *)0)->name[0]), false)
#define REFERENCE_ROW(r, name) ROW(r, name, sizeof(((struct r *)0)->name), true)
#define FIELDS(r, fields, table)                                                                                       \
	static const struct field r##_##table[] = {fields(NUMBER_ROW, ARRAY_ROW, REFERENCE_ROW, r)};
RECORDS(FIELDS)

#define RECORD(r, fields, table)                                                                                       \
	{#table, offsetof(struct sk_plan, table), sizeof(struct r), r##_##table,                                       \
	 sizeof(r##_##table) / sizeof(r##_##table[0])},
static const struct record records[] = {RECORDS(RECORD)};
enum { RECORD_KINDS = sizeof(records) / sizeof(records[0]) };

uint32_t mutant_field_count(void)
{
	uint32_t count = 0;

	for (int i = 0; i < RECORD_KINDS; i++)
		count += records[i].field_count;
	return count;
}

static const struct record *find_field(uint32_t number, const struct field **field)
{
	const struct record *record = records;

	for (; number >= record->field_count; record++)
		number -= record->field_count;
	*field = &record->fields[number];
	return record;
}

/* Fields that may have other numbers in a plan that is proved: nothing else in the package says the same. */
static const char *const free_fields[] = {
	/* Only the manifest, or the processor, says whether it is right. */
	"header.isa", "header.device", "header.device_cores", "tasks.line", "tasks.cost", "tasks.vector_cost",
	"costs.given", "costs.values", "kernels.name", "kernels.isa", "tensors.name", "types.range", "lanes.name",
	"strings.byte",
	/* Options of scopes. Flags and awaits may be others if the proof holds. */
	"forms.func_align", "forms.flags", "forms.preload", "forms.copies", "forms.lane_cores", "steps.flags",
	"awaits.step", "follows.number",
	/* The lack of common units of steps is taken as given (src/proof/unit-check.c). */
	"partitions.unit",
	/* sklink chooses the number of units of a tile, and the cores of steps that are not tied to others. */
	"steps.tile", "partitions.first_core", "steps.first_core",
	/* The tensors of a task, and their parts, are said once, for its launch and its own entry. */
	"operands.number", "lists.offset", "lists.value", "lists.flags", "calls.list", "calls.first_operand",
	/* The same holds for the terms of a number; other terms may give the same one. */
	"terms.variable", "terms.factor", "terms.addend", "terms.divisor", "terms.modulus",
	/* Thunks read there where temporaries are while tasks run by themselves: any bytes do that nothing else has. */
	"tensors.unshared_offset",
	/* The proof knows that equal rows are on the same core, and the memory planner does not use that: temporaries
	 * that it keeps apart may overlap there. Equal constants may share one place. */
	"tensors.offset",
	/* An output may be taken for one that keeps its contents. */
	"tensors.role",
	/* Only skrun --check-integrity and --trust check these. */
	"header.seal.file_size", "header.seal.rest", "header.seal.signature", "header.seal.loaded"};

static bool is_free(uint32_t field)
{
	char name[MUTANT_TEXT];

	mutant_field_name(field, name);
	for (size_t i = 0; i < sizeof(free_fields) / sizeof(free_fields[0]); i++)
		if (!strcmp(name, free_fields[i]))
			return true;
	return false;
}

const char *mutant_field_name(uint32_t number, char text[MUTANT_TEXT])
{
	const struct field *field;
	const struct record *record = find_field(number, &field);

	snprintf(text, MUTANT_TEXT, "%s.%s", record->table ? record->name : "header", field->name);
	return text;
}

/* ---- changes ---- */

enum change {
	ZERO,
	ONE,
	MORE,
	LESS,
	TWICE,
	HALF,
	MOST,
	LOW_BIT,
	HIGH_BIT,
	ANY_BIT,
	ANY,
	OTHER, /* another record's number */
	EXCHANGE, /* with another record */
	RECORDS, /* all fields of the record, with those of another one. Except kernels: only the manifest says which of
		  * the kernels with one signature a task calls, and so which hidden state it has */
	CHANGES,
};

static const char *const change_names[CHANGES] = {"0",
						  "1",
						  "more",
						  "less",
						  "twice",
						  "half",
						  "the most",
						  "the low bit",
						  "the high bit",
						  "a bit",
						  "anything",
						  "another one's",
						  "exchanged",
						  "with all of its record exchanged"};

uint32_t mutant_count(void)
{
	return mutant_field_count() * CHANGES;
}

static uint64_t read_number(const uint8_t *at, uint32_t width)
{
	uint64_t value = 0;

	memcpy(&value, at, width); /* little-endian, as plans are */
	return value;
}

static void write_number(uint8_t *at, uint32_t width, uint64_t value)
{
	memcpy(at, &value, width);
}

static uint64_t changed(uint64_t value, enum change change, uint32_t width, uint64_t *random)
{
	uint32_t bits = 8 * width;

	switch (change) {
	case ZERO:
		return 0;
	case ONE:
		return 1;
	case MORE:
		return value + 1;
	case LESS:
		return value - 1;
	case TWICE:
		return 2 * value;
	case HALF:
		return value / 2;
	case MOST:
		return UINT64_MAX;
	case LOW_BIT:
		return value ^ 1;
	case HIGH_BIT:
		return value ^ (uint64_t)1 << (bits - 1);
	case ANY_BIT:
		return value ^ (uint64_t)1 << network_draw(random, bits);
	default:
		return (uint64_t)network_draw(random, UINT32_MAX) << 32 | network_draw(random, UINT32_MAX);
	}
}

/* The first record of a kind and their number; 0 where the table is damaged. */
static uint8_t *find_records(struct sk_plan *plan, const struct record *record, uint32_t *count)
{
	struct sk_plan_table *table = (struct sk_plan_table *)((uint8_t *)plan + record->table);

	*count = record->table ? table->count : 1;
	return record->table ? (uint8_t *)table + table->offset : (uint8_t *)plan;
}

/* A reference to the same place as another one is another number. */
static void move(const struct field *field, uint8_t *to, const uint8_t *from, uint64_t value)
{
	if (field->is_reference && value)
		value += (uint64_t)(from - to);
	write_number(to, field->width, value);
}

/* Exchange two records; their references still lead to the same places. */
static void exchange_records(const struct record *record, uint8_t *one, uint8_t *other)
{
	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->fields[i];

		for (uint32_t at = field->offset; at < field->offset + field->size; at += field->width) {
			uint64_t first = read_number(one + at, field->width),
				 second = read_number(other + at, field->width);

			move(field, one + at, other + at, second);
			move(field, other + at, one + at, first);
		}
	}
}

/* False if nothing changed. */
static bool mutate(struct sk_plan *plan, uint64_t number, struct mutant_outcome *outcome)
{
	uint64_t random = number;
	const struct field *field;
	const struct record *record = find_field(outcome->field, &field);
	enum change change = (enum change)(number / mutant_field_count() % CHANGES);
	uint32_t count;
	uint8_t *first = find_records(plan, record, &count);

	if (!count)
		return false;

	uint64_t one = network_draw(&random, count), other = network_draw(&random, count);
	uint64_t inside = field->offset + network_draw(&random, field->size / field->width) * (uint64_t)field->width;
	uint8_t *at = first + one * record->size + inside, *there = first + other * record->size + inside;
	uint64_t value = read_number(at, field->width), theirs = read_number(there, field->width);

	outcome->whole = change == RECORDS && strcmp(record->name, "kernels") != 0;
	if (outcome->whole)
		exchange_records(record, first + one * record->size, first + other * record->size);
	else if (change == OTHER || change == EXCHANGE || change == RECORDS)
		move(field, at, there, theirs);
	else
		write_number(at, field->width, changed(value, change, field->width, &random));
	if (change == EXCHANGE || (change == RECORDS && !outcome->whole))
		move(field, there, at, value);

	char name[MUTANT_TEXT];

	snprintf(outcome->text, MUTANT_TEXT, "%.200s of record %llu of %u: %s, 0x%llx -> 0x%llx",
		 mutant_field_name(outcome->field, name), (unsigned long long)one, count, change_names[change],
		 (unsigned long long)value, (unsigned long long)read_number(at, field->width));
	return read_number(at, field->width) != value;
}

/* ---- packages as files ---- */

/* Return whether skdump --verify proves the package. */
static bool is_proved(const char *path)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_package_file file;
	struct sk_diag diag;
	struct sk_unknown_code unknown;
	bool sound = false;

	sk_diag_init(&diag, arena);
	if (sk_package_file_open(arena, &diag, path, &file)) {
		sound = file.has_account &&
			sk_verify(arena, &diag, &file.plan, path, file.account.orders, file.account.order_count,
				  NULL) &&
			sk_consistency_check(arena, &diag, &file.plan, path, &file.account) &&
			sk_kernel_symbols_check(arena, &diag, &file, &unknown) && !unknown.kernels &&
			!unknown.entries && sk_reemit_compare(&diag, &file) && sk_loadable_check(&diag, &file);
		sk_package_file_close(&file);
	}
	sk_arena_destroy(arena);
	return sound;
}

/* ---- runs ---- */

enum { HOSTS = 3, ORDERS = 20, STACK = 65536, WORKSPACE_BYTE = 0x5a };

struct result {
	enum skrt_status status;
	uint64_t digest; /* of the bound memory, after the run */
};

static enum skrt_status run_network(struct skrt_stream *stream, struct skrt_instance *instance,
				    struct skrt_module *module, bool serially)
{
	enum skrt_status status = serially ? SKRT_OK : skrt_run_network(stream, instance);

	for (uint32_t i = 0; serially && i < skrt_module_kernel_count(module) && !status; i++) {
		const struct skrt_kernel *kernel;
		struct skrt_kernel_info info = {.size = sizeof(info)};

		status = skrt_module_kernel(module, i, &kernel);
		if (status)
			break;
		skrt_kernel_describe(kernel, &info);
		status = info.has_serial_entry ? skrt_run_serial(instance, kernel) : skrt_run(stream, instance, kernel);
	}
	return status;
}

/* FNV-1a. */
static uint64_t add_digest(uint64_t digest, const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		digest = (digest ^ bytes[i]) * 0x100000001b3;
	return digest;
}

static struct result run_bound(struct skrt_device *device, struct skrt_module *module,
			       const struct mutant_package *package, bool serially)
{
	struct result result = {.digest = 0xcbf29ce484222325};
	uint32_t count = skrt_module_tensor_count(module);
	void *memory[NETWORK_TENSORS] = {NULL};
	struct skrt_instance *instance = NULL;
	struct skrt_stream *stream = NULL;
	struct skrt_tensor tensor = {.size = sizeof(tensor)};

	result.status = skrt_instance_create(module, &instance);
	for (uint32_t i = 0; i < count && !result.status; i++) {
		skrt_module_tensor(module, i, &tensor);
		memory[i] = aligned_alloc(64, (tensor.bytes + tensor.padding + 63) / 64 * 64);
		memcpy(memory[i], package->contents[i], tensor.bytes);
		result.status = skrt_instance_bind(instance, i, memory[i], tensor.bytes + tensor.padding);
	}
	if (!result.status)
		result.status = skrt_stream_create(device, &stream);
	if (!result.status)
		result.status = skrt_instance_fill_workspace(instance, WORKSPACE_BYTE);
	if (!result.status)
		result.status = run_network(stream, instance, module, serially);
	for (uint32_t i = 0; i < count; i++) {
		skrt_module_tensor(module, i, &tensor);
		if (memory[i])
			result.digest = add_digest(result.digest, memory[i], tensor.bytes);
		free(memory[i]);
	}
	if (stream)
		skrt_stream_destroy(stream);
	if (instance)
		skrt_instance_destroy(instance);
	return result;
}

static struct result run(struct skrt_device *device, const uint8_t *bytes, const struct mutant_package *package,
			 bool serially)
{
	const struct skrt_source source = {.size = sizeof(source), .memory = bytes, .bytes = package->size};
	struct result result = {0};
	struct skrt_module *module;

	result.status = skrt_module_load_from(device, &source, &module);
	if (result.status)
		return result;
	result = run_bound(device, module, package, serially);
	skrt_module_unload(module);
	return result;
}

/* The devices stay open as long as the process. */
static struct skrt_device *device(uint32_t number)
{
	static struct skrt_device *devices[HOSTS + ORDERS];
	static const uint32_t cores[HOSTS] = {1, 2, 7};
	struct skrt_device_options options = {
		.size = sizeof(options), .cores = cores[number % HOSTS], .stack_size = STACK};

	if (number >= HOSTS) {
		options.device = "a3";
		options.cores = number % 8 + 1;
		options.seed = number;
	}
	if (!devices[number] && skrt_device_open(&options, &devices[number])) {
		fprintf(stderr, "plan-mutants: %s\n", skrt_error());
		abort();
	}
	return devices[number];
}

/* Return false if a run differs from the serial one, or that one from the expected result. */
static bool runs_alike(const struct mutant_package *package, const uint8_t *bytes, const struct result *expected,
		       char text[MUTANT_TEXT])
{
	struct result serial = run(device(0), bytes, package, true);
	size_t used = strlen(text);

	if (serial.status == SKRT_OK && expected && serial.digest != expected->digest) {
		snprintf(text + used, MUTANT_TEXT - used, ": computes something else");
		return false;
	}
	/* A package is not at fault for instructions that the processor lacks. */
	if (serial.status != SKRT_OK && strstr(skrt_error(), "this processor has"))
		return true;
	for (uint32_t i = 0; i < HOSTS + ORDERS; i++) {
		struct result parallel = serial.status ? serial : run(device(i), bytes, package, false);

		if (parallel.status == SKRT_OK && parallel.digest == serial.digest)
			continue;
		snprintf(text + used, MUTANT_TEXT - used, ": %s %u: %.200s", i < HOSTS ? "host" : "a3", i,
			 parallel.status ? skrt_error() : "computes something else than serially");
		return false;
	}
	return true;
}

/* ---- signatures that mean the same ---- */

/* Devices have one lane, or one for cube kernels and one for all others. */
static bool same_lane(const char *one, const char *other, uint32_t lanes)
{
	return lanes == 1 || !strncmp(one, "cube", 4) == !strncmp(other, "cube", 4);
}

/* Skip the first attributes in network-manifest.c; their words are compared separately. */
static const char *skip_first_words(const char *text)
{
	static const char *const words[] = {"cube", "vector", "unfusible"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (!strncmp(text, words[i], length))
			text += length + (text[length] == ' ');
	}
	return *text == ';' ? text + 2 : text;
}

/* A kernel that only launches of its own call may say that nothing else may call it, or not. */
static bool may_be_fused(const struct sk_plan_view *view, uint32_t kernel, const char *signature)
{
	bool fused = false;

	for (uint32_t i = 0; i < view->task_count; i++)
		fused |= view->tasks[i].kernel == kernel &&
			 sk_plan_form(&view->launches[view->tasks[i].launch])->kind == SK_LAUNCH_SUPERKERNEL;
	return !fused || !strstr(signature, "unfusible");
}

/* Compare a property of the plan as it was, and as it is. */
static bool agree(const struct mutant_package *package, const uint8_t *bytes, uint64_t plan,
		  bool (*ask)(const struct sk_plan_view *before, const struct sk_plan_view *after))
{
	const struct sk_plan *header = (const struct sk_plan *)(bytes + plan);
	struct sk_plan_view before = {0}, after = {0};
	char error[MUTANT_TEXT];
	bool same = sk_plan_open(package->bytes + plan, header->size, &before, error, sizeof(error)) &&
		    sk_plan_open(header, header->size, &after, error, sizeof(error)) && ask(&before, &after);

	sk_plan_close(&before);
	sk_plan_close(&after);
	return same;
}

/* True if each kernel's signature asks the same of its calls as before. */
static bool signatures_agree(const struct sk_plan_view *before, const struct sk_plan_view *after)
{
	for (uint32_t i = 0; i < before->kernel_count; i++) {
		const char *one = sk_plan_string(&before->kernels[i].signature);
		const char *other = sk_plan_string(&after->kernels[i].signature);

		if (!same_lane(one, other, after->lane_count) || !may_be_fused(after, i, other) ||
		    strcmp(skip_first_words(one), skip_first_words(other)) != 0)
			return false;
	}
	return true;
}

/* True if each tensor has its element type still, or is or was bytes, which a view may take for elements of any type.
 */
static bool elements_agree(const struct sk_plan_view *before, const struct sk_plan_view *after)
{
	for (uint32_t i = 0; i < before->tensor_count; i++) {
		uint8_t one = sk_plan_type(&before->tensors[i])->dtype, other = sk_plan_type(&after->tensors[i])->dtype;

		if (one != other && one != SK_U8 && other != SK_U8)
			return false;
	}
	return true;
}

/* Return true if each launch has the same form, except for the fields that are free. */
static bool forms_agree(const struct sk_plan_view *before, const struct sk_plan_view *after)
{
	for (uint32_t i = 0; i < before->launch_count; i++) {
		struct sk_plan_form one = *sk_plan_form(&before->launches[i]),
				    other = *sk_plan_form(&after->launches[i]);

		if (strcmp(sk_plan_string(&sk_plan_form(&before->launches[i])->scope),
			   sk_plan_string(&sk_plan_form(&after->launches[i])->scope)) != 0)
			return false;
		one.scope = other.scope;
		one.func_align = other.func_align;
		one.flags = other.flags;
		one.preload = other.preload;
		one.copies = other.copies;
		memcpy(one.lane_cores, other.lane_cores, sizeof(one.lane_cores));
		if (one.network != 0 || other.network != 0 || memcmp(&one, &other, sizeof(one)) != 0)
			return false;
	}
	return true;
}

/* True if only hidden state has another number: which kernels share it, no other place says. */
static bool indices_agree(const struct sk_plan_view *before, const struct sk_plan_view *after)
{
	for (uint32_t i = 0; i < before->list_count; i++)
		if (before->lists[i].kind != SK_ARGUMENT_STATE && before->lists[i].index != after->lists[i].index)
			return false;
	return true;
}

/* True if each step divides its work as before. */
static bool partitions_agree(const struct sk_plan_view *before, const struct sk_plan_view *after)
{
	for (uint32_t i = 0; i < before->step_count; i++) {
		uint32_t from = before->steps[i].partition, to = after->steps[i].partition;

		if (from == to)
			continue;
		if (from >= before->partition_count || to >= after->partition_count)
			return false;

		const struct sk_plan_partition *one = &before->partitions[from], *other = &after->partitions[to];

		if (one->extent != other->extent || one->unit != other->unit || one->rows != other->rows ||
		    one->blocks != other->blocks)
			return false;
	}
	return true;
}

/* ---- a mutant ---- */

/* Return true if the package says the field's value nowhere else, or if the new value means the same. */
static bool may_be_proved(const struct mutant_package *package, const uint8_t *bytes, uint64_t plan, uint32_t field)
{
	const struct sk_plan *header = (const void *)(bytes + plan);
	char name[MUTANT_TEXT];

	mutant_field_name(field, name);
	return is_free(field) ||
	       (!strcmp(name, "kernels.signature") && agree(package, bytes, plan, signatures_agree)) ||
	       (!strcmp(name, "types.dtype") && agree(package, bytes, plan, elements_agree)) ||
	       (!strcmp(name, "tensors.type") && agree(package, bytes, plan, elements_agree)) ||
	       (!strcmp(name, "launches.form") && agree(package, bytes, plan, forms_agree)) ||
	       (!strcmp(name, "steps.partition") && agree(package, bytes, plan, partitions_agree)) ||
	       (!strcmp(name, "lists.index") && agree(package, bytes, plan, indices_agree)) ||
	       /* There may be another device of that name, which has so many cores. */
	       (!strcmp(name, "forms.device_cores") && strcmp(sk_plan_string(&header->device), "host"));
}

/* A task's arguments are said once, for its launch and for its own entry. Other tensors or numbers may be sound by
 * everything in the plan without being those that the kernel needs; the result is then undefined. Nor does the plan say
 * anywhere else how large a tensor is if kernels access a part of it. */
static bool is_another_call(const struct mutant_outcome *outcome)
{
	static const char *const names[] = {"operands.number", "lists.offset",	      "lists.value", "lists.flags",
					    "calls.list",      "calls.first_operand", "tensors.type"};
	char name[MUTANT_TEXT];
	bool other = false;

	mutant_field_name(outcome->field, name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		other |= !strcmp(name, names[i]);
	return other || (outcome->whole && (!strncmp(name, "lists.", 6) || !strncmp(name, "types.", 6)));
}

static bool try(const struct mutant_package *package, uint8_t *bytes, uint64_t plan, const struct result *expected,
		struct mutant_outcome *outcome)
{
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(bytes, package->size, path);
	bool proved = is_proved(path);

	close(descriptor);
	*(proved ? &outcome->accepted : &outcome->refused) += 1;
	if (proved && !outcome->whole && !may_be_proved(package, bytes, plan, outcome->field)) {
		strncat(outcome->text, ": is proved", MUTANT_TEXT - strlen(outcome->text) - 1);
		return false;
	}
	return !proved || is_another_call(outcome) || runs_alike(package, bytes, expected, outcome->text);
}

/* The offset of the plan; the unchanged package is sound. */
static uint64_t find_plan(const struct mutant_package *package)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_package_file file;
	struct sk_diag diag;
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(package->bytes, package->size, path);

	sk_diag_init(&diag, arena);
	if (!sk_package_file_open(arena, &diag, path, &file))
		abort();

	uint64_t offset = file.plan_offset;

	sk_package_file_close(&file);
	sk_arena_destroy(arena);
	close(descriptor);
	return offset;
}

bool mutant_try(const struct mutant_package *package, uint64_t number, struct mutant_outcome *outcome)
{
	uint8_t *bytes =
		aligned_alloc(SK_PLAN_ALIGN, (package->size + SK_PLAN_ALIGN - 1) / SK_PLAN_ALIGN * SK_PLAN_ALIGN);
	uint64_t plan = find_plan(package);
	char path[FUZZ_PATH_SIZE];
	bool good = true;

	*outcome = (struct mutant_outcome){.field = (uint32_t)(number % mutant_field_count())};
	memcpy(bytes, package->bytes, package->size);
	outcome->changed = mutate((struct sk_plan *)(bytes + plan), number, outcome);
	if (outcome->changed) {
		struct result expected = run(device(0), package->bytes, package, true);
		int descriptor = fuzz_file(bytes, package->size, path);

		good = try(package, bytes, plan, &expected, outcome);
		if (good && match_code(path, bytes, package->size)) {
			strncat(outcome->text, ", with code to match", MUTANT_TEXT - strlen(outcome->text) - 1);
			good = try(package, bytes, plan, NULL, outcome);
		}
		close(descriptor);
	}
	free(bytes);
	return good;
}
