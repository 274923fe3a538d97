/* The common parts of the operators of ai.onnx.ml, which are replaced by nodes of other operators; see
 * operators-parts.h. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"

/* ---- nodes and constants ---- */

static const char *name_of(const struct sk_expansion *expansion)
{
	return sk_node_name(expansion->graph, expansion->node);
}

uint32_t sk_classical_unary(const struct sk_expansion *expansion, const char *op, uint32_t value)
{
	uint32_t output = sk_expansion_value(expansion);

	sk_expansion_node(expansion, op, value, output);
	return output;
}

uint32_t sk_classical_choose(const struct sk_expansion *expansion, uint32_t condition, uint32_t yes, uint32_t no)
{
	uint32_t output = sk_expansion_value(expansion);
	struct sk_graph_node *node = sk_expansion_node(expansion, "Where", condition, output);

	sk_array_push(expansion->graph->arena, &node->inputs, yes);
	sk_array_push(expansion->graph->arena, &node->inputs, no);
	return output;
}

uint32_t sk_classical_cast(const struct sk_expansion *expansion, uint32_t value, enum sk_dtype dtype)
{
	static const int64_t numbers[SK_DTYPE_COUNT] = {
		[SK_F32] = 1, [SK_I32] = 6, [SK_I64] = 7, [SK_BOOL] = 9, [SK_F64] = 11};
	uint32_t output = sk_expansion_value(expansion);
	struct sk_graph_node *node = sk_expansion_node(expansion, "Cast", value, output);

	sk_node_set_integer(expansion->graph, node, "to", numbers[dtype]);
	return output;
}

uint32_t sk_classical_reduce(const struct sk_expansion *expansion, const char *op, uint32_t value)
{
	uint32_t axes = sk_graph_new_integers(expansion->graph, name_of(expansion), 1, (int64_t[]){-1});

	return sk_expansion_binary(expansion, op, value, axes);
}

uint32_t sk_classical_reals(const struct sk_expansion *expansion, enum sk_dtype dtype, uint32_t rank,
			    const uint64_t *shape, const double *reals)
{
	struct sk_op_graph *graph = expansion->graph;
	uint64_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		count *= shape[i];
	return sk_graph_new_constant(graph, name_of(expansion), dtype, rank, shape,
				     sk_elements_of_reals(graph->arena, dtype, count, reals));
}

uint32_t sk_classical_real(const struct sk_expansion *expansion, enum sk_dtype dtype, double real)
{
	return sk_classical_reals(expansion, dtype, 0, NULL, &real);
}

void sk_classical_deliver(const struct sk_expansion *expansion, uint32_t value, enum sk_dtype dtype, size_t output)
{
	uint32_t to = output < expansion->node->outputs.count ? expansion->node->outputs.items[output] : SK_NONE;
	struct sk_graph_node *node;

	if (to == SK_NONE)
		return;
	node = sk_expansion_node(expansion, dtype == SK_F64 ? "Cast" : "Identity", value, to);
	if (dtype == SK_F64)
		sk_node_set_integer(expansion->graph, node, "to", 1);
}

/* ---- inputs and attributes ---- */

bool sk_classical_input(const struct sk_expansion *expansion, size_t number, struct sk_classical_input *input)
{
	const struct sk_value *value = sk_node_input(expansion->graph, expansion->node, number);
	uint32_t last = value->rank ? value->rank - 1 : 0;

	if (value->dtype != SK_F32 && value->dtype != SK_F64 && value->dtype != SK_I32 && value->dtype != SK_I64)
		return sk_expansion_refuse(expansion, "'%s' is %s, and must be f32, f64, i32 or i64", value->name,
					   sk_dtype_name(value->dtype));
	if (!value->rank)
		return sk_expansion_refuse(expansion, "'%s' has no dimensions", value->name);
	if (value->sizes[last])
		return sk_expansion_refuse(expansion,
					   "the features of '%s' are %s, a size with bounds; give its dimensions "
					   "numbers",
					   value->name, sk_value_shape_text(expansion->graph->arena, value));
	*input = (struct sk_classical_input){expansion->node->inputs.items[number], value->name, value->dtype,
					     value->rank, value->shape[last]};
	return true;
}

