/* Einsum: sums of products by labels of dimensions. It becomes products of matrices, two operands at a time. Dimensions
 * of both operands become batches if they are needed later, and are summed otherwise; all others are rows and columns.
 * Operands are first rearranged into that order, by a copy where that is necessary. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum {
	LETTERS = 52, /* labels: a to z, A to Z, */
	LABELS = LETTERS + SK_MAX_RANK, /* and the dimensions of an ellipsis, the last one first */
	MOST_LABELS = 2 * SK_MAX_RANK, /* of a product */
	MOST_TERMS = 64,
};

/* A tensor with labelled dimensions. */
struct term {
	uint32_t value; /* SK_NONE: the output */
	uint32_t rank;
	uint8_t labels[MOST_LABELS];
	uint64_t sizes[MOST_LABELS]; /* of the value: 1 where it is broadcast */
};

struct equation {
	uint32_t count;
	struct term terms[MOST_TERMS + 1]; /* the inputs, and the output */
	uint64_t sizes[LABELS]; /* 0 with `known` unset: no input has the label */
	bool known[LABELS];
};

/* ---- the equation ---- */

static uint8_t label_of(char letter)
{
	if (letter >= 'a' && letter <= 'z')
		return (uint8_t)(letter - 'a');
	return letter >= 'A' && letter <= 'Z' ? (uint8_t)(26 + letter - 'A') : LABELS;
}

static bool has_label(const struct term *term, uint8_t label)
{
	return memchr(term->labels, label, term->rank) != NULL;
}

static bool add_label(const struct sk_inference *inference, struct term *term, uint8_t label)
{
	if (label >= LABELS || term->rank == MOST_LABELS)
		return sk_infer_error(inference, "the equation '%s' is not understood",
				      sk_node_string(inference->node, "equation", ""));
	term->labels[term->rank++] = label;
	return true;
}

/* Read labels up to a comma, an arrow or the end. An ellipsis stands for the given number of dimensions. */
static bool read_term(const struct sk_inference *inference, const char **text, struct term *term, uint32_t ellipsis)
{
	bool valid = true;

	for (; **text && **text != ',' && strncmp(*text, "->", 2) != 0 && valid; ++*text) {
		if (**text == ' ')
			continue;
		if (strncmp(*text, "...", 3) != 0) {
			valid = add_label(inference, term, label_of(**text));
			continue;
		}
		for (uint32_t i = ellipsis; i-- && valid;)
			valid = add_label(inference, term, (uint8_t)(LETTERS + i));
		*text += 2;
	}
	return valid;
}

/* Count the letters before the next comma or arrow. */
static uint32_t count_letters(const char *text)
{
	uint32_t count = 0;

	for (; *text && *text != ',' && *text != '-'; text++)
		count += label_of(*text) != LABELS;
	return count;
}

static bool read_input(const struct sk_inference *inference, struct equation *equation, const char **text)
{
	uint32_t number = equation->count++, letters = count_letters(*text);
	const struct sk_value *value = sk_infer_input(inference, number);
	struct term *term = &equation->terms[number];

	*term = (struct term){.value = inference->node->inputs.items[number]};
	if (!read_term(inference, text, term, value->rank > letters ? value->rank - letters : 0))
		return false;
	if (term->rank != value->rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and the equation '%s' has %u for it",
				      value->name, value->rank, sk_plural(value->rank),
				      sk_node_string(inference->node, "equation", ""), term->rank);
	for (uint32_t i = 0; i < term->rank; i++) {
		uint64_t *size = &equation->sizes[term->labels[i]];
		bool *known = &equation->known[term->labels[i]];

		term->sizes[i] = value->shape[i];
		if (*known && *size != 1 && value->shape[i] != 1 && *size != value->shape[i])
			return sk_infer_error(inference, "dimension %u of '%s' is %llu, and %llu elsewhere", i,
					      value->name, (unsigned long long)value->shape[i],
					      (unsigned long long)*size);
		if (!*known || *size == 1)
			*size = value->shape[i];
		*known = true;
	}
	return true;
}

