/* One trace of all ranks; see skrun.h. The clocks of two machines differ, and so do those of two namespaces of time. In
 * some rounds each rank sends its time to all others, and notes when it has all of theirs: a message arrives after it
 * was sent, which bounds the difference of two clocks from both sides. The middle of the bounds counts. Ranks with one
 * clock have no difference. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "loader/base/status.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"
#include "loader/trace/trace.h"

enum { ROUNDS = 33 };

/* The message of a round: when it was sent, and when those of the round before had come. */
struct moment {
	int64_t sent, came;
	char clock[80]; /* its name */
};

/* The difference of a rank's clock from that of rank 0, ns. */
struct difference {
	int64_t least, most;
};

static struct difference *differences[2]; /* by rank: at the trace's beginning, and at its end */

/* Name the clock: those of one name show the same time. */
static void name_clock(char *name, size_t size)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[40] = "", space[32] = "";

	if (file) {
		if (!fgets(boot, sizeof(boot), file))
			*boot = '\0';
		fclose(file);
	}
	if (readlink("/proc/self/ns/time", space, sizeof(space) - 1) < 0)
		*space = '\0';
	snprintf(name, size, "%.36s %s", boot, space);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Narrow the bounds by the messages of a round, from `before`, and the times when they had come, from `after`. */
static void narrow(struct difference *difference, const struct moment *before, const struct moment *after,
		   uint32_t rank)
{
	difference->least = most(difference->least, before[rank].sent - after[0].came);
	difference->most = least(difference->most, after[rank].came - before[0].sent);
	if (!strcmp(after[rank].clock, after[0].clock))
		*difference = (struct difference){0, 0};
}

bool sk_rank_compare_clocks(bool ended)
{
	uint32_t ranks = sk_rank_transport()->ranks;
	struct moment own = {0}, *all = calloc(2 * (size_t)ranks, sizeof(*all));
	struct difference *found = calloc(ranks, sizeof(*found));
	bool good = all && found;

	free(differences[ended]);
	differences[ended] = found;
	if (!good)
		sk_skrun_error("no memory for the clocks of %" PRIu32 " ranks", ranks);
	for (uint32_t i = 0; good && i < ranks; i++)
		found[i] = (struct difference){INT64_MIN, INT64_MAX};
	name_clock(own.clock, sizeof(own.clock));
	for (uint32_t round = 0; good && round < ROUNDS; round++) {
		struct moment *before = all + (round + 1) % 2 * ranks, *after = all + round % 2 * ranks;

		own.sent = sk_now();
		good = sk_rank_gather("the comparison of clocks", &own, after, sizeof(own));
		own.came = sk_now();
		for (uint32_t i = 0; good && i < ranks && round; i++)
			narrow(&found[i], before, after, i);
	}
	free(all);
	return good;
}

/* ---- the file ---- */

/* Where a rank's trace begins and ends on the clock of rank 0. */
struct span {
	int64_t start, end;
	uint64_t bytes; /* of its events */
	uint64_t launches, lost; /* all, and those without slices */
};

static int64_t middle(const struct difference *difference)
{
	return difference->least + (difference->most - difference->least) / 2;
}

/* Return the events of this rank as a text, to be freed, without the brackets around them; NULL: no memory. */
static char *print_events(const struct skrt_trace *trace, const struct span *spans, uint32_t rank, size_t *size)
{
	int64_t length = trace->end_time - trace->start_time, origin = spans[0].start;
	uint32_t ranks = sk_rank_transport()->ranks;
	struct sk_trace_rank own = {.rank = rank};
	char *text = NULL;
	FILE *file = open_memstream(&text, size);

	for (uint32_t i = 1; i < ranks; i++)
		origin = least(origin, spans[i].start);
	own.start_shift = spans[rank].start - origin;
	own.end_shift = spans[rank].end - length - origin;
	if (!file)
		return NULL;
	sk_trace_print_rank(trace, &own, file);
	if (fclose(file) || *size < 4) {
		free(text);
		return NULL;
	}
	*size -= 2; /* the end of the list, and the line before it */
	memmove(text, text + 1, *size - 1);
	text[--*size] = '\0';
	return text;
}

