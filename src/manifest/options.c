/* The parser of scope options, driven by a table; see manifest.h. */
#include "src/manifest/manifest.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/profile/profile.h"
#include "format/skplan.h"
#include "src/model/model.h"

struct token {
	const char *start;
	size_t length;
};

/* The text that is read, and the scope that gets the values. */
struct reader {
	struct sk_diag *diag;
	struct sk_scope *scope;
	const char *text; /* the whole text */
	struct sk_place start; /* of the text */
	bool in_line; /* its characters are in the file from that place on */
	struct sk_place place; /* of the current option */
};

struct option {
	const char *name;
	const char *example; /* a value, for messages */
	/* Store the value. Return false after an error. */
	bool (*read)(const struct reader *reader, const struct option *option, struct token value);
	size_t offset; /* in struct sk_scope: the field that `read` writes */
	const char *const *keywords; /* for read_keyword; ended by NULL */
	uint32_t least, most; /* for read_number */
	size_t place; /* in struct sk_scope: the field for the place of the option; 0: none */
};

/* ---- tokens ---- */

static struct token trim(struct token token)
{
	while (token.length && (*token.start == ' ' || *token.start == '\t')) {
		token.start++;
		token.length--;
	}
	while (token.length && (token.start[token.length - 1] == ' ' || token.start[token.length - 1] == '\t'))
		token.length--;
	return token;
}

/* Scripts written for the reference system may pass the quotes as part of the text. */
static struct token unquote(struct token token)
{
	struct token inside = trim(token);

	if (inside.length < 2 || inside.start[0] != '"' || inside.start[inside.length - 1] != '"')
		return token;
	inside.start++;
	inside.length -= 2;
	return inside;
}

/* Cut the token at the first `sign`. The rest is the text after it; its start is NULL if the sign is absent. */
static struct token cut_token(struct token token, char sign, struct token *rest)
{
	const char *found = memchr(token.start, sign, token.length);

	*rest = (struct token){NULL, 0};
	if (found) {
		rest->start = found + 1;
		rest->length = token.length - (size_t)(found + 1 - token.start);
		token.length = (size_t)(found - token.start);
	}
	return trim(token);
}

static const char *text_of(struct sk_diag *diag, struct token token)
{
	return token.start ? sk_arena_copy(diag->arena, token.start, token.length) : "";
}

static struct sk_place place_at(const struct reader *reader, struct token token)
{
	struct sk_place place = reader->start;

	if (reader->in_line)
		place.column += (uint32_t)(token.start - reader->text);
	return place;
}

/* ---- values ---- */

static void *option_field(const struct reader *reader, const struct option *option)
{
	return (char *)reader->scope + option->offset;
}

/* Return a text such as "0, 1 or 2". */
static const char *join_words(struct sk_diag *diag, const char *const *words)
{
	const char *text = *words;

	for (words++; *words; words++)
		text = sk_arena_print(diag->arena, "%s%s%s", text, words[1] ? ", " : " or ", *words);
	return text;
}

/* Return the number of the keyword, or SK_NONE after an error. */
static uint32_t find_keyword(const struct reader *reader, const struct option *option, const char *const *keywords,
			     struct token value)
{
	const char *text = text_of(reader->diag, value);

	for (uint32_t i = 0; keywords[i]; i++)
		if (!strcmp(text, keywords[i]))
			return i;
	sk_error(reader->diag, reader->place, "scope option '%s' must be %s, not '%s'", option->name,
		 join_words(reader->diag, keywords), text);
	return SK_NONE;
}

static bool read_switch(const struct reader *reader, const struct option *option, struct token value)
{
	static const char *const states[] = {"0", "1", NULL};
	uint32_t found = find_keyword(reader, option, states, value);

	*(bool *)option_field(reader, option) = found == 1;
	return found != SK_NONE;
}

