/* skrun --html: the page that skdump makes of a package and of a trace of it. skdump proves the package first, which
 * the runtime cannot. */
#ifndef SK_LOADER_TRACE_PAGE_H
#define SK_LOADER_TRACE_PAGE_H

#include <stdbool.h>

/* Runs the skdump beside this program. False after an error. */
bool sk_page_make(const char *page, const char *trace, const char *package);

#endif
