/* Operators that change the shape of a tensor, and operators that only depend on shapes. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* ---- the same elements in another shape ---- */

/* Make the output a view: a call is added only if both need bytes of their own. */
static bool canonical_view(struct sk_canonical *canonical)
{
	sk_canonical_view(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0), 0);
	return true;
}

static bool infer_identity(struct sk_inference *inference)
{
	return sk_infer_like(inference, 0, 0);
}

/* A format is a property of an NPU's memory: torch_npu's functions count a tensor's elements in its axes whatever the
 * format is, so that all elements stay. */
static bool infer_format_cast(struct sk_inference *inference)
{
	static const int64_t formats[] = {0, 1, 2, 3, 4, 16, 27, 29, 30, 32, 33, 35, 47}; /* of aclFormat */
	int64_t format = sk_node_integer(inference->node, "acl_format", 0);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i] == format)
			return sk_infer_like(inference, 0, 0);
	return sk_infer_error(inference, "acl_format %" PRIi64 " is not a format, such as 2 (ND) or 29 (FRACTAL_NZ)",
			      format);
}

/* Compute the one dimension that follows from the number of elements. */
static bool fill_rest(const struct sk_inference *inference, uint32_t rank, uint64_t *shape, uint32_t rest)
{
	uint64_t elements = sk_value_elements(sk_infer_input(inference, 0)), others = 1;

	for (uint32_t i = 0; i < rank; i++)
		if (i != rest && !sk_mul(others, shape[i], &others))
			return sk_infer_error(inference, "the shape has too many elements");
	if (rest != SK_NONE) {
		shape[rest] = others ? elements / others : 0;
		others *= shape[rest];
	}
	return others == elements ||
	       sk_infer_error(inference, "the shape does not have the %llu element%s of '%s'",
			      (unsigned long long)elements, sk_plural(elements), sk_infer_input(inference, 0)->name);
}

static bool infer_reshape(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	bool zero_is_zero = sk_node_integer(inference->node, "allowzero", 0);
	uint64_t shape[SK_MAX_RANK], rank;
	uint32_t rest = SK_NONE;
	const int64_t *wanted;

	if (!sk_infer_integers(inference, 1, &rank, &wanted))
		return false;
	if (rank > SK_MAX_RANK)
		return sk_infer_error(inference, "the shape has %llu dimensions, and a tensor has %d at most",
				      (unsigned long long)rank, SK_MAX_RANK);
	for (uint32_t i = 0; i < rank; i++) {
		if (wanted[i] < -1 || (wanted[i] == -1 && rest != SK_NONE) ||
		    (!wanted[i] && !zero_is_zero && i >= from->rank))
			return sk_infer_error(inference, "dimension %u of the shape cannot be %lld", i,
					      (long long)wanted[i]);
		if (wanted[i] == -1)
			rest = i;
		shape[i] = wanted[i] || zero_is_zero ? (uint64_t)wanted[i] : from->shape[i];
	}
	return fill_rest(inference, (uint32_t)rank, shape, rest) &&
	       sk_infer_output(inference, 0, from->dtype, (uint32_t)rank, shape);
}

/* The shape was an attribute before operator set 5. */
static bool upgrade_reshape(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_remove_attribute(node, "consumed_inputs");
	sk_node_take_integers(graph, node, "shape");
	return true;
}

/* ---- Flatten, Squeeze, Unsqueeze ---- */

static bool infer_flatten(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t axis = sk_node_integer(inference->node, "axis", 1);
	uint64_t shape[2] = {1, 1};

	if (axis < -(int64_t)from->rank || axis > (int64_t)from->rank)
		return sk_infer_error(inference, "'%s' has no axis %lld", from->name, (long long)axis);
	axis += axis < 0 ? from->rank : 0;
	for (uint32_t i = 0; i < from->rank; i++)
		shape[i >= axis] *= from->shape[i];
	return sk_infer_output(inference, 0, from->dtype, 2, shape);
}

/* Turn axes, an attribute before operator set 13, into an input. */
static bool upgrade_axes(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_make_list(graph, node, "axes"); /* other operators have one axis as a number */
	sk_node_take_integers(graph, node, "axes");
	return true;
}

