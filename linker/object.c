/* Validate once, then trust. Input: an object's bytes. Output: tables that every later pass may index without a check.
 *
 * This half, for every object and every member of an archive, checks
 *   - the ELF header: class, byte order, type, machine, sizes of records;
 *   - the section headers: names and their total length, that contents lie in the file and are together not
 *     larger, alignments, sizes;
 *   - the symbols: order, names and their total length, section numbers, values inside their sections, common
 *     symbols' alignments;
 *   - the signature records in .sk.kernels.
 * load.c checks the rest of those that take part in the link.
 *
 * Objects are read directly and not through libelf, which would have to copy every member of an archive that is not
 * aligned to eight bytes (most of them), and would check less. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "linker/linker-parts.h"
#include "linker/object.h"

/* Limits of alignments and of sizes of sections and common symbols: an object above them is damaged, and would only
 * overflow the image. */
#define MAXIMUM_ALIGNMENT ((uint64_t)1 << 24)
#define MAXIMUM_SIZE	  ((uint64_t)1 << 46)

static const struct sk_object_more nothing_more;

struct sk_object_more *sk_object_own_more(struct sk_arena *arena, struct sk_object *object)
{
	if (object->more == &nothing_more)
		object->more = SK_NEW(arena, struct sk_object_more);
	return (struct sk_object_more *)(uintptr_t)object->more;
}

uint32_t sk_object_names_section(const struct sk_object *object)
{
	const sk_elf_header *header = (const sk_elf_header *)object->bytes;

	return header->e_shstrndx == SHN_XINDEX ? object->headers[0].sh_link : header->e_shstrndx;
}

uint64_t sk_object_section_size(const struct sk_object *object, uint32_t section)
{
	return object->headers ? object->headers[section].sh_size : sk_object_section(object, section)->size;
}

static bool check_header(struct sk_reader *reader, struct sk_object *object)
{
	const sk_elf_header *header = (const sk_elf_header *)object->bytes;

	if (reader->object_size < sizeof(*header))
		return SK_BAD_OBJECT(reader, object, "the object is truncated in its ELF header");
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return SK_BAD_OBJECT(reader, object, "is not a 64-bit object");
	if (header->e_ident[EI_DATA] != ELFDATA2LSB)
		return SK_BAD_OBJECT(reader, object, "is not a little-endian object");
	if (header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT)
		return SK_BAD_OBJECT(reader, object, "has an unknown ELF version");
	if (header->e_type != ET_REL)
		return SK_BAD_OBJECT(reader, object, "is a %s, not a relocatable object",
				     header->e_type == ET_DYN	 ? "shared object or program"
				     : header->e_type == ET_EXEC ? "program"
				     : header->e_type == ET_CORE ? "core dump"
								 : "file of an unknown type");

	object->architecture = sk_architecture_find(header->e_machine);
	if (!object->architecture)
		return SK_BAD_OBJECT(reader, object, "is for ELF machine %u, which is not supported",
				     header->e_machine);
	if (header->e_ehsize != sizeof(Elf64_Ehdr) || header->e_shentsize != sizeof(Elf64_Shdr))
		return SK_BAD_OBJECT(reader, object, "has ELF headers of an unknown size");
	return true;
}

/* Return the contents of a section as a table of strings: it must end with a NUL. */
static bool check_strings(struct sk_reader *reader, struct sk_object *object, uint32_t section, const char **strings,
			  uint64_t *size)
{
	if (section == SHN_UNDEF || section >= object->header_count || object->headers[section].sh_type != SHT_STRTAB)
		return SK_BAD_OBJECT(reader, object, "section %u, which must hold names, is not a string table",
				     section);

	const sk_elf_section *header = &object->headers[section];

	if (!sk_within(header->sh_offset, header->sh_size, reader->object_size))
		return SK_BAD_OBJECT(reader, object, "the string table in section %u is truncated", section);
	if (!header->sh_size || object->bytes[header->sh_offset + header->sh_size - 1] != 0)
		return SK_BAD_OBJECT(reader, object, "the string table in section %u does not end with a NUL", section);
	*strings = (const char *)object->bytes + header->sh_offset;
	*size = header->sh_size;
	return true;
}

