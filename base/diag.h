/* Diagnostics: rooms put errors with their place into a sink; the program prints them when a phase has ended.
 * Libraries never print and never exit.
 *
 *   sklink: error: model.yaml:12:9: unknown kernel 'mull'; did you mean 'mul'?
 *   >>> mul is defined in kernels.a(mul.o)
 */
#ifndef SK_DIAG_H
#define SK_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/map.h"

struct sk_arena;
struct sk_message;

/* Where something stands. For text: file, line and column from 1. For objects: file is "lib.a(member.o)" or "x.o", and
 * section, if any, gives "lib.a(member.o):(.text+0x10)". */
struct sk_place {
	const char *file; /* NULL: no place */
	uint32_t line; /* 0: no line */
	uint32_t column;
	const char *section; /* NULL: no section */
	union {
		uint64_t offset; /* in the section */
		/* With a line: where that stands which this text has been expanded from, as long as the sink lives;
		 * NULL: the text is its user's own. */
		const struct sk_place *origin;
	};
};

/* A name, and where it stands. */
struct sk_name {
	const char *text;
	struct sk_place place;
};

enum sk_severity { SK_ERROR, SK_WARNING };

/* Automatic: colour on a terminal, unless the environment has a NO_COLOR that is not empty (no-color.org). */
enum sk_colour { SK_COLOUR_AUTOMATIC, SK_COLOUR_ALWAYS, SK_COLOUR_NEVER };

struct sk_diag {
	struct sk_arena *arena;
	struct sk_message *first, *last;
	unsigned errors; /* so far */
	unsigned warnings;
	size_t kept; /* bytes of text */
	unsigned dropped; /* messages that are counted, but not kept */
	bool muted; /* the message added last is a warning that nobody wants */
	struct sk_map alike; /* keys of messages that stand for others, to these */
	SK_ARRAY(struct sk_message *) leaders;
	/* What the user wants, before the first message: */
	bool fatal_warnings; /* warnings are errors */
	bool no_warnings; /* they are nothing, unless they are errors */
	enum sk_colour colour;
};

/* A hostile input can give an error for each of its bytes, and each can name something long: no more text than this is
 * kept. What comes behind is only counted. */
enum { SK_DIAG_MAX_TEXT = 4 << 20 };

/* So many errors that reading on makes no sense: messages need memory, too. */
static inline bool sk_diag_is_hopeless(const struct sk_diag *diag)
{
	return diag->errors > 1000;
}

static inline bool sk_diag_is_full(const struct sk_diag *diag)
{
	return diag->kept > SK_DIAG_MAX_TEXT;
}

void sk_diag_init(struct sk_diag *diag, struct sk_arena *arena);

/* The place, kept in the arena, as the origin of others; NULL if it is none. */
const struct sk_place *sk_place_keep(struct sk_arena *arena, struct sk_place place);

/* Adds a message, with a note for each origin of the place. Text is one sentence without a full stop. */
void sk_error(struct sk_diag *diag, struct sk_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void sk_warning(struct sk_diag *diag, struct sk_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds an error about one of many things, "SUBJECT: text", unless there is one with this key, which then says how many
 * more subjects it is about, and counts as one. True if it is the first, which notes are for. The key is kept. */
bool sk_error_alike(struct sk_diag *diag, struct sk_place place, const char *key, const char *subject,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same of a warning. */
void sk_warning_alike(struct sk_diag *diag, struct sk_place place, const char *key, const char *subject,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Takes back what has been added since the sink was as this copy of it: errors in what had been done already, but was
 * not known to be wrong, make the rest meaningless. */
void sk_diag_take_back(struct sk_diag *diag, const struct sk_diag *before);

/* Adds a ">>>" line to the message added last. */
void sk_note(struct sk_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The place as text, in the arena: "f.yaml:3:7", "x.o:(.text+0x1)", or "" without a file. */
const char *sk_place_text(struct sk_arena *arena, struct sk_place place);

/* Prints all messages ("program: error: place: text") and empties the sink, keeping the counts. At most limit errors
 * are printed (0: all), then a line says that there were more; and of warnings of one kind, which are those with one
 * format, as many, then a line says how many more. */
void sk_diag_flush(struct sk_diag *diag, const char *program, unsigned limit, FILE *stream);

/* The text of the first message, without its place; NULL: there is none. */
const char *sk_diag_first(const struct sk_diag *diag);

/* "; did you mean 'x'?" in the arena, with the candidate nearest to the misspelt name; "" if none is near
 * (base/text.h). */
const char *sk_did_you_mean(struct sk_arena *arena, const char *name, const char *const *candidates, size_t count);

#endif
