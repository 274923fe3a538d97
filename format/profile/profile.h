/* Device profiles: the properties of a device that predictions, schedules and the simulated device use, and the reader
 * of their text format. */
#ifndef SK_FORMAT_PROFILE_PROFILE_H
#define SK_FORMAT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/skplan.h"

/* ==== profile.c ====
 *
 * Device profiles: the lanes and cores of a device, and the costs of launching, waiting, fetching and reading. sklink
 * plans for a profile's lanes, the simulated device has its cores, and predictions (predict.h) use its costs.
 *
 * A profile is a text file of lines `key: value` that people copy and change; doc/explain/simulation.md has the meaning
 * of each key. Two profiles are built in, `host` and `a3`: the files of format/profile, which are also installed. */

enum { SK_PROFILE_MAX_NAME = 63, SK_PROFILE_MAX_CORES = 4096, SK_PROFILE_MAX_BLOCKS = 1 << 20 };

struct sk_profile_lane {
	char name[SK_PROFILE_MAX_NAME + 1];
	uint32_t cores;
	uint32_t blocks; /* default for `blocks` kernels */
	double operations; /* of one core in a cycle; > 0 */
	double code_cache; /* bytes of each core's instruction memory */
	double data_cache; /* bytes of each core's own data cache; 0: not known */
};

/* Times are in ns, rates in bytes per ns; an unlimited rate is INFINITY, others are > 0. */
struct sk_profile {
	char name[SK_PROFILE_MAX_NAME + 1];
	uint32_t lane_count;
	struct sk_profile_lane lanes[SK_MAX_LANES]; /* one, or those of cube kernels and of all others */
	double clock; /* cycles per ns; > 0 */
	double launch; /* from the end of a launch to the start of a launch that follows it */
	double await; /* from the end of a step on one core until a waiting core continues */
	double check; /* an await of a finished step */
	double call; /* the overhead of each call of a kernel */
	double flush; /* of one core's data cache, including the wait until it can continue */
	double code_fetch; /* into one core's instruction memory */
	double memory; /* of all cores together */
	double core_memory; /* of one core */
	/* Between ranks; 0: not given. An exchange takes `exchange`, link_latency, and the time of its bytes. */
	double exchange; /* of a rank's processor */
	double link_latency; /* of a message */
	double link_rate; /* of the bytes that a rank receives */
	bool sync_all_split; /* tasks that call sk_sync_all are fused only with tasks that need no more cores */
};

/* Load the built-in profile of that name, or the file at that path. On failure return false, with the reason in
 * `error`, a sentence that names file and line. */
bool sk_profile_load(const char *name_or_path, struct sk_profile *profile, char *error, size_t error_size);

/* Parse the text of a profile; `name` is for messages. */
bool sk_profile_parse(const char *name, const char *text, struct sk_profile *profile, char *error, size_t error_size);

/* The number and the names of built-in profiles. */
enum { SK_PROFILE_BUILTINS = 2 };
extern const char *const sk_profile_builtins[SK_PROFILE_BUILTINS];

/* Return the index of the lane of that name, or SK_NO_INDEX. */
uint32_t sk_profile_lane(const struct sk_profile *profile, const char *name);

/* ==== lines.c ====
 *
 * Text files of lines `key: value`, written by people: device profiles and costs. Blank lines are ignored, and so are
 * comments, from a # at the start of a line or after a blank. A key or a value may be in double quotes, with a
 * backslash before each quote and each backslash in it. The file is untrusted: it is read whole, up to a limit, and
 * everything is checked. */

struct sk_lines {
	const char *name; /* of the file, for messages */
	char *text; /* owned */
	char *next; /* the unread text; NULL: none */
	uint32_t number; /* of the current line, from 1 */
	const char *key, *value; /* of the current line; neither is empty */
	char *error; /* the caller's buffer */
	size_t error_size;
};

enum { SK_LINES_MAX_BYTES = 16 << 20 };

/* Open a file, or a text in memory. False with the reason in `error`. */
bool sk_lines_open(struct sk_lines *lines, const char *path, char *error, size_t error_size);
bool sk_lines_open_text(struct sk_lines *lines, const char *name, const char *text, char *error, size_t error_size);

/* Read the next line with content. False at the end and after an error; *failed distinguishes them. */
bool sk_lines_next(struct sk_lines *lines, bool *failed);

/* Write "file:line: …" to the caller's buffer; always return false. */
bool sk_lines_fail(const struct sk_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Read the value as a number with one of the units, as in "0.9 us", multiplied by the unit's factor. A unit "" stands
 * for none. The list ends with a NULL name. Numbers are not negative. */
struct sk_unit {
	const char *name;
	double factor;
};
bool sk_lines_number(const struct sk_lines *lines, const struct sk_unit *units, double *number);

/* Read the value as an integer within [low, high]. */
bool sk_lines_integer(const struct sk_lines *lines, uint64_t low, uint64_t high, uint64_t *number);

void sk_lines_close(struct sk_lines *lines);

/* Print a key, or a value that is a text, in the form in which the reader accepts it. */
void sk_lines_print_key(const char *key, FILE *stream);

#endif
