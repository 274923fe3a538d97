/* The imports that packages may have, with their addresses: those of the C library that libskrt itself is bound to.
 * Functions that would end the process end the call of package code instead. Functions about loaded or unloaded objects
 * (class SERVED) are libskrt's own, and know packages. Imports that only the machine's own libraries have are looked up
 * when a package needs them, so that libskrt itself does not need these libraries. */
#include "config.h"

#include "loader/image/image.h"

#include <dlfcn.h>
#include <string.h>

#include "loader/arch/machine.h"
#include "loader/core/core.h"

/* Declare them as functions without a type, data included, under names of ours, so that they cannot conflict with
 * headers and built-ins. */
#define DECLARE_PURE(name)    extern void import_##name(void) __asm__(#name);
#define DECLARE_LOCALE(name)  DECLARE_PURE(name)
#define DECLARE_LOCKING(name) DECLARE_PURE(name)
#define DECLARE_STATE(name)   DECLARE_PURE(name)
#define DECLARE_ENDS(name)                                                                                             \
	static _Noreturn void import_##name(void)                                                                      \
	{                                                                                                              \
		sk_call_end(#name, __builtin_return_address(0));                                                       \
	}
#define DECLARE_SERVED(name)
#define SK_IMPORT(name, library, version, class) DECLARE_##class(name)
#define SK_IMPORT_DATA				 SK_IMPORT
#define SK_IMPORT_THREAD(name, library, version, class)
#define SK_IMPORT_POINTER(name, pointee, library, version, class) SK_IMPORT(name, library, version, class)
#include "format/import-row.h"
#include "format/imports.def"
#undef SK_IMPORT
#undef SK_IMPORT_DATA
#undef SK_IMPORT_POINTER
#undef SK_IMPORT_THREAD

/* In the order of the rows; NULL for functions of libskrt's own. */
static void (*const addresses[])(void) = {
#define ADDRESS_PURE(name)					  import_##name
#define ADDRESS_LOCALE(name)					  import_##name
#define ADDRESS_LOCKING(name)					  import_##name
#define ADDRESS_STATE(name)					  import_##name
#define ADDRESS_ENDS(name)					  import_##name
#define ADDRESS_SERVED(name)					  NULL
#define SK_IMPORT(name, library, version, class)		  ADDRESS_##class(name),
#define SK_IMPORT_THREAD(name, library, version, class)		  NULL,
#define SK_IMPORT_DATA						  SK_IMPORT
#define SK_IMPORT_POINTER(name, pointee, library, version, class) SK_IMPORT(name, library, version, class)
#include "format/imports.def"
#undef SK_IMPORT
#undef SK_IMPORT_DATA
#undef SK_IMPORT_POINTER
#undef SK_IMPORT_THREAD
};

/* The class SERVED. */
static const struct {
	const char *name;
	void (*function)(void);
} served[] = {
	{"__cxa_atexit", (void (*)(void))sk_exit_function_add},
	{"__cxa_finalize", (void (*)(void))sk_exit_functions_call},
	{"dl_iterate_phdr", (void (*)(void))sk_visit_objects},
	{"__tls_get_addr", (void (*)(void))sk_thread_storage_find},
#ifdef SK_FINDS_OBJECTS
	{"_dl_find_object", (void (*)(void))sk_find_object},
#endif
};

static void (*find_served(const char *name))(void)
{
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (!strcmp(served[i].name, name))
			return served[i].function;
	return NULL;
}

/* Return NULL if the library is missing, or older than the list. It stays loaded, because packages hold its
 * addresses. */
static void (*ask_library(const struct sk_import *row))(void)
{
	void *library = dlopen(row->library, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlvsym(library, row->name, row->version) : NULL;
	void (*function)(void);

	memcpy(&function, &symbol, sizeof(function)); /* POSIX allows the conversion, C does not */
	return function;
}

const struct sk_import *sk_import_row(size_t number, const char **machine)
{
	bool common = number < sk_imports.count;
	const struct sk_import_list *list = common ? &sk_imports : sk_machine_imports();
	size_t index = common ? number : number - sk_imports.count;

	*machine = list->machine;
	return index < list->count ? &list->rows[index] : NULL;
}

void (*sk_import_find(const char *name, enum sk_import_class *class))(void)
{
	const struct sk_import *row;
	const char *machine;

	for (size_t i = 0; (row = sk_import_row(i, &machine)); i++) {
		if (row->name[0] != name[0] || strcmp(row->name, name))
			continue;
		*class = row->class;
		if (row->class == SK_IMPORT_SERVED)
			return find_served(name);
		return machine ? ask_library(row) : addresses[i];
	}
	return NULL;
}
