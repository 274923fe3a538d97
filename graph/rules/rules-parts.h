/* Shared by the files of this room: the application of rules, expressions, replacements, and texts. */
#ifndef SK_GRAPH_RULES_RULES_PARTS_H
#define SK_GRAPH_RULES_RULES_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rules/rules.h"

struct sk_arena;

/* ==== apply-rules.c ====
 *
 * Rules on a whole graph. */

/* A rule for the operator of a node that has not been applied to it. */
struct sk_rule_refusal {
	const char *node; /* the name of the anchor, with its place */
	const char *reason;
	const char *text; /* without the node: "Relu is not expanded by rule …"; one of the anchor's refusals */
};

struct sk_rule_pass {
	struct sk_op_graph *graph;
	const struct sk_rule_list *sets[2]; /* in the order of application; NULL: one set only */
	bool (*wants)(const void *context,
		      const struct sk_graph_node *node); /* whether the node may be an anchor; NULL: any node */
	const void *context;
	const char *target; /* the value of that name in expressions */
	struct sk_rule_check check; /* of replacements */
	/* Make each replaced pattern a composite, named after the anchor's operator, and record any reason against a
	 * rule. Otherwise record only reasons against a complete pattern. */
	bool expands;

	/* Results: */
	size_t replaced; /* patterns */
	uint64_t steps; /* of matching */
	sk_rule_counts counts; /* by rule, variants added up */
	SK_ARRAY(struct sk_rule_refusal) refusals;
};

/* Look for patterns from the last node to the first, and apply the first rule that fits a node. Nodes made by rules are
 * not looked at again, so a rule that matches its own result is applied once. Afterwards producers are before users. */
void sk_rules_apply(struct sk_rule_pass *pass);

/* To be called afterwards: collect the lines of --verbose about rules that have not been applied. */
void sk_rules_tell(const struct sk_rule_pass *pass);

/* ==== expression.c ====
 *
 * Expressions of rules: conditions, and the values of attributes and constants, such as `size(x) / size(y)`, `dtype(x)
 * == 'f16' or dtype(x) == 'bf16'`, `concat([0], range(2, rank(x)))`. Arithmetic is in double precision, element by
 * element for lists; texts are only compared. */

enum sk_expression_kind {
	SK_RULE_EXPRESSION_NUMBER,
	SK_RULE_EXPRESSION_TEXT,
	SK_RULE_EXPRESSION_NAME,
	SK_RULE_EXPRESSION_LIST,
	SK_RULE_EXPRESSION_CALL, /* of a function */
	SK_RULE_EXPRESSION_UNARY, /* "-", "not" */
	SK_RULE_EXPRESSION_BINARY,
	SK_RULE_EXPRESSION_ITEM, /* list[number] */
	SK_RULE_EXPRESSION_CHOICE, /* a if condition else b: the operands are condition, a, b */
};

struct sk_rule_expression {
	enum sk_expression_kind kind;
	struct sk_place place;
	double number;
	const char *text; /* of a TEXT, a NAME, an operator or a function */
	bool of_value; /* CALL: its only operand is a value, not a number */
	SK_ARRAY(struct sk_rule_expression *) operands;
};

/* A text that is read from left to right. */
struct sk_scanner {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_place place; /* of its first character */
	bool in_line; /* columns can be counted from `place` */
	const char *text, *at;
	unsigned depth;
	unsigned size; /* parts of expressions so far, in all texts of a rule */
	bool failed; /* an error has been reported */
};

enum { SK_RULE_EXPRESSION_MAX_DEPTH = 40, SK_RULE_EXPRESSION_MAX_SIZE = 4000 /* of all expressions of a rule */ };

/* Return the place of the next word. */
struct sk_place sk_scanner_place(struct sk_scanner *scanner);

