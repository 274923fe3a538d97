/* skdump: packages as files, and the texts and pages about them. */
#ifndef SK_SRC_SKDUMP_SKDUMP_H
#define SK_SRC_SKDUMP_SKDUMP_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skweights.h"
#include "src/proof/proof.h"

struct sk_arena;
struct sk_plan_call;
struct sk_plan_launch;

/* ==== package-file.c ====
 *
 * A package read from its file, for whoever looks into one without running it. In comes a path, and a file that anybody
 * may have written; out comes its image with everything checked that is needed to find the plan, the account and the
 * code. The file is the image: in a package every loaded byte stands in the file at its address; in an object of sklink
 * -r it is taken to. */

/* A loaded segment: addresses [start, end) are these bytes of the file. */
struct sk_file_segment {
	uint64_t start, end;
	bool writable, executable;
};

/* What .symtab says of a function, an object or a label: assembly without .type has nothing else. */
struct sk_file_function {
	uint64_t address, size;
	const char *name;
	size_t widest; /* of all up to this one, that which ends last */
};

struct sk_package_file {
	const char *path;
	const void *mapping;
	const uint8_t *bytes; /* of the file; relocated, if it is an object */
	uint64_t size;
	bool is_object; /* of sklink -r */
	SK_ARRAY(struct sk_file_segment) segments;
	uint64_t text; /* address of the section .text, or 0 */
	uint64_t constants; /* of .sk.constants, or 0 */
	uint64_t weights_start, weights_size; /* addresses for constants that are in another file */
	const struct sk_weights *weights; /* what the package says of that file; NULL: there is none */
	uint64_t undefined; /* of an object: address of what symbol 0 would be if it were undefined */
	uint64_t plan_offset; /* address of the plan */
	const char *plan_symbol; /* where it should be */
	struct sk_plan_view plan; /* opened, and all of its launches checked */
	SK_ARRAY(const char *) traps; /* functions that are not there, and end the launch that calls them */
	bool has_account;
	struct sk_account account; /* its numbers are within the plan */
	struct sk_map symbols; /* of .dynsym, or global ones of an object, defined: name to index in symbol_values */
	SK_ARRAY(uint64_t) symbol_values;
	bool has_symtab;
	SK_ARRAY(struct sk_file_function) functions; /* of .symtab, by address */
};

/* False after an error in the sink; then nothing stays open. What the file holds lives until sk_package_file_close, the
 * rest in the arena. */
bool sk_package_file_open(struct sk_arena *arena, struct sk_diag *diag, const char *path, struct sk_package_file *file);
void sk_package_file_close(struct sk_package_file *file);

/* The address that a reference in the plan names; beyond every segment if it lies. */
uint64_t sk_package_file_target(const struct sk_package_file *file, const int32_t *reference);

/* The index of the first function that begins behind the address. */
size_t sk_package_file_behind(const struct sk_package_file *file, uint64_t address);

/* The size of the entry at the address, with the programs of lanes and the copies behind it, which have its name with a
 * dot and theirs behind it; 0: the symbol table has no function there. */
uint64_t sk_package_file_code(const struct sk_package_file *file, uint64_t address);

/* The segment that holds all of [address, address + size), or NULL. */
const struct sk_file_segment *sk_package_file_segment(const struct sk_package_file *file, uint64_t address,
						      uint64_t size);

/* ==== diff.c ====
 *
 * skdump --diff: what is different in two packages' plans. */

/* Prints a line for each binding, launch, kernel and task that only one of them has ("-" the first, "+" the second),
 * and for each of their properties that differs. True if there was any. */
bool sk_diff_print(struct sk_arena *arena, const struct sk_package_file *first, const struct sk_package_file *second,
		   FILE *stream);

/* ==== kernel-symbols.c ====
 *
 * Which code kernels and tasks' own entries are: that the functions which the plan refers to have the names that it
 * says, and kernels their sizes, by the symbol table; and what the symbols are whose addresses kernels get. Without
 * one, or where it has no function at an address, that cannot be said. (The launches' entries are dynamic symbols,
 * which skdump.h compares.) */

/* Those of which the symbol table says nothing. */
struct sk_unknown_code {
	uint32_t kernels, entries, symbols;
};

/* False after errors in the sink. The plan's signatures have been checked (src/proof/proof-parts.h). */
bool sk_kernel_symbols_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
			     struct sk_unknown_code *unknown);

/* ==== loadable.c ====
 *
 * Whether libskrt would load a package. The proof reads a package through its section headers, the loader through its
 * segments and dynamic section: both must find the same. */

