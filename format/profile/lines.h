/* Text files of lines `key: value`, for people to write: device profiles and costs. Blank lines, and what stands behind
 * a # at the beginning of a line or after a blank, do not count. A key may stand in double quotes, with a backslash in
 * front of each quote and each backslash that it has itself. Anybody may have written the file: it is read whole, up to
 * a limit, and nothing of it is believed. */
#ifndef SK_LOADER_LINES_H
#define SK_LOADER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sk_lines {
	const char *name; /* of the file, for messages */
	char *text; /* owned */
	char *next; /* what has not been read; NULL: nothing */
	uint32_t number; /* of the line read last, from 1 */
	const char *key, *value; /* of the line read last; neither is empty */
	char *error; /* the caller's buffer */
	size_t error_size;
};

enum { SK_LINES_MAX_BYTES = 16 << 20 };

/* Opens a file, or a text in memory. False with the reason in `error`. */
bool sk_lines_open(struct sk_lines *lines, const char *path, char *error, size_t error_size);
bool sk_lines_open_text(struct sk_lines *lines, const char *name, const char *text, char *error, size_t error_size);

/* The next line with something on it. False at the end, and after an error; *failed says which. */
bool sk_lines_next(struct sk_lines *lines, bool *failed);

/* Puts "file:line: …" into the caller's buffer. Returns false, always. */
bool sk_lines_fail(const struct sk_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value as a number with one of these units, as "0.9 us"; times the unit's factor in *number. A unit "" stands for
 * none. The list ends at a unit with name NULL. The number is not negative. */
struct sk_unit {
	const char *name;
	double factor;
};
bool sk_lines_number(const struct sk_lines *lines, const struct sk_unit *units, double *number);

/* The value as a whole number within [low, high]. */
bool sk_lines_integer(const struct sk_lines *lines, uint64_t low, uint64_t high, uint64_t *number);

void sk_lines_close(struct sk_lines *lines);

/* The key as it must stand in a file to be read as this. */
void sk_lines_print_key(const char *key, FILE *stream);

#endif
