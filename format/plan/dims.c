/* The reader of .sk.dims; see dims.h. In: the bytes of an untrusted section, and an open plan. Out: a view that is used
 * in place, or a sentence that names the record and the error. */
#include "format/plan/dims.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan-checker.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

/* The sizes are part of the format: a change requires a new SK_DIMS_VERSION. */
_Static_assert(sizeof(struct sk_dims) == 56, "struct sk_dims");
_Static_assert(sizeof(struct sk_dims_dimension) == 40, "struct sk_dims_dimension");
_Static_assert(sizeof(struct sk_dims_value) == 24, "struct sk_dims_value");
_Static_assert(sizeof(struct sk_dims_field) == 16, "struct sk_dims_field");
_Static_assert(sizeof(struct sk_dims_slot) == 4, "struct sk_dims_slot");

/* The largest value: sums and differences of two never overflow 64 bits. */
#define LARGEST ((uint64_t)INT64_MAX)

/* The current place, for messages, and their buffer. */
struct reader {
	const struct sk_plan_view *plan;
	struct sk_dims_view *view;
	uint64_t *least; /* by value: at the least sizes */
	uint32_t *networks; /* by value: the network of its dimensions, by the first of these; SK_NO_INDEX: none */
	const char *record; /* "value", "field" …; NULL: the header */
	uint32_t index; /* of the record */
	char *error;
	size_t error_size;
};

