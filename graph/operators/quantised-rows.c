/* Integer products with zero points, and scales, of each row, or of other types than f32: they become products of
 * integers of 32 bits, and conversions. */
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* Inputs of QLinearMatMul, and of MatMulInteger. */
enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };
enum { SHORT_A, SHORT_B, SHORT_A_ZERO, SHORT_B_ZERO };

static bool is_linear(const struct sk_graph_node *node)
{
	return *node->op == 'Q';
}

/* True if the value, which may be absent, has neither one element nor `many`. */
static bool differs(const struct sk_value *value, uint64_t many)
{
	return value && sk_value_elements(value) != 1 && sk_value_elements(value) != many;
}

static bool has_other_scales(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	const struct sk_value *scale = sk_node_input(graph, node, A_SCALE);

	return is_linear(node) && (scale->dtype == SK_F16 || scale->dtype == SK_BF16);
}

static bool has_rows(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	bool linear = is_linear(node);
	const struct sk_value *b = sk_node_input(graph, node, linear ? B : SHORT_B);
	uint64_t columns = b->rank ? b->shape[b->rank - 1] : 1;

	return differs(sk_node_input(graph, node, linear ? A_ZERO : SHORT_A_ZERO), 1) ||
	       differs(sk_node_input(graph, node, linear ? B_ZERO : SHORT_B_ZERO), columns) ||
	       (linear && (differs(sk_node_input(graph, node, A_SCALE), 1) ||
			   differs(sk_node_input(graph, node, B_SCALE), columns)));
}

bool sk_quantised_is_other(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	return has_rows(graph, node) || has_other_scales(graph, node);
}

/* Return an input with numbers of rows of a, perhaps a list, as a column. */
static uint32_t as_column(const struct sk_expansion *expansion, size_t number)
{
	uint32_t value = sk_expansion_input(expansion, number);

	return sk_expansion_read(expansion, value)->rank == 1
		       ? sk_expansion_unsqueeze(expansion, value, 1, (const int64_t[]){-1})
		       : value;
}

/* Return the operand minus its zero points in 32 bits. */
static uint32_t difference(const struct sk_expansion *expansion, size_t number, size_t zero, bool rows)
{
	uint32_t value = sk_expansion_cast(expansion, sk_expansion_input(expansion, number), SK_EXPANSION_I32);
	uint32_t zeros = sk_expansion_input(expansion, zero);

	if (zeros == SK_NONE)
		return value;
	zeros = rows ? as_column(expansion, zero) : zeros;
	return sk_expansion_binary(expansion, "Sub", value, sk_expansion_cast(expansion, zeros, SK_EXPANSION_I32));
}

static uint32_t in_f32(const struct sk_expansion *expansion, size_t number)
{
	return sk_expansion_cast(expansion, sk_expansion_input(expansion, number), SK_EXPANSION_F32);
}

bool sk_quantised_expand_other(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t output = sk_expansion_output(&expansion, 0), a, b, y, inputs[Y_ZERO + 1];

	if (!has_rows(graph, node)) { /* only the type of the scales is another one */
		for (size_t i = 0; i <= Y_ZERO; i++)
			inputs[i] = i == A_SCALE || i == B_SCALE || i == Y_SCALE ? in_f32(&expansion, i)
										 : sk_expansion_input(&expansion, i);
		sk_expansion_into(&expansion, "QLinearMatMul", Y_ZERO + 1, inputs, output);
		return true;
	}
	if (!is_linear(node)) {
		a = difference(&expansion, SHORT_A, SHORT_A_ZERO, true);
		b = difference(&expansion, SHORT_B, SHORT_B_ZERO, false);
		sk_expansion_into(&expansion, "MatMul", 2, (const uint32_t[]){a, b}, output);
		return true;
	}
	a = difference(&expansion, A, A_ZERO, true);
	b = difference(&expansion, B, B_ZERO, false);
	y = sk_expansion_cast(&expansion, sk_expansion_binary(&expansion, "MatMul", a, b), SK_EXPANSION_F32);
	y = sk_expansion_binary(&expansion, "Mul", y,
				sk_expansion_cast(&expansion, as_column(&expansion, A_SCALE), SK_EXPANSION_F32));
	y = sk_expansion_binary(&expansion, "Mul", y, in_f32(&expansion, B_SCALE));
	inputs[0] = y;
	inputs[1] = in_f32(&expansion, Y_SCALE);
	inputs[2] = sk_expansion_input(&expansion, Y_ZERO);
	sk_expansion_into(&expansion, "QuantizeLinear", 3, inputs, output);
	return true;
}
