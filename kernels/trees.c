/* trees.c: sums over trees: y [n,t] are for each row of x [n,f] the votes of the leaves that it reaches, summed in the
 * order of the trees (AGGREGATE=sum), or their least or greatest; targets without a vote are 0, or the greatest or the
 * least finite number.
 *
 * Node i of all trees goes on to children[2 i] if its test is true, else to children[2 i + 1]; a leaf goes on to
 * itself. The test compares x [features[i] >> 2] with splits[i]: it is x <= split, and with bit 0 of features[i] x ==
 * split. A NaN makes it true with bit 1. The votes of node i are votes[i] up to votes[i + 1]: a weight and a target
 * each.
 *
 * Eight rows go down a tree side by side, so that they wait for memory together.
 *
 * variants: OP=TreeSums AGGREGATE=sum,min,max TYPE=f32,f64 ISA=base,v3
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

enum { LANES = 8, CHUNK = 64 /* rows that go down a tree before the next tree */ };

#define SIGN_sum 0
#define SIGN_min 1
#define SIGN_max -1
#define MOST_f32 0x1.fffffep127f
#define MOST_f64 0x1.fffffffffffffp1023

#define VOTE_sum(all, one) ((all) + (one))
#define VOTE_min(all, one) ((one) < (all) ? (one) : (all))
#define VOTE_max(all, one) ((one) > (all) ? (one) : (all))

struct forest {
	const int32_t *features, *children, *votes, *targets;
	const element *splits, *weights;
	int64_t f, t;
};

/* Let the rows, of which there are `count`, go down the tree. Lanes without a row have the last one. */
static inline void descend(const struct forest *forest, const element *x, int64_t count, int32_t root, int32_t *at)
{
	int32_t offsets[LANES], moved;

	for (int32_t lane = 0; lane < LANES; lane++) {
		offsets[lane] = (int32_t)((lane < count ? lane : count - 1) * forest->f);
		at[lane] = root;
	}
	do {
		moved = 0;
		INDEPENDENT
		for (int32_t lane = 0; lane < LANES; lane++) {
			int32_t node = at[lane], feature = forest->features[node], next;
			element value = x[offsets[lane] + (feature >> 2)], split = forest->splits[node];
			int32_t test = (value <= split) & ((value >= split) | (~feature & 1));

			test |= (value != value) & (feature >> 1 & 1);
			next = forest->children[2 * node + 1 - test];
			moved |= next ^ node;
			at[lane] = next;
		}
	} while (moved);
}

static inline void vote(const struct forest *forest, int32_t node, element *y)
{
	for (int32_t i = forest->votes[node]; i < forest->votes[node + 1]; i++) {
		element *all = &y[forest->targets[i]];

		*all = JOIN(VOTE_, AGGREGATE)(*all, forest->weights[i]);
	}
}

void KERNEL(const element *x, const int32_t *roots, const int32_t *features, const element *splits,
	    const int32_t *children, const int32_t *votes, const int32_t *targets, const element *weights, element *y,
	    int64_t n, int64_t f, int64_t t, int64_t r)
{
	const struct forest forest = {features, children, votes, targets, splits, weights, f, t};

	for (int64_t i = 0; i < n * t; i++)
		y[i] = JOIN(SIGN_, AGGREGATE) * JOIN(MOST_, TYPE);
	for (int64_t chunk = 0; chunk < n; chunk += CHUNK)
		for (int64_t tree = 0; tree < r; tree++)
			for (int64_t row = chunk; row < n && row < chunk + CHUNK; row += LANES) {
				int64_t count = n - row < LANES ? n - row : LANES;
				int32_t at[LANES];

				descend(&forest, x + row * f, count, roots[tree], at);
				for (int64_t lane = 0; lane < count; lane++)
					vote(&forest, at[lane], y + (row + lane) * t);
			}
}
SIGNATURE("split=n op=TreeSums(aggregate=" TEXT(AGGREGATE) ")",
	  "in x " TEXT(TYPE) "[n,f], in roots i32[r], in features i32[m], in splits " TEXT(
		  TYPE) "[m], in children "
			"i32[m,2], in votes "
			"i32[p], in targets "
			"i32[q], in "
			"weights " TEXT(TYPE) "[q], out y " TEXT(TYPE) "[n,t], "
								       "n i64, "
								       "f i64, "
								       "t i64, "
								       "r i64");
