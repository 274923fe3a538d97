/* See random.h. The sizes are chosen so that two different divisions of the same bytes conflict for some core count up
 * to 7: 24 rows of 48 elements are 18 elementwise units, 24 rows, or 6 common units. */
#include "tests/lib/random.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "format/skplan.h"
#include "src/model/model.h"

enum {
	ROW_COUNT = 24,
	ROW_LENGTH = 48,
	ELEMENTS = ROW_COUNT * ROW_LENGTH,
	MAX_TENSORS = 16,
	MAX_ACCESSES = 4,
	MAX_HIDDEN = 2
};

uint32_t random_below(uint64_t *state, uint32_t limit)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) % limit);
}

static struct test_spread random_spread(uint64_t *state, uint32_t lanes, bool half)
{
	uint32_t rows = half ? ROW_COUNT / 2 : ROW_COUNT, elements = half ? ELEMENTS / 2 : ELEMENTS;
	static const uint32_t ranges[] = {8, 9, 12}; /* of rows; 9 is irregular */
	struct test_spread spread;

	switch (random_below(state, 8)) {
	case 0:
	case 1:
		spread = PLAIN;
		break;
	case 2:
		spread = BLOCKS(8);
		break;
	case 3:
		spread = BLOCKS_RANGE(ranges[random_below(state, 3)], rows);
		break;
	case 4:
		spread = ROWS(rows);
		break;
	default:
		spread = ELEMENTWISE(elements);
	}
	return on_lane(spread, random_below(state, lanes));
}

static struct test_spread random_together(uint64_t *state, uint32_t lanes)
{
	uint32_t blocks = 1 + random_below(state, 3);

	if (random_below(state, 2))
		return on_lane(SYNC_ALL(blocks), random_below(state, lanes));
	return MIX(blocks, 1 + random_below(state, 2));
}

/* The number of a tensor that the task does not touch yet. */
static uint32_t random_tensor(uint64_t *state, const struct test_model *test, const struct random_options *options,
			      bool *taken)
{
	uint32_t first = 0, count = options->tensors, tensor;

	if (options->passing) {
		count = MAX_ACCESSES;
		first = (uint32_t)test->model.tasks.count * (options->tensors - count + 1) / options->tasks;
	}
	tensor = first + random_below(state, count);
	while (taken[tensor])
		tensor = first + (tensor - first + 1) % count;
	taken[tensor] = true;
	return tensor;
}

static struct test_access random_access(uint64_t *state, const struct test_model *test, uint32_t tensor, bool half,
					bool upper, bool writes, bool divided)
{

	const struct sk_tensor *chosen = &test->model.tensors.items[tensor];
	struct test_access access = in(chosen->name);

	if (writes)
		access = random_below(state, 3) ? out(chosen->name) : inout(chosen->name);
	else if (divided && random_below(state, 5) == 0)
		access = shared(chosen->name);
	if (half)
		access = part(access, upper ? chosen->bytes / 2 : 0, chosen->bytes / 2);
	return access;
}

/* Some columns of the rows that are accessed, or of every second one. */
static struct test_access random_columns(uint64_t *state, struct test_access access, uint64_t element, bool strides)
{
	uint64_t row = ROW_LENGTH * element, count = access.size / row, step = 1;
	uint64_t first = random_below(state, 4) * row / 4, width = (1 + random_below(state, 3)) * row / 4;

	if (strides && random_below(state, 3) == 0)
		step = 2;
	if (first + width > row)
		width = row - first;
	if (width == row && step == 1)
		return access;
	return rows(access, access.offset + first, width, step * row, count / step);
}

/* Draw the early start of a plain task, and its hidden state. Return the number of accesses. */
static uint32_t random_state(uint64_t *state, struct test_spread *spread, struct test_access *accesses)
{
	uint32_t count = 0;

	spread->early = random_below(state, 4) * SK_STEP_EARLY_WAIT;
	if (spread->early)
		accesses[count++] = block();
	if (random_below(state, 3))
		accesses[count++] = hidden(random_below(state, 2));
	return count;
}

static const char *random_scope(uint64_t *state, const struct random_options *options, struct test_spread *spread)
{
	static const char *const scopes[] = {"a", "a", "a", "b", "b", "a b", NULL};

	if (options->one_scope)
		return "s";
	spread->unfusible = random_below(state, 8) == 0;
	return scopes[random_below(state, sizeof(scopes) / sizeof(*scopes))];
}

static void add_random_task(uint64_t *state, struct test_model *test, const struct random_options *options)
{
	struct test_access accesses[MAX_ACCESSES + MAX_HIDDEN];
	bool taken[MAX_TENSORS] = {0}, half = random_below(state, 5) == 0, upper = random_below(state, 2);
	struct test_spread spread = random_spread(state, options->lanes, half);

	if (options->together && random_below(state, 3) == 0)
		spread = random_together(state, options->lanes);
	if (options->states && random_below(state, 2))
		spread = on_lane(PLAIN, random_below(state, options->lanes));

	bool columns = options->rows && !spread.elementwise;
	uint32_t reads = random_below(state, 3), writes = 1 + (random_below(state, 6) == 0), count = 0;
	uint32_t number = (uint32_t)test->model.tasks.count;
	char name[16];

	snprintf(name, sizeof(name), "t%u", number);
	for (uint32_t i = 0; i < writes; i++)
		accesses[count++] = random_access(state, test, random_tensor(state, test, options, taken), half, upper,
						  true, spread.extent != 0);
	for (uint32_t i = 0; i < reads && count < MAX_ACCESSES; i++)
		accesses[count++] = random_access(state, test, random_tensor(state, test, options, taken), half, upper,
						  false, spread.extent != 0);
	for (uint32_t i = 0; i < count && columns; i++) {
		const struct sk_tensor *tensor = &test->model.tensors.items[sk_map_find(
			&test->model.tensor_names, accesses[i].tensor, strlen(accesses[i].tensor))];

		if (!accesses[i].size)
			accesses[i].size = tensor->bytes;
		accesses[i] = random_columns(state, accesses[i], sk_dtype_size(tensor->dtype),
					     options->strides && !spread.extent);
	}
	if (options->states && spread.kind == SK_STEP_PLAIN)
		count += random_state(state, &spread, &accesses[count]);

	const char *scope = random_scope(state, options, &spread);

	test_add_task(test, name, spread, random_below(state, options->streams), scope, accesses, count);
	if (number > 0 && random_below(state, 8) == 0)
		add_after(test, number, random_below(state, number));
	if (number > 0 && random_below(state, 8) == 0)
		add_event(test, random_below(state, number), number);
}

struct test_model *random_model(uint64_t seed, const struct random_options *options)
{
	struct test_model *test = test_model_create(options->lanes);
	uint64_t state = seed;

	for (uint32_t i = 0; i < options->tensors; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%u", i);
		add_tensor(test, name, i % 3 ? SK_F32 : SK_BF16, ROW_COUNT, ROW_LENGTH);
	}
	for (uint32_t i = 0; i < options->tasks; i++)
		add_random_task(&state, test, options);
	static const char *const scopes[] = {"a", "b", "s"};

	for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
		fuse_streams(test, scopes[i]);
	test_model_finish(test);
	return test;
}
