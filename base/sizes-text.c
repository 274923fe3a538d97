/* Steps that evaluate a size, its text, and the reader of texts; see sizes.h. Sizes are written from their steps. */
#include "base/sizes.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/sizes-terms.h"
#include "base/text.h"

/* ---- steps of an evaluation ---- */

struct walk {
	uint32_t (*put)(void *context, const struct sk_size_step *step);
	void *context;
	const struct sk_sizes *sizes;
	bool shifted; /* terms have atom - least in place of their atoms */
};

static uint32_t put_number(const struct walk *walk, int64_t number)
{
	return walk->put(walk->context, &(struct sk_size_step){.kind = SK_SIZE_NUMBER, .number = number});
}

static uint32_t put_pair(const struct walk *walk, enum sk_size_kind kind, uint32_t a, uint32_t b)
{
	return walk->put(walk->context, &(struct sk_size_step){.kind = kind, .a = a, .b = b});
}

/* Put an operation on two sizes. */
static uint32_t put_sizes(const struct walk *walk, enum sk_size_kind kind, const struct sk_size *first,
			  const struct sk_size *second)
{
	uint32_t a = sk_size_walk(first, walk->put, walk->context);

	return put_pair(walk, kind, a, sk_size_walk(second, walk->put, walk->context));
}

/* Put an atom. Where the coefficient and the multiple of its dimension have a common divisor, put that many times the
 * atom, which needs less division or none, and divide the coefficient. Return in *times how many times. */
static uint32_t put_atom(const struct walk *walk, const struct sk_size_atom *atom, int64_t *coefficient, int64_t *times)
{
	*times = 1;
	if (atom->kind == SK_SIZE_FLOOR)
		return put_sizes(walk, SK_SIZE_FLOOR, atom->a, atom->b);
	if (atom->kind == SK_SIZE_MIN) {
		uint32_t a = sk_size_walk(atom->a, walk->put, walk->context);

		return put_pair(walk, SK_SIZE_MIN, a, put_number(walk, 0));
	}

	uint64_t multiple = walk->sizes->dimensions.items[atom->dimension].multiple;
	uint64_t common = sk_common_divisor(multiple, sk_magnitude(*coefficient));
	uint32_t step = walk->put(walk->context,
				  &(struct sk_size_step){.kind = SK_SIZE_DIMENSION, .a = (uint32_t)atom->dimension});

	*times = (int64_t)common;
	*coefficient /= *times;
	if (multiple == common)
		return step;
	return put_pair(walk, SK_SIZE_FLOOR, step, put_number(walk, (int64_t)(multiple / common)));
}

/* Put min(d,0) minus its least value l as min(d - l, -l), which has no negative part. Return SK_NONE if that cannot be
 * represented. */
static uint32_t put_shifted_minimum(const struct walk *walk, const struct sk_size_atom *atom)
{
	struct sk_sizes *sizes = atom->a->sizes;
	const struct sk_size *more = sk_size_subtract(sizes, atom->a, sk_size_number(sizes, atom->least));
	uint32_t a = more ? sk_size_walk(more, walk->put, walk->context) : SK_NONE;

	return more ? put_pair(walk, SK_SIZE_MIN, a, put_number(walk, -atom->least)) : SK_NONE;
}

/* Put the atom as it is in a term, as put_atom does. */
static uint32_t put_factor(const struct walk *walk, const struct sk_size_atom *atom, int64_t *coefficient)
{
	bool shifted = walk->shifted && atom->least;
	uint32_t factor = shifted && atom->kind == SK_SIZE_MIN ? put_shifted_minimum(walk, atom) : SK_NONE;
	int64_t times;

	if (factor != SK_NONE)
		return factor;
	factor = put_atom(walk, atom, coefficient, &times);
	return shifted ? put_pair(walk, SK_SIZE_SUM, factor, put_number(walk, -times * atom->least)) : factor;
}

