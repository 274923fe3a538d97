/* The section .sk.dims (format/skdims.h): the numbers of the plan that depend on sizes. Input: their forms, collected
 * while the plan's records were written. Output: the section's bytes. See planning-parts.h. */
#include "src/planning/planning-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

/* ---- forms of records ---- */

void sk_plan_key_append(struct sk_plan_key *key, const void *bytes, size_t size)
{
	while (key->bytes.capacity - key->bytes.count < size)
		key->bytes.items =
			sk_array_reserve(key->arena, key->bytes.items, key->bytes.capacity, &key->bytes.capacity, 1);
	if (size)
		memcpy(key->bytes.items + key->bytes.count, bytes, size);
	key->bytes.count += size;
}

/* Equal forms have one address. */
void sk_plan_key_append_sizes(struct sk_plan_key *key, const struct sk_varying *varying)
{
	for (uint32_t i = 0; varying && i < varying->count; i++) {
		const struct sk_varying_field *field = &varying->fields[i];
		const uint64_t words[] = {field->table, field->record, field->offset, (uintptr_t)field->size};

		sk_plan_key_append(key, words, sizeof(words));
	}
}

void sk_plan_note_sizes(struct sk_plan_writer *writer, const struct sk_varying *varying, enum sk_dims_table table,
			uint32_t record)
{
	for (uint32_t i = 0; varying && i < varying->count; i++)
		if (varying->fields[i].table == table)
			sk_plan_note_size(writer, table, record + varying->fields[i].record, varying->fields[i].offset,
					  varying->fields[i].size);
}

void sk_plan_note_size(struct sk_plan_writer *writer, enum sk_dims_table table, uint32_t record, size_t offset,
		       const struct sk_size *size)
{
	if (size)
		sk_array_push(writer->arena, &writer->sizes,
			      (struct sk_varying_field){table, record, (uint32_t)offset, size});
}

/* ---- values ---- */

/* A step of an evaluation: a number, which needs no value as a summand of 0 or less, or a value. */
struct step {
	bool is_number;
	int64_t number;
	uint32_t value;
};

struct maker {
	const struct sk_model *model;
	struct sk_arena *arena;
	uint32_t *dimensions; /* by dimension of the model: its number in the section */
	SK_ARRAY(struct sk_dims_dimension) records;
	SK_ARRAY(struct sk_dims_value) values;
	SK_ARRAY(uint64_t) leasts; /* by value: at the least sizes, since values never decrease */
	SK_ARRAY(struct sk_dims_field) fields;
	SK_ARRAY(struct sk_dims_slot) slots;
	SK_ARRAY(struct step) steps;
	SK_ARRAY(char) strings;
	struct sk_map known; /* bytes of a value -> its number */
	bool failed; /* a form has a part that can be negative */
};

static uint64_t least_of(const struct maker *maker, const struct sk_dims_value *value)
{
	uint64_t a = value->op < SK_DIMS_ADD ? 0 : maker->leasts.items[value->a];
	bool pair = value->op == SK_DIMS_ADD || value->op == SK_DIMS_MULTIPLY || value->op == SK_DIMS_MIN ||
		    value->op == SK_DIMS_MAX;
	uint64_t b = pair ? maker->leasts.items[value->b] : value->number;

	switch ((enum sk_dims_op)value->op) {
	case SK_DIMS_DIMENSION:
		return maker->records.items[value->a].least;
	case SK_DIMS_ADD:
		return a + b;
	case SK_DIMS_SUBTRACT:
		return a - b;
	case SK_DIMS_MULTIPLY:
		return a * b;
	case SK_DIMS_FLOOR:
		return b ? a / b : 0;
	case SK_DIMS_MIN:
		return a < b ? a : b;
	case SK_DIMS_MAX:
		return a > b ? a : b;
	default:
		return value->number;
	}
}

static struct step add_value(struct maker *maker, struct sk_dims_value value)
{
	uint32_t number = (uint32_t)maker->values.count;
	const char *key = sk_arena_copy(maker->arena, (const char *)&value, sizeof(value));
	uint32_t known = sk_map_insert(&maker->known, key, sizeof(value), number);

	if (known == number) {
		sk_array_push(maker->arena, &maker->values, value);
		sk_array_push(maker->arena, &maker->leasts, least_of(maker, &value));
	}
	return (struct step){.value = known};
}

