/* Readers of single values and of maps with known keys; see document.h. */
#include "base/document.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "base/text.h"

enum { MAX_NAME = 255, SHOWN = 60 /* bytes of an invalid value in a message */ };

/* Return the node's text for an error message. */
static const char *shown(const struct sk_document *document, const struct sk_node *node)
{
	switch (node->kind) {
	case SK_NODE_LIST:
		return "a list";
	case SK_NODE_MAP:
		return "a map";
	case SK_NODE_SCALAR:
		break;
	}
	if (!node->length)
		return "nothing";
	if (node->length > SHOWN)
		return sk_arena_print(document->arena, "'%.*s…'", SHOWN, node->text);
	return sk_arena_print(document->arena, "'%s'", node->text);
}

/* Return "the role of tensor 'x'". */
static const char *subject(const struct sk_document *document, const char *label, const char *name)
{
	return name ? sk_arena_print(document->arena, "%s '%s'", label, name) : label;
}

static bool wrong(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		  const char *wanted)
{
	sk_error(document->diag, sk_node_place(document, node), "%s must be %s, not %s", subject(document, label, name),
		 wanted, shown(document, node));
	return false;
}

bool sk_expect_map(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name)
{
	return node->kind == SK_NODE_MAP || wrong(document, node, label, name, "a map");
}

bool sk_expect_list(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name)
{
	return node->kind == SK_NODE_LIST || wrong(document, node, label, name, "a list");
}

const struct sk_node *sk_node_items(const struct sk_node *node, size_t *count)
{
	if (count)
		*count = node->kind == SK_NODE_LIST ? node->count : 1;
	return node->kind == SK_NODE_LIST ? sk_node_first(node) : node;
}

bool sk_node_is_null(const struct sk_node *node)
{
	static const char *const spellings[] = {"null", "Null", "NULL", "~"};

	if (node->kind != SK_NODE_SCALAR || !node->plain || !strchr("nN~", *node->text))
		return false;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (!strcmp(node->text, spellings[i]))
			return true;
	return false;
}

/* ---- maps ---- */

static void report_unknown_key(const struct sk_document *document, const struct sk_node *key, const char *label,
			       const char *name, const struct sk_field *fields, size_t count)
{
	const char **names = SK_NEW_ARRAY(document->arena, const char *, count + 1), *hint = "";

	for (size_t i = 0; i < count; i++)
		names[i] = fields[i].name;
	if (count && !names[count - 1])
		hint = fields[--count].explain(document, key);
	if (!*hint)
		hint = sk_did_you_mean(document->arena, key->text, names, count);
	sk_error(document->diag, sk_node_place(document, key), "unknown key %s in %s%s", shown(document, key),
		 subject(document, label, name), hint);
}

/* Return the field of the key, or `count`. In most maps keys are in the order of the table: the field follows shortly
 * after the last one. */
static size_t find_field(const struct sk_field *fields, size_t count, size_t last, const struct sk_node *key)
{
	for (size_t n = 0, i = last; n < count; n++, i++) {
		if (i >= count)
			i = 0;
		if (fields[i].name && *key->text == *fields[i].name && !strcmp(key->text, fields[i].name))
			return i;
	}
	return count;
}

bool sk_read_fields(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		    const struct sk_field *fields, size_t count, void *target)
{
	uint64_t seen = 0; /* by field */
	bool complete = true;
	size_t i = 0;

	if (!sk_expect_map(document, node, label, name))
		return false;
	for (const struct sk_node *key = sk_node_first(node); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		i = find_field(fields, count, i, key);
		if (i == count) {
			report_unknown_key(document, key, label, name, fields, count);
			continue;
		}
		seen |= UINT64_C(1) << i;
		if (fields[i].read)
			fields[i].read(document, target, sk_node_value(key));
		else
			*(const struct sk_node **)((char *)target + fields[i].keep) = sk_node_value(key);
	}
	for (i = 0; i < count; i++) {
		if (!fields[i].required || seen >> i & 1)
			continue;
		sk_error(document->diag, sk_node_place(document, node), "%s has no '%s'",
			 subject(document, label, name), fields[i].name);
		complete = false;
	}
	return complete;
}

/* ---- scalars ---- */

static bool give(const struct sk_document *document, const struct sk_node *node, struct sk_name *result)
{
	const char *text = document->texts ? sk_arena_copy(document->arena, node->text, node->length) : node->text;

	*result = (struct sk_name){.text = text, .place = sk_node_place(document, node)};
	return true;
}

