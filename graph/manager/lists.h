/* Which operators graph-kernel fusion may expand, or put into composites: the target's list, and what the flags say of
 * it. */
#ifndef SK_LISTS_H
#define SK_LISTS_H

#include "graph/graph.h"
#include "graph/manager/flags.h"

enum sk_list_kind { SK_LIST_EXPAND, SK_LIST_CLUSTER };

struct sk_op_list;

/* The list that holds: that of an _only flag by itself, if it names any; otherwise the target's, up to the level of
 * fusion_ops_level, with what the enabling flag names, without what the disabling one does. */
const struct sk_op_list *sk_valid_ops(struct sk_arena *arena, const struct sk_fusion_flags *flags,
				      enum sk_list_kind kind);

/* Whether the node's operator is in the list, under whatever name: ONNX's, MindSpore's or GE's. */
bool sk_op_list_has(const struct sk_op_list *list, const struct sk_graph_node *node);

/* Whether somebody calls the operator of ONNX, or of the domain "sklink", so. */
bool sk_op_is_called(const char *op, const char *name);

/* Whether it is the name of an operator in some vocabulary. */
bool sk_op_is_known(const char *name);

/* Warns of each operator that the flags name and nobody knows. */
void sk_lists_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags);

#endif
