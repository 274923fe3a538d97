/* The table of the passes over a graph, in the order in which they run; see link.h. MindSpore's flags identify a pass
 * by its stage and its number within that stage. */
#include "src/link/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "base/timing.h"
#include "graph/composites/composites.h"
#include "graph/dumps/dumps.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/onnx/onnx.h"
#include "graph/passes/passes.h"
#include "graph/rewrites/rewrites.h"
#include "graph/rules/rules.h"

/* This pass does not change a graph: tasks get their cores in planning, according to the scopes' option
 * parallel-fusion. */
static enum sk_pass_result allow_side_by_side(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	(void)flags;
	graph->side_by_side = true;
	return SK_PASS_UNCHANGED;
}

/* A pass without a function consists of rules, if there are any. */
static const struct sk_graph_pass passes[] = {
	{"recompose", SK_PASS_ONNX, 0, NULL},

	/* Patterns that one kernel computes, in the order of their indices. */
	{"fusion_group", "FlashAttentionFusionV1", 0, NULL},
	{"fusion_group", "FlashAttentionFusionV2", 0, NULL},
	{"fusion_group", "add_layer_norm_fusion", 0, NULL},
	{"fusion_group", "add_layer_norm_v3_fusion", 0, NULL},
	{"fusion_group", "add_layer_norm_ext_fusion", 0, NULL},
	{"fusion_group", "inference_swiglu_fusion", 0, NULL},
	{"fusion_group", "inference_matmul_split_fusion", 0, NULL},
	{"fusion_group", "shape_reshape", 0, sk_pass_shape_reshape},
	{"fusion_group", "shape_reshape_2", 0, sk_pass_shape_reshape_2},
	{"fusion_group", "add_rms_norm_quant_fusion", 0, NULL},
	{"fusion_group", "rms_norm_quant_fusion", 0, NULL},
	{"fusion_group", "add_rms_norm_fusion", 0, NULL},
	{"fusion_group", "add_cast_rms_norm_cast_fusion", 0, NULL},
	{"fusion_group", "MatMulAllReduce", 0, NULL},
	{"fusion_group", "split_concat_fusion", 0, NULL},
	{"fusion_group", "matmul_elem_biasadd_fusion", 0, NULL},
	{"fusion_group", "matmul_elem_add_fusion", 0, NULL},
	{"fusion_group", "matmul_elem_relu_fusion", 0, NULL},
	{"fusion_group", "matmul_elem_gelu_fusion", 0, NULL},
	{"fusion_group", "inference_qbmm_add_fusion", 0, NULL},
	{"fusion_group", "inference_qbmm_allreduce_add_fusion", 0, NULL},

	{"patterns", SK_PASS_TORCHAIR, 0, NULL},
	{"patterns", SK_PASS_USER, 0, NULL},

	{"preprocess", "graph_kernel_cse", 1, sk_pass_cse, .gap = 7},
	{"cluster", "transpose_matmul_fusion", SK_LEVEL_NEVER, sk_pass_transpose_matmul_fusion},
	{"cluster", "graph_kernel_expander", 1, sk_pass_expand, .gap = 2},
	{"cluster", "fuse_basic", 1, sk_pass_fuse_basic, .apart = 7},
	{"cluster", "graph_kernel_cluster", 1, sk_pass_graph_kernel_cluster},
	{"cluster", "eliminate_redundant_output", 1, sk_pass_eliminate_redundant_output, .gap = 1},
	{"highlevelopt1", "reorder_ops", 2, sk_pass_reorder_ops},
	{"highlevelopt1", "axis_normalizer", 1, sk_pass_axis_normalizer},
	{"highlevelopt1", "arithmetic_simplify", 2, sk_pass_arithmetic_simplify, .gap = 1},
	{"highlevelopt1", "graph_kernel_cse", 2, sk_pass_cse, .gap = 2},
	{"highlevelopt1", "transform_op_optimizer", 2, sk_pass_transform_op_optimizer},
	{"split", "graph_kernel_splitter", 1, sk_pass_graph_kernel_splitter, .gap = 4},
	{"split", "graph_kernel_cse", 1, sk_pass_cse, .gap = 2},
	{"split", "eliminate_redundant_output", 1, sk_pass_eliminate_redundant_output, .gap = 1},
	{"highlevelopt2", "graph_kernel_recompute", 1, sk_pass_graph_kernel_recompute},
	{"combine", "parallel_fusion", 0, allow_side_by_side, .gap = 2}, /* or never: see settle_levels */
	{"build", SK_SWITCH_VIRTUAL_OP_SET, 0, sk_pass_no_task, .apart = 9},
	{"kernelpacket", "symbol_engine_extender", 1, sk_pass_symbol_engine_extender},
	{0},
};

