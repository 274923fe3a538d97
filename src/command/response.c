/* Response files, expanded; see response.h. */
#include "src/command/response.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { RESPONSE_DEPTH = 16, RESPONSE_SIZE = 64 << 20 };

struct expansion {
	sk_words list;
	struct sk_arena *arena;
	struct sk_diag *diag;
	sk_texts *files;
};

static void expand(struct expansion *expansion, char *word, unsigned depth);

/* The whole file as text, or NULL after an error. */
static char *read_text(struct expansion *expansion, const char *path)
{
	struct sk_place place = {.file = path};
	FILE *file = fopen(path, "r");
	SK_ARRAY(char) text = {0};
	size_t got;
	char buffer[4096];

	if (!file) {
		sk_error(expansion->diag, place, "cannot open response file: %s", strerror(errno));
		return NULL;
	}
	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0 && text.count < RESPONSE_SIZE)
		for (size_t i = 0; i < got; i++)
			sk_array_push(expansion->arena, &text, buffer[i]);

	bool failed = ferror(file);

	fclose(file);
	if (failed || text.count >= RESPONSE_SIZE || memchr(text.items ? text.items : "", 0, text.count)) {
		sk_error(expansion->diag, place, "cannot read response file: %s",
			 failed ? strerror(errno) : "it is too large or not a text");
		return NULL;
	}
	sk_array_push(expansion->arena, &text, '\0');
	return text.items;
}

/* Cuts one word off the text, in place, as ld reads response files: white space separates, quotes keep it, a backslash
 * takes the next character as it is. Returns NULL at the end; *text moves on. */
static char *next_word(char **text, bool *unterminated)
{
	char *from = *text + strspn(*text, " \t\r\n\f\v"), *word = from, *to = from, quote = 0;

	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t\r\n\f\v", *from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote && *from == quote)
			quote = 0;
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		else
			*to++ = *from;
	}
	*text = from + (*from != '\0');
	*to = '\0';
	*unterminated = quote != 0;
	return word;
}

static void expand_response(struct expansion *expansion, const char *path, unsigned depth)
{
	struct sk_place place = {.file = path};
	bool unterminated = false;
	char *text, *word;

	if (depth == RESPONSE_DEPTH) {
		sk_error(expansion->diag, place, "response files are nested more than %d deep", RESPONSE_DEPTH);
		return;
	}
	sk_array_push(expansion->arena, expansion->files, path);
	text = read_text(expansion, path);
	while (text && (word = next_word(&text, &unterminated)))
		expand(expansion, word, depth + 1);
	if (unterminated)
		sk_error(expansion->diag, place, "a quote is not closed");
}

static void expand(struct expansion *expansion, char *word, unsigned depth)
{
	if (word[0] == '@' && word[1])
		expand_response(expansion, word + 1, depth);
	else
		sk_array_push(expansion->arena, &expansion->list, word);
}

sk_words sk_response_expand(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, sk_texts *files)
{
	struct expansion expansion = {.arena = arena, .diag = diag, .files = files};

	for (int i = 1; i < argc; i++)
		expand(&expansion, argv[i], 0);
	return expansion.list;
}
