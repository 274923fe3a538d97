/* Debug information, part two: writing. Input: the sections that debug.c has kept. Output: the joined sections with the
 * image's addresses, placed after the loaded part of the file and compressed if the options say so.
 *
 * Addresses of functions that are not in the image become a value that debuggers ignore, as in GNU ld and lld: 0, or 1
 * in .debug_ranges and .debug_loc (DWARF 4), where a pair of zeros would end the list. Functions that have been folded
 * into identical ones are treated in the same way, except in .debug_line. */
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

static uint64_t tombstone_of(const struct sk_input_section *section)
{
	return !strcmp(section->name, ".debug_ranges") || !strcmp(section->name, ".debug_loc");
}

/* Return whether addresses of folded functions are kept. Line numbers keep them, so that breakpoints in a folded
 * function stop in the one that remains. Other debug information would describe the same code twice. */
static bool keeps_folded(const struct sk_input_section *section)
{
	return !strcmp(section->name, ".debug_line");
}

static void relocate(struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, uint8_t *bytes)
{
	const struct sk_relocation_type *type =
		sk_relocation_type_find(linker->architecture->relocations, ELF64_R_TYPE(relocation->r_info));

	if (type->expression == SK_EXPRESSION_NONE)
		return;

	struct sk_target target = sk_relocation_target(linker, section, relocation);

	if (linker->options.relocatable && target.section && target.section->output) {
		sk_relocatable_emit(linker, section, relocation, bytes);
		return;
	}

	uint64_t value = target.value + (uint64_t)relocation->r_addend;

	if (type->expression == SK_EXPRESSION_THREAD_OFFSET) /* the description of an unreached variable says 0 */
		value = target.section && target.section->output
				? value - target.value + sk_thread_offset(linker, target.section, target.value)
				: 0;
	else if (target.section && target.section->output && (!target.folded || keeps_folded(section)))
		value += target.section->address;
	else if (target.kind != SK_TARGET_ABSOLUTE)
		value = tombstone_of(section);
	if (type->expression == SK_EXPRESSION_RELATIVE)
		value -= section->address + relocation->r_offset;
	sk_relocate_field(linker, section, relocation, bytes + relocation->r_offset, value, relocation->r_offset);
}

/* Return the compressed contents of an output section, or NULL if they are not smaller. */
static uint8_t *compress_contents(struct sk_linker *linker, struct sk_output *output, const uint8_t *contents)
{
	const Elf64_Chdr header = {
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = output->size, .ch_addralign = output->alignment};
	uLongf size = compressBound(output->size);
	uint8_t *bytes = sk_arena_alloc(linker->arena, sizeof(header) + size, 1);

	memcpy(bytes, &header, sizeof(header));
	if (compress2(bytes + sizeof(header), &size, contents, output->size, Z_BEST_SPEED) != Z_OK ||
	    sizeof(header) + size >= output->size)
		return NULL;
	output->size = sizeof(header) + size;
	output->alignment = _Alignof(Elf64_Chdr);
	output->flags |= SHF_COMPRESSED;
	return bytes;
}

static void write_output(struct sk_linker *linker, struct sk_output *output)
{
	uint8_t *contents = sk_arena_alloc(linker->arena, output->size, 1), *compressed = NULL;

	for (size_t i = 0; i < output->sections.count; i++) {
		const struct sk_input_section *section = output->sections.items[i];
		uint8_t *bytes = contents + section->address;

		sk_section_copy(section, bytes);
		for (uint64_t j = 0; j < section->relocation_count; j++)
			relocate(linker, section, &section->relocations[j], bytes);
	}
	if (linker->options.compress_debug)
		compressed = compress_contents(linker, output, contents);
	sk_align(linker->file_size, output->alignment, &output->file_offset); /* sizes of data in memory: no overflow */
	sk_image_add(linker, output->file_offset, compressed ? compressed : contents, output->size);
	linker->file_size = output->file_offset + output->size;
}

bool sk_debug_write(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	for (size_t i = 0; i < linker->outputs.count; i++)
		if (linker->outputs.items[i]->rank == SK_RANK_DEBUG)
			write_output(linker, linker->outputs.items[i]);
	return linker->diag->errors == errors;
}
