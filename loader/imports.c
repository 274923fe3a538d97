/* The table of functions that packages may import, made from stubs/imports.def. The addresses are those of the C
 * library that libskrt itself is bound to. Functions that would end the process end the launch instead: they jump back
 * to the runtime's call of the package's code. */
#include "config.h"

#include "loader/imports.h"

#include <stdlib.h>
#include <string.h>

/* The innermost call into package code on this thread. */
static _Thread_local struct sk_guard *innermost;

int sk_guard_call(struct sk_guard *guard, int (*run)(void *context), void *context)
{
	guard->function = NULL;
	guard->caller = NULL;
	guard->outer = innermost;
	innermost = guard;
	/* _setjmp saves no signal mask: a system call each launch would be too much. */
	int result = 0;
	if (_setjmp(guard->jump) == 0)
		result = run(context);
	innermost = guard->outer;
	return result;
}

static _Noreturn void leave(const char *function, const void *caller)
{
	struct sk_guard *guard = innermost;

	/* A thread of the package's own making: there is no launch to end. */
	if (!guard)
		abort();
	guard->function = function;
	guard->caller = caller;
	_longjmp(guard->jump, 1);
}

/* Declared as functions without a type of their own under names of ours, so that no header and no built-in can
 * disagree. */
#define DECLARE_PURE(name)    extern void import_##name(void) __asm__(#name);
#define DECLARE_LOCKING(name) DECLARE_PURE(name)
#define DECLARE_ENDS(name)                                                                                             \
	static _Noreturn void import_##name(void)                                                                      \
	{                                                                                                              \
		leave(#name, __builtin_return_address(0));                                                             \
	}
#define SK_IMPORT(name, library, version, class) DECLARE_##class(name)
#include "stubs/imports.def"
#undef SK_IMPORT

static const struct {
	const char *name;
	void (*function)(void);
} imports[] = {
#define SK_IMPORT(name, library, version, class) {#name, import_##name},
#include "stubs/imports.def"
#undef SK_IMPORT
};

void (*sk_import_find(const char *name))(void)
{
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		if (imports[i].name[0] == name[0] && !strcmp(imports[i].name, name))
			return imports[i].function;
	return NULL;
}
