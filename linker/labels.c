/* Functions that need a label in the symbol table. Input: functions with labels. Output: whether another function of
 * the image has the same name and size. Static functions of several objects, and definitions of isolated objects, can
 * have both in common. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* The functions of one name and one size. */
struct twins {
	const struct sk_input_section *section; /* the section of one of them, which is a kernel */
	uint64_t value;
	uint64_t size; /* as its symbol gives it */
	bool apart; /* another one lies elsewhere */
};

struct labelling {
	struct sk_linker *linker;
	struct sk_arena *arena;
	struct sk_map by_key;
	SK_ARRAY(struct twins) twins;
};

static void compare_section(struct twins *twins, const struct sk_input_section *section, uint64_t value)
{
	twins->apart |= twins->section != section || twins->value != value;
}

/* Return the key: the size as in the symbol table, and the name. */
static sk_bytes symbol_key(struct labelling *labelling, const char *name, const struct sk_input_section *section,
			   uint64_t value, uint64_t size)
{
	const uint64_t within = sk_size_within(section, value, size);
	const size_t length = strlen(name);
	sk_bytes key = {.count = sizeof(within) + length};

	key.items = sk_arena_alloc(labelling->arena, key.count, 1);
	memcpy(key.items, &within, sizeof(within));
	memcpy(key.items + sizeof(within), name, length);
	return key;
}

/* Return the number of the labelled function's twins, or SK_NONE if it is an import or not in the image. */
static uint32_t add_labelled(struct labelling *labelling, sk_symbol code)
{
	struct sk_linker *linker = labelling->linker;
	const struct sk_target target = sk_symbol_target(linker, code);
	uint32_t fresh = (uint32_t)labelling->twins.count, number;
	sk_bytes key;

	if (!target.section || !target.section->output)
		return SK_NONE;
	key = symbol_key(labelling, linker->symbols.items[code].name, target.section, target.value,
			 linker->symbols.items[target.symbol].size);
	number = sk_map_insert(&labelling->by_key, (const char *)key.items, key.count, fresh);
	if (number == fresh)
		sk_array_push(labelling->arena, &labelling->twins,
			      (struct twins){.section = target.section,
					     .value = target.value,
					     .size = linker->symbols.items[target.symbol].size});
	compare_section(&labelling->twins.items[number], target.section, target.value);
	return number;
}

/* Return whether the symbol is that of the first of these twins, which holds for most symbols with a kernel's name. */
static bool is_first(const struct labelling *labelling, uint32_t number, const struct sk_input_section *section,
		     const sk_elf_symbol *symbol)
{
	const struct twins *twins = &labelling->twins.items[number];

	return twins->section == section && twins->value == symbol->st_value && twins->size == symbol->st_size;
}

/* Compare the object's definitions, kernels or not, that have the name of a kernel. The key is therefore made for
 * few. */
static void compare_functions(struct labelling *labelling, const struct sk_map *names, const struct sk_object *object)
{
	for (uint32_t i = 1; i < object->symbol_count; i++) {
		const sk_elf_symbol *symbol = &object->symbols[i];
		const char *name = object->names + symbol->st_name;
		uint32_t part = sk_object_symbol_section(object, i), number;

		if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !part ||
		    (number = sk_map_find(names, name, strlen(name))) == SK_NONE)
			continue;

		const struct sk_input_section *section = sk_section_follow(sk_object_section(object, part));

		if (is_first(labelling, number, section, symbol))
			continue;

		const sk_bytes key = symbol_key(labelling, name, section, symbol->st_value, symbol->st_size);

		number =
			section->output ? sk_map_find(&labelling->by_key, (const char *)key.items, key.count) : SK_NONE;
		if (number != SK_NONE)
			compare_section(&labelling->twins.items[number], section, symbol->st_value);
	}
}

void sk_labels_choose(struct sk_linker *linker, struct sk_arena *arena)
{
	struct labelling labelling = {.linker = linker, .arena = arena};
	uint32_t *numbers = SK_NEW_ARRAY(arena, uint32_t, linker->labels.count);
	struct sk_map names;

	sk_map_init(&labelling.by_key, arena);
	sk_map_init(&names, arena);
	sk_map_reserve(&labelling.by_key, linker->labels.count);
	sk_map_reserve(&names, linker->labels.count);
	for (size_t i = 0; i < linker->labels.count; i++) {
		const char *name = linker->symbols.items[linker->labels.items[i].code].name;

		numbers[i] = add_labelled(&labelling, linker->labels.items[i].code);
		if (numbers[i] != SK_NONE)
			sk_map_insert(&names, name, strlen(name), numbers[i]);
	}
	for (size_t i = 0; linker->labels.count && i < linker->objects.count; i++)
		if (linker->objects.items[i]->pulled)
			compare_functions(&labelling, &names, linker->objects.items[i]);
	for (size_t i = 0; i < linker->labels.count; i++)
		linker->labels.items[i].needed = numbers[i] != SK_NONE && labelling.twins.items[numbers[i]].apart;
}
