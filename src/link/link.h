/* A link as far as it has come, and its passes: files to graphs, graphs to the model, constants folded in a child
 * process, and the rest of the way to the package. */
#ifndef SK_SRC_LINK_LINK_H
#define SK_SRC_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/plan.h"
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
struct sk_diag;
struct sk_dumps;
struct sk_file_draft;
struct sk_link;
struct sk_linker;
struct sk_timing;

/* ==== a link ==== */

/* A graph with dumps of its own, the last of which is written when the plan says where values lie. */
struct sk_dumped_graph {
	struct sk_op_graph *graph;
	struct sk_dumps *dumps;
};

typedef SK_ARRAY(struct sk_dumped_graph) sk_dumped_graphs;

/* One link, as far as it has come: what each pass has left for those behind it. */
struct sk_link {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_command_line *command;
	struct sk_timing *timing; /* NULL: nobody wants to know */
	FILE *lines; /* where the linker prints to */
	struct sk_linker *linker;
	bool has_inputs, inputs_failed; /* the linker has them; one of them is none */
	struct sk_model *model;
	sk_dumped_graphs dumped; /* graphs that have become tasks of it */
	struct sk_plan_image image; /* of the plan, once it is complete; */
	struct sk_plan_view plan; /* a view of it */
	struct sk_account account; /* what became of each task; */
	const void *packed_account; /* as it is in the package */
	uint64_t packed_account_size;
	struct sk_without_groups without_groups; /* only for a report */
	uint64_t fusion_steps, memory_steps, proof_steps; /* what these phases have looked at */
	bool wants_facts; /* outputs tell why tasks are in order */
	struct sk_facts facts; /* why they are; only if that is wanted */
	struct sk_package_parts parts; /* once there are dispatchers */
	struct sk_text explained; /* what --explain asks for, once it is prepared */
};

/* ==== check-rules.c ====
 *
 * --check-rules: whether what takes a pattern's place computes the same. */

/* Makes of each rule in the file, and of each of its variants, the pattern and its replacement, computes both from
 * random values with the kernels of the link, and compares. All differences are errors; rules that cannot be checked
 * are warned of. Prints how many have been. */
void sk_check_rules(struct sk_link *link, const char *file);

/* ==== folding-child.c ====
 *
 * What computes constants, in a process of its own: the calls are linked by the very passes that link the network, into
 * a package that never gets into a file, which libskrt runs. */

/* What is computed in one go. */
struct sk_folding {
	const struct sk_link *link; /* that wants it */
	struct sk_op_graph *graph;
	sk_graph_calls calls;
	const uint32_t *outputs; /* values that the calls write, and none of them reads */
	size_t count;
	int file; /* for the results; the process has nothing else to tell, but errors */
	const uint64_t *places; /* of each output in the file; one with many bytes has its pages for itself */
	uint64_t size; /* of all of them */
	uint64_t most; /* bytes that the process may have for temporaries */
};

enum {
	SK_FOLDING_SECONDS = 600, /* at most, of processor time, and of time */
	SK_FOLDING_MUCH = 64 << 10, /* bytes */
	SK_FOLDING_PAGE = 4096,
	SK_FOLDING_REPORTED = 3, /* exit status: it has been said what is wrong */
	SK_FOLDING_UNWRITTEN =
		64, /* exit status, with the errno added: results cannot be written, which nobody has said */
};

/* Ends the process, with status 0 if the file has the results. The graph changes. */
_Noreturn void sk_folding_child(const struct sk_folding *folding);

/* ==== folding.c ====
 *
 * Constant folding: what depends on constants only is linked like any network, into a package that never gets into a
 * file, and run by libskrt in a child process, which is ended if it takes too long. */

/* Gives the wanted values, which depend on constants only, their contents; as sk_fold, of a const struct sk_link. */
bool sk_fold_values(const void *link, struct sk_op_graph *graph, const uint32_t *wanted, size_t count);

/* Computes all that the calls compute from constants alone, and takes those calls out. False after an error. If it is
 * much, it is in the draft, one constant behind the other. */
bool sk_fold_calls(const struct sk_link *link, struct sk_op_graph *graph, sk_graph_calls *calls,
		   struct sk_file_draft *draft);

/* Closes a draft that is to become no file, and frees it if no tensor of the model has its contents there: another
 * network had them all. */
void sk_fold_close(const struct sk_file_draft *draft, const struct sk_model *model);

/* ==== graph-passes.c ====
 *
 * The list of passes that a graph of operators goes through before it becomes calls. */

/* The decisions that hold for all networks of a link. */
struct sk_graph_passes {
	struct sk_fusion_flags flags;
	sk_pass_choices passes;
	struct sk_fusion_results *results; /* the patterns found and replaced in all graphs */
	struct sk_rule_check check; /* of the nodes that fusing rules would make */
	bool verbose; /* print decisions and changes on standard error */
};

/* Decide which passes run, by the flags, which are set. Warn about operators and passes that the flags name without
 * effect. False after an error. */
bool sk_graph_passes_begin(struct sk_arena *arena, struct sk_diag *diag, struct sk_graph_passes *list);

/* Run the chosen passes on a graph, and dump the graph after each change. The type and shape of every value are known
 * before and after. False after an error. */
bool sk_graph_passes_run(struct sk_op_graph *graph, const struct sk_graph_passes *list, struct sk_dumps *dumps);

