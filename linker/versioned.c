/* Versions in the names of objects' symbols, as .symver makes them. Input: objects. Output: symbols without their
 * default versions. A definition foo@@V2 defines both foo and foo@V2. foo@V1 is another symbol, which gets a meaning
 * only from a version script, as in GNU ld. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* Return the default version that has been cut off the name of a definition, or NULL. */
static const char *default_version(const struct sk_object *object, uint32_t index)
{
	uint32_t name = object->symbols[index].st_name;
	const char *whole = object->more->versioned_names;

	if (!whole)
		return NULL;
	whole += name + strlen(object->names + name);
	return *whole ? whole + strlen("@@") : NULL;
}

const char *sk_version_reference(const struct sk_linker *linker, const char *name)
{
	const char *at = strchr(name, '@');
	uint32_t number = at ? sk_map_find(&linker->symbol_numbers, name, (size_t)(at - name)) : SK_NONE;
	const struct sk_import *import = number != SK_NONE ? linker->symbols.items[number].import : NULL;

	return import && !linker->options.relocatable && !strcmp(import->version, at + 1) ? import->name : name;
}

void sk_version_define(struct sk_linker *linker, const struct sk_object *object, uint32_t index, sk_symbol number)
{
	const char *version = default_version(object, index), *name;
	struct sk_linker_symbol *symbol;

	if (!version)
		return;
	name = sk_arena_print(linker->arena, "%s@%s", object->names + object->symbols[index].st_name, version);
	symbol = &linker->symbols.items[sk_symbol_intern(linker, name, strlen(name))];
	if (symbol->rank != SK_DEFINITION_NONE || symbol->first_definition != SK_NONE)
		return;
	symbol->alias = number;
	sk_array_push(linker->arena, &linker->versioned, sk_symbol_intern(linker, name, strlen(name)));
	if (symbol->wanted)
		sk_symbol_want(linker, number, symbol->wanted_by);
}

bool sk_versions_hold(struct sk_linker *linker)
{
	bool hold = true;

	for (size_t i = 0; i < linker->versioned.count; i++) {
		struct sk_linker_symbol *symbol = &linker->symbols.items[linker->versioned.items[i]];
		const struct sk_linker_symbol *meant = &linker->symbols.items[symbol->alias];
		const char *version = strchr(symbol->name, '@') + 1;
		const char *has = meant->object ? default_version(meant->object, meant->index) : NULL;

		if (!symbol->wanted || !meant->object || meant->alias != SK_NONE || (has && !strcmp(has, version)))
			continue;
		sk_error(linker->diag, sk_symbol_place(linker->arena, meant->object, meant->index),
			 "symbol %s is defined here without the version %s that a reference has; the definition "
			 "with the version comes too late: name its file first",
			 meant->name, version);
		symbol->wanted = false;
		hold = false;
	}
	return hold;
}

static uint16_t find_version(const struct sk_linker *linker, const char *name)
{
	for (size_t i = 0; i < linker->defined_versions.count; i++)
		if (!strcmp(linker->defined_versions.items[i].name, name))
			return (uint16_t)(SK_FIRST_VERSION + i);
	return 0;
}

void sk_version_check(struct sk_linker *linker, const struct sk_object *object, uint32_t index)
{
	const char *name = object->names + object->symbols[index].st_name, *at = strchr(name, '@');

	if (at && at[1] && !linker->options.relocatable && !find_version(linker, at + 1))
		sk_error(linker->diag, sk_symbol_place(linker->arena, object, index),
			 "symbol %s is of the version %s, which no version script defines; give one that does "
			 "(--version-script), or compile without .symver",
			 name, at + 1);
}

uint16_t sk_version_own(const struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[sk_alias_follow(linker, number)];
	const char *version = symbol->object ? default_version(symbol->object, symbol->index) : NULL;

	return version ? find_version(linker, version) : 0;
}