static uint32_t put_term(const struct walk *walk, const struct sk_term *term)
{
	int64_t coefficient = term->coefficient;
	uint32_t product = SK_NONE;

	for (size_t j = 0; j < term->count; j++) {
		uint32_t factor = put_factor(walk, walk->sizes->atoms.items[term->factors[j]], &coefficient);

		product = product == SK_NONE ? factor : put_pair(walk, SK_SIZE_PRODUCT, product, factor);
	}
	if (product == SK_NONE)
		return put_number(walk, coefficient);
	return coefficient == 1 ? product : put_pair(walk, SK_SIZE_PRODUCT, put_number(walk, coefficient), product);
}

/* Put first + factor * max(d,0), with max(p,n) - n for max(d,0): d is p - n, and n a number. Return SK_NONE if p is
 * negative or shrinks at some sizes. */
static uint32_t put_lifted(const struct walk *walk, const struct sk_size *size)
{
	const struct sk_size *d = size->lifted;
	const struct sk_term *last = &d->terms[d->count - 1]; /* it is no number: it would have no atom */
	int64_t n = !last->count && last->coefficient < 0 ? -last->coefficient : 0;
	const struct sk_size *p = sk_size_add(d->sizes, d, sk_size_number(d->sizes, n));
	uint32_t product, other;

	if (!p || !p->grows || p->least < 0)
		return SK_NONE;
	product = sk_size_walk(p, walk->put, walk->context);
	product = put_pair(walk, SK_SIZE_MAX, product, put_number(walk, n));
	if (n)
		product = put_pair(walk, SK_SIZE_SUM, product, put_number(walk, -n));
	if (!sk_size_is_number(size->factor, &n) || n != 1) {
		other = sk_size_walk(size->factor, walk->put, walk->context);
		product = put_pair(walk, SK_SIZE_PRODUCT, other, product);
	}
	if (sk_size_is_number(size->first, &n) && !n)
		return product;
	other = sk_size_walk(size->first, walk->put, walk->context);
	return put_pair(walk, SK_SIZE_SUM, other, product);
}

/* True if a term with atoms is negative. */
static bool subtracts(const struct sk_term *terms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (terms[i].count && terms[i].coefficient < 0)
			return true;
	return false;
}

/* True if a term has a minimum, which is negative at some sizes. */
static bool has_minima(const struct sk_size *size)
{
	for (size_t i = 0; i < size->count; i++)
		for (size_t j = 0; j < size->terms[i].count; j++)
			if (size->sizes->atoms.items[size->terms[i].factors[j]]->kind == SK_SIZE_MIN)
				return true;
	return false;
}

uint32_t sk_size_walk(const struct sk_size *size, uint32_t (*put)(void *context, const struct sk_size_step *step),
		      void *context)
{
	struct walk walk = {.put = put, .context = context, .sizes = size->sizes};
	const struct sk_term *terms = size->terms;
	size_t count = size->count;
	uint32_t sum = size->lifted ? put_lifted(&walk, size) : SK_NONE;
	struct sk_form shifted;

	if (sum != SK_NONE)
		return sum;
	if (size->same)
		return sk_size_walk(size->same, put, context);
	if (size->choice != SK_SIZE_SUM)
		return put_sizes(&walk, size->choice, size->first, size->second);
	if (subtracts(terms, count) || has_minima(size)) {
		sk_size_shift(size, &shifted);
		walk.shifted = !shifted.failed && !subtracts(shifted.terms, shifted.count);
		terms = walk.shifted ? shifted.terms : terms;
		count = walk.shifted ? shifted.count : count;
	}
	for (int negative = 0; negative < 2; negative++)
		for (size_t i = 0; i < count; i++) {
			if ((terms[i].coefficient < 0) != negative)
				continue;

			uint32_t term = put_term(&walk, &terms[i]);

			sum = sum == SK_NONE ? term : put_pair(&walk, SK_SIZE_SUM, sum, term);
		}
	return sum == SK_NONE ? put_number(&walk, 0) : sum;
}

