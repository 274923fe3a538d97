/* The structs that functions of libskrt take, and the statuses that they return, in suites of its API. */
#ifndef SK_TESTS_STATUS_H
#define SK_TESTS_STATUS_H

#include <check.h>
#include <string.h>

#include "loader/skrt.h"

/* Structs with the size that they begin with. */
#define OPTIONS(...) ((struct skrt_device_options){.size = sizeof(struct skrt_device_options), __VA_ARGS__})
#define SOURCE(...)  ((struct skrt_source){.size = sizeof(struct skrt_source), __VA_ARGS__})

static inline void ok(enum skrt_status status)
{
	ck_assert_msg(status == SKRT_OK, "%s: %s", skrt_status_name(status), skrt_error());
}

static inline void expect(enum skrt_status status, enum skrt_status wanted, const char *text)
{
	ck_assert_msg(status == wanted && strstr(skrt_error(), text), "%s: %s (wanted %s: %s)",
		      skrt_status_name(status), skrt_error(), skrt_status_name(wanted), text);
}

#endif
