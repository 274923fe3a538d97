/* The additional errors of formulas of expansion over the operators that they stand for. They are added to the rooms of
 * graph-reference.c if a node may have been expanded. The notes of graph/rules/expand.yaml give the reasons. A formula
 * without a row must keep to the bounds of its operator. */
#include "tests/property/random-graph.h"

#include <math.h>
#include <string.h>

static const struct loss {
	const char *op;
	number ones; /* units of the number 1 that are lost, for results of any size */
	bool is_scaled; /* these are multiplied by alpha, too */
	bool vanishes; /* a result below the least normal number may be 0 */
	bool squares; /* nothing holds where x x overflows */
} losses[] = {
	{"Tanh", .ones = 4}, /* exp(2x) + 1 cancels near 0 */
	{"Sinh", .ones = 4}, /* exp(x) - exp(-x) cancels near 0 */
	{"Elu", .ones = 4, .is_scaled = true}, /* exp(x) - 1 cancels near 0 */
	{"Softplus", .ones = 4}, /* exp(-|x|) + 1 loses all bits below 1's last place */
	{"Asinh", .ones = 4, .squares = true}, /* sqrt(x x + 1) + |x| cancels near 0 */
	{"Sigmoid", .vanishes = true}, /* exp(-x) overflows */
};

/* Rule 1.4 of doc/reference/passes.md, which exact_precision_mode=false allows: A + -A is 0, also for infinities and
 * NaN. */
static bool may_cancel(const struct graph *graph, const struct graph_node *node, int64_t i)
{
	if (strcmp(node->op, "Add"))
		return false;
	for (uint32_t n = 0; n < graph->node_count; n++)
		for (uint32_t k = 0; k < 2; k++) {
			const struct graph_value *value = &graph->values[node->inputs[k]];

			if (!strcmp(graph->nodes[n].op, "Neg") && graph->nodes[n].outputs[0] == node->inputs[k] &&
			    !isfinite(value->elements[i % value->count]))
				return true;
		}
	return false;
}

number graph_expansion_room(const struct graph *graph, const struct graph_node *node, int64_t i)
{
	const struct graph_value *x = &graph->values[node->inputs[0]];
	bool is_double = x->dtype == SK_F64;
	number one = is_double ? 0x1p-52L : 0x1p-23L, least = is_double ? 0x1p-1022L : 0x1p-126L;
	number root = is_double ? 0x1p511L : 0x1p63L;

	if (may_cancel(graph, node, i))
		return HUGE_VALL;
	for (size_t k = 0; k < sizeof(losses) / sizeof(*losses); k++)
		if (!strcmp(losses[k].op, node->op)) {
			if (losses[k].squares && fabsl(x->elements[i]) > root)
				return HUGE_VALL;
			return losses[k].ones * one * (losses[k].is_scaled ? 1 + fabsl((number)node->alpha) : 1) +
			       (losses[k].vanishes ? least : 0);
		}
	return 0;
}
