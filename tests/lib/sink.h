/* A sink of diagnostics and its arena, for suites that open them for each test and compare the messages. */
#ifndef SK_TESTS_SINK_H
#define SK_TESTS_SINK_H

#include <check.h>

#include "tests/lib/messages.h"

static struct sk_arena *arena;
static struct sk_diag diag;

static inline void open_sink(void)
{
	arena = sk_arena_create();
	sk_diag_init(&diag, arena);
}

static inline void close_sink(void)
{
	sk_arena_destroy(arena);
}

/* Just this has been said since the last question. */
static inline void expect_messages(const char *expected)
{
	char *messages = take_messages(&diag);

	ck_assert_str_eq(messages, expected);
	free(messages);
}

#endif
