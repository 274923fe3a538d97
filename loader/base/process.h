/* The process that made something. A fork has its memory, but none of its threads, and locks that nobody will release.
 */
#ifndef SK_LOADER_PROCESS_H
#define SK_LOADER_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "loader/skrt.h"

struct sk_process {
	pid_t id;
	uint32_t forks; /* between the first one that asked and this one */
};

/* The one that runs. */
struct sk_process sk_process_current(void);

/* SKRT_DEVICE_LOST in a fork of that process. */
enum skrt_status sk_process_check(const struct sk_process *process);

#endif
