/* A package as one page for a browser, which needs nothing else: the page of page/, with what --json says and the
 * traces of runs in it. */
#ifndef SK_PAGE_H
#define SK_PAGE_H

#include "src/proof/verify.h"
#include "src/skdump/show.h"

/* The page around the package and the traces (page/embed.awk). */
enum { SK_PAGE_PARTS = 3 };
extern const char *const sk_page_parts[SK_PAGE_PARTS];

/* Writes the file. The facts are those of the package's proof, the traces files of skrun --trace. False after an error
 * in the sink, and then there is no new file. */
bool sk_page_write(const struct sk_show *show, struct sk_diag *diag, const struct sk_facts *facts, const char *path,
		   const char *const *traces, size_t count);

#endif