static bool check_section_table(struct sk_reader *reader, struct sk_object *object, uint64_t *names_size)
{
	const sk_elf_header *header = (const sk_elf_header *)object->bytes;
	uint64_t count = header->e_shnum, bytes;

	if (!sk_within(header->e_shoff, sizeof(Elf64_Shdr), reader->object_size) || header->e_shoff < sizeof(*header))
		return SK_BAD_OBJECT(reader, object, "the section headers are missing or lie outside the file");
	object->headers = (const sk_elf_section *)(object->bytes + header->e_shoff);
	if (count == 0) /* more than fit into the header (gABI, "ELF Header") */
		count = object->headers[0].sh_size;
	if (count == 0 || count >= UINT32_MAX)
		return SK_BAD_OBJECT(reader, object, "the number of sections, %llu, makes no sense",
				     (unsigned long long)count);
	if (!sk_mul(count, sizeof(Elf64_Shdr), &bytes) || !sk_within(header->e_shoff, bytes, reader->object_size))
		return SK_BAD_OBJECT(reader, object,
				     "the section headers lie outside the file; the object is truncated");
	object->header_count = (uint32_t)count;

	return check_strings(reader, object, sk_object_names_section(object), &object->section_names, names_size);
}

/* Names may be each other's ends, but copying and comparing thousands that are all ends of one long name would take
 * quadratic time. Compilers come nowhere near this limit of all names together, in sizes of the object. */
enum { NAMES_FACTOR = 16 };

/* Return whether so many names in a table of this size can exceed the limit. */
static bool may_be_long(const struct sk_reader *reader, uint64_t count, uint64_t size)
{
	return count > NAMES_FACTOR && size > reader->object_size / count * NAMES_FACTOR;
}

/* Check a name and add its length to *sum. */
static bool check_name(struct sk_reader *reader, const struct sk_object *object, const char *name, uint64_t *sum)
{
	*sum += strlen(name); /* stops after the limit: no overflow */
	if (*sum / NAMES_FACTOR > reader->object_size)
		return SK_BAD_OBJECT(reader, object,
				     "the names of its sections or symbols are together more than %d times "
				     "as long as the object itself",
				     NAMES_FACTOR);
	return true;
}

/* Pairs "symbol NUL signature NUL". */
static bool check_kernel_records(struct sk_reader *reader, struct sk_object *object, const sk_elf_section *header)
{
	const char *text = (const char *)object->bytes + header->sh_offset;
	struct sk_place place = {.file = sk_object_name(reader->arena, object), .section = ".sk.kernels"};
	size_t strings = 0;

	if (object->kernel_records) {
		sk_error(reader->diag, place, "the object has two of this section; join them with ld -r");
		return false;
	}
	if (header->sh_type != SHT_PROGBITS || (header->sh_flags & (SHF_COMPRESSED | SHF_ALLOC)) ||
	    header->sh_size >= UINT32_MAX) {
		sk_error(reader->diag, place, "the section must be plain, not loaded and not compressed");
		return false;
	}
	for (uint64_t at = 0; at < header->sh_size; strings++) {
		const char *end = memchr(text + at, 0, header->sh_size - at);

		place.offset = at;
		if (!end) {
			sk_error(reader->diag, place, "a signature record is not terminated");
			return false;
		}
		if (strings % 2 == 0 && end == text + at) {
			sk_error(reader->diag, place, "a signature record has no symbol");
			return false;
		}
		at = (uint64_t)(end - text) + 1;
	}
	if (strings % 2) {
		sk_error(reader->diag, place, "a symbol in the last signature record has no signature");
		return false;
	}
	object->kernel_records = text;
	object->kernel_records_size = (uint32_t)header->sh_size;
	return true;
}

