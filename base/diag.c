/* The message list and its printing. */
#include "base/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"

struct note {
	struct note *next;
	const char *text;
};

struct sk_message {
	struct sk_message *next;
	enum sk_severity severity;
	const char *place; /* "" for none */
	const char *format; /* common to messages of one kind */
	const char *subject; /* NULL: the text names it; otherwise it is printed before the text, with: */
	unsigned more; /* the number of further subjects */
	unsigned number; /* of those that are joined: in their order */
	const char *text;
	struct note *first_note, *last_note;
};

void sk_diag_init(struct sk_diag *diag, struct sk_arena *arena)
{
	*diag = (struct sk_diag){.arena = arena};
	sk_map_init(&diag->alike, arena);
}

const char *sk_place_text(struct sk_arena *arena, struct sk_place place)
{
	if (!place.file)
		return "";
	if (place.section)
		return sk_arena_print(arena, "%s:(%s+0x%" PRIx64 ")", place.file, place.section, place.offset);
	if (place.line)
		return sk_arena_print(arena, "%s:%u:%u", place.file, place.line, place.column);
	return place.file;
}

const struct sk_place *sk_place_keep(struct sk_arena *arena, struct sk_place place)
{
	struct sk_place *kept;

	if (!place.file)
		return NULL;
	kept = SK_NEW(arena, struct sk_place);
	*kept = place;
	return kept;
}

/* Add a message; NULL if it is not kept. */
static struct sk_message *add_message(struct sk_diag *diag, enum sk_severity severity, struct sk_place place,
				      const char *format, va_list args)
{
	if (severity == SK_WARNING && diag->fatal_warnings)
		severity = SK_ERROR;
	diag->muted = severity == SK_WARNING && diag->no_warnings;
	if (diag->muted)
		return NULL;
	if (severity == SK_ERROR)
		diag->errors++;
	else
		diag->warnings++;
	if (sk_diag_is_full(diag)) {
		diag->dropped++;
		return NULL;
	}

	struct sk_message *message = SK_NEW(diag->arena, struct sk_message);

	*message = (struct sk_message){.severity = severity,
				       .place = sk_place_text(diag->arena, place),
				       .format = format,
				       .text = sk_arena_print_list(diag->arena, format, args)};
	diag->kept += sizeof(*message) + strlen(message->place) + strlen(message->text);
	if (diag->last)
		diag->last->next = message;
	else
		diag->first = message;
	diag->last = message;
	for (const struct sk_place *at = &place; at->line && at->origin; at = at->origin)
		sk_note(diag, "expanded from %s", sk_place_text(diag->arena, *at->origin));
	return message;
}

void sk_error(struct sk_diag *diag, struct sk_place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_message(diag, SK_ERROR, place, format, args);
	va_end(args);
}

static bool add_alike(struct sk_diag *diag, enum sk_severity severity, struct sk_place place, const char *key,
		      const char *subject, const char *format, va_list args)
{
	uint32_t new = (uint32_t)diag->leaders.count;
	uint32_t number = sk_map_find(&diag->alike, key, strlen(key));
	struct sk_message *message;

	if (number != SK_NONE) {
		diag->leaders.items[number]->more++;
		return false;
	}
	message = add_message(diag, severity, place, format, args);
	if (!message)
		return true;
	message->subject = subject;
	diag->kept += strlen(subject) + strlen(key);
	sk_array_push(diag->arena, &diag->leaders, message);
	sk_map_insert(&diag->alike, key, strlen(key), new);
	return true;
}

bool sk_error_alike(struct sk_diag *diag, struct sk_place place, const char *key, const char *subject,
		    const char *format, ...)
{
	va_list args;
	bool first;

	va_start(args, format);
	first = add_alike(diag, SK_ERROR, place, key, subject, format, args);
	va_end(args);
	return first;
}

void sk_warning_alike(struct sk_diag *diag, struct sk_place place, const char *key, const char *subject,
		      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_alike(diag, SK_WARNING, place, key, subject, format, args);
	va_end(args);
}

