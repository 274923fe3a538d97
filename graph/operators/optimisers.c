/* Optimisers (domain "sklink", MindSpore's primitives): one step on a tensor of weights and its moments. Outputs are
 * new values; --state OLD=NEW keeps them from run to run. */
#include <string.h>

#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* The inputs of an operator, one letter each: 's' a tensor of weights or of state (all have one type and shape), 'g' a
 * gradient, which may have another type, '1' a number of one element. */
struct step {
	const char *op, *call;
	const char *inputs; /* 's', 'g', '1' */
	const char *outputs; /* by output: the number of the input of the same type and shape */
};

static const struct step steps[] = {
	{"Adam", "ApplyAdam", "sss111111g", "012"},
	{"AdamApplyOneWithDecay", "AdamApplyOneWithDecay", "gsss1111111", "123"},
	{"AdamApplyOneWithDecayAssign", "AdamApplyOneWithDecay", "gsss1111111", "123"},
	{"AdamWeightDecay", "AdamWeightDecay", "sss11111g", "012"},
	{"ApplyMomentum", "ApplyMomentum", "ss1g1", "01"},
	{"LambApplyOptimizerAssign", "LambApplyOptimizerAssign", "gsss11111111", "312"},
	{"LambApplyWeightAssign", "LambApplyWeightAssign", "111gs", "4"},
};

static const struct step *step_of(const struct sk_graph_node *node)
{
	size_t i = 0;

	while (strcmp(steps[i].op, node->op))
		i++;
	return &steps[i];
}

/* Locking does not matter here, so the attribute is dropped. */
static bool upgrade_step(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	sk_node_remove_attribute(node, "use_locking");
	return true;
}

static bool check_input(const struct sk_inference *inference, size_t number, char kind, const struct sk_value *like)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	if (!sk_value_is_float(value))
		return sk_infer_error(inference, "'%s' is %s, which is not a type of weights", value->name,
				      sk_dtype_name(value->dtype));
	if (kind == '1')
		return sk_value_elements(value) == 1 ||
		       sk_infer_error(inference, "'%s' has %llu elements, and must be one number", value->name,
				      (unsigned long long)sk_value_elements(value));
	if (value->rank != like->rank || memcmp(value->shape, like->shape, value->rank * sizeof(*value->shape)) ||
	    (kind == 's' && value->dtype != like->dtype))
		return sk_infer_error(inference, "'%s' is not of the type and the shape of '%s'", value->name,
				      like->name);
	return true;
}

static bool infer_step(struct sk_inference *inference)
{
	const struct step *step = step_of(inference->node);
	const struct sk_value *weights = sk_infer_input(inference, (size_t)(strchr(step->inputs, 's') - step->inputs));

	for (size_t i = 0; step->inputs[i]; i++)
		if (!check_input(inference, i, step->inputs[i], weights))
			return false;
	for (size_t i = 0; i < inference->node->outputs.count; i++)
		if (!sk_infer_like(inference, i, (size_t)(step->outputs[i] - '0')))
			return false;
	return true;
}

static bool canonical_step(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct step *step = step_of(&graph->nodes.items[canonical->node]);
	size_t first = (size_t)(strchr(step->inputs, 's') - step->inputs), outputs = strlen(step->outputs);
	enum sk_dtype dtype = graph->values.items[sk_canonical_input(canonical, first)].dtype;
	uint32_t inputs[12], made[3];
	struct sk_graph_call *call;

	for (size_t i = 0; step->inputs[i]; i++)
		inputs[i] = sk_canonical_cast(canonical, sk_canonical_input(canonical, i),
					      step->inputs[i] == '1' ? sk_computed_dtype(dtype) : dtype);
	for (size_t i = 0; i < outputs; i++) {
		uint32_t like = sk_canonical_input(canonical, (size_t)(step->outputs[i] - '0'));

		made[i] = sk_canonical_made(canonical, i, graph->values.items[like].dtype, like);
	}
	call = sk_canonical_call(canonical, step->call);
	sk_call_attributes(canonical, call);
	for (size_t i = 0; step->inputs[i]; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, inputs[i]));
	for (size_t i = 0; i < outputs; i++)
		sk_call_output(canonical, call, sk_operand_flat(graph, made[i]));
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute adam[] = {{"use_nesterov", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute momentum[] = {
	{"use_nesterov", SK_ATTRIBUTE_INTEGER}, {"gradient_scale", SK_ATTRIBUTE_REAL, .real = 1}, {NULL}};

#define STEP(NAME, INPUTS, OUTPUTS, ATTRIBUTES)                                                                        \
	{                                                                                                              \
		NAME, SK_OWN_DOMAIN, INPUTS, INPUTS, 1, OUTPUTS, .attributes = ATTRIBUTES, .upgrade = upgrade_step,    \
								 .infer = infer_step, .canonical = canonical_step      \
	}

const struct sk_schema sk_operators_optimisers[] = {
	STEP("Adam", 10, 3, adam),
	STEP("AdamApplyOneWithDecay", 11, 3, NULL),
	STEP("AdamApplyOneWithDecayAssign", 11, 3, NULL),
	STEP("AdamWeightDecay", 9, 3, NULL),
	STEP("ApplyMomentum", 5, 2, momentum),
	STEP("LambApplyOptimizerAssign", 12, 3, NULL),
	STEP("LambApplyWeightAssign", 5, 1, NULL),
	{NULL},
};
