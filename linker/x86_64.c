/* x86-64. Little-endian, instructions of 1 to 15 bytes, and nearly everything PC-relative with 32 bits: code of the
 * small model reaches 2 GiB in each direction. Constants of any size therefore come last in the image, and dispatchers
 * take only their start PC-relative.
 *
 * PLT32 marks a branch, and its target may be a stub; PC32 marks data or, from old assemblers, also a branch. GOTPCRELX
 * and REX_GOTPCRELX mark instructions that read an address from the GOT and can be rewritten to compute it (psABI 1.0,
 * section B.2). Plain GOTPCREL, which rustc and old assemblers write, is used in the same instructions, and their
 * opcode and ModRM byte tell which one it is: no other instruction has these two bytes before such a field. Rewriting
 * to an immediate would need an absolute address, so only mov, call and jmp are rewritten. Descriptors of thread-local
 * variables become words with their distances (section "Thread-Local Storage": from general-dynamic to initial-exec).
 * format/x86_64/relocations.c has the types.
 *
 * Code of the large model, which JIT compilers write, has whole addresses in movabs instructions. A package is far
 * smaller than 2 GiB, so they are rewritten to compute the address from %rip, in place.
 *
 * Program properties (psABI, "Program Property"): the package's own code uses baseline x86-64 with SSE registers. Its
 * entries do not begin with endbr64, and they have not been tried with shadow stacks, so a package claims neither IBT
 * nor SHSTK. */
#include <elf.h>
#include <string.h>

#include "format/import-row.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/object.h"

/* Opcodes of the instructions below; the field of a RIP-relative operand follows the ModRM byte. */
enum {
	MOV_LOAD = 0x8b, /* mov m, r */
	MOV_LOAD_BYTE = 0x8a,
	MOV_STORE = 0x89, /* mov r, m */
	MOV_STORE_BYTE = 0x88,
	LEA = 0x8d, /* lea m, r */
	REX_W = 0x48, /* prefix: operands of 64 bits */
	REX_R = 0x04, /* in a prefix: the register in ModRM is one of r8 to r15 */
	REX_B = 0x01, /* the same for the register in the opcode */
	MOVABS = 0xb8, /* movabs $address, r, and the register in the low bits */
	MOVABS_MASK = 0xf8,
	MOVABS_LOAD_BYTE = 0xa0, /* movabs address, %al; the next one has %ax, %eax or %rax */
	MOVABS_STORE = 0xa3, /* movabs %rax, %eax or %ax, address; the one before has %al */
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
	bool rex = type == R_X86_64_REX_GOTPCRELX;

	if (!rex && type != R_X86_64_GOTPCRELX && type != R_X86_64_GOTPCREL)
		return false;
	if (addend != -4 || offset < (rex ? 3 : 2))
		return false;

	uint8_t opcode = bytes[offset - 2], modrm = bytes[offset - 1];

