/* Sizes with names; see graph.h. Exporters name unknown dimensions of inputs, and also write sums of names as names
 * ("past_sequence_length + sequence_length", "2*s0"). An expression has integers, names, + - * // and parentheses. A
 * text is an expression only if each of its names is also the name of a dimension: "batch-size" is a name. */
#include "graph/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/skplan.h"

enum { MAX_DEPTH = 32 }; /* of parentheses: texts come from files */

/* The names of dimensions of inputs with their sizes, so that long lists of inputs and long expressions stay cheap. */
struct sizes {
	struct sk_map names;
	SK_ARRAY(uint64_t) sizes; /* by the number in the map; SK_UNKNOWN while the size is open */
};

struct reader {
	const struct sizes *sizes;
	const char *at;
	unsigned depth;
	bool malformed, open, computes;
	bool out_of_range;
};

/* ---- names ---- */

static void add_name(struct sk_op_graph *graph, struct sizes *sizes, const char *name, uint64_t size)
{
	uint32_t number = sk_map_insert(&sizes->names, name, strlen(name), (uint32_t)sizes->sizes.count);

	if (number == sizes->sizes.count)
		sk_array_push(graph->arena, &sizes->sizes, size);
	else if (sizes->sizes.items[number] == SK_UNKNOWN)
		sizes->sizes.items[number] = size;
}

static struct sizes list_names(struct sk_op_graph *graph)
{
	struct sizes sizes = {.sizes = {NULL, 0, 0}};

	sk_map_init(&sizes.names, graph->arena);
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d])
				add_name(graph, &sizes, value->symbols[d], value->shape[d]);
	}
	return sizes;
}

/* Find the size of the dimensions of that name; SK_UNKNOWN while it is open. False: no dimension has the name. */
static bool find_named(const struct sizes *sizes, const char *name, size_t length, uint64_t *size)
{
	uint32_t number = sk_map_find(&sizes->names, name, length);

	*size = number == SK_NONE ? SK_UNKNOWN : sizes->sizes.items[number];
	return number != SK_NONE;
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
	if (reader->at == start || !find_named(reader->sizes, start, (size_t)(reader->at - start), &size)) {
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

static enum sk_size_text read_size(const struct sizes *sizes, const char *text, uint64_t *size, bool *computes)
{
	struct reader reader = {.sizes = sizes, .at = text};
	int64_t sum = read_sum(&reader);

	skip_blanks(&reader);
	*computes = reader.computes;
	if (reader.malformed || *reader.at)
		return SK_SIZE_MALFORMED;
	if (reader.open)
		return SK_SIZE_OPEN;
	if (reader.out_of_range || sum < 0)
		return SK_SIZE_OUT_OF_RANGE;
	*size = (uint64_t)sum;
	return SK_SIZE_KNOWN;
}

static bool is_computed(const struct sizes *sizes, const char *name)
{
	uint64_t size;
	bool computes;

	return read_size(sizes, name, &size, &computes) != SK_SIZE_MALFORMED && computes;
}

enum sk_size_text sk_size_read(struct sk_op_graph *graph, const char *text, uint64_t *size)
{
	struct sizes sizes = list_names(graph);
	bool computes;

	if (find_named(&sizes, text, strlen(text), size))
		return *size == SK_UNKNOWN ? SK_SIZE_OPEN : SK_SIZE_KNOWN;
	return read_size(&sizes, text, size, &computes);
}

bool sk_size_is_computed(struct sk_op_graph *graph, const char *name)
{
	struct sizes sizes = list_names(graph);

	return is_computed(&sizes, name);
}

/* ---- dimensions that follow from others ---- */

/* Set or compare one dimension, whose name is an expression of known sizes or has a size in another input. False after
 * an error. */
static bool settle_dimension(struct sk_op_graph *graph, const struct sizes *sizes, struct sk_value *value, uint32_t d)
{
	const char *name = value->symbols[d];
	uint64_t size = SK_UNKNOWN;
	bool computed;
	enum sk_size_text text = read_size(sizes, name, &size, &computed);

	computed &= text != SK_SIZE_MALFORMED;
	if (!computed) {
		find_named(sizes, name, strlen(name), &size);
		if (value->shape[d] == SK_UNKNOWN)
			value->shape[d] = size;
		return true;
	}
	if (text == SK_SIZE_OUT_OF_RANGE) {
		sk_error(graph->diag, value->place,
			 "input '%s': dimension %" PRIu32 " is '%s', which is negative or too large", value->name, d,
			 name);
		return false;
	}
	if (text == SK_SIZE_OPEN)
		return true;
	if (value->shape[d] == SK_UNKNOWN)
		value->shape[d] = size;
	if (value->shape[d] == size)
		return true;
	sk_error(graph->diag, value->place, "input '%s': dimension %" PRIu32 " is %" PRIu64 ", but '%s' is %" PRIu64,
		 value->name, d, value->shape[d], name, size);
	return false;
}

bool sk_sizes_settle(struct sk_op_graph *graph)
{
	struct sizes sizes = list_names(graph);
	bool good = true;

	for (size_t i = 0; i < graph->inputs.count && !sk_diag_is_hopeless(graph->diag); i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];
		bool settled = true;

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d] && strcmp(value->symbols[d], "?") != 0)
				settled &= settle_dimension(graph, &sizes, value, d);
		if (settled && !sk_shape_is_countable(value->dtype, value->rank, value->shape)) {
			sk_error(graph->diag, value->place, "input '%s' would be larger than 2^63 bytes", value->name);
			settled = false;
		}
		good &= settled;
	}
	return good;
}

