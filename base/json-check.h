/* Whether a text is JSON (RFC 8259), of which nothing is kept. */
#ifndef SK_JSON_CHECK_H
#define SK_JSON_CHECK_H

/* Where the text stops being one value in JSON, in UTF-8, with blanks around it; NULL: nowhere. Lists and objects lie
 * at most 64 deep in each other. */
const char *sk_json_find_error(const char *text);

#endif