/* ---- texts ---- */

/* Levels of operators, the weakest first. */
enum level { SUM_LEVEL, PRODUCT_LEVEL, OPERAND_LEVEL };

struct piece {
	const char *text;
	enum level level;
};

struct writer {
	struct sk_arena *arena;
	const struct sk_sizes *sizes;
	SK_ARRAY(struct piece) pieces; /* by step */
};

/* Return the name, in double quotes if it would be read as something else. */
static const char *write_name(struct sk_arena *arena, const char *name)
{
	return sk_is_size_name(name) ? name : sk_arena_print(arena, "\"%s\"", name);
}

/* Return the text in parentheses where its operators are weaker. */
static const char *enclose(const struct writer *writer, const struct piece *piece, enum level level)
{
	return piece->level < level ? sk_arena_print(writer->arena, "(%s)", piece->text) : piece->text;
}

static struct piece write_product(const struct writer *writer, const struct piece *a, const struct piece *b)
{
	const char *product = enclose(writer, b, PRODUCT_LEVEL);

	if (!strcmp(a->text, "-1"))
		return (struct piece){sk_arena_join(writer->arena, "-", product), PRODUCT_LEVEL};
	return (struct piece){sk_arena_print(writer->arena, "%s*%s", enclose(writer, a, PRODUCT_LEVEL), product),
			      PRODUCT_LEVEL};
}

static struct piece write_step(const struct writer *writer, const struct sk_size_step *step)
{
	struct sk_arena *arena = writer->arena;
	const struct piece *a, *b;

	if (step->kind == SK_SIZE_NUMBER)
		return (struct piece){sk_arena_print(arena, "%" PRId64, step->number),
				      step->number < 0 ? PRODUCT_LEVEL : OPERAND_LEVEL};
	if (step->kind == SK_SIZE_DIMENSION)
		return (struct piece){write_name(arena, writer->sizes->dimensions.items[step->a].name), OPERAND_LEVEL};
	a = &writer->pieces.items[step->a];
	b = &writer->pieces.items[step->b];
	if (step->kind == SK_SIZE_PRODUCT)
		return write_product(writer, a, b);
	if (step->kind == SK_SIZE_SUM)
		return (struct piece){sk_arena_print(arena, "%s%s%s", a->text, *b->text == '-' ? "" : "+", b->text),
				      SUM_LEVEL};
	if (step->kind == SK_SIZE_FLOOR)
		return (struct piece){sk_arena_print(arena, "floor(%s/%s)", enclose(writer, a, PRODUCT_LEVEL),
						     enclose(writer, b, OPERAND_LEVEL)),
				      OPERAND_LEVEL};
	return (struct piece){
		sk_arena_print(arena, "%s(%s,%s)", step->kind == SK_SIZE_MIN ? "min" : "max", a->text, b->text),
		OPERAND_LEVEL};
}

static uint32_t put_piece(void *context, const struct sk_size_step *step)
{
	struct writer *writer = context;

	sk_array_push(writer->arena, &writer->pieces, write_step(writer, step));
	return (uint32_t)writer->pieces.count - 1;
}

const char *sk_size_text(struct sk_arena *arena, const struct sk_size *size)
{
	struct writer writer = {.arena = arena, .sizes = size->sizes};

	uint32_t last = sk_size_walk(size, put_piece, &writer);

	return writer.pieces.items[last].text;
}

bool sk_size_dimension_is_of(const struct sk_size_dimension *dimension, const char *network)
{
	return network && dimension->network ? !strcmp(dimension->network, network) : dimension->network == network;
}