/* ---- dimensions with bounds ---- */

void sk_sizes_bound(struct sk_op_graph *graph, const struct sk_size_dimension *dimension)
{
	if (!graph->sizes)
		graph->sizes = graph->all_sizes ? graph->all_sizes : sk_sizes_create(graph->arena);
	sk_sizes_add_dimension(graph->sizes, dimension);
}

/* Make the names with one size known to expressions. */
static void add_numbers(struct sk_op_graph *graph, const struct sizes *names)
{
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
			const char *name = value->symbols[d];
			uint64_t size = value->shape[d];

			if (name && strcmp(name, "?") != 0 && size < UINT64_C(1) << 31 && !is_computed(names, name) &&
			    sk_sizes_find(graph->sizes, graph->dimensions_of, name, strlen(name)) == SK_NONE)
				sk_sizes_add_dimension(
					graph->sizes,
					&(struct sk_size_dimension){name, graph->dimensions_of, size, size, 1, size});
		}
	}
}

static bool express_dimension(struct sk_op_graph *graph, const struct sizes *names, struct sk_value *value, uint32_t d)
{
	const char *name = value->symbols[d], *error;
	const struct sk_size *size = sk_size_parse(graph->sizes, graph->dimensions_of, name, &error);
	bool computes;
	uint64_t number;

	if (!size && read_size(names, name, &number, &computes) == SK_SIZE_OPEN)
		return true; /* the open names are asked for */
	if (!size && is_computed(names, name)) {
		sk_error(graph->diag, value->place, "input '%s': dimension %" PRIu32 " is '%s': %s", value->name, d,
			 name, error);
		return false;
	}
	if (!size || sk_size_is_number(size, NULL))
		return true;
	value->sizes[d] = size;
	if (value->contents)
		sk_error(graph->diag, value->place,
			 "input '%s' is a constant of one shape, and its dimension %" PRIu32 ", '%s', has bounds",
			 value->name, d, name);
	else if (!sk_size_grows(size))
		sk_error(graph->diag, value->place,
			 "input '%s': dimension %" PRIu32 " is '%s', which shrinks when a dimension grows", value->name,
			 d, name);
	else if (sk_size_least(size) < 0)
		sk_error(graph->diag, value->place,
			 "input '%s': dimension %" PRIu32 " is '%s', which is negative at the least sizes", value->name,
			 d, name);
	else
		return true;
	return false;
}

