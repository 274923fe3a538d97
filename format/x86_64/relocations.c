/* The relocations of x86-64 (psABI 1.0, table 4.9). Nearly all are PC-relative with 32 bits. The place P of a
 * PC-relative field is the field itself, while the processor counts from the end of the instruction; the compiler has
 * put the difference (usually -4) into the addend.
 *
 * 32 and 32S hold absolute addresses of non-PIC code, and never fit an image that may be loaded anywhere. */
#include <elf.h>
#include <string.h>

#include "format/relocation-types.h"

#define ENTRY(type, text, kind, bytes, low, high)                                                                      \
	[type] = {.name = (text),                                                                                      \
		  .expression = SK_EXPRESSION_##kind,                                                                  \
		  .width = (bytes),                                                                                    \
		  .minimum = (low),                                                                                    \
		  .maximum = (high)}
#define FIELD(type, kind, bytes, low, high) ENTRY(type, #type, kind, bytes, low, high)
#define SIGNED32(type, kind)		    ENTRY(type, #type, kind, 4, INT32_MIN, INT32_MAX)
#define OTHER(type, kind)		    ENTRY(type, #type, kind, 1, 0, 0)

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
	SIGNED32(R_X86_64_GOTPCRELX, SLOT),
	SIGNED32(R_X86_64_REX_GOTPCRELX, SLOT),
	SIGNED32(R_X86_64_GOTPC32, TABLE),
	FIELD(R_X86_64_GOTPC64, TABLE, 8, 0, 0),
	FIELD(R_X86_64_GOTOFF64, FROM_TABLE, 8, 0, 0),
	FIELD(R_X86_64_PLTOFF64, CALL_FROM_TABLE, 8, 0, 0),
	FIELD(R_X86_64_GOT64, SLOT_FROM_TABLE, 8, 0, 0),
	FIELD(R_X86_64_GOTPLT64, SLOT_FROM_TABLE, 8, 0, 0),

	OTHER(R_X86_64_TPOFF64, THREAD),
	OTHER(R_X86_64_TPOFF32, THREAD),
	SIGNED32(R_X86_64_GOTTPOFF, THREAD_SLOT),
	SIGNED32(R_X86_64_GOTPC32_TLSDESC, DESCRIPTOR),
	FIELD(R_X86_64_TLSDESC_CALL, DESCRIPTOR_CALL, 2, 0, 0),
	SIGNED32(R_X86_64_TLSGD, THREAD_PAIR),
	SIGNED32(R_X86_64_TLSLD, BLOCK_PAIR),
	SIGNED32(R_X86_64_DTPOFF32, THREAD_OFFSET),
	FIELD(R_X86_64_DTPOFF64, THREAD_OFFSET, 8, 0, 0),

	OTHER(R_X86_64_GOT32, UNSUPPORTED),
	OTHER(R_X86_64_SIZE32, SIZE),
	OTHER(R_X86_64_SIZE64, SIZE),
	OTHER(R_X86_64_COPY, UNSUPPORTED),
	OTHER(R_X86_64_GLOB_DAT, UNSUPPORTED),
	OTHER(R_X86_64_JUMP_SLOT, UNSUPPORTED),
	OTHER(R_X86_64_RELATIVE, UNSUPPORTED),
	OTHER(R_X86_64_RELATIVE64, UNSUPPORTED),
	OTHER(R_X86_64_IRELATIVE, UNSUPPORTED),
	OTHER(R_X86_64_DTPMOD64, UNSUPPORTED),
	OTHER(R_X86_64_TLSDESC, UNSUPPORTED),
};

static void write_field(uint32_t type, uint8_t *field, uint64_t value, uint64_t place)
{
	(void)place;
	memcpy(field, &value, types[type].width);
}

const struct sk_relocation_table sk_relocations_x86_64 = {
	.types = types,
	.count = sizeof(types) / sizeof(types[0]),
	.relative32 = R_X86_64_PC32,
	.call = R_X86_64_PLT32,
	.address64 = R_X86_64_64,
	.offset32 = R_X86_64_32,
	.loader_relative = R_X86_64_RELATIVE,
	.loader_import = R_X86_64_GLOB_DAT,
	.loader_block = R_X86_64_DTPMOD64,
	.loader_distance = R_X86_64_TPOFF64,
	.write = write_field,
};
