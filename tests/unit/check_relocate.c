/* The x86-64 table: the instructions that may be rewritten, the results, and the bits and ranges of fields. The
 * expected bytes are those of GNU as for the instruction in the comment. */
#include <check.h>
#include <elf.h>
#include <string.h>

#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "tests/lib/suite.h"

/* Rewrite the instruction, which ends with its field of four bytes; return the field's place afterwards. */
static uint64_t rewrite(uint32_t type, const char *from, size_t size, uint8_t *code)
{
	memcpy(code, from, size);
	ck_assert(sk_architecture_x86_64.can_relax(type, code, size - 4, -4));
	return sk_architecture_x86_64.relax(code, size - 4);
}

START_TEST(test_rewritten)
{
	uint8_t code[16];

	/* mov foo@GOTPCREL(%rip), %r9  ->  lea foo(%rip), %r9 */
	ck_assert_uint_eq(rewrite(R_X86_64_REX_GOTPCRELX, "\x4c\x8b\x0d\0\0\0\0", 7, code), 3);
	ck_assert_mem_eq(code, "\x4c\x8d\x0d\0\0\0\0", 7);
	/* mov foo@GOTPCREL(%rip), %eax  ->  lea foo(%rip), %eax */
	ck_assert_uint_eq(rewrite(R_X86_64_GOTPCRELX, "\x8b\x05\0\0\0\0", 6, code), 2);
	ck_assert_mem_eq(code, "\x8d\x05\0\0\0\0", 6);
	/* call *foo@GOTPCREL(%rip)  ->  addr32 call foo */
	ck_assert_uint_eq(rewrite(R_X86_64_GOTPCRELX, "\xff\x15\0\0\0\0", 6, code), 2);
	ck_assert_mem_eq(code, "\x67\xe8\0\0\0\0", 6);
	/* jmp *foo@GOTPCREL(%rip)  ->  jmp foo; nop */
	ck_assert_uint_eq(rewrite(R_X86_64_GOTPCRELX, "\xff\x25\0\0\0\0", 6, code), 1);
	ck_assert_uint_eq(code[0], 0xe9);
	ck_assert_uint_eq(code[5], 0x90);

	/* The same as rustc writes them. */
	ck_assert_uint_eq(rewrite(R_X86_64_GOTPCREL, "\x4c\x8b\x0d\0\0\0\0", 7, code), 3);
	ck_assert_mem_eq(code, "\x4c\x8d\x0d\0\0\0\0", 7);
	ck_assert_uint_eq(rewrite(R_X86_64_GOTPCREL, "\xff\x15\0\0\0\0", 6, code), 2);
	ck_assert_mem_eq(code, "\x67\xe8\0\0\0\0", 6);
	ck_assert_uint_eq(rewrite(R_X86_64_GOTPCREL, "\xff\x25\0\0\0\0", 6, code), 1);
	ck_assert_uint_eq(code[0], 0xe9);
	ck_assert_uint_eq(code[5], 0x90);
}
END_TEST

