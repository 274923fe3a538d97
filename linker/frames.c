/* Unwind tables. Input: the .eh_frame sections of objects, split into records: CIEs, which hold common parts, and FDEs,
 * one per function (LSB 3.0, section 10.6, and DWARF 4, section 6.4). Output: the records of live functions, each with
 * its offset in the image's single .eh_frame, and the sizes of .eh_frame and .eh_frame_hdr. frames-write.c writes
 * both. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

enum { MOST_ROOM = 64 << 10 }; /* bytes that a reader keeps for the frames of the next object */

static uint32_t read32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static bool refuse_frame(struct sk_reader *reader, const struct sk_input_section *section, uint64_t offset,
			 const char *text)
{
	sk_error(reader->diag, sk_section_place(reader->arena, section, offset), "%s", text);
	return false;
}

/* Return the record of this section that begins at the offset, or SK_NONE. Records of one section are sorted and come
 * last. */
static uint32_t find_record(const struct sk_reader *reader, size_t first, uint64_t offset)
{
	const struct sk_frame *frames = reader->frames.items;
	size_t low = first, high = reader->frames.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frames[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reader->frames.count && frames[low].offset == offset ? (uint32_t)low : SK_NONE;
}

bool sk_frames_read(struct sk_reader *reader, const struct sk_architecture *architecture,
		    struct sk_input_section *section)
{
	const uint8_t *bytes = section->bytes;
	size_t first = reader->frames.count;
	uint64_t next_relocation = 0;

	if (section->size > UINT32_MAX)
		return refuse_frame(reader, section, 0, "the unwind table is larger than 4 GiB");
	for (uint64_t offset = 0, size; offset < section->size; offset += size) {
		if (section->size - offset < 4)
			return refuse_frame(reader, section, offset, "a record of the unwind table is truncated");

		uint64_t length = read32(bytes + offset);

		size = length + 4;
		if (length == 0) /* a terminator; `ld -r` leaves them between the tables that it joins */
			continue;
		if (length == UINT32_MAX)
			return refuse_frame(reader, section, offset,
					    "a record of the unwind table is in the 64-bit format");
		if (length < 4 || size > section->size - offset)
			return refuse_frame(reader, section, offset, "a record of the unwind table has a wrong length");

		struct sk_frame frame = {.section = section, .offset = (uint32_t)offset, .size = (uint32_t)size};
		uint32_t distance = read32(bytes + offset + SK_FRAME_ID_OFFSET);

		if (distance) {
			uint32_t cie = distance > offset + SK_FRAME_ID_OFFSET
					       ? SK_NONE
					       : find_record(reader, first, offset + SK_FRAME_ID_OFFSET - distance);

			if (cie == SK_NONE || reader->frames.items[cie].cie)
				return refuse_frame(reader, section, offset, "an unwind record refers to no CIE");
			if (size < SK_FRAME_START_OFFSET + 4)
				return refuse_frame(reader, section, offset, "an unwind record is too short");
			/* Stored as a number because the array still moves; sk_frames_attach makes it a pointer. */
			frame.cie = (struct sk_frame *)(uintptr_t)(cie + 1);
		}
		while (next_relocation < section->relocation_count &&
		       section->relocations[next_relocation].r_offset < offset)
			next_relocation++;
		if (section->relocations) /* pointer arithmetic on NULL is undefined, even with 0 */
			frame.relocations = section->relocations + next_relocation;
		while (next_relocation < section->relocation_count &&
		       section->relocations[next_relocation].r_offset < offset + size) {
			const sk_elf_relocation *relocation = &section->relocations[next_relocation++];
			const struct sk_relocation_type *type =
				sk_relocation_type_find(architecture->relocations, ELF64_R_TYPE(relocation->r_info));

			if (type && relocation->r_offset + type->width > offset + size)
				return refuse_frame(reader, section, relocation->r_offset,
						    "a relocation crosses the end of an unwind record");
			frame.relocation_count++;
		}
		sk_array_push(reader->arena, &reader->frames, frame);
	}
	return true;
}

struct sk_frame *sk_frames_take(struct sk_reader *reader, uint32_t *count)
{
	struct sk_frame *frames = SK_NEW_ARRAY(reader->arena, struct sk_frame, reader->frames.count);
	size_t room = reader->frames.capacity * sizeof(*frames);

	*count = (uint32_t)reader->frames.count;
	if (*count)
		memcpy(frames, reader->frames.items, *count * sizeof(*frames));
	if (room > MOST_ROOM) {
		sk_arena_release(reader->arena, reader->frames.items, room);
		reader->frames.capacity = reader->frames.count = 0;
	}
	return frames;
}

/* Return the section that the start of an FDE refers to: always the one in its own object, even if another definition
 * of the symbol is chosen. */
static struct sk_input_section *find_function(const struct sk_linker *linker, const struct sk_frame *frame)
{
	for (uint64_t i = 0; i < frame->relocation_count; i++) {
		const sk_elf_relocation *relocation = &frame->relocations[i];
		const struct sk_object *object = frame->section->object;
		uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);

		if (relocation->r_offset != frame->offset + SK_FRAME_START_OFFSET)
			continue;
		if (!object)
			return linker->symbols.items[symbol].section;

		uint32_t section = symbol ? sk_object_symbol_section(object, symbol) : SHN_UNDEF;

		return section ? sk_object_section(object, section) : NULL;
	}
	return NULL;
}

