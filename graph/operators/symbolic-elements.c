/* Elements of small integer tensors as expressions of sizes: the arithmetic by which models compute shapes from
 * shapes. */
#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"

typedef const struct sk_size *term;

/* The terms of an operand, and its shape. */
struct operand {
	const struct sk_value *value;
	term const *terms;
	uint64_t count;
};

static struct operand operand_of(const struct sk_symbolic *symbolic, size_t number)
{
	struct operand operand = {.value = sk_node_input(symbolic->graph, symbolic->node, number)};

	if (operand.value)
		operand.terms = sk_symbolic_terms(symbolic, operand.value, &operand.count);
	return operand;
}

static term *new_terms(const struct sk_symbolic *symbolic)
{
	return SK_NEW_ARRAY(symbolic->graph->arena, term, SK_MOST_TERMS + 1);
}

/* ---- functions of two elements ---- */

typedef term binary(struct sk_sizes *sizes, term a, term b);

static term truth(struct sk_sizes *sizes, bool is)
{
	return sk_size_number(sizes, is);
}

/* The order of two terms decides, if it is certain. */
static term order_term(struct sk_sizes *sizes, term a, term b, unsigned yes, unsigned no)
{
	unsigned order = 1U << sk_size_compare(sizes, a, b);

	return order & yes ? truth(sizes, true) : order & no ? truth(sizes, false) : NULL;
}

enum {
	BIT_LESS = 1 << SK_SIZE_LESS,
	BIT_LESS_OR_EQUAL = 1 << SK_SIZE_LESS_OR_EQUAL,
	BIT_EQUAL = 1 << SK_SIZE_EQUAL,
	BIT_GREATER_OR_EQUAL = 1 << SK_SIZE_GREATER_OR_EQUAL,
	BIT_GREATER = 1 << SK_SIZE_GREATER,
	BIT_UNEQUAL = BIT_LESS | BIT_GREATER | 1 << SK_SIZE_DIFFERENT,
};

static term is_equal(struct sk_sizes *sizes, term a, term b)
{
	return order_term(sizes, a, b, BIT_EQUAL, BIT_UNEQUAL);
}

static term is_unequal(struct sk_sizes *sizes, term a, term b)
{
	return order_term(sizes, a, b, BIT_UNEQUAL, BIT_EQUAL);
}

static term is_less(struct sk_sizes *sizes, term a, term b)
{
	return order_term(sizes, a, b, BIT_LESS, BIT_EQUAL | BIT_GREATER | BIT_GREATER_OR_EQUAL);
}

static term is_at_most(struct sk_sizes *sizes, term a, term b)
{
	return order_term(sizes, a, b, BIT_LESS | BIT_LESS_OR_EQUAL | BIT_EQUAL, BIT_GREATER);
}

static term is_greater(struct sk_sizes *sizes, term a, term b)
{
	return is_less(sizes, b, a);
}

static term is_at_least(struct sk_sizes *sizes, term a, term b)
{
	return is_at_most(sizes, b, a);
}

/* Integers are divided towards 0, which is floor for numbers that are not negative. */
static term divide(struct sk_sizes *sizes, term a, term b)
{
	term exact = sk_size_quotient(sizes, a, b);

	return exact || sk_size_least(a) < 0 ? exact : sk_size_floor(sizes, a, b);
}

static term modulo(struct sk_sizes *sizes, term a, term b)
{
	return sk_size_least(a) < 0 ? NULL : sk_size_modulo(sizes, a, b);
}

static term logical_and(struct sk_sizes *sizes, term a, term b)
{
	return sk_size_min(sizes, a, b);
}

static term logical_or(struct sk_sizes *sizes, term a, term b)
{
	return sk_size_max(sizes, a, b);
}

static const struct {
	const char *op;
	binary *compute;
} binaries[] = {{"Add", sk_size_add},
		{"And", logical_and},
		{"Div", divide},
		{"Equal", is_equal},
		{"Greater", is_greater},
		{"GreaterOrEqual", is_at_least},
		{"Less", is_less},
		{"LessOrEqual", is_at_most},
		{"Max", sk_size_max},
		{"Min", sk_size_min},
		{"Mod", modulo},
		{"Mul", sk_size_multiply},
		{"Or", logical_or},
		{"Sub", sk_size_subtract},
		{"Sum", sk_size_add},
		{"sklink:FloorDiv", sk_size_floor},
		{"sklink:NotEqual", is_unequal}};

/* Return the term of an operand that belongs to element `index` of a result of that shape: operands are broadcast. */
static term broadcast_term(const struct operand *operand, const struct sk_value *to, uint64_t index)
{
	uint64_t place = 0, stride = 1;

	for (uint32_t d = to->rank, from = operand->value->rank; d--; index /= to->shape[d]) {
		uint64_t size = from ? operand->value->shape[--from] : 1;

		place += size > 1 ? index % to->shape[d] * stride : 0;
		stride *= size;
	}
	return operand->terms && place < operand->count ? operand->terms[place] : NULL;
}

