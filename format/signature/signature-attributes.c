/* The attributes of a signature: "cube blocks=m op=MatMul;". In: the text. Out: the fields of the signature that they
 * set. Their words may have other characters than parameters, so they are divided at blanks between attributes, not
 * into tokens. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/plan/isa.h"
#include "format/signature/signature-parts.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

enum attribute {
	ATTRIBUTE_CUBE,
	ATTRIBUTE_VECTOR,
	ATTRIBUTE_MIX,
	ATTRIBUTE_SPLIT,
	ATTRIBUTE_BLOCKS,
	ATTRIBUTE_GRID,
	ATTRIBUTE_EACH,
	ATTRIBUTE_TILE,
	ATTRIBUTE_UNFUSIBLE,
	ATTRIBUTE_REENTRANT,
	ATTRIBUTE_NONTEMPORAL,
	ATTRIBUTE_SYNC_ALL,
	ATTRIBUTE_OP,
	ATTRIBUTE_ISA,
	ATTRIBUTE_EARLY_START,
	ATTRIBUTE_AIC,
	ATTRIBUTE_AIV,
	ATTRIBUTE_FRAME,
	ATTRIBUTE_ALIGN,
	ATTRIBUTE_UNTILED,
	ATTRIBUTE_OPERATIONS,
};

enum value_rule { NO_VALUE, MAY_HAVE_VALUE, NEEDS_VALUE };

const char *const sk_attribute_names[SK_ATTRIBUTES] = {
	"cube",	       "vector",    "mix",	 "split",	"blocks",   "grid",    "each",
	"tile",	       "unfusible", "reentrant", "nontemporal", "sync-all", "op",      "isa",
	"early-start", "aic",	    "aiv",	 "frame",	"align",    "untiled", "operations"};

static const struct {
	enum value_rule rule;
	const char *const *values; /* NULL: any name */
	size_t value_count;
	const char *form; /* a value that is not a name has this form, and is parsed where it is applied */
} attribute_values[SK_ATTRIBUTES] = {
	[ATTRIBUTE_MIX] = {MAY_HAVE_VALUE, (const char *const[]){"1:1", "1:2"}, 2},
	[ATTRIBUTE_SPLIT] = {NEEDS_VALUE, NULL, 0, "NAME[:N]"},
	[ATTRIBUTE_BLOCKS] = {MAY_HAVE_VALUE, NULL, 0},
	[ATTRIBUTE_GRID] = {NEEDS_VALUE, NULL, 0, "N[,N[,N]]"},
	[ATTRIBUTE_EACH] = {NEEDS_VALUE, NULL, 0, "NAME[,NAME]"},
	[ATTRIBUTE_TILE] = {NEEDS_VALUE, NULL, 0, "NAME:N[,NAME:N]"},
	[ATTRIBUTE_OP] = {NEEDS_VALUE, NULL, 0, "NAME[(CONDITION, …)]"},
	[ATTRIBUTE_ISA] = {NEEDS_VALUE, NULL, 0},
	[ATTRIBUTE_EARLY_START] = {NEEDS_VALUE, (const char *const[]){"wait", "set", "both"}, 3},
	[ATTRIBUTE_AIC] = {NEEDS_VALUE, NULL, 0},
	[ATTRIBUTE_AIV] = {NEEDS_VALUE, NULL, 0},
	[ATTRIBUTE_FRAME] = {NEEDS_VALUE, sk_frame_names, SK_FRAMES},
	[ATTRIBUTE_OPERATIONS] = {NEEDS_VALUE, NULL, 0, "N"},
	[ATTRIBUTE_ALIGN] = {NEEDS_VALUE, (const char *const[]){"2", "4", "8", "16", "32", "64"}, 6},
};

