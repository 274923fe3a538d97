/* Unwind tables for synthesized functions. In: where the canonical frame address (CFA) lies and which registers were
 * saved, told while a function is emitted. Out: one CIE and an FDE per function in sk_code's eh_frame. Nothing here
 * depends on the architecture but the numbers that struct sk_eh_machine holds.
 *
 * Format: Linux Standard Base core specification, "Exception Frames"; DWARF 5 section 6.4. */
#ifndef SK_EH_FRAME_H
#define SK_EH_FRAME_H

#include "stubs/dispatcher/dispatcher.h"

struct sk_eh_machine {
	uint8_t code_alignment; /* factor of every advance */
	int8_t data_alignment; /* factor of every save */
	uint8_t return_address; /* DWARF register */
	uint8_t stack_pointer; /* DWARF register that the CFA is counted from */
	uint8_t cfa_offset; /* CFA at a function's first instruction */
	int8_t return_address_at; /* bytes from the CFA; 0: in its register */
};

struct sk_eh_frame {
	struct sk_code *code;
	const struct sk_eh_machine *machine;
	uint64_t record; /* start of the current FDE */
	uint64_t function; /* offset of the function in the code */
	uint64_t place; /* up to here the rows have been told */
};

void sk_eh_open(struct sk_eh_frame *frame, struct sk_code *code, const struct sk_eh_machine *machine);

/* All offsets are those of the code; they must not decrease within a function. */
void sk_eh_function_begin(struct sk_eh_frame *frame, uint64_t offset);
void sk_eh_cfa_offset(struct sk_eh_frame *frame, uint64_t offset, uint32_t bytes);
void sk_eh_saved(struct sk_eh_frame *frame, uint64_t offset, uint8_t dwarf_register, uint32_t bytes_below_cfa);
void sk_eh_remember(struct sk_eh_frame *frame, uint64_t offset);
void sk_eh_restore(struct sk_eh_frame *frame, uint64_t offset);
void sk_eh_function_end(struct sk_eh_frame *frame, uint64_t offset);

#endif
