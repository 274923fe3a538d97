/* Device profiles: the properties of a device that predictions, schedules and the simulated device take from a text of
 * lines. */
#ifndef SK_FORMAT_PROFILE_PROFILE_H
#define SK_FORMAT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/skplan.h"

/* ==== profile.c ====
 *
 * Device profiles: the lanes and cores of a device, and what it costs to launch, wait, fetch and read there. sklink
 * plans for a profile's lanes, the simulated device has its cores, predictions (predict.h) use its costs.
 *
 * A profile is a text file of lines `key: value` that people copy and change; doc/explain/simulation.md has the meaning
 * of each key. Two are built in, `host` and `a3`: the files of format/profile, which are also installed. */

enum { SK_PROFILE_MAX_NAME = 63, SK_PROFILE_MAX_CORES = 4096, SK_PROFILE_MAX_BLOCKS = 1 << 20 };

struct sk_profile_lane {
	char name[SK_PROFILE_MAX_NAME + 1];
	uint32_t cores;
	uint32_t blocks; /* of `blocks` kernels whose task does not say */
	double operations; /* that one core does in a cycle; > 0 */
	double code_cache; /* bytes of each core's instruction memory */
	double data_cache; /* bytes of each core's own cache for data; 0: not known */
};

/* Times are in ns, rates in bytes a ns; an unlimited rate is INFINITY, others are > 0. */
struct sk_profile {
	char name[SK_PROFILE_MAX_NAME + 1];
	uint32_t lane_count;
	struct sk_profile_lane lanes[SK_MAX_LANES]; /* one, or that of cube kernels and that of all others */
	double clock; /* cycles a ns; > 0 */
	double launch; /* from the end of what a launch follows to its beginning */
	double await; /* from the end of a step on one core until another one that waits for it goes on */
	double check; /* an await that finds the step finished */
	double call; /* what each call of a kernel takes beside its cost */
	double flush; /* of one core's data cache, with what it has to wait for until it can go on */
	double code_fetch; /* into one core's instruction memory */
	double memory; /* of all cores together */
	double core_memory; /* of one core */
	bool sync_all_split; /* tasks that call sk_sync_all are fused only with tasks that need no more cores */
};

/* The built-in profile of that name, or the file at that path. False with the reason, one sentence that names file and
 * line, in `error`. */
bool sk_profile_load(const char *name_or_path, struct sk_profile *profile, char *error, size_t error_size);

/* A profile from its text; `name` is for messages. */
bool sk_profile_parse(const char *name, const char *text, struct sk_profile *profile, char *error, size_t error_size);

/* The names of the built-in ones. */
enum { SK_PROFILE_BUILTINS = 2 };
extern const char *const sk_profile_builtins[SK_PROFILE_BUILTINS];

/* The number of the lane of that name, or SK_NO_INDEX. */
uint32_t sk_profile_lane(const struct sk_profile *profile, const char *name);

/* ==== lines.c ====
 *
 * Text files of lines `key: value`, for people to write: device profiles and costs. Blank lines, and what stands behind
 * a # at the beginning of a line or after a blank, do not count. A key may stand in double quotes, with a backslash in
 * front of each quote and each backslash that it has itself. Anybody may have written the file: it is read whole, up to
 * a limit, and nothing of it is believed. */

struct sk_lines {
	const char *name; /* of the file, for messages */
	char *text; /* owned */
	char *next; /* what has not been read; NULL: nothing */
	uint32_t number; /* of the line read last, from 1 */
	const char *key, *value; /* of the line read last; neither is empty */
	char *error; /* the caller's buffer */
	size_t error_size;
};

enum { SK_LINES_MAX_BYTES = 16 << 20 };

/* Opens a file, or a text in memory. False with the reason in `error`. */
bool sk_lines_open(struct sk_lines *lines, const char *path, char *error, size_t error_size);
bool sk_lines_open_text(struct sk_lines *lines, const char *name, const char *text, char *error, size_t error_size);

/* The next line with something on it. False at the end, and after an error; *failed says which. */
bool sk_lines_next(struct sk_lines *lines, bool *failed);

/* Puts "file:line: …" into the caller's buffer. Returns false, always. */
bool sk_lines_fail(const struct sk_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value as a number with one of these units, as "0.9 us"; times the unit's factor in *number. A unit "" stands for
 * none. The list ends at a unit with name NULL. The number is not negative. */
struct sk_unit {
	const char *name;
	double factor;
};
bool sk_lines_number(const struct sk_lines *lines, const struct sk_unit *units, double *number);

/* The value as a whole number within [low, high]. */
bool sk_lines_integer(const struct sk_lines *lines, uint64_t low, uint64_t high, uint64_t *number);

void sk_lines_close(struct sk_lines *lines);

/* The key as it must stand in a file to be read as this. */
void sk_lines_print_key(const char *key, FILE *stream);

#endif
