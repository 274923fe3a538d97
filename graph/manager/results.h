/* What passes of patterns have found and replaced in the graphs of a link, as CANN's fusion_result.json has it. */
#ifndef SK_FUSION_RESULTS_H
#define SK_FUSION_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

/* Of a rule in one graph. */
struct sk_rule_count {
	const char *rule;
	bool user; /* it is the user's */
	uint64_t found, replaced; /* patterns */
};

typedef SK_ARRAY(struct sk_rule_count) sk_rule_counts;

/* Of a pass that has found something. */
struct sk_fusion_result {
	uint32_t graph;
	const char *pass;
	uint64_t found, replaced;
};

struct sk_fusion_results {
	uint32_t graphs;
	SK_ARRAY(struct sk_fusion_result) items; /* by graph */
};

/* Adds what the pass has found in the last graph. */
void sk_fusion_results_add(struct sk_arena *arena, struct sk_fusion_results *results, const char *pass,
			   const sk_rule_counts *counts);

/* Prints the file; the passes of a graph stand in the order of their names. */
void sk_fusion_results_print(struct sk_arena *arena, const struct sk_fusion_results *results, FILE *stream);

#endif