bool sk_sizes_express(struct sk_op_graph *graph)
{
	bool good = true;

	if (!graph->sizes)
		return true;

	struct sizes names = list_names(graph);

	add_numbers(graph, &names);
	for (size_t i = 0; i < graph->inputs.count && !sk_diag_is_hopeless(graph->diag); i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d] && value->shape[d] != SK_UNKNOWN)
				good &= express_dimension(graph, &names, value, d);
	}
	return good;
}

/* ---- open sizes ---- */

static bool is_open(const struct sk_value *value)
{
	return !value->contents && value->dtype != SK_DTYPE_NONE && !sk_value_is_static(value);
}

/* The options of an error show so many names, and so many inputs; notes are about fewer names. */
enum { SHOWN_NAMES = 256, NOTED_NAMES = 32, SHOWN_INPUTS = 16 };

/* True if --dim can give the size: "?" is not a name, since some exporters write it for each unknown dimension, and
 * computed sizes follow from others. */
static bool is_asked_for(const struct sizes *sizes, const struct sk_value *value, uint32_t d)
{
	return value->shape[d] == SK_UNKNOWN && value->symbols[d] && strcmp(value->symbols[d], "?") != 0 &&
	       !is_computed(sizes, value->symbols[d]);
}

/* True if --shape is the only way: a dimension is open and has no name, or the number of dimensions is unknown. */
static bool needs_shape(const struct sk_value *value)
{
	for (uint32_t d = 0; value->shaped && d < value->rank; d++)
		if (value->shape[d] == SK_UNKNOWN && (!value->symbols[d] || !strcmp(value->symbols[d], "?")))
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

/* ---- guesses of roles ---- */

/* The meaning of a dimension. */
enum role { ROLE_NONE, ROLE_BATCH, ROLE_PAST, ROLE_TOTAL, ROLE_SEQUENCE, ROLE_HEIGHT, ROLE_WIDTH };

static const char *const role_names[] = {
	[ROLE_BATCH] = "batch size",	     [ROLE_PAST] = "length of the past", [ROLE_TOTAL] = "length with the past",
	[ROLE_SEQUENCE] = "sequence length", [ROLE_HEIGHT] = "picture height",	 [ROLE_WIDTH] = "picture width",
};

/* Return the dimension's name without the input's, which torch puts before it: "ids_dynamic_axes_1". */
static const char *own_name(const struct sk_value *value, uint32_t d)
{
	size_t length = strlen(value->name);

	return value->symbols[d] + (strncmp(value->symbols[d], value->name, length) ? 0 : length);
}

/* True if an exporter has numbered the dimension, since it had no name: equal sizes then have different names. */
static bool is_numbered(const struct sk_value *value, uint32_t d)
{
	static const char *const before[] = {"s", "u", "unk__", "dim_", "_dim_", "_dynamic_axes_"};
	const char *name = own_name(value, d);

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		size_t length = strlen(before[i]);

		if (!strncmp(name, before[i], length) && name[length] &&
		    !name[length + strspn(name + length, "0123456789")])
			return true;
	}
	return false;
}

/* Guess from names and positions, as exporters choose them. */
static enum role guess_role(const struct sk_value *value, uint32_t d)
{
	static const struct {
		const char *part;
		enum role role;
	} roles[] = {{"batch", ROLE_BATCH},   {"past", ROLE_PAST},	{"total", ROLE_TOTAL},
		     {"seq", ROLE_SEQUENCE},  {"token", ROLE_SEQUENCE}, {"length", ROLE_SEQUENCE},
		     {"height", ROLE_HEIGHT}, {"width", ROLE_WIDTH}};
	const char *name = own_name(value, d);

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strstr(name, roles[i].part))
			return roles[i].role;
	if (!d)
		return ROLE_BATCH;
	if (d > 1 && d + 1 == value->rank && strstr(value->name, "past"))
		return ROLE_NONE; /* the width of a head */
	if (strstr(value->name, "past") || strstr(value->name, "cache"))
		return strstr(value->name, "encoder") ? ROLE_SEQUENCE : ROLE_PAST;
	if (value->rank == 4)
		return d == 2 ? ROLE_HEIGHT : d == 3 ? ROLE_WIDTH : ROLE_NONE;
	return d == 1 ? ROLE_SEQUENCE : ROLE_NONE;
}

