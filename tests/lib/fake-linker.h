/* A linker without objects, which answers the questions of src/bind/kernels from a table. */
#ifndef SK_TESTS_FAKE_LINKER_H
#define SK_TESTS_FAKE_LINKER_H

#include "linker/linker.h"

/* A function in a file. Archives have names that end with ".a", their members "lib.a(m.o)". */
struct fake_function {
	const char *object; /* "k.o" or "lib.a(m.o)" */
	const char *symbol;
	const char *signature; /* NULL: no record */
	uint32_t state; /* number of the writable section it reaches; 0: none */
	bool not_a_function; /* found, but refused with an error */
	const char *thread_storage; /* the thread-local section it reaches; NULL: none */
	uint32_t isa; /* levels of x86-64 that it needs */
	const char *barrier; /* in which threads wait, that it reaches; NULL: none */
};

/* The files exist on the search paths; the caller adds those of the command line with sk_linker_add_file. */
struct sk_linker *fake_linker_create(struct sk_arena *arena, struct sk_diag *diag,
				     const struct fake_function *functions, size_t count);

/* True if sk_linker_find_kernel has returned the function: its member has been pulled. */
bool fake_linker_pulled(const struct sk_linker *linker, const char *symbol);

#endif