bool sk_expect_text(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name)
{
	return (node->kind == SK_NODE_SCALAR && node->length) || wrong(document, node, label, name, "a text");
}

bool sk_read_text(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		  struct sk_name *result)
{
	return sk_expect_text(document, node, label, name) && give(document, node, result);
}

bool sk_read_name(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		  struct sk_name *result)
{
	if (node->kind != SK_NODE_SCALAR || !node->length)
		return wrong(document, node, label, name, "a name");
	if (node->length > MAX_NAME)
		return wrong(document, node, label, name, "a name of at most 255 bytes");
	for (const char *c = node->text; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '=')
			return wrong(document, node, label, name, "a name without blanks, control characters and '='");
	return give(document, node, result);
}

bool sk_expect_original(const struct sk_document *document, const struct sk_node *node, const char *label,
			const char *name)
{
	if (node->kind != SK_NODE_SCALAR || !node->length)
		return wrong(document, node, label, name, "a name");
	if (node->length > MAX_NAME)
		return wrong(document, node, label, name, "a name of at most 255 bytes");
	for (const char *c = node->text; *c;) {
		size_t length = *c > ' ' && *c < 0x7f ? 1 : sk_character_length(c);

		if ((unsigned char)*c < ' ' || *c == 0x7f || !length)
			return wrong(document, node, label, name, "a name in UTF-8 without control characters");
		c += length;
	}
	return true;
}

bool sk_read_original(const struct sk_document *document, const struct sk_node *node, const char *label,
		      const char *name, struct sk_name *result)
{
	return sk_expect_original(document, node, label, name) && give(document, node, result);
}

bool sk_expect_identifier(const struct sk_document *document, const struct sk_node *node, const char *label,
			  const char *name)
{
	bool identifier = node->kind == SK_NODE_SCALAR && node->length && node->length <= MAX_NAME &&
			  !isdigit((unsigned char)*node->text);

	for (const char *c = node->text; identifier && *c; c++)
		identifier = isalnum((unsigned char)*c) || *c == '_';
	return identifier || wrong(document, node, label, name, "a C identifier");
}

bool sk_read_identifier(const struct sk_document *document, const struct sk_node *node, const char *label,
			const char *name, struct sk_name *result)
{
	return sk_expect_identifier(document, node, label, name) && give(document, node, result);
}

bool sk_read_integer(const struct sk_document *document, const struct sk_node *node, const char *label,
		     const char *name, uint64_t low, uint64_t high, uint64_t *value)
{
	/* "010" would be 8 to some readers of YAML and 10 to others. */
	bool valid = node->kind == SK_NODE_SCALAR && node->length && (*node->text != '0' || node->length == 1);

	*value = 0;
	for (const char *c = node->text; valid && *c; c++)
		valid = isdigit((unsigned char)*c) && sk_mul(*value, 10, value) &&
			sk_add(*value, (uint64_t)(*c - '0'), value);
	if (!valid || *value < low || *value > high)
		return wrong(document, node, label, name,
			     sk_arena_print(document->arena, "an integer from %" PRIu64 " to %" PRIu64, low, high));
	return true;
}

bool sk_read_choice(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		    const char *const *choices, size_t count, size_t *index)
{
	for (size_t i = 0; i < count; i++)
		if (node->kind == SK_NODE_SCALAR && !strcmp(node->text, choices[i])) {
			*index = i;
			return true;
		}

	const char *list = choices[0];

	for (size_t i = 1; i < count; i++)
		list = sk_arena_print(document->arena, "%s%s%s", list, i + 1 < count ? ", " : " or ", choices[i]);
	sk_error(document->diag, sk_node_place(document, node), "%s must be %s, not %s%s",
		 subject(document, label, name), list, shown(document, node),
		 node->kind == SK_NODE_SCALAR ? sk_did_you_mean(document->arena, node->text, choices, count) : "");
	return false;
}

struct sk_name *sk_read_names(const struct sk_document *document, const struct sk_node *node, const char *label,
			      sk_name_reader *read, size_t *count)
{
	size_t items;
	const struct sk_node *item = sk_node_items(node, &items);
	struct sk_name *names = SK_NEW_ARRAY(document->arena, struct sk_name, items);

	*count = 0;
	for (; item && !sk_diag_is_hopeless(document->diag); item = sk_node_next(item))
		if (read(document, item, label, NULL, &names[*count]))
			++*count;
	return names;
}
