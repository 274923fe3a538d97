/* Elements written as a text: numbers, true and false, and lists of these in brackets. Input: a text and the type of
 * the elements. Output: a shape and the elements. */
#include "format/npy/npy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/convention.h"
#include "format/skplan.h"

static const char *const words[] = {"true", "false", "nan", "inf", "-inf"};

#define UNKNOWN UINT64_MAX

/* A number as it is written. */
struct element {
	const char *text;
	size_t length;
};

struct parser {
	struct sk_arena *arena;
	const char *at;
	bool ranked; /* the number of dimensions is known */
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK]; /* UNKNOWN: the first list of that depth has not ended */
	SK_ARRAY(struct element) elements;
	const char *wrong; /* NULL: nothing */
};

/* Return the length of the number or word that the text begins with; 0: there is none. */
static size_t number_length(const char *text)
{
	size_t length = strspn(text, "+-.0123456789eE");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return strlen(words[i]);
	return strcspn(text, "0123456789") < length ? length : 0;
}

bool sk_is_literal(const char *text)
{
	size_t length = number_length(text);

	return *text == '[' || (length && !text[length]);
}

/* ---- lists ---- */

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " ");
}

static bool refuse(struct parser *parser, const char *wrong)
{
	parser->wrong = parser->wrong ? parser->wrong : wrong;
	return false;
}

/* All numbers are equally deep. */
static bool set_rank(struct parser *parser, uint32_t rank)
{
	if (parser->ranked && parser->rank != rank)
		return refuse(parser, "its lists are not equally deep");
	parser->ranked = true;
	parser->rank = rank;
	return true;
}

static bool read_item(struct parser *parser, uint32_t depth);

static bool read_list(struct parser *parser, uint32_t depth)
{
	uint64_t count = 0;

	if (depth == SK_MAX_RANK)
		return refuse(parser, "its lists are more than 8 deep");
	parser->at++;
	skip_blanks(parser);
	if (*parser->at == ']' && !set_rank(parser, depth + 1))
		return false;
	while (*parser->at != ']') {
		if (!read_item(parser, depth + 1))
			return false;
		count++;
		skip_blanks(parser);
		if (*parser->at != ',' && *parser->at != ']')
			return refuse(parser, "a comma or a closing bracket is missing");
		if (*parser->at == ',') {
			parser->at++;
			skip_blanks(parser);
			if (*parser->at == ']')
				return refuse(parser, "a number is missing after a comma");
		}
	}
	parser->at++;
	if (parser->shape[depth] != UNKNOWN && parser->shape[depth] != count)
		return refuse(parser, "its lists are not equally long");
	parser->shape[depth] = count;
	return true;
}

static bool read_item(struct parser *parser, uint32_t depth)
{
	size_t length;

	skip_blanks(parser);
	if (*parser->at == '[')
		return read_list(parser, depth);
	length = number_length(parser->at);
	if (!length)
		return refuse(parser, "it has something else than numbers, true and false");
	if (!set_rank(parser, depth))
		return false;
	sk_array_push(parser->arena, &parser->elements, ((struct element){parser->at, length}));
	parser->at += length;
	return true;
}

/* ---- elements ---- */

/* Read the whole text of an element as an integer of the type. */
static bool read_integer(const char *text, enum sk_dtype dtype, uint64_t *bits)
{
	unsigned size = 8 * (unsigned)sk_dtype_size(dtype);
	bool is_signed = sk_dtype_is_signed(dtype);
	int64_t most = INT64_MAX >> (64 - size);
	char *end;

	errno = 0;
	if (is_signed) {
		int64_t number = strtoll(text, &end, 10);

		*bits = (uint64_t)number;
		return !*end && !errno && number >= -most - 1 && number <= most;
	}
	*bits = strtoull(text, &end, 10);
	return *text != '-' && !*end && !errno && *bits <= UINT64_MAX >> (64 - size);
}

static bool read_real(const char *text, double *real)
{
	char *end;

	*real = strtod(text, &end);
	return !*end && (isfinite(*real) || strchr("in", text[*text == '-'])) && strcmp(text, "true") &&
	       strcmp(text, "false");
}