/* Report the first error of a text; return false. */
bool sk_scanner_error(struct sk_scanner *scanner, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Skip the word if it comes next; true if it does. A word of letters must end there. */
bool sk_scanner_take(struct sk_scanner *scanner, const char *word);

/* The same, with an error if another word comes next. */
bool sk_scanner_expect(struct sk_scanner *scanner, const char *word);

/* Read the identifier that comes next, into the arena. NULL, without a change, if there is none. */
const char *sk_scanner_identifier(struct sk_scanner *scanner);

/* True if nothing follows. */
bool sk_scanner_at_end(struct sk_scanner *scanner);

/* Parse an expression; NULL after an error. */
struct sk_rule_expression *sk_expression_parse(struct sk_scanner *scanner);

/* ==== own rules ====
 *
 * The texts of sklink's own rules: expand.yaml, onnx.yaml, passes.yaml, torchair.yaml. */

extern const char sk_expand_rules[], sk_onnx_rules[], sk_passes_rules[], sk_torchair_rules[];

/* ==== replace.c ====
 *
 * The replacement of a pattern. */

typedef SK_ARRAY(uint32_t) sk_indices;

/* Append the replacement to the graph's nodes, with types and shapes inferred, and mark the nodes of the match as
 * removed. `made` gets the numbers of the new nodes; they are not in the order of producers and users. False, with the
 * reason in the match and no node changed, if an output would have another type or shape, or something cannot be
 * computed. */
bool sk_match_replace(struct sk_match *match, struct sk_users *users, sk_indices *made);

/* Append the nodes of a rule's replacement to the graph, for the values and attributes of the match; the names of their
 * outputs are added to it. False, with the reason in the match, if inference refuses one. */
bool sk_match_append_lines(struct sk_match *match, const struct sk_rule *rule);

/* Add a constant of these numbers. False, with the reason in the match, if the type cannot represent one of them. */
bool sk_match_make_constant(struct sk_match *match, const char *name, const struct sk_datum *datum, enum sk_dtype dtype,
			    uint32_t *value);

/* ==== replacing.c ====
 *
 * The nodes that a rule makes. They are beside the graph, with values of their own, so that the graph is unchanged if
 * one of them is refused. */

struct sk_replacing {
	struct sk_match *match;
	struct sk_op_graph *graph;
	const struct sk_rule *rule;
	const struct sk_graph_node *anchor; /* valid until a node is added to the graph */
	sk_graph_nodes nodes; /* the new ones */
	uint32_t *values; /* by name: the value */
	uint32_t *wide; /* by name: the value as f32; SK_NONE: not yet */
	enum sk_dtype first; /* the type of the node's first operand that is a value */
};

static inline bool sk_replacing_is_half(enum sk_dtype dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16;
}

/* Set the reason in the match; return false. */
bool sk_replacing_refuse(struct sk_replacing *replacing, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the value in another type. */
bool sk_replacing_cast(struct sk_replacing *replacing, uint32_t from, enum sk_dtype dtype, const char *text,
		       uint32_t *to);

/* Add the nodes of all lines of the replacement, and infer them. */
bool sk_replacing_add_lines(struct sk_replacing *replacing);

/* ==== rule-lines.c ====
 *
 * One line of a rule: a node of its pattern or of its replacement. */

/* Parse y, mean = LayerNormalization|LayerNorm(x, scale, bias?, axis=a, epsilon=e?1e-5). Append the node, and the names
 * that occur for the first time. False after an error. */
bool sk_rule_parse_pattern(struct sk_scanner *scanner, struct sk_rule *rule);
bool sk_rule_parse_replacement(struct sk_scanner *scanner, struct sk_rule *rule);

/* Check that all names in the expression are known, and that functions of values have values. */
bool sk_rule_check_names(struct sk_diag *diag, const struct sk_rule *rule, const struct sk_rule_expression *expression);

/* Return the type of that name; NONE: there is none. */
enum sk_dtype sk_rule_find_dtype(const char *text);

/* ==== rule-texts.c ====
 *
 * Rules kept as texts: sklink's own, of which a graph needs only a few. */

/* Append the rules under 'fuse' of a set that is part of the program, SET.yaml, with their names, places and texts.
 * False after an error. */
bool sk_rule_texts_list(struct sk_arena *arena, struct sk_diag *diag, const char *set, const char *text,
			struct sk_rule_list *list);

/* Return the rules that may match in the graph, in their order. The text of a rule is read once a graph has operators
 * for each line of one of its patterns, and becomes a rule for each variant. False after an error. */
bool sk_rule_texts_read(const struct sk_op_graph *graph, const struct sk_rule_list *rules, struct sk_rule_list *read);

/* ==== users.c ====
 *
 * The users of each value, while nodes are added and removed. */

struct sk_value_user {
	uint32_t node;
	uint32_t next; /* of the same value; SK_NONE: none */
};

struct sk_users {
	SK_ARRAY(uint32_t) counts; /* by value: its uses as an input */
	SK_ARRAY(uint32_t) first; /* by value: its first user, which may be a removed node; SK_NONE: none */
	SK_ARRAY(struct sk_value_user) users;
};

struct sk_users *sk_users_create(struct sk_op_graph *graph);

/* Add or remove the uses of the node's inputs. */
void sk_users_add(struct sk_op_graph *graph, struct sk_users *users, uint32_t node);
void sk_users_remove(struct sk_op_graph *graph, struct sk_users *users, uint32_t node);

/* ==== carry-notes.c ====
 *
 * Notes of nodes that a rule replaces. */

/* Give new nodes the notes of replaced nodes: a node that makes an output of a replaced node, or reads an input of it,
 * gets the notes of that node. Descriptions of inputs and outputs follow their values. */
void sk_rule_carry_notes(const struct sk_op_graph *graph, const uint32_t *replaced, size_t count,
			 sk_graph_nodes *nodes);

#endif
