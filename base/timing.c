/* Phases with their times, and the trace of them; see timing.h. */
#include "base/timing.h"

#include <inttypes.h>
#include <time.h>

#include "base/arena.h"
#include "base/json.h"

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

typedef SK_ARRAY(char) text;

static void add(struct sk_arena *arena, text *out, const char *addition)
{
	for (; *addition; addition++)
		sk_array_push(arena, out, *addition);
}

static void add_phase(struct sk_arena *arena, text *out, const struct sk_phase *phase)
{
	add(arena, out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":");
	add(arena, out, phase->beside ? "2" : "1");
	add(arena, out, ",\"name\":");
	add(arena, out, sk_json_string(arena, phase->name));
	add(arena, out,
	    sk_arena_print(arena, ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u", phase->start / 1000,
			   (unsigned)(phase->start % 1000), phase->duration / 1000,
			   (unsigned)(phase->duration % 1000)));
	if (phase->detail) {
		add(arena, out, ",\"args\":{\"detail\":");
		add(arena, out, sk_json_string(arena, phase->detail));
		add(arena, out, "}");
	}
	add(arena, out, "}");
}

const char *sk_timing_trace(const struct sk_timing *timing, const char *program)
{
	struct sk_arena *arena = timing->arena;
	text out = {0};

	add(arena, &out, "{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
	add(arena, &out, sk_json_string(arena, program));
	add(arena, &out, "}}");
	for (size_t i = 0; i < timing->phases.count; i++)
		add_phase(arena, &out, &timing->phases.items[i]);
	add(arena, &out, "\n]}\n");
	sk_array_push(arena, &out, '\0');
	return out.items;
}
