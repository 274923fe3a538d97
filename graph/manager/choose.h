/* Which passes of graph-kernel fusion run: the rule of levels, and what the flags say of single passes. */
#ifndef SK_CHOOSE_H
#define SK_CHOOSE_H

#include "graph/manager/pass.h"

struct sk_pass_choice {
	const struct sk_fusion_pass *pass;
	const char
		*name; /* in full: "stage1_cluster_3_graph_kernel_cluster", "fusion_group_10_rms_norm_quant_fusion" */
	bool on;
};

typedef SK_ARRAY(struct sk_pass_choice) sk_pass_choices;

/* A choice for each pass of the table, which ends with one without a name and has the passes of a stage one behind the
 * other. Warns of what enable_pass and disable_pass say in vain. */
sk_pass_choices sk_passes_choose(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_pass *passes,
				 const struct sk_fusion_flags *flags);

#endif
