/* Response files, expanded; see command-parts.h. */
#include "src/command/command-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "loader/flight/flight.h"

enum { RESPONSE_DEPTH = 16 };

struct expansion {
	sk_words list;
	struct sk_arena *arena;
	struct sk_diag *diag;
	sk_texts *files;
};

static void expand(struct expansion *expansion, struct sk_name word, unsigned depth);

/* A text that is read from its beginning to its end. */
struct cursor {
	char *at;
	const char *line_start;
	struct sk_place place; /* of the word read last */
	uint32_t line;
};

static char take_character(struct cursor *cursor)
{
	char c = *cursor->at++;

	if (c == '\n') {
		cursor->line++;
		cursor->line_start = cursor->at;
	}
	return c;
}

static bool is_blank(char c)
{
	return c && strchr(" \t\r\n\f\v", c);
}

/* Cut the next word off the text, in place, by ld's rules for response files: white space separates, quotes keep it, a
 * backslash takes the next character literally. Return NULL at the end. */
static char *next_word(struct cursor *cursor, bool *unterminated)
{
	while (is_blank(*cursor->at))
		take_character(cursor);
	cursor->place.line = cursor->line;
	cursor->place.column = (uint32_t)(cursor->at - cursor->line_start) + 1;

	char *word = cursor->at, *to = cursor->at, quote = 0;

	if (!*word)
		return NULL;
	while (*cursor->at && (quote || !is_blank(*cursor->at))) {
		char c = take_character(cursor);

		if (c == '\\' && *cursor->at)
			*to++ = take_character(cursor);
		else if (quote && c == quote)
			quote = 0;
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else
			*to++ = c;
	}
	if (*cursor->at)
		take_character(cursor);
	*to = '\0';
	*unterminated = quote != 0;
	return word;
}

/* `named` is the word that names the file, without its "@". */
static void expand_response(struct expansion *expansion, const struct sk_name *named, unsigned depth)
{
	const char *path = named->text + 1;
	bool unterminated = false;
	char *text, *word;

	if (depth == RESPONSE_DEPTH) {
		sk_error(expansion->diag, named->place, "response files are nested more than %d deep", RESPONSE_DEPTH);
		return;
	}
	sk_array_push(expansion->arena, expansion->files, path);
	text = sk_file_read_text(expansion->diag, path, "response file");
	if (!text)
		return;

	struct cursor cursor = {text, text, {.file = path, .origin = sk_place_keep(expansion->arena, named->place)}, 1};

	while ((word = next_word(&cursor, &unterminated))) {
		if (unterminated)
			sk_error(expansion->diag, cursor.place, "a quote is not closed");
		expand(expansion, (struct sk_name){word, cursor.place}, depth + 1);
	}
}

static void expand(struct expansion *expansion, struct sk_name word, unsigned depth)
{
	if (word.text[0] == '@' && word.text[1])
		expand_response(expansion, &word, depth);
	else
		sk_array_push(expansion->arena, &expansion->list, word);
}

sk_words sk_response_expand(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, sk_texts *files)
{
	struct expansion expansion = {.arena = arena, .diag = diag, .files = files};

	for (int i = 1; i < argc; i++)
		expand(&expansion, (struct sk_name){.text = argv[i]}, 0);
	return expansion.list;
}
