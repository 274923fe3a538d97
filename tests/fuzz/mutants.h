/* Mutants: a file's bytes and a number come in, damaged bytes go out; the same ones for the same number. */
#ifndef SK_TESTS_MUTANTS_H
#define SK_TESTS_MUTANTS_H

#include <stddef.h>
#include <stdint.h>

struct mutant {
	const char *kind; /* what was done */
	uint8_t *bytes; /* the caller frees it */
	size_t size;
};

/* Of an object, an archive or a package: changes the ELF header, the table of sections, the contents of a section that
 * is not code, an archive member's header, any byte, or cuts the file. */
struct mutant mutant_of_elf(const uint8_t *bytes, size_t size, uint64_t number);

/* Of a text: lines and pieces taken out, doubled and moved, words of a manifest put in, bytes changed, the end cut. */
struct mutant mutant_of_text(const uint8_t *bytes, size_t size, uint64_t number);

/* Of protobuf's messages: a field, however deep, taken out, doubled, or with another number, encoding or value, and the
 * lengths around it as they must be; sometimes any byte. */
struct mutant mutant_of_message(const uint8_t *bytes, size_t size, uint64_t number);

#endif
