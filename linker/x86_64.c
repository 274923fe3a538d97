/* x86-64. Little-endian, instructions of 1 to 15 bytes, and nearly everything PC-relative with 32 bits: code of the
 * small model reaches 2 GiB in each direction, which is why constants of any size come last in the image and
 * dispatchers take only their start PC-relative.
 *
 * The place P of a PC-relative field is the field itself, while the processor counts from the end of the instruction;
 * the compiler has put the difference (usually -4) into the addend.
 *
 * PLT32 marks a branch, whose target may be a stub; PC32 marks data or, from old assemblers, also a branch. GOTPCRELX
 * and REX_GOTPCRELX mark instructions that read an address from the GOT and can be rewritten to compute it (psABI 1.0,
 * section B.2); plain GOTPCREL does not promise what instruction it stands in and is left alone. Rewriting to an
 * immediate would need an absolute address, so only mov, call and jmp are done.
 *
 * 32 and 32S hold absolute addresses of non-PIC code and never fit an image that is loaded anywhere. */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "linker/architecture.h"

#define ENTRY(type, text, kind, bytes, low, high, can_relax_it)                                                        \
	[type] = {.name = (text),                                                                                      \
		  .expression = SK_EXPRESSION_##kind,                                                                  \
		  .width = (bytes),                                                                                    \
		  .relaxable = (can_relax_it),                                                                         \
		  .minimum = (low),                                                                                    \
		  .maximum = (high)}
#define FIELD(type, kind, bytes, low, high) ENTRY(type, #type, kind, bytes, low, high, false)
#define SIGNED32(type, kind)		    ENTRY(type, #type, kind, 4, INT32_MIN, INT32_MAX, false)
#define RELAXABLE(type)			    ENTRY(type, #type, SLOT, 4, INT32_MIN, INT32_MAX, true)
#define OTHER(type, kind)		    ENTRY(type, #type, kind, 1, 0, 0, false)

static const struct sk_relocation_type types[] = {
	FIELD(R_X86_64_NONE, NONE, 0, 0, 0),
	FIELD(R_X86_64_64, WORD, 8, 0, 0),
	FIELD(R_X86_64_32, NARROW, 4, 0, UINT32_MAX),
	SIGNED32(R_X86_64_32S, NARROW),
	FIELD(R_X86_64_16, NARROW, 2, INT16_MIN, UINT16_MAX),
	FIELD(R_X86_64_8, NARROW, 1, INT8_MIN, UINT8_MAX),
	FIELD(R_X86_64_PC64, RELATIVE, 8, 0, 0),
	SIGNED32(R_X86_64_PC32, RELATIVE),
	FIELD(R_X86_64_PC16, RELATIVE, 2, INT16_MIN, INT16_MAX),
	FIELD(R_X86_64_PC8, RELATIVE, 1, INT8_MIN, INT8_MAX),
	SIGNED32(R_X86_64_PLT32, CALL),
	SIGNED32(R_X86_64_GOTPCREL, SLOT),
	FIELD(R_X86_64_GOTPCREL64, SLOT, 8, 0, 0),
	RELAXABLE(R_X86_64_GOTPCRELX),
	RELAXABLE(R_X86_64_REX_GOTPCRELX),
	SIGNED32(R_X86_64_GOTPC32, TABLE),
	FIELD(R_X86_64_GOTPC64, TABLE, 8, 0, 0),
	FIELD(R_X86_64_GOTOFF64, FROM_TABLE, 8, 0, 0),

	OTHER(R_X86_64_DTPMOD64, THREAD),
	OTHER(R_X86_64_DTPOFF64, THREAD),
	OTHER(R_X86_64_TPOFF64, THREAD),
	OTHER(R_X86_64_TLSGD, THREAD),
	OTHER(R_X86_64_TLSLD, THREAD),
	OTHER(R_X86_64_DTPOFF32, THREAD),
	OTHER(R_X86_64_GOTTPOFF, THREAD),
	OTHER(R_X86_64_TPOFF32, THREAD),
	OTHER(R_X86_64_GOTPC32_TLSDESC, THREAD),
	OTHER(R_X86_64_TLSDESC_CALL, THREAD),
	OTHER(R_X86_64_TLSDESC, THREAD),

	OTHER(R_X86_64_GOT32, UNSUPPORTED),
	OTHER(R_X86_64_GOT64, UNSUPPORTED),
	OTHER(R_X86_64_GOTPLT64, UNSUPPORTED),
	OTHER(R_X86_64_PLTOFF64, UNSUPPORTED),
	OTHER(R_X86_64_SIZE32, SIZE),
	OTHER(R_X86_64_SIZE64, SIZE),
	OTHER(R_X86_64_COPY, UNSUPPORTED),
	OTHER(R_X86_64_GLOB_DAT, UNSUPPORTED),
	OTHER(R_X86_64_JUMP_SLOT, UNSUPPORTED),
	OTHER(R_X86_64_RELATIVE, UNSUPPORTED),
	OTHER(R_X86_64_RELATIVE64, UNSUPPORTED),
	OTHER(R_X86_64_IRELATIVE, UNSUPPORTED),
};