const char *sk_sizes_values_text(struct sk_arena *arena, const struct sk_sizes *sizes, const char *network,
				 const uint64_t *values)
{
	const char *text = "";

	for (size_t i = 0; i < sizes->dimensions.count; i++)
		if (sizes->dimensions.items[i].least < sizes->dimensions.items[i].most &&
		    sk_size_dimension_is_of(&sizes->dimensions.items[i], network))
			text = sk_arena_print(arena, "%s%s%s=%" PRIu64, text, *text ? ", " : "",
					      sizes->dimensions.items[i].name, values[i]);
	return text;
}

/* ---- reading texts ---- */

enum { MAX_DEPTH = 32, MAX_TEXT = 1000 }; /* parentheses and bytes: texts come from files */

struct reader {
	struct sk_sizes *sizes;
	const char *network, *at;
	const char *error; /* the first one; NULL: none */
	unsigned depth;
	bool exact; /* quotients stay fractions, for floor() and ceil() */
};

/* A size, or a fraction of two. */
struct fraction {
	const struct sk_size *above, *below; /* below NULL: 1 */
};

static const struct fraction NOTHING = {NULL, NULL};

static struct fraction fail(struct reader *reader, const char *error)
{
	if (!reader->error)
		reader->error = error;
	return NOTHING;
}

/* Return the size as a fraction; fail if it cannot be represented. */
static struct fraction check(struct reader *reader, const struct sk_size *size)
{
	return size ? (struct fraction){size, NULL} : fail(reader, "it can be too large, or has too many parts");
}

static bool read_sign(struct reader *reader, const char *sign)
{
	reader->at += strspn(reader->at, " ");
	if (strncmp(reader->at, sign, strlen(sign)) != 0)
		return false;
	reader->at += strlen(sign);
	return true;
}

static struct fraction read_sum(struct reader *reader);

/* Return the fraction rounded down, or up. */
static struct fraction round_fraction(struct reader *reader, struct fraction value, bool up)
{
	if (reader->error || !value.below)
		return value;
	return check(reader, up ? sk_size_ceil(reader->sizes, value.above, value.below)
				: sk_size_floor(reader->sizes, value.above, value.below));
}

static struct fraction divide(struct reader *reader, struct fraction a, struct fraction b)
{
	if (reader->error)
		return NOTHING;
	if (sk_size_least(b.above) < 1)
		return fail(reader, "a divisor is not always positive");
	if (b.below)
		a.above = check(reader, sk_size_multiply(reader->sizes, a.above, b.below)).above;
	if (a.below)
		b = check(reader, sk_size_multiply(reader->sizes, a.below, b.above));
	a.below = b.above;
	if (reader->error)
		return NOTHING;
	return reader->exact ? a : round_fraction(reader, a, false);
}

static struct fraction multiply(struct reader *reader, struct fraction a, struct fraction b)
{
	if (reader->error)
		return NOTHING;

	struct fraction above = check(reader, sk_size_multiply(reader->sizes, a.above, b.above));

	if (!a.below || !b.below)
		return (struct fraction){above.above, a.below ? a.below : b.below};
	return (struct fraction){above.above, check(reader, sk_size_multiply(reader->sizes, a.below, b.below)).above};
}

static struct fraction add(struct reader *reader, struct fraction a, struct fraction b, bool minus)
{
	struct sk_sizes *sizes = reader->sizes;

	if (reader->error)
		return NOTHING;
	if (a.below || b.below) {
		const struct sk_size *one = sk_size_number(sizes, 1), *left = a.below ? a.below : one;
		const struct sk_size *right = b.below ? b.below : one;

		a = check(reader, sk_size_multiply(sizes, a.above, right));
		b = check(reader, sk_size_multiply(sizes, b.above, left));
		a.below = check(reader, sk_size_multiply(sizes, left, right)).above;
	}
	a.above =
		check(reader, minus ? sk_size_subtract(sizes, a.above, b.above) : sk_size_add(sizes, a.above, b.above))
			.above;
	return a;
}

static struct fraction read_integer(struct reader *reader)
{
	int64_t number = 0;
	bool large = false;

