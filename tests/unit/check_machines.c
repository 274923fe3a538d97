/* A second machine is new files and a row in the list of machines: tests/unit/aarch64/ is compiled against the neutral
 * headers, and the neutral files that go by the list against its copy there. */
#include <check.h>
#include <elf.h>
#include <string.h>

#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "stubs/dispatcher/dispatcher.h"
#include "tests/lib/suite.h"

START_TEST(test_found)
{
	ck_assert_str_eq(sk_architecture_find(EM_AARCH64)->name, "AArch64");
	ck_assert_str_eq(sk_architecture_find(EM_X86_64)->name, "x86-64");
	ck_assert_ptr_null(sk_architecture_find(EM_RISCV));
	ck_assert_str_eq(sk_emitter_find(EM_AARCH64)->name, "AArch64");
	ck_assert_str_eq(sk_emitter_find(EM_X86_64)->name, "x86-64");
	ck_assert_ptr_null(sk_emitter_find(EM_RISCV));
	ck_assert_str_eq(sk_emitter_find(EM_AARCH64)->emit(NULL, NULL, NULL), "AArch64 is a skeleton");
}
END_TEST

/* Bits within instructions, as GNU as and ld for AArch64 have them. */
START_TEST(test_applied)
{
	static const struct {
		uint32_t type, before, after;
		uint64_t target, place;
	} cases[] = {
		{R_AARCH64_CALL26, 0x94000000, 0x94000002, 0x1008, 0x1000}, /* bl .+8 */
		{R_AARCH64_CALL26, 0x94000000, 0x97ffffff, 0x0ffc, 0x1000}, /* bl .-4 */
		{R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0xb0000000, 0x2010, 0x1ffc}, /* adrp x0, the next page */
		{R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x90000020, 0x5010, 0x1ffc}, /* four pages further */
		{R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0x91004000, 0x2010, 0x2000}, /* add x0, x0, 0x10 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t field[4];

		memcpy(field, &cases[i].before, sizeof(field));
		ck_assert(sk_relocation_apply(sk_architecture_find(EM_AARCH64)->relocations, cases[i].type, field,
					      cases[i].target - cases[i].place, cases[i].place));
		ck_assert_mem_eq(field, &cases[i].after, sizeof(field));
	}

	uint8_t far[4] = {0};

	ck_assert(
		!sk_relocation_apply(sk_architecture_find(EM_AARCH64)->relocations, R_AARCH64_CALL26, far, 1 << 27, 0));
	ck_assert_mem_eq(far, "\0\0\0", sizeof(far));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("machines");
	TCase *cases = tcase_create("AArch64");

	tcase_add_test(cases, test_found);
	tcase_add_test(cases, test_applied);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
