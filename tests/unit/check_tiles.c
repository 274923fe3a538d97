/* The proof of steps in tiles. Any one damage to a condition of a sound group makes it lose its proof, and for random
 * groups the verdict is that of a brute-force search. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"
#include "tests/lib/messages.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/races.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;
static struct sk_diag diag;

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE, UPDATE = SK_ACCESS_READ | SK_ACCESS_WRITE };

static void setup(void)
{
	arena = sk_arena_create();
	sk_diag_init(&diag, arena);
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

/* ---- one group ---- */

/* Rows of 16 bytes, or four times as many floats: 256 in units of 16, in tiles of two units. After the tiles comes the
 * kernels' own part of the scratch. */
enum {
	ROWS = 256,
	UNIT = 16,
	TILE = 32,
	ROW = 16,
	FLOATS = 4 * ROWS,
	BYTES = ROW * ROWS,
	TILE_BYTES = TILE * ROW,
	OWN = 6 * TILE_BYTES,
	SCRATCH = OWN + 128,
};

/* In the order in which they are made. */
enum { X, W, Y, M, T, U, V, K };
enum { CALL_A, CALL_B, CALL_C, CALL_D };
enum {
	A_X,
	A_T,
	A_K,
	B_T,
	B_W,
	B_OWN,
	B_U,
	B_M,
	C_U,
	C_M,
	C_V,
	D_V,
	D_K,
	D_OWN,
	D_Y,
	E_M,
};

/* Changes that only the builder can make. */
enum variant { SOUND, HALO, OVER_READ };

static void add_group(struct plan *plan, enum variant variant)
{
	plan_split(plan, "A", ROWS, UNIT);
	plan_tile(plan, TILE);
	plan_scale(plan, 4);
	plan_access(plan, X, READ);
	plan_access(plan, T, WRITE);
	plan_access(plan, K, WRITE);

	plan_call(plan, "B");
	plan_access(plan, T, READ);
	plan_shared(plan, W, READ);
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH, .offset = OWN, .size = 64});
	plan_access(plan, U, WRITE);
	plan_part(plan, M, WRITE, 0, BYTES, ROW);

	plan_call(plan, "C");
	plan_scale(plan, 4);
	plan_access(plan, U, READ);
	plan_part(plan, M, READ, 0, BYTES + (variant == HALO ? ROW : 0), ROW / 4);
	if (variant == HALO)
		plan_pattern(plan, (struct sk_plan_pattern){.halo = ROW});
	plan_access(plan, V, WRITE);

	plan_call(plan, "D");
	plan_access(plan, V, READ);
	plan_access(plan, K, READ);
	if (variant == OVER_READ)
		plan_pattern(plan, (struct sk_plan_pattern){.over_read = SCRATCH});
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH, .offset = OWN, .size = 64});
	plan_access(plan, Y, WRITE);
}

/* A makes t and k of x; B makes u and m of t; C makes v of u and m; D makes y of v and k; in another step E reads m. v
 * lies where t was. */
static struct sk_plan_view make_group(enum variant variant)
{
	struct plan *plan = plan_create(arena, 1);

	plan_streams_apart(plan);
	plan_tensor(plan, "x", SK_F32, FLOATS, SK_ROLE_INPUT);
	plan_tensor(plan, "w", SK_F32, 4, SK_ROLE_INPUT);
	plan_tensor(plan, "y", SK_F32, FLOATS, SK_ROLE_OUTPUT);
	plan_tensor(plan, "m", SK_F32, FLOATS + 4, SK_ROLE_INOUT);
	plan_tile_tensor(plan, "t", SK_F32, FLOATS, 0);
	plan_tile_tensor(plan, "u", SK_F32, FLOATS, TILE_BYTES);
	plan_tile_tensor(plan, "v", SK_F32, FLOATS, 0);
	plan_tile_tensor(plan, "k", SK_F32, FLOATS, 3 * TILE_BYTES);
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_scratch(plan, SCRATCH);
	add_group(plan, variant);
	plan_split(plan, "E", ROWS, UNIT);
	plan_part(plan, M, READ, 0, BYTES, ROW);

	struct sk_plan_view view = plan_view(plan);

	if (variant == OVER_READ)
		plan_type(&view.tensors[K])->padding = SCRATCH;
	return view;
}

/* The records of a plan, to be written. */
struct records {
	struct sk_plan_launch *launches;
	struct sk_plan_tensor *tensors;
	struct sk_plan_partition *partitions;
	struct sk_plan_step *steps;
	struct sk_plan_call *calls;
	struct sk_plan_argument *arguments;
};

