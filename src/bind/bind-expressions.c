/* The value of a signature's expression for one request: a number, or a sum of terms with variables of the call, as
 * plans have them. Numbers are checked against the type of the parameter, for all possible calls. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

enum { MOST_TERMS = 8 };
#define MOST_FACTOR (INT64_C(1) << 56) /* so that sums of all products of factors and variables are exact */

/* Wide enough for the result of any one operation on 64 bits, so that overflow is always noticed. */
typedef __int128 wide;

struct sum {
	wide constant;
	struct sk_plan_term terms[MOST_TERMS];
	uint32_t count;
};

struct range {
	wide low, high;
};

/* The evaluation of one value. */
struct lowering {
	struct sk_binder *binder;
	const char *name; /* of the parameter that gets the value */
	const struct sk_value_expression *value;
};

/* Report an error, and return false always. */
static bool refuse_lowering(const struct lowering *lowering, const char *reason)
{
	sk_binder_error(lowering->binder, lowering->binder->request->place, "'%s = %s' %s", lowering->name,
			lowering->value->text, reason);
	return false;
}

static bool fail_large(const struct lowering *lowering)
{
	return refuse_lowering(lowering, "is too large to be computed");
}

static bool fail_many(const struct lowering *lowering)
{
	const struct sk_binder *binder = lowering->binder;
	uint32_t extent = binder->signature->spread_extent;

	if (binder->signature->spread != SK_STEP_BLOCKS_RANGE || binder->extents[extent] % binder->blocks == 0)
		return refuse_lowering(lowering, "has too many terms that differ from call to call");
	return refuse_lowering(
		lowering, sk_arena_print(binder->model->arena,
					 "is too long a sum, since %" PRIu64 " blocks of %" PRIu64
					 " are not equally large: take a number of blocks that divides it, or up to 10 "
					 "blocks, or a function that has the parameter 'block'",
					 binder->blocks, binder->extents[extent]));
}

/* ---- sums ---- */

static bool is_small(wide value)
{
	return value >= -((wide)1 << 64) && value <= (wide)1 << 64;
}

static bool is_same_term(const struct sk_plan_term *one, const struct sk_plan_term *other)
{
	return one->variable == other->variable && one->addend == other->addend && one->divisor == other->divisor &&
	       one->modulus == other->modulus;
}

static bool add_term(const struct lowering *lowering, struct sum *sum, struct sk_plan_term term)
{
	for (uint32_t i = 0; i < sum->count; i++) {
		if (!is_same_term(&sum->terms[i], &term))
			continue;
		sum->terms[i].factor += term.factor;
		if (sum->terms[i].factor < -MOST_FACTOR || sum->terms[i].factor > MOST_FACTOR)
			return fail_large(lowering);
		if (sum->terms[i].factor == 0)
			sum->terms[i] = sum->terms[--sum->count];
		return true;
	}
	if (term.factor == 0)
		return true;
	if (sum->count == MOST_TERMS)
		return fail_many(lowering);
	sum->terms[sum->count++] = term;
	return true;
}

/* Add the factor times the other sum. */
static bool add_multiple(const struct lowering *lowering, struct sum *sum, const struct sum *other, wide factor)
{
	wide constant;

	if (__builtin_mul_overflow(other->constant, factor, &constant) || !is_small(constant) ||
	    !is_small(sum->constant + constant))
		return fail_large(lowering);
	sum->constant += constant;
	for (uint32_t i = 0; i < other->count; i++) {
		struct sk_plan_term term = other->terms[i];

		if (factor < -MOST_FACTOR || factor > MOST_FACTOR || factor * term.factor < -MOST_FACTOR ||
		    factor * term.factor > MOST_FACTOR)
			return fail_large(lowering);
		term.factor *= (int64_t)factor;
		if (!add_term(lowering, sum, term))
			return false;
	}
	return true;
}