/* Read a switch that is on by default into a field that is true if it is off. */
static bool read_off(const struct reader *reader, const struct option *option, struct token value)
{
	bool read = read_switch(reader, option, value), *off = option_field(reader, option);

	*off = !*off;
	return read;
}

static bool read_keyword(const struct reader *reader, const struct option *option, struct token value)
{
	uint32_t found = find_keyword(reader, option, option->keywords, value);

	*(uint32_t *)option_field(reader, option) = found;
	return found != SK_NONE;
}

/* Read a word, or its number in the interface for captured graphs, which begins with the greatest preload. */
static bool read_preload(const struct reader *reader, const struct option *option, struct token value)
{
	bool number = value.length == 1 && *value.start >= '0' && *value.start <= '2';

	if (!number)
		return read_keyword(reader, option, value);
	*(uint32_t *)option_field(reader, option) = (uint32_t)('2' - *value.start);
	return true;
}

static bool read_strict(const struct reader *reader, const struct option *option, struct token value)
{
	static const char *const checks[] = {"bypass", "abort", NULL};
	uint32_t found = find_keyword(reader, option, checks, value);

	reader->scope->strict = found == 0 ? SK_STRICT_BYPASS : SK_STRICT_ABORT;
	return found != SK_NONE;
}

static bool read_early_start(const struct reader *reader, const struct option *option, struct token value)
{
	static const char *const ways[] = {"0", "1", "2", NULL};
	uint32_t found = find_keyword(reader, option, ways, value);

	reader->scope->starts_late = found != 1;
	return found != SK_NONE;
}

/* Return the value of decimal digits without leading zeros; SK_NONE if the text is something else or has more than nine
 * digits. */
static uint32_t number_of_token(struct token value)
{
	uint32_t number = 0;

	if (!value.length || value.length > 9 || (value.length > 1 && *value.start == '0'))
		return SK_NONE;
	for (size_t i = 0; i < value.length; i++) {
		if (value.start[i] < '0' || value.start[i] > '9')
			return SK_NONE;
		number = number * 10 + (uint32_t)(value.start[i] - '0');
	}
	return number;
}

static bool read_number(const struct reader *reader, const struct option *option, struct token value)
{
	uint32_t number = number_of_token(value);

	if (number == SK_NONE || number < option->least || number > option->most) {
		sk_error(reader->diag, reader->place, "scope option '%s' must be a number from %u to %u, not '%s'",
			 option->name, option->least, option->most, text_of(reader->diag, value));
		return false;
	}
	*(uint32_t *)option_field(reader, option) = number;
	return true;
}

static bool read_alignment(const struct reader *reader, const struct option *option, struct token value)
{
	uint32_t number = number_of_token(value);

	if (number == SK_NONE || number == 1 || number > option->most || (number & (number - 1))) {
		sk_error(reader->diag, reader->place,
			 "scope option '%s' must be 0 or a power of two from 2 to %u, not '%s'", option->name,
			 option->most, text_of(reader->diag, value));
		return false;
	}
	*(uint32_t *)option_field(reader, option) = number;
	return true;
}

/* Read names separated by commas. */
static bool read_names(const struct reader *reader, const struct option *option, struct token value)
{
	sk_names *names = option_field(reader, option);
	struct token rest = value;
	unsigned errors = reader->diag->errors;
	struct sk_map seen;

	*names = (sk_names){0};
	sk_map_init(&seen, reader->diag->arena);
	while (rest.start && reader->diag->errors <= errors + 1000) {
		struct token name = cut_token(rest, ',', &rest);
		const char *text = text_of(reader->diag, name);
		uint32_t number = (uint32_t)names->count;

		if (!name.length)
			sk_error(reader->diag, place_at(reader, name),
				 "scope option '%s' has an empty name in its list", option->name);
		else if (sk_map_insert(&seen, text, name.length, number) != number)
			sk_error(reader->diag, place_at(reader, name), "scope option '%s' names '%s' twice",
				 option->name, text);
		else
			sk_array_push(reader->diag->arena, names, (struct sk_name){text, place_at(reader, name)});
	}
	return reader->diag->errors == errors;
}