void sk_warning(struct sk_diag *diag, struct sk_place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_message(diag, SK_WARNING, place, format, args);
	va_end(args);
}

void sk_note(struct sk_diag *diag, const char *format, ...)
{
	struct sk_message *message = diag->last;
	va_list args;

	if (!message || diag->muted || sk_diag_is_full(diag))
		return;

	struct note *note = SK_NEW(diag->arena, struct note);

	va_start(args, format);
	note->text = sk_arena_print_list(diag->arena, format, args);
	va_end(args);
	diag->kept += sizeof(*note) + strlen(note->text);
	if (message->last_note)
		message->last_note->next = note;
	else
		message->first_note = note;
	message->last_note = note;
}

void sk_diag_take_back(struct sk_diag *diag, const struct sk_diag *before)
{
	sk_map_release(&diag->alike);
	*diag = *before;
	if (diag->last)
		diag->last->next = NULL;
	/* Their memory may have been released; later errors are treated as first ones. */
	memset(&diag->leaders, 0, sizeof(diag->leaders));
	sk_map_init(&diag->alike, diag->arena);
}

static bool wants_colour(enum sk_colour colour, FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR");

	if (colour != SK_COLOUR_AUTOMATIC)
		return colour == SK_COLOUR_ALWAYS;
	return isatty(fileno(stream)) && !(no_colour && *no_colour);
}

static void print_head(const char *program, enum sk_severity severity, bool colour, FILE *stream)
{
	static const struct {
		const char *text, *colour; /* as in lld: bold red and magenta */
	} heads[] = {
		[SK_ERROR] = {"error:", "\033[1;31m"},
		[SK_WARNING] = {"warning:", "\033[1;35m"},
	};

	fprintf(stream, "%s: %s%s%s ", program, colour ? heads[severity].colour : "", heads[severity].text,
		colour ? "\033[0m" : "");
}

static void print_message(const struct sk_message *message, const char *program, bool colour, FILE *stream)
{
	print_head(program, message->severity, colour, stream);
	sk_escape_print(message->place, stream);
	fputs(*message->place ? ": " : "", stream);
	if (message->subject) {
		sk_escape_print(message->subject, stream);
		if (message->more)
			fprintf(stream, " and %u more", message->more);
		fputs(": ", stream);
	}
	sk_escape_print(message->text, stream);
	fputc('\n', stream);
	for (const struct note *note = message->first_note; note; note = note->next) {
		fputs(">>> ", stream);
		sk_escape_print(note->text, stream);
		fputc('\n', stream);
	}
}

/* ---- errors about several subjects ---- */

