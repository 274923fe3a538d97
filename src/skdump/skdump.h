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
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skdims.h"
#include "format/skweights.h"
#include "src/proof/proof.h"

struct sk_arena;
struct sk_forms;
struct sk_plan_call;
struct sk_plan_launch;
struct sk_plan_step;
struct sk_size;

/* ==== package-file.c ====
 *
 * A package read from its file, for programs that inspect one without running it. Input: a path to an untrusted file.
 * Output: its image, with all checks needed to find the plan, the account and the code. The file is the image: in a
 * package every loaded byte is in the file at its address; an object of sklink -r is treated alike. */

/* A loaded segment: addresses [start, end) are these bytes of the file. */
struct sk_file_segment {
	uint64_t start, end;
	bool writable, executable;
};

/* A symbol of .symtab: a function, an object, or a label, since assembly without .type has only labels. */
struct sk_file_function {
	uint64_t address, size;
	const char *name;
	size_t widest; /* among the functions up to this one, the one that ends last */
};

/* A dimension of a package with a plan that has been made for its size. */
struct sk_chosen_size {
	const char *name, *network; /* network "": there is one */
	uint64_t size;
};

struct sk_package_file {
	const char *path;
	const void *mapping;
	const uint8_t *bytes; /* the file's contents, relocated if it is an object; a copy: see package-moved.c */
	uint64_t size;	      /* of the contents */
	uint64_t file_size;   /* and of the file */
	bool is_object; /* made by sklink -r */
	SK_ARRAY(struct sk_file_segment) segments;
	uint64_t text; /* address of the section .text, or 0 */
	uint64_t constants; /* of .sk.constants, or 0 */
	uint64_t weights_start, weights_size; /* addresses for constants that are in another file */
	const struct sk_weights *weights; /* the package's record of that file; NULL: no such file */
	uint64_t undefined; /* in an object: the address that symbol 0 would have if it were undefined */
	uint64_t plan_offset; /* address of the plan */
	const char *plan_symbol; /* the symbol that should be there */
	struct sk_plan_view plan; /* opened, and all of its launches checked */
	struct sk_dims_view dims; /* its numbers that vary with sizes; none in a static package */
	const struct sk_forms *forms; /* of these; NULL: none */
	SK_ARRAY(struct sk_chosen_size) chosen; /* by --dim: the plan is that of these sizes */
	uint64_t dims_offset; /* address of .sk.dims, or 0 */
	struct sk_ranks_view ranks; /* its ranks; none if it is for one process */
	uint64_t ranks_offset; /* address of .sk.ranks, or 0 */
	SK_ARRAY(const char *) traps; /* missing functions; a launch that calls one fails */
	bool has_account;
	struct sk_account account; /* its numbers are within the plan */
	struct sk_map symbols; /* of .dynsym, or global ones of an object, defined: name to index in symbol_values */
	SK_ARRAY(uint64_t) symbol_values;
	bool has_symtab;
	SK_ARRAY(struct sk_file_function) functions; /* of .symtab, by address */
};

/* Open the file and fill in *file. Return false after an error in the sink; then nothing stays open. The file's
 * contents live until sk_package_file_close, everything else in the arena. */
bool sk_package_file_open(struct sk_arena *arena, struct sk_diag *diag, const char *path, struct sk_package_file *file);
void sk_package_file_close(struct sk_package_file *file);

/* Let the plan be that of sizes, texts "seq=37" or "network:seq=37", and of the usual sizes of the other dimensions: a
 * static one from then on, whose code is that of the package. Return false after an error in the sink. */
bool sk_package_file_choose(struct sk_diag *diag, struct sk_package_file *file, const sk_texts *sizes);

/* Return the address that a reference in the plan names; an invalid one is beyond every segment. */
uint64_t sk_package_file_target(const struct sk_package_file *file, const int32_t *reference);

/* Return the index of the first function that begins after the address. */
size_t sk_package_file_behind(const struct sk_package_file *file, uint64_t address);

