/* See planning.h. The records of the plan, table by table. */
#include "src/planning/planning-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skabi.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

/* ---- tables that belong to no launch ---- */

static bool place_constants(struct sk_plan_writer *writer)
{
	struct sk_plan_image *image = writer->image;
	uint64_t end = 0, room; /* the end of the constants so far with their room; tasks that read after the end of a
				 * constant read others, or zeros */

	for (uint32_t i = 0; i < writer->model->tensors.count; i++) {
		const struct sk_tensor *tensor = &writer->model->tensors.items[i];

		if (tensor->role != SK_ROLE_CONSTANT || tensor->view_of != SK_NONE)
			continue;
		struct sk_plan_constant constant = {.tensor = i, .size = tensor->bytes};

		if (!sk_align(end, SK_CONSTANT_ALIGNMENT, &constant.offset) ||
		    !sk_add(constant.offset, constant.size, &end) || !sk_add(end, tensor->padding, &room))
			return false;
		image->constants_size = room > image->constants_size ? room : image->constants_size;
		writer->constant_offsets[i] = constant.offset;
		sk_array_push(writer->model->arena, &image->constants, constant);
	}
	return true;
}

static void write_header(struct sk_plan_writer *writer, uint32_t machine)
{
	struct sk_plan *plan = writer->plan;
	const struct sk_profile *device = writer->model->device;

	plan->magic = SK_PLAN_MAGIC;
	plan->version = SK_PLAN_VERSION;
	plan->abi_version = SK_ABI_VERSION;
	plan->machine = machine;
	plan->workspace_size = writer->memory->workspace_size;
	plan->unshared_workspace_size = writer->memory->unshared_workspace_size;
	plan->constants_size = writer->image->constants_size;
	plan->isa = writer->model->isa;
	if (plan->constants_size)
		sk_plan_add_relocation(writer, &plan->constants, SK_PLAN_CONSTANTS, 0);
	sk_plan_set_string(writer, &plan->device, device->name);
	for (uint32_t i = 0; i < device->lane_count; i++) {
		sk_plan_set_string(writer, &writer->lanes[i], device->lanes[i].name);
		plan->device_cores[i] = sk_device_counts_cores(device) ? device->lanes[i].cores : 0;
	}
}

/* Write the kernel as the record with that number. */
static struct sk_plan_kernel *write_kernel(struct sk_plan_writer *writer, uint32_t index, uint32_t number)
{
	const struct sk_kernel *kernel = &writer->model->kernels.items[index];
	const struct sk_plan_kernel_strings *strings = &writer->kernel_strings[index];
	struct sk_plan_kernel *record = &writer->kernels[number];

	sk_plan_set_interned(writer, &record->name, strings->name);
	sk_plan_set_interned(writer, &record->symbol, strings->symbol);
	sk_plan_set_interned(writer, &record->signature, strings->signature);
	record->isa = kernel->isa;
	record->code_size = kernel->code_size < UINT32_MAX ? (uint32_t)kernel->code_size : UINT32_MAX;
	record->vector_code_size =
		kernel->vector_code_size < UINT32_MAX ? (uint32_t)kernel->vector_code_size : UINT32_MAX;
	record->early = sk_signature_early(kernel->signature);
	record->flags = kernel->imported ? SK_KERNEL_IMPORTED : 0;
	sk_plan_add_relocation(writer, &record->code, SK_PLAN_KERNEL, number);
	if (kernel->vector_code != SK_NONE)
		sk_plan_add_relocation(writer, &record->vector_code, SK_PLAN_VECTOR_KERNEL, number);
	return record;
}

/* Copies come after all kernels. */
static void write_kernels(struct sk_plan_writer *writer)
{
	const struct sk_model *model = writer->model;
	uint32_t next = (uint32_t)model->kernels.count;

	for (uint32_t i = 0; i < model->kernels.count; i++) {
		write_kernel(writer, i, i)->first_copy = writer->copies[i] ? next : 0;
		next += writer->copies[i];
	}
	for (uint32_t i = 0; i < model->kernels.count; i++) {
		const char *symbol = model->kernels.items[i].symbol;

		for (uint32_t copy = 1; copy <= writer->copies[i]; copy++)
			sk_plan_set_string(writer,
					   &write_kernel(writer, i, writer->kernels[i].first_copy + copy - 1)->symbol,
					   sk_arena_print(writer->arena, "%s.split%u", symbol, copy));
	}
}

