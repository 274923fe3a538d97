/* The text of flags: words "--key=value" separated by spaces, as MindSpore reads MS_DEV_GRAPH_KERNEL_FLAGS. Malformed
 * words and values are not errors: they are ignored with a warning, and the default applies. If a key is repeated, the
 * first one counts. */
#include "graph/manager/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"

#define HINT                                                                                                           \
	"Valid flag format is \"--key=value\", flags are separated by spaces(e.g. \"--key1=value1 --key2=value2\"). "  \
	"bool flag's value can be implicit, the \"--key\" means \"--key=true\""

enum { DEFAULT_LEVEL = 2, MAXIMUM_LEVEL = 3 };

const char *const sk_fusion_targets[] = {
	[SK_TARGET_HOST] = "host", [SK_TARGET_ASCEND] = "ascend", [SK_TARGET_CPU] = "cpu", [SK_TARGET_GPU] = "gpu"};

/* A word of the text. */
struct flag {
	const char *key, *value; /* "": no value */
	struct sk_place place;
	bool used; /* the key is known */
	bool refused; /* the value is not valid */
};

struct reader {
	struct sk_arena *arena;
	struct sk_diag *diag;
	SK_ARRAY(struct flag) flags;
	struct sk_map keys; /* to index in flags */
};

/* ---- words ---- */

static struct flag *find_flag(struct reader *reader, const char *key)
{
	uint32_t index = sk_map_find(&reader->keys, key, strlen(key));

	return index != SK_NONE ? &reader->flags.items[index] : NULL;
}

/* An "=" at the start belongs to the key. */
static void add_word(struct reader *reader, const char *word, struct sk_place place)
{
	const char *key = word + 2, *equals = strlen(word) > 2 ? strchr(key + 1, '=') : NULL;
	struct flag flag = {.key = key, .value = "", .place = place};

	if (strncmp(word, "--", 2) || !*key || (equals && (!equals[1] || strchr(equals + 1, '=')))) {
		sk_warning(reader->diag, place, "the flag '%s' is invalid. " HINT, word);
		return;
	}
	if (equals) {
		flag.key = sk_arena_copy(reader->arena, key, (size_t)(equals - key));
		flag.value = equals + 1;
	}

	uint32_t fresh = (uint32_t)reader->flags.count;

	if (sk_map_insert(&reader->keys, flag.key, strlen(flag.key), fresh) == fresh)
		sk_array_push(reader->arena, &reader->flags, flag);
	else
		sk_warning(reader->diag, place, "the flag '%s' is repeated", flag.key);
}

static void split_words(struct reader *reader, const struct sk_flags_text *text)
{
	const char *word = text->text + strspn(text->text, " ");

	while (*word) {
		size_t length = strcspn(word, " ");
		struct sk_place place = text->place;

		if (text->in_line)
			place.column += (uint32_t)(word - text->text);
		add_word(reader, sk_arena_copy(reader->arena, word, length), place);
		word += length + strspn(word + length, " ");
	}
}

/* ---- values ---- */

/* Return the flag of that name, and mark it as known; NULL if it is absent. */
static struct flag *take_flag(struct reader *reader, const char *key)
{
	struct flag *flag = find_flag(reader, key);

	if (flag)
		flag->used = true;
	return flag;
}

static void refuse_value(struct reader *reader, struct flag *flag)
{
	flag->refused = true;
	sk_warning(reader->diag, flag->place, "the flag --%s=%s is invalid. " HINT, flag->key, flag->value);
}

static bool is_one_of(const char *text, const char *const words[4])
{
	for (int i = 0; i < 4; i++)
		if (!strcmp(text, words[i]))
			return true;
	return false;
}

static bool read_bool(struct reader *reader, const char *key, bool otherwise)
{
	static const char *const yes[4] = {"true", "True", "on", "1"}, *const no[4] = {"false", "False", "off", "0"};
	struct flag *flag = take_flag(reader, key);

	if (!flag)
		return otherwise;
	if (!*flag->value || is_one_of(flag->value, yes))
		return true;
	if (is_one_of(flag->value, no))
		return false;
	refuse_value(reader, flag);
	return otherwise;
}

/* A flag with a default of 0 or more accepts no negative number. */
static int64_t read_integer(struct reader *reader, const char *key, int64_t otherwise)
{
	struct flag *flag = take_flag(reader, key);
	const char *digits = flag ? flag->value + strspn(flag->value, "+-") : "";
	char *end;
	int64_t value;

	if (!flag)
		return otherwise;
	errno = 0;
	value = strtoll(flag->value, &end, 10);
	if (*digits >= '0' && *digits <= '9' && !*end && !errno && (value >= 0 || otherwise < 0))
		return value;
	refuse_value(reader, flag);
	return otherwise;
}

static const char *read_string(struct reader *reader, const char *key, const char *otherwise)
{
	struct flag *flag = take_flag(reader, key);

	if (flag && *flag->value)
		return flag->value;
	if (flag)
		refuse_value(reader, flag);
	return otherwise;
}

static sk_texts read_list(struct reader *reader, const char *key)
{
	struct flag *flag = take_flag(reader, key);
	const char *item = flag ? flag->value + strspn(flag->value, ",") : "";
	sk_texts list = {0};

	while (*item) {
		size_t length = strcspn(item, ",");

		sk_array_push(reader->arena, &list, sk_arena_copy(reader->arena, item, length));
		item += length + strspn(item + length, ",");
	}
	if (flag && !list.count)
		refuse_value(reader, flag);
	return list;
}

