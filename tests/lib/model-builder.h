/* Builds bound models in a few lines, for the Check suites of the planning rooms: no manifest, no objects, no linker.
 *
 *   struct test_model *test = test_model_create(1);
 *   add_tensor(test, "x", SK_F32, 64, 1024);
 *   add_tensor(test, "y", SK_F32, 64, 1024);
 *   add_task(test, "scale", ELEMENTWISE(64 * 1024), 0, "sp1", in("x"), out("y"));
 *   test_model_finish(test);
 *   ... sk_fusion_build(&test->model) ...
 *   test_model_destroy(test);
 *
 * Tasks are added in network order and may name only tensors that are there. A wrong call aborts the test program. */
#ifndef SK_TESTS_MODEL_H
#define SK_TESTS_MODEL_H

#include "base/diag.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"

struct test_model {
	struct sk_arena *arena;
	struct sk_diag diag;
	struct sk_model model;
	bool tile_fusion; /* of scopes that are still to come; else they have tile-fusion=0 */
};

/* A device with one lane ("core") or two ("cube", "vector"). */
struct test_model *test_model_create(uint32_t lanes);
void test_model_destroy(struct test_model *test);

/* Give every tensor its role (read only: input; written before it is read: temporary; read first, written later: inout;
 * never read: output) unless it has one, and number the bindings. Call this after adding all tasks. */
void test_model_finish(struct test_model *test);

