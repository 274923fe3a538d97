/* The table of instructions, with each one's bytes beside its assembly, and the one function that combines prefixes,
 * opcode, ModRM, SIB, displacement and immediate. Encodings: Intel SDM volume 2. */
#include "stubs/x86_64/emitter.h"

#include <endian.h>
#include <string.h>

#include "format/x86_64/registers.h"

#define WIDE   SK_X86_WIDE
#define ESCAPE SK_X86_ESCAPE

/* clang-format off */
const struct sk_x86_instruction sk_x86_instructions[SK_X86_FORM_COUNT] = {
	/*                             assembly                    layout               flags   prefix opcode ext imm */
	[SK_X86_PUSH]                = {"push s64",                SK_X86_IN_OPCODE,    0,             0,    0x50, 0, 0},
	[SK_X86_POP]                 = {"pop s64",                 SK_X86_IN_OPCODE,    0,             0,    0x58, 0, 0},
	[SK_X86_MOVE64]              = {"mov s64, r64",            SK_X86_REGISTERS,    WIDE,          0,    0x89, 0, 0},
	[SK_X86_LOAD64]              = {"mov r64, [m]",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x8b, 0, 0},
	[SK_X86_LOAD32]              = {"mov r32, [m]",            SK_X86_WITH_MEMORY,  0,             0,    0x8b, 0, 0},
	[SK_X86_LOAD_U16]            = {"movzx r32, word ptr [m]", SK_X86_WITH_MEMORY,  ESCAPE,        0,    0xb7, 0, 0},
	[SK_X86_LOAD_I16]            = {"movsx r32, word ptr [m]", SK_X86_WITH_MEMORY,  ESCAPE,        0,    0xbf, 0, 0},
	[SK_X86_LOAD_U8]             = {"movzx r32, byte ptr [m]", SK_X86_WITH_MEMORY,  ESCAPE,        0,    0xb6, 0, 0},
	[SK_X86_LOAD_I8]             = {"movsx r32, byte ptr [m]", SK_X86_WITH_MEMORY,  ESCAPE,        0,    0xbe, 0, 0},
	[SK_X86_STORE64]             = {"mov [m], r64",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x89, 0, 0},
	[SK_X86_STORE32]             = {"mov [m], r32",            SK_X86_WITH_MEMORY,  0,             0,    0x89, 0, 0},
	[SK_X86_STORE16]             = {"mov [m], r16",            SK_X86_WITH_MEMORY,  0,             0x66, 0x89, 0, 0},
	[SK_X86_STORE8]              = {"mov [m], r8",             SK_X86_WITH_MEMORY,  SK_X86_BYTE_REGISTER, 0, 0x88, 0, 0},
	[SK_X86_STORE64_IMMEDIATE]   = {"mov qword ptr [m], i32",  SK_X86_WITH_MEMORY,  WIDE,          0,    0xc7, 0, 4},
	[SK_X86_STORE32_IMMEDIATE]   = {"mov dword ptr [m], i32",  SK_X86_WITH_MEMORY,  0,             0,    0xc7, 0, 4},
	[SK_X86_ADDRESS]             = {"lea r64, [m]",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x8d, 0, 0},
	[SK_X86_ADDRESS_RELATIVE]    = {"lea r64, [rip+rel32]",    SK_X86_RIP,          WIDE,          0,    0x8d, 0, 0},
	[SK_X86_ZERO32]              = {"xor s32, r32",            SK_X86_REGISTERS,    0,             0,    0x31, 0, 0},
	[SK_X86_SET32]               = {"mov s32, i32",            SK_X86_IN_OPCODE,    0,             0,    0xb8, 0, 4},
	[SK_X86_SET64_SIGNED]        = {"mov s64, i32",            SK_X86_REGISTERS,    WIDE,          0,    0xc7, 0, 4},
	[SK_X86_SET64]               = {"movabs s64, i64",         SK_X86_IN_OPCODE,    WIDE,          0,    0xb8, 0, 8},
	[SK_X86_ADD64]               = {"add s64, r64",            SK_X86_REGISTERS,    WIDE,          0,    0x01, 0, 0},
	[SK_X86_ADD64_MEMORY]        = {"add r64, [m]",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x03, 0, 0},
	[SK_X86_ADD32_MEMORY]        = {"add r32, [m]",            SK_X86_WITH_MEMORY,  0,             0,    0x03, 0, 0},
	[SK_X86_ADD64_BYTE]          = {"add s64, i8",             SK_X86_REGISTERS,    WIDE,          0,    0x83, 0, 1},
	[SK_X86_ADD64_IMMEDIATE]     = {"add s64, i32",            SK_X86_REGISTERS,    WIDE,          0,    0x81, 0, 4},
	[SK_X86_SUBTRACT64]          = {"sub s64, r64",            SK_X86_REGISTERS,    WIDE,          0,    0x29, 0, 0},
	[SK_X86_SUBTRACT64_MEMORY]   = {"sub r64, [m]",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x2b, 0, 0},
	[SK_X86_SUBTRACT64_BYTE]     = {"sub s64, i8",             SK_X86_REGISTERS,    WIDE,          0,    0x83, 5, 1},
	[SK_X86_SUBTRACT64_IMMEDIATE] = {"sub s64, i32",           SK_X86_REGISTERS,    WIDE,          0,    0x81, 5, 4},
	[SK_X86_INCREMENT32]         = {"inc s32",                 SK_X86_REGISTERS,    0,             0,    0xff, 0, 0},
	[SK_X86_DECREMENT32]         = {"dec s32",                 SK_X86_REGISTERS,    0,             0,    0xff, 1, 0},
	[SK_X86_SHIFT_LEFT64]        = {"shl s64, i8",             SK_X86_REGISTERS,    WIDE,          0,    0xc1, 4, 1},
	[SK_X86_SHIFT_RIGHT64]       = {"shr s64, i8",             SK_X86_REGISTERS,    WIDE,          0,    0xc1, 5, 1},
	[SK_X86_SHIFT_RIGHT64_SIGNED] = {"sar s64, i8",            SK_X86_REGISTERS,    WIDE,          0,    0xc1, 7, 1},
	[SK_X86_AND64_IMMEDIATE]     = {"and s64, i32",            SK_X86_REGISTERS,    WIDE,          0,    0x81, 4, 4},
	[SK_X86_DIVIDE32]            = {"div s32",                 SK_X86_REGISTERS,    0,             0,    0xf7, 6, 0},
	[SK_X86_DIVIDE64]            = {"div s64",                 SK_X86_REGISTERS,    WIDE,          0,    0xf7, 6, 0},
	[SK_X86_MULTIPLY64]          = {"imul r64, s64",           SK_X86_REGISTERS,    WIDE | ESCAPE, 0,    0xaf, 0, 0},
	[SK_X86_MULTIPLY64_MEMORY]   = {"imul r64, [m]",           SK_X86_WITH_MEMORY,  WIDE | ESCAPE, 0,    0xaf, 0, 0},
	[SK_X86_MULTIPLY64_BYTE]     = {"imul r64, s64, i8",       SK_X86_REGISTERS,    WIDE,          0,    0x6b, 0, 1},
	[SK_X86_MULTIPLY64_IMMEDIATE] = {"imul r64, s64, i32",     SK_X86_REGISTERS,    WIDE,          0,    0x69, 0, 4},
	[SK_X86_MOVE64_ABOVE]        = {"cmova r64, s64",          SK_X86_REGISTERS,    WIDE | ESCAPE, 0,    0x47, 0, 0},
	[SK_X86_COMPARE_MEMORY64]    = {"cmp [m], r64",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x39, 0, 0},
	[SK_X86_COMPARE_MEMORY32_BYTE] = {"cmp dword ptr [m], i8", SK_X86_WITH_MEMORY,  0,             0,    0x83, 7, 1},
	[SK_X86_COMPARE32_MEMORY]    = {"cmp r32, [m]",            SK_X86_WITH_MEMORY,  0,             0,    0x3b, 0, 0},
	[SK_X86_COMPARE64_MEMORY]    = {"cmp r64, [m]",            SK_X86_WITH_MEMORY,  WIDE,          0,    0x3b, 0, 0},
	[SK_X86_COMPARE64]           = {"cmp s64, r64",            SK_X86_REGISTERS,    WIDE,          0,    0x39, 0, 0},
	[SK_X86_COMPARE32_BYTE]      = {"cmp s32, i8",             SK_X86_REGISTERS,    0,             0,    0x83, 7, 1},
	[SK_X86_COMPARE_EAX_IMMEDIATE] = {"cmp eax, i32",          SK_X86_BARE,         0,             0,    0x3d, 0, 4},
	[SK_X86_TEST32]              = {"test s32, r32",           SK_X86_REGISTERS,    0,             0,    0x85, 0, 0},
	[SK_X86_TEST64]              = {"test s64, r64",           SK_X86_REGISTERS,    WIDE,          0,    0x85, 0, 0},
	[SK_X86_ZERO_FLOAT]          = {"xorps x, y",              SK_X86_REGISTERS,    ESCAPE,        0,    0x57, 0, 0},
	[SK_X86_TO_FLOAT32]          = {"movd x, s32",             SK_X86_REGISTERS,    ESCAPE,        0x66, 0x6e, 0, 0},
	[SK_X86_TO_FLOAT64]          = {"movq x, s64",             SK_X86_REGISTERS,    WIDE | ESCAPE, 0x66, 0x6e, 0, 0},
	[SK_X86_FROM_FLOAT32]        = {"movd s32, x",             SK_X86_REGISTERS,    ESCAPE,        0x66, 0x7e, 0, 0},
	[SK_X86_FROM_FLOAT64]        = {"movq s64, x",             SK_X86_REGISTERS,    WIDE | ESCAPE, 0x66, 0x7e, 0, 0},
	[SK_X86_JUMP]                = {"jmp rel8",                SK_X86_BARE,         0,             0,    0xeb, 0, 1},
	[SK_X86_JUMP_FAR]            = {"jmp rel32",               SK_X86_BARE,         0,             0,    0xe9, 0, 4},
	[SK_X86_JUMP_BELOW]          = {"jb rel8",                 SK_X86_BARE,         0,             0,    0x72, 0, 1},
	[SK_X86_JUMP_BELOW_FAR]      = {"jb rel32",                SK_X86_BARE,         ESCAPE,        0,    0x82, 0, 4},
	[SK_X86_JUMP_ABOVE_EQUAL]    = {"jae rel8",                SK_X86_BARE,         0,             0,    0x73, 0, 1},
	[SK_X86_JUMP_ABOVE_EQUAL_FAR] = {"jae rel32",              SK_X86_BARE,         ESCAPE,        0,    0x83, 0, 4},
	[SK_X86_JUMP_EQUAL]          = {"je rel8",                 SK_X86_BARE,         0,             0,    0x74, 0, 1},
	[SK_X86_JUMP_EQUAL_FAR]      = {"je rel32",                SK_X86_BARE,         ESCAPE,        0,    0x84, 0, 4},
	[SK_X86_JUMP_NOT_EQUAL]      = {"jne rel8",                SK_X86_BARE,         0,             0,    0x75, 0, 1},
	[SK_X86_JUMP_NOT_EQUAL_FAR]  = {"jne rel32",               SK_X86_BARE,         ESCAPE,        0,    0x85, 0, 4},
	[SK_X86_JUMP_BELOW_EQUAL]    = {"jbe rel8",                SK_X86_BARE,         0,             0,    0x76, 0, 1},
	[SK_X86_JUMP_BELOW_EQUAL_FAR] = {"jbe rel32",              SK_X86_BARE,         ESCAPE,        0,    0x86, 0, 4},
	[SK_X86_CALL]                = {"call rel32",              SK_X86_BARE,         0,             0,    0xe8, 0, 4},
	[SK_X86_CALL_MEMORY]         = {"call qword ptr [m]",      SK_X86_WITH_MEMORY,  0,             0,    0xff, 2, 0},
	[SK_X86_RETURN]              = {"ret",                     SK_X86_BARE,         0,             0,    0xc3, 0, 0},
	[SK_X86_STORE_FENCE]         = {"sfence",                  SK_X86_REGISTERS,    ESCAPE,        0,    0xae, 7, 0},
	[SK_X86_LOAD_FENCE]          = {"lfence",                  SK_X86_REGISTERS,    ESCAPE,        0,    0xae, 5, 0},
	[SK_X86_READ_TIME]           = {"rdtsc",                   SK_X86_BARE,         ESCAPE,        0,    0x31, 0, 0},
	[SK_X86_FULL_FENCE]          = {"mfence",                  SK_X86_REGISTERS,    ESCAPE,        0,    0xae, 6, 0},
	[SK_X86_PREFETCH]            = {"prefetcht1 [m]",          SK_X86_WITH_MEMORY,  ESCAPE,        0,    0x18, 2, 0},
};
/* clang-format on */

