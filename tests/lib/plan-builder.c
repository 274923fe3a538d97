/* The plan builder of plan.h: collects records in arrays, and lays them out one table after the other. */
#include "tests/lib/plan-builder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"

struct plan {
	struct sk_arena *arena;
	uint32_t lanes, lane, resident_cores[SK_MAX_LANES];
	bool streams_apart, lists;
	const char *signature; /* of the only kernel */
	const char *device; /* NULL: none */
	uint32_t device_cores[SK_MAX_LANES];
	uint64_t workspace, unshared, constants;
	SK_ARRAY(struct sk_plan_launch) launches;
	SK_ARRAY(struct sk_plan_form) forms; /* of each launch its own, so that tests can change it */
	SK_ARRAY(struct sk_plan_task) tasks;
	SK_ARRAY(struct sk_plan_cost) costs;
	SK_ARRAY(struct sk_plan_tensor) tensors;
	SK_ARRAY(struct sk_plan_type) types; /* of each tensor its own */
	SK_ARRAY(uint32_t) bindings;
	SK_ARRAY(struct sk_plan_step) steps;
	SK_ARRAY(struct sk_plan_call) calls;
	SK_ARRAY(struct sk_plan_await) awaits;
	SK_ARRAY(struct sk_plan_argument) arguments;
	SK_ARRAY(uint32_t) operands; /* of arguments in lists */
	SK_ARRAY(struct sk_plan_loop) loops;
	SK_ARRAY(struct sk_plan_pattern) patterns;
	SK_ARRAY(struct sk_plan_partition) partitions;
	SK_ARRAY(struct sk_plan_home) homes;
	SK_ARRAY(uint32_t) follows;
	SK_ARRAY(const char *) launch_names;
	SK_ARRAY(const char *) task_names;
	SK_ARRAY(const char *) tensor_names;
};

#define PUSH(plan, array, ...) sk_array_push((plan)->arena, &(plan)->array, __VA_ARGS__)
#define LAST(plan, array)      (&(plan)->array.items[(plan)->array.count - 1])

struct plan *plan_create(struct sk_arena *arena, uint32_t lanes)
{
	struct plan *plan = SK_NEW(arena, struct plan);

	plan->arena = arena;
	plan->lanes = lanes;
	plan->signature = "in x f32[n]";
	return plan;
}

void plan_signature(struct plan *plan, const char *signature)
{
	plan->signature = signature;
}

void plan_lists(struct plan *plan)
{
	plan->lists = true;
}

void plan_device(struct plan *plan, const char *name, uint32_t first, uint32_t second)
{
	plan->device = name;
	plan->device_cores[0] = first;
	plan->device_cores[1] = second;
}

/* ---- tensors ---- */

static uint32_t add_tensor(struct plan *plan, const char *name, struct sk_plan_tensor tensor, enum sk_dtype dtype,
			   uint64_t elements)
{
	PUSH(plan, types,
	     (struct sk_plan_type){.dtype = (uint8_t)dtype,
				   .rank = 1,
				   .bytes = elements * sk_dtype_size(dtype),
				   .shape = {elements}});
	PUSH(plan, tensors, tensor);
	PUSH(plan, tensor_names, name);
	return (uint32_t)plan->tensors.count - 1;
}

uint32_t plan_tensor(struct plan *plan, const char *name, enum sk_dtype dtype, uint64_t elements, enum sk_role role)
{
	struct sk_plan_tensor tensor = {.role = (uint8_t)role};

	if (role == SK_ROLE_CONSTANT) {
		tensor.space = SK_SPACE_CONSTANT;
		tensor.offset = plan->constants;
		plan->constants += (elements * sk_dtype_size(dtype) + 63) / 64 * 64;
	} else {
		tensor.space = SK_SPACE_BINDING;
		tensor.index = (uint32_t)plan->bindings.count;
		PUSH(plan, bindings, (uint32_t)plan->tensors.count);
	}
	return add_tensor(plan, name, tensor, dtype, elements);
}