START_TEST(test_left_alone)
{
	static const struct {
		uint32_t type;
		const char *bytes;
		size_t offset;
		int64_t addend;
	} cases[] = {
		{R_X86_64_REX_GOTPCRELX, "\x4c\x3b\x0d", 3, -4}, /* cmp foo@GOTPCREL(%rip), %r9 */
		{R_X86_64_REX_GOTPCRELX, "\x4c\x85\x0d", 3, -4}, /* test %r9, foo@GOTPCREL(%rip) */
		{R_X86_64_REX_GOTPCRELX, "\x48\xff\x15", 3, -4}, /* rex.W call */
		{R_X86_64_REX_GOTPCRELX, "\x4c\x8b\x0c", 3, -4}, /* mov with another operand than disp32(%rip) */
		{R_X86_64_REX_GOTPCRELX, "\x4c\x8b\x0d", 3, 4}, /* a field of the slot's neighbour */
		{R_X86_64_GOTPCRELX, "\xff\x35", 2, -4}, /* push foo@GOTPCREL(%rip) */
		{R_X86_64_GOTPCREL, "\xff\x35", 2, -4}, /* the same */
		{R_X86_64_GOTPCREL, "\x4c\x03\x0d", 3, -4}, /* add foo@GOTPCREL(%rip), %r9 */
		{R_X86_64_GOTPCREL, "\xff\x15", 2, 0}, /* a field of the slot's neighbour */
		{R_X86_64_GOTPCREL64, "\x48\x8b\x05", 3, -4}, /* a field of 8 bytes */
		{R_X86_64_PC32, "\xff\x15", 2, -4}, /* call *foo(%rip), which reads foo */
		{R_X86_64_GOTPCRELX, "\x8b", 1, -4}, /* no room for an instruction */
		{R_X86_64_REX_GOTPCRELX, "\x8b\x05", 2, -4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(!sk_architecture_x86_64.can_relax(cases[i].type, (const uint8_t *)cases[i].bytes,
								cases[i].offset, cases[i].addend),
			      "case %zu", i);
}
END_TEST

START_TEST(test_fields)
{
	static const struct {
		uint32_t type;
		unsigned width;
		int64_t minimum, maximum;
	} cases[] = {
		{R_X86_64_64, 8, 0, 0},
		{R_X86_64_PC64, 8, 0, 0},
		{R_X86_64_32, 4, 0, 4294967295},
		{R_X86_64_32S, 4, -2147483648, 2147483647},
		{R_X86_64_PC32, 4, -2147483648, 2147483647},
		{R_X86_64_PLT32, 4, -2147483648, 2147483647},
		{R_X86_64_GOTPCREL, 4, -2147483648, 2147483647},
		{R_X86_64_16, 2, -32768, 65535},
		{R_X86_64_PC16, 2, -32768, 32767},
		{R_X86_64_8, 1, -128, 255},
		{R_X86_64_PC8, 1, -128, 127},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sk_relocation_type *type = sk_relocation_type_find(&sk_relocations_x86_64, cases[i].type);
		uint8_t field[10] = {0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa};
		static const uint8_t value[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};

		ck_assert_ptr_nonnull(type);
		ck_assert_uint_eq(type->width, cases[i].width);
		ck_assert_int_eq(type->minimum, cases[i].minimum);
		ck_assert_int_eq(type->maximum, cases[i].maximum);
		sk_relocations_x86_64.write(cases[i].type, field + 1, 0x1122334455667788, 0);
		ck_assert_mem_eq(field + 1, value, cases[i].width);
		ck_assert_uint_eq(field[0], 0xaa);
		ck_assert_uint_eq(field[1 + cases[i].width], 0xaa);
	}
	ck_assert_str_eq(sk_relocation_type_find(&sk_relocations_x86_64, R_X86_64_32S)->name, "R_X86_64_32S");
	ck_assert_ptr_null(sk_relocation_type_find(&sk_relocations_x86_64, 39)); /* reserved */
	ck_assert_ptr_null(sk_relocation_type_find(&sk_relocations_x86_64, 0xffffffff));
}
END_TEST

START_TEST(test_stub)
{
	uint8_t stub[8];

	sk_architecture_x86_64.write_stub(stub, 0x1000, 0x3010); /* jmp *0x200a(%rip) */
	ck_assert_mem_eq(stub, "\xff\x25\x0a\x20\0\0", 6);
	sk_architecture_x86_64.write_stub(stub, 0x3000, 0x1000); /* jmp *-0x2006(%rip) */
	ck_assert_mem_eq(stub, "\xff\x25\xfa\xdf\xff\xff", 6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("relocate");
	TCase *cases = tcase_create("x86-64");

	tcase_add_test(cases, test_rewritten);
	tcase_add_test(cases, test_left_alone);
	tcase_add_test(cases, test_fields);
	tcase_add_test(cases, test_stub);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
