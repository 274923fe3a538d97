/* Checks the promise of `split`: calls of a kernel for parts compute the same bits as one call for all. A call of a
 * checked launch is made for all of its part. Then, from the same bytes, it is made for each unit alone, and for
 * several pseudo-random lengths of whole units; each time the written bytes are compared. At the end they are those of
 * the call for all.
 *
 * The work around a call takes far longer than a short call, mainly if its pages differ from those of the call before.
 * So for a part with very many units the short calls are made in series at equal distances and at its end, with one
 * long call from each series to the next. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/checks/checks-parts.h"
#include "loader/checks/checks.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

enum {
	WAYS = 6, /* to cut a part */
	SERIES_CALLS = 256,
	SERIES = SKRT_SPLIT_UNITS / SERIES_CALLS,
};

struct sk_split_check {
	/* The written bytes, one argument's after the other's: before the call for all, and after it. */
	char *before, *whole;
	size_t capacity; /* of each */
	uint64_t seed; /* goes on from call to call, so a repeated run tries other lengths */
};

struct sk_split_check *sk_split_check_open(void)
{
	return calloc(1, sizeof(struct sk_split_check));
}

void sk_split_check_close(struct sk_split_check *split)
{
	if (!split)
		return;
	free(split->before);
	free(split->whole);
	free(split);
}

/* ---- written bytes ---- */

/* The range from the first to the last byte that the call's argument writes, in all parts of it; size 0: it writes
 * none. */
struct written {
	const struct sk_plan_argument *argument;
	char *start;
	size_t size;
};

static struct written written_by(const struct sk_checked *checked, uint32_t number)
{
	const struct sk_plan_argument *argument = &sk_plan_arguments(checked->plan, checked->call)[number];
	struct sk_rows rows = sk_plan_rows(checked->plan, argument);

	if (argument->kind != SK_ARGUMENT_POINTER || !(sk_plan_access(argument) & SK_ACCESS_WRITE))
		return (struct written){.argument = argument};
	return (struct written){
		.argument = argument,
		.start = sk_guard_address(checked->guard, checked->launch, argument, checked->scratch),
		.size = sk_rows_end(&rows) - rows.start,
	};
}

/* Make room for all bytes that the call writes. */
static bool reserve_copies(const struct sk_checked *checked, struct sk_split_check *split)
{
	size_t size = 0;

	for (uint32_t i = 0; i < checked->call->argument_count; i++)
		size += written_by(checked, i).size;
	if (size <= split->capacity)
		return true;
	free(split->before);
	free(split->whole);
	split->before = malloc(size);
	split->whole = malloc(size);
	split->capacity = split->before && split->whole ? size : 0;
	return split->capacity != 0;
}

/* Copy between the tensors and the saved bytes. */
static bool copy_written(const struct sk_checked *checked, char *kept, bool back)
{
	bool good = true;

	for (uint32_t i = 0; i < checked->call->argument_count && good; i++) {
		struct written written = written_by(checked, i);

		if (written.size == 0)
			continue;
		good = sk_guard_permit(checked->guard, written.argument, true);
		if (good)
			memcpy(back ? written.start : kept, back ? kept : written.start, written.size);
		good = good && sk_guard_permit(checked->guard, written.argument, false);
		kept += written.size;
	}
	return good;
}

/* ---- calls for parts ---- */

/* The rest of a part that is cut one way. */
struct cut {
	uint64_t low, high, unit; /* elements */
	uint32_t way; /* 0: each unit alone; otherwise calls have up to 4 to the power of it units */
	uint64_t seed;
	/* Units; in series: */
	uint64_t count, done;
	uint64_t distance; /* from one series to the next; 0: there is only one series */
	uint32_t calls; /* of the current series, so far */
};

static struct cut begin_cut(uint64_t low, uint64_t high, uint64_t unit, uint32_t way, uint64_t seed)
{
	struct cut cut = {low, high, unit, way, seed, .count = (high - low - 1) / unit + 1};

