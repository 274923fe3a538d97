/* MindSpore's primitives that are calls of existing kernels (domain "sklink"), but differ from ONNX's operators in more
 * than the name. */
#include <string.h>

#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

static struct sk_inference inference_of(const struct sk_canonical *canonical)
{
	return (struct sk_inference){canonical->graph, &canonical->graph->nodes.items[canonical->node]};
}

/* ---- ArgMax, Argmin, ArgMaxWithValue, ArgMinWithValue ---- */

static bool is_most(const struct sk_graph_node *node)
{
	return !strncmp(node->op, "ArgMax", strlen("ArgMax"));
}

static bool with_value(const struct sk_graph_node *node)
{
	return strstr(node->op, "WithValue");
}

/* Return the axis, and the shape without it. */
static bool find_axis(const struct sk_inference *inference, uint32_t *axis, uint32_t *rank, uint64_t *shape)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	bool both = with_value(inference->node), keep = sk_node_integer(inference->node, "keep_dims", 0);

	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "axis", both ? 0 : -1), from->rank, axis))
		return false;
	if (!from->shape[*axis])
		return sk_infer_error(inference, "'%s' has no elements along axis %u", from->name, *axis);
	*rank = 0;
	for (uint32_t i = 0; i < from->rank; i++)
		if (i != *axis || keep)
			shape[(*rank)++] = i == *axis ? 1 : from->shape[i];
	return true;
}

/* `output_type` is a number of MindSpore's types, or of ONNX's. In older releases ArgMaxWithValue also returns i32, and
 * models say so. */
static bool find_index_type(const struct sk_inference *inference, enum sk_dtype *dtype)
{
	const struct sk_value *output = sk_node_output(inference->graph, inference->node, 0);
	int64_t type = sk_node_integer(inference->node, "output_type", 0);

	*dtype = with_value(inference->node) ? SK_I64 : SK_I32;
	if (type == 34 || type == 6)
		*dtype = SK_I32;
	else if (type == 35 || type == 7)
		*dtype = SK_I64;
	else if (type)
		return sk_infer_error(inference, "output_type is %lld, neither i32 (34) nor i64 (35)", (long long)type);
	else if (output && (output->dtype == SK_I32 || output->dtype == SK_I64))
		*dtype = output->dtype;
	return true;
}

static bool infer_arg(struct sk_inference *inference)
{
	uint64_t shape[SK_MAX_RANK];
	uint32_t axis, rank;
	enum sk_dtype dtype;

	return find_axis(inference, &axis, &rank, shape) && find_index_type(inference, &dtype) &&
	       sk_infer_output(inference, 0, dtype, rank, shape) &&
	       sk_infer_output(inference, 1, sk_infer_input(inference, 0)->dtype, rank, shape);
}

static bool canonical_arg(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = inference_of(canonical);
	bool most = is_most(inference.node);
	uint32_t from = sk_canonical_input(canonical, 0), index = sk_canonical_output(canonical, 0);
	uint32_t value = sk_canonical_output(canonical, 1), places = index, axis, rank;
	uint64_t shape[SK_MAX_RANK];
	struct sk_graph_call *call;
	struct sk_operand operand;

	if (!find_axis(&inference, &axis, &rank, shape))
		return false;
	if (index != SK_NONE && graph->values.items[index].dtype != SK_I64)
		places = sk_graph_new_value(graph, "places", SK_I64, rank, shape);
	if (index != SK_NONE) {
		operand = sk_operand_axis(graph, from, axis);
		call = sk_canonical_call(canonical, most ? "ArgMax" : "ArgMin");
		sk_call_input(canonical, call, operand);
		sk_call_output(canonical, call,
			       sk_operand_shaped(graph, places, 2, (uint64_t[]){operand.shape[0], operand.shape[2]}));
	}
	if (places != index)
		sk_canonical_store(canonical, index, places);
	return value == SK_NONE ||
	       sk_canonical_reduce(canonical, most ? "ReduceMax" : "ReduceMin", from, value, 1U << axis);
}

