/* The evaluation of expressions where a pattern has been found; see rules.h. There are no errors: a condition with an
 * undefined expression does not hold. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/rules/rules-parts.h"
#include "graph/rules/rules.h"

static bool fails(struct sk_match *match, const char *reason)
{
	match->reason = reason;
	return false;
}

static double *new_numbers(struct sk_match *match, size_t count, struct sk_datum *datum)
{
	double *numbers = SK_NEW_ARRAY(match->graph->arena, double, count + 1);

	*datum = (struct sk_datum){.list = true, .count = count, .numbers = numbers};
	return numbers;
}

static bool set_number(struct sk_match *match, double number, struct sk_datum *datum)
{
	new_numbers(match, 1, datum)[0] = number;
	datum->list = false;
	return true;
}

/* ---- functions of values ---- */

/* Read the constant; false, with a reason, if the value is not one, or a large one. */
static bool contents_of(struct sk_match *match, uint32_t index, struct sk_datum *datum)
{
	const struct sk_value *value = &match->graph->values.items[index];
	uint64_t count;
	double *numbers;

	if (!value->contents)
		return fails(match, "it is not a constant");
	count = sk_value_elements(value);
	if (count > SK_CONSTANT_MAX)
		return fails(match, "the constant is too large");
	numbers = new_numbers(match, count, datum);
	for (uint64_t i = 0; i < count; i++)
		numbers[i] = sk_element_number(value->dtype,
					       (const uint8_t *)value->contents + i * sk_dtype_size(value->dtype));
	datum->list = value->rank;
	datum->real = sk_value_is_float(value);
	return true;
}

/* Return the dimensions, or for each 1 if it depends on dimensions with bounds, and else 0. */
static bool shape_of(struct sk_match *match, const struct sk_value *value, bool bounds, struct sk_datum *datum)
{
	double *numbers = new_numbers(match, value->rank, datum);

	for (uint32_t i = 0; i < value->rank; i++)
		numbers[i] = bounds ? value->sizes[i] != NULL : (double)value->shape[i];
	return true;
}

/* Return the index of the value's producer. */
static bool read_producer(struct sk_match *match, const struct sk_value *value, const char *function,
			  struct sk_datum *datum)
{
	const struct sk_graph_node *node = &match->graph->nodes.items[value->node];

	if (!strcmp(function, "stream"))
		return set_number(match, node->stream, datum);
	if (!strcmp(function, "origin")) {
		const char *colon = node->origin ? strrchr(node->origin, ':') : NULL;

		*datum = (struct sk_datum){.text = colon ? colon + 1 : node->op};
		return true;
	}
	*datum = (struct sk_datum){.text = node->scope ? node->scope : ""};
	return true;
}

/* Evaluate a function of a value, which is its only operand. */
static bool ask_value(struct sk_match *match, const struct sk_rule_expression *call, struct sk_datum *datum)
{
	uint32_t name = sk_rule_find_name(match->rule, call->operands.items[0]->text), index = match->values[name];
	const char *function = call->text;
	const struct sk_value *value;

	if (!strcmp(function, "count"))
		return set_number(match,
				  match->rest_node == SK_NONE
					  ? 0
					  : (double)(match->graph->nodes.items[match->rest_node].inputs.count -
						     match->rest_first),
				  datum);
	if (!strcmp(function, "present"))
		return set_number(match, index != SK_NONE, datum);
	if (index == SK_NONE)
		return fails(match, "it is absent");
	value = &match->graph->values.items[index];
	if (!strcmp(function, "shape") || !strcmp(function, "bounds"))
		return shape_of(match, value, *function == 'b', datum);
	if (!strcmp(function, "value"))
		return contents_of(match, index, datum);
	if (!strcmp(function, "stream") || !strcmp(function, "scope") || !strcmp(function, "origin"))
		return value->node == SK_NONE ? fails(match, "no node makes it")
					      : read_producer(match, value, function, datum);
	if (!strcmp(function, "dtype")) {
		*datum = (struct sk_datum){.text = sk_dtype_name(value->dtype)};
		return true;
	}
	return set_number(match,
			  !strcmp(function, "rank")	  ? value->rank
			  : !strcmp(function, "size")	  ? (double)sk_value_elements(value)
			  : !strcmp(function, "constant") ? value->contents != NULL
			  : !strcmp(function, "uses")	  ? match->users->counts.items[index]
			  : !strcmp(function, "output")	  ? value->output
			  : !strcmp(function, "repeats")  ? sk_value_repeats(match->graph, index)
							  : sk_value_is_float(value),
			  datum);
}

