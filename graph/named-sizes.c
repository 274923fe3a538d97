/* Sizes with names; see graph.h. Exporters name unknown dimensions of inputs, and also write sums of names as names
 * ("past_sequence_length + sequence_length", "2*s0"). An expression has integers, names, + - * // and parentheses. A
 * text is an expression only if each of its names is also the name of a dimension: "batch-size" is a name. */
#include "graph/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skplan.h"

enum { MAX_DEPTH = 32 }; /* of parentheses: texts come from files */

struct reader {
	const struct sk_op_graph *graph;
	const char *at;
	unsigned depth;
	bool malformed, open, computes;
	bool out_of_range;
};

/* ---- names ---- */

static bool is_name(const char *symbol, const char *name, size_t length)
{
	return symbol && strlen(symbol) == length && !memcmp(symbol, name, length);
}

/* Find the size of the dimensions of that name; SK_UNKNOWN while it is open. False: no dimension has the name. */
static bool find_named(const struct sk_op_graph *graph, const char *name, size_t length, uint64_t *size)
{
	bool found = false;

	*size = SK_UNKNOWN;
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
			if (!is_name(value->symbols[d], name, length))
				continue;
			found = true;
			if (*size == SK_UNKNOWN)
				*size = value->shape[d];
		}
	}
	return found;
}

/* ---- expressions ---- */

static void skip_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " ");
}

static bool read_sign(struct reader *reader, const char *sign)
{
	skip_blanks(reader);
	if (strncmp(reader->at, sign, strlen(sign)) != 0)
		return false;
	reader->at += strlen(sign);
	return true;
}

static int64_t read_sum(struct reader *reader);

static int64_t read_integer(struct reader *reader)
{
	int64_t number = 0;

	for (; isdigit((unsigned char)*reader->at); reader->at++)
		reader->out_of_range |= __builtin_mul_overflow(number, 10, &number) ||
					__builtin_add_overflow(number, *reader->at - '0', &number);
	return number;
}

static int64_t read_named(struct reader *reader)
{
	const char *start = reader->at;
	uint64_t size;

	while (isalnum((unsigned char)*reader->at) || *reader->at == '_' || *reader->at == '.')
		reader->at++;
	if (reader->at == start || !find_named(reader->graph, start, (size_t)(reader->at - start), &size)) {
		reader->malformed = true;
		return 0;
	}
	reader->open |= size == SK_UNKNOWN;
	return size == SK_UNKNOWN ? 0 : (int64_t)size;
}

static int64_t read_operand(struct reader *reader)
{
	skip_blanks(reader);
	if (isdigit((unsigned char)*reader->at))
		return read_integer(reader);
	if (*reader->at != '(')
		return read_named(reader);
	if (reader->depth == MAX_DEPTH) {
		reader->malformed = true;
		return 0;
	}
	reader->depth++;
	reader->at++;

	int64_t sum = read_sum(reader);

	reader->depth--;
	reader->malformed |= !read_sign(reader, ")");
	return sum;
}

/* Round towards minus infinity, as Python does. */
static int64_t divide(struct reader *reader, int64_t by, int64_t divisor)
{
	if (divisor <= 0) {
		reader->out_of_range |= !reader->open;
		return 0;
	}
	return by / divisor - (by % divisor < 0);
}

static int64_t read_product(struct reader *reader)
{
	int64_t product = read_operand(reader);

	for (;;) {
		if (read_sign(reader, "//"))
			product = divide(reader, product, read_operand(reader));
		else if (read_sign(reader, "*"))
			reader->out_of_range |= __builtin_mul_overflow(product, read_operand(reader), &product);
		else
			return product;
		reader->computes = true;
		if (reader->malformed)
			return 0;
	}
}

static int64_t read_sum(struct reader *reader)
{
	int64_t sum = read_product(reader);

	while (!reader->malformed) {
		if (read_sign(reader, "+"))
			reader->out_of_range |= __builtin_add_overflow(sum, read_product(reader), &sum);
		else if (read_sign(reader, "-"))
			reader->out_of_range |= __builtin_sub_overflow(sum, read_product(reader), &sum);
		else
			return sum;
		reader->computes = true;
	}
	return 0;
}

enum sk_size_text sk_size_read(const struct sk_op_graph *graph, const char *text, uint64_t *size)
{
	struct reader reader = {.graph = graph, .at = text};
	int64_t sum = read_sum(&reader);