uint32_t plan_temporary(struct plan *plan, const char *name, enum sk_dtype dtype, uint64_t elements, uint64_t offset)
{
	struct sk_plan_tensor tensor = {
		.role = SK_ROLE_TEMPORARY, .space = SK_SPACE_WORKSPACE, .offset = offset, .unshared_offset = offset};
	uint64_t end = offset + elements * sk_dtype_size(dtype);

	if (plan->workspace < end)
		plan->workspace = plan->unshared = end;
	return add_tensor(plan, name, tensor, dtype, elements);
}

uint32_t plan_tile_tensor(struct plan *plan, const char *name, enum sk_dtype dtype, uint64_t elements, uint64_t offset)
{
	uint32_t tensor = plan_temporary(plan, name, dtype, elements, plan->unshared);

	plan->tensors.items[tensor].space = SK_SPACE_SCRATCH;
	plan->tensors.items[tensor].offset = offset;
	return tensor;
}

/* ---- launches and steps ---- */

uint32_t plan_launch(struct plan *plan, const char *name, enum sk_launch_kind kind)
{
	struct sk_plan_launch launch = {.first_step = (uint32_t)plan->steps.count,
					.first_follow = (uint32_t)plan->follows.count};

	plan->lane = 0;
	PUSH(plan, launches, launch);
	PUSH(plan, forms, (struct sk_plan_form){.kind = (uint8_t)kind});
	PUSH(plan, launch_names, name);
	return (uint32_t)plan->launches.count - 1;
}

void plan_follow(struct plan *plan, uint32_t launch)
{
	PUSH(plan, follows, launch);
	LAST(plan, forms)->follow_count++;
}

void plan_once(struct plan *plan)
{
	LAST(plan, forms)->flags |= SK_LAUNCH_ONCE;
}

void plan_scratch(struct plan *plan, uint64_t size)
{
	LAST(plan, forms)->scratch_size = size;
}

void plan_device_cores(struct plan *plan, uint32_t first, uint32_t second)
{
	LAST(plan, forms)->device_cores[0] = first;
	LAST(plan, forms)->device_cores[1] = second;
}

void plan_lane(struct plan *plan, uint32_t lane)
{
	plan->lane = lane;
}

static uint32_t home_of(struct plan *plan, uint32_t lane, uint32_t stream)
{
	struct sk_plan_launch *launch = LAST(plan, launches);
	struct sk_plan_form *form = LAST(plan, forms);

	for (uint32_t i = 0; i < form->home_count; i++) {
		const struct sk_plan_home *home = &plan->homes.items[launch->first_home + i];

		if (home->lane == lane && home->stream == stream)
			return launch->first_home + i;
	}
	if (form->home_count++ == 0)
		launch->first_home = (uint32_t)plan->homes.count;
	PUSH(plan, homes, (struct sk_plan_home){lane, stream});
	return (uint32_t)plan->homes.count - 1;
}

static uint32_t partition_of(struct plan *plan, struct sk_plan_partition wanted)
{
	struct sk_plan_launch *launch = LAST(plan, launches);
	struct sk_plan_form *form = LAST(plan, forms);

	for (uint32_t i = 0; i < form->partition_count; i++) {
		const struct sk_plan_partition *partition = &plan->partitions.items[launch->first_partition + i];

		if (!memcmp(partition, &wanted, sizeof(wanted)))
			return launch->first_partition + i;
	}
	if (form->partition_count++ == 0)
		launch->first_partition = (uint32_t)plan->partitions.count;
	PUSH(plan, partitions, wanted);
	return (uint32_t)plan->partitions.count - 1;
}

static void add_call(struct plan *plan, uint32_t task)
{
	PUSH(plan, calls,
	     (struct sk_plan_call){.task = task, .scale = 1, .first_argument = (uint32_t)plan->arguments.count});
	LAST(plan, forms)->task_count++;
	LAST(plan, steps)->call_count++;
}

