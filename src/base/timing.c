/* Phases with their times, and the trace of them; see timing.h. */
#include "base/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

struct sk_timing *sk_timing_create(struct sk_arena *arena)
{
	struct sk_timing *timing = SK_NEW(arena, struct sk_timing);

	timing->arena = arena;
	timing->created = now();
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
					.start = now() - timing->created});
}

void sk_timing_end(struct sk_timing *timing)
{
	if (!timing)
		return;

	struct sk_phase *phase = &timing->phases.items[timing->open.items[--timing->open.count]];

	phase->duration = now() - timing->created - phase->start;
}

void sk_timing_next(struct sk_timing *timing, const char *name)
{
	sk_timing_end(timing);
	sk_timing_begin(timing, name, NULL);
}

/* ---- the trace ---- */

typedef SK_ARRAY(char) text;

static void add(struct sk_arena *arena, text *out, const char *addition)
{
	for (; *addition; addition++)
		sk_array_push(arena, out, *addition);
}

/* Bytes of the UTF-8 character at the start of the text; 0: it is none (RFC 3629, section 4). */
static size_t character_length(const char *start)
{
	const unsigned char *bytes = (const unsigned char *)start;
	size_t length = bytes[0] < 0x80			       ? 1
			: bytes[0] >= 0xc2 && bytes[0] <= 0xdf ? 2
			: (bytes[0] & 0xf0) == 0xe0	       ? 3
			: bytes[0] >= 0xf0 && bytes[0] <= 0xf4 ? 4
							       : 0;

	for (size_t i = 1; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	if ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90))
		return 0; /* longer than need be */
	if ((bytes[0] == 0xed && bytes[1] > 0x9f) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
		return 0; /* a surrogate, or none of Unicode's */
	return length;
}

/* The text as a JSON string. Names of files are any bytes; those that are no characters become U+FFFD. */
static void add_string(struct sk_arena *arena, text *out, const char *string)
{
	add(arena, out, "\"");
	while (*string) {
		size_t length = character_length(string);

		if (!length)
			add(arena, out, "\\ufffd");
		else if (length == 1 && ((unsigned char)*string < 0x20 || *string == 0x7f))
			add(arena, out, sk_arena_print(arena, "\\u%04x", (unsigned)*string));
		else if (*string == '"' || *string == '\\')
			add(arena, out, *string == '"' ? "\\\"" : "\\\\");
		else
			add(arena, out, sk_arena_copy(arena, string, length));
		string += length ? length : 1;
	}
	add(arena, out, "\"");
}

static void add_phase(struct sk_arena *arena, text *out, const struct sk_phase *phase)
{
	add(arena, out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":");
	add_string(arena, out, phase->name);
	add(arena, out,
	    sk_arena_print(arena, ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u", phase->start / 1000,
			   (unsigned)(phase->start % 1000), phase->duration / 1000,
			   (unsigned)(phase->duration % 1000)));
	if (phase->detail) {
		add(arena, out, ",\"args\":{\"detail\":");
		add_string(arena, out, phase->detail);
		add(arena, out, "}");
	}
	add(arena, out, "}");
}

const char *sk_timing_trace(const struct sk_timing *timing, const char *program)
{
	struct sk_arena *arena = timing->arena;
	text out = {0};

	add(arena, &out, "{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
	add_string(arena, &out, program);
	add(arena, &out, "}}");
	for (size_t i = 0; i < timing->phases.count; i++)
		add_phase(arena, &out, &timing->phases.items[i]);
	add(arena, &out, "\n]}\n");
	sk_array_push(arena, &out, '\0');
	return out.items;
}