/* Return the part of the network that takes the input, as a text; equal lengths are those of one part. */
static const char *side_of(const struct sk_value *value, enum role role)
{
	static const char *const sides[] = {"pixel", "image", "audio", "feature", "encoder", "decoder"};

	for (size_t i = role == ROLE_PAST ? 6 : 0; i < (role == ROLE_BATCH ? 2 : 6); i++)
		if (strstr(value->name, sides[i]))
			return sides[i];
	return "";
}

struct open_name {
	const struct sk_value *value; /* the first input that has it */
	uint32_t d;
	enum role role;
	const char *side;
	uint32_t same; /* the number of the earlier name that is perhaps of the same size; its own: none */
	const char *sum; /* a guess of the size, such as "past+seq"; NULL: none */
};

/* One --shape for inputs of one shape with names that differ in numbers only, or for a single one. */
struct shape_option {
	const struct sk_value *first;
	const char *name; /* or a pattern */
	size_t count;
};

/* Everything that one error asks for. */
struct open_sizes {
	struct sizes sizes;
	const bool *used; /* by value: nothing asks for sizes of other inputs */
	size_t inputs, shapeless; /* numbers of open inputs, and of those that need --shape */
	const struct sk_value *first;
	SK_ARRAY(struct open_name) names;
	struct sk_map known; /* names to their numbers */
	SK_ARRAY(const struct sk_value *) shown; /* of those that need --shape */
	SK_ARRAY(struct shape_option) options; /* for these */
};

/* True if the sizes of the input of that number are open, and something uses it. */
static bool is_asked(const struct open_sizes *open, const struct sk_op_graph *graph, size_t number)
{
	uint32_t value = graph->inputs.items[number];

	return open->used[value] && is_open(&graph->values.items[value]);
}

static const char *open_text(const struct open_name *name)
{
	return name->value->symbols[name->d];
}

static void add_open(struct sk_op_graph *graph, struct open_sizes *open, const struct sk_value *value)
{
	open->first = open->inputs++ ? open->first : value;
	for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
		const char *name = value->symbols[d];
		uint32_t number = (uint32_t)open->names.count;
		enum role role;

		if (!is_asked_for(&open->sizes, value, d) ||
		    sk_map_insert(&open->known, name, strlen(name), number) != number)
			continue;
		role = guess_role(value, d);
		sk_array_push(graph->arena, &open->names,
			      (struct open_name){value, d, role, side_of(value, role), number, NULL});
	}
	if (needs_shape(value) && open->shapeless++ < SHOWN_NAMES)
		sk_array_push(graph->arena, &open->shown, value);
}

/* Return the first name of that role and side, of those that are shown; NULL: none. */
static const struct open_name *find_role(const struct open_sizes *open, enum role role, const char *side)
{
	for (size_t i = 0; i < open->names.count && i < SHOWN_NAMES; i++)
		if (open->names.items[i].role == role && !strcmp(open->names.items[i].side, side))
			return &open->names.items[i];
	return NULL;
}

static bool is_operand(const char *name)
{
	while (isalnum((unsigned char)*name) || *name == '_' || *name == '.')
		name++;
	return !*name;
}

