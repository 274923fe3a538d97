/* Both readers of packages, for tests of damaged ones. Nothing in the package is run. */
#ifndef SK_TESTS_PACKAGE_READERS_H
#define SK_TESTS_PACKAGE_READERS_H

#include <stdbool.h>
#include <stddef.h>

/* libskrt: loads the package as for a run, with segments mapped, relocated and protected, checks the plan, and prepares
 * every launch. With a public key the package must be signed by it. False with the reason, which ends the process if
 * there is none. */
bool readers_load(const char *path, bool check_integrity, const unsigned char *public_key, char *reason, size_t size);

/* skdump: opens the package, proves its plan, makes its dispatchers again, and looks whether libskrt would load it. */
bool readers_prove(const char *path);

#endif
