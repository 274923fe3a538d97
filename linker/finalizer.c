/* Destructors of static objects at unload (Itanium C++ ABI, section 3.3.6). Code registers them by __cxa_atexit, with
 * the address of __dso_handle to identify the package; __cxa_finalize calls them. In a shared object crtbeginS.o has
 * both parts. Here the linker makes them: __dso_handle, and a destructor of the package that calls __cxa_finalize.
 * Another destructor frees memory that libstdc++.a keeps. dlclose and libskrt therefore need no special handling when
 * they unload a package.
 *
 * With -r the next linker makes both. */
#include <string.h>

#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* Add a word that holds the symbol's address. */
static sk_section add_word(struct sk_linker *linker, const char *name, enum sk_section_kind kind, sk_symbol address)
{
	sk_section section = sk_linker_add_section(linker, &(struct sk_section_spec){.name = name,
										     .kind = kind,
										     .alignment = sizeof(Elf64_Addr),
										     .size = sizeof(Elf64_Addr)});

	sk_linker_relocate(linker, section, 0, SK_RELOCATION_ADDRESS64, address, 0);
	return section;
}

/* Return whether an object that takes part refers to the symbol. Weak references count: crtbeginS.o would define it for
 * them as well, and code that finds no handle registers its destructors for the end of the process. */
static bool is_referenced(const struct sk_linker *linker, sk_symbol symbol)
{
	if (linker->symbols.items[symbol].wanted)
		return true;
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = object->first_global; object->pulled && j < object->symbol_count; j++)
			if (object->globals[j - object->first_global] == symbol)
				return true;
	}
	return false;
}

static void destroy_objects(struct sk_linker *linker)
{
	static const char handle_name[] = "__dso_handle", called_name[] = "__cxa_finalize";
	const struct sk_finalizer *code = &linker->architecture->finalizer;
	sk_symbol handle = sk_map_find(&linker->symbol_numbers, handle_name, strlen(handle_name));

	if (handle == SK_NONE || linker->symbols.items[handle].rank != SK_DEFINITION_NONE ||
	    !is_referenced(linker, handle))
		return;

	/* The handle holds its own address; the C library's atexit requires it. */
	sk_section word = add_word(linker, ".data.rel.ro.sk_handle", SK_SECTION_ADDRESSES, handle);

	sk_symbol_define(linker, handle, &linker->synthetic.items[word]->section, 0, sizeof(Elf64_Addr), STT_OBJECT);

	sk_section text = sk_linker_add_section(linker, &(struct sk_section_spec){.name = ".text.sk_finalize",
										  .kind = SK_SECTION_TEXT,
										  .alignment = 16,
										  .size = code->piece.size,
										  .pieces = &code->piece,
										  .piece_count = 1});
	sk_symbol own = sk_linker_define(linker, text, "sk_finalize", 0, code->piece.size, SK_SYMBOL_FUNCTION, false);

	sk_linker_relocate(linker, text, code->address, SK_RELOCATION_RELATIVE32, handle, code->addend);
	sk_linker_relocate(linker, text, code->call, SK_RELOCATION_CALL,
			   sk_symbol_intern(linker, called_name, strlen(called_name)), code->addend);
	/* The highest priority (outputs.c): it runs before all other destructors, as at the end of a process. */
	add_word(linker, ".fini_array.99999", SK_SECTION_DESTRUCTORS, own);
}

/* Free the emergency reserve for exceptions that a constructor of libstdc++.a allocates; no other code frees it. The
 * destructor has the lowest priority, because any other destructor may throw. */
static void free_reserve(struct sk_linker *linker)
{
	static const char name[] = "_ZN9__gnu_cxx9__freeresEv";
	sk_symbol function = sk_map_find(&linker->symbol_numbers, name, strlen(name));

	if (function != SK_NONE && linker->symbols.items[function].object)
		add_word(linker, ".fini_array.0", SK_SECTION_DESTRUCTORS, function);
}

void sk_finalizer_add(struct sk_linker *linker)
{
	if (linker->options.relocatable)
		return;
	destroy_objects(linker);
	free_reserve(linker);
}
