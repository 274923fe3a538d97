/* The reader of rules in YAML; see rules.h. It resolves names, checks that operators and attributes exist, and orders
 * the nodes of each pattern so that each is reached from another one. */
#include "graph/rules/rules.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/rules/rules-parts.h"

/* The keys of a rule, and of each of its variants. A variant inherits the keys that it lacks. */
struct draft {
	const struct sk_node *name, *before, *note, *pattern, *where, *let, *replace, *outputs, *compute, *variants,
		*example;
};

static bool fails(const struct sk_document *document, const struct sk_node *node, const char *text)
{
	sk_error(document->diag, sk_node_place(document, node), "%s", text);
	return false;
}

/* ---- texts ---- */

/* Scan the text of the node; NULL after an error. */
static bool open_text(const struct sk_document *document, const struct sk_node *node, const char *what,
		      struct sk_scanner *scanner)
{
	struct sk_name text;

	if (!sk_read_text(document, node, what, NULL, &text))
		return false;
	if (node->length > SK_RULE_MAX_TEXT)
		return fails(document, node, "a line of a rule has 4096 bytes at most");
	scanner->place = text.place;
	scanner->place.column += !node->plain;
	scanner->in_line = node->in_line;
	scanner->text = scanner->at = text.text;
	scanner->depth = 0;
	scanner->failed = false;
	return true;
}

static const struct sk_rule_expression *read_expression(const struct sk_document *document, const struct sk_node *node,
							const char *what, struct sk_scanner *scanner)
{
	const struct sk_rule_expression *expression;

	if (!open_text(document, node, what, scanner))
		return NULL;
	expression = sk_expression_parse(scanner);
	if (expression && !sk_scanner_at_end(scanner)) {
		sk_scanner_error(scanner, "nothing may follow the expression");
		return NULL;
	}
	return expression;
}

typedef bool parse_line(struct sk_scanner *scanner, struct sk_rule *rule);

static bool read_lines(const struct sk_document *document, const struct sk_node *node, const char *what,
		       struct sk_scanner *scanner, struct sk_rule *rule, parse_line *parse)
{
	size_t count;

	if (!node)
		return true;
	for (const struct sk_node *line = sk_node_items(node, &count); line; line = sk_node_next(line)) {
		if (count > SK_RULE_MAX_NODES)
			return fails(document, node, "a rule has 128 nodes at most");
		if (!open_text(document, line, what, scanner) || !parse(scanner, rule))
			return false;
	}
	return true;
}

/* ---- patterns ---- */

/* Return the number of combinations of one line from each list, which is limited; 0 after an error. */
static uint32_t count_ways(const struct sk_document *document, const struct sk_node *pattern)
{
	uint32_t ways = 1;
	size_t count;

	for (const struct sk_node *line = sk_node_items(pattern, NULL); line; line = sk_node_next(line)) {
		sk_node_items(line, &count);
		if (!count)
			fails(document, line, "none of several lines is none at all");
		if (!count || count > SK_RULES_MAX / ways) {
			if (count)
				fails(document, line,
				      "there are more than 10000 ways to take one of several lines each");
			return 0;
		}
		ways *= (uint32_t)count;
	}
	return ways;
}

/* Collect the inputs of lines that are alternatives of others. If another alternative is chosen, they may be absent. */
static bool collect_taken(const struct sk_document *document, const struct sk_node *pattern, sk_texts *taken)
{
	struct sk_scanner scanner = {.arena = document->arena, .diag = document->diag};
	size_t count;

	for (const struct sk_node *line = sk_node_items(pattern, NULL); line; line = sk_node_next(line)) {
		const struct sk_node *item = sk_node_items(line, &count);

		for (; count > 1 && item; item = sk_node_next(item)) {
			struct sk_rule alone = {0};

			if (!open_text(document, item, "a line of a pattern", &scanner) ||
			    !sk_rule_parse_pattern(&scanner, &alone))
				return false;
			for (size_t i = 0; i < alone.names.count; i++)
				if (alone.names.items[i].kind == SK_RULE_INPUT)
					sk_array_push(document->arena, taken, alone.names.items[i].text);
		}
	}
	return true;
}

