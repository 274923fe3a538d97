/* `attr:` of a task: the attributes of an operator, as the manifest gives them. Input: the map's node. Output: the
 * task's attributes; the notation of a value determines its kind. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "format/signature/signature.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

/* Read a 64-bit number with its sign. Return false if the text is not a number; report an error if the number does not
 * fit. */
static bool read_number(const struct sk_document *document, const struct sk_node *node, struct sk_attribute *number)
{
	struct sk_number written;
	bool valid = true;

	if (node->kind != SK_NODE_SCALAR || !node->plain || !sk_manifest_parse_number(node->text, &written, &valid))
		return false;
	number->kind = written.kind == SK_NUMBER_INTEGER ? SK_ATTRIBUTE_INTEGER : SK_ATTRIBUTE_REAL;
	number->integer = written.integer;
	number->real = written.real;
	if (!valid || (written.kind == SK_NUMBER_INTEGER && !written.negative && written.integer < 0))
		sk_error(document->diag, sk_node_place(document, node), "'%s' is not a number that an attribute can be",
			 node->text);
	return true;
}

/* Read a list such as "[0, 1]"; its elements are real numbers if one of them is. */
static bool read_list(const struct sk_document *document, const struct sk_node *node, struct sk_attribute *list)
{
	int64_t *integers = SK_NEW_ARRAY(document->arena, int64_t, node->count + 1);
	double *reals = SK_NEW_ARRAY(document->arena, double, node->count + 1);
	bool real = false;

	for (const struct sk_node *item = sk_node_first(node); item; item = sk_node_next(item)) {
		struct sk_attribute number = {.integer = 0};

		if (!read_number(document, item, &number)) {
			sk_error(document->diag, sk_node_place(document, item),
				 "the list '%s' has numbers only: [0, 1] or [0.5, 1]", list->name);
			return false;
		}
		real |= number.kind == SK_ATTRIBUTE_REAL;
		integers[list->count] = number.integer;
		reals[list->count++] = number.kind == SK_ATTRIBUTE_REAL ? number.real : (double)number.integer;
	}
	list->kind = real ? SK_ATTRIBUTE_REALS : SK_ATTRIBUTE_INTEGERS;
	list->integers = real ? NULL : integers;
	list->reals = real ? reals : NULL;
	return true;
}

static bool read_value(const struct sk_document *document, const struct sk_node *node, struct sk_attribute *attribute)
{
	if (node->kind == SK_NODE_LIST)
		return read_list(document, node, attribute);
	if (read_number(document, node, attribute))
		return true;
	if (node->kind == SK_NODE_MAP || sk_node_is_null(node) || (node->plain && !node->length)) {
		sk_error(document->diag, sk_node_place(document, node),
			 "attribute '%s' must be a number, a word, or a list of numbers", attribute->name);
		return false;
	}
	if (node->plain && (!strcmp(node->text, "true") || !strcmp(node->text, "false"))) {
		sk_error(document->diag, sk_node_place(document, node), "'%s' is not a number; write %c", node->text,
			 *node->text == 't' ? '1' : '0');
		return false;
	}
	attribute->kind = SK_ATTRIBUTE_STRING;
	attribute->string = sk_arena_copy(document->arena, node->text, node->length);
	return true;
}

void sk_manifest_read_attributes(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task *task = target;

	if (!sk_expect_map(document, value, "'attr'", NULL))
		return;
	for (const struct sk_node *key = sk_node_first(value); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		struct sk_attribute attribute = {.place = sk_node_place(document, key)};
		struct sk_name name;

		if (!sk_read_name(document, key, "the name of an attribute", NULL, &name))
			continue;
		attribute.name = name.text;
		if (read_value(document, sk_node_value(key), &attribute))
			sk_array_push(document->arena, &task->said.attributes, attribute);
	}
}