/* Returns the tensor's number. */
#define add_tensor(test, name, dtype, ...)                                                                             \
	test_add_tensor(test, name, dtype, (const uint64_t[]){__VA_ARGS__},                                            \
			sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
uint32_t test_add_tensor(struct test_model *test, const char *name, enum sk_dtype dtype, const uint64_t *shape,
			 uint32_t rank);

/* The spread of a task's kernel over cores, and the kernel's other attributes. */
struct test_spread {
	enum sk_step_kind kind;
	bool elementwise;
	uint64_t extent;
	uint32_t blocks;
	uint32_t lane;
	bool unfusible, nontemporal, status;
	bool sync_all; /* BLOCKS, BLOCKS_RANGE */
	uint32_t mix_ratio; /* BLOCKS: a mix kernel with so many vector blocks for each cube block; else 0 */
	uint32_t early; /* SK_STEP_EARLY_…: its tasks have a block() */
};

#define PLAIN	      ((struct test_spread){.kind = SK_STEP_PLAIN})
#define UNFUSIBLE     ((struct test_spread){.kind = SK_STEP_PLAIN, .unfusible = true})
#define BLOCKS(count) ((struct test_spread){.kind = SK_STEP_BLOCKS, .blocks = (count)})
#define BLOCKS_RANGE(count, elements)                                                                                  \
	((struct test_spread){.kind = SK_STEP_BLOCKS_RANGE, .blocks = (count), .extent = (elements)})
#define MIX(count, ratio)     ((struct test_spread){.kind = SK_STEP_BLOCKS, .blocks = (count), .mix_ratio = (ratio)})
#define SYNC_ALL(count)	      ((struct test_spread){.kind = SK_STEP_BLOCKS, .blocks = (count), .sync_all = true})
#define ELEMENTWISE(elements) ((struct test_spread){.kind = SK_STEP_SPLIT, .elementwise = true, .extent = (elements)})
#define ROWS(rows)	      ((struct test_spread){.kind = SK_STEP_SPLIT, .extent = (rows)})

/* The same spread on another lane. */
static inline struct test_spread on_lane(struct test_spread spread, uint32_t lane)
{
	spread.lane = lane;
	return spread;
}

/* One argument of a task. in, out and inout are divided among the cores by tasks that have an extent (the extent must
 * divide the bytes), and whole otherwise. */
struct test_access {
	enum sk_argument_kind kind;
	enum sk_access access;
	const char *tensor;
	bool undivided;
	uint64_t offset, size; /* bytes in the tensor; size 0: up to its end */
	struct sk_rows rows; /* instead of these; count 0: there are none */
	uint64_t value;
};

#define in(name)  ((struct test_access){.kind = SK_ARGUMENT_POINTER, .access = SK_ACCESS_READ, .tensor = (name)})
#define out(name) ((struct test_access){.kind = SK_ARGUMENT_POINTER, .access = SK_ACCESS_WRITE, .tensor = (name)})
#define inout(name)                                                                                                    \
	((struct test_access){                                                                                         \
		.kind = SK_ARGUMENT_POINTER, .access = SK_ACCESS_READ | SK_ACCESS_WRITE, .tensor = (name)})
/* Read whole by every core, also in tasks that have an extent. */
#define shared(name)                                                                                                   \
	((struct test_access){                                                                                         \
		.kind = SK_ARGUMENT_POINTER, .access = SK_ACCESS_READ, .tensor = (name), .undivided = true})
/* A scalar loaded from the first element of a tensor. */
#define load(name) ((struct test_access){.kind = SK_ARGUMENT_LOAD, .access = SK_ACCESS_READ, .tensor = (name)})
/* Per-core scratch of the kernel. */
#define scratch(bytes) ((struct test_access){.kind = SK_ARGUMENT_SCRATCH, .size = (bytes)})
/* A scalar by value, an i64. */
#define value(bits) ((struct test_access){.kind = SK_ARGUMENT_VALUE, .value = (bits)})
#define block()	    ((struct test_access){.kind = SK_ARGUMENT_BLOCK})
/* Hidden state of the kernel. */
#define hidden(number)                                                                                                 \
	((struct test_access){.kind = SK_ARGUMENT_STATE, .access = SK_ACCESS_READ | SK_ACCESS_WRITE, .value = (number)})

/* The same access to [offset, offset + size) bytes only, as through a view. */
static inline struct test_access part(struct test_access access, uint64_t offset, uint64_t size)
{
	access.offset = offset;
	access.size = size;
	return access;
}

/* The same access to `count` rows only, as through a view with gaps. */
static inline struct test_access rows(struct test_access access, uint64_t offset, uint64_t width, uint64_t stride,
				      uint64_t count)
{
	access.rows = (struct sk_rows){offset, width, stride, count};
	return part(access, offset, (count - 1) * stride + width);
}

/* Returns the task's number. scope: NULL for none, "a", or "a b" for the tag set {a, b}. */
#define add_task(test, name, spread, stream, scope, ...)                                                               \
	test_add_task(test, name, spread, stream, scope, (const struct test_access[]){__VA_ARGS__},                    \
		      sizeof((const struct test_access[]){__VA_ARGS__}) / sizeof(struct test_access))
uint32_t test_add_task(struct test_model *test, const char *name, struct test_spread spread, uint32_t stream,
		       const char *scope, const struct test_access *accesses, uint32_t access_count);

/* scope: null */
void never_fuse(struct test_model *test, uint32_t task);

/* once: true */
void run_once(struct test_model *test, uint32_t task);

/* stream-fusion=1 */
void fuse_streams(struct test_model *test, const char *scope);

/* feed-sync-all=1 */
void feed_sync_all(struct test_model *test, const char *scope);

/* The device gets `sync-all-split: true`. */
void split_at_sync_all(struct test_model *test);

/* strict-scope-check */
void check_strictly(struct test_model *test, const char *scope, enum sk_strict_check strict);

/* after: the later task names the earlier one. */
void add_after(struct test_model *test, uint32_t later, uint32_t earlier);

/* A new event that one task records and a later one waits for. */
void add_event(struct test_model *test, uint32_t recording, uint32_t waiting);

/* The definition of a dependency between tasks of two launches, without dependencies that follow from others: data,
 * `after`, events and the order of a stream. */
bool tasks_depend(const struct sk_task *tasks, uint32_t earlier, uint32_t later);

#endif
