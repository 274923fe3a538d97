/* --shape, --dim, --freeze, --keep and --state, or the keys of a manifest; see link.h. */
#include "src/link/link.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "src/command/command.h"
#include "src/model/model.h"

/* Return the place of an error about a value: the text's in the manifest, or else the value's in the model. */
static struct sk_place place_at(const struct sk_given *given, const struct sk_value *value)
{
	return given->place.line ? given->place : value->place;
}

/* Read decimal digits up to the end or a character of `ends`. Return false if it is not a size. */
static bool read_size(const char **text, const char *end, uint64_t *size)
{
	size_t digits = strspn(*text, "0123456789");

	*size = strtoull(*text, NULL, 10);
	*text += digits;
	return digits && *size <= INT64_MAX && (!**text || strchr(end, **text));
}

/* Read a name of letters without x, digits and underscores up to the end or an x. NULL: it is not one. */
static const char *read_name(struct sk_arena *arena, const char **text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwyz";
	const char *begin = *text;

	if (!strspn(begin, letters))
		return NULL;
	*text += strcspn(begin, "x");
	for (const char *at = begin; at < *text; at++)
		if (!strchr(letters, *at) && !strchr("0123456789", *at))
			return NULL;
	return sk_arena_copy(arena, begin, (size_t)(*text - begin));
}

/* Read numbers, and names of dimensions that the model leaves open. */
static bool read_shape(struct sk_arena *arena, const char *text, uint64_t shape[SK_MAX_RANK],
		       const char *names[SK_MAX_RANK], uint32_t *rank)
{
	for (*rank = 0; *text; text++) {
		if (*rank == SK_MAX_RANK)
			return false;
		names[*rank] = read_name(arena, &text);
		shape[*rank] = SK_UNKNOWN;
		if ((!names[*rank] && !read_size(&text, "x", &shape[*rank])) || (*text && !text[1]))
			return false;
		++*rank;
		if (!*text)
			break;
	}
	return true;
}

/* True if the model leaves the named dimensions open, and the others agree. */
static bool admits(const struct sk_value *value, uint32_t rank, const uint64_t *shape, const char *const *names)
{
	uint64_t filled[SK_MAX_RANK];

	for (uint32_t d = 0; d < rank; d++) {
		bool open = !value->shaped || d >= value->rank || value->shape[d] == SK_UNKNOWN;

		if (names[d] && !open)
			return false;
		filled[d] = names[d] ? 0 : shape[d];
	}
	return sk_value_admits(value, rank, filled);
}

static bool check_size(struct sk_op_graph *graph, const struct sk_given *given, const struct sk_value *value)
{
	if (sk_shape_is_countable(value->dtype, value->rank, value->shape))
		return true;
	sk_error(graph->diag, place_at(given, value), "%s '%s': input '%s' would be larger than 2^63 bytes",
		 given->option, given->text, value->name);
	return false;
}

static const char *known_shape(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return sk_partial_shape_text(graph->arena, value->rank, value->shape);
}

static bool set_shape(struct sk_op_graph *graph, const struct sk_given *given)
{
	struct sk_value *value;
	uint64_t shape[SK_MAX_RANK] = {0};
	const char *names[SK_MAX_RANK] = {NULL};
	uint32_t index, rank;
	const char *sizes = sk_given_split(graph, given, false, &index);

	if (!sizes)
		return false;
	value = &graph->values.items[index];
	if (!read_shape(graph->arena, sizes, shape, names, &rank)) {
		sk_error(graph->diag, given->place,
			 "%s '%s': '%s' is not a shape; write at most %d numbers or names with x between them, such "
			 "as 1x128x1024 or batchx128",
			 given->option, given->text, sizes, SK_MAX_RANK);
		return false;
	}
	if (!admits(value, rank, shape, names)) {
		sk_error(graph->diag, place_at(given, value), "%s '%s': the shape of input '%s' is %s", given->option,
			 given->text, value->name, known_shape(graph, value));
		return false;
	}
	value->shaped = true;
	value->rank = rank;
	memcpy(value->shape, shape, sizeof(shape));
	for (uint32_t d = 0; d < rank; d++)
		value->symbols[d] = names[d] ? names[d] : value->symbols[d];
	return check_size(graph, given, value);
}

static bool is_dimension(const struct sk_value *value, uint32_t d, const char *name, size_t length)
{
	return value->symbols[d] && strlen(value->symbols[d]) == length && !memcmp(value->symbols[d], name, length);
}

