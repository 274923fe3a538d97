/* Finds the reason why the processor refused an instruction. A general protection fault, and a stack fault for accesses
 * by the stack pointer, come without a reason and without an address, so this file decodes the instruction. Input: the
 * registers and the code at their program counter. Output: a reason, if the code shows one (Intel SDM, volume 2:
 * chapter 2 and the opcode maps of appendix A). No byte after the instruction is read: the next one may be on an
 * unmapped page. */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "loader/arch/machine.h"
#include "loader/arch/x86_64/refusal.h"

enum { MOST_BYTES = 15, ADDRESS_BITS = 48, REGISTER_BP = 5, REGISTER_SP = 4 };

/* Maps of opcodes: one byte, 0f, 0f 38, 0f 3a. EVEX has others, which hold no instruction that matters here. */
enum { MAP_ONE, MAP_TWO, MAP_38, MAP_3A };

struct instruction {
	const uint8_t *at; /* the next byte */
	const greg_t *registers;
	bool of_thread; /* a prefix fs or gs: its base is not among the registers */
	bool narrow; /* addresses of 32 bits */
	bool wide; /* REX.W */
	bool vex, evex; /* its encoding; evex implies vex */
	uint32_t index_high, base_high; /* 8, or 0 */
	uint32_t map, opcode;
	uint32_t vector; /* bytes of a vector */
};

/* ---- before the operands ---- */

static void read_rex(struct instruction *instruction, unsigned rex)
{
	instruction->wide = rex & 8;
	instruction->index_high = rex & 2 ? 8 : 0;
	instruction->base_high = rex & 1 ? 8 : 0;
}

