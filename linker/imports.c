/* What packages for every machine may import, as stubs/imports.def lists it. */
#include <string.h>

#include "linker/link.h"
#include "linker/symbol.h"

const struct sk_import sk_imports[] = {
#define SK_IMPORT	  SK_IMPORT_FUNCTION_ROW
#define SK_IMPORT_DATA	  SK_IMPORT_DATA_ROW
#define SK_IMPORT_POINTER SK_IMPORT_POINTER_ROW
#include "stubs/imports.def"
#undef SK_IMPORT
#undef SK_IMPORT_DATA
#undef SK_IMPORT_POINTER
};

const uint32_t sk_import_count = sizeof(sk_imports) / sizeof(sk_imports[0]);

void sk_imports_enter(struct sk_linker *linker, const struct sk_import *imports, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sk_symbol symbol = sk_symbol_intern(linker, imports[i].name, strlen(imports[i].name));

		linker->symbols.items[symbol].import = &imports[i];
	}
}

bool sk_is_library_data(const char *name)
{
	static const char *const names[] = {"stdin",   "environ",  "__environ", "optarg", "optind",
					    "signgam", "timezone", "daylight",	"tzname", "program_invocation_name"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
