/* Normalisations of rows, combined with operators before them and with quantisations after them (domain "sklink").
 * Their names, inputs and outputs are those of GE and of MindSpore. */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* The inputs and outputs of an operator, a letter each. */
static const struct form {
	const char *op;
	/* x: type and shape of the first input; g: of its type, a factor for each element of a row; S: a scale, s: an
	 * optional scale, z: a zero point, of any type, one for each element of a row or one for all. */
	const char *inputs;
	/* x: as the first input; f: the same in f32; q: in i8; r: an f32 for each row, in the first input's rank; s:
	 * the same without the dimensions of a row. */
	const char *outputs;
} forms[] = {
	{"AddLayerNorm", "xxgg", "xrrx"},
	{"AddRmsNorm", "xxg", "xrx"},
	{"AddRmsNormCast", "xxg", "fxrx"},
	{"AddRmsNormDynamicQuant", "xxggg", "qqxss"},
	{"AddRmsNormQuant", "xxgSzsz", "qqx"},
	{"DynamicQuant", "xg", "qs"},
	{"QuantV2", "xSz", "q"},
	{"RmsNorm", "xg", "xr"},
	{"RmsNormQuant", "xggSz", "q"},
};

static const struct form *form_of(const struct sk_graph_node *node)
{
	const struct form *form = forms;

	while (strcmp(form->op, node->op))
		form++;
	return form;
}

/* ---- checks of inputs ---- */

/* The first input as rows: of as many dimensions as the first factor has, or of the last one. */
struct rows {
	uint32_t outer; /* dimensions before those of a row */
	uint64_t count, length;
};

static bool read_rows(const struct sk_inference *inference, const struct form *form, struct rows *rows)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *factor = NULL;
	const char *letter = strchr(form->inputs, 'g');

	if (letter)
		factor = sk_infer_input(inference, (size_t)(letter - form->inputs));
	if (!x->rank || (factor && (!factor->rank || factor->rank > x->rank)))
		return sk_infer_error(inference, "'%s' does not have rows of the shape of '%s'", x->name,
				      factor ? factor->name : x->name);
	*rows = (struct rows){x->rank - (factor ? factor->rank : 1), 1, 1};
	for (uint32_t i = 0; i < x->rank; i++)
		*(i < rows->outer ? &rows->count : &rows->length) *= x->shape[i];
	return rows->length || sk_infer_error(inference, "'%s' has rows without elements", x->name);
}

/* True if the last dimensions of x are those of the value. */
static bool ends_alike(const struct sk_value *x, const struct sk_value *value)
{
	return value->rank <= x->rank &&
	       !memcmp(value->shape, x->shape + x->rank - value->rank, value->rank * sizeof(*x->shape));
}

static bool is_of_steps(char letter)
{
	return letter == 'S' || letter == 's' || letter == 'z';
}

static bool check_operand(const struct sk_inference *inference, size_t number, char letter, const struct rows *rows)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *value = sk_infer_input(inference, number);
	uint64_t elements = value ? sk_value_elements(value) : 0;

	if (!value)
		return letter != 'S' || sk_infer_error(inference, "it has no scale");
	if (is_of_steps(letter)) {
		if (elements != 1 && (elements != rows->length || !ends_alike(x, value)))
			return sk_infer_error(inference,
					      "'%s' is not one number, nor one for each of the %" PRIu64
					      " element%s of a row of '%s'",
					      value->name, rows->length, sk_plural(rows->length), x->name);
		return letter == 'z' || sk_value_is_float(value) ||
		       sk_infer_error(inference, "'%s' is %s, and scales are floats", value->name,
				      sk_dtype_name(value->dtype));
	}
	if (value->rank != (letter == 'x' ? x->rank : x->rank - rows->outer) || !ends_alike(x, value))
		return sk_infer_error(inference,
				      letter == 'x' ? "'%s' does not have the shape of '%s'"
						    : "'%s' is not a number for each element of a row of '%s'",
				      value->name, x->name);
	return sk_infer_same_types(inference, 0, number);
}

/* Quantisation is along the last dimension, the rows, and rounds to the nearest. */
static bool check_words(const struct sk_inference *inference)
{
	const struct sk_graph_node *node = inference->node;
	const char *mode = sk_node_string(node, "round_mode", "round");
	uint32_t rank = sk_infer_input(inference, 0)->rank, axis;

	if (!sk_infer_axis(inference, sk_node_integer(node, "axis", -1), rank, &axis))
		return false;
	if (axis + 1 != rank)
		return sk_infer_error(inference, "it quantises along axis %" PRIu32 ", which is not the last one",
				      axis);
	return !strcmp(mode, "round") ||
	       sk_infer_error(inference, "round_mode '%s' is not possible, only 'round'", mode);
}

/* ---- types and shapes ---- */

static bool infer_made(struct sk_inference *inference, size_t number, char letter, const struct rows *rows)
{
	const struct sk_value x = *sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];

	for (uint32_t i = 0; i < x.rank; i++)
		shape[i] = i < rows->outer || letter == 'q' || letter == 'f' ? x.shape[i] : 1;
	if (letter == 'x')
		return sk_infer_like(inference, number, 0);
	return sk_infer_output(inference, number, letter == 'q' ? SK_I8 : SK_F32, letter == 's' ? rows->outer : x.rank,
			       shape);
}

