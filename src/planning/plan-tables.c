/* The layout of the plan. All tables but the strings are counted first and placed after the header, so that every
 * reference can be written at once. The strings grow after them, and so do the shared records. See planning-parts.h. */
#include "src/planning/planning-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/planning/planning.h"

/* ---- strings ---- */

/* The same scope is asked for often in a row. */
static uint32_t intern(struct sk_plan_writer *writer, const char *text)
{
	size_t length;
	uint32_t offset = (uint32_t)writer->strings.count;

	if (text == writer->last_text)
		return writer->last_offset;
	length = strlen(text);
	writer->last_text = text;
	writer->last_offset = sk_map_insert(&writer->string_offsets, text, length, offset);
	if (writer->last_offset != offset)
		return writer->last_offset;
	while (writer->strings.capacity <= offset + length)
		writer->strings.items = sk_array_reserve(writer->arena, writer->strings.items, writer->strings.capacity,
							 &writer->strings.capacity, 1);
	memcpy(writer->strings.items + offset, text, length + 1);
	writer->strings.count += length + 1;
	return offset;
}

static uint64_t offset_of(const struct sk_plan_writer *writer, const void *field)
{
	return (uint64_t)((const uint8_t *)field - writer->image->bytes);
}

/* If the task's name is an identifier, it is the end of its entry's name. */
static void intern_task(struct sk_plan_writer *writer, uint32_t number)
{
	const char *name = writer->model->tasks.items[number].name;

	if (writer->entry_names) {
		const char *entry = writer->entry_names[number];
		size_t length = strlen(name);
		size_t before = strlen(entry) - length; /* identifiers are as long as names, or longer */
		uint32_t offset = writer->entry_offsets[number] = intern(writer, entry);

		if (!strcmp(entry + before, name)) {
			writer->task_offsets[number] =
				sk_map_insert(&writer->string_offsets, name, length, offset + (uint32_t)before);
			return;
		}
	}
	writer->task_offsets[number] = intern(writer, name);
}

/* A kernel's symbol is usually its name, and its signature that of the preceding kernel. */
static void intern_kernel(struct sk_plan_writer *writer, uint32_t number)
{
	const struct sk_kernel *kernel = &writer->model->kernels.items[number];
	struct sk_plan_kernel_strings *strings = &writer->kernel_strings[number];
	bool alike = number && kernel->signature == kernel[-1].signature;

	strings->name = intern(writer, kernel->name);
	strings->symbol = strcmp(kernel->symbol, kernel->name) ? intern(writer, kernel->symbol) : strings->name;
	strings->signature = alike ? strings[-1].signature : intern(writer, kernel->signature->text);
}

void sk_plan_intern_other_names(struct sk_plan_writer *writer)
{
	const struct sk_model *model = writer->model;

	writer->task_offsets = SK_NEW_ARRAY(writer->arena, uint32_t, model->tasks.count);
	writer->entry_offsets = SK_NEW_ARRAY(writer->arena, uint32_t, writer->entry_names ? model->tasks.count : 0);
	writer->kernel_strings = SK_NEW_ARRAY(writer->arena, struct sk_plan_kernel_strings, model->kernels.count);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		intern_task(writer, i);
	for (uint32_t i = 0; i < model->kernels.count; i++)
		intern_kernel(writer, i);
}

void sk_plan_set_interned(struct sk_plan_writer *writer, int32_t *field, uint32_t offset)
{
	*field = (int32_t)(writer->strings_offset + offset - offset_of(writer, field));
}

void sk_plan_set_string(struct sk_plan_writer *writer, int32_t *field, const char *text)
{
	if (text)
		sk_plan_set_interned(writer, field, intern(writer, text));
}

/* ---- shared records ---- */

static void append_shared(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *bytes, size_t size)
{
	while (table->bytes.capacity - table->bytes.count < size)
		table->bytes.items = sk_array_reserve(writer->arena, table->bytes.items, table->bytes.capacity,
						      &table->bytes.capacity, 1);
	memcpy(table->bytes.items + table->bytes.count, bytes, size);
	table->bytes.count += size;
}

uint32_t sk_plan_share_by(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *records,
			  uint32_t count, const char *key, size_t key_size)
{
	uint32_t number;

	if (!count)
		return 0;
	number = sk_map_find(&table->numbers, key, key_size);
	if (number == SK_NONE) {
		number = (uint32_t)(table->bytes.count / table->record_size);
		sk_map_insert(&table->numbers, sk_arena_copy(writer->arena, key, key_size), key_size, number);
		append_shared(writer, table, records, count * table->record_size);
	}
	return number;
}

