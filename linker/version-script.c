/* Version scripts, in the form in which GNU ld and lld take them for shared objects. Input: a text. Output: patterns of
 * names, each global or local and with a version, and the versions to be defined.
 *
 *  { global: name; prefix_*; local: *; };                  exports without a version
 *  V1 { a; extern "C" { b; "c"; }; };  V2 { c; } V1;       versions; V2 inherits V1
 *
 * Comments are C's, and those that begin with #. Quoted names are not patterns. extern "C++" would need a demangler and
 * is refused. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

enum { MAXIMUM_VERSIONS = 16384 /* numbers have 15 bits, and imports need some */ };

struct token {
	const char *text; /* "": the end of the file */
	bool quoted;
	struct sk_place place;
};

struct script {
	struct sk_linker *linker;
	const char *path, *at;
	const char *line_start;
	uint32_t line;
	struct token token; /* the next one */
	struct sk_map versions; /* name -> index */
	struct sk_map names; /* exact ones -> index of their pattern */
	bool anonymous;
	bool failed; /* an error has been reported */
};

static struct sk_place place_of_script(const struct script *script)
{
	return (struct sk_place){
		.file = script->path, .line = script->line, .column = (uint32_t)(script->at - script->line_start) + 1};
}

static void refuse_script(struct script *script, struct sk_place place, const char *text)
{
	if (!script->failed)
		sk_error(script->linker->diag, place, "%s", text);
	script->failed = true;
}

/* ---- words ---- */

static void skip_character(struct script *script)
{
	if (*script->at++ != '\n')
		return;
	script->line++;
	script->line_start = script->at;
}

static void skip_comment(struct script *script)
{
	const char *end = strstr(script->at + 2, "*/");

	if (!end) {
		refuse_script(script, place_of_script(script), "a comment is not closed");
		end = script->at + strlen(script->at) - 2;
	}
	while (script->at < end + 2)
		skip_character(script);
}

static void skip_space(struct script *script)
{
	for (;;) {
		if (*script->at == '#')
			script->at += strcspn(script->at, "\n");
		else if (!strncmp(script->at, "/*", 2))
			skip_comment(script);
		else if (!*script->at || !strchr(" \t\r\n\f\v", *script->at))
			return;
		else
			skip_character(script);
	}
}

static void next_token(struct script *script)
{
	struct sk_arena *arena = script->linker->arena;
	size_t length;

	skip_space(script);
	script->token = (struct token){.text = "", .place = place_of_script(script)};
	if (*script->at == '"') {
		length = strcspn(script->at + 1, "\"\n");
		if (script->at[length + 1] != '"')
			refuse_script(script, script->token.place, "a quoted name is not closed");
		script->token.text = sk_arena_copy(arena, script->at + 1, length);
		script->token.quoted = true;
		script->at += length + 1 + (script->at[length + 1] == '"');
		return;
	}
	length = strcspn(script->at, " \t\r\n\f\v\"#/{};:");
	length += !length && *script->at; /* a separator is a word by itself */
	script->token.text = sk_arena_copy(arena, script->at, length);
	script->at += length;
}

static bool next_is(const struct script *script, const char *text)
{
	return !script->token.quoted && !strcmp(script->token.text, text);
}

static bool take_token(struct script *script, const char *text)
{
	if (script->failed || !next_is(script, text))
		return false;
	next_token(script);
	return true;
}

static bool is_word(const struct token *token)
{
	return token->quoted || (*token->text && !strchr("{};:", *token->text));
}

/* Return whether a word is next. After an error there is none. */
static bool next_is_word(const struct script *script)
{
	return !script->failed && is_word(&script->token);
}

static void expect(struct script *script, const char *text)
{
	const char *found = *script->token.text || script->token.quoted ? script->token.text : "the end of the file";

	if (!take_token(script, text))
		refuse_script(script, script->token.place,
			      sk_arena_print(script->linker->arena, "expected '%s', but found %s", text, found));
}

/* ---- patterns ---- */

static void add_pattern(struct script *script, const struct token *token, uint16_t version, bool global)
{
	struct sk_linker *linker = script->linker;
	struct sk_name_pattern pattern = {
		.text = token->text, .place = token->place, .version = version, .global = global};
	uint32_t fresh = (uint32_t)linker->patterns.count, number;

	if (!*token->text) {
		refuse_script(script, token->place, "a name is empty");
		return;
	}
	pattern.exact = token->quoted || !strpbrk(token->text, "*?[\\");
	sk_array_push(linker->arena, &linker->patterns, pattern);
	if (!pattern.exact)
		return;
	if (global)
		sk_symbol_want(linker, sk_symbol_intern(linker, token->text, strlen(token->text)), NULL);
	number = sk_map_insert(&script->names, token->text, strlen(token->text), fresh);
	if (number != fresh && linker->patterns.items[number].version == version)
		refuse_script(script, token->place,
			      sk_arena_print(linker->arena, "'%s' is named twice; first in line %u", token->text,
					     linker->patterns.items[number].place.line));
}

