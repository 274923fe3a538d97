/* Validate once, then trust, part two. Input: an object that takes part in the link. Output: its sections. This half
 * checks
 *   - section types and flags, and whether strings and records of the section can be joined;
 *   - groups: that their members exist and are in one group only;
 *   - relocations of loaded sections and of debug information: targets, symbols, that every field lies in its section;
 *   - .eh_frame (frames.c), .note.gnu.property (notes.c).
 * Sections that are neither loaded nor debug information are dropped, so their contents are not checked. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

enum { SHT_CREL_TYPE = 0x40000014 }; /* LLVM's compact relocations */

/* ---- kept bytes ---- */

/* Keep bytes of the object. */
static const void *keep_bytes(struct sk_reader *reader, const struct sk_object *object, const void *bytes,
			      uint64_t size)
{
	if (!object->transient)
		return bytes;

	void *copy = sk_arena_alloc(reader->arena, size, 1);

	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

/* Keep the bytes; if they are equal to the last ones kept, share those. */
static const void *share_bytes(struct sk_reader *reader, struct sk_kept *last, const void *bytes, uint64_t size)
{
	void *copy;

	if (last->size == size && !memcmp(last->bytes, bytes, size))
		return last->bytes;
	copy = sk_arena_alloc(reader->arena, size, 1);
	memcpy(copy, bytes, size);
	*last = (struct sk_kept){copy, size};
	return copy;
}

/* Return the size of the symbols' names. */
static uint64_t names_size(const struct sk_object *object)
{
	return object->headers[object->headers[object->symbol_table].sh_link].sh_size;
}

static void keep_more(struct sk_reader *reader, struct sk_object *object)
{
	struct sk_object_more *more = sk_object_own_more(reader->arena, object);

	if (more->far_sections)
		more->far_sections =
			keep_bytes(reader, object, more->far_sections, object->symbol_count * sizeof(uint32_t));
	if (more->significant_symbols)
		more->significant_symbols =
			keep_bytes(reader, object, more->significant_symbols, more->significant_size);
	if (more->versioned_names)
		more->versioned_names = keep_bytes(reader, object, more->versioned_names, names_size(object));
}

/* Names come first: the descriptions refer to them. */
static void keep_tables(struct sk_reader *reader, struct sk_object *object)
{
	const sk_elf_section *headers = object->headers;

	if (!object->transient)
		return;
	object->section_names = share_bytes(reader, &reader->section_names, object->section_names,
					    headers[sk_object_names_section(object)].sh_size);
	object->symbols = keep_bytes(reader, object, object->symbols, object->symbol_count * sizeof(Elf64_Sym));
	if (object->symbol_table)
		object->names = keep_bytes(reader, object, object->names, names_size(object));
	if (object->more->far_sections || object->more->significant_symbols || object->more->versioned_names)
		keep_more(reader, object);
	if (object->member)
		object->member = keep_bytes(reader, object, object->member, object->member_length);
	if (object->kernel_records)
		object->kernel_records =
			keep_bytes(reader, object, object->kernel_records, object->kernel_records_size);
}

/* ---- sections ---- */

static bool check_flags(struct sk_reader *reader, const struct sk_object *object,
			const struct sk_input_section *section)
{
	const uint64_t wrong = SHF_WRITE | SHF_EXECINSTR;

	if (section->flags & SHF_COMPRESSED)
		return SK_BAD_OBJECT(reader, object, "section %s is loaded and cannot be compressed", section->name);
	if ((section->flags & wrong) == wrong)
		return SK_BAD_OBJECT(reader, object, "section %s is both writable and executable, which is refused",
				     section->name);
	if (section->flags & SHF_EXECINSTR && section->type == SHT_NOBITS && section->size)
		return SK_BAD_OBJECT(reader, object, "section %s is executable, and has no bytes in the file",
				     section->name);
	if (sk_is_constructors(section) && section->size % sizeof(Elf64_Addr))
		return SK_BAD_OBJECT(reader, object,
				     "section %s has %" PRIu64 " bytes, which is not a whole number of addresses",
				     section->name, section->size);
	if (section->type == SHT_PREINIT_ARRAY)
		return SK_BAD_OBJECT(reader, object, "section %s cannot be part of a shared object", section->name);
	if ((sk_starts_with(section->name, ".ctors") || sk_starts_with(section->name, ".dtors")) && section->size)
		return SK_BAD_OBJECT(reader, object, "section %s is obsolete; recompile with -fuse-init-array",
				     section->name);
	if ((sk_is_called(section->name, ".init") || sk_is_called(section->name, ".fini")) && section->size)
		return SK_BAD_OBJECT(reader, object,
				     "section %s would never run; use __attribute__((constructor)) or (destructor)",
				     section->name);
	return true;
}

static bool is_frames(const struct sk_input_section *section)
{
	return sk_is_called(section->name, ".eh_frame");
}

/* Return the type of a section that an assembler without section types wrote. */
static uint32_t type_by_name(const struct sk_input_section *section)
{
	if (section->type == SHT_PROGBITS && sk_is_kind(section->name, ".init_array"))
		return SHT_INIT_ARRAY;
	if (section->type == SHT_PROGBITS && sk_is_kind(section->name, ".fini_array"))
		return SHT_FINI_ARRAY;
	return section->type;
}

/* Describe one section and decide whether it can be part of the output. */
static bool describe_section(struct sk_reader *reader, struct sk_object *object, uint32_t number,
			     struct sk_input_section *section)
{
	const sk_elf_section *header = &object->headers[number];

	*section = (struct sk_input_section){
		.object = object,
		.name = sk_object_section_name(object, number),
		.type = header->sh_type,
		.flags = (uint32_t)header->sh_flags,
		.size = header->sh_size,
		.alignment = header->sh_addralign ? (uint32_t)header->sh_addralign : 1,
		.entry_size = header->sh_entsize <= UINT32_MAX ? (uint32_t)header->sh_entsize : 0,
		.state = SK_NONE,
	};
	if (header->sh_type != SHT_NOBITS)
		section->bytes = object->bytes + header->sh_offset;
	switch (header->sh_type == object->architecture->unwind_section ? SHT_PROGBITS : header->sh_type) {
	case SHT_PROGBITS:
	case SHT_NOBITS:
	case SHT_NOTE:
	case SHT_INIT_ARRAY:
	case SHT_FINI_ARRAY:
	case SHT_PREINIT_ARRAY:
		if (!(header->sh_flags & SHF_ALLOC))
			return sk_debug_describe(reader, section);
		if (sk_is_property_note(section))
			return check_flags(reader, object, section) && sk_properties_read(reader, section);
		/* frames.c splits and joins frames. */
		section->loaded = !is_frames(section);
		section->type = type_by_name(section);
		section->mergeable = section->loaded && sk_is_mergeable(section);
		object->annotated |= section->type == SHT_NOTE;
		return check_flags(reader, object, section);
	case SHT_CREL_TYPE:
		return SK_BAD_OBJECT(reader, object,
				     "section %s holds compact relocations, which are not supported; "
				     "recompile without -Wa,--crel",
				     section->name);
	default:
		if (header->sh_flags & SHF_ALLOC)
			return SK_BAD_OBJECT(reader, object, "section %s has the unknown type 0x%x", section->name,
					     header->sh_type);
		return true;
	}
}

/* Return whether the section is needed. Empty sections that compilers write into every object, and in which no symbol
 * lies, are not. */
static bool is_needed(const struct sk_input_section *section, bool has_symbol)
{
	if (section->debug)
		return true;
	return (section->flags & SHF_ALLOC) && (section->size || has_symbol || sk_is_identifier(section->name));
}

/* Return whether the section causes no message and cannot be part of the output, which holds for most sections. */
static bool is_dropped(const struct sk_reader *reader, const sk_elf_section *header)
{
	return !(header->sh_flags & SHF_ALLOC) && header->sh_type != SHT_CREL_TYPE &&
	       !(reader->keep_debug && header->sh_type == SHT_PROGBITS);
}

/* Return room for the object's entries, zeroed. */
static struct sk_section_entry *make_entries(struct sk_reader *reader, uint32_t count)
{
	if (count > reader->entry_capacity) {
		reader->entries = SK_NEW_ARRAY(reader->arena, struct sk_section_entry, count);
		reader->entry_capacity = count;
	}
	memset(reader->entries, 0, count * sizeof(*reader->entries));
	return reader->entries;
}

/* Move the parts found to the object. If a lookup may ask for any other section, one entry that stands for all of them
 * follows. */
static void keep_parts(struct sk_reader *reader, struct sk_object *object, bool asked)
{
	object->part_count = (uint32_t)reader->parts.count;
	object->parts = SK_NEW_ARRAY(reader->arena, struct sk_input_section, object->part_count + asked);
	if (object->part_count)
		memcpy(object->parts, reader->parts.items, object->part_count * sizeof(*object->parts));
	if (asked)
		object->parts[object->part_count] =
			(struct sk_input_section){.object = object, .name = "", .state = SK_NONE};
	for (uint32_t i = 0; i < object->header_count; i++)
		if (reader->entries[i].part == SK_NONE)
			reader->entries[i].part = object->part_count;
	object->entries = share_bytes(reader, &reader->kept_entries, reader->entries,
				      object->header_count * sizeof(*reader->entries));
}

/* Describe the sections that can be part of the output, and keep their contents. */
static bool describe_sections(struct sk_reader *reader, struct sk_object *object)
{
	struct sk_section_entry *entries = make_entries(reader, object->header_count);
	bool asked = false;

	for (uint32_t i = 1; i < object->symbol_count; i++) /* 1 until its turn comes: it has a symbol */
		entries[sk_object_symbol_section(object, i)].part = 1;
	reader->parts.count = 0;
	entries[0].part = SK_NONE;
	for (uint32_t i = 1; i < object->header_count; i++) {
		struct sk_input_section section;
		bool has_symbol = entries[i].part, dropped = is_dropped(reader, &object->headers[i]);

		entries[i] = (struct sk_section_entry){.name = object->headers[i].sh_name, .part = SK_NONE};
		if (!dropped && !describe_section(reader, object, i, &section))
			return false;
		if (dropped || !is_needed(&section, has_symbol)) {
			asked |= has_symbol;
			continue;
		}
		object->joined_by_name |=
			sk_is_identifier(section.name) || sk_starts_with(section.name, ".gnu.linkonce.");
		if (section.bytes)
			section.bytes = keep_bytes(reader, object, section.bytes, object->headers[i].sh_size);
		entries[i].part = (uint32_t)reader->parts.count;
		sk_array_push(reader->arena, &reader->parts, section);
	}
	keep_parts(reader, object, asked);
	return true;
}

/* ---- groups ---- */

static bool read_group(struct sk_reader *reader, struct sk_object *object, uint32_t number,
		       struct sk_section_group *group)
{
	const sk_elf_section *header = &object->headers[number];
	const sk_elf_word *words = (const sk_elf_word *)(object->bytes + header->sh_offset);
	uint64_t count = header->sh_size / sizeof(uint32_t);

	if (!count || header->sh_size % sizeof(uint32_t) || header->sh_link != object->symbol_table ||
	    header->sh_info >= object->symbol_count)
		return SK_BAD_OBJECT(reader, object, "the group in section %u is damaged", number);

	const sk_elf_symbol *signature = &object->symbols[header->sh_info];
	uint32_t section = sk_object_symbol_section(object, header->sh_info);

	group->name = object->names + signature->st_name;
	if (ELF64_ST_TYPE(signature->st_info) == STT_SECTION && section)
		group->name = sk_object_section_name(object, section);
	group->comdat = words[0] & GRP_COMDAT;
	group->members = keep_bytes(reader, object, words + 1, (count - 1) * sizeof(uint32_t));
	group->count = count - 1;
	for (uint64_t i = 0; i < group->count; i++) {
		if (!sk_object_has_section(object, group->members[i]) || group->members[i] == number)
			return SK_BAD_OBJECT(reader, object, "group %s has a member that does not exist", group->name);
		if (object->headers[group->members[i]].sh_type == SHT_GROUP)
			return SK_BAD_OBJECT(reader, object, "group %s has a group as its member", group->name);
	}
	return true;
}

/* Check the groups. A section must not be in two of them. */
static bool check_groups(struct sk_reader *reader, const struct sk_object *object)
{
	bool *grouped = SK_NEW_ARRAY(reader->arena, bool, object->header_count);

	for (uint32_t i = 0; i < object->more->group_count; i++)
		for (uint64_t j = 0; j < object->more->groups[i].count; j++) {
			uint32_t member = object->more->groups[i].members[j];

			if (grouped[member])
				return SK_BAD_OBJECT(reader, object, "section %s is in two groups",
						     sk_object_section_name(object, member));
			grouped[member] = true;
		}
	return true;
}

static bool read_groups(struct sk_reader *reader, struct sk_object *object)
{
	SK_ARRAY(struct sk_section_group) groups = {0};

	for (uint32_t i = 1; i < object->header_count; i++) {
		struct sk_section_group group;

		if (object->headers[i].sh_type != SHT_GROUP)
			continue;
		if (!read_group(reader, object, i, &group))
			return false;
		sk_array_push(reader->arena, &groups, group);
	}
	if (!groups.count)
		return true;

	struct sk_object_more *more = sk_object_own_more(reader->arena, object);

	more->groups = groups.items;
	more->group_count = (uint32_t)groups.count;
	return check_groups(reader, object);
}

/* ---- relocations ---- */

static int compare_offsets(const void *a, const void *b)
{
	const sk_elf_relocation *left = a, *right = b;

	return (left->r_offset > right->r_offset) - (left->r_offset < right->r_offset);
}

static bool check_relocations(struct sk_reader *reader, const struct sk_object *object,
			      const struct sk_input_section *section, bool *sorted)
{
	uint64_t last = 0;

	*sorted = true;
	for (uint64_t i = 0; i < section->relocation_count; i++) {
		const sk_elf_relocation *relocation = &section->relocations[i];
		uint32_t number = ELF64_R_TYPE(relocation->r_info);
		const struct sk_relocation_type *type =
			sk_relocation_type_find(object->architecture->relocations, number);

		if (!sk_within(relocation->r_offset, type ? type->width : 1, section->size))
			return SK_BAD_OBJECT(reader, object, "relocation %llu of section %s lies outside the section",
					     (unsigned long long)i, section->name);
		if (ELF64_R_SYM(relocation->r_info) >= (object->symbol_count ? object->symbol_count : 1))
			return SK_BAD_OBJECT(reader, object,
					     "relocation %llu of section %s refers to symbol %llu of %u",
					     (unsigned long long)i, section->name,
					     (unsigned long long)ELF64_R_SYM(relocation->r_info), object->symbol_count);
		*sorted &= relocation->r_offset >= last;
		last = relocation->r_offset;
	}
	return true;
}

static bool read_relocations(struct sk_reader *reader, struct sk_object *object, uint32_t number)
{
	const sk_elf_section *header = &object->headers[number];

	if (!sk_object_has_section(object, header->sh_info))
		return SK_BAD_OBJECT(reader, object, "relocation section %u applies to no section", number);
	if (object->entries[header->sh_info].part == object->part_count)
		return true;

	struct sk_input_section *section = sk_object_section(object, header->sh_info);
	bool sorted, frames = (section->flags & SHF_ALLOC) && !section->loaded;

	if (!section->loaded && !frames && !section->debug)
		return true;
	if (header->sh_type == SHT_REL)
		return SK_BAD_OBJECT(reader, object,
				     "the relocations of section %s have no addends, which %s does not know",
				     section->name, object->architecture->name);
	if (header->sh_entsize != sizeof(Elf64_Rela) || header->sh_size % sizeof(Elf64_Rela) ||
	    header->sh_link != object->symbol_table)
		return SK_BAD_OBJECT(reader, object, "the relocations of section %s are damaged", section->name);
	if (!header->sh_size)
		return true;
	if (section->relocations)
		return SK_BAD_OBJECT(reader, object, "section %s has two sections of relocations", section->name);
	if (section->type == SHT_NOBITS)
		return SK_BAD_OBJECT(reader, object, "section %s has relocations but no contents", section->name);
	if (header->sh_size / sizeof(Elf64_Rela) > UINT32_MAX)
		return SK_BAD_OBJECT(reader, object, "section %s has too many relocations", section->name);
	section->relocations = keep_bytes(reader, object, object->bytes + header->sh_offset, header->sh_size);
	section->relocation_count = (uint32_t)(header->sh_size / sizeof(Elf64_Rela));
	section->mergeable = false; /* relocations may make equal bytes different */
	if (!check_relocations(reader, object, section, &sorted))
		return false;
	if (frames && !sorted) {
		Elf64_Rela *copy = SK_NEW_ARRAY(reader->arena, Elf64_Rela, section->relocation_count);

		memcpy(copy, section->relocations, header->sh_size);
		qsort(copy, section->relocation_count, sizeof(*copy), compare_offsets);
		section->relocations = (const sk_elf_relocation *)copy;
	}
	return true;
}

static bool read_frames(struct sk_reader *reader, struct sk_object *object)
{
	reader->frames.count = 0;
	for (uint32_t i = 0; i < object->part_count; i++) {
		struct sk_input_section *section = &object->parts[i];

		if (!(section->flags & SHF_ALLOC) || section->loaded || !section->size)
			continue;
		if (section->type == SHT_NOBITS)
			return SK_BAD_OBJECT(reader, object, "section %s has no contents", section->name);
		if (!sk_frames_read(reader, object->architecture, section))
			return false;
	}
	object->frames = sk_frames_take(reader, &object->frame_count);
	sk_frames_attach(NULL, object->frames, object->frame_count);
	return true;
}

/* A package's symbols would only collide with those of the package being made. */
static bool refuse_package(struct sk_reader *reader, const struct sk_object *object)
{
	for (uint32_t i = 1; i < object->header_count; i++)
		if (sk_is_called(sk_object_section_name(object, i), ".sk.plan"))
			return SK_BAD_OBJECT(
				reader, object,
				"is or holds a package that sklink -r has made, which goes into a program, "
				"with the program's linker; give the objects of its kernels instead");
	return true;
}

/* Return whether the section refers only to sections of its object, and is not one that state.c looks for. */
static bool is_plain(const struct sk_input_section *section)
{
	uint64_t first_global = section->object->first_global;

	if (!section->loaded)
		return true;
	if (section->flags & SHF_TLS || (section->size && (section->type == SHT_NOBITS || section->flags & SHF_WRITE)))
		return false;
	for (uint32_t i = 0; i < section->relocation_count; i++)
		if (ELF64_R_SYM(section->relocations[i].r_info) >= first_global)
			return false;
	return true;
}

static bool has_plain_sections(const struct sk_object *object)
{
	for (uint32_t i = 0; i < object->part_count; i++)
		if (!is_plain(&object->parts[i]))
			return false;
	return true;
}

bool sk_object_load(struct sk_reader *reader, struct sk_object *object)
{
	keep_tables(reader, object);
	if (!refuse_package(reader, object) || !describe_sections(reader, object) || !read_groups(reader, object))
		return false;
	for (uint32_t i = 1; i < object->header_count; i++) {
		uint32_t type = object->headers[i].sh_type;

		if ((type == SHT_RELA || type == SHT_REL) && !read_relocations(reader, object, i))
			return false;
	}
	if (!read_frames(reader, object))
		return false;
	if (object->transient) {
		object->headers = NULL;
		object->bytes = NULL;
	}
	object->plain = !object->isa && has_plain_sections(object);
	object->loaded = true;
	return true;
}
