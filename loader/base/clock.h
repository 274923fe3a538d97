/* The time that deadlines and events have: monotonic, in ns. */
#ifndef SK_LOADER_CLOCK_H
#define SK_LOADER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t sk_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

#endif
