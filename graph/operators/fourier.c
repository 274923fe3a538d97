/* Discrete Fourier transforms: products with a constant matrix of cosines and sines. The cost is the length of a signal
 * times the number of frequencies, which is small for the short frames of speech models. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum { MOST_WEIGHTS = 1 << 24 }; /* of a matrix */
enum { SIGNAL, LENGTH, AXIS }; /* inputs of DFT */
enum { STEP = 1, WINDOW, FRAME }; /* of STFT */

/* Rows of `parts` (1: real, 2: complex) numbers each. The first `from` numbers are transformed as a signal of `length`,
 * padded with zeros, to `bins` results of `gives` numbers each. The inverse of half a spectrum (`half`) is real. */
struct transform {
	uint64_t from, length, bins, parts, gives;
	bool inverse, half;
};

/* Set the number of frequencies. */
static bool find_bins(const struct sk_inference *inference, bool onesided, struct transform *transform)
{
	uint64_t weights;

	transform->half = onesided && transform->inverse;
	transform->gives = transform->half ? 1 : 2;
	transform->bins = onesided && !transform->half ? transform->length / 2 + 1 : transform->length;
	if (transform->half && transform->from > transform->length / 2 + 1)
		transform->from = transform->length / 2 + 1;
	if (!sk_value_is_float(sk_infer_input(inference, SIGNAL)))
		return sk_infer_error(inference, "'%s' is not a signal of floats",
				      sk_infer_input(inference, SIGNAL)->name);
	if (onesided && (transform->parts == 2) != transform->inverse)
		return sk_infer_error(inference, "'onesided' is for signals of real numbers, and for the inverse of "
						 "complex ones");
	if (__builtin_mul_overflow(transform->from * transform->parts, 2 * transform->bins, &weights) ||
	    weights > MOST_WEIGHTS)
		return sk_infer_error(inference,
				      "a signal of %" PRIu64 " elements becomes %" PRIu64
				      " frequencies, which would take more than 2^24 weights",
				      transform->from, transform->bins);
	return true;
}

/* In half a spectrum each frequency also stands for its conjugate, except the first one, and that of half the length.
 */
static double share_of(const struct transform *transform, uint64_t n)
{
	double share = transform->inverse ? 1.0 / (double)transform->length : 1;

	return transform->half && n && 2 * n != transform->length ? 2 * share : share;
}

/* [from * parts, bins * gives] */
static uint32_t make_matrix(struct sk_op_graph *graph, enum sk_dtype dtype, const struct transform *transform)
{
	const uint64_t shape[2] = {transform->from * transform->parts, transform->bins * transform->gives};
	double turn = 2 * acos(-1);
	double *weights = SK_NEW_ARRAY(graph->arena, double, shape[0] * shape[1] + 1);

	for (uint64_t n = 0; n < transform->from; n++)
		for (uint64_t k = 0; k < transform->bins; k++) {
			double *real = weights + n * transform->parts * shape[1] + transform->gives * k;
			double scale = share_of(transform, n);
			double angle = turn * (double)(n * k % transform->length) / (double)transform->length;
			double cosine = scale * cos(angle), sine = (transform->inverse ? scale : -scale) * sin(angle);

			real[0] = cosine;
			if (transform->gives == 2)
				real[1] = sine;
			if (transform->parts == 2)
				real[shape[1]] = -sine;
			if (transform->parts == 2 && transform->gives == 2)
				real[shape[1] + 1] = cosine;
		}
	return sk_graph_new_constant(graph, "frequencies", dtype, 2, shape,
				     sk_elements_of_reals(graph->arena, dtype, shape[0] * shape[1], weights));
}

/* Transform rows [rows, from * parts] to [rows, bins * gives]. */
static uint32_t transformed(struct sk_canonical *canonical, uint32_t signal, uint64_t rows,
			    const struct transform *transform)
{
	struct sk_op_graph *graph = canonical->graph;
	enum sk_dtype dtype = graph->values.items[signal].dtype;
	uint32_t matrix = make_matrix(graph, dtype, transform);
	uint32_t to =
		sk_graph_new_value(graph, "spectrum", dtype, 2, (uint64_t[]){rows, transform->bins * transform->gives});

	sk_canonical_product(canonical, signal, matrix, to, 1, rows, transform->from * transform->parts,
			     transform->bins * transform->gives);
	return to;
}

/* ---- DFT ---- */

struct dft {
	struct transform transform;
	uint32_t axis;
	uint64_t given; /* elements along the axis; a shorter transform uses the first ones */
	uint64_t outer, inner; /* elements before and after the axis */
};