	if (cut.count >> 2 * way > SKRT_SPLIT_UNITS)
		cut.distance = cut.count / SERIES;
	return cut;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Return the number of units from the end of a series to the next one; the last series is at the last units. 0: the
 * series was the last one. */
static uint64_t units_between(const struct cut *cut)
{
	uint64_t next = (cut->done / cut->distance + 1) * cut->distance, last = cut->count - SERIES_CALLS;

	if (next > last)
		next = last;
	return next > cut->done ? next - cut->done : 0;
}

/* Return the end of the next call. */
static uint64_t next_end(struct cut *cut)
{
	uint64_t units = 1 + next_random(&cut->seed) % (UINT64_C(1) << 2 * cut->way);

	if (cut->distance && cut->calls++ == SERIES_CALLS) {
		uint64_t between = units_between(cut);

		cut->calls = 0;
		units = between ? between : units;
	}
	cut->done += units;
	return units > (cut->high - cut->low) / cut->unit ? cut->high : cut->low + units * cut->unit;
}

static int call_parts(struct sk_checked *checked, struct cut cut)
{
	int status = 0;

	for (uint64_t end; cut.low < cut.high && !status; cut.low = end) {
		end = next_end(&cut);
		status = sk_checked_call(checked, cut.low, end);
	}
	return status;
}

/* ---- findings ---- */

__attribute__((format(printf, 2, 3))) static int found(const struct sk_checked *checked, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(checked->finding, SK_FINDING_SIZE, format, args);
	va_end(args);
	checked->core->abi.failed_task = checked->call->task;
	return 1;
}

/* Report the call for the part with the element; the text continues with the call for all. */
static int report(const struct sk_checked *checked, struct cut cut, uint64_t element, const char *difference)
{
	uint64_t all = cut.high - cut.low, end;

	while ((end = next_end(&cut)) <= element && end < cut.high)
		cut.low = end;
	return found(checked,
		     "it contradicts 'split': a call for %" PRIu64 " element%s (from %" PRIu64
		     " on) %s a call for all %" PRIu64,
		     end - cut.low, sk_plural(end - cut.low), cut.low, difference, all);
}

/* Report the first difference from the saved bytes; return 0 if there is none. */
static int find_difference(const struct sk_checked *checked, struct cut cut, const char *kept)
{
	for (uint32_t i = 0; i < checked->call->argument_count; i++) {
		struct written written = written_by(checked, i);
		const struct sk_plan_tensor *tensor = &checked->plan->tensors[written.argument->tensor];
		size_t byte = 0;
		char difference[160];

		if (written.size == 0)
			continue;
		if (!sk_guard_permit(checked->guard, written.argument, true))
			return found(checked, "its tensors cannot be compared: %s", strerror(errno));
		while (byte < written.size && written.start[byte] == kept[byte])
			byte++;
		sk_guard_permit(checked->guard, written.argument, false);
		kept += written.size;
		if (byte == written.size)
			continue;

		uint64_t bytes = written.argument->element_bytes;
		uint64_t offset = written.argument->offset - sk_plan_tensor_start(checked->launch, tensor) + byte;

		snprintf(difference, sizeof(difference),
			 "writes other bits into tensor '%.80s' (first at byte %" PRIu64 ") than",
			 sk_plan_string(&tensor->name), offset);
		return report(checked, cut, bytes ? byte / bytes : 0, difference);
	}
	return 0;
}

/* Check one way, from the bytes before the call for all. */
static int check_way(struct sk_checked *checked, struct sk_split_check *split, struct cut cut)
{
	if (!copy_written(checked, split->before, true))
		return found(checked, "its tensors cannot be put back: %s", strerror(errno));

	int status = call_parts(checked, cut);
	char difference[64];

	if (!status)
		return find_difference(checked, cut, split->whole);
	if (status == SK_STATUS_ABORTED || checked->finding[0])
		return status;
	snprintf(difference, sizeof(difference), "returns status %d, unlike", status);
	return report(checked, cut, checked->low, difference);
}

int sk_split_check_call(struct sk_checked *checked, struct sk_split_check *split, uint64_t low, uint64_t high)
{
	uint64_t unit = checked->plan->partitions[checked->step->partition].unit * checked->call->scale;
	int status = 0;

	if (!reserve_copies(checked, split) || !copy_written(checked, split->before, false))
		return found(checked, "no memory to keep the bytes that it writes");
	status = sk_checked_call(checked, low, high);
	if (!status && !copy_written(checked, split->whole, false))
		return found(checked, "no memory to keep the bytes that it writes");
	for (uint32_t way = 0; way < WAYS && !status && high - low > unit; way++)
		status = check_way(checked, split, begin_cut(low, high, unit, way, next_random(&split->seed)));
	if (high - low > unit && !copy_written(checked, split->whole, true) && !status)
		return found(checked, "its tensors cannot be put back: %s", strerror(errno));
	return status;
}
