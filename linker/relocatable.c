/* sklink -r: a linked object instead of an image. Input: live sections, joined into the output sections that an image
 * would have, with the relocations that sk_scan has accepted. Output: one ET_REL object, which any linker makes part of
 * a program or a shared object.
 *
 * A relative reference inside an output section is final, since linkers do not divide sections. All others stay, with
 * the section's symbol and an offset. If the next linker decides by the symbol, they have a symbol of their own (a
 * slot): in GOT accesses, and for strings and records that it may join with others. Only the caller's exports are
 * global, so several such objects fit into one program. relocatable-emit.c decides this for each relocation. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/timing.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- contents ---- */

static void fill_output(struct sk_linker *linker, const struct sk_output *output)
{
	uint8_t *contents = linker->image + output->file_offset;

	if (output->rank == SK_RANK_TEXT)
		memset(contents, linker->architecture->text_fill, output->size);
	for (size_t i = 0; i < output->sections.count; i++) {
		const struct sk_input_section *section = output->sections.items[i];
		uint8_t *bytes = contents + section->address;

		sk_section_copy(section, bytes);
		for (uint32_t j = 0; j < section->relocation_count; j++)
			sk_relocatable_emit(linker, section, &section->relocations[j], bytes);
	}
}

static bool fill(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (output->type != SHT_NOBITS && output->rank < SK_RANK_CONSTANTS)
			fill_output(linker, output);
	}
	sk_frames_visit(linker, sk_relocatable_emit_frame);
	return linker->diag->errors == errors;
}

/* ---- sections that only objects have ---- */

static int compare_relocations(const void *a, const void *b)
{
	const Elf64_Rela *left = a, *right = b;

	if (left->r_offset != right->r_offset)
		return left->r_offset < right->r_offset ? -1 : 1;
	return (left->r_info > right->r_info) - (left->r_info < right->r_info);
}

/* Add ".rela.text" and so on. The array of output sections grows meanwhile. */
static void add_relocations(struct sk_linker *linker, uint32_t symbols)
{
	size_t count = linker->outputs.count;

	for (size_t i = 0; i < count; i++) {
		const struct sk_output *output = linker->outputs.items[i];
		Elf64_Rela *items = output->relocations.items;
		size_t size = output->relocations.count * sizeof(*items);

		if (!size)
			continue;
		qsort(items, output->relocations.count, sizeof(*items), compare_relocations);

		const char *name = sk_arena_print(linker->arena, ".rela%s", output->name);
		struct sk_output *table = sk_image_add_tail(linker, name, SHT_RELA, items, size, sizeof(uint64_t));

		table->flags = SHF_INFO_LINK;
		table->entry_size = sizeof(*items);
		table->link = symbols;
		table->info = output->number;
	}
}

/* Add the note without which linkers assume that the code needs an executable stack. */
static void add_stack_note(struct sk_linker *linker)
{
	struct sk_output *note = sk_image_add_tail(linker, SK_STACK_NOTE, SHT_PROGBITS, NULL, 0, 1);

	note->flags = linker->executable_stack ? SHF_EXECINSTR : 0;
}

/* Exclude sections that are not loaded: they are for skdump only, and not for a program. */
static void exclude_unloaded(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->outputs.count; i++)
		if (linker->outputs.items[i]->rank == SK_RANK_NOT_LOADED)
			linker->outputs.items[i]->flags |= SHF_EXCLUDE;
}

bool sk_relocatable_make(struct sk_linker *linker)
{
	/* Every section has its place in its output section. */
	if (!sk_layout(linker))
		return false;
	exclude_unloaded(linker);
	sk_image_prepare(linker);
	sk_timing_next(linker->options.timing, "relocate");
	/* Symbols have their numbers. */
	sk_image_make_symbols(linker, linker->arena);
	/* Code and data are in the file; unknown values are on the lists of relocations. */
	return fill(linker);
}

bool sk_relocatable_finish(struct sk_linker *linker)
{
	sk_image_add_uncopied(linker);
	if (!sk_debug_write(linker))
		return false;
	add_stack_note(linker);
	add_relocations(linker, sk_image_add_symbols(linker)->number);
	sk_image_add_headers(linker);
	return true;
}
