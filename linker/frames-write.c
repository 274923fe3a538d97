/* Unwind tables, part two: writing. The remaining records go into the image, joined into one .eh_frame with the
 * distances adjusted. .eh_frame_hdr follows, a table of functions sorted for binary search (LSB 3.0, section 10.6). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

static void write32(uint8_t *bytes, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(bytes, &low, sizeof(low));
}

/* Records are padded to a multiple of eight bytes with DW_CFA_nop, which is zero. */
void sk_frame_copy(const struct sk_frame *frame, uint8_t *bytes)
{
	memcpy(bytes, frame->section->bytes + frame->offset, frame->size);
	write32(bytes, (((uint64_t)frame->size + 7) & ~(uint64_t)7) - 4);
	if (frame->cie)
		write32(bytes + SK_FRAME_ID_OFFSET,
			frame->output_offset + SK_FRAME_ID_OFFSET - frame->cie->output_offset);
}

/* Return the distance from the code that the FDE's relocation refers to, to the copy that the FDE describes. */
static uint64_t distance_to_copy(struct sk_linker *linker, const struct sk_frame *frame,
				 const sk_elf_relocation *relocation)
{
	struct sk_target target = sk_relocation_target(linker, frame->section, relocation);

	return target.section ? frame->function->address - target.section->address : 0;
}

struct entry {
	uint64_t start, record; /* addresses */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->record > right->record) - (left->record < right->record);
}

static bool is_sorted(const struct entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_entries(&entries[i - 1], &entries[i]) > 0)
			return false;
	return true;
}

/* Return the start of a live FDE's function: the value of its first relocation without subtracting the place. */
static uint64_t function_start(struct sk_linker *linker, const struct sk_frame *frame)
{
	for (uint64_t i = 0; i < frame->relocation_count; i++)
		if (frame->relocations[i].r_offset == frame->offset + SK_FRAME_START_OFFSET) {
			struct sk_target target = sk_relocation_target(linker, frame->section, &frame->relocations[i]);
			uint64_t base = target.section ? target.section->address : 0;

			if (frame->copied)
				base = frame->function->address;
			return base + target.value + (uint64_t)frame->relocations[i].r_addend;
		}
	return 0;
}

/* ---- records, and the entries of FDEs ---- */

struct writing {
	struct sk_linker *linker;
	struct entry *entries; /* room for the entries of all live FDEs */
	size_t count;
};

static void write_record(struct writing *writing, const struct sk_frame *frame)
{
	if (!frame->live)
		return;

	struct sk_linker *linker = writing->linker;
	uint64_t address = linker->made[SK_MADE_FRAMES].address + frame->output_offset;
	uint8_t *bytes = linker->image + address;

	sk_frame_copy(frame, bytes);
	for (uint64_t i = 0; i < frame->relocation_count; i++) {
		sk_elf_relocation relocation = frame->relocations[i];

		if (frame->copied && relocation.r_offset == frame->offset + SK_FRAME_START_OFFSET)
			/* Computed as unsigned numbers, since the addend may be any number. */
			relocation.r_addend =
				(int64_t)((uint64_t)relocation.r_addend + distance_to_copy(linker, frame, &relocation));
		sk_relocate_one(linker, frame->section, &relocation, bytes, frame->offset, address);
	}
	if (frame->cie)
		writing->entries[writing->count++] = (struct entry){function_start(linker, frame), address};
}

static void write_records(struct writing *writing, const struct sk_frame *frames, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		write_record(writing, &frames[i]);
}

static void write_all(struct writing *writing)
{
	struct sk_linker *linker = writing->linker;

	write_records(writing, linker->frames, linker->frame_count);
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		if (object->reached)
			write_records(writing, object->frames, object->frame_count);
	}
	for (size_t i = 0; i < linker->copied_frames.count; i++)
		write_record(writing, linker->copied_frames.items[i]);
}

/* The header: LSB 3.0, section 10.6.2. */
static void write_header(struct sk_linker *linker, struct entry *entries, size_t count)
{
	enum { ABSOLUTE_UDATA4 = 0x03, RELATIVE_SDATA4 = 0x1b, TABLE_SDATA4 = 0x3b };
	const struct sk_input_section *header = &linker->made[SK_MADE_FRAME_HEADER];
	uint8_t *bytes = sk_image_at(linker, header);

	if (!is_sorted(entries, count)) /* functions are often in the order of their records */
		qsort(entries, count, sizeof(*entries), compare_entries);

	bytes[0] = 1; /* version */
	bytes[1] = RELATIVE_SDATA4;
	bytes[2] = ABSOLUTE_UDATA4;
	bytes[3] = TABLE_SDATA4;
	write32(bytes + 4, linker->made[SK_MADE_FRAMES].address - (header->address + 4));
	write32(bytes + 8, count);
	for (size_t i = 0; i < count; i++) {
		uint8_t *entry = bytes + SK_FRAME_HEADER_SIZE + i * SK_FRAME_ENTRY_SIZE;

		write32(entry, entries[i].start - header->address);
		write32(entry + 4, entries[i].record - header->address);
	}
}

bool sk_frames_write(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	if (!linker->made[SK_MADE_FRAMES].live)
		return true;

	size_t entries = (linker->made[SK_MADE_FRAME_HEADER].size - SK_FRAME_HEADER_SIZE) / SK_FRAME_ENTRY_SIZE;
	struct writing writing = {.linker = linker, .entries = SK_NEW_ARRAY(linker->arena, struct entry, entries)};

	write_all(&writing);
	write_header(linker, writing.entries, writing.count);
	return linker->diag->errors == errors;
}
