/* The archive reader on archives made by hand: good ones, and each way in which a header can be wrong. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linker/object.h"
#include "tests/lib/suite.h"

/* An archive being built. */
static char bytes[4096];
static size_t size;

static void begin(void)
{
	memcpy(bytes, "!<arch>\n", 8);
	size = 8;
}

static void add(const char *name, const char *contents)
{
	size_t length = strlen(contents);

	size += (size_t)sprintf(bytes + size, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name, "0", "0", "0", "644", length);
	memcpy(bytes + size, contents, length);
	size += length;
	if (length % 2)
		bytes[size++] = '\n';
}

/* Return the members as "name:contents|", or the error after them. The copy ends where the archive ends, so that the
 * sanitizer sees reads past it. */
static const char *list(void)
{
	static char text[4096];
	uint8_t *copy = malloc(size);
	struct sk_archive archive;
	struct sk_member member;
	size_t length = 0;

	text[0] = 0;
	memcpy(copy, bytes, size);
	sk_archive_open(&archive, copy, size);
	for (;;) {
		enum sk_archive_result result = sk_archive_next(&archive, &member);

		if (result == SK_ARCHIVE_ERROR)
			sprintf(text + length, "!%s", archive.error);
		if (result != SK_ARCHIVE_MEMBER)
			break;
		length += (size_t)sprintf(text + length, "%.*s:%.*s|", (int)member.name_length, member.name,
					  member.bytes ? (int)member.size : 0, (const char *)member.bytes);
	}
	free(copy);
	return text;
}

START_TEST(test_good)
{
	begin();
	ck_assert_str_eq(list(), "");
	add("/", "index");
	add("//", "a-name-that-is-long.o/\nanother/with/slashes.o/\n");
	add("/0", "one");
	add("short.o/", "two!");
	add("/23", "three");
	add("short.o/", "again");
	add("fifteen-letter/", "");
	add("spaces.o", "4");
	ck_assert_str_eq(list(), "a-name-that-is-long.o:one|short.o:two!|another/with/slashes.o:three|short.o:again|"
				 "fifteen-letter:|spaces.o:4|");
	size--; /* the last padding byte may be missing */
	ck_assert_str_eq(list() + strlen(list()) - 11, "spaces.o:4|");
}
END_TEST

START_TEST(test_64_bit_index)
{
	begin();
	add("/SYM64/", "index");
	add("a/", "A");
	ck_assert_str_eq(list(), "a:A|");
}
END_TEST

START_TEST(test_thin)
{
	begin();
	memcpy(bytes, "!<thin>\n", 8);
	add("/", "index");
	add("//", "folder/one.o/\ntwo.o/\n");
	add("/0", "");
	memcpy(bytes + size - 12, "1234567   ", 10); /* its size, of which nothing is here */
	add("/14", "");
	ck_assert_str_eq(list(), "folder/one.o:|two.o:|");
	add("/0:96", "");
	ck_assert_ptr_nonnull(strstr(list(), "two.o:|!the thin archive refers to members of another archive"));

	begin();
	memcpy(bytes, "!<thin>\n", 8);
	add("//", "one.o/\n");
	size -= 2;
	ck_assert_ptr_nonnull(strstr(list(), "!a member ends after the end of the file"));
}
END_TEST

START_TEST(test_bad)
{
	begin();
	add("a/", "A");
	add("/7", "B");
	ck_assert_ptr_nonnull(strstr(list(), "a:A|!a member's long name is not in the table"));

	begin();
	add("//", "name-without-end");
	add("/0", "B");
	ck_assert_ptr_nonnull(strstr(list(), "long name is not in the table"));

	begin();
	add("//", "n/\n");
	add("/99999999999", "B");
	ck_assert_ptr_nonnull(strstr(list(), "long name is not in the table"));

	begin();
	add("//", "n/\n");
	add("/x", "B");
	ck_assert_ptr_nonnull(strstr(list(), "long name is not in the table"));

	begin();
	add("#1/4", "nameB");
	ck_assert_ptr_nonnull(strstr(list(), "BSD"));

	begin();
	add("a/", "A");
	bytes[8 + 58] = 'x';
	ck_assert_ptr_nonnull(strstr(list(), "header does not end as it must"));

	static const char *const sizes[] = {"          ", "-1        ", "1x        ", "1 1       ", "0x1       "};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin();
		add("a/", "A");
		memcpy(bytes + 8 + 48, sizes[i], 10);
		ck_assert_ptr_nonnull(strstr(list(), "size is not a number"));
	}

	static const char *const large[] = {"3         ", "9999999999"};

	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		begin();
		add("a/", "A");
		memcpy(bytes + 8 + 48, large[i], 10);
		ck_assert_ptr_nonnull(strstr(list(), "truncated"));
	}
}
END_TEST

/* Cut anywhere: an error, or exactly the members that are complete. */
START_TEST(test_truncated)
{
	begin();
	add("//", "a-name-that-is-long.o/\n");
	add("/0", "ones");
	add("b/", "twos");

	size_t whole = size;
	unsigned errors = 0;

	for (size = 8; size < whole; size++) {
		const char *text = list();

		errors += strchr(text, '!') != NULL;
		ck_assert(strstr(text, "b:") == NULL);
		ck_assert(strchr(text, '!') || !strcmp(text, "") || !strcmp(text, "a-name-that-is-long.o:ones|"));
	}
	/* All cuts but those between members. */
	ck_assert_uint_eq(errors, (unsigned)(whole - 8 - 4));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("archive");
	TCase *cases = tcase_create("archive");

	tcase_add_test(cases, test_good);
	tcase_add_test(cases, test_64_bit_index);
	tcase_add_test(cases, test_thin);
	tcase_add_test(cases, test_bad);
	tcase_add_test(cases, test_truncated);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
