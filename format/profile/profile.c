/* Profiles; see profile.h. A table lists the keys of the device, and then those of each lane, which follow its name and
 * a point. Most keys are required, so that no value is made up. Optional keys are unknown by default; blocks and
 * booleans have other defaults. */
#include "format/profile/profile.h"

#include <math.h>
#include <string.h>

/* host_profile and a3_profile, made from the files in format/profile. */
#include "format/profile/builtin-profiles.h"
#include "format/skplan.h"

const char *const sk_profile_builtins[SK_PROFILE_BUILTINS] = {"host", "a3"};
static const char *const builtin_texts[SK_PROFILE_BUILTINS] = {host_profile, a3_profile};

static const struct sk_unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {NULL, 0}};
static const struct sk_unit clocks[] = {{"MHz", 1e-3}, {"GHz", 1}, {NULL, 0}};
static const struct sk_unit rates[] = {{"MB/s", 1e-3}, {"GB/s", 1}, {"TB/s", 1e3}, {NULL, 0}};
static const struct sk_unit sizes[] = {{"B", 1}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};
static const struct sk_unit counts[] = {{"", 1}, {NULL, 0}};

enum kind {
	KIND_NAME,
	KIND_LANES,
	KIND_CORES,
	KIND_BLOCKS,
	KIND_NUMBER,
	KIND_OPTIONAL, /* a number; 0: not given */
	KIND_OPTIONAL_RATE, /* the same, and not 0 if it is given */
	KIND_POSITIVE, /* a number that is not 0 */
	KIND_RATE, /* the same, or `unlimited` */
	KIND_FLAG, /* a bool: true or false */
};

struct key {
	const char *name;
	enum kind kind;
	const struct sk_unit *units;
	size_t offset; /* of the double or bool in the profile or lane */
};

#define FIELD(field) offsetof(struct sk_profile, field)
static const struct key device_keys[] = {
	{"name", KIND_NAME, NULL, 0},
	{"lanes", KIND_LANES, NULL, 0},
	{"clock", KIND_POSITIVE, clocks, FIELD(clock)},
	{"launch", KIND_NUMBER, times, FIELD(launch)},
	{"await", KIND_NUMBER, times, FIELD(await)},
	{"check", KIND_NUMBER, times, FIELD(check)},
	{"call", KIND_NUMBER, times, FIELD(call)},
	{"flush", KIND_NUMBER, times, FIELD(flush)},
	{"code-fetch", KIND_RATE, rates, FIELD(code_fetch)},
	{"memory", KIND_RATE, rates, FIELD(memory)},
	{"core-memory", KIND_RATE, rates, FIELD(core_memory)},
	{"exchange", KIND_OPTIONAL, times, FIELD(exchange)},
	{"link.latency", KIND_OPTIONAL, times, FIELD(link_latency)},
	{"link.rate", KIND_OPTIONAL_RATE, rates, FIELD(link_rate)},
	{"sync-all-split", KIND_FLAG, NULL, FIELD(sync_all_split)},
};
#undef FIELD

#define FIELD(field) offsetof(struct sk_profile_lane, field)
static const struct key lane_keys[] = {
	{"cores", KIND_CORES, NULL, 0},
	{"blocks", KIND_BLOCKS, NULL, 0},
	{"operations", KIND_POSITIVE, counts, FIELD(operations)},
	{"code-cache", KIND_NUMBER, sizes, FIELD(code_cache)},
	{"data-cache", KIND_OPTIONAL, sizes, FIELD(data_cache)},
};
#undef FIELD

enum {
	DEVICE_KEYS = sizeof(device_keys) / sizeof(device_keys[0]),
	LANE_KEYS = sizeof(lane_keys) / sizeof(lane_keys[0]),
};

struct reader {
	struct sk_lines lines;
	struct sk_profile *profile;
	uint32_t seen[DEVICE_KEYS], lane_seen[SK_MAX_LANES][LANE_KEYS]; /* line numbers; 0: not seen yet */
};

/* ---- values ---- */

static bool is_name(const char *text, size_t length)
{
	return length > 0 && length <= SK_PROFILE_MAX_NAME &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") >= length;
}

static bool read_name(struct reader *reader)
{
	const char *value = reader->lines.value;

	if (!is_name(value, strlen(value)))
		return sk_lines_fail(&reader->lines, "a profile's name has up to %d letters, digits, '-' and '_'",
				     SK_PROFILE_MAX_NAME);
	memcpy(reader->profile->name, value, strlen(value) + 1);
	return true;
}

static bool read_lanes(struct reader *reader)
{
	struct sk_profile *profile = reader->profile;

	for (const char *c = reader->lines.value; *c;) {
		size_t length = strcspn(c, " \t");

		if (profile->lane_count == SK_MAX_LANES || !is_name(c, length))
			return sk_lines_fail(
				&reader->lines,
				"'lanes' must be one name, or the name of the lane of cube kernels and the "
				"name of the lane of all others");
		struct sk_profile_lane *lane = &profile->lanes[profile->lane_count++];

		memcpy(lane->name, c, length);
		lane->name[length] = '\0';
		c += length;
		c += strspn(c, " \t");
	}
	if (profile->lane_count == 2 && !strcmp(profile->lanes[0].name, profile->lanes[1].name))
		return sk_lines_fail(&reader->lines, "both lanes have the same name");
	return true;
}

static bool read_count(struct reader *reader, uint64_t most, uint32_t *count)
{
	uint64_t number;

	if (!sk_lines_integer(&reader->lines, 1, most, &number))
		return false;
	*count = (uint32_t)number;
	return true;
}

