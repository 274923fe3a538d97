/* The import list of x86-64 alone, as a table. */
#include "format/import-row.h"

static const struct sk_import rows[] = {
#define SK_IMPORT SK_IMPORT_FUNCTION_ROW
#include "format/x86_64/imports.def"
#undef SK_IMPORT
};

const struct sk_import_list sk_imports_x86_64 = {"x86-64", rows, sizeof(rows) / sizeof(rows[0])};