static unsigned read_level(struct reader *reader)
{
	int64_t level = read_integer(reader, "opt_level", DEFAULT_LEVEL);

	if (level <= MAXIMUM_LEVEL)
		return (unsigned)level;
	sk_warning(reader->diag, find_flag(reader, "opt_level")->place,
		   "the flag --opt_level=%s is above the highest level; it is %d",
		   find_flag(reader, "opt_level")->value, MAXIMUM_LEVEL);
	return MAXIMUM_LEVEL;
}

/* ---- unknown flags ---- */

static void warn_of_unknown(struct reader *reader)
{
	static const char *const names[] = {
		"opt_level",
#define BOOL(name, otherwise)	 #name,
#define INTEGER(name, otherwise) #name,
#define STRING(name, otherwise)	 #name,
#define LIST(name)		 #name,
#include "graph/manager/flags.def"
#undef BOOL
#undef INTEGER
#undef STRING
#undef LIST
	};
	bool unknown = false;

	for (size_t i = 0; i < reader->flags.count; i++) {
		const struct flag *flag = &reader->flags.items[i];

		if (flag->used)
			continue;
		unknown = true;
		sk_warning(reader->diag, flag->place, "unknown flag: %s%s", flag->key,
			   sk_did_you_mean(reader->arena, flag->key, names, sizeof(names) / sizeof(names[0])));
	}
	if (unknown)
		sk_note(reader->diag, "the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)");
}

static const struct {
	const char *key, *reason;
} without[] = {
#define NO_EFFECT(name, reason) {#name, reason},
#include "graph/manager/no-effect.def"
#undef NO_EFFECT
};

enum { WITHOUT = sizeof(without) / sizeof(without[0]) };

static void warn_of_no_effect(struct reader *reader)
{
	for (size_t i = 0; i < WITHOUT; i++) {
		const struct flag *flag = find_flag(reader, without[i].key);

		if (flag)
			sk_warning(reader->diag, flag->place, "the flag --%s has no effect: %s", flag->key,
				   without[i].reason);
	}
}

/* True if the flag affects how the graph is fused. Two flags only help debugging. A disabled pass does not
 * count either, so that disabling passes one by one finds the pass that makes a result wrong. */
static bool affects_fusion(const struct flag *flag)
{
	static const char *const others[] = {"dump_as_text", "enable_debug_mode", "disable_pass"};
	bool affects = flag->used && !flag->refused;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		affects &= !!strcmp(flag->key, others[i]);
	for (size_t i = 0; i < WITHOUT; i++)
		affects &= !!strcmp(flag->key, without[i].key);
	return affects;
}

/* The level is read first, since other defaults depend on it. */
void sk_fusion_flags_read(struct sk_arena *arena, struct sk_diag *diag, struct sk_flags_text text,
			  enum sk_fusion_target target, struct sk_fusion_flags *flags)
{
	struct reader reader = {.arena = arena, .diag = diag};
	bool ascend = target == SK_TARGET_ASCEND;
	unsigned level;

	sk_map_init(&reader.keys, arena);
	split_words(&reader, &text);
	level = read_level(&reader);
	*flags = (struct sk_fusion_flags){.opt_level = level, .target = target, .text = text.text, .place = text.place};
#define BOOL(name, otherwise)	 flags->name = read_bool(&reader, #name, otherwise);
#define INTEGER(name, otherwise) flags->name = read_integer(&reader, #name, otherwise);
#define STRING(name, otherwise)	 flags->name = read_string(&reader, #name, otherwise);
#define LIST(name)		 flags->name = read_list(&reader, #name);
#include "graph/manager/flags.def"
#undef BOOL
#undef INTEGER
#undef STRING
#undef LIST
	for (size_t i = 0; i < reader.flags.count; i++)
		flags->given |= affects_fusion(&reader.flags.items[i]);
	warn_of_unknown(&reader);
	warn_of_no_effect(&reader);
}

/* ---- all flags as a text ---- */

static void put_list(struct sk_json *json, const char *key, const sk_texts *list)
{
	sk_json_begin_list(json, key, SK_JSON_LINE);
	for (size_t i = 0; i < list->count; i++)
		sk_json_put_string(json, NULL, list->items[i]);
	sk_json_end(json);
}

const char *sk_fusion_flags_json(struct sk_arena *arena, const struct sk_fusion_flags *flags)
{
	struct sk_text text;

	sk_text_open(&text);

	struct sk_json json = {.stream = text.stream};

	sk_json_begin_object(&json, NULL, SK_JSON_LINE);
	sk_json_put_number(&json, "opt_level", flags->opt_level);
#define BOOL(name, otherwise)	 sk_json_put_bool(&json, #name, flags->name);
#define INTEGER(name, otherwise) fprintf(sk_json_put_value(&json, #name), "%" PRId64, flags->name);
#define STRING(name, otherwise)	 sk_json_put_string(&json, #name, flags->name);
#define LIST(name)		 put_list(&json, #name, &flags->name);
#include "graph/manager/flags.def"
#undef BOOL
#undef INTEGER
#undef STRING
#undef LIST
	sk_json_end(&json);
	sk_text_close(arena, &text);
	return text.bytes;
}
