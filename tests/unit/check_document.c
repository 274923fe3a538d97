/* Check suite for base: a document other than a manifest, read into a structure that no model has. */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
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
		sk_read_fields(&document, root, document.kind, NULL, fields, 2, &rule);
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

int main(void)
{
	Suite *suite = suite_create("document");
	TCase *tcase = tcase_create("document");

	tcase_add_test(tcase, test_rule);
	tcase_add_loop_test(tcase, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
