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
struct sk_dims_view;
struct sk_fusion;
struct sk_linker;
struct sk_model;
struct sk_plan_image;
struct sk_plan_view;
struct sk_tile_groups;
struct sk_weights;

/* ==== entries.c ====
 *
 * The code of the launches' entries. Input: the finished plan. Output: two pieces of code, for the launches made from
 * scopes and for the tasks' own entries, each with its unwind and debug information. The two are independent, so two
 * threads can make them. */

enum { SK_ENTRIES_OF_SCOPES, SK_ENTRIES_OF_TASKS, SK_ENTRIES };

/* A launch's two entries: numbers of their symbols in the code; serial is SK_NO_INDEX if there is none. Several
 * launches can share one thunk. */
struct sk_entry {
	uint32_t launch, parallel, serial;
};

struct sk_entries {
	struct sk_code code;
	struct sk_debug debug; /* if requested, and if the code has parts */
	SK_ARRAY(struct sk_entry) entries;
	const char *failed, *reason; /* the first entry that cannot be made, and the reason; NULL: none */
};

/* Make both pieces, in the arena, in two threads if threads allows. With `debug` also make their debug information,
 * which gives the manifest as the source. */
void sk_entries_make(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_dims_view *dims,
		     const char *manifest, bool debug, unsigned threads, struct sk_entries entries[SK_ENTRIES]);

/* Set reads[value] for each value of the sizes that the code of an entry reads. The plan must have been checked. Return
 * NULL, or the reason why an entry cannot be made. */
const char *sk_entries_read(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_dims_view *dims,
			    bool *reads);

/* Return the bytes of code of both pieces. */
uint64_t sk_entries_size(const struct sk_entries entries[SK_ENTRIES]);

/* ==== weights-file.c ====
 *
 * The file of a package's constants (--weights), and the package's record of it; see format/skweights.h. */

struct sk_package_weights {
	const char *path; /* NULL: the constants are in the package */
	SK_ARRAY(struct sk_file_part) file;
	SK_ARRAY(struct sk_seal_part) contents; /* the constants, with the gaps between them */
	struct sk_weights *record;
	size_t record_size;
};

/* Describe the `size` bytes that the pieces make up; the pieces are in ascending order. */
void sk_package_weights_make(struct sk_arena *arena, const char *path, const struct sk_piece *pieces, size_t count,
			     uint64_t size, struct sk_package_weights *weights);

/* ==== package.c ====
 *
 * The sections that sklink makes itself and hands to the linker. Input: the finished plan. Output: the dispatchers, the
 * plan, the constants, the account and the note of versions, with the symbols and relocations that connect them. */

/* The contents of the package. */
struct sk_package_input {
	struct sk_model *model;
	const void *account; /* from sk_account_pack */
	uint64_t account_size;
	const struct sk_plan_image *image; /* and a view of it */
	const struct sk_plan_view *plan;
	const struct sk_dims_view *dims; /* its sizes with bounds; NULL: there are none */
	const char *name; /* NULL: the name of its first launch */
	bool relocatable; /* the package is an object */
	bool debug; /* add line information: the code of each task refers to its line of the manifest */
	unsigned threads;
	const char *weights; /* path of the file for constants; NULL: they are in the package */
};

/* Results for later phases, which report on the package or complete it. */
struct sk_package_parts {
	const char *name; /* the package's name in C */
	const char *plan_symbol; /* the global symbol of the plan */
	struct sk_entries entries[SK_ENTRIES]; /* the code of the plan's launches */
	sk_section plan; /* its seal is still empty */
	struct sk_package_weights weights;
};

/* Add everything to the linker. Return false after an error in the model's sink. */
bool sk_package_build(const struct sk_package_input *input, struct sk_linker *linker, struct sk_package_parts *parts);

/* ==== account-builder.c ====
 *
 * The account of a fusion: each task's launch and tile group with the reasons, the orders that the manifest wants, and
 * nodes without a task. */

/* Build the account in the arena, which must not be the model's if another thread plans meanwhile. */
struct sk_account sk_account_build(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
				   const struct sk_tile_groups *groups);

/* ==== names.c ====
 *
 * Names of a package: in C, and of the symbol that leads to its plan. */

/* Return the beginning of a soname, or of the file name in a path, up to its first dot, as a part of a C identifier in
 * the arena. Return NULL if nothing precedes the dot, or if text is NULL. */
const char *sk_package_stem(struct sk_arena *arena, const char *text);

/* Return the package's name in C, in the arena: the given one or, if that is NULL, the first launch's name without
 * "sk_". Identifiers that belong to the package begin or end with it. */
const char *sk_package_name(struct sk_arena *arena, const char *given, const struct sk_plan_view *plan);

/* Return the symbol by which libskrt finds the plan. One program may hold several packages, so in an object the symbol
 * contains the package's name. */
const char *sk_plan_symbol_name(struct sk_arena *arena, const char *package_name, bool relocatable);

/* ==== sign.c ====
 *
 * The package's seal (struct sk_plan_seal), once every byte of the file is known. */

/* Fill in the seal of the package's plan. private_key: a PEM file, or NULL for a package that is not signed. Return
 * false after an error in the sink. */
bool sk_seal_write(struct sk_arena *arena, struct sk_diag *diag, struct sk_linker *linker,
		   const struct sk_package_parts *package, const char *private_key);

#endif