static bool infer_fused(struct sk_inference *inference)
{
	const struct form *form = form_of(inference->node);
	const struct sk_value *x = sk_infer_input(inference, 0);
	struct rows rows;

	if (!sk_value_is_float(x) || x->dtype == SK_F64)
		return sk_infer_error(inference, "'%s' is %s, and must be f32, f16 or bf16", x->name,
				      sk_dtype_name(x->dtype));
	if (!read_rows(inference, form, &rows) || !check_words(inference))
		return false;
	for (size_t i = 1; form->inputs[i]; i++)
		if (!check_operand(inference, i, form->inputs[i], &rows))
			return false;
	for (size_t i = 0; i < inference->node->outputs.count; i++)
		if (!infer_made(inference, i, form->outputs[i], &rows))
			return false;
	return true;
}

/* ---- the call ---- */

/* Return a scale or a zero point as f32, one for each element of a row. The second result of AddRmsNormQuant has scale
 * 1 if none is given. */
static uint32_t spread_numbers(struct sk_canonical *canonical, size_t number, char letter, uint64_t length)
{
	uint32_t value = sk_canonical_input(canonical, number);

	if (value == SK_NONE && letter == 's' && sk_canonical_output(canonical, 1) != SK_NONE)
		value = sk_canonical_number(canonical, SK_F32, 1);
	if (value == SK_NONE)
		return SK_NONE;
	return sk_canonical_spread(canonical, sk_canonical_cast(canonical, value, SK_F32), 1, &length);
}

/* Add the numbers that the kernel computes with; other attributes have been checked. */
static void add_numbers(const struct sk_canonical *canonical, struct sk_graph_call *call)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];

	for (const struct sk_schema_attribute *known = canonical->attributes; known && known->name; known++)
		if (known->kind == SK_ATTRIBUTE_REAL)
			sk_call_real(canonical, call, known->name, sk_node_real(node, known->name, known->real));
		else if (!strcmp(known->name, "div_mode"))
			sk_call_integer(canonical, call, known->name,
					sk_node_integer(node, known->name, known->integer));
}

static bool canonical_fused(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct form *form = form_of(inference.node);
	size_t inputs = strlen(form->inputs), outputs = strlen(form->outputs);
	uint32_t values[8];
	struct sk_graph_call *call;
	struct rows rows;

	if (!read_rows(&inference, form, &rows))
		return false;
	if (!rows.count)
		return true;
	for (size_t i = 0; i < inputs; i++)
		values[i] = is_of_steps(form->inputs[i]) ? spread_numbers(canonical, i, form->inputs[i], rows.length)
							 : sk_canonical_input(canonical, i);
	call = sk_canonical_call(canonical, form->op);
	add_numbers(canonical, call);

	const uint64_t shape[2] = {rows.count, rows.length};

	for (size_t i = 0; i < inputs; i++)
		sk_call_input(canonical, call,
			      form->inputs[i] == 'x' ? sk_operand_shaped(graph, values[i], 2, shape)
						     : sk_operand_flat(graph, values[i]));
	for (size_t i = 0; i < outputs; i++) {
		uint32_t value = sk_canonical_output(canonical, i);

		sk_call_output(canonical, call,
			       strchr("xfq", form->outputs[i]) ? sk_operand_shaped(graph, value, 2, shape)
							       : sk_operand_flat(graph, value));
	}
	return true;
}

/* ---- the table ---- */

/* `output_mask` is redundant: unused outputs are known. */
static const struct sk_schema_attribute epsilon[] = {
	{"epsilon", SK_ATTRIBUTE_REAL, .real = 1e-6}, {"output_mask", SK_ATTRIBUTE_INTEGERS}, {NULL}};
static const struct sk_schema_attribute layer_epsilon[] = {{"epsilon", SK_ATTRIBUTE_REAL, .real = 1e-5}, {NULL}};
static const struct sk_schema_attribute normal_steps[] = {{"axis", SK_ATTRIBUTE_INTEGER, .integer = -1},
							  {"div_mode", SK_ATTRIBUTE_INTEGER},
							  {"epsilon", SK_ATTRIBUTE_REAL, .real = 1e-6},
							  {NULL}};
static const struct sk_schema_attribute steps[] = {{"axis", SK_ATTRIBUTE_INTEGER, .integer = -1},
						   {"div_mode", SK_ATTRIBUTE_INTEGER},
						   {"round_mode", SK_ATTRIBUTE_STRING, .string = "round"},
						   {NULL}};

#define FUSED(NAME, LEAST, INPUTS, OUTPUTS, ATTRIBUTES)                                                                \
	{                                                                                                              \
		NAME, SK_OWN_DOMAIN, LEAST, INPUTS, 1, OUTPUTS, .attributes = ATTRIBUTES, .infer = infer_fused,        \
								.canonical = canonical_fused                           \
	}

const struct sk_schema sk_operators_fused_normal[] = {
	FUSED("AddLayerNorm", 4, 4, 4, layer_epsilon),
	FUSED("AddRmsNorm", 3, 3, 3, epsilon),
	FUSED("AddRmsNormCast", 3, 3, 4, epsilon),
	FUSED("AddRmsNormDynamicQuant", 3, 5, 5, epsilon),
	FUSED("AddRmsNormQuant", 4, 7, 3, normal_steps),
	FUSED("DynamicQuant", 1, 2, 2, NULL),
	FUSED("QuantV2", 2, 3, 1, steps),
	FUSED("RmsNorm", 2, 2, 2, epsilon),
	FUSED("RmsNormQuant", 2, 5, 1, normal_steps),
	{NULL},
};