/* Without an arrow the output has the dimensions of ellipses, and the letters that occur once, in alphabetical
 * order. */
static bool imply_output(const struct sk_inference *inference, const struct equation *equation, struct term *output)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	bool valid = true;

	for (uint8_t label = LABELS; label-- > LETTERS && valid;)
		valid = !equation->known[label] || add_label(inference, output, label);
	for (const char *letter = alphabet; *letter && valid; letter++) {
		uint32_t uses = 0;

		for (uint32_t t = 0; t < equation->count; t++)
			for (uint32_t i = 0; i < equation->terms[t].rank; i++)
				uses += equation->terms[t].labels[i] == label_of(*letter);
		valid = uses != 1 || add_label(inference, output, label_of(*letter));
	}
	return valid;
}

static bool read_output(const struct sk_inference *inference, struct equation *equation, const char *text)
{
	struct term *output = &equation->terms[equation->count];
	uint32_t ellipsis = 0;

	*output = (struct term){.value = SK_NONE};
	while (ellipsis < SK_MAX_RANK && equation->known[LETTERS + ellipsis])
		ellipsis++;
	if (!*text && !imply_output(inference, equation, output))
		return false;
	if (*text) {
		text += 2;
		if (!read_term(inference, &text, output, ellipsis))
			return false;
	}
	for (uint32_t i = 0; i < output->rank; i++) {
		if (!equation->known[output->labels[i]] || memchr(output->labels, output->labels[i], i))
			return sk_infer_error(inference, "the output of the equation '%s' is not understood",
					      sk_node_string(inference->node, "equation", ""));
		output->sizes[i] = equation->sizes[output->labels[i]];
	}
	return !*text || sk_infer_error(inference, "the equation '%s' continues after its output",
					sk_node_string(inference->node, "equation", ""));
}

static bool read_equation(const struct sk_inference *inference, struct equation *equation)
{
	const char *text = sk_node_string(inference->node, "equation", "");
	size_t inputs = inference->node->inputs.count;

	*equation = (struct equation){.count = 0};
	if (inputs > MOST_TERMS)
		return sk_infer_error(inference, "it has %zu input%s, and there can be %d", inputs, sk_plural(inputs),
				      MOST_TERMS);
	for (;;) {
		if (equation->count < inputs && !read_input(inference, equation, &text))
			return false;
		if (*text != ',' || equation->count == inputs)
			break;
		text++;
	}
	if (equation->count != inputs || *text == ',')
		return sk_infer_error(inference, "the equation '%s' is not one of %zu input%s",
				      sk_node_string(inference->node, "equation", ""), inputs, sk_plural(inputs));
	return read_output(inference, equation, text);
}

static bool infer_einsum(struct sk_inference *inference)
{
	struct equation *equation = SK_NEW(inference->graph->arena, struct equation);
	const struct sk_value *first = sk_infer_input(inference, 0);
	const struct term *output;

	for (size_t i = 1; i < inference->node->inputs.count; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		if (!value || value->dtype != first->dtype)
			return sk_infer_error(inference, "input %zu is %s, and input 0 is %s", i,
					      value ? sk_dtype_name(value->dtype) : "absent",
					      sk_dtype_name(first->dtype));
	}
	if (!read_equation(inference, equation))
		return false;
	output = &equation->terms[equation->count];
	return sk_infer_output(inference, 0, first->dtype, output->rank, output->sizes);
}

/* ---- calls ---- */

static uint64_t elements_of(const struct term *term)
{
	uint64_t all = 1;

	for (uint32_t i = 0; i < term->rank; i++)
		all *= term->sizes[i];
	return all;
}

/* Rearrange the term to these labels, in their order and size, as [n]. A repeated label selects a diagonal. */
static bool arrange(struct sk_canonical *canonical, const struct equation *equation, const struct term *term,
		    const struct term *wanted, uint32_t to)
{
	struct sk_arrangement arrangement = {.rank = wanted->rank};

	for (uint32_t i = 0; i < wanted->rank; i++) {
		int64_t stride = 1;

		arrangement.shape[i] = equation->sizes[wanted->labels[i]];
		for (uint32_t d = term->rank; d--; stride *= (int64_t)term->sizes[d])
			if (term->labels[d] == wanted->labels[i] && term->sizes[d] != 1)
				arrangement.strides[i] += stride;
	}
	return sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, to), term->value, &arrangement);
}

