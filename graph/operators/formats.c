/* TransData: a tensor in another storage format of an NPU (graph/formats.c). Int4ToInt8, Int8ToInt4: numbers of four
 * bits, which are stored as bytes of two each, the first one in the low bits. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* The two forms of a tensor. `axes` has the axis of `from` for each one of `to`. */
struct transfer {
	struct sk_stored_form from, to;
	uint32_t axes[SK_MAX_RANK];
};

/* ---- reading ---- */

static bool read_form(const struct sk_inference *inference, struct sk_stored_form *form)
{
	if (sk_format_read(form))
		return true;
	return sk_infer_error(inference, "there is no %s", sk_format_text(inference->graph->arena, form));
}

/* Read a list of sizes. */
static bool read_shape(const struct sk_inference *inference, const char *name, uint32_t *rank, uint64_t *shape)
{
	size_t count;
	const int64_t *sizes = sk_node_integers(inference->node, name, &count);

	if (count > SK_MAX_RANK)
		return sk_infer_error(inference, "'%s' has %zu dimensions, and a tensor has %d at most", name, count,
				      SK_MAX_RANK);
	for (size_t i = 0; i < count; i++) {
		if (sizes[i] < 0)
			return sk_infer_error(inference, "dimension %zu of '%s' cannot be %lld", i, name,
					      (long long)sizes[i]);
		shape[i] = (uint64_t)sizes[i];
	}
	*rank = (uint32_t)count;
	return true;
}

/* Find the axes of `to`, and their sizes. */
static bool match_axes(const struct sk_inference *inference, struct transfer *transfer)
{
	struct sk_stored_form *from = &transfer->from, *to = &transfer->to;

	to->origin_rank = from->origin_rank;
	for (uint32_t axis = 0; axis < to->origin_rank; axis++) {
		if (!sk_format_axis(to->origin, from->origin, to->origin_rank, axis, &transfer->axes[axis]))
			return sk_infer_error(inference, "axis %c of %s is none of %s", to->origin[axis], to->origin,
					      from->origin);
		to->origin_shape[axis] = from->origin_shape[transfer->axes[axis]];
	}
	return true;
}

static bool read_transfer(const struct sk_inference *inference, struct transfer *transfer)
{
	const struct sk_value *value = sk_infer_input(inference, 0);
	struct sk_stored_form *from = &transfer->from, *to = &transfer->to;

	*transfer = (struct transfer){.from.rank = value->rank};
	memcpy(from->shape, value->shape, sizeof(from->shape));
	from->format = sk_node_string(inference->node, "src_format", "ND");
	from->origin = sk_node_string(inference->node, "src_origin", "ND");
	to->format = sk_node_string(inference->node, "dst_format", "ND");
	to->origin = sk_node_string(inference->node, "dst_origin", "ND");
	return read_shape(inference, "origin_shape", &from->origin_rank, from->origin_shape) &&
	       read_shape(inference, "dst_shape", &to->rank, to->shape) && match_axes(inference, transfer) &&
	       read_form(inference, from) && read_form(inference, to);
}

static bool infer_trans_data(struct sk_inference *inference)
{
	int64_t number = sk_node_integer(inference->node, "to", 0);
	enum sk_dtype dtype = number ? sk_dtype_of_number(number) : sk_infer_input(inference, 0)->dtype;
	struct transfer transfer;

	if (dtype == SK_DTYPE_NONE)
		return sk_infer_error(inference, "there are no tensors of element type %lld here", (long long)number);
	return read_transfer(inference, &transfer) &&
	       sk_infer_output(inference, 0, dtype, transfer.to.rank, transfer.to.shape);
}

/* ---- calls ---- */

static int64_t part_stride(const struct sk_stored_form *form, uint32_t number)
{
	int64_t stride = 1;

	for (uint32_t i = number + 1; i < form->count; i++)
		stride *= (int64_t)form->parts[i].size;
	return stride;
}

/* The parts of an axis: its blocks, with the elements in one of them; or one part that is all of it. */
struct axis_parts {
	uint64_t block;
	int64_t outer, inner; /* strides of a block and of an element */
};

static struct axis_parts find_axis(const struct sk_stored_form *form, uint32_t axis)
{
	struct axis_parts found = {.block = 1};

	for (uint32_t i = 0; i < form->count; i++) {
		if (form->parts[i].axis != axis)
			continue;
		if (form->parts[i].step > 1 || !found.outer) {
			found.block = form->parts[i].step;
			found.outer = part_stride(form, i);
		}
		if (form->parts[i].step == 1)
			found.inner = part_stride(form, i);
	}
	return found;
}

static void add_dimension(struct sk_arrangement *arrangement, uint64_t size, int64_t stride)
{
	arrangement->shape[arrangement->rank] = size;
	arrangement->strides[arrangement->rank++] = stride;
}

