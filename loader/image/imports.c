/* The table of functions that packages may import, made from stubs/imports.def. The addresses are those of the C
 * library that libskrt itself is bound to. Functions that would end the process end the call of package code instead.
 */
#include "config.h"

#include "loader/image/imports.h"

#include <stdlib.h>
#include <string.h>

#include "loader/core/call.h"

/* Declared as functions without a type of their own under names of ours, so that no header and no built-in can
 * disagree. */
#define DECLARE_PURE(name)    extern void import_##name(void) __asm__(#name);
#define DECLARE_LOCKING(name) DECLARE_PURE(name)
#define DECLARE_STATE(name)   DECLARE_PURE(name)
#define DECLARE_ENDS(name)                                                                                             \
	static _Noreturn void import_##name(void)                                                                      \
	{                                                                                                              \
		sk_call_end(#name, __builtin_return_address(0));                                                       \
	}
#define SK_IMPORT(name, library, version, class) DECLARE_##class(name)
#include "stubs/imports.def"
#undef SK_IMPORT

enum import_class { PURE, LOCKING, STATE, ENDS };

static const struct {
	const char *name;
	void (*function)(void);
	enum import_class class;
} imports[] = {
#define SK_IMPORT(name, library, version, class) {#name, import_##name, class},
#include "stubs/imports.def"
#undef SK_IMPORT
};

void (*sk_import_find(const char *name, bool *locking))(void)
{
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
		if (imports[i].name[0] != name[0] || strcmp(imports[i].name, name))
			continue;
		*locking = imports[i].class == LOCKING || imports[i].class == STATE;
		return imports[i].function;
	}
	return NULL;
}
