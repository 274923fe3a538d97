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
 * A package as a mapped, relocated, protected ELF image. These files know ELF and the import list, but not plans,
 * devices or kernels.
 *
 *   image.c    the file's headers, the segments: checked, mapped, protected
 *   dynamic.c  the dynamic section's tables
 *   relocate.c symbols and relocations
 *   symbols.c  names of functions, for messages
 *   weights.c  the file that may hold the constants
 *   debugger.c registration with debuggers */

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
	/* After all of them: the mapping of the weights file, if there is one; else size 0. */
	struct sk_image_segment weights;

	/* The dynamic symbol table, and the number of entries that may be read. */
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
	struct sk_debugger_entry *debugger; /* NULL: not registered with debuggers */
	const char *locking; /* an import of the class LOCKING, or NULL */
};

/* The file, with the headers that loading has followed. */
struct sk_image_file {
	int descriptor;
	uint64_t size;
	const Elf64_Ehdr *header;
	const Elf64_Phdr *headers; /* e_phnum */
};

/* The source of a package, and the conditions that it must meet. */
struct sk_source {
	const char *name; /* for messages; without a descriptor the path */
	int file; /* descriptor of a regular file, which stays open; -1: none */
	const struct skrt_import *imports; /* that go before those of the import list */
	uint32_t import_count;
	/* Read into private memory rather than mapped: later changes of the file have no effect. */
	bool copied;
	/* A check of the image, made before any byte of it has been changed or run; NULL: none. Its data: */
	enum skrt_status (*check)(const struct sk_source *source, const struct sk_image *image,
				  const struct sk_image_file *file);
	bool only_looked_at; /* on any processor: none of its code may run */
	bool check_integrity;
	const uint8_t *public_key; /* NULL: no signature is required */
	const char *weights; /* path of the file with its weights; NULL: it is beside the package, if it has one */
	const int *weights_file; /* instead: its descriptor, which stays open; NULL: none */
};

/* Map the package: private, file-backed (perf and gdb find its symbols) unless it is to be copied, write xor execute.
 * The file is not trusted. On failure all is undone. No code of the package runs, not even its constructors. */
enum skrt_status sk_image_open(const struct sk_source *source, struct sk_image *image);

/* Unmap it. */
void sk_image_close(struct sk_image *image);

/* Return the address of a defined dynamic symbol, or NULL. */
const void *sk_image_find(const struct sk_image *image, const char *name, uint64_t *size);

/* Return the names of inputs of the model that nothing uses, which end with a NUL each; NULL and *size 0: there are
 * none. Names are those in the package, with the network's before a colon. */
const char *sk_image_unused(const struct sk_image *image, uint64_t *size);

/* Return whether all of [address, address + size) lies in one segment that has at least the protection. */
bool sk_image_holds(const struct sk_image *image, const void *address, uint64_t size, int protection);

/* Find the function that contains the address in text, and the distance from its start, in the symbol table of the file
 * at `path`. False: the file is stripped, has been replaced, or has no such function. */
bool sk_image_function_at(const struct sk_image *image, const char *path, const void *address, char *name, size_t size,
			  uint64_t *offset);

/* Find the variable that contains the address, in the same way. */
bool sk_image_variable_at(const struct sk_image *image, const char *path, const void *address, char *name, size_t size,
			  uint64_t *offset);

/* Return the name of the undefined function that the trap at the address stands for. NULL: not a trap. */
const char *sk_image_trap_at(const struct sk_image *image, const void *address);

/* Return the name of the undefined symbol that has a guard at the address, and in *offset the distance from the symbol.
 * NULL: not in a guard. */
const char *sk_image_guard_at(const struct sk_image *image, const void *address, int64_t *offset);

/* ---- between the files ---- */

/* Read from the package's file; SKRT_BAD_PACKAGE if it ends before that. */
enum skrt_status sk_image_read(const char *path, int file, void *bytes, uint64_t size, uint64_t offset);

struct sk_dynamic {
	const Elf64_Rela *relocations;
	uint64_t relocation_count;
};

/* Return the memory at [address, address + size), if it is inside one segment that has the protection, and aligned;
 * else NULL. */
void *sk_image_memory(const struct sk_image *image, uint64_t address, uint64_t size, uint64_t alignment,
		      int protection);

