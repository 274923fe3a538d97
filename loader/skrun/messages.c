/* Output of skrun; see skrun.h. Names come from packages, so control characters and invalid text are escaped. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "loader/skrt.h"

static char rank_title[24]; /* "rank 1: ", or "" */

void sk_messages_of_rank(uint32_t rank)
{
	snprintf(rank_title, sizeof(rank_title), "rank %" PRIu32 ": ", rank);
}

/* The line is written at once: other ranks may write theirs at the same time. */
static void print_message(const char *before, const char *format, va_list arguments)
{
	char *text = NULL, *line = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&line, &size), *to = stream ? stream : stderr;

	sk_progress_end();
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	fputs("skrun: ", to);
	fputs(rank_title, to);
	fputs(before, to);
	sk_escape_print(text ? text : "no memory", to);
	fputc('\n', to);
	if (stream && !fclose(stream))
		fwrite(line, 1, size, stderr);
	free(line);
	free(text);
}

void sk_skrun_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_message("error: ", format, arguments);
	va_end(arguments);
}

void sk_skrun_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_message("note: ", format, arguments);
	va_end(arguments);
}

void sk_print_named(const char *before, const char *name, const char *after)
{
	fputs(before, stdout);
	sk_escape_print(name, stdout);
	fputs(after, stdout);
}

static bool kernel_failed;

bool sk_succeeded(enum skrt_status status)
{
	kernel_failed |= status == SKRT_KERNEL_FAILED;
	if (status)
		sk_skrun_error("%s", skrt_error());
	return status == SKRT_OK;
}

bool sk_kernel_has_failed(void)
{
	return kernel_failed;
}
