/* Checks the state that a function has to preserve (psABI 3.2.1): DF clear, the control bits of MXCSR, the x87 control
 * word, and an empty x87 stack. Input: the state that loader/arch/x86_64/invoke.S stores before and after the call.
 * Output: one sentence. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "loader/arch/machine.h"

enum { DIRECTION = 1 << 10, ALIGNMENT = 1 << 18, MXCSR_CONTROL = 0xffc0, ALL_EMPTY = 0xffff };

_Static_assert(offsetof(struct sk_registers, floats) == 48 && offsetof(struct sk_registers, stack_count) == 112 &&
		       offsetof(struct sk_registers, stack) == 120 &&
		       offsetof(struct sk_registers, integer_result) == 128 &&
		       offsetof(struct sk_registers, float_result) == 136 &&
		       offsetof(struct sk_registers, control.flags) == 144 &&
		       offsetof(struct sk_registers, control.mxcsr) == 152 &&
		       offsetof(struct sk_registers, control.mxcsr_before) == 156 &&
		       offsetof(struct sk_registers, control.x87) == 160 &&
		       offsetof(struct sk_registers, control.x87_before) == 188,
	       "loader/arch/x86_64/invoke.S depends on it");

bool sk_control_is_tidy(const struct sk_control *control, char *finding, size_t size)
{
	uint32_t word = control->x87[0] & 0xffff, tags = control->x87[2] & 0xffff;

	if (control->flags & DIRECTION)
		snprintf(finding, size, "it has returned with the direction flag set");
	else if (control->flags & ALIGNMENT)
		snprintf(finding, size, "it has returned with alignment checks on");
	else if ((control->mxcsr ^ control->mxcsr_before) & MXCSR_CONTROL)
		snprintf(finding, size,
			 "it has changed MXCSR (rounding, flushing to zero, exceptions) from 0x%" PRIx32
			 " to 0x%" PRIx32,
			 control->mxcsr_before & MXCSR_CONTROL, control->mxcsr & MXCSR_CONTROL);
	else if (word != control->x87_before)
		snprintf(finding, size, "it has changed the x87 control word from 0x%" PRIx32 " to 0x%" PRIx32,
			 control->x87_before, word);
	else if (tags != ALL_EMPTY)
		snprintf(finding, size, "it has returned with values on the x87 stack, or from MMX without emms");
	else
		return true;
	return false;
}
