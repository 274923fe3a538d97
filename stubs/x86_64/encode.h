/* x86-64 instructions: one row per form that dispatchers use. In: a form and its operands. Out: the bytes. What an
 * instruction is for is none of this file's business; x86_64/emit.c knows that. tests/unit/emit.sh holds every row
 * against the system's assembler. */
#ifndef SK_ENCODE_X86_64_H
#define SK_ENCODE_X86_64_H

#include <stddef.h>
#include <stdint.h>

#include "format/x86_64/registers.h"

/* clang-format off */
/* A branch's rel32 form follows its rel8 form. */
enum sk_x86_form {
	SK_X86_PUSH, SK_X86_POP,
	SK_X86_MOVE64,
	SK_X86_LOAD64, SK_X86_LOAD32, SK_X86_LOAD_U16, SK_X86_LOAD_I16, SK_X86_LOAD_U8, SK_X86_LOAD_I8,
	SK_X86_STORE64, SK_X86_STORE32, SK_X86_STORE16, SK_X86_STORE8,
	SK_X86_STORE64_IMMEDIATE, SK_X86_STORE32_IMMEDIATE,
	SK_X86_ADDRESS, SK_X86_ADDRESS_RELATIVE,
	SK_X86_ZERO32,
	SK_X86_SET32, SK_X86_SET64_SIGNED, SK_X86_SET64,
	SK_X86_ADD64, SK_X86_ADD64_MEMORY, SK_X86_ADD32_MEMORY,
	SK_X86_ADD64_BYTE, SK_X86_ADD64_IMMEDIATE,
	SK_X86_SUBTRACT64, SK_X86_SUBTRACT64_MEMORY, SK_X86_SUBTRACT64_BYTE, SK_X86_SUBTRACT64_IMMEDIATE,
	SK_X86_INCREMENT32, SK_X86_DECREMENT32,
	SK_X86_SHIFT_LEFT64, SK_X86_SHIFT_RIGHT64, SK_X86_SHIFT_RIGHT64_SIGNED,
	SK_X86_AND64_IMMEDIATE,
	SK_X86_DIVIDE32, SK_X86_DIVIDE64,
	SK_X86_MULTIPLY64, SK_X86_MULTIPLY64_BYTE, SK_X86_MULTIPLY64_IMMEDIATE,
	SK_X86_MOVE64_ABOVE,
	SK_X86_COMPARE_MEMORY64, SK_X86_COMPARE_MEMORY32_BYTE, SK_X86_COMPARE32_MEMORY, SK_X86_COMPARE64_MEMORY,
	SK_X86_COMPARE64,
	SK_X86_COMPARE32_BYTE, SK_X86_COMPARE_EAX_IMMEDIATE,
	SK_X86_TEST32, SK_X86_TEST64,
	SK_X86_ZERO_FLOAT, SK_X86_TO_FLOAT32, SK_X86_TO_FLOAT64, SK_X86_FROM_FLOAT32, SK_X86_FROM_FLOAT64,
	SK_X86_JUMP, SK_X86_JUMP_FAR,
	SK_X86_JUMP_BELOW, SK_X86_JUMP_BELOW_FAR,
	SK_X86_JUMP_ABOVE_EQUAL, SK_X86_JUMP_ABOVE_EQUAL_FAR,
	SK_X86_JUMP_EQUAL, SK_X86_JUMP_EQUAL_FAR,
	SK_X86_JUMP_NOT_EQUAL, SK_X86_JUMP_NOT_EQUAL_FAR,
	SK_X86_JUMP_BELOW_EQUAL, SK_X86_JUMP_BELOW_EQUAL_FAR,
	SK_X86_CALL, SK_X86_CALL_MEMORY,
	SK_X86_RETURN,
	SK_X86_STORE_FENCE, SK_X86_LOAD_FENCE,
	SK_X86_READ_TIME,
	SK_X86_FULL_FENCE,
	SK_X86_PREFETCH,
	SK_X86_FORM_COUNT,
};
/* clang-format on */

/* How the operands lie in the instruction (Intel SDM volume 2, chapter 2). */
enum sk_x86_layout {
	SK_X86_BARE, /* opcode, immediate */
	SK_X86_IN_OPCODE, /* the register `rm` in the opcode's low bits */
	SK_X86_REGISTERS, /* ModRM with two registers */
	SK_X86_WITH_MEMORY, /* ModRM, SIB, displacement */
	SK_X86_RIP, /* ModRM with a displacement from the next instruction */
};

enum { SK_X86_WIDE = 1 /* REX.W */, SK_X86_ESCAPE = 2 /* opcode behind 0f */, SK_X86_BYTE_REGISTER = 4 };

struct sk_x86_instruction {
	/* Intel syntax. Operands: r64 r32 r16 r8 x the ModRM register, s64 s32 y the one in r/m or in the opcode, [m]
	 * memory, i8 i32 i64 immediates, rel8 rel32 displacements from the next instruction. */
	const char *assembly;
	uint8_t layout; /* enum sk_x86_layout */
	uint8_t flags;
	uint8_t prefix; /* 0: none */
	uint8_t opcode;
	uint8_t extension; /* ModRM register field where that is part of the opcode */
	uint8_t immediate; /* bytes of the immediate or branch displacement */
};

extern const struct sk_x86_instruction sk_x86_instructions[SK_X86_FORM_COUNT];

/* Fields that the form does not have are ignored, but for reg, which must then be 0. */
struct sk_x86_operands {
	uint8_t reg; /* r64 …, x */
	uint8_t rm; /* s64 …, y; with memory: the base */
	uint8_t index; /* with memory, if scale is not 0; never SK_RSP */
	uint8_t scale; /* 1, 2, 4, 8; 0: no index */
	int32_t disp; /* with memory; RIP: the displacement */
	uint64_t immediate; /* and branch displacements; truncated to the form's size */
};

enum { SK_X86_LONGEST = 24 }; /* bytes that may be written; those behind the length mean nothing */

/* Returns the length. Displacements in memory operands take the shortest form. */
size_t sk_x86_encode(uint8_t bytes[SK_X86_LONGEST], enum sk_x86_form form, struct sk_x86_operands operands);

#endif
