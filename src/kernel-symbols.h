/* Which code a kernel is: that the functions which the plan's kernels refer to have the names that the plan says, and
 * their sizes, by the symbol table. Without one, or where it has no function at an address, that cannot be said. */
#ifndef SK_KERNEL_SYMBOLS_H
#define SK_KERNEL_SYMBOLS_H

#include "package-file.h"

/* False after errors in the sink. *unknown: kernels of which the symbol table says nothing. The plan's signatures have
 * been checked (calls.h). */
bool sk_kernel_symbols_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
			     uint32_t *unknown);

#endif
