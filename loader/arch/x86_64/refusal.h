/* Why the processor has refused an instruction: for context.c alone. */
#ifndef SK_LOADER_REFUSAL_H
#define SK_LOADER_REFUSAL_H

#include <stdbool.h>
#include <ucontext.h>

#include "loader/arch/machine.h"

/* Of an interrupted thread with these registers. of_stack: it was an access by the stack pointer. */
struct sk_refusal sk_refusal_find(const greg_t *registers, bool of_stack);

#endif