static bool is_identifier(const char *text)
{
	if (isdigit((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!sk_signature_is_word_character(*text))
			return false;
	return true;
}

/* Names of operators and instruction sets are defined elsewhere: "Gelu", "com.example.Gelu", "avx2+fma". */
static bool is_foreign_name(const char *text)
{
	for (; *text; text++)
		if (!sk_signature_is_word_character(*text) && !strchr(".-+", *text))
			return false;
	return true;
}

/* Suggest the nearest value, or list all. */
static const char *suggest_value(struct sk_arena *arena, const char *value, const char *const *values, size_t count)
{
	const char *text = sk_did_you_mean(arena, value, values, count);

	if (*text)
		return text;
	text = " (there are";
	for (size_t i = 0; i < count; i++)
		text = sk_arena_print(arena, "%s %s", text, values[i]);
	return sk_arena_print(arena, "%s)", text);
}

/* A blank ends an attribute if the next one can begin there: between words, but not next to the signs in values. */
static size_t attribute_length(const char *at, const char *end)
{
	const char *from = at;

	for (;;) {
		while (from < end && !sk_signature_is_blank(*from))
			from++;

		const char *next = from;

		while (next < end && sk_signature_is_blank(*next))
			next++;
		if (next == end || (!strchr("=,:+*/(-[", from[-1]) && !strchr("=,:+*/()-[]", *next)))
			return (size_t)(from - at);
		from = next;
	}
}

static char *copy_without_blanks(struct sk_arena *arena, const char *from, size_t length)
{
	char *copy = SK_NEW_ARRAY(arena, char, length + 1);
	size_t used = 0;

	for (size_t i = 0; i < length; i++)
		if (!sk_signature_is_blank(from[i]))
			copy[used++] = from[i];
	copy[used] = '\0';
	return copy;
}

static bool check_attribute_value(struct sk_signature_source *source, enum attribute attribute, const char *at,
				  const char *value)
{
	const char *name = sk_attribute_names[attribute];
	enum value_rule rule = attribute_values[attribute].rule;
	const char *const *values = attribute_values[attribute].values;
	size_t count = attribute_values[attribute].value_count;
	const char *form = attribute_values[attribute].form;

	if (!value && rule != NEEDS_VALUE)
		return true;
	if (!value || !*value)
		sk_signature_error(source, at, "'%s' needs a value: %s=%s", name, name,
				   form	    ? form
				   : values ? values[0]
					    : "NAME");
	else if (rule == NO_VALUE)
		sk_signature_error(source, at, "'%s' takes no value", name);
	else if (values && !sk_signature_is_one_of(value, values, count))
		sk_signature_error(source, at, "'%s' cannot be '%s'%s", name, value,
				   suggest_value(source->arena, value, values, count));
	else if (!values && !form && !(attribute == ATTRIBUTE_ISA ? is_foreign_name(value) : is_identifier(value)))
		sk_signature_error(source, at, "'%s' is not a name%s", value,
				   attribute == ATTRIBUTE_BLOCKS
					   ? "; 'blocks=NAME' divides an extent, and how many blocks there are says "
					     "'blocks' of the task, or 'grid=' here"
					   : "");
	else
		return true;
	return false;
}

static void set_lane(struct sk_signature_source *source, struct sk_signature *signature, const char *at,
		     enum sk_lane_kind lane)
{
	if (signature->lane != SK_LANE_ANY)
		sk_signature_error(source, at, "a kernel runs on one of cube, vector and mix");
	signature->lane = lane;
}

/* The extent is looked up when the parameters are known. */
static void set_spread(struct sk_signature_source *source, struct sk_signature *signature, const char *at,
		       const char *name, enum sk_step_kind spread, const char *value)
{
	if (signature->spread != SK_STEP_PLAIN)
		sk_signature_error(source, at, "'%s' and '%s' exclude each other", source->spread_attribute, name);
	signature->spread = spread;
	source->spread_attribute = name;
	source->spread_name = value;
	source->spread_at = at;
}

/* Return a parser for the value of the attribute. */
static struct sk_signature_parser open_value(struct sk_signature_source *source, struct sk_signature *signature,
					     const char *at)
{
	struct sk_signature_parser parser = {
		.source = source, .signature = signature, .in_attribute = true, .cursor = strchr(at, '=') + 1};

	parser.end = at + attribute_length(at, sk_signature_attributes_end(source));
	sk_token_read(&parser);
	return parser;
}

/* Parse "grid=m,n/64": the number of blocks in each direction. */
static void parse_grid(struct sk_signature_source *source, struct sk_signature *signature, const char *at)
{
	struct sk_signature_parser parser = open_value(source, signature, at);

	set_spread(source, signature, at, "grid", SK_STEP_BLOCKS, NULL);
	signature->grid_rank = 0;
	while (sk_signature_parse_count(&parser, "a grid", &signature->grid[signature->grid_rank])) {
		signature->grid_rank++;
		if (parser.token.kind == SK_TOKEN_END)
			return;
		if (signature->grid_rank == SK_MAX_AXES) {
			sk_token_expected(&parser, "the end of the grid's three numbers");
			return;
		}
		if (!sk_token_sign(&parser, ',', "','"))
			return;
	}
}

/* Parse "operations=2*m*n*k": those of the whole task. */
static void parse_operations(struct sk_signature_source *source, struct sk_signature *signature, const char *at)
{
	struct sk_signature_parser parser = open_value(source, signature, at);

	parser.is_cost = true;
	if (sk_signature_parse_count(&parser, "a number of operations", &signature->operations) &&
	    parser.token.kind != SK_TOKEN_END)
		sk_token_expected(&parser, "the end of 'operations'");
}

/* Parse ":6" after a name: the number of elements in a unit. */
static bool parse_elements(struct sk_signature_parser *parser, const char *what, uint64_t *elements)
{
	const char *at = parser->cursor;

	if (!sk_token_sign(parser, ':', sk_arena_print(parser->source->arena, "':' and %s", what)) ||
	    !sk_token_number(parser, what, elements))
		return false;
	if (*elements > INT32_MAX)
		sk_signature_error(parser->source, at, "at most %d elements can belong together", INT32_MAX);
	return true;
}

/* Parse "split=n", "split=n:32". */
static void parse_split(struct sk_signature_source *source, struct sk_signature *signature, const char *at)
{
	struct sk_signature_parser parser = open_value(source, signature, at);
	const char *name, *name_at;

	if (!sk_token_new_name(&parser, "=", &name, &name_at))
		return;
	set_spread(source, signature, at, "split", SK_STEP_SPLIT, name);
	if (parser.token.kind != SK_TOKEN_END &&
	    parse_elements(&parser, "how many elements parts are multiples of", &signature->unit) &&
	    parser.token.kind != SK_TOKEN_END)
		sk_token_expected(&parser, "the end of 'split'");
}

/* Add a loop. The first one divides its extent among the cores. */
static void add_loop(struct sk_signature_source *source, struct sk_signature *signature, enum attribute attribute,
		     const char *at, const char *name, uint64_t tile)
{
	uint32_t loop = signature->loop_count;

	if (loop == SK_MAX_LOOPS) {
		sk_signature_error(source, at, "there are at most %d loops", SK_MAX_LOOPS);
		return;
	}
	if (loop == 0)
		set_spread(source, signature, at, sk_attribute_names[attribute], SK_STEP_SPLIT, name);
	else if (!strcmp(source->loop_name[0], name))
		sk_signature_error(source, at, "'%s' has a loop already", name);
	source->loop_name[loop] = name;
	source->loop_at[loop] = at;
	signature->loops[signature->loop_count++] = (struct sk_signature_loop){SK_NONE, tile};
}

/* Parse "each=m", "tile=m:6,n:16": the loops around the function, the outermost first. */
static void parse_loops(struct sk_signature_source *source, struct sk_signature *signature, enum attribute attribute,
			const char *at)
{
	struct sk_signature_parser parser = open_value(source, signature, at);

	for (;;) {
		const char *name, *name_at;
		uint64_t tile = 1;

		if (!sk_token_new_name(&parser, signature->loop_count ? "," : "=", &name, &name_at))
			return;
		if (attribute == ATTRIBUTE_TILE &&
		    !parse_elements(&parser, "how many elements the function computes at once", &tile))
			return;
		add_loop(source, signature, attribute, name_at, name, tile);
		if (attribute == ATTRIBUTE_EACH && sk_token_is_sign(&parser, ':')) {
			sk_signature_error(
				source, parser.token.start,
				"'each' has one element at a time; a kernel that computes several says 'tile=%s:N'",
				name);
			return;
		}
		if (parser.token.kind == SK_TOKEN_END || !sk_token_sign(&parser, ',', "','"))
			return;
	}
}

/* Parse a number, perhaps with '-'. False after an error. */
static bool parse_number(struct sk_signature_parser *parser, struct sk_attribute *number)
{
	const char *from = parser->token.start, *text;
	char *end;

	if (sk_token_is_sign(parser, '-'))
		sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_NUMBER)
		return sk_token_expected(parser, "a number");
	sk_token_advance(parser);
	text = copy_without_blanks(parser->source->arena, from, (size_t)(parser->taken - from));
	errno = 0;
	number->kind = SK_ATTRIBUTE_INTEGER;
	number->integer = strtoll(text, &end, 10);
	if (!*end && !errno)
		return true;
	number->kind = SK_ATTRIBUTE_REAL;
	number->real = strtod(text, &end);
	if (!*end && isfinite(number->real))
		return true;
	sk_signature_error(parser->source, from, "'%.80s' is not a number that an attribute can have", text);
	return false;
}

/* Parse "[0, 1]": a list of real numbers, if one of them is real. */
static bool parse_numbers(struct sk_signature_parser *parser, struct sk_attribute *list)
{
	SK_ARRAY(struct sk_attribute) numbers = {0};
	struct sk_arena *arena = parser->source->arena;
	bool real = false;

	do {
		struct sk_attribute number;

		sk_token_advance(parser);
		if (!numbers.count && sk_token_is_sign(parser, ']'))
			break;
		if (!parse_number(parser, &number))
			return false;
		real |= number.kind == SK_ATTRIBUTE_REAL;
		sk_array_push(arena, &numbers, number);
	} while (sk_token_is_sign(parser, ','));

	int64_t *integers = SK_NEW_ARRAY(arena, int64_t, numbers.count + 1);
	double *reals = SK_NEW_ARRAY(arena, double, numbers.count + 1);

	for (size_t i = 0; i < numbers.count; i++) {
		const struct sk_attribute *number = &numbers.items[i];

		integers[i] = number->integer;
		reals[i] = number->kind == SK_ATTRIBUTE_REAL ? number->real : (double)number->integer;
	}
	list->kind = real ? SK_ATTRIBUTE_REALS : SK_ATTRIBUTE_INTEGERS;
	list->integers = real ? NULL : integers;
	list->reals = real ? reals : NULL;
	list->count = numbers.count;
	return sk_token_sign(parser, ']', "',' or ']'");
}

/* Parse "group=1", "mode=linear", "pads=[0, 0]". */
static bool parse_condition(struct sk_signature_parser *parser)
{
	struct sk_signature_source *source = parser->source;
	struct sk_attribute condition = {.name = parser->token.word};
	const char *at = parser->token.start;
	bool good;

	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, "a condition, such as group=1");
	for (size_t i = 0; i < source->conditions.count; i++) {
		if (strcmp(source->conditions.items[i].name, condition.name) != 0)
			continue;
		sk_signature_error(source, at, "two conditions on attribute '%s'", condition.name);
		return false;
	}
	if (sk_signature_attribute(source, parser->signature, at, condition.name) == SK_NONE)
		return false;
	sk_token_advance(parser);
	if (!sk_token_sign(parser, '=', "'=' and the value that the attribute must have"))
		return false;
	if (parser->token.kind == SK_TOKEN_WORD) {
		condition.kind = SK_ATTRIBUTE_STRING;
		condition.string = parser->token.word;
		sk_token_advance(parser);
		good = true;
	} else if (sk_token_is_sign(parser, '[')) {
		good = parse_numbers(parser, &condition);
	} else if (parser->token.kind == SK_TOKEN_NUMBER || sk_token_is_sign(parser, '-')) {
		good = parse_number(parser, &condition);
	} else {
		return sk_token_expected(parser, "a number, a word or a list of numbers after '='");
	}
	sk_array_push(source->arena, &source->conditions, condition);
	return good;
}