static bool check_sections(struct sk_reader *reader, struct sk_object *object)
{
	uint64_t names_size, names_sum = 0, contents = 0;
	bool measured;

	if (!check_section_table(reader, object, &names_size))
		return false;
	measured = may_be_long(reader, object->header_count, names_size);
	for (uint32_t i = 1; i < object->header_count; i++) {
		const sk_elf_section *header = &object->headers[i];

		if (header->sh_name >= names_size)
			return SK_BAD_OBJECT(reader, object, "the name of section %u is not in the table of names", i);

		const char *name = object->section_names + header->sh_name;

		if (measured && !check_name(reader, object, name, &names_sum))
			return false;
		if (header->sh_type != SHT_NOBITS &&
		    !sk_within(header->sh_offset, header->sh_size, reader->object_size))
			return SK_BAD_OBJECT(reader, object, "section %s (number %u) ends after the end of the file",
					     name, i);
		/* Cannot overflow: sections of this many bytes were within the file. */
		contents += header->sh_type == SHT_NOBITS ? 0 : header->sh_size;
		if (contents > reader->object_size) /* gABI, "Sections": they may not overlap */
			return SK_BAD_OBJECT(reader, object, "sections overlap: they are larger than the object");
		if (header->sh_addralign > MAXIMUM_ALIGNMENT ||
		    (header->sh_addralign && !sk_is_power_of_two(header->sh_addralign)))
			return SK_BAD_OBJECT(reader, object, "section %s (number %u) has the impossible alignment %llu",
					     name, i, (unsigned long long)header->sh_addralign);
		if (header->sh_size > MAXIMUM_SIZE)
			return SK_BAD_OBJECT(reader, object, "section %s (number %u) has the impossible size %llu",
					     name, i, (unsigned long long)header->sh_size);
		if (header->sh_type == SHT_SYMTAB) {
			if (object->symbol_table)
				return SK_BAD_OBJECT(reader, object, "has two symbol tables");
			object->symbol_table = i;
		}
		if (sk_is_called(name, SK_STACK_NOTE))
			object->executable_stack = header->sh_flags & SHF_EXECINSTR;
		if (sk_is_called(name, ".sk.kernels") && !check_kernel_records(reader, object, header))
			return false;
	}
	return true;
}

/* Return whether the object has sections of intermediate code, and nothing to link. */
static bool is_intermediate(const struct sk_object *object)
{
	bool found = false;

	for (uint32_t i = 1; i < object->header_count; i++) {
		const sk_elf_section *header = &object->headers[i];

		if ((header->sh_flags & SHF_ALLOC) && header->sh_size && header->sh_type != SHT_NOTE)
			return false;
		found |= !strncmp(sk_object_section_name(object, i), ".gnu.lto_", strlen(".gnu.lto_"));
	}
	return found;
}

static bool check_symbol(struct sk_reader *reader, struct sk_object *object, uint32_t i, uint64_t names_size)
{
	const sk_elf_symbol *symbol = &object->symbols[i];
	bool local = i < object->first_global;
	unsigned binding = ELF64_ST_BIND(symbol->st_info);

	if (symbol->st_name >= names_size)
		return SK_BAD_OBJECT(reader, object, "the name of symbol %u is not in the table of names", i);
	if (local ? binding != STB_LOCAL : binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE)
		return SK_BAD_OBJECT(reader, object, "symbol %u has binding %u, which it cannot have there", i,
				     binding);
	if (!local && !object->names[symbol->st_name])
		return SK_BAD_OBJECT(reader, object, "global symbol %u has no name", i);

	uint32_t section = symbol->st_shndx;

	if (section == SHN_UNDEF) {
		if (local && i)
			return SK_BAD_OBJECT(reader, object, "local symbol %u is not defined", i);
		return true;
	}
	if (section == SHN_ABS)
		return true;
	if (section == SHN_COMMON) {
		if (symbol->st_size > MAXIMUM_SIZE || symbol->st_value > MAXIMUM_ALIGNMENT ||
		    (symbol->st_value && !sk_is_power_of_two(symbol->st_value)) || local)
			return SK_BAD_OBJECT(reader, object, "common symbol %u is damaged", i);
		return true;
	}
	if (section == object->architecture->far_common)
		return SK_BAD_OBJECT(reader, object,
				     "'%s' is a common symbol of the large code model, which is not supported; "
				     "recompile with -fno-common, or without -mcmodel=medium and -mcmodel=large",
				     object->names + symbol->st_name);
	if (section == SHN_XINDEX && object->more->far_sections)
		section = object->more->far_sections[i];
	else if (section >= SHN_LORESERVE)
		section = UINT32_MAX;
	if (!sk_object_has_section(object, section))
		return SK_BAD_OBJECT(reader, object, "symbol %u (%s) is in a section that does not exist", i,
				     object->names + symbol->st_name);
	if (symbol->st_value > object->headers[section].sh_size)
		return SK_BAD_OBJECT(reader, object, "symbol %u (%s) lies outside its section %s", i,
				     object->names + symbol->st_name, sk_object_section_name(object, section));
	return true;
}

