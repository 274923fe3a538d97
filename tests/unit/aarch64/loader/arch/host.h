/* The inline functions that libskrt would need for AArch64, and the registers in which its calls pass arguments
 * (AAPCS64). None of it is ever run. */
#ifndef SK_LOADER_AARCH64_H
#define SK_LOADER_AARCH64_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SK_MACHINE = EM_AARCH64, SK_CALL_SIZE = 4, SK_TRAP_CODE_SIZE = 4, SK_INTEGERS = 8, SK_FLOATS = 8 };

static inline void sk_pause(void)
{
}

static inline uint64_t sk_counter(void)
{
	return 0;
}

static inline uintptr_t sk_thread_pointer(void)
{
	return 0;
}

static inline void sk_order_nontemporal(void)
{
}

/* bl and a distance from the instruction itself. */
static inline const uint8_t *sk_call_target(const uint8_t *call)
{
	uint32_t instruction;

	memcpy(&instruction, call, sizeof(instruction));
	if (instruction >> 26 != 0x25)
		return NULL;
	return call + ((int64_t)((uint64_t)instruction << 38) >> 36);
}

static inline const char *sk_trap_name(const uint8_t *trap)
{
	(void)trap;
	return NULL;
}

enum { SK_HOOK_REACH = 64 };

static inline const void *sk_hook_of_call(const uint8_t *start, const uint8_t *end)
{
	(void)start, (void)end;
	return NULL;
}

static inline int32_t sk_tile_place(const uint8_t *code, const uint8_t *end, uint64_t tile)
{
	(void)code, (void)end, (void)tile;
	return -1;
}

static const uint8_t sk_aarch64_registers[8] = {0, 1, 2, 3, 4, 5, 6, 7}; /* x0 …, v0 … */

static const struct sk_convention sk_aarch64_convention = {
	.integers = sk_aarch64_registers,
	.vectors = sk_aarch64_registers,
	.integer_count = SK_INTEGERS,
	.vector_count = SK_FLOATS,
	.struct_parts = 2,
	.slot_size = 8,
	.stack_alignment = 16,
};

static inline const struct sk_convention *sk_machine_convention(void)
{
	return &sk_aarch64_convention;
}

static inline const struct sk_import_list *sk_machine_imports(void)
{
	return &sk_imports_aarch64;
}

struct sk_modes {
	uint64_t fpcr;
};

static const struct sk_modes sk_standard_modes;

static inline struct sk_modes sk_modes_read(void)
{
	return (struct sk_modes){0};
}

static inline void sk_modes_load(const struct sk_modes *modes)
{
	(void)modes;
}

struct sk_control {
	uint64_t fpcr, fpcr_before;
};

static inline enum sk_dynamic_kind sk_dynamic_kind(uint32_t type)
{
	return type == R_AARCH64_RELATIVE   ? SK_DYNAMIC_BIAS
	       : type == R_AARCH64_GLOB_DAT ? SK_DYNAMIC_SYMBOL
					    : SK_DYNAMIC_UNSUPPORTED;
}

#endif