static bool read_dft(const struct sk_inference *inference, struct dft *dft)
{
	const struct sk_value *signal = sk_infer_input(inference, SIGNAL);
	bool inverse = sk_node_integer(inference->node, "inverse", 0) != 0;
	bool onesided = sk_node_integer(inference->node, "onesided", 0) != 0;
	int64_t length, axis;

	*dft = (struct dft){.outer = 1, .inner = 1};
	if (signal->rank < 2 || signal->shape[signal->rank - 1] < 1 || signal->shape[signal->rank - 1] > 2)
		return sk_infer_error(inference, "the last dimension of '%s' does not have 1 or 2 elements",
				      signal->name);
	if (!sk_infer_integer(inference, AXIS, -2, &axis) || !sk_infer_axis(inference, axis, signal->rank, &dft->axis))
		return false;
	length = (int64_t)signal->shape[dft->axis];
	if (!sk_infer_integer(inference, LENGTH, inverse && onesided ? 2 * (length - 1) : length, &length))
		return false;
	if (dft->axis == signal->rank - 1)
		return sk_infer_error(inference, "its axis is the last one, which has the parts of numbers");
	if (length < 1 || length > MOST_WEIGHTS)
		return sk_infer_error(inference, "a signal of %" PRIi64 " elements cannot be transformed", length);
	for (uint32_t i = 0; i < dft->axis; i++)
		dft->outer *= signal->shape[i];
	for (uint32_t i = dft->axis + 1; i < signal->rank - 1; i++)
		dft->inner *= signal->shape[i];
	dft->given = signal->shape[dft->axis];
	dft->transform.length = (uint64_t)length;
	dft->transform.from = dft->given < dft->transform.length ? dft->given : dft->transform.length;
	dft->transform.parts = signal->shape[signal->rank - 1];
	dft->transform.inverse = inverse;
	return find_bins(inference, onesided, &dft->transform);
}

static bool infer_dft(struct sk_inference *inference)
{
	const struct sk_value *signal = sk_infer_input(inference, SIGNAL);
	uint64_t shape[SK_MAX_RANK];
	struct dft dft;

	if (!read_dft(inference, &dft))
		return false;
	memcpy(shape, signal->shape, signal->rank * sizeof(*shape));
	shape[dft.axis] = dft.transform.bins;
	shape[signal->rank - 1] = dft.transform.gives;
	return sk_infer_output(inference, 0, signal->dtype, signal->rank, shape);
}

/* Turn [outer, n, inner, parts] into [outer, inner, n, parts], or back. `given` is the length of n in the input, `rows`
 * the number that is copied. */
static bool turn(struct sk_canonical *canonical, uint32_t to, uint32_t from, uint64_t outer, uint64_t given,
		 uint64_t rows, uint64_t columns, uint64_t parts)
{
	const struct sk_arrangement arrangement = {
		.rank = 4,
		.shape = {outer, columns, rows, parts},
		.strides = {(int64_t)(given * columns * parts), (int64_t)parts, (int64_t)(columns * parts), 1}};

	return sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, to), from, &arrangement);
}

/* Store the result, which may have a shorter type than the computation. */
static bool store(struct sk_canonical *canonical, uint32_t spectrum, const struct dft *dft)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), turned = to;
	const struct sk_value output = graph->values.items[to];
	enum sk_dtype dtype = graph->values.items[spectrum].dtype;

	if (dtype != output.dtype)
		turned = sk_graph_new_value(graph, output.name, dtype, output.rank, output.shape);
	if (!turn(canonical, turned, spectrum, dft->outer, dft->inner, dft->inner, dft->transform.bins,
		  dft->transform.gives))
		return false;
	if (turned != to)
		sk_canonical_store(canonical, to, turned);
	return true;
}

static bool canonical_dft(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t signal = sk_canonical_input(canonical, SIGNAL), rows;
	struct dft dft;

	if (!read_dft(&inference, &dft))
		return false;
	if (!dft.transform.from)
		return sk_canonical_fill(canonical, sk_canonical_output(canonical, 0), 0);
	signal = sk_canonical_cast(canonical, signal, sk_computed_dtype(graph->values.items[signal].dtype));
	rows = sk_graph_new_value(graph, "signal", graph->values.items[signal].dtype, 2,
				  (uint64_t[]){dft.outer * dft.inner, dft.transform.from * dft.transform.parts});
	if (!turn(canonical, rows, signal, dft.outer, dft.given, dft.transform.from, dft.inner, dft.transform.parts))
		return false;
	return store(canonical, transformed(canonical, rows, dft.outer * dft.inner, &dft.transform), &dft);
}

/* Before operator set 20 the axis was an attribute, with another default. */
static bool upgrade_dft(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	int64_t axis = sk_node_integer(node, "axis", 1);
	uint32_t value;

	if (node->version >= 20)
		return true;
	value = sk_graph_new_constant(graph, "axis", SK_I64, 0, NULL, &axis);
	while (node->inputs.count < AXIS)
		sk_array_push(graph->arena, &node->inputs, SK_NONE);
	sk_array_push(graph->arena, &node->inputs, value);
	node->version = 20;
	return sk_node_drop_attribute(graph, node, "axis", SK_ATTRIBUTE_INTEGER);
}

