/* Rules: a pattern of nodes, conditions, and the nodes that take its place. doc/fusion.md has the format. */
#ifndef SK_RULE_H
#define SK_RULE_H

#include "graph/graph.h"
#include "graph/rules/expression.h"

enum {
	SK_RULE_MAX_NODES = 128, /* of a pattern, or of a replacement */
	SK_RULE_MAX_OPERANDS = 64,
	SK_RULE_MAX_TEXT = 4096, /* bytes of a line or of an expression: they are read by recursion */
	SK_RULES_MAX = 10000,
};

/* In expressions: whose lists and formulas hold, "host", "ascend", "cpu" or "gpu". */
#define SK_RULE_TARGET "target"

enum sk_rule_name_kind {
	SK_RULE_INPUT, /* a value that the pattern takes */
	SK_RULE_REST, /* any number of them: *name */
	SK_RULE_MADE, /* a value that a node of the pattern makes */
	SK_RULE_NEW, /* one that only the replacement makes */
	SK_RULE_ATTRIBUTE, /* what an attribute of the pattern is */
	SK_RULE_LET, /* an expression */
};

struct sk_rule_name {
	const char *text;
	enum sk_rule_name_kind kind;
	const struct sk_rule_expression *let;
	bool replaced; /* MADE: it is an output, which the replacement makes and others may use; otherwise nobody may */
	bool optional; /* INPUT: it may be absent */
};

/* What an operand is. */
struct sk_rule_operand {
	uint32_t name; /* SK_NONE: absent, or a constant */
	const struct sk_rule_expression
		*constant; /* what it is if it has no name, or nothing has the name; NULL: nothing */
	enum sk_dtype dtype; /* of the constant; NONE: that of `like` */
	uint32_t like; /* SK_NONE: of the first operand that is a value, as it is computed with */
	struct sk_place place;
};

struct sk_rule_attribute {
	const char *name;
	const struct sk_rule_expression *value; /* of a pattern: NULL: whatever it is */
	uint32_t binds; /* of a pattern: the name that becomes the attribute's value; SK_NONE: it must be `value` */
	const struct sk_rule_expression
		*otherwise; /* of a pattern: what it is if the node does not say it; NULL: the schema's */
};

/* An operator of a node: of a pattern there may be several. */
struct sk_rule_operator {
	const char *op, *domain;
	const struct sk_schema *schema;
};

struct sk_rule_node {
	SK_ARRAY(struct sk_rule_operator) operators;
	SK_ARRAY(struct sk_rule_operand) inputs;
	SK_ARRAY(uint32_t) outputs; /* names; SK_NONE: nobody wants it */
	SK_ARRAY(struct sk_rule_attribute) attributes;
};

/* How a node of a pattern is found, once those in front of it in the order are: as what makes a name that is bound, or
 * as one of those that use it. */
struct sk_rule_step {
	uint32_t node;
	uint32_t name; /* SK_NONE: it is the anchor */
	bool user;
};

/* What --check-rules takes for a name of the pattern. */
struct sk_rule_example {
	const char *name;
	enum sk_dtype dtype; /* NONE: of an attribute */
	bool tensor; /* random values; `value` is the shape */
	const struct sk_rule_expression *value;
};

struct sk_rule {
	const char *name;
	struct sk_place place;
	const char *set; /* of sklink's: "expand", "onnx", "passes" or "torchair"; NULL: it is the user's */
	struct sk_name before; /* of one that fuses: the rule of sklink's that it is tried in front of; NULL: none */
	SK_ARRAY(struct sk_rule_name) names;
	SK_ARRAY(struct sk_rule_node) pattern, replacement;
	SK_ARRAY(const struct sk_rule_expression *) where;
	SK_ARRAY(uint32_t) outputs; /* names that are replaced; the node that makes the first one is the anchor */
	SK_ARRAY(struct sk_rule_step) steps; /* the anchor, then each other node of the pattern */
	SK_ARRAY(struct sk_rule_example) example; /* those of a variant behind the rule's */
	bool single; /* f16 and bf16 are computed as f32 */
	struct sk_rule_text *text; /* the rule is not read yet (rule-texts.h), and nothing but name and place known */
};

/* In the order in which they are tried: variants are rules one behind the other. */
struct sk_rule_list {
	struct sk_rule *items;
	size_t count, capacity;
};

/* What files of rules say. */
struct sk_rules {
	struct sk_rule_list expand, fuse;
};

/* The name of that text; SK_NONE: there is none. */
uint32_t sk_rule_find_name(const struct sk_rule *rule, const char *text);

/* Finds the steps of a rule whose outputs are known. False if one of the pattern's nodes shares no value with the
 * others. */
bool sk_rule_order_steps(struct sk_arena *arena, struct sk_rule *rule);

#endif
