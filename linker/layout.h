/* What the three files share that lay out the image: outputs.c says which output section takes what, layout.c gives
 * them their addresses, and segments.c makes the program headers. */
#ifndef SK_LINKER_LAYOUT_H
#define SK_LINKER_LAYOUT_H

#include "linker/link.h"

/* What output sections have in common with their neighbours: each region has pages of its own. */
enum sk_region {
	SK_REGION_READ_ONLY,
	SK_REGION_CODE,
	SK_REGION_RELRO,
	SK_REGION_WRITABLE,
	SK_REGION_CONSTANTS,
	SK_REGION_NOT_LOADED,
};

enum sk_region sk_region_of(enum sk_rank rank);

/* Puts everything that is live into output sections, in the order of the image. False: there are too many. */
bool sk_outputs_make(struct sk_linker *linker);

/* The program headers, once everything has its address. */
void sk_segments_make(struct sk_linker *linker);

/* ---- thread-storage.c ---- */

/* Before output sections have addresses: the block's beginning is aligned as its variables want it. Behind it: where it
 * lies. */
void sk_thread_align(struct sk_linker *linker);
void sk_thread_place(struct sk_linker *linker);

/* What the segments of the image are aligned to. */
static inline uint64_t sk_page_size(const struct sk_linker *linker)
{
	return linker->options.max_page_size ? linker->options.max_page_size : linker->architecture->page_size;
}

#endif
