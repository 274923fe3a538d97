/* The account: packing and unpacking, and the errors for damaged sections. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;

static void setup(void)
{
	arena = sk_arena_create();
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

static const struct sk_account_entry sample[] = {
	{0, 0, "mul", "sp1", "CAN_FUSE", "fused into the first segment of sp1", "TILE_FIRST", "stands first", NULL,
	 NULL, NULL, "model.yaml"},
	{1, 0, "add", "sp1", "CAN_FUSE", "", "TILE_JOINED", "", "BLOCKS_FOLLOWED", "keeps to them", "a rule", NULL},
	{2, 1, "sort", NULL, "OP_UNSUPPORT", "its kernel is marked unfusible", "TILE_FIRST", "stands first",
	 "BLOCKS_EARLY", "", NULL, "net.pbtxt"},
	{4294967295u, 4294967295u, "last", "a,b", "NOT_IN_SCOPE", "stands outside every scope", "TILE_FIRST",
	 "stands first", NULL, NULL, NULL, NULL},
};
enum { SAMPLES = sizeof(sample) / sizeof(sample[0]) };

static const struct sk_wanted_order sample_orders[] = {{0, 1, NULL}, {0, 2, "ready"}, {1, 2, NULL}};
static const char *sample_objects[] = {"kernels.o", "lib.a(member.o)", "-"};
static const struct sk_account_slice sample_slices[] = {{"b", 4294967295u, 0, 1}, {"c", 0, 1, 18446744073709551615u}};
static const struct sk_account_node sample_nodes[] = {{"split", "ge:SplitD", false, 2, sample_slices},
						      {"none", "Concat", true, 0, NULL},
						      {"cat", "Concat", true, 1, sample_slices}};
static const struct sk_account sample_account = {sample, SAMPLES, sample_orders, 3, sample_objects, 3, sample_nodes, 3};

START_TEST(round_trip)
{
	struct sk_account account;
	const void *bytes;
	uint64_t size;

	sk_account_pack(arena, &sample_account, &bytes, &size);
	ck_assert_ptr_null(sk_account_unpack(arena, bytes, size, &account));
	ck_assert_uint_eq(account.count, SAMPLES);
	for (size_t i = 0; i < account.count; i++) {
		ck_assert_uint_eq(account.entries[i].task, sample[i].task);
		ck_assert_uint_eq(account.entries[i].launch, sample[i].launch);
		ck_assert_str_eq(account.entries[i].name, sample[i].name);
		ck_assert_pstr_eq(account.entries[i].scope, sample[i].scope);
		ck_assert_str_eq(account.entries[i].code, sample[i].code);
		ck_assert_str_eq(account.entries[i].sentence, sample[i].sentence);
		ck_assert_str_eq(account.entries[i].tile_code, sample[i].tile_code);
		ck_assert_str_eq(account.entries[i].tile_sentence, sample[i].tile_sentence);
		ck_assert_pstr_eq(account.entries[i].block_code, sample[i].block_code);
		ck_assert_pstr_eq(account.entries[i].block_sentence, sample[i].block_sentence);
		ck_assert_pstr_eq(account.entries[i].rule, sample[i].rule);
		ck_assert_pstr_eq(account.entries[i].file, sample[i].file);
		ck_assert_ptr_eq(sk_account_find(&account, sample[i].task), &account.entries[i]);
	}
	ck_assert_ptr_null(sk_account_find(&account, 3));
	ck_assert_uint_eq(account.order_count, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(account.orders[i].earlier, sample_orders[i].earlier);
		ck_assert_uint_eq(account.orders[i].later, sample_orders[i].later);
		ck_assert_pstr_eq(account.orders[i].event, sample_orders[i].event);
	}
	ck_assert_uint_eq(account.object_count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(account.objects[i], sample_objects[i]);
	ck_assert_uint_eq(account.node_count, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_str_eq(account.nodes[i].name, sample_nodes[i].name);
		ck_assert_str_eq(account.nodes[i].op, sample_nodes[i].op);
		ck_assert_int_eq(account.nodes[i].joins, sample_nodes[i].joins);
		ck_assert_uint_eq(account.nodes[i].slice_count, sample_nodes[i].slice_count);
		for (uint32_t s = 0; s < sample_nodes[i].slice_count; s++) {
			ck_assert_str_eq(account.nodes[i].slices[s].name, sample_slices[s].name);
			ck_assert_uint_eq(account.nodes[i].slices[s].tensor, sample_slices[s].tensor);
			ck_assert_uint_eq(account.nodes[i].slices[s].offset, sample_slices[s].offset);
			ck_assert_uint_eq(account.nodes[i].slices[s].bytes, sample_slices[s].bytes);
		}
	}
	ck_assert(sk_account_has_node(&account, "none") && !sk_account_has_node(&account, "mul"));
}
END_TEST

START_TEST(empty_account)
{
	struct sk_account account;
	const void *bytes;
	uint64_t size;

	sk_account_pack(arena, &(struct sk_account){0}, &bytes, &size);
	ck_assert_ptr_null(sk_account_unpack(arena, bytes, size, &account));
	ck_assert_uint_eq(account.count, 0);
}
END_TEST

START_TEST(separators_in_fields)
{
	const struct sk_account_entry odd = {0,	       0,
					     "a\tb",   "s\nt",
					     "C\rD",   "one\ntwo\tthree",
					     "T\tC",   "four\nfive",
					     "B\nC",   "six\tseven",
					     "r\tule", "f\tile"};
	struct sk_account account;
	const void *bytes;
	uint64_t size;

	sk_account_pack(arena, &(struct sk_account){&odd, 1, NULL, 0}, &bytes, &size);
	ck_assert_ptr_null(sk_account_unpack(arena, bytes, size, &account));
	ck_assert_uint_eq(account.count, 1);
	ck_assert_str_eq(account.entries[0].name, "a b");
	ck_assert_str_eq(account.entries[0].scope, "s t");
	ck_assert_str_eq(account.entries[0].code, "C D");
	ck_assert_str_eq(account.entries[0].sentence, "one two three");
	ck_assert_str_eq(account.entries[0].tile_code, "T C");
	ck_assert_str_eq(account.entries[0].tile_sentence, "four five");
	ck_assert_str_eq(account.entries[0].block_code, "B C");
	ck_assert_str_eq(account.entries[0].block_sentence, "six seven");
	ck_assert_str_eq(account.entries[0].rule, "r ule");
	ck_assert_str_eq(account.entries[0].file, "f ile");
}
END_TEST

/* The section that claims `length` bytes and holds the text. */
static const char *unpack_text(const char *text, size_t text_size, uint64_t length)
{
	struct sk_account account;
	unsigned char section[512];
	uLongf packed = sizeof(section) - 8;

	for (int i = 0; i < 8; i++)
		section[i] = (unsigned char)(length >> (8 * i));
	ck_assert_int_eq(compress(section + 8, &packed, (const Bytef *)text, text_size), Z_OK);

	const char *error = sk_account_unpack(arena, section, 8 + packed, &account);

	if (error)
		ck_assert_uint_eq(account.count, 0);
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
	ck_assert_ptr_null(unpack_text("1\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n", 24, 24));
	expect_text("1\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-", "has no end");
	expect_text("1\ta\t-\t2\tC\ts\n", "line 1 of the account is malformed");
	expect_text("1\ta\t-\t2\tC\n", "line 1 of the account is malformed");
	expect_text("1\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\tmore\n", "line 1 of the account is malformed");
	expect_text("1\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n\n", "line 2 of the account is malformed");
	expect_text("x\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n", "malformed");
	expect_text("1\ta\t-\t\tC\ts\tT\tt\tB\tb\t-\t-\n", "malformed");
	expect_text("1\ta\t-\t-2\tC\ts\tT\tt\tB\tb\t-\t-\n", "malformed");
	expect_text("4294967296\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n", "malformed");
	expect_text("99999999999999999999\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n", "malformed");
	expect_text("2\t1\t-\n1\t0\te\n", "line 2 of the account is malformed"); /* not in order */
	expect_text("2\t1\t-\n1\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n",
		    "line 2 of the account is malformed"); /* a task after it */
	expect_text("2\tx\t-\n", "malformed");
	ck_assert_ptr_null(unpack_text("0\ta.o\n1\tb.o\n", 12, 12));
	expect_text("0\ta.o\n2\tb.o\n", "line 2 of the account is malformed"); /* not in order */
	expect_text("x\ta.o\n", "malformed");
	ck_assert_ptr_null(unpack_text("s\tSplit\tsplits\t1\nb\t0\t0\t4\n", 25, 25));
	expect_text("s\tSplit\tsplits\t2\nb\t0\t0\t4\n", "ends within a node");
	expect_text("s\tSplit\tcuts\t0\n", "line 1 of the account is malformed");
	expect_text("s\tSplit\tsplits\t\n", "line 1 of the account is malformed");
	expect_text("s\tSplit\tsplits\t1\nb\tx\t0\t4\n", "line 2 of the account is malformed");
	expect_text("s\tSplit\tsplits\t1\nb\t0\t0\t18446744073709551616\n", "line 2 of the account is malformed");
	expect_text("s\tSplit\tsplits\t1\n0\ta.o\n", "line 2 of the account is malformed");
	expect_text("s\tSplit\tsplits\t0\n0\ta.o\n", "line 2 of the account is malformed"); /* a kernel after it */
	expect_text("0\ta.o\n2\t1\t-\n", "line 2 of the account is malformed"); /* an order after it */
	expect_text("2\t1\n", "malformed");
	expect(unpack_text("1\ta\0\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n", 23, 23), "NUL");
}
END_TEST

