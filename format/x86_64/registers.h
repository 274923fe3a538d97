/* Registers of x86-64 and their use in calls (psABI 3.2): six integers and eight floating-point numbers are passed in
 * registers, all others in words on the stack. */
#ifndef SK_REGISTERS_X86_64_H
#define SK_REGISTERS_X86_64_H

#include <stdint.h>

#include "format/convention.h"

/* clang-format off */
enum sk_x86_register {
	SK_RAX, SK_RCX, SK_RDX, SK_RBX, SK_RSP, SK_RBP, SK_RSI, SK_RDI,
	SK_R8,	SK_R9,	SK_R10, SK_R11, SK_R12, SK_R13, SK_R14, SK_R15,
};
/* clang-format on */

enum { SK_X86_INTEGERS = 6, SK_X86_VECTORS = 8, SK_X86_PRESERVED = 6 };

static const uint8_t sk_x86_integers[SK_X86_INTEGERS] = {SK_RDI, SK_RSI, SK_RDX, SK_RCX, SK_R8, SK_R9};
static const uint8_t sk_x86_vectors[SK_X86_VECTORS] = {0, 1, 2, 3, 4, 5, 6, 7}; /* xmm0 … */

/* psABI table 3.4, with the numbers of table 3.36. */
static const struct sk_preserved_register sk_x86_preserved[SK_X86_PRESERVED] = {
	{SK_RBP, 6}, {SK_RBX, 3}, {SK_R12, 12}, {SK_R13, 13}, {SK_R14, 14}, {SK_R15, 15}};

static const struct sk_convention sk_x86_convention = {
	.integers = sk_x86_integers,
	.vectors = sk_x86_vectors,
	.preserved = sk_x86_preserved,
	.integer_count = SK_X86_INTEGERS,
	.vector_count = SK_X86_VECTORS,
	.preserved_count = SK_X86_PRESERVED,
	.struct_parts = 2, /* psABI 3.2.3: a struct larger than two eightbytes that is not a vector is in memory */
	.slot_size = 8,
	.stack_alignment = 16,
};

#endif
