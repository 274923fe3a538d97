/* Text from files for people's eyes. Names in manifests, objects and packages are any bytes; nothing of them may steer
 * a terminal, or look like something else there. Needs nothing but the C library, so that the runtime can use it, too.
 */
#ifndef SK_ESCAPE_H
#define SK_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

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

#endif