/* False after an error in the sink. Nothing of the package is run. Objects of sklink -r are not loaded: true. */
bool sk_loadable_check(struct sk_diag *diag, const struct sk_package_file *file);

/* ==== package-object.c ====
 *
 * An object of sklink -r, for skdump: linked so far that its plan and its dispatchers can be read like a package's. In:
 * the object in libelf's hands. Out: its bytes as if each section were loaded where it stands in the file. */

enum { SK_UNDEFINED_ROOM = 16 /* bytes of an undefined symbol */ };

/* Fills file->segments and file->undefined, and points file->bytes to a relocated copy in the arena. NULL, or what is
 * wrong. */
const char *sk_package_object_link(struct sk_arena *arena, Elf *elf, struct sk_package_file *file);

/* ==== show.c ====
 *
 * What skdump shows of a package, a function per section. Each begins with a heading and ends with an empty line. */

struct sk_show {
	struct sk_arena *arena; /* for the tables' cells */
	const struct sk_package_file *file;
	bool task_entries; /* launches and steps of task entries, too */
	struct sk_task_filter tasks; /* of steps and reasons, those that are shown */
	bool by_kernel; /* of steps, sums by kernel */
	FILE *stream;
};

void sk_show_summary(const struct sk_show *show);
void sk_show_bindings(const struct sk_show *show);
void sk_show_launches(const struct sk_show *show);
void sk_show_steps(const struct sk_show *show);
void sk_show_memory(const struct sk_show *show);
void sk_show_reasons(const struct sk_show *show);
void sk_show_kernels(const struct sk_show *show); /* the steps, by kernel */

/* All of the network for Graphviz, and no section. */
void sk_show_dot(const struct sk_show *show);

/* ==== page.c ====
 *
 * A package as one page for a browser, which needs nothing else: the page of page/, with what --json says and the
 * traces of runs in it. */

/* The page around the package and the traces (page/embed.awk). */
enum { SK_PAGE_PARTS = 3 };
extern const char *const sk_page_parts[SK_PAGE_PARTS];

/* Writes the file. The facts are those of the package's proof, the traces files of skrun --trace. False after an error
 * in the sink, and then there is no new file. */
bool sk_page_write(const struct sk_show *show, struct sk_diag *diag, const struct sk_facts *facts, const char *path,
		   const char *const *traces, size_t count);

/* ==== reemit.c ====
 *
 * The second half of skdump --verify: that the code of a package is what its plan says. Every dispatcher is made again
 * from the plan and compared with the bytes in the file, so what is shown, what has been proved and what runs cannot
 * differ. */

/* Compares all entries, and the dynamic symbols that name them; false after errors in the sink. */
bool sk_reemit_compare(struct sk_diag *diag, const struct sk_package_file *file);

/* ==== show-json.c ====
 *
 * A package as data: the tables and the explanations in JSON. doc/reference/skdump-json.md lists the keys. */

/* Onto the show's stream. The facts are those of the package's proof. */
void sk_show_json(const struct sk_show *show, const struct sk_facts *facts);

/* ==== show-text.c ====
 *
 * What several sections of skdump's output have in common: words for what the plan says, and how tables stand. Texts
 * lie in the show's arena, or in the plan. */

static inline const char *sk_show_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Thousands of rows may have one and the same name, so one of a MB would make GBs: of such there is the beginning. */
const char *sk_show_short(const struct sk_show *show, const char *name);

/* A name of the plan, as short. */
const char *sk_show_name(const struct sk_show *show, const int32_t *reference);
const char *sk_show_name_or_dash(const struct sk_show *show, const int32_t *reference);
const char *sk_show_task(const struct sk_show *show, const struct sk_plan_call *call);
const char *sk_show_kind(const struct sk_plan_launch *launch);

/* How many launches are shown: task entries, which come last, if they are asked for. */
uint32_t sk_show_launch_count(const struct sk_show *show);
uint32_t sk_show_count_awaits(const struct sk_plan_view *plan, const struct sk_plan_launch *launch);

/* The cells of a table's first row, up to NULL. */
static inline void sk_show_headings(struct sk_table *table, const char *const *texts)
{
	for (; *texts; texts++)
		sk_table_cell(table, "%s", *texts);
}

#define HEADINGS(table, ...) sk_show_headings(table, (const char *const[]){__VA_ARGS__, NULL})

/* A section: its title, its table, an empty line. */
void sk_show_table(const struct sk_show *show, const char *title, struct sk_table *table);

#endif