/* Cut the default versions ("foo@@V2") off the names of definitions, since the plain name means the default version.
 * The names take `size` bytes. */
static void cut_versions(struct sk_reader *reader, struct sk_object *object, uint64_t size)
{
	char *names;

	if (!memchr(object->names, '@', size))
		return;
	names = sk_arena_alloc(reader->arena, size, 1);
	memcpy(names, object->names, size);
	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		char *name = names + object->symbols[i].st_name, *at = strstr(name, "@@");

		if (object->symbols[i].st_shndx != SHN_UNDEF && at && at != name && at[2])
			*at = '\0';
	}
	sk_object_own_more(reader->arena, object)->versioned_names = object->names;
	object->names = names;
}

static bool check_symbols(struct sk_reader *reader, struct sk_object *object)
{
	if (!object->symbol_table)
		return true;

	const sk_elf_section *header = &object->headers[object->symbol_table];
	uint64_t names_size, names_sum = 0, count = header->sh_size / sizeof(Elf64_Sym);
	bool measured;

	if (header->sh_entsize != sizeof(Elf64_Sym) || header->sh_size % sizeof(Elf64_Sym) || count >= UINT32_MAX)
		return SK_BAD_OBJECT(reader, object, "the symbol table's size is wrong");
	if (header->sh_info > count)
		return SK_BAD_OBJECT(reader, object, "the symbol table has more local symbols than symbols");
	if (!check_strings(reader, object, header->sh_link, &object->names, &names_size))
		return false;
	object->symbols = (const sk_elf_symbol *)(object->bytes + header->sh_offset);
	object->symbol_count = (uint32_t)count;
	object->first_global = header->sh_info ? header->sh_info : count ? 1 : 0;

	for (uint32_t i = 1; i < object->header_count; i++) {
		const sk_elf_section *far = &object->headers[i];

		/* Tools that do not know it, such as `ld -r`, renumber the symbols and lose sh_link. */
		if (far->sh_type == SHT_LLVM_ADDRSIG && far->sh_link == object->symbol_table) {
			struct sk_object_more *more = sk_object_own_more(reader->arena, object);

			more->significant_symbols = object->bytes + far->sh_offset;
			more->significant_size = far->sh_size;
		}
		if (far->sh_type != SHT_SYMTAB_SHNDX || far->sh_link != object->symbol_table)
			continue;
		if (far->sh_size / sizeof(uint32_t) < count)
			return SK_BAD_OBJECT(reader, object, "the table of symbols' section numbers is too short");
		sk_object_own_more(reader->arena, object)->far_sections =
			(const sk_elf_word *)(object->bytes + far->sh_offset);
	}
	measured = may_be_long(reader, count, names_size);
	for (uint32_t i = 0; i < object->symbol_count; i++)
		if (!check_symbol(reader, object, i, names_size) ||
		    (measured && !check_name(reader, object, object->names + object->symbols[i].st_name, &names_sum)))
			return false;
	cut_versions(reader, object, names_size);
	return true;
}

enum sk_object_result sk_object_open(struct sk_reader *reader, const struct sk_object_source *source,
				     struct sk_object **result)
{
	struct sk_object *object = SK_NEW(reader->arena, struct sk_object);

	*object = (struct sk_object){.path = source->path,
				     .member = source->member,
				     .member_length = source->member_length,
				     .transient = source->transient,
				     .bytes = source->bytes,
				     .more = &nothing_more};
	reader->object_size = source->size;
	if (!check_header(reader, object) || !check_sections(reader, object))
		return SK_OBJECT_BAD;
	if (is_intermediate(object))
		return SK_OBJECT_INTERMEDIATE;
	if (!check_symbols(reader, object))
		return SK_OBJECT_BAD;
	*result = object;
	return SK_OBJECT_READY;
}