/* Parse "MatMul", "Conv(group=1, spatial=2)": the operator, and conditions on the task's attributes. */
static void parse_op(struct sk_signature_source *source, struct sk_signature *signature, const char *at, char *value)
{
	char *bracket = strchr(value, '(');
	struct sk_signature_parser parser;

	if (bracket)
		*bracket = '\0';
	signature->op = value;
	if (!*value || !is_foreign_name(value)) {
		sk_signature_error(source, at, "'%s' is not a name", value);
		return;
	}
	if (!bracket)
		return;
	parser = open_value(source, signature, at);
	parser.cursor = strchr(at, '(');
	sk_token_read(&parser);
	do {
		sk_token_advance(&parser);
		if (!parse_condition(&parser))
			return;
	} while (sk_token_is_sign(&parser, ','));
	if (sk_token_sign(&parser, ')', "',' or ')'") && parser.token.kind != SK_TOKEN_END)
		sk_token_expected(&parser, "the end of 'op'");
}

/* Parse "x86-64-v3", or several names: "avx2+fma". */
static uint64_t parse_isa(struct sk_signature_source *source, const char *at, const char *value)
{
	const char *unknown, *name;
	size_t length;
	uint64_t set = sk_isa_find_all(value, &unknown, &length);

	if (set)
		return set;
	name = sk_arena_copy(source->arena, unknown, length);
	sk_signature_error(source, at, "'isa' does not know '%.80s'%s", name,
			   sk_did_you_mean(source->arena, name, sk_isa_names, sk_isa_name_count));
	return 0;
}