static struct records records_of(const struct sk_plan_view *view)
{
	return (struct records){
		(struct sk_plan_launch *)view->launches,      (struct sk_plan_tensor *)view->tensors,
		(struct sk_plan_partition *)view->partitions, (struct sk_plan_step *)view->steps,
		(struct sk_plan_call *)view->calls,	      (struct sk_plan_argument *)view->arguments,
	};
}

/* A tensor, and both arguments that mean it. */
static void move(struct records *plan, uint32_t tensor, uint32_t one, uint32_t other, uint64_t offset)
{
	plan->tensors[tensor].offset = plan->arguments[one].offset = plan->arguments[other].offset = offset;
}

/* Make an argument access the tensor of another one, in its own way. */
static void retarget(struct records *plan, uint32_t argument, uint32_t other)
{
	struct sk_plan_argument *record = &plan->arguments[argument];

	record->space = plan->arguments[other].space;
	record->index = plan->arguments[other].index;
	record->offset = plan->arguments[other].offset;
	record->tensor = plan->arguments[other].tensor;
}

static void argument_elsewhere(struct records *plan)
{
	plan->arguments[B_T].offset += 64;
}

static void not_aligned(struct records *plan)
{
	move(plan, K, A_K, D_K, 3 * TILE_BYTES - 4);
}

static void units_not_aligned(struct records *plan)
{
	plan->partitions[0].unit = 2;
}

static void behind_the_scratch(struct records *plan)
{
	move(plan, K, A_K, D_K, SCRATCH - 64);
}

static void tile_of_no_units(struct records *plan)
{
	plan->steps[0].tile = UNIT + 8;
}

static void no_tiles(struct records *plan)
{
	plan->steps[0].tile = 0;
	for (int i = CALL_A; i <= CALL_D; i++)
		plan->calls[i].scale = 1;
}

static void longer_tile(struct records *plan)
{
	plan->steps[0].tile = 3 * UNIT;
}

static void endless_tile(struct records *plan)
{
	plan->steps[0].tile = UINT64_MAX / UNIT * UNIT;
}

static void other_order(struct records *plan)
{
	plan->calls[CALL_A].task = CALL_B;
	plan->calls[CALL_B].task = CALL_A;
}

static void half_the_scale(struct records *plan)
{
	plan->calls[CALL_C].scale = 2;
}

static void twice_the_scale(struct records *plan)
{
	plan->calls[CALL_A].scale = 8;
}

static void no_scale(struct records *plan)
{
	plan->calls[CALL_A].scale = 0;
}

static void half_a_range(struct records *plan)
{
	plan->arguments[B_M].size = BYTES / 2;
	plan->arguments[B_M].element_bytes = ROW / 2;
}

static void half_a_tile(struct records *plan)
{
	plan->arguments[B_U].size = BYTES / 2;
	plan->arguments[B_U].element_bytes = ROW / 2;
}

static void not_divided(struct records *plan)
{
	plan->arguments[C_U].element_bytes = 0;
}

static void passed_whole(struct records *plan)
{
	plan->arguments[C_U].flags = SK_ARGUMENT_WHOLE;
}

static void read_first(struct records *plan)
{
	plan->arguments[A_T].access = READ;
}

static void updated_first(struct records *plan)
{
	plan->arguments[A_T].access = UPDATE;
}

static void never_written(struct records *plan)
{
	plan->arguments[B_U].access = READ;
}

static void a_row_further(struct records *plan)
{
	plan->arguments[C_M].offset += ROW;
}

static void written_a_row_further(struct records *plan)
{
	plan->arguments[B_M].offset += ROW;
}

static void shared_is_written(struct records *plan)
{
	retarget(plan, B_W, B_M);
	plan->calls[CALL_C].first_argument = B_M;
	plan->calls[CALL_B].argument_count = B_M - B_T;
	plan->calls[CALL_C].argument_count = D_V - B_M;
	plan->arguments[B_M].element_bytes = ROW / 4;
}

static void shared_by_a_later_call(struct records *plan)
{
	plan->arguments[C_M].element_bytes = 0;
}

static void two_of_one_call(struct records *plan)
{
	move(plan, U, B_U, C_U, 0);
}

static void live_behind_another(struct records *plan)
{
	retarget(plan, D_V, A_T);
}

static void partly_over_another(struct records *plan)
{
	move(plan, K, A_K, D_K, TILE_BYTES + 64);
}

static void own_on_its_tile(struct records *plan)
{
	plan->arguments[B_OWN].offset = TILE_BYTES - 64;
}

