/* The sections that sklink makes: dispatchers, plan, constants, account, seal. */
#ifndef SK_SRC_PACKAGE_PACKAGE_H
#define SK_SRC_PACKAGE_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "format/seal.h"
#include "linker/linker.h"
#include "src/proof/proof.h"
#include "stubs/dispatcher/dispatcher.h"

struct sk_arena;
struct sk_diag;
struct sk_fusion;
struct sk_linker;
struct sk_model;
struct sk_plan_image;
struct sk_plan_view;
struct sk_tile_groups;
struct sk_weights;

/* ==== entries.c ====
 *
 * The code of the launches' entries. In: the finished plan. Out: two pieces of code, that of the
 * launches that scopes have become and that of the entries that every task has of its own, each with its unwind and
 * debug information. Neither knows of the other, so two threads can make them. */

enum { SK_ENTRIES_OF_SCOPES, SK_ENTRIES_OF_TASKS, SK_ENTRIES };

/* A launch's two entries: numbers of their symbols in the code; serial is SK_NO_INDEX if there is none. Several
 * launches can have one thunk. */
struct sk_entry {
	uint32_t launch, parallel, serial;
};

struct sk_entries {
	struct sk_code code;
	struct sk_debug debug; /* if it was asked for, and the code has parts */
	SK_ARRAY(struct sk_entry) entries;
	const char *failed, *reason; /* the first entry that cannot be made, and why; NULL: none */
};

/* Makes both pieces, in the arena, in two threads if there may be as many. With `debug` also their debug information,
 * whose source is the manifest. */
void sk_entries_make(struct sk_arena *arena, const struct sk_plan_view *plan, const char *manifest, bool debug,
		     unsigned threads, struct sk_entries entries[SK_ENTRIES]);

/* Bytes of code of both. */
uint64_t sk_entries_size(const struct sk_entries entries[SK_ENTRIES]);

/* ==== weights-file.c ====
 *
 * The file of a package's constants (--weights), and what the package says of it; see format/skweights.h. */

struct sk_package_weights {
	const char *path; /* NULL: the constants are in the package */
	SK_ARRAY(struct sk_file_part) file;
	SK_ARRAY(struct sk_seal_part) contents; /* the constants, with the gaps between them */
	struct sk_weights *record;
	size_t record_size;
};

/* What the pieces, which ascend, make of `size` bytes. */
void sk_package_weights_make(struct sk_arena *arena, const char *path, const struct sk_piece *pieces, size_t count,
			     uint64_t size, struct sk_package_weights *weights);

/* ==== package.c ====
 *
 * What sklink makes itself, handed to the linker as sections. In: the finished plan. Out: the
 * dispatchers, the plan, the constants, the account and the note of versions, with the symbols and relocations that tie
 * them together. */

/* What the package is made from. */
struct sk_package_input {
	struct sk_model *model;
	const void *account; /* from sk_account_pack */
	uint64_t account_size;
	const struct sk_plan_image *image; /* and a view of it */
	const struct sk_plan_view *plan;
	const char *name; /* NULL: that of its first launch */
	bool relocatable; /* the package is an object */
	bool debug; /* shows a debugger which task's line of the manifest code belongs to */
	unsigned threads;
	const char *weights; /* path of the file for constants; NULL: they are in the package */
};

/* What has been made, for those who speak of it or complete it. */
struct sk_package_parts {
	const char *name; /* of the package in C */
	const char *plan_symbol; /* global: what the plan is found by */
	struct sk_entries entries[SK_ENTRIES]; /* the code of the plan's launches */
	sk_section plan; /* whose seal is still empty */
	struct sk_package_weights weights;
};

/* Adds everything to the linker. False after an error in the model's sink. */
bool sk_package_build(const struct sk_package_input *input, struct sk_linker *linker, struct sk_package_parts *parts);

/* ==== account-builder.c ====
 *
 * The account of a fusion: what became of each task, in launches and in tile groups, the orders that the manifest
 * wants, and nodes without a task. */

/* In the arena: not the model's if another thread plans meanwhile. */
struct sk_account sk_account_build(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
				   const struct sk_tile_groups *groups);

/* ==== names.c ====
 *
 * What a package is called: in C, and by who looks for its plan. */

/* The beginning of a soname, or of the name of the file at a path, up to its first dot, as a part of a C identifier in
 * the arena. NULL if there is nothing before the dot, or no text. */
const char *sk_package_stem(struct sk_arena *arena, const char *text);

/* The name of the package in C: the given one, or if that is NULL the first launch's without "sk_". Identifiers that
 * belong to the package begin or end with it. In the arena. */
const char *sk_package_name(struct sk_arena *arena, const char *given, const struct sk_plan_view *plan);

/* What libskrt finds the plan by. One program may hold several packages, so in an object the name is the package's. */
const char *sk_plan_symbol_name(struct sk_arena *arena, const char *package_name, bool relocatable);

/* ==== sign.c ====
 *
 * The package's seal (struct sk_plan_seal), once every byte of the file is known. */

/* Fills the seal of the package's plan. `private_key` is a PEM file, or NULL: the package is not signed. False after an
 * error in the sink. */
bool sk_seal_write(struct sk_arena *arena, struct sk_diag *diag, struct sk_linker *linker,
		   const struct sk_package_parts *package, const char *private_key);

#endif