/* Read the pattern with one line from each list, chosen by `way`. Inputs of other alternatives only are absent. */
static bool read_pattern(const struct sk_document *document, const struct sk_node *pattern, uint32_t way,
			 const sk_texts *taken, struct sk_scanner *scanner, struct sk_rule *rule)
{
	for (const struct sk_node *line = sk_node_items(pattern, NULL); line; line = sk_node_next(line)) {
		size_t count;
		const struct sk_node *chosen = sk_node_items(line, &count);

		for (size_t number = way % count; number; number--)
			chosen = sk_node_next(chosen);
		way /= (uint32_t)count;
		if (!open_text(document, chosen, "a line of a pattern", scanner) ||
		    !sk_rule_parse_pattern(scanner, rule))
			return false;
	}
	for (size_t i = 0; i < taken->count; i++)
		if (sk_rule_find_name(rule, taken->items[i]) == SK_NONE)
			sk_array_push(document->arena, &rule->names,
				      (struct sk_rule_name){.text = taken->items[i], .optional = true});
	return true;
}

/* Read named expressions, which later ones may use. */
static bool read_lets(const struct sk_document *document, const struct sk_node *node, struct sk_scanner *scanner,
		      struct sk_rule *rule)
{
	if (!node)
		return true;
	if (!sk_expect_map(document, node, "'let'", NULL))
		return false;
	for (const struct sk_node *key = sk_node_first(node); key; key = sk_node_next(key)) {
		struct sk_name name;
		const struct sk_rule_expression *expression;

		if (!sk_read_identifier(document, key, "a name", NULL, &name))
			return false;
		if (sk_rule_find_name(rule, name.text) != SK_NONE)
			return fails(document, key, "the rule has this name already");
		expression = read_expression(document, sk_node_value(key), "an expression", scanner);
		if (!expression || !sk_rule_check_names(document->diag, rule, expression))
			return false;
		sk_array_push(document->arena, &rule->names,
			      (struct sk_rule_name){.text = name.text, .kind = SK_RULE_LET, .let = expression});
	}
	return true;
}

static bool read_conditions(const struct sk_document *document, const struct sk_node *node, struct sk_scanner *scanner,
			    struct sk_rule *rule)
{
	if (!node)
		return true;
	for (const struct sk_node *line = sk_node_items(node, NULL); line; line = sk_node_next(line)) {
		const struct sk_rule_expression *expression = read_expression(document, line, "a condition", scanner);

		if (!expression || !sk_rule_check_names(document->diag, rule, expression))
			return false;
		sk_array_push(document->arena, &rule->where, expression);
	}
	return true;
}

/* ---- outputs ---- */

static bool is_output(const struct sk_rule *rule, uint32_t name)
{
	for (size_t i = 0; i < rule->outputs.count; i++)
		if (rule->outputs.items[i] == name)
			return true;
	return false;
}

static bool read_outputs(const struct sk_document *document, const struct sk_node *node, struct sk_rule *rule)
{
	if (!node) {
		for (size_t n = rule->pattern.count; n--;)
			for (size_t i = 0; i < rule->pattern.items[n].outputs.count; i++) {
				uint32_t name = rule->pattern.items[n].outputs.items[i];

				if (name != SK_NONE && rule->names.items[name].replaced)
					sk_array_push(document->arena, &rule->outputs, name);
			}
		return true;
	}
	for (const struct sk_node *item = sk_node_items(node, NULL); item; item = sk_node_next(item)) {
		uint32_t name = item->kind == SK_NODE_SCALAR ? sk_rule_find_name(rule, item->text) : SK_NONE;

		if (name == SK_NONE || !rule->names.items[name].replaced)
			return fails(document, item, "'outputs' are names that pattern and replacement make");
		if (is_output(rule, name))
			return fails(document, item, "'outputs' have this name already");
		sk_array_push(document->arena, &rule->outputs, name);
	}
	for (uint32_t i = 0; i < rule->names.count; i++)
		rule->names.items[i].replaced = is_output(rule, i);
	return true;
}

/* ---- examples ---- */

/* Parse an example: f32[4, 6] is a tensor of random numbers, i64([-1]) a constant; an attribute has no type. */
static bool parse_example(struct sk_scanner *scanner, struct sk_rule_example *example)
{
	static const struct sk_rule nothing;
	const char *before = scanner->at, *text = sk_scanner_identifier(scanner);

	example->dtype = text ? sk_rule_find_dtype(text) : SK_DTYPE_NONE;
	example->tensor = example->dtype != SK_DTYPE_NONE && *scanner->at == '[';
	if (example->dtype == SK_DTYPE_NONE)
		scanner->at = before;
	example->value = sk_expression_parse(scanner);
	if (!example->value || !sk_rule_check_names(scanner->diag, &nothing, example->value))
		return false;
	return sk_scanner_at_end(scanner) || sk_scanner_error(scanner, "nothing may follow the example");
}

