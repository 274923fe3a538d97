/* Rules: patterns of nodes and their replacements; the expander and the passes of patterns apply them. */
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
 * A rule: a pattern of nodes, conditions, and the replacement. doc/reference/rules.md describes the format. */

enum {
	SK_RULE_MAX_NODES = 128, /* of a pattern, or of a replacement */
	SK_RULE_MAX_OPERANDS = 64,
	SK_RULE_MAX_TEXT = 4096, /* bytes of a line or of an expression; the limit bounds the recursion of the parser */
	SK_RULES_MAX = 10000,
};

/* The name of the target in expressions: "host", "ascend", "cpu" or "gpu". */
#define SK_RULE_TARGET "target"

enum sk_rule_name_kind {
	SK_RULE_INPUT, /* an input of the pattern */
	SK_RULE_REST, /* any number of values: *name */
	SK_RULE_MADE, /* an output of a node of the pattern */
	SK_RULE_NEW, /* an output of the replacement only */
	SK_RULE_ATTRIBUTE, /* the value of an attribute of the pattern */
	SK_RULE_LET, /* an expression */
};

struct sk_rule_name {
	const char *text;
	enum sk_rule_name_kind kind;
	const struct sk_rule_expression *let;
	bool replaced; /* MADE: an output that the replacement also makes, so that others may use it */
	bool optional; /* INPUT: may be absent */
	bool made; /* REST: all outputs of a node of the pattern, which another node of it reads */
};

/* An operand. */
struct sk_rule_operand {
	uint32_t name; /* SK_NONE: absent, or a constant */
	const struct sk_rule_expression
		*constant; /* the constant if there is no name, or its value is absent; NULL: none */
	enum sk_dtype dtype; /* of the constant; NONE: the type of `like` */
	uint32_t like; /* SK_NONE: the type of the first operand that is a value, as it is computed */
	struct sk_place place;
};

struct sk_rule_attribute {
	const char *name;
	const struct sk_rule_expression *value; /* in a pattern: NULL: any value */
	uint32_t binds; /* in a pattern: the name bound to the attribute's value; SK_NONE: the attribute must be equal
			   to `value` */
	const struct sk_rule_expression
		*otherwise; /* in a pattern: the default if the node lacks it; NULL: the schema's */
};

/* An operator of a node. In a pattern there may be alternatives. */
struct sk_rule_operator {
	const char *op, *domain;
	const struct sk_schema *schema;
};

struct sk_rule_node {
	SK_ARRAY(struct sk_rule_operator) operators;
	SK_ARRAY(struct sk_rule_operand) inputs;
	SK_ARRAY(uint32_t) outputs; /* names; SK_NONE: unused */
	SK_ARRAY(struct sk_rule_attribute) attributes;
};

/* How a node of a pattern is found once the earlier ones are: as the producer, or as a user, of a bound name. */
struct sk_rule_step {
	uint32_t node;
	uint32_t name; /* SK_NONE: the anchor */
	bool user;
};

/* The example that --check-rules uses for a name of the pattern. */
struct sk_rule_example {
	const char *name;
	enum sk_dtype dtype; /* NONE: an attribute */
	bool tensor; /* random values; `value` is the shape */
	const struct sk_rule_expression *value;
};

struct sk_rule {
	const char *name;
	struct sk_place place;
	const char *set; /* of sklink's rules: "expand", "onnx", "passes" or "torchair"; NULL: the user's */
	struct sk_name before; /* of a rule that fuses: the rule that it precedes; NULL: none */
	SK_ARRAY(struct sk_rule_name) names;
	SK_ARRAY(struct sk_rule_node) pattern, replacement;
	SK_ARRAY(const struct sk_rule_expression *) where;
	SK_ARRAY(uint32_t) outputs; /* replaced names; the producer of the first one is the anchor */
	SK_ARRAY(struct sk_rule_step) steps; /* the anchor, then the other nodes of the pattern */
	SK_ARRAY(struct sk_rule_example) example; /* those of a variant follow those of the rule */
	bool single; /* compute f16 and bf16 as f32 */
	struct sk_rule_text *text; /* the rule is not read yet (rules-parts.h): only its name and place are known */
};

/* Rules in the order in which they are tried. Variants of a rule follow one another. */
struct sk_rule_list {
	struct sk_rule *items;
	size_t count, capacity;
};

/* The contents of files of rules. */
struct sk_rules {
	struct sk_rule_list expand, fuse;
};

/* Return the index of the name; SK_NONE: there is none. */
uint32_t sk_rule_find_name(const struct sk_rule *rule, const char *text);

/* Compute the steps of a rule with known outputs. False if a node of the pattern shares no value with the others. */
bool sk_rule_order_steps(struct sk_arena *arena, struct sk_rule *rule);

/* ==== expand.c ====
 *
 * The expander of graph-kernel fusion: it replaces listed operators by the basic ones of their rules. */

enum sk_pass_result sk_pass_expand(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Warn about operators that flags ask to expand and no rule can expand. False if a rule is wrong. */
bool sk_expand_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags);

/* ==== match.c ====
 *
 * The matcher: occurrences of a rule's pattern in a graph, and the values of its expressions there. */

