/* The report: packed and unpacked again, and what unpacking says to damaged sections. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report.h"

static struct sk_arena *arena;

static void setup(void)
{
	arena = sk_arena_create();
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

static const struct sk_report_entry sample[] = {
	{0, 0, "mul", "sp1", "CAN_FUSE", "fused into the first segment of sp1"},
	{1, 0, "add", "sp1", "CAN_FUSE", ""},
	{2, 1, "sort", NULL, "OP_UNSUPPORT", "its kernel is marked unfusible"},
	{4294967295u, 4294967295u, "last", "a,b", "NOT_IN_SCOPE", "stands outside every scope"},
};
enum { SAMPLES = sizeof(sample) / sizeof(sample[0]) };

START_TEST(round_trip)
{
	const struct sk_report_entry *entries;
	const void *bytes;
	uint64_t size;
	size_t count;

	sk_report_pack(arena, sample, SAMPLES, &bytes, &size);
	ck_assert_ptr_null(sk_report_unpack(arena, bytes, size, &entries, &count));
	ck_assert_uint_eq(count, SAMPLES);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(entries[i].task, sample[i].task);
		ck_assert_uint_eq(entries[i].launch, sample[i].launch);
		ck_assert_str_eq(entries[i].name, sample[i].name);
		ck_assert_pstr_eq(entries[i].scope, sample[i].scope);
		ck_assert_str_eq(entries[i].code, sample[i].code);
		ck_assert_str_eq(entries[i].sentence, sample[i].sentence);
	}
}
END_TEST

START_TEST(empty_report)
{
	const struct sk_report_entry *entries;
	const void *bytes;
	uint64_t size;
	size_t count = 1;

	sk_report_pack(arena, NULL, 0, &bytes, &size);
	ck_assert_ptr_null(sk_report_unpack(arena, bytes, size, &entries, &count));
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(separators_in_fields)
{
	const struct sk_report_entry odd = {0, 0, "a\tb", "s\nt", "C\rD", "one\ntwo\tthree"};
	const struct sk_report_entry *entries;
	const void *bytes;
	uint64_t size;
	size_t count;

	sk_report_pack(arena, &odd, 1, &bytes, &size);
	ck_assert_ptr_null(sk_report_unpack(arena, bytes, size, &entries, &count));
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(entries[0].name, "a b");
	ck_assert_str_eq(entries[0].scope, "s t");
	ck_assert_str_eq(entries[0].code, "C D");
	ck_assert_str_eq(entries[0].sentence, "one two three");
}
END_TEST

/* The section that claims `length` bytes and holds the text. */
static const char *unpack_text(const char *text, size_t text_size, uint64_t length)
{
	const struct sk_report_entry *entries;
	unsigned char section[512];
	uLongf packed = sizeof(section) - 8;
	size_t count;

	for (int i = 0; i < 8; i++)
		section[i] = (unsigned char)(length >> (8 * i));
	ck_assert_int_eq(compress(section + 8, &packed, (const Bytef *)text, text_size), Z_OK);

	const char *error = sk_report_unpack(arena, section, 8 + packed, &entries, &count);

	if (error)
		ck_assert_uint_eq(count, 0);
	return error;
}

static void expect(const char *error, const char *part)
{
	ck_assert_msg(error && strstr(error, part), "'%s' does not say '%s'", error ? error : "(no error)", part);
}

static void expect_text(const char *text, const char *part)
{
	expect(unpack_text(text, strlen(text), strlen(text)), part);
}

START_TEST(malformed_lines)
{
	ck_assert_ptr_null(unpack_text("1\ta\t-\t2\tC\ts\n", 12, 12));
	expect_text("1\ta\t-\t2\tC\ts", "has no end");
	expect_text("1\ta\t-\t2\tC\n", "line 1 of the report is malformed");
	expect_text("1\ta\t-\t2\tC\ts\tmore\n", "line 1 of the report is malformed");
	expect_text("1\ta\t-\t2\tC\ts\n\n", "line 2 of the report is malformed");
	expect_text("x\ta\t-\t2\tC\ts\n", "malformed");
	expect_text("1\ta\t-\t\tC\ts\n", "malformed");
	expect_text("1\ta\t-\t-2\tC\ts\n", "malformed");
	expect_text("4294967296\ta\t-\t2\tC\ts\n", "malformed");
	expect_text("99999999999999999999\ta\t-\t2\tC\ts\n", "malformed");
	expect(unpack_text("1\ta\0\t-\t2\tC\ts\n", 13, 13), "NUL");
}
END_TEST

START_TEST(wrong_sizes)
{
	static const char text[] = "1\ta\t-\t2\tC\ts\n";
	const struct sk_report_entry *entries;
	size_t count;

	expect(unpack_text(text, 12, 11), "damaged");
	expect(unpack_text(text, 12, 13), "damaged");
	expect(unpack_text(text, 12, UINT64_MAX), "more than");
	expect(unpack_text(text, 12, (uint64_t)1 << 40), "more than");
	expect(sk_report_unpack(arena, "", 0, &entries, &count), "shorter than its header");
	expect(sk_report_unpack(arena, "1234567", 7, &entries, &count), "shorter than its header");
	expect(sk_report_unpack(arena, "\0\0\0\0\0\0\0\0", 8, &entries, &count), "damaged");
}
END_TEST

START_TEST(every_cut)
{
	const struct sk_report_entry *entries;
	const void *bytes;
	uint64_t size;
	size_t count;

	sk_report_pack(arena, sample, SAMPLES, &bytes, &size);
	for (uint64_t cut = 0; cut < size; cut++) {
		unsigned char *part = malloc(cut + 1); /* of its own, so that a sanitizer sees an overrun */

		memcpy(part, bytes, cut);
		ck_assert_ptr_nonnull(sk_report_unpack(arena, part, cut, &entries, &count));
		free(part);
	}
}
END_TEST

/* zlib's checksum finds every flipped bit of the stream, and a wrong length does not fit it. */
START_TEST(every_flipped_bit)
{
	const struct sk_report_entry *entries;
	unsigned char *copy;
	const void *bytes;
	uint64_t size;
	size_t count;

	sk_report_pack(arena, sample, SAMPLES, &bytes, &size);
	copy = sk_arena_alloc(arena, size, 1);
	for (uint64_t bit = 0; bit < 8 * size; bit++) {
		memcpy(copy, bytes, size);
		copy[bit / 8] ^= (unsigned char)(1u << (bit % 8));
		/* The level in zlib's header is a hint, under a check of its own; nothing else may change unseen. */
		if (bit / 8 != 9)
			ck_assert_msg(sk_report_unpack(arena, copy, size, &entries, &count) != NULL, "bit %llu",
				      (unsigned long long)bit);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tcase = tcase_create("report");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, round_trip);
	tcase_add_test(tcase, empty_report);
	tcase_add_test(tcase, separators_in_fields);
	tcase_add_test(tcase, malformed_lines);
	tcase_add_test(tcase, wrong_sizes);
	tcase_add_test(tcase, every_cut);
	tcase_add_test(tcase, every_flipped_bit);
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