/* An example of a rule may have names that not all of its variants have. */
static bool read_example(const struct sk_document *document, const struct sk_node *node, struct sk_scanner *scanner,
			 struct sk_rule *rule)
{
	if (!node)
		return true;
	if (!sk_expect_map(document, node, "'example'", NULL))
		return false;
	for (const struct sk_node *key = sk_node_first(node); key; key = sk_node_next(key)) {
		struct sk_rule_example example = {0};
		struct sk_name name;

		if (!sk_read_identifier(document, key, "a name", NULL, &name) ||
		    !open_text(document, sk_node_value(key), "an example", scanner) ||
		    !parse_example(scanner, &example))
			return false;
		example.name = name.text;
		sk_array_push(document->arena, &rule->example, example);
	}
	return true;
}

/* ---- rules ---- */

static bool read_compute(const struct sk_document *document, const struct sk_node *node, bool *single)
{
	static const char *const choices[] = {"f32"};
	size_t index;

	*single = node;
	return !node || sk_read_choice(document, node, "'compute'", NULL, choices, 1, &index);
}

static bool read_variant(const struct sk_document *document, const struct sk_node *node, const struct draft *base,
			 const struct draft *draft, uint32_t way, const sk_texts *taken, struct sk_rule *rule)
{
	struct sk_scanner scanner = {.arena = document->arena, .diag = document->diag};
	const struct sk_node *pattern = draft->pattern ? draft->pattern : base->pattern;
	const struct sk_node *replace = draft->replace ? draft->replace : base->replace;

	if (!pattern || !replace)
		return fails(document, node, "a rule has a 'pattern' and a replacement in 'replace'");
	if (!read_pattern(document, pattern, way, taken, &scanner, rule) ||
	    !read_lets(document, base->let, &scanner, rule) ||
	    (draft != base && !read_lets(document, draft->let, &scanner, rule)) ||
	    !read_conditions(document, base->where, &scanner, rule) ||
	    (draft != base && !read_conditions(document, draft->where, &scanner, rule)) ||
	    !read_lines(document, replace, "a line of a replacement", &scanner, rule, sk_rule_parse_replacement) ||
	    !read_compute(document, draft->compute ? draft->compute : base->compute, &rule->single) ||
	    !read_outputs(document, draft->outputs ? draft->outputs : base->outputs, rule) ||
	    !read_example(document, base->example, &scanner, rule) ||
	    (draft != base && !read_example(document, draft->example, &scanner, rule)))
		return false;
	if (!rule->outputs.count)
		return fails(document, node, "the replacement makes nothing that the pattern makes");
	return sk_rule_order_steps(document->arena, rule) ||
	       fails(document, node, "a node of the pattern shares no value with the others");
}

static const struct sk_field variant_fields[] = {
	{"pattern", .keep = offsetof(struct draft, pattern)}, {"where", .keep = offsetof(struct draft, where)},
	{"let", .keep = offsetof(struct draft, let)},	      {"replace", .keep = offsetof(struct draft, replace)},
	{"outputs", .keep = offsetof(struct draft, outputs)}, {"compute", .keep = offsetof(struct draft, compute)},
	{"note", .keep = offsetof(struct draft, note)},	      {"example", .keep = offsetof(struct draft, example)},
};

static const struct sk_field rule_fields[] = {
	{"name", true, .keep = offsetof(struct draft, name)}, {"pattern", .keep = offsetof(struct draft, pattern)},
	{"where", .keep = offsetof(struct draft, where)},     {"let", .keep = offsetof(struct draft, let)},
	{"replace", .keep = offsetof(struct draft, replace)}, {"outputs", .keep = offsetof(struct draft, outputs)},
	{"compute", .keep = offsetof(struct draft, compute)}, {"variants", .keep = offsetof(struct draft, variants)},
	{"note", .keep = offsetof(struct draft, note)},	      {"before", .keep = offsetof(struct draft, before)},
	{"example", .keep = offsetof(struct draft, example)},
};

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

/* The state of the reader. */
struct reader {
	const struct sk_document *document;
	const struct sk_rules *rules; /* all rules read so far */
	struct sk_rule_list *list; /* the list that rules are appended to */
};