/* Select the labels of a term that are in the set. */
static void select_labels(const struct equation *equation, const struct term *from, const bool *set,
			  struct term *selected)
{
	for (uint32_t i = 0; i < from->rank; i++) {
		uint8_t label = from->labels[i];

		if (!set[label] || has_label(selected, label))
			continue;
		selected->sizes[selected->rank] = equation->sizes[label];
		selected->labels[selected->rank++] = label;
	}
}

/* Integers without kernels for products and sums are computed in a wider type; the result is the lower bits. */
static enum sk_dtype dtype_of_sums(enum sk_dtype dtype)
{
	if (sk_dtype_size(dtype) > 2 || dtype == SK_F16 || dtype == SK_BF16)
		return dtype;
	return dtype == SK_I8 || dtype == SK_I16 ? SK_I32 : SK_U32;
}

/* Add a value for the elements of the term. */
static bool make_value(struct sk_canonical *canonical, struct term *term)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value output = graph->values.items[sk_canonical_output(canonical, 0)];
	enum sk_dtype dtype = dtype_of_sums(output.dtype);
	uint64_t elements;

	if (!sk_shape_is_countable(dtype, term->rank, term->sizes))
		return sk_canonical_error(canonical, "products between its inputs have more than 2^63 bytes");
	elements = elements_of(term);
	term->value = sk_graph_new_value(graph, output.name, dtype, 1, &elements);
	return true;
}

/* First sum over labels that neither another operand nor the output has. */
static bool reduce(struct sk_canonical *canonical, const struct equation *equation, struct term *term,
		   const bool *wanted)
{
	struct sk_op_graph *graph = canonical->graph;
	struct term ordered = {0}, kept = {0};
	struct sk_graph_call *call;
	bool rest[LABELS];
	uint64_t rows;

	for (uint8_t label = 0; label < LABELS; label++)
		rest[label] = !wanted[label];
	select_labels(equation, term, wanted, &kept);
	ordered = kept;
	select_labels(equation, term, rest, &ordered);
	if (ordered.rank == kept.rank)
		return true;
	if (!make_value(canonical, &ordered) || !arrange(canonical, equation, term, &ordered, ordered.value) ||
	    !make_value(canonical, &kept))
		return false;
	rows = elements_of(&kept);
	call = sk_canonical_call(canonical, "ReduceSum");
	sk_call_input(canonical, call,
		      sk_operand_shaped(graph, ordered.value, 3, (uint64_t[]){rows, elements_of(&ordered) / rows, 1}));
	sk_call_output(canonical, call, sk_operand_shaped(graph, kept.value, 2, (uint64_t[]){rows, 1}));
	*term = kept;
	return true;
}

/* Multiply two terms; sum over the labels of both that are not needed later. */
static bool multiply(struct sk_canonical *canonical, const struct equation *equation, const struct term *a,
		     const struct term *b, const bool *wanted, struct term *product)
{
	struct term batch = {0}, rows = {0}, columns = {0}, summed = {0}, left, right;
	bool sets[4][LABELS]; /* batches, summed, of a alone, of b alone */

	for (uint8_t label = 0; label < LABELS; label++) {
		bool in_a = has_label(a, label), in_b = has_label(b, label);

		sets[0][label] = in_a && in_b && wanted[label];
		sets[1][label] = in_a && in_b && !wanted[label];
		sets[2][label] = in_a && !in_b;
		sets[3][label] = !in_a && in_b;
	}
	select_labels(equation, a, sets[0], &batch);
	select_labels(equation, a, sets[1], &summed);
	select_labels(equation, a, sets[2], &rows);
	select_labels(equation, b, sets[3], &columns);
	if (batch.rank + rows.rank + columns.rank > MOST_LABELS || batch.rank + rows.rank + summed.rank > MOST_LABELS ||
	    batch.rank + columns.rank + summed.rank > MOST_LABELS)
		return sk_canonical_error(canonical, "a product between its inputs has more than %d dimensions",
					  MOST_LABELS);
	left = right = *product = batch;
	select_labels(equation, &rows, sets[2], &left);
	select_labels(equation, &summed, sets[1], &left);
	select_labels(equation, &summed, sets[1], &right);
	select_labels(equation, &columns, sets[3], &right);
	select_labels(equation, &rows, sets[2], product);
	select_labels(equation, &columns, sets[3], product);
	if (!make_value(canonical, &left) || !make_value(canonical, &right) || !make_value(canonical, product) ||
	    !arrange(canonical, equation, a, &left, left.value) ||
	    !arrange(canonical, equation, b, &right, right.value))
		return false;
	sk_canonical_product(canonical, left.value, right.value, product->value, elements_of(&batch),
			     elements_of(&rows), elements_of(&summed), elements_of(&columns));
	return true;
}

