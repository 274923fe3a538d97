/* Unwind tables. The .eh_frame sections of objects come in, taken apart into their records (CIEs, which hold what is
 * common, and FDEs, one per function; LSB 3.0, section 10.6, and DWARF 4, section 6.4). One .eh_frame goes out with the
 * records of live functions, and one .eh_frame_hdr with a table of them, sorted for binary search. */
#include <stdlib.h>
#include <string.h>

#include "linker/internal.h"
#include "src/base/checked.h"

enum {
	ID_OFFSET = 4, /* of the CIE pointer (0 in a CIE), behind the length */
	START_OFFSET = 8, /* of the function's start in an FDE */
	TERMINATOR_SIZE = 4,
	HEADER_SIZE = 12,
	ENTRY_SIZE = 8,
	MOST_ROOM = 64 << 10, /* bytes that a reader keeps for the frames of the next object */
};

static uint32_t read32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static void write32(uint8_t *bytes, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(bytes, &low, sizeof(low));
}

static bool fail(struct sk_reader *reader, const struct sk_input_section *section, uint64_t offset, const char *text)
{
	sk_error(reader->diag, sk_section_place(reader->arena, section, offset), "%s", text);
	return false;
}

/* The record of this section that begins at the offset, or SK_NONE. Records of one section are sorted and come last. */
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

	for (uint64_t offset = 0, size; offset < section->size; offset += size) {
		if (section->size - offset < 4)
			return fail(reader, section, offset, "a record of the unwind table is truncated");

		uint64_t length = read32(bytes + offset);

		size = length + 4;
		if (length == 0) /* a terminator; `ld -r` leaves them between the tables that it joins */
			continue;
		if (length == UINT32_MAX)
			return fail(reader, section, offset, "a record of the unwind table is in the 64-bit format");
		if (length < 4 || size > section->size - offset)
			return fail(reader, section, offset, "a record of the unwind table has a wrong length");

		struct sk_frame frame = {.section = section, .offset = offset, .size = size};
		uint32_t distance = read32(bytes + offset + ID_OFFSET);

		if (distance) {
			uint32_t cie = distance > offset + ID_OFFSET
					       ? SK_NONE
					       : find_record(reader, first, offset + ID_OFFSET - distance);

			if (cie == SK_NONE || reader->frames.items[cie].cie)
				return fail(reader, section, offset, "an unwind record refers to no CIE");
			if (size < START_OFFSET + 4)
				return fail(reader, section, offset, "an unwind record is too short");
			/* A number for now: the array still moves. sk_frames_attach makes it a pointer. */
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
				sk_relocation_type_find(architecture, ELF64_R_TYPE(relocation->r_info));

			if (type && relocation->r_offset + type->width > offset + size)
				return fail(reader, section, relocation->r_offset,
					    "a relocation crosses the end of an unwind record");
			frame.relocation_count++;
		}
		sk_array_push(reader->arena, &reader->frames, frame);
	}
	return true;
}

struct sk_frame *sk_frames_take(struct sk_reader *reader, uint64_t *count)
{
	struct sk_frame *frames = SK_NEW_ARRAY(reader->arena, struct sk_frame, reader->frames.count);
	size_t room = reader->frames.capacity * sizeof(*frames);

	*count = reader->frames.count;
	if (*count)
		memcpy(frames, reader->frames.items, *count * sizeof(*frames));
	if (room > MOST_ROOM) {
		sk_arena_release(reader->arena, reader->frames.items, room);
		reader->frames.capacity = reader->frames.count = 0;
	}
	return frames;
}

/* What the start of an FDE refers to: in its own object, wherever the symbol may be defined in the end. */
static struct sk_input_section *find_function(struct sk_linker *linker, const struct sk_frame *frame)
{
	for (uint64_t i = 0; i < frame->relocation_count; i++) {
		const sk_elf_relocation *relocation = &frame->relocations[i];
		const struct sk_object *object = frame->section->object;
		uint32_t symbol = ELF64_R_SYM(relocation->r_info);

		if (relocation->r_offset != frame->offset + START_OFFSET)
			continue;
		if (!object)
			return linker->symbols.items[symbol].section;

		uint32_t section = symbol ? sk_object_symbol_section(object, symbol) : SHN_UNDEF;

		return section ? sk_object_section(object, section) : NULL;
	}
	return NULL;
}

