/* Unwind tables, the writing half: the records that stay go into the image, joined into one .eh_frame with the
 * distances that hold there, and .eh_frame_hdr behind them, a table of functions sorted for binary search (LSB 3.0,
 * section 10.6). */
#include <stdlib.h>
#include <string.h>

#include "linker/frames.h"
#include "linker/link.h"
#include "linker/output.h"
#include "linker/passes.h"
#include "linker/relocation.h"
#include "linker/section.h"

static void write32(uint8_t *bytes, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(bytes, &low, sizeof(low));
}

/* What fills a record up to a multiple of eight bytes are DW_CFA_nop, which are zero. */
void sk_frame_copy(const struct sk_frame *frame, uint8_t *bytes)
{
	memcpy(bytes, frame->section->bytes + frame->offset, frame->size);
	write32(bytes, (((uint64_t)frame->size + 7) & ~(uint64_t)7) - 4);
	if (frame->cie)
		write32(bytes + SK_FRAME_ID_OFFSET,
			frame->output_offset + SK_FRAME_ID_OFFSET - frame->cie->output_offset);
}

/* From the code that the FDE's relocation leads to, to that which it describes. */
static uint64_t distance_to_copy(struct sk_linker *linker, const struct sk_frame *frame,
				 const sk_elf_relocation *relocation)
{
	struct sk_target target = sk_relocation_target(linker, frame->section, relocation);

	return target.section ? frame->function->address - target.section->address : 0;
}

static void write_record(struct sk_linker *linker, struct sk_frame *frame)
{
	if (!frame->live)
		return;

	const struct sk_input_section *joined = &linker->made[SK_MADE_FRAMES];
	uint64_t address = joined->address + frame->output_offset;
	uint8_t *bytes = linker->image + address;

	sk_frame_copy(frame, bytes);
	for (uint64_t i = 0; i < frame->relocation_count; i++) {
		sk_elf_relocation relocation = frame->relocations[i];

		if (frame->copied && relocation.r_offset == frame->offset + SK_FRAME_START_OFFSET)
			/* As unsigned numbers, since an addend is any. */
			relocation.r_addend =
				(int64_t)((uint64_t)relocation.r_addend + distance_to_copy(linker, frame, &relocation));
		sk_relocate_one(linker, frame->section, &relocation, bytes, frame->offset, address);
	}
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

/* The start of a live FDE's function: the value of its first relocation without the place. */
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

/* An entry if the frame is live and an FDE; returns their number. */
static size_t gather_one(struct sk_linker *linker, const struct sk_frame *frame, struct entry *entry)
{
	if (!frame->live || !frame->cie)
		return 0;
	*entry = (struct entry){function_start(linker, frame),
				linker->made[SK_MADE_FRAMES].address + frame->output_offset};
	return 1;
}

static size_t gather(struct sk_linker *linker, const struct sk_frame *frames, uint64_t count, struct entry *entries)
{
	size_t found = 0;

	for (uint64_t i = 0; i < count; i++)
		found += gather_one(linker, &frames[i], entries + found);
	return found;
}

/* The header: LSB 3.0, section 10.6.2. */
static void write_header(struct sk_linker *linker)
{
	enum { ABSOLUTE_UDATA4 = 0x03, RELATIVE_SDATA4 = 0x1b, TABLE_SDATA4 = 0x3b };
	const struct sk_input_section *header = &linker->made[SK_MADE_FRAME_HEADER];
	size_t capacity = (header->size - SK_FRAME_HEADER_SIZE) / SK_FRAME_ENTRY_SIZE, count = 0;
	struct entry *entries = SK_NEW_ARRAY(linker->arena, struct entry, capacity);
	uint8_t *bytes = sk_image_at(linker, header);

	count = gather(linker, linker->frames, linker->frame_count, entries);
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		if (object->reached)
			count += gather(linker, object->frames, object->frame_count, entries + count);
	}
	for (size_t i = 0; i < linker->copied_frames.count; i++)
		count += gather_one(linker, linker->copied_frames.items[i], entries + count);
	if (!is_sorted(entries, count)) /* functions often lie in the order of their records */
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
	sk_frames_visit(linker, write_record);
	write_header(linker);
	return linker->diag->errors == errors;
}
