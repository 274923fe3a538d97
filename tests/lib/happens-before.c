/* See happens-before.h. Nodes are numbered step by step; all edges lead to later steps, so one pass over them closes
 * the relation. */
#include "tests/lib/happens-before.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"

enum { MAX_STEPS = 32, MAX_CORES = 16, MAX_NODES = MAX_STEPS * MAX_CORES, MAX_ARGUMENTS = 8 };

/* One core's accesses to one argument: space and bytes; if there are several rows, those of the first one. */
struct range {
	uint64_t space, low, high;
	uint64_t stride, rows; /* further rows; 0: there are none */
	bool write;
};

struct relation {
	bool runs[MAX_STEPS][MAX_CORES];
	uint64_t before[MAX_NODES][MAX_NODES / 64]; /* by node: a bit for each node that has ended before it starts */
	struct range ranges[MAX_STEPS][MAX_CORES][MAX_ARGUMENTS];
};

static uint32_t node(uint32_t step, uint32_t core)
{
	return step * MAX_CORES + core;
}

static const struct sk_task *task_of(const struct oracle *oracle, uint32_t step)
{
	return &oracle->model->tasks.items[oracle->launch->steps[step].task];
}

static const struct sk_signature *signature_of(const struct oracle *oracle, uint32_t step)
{
	return oracle->model->kernels.items[task_of(oracle, step)->bound.kernel].signature;
}

static void add_edge(struct relation *relation, uint32_t from, uint32_t to)
{
	relation->before[to][from / 64] |= UINT64_C(1) << from % 64;
	for (uint32_t word = 0; word < MAX_NODES / 64; word++)
		relation->before[to][word] |= relation->before[from][word];
}

static bool is_before(const struct relation *relation, uint32_t earlier, uint32_t later)
{
	return relation->before[later][earlier / 64] >> earlier % 64 & 1;
}

/* Return the number of a core's part, counted from the core where the step begins. */
static uint32_t part_of(const struct oracle *oracle, uint32_t s, uint32_t core)
{
	uint32_t cores = oracle->cores[task_of(oracle, s)->bound.lane];

	for (uint64_t i = oracle->launch->steps[s].run->first_core % cores; i > 0; i--)
		core = core ? core - 1 : cores - 1;
	return core;
}

static bool has_block(const struct oracle *oracle, uint32_t s, uint32_t core)
{
	uint64_t cores = oracle->cores[task_of(oracle, s)->bound.lane], blocks = task_of(oracle, s)->bound.block_count;
	uint64_t part = part_of(oracle, s, core);

	if (signature_of(oracle, s)->spread == SK_STEP_BLOCKS)
		return part < blocks;
	return part * blocks / cores < (part + 1) * blocks / cores;
}

static void relate(const struct oracle *oracle, struct relation *relation)
{
	uint32_t last[SK_MAX_LANES][MAX_CORES];

	memset(last, 0xff, sizeof(last));
	for (uint32_t s = 0; s < oracle->launch->step_count; s++) {
		const struct sk_step *step = &oracle->launch->steps[s];
		uint32_t cores = oracle->cores[task_of(oracle, s)->bound.lane];

		for (uint32_t c = 0; c < cores; c++) {
			if (signature_of(oracle, s)->spread == SK_STEP_PLAIN)
				relation->runs[s][c] = task_of(oracle, s)->said.stream % cores == c;
			else
				relation->runs[s][c] = true;
			if (!relation->runs[s][c])
				continue;
			uint32_t *previous = &last[task_of(oracle, s)->bound.lane][c];

			if (*previous != SK_NONE)
				add_edge(relation, *previous, node(s, c));
			*previous = node(s, c);
			for (uint32_t i = 0; i < step->await_count; i++) {
				if (s == oracle->skip_step && i == oracle->skip_await)
					continue;
				if (step->flags & SK_STEP_OWN_AWAITS && !has_block(oracle, s, c))
					continue;
				for (uint32_t other = 0; other < MAX_CORES; other++)
					if (relation->runs[step->awaits[i]][other])
						add_edge(relation, node(step->awaits[i], other), node(s, c));
			}
		}
	}
}

static struct range range_of(const struct oracle *oracle, uint32_t s, uint32_t core, const struct sk_argument *argument)
{
	const struct sk_step *step = &oracle->launch->steps[s];
	const struct sk_task *task = task_of(oracle, s);
	enum sk_step_kind kind = signature_of(oracle, s)->spread;
	uint64_t cores = oracle->cores[task->bound.lane], low = 0, high = 1;
	bool idle;

	core = part_of(oracle, s, core); /* from here on the number of the core's part */
	idle = kind == SK_STEP_BLOCKS && core >= task->bound.block_count;
	if (kind == SK_STEP_SPLIT) {
		const struct sk_plan_partition *partition = &oracle->launch->partitions[step->partition];
		uint64_t unit = partition->unit, units = (task->bound.extent + unit - 1) / unit;

		low = core * units / cores * unit;
		high = (core + 1) * units / cores * unit;
		low = low < task->bound.extent ? low : task->bound.extent;
		high = high < task->bound.extent ? high : task->bound.extent;
		if (partition->blocks) {
			unit = task->bound.extent / partition->rows;
			low = core * partition->blocks / cores * partition->rows / partition->blocks * unit;
			high = (core + 1) * partition->blocks / cores * partition->rows / partition->blocks * unit;
		}
		idle = low == high;
	} else if (kind == SK_STEP_BLOCKS_RANGE) {
		uint64_t first = core * (uint64_t)task->bound.block_count / cores;
		uint64_t end = (core + 1) * (uint64_t)task->bound.block_count / cores;

		low = first * task->bound.extent / task->bound.block_count;
		high = end * task->bound.extent / task->bound.block_count;
		idle = first == end;
	}
	if (idle || !sk_argument_access(argument))
		return (struct range){0};

