/* The state of a link and its passes: files to graphs, graphs to the model, constants folded in a child process, and
 * the model to the package. */
#ifndef SK_SRC_LINK_LINK_H
#define SK_SRC_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rules/rules.h"
#include "src/model/model.h"
#include "src/package/package.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

struct sk_arena;
struct sk_command_line;
struct sk_constants;
struct sk_dumps;
struct sk_file_draft;
struct sk_known_contents;
struct sk_link;
struct sk_linker;
struct sk_timing;

/* ==== a link ==== */

/* A graph with its dumps. The last dump is written when the plan says where values lie. */
struct sk_dumped_graph {
	struct sk_op_graph *graph;
	struct sk_dumps *dumps;
};

typedef SK_ARRAY(struct sk_dumped_graph) sk_dumped_graphs;

/* The state of one link: results of each pass for later passes. */
struct sk_link {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_command_line *command;
	struct sk_timing *timing; /* NULL: no times are taken */
	FILE *lines; /* the stream that the linker prints to */
	struct sk_linker *linker;
	bool has_inputs, inputs_failed; /* the linker has the inputs; one of them could not be read */
	struct sk_model *model;
	struct sk_known_contents *known; /* of a graph with bounds; NULL: there is none */
	struct sk_known_contents *folded; /* results of calls, of all networks; NULL: there is one network */
	sk_dumped_graphs dumped; /* graphs that have become tasks of the model */
	struct sk_plan_image image; /* the plan's, once it is complete */
	struct sk_plan_view plan; /* a view of it */
	struct sk_dims_view dims; /* its sizes with bounds */
	struct sk_ranks_view ranks; /* its ranks; none if it is for one process */
	struct sk_account account; /* the treatment of each task */
	const void *packed_account; /* as it is in the package */
	uint64_t packed_account_size;
	struct sk_without_groups without_groups; /* only for a report */
	uint64_t fusion_steps, memory_steps, proof_steps; /* examinations that these phases have made, for --stats */
	uint64_t *children; /* processes that have computed constants, counted; NULL: they are not counted */
	bool wants_facts; /* outputs explain the order of tasks */
	struct sk_facts facts; /* reasons for the order; only if wants_facts */
	struct sk_package_parts parts; /* set once there are dispatchers */
	struct sk_text explained; /* the text for --explain, once it is prepared */
};

/* ==== check-rules.c ====
 *
 * --check-rules: check that the replacement of a pattern computes the same as the pattern. */

/* For each rule in the file, and each of its variants, build the pattern and its replacement, compute both from random
 * values with the kernels of the link, and compare. Each difference is an error; each rule that cannot be checked is a
 * warning. Print the number of checked variants. */
void sk_check_rules(struct sk_link *link, const char *file);

/* ==== folding-cost.c ====
 *
 * The bytes that folding costs: results that would make the package larger than the model stay out of it. The calls
 * that make them run once for each instance. */

/* Choose among the constant calls those that are not folded (`once`, by call). Mark their results (`once`), and record
 * what grows for --explain. */
void sk_folding_leave(const struct sk_link *link, struct sk_op_graph *graph, const sk_graph_calls *calls,
		      const bool *constant, bool *once);

/* ==== folding-child.c ====
 *
 * The process that computes constants. The passes that link the network also link the calls, into a package that is
 * never written to a file. libskrt then runs it. */

/* The calls that are computed together. */
struct sk_folding {
	const struct sk_link *link; /* the link that needs the results */
	struct sk_op_graph *graph;
	sk_graph_calls calls;
	const uint32_t *outputs; /* values that the calls write and do not read */
	size_t count;
	int file; /* for the results; besides these, the process only reports errors */
	const uint64_t *places; /* offset of each output in the file; an output with many bytes has pages of its own */
	uint64_t size; /* of all outputs */
	uint64_t most; /* bytes that the process may use for temporaries */
};

enum {
	SK_FOLDING_SECONDS = 600, /* limit on processor time and on elapsed time */
	SK_FOLDING_MUCH = 64 << 10, /* bytes */
	SK_FOLDING_PAGE = 4096,
	SK_FOLDING_REPORTED = 3, /* exit status: the error has been reported */
	SK_FOLDING_UNWRITTEN = 64, /* exit status, plus errno: results cannot be written; not reported yet */
};

