/* What FX graphs are made of: an item for each input, constant, call and output of a call that makes several things.
 * In: a graph. Out: its items, with names. Small constants, such as shapes, are no items, but written where they are
 * used. */
#ifndef SK_FX_ITEMS_H
#define SK_FX_ITEMS_H

#include "graph/graph.h"

enum sk_fx_kind { SK_FX_PLACEHOLDER, SK_FX_CONSTANT, SK_FX_CALL, SK_FX_GETITEM };

struct sk_fx_item {
	enum sk_fx_kind kind;
	const char *name;
	uint32_t node, value; /* CALL: its node, and its value if it makes one thing; otherwise the value */
	const char *target; /* CALL: torch.ops.aten.add.Tensor */
	const char *order; /* CALL: the operands' places among the arguments, a digit each; NULL: as they are */
	uint32_t from, number; /* GETITEM: the item of the call, and which output it is */
	uint32_t users, last; /* items; the last one, SK_NONE: nobody, or what is returned needs it */
};

struct sk_fx_items {
	SK_ARRAY(struct sk_fx_item) list;
	uint32_t *made; /* by value: its item; SK_NONE: none */
};

struct sk_fx_items *sk_fx_items_make(struct sk_arena *arena, const struct sk_op_graph *graph);

/* A number, or a short list of integers, in the arena; NULL: it is something else. */
const char *sk_fx_literal(struct sk_arena *arena, const struct sk_value *value);

/* With a point, or an exponent, by which it is no integer. */
const char *sk_fx_real(struct sk_arena *arena, double real, int digits);

/* Letters, digits and underscores of the text; of others there are underscores. */
char *sk_fx_identifier(struct sk_arena *arena, const char *text);

/* The type that it casts to is one of its arguments. */
bool sk_fx_is_cast(const struct sk_graph_node *node);

#endif