static void write_symbols(struct sk_plan_writer *writer)
{
	for (uint32_t i = 0; i < writer->model->symbols.count; i++) {
		sk_plan_set_string(writer, &writer->symbols[i].name, writer->model->symbols.items[i].name);
		sk_plan_add_relocation(writer, &writer->symbols[i].address, SK_PLAN_SYMBOL, i);
	}
}

/* Return the space of a tensor's own memory; unshared: for task entries. */
static enum sk_space space_of(const struct sk_plan_writer *writer, uint32_t number, bool unshared)
{
	bool in_scratch = !unshared && writer->schedule->groups->scratch_offset[number] != SK_NOT_IN_SCRATCH;

	switch (writer->model->tensors.items[number].role) {
	case SK_ROLE_INPUT:
	case SK_ROLE_OUTPUT:
	case SK_ROLE_INOUT:
		return SK_SPACE_BINDING;
	case SK_ROLE_CONSTANT:
		return SK_SPACE_CONSTANT;
	case SK_ROLE_TEMPORARY:
		return in_scratch ? SK_SPACE_SCRATCH : SK_SPACE_WORKSPACE;
	default:
		return SK_SPACE_NONE;
	}
}

static uint64_t base_of(const struct sk_plan_writer *writer, uint32_t tensor, bool unshared)
{
	switch (space_of(writer, tensor, unshared)) {
	case SK_SPACE_CONSTANT:
		return writer->constant_offsets[tensor];
	case SK_SPACE_SCRATCH:
		return writer->schedule->groups->scratch_offset[tensor];
	case SK_SPACE_WORKSPACE:
		return unshared ? writer->memory->unshared_offset[tensor] : writer->memory->offset[tensor];
	default:
		return 0;
	}
}

static uint32_t share_type(struct sk_plan_writer *writer, const struct sk_plan_type *type,
			   const struct sk_varying *varying)
{
	struct sk_plan_key key = {.arena = writer->arena};
	uint32_t number;

	if (!varying)
		return sk_plan_share(writer, &writer->types, type, 1);
	sk_plan_key_append(&key, type, sizeof(*type));
	sk_plan_key_append_sizes(&key, varying);
	number = sk_plan_share_by(writer, &writer->types, type, 1, key.bytes.items, key.bytes.count);
	sk_plan_note_sizes(writer, varying, SK_DIMS_TYPES, number);
	return number;
}

static void write_tensors(struct sk_plan_writer *writer)
{
	for (uint32_t i = 0; i < writer->model->tensors.count; i++) {
		const struct sk_tensor *tensor = &writer->model->tensors.items[i];

		if (tensor->view_of != SK_NONE)
			continue;
		struct sk_plan_tensor *record = &writer->tensors[writer->numbers[i]];

		struct sk_plan_type type = {
			.dtype = (uint8_t)tensor->dtype,
			.rank = (uint8_t)tensor->rank,
			/* A tensor that no task uses gets no contents. */
			.range = sk_plan_later_string(writer, tensor->role != SK_ROLE_NONE ? tensor->range : NULL),
			.bytes = tensor->bytes,
			.padding = tensor->padding,
		};

		sk_plan_set_string(writer, &record->name, tensor->name);
		memcpy(type.shape, tensor->shape, tensor->rank * sizeof(tensor->shape[0]));
		record->type = (int32_t)share_type(writer, &type, tensor->varying);
		record->role = (uint8_t)tensor->role;
		record->space = (uint8_t)space_of(writer, i, false);
		record->offset = base_of(writer, i, false);
		record->unshared_offset = tensor->role == SK_ROLE_TEMPORARY ? base_of(writer, i, true) : 0;
		if (record->space == SK_SPACE_BINDING) {
			record->index = tensor->binding;
			writer->bindings[tensor->binding] = writer->numbers[i];
		}
	}
}

/* Return the number of the cost of the whole task or its cube side (0), or of its vector side (1); SK_NO_INDEX if it is
 * not given. */
static uint32_t add_cost(struct sk_plan_writer *writer, const struct sk_task_said *said, uint32_t side)
{
	struct sk_plan_key key;
	uint32_t number;

	if (!said->cost || side >= said->cost->count)
		return SK_NO_INDEX;
	key = sk_plan_cost_key(writer, said->cost, side);
	number = sk_map_find(&writer->cost_numbers, key.bytes.items, key.bytes.count);
	writer->costs[number] = said->cost->of[side];
	return number;
}

