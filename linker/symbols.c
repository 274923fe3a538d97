/* The table of names. Input: objects' global symbols, which are interned and hashed once. Output: numbers in the table,
 * and for each the list of all definitions of all inputs, and whether it is wanted. resolve.c chooses among them.
 * Definitions by the linker, its caller or the command line (aliases.c) are also entered here. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

sk_symbol sk_symbol_add(struct sk_linker *linker, const char *name, size_t length)
{
	sk_array_push(linker->arena, &linker->symbols,
		      (struct sk_linker_symbol){.name = name,
						.name_length = (uint32_t)length,
						.first_definition = SK_NONE,
						.last_definition = SK_NONE,
						.alias = SK_NONE,
						.slot = SK_NONE,
						.stub = SK_NONE,
						.first_user = SK_NONE,
						.last_user = SK_NONE});
	return (sk_symbol)linker->symbols.count - 1;
}

sk_symbol sk_symbol_intern(struct sk_linker *linker, const char *name, size_t length)
{
	uint32_t fresh = (uint32_t)linker->symbols.count;
	uint32_t number = sk_map_insert(&linker->symbol_numbers, name, length, fresh);

	return number == fresh ? sk_symbol_add(linker, name, length) : number;
}

static void enqueue(struct sk_linker *linker, sk_symbol symbol)
{
	sk_array_push(linker->arena, &linker->wanted, symbol);
}

void sk_symbol_add_definition(struct sk_linker *linker, sk_symbol number, uint32_t object, uint32_t index)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	uint32_t definition = (uint32_t)linker->definitions.count;

	sk_array_push(linker->arena, &linker->definitions, (struct sk_definition){object, index, SK_NONE});
	if (symbol->last_definition == SK_NONE)
		symbol->first_definition = definition;
	else
		linker->definitions.items[symbol->last_definition].next = definition;
	symbol->last_definition = definition;
	if (symbol->wanted && symbol->rank == SK_DEFINITION_NONE)
		enqueue(linker, number);
}

void sk_symbol_want(struct sk_linker *linker, sk_symbol number, const struct sk_object *by)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->alias != SK_NONE) {
		symbol->wanted = true;
		sk_symbol_want(linker, symbol->alias, by);
		return;
	}
	if (symbol->wanted)
		return;
	symbol->wanted = true;
	symbol->wanted_by = by;
	if (symbol->rank == SK_DEFINITION_NONE)
		enqueue(linker, number);
}

enum sk_definition_rank sk_definition_rank(const sk_elf_symbol *symbol)
{
	if (symbol->st_shndx == SHN_COMMON)
		return SK_DEFINITION_COMMON;
	return ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? SK_DEFINITION_WEAK : SK_DEFINITION_STRONG;
}

void sk_symbol_provide(struct sk_linker *linker, sk_symbol number, struct sk_input_section *section)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->rank != SK_DEFINITION_NONE)
		return;
	symbol->rank = SK_DEFINITION_PROVIDED;
	symbol->section = section;
}

void sk_symbol_define(struct sk_linker *linker, sk_symbol number, struct sk_input_section *section, uint64_t value,
		      uint64_t size, uint8_t type)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->rank >= SK_DEFINITION_STRONG) {
		sk_error(linker->diag, (struct sk_place){0}, "duplicate symbol: %s",
			 sk_demangled(linker, symbol->name));
		if (symbol->object)
			sk_note(linker->diag, "defined at %s",
				sk_place_text(linker->arena,
					      sk_symbol_place(linker->arena, symbol->object, symbol->index)));
		sk_note(linker->diag, "defined in the package's own code");
		return;
	}
	symbol->rank = SK_DEFINITION_STRONG;
	symbol->alias = SK_NONE;
	symbol->object = NULL;
	symbol->section = section;
	symbol->value = value;
	symbol->size = size;
	symbol->type = type;
}

uint64_t sk_size_within(const struct sk_input_section *section, uint64_t value, uint64_t size)
{
	uint64_t room = value < section->size ? section->size - value : 0;

	return size < room ? size : room;
}

sk_symbol sk_isolated_symbol(struct sk_linker *linker, sk_symbol name)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[name];
	bool traced = symbol->traced;

	if (symbol->rank == SK_DEFINITION_ASSIGNED)
		return name;

	sk_symbol own = sk_symbol_add(linker, symbol->name, symbol->name_length);

	linker->symbols.items[own].traced = traced;
	return own;
}