/* Add the dimensions that go along a part of the target through an axis of the source. False: there are none. */
static bool add_part(struct sk_arrangement *arrangement, const struct axis_parts *source, uint64_t size, uint64_t step)
{
	uint64_t block = source->block;

	if (step % block == 0) {
		add_dimension(arrangement, size, source->outer * (int64_t)(step / block));
	} else if (block % step == 0 && block % (size * step) == 0) {
		add_dimension(arrangement, size, source->inner * (int64_t)step);
	} else if (block % step == 0 && size * step % block == 0) {
		add_dimension(arrangement, size * step / block, source->outer);
		add_dimension(arrangement, block / step, source->inner * (int64_t)step);
	} else {
		return false;
	}
	return true;
}

/* Find the way of a copy from one form to another without padding. */
static bool arrange_parts(const struct sk_stored_form *from, const struct sk_stored_form *to, const uint32_t *axes,
			  struct sk_arrangement *arrangement)
{
	*arrangement = (struct sk_arrangement){0};
	for (uint32_t i = 0; i < to->count; i++) {
		const struct axis_parts source = find_axis(from, axes[to->parts[i].axis]);

		if (!add_part(arrangement, &source, to->parts[i].size, to->parts[i].step))
			return false;
	}
	return true;
}

static bool is_padded(const struct sk_stored_form *form)
{
	bool padded = false;

	for (uint32_t axis = 0; axis < form->origin_rank; axis++)
		padded |= sk_format_padded(form, axis) != form->origin_shape[axis];
	return padded;
}

/* Return the form of a tensor with the axes of `form` in their order, and the padding that it has. */
static struct sk_stored_form dense_form(const struct sk_stored_form *form)
{
	struct sk_stored_form dense = {.format = "ND", .origin = form->origin, .origin_rank = form->origin_rank};

	dense.rank = dense.count = form->origin_rank;
	for (uint32_t axis = 0; axis < dense.rank; axis++) {
		uint64_t size = sk_format_padded(form, axis);

		dense.origin_shape[axis] = dense.shape[axis] = size;
		dense.parts[axis] = (struct sk_format_part){axis, size, 1};
	}
	return dense;
}

static const uint32_t same_axes[SK_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint32_t new_value(struct sk_canonical *canonical, uint32_t like, const struct sk_stored_form *form)
{
	const struct sk_value value = canonical->graph->values.items[like];

	return sk_graph_new_value(canonical->graph, value.name, value.dtype, form->rank, form->shape);
}

static bool arrange(struct sk_canonical *canonical, uint32_t to, uint32_t from,
		    const struct sk_arrangement *arrangement)
{
	return sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, to), from, arrangement);
}

/* Return the tensor with its axes in their order, without the source's padding and with that of the target. */
static uint32_t make_dense(struct sk_canonical *canonical, uint32_t value, const struct transfer *transfer,
			   struct sk_stored_form *dense)
{
	const struct sk_stored_form padded = dense_form(&transfer->from);
	struct sk_arrangement arrangement;
	uint32_t wide = new_value(canonical, value, &padded), cut;
	bool differs = false;

	if (!arrange_parts(&transfer->from, &padded, same_axes, &arrangement) ||
	    !arrange(canonical, wide, value, &arrangement))
		return SK_NONE;
	*dense = padded;
	for (uint32_t axis = 0; axis < dense->rank; axis++) {
		uint64_t size = sk_format_padded(&transfer->to, axis);
		uint32_t from = transfer->axes[axis];

		dense->shape[from] = dense->origin_shape[from] = dense->parts[from].size = size;
	}
	for (uint32_t axis = 0; axis < dense->rank; axis++)
		differs |= dense->shape[axis] != transfer->from.origin_shape[axis] ||
			   padded.shape[axis] != transfer->from.origin_shape[axis];
	if (!differs)
		return wide;
	cut = new_value(canonical, value, dense);
	return sk_canonical_pad(canonical, cut, wide, transfer->from.origin_shape) ? cut : SK_NONE;
}

static bool canonical_trans_data(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t value = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	struct sk_arrangement arrangement;
	struct transfer transfer;
	struct sk_stored_form dense;

	if (!read_transfer(&inference, &transfer))
		return false;
	value = sk_canonical_cast(canonical, value, graph->values.items[to].dtype);
	dense = transfer.from;
	if ((is_padded(&transfer.from) || is_padded(&transfer.to) ||
	     !arrange_parts(&transfer.from, &transfer.to, transfer.axes, &arrangement))) {
		value = make_dense(canonical, value, &transfer, &dense);
		if (value == SK_NONE || !arrange_parts(&dense, &transfer.to, transfer.axes, &arrangement))
			return false;
	}
	return arrange(canonical, to, value, &arrangement);
}

/* ---- int4 ---- */

