/* See proof-parts.h. Both sides are sums of functions of one variable each. These functions are linear except for
 * quotients, which step up at equal distances. The two sides are compared at the least and greatest values of each
 * variable, around these, at the plan's steps, and at some values of all variables together. */
#include "src/proof/proof-parts.h"

#include "base/map.h"
#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"

enum {
	NEAR = 20, /* values compared at each end of a range */
	STEPS = 3, /* steps of a term, from the lowest up */
	TOGETHER = 40, /* points with all variables varied */
};

/* Wide enough for any sum and product of 64-bit values; a larger result is invalid. */
typedef __int128 wide;

struct point {
	uint64_t of[SK_VARIABLE_COUNT];
};

enum outcome { KNOWN, UNKNOWN, WRONG };

static enum outcome evaluate(const struct sk_call_values *values, const struct sk_value_expression *value,
			     const struct point *point, wide *result);

/* ---- the signature's side ---- */

static bool is_small(wide value)
{
	return value > -((wide)1 << 80) && value < (wide)1 << 80;
}

static enum outcome evaluate_part(const struct sk_call_values *values, const struct sk_value_expression *value,
				  const struct point *point, wide *result)
{
	const struct sk_plan_step *step = values->step;
	bool inner = value->index != values->signature->spread_extent;
	uint64_t begin = point->of[inner ? SK_VARIABLE_INNER_BEGIN : SK_VARIABLE_BEGIN];
	uint64_t size = point->of[inner ? SK_VARIABLE_INNER_SIZE : SK_VARIABLE_SIZE];

	if (step->kind == SK_STEP_BLOCKS_RANGE) { /* as sk_block_range of skkernel.h */
		wide block = point->of[SK_VARIABLE_BLOCK];

		begin = (uint64_t)(block * step->extent / step->blocks);
		size = (uint64_t)((block + 1) * step->extent / step->blocks) - begin;
	}
	*result = value->kind == SK_VALUE_BEGIN ? begin : value->kind == SK_VALUE_SIZE ? size : (wide)begin + size;
	return KNOWN;
}

static enum outcome evaluate_block(const struct sk_call_values *values, const struct sk_value_expression *value,
				   const struct point *point, wide *result)
{
	const struct sk_signature *signature = values->signature;
	uint64_t rest = point->of[SK_VARIABLE_BLOCK], axis_count = 0;

	if (value->axis == SK_NONE) {
		*result = value->kind == SK_VALUE_BLOCK_INDEX ? rest : values->step->blocks;
		return KNOWN;
	}
	for (uint32_t axis = 0; axis <= value->axis; axis++) {
		rest = axis ? rest / axis_count : rest;
		if (!sk_call_constant(values, signature->grid[axis], &axis_count))
			return UNKNOWN;
		if (axis_count == 0)
			return WRONG;
	}
	*result = value->kind == SK_VALUE_BLOCK_INDEX ? rest % axis_count : axis_count;
	return KNOWN;
}

static enum outcome evaluate_size(const struct sk_call_values *values, const struct sk_value_expression *value,
				  wide *result)
{
	const struct sk_parameter *parameter = &values->signature->parameters[value->index];
	const struct sk_plan_argument *argument = &values->view->arguments[values->call->first_argument + value->index];

	struct sk_rows rows = sk_plan_rows(values->view, argument);

	*result = parameter->kind == SK_PARAMETER_SCALAR ? sk_dtype_size(parameter->dtype) : rows.count * rows.width;
	return KNOWN;
}

