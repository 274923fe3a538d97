/* Makes the dispatchers of a package again from its plan, and puts them into their places in the file: for tests that
 * change the plan of a package and want matching code, like an attacker who knows what skdump --verify compares. */
#ifndef SK_TESTS_MATCH_CODE_H
#define SK_TESTS_MATCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Put the dispatchers of the plan in the file into the bytes, which are the file's, where they fit. Return true if that
 * changed any. */
bool match_code(const char *path, uint8_t *bytes, size_t size);

#endif
