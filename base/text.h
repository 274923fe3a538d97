/* Texts: how they grow, are escaped, compared, matched, laid out in columns, and read in the C locale. */
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
 * A text that grows as it is printed: a stream into memory. When the system has no more of it, the process ends with a
 * message, as for everything that is in an arena. */

struct sk_text {
	FILE *stream; /* to print to */
	char *bytes; /* once it is closed; NUL-terminated */
	size_t size;
};

void sk_text_open(struct sk_text *text);

/* Closes the stream. The text is in the arena then. */
void sk_text_close(struct sk_arena *arena, struct sk_text *text);

/* ==== dot.c ====
 *
 * Texts in files for Graphviz. */

/* What stands between the quotes of a string, so that a label shows the text: as people may see it (text.h), with
 * backslashes, quotes and what would begin an entity of HTML escaped. */
void sk_dot_print(const char *text, FILE *stream);

/* ==== escape.c ====
 *
 * Text from files for people's eyes. Names in manifests, objects and packages are any bytes; nothing of them may steer
 * a terminal, or look like something else there. Needs nothing but the C library, so that the runtime can use it, too.
 */

/* Bytes of the UTF-8 character at the start of the text; 0: it is none (RFC 3629, section 4). */
size_t sk_character_length(const char *start);

/* Copies the text, with \xNN for each byte of what is no UTF-8 or a control character: of ASCII, of Unicode (U+0080 to
 * U+009F), ends of lines and paragraphs, and those that turn the direction of writing. Ends in NUL, and in front of the
 * first character for which there is no room. Returns the bytes that the whole text takes, without the NUL. What has
 * been escaped is not changed by it. */
size_t sk_escape(char *escaped, size_t size, const char *text);

void sk_escape_print(const char *text, FILE *stream);

/* In a column of a table: with spaces behind it, up to `width` bytes. */
void sk_escape_print_column(const char *text, int width, FILE *stream);

enum { SK_LONGEST_IN_JSON = 6 }; /* "\\u001f" */

/* The character at the start of the text as it stands in a string of JSON, with a NUL behind it: the control characters
 * of above as escapes, since JSON is shown on terminals, too, and U+FFFD for each byte of what is no UTF-8. Returns how
 * many bytes of the text that is. */
size_t sk_escape_json_character(const char *text, char shown[SK_LONGEST_IN_JSON + 1]);

/* As a string in JSON, with its quotes. */
void sk_escape_json(const char *text, FILE *stream);

/* ==== identifier.c ====
 *
 * Identifiers of C out of names that are any text, one to one: what tasks and tensors are called in symbols and macros.
 */

/* Letters, digits and underscores of the name stay. _xHH, with two upper-case hexadecimal digits, stands for each other
 * byte, for a digit at the beginning, and for an underscore in front of what would look like this; so different names
 * have different identifiers. The name itself, or in the arena. */
const char *sk_identifier(struct sk_arena *arena, const char *name);

/* ==== locale ====
 *
 * The C locale. libskrt is in programs of any locale: what it reads and writes, and what kernels compute, does not
 * depend on that. (sklink, skdump and skrun never leave the C locale.) tests/house/house.sh holds the tree to both. */

/* For strtod_l and uselocale. It is always there, and nobody frees it: it is the C library's own, of which there is
 * one. */
static inline locale_t sk_c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* ==== nearest.c ====
 *
 * The name that a misspelt one was meant to be. Needs nothing but the C library, so that the runtime can use it, too.
 */

/* The candidate nearest to the name, the first of equally near ones, and never the name itself; NULL if none is near:
 * at most a third of the name's letters differ. */
const char *sk_nearest_name(const char *name, const char *const *candidates, size_t count);

/* The same of names that a function tells: name_of(context, i) is the i-th one. */
const char *sk_nearest_of(const char *name, size_t count, const char *(*name_of)(const void *context, uint32_t index),
			  const void *context);

/* "layer_1" and "layer_12": names that are counted, or "gemm_f16" and "gemm_f32". Nobody has mistaken one for the
 * other.
 */
bool sk_differ_in_digits_only(const char *a, const char *b);

/* ==== pattern.c ====
 *
 * Patterns of names, as fnmatch(3) has them: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` in front of one of these. */

/* True if the pattern is the whole name. It takes no more than length times length steps, of which those at a set take
 * its length. */
bool sk_pattern_matches(const char *pattern, const char *name);

/* ==== table.c ====
 *
 * Tables for people: cells of text come in, row by row; out come aligned columns, two spaces apart. */

struct sk_table {
	struct sk_arena *arena;
	const char *columns; /* a letter per column: 'l' or 'r', for its side */
	SK_ARRAY(const char *) cells;
};

void sk_table_init(struct sk_table *table, struct sk_arena *arena, const char *columns);

/* Adds the next cell, escaped: names come from files. */
void sk_table_cell(struct sk_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints and empties the table. A column without any text is left out, no line ends in spaces, and no cell is padded
 * beyond 256 characters. */
void sk_table_print(struct sk_table *table, const char *indent, FILE *stream);

#endif