/* ---- logging ---- */

static void log_line(const struct sk_graph_passes *list, const char *module, const char *text)
{
	if (!list->verbose)
		return;
	fprintf(stderr, "[INFO] %s(sklink): ", module);
	sk_escape_print(text, stderr);
	fputc('\n', stderr);
}

/* Log the names of the passes that flags can select by name. */
static void log_group(struct sk_arena *arena, const struct sk_graph_passes *list)
{
	const char *line = "graph kernel passes: ", *between = "";

	for (const struct sk_graph_pass *pass = passes; pass->name; pass++) {
		if (strcmp(pass->stage, "fusion_group"))
			continue;
		line = sk_arena_print(arena, "%s%s%s", line, between, pass->name);
		between = ",";
	}
	log_line(list, "PRE_ACT", sk_arena_join(arena, line, "."));
}

static void log_choices(struct sk_arena *arena, const struct sk_graph_passes *list)
{
	log_line(list, "GRAPH_KERNEL",
		 sk_arena_print(arena, "graph_kernel_flags = \"%s\", all flags: %s", list->flags.text,
				sk_fusion_flags_json(arena, &list->flags)));
	log_group(arena, list);
	for (size_t i = 0; i < list->passes.count; i++) {
		const struct sk_pass_choice *choice = &list->passes.items[i];
		const char *what = !choice->on			? "is disabled"
				   : sk_pass_does(choice->pass) ? "is enabled"
								: "has no rule";

		log_line(list, "GRAPH_KERNEL", sk_arena_print(arena, "graph kernel pass %s %s.", choice->name, what));
	}
}

/* ---- running passes ---- */

static void check_switches(struct sk_arena *arena, struct sk_diag *diag, const struct sk_switches *switches)
{
	sk_texts known[SK_SWITCH_KINDS] = {{0}};

	for (const struct sk_graph_pass *pass = passes; pass->name; pass++)
		sk_array_push(arena, &known[sk_switch_kind(pass->name)], pass->name);
	sk_switches_check_names(diag, switches, known);
}

/* No level determines whether tasks run side by side. On the host the planner decides, unless the user gives flags. On
 * CPUs MindSpore recomputes nothing. */
static void settle_levels(struct sk_graph_pass *table, const struct sk_fusion_flags *flags)
{
	bool side_by_side = flags->enable_parallel_fusion || (flags->target == SK_TARGET_HOST && !flags->given);

	for (struct sk_graph_pass *pass = table; pass->name; pass++)
		if ((pass->run == allow_side_by_side && !side_by_side) ||
		    (pass->run == sk_pass_graph_kernel_recompute && flags->target == SK_TARGET_CPU))
			pass->level = SK_LEVEL_NEVER;
}

bool sk_graph_passes_begin(struct sk_arena *arena, struct sk_diag *diag, struct sk_graph_passes *list)
{
	struct sk_graph_pass *table =
		(struct sk_graph_pass *)sk_arena_copy(arena, (const char *)passes, sizeof(passes));

	sk_lists_check_names(arena, diag, &list->flags);
	check_switches(arena, diag, list->flags.switches);
	sk_simplify_check_names(diag, &list->flags);
	if (!sk_fuse_rules(arena, diag, &list->flags, table))
		return false;
	settle_levels(table, &list->flags);
	list->passes = sk_passes_choose(arena, diag, table, &list->flags);
	if (list->verbose)
		log_choices(arena, list);
	return sk_expand_check_names(arena, diag, &list->flags);
}