/* With a past, a mask covers the past too: its size is a sum. */
static void guess_sum(struct sk_op_graph *graph, const struct open_sizes *open, struct open_name *name)
{
	const struct open_name *past = find_role(open, ROLE_PAST, ""), *length = NULL;

	if (name->role != ROLE_SEQUENCE || !past || !strstr(name->value->name, "mask") ||
	    !strcmp(name->side, "encoder"))
		return;
	for (size_t i = 0; i < open->names.count && i < SHOWN_NAMES && !length; i++)
		if (open->names.items[i].role == ROLE_SEQUENCE && !strcmp(open->names.items[i].side, name->side) &&
		    !strstr(open->names.items[i].value->name, "mask"))
			length = &open->names.items[i];
	if (!length || !is_operand(open_text(past)) || !is_operand(open_text(length)))
		return;
	name->role = ROLE_TOTAL;
	name->sum = sk_arena_print(graph->arena, "%s+%s", open_text(past), open_text(length));
}

/* Numbered names of one role, of those that are shown, are perhaps of one size. Heights and widths are not: a network
 * may take several pictures. */
static void guess_same(struct sk_op_graph *graph, struct open_sizes *open)
{
	for (uint32_t i = 0; i < open->names.count && i < SHOWN_NAMES; i++) {
		struct open_name *name = &open->names.items[i];
		const struct open_name *first;

		if (!is_numbered(name->value, name->d))
			continue;
		guess_sum(graph, open, name);
		if (name->sum || name->role < ROLE_BATCH || name->role > ROLE_SEQUENCE)
			continue;
		first = find_role(open, name->role, name->side);
		if (first && first->value != name->value)
			name->same = (uint32_t)(first - open->names.items);
	}
}

/* Return the number of the name that the dimension is shown under; SK_NONE: none. */
static uint32_t shown_under(const struct open_sizes *open, const struct sk_value *value, uint32_t d)
{
	uint32_t number;

	if (value->shape[d] != SK_UNKNOWN || !value->symbols[d])
		return SK_NONE;
	number = sk_map_find(&open->known, value->symbols[d], strlen(value->symbols[d]));
	return number == SK_NONE ? SK_NONE : open->names.items[number].same;
}

/* Add a note with the inputs that have the dimension: "batch: dimension 0 of 'ids', 'mask' and 3 more; ...". */
static void note_dimension(struct sk_op_graph *graph, const struct open_sizes *open, uint32_t number)
{
	enum { SHOWN = 3 };
	const struct open_name *name = &open->names.items[number];
	const char *role = role_names[name->role], *text = "";
	size_t count = 0;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; is_asked(open, graph, i) && value->shaped && d < value->rank; d++) {
			if (shown_under(open, value, d) != number)
				continue;
			if (count++ < SHOWN)
				text = sk_arena_print(graph->arena, "%s%s dimension %" PRIu32 " of '%s'", text,
						      count > 1 ? "," : "", d, value->name);
		}
	}
	if (count > SHOWN)
		text = sk_arena_print(graph->arena, "%s and %zu more", text, count - SHOWN);
	sk_note(graph->diag, "%s:%s%s%s", open_text(name), text, role ? "; perhaps the " : "", role ? role : "");
}

/* ---- inputs with one shape ---- */

/* Return the name with a star for each number in it: "past.*.key". NULL: it has none, or is no pattern of itself. */
static const char *pattern_of(struct sk_arena *arena, const char *name)
{
	const char *pattern = "";

	if (strpbrk(name, "*?[\\"))
		return NULL;
	while (*name) {
		size_t text = strcspn(name, "0123456789"), digits = strspn(name + text, "0123456789");

		pattern = sk_arena_print(arena, "%s%.*s%s", pattern, (int)text, name, digits ? "*" : "");
		name += text + digits;
	}
	return strchr(pattern, '*') ? pattern : NULL;
}

/* Return the number of used inputs that the pattern matches; 0: one input needs no --shape, or has another shape. */
static size_t count_matches(struct sk_op_graph *graph, const bool *used, const char *pattern,
			    const struct sk_value *like)
{
	const char *shape = shape_example(graph, like);
	size_t count = 0;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		if (!sk_pattern_matches(pattern, value->name))
			continue;
		if (!is_open(value) || !needs_shape(value) || strcmp(shape_example(graph, value), shape) != 0)
			return 0;
		count += used[graph->inputs.items[i]];
	}
	return count;
}

