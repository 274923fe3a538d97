/* Functions of one name in several objects. A second strong definition is an error, unless the name cannot be
 * misunderstood:
 *
 * - Kernels that name their object use it. Then each of these objects has a function of its own, as if it were static,
 *   which its own references mean.
 * - Nothing uses it. Then it does not matter which one the name means.
 *
 * In both cases no object without a strong definition may refer to the name, nor may a kernel that names no object, an
 * option or an export.
 *
 * A kernel that names its object also keeps a weak function if another object replaces it for all others. Of equal
 * groups all objects have the first one's function. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* Give the object a symbol of its own for its definition, if this is a function without a version. */
static void separate(struct sk_linker *linker, struct sk_duplicate *duplicate)
{
	struct sk_object *object = duplicate->object;
	const sk_elf_symbol *raw = &object->symbols[duplicate->index];
	uint32_t section = sk_object_symbol_section(object, duplicate->index);

	if (duplicate->separate || ELF64_ST_TYPE(raw->st_info) != STT_FUNC || !section || object->more->versioned_names)
		return;
	object->globals[duplicate->index - object->first_global] = sk_local_symbol(linker, object, duplicate->index);
	duplicate->separate = true;
}

void sk_duplicate_add(struct sk_linker *linker, sk_symbol number, struct sk_object *object, uint32_t index)
{
	struct sk_duplicate duplicate = {.symbol = number, .object = object, .index = index};

	sk_array_push(linker->arena, &linker->duplicates, duplicate);
	if (linker->symbols.items[number].kernel)
		separate(linker, &linker->duplicates.items[linker->duplicates.count - 1]);
}

/* Return whether it is a weak definition that is not of a group that an object before has, too. */
static bool is_weak(const struct sk_object *object, uint32_t index)
{
	uint32_t section = sk_object_symbol_section(object, index);

	return sk_definition_rank(&object->symbols[index]) == SK_DEFINITION_WEAK && section &&
	       !sk_object_section(object, section)->discarded;
}

void sk_duplicates_keep(struct sk_linker *linker, sk_symbol number, struct sk_object *object, uint32_t index)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (is_weak(object, index) && object->globals[index - object->first_global] == number &&
	    symbol->rank != SK_DEFINITION_ASSIGNED && symbol->alias == SK_NONE)
		sk_duplicate_add(linker, number, object, index);
	linker->symbols.items[number].kernel = true;
	for (size_t i = 0; i < linker->duplicates.count; i++)
		if (linker->duplicates.items[i].symbol == number)
			separate(linker, &linker->duplicates.items[i]);
}

/* ---- the decision ---- */

/* Return whether a relocation of the object refers to its definition by name. */
static bool refers(const struct sk_object *object, uint32_t index)
{
	for (uint32_t i = 0; i < object->part_count; i++)
		for (uint32_t j = 0; j < object->parts[i].relocation_count; j++)
			if (ELF64_R_SYM(object->parts[i].relocations[j].r_info) == index)
				return true;
	return false;
}

/* Return whether references of an object to its weak or common definition mean another object's. */
static bool is_replaced(const struct sk_linker *linker, sk_symbol number)
{
	const struct sk_definition *definitions = linker->definitions.items;

	for (uint32_t i = linker->symbols.items[number].first_definition; i != SK_NONE; i = definitions[i].next) {
		const struct sk_object *object = linker->objects.items[definitions[i].object];

		if (object->pulled && object->globals[definitions[i].index - object->first_global] == number &&
		    sk_definition_rank(&object->symbols[definitions[i].index]) < SK_DEFINITION_STRONG)
			return true;
	}
	return false;
}

/* Return whether the name cannot be misunderstood. */
static bool is_clear(const struct sk_linker *linker, const struct sk_duplicate *duplicate)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[duplicate->symbol];

	if (is_weak(duplicate->object, duplicate->index))
		return true;
	if (symbol->wanted || symbol->referred || symbol->exported || !symbol->object ||
	    is_replaced(linker, duplicate->symbol))
		return false;
	return duplicate->separate ||
	       (!symbol->kernel && symbol->type == STT_FUNC && !refers(duplicate->object, duplicate->index) &&
		!refers(symbol->object, symbol->index));
}

static void report(struct sk_linker *linker, const struct sk_duplicate *duplicate)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[duplicate->symbol];
	const struct sk_object *object = duplicate->object;

	sk_error(linker->diag, sk_symbol_place(linker->arena, object, duplicate->index), "duplicate symbol: %s",
		 sk_demangled(linker, symbol->name));
	if (symbol->object)
		sk_note(linker->diag, "first defined at %s",
			sk_place_text(linker->arena, sk_symbol_place(linker->arena, symbol->object, symbol->index)));
	else
		sk_note(linker->diag, "first defined in the package's own code");
	if (duplicate->separate && symbol->wanted_by)
		sk_note(linker->diag, "%s refers to it, and defines none",
			sk_object_name(linker->arena, symbol->wanted_by));
	if (symbol->object && !linker->told_isolation) {
		sk_note(linker->diag,
			"--isolate-objects lets each object have its own; --isolate-objects=%s only this one",
			sk_object_file_name(linker->arena, object));
		linker->told_isolation = true;
	}
}

void sk_duplicates_check(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->duplicates.count; i++) {
		struct sk_duplicate *duplicate = &linker->duplicates.items[i];

		if (duplicate->reported || is_clear(linker, duplicate))
			continue;
		report(linker, duplicate);
		duplicate->reported = true;
	}
}

const char *sk_duplicate_text(struct sk_linker *linker, const struct sk_duplicate *duplicate)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[duplicate->symbol];

	if (!symbol->object || symbol->object == duplicate->object)
		return NULL;
	return sk_arena_print(linker->arena, "%s in %s, and another one in %s", sk_demangled(linker, symbol->name),
			      sk_object_name(linker->arena, duplicate->object),
			      sk_object_name(linker->arena, symbol->object));
}