/* Compute the outputs and end the process, with status 0 if the file has the results. The graph changes. */
_Noreturn void sk_folding_child(const struct sk_folding *folding);

/* ==== folding.c ====
 *
 * Constant folding: calls that depend on constants only are linked like any network, into a package that is never
 * written to a file. libskrt runs it in a child process, which is killed if it takes too long. */

/* Compute the contents of the wanted values, which depend on constants only. An sk_fold; link: a const struct
 * sk_link. */
bool sk_fold_values(const void *link, struct sk_op_graph *graph, const uint32_t *wanted, size_t count);

/* Compute everything that the calls compute from constants alone, and remove those calls. Large results are in the
 * draft, one after the other; without a draft they are nowhere else. Return false after an error. */
bool sk_fold_calls(const struct sk_link *link, struct sk_op_graph *graph, sk_graph_calls *calls,
		   struct sk_file_draft *draft);

/* Close a draft that will not become a file. Its bytes stay: other networks may take them, too. */
void sk_fold_close(const struct sk_file_draft *draft);

/* ==== graph-passes.c ====
 *
 * The list of passes that a graph of operators goes through before it becomes calls. */

/* The decisions that hold for all networks of a link. */
struct sk_graph_passes {
	struct sk_fusion_flags flags;
	sk_pass_choices passes;
	struct sk_fusion_results *results; /* the patterns found and replaced in all graphs */
	struct sk_rule_check check; /* checks the nodes that fusing rules would make */
	bool verbose; /* print decisions and changes on standard error */
};

/* Decide which passes run, by the flags, which are set. Warn about operators and passes that the flags name without
 * effect. Return false after an error. */
bool sk_graph_passes_begin(struct sk_arena *arena, struct sk_diag *diag, struct sk_graph_passes *list);

/* Run the chosen passes on a graph, and dump the graph after each change. The type and shape of every value are known
 * before and after. Return false after an error. */
bool sk_graph_passes_run(struct sk_op_graph *graph, const struct sk_graph_passes *list, struct sk_dumps *dumps);

/* Finish FusionVirtualOpSetSwitch, the last pass, once nodes are calls: turn parts of Split and Concat into slices
 * where they may be, and dump the graph if a node has no task afterwards. Close the dumps. Return false after an
 * error. */
bool sk_graph_passes_end(struct sk_op_graph *graph, sk_graph_calls *calls, const struct sk_graph_passes *list,
			 struct sk_dumps *dumps);

/* ==== fusion-flags.c ====
 *
 * The source of the flags of graph-kernel fusion: the command line, the manifest, or the environment. */

/* Read the flags from the first source that has any, for the requested target or the device's. Return false if there is
 * no such target. */
bool sk_fusion_flags_given(const struct sk_link *link, struct sk_fusion_flags *flags);

/* Return the environment's flags; NULL if another source overrides them, or without a model. */
const char *sk_fusion_flags_of_environment(const struct sk_link *link);

/* ==== given-names.c ====
 *
 * The names in texts that the command line or a manifest gives. */

/* One of these texts and its place. */
struct sk_given {
	const char *option; /* "--dim", "dims" */
	const char *text; /* NAME=VALUE */
	struct sk_place place;
};

/* True if an input has that name; then *value is its number. */
bool sk_given_is_input(const struct sk_op_graph *graph, const char *name, size_t length, uint32_t *value);

/* Find the input that "NAME=VALUE" names, by the longest name; `inner`: or the value that a node makes. Return the
 * value's text; NULL after an error. */
const char *sk_given_split(struct sk_op_graph *graph, const struct sk_given *given, bool inner, uint32_t *value);

/* ==== given.c ====
 *
 * Properties of a model's inputs and outputs that the command line or a manifest gives. */

/* Apply --shape, --freeze and --state, then the manifest's keys, to the graph's inputs. Apply the dimensions of all
 * networks and those of this one (NULL: it has no name). Values of --keep become outputs. All errors are collected;
 * return false if there was one. */
bool sk_given_apply(const struct sk_command_line *command, const struct sk_graph_file *file,
		    const sk_dimensions *dimensions, const char *network, struct sk_op_graph *graph);