/* Divide the sum. Sums that are divisible can be divided, and also (v + 3) / 4, which rounds. */
static bool divide(const struct lowering *lowering, struct sum *sum, wide divisor)
{
	bool exact = sum->constant % divisor == 0;
	struct sk_plan_term *term = &sum->terms[0];
	wide addend;

	for (uint32_t i = 0; i < sum->count; i++)
		exact &= sum->terms[i].factor % divisor == 0;
	if (exact || (sum->count == 0 && sum->constant >= 0)) {
		sum->constant /= divisor;
		for (uint32_t i = 0; i < sum->count; i++)
			sum->terms[i].factor = (int64_t)(sum->terms[i].factor / divisor);
		return true;
	}
	if (sum->constant < 0)
		return refuse_lowering(lowering, "rounds a negative number");
	if (sum->count > 1 || term->factor != 1 || term->modulus)
		return refuse_lowering(lowering, "divides a value that differs from call to call, with a remainder");
	addend = (wide)term->addend + sum->constant * (wide)term->divisor;
	divisor *= (wide)term->divisor;
	if (addend > INT64_MAX || divisor > INT64_MAX)
		return fail_large(lowering);
	term->addend = (uint64_t)addend;
	term->divisor = (uint64_t)divisor;
	sum->constant = 0;
	return true;
}

/* ---- variables ---- */

/* Return the range of the variable over all calls. Begin and size depend on each other; see part_range. */
static struct range variable_range(const struct sk_binder *binder, enum sk_variable variable)
{
	const struct sk_signature *signature = binder->signature;
	bool inner = variable == SK_VARIABLE_INNER_BEGIN || variable == SK_VARIABLE_INNER_SIZE;
	uint64_t extent, longest;

	if (variable == SK_VARIABLE_BLOCK)
		return (struct range){0, (wide)binder->blocks - 1};
	extent = longest = binder->extents[inner ? signature->loops[1].extent : signature->spread_extent];
	if (signature->loop_count && signature->loops[inner].tile < extent)
		longest = signature->loops[inner].tile;
	return variable == SK_VARIABLE_SIZE || variable == SK_VARIABLE_INNER_SIZE ? (struct range){1, longest}
										  : (struct range){0, (wide)extent - 1};
}

static struct range term_range(const struct sk_binder *binder, const struct sk_plan_term *term)
{
	struct range range = variable_range(binder, (enum sk_variable)term->variable);
	wide low = (range.low + term->addend) / term->divisor, high = (range.high + term->addend) / term->divisor;

	if (term->modulus && high >= term->modulus)
		low = 0, high = (wide)term->modulus - 1;
	low *= term->factor;
	high *= term->factor;
	return low < high ? (struct range){low, high} : (struct range){high, low};
}

/* Add a variable. If it is the same in all calls, it is a constant and not a term; but not of a part of an extent that
 * may have more elements at other sizes. */
static bool add_variable(const struct lowering *lowering, struct sum *sum, struct sk_plan_term term)
{
	struct range range = term_range(lowering->binder, &term);
	const struct sk_model *model = lowering->binder->model;
	bool may_differ = (model->has_bounds || model->is_sample) && term.variable != SK_VARIABLE_BLOCK;

	if (range.low != range.high || may_differ)
		return add_term(lowering, sum, term);
	sum->constant += range.low;
	return is_small(sum->constant) || fail_large(lowering);
}

/* Add, or subtract, the begin of the block that is `ahead` blocks further: floor(b * extent / blocks), as in
 * sk_block_range. Its fractional part is floor(b * rest / each) in lowest terms, which is the sum of floor((b + k *
 * each / rest) / each) for k = 0 … rest - 1 (Hermite's identity). Or it is b minus the same for each - rest, rounded
 * up. */
