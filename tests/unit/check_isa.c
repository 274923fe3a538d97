/* Instruction sets: names and texts, the meaning of CPUID's words, and the packages that a processor can run. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/isa.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/x86_64/cpuid.h"
#include "tests/lib/suite.h"

#define BIT(number) (UINT64_C(1) << (number))
enum { AVX = 39, AVX2 = 40, FMA = 44, AVX512F = 48, AMX_TILE = 60 };

/* Everything that CPUID can say, and XCR0 with SSE, AVX, AVX-512 and AMX. */
static struct sk_cpuid everything(void)
{
	struct sk_cpuid cpuid;

	memset(&cpuid, 0xff, sizeof(cpuid));
	return cpuid;
}

START_TEST(test_names)
{
	ck_assert_uint_eq(sk_isa_find("x86-64", 6), 1);
	ck_assert_uint_eq(sk_isa_find("x86-64-v4", 9), 15);
	ck_assert_uint_eq(sk_isa_find("x86-64-v4", 8), 0);
	ck_assert_uint_eq(sk_isa_find("fma+", 3), BIT(FMA));
	ck_assert_uint_eq(sk_isa_find("", 0), 0);
}
END_TEST

START_TEST(test_text)
{
	char text[SK_ISA_TEXT_SIZE];

	ck_assert_str_eq(sk_isa_text(text, 0), "none declared");
	ck_assert_str_eq(sk_isa_text(text, 1), "x86-64");
	ck_assert_str_eq(sk_isa_text(text, 15), "x86-64-v4");
	ck_assert_str_eq(sk_isa_text(text, 4 | BIT(FMA)), "x86-64-v3");
	ck_assert_str_eq(sk_isa_text(text, BIT(FMA) | BIT(AVX2) | BIT(63) | 16), "x86-64+avx2+fma+bit-4+bit-63");
	ck_assert_uint_lt(strlen(sk_isa_text(text, UINT64_MAX)), SK_ISA_TEXT_SIZE - 1);
	ck_assert_uint_lt(strlen(sk_isa_text(text, UINT64_MAX & ~(uint64_t)15)), SK_ISA_TEXT_SIZE - 1);
	ck_assert_ptr_nonnull(strstr(text, "bit-63"));
}
END_TEST

START_TEST(test_processors)
{
	struct sk_cpuid none = {0}, all = everything(), cpuid = all;

	ck_assert_uint_eq(sk_isa_of(&none), 1);
	ck_assert_uint_eq(sk_isa_of(&all), 15 | (BIT(63) - BIT(32)));

	/* The processor can, but the system does not save the registers. */
	cpuid.state = 0x6;
	ck_assert_uint_eq(sk_isa_of(&cpuid) & 15, 7);
	ck_assert(sk_isa_of(&cpuid) & BIT(AVX2));
	ck_assert(!(sk_isa_of(&cpuid) & (BIT(AVX512F) | BIT(AMX_TILE))));
	cpuid.state = 0x2;
	ck_assert_uint_eq(sk_isa_of(&cpuid) & 15, 3);
	ck_assert(!(sk_isa_of(&cpuid) & BIT(AVX)));

	/* One feature is missing: so is the level, and those above it. */
	cpuid = all;
	cpuid.leaves[0][2] &= ~(1u << 22); /* MOVBE */
	ck_assert_uint_eq(sk_isa_of(&cpuid) & 15, 3);
	ck_assert(sk_isa_of(&cpuid) & BIT(AVX512F));
	ck_assert(sk_isa_of_processor() & 1);
}
END_TEST

START_TEST(test_packages)
{
	/* References are relative to their own place. */
	static struct {
		struct sk_plan plan;
		struct sk_plan_kernel kernels[2];
		char names[2][8];
	} package = {.names = {"easy", "hard"}};
	struct sk_plan_view view = {.plan = &package.plan, .kernels = package.kernels, .kernel_count = 2};
	char error[512] = "";

	for (int i = 0; i < 2; i++)
		package.kernels[i].name = (int32_t)((char *)package.names[i] - (char *)&package.kernels[i].name);
	package.plan.isa = 15;
	package.kernels[0].isa = 3;
	package.kernels[1].isa = 15;
	ck_assert(sk_isa_check(&view, 15, error, sizeof(error)));
	ck_assert_str_eq(error, "");

	struct sk_cpuid cpuid = everything();

	cpuid.state = 0x6;
	ck_assert(!sk_isa_check(&view, sk_isa_of(&cpuid), error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "kernel 'hard' needs x86-64-v4; this processor has x86-64-v3"));
	ck_assert_ptr_nonnull(strstr(error, "lacks avx512f+avx512bw+avx512cd+avx512dq+avx512vl"));

	package.kernels[1].isa = 3;
	ck_assert(!sk_isa_check(&view, 7, error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "a constructor needs x86-64-v4"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("isa");
	TCase *test_case = tcase_create("isa");

	tcase_add_test(test_case, test_names);
	tcase_add_test(test_case, test_text);
	tcase_add_test(test_case, test_processors);
	tcase_add_test(test_case, test_packages);
	suite_add_tcase(suite, test_case);
	return run_suite(suite);
}