static bool has_dimension(const struct sk_op_graph *graph, const char *name, size_t length)
{
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (is_dimension(value, d, name, length))
				return true;
	}
	return false;
}

static void report_no_dimension(struct sk_op_graph *graph, const struct sk_given *given, size_t length)
{
	SK_ARRAY(const char *) names = {NULL, 0, 0};

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d])
				sk_array_push(graph->arena, &names, value->symbols[d]);
	}
	sk_error(graph->diag, given->place, "%s '%s': no input has a dimension of that name%s%s", given->option,
		 given->text,
		 strchr(given->text, ',') ? " (a set of several has a name, as in short:batch=1,seq=128)" : "",
		 sk_did_you_mean(graph->arena, sk_arena_copy(graph->arena, given->text, length), names.items,
				 names.count));
}

/* True if only inputs that are left out had a dimension of that name. */
static bool is_former(const struct sk_op_graph *graph, const char *name, size_t length)
{
	for (size_t i = 0; i < graph->former.count; i++)
		if (strlen(graph->former.items[i]) == length && !memcmp(graph->former.items[i], name, length))
			return !has_dimension(graph, name, length);
	return false;
}

/* Give all dimensions of a name the size. */
static bool set_named(struct sk_op_graph *graph, const struct sk_given *given, size_t length, uint64_t size)
{
	bool found = false, agreed = true;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
			if (!is_dimension(value, d, given->text, length))
				continue;
			found = true;
			if (value->shape[d] != SK_UNKNOWN && value->shape[d] != size) {
				sk_error(graph->diag, place_at(given, value), "%s '%s': the shape of input '%s' is %s",
					 given->option, given->text, value->name, known_shape(graph, value));
				return false;
			}
			value->shape[d] = size;
			agreed &= check_size(graph, given, value);
		}
	}
	if (!found && is_former(graph, given->text, length))
		return true;
	if (!found)
		report_no_dimension(graph, given, length);
	return found && agreed;
}

/* True if bounds follow the equals sign, and not a number or an expression. */
static bool is_bounds(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && (!strncmp(text + digits, "..", 2) || text[digits] == ':' || text[digits] == '@');
}

static bool has_bounds(const struct sk_op_graph *graph, const char *name, size_t length)
{
	return graph->sizes && sk_sizes_find(graph->sizes, graph->dimensions_of, name, length) != SK_NONE;
}

static bool is_open(const struct sk_op_graph *graph, const char *name, size_t length)
{
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (is_dimension(value, d, name, length) && value->shape[d] != SK_UNKNOWN)
				return false;
	}
	return true;
}

/* Names are in quotation marks in expressions, and in texts of one line. */
static bool is_printable(const char *name)
{
	while (*name && *name != '"' && (unsigned char)*name >= ' ' && *name != 0x7f)
		name++;
	return !*name;
}

/* NAME=LO..HI[:MULTIPLE][@USUAL]. Bounds of one number are that number. */
static bool set_bounds(struct sk_op_graph *graph, const struct sk_given *given, size_t length)
{
	struct sk_size_dimension dimension = {.name = sk_arena_copy(graph->arena, given->text, length),
					      .network = graph->dimensions_of};
	const char *error;

	if (!sk_size_parse_bounds(graph->arena, given->text + length + 1, &dimension, &error)) {
		sk_error(graph->diag, given->place, "%s '%s': %s", given->option, given->text, error);
		return false;
	}
	if (dimension.least < dimension.most && !is_printable(dimension.name)) {
		sk_error(graph->diag, given->place,
			 "%s '%s': a name with a quotation mark or a control character cannot have bounds",
			 given->option, given->text);
		return false;
	}
	if (dimension.least < dimension.most && !is_open(graph, given->text, length)) {
		sk_error(graph->diag, given->place, "%s '%s': the dimension has a size already", given->option,
			 given->text);
		return false;
	}
	if (!set_named(graph, given, length,
		       dimension.least < dimension.most && graph->sizes_at
			       ? graph->sizes_at[graph->sizes ? sk_sizes_count(graph->sizes) : 0]
			       : dimension.most))
		return false;
	if (dimension.least < dimension.most && !is_former(graph, given->text, length))
		sk_sizes_bound(graph, &dimension);
	return true;
}

/* True if an input has a dimension of that name. */
static bool is_known_name(struct sk_op_graph *graph, const char *name)
{
	uint64_t size;
	enum sk_size_text text = sk_size_read(graph, name, &size);

	return text == SK_SIZE_KNOWN || text == SK_SIZE_OPEN;
}