/* Return the size of the entry at the address, including the lanes' programs and copies that follow it; their names are
 * the entry's, a dot and a suffix. 0: the symbol table has no function there. */
uint64_t sk_package_file_code(const struct sk_package_file *file, uint64_t address);

/* Return the segment that contains all of [address, address + size), or NULL. */
const struct sk_file_segment *sk_package_file_segment(const struct sk_package_file *file, uint64_t address,
						      uint64_t size);

/* ==== diff.c ====
 *
 * skdump --diff: the differences between two packages' plans. */

/* Print a line for each binding, launch, kernel and task that only one of them has ("-" the first, "+" the second), and
 * for each of their properties that differs. Return true if there was any. */
bool sk_diff_print(struct sk_arena *arena, const struct sk_package_file *first, const struct sk_package_file *second,
		   FILE *stream);

/* ==== kernel-symbols.c ====
 *
 * Check the code of kernels and of tasks' own entries against the symbol table: the functions that the plan refers to
 * have the names that the plan gives, kernels have their sizes, and addresses passed to kernels are those of their
 * symbols. Without a symbol table, or if it has no function at an address, the answer is unknown. (The launches'
 * entries are dynamic symbols, which reemit.c compares.) */

/* Counts of objects that the symbol table does not list. */
struct sk_unknown_code {
	uint32_t kernels, entries, symbols;
};

/* Return false after errors in the sink. The plan's signatures have already been checked (src/proof/proof-parts.h). */
bool sk_kernel_symbols_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
			     struct sk_unknown_code *unknown);

/* ==== loadable.c ====
 *
 * Check that libskrt would load a package. The proof reads a package through its section headers, the loader through
 * its segments and dynamic section: both must find the same. */

/* Return false after an error in the sink. Nothing of the package is run. Objects of sklink -r are not loaded: return
 * true. */
bool sk_loadable_check(struct sk_diag *diag, const struct sk_package_file *file);

/* ==== package-moved.c ==== */

/* If strip or objcopy have moved the parts of the package, let file->bytes and file->size be a copy, in the arena, in
 * which offsets are addresses. */
void sk_package_move(struct sk_arena *arena, struct sk_package_file *file);

/* ==== package-object.c ====
 *
 * An object of sklink -r, for skdump: linked far enough that its plan and its dispatchers can be read like a package's.
 * Input: the object, opened with libelf. Output: its bytes as if each section were loaded at its offset in the file. */

enum { SK_UNDEFINED_ROOM = 16 /* bytes for an undefined symbol */ };

/* Fill file->segments and file->undefined, and point file->bytes to a relocated copy in the arena. Return NULL, or a
 * description of the error. */
const char *sk_package_object_link(struct sk_arena *arena, Elf *elf, struct sk_package_file *file);

/* ==== show-sizes.c ====
 *
 * Costs of a package with bounds: at all sizes, as expressions of its dimensions (format/plan/dims-forms.h), and at a
 * size. */

/* The traffic of a step (src/proof/proof.h) at all sizes. Bytes that are the same ones at some sizes only count for
 * each access. */
struct sk_traffic_forms {
	const struct sk_size *apart, *moved;
};

struct sk_traffic_forms sk_forms_traffic(struct sk_arena *arena, const struct sk_forms *forms,
					 const struct sk_plan_view *plan, const struct sk_plan_step *step);

/* Return "512 bytes bound, 256 bytes of the workspace used, 2048 bytes moved": the memory of a plan of one size, and
 * the traffic of its network. */
const char *sk_show_costs(struct sk_arena *arena, const struct sk_plan_view *plan);

/* ==== show.c ====
 *
 * The sections of skdump's output, a function each. Each begins with a heading and ends with an empty line. */

struct sk_show {
	struct sk_arena *arena; /* for the tables' cells */
	const struct sk_package_file *file;
	bool task_entries; /* also show launches and steps of task entries */
	struct sk_task_filter tasks; /* selects the steps and reasons that are shown */
	bool by_kernel; /* show steps as sums by kernel */
	FILE *stream;
};