/* Set bit i if axis i of a tensor of that rank is among the axes. Each may occur once. */
static bool read_axes(const struct sk_inference *inference, size_t input, uint32_t rank, uint32_t *set)
{
	const int64_t *axes;
	uint64_t count;
	uint32_t axis;

	*set = 0;
	if (!sk_infer_integers(inference, input, &count, &axes))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!sk_infer_axis(inference, axes[i], rank, &axis))
			return false;
		if (*set >> axis & 1)
			return sk_infer_error(inference, "axis %lld is given twice", (long long)axes[i]);
		*set |= 1U << axis;
	}
	return true;
}

static bool infer_squeeze(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	uint32_t set, rank = 0;

	if (!read_axes(inference, 1, from->rank, &set))
		return false;
	for (uint32_t i = 0; i < from->rank; i++) {
		bool taken = sk_infer_input(inference, 1) ? set >> i & 1 : from->shape[i] == 1;

		if (taken && from->shape[i] != 1)
			return sk_infer_error(inference, "axis %u of '%s' has %llu elements, not one", i, from->name,
					      (unsigned long long)from->shape[i]);
		if (!taken)
			shape[rank++] = from->shape[i];
	}
	return sk_infer_output(inference, 0, from->dtype, rank, shape);
}

static bool infer_unsqueeze(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	const int64_t *axes;
	uint64_t shape[SK_MAX_RANK], added;
	uint32_t set, next = 0;

	if (!sk_infer_integers(inference, 1, &added, &axes))
		return false;
	if (from->rank + added > SK_MAX_RANK)
		return sk_infer_error(inference, "a tensor has at most %d dimensions", SK_MAX_RANK);
	if (!read_axes(inference, 1, from->rank + (uint32_t)added, &set))
		return false;
	for (uint32_t i = 0; i < from->rank + added; i++)
		shape[i] = set >> i & 1 ? 1 : from->shape[next++];
	return sk_infer_output(inference, 0, from->dtype, from->rank + (uint32_t)added, shape);
}

/* ---- results known from shapes ---- */

static bool infer_shape(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t rank = from->rank, start = sk_node_integer(inference->node, "start", 0);
	int64_t end = sk_node_integer(inference->node, "end", rank), shape[SK_MAX_RANK];
	uint64_t count;

	start += start < 0 ? rank : 0;
	end += end < 0 ? rank : 0;
	start = start < 0 ? 0 : start > rank ? rank : start;
	end = end < start ? start : end > rank ? rank : end;
	count = (uint64_t)(end - start);
	for (int64_t i = start; i < end; i++)
		shape[i - start] = (int64_t)from->shape[i];
	return sk_infer_constant(inference, 0, SK_I64, 1, &count, shape);
}

static bool infer_size(struct sk_inference *inference)
{
	int64_t size = (int64_t)sk_value_elements(sk_infer_input(inference, 0));

	return sk_infer_constant(inference, 0, SK_I64, 0, NULL, &size);
}

static bool is_zero(const struct sk_value *value, uint64_t i)
{
	size_t size = sk_dtype_size(value->dtype);
	uint64_t bits = 0;

	memcpy(&bits, (const char *)sk_value_known(value) + i * size, size);
	if (sk_value_is_float(value)) /* also -0 */
		bits <<= 65 - 8 * size;
	return !bits;
}

/* Return the indices of the elements other than 0, for constants only: otherwise the shape would be known too late. */
static bool infer_nonzero(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t elements = sk_value_elements(from), found = 0, shape[2] = {from->rank ? from->rank : 1, 0};
	int64_t *places;

	for (uint64_t i = 0; i < elements; i++)
		shape[1] += !is_zero(from, i);
	places = SK_NEW_ARRAY(inference->graph->arena, int64_t, shape[0] * shape[1] + 1);
	for (uint64_t i = 0; i < elements; i++) {
		uint64_t rest = i;

		if (is_zero(from, i))
			continue;
		for (uint32_t d = from->rank; d--; rest /= from->shape[d])
			places[d * shape[1] + found] = (int64_t)(rest % from->shape[d]);
		found++;
	}
	return sk_infer_constant(inference, 0, SK_I64, 2, shape, places);
}

