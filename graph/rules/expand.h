/* The expander of graph-kernel fusion: operators of the list become the basic ones that their rules are made of. */
#ifndef SK_EXPAND_H
#define SK_EXPAND_H

#include "graph/manager/pass.h"

enum sk_pass_result sk_pass_expand(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Warns of operators that the flags want to be expanded, and no rule says how. False if a rule is wrong. */
bool sk_expand_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags);

#endif