	for (; isdigit((unsigned char)*reader->at); reader->at++)
		large |= __builtin_mul_overflow(number, 10, &number) ||
			 __builtin_add_overflow(number, *reader->at - '0', &number);
	return check(reader, large ? NULL : sk_size_number(reader->sizes, number));
}

static struct fraction read_dimension(struct reader *reader, const char *name, size_t length)
{
	uint32_t number = sk_sizes_find(reader->sizes, reader->network, name, length);

	if (number != SK_NONE)
		return (struct fraction){sk_sizes_variable(reader->sizes, number), NULL};
	return fail(reader,
		    sk_arena_print(reader->sizes->arena, "no dimension has the name '%.*s'", (int)length, name));
}

/* Read an argument of floor or ceil, in which quotients stay exact, or a size. */
static struct fraction read_argument(struct reader *reader, bool exact)
{
	bool before = reader->exact;

	reader->exact = exact;

	struct fraction value = read_sum(reader);

	reader->exact = before;
	return value;
}

/* Read the arguments of a function, after its name. */
static struct fraction read_call(struct reader *reader, const char *name, size_t length)
{
	bool up = length == 4 && !memcmp(name, "ceil", 4), least = length == 3 && !memcmp(name, "min", 3);

	if (up || (length == 5 && !memcmp(name, "floor", 5)))
		return round_fraction(reader, read_argument(reader, true), up);
	if (!least && !(length == 3 && !memcmp(name, "max", 3)))
		return fail(reader, "the functions are floor, ceil, min and max");

	struct fraction value = read_argument(reader, false);

	while (!reader->error && read_sign(reader, ",")) {
		struct fraction other = read_argument(reader, false);

		if (!reader->error)
			value = check(reader, least ? sk_size_min(reader->sizes, value.above, other.above)
						    : sk_size_max(reader->sizes, value.above, other.above));
	}
	return value;
}

static struct fraction read_named(struct reader *reader)
{
	const char *name = reader->at;

	if (read_sign(reader, "\"")) {
		const char *end = strchr(reader->at, '"');

		name = reader->at;
		if (!end)
			return fail(reader, "a quotation mark is missing");
		reader->at = end + 1;
		return read_dimension(reader, name, (size_t)(end - name));
	}
	while (sk_is_size_byte(*reader->at))
		reader->at++;

	size_t length = (size_t)(reader->at - name);

	if (!read_sign(reader, "("))
		return length ? read_dimension(reader, name, length)
			      : fail(reader,
				     *name ? sk_arena_print(reader->sizes->arena, "'%s' is not an operand", name)
					   : "an operand is missing");
	if (reader->depth++ == MAX_DEPTH)
		return fail(reader, "parentheses are nested too deep");

	struct fraction value = length ? read_call(reader, name, length) : read_sum(reader);

	reader->depth--;
	return read_sign(reader, ")") ? value : fail(reader, "')' is missing");
}

static struct fraction read_operand(struct reader *reader)
{
	bool minus = false;

	while (read_sign(reader, "-"))
		minus = !minus;

	struct fraction value = isdigit((unsigned char)*reader->at) ? read_integer(reader) : read_named(reader);

	return minus ? add(reader, check(reader, sk_size_number(reader->sizes, 0)), value, true) : value;
}

/* Read the divisor of an operator between integers. */
static struct fraction read_divisor(struct reader *reader, struct fraction *value)
{
	*value = round_fraction(reader, *value, false);

	struct fraction divisor = round_fraction(reader, read_operand(reader), false);

	if (!reader->error && sk_size_least(divisor.above) < 1)
		return fail(reader, "a divisor is not always positive");
	return divisor;
}

static struct fraction read_product(struct reader *reader)
{
	struct fraction product = read_operand(reader), divisor;

