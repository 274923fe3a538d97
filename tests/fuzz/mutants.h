/* Mutants: a file's bytes and a number come in, damaged bytes go out; the same ones for the same number. */
#ifndef SK_TESTS_MUTANTS_H
#define SK_TESTS_MUTANTS_H

#include <stddef.h>
#include <stdint.h>

struct mutant {
	const char *kind; /* the kind of change */
	uint8_t *bytes; /* the caller frees it */
	size_t size;
};

/* Mutate an object, an archive or a package: change the ELF header, the section table, the contents of a section
 * without code, an archive member's header or any byte, or cut the file. */
struct mutant mutant_of_elf(const uint8_t *bytes, size_t size, uint64_t number);

/* Mutate a text: remove, double and move lines and pieces, insert words of a manifest, change bytes, cut the end. */
struct mutant mutant_of_text(const uint8_t *bytes, size_t size, uint64_t number);

/* Mutate a protobuf message: remove or double a field at any depth, or change its number, encoding or value, and
 * correct the lengths around it; sometimes change any byte. */
struct mutant mutant_of_message(const uint8_t *bytes, size_t size, uint64_t number);

#endif