static bool infer_constant_reals(struct sk_inference *inference, const struct sk_attribute *attribute)
{
	uint64_t count = attribute->kind == SK_ATTRIBUTE_REAL ? 1 : attribute->count;
	float *numbers = SK_NEW_ARRAY(inference->graph->arena, float, count + 1);

	for (uint64_t i = 0; i < count; i++)
		numbers[i] = (float)(attribute->kind == SK_ATTRIBUTE_REAL ? attribute->real : attribute->reals[i]);
	return sk_infer_constant(inference, 0, SK_F32, attribute->kind == SK_ATTRIBUTE_REALS, &count, numbers);
}

static bool infer_constant(struct sk_inference *inference)
{
	const struct sk_graph_node *node = inference->node;
	const struct sk_attribute *attribute = node->attributes.count ? &node->attributes.items[0] : NULL;
	const struct sk_value *value =
		node->tensors.count ? &inference->graph->values.items[node->tensors.items[0].value] : NULL;

	if (value)
		return sk_infer_constant(inference, 0, value->dtype, value->rank, value->shape, value->contents);
	if (!attribute)
		return sk_infer_error(inference, "it says no value");
	if (attribute->kind == SK_ATTRIBUTE_INTEGER)
		return sk_infer_constant(inference, 0, SK_I64, 0, NULL, &attribute->integer);
	if (attribute->kind == SK_ATTRIBUTE_INTEGERS)
		return sk_infer_constant(inference, 0, SK_I64, 1, &(uint64_t){attribute->count}, attribute->integers);
	if (attribute->kind == SK_ATTRIBUTE_REAL || attribute->kind == SK_ATTRIBUTE_REALS)
		return infer_constant_reals(inference, attribute);
	return sk_infer_error(inference, "there are no tensors of texts here");
}

/* Values computed during inference are constants, so they need no call. */
static bool canonical_nothing(struct sk_canonical *canonical)
{
	return sk_canonical_error(canonical, "internal error: its output is not a constant");
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute allow_zero[] = {INTEGER("allowzero", 0), {NULL}};
static const struct sk_schema_attribute format[] = {{"acl_format", SK_ATTRIBUTE_INTEGER, .required = true}, {NULL}};
static const struct sk_schema_attribute axis_1[] = {INTEGER("axis", 1), {NULL}};
static const struct sk_schema_attribute start_end[] = {INTEGER("start", 0), INTEGER("end", 0), {NULL}};
static const struct sk_schema_attribute constant[] = {{"value_int", SK_ATTRIBUTE_INTEGER},
						      {"value_ints", SK_ATTRIBUTE_INTEGERS},
						      {"value_float", SK_ATTRIBUTE_REAL},
						      {"value_floats", SK_ATTRIBUTE_REALS},
						      {"value_string", SK_ATTRIBUTE_STRING},
						      {"value_strings", SK_ATTRIBUTE_STRINGS},
						      {NULL}};

const struct sk_schema sk_operators_shapes[] = {
	{"Constant", "", 0, 0, 1, 1, .attributes = constant, .infer = infer_constant, .canonical = canonical_nothing},
	{"Flatten", "", 1, 1, 1, 1, .attributes = axis_1, .infer = infer_flatten, .canonical = canonical_view},
	{"FormatCast", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = format, .infer = infer_format_cast,
	 .canonical = canonical_view},
	{"Identity", "", 1, 1, 1, 1, .sequences = true, .infer = infer_identity, .canonical = canonical_view},
	{"NonZero", "", 1, 1, 1, 1, .demands = 1, .infer = infer_nonzero, .canonical = canonical_nothing},
	{"Reshape", "", 2, 2, 1, 1, .demands = 1 << 1, .attributes = allow_zero, .upgrade = upgrade_reshape,
	 .infer = infer_reshape, .canonical = canonical_view},
	{"Shape", "", 1, 1, 1, 1, .attributes = start_end, .infer = infer_shape, .canonical = canonical_nothing},
	{"Size", "", 1, 1, 1, 1, .infer = infer_size, .canonical = canonical_nothing},
	{"Squeeze", "", 1, 2, 1, 1, .demands = 1 << 1, .upgrade = upgrade_axes, .infer = infer_squeeze,
	 .canonical = canonical_view},
	{"Unsqueeze", "", 2, 2, 1, 1, .demands = 1 << 1, .upgrade = upgrade_axes, .infer = infer_unsqueeze,
	 .canonical = canonical_view},
	{NULL},
};