static int order_alike(const void *a, const void *b)
{
	const struct sk_message *one = *(struct sk_message *const *)a, *other = *(struct sk_message *const *)b;

	if (one->more != other->more)
		return one->more > other->more ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

/* Take such errors out of the list. The first one stays, with the place of the joined message. */
static size_t take_alike(struct sk_diag *diag, struct sk_message **taken)
{
	struct sk_message **link = &diag->first;
	size_t count = 0;

	diag->last = NULL;
	while (*link) {
		struct sk_message *message = *link;

		if (message->severity == SK_ERROR && message->subject) {
			struct sk_message *copy = SK_NEW(diag->arena, struct sk_message);

			*copy = *message;
			copy->number = (unsigned)count;
			taken[count++] = copy;
			if (count > 1) {
				*link = message->next;
				continue;
			}
		}
		diag->last = message;
		link = &message->next;
	}
	return count;
}

static void note_alike(struct sk_diag *diag, const struct sk_message *message, const char *place)
{
	bool elsewhere = *message->place && strcmp(message->place, place) != 0;
	const char *more = message->more ? sk_arena_print(diag->arena, " and %u more", message->more) : "";

	sk_note(diag, "%s%s%s%s: %s", elsewhere ? message->place : "", elsewhere ? ": " : "", message->subject, more,
		message->text);
	for (const struct note *note = message->first_note; note; note = note->next)
		sk_note(diag, "  %s", note->text);
}

void sk_diag_join_alike(struct sk_diag *diag, struct sk_place place, const char *things, unsigned limit)
{
	SK_ARRAY(struct sk_message *) found = {NULL, 0, 0};
	struct sk_message *joined = NULL, *last;
	unsigned subjects = 0;
	size_t count = 0, shown;

	for (struct sk_message *message = diag->first; message; message = message->next) {
		if (message->severity != SK_ERROR || !message->subject)
			continue;
		joined = joined ? joined : message;
		count++;
		subjects += 1 + message->more;
	}
	if (count < 2)
		return;
	found.items = SK_NEW_ARRAY(diag->arena, struct sk_message *, count);
	take_alike(diag, found.items);
	qsort(found.items, count, sizeof(*found.items), order_alike);
	shown = limit && count > limit ? limit : count;
	joined->place = sk_place_text(diag->arena, place);
	joined->text = sk_arena_print(diag->arena, "%u %s cannot be linked, for %zu reasons, the most frequent first",
				      subjects, things, count);
	joined->subject = NULL;
	joined->more = 0;
	joined->first_note = joined->last_note = NULL;
	last = diag->last;
	diag->last = joined;
	for (size_t i = 0; i < shown; i++)
		note_alike(diag, found.items[i], joined->place);
	if (shown < count)
		sk_note(diag, "%zu more reason%s (--error-limit=0 shows all)", count - shown, sk_plural(count - shown));
	diag->last = last;
	diag->errors -= (unsigned)count - 1;
}

/* Warnings of one kind. */
struct kind {
	const struct sk_message *first;
	unsigned count;
};

typedef SK_ARRAY(struct kind) kind_list;

/* Return the number of warnings of this kind, including this one. */
static unsigned count_warning(struct sk_diag *diag, kind_list *kinds, const struct sk_message *message)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (kinds->items[i].first->format == message->format)
			return ++kinds->items[i].count;
	sk_array_push(diag->arena, kinds, (struct kind){message, 1});
	return 1;
}

static void print_counts(const kind_list *kinds, const char *program, unsigned limit, bool colour, FILE *stream)
{
	for (size_t i = 0; limit && i < kinds->count; i++) {
		if (kinds->items[i].count <= limit)
			continue;
		print_head(program, SK_WARNING, colour, stream);
		fprintf(stream, "%u more like \"", kinds->items[i].count - limit);
		sk_escape_print(kinds->items[i].first->text, stream);
		fputs("\" (--error-limit=0 shows all)\n", stream);
	}
}

const char *sk_diag_first(const struct sk_diag *diag)
{
	return diag->first ? diag->first->text : NULL;
}

void sk_diag_flush(struct sk_diag *diag, const char *program, unsigned limit, FILE *stream)
{
	bool colour = wants_colour(diag->colour, stream), stopped = false;
	kind_list kinds = {0};
	unsigned errors = 0;

	for (const struct sk_message *message = diag->first; message; message = message->next) {
		bool error = message->severity == SK_ERROR;

		if (error && limit && errors == limit) {
			print_head(program, SK_ERROR, colour, stream);
			fprintf(stream, "too many errors, stopping after %u (--error-limit=0 shows all)\n", limit);
			stopped = true;
			break;
		}
		errors += error;
		if (error || !limit || count_warning(diag, &kinds, message) <= limit)
			print_message(message, program, colour, stream);
	}
	print_counts(&kinds, program, limit, colour, stream);
	if (diag->dropped && !stopped) {
		print_head(program, SK_ERROR, colour, stream);
		fprintf(stream, "%u more messages were too many to keep\n", diag->dropped);
	}
	diag->dropped = 0;
	diag->first = diag->last = NULL;
	diag->leaders.count = 0;
	sk_map_release(&diag->alike);
}

const char *sk_did_you_mean(struct sk_arena *arena, const char *name, const char *const *candidates, size_t count)
{
	const char *near = sk_nearest_name(name, candidates, count);

	return near ? sk_arena_print(arena, "; did you mean '%s'?", near) : "";
}