static bool add_block_begin(const struct lowering *lowering, struct sum *sum, uint64_t ahead, int64_t sign)
{
	const struct sk_binder *binder = lowering->binder;
	uint64_t extent = binder->extents[binder->signature->spread_extent];
	uint64_t whole = extent / binder->blocks, rest = extent % binder->blocks;
	uint64_t divisor = sk_common_divisor(binder->blocks, rest), each = binder->blocks / divisor;
	bool up = 2 * rest > binder->blocks;
	uint64_t steps = up ? each - rest / divisor : rest / divisor;

	whole += up;
	if (whole > MOST_FACTOR)
		return fail_large(lowering);
	sum->constant += (wide)sign * whole * ahead;
	if (!add_variable(lowering, sum,
			  (struct sk_plan_term){SK_VARIABLE_BLOCK, .factor = sign * (int64_t)whole, .divisor = 1}))
		return false;
	for (uint64_t k = 0; k < steps; k++) {
		struct sk_plan_term term = {SK_VARIABLE_BLOCK, .factor = up ? -sign : sign, .divisor = each};

		term.addend = ahead + (up ? each - 1 - k * each / steps : k * each / steps);
		if (!add_variable(lowering, sum, term))
			return false;
	}
	return true;
}

/* Add the begin, end or size of a part of the extent that blocks= divides. */
static bool lower_block_part(const struct lowering *lowering, enum sk_value_kind kind, struct sum *sum)
{
	if (kind != SK_VALUE_BEGIN && !add_block_begin(lowering, sum, 1, 1))
		return false;
	return kind == SK_VALUE_END || add_block_begin(lowering, sum, 0, kind == SK_VALUE_BEGIN ? 1 : -1);
}

/* Add the begin, end or size of the call's part. */
static bool lower_part(const struct lowering *lowering, const struct sk_value_expression *value, struct sum *sum)
{
	const struct sk_signature *signature = lowering->binder->signature;
	bool inner = value->index != signature->spread_extent;
	const struct sk_plan_term begin = {inner ? SK_VARIABLE_INNER_BEGIN : SK_VARIABLE_BEGIN, .factor = 1,
					   .divisor = 1};
	const struct sk_plan_term size = {inner ? SK_VARIABLE_INNER_SIZE : SK_VARIABLE_SIZE, .factor = 1, .divisor = 1};

	if (signature->spread == SK_STEP_BLOCKS_RANGE)
		return lower_block_part(lowering, value->kind, sum);
	return (value->kind == SK_VALUE_SIZE || add_variable(lowering, sum, begin)) &&
	       (value->kind == SK_VALUE_BEGIN || add_variable(lowering, sum, size));
}

/* Blocks are counted along x first. */
static bool lower_block(const struct lowering *lowering, const struct sk_value_expression *value, struct sum *sum)
{
	const struct sk_binder *binder = lowering->binder;
	struct sk_plan_term term = {SK_VARIABLE_BLOCK, .factor = 1, .divisor = 1};

	if (value->kind == SK_VALUE_BLOCK_COUNT) {
		sum->constant = value->axis == SK_NONE ? binder->blocks : binder->grid[value->axis];
		return true;
	}
	if (value->axis != SK_NONE) {
		for (uint32_t axis = 0; axis < value->axis; axis++)
			term.divisor *= binder->grid[axis];
		if (value->axis + 1 < binder->signature->grid_rank)
			term.modulus = binder->grid[value->axis];
	}
	return add_variable(lowering, sum, term);
}

/* Return the size of a parameter; false: it is not known yet. */
static bool size_of_parameter(const struct sk_binder *binder, uint32_t number, wide *size)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[number];

	*size = parameter->kind == SK_PARAMETER_TENSOR	  ? binder->tensors[number]->bytes
		: parameter->kind == SK_PARAMETER_SCRATCH ? binder->arguments[number].size
							  : sk_dtype_size(parameter->dtype);
	return parameter->kind != SK_PARAMETER_SCRATCH || binder->arguments[number].kind == SK_ARGUMENT_SCRATCH;
}

/* ---- expressions ---- */

static bool lower(const struct lowering *lowering, const struct sk_value_expression *value, struct sum *sum);

static bool lower_attribute(const struct lowering *lowering, const struct sk_value_expression *value, struct sum *sum)
{
	int64_t integer;

	if (value->left && !sk_binder_attribute(lowering->binder, value->name))
		return lower(lowering, value->left, sum);
	if (!sk_binder_bind_integer(lowering->binder, lowering->name, value, &integer))
		return false;
	sum->constant = integer;
	return true;
}

