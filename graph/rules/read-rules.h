/* Rules from YAML. */
#ifndef SK_READ_RULES_H
#define SK_READ_RULES_H

#include "base/document.h"
#include "graph/rules/rule.h"

/* Appends the rules of the text; all errors are collected. False after one. */
bool sk_rules_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		    struct sk_rules *rules);

/* The same for a file. */
bool sk_rules_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_rules *rules);

/* Appends the rule that fuses, with its variants. False after an error. */
bool sk_rule_read(const struct sk_document *document, const struct sk_node *node, struct sk_rules *rules);

#endif