void sk_frames_attach(const struct sk_linker *linker, struct sk_frame *frames, uint64_t count)
{
	for (uint64_t i = count; i-- > 0;) { /* backwards, so that chains are in order */
		struct sk_frame *frame = &frames[i];

		if (!frame->cie)
			continue;
		frame->cie = &frames[(uintptr_t)frame->cie - 1];
		frame->function = find_function(linker, frame);
		if (frame->function && frame->function->mergeable) /* strings or records, not code */
			frame->function = NULL;
		if (frame->function && frame->function->loaded) {
			frame->next = frame->function->frames;
			frame->function->frames = frame;
		}
	}
}

/* ---- the joined sections ---- */

static void visit_object(struct sk_linker *linker, const struct sk_object *object, sk_frame_visitor *visit)
{
	for (uint64_t i = 0; i < object->frame_count; i++)
		visit(linker, &object->frames[i]);
}

static void visit_synthetic(struct sk_linker *linker, sk_frame_visitor *visit)
{
	for (uint64_t i = 0; i < linker->frame_count; i++)
		visit(linker, &linker->frames[i]);
}

static void visit_copied(struct sk_linker *linker, sk_frame_visitor *visit)
{
	for (size_t i = 0; i < linker->copied_frames.count; i++)
		visit(linker, linker->copied_frames.items[i]);
}

static void visit_all(struct sk_linker *linker, bool unscanned, sk_frame_visitor *visit)
{
	if (!linker->made[SK_MADE_FRAMES].live)
		return;
	visit_synthetic(linker, visit);
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		if (object->reached && (object->unscanned || !unscanned))
			visit_object(linker, object, visit);
	}
	visit_copied(linker, visit);
}

void sk_frames_visit(struct sk_linker *linker, sk_frame_visitor *visit)
{
	visit_all(linker, false, visit);
}

void sk_frames_visit_unscanned(struct sk_linker *linker, sk_frame_visitor *visit)
{
	visit_all(linker, true, visit);
}

static void choose_frame(struct sk_linker *linker, struct sk_frame *frame)
{
	if (frame->cie && frame->function && frame->function->live) {
		frame->live = frame->cie->live = true;
		linker->made[SK_MADE_FRAME_HEADER].size += SK_FRAME_ENTRY_SIZE;
	}
}

static void place_frame(struct sk_linker *linker, struct sk_frame *frame)
{
	struct sk_input_section *joined = &linker->made[SK_MADE_FRAMES];

	if (!frame->live)
		return;
	frame->output_offset = joined->size;
	joined->size += ((uint64_t)frame->size + 7) & ~(uint64_t)7; /* sizes of existing memory: no overflow */
}

void sk_frames_place(struct sk_linker *linker)
{
	struct sk_input_section *joined = &linker->made[SK_MADE_FRAMES];
	struct sk_input_section *header = &linker->made[SK_MADE_FRAME_HEADER];

	visit_copied(linker, choose_frame); /* their CIEs are the originals' */
	visit_synthetic(linker, choose_frame);
	visit_synthetic(linker, place_frame);
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		if (!object->reached)
			continue;
		visit_object(linker, object, choose_frame);
		visit_object(linker, object, place_frame);
	}
	visit_copied(linker, place_frame);
	if (!header->size)
		return;
	joined->live = true;
	if (linker->options.relocatable) { /* the next linker makes the header and adds records to these */
		header->size = 0;
		return;
	}
	header->size += SK_FRAME_HEADER_SIZE;
	joined->size += SK_FRAME_TERMINATOR_SIZE;
	header->live = true;
}