/* ---- EqualCount, SquareSumAll ---- */

static bool check_same(const struct sk_inference *inference)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);

	return (a->dtype == b->dtype && a->rank == b->rank &&
		!memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape))) ||
	       sk_infer_error(inference, "'%s' and '%s' are not of one type and of one shape", a->name, b->name);
}

static bool infer_equal_count(struct sk_inference *inference)
{
	return check_same(inference) &&
	       sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, 1, (uint64_t[]){1});
}

/* Counted as integers, which are exact. */
static bool canonical_equal_count(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t a = sk_canonical_input(canonical, 0), b = sk_canonical_input(canonical, 1), ones, count;
	uint32_t to = sk_canonical_output(canonical, 0);
	const struct sk_value value = graph->values.items[a];
	uint32_t equal = sk_graph_new_value(graph, value.name, SK_BOOL, value.rank, value.shape);

	if (!sk_value_elements(&value))
		return sk_canonical_fill(canonical, to, 0);
	if (!sk_canonical_binary(canonical, "Equal", a, b, equal, true))
		return false;
	ones = sk_canonical_cast(canonical, equal, SK_I64);
	count = graph->values.items[to].dtype == SK_I64 ? to : sk_graph_new_value(graph, value.name, SK_I64, 0, NULL);
	if (!sk_canonical_reduce(canonical, "ReduceSum", ones, count, (1U << value.rank) - 1))
		return false;
	if (count != to)
		sk_canonical_store(canonical, to, count);
	return true;
}

static bool infer_square_sums(struct sk_inference *inference)
{
	enum sk_dtype dtype = sk_infer_input(inference, 0)->dtype;

	return check_same(inference) && sk_infer_output(inference, 0, dtype, 0, NULL) &&
	       sk_infer_output(inference, 1, dtype, 0, NULL);
}

static bool canonical_square_sums(struct sk_canonical *canonical)
{
	for (size_t i = 0; i < 2; i++) {
		uint32_t from = sk_canonical_input(canonical, i), to = sk_canonical_output(canonical, i);
		uint32_t rank = canonical->graph->values.items[from].rank;

		if (to != SK_NONE && !sk_canonical_reduce(canonical, "ReduceSumSquare", from, to, (1U << rank) - 1))
			return false;
	}
	return true;
}

/* ---- sums and means with inputs for axes, `keepdims` and element type ---- */

static bool find_reduced(const struct sk_inference *inference, uint32_t *set, uint32_t *rank, uint64_t *shape)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t keep;
	uint64_t given;
	const int64_t *list;
	uint32_t axis;
	size_t count;

	if (!sk_infer_integers(inference, 1, &given, &list) ||
	    !sk_infer_integer(inference, 2, sk_node_integer(inference->node, "keepdims", 0), &keep))
		return false;
	count = given;
	if (!list)
		list = sk_node_integers(inference->node, "axis", &count);
	*set = count ? 0 : (1U << from->rank) - 1;
	for (size_t i = 0; i < count; i++) {
		if (!sk_infer_axis(inference, list[i], from->rank, &axis))
			return false;
		*set |= 1U << axis;
	}
	*rank = 0;
	for (uint32_t i = 0; i < from->rank; i++)
		if (!(*set >> i & 1) || keep)
			shape[(*rank)++] = *set >> i & 1 ? 1 : from->shape[i];
	return true;
}

/* Sums of integers are i64; means are of floats only. */
static bool infer_sum(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	bool mean = !strcmp(inference->node->op, "MeanExt");
	uint64_t shape[SK_MAX_RANK];
	uint32_t set, rank;

	if (mean && !sk_value_is_float(from))
		return sk_infer_error(inference, "'%s' is %s, and no float", from->name, sk_dtype_name(from->dtype));
	return find_reduced(inference, &set, &rank, shape) &&
	       sk_infer_output(inference, 0, sk_value_is_float(from) ? from->dtype : SK_I64, rank, shape);
}

