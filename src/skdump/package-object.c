/* Links an object of sklink -r in memory. Only relative relocations matter, since plans and dispatchers have no others.
 * Undefined symbols, for example kernels that the program's linker finds, get addresses with zeros after the file. A
 * copy is relocated, so that the effects of a damaged file cannot reach libelf. */
#include "src/skdump/skdump.h"

#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/relocation-types.h"
#include "stubs/dispatcher/dispatcher.h"

struct linking {
	struct sk_arena *arena;
	Elf *elf;
	struct sk_package_file *file;
	uint8_t *bytes;
	GElf_Shdr *headers; /* by section number */
	size_t count;
	const struct sk_emitter *machine;
};

static bool is_loaded(const GElf_Shdr *header)
{
	return (header->sh_flags & SHF_ALLOC) && header->sh_type != SHT_NOBITS;
}

/* Reserve space for each symbol that may be undefined. */
static const char *place_undefined(struct linking *linking)
{
	struct sk_package_file *file = linking->file;
	uint64_t symbols = 0, size;

	for (size_t i = 1; i < linking->count; i++)
		if (linking->headers[i].sh_type == SHT_SYMTAB && linking->headers[i].sh_size > symbols)
			symbols = linking->headers[i].sh_size;
	if (symbols > file->size || !sk_align(file->size, SK_UNDEFINED_ROOM, &file->undefined))
		return "its symbol table is damaged";
	symbols /= sizeof(Elf64_Sym);
	size = symbols * SK_UNDEFINED_ROOM;
	linking->bytes = sk_arena_alloc(linking->arena, file->undefined + size, 1);
	memcpy(linking->bytes, file->bytes, file->size);
	if (size)
		sk_array_push(linking->arena, &file->segments,
			      (struct sk_file_segment){
				      .start = file->undefined, .end = file->undefined + size, .executable = true});
	return NULL;
}

static const char *read_sections(struct linking *linking)
{
	struct sk_package_file *file = linking->file;
	Elf_Scn *section = NULL;

	if (elf_getshdrnum(linking->elf, &linking->count) < 0)
		return "its section headers are damaged";
	linking->headers = SK_NEW_ARRAY(linking->arena, GElf_Shdr, linking->count + 1);
	while ((section = elf_nextscn(linking->elf, section)) != NULL) {
		GElf_Shdr *header = &linking->headers[elf_ndxscn(section)];

		if (!gelf_getshdr(section, header))
			return "its section headers are damaged";
		if (!is_loaded(header))
			continue;
		if (!sk_within(header->sh_offset, header->sh_size, file->size))
			return "it is cut off: a section reaches beyond the end of the file";
		sk_array_push(linking->arena, &file->segments,
			      (struct sk_file_segment){.start = header->sh_offset,
						       .end = header->sh_offset + header->sh_size,
						       .writable = header->sh_flags & SHF_WRITE,
						       .executable = header->sh_flags & SHF_EXECINSTR});
	}
	return NULL;
}

/* Return false if the symbol has no address. */
static bool address_of(const struct linking *linking, const GElf_Sym *symbol, uint64_t number, uint64_t *address)
{
	if (symbol->st_shndx == SHN_UNDEF && number) {
		*address = linking->file->undefined + number * SK_UNDEFINED_ROOM;
		return true;
	}
	if (symbol->st_shndx >= linking->count || !is_loaded(&linking->headers[symbol->st_shndx]))
		return false;
	*address = linking->headers[symbol->st_shndx].sh_offset + symbol->st_value;
	return true;
}

/* Write the reference if S has an address; a reference out of range stays unchanged. */
static void apply_relocation(const struct linking *linking, const GElf_Shdr *target, const GElf_Rela *relocation,
			     const GElf_Sym *symbol)
{
	const struct sk_relocation_table *machine = linking->machine->relocations;
	uint32_t type = (uint32_t)GELF_R_TYPE(relocation->r_info);
	uint64_t place = target->sh_offset + relocation->r_offset, address;

	if ((type != machine->relative32 && type != machine->call) ||
	    !sk_within(relocation->r_offset, machine->types[type].width, target->sh_size) ||
	    !address_of(linking, symbol, GELF_R_SYM(relocation->r_info), &address))
		return;
	sk_relocation_apply(machine, type, linking->bytes + place, address + (uint64_t)relocation->r_addend - place,
			    place);
}

static void relocate(const struct linking *linking, const GElf_Shdr *table)
{
	const GElf_Shdr *target = table->sh_info < linking->count ? &linking->headers[table->sh_info] : NULL;
	Elf_Scn *symbol_section = elf_getscn(linking->elf, table->sh_link);
	Elf_Scn *section = elf_getscn(linking->elf, (size_t)(table - linking->headers));
	Elf_Data *data = elf_getdata(section, NULL), *symbols = elf_getdata(symbol_section, NULL);
	GElf_Rela relocation;
	GElf_Sym symbol;

	if (!target || !is_loaded(target) || !data || !symbols || table->sh_link >= linking->count ||
	    linking->headers[table->sh_link].sh_type != SHT_SYMTAB)
		return;
	for (int i = 0; gelf_getrela(data, i, &relocation); i++)
		if (gelf_getsym(symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
			apply_relocation(linking, target, &relocation, &symbol);
}

const char *sk_package_object_link(struct sk_arena *arena, Elf *elf, struct sk_package_file *file)
{
	struct linking linking = {.arena = arena, .elf = elf, .file = file};
	const char *error = read_sections(&linking);
	GElf_Ehdr header;

	if (error || (error = place_undefined(&linking)) != NULL)
		return error;
	/* References are unknown for an unknown machine. */
	linking.machine = gelf_getehdr(elf, &header) ? sk_emitter_find(header.e_machine) : NULL;
	for (size_t i = 1; linking.machine && i < linking.count; i++)
		if (linking.headers[i].sh_type == SHT_RELA)
			relocate(&linking, &linking.headers[i]);
	file->bytes = linking.bytes;
	return NULL;
}