/* Opcodes of the instructions below; the field of a RIP-relative operand follows the ModRM byte. */
enum {
	MOV_LOAD = 0x8b, /* mov m, r */
	LEA = 0x8d, /* lea m, r */
	GROUP_5 = 0xff, /* call *m or jmp *m, as the ModRM byte says */
	CALL_INDIRECT = 0x15, /* ModRM: call *disp32(%rip) */
	JUMP_INDIRECT = 0x25, /* ModRM: jmp *disp32(%rip) */
	RIP_MASK = 0xc7, /* ModRM without the register */
	RIP_OPERAND = 0x05,
	CALL = 0xe8,
	JUMP = 0xe9,
	TWO_BYTES = 0x0f, /* before the opcode of a conditional jump */
	JUMP_IF = 0x80, /* and the condition in the low bits */
	CONDITION_MASK = 0xf0,
};

static bool can_relax(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend)
{
	if (addend != -4 || offset < (type == R_X86_64_REX_GOTPCRELX ? 3 : 2))
		return false;

	uint8_t opcode = bytes[offset - 2], modrm = bytes[offset - 1];

	if (opcode == MOV_LOAD)
		return (modrm & RIP_MASK) == RIP_OPERAND;
	return type == R_X86_64_GOTPCRELX && opcode == GROUP_5 && (modrm == CALL_INDIRECT || modrm == JUMP_INDIRECT);
}

static uint64_t relax(uint8_t *bytes, uint64_t offset)
{
	uint8_t *opcode = bytes + offset - 2;

	if (*opcode == MOV_LOAD) { /* mov foo@GOTPCREL(%rip), %reg  ->  lea foo(%rip), %reg */
		*opcode = LEA;
		return offset;
	}
	if (opcode[1] == CALL_INDIRECT) { /* call *foo@GOTPCREL(%rip)  ->  addr32 call foo */
		opcode[0] = 0x67;
		opcode[1] = CALL;
		return offset;
	}
	opcode[0] = JUMP; /* jmp *foo@GOTPCREL(%rip)  ->  jmp foo; nop */
	opcode[5] = 0x90;
	return offset - 1;
}

/* Assemblers write PC32 for a call of a local function. The byte before the field decides: opcodes of branches are no
 * ModRM bytes of RIP-relative operands, which stand there in all other instructions. */
static bool is_branch(uint32_t type, const uint8_t *bytes, uint64_t offset)
{
	if (type != R_X86_64_PC32 || !offset)
		return type == R_X86_64_PLT32;
	return bytes[offset - 1] == CALL || bytes[offset - 1] == JUMP ||
	       (offset > 1 && bytes[offset - 2] == TWO_BYTES && (bytes[offset - 1] & CONDITION_MASK) == JUMP_IF);
}

static void write_field(uint32_t type, uint8_t *field, uint64_t value)
{
	memcpy(field, &value, types[type].width);
}

static void write_stub(uint8_t *stub, uint64_t address, uint64_t slot)
{
	static const uint8_t code[8] = {
		0xff, 0x25, 0, 0, 0, 0, /* jmp *slot(%rip) */
		0xcc, 0xcc, /* never reached */
	};
	uint32_t distance = (uint32_t)(slot - (address + 6));

	memcpy(stub, code, sizeof(code));
	memcpy(stub + 2, &distance, sizeof(distance));
}

const struct sk_architecture sk_x86_64 = {
	.machine = EM_X86_64,
	.name = "x86-64",
	.page_size = 4096,
	.text_fill = 0xcc, /* int3 */
	.types = types,
	.type_count = sizeof(types) / sizeof(types[0]),
	.relative32 = R_X86_64_PC32,
	.call = R_X86_64_PLT32,
	.address64 = R_X86_64_64,
	.offset32 = R_X86_64_32,
	.loader_relative = R_X86_64_RELATIVE,
	.loader_import = R_X86_64_GLOB_DAT,
	.can_relax = can_relax,
	.relax = relax,
	.is_branch = is_branch,
	.write = write_field,
	.stub_size = 8,
	.write_stub = write_stub,
};

const struct sk_architecture *sk_architecture_find(uint16_t machine)
{
	return machine == EM_X86_64 ? &sk_x86_64 : NULL;
}