/* Return the bits of the nearest number of 16 bits, of two the even one. */
static uint16_t half_bits(double real, int exponent_bits)
{
	const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
	const uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << fraction_bits;
	uint64_t whole, fraction, rest, bits, half;
	int exponent, least, shift;

	memcpy(&whole, &real, sizeof(whole));
	exponent = (int)(whole >> 52 & 0x7ff) - 1023;
	fraction = (whole & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	whole = whole >> 48 & 0x8000; /* the sign */
	if (exponent == 1024)
		return (uint16_t)(whole | infinity | (fraction << 12 ? 1U << (fraction_bits - 1) : 0));
	if (exponent > bias)
		return (uint16_t)(whole | infinity);
	least = exponent < 1 - bias ? 1 - bias : exponent;
	shift = 52 - fraction_bits + least - exponent;
	if (shift > 54)
		return (uint16_t)whole;
	bits = fraction >> shift;
	half = UINT64_C(1) << (shift - 1);
	rest = fraction & (2 * half - 1);
	bits += rest > half || (rest == half && bits & 1);
	if (bits >= UINT64_C(1) << fraction_bits)
		bits += (uint64_t)(least + bias - 1) << fraction_bits;
	return (uint16_t)(whole | bits);
}

/* Write the number as one of a type of floats. Return false if it is beyond its largest one. */
static bool put_real(double real, enum sk_dtype dtype, uint64_t *bits)
{
	float single = (float)real;
	bool finite = isfinite(single);

	switch (dtype) {
	case SK_F64:
		memcpy(bits, &real, sizeof(real));
		return true;
	case SK_F32: {
		uint32_t word;

		memcpy(&word, &single, sizeof(single));
		*bits = word;
		break;
	}
	default:
		*bits = half_bits(real, dtype == SK_F16 ? 5 : 8);
		finite = (*bits & 0x7fff) < (dtype == SK_F16 ? 0x7c00 : 0x7f80);
	}
	return finite || !isfinite(real);
}

/* Write the element as one of the type. */
static bool put(const char *text, enum sk_dtype dtype, void *to)
{
	uint64_t bits = !strcmp(text, "true");
	double real;

	if (dtype == SK_BOOL) {
		if (!bits && strcmp(text, "false") && (!read_integer(text, SK_U8, &bits) || bits > 1))
			return false;
	} else if (!sk_dtype_is_float(dtype)) {
		if (!read_integer(text, dtype, &bits))
			return false;
	} else if (!read_real(text, &real) || !put_real(real, dtype, &bits)) {
		return false;
	}
	memcpy(to, &bits, sk_dtype_size(dtype)); /* little-endian, as packages are */
	return true;
}

/* Return the type of elements that nothing declares: bool, i64, or f32 if a number is not an integer. */
static enum sk_dtype guess_type(const struct parser *parser)
{
	enum sk_dtype dtype = SK_I64;

	for (size_t i = 0; i < parser->elements.count; i++) {
		const struct element *element = &parser->elements.items[i];

		if (!strncmp(element->text, "true", 4) || !strncmp(element->text, "false", 5))
			return SK_BOOL;
		if (strcspn(element->text, ".eEn") < element->length)
			dtype = SK_F32;
	}
	return dtype;
}

bool sk_literal_read(struct sk_arena *arena, const char *text, struct sk_literal *literal, const char **wrong)
{
	struct parser parser = {.arena = arena, .at = text};
	uint32_t size;
	char *contents;

	memset(parser.shape, 0xff, sizeof(parser.shape));
	if (read_item(&parser, 0) && *parser.at)
		refuse(&parser, "something comes after its end");
	*wrong = parser.wrong;
	if (*wrong)
		return false;
	if (!literal->dtype)
		literal->dtype = guess_type(&parser);
	size = sk_dtype_size(literal->dtype);
	literal->rank = parser.rank;
	literal->count = parser.elements.count;
	for (uint32_t d = 0; d < parser.rank; d++)
		literal->shape[d] = parser.shape[d] == UNKNOWN ? 0 : parser.shape[d];
	literal->contents = contents = sk_arena_alloc(arena, literal->count + 1, size);
	for (size_t i = 0; i < literal->count; i++) {
		const struct element *element = &parser.elements.items[i];
		const char *number = sk_arena_copy(arena, element->text, element->length);

		if (put(number, literal->dtype, contents + i * size))
			continue;
		*wrong =
			sk_arena_print(arena, "'%s' is not a number of type %s", number, sk_dtype_name(literal->dtype));
		return false;
	}
	return true;
}