uint32_t sk_plan_share(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *records, uint32_t count)
{
	return sk_plan_share_by(writer, table, records, count, records, count * table->record_size);
}

int32_t sk_plan_later_string(struct sk_plan_writer *writer, const char *text)
{
	return text ? (int32_t)intern(writer, text) + 1 : 0;
}

void sk_plan_add_relocation(struct sk_plan_writer *writer, const int32_t *field, enum sk_plan_target target,
			    uint32_t index)
{
	sk_array_push(writer->model->arena, &writer->image->relocations,
		      (struct sk_plan_relocation){offset_of(writer, field), target, index});
}

/* ---- layout ---- */

/* The tables with a part for every launch. */
enum { STEPS, CALLS, AWAITS, ARGUMENTS, LOOPS, FOLLOWS, COUNTS };

static void count_call(const struct sk_task *task, uint64_t copies, uint64_t counts[COUNTS])
{
	counts[ARGUMENTS] += task->bound.argument_count * copies;
	counts[LOOPS] += task->bound.loop_count * copies;
}

static void count_records(const struct sk_plan_writer *writer, uint64_t counts[COUNTS])
{
	const struct sk_model *model = writer->model;
	uint64_t copies = writer->task_entries ? 2 : 1;

	memset(counts, 0, COUNTS * sizeof(*counts));
	for (uint32_t l = 0; l < writer->fusion->launch_count; l++) {
		const struct sk_launch_schedule *launch = &writer->schedule->launches[l];

		counts[STEPS] += launch->step_count;
		for (uint32_t s = 0; s < launch->step_count; s++) {
			const struct sk_step *step = &launch->steps[s];

			counts[AWAITS] += step->await_count;
			for (uint32_t i = 0; i < step->task_count; i++)
				count_call(&model->tasks.items[step->tasks[i]], copies, counts);
			counts[CALLS] += step->task_count * copies;
			counts[STEPS] += writer->task_entries ? step->task_count : 0;
		}
		counts[FOLLOWS] += writer->fusion->launches[l].follow_count;
	}
}

/* Count for each kernel the greatest number of copies that one of its launches asks for. */
static void count_copies(struct sk_plan_writer *writer)
{
	const struct sk_model *model = writer->model;

	writer->copies = SK_NEW_ARRAY(writer->arena, uint32_t, model->kernels.count);
	for (uint32_t l = 0; l < writer->fusion->launch_count; l++) {
		const struct sk_launch *launch = &writer->fusion->launches[l];

		for (uint32_t i = 0; i < launch->task_count; i++) {
			uint32_t *copies = &writer->copies[model->tasks.items[launch->tasks[i]].bound.kernel];

			if (launch->options.split_mode > *copies + 1)
				*copies = launch->options.split_mode - 1;
		}
	}
	for (size_t k = 0; k < model->kernels.count; k++)
		writer->copy_count += writer->copies[k];
}

/* Number the tensors of the plan, those that are not views, and return their number. */
static uint32_t number_tensors(const struct sk_model *model, uint32_t *numbers)
{
	uint32_t count = 0;

	for (size_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].view_of == SK_NONE)
			numbers[i] = count++;
	return count;
}

struct sk_plan_key sk_plan_cost_key(const struct sk_plan_writer *writer, const struct sk_task_cost *cost, uint32_t side)
{
	struct sk_plan_key key = {.arena = writer->arena};

	sk_plan_key_append(&key, &cost->of[side], sizeof(cost->of[side]));
	sk_plan_key_append_sizes(&key, cost->varying[side]);
	return key;
}

/* Number the costs and return their number. Tasks with equal costs share the records. */
static uint32_t number_costs(struct sk_plan_writer *writer)
{
	sk_map_init(&writer->cost_numbers, writer->arena);
	for (size_t i = 0; i < writer->model->tasks.count; i++) {
		const struct sk_task_cost *cost = writer->model->tasks.items[i].said.cost;

		for (uint32_t side = 0; cost && side < cost->count; side++) {
			struct sk_plan_key key = sk_plan_cost_key(writer, cost, side);
			uint32_t fresh = (uint32_t)writer->cost_numbers.count;

			if (sk_map_insert(&writer->cost_numbers, key.bytes.items, key.bytes.count, fresh) == fresh)
				sk_plan_note_sizes(writer, cost->varying[side], SK_DIMS_COSTS, fresh);
		}
	}
	return (uint32_t)writer->cost_numbers.count;
}

