/* Rows of the import list: those of format/imports.def and the machine's own, as linker, libskrt and skdump see them.
 * imports.def explains the classes. */
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
	bool data; /* not a function: reached by its address */
	bool thread_local; /* thread-local data: reached by its distance from the thread pointer */
	const char *pointee; /* of data: the row of the data that it points to; NULL: not a pointer */
};

/* Rows of one origin. */
struct sk_import_list {
	const char *machine; /* the machine with these libraries; NULL: every machine */
	const struct sk_import *rows;
	size_t count;
};

/* The rows of format/imports.def. */
extern const struct sk_import_list sk_imports;

#define SK_MACHINE(name) extern const struct sk_import_list sk_imports_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* Definitions of SK_IMPORT, SK_IMPORT_DATA, SK_IMPORT_POINTER and SK_IMPORT_THREAD for an array of rows. */
#define SK_IMPORT_FUNCTION_ROW(name, library, version, class)                                                          \
	{#name, library, version, SK_IMPORT_##class, false, false, NULL},
#define SK_IMPORT_DATA_ROW(name, library, version, class)                                                              \
	{#name, library, version, SK_IMPORT_##class, true, false, NULL},
#define SK_IMPORT_POINTER_ROW(name, pointee, library, version, class)                                                  \
	{#name, library, version, SK_IMPORT_##class, true, false, #pointee},
#define SK_IMPORT_THREAD_ROW(name, library, version, class)                                                            \
	{#name, library, version, SK_IMPORT_##class, true, true, NULL},

#endif