bool sk_classical_rows(const struct sk_expansion *expansion, struct sk_classical_input *input)
{
	struct sk_op_graph *graph = expansion->graph;

	if (!sk_classical_input(expansion, 0, input))
		return false;
	if (input->rank > 2)
		return sk_expansion_refuse(expansion, "'%s' has %" PRIu32 " dimensions, and must be [N, F] or [F]",
					   input->name, input->rank);
	if (input->rank == 1)
		input->value = sk_expansion_binary(expansion, "Unsqueeze", input->value,
						   sk_graph_new_integers(graph, input->name, 1, (int64_t[]){0}));
	input->rank = 2;
	if (input->dtype != SK_F64)
		input->value = sk_classical_floats(expansion, input);
	return true;
}

uint32_t sk_classical_floats(const struct sk_expansion *expansion, struct sk_classical_input *input)
{
	if (input->dtype != SK_F32 && input->dtype != SK_F64) {
		input->value = sk_classical_cast(expansion, input->value, SK_F32);
		input->dtype = SK_F32;
	}
	return input->value;
}

const double *sk_classical_list(const struct sk_expansion *expansion, const char *name, size_t *count)
{
	const struct sk_attribute *attribute = sk_node_attribute(expansion->node, name);

	*count = attribute ? attribute->count : 0;
	return *count ? attribute->reals : NULL;
}

/* ---- labels ---- */

static bool refuse_texts(const struct sk_expansion *expansion, const char *output)
{
	return sk_expansion_refuse(expansion,
				   "its labels '%s' are texts, which sklink does not have; take the output out of the "
				   "model and keep the scores: the label is the one at the place of the largest score",
				   output);
}

bool sk_classical_labels(const struct sk_expansion *expansion, const char *integers, struct sk_classical_labels *labels)
{
	const struct sk_value *output = sk_node_output(expansion->graph, expansion->node, 0);
	const struct sk_attribute *texts = sk_node_attribute(expansion->node, "classlabels_strings");
	size_t count;

	labels->integers = sk_node_integers(expansion->node, integers, &count);
	if (count && texts && texts->count)
		return sk_expansion_refuse(
			expansion, "it has '%s' and 'classlabels_strings', and one of them is needed", integers);
	labels->count = count ? count : texts ? texts->count : 0;
	if (!labels->count)
		return sk_expansion_refuse(expansion, "it has neither '%s' nor 'classlabels_strings'", integers);
	return count || !output || refuse_texts(expansion, output->name);
}

/* Labels 0, 1 … are their own places. */
static bool are_places(const struct sk_classical_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		if (labels->integers[i] != (int64_t)i)
			return false;
	return true;
}

void sk_classical_label(const struct sk_expansion *expansion, const struct sk_classical_labels *labels, uint32_t scores)
{
	struct sk_op_graph *graph = expansion->graph;
	uint32_t places, to = expansion->node->outputs.items[0];
	struct sk_graph_node *node;

	if (to == SK_NONE)
		return;
	places = are_places(labels) ? to : sk_expansion_value(expansion);
	node = sk_expansion_node(expansion, "ArgMax", scores, places);
	sk_node_set_integer(graph, node, "axis", -1);
	sk_node_set_integer(graph, node, "keepdims", 0);
	if (places == to)
		return;
	node = sk_expansion_node(expansion, "Gather",
				 sk_graph_new_integers(graph, name_of(expansion), labels->count, labels->integers), to);
	sk_array_push(graph->arena, &node->inputs, places);
}

/* ---- post transforms ---- */

static const char *const transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

bool sk_classical_read_transform(const struct sk_expansion *expansion, enum sk_classical_transform *transform)
{
	const char *name = sk_node_string(expansion->node, "post_transform", "NONE");

	for (size_t i = 0; i < sizeof(transforms) / sizeof(transforms[0]); i++)
		if (!strcmp(transforms[i], name)) {
			*transform = (enum sk_classical_transform)i;
			return true;
		}
	return sk_expansion_refuse(expansion, "there is no post_transform '%s'", name);
}

/* exp(x - m) / sum, but x exp(-m) for an x that is nearly 0; m is the largest of the row. A sum of 0 makes all of them
 * 0.5, as in ONNX's reference. */