/* True if kernels may round partial results that are exact here: reals of both signs can cancel. */
static bool may_round(const struct operand *operand)
{
	for (uint64_t e = 0; e < operand->count && sk_value_is_float(operand->value); e++)
		if (operand->terms[e] && sk_size_least(operand->terms[e]) < 0)
			return true;
	return false;
}

static term *compute_binary(const struct sk_symbolic *symbolic, const struct sk_value *to, binary *compute)
{
	term *terms = new_terms(symbolic);

	if (compute == divide && sk_value_is_float(to))
		compute = sk_size_quotient;
	if (compute == modulo && !sk_node_integer(symbolic->node, "fmod", 0))
		compute = sk_size_modulo; /* the sign is the divisor's, which is positive */
	for (size_t i = 0; i < symbolic->node->inputs.count; i++) {
		struct operand operand = operand_of(symbolic, i);

		if (symbolic->node->inputs.count > 2 && (!operand.terms || may_round(&operand)))
			return NULL;
		for (uint64_t e = 0; e < sk_value_elements(to); e++) {
			term other = broadcast_term(&operand, to, e);

			terms[e] = !i ? other : terms[e] && other ? compute(symbolic->sizes, terms[e], other) : NULL;
		}
	}
	return terms;
}

static term *compute_where(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct operand condition = operand_of(symbolic, 0), yes = operand_of(symbolic, 1),
			     no = operand_of(symbolic, 2);
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to); e++) {
		term chosen = broadcast_term(&condition, to, e), a = broadcast_term(&yes, to, e),
		     b = broadcast_term(&no, to, e);
		int64_t truth;

		if (chosen && sk_size_is_number(chosen, &truth))
			terms[e] = truth ? a : b;
		else
			terms[e] = a == b ? a : NULL;
	}
	return terms;
}

/* ---- functions of one element ---- */

static term convert(const struct sk_symbolic *symbolic, term from, enum sk_dtype dtype)
{
	if (!from || dtype != SK_BOOL)
		return from;
	return is_unequal(symbolic->sizes, from, sk_size_number(symbolic->sizes, 0));
}

static term *compute_same(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	struct operand from = operand_of(symbolic, 0);
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to) && from.terms; e++)
		terms[e] = convert(symbolic, from.terms[e], to->dtype);
	return terms;
}

static term *compute_negative(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	term *terms = compute_same(symbolic, to);
	int64_t from = sk_node_is(symbolic->node, "Not") ? 1 : 0;

	for (uint64_t e = 0; e < sk_value_elements(to); e++)
		terms[e] = sk_size_subtract(symbolic->sizes, sk_size_number(symbolic->sizes, from), terms[e]);
	return terms;
}

/* ---- measures ---- */

static term *compute_shape(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct sk_value *from = sk_node_input(symbolic->graph, symbolic->node, 0);
	int64_t start = sk_node_integer(symbolic->node, "start", 0);
	term *terms = new_terms(symbolic);

	start += start < 0 ? from->rank : 0;
	start = start < 0 ? 0 : start;
	for (uint64_t e = 0; e < sk_value_elements(to); e++)
		terms[e] = sk_symbolic_size(symbolic, from, (uint32_t)start + (uint32_t)e);
	return terms;
}

static term *compute_size(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct sk_value *from = sk_node_input(symbolic->graph, symbolic->node, 0);
	term *terms = new_terms(symbolic);

	terms[0] = sk_size_number(symbolic->sizes, (int64_t)sk_value_elements(to));
	for (uint32_t d = 0; d < from->rank; d++)
		terms[0] = sk_size_multiply(symbolic->sizes, terms[0], sk_symbolic_size(symbolic, from, d));
	return terms;
}

/* ---- moves ---- */

/* Return the product of dimensions. */
static uint64_t count_elements(const struct sk_value *value, uint32_t from, uint32_t to)
{
	uint64_t count = 1;

	for (uint32_t d = from; d < to; d++)
		count *= value->shape[d];
	return count;
}

static uint32_t axis_of(const struct sk_symbolic *symbolic, int64_t otherwise, uint32_t rank)
{
	int64_t axis = sk_node_integer(symbolic->node, "axis", otherwise);

	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static term *compute_gather(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct operand from = operand_of(symbolic, 0), places = operand_of(symbolic, 1);
	uint32_t axis = axis_of(symbolic, 0, from.value->rank);
	uint64_t size = from.value->shape[axis], inner = count_elements(from.value, axis + 1, from.value->rank);
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to) && from.terms && places.terms; e++) {
		term place = places.terms[e / inner % places.count];
		int64_t index;

		if (!place || !sk_size_is_number(place, &index))
			continue;
		index += index < 0 ? (int64_t)size : 0;
		if (index >= 0 && index < (int64_t)size)
			terms[e] = from.terms[(e / inner / places.count * size + (uint64_t)index) * inner + e % inner];
	}
	return terms;
}