/* Write eight bytes, of which `size` count. */
static uint8_t *put_little_endian(uint8_t *at, uint64_t value, unsigned size)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
	return at + size;
}

static uint8_t modrm(unsigned mode, unsigned reg, unsigned rm)
{
	return (uint8_t)(mode << 6 | (reg & 7) << 3 | (rm & 7));
}

static uint8_t *put_memory(uint8_t *at, unsigned reg, const struct sk_x86_operands *o)
{
	/* The bases 5 and 13 without a displacement have another meaning, 4 and 12 need a SIB byte. */
	unsigned mode = o->disp == 0 && (o->rm & 7) != SK_RBP ? 0 : o->disp == (int8_t)o->disp ? 1 : 2;

	if (o->scale != 0 || (o->rm & 7) == SK_RSP) {
		unsigned index = o->scale ? o->index : SK_RSP /* none */;
		unsigned shift = o->scale ? (unsigned)__builtin_ctz(o->scale) : 0;

		*at++ = modrm(mode, reg, SK_RSP);
		*at++ = modrm(shift, index, o->rm);
	} else {
		*at++ = modrm(mode, reg, o->rm);
	}
	return put_little_endian(at, (uint32_t)o->disp, mode == 0 ? 0 : mode == 1 ? 1 : 4);
}