	while (!reader->error) {
		if (read_sign(reader, "//")) {
			divisor = read_divisor(reader, &product);
			if (!reader->error)
				product = check(reader, sk_size_floor(reader->sizes, product.above, divisor.above));
		} else if (read_sign(reader, "%")) {
			divisor = read_divisor(reader, &product);
			if (!reader->error)
				product = check(reader, sk_size_modulo(reader->sizes, product.above, divisor.above));
		} else if (read_sign(reader, "/")) {
			product = divide(reader, product, read_operand(reader));
		} else if (read_sign(reader, "*")) {
			product = multiply(reader, product, read_operand(reader));
		} else {
			break;
		}
	}
	return product;
}

static struct fraction read_sum(struct reader *reader)
{
	struct fraction sum = read_product(reader);

	while (!reader->error) {
		if (read_sign(reader, "+"))
			sum = add(reader, sum, read_product(reader), false);
		else if (read_sign(reader, "-"))
			sum = add(reader, sum, read_product(reader), true);
		else
			break;
	}
	return sum;
}

const struct sk_size *sk_size_parse(struct sk_sizes *sizes, const char *network, const char *text, const char **error)
{
	size_t length = strlen(text);
	uint32_t named = sk_sizes_find(sizes, network, text, length);
	struct reader reader = {.sizes = sizes, .network = network, .at = text};

	*error = NULL;
	if (named != SK_NONE)
		return sk_sizes_variable(sizes, named);
	if (length > MAX_TEXT) {
		*error = "the text is too long";
		return NULL;
	}

	struct fraction value = read_sum(&reader);

	reader.at += strspn(reader.at, " ");
	if (!reader.error && *reader.at)
		fail(&reader, sk_arena_print(sizes->arena, "'%s' is not an operator", reader.at));
	*error = reader.error;
	return reader.error ? NULL : value.above;
}

/* ---- bounds ---- */

static bool read_number(const char **at, uint64_t *number)
{
	const char *start = *at;

	for (*number = 0; isdigit((unsigned char)**at) && *number < UINT64_C(1) << 31; ++*at)
		*number = *number * 10 + (uint64_t)(**at - '0');
	return *at > start && *number < UINT64_C(1) << 31;
}

static bool skip_text(const char **at, const char *text)
{
	if (strncmp(*at, text, strlen(text)) != 0)
		return false;
	*at += strlen(text);
	return true;
}

bool sk_size_parse_bounds(struct sk_arena *arena, const char *text, struct sk_size_dimension *dimension,
			  const char **error)
{
	const char *at = text;
	bool good = read_number(&at, &dimension->least);
	uint64_t *most = &dimension->most;

	*error = NULL;
	*most = dimension->least;
	dimension->multiple = 1;
	if (good && skip_text(&at, ".."))
		good = read_number(&at, most);
	if (good && skip_text(&at, ":"))
		good = read_number(&at, &dimension->multiple);
	dimension->usual = *most;
	if (good && skip_text(&at, "@"))
		good = read_number(&at, &dimension->usual);
	if (!good && *at == '-')
		*error = sk_arena_print(arena, "'%s': a size is not negative", text);
	else if (!good || *at)
		*error = sk_arena_print(arena, "'%s' is not LO..HI[:MULTIPLE][@USUAL], of numbers below 2^31", text);
	else if (dimension->least > *most)
		*error = sk_arena_print(arena, "the least size %" PRIu64 " is larger than %" PRIu64, dimension->least,
					*most);
	else if (!dimension->multiple || dimension->least % dimension->multiple || *most % dimension->multiple)
		*error = sk_arena_print(arena, "%" PRIu64 " does not divide both %" PRIu64 " and %" PRIu64,
					dimension->multiple, dimension->least, *most);
	else if (dimension->usual < dimension->least || dimension->usual > *most ||
		 dimension->usual % dimension->multiple)
		*error = sk_arena_print(
			arena, "the usual size %" PRIu64 " is not within the bounds, or not a multiple of %" PRIu64,
			dimension->usual, dimension->multiple);
	return !*error;
}
