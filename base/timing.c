/* Phases with their times, and the trace of them; see timing.h. */
#include "base/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

uint64_t sk_timing_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

struct sk_timing *sk_timing_create(struct sk_arena *arena)
{
	struct sk_timing *timing = SK_NEW(arena, struct sk_timing);

	timing->arena = arena;
	timing->created = sk_timing_now();
	return timing;
}

void sk_timing_begin(struct sk_timing *timing, const char *name, const char *detail)
{
	if (!timing)
		return;
	sk_array_push(timing->arena, &timing->open, timing->phases.count);
	sk_array_push(timing->arena, &timing->phases,
		      (struct sk_phase){.name = name,
					.detail = detail,
					.depth = (unsigned)timing->open.count - 1,
					.start = sk_timing_now() - timing->created});
}

void sk_timing_end(struct sk_timing *timing)
{
	if (!timing)
		return;

	struct sk_phase *phase = &timing->phases.items[timing->open.items[--timing->open.count]];

	phase->duration = sk_timing_now() - timing->created - phase->start;
}

void sk_timing_next(struct sk_timing *timing, const char *name)
{
	sk_timing_end(timing);
	sk_timing_begin(timing, name, NULL);
}

void sk_timing_add_beside(struct sk_timing *timing, const char *name, uint64_t start, uint64_t end)
{
	if (timing)
		sk_array_push(timing->arena, &timing->phases,
			      (struct sk_phase){.name = name,
						.start = start - timing->created,
						.duration = end - start,
						.beside = true});
}

/* ---- the trace ---- */

static void put_microseconds(struct sk_json *json, const char *key, uint64_t nanoseconds)
{
	fprintf(sk_json_put_value(json, key), "%" PRIu64 ".%03" PRIu64, nanoseconds / 1000, nanoseconds % 1000);
}

static void put_phase(struct sk_json *json, const struct sk_phase *phase)
{
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "ph", "X");
	sk_json_put_number(json, "pid", 1);
	sk_json_put_number(json, "tid", phase->beside ? 2 : 1);
	sk_json_put_string(json, "name", phase->name);
	put_microseconds(json, "ts", phase->start);
	put_microseconds(json, "dur", phase->duration);
	if (phase->detail) {
		sk_json_begin_object(json, "args", SK_JSON_LINE);
		sk_json_put_string(json, "detail", phase->detail);
		sk_json_end(json);
	}
	sk_json_end(json);
}

static void put_program(struct sk_json *json, const char *program)
{
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "ph", "M");
	sk_json_put_number(json, "pid", 1);
	sk_json_put_string(json, "name", "process_name");
	sk_json_begin_object(json, "args", SK_JSON_LINE);
	sk_json_put_string(json, "name", program);
	sk_json_end(json);
	sk_json_end(json);
}

const char *sk_timing_trace(const struct sk_timing *timing, const char *program)
{
	struct sk_text text;

	sk_text_open(&text);

	struct sk_json json = {.stream = text.stream, .compact = true};

	sk_json_begin_object(&json, NULL, SK_JSON_LINE);
	sk_json_begin_list(&json, "traceEvents", SK_JSON_LINES);
	put_program(&json, program);
	for (size_t i = 0; i < timing->phases.count; i++)
		put_phase(&json, &timing->phases.items[i]);
	sk_json_end(&json);
	sk_json_end(&json);
	putc('\n', text.stream);
	sk_text_close(timing->arena, &text);
	return text.bytes;
}