/* Append a table to the layout. Return false if the plan is too large. */
static bool add_table(struct sk_plan *header, struct sk_plan_table *table, uint64_t count, uint64_t record_size,
		      uint64_t *size)
{
	uint64_t bytes;

	if (!sk_align(*size, 8, size) || !sk_mul(count, record_size, &bytes))
		return false;
	table->count = (uint32_t)count;
	table->offset = count ? (int32_t)(*size - (uint64_t)((char *)&table->offset - (char *)header)) : 0;
	return sk_add(*size, bytes, size) && *size <= INT32_MAX && count <= INT32_MAX;
}

/* Lay out all tables but the strings; return false if the plan is too large. Tables that loading reads are adjacent,
 * directly after the header: each further place costs a page fault. */
static bool lay_out(struct sk_plan_writer *writer, struct sk_plan *header, uint64_t *size)
{
	const struct sk_model *model = writer->model;
	const struct sk_plan_lists *lists = &writer->lists;
	uint64_t counts[COUNTS];
	uint64_t launches = writer->fusion->launch_count + (writer->task_entries ? model->tasks.count : 0);

	count_records(writer, counts);
	*size = sizeof(*header);
	header->arguments.count = (uint32_t)counts[ARGUMENTS];
	if (counts[ARGUMENTS] > INT32_MAX)
		return false;
	return add_table(header, &header->lanes, model->device->lane_count, sizeof(int32_t), size) &&
	       add_table(header, &header->bindings, model->binding_count, sizeof(uint32_t), size) &&
	       add_table(header, &header->tensors, writer->tensor_count, sizeof(struct sk_plan_tensor), size) &&
	       add_table(header, &header->launches, launches, sizeof(struct sk_plan_launch), size) &&
	       add_table(header, &header->tasks, model->tasks.count, sizeof(struct sk_plan_task), size) &&
	       add_table(header, &header->costs, number_costs(writer), sizeof(struct sk_plan_cost), size) &&
	       add_table(header, &header->kernels, model->kernels.count + (uint64_t)writer->copy_count,
			 sizeof(struct sk_plan_kernel), size) &&
	       add_table(header, &header->symbols, model->symbols.count, sizeof(struct sk_plan_symbol), size) &&
	       add_table(header, &header->steps, counts[STEPS], sizeof(struct sk_plan_step), size) &&
	       add_table(header, &header->calls, counts[CALLS], sizeof(struct sk_plan_call), size) &&
	       add_table(header, &header->awaits, counts[AWAITS], sizeof(struct sk_plan_await), size) &&
	       add_table(header, &header->lists, lists->records.count, sizeof(struct sk_plan_argument), size) &&
	       add_table(header, &header->operands, lists->operands.count, sizeof(uint32_t), size) &&
	       add_table(header, &header->loops, counts[LOOPS], sizeof(struct sk_plan_loop), size) &&
	       add_table(header, &header->terms, lists->terms.count, sizeof(struct sk_plan_term), size) &&
	       add_table(header, &header->patterns, lists->patterns.count, sizeof(struct sk_plan_pattern), size) &&
	       add_table(header, &header->follows, counts[FOLLOWS], sizeof(uint32_t), size);
}

static void *start_of(const struct sk_plan_table *table)
{
	return (char *)(uintptr_t)&table->offset + table->offset;
}

/* Fill a table. */
static void put_records(const struct sk_plan_table *table, const void *records, size_t size)
{
	if (table->count)
		memcpy(start_of(table), records, table->count * size);
}

/* Align to SK_PLAN_ALIGN. */
static uint8_t *align(uint8_t *bytes)
{
	return bytes + (-(uintptr_t)bytes & (SK_PLAN_ALIGN - 1));
}

static void open_tables(struct sk_plan_writer *writer, const struct sk_plan *header, uint64_t size)
{
	struct sk_plan *plan;

	writer->image->bytes = align(sk_arena_alloc(writer->arena, size + SK_PLAN_ALIGN, 1));
	writer->strings_offset = size;
	writer->plan = plan = memcpy(writer->image->bytes, header, sizeof(*header));
	writer->lanes = start_of(&plan->lanes);
	writer->launches = start_of(&plan->launches);
	writer->tasks = start_of(&plan->tasks);
	writer->costs = start_of(&plan->costs);
	writer->kernels = start_of(&plan->kernels);
	writer->tensors = start_of(&plan->tensors);
	writer->bindings = start_of(&plan->bindings);
	writer->steps = start_of(&plan->steps);
	writer->calls = start_of(&plan->calls);
	writer->awaits = start_of(&plan->awaits);
	put_records(&plan->lists, writer->lists.records.items, sizeof(struct sk_plan_argument));
	put_records(&plan->operands, writer->lists.operands.items, sizeof(uint32_t));
	writer->loops = start_of(&plan->loops);
	put_records(&plan->terms, writer->lists.terms.items, sizeof(struct sk_plan_term));
	put_records(&plan->patterns, writer->lists.patterns.items, sizeof(struct sk_plan_pattern));
	writer->symbols = start_of(&plan->symbols);
	writer->follows = start_of(&plan->follows);
}

