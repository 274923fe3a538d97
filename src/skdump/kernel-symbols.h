/* Which code kernels and tasks' own entries are: that the functions which the plan refers to have the names that it
 * says, and kernels their sizes, by the symbol table; and what the symbols are whose addresses kernels get. Without
 * one, or where it has no function at an address, that cannot be said. (The launches' entries are dynamic symbols,
 * which reemit.h compares.) */
#ifndef SK_KERNEL_SYMBOLS_H
#define SK_KERNEL_SYMBOLS_H

#include "src/skdump/package-file.h"

/* Those of which the symbol table says nothing. */
struct sk_unknown_code {
	uint32_t kernels, entries, symbols;
};

/* False after errors in the sink. The plan's signatures have been checked (calls.h). */
bool sk_kernel_symbols_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
			     struct sk_unknown_code *unknown);

#endif
