/* Instruction sets: those that kernels need beyond their machine's baseline, and those of a processor. sklink reads the
 * names, libskrt compares sets when it loads a package, skdump shows them.
 *
 * A set is 64 bits. The low 32 are levels, as in the program property of objects; the high ones are single features of
 * the machine (x86-64: format/x86_64/isa.c). */
#ifndef SK_LOADER_ISA_H
#define SK_LOADER_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_plan_view;

enum { SK_ISA_TEXT_SIZE = 512 }; /* the largest text of sk_isa_text */

/* Return the set of a name of `length` characters ("x86-64-v3": that level and those below, "fma"); 0: unknown. */
uint64_t sk_isa_find(const char *name, size_t length);

/* Return the set of several names separated by '+'; 0: one of them is unknown, and *unknown points to it, with
 * *length. */
uint64_t sk_isa_find_all(const char *names, const char **unknown, size_t *length);

/* Return the set with all features of its levels. */
uint64_t sk_isa_expand(uint64_t set);

/* Return the set that chosen kernels may need by default. It is always the same. */
uint64_t sk_isa_default(void);

/* All names, for suggestions. */
extern const char *const sk_isa_names[];
extern const size_t sk_isa_name_count;

/* Write "x86-64-v3+avx512f": the highest level, and features beyond it; "none declared" for an empty set. Return
 * text. */
const char *sk_isa_text(char text[SK_ISA_TEXT_SIZE], uint64_t set);

/* Return the set of this processor. */
uint64_t sk_isa_of_processor(void);

/* True if a processor with the set `has` can run the package; otherwise `error` gets a sentence about the missing
 * sets. */
bool sk_isa_check(const struct sk_plan_view *plan, uint64_t has, char *error, size_t error_size);

#endif