static enum outcome evaluate_operation(const struct sk_call_values *values, const struct sk_value_expression *value,
				       const struct point *point, wide *result)
{
	wide left, right;
	enum outcome one = evaluate(values, value->left, point, &left);
	enum outcome other = evaluate(values, value->right, point, &right);

	if (one != KNOWN || other != KNOWN)
		return one == WRONG || other == WRONG ? WRONG : UNKNOWN;
	switch (value->kind) {
	case SK_VALUE_ADD:
		*result = left + right;
		break;
	case SK_VALUE_SUBTRACT:
		*result = left - right;
		break;
	case SK_VALUE_DIVIDE:
		if (right <= 0 || (left < 0 && left % right))
			return WRONG;
		*result = left / right;
		break;
	default:
		if (__builtin_mul_overflow(left, right, result))
			return WRONG;
		break;
	}
	return is_small(*result) ? KNOWN : WRONG;
}

static enum outcome evaluate(const struct sk_call_values *values, const struct sk_value_expression *value,
			     const struct point *point, wide *result)
{
	switch (value->kind) {
	case SK_VALUE_NUMBER:
		*result = value->number;
		return KNOWN;
	case SK_VALUE_EXTENT:
		*result = values->extents[value->index];
		return values->extents[value->index] != SK_EXTENT_UNKNOWN ? KNOWN : UNKNOWN;
	case SK_VALUE_SIZEOF:
		return evaluate_size(values, value, result);
	case SK_VALUE_BEGIN:
	case SK_VALUE_END:
	case SK_VALUE_SIZE:
		return evaluate_part(values, value, point, result);
	case SK_VALUE_BLOCK_INDEX:
	case SK_VALUE_BLOCK_COUNT:
		return evaluate_block(values, value, point, result);
	case SK_VALUE_ADD:
	case SK_VALUE_SUBTRACT:
	case SK_VALUE_MULTIPLY:
	case SK_VALUE_DIVIDE:
		return evaluate_operation(values, value, point, result);
	case SK_VALUE_ATTRIBUTE:
		return UNKNOWN;
	default:
		return WRONG;
	}
}

bool sk_call_constant(const struct sk_call_values *values, const struct sk_value_expression *value, uint64_t *constant)
{
	const struct point nowhere = {{0}};
	wide result;

	if (evaluate(values, value, &nowhere, &result) != KNOWN || result < 0 || result > UINT64_MAX)
		return false;
	*constant = (uint64_t)result;
	return true;
}

/* ---- the plan's side ---- */

static uint64_t compute(const struct sk_call_values *values, const struct sk_plan_argument *argument,
			const struct point *point)
{
	uint64_t sum = argument->value;

	for (uint64_t i = 0; argument->kind == SK_ARGUMENT_EXPRESSION && i < argument->size; i++) {
		const struct sk_plan_term *term = &values->view->terms[argument->index + i];

		sum += sk_plan_term_value(term, point->of[term->variable]);
	}
	return sum;
}

/* ---- both ---- */

struct comparison {
	const struct sk_call_values *values;
	const struct sk_value_expression *value;
	const struct sk_plan_argument *argument;
	struct point low, high; /* bounds of each variable */
};

/* Compare both sides at the point. A value that does not fit the type counts as different. */
static bool agree_at(struct comparison *comparison, const struct point *point)
{
	const struct sk_plan_argument *argument = comparison->argument;
	bool is_signed = sk_dtype_is_signed((enum sk_dtype)argument->dtype);
	wide values = (wide)1 << (8 * sk_dtype_size(argument->dtype)), result;
	uint64_t mask = (uint64_t)(values - 1), is = compute(comparison->values, argument, point);

	switch (evaluate(comparison->values, comparison->value, point, &result)) {
	case UNKNOWN:
		return true;
	case WRONG:
		return false;
	default:
		return result >= (is_signed ? -values / 2 : 0) && result < (is_signed ? values / 2 : values) &&
		       ((uint64_t)result & mask) == (is & mask);
	}
}

static bool agree_for(struct comparison *comparison, enum sk_variable variable, uint64_t value)
{
	struct point point = comparison->low;

	if (value < comparison->low.of[variable] || value > comparison->high.of[variable])
		return true;
	point.of[variable] = value;
	return agree_at(comparison, &point);
}

