/* Drafts of signatures (--signature-of): the functions of an object, an archive or a shared library, as a `kernels`
 * table for a manifest. */
#ifndef SK_SRC_DRAFT_DRAFT_H
#define SK_SRC_DRAFT_DRAFT_H

#include <stdio.h>

struct sk_arena;
struct sk_diag;

/* ==== draft.c ==== */

/* Print the table, with a comment for each fact that the file does not have. */
void sk_draft_print(struct sk_arena *arena, struct sk_diag *diag, const char *file, FILE *stream);

#endif