/* ---- operations on numbers, element by element ---- */

static double compute(const char *word, double a, double b)
{
	switch (word[0] + 256 * word[1]) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		return a / b;
	case '%':
		return a - b * floor(a / b);
	case '<':
		return a < b;
	case '>':
		return a > b;
	case '<' + 256 * '=':
		return a <= b;
	case '>' + 256 * '=':
		return a >= b;
	case '=' + 256 * '=':
		return a == b;
	case '!' + 256 * '=':
		return a != b;
	case 'm' + 256 * 'i':
		return fmin(a, b);
	case 'm' + 256 * 'a':
		return fmax(a, b);
	case 'o' + 256 * 'r':
		return a != 0 || b != 0;
	default: /* and */
		return a != 0 && b != 0;
	}
}

/* Combine element by element; a number is combined with each element of a list. */
static bool combine(struct sk_match *match, const char *word, const struct sk_datum *a, const struct sk_datum *b,
		    struct sk_datum *datum)
{
	size_t count = a->list ? a->count : b->count;
	double *numbers;

	if (a->text || b->text) {
		bool same = a->text && b->text && !strcmp(a->text, b->text);

		if (strcmp(word, "==") && strcmp(word, "!="))
			return fails(match, "texts are compared with == and != only");
		return set_number(match, same == !strcmp(word, "=="), datum);
	}
	if (a->list && b->list && a->count != b->count) {
		if (!strcmp(word, "==") || !strcmp(word, "!="))
			return set_number(match, !strcmp(word, "!="), datum);
		return fails(match, "lists are of different lengths");
	}
	numbers = new_numbers(match, count, datum);
	for (size_t i = 0; i < count; i++)
		numbers[i] = compute(word, a->numbers[a->list ? i : 0], b->numbers[b->list ? i : 0]);
	datum->list = a->list || b->list;
	return true;
}

static double apply_function(const char *function, double x)
{
	switch (function[0]) {
	case 's':
		return sqrt(x);
	case 'e':
		return exp(x);
	case 'l':
		return log(x);
	case 'a':
		return fabs(x);
	case 'f':
		return floor(x);
	case 'n':
		return x == 0;
	default: /* - */
		return -x;
	}
}

static bool map(struct sk_match *match, const char *function, const struct sk_datum *a, struct sk_datum *datum)
{
	double *numbers;

	if (a->text)
		return fails(match, "a text is not a number");
	numbers = new_numbers(match, a->count, datum);
	for (size_t i = 0; i < a->count; i++)
		numbers[i] = apply_function(function, a->numbers[i]);
	datum->list = a->list;
	return true;
}

/* ---- operations on lists ---- */

bool sk_datum_is_true(const struct sk_datum *datum)
{
	for (size_t i = 0; i < datum->count; i++)
		if (datum->numbers[i] == 0)
			return false;
	return !datum->text;
}

static bool is_count(double number)
{
	return number >= 0 && number <= SK_DATUM_MAX && number == floor(number);
}

static bool make_range(struct sk_match *match, double from, double to, struct sk_datum *datum)
{
	double *numbers;

	if (!is_count(from) || !is_count(to))
		return fails(match, "a range goes from one whole number to another");
	numbers = new_numbers(match, to > from ? (size_t)(to - from) : 0, datum);
	for (size_t i = 0; i < datum->count; i++)
		numbers[i] = from + (double)i;
	return true;
}

static bool fill(struct sk_match *match, double count, double number, struct sk_datum *datum)
{
	double *numbers;

	if (!is_count(count))
		return fails(match, "a list has a whole number of elements");
	numbers = new_numbers(match, (size_t)count, datum);
	for (size_t i = 0; i < datum->count; i++)
		numbers[i] = number;
	return true;
}

