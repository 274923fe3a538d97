/* Packages whose segments lie elsewhere in the file than in memory. sklink never writes these: addresses are offsets.
 * But strip and objcopy close the gaps that guards leave between code and data (format/skguards.h). Input: the file.
 * Output: a copy, in the arena, in which the loaded parts lie at their addresses, and all other sections after them.
 * Files that are damaged otherwise stay as they are; the checks of opening refuse these. */
#include <elf.h>
#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/skguards.h"
#include "src/skdump/skdump.h"

/* The table of guards is part of a file, so that gaps of more than this cannot come from them. */
enum { MOST_GUARDS = 16384 };

struct moving {
	const uint8_t *bytes; /* of the file */
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	uint64_t end; /* of the loaded parts, in memory */
	bool displaced; /* one of them lies elsewhere in the file */
};

static bool is_loaded(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && (segment->p_flags || segment->p_filesz);
}

static bool read_headers(struct sk_arena *arena, struct moving *moving)
{
	uint64_t size;

	if (moving->size < sizeof(moving->header))
		return false;
	memcpy(&moving->header, moving->bytes, sizeof(moving->header));
	size = (uint64_t)moving->header.e_phnum * sizeof(Elf64_Phdr);
	if (memcmp(moving->header.e_ident, ELFMAG, SELFMAG) != 0 || moving->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    moving->header.e_ident[EI_DATA] != ELFDATA2LSB || moving->header.e_type != ET_DYN ||
	    moving->header.e_phentsize != sizeof(Elf64_Phdr) || moving->header.e_shentsize != sizeof(Elf64_Shdr) ||
	    !sk_within(moving->header.e_phoff, size, moving->size) ||
	    !sk_within(moving->header.e_shoff, (uint64_t)moving->header.e_shnum * sizeof(Elf64_Shdr), moving->size))
		return false;
	moving->segments = SK_NEW_ARRAY(arena, Elf64_Phdr, moving->header.e_phnum + 1u);
	memcpy(moving->segments, moving->bytes + moving->header.e_phoff, size);
	return true;
}

/* The headers must lie at the same place in the file and in memory: the first segment has them. */
static bool measure(struct moving *moving)
{
	uint64_t end, headers = moving->header.e_phoff + (uint64_t)moving->header.e_phnum * sizeof(Elf64_Phdr);
	bool holds_headers = false;

	for (size_t i = 0; i < moving->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &moving->segments[i];

		if (!is_loaded(segment))
			continue;
		if (!sk_within(segment->p_offset, segment->p_filesz, moving->size) ||
		    !sk_add(segment->p_vaddr, segment->p_filesz, &end))
			return false;
		moving->end = end > moving->end ? end : moving->end;
		moving->displaced |= segment->p_offset != segment->p_vaddr;
		holds_headers |= !segment->p_offset && !segment->p_vaddr && headers <= segment->p_filesz;
	}
	return holds_headers && moving->end <= moving->size + (uint64_t)MOST_GUARDS * SK_GUARD_SIZE;
}

static void move(const struct moving *moving, uint8_t *copy, uint64_t base)
{
	Elf64_Ehdr header = moving->header;

	for (size_t i = 0; i < header.e_phnum; i++) {
		const Elf64_Phdr *segment = &moving->segments[i];

		if (is_loaded(segment))
			memcpy(copy + segment->p_vaddr, moving->bytes + segment->p_offset, segment->p_filesz);
	}
	memcpy(copy + base, moving->bytes, moving->size);
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment = moving->segments[i];

		if (segment.p_filesz)
			segment.p_offset = segment.p_vaddr;
		memcpy(copy + header.e_phoff + i * sizeof(segment), &segment, sizeof(segment));
	}
	header.e_shoff += base;
	memcpy(copy, &header, sizeof(header));
	for (size_t i = 0; i < header.e_shnum; i++) {
		uint8_t *place = copy + header.e_shoff + i * sizeof(Elf64_Shdr);
		Elf64_Shdr section;

		memcpy(&section, place, sizeof(section));
		if (section.sh_flags & SHF_ALLOC)
			section.sh_offset = section.sh_addr;
		else if (section.sh_type != SHT_NULL && sk_within(section.sh_offset, 0, moving->size))
			section.sh_offset += base;
		memcpy(place, &section, sizeof(section));
	}
}

void sk_package_move(struct sk_arena *arena, struct sk_package_file *file)
{
	struct moving moving = {.bytes = file->bytes, .size = file->size};
	uint64_t base, size;
	uint8_t *copy;

	if (!read_headers(arena, &moving) || !measure(&moving) || !moving.displaced ||
	    !sk_align(moving.end, sizeof(uint64_t), &base) || !sk_add(base, moving.size, &size))
		return;
	copy = sk_arena_alloc(arena, size, 1);
	move(&moving, copy, base);
	file->bytes = copy;
	file->size = size;
}