static void write_tasks(struct sk_plan_writer *writer)
{
	for (uint32_t i = 0; i < writer->model->tasks.count; i++) {
		const struct sk_task *task = &writer->model->tasks.items[i];
		const struct sk_task_placement *placement = &writer->fusion->tasks[i];
		struct sk_plan_task *record = &writer->tasks[i];

		sk_plan_set_interned(writer, &record->name, writer->task_offsets[i]);
		sk_plan_set_string(writer, &record->scope, placement->scope);
		record->kernel = task->bound.kernel;
		record->stream = task->said.stream;
		record->launch = placement->launch;
		record->task_launch = writer->task_entries ? writer->fusion->launch_count + i : SK_NO_INDEX;
		record->line = task->place.line;
		record->cost = add_cost(writer, &task->said, 0);
		record->vector_cost = add_cost(writer, &task->said, 1);
	}
}

/* ---- steps ---- */

static void write_call(struct sk_plan_writer *writer, uint32_t number, uint64_t scale)
{
	const struct sk_task *task = &writer->model->tasks.items[number];
	const struct sk_signature *signature = writer->model->kernels.items[task->bound.kernel].signature;

	writer->calls[writer->call_count++] = (struct sk_plan_call){
		.task = number,
		.kernel = task->bound.kernel,
		.first_argument = writer->argument_count,
		.list = writer->lists.of_tasks[number].list,
		.first_operand = writer->lists.of_tasks[number].first_operand,
		.first_loop = writer->loop_count,
		.argument_count = (uint16_t)task->bound.argument_count, /* the parameters, a result and states */
		.flags = signature->returns_status ? SK_CALL_STATUS : 0,
		.loop_count = (uint8_t)task->bound.loop_count,
		.scale = scale,
	};
	sk_plan_note_sizes(writer, task->bound.varying, SK_DIMS_LOOPS, writer->loop_count);
	memcpy(&writer->loops[writer->loop_count], task->bound.loops,
	       task->bound.loop_count * sizeof(*task->bound.loops));
	writer->loop_count += task->bound.loop_count;
	writer->argument_count += task->bound.argument_count;
}

/* Write the parts of a step that come from its task alone: its spread, and one call. run: that of a step in tiles,
 * which counts in other elements; else NULL. */
static struct sk_plan_step *start_step(struct sk_plan_writer *writer, struct sk_plan_form *form, uint32_t number,
				       const struct sk_side *side, const struct sk_run *run)
{
	const struct sk_task *task = &writer->model->tasks.items[number];
	const struct sk_signature *signature = writer->model->kernels.items[task->bound.kernel].signature;
	struct sk_plan_step *record = &writer->steps[writer->step_count++];
	bool divided = signature->spread == SK_STEP_SPLIT || signature->spread == SK_STEP_BLOCKS_RANGE;
	uint64_t scale = run ? sk_run_scale(run, task) : 1;

	record->first_call = writer->call_count;
	record->call_count = 1;
	record->lane = (uint8_t)side->lane;
	record->kind = (uint8_t)signature->spread;
	record->flags = (uint16_t)((signature->nontemporal ? SK_STEP_NONTEMPORAL : 0) | side->flags);
	record->number = 1;
	record->core_set = SK_ALL_CORES;
	record->partition = SK_NO_INDEX;
	record->blocks = side->blocks;
	record->first_core = side->first_core;
	record->extent = divided ? task->bound.extent / scale : 0;
	if (divided)
		sk_plan_note_size(writer, SK_DIMS_STEPS, writer->step_count - 1, offsetof(struct sk_plan_step, extent),
				  run ? run->size : sk_task_extent_size(task));
	record->first_await = writer->await_count;
	if (side->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET))
		form->flags |= SK_LAUNCH_EARLY;
	if (task->said.once)
		form->flags |= SK_LAUNCH_ONCE;
	write_call(writer, number, scale);
	return record;
}