static void own_on_a_live_tile(struct records *plan)
{
	plan->arguments[B_OWN].offset = 3 * TILE_BYTES;
}

static void field_on_its_tile(struct records *plan)
{
	plan->arguments[B_W].flags = SK_ARGUMENT_FIELD;
	plan->arguments[B_W].field = 8;
}

static void field_on_a_live_tile(struct records *plan)
{
	plan->arguments[B_W].flags = SK_ARGUMENT_FIELD;
	plan->arguments[B_W].field = 3 * TILE_BYTES;
}

static void another_step(struct records *plan)
{
	retarget(plan, E_M, A_T);
}

static void another_step_in_tiles(struct records *plan)
{
	retarget(plan, E_M, A_T);
	plan->steps[1].tile = TILE;
}

static void as_cell(struct records *plan, enum sk_argument_kind kind)
{
	plan->arguments[C_U].kind = (uint8_t)kind;
	plan->arguments[C_U].element_bytes = 0;
	plan->arguments[C_U].size = 4;
}

static void loaded(struct records *plan)
{
	as_cell(plan, SK_ARGUMENT_LOAD);
}

static void result(struct records *plan)
{
	as_cell(plan, SK_ARGUMENT_RESULT);
}

static void number_in_scratch(struct records *plan)
{
	plan->arguments[C_U] = (struct sk_plan_argument){
		.kind = SK_ARGUMENT_VALUE, .dtype = SK_F32, .space = SK_SPACE_SCRATCH, .element_bytes = 4};
}

static void own_in_scratch(struct records *plan)
{
	plan->arguments[B_OWN].space = SK_SPACE_SCRATCH;
}

static void hidden_state(struct records *plan)
{
	plan->arguments[C_U] =
		(struct sk_plan_argument){.kind = SK_ARGUMENT_STATE, .access = UPDATE, .space = SK_SPACE_STATE};
}

static void synchronised(struct records *plan)
{
	plan_form(&plan->launches[0])->flags |= SK_LAUNCH_SYNC_ALL;
}

static const struct damage {
	void (*apply)(struct records *plan);
	const char *text;
	enum variant variant;
} damages[] = {
	{argument_elsewhere, "its bytes are not those of tensor 't'", SOUND},
	{not_aligned, "'k' in the scratch, where its tiles do not begin at multiples of 64 bytes", SOUND},
	{units_not_aligned, "in the scratch, where its tiles do not begin at multiples of 64 bytes", SOUND},
	{behind_the_scratch, "a tile of it lies outside the launch's scratch of 3200 bytes", SOUND},
	{NULL, "a tile of it lies outside the launch's scratch of 3200 bytes", OVER_READ},
	{tile_of_no_units, "tiles of 24 elements are not whole units of 16", SOUND},
	{no_tiles, "only tensors that a step in tiles divides into contiguous parts are in the scratch", SOUND},
	{longer_tile, "where the same call has 'u'", SOUND},
	{endless_tile, "are not possible", SOUND},
	{other_order, "task 'B' runs before task 'A' in the tiles of one step", SOUND},
	{half_the_scale, "task 'C' has 'u' in the scratch, but does not divide all of it", SOUND},
	{twice_the_scale, "are more than its 4096 bytes", SOUND},
	{no_scale, "a scale of 0 does not fit its step", SOUND},
	{half_a_range, "nothing orders task 'B', which writes 'm', and task 'C', which reads 'm'", SOUND},
	{half_a_tile, "task 'B' has 'u' in the scratch, but does not divide all of it", SOUND},
	{not_divided, "only tensors that a step in tiles divides into contiguous parts are in the scratch", SOUND},
	{passed_whole, "only tensors that a step in tiles divides into contiguous parts are in the scratch", SOUND},
	{read_first, "task 'A' has 't' in the scratch, and reads it, but no call before it", SOUND},
	{updated_first, "task 'A' has 't' in the scratch, and reads it, but no call before it", SOUND},
	{never_written, "task 'C' has 'u' in the scratch, and reads it, but no call before it", SOUND},
	{a_row_further, "nothing orders task 'B', which writes 'm', and task 'C', which reads 'm'", SOUND},
	{written_a_row_further, "nothing orders task 'B', which writes 'm', and task 'C', which reads 'm'", SOUND},
	{NULL, "nothing orders task 'B', which writes 'm', and task 'C', which reads 'm'", HALO},
	{shared_is_written, "nothing orders task 'B', which reads 'm', and task 'C', which writes 'm'", SOUND},
	{shared_by_a_later_call, "nothing orders task 'B', which writes 'm', and task 'C', which reads 'm'", SOUND},
	{two_of_one_call, "task 'B' has 't' in the scratch, where the same call has 'u'", SOUND},
	{live_behind_another, "task 'D' has 't' in the scratch, and reads it, but", SOUND},
	{partly_over_another, "task 'D' has 'k' in the scratch, and reads it, but", SOUND},
	{own_on_its_tile, "task 'B' has 't' in the scratch, where its kernel has scratch of its own", SOUND},
	{own_on_a_live_tile, "task 'D' has 'k' in the scratch, and reads it, but", SOUND},
	{field_on_its_tile, "task 'B' has 't' in the scratch, where its kernel has scratch of its own", SOUND},
	{field_on_a_live_tile, "task 'D' has 'k' in the scratch, and reads it, but", SOUND},
	{another_step, "only tensors that a step in tiles divides into contiguous parts are in the scratch", SOUND},
	{another_step_in_tiles, "'t' in the scratch, which a call of another step also accesses", SOUND},
	{loaded, "space 5 has no cells", SOUND},
	{result, "space 5 has no cells", SOUND},
	{number_in_scratch, "only tensors lie in space 5", SOUND},
	{own_in_scratch, "only tensors lie in space 5", SOUND},
	{hidden_state, "all of them write hidden state 0", SOUND},
	{synchronised, "its flags or its launch's allow one", SOUND},
};