static void read_pattern(struct script *script, const struct token *word, uint16_t version, bool global);

/* extern "C" { … } */
static void read_language(struct script *script, uint16_t version, bool global)
{
	struct token language = script->token;

	next_token(script);
	if (strcmp(language.text, "C") != 0)
		refuse_script(script, language.place,
			      !strcmp(language.text, "C++") ? "extern \"C++\" is not supported; give the mangled names"
							    : "extern is only known for \"C\"");
	expect(script, "{");
	while (next_is_word(script)) {
		struct token word = script->token;

		next_token(script);
		if (!word.quoted && !strcmp(word.text, "extern") && script->token.quoted)
			refuse_script(script, word.place, "extern inside extern");
		read_pattern(script, &word, version, global);
	}
	expect(script, "}");
}

/* Read a name or a block of them, after its first word. The last semicolon may be missing. */
static void read_pattern(struct script *script, const struct token *word, uint16_t version, bool global)
{
	if (!word->quoted && !strcmp(word->text, "extern") && script->token.quoted)
		read_language(script, version, global);
	else
		add_pattern(script, word, version, global);
	if (!next_is(script, "}"))
		expect(script, ";");
}

static void read_body(struct script *script, uint16_t version)
{
	bool global = true;

	while (next_is_word(script)) {
		struct token word = script->token;
		bool is_global = next_is(script, "global"), is_local = next_is(script, "local");

		next_token(script);
		if ((is_global || is_local) && take_token(script, ":"))
			global = is_global;
		else
			read_pattern(script, &word, version, global);
	}
}

/* ---- versions ---- */

static uint16_t add_version(struct script *script, const struct token *name)
{
	struct sk_linker *linker = script->linker;
	uint32_t fresh = (uint32_t)linker->defined_versions.count;

	if (fresh == MAXIMUM_VERSIONS)
		refuse_script(script, name->place, "there are too many versions");
	else if (sk_map_insert(&script->versions, name->text, strlen(name->text), fresh) != fresh)
		refuse_script(script, name->place,
			      sk_arena_print(linker->arena, "version '%s' is defined twice", name->text));
	else
		sk_array_push(linker->arena, &linker->defined_versions,
			      (struct sk_defined_version){.name = name->text});
	return (uint16_t)(SK_FIRST_VERSION + fresh);
}

static void read_parents(struct script *script, struct sk_defined_version *version)
{
	struct sk_arena *arena = script->linker->arena;

	for (; next_is_word(script); next_token(script)) {
		const char *name = script->token.text;
		uint32_t parent = sk_map_find(&script->versions, name, strlen(name));

		if (parent == SK_NONE || &script->linker->defined_versions.items[parent] == version)
			refuse_script(
				script, script->token.place,
				sk_arena_print(arena, "version '%s' is not defined before it is inherited", name));
		else if (version->parents.count == UINT16_MAX - 1)
			refuse_script(script, script->token.place, "there are too many versions to inherit");
		else
			sk_array_push(arena, &version->parents, parent);
	}
}

static void read_version(struct script *script)
{
	struct sk_linker *linker = script->linker;
	struct token name = script->token;
	bool anonymous = next_is(script, "{");
	uint16_t version = VER_NDX_GLOBAL;

	if (anonymous ? linker->defined_versions.count || script->anonymous : script->anonymous)
		refuse_script(script, name.place, "a version without a name must be the only one");
	script->anonymous = anonymous;
	if (!anonymous) {
		if (!is_word(&name))
			expect(script, "{");
		next_token(script);
		version = add_version(script, &name);
	}
	expect(script, "{");
	read_body(script, version);
	expect(script, "}");
	if (!anonymous && !script->failed)
		read_parents(script, &linker->defined_versions.items[version - SK_FIRST_VERSION]);
	expect(script, ";");
}

/* ---- the file ---- */

void sk_version_script_read(struct sk_linker *linker)
{
	struct script script = {.linker = linker, .path = linker->options.version_script, .line = 1};

	if (!script.path)
		return;
	sk_linker_add_dependency(linker, script.path, true);
	script.at = sk_file_read_text(linker->diag, script.path, "version script");
	if (!script.at)
		return;
	sk_map_init(&script.versions, linker->arena);
	sk_map_init(&script.names, linker->arena);
	script.line_start = script.at;
	next_token(&script);
	do
		read_version(&script);
	while (!script.failed && (script.token.quoted || *script.token.text));
	linker->exact_patterns = script.names;
}