static void set_frame(struct sk_signature_source *source, const char *at, const char *name)
{
	source->frame_at = at;
	for (uint32_t i = 0; name && i < SK_FRAMES; i++)
		if (!strcmp(sk_frame_names[i], name))
			source->frame = i + 1;
}

/* Return the flag of an attribute without a value. */
static bool *flag_of(struct sk_signature *signature, enum attribute attribute)
{
	return attribute == ATTRIBUTE_UNFUSIBLE	    ? &signature->unfusible
	       : attribute == ATTRIBUTE_UNTILED	    ? &signature->untiled
	       : attribute == ATTRIBUTE_REENTRANT   ? &signature->reentrant
	       : attribute == ATTRIBUTE_NONTEMPORAL ? &signature->nontemporal
						    : &signature->sync_all;
}

static void apply_attribute(struct sk_signature_source *source, struct sk_signature *signature,
			    enum attribute attribute, const char *at, char *value)
{
	switch (attribute) {
	case ATTRIBUTE_CUBE:
		set_lane(source, signature, at, SK_LANE_CUBE);
		break;
	case ATTRIBUTE_VECTOR:
		set_lane(source, signature, at, SK_LANE_VECTOR);
		break;
	case ATTRIBUTE_MIX:
		set_lane(source, signature, at, SK_LANE_MIX);
		signature->mix_ratio = value && !strcmp(value, "1:2") ? 2 : 1;
		break;
	case ATTRIBUTE_SPLIT:
		parse_split(source, signature, at);
		break;
	case ATTRIBUTE_BLOCKS:
		set_spread(source, signature, at, "blocks", value ? SK_STEP_BLOCKS_RANGE : SK_STEP_BLOCKS, value);
		break;
	case ATTRIBUTE_GRID:
		parse_grid(source, signature, at);
		break;
	case ATTRIBUTE_EACH:
	case ATTRIBUTE_TILE:
		parse_loops(source, signature, attribute, at);
		break;
	case ATTRIBUTE_UNFUSIBLE:
	case ATTRIBUTE_UNTILED:
	case ATTRIBUTE_REENTRANT:
	case ATTRIBUTE_NONTEMPORAL:
	case ATTRIBUTE_SYNC_ALL:
		*flag_of(signature, attribute) = true;
		break;
	case ATTRIBUTE_OP:
		if (value)
			parse_op(source, signature, at, value);
		break;
	case ATTRIBUTE_ISA:
		signature->isa = parse_isa(source, at, value);
		break;
	case ATTRIBUTE_EARLY_START:
		signature->early_wait = value && strcmp(value, "set") != 0;
		signature->early_set = value && strcmp(value, "wait") != 0;
		break;
	case ATTRIBUTE_AIC:
	case ATTRIBUTE_AIV:
		*(attribute == ATTRIBUTE_AIC ? &signature->aic : &signature->aiv) = value;
		source->sides_at = at;
		break;
	case ATTRIBUTE_ALIGN:
		signature->align = value ? (uint32_t)strtoul(value, NULL, 10) : 0;
		break;
	case ATTRIBUTE_OPERATIONS:
		if (value && *value)
			parse_operations(source, signature, at);
		break;
	case ATTRIBUTE_FRAME:
		set_frame(source, at, value);
		break;
	}
}