START_TEST(wrong_sizes)
{
	static const char text[] = "1\ta\t-\t2\tC\ts\tT\tt\tB\tb\t-\t-\n";
	struct sk_account account;

	expect(unpack_text(text, 20, 19), "damaged");
	expect(unpack_text(text, 20, 21), "damaged");
	expect(unpack_text(text, 20, UINT64_MAX), "more than");
	expect(unpack_text(text, 20, (uint64_t)1 << 40), "more than");
	expect(sk_account_unpack(arena, "", 0, &account), "shorter than its header");
	expect(sk_account_unpack(arena, "1234567", 7, &account), "shorter than its header");
	expect(sk_account_unpack(arena, "\0\0\0\0\0\0\0\0", 8, &account), "damaged");
}
END_TEST

START_TEST(every_cut)
{
	struct sk_account account;
	const void *bytes;
	uint64_t size;

	sk_account_pack(arena, &sample_account, &bytes, &size);
	for (uint64_t cut = 0; cut < size; cut++) {
		unsigned char *part = malloc(cut + 1); /* of its own, so that a sanitizer sees an overrun */

		memcpy(part, bytes, cut);
		ck_assert_ptr_nonnull(sk_account_unpack(arena, part, cut, &account));
		free(part);
	}
}
END_TEST

/* zlib's checksum finds every flipped bit that makes a difference, and a wrong length does not fit it. */
START_TEST(every_flipped_bit)
{
	struct sk_account account;
	unsigned char *copy;
	const void *bytes, *again;
	uint64_t size, again_size;

	sk_account_pack(arena, &sample_account, &bytes, &size);
	copy = sk_arena_alloc(arena, size, 1);
	for (uint64_t bit = 0; bit < 8 * size; bit++) {
		memcpy(copy, bytes, size);
		copy[bit / 8] ^= (unsigned char)(1u << (bit % 8));
		if (sk_account_unpack(arena, copy, size, &account))
			continue;
		/* A hint in zlib's header, or padding before the checksum. */
		sk_account_pack(arena, &account, &again, &again_size);
		ck_assert_uint_eq(again_size, size);
		ck_assert_mem_eq(again, bytes, size);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("account");
	TCase *tcase = tcase_create("account");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, round_trip);
	tcase_add_test(tcase, empty_account);
	tcase_add_test(tcase, separators_in_fields);
	tcase_add_test(tcase, malformed_lines);
	tcase_add_test(tcase, wrong_sizes);
	tcase_add_test(tcase, every_cut);
	tcase_add_test(tcase, every_flipped_bit);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
