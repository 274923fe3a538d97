/* compare-sizes DYNAMIC.plan DYNAMIC.dims STATIC.plan NAME=SIZE…: the plan of the dynamic package, at these sizes, has
 * the numbers of the static one: of tensors, extents, costs, and all arguments of its network's calls. The two have the
 * same tasks in the same order. Prints the first difference. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

static void *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	void *bytes = aligned_alloc(SK_PLAN_ALIGN, 1 << 20);

	*size = file && bytes ? fread(bytes, 1, 1 << 20, file) : 0;
	if (!*size) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	fclose(file);
	return bytes;
}

static void open_plan(const char *path, struct sk_plan_view *plan)
{
	char error[256];
	size_t size;
	void *bytes = read_all(path, &size);

	if (sk_plan_open(bytes, size, plan, error, sizeof(error)) && sk_plan_check_all(plan, error, sizeof(error)))
		return;
	fprintf(stderr, "%s: %s\n", path, error);
	exit(2);
}

static void close_plan(struct sk_plan_view *plan)
{
	void *bytes = (void *)(uintptr_t)plan->plan;

	sk_plan_close(plan);
	free(bytes);
}

static void expect(const char *name, const char *field, uint64_t number, uint64_t wanted)
{
	if (number == wanted)
		return;
	printf("%s: %s is %" PRIu64 ", not %" PRIu64 "\n", name, field, number, wanted);
	exit(1);
}

static void compare_tensors(const struct sk_plan_view *plan, const struct sk_plan_view *wanted)
{
	expect("plan", "tensors", plan->tensor_count, wanted->tensor_count);
	for (uint32_t i = 0; i < plan->tensor_count; i++) {
		const struct sk_plan_type *type = sk_plan_type(&plan->tensors[i]);
		const struct sk_plan_type *other = sk_plan_type(&wanted->tensors[i]);
		const char *name = sk_plan_string(&plan->tensors[i].name);

		expect(name, "bytes", type->bytes, other->bytes);
		expect(name, "padding", type->padding, other->padding);
		for (uint32_t d = 0; d < SK_MAX_RANK; d++)
			expect(name, "extent", type->shape[d], other->shape[d]);
	}
}

/* A single row has no distance to the next one. */
static void compare_argument(const char *name, const struct sk_plan_view *plan, const struct sk_plan_argument *argument,
			     const struct sk_plan_view *wanted, const struct sk_plan_argument *other)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(plan, argument);
	const struct sk_plan_pattern *others = sk_plan_pattern(wanted, other);
	bool memory = argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
		      argument->kind == SK_ARGUMENT_RESULT;
	bool single = pattern && pattern->count == 1;

	expect(name, "kind", argument->kind, other->kind);
	if (argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_EXPRESSION)
		expect(name, "value", argument->value, other->value);
	if (argument->kind == SK_ARGUMENT_EXPRESSION)
		for (uint64_t i = 0; i < argument->size; i++)
			expect(name, "terms",
			       (uint64_t)memcmp(&plan->terms[argument->index + i], &wanted->terms[other->index + i],
						sizeof(*plan->terms)),
			       0);
	if (!memory)
		return;
	expect(name, "offset", argument->offset - plan->tensors[argument->tensor].offset,
	       other->offset - wanted->tensors[other->tensor].offset);
	expect(name, "size", argument->size, other->size);
	if (!single)
		expect(name, "bytes of an element", argument->element_bytes, other->element_bytes);
	if (!single && pattern && !others)
		expect(name, "rows without gaps", pattern->stride, pattern->width);
	else if (!single && pattern)
		expect(name, "rows", (uint64_t)memcmp(pattern, others, sizeof(*pattern)), 0);
}