static bool canonical_sum(struct sk_canonical *canonical)
{
	const struct sk_inference inference = inference_of(canonical);
	const char *op = strcmp(inference.node->op, "MeanExt") ? "ReduceSum" : "ReduceMean";
	uint32_t to = sk_canonical_output(canonical, 0), set, rank;
	uint64_t shape[SK_MAX_RANK];

	return find_reduced(&inference, &set, &rank, shape) &&
	       sk_canonical_reduce(canonical, op,
				   sk_canonical_cast(canonical, sk_canonical_input(canonical, 0),
						     canonical->graph->values.items[to].dtype),
				   to, set);
}

/* ---- Slice, StridedSlice ---- */

/* The slice: the shape of the output, and the source of its elements. */
struct slice {
	struct sk_arrangement arrangement; /* over all dimensions, including those that are dropped from the output */
	uint32_t rank;
	uint64_t shape[2 * SK_MAX_RANK];
};

static void add_dimension(struct slice *slice, uint64_t count, int64_t stride, bool dropped)
{
	struct sk_arrangement *arrangement = &slice->arrangement;

	arrangement->shape[arrangement->rank] = count;
	arrangement->strides[arrangement->rank++] = stride;
	if (!dropped)
		slice->shape[slice->rank++] = count;
}

static bool find_slice(const struct sk_inference *inference, struct slice *slice)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	const int64_t *begin, *size;
	uint64_t begins, sizes;
	int64_t strides[SK_MAX_RANK];

	if (!sk_infer_integers(inference, 1, &begins, &begin) || !sk_infer_integers(inference, 2, &sizes, &size))
		return false;
	if (begins != from->rank || sizes != from->rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, but %llu beginning%s and %llu size%s",
				      from->name, from->rank, sk_plural(from->rank), (unsigned long long)begins,
				      sk_plural(begins), (unsigned long long)sizes, sk_plural(sizes));
	*slice = (struct slice){.rank = 0};
	sk_dense_strides(from->rank, from->shape, strides);
	for (uint32_t i = 0; i < from->rank; i++) {
		int64_t all = (int64_t)from->shape[i];

		if (begin[i] < 0 || begin[i] > all || size[i] < -1 || size[i] > all - begin[i])
			return sk_infer_error(inference, "%lld elements from %lld on are not in dimension %u of '%s'",
					      (long long)size[i], (long long)begin[i], i, from->name);
		slice->arrangement.offset += begin[i] * strides[i];
		add_dimension(slice, (uint64_t)(size[i] < 0 ? all - begin[i] : size[i]), strides[i], false);
	}
	return true;
}

struct strided {
	uint64_t count; /* of entries */
	const int64_t *begin, *end, *step; /* absent steps are 1 */
	int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
};

static bool read_strided(const struct sk_inference *inference, struct strided *strided)
{
	const struct sk_graph_node *node = inference->node;
	uint64_t ends, steps;

	if (!sk_infer_integers(inference, 1, &strided->count, &strided->begin) ||
	    !sk_infer_integers(inference, 2, &ends, &strided->end) ||
	    !sk_infer_integers(inference, 3, &steps, &strided->step))
		return false;
	if (strided->count != ends || (strided->step && steps != ends) || ends > 2 * SK_MAX_RANK)
		return sk_infer_error(inference, "it has %llu beginning%s, %llu end%s and %llu step%s",
				      (unsigned long long)strided->count, sk_plural(strided->count),
				      (unsigned long long)ends, sk_plural(ends), (unsigned long long)steps,
				      sk_plural(steps));
	strided->begin_mask = sk_node_integer(node, "begin_mask", 0);
	strided->end_mask = sk_node_integer(node, "end_mask", 0);
	strided->ellipsis_mask = sk_node_integer(node, "ellipsis_mask", 0);
	strided->new_axis_mask = sk_node_integer(node, "new_axis_mask", 0);
	strided->shrink_axis_mask = sk_node_integer(node, "shrink_axis_mask", 0);
	return true;
}