/* NAME=NUMBER or NAME=BOUNDS. Of NAME=EXPRESSION return true and leave it for set_computed. */
static bool set_dimension(struct sk_op_graph *graph, const struct sk_given *given)
{
	const char *equals = strrchr(given->text, '='), *digits = equals ? equals + 1 : given->text;
	uint64_t size;

	if (equals && has_bounds(graph, given->text, (size_t)(equals - given->text))) {
		sk_error(graph->diag, given->place, "%s '%s': the dimension has bounds already", given->option,
			 given->text);
		return false;
	}
	if (equals && read_size(&digits, "", &size))
		return set_named(graph, given, (size_t)(equals - given->text), size);
	if (equals && is_bounds(equals + 1))
		return set_bounds(graph, given, (size_t)(equals - given->text));
	if (equals && (sk_size_is_computed(graph, equals + 1) || is_known_name(graph, equals + 1)))
		return true;
	if (equals && equals[1] == '-' && equals[2] >= '0' && equals[2] <= '9') {
		sk_error(graph->diag, given->place, "%s '%s': a size is not negative", given->option, given->text);
		return false;
	}
	sk_error(graph->diag, given->place,
		 "%s '%s' is not NAME=NUMBER, bounds such as 1..512, or an expression of names such as past+seq",
		 given->option, given->text);
	return false;
}

/* NAME=EXPRESSION, after all numbers: "total=past+seq", or another name. */
static bool set_computed(struct sk_op_graph *graph, const struct sk_given *given)
{
	const char *equals = strrchr(given->text, '='), *digits = equals + 1;
	uint64_t size;

	if (read_size(&digits, "", &size) || is_bounds(equals + 1))
		return true;
	switch (sk_size_read(graph, equals + 1, &size)) {
	case SK_SIZE_KNOWN:
		return set_named(graph, given, (size_t)(equals - given->text), size);
	case SK_SIZE_OPEN:
		return true; /* the error about open sizes asks for the names */
	default:
		sk_error(graph->diag, given->place, "%s '%s': '%s' is not a size: it is negative or too large",
			 given->option, given->text, equals + 1);
		return false;
	}
}

/* ---- --keep ---- */

static bool is_inner(const struct sk_value *value)
{
	return value->node != SK_NONE && !value->contents;
}

static void keep_value(struct sk_op_graph *graph, uint32_t index)
{
	struct sk_value *value = &graph->values.items[index];

	if (value->output)
		return;
	value->output = true;
	sk_array_push(graph->arena, &graph->outputs, index);
}

static bool report_not_inner(struct sk_op_graph *graph, const struct sk_given *given)
{
	SK_ARRAY(const char *) names = {NULL, 0, 0};
	uint32_t value = sk_map_find(&graph->value_names, given->text, strlen(given->text));

	if (value != SK_NONE && (graph->values.items[value].input || graph->values.items[value].contents)) {
		sk_error(graph->diag, given->place, "%s '%s': it is %s of the model, which no node makes",
			 given->option, given->text, graph->values.items[value].input ? "an input" : "a constant");
		return false;
	}
	for (size_t i = 0; i < graph->values.count; i++)
		if (is_inner(&graph->values.items[i]))
			sk_array_push(graph->arena, &names, graph->values.items[i].name);
	sk_error(graph->diag, given->place,
		 "%s '%s': no node that the model's outputs need makes a value of such a name%s", given->option,
		 given->text, sk_did_you_mean(graph->arena, given->text, names.items, names.count));
	return false;
}

/* A name that is also a pattern counts as a name. */
static bool keep_named_value(struct sk_op_graph *graph, const struct sk_given *given)
{
	uint32_t named = sk_map_find(&graph->value_names, given->text, strlen(given->text));
	bool found = false;

	if (named != SK_NONE && is_inner(&graph->values.items[named])) {
		keep_value(graph, named);
		return true;
	}
	for (uint32_t i = 0; named == SK_NONE && i < graph->values.count; i++) {
		if (!is_inner(&graph->values.items[i]) || !sk_pattern_matches(given->text, graph->values.items[i].name))
			continue;
		found = true;
		keep_value(graph, i);
	}
	return found || report_not_inner(graph, given);
}

/* ---- --state ---- */

static bool is_output(const struct sk_op_graph *graph, const char *name, uint32_t *value)
{
	*value = sk_map_find(&graph->value_names, name, strlen(name));
	return *value != SK_NONE && graph->values.items[*value].output;
}

