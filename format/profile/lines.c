/* Lines; see profile.h. */
#include "config.h"

#include "format/profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { SHOWN = 60 }; /* bytes of a value in messages */

/* ---- opening ---- */

static bool fail_file(const char *name, char *error, size_t error_size, const char *reason)
{
	snprintf(error, error_size, "%s: %s", name, reason);
	return false;
}

/* Open a regular file: pipes and devices may have no end, or block. NULL after an error. */
static FILE *open_regular(const char *path, char *error, size_t error_size)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = NULL;
	struct stat status;

	if (descriptor < 0)
		fail_file(path, error, error_size, strerror(errno));
	else if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
		fail_file(path, error, error_size, "not a regular file");
	else if (!(file = fdopen(descriptor, "rb")))
		fail_file(path, error, error_size, strerror(errno));
	if (!file && descriptor >= 0)
		close(descriptor);
	return file;
}

bool sk_lines_open(struct sk_lines *lines, const char *path, char *error, size_t error_size)
{
	FILE *file = open_regular(path, error, error_size);
	size_t size = 0, capacity = 4096;
	char *text = NULL;

	if (!file)
		return false;
	for (;;) {
		char *larger = realloc(text, capacity + 1);

		if (!larger)
			break;
		text = larger;
		size += fread(text + size, 1, capacity - size, file);
		if (size < capacity || capacity > SK_LINES_MAX_BYTES)
			break;
		capacity *= 2;
	}

	int reason = ferror(file) ? errno : 0;

	fclose(file);
	*lines = (struct sk_lines){.name = path, .text = text, .next = text, .error = error, .error_size = error_size};
	if (!text)
		return fail_file(path, error, error_size, "no memory");
	text[size] = '\0';
	if (!reason && size <= SK_LINES_MAX_BYTES && strlen(text) == size)
		return true;
	sk_lines_close(lines);
	return fail_file(path, error, error_size,
			 reason			     ? strerror(reason)
			 : size > SK_LINES_MAX_BYTES ? "the file is too large"
						     : "not a text file: it has a NUL byte");
}

bool sk_lines_open_text(struct sk_lines *lines, const char *name, const char *text, char *error, size_t error_size)
{
	*lines = (struct sk_lines){.name = name, .text = strdup(text), .error = error, .error_size = error_size};
	lines->next = lines->text;
	return lines->text || fail_file(name, error, error_size, "no memory");
}

void sk_lines_close(struct sk_lines *lines)
{
	free(lines->text);
	*lines = (struct sk_lines){0};
}

