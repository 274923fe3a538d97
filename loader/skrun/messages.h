/* What skrun says: errors, and words of the package. */
#ifndef SK_LOADER_MESSAGES_H
#define SK_LOADER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/skrt.h"

/* Prints "skrun: error: …" on standard error. */
void sk_skrun_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the library's text as an error if the status is not SKRT_OK. True: it is. */
bool sk_succeeded(enum skrt_status status);

/* A name, which is the package's, on standard output. */
void sk_print_named(const char *before, const char *name, const char *behind);

#endif
