/* A package read from its file, for whoever looks into one without running it. In comes a path, and a file that anybody
 * may have written; out comes its image with everything checked that is needed to find the plan, the account and the
 * code. The file is the image: in a package every loaded byte stands in the file at its address; in an object of sklink
 * -r it is taken to. */
#ifndef SK_PACKAGE_FILE_H
#define SK_PACKAGE_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skweights.h"
#include "src/proof/account.h"

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

#endif