/* List in graph->undeclared the values that nodes make, --freeze or `freeze:` names, and the file does not declare with
 * a type and all sizes. Nothing is reported. */
void sk_given_list_undeclared(const struct sk_command_line *command, const struct sk_graph_file *file,
			      const sk_dimensions *dimensions, struct sk_op_graph *graph);

/* ==== cut.c ====
 *
 * --inputs and --outputs: a part of the model as the network. */

/* True if the options name a part of the model. */
bool sk_cut_is_wanted(const struct sk_command_line *command);

/* List in graph->undeclared the values that nodes make, --inputs names, and the file does not declare. */
void sk_cut_list_undeclared(const struct sk_command_line *command, struct sk_op_graph *graph);

/* Keep the outputs that --outputs names, which may be values that nodes make, and the nodes that they need. Values that
 * --inputs names become inputs, which begin the network. Return false after an error. */
bool sk_cut_apply(const struct sk_command_line *command, struct sk_op_graph *graph);

/* ==== undeclared.c ====
 *
 * Types and shapes of values that nodes make and the file does not declare. */

/* True if the name is in graph->undeclared. */
bool sk_is_undeclared(const struct sk_op_graph *graph, const char *name);

/* Give the values in graph->undeclared the types and shapes that they have in another graph of the file, as far as it
 * has them, and remove these values from the list. */
void sk_undeclared_take(struct sk_op_graph *graph, const struct sk_op_graph *from);

/* ==== freeze.c ==== */

/* List the value in graph->undeclared if a node makes it, and the file does not declare its type and all sizes. */
bool sk_freeze_list_undeclared(struct sk_op_graph *graph, const struct sk_given *given);

/* Make the input, or the value that a node makes, the constant of "NAME=FILE" or "NAME=ELEMENTS". Return false after an
 * error. Nodes that only it needed are still there. Values in graph->undeclared stay as they are. */
bool sk_given_freeze(struct sk_op_graph *graph, const struct sk_given *given);

/* ==== find-caches.c ==== */

/* Apply --cache: add the states of the caches that grow, or that have the names of such. Report if there are none. */
bool sk_given_find_caches(const struct sk_command_line *command, struct sk_op_graph *graph);

/* ==== have-kernels.c ====
 *
 * Check whether the libraries have kernels for the nodes that a rule would make, and no better kernels for the nodes
 * that it replaces. Kernels are looked up as in binding: nodes become canonical calls and tasks of a private model. */

/* Return a reason against the replacement, or NULL. An sk_rule_check; link: a struct sk_link, which reads its inputs at
 * the first call. There are two reasons: a new node has no kernel; or a replaced node has a kernel in a library that
 * precedes all libraries of the new nodes' kernels, and so is meant to be used. */
const char *sk_have_kernels(void *link, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			    const sk_graph_nodes *nodes);

/* ==== known-contents.c ====
 *
 * Contents of constants of a graph with bounds. Samples of it take them instead of computing them again. */

struct sk_known_contents;

struct sk_known_contents *sk_known_create(struct sk_arena *arena);

/* From now on graphs are samples. */
void sk_known_complete(struct sk_known_contents *known);

/* Record the contents of a constant, unless the graph is a sample or the value varies with sizes. The key is a hash of
 * the calls that compute it, or 0 if nodes do, which know whether their results vary. */
void sk_known_add(struct sk_known_contents *known, const struct sk_value *value, uint64_t key);

/* Return the contents of a value that is to be a constant, from its terms if it varies with sizes; NULL: they are not
 * known, or were computed by calls with another key. */
const void *sk_known_find(const struct sk_known_contents *known, const struct sk_op_graph *graph,
			  const struct sk_value *value, uint64_t key);

/* The same for results of calls of any network, which later networks take: the key is one by contents. */
void sk_folded_add(struct sk_known_contents *folded, const struct sk_value *value, uint64_t key);
const void *sk_folded_find(const struct sk_known_contents *folded, const struct sk_op_graph *graph,
			   const struct sk_value *value, uint64_t key);

enum sk_known_as {
	SK_KNOWN_BY_NAMES, /* names stand for the contents of constants */
	SK_KNOWN_BY_CONTENTS, /* for several networks, of which each has constants of its own */
};

