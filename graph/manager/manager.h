/* Graph-kernel fusion: its flags and switches, its lists of operators, its results, and the record of a pass. */
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
 * The flags of graph-kernel fusion: the contents of MindSpore's MS_DEV_GRAPH_KERNEL_FLAGS, as fields. */

/* The device, which selects the lists of operators and the rules of areas. */
enum sk_fusion_target { SK_TARGET_HOST, SK_TARGET_ASCEND, SK_TARGET_CPU, SK_TARGET_GPU };

enum { SK_FUSION_TARGETS = SK_TARGET_GPU + 1 };

/* Their names in flags. */
extern const char *const sk_fusion_targets[SK_FUSION_TARGETS];

struct sk_rules;
struct sk_switches;

struct sk_fusion_flags {
	unsigned opt_level; /* 0: no graph-kernel fusion */
	enum sk_fusion_target target;
	bool given; /* flags affect how the graph is fused; otherwise defaults apply, except for disabled passes */
	const struct sk_switches *switches; /* of single passes; NULL: none */
	const struct sk_rules *rules; /* the user's rules */
	bool no_patterns; /* do not apply TorchAir's and the user's rules */
	bool max_autotune; /* do not apply the rules that TorchAir has for captured graphs only */
	struct sk_rules *own_rules; /* sklink's rules, read when a pass needs them */
	const char *text; /* the flags as given */
	struct sk_place place; /* of the text */
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

/* A text of flags and its place. */
struct sk_flags_text {
	const char *text; /* "--opt_level=1 --enable_expand_ops=Square,Gelu" */
	struct sk_place place;
	bool in_line; /* the text is at `place` character by character, so that warnings can name the column */
};

/* Read the flags of the text; those that it does not name get their defaults. Malformed ones are ignored with a
 * warning. */
void sk_fusion_flags_read(struct sk_arena *arena, struct sk_diag *diag, struct sk_flags_text text,
			  enum sk_fusion_target target, struct sk_fusion_flags *flags);

/* Suggestions for misspelt names take time, and nobody reads more than a hundred of them. */
static inline bool sk_flags_may_suggest(const struct sk_diag *diag)
{
	return diag->warnings < 100;
}

/* Return all flags by name, as JSON. */
const char *sk_fusion_flags_json(struct sk_arena *arena, const struct sk_fusion_flags *flags);

/* ==== pass ====
 *
 * A pass over the graph, with the name that flags, dumps and logs use. */

enum sk_pass_result { SK_PASS_UNCHANGED, SK_PASS_CHANGED, SK_PASS_FAILED };

struct sk_rule_list;

struct sk_graph_pass {
	const char *stage, *name;
	unsigned level; /* the lowest optimisation level that runs it; SK_LEVEL_NEVER: only on request */
	/* NULL: the pass consists of rules, or of nothing. Types and shapes of all values are known before and after.
	 * Errors go to the graph's sink. */
	enum sk_pass_result (*run)(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);
	struct sk_rule_list *rules; /* rules that fuse */
	/* Its place in the stage is the next one after the pass before it and so many of MindSpore's that sklink does
	 * not have (absent.def). A pass that MindSpore does not have has a place of its own, after all others; 0: it is
	 * one of MindSpore's. */
	unsigned gap, apart;
};

/* True if the pass can do something; otherwise it only keeps its place in the numbering. */
static inline bool sk_pass_does(const struct sk_graph_pass *pass)
{
	return pass->run || pass->rules;
}

enum { SK_LEVEL_NEVER = 4 };

/* ==== choose.c ====
 *
 * The choice of passes that run: by level, and by the flags and switches of single passes. */

struct sk_pass_choice {
	const struct sk_graph_pass *pass;
	const char
		*name; /* full name: "stage1_cluster_3_graph_kernel_cluster", "fusion_group_10_rms_norm_quant_fusion" */
	bool on;
	bool named; /* enable_pass, disable_pass or a switch names the pass */
};

typedef SK_ARRAY(struct sk_pass_choice) sk_pass_choices;

/* Return a choice for each pass of the table. The table ends with a pass without a name, and has the passes of each
 * stage together. Warn about entries of enable_pass and disable_pass without effect. */
sk_pass_choices sk_passes_choose(struct sk_arena *arena, struct sk_diag *diag, const struct sk_graph_pass *passes,
				 const struct sk_fusion_flags *flags);

/* ==== lists.c ====
 *
 * The operators that graph-kernel fusion may expand, or combine into composites: the target's list, modified by
 * flags. */

enum sk_list_kind { SK_LIST_EXPAND, SK_LIST_CLUSTER, SK_LIST_PACKET };

struct sk_op_list;

/* Return the list in effect. If an _only flag names operators, the list is these alone. Otherwise it is the target's
 * list up to fusion_ops_level, with the operators of the enabling flag, without those of the disabling flag. The list
 * of packets has all operators before that. */
const struct sk_op_list *sk_valid_ops(struct sk_arena *arena, const struct sk_fusion_flags *flags,
				      enum sk_list_kind kind);

/* Return the name of the node's operator in another vocabulary: "BiasAdd" for "mindspore:BiasAdd". Functions and rules
 * have no such names. NULL: the operator comes from ONNX. */
const char *sk_foreign_name(const struct sk_graph_node *node);

/* True if the list has the node's operator, under any of its names: ONNX's, MindSpore's or GE's. */
bool sk_op_list_has(const struct sk_op_list *list, const struct sk_graph_node *node);

/* True if `name` is a name of the operator of ONNX, or of the domain "sklink". */
bool sk_op_is_called(const char *op, const char *name);

/* True if some vocabulary has an operator of that name. */
bool sk_op_is_known(const char *name);

/* Warn about each unknown operator that the flags name. */
void sk_lists_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags);

