/* What a link tells beside the package itself: the files and texts that its user has asked for, and when all files get
 * their names. In: a link whose parts are complete. Out: files, and what stands on standard output. */
#ifndef SK_OUTPUTS_H
#define SK_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "src/package/package.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

struct sk_arena;
struct sk_command_line;
struct sk_diag;
struct sk_dumps;
struct sk_linker;
struct sk_model;
struct sk_op_graph;
struct sk_timing;

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
	struct sk_facts facts; /* why tasks are in order; only if sk_outputs_want_facts */
	struct sk_package_parts parts; /* once there are dispatchers */
	struct sk_text explained; /* what --explain asks for, once it is prepared */
};

bool sk_outputs_want_facts(const struct sk_command_line *command);

/* Whether all that outputs are to be about is in the plan: a misspelt task is found before anything is made. False
 * after errors. */
bool sk_outputs_check(const struct sk_link *link);

/* Completes the map, and the text for standard output, for which there may be no memory: before there is a package. */
void sk_outputs_prepare(struct sk_link *link);

/* The package, and all files about it. False after an error. */
bool sk_outputs_write(const struct sk_link *link);

/* What was asked for about a link that has succeeded. */
void sk_outputs_print(const struct sk_link *link);

/* All files get their names if there has been no error. Whoever gets the exit status 1 finds them as they were. */
void sk_outputs_finish(struct sk_diag *diag);

#endif