static term *compute_concat(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	uint32_t axis = axis_of(symbolic, 0, to->rank);
	uint64_t row = count_elements(to, axis, to->rank), begin = 0;
	term *terms = new_terms(symbolic);

	for (size_t i = 0; i < symbolic->node->inputs.count; i++) {
		struct operand from = operand_of(symbolic, i);
		uint64_t width = count_elements(from.value, axis, to->rank);

		for (uint64_t e = 0; e < sk_value_elements(from.value) && from.terms; e++)
			terms[e / width * row + begin + e % width] = from.terms[e];
		begin += width;
	}
	return terms;
}

/* Return the number that is element `item` of a list; `otherwise` if the list is absent. */
static bool read_item(const struct operand *list, uint64_t item, int64_t otherwise, int64_t *integer)
{
	*integer = otherwise;
	if (!list->value)
		return true;
	return list->terms && item < list->count && list->terms[item] && sk_size_is_number(list->terms[item], integer);
}

/* The places of a result's elements in an operand: of each dimension of the result, the first one and the distance
 * between neighbours. */
struct places {
	int64_t first;
	int64_t strides[SK_MAX_RANK];
};

static term *take_places(const struct sk_symbolic *symbolic, const struct sk_value *to, const struct operand *from,
			 const struct places *places)
{
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to); e++) {
		int64_t place = places->first;
		uint64_t rest = e;

		for (uint32_t d = to->rank; d--; rest /= to->shape[d])
			place += (int64_t)(rest % to->shape[d]) * places->strides[d];
		if (place >= 0 && place < (int64_t)from->count)
			terms[e] = from->terms[place];
	}
	return terms;
}

/* Apply one axis of a slice: the inner elements of the axis are adjacent. */
static bool slice_axis(const struct sk_symbolic *symbolic, const struct sk_value *from, uint64_t item,
		       struct places *places)
{
	const struct operand starts = operand_of(symbolic, 1), axes = operand_of(symbolic, 3),
			     steps = operand_of(symbolic, 4);
	int64_t start, axis, step, size, inner;

	if (!read_item(&starts, item, 0, &start) || !read_item(&axes, item, (int64_t)item, &axis) ||
	    !read_item(&steps, item, 1, &step))
		return false;
	axis += axis < 0 ? from->rank : 0;
	size = (int64_t)from->shape[axis];
	inner = (int64_t)count_elements(from, (uint32_t)axis + 1, from->rank);
	start += start < 0 ? size : 0;
	start = start < 0 ? 0 : start;
	if (step < 0 && start >= size)
		start = size - 1;
	places->first += start * inner;
	return !__builtin_mul_overflow(inner, step, &places->strides[axis]);
}

/* The strides of a value with adjacent elements. */
static struct places all_places(const struct sk_value *from)
{
	struct places places = {.first = 0};

	for (uint32_t d = 0; d < from->rank; d++)
		places.strides[d] = (int64_t)count_elements(from, d + 1, from->rank);
	return places;
}

static term *compute_slice(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct operand from = operand_of(symbolic, 0), starts = operand_of(symbolic, 1);
	struct places places = all_places(from.value);

	if (!from.terms || !sk_value_elements(to))
		return NULL;
	for (uint64_t i = 0; i < starts.count; i++)
		if (!slice_axis(symbolic, from.value, i, &places))
			return NULL;
	return take_places(symbolic, to, &from, &places);
}

static term *compute_transpose(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct operand from = operand_of(symbolic, 0);
	const struct places all = all_places(from.value);
	struct places places = all;
	uint64_t count = 0;
	const int64_t *order = sk_node_integers(symbolic->node, "perm", &count);

	if (!from.terms)
		return NULL;
	for (uint32_t d = 0; d < to->rank; d++) {
		int64_t axis = count ? order[d] : (int64_t)(to->rank - 1 - d);

		places.strides[d] = all.strides[axis < 0 ? axis + to->rank : axis];
	}
	return take_places(symbolic, to, &from, &places);
}

/* Parts of lists. Outputs that are not used are absent. */
static term *compute_split(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct operand from = operand_of(symbolic, 0), parts = operand_of(symbolic, 1);
	int64_t outputs = (int64_t)symbolic->node->outputs.count, equal = ((int64_t)from.count + outputs - 1) / outputs;
	term *terms = new_terms(symbolic);
	int64_t begin = 0, size;

	for (size_t i = 0; sk_node_output(symbolic->graph, symbolic->node, i) != to; i++) {
		if (!read_item(&parts, i, equal, &size))
			return terms;
		begin += size;
	}
	for (uint64_t e = 0; e < sk_value_elements(to) && from.terms && to->rank == 1; e++)
		terms[e] = from.terms[(uint64_t)begin + e];
	return terms;
}