static bool report_no_output(struct sk_op_graph *graph, const struct sk_given *given, const char *name)
{
	const char **names = SK_NEW_ARRAY(graph->arena, const char *, graph->outputs.count + 1);

	for (size_t i = 0; i < graph->outputs.count; i++)
		names[i] = graph->values.items[graph->outputs.items[i]].name;
	sk_error(graph->diag, given->place, "%s '%s': the model has no output '%s'%s", given->option, given->text, name,
		 sk_did_you_mean(graph->arena, name, names, graph->outputs.count));
	return false;
}

static bool check_state(struct sk_op_graph *graph, const struct sk_graph_state *state, struct sk_place place)
{
	const char *present = graph->values.items[state->present].name;

	if (graph->values.items[state->present].input) {
		sk_error(graph->diag, place, "%s: output '%s' is also an input", state->text, present);
		return false;
	}
	for (size_t i = 0; i < graph->states.count; i++) {
		const struct sk_graph_state *other = &graph->states.items[i];

		if (other->past != state->past && other->present != state->present)
			continue;
		sk_error(graph->diag, place, "%s: '%s' is in %s already", state->text,
			 other->past == state->past ? graph->values.items[state->past].name : present, other->text);
		return false;
	}
	return true;
}

/* Find the output that "OUTPUT" or "OUTPUT:CAPACITY" names. */
static bool is_kept_output(const struct sk_op_graph *graph, const char *name, struct sk_graph_state *state)
{
	const char *colon = strrchr(name, ':'), *digits = colon ? colon + 1 : name;
	uint64_t capacity;

	state->capacity = 0;
	if (is_output(graph, name, &state->present))
		return true;
	if (!colon || !read_size(&digits, "", &capacity) || !capacity)
		return false;
	state->capacity = capacity;
	return is_output(graph, sk_arena_copy(graph->arena, name, (size_t)(colon - name)), &state->present);
}

static bool add_state(struct sk_op_graph *graph, const struct sk_given *given)
{
	const char *text = given->text;
	struct sk_graph_state state = {.text = sk_arena_print(graph->arena, "%s '%s'", given->option, text),
				       .cache = SK_NONE};
	const char *name = sk_given_split(graph, given, false, &state.past);

	if (!name)
		return false;
	/* The longest input name may include a part of the output's name. */
	for (const char *end = text + strlen(text); end > text && !is_kept_output(graph, name, &state); end--)
		if (*end == '=' && sk_given_is_input(graph, text, (size_t)(end - text), &state.past))
			name = end + 1;
	if (!is_kept_output(graph, name, &state))
		return report_no_output(graph, given, name);
	if (!check_state(graph, &state, given->place))
		return false;
	sk_array_push(graph->arena, &graph->states, state);
	return true;
}

/* ---- patterns, and networks ---- */

static bool has_wildcard(const char *text, size_t length)
{
	return strcspn(text, "*?[") < length;
}

/* --shape: a name that is also a pattern counts as a name. */
static bool set_shapes(struct sk_op_graph *graph, const struct sk_given *given)
{
	const char *equals = strrchr(given->text, '='), *pattern;
	size_t length = equals ? (size_t)(equals - given->text) : 0;
	bool found = false, set = true;
	uint32_t value;

	if (!has_wildcard(given->text, length) || sk_given_is_input(graph, given->text, length, &value))
		return set_shape(graph, given);
	pattern = sk_arena_copy(graph->arena, given->text, length);
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const char *name = graph->values.items[graph->inputs.items[i]].name;
		struct sk_given one = *given;

		if (!sk_pattern_matches(pattern, name))
			continue;
		one.text = sk_arena_print(graph->arena, "%s%s", name, equals);
		set &= set_shape(graph, &one);
		found = true;
	}
	return found ? set : set_shape(graph, given);
}

/* Add the dimension, or, if its name is a pattern, one for each name that it matches. */
static void add_matching(struct sk_op_graph *graph, const struct sk_dimension *dimension, sk_dimensions *all)
{
	const char *text = dimension->size.text, *equals = strrchr(text, '='), *pattern;
	size_t length = equals ? (size_t)(equals - text) : 0;
	struct sk_map names;

	sk_map_init(&names, graph->arena);
	pattern = sk_arena_copy(graph->arena, text, length);
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
			const char *name = value->symbols[d];
			struct sk_dimension one = *dimension;
			uint32_t next = (uint32_t)names.count;

			if (!has_wildcard(text, length) || has_dimension(graph, text, length) || !name ||
			    !sk_pattern_matches(pattern, name) ||
			    sk_map_insert(&names, name, strlen(name), next) != next)
				continue;
			one.size.text = sk_arena_print(graph->arena, "%s%s", name, equals);
			sk_array_push(graph->arena, all, one);
		}
	}
	if (!names.count)
		sk_array_push(graph->arena, all, *dimension);
	sk_map_release(&names);
}