static void write_step(struct sk_plan_writer *writer, const struct sk_plan_launch *launch, struct sk_plan_form *form,
		       const struct sk_launch_options *options, const struct sk_step *step)
{
	struct sk_side sides[SK_MAX_SIDES];

	sk_task_sides(writer->model, step->task, sides);
	sides[step->side].flags = step->flags;

	const struct sk_task *tasks = writer->model->tasks.items;
	struct sk_plan_step *record =
		start_step(writer, form, step->task, &sides[step->side], step->run->tile ? step->run : NULL);

	for (uint32_t i = 1; i < step->task_count; i++) {
		uint32_t number = step->tasks[i];

		record->call_count++;
		record->flags |= writer->model->kernels.items[tasks[number].bound.kernel].signature->nontemporal
					 ? SK_STEP_NONTEMPORAL
					 : 0;
		write_call(writer, number, sk_run_scale(step->run, &tasks[number]));
	}
	record->tile = step->run->tile;
	if (record->kind == SK_STEP_BLOCKS && !(record->flags & SK_STEP_RESIDENT))
		record->first_core = step->run->first_core;
	record->number = step->number;
	record->flags |= (uint16_t)((step->publish ? SK_STEP_PUBLISH : 0) | (options->profiling ? SK_STEP_TIMED : 0) |
				    sk_launch_options_flushes(writer->model, options, step->task));
	if (step->home != SK_ALL_CORES)
		record->core_set = launch->first_home + step->home;
	if (step->partition != SK_NO_INDEX)
		record->partition = launch->first_partition + step->partition;
	record->await_count = step->await_count;
	for (uint32_t i = 0; i < step->await_count; i++)
		writer->awaits[writer->await_count++].step = launch->first_step + step->awaits[i];
}

/* ---- launches ---- */

/* Write the fields that all kinds of launches have, except the name: entries, and slices that begin at the end of the
 * previous launch's. Blocks that wait for one another cannot run one by one, so such a launch has no serial entry. Nor
 * does a launch with a thunk. */
static struct sk_plan_launch *start_launch(struct sk_plan_writer *writer, uint32_t number, struct sk_plan_form *form)
{
	struct sk_plan_launch *record = &writer->launches[number];
	bool resident = false;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		resident |= form->resident_cores[lane] != 0;
		if (writer->plan->resident_cores[lane] < form->resident_cores[lane])
			writer->plan->resident_cores[lane] = form->resident_cores[lane];
	}
	sk_plan_add_relocation(writer, &record->entry, SK_PLAN_ENTRY, number);
	if (form->kind == SK_LAUNCH_TASK && writer->task_entries == SK_TASKS_BY_THUNKS)
		form->flags = SK_LAUNCH_THUNK;
	else if (!resident)
		sk_plan_add_relocation(writer, &record->serial_entry, SK_PLAN_SERIAL_ENTRY, number);
	record->first_step = writer->step_count;
	record->first_follow = writer->follow_count;
	return record;
}

static void set_partitions(struct sk_plan_writer *writer, struct sk_plan_launch *record, struct sk_plan_form *form,
			   const struct sk_plan_partition *partitions, const struct sk_partition_sizes *sizes,
			   uint32_t count)
{
	struct sk_plan_key key = {.arena = writer->arena};
	bool sized = false;

	for (uint32_t i = 0; i < count; i++)
		sized |= sizes[i].extent || sizes[i].rows;
	sk_plan_key_append(&key, partitions, count * sizeof(*partitions));
	if (sized)
		sk_plan_key_append(&key, sizes, count * sizeof(*sizes));
	record->first_partition =
		sk_plan_share_by(writer, &writer->partitions, partitions, count, key.bytes.items, key.bytes.count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = record->first_partition + i;

		sk_plan_note_size(writer, SK_DIMS_PARTITIONS, number, offsetof(struct sk_plan_partition, extent),
				  sizes[i].extent);
		sk_plan_note_size(writer, SK_DIMS_PARTITIONS, number, offsetof(struct sk_plan_partition, rows),
				  sizes[i].rows);
	}
	form->partition_count = count;
}

static void set_homes(struct sk_plan_writer *writer, struct sk_plan_launch *record, struct sk_plan_form *form,
		      const struct sk_plan_home *homes, uint32_t count)
{
	record->first_home = sk_plan_share(writer, &writer->homes, homes, count);
	form->home_count = count;
}