static uint32_t add_step(struct plan *plan, struct sk_plan_step step, uint32_t task)
{
	struct sk_plan_form *form = LAST(plan, forms);

	step.number = ++form->lane_steps[step.lane];
	step.first_call = (uint32_t)plan->calls.count;
	step.first_await = (uint32_t)plan->awaits.count;
	step.call_count = step.await_count = 0;
	form->step_count++;
	PUSH(plan, steps, step);
	add_call(plan, task);
	return (uint32_t)plan->steps.count - 1;
}

static uint32_t new_task(struct plan *plan, const char *task)
{
	struct sk_plan_task record = {.stream = plan->streams_apart ? (uint32_t)plan->tasks.count : 0,
				      .launch = (uint32_t)plan->launches.count - 1,
				      .task_launch = SK_NO_INDEX,
				      .cost = SK_NO_INDEX,
				      .vector_cost = SK_NO_INDEX,
				      .line = (uint32_t)plan->tasks.count + 1};

	PUSH(plan, tasks, record);
	PUSH(plan, task_names, task);
	return (uint32_t)plan->tasks.count - 1;
}

static uint32_t add_task(struct plan *plan, const char *task, struct sk_plan_step step)
{
	step.lane = (uint8_t)plan->lane;
	return add_step(plan, step, new_task(plan, task));
}

void plan_call(struct plan *plan, const char *task)
{
	add_call(plan, new_task(plan, task));
}

void plan_tile(struct plan *plan, uint64_t tile)
{
	LAST(plan, steps)->tile = tile;
}

void plan_scale(struct plan *plan, uint64_t scale)
{
	LAST(plan, calls)->scale = scale;
}

uint32_t plan_plain(struct plan *plan, const char *task, uint32_t stream)
{
	return add_task(plan, task,
			(struct sk_plan_step){.kind = SK_STEP_PLAIN,
					      .core_set = home_of(plan, plan->lane, stream),
					      .partition = SK_NO_INDEX});
}

uint32_t plan_split(struct plan *plan, const char *task, uint64_t extent, uint64_t unit)
{
	return plan_split_by_blocks(plan, task, (struct sk_plan_partition){.extent = extent, .unit = unit});
}

uint32_t plan_split_by_blocks(struct plan *plan, const char *task, struct sk_plan_partition partition)
{
	return add_task(plan, task,
			(struct sk_plan_step){.kind = SK_STEP_SPLIT,
					      .core_set = SK_ALL_CORES,
					      .partition = partition_of(plan, partition),
					      .extent = partition.extent});
}

uint32_t plan_blocks(struct plan *plan, const char *task, uint32_t blocks)
{
	return add_task(
		plan, task,
		(struct sk_plan_step){
			.kind = SK_STEP_BLOCKS, .core_set = SK_ALL_CORES, .partition = SK_NO_INDEX, .blocks = blocks});
}

uint32_t plan_blocks_range(struct plan *plan, const char *task, uint64_t extent, uint32_t blocks)
{
	return add_task(plan, task,
			(struct sk_plan_step){.kind = SK_STEP_BLOCKS_RANGE,
					      .core_set = SK_ALL_CORES,
					      .partition = partition_of(
						      plan, (struct sk_plan_partition){.extent = blocks, .unit = 1}),
					      .blocks = blocks,
					      .extent = extent});
}

void plan_own_awaits(struct plan *plan, uint32_t first_core)
{
	struct sk_plan_step *step = LAST(plan, steps);

	step->flags |= SK_STEP_OWN_AWAITS;
	if (step->kind == SK_STEP_BLOCKS)
		step->first_core = first_core;
}

void plan_resident(struct plan *plan)
{
	struct sk_plan_step *step = LAST(plan, steps);
	uint32_t cores = step->first_core + step->blocks;
	uint32_t *launch = &LAST(plan, forms)->resident_cores[step->lane];

	step->flags |= SK_STEP_RESIDENT;
	if (*launch < cores)
		*launch = cores;
	if (plan->resident_cores[step->lane] < cores)
		plan->resident_cores[step->lane] = cores;
}