static uint32_t softmax_zero(const struct sk_expansion *expansion, uint32_t scores, enum sk_dtype dtype)
{
	uint32_t most = sk_classical_reduce(expansion, "ReduceMax", scores);
	uint32_t powers = sk_classical_unary(expansion, "Exp", sk_expansion_binary(expansion, "Sub", scores, most));
	uint32_t factor = sk_classical_unary(expansion, "Exp", sk_classical_unary(expansion, "Neg", most));
	uint32_t small = sk_expansion_binary(expansion, "Mul", scores, factor);
	uint32_t far = sk_expansion_binary(expansion, "Greater", sk_classical_unary(expansion, "Abs", scores),
					   sk_classical_real(expansion, dtype, 1e-7));
	uint32_t parts = sk_classical_choose(expansion, far, powers, small);
	uint32_t sum = sk_classical_reduce(expansion, "ReduceSum", parts);
	uint32_t none = sk_expansion_binary(expansion, "Equal", sum, sk_classical_real(expansion, dtype, 0));

	return sk_classical_choose(expansion, none, sk_classical_real(expansion, dtype, 0.5),
				   sk_expansion_binary(expansion, "Div", parts, sum));
}

/* sqrt(2) times Winitzki's inverse of erf, as in ONNX's reference, computed in f64. */
static uint32_t probit(const struct sk_expansion *expansion, uint32_t scores)
{
	const double a = 0.147, pi = 3.14159265358979323846;
	uint32_t one = sk_classical_real(expansion, SK_F64, 1), two = sk_classical_real(expansion, SK_F64, 2);
	uint32_t x = sk_expansion_binary(expansion, "Sub", sk_expansion_binary(expansion, "Mul", scores, two), one);
	uint32_t inner = sk_expansion_binary(expansion, "Mul", sk_expansion_binary(expansion, "Sub", one, x),
					     sk_expansion_binary(expansion, "Add", one, x));
	uint32_t log = sk_classical_unary(expansion, "Log", inner);
	uint32_t half = sk_expansion_binary(expansion, "Mul", log, sk_classical_real(expansion, SK_F64, 0.5));
	uint32_t v = sk_expansion_binary(expansion, "Add", half, sk_classical_real(expansion, SK_F64, 2 / (pi * a)));
	uint32_t square = sk_expansion_binary(expansion, "Mul", v, v);
	uint32_t part = sk_expansion_binary(expansion, "Mul", log, sk_classical_real(expansion, SK_F64, 1 / a));
	uint32_t root = sk_classical_unary(expansion, "Sqrt", sk_expansion_binary(expansion, "Sub", square, part));
	uint32_t size = sk_classical_unary(expansion, "Sqrt", sk_expansion_binary(expansion, "Sub", root, v));
	uint32_t scaled = sk_expansion_binary(expansion, "Mul", size, sk_classical_real(expansion, SK_F64, 1.41421356));

	return sk_expansion_binary(expansion, "Mul", sk_classical_unary(expansion, "Sign", x), scaled);
}

/* Return the transformed scores; *dtype becomes their type. */
static uint32_t transform_scores(const struct sk_expansion *expansion, enum sk_classical_transform transform,
				 uint32_t scores, enum sk_dtype *dtype)
{
	switch (transform) {
	case SK_TRANSFORM_NONE:
		break;
	case SK_TRANSFORM_SOFTMAX:
		return sk_classical_unary(expansion, "Softmax", scores);
	case SK_TRANSFORM_LOGISTIC:
		return sk_classical_unary(expansion, "Sigmoid", scores);
	case SK_TRANSFORM_SOFTMAX_ZERO:
		return softmax_zero(expansion, scores, *dtype);
	case SK_TRANSFORM_PROBIT:
		scores = *dtype == SK_F64 ? scores : sk_classical_cast(expansion, scores, SK_F64);
		*dtype = SK_F64;
		return probit(expansion, scores);
	}
	return scores;
}

void sk_classical_scores(const struct sk_expansion *expansion, enum sk_classical_transform transform, uint32_t scores,
			 enum sk_dtype dtype, size_t output)
{
	if (!sk_node_output(expansion->graph, expansion->node, output))
		return;
	scores = transform_scores(expansion, transform, scores, &dtype);
	sk_classical_deliver(expansion, scores, dtype, output);
}

void sk_classical_typed_scores(const struct sk_expansion *expansion, enum sk_classical_transform transform,
			       uint32_t scores, enum sk_dtype dtype)
{
	enum sk_dtype computed = dtype;

	scores = transform_scores(expansion, transform, scores, &computed);
	if (computed != dtype)
		sk_classical_deliver(expansion, scores, computed, 0);
	else
		sk_expansion_node(expansion, "Identity", scores, expansion->node->outputs.items[0]);
}
