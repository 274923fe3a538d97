/* Unwind tables; see dispatcher.h. Every record is padded to 8 bytes with DW_CFA_nop, so that records stay aligned when
 * the linker joins them with those of the inputs. */
#include "stubs/dispatcher/dispatcher.h"

#include "base/arena.h"

/* DWARF 5 section 7.24 and the LSB's pointer encodings. */
enum {
	DW_CFA_NOP = 0x00,
	DW_CFA_ADVANCE_1 = 0x02,
	DW_CFA_ADVANCE_2 = 0x03,
	DW_CFA_ADVANCE_4 = 0x04,
	DW_CFA_REMEMBER_STATE = 0x0a,
	DW_CFA_RESTORE_STATE = 0x0b,
	DW_CFA_DEF_CFA = 0x0c,
	DW_CFA_DEF_CFA_OFFSET = 0x0e,
	DW_CFA_ADVANCE = 0x40, /* + delta */
	DW_CFA_OFFSET = 0x80, /* + register */
	DW_EH_PE_PCREL_SDATA4 = 0x1b,
};

static void put_value(struct sk_eh_frame *frame, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		sk_array_push(frame->code->arena, &frame->code->eh_frame, (uint8_t)(value >> 8 * i));
}

static void put_uleb128(struct sk_eh_frame *frame, uint64_t value)
{
	do {
		put_value(frame, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
		value >>= 7;
	} while (value);
}

static void patch(struct sk_eh_frame *frame, uint64_t at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		frame->code->eh_frame.items[at + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t begin_record(struct sk_eh_frame *frame)
{
	uint64_t start = frame->code->eh_frame.count;

	put_value(frame, 0, 4); /* length: see end_record */
	return start;
}

static void end_record(struct sk_eh_frame *frame, uint64_t start)
{
	while (frame->code->eh_frame.count % 8 != 0)
		put_value(frame, DW_CFA_NOP, 1);
	patch(frame, start, (uint32_t)(frame->code->eh_frame.count - start - 4));
}

/* The CIE is at offset 0, for all functions. */
void sk_eh_open(struct sk_eh_frame *frame, struct sk_code *code, const struct sk_eh_machine *machine)
{
	*frame = (struct sk_eh_frame){.code = code, .machine = machine};
	if (code->eh_frame.count)
		return;

	uint64_t start = begin_record(frame);

	put_value(frame, 0, 4); /* CIE, not FDE */
	put_value(frame, 1, 1); /* version */
	put_value(frame, 'z', 1);
	put_value(frame, 'R', 1);
	put_value(frame, 0, 1);
	put_uleb128(frame, machine->code_alignment);
	put_value(frame, (uint8_t)machine->data_alignment & 0x7f, 1); /* SLEB128 of a small number */
	put_uleb128(frame, machine->return_address);
	put_uleb128(frame, 1); /* augmentation: how FDEs write addresses */
	put_value(frame, DW_EH_PE_PCREL_SDATA4, 1);
	put_value(frame, DW_CFA_DEF_CFA, 1);
	put_uleb128(frame, machine->stack_pointer);
	put_uleb128(frame, machine->cfa_offset);
	if (machine->return_address_at) {
		put_value(frame, DW_CFA_OFFSET + machine->return_address, 1);
		put_uleb128(frame, (uint64_t)(machine->return_address_at / machine->data_alignment));
	}
	end_record(frame, start);
}

void sk_eh_function_begin(struct sk_eh_frame *frame, uint64_t offset)
{
	frame->record = begin_record(frame);
	put_value(frame, frame->code->eh_frame.count, 4); /* back to the CIE at offset 0, from this field */
	sk_array_push(frame->code->arena, &frame->code->eh_frame_starts, frame->code->eh_frame.count);
	put_value(frame, 0, 4); /* start: the linker's relocation */
	put_value(frame, 0, 4); /* size: see sk_eh_function_end */
	put_value(frame, 0, 1); /* no augmentation */
	frame->function = frame->place = offset;
}

static void advance(struct sk_eh_frame *frame, uint64_t offset)
{
	uint64_t delta = (offset - frame->place) / frame->machine->code_alignment;

	frame->place = offset;
	if (delta == 0)
		return;
	if (delta < 0x40) {
		put_value(frame, DW_CFA_ADVANCE + delta, 1);
	} else if (delta <= UINT8_MAX) {
		put_value(frame, DW_CFA_ADVANCE_1, 1);
		put_value(frame, delta, 1);
	} else if (delta <= UINT16_MAX) {
		put_value(frame, DW_CFA_ADVANCE_2, 1);
		put_value(frame, delta, 2);
	} else {
		put_value(frame, DW_CFA_ADVANCE_4, 1);
		put_value(frame, delta, 4);
	}
}

void sk_eh_cfa_offset(struct sk_eh_frame *frame, uint64_t offset, uint32_t bytes)
{
	advance(frame, offset);
	put_value(frame, DW_CFA_DEF_CFA_OFFSET, 1);
	put_uleb128(frame, bytes);
}

void sk_eh_saved(struct sk_eh_frame *frame, uint64_t offset, uint8_t dwarf_register, uint32_t bytes_below_cfa)
{
	advance(frame, offset);
	put_value(frame, DW_CFA_OFFSET + dwarf_register, 1);
	put_uleb128(frame, bytes_below_cfa / (uint32_t)-frame->machine->data_alignment);
}

void sk_eh_remember(struct sk_eh_frame *frame, uint64_t offset)
{
	advance(frame, offset);
	put_value(frame, DW_CFA_REMEMBER_STATE, 1);
}

void sk_eh_restore(struct sk_eh_frame *frame, uint64_t offset)
{
	advance(frame, offset);
	put_value(frame, DW_CFA_RESTORE_STATE, 1);
}

void sk_eh_function_end(struct sk_eh_frame *frame, uint64_t offset)
{
	uint64_t start = frame->code->eh_frame_starts.items[frame->code->eh_frame_starts.count - 1];

	patch(frame, start + 4, (uint32_t)(offset - frame->function));
	end_record(frame, frame->record);
}
