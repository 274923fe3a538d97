/* A whole link at once, for programs that have nothing to do between its passes. */
#ifndef SK_TESTS_WHOLE_LINK_H
#define SK_TESTS_WHOLE_LINK_H

#include <stdbool.h>

#include "linker/linker.h"

/* The passes in sklink's order. The image is complete in memory afterwards. */
static inline bool link_whole(struct sk_linker *linker)
{
	return sk_linker_choose(linker) && sk_linker_make(linker) && sk_linker_finish(linker);
}

#endif
