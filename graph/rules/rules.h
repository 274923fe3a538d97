/* Rules: patterns of nodes and their replacements; the expander and fusion apply them. */
#ifndef SK_GRAPH_RULES_RULES_H
#define SK_GRAPH_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

struct sk_arena;
struct sk_attribute;
struct sk_diag;
struct sk_document;
struct sk_node;
struct sk_rule;
struct sk_rule_expression;
struct sk_rule_list;
struct sk_rule_text;
struct sk_rules;
struct sk_schema;
struct sk_users;

/* ==== rule ====
 *
 * Rules: a pattern of nodes, conditions, and the nodes that take its place. doc/reference/rules.md has the format. */

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
	struct sk_rule_text *text; /* the rule is not read yet (rules-parts.h), and nothing but name and place known */
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

/* ==== expand.c ====
 *
 * The expander of graph-kernel fusion: operators of the list become the basic ones that their rules are made of. */

enum sk_pass_result sk_pass_expand(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Warns of operators that the flags want to be expanded, and no rule says how. False if a rule is wrong. */
bool sk_expand_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags);

/* ==== match.c ====
 *
 * Where the pattern of a rule stands in a graph, and what its expressions are there. */

/* What an expression is. */
struct sk_datum {
	const char *text; /* NULL: numbers */
	bool list;
	bool real; /* it is what the model says as a real number, which has been f32 there */
	size_t count; /* of a number 1 */
	const double *numbers;
};

enum { SK_DATUM_MAX = 4096 /* numbers of a list */, SK_CONSTANT_MAX = 65536 /* of one that a constant holds */ };

/* Whether nodes may take the place of some of the graph. */
struct sk_rule_check {
	/* Why these may not; NULL: they may. NULL itself: all may. Producers stand in front of users. */
	const char *(*ask)(void *context, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			   const sk_graph_nodes *nodes);
	void *context;
};

/* A pattern in a graph. What it binds is by name: a value (SK_NONE: absent), an attribute or an expression. */
struct sk_match {
	const struct sk_rule *rule;
	struct sk_op_graph *graph;
	const struct sk_users *users;
	struct sk_rule_check check; /* of replacements */
	const char *target; /* what the name `target` is */
	uint32_t *values;
	struct sk_datum *attributes;
	bool *set; /* it is bound */
	SK_ARRAY(uint32_t) bound; /* the names that are, one after the other */
	size_t room; /* names that there is room for */
	uint32_t *nodes; /* by node of the pattern; SK_NONE: not yet */
	uint32_t rest_node; /* whose last inputs the rest is; SK_NONE: there is none */
	uint32_t rest_first; /* the number of the first of them */
	uint32_t limit; /* nodes from this number on are no part of a match */
	uint64_t steps; /* that all matching has taken so far */
	uint64_t budget; /* `steps` where this one is given up */
	bool whole; /* all nodes of the pattern are there: what was missing is a condition */
	const char *reason; /* why it is none, or why an expression is nothing here */
};

/* Looks for the pattern whose anchor is this node. What it binds holds until the next search. */
bool sk_match_find(struct sk_match *match, const struct sk_rule *rule, uint32_t anchor);

/* False, with a reason, if it is nothing: a value is absent, a constant is none, lists are of different lengths. */
bool sk_match_evaluate(struct sk_match *match, const struct sk_rule_expression *expression, struct sk_datum *datum);

/* The value is a true condition: no number is 0. */
bool sk_datum_is_true(const struct sk_datum *datum);

/* Equal; real numbers as f32 can tell them. */
bool sk_numbers_same(double one, double other, bool real);
bool sk_datum_same(const struct sk_datum *one, const struct sk_datum *other);

/* The attribute as a datum; false if it is a list of texts. */
bool sk_datum_of_attribute(struct sk_arena *arena, const struct sk_attribute *attribute, struct sk_datum *datum);

/* The second half of each row is the first one again, as far as constants and the nodes that have made the value tell.
 */
bool sk_value_repeats(const struct sk_op_graph *graph, uint32_t value);

/* ==== fuse.c ====
 *
 * Fusion by rules: patterns of operators become operators that compute all of that at once. The rules are those of
 * onnx.yaml, passes.yaml and torchair.yaml, and the user's; which pass applies a rule, and in which order, is decided
 * here. */

/* The passes that have no place in MindSpore's list: what exporters take apart, TorchAir's patterns, the user's. */
#define SK_PASS_ONNX	 "onnx_fusion"
#define SK_PASS_TORCHAIR "torchair_generic_pattern_pass"
#define SK_PASS_USER	 "user_rules"

/* Gives its rules to each pass of the table, which ends with one without a name. A rule of passes.yaml is one of the
 * pass that its name starts with. Flags may say that TorchAir's and the user's are left out. False after an error. */
bool sk_fuse_rules(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags,
		   struct sk_graph_pass *passes);

/* Applies the rules of a pass, where the check has nothing against what they make, and counts what they find. */
enum sk_pass_result sk_fuse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
			    const struct sk_rule_list *rules, struct sk_rule_check check, sk_rule_counts *counts);

/* ==== read-rules.c ====
 *
 * Rules from YAML. */

/* Appends the rules of the text; all errors are collected. False after one. */
bool sk_rules_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		    struct sk_rules *rules);

/* The same for a file. */
bool sk_rules_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_rules *rules);

/* Appends the rule that fuses, with its variants. False after an error. */
bool sk_rule_read(const struct sk_document *document, const struct sk_node *node, struct sk_rules *rules);

/* ==== rule-sides.c ====
 *
 * The two sides of a rule as graphs of their own, for --check-rules. In: a rule, and what its example says of the names
 * in its pattern. Out: graphs that are to compute the same. */

/* Their inputs and outputs are the same, in the same order. */
struct sk_rule_sides {
	struct sk_op_graph *pattern, *replacement;
};

/* Makes both: the replacement is what the rule makes of the pattern, for the first target for which it is one. Returns
 * why there are none; NULL: there are. */
const char *sk_rule_make_sides(struct sk_arena *arena, const struct sk_rule *rule, struct sk_rule_sides *sides);

/* Appends a side to a graph, with numbers in place of inputs that look random and are the same for both sides. Returns
 * how much larger the numbers of its values are there. */
uint32_t sk_rule_append_side(struct sk_op_graph *graph, const struct sk_op_graph *side);

#endif