/* Nothing is compiled when linking, so the only compiler option that applies is the one about kept information. */
static bool read_compile_options(const struct reader *reader, const struct option *option, struct token value)
{
	struct token rest = value;
	bool valid = true;

	*(bool *)option_field(reader, option) = false;
	while (rest.start) {
		struct token flag = cut_token(rest, ',', &rest);
		const char *text = text_of(reader->diag, flag);

		if (!strcmp(text, "-g")) {
			*(bool *)option_field(reader, option) = true;
			continue;
		}
		sk_error(reader->diag, place_at(reader, flag),
			 "scope option '%s' cannot be '%s': kernels are linked as they have been compiled; "
			 "only -g, which keeps their debug information, is allowed",
			 option->name, text);
		valid = false;
	}
	return valid;
}

/* ---- the table ---- */

/* In the order of enum sk_preload. */
static const char *const preloads[] = {"none", "per-func", "max", NULL};

#define AT(field) offsetof(struct sk_scope, field)
static const struct option options[] = {
	{"stream-fusion", "1", read_switch, AT(stream_fusion), NULL, 0, 0, 0},
	{"strict-scope-check", "abort", read_strict, 0, NULL, 0, 0, 0},
	{"early-start", "0", read_early_start, 0, NULL, 0, 0, 0},
	{"feed-sync-all", "1", read_switch, AT(feeds_sync_all), NULL, 0, 0, 0},
	{"tile-fusion", "0", read_off, AT(launch.no_tile_fusion), NULL, 0, 0, 0},
	{"parallel-fusion", "0", read_off, AT(launch.no_parallel_fusion), NULL, 0, 0, 0},
	{"exchange-fusion", "0", read_off, AT(no_exchange_fusion), NULL, 0, 0, 0},
	{"stream-order", "1", read_switch, AT(launch.stream_order), NULL, 0, 0, 0},
	{"tile-bytes", "16384", read_number, AT(launch.tile_bytes), NULL, 0, 1u << 20, 0},
	{"profiling", "1", read_switch, AT(launch.profiling), NULL, 0, 0, 0},
	{"func-align", "512", read_alignment, AT(launch.func_align), NULL, 0, SK_MAX_FUNC_ALIGN, 0},
	{"preload-code", "per-func", read_preload, AT(launch.preload), preloads, 0, 0, 0},
	{"split-mode", "4", read_number, AT(launch.split_mode), NULL, 1, SK_MAX_COPIES, AT(launch.split_place)},
	{"debug-sync-all", "1", read_switch, AT(launch.sync_all), NULL, 0, 0, 0},
	{"debug-dcci-all", "1", read_switch, AT(launch.flush_all), NULL, 0, 0, 0},
	{"dcci-before-kernel-start", "NAME,NAME", read_names, AT(launch.flush_before), NULL, 0, 0, 0},
	{"dcci-after-kernel-end", "NAME,NAME", read_names, AT(launch.flush_after), NULL, 0, 0, 0},
	{"dcci-disable-on-kernel", "NAME,NAME", read_names, AT(launch.flush_never), NULL, 0, 0, 0},
	{"debug-aic-num", "24", read_number, AT(launch.cube_cores), NULL, 0, SK_PROFILE_MAX_CORES,
	 AT(launch.cube_place)},
	{"debug-aiv-num", "48", read_number, AT(launch.vector_cores), NULL, 0, SK_PROFILE_MAX_CORES,
	 AT(launch.vector_place)},
	{"compile-options", "-g", read_compile_options, AT(launch.debug), NULL, 0, 0, AT(launch.debug_place)},
};
#undef AT
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

/* The reference system also accepts stream_fusion for stream-fusion. */
static bool is_name(const char *written, const char *name)
{
	while (*name && (*written == *name || (*written == '_' && *name == '-'))) {
		written++;
		name++;
	}
	return !*written && !*name;
}