bool sk_lines_fail(const struct sk_lines *lines, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (lines->number)
		snprintf(lines->error, lines->error_size, "%s:%" PRIu32 ": %s", lines->name, lines->number, what);
	else
		snprintf(lines->error, lines->error_size, "%s: %s", lines->name, what);
	return false;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static char *trim(char *text)
{
	while (is_blank(*text))
		text++;

	size_t length = strlen(text);

	while (length && is_blank(text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* End the line at its comment. */
static void cut_comment(char *line)
{
	for (char *c = line; *c; c++)
		if (*c == '#' && (c == line || is_blank(c[-1]))) {
			*c = '\0';
			return;
		}
}

static bool is_printable(const char *line)
{
	for (; *line; line++)
		if (((unsigned char)*line < ' ' && *line != '\t') || *line == 0x7f)
			return false;
	return true;
}

/* Decode the quoted key or value at the start of the text. Return the text after it; NULL: the quotation has no end. */
static char *unquote(char *line)
{
	char *end = line, *c = line + 1;

	for (; *c && *c != '"'; c++) {
		c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
		*end++ = *c;
	}
	if (!*c)
		return NULL;
	*end = '\0';
	return c + 1;
}

/* Return the colon after a key, NULL: there is none before the comment. */
static char *find_colon(char *rest)
{
	char *colon = strchr(rest, ':');

	if (colon)
		*colon = '\0';
	cut_comment(rest);
	return colon && strlen(rest) == (size_t)(colon - rest) ? colon : NULL;
}

/* Return the value after the colon, without its comment. NULL: a quotation that has no end, or a text after it. */
static char *read_value(char *colon)
{
	char *value = trim(colon + 1), *after;

	if (*value != '"') {
		cut_comment(value);
		return trim(value);
	}
	after = unquote(value);
	if (!after)
		return NULL;
	cut_comment(after);
	return *trim(after) ? NULL : value;
}

/* Divide a line that does not begin with blanks, and end it at its comment. */
static bool parse(struct sk_lines *lines, char *line)
{
	bool quoted = *line == '"';
	char *rest = quoted ? unquote(line) : line;

	if (!rest)
		return sk_lines_fail(lines, "a quote has no end");

	char *colon = find_colon(rest);

	if (!is_printable(line) || !is_printable(rest))
		return sk_lines_fail(lines, "a control character");
	if (!colon || (quoted && *trim(rest)))
		return sk_lines_fail(lines, "'key: value' is expected, not '%.*s'", SHOWN, line);
	lines->key = quoted ? line : trim(line);
	lines->value = read_value(colon);
	if (!*lines->key)
		return sk_lines_fail(lines, "there is no key before the colon");
	if (!lines->value)
		return sk_lines_fail(lines, "the value of '%.*s' is not one quotation", SHOWN, lines->key);
	if (!is_printable(lines->value))
		return sk_lines_fail(lines, "a control character");
	if (!*lines->value)
		return sk_lines_fail(lines, "'%.*s' has no value", SHOWN, lines->key);
	return true;
}

bool sk_lines_next(struct sk_lines *lines, bool *failed)
{
	*failed = false;
	while (lines->next) {
		char *line = lines->next, *end = strchr(line, '\n');

		lines->next = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		lines->number++;
		line = trim(line);
		if (!*line || *line == '#')
			continue;
		*failed = !parse(lines, line);
		return !*failed;
	}
	return false;
}

void sk_lines_print_key(const char *key, FILE *stream)
{
	bool quoted = *key == '"' || *key == '#' || *key == ' ' || *key == '\0' || key[strlen(key) - 1] == ' ' ||
		      strchr(key, ':') || strstr(key, " #");

	if (!quoted) {
		fputs(key, stream);
		return;
	}
	putc('"', stream);
	for (; *key; key++) {
		if (*key == '"' || *key == '\\')
			putc('\\', stream);
		putc(*key, stream);
	}
	putc('"', stream);
}

/* ---- values ---- */

static bool fail_units(const struct sk_lines *lines, const struct sk_unit *units)
{
	char list[128] = "";
	size_t used = 0;

	for (const struct sk_unit *unit = units; unit->name; unit++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", unit->name);
	return sk_lines_fail(lines, "'%.*s' must be a number%s%s, not '%.*s'", SHOWN, lines->key,
			     used ? " with one of the units " : "", list, SHOWN, lines->value);
}

bool sk_lines_number(const struct sk_lines *lines, const struct sk_unit *units, double *number)
{
	size_t length = strspn(lines->value, "0123456789.eE+-");
	char digits[64], *end;

	if (length == 0 || length >= sizeof(digits) || !strchr("0123456789.", *lines->value))
		return fail_units(lines, units);
	memcpy(digits, lines->value, length);
	digits[length] = '\0';
	*number = strtod_l(digits, &end, sk_c_locale());

	const char *name = lines->value + length;

	while (is_blank(*name))
		name++;
	for (const struct sk_unit *unit = units; *end == '\0' && unit->name; unit++) {
		if (strcmp(name, unit->name) != 0)
			continue;
		*number *= unit->factor;
		/* Sums and products of numbers up to this limit stay finite. */
		return *number <= 1e18 || sk_lines_fail(lines, "'%.*s' is too large", SHOWN, lines->key);
	}
	return fail_units(lines, units);
}

bool sk_lines_integer(const struct sk_lines *lines, uint64_t low, uint64_t high, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(lines->value, &end, 10);
	if (*lines->value >= '0' && *lines->value <= '9' && !*end && !errno && *number >= low && *number <= high)
		return true;
	return sk_lines_fail(lines, "'%.*s' must be a whole number from %" PRIu64 " to %" PRIu64 ", not '%.*s'", SHOWN,
			     lines->key, low, high, SHOWN, lines->value);
}
