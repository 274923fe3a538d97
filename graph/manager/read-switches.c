/* The reader of switch files; see manager.h. A text that begins with a brace is JSON, and is read as YAML; otherwise
 * each line has a pass. Each pass gets at most one switch of each kind. */
#include "graph/manager/manager.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"

#define BLANKS " \t\r\n"

static const char *const states[] = {"off", "on"};

/* ---- JSON ---- */

struct top {
	const struct sk_node *switches, *priorities, *staying;
};

static void read_switch(const struct sk_document *document, enum sk_switch_kind kind, const struct sk_node *key)
{
	struct sk_switch added = {key->text, kind, false, sk_node_place(document, key)};
	size_t state;

	if (!key->length)
		sk_error(document->diag, added.place, "a pass has no name");
	else if (sk_read_choice(document, sk_node_value(key), "the switch of pass", key->text, states, 2, &state)) {
		added.on = state;
		sk_switches_add(document->owner, document->arena, added);
	}
}

/* {"GraphFusion": …, "UBFusion": …}: the nodes by kind; NULL where one is missing. */
static void read_kinds(const struct sk_document *document, const struct sk_node *node, const char *what,
		       const struct sk_node *kinds[SK_SWITCH_KINDS])
{
	const struct sk_field fields[SK_SWITCH_KINDS] = {
		{.name = sk_switch_kinds[SK_SWITCH_GRAPH], .keep = SK_SWITCH_GRAPH * sizeof(*kinds)},
		{.name = sk_switch_kinds[SK_SWITCH_UB], .keep = SK_SWITCH_UB * sizeof(*kinds)},
	};

	sk_read_fields(document, node, what, NULL, fields, SK_SWITCH_KINDS, kinds);
}

static void read_switches(const struct sk_document *document, const struct sk_node *node)
{
	const struct sk_node *kinds[SK_SWITCH_KINDS] = {NULL};

	read_kinds(document, node, "'Switch'", kinds);
	for (enum sk_switch_kind kind = 0; kind < SK_SWITCH_KINDS; kind++)
		if (kinds[kind] && sk_expect_map(document, kinds[kind], "the switches of", sk_switch_kinds[kind]))
			for (const struct sk_node *key = sk_node_first(kinds[kind]);
			     key && !sk_diag_is_hopeless(document->diag); key = sk_node_next(key))
				read_switch(document, kind, key);
}

/* {"Top": {PASS: "0"}, …}: numbers from 0 under Top, from 1000 under Main, from 2000 under Down, a thousand each. */
static void read_priorities_of(const struct sk_document *document, const struct sk_node *node)
{
	struct {
		const struct sk_node *levels[3];
	} given = {{NULL}};
	static const struct sk_field fields[] = {
		{"Top", false, .keep = 0},
		{"Main", false, .keep = sizeof(struct sk_node *)},
		{"Down", false, .keep = 2 * sizeof(struct sk_node *)},
	};
	uint64_t priority;

	sk_read_fields(document, node, "the priorities", NULL, fields, 3, &given);
	for (uint64_t level = 0; level < 3; level++)
		if (given.levels[level] &&
		    sk_expect_map(document, given.levels[level], "the priorities of", fields[level].name))
			for (const struct sk_node *key = sk_node_first(given.levels[level]);
			     key && !sk_diag_is_hopeless(document->diag); key = sk_node_next(key))
				sk_read_integer(document, sk_node_value(key), "the priority of pass", key->text,
						level * 1000, level * 1000 + 999, &priority);
}

static void read_priorities(const struct sk_document *document, const struct sk_node *node)
{
	const struct sk_node *kinds[SK_SWITCH_KINDS] = {NULL};

	read_kinds(document, node, "'Priority'", kinds);
	for (enum sk_switch_kind kind = 0; kind < SK_SWITCH_KINDS; kind++)
		if (kinds[kind])
			read_priorities_of(document, kinds[kind]);
	sk_warning(document->diag, sk_node_place(document, node),
		   "'Priority' has no effect: passes run in an order that is settled");
}

static void read_staying(const struct sk_document *document, const struct sk_node *list)
{
	struct sk_switches *switches = document->owner;
	struct sk_name name;

	if (!sk_expect_list(document, list, "'ExceptionalPassOfO1Level'", NULL))
		return;
	for (const struct sk_node *item = sk_node_first(list); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item))
		if (sk_read_text(document, item, "a pass that stays on", NULL, &name))
			sk_array_push(document->arena, &switches->staying, name);
}

