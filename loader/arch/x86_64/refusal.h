/* The reason why the processor refused an instruction, for context.c only. */
#ifndef SK_LOADER_REFUSAL_H
#define SK_LOADER_REFUSAL_H

#include <stdbool.h>
#include <ucontext.h>

#include "loader/arch/machine.h"

/* Find the reason for an interrupted thread with these registers. of_stack: the access was by the stack pointer. */
struct sk_refusal sk_refusal_find(const greg_t *registers, bool of_stack);

#endif