uint32_t plan_mix(struct plan *plan, const char *task, uint32_t cube_blocks, uint32_t vector_blocks)
{
	struct sk_plan_step side = {.kind = SK_STEP_BLOCKS,
				    .flags = SK_STEP_CUBE_SIDE,
				    .core_set = SK_ALL_CORES,
				    .partition = SK_NO_INDEX,
				    .blocks = cube_blocks};
	uint32_t cube;

	plan->lane = 0;
	cube = add_task(plan, task, side);
	plan_resident(plan);
	side.flags = SK_STEP_VECTOR_SIDE;
	side.blocks = vector_blocks;
	side.lane = (uint8_t)(plan->lanes - 1);
	side.first_core = side.lane ? 0 : cube_blocks;
	add_step(plan, side, LAST(plan, calls)->task);
	plan_resident(plan);
	LAST(plan, forms)->task_count--;
	return cube;
}

void plan_mix_arguments(struct plan *plan)
{
	struct sk_plan_call *vector = LAST(plan, calls), *cube = vector - 1;

	cube->first_argument = (uint32_t)plan->arguments.count;
	cube->argument_count = vector->argument_count;
	for (uint32_t i = 0; i < vector->argument_count; i++) {
		struct sk_plan_argument argument = plan->arguments.items[vector->first_argument + i];

		PUSH(plan, arguments, argument);
	}
}

void plan_streams_apart(struct plan *plan)
{
	plan->streams_apart = true;
}

void plan_stream(struct plan *plan, uint32_t stream)
{
	LAST(plan, tasks)->stream = stream;
}

void plan_entry_step(struct plan *plan, uint32_t index)
{
	struct sk_plan_step step = plan->steps.items[index];
	struct sk_plan_call call = plan->calls.items[step.first_call];
	uint64_t scratch = plan->forms.items[plan->tasks.items[call.task].launch].scratch_size;

	plan->tasks.items[call.task].task_launch = (uint32_t)plan->launches.count - 1;
	step.flags &= (uint16_t)~SK_STEP_PUBLISH;
	if (step.core_set != SK_ALL_CORES) {
		struct sk_plan_home home = plan->homes.items[step.core_set];

		step.core_set = home_of(plan, home.lane, home.stream);
	}
	if (step.partition != SK_NO_INDEX) {
		struct sk_plan_partition partition = plan->partitions.items[step.partition];

		step.partition = partition_of(plan, partition);
	}
	LAST(plan, forms)->scratch_size = scratch;
	add_step(plan, step, call.task);
	for (uint32_t i = 0; i < call.argument_count; i++)
		plan_argument(plan, plan->arguments.items[call.first_argument + i]);
}

/* ---- arguments and awaits ---- */

void plan_loop(struct plan *plan, uint64_t extent, uint64_t tile)
{
	struct sk_plan_call *call = LAST(plan, calls);

	call->first_loop = call->loop_count ? call->first_loop : (uint32_t)plan->loops.count;
	call->loop_count++;
	PUSH(plan, loops, (struct sk_plan_loop){extent, tile});
}

void plan_argument(struct plan *plan, struct sk_plan_argument argument)
{
	PUSH(plan, arguments, argument);
	LAST(plan, calls)->argument_count++;
}

void plan_pattern(struct plan *plan, struct sk_plan_pattern pattern)
{
	PUSH(plan, patterns, pattern);
	LAST(plan, arguments)->value |= plan->patterns.count; /* beside a displacement */
}

void plan_part(struct plan *plan, uint32_t tensor, unsigned access, uint64_t offset, uint64_t size,
	       uint64_t element_bytes)
{
	const struct sk_plan_tensor *record = &plan->tensors.items[tensor];

	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_POINTER,
						      .dtype = plan->types.items[tensor].dtype,
						      .access = (uint8_t)access,
						      .space = record->space,
						      .index = record->index,
						      .offset = record->offset + offset,
						      .size = size,
						      .element_bytes = element_bytes,
						      .tensor = tensor});
}

