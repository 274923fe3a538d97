/* Random models for property tests: a handful of tensors of the same number of elements, in two types, and tasks of
 * every kind that read and write them whole, by halves, elementwise, by rows and in blocks, with some events and
 * `after`. */
#ifndef SK_TESTS_RANDOM_H
#define SK_TESTS_RANDOM_H

#include "tests/lib/model-builder.h"

struct random_options {
	uint32_t lanes;
	uint32_t tasks;
	uint32_t streams;
	bool one_scope; /* every task can be fused and is in scope "s"; otherwise there are two scopes, unfusible
			   tasks, and tasks without a scope */
	uint32_t tensors; /* at least 4 */
	bool together; /* also mix tasks, and tasks with blocks that run at once */
	bool rows; /* most accesses that are not elementwise are to columns of their tensor … */
	bool strides; /* … and some of these to those of every second row */
	bool passing; /* tasks access the tensors one after another, so that most are in use for a short time */
	bool states; /* most plain tasks have one of two hidden states, and start early */
};

/* The same model for the same seed. */
struct test_model *random_model(uint64_t seed, const struct random_options *options);

/* A number below the limit; splitmix64. */
uint32_t random_below(uint64_t *state, uint32_t limit);

#endif
