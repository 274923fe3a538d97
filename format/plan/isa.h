/* Instruction sets: what kernels need beyond their machine's baseline, and what a processor has. sklink reads the
 * names, libskrt compares when it loads, skdump shows.
 *
 * A set is 64 bits. The low 32 are levels as objects name them in a program property, the high ones single features, as
 * the machine has them (x86-64: format/x86_64/isa.c). */
#ifndef SK_LOADER_ISA_H
#define SK_LOADER_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_plan_view;

enum { SK_ISA_TEXT_SIZE = 512 }; /* for every set that sk_isa_text writes */

/* The set that a name of `length` characters stands for ("x86-64-v3": that level and those below, "fma"); 0: none. */
uint64_t sk_isa_find(const char *name, size_t length);

/* The set of several names with '+' between them; 0: one of them is unknown, which *unknown points to, of *length. */
uint64_t sk_isa_find_all(const char *names, const char **unknown, size_t *length);

/* The set with all features of its levels. */
uint64_t sk_isa_expand(uint64_t set);

/* What kernels may need that sklink picks, unless somebody says otherwise: always the same. */
uint64_t sk_isa_default(void);

/* All names, for "did you mean". */
extern const char *const sk_isa_names[];
extern const size_t sk_isa_name_count;

/* "x86-64-v3+avx512f": the highest level, and features that it does not have; "none declared" for an empty set. Returns
 * text. */
const char *sk_isa_text(char text[SK_ISA_TEXT_SIZE], uint64_t set);

/* The set of the processor that this runs on. */
uint64_t sk_isa_of_processor(void);

/* Whether a processor with the set `has` can run the package; else one sentence on what needs what. */
bool sk_isa_check(const struct sk_plan_view *plan, uint64_t has, char *error, size_t error_size);

#endif
