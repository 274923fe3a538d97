/* The table of --stats; see outputs-parts.h. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "base/timing.h"
#include "linker/linker.h"

static void print_number(FILE *stream, const char *name, uint64_t number)
{
	fprintf(stream, "%-28s %16" PRIu64 "\n", name, number);
}

static void print_linker(const struct sk_linker *linker, FILE *stream)
{
	struct sk_linker_statistics counts;

	sk_linker_count(linker, &counts);
	print_number(stream, "inputs", counts.inputs);
	print_number(stream, "bytes of inputs", counts.input_size);
	print_number(stream, "objects", counts.objects);
	print_number(stream, "objects pulled", counts.pulled);
	print_number(stream, "symbols", counts.symbols);
	print_number(stream, "sections", counts.sections);
	print_number(stream, "sections kept", counts.kept);
	print_number(stream, "sections collected", counts.sections - counts.kept - counts.replaced - counts.folded);
	print_number(stream, "sections replaced", counts.replaced);
	print_number(stream, "sections folded", counts.folded);
	print_number(stream, "strings and records", counts.fragments);
	print_number(stream, "strings and records kept", counts.entries);
	print_number(stream, "relocations applied", counts.relocations);
	print_number(stream, "bytes of output", counts.output_size);
}

/* Task entries repeat each task as another launch with one step. */
static void print_plan(const struct sk_plan_view *plan, uint64_t dispatcher_size, FILE *stream)
{
	uint32_t entries = plan->launch_count - plan->network_launch_count;

	print_number(stream, "tasks", plan->task_count);
	print_number(stream, "launches", plan->network_launch_count);
	print_number(stream, "steps", plan->step_count - entries);
	print_number(stream, "awaits", plan->await_count);
	print_number(stream, "bytes of dispatchers", dispatcher_size);
	print_number(stream, "bytes of plan", plan->plan->size);
}

static void print_time(FILE *stream, unsigned depth, const char *name, uint64_t nanoseconds, bool beside)
{
	fprintf(stream, "%*s%-*s %12.3f ms%s\n", (int)(2 * depth), "", (int)(29 - 2 * depth), name,
		(double)nanoseconds / 1e6, beside ? " in another thread" : "");
}

/* Phases that occur many times, such as reading inputs, are in the trace only. */
static void print_phases(const struct sk_timing *timing, FILE *stream)
{
	uint64_t total = 0;

	for (size_t i = 0; i < timing->phases.count; i++) {
		const struct sk_phase *phase = &timing->phases.items[i];

		if (!phase->detail)
			print_time(stream, phase->depth, phase->name, phase->duration, phase->beside);
		if (!phase->depth && !phase->beside)
			total += phase->duration;
	}
	print_time(stream, 0, "total", total, false);
}

void sk_statistics_print(const struct sk_statistics *statistics, FILE *stream)
{
	struct rusage own, children; /* children: the processes that have computed constants */

	print_linker(statistics->linker, stream);
	print_plan(statistics->plan, statistics->dispatcher_size, stream);
	print_number(stream, "looks of fusion", statistics->fusion_steps);
	print_number(stream, "looks of memory", statistics->memory_steps);
	print_number(stream, "looks of the proof", statistics->proof_steps);
	print_number(stream, "processes for constants", statistics->children);
	print_phases(statistics->timing, stream);
	if (getrusage(RUSAGE_SELF, &own) == 0 && getrusage(RUSAGE_CHILDREN, &children) == 0)
		print_number(stream, "peak memory in KiB",
			     (uint64_t)(own.ru_maxrss > children.ru_maxrss ? own.ru_maxrss : children.ru_maxrss));
}
