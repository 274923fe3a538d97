/* Rules that wait as texts: sklink's own, of which a graph needs a few. */
#ifndef SK_RULE_TEXTS_H
#define SK_RULE_TEXTS_H

#include "graph/rules/rule.h"

/* Appends the rules under 'fuse' of a set that is part of the program, SET.yaml, with their names, places and texts.
 * False after an error. */
bool sk_rule_texts_list(struct sk_arena *arena, struct sk_diag *diag, const char *set, const char *text,
			struct sk_rule_list *list);

/* The rules that may find a pattern in the graph, in their order: texts are read once the graph has operators for each
 * line of a pattern of theirs, and are as many rules as they have variants then. False after an error. */
bool sk_rule_texts_read(const struct sk_op_graph *graph, const struct sk_rule_list *rules, struct sk_rule_list *read);

#endif
