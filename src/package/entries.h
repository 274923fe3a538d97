/* The code of the launches' entries. In: the finished plan. Out: two pieces of code, that of the
 * launches that scopes have become and that of the entries that every task has of its own, each with its unwind and
 * debug information. Neither knows of the other, so two threads can make them. */
#ifndef SK_ENTRIES_H
#define SK_ENTRIES_H

#include "format/plan/plan.h"
#include "stubs/dispatcher/debug-line.h"
#include "stubs/dispatcher/dispatcher.h"

enum { SK_ENTRIES_OF_SCOPES, SK_ENTRIES_OF_TASKS, SK_ENTRIES };

/* A launch's two entries: numbers of their symbols in the code; serial is SK_NO_INDEX if there is none. Several
 * launches can have one thunk. */
struct sk_entry {
	uint32_t launch, parallel, serial;
};

struct sk_entries {
	struct sk_code code;
	struct sk_debug debug; /* if it was asked for, and the code has parts */
	SK_ARRAY(struct sk_entry) entries;
	const char *failed, *reason; /* the first entry that cannot be made, and why; NULL: none */
};

/* Makes both pieces, in the arena, in two threads if there may be as many. With `debug` also their debug information,
 * whose source is the manifest. */
void sk_entries_make(struct sk_arena *arena, const struct sk_plan_view *plan, const char *manifest, bool debug,
		     unsigned threads, struct sk_entries entries[SK_ENTRIES]);

/* Bytes of code of both. */
uint64_t sk_entries_size(const struct sk_entries entries[SK_ENTRIES]);

#endif
