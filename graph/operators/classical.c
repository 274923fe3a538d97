/* Operators of ai.onnx.ml that are products, sums and comparisons: they become nodes of other operators. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* Return a list as a constant that is broadcast along the last axis; it has one number, or `width`. */
static uint32_t spread_list(const struct sk_expansion *expansion, enum sk_dtype dtype, const double *reals,
			    size_t count)
{
	return sk_classical_reals(expansion, dtype, 1, &(uint64_t){count}, reals);
}

/* True if a list has one number, or one for each feature. */
static bool check_list(const struct sk_expansion *expansion, const char *name, size_t count,
		       const struct sk_classical_input *input)
{
	return count == 1 || count == input->width ||
	       sk_expansion_refuse(expansion, "'%s' has %zu number%s, and '%s' has %" PRIu64 " feature%s", name, count,
				   sk_plural(count), input->name, input->width, sk_plural(input->width));
}

/* ---- Scaler ---- */

static bool expand_scaler(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	struct sk_classical_input x;
	size_t count, offsets;
	const double *scale = sk_classical_list(&expansion, "scale", &count);
	const double *offset = sk_classical_list(&expansion, "offset", &offsets);
	uint32_t moved;

	if (count != offsets || !count)
		return sk_expansion_refuse(&expansion, "'scale' has %zu number%s and 'offset' has %zu", count,
					   sk_plural(count), offsets);
	if (!sk_classical_input(&expansion, 0, &x) || !check_list(&expansion, "scale", count, &x))
		return false;
	if (count > 1 && x.rank > 2)
		return sk_expansion_refuse(&expansion, "'%s' has %" PRIu32 " dimensions, and features need [N, F]",
					   x.name, x.rank);
	sk_classical_floats(&expansion, &x);
	moved = sk_expansion_binary(&expansion, "Sub", x.value, spread_list(&expansion, x.dtype, offset, count));
	sk_classical_deliver(
		&expansion,
		sk_expansion_binary(&expansion, "Mul", moved, spread_list(&expansion, x.dtype, scale, count)), x.dtype,
		0);
	return true;
}

/* ---- Normalizer ---- */

static bool expand_normalizer(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	static const char *const norms[][2] = {{"MAX", "ReduceMax"}, {"L1", "ReduceL1"}, {"L2", "ReduceL2"}};
	const struct sk_expansion expansion = {graph, node, nodes};
	const char *norm = sk_node_string(node, "norm", "MAX"), *reduce = NULL;
	struct sk_classical_input x;
	uint32_t divisor, none;

	for (size_t i = 0; i < sizeof(norms) / sizeof(norms[0]); i++)
		if (!strcmp(norm, norms[i][0]))
			reduce = norms[i][1];
	if (!reduce)
		return sk_expansion_refuse(&expansion, "there is no norm '%s'", norm);
	if (!sk_classical_input(&expansion, 0, &x))
		return false;
	if (x.rank > 2)
		return sk_expansion_refuse(&expansion, "'%s' has %" PRIu32 " dimensions, and must be [N, C] or [C]",
					   x.name, x.rank);
	if (!x.width)
		return sk_expansion_refuse(&expansion, "'%s' has rows without elements", x.name);
	sk_classical_floats(&expansion, &x);
	divisor = sk_classical_reduce(&expansion, reduce, x.value);
	none = sk_expansion_binary(&expansion, "Equal", divisor, sk_classical_real(&expansion, x.dtype, 0));
	divisor = sk_classical_choose(&expansion, none, sk_classical_real(&expansion, x.dtype, 1), divisor);
	sk_classical_deliver(&expansion, sk_expansion_binary(&expansion, "Div", x.value, divisor), x.dtype, 0);
	return true;
}

/* ---- integers of the input's type ---- */

static bool is_float(const struct sk_classical_input *input)
{
	return input->dtype == SK_F32 || input->dtype == SK_F64;
}

/* Return a constant of i32 or i64; false after an error: a number does not fit. */
static bool make_integers(const struct sk_expansion *expansion, const char *name, enum sk_dtype dtype, size_t count,
			  const int64_t *integers, uint32_t *value)
{
	struct sk_op_graph *graph = expansion->graph;
	int32_t *narrow = SK_NEW_ARRAY(graph->arena, int32_t, count);

	for (size_t i = 0; i < count; i++) {
		narrow[i] = (int32_t)integers[i];
		if (dtype == SK_I32 && narrow[i] != integers[i])
			return sk_expansion_refuse(expansion, "'%s' has %" PRIi64 ", which i32 does not hold", name,
						   integers[i]);
	}
	*value = sk_graph_new_constant(graph, sk_node_name(graph, expansion->node), dtype, 1, &(uint64_t){count},
				       dtype == SK_I32 ? (const void *)narrow : integers);
	return true;
}

/* ---- Imputer ---- */