void plan_shared(struct plan *plan, uint32_t tensor, unsigned access)
{
	plan_part(plan, tensor, access, 0, plan->types.items[tensor].bytes, 0);
}

void plan_access(struct plan *plan, uint32_t tensor, unsigned access)
{
	const struct sk_plan_type *type = &plan->types.items[tensor];
	uint64_t extent = LAST(plan, steps)->extent * LAST(plan, calls)->scale;
	bool divided = extent && type->shape[0] % extent == 0;

	plan_part(plan, tensor, access, 0, type->bytes, divided ? type->bytes / extent : 0);
}

static void add_cell(struct plan *plan, enum sk_argument_kind kind, uint32_t tensor, uint64_t offset)
{
	const struct sk_plan_tensor *record = &plan->tensors.items[tensor];
	enum sk_dtype dtype = plan->types.items[tensor].dtype;

	plan_argument(plan,
		      (struct sk_plan_argument){.kind = (uint8_t)kind,
						.dtype = (uint8_t)dtype,
						.access = kind == SK_ARGUMENT_LOAD ? SK_ACCESS_READ : SK_ACCESS_WRITE,
						.space = record->space,
						.index = record->index,
						.offset = record->offset + offset,
						.size = sk_dtype_size(dtype),
						.tensor = tensor});
}

void plan_load(struct plan *plan, uint32_t tensor, uint64_t offset)
{
	add_cell(plan, SK_ARGUMENT_LOAD, tensor, offset);
}

void plan_result(struct plan *plan, uint32_t tensor, uint64_t offset)
{
	add_cell(plan, SK_ARGUMENT_RESULT, tensor, offset);
}

void plan_state(struct plan *plan, uint32_t state)
{
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_STATE,
						      .access = SK_ACCESS_READ | SK_ACCESS_WRITE,
						      .space = SK_SPACE_STATE,
						      .index = state});
}

static void set_cost(struct plan *plan, uint32_t *index, enum sk_cost cost, uint64_t value)
{
	if (*index == SK_NO_INDEX) {
		*index = (uint32_t)plan->costs.count;
		PUSH(plan, costs, (struct sk_plan_cost){0});
	}
	plan->costs.items[*index].given |= UINT32_C(1) << cost;
	plan->costs.items[*index].values[cost] = value;
}

void plan_cost(struct plan *plan, enum sk_cost cost, uint64_t value)
{
	set_cost(plan, &LAST(plan, tasks)->cost, cost, value);
}

void plan_vector_cost(struct plan *plan, enum sk_cost cost, uint64_t value)
{
	set_cost(plan, &LAST(plan, tasks)->vector_cost, cost, value);
}

enum sk_step_kind plan_step_kind(const struct plan *plan)
{
	return LAST(plan, steps)->kind;
}

void plan_flags(struct plan *plan, unsigned flags)
{
	LAST(plan, steps)->flags |= (uint16_t)flags;
	if (flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET))
		LAST(plan, forms)->flags |= SK_LAUNCH_EARLY;
}

void plan_await(struct plan *plan, uint32_t step)
{
	PUSH(plan, awaits, (struct sk_plan_await){step});
	LAST(plan, steps)->await_count++;
	plan->steps.items[step].flags |= SK_STEP_PUBLISH;
}

/* ---- the section ---- */

struct writer {
	char *bytes;
	size_t used;
};

static void *put(struct writer *writer, const void *bytes, size_t size, size_t alignment)
{
	writer->used = (writer->used + alignment - 1) / alignment * alignment;

	char *place = writer->bytes + writer->used;

	if (size)
		memcpy(place, bytes, size);
	writer->used += size;
	return place;
}

static void *put_table(struct writer *writer, struct sk_plan_table *table, const void *records, size_t count,
		       size_t size)
{
	char *place = put(writer, records, count * size, 8);

	table->offset = (int32_t)(place - (char *)table);
	table->count = (uint32_t)count;
	return place;
}

