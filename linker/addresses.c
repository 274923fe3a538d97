/* Symbols that the caller passes to functions by address: callbacks and tables that signatures name. Input: a name, and
 * a function; the name is looked up in the function's object. Output: the symbol, or the reason why it has no usable
 * address. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/import-row.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

static bool is_named(const struct sk_object *object, uint32_t index, const char *name)
{
	return !strcmp(object->names + object->symbols[index].st_name, name);
}

/* Find the object's local symbol of that name. Return SK_NONE if there is none, or if there are several, which *reason
 * says. */
static uint32_t find_local(struct sk_linker *linker, const struct sk_object *object, const char *name,
			   const char **reason)
{
	uint32_t found = SK_NONE;

	for (uint32_t i = 1; i < object->first_global; i++) {
		uint8_t type = ELF64_ST_TYPE(object->symbols[i].st_info);

		if (type == STT_SECTION || type == STT_FILE || !is_named(object, i, name))
			continue;
		if (found != SK_NONE)
			*reason = sk_arena_print(linker->arena, "several local symbols of %s have this name",
						 sk_object_name(linker->arena, object));
		found = i;
	}
	return *reason ? SK_NONE : found;
}

/* Return the symbol that the object's own references to that name mean. */
static sk_symbol find_global(struct sk_linker *linker, const struct sk_object *object, const char *name)
{
	sk_symbol symbol;

	for (uint32_t i = object ? object->first_global : 0; object && i < object->symbol_count; i++)
		if (is_named(object, i, name))
			return object->globals[i - object->first_global];
	symbol = sk_alias_reference(linker, name);
	sk_symbol_want(linker, symbol, object);
	return symbol;
}

/* Return the same symbol for every caller. */
static sk_symbol local_symbol(struct sk_linker *linker, struct sk_object *object, uint32_t index)
{
	for (size_t i = 0; i < linker->handed.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->handed.items[i]];

		if (symbol->local && symbol->object == object && symbol->index == index)
			return linker->handed.items[i];
	}
	return sk_local_symbol(linker, object, index);
}

/* Return why the address cannot be used, or NULL if a package can have it in its code. Packages name the addresses that
 * they hand out, so that they can be compared with the symbol table's. */
static const char *address_obstacle(struct sk_linker *linker, const char *name, const struct sk_target *target)
{
	const char *found = linker->symbols.items[target->symbol].name;

	if (strcmp(found, name) != 0)
		return sk_arena_print(linker->arena, "an option makes the name mean '%s'; use that name", found);
	switch (target->kind) {
	case SK_TARGET_DEFINED:
		return NULL;
	case SK_TARGET_IMPORT:
		return linker->symbols.items[target->symbol].import->class == SK_IMPORT_ENDS
			       ? "it ends the launch that calls it"
			       : NULL;
	case SK_TARGET_DATA:
		return "it is data of the C library; its address is known only when the package is loaded";
	case SK_TARGET_ABSOLUTE:
		return "it is a number, not a place";
	case SK_TARGET_THREAD_LOCAL:
		return "it is thread-local, and so at another address in every thread";
	case SK_TARGET_INDIRECT:
		return "it is an IFUNC; name the implementation that you want instead";
	default:
		return "no input defines it";
	}
}

sk_symbol sk_linker_find_address(struct sk_linker *linker, sk_symbol function, const char *name, const char **reason)
{
	struct sk_object *object = linker->symbols.items[function].object;
	uint32_t local;
	sk_symbol symbol;

	*reason = NULL;
	local = object ? find_local(linker, object, name, reason) : SK_NONE;
	if (*reason)
		return SK_NONE;
	symbol = local == SK_NONE ? find_global(linker, object, name) : local_symbol(linker, object, local);
	if (!sk_symbols_resolve(linker))
		return SK_NONE;

	struct sk_target target = sk_symbol_target(linker, symbol);

	*reason = address_obstacle(linker, name, &target);
	sk_array_push(linker->arena, &linker->handed, symbol);
	return *reason ? SK_NONE : symbol;
}