static bool concat(struct sk_match *match, const struct sk_datum *lists, size_t count, struct sk_datum *datum)
{
	size_t total = 0;
	double *numbers;

	for (size_t i = 0; i < count; i++) {
		if (lists[i].text)
			return fails(match, "a list holds numbers only");
		total += lists[i].count;
	}
	if (total > SK_DATUM_MAX)
		return fails(match, "the list is too long");
	numbers = new_numbers(match, total, datum);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < lists[i].count; j++)
			*numbers++ = lists[i].numbers[j];
	return true;
}

/* Return the indices of the elements other than 0. */
static bool indices(struct sk_match *match, const struct sk_datum *list, struct sk_datum *datum)
{
	double *numbers = new_numbers(match, list->count, datum);

	datum->count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (list->numbers[i] != 0)
			numbers[datum->count++] = (double)i;
	return true;
}

static bool item(struct sk_match *match, const struct sk_datum *list, double index, struct sk_datum *datum)
{
	if (index < 0)
		index += (double)list->count;
	if (!is_count(index) || index >= (double)list->count)
		return fails(match, "a list has no such item");
	return set_number(match, list->numbers[(size_t)index], datum);
}

/* Return the items with the given indices. */
static bool take_items(struct sk_match *match, const struct sk_datum *list, const struct sk_datum *which,
		       struct sk_datum *datum)
{
	double *numbers = new_numbers(match, which->count, datum);
	struct sk_datum one;

	for (size_t i = 0; i < which->count; i++) {
		if (!item(match, list, which->numbers[i], &one))
			return false;
		numbers[i] = one.numbers[0];
	}
	return true;
}

static bool accumulate(struct sk_match *match, const char *function, const struct sk_datum *list,
		       struct sk_datum *datum)
{
	double sum = 0, product = 1, any = 0;

	for (size_t i = 0; i < list->count; i++) {
		sum += list->numbers[i];
		product *= list->numbers[i];
		any = any != 0 || list->numbers[i] != 0;
	}
	return set_number(match,
			  !strcmp(function, "sum")	 ? sum
			  : !strcmp(function, "product") ? product
			  : !strcmp(function, "length")	 ? (double)list->count
			  : !strcmp(function, "any")	 ? any
							 : sk_datum_is_true(list),
			  datum);
}

static bool call_function(struct sk_match *match, const char *function, const struct sk_datum *operands, size_t count,
			  struct sk_datum *datum)
{
	for (size_t i = 0; i < count; i++)
		if (operands[i].text)
			return fails(match, "a text is not a number");
	if (!strcmp(function, "min") || !strcmp(function, "max")) {
		*datum = operands[0];
		for (size_t i = 1; i < count; i++)
			if (!combine(match, function,
				     &(struct sk_datum){
					     .list = datum->list, .count = datum->count, .numbers = datum->numbers},
				     &operands[i], datum))
				return false;
		return true;
	}
	if (!strcmp(function, "concat"))
		return concat(match, operands, count, datum);
	if (!strcmp(function, "indices"))
		return indices(match, &operands[0], datum);
	if (!strcmp(function, "take"))
		return take_items(match, &operands[0], &operands[1], datum);
	if (!strcmp(function, "range") || !strcmp(function, "fill")) {
		for (size_t i = 0; i < count; i++)
			if (operands[i].list)
				return fails(match, "a number is needed, not a list");
		if (!strcmp(function, "fill"))
			return fill(match, operands[0].numbers[0], operands[1].numbers[0], datum);
		return make_range(match, count > 1 ? operands[0].numbers[0] : 0, operands[count - 1].numbers[0], datum);
	}
	if (!strcmp(function, "sum") || !strcmp(function, "product") || !strcmp(function, "length") ||
	    !strcmp(function, "any") || !strcmp(function, "all"))
		return accumulate(match, function, &operands[0], datum);
	return map(match, function, &operands[0], datum);
}

/* ---- all expressions ---- */

static bool evaluate_name(struct sk_match *match, const struct sk_rule_expression *expression, struct sk_datum *datum)
{
	uint32_t name = sk_rule_find_name(match->rule, expression->text);

	/* The reader allows values nowhere else, but a value may be called like the target. */
	if (name == SK_NONE || match->rule->names.items[name].kind < SK_RULE_ATTRIBUTE) {
		*datum = (struct sk_datum){.text = match->target};
		return true;
	}
	if (!match->set[name] && match->rule->names.items[name].kind == SK_RULE_LET)
		match->set[name] =
			sk_match_evaluate(match, match->rule->names.items[name].let, &match->attributes[name]);
	if (!match->set[name])
		return fails(match, "an attribute is not there");
	*datum = match->attributes[name];
	return true;
}