	if (opcode == MOV_LOAD)
		return (modrm & RIP_MASK) == RIP_OPERAND;
	return !rex && opcode == GROUP_5 && (modrm == CALL_INDIRECT || modrm == JUMP_INDIRECT);
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

static bool can_rewrite_descriptor(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend)
{
	return type == R_X86_64_GOTPC32_TLSDESC && addend == -4 && offset >= 3 && bytes[offset - 2] == LEA &&
	       (bytes[offset - 1] & RIP_MASK) == RIP_OPERAND;
}

/* lea x@tlsdesc(%rip), %reg  ->  mov x@gottpoff(%rip), %reg */
static void rewrite_descriptor(uint8_t *bytes, uint64_t offset)
{
	bytes[offset - 2] = MOV_LOAD;
}

/* Return whether the field is a direct branch's. Assemblers write PC32 for a call of a local function. The byte before
 * the field decides: opcodes of branches are never ModRM bytes of RIP-relative operands, which precede the field in all
 * other instructions. */
static bool is_branch(uint32_t type, const uint8_t *bytes, uint64_t offset)
{
	if (type != R_X86_64_PC32 || !offset)
		return type == R_X86_64_PLT32;
	return bytes[offset - 1] == CALL || bytes[offset - 1] == JUMP ||
	       (offset > 1 && bytes[offset - 2] == TWO_BYTES && (bytes[offset - 1] & CONDITION_MASK) == JUMP_IF);
}

static bool calls_slot(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend)
{
	return can_relax(type, bytes, offset, addend) && bytes[offset - 2] == GROUP_5;
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

/* libskrt recognises it by these bytes (sk_trap_name). Compilers that make traps of ud1 have other operands. */
static void write_trap(uint8_t *trap, uint64_t address, uint64_t name)
{
	static const uint8_t code[8] = {
		0x0f, 0xb9, 0x05, 0, 0, 0, 0, /* ud1 name(%rip), %eax */
		0xcc, /* never reached */
	};
	uint32_t distance = (uint32_t)(name - (address + 7));

	memcpy(trap, code, sizeof(code));
	memcpy(trap + 3, &distance, sizeof(distance));
}

/* Return whether the field is a movabs instruction's. No other instruction has a field of 8 bytes. Tables in code can
 * also hold whole addresses, usually of code: the bytes before the field must be the instruction's. The forms with an
 * operand in memory have one byte, before which a prefix gives the size of the operand, and access data only. */
static bool can_narrow(uint32_t type, const uint8_t *bytes, uint64_t offset, bool to_code)
{
	if (type != R_X86_64_64 || offset < 1)
		return false;

	uint8_t opcode = bytes[offset - 1];

	if ((opcode & MOVABS_MASK) == MOVABS)
		return offset > 1 && (bytes[offset - 2] == REX_W || bytes[offset - 2] == (REX_W | REX_B));
	return opcode >= MOVABS_LOAD_BYTE && opcode <= MOVABS_STORE && !to_code;
}

/* movabs $foo, %reg  ->  lea foo(%rip), %reg; nop. movabs foo, %rax and movabs %rax, foo become mov. */
static uint64_t narrow(uint8_t *bytes, uint64_t offset, uint64_t *value)
{
	static const uint8_t rest[] = {0, 0, 0, 0, 0x0f, 0x1f, 0x00}; /* the field; nopl (%rax) */
	static const uint8_t moves[] = {MOV_LOAD_BYTE, MOV_LOAD, MOV_STORE_BYTE, MOV_STORE}; /* by the opcode's end */
	uint8_t *opcode = bytes + offset - 1, *operand = bytes + offset;
	uint8_t number = 0; /* of the register, which ModRM holds in another place */

	if ((*opcode & MOVABS_MASK) == MOVABS) {
		number = *opcode & (uint8_t)~MOVABS_MASK;
		if (opcode[-1] & REX_B)
			opcode[-1] = REX_W | REX_R;
		*opcode = LEA;
	} else {
		*opcode = moves[*opcode - MOVABS_LOAD_BYTE];
	}
	*operand = (uint8_t)(RIP_OPERAND | number << 3);
	memcpy(operand + 1, rest, sizeof(rest));
	*value -= 4;
	return offset + 1;
}

static const uint8_t finalizer[] = {
	0x48, 0x8d, 0x3d, 0, 0, 0, 0, /* lea address(%rip), %rdi */
	0xe9, 0,    0,	  0, 0, /* jmp function */
};

/* Values that <elf.h>, or an old version of it, lacks. */
enum {
	UNWIND_SECTION = 0x70000001, /* SHT_X86_64_UNWIND */
	FAR_COMMON = 0xff02, /* SHN_X86_64_LCOMMON */
};
#define FEATURE_2_USED 0xc0010001 /* GNU_PROPERTY_X86_FEATURE_2_USED */
/* Bits of it, and of GNU_PROPERTY_X86_FEATURE_1_AND. */
enum { FEATURE_2_X86 = 1 << 0, FEATURE_2_XMM = 1 << 3, FEATURE_1_LAM_U48 = 1 << 2, FEATURE_1_LAM_U57 = 1 << 3 };

static const struct sk_property_range properties[] = {
	{0xc0000002, 0xc0007fff, SK_PROPERTY_AND, 4}, /* GNU_PROPERTY_X86_UINT32_AND_LO … */
	{0xc0008000, 0xc000ffff, SK_PROPERTY_OR, 4}, /* GNU_PROPERTY_X86_UINT32_OR_LO … */
	{0xc0010000, 0xc0017fff, SK_PROPERTY_OR_IF_ALL, 4}, /* GNU_PROPERTY_X86_UINT32_OR_AND_LO … */
};

static const struct sk_property own_properties[] = {
	{.type = GNU_PROPERTY_X86_FEATURE_1_AND, .value = FEATURE_1_LAM_U48 | FEATURE_1_LAM_U57},
	{.type = FEATURE_2_USED, .value = FEATURE_2_X86 | FEATURE_2_XMM},
	{.type = GNU_PROPERTY_X86_ISA_1_USED, .value = GNU_PROPERTY_X86_ISA_1_BASELINE},
};

const struct sk_architecture sk_architecture_x86_64 = {
	.machine = EM_X86_64,
	.name = "x86-64",
	.emulation = "elf_x86_64",
	.page_size = 4096,
	.text_fill = 0xcc, /* int3 */
	.relocations = &sk_relocations_x86_64,
	.can_relax = can_relax,
	.relax = relax,
	.can_rewrite_descriptor = can_rewrite_descriptor,
	.rewrite_descriptor = rewrite_descriptor,
	.no_descriptor_call = 0x9066, /* xchg %ax, %ax replaces call *(%rax) */
	.can_narrow = can_narrow,
	.narrow = narrow,
	.is_branch = is_branch,
	.calls_slot = calls_slot,
	.properties = properties,
	.property_count = sizeof(properties) / sizeof(properties[0]),
	.own_properties = own_properties,
	.own_property_count = sizeof(own_properties) / sizeof(own_properties[0]),
	.isa_property = GNU_PROPERTY_X86_ISA_1_NEEDED,
	.unwind_section = UNWIND_SECTION,
	.far_common = FAR_COMMON,
	.imports = &sk_imports_x86_64,
	.stub_size = 8,
	.write_stub = write_stub,
	.trap_size = 8,
	.write_trap = write_trap,
	.finalizer = {.piece = {.bytes = finalizer, .size = sizeof(finalizer)}, .address = 3, .call = 8, .addend = -4},
};