static bool has_option(const struct open_sizes *open, const char *name)
{
	for (size_t i = 0; i < open->options.count; i++)
		if (!strcmp(open->options.items[i].name, name))
			return true;
	return false;
}

/* Choose the options for the inputs that are shown; the first ones of a long list. */
static void choose_shapes(struct sk_op_graph *graph, struct open_sizes *open)
{
	for (size_t i = 0; i < open->shown.count && open->options.count < SHOWN_INPUTS; i++) {
		const struct sk_value *value = open->shown.items[i];
		const char *pattern = pattern_of(graph->arena, value->name);
		size_t count;

		if (pattern && has_option(open, pattern))
			continue;
		count = pattern ? count_matches(graph, open->used, pattern, value) : 0;
		sk_array_push(graph->arena, &open->options,
			      ((struct shape_option){value, count > 1 ? pattern : value->name, count > 1 ? count : 1}));
	}
}

static const char *print_options(struct sk_op_graph *graph, const struct open_sizes *open)
{
	size_t names = open->names.count < SHOWN_NAMES ? open->names.count : SHOWN_NAMES;
	size_t more = open->names.count - names + open->shapeless;
	const char *options = "";

	for (size_t i = 0; i < names; i++) {
		const struct open_name *name = &open->names.items[i];
		const char *size = name->same != i ? open_text(&open->names.items[name->same]) : name->sum;

		options = sk_arena_print(graph->arena, "%s --dim '%s=%s'", options, open_text(name), size ? size : "N");
	}
	for (size_t i = 0; i < open->options.count; i++) {
		const struct shape_option *option = &open->options.items[i];

		options = sk_arena_print(graph->arena, "%s --shape '%s=%s'", options, option->name,
					 shape_example(graph, option->first));
		more -= option->count;
	}
	return more ? sk_arena_print(graph->arena, "%s and %zu more", options, more) : options;
}

static void note_names(struct sk_op_graph *graph, const struct open_sizes *open)
{
	size_t noted = 0;
	bool guessed = false;

	for (uint32_t i = 0; i < open->names.count; i++) {
		guessed = guessed || open->names.items[i].sum || open->names.items[i].same != i;
		if (open->names.items[i].same == i && noted++ < NOTED_NAMES)
			note_dimension(graph, open, i);
	}
	if (guessed)
		sk_note(graph->diag, "the file numbers its dimensions; which of them are equal, or sums, is a guess "
				     "from names of inputs: give those that differ an N of their own");
}

void sk_sizes_report_open(struct sk_op_graph *graph)
{
	struct open_sizes open = {.sizes = list_names(graph), .used = sk_graph_find_used(graph)};

	sk_map_init(&open.known, graph->arena);
	for (size_t i = 0; i < graph->inputs.count; i++)
		if (is_asked(&open, graph, i))
			add_open(graph, &open, &graph->values.items[graph->inputs.items[i]]);
	if (!open.inputs)
		return;
	guess_same(graph, &open);
	choose_shapes(graph, &open);
	sk_error(graph->diag, open.first->place,
		 "the sizes of input '%s'%s are not known when linking; say them, with a number for each N:%s",
		 open.first->name,
		 open.inputs > 1 ? sk_arena_print(graph->arena, " and %zu more", open.inputs - 1) : "",
		 print_options(graph, &open));
	note_names(graph, &open);
	for (size_t i = 0; i < open.options.count; i++)
		sk_note(graph->diag, "input '%s': %s", open.options.items[i].name,
			shape_text(graph, open.options.items[i].first));
	sk_note(graph->diag,
		"for any size, give bounds such as --dim NAME=1..64; --shape takes names of dimensions too");
}
