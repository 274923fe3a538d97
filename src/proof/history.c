/* Segments in a treap (Seidel and Aragon, Randomized Search Trees, 1996), ordered by address; see history.h. */
#include "src/proof/history.h"

#include <unistd.h>

/* Lists of readers only grow at the front, so segments that were cut from one another share their tails. */
struct reader {
	const struct reader *next;
	uint32_t access;
};

struct sk_segment {
	uint64_t low, high;
	uint32_t writer; /* SK_NO_INDEX: nobody so far */
	uint32_t priority;
	const struct reader *readers; /* since the writer */
	struct sk_segment *left, *right;
};

/* Whoever writes a plan must not know the priorities: accesses in an order that fits them would make a list of the
 * tree. What comes out does not depend on them. */
void sk_history_pool_init(struct sk_history_pool *pool, struct sk_arena *arena, uint64_t looks)
{
	*pool = (struct sk_history_pool){.arena = arena, .looks_left = looks};
	if (getentropy(&pool->random, sizeof(pool->random)) || !pool->random)
		pool->random = 2463534242u;
}

void sk_history_init(struct sk_history *history, struct sk_history_pool *pool)
{
	*history = (struct sk_history){.pool = pool};
}

static struct sk_segment *new_segment(struct sk_history *history, uint64_t low, uint64_t high)
{
	struct sk_segment *segment = SK_NEW(history->pool->arena, struct sk_segment);
	uint32_t *random = &history->pool->random;

	/* Marsaglia's xorshift. */
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	*segment = (struct sk_segment){.low = low, .high = high, .writer = SK_NO_INDEX, .priority = *random};
	return segment;
}

/* Segments that begin below the address, and the others. */
static void split(struct sk_segment *tree, uint64_t address, struct sk_segment **below, struct sk_segment **above)
{
	if (!tree) {
		*below = *above = NULL;
	} else if (tree->low < address) {
		*below = tree;
		split(tree->right, address, &tree->right, above);
	} else {
		*above = tree;
		split(tree->left, address, below, &tree->left);
	}
}

static struct sk_segment *join(struct sk_segment *below, struct sk_segment *above)
{
	if (!below || !above)
		return below ? below : above;
	if (below->priority > above->priority) {
		below->right = join(below->right, above);
		return below;
	}
	above->left = join(below, above->left);
	return above;
}

static struct sk_segment *insert(struct sk_segment *tree, struct sk_segment *segment)
{
	struct sk_segment *below, *above;

	split(tree, segment->low, &below, &above);
	return join(join(below, segment), above);
}

/* Cuts the segment, if any, that the address lies inside. */
static void cut(struct sk_history *history, uint64_t address)
{
	struct sk_segment *segment = history->root;

	while (segment && !(segment->low < address && address < segment->high))
		segment = address <= segment->low ? segment->left : segment->right;
	if (!segment)
		return;

	struct sk_segment *rest = new_segment(history, address, segment->high);

	rest->writer = segment->writer;
	rest->readers = segment->readers;
	segment->high = address;
	history->root = insert(history->root, rest);
}

/* One access on its way through the segments that it covers. */
struct walk {
	struct sk_history *history;
	uint32_t access;
	bool read, write;
	uint64_t reached; /* no segment begins between here and the next one */
	struct sk_segment *gaps; /* reads: segments for bytes without a history, linked by left */
	void (*conflict)(void *context, uint32_t earlier);
	void *context;
};

static void note_reader(struct walk *walk, struct sk_segment *segment)
{
	struct reader *reader = SK_NEW(walk->history->pool->arena, struct reader);

	*reader = (struct reader){.next = segment->readers, .access = walk->access};
	segment->readers = reader;
}

static void fill_gap(struct walk *walk, uint64_t end)
{
	if (walk->reached >= end)
		return;
	if (walk->read)
		walk->conflict(walk->context, SK_NO_INDEX);
	if (walk->write)
		return;

	struct sk_segment *gap = new_segment(walk->history, walk->reached, end);

	note_reader(walk, gap);
	gap->left = walk->gaps;
	walk->gaps = gap;
}

/* False if there are none left. */
static bool look(const struct walk *walk)
{
	uint64_t *left = &walk->history->pool->looks_left;

	*left -= *left != 0;
	return *left != 0;
}

static void visit(struct walk *walk, struct sk_segment *segment)
{
	if (!segment || !look(walk))
		return;
	visit(walk, segment->left);
	fill_gap(walk, segment->low);
	walk->reached = segment->high;
	if (!walk->write)
		note_reader(walk, segment);
	else
		for (const struct reader *reader = segment->readers; reader && look(walk); reader = reader->next)
			walk->conflict(walk->context, reader->access);
	if (segment->writer != SK_NO_INDEX || walk->read)
		walk->conflict(walk->context, segment->writer);
	visit(walk, segment->right);
}

void sk_history_access(struct sk_history *history, uint64_t low, uint64_t high, uint32_t access, unsigned kind,
		       void (*conflict)(void *context, uint32_t earlier), void *context)
{
	struct walk walk = {.history = history,
			    .access = access,
			    .read = kind & SK_ACCESS_READ,
			    .write = kind & SK_ACCESS_WRITE,
			    .reached = low,
			    .conflict = conflict,
			    .context = context};
	struct sk_segment *below, *covered, *above;

	if (history->pool->looks_left == 0)
		return;
	cut(history, low);
	cut(history, high);
	split(history->root, low, &below, &covered);
	split(covered, high, &covered, &above);
	visit(&walk, covered);
	fill_gap(&walk, high);
	if (walk.write) {
		covered = new_segment(history, low, high);
		covered->writer = access;
	}
	for (struct sk_segment *gap = walk.gaps, *next; gap; gap = next) {
		next = gap->left;
		gap->left = NULL;
		covered = insert(covered, gap);
	}
	history->root = join(join(below, covered), above);
}
