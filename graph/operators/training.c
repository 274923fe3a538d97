/* Steps of training (ai.onnx.preview.training), with a call for each tensor of weights. */
#include <string.h>

#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* After the rate and the number of updates, inputs are the weights, then their gradients, then each kind of state, in
 * equal numbers. Outputs are the new weights, then each kind of state. */
static size_t sorts_of(const struct sk_graph_node *node)
{
	return !strcmp(node->op, "Adam") ? 4 : 3;
}

static bool infer_step(struct sk_inference *inference)
{
	const struct sk_graph_node *node = inference->node;
	const struct sk_value *rate = sk_infer_input(inference, 0), *updates = sk_infer_input(inference, 1);
	size_t sorts = sorts_of(node), count = (node->inputs.count - 2) / sorts;

	if (!count || node->inputs.count != 2 + sorts * count || node->outputs.count != (sorts - 1) * count)
		return sk_infer_error(inference, "%zu input%s and %zu output%s are not whole sets of tensors",
				      node->inputs.count, sk_plural(node->inputs.count), node->outputs.count,
				      sk_plural(node->outputs.count));
	if (updates->dtype != SK_I64 || sk_value_elements(updates) != 1 || sk_value_elements(rate) != 1)
		return sk_infer_error(inference, "'%s' and '%s' are not a number and one of type i64", rate->name,
				      updates->name);
	for (size_t i = 0; i < sorts * count; i++) {
		const struct sk_value *weights = sk_infer_input(inference, 2 + i % count);
		const struct sk_value *value = sk_infer_input(inference, 2 + i);

		if (!value || value->dtype != rate->dtype || value->rank != weights->rank ||
		    memcmp(value->shape, weights->shape, value->rank * sizeof(*value->shape)))
			return sk_infer_error(inference, "input %zu is not like '%s', of the type of '%s'", 2 + i,
					      weights->name, rate->name);
		if (i >= count && !sk_infer_output(inference, i - count, value->dtype, value->rank, value->shape))
			return false;
	}
	return true;
}

static void add_step(struct sk_canonical *canonical, size_t sorts, size_t count, size_t number)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	struct sk_graph_call *call;
	uint32_t weights = sk_canonical_input(canonical, 2 + number), made[3];
	enum sk_dtype dtype = graph->values.items[weights].dtype;

	for (size_t sort = 0; sort + 1 < sorts; sort++)
		made[sort] = sk_canonical_made(canonical, sort * count + number, dtype, weights);
	call = sk_canonical_call(canonical, node->op);
	for (const struct sk_schema_attribute *known = canonical->attributes; known->name; known++)
		if (known->kind == SK_ATTRIBUTE_REAL)
			sk_call_real(canonical, call, known->name, sk_node_real(node, known->name, known->real));
	if (!strcmp(node->op, "Momentum"))
		sk_call_integer(canonical, call, "nesterov", !strcmp(sk_node_string(node, "mode", ""), "nesterov"));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 0)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 1)));
	for (size_t sort = 0; sort < sorts; sort++)
		sk_call_input(canonical, call,
			      sk_operand_flat(graph, sk_canonical_input(canonical, 2 + sort * count + number)));
	for (size_t sort = 0; sort + 1 < sorts; sort++)
		sk_call_output(canonical, call, sk_operand_flat(graph, made[sort]));
}

static bool canonical_step(struct sk_canonical *canonical)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	size_t sorts = sorts_of(node), count = (node->inputs.count - 2) / sorts;
	const char *mode = sk_node_string(node, "mode", "standard");

	if (strcmp(mode, "standard") && strcmp(mode, "nesterov"))
		return sk_canonical_error(canonical, "mode '%s' is neither standard nor nesterov", mode);
	for (size_t i = 0; i < count; i++)
		if (sk_value_elements(&canonical->graph->values.items[sk_canonical_input(canonical, 2 + i)]))
			add_step(canonical, sorts, count, i);
	return true;
}

/* ---- the table ---- */

#define REAL(NAME, DEFAULT)                                                                                            \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_REAL, .real = (DEFAULT)                                                             \
	}

static const struct sk_schema_attribute adagrad[] = {
	REAL("decay_factor", 0), REAL("epsilon", 1e-6), REAL("norm_coefficient", 0), {NULL}};
static const struct sk_schema_attribute adam[] = {REAL("alpha", 0.9),
						  REAL("beta", 0.999),
						  REAL("epsilon", 1e-6),
						  REAL("norm_coefficient", 0),
						  REAL("norm_coefficient_post", 0),
						  {NULL}};
static const struct sk_schema_attribute momentum[] = {{"alpha", SK_ATTRIBUTE_REAL, true},
						      {"beta", SK_ATTRIBUTE_REAL, true},
						      {"mode", SK_ATTRIBUTE_STRING, true},
						      {"norm_coefficient", SK_ATTRIBUTE_REAL, true},
						      {NULL}};

#define DOMAIN "ai.onnx.preview.training"
#define STEP(NAME, INPUTS, OUTPUTS, ATTRIBUTES)                                                                        \
	{                                                                                                              \
		NAME, DOMAIN, INPUTS, SK_VARIADIC, OUTPUTS, SK_VARIADIC,                                               \
			.attributes = ATTRIBUTES, .infer = infer_step, .canonical = canonical_step                     \
	}

const struct sk_schema sk_operators_training[] = {
	STEP("Adagrad", 5, 2, adagrad),
	STEP("Adam", 6, 3, adam),
	STEP("Momentum", 5, 2, momentum),
	{NULL},
};