static const struct sk_rule *find_rule(const struct sk_rule_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

static bool is_new(const struct reader *reader, const struct sk_name *name)
{
	const struct sk_rule *other = find_rule(&reader->rules->expand, name->text);

	other = other ? other : find_rule(&reader->rules->fuse, name->text);
	if (!other)
		return true;
	sk_error(reader->document->diag, name->place, "there is a rule '%s' already", name->text);
	sk_note(reader->document->diag, "it stands in %s", sk_place_text(reader->document->arena, other->place));
	return false;
}

static void add_variant(struct reader *reader, const struct sk_rule *named, const struct sk_node *node,
			const struct draft *base, const struct draft *draft)
{
	const struct sk_node *pattern = draft->pattern ? draft->pattern : base->pattern;
	uint32_t ways = pattern ? count_ways(reader->document, pattern) : 1;
	sk_texts taken = {0};

	if (ways > 1 && !collect_taken(reader->document, pattern, &taken))
		return;
	for (uint32_t way = 0; way < ways; way++) {
		struct sk_rule rule = *named;

		if (reader->rules->expand.count + reader->rules->fuse.count == SK_RULES_MAX) {
			fails(reader->document, node, "there are more than 10000 rules");
			return;
		}
		if (!read_variant(reader->document, node, base, draft, way, &taken, &rule))
			return;
		sk_array_push(reader->document->arena, reader->list, rule);
	}
}

static bool read_before(const struct reader *reader, const struct sk_node *node, struct sk_name *before)
{
	if (node && reader->list != &reader->rules->fuse)
		return fails(reader->document, node,
			     "'before' is for rules of 'fuse': rules of your own that expand are tried first anyway");
	return !node || sk_read_name(reader->document, node, "'before'", NULL, before);
}

static void read_rule(struct reader *reader, const struct sk_node *node)
{
	const struct sk_document *document = reader->document;
	struct draft base = {0};
	struct sk_name name;
	struct sk_rule rule = {0};

	if (!sk_read_fields(document, node, "a rule", NULL, rule_fields, COUNT(rule_fields), &base) ||
	    !sk_read_name(document, base.name, "the name of a rule", NULL, &name) || !is_new(reader, &name) ||
	    !read_before(reader, base.before, &rule.before))
		return;
	rule.name = name.text;
	rule.place = name.place;
	if (!base.variants) {
		add_variant(reader, &rule, node, &base, &base);
		return;
	}
	if (!sk_expect_list(document, base.variants, "'variants'", NULL))
		return;
	for (const struct sk_node *item = sk_node_first(base.variants); item; item = sk_node_next(item)) {
		struct draft draft = {0};

		if (sk_read_fields(document, item, "a variant of rule", name.text, variant_fields,
				   COUNT(variant_fields), &draft))
			add_variant(reader, &rule, item, &base, &draft);
	}
}

bool sk_rule_read(const struct sk_document *document, const struct sk_node *node, struct sk_rules *rules)
{
	struct reader reader = {.document = document, .rules = rules, .list = &rules->fuse};
	unsigned errors = document->diag->errors;

	read_rule(&reader, node);
	return document->diag->errors == errors;
}

struct top {
	const struct sk_node *expand, *fuse;
};

static const struct sk_field top_fields[] = {{"expand", .keep = offsetof(struct top, expand)},
					     {"fuse", .keep = offsetof(struct top, fuse)}};

static void read_list(struct reader *reader, const struct sk_node *node, const char *what, struct sk_rule_list *list)
{
	reader->list = list;
	if (node && sk_expect_list(reader->document, node, what, NULL))
		for (const struct sk_node *item = sk_node_first(node);
		     item && !sk_diag_is_hopeless(reader->document->diag); item = sk_node_next(item))
			read_rule(reader, item);
}

bool sk_rules_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		    struct sk_rules *rules)
{
	const struct sk_document document = {.arena = arena, .diag = diag, .file = file, .kind = "a file of rules"};
	struct sk_arena *scratch = sk_arena_create();
	const struct sk_node *root = sk_document_parse(&document, scratch, text, size);
	struct reader reader = {.document = &document, .rules = rules};
	unsigned errors = diag->errors;
	struct top top = {0};

	if (root && sk_read_fields(&document, root, "a file of rules", NULL, top_fields, COUNT(top_fields), &top)) {
		if (!top.expand && !top.fuse)
			fails(&document, root, "a file of rules has rules under 'expand' or 'fuse'");
		read_list(&reader, top.expand, "'expand'", &rules->expand);
		read_list(&reader, top.fuse, "'fuse'", &rules->fuse);
	}
	sk_arena_destroy(scratch); /* rules keep texts, not nodes */
	return root && diag->errors == errors;
}

bool sk_rules_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_rules *rules)
{
	const struct sk_document document = {.arena = arena, .diag = diag, .file = file, .kind = "a file of rules"};
	struct sk_arena *scratch = sk_arena_create();
	size_t size;
	const void *text = sk_document_read(&document, scratch, &size);
	bool read = text && sk_rules_parse(arena, diag, file, text, size, rules);

	sk_arena_destroy(scratch);
	return read;
}
