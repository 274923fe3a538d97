/* Shared by the files of this room: decisions, the header, shares of the map, statistics. */
#ifndef SK_SRC_OUTPUTS_OUTPUTS_PARTS_H
#define SK_SRC_OUTPUTS_OUTPUTS_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/package/package.h"

struct sk_account;
struct sk_arena;
struct sk_diag;
struct sk_facts;
struct sk_json;
struct sk_linker;
struct sk_model;
struct sk_plan_image;
struct sk_plan_view;
struct sk_profile;
struct sk_timing;
struct sk_without_groups;

/* ==== decisions.c ====
 *
 * --report: all that has been decided about a link, for programs. In: a linked package's plan, report and facts. Out: a
 * file in JSON; doc/reference/sklink.1 says what it holds. */

struct sk_decisions {
	const char *manifest; /* its path, as given */
	const struct sk_profile *device; /* that the plan is for */
	const struct sk_plan_view *plan;
	const struct sk_model *model; /* for what the plan does not have: idle tasks, and nodes without a task */
	const struct sk_account *account;
	const struct sk_without_groups *without_groups;
	const struct sk_facts *facts;
	const struct sk_entries *entries; /* SK_ENTRIES of them */
	uint64_t output_size; /* bytes of the package */
};

/* Writes the file. False after an error in the sink. */
bool sk_decisions_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
			const struct sk_decisions *input);

/* ==== header.c ====
 *
 * A C and C++ header about the package, for programs that call serial entries or bind tensors by
 * number. In: the finished plan, and perhaps the package's bytes. Out: the file. It depends on nothing else, so that
 * equal packages have equal headers wherever they are made. */

struct sk_header_contents {
	const char *name; /* of the package in C */
	const struct sk_plan_image *image; /* and a view of it */
	const struct sk_plan_view *plan;
	const char *plan_symbol; /* of a package that is to be linked into a program; NULL: it is not */
	const uint8_t *bytes; /* the package, to be embedded; NULL: it is not */
	uint64_t size;
};

/* Writes the file. False after an error in the sink. */
bool sk_header_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
		     const struct sk_header_contents *contents);

/* ==== shares.c ====
 *
 * The end of the map: what each kernel and each task costs. In: a linked package. Out: two tables of bytes. */

/* In the model's arena. `entries` are those of the plan's launches. */
const char *sk_shares_text(const struct sk_model *model, const struct sk_plan_view *plan,
			   const struct sk_entries entries[SK_ENTRIES], struct sk_linker *linker);

/* ==== statistics.c ====
 *
 * --stats: what a link has handled and how long that took, as a table for people. */

/* What the table is about: a link that has succeeded. */
struct sk_statistics {
	const struct sk_linker *linker;
	const struct sk_plan_view *plan;
	uint64_t dispatcher_size; /* bytes of code */
	uint64_t fusion_steps, memory_steps, proof_steps; /* what these phases have looked at */
	const struct sk_timing *timing;
};

void sk_statistics_print(const struct sk_statistics *statistics, FILE *stream);

/* ==== virtual-nodes.c ====
 *
 * Nodes of models that split or join, of which no plan knows: which of them have no task, for --report and --explain.
 * In: the model, bound. Out: JSON, and sentences. */

/* The keys "no_task" and "peak" of the report. */
void sk_virtual_nodes_report(const struct sk_model *model, struct sk_json *json);

/* What no package says of them: what they save. */
void sk_virtual_nodes_explain(const struct sk_model *model, FILE *stream);

#endif