static bool read_number(struct reader *reader, const struct key *key, double *number)
{
	if (key->kind == KIND_RATE && !strcmp(reader->lines.value, "unlimited")) {
		*number = (double)INFINITY;
		return true;
	}
	if (!sk_lines_number(&reader->lines, key->units, number))
		return false;
	/* Quotients by it must stay finite. */
	if (key->kind != KIND_NUMBER && key->kind != KIND_OPTIONAL && *number < 1e-12)
		return sk_lines_fail(&reader->lines, "'%s' must be greater than 0", reader->lines.key);
	return true;
}

static bool read_flag(struct reader *reader, bool *flag)
{
	*flag = !strcmp(reader->lines.value, "true");
	return *flag || !strcmp(reader->lines.value, "false") ||
	       sk_lines_fail(&reader->lines, "'%s' must be true or false", reader->lines.key);
}

static bool read_value(struct reader *reader, const struct key *key, struct sk_profile_lane *lane)
{
	void *target = (lane ? (char *)lane : (char *)reader->profile) + key->offset;

	switch (key->kind) {
	case KIND_NAME:
		return read_name(reader);
	case KIND_LANES:
		return read_lanes(reader);
	case KIND_CORES:
		return read_count(reader, SK_PROFILE_MAX_CORES, &lane->cores);
	case KIND_BLOCKS:
		return read_count(reader, SK_PROFILE_MAX_BLOCKS, &lane->blocks);
	case KIND_FLAG:
		return read_flag(reader, target);
	default:
		return read_number(reader, key, target);
	}
}

/* ---- keys ---- */

static const struct key *find_key(const struct key *keys, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static bool read_once(struct reader *reader, const struct key *key, struct sk_profile_lane *lane, uint32_t *seen)
{
	if (*seen)
		return sk_lines_fail(&reader->lines, "'%s' is given twice; first in line %u", reader->lines.key, *seen);
	*seen = reader->lines.number;
	return read_value(reader, key, lane);
}

static bool read_line(struct reader *reader)
{
	const struct key *key = find_key(device_keys, DEVICE_KEYS, reader->lines.key);
	const char *point = strchr(reader->lines.key, '.');

	if (key)
		return read_once(reader, key, NULL, &reader->seen[key - device_keys]);
	if (!point)
		return sk_lines_fail(&reader->lines, "unknown key '%.60s'", reader->lines.key);
	for (uint32_t i = 0; i < reader->profile->lane_count; i++) {
		struct sk_profile_lane *lane = &reader->profile->lanes[i];
		size_t length = strlen(lane->name);

		if ((size_t)(point - reader->lines.key) != length || memcmp(lane->name, reader->lines.key, length) != 0)
			continue;
		key = find_key(lane_keys, LANE_KEYS, point + 1);
		if (!key)
			return sk_lines_fail(&reader->lines, "unknown key '%.60s' of a lane", point + 1);
		return read_once(reader, key, lane, &reader->lane_seen[i][key - lane_keys]);
	}
	return sk_lines_fail(&reader->lines, "'%.60s' is of no lane that 'lanes' has named before", reader->lines.key);
}

static bool is_optional(enum kind kind)
{
	return kind == KIND_FLAG || kind == KIND_BLOCKS || kind == KIND_OPTIONAL || kind == KIND_OPTIONAL_RATE;
}

static bool check_complete(struct reader *reader)
{
	struct sk_lines *lines = &reader->lines;

	lines->number = 0;
	for (size_t i = 0; i < DEVICE_KEYS; i++)
		if (!reader->seen[i] && !is_optional(device_keys[i].kind))
			return sk_lines_fail(lines, "the profile has no '%s'", device_keys[i].name);
	for (uint32_t i = 0; i < reader->profile->lane_count; i++) {
		struct sk_profile_lane *lane = &reader->profile->lanes[i];

		for (size_t k = 0; k < LANE_KEYS; k++)
			if (!reader->lane_seen[i][k] && !is_optional(lane_keys[k].kind))
				return sk_lines_fail(lines, "the profile has no '%s.%s'", lane->name,
						     lane_keys[k].name);
		if (!lane->blocks)
			lane->blocks = lane->cores;
	}
	return true;
}

static bool read_profile(struct reader *reader)
{
	bool failed;

	memset(reader->profile, 0, sizeof(*reader->profile));
	while (sk_lines_next(&reader->lines, &failed))
		if (!read_line(reader))
			return false;
	return !failed && check_complete(reader);
}

/* ---- whole profiles ---- */

bool sk_profile_parse(const char *name, const char *text, struct sk_profile *profile, char *error, size_t error_size)
{
	struct reader reader = {.profile = profile};

	if (!sk_lines_open_text(&reader.lines, name, text, error, error_size))
		return false;

	bool good = read_profile(&reader);

	sk_lines_close(&reader.lines);
	return good;
}

bool sk_profile_load(const char *name_or_path, struct sk_profile *profile, char *error, size_t error_size)
{
	struct reader reader = {.profile = profile};

	for (size_t i = 0; i < SK_PROFILE_BUILTINS; i++)
		if (!strcmp(name_or_path, sk_profile_builtins[i]))
			return sk_profile_parse(name_or_path, builtin_texts[i], profile, error, error_size);
	if (!sk_lines_open(&reader.lines, name_or_path, error, error_size))
		return false;

	bool good = read_profile(&reader);

	sk_lines_close(&reader.lines);
	return good;
}

uint32_t sk_profile_lane(const struct sk_profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->lane_count; i++)
		if (!strcmp(profile->lanes[i].name, name))
			return i;
	return SK_NO_INDEX;
}
