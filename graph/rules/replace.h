/* The nodes that take the place of a pattern. */
#ifndef SK_REPLACE_H
#define SK_REPLACE_H

#include "graph/rules/match.h"

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

#endif