	struct range range = {.write = sk_argument_access(argument) & SK_ACCESS_WRITE};

	if (argument->kind == SK_ARGUMENT_STATE) {
		range.space = UINT64_MAX - argument->value;
		range.high = 1;
		return range;
	}
	range.space = argument->tensor + (uint64_t)1;
	range.low = argument->offset;
	if (oracle->memory && oracle->model->tensors.items[argument->tensor].role == SK_ROLE_TEMPORARY) {
		range.space = 0;
		range.low += oracle->memory->offset[argument->tensor];
	}
	range.high = range.low + argument->size;
	if (argument->element_bytes) {
		range.high = range.low + high * argument->element_bytes;
		range.low += low * argument->element_bytes;
	}
	if (argument->pattern && argument->pattern->count > 1) {
		uint64_t rows = argument->element_bytes ? argument->pattern->count / task->bound.extent * (high - low)
							: argument->pattern->count;

		range.high = range.low + argument->pattern->width;
		range.stride = argument->pattern->stride;
		range.rows = rows - 1;
	}
	return range;
}

static void find_ranges(const struct oracle *oracle, struct relation *relation)
{
	for (uint32_t s = 0; s < oracle->launch->step_count; s++) {
		const struct sk_task *task = task_of(oracle, s);

		if (task->bound.argument_count > MAX_ARGUMENTS)
			abort();
		for (uint32_t core = 0; core < oracle->cores[task->bound.lane]; core++)
			for (uint32_t a = 0; a < task->bound.argument_count && relation->runs[s][core]; a++)
				relation->ranges[s][core][a] = range_of(oracle, s, core, &task->bound.arguments[a]);
	}
}

/* Row by row. */
static bool meet(const struct range *one, const struct range *other)
{
	for (uint64_t i = 0; i <= one->rows; i++)
		for (uint64_t k = 0; k <= other->rows; k++)
			if (one->low + i * one->stride < other->high + k * other->stride &&
			    other->low + k * other->stride < one->high + i * one->stride)
				return true;
	return false;
}

static bool conflict(const struct range *first, uint32_t first_count, const struct range *second, uint32_t second_count)
{
	for (uint32_t i = 0; i < first_count; i++)
		for (uint32_t k = 0; k < second_count; k++)
			if ((first[i].write || second[k].write) && first[i].space == second[k].space &&
			    meet(&first[i], &second[k]))
				return true;
	return false;
}

/* True if `after` or an event orders the two tasks as wholes. */
static bool is_ordered_by_user(const struct sk_model *model, uint32_t earlier, uint32_t later)
{
	const struct sk_task *tasks = model->tasks.items;

	for (size_t i = 0; i < tasks[later].said.after.count; i++)
		if (tasks[later].said.after.items[i] == earlier)
			return true;
	for (uint32_t recording = earlier; recording < later; recording++) {
		if (tasks[recording].said.stream != tasks[earlier].said.stream)
			continue;
		for (uint32_t waiting = recording + 1; waiting <= later; waiting++) {
			if (tasks[waiting].said.stream != tasks[later].said.stream)
				continue;
			for (size_t i = 0; i < tasks[recording].said.record.count; i++)
				for (size_t k = 0; k < tasks[waiting].said.wait.count; k++)
					if (tasks[recording].said.record.items[i] == tasks[waiting].said.wait.items[k])
						return true;
		}
	}
	return false;
}

/* Check one pair of steps on all their cores. */
static bool is_pair_ordered(const struct oracle *oracle, const struct relation *relation, uint32_t a, uint32_t b,
			    char *text, size_t size)
{
	const struct sk_task *first = task_of(oracle, a), *second = task_of(oracle, b);
	uint32_t earlier = oracle->launch->steps[a].task, later = oracle->launch->steps[b].task;
	bool whole = is_ordered_by_user(oracle->model, earlier, later);

	for (uint32_t i = 0; i < oracle->cores[first->bound.lane]; i++) {
		for (uint32_t k = 0; k < oracle->cores[second->bound.lane]; k++) {
			if (!relation->runs[a][i] || !relation->runs[b][k] ||
			    is_before(relation, node(a, i), node(b, k)))
				continue;
			if (!whole && !conflict(relation->ranges[a][i], first->bound.argument_count,
						relation->ranges[b][k], second->bound.argument_count))
				continue;
			snprintf(text, size, "'%s' on core %u is not before '%s' on core %u (%u and %u cores)",
				 first->name, i, second->name, k, oracle->cores[0], oracle->cores[1]);
			return false;
		}
	}
	return true;
}

bool oracle_is_ordered(const struct oracle *oracle, char *text, size_t size)
{
	struct relation *relation = calloc(1, sizeof(*relation));
	bool good = true;

	if (!relation || oracle->launch->step_count > MAX_STEPS || oracle->cores[0] > MAX_CORES ||
	    oracle->cores[1] > MAX_CORES)
		abort();
	relate(oracle, relation);
	find_ranges(oracle, relation);
	for (uint32_t a = 0; good && a < oracle->launch->step_count; a++)
		for (uint32_t b = a + 1; good && b < oracle->launch->step_count; b++)
			good = is_pair_ordered(oracle, relation, a, b, text, size);
	free(relation);
	return good;
}
