/* Shared by the files of this room: the parts of a rule, expressions, replacement, and texts. */
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

/* A rule for the operator of a node, which has not been applied there. */
struct sk_rule_refusal {
	const char *node; /* the anchor's name, with its place */
	const char *reason;
	const char *text; /* all but the node: "Relu is not expanded by rule …"; one of the anchor's refusals */
};

struct sk_rule_pass {
	struct sk_op_graph *graph;
	const struct sk_rule_list
		*sets[2]; /* tried in this order, each in the order of its rules; NULL: there is one */
	bool (*wants)(const void *context,
		      const struct sk_graph_node *node); /* whether it may be an anchor; NULL: each */
	const void *context;
	const char *target; /* what that name is in expressions */
	struct sk_rule_check check; /* of what would take a pattern's place */
	/* A pattern becomes a composite, under the name of the anchor's operator, and whatever keeps a rule from that
	 * is told; otherwise only what keeps one from a pattern that is there. */
	bool expands;

	/* What has been done: */
	size_t replaced; /* patterns */
	uint64_t steps; /* of matching */
	sk_rule_counts counts; /* by rule, its variants together */
	SK_ARRAY(struct sk_rule_refusal) refusals;
};

/* Looks for patterns from the last node to the first; the first rule that fits a node is applied. What a rule makes is
 * not looked at again, so that a rule whose result it would match itself is applied once. Afterwards producers stand in
 * front of users. */
void sk_rules_apply(struct sk_rule_pass *pass);

/* Behind that: what --verbose says of the rules that have not been applied. */
void sk_rules_tell(const struct sk_rule_pass *pass);

/* ==== expression.c ====
 *
 * Expressions of rules: what a condition asks, and what attributes and constants are computed from. `size(x) /
 * size(y)`, `dtype(x) == 'f16' or dtype(x) == 'bf16'`, `concat([0], range(2, rank(x)))`. All arithmetic is that of
 * numbers of double precision, element by element where lists are concerned; text is only compared. */

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
	const char *text; /* of a TEXT; of a NAME; of the operator or function */
	bool of_value; /* CALL: its only operand is a value, and no number */
	SK_ARRAY(struct sk_rule_expression *) operands;
};

/* A text that is read from left to right. */
struct sk_scanner {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_place place; /* of its first character */
	bool in_line; /* columns can be counted from there */
	const char *text, *at;
	unsigned depth;
	unsigned size; /* parts so far: of all texts of a rule */
	bool failed; /* an error has been said */
};

enum { SK_RULE_EXPRESSION_MAX_DEPTH = 40, SK_RULE_EXPRESSION_MAX_SIZE = 4000 /* of all expressions of a rule */ };

/* Where the next word starts. */
struct sk_place sk_scanner_place(struct sk_scanner *scanner);

