/* Writes a plan as assembly, field by field in the order of format/skplan.h, and calls $KERNEL_CC. */
#include "tests/lib/handmade.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/skabi.h"
#include "format/skplan.h"

/* Strings are collected while the tables are written, and come after them. */
struct writer {
	FILE *file;
	const char *strings[1024];
	unsigned string_count;
};

static void reference(struct writer *writer, const char *string)
{
	if (!string) {
		fprintf(writer->file, "\t.long 0\n");
		return;
	}
	ck_assert_uint_lt(writer->string_count, 1024);
	fprintf(writer->file, "\t.long .Ls%u - .\n", writer->string_count);
	writer->strings[writer->string_count++] = string;
}

static void table(struct writer *writer, const char *label, uint32_t count)
{
	if (count)
		fprintf(writer->file, "\t.long .L%s - ., %u\n", label, count);
	else
		fprintf(writer->file, "\t.long 0, 0\n");
}

/* The launch that runs a task: the first (not a task entry), or the task's own. */
static uint32_t launch_of(const struct handmade_package *package, const char *task, int own)
{
	for (uint32_t i = 0; package->launches[i].name; i++)
		for (uint32_t j = 0; j < package->launches[i].step_count; j++)
			if ((package->launches[i].kind == SK_LAUNCH_TASK) == own &&
			    !strcmp(package->launches[i].steps[j].task, task))
				return i;
	return SK_NO_INDEX;
}

/* The number of a task: the tasks are the steps of the network's launches, in order. */
static uint32_t task_number(const struct handmade_package *package, const char *task)
{
	uint32_t number = 0;

	for (uint32_t i = 0; package->launches[i].name; i++)
		for (uint32_t j = 0; j < package->launches[i].step_count; j++, number++)
			if (!strcmp(package->launches[i].steps[j].task, task))
				return number;
	ck_abort_msg("no task %s", task);
}

/* A launch that has no partitions gets one of which every core has a part. */
static const struct sk_plan_partition whole = {SK_MAX_RESIDENT, 1};

static uint32_t partition_count(const struct handmade_launch *launch)
{
	return launch->partition_count ? launch->partition_count : 1;
}

static const struct sk_plan_partition *partition_of(const struct handmade_launch *launch, uint32_t index)
{
	if (!launch->partition_count)
		return &whole;
	return &launch->partitions[index < HANDMADE_MAX ? index : HANDMADE_MAX - 1];
}

/* Each launch has its own, in their order. */
static void write_forms(struct writer *writer, const struct handmade_package *package)
{
	fprintf(writer->file, ".Lforms:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++) {
		uint32_t lane_steps[SK_MAX_LANES] = {0};

		for (uint32_t i = 0; i < launch->step_count; i++)
			lane_steps[launch->steps[i].lane]++;
		fprintf(writer->file,
			"\t.long 0, 0, %u, %u, %u, %u, %u, 0, %u, %u\n\t.quad %" PRIu64
			"\n\t.long %u, 0, 0, 0\n\t.short 0\n\t.byte %u, 0, 0, 0\n\t.short 0\n\t.long %u, %u\n",
			launch->step_count, launch->follows, partition_count(launch), launch->home_count,
			launch->step_count, lane_steps[0], lane_steps[1], launch->scratch_size, launch->resident_cores,
			launch->kind, launch->lane_cores[0], launch->lane_cores[1]);
	}
}

static void write_launches(struct writer *writer, const struct handmade_package *package)
{
	uint32_t number = 0, steps = 0, partitions = 0, homes = 0, follows = 0;

	fprintf(writer->file, ".Llaunches:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++, number++) {
		reference(writer, launch->name);
		fprintf(writer->file, "\t.long %s - .\n", launch->name);
		if (launch->serial)
			fprintf(writer->file, "\t.long %s_serial - .\n", launch->name);
		else
			fprintf(writer->file, "\t.long 0\n");
		fprintf(writer->file, "\t.long .Lforms + %zu - ., %u, %u, %u, %u\n",
			number * sizeof(struct sk_plan_form), steps, follows, partitions, homes);
		steps += launch->step_count;
		partitions += partition_count(launch);
		homes += launch->home_count;
		follows += launch->follows ? 1 : 0;
	}
}