static int64_t clamped(int64_t place, int64_t size, bool backwards)
{
	int64_t least = backwards ? -1 : 0, most = backwards ? size - 1 : size;

	place += place < 0 ? size : 0;
	return place < least ? least : place > most ? most : place;
}

/* Apply one entry of the lists to a dimension of `size` elements. */
static bool take_strided(const struct sk_inference *inference, const struct strided *strided, uint32_t entry,
			 int64_t size, int64_t stride, struct slice *slice)
{
	int64_t step = strided->step ? strided->step[entry] : 1, begin = strided->begin[entry];
	int64_t end = strided->end[entry], count;
	bool backwards = step < 0;

	if (strided->shrink_axis_mask >> entry & 1) { /* one element, and no dimension */
		begin += begin < 0 ? size : 0;
		if (begin < 0 || begin >= size)
			return sk_infer_error(inference, "element %lld of %lld is not there",
					      (long long)strided->begin[entry], (long long)size);
		slice->arrangement.offset += begin * stride;
		add_dimension(slice, 1, stride, true);
		return true;
	}
	if (!step || step == INT64_MIN)
		return sk_infer_error(inference, "step %lld leads nowhere", (long long)step);
	begin = strided->begin_mask >> entry & 1 ? (backwards ? size - 1 : 0) : clamped(begin, size, backwards);
	end = strided->end_mask >> entry & 1 ? (backwards ? -1 : size) : clamped(end, size, backwards);
	count = backwards ? (begin > end ? (begin - end - 1) / -step + 1 : 0)
			  : (end > begin ? (end - begin - 1) / step + 1 : 0);
	slice->arrangement.offset += count ? begin * stride : 0;
	add_dimension(slice, (uint64_t)count, count > 1 ? step * stride : stride, false);
	return true;
}

static bool find_strided(const struct sk_inference *inference, struct slice *slice)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t strides[SK_MAX_RANK];
	uint32_t axis = 0, named = 0;
	struct strided strided;

	if (!read_strided(inference, &strided))
		return false;
	for (uint32_t i = 0; i < strided.count; i++)
		named += !(strided.ellipsis_mask >> i & 1) && !(strided.new_axis_mask >> i & 1);
	if (named > from->rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and %u are named", from->name, from->rank,
				      sk_plural(from->rank), named);
	if (strided.count - named + from->rank > 2 * SK_MAX_RANK)
		return sk_infer_error(inference, "it adds %llu dimensions, and a tensor has %d at most",
				      (unsigned long long)(strided.count - named), SK_MAX_RANK);
	*slice = (struct slice){.rank = 0};
	sk_dense_strides(from->rank, from->shape, strides);
	for (uint32_t i = 0; i < strided.count; i++) {
		if (strided.ellipsis_mask >> i & 1)
			for (; named < from->rank; named++, axis++) /* an ellipsis: all dimensions without an entry */
				add_dimension(slice, from->shape[axis], strides[axis], false);
		else if (strided.new_axis_mask >> i & 1)
			add_dimension(slice, 1, 0, false);
		else if (!take_strided(inference, &strided, i, (int64_t)from->shape[axis], strides[axis], slice))
			return false;
		else
			axis++;
	}
	for (; axis < from->rank; axis++)
		add_dimension(slice, from->shape[axis], strides[axis], false);
	return true;
}

static bool find_any_slice(const struct sk_inference *inference, struct slice *slice)
{
	return strcmp(inference->node->op, "Slice") ? find_strided(inference, slice) : find_slice(inference, slice);
}

/* Lists may be attributes. */
static bool upgrade_slice(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	static const char *const lists[] = {"begin", "end", "size", "strides"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		sk_node_take_integers(graph, node, lists[i]);
	return true;
}

static bool infer_slice(struct sk_inference *inference)
{
	struct slice slice;

	return find_any_slice(inference, &slice) &&
	       sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, slice.rank, slice.shape);
}