static struct step number_step(int64_t number)
{
	return (struct step){.is_number = true, .number = number};
}

static uint32_t value_of(struct maker *maker, struct step step)
{
	if (!step.is_number)
		return step.value;
	maker->failed |= step.number < 0;
	return add_value(maker, (struct sk_dims_value){.op = SK_DIMS_NUMBER, .number = (uint64_t)step.number}).value;
}

static struct step pair(struct maker *maker, enum sk_dims_op op, struct step a, struct step b)
{
	uint32_t first = value_of(maker, a), second = value_of(maker, b);

	return add_value(maker, (struct sk_dims_value){.op = (uint8_t)op, .a = first, .b = second});
}

static struct step add(struct maker *maker, struct step a, struct step b)
{
	if (a.is_number && b.is_number)
		return number_step(a.number + b.number);
	if (a.is_number)
		return add(maker, b, a);
	if (!b.is_number || b.number > 0)
		return pair(maker, SK_DIMS_ADD, a, b);
	maker->failed |= maker->leasts.items[a.value] < (uint64_t)-b.number;
	return b.number ? add_value(maker, (struct sk_dims_value){.op = SK_DIMS_SUBTRACT,
								  .a = a.value,
								  .number = (uint64_t)-b.number})
			: a;
}

static struct step multiply(struct maker *maker, struct step a, struct step b)
{
	return a.is_number && b.is_number ? number_step(a.number * b.number) : pair(maker, SK_DIMS_MULTIPLY, a, b);
}

static struct step divide(struct maker *maker, struct step a, struct step b)
{
	if (!b.is_number || b.number < 1)
		maker->failed = true;
	return add_value(maker, (struct sk_dims_value){
					.op = SK_DIMS_FLOOR, .a = value_of(maker, a), .number = (uint64_t)b.number});
}

static uint32_t put_step(void *context, const struct sk_size_step *step)
{
	struct maker *maker = context;
	const struct step none = {0}, *steps = maker->steps.items;
	bool is_pair = step->kind != SK_SIZE_NUMBER && step->kind != SK_SIZE_DIMENSION;
	struct step a = is_pair ? steps[step->a] : none, b = is_pair ? steps[step->b] : none, result = none;

	switch (step->kind) {
	case SK_SIZE_NUMBER:
		result = number_step(step->number);
		break;
	case SK_SIZE_DIMENSION:
		result = add_value(maker,
				   (struct sk_dims_value){.op = SK_DIMS_DIMENSION, .a = maker->dimensions[step->a]});
		break;
	case SK_SIZE_SUM:
		result = add(maker, a, b);
		break;
	case SK_SIZE_PRODUCT:
		result = multiply(maker, a, b);
		break;
	case SK_SIZE_FLOOR:
		result = divide(maker, a, b);
		break;
	case SK_SIZE_MIN:
		result = pair(maker, SK_DIMS_MIN, a, b);
		break;
	case SK_SIZE_MAX:
		result = pair(maker, SK_DIMS_MAX, a, b);
		break;
	}
	sk_array_push(maker->arena, &maker->steps, result);
	return (uint32_t)maker->steps.count - 1;
}

/* ---- dimensions and fields ---- */

/* Return the place of the string. */
static int32_t add_string(struct maker *maker, const char *string)
{
	int32_t place = (int32_t)maker->strings.count;

	for (const char *at = string; *at; at++)
		sk_array_push(maker->arena, &maker->strings, *at);
	sk_array_push(maker->arena, &maker->strings, '\0');
	return place;
}

/* Dimensions of one size are kept for their names, as far as there is room. */
static bool is_kept(const struct sk_sizes *sizes, size_t number)
{
	const struct sk_size_dimension *dimension = sk_sizes_dimension(sizes, number);
	size_t before = 0, bounded = 0;

	for (size_t d = 0; d < sk_sizes_count(sizes); d++) {
		const struct sk_size_dimension *other = sk_sizes_dimension(sizes, d);

		bounded += other->least < other->most;
		before += other->least == other->most && d < number;
	}
	return dimension->least < dimension->most || bounded + before < SK_MAX_DIMENSIONS;
}