void sk_show_summary(const struct sk_show *show);
void sk_show_bindings(const struct sk_show *show);
void sk_show_launches(const struct sk_show *show);

/* show-ranks.c: return the number of ranks and their groups, or NULL; show the exchanges; write both as members of an
 * object. Nothing is shown or written of a package for one process. */
const char *sk_show_ranks(const struct sk_show *show);
void sk_show_exchanges(const struct sk_show *show);
void sk_ranks_put_json(const struct sk_ranks_view *ranks, struct sk_json *json);

void sk_show_steps(const struct sk_show *show);
void sk_show_memory(const struct sk_show *show);
void sk_show_reasons(const struct sk_show *show);
void sk_show_kernels(const struct sk_show *show); /* the steps, by kernel */

/* Draw the whole network for Graphviz, without any section. */
void sk_show_dot(const struct sk_show *show);

/* ==== page.c ====
 *
 * A package as a self-contained page for a browser: the page of page/, with the output of --json and the traces of runs
 * in it. */

/* The text of the page around the package and the traces (page/embed.awk). */
enum { SK_PAGE_PARTS = 3 };
extern const char *const sk_page_parts[SK_PAGE_PARTS];

/* Write the page. facts: those of the package's proof; traces: files of skrun --trace. Return false after an error in
 * the sink; then the file is not replaced. */
bool sk_page_write(const struct sk_show *show, struct sk_diag *diag, const struct sk_facts *facts, const char *path,
		   const char *const *traces, size_t count);

/* ==== reemit.c ====
 *
 * The second half of skdump --verify: check that a package's code matches its plan. Every dispatcher is made again from
 * the plan and compared with the bytes in the file. The code that runs is therefore the code that was shown and
 * proved. */

/* Compare all entries, and the dynamic symbols that name them. Return false after errors in the sink. */
bool sk_reemit_compare(struct sk_diag *diag, const struct sk_package_file *file);

/* ==== show-json.c ====
 *
 * A package as data: the tables and the explanations in JSON. doc/reference/skdump-json.md lists the keys. */

/* Write to the show's stream. The facts are those of the package's proof. */
void sk_show_json(const struct sk_show *show, const struct sk_facts *facts);

/* ==== show-text.c ====
 *
 * Shared by several sections of skdump's output: words for the plan's values, and the layout of tables. Texts are in
 * the show's arena, or in the plan. */

/* Return the name, shortened if it is long. Thousands of rows may share one name, so a name of a MB would produce GBs
 * of text. */
const char *sk_show_short(const struct sk_show *show, const char *name);

/* Return a name of the plan, shortened likewise. */
const char *sk_show_name(const struct sk_show *show, const int32_t *reference);
const char *sk_show_name_or_dash(const struct sk_show *show, const int32_t *reference);
const char *sk_show_task(const struct sk_show *show, const struct sk_plan_call *call);
const char *sk_show_kind(const struct sk_plan_launch *launch);

/* Return the number of launches to show: task entries, which come last, are shown on request. */
uint32_t sk_show_launch_count(const struct sk_show *show);
uint32_t sk_show_count_awaits(const struct sk_plan_view *plan, const struct sk_plan_launch *launch);

/* Return the sizes of --dim, "batch=2, seq=37". */
const char *sk_show_chosen(const struct sk_show *show);

/* Return the text of a number of the plan, "512" or "batch*seq", by its table, record and offset there. */
const char *sk_show_size(const struct sk_show *show, enum sk_dims_table table, uint32_t record, size_t offset,
			 uint64_t number);

#define SK_SHOW_SIZE(show, table, records, record, field)                                                              \
	sk_show_size((show), (table), (uint32_t)((record) - (show)->file->plan.records),                               \
		     offsetof(__typeof__(*(record)), field), (record)->field)

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
