/* Program headers. Input: output sections with their addresses. Output: a segment for each loaded region, and the
 * segments by which the loader finds tables, notes and the area that becomes read-only. */
#include <stdlib.h>

#include "base/arena.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

static void add_segment(struct sk_linker *linker, uint32_t type, uint32_t flags, uint64_t start, uint64_t file_end,
			uint64_t end, uint64_t alignment)
{
	sk_array_push(linker->arena, &linker->segments,
		      (Elf64_Phdr){.p_type = type,
				   .p_flags = flags,
				   .p_offset = start,
				   .p_vaddr = start,
				   .p_paddr = start,
				   .p_filesz = file_end - start,
				   .p_memsz = end - start,
				   .p_align = alignment});
}

/* Add a segment for the regions from first to last, unless they are empty. */
static void add_regions(struct sk_linker *linker, uint32_t type, uint32_t flags, enum sk_region first,
			enum sk_region last)
{
	uint64_t alignment = sk_page_size(linker), start = 0, file_end = 0, end = 0;
	bool found = false;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (sk_region_of(output->rank) < first || sk_region_of(output->rank) > last)
			continue;
		if (!found)
			start = file_end =
				first == SK_REGION_READ_ONLY ? 0 : output->address; /* with the ELF headers */
		found = true;
		end = output->address + output->size;
		if (output->type != SHT_NOBITS)
			file_end = end;
		if (output->alignment > alignment)
			alignment = output->alignment;
	}
	/* Contents in another file must not be taken for zeros before they have been mapped. */
	if (found && first == SK_REGION_CONSTANTS && file_end == start)
		flags = 0;
	if (found)
		add_segment(linker, type, flags, start, file_end, end, type == PT_LOAD ? alignment : 1);
}

static void add_made_segment(struct sk_linker *linker, uint32_t type, uint32_t flags, enum sk_made made)
{
	const struct sk_input_section *section = &linker->made[made];
	uint64_t end = section->address + section->size;

	if (sk_is_made(linker, made))
		add_segment(linker, type, flags, section->address, end, end, section->alignment);
}

/* Readers derive the padding inside a note from the segment's alignment, so each alignment has its own segment. */
static void add_notes(struct sk_linker *linker, enum sk_rank rank)
{
	const struct sk_output *first = NULL, *last = NULL;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		if (linker->outputs.items[i]->rank != rank)
			continue;
		last = linker->outputs.items[i];
		first = first ? first : last;
	}
	if (first)
		add_segment(linker, PT_NOTE, PF_R, first->address, last->address + last->size,
			    last->address + last->size, first->alignment);
}

static int compare_segments(const void *a, const void *b)
{
	const Elf64_Phdr *left = a, *right = b;
	int left_class = left->p_type != PT_LOAD, right_class = right->p_type != PT_LOAD;

	if (left_class != right_class)
		return left_class - right_class;
	if (left->p_vaddr != right->p_vaddr)
		return left->p_vaddr < right->p_vaddr ? -1 : 1;
	return (left->p_type > right->p_type) - (left->p_type < right->p_type);
}

void sk_segments_make(struct sk_linker *linker)
{
	add_regions(linker, PT_LOAD, PF_R, SK_REGION_READ_ONLY, SK_REGION_READ_ONLY);
	add_regions(linker, PT_LOAD, PF_R | PF_X, SK_REGION_CODE, SK_REGION_CODE);
	add_regions(linker, PT_LOAD, PF_R | PF_W, SK_REGION_RELRO, SK_REGION_WRITABLE);
	add_regions(linker, PT_LOAD, PF_R, SK_REGION_CONSTANTS, SK_REGION_CONSTANTS);
	if (!linker->options.no_relro)
		add_regions(linker, PT_GNU_RELRO, PF_R, SK_REGION_RELRO, SK_REGION_RELRO);
	if (linker->thread.exists)
		add_segment(linker, PT_TLS, PF_R, linker->thread.start, linker->thread.file_end, linker->thread.end,
			    linker->thread.alignment);
	add_made_segment(linker, PT_DYNAMIC, PF_R | PF_W, SK_MADE_DYNAMIC);
	add_notes(linker, SK_RANK_WIDE_NOTE);
	add_notes(linker, SK_RANK_NOTE);
	add_made_segment(linker, PT_GNU_PROPERTY, PF_R, SK_MADE_PROPERTIES);
	add_made_segment(linker, PT_GNU_EH_FRAME, PF_R, SK_MADE_FRAME_HEADER);
	add_segment(linker, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 16);
	qsort(linker->segments.items, linker->segments.count, sizeof(Elf64_Phdr), compare_segments);
}