/* Finish FusionVirtualOpSetSwitch, the last pass, once nodes are calls: turn parts of Split and Concat into slices
 * where they may be, and dump the graph if a node has no task afterwards. Close the dumps. False after an error. */
bool sk_graph_passes_end(struct sk_op_graph *graph, sk_graph_calls *calls, const struct sk_graph_passes *list,
			 struct sk_dumps *dumps);

/* ==== fusion-flags.c ====
 *
 * Who says what graph-kernel fusion does: the command line, the manifest, or the environment. */

/* Reads the flags of the first that says something, for the target that is asked for, or that of the device. False if
 * there is no such target. */
bool sk_fusion_flags_given(const struct sk_link *link, struct sk_fusion_flags *flags);

/* The environment's flags, if they are those that count; NULL: they are not, or there is no model. */
const char *sk_fusion_flags_of_environment(const struct sk_link *link);

/* ==== given.c ====
 *
 * What the command line, or a manifest, says of a model's inputs and outputs. */

/* Sets what --shape, --freeze and --state say of the graph's inputs, and then what a manifest says; and the dimensions
 * of all networks, and of this one (NULL: it has no name). Values of --keep become outputs. All errors are collected;
 * false if there was one. */
bool sk_given_apply(const struct sk_command_line *command, const struct sk_graph_file *file,
		    const sk_dimensions *dimensions, const char *network, struct sk_op_graph *graph);

/* ==== have-kernels.c ====
 *
 * Whether the libraries hold kernels for what a rule would make, and for what it replaces no better ones, as binding
 * finds them: nodes become canonical calls and tasks of a model that nobody else sees. */

/* As an sk_rule_check, of a struct sk_link, whose inputs are read at the first question: why one of the nodes has no
 * kernel, or that one of those that they would replace has a kernel of a library in front of all of theirs, which
 * somebody has put there so that it is used; NULL: neither. */
const char *sk_have_kernels(void *link, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			    const sk_graph_nodes *nodes);

/* ==== link-passes.c ====
 *
 * The passes of a link, from a model to a linked image. Each room collects all its errors; the first room with one is
 * the last to run. */

/* The linker knows all inputs from here on: as soon as somebody asks what is in them. False if one is none, which is
 * said once. */
bool sk_link_inputs(struct sk_link *link);

/* Inputs, kernels and arguments: a model that knows what tasks there are becomes one that does not change any more. The
 * link's command says what the inputs are. False after an error. */
bool sk_pass_inputs(struct sk_link *link);
bool sk_pass_bind(struct sk_link *link);

/* A bound model becomes a complete plan. False after an error. */
bool sk_pass_plan(struct sk_link *link);

/* A plan is proved, and becomes an image that only has to be written. False after an error. */
bool sk_pass_link(struct sk_link *link);

/* ==== lower.c ====
 *
 * From canonical calls to the model: values become tensors, calls become tasks. */

/* Adds to a model, which is empty or has other networks, what the calls need: tasks with an op, attributes and args,
 * and the tensors of all values that they use, of the roles that the graph gives them. Nodes that name no scope are in
 * one that is called `scope`; NULL: in none. Constants that another network has are its tensors, if there are several;
 * else `constants` is NULL. */
void sk_graph_lower(const struct sk_op_graph *graph, const sk_graph_calls *calls, const char *scope,
		    struct sk_constants *constants, struct sk_model *model);

/* ==== networks.c ====
 *
 * Sets of dimensions: which networks a link makes of a model. */

struct sk_networks {
	sk_names names; /* of the sets, in the order in which they stand; empty: there is one network, without a name */
	sk_dimensions dimensions; /* of all of them */
};

/* Takes --dim, and then what a manifest says. False after errors. */
bool sk_networks_list(const struct sk_command_line *command, const struct sk_graph_file *file, const char *model,
		      struct sk_arena *arena, struct sk_diag *diag, struct sk_networks *networks);

/* ==== read-graph.c ====
 *
 * A model file becomes the tasks of a network. */

/* Reads the model file into the link's model, which is empty but for what a manifest says of it: tensors, tasks with an
 * op, and scopes. What depends on constants only is computed. False after errors. */
bool sk_network_read(struct sk_link *link, const char *path);

/* The plan is complete: writes the last dumps, which say where values lie. False after an error. */
bool sk_network_dump_places(const struct sk_link *link);

/* ==== scopes.c ====
 *
 * The scopes of a graph: which nodes are in which, and what is wanted of them. */

/* Puts the nodes that a manifest and --scope mean into their scopes, whatever the file says of them; of several that
 * mean a node, the last one counts. Unnamed nodes are called like the first value that they make. False after an error.
 */
bool sk_scopes_assign(const struct sk_command_line *command, const struct sk_graph_file *file,
		      struct sk_op_graph *graph);

/* Adds the scopes of the nodes to those of the graph; nodes of bodies have become its own since they were assigned. */
void sk_scopes_collect(struct sk_op_graph *graph);

/* The scope of nodes that are in none: a graph that has had no scope is one scope, of its own name. NULL: there are
 * others. */
const char *sk_scopes_default(const struct sk_op_graph *graph);

/* Has symbols of the launches of that scope begin with the package's name, which the model has, instead of the graph's.
 */
void sk_scopes_set_symbol(const struct sk_op_graph *graph, struct sk_model *model, const char *scope);

/* Gives the model's scopes the options that their nodes ask for, unless the manifest has some. False after an error. */
bool sk_scopes_take_options(struct sk_op_graph *graph, struct sk_model *model);

#endif