static void log_counts(struct sk_arena *arena, const struct sk_graph_passes *list, const char *pass,
		       const sk_rule_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++)
		if (counts->items[i].found || counts->items[i].user)
			log_line(list, "FE",
				 sk_arena_print(arena,
						"GraphId[%" PRIu32
						"], GraphFusionPass[%s]: pattern=%s, matched_times=%" PRIu64
						", effected_times=%" PRIu64 ".",
						list->results->graphs - 1, pass, counts->items[i].rule,
						counts->items[i].found, counts->items[i].replaced));
}

/* Passes that have run on a model that is a dump do not run again, since they would find more in their own results. */
static bool has_run(const struct sk_op_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->passes.count; i++)
		if (!strcmp(graph->passes.items[i], name))
			return true;
	return false;
}

static bool is_pass(const struct sk_graph_passes *list, const char *name)
{
	for (size_t i = 0; i < list->passes.count; i++)
		if (!strcmp(list->passes.items[i].name, name))
			return true;
	return false;
}

static void tell_passes(const struct sk_op_graph *graph, const struct sk_graph_passes *list)
{
	struct sk_place place = {.file = graph->file};

	for (size_t i = 0; i < list->passes.count; i++) {
		const struct sk_pass_choice *choice = &list->passes.items[i];

		if (!has_run(graph, choice->name))
			continue;
		log_line(list, "GRAPH_KERNEL",
			 sk_arena_print(graph->arena, "graph kernel pass %s has run on the model already.",
					choice->name));
		if (choice->named)
			sk_warning(graph->diag, place,
				   "graph kernel pass %s has run on this dump already ('" SK_ONNX_PASSES
				   "' in the metadata), and %s",
				   choice->name, choice->on ? "does not run again" : "is not undone");
	}
	for (size_t i = 0; i < graph->passes.count; i++)
		if (!is_pass(list, graph->passes.items[i]))
			sk_warning(graph->diag, place, "'" SK_ONNX_PASSES "' in the metadata names no pass '%s'",
				   graph->passes.items[i]);
}

/* These passes find something only if dimensions have bounds. */
static bool needs_sizes(const struct sk_graph_pass *pass)
{
	return pass->run == sk_pass_shape_reshape || pass->run == sk_pass_shape_reshape_2 ||
	       pass->run == sk_pass_symbol_engine_extender;
}

/* The other passes only set options of planning. */
static bool changes_graphs(const struct sk_graph_pass *pass)
{
	return pass->run != allow_side_by_side && pass->run != sk_pass_no_task;
}

static bool run_passes(struct sk_op_graph *graph, const struct sk_graph_passes *list,
		       const struct sk_pass_choice *choice, struct sk_dumps *dumps)
{
	uint64_t start = sk_timing_now();
	const struct sk_graph_pass *pass = choice->pass;
	sk_rule_counts counts = {NULL, 0, 0};
	enum sk_pass_result result = pass->run ? pass->run(graph, &list->flags)
					       : sk_fuse(graph, &list->flags, pass->rules, list->check, &counts);
	bool changed = result == SK_PASS_CHANGED;

	log_line(list, "GRAPH_KERNEL",
		 sk_arena_print(graph->arena, "Run graph kernel pass %s in %.2f us", choice->name,
				(double)(sk_timing_now() - start) / 1e3));
	for (size_t i = 0; i < graph->told.count; i++)
		log_line(list, "GRAPH_KERNEL", graph->told.items[i]);
	graph->told.count = 0;
	sk_fusion_results_add(graph->arena, list->results, pass->name, &counts);
	log_counts(graph->arena, list, pass->name, &counts);
	if (changed) {
		log_line(list, "GRAPH_KERNEL",
			 sk_arena_print(graph->arena, "graph kernel pass %s changed.", choice->name));
		sk_rewrite_sweep(graph);
		sk_graph_mark_fixed(graph); /* as when the dump is read */
	}
	if (changes_graphs(pass))
		sk_array_push(graph->arena, &graph->passes, choice->name);
	return result != SK_PASS_FAILED && sk_dumps_after(dumps, graph, choice->name, choice->pass->name, changed);
}

