/* Who uses a value, while nodes come and go. */
#ifndef SK_USERS_H
#define SK_USERS_H

#include "graph/graph.h"

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