/* ==== switches.c ====
 *
 * Switches of passes, as in CANN's fusion switch files. */

/* Passes that change the graph, and passes that combine tasks without changing the computation. */
enum sk_switch_kind { SK_SWITCH_GRAPH, SK_SWITCH_UB, SK_SWITCH_KINDS };

/* Their names in files: "GraphFusion", "UBFusion". */
extern const char *const sk_switch_kinds[SK_SWITCH_KINDS];

/* The pass that leaves nodes without a task. It belongs to UBFusion. */
#define SK_SWITCH_VIRTUAL_OP_SET "FusionVirtualOpSetSwitch"

/* Return the kind of the pass of that name. */
enum sk_switch_kind sk_switch_kind(const char *name);

struct sk_switch {
	const char *name; /* of a pass, or "ALL" */
	enum sk_switch_kind kind; /* SK_SWITCH_KINDS: both kinds */
	bool on;
	struct sk_place place;
};

struct sk_switches {
	SK_ARRAY(struct sk_switch) switches;
	struct sk_map names[SK_SWITCH_KINDS]; /* of switches, to index */
	SK_ARRAY(struct sk_name) staying; /* passes that stay on */
};

void sk_switches_init(struct sk_switches *switches, struct sk_arena *arena);

/* Add a switch. Return the switch that the pass already has, or NULL. */
const struct sk_switch *sk_switches_add(struct sk_switches *switches, struct sk_arena *arena, struct sk_switch added);

/* True if the file has a switch for this very pass, not only for all passes. switches may be NULL. */
bool sk_switch_is_named(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name);

/* True if the pass is on: by its own switch, else by the switch of all passes, else by `otherwise`. switches may be
 * NULL. */
bool sk_switch_is_on(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name, bool otherwise);

/* Warn about switches of unknown passes; known[kind] has the names of the known ones. switches may be NULL. */
void sk_switches_check_names(struct sk_diag *diag, const struct sk_switches *switches,
			     const sk_texts known[SK_SWITCH_KINDS]);

/* ==== read-switches.c ====
 *
 * The reader of switch files: JSON, or lines of text. */

/* Read the switches of the text, and report all errors. False after an error. */
bool sk_switches_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		       struct sk_switches *switches);

/* The same for a file. */
bool sk_switches_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_switches *switches);

/* ==== results.c ====
 *
 * The patterns that passes have found and replaced in the graphs of a link, as in CANN's fusion_result.json. */

/* The counts of a rule in one graph. */
struct sk_rule_count {
	const char *rule;
	bool user; /* the rule is the user's */
	uint64_t found, replaced; /* patterns */
};

typedef SK_ARRAY(struct sk_rule_count) sk_rule_counts;

/* The counts of a pass that found something in one graph. */
struct sk_fusion_result {
	uint32_t graph;
	const char *pass;
	uint64_t found, replaced;
};

struct sk_fusion_results {
	uint32_t graphs;
	SK_ARRAY(struct sk_fusion_result) items; /* by graph */
};

/* Add the counts of a pass in the last graph. */
void sk_fusion_results_add(struct sk_arena *arena, struct sk_fusion_results *results, const char *pass,
			   const sk_rule_counts *counts);

/* Print the file. The passes of a graph are sorted by name. */
void sk_fusion_results_print(struct sk_arena *arena, const struct sk_fusion_results *results, FILE *stream);

#endif
