/* What packages may import, and how their code is kept from ending the process. */
#ifndef SK_LOADER_IMPORTS_H
#define SK_LOADER_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "format/import-row.h"

/* The address of what stands on the import list, or NULL. Functions of the class ENDS get one that ends the call that
 * the thread runs; data gets its address. *class is what the list says. */
void (*sk_import_find(const char *name, enum sk_import_class *class))(void);

/* The rows of the list. NULL: there are no more. *machine: whose libraries alone have it, or NULL. */
const struct sk_import *sk_import_row(size_t number, const char **machine);

#endif