/* The strings begin with a byte that no reference leads to. */
static void add_dimensions(struct maker *maker)
{
	const struct sk_sizes *sizes = maker->model->sizes;

	maker->dimensions = SK_NEW_ARRAY(maker->arena, uint32_t, sk_sizes_count(sizes));
	sk_array_push(maker->arena, &maker->strings, '\0');
	for (size_t d = 0; d < sk_sizes_count(sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(sizes, d);

		if (!is_kept(sizes, d))
			continue;

		struct sk_dims_dimension record = {.least = dimension->least,
						   .most = dimension->most,
						   .multiple = dimension->multiple,
						   .usual = dimension->usual};

		record.name = add_string(maker, dimension->name);
		record.network = dimension->network ? add_string(maker, dimension->network) : 0;
		maker->dimensions[d] = (uint32_t)maker->records.count;
		sk_array_push(maker->arena, &maker->records, record);
	}
}

static bool has_size(const struct sk_varying *varying, const struct sk_size *size)
{
	for (uint32_t i = 0; varying && i < varying->count; i++)
		if (varying->fields[i].size == size)
			return true;
	return false;
}

static bool list_has_size(const struct sk_model *model, const struct sk_argument *argument, const struct sk_size *size)
{
	for (size_t i = 0; argument->list && argument->of_sizes && i < argument->list->count; i++)
		if (model->size_lists.items[argument->slot + i] == size)
			return true;
	return false;
}

static bool task_has_size(const struct sk_model *model, const struct sk_task *task, const struct sk_size *size)
{
	bool found = has_size(task->bound.varying, size);

	for (uint32_t a = 0; a < task->bound.argument_count; a++)
		found |= has_size(task->bound.arguments[a].varying, size) ||
			 list_has_size(model, &task->bound.arguments[a], size);
	return found;
}

/* Report the size with the first tensor or task that has it. */
static void report_negative(const struct maker *maker, const struct sk_size *size)
{
	const struct sk_model *model = maker->model;
	struct sk_place place = {.file = model->manifest};
	const char *owner = "";

	for (size_t t = model->tasks.count; t-- > 0;)
		if (task_has_size(model, &model->tasks.items[t], size)) {
			place = model->tasks.items[t].place;
			owner = sk_arena_print(maker->arena, "task '%s': ", model->tasks.items[t].name);
		}
	for (size_t t = model->tensors.count; t-- > 0;)
		if (has_size(model->tensors.items[t].varying, size)) {
			place = model->tensors.items[t].place;
			owner = sk_arena_print(maker->arena, "tensor '%s': ", model->tensors.items[t].name);
		}
	if (sk_size_is_number(size, NULL))
		sk_error(model->diag, place,
			 "%san element of its list is %s, which is negative; lists with other elements that depend on "
			 "sizes must not have such ones",
			 owner, sk_size_text(maker->arena, size));
	else
		sk_error(model->diag, place,
			 "%sthe size %s has a part that is negative at some sizes; give it another form, or let the "
			 "least sizes be larger",
			 owner, sk_size_text(maker->arena, size));
}

static bool add_size(struct maker *maker, const struct sk_size *size, uint32_t *value)
{
	uint32_t step = sk_size_walk(size, put_step, maker);

	*value = value_of(maker, maker->steps.items[step]);
	if (maker->failed)
		report_negative(maker, size);
	return !maker->failed;
}

static bool add_field(struct maker *maker, const struct sk_varying_field *field)
{
	uint32_t value;

	if (!add_size(maker, field->size, &value))
		return false;
	sk_array_push(maker->arena, &maker->fields,
		      (struct sk_dims_field){.table = (uint16_t)field->table,
					     .offset = (uint16_t)field->offset,
					     .record = field->record,
					     .value = value});
	return true;
}

static int compare_fields(const void *a, const void *b)
{
	const struct sk_varying_field *one = a, *other = b;

	if (one->table != other->table)
		return one->table < other->table ? -1 : 1;
	if (one->record != other->record)
		return one->record < other->record ? -1 : 1;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

/* Launches can share a record. Its fields are then noted again. */
static bool add_fields(struct maker *maker, struct sk_varying_field *fields, size_t count)
{
	if (count)
		qsort(fields, count, sizeof(*fields), compare_fields);
	for (size_t i = 0; i < count; i++)
		if (!i || compare_fields(&fields[i - 1], &fields[i]))
			if (!add_field(maker, &fields[i]))
				return false;
	return true;
}

/* Lists that kernels read are the first slots. */
static bool add_lists(struct maker *maker)
{
	const struct sk_model *model = maker->model;

	for (size_t i = 0; i < model->size_lists.count; i++) {
		struct sk_dims_slot slot;

		if (!add_size(maker, model->size_lists.items[i], &slot.value))
			return false;
		sk_array_push(maker->arena, &maker->slots, slot);
	}
	return true;
}

/* ---- the section ---- */

/* Append a table, and return its place. */
static size_t place_table(struct sk_dims *dims, struct sk_plan_table *table, size_t count, size_t record_size)
{
	size_t place = (dims->size + 7) / 8 * 8;

	table->count = (uint32_t)count;
	table->offset = count ? (int32_t)(place - (size_t)((char *)&table->offset - (char *)dims)) : 0;
	dims->size = place + count * record_size;
	return place;
}

static void put_table(uint8_t *bytes, size_t place, const void *records, size_t size)
{
	if (size)
		memcpy(bytes + place, records, size);
}

static void lay_out(const struct maker *maker, struct sk_arena *arena, struct sk_plan_image *image)
{
	struct sk_dims dims = {.magic = SK_DIMS_MAGIC, .version = SK_DIMS_VERSION, .size = sizeof(dims)};
	size_t dimensions = place_table(&dims, &dims.dimensions, maker->records.count, sizeof(*maker->records.items));
	size_t values = place_table(&dims, &dims.values, maker->values.count, sizeof(*maker->values.items));
	size_t fields = place_table(&dims, &dims.fields, maker->fields.count, sizeof(*maker->fields.items));
	size_t strings = place_table(&dims, &dims.strings, maker->strings.count, 1);
	size_t slots = place_table(&dims, &dims.slots, maker->slots.count, sizeof(*maker->slots.items));
	uint8_t *bytes = (void *)SK_NEW_ARRAY(arena, uint64_t, (dims.size + 7) / 8);
	struct sk_dims_dimension *records = (void *)(bytes + dimensions);

	put_table(bytes, 0, &dims, sizeof(dims));
	put_table(bytes, dimensions, maker->records.items, maker->records.count * sizeof(*records));
	put_table(bytes, values, maker->values.items, maker->values.count * sizeof(*maker->values.items));
	put_table(bytes, fields, maker->fields.items, maker->fields.count * sizeof(*maker->fields.items));
	put_table(bytes, strings, maker->strings.items, maker->strings.count);
	put_table(bytes, slots, maker->slots.items, maker->slots.count * sizeof(*maker->slots.items));
	for (size_t i = 0; i < maker->records.count; i++) {
		size_t record = dimensions + i * sizeof(*records);

		records[i].name += (int32_t)(strings - (record + offsetof(struct sk_dims_dimension, name)));
		if (records[i].network)
			records[i].network +=
				(int32_t)(strings - (record + offsetof(struct sk_dims_dimension, network)));
	}
	image->sizes = bytes;
	image->sizes_size = dims.size;
}

bool sk_plan_write_sizes(struct sk_plan_writer *writer)
{
	struct maker maker = {.model = writer->model, .arena = writer->arena};

	if (!writer->model->has_bounds)
		return true;
	sk_map_init(&maker.known, writer->arena);
	add_dimensions(&maker);
	if (!add_fields(&maker, writer->sizes.items, writer->sizes.count) || !add_lists(&maker))
		return false;
	lay_out(&maker, writer->model->arena, writer->image);
	return true;
}

/* Slots are the last table. Those of lists come first, and code may read them too. */
void sk_plan_add_slots(struct sk_arena *arena, const bool *reads, uint32_t value_count, struct sk_plan_image *image)
{
	struct sk_dims *dims = (void *)SK_NEW_ARRAY(arena, uint64_t, image->sizes_size / 8 + value_count + 2);
	struct sk_dims_slot *slots;
	size_t listed, count;

	memcpy(dims, image->sizes, image->sizes_size);
	count = listed = dims->slots.count;
	dims->size -= listed * sizeof(*slots);
	for (uint32_t i = 0; i < value_count; i++)
		count += reads[i];
	slots = (void *)((uint8_t *)dims + place_table(dims, &dims->slots, count, sizeof(*slots)));
	slots += listed;
	for (uint32_t i = 0; i < value_count; i++)
		if (reads[i])
			(slots++)->value = i;
	image->sizes = (uint8_t *)dims;
	image->sizes_size = dims->size;
}