static size_t find_attribute(const char *name)
{
	size_t attribute = 0;

	while (attribute < SK_ATTRIBUTES && strcmp(name, sk_attribute_names[attribute]) != 0)
		attribute++;
	return attribute;
}

/* False: the value is missing. */
static bool parse_attribute(struct sk_signature_source *source, struct sk_signature *signature, const char *at,
			    char *name, uint32_t *seen)
{
	char *equals = strchr(name, '='), *value = NULL;

	if (equals) {
		*equals = '\0';
		value = equals + 1;
	}

	size_t attribute = find_attribute(name);

	if (attribute == SK_ATTRIBUTES) {
		sk_signature_error(source, at, "unknown attribute '%.80s'%s", name,
				   sk_did_you_mean(source->arena, name, sk_attribute_names, SK_ATTRIBUTES));
		return true;
	}
	if (*seen & 1u << attribute) {
		sk_signature_error(source, at, "duplicate attribute '%s'", name);
		return true;
	}
	*seen |= 1u << attribute;

	bool valid = check_attribute_value(source, (enum attribute)attribute, at, value);

	/* An invalid value out of a few still identifies the attribute, so rules about it apply. */
	if (valid || attribute_values[attribute].values || (attribute == ATTRIBUTE_BLOCKS && value && *value))
		apply_attribute(source, signature, (enum attribute)attribute, at,
				!valid && attribute == ATTRIBUTE_BLOCKS ? NULL : value);
	return value || attribute_values[attribute].rule != NEEDS_VALUE;
}