static uint32_t write_tasks(struct writer *writer, const struct handmade_package *package)
{
	uint32_t count = 0;

	fprintf(writer->file, ".Ltasks:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++) {
		if (launch->kind == SK_LAUNCH_TASK)
			continue;
		for (uint32_t i = 0; i < launch->step_count; i++, count++) {
			const char *task = launch->steps[i].task;

			reference(writer, task);
			reference(writer, NULL);
			fprintf(writer->file, "\t.long 0, 0, %u, %u, 1, -1, -1\n", launch_of(package, task, 0),
				launch_of(package, task, 1));
		}
	}
	return count;
}

static const struct handmade_call no_call = {0};

static const struct handmade_call *call_of(const struct handmade_step *step)
{
	return step->call ? step->call : &no_call;
}

/* Records of the calls so far. */
struct records {
	uint32_t arguments, loops, terms, patterns;
};

static void count_call(struct records *records, const struct handmade_step *step)
{
	const struct handmade_call *call = call_of(step);

	records->arguments += call->argument_count + (step->state ? 1 : 0);
	records->loops += call->loop_count;
	records->terms += call->term_count;
	records->patterns += call->pattern_count;
}

/* One call of a step each. */
static void write_calls(struct writer *writer, const struct handmade_package *package)
{
	struct records records = {0};

	fprintf(writer->file, ".Lcalls:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++)
		for (uint32_t i = 0; i < launch->step_count; i++) {
			const struct handmade_step *step = &launch->steps[i];
			const struct handmade_call *call = call_of(step);

			fprintf(writer->file,
				"\t.long %u, 0, %u, 0, 0, %u\n\t.short %u\n\t.byte %u, %u\n\t.long 0\n\t.quad 1\n",
				task_number(package, step->task), records.arguments, records.loops,
				call->argument_count + (step->state ? 1 : 0),
				call->returns_nothing ? 0 : SK_CALL_STATUS, call->loop_count);
			count_call(&records, step);
		}
}

static void write_steps(struct writer *writer, const struct handmade_package *package)
{
	uint32_t partitions = 0, calls = 0;

	fprintf(writer->file, ".Lsteps:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++) {
		uint32_t numbers[SK_MAX_LANES] = {0};

		for (uint32_t i = 0; i < launch->step_count; i++) {
			const struct handmade_step *step = &launch->steps[i];

			fprintf(writer->file, "\t.long %u, 1\n\t.byte %u, %u\n\t.short %u\n\t.long %u, %u, %u, 0\n",
				calls++, step->lane, SK_STEP_SPLIT, SK_STEP_PUBLISH | step->flags,
				++numbers[step->lane], SK_ALL_CORES, partitions);
			fprintf(writer->file, "\t.long 0, 0, 0\n\t.quad %" PRIu64 ", 0\n",
				partition_of(launch, 0)->extent);
		}
		partitions += partition_count(launch);
	}
}

/* A record as it is in memory. */
static void write_record(struct writer *writer, const void *record, size_t size)
{
	const uint8_t *bytes = record;

	for (size_t i = 0; i < size; i++)
		fprintf(writer->file, "%s%u", i ? ", " : "\t.byte ", bytes[i]);
	fprintf(writer->file, "\n");
}

/* The hidden states of the package are one. */
static void write_call_arguments(struct writer *writer, const struct handmade_step *step, const struct records *before)
{
	const struct handmade_call *call = call_of(step);
	struct sk_plan_argument state = {
		.kind = SK_ARGUMENT_STATE,
		.access = SK_ACCESS_READ | SK_ACCESS_WRITE,
		.space = SK_SPACE_STATE,
		.flags = step->state == HANDMADE_LIBRARY_STATE ? SK_ARGUMENT_OF_LIBRARY : 0,
	};

	for (uint32_t i = 0; i < call->argument_count; i++) {
		struct sk_plan_argument argument = call->arguments[i];

		if (argument.kind == SK_ARGUMENT_EXPRESSION)
			argument.index += before->terms;
		if (argument.kind == SK_ARGUMENT_POINTER && argument.value)
			argument.value += before->patterns;
		write_record(writer, &argument, sizeof(argument));
	}
	if (step->state)
		write_record(writer, &state, sizeof(state));
}

static void write_arguments(struct writer *writer, const struct handmade_package *package)
{
	struct records records = {0};

	fprintf(writer->file, "\t.balign 8\n.Larguments:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++)
		for (uint32_t i = 0; i < launch->step_count; i++) {
			write_call_arguments(writer, &launch->steps[i], &records);
			count_call(&records, &launch->steps[i]);
		}
}

#define WRITE_TABLE(writer, package, label, list, count)                                                               \
	do {                                                                                                           \
		fprintf((writer)->file, ".L" label ":\n");                                                             \
		for (const struct handmade_launch *launch = (package)->launches; launch->name; launch++)               \
			for (uint32_t i = 0; i < launch->step_count; i++)                                              \
				for (uint32_t k = 0; k < call_of(&launch->steps[i])->count; k++)                       \
					write_record(writer, &call_of(&launch->steps[i])->list[k],                     \
						     sizeof(call_of(&launch->steps[i])->list[k]));                     \
	} while (0)

static void write_small_tables(struct writer *writer, const struct handmade_package *package)
{
	fprintf(writer->file, "\t.balign 8\n.Lpartitions:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++)
		for (uint32_t i = 0; i < partition_count(launch); i++)
			fprintf(writer->file, "\t.quad %" PRIu64 ", %" PRIu64 ", 0, 0, %" PRIu64 "\n",
				partition_of(launch, i)->extent, partition_of(launch, i)->unit,
				partition_of(launch, i)->first_core);
	fprintf(writer->file, ".Lhomes:\n");
	for (const struct handmade_launch *launch = package->launches; launch->name; launch++)
		for (uint32_t i = 0; i < launch->home_count; i++)
			fprintf(writer->file, "\t.long %u, %u\n", launch->homes[i].lane, launch->homes[i].stream);
	fprintf(writer->file, ".Lfollows:\n");
	for (uint32_t i = 0; package->launches[i].name; i++)
		if (package->launches[i].follows)
			fprintf(writer->file, "\t.long %u\n", i - 1);
	fprintf(writer->file, ".Llanes:\n");
	for (uint32_t i = 0; i < package->lane_count; i++)
		reference(writer, i ? "vector" : "cube");
	fprintf(writer->file, "\t.balign 8\n.Lkernels:\n");
	reference(writer, "kernel");
	reference(writer, "kernel_symbol");
	reference(writer, "block");
	fprintf(writer->file, "\t.long kernel - .\n\t.quad 0\n\t.long 0, 0, 0, 0, 0, 0\n");
}

static uint32_t write_tensors(struct writer *writer, const struct handmade_package *package)
{
	uint32_t count = 0;

	fprintf(writer->file, "\t.balign 8\n.Ltypes:\n");
	for (const struct handmade_tensor *tensor = package->tensors; tensor->name; tensor++)
		fprintf(writer->file,
			"\t.byte %u, 1\n\t.short 0\n\t.long 0\n\t.quad %" PRIu64 ", 0, %" PRIu64
			", 0, 0, 0, 0, 0, 0, 0\n",
			tensor->dtype, tensor->extent * sk_dtype_size((enum sk_dtype)tensor->dtype), tensor->extent);
	fprintf(writer->file, ".Ltensors:\n");
	for (const struct handmade_tensor *tensor = package->tensors; tensor->name; tensor++, count++) {
		reference(writer, tensor->name);
		fprintf(writer->file,
			"\t.long .Ltypes + %zu - .\n\t.byte %u, %u\n\t.short 0\n\t.long %u\n\t.quad 0, 0\n",
			count * sizeof(struct sk_plan_type), tensor->role, SK_SPACE_BINDING, count);
	}
	fprintf(writer->file, ".Lbindings:\n");
	for (uint32_t i = 0; i < count; i++)
		fprintf(writer->file, "\t.long %u\n", i);
	return count;
}

static void write_plan(FILE *file, const struct handmade_package *package)
{
	struct writer writer = {.file = file};
	uint32_t launches = 0, tasks = 0, steps = 0, partitions = 0, homes = 0, tensors = 0, resident = 0;
	uint32_t follows = 0;
	struct records records = {0};

	for (const struct handmade_launch *launch = package->launches; launch->name; launch++) {
		launches++;
		follows += launch->follows ? 1 : 0;
		steps += launch->step_count;
		tasks += launch->kind == SK_LAUNCH_TASK ? 0 : launch->step_count;
		partitions += partition_count(launch);
		homes += launch->home_count;
		for (uint32_t i = 0; i < launch->step_count; i++)
			count_call(&records, &launch->steps[i]);
		resident = launch->resident_cores > resident ? launch->resident_cores : resident;
	}
	while (package->tensors[tensors].name)
		tensors++;
	fprintf(file,
		"\t.section .sk.plan,\"a\",@progbits\n\t.balign %u\n\t.globl sk_plan\n\t.type sk_plan, @object\n"
		"sk_plan:\n\t.long 0x%x, %u, %u, 62\n\t.quad .Lend - sk_plan\n\t.quad %" PRIu64 ", %" PRIu64
		", 0, 0\n\t.long 0\n",
		SK_PLAN_ALIGN, SK_PLAN_MAGIC, SK_PLAN_VERSION, SK_ABI_VERSION, package->workspace_size,
		package->unshared_workspace_size);
	reference(&writer, "hand");
	fprintf(file, "\t.long %u, 0, 0, 0\n", resident);
	table(&writer, "lanes", package->lane_count);
	table(&writer, "forms", launches);
	table(&writer, "launches", launches);
	table(&writer, "tasks", tasks);
	table(&writer, "costs", 0);
	table(&writer, "kernels", 1);
	table(&writer, "types", tensors);
	table(&writer, "tensors", tensors);
	table(&writer, "bindings", tensors);
	table(&writer, "steps", steps);
	table(&writer, "calls", steps);
	table(&writer, "awaits", 0);
	table(&writer, "arguments", records.arguments);
	table(&writer, "lists", 0);
	table(&writer, "operands", 0);
	table(&writer, "loops", records.loops);
	table(&writer, "terms", records.terms);
	table(&writer, "patterns", records.patterns);
	table(&writer, "symbols", 0);
	table(&writer, "partitions", partitions);
	table(&writer, "homes", homes);
	table(&writer, "follows", follows);
	fprintf(file, "\t.long .Lstrings - ., .Lend - .Lstrings\n\t.zero %zu\n\t.balign 8\n",
		sizeof(struct sk_plan_seal));
	write_forms(&writer, package);
	write_launches(&writer, package);
	write_tasks(&writer, package);
	fprintf(file, "\t.balign 8\n");
	write_steps(&writer, package);
	write_calls(&writer, package);
	write_arguments(&writer, package);
	WRITE_TABLE(&writer, package, "loops", loops, loop_count);
	WRITE_TABLE(&writer, package, "terms", terms, term_count);
	WRITE_TABLE(&writer, package, "patterns", patterns, pattern_count);
	write_small_tables(&writer, package);
	write_tensors(&writer, package);
	fprintf(file, ".Lstrings:\n");
	for (unsigned i = 0; i < writer.string_count; i++)
		fprintf(file, ".Ls%u:\t.asciz \"%s\"\n", i, writer.strings[i]);
	fprintf(file, ".Lend:\n\t.size sk_plan, . - sk_plan\n");
}

static const char *environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

void handmade_compile(const char *path, const char *source, const struct handmade_package *package, const char *flags)
{
	char c_file[256], s_file[256], command[2048];

	snprintf(c_file, sizeof(c_file), "%s.c", path);
	snprintf(s_file, sizeof(s_file), "%s.s", path);
	FILE *file = fopen(c_file, "w");
	ck_assert_ptr_nonnull(file);
	fputs(source, file);
	ck_assert_int_eq(fclose(file), 0);
	file = fopen(s_file, "w");
	ck_assert_ptr_nonnull(file);
	if (package)
		write_plan(file, package);
	fprintf(file, "\t.section .note.GNU-stack,\"\",@progbits\n");
	ck_assert_int_eq(fclose(file), 0);
	int length = snprintf(command, sizeof(command),
			      "%s -O2 -fPIC -fno-plt -fno-stack-protector -fvisibility=hidden -I%s -shared -nostdlib "
			      "-Wl,-z,now -Wl,-z,separate-code %s -o %s %s %s",
			      environment("KERNEL_CC", "cc"), TOP_SRCDIR, flags, path, c_file, s_file);
	ck_assert_int_lt(length, (int)sizeof(command));
	ck_assert_msg(system(command) == 0, "%s", command);
	unlink(c_file);
	unlink(s_file);
}

void handmade_make(const char *path, const struct handmade_package *package)
{
	handmade_compile(path, package->source, package, "");
}
