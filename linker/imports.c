/* The functions and objects that packages may import, as symbols of the link. */
#include <string.h>

#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

void sk_imports_enter(struct sk_linker *linker, const struct sk_import_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sk_import *row = &list->rows[i];
		sk_symbol symbol = sk_symbol_intern(linker, row->name, strlen(row->name));

		linker->symbols.items[symbol].import = row;
	}
}

/* Return whether it is a barrier: a function that kernels call to wait for all threads of a pool or a team (ggml's,
 * OpenMP's, POSIX's). */
bool sk_is_barrier(const char *name)
{
	static const char *const names[] = {"ggml_barrier",   "GOMP_barrier",	       "GOMP_barrier_cancel",
					    "__kmpc_barrier", "__kmpc_cancel_barrier", "pthread_barrier_wait"};
	static const char prefix[] = "ggml_threadpool_";

	/* Called for every relocation; the first letter usually decides. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (*name == *names[i] && !strcmp(name, names[i]))
			return true;
	return *name == *prefix && !strncmp(name, prefix, strlen(prefix));
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
