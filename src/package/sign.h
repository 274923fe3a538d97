/* The package's seal (struct sk_plan_seal), once every byte of the file is known. */
#ifndef SK_SIGN_H
#define SK_SIGN_H

#include "src/package/package.h"

/* Fills the seal of the package's plan. `private_key` is a PEM file, or NULL: the package is not signed. False after an
 * error in the sink. */
bool sk_seal_write(struct sk_arena *arena, struct sk_diag *diag, struct sk_linker *linker,
		   const struct sk_package_parts *package, const char *private_key);

#endif
