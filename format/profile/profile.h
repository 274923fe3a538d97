/* Device profiles: the lanes and cores of a device, and what it costs to launch, wait, fetch and read there. sklink
 * plans for a profile's lanes, the simulated device has its cores, predictions (predict.h) use its costs.
 *
 * A profile is a text file of lines `key: value` that people copy and change; doc/simulation.md says what each key
 * means. Two are built in, `host` and `a3`: the files of format/profile, which are installed as well. */
#ifndef SK_LOADER_PROFILE_H
#define SK_LOADER_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"

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

#endif
