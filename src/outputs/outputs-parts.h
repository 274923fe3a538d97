/* Shared by the files of this directory: decisions, the header, shares of the map, statistics. */
#ifndef SK_SRC_OUTPUTS_OUTPUTS_PARTS_H
#define SK_SRC_OUTPUTS_OUTPUTS_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/package/package.h"

struct sk_account;
struct sk_arena;
struct sk_diag;
struct sk_dims_view;
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
 * --report: all decisions about a link, for programs. Input: a linked package's plan, account and facts. Output: a file
 * in JSON; doc/reference/sklink.1 describes it. */

struct sk_decisions {
	const char *manifest; /* its path, as given */
	const struct sk_profile *device; /* the plan's device */
	const struct sk_plan_view *plan;
	const struct sk_dims_view *dims; /* of the plan; without bounds it has no dimensions */
	const struct sk_model *model; /* for data that the plan lacks: idle tasks, and nodes without a task */
	const struct sk_account *account;
	const struct sk_without_groups *without_groups;
	const struct sk_facts *facts;
	const struct sk_entries *entries; /* SK_ENTRIES of them */
	uint64_t output_size; /* bytes of the package */
};

/* Write the file. Return false after an error in the sink. */
bool sk_decisions_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
			const struct sk_decisions *input);

/* ==== header.c ====
 *
 * A C and C++ header about the package, for programs that call serial entries or bind tensors by number. Input: the
 * finished plan, and optionally the package's bytes. Output: the file. It depends on nothing else, so equal packages
 * have equal headers wherever they are made. */

struct sk_header_contents {
	const char *name; /* the package's name in C */
	const struct sk_plan_image *image; /* and a view of it */
	const struct sk_plan_view *plan;
	const struct sk_dims_view *dims; /* its sizes with bounds; without any it has no dimensions */
	const char *plan_symbol; /* of a package that will be linked into a program; NULL: it will not */
	const uint8_t *bytes; /* the package, to be embedded; NULL: not embedded */
	uint64_t size;
};

/* Write the file. Return false after an error in the sink. */
bool sk_header_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
		     const struct sk_header_contents *contents);

/* ==== header-sizes.c ====
 *
 * The part of the header about sizes with bounds. */

/* Write the dimensions, and functions of their sizes: they fill in the slots after the tensors of serial entries, and
 * return bytes and shapes of tensors. tensors: identifiers by binding number. */
void sk_header_write_sizes(struct sk_arena *arena, const struct sk_header_contents *contents,
			   const char *const *tensors, FILE *stream);

/* Print a string literal of C. */
void sk_header_print_string(FILE *stream, const char *text);

/* ==== shares.c ====
 *
 * The end of the map: the bytes that each kernel and each task takes. Input: a linked package. Output: two tables of
 * bytes. */

/* Return the text, in the model's arena. entries: those of the plan's launches. */
const char *sk_shares_text(const struct sk_model *model, const struct sk_plan_view *plan,
			   const struct sk_entries entries[SK_ENTRIES], struct sk_linker *linker);

/* ==== statistics.c ====
 *
 * --stats: counts and times of a link, as a table for people. */

/* The subject of the table: a link that has succeeded. */
struct sk_statistics {
	const struct sk_linker *linker;
	const struct sk_plan_view *plan;
	uint64_t dispatcher_size; /* bytes of code */
	uint64_t fusion_steps, memory_steps, proof_steps; /* examinations that these phases have made */
	uint64_t children; /* processes that have computed constants */
	const struct sk_timing *timing;
};

void sk_statistics_print(const struct sk_statistics *statistics, FILE *stream);

/* ==== virtual-nodes.c ====
 *
 * Nodes of models that split or join and have no task, for --report and --explain; plans do not contain them. Input:
 * the bound model. Output: JSON, and sentences. */

/* Write the keys "no_task" and "peak" of the report. */
void sk_virtual_nodes_report(const struct sk_model *model, struct sk_json *json);

/* Print the savings of such nodes, which a package does not record. */
void sk_virtual_nodes_explain(const struct sk_model *model, FILE *stream);

#endif