/* The value of an expression. */
struct sk_datum {
	const char *text; /* NULL: numbers */
	bool list;
	bool real; /* a real number of the model, where it is f32 */
	size_t count; /* 1 for a number */
	const double *numbers;
};

enum { SK_DATUM_MAX = 4096 /* the most numbers of a list */, SK_CONSTANT_MAX = 65536 /* the most of a constant */ };

/* A test whether nodes may replace some of the graph. */
struct sk_rule_check {
	/* Return the reason against it; NULL: none. `ask` itself may be NULL: all nodes may. Producers are before
	 * users. */
	const char *(*ask)(void *context, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			   const sk_graph_nodes *nodes);
	void *context;
};

/* A pattern in a graph. Bindings are by name: a value (SK_NONE: absent), an attribute or an expression. */
struct sk_match {
	const struct sk_rule *rule;
	struct sk_op_graph *graph;
	const struct sk_users *users;
	struct sk_rule_check check; /* of replacements */
	const char *target; /* the value of the name `target` */
	uint32_t *values;
	struct sk_datum *attributes;
	bool *set; /* the name is bound */
	SK_ARRAY(uint32_t) bound; /* bound names, in the order of binding */
	size_t room; /* the capacity of the lists by name */
	uint32_t *nodes; /* by node of the pattern; SK_NONE: not yet */
	uint32_t rest_node; /* the node with the rest as its last inputs; SK_NONE: none */
	uint32_t rest_first; /* the index of the first input of the rest */
	uint32_t limit; /* nodes from this number on cannot match */
	uint64_t steps; /* of all matching so far */
	uint64_t budget; /* the value of `steps` at which this match is given up */
	bool whole; /* all nodes of the pattern were found, so that only a condition failed */
	const char *reason; /* why there is no match, or why an expression is undefined */
};

/* Look for the pattern with this node as the anchor. Bindings are valid until the next search. */
bool sk_match_find(struct sk_match *match, const struct sk_rule *rule, uint32_t anchor);

/* Evaluate the expression. False, with a reason, if it is undefined: a value is absent or not constant, or lists have
 * different lengths. */
bool sk_match_evaluate(struct sk_match *match, const struct sk_rule_expression *expression, struct sk_datum *datum);

/* True if the value holds as a condition: no number is 0. */
bool sk_datum_is_true(const struct sk_datum *datum);

/* Compare numbers; real ones as f32. */
bool sk_numbers_same(double one, double other, bool real);
bool sk_datum_same(const struct sk_datum *one, const struct sk_datum *other);

/* Convert an attribute; false if it is a list of texts. */
bool sk_datum_of_attribute(struct sk_arena *arena, const struct sk_attribute *attribute, struct sk_datum *datum);

/* True if the second half of each row equals the first, as far as constants and the producers of the value tell. */
bool sk_value_repeats(const struct sk_op_graph *graph, uint32_t value);

/* ==== fuse.c ====
 *
 * Fusion by rules: patterns of operators become operators that compute the same at once. The rules are those of
 * onnx.yaml, passes.yaml and torchair.yaml, and the user's. This file decides which pass applies a rule, and in which
 * order. */

/* Passes without a counterpart in MindSpore's list: they undo decompositions of exporters, apply TorchAir's patterns,
 * and the user's. */
#define SK_PASS_ONNX	 "onnx_fusion"
#define SK_PASS_TORCHAIR "torchair_generic_pattern_pass"
#define SK_PASS_USER	 "user_rules"

/* Give each pass of the table its rules; the table ends with a pass without a name. A rule of passes.yaml belongs to
 * the pass that its name starts with. Flags may exclude TorchAir's and the user's rules. False after an error. */
bool sk_fuse_rules(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags,
		   struct sk_graph_pass *passes);

/* Apply the rules of a pass, where the check allows their replacements, and count the patterns. */
enum sk_pass_result sk_fuse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
			    const struct sk_rule_list *rules, struct sk_rule_check check, sk_rule_counts *counts);

/* ==== read-rules.c ====
 *
 * Rules from YAML. */

/* Append the rules of the text; report all errors. False after an error. */
bool sk_rules_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		    struct sk_rules *rules);

/* The same for a file. */
bool sk_rules_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_rules *rules);

/* Append a rule that fuses, with its variants. False after an error. */
bool sk_rule_read(const struct sk_document *document, const struct sk_node *node, struct sk_rules *rules);

/* ==== rule-sides.c ====
 *
 * The two sides of a rule as graphs, for --check-rules. In: a rule with examples of the names in its pattern. Out: two
 * graphs that must compute the same. */

/* Their inputs and outputs agree in number and order. */
struct sk_rule_sides {
	struct sk_op_graph *pattern, *replacement;
};

/* Make both sides: the replacement is the rule's result on the pattern, for the first target that it applies for.
 * Return the reason why there are none; NULL: there are. */
const char *sk_rule_make_sides(struct sk_arena *arena, const struct sk_rule *rule, struct sk_rule_sides *sides);

/* Append a side to a graph, with pseudo-random constants in place of its inputs, equal for both sides. Return the
 * offset of its values' numbers. */
uint32_t sk_rule_append_side(struct sk_op_graph *graph, const struct sk_op_graph *side);

#endif
