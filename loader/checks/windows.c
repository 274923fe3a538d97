/* The accesses of a call of a checked launch, as windows. For a divided argument they are the call's part, or its tile,
 * and the bytes after all parts; for others everything. A tile has whole rows of a part, and of these rows only the
 * columns of the inner loop's tile, if the rows are contiguous. Otherwise that would be rows of rows, and the tile
 * counts as having all columns. The other columns belong to the same core and, where they are read, were written
 * before, so this gives no false findings; but wrong accesses to columns of the core's other tiles are not found. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/checks/checks.h"

static struct sk_window *add_window(struct sk_checked *checked, const struct sk_plan_argument *argument,
				    struct sk_rows rows)
{
	struct sk_window *window = &checked->windows[checked->window_count++];

	*window = (struct sk_window){.argument = argument, .rows = rows};
	window->access = (uint8_t)(argument->kind == SK_ARGUMENT_SCRATCH ? SK_ACCESS_READ | SK_ACCESS_WRITE
									 : sk_plan_access(argument));
	return window;
}

static void add_bytes(struct sk_checked *checked, const struct sk_plan_argument *argument, uint64_t low, uint64_t high)
{
	if (low < high)
		add_window(checked, argument, (struct sk_rows){.start = low, .width = high - low, .count = 1});
}

/* Return the bytes of the inner loop's tile in the rows of a part, relative to the argument's first byte. */
static struct sk_rows rows_of_tile(const struct sk_checked *checked, const struct sk_plan_argument *argument,
				   const struct sk_plan_pattern *pattern, struct sk_rows part)
{
	const struct sk_plan_loop *loop = &sk_plan_loops(checked->plan, checked->call)[1];
	uint64_t bytes = pattern->inner_bytes, all = bytes * loop->extent;
	uint64_t count = checked->inner_high - checked->inner_low;
	struct sk_rows rows = part;

	rows.start += checked->inner_low * bytes;
	if (pattern->count > 1 && all == pattern->width) {
		rows.width = count * bytes;
	} else if (pattern->count > 1) {
		if (argument->element_bytes || bytes % pattern->stride || all != pattern->stride * pattern->count)
			return part;
		rows.count = count * (bytes / pattern->stride);
	} else {
		if ((argument->element_bytes ? argument->element_bytes : argument->size) % all)
			return part;
		rows = (struct sk_rows){rows.start, count * bytes, all, part.width / all};
	}
	if (rows.width == rows.stride)
		rows = (struct sk_rows){rows.start, rows.width * rows.count, 0, 1};
	if (rows.count == 1)
		rows.stride = 0;
	return rows;
}

/* A tile may have too many columns (see above), so for a call in loops this holds only for whole parts. */
static enum sk_owed owed_of(const struct sk_checked *checked, const struct sk_plan_argument *argument)
{
	bool blocks = checked->step->kind == SK_STEP_BLOCKS || checked->step->kind == SK_STEP_BLOCKS_RANGE;

	if (sk_plan_access(argument) != SK_ACCESS_WRITE || checked->inner_high)
		return SK_OWED_NONE;
	return blocks && !argument->element_bytes ? SK_OWED_BY_TASK : SK_OWED_BY_CALL;
}

static void add_pointer(struct sk_checked *checked, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checked->plan, argument);
	uint64_t bytes = argument->element_bytes, parts_end = sk_plan_extent(checked->step, checked->call) * bytes;
	struct sk_rows rows = sk_plan_part_rows(checked->plan, checked->step, checked->call, argument, checked->low,
						checked->high - checked->low);

	rows.start -= argument->offset;
	if (pattern && pattern->inner_bytes && !pattern->halo && checked->inner_high)
		rows = rows_of_tile(checked, argument, pattern, rows);
	if (bytes && !(pattern && pattern->count))
		add_bytes(checked, argument, parts_end + (pattern ? pattern->halo : 0), argument->size);
	bool some = rows.width && rows.count;

	if (some)
		add_window(checked, argument, rows)->owed = owed_of(checked, argument);
	if (pattern && pattern->over_read && (some || !argument->size)) {
		uint64_t end = sk_rows_end(&rows) + pattern->over_read;
		struct sk_rows readable = {.start = rows.start, .width = end - rows.start, .count = 1};

		add_window(checked, argument, readable)->unused = true;
	}
}

/* Add the place where the argument is stored before the call. */
static void add_field(struct sk_checked *checked, const struct sk_plan_argument *argument)
{
	static const struct sk_plan_argument scratch = {.kind = SK_ARGUMENT_SCRATCH};
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checked->plan, argument);
	uint64_t size = sk_argument_is_scalar(argument) ? sk_dtype_size(argument->dtype) : sizeof(uint64_t);

	if (pattern && pattern->table_count)
		size *= pattern->table_count;
	add_bytes(checked, &scratch, argument->field, argument->field + size);
}

void sk_checked_find_states(struct sk_checked *checked)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(checked->plan, checked->call);

	checked->window_count = 0;
	for (uint32_t i = 0; i < checked->call->argument_count; i++)
		if (arguments[i].kind == SK_ARGUMENT_STATE)
			add_window(checked, &arguments[i], (struct sk_rows){.width = 1, .count = 1});
}

void sk_checked_find_windows(struct sk_checked *checked)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(checked->plan, checked->call);
	bool open = checked->phase == SK_OPEN;

	checked->window_count = 0;
	for (uint32_t i = 0; i < checked->call->argument_count; i++) {
		const struct sk_plan_argument *argument = &arguments[i];

		if (argument->kind == SK_ARGUMENT_POINTER && argument->space == SK_SPACE_SIZES)
			continue;
		if (argument->kind == SK_ARGUMENT_POINTER && open)
			add_pointer(checked, argument);
		else if (argument->kind == SK_ARGUMENT_SCRATCH ||
			 (open && (argument->kind == SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_RESULT)))
			add_bytes(checked, argument, 0, argument->size);
		if (argument->flags & SK_ARGUMENT_FIELD)
			add_field(checked, argument);
	}
}