static void write_options(struct sk_plan_writer *writer, struct sk_plan_form *form,
			  const struct sk_launch_options *options)
{
	form->func_align = (uint16_t)options->func_align; /* at most SK_MAX_FUNC_ALIGN */
	form->flags |=
		(uint16_t)((options->sync_all ? SK_LAUNCH_SYNC_ALL : 0) | (options->debug ? SK_LAUNCH_DEBUG : 0));
	form->preload = (uint8_t)options->preload;
	form->copies = (uint8_t)options->split_mode;
	sk_launch_options_cores(writer->model, options, form->lane_cores);
}

/* Compute the device's cores and share the form. The rest of the record and its form must be complete. */
static void finish_launch(struct sk_plan_writer *writer, struct sk_plan_launch *record, struct sk_plan_form *form,
			  const uint32_t *tasks, uint32_t count)
{
	struct sk_launch_needs needs = {tasks, count, form->home_count, form->lane_cores, form->resident_cores};
	const struct sk_plan_partition *partitions = (const void *)writer->partitions.bytes.items;

	for (uint32_t i = record->first_step; i < record->first_step + form->step_count; i++) {
		const struct sk_plan_step *step = &writer->steps[i];

		needs.placed[step->lane] |=
			!(step->flags & SK_STEP_RESIDENT) &&
			(step->partition == SK_NO_INDEX ? step->first_core : partitions[step->partition].first_core) !=
				0;
	}
	sk_launch_device_cores(writer->model, &needs, form->device_cores);
	record->form = (int32_t)sk_plan_share(writer, &writer->forms, form, 1);
}

static void write_launch(struct sk_plan_writer *writer, uint32_t number)
{
	const struct sk_launch *launch = &writer->fusion->launches[number];
	const struct sk_launch_schedule *schedule = &writer->schedule->launches[number];
	struct sk_plan_form form = {
		.scope = sk_plan_later_string(writer, launch->scope),
		.network = sk_plan_later_string(writer, writer->model->tasks.items[launch->tasks[0]].said.network),
		.step_count = schedule->step_count,
		.follow_count = launch->follow_count,
		.task_count = launch->task_count,
		.stream = launch->stream,
		.scratch_size = schedule->scratch_size,
		.kind = (uint8_t)launch->kind,
	};

	memcpy(form.lane_steps, schedule->lane_steps, sizeof(form.lane_steps));
	memcpy(form.resident_cores, schedule->resident_cores, sizeof(form.resident_cores));

	struct sk_plan_launch *record = start_launch(writer, number, &form);

	if (writer->schedule->groups->launches[number].ordered)
		form.flags |= SK_LAUNCH_ORDERED;
	sk_plan_set_string(writer, &record->name, launch->name);
	write_options(writer, &form, &launch->options);
	set_partitions(writer, record, &form, schedule->partitions, schedule->partition_sizes,
		       schedule->partition_count);
	set_homes(writer, record, &form, schedule->homes, schedule->home_count);
	for (uint32_t i = 0; i < launch->follow_count; i++)
		writer->follows[writer->follow_count++] = launch->follows[i];
	for (uint32_t i = 0; i < schedule->step_count; i++)
		write_step(writer, record, &form, &launch->options, &schedule->steps[i]);
	finish_launch(writer, record, &form, launch->tasks, launch->task_count);
}

/* Set the partition that all cores of its lane share for a single task, or its home. */
static void place_task(struct sk_plan_writer *writer, struct sk_plan_launch *record, struct sk_plan_form *form,
		       uint32_t number, struct sk_plan_step *step)
{
	const struct sk_task *task = &writer->model->tasks.items[number];

	if (step->kind == SK_STEP_PLAIN) {
		set_homes(writer, record, form, &(struct sk_plan_home){task->bound.lane, task->said.stream}, 1);
		step->core_set = record->first_home;
	} else if (step->kind == SK_STEP_SPLIT || step->kind == SK_STEP_BLOCKS_RANGE) {
		bool split = step->kind == SK_STEP_SPLIT;

		set_partitions(writer, record, form,
			       &(struct sk_plan_partition){split ? task->bound.extent : task->bound.block_count,
							   split ? sk_minimum_unit(writer->model, number) : 1},
			       &(struct sk_partition_sizes){split ? sk_task_extent_size(task) : NULL, NULL}, 1);
		step->partition = record->first_partition;
	}
}

