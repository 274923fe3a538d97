/* The parser of scope options, driven by a table; see options.h. */
#include "options.h"

#include <string.h>

enum { MAX_VALUES = 3 };

static void set_stream_fusion(struct sk_scope *scope, size_t value)
{
	scope->stream_fusion = value == 1;
}

static void set_strict_check(struct sk_scope *scope, size_t value)
{
	scope->strict = value == 0 ? SK_STRICT_BYPASS : SK_STRICT_ABORT;
}

static void set_early_start(struct sk_scope *scope, size_t value)
{
	scope->starts_late = value != 1;
}

static void set_feed_sync_all(struct sk_scope *scope, size_t value)
{
	scope->feeds_sync_all = value == 1;
}

static const struct option {
	const char *name;
	const char *values[MAX_VALUES + 1]; /* ended by NULL */
	void (*set)(struct sk_scope *scope, size_t value); /* the value's number */
} options[] = {
	{"stream-fusion", {"0", "1"}, set_stream_fusion},
	{"early-start", {"0", "1", "2"}, set_early_start},
	{"feed-sync-all", {"0", "1"}, set_feed_sync_all},
	{"strict-scope-check", {"bypass", "abort"}, set_strict_check},
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

struct token {
	const char *start;
	size_t length;
};

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

/* Cuts the token at the first of that sign; what is behind it is the rest, whose start is NULL if there is none. */
static struct token cut(struct token token, char sign, struct token *rest)
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

static const struct option *find_option(struct sk_diag *diag, struct sk_place place, const char *name)
{
	const char *names[OPTIONS];

	for (size_t i = 0; i < OPTIONS; i++) {
		names[i] = options[i].name;
		if (!strcmp(name, names[i]))
			return &options[i];
	}
	if (!*name)
		sk_error(diag, place, "a scope option has no name; write name=value:name=value");
	else
		sk_error(diag, place, "unknown scope option '%s'%s", name,
			 sk_did_you_mean(diag->arena, name, names, OPTIONS));
	return NULL;
}

/* "0, 1 or 2" */
static const char *values_text(struct sk_diag *diag, const struct option *option)
{
	const char *text = option->values[0];

	for (size_t i = 1; option->values[i]; i++)
		text = sk_arena_print(diag->arena, "%s%s%s", text, option->values[i + 1] ? ", " : " or ",
				      option->values[i]);
	return text;
}

static bool parse_option(struct sk_diag *diag, struct sk_place place, struct token token, struct sk_scope *scope,
			 bool *seen)
{
	struct token rest;
	const char *name = text_of(diag, cut(token, '=', &rest)), *value = text_of(diag, trim(rest));
	const struct option *option = find_option(diag, place, name);

	if (!option)
		return false;

	bool again = seen[option - options];

	seen[option - options] = true;
	if (again) {
		sk_error(diag, place, "scope option '%s' is given twice", name);
		return false;
	}
	if (!*value) {
		sk_error(diag, place, "scope option '%s' has no value; write %s=%s", name, name, option->values[1]);
		return false;
	}
	for (size_t i = 0; option->values[i]; i++) {
		if (strcmp(value, option->values[i]) != 0)
			continue;
		option->set(scope, i);
		return true;
	}
	sk_error(diag, place, "scope option '%s' must be %s, not '%s'", name, values_text(diag, option), value);
	return false;
}

bool sk_scope_options_parse(struct sk_diag *diag, struct sk_place place, bool in_line, const char *text,
			    struct sk_scope *scope)
{
	struct token rest = {text, strlen(text)};
	bool seen[OPTIONS] = {false}, valid = true;

	if (!*text)
		return true;
	while (rest.start && diag->errors <= 1000) {
		struct token option = cut(rest, ':', &rest);
		struct sk_place at = place;

		if (in_line)
			at.column += (uint32_t)(option.start - text);
		valid &= parse_option(diag, at, option, scope, seen);
	}
	return valid;
}

/* ---- options from outside of the manifest ---- */

/* The scopes that the name means: from *first, as many as are returned. */
static size_t find_scopes(struct sk_model *model, struct sk_place place, const char *name, size_t *first)
{
	*first = 0;
	if (!strcmp(name, "*"))
		return model->scopes.count;
	*first = sk_map_find(&model->scope_names, name, strlen(name));
	if (*first != SK_NONE)
		return 1;

	const char **names = SK_NEW_ARRAY(model->arena, const char *, model->scopes.count);

	for (size_t i = 0; i < model->scopes.count; i++)
		names[i] = model->scopes.items[i].name;
	sk_error(model->diag, place, "unknown scope '%s'%s", name,
		 sk_did_you_mean(model->arena, name, names, model->scopes.count));
	return 0;
}

static void override(struct sk_model *model, struct sk_place place, struct token entry)
{
	struct token rest;
	const char *start = entry.start, *name = text_of(model->diag, cut(entry, '=', &rest));
	const char *text = text_of(model->diag, rest);
	unsigned errors = model->diag->errors;
	size_t first, count;

	if (!*name || !*text) {
		sk_error(model->diag, place, "'%s' is not SCOPE=OPTIONS", text_of(model->diag, entry));
		return;
	}
	count = find_scopes(model, place, name, &first);
	place.column += (uint32_t)(rest.start - start);
	for (size_t i = 0; i < count && model->diag->errors == errors; i++)
		sk_scope_options_parse(model->diag, place, true, text, &model->scopes.items[first + i]);
}

bool sk_scope_options_override(struct sk_model *model, const char *source, const char *text)
{
	struct token rest = {text, strlen(text)};
	unsigned errors = model->diag->errors;

	while (rest.start && model->diag->errors <= errors + 1000) {
		struct token entry = cut(rest, ';', &rest);
		struct sk_place place = {.file = source, .line = 1, .column = (uint32_t)(entry.start - text) + 1};

		if (entry.length)
			override(model, place, entry);
	}
	if (model->diag->errors != errors)
		sk_note(model->diag, "in '%s'", text);
	return model->diag->errors == errors;
}