/* Compare where a term steps up and where it starts again. */
static bool agree_at_steps(struct comparison *comparison, const struct sk_plan_term *term)
{
	enum sk_variable variable = (enum sk_variable)term->variable;
	const uint64_t distances[] = {term->divisor, term->divisor * term->modulus};

	for (size_t d = 0; d < sizeof(distances) / sizeof(distances[0]); d++)
		for (uint64_t step = 1; distances[d] && step <= STEPS; step++)
			if (!agree_for(comparison, variable, step * distances[d] - term->addend) ||
			    !agree_for(comparison, variable, step * distances[d] - term->addend - 1))
				return false;
	return true;
}

static bool agree_for_each(struct comparison *comparison, enum sk_variable variable)
{
	const struct sk_plan_argument *argument = comparison->argument;
	uint64_t low = comparison->low.of[variable], high = comparison->high.of[variable];

	for (uint64_t i = 0; i < NEAR; i++)
		if (!agree_for(comparison, variable, low + i) || !agree_for(comparison, variable, high - i))
			return false;
	for (uint64_t i = 0; argument->kind == SK_ARGUMENT_EXPRESSION && i < argument->size; i++) {
		const struct sk_plan_term *term = &comparison->values->view->terms[argument->index + i];

		if (term->variable == variable && !agree_at_steps(comparison, term))
			return false;
	}
	return true;
}

/* Limit a part to the end of the extent. */
static void fit_part(const struct comparison *comparison, struct point *point, enum sk_variable begin,
		     enum sk_variable size)
{
	uint64_t left = comparison->high.of[begin] + 1 - point->of[begin];

	if (point->of[size] > left)
		point->of[size] = left;
}

static bool agree_together(struct comparison *comparison)
{
	uint64_t seed = 1;

	for (int i = 0; i < TOGETHER; i++) {
		struct point point;

		for (int v = 0; v < SK_VARIABLE_COUNT; v++) {
			uint64_t values = comparison->high.of[v] - comparison->low.of[v] + 1;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			point.of[v] = comparison->low.of[v] + (seed >> 11) % values;
		}
		fit_part(comparison, &point, SK_VARIABLE_BEGIN, SK_VARIABLE_SIZE);
		fit_part(comparison, &point, SK_VARIABLE_INNER_BEGIN, SK_VARIABLE_INNER_SIZE);
		if (!agree_at(comparison, &point))
			return false;
	}
	return true;
}

static void set_part(struct comparison *comparison, enum sk_variable begin, enum sk_variable size, uint64_t extent,
		     const struct sk_plan_loop *loop)
{
	comparison->high.of[begin] = extent - 1;
	comparison->low.of[size] = 1;
	comparison->high.of[size] = loop && loop->tile < extent ? loop->tile : extent;
}

bool sk_call_value_agrees(const struct sk_call_values *values, const struct sk_value_expression *value,
			  const struct sk_plan_argument *argument)
{
	const struct sk_plan_loop *loops = sk_plan_loops(values->view, values->call);
	struct comparison comparison = {.values = values, .value = value, .argument = argument};
	const struct sk_plan_step *step = values->step;

	if (step->kind == SK_STEP_SPLIT)
		set_part(&comparison, SK_VARIABLE_BEGIN, SK_VARIABLE_SIZE, sk_plan_extent(step, values->call), loops);
	if (values->call->loop_count == SK_MAX_LOOPS)
		set_part(&comparison, SK_VARIABLE_INNER_BEGIN, SK_VARIABLE_INNER_SIZE, loops[1].extent, &loops[1]);
	if (step->blocks)
		comparison.high.of[SK_VARIABLE_BLOCK] = step->blocks - 1;
	for (int v = 0; v < SK_VARIABLE_COUNT; v++)
		if (!agree_for_each(&comparison, (enum sk_variable)v))
			return false;
	return agree_together(&comparison);
}
