/* The status, text and suggestions of libskrt. Each thread has a text buffer of its own. */
#include "config.h"

#include "loader/base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "loader/skrt.h"

static _Thread_local char text_of_thread[SK_ERROR_SIZE];

enum skrt_status sk_fail(enum skrt_status status, const char *format, ...)
{
	va_list arguments;
	char text[SK_ERROR_SIZE]; /* because an argument may be the old text */

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	sk_escape(text_of_thread, sizeof(text_of_thread), text); /* because names come from packages */
	return status;
}

enum skrt_status sk_fail_null(const char *function)
{
	return sk_fail(SKRT_INVALID_ARGUMENT, "%s: a null pointer", function);
}

const char *skrt_error(void)
{
	return text_of_thread;
}

const char *skrt_version(void)
{
	return PACKAGE_VERSION;
}

const char *skrt_status_name(enum skrt_status status)
{
	static const char *const names[] = {
		[SKRT_OK] = "SKRT_OK",
		[SKRT_INVALID_ARGUMENT] = "SKRT_INVALID_ARGUMENT",
		[SKRT_OUT_OF_MEMORY] = "SKRT_OUT_OF_MEMORY",
		[SKRT_CANNOT_READ] = "SKRT_CANNOT_READ",
		[SKRT_BAD_PACKAGE] = "SKRT_BAD_PACKAGE",
		[SKRT_UNSUPPORTED] = "SKRT_UNSUPPORTED",
		[SKRT_NOT_FOUND] = "SKRT_NOT_FOUND",
		[SKRT_NOT_BOUND] = "SKRT_NOT_BOUND",
		[SKRT_BUSY] = "SKRT_BUSY",
		[SKRT_KERNEL_FAILED] = "SKRT_KERNEL_FAILED",
		[SKRT_DEVICE_LOST] = "SKRT_DEVICE_LOST",
		[SKRT_NOT_READY] = "SKRT_NOT_READY",
		[SKRT_CANNOT_WRITE] = "SKRT_CANNOT_WRITE",
	};

	return (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status] : "?";
}

const char *sk_nearest(char *text, size_t size, const char *name, uint32_t count,
		       const char *(*name_of)(const void *context, uint32_t index), const void *context)
{
	const char *best = sk_nearest_of(name, count, name_of, context);

	text[0] = '\0';
	if (best)
		snprintf(text, size, "; did you mean '%s'?", best);
	return text;
}
