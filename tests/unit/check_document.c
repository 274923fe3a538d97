/* Check suite for src/document: a document that is no manifest, read into a structure that no model has. */
#include <check.h>
#include <string.h>

#include "src/document/builder.h"
#include "src/document/fields.h"
#include "tests/lib/messages.h"
#include "tests/lib/suite.h"

struct rule {
	struct sk_name name;
	uint64_t limit;
};

static void read_name(const struct sk_document *document, void *target, const struct sk_node *value)
{
	sk_read_name(document, value, "the name of", "a rule", &((struct rule *)target)->name);
}

static void read_limit(const struct sk_document *document, void *target, const struct sk_node *value)
{
	ck_assert_str_eq(document->owner, "owner");
	sk_read_integer(document, value, "'limit'", NULL, 1, 9, &((struct rule *)target)->limit);
}

/* The rule that the text says; *messages are freed by the caller. */
static struct rule parse(const char *text, char **messages)
{
	static const struct sk_field fields[] = {{"name", true, read_name}, {"limit", false, read_limit}};
	struct sk_arena *arena = sk_arena_create();
	char owner[] = "owner";
	struct rule rule = {.limit = 0};
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	const struct sk_document document = {arena, &diag, "r.yaml", "the rule file", owner};
	const struct sk_node *root = sk_document_parse(&document, arena, text, strlen(text));

	if (root)
		sk_read_fields(&document, root, document.what, NULL, fields, 2, &rule);
	*messages = take_messages(&diag);
	sk_arena_destroy(arena);
	return rule;
}

START_TEST(test_rule)
{
	char *messages;

	ck_assert_uint_eq(parse("name: r\nlimit: 7\n", &messages).limit, 7);
	ck_assert_str_eq(messages, "");
	free(messages);
}
END_TEST

static const struct {
	const char *text, *messages;
} bad[] = {
	{"", "t: error: r.yaml:1:1: the rule file is empty\n"},
	{"[]\n", "t: error: r.yaml:1:1: the rule file must be a map, not a list\n"},
	{"limit: 1\n", "t: error: r.yaml:1:1: the rule file has no 'name'\n"},
	{"name: r\nlimit: 10\n", "t: error: r.yaml:2:8: 'limit' must be an integer from 1 to 9, not '10'\n"},
	{"name: r\nlimt: 1\n", "t: error: r.yaml:2:1: unknown key 'limt' in the rule file; did you mean 'limit'?\n"},
	{"name: !r r\n", "t: error: r.yaml:1:7: tags are not accepted (!r)\n"},
	{"name: a\n---\nname: b\n", "t: error: r.yaml:3:1: one document is expected, but a second one starts here\n"},
};

START_TEST(test_bad)
{
	char *messages;

	parse(bad[_i].text, &messages);
	ck_assert_str_eq(messages, bad[_i].messages);
	free(messages);
}
END_TEST

/* ---- two halves ---- */

/* Lines that go on, end or belie what stands in front of them. */
static const char *const lines[] = {
	"tasks:\n",
	"kernels:\n",
	"  - {a: b}\n",
	"  - {a: b, c: [d]}\n",
	"  - a: b\n    c: d\n",
	"  - [a,\n",
	"    b]\n",
	"  - b]\n",
	"  - 'a\n",
	"  b'\n",
	"  - b'\n",
	"  - \"a\\\n",
	"  b\"\n",
	"  - |\n",
	"  - >+\n",
	"    text\n",
	"   text\n",
	"\n",
	"  # a\n",
	"# a\n",
	"...\n",
	"---\n",
	"- a\n",
	"  -\n",
	"  - - a\n",
	"    - b\n",
	"  k: v\n",
	"  l: {m: n}\n",
	"  o: 'p\n",
	"  q: |\n",
	"  ? r\n",
	"  : s\n",
	"  \"t\": u\n",
	"  a\n",
	"  - a\n",
	"  - -5\n",
	"%YAML 1.1\n",
	"  - &a b\n",
	"  - *a\n",
	"  - !a b\n",
	"\ta\n",
	"   - a\n",
	" - a\n",
	"scopes: {}\n",
	"tasks: [\n",
	"  - a]\n",
	"  - a\r\n",
	"  - a\r  - b\n",
	"x: y\n",
	"  v: w\xe2\x80\xa8\n",
	"  - \xc3\xa4: b\n",
	"  - {a: b,\n",
	"  c: d}\n",
	"  - c}\n",
};

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % limit;
}

