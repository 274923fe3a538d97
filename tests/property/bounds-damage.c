/* Damage to .sk.dims; see bounds-link.h. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "format/plan/dims.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "tests/lib/random.h"
#include "tests/property/bounds-link.h"

/* ---- changes ---- */

static const struct member {
	const char *name;
	size_t table, record_size, offset, size;
} members[] = {
#define MEMBER(table, type, member)                                                                                    \
	{                                                                                                              \
#table "." #member, offsetof(struct sk_dims, table), sizeof(struct type),                              \
			offsetof(struct type, member), sizeof(((struct type *)0)->member)                              \
	}
	MEMBER(values, sk_dims_value, op),     MEMBER(values, sk_dims_value, a),
	MEMBER(values, sk_dims_value, b),      MEMBER(values, sk_dims_value, number),
	MEMBER(values, sk_dims_value, number), MEMBER(fields, sk_dims_field, table),
	MEMBER(fields, sk_dims_field, offset), MEMBER(fields, sk_dims_field, record),
	MEMBER(fields, sk_dims_field, value),  MEMBER(fields, sk_dims_field, value),
	MEMBER(fields, sk_dims_field, value),  MEMBER(slots, sk_dims_slot, value),
#undef MEMBER
};

static uint64_t read_member(const uint8_t *place, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, place, size); /* little endian */
	return number;
}

enum { KINDS = 6 };

/* Return another number for one that is `number`. */
static uint64_t change(uint32_t kind, uint64_t number, uint64_t *random)
{
	switch (kind) {
	case 0:
		return number + 1;
	case 1:
		return number - 1;
	case 2:
		return number * 2;
	case 3:
		return random_below(random, 8);
	case 4:
		return number ^ UINT64_C(1) << random_below(random, 8);
	default:
		return number + 8;
	}
}

static void damage_member(uint8_t *bytes, uint64_t *random, char *text, size_t text_size)
{
	const struct member *member = &members[random_below(random, sizeof(members) / sizeof(*members))];
	struct sk_plan_table table;
	uint8_t *records, *one, *other;
	uint64_t before, now;

	memcpy(&table, bytes + member->table, sizeof(table));
	if (!table.count)
		return;
	records = bytes + member->table + table.offset + member->offset;
	one = records + random_below(random, table.count) * member->record_size;
	other = records + random_below(random, table.count) * member->record_size;
	before = read_member(one, member->size);
	now = random_below(random, 2) ? read_member(other, member->size)
				      : change(random_below(random, KINDS), before, random);
	if (random_below(random, 4) == 0 && now == read_member(other, member->size))
		memcpy(other, &before, member->size); /* exchanged */
	memcpy(one, &now, member->size);
	snprintf(text, text_size, "%s: %llu for %llu", member->name, (unsigned long long)now,
		 (unsigned long long)before);
}

/* Readers refuse most changes, since a record has the largest number of its value. Replace one value by another that
 * has the same largest number: by a number, a minimum or maximum, or in a field by any other value. */
static void damage_value(const struct sk_dims_view *dims, uint8_t *bytes, uint64_t *random, char *text,
			 size_t text_size)
{
	struct sk_dims *section = (void *)bytes;
	struct sk_dims_value *values = (void *)((uint8_t *)&section->values.offset + section->values.offset);
	struct sk_dims_field *fields = (void *)((uint8_t *)&section->fields.offset + section->fields.offset);
	uint32_t value = random_below(random, dims->value_count), field = random_below(random, dims->field_count);
	uint64_t number = dims->most[value];

	for (uint32_t i = 0; i < dims->value_count && random_below(random, 2); i++)
		if (i != fields[field].value && dims->most[i] == dims->most[fields[field].value]) {
			snprintf(text, text_size, "field %u: value %u for %u", field, i, fields[field].value);
			fields[field].value = i;
			return;
		}
	if (values[value].op == SK_DIMS_FLOOR && random_below(random, 2)) {
		snprintf(text, text_size, "value %u: divided by one more", value);
		values[value].number++;
	} else if (values[value].op == SK_DIMS_MIN || values[value].op == SK_DIMS_MAX) {
		snprintf(text, text_size, "value %u: the other of min and max", value);
		values[value].op = values[value].op == SK_DIMS_MIN ? SK_DIMS_MAX : SK_DIMS_MIN;
	} else {
		snprintf(text, text_size, "value %u: %llu at all sizes", value, (unsigned long long)number);
		values[value] = (struct sk_dims_value){.op = SK_DIMS_NUMBER, .number = number};
	}
}

static uint8_t *copy_sizes(struct sk_arena *arena, const struct link *link)
{
	uint8_t *bytes = (void *)SK_NEW_ARRAY(arena, uint64_t, link->image.sizes_size / 8 + 1);

	memcpy(bytes, link->image.sizes, link->image.sizes_size);
	return bytes;
}

/* ---- each change ---- */

static uint32_t count_of(const uint8_t *bytes, size_t member)
{
	struct sk_plan_table table;

	memcpy(&table, bytes + members[member].table, sizeof(table));
	/* Those that are drawn more often are in the list more than once. */
	return member && !strcmp(members[member].name, members[member - 1].name) ? 0 : table.count;
}

uint32_t count_changes(const struct link *link)
{
	uint32_t count = 0;

	for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++)
		count += count_of(link->image.sizes, m) * (KINDS + 1);
	return count;
}