static void put_end(struct sk_json *json, const struct span *spans, uint32_t ranks)
{
	uint64_t launches = 0, lost = 0;

	for (uint32_t i = 0; i < ranks; i++) {
		launches += spans[i].launches;
		lost += spans[i].lost;
	}
	sk_json_end(json);
	sk_json_put_string(json, "displayTimeUnit", "ns");
	sk_json_begin_object(json, "otherData", SK_JSON_LINE);
	sk_json_put_number(json, "launches", launches);
	sk_json_put_number(json, "launches without slices", lost);
	sk_json_put_number(json, "ranks", ranks);
	sk_json_begin_list(json, "clock errors in ns", SK_JSON_LINE);
	for (uint32_t i = 0; i < ranks; i++) {
		const struct difference *start = &differences[0][i], *end = &differences[1][i];

		sk_json_put_number(json, NULL, (uint64_t)most(start->most - start->least, end->most - end->least) / 2);
	}
	sk_json_end(json);
	sk_json_end(json);
	sk_json_end(json);
	putc('\n', json->stream);
}

/* Rank 0 writes, and brings the events of the other ranks; these send. `own` is the text of this rank. */
static bool write_all(FILE *file, const struct span *spans, char *own)
{
	uint32_t ranks = sk_rank_transport()->ranks, rank = sk_rank_transport()->rank;
	struct sk_json json = {.stream = file, .compact = true};
	bool good = true;

	if (file) {
		sk_json_begin_object(&json, NULL, SK_JSON_LINES_BETWEEN);
		sk_json_begin_list(&json, "traceEvents", SK_JSON_LINES_BETWEEN);
	}
	for (uint32_t i = 0; i < ranks && good; i++) {
		char *text = i == rank ? own : rank == 0 ? malloc(spans[i].bytes + 1) : NULL;

		if (i && (i == rank || rank == 0) && !text)
			sk_skrun_error("no memory for the trace of rank %" PRIu32, i);
		good = i == 0 || (!(rank == 0 && !text) && sk_rank_bring("the trace", i, text, spans[i].bytes));
		if (good && file)
			fwrite(text, 1, spans[i].bytes, sk_json_put_value(&json, NULL));
		if (i != rank)
			free(text);
	}
	if (good && file)
		put_end(&json, spans, ranks);
	return good;
}

bool sk_rank_write_trace(const struct skrt_trace *trace, const char *path)
{
	const struct sk_transport *transport = sk_rank_transport();
	uint32_t rank = transport->rank;
	struct span own = {.launches = trace->all_launches, .lost = trace->all_launches - trace->launch_count};
	struct span *spans = calloc(transport->ranks, sizeof(*spans));
	size_t size = 0;
	char *text = NULL;
	FILE *file = NULL;
	bool good = spans;

	own.start = trace->start_time - middle(&differences[0][rank]);
	own.end = trace->end_time - middle(&differences[1][rank]);
	good = good && sk_rank_gather("the trace", &own, spans, sizeof(own));
	text = good ? print_events(trace, spans, rank, &size) : NULL;
	own.bytes = size;
	if (!spans || (good && !text))
		sk_skrun_error("no memory for the trace");
	if (!good || !text || !sk_rank_gather("the trace", &own, spans, sizeof(own))) {
		free(spans);
		free(text);
		return false;
	}
	if (rank == 0)
		file = sk_unfinished_open(path);
	if (rank == 0 && !file)
		sk_skrun_error("%s: %s", path, strerror(errno));
	good = (rank || file) && write_all(file, spans, text);
	if (file && !good) {
		fclose(file);
		sk_unfinished_remove(path);
	} else if (file && !sk_unfinished_close(file, path)) {
		sk_skrun_error("%s: %s", path, strerror(errno));
		good = false;
	}
	free(spans);
	free(text);
	return good;
}