bool sk_scope_option_is_known(const char *name)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (is_name(name, options[i].name))
			return true;
	return false;
}

static const struct option *find_option(struct sk_diag *diag, struct sk_place place, const char *name)
{
	const char *names[OPTIONS];

	for (size_t i = 0; i < OPTIONS; i++) {
		names[i] = options[i].name;
		if (is_name(name, names[i]))
			return &options[i];
	}
	if (!*name)
		sk_error(diag, place, "a scope option has no name; write name=value:name=value");
	else
		sk_error(diag, place, "unknown scope option '%s'%s", name,
			 sk_did_you_mean(diag->arena, name, names, OPTIONS));
	return NULL;
}

/* Options of the reference system's interface for captured graphs (aclskOptionType) that mean nothing here. */
static const struct {
	const char *name, *reason;
} idle_options[] = {
	{"aggressive-opt-strategies", "events between tasks of a scope become awaits, and end no superkernel"},
	{"constant-codegen", "the dispatcher of a superkernel is always code of its own"},
	{"debug-cross-core-sync-check", "each link proves that awaits suffice; skrun --check-races finds kernels that "
					"access other bytes than they declare"},
	{"debug-extend", "it is reserved for extensions"},
	{"debug-extend-option", "it is reserved for extensions"},
	{"debug-op-exec-trace", "profiling=1 records tasks, and skrun names the task that is stuck or has failed"},
	{"debug-per-op-max-core-num",
	 "tasks have all cores of their lane; tasks that should be launched one by one need no scope"},
	{"kernel-map", "sklink finds kernels by their signatures"},
	{"opt-extend", "it is reserved for extensions"},
	{"opt-extend-option", "it is reserved for extensions"},
	{"ubuf-lock-ignore-kernel", "cores have no buffers with locks"},
};

/* Warn of such an option, unless it is off; false: it is another one. */
static bool tell_idle(const struct reader *reader, const char *name, struct token value)
{
	size_t i = 0;

	while (i < sizeof(idle_options) / sizeof(idle_options[0]) && !is_name(name, idle_options[i].name))
		i++;
	if (i == sizeof(idle_options) / sizeof(idle_options[0]))
		return false;
	if (value.length != 1 || *value.start != '0')
		sk_warning(reader->diag, reader->place, "scope option '%s' has no effect: %s", name,
			   idle_options[i].reason);
	return true;
}

/* Take `auto-op-parallel`, the reverse of `stream-order`; false: it is another option, or no switch. */
static bool take_order(const struct reader *reader, const char *name, struct token value)
{
	if (!is_name(name, "auto-op-parallel") || value.length != 1 || (*value.start != '0' && *value.start != '1'))
		return false;
	reader->scope->launch.stream_order = *value.start == '0';
	return true;
}

static bool parse_option(struct reader *reader, struct token token, bool *seen)
{
	struct sk_diag *diag = reader->diag;
	struct sk_place place = reader->place = place_at(reader, token);
	struct token rest;
	const char *name = text_of(diag, cut_token(token, '=', &rest));
	struct token value = rest.start ? trim(rest) : (struct token){NULL, 0};
	const struct option *option;

	if (value.length && (take_order(reader, name, value) || tell_idle(reader, name, value)))
		return true;
	option = find_option(diag, place, name);
	if (!option)
		return false;

	bool again = seen[option - options];

	seen[option - options] = true;
	if (again) {
		sk_error(diag, place, "scope option '%s' is given twice", name);
		return false;
	}
	if (!value.length) {
		sk_error(diag, place, "scope option '%s' has no value; write %s=%s", name, name, option->example);
		return false;
	}
	if (option->place)
		*(struct sk_place *)((char *)reader->scope + option->place) = place;
	return option->read(reader, option, value);
}

bool sk_scope_options_parse(struct sk_diag *diag, struct sk_place place, bool in_line, const char *text,
			    struct sk_scope *scope)
{
	struct reader reader = {diag, scope, text, place, in_line, place};
	struct token rest = trim(unquote((struct token){text, strlen(text)}));
	bool seen[OPTIONS] = {false}, valid = true;