	skip_blanks(&reader);
	if (reader.malformed || *reader.at)
		return SK_SIZE_MALFORMED;
	if (reader.open)
		return SK_SIZE_OPEN;
	if (reader.out_of_range || sum < 0)
		return SK_SIZE_OUT_OF_RANGE;
	*size = (uint64_t)sum;
	return SK_SIZE_KNOWN;
}

bool sk_size_is_computed(const struct sk_op_graph *graph, const char *name)
{
	struct reader reader = {.graph = graph, .at = name};

	read_sum(&reader);
	skip_blanks(&reader);
	return !reader.malformed && !*reader.at && reader.computes;
}

/* ---- dimensions that follow from others ---- */

/* The dimension's name is an expression of known sizes, or other inputs have the name, and its size is known there. */
static enum sk_size_text find_size(const struct sk_op_graph *graph, const char *name, uint64_t *size)
{
	if (sk_size_is_computed(graph, name))
		return sk_size_read(graph, name, size);
	find_named(graph, name, strlen(name), size);
	return *size == SK_UNKNOWN ? SK_SIZE_OPEN : SK_SIZE_KNOWN;
}

/* Set or compare one dimension. False after an error. */
static bool settle(struct sk_op_graph *graph, struct sk_value *value, uint32_t d)
{
	const char *name = value->symbols[d];
	uint64_t size = SK_UNKNOWN;
	enum sk_size_text text = find_size(graph, name, &size);

	if (text == SK_SIZE_OUT_OF_RANGE) {
		sk_error(graph->diag, value->place, "input '%s': dimension %" PRIu32 " is '%s', and no size",
			 value->name, d, name);
		return false;
	}
	if (text != SK_SIZE_KNOWN)
		return true;
	if (value->shape[d] == SK_UNKNOWN)
		value->shape[d] = size;
	if (value->shape[d] == size || !sk_size_is_computed(graph, name))
		return true;
	sk_error(graph->diag, value->place, "input '%s': dimension %" PRIu32 " is %" PRIu64 ", but '%s' is %" PRIu64,
		 value->name, d, value->shape[d], name, size);
	return false;
}

bool sk_sizes_settle(struct sk_op_graph *graph)
{
	bool good = true;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d] && strcmp(value->symbols[d], "?") != 0)
				good &= settle(graph, value, d);
		if (good && !sk_shape_is_countable(value->dtype, value->rank, value->shape)) {
			sk_error(graph->diag, value->place, "input '%s' would be larger than 2^63 bytes", value->name);
			good = false;
		}
	}
	return good;
}

/* ---- open sizes ---- */

static bool is_open(const struct sk_value *value)
{
	return !value->contents && value->dtype != SK_DTYPE_NONE && !sk_value_is_static(value);
}

/* True if --dim can give the size: "?" is not a name, since some exporters write it for each unknown dimension, and
 * computed sizes follow from others. */
static bool is_asked_for(const struct sk_op_graph *graph, const struct sk_value *value, uint32_t d)
{
	return value->shape[d] == SK_UNKNOWN && value->symbols[d] && strcmp(value->symbols[d], "?") != 0 &&
	       !sk_size_is_computed(graph, value->symbols[d]);
}

/* True if --shape is the only way: a dimension is open, and has no name that --dim takes. */
static bool needs_shape(const struct sk_op_graph *graph, const struct sk_value *value)
{
	for (uint32_t d = 0; value->shaped && d < value->rank; d++)
		if (value->shape[d] == SK_UNKNOWN && !is_asked_for(graph, value, d) &&
		    !(value->symbols[d] && sk_size_is_computed(graph, value->symbols[d])))
			return true;
	return !value->shaped;
}

/* Return the shape as --shape takes it, with N for open dimensions: "4xNx8". */
static const char *shape_example(struct sk_op_graph *graph, const struct sk_value *value)
{
	const char *text = "";

	if (!value->shaped)
		return "1x128";
	for (uint32_t d = 0; d < value->rank; d++) {
		const char *size =
			value->shape[d] == SK_UNKNOWN ? "N" : sk_arena_print(graph->arena, "%" PRIu64, value->shape[d]);

		text = sk_arena_print(graph->arena, "%s%s%s", text, d ? "x" : "", size);
	}
	return text;
}

