/* Debuggers learn of packages. gdb asks the dynamic linker which libraries there are, and that one does not know of
 * packages; but gdb also asks everybody who defines the symbols of its JIT interface ("JIT Compilation Interface" in
 * its manual). What is registered there for a package is a small ELF image: the sections at the addresses where they
 * lie, without contents, and as .gnu_debuglink the package's own file, from which gdb takes symbols, lines and unwind
 * tables, as it does from a stripped library's file of debug information. */
#ifndef SK_LOADER_DEBUGGER_H
#define SK_LOADER_DEBUGGER_H

#include <stdbool.h>

#include "loader/image/image.h"

struct sk_debugger_entry;

/* Whether somebody looks: SKRT_GDB is 1 in the environment or, if it is not set, a debugger traced the process when
 * this was first asked. */
bool sk_debugger_wanted(void);

/* Tells debuggers of the image, which was mapped from the file; path is its name, or anything if it has none. NULL if
 * that cannot be done: it is no error to have nothing to look at. */
struct sk_debugger_entry *sk_debugger_register(const struct sk_image *image, const char *path, int file);

/* Takes it back. NULL is allowed. */
void sk_debugger_unregister(struct sk_debugger_entry *entry);

#endif