/* Return the text without the name of this network before a colon; NULL: it is for another network. A name in the
 * model that begins like that counts as such. */
static const char *own_text(const struct sk_op_graph *graph, const sk_dimensions *networks, const char *text)
{
	const char *colon = text + strcspn(text, ":=");
	size_t length = (size_t)(colon - text);

	for (const char *end = colon; *colon == ':' && *end; end++)
		if (*end == '=' && sk_map_find(&graph->value_names, text, (size_t)(end - text)) != SK_NONE)
			return text;
	for (size_t i = 0; *colon == ':' && i < networks->count; i++) {
		const char *network = networks->items[i].network;

		if (network && strlen(network) == length && !memcmp(network, text, length))
			return graph->dimensions_of && !strcmp(graph->dimensions_of, network) ? colon + 1 : NULL;
	}
	return text;
}

/* ---- all options ---- */

typedef bool setter(struct sk_op_graph *graph, const struct sk_given *given);

/* Apply the command line's texts, then the manifest's, to the network that they are for. */
static bool apply_texts(struct sk_op_graph *graph, setter *set, const char *option, const sk_texts *texts,
			const char *key, const sk_names *names, const sk_dimensions *networks)
{
	bool applied = true;

	for (size_t i = 0; i < texts->count + names->count; i++) {
		bool typed = i < texts->count;
		const struct sk_name text = typed ? (struct sk_name){texts->items[i], {.file = graph->file}}
						  : names->items[i - texts->count];
		const char *own = own_text(graph, networks, text.text);

		if (own)
			applied &= set(graph, &(struct sk_given){typed ? option : key, own, text.place});
	}
	return applied;
}

static bool is_for(const struct sk_dimension *dimension, const char *network)
{
	return !dimension->network || (network && !strcmp(dimension->network, network));
}

static bool apply_dimensions(struct sk_op_graph *graph, const sk_dimensions *dimensions, const char *network,
			     setter *set)
{
	bool applied = true;

	for (size_t i = 0; i < dimensions->count; i++) {
		const struct sk_dimension *dimension = &dimensions->items[i];
		const char *option = dimension->size.place.line ? "dims" : "--dim";

		if (is_for(dimension, network))
			applied &= set(graph, &(struct sk_given){option, dimension->size.text, dimension->size.place});
	}
	return applied;
}

/* True if the text is neither a number nor bounds. */
static bool is_expression(const char *text)
{
	const char *digits = text;
	uint64_t size;

	return !read_size(&digits, "", &size) && !is_bounds(text);
}

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '.';
}

/* Return the first place of the name in the expression, from `at` on; NULL: it does not have the name. */
static const char *find_name(const char *expression, const char *at, const char *name, size_t length)
{
	for (; *at; at++)
		if (!strncmp(at, name, length) && (at == expression || !is_name_byte(at[-1])) &&
		    !is_name_byte(at[length]))
			return at;
	return NULL;
}

static bool has_name(const char *expression, const char *name, size_t length)
{
	return find_name(expression, expression, name, length);
}

/* Check that no other expression of the network has the name, which an expression gives. */
static bool check_others(const struct sk_op_graph *graph, const sk_dimensions *dimensions, const char *network,
			 const char *name, size_t length)
{
	for (size_t i = 0; i < dimensions->count; i++) {
		const struct sk_dimension *other = &dimensions->items[i];
		const char *equals = strrchr(other->size.text, '=');

		if (!is_for(other, network) || !equals || !is_expression(equals + 1) ||
		    !has_name(equals + 1, name, length))
			continue;
		sk_error(graph->diag, other->size.place,
			 "--dim '%s': beside sizes with bounds, '%.*s' is to be written as '%s'", other->size.text,
			 (int)length, name, name + length + 1);
		return false;
	}
	return true;
}