/* Return, by value that has bytes of its own, a hash of the calls that write it, and of those that write their
 * operands: names or contents, attributes, shapes and places. */
uint64_t *sk_known_keys(const struct sk_op_graph *graph, const struct sk_graph_call *calls, size_t count,
			enum sk_known_as as);

/* ==== link-passes.c ====
 *
 * The passes of a link, from a model to a linked image. Each phase collects all its errors; the first phase with one is
 * the last to run. */

/* Give the linker all inputs, unless it has them. To be called before their contents are used. Return false if one
 * cannot be read, which is reported once. */
bool sk_link_inputs(struct sk_link *link);

/* Find the inputs, which the link's command names. Return false after an error. */
bool sk_pass_inputs(struct sk_link *link);

/* Bind the tasks, and find the forms of numbers that depend on sizes. Return false after an error. */
bool sk_pass_bind(struct sk_link *link);

/* Turn a bound model into a complete plan. Return false after an error. */
bool sk_pass_plan(struct sk_link *link);

/* Prove the plan, and make the image, which then only has to be written. Return false after an error. */
bool sk_pass_link(struct sk_link *link);

/* ==== lower.c ====
 *
 * From canonical calls to the model: values become tensors, calls become tasks. */

/* Add to the model everything that the calls need: tasks with an op, attributes and args, and the tensors of all values
 * that they use, with the roles that the graph gives them. The model is empty or has other networks. Nodes without a
 * scope are in the scope named by `scope`; NULL: in none. Constants that another network also has become its tensors;
 * `constants` is NULL if there is a single network. */
void sk_graph_lower(const struct sk_op_graph *graph, const sk_graph_calls *calls, const char *scope,
		    struct sk_constants *constants, struct sk_model *model);

/* Add a tensor to the model, and return its number. Names of views are not looked up. */
uint32_t sk_graph_lower_tensor(struct sk_model *model, const struct sk_tensor *tensor);

/* ==== networks.c ====
 *
 * Sets of dimensions: the networks that a link makes from a model. */

struct sk_networks {
	sk_names names; /* names of the sets, in their order; empty: a single network without a name */
	sk_dimensions dimensions; /* of all of them */
};

/* Read --dim, then the manifest's sets. Return false after errors. */
bool sk_networks_list(const struct sk_command_line *command, const struct sk_graph_file *file, const char *model,
		      struct sk_arena *arena, struct sk_diag *diag, struct sk_networks *networks);

/* ==== read-graph.c ====
 *
 * A model file becomes the tasks of a network. */

/* Read the model file into the link's model: tensors, tasks with an op, and scopes. The model is empty except for the
 * manifest's keys about it. Values that depend on constants only are computed. Return false after errors. */
bool sk_network_read(struct sk_link *link, const char *path);

/* Write the last dumps, which say where values lie. To be called once the plan is complete. Return false after an
 * error. */
bool sk_network_dump_places(const struct sk_link *link);

/* ==== scopes.c ====
 *
 * The scopes of a graph: their nodes and their options. */

/* Put nodes into the scopes that the manifest and --scope give them, overriding the file; the last pattern that matches
 * a node counts. An unnamed node has the name of the first value that it makes. Return false after an error. */
bool sk_scopes_assign(const struct sk_command_line *command, const struct sk_graph_file *file,
		      struct sk_op_graph *graph);

/* Add the nodes' scopes to the graph's list. Nodes of bodies have become the graph's own since scopes were assigned. */
void sk_scopes_collect(struct sk_op_graph *graph);

/* Return the scope of nodes without one: a graph without any scope forms a single scope with the graph's name. Return
 * NULL if there are others. */
const char *sk_scopes_default(const struct sk_op_graph *graph);

/* Let symbols of the scope's launches begin with the package's name, which the model has, instead of the graph's. */
void sk_scopes_set_symbol(const struct sk_op_graph *graph, struct sk_model *model, const char *scope);

/* Give the model's scopes the options that their nodes ask for, unless the manifest gives some. Return false after an
 * error. */
bool sk_scopes_take_options(struct sk_op_graph *graph, struct sk_model *model);

#endif
