/* Status, text and suggestions of libskrt. The text buffer belongs to one thread each. */
#include "config.h"

#include "loader/report.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char text_of_thread[SK_REPORT_SIZE];

enum skrt_status sk_report(enum skrt_status status, const char *format, ...)
{
	va_list arguments;
	char text[SK_REPORT_SIZE]; /* an argument may be the old text */

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	memcpy(text_of_thread, text, sizeof(text));
	return status;
}

enum skrt_status sk_report_null(const char *function)
{
	return sk_report(SKRT_INVALID_ARGUMENT, "%s: a null pointer", function);
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

/* ---- suggestions ---- */

enum { NAME_LIMIT = 64 }; /* longer names get no suggestion */

/* Levenshtein's distance, one row at a time. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[NAME_LIMIT + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);
			size_t insert_or_delete = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = change < insert_or_delete ? change : insert_or_delete;
		}
	}
	return row[b_length];
}

const char *sk_nearest(char *text, size_t size, const char *name, uint32_t count,
		       const char *(*name_of)(const void *context, uint32_t index), const void *context)
{
	size_t length = strlen(name), best_distance = SIZE_MAX;
	const char *best = NULL;

	text[0] = '\0';
	if (length > NAME_LIMIT)
		return text;
	for (uint32_t i = 0; i < count; i++) {
		const char *candidate = name_of(context, i);
		size_t candidate_length = strlen(candidate);

		if (candidate_length > NAME_LIMIT)
			continue;
		size_t found = distance(name, length, candidate, candidate_length);
		size_t allowed = (length > candidate_length ? length : candidate_length) / 3;
		if (found <= (allowed ? allowed : 1) && found < best_distance) {
			best_distance = found;
			best = candidate;
		}
	}
	if (best)
		snprintf(text, size, "; did you mean '%s'?", best);
	return text;
}