/* With bounds, an expression replaces the name that it gives. Therefore other expressions do not have the name. */
static bool check_expressions(struct sk_op_graph *graph, const sk_dimensions *dimensions, const char *network)
{
	for (size_t i = 0; graph->sizes && i < dimensions->count; i++) {
		const struct sk_dimension *given = &dimensions->items[i];
		const char *name = given->size.text, *equals = strrchr(name, '=');
		size_t length = equals ? (size_t)(equals - name) : 0;

		if (!is_for(given, network) || !equals || !is_expression(equals + 1))
			continue;
		if (!check_others(graph, dimensions, network, name, length))
			return false;
	}
	return true;
}

/* Return the expression with the other one, in parentheses, in place of the name. */
static const char *replace_name(struct sk_arena *arena, const char *expression, const char *name, size_t length,
				const char *other)
{
	const char *text = "", *from = expression, *at;

	while ((at = find_name(expression, from, name, length))) {
		text = sk_arena_print(arena, "%s%.*s(%s)", text, (int)(at - from), from, other);
		from = at + length;
	}
	return sk_arena_join(arena, text, from);
}

/* NAME=EXPRESSION with a size that is still open, or can depend on bounds: the expression becomes the name, also where
 * the model computes with it, so that only its names are asked for, and have bounds. */
static bool rename_open(struct sk_op_graph *graph, const struct sk_given *given)
{
	const char *equals = strrchr(given->text, '=');
	size_t length = (size_t)(equals - given->text);
	uint64_t size;

	if (!is_expression(equals + 1) || (!graph->sizes && sk_size_read(graph, equals + 1, &size) != SK_SIZE_OPEN))
		return true;
	for (size_t i = 0; i < graph->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d] && !is_dimension(value, d, given->text, length) &&
			    has_name(value->symbols[d], given->text, length) &&
			    sk_size_is_computed(graph, value->symbols[d]))
				value->symbols[d] =
					replace_name(graph->arena, value->symbols[d], given->text, length, equals + 1);
	}
	for (size_t i = 0; i < graph->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (is_dimension(value, d, given->text, length))
				value->symbols[d] = equals + 1;
	}
	return true;
}

static size_t count_open(const struct sk_op_graph *graph)
{
	size_t count = 0;

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			count += value->shape[d] == SK_UNKNOWN;
	}
	return count;
}

/* Sizes that others give, until no more follows: expressions may name each other in any order. */
static bool apply_computed(struct sk_op_graph *graph, const sk_dimensions *dimensions, const char *network)
{
	bool applied = true;

	for (size_t before = SIZE_MAX, open = count_open(graph); applied && open < before; open = count_open(graph)) {
		before = open;
		applied = apply_dimensions(graph, dimensions, network, set_computed) && sk_sizes_settle(graph);
	}
	return applied && check_expressions(graph, dimensions, network) &&
	       apply_dimensions(graph, dimensions, network, rename_open);
}

bool sk_given_apply(const struct sk_command_line *command, const struct sk_graph_file *file,
		    const sk_dimensions *dimensions, const char *network, struct sk_op_graph *graph)
{
	bool applied = apply_texts(graph, set_shapes, "--shape", &command->shapes, "shapes", &file->shapes, dimensions);
	sk_dimensions all = {NULL, 0, 0};

	for (size_t i = 0; i < dimensions->count; i++)
		add_matching(graph, &dimensions->items[i], &all);
	applied &= apply_dimensions(graph, &all, network, set_dimension);
	applied &=
		apply_texts(graph, sk_given_freeze, "--freeze", &command->frozen, "freeze", &file->frozen, dimensions);
	if (command->frozen.count + file->frozen.count)
		sk_graph_drop_unneeded(graph);
	applied = applied && apply_computed(graph, &all, network) && sk_sizes_express(graph);
	applied &= apply_texts(graph, keep_named_value, "--keep", &command->kept, NULL, &(sk_names){0}, dimensions);
	applied &= apply_texts(graph, add_state, "--state", &command->states, "states", &file->states, dimensions);
	return applied && sk_given_find_caches(command, graph);
}

void sk_given_list_undeclared(const struct sk_command_line *command, const struct sk_graph_file *file,
			      const sk_dimensions *dimensions, struct sk_op_graph *graph)
{
	struct sk_diag *diag = graph->diag, unsaid;

	sk_diag_init(&unsaid, graph->arena);
	graph->diag = &unsaid; /* sk_given_apply will report */
	apply_texts(graph, sk_freeze_list_undeclared, "--freeze", &command->frozen, "freeze", &file->frozen,
		    dimensions);
	graph->diag = diag;
}