static void read_json(const struct sk_document *document, const void *text, size_t size)
{
	static const struct sk_field fields[] = {
		{"Switch", true, .keep = offsetof(struct top, switches)},
		{"Priority", false, .keep = offsetof(struct top, priorities)},
		{"ExceptionalPassOfO1Level", false, .keep = offsetof(struct top, staying)},
	};
	struct sk_arena *scratch = sk_arena_create();
	const struct sk_node *root = sk_document_parse(document, scratch, text, size);
	struct top top = {NULL};

	if (root && sk_read_fields(document, root, "the switch file", NULL, fields, 3, &top)) {
		read_switches(document, top.switches);
		if (top.priorities)
			read_priorities(document, top.priorities);
		if (top.staying)
			read_staying(document, top.staying);
	}
	sk_arena_destroy(scratch); /* switches keep texts, not nodes */
}

/* ---- lines ---- */

/* Return the text without leading and trailing blanks. */
static const char *trim(struct sk_arena *arena, const char *text, size_t length)
{
	size_t blanks;

	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	blanks = length ? strspn(text, BLANKS) : 0;
	return sk_arena_copy(arena, text + blanks, length - blanks);
}

/* PASS:on or PASS:off, for passes of both kinds. */
static void read_line(const struct sk_document *document, const char *line, size_t length, uint32_t number)
{
	struct sk_place place = {document->file, number, (uint32_t)strspn(line, BLANKS) + 1, NULL, {0}};
	const char *colon = memchr(line, ':', length), *name, *state;
	const struct sk_switch *other;

	if (!colon) {
		sk_error(document->diag, place, "the line '%s' has no ':'; it should be PASS:on or PASS:off",
			 trim(document->arena, line, length));
		return;
	}
	name = trim(document->arena, line, (size_t)(colon - line));
	state = trim(document->arena, colon + 1, length - (size_t)(colon + 1 - line));
	if (!*name) {
		sk_error(document->diag, place, "a pass has no name");
		return;
	}
	if (strcmp(state, states[0]) != 0 && strcmp(state, states[1]) != 0) {
		place.column = (uint32_t)(colon + 1 - line + (ptrdiff_t)strspn(colon + 1, " \t")) + 1;
		sk_error(document->diag, place, "the switch of pass '%s' must be on or off, not '%s'", name, state);
		return;
	}
	other = sk_switches_add(document->owner, document->arena,
				(struct sk_switch){name, SK_SWITCH_KINDS, !strcmp(state, states[1]), place});
	if (other) {
		sk_error(document->diag, place, "pass '%s' has two switches", name);
		sk_note(document->diag, "first given at %s", sk_place_text(document->arena, other->place));
	}
}

static void read_lines(const struct sk_document *document, const char *text)
{
	uint32_t number = 1;

	for (const char *line = text; *line && !sk_diag_is_hopeless(document->diag); number++) {
		size_t length = strcspn(line, "\n");

		if (strspn(line, BLANKS) < length)
			read_line(document, line, length, number);
		line += length + (line[length] == '\n');
	}
}

/* ---- files ---- */

bool sk_switches_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		       struct sk_switches *switches)
{
	const struct sk_document document = {arena, diag, file, "the switch file", switches};
	unsigned errors = diag->errors;
	const char *copy, *first;

	if (size > SK_DOCUMENT_MAX_BYTES) {
		sk_error(diag, (struct sk_place){.file = file}, "%s is larger than 64 MiB", document.kind);
		return false;
	}
	copy = sk_arena_copy(arena, text, size);
	first = copy + strspn(copy, BLANKS);
	if (strlen(copy) < size)
		sk_error(diag, (struct sk_place){.file = file}, "not a text file: a NUL character stands in it");
	else if (!*first)
		sk_error(diag, (struct sk_place){.file = file}, "%s is empty", document.kind);
	else if (*first == '{')
		read_json(&document, copy, size);
	else
		read_lines(&document, copy);
	return diag->errors == errors;
}

bool sk_switches_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_switches *switches)
{
	const struct sk_document document = {.arena = arena, .diag = diag, .file = file, .kind = "the switch file"};
	struct sk_arena *scratch = sk_arena_create();
	size_t size;
	const void *text = sk_document_read(&document, scratch, &size);
	bool read = text && sk_switches_parse(arena, diag, file, text, size, switches);

	sk_arena_destroy(scratch);
	return read;
}
