/* A package as a mapped, checked, relocated ELF image. */
#ifndef SK_LOADER_IMAGE_IMAGE_H
#define SK_LOADER_IMAGE_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/import-row.h"
#include "loader/core/core.h"
#include "loader/skrt.h"

struct sk_debugger_entry;

/* ==== image.c ====
 *
 * A package as a mapped, relocated, protected ELF image. Knows ELF and the import list; nothing of plans, devices,
 * kernels.
 *
 *   image.c    the file's headers, the segments: checked, mapped, protected
 *   dynamic.c  the dynamic section's tables
 *   relocate.c symbols and relocations
 *   symbols.c  names of functions, for messages
 *   weights.c  the file that constants may be in
 *   debugger.c tells debuggers of it (image.h) */

enum { SK_IMAGE_SEGMENTS = 32 };

struct sk_image_segment {
	uint64_t address; /* virtual */
	uint64_t size; /* in memory */
	uint64_t file_size; /* the rest is zero */
	uint64_t offset; /* in the file */
	int protection; /* PROT_…, before RELRO */
};

/* Addresses in memory. */
struct sk_functions {
	const uint64_t *addresses;
	uint64_t count;
};

struct sk_image {
	uintptr_t bias; /* memory address = bias + virtual address */
	void *mapping;
	size_t mapping_size;
	struct sk_image_segment segments[SK_IMAGE_SEGMENTS]; /* ascending, on pages of their own */
	uint32_t segment_count;
	/* Behind all of them: what a file of its own is mapped to (image.h). Size 0: there is none. */
	struct sk_image_segment weights;

	/* The dynamic symbol table: where it stands, and how much may be read there. */
	const Elf64_Sym *symbols;
	uint64_t symbol_limit;
	const char *strings; /* ends with NUL */
	uint64_t strings_size;
	const uint32_t *gnu_hash, *hash; /* either may be NULL */
	uint64_t gnu_hash_words, hash_words;

	struct sk_functions constructors, destructors; /* all in text */
	struct sk_package package;
	dev_t filesystem; /* and inode: the file it was mapped from; 0: not known */
	ino_t inode;
	struct sk_debugger_entry *debugger; /* NULL: no debugger was told of it */
	const char *locking; /* an import of the class LOCKING, or NULL */
};

/* The file as loading has found it: what its headers say has been obeyed. */
struct sk_image_file {
	int descriptor;
	uint64_t size;
	const Elf64_Ehdr *header;
	const Elf64_Phdr *headers; /* e_phnum */
};

/* Where a package comes from, and what it must be. */
struct sk_source {
	const char *name; /* for messages; without a descriptor the path */
	int file; /* descriptor of a regular file, which stays open; -1: none */
	const struct skrt_import *imports; /* that go before those of the import list */
	uint32_t import_count;
	/* Not mapped but read, into memory that is this process's alone: who changes the file changes nothing here. */
	bool copied;
	/* NULL, or what looks at the image before anything in it has been changed or run; for it: */
	enum skrt_status (*check)(const struct sk_source *source, const struct sk_image *image,
				  const struct sk_image_file *file);
	bool only_looked_at; /* on any processor: nothing of it must be run */
	bool check_integrity;
	const uint8_t *public_key; /* NULL: none has to have signed it */
	const char *weights; /* path of the file with its weights; NULL: they are beside it, if there are any */
	const int *weights_file; /* instead: its descriptor, which stays open; NULL: none */
};

/* Maps the package: private, file-backed (perf and gdb find its symbols) unless it is to be copied, write xor execute.
 * Nothing in the file is trusted; nothing stays behind on failure, and nothing of the package runs, not even its
 * constructors. */
enum skrt_status sk_image_open(const struct sk_source *source, struct sk_image *image);

/* Unmaps it. */
void sk_image_close(struct sk_image *image);

/* The address of a defined dynamic symbol, or NULL. */
const void *sk_image_find(const struct sk_image *image, const char *name, uint64_t *size);

/* Whether all of [address, address + size) lies in one segment that has at least the protection. */
bool sk_image_holds(const struct sk_image *image, const void *address, uint64_t size, int protection);

/* The function that the address in text lies in, and how far from its start, as the symbol table of the file at `path`
 * says. False: the file is stripped, has been replaced, or does not say. */
bool sk_image_function_at(const struct sk_image *image, const char *path, const void *address, char *name, size_t size,
			  uint64_t *offset);

/* The name of the function in whose place the trap at the address stands. NULL: there is none. */
const char *sk_image_trap_at(const struct sk_image *image, const void *address);

/* ---- between the files ---- */

/* Reads from the package's file; SKRT_BAD_PACKAGE if it ends before that. */
enum skrt_status sk_image_read(const char *path, int file, void *bytes, uint64_t size, uint64_t offset);