/* The last kind is the number of the next record. */
static void make_change(uint8_t *bytes, uint32_t number, char *text, size_t text_size)
{
	uint64_t random = number, before, now;
	const struct member *member = members;
	struct sk_plan_table table;
	uint32_t record, kind;
	uint8_t *records;

	for (; number >= count_of(bytes, (size_t)(member - members)) * (KINDS + 1); member++)
		number -= count_of(bytes, (size_t)(member - members)) * (KINDS + 1);
	memcpy(&table, bytes + member->table, sizeof(table));
	record = number / (KINDS + 1);
	kind = number % (KINDS + 1);
	records = bytes + member->table + table.offset + member->offset;
	before = read_member(records + record * member->record_size, member->size);
	now = kind < KINDS ? change(kind, before, &random)
			   : read_member(records + (record + 1) % table.count * member->record_size, member->size);
	memcpy(records + record * member->record_size, &now, member->size);
	snprintf(text, text_size, "%s of record %u: %llu for %llu", member->name, record, (unsigned long long)now,
		 (unsigned long long)before);
}

bool opens_changed(const struct link *link, uint32_t number)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_plan_view plan = link->plan;
	uint8_t *bytes = copy_sizes(arena, link);
	struct sk_dims_view dims;
	char text[80], error[256];
	bool opens;

	make_change(bytes, number, text, sizeof(text));
	opens = sk_dims_open(bytes, link->image.sizes_size, &plan, &dims, error, sizeof(error));
	if (opens)
		sk_dims_close(&dims);
	sk_arena_destroy(arena);
	return opens;
}

void damage_sizes(struct link *link)
{
	const struct sk_dims_view *dims = &link->dims;
	uint64_t *random = link->change->random;
	uint8_t *bytes = copy_sizes(link->arena, link);

	link->image.sizes = bytes;
	snprintf(link->damaged, sizeof(link->damaged), "nothing");
	if (link->change->number != SK_NO_INDEX)
		make_change(bytes, link->change->number, link->damaged, sizeof(link->damaged));
	else if (dims->value_count && dims->field_count && random_below(random, 3))
		damage_value(dims, bytes, random, link->damaged, sizeof(link->damaged));
	else
		damage_member(bytes, random, link->damaged, sizeof(link->damaged));
}

/* ---- effects ---- */

/* True if only the manifest gives the number: a size of a tensor, a scalar that tasks set, or the place of a view. */
static bool is_free(const struct link *link, const struct sk_dims_field *field)
{
	const struct sk_plan_view *view = &link->plan;

	if (field->table == SK_DIMS_COSTS || field->table == SK_DIMS_TYPES)
		return true;
	if ((field->table != SK_DIMS_LISTS && field->table != SK_DIMS_ARGUMENTS) ||
	    field->offset == offsetof(struct sk_plan_argument, offset))
		return field->table == SK_DIMS_LISTS || field->table == SK_DIMS_ARGUMENTS;
	for (uint32_t c = 0; c < view->call_count; c++) {
		const struct sk_plan_call *call = &view->calls[c];
		uint32_t first = field->table == SK_DIMS_LISTS ? call->list : call->first_argument;
		const char *signature = sk_plan_string(&view->kernels[call->kernel].signature);
		const struct sk_signature *parsed;
		struct sk_diag diag;

		if (field->record < first || field->record >= first + call->argument_count)
			continue;
		sk_diag_init(&diag, link->arena);
		parsed = sk_signature_parse_folded(link->arena, &diag, (struct sk_place){0}, signature);
		return parsed && field->record - first < parsed->parameter_count &&
		       !strcmp(parsed->parameters[field->record - first].name, "factor");
	}
	return false;
}

/* Return the field's number in the other package. */
static uint64_t number_there(const struct link *other, const struct sk_dims_field *field, const uint64_t *values)
{
	uint32_t value = sk_dims_value_of(&other->dims, (enum sk_dims_table)field->table, field->record, field->offset);

	return value == SK_NO_INDEX ? UINT64_MAX : values[value];
}

/* Compare all fields of one with those of the other. A field without a value has the largest number at all sizes. If
 * sizes of tensors differ, others follow. */
static enum damage compare_fields(const struct link *one, const uint64_t *values, const struct link *other,
				  const uint64_t *other_values)
{
	enum damage damage = SAME;
	bool types = false;

	for (uint32_t i = 0; i < one->dims.field_count; i++) {
		const struct sk_dims_field *field = &one->dims.fields[i];
		uint64_t there = number_there(other, field, other_values);

		if (there == UINT64_MAX)
			there = one->dims.most[field->value];
		if (there == values[field->value])
			continue;
		types |= field->table == SK_DIMS_TYPES;
		if (!types && !is_free(one, field))
			return WRONG;
		damage = OTHER_NETWORK;
	}
	return damage;
}

enum damage compare_damage(const struct link *link, const struct link *damaged, const uint64_t *sizes)
{
	struct sk_arena *arena = sk_arena_create();
	uint64_t *values = SK_NEW_ARRAY(arena, uint64_t, link->dims.value_count + (size_t)1);
	uint64_t *others = SK_NEW_ARRAY(arena, uint64_t, damaged->dims.value_count + (size_t)1);
	enum damage one, other;

	sk_dims_evaluate(&link->dims, sizes, values);
	sk_dims_evaluate(&damaged->dims, sizes, others);
	one = compare_fields(link, values, damaged, others);
	other = compare_fields(damaged, others, link, values);
	sk_arena_destroy(arena);
	return one > other ? one : other;
}
