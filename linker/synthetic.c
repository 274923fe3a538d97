/* Sections that do not come from inputs, with their symbols and relocations. Input: the sections of the linker's caller
 * and of finalizer.c. Output: when the link begins, sections in the form of objects' sections. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

sk_section sk_linker_add_section(struct sk_linker *linker, const struct sk_section_spec *spec)
{
	static const struct {
		enum sk_rank rank;
		uint32_t flags;
	} kinds[] = {
		[SK_SECTION_TEXT] = {SK_RANK_TEXT, SHF_ALLOC | SHF_EXECINSTR},
		[SK_SECTION_READ_ONLY] = {SK_RANK_READ_ONLY, SHF_ALLOC},
		[SK_SECTION_CONSTANTS] = {SK_RANK_CONSTANTS, SHF_ALLOC},
		[SK_SECTION_CONSTANTS_ELSEWHERE] = {SK_RANK_CONSTANTS, SHF_ALLOC},
		[SK_SECTION_ADDRESSES] = {SK_RANK_RELRO_DATA, SHF_ALLOC | SHF_WRITE},
		[SK_SECTION_DESTRUCTORS] = {SK_RANK_FINI_ARRAY, SHF_ALLOC | SHF_WRITE},
		[SK_SECTION_EH_FRAME] = {SK_RANK_FRAMES, SHF_ALLOC},
		[SK_SECTION_DEBUG] = {SK_RANK_DEBUG, 0},
		[SK_SECTION_NOT_LOADED] = {SK_RANK_NOT_LOADED, 0},
	};
	struct sk_synthetic *synthetic = SK_NEW(linker->arena, struct sk_synthetic);
	struct sk_piece *pieces = SK_NEW_ARRAY(linker->arena, struct sk_piece, spec->piece_count);

	for (size_t i = 0; i < spec->piece_count; i++) {
		if (!sk_within(spec->pieces[i].offset, spec->pieces[i].size, spec->size))
			abort(); /* an error of the caller, never of an input */
		pieces[i] = spec->pieces[i];
	}
	if (spec->bytes) {
		if (linker->uncopied)
			abort();
		linker->uncopied = &synthetic->section;
	}
	synthetic->kind = spec->kind;
	synthetic->section = (struct sk_input_section){
		.name = spec->name,
		.type = spec->kind == SK_SECTION_CONSTANTS_ELSEWHERE ? SHT_NOBITS : SHT_PROGBITS,
		.flags = kinds[spec->kind].flags,
		.bytes = spec->bytes,
		.pieces = pieces,
		.piece_count = (uint32_t)spec->piece_count,
		.size = spec->size,
		.alignment = spec->alignment ? (uint32_t)spec->alignment : 1,
		.rank = (uint8_t)kinds[spec->kind].rank,
		.state = SK_NONE,
		.loaded = spec->kind != SK_SECTION_EH_FRAME && spec->kind != SK_SECTION_DEBUG,
		.debug = spec->kind == SK_SECTION_DEBUG,
	};
	sk_array_push(linker->arena, &linker->synthetic, synthetic);
	return (sk_section)linker->synthetic.count - 1;
}

sk_symbol sk_linker_define(struct sk_linker *linker, sk_section section, const char *name, uint64_t offset,
			   uint64_t size, enum sk_symbol_kind kind, bool exported)
{
	struct sk_input_section *in = &linker->synthetic.items[section]->section;
	uint8_t type = kind == SK_SYMBOL_FUNCTION ? STT_FUNC : STT_OBJECT;
	sk_symbol symbol;

	if (exported) {
		symbol = sk_symbol_intern(linker, name, strlen(name));
		linker->symbols.items[symbol].exported = true;
		sk_array_push(linker->arena, &linker->exported, symbol);
	} else {
		symbol = sk_symbol_add(linker, name, name ? strlen(name) : 0);
		linker->symbols.items[symbol].local = true;
	}
	sk_symbol_define(linker, symbol, in, offset, size, type);
	return symbol;
}

void sk_linker_relocate(struct sk_linker *linker, sk_section section, uint64_t offset, enum sk_relocation_kind kind,
			sk_symbol target, int64_t addend)
{
	sk_array_push(
		linker->arena, &linker->synthetic.items[section]->relocations,
		(Elf64_Rela){.r_offset = offset, .r_info = ELF64_R_INFO((uint64_t)target, kind), .r_addend = addend});
}

/* ---- the pass ---- */

static int compare_offsets(const void *a, const void *b)
{
	const Elf64_Rela *left = a, *right = b;

	return (left->r_offset > right->r_offset) - (left->r_offset < right->r_offset);
}

static bool is_sorted(const Elf64_Rela *relocations, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (relocations[i - 1].r_offset > relocations[i].r_offset)
			return false;
	return true;
}

/* One array holds the bytes of synthetic unwind tables, since their records are read like those of objects. */
static void join_pieces(struct sk_linker *linker, struct sk_input_section *section)
{
	if (section->piece_count == 1 && section->pieces[0].size == section->size) {
		section->bytes = section->pieces[0].bytes;
		return;
	}

	uint8_t *bytes = sk_arena_alloc(linker->arena, section->size, 1);

	for (size_t i = 0; i < section->piece_count; i++)
		memcpy(bytes + section->pieces[i].offset, section->pieces[i].bytes, section->pieces[i].size);
	section->bytes = bytes;
}

bool sk_synthetic_prepare(struct sk_linker *linker)
{
	const uint32_t types[] = {
		[SK_RELOCATION_RELATIVE32] = linker->architecture->relocations->relative32,
		[SK_RELOCATION_CALL] = linker->architecture->relocations->call,
		[SK_RELOCATION_ADDRESS64] = linker->architecture->relocations->address64,
		[SK_RELOCATION_OFFSET32] = linker->architecture->relocations->offset32,
	};
	linker->reader.frames.count = 0;
	for (size_t i = 0; i < linker->synthetic.count; i++) {
		struct sk_synthetic *synthetic = linker->synthetic.items[i];

		for (size_t j = 0; j < synthetic->relocations.count; j++) {
			Elf64_Rela *relocation = &synthetic->relocations.items[j];

			relocation->r_info =
				ELF64_R_INFO(ELF64_R_SYM(relocation->r_info), types[ELF64_R_TYPE(relocation->r_info)]);
		}
		synthetic->section.relocations = (const sk_elf_relocation *)synthetic->relocations.items;
		synthetic->section.relocation_count = (uint32_t)synthetic->relocations.count;
		if (synthetic->kind != SK_SECTION_EH_FRAME || !synthetic->section.size)
			continue;
		if (!is_sorted(synthetic->relocations.items, synthetic->relocations.count))
			qsort(synthetic->relocations.items, synthetic->relocations.count, sizeof(Elf64_Rela),
			      compare_offsets);
		join_pieces(linker, &synthetic->section);
		if (!sk_frames_read(&linker->reader, linker->architecture, &synthetic->section))
			return false;
	}
	linker->frames = sk_frames_take(&linker->reader, &linker->frame_count);
	sk_frames_attach(linker, linker->frames, linker->frame_count);
	return true;
}