static bool fail(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(const struct reader *reader, const char *format, ...)
{
	char where[48] = "", reason[256];
	va_list args;

	if (reader->record)
		snprintf(where, sizeof(where), "%s %u: ", reader->record, reader->index);
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (reader->error_size)
		snprintf(reader->error, reader->error_size, "sizes: %s%s", where, reason);
	return false;
}

/* ---- the plan's tables ---- */

enum { MOST_FIELDS = 20 };

/* The fields of a table that may vary. */
struct varying {
	const char *name;
	size_t record_size;
	size_t records, count; /* offsets in struct sk_plan_view */
	uint16_t fields[MOST_FIELDS]; /* their offsets, ascending; 0 after the first place: no more */
};

#define VARYING(records, count, type, ...)                                                                             \
	{                                                                                                              \
#records, sizeof(struct type), offsetof(struct sk_plan_view, records),                                 \
			offsetof(struct sk_plan_view, count),                                                          \
		{                                                                                                      \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}
#define SHAPE(type)                                                                                                    \
	offsetof(struct type, shape), offsetof(struct type, shape[1]), offsetof(struct type, shape[2]),                \
		offsetof(struct type, shape[3]), offsetof(struct type, shape[4]), offsetof(struct type, shape[5]),     \
		offsetof(struct type, shape[6]), offsetof(struct type, shape[7])
#define OF_ARGUMENT                                                                                                    \
	offsetof(struct sk_plan_argument, offset), offsetof(struct sk_plan_argument, size),                            \
		offsetof(struct sk_plan_argument, element_bytes), offsetof(struct sk_plan_argument, value)

static const struct varying tables[SK_DIMS_TABLE_COUNT] = {
	[SK_DIMS_TYPES] =
		VARYING(types, type_count, sk_plan_type, offsetof(struct sk_plan_type, bytes), SHAPE(sk_plan_type)),
	[SK_DIMS_STEPS] = VARYING(steps, step_count, sk_plan_step, offsetof(struct sk_plan_step, extent)),
	[SK_DIMS_ARGUMENTS] = VARYING(arguments, argument_count, sk_plan_argument, OF_ARGUMENT),
	[SK_DIMS_LISTS] = VARYING(lists, list_count, sk_plan_argument, OF_ARGUMENT),
	[SK_DIMS_LOOPS] = VARYING(loops, loop_count, sk_plan_loop, offsetof(struct sk_plan_loop, extent)),
	[SK_DIMS_TERMS] = VARYING(terms, term_count, sk_plan_term, offsetof(struct sk_plan_term, factor),
				  offsetof(struct sk_plan_term, addend), offsetof(struct sk_plan_term, divisor),
				  offsetof(struct sk_plan_term, modulus)),
	[SK_DIMS_PATTERNS] =
		VARYING(patterns, pattern_count, sk_plan_pattern, offsetof(struct sk_plan_pattern, width),
			offsetof(struct sk_plan_pattern, stride), offsetof(struct sk_plan_pattern, count),
			offsetof(struct sk_plan_pattern, inner_bytes), offsetof(struct sk_plan_pattern, halo),
			offsetof(struct sk_plan_pattern, table_stride), SHAPE(sk_plan_pattern)),
	[SK_DIMS_PARTITIONS] =
		VARYING(partitions, partition_count, sk_plan_partition, offsetof(struct sk_plan_partition, extent),
			offsetof(struct sk_plan_partition, unit), offsetof(struct sk_plan_partition, rows)),
	[SK_DIMS_COSTS] = VARYING(costs, cost_count, sk_plan_cost, offsetof(struct sk_plan_cost, values[0]),
				  offsetof(struct sk_plan_cost, values[1]), offsetof(struct sk_plan_cost, values[2]),
				  offsetof(struct sk_plan_cost, values[3]), offsetof(struct sk_plan_cost, values[4]),
				  offsetof(struct sk_plan_cost, values[5]), offsetof(struct sk_plan_cost, values[6])),
};

static const char *records_of(const struct sk_plan_view *plan, enum sk_dims_table table)
{
	const char *records;

	memcpy(&records, (const char *)plan + tables[table].records, sizeof(records));
	return records;
}

static uint32_t count_of(const struct sk_plan_view *plan, enum sk_dims_table table)
{
	uint32_t count;

	memcpy(&count, (const char *)plan + tables[table].count, sizeof(count));
	return count;
}

static bool may_vary(enum sk_dims_table table, uint16_t offset)
{
	const uint16_t *fields = tables[table].fields;

	for (size_t i = 0; i < MOST_FIELDS && (i == 0 || fields[i]); i++)
		if (fields[i] == offset)
			return true;
	return false;
}

/* ---- the section's tables ---- */

/* Return the offset in the section that a place-relative field refers to. */
static int64_t target_of(const struct sk_dims *dims, const int32_t *field)
{
	return ((const char *)field - (const char *)dims) + (int64_t)*field;
}

static bool open_table(const struct reader *reader, const char *name, const struct sk_plan_table *table,
		       size_t record_size, uint32_t most, const void **records, uint32_t *count)
{
	const struct sk_dims *dims = reader->view->dims;
	int64_t start = target_of(dims, &table->offset);
	size_t alignment = record_size % 8 == 0 ? 8 : record_size % 4 == 0 ? 4 : 1;

	*count = table->count;
	*records = NULL;
	if (table->count == 0)
		return true;
	if (table->count > most)
		return fail(reader, "%u %s are more than %u", table->count, name, most);
	if (start < (int64_t)sizeof(*dims) ||
	    !sk_plan_within((uint64_t)start, table->count * (uint64_t)record_size, dims->size))
		return fail(reader, "the table of %s (%u records) lies outside the section", name, table->count);
	if ((uint64_t)start % alignment)
		return fail(reader, "the table of %s is not aligned to %zu bytes", name, alignment);
	*records = (const char *)dims + start;
	return true;
}

static bool open_tables(struct reader *reader)
{
	const struct sk_dims *dims = reader->view->dims;
	struct sk_dims_view *view = reader->view;
	const void *dimensions, *values, *fields, *slots, *strings;
	uint32_t length;

	if (!open_table(reader, "dimensions", &dims->dimensions, sizeof(*view->dimensions), SK_MAX_DIMENSIONS,
			&dimensions, &view->dimension_count) ||
	    !open_table(reader, "values", &dims->values, sizeof(*view->values), SK_MAX_DIMS_VALUES, &values,
			&view->value_count) ||
	    !open_table(reader, "fields", &dims->fields, sizeof(*view->fields), INT32_MAX, &fields,
			&view->field_count) ||
	    !open_table(reader, "slots", &dims->slots, sizeof(*view->slots), SK_MAX_DIMS_VALUES, &slots,
			&view->slot_count) ||
	    !open_table(reader, "strings", &dims->strings, 1, INT32_MAX, &strings, &length))
		return false;
	if (length && ((const char *)strings)[length - 1] != '\0')
		return fail(reader, "the last string has no end");
	view->dimensions = dimensions;
	view->values = values;
	view->fields = fields;
	view->slots = slots;
	return view->dimension_count || fail(reader, "it has no dimensions");
}

static bool check_string(const struct reader *reader, const int32_t *field, const char *noun, bool optional)
{
	const struct sk_dims *dims = reader->view->dims;
	int64_t target = target_of(dims, field), strings = target_of(dims, &dims->strings.offset);

	if (*field == 0)
		return optional || fail(reader, "%s is missing", noun);
	if (target < strings || target - strings >= (int64_t)dims->strings.count)
		return fail(reader, "%s lies outside the strings", noun);
	return *sk_plan_string(field) || fail(reader, "%s is empty", noun);
}

/* ---- dimensions and values ---- */

bool sk_dims_takes(const struct sk_dims_dimension *dimension, uint64_t size)
{
	return size >= dimension->least && size <= dimension->most && size % dimension->multiple == 0;
}

void sk_dims_refusal_text(const struct sk_dims_dimension *dimension, uint64_t size, const char *package, char *text,
			  size_t text_size)
{
	char multiple[48] = "";

	if (dimension->multiple > 1)
		snprintf(multiple, sizeof(multiple), ", multiples of %" PRIu64, dimension->multiple);
	if (dimension->least == dimension->most)
		snprintf(text, text_size, "%s is %" PRIu64 "; package '%s' takes %" PRIu64 " alone",
			 sk_plan_string(&dimension->name), size, package, dimension->most);
	else
		snprintf(text, text_size, "%s is %" PRIu64 "; package '%s' takes %" PRIu64 "..%" PRIu64 "%s",
			 sk_plan_string(&dimension->name), size, package, dimension->least, dimension->most, multiple);
}

/* Dimensions of one network are adjacent, and each has a name of its own in it. */
static bool check_name(const struct reader *reader, uint32_t index)
{
	const struct sk_dims_dimension *dimensions = reader->view->dimensions, *own = &dimensions[index];
	const char *network = sk_plan_string(&own->network);
	bool adjacent = true;

	for (uint32_t i = index; i--;) {
		bool same = !strcmp(sk_plan_string(&dimensions[i].network), network);

		if (same && !adjacent)
			return fail(reader, "the dimensions of network '%s' are not adjacent", network);
		if (same && !strcmp(sk_plan_string(&dimensions[i].name), sk_plan_string(&own->name)))
			return fail(reader, "'%s' is also the name of another dimension", sk_plan_string(&own->name));
		adjacent &= same;
	}
	return true;
}

static bool check_dimensions(struct reader *reader)
{
	reader->record = "dimension";
	for (uint32_t i = 0; i < reader->view->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &reader->view->dimensions[i];

		reader->index = i;
		if (!check_string(reader, &dimension->name, "the name", false) ||
		    !check_string(reader, &dimension->network, "the network", true) || !check_name(reader, i))
			return false;
		if (dimension->multiple == 0 || dimension->multiple > SK_MAX_DIMENSION ||
		    dimension->most > SK_MAX_DIMENSION || dimension->least > dimension->most ||
		    !sk_dims_takes(dimension, dimension->least) || !sk_dims_takes(dimension, dimension->most) ||
		    !sk_dims_takes(dimension, dimension->usual))
			return fail(reader,
				    "%" PRIu64 " to %" PRIu64 " by %" PRIu64 ", usually %" PRIu64 ", are not bounds",
				    dimension->least, dimension->most, dimension->multiple, dimension->usual);
	}
	return true;
}

/* Compute a value from earlier ones. */
static uint64_t evaluate(const struct sk_dims_value *value, const uint64_t *sizes, const uint64_t *values)
{
	switch ((enum sk_dims_op)value->op) {
	case SK_DIMS_NUMBER:
		return value->number;
	case SK_DIMS_DIMENSION:
		return sizes[value->a];
	case SK_DIMS_ADD:
		return values[value->a] + values[value->b];
	case SK_DIMS_SUBTRACT:
		return values[value->a] - value->number;
	case SK_DIMS_MULTIPLY:
		return values[value->a] * values[value->b];
	case SK_DIMS_FLOOR:
		return values[value->a] / value->number;
	case SK_DIMS_MIN:
		return values[value->a] < values[value->b] ? values[value->a] : values[value->b];
	case SK_DIMS_MAX:
		return values[value->a] > values[value->b] ? values[value->a] : values[value->b];
	case SK_DIMS_OP_COUNT:
		break;
	}
	return 0;
}

/* The operands that an operation has. */
static const struct {
	bool a, b, number;
} operands[SK_DIMS_OP_COUNT] = {
	[SK_DIMS_NUMBER] = {.number = true},	  [SK_DIMS_DIMENSION] = {.a = true},
	[SK_DIMS_ADD] = {true, true, false},	  [SK_DIMS_SUBTRACT] = {true, false, true},
	[SK_DIMS_MULTIPLY] = {true, true, false}, [SK_DIMS_FLOOR] = {true, false, true},
	[SK_DIMS_MIN] = {true, true, false},	  [SK_DIMS_MAX] = {true, true, false},
};

static bool check_operands(const struct reader *reader, uint32_t index)
{
	const struct sk_dims_value *value = &reader->view->values[index];
	uint32_t limit = value->op == SK_DIMS_DIMENSION ? reader->view->dimension_count : index;

	if (value->op >= SK_DIMS_OP_COUNT)
		return fail(reader, "operation %u is unknown", value->op);
	if (value->reserved[0] || value->reserved[1] || value->reserved[2] || value->reserved_word)
		return fail(reader, "a reserved field is not zero");
	if (operands[value->op].a ? value->a >= limit : value->a != 0)
		return fail(reader, "operand %u is not an earlier one", value->a);
	if (operands[value->op].b ? value->b >= index : value->b != 0)
		return fail(reader, "operand %u is not an earlier one", value->b);
	if (!operands[value->op].number && value->number)
		return fail(reader, "operation %u has no number", value->op);
	return value->op != SK_DIMS_FLOOR || value->number || fail(reader, "it divides by 0");
}

/* Check that the value does not overflow at the largest sizes, nor become negative at the least ones. Then it does
 * neither at any sizes, since no operation decreases. */
static bool check_range(const struct reader *reader, uint32_t index)
{
	const struct sk_dims_value *value = &reader->view->values[index];
	const uint64_t *most = reader->view->most;
	uint64_t result = 0;
	bool overflows = value->op == SK_DIMS_ADD ? __builtin_add_overflow(most[value->a], most[value->b], &result)
			 : value->op == SK_DIMS_MULTIPLY
				 ? __builtin_mul_overflow(most[value->a], most[value->b], &result)
				 : (result = value->number) > LARGEST;

	if (overflows || result > LARGEST)
		return fail(reader, "it is larger than 63 bits at the largest sizes");
	return value->op != SK_DIMS_SUBTRACT || value->number <= reader->least[value->a] ||
	       fail(reader, "it is negative at the least sizes");
}

/* Return a number for the dimension's network: that of its first dimension. */
static uint32_t network_of(const struct sk_dims_view *view, uint32_t dimension)
{
	while (dimension && !strcmp(sk_plan_string(&view->dimensions[dimension - 1].network),
				    sk_plan_string(&view->dimensions[dimension].network)))
		--dimension;
	return dimension;
}

/* Check that a value depends on dimensions of one network. */
static bool check_network(const struct reader *reader, uint32_t index)
{
	const struct sk_dims_value *value = &reader->view->values[index];
	uint32_t *networks = reader->networks;
	uint32_t a = SK_NO_INDEX, b = SK_NO_INDEX;

	if (value->op == SK_DIMS_DIMENSION)
		a = network_of(reader->view, value->a);
	else if (operands[value->op].a)
		a = networks[value->a];
	if (operands[value->op].b)
		b = networks[value->b];
	networks[index] = a == SK_NO_INDEX ? b : a;
	return a == SK_NO_INDEX || b == SK_NO_INDEX || a == b ||
	       fail(reader, "it depends on dimensions of two networks");
}

static bool check_values(struct reader *reader)
{
	const struct sk_dims_view *view = reader->view;
	uint64_t sizes[2][SK_MAX_DIMENSIONS];

	for (uint32_t i = 0; i < view->dimension_count; i++) {
		sizes[0][i] = view->dimensions[i].least;
		sizes[1][i] = view->dimensions[i].most;
	}
	reader->record = "value";
	for (uint32_t i = 0; i < view->value_count; i++) {
		reader->index = i;
		if (!check_operands(reader, i) || !check_range(reader, i) || !check_network(reader, i))
			return false;
		reader->least[i] = evaluate(&view->values[i], sizes[0], reader->least);
		view->most[i] = evaluate(&view->values[i], sizes[1], view->most);
	}
	return true;
}

/* ---- fields and slots ---- */

/* True if the argument is of a kind that has a number that may vary at that offset. */
static bool varies_in(const struct sk_plan_argument *argument, uint16_t offset)
{
	bool memory = argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
		      argument->kind == SK_ARGUMENT_RESULT;

	if (offset == offsetof(struct sk_plan_argument, value))
		return (argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_EXPRESSION) &&
		       argument->dtype >= SK_I8 && argument->dtype <= SK_U64;
	return memory && (offset == offsetof(struct sk_plan_argument, offset) || argument->kind == SK_ARGUMENT_POINTER);
}

/* True if the field divides by its number, or is 0 only where it has no meaning. */
static bool is_positive(const struct sk_dims_field *field)
{
	return field->table == SK_DIMS_TERMS ? field->offset == offsetof(struct sk_plan_term, divisor) ||
						       field->offset == offsetof(struct sk_plan_term, modulus)
					     : field->table == SK_DIMS_PARTITIONS &&
						       field->offset == offsetof(struct sk_plan_partition, unit);
}

/* Check that all values of the record depend on dimensions of one network. *network is that of the fields before. */
static bool check_record(const struct reader *reader, const struct sk_dims_field *field, uint32_t *network)
{
	bool first =
		field == reader->view->fields || field[-1].table != field->table || field[-1].record != field->record;
	uint32_t own = reader->networks[field->value];

	if (first)
		*network = SK_NO_INDEX;
	if (*network != SK_NO_INDEX && own != SK_NO_INDEX && own != *network)
		return fail(reader, "its record depends on dimensions of two networks");
	*network = own == SK_NO_INDEX ? *network : own;
	return true;
}

static bool check_field(const struct reader *reader, const struct sk_dims_field *field)
{
	const char *records;
	uint64_t number;

	if (field->table >= SK_DIMS_TABLE_COUNT)
		return fail(reader, "table %u is unknown", field->table);
	if (field->reserved)
		return fail(reader, "a reserved field is not zero");
	records = records_of(reader->plan, field->table);
	if (!records || field->record >= count_of(reader->plan, field->table) ||
	    (field->table == SK_DIMS_ARGUMENTS && reader->plan->list_count))
		return fail(reader, "record %u is out of range (%u %s)", field->record,
			    records ? count_of(reader->plan, field->table) : 0, tables[field->table].name);
	records += field->record * tables[field->table].record_size;
	if (!may_vary(field->table, field->offset) ||
	    ((field->table == SK_DIMS_ARGUMENTS || field->table == SK_DIMS_LISTS) &&
	     !varies_in((const void *)records, field->offset)))
		return fail(reader, "%s have no number at byte %u that may vary", tables[field->table].name,
			    field->offset);
	if (field->value >= reader->view->value_count)
		return fail(reader, "value %u is out of range (%u values)", field->value, reader->view->value_count);
	memcpy(&number, records + field->offset, sizeof(number));
	if (reader->least[field->value] == 0 && is_positive(field))
		return fail(reader, "%s cannot have 0 there at the least sizes", tables[field->table].name);
	return number == reader->view->most[field->value] ||
	       fail(reader, "its record has %" PRIu64 ", and the largest value is %" PRIu64, number,
		    reader->view->most[field->value]);
}

static int compare(const struct sk_dims_field *one, const struct sk_dims_field *other)
{
	if (one->table != other->table)
		return one->table < other->table ? -1 : 1;
	if (one->record != other->record)
		return one->record < other->record ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

static bool check_fields(struct reader *reader)
{
	struct sk_dims_view *view = reader->view;
	uint32_t table = 0, network = SK_NO_INDEX;

	reader->record = "field";
	for (uint32_t i = 0; i < view->field_count; i++) {
		const struct sk_dims_field *field = &view->fields[i];

		reader->index = i;
		if (!check_field(reader, field))
			return false;
		if (i && compare(&field[-1], field) >= 0)
			return fail(reader, "it does not come after the one before it");
		if (!check_record(reader, field, &network))
			return false;
		while (table <= field->table)
			view->first_field[table++] = i;
	}
	while (table <= SK_DIMS_TABLE_COUNT)
		view->first_field[table++] = view->field_count;
	return true;
}

static bool check_slots(struct reader *reader)
{
	reader->record = "slot";
	for (uint32_t i = 0; i < reader->view->slot_count; i++) {
		reader->index = i;
		if (reader->view->slots[i].value >= reader->view->value_count)
			return fail(reader, "value %u is out of range (%u values)", reader->view->slots[i].value,
				    reader->view->value_count);
	}
	return true;
}

/* ---- the section ---- */

static bool check_header(const struct reader *reader, const void *bytes, size_t size)
{
	const struct sk_dims *dims = bytes;

	if ((uintptr_t)bytes % 8)
		return fail(reader, "they are not aligned to 8 bytes");
	if (size < sizeof(*dims))
		return fail(reader, "%zu bytes are too few", size);
	if (dims->magic != SK_DIMS_MAGIC)
		return fail(reader, "they have no magic number");
	if (dims->version != SK_DIMS_VERSION)
		return fail(reader, "version %u is not supported (this is %u)", dims->version, SK_DIMS_VERSION);
	return (dims->size >= sizeof(*dims) && dims->size <= size) ||
	       fail(reader, "they claim %" PRIu64 " bytes and have %zu", dims->size, size);
}

static bool check_contents(struct reader *reader)
{
	struct sk_dims_view *view = reader->view;
	bool right;

	reader->least = calloc(view->value_count + (size_t)1, sizeof(*reader->least));
	reader->networks = calloc(view->value_count + (size_t)1, sizeof(*reader->networks));
	view->most = calloc(view->value_count + (size_t)1, sizeof(*view->most));
	right = reader->least && reader->networks && view->most
			? check_dimensions(reader) && check_values(reader) && check_fields(reader) &&
				  check_slots(reader)
			: fail(reader, "no memory for %u values", view->value_count);
	free(reader->least);
	free(reader->networks);
	return right;
}

bool sk_dims_open(const void *bytes, size_t size, struct sk_plan_view *plan, struct sk_dims_view *dims, char *error,
		  size_t error_size)
{
	struct reader reader = {.plan = plan, .view = dims, .error = error, .error_size = error_size};

	*dims = (struct sk_dims_view){.dims = bytes};
	if (!check_header(&reader, bytes, size) || !open_tables(&reader) || !check_contents(&reader)) {
		sk_dims_close(dims);
		return false;
	}
	plan->slot_count = dims->slot_count;
	plan->has_sizes = true;
	return true;
}

void sk_dims_close(struct sk_dims_view *dims)
{
	free(dims->most);
	*dims = (struct sk_dims_view){NULL};
}

/* ---- queries ---- */

uint32_t sk_dims_find(const struct sk_dims_view *dims, const char *network, const char *name)
{
	for (uint32_t i = 0; i < dims->dimension_count; i++)
		if (!strcmp(sk_plan_string(&dims->dimensions[i].network), network) &&
		    !strcmp(sk_plan_string(&dims->dimensions[i].name), name))
			return i;
	return SK_NO_INDEX;
}

bool sk_dims_depends(const struct sk_dims_view *dims, uint32_t value, uint32_t dimension)
{
	bool *depends = calloc(value + (size_t)1, sizeof(*depends));
	bool result;

	for (uint32_t i = 0; depends && i <= value; i++) {
		const struct sk_dims_value *record = &dims->values[i];

		depends[i] = record->op == SK_DIMS_DIMENSION ? record->a == dimension
							     : (operands[record->op].a && depends[record->a]) ||
								       (operands[record->op].b && depends[record->b]);
	}
	result = depends && depends[value];
	free(depends);
	return result;
}

void sk_dims_evaluate(const struct sk_dims_view *dims, const uint64_t *sizes, uint64_t *values)
{
	for (uint32_t i = 0; i < dims->value_count; i++)
		values[i] = evaluate(&dims->values[i], sizes, values);
}

/* Return the number of the first field that does not come before the wanted one. */
static uint32_t lower_bound(const struct sk_dims_view *dims, const struct sk_dims_field *wanted)
{
	uint32_t low = dims->first_field[wanted->table], high = dims->first_field[wanted->table + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&dims->fields[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t sk_dims_value_of(const struct sk_dims_view *dims, enum sk_dims_table table, uint32_t record, size_t offset)
{
	struct sk_dims_field wanted = {.table = (uint16_t)table, .record = record, .offset = (uint16_t)offset};
	uint32_t found = lower_bound(dims, &wanted);

	return found < dims->first_field[table + 1] && compare(&dims->fields[found], &wanted) == 0
		       ? dims->fields[found].value
		       : SK_NO_INDEX;
}

const struct sk_dims_field *sk_dims_fields_of(const struct sk_dims_view *dims, enum sk_dims_table table,
					      uint32_t record, uint32_t *count)
{
	struct sk_dims_field wanted = {.table = (uint16_t)table, .record = record};
	uint32_t first = lower_bound(dims, &wanted);

	*count = 0;
	while (first + *count < dims->first_field[table + 1] && dims->fields[first + *count].record == record)
		++*count;
	return *count ? &dims->fields[first] : NULL;
}

uint32_t sk_dims_argument_value(const struct sk_dims_view *dims, const struct sk_plan_view *plan,
				const struct sk_plan_call *call, uint32_t argument, size_t offset)
{
	bool listed = plan->list_count != 0;

	return sk_dims_value_of(dims, listed ? SK_DIMS_LISTS : SK_DIMS_ARGUMENTS,
				(listed ? call->list : call->first_argument) + argument, offset);
}

uint32_t sk_dims_slot_of(const struct sk_dims_view *dims, uint32_t value)
{
	for (uint32_t i = 0; value != SK_NO_INDEX && i < dims->slot_count; i++)
		if (dims->slots[i].value == value)
			return i;
	return SK_NO_INDEX;
}

/* ---- plans of one size ---- */

/* Make the arguments of all launches, which have been checked. */
static bool make_arguments(const struct sk_plan_view *plan, struct sk_plan_view *concrete)
{
	struct sk_plan_checker checker = sk_plan_checker_at(concrete, NULL, 0);

	for (uint32_t l = 0; plan->made && l < plan->launch_count; l++) {
		const struct sk_plan_launch *launch = &concrete->launches[l];
		struct sk_plan_calls calls = sk_plan_launch_calls(concrete, launch);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			if (!sk_plan_make_arguments(&checker, call, sk_plan_is_task_launch(launch)))
				return false;
	}
	return true;
}

/* A pointer to no bytes, or to rows of no bytes, accesses nothing. */
static void tidy_accesses(const struct sk_plan_view *concrete, const struct sk_plan_argument *arguments, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct sk_plan_argument *argument = (struct sk_plan_argument *)(uintptr_t)&arguments[i];
		const struct sk_plan_pattern *pattern = sk_plan_pattern(concrete, argument);

		if (pattern && pattern->count && !pattern->width)
			argument->size = 0;
		if (argument->kind == SK_ARGUMENT_POINTER && argument->size == 0)
			argument->access = SK_ACCESS_NONE;
	}
}

static void set_fields(const struct sk_dims_view *dims, const uint64_t *values, struct sk_plan_view *concrete)
{
	for (uint32_t i = 0; i < dims->field_count; i++) {
		const struct sk_dims_field *field = &dims->fields[i];
		char *record = (char *)(uintptr_t)records_of(concrete, field->table) +
			       field->record * tables[field->table].record_size;

		memcpy(record + field->offset, &values[field->value], sizeof(*values));
	}
}

/* Let the view's tables be those of the copy. */
static void move_tables(struct sk_plan_view *view, const struct sk_plan *from)
{
	char *pointers[] = {
		(char *)&view->lanes,	  (char *)&view->forms,	   (char *)&view->launches, (char *)&view->tasks,
		(char *)&view->costs,	  (char *)&view->kernels,  (char *)&view->types,    (char *)&view->tensors,
		(char *)&view->bindings,  (char *)&view->steps,	   (char *)&view->calls,    (char *)&view->awaits,
		(char *)&view->arguments, (char *)&view->lists,	   (char *)&view->operands, (char *)&view->loops,
		(char *)&view->terms,	  (char *)&view->patterns, (char *)&view->symbols,  (char *)&view->partitions,
		(char *)&view->homes,	  (char *)&view->follows};

	view->plan = view->copy;
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		const char *records;

		memcpy(&records, pointers[i], sizeof(records));
		if (records)
			records = (const char *)view->copy + (records - (const char *)from);
		memcpy(pointers[i], &records, sizeof(records));
	}
}

bool sk_dims_concretise(const struct sk_dims_view *dims, const struct sk_plan_view *plan, const uint64_t *sizes,
			struct sk_plan_view *concrete)
{
	uint64_t *values = calloc(dims->value_count + (size_t)1, sizeof(*values));
	size_t size = (plan->plan->size + SK_PLAN_ALIGN - 1) / SK_PLAN_ALIGN * SK_PLAN_ALIGN;
	bool made = false;

	*concrete = *plan;
	concrete->made = NULL;
	if (plan->made)
		concrete->arguments = NULL;
	concrete->copy = aligned_alloc(SK_PLAN_ALIGN, size);
	if (values && concrete->copy) {
		memcpy(concrete->copy, plan->plan, plan->plan->size);
		move_tables(concrete, plan->plan);
		sk_dims_evaluate(dims, sizes, values);
		set_fields(dims, values, concrete);
		tidy_accesses(concrete, concrete->lists, concrete->list_count);
		tidy_accesses(concrete, concrete->arguments, concrete->arguments ? concrete->argument_count : 0);
		made = !plan->made || (sk_plan_make_room(concrete, NULL, 0) && make_arguments(plan, concrete));
	}
	free(values);
	if (!made)
		sk_plan_close(concrete);
	return made;
}

/* ---- options ---- */

/* Return the dimension of the network (NULL: of any one) with the name "seq" or "network:seq"; SK_NO_INDEX: none, or
 * one of several networks. */
static uint32_t find_named(const struct sk_dims_view *dims, const char *network, const char *text, size_t length)
{
	uint32_t found = SK_NO_INDEX;

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const char *name = sk_plan_string(&dims->dimensions[i].name);
		const char *own = sk_plan_string(&dims->dimensions[i].network);
		size_t start = strlen(own);
		bool same = strlen(name) == length && !memcmp(name, text, length);
		bool full = start && length == start + 1 + strlen(name) && !memcmp(text, own, start) &&
			    text[start] == ':' && !memcmp(text + start + 1, name, strlen(name));

		if (network && strcmp(own, network) != 0)
			continue;
		if (full)
			return i;
		if (same && found != SK_NO_INDEX)
			return SK_NO_INDEX;
		if (same)
			found = i;
	}
	return found;
}

bool sk_dims_read_size(const struct sk_dims_view *dims, const char *network, const char *package, const char *text,
		       struct sk_dims_size *size, char *error, size_t error_size)
{
	const char *equals = strchr(text, '=');
	char names[256], *end = NULL;

	errno = 0;
	if (equals && equals[1] >= '0' && equals[1] <= '9')
		size->size = strtoull(equals + 1, &end, 10);
	if (!end || *end || errno) {
		snprintf(error, error_size, "--dim %s: %s", text,
			 equals && equals[1] == '-' ? "a size is not negative" : "NAME=SIZE is expected");
		return false;
	}
	size->dimension = find_named(dims, network, text, (size_t)(equals - text));
	if (size->dimension == SK_NO_INDEX) {
		sk_dims_names_text(dims, network, names, sizeof(names));
		snprintf(error, error_size, "--dim %s: package '%s' has no such dimension%s%s", text, package,
			 *names ? "; it has " : "", names);
		return false;
	}
	sk_dims_refusal_text(&dims->dimensions[size->dimension], size->size, package, error, error_size);
	return sk_dims_takes(&dims->dimensions[size->dimension], size->size);
}