static void expect_rejected(const struct sk_plan_view *view, const struct sk_wanted_order *orders, size_t order_count,
			    const char *expected)
{
	bool accepted = sk_verify(arena, &diag, view, "p.sk", orders, order_count, NULL);
	char *text = take_messages(&diag);

	ck_assert_msg(!accepted, "accepted, expected: %s", expected);
	ck_assert_msg(strstr(text, expected) != NULL, "'%s' is not in:\n%s", expected, text);
	free(text);
}

START_TEST(sound_group)
{
	struct sk_plan_view view = make_group(SOUND);
	bool sound = sk_verify(arena, &diag, &view, "p.sk", NULL, 0, NULL);

	ck_assert_msg(sound, "%s", take_messages(&diag));
	ck_assert(!races_exist_up_to(&view, 5));
	ck_assert(!reads_astray(&view));
}
END_TEST

START_TEST(damaged_group)
{
	const struct damage *damage = &damages[_i];
	struct sk_plan_view view = make_group(damage->variant);
	struct records records = records_of(&view);

	if (damage->apply)
		damage->apply(&records);
	expect_rejected(&view, NULL, 0, damage->text);
}
END_TEST

/* On one core alone: a later call's tile comes before an earlier call's next one, which has bytes in it. */
START_TEST(order_on_one_core)
{
	static const uint32_t one_core[] = {1, 1};
	static void (*const apply[])(struct records *) = {a_row_further, half_a_range, shared_is_written,
							  shared_by_a_later_call};
	struct sk_plan_view view = make_group(HALO);

	ck_assert(races_exist(&view, one_core));
	for (size_t i = 0; i < sizeof(apply) / sizeof(apply[0]); i++) {
		view = make_group(SOUND);
		ck_assert(!races_exist(&view, one_core));

		struct records records = records_of(&view);

		apply[i](&records);
		ck_assert_msg(races_exist(&view, one_core), "damage %zu", i);
	}
}
END_TEST

/* No byte says on which core `after` or an event matters. */
START_TEST(orders_inside)
{
	static const struct sk_wanted_order orders[] = {
		{CALL_A, CALL_B, NULL}, {CALL_A, CALL_D, NULL}, {CALL_A, CALL_D, "e"}, {CALL_C, CALL_D, "e"}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct sk_plan_view view = make_group(SOUND);

		expect_rejected(&view, &orders[i], 1, "nothing orders task '");
	}
}
END_TEST

/* A value that belongs to no tensor cannot have a place in a space for tensors. */
START_TEST(numbers_without_tensors)
{
	struct plan *plan = plan_create(arena, 1);

	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_scratch(plan, 64);
	plan_split(plan, "A", ROWS, UNIT);
	plan_tile(plan, TILE);
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_VALUE,
						      .dtype = SK_F32,
						      .space = SK_SPACE_SCRATCH,
						      .element_bytes = 4});

	struct sk_plan_view view = plan_view(plan);

	expect_rejected(&view, NULL, 0, "only tensors lie in space 5");
}
END_TEST

/* ---- after a task in blocks ---- */

/* 37 rows of 64 bytes in 5 blocks, which begin at rows 7, 14, 22 and 29. After them a group goes through the rows of
 * the same blocks, and after that a step that counts in floats. */