static bool choose_value(struct sk_match *match, const struct sk_rule_expression *expression, struct sk_datum *datum)
{
	struct sk_datum condition;

	return sk_match_evaluate(match, expression->operands.items[0], &condition) &&
	       sk_match_evaluate(match, expression->operands.items[sk_datum_is_true(&condition) ? 1 : 2], datum);
}

bool sk_match_evaluate(struct sk_match *match, const struct sk_rule_expression *expression, struct sk_datum *datum)
{
	size_t count = expression->operands.count;
	struct sk_datum *operands;

	switch (expression->kind) {
	case SK_RULE_EXPRESSION_NUMBER:
		return set_number(match, expression->number, datum);
	case SK_RULE_EXPRESSION_TEXT:
		*datum = (struct sk_datum){.text = expression->text};
		return true;
	case SK_RULE_EXPRESSION_NAME:
		return evaluate_name(match, expression, datum);
	case SK_RULE_EXPRESSION_CHOICE:
		return choose_value(match, expression, datum);
	default:
		break;
	}
	if (expression->of_value)
		return ask_value(match, expression, datum);
	operands = SK_NEW_ARRAY(match->graph->arena, struct sk_datum, count + 1);
	for (size_t i = 0; i < count; i++)
		if (!sk_match_evaluate(match, expression->operands.items[i], &operands[i]))
			return false;
	switch (expression->kind) {
	case SK_RULE_EXPRESSION_LIST:
		return concat(match, operands, count, datum);
	case SK_RULE_EXPRESSION_UNARY:
		return map(match, expression->text, &operands[0], datum);
	case SK_RULE_EXPRESSION_BINARY:
		return combine(match, expression->text, &operands[0], &operands[1], datum);
	case SK_RULE_EXPRESSION_ITEM:
		return !operands[1].text && !operands[1].list ? item(match, &operands[0], operands[1].numbers[0], datum)
							      : fails(match, "a list has no such item");
	default:
		return call_function(match, expression->text, operands, count, datum);
	}
}

/* ---- attributes: real numbers are f32 in models ---- */

bool sk_numbers_same(double one, double other, bool real)
{
	return real ? (float)one == (float)other : one == other;
}

bool sk_datum_same(const struct sk_datum *one, const struct sk_datum *other)
{
	if (one->text || other->text)
		return one->text && other->text && !strcmp(one->text, other->text);
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (!sk_numbers_same(one->numbers[i], other->numbers[i], one->real || other->real))
			return false;
	return true;
}

bool sk_datum_of_attribute(struct sk_arena *arena, const struct sk_attribute *attribute, struct sk_datum *datum)
{
	bool list = attribute->kind == SK_ATTRIBUTE_INTEGERS || attribute->kind == SK_ATTRIBUTE_REALS;
	size_t count = list ? attribute->count : 1;
	double *numbers = SK_NEW_ARRAY(arena, double, count + 1);

	*datum = (struct sk_datum){
		.list = list,
		.real = attribute->kind == SK_ATTRIBUTE_REAL || attribute->kind == SK_ATTRIBUTE_REALS,
		.count = count,
		.numbers = numbers,
	};
	if (attribute->kind == SK_ATTRIBUTE_STRING)
		*datum = (struct sk_datum){.text = attribute->string};
	for (size_t i = 0; i < count && !datum->text; i++)
		numbers[i] = attribute->kind == SK_ATTRIBUTE_INTEGER	? (double)attribute->integer
			     : attribute->kind == SK_ATTRIBUTE_REAL	? (double)(float)attribute->real
			     : attribute->kind == SK_ATTRIBUTE_INTEGERS ? (double)attribute->integers[i]
			     : attribute->kind == SK_ATTRIBUTE_REALS	? attribute->reals[i]
									: 0;
	return attribute->kind != SK_ATTRIBUTE_STRINGS;
}