static void put_string(struct writer *writer, int32_t *field, const char *text)
{
	char *place = put(writer, text, strlen(text) + 1, 1);

	*field = (int32_t)(place - (char *)field);
}

/* Return at least the size of the section. */
static size_t room_for(const struct plan *plan)
{
	size_t room = 4096 + strlen(plan->signature);

	for (size_t i = 0; i < plan->launches.count; i++)
		room += sizeof(*plan->launches.items) + sizeof(*plan->forms.items) +
			strlen(plan->launch_names.items[i]) + 1;
	for (size_t i = 0; i < plan->tasks.count; i++)
		room += sizeof(*plan->tasks.items) + strlen(plan->task_names.items[i]) + 1;
	for (size_t i = 0; i < plan->tensors.count; i++)
		room += sizeof(*plan->tensors.items) + sizeof(*plan->types.items) +
			strlen(plan->tensor_names.items[i]) + 1;
	return room + plan->costs.count * sizeof(*plan->costs.items) +
	       plan->bindings.count * sizeof(*plan->bindings.items) + plan->steps.count * sizeof(*plan->steps.items) +
	       plan->calls.count * sizeof(*plan->calls.items) + plan->awaits.count * sizeof(*plan->awaits.items) +
	       plan->arguments.count * sizeof(*plan->arguments.items) +
	       plan->patterns.count * sizeof(*plan->patterns.items) +
	       plan->arguments.count * sizeof(*plan->operands.items) + plan->loops.count * sizeof(*plan->loops.items) +
	       plan->partitions.count * sizeof(*plan->partitions.items) +
	       plan->homes.count * sizeof(*plan->homes.items) + plan->follows.count * sizeof(*plan->follows.items);
}

static void *aligned_room(struct sk_arena *arena, size_t size)
{
	uintptr_t raw = (uintptr_t)sk_arena_alloc(arena, size + SK_PLAN_ALIGN, 1);

	return (void *)((raw + SK_PLAN_ALIGN - 1) / SK_PLAN_ALIGN * SK_PLAN_ALIGN);
}

/* Move the arguments into lists, one for each call. */
static void make_lists(struct plan *plan)
{
	for (size_t c = 0; c < plan->calls.count; c++) {
		struct sk_plan_call *call = &plan->calls.items[c];

		call->list = call->first_argument;
		call->first_operand = (uint32_t)plan->operands.count;
		for (uint32_t i = 0; i < call->argument_count; i++) {
			struct sk_plan_argument *argument = &plan->arguments.items[call->first_argument + i];

			if (argument->space == SK_SPACE_NONE || argument->space == SK_SPACE_STATE)
				continue;
			PUSH(plan, operands, argument->tensor);
			argument->offset -= plan->tensors.items[argument->tensor].offset;
			argument->flags |= SK_ARGUMENT_OPERAND;
			argument->space = 0;
			argument->index = argument->tensor = 0;
		}
	}
}

#define PUT(name) put_table(&writer, &header->name, plan->name.items, plan->name.count, sizeof(*plan->name.items))