enum { BLOCK_ROWS = 37, BLOCKS = 5, BLOCK_ROW = 64, BLOCK_BYTES = BLOCK_ROWS * BLOCK_ROW };
enum { BLOCKS_X, BLOCKS_P, BLOCKS_Y, BLOCKS_Z, BLOCKS_T };
enum { PRODUCT_X, PRODUCT_P, BIAS_P, BIAS_T, SCALE_T, SCALE_Y, RESIDUAL_P, RESIDUAL_Y, RESIDUAL_Z };
enum { OF_PRODUCT, OF_GROUP, OF_RESIDUAL }; /* partitions, and steps */

static struct sk_plan_view make_blocks(void)
{
	struct plan *plan = plan_create(arena, 1);

	plan_streams_apart(plan);
	plan_tensor(plan, "x", SK_U8, BLOCK_BYTES, SK_ROLE_INPUT);
	plan_tensor(plan, "p", SK_U8, BLOCK_BYTES + BLOCK_ROW, SK_ROLE_INOUT);
	plan_tensor(plan, "y", SK_U8, BLOCK_BYTES, SK_ROLE_INOUT);
	plan_tensor(plan, "z", SK_U8, BLOCK_BYTES, SK_ROLE_OUTPUT);
	plan_tile_tensor(plan, "t", SK_U8, BLOCK_BYTES, 0);
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_scratch(plan, 3 * BLOCK_ROW);
	plan_blocks_range(plan, "product", BLOCK_ROWS, BLOCKS);
	plan_access(plan, BLOCKS_X, READ);
	plan_part(plan, BLOCKS_P, WRITE, 0, BLOCK_BYTES, BLOCK_ROW);
	plan_split_by_blocks(plan, "bias", (struct sk_plan_partition){BLOCK_ROWS, 1, BLOCK_ROWS, BLOCKS});
	plan_tile(plan, 3);
	plan_part(plan, BLOCKS_P, READ, 0, BLOCK_BYTES, BLOCK_ROW);
	plan_access(plan, BLOCKS_T, WRITE);
	plan_call(plan, "scale");
	plan_scale(plan, 16);
	plan_access(plan, BLOCKS_T, READ);
	plan_access(plan, BLOCKS_Y, WRITE);
	plan_split_by_blocks(plan, "residual", (struct sk_plan_partition){BLOCK_ROWS * 16, 16, BLOCK_ROWS, BLOCKS});
	plan_part(plan, BLOCKS_P, READ, 0, BLOCK_BYTES, BLOCK_ROW / 16);
	plan_access(plan, BLOCKS_Y, READ);
	plan_access(plan, BLOCKS_Z, WRITE);
	return plan_view(plan);
}

static void unit_over_blocks(struct records *plan)
{
	plan->partitions[OF_GROUP].unit = 2;
	plan->steps[OF_GROUP].tile = 4;
}

static void floats_over_blocks(struct records *plan)
{
	plan->partitions[OF_RESIDUAL].unit = 64;
}

static void fewer_blocks(struct records *plan)
{
	plan->partitions[OF_GROUP].blocks--;
}

static void twice_the_blocks(struct records *plan)
{
	plan->partitions[OF_GROUP].blocks *= 2;
}

static void endless_blocks(struct records *plan)
{
	plan->partitions[OF_GROUP].blocks = UINT64_MAX;
}

static void no_blocks(struct records *plan)
{
	plan->partitions[OF_GROUP].blocks = 0;
}

static void units_instead(struct records *plan)
{
	plan->partitions[OF_GROUP].rows = plan->partitions[OF_GROUP].blocks = 0;
}

static void units_behind(struct records *plan)
{
	plan->partitions[OF_RESIDUAL].rows = plan->partitions[OF_RESIDUAL].blocks = 0;
}

static void one_row_less(struct records *plan)
{
	plan->partitions[OF_GROUP].rows--;
}

static void rows_of_floats(struct records *plan)
{
	plan->partitions[OF_RESIDUAL].rows *= 2;
	plan->partitions[OF_RESIDUAL].unit = 8;
}

static void one_large_row(struct records *plan)
{
	plan->partitions[OF_GROUP].rows = 1;
}

static void no_rows(struct records *plan)
{
	plan->partitions[OF_GROUP].rows = 0;
}

static void other_product(struct records *plan)
{
	plan->steps[OF_PRODUCT].blocks = BLOCKS + 1;
	plan->partitions[OF_PRODUCT].extent = BLOCKS + 1;
}