static void compare_call(const struct sk_plan_view *plan, const struct sk_plan_call *call,
			 const struct sk_plan_view *wanted, const struct sk_plan_call *other)
{
	const char *name = sk_plan_string(&plan->tasks[call->task].name);
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);
	const struct sk_plan_argument *others = sk_plan_arguments(wanted, other);

	expect(name, "arguments", call->argument_count, other->argument_count);
	expect(name, "loops", call->loop_count, other->loop_count);
	for (uint32_t i = 0; i < call->loop_count; i++)
		expect(name, "loop", sk_plan_loops(plan, call)[i].extent, sk_plan_loops(wanted, other)[i].extent);
	for (uint32_t i = 0; i < call->argument_count; i++)
		compare_argument(name, plan, &arguments[i], wanted, &others[i]);
}

static void compare_cost(const char *name, const struct sk_plan_view *plan, uint32_t cost,
			 const struct sk_plan_view *wanted, uint32_t other)
{
	expect(name, "a cost", cost != SK_NO_INDEX, other != SK_NO_INDEX);
	if (cost == SK_NO_INDEX)
		return;
	expect(name, "values of the cost", plan->costs[cost].given, wanted->costs[other].given);
	for (int i = 0; i < SK_COST_COUNT; i++)
		expect(name, "a value of the cost", plan->costs[cost].values[i], wanted->costs[other].values[i]);
}

static void compare_costs(const struct sk_plan_view *plan, const struct sk_plan_view *wanted)
{
	for (uint32_t i = 0; i < plan->task_count; i++) {
		const struct sk_plan_task *task = &plan->tasks[i], *other = &wanted->tasks[i];
		const char *name = sk_plan_string(&task->name);

		compare_cost(name, plan, task->cost, wanted, other->cost);
		compare_cost(name, plan, task->vector_cost, wanted, other->vector_cost);
	}
}

static void compare_steps(const struct sk_plan_view *plan, const struct sk_plan_view *wanted)
{
	const struct sk_plan_form *form = sk_plan_form(&plan->launches[0]);

	expect("launch", "steps", form->step_count, sk_plan_form(&wanted->launches[0])->step_count);
	for (uint32_t i = 0; i < form->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[i], *other = &wanted->steps[i];
		const char *name = sk_plan_string(&plan->tasks[plan->calls[step->first_call].task].name);

		expect(name, "extent", step->extent, other->extent);
		if (step->partition != SK_NO_INDEX)
			expect(name, "division", plan->partitions[step->partition].extent,
			       wanted->partitions[other->partition].extent);
		compare_call(plan, &plan->calls[step->first_call], wanted, &wanted->calls[other->first_call]);
	}
}

static void set_size(const struct sk_dims_view *dims, const char *text, uint64_t *sizes)
{
	char name[64];
	size_t length = strcspn(text, "=");

	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	if (sk_dims_find(dims, "", name) != SK_NO_INDEX)
		sizes[sk_dims_find(dims, "", name)] = strtoull(text + length + 1, NULL, 10);
}

int main(int argc, char **argv)
{
	struct sk_plan_view plan, wanted, concrete;
	struct sk_dims_view dims;
	uint64_t sizes[SK_MAX_DIMENSIONS] = {0};
	char error[256];
	size_t size;

	if (argc < 4)
		return 2;
	open_plan(argv[1], &plan);
	open_plan(argv[3], &wanted);

	void *bytes = read_all(argv[2], &size);

	if (!sk_dims_open(bytes, size, &plan, &dims, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	for (int i = 4; i < argc; i++)
		set_size(&dims, argv[i], sizes);
	for (uint32_t i = 0; i < dims.dimension_count; i++)
		if (!sk_dims_takes(&dims.dimensions[i], sizes[i]))
			return 2;
	if (!sk_dims_concretise(&dims, &plan, sizes, &concrete))
		return 2;
	compare_tensors(&concrete, &wanted);
	compare_costs(&concrete, &wanted);
	compare_steps(&concrete, &wanted);
	sk_plan_close(&concrete);
	sk_dims_close(&dims);
	close_plan(&plan);
	close_plan(&wanted);
	free(bytes);
	return 0;
}