/* ---- STFT: a transform of each frame of a signal ---- */

struct stft {
	struct transform transform;
	uint64_t batches, length, step, frames;
};

static bool read_stft(const struct sk_inference *inference, struct stft *stft)
{
	const struct sk_value *signal = sk_infer_input(inference, SIGNAL), *window = sk_infer_input(inference, WINDOW);
	uint64_t parts = signal->rank == 3 ? signal->shape[2] : 1;
	int64_t step, frame;

	if (signal->rank < 2 || signal->rank > 3 || parts < 1 || parts > 2)
		return sk_infer_error(inference, "'%s' is not a signal of [batches, length, 1] or [batches, length, 2]",
				      signal->name);
	if (window && (window->rank != 1 || window->dtype != signal->dtype))
		return sk_infer_error(inference, "'%s' is not a window of the signal's type", window->name);
	if (!window && !sk_infer_input(inference, FRAME))
		return sk_infer_error(inference, "it has neither a window nor the length of a frame");
	if (!sk_infer_integer(inference, STEP, 0, &step) ||
	    !sk_infer_integer(inference, FRAME, window ? (int64_t)window->shape[0] : 0, &frame))
		return false;
	if (step < 1 || frame < 1 || (uint64_t)frame > signal->shape[1] ||
	    (window && window->shape[0] != (uint64_t)frame))
		return sk_infer_error(inference,
				      "frames of %" PRIi64 " elements, each %" PRIi64
				      " after the one before, do not fit the signal, or the window",
				      frame, step);
	*stft = (struct stft){.batches = signal->shape[0], .length = signal->shape[1], .step = (uint64_t)step};
	stft->frames = (stft->length - (uint64_t)frame) / stft->step + 1;
	stft->transform = (struct transform){.from = (uint64_t)frame, .length = (uint64_t)frame, .parts = parts};
	return find_bins(inference, sk_node_integer(inference->node, "onesided", 1) != 0, &stft->transform);
}

static bool infer_stft(struct sk_inference *inference)
{
	struct stft stft;

	return read_stft(inference, &stft) &&
	       sk_infer_output(inference, 0, sk_infer_input(inference, SIGNAL)->dtype, 4,
			       (uint64_t[]){stft.batches, stft.frames, stft.transform.bins, 2});
}

/* Return the frames times the window. */
static bool take_frames(struct sk_canonical *canonical, const struct stft *stft, uint32_t *frames)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t signal = sk_canonical_input(canonical, SIGNAL), window = sk_canonical_input(canonical, WINDOW);
	enum sk_dtype dtype = sk_computed_dtype(graph->values.items[signal].dtype);
	uint64_t parts = stft->transform.parts;
	const uint64_t shape[4] = {stft->batches, stft->frames, stft->transform.from, parts};
	const struct sk_arrangement arrangement = {
		.rank = 3,
		.shape = {stft->batches, stft->frames, stft->transform.from * parts},
		.strides = {(int64_t)(stft->length * parts), (int64_t)(stft->step * parts), 1}};
	uint32_t apart, column;

	signal = sk_canonical_cast(canonical, signal, dtype);
	apart = *frames = sk_graph_new_value(graph, "frames", dtype, 4, shape);
	if (!sk_canonical_arrange(canonical, sk_operand_flat(graph, apart), signal, &arrangement))
		return false;
	if (window == SK_NONE)
		return true;
	window = sk_canonical_cast(canonical, window, dtype);
	column = sk_graph_new_value(graph, "window", dtype, 2, (uint64_t[]){stft->transform.from, 1});
	sk_canonical_view(canonical, column, window, 0);
	*frames = sk_graph_new_value(graph, "frames", dtype, 4, shape);
	return sk_canonical_binary(canonical, "Mul", apart, column, *frames, true);
}

static bool canonical_stft(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t to = sk_canonical_output(canonical, 0), frames, spectrum;
	struct stft stft;

	if (!read_stft(&inference, &stft) || !take_frames(canonical, &stft, &frames))
		return false;
	spectrum = transformed(canonical, frames, stft.batches * stft.frames, &stft.transform);
	if (graph->values.items[spectrum].dtype == graph->values.items[to].dtype)
		sk_canonical_view(canonical, to, spectrum, 0);
	else
		sk_canonical_store(canonical, to, spectrum);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute dft[] = {
	{"inverse", SK_ATTRIBUTE_INTEGER}, {"onesided", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute stft[] = {{"onesided", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};

const struct sk_schema sk_operators_fourier[] = {
	{"DFT", "", 1, 3, 1, 1, .demands = 3 << 1, .attributes = dft, .upgrade = upgrade_dft, .infer = infer_dft,
	 .canonical = canonical_dft},
	{"STFT", "", 2, 4, 1, 1, .demands = 1 << STEP | 1 << FRAME, .attributes = stft, .infer = infer_stft,
	 .canonical = canonical_stft},
	{NULL},
};