/* The first error of a text; returns false. */
bool sk_scanner_error(struct sk_scanner *scanner, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Goes on behind the word if it comes next. Words of letters have to end there. */
bool sk_scanner_take(struct sk_scanner *scanner, const char *word);

/* The same, and an error if something else comes. */
bool sk_scanner_expect(struct sk_scanner *scanner, const char *word);

/* Goes on behind the identifier that comes next, which is in the arena; NULL, and nothing happens, if there is none. */
const char *sk_scanner_identifier(struct sk_scanner *scanner);

/* True if nothing follows. */
bool sk_scanner_at_end(struct sk_scanner *scanner);

/* NULL after an error. */
struct sk_rule_expression *sk_expression_parse(struct sk_scanner *scanner);

/* ==== own-rules ====
 *
 * The texts of sklink's files of rules: expand.yaml, onnx.yaml, passes.yaml, torchair.yaml. */

extern const char sk_expand_rules[], sk_onnx_rules[], sk_passes_rules[], sk_torchair_rules[];

/* ==== replace.c ====
 *
 * The nodes that take the place of a pattern. */

typedef SK_ARRAY(uint32_t) sk_indices;

/* Appends the replacement to the graph's nodes, with types and shapes inferred, and marks those of the match as
 * removed; producers no longer stand in front of users then. Their numbers are in `made`. False, with the reason in the
 * match and no node touched, if an output would be of another type or shape, or something cannot be computed. */
bool sk_match_replace(struct sk_match *match, struct sk_users *users, sk_indices *made);

/* Appends the nodes of a rule's replacement to the graph, of the values and attributes that the match has for its
 * names; the values that they make are those of the match, too. False, with the reason in the match, if inference
 * refuses one. */
bool sk_match_append_lines(struct sk_match *match, const struct sk_rule *rule);

/* A constant of these numbers. False, with the reason in the match, if one of them is none of the type. */
bool sk_match_make_constant(struct sk_match *match, const char *name, const struct sk_datum *datum, enum sk_dtype dtype,
			    uint32_t *value);

/* ==== replacing.c ====
 *
 * The nodes that a rule makes: beside the graph, with values of their own, so that nothing has happened if one of them
 * is refused. */

struct sk_replacing {
	struct sk_match *match;
	struct sk_op_graph *graph;
	const struct sk_rule *rule;
	const struct sk_graph_node *anchor; /* valid while no node is added to the graph */
	sk_graph_nodes nodes; /* the new ones */
	uint32_t *values; /* by name: what the operand is */
	uint32_t *wide; /* by name: the same as f32; SK_NONE: not yet */
	enum sk_dtype first; /* type of the first operand of the node that is a value */
};

static inline bool sk_replacing_is_half(enum sk_dtype dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16;
}

/* The reason in the match; returns false. */
bool sk_replacing_refuse(struct sk_replacing *replacing, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value in another type. */
bool sk_replacing_cast(struct sk_replacing *replacing, uint32_t from, enum sk_dtype dtype, const char *text,
		       uint32_t *to);

/* The nodes of all lines of the replacement, inferred. */
bool sk_replacing_add_lines(struct sk_replacing *replacing);

/* ==== rule-lines.c ====
 *
 * One line of a rule: a node of its pattern or of its replacement. */

/* y, mean = LayerNormalization|LayerNorm(x, scale, bias?, axis=a, epsilon=e?1e-5): appends the node, and the names that
 * stand there for the first time. False after an error. */
bool sk_rule_parse_pattern(struct sk_scanner *scanner, struct sk_rule *rule);
bool sk_rule_parse_replacement(struct sk_scanner *scanner, struct sk_rule *rule);

/* All names in the expression are known, and functions of values have values. */
bool sk_rule_check_names(struct sk_diag *diag, const struct sk_rule *rule, const struct sk_rule_expression *expression);

/* The type of that name; NONE: there is none. */
enum sk_dtype sk_rule_find_dtype(const char *text);

/* ==== rule-texts.c ====
 *
 * Rules that wait as texts: sklink's own, of which a graph needs a few. */

/* Appends the rules under 'fuse' of a set that is part of the program, SET.yaml, with their names, places and texts.
 * False after an error. */
bool sk_rule_texts_list(struct sk_arena *arena, struct sk_diag *diag, const char *set, const char *text,
			struct sk_rule_list *list);

/* The rules that may find a pattern in the graph, in their order: texts are read once the graph has operators for each
 * line of a pattern of theirs, and are as many rules as they have variants then. False after an error. */
bool sk_rule_texts_read(const struct sk_op_graph *graph, const struct sk_rule_list *rules, struct sk_rule_list *read);

/* ==== users.c ====
 *
 * Who uses a value, while nodes come and go. */

struct sk_value_user {
	uint32_t node;
	uint32_t next; /* among those of the same value; SK_NONE: it is the last one */
};

struct sk_users {
	SK_ARRAY(uint32_t) counts; /* by value: inputs of nodes */
	SK_ARRAY(uint32_t) first; /* by value: a user, those of removed nodes among them; SK_NONE: there is none */
	SK_ARRAY(struct sk_value_user) users;
};

struct sk_users *sk_users_create(struct sk_op_graph *graph);

/* The node is one of the graph's now, or it is no more. */
void sk_users_add(struct sk_op_graph *graph, struct sk_users *users, uint32_t node);
void sk_users_remove(struct sk_op_graph *graph, struct sk_users *users, uint32_t node);

#endif
