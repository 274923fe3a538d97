/* Errors of libskrt; its clock; detection of forks; structs of older and newer programs. */
#ifndef SK_LOADER_BASE_STATUS_H
#define SK_LOADER_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "loader/skrt.h"

/* ==== status.c ====
 *
 * Errors of libskrt: a status, and one sentence in the calling thread's buffer, which skrt_error() returns. */

enum { SK_ERROR_SIZE = 512 };

/* Write the thread's text and return the status. */
enum skrt_status sk_fail(enum skrt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Report that the public function got a null pointer. */
enum skrt_status sk_fail_null(const char *function);

/* Write "; did you mean 'x'?" if one of the names is similar (base/text.h), else "". name_of(context, i) returns the
 * i-th name. Return text. */
const char *sk_nearest(char *text, size_t size, const char *name, uint32_t count,
		       const char *(*name_of)(const void *context, uint32_t index), const void *context);

/* ==== clock ====
 *
 * The time of deadlines and events: monotonic, in ns. */

static inline int64_t sk_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* ==== process.c ====
 *
 * The process that made an object. A fork has a copy of its memory but none of its threads, and may have copies of
 * locks that are never released. */

struct sk_process {
	pid_t id;
	uint32_t forks; /* generations between the first process that asked and this one */
};

/* Return the calling process. */
struct sk_process sk_process_current(void);

/* Return SKRT_DEVICE_LOST in a fork of that process. */
enum skrt_status sk_process_check(const struct sk_process *process);

/* ==== structs.c ====
 *
 * The structs of skrt.h begin with their size: the library may know fewer or more fields than the caller's struct has.
 * All of them are copied here; `known` is the size of the library's own struct, and `name` the struct's name. */

/* Read the caller's struct into `own`, and set its size to `known`; fields that the caller's struct lacks are 0.
 * SKRT_INVALID_ARGUMENT: the size is impossible, or the caller has set a field that the library does not know. */
enum skrt_status sk_struct_read(const char *name, const void *theirs, void *own, size_t known);

/* Fill the caller's struct from `own`, and set its size to the number of bytes filled. Errors as above; they leave the
 * struct unchanged. */
enum skrt_status sk_struct_write(const char *name, const void *own, size_t known, void *theirs);

#endif
