/* Verdicts: which tasks cannot be fused whatever the others are. In come the tag sets; out comes a reason per task. */
#ifndef SK_VERDICTS_H
#define SK_VERDICTS_H

#include "src/planning/segments.h"

/* Fills segments->verdict. The first task that a scope has one stream too many for is warned of. */
void sk_verdicts_find(struct sk_segments *segments);

#endif
