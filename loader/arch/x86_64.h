/* The inline part of x86-64; loader/arch/machine.h describes the names. */
#ifndef SK_LOADER_X86_64_H
#define SK_LOADER_X86_64_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/x86_64/registers.h"

enum { SK_MACHINE = EM_X86_64, SK_CALL_SIZE = 5, SK_TRAP_CODE_SIZE = 7 };

static inline void sk_pause(void)
{
	__builtin_ia32_pause();
}

/* The time-stamp counter runs at a constant rate, the same on all processors. */
static inline uint64_t sk_counter(void)
{
	__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
}

/* MXCSR, and the x87 control word. */
struct sk_modes {
	uint32_t mxcsr;
	uint16_t control_word;
	uint16_t unused;
};

extern const struct sk_modes sk_standard_modes __attribute__((visibility("hidden")));

static inline struct sk_modes sk_modes_read(void)
{
	struct sk_modes modes = {.mxcsr = __builtin_ia32_stmxcsr()};

	__asm__ volatile("fnstcw %0" : "=m"(modes.control_word));
	return modes;
}

/* A pending x87 exception would be raised as soon as the control word unmasks it, so it is cleared. */
static inline void sk_modes_load(const struct sk_modes *modes)
{
	__builtin_ia32_ldmxcsr(modes->mxcsr);
	__asm__ volatile("fnclex; fldcw %0" : : "m"(modes->control_word));
}

/* The word at FS:0 holds its own address (psABI, "Thread-Local Storage"). */
static inline uintptr_t sk_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/* All other stores become visible in order anyway. */
static inline void sk_order_nontemporal(void)
{
	__builtin_ia32_sfence();
}

/* The call is e8 and a distance from the next instruction. */
static inline const uint8_t *sk_call_target(const uint8_t *call)
{
	int32_t distance;

	if (*call != 0xe8)
		return NULL;
	memcpy(&distance, call + 1, sizeof(distance));
	return call + SK_CALL_SIZE + distance;
}

/* Decode mov [rsp + place], rax with its shortest displacement. Return its length; 0: another instruction. */
static inline size_t sk_x86_read_store(const uint8_t *code, int32_t *place)
{
	int8_t small;

	if (code[0] != 0x48 || code[1] != 0x89 || code[3] != 0x24)
		return 0;
	switch (code[2]) {
	case 0x04:
		*place = 0;
		return 4;
	case 0x44:
		memcpy(&small, code + 4, sizeof(small));
		*place = small;
		return 5;
	case 0x84:
		memcpy(place, code + 4, sizeof(*place));
		return 8;
	default:
		return 0;
	}
}

/* The head of the loop, as stubs/x86_64/loops.c makes it: mov [rsp + place], rax; mov edx, tile; add rax, rdx; cmp rax,
 * rcx; cmova rax, rcx; mov [rsp + place + 8], rax. Other code looks like it with a probability of 2^-160. */
static inline int32_t sk_tile_place(const uint8_t *code, const uint8_t *end, uint64_t tile)
{
	enum { LONGEST = 8 + 5 + 10 + 8 };
	static const uint8_t next[] = {0x48, 0x01, 0xd0, 0x48, 0x39, 0xc8, 0x48, 0x0f, 0x47, 0xc1};
	int32_t low, high;
	uint32_t step;
	size_t length = end - code < LONGEST ? 0 : sk_x86_read_store(code, &low);

	if (!length || code[length] != 0xba)
		return -1;
	memcpy(&step, code + length + 1, sizeof(step));
	length += 1 + sizeof(step);
	if (step != tile || memcmp(code + length, next, sizeof(next)) ||
	    !sk_x86_read_store(code + length + sizeof(next), &high))
		return -1;
	return low >= 0 && high == low + 8 ? low : -1;
}

/* The trap is 0f b9 05 and a distance: ud1 name(%rip), %eax. */
static inline const char *sk_trap_name(const uint8_t *trap)
{
	int32_t distance;

	if (trap[0] != 0x0f || trap[1] != 0xb9 || trap[2] != 0x05)
		return NULL;
	memcpy(&distance, trap + 3, sizeof(distance));
	return (const char *)trap + SK_TRAP_CODE_SIZE + distance;
}

enum { SK_HOOK_REACH = 64 };

/* Return the register of the call, call *%reg (ff d0 + register) or call *(%reg) (ff 10 + register), or -1. */
static inline int sk_x86_called_register(const uint8_t *start, const uint8_t *end)
{
	bool low = (end[-1] & 0xf8) == 0xd0 || (end[-1] & 0xf8) == 0x10;

	if (end[-2] != 0xff || !low)
		return -1;
	return (end[-1] & 7) + (end - start > 2 && end[-3] == 0x41 ? 8 : 0);
}

/* The call is ff 15 and a distance, call *hook(%rip), or by a register that the code before loads: 48 8b or 4c 8b, mov
 * hook(%rip), %reg; 48 8d or 4c 8d, lea hook(%rip), %reg. */
static inline const void *sk_hook_of_call(const uint8_t *start, const uint8_t *end)
{
	enum { CALL = 6, LOAD = 7 };
	const uint8_t *next = NULL; /* after the distance */
	int32_t distance;

	if (end - start < LOAD)
		return NULL;
	if (end[-CALL] == 0xff && end[-CALL + 1] == 0x15)
		next = end;
	for (const uint8_t *code = end - LOAD; code >= start && !next; code--) {
		int loaded = ((code[2] >> 3) & 7) + (code[0] == 0x4c ? 8 : 0);

		if ((code[0] == 0x48 || code[0] == 0x4c) && (code[1] == 0x8b || code[1] == 0x8d) &&
		    (code[2] & 0xc7) == 0x05 && loaded == sk_x86_called_register(start, end))
			next = code + LOAD;
	}
	if (!next)
		return NULL;
	memcpy(&distance, next - sizeof(distance), sizeof(distance));
	return next + distance;
}

enum { SK_INTEGERS = SK_X86_INTEGERS, SK_FLOATS = SK_X86_VECTORS };

static inline const struct sk_convention *sk_machine_convention(void)
{
	return &sk_x86_convention;
}

static inline const struct sk_import_list *sk_machine_imports(void)
{
	return &sk_imports_x86_64;
}

/* Control state after a function and before it. */
struct sk_control {
	uint64_t flags;
	uint32_t mxcsr, mxcsr_before;
	uint32_t x87[7]; /* as fnstenv stores it: control word, status word, tag word, … */
	uint32_t x87_before; /* the control word */
};

static inline enum sk_dynamic_kind sk_dynamic_kind(uint32_t type)
{
	switch (type) {
	case R_X86_64_RELATIVE:
		return SK_DYNAMIC_BIAS;
	case R_X86_64_GLOB_DAT:
		return SK_DYNAMIC_SYMBOL;
	case R_X86_64_DTPMOD64:
		return SK_DYNAMIC_BLOCK;
	case R_X86_64_TPOFF64:
		return SK_DYNAMIC_DISTANCE;
	default:
		return SK_DYNAMIC_UNSUPPORTED;
	}
}

#endif