static void write_task_entry(struct sk_plan_writer *writer, uint32_t number)
{
	const struct sk_task *task = &writer->model->tasks.items[number];
	struct sk_side sides[SK_MAX_SIDES];
	uint32_t count = sk_task_sides(writer->model, number, sides);
	struct sk_plan_form form = {
		.scope = sk_plan_later_string(writer, writer->fusion->tasks[number].scope),
		.network = sk_plan_later_string(writer, task->said.network),
		.step_count = count,
		.task_count = 1,
		.stream = task->said.stream,
		.scratch_size = sk_schedule_scratch(task),
		.kind = SK_LAUNCH_TASK,
	};

	for (uint32_t i = 0; i < count; i++)
		if (sides[i].flags & SK_STEP_RESIDENT)
			form.resident_cores[sides[i].lane] = sides[i].first_core + sides[i].blocks;

	uint32_t place = writer->fusion->launch_count + number;
	struct sk_plan_launch *record = start_launch(writer, place, &form);

	sk_plan_set_interned(writer, &record->name, writer->entry_offsets[number]);
	place_task(writer, record, &form, number, start_step(writer, &form, number, &sides[0], NULL));
	form.lane_steps[sides[0].lane] = 1;
	if (count > 1)
		start_step(writer, &form, number, &sides[1], NULL)->number = ++form.lane_steps[sides[1].lane];
	finish_launch(writer, record, &form, &number, 1);
}

static void name_entries(struct sk_plan_writer *writer)
{
	const struct sk_model *model = writer->model;

	if (!writer->task_entries)
		return;
	writer->entry_names = SK_NEW_ARRAY(writer->arena, const char *, model->tasks.count);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		writer->entry_names[i] = sk_arena_join(writer->arena, "sk_unfused_",
						       sk_identifier(writer->arena, model->tasks.items[i].name));
}

/* ---- the whole plan ---- */

static bool write_plan(struct sk_plan_writer *writer, uint32_t machine)
{
	const struct sk_model *model = writer->model;
	struct sk_place place = {.file = model->manifest};

	if (!place_constants(writer)) {
		sk_error(model->diag, place, "the constants together are larger than the address space");
		return false;
	}
	if (!sk_plan_lay_out(writer)) {
		sk_error(model->diag, place, "the plan is larger than 2 GiB");
		return false;
	}
	name_entries(writer);
	sk_plan_intern_other_names(writer);
	/* In the order of the tables, so that relocations are in order. */
	write_header(writer, machine);
	for (uint32_t l = 0; l < writer->fusion->launch_count; l++)
		write_launch(writer, l);
	for (uint32_t t = 0; writer->task_entries && t < model->tasks.count; t++)
		write_task_entry(writer, t);
	write_tasks(writer);
	write_kernels(writer);
	write_symbols(writer);
	write_tensors(writer);
	if (!sk_plan_join(writer)) {
		sk_error(model->diag, place, "the plan is larger than 2 GiB");
		return false;
	}
	return true;
}

bool sk_plan_write(const struct sk_model *model, const struct sk_fusion *fusion, const struct sk_schedule *schedule,
		   const struct sk_memory *memory, uint32_t machine, enum sk_task_entries task_entries,
		   struct sk_plan_image *image)
{
	struct sk_arena *scratch = sk_arena_create();
	struct sk_plan_writer writer = {
		.model = model,
		.fusion = fusion,
		.schedule = schedule,
		.memory = memory,
		.arena = scratch,
		.task_entries = task_entries,
		.image = image,
		.constant_offsets = SK_NEW_ARRAY(scratch, uint64_t, model->tensors.count),
		.numbers = SK_NEW_ARRAY(scratch, uint32_t, model->tensors.count),
		.forms = {.record_size = sizeof(struct sk_plan_form)},
		.types = {.record_size = sizeof(struct sk_plan_type)},
		.partitions = {.record_size = sizeof(struct sk_plan_partition)},
		.homes = {.record_size = sizeof(struct sk_plan_home)},
	};
	bool written;

	memset(image, 0, sizeof(*image));
	sk_map_init(&writer.string_offsets, scratch);
	for (int i = 0; i < 4; i++)
		sk_map_init((struct sk_map *[]){&writer.forms.numbers, &writer.types.numbers,
						&writer.partitions.numbers, &writer.homes.numbers}[i],
			    scratch);
	written = write_plan(&writer, machine) && sk_plan_write_sizes(&writer);
	if (written && model->ranks)
		sk_plan_write_ranks(model, image);
	sk_arena_destroy(scratch);
	return written;
}
