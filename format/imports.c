/* The import list for all machines, as a table. */
#include "format/import-row.h"

static const struct sk_import rows[] = {
#define SK_IMPORT	  SK_IMPORT_FUNCTION_ROW
#define SK_IMPORT_DATA	  SK_IMPORT_DATA_ROW
#define SK_IMPORT_POINTER SK_IMPORT_POINTER_ROW
#define SK_IMPORT_THREAD  SK_IMPORT_THREAD_ROW
#include "format/imports.def"
#undef SK_IMPORT
#undef SK_IMPORT_DATA
#undef SK_IMPORT_POINTER
#undef SK_IMPORT_THREAD
};

const struct sk_import_list sk_imports = {NULL, rows, sizeof(rows) / sizeof(rows[0])};
