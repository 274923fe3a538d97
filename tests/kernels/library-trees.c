/* library-trees.c: sums over trees. Each row goes down each tree by a plain loop, and leaves vote in order; the result
 * must be the same bits, for the whole and for parts of it, as cores compute them. */
#include "tests/kernels/library.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 64, MOST_VOTES = 200, MOST_TREES = 9 };

struct trees {
	int64_t count, votes_count, trees, f, t;
	int32_t roots[MOST_TREES], features[MOST_NODES], children[2 * MOST_NODES], votes[MOST_NODES + 1],
		targets[MOST_VOTES];
};

/* Nodes lead to later ones; the last ones are leaves, and so are some others. */
static void make_trees(struct trees *trees)
{
	trees->count = between(1, MOST_NODES);
	trees->trees = between(1, MOST_TREES);
	trees->f = between(1, 6);
	trees->t = between(1, 4);
	trees->votes_count = 0;
	for (int64_t i = 0; i < trees->count; i++) {
		int64_t leaf = i + 1 == trees->count || between(0, 4) == 0;

		trees->features[i] = (int32_t)(between(0, trees->f - 1) * 4 + between(0, 3));
		for (int64_t side = 0; side < 2; side++)
			trees->children[2 * i + side] = (int32_t)(leaf ? i : between(i + 1, trees->count - 1));
		trees->votes[i] = (int32_t)trees->votes_count;
		for (int64_t vote = leaf ? between(0, 3) : 0; vote > 0 && trees->votes_count < MOST_VOTES; vote--)
			trees->targets[trees->votes_count++] = (int32_t)between(0, trees->t - 1);
	}
	trees->votes[trees->count] = (int32_t)trees->votes_count;
	for (int64_t tree = 0; tree < trees->trees; tree++)
		trees->roots[tree] = (int32_t)between(0, trees->count - 1);
}

static int64_t leaf_of(const struct trees *trees, const struct type *type, const void *x, int64_t row,
		       const void *splits, int64_t node)
{
	while (trees->children[2 * node] != node || trees->children[2 * node + 1] != node) {
		wide value = get_wide(type, x, row * trees->f + trees->features[node] / 4);
		wide split = get_wide(type, splits, node);
		int equal = trees->features[node] & 1, missing = trees->features[node] & 2;
		int test = value != value ? missing : equal ? value == split : value <= split;

		node = trees->children[2 * node + !test];
	}
	return node;
}

/* Votes are counted in the type: a step of f32 or f64 is the rounded step of wider numbers. */
static void expect_votes(const struct kernel *kernel, const struct trees *trees, const void *weights, int64_t leaf,
			 void *y, int64_t row)
{
	const struct type *type = kernel->in;

	for (int32_t i = trees->votes[leaf]; i < trees->votes[leaf + 1]; i++) {
		int64_t at = row * trees->t + trees->targets[i];
		wide all = get_wide(type, y, at), one = get_wide(type, weights, i);

		if (strstr(kernel->operator, "sum"))
			all += one;
		else if (strstr(kernel->operator, "min"))
			all = one < all ? one : all;
		else
			all = one > all ? one : all;
		put_wide(type, y, at, all);
	}
}

static void *copy_of(const int32_t *list, int64_t count)
{
	void *copy = guarded((size_t)count * sizeof *list);

	memcpy(copy, list, (size_t)count * sizeof *list);
	return copy;
}

static void run_trees(const struct kernel *kernel, const struct row *row)
{
	typedef void sum(const void *, const void *, const void *, const void *, const void *, const void *,
			 const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t);
	static const int64_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 65, 150};
	const struct type *type = kernel->in;
	sum *call = (sum *)kernel->function;

	(void)row;
	for (int round = 0; round < 90; round++) {
		int64_t n = lengths[round % 9], half = n / 2;
		wide start = type->size == 4 ? (wide)__FLT_MAX__ : (wide)__DBL_MAX__;
		struct trees trees;

		make_trees(&trees);
		start = strstr(kernel->operator, "sum") ? 0 : strstr(kernel->operator, "min") ? start : -start;
		size_t bytes = (size_t)(n * trees.t) * type->size;
		void *x = random_elements(type, n * trees.f), *splits = guarded((size_t)trees.count * type->size),
		     *weights = random_reals(type, trees.votes_count, -9, 9), *y = guarded(bytes),
		     *expected = guarded(bytes), *roots = copy_of(trees.roots, trees.trees),
		     *features = copy_of(trees.features, trees.count),
		     *children = copy_of(trees.children, 2 * trees.count),
		     *votes = copy_of(trees.votes, trees.count + 1),
		     *targets = copy_of(trees.targets, trees.votes_count);

		/* Many splits are elements, and some are special numbers. */
		for (int64_t i = 0; i < trees.count; i++)
			memcpy(element_at(type, splits, i),
			       n ? element_at(type, x, between(0, n * trees.f - 1)) : (const void *)&start, type->size);
		for (int64_t i = 0; i < n * trees.t; i++)
			put_wide(type, expected, i, start);
		for (int64_t i = 0; i < n; i++)
			for (int64_t tree = 0; tree < trees.trees; tree++)
				expect_votes(kernel, &trees, weights,
					     leaf_of(&trees, type, x, i, splits, trees.roots[tree]), expected, i);
		call(x, roots, features, splits, children, votes, targets, weights, y, half, trees.f, trees.t,
		     trees.trees);
		call(element_at(type, x, half * trees.f), roots, features, splits, children, votes, targets, weights,
		     element_at(type, y, half * trees.t), n - half, trees.f, trees.t, trees.trees);
		check_front(kernel, y);
		check_bytes(kernel, "a sum", y, expected, bytes);
	}
}

const struct row tree_rows[] = {
	{"TreeSums(aggregate=sum)", run_trees},
	{"TreeSums(aggregate=min)", run_trees},
	{"TreeSums(aggregate=max)", run_trees},
	{NULL},
};
