/* The report: what became of each task and why, for people. It travels in the package as the section .sk.report, which
 * is not loaded and which only skdump reads: an 8-byte little-endian size, then a zlib stream of that many bytes of
 * text. The text is a line per task, its fields separated by tabs:
 *
 *   task  name  scope or -  launch  CODE  sentence
 *
 * with the task's and the launch's number in the plan, the reason code of the partition, and the reason in words. */
#ifndef SK_REPORT_H
#define SK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define SK_REPORT_SECTION ".sk.report"

struct sk_report_entry {
	uint32_t task; /* index into the plan's tasks */
	uint32_t launch; /* index into the plan's launches: the one that runs it */
	const char *name; /* of the task */
	const char *scope; /* NULL: none */
	const char *code; /* reason code: why the task was fused, or why not */
	const char *sentence; /* the reason, for people */
};

/* Packs the entries into the section's contents, in the arena. Tabs and line ends inside a field become spaces. */
void sk_report_pack(struct sk_arena *arena, const struct sk_report_entry *entries, size_t count, const void **bytes,
		    uint64_t *size);

/* Unpacks a section's contents into the arena. Returns NULL, or what is wrong with them; then there are no entries.
 * Trusts nothing: sizes, the stream and every line are checked. */
const char *sk_report_unpack(struct sk_arena *arena, const void *bytes, uint64_t size,
			     const struct sk_report_entry **entries, size_t *count);

#endif