const char *sk_signature_parse_attributes(struct sk_signature_source *source, struct sk_signature *signature)
{
	const char *end = sk_signature_attributes_end(source);
	const char *at = source->text;
	bool complete = true; /* the previous attribute has its value */
	uint32_t seen = 0;

	if (!end)
		return at;
	for (;;) {
		while (at < end && sk_signature_is_blank(*at))
			at++;
		if (at == end)
			break;

		size_t length = attribute_length(at, end);
		char *text = copy_without_blanks(source->arena, at, length);

		if (sk_signature_is_one_of(text, sk_parameter_words, SK_PARAMETER_WORDS)) {
			sk_signature_error(source, end,
					   "';' ends the attributes, but '%s' before it begins a parameter; "
					   "parameters have ',' between them",
					   text);
			return NULL;
		}
		if (source->normal_length)
			sk_signature_append(source, " ", 1);
		sk_signature_append(source, text, strlen(text));
		/* "split n": the missing value has been reported. */
		complete = (!complete && find_attribute(text) == SK_ATTRIBUTES) ||
			   parse_attribute(source, signature, at, text, &seen);
		at += length;
	}
	if (!seen && !source->failed)
		sk_signature_error(source, end, "expected an attribute before ';'");
	sk_signature_append(source, ";", 1);
	return end + 1;
}