static bool canonical_slice(struct sk_canonical *canonical)
{
	const struct sk_inference inference = inference_of(canonical);
	struct slice slice;

	return find_any_slice(&inference, &slice) &&
	       sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0)),
				    sk_canonical_input(canonical, 0), &slice.arrangement);
}

/* ---- Transpose: its permutation is an input, or an attribute ---- */

static bool find_permutation(const struct sk_inference *inference, const int64_t **permutation)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t given;
	uint32_t seen = 0, axis;
	size_t count;

	if (!sk_infer_integers(inference, 1, &given, permutation))
		return false;
	count = given;
	if (!*permutation)
		*permutation = sk_node_integers(inference->node, "perm", &count);
	for (size_t i = 0; i < count && count == from->rank; i++) {
		if (!sk_infer_axis(inference, (*permutation)[i], from->rank, &axis))
			return false;
		seen |= 1U << axis;
	}
	return (count == from->rank && seen == (1U << from->rank) - 1) ||
	       sk_infer_error(inference, "its permutation is none of the %u axes of '%s'", from->rank, from->name);
}

static uint32_t counted(int64_t axis, uint32_t rank)
{
	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static bool infer_transpose(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	const int64_t *permutation;

	if (!find_permutation(inference, &permutation))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		shape[i] = from->shape[counted(permutation[i], from->rank)];
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

static bool canonical_transpose(struct sk_canonical *canonical)
{
	const struct sk_inference inference = inference_of(canonical);
	const struct sk_value *from = sk_infer_input(&inference, 0);
	struct sk_arrangement arrangement = {.rank = from->rank};
	int64_t strides[SK_MAX_RANK];
	const int64_t *permutation;

	if (!find_permutation(&inference, &permutation))
		return false;
	sk_dense_strides(from->rank, from->shape, strides);
	for (uint32_t i = 0; i < from->rank; i++) {
		arrangement.shape[i] = from->shape[counted(permutation[i], from->rank)];
		arrangement.strides[i] = strides[counted(permutation[i], from->rank)];
	}
	return sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0)),
				    sk_canonical_input(canonical, 0), &arrangement);
}

/* ---- RepeatInterleaveInt: each element several times, along an axis, or of the flattened input ---- */

static bool find_repeats(const struct sk_inference *inference, uint64_t shape[3], uint64_t *repeats, uint32_t *axis)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	bool flat = !sk_infer_input(inference, 2) && !sk_node_attribute(inference->node, "dim");
	int64_t times, dim;
	uint64_t all;

	if (!sk_infer_integer(inference, 1, sk_node_integer(inference->node, "repeats", -1), &times) ||
	    !sk_infer_integer(inference, 2, sk_node_integer(inference->node, "dim", 0), &dim))
		return false;
	if (times < 0)
		return sk_infer_error(inference, "it repeats %lld times", (long long)times);
	*repeats = (uint64_t)times;
	*axis = 0;
	shape[0] = shape[2] = 1;
	shape[1] = sk_value_elements(from);
	if (!flat && !sk_infer_axis(inference, dim, from->rank, axis))
		return false;
	if (!flat) {
		shape[1] = 1;
		for (uint32_t i = 0; i < from->rank; i++)
			shape[i < *axis ? 0 : i == *axis ? 1 : 2] *= from->shape[i];
	}
	return sk_mul(shape[1], *repeats, &all) || sk_infer_error(inference, "the output has too many elements");
}

static bool infer_repeats(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	bool flat = !sk_infer_input(inference, 2) && !sk_node_attribute(inference->node, "dim");
	uint64_t parts[3], repeats, shape[SK_MAX_RANK];
	uint32_t axis;

	if (!find_repeats(inference, parts, &repeats, &axis))
		return false;
	memcpy(shape, from->shape, sizeof(shape));
	shape[axis] = parts[1] * repeats;
	return sk_infer_output(inference, 0, from->dtype, flat ? 1 : from->rank, shape);
}