static term *compute_expand(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	struct operand from = operand_of(symbolic, 0);
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to); e++)
		terms[e] = broadcast_term(&from, to, e);
	return terms;
}

static term *compute_tile(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	struct operand from = operand_of(symbolic, 0);
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to) && from.terms && from.count && to->rank == 1; e++)
		terms[e] = from.terms[e % from.count];
	return terms;
}

static term *compute_range(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	struct operand start = operand_of(symbolic, 0), step = operand_of(symbolic, 2);
	term *terms = new_terms(symbolic);

	for (uint64_t e = 0; e < sk_value_elements(to) && start.terms && step.terms; e++)
		terms[e] = sk_size_add(
			symbolic->sizes, start.terms[0],
			sk_size_multiply(symbolic->sizes, step.terms[0], sk_size_number(symbolic->sizes, (int64_t)e)));
	return terms;
}

static term *compute_fill(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	const struct sk_graph_node *node = symbolic->node;
	const struct sk_value *values = symbolic->graph->values.items;
	term element = sk_size_number(symbolic->sizes, 0), *terms = new_terms(symbolic);
	uint64_t count;

	if (node->tensors.count)
		element = sk_symbolic_terms(symbolic, &values[node->tensors.items[0].value], &count)[0];
	for (uint64_t e = 0; e < sk_value_elements(to); e++)
		terms[e] = element;
	return terms;
}

/* ---- folds of lists ---- */

static term *compute_reduction(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	static const struct {
		const char *op;
		binary *compute;
	} reductions[] = {{"ReduceProd", sk_size_multiply},
			  {"ReduceSum", sk_size_add},
			  {"ReduceMax", sk_size_max},
			  {"ReduceMin", sk_size_min}};
	struct operand from = operand_of(symbolic, 0);
	term *terms = new_terms(symbolic);

	if (!from.terms || !from.count || sk_value_elements(to) != 1 || may_round(&from))
		return terms;
	for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++) {
		if (!sk_node_is(symbolic->node, reductions[i].op))
			continue;
		terms[0] = from.terms[0];
		for (uint64_t e = 1; e < from.count; e++)
			terms[0] = reductions[i].compute(symbolic->sizes, terms[0], from.terms[e]);
	}
	return terms;
}

static term *compute_running_sum(const struct sk_symbolic *symbolic, const struct sk_value *to)
{
	struct operand from = operand_of(symbolic, 0);
	term *terms = new_terms(symbolic);

	if (!from.terms || to->rank != 1 || sk_node_integer(symbolic->node, "exclusive", 0) ||
	    sk_node_integer(symbolic->node, "reverse", 0) || may_round(&from))
		return terms;
	for (uint64_t e = 0; e < from.count; e++)
		terms[e] = e ? sk_size_add(symbolic->sizes, terms[e - 1], from.terms[e]) : from.terms[e];
	return terms;
}

/* ---- operators ---- */

static const struct {
	const char *op;
	term *(*compute)(const struct sk_symbolic *symbolic, const struct sk_value *to);
} others[] = {{"Cast", compute_same},
	      {"CastLike", compute_same},
	      {"Ceil", compute_same},
	      {"Concat", compute_concat},
	      {"ConstantOfShape", compute_fill},
	      {"CumSum", compute_running_sum},
	      {"Expand", compute_expand},
	      {"Flatten", compute_same},
	      {"Floor", compute_same},
	      {"Gather", compute_gather},
	      {"Identity", compute_same},
	      {"Neg", compute_negative},
	      {"Not", compute_negative},
	      {"Range", compute_range},
	      {"ReduceMax", compute_reduction},
	      {"ReduceMin", compute_reduction},
	      {"ReduceProd", compute_reduction},
	      {"ReduceSum", compute_reduction},
	      {"Reshape", compute_same},
	      {"Round", compute_same},
	      {"Shape", compute_shape},
	      {"Size", compute_size},
	      {"Slice", compute_slice},
	      {"Split", compute_split},
	      {"Squeeze", compute_same},
	      {"Tile", compute_tile},
	      {"Transpose", compute_transpose},
	      {"Unsqueeze", compute_same},
	      {"Where", compute_where}};

const struct sk_size **sk_symbolic_elements(const struct sk_symbolic *symbolic, size_t output)
{
	const struct sk_value *to = sk_node_output(symbolic->graph, symbolic->node, output);

	for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
		if (sk_node_is(symbolic->node, binaries[i].op))
			return compute_binary(symbolic, to, binaries[i].compute);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (sk_node_is(symbolic->node, others[i].op))
			return others[i].compute(symbolic, to);
	return NULL;
}
