/* Operators with inputs that determine the size of the result: windows of signals, and the weights of mel frequencies.
 * Inference computes them, so they need no kernels. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum { LARGEST = 1 << 24 }; /* elements, so that a small file cannot make a huge constant */

/* Read a demanded input: an integer that is not negative. */
static bool read_size(const struct sk_inference *inference, size_t number, int64_t least, int64_t *size)
{
	if (!sk_infer_integer(inference, number, 0, size))
		return false;
	return (*size >= least && *size <= LARGEST) ||
	       sk_infer_error(inference, "'%s' is not from %" PRIi64 " to %d", sk_infer_input(inference, number)->name,
			      least, LARGEST);
}

/* Set a constant output of the type that the node asks for. */
static bool set_output(const struct sk_inference *inference, uint32_t rank, const uint64_t *shape,
		       const double *elements)
{
	int64_t type = sk_node_integer(inference->node, "output_datatype", 1);
	enum sk_dtype dtype = type == 11 ? SK_F64 : SK_F32;
	uint64_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		count *= shape[i];
	if (type != 1 && type != 11)
		return sk_infer_error(inference, "'output_datatype' %" PRIi64 " is neither 1 (float) nor 11 (double)",
				      type);
	return sk_infer_constant(inference, 0, dtype, rank, shape,
				 sk_elements_of_reals(inference->graph->arena, dtype, count, elements));
}

/* a - b cos(angle) + c cos(2 angle), for the angles of the window's elements. */
static bool infer_cosines(struct sk_inference *inference, double a, double b, double c)
{
	bool periodic = sk_node_integer(inference->node, "periodic", 1);
	double *elements, step;
	int64_t size;

	if (!read_size(inference, 0, 0, &size))
		return false;
	elements = SK_NEW_ARRAY(inference->graph->arena, double, (size_t)size + 1);
	step = periodic || size > 1 ? 2 * acos(-1) / (double)(periodic ? size : size - 1) : 0;
	for (int64_t i = 0; i < size; i++)
		elements[i] = a - b * cos(step * (double)i) + c * cos(2 * step * (double)i);
	return set_output(inference, 1, &(uint64_t){(uint64_t)size}, elements);
}

static bool infer_hann(struct sk_inference *inference)
{
	return infer_cosines(inference, 0.5, 0.5, 0);
}

static bool infer_hamming(struct sk_inference *inference)
{
	return infer_cosines(inference, 25.0 / 46, 21.0 / 46, 0);
}

static bool infer_blackman(struct sk_inference *inference)
{
	return infer_cosines(inference, 0.42, 0.5, 0.08);
}

/* ---- MelWeightMatrix ---- */

/* The attributes about frequencies, which become positions in a spectrum. */
struct mel {
	int64_t bins, length, rate;
	double low, high;
};

static bool read_mel(const struct sk_inference *inference, struct mel *mel)
{
	const struct sk_value *low = sk_infer_input(inference, 3), *high = sk_infer_input(inference, 4);

	if (!read_size(inference, 0, 0, &mel->bins) || !read_size(inference, 1, 0, &mel->length) ||
	    !read_size(inference, 2, 1, &mel->rate))
		return false;
	if (!sk_value_number(low, &mel->low) || !sk_value_number(high, &mel->high) || !(mel->low >= 0) ||
	    !(mel->high >= mel->low) || mel->high > LARGEST)
		return sk_infer_error(inference, "'%s' and '%s' are not a range of frequencies", low->name, high->name);
	return mel->bins * (mel->length / 2 + 1) <= LARGEST ||
	       sk_infer_error(inference, "the output would have more than %d elements", LARGEST);
}

/* Return the position of number i of bins + 2 frequencies that are equidistant on the mel scale. */
static int64_t mel_place(const struct mel *mel, int64_t i)
{
	double low = 2595 * log10(1 + mel->low / 700), high = 2595 * log10(1 + mel->high / 700);
	double hertz = 700 * (pow(10, (low + (double)i * (high - low) / (double)(mel->bins + 2)) / 2595) - 1);

	return (int64_t)floor((double)(mel->length + 1) * hertz / (double)mel->rate);
}

static bool infer_mel(struct sk_inference *inference)
{
	double *elements;
	struct mel mel;

	if (!read_mel(inference, &mel))
		return false;

	int64_t places = mel.length / 2 + 1;

	elements = SK_NEW_ARRAY(inference->graph->arena, double, (size_t)(places * mel.bins) + 1);
	for (int64_t i = 0; i < mel.bins; i++) {
		int64_t lower = mel_place(&mel, i), center = mel_place(&mel, i + 1), higher = mel_place(&mel, i + 2);

		for (int64_t j = lower; j <= center && j < places; j++)
			elements[j * mel.bins + i] =
				center == lower ? 1 : (double)(j - lower) / (double)(center - lower);
		for (int64_t j = center; j < higher && j < places; j++)
			elements[j * mel.bins + i] = (double)(higher - j) / (double)(higher - center);
	}
	return set_output(inference, 2, (uint64_t[]){(uint64_t)places, (uint64_t)mel.bins}, elements);
}

/* ---- the table ---- */

static const struct sk_schema_attribute window[] = {{"output_datatype", SK_ATTRIBUTE_INTEGER, .integer = 1},
						    {"periodic", SK_ATTRIBUTE_INTEGER, .integer = 1},
						    {NULL}};
static const struct sk_schema_attribute mel[] = {{"output_datatype", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};

const struct sk_schema sk_operators_signals[] = {
	{"BlackmanWindow", "", 1, 1, 1, 1, 1U, .attributes = window, .infer = infer_blackman},
	{"HammingWindow", "", 1, 1, 1, 1, 1U, .attributes = window, .infer = infer_hamming},
	{"HannWindow", "", 1, 1, 1, 1, 1U, .attributes = window, .infer = infer_hann},
	{"MelWeightMatrix", "", 5, 5, 1, 1, 31U, .attributes = mel, .infer = infer_mel},
	{NULL},
};
