/* Contents of objects for drafts; see draft-parts.h. Input: an ELF file that libelf has opened. */
#include "src/draft/draft-parts.h"

#include <gelf.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/relocation-types.h"

/* Those of the machines that packages can be for; the drafts are about objects of the first one. */
#define SK_MACHINE(name) &sk_relocations_##name,
static const struct sk_relocation_table *const machines[] = {
#include "format/machines.def"
};
#undef SK_MACHINE

enum { LONGEST_TEXT = 65536 };

static void add_symbols(struct sk_arena *arena, struct sk_draft_object *object, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(section, &header))
		return;
	for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(object->elf, header.sh_link, symbol.st_name);
		struct sk_draft_symbol entry = {.name = name,
						.place = {symbol.st_shndx, symbol.st_value},
						.size = symbol.st_size,
						.type = GELF_ST_TYPE(symbol.st_info),
						.binding = GELF_ST_BIND(symbol.st_info)};

		if (!name || symbol.st_shndx == SHN_UNDEF)
			continue;
		sk_map_insert(&object->names, name, strlen(name), (uint32_t)object->symbols.count);
		sk_array_push(arena, &object->symbols, entry);
	}
}

bool sk_draft_open(struct sk_arena *arena, Elf *elf, struct sk_draft_object *object)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr header;

	*object = (struct sk_draft_object){.elf = elf};
	sk_map_init(&object->names, arena);
	if (!gelf_getehdr(elf, &header) || header.e_type != ET_REL)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr section_header;

		if (gelf_getshdr(section, &section_header) && section_header.sh_type == SHT_SYMTAB)
			add_symbols(arena, object, section);
	}
	return true;
}

const struct sk_draft_symbol *sk_draft_find(const struct sk_draft_object *object, const char *name)
{
	uint32_t index = sk_map_find(&object->names, name, strlen(name));

	return index != SK_NONE ? &object->symbols.items[index] : NULL;
}

const struct sk_draft_symbol *sk_draft_function_at(const struct sk_draft_object *object, struct sk_draft_place place)
{
	for (size_t i = 0; i < object->symbols.count; i++) {
		const struct sk_draft_symbol *symbol = &object->symbols.items[i];

		if (symbol->type == STT_FUNC && symbol->place.section == place.section &&
		    symbol->place.offset == place.offset)
			return symbol;
	}
	return NULL;
}

/* Return the bytes from the place to the end of its section, and their number; NULL: there is no such place. */
static const uint8_t *rest_of(const struct sk_draft_object *object, struct sk_draft_place place, uint64_t *size)
{
	Elf_Scn *section = place.section ? elf_getscn(object->elf, place.section) : NULL;
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf || place.offset > data->d_size)
		return NULL;
	*size = data->d_size - place.offset;
	return (const uint8_t *)data->d_buf + place.offset;
}

const uint8_t *sk_draft_bytes(const struct sk_draft_object *object, struct sk_draft_place place, uint64_t size)
{
	uint64_t rest;
	const uint8_t *from = rest_of(object, place, &rest);

	return from && size <= rest ? from : NULL;
}

uint64_t sk_draft_number(const struct sk_draft_object *object, struct sk_draft_place place, uint64_t bytes)
{
	const uint8_t *from = sk_draft_bytes(object, place, bytes);
	uint64_t number = 0;

	for (uint64_t i = 0; from && i < bytes; i++)
		number |= (uint64_t)from[i] << 8 * i;
	return number;
}

const char *sk_draft_text(const struct sk_draft_object *object, struct sk_draft_place place)
{
	uint64_t rest;
	const uint8_t *from = rest_of(object, place, &rest);

	return from && memchr(from, 0, rest < LONGEST_TEXT ? rest : LONGEST_TEXT) ? (const char *)from : NULL;
}

/* Return the place that a relocation means, or none. */
static struct sk_draft_place target_of(const struct sk_draft_object *object, size_t table, const GElf_Rela *relocation)
{
	Elf_Scn *section = elf_getscn(object->elf, table);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	uint64_t type = GELF_R_TYPE(relocation->r_info);
	GElf_Sym symbol;

	if (!data || !gelf_getsym(data, (int)GELF_R_SYM(relocation->r_info), &symbol))
		return (struct sk_draft_place){0};

	const struct sk_relocation_type *row = sk_relocation_type_find(machines[0], (uint32_t)type);
	uint64_t place = symbol.st_value + (uint64_t)relocation->r_addend;

	if (!row || (row->expression != SK_EXPRESSION_WORD && row->expression != SK_EXPRESSION_RELATIVE))
		return (struct sk_draft_place){0};
	/* Code counts from the end of the instruction, which is that of the field. */
	return (struct sk_draft_place){symbol.st_shndx,
				       place + (row->expression == SK_EXPRESSION_RELATIVE ? row->width : 0)};
}

struct sk_draft_place sk_draft_follow(const struct sk_draft_object *object, struct sk_draft_place place)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(object->elf, section))) {
		Elf_Data *data;
		GElf_Shdr header;
		GElf_Rela relocation;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || header.sh_info != place.section)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getrela(data, i, &relocation); i++)
			if (relocation.r_offset == place.offset)
				return target_of(object, header.sh_link, &relocation);
	}
	return (struct sk_draft_place){0};
}