size_t sk_x86_encode(uint8_t bytes[SK_X86_LONGEST], enum sk_x86_form form, struct sk_x86_operands o)
{
	const struct sk_x86_instruction *in = &sk_x86_instructions[form];
	unsigned reg = o.reg | in->extension;
	uint8_t *at = bytes;
	unsigned rex = (in->flags & SK_X86_WIDE ? 8 : 0) | reg >> 3 << 2;

	if (in->layout == SK_X86_IN_OPCODE || in->layout == SK_X86_REGISTERS || in->layout == SK_X86_WITH_MEMORY)
		rex |= o.rm >> 3;
	if (in->layout == SK_X86_WITH_MEMORY && o.scale)
		rex |= (unsigned)o.index >> 3 << 1;

	if (in->prefix)
		*at++ = in->prefix;
	/* Without a REX prefix the byte registers 4 to 7 are ah, ch, dh, bh. */
	if (rex || (in->flags & SK_X86_BYTE_REGISTER && reg >= SK_RSP))
		*at++ = (uint8_t)(0x40 | rex);
	if (in->flags & SK_X86_ESCAPE)
		*at++ = 0x0f;
	*at++ = (uint8_t)(in->layout == SK_X86_IN_OPCODE ? in->opcode | (o.rm & 7) : in->opcode);

	switch ((enum sk_x86_layout)in->layout) {
	case SK_X86_BARE:
	case SK_X86_IN_OPCODE:
		break;
	case SK_X86_REGISTERS:
		*at++ = modrm(3, reg, o.rm);
		break;
	case SK_X86_WITH_MEMORY:
		at = put_memory(at, reg, &o);
		break;
	case SK_X86_RIP:
		*at++ = modrm(0, reg, SK_RBP);
		at = put_little_endian(at, (uint32_t)o.disp, 4);
		break;
	}
	at = put_little_endian(at, o.immediate, in->immediate);
	return (size_t)(at - bytes);
}
