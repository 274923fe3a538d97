/* What a function has to leave as it was (psABI 3.2.1): of the flags DF clear, the control bits of MXCSR, the x87
 * control word, and an empty x87 stack. In comes what loader/arch/x86_64/invoke.S has found behind the call; out goes
 * one sentence.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "loader/checks/checked-call.h"

enum { DIRECTION = 1 << 10, ALIGNMENT = 1 << 18, MXCSR_CONTROL = 0xffc0, ALL_EMPTY = 0xffff };

bool sk_registers_are_tidy(const struct sk_registers *registers, char *finding)
{
	uint32_t control = registers->x87[0] & 0xffff, tags = registers->x87[2] & 0xffff;

	if (registers->flags & DIRECTION)
		snprintf(finding, SK_FINDING_SIZE, "it has returned with the direction flag set");
	else if (registers->flags & ALIGNMENT)
		snprintf(finding, SK_FINDING_SIZE, "it has returned with alignment checks on");
	else if ((registers->mxcsr ^ registers->mxcsr_before) & MXCSR_CONTROL)
		snprintf(finding, SK_FINDING_SIZE,
			 "it has changed MXCSR (rounding, flushing to zero, exceptions) from 0x%" PRIx32
			 " to 0x%" PRIx32,
			 registers->mxcsr_before & MXCSR_CONTROL, registers->mxcsr & MXCSR_CONTROL);
	else if (control != registers->x87_before)
		snprintf(finding, SK_FINDING_SIZE,
			 "it has changed the x87 control word from 0x%" PRIx32 " to 0x%" PRIx32, registers->x87_before,
			 control);
	else if (tags != ALL_EMPTY)
		snprintf(finding, SK_FINDING_SIZE,
			 "it has returned with values on the x87 stack, or from MMX without emms");
	else
		return true;
	return false;
}
