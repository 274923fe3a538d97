/* The table of importable functions, as stubs/imports.def lists them. */
#include <string.h>

#include "linker/symbol.h"

enum import_class { PURE, LOCKING, STATE, ENDS };

const struct sk_import sk_imports[] = {
#define SK_IMPORT(name, library, version, class) {#name, library, version, class == STATE},
#include "stubs/imports.def"
#undef SK_IMPORT
};

const uint32_t sk_import_count = sizeof(sk_imports) / sizeof(sk_imports[0]);

bool sk_is_library_data(const char *name)
{
	static const char *const names[] = {"stdin",	 "stdout",   "stderr", "environ",
					    "__environ", "optarg",   "optind", "signgam",
					    "timezone",	 "daylight", "tzname", "program_invocation_name"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
