/* Expressions of rules: what a condition asks, and what attributes and constants are computed from. `size(x) /
 * size(y)`, `dtype(x) == 'f16' or dtype(x) == 'bf16'`, `concat([0], range(2, rank(x)))`. All arithmetic is that of
 * numbers of double precision, element by element where lists are concerned; text is only compared. */
#ifndef SK_RULE_EXPRESSION_H
#define SK_RULE_EXPRESSION_H

#include "base/arena.h"
#include "base/diag.h"

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

#endif
