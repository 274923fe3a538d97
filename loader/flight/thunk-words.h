/* What thunks (format/plan/words.h) are given when they are run: the words that they read, and where no flight is, a
 * core by which one thread runs a task alone. */
#ifndef SK_LOADER_THUNK_WORDS_H
#define SK_LOADER_THUNK_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/skabi.h"

struct skrt_instance;
struct skrt_kernel;

/* Of one launch after the other, with room for the longest so far. */
struct sk_words {
	uint64_t *items;
	uint32_t room;
	const struct skrt_kernel *kernel; /* that they are of, with what has this number bound; NULL: of none */
	uint64_t bound;
};

/* A launch of one core. */
struct sk_lone_core {
	struct sk_words words;
	struct sk_core abi;
	struct sk_core_range range;
	struct sk_home home;
	uint64_t progress;
};

/* What the kernel's thunk reads in a launch of the instance. They stay as they are if the last ones are the same.
 * False: no memory. */
bool sk_words_fill(struct sk_words *words, const struct skrt_kernel *kernel, const struct skrt_instance *instance);

/* In a thunk's place of bindings and workspace stand its words. */
void sk_words_hand(const struct sk_words *words, struct sk_core *abi);

/* Makes ready that the calling thread runs the launch alone. False: no memory. */
bool sk_serial_prepare(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* Runs it: by its serial entry or its thunk. Returns 0 or the first kernel's status that is not. */
int sk_serial_run(struct skrt_instance *instance, const struct skrt_kernel *kernel);

#endif