static bool canonical_repeats(struct sk_canonical *canonical)
{
	const struct sk_inference inference = inference_of(canonical);
	uint64_t shape[3], repeats;
	uint32_t axis;

	if (!find_repeats(&inference, shape, &repeats, &axis))
		return false;

	const struct sk_arrangement arrangement = {
		.rank = 4,
		.shape = {shape[0], shape[1], repeats, shape[2]},
		.strides = {(int64_t)(shape[1] * shape[2]), (int64_t)shape[2], 0, 1},
	};

	return sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0)),
				    sk_canonical_input(canonical, 0), &arrangement);
}

/* ---- OneHot: an index that is not a class, such as a negative one, gives only `off` ---- */

static bool find_one_hot(const struct sk_inference *inference, uint32_t *axis, uint64_t *shape)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t depth;

	if (!sk_infer_integer(inference, 1, sk_node_integer(inference->node, "depth", -1), &depth) ||
	    !sk_infer_axis(inference, sk_node_integer(inference->node, "axis", -1), from->rank + 1, axis))
		return false;
	if (depth < 0 || from->rank == SK_MAX_RANK)
		return sk_infer_error(inference, "there are %lld classes, and '%s' has %u dimension%s",
				      (long long)depth, from->name, from->rank, sk_plural(from->rank));
	for (uint32_t i = 0; i <= from->rank; i++)
		shape[i] = i == *axis ? (uint64_t)depth : from->shape[i - (i > *axis)];
	return true;
}

static bool infer_one_hot(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0), *on = sk_infer_input(inference, 2);
	const struct sk_value *off = sk_infer_input(inference, 3);
	uint64_t shape[SK_MAX_RANK + 1];
	uint32_t axis;

	if (from->dtype != SK_I32 && from->dtype != SK_I64 && from->dtype != SK_U8)
		return sk_infer_error(inference, "'%s' is %s, not i32, i64 or u8", from->name,
				      sk_dtype_name(from->dtype));
	if (on->dtype != off->dtype || sk_value_elements(on) != 1 || sk_value_elements(off) != 1)
		return sk_infer_error(inference, "'%s' and '%s' are not one number of one type each", on->name,
				      off->name);
	return find_one_hot(inference, &axis, shape) && sk_infer_output(inference, 0, on->dtype, from->rank + 1, shape);
}

static uint32_t reshaped(struct sk_canonical *canonical, uint32_t of, uint32_t rank, const uint64_t *shape)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t value =
		sk_graph_new_value(graph, graph->values.items[of].name, graph->values.items[of].dtype, rank, shape);

	sk_canonical_view(canonical, value, of, 0);
	return value;
}

static bool canonical_one_hot(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = inference_of(canonical);
	const struct sk_value from = *sk_infer_input(&inference, 0);
	uint64_t shape[SK_MAX_RANK + 1], indices[SK_MAX_RANK], classes[SK_MAX_RANK];
	uint32_t values[3], places, range, axis, rank = from.rank + 1;
	struct sk_graph_call *call;

	if (!find_one_hot(&inference, &axis, shape))
		return false;
	for (uint32_t i = 0; i < rank; i++) {
		indices[i] = i == axis ? 1 : shape[i];
		classes[i] = i == axis ? shape[i] : 1;
	}
	range = sk_graph_new_value(graph, "classes", SK_I64, rank, classes);
	call = sk_canonical_call(canonical, "Range");
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_number(canonical, SK_I64, 0)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_number(canonical, SK_I64, 1)));
	sk_call_output(canonical, call, sk_operand_flat(graph, range));
	places = sk_canonical_cast(canonical, sk_canonical_input(canonical, 0), SK_I64);
	values[0] = sk_graph_new_value(graph, from.name, SK_BOOL, rank, shape);
	if (!sk_canonical_binary(canonical, "Equal", reshaped(canonical, places, rank, indices), range, values[0],
				 true))
		return false;
	for (size_t i = 1; i < 3; i++)
		values[i] = reshaped(canonical, sk_canonical_input(canonical, 1 + i), 0, NULL);
	return sk_canonical_broadcast(canonical, "Where", values, 3, sk_canonical_output(canonical, 0));
}