struct sk_dynamic {
	const Elf64_Rela *relocations;
	uint64_t relocation_count;
};

/* What lies at [address, address + size), if that is inside one segment that has the protection, and aligned; else
 * NULL. */
void *sk_image_memory(const struct sk_image *image, uint64_t address, uint64_t size, uint64_t alignment,
		      int protection);

enum skrt_status sk_dynamic_read(const char *path, struct sk_image *image, const Elf64_Phdr *header,
				 struct sk_dynamic *dynamic);
enum skrt_status sk_image_relocate(const struct sk_source *source, struct sk_image *image,
				   const struct sk_dynamic *dynamic);
/* Constructors and destructors are in text, now that they have been relocated. */
enum skrt_status sk_dynamic_check_functions(const char *path, const struct sk_image *image);

/* The symbol with the index, and its name; NULL if either is out of bounds. */
const Elf64_Sym *sk_image_symbol(const struct sk_image *image, uint64_t index, const char **name);

/* The address of a defined symbol, or NULL if that is not in the image. */
const void *sk_image_symbol_address(const struct sk_image *image, const Elf64_Sym *symbol);

/* ==== debugger.c ====
 *
 * Debuggers learn of packages. gdb asks the dynamic linker which libraries there are, and that one does not know of
 * packages; but gdb also asks everybody who defines the symbols of its JIT interface ("JIT Compilation Interface" in
 * its manual). What is registered there for a package is a small ELF image: the sections at the addresses where they
 * lie, without contents, and as .gnu_debuglink the package's own file, from which gdb takes symbols, lines and unwind
 * tables, as it does from a stripped library's file of debug information. */

/* Whether somebody looks: SKRT_GDB is 1 in the environment or, if it is not set, a debugger traced the process when
 * this was first asked. */
bool sk_debugger_wanted(void);

/* Tells debuggers of the image, which was mapped from the file; path is its name, or anything if it has none. NULL if
 * that cannot be done: it is no error to have nothing to look at. */
struct sk_debugger_entry *sk_debugger_register(const struct sk_image *image, const char *path, int file);

/* Takes it back. NULL is allowed. */
void sk_debugger_unregister(struct sk_debugger_entry *entry);

/* ==== imports.c ====
 *
 * What packages may import, and how their code is kept from ending the process. */

/* The address of what stands on the import list, or NULL. Functions of the class ENDS get one that ends the call that
 * the thread runs; data gets its address. *class is what the list says. */
void (*sk_import_find(const char *name, enum sk_import_class *class))(void);

/* The rows of the list. NULL: there are no more. *machine: whose libraries alone have it, or NULL. */
const struct sk_import *sk_import_row(size_t number, const char **machine);

/* ==== integrity.c ====
 *
 * Compares a package with its seal, before anything in it has been changed, believed or run. */

/* For sk_source: the image is mapped, its symbols can be found. SKRT_BAD_PACKAGE if it is not laid out as the linker
 * does it, if it does not fit its seal, or the seal not the source's public key.
 *
 * Why a seal over the bytes of the segments says what they are used for: the headers that were obeyed are themselves
 * among these bytes. So from the bytes follow their order, where each goes in memory and with which protection, and
 * where the dynamic section and all its tables are; only where they stand in the file is left open, since strip moves
 * them. */
enum skrt_status sk_integrity_check(const struct sk_source *source, const struct sk_image *image,
				    const struct sk_image_file *file);

/* ==== processor.c ====
 *
 * Whether this processor can run a package, asked before the first of its instructions, which may be a constructor's.
 */

/* The image is mapped and relocated; nothing of the plan has been checked. A package without a plan needs nothing.
 * SKRT_UNSUPPORTED: it needs what the processor does not have; SKRT_BAD_PACKAGE: so it says, but its plan is damaged.
 */
enum skrt_status sk_processor_check(const char *path, const struct sk_image *image);

/* ==== weights.c ====
 *
 * Constants in a file of their own: from a mapped package to the file beside it, mapped where the package expects it.
 */

/* Maps the file, or reads it, if the source is to be copied, into image->weights, which is reserved. Nothing to do if
 * the package has none. Checked are the file's header, which says whose constants it has, and its size; their bytes
 * only sk_weights_check looks at. SKRT_CANNOT_READ: the file is not there, or cannot be read; SKRT_BAD_PACKAGE: it is
 * none, is another package's, or is cut off, or the package contradicts itself. */
enum skrt_status sk_weights_open(const struct sk_source *source, uint64_t page, const struct sk_image *image);

/* Whether the bytes are those that were linked. */
enum skrt_status sk_weights_check(const struct sk_source *source, const struct sk_image *image);

#endif
