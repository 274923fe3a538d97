/* Fusion by rules: patterns of operators become operators that compute all of that at once. The rules are those of
 * onnx.yaml, passes.yaml and torchair.yaml, and the user's; which pass applies a rule, and in which order, is decided
 * here. */
#ifndef SK_FUSE_H
#define SK_FUSE_H

#include "graph/manager/pass.h"
#include "graph/manager/results.h"
#include "graph/rules/match.h"

/* The passes that have no place in MindSpore's list: what exporters take apart, TorchAir's patterns, the user's. */
#define SK_PASS_ONNX	 "onnx_fusion"
#define SK_PASS_TORCHAIR "torchair_generic_pattern_pass"
#define SK_PASS_USER	 "user_rules"

/* Gives its rules to each pass of the table, which ends with one without a name. A rule of passes.yaml is one of the
 * pass that its name starts with. Flags may say that TorchAir's and the user's are left out. False after an error. */
bool sk_fuse_rules(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags,
		   struct sk_fusion_pass *passes);

/* Applies the rules of a pass, where the check has nothing against what they make, and counts what they find. */
enum sk_pass_result sk_fuse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
			    const struct sk_rule_list *rules, struct sk_rule_check check, sk_rule_counts *counts);

#endif