static bool infer_unpacked(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];

	if (from->dtype != SK_U8 || !from->rank)
		return sk_infer_error(inference, "'%s' does not have dimensions of bytes u8", from->name);
	memcpy(shape, from->shape, sizeof(shape));
	shape[from->rank - 1] *= 2;
	return sk_infer_output(inference, 0, SK_I8, from->rank, shape);
}

static bool infer_packed(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];

	if (from->dtype != SK_I8 || !from->rank || from->shape[from->rank - 1] % 2)
		return sk_infer_error(inference, "'%s' does not have rows of pairs of i8", from->name);
	memcpy(shape, from->shape, sizeof(shape));
	shape[from->rank - 1] /= 2;
	return sk_infer_output(inference, 0, SK_U8, from->rank, shape);
}

/* Return the result of a call on all elements of a value and a number. */
static uint32_t with_number(struct sk_canonical *canonical, const char *op, const char *direction, uint32_t value,
			    double number)
{
	const struct sk_value from = canonical->graph->values.items[value];
	uint32_t to = sk_graph_new_value(canonical->graph, from.name, from.dtype, from.rank, from.shape);

	sk_canonical_binary(canonical, op, value, sk_canonical_number(canonical, from.dtype, number), to, false);
	if (direction)
		sk_call_word(canonical, &canonical->calls->items[canonical->calls->count - 1], "direction", direction);
	return to;
}

/* Return every second element of `pairs`, from the first or the second one on. */
static struct sk_operand every_second(const struct sk_op_graph *graph, uint32_t pairs, uint64_t count, uint64_t first)
{
	struct sk_operand operand = sk_operand_moved(sk_operand_flat(graph, pairs));

	operand.rank = 2;
	operand.shape[0] = count;
	operand.shape[1] = 1;
	operand.stride = 2;
	operand.offset = first;
	return operand;
}

static bool canonical_unpacked(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	uint64_t count = sk_value_elements(&graph->values.items[from]), doubled = 2 * count;
	const struct sk_arrangement all = {.rank = 1, .shape = {count}, .strides = {1}};
	uint32_t low = with_number(canonical, "BitwiseAnd", NULL, from, 15);
	uint32_t high = with_number(canonical, "BitShift", "RIGHT", from, 4);
	uint32_t pairs = sk_graph_new_value(graph, "pairs", SK_U8, 1, &doubled), flipped, wide;

	if (!sk_canonical_arrange(canonical, every_second(graph, pairs, count, 0), low, &all) ||
	    !sk_canonical_arrange(canonical, every_second(graph, pairs, count, 1), high, &all))
		return false;
	/* 8 to 15 stand for -8 to -1. */
	flipped = sk_canonical_cast(canonical, with_number(canonical, "BitwiseXor", NULL, pairs, 8), SK_I8);
	wide = with_number(canonical, "Sub", NULL, flipped, 8);
	sk_canonical_view(canonical, to, wide, 0);
	return true;
}

static bool canonical_packed(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), halves[2], bits;
	uint64_t count = sk_value_elements(&graph->values.items[to]);

	bits = sk_canonical_cast(canonical, with_number(canonical, "BitwiseAnd", NULL, from, 15), SK_U8);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sk_arrangement half = {.rank = 1, .shape = {count}, .strides = {2}, .offset = i};

		halves[i] = sk_graph_new_value(graph, "half", SK_U8, 1, &count);
		if (!sk_canonical_arrange(canonical, sk_operand_flat(graph, halves[i]), bits, &half))
			return false;
	}
	halves[1] = with_number(canonical, "BitShift", "LEFT", halves[1], 4);
	bits = sk_graph_new_value(graph, "bytes", SK_U8, 1, &count);
	sk_canonical_binary(canonical, "BitwiseOr", halves[0], halves[1], bits, true);
	sk_canonical_view(canonical, to, bits, 0);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute attributes[] = {{"src_format", SK_ATTRIBUTE_STRING, true},
							{"dst_format", SK_ATTRIBUTE_STRING, true},
							{"src_origin", SK_ATTRIBUTE_STRING, .string = "ND"},
							{"dst_origin", SK_ATTRIBUTE_STRING, .string = "ND"},
							{"origin_shape", SK_ATTRIBUTE_INTEGERS, true},
							{"dst_shape", SK_ATTRIBUTE_INTEGERS, true},
							{"to", SK_ATTRIBUTE_INTEGER},
							{NULL}};

const struct sk_schema sk_operators_formats[] = {
	{"Int4ToInt8", SK_OWN_DOMAIN, 1, 1, 1, 1, .infer = infer_unpacked, .canonical = canonical_unpacked},
	{"Int8ToInt4", SK_OWN_DOMAIN, 1, 1, 1, 1, .infer = infer_packed, .canonical = canonical_packed},
	{"TransData", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = attributes, .infer = infer_trans_data,
	 .canonical = canonical_trans_data},
	{NULL},
};