static bool lower_operation(const struct lowering *lowering, const struct sk_value_expression *value, struct sum *sum)
{
	struct sum right;

	if (!lower(lowering, value->left, sum) || !lower(lowering, value->right, &right))
		return false;
	switch (value->kind) {
	case SK_VALUE_ADD:
		return add_multiple(lowering, sum, &right, 1);
	case SK_VALUE_SUBTRACT:
		return add_multiple(lowering, sum, &right, -1);
	case SK_VALUE_DIVIDE:
		if (right.constant <= 0)
			return refuse_lowering(lowering,
					       right.constant ? "divides by a negative number" : "divides by 0");
		return divide(lowering, sum, right.constant);
	default: /* a product with one fixed side */
	{
		const struct sum left = *sum;
		const struct sum *fixed = left.count ? &right : &left, *other = left.count ? &left : &right;

		*sum = (struct sum){0};
		return add_multiple(lowering, sum, other, fixed->constant);
	}
	}
}

static bool lower(const struct lowering *lowering, const struct sk_value_expression *value, struct sum *sum)
{
	const struct sk_binder *binder = lowering->binder;

	*sum = (struct sum){0};
	switch (value->kind) {
	case SK_VALUE_NUMBER:
		sum->constant = value->number;
		return true;
	case SK_VALUE_EXTENT:
		sum->constant = binder->extents[value->index];
		return true;
	case SK_VALUE_ATTRIBUTE:
		return lower_attribute(lowering, value, sum);
	case SK_VALUE_SIZEOF:
		return size_of_parameter(binder, value->index, &sum->constant) ||
		       refuse_lowering(lowering, "asks for a size before that is known");
	case SK_VALUE_BEGIN:
	case SK_VALUE_END:
	case SK_VALUE_SIZE:
		return lower_part(lowering, value, sum);
	case SK_VALUE_BLOCK_INDEX:
	case SK_VALUE_BLOCK_COUNT:
		return lower_block(lowering, value, sum);
	default:
		return lower_operation(lowering, value, sum);
	}
}

/* ---- ranges ---- */

static bool is_plain(const struct sk_plan_term *term)
{
	return term->addend == 0 && term->divisor == 1 && term->modulus == 0;
}

static wide plain_factor(const struct sum *sum, enum sk_variable variable)
{
	for (uint32_t i = 0; i < sum->count; i++)
		if (sum->terms[i].variable == variable && is_plain(&sum->terms[i]))
			return sum->terms[i].factor;
	return 0;
}

static void widen(struct range *range, wide value)
{
	range->low = value < range->low ? value : range->low;
	range->high = value > range->high ? value : range->high;
}

/* Return the range of the multiples of begin and size together. Parts are within the extent, so the least and the
 * greatest sum are at corners. */
static struct range part_range(const struct sk_binder *binder, const struct sum *sum, enum sk_variable begin,
			       enum sk_variable size)
{
	wide of_begin = plain_factor(sum, begin), of_size = plain_factor(sum, size), last, longest;
	struct range range = {0, 0};

	if (!of_begin && !of_size)
		return range;
	last = variable_range(binder, begin).high;
	longest = variable_range(binder, size).high;
	range = (struct range){of_size, of_size};
	widen(&range, of_size * longest);
	widen(&range, of_begin * (last + 1 - longest) + of_size * longest);
	widen(&range, of_begin * last + of_size);
	return range;
}

/* Return the range of all terms of the block's number together. They are not monotonic; blocks= has several that depend
 * on each other. A single term has its extremes at the ends. */
static struct range block_range(const struct sk_binder *binder, const struct sum *sum)
{
	uint64_t last = binder->blocks - 1, step = sum->count == 1 && last ? last : 1;
	struct range range = {0, 0};

