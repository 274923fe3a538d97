/* How libskrt says what went wrong; its clock; whether the process is a fork; structs of older and newer programs. */
#ifndef SK_LOADER_BASE_STATUS_H
#define SK_LOADER_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "loader/skrt.h"

/* ==== status.c ====
 *
 * How libskrt says what went wrong: a status, and one sentence in the calling thread's buffer, where skrt_error() finds
 * it. */

enum { SK_ERROR_SIZE = 512 };

/* Writes the thread's text and returns the status. */
enum skrt_status sk_fail(enum skrt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The public function got a null pointer. */
enum skrt_status sk_fail_null(const char *function);

/* "; did you mean 'x'?" if one of the names is near (base/text.h), else "". name_of(context, i) is the i-th
 * name. Returns text. */
const char *sk_nearest(char *text, size_t size, const char *name, uint32_t count,
		       const char *(*name_of)(const void *context, uint32_t index), const void *context);

/* ==== clock ====
 *
 * The time that deadlines and events have: monotonic, in ns. */

static inline int64_t sk_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* ==== process.c ====
 *
 * The process that made something. A fork has its memory, but none of its threads, and locks that nobody will release.
 */

struct sk_process {
	pid_t id;
	uint32_t forks; /* between the first one that asked and this one */
};

/* The one that runs. */
struct sk_process sk_process_current(void);

/* SKRT_DEVICE_LOST in a fork of that process. */
enum skrt_status sk_process_check(const struct sk_process *process);

/* ==== structs.c ====
 *
 * The structs of skrt.h, which begin with their size: of one that the caller has made, the library may know fewer
 * fields or more. All of them are copied here, `known` being the size of the library's own. Names are those of the
 * struct. */

/* Reads the caller's struct into `own`, whose size is `known` afterwards; fields that the caller's lacks are 0.
 * SKRT_INVALID_ARGUMENT: the size is impossible, or the caller has set a field that the library does not know. */
enum skrt_status sk_struct_read(const char *name, const void *theirs, void *own, size_t known);

/* Fills the caller's struct from `own`, and sets its size to the bytes that have been filled. Errors as above; then it
 * is as it was. */
enum skrt_status sk_struct_write(const char *name, const void *own, size_t known, void *theirs);

#endif