void sk_frames_attach(struct sk_linker *linker, struct sk_frame *frames, uint64_t count)
{
	for (uint64_t i = count; i-- > 0;) { /* backwards, so that chains are in order */
		struct sk_frame *frame = &frames[i];

		if (!frame->cie)
			continue;
		frame->cie = &frames[(uintptr_t)frame->cie - 1];
		frame->function = find_function(linker, frame);
		if (frame->function && frame->function->loaded) {
			frame->next = frame->function->frames;
			frame->function->frames = frame;
		}
	}
}

/* ---- the joined sections ---- */

static void visit_all(struct sk_linker *linker, void (*visit)(struct sk_linker *linker, struct sk_frame *frame))
{
	for (uint64_t i = 0; i < linker->frame_count; i++)
		visit(linker, &linker->frames[i]);
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		if (object->reached)
			for (uint64_t j = 0; j < object->frame_count; j++)
				visit(linker, &object->frames[j]);
	}
	for (size_t i = 0; i < linker->copied_frames.count; i++)
		visit(linker, linker->copied_frames.items[i]);
}

void sk_frames_visit(struct sk_linker *linker, void (*visit)(struct sk_linker *linker, struct sk_frame *frame))
{
	if (linker->made[SK_MADE_FRAMES].live)
		visit_all(linker, visit);
}

static void choose(struct sk_linker *linker, struct sk_frame *frame)
{
	if (frame->cie && frame->function && frame->function->live) {
		frame->live = frame->cie->live = true;
		linker->made[SK_MADE_FRAME_HEADER].size += ENTRY_SIZE;
	}
}

static void place(struct sk_linker *linker, struct sk_frame *frame)
{
	struct sk_input_section *joined = &linker->made[SK_MADE_FRAMES];

	if (!frame->live)
		return;
	frame->output_offset = joined->size;
	joined->size += (frame->size + 7) & ~(uint64_t)7; /* sizes come from memory that exists: no overflow */
}

void sk_frames_place(struct sk_linker *linker)
{
	struct sk_input_section *joined = &linker->made[SK_MADE_FRAMES];
	struct sk_input_section *header = &linker->made[SK_MADE_FRAME_HEADER];

	visit_all(linker, choose);
	if (!header->size)
		return;
	visit_all(linker, place);
	joined->live = true;
	if (linker->options.relocatable) { /* the next linker makes the header, and joins more records to these */
		header->size = 0;
		return;
	}
	header->size += HEADER_SIZE;
	joined->size += TERMINATOR_SIZE;
	header->live = true;
}

/* What fills a record up to a multiple of eight bytes are DW_CFA_nop, which are zero. */
void sk_frame_copy(const struct sk_frame *frame, uint8_t *bytes)
{
	memcpy(bytes, frame->section->bytes + frame->offset, frame->size);
	write32(bytes, ((frame->size + 7) & ~(uint64_t)7) - 4);
	if (frame->cie)
		write32(bytes + ID_OFFSET, frame->output_offset + ID_OFFSET - frame->cie->output_offset);
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

		if (frame->copied && relocation.r_offset == frame->offset + START_OFFSET)
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
		if (frame->relocations[i].r_offset == frame->offset + START_OFFSET) {
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
	size_t capacity = (header->size - HEADER_SIZE) / ENTRY_SIZE, count = 0;
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
		uint8_t *entry = bytes + HEADER_SIZE + i * ENTRY_SIZE;

		write32(entry, entries[i].start - header->address);
		write32(entry + 4, entries[i].record - header->address);
	}
}

bool sk_frames_write(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	if (!linker->made[SK_MADE_FRAMES].live)
		return true;
	visit_all(linker, write_record);
	write_header(linker);
	return linker->diag->errors == errors;
}