/* ---- the table ---- */

#define INTEGER(NAME)                                                                                                  \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER                                                                             \
	}

static bool upgrade_axis(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_make_list(graph, node, "axis");
	return true;
}

static const struct sk_schema_attribute arg[] = {INTEGER("axis"), INTEGER("output_type"), {NULL}};
static const struct sk_schema_attribute arg_value[] = {INTEGER("axis"), INTEGER("keep_dims"), {NULL}};
static const struct sk_schema_attribute sum[] = {{"axis", SK_ATTRIBUTE_INTEGERS}, INTEGER("keepdims"), {NULL}};
static const struct sk_schema_attribute masks[] = {INTEGER("begin_mask"),	INTEGER("end_mask"),
						   INTEGER("ellipsis_mask"),	INTEGER("new_axis_mask"),
						   INTEGER("shrink_axis_mask"), {NULL}};
static const struct sk_schema_attribute repeats[] = {INTEGER("repeats"), INTEGER("dim"), {NULL}};
static const struct sk_schema_attribute one_hot[] = {INTEGER("axis"), INTEGER("depth"), {NULL}};
static const struct sk_schema_attribute perm[] = {{"perm", SK_ATTRIBUTE_INTEGERS}, {NULL}};

#define ARG(NAME, OUTPUTS, ATTRIBUTES)                                                                                 \
	{                                                                                                              \
		NAME, SK_OWN_DOMAIN, 1, 1, 1, OUTPUTS, .attributes = ATTRIBUTES, .infer = infer_arg,                   \
						       .canonical = canonical_arg                                      \
	}
#define SUM(NAME)                                                                                                      \
	{                                                                                                              \
		NAME, SK_OWN_DOMAIN, 1, 3, 1, 1, .demands = 3 << 1, .attributes = sum, .upgrade = upgrade_axis,        \
						 .infer = infer_sum, .canonical = canonical_sum                        \
	}

const struct sk_schema sk_operators_primitives[] = {
	ARG("ArgMax", 1, arg),
	ARG("ArgMaxWithValue", 2, arg_value),
	ARG("ArgMinWithValue", 2, arg_value),
	ARG("Argmin", 1, arg),
	{"EqualCount", SK_OWN_DOMAIN, 2, 2, 1, 1, .infer = infer_equal_count, .canonical = canonical_equal_count},
	SUM("MeanExt"),
	{"OneHot", SK_OWN_DOMAIN, 4, 4, 1, 1, .demands = 1 << 1, .attributes = one_hot, .infer = infer_one_hot,
	 .canonical = canonical_one_hot},
	{"RepeatInterleaveInt", SK_OWN_DOMAIN, 1, 3, 1, 1, .demands = 3 << 1, .attributes = repeats,
	 .infer = infer_repeats, .canonical = canonical_repeats},
	{"Slice", SK_OWN_DOMAIN, 3, 3, 1, 1, .demands = 3 << 1, .upgrade = upgrade_slice, .infer = infer_slice,
	 .canonical = canonical_slice},
	{"SquareSumAll", SK_OWN_DOMAIN, 2, 2, 1, 2, .infer = infer_square_sums, .canonical = canonical_square_sums},
	{"StridedSlice", SK_OWN_DOMAIN, 3, 4, 1, 1, .demands = 7 << 1, .attributes = masks, .upgrade = upgrade_slice,
	 .infer = infer_slice, .canonical = canonical_slice},
	SUM("SumExt"),
	{"Transpose", SK_OWN_DOMAIN, 1, 2, 1, 1, .demands = 1 << 1, .attributes = perm, .infer = infer_transpose,
	 .canonical = canonical_transpose},
	{NULL},
};
