/* One line of a rule: a node of its pattern or of its replacement. */
#ifndef SK_RULE_LINES_H
#define SK_RULE_LINES_H

#include "graph/rules/rule.h"

/* y, mean = LayerNormalization|LayerNorm(x, scale, bias?, axis=a, epsilon=e?1e-5): appends the node, and the names that
 * stand there for the first time. False after an error. */
bool sk_rule_parse_pattern(struct sk_scanner *scanner, struct sk_rule *rule);
bool sk_rule_parse_replacement(struct sk_scanner *scanner, struct sk_rule *rule);

/* All names in the expression are known, and functions of values have values. */
bool sk_rule_check_names(struct sk_diag *diag, const struct sk_rule *rule, const struct sk_rule_expression *expression);

/* The type of that name; NONE: there is none. */
enum sk_dtype sk_rule_find_dtype(const char *text);

#endif