static void product_in_halves(struct records *plan)
{
	plan->steps[OF_PRODUCT].extent *= 2;
	plan->arguments[PRODUCT_P].element_bytes /= 2;
	plan->arguments[PRODUCT_X].element_bytes /= 2;
}

static void product_of_fewer_rows(struct records *plan)
{
	plan->steps[OF_PRODUCT].extent--;
	plan->arguments[PRODUCT_P].size -= BLOCK_ROW;
	plan->arguments[PRODUCT_X].size -= BLOCK_ROW;
}

static void product_without_rows(struct records *plan)
{
	plan->steps[OF_PRODUCT].kind = SK_STEP_BLOCKS;
	plan->steps[OF_PRODUCT].partition = SK_NO_INDEX;
	plan->steps[OF_PRODUCT].extent = 0;
	plan->arguments[PRODUCT_P].element_bytes = plan->arguments[PRODUCT_X].element_bytes = 0;
}

static void a_block_row_further(struct records *plan)
{
	plan->arguments[BIAS_P].offset += BLOCK_ROW;
}

static void not_by_rows(struct records *plan)
{
	plan->arguments[RESIDUAL_Y].element_bytes = 0;
}

static const struct damage block_damages[] = {
	{unit_over_blocks, "not each of 5 blocks of 37 rows begins at a whole unit of 2 elements", SOUND},
	{floats_over_blocks, "not each of 5 blocks of 37 rows begins at a whole unit of 64 elements", SOUND},
	{fewer_blocks, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{twice_the_blocks, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{endless_blocks, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{no_blocks, "partition 1 has rows, but no blocks", SOUND},
	{units_instead, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{units_behind, "nothing orders task 'scale', which writes 'y', and task 'residual', which reads 'y'", SOUND},
	{one_row_less, "37 elements are not a whole number for each of 36 rows", SOUND},
	{rows_of_floats, "nothing orders task 'product', which writes 'p', and task 'residual', which reads", SOUND},
	{one_large_row, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{no_rows, "37 elements are not a whole number for each of 0 rows", SOUND},
	{other_product, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{product_in_halves, "nothing orders task 'product', which writes 'p', and task 'bias', which reads 'p'", SOUND},
	{product_of_fewer_rows, "nothing orders task 'product', which writes 'p', and task 'bias', which reads", SOUND},
	{product_without_rows, "nothing orders task 'product', which writes 'p', and task 'bias', which", SOUND},
	{a_block_row_further, "nothing orders task 'product', which writes 'p', and task 'bias', which reads", SOUND},
	{not_by_rows, "nothing orders task 'scale', which writes 'y', and task 'residual', which reads 'y'", SOUND},
};

START_TEST(sound_blocks)
{
	struct sk_plan_view view = make_blocks();
	bool sound = sk_verify(arena, &diag, &view, "p.sk", NULL, 0, NULL);

	ck_assert_msg(sound, "%s", take_messages(&diag));
	ck_assert(!races_exist_up_to(&view, 8));
	ck_assert(!reads_astray(&view));
}
END_TEST

START_TEST(damaged_blocks)
{
	struct sk_plan_view view = make_blocks();
	struct records records = records_of(&view);

	block_damages[_i].apply(&records);
	expect_rejected(&view, NULL, 0, block_damages[_i].text);
}
END_TEST

/* ---- random groups against the search ---- */

enum { RANDOM_ROW = 64, RANDOM_ROWS = 12, RANDOM_TENSORS = 6, TILE_TENSORS = 3, MOST_STEPS = 3 };

struct random_group {
	uint64_t state;
	struct plan *plan;
	uint32_t tensors[RANDOM_TENSORS]; /* the first two are bound */
	uint32_t tiles[TILE_TENSORS]; /* of the current step, if it is in tiles */
	uint64_t extent;
	bool in_tiles;
	uint64_t scale, tile;
};

static uint32_t below(struct random_group *random, uint32_t limit)
{
	return random_below(&random->state, limit);
}

static void random_tensors(struct random_group *random, bool apart)
{
	uint32_t bytes = (RANDOM_ROWS + 1) * RANDOM_ROW;

	random->tensors[0] = plan_tensor(random->plan, "x", SK_U8, bytes, SK_ROLE_INOUT);
	random->tensors[1] = plan_tensor(random->plan, "y", SK_U8, bytes, SK_ROLE_INOUT);
	for (uint32_t i = 2; i < RANDOM_TENSORS; i++)
		random->tensors[i] = plan_temporary(random->plan, "t", SK_U8, bytes,
						    apart ? i * bytes : below(random, 40) * RANDOM_ROW);
}

/* All bytes of most temporaries are written before. */
static uint32_t fill(struct random_group *random)
{
	uint32_t step = plan_plain(random->plan, "fill", 0);

	for (uint32_t i = 2; i < RANDOM_TENSORS; i++)
		if (below(random, 32))
			plan_access(random->plan, random->tensors[i], WRITE);
	return step;
}

/* Divided: all rows, from the second one on, or half of a bound tensor's. */
static void random_outside(struct random_group *random)
{
	uint32_t number = below(random, RANDOM_TENSORS), place = below(random, 16);
	unsigned access = below(random, 8) < 5 ? READ : below(random, 2) ? WRITE : UPDATE;
	bool half = number < 2 && place == 1;
	uint64_t bytes = (half ? RANDOM_ROW / 2 : RANDOM_ROW) / random->scale;

	if (place == 2)
		plan_part(random->plan, random->tensors[number], READ, 0, RANDOM_ROW, 0);
	else
		plan_part(random->plan, random->tensors[number], access, place ? 0 : RANDOM_ROW,
			  random->extent * random->scale * bytes, bytes);
}

/* Mostly a call reads the output of the call before. */
static void random_inside(struct random_group *random, uint32_t call)
{
	uint32_t written = below(random, 8) ? call % TILE_TENSORS : below(random, TILE_TENSORS);
	uint32_t read = below(random, 8) ? (call + TILE_TENSORS - 1) % TILE_TENSORS : below(random, TILE_TENSORS);

	if (call)
		plan_access(random->plan, random->tiles[read], below(random, 12) ? READ : UPDATE);
	if (below(random, 8) && (read != written || !call))
		plan_access(random->plan, random->tiles[written], WRITE);
	if (below(random, 6) == 0)
		plan_argument(random->plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH,
								      .offset = below(random, 30) * 64,
								      .size = 64});
}

static void random_step(struct random_group *random)
{
	uint64_t unit = below(random, 2) ? 2 : 4, tile = unit * (1 + below(random, 2));
	uint32_t calls = 1 + below(random, 4);

	random->extent = below(random, 2) ? 8 : RANDOM_ROWS;
	random->in_tiles = below(random, 4);
	for (uint32_t i = 0; i < TILE_TENSORS && random->in_tiles; i++)
		random->tiles[i] = plan_tile_tensor(random->plan, "s", SK_U8, random->extent * RANDOM_ROW,
						    (below(random, 4) ? i * tile : below(random, 20)) * RANDOM_ROW);
	plan_split(random->plan, "split", random->extent, unit);
	for (uint32_t i = 0; i < calls; i++) {
		if (i)
			plan_call(random->plan, "more");
		random->scale = random->in_tiles ? UINT64_C(1) << below(random, 3) : 1;
		plan_scale(random->plan, random->scale);
		if (random->in_tiles) {
			plan_tile(random->plan, tile);
			random_inside(random, i);
		}
		for (uint32_t more = below(random, 2); more; more--)
			random_outside(random);
	}
}

static struct sk_plan_view random_group(uint64_t seed)
{
	struct random_group random = {.state = seed, .plan = plan_create(arena, 1)};
	uint32_t steps[MOST_STEPS + 1], count = 1 + below(&random, MOST_STEPS);

	plan_streams_apart(random.plan);
	random_tensors(&random, below(&random, 2));
	plan_launch(random.plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_scratch(random.plan, 64 * 64);
	steps[0] = fill(&random);
	for (uint32_t i = 1; i <= count; i++) {
		random_step(&random);
		steps[i] = steps[i - 1] + 1;
		for (uint32_t e = 0; e < i; e++)
			if (e == 0 || below(&random, 2))
				plan_await(random.plan, steps[e]);
	}
	return plan_view(random.plan);
}

/* ---- random steps in blocks, and after blocks ---- */

static bool begins_in_units(const struct sk_plan_partition *partition)
{
	bool good = true;

	for (uint64_t b = 0; b < partition->blocks; b++)
		good &= b * partition->rows / partition->blocks * (partition->extent / partition->rows) %
				partition->unit ==
			0;
	return good;
}

/* Rows of the plan, or half as many; a core that has rows in blocks has one to four elements for each row. */
static void random_partition(struct random_group *random, uint32_t rows)
{
	static const uint64_t blocks[] = {2, 3, 5, 7};
	struct sk_plan_partition partition = {.blocks = blocks[below(random, 8) ? 2 : below(random, 4)]};

	do {
		partition.rows = rows % 2 || below(random, 8) ? rows : rows / 2;
		partition.extent = partition.rows << below(random, 3);
		partition.unit = UINT64_C(1) << below(random, 3);
	} while (!begins_in_units(&partition));
	random->extent = partition.extent;
	random->tile = below(random, 2) ? partition.unit * (1 + below(random, 3)) : 0;
	plan_split_by_blocks(random->plan, "rows", partition);
}

static void random_accesses(struct random_group *random, uint64_t bytes)
{
	for (uint32_t more = 1 + below(random, 2); more; more--) {
		uint32_t tensor = random->tensors[below(random, RANDOM_TENSORS)];
		unsigned access = below(random, 2) ? READ : below(random, 2) ? WRITE : UPDATE;
		uint64_t offset = below(random, 16) ? 0 : RANDOM_ROW;

		plan_part(random->plan, tensor, access, offset, bytes, bytes / (random->extent * random->scale));
	}
}

static void random_blocks_step(struct random_group *random, uint32_t rows)
{
	uint32_t kind = below(random, 8), calls = 1;

	rows -= below(random, 8) ? 0 : 3;
	random->extent = rows;
	random->scale = 1;
	if (kind < 3) {
		plan_blocks_range(random->plan, "blocks", rows, below(random, 8) ? 5 : 1 + below(random, 9));
		random->tile = 0;
	} else if (kind == 3) {
		plan_split(random->plan, "split", rows, 1 + below(random, 3));
		random->tile = 0;
	} else {
		random_partition(random, rows);
		calls = 1 + below(random, 3);
	}
	for (uint32_t i = 0; i < calls; i++) {
		if (i)
			plan_call(random->plan, "more");
		if (random->tile) {
			random->scale = UINT64_C(1) << below(random, 2);
			plan_tile(random->plan, random->tile);
			plan_scale(random->plan, random->scale);
		}
		random_accesses(random, rows * RANDOM_ROW);
	}
}

static struct sk_plan_view random_blocks(uint64_t seed)
{
	struct random_group random = {.state = seed + 1000000, .plan = plan_create(arena, 1)};
	uint32_t rows = below(&random, 2) ? RANDOM_ROWS : 7, count = 2 + below(&random, 3), first;

	plan_streams_apart(random.plan);
	random_tensors(&random, below(&random, 4));
	plan_launch(random.plan, "sp", SK_LAUNCH_SUPERKERNEL);
	first = fill(&random);
	for (uint32_t i = 1; i <= count; i++) {
		random_blocks_step(&random, rows);
		plan_await(random.plan, first);
		if (i > 1 && below(&random, 4) == 0)
			plan_await(random.plan, first + i - 1);
	}
	return plan_view(random.plan);
}

/* Exact, as the comparison in check_verify.c is. */
START_TEST(random_groups)
{
	static const uint32_t more_than_units[] = {11, 11};
	const char *wanted = getenv("TILE_GROUPS");
	uint32_t groups = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 4000;
	uint32_t in_order = 0, straight = 0, sound = 0;

	for (uint64_t seed = 0; seed < groups; seed++) {
		struct sk_plan_view view = _i ? random_blocks(seed) : random_group(seed);
		bool accepted = sk_verify(arena, &diag, &view, "random", NULL, 0, NULL);
		bool races = races_exist_up_to(&view, 6) || races_exist(&view, more_than_units);
		bool astray = reads_astray(&view);
		char *text = take_messages(&diag);

		ck_assert_msg(says_more(text) == races, "seed %u: there are %s\n%s", (unsigned)seed,
			      races ? "races" : "none", text);
		ck_assert_msg(says_astray(text) == astray, "seed %u: reads %s what they should\n%s", (unsigned)seed,
			      astray ? "do not find" : "find", text);
		ck_assert(accepted == !(races || astray));
		in_order += !races;
		straight += !astray;
		sound += accepted;
		free(text);
		teardown();
		setup();
	}
	ck_assert_uint_gt(in_order, groups / 10);
	ck_assert_uint_lt(in_order, groups - groups / 10);
	ck_assert_uint_gt(straight, groups / 10);
	ck_assert_uint_lt(straight, groups - groups / 10);
	ck_assert_uint_gt(sound, groups / 20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tiles");
	TCase *tcase = tcase_create("tiles");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, sound_group);
	tcase_add_loop_test(tcase, damaged_group, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(tcase, order_on_one_core);
	tcase_add_test(tcase, orders_inside);
	tcase_add_test(tcase, numbers_without_tensors);
	tcase_add_test(tcase, sound_blocks);
	tcase_add_loop_test(tcase, damaged_blocks, 0, sizeof(block_damages) / sizeof(block_damages[0]));
	tcase_add_loop_test(tcase, random_groups, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