	if (!rest.length)
		return true;
	while (rest.start && diag->errors <= 1000)
		valid &= parse_option(&reader, cut_token(rest, ':', &rest), seen);
	return valid;
}

/* ---- options from outside the manifest ---- */

/* Return whether the name refers to the scope: by its own name, or by the name that it has in each of several
 * networks. */
static bool is_meant(const struct sk_scope *scope, const char *name)
{
	return !strcmp(name, "*") || !strcmp(name, scope->name) || (scope->base && !strcmp(name, scope->base));
}

/* Return true for a text such as "profiling=1", unless a scope has this name. */
static bool is_option_alone(const struct sk_model *model, const char *name)
{
	return sk_scope_option_is_known(name) && sk_map_find(&model->scope_names, name, strlen(name)) == SK_NONE;
}

static void override(struct sk_model *model, struct sk_place place, struct token entry)
{
	struct token rest;
	const char *start = entry.start, *name = text_of(model->diag, cut_token(entry, '=', &rest));
	const char *text = text_of(model->diag, rest);
	unsigned errors = model->diag->errors;
	bool found = false;

	if (!*name || !*text || is_option_alone(model, name)) {
		const char *all = text_of(model->diag, entry);
		const char *hint = *text && sk_scope_option_is_known(name)
					   ? sk_arena_print(model->arena,
							    ": the scope is missing; '*=%s' applies to all scopes", all)
					   : "";

		sk_error(model->diag, place, "'%s' is not SCOPE=OPTIONS%s", all, hint);
		return;
	}
	struct sk_place at = place;
	struct sk_scope unused = {.name = name};

	at.column += (uint32_t)(rest.start - start);
	for (size_t i = 0; i < model->scopes.count && model->diag->errors == errors; i++)
		if (is_meant(&model->scopes.items[i], name)) {
			found = true;
			sk_scope_options_parse(model->diag, at, true, text, &model->scopes.items[i]);
		}
	if (found || !strcmp(name, "*"))
		return;
	if (sk_map_find(&model->idle_scopes, name, strlen(name)) != SK_NONE) {
		if (sk_scope_options_parse(model->diag, at, true, text, &unused))
			sk_warning(model->diag, place,
				   "no task is in scope '%s': its nodes are constants, or nothing is launched for them",
				   name);
	} else {
		sk_error(model->diag, place, "unknown scope '%s'%s", name,
			 SK_SUGGEST_NAME(model, name, model->scopes.items, model->scopes.count));
	}
}

bool sk_scope_options_override(struct sk_model *model, struct sk_place place, const char *text)
{
	struct token rest = {text, strlen(text)};
	unsigned errors = model->diag->errors;

	while (rest.start && model->diag->errors <= errors + 1000) {
		struct token entry = cut_token(rest, ';', &rest);
		struct sk_place at = place;

		at.column += (uint32_t)(entry.start - text);
		if (entry.length)
			override(model, at, entry);
	}
	if (model->diag->errors != errors)
		sk_note(model->diag, "in '%s'", text);
	return model->diag->errors == errors;
}

bool sk_scope_options_check(const struct sk_model *model, const char *strips, bool relocatable)
{
	struct sk_diag *diag = model->diag;
	unsigned errors = diag->errors;

	for (size_t i = 0; i < model->scopes.count; i++) {
		const struct sk_launch_options *launch = &model->scopes.items[i].launch;

		if (launch->debug && strips)
			sk_error(diag, launch->debug_place,
				 "scope option 'compile-options=-g' keeps the debug information, which %s removes",
				 strips);
		if (launch->split_mode > 1 && relocatable)
			sk_error(diag, launch->split_place,
				 "scope option 'split-mode' makes copies of code, which an object (-r) cannot have");
	}
	return diag->errors == errors;
}