/* Return the shape with the names of open dimensions: "[batch, 3]". */
static const char *shape_text(struct sk_op_graph *graph, const struct sk_value *value)
{
	const char *text = "[";

	if (!value->shaped)
		return "the model does not say how many dimensions it has";
	for (uint32_t d = 0; d < value->rank; d++) {
		const char *size = value->symbols[d] ? value->symbols[d] : "?";

		if (value->shape[d] != SK_UNKNOWN)
			size = sk_arena_print(graph->arena, "%" PRIu64, value->shape[d]);
		text = sk_arena_print(graph->arena, "%s%s%s", text, d ? ", " : "", size);
	}
	return sk_arena_join(graph->arena, text, "]");
}

/* Guess from names and positions, as exporters choose them, the meaning of a dimension. */
static const char *guess_role(const struct sk_value *value, uint32_t d)
{
	static const struct {
		const char *part, *role;
	} roles[] = {{"batch", "batch size"},	   {"past", "length of the past"}, {"total", "length with the past"},
		     {"seq", "sequence length"},   {"token", "sequence length"},   {"length", "sequence length"},
		     {"height", "picture height"}, {"width", "picture width"}};
	const char *name = value->symbols[d];

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strstr(name, roles[i].part))
			return roles[i].role;
	if (!d)
		return "batch size";
	if (strstr(value->name, "past") || strstr(value->name, "cache"))
		return "length of the past";
	if (value->rank == 4)
		return d == 2 ? "picture height" : d == 3 ? "picture width" : NULL;
	return d == 1 ? "sequence length" : NULL;
}

/* Add a note with the inputs that have the dimension: "batch: dimension 0 of 'ids', 'mask' and 3 more; ...". */
static void note_dimension(struct sk_op_graph *graph, const struct sk_value *first, uint32_t first_d)
{
	enum { SHOWN = 3 };
	const char *name = first->symbols[first_d], *role = guess_role(first, first_d), *text = "";
	size_t count = 0;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; is_open(value) && value->shaped && d < value->rank; d++) {
			if (!is_asked_for(graph, value, d) || strcmp(value->symbols[d], name) != 0)
				continue;
			if (count++ < SHOWN)
				text = sk_arena_print(graph->arena, "%s%s dimension %" PRIu32 " of '%s'", text,
						      count > 1 ? "," : "", d, value->name);
		}
	}
	if (count > SHOWN)
		text = sk_arena_print(graph->arena, "%s and %zu more", text, count - SHOWN);
	sk_note(graph->diag, "%s:%s%s%s", name, text, role ? "; perhaps the " : "", role ? role : "");
}

struct open_name {
	const struct sk_value *value;
	uint32_t d;
};

typedef SK_ARRAY(struct open_name) open_names;

static void add_names(struct sk_op_graph *graph, const struct sk_value *value, open_names *names)
{
	for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
		bool known = !is_asked_for(graph, value, d);

		for (size_t i = 0; i < names->count && !known; i++)
			known = !strcmp(names->items[i].value->symbols[names->items[i].d], value->symbols[d]);
		if (!known)
			sk_array_push(graph->arena, names, (struct open_name){value, d});
	}
}

void sk_sizes_report_open(struct sk_op_graph *graph)
{
	open_names names = {NULL, 0, 0};
	const struct sk_value *first = NULL;
	const char *options = "";
	size_t count = 0;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		if (!is_open(value))
			continue;
		first = count++ ? first : value;
		add_names(graph, value, &names);
	}
	if (!count)
		return;
	for (size_t i = 0; i < names.count; i++)
		options = sk_arena_print(graph->arena, "%s --dim '%s=N'", options,
					 names.items[i].value->symbols[names.items[i].d]);
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		if (is_open(value) && needs_shape(graph, value))
			options = sk_arena_print(graph->arena, "%s --shape '%s=%s'", options, value->name,
						 shape_example(graph, value));
	}
	sk_error(graph->diag, first->place,
		 "the sizes of input '%s'%s are not known when linking; say them, with a number for each N:%s",
		 first->name, count > 1 ? sk_arena_print(graph->arena, " and %zu more", count - 1) : "", options);
	for (size_t i = 0; i < names.count; i++)
		note_dimension(graph, names.items[i].value, names.items[i].d);
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		if (is_open(value) && needs_shape(graph, value))
			sk_note(graph->diag, "input '%s': %s", value->name, shape_text(graph, value));
	}
}
