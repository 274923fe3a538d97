/* .npy files: files of numpy.save are read, written files are the same as those of numpy.save, and all others are
 * refused with a text that describes them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/npy/npy.h"
#include "format/skplan.h"
#include "tests/lib/suite.h"

static char directory[] = "/tmp/check_npy.XXXXXX";
static char path[64];
static char error[256];

static void setup(void)
{
	strcpy(directory, "/tmp/check_npy.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/a.npy", directory);
	error[0] = '\0';
}

static void teardown(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(directory), 0); /* fails if a temporary file is left */
}

static void write_file(const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

/* Make a file of the given version with this dictionary and that many zero bytes after it. */
static void make_file(int major, const char *dictionary, size_t data_size)
{
	unsigned char bytes[1024] = "\x93NUMPY";
	size_t length = strlen(dictionary), start = major == 1 ? 10 : 12;

	bytes[6] = (unsigned char)major;
	bytes[8] = (unsigned char)(length & 0xff);
	bytes[9] = (unsigned char)(length >> 8);
	memcpy(bytes + start, dictionary, length);
	ck_assert_uint_le(start + length + data_size, sizeof(bytes));
	write_file(bytes, start + length + data_size);
}

static void expect_error(enum sk_dtype dtype, const char *text)
{
	struct sk_npy npy;

	ck_assert(!sk_npy_open(path, dtype, &npy, error, sizeof(error)));
	ck_assert_msg(strstr(error, text) != NULL, "'%s' is not in '%s'", text, error);
	ck_assert_ptr_null(npy.mapping);
}

/* The bytes that numpy.save writes for numpy.arange(6, dtype="f4").reshape(2, 3). */
START_TEST(numpy_bytes)
{
	static const char header[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
				     "                                                          \n";
	static const float values[6] = {0, 1, 2, 3, 4, 5};
	static const uint64_t shape[2] = {2, 3};
	unsigned char bytes[152], written[160];
	struct sk_npy npy;

	ck_assert_uint_eq(sizeof(header) - 1, 128);
	memcpy(bytes, header, 128);
	memcpy(bytes + 128, values, 24);
	write_file(bytes, sizeof(bytes));
	ck_assert_msg(sk_npy_open(path, SK_F32, &npy, error, sizeof(error)), "%s", error);
	ck_assert_uint_eq(npy.rank, 2);
	ck_assert_uint_eq(npy.shape[0], 2);
	ck_assert_uint_eq(npy.shape[1], 3);
	ck_assert_uint_eq(npy.bytes, 24);
	ck_assert_mem_eq(npy.data, values, 24);
	ck_assert_uint_eq((uintptr_t)npy.data % 64, 0);
	sk_npy_close(&npy);

	unlink(path);
	ck_assert_msg(sk_npy_write(path, SK_F32, 2, shape, values, error, sizeof(error)), "%s", error);
	FILE *file = fopen(path, "rb");
	ck_assert_uint_eq(fread(written, 1, sizeof(written), file), sizeof(bytes));
	fclose(file);
	ck_assert_mem_eq(written, bytes, sizeof(bytes));
}
END_TEST

START_TEST(round_trips)
{
	uint64_t shape[SK_MAX_RANK] = {3, 1, 2, 1, 1, 1, 1, 2};
	uint64_t data[12];

	for (int i = 0; i < 12; i++)
		data[i] = 0x0101010101010101u * (unsigned)i;
	for (int dtype = SK_DTYPE_NONE + 1; dtype < SK_DTYPE_COUNT; dtype++) {
		for (uint32_t rank = 0; rank <= SK_MAX_RANK; rank++) {
			struct sk_npy npy;
			uint64_t elements = 1;

			for (uint32_t i = 0; i < rank; i++)
				elements *= shape[i];
			ck_assert_msg(sk_npy_write(path, (enum sk_dtype)dtype, rank, shape, data, error, sizeof(error)),
				      "%s", error);
			ck_assert_msg(sk_npy_open(path, (enum sk_dtype)dtype, &npy, error, sizeof(error)), "%s", error);
			ck_assert_uint_eq(npy.rank, rank);
			ck_assert_mem_eq(npy.shape, shape, rank * sizeof(shape[0]));
			ck_assert_uint_eq(npy.bytes, elements * sk_dtype_size((enum sk_dtype)dtype));
			ck_assert_mem_eq(npy.data, data, npy.bytes);
			sk_npy_close(&npy);
		}
	}
}
END_TEST

START_TEST(empty_and_large)
{
	uint64_t shape[3] = {UINT64_MAX, UINT64_MAX, 0};
	struct sk_npy npy;

	ck_assert(sk_npy_write(path, SK_F64, 3, shape, NULL, error, sizeof(error)));
	ck_assert_msg(sk_npy_open(path, SK_F64, &npy, error, sizeof(error)), "%s", error);
	ck_assert_uint_eq(npy.bytes, 0);
	sk_npy_close(&npy);
	shape[2] = 1;
	ck_assert(!sk_npy_write(path, SK_F64, 3, shape, NULL, error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "too large"));
}
END_TEST

START_TEST(accepted)
{
	static const struct {
		int major;
		const char *dictionary;
		enum sk_dtype dtype;
		size_t bytes;
	} cases[] = {
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", SK_F32, 12},
		{2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", SK_F32, 12},
		{1, "{\"shape\":(),\"descr\":\"<i8\",\"fortran_order\":False}", SK_I64, 8},
		{1, "{'descr': '<V2', 'fortran_order': False, 'shape': (2, 2)}", SK_BF16, 8},
		{1, "{'descr': '|V2', 'fortran_order': False, 'shape': (2, 2,)}", SK_BF16, 8},
		{1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2)}", SK_BF16, 8},
		{1, "{'descr': '<u2', 'fortran_order': True, 'shape': (2,)}", SK_U16, 4},
		{1, "{'descr': '<u2', 'fortran_order': True, 'shape': ()}", SK_U16, 2},
		{1, "{'descr': '<u2', 'fortran_order': True, 'shape': (1, 3, 1)}", SK_U16, 6},
		{1, "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 0, 3)}", SK_U16, 0},
		{1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", SK_BOOL, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sk_npy npy;

		make_file(cases[i].major, cases[i].dictionary, cases[i].bytes);
		ck_assert_msg(sk_npy_open(path, cases[i].dtype, &npy, error, sizeof(error)), "%s: %s",
			      cases[i].dictionary, error);
		ck_assert_uint_eq(npy.bytes, cases[i].bytes);
		sk_npy_close(&npy);
	}
}
END_TEST

START_TEST(refused)
{
	static const struct {
		const char *dictionary;
		size_t bytes;
		const char *text;
	} cases[] = {
		{"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8, "'<f8' (f64), wanted is f32 ('<f4')"},
		{"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4, "'>f4' (big-endian)"},
		{"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, "not a type that kernels take"},
		{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "records"},
		{"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16, "Fortran order"},
		{"{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", 4, "neither True nor False"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, "truncated"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, "1 bytes follow the 8"},
		{"{'descr': '<f4', 'fortran_order': False}", 4, "no key 'shape'"},
		{"{'fortran_order': False, 'shape': (1,)}", 4, "no key 'descr'"},
		{"{'descr': '<f4', 'shape': (1,)}", 4, "no key 'fortran_order'"},
		{"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "'descr' twice"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, "unknown key 'x'"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4, "','"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, "tuple of numbers"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", 4, "','"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1 1)}", 4, "')'"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4, "more than 8"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", 4, "64 bits"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 4, "too large"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "goes on"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4, "0x00"},
		{"{'descr': '<f4", 4, "0x00"},
		{"", 4, "'{'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_file(1, cases[i].dictionary, cases[i].bytes);
		/* An unterminated dictionary ends where its announced length ends, not in the data. */
		expect_error(SK_F32, strcmp(cases[i].text, "0x00") ? cases[i].text : "header");
	}
	make_file(3, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4);
	expect_error(SK_F32, "version 3.0");
	write_file("", 0);
	expect_error(SK_F32, "empty");
	write_file("PK\x03\x04zip-archive", 15);
	expect_error(SK_F32, "not a .npy file");
	make_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4);
	expect_error(SK_DTYPE_NONE, "no such element type");
	unlink(path);
	expect_error(SK_F32, "No such file");
	ck_assert_int_eq(mkdir(path, 0700), 0);
	expect_error(SK_F32, "not a regular file");
	rmdir(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_error(SK_F32, "not a regular file");
}
END_TEST

/* A good file cut at every byte is an error at every byte. */
START_TEST(cut)
{
	uint64_t shape[2] = {2, 3};
	float data[6] = {1, 2, 3, 4, 5, 6};

	ck_assert(sk_npy_write(path, SK_F32, 2, shape, data, error, sizeof(error)));
	for (off_t size = 151; size >= 0; size--) {
		struct sk_npy npy;

		ck_assert_int_eq(truncate(path, size), 0);
		ck_assert_msg(!sk_npy_open(path, SK_F32, &npy, error, sizeof(error)), "%ld bytes", (long)size);
	}
}
END_TEST

START_TEST(write_errors)
{
	uint64_t shape[1] = {1};
	float data[1] = {1};
	char missing[128];

	snprintf(missing, sizeof(missing), "%s/none/a.npy", directory);
	ck_assert(!sk_npy_write(missing, SK_F32, 1, shape, data, error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "No such file"));
	ck_assert(!sk_npy_write("/dev/full", SK_F32, 1, shape, data, error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "No space"));
	ck_assert(sk_npy_write("/dev/null", SK_F32, 1, shape, data, error, sizeof(error)));
	struct stat status;
	ck_assert_int_eq(stat("/dev/null", &status), 0);
	ck_assert(S_ISCHR(status.st_mode));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("npy");
	TCase *tests = tcase_create("npy");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, numpy_bytes);
	tcase_add_test(tests, round_trips);
	tcase_add_test(tests, empty_and_large);
	tcase_add_test(tests, accepted);
	tcase_add_test(tests, refused);
	tcase_add_test(tests, cut);
	tcase_add_test(tests, write_errors);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