/* ---- changes made by patterns ---- */

/* Passes that run rules precede all others. */
static bool is_last_of_patterns(const struct sk_graph_passes *list, size_t pass)
{
	return !strcmp(list->passes.items[pass].pass->name, SK_PASS_USER);
}

/* Return "'mul' (Mul)" for each node. */
static sk_texts name_nodes(const struct sk_op_graph *graph)
{
	sk_texts names = {0};

	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];

		if (sk_node_is_live(graph, node))
			sk_array_push(graph->arena, &names,
				      sk_arena_print(graph->arena, "'%s' (%s)", sk_node_name(graph, node), node->op));
	}
	return names;
}

/* Return "['mul' (Mul), …]": the names that are not among the others. */
static const char *list_others(struct sk_arena *arena, const sk_texts *names, const sk_texts *others)
{
	struct sk_text text;
	struct sk_map seen;
	const char *separator = "";

	sk_map_init(&seen, arena);
	for (size_t i = 0; i < others->count; i++)
		sk_map_insert(&seen, others->items[i], strlen(others->items[i]), 0);
	sk_text_open(&text);
	for (size_t i = 0; i < names->count; i++)
		if (sk_map_find(&seen, names->items[i], strlen(names->items[i])) == SK_NONE) {
			fprintf(text.stream, "%s%s", separator, names->items[i]);
			separator = ", ";
		}
	sk_text_close(arena, &text);
	return sk_arena_print(arena, "[%.*s]", (int)text.size, (const char *)text.bytes);
}

static void log_changes(const struct sk_op_graph *graph, const struct sk_graph_passes *list, const sk_texts *before)
{
	const sk_texts after = name_nodes(graph);

	log_line(list, "FX",
		 sk_arena_print(
			 graph->arena,
			 "After fx graph pass(apply_pattern_passes) optimization: before %zu nodes, after %zu nodes, "
			 "removed nodes: %s, added nodes: %s",
			 before->count, after.count, list_others(graph->arena, before, &after),
			 list_others(graph->arena, &after, before)));
}

bool sk_graph_passes_run(struct sk_op_graph *graph, const struct sk_graph_passes *list, struct sk_dumps *dumps)
{
	const struct sk_fusion_flags *flags = &list->flags;

	const sk_texts before = list->verbose ? name_nodes(graph) : (sk_texts){0};

	list->results->graphs++;
	/* On the host the planner decides, unless the user gives flags. */
	tell_passes(graph, list);
	sk_no_task_read_file(graph, flags);
	graph->composites_hold = flags->target != SK_TARGET_HOST || flags->given;
	for (size_t i = 0; i < list->passes.count; i++) {
		const struct sk_pass_choice *choice = &list->passes.items[i];

		if (choice->on && sk_pass_does(choice->pass) && !has_run(graph, choice->name) &&
		    (graph->sizes || !needs_sizes(choice->pass)) && !run_passes(graph, list, choice, dumps))
			return false;
		if (!is_last_of_patterns(list, i))
			continue;
		if (list->verbose)
			log_changes(graph, list, &before);
		if (!sk_dumps_patterns(dumps, graph))
			return false;
	}
	return sk_dumps_transformed(dumps, graph);
}

/* Find the pass that determines which nodes may be without a task, by its name. */
static const struct sk_pass_choice *find_no_task(const struct sk_graph_passes *list)
{
	const struct sk_pass_choice *choice = list->passes.items;

	while (choice->pass->run != sk_pass_no_task)
		choice++;
	return choice;
}

bool sk_graph_passes_end(struct sk_op_graph *graph, sk_graph_calls *calls, const struct sk_graph_passes *list,
			 struct sk_dumps *dumps)
{
	const struct sk_pass_choice *choice = find_no_task(list);

	return (!sk_graph_place_slices(graph, calls) ||
		sk_dumps_after(dumps, graph, choice->name, choice->pass->name, true)) &&
	       sk_dumps_end(dumps, graph);
}