void *plan_finish(struct plan *plan, size_t *size)
{
	static const char *const lane_names[][SK_MAX_LANES] = {{"core", ""}, {"cube", "vector"}};

	if (plan->lists)
		make_lists(plan);

	struct writer writer = {.bytes = aligned_room(plan->arena, room_for(plan))};
	struct sk_plan *header = put(&writer, &(struct sk_plan){0}, sizeof(*header), 64);

	*header = (struct sk_plan){.magic = SK_PLAN_MAGIC,
				   .version = SK_PLAN_VERSION,
				   .abi_version = SK_ABI_VERSION,
				   .machine = 62,
				   .workspace_size = plan->workspace,
				   .unshared_workspace_size = plan->unshared,
				   .constants_size = plan->constants};
	memcpy(header->resident_cores, plan->resident_cores, sizeof(plan->resident_cores));
	memcpy(header->device_cores, plan->device_cores, sizeof(plan->device_cores));

	int32_t *lanes = put_table(&writer, &header->lanes, (int32_t[SK_MAX_LANES]){0}, plan->lanes, sizeof(*lanes));
	struct sk_plan_form *forms = PUT(forms);
	struct sk_plan_launch *launches = PUT(launches);
	struct sk_plan_task *tasks = PUT(tasks);

	PUT(costs);

	struct sk_plan_kernel *kernels =
		put_table(&writer, &header->kernels, &(struct sk_plan_kernel){0}, 1, sizeof(*kernels));
	struct sk_plan_type *types = PUT(types);
	struct sk_plan_tensor *tensors = PUT(tensors);

	PUT(bindings);
	PUT(steps);
	PUT(calls);
	PUT(awaits);
	if (plan->lists) {
		put_table(&writer, &header->lists, plan->arguments.items, plan->arguments.count,
			  sizeof(*plan->arguments.items));
		header->arguments.count = (uint32_t)plan->arguments.count;
	} else {
		PUT(arguments);
	}
	PUT(operands);
	PUT(loops);
	PUT(patterns);
	PUT(partitions);
	PUT(homes);
	PUT(follows);

	const char *strings = put_table(&writer, &header->strings, NULL, 0, 1);

	if (plan->device)
		put_string(&writer, &header->device, plan->device);
	for (uint32_t i = 0; i < plan->lanes; i++)
		put_string(&writer, &lanes[i], lane_names[plan->lanes - 1][i]);
	put_string(&writer, &kernels->name, "kernel");
	put_string(&writer, &kernels->symbol, "kernel");
	put_string(&writer, &kernels->signature, plan->signature);
	for (size_t i = 0; i < plan->launches.count; i++) {
		put_string(&writer, &launches[i].name, plan->launch_names.items[i]);
		launches[i].form = (int32_t)((char *)&forms[i] - (char *)&launches[i].form);
	}
	for (size_t i = 0; i < plan->tasks.count; i++)
		put_string(&writer, &tasks[i].name, plan->task_names.items[i]);
	for (size_t i = 0; i < plan->tensors.count; i++) {
		put_string(&writer, &tensors[i].name, plan->tensor_names.items[i]);
		tensors[i].type = (int32_t)((char *)&types[i] - (char *)&tensors[i].type);
	}
	header->strings.count = (uint32_t)(writer.bytes + writer.used - strings);
	header->size = writer.used;
	*size = writer.used;
	return writer.bytes;
}

static struct sk_plan_view open_or_fail(const void *bytes, size_t size)
{
	struct sk_plan_view view;
	char error[256];

	ck_assert_msg(sk_plan_open(bytes, size, &view, error, sizeof(error)), "%s", error);
	return view;
}

struct sk_plan_view plan_view(struct plan *plan)
{
	size_t size;
	const void *bytes = plan_finish(plan, &size);

	return open_or_fail(bytes, size);
}

struct sk_plan_view plan_copy(struct sk_arena *arena, const struct sk_plan_view *view)
{
	size_t size = view->plan->size;
	void *copy = aligned_room(arena, size);

	memcpy(copy, view->plan, size);
	return open_or_fail(copy, size);
}

struct sk_plan_view plan_without_await(struct sk_arena *arena, const struct sk_plan_view *view, uint32_t await)
{
	struct sk_plan_view copy = plan_copy(arena, view);
	struct sk_plan_await *awaits = (struct sk_plan_await *)(uintptr_t)copy.awaits;
	struct sk_plan_step *steps = (struct sk_plan_step *)(uintptr_t)copy.steps;

	for (uint32_t i = 0; i < copy.step_count; i++) {
		uint32_t end = steps[i].first_await + steps[i].await_count;

		if (await < steps[i].first_await || await >= end)
			continue;
		memmove(&awaits[await], &awaits[await + 1], (end - await - 1) * sizeof(*awaits));
		steps[i].await_count--;
	}
	return copy;
}
