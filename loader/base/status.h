/* How libskrt says what went wrong: a status, and one sentence in the calling thread's buffer, where skrt_error() finds
 * it. */
#ifndef SK_LOADER_STATUS_H
#define SK_LOADER_STATUS_H

#include <stddef.h>

#include "loader/skrt.h"

enum { SK_ERROR_SIZE = 512 };

/* Writes the thread's text and returns the status. */
enum skrt_status sk_fail(enum skrt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The public function got a null pointer. */
enum skrt_status sk_fail_null(const char *function);

/* "; did you mean 'x'?" if one of the names is near (base/nearest.h), else "". name_of(context, i) is the i-th
 * name. Returns text. */
const char *sk_nearest(char *text, size_t size, const char *name, uint32_t count,
		       const char *(*name_of)(const void *context, uint32_t index), const void *context);

#endif