/* Return the first byte after the prefixes; false: there are too many. */
static bool read_prefixes(struct instruction *instruction, uint8_t *byte)
{
	for (int i = 0; i < MOST_BYTES; i++) {
		*byte = *instruction->at++;
		if (*byte >= 0x40 && *byte < 0x50) {
			read_rex(instruction, *byte);
			continue;
		}
		if (!memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", *byte, 11))
			return true;
		instruction->of_thread |= *byte == 0x64 || *byte == 0x65;
		instruction->narrow |= *byte == 0x67;
		read_rex(instruction, 0);
	}
	return false;
}

/* After c4, c5 and 62 there are the bits of REX, inverted, the map, and the vector's length. */
static void read_vector_prefix(struct instruction *instruction, uint8_t kind)
{
	unsigned bits = *instruction->at, last = bits;

	instruction->map = MAP_TWO;
	if (kind == 0xc4)
		last = instruction->at[1];
	else if (kind == 0x62)
		last = instruction->at[2] >> 3;
	if (kind != 0xc5) {
		instruction->map = bits & 7;
		read_rex(instruction, ~bits >> 5 & 3);
	}
	instruction->vex = true;
	instruction->evex = kind == 0x62;
	instruction->vector = instruction->evex ? 16u << (last >> 2 & 3) : last & 4 ? 32 : 16;
	instruction->at += kind == 0xc5 ? 1 : kind == 0xc4 ? 2 : 3;
	instruction->opcode = *instruction->at++;
}

static bool read_opcode(struct instruction *instruction)
{
	uint8_t byte;

	if (!read_prefixes(instruction, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		read_vector_prefix(instruction, byte);
		return true;
	}
	if (byte == 0x0f) {
		byte = *instruction->at++;
		instruction->map = byte == 0x38 ? MAP_38 : byte == 0x3a ? MAP_3A : MAP_TWO;
		if (instruction->map != MAP_TWO)
			byte = *instruction->at++;
	}
	instruction->opcode = byte;
	return true;
}

/* ---- instructions of the system ---- */

static const char *privileged_name(const struct instruction *instruction)
{
	static const struct {
		uint8_t map, first, last; /* opcodes */
		uint8_t mask, bits; /* of the next byte */
		const char *name;
	} names[] = {
		{MAP_ONE, 0x6c, 0x6d, 0, 0, "ins"},	     {MAP_ONE, 0x6e, 0x6f, 0, 0, "outs"},
		{MAP_ONE, 0xcd, 0xcd, 0, 0, "int"},	     {MAP_ONE, 0xe4, 0xe5, 0, 0, "in"},
		{MAP_ONE, 0xe6, 0xe7, 0, 0, "out"},	     {MAP_ONE, 0xec, 0xed, 0, 0, "in"},
		{MAP_ONE, 0xee, 0xef, 0, 0, "out"},	     {MAP_ONE, 0xf4, 0xf4, 0, 0, "hlt"},
		{MAP_ONE, 0xfa, 0xfa, 0, 0, "cli"},	     {MAP_ONE, 0xfb, 0xfb, 0, 0, "sti"},
		{MAP_TWO, 0x00, 0x00, 0x38, 0x10, "lldt"},   {MAP_TWO, 0x00, 0x00, 0x38, 0x18, "ltr"},
		{MAP_TWO, 0x01, 0x01, 0xff, 0xd1, "xsetbv"}, {MAP_TWO, 0x01, 0x01, 0xff, 0xf8, "swapgs"},
		{MAP_TWO, 0x01, 0x01, 0xf8, 0x10, "lgdt"},   {MAP_TWO, 0x01, 0x01, 0xf8, 0x18, "lidt"},
		{MAP_TWO, 0x01, 0x01, 0xf8, 0x38, "invlpg"}, {MAP_TWO, 0x01, 0x01, 0xf8, 0xf0, "lmsw"},
		{MAP_TWO, 0x06, 0x06, 0, 0, "clts"},	     {MAP_TWO, 0x07, 0x07, 0, 0, "sysret"},
		{MAP_TWO, 0x08, 0x08, 0, 0, "invd"},	     {MAP_TWO, 0x09, 0x09, 0, 0, "wbinvd"},
		{MAP_TWO, 0x20, 0x20, 0, 0, "mov from cr"},  {MAP_TWO, 0x21, 0x21, 0, 0, "mov from dr"},
		{MAP_TWO, 0x22, 0x22, 0, 0, "mov to cr"},    {MAP_TWO, 0x23, 0x23, 0, 0, "mov to dr"},
		{MAP_TWO, 0x30, 0x30, 0, 0, "wrmsr"},	     {MAP_TWO, 0x32, 0x32, 0, 0, "rdmsr"},
		{MAP_TWO, 0x33, 0x33, 0, 0, "rdpmc"},	     {MAP_TWO, 0x35, 0x35, 0, 0, "sysexit"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (instruction->map == names[i].map && instruction->opcode >= names[i].first &&
		    instruction->opcode <= names[i].last &&
		    (!names[i].mask || (*instruction->at & names[i].mask) == names[i].bits))
			return names[i].name;
	return NULL;
}

/* ---- addresses ---- */

static uint64_t register_value(const struct instruction *instruction, uint32_t number)
{
	static const uint8_t order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
					REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	return (uint64_t)instruction->registers[order[number]];
}

static bool has_operand_byte(const struct instruction *instruction)
{
	uint32_t opcode = instruction->opcode;

	if (instruction->map == MAP_38 || instruction->map == MAP_3A)
		return true;
	if (instruction->map == MAP_TWO)
		return (opcode >= 0x10 && opcode < 0x30) || (opcode >= 0x40 && opcode < 0x77) ||
		       (opcode > 0x77 && opcode < 0x80) || (opcode >= 0x90 && opcode < 0xa0) ||
		       (opcode >= 0xa3 && opcode < 0xc8 && (opcode < 0xa8 || opcode > 0xaa)) || opcode >= 0xd0;
	return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
	       (opcode & 0xf0) == 0x80 || (opcode & 0xfe) == 0xc0 || (opcode & 0xfe) == 0xc6 ||
	       (opcode & 0xfc) == 0xd0 || (opcode & 0xf8) == 0xd8 || (opcode & 0xfe) == 0xf6 || opcode >= 0xfe;
}

static int64_t read_signed(const struct instruction *instruction, size_t bytes)
{
	int64_t value = 0;

	memcpy(&value, instruction->at, bytes); /* little-endian */
	return bytes == 1 ? (int8_t)value : bytes == 4 ? (int32_t)value : value;
}

/* Add the base, and the index if there is one, of an operand with that first byte. Return false if the address is not
 * known: one relative to the next instruction is always near this one, but it needs the length of the rest. */
static bool add_registers(struct instruction *instruction, uint8_t operand, uint64_t *address, size_t *distance)
{
	uint32_t base = operand & 7, mode = operand >> 6;

	*distance = mode == 1 ? 1 : mode == 2 ? 4 : 0;
	*address = 0;
	if (base == REGISTER_BP && mode == 0)
		return false;
	if (base != REGISTER_SP) {
		*address = register_value(instruction, base + instruction->base_high);
		return true;
	}

	uint8_t scaled = *instruction->at++;
	uint32_t index = (scaled >> 3 & 7) + instruction->index_high;

	if ((scaled & 7) == REGISTER_BP && mode == 0)
		*distance = 4;
	else
		*address = register_value(instruction, (scaled & 7) + instruction->base_high);
	if (index != REGISTER_SP)
		*address += register_value(instruction, index) << (scaled >> 6);
	return true;
}

/* Moves of whole vectors with an address that must be aligned to their size (Intel SDM, volume 1, 14.9: all others of
 * VEX need no alignment). */
static bool is_aligned_move(const struct instruction *instruction)
{
	if (instruction->map == MAP_38)
		return instruction->opcode == 0x2a;
	return instruction->map == MAP_TWO && memchr("\x28\x29\x2b\x6f\x7f\xe7", (int)instruction->opcode, 6);
}

/* A gather has many addresses, and short displacements of EVEX are scaled by a size that depends on the instruction. */
static bool is_unreadable(const struct instruction *instruction, uint8_t operand)
{
	bool gathers = instruction->vex && instruction->map == MAP_38 && (instruction->opcode & 0xdc) == 0x90;

	return instruction->of_thread || (gathers && (operand & 7) == REGISTER_SP) ||
	       (instruction->evex && operand >> 6 == 1 && !is_aligned_move(instruction));
}

static bool is_possible(uint64_t address)
{
	int64_t high = (int64_t)address >> (ADDRESS_BITS - 1);

	return high == 0 || high == -1;
}

/* Find the address of movs, cmps, stos, lods and scas: the source if that is impossible, else the destination if there
 * is one. */
static bool find_string(const struct instruction *instruction, uint64_t *address)
{
	bool source = (instruction->opcode & 0xf8) == 0xa0 || (instruction->opcode & 0xfe) == 0xac;
	bool destination = (instruction->opcode & 0xfe) != 0xac;

	*address = (uint64_t)instruction->registers[REG_RSI];
	if (destination && (!source || is_possible(*address)))
		*address = (uint64_t)instruction->registers[REG_RDI];
	return !instruction->of_thread && !instruction->narrow;
}

/* Find the address that the instruction reads or writes. Return false if it has none, or if that is not known. */
static bool find_address(struct instruction *instruction, uint64_t *address)
{
	bool one = instruction->map == MAP_ONE;
	uint32_t opcode = instruction->opcode;
	size_t distance;

	if (one && opcode >= 0xa0 && opcode < 0xa4) {
		*address = (uint64_t)read_signed(instruction, 8);
		return !instruction->of_thread && !instruction->narrow;
	}
	if (one && opcode >= 0xa4 && opcode < 0xb0 && (opcode & 0xfe) != 0xa8)
		return find_string(instruction, address);
	if (!has_operand_byte(instruction))
		return false;

	uint8_t operand = *instruction->at++;

	if (operand >= 0xc0 || is_unreadable(instruction, operand) ||
	    !add_registers(instruction, operand, address, &distance))
		return false;

	int64_t more = read_signed(instruction, distance);

	if (instruction->evex && distance == 1)
		more *= instruction->vector;
	*address += (uint64_t)more;
	if (instruction->narrow)
		*address &= UINT32_MAX;
	return true;
}

/* Return the alignment that the access needs; 1: none. */
static uint32_t wanted_alignment(const struct instruction *instruction)
{
	uint32_t opcode = instruction->opcode;

	if (instruction->vex)
		return is_aligned_move(instruction) ? instruction->vector : 1;
	if (instruction->map == MAP_38 || instruction->map == MAP_3A)
		return 16;
	if (instruction->map != MAP_TWO)
		return 1;
	if (opcode == 0xc7)
		return instruction->wide ? 16 : 1; /* cmpxchg16b */
	return (opcode >= 0x14 && opcode < 0x16) || (opcode >= 0x28 && opcode < 0x30) ||
			       (opcode >= 0x50 && opcode < 0x80) || opcode == 0xc2 || opcode == 0xc6 || opcode >= 0xd0
		       ? 16
		       : 1;
}

/* ---- reasons ---- */

/* Recognise returns, and calls and jumps to the contents of a register or memory. The processor refuses them before
 * they jump if the target address is impossible. */
static bool is_jump(const struct instruction *instruction)
{
	uint32_t group = instruction->opcode == 0xff ? *instruction->at >> 3 & 7u : 0;

	return instruction->map == MAP_ONE &&
	       (instruction->opcode == 0xc2 || instruction->opcode == 0xc3 || group == 2 || group == 4);
}

struct sk_refusal sk_refusal_find(const greg_t *registers, bool of_stack)
{
	struct instruction instruction = {.at = (const uint8_t *)(uintptr_t)registers[REG_RIP], .registers = registers};
	struct sk_refusal refusal = {.kind = SK_REFUSAL_UNKNOWN};
	uint64_t address;

	if (!is_possible((uint64_t)registers[REG_RIP])) {
		refusal.kind = SK_REFUSAL_JUMP;
		return refusal;
	}
	if (!read_opcode(&instruction))
		return refusal;

	bool jumps = is_jump(&instruction);

	refusal.instruction = privileged_name(&instruction);
	if (refusal.instruction) {
		refusal.kind = SK_REFUSAL_PRIVILEGED;
		return refusal;
	}
	if (!find_address(&instruction, &address)) {
		refusal.kind = of_stack ? SK_REFUSAL_ADDRESS : jumps ? SK_REFUSAL_JUMP : SK_REFUSAL_UNKNOWN;
		refusal.address = (const void *)(uintptr_t)registers[REG_RSP];
		return refusal;
	}
	refusal.address = (const void *)(uintptr_t)address;
	refusal.alignment = wanted_alignment(&instruction);
	if (!is_possible(address))
		refusal.kind = SK_REFUSAL_ADDRESS;
	else if (jumps)
		refusal.kind = SK_REFUSAL_JUMP;
	else if (address % refusal.alignment)
		refusal.kind = SK_REFUSAL_ALIGNMENT;
	return refusal;
}
