/* Whether a finished plan says one thing only. Much in it follows from other parts of it, or from what travels with it:
 * sums and greatest values, what a tensor is to whoever runs the package, what tasks' own entries repeat, and what the
 * account says of the tasks. In comes a plan that has been proved (sk_verify); out come errors where two places do not
 * agree, with calls.h those where a call and its kernel's signature do not.
 *
 * What follows from nothing in the package cannot be compared: the values of scalars, costs, names of tensors, which
 * kernels share hidden state. That these are as they were linked is what the seal is for (format/seal.h). */
#ifndef SK_CONSISTENCY_H
#define SK_CONSISTENCY_H

#include "src/proof/account.h"

/* account: NULL if there is none. */
bool sk_consistency_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file, const struct sk_account *account);

#endif
