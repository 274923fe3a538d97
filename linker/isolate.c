/* --isolate-objects: equal names in different objects mean different things. Every definition gets a symbol of its own,
 * which its object's references mean; so no two definitions meet, be they strong, weak or common, and members of COMDAT
 * groups and linkonce sections, which are definitions too, are not shared. The symbol that all other references to the
 * name mean is bound when it is wanted: to the first definition in the order of the inputs, where, as usual, objects
 * that take part in any case come before archives' members, and among them strong definitions before common ones before
 * weak ones. What the command line assigns (aliases.c) beats all, as ever. */
#include "linker/internal.h"

sk_symbol sk_isolated_symbol(struct sk_linker *linker, sk_symbol name)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[name];
	bool traced = symbol->traced;

	if (!linker->options.isolate_objects || symbol->rank == SK_DEFINITION_ASSIGNED)
		return name;

	sk_symbol own = sk_symbol_add(linker, symbol->name, symbol->name_length);

	linker->symbols.items[own].traced = traced;
	return own;
}

static enum sk_definition_rank rank_of(const struct sk_linker *linker, const struct sk_definition *definition)
{
	const struct sk_object *object = linker->objects.items[definition->object];

	if (!linker->inputs.items[object->input].whole)
		return SK_DEFINITION_NONE;
	return sk_definition_rank(&object->symbols[definition->index]);
}

bool sk_isolated_bind(struct sk_linker *linker, sk_symbol name)
{
	const struct sk_definition *definitions = linker->definitions.items, *best = NULL;

	for (uint32_t i = linker->symbols.items[name].first_definition; i != SK_NONE; i = definitions[i].next)
		if (!best || rank_of(linker, &definitions[i]) > rank_of(linker, best))
			best = &definitions[i];
	if (!best)
		return true;

	struct sk_object *object = linker->objects.items[best->object];
	uint32_t index = best->index;
	bool ok = sk_object_pull(linker, object); /* may add definitions: theirs move */
	struct sk_linker_symbol *symbol = &linker->symbols.items[name];

	symbol->alias = object->globals[index - object->first_global];
	symbol->rank = linker->symbols.items[symbol->alias].rank;
	symbol->object = object;
	symbol->index = index;
	return ok;
}
