/* A row of the import list, which is format/imports.def and what the machine adds to it, as linker, libskrt and skdump
 * see it. The classes are explained there. */
#ifndef SK_IMPORT_ROW_H
#define SK_IMPORT_ROW_H

#include <stdbool.h>
#include <stddef.h>

enum sk_import_class {
	SK_IMPORT_PURE,
	SK_IMPORT_LOCALE,
	SK_IMPORT_LOCKING,
	SK_IMPORT_STATE,
	SK_IMPORT_ENDS,
	SK_IMPORT_SERVED
};

struct sk_import {
	const char *name, *library, *version;
	enum sk_import_class class;
	bool data; /* no function: reached by its address alone */
	bool thread_local; /* data of which each thread has its own: reached by its distance from the thread pointer */
	const char *pointee; /* of data: the row whose address it holds; NULL: it is no such pointer */
};

/* Rows of one origin. */
struct sk_import_list {
	const char *machine; /* whose libraries alone have it; NULL: every machine's */
	const struct sk_import *rows;
	size_t count;
};

/* format/imports.def. */
extern const struct sk_import_list sk_imports;

#define SK_MACHINE(name) extern const struct sk_import_list sk_imports_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* What SK_IMPORT, SK_IMPORT_DATA, SK_IMPORT_POINTER and SK_IMPORT_THREAD are defined as for an array of rows. */
#define SK_IMPORT_FUNCTION_ROW(name, library, version, class)                                                          \
	{#name, library, version, SK_IMPORT_##class, false, false, NULL},
#define SK_IMPORT_DATA_ROW(name, library, version, class)                                                              \
	{#name, library, version, SK_IMPORT_##class, true, false, NULL},
#define SK_IMPORT_POINTER_ROW(name, pointee, library, version, class)                                                  \
	{#name, library, version, SK_IMPORT_##class, true, false, #pointee},
#define SK_IMPORT_THREAD_ROW(name, library, version, class)                                                            \
	{#name, library, version, SK_IMPORT_##class, true, true, NULL},

#endif
