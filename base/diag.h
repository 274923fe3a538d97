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

/* The place of something. For text: file, line and column from 1. For objects: file is "lib.a(member.o)" or "x.o", and
 * the section, if any, gives "lib.a(member.o):(.text+0x10)". */
struct sk_place {
	const char *file; /* NULL: no place */
	uint32_t line; /* 0: no line */
	uint32_t column;
	const char *section; /* NULL: no section */
	union {
		uint64_t offset; /* in the section */
		/* With a line: the place of the text that this one was expanded from, valid as long as the sink; NULL:
		 * the text is the user's own. */
		const struct sk_place *origin;
	};
};

/* A name and its place. */
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
	bool muted; /* the last message is a suppressed warning */
	struct sk_map alike; /* keys of messages to messages, which represent further ones */
	SK_ARRAY(struct sk_message *) leaders;
	/* The user's settings, made before the first message: */
	bool fatal_warnings; /* warnings are errors */
	bool no_warnings; /* ignore them, unless they are errors */
	enum sk_colour colour;
};

/* Hostile input can cause an error for each of its bytes, each with a long name. Text beyond this limit is not kept;
 * further messages are only counted. */
enum { SK_DIAG_MAX_TEXT = 4 << 20 };

/* True if there are so many errors that reading on is useless: messages also need memory. */
static inline bool sk_diag_is_hopeless(const struct sk_diag *diag)
{
	return diag->errors > 1000;
}

static inline bool sk_diag_is_full(const struct sk_diag *diag)
{
	return diag->kept > SK_DIAG_MAX_TEXT;
}

void sk_diag_init(struct sk_diag *diag, struct sk_arena *arena);

/* Return a copy of the place in the arena, as the origin of others; NULL for no place. */
const struct sk_place *sk_place_keep(struct sk_arena *arena, struct sk_place place);

/* Add a message, with a note for each origin of the place. Text is one sentence without a full stop. */
void sk_error(struct sk_diag *diag, struct sk_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void sk_warning(struct sk_diag *diag, struct sk_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Add an error about one of several subjects, "SUBJECT: text". If there is an error with this key already, only
 * increment its number of subjects; they count as one error. True for the first one, which may get notes. The key is
 * kept. */
bool sk_error_alike(struct sk_diag *diag, struct sk_place place, const char *key, const char *subject,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for a warning. */
void sk_warning_alike(struct sk_diag *diag, struct sk_place place, const char *key, const char *subject,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Join all errors about several subjects to one, if there are at least two, with a note for each: those with the most
 * subjects first, and at most `limit` of them (0: all). The message is "PLACE: N `things` cannot be linked ...". No
 * more messages about these subjects may follow. */
void sk_diag_join_alike(struct sk_diag *diag, struct sk_place place, const char *things, unsigned limit);

/* Remove all messages added since this copy of the sink was made. Errors in earlier work that were not known before may
 * make later messages meaningless. */
void sk_diag_take_back(struct sk_diag *diag, const struct sk_diag *before);

/* Add a ">>>" line to the last message. */
void sk_note(struct sk_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the place as text, in the arena: "f.yaml:3:7", "x.o:(.text+0x1)", or "" without a file. */
const char *sk_place_text(struct sk_arena *arena, struct sk_place place);

/* Print all messages ("program: error: place: text") and empty the sink, but keep the counts. At most `limit` errors
 * are printed (0: all), followed by a line about the rest; the same holds for the warnings of each kind, that is, with
 * the same format. */
void sk_diag_flush(struct sk_diag *diag, const char *program, unsigned limit, FILE *stream);

/* Return the text of the first message, without its place; NULL: there is none. */
const char *sk_diag_first(const struct sk_diag *diag);

/* Return "; did you mean 'x'?" in the arena, with the candidate nearest to the misspelt name; "" if none is near
 * (base/text.h). */
const char *sk_did_you_mean(struct sk_arena *arena, const char *name, const char *const *candidates, size_t count);

#endif
