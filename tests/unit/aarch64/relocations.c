/* Some relocations of AArch64 (ELF for the Arm 64-bit Architecture, section 5.7). Their bits lie within instructions,
 * and some are those of a page's distance or of an offset in a page, which the value S + A - P and the place P give. */
#include <elf.h>
#include <string.h>

#include "format/relocation-types.h"

#define ENTRY(type, kind, bytes, low, high)                                                                            \
	[type] = {.name = #type,                                                                                       \
		  .expression = SK_EXPRESSION_##kind,                                                                  \
		  .width = (bytes),                                                                                    \
		  .minimum = (low),                                                                                    \
		  .maximum = (high)}

static const struct sk_relocation_type types[] = {
	ENTRY(R_AARCH64_ABS64, WORD, 8, 0, 0),
	ENTRY(R_AARCH64_PREL32, RELATIVE, 4, INT32_MIN, UINT32_MAX),
	ENTRY(R_AARCH64_ADR_PREL_PG_HI21, RELATIVE, 4, -(INT64_C(1) << 32), (INT64_C(1) << 32) - 1),
	ENTRY(R_AARCH64_ADD_ABS_LO12_NC, RELATIVE, 4, 0, 0),
	ENTRY(R_AARCH64_CALL26, CALL, 4, -(INT64_C(1) << 27), (INT64_C(1) << 27) - 1),
};

static void set_bits(uint8_t *field, uint32_t mask, uint32_t bits)
{
	uint32_t instruction;

	memcpy(&instruction, field, sizeof(instruction));
	instruction = (instruction & ~mask) | (bits & mask);
	memcpy(field, &instruction, sizeof(instruction));
}

static void write_field(uint32_t type, uint8_t *field, uint64_t value, uint64_t place)
{
	uint64_t target = value + place, pages = (target >> 12) - (place >> 12);

	switch (type) {
	case R_AARCH64_CALL26: /* bl */
		set_bits(field, 0x03ffffff, (uint32_t)(value >> 2));
		break;
	case R_AARCH64_ADR_PREL_PG_HI21: /* adrp */
		set_bits(field, 0x60ffffe0, (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5);
		break;
	case R_AARCH64_ADD_ABS_LO12_NC: /* add */
		set_bits(field, 0x003ffc00, (uint32_t)(target & 0xfff) << 10);
		break;
	default:
		memcpy(field, &value, types[type].width);
	}
}

const struct sk_relocation_table sk_relocations_aarch64 = {
	.types = types,
	.count = sizeof(types) / sizeof(types[0]),
	.relative32 = R_AARCH64_PREL32,
	.call = R_AARCH64_CALL26,
	.address64 = R_AARCH64_ABS64,
	.offset32 = R_AARCH64_ABS32,
	.loader_relative = R_AARCH64_RELATIVE,
	.loader_import = R_AARCH64_GLOB_DAT,
	.write = write_field,
};
