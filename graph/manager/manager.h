/* Graph-kernel fusion: its flags and switches, the operators that it takes, its results, and the record of a pass. */
#ifndef SK_GRAPH_MANAGER_MANAGER_H
#define SK_GRAPH_MANAGER_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "graph/graph.h"

struct sk_arena;

/* ==== flags.c ====
 *
 * The flags of graph-kernel fusion: what MindSpore's MS_DEV_GRAPH_KERNEL_FLAGS says, as fields. */

/* Whose lists of operators and whose rules of areas hold. */
enum sk_fusion_target { SK_TARGET_HOST, SK_TARGET_ASCEND, SK_TARGET_CPU, SK_TARGET_GPU };

enum { SK_FUSION_TARGETS = SK_TARGET_GPU + 1 };

/* What users call them. */
extern const char *const sk_fusion_targets[SK_FUSION_TARGETS];

struct sk_rules;
struct sk_switches;

struct sk_fusion_flags {
	unsigned opt_level; /* 0: no graph-kernel fusion */
	enum sk_fusion_target target;
	bool given; /* somebody has said how to fuse; otherwise all of that is the default, perhaps without some pass */
	const struct sk_switches *switches; /* of single passes; NULL: there are none */
	const struct sk_rules *rules; /* the user's */
	bool no_patterns; /* TorchAir's and the user's rules fuse nothing */
	struct sk_rules *own_rules; /* sklink's, which are read once a pass wants them */
	const char *text; /* that they were read from */
	struct sk_place place; /* where it stands */
#define BOOL(name, otherwise)	 bool name;
#define INTEGER(name, otherwise) int64_t name;
#define STRING(name, otherwise)	 const char *name;
#define LIST(name)		 sk_texts name;
#include "graph/manager/flags.def"
#undef BOOL
#undef INTEGER
#undef STRING
#undef LIST
};

/* A text of flags, and where it stands. */
struct sk_flags_text {
	const char *text; /* "--opt_level=1 --enable_expand_ops=Square,Gelu" */
	struct sk_place place;
	bool in_line; /* its characters stand there from `place` on, so that warnings can name the column */
};

/* Reads the text; what it does not name has its default. What is wrong with it is warned of, and left out. */
void sk_fusion_flags_read(struct sk_arena *arena, struct sk_diag *diag, struct sk_flags_text text,
			  enum sk_fusion_target target, struct sk_fusion_flags *flags);

/* Looking for what a misspelt name was meant to be takes time: of so many that are wrong, nobody reads on. */
static inline bool sk_flags_may_suggest(const struct sk_diag *diag)
{
	return diag->warnings < 100;
}

/* All flags by name, as JSON. */
const char *sk_fusion_flags_json(struct sk_arena *arena, const struct sk_fusion_flags *flags);

/* ==== pass ====
 *
 * A pass of graph-kernel fusion: a function on the graph, with the name by which flags, dumps and logs speak of it. */

enum sk_pass_result { SK_PASS_UNCHANGED, SK_PASS_CHANGED, SK_PASS_FAILED };

struct sk_rule_list;

struct sk_graph_pass {
	const char *stage, *name;
	unsigned level; /* from this optimisation level on; SK_LEVEL_NEVER: only if it is asked for */
	/* NULL: it is the rules, or none. Every value of the graph is of a known type and shape, before and after.
	 * Errors are in the graph's sink. */
	enum sk_pass_result (*run)(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);
	struct sk_rule_list *rules; /* that fuse */
};

/* Whether it can do something; otherwise it only has a place. */
static inline bool sk_pass_does(const struct sk_graph_pass *pass)
{
	return pass->run || pass->rules;
}

enum { SK_LEVEL_NEVER = 4 };

/* ==== choose.c ====
 *
 * Which passes of graph-kernel fusion run: the rule of levels, and what the flags say of single passes. */

struct sk_pass_choice {
	const struct sk_graph_pass *pass;
	const char
		*name; /* in full: "stage1_cluster_3_graph_kernel_cluster", "fusion_group_10_rms_norm_quant_fusion" */
	bool on;
	bool named; /* enable_pass, disable_pass or a switch of its own says so */
};

typedef SK_ARRAY(struct sk_pass_choice) sk_pass_choices;

/* A choice for each pass of the table, which ends with one without a name and has the passes of a stage one behind the
 * other. Warns of what enable_pass and disable_pass say in vain. */
sk_pass_choices sk_passes_choose(struct sk_arena *arena, struct sk_diag *diag, const struct sk_graph_pass *passes,
				 const struct sk_fusion_flags *flags);

/* ==== lists.c ====
 *
 * Which operators graph-kernel fusion may expand, or put into composites: the target's list, and what the flags say of
 * it. */

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

/* ==== switches.c ====
 *
 * Switches of passes, as CANN's fusion switch files have them: which passes somebody wants on or off. */

/* Passes that change the graph, and those that put tasks together without changing what is computed. */
enum sk_switch_kind { SK_SWITCH_GRAPH, SK_SWITCH_UB, SK_SWITCH_KINDS };

/* What a file calls them: "GraphFusion", "UBFusion". */
extern const char *const sk_switch_kinds[SK_SWITCH_KINDS];

/* The pass that gives nodes no task, which is of UBFusion. */
#define SK_SWITCH_VIRTUAL_OP_SET "FusionVirtualOpSetSwitch"

/* Of which kind the pass of that name is. */
enum sk_switch_kind sk_switch_kind(const char *name);

struct sk_switch {
	const char *name; /* of a pass, or "ALL" */
	enum sk_switch_kind kind; /* SK_SWITCH_KINDS: of both */
	bool on;
	struct sk_place place;
};

struct sk_switches {
	SK_ARRAY(struct sk_switch) switches;
	struct sk_map names[SK_SWITCH_KINDS]; /* of switches -> index */
	SK_ARRAY(struct sk_name) staying; /* passes that stay on */
};

void sk_switches_init(struct sk_switches *switches, struct sk_arena *arena);

/* Adds a switch. Returns the one that there is for the pass already, or NULL. */
const struct sk_switch *sk_switches_add(struct sk_switches *switches, struct sk_arena *arena, struct sk_switch added);

/* Whether the file says something of this pass, and not only of all. switches may be NULL. */
bool sk_switch_is_named(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name);

/* Whether the pass is on: as the file says of it, else as it says of all; `otherwise` is what holds without a file.
 * switches may be NULL. */
bool sk_switch_is_on(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name, bool otherwise);

/* Warns of switches of passes that there are not; known[kind] are the names of those that there are. switches may be
 * NULL. */
void sk_switches_check_names(struct sk_diag *diag, const struct sk_switches *switches,
			     const sk_texts known[SK_SWITCH_KINDS]);

/* ==== read-switches.c ====
 *
 * Files of switches: JSON, or lines of text. */

/* Reads the switches of the text, and all errors in it. False after one. */
bool sk_switches_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		       struct sk_switches *switches);

/* The same for a file. */
bool sk_switches_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_switches *switches);

/* ==== results.c ====
 *
 * What passes of patterns have found and replaced in the graphs of a link, as CANN's fusion_result.json has it. */

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
