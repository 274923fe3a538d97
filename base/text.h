/* Texts: growing, escaping, comparing, matching, and laying them out in columns; the C locale. */
#ifndef SK_BASE_TEXT_H
#define SK_BASE_TEXT_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

struct sk_arena;

/* ==== text.c ====
 *
 * A text that grows as it is printed: a stream into memory. If the system has no more memory, the process ends with a
 * message, as for allocations in an arena. */

struct sk_text {
	FILE *stream; /* to print to */
	char *bytes; /* once it is closed; NUL-terminated */
	size_t size;
};

void sk_text_open(struct sk_text *text);

/* Close the stream. The text is then in the arena. */
void sk_text_close(struct sk_arena *arena, struct sk_text *text);

/* ==== dot.c ====
 *
 * Texts in files for Graphviz. */

/* Print the text for the inside of a string, so that a label shows it: in its printable form (below), with backslashes,
 * quotes and starts of HTML entities escaped. */
void sk_dot_print(const char *text, FILE *stream);

/* ==== escape.c ====
 *
 * Printable text. Names in manifests, objects and packages may have any bytes, but must not control a terminal or look
 * like something else. Needs only the C library, so that the runtime can also use it. */

/* Return the bytes of the UTF-8 character at the start of the text; 0: invalid (RFC 3629, section 4). */
size_t sk_character_length(const char *start);

/* Copy the text, with \xNN for each byte that is not UTF-8 or belongs to a control character: those of ASCII and
 * Unicode (U+0080 to U+009F), line and paragraph separators, and characters that change the direction of writing. The
 * copy ends with a NUL, before the first character that does not fit. Return the bytes of the whole copy, without the
 * NUL. Escaping an escaped text does not change it. */
size_t sk_escape(char *escaped, size_t size, const char *text);

void sk_escape_print(const char *text, FILE *stream);

/* Print it as a table column, padded with spaces to `width` bytes. */
void sk_escape_print_column(const char *text, int width, FILE *stream);

enum { SK_LONGEST_IN_JSON = 6 }; /* "\\u001f" */

/* Write the character at the start of the text in its form in a JSON string, with a NUL appended: control characters as
 * above become escapes, since JSON is also shown on terminals, and each byte that is not UTF-8 becomes U+FFFD. Return
 * the character's bytes in the text. */
size_t sk_escape_json_character(const char *text, char shown[SK_LONGEST_IN_JSON + 1]);

/* ==== shape.c ====
 *
 * Shapes of tensors. Needs only the C library, so that the runtime can also use it. */

enum { SK_SHAPE_SIZE = 256 /* of a shape as text */ };

/* Print a shape such as "[64, 1024]"; return text. */
const char *sk_print_shape(uint32_t rank, const uint64_t *shape, char *text, size_t size);

/* True if names in expressions of sizes ("512*batch*seq") may contain the byte, or be the text, without quotes. */
bool sk_is_size_byte(char byte);
bool sk_is_size_name(const char *name);

/* ==== counts ====
 *
 * The end of a noun after its count: "1 launch", "2 launches". */

static inline const char *sk_ending(uint64_t count, const char *one, const char *several)
{
	return count == 1 ? one : several;
}

static inline const char *sk_plural(uint64_t count)
{
	return sk_ending(count, "", "s");
}

/* ==== identifier.c ====
 *
 * C identifiers from arbitrary names, one to one: the names of tasks and tensors in symbols and macros. */

/* Return the identifier of a name: itself, or a text in the arena. Letters, digits and underscores stay. _xHH, with two
 * upper-case hexadecimal digits, stands for each other byte, for a leading digit, and for an underscore before text
 * that looks like such an escape. Different names therefore have different identifiers. */
const char *sk_identifier(struct sk_arena *arena, const char *name);

/* ==== locale ====
 *
 * The C locale. libskrt is in programs of any locale, but its input, its output and the results of kernels must not
 * depend on that. (sklink, skdump and skrun never leave the C locale.) tests/house/house.sh checks both. */

/* Return the C locale for strtod_l and uselocale. It always exists, and must not be freed: it is the C library's only
 * one. */
static inline locale_t sk_c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* ==== nearest.c ====
 *
 * Suggestions for misspelt names. Needs only the C library, so that the runtime can also use it. */

/* Return the candidate nearest to the name, the first of equally near ones, and never the name itself; NULL if none is
 * near: at most a third of the name's letters may differ. */
const char *sk_nearest_name(const char *name, const char *const *candidates, size_t count);

/* The same for names from a function: name_of(context, i) is the i-th one. */
const char *sk_nearest_of(const char *name, size_t count, const char *(*name_of)(const void *context, uint32_t index),
			  const void *context);

/* True for names such as "layer_1" and "layer_12", or "gemm_f16" and "gemm_f32", which are not misspellings of each
 * other. */
bool sk_differ_in_digits_only(const char *a, const char *b);

/* ==== pattern.c ====
 *
 * Patterns of names, as in fnmatch(3): `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before one of these. */

/* True if the pattern matches the whole name. It takes at most length times length steps; a step at a set takes the
 * length of the set. */
bool sk_pattern_matches(const char *pattern, const char *name);

/* ==== table.c ====
 *
 * Tables for people: cells of text, row by row, are printed as aligned columns, two spaces apart. */

struct sk_table {
	struct sk_arena *arena;
	const char *columns; /* a letter for each column, 'l' or 'r': its alignment */
	SK_ARRAY(const char *) cells;
};

void sk_table_init(struct sk_table *table, struct sk_arena *arena, const char *columns);

/* Add the next cell, escaped: names come from files. */
void sk_table_cell(struct sk_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print and empty the table. Columns without text are omitted, lines do not end with spaces, and cells are padded to at
 * most 256 characters. */
void sk_table_print(struct sk_table *table, const char *indent, FILE *stream);

#endif