bool sk_plan_lay_out(struct sk_plan_writer *writer)
{
	struct sk_plan header = {0};
	uint64_t size;

	count_copies(writer);
	writer->tensor_count = number_tensors(writer->model, writer->numbers);
	sk_plan_make_lists(writer);
	if (!lay_out(writer, &header, &size))
		return false;
	open_tables(writer, &header, size);
	return true;
}

/* An empty table gets no alignment: it may be the last one. */
static bool add_shared(struct sk_plan_writer *writer, struct sk_plan_table *place, const struct sk_plan_shared *table,
		       uint64_t *size)
{
	return !table->bytes.count ||
	       add_table(writer->plan, place, table->bytes.count / table->record_size, table->record_size, size);
}

static bool lay_out_rest(struct sk_plan_writer *writer, uint64_t *size)
{
	struct sk_plan *plan = writer->plan;

	*size = writer->strings_offset + writer->strings.count;
	if (*size > INT32_MAX)
		return false;
	plan->strings.count = (uint32_t)writer->strings.count;
	plan->strings.offset = (int32_t)(writer->strings_offset - offset_of(writer, &plan->strings.offset));
	return add_shared(writer, &plan->forms, &writer->forms, size) &&
	       add_shared(writer, &plan->types, &writer->types, size) &&
	       add_shared(writer, &plan->partitions, &writer->partitions, size) &&
	       add_shared(writer, &plan->homes, &writer->homes, size);
}

/* Replace the number of a table's record by a reference to it. */
static void refer(int32_t *field, const struct sk_plan_table *table, size_t record_size)
{
	*field = (int32_t)((char *)start_of(table) + (size_t)*field * record_size - (char *)field);
}

/* Replace the value of sk_plan_later_string by a reference. */
static void refer_string(int32_t *field, const struct sk_plan *plan)
{
	if (*field)
		*field = (int32_t)((char *)start_of(&plan->strings) + *field - 1 - (char *)field);
}

static void refer_all(struct sk_plan *plan)
{
	struct sk_plan_launch *launches = start_of(&plan->launches);
	struct sk_plan_tensor *tensors = start_of(&plan->tensors);
	struct sk_plan_form *forms = start_of(&plan->forms);
	struct sk_plan_type *types = start_of(&plan->types);

	for (uint32_t i = 0; i < plan->launches.count; i++)
		refer(&launches[i].form, &plan->forms, sizeof(*forms));
	for (uint32_t i = 0; i < plan->tensors.count; i++)
		refer(&tensors[i].type, &plan->types, sizeof(*types));
	for (uint32_t i = 0; i < plan->forms.count; i++) {
		refer_string(&forms[i].scope, plan);
		refer_string(&forms[i].network, plan);
	}
	for (uint32_t i = 0; i < plan->types.count; i++)
		refer_string(&types[i].range, plan);
}

bool sk_plan_join(struct sk_plan_writer *writer)
{
	const struct sk_plan_shared *shared[] = {&writer->forms, &writer->types, &writer->partitions, &writer->homes};
	struct sk_plan *plan = writer->plan;
	const struct sk_plan_table *tables[] = {&plan->forms, &plan->types, &plan->partitions, &plan->homes};
	struct sk_plan_image *image = writer->image;

	if (!lay_out_rest(writer, &image->size))
		return false;
	plan->size = image->size;

	uint8_t *bytes = align(sk_arena_alloc(writer->model->arena, image->size + SK_PLAN_ALIGN, 1));

	memset(bytes + writer->strings_offset, 0, image->size - writer->strings_offset); /* the gaps between tables */
	memcpy(bytes, image->bytes, writer->strings_offset);
	memcpy(bytes + writer->strings_offset, writer->strings.items, writer->strings.count);
	for (int i = 0; i < 4; i++)
		if (tables[i]->count)
			memcpy(bytes + ((uint8_t *)start_of(tables[i]) - image->bytes), shared[i]->bytes.items,
			       shared[i]->bytes.count);
	refer_all((struct sk_plan *)bytes);
	image->bytes = bytes;
	return true;
}
