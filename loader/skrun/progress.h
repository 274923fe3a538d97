/* What skrun is at, for people who wait: a line on the terminal once that has taken a second, which goes when it is
 * done. Without a terminal as standard error there is none. */
#ifndef SK_LOADER_PROGRESS_H
#define SK_LOADER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* So many runs of a kind begin, such as "fused run"; those of before have ended. */
void sk_progress_begin(const char *what, uint64_t count);
/* One of them has ended. */
void sk_progress_step(void);
/* All have, or there is something else to say: the line goes. */
void sk_progress_end(void);

/* For signal handlers: the cursor is behind the line. */
bool sk_progress_is_shown(void);

#endif