/* Return the elements that are replaced, as bools. */
static bool find_replaced(const struct sk_expansion *expansion, const struct sk_classical_input *x, uint32_t *replaced)
{
	double real = sk_node_real(expansion->node, "replaced_value_float", 0);
	int64_t integer = sk_node_integer(expansion->node, "replaced_value_int64", 0);
	uint32_t value;

	if (is_float(x) && isnan(real)) {
		*replaced = sk_classical_unary(expansion, "IsNaN", x->value);
		return true;
	}
	if (is_float(x))
		value = sk_classical_reals(expansion, x->dtype, 1, &(uint64_t){1}, &real);
	else if (!make_integers(expansion, "replaced_value_int64", x->dtype, 1, &integer, &value))
		return false;
	*replaced = sk_expansion_binary(expansion, "Equal", x->value, value);
	return true;
}

static bool expand_imputer(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	static const char *const names[] = {"imputed_value_floats", "imputed_value_int64s"};
	const struct sk_expansion expansion = {graph, node, nodes};
	struct sk_classical_input x;
	size_t counts[2];
	const double *reals = sk_classical_list(&expansion, names[0], &counts[0]);
	const int64_t *integers = sk_node_integers(node, names[1], &counts[1]);
	uint32_t imputed, replaced, chosen;

	if (!sk_classical_input(&expansion, 0, &x))
		return false;

	const char *name = names[!is_float(&x)];
	size_t count = counts[!is_float(&x)];

	if (!count || (counts[0] && counts[1]))
		return sk_expansion_refuse(&expansion, "'%s' is %s, and it has %s '%s'", x.name, sk_dtype_name(x.dtype),
					   count ? "also" : "no", count ? names[is_float(&x)] : name);
	if (!check_list(&expansion, name, count, &x))
		return false;
	if (is_float(&x))
		imputed = spread_list(&expansion, x.dtype, reals, count);
	else if (!make_integers(&expansion, name, x.dtype, count, integers, &imputed))
		return false;
	if (!find_replaced(&expansion, &x, &replaced))
		return false;
	chosen = sk_classical_choose(&expansion, replaced, imputed, x.value);
	sk_expansion_node(&expansion, "Identity", chosen, node->outputs.items[0]);
	return true;
}

/* ---- Binarizer ---- */

/* Return the elements that are greater than the threshold, as bools: integers are compared with the greatest integer
 * that is not greater than it. */
static uint32_t find_greater(const struct sk_expansion *expansion, const struct sk_classical_input *x)
{
	double threshold = sk_node_real(expansion->node, "threshold", 0);
	int64_t most = x->dtype == SK_I32 ? INT32_MAX : INT64_MAX, least = -most - 1, whole = most;
	uint32_t value;

	if (is_float(x))
		return sk_expansion_binary(expansion, "Greater", x->value,
					   sk_classical_real(expansion, x->dtype, threshold));
	/* Nothing is greater than a NaN, and everything is greater than numbers below the type's. */
	if (threshold < (double)most)
		whole = threshold < (double)least ? least : (int64_t)floor(threshold);
	make_integers(expansion, "threshold", x->dtype, 1, &whole, &value);
	return sk_expansion_binary(expansion, threshold < (double)least ? "GreaterOrEqual" : "Greater", x->value,
				   value);
}

static bool expand_binarizer(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	struct sk_classical_input x;

	if (!sk_classical_input(&expansion, 0, &x))
		return false;
	sk_expansion_node(&expansion, "Identity", sk_classical_cast(&expansion, find_greater(&expansion, &x), x.dtype),
			  node->outputs.items[0]);
	return true;
}

/* ---- LinearRegressor, LinearClassifier ---- */

/* Compute x [N, F] times the rows of coefficients, plus the intercepts: scores [N, targets], of the type of x. */
static bool add_product(const struct sk_expansion *expansion, const struct sk_classical_input *x, uint64_t targets,
			uint32_t *scores)
{
	size_t count, intercepts;
	const double *reals = sk_classical_list(expansion, "coefficients", &count);
	const double *intercept = sk_classical_list(expansion, "intercepts", &intercepts);
	double *turned = SK_NEW_ARRAY(expansion->graph->arena, double, count + 1);
	struct sk_graph_node *node;
	uint32_t factor, addend = SK_NONE;

	if (!count || count % targets || count / targets != x->width)
		return sk_expansion_refuse(expansion,
					   "'coefficients' has %zu number%s, not %" PRIu64 " for each of the %" PRIu64
					   " feature%s of '%s'",
					   count, sk_plural(count), targets, x->width, sk_plural(x->width), x->name);
	if (intercepts && intercepts != targets)
		return sk_expansion_refuse(expansion, "'intercepts' has %zu number%s, and %" PRIu64 " %s needed",
					   intercepts, sk_plural(intercepts), targets, targets == 1 ? "is" : "are");
	for (size_t i = 0; i < count; i++)
		turned[i % x->width * targets + i / x->width] = reals[i];
	factor = sk_classical_reals(expansion, x->dtype, 2, (uint64_t[]){x->width, targets}, turned);
	if (intercepts)
		addend = sk_classical_reals(expansion, x->dtype, 1, &targets, intercept);
	*scores = sk_expansion_value(expansion);
	node = sk_expansion_node(expansion, "Gemm", x->value, *scores);
	sk_array_push(expansion->graph->arena, &node->inputs, factor);
	if (intercepts)
		sk_array_push(expansion->graph->arena, &node->inputs, addend);
	return true;
}

