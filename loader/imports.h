/* What packages may import, and how their code is kept from ending the process. */
#ifndef SK_LOADER_IMPORTS_H
#define SK_LOADER_IMPORTS_H

#include <setjmp.h>

/* The address of a function of stubs/imports.def, or NULL. Those of the class ENDS get a function that leaves the
 * innermost sk_guard_call of the calling thread. */
void (*sk_import_find(const char *name))(void);

struct sk_guard {
	const char *function; /* afterwards: NULL, or the function of the class ENDS that was called */
	const void *caller; /* and where it would have returned to */
	struct sk_guard *outer;
	jmp_buf jump;
};

/* Calls run(context), from which package code is called, and returns its value; 0 if the code called a function of the
 * class ENDS. */
int sk_guard_call(struct sk_guard *guard, int (*run)(void *context), void *context);

#endif
