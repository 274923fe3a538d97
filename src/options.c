/* The parser of scope options, driven by a table; see options.h. */
#include "options.h"

#include <string.h>

enum option { OPTION_STREAM_FUSION, OPTIONS };

static const char *const option_names[OPTIONS] = {"stream-fusion"};

/* The values of an option by number; all options so far are switches. */
static const char *const option_values[OPTIONS][2] = {{"0", "1"}};

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

static void apply(struct sk_scope *scope, enum option option, size_t value)
{
	switch (option) {
	case OPTION_STREAM_FUSION:
		scope->stream_fusion = value == 1;
		break;
	case OPTIONS:
		break;
	}
}

static bool parse_option(struct sk_diag *diag, struct sk_place place, struct token token, struct sk_scope *scope,
			 bool *seen)
{
	const char *equals = memchr(token.start, '=', token.length);
	struct token key = {token.start, equals ? (size_t)(equals - token.start) : token.length};
	struct token rest = {equals ? equals + 1 : "", equals ? token.length - key.length - 1 : 0};
	struct token name_token = trim(key), value_token = trim(rest);
	const char *name = sk_arena_copy(diag->arena, name_token.start, name_token.length);
	const char *value = sk_arena_copy(diag->arena, value_token.start, value_token.length);
	enum option option = 0;

	while (option < OPTIONS && strcmp(name, option_names[option]) != 0)
		option++;
	if (!*name)
		sk_error(diag, place, "a scope option has no name; write name=value:name=value");
	else if (option == OPTIONS)
		sk_error(diag, place, "unknown scope option '%s'%s", name,
			 sk_did_you_mean(diag->arena, name, option_names, OPTIONS));
	else if (seen[option])
		sk_error(diag, place, "scope option '%s' is given twice", name);
	else if (!*value)
		sk_error(diag, place, "scope option '%s' has no value; write %s=%s", name, name,
			 option_values[option][1]);
	else if (strcmp(value, option_values[option][0]) != 0 && strcmp(value, option_values[option][1]) != 0)
		sk_error(diag, place, "scope option '%s' must be %s or %s, not '%s'", name, option_values[option][0],
			 option_values[option][1], value);
	else {
		seen[option] = true;
		apply(scope, option, strcmp(value, option_values[option][0]) != 0);
		return true;
	}
	if (option < OPTIONS)
		seen[option] = true;
	return false;
}

bool sk_scope_options_parse(struct sk_diag *diag, struct sk_place place, bool in_line, const char *text,
			    struct sk_scope *scope)
{
	bool seen[OPTIONS] = {false}, valid = true;

	scope->options = text;
	if (!*text)
		return true;
	for (const char *start = text;;) {
		const char *end = start + strcspn(start, ":");
		struct token token = trim((struct token){start, (size_t)(end - start)});
		struct sk_place at = place;

		if (in_line)
			at.column += (uint32_t)(token.start - text);
		valid &= parse_option(diag, at, token, scope, seen);
		if (!*end || diag->errors > 1000)
			return valid;
		start = end + 1;
	}
}