/* Mark the labels of the output, and of the terms from that one on. */
static void mark_wanted(const struct equation *equation, uint32_t from, bool *wanted)
{
	memset(wanted, 0, LABELS * sizeof(*wanted));
	for (uint32_t t = from; t <= equation->count; t++)
		for (uint32_t i = 0; i < equation->terms[t].rank; i++)
			wanted[equation->terms[t].labels[i]] = true;
}

static bool reduce_all(struct sk_canonical *canonical, struct equation *equation)
{
	for (uint32_t t = 0; t < equation->count; t++) {
		struct term own = equation->terms[t];
		bool wanted[LABELS];

		equation->terms[t].rank = 0;
		mark_wanted(equation, 0, wanted);
		equation->terms[t] = own;
		if (!reduce(canonical, equation, &equation->terms[t], wanted))
			return false;
	}
	return true;
}

/* Store the last remaining term in the output. */
static bool store(struct sk_canonical *canonical, const struct equation *equation, uint32_t to)
{
	const struct term *last = &equation->terms[equation->count - 1], *output = &equation->terms[equation->count];
	struct sk_op_graph *graph = canonical->graph;
	enum sk_dtype dtype = graph->values.items[last->value].dtype;
	struct term wide = *output;

	if (dtype == graph->values.items[to].dtype)
		return arrange(canonical, equation, last, output, to);
	if (!make_value(canonical, &wide) || !arrange(canonical, equation, last, output, wide.value))
		return false;
	sk_canonical_store(canonical, to, wide.value);
	return true;
}

static bool canonical_einsum(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	struct equation *equation = SK_NEW(graph->arena, struct equation);
	uint32_t to = sk_canonical_output(canonical, 0);

	if (!read_equation(&inference, equation))
		return false;
	for (uint8_t label = 0; label < LABELS; label++)
		if (equation->known[label] && !equation->sizes[label])
			return sk_canonical_fill(canonical, to, 0);
	for (uint32_t t = 0; t < equation->count; t++) {
		uint32_t value = equation->terms[t].value;

		equation->terms[t].value =
			sk_canonical_cast(canonical, value, dtype_of_sums(graph->values.items[value].dtype));
	}
	if (!reduce_all(canonical, equation))
		return false;
	for (uint32_t t = 1; t < equation->count; t++) {
		struct term product;
		bool wanted[LABELS];

		mark_wanted(equation, t + 1, wanted);
		if (!multiply(canonical, equation, &equation->terms[t - 1], &equation->terms[t], wanted, &product))
			return false;
		equation->terms[t] = product;
	}
	return store(canonical, equation, to);
}

/* ---- the table ---- */

static const struct sk_schema_attribute einsum[] = {{"equation", SK_ATTRIBUTE_STRING, true}, {NULL}};

const struct sk_schema sk_operators_einsum[] = {
	{"Einsum", "", 1, SK_VARIADIC, 1, 1, .attributes = einsum, .infer = infer_einsum,
	 .canonical = canonical_einsum},
	{NULL},
};