/* Most lines are entries of a list or of a map. */
static const char *random_text(struct sk_arena *arena)
{
	bool list = below(2), indented = !list || below(4);
	const char *text = below(4) ? "" : "sklink: 1\n";

	text = sk_arena_join(arena, text, list ? "tasks:\n" : "kernels:\n");
	for (uint32_t i = 0, count = 4 + below(12); i < count; i++) {
		const char *line =
			below(5) ? sk_arena_print(arena, "%s%s%u\n", indented ? "  " : "", list ? "- a" : "k: v", i)
				 : lines[below(sizeof(lines) / sizeof(lines[0]))];

		if (!list && *line == ' ' && line[2] == 'k')
			line = sk_arena_print(arena, "  k%u: v\n", below(100));
		text = sk_arena_join(arena, text, line);
	}
	return text;
}

static bool are_same(const struct sk_node *a, const struct sk_node *b)
{
	if (a->kind != b->kind || a->line != b->line || a->column != b->column || a->plain != b->plain ||
	    a->in_line != b->in_line || a->count != b->count || strcmp(a->text, b->text) != 0)
		return false;

	const struct sk_node *x = sk_node_first(a), *y = sk_node_first(b);

	for (; x && y; x = sk_node_next(x), y = sk_node_next(y))
		if (!are_same(x, y) || (a->kind == SK_NODE_MAP && !are_same(sk_node_value(x), sk_node_value(y))))
			return false;
	return !x && !y;
}

/* What two halves are joined to is what the whole text is. */
START_TEST(test_halves)
{
	enum { TEXTS = 30000, FEWEST = 3000 };
	unsigned joined = 0;

	for (seed = 0; seed < TEXTS; seed++) {
		uint64_t number = seed;
		struct sk_arena *arena = sk_arena_create();
		struct sk_diag diag;

		sk_diag_init(&diag, arena);

		const struct sk_document document = {arena, &diag, "h.yaml", "the text", .threads = 1};
		const char *text = random_text(arena);
		const struct sk_node *halves = sk_document_build_halves(&document, arena, text, strlen(text));

		ck_assert_uint_eq(diag.errors, 0); /* they are for the whole text to show */
		if (halves) {
			const struct sk_node *whole = sk_document_parse(&document, arena, text, strlen(text));

			ck_assert_msg(whole && are_same(halves, whole), "%s", text);
			joined++;
		}
		sk_arena_destroy(arena);
		seed = number;
	}
	ck_assert_uint_ge(joined, FEWEST);
}
END_TEST

/* Each half is a document, and the whole text is none. */
START_TEST(test_no_halves)
{
	static const char *const texts[] = {
		"kernels:\n  {a: b}\n  c: d\n  e: f\n", /* behind braces */
		"tasks:\n    - 'a\nkey\n  - b'\n    - c\n  - d\n  - d\n  - d\n  - d\n", /* a key within quotes */
	};
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	const struct sk_document document = {arena, &diag, "h.yaml", "the text", .threads = 1};

	ck_assert_ptr_null(sk_document_build_halves(&document, arena, texts[_i], strlen(texts[_i])));
	ck_assert_ptr_null(sk_document_parse(&document, arena, texts[_i], strlen(texts[_i])));
	sk_arena_destroy(arena);
}
END_TEST

/* The same nodes and messages of a long text, whatever the number of threads. */
START_TEST(test_threads)
{
	static const char *const last[] = {"",	   "  - [a\n", "kernels: {}\n", "tasks: {}\n", "  - {a: b, a: c}\n",
					   "...\n"};
	struct sk_arena *arena = sk_arena_create();
	char *texts[2];
	const struct sk_node *roots[2];
	size_t size = 0, room = 1 << 20;
	char *text = sk_arena_alloc(arena, room, 1);

	size += (size_t)sprintf(text, "sklink: 1\ntasks:\n");
	for (int i = 0; i < 10000; i++)
		size += (size_t)sprintf(text + size, "  - {name: task_%d, kernel: k%d, args: [a, b]}\n", i, i);
	size += (size_t)sprintf(text + size, "%s", last[_i]);
	for (unsigned i = 0; i < 2; i++) {
		struct sk_diag diag;
		const struct sk_document document = {arena, &diag, "l.yaml", "the text", .threads = 1 + i};

		sk_diag_init(&diag, arena);
		roots[i] = sk_document_parse(&document, arena, text, size);
		texts[i] = take_messages(&diag);
	}
	ck_assert_str_eq(texts[0], texts[1]);
	ck_assert(!roots[0] == !roots[1] && (!roots[0] || are_same(roots[0], roots[1])));
	free(texts[0]);
	free(texts[1]);
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("document");
	TCase *tcase = tcase_create("document");

	tcase_add_test(tcase, test_rule);
	tcase_add_loop_test(tcase, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tcase, test_halves);
	tcase_add_loop_test(tcase, test_no_halves, 0, 2);
	tcase_add_loop_test(tcase, test_threads, 0, 6);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