static bool expand_regressor(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	int64_t targets = sk_node_integer(node, "targets", 1);
	enum sk_classical_transform transform;
	struct sk_classical_input x;
	uint32_t scores;

	if (targets < 1)
		return sk_expansion_refuse(&expansion, "'targets' is %" PRIi64, targets);
	if (!sk_classical_read_transform(&expansion, &transform) || !sk_classical_rows(&expansion, &x) ||
	    !add_product(&expansion, &x, (uint64_t)targets, &scores))
		return false;
	sk_classical_scores(&expansion, transform, scores, x.dtype, 0);
	return true;
}

/* One score of two classes is that of the second one; the first one has the opposite. */
static uint32_t add_second(const struct sk_expansion *expansion, uint32_t score)
{
	uint32_t both = sk_expansion_value(expansion);
	sk_graph_sequence scores = {NULL, 0, 0};

	sk_array_push(expansion->graph->arena, &scores, sk_classical_unary(expansion, "Neg", score));
	sk_array_push(expansion->graph->arena, &scores, score);
	sk_expansion_concat(expansion, &scores, 1, false, both);
	return both;
}

/* The label is that of the largest score before the post transform, which may make different scores equal. */
static bool expand_classifier(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	enum sk_classical_transform transform;
	struct sk_classical_labels labels;
	struct sk_classical_input x;
	size_t count;
	uint32_t scores;

	if (!sk_classical_read_transform(&expansion, &transform) ||
	    !sk_classical_labels(&expansion, "classlabels_ints", &labels) || !sk_classical_rows(&expansion, &x))
		return false;
	if (labels.count == 1)
		return sk_expansion_refuse(&expansion, "it has one label, and a classifier needs two");
	sk_classical_list(&expansion, "coefficients", &count);

	bool single = labels.count == 2 && count == x.width;

	if (!add_product(&expansion, &x, single ? 1 : labels.count, &scores))
		return false;
	if (single)
		scores = add_second(&expansion, scores);
	sk_classical_label(&expansion, &labels, scores);
	sk_classical_scores(&expansion, transform, scores, x.dtype, 1);
	return true;
}

/* ---- the table ---- */

#define REALS(NAME)                                                                                                    \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_REALS                                                                               \
	}
#define TRANSFORM                                                                                                      \
	{                                                                                                              \
		"post_transform", SK_ATTRIBUTE_STRING, .string = "NONE"                                                \
	}

static const struct sk_schema_attribute scaler[] = {REALS("offset"), REALS("scale"), {NULL}};
static const struct sk_schema_attribute normalizer[] = {{"norm", SK_ATTRIBUTE_STRING, .string = "MAX"}, {NULL}};
static const struct sk_schema_attribute imputer[] = {REALS("imputed_value_floats"),
						     {"imputed_value_int64s", SK_ATTRIBUTE_INTEGERS},
						     {"replaced_value_float", SK_ATTRIBUTE_REAL},
						     {"replaced_value_int64", SK_ATTRIBUTE_INTEGER},
						     {NULL}};
static const struct sk_schema_attribute binarizer[] = {{"threshold", SK_ATTRIBUTE_REAL}, {NULL}};
static const struct sk_schema_attribute regressor[] = {
	REALS("coefficients"), REALS("intercepts"), TRANSFORM, {"targets", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};
/* `multi_class` changes nothing: post_transform says how scores become probabilities. */
static const struct sk_schema_attribute classifier[] = {{"classlabels_ints", SK_ATTRIBUTE_INTEGERS},
							{"classlabels_strings", SK_ATTRIBUTE_STRINGS},
							{"coefficients", SK_ATTRIBUTE_REALS, true},
							REALS("intercepts"),
							{"multi_class", SK_ATTRIBUTE_INTEGER},
							TRANSFORM,
							{NULL}};

#define CLASSICAL(NAME, OUTPUTS, ATTRIBUTES, EXPAND)                                                                   \
	{                                                                                                              \
		NAME, SK_CLASSICAL_DOMAIN, 1, 1, 1, OUTPUTS, .attributes = ATTRIBUTES, .expand = EXPAND                \
	}

const struct sk_schema sk_operators_classical[] = {
	CLASSICAL("Binarizer", 1, binarizer, expand_binarizer),
	CLASSICAL("Imputer", 1, imputer, expand_imputer),
	CLASSICAL("LinearClassifier", 2, classifier, expand_classifier),
	CLASSICAL("LinearRegressor", 1, regressor, expand_regressor),
	CLASSICAL("Normalizer", 1, normalizer, expand_normalizer),
	CLASSICAL("Scaler", 1, scaler, expand_scaler),
	{NULL},
};
