/* Extended headers of tar archives, for files that no shell test has, of 8 GiB and more. repro.sh tests the rest with
 * tar itself. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "tests/lib/suite.h"

static uint64_t checksum(const uint8_t *header)
{
	uint64_t sum = 8 * ' ';

	for (int i = 0; i < 512; i++)
		sum += i < 148 || i >= 156 ? header[i] : 0;
	return sum;
}

/* Check the header of a file, after its extended header with these records, or NULL. */
static void check_file(uint64_t size, const char *path, const char *records, const char *octal)
{
	struct sk_tar tar = {.arena = sk_arena_create()};
	size_t header = records ? 2 : 0;
	uint64_t extended = records ? 512 + (strlen(records) + 511) / 512 * 512 : 0;
	uint64_t expected = extended + 512 + (size + 511) / 512 * 512;

	sk_tar_add_file(&tar, path, "", size);
	ck_assert_uint_eq(tar.size, expected);
	ck_assert_uint_eq(tar.parts.count, header + 2);
	for (size_t i = 0; i <= header; i += 2) {
		const uint8_t *bytes = tar.parts.items[i].bytes;

		ck_assert_uint_eq(tar.parts.items[i].size, 512);
		ck_assert_uint_eq(strtoull((const char *)bytes + 148, NULL, 8), checksum(bytes));
		ck_assert_int_eq(bytes[156], i < header ? 'x' : '0');
	}
	if (records) {
		ck_assert_uint_eq(tar.parts.items[1].size, strlen(records));
		ck_assert(!memcmp(tar.parts.items[1].bytes, records, strlen(records)));
	}
	ck_assert_str_eq((const char *)tar.parts.items[header].bytes + 124, octal);
	ck_assert_uint_eq(tar.parts.items[header + 1].offset, tar.size - (size + 511) / 512 * 512);
	sk_arena_destroy(tar.arena);
}

START_TEST(sizes)
{
	check_file(1, "a", NULL, "00000000001");
	check_file((UINT64_C(1) << 33) - 1, "a", NULL, "77777777777");
	check_file(UINT64_C(1) << 33, "a", "19 size=8589934592\n", "00000000000");
}
END_TEST

/* The length of a record counts its own digits: 9 and one more, 98 and 100. */
START_TEST(paths)
{
	char path[1200], record[1300];

	memset(path, 'p', sizeof(path));
	path[100] = '\0';
	check_file(5, path, NULL, "00000000005");
	for (size_t length = 101; length < sizeof(path); length++) {
		path[length - 1] = 'p';
		path[length] = '\0';

		size_t total = length + strlen("ddd path=\n");

		if (total > 999)
			total++;
		snprintf(record, sizeof(record), "%zu path=%s\n", total, path);
		ck_assert_uint_eq(strlen(record), total);
		check_file(5, path, record, "00000000005");
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tar");
	TCase *cases = tcase_create("headers");

	tcase_add_test(cases, sizes);
	tcase_add_test(cases, paths);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
