/* What the functions of libskrt say, in suites of its API. */
#ifndef SK_TESTS_STATUS_H
#define SK_TESTS_STATUS_H

#include <check.h>
#include <string.h>

#include "loader/skrt.h"

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
