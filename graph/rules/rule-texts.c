/* Rules as texts; see rules-parts.h. At first only the names of rules are read from YAML. The text of a rule is read
 * (read-rules.c) if the graph has the operators of its pattern, without which it cannot match. */
#include "graph/rules/rules-parts.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/document.h"
#include "base/map.h"
#include "graph/rules/rules.h"

struct sk_rule_text {
	const struct sk_document *document;
	const struct sk_node *node;
	bool is_read;
	struct sk_rules rules; /* the rules of the text, once it is read */
};

/* Return the value of the key; NULL: the map lacks it. */
static const struct sk_node *find_value(const struct sk_node *map, const char *key)
{
	for (const struct sk_node *known = map->kind == SK_NODE_MAP ? sk_node_first(map) : NULL; known;
	     known = sk_node_next(known))
		if (!strcmp(known->text, key))
			return sk_node_value(known);
	return NULL;
}

bool sk_rule_texts_list(struct sk_arena *arena, struct sk_diag *diag, const char *set, const char *text,
			struct sk_rule_list *list)
{
	struct sk_document *document = SK_NEW(arena, struct sk_document);
	const struct sk_node *root;

	*document = (struct sk_document){
		.arena = arena, .diag = diag, .file = sk_arena_join(arena, set, ".yaml"), .kind = "a file of rules"};
	root = sk_document_parse(document, arena, text, strlen(text));
	if (!root)
		return false;
	for (const struct sk_node *node = sk_node_items(find_value(root, "fuse"), NULL); node;
	     node = sk_node_next(node)) {
		const struct sk_node *name = find_value(node, "name");
		struct sk_rule_text *waiting = SK_NEW(arena, struct sk_rule_text);

		*waiting = (struct sk_rule_text){.document = document, .node = node};
		sk_array_push(arena, list,
			      (struct sk_rule){.name = name->text,
					       .place = sk_node_place(document, name),
					       .set = set,
					       .text = waiting});
	}
	return true;
}

/* ---- the operators of a graph ---- */

/* True for "y = Add|Sub(Relu(x), 1)" if the graph has nodes of one operator of each group. As in rule-lines.c,
 * operators begin with a capital letter, and '(' or '|' follows them. Unclear texts count as present. */
static bool may_have_line(const struct sk_map *operators, const char *line)
{
	bool known = false; /* an operator of the group is known */

	while (*line) {
		size_t length = 0;

		while (isalnum((unsigned char)line[length]) || line[length] == '_' || line[length] == '.')
			length++;

		const char *after = line + length + strspn(line + length, " ");
		bool is_operator = isupper((unsigned char)*line) && (*after == '(' || *after == '|');

		if (is_operator)
			known |= sk_map_find(operators, line, length) != SK_NONE;
		if (is_operator && *after == '(' && !known)
			return false;
		known &= !is_operator || *after == '|';
		if (*line == '\'')
			length = 1 + strcspn(line + 1, "'");
		line += length + (line[length] != '\0');
	}
	return true;
}

static bool may_have_pattern(const struct sk_map *operators, const struct sk_node *pattern)
{
	for (const struct sk_node *line = sk_node_items(pattern, NULL); line; line = sk_node_next(line)) {
		size_t ways;
		const struct sk_node *way = sk_node_items(line, &ways);
		bool may = false;

		for (; ways && !may; ways--, way = sk_node_next(way))
			may = may_have_line(operators, way->text);
		if (!may)
			return false;
	}
	return true;
}

static bool may_have(const struct sk_map *operators, const struct sk_node *rule)
{
	const struct sk_node *pattern = find_value(rule, "pattern"), *variants = find_value(rule, "variants");

	if (!variants)
		return may_have_pattern(operators, pattern);
	for (const struct sk_node *variant = sk_node_first(variants); variant; variant = sk_node_next(variant)) {
		const struct sk_node *own = find_value(variant, "pattern");

		if (may_have_pattern(operators, own ? own : pattern))
			return true;
	}
	return false;
}

static void find_operators(const struct sk_op_graph *graph, struct sk_map *operators)
{
	sk_map_init(operators, graph->arena);
	for (size_t n = 0; n < graph->nodes.count; n++)
		if (!graph->nodes.items[n].removed)
			sk_map_insert(operators, graph->nodes.items[n].op, strlen(graph->nodes.items[n].op), 0);
}

/* ---- reading ---- */

static bool read_text(struct sk_rule_text *text)
{
	if (!text->is_read && !sk_rule_read(text->document, text->node, &text->rules))
		return false;
	text->is_read = true;
	return true;
}

bool sk_rule_texts_read(const struct sk_op_graph *graph, const struct sk_rule_list *rules, struct sk_rule_list *read)
{
	struct sk_map operators;

	find_operators(graph, &operators);
	for (size_t r = 0; r < rules->count; r++) {
		struct sk_rule_text *text = rules->items[r].text;

		if (!text)
			sk_array_push(graph->arena, read, rules->items[r]);
		if (!text || !may_have(&operators, text->node))
			continue;
		if (!read_text(text))
			return false;
		for (size_t i = 0; i < text->rules.fuse.count; i++) {
			sk_array_push(graph->arena, read, text->rules.fuse.items[i]);
			read->items[read->count - 1].set = rules->items[r].set;
		}
	}
	return true;
}
