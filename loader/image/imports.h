/* What packages may import, and how their code is kept from ending the process. */
#ifndef SK_LOADER_IMPORTS_H
#define SK_LOADER_IMPORTS_H

#include <stdbool.h>

/* The address of a function of stubs/imports.def, or NULL. Those of the class ENDS get a function that ends the call
 * that the thread runs. *locking: it may hold a lock of the C library. */
void (*sk_import_find(const char *name, bool *locking))(void);

#endif
