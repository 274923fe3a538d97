/* The package whose code a call runs, as far as that code depends on who has loaded it. */
#ifndef SK_LOADER_LOADED_H
#define SK_LOADER_LOADED_H

#include <dlfcn.h>

#include "loader/core/thread-storage.h"

/* glibc has it from 2.35 on. */
#ifdef DLFO_EH_SEGMENT_TYPE
#define SK_FINDS_OBJECTS 1
#endif

struct dl_phdr_info;

struct sk_package {
	struct sk_thread_storage storage;
	uintptr_t start, end; /* where it lies */
	bool calls_others; /* what it imports may read the locale, or come to places where threads are cancelled */
	void *frames; /* its PT_GNU_EH_FRAME: the table by which its unwind information is found; NULL: it has none */
};

#ifdef SK_FINDS_OBJECTS
/* What packages call as _dl_find_object: what lies at the address, as far as who unwinds wants to know it. */
int sk_find_object(void *address, struct dl_find_object *result);
#endif

/* What they call as dl_iterate_phdr: visits what has been loaded until a visit's result is not 0, and returns that. */
int sk_visit_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data);

#endif