	for (uint64_t block = 0; sum->count && block <= last; block += step) {
		wide value = 0;

		for (uint32_t i = 0; i < sum->count; i++) {
			const struct sk_plan_term *term = &sum->terms[i];

			value += (wide)((block + term->addend) / term->divisor) * term->factor;
		}
		if (block == 0)
			range = (struct range){value, value};
		widen(&range, value);
	}
	return range;
}

static struct range sum_range(const struct sk_binder *binder, const struct sum *sum)
{
	struct range outer = part_range(binder, sum, SK_VARIABLE_BEGIN, SK_VARIABLE_SIZE);
	struct range inner = part_range(binder, sum, SK_VARIABLE_INNER_BEGIN, SK_VARIABLE_INNER_SIZE);
	bool block_parts = binder->signature->spread == SK_STEP_BLOCKS_RANGE; /* then there is only this variable */
	struct range blocks = block_parts ? block_range(binder, sum) : (struct range){0, 0};
	struct range range = {sum->constant + outer.low + inner.low + blocks.low,
			      sum->constant + outer.high + inner.high + blocks.high};

	for (uint32_t i = 0; i < sum->count && !block_parts; i++) {
		const struct sk_plan_term *term = &sum->terms[i];

		if (is_plain(term) && term->variable != SK_VARIABLE_BLOCK)
			continue;

		struct range more = term_range(binder, term);

		range.low += more.low;
		range.high += more.high;
	}
	return range;
}

static struct range type_range(enum sk_dtype type)
{
	wide values = (wide)1 << (8 * sk_dtype_size(type));

	return sk_dtype_is_signed(type) ? (struct range){-values / 2, values / 2 - 1} : (struct range){0, values - 1};
}

/* ---- values ---- */

static void keep_terms(const struct sk_binder *binder, const struct sum *sum, struct sk_argument *argument)
{
	struct sk_plan_term *terms;

	argument->kind = SK_ARGUMENT_EXPRESSION;
	if (binder->quiet)
		return; /* the argument is not needed */
	terms = SK_NEW_ARRAY(binder->model->arena, struct sk_plan_term, sum->count);
	memcpy(terms, sum->terms, sum->count * sizeof(*terms));
	argument->terms = terms;
	argument->term_count = sum->count;
}

void sk_binder_bind_value(struct sk_binder *binder, const char *name, const struct sk_value_expression *value,
			  struct sk_argument *argument)
{
	const struct lowering lowering = {binder, name, value};
	struct sum sum;

	argument->kind = SK_ARGUMENT_VALUE;
	if (value->kind == SK_VALUE_REAL || value->kind == SK_VALUE_NULL) {
		argument->value = value->number;
		return;
	}
	if (value->kind == SK_VALUE_SYMBOL) {
		argument->kind = SK_ARGUMENT_SYMBOL;
		argument->dtype = SK_DTYPE_NONE;
		argument->value = value->index; /* index in the signature, until the kernel is chosen */
		return;
	}
	if (!lower(&lowering, value, &sum))
		return;

	struct range type = type_range(argument->dtype), range = sum_range(binder, &sum);
	uint32_t bits = 8 * sk_dtype_size(argument->dtype);

	if (range.low < type.low || range.high > type.high) {
		refuse_lowering(&lowering, sk_arena_print(binder->model->arena, "does not fit into %s",
							  sk_dtype_name(argument->dtype)));
		return;
	}
	argument->value = (uint64_t)sum.constant;
	if (sum.count)
		keep_terms(binder, &sum, argument);
	else if (bits < 64)
		argument->value &= ((uint64_t)1 << bits) - 1;
}

bool sk_binder_count(struct sk_binder *binder, const char *of, const struct sk_value_expression *value, uint64_t least,
		     uint64_t *count)
{
	const struct lowering lowering = {binder, of, value};
	struct sum sum;

	*count = 0;
	if (!lower(&lowering, value, &sum))
		return false;
	if (sum.constant < (wide)least || sum.constant > INT64_MAX)
		return refuse_lowering(&lowering, sum.constant > 0 ? "is too large"
						  : least	   ? "is not greater than 0"
								   : "is negative");
	*count = (uint64_t)sum.constant;
	return true;
}