enum skrt_status sk_dynamic_read(const char *path, struct sk_image *image, const Elf64_Phdr *header,
				 struct sk_dynamic *dynamic);
enum skrt_status sk_image_relocate(const struct sk_source *source, struct sk_image *image,
				   const struct sk_dynamic *dynamic);
/* Check that constructors and destructors are in text, after they have been relocated. */
enum skrt_status sk_dynamic_check_functions(const char *path, const struct sk_image *image);

/* Return the symbol with the index, and its name; NULL if either is out of bounds. */
const Elf64_Sym *sk_image_symbol(const struct sk_image *image, uint64_t index, const char **name);

/* Return the address of a defined symbol, or NULL if that is not in the image. */
const void *sk_image_symbol_address(const struct sk_image *image, const Elf64_Sym *symbol);

/* ==== debugger.c ====
 *
 * Registration of packages with debuggers. gdb asks the dynamic linker for the loaded libraries, and the dynamic linker
 * does not know packages. But gdb also reads the symbols of its JIT interface ("JIT Compilation Interface" in its
 * manual) from every module that defines them. For a package, a small ELF image is registered there. It has the
 * sections at their addresses, without contents, and as .gnu_debuglink the package's own file. gdb takes symbols, lines
 * and unwind tables from that file, as it does from the debug file of a stripped library. */

/* Return whether debuggers are to be told: SKRT_GDB is 1 in the environment or, if it is not set, a debugger traced the
 * process at the first call of this function. */
bool sk_debugger_wanted(void);

/* Register the image, which was mapped from the file; path is its name, or anything if it has none. NULL if that fails,
 * which is not an error. */
struct sk_debugger_entry *sk_debugger_register(const struct sk_image *image, const char *path, int file);

/* Remove the registration. NULL is allowed. */
void sk_debugger_unregister(struct sk_debugger_entry *entry);

/* ==== imports.c ====
 *
 * The imports that packages may have, with replacements for those that would end the process. */

/* Return the address of a name on the import list, or NULL. For functions of the class ENDS it is a function that ends
 * the call that the thread runs; for data the address of the data. *class is the class in the list. */
void (*sk_import_find(const char *name, enum sk_import_class *class))(void);

/* Return a row of the list; NULL past the end. *machine: the machine that alone has it, in its libraries, or NULL. */
const struct sk_import *sk_import_row(size_t number, const char **machine);

/* ==== integrity.c ====
 *
 * Compares a package with its seal, before any byte of it has been changed, trusted or run. */

/* The check for sk_source: the image is mapped, its symbols can be found. SKRT_BAD_PACKAGE if its layout is not the
 * linker's, if it does not match its seal, or the seal does not match the source's public key.
 *
 * A seal over the bytes of the segments also covers their use, because the headers that loading has followed are among
 * these bytes. So the bytes determine their order, the address and protection of each segment, and the places of the
 * dynamic section and all its tables. Only their places in the file remain open, since strip moves them. */
enum skrt_status sk_integrity_check(const struct sk_source *source, const struct sk_image *image,
				    const struct sk_image_file *file);

/* ==== processor.c ====
 *
 * Checks that this processor can run a package, before the first of its instructions, which may be a constructor's. */

/* Check the image, which is mapped and relocated; the plan has not been checked. A package without a plan needs no
 * extension. SKRT_UNSUPPORTED: it needs an extension that the processor lacks; SKRT_BAD_PACKAGE: it seems to, but its
 * plan is damaged. */
enum skrt_status sk_processor_check(const char *path, const struct sk_image *image);

/* ==== weights.c ====
 *
 * Constants in a file of their own: from a mapped package to the file beside it, mapped at the address that the package
 * expects. */

/* Map the file, or read it, if the source is to be copied, into image->weights, which is reserved. Do nothing if the
 * package has none. This checks the file's size and its header, which identifies the constants; sk_weights_check checks
 * their bytes. SKRT_CANNOT_READ: the file is missing, or cannot be read; SKRT_BAD_PACKAGE: it is another kind of file,
 * belongs to another package, or is cut off, or the package contradicts itself. */
enum skrt_status sk_weights_open(const struct sk_source *source, uint64_t page, const struct sk_image *image);

/* Check that the bytes are those that were linked. */
enum skrt_status sk_weights_check(const struct sk_source *source, const struct sk_image *image);

#endif
