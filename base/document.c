/* From libyaml's events to a tree, with limits; see document.h. */
#include "config.h"

#include "base/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/map.h"

#define TOO_MANY_ERRORS "too many errors; nothing behind this place has been read"

struct builder {
	const struct sk_document *document;
	struct sk_arena *scratch; /* for all data except texts, */
	struct sk_arena *texts; /* for texts, */
	char *room; /* the buffer of most texts: together they are not longer than the document, */
	size_t left; /* and the bytes left in it */
	struct sk_diag *diag; /* that of the document */
	yaml_parser_t yaml;
	const char *text;
	size_t size;
	SK_ARRAY(struct sk_node) nodes;
	bool stopped; /* after an error that makes further reading impossible */
};

struct sk_place sk_node_place(const struct sk_document *document, const struct sk_node *node)
{
	return (struct sk_place){.file = document->file, .line = node->line, .column = node->column};
}

static struct sk_place place_of_mark(const struct builder *builder, yaml_mark_t mark)
{
	return (struct sk_place){
		.file = builder->document->file, .line = (uint32_t)mark.line + 1, .column = (uint32_t)mark.column + 1};
}

/* Errors of libyaml's reader (bytes that are not text) have an offset instead of a line. */
static struct sk_place place_of_offset(const struct builder *builder, size_t offset)
{
	struct sk_place place = {.file = builder->document->file, .line = 1, .column = 1};

	for (size_t i = 0; i < offset && i < builder->size; i++) {
		place.column++;
		if (builder->text[i] == '\n') {
			place.line++;
			place.column = 1;
		}
	}
	return place;
}

/* Find a tab in the white space at the start of the line, or where libyaml stopped: it looks like blanks, but is not
 * valid, and libyaml's errors do not mention it. */
static bool find_tab(const struct builder *builder, yaml_mark_t mark, struct sk_place *place)
{
	const char *end = builder->text + builder->size, *line = builder->text;
	bool indentation = true;

	*place = place_of_mark(builder, mark);
	for (size_t i = 0; i < mark.line && line < end; i++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		line = newline ? newline + 1 : end;
	}
	for (size_t column = 0; line < end && column <= mark.column; line++, column++) {
		if (*line == '\t' && (indentation || column == mark.column)) {
			place->column = (uint32_t)column + 1;
			return true;
		}
		indentation &= *line == ' ';
	}
	return false;
}

static void report_yaml_error(struct builder *builder)
{
	const yaml_parser_t *yaml = &builder->yaml;
	const char *problem = yaml->problem ? yaml->problem : "out of memory";
	struct sk_place tab;

	builder->stopped = true;
	if (yaml->error == YAML_READER_ERROR)
		sk_error(builder->diag, place_of_offset(builder, yaml->problem_offset), "not a text file: %s", problem);
	else if (find_tab(builder, yaml->problem_mark, &tab))
		sk_error(builder->diag, tab, "invalid YAML: a tab stands here; YAML is indented with blanks only");
	else
		sk_error(builder->diag, place_of_mark(builder, yaml->problem_mark), "invalid YAML: %s%s%s", problem,
			 yaml->context ? " " : "", yaml->context ? yaml->context : "");
}

/* Fetch the next event, which the caller deletes. After an error it is a stream end, which ends every loop. */
static void next_event(struct builder *builder, yaml_event_t *event)
{
	if (!builder->stopped && yaml_parser_parse(&builder->yaml, event))
		return;
	if (!builder->stopped)
		report_yaml_error(builder);
	*event = (yaml_event_t){.type = YAML_STREAM_END_EVENT};
}

static void stop(struct builder *builder, struct sk_place place, const char *reason)
{
	if (!builder->stopped)
		sk_error(builder->diag, place, "%s", reason);
	builder->stopped = true;
}

/* Return the index of a new node: nodes move when others are added. */
static uint32_t new_node(struct builder *builder, enum sk_node_kind kind, yaml_mark_t mark)
{
	struct sk_place place = place_of_mark(builder, mark);
	uint32_t index = (uint32_t)builder->nodes.count;
	const uint32_t columns = (1u << 28) - 1; /* more than the bytes of a document */

	sk_array_push(builder->scratch, &builder->nodes,
		      (struct sk_node){.kind = kind, .line = place.line, .column = place.column & columns, .text = ""});
	if (builder->nodes.count > SK_DOCUMENT_MAX_NODES)
		stop(builder, place,
		     sk_arena_print(builder->scratch, "%s has too many entries (more than 4194304)",
				    builder->document->kind));
	else if (sk_diag_is_hopeless(builder->diag))
		stop(builder, place, TOO_MANY_ERRORS);
	return index;
}

static void refuse_anchor_and_tag(struct builder *builder, yaml_mark_t mark, const yaml_char_t *anchor,
				  const yaml_char_t *tag)
{
	if (anchor)
		sk_error(builder->diag, place_of_mark(builder, mark), "anchors and aliases are not accepted (&%s)",
			 (const char *)anchor);
	if (tag)
		sk_error(builder->diag, place_of_mark(builder, mark), "tags are not accepted (%s)", (const char *)tag);
}

static const char *copy_text(struct builder *builder, const char *text, size_t length)
{
	char *copy = builder->room;

	if (length >= builder->left)
		return sk_arena_copy(builder->texts, text, length);
	memcpy(copy, text, length); /* zeros follow it */
	builder->room += length + 1;
	builder->left -= length + 1;
	return copy;
}

static uint32_t build_scalar(struct builder *builder, const yaml_event_t *event)
{
	uint32_t index = new_node(builder, SK_NODE_SCALAR, event->start_mark);
	struct sk_node *node = &builder->nodes.items[index];
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length; /* at most twice SK_DOCUMENT_MAX_BYTES */

	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->in_line = event->start_mark.line == event->end_mark.line &&
			event->end_mark.column - event->start_mark.column == length + (node->plain ? 0 : 2);
	if (memchr(text, '\0', length)) {
		sk_error(builder->diag, place_of_mark(builder, event->start_mark),
			 "a scalar cannot hold a NUL character");
	} else {
		node->length = (uint32_t)length;
		node->text = copy_text(builder, text, length);
	}
	if (event->data.scalar.anchor || event->data.scalar.tag)
		refuse_anchor_and_tag(builder, event->start_mark, event->data.scalar.anchor, event->data.scalar.tag);
	return index;
}

/* ---- lists and maps ---- */

/* Append the item or key `index` to the list or map with `last` as its last one; 0: it is the first. */
static void add_member(struct builder *builder, uint32_t parent, uint32_t last, uint32_t index)
{
	struct sk_node *nodes = builder->nodes.items;

	nodes[parent].count++;
	if (last)
		nodes[last].next = index - last;
}

static void report_duplicate(struct builder *builder, const struct sk_node *first, const struct sk_node *second)
{
	sk_error(builder->diag, sk_node_place(builder->document, second), "duplicate key '%s'", second->text);
	sk_note(builder->diag, "first given at %s",
		sk_place_text(builder->document->arena, sk_node_place(builder->document, first)));
}

static bool is_same_key(const struct sk_node *a, const struct sk_node *b)
{
	return a->kind == SK_NODE_SCALAR && b->kind == SK_NODE_SCALAR && a->length == b->length &&
	       !memcmp(a->text, b->text, a->length);
}

static void check_duplicate_keys(struct builder *builder, const struct sk_node *map)
{
	enum { FEW = 16 }; /* keys that are compared faster than hashed */

	if (map->count <= FEW) {
		for (const struct sk_node *key = sk_node_first(map); key; key = sk_node_next(key)) {
			const struct sk_node *other = sk_node_first(map);

			while (other != key && !is_same_key(other, key))
				other = sk_node_next(other);
			if (other != key)
				report_duplicate(builder, other, key);
		}
		return;
	}

	const struct sk_node **keys = SK_NEW_ARRAY(builder->scratch, const struct sk_node *, map->count);
	struct sk_map seen;
	uint32_t index = 0;

	sk_map_init(&seen, builder->scratch);
	for (const struct sk_node *key = sk_node_first(map); key; key = sk_node_next(key), index++) {
		keys[index] = key;

		uint32_t first =
			key->kind == SK_NODE_SCALAR ? sk_map_insert(&seen, key->text, key->length, index) : index;

		if (first == index)
			continue;
		report_duplicate(builder, keys[first], key);
		if (sk_diag_is_hopeless(builder->diag)) {
			stop(builder, sk_node_place(builder->document, key), TOO_MANY_ERRORS);
			return;
		}
	}
}

static uint32_t build(struct builder *builder, const yaml_event_t *event, unsigned depth);

static uint32_t build_list(struct builder *builder, const yaml_event_t *start, unsigned depth)
{
	uint32_t list = new_node(builder, SK_NODE_LIST, start->start_mark), last = 0;
	yaml_event_t event;

	refuse_anchor_and_tag(builder, start->start_mark, start->data.sequence_start.anchor,
			      start->data.sequence_start.tag);
	for (;;) {
		next_event(builder, &event);
		if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_STREAM_END_EVENT)
			break;

		uint32_t item = build(builder, &event, depth);

		yaml_event_delete(&event);
		add_member(builder, list, last, item);
		last = item;
	}
	yaml_event_delete(&event);
	return list;
}

static void check_key(struct builder *builder, const struct sk_node *key)
{
	if (key->kind != SK_NODE_SCALAR)
		sk_error(builder->diag, sk_node_place(builder->document, key), "a key must be a name, not a %s",
			 key->kind == SK_NODE_LIST ? "list" : "map");
	else if (key->plain && !strcmp(key->text, "<<"))
		sk_error(builder->diag, sk_node_place(builder->document, key), "merge keys (<<) are not accepted");
}

static uint32_t build_map(struct builder *builder, const yaml_event_t *start, unsigned depth)
{
	uint32_t map = new_node(builder, SK_NODE_MAP, start->start_mark), last = 0;
	yaml_event_t event;

	refuse_anchor_and_tag(builder, start->start_mark, start->data.mapping_start.anchor,
			      start->data.mapping_start.tag);
	for (;;) {
		next_event(builder, &event);
		if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_STREAM_END_EVENT)
			break;

		uint32_t key = build(builder, &event, depth);

		yaml_event_delete(&event);
		check_key(builder, &builder->nodes.items[key]);
		next_event(builder, &event);
		if (event.type == YAML_STREAM_END_EVENT)
			break;
		build(builder, &event, depth);
		yaml_event_delete(&event);
		add_member(builder, map, last, key);
		last = key;
	}
	yaml_event_delete(&event);
	if (!builder->stopped)
		check_duplicate_keys(builder, &builder->nodes.items[map]);
	return map;
}

/* Build the node that begins with this event. The caller keeps the event. */
static uint32_t build(struct builder *builder, const yaml_event_t *event, unsigned depth)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return build_scalar(builder, event);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (depth == SK_DOCUMENT_MAX_DEPTH) {
			stop(builder, place_of_mark(builder, event->start_mark), "nested deeper than 32 levels");
			return new_node(builder, SK_NODE_LIST, event->start_mark);
		}
		return event->type == YAML_SEQUENCE_START_EVENT ? build_list(builder, event, depth + 1)
								: build_map(builder, event, depth + 1);
	case YAML_ALIAS_EVENT:
		sk_error(builder->diag, place_of_mark(builder, event->start_mark),
			 "anchors and aliases are not accepted (*%s)", (const char *)event->data.alias.anchor);
		return new_node(builder, SK_NODE_SCALAR, event->start_mark);
	default: /* libyaml allows no other event here */
		stop(builder, place_of_mark(builder, event->start_mark), "invalid YAML: a value is missing");
		return new_node(builder, SK_NODE_SCALAR, event->start_mark);
	}
}

/* ---- whole documents ---- */

/* Return the root, unless there are errors. */
static const struct sk_node *build_stream(struct builder *builder)
{
	yaml_event_t event;

	for (bool end = false; !end; yaml_event_delete(&event)) {
		next_event(builder, &event);
		end = event.type == YAML_STREAM_END_EVENT;
		if (end || event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT ||
		    event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (builder->nodes.count)
			stop(builder, place_of_mark(builder, event.start_mark),
			     "one document is expected, but a second one starts here");
		else
			build(builder, &event, 0);
	}
	if (!builder->nodes.count && !builder->stopped)
		sk_error(builder->diag, (struct sk_place){.file = builder->document->file, .line = 1, .column = 1},
			 "%s is empty", builder->document->kind);
	return builder->nodes.items;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Tags are not supported. %TAG is refused before libyaml sees it, since libyaml compares each one with all others. It
 * may come before the document, or after the end of a document ("..."). */
static bool refuse_tag_directive(const struct builder *builder)
{
	const char *line = builder->text, *end = builder->text + builder->size;
	bool between = true; /* documents */

	if (builder->size >= strlen(BYTE_ORDER_MARK) && !memcmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		line += strlen(BYTE_ORDER_MARK);
	for (uint32_t number = 1; line < end; number++) {
		const char *next = memchr(line, '\n', (size_t)(end - line)), *first = line;
		const char *line_end = next ? next : end;

		while (first < line_end && (*first == ' ' || *first == '\t' || *first == '\r'))
			first++;
		if (between && line_end - first >= 4 && !memcmp(first, "%TAG", 4)) {
			sk_error(builder->diag,
				 (struct sk_place){.file = builder->document->file,
						   .line = number,
						   .column = (uint32_t)(first - line) + 1},
				 "tags are not accepted (%%TAG)");
			return true;
		}
		if (line_end - line >= 3 && !memcmp(line, "...", 3))
			between = true;
		else if (first < line_end && *first != '%' && *first != '#')
			between = false;
		line = line_end + 1;
	}
	return false;
}

static bool may_have_surrogates(const char *text, size_t size)
{
	const char *end = text + size;

	for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))); at++)
		if (end - at >= 3 && at[1] == 'u' && (at[2] == 'd' || at[2] == 'D'))
			return true;
	return false;
}

/* Accept JSON's form of a character beyond U+FFFF, which YAML lacks: two escapes. */
static const char *accept_json(struct sk_arena *scratch, const char *text, size_t size)
{
	char *copy;

	if (!may_have_surrogates(text, size))
		return text;
	copy = sk_arena_alloc(scratch, size, 1);
	memcpy(copy, text, size);
	sk_json_join_surrogates(copy, size);
	return copy;
}

const void *sk_document_read(const struct sk_document *document, struct sk_arena *scratch, size_t *size)
{
	/* One byte more than allowed is enough for sk_document_parse to detect a file that is too large. */
	enum { FIRST = 64 << 10, LIMIT = SK_DOCUMENT_MAX_BYTES + 1 };
	FILE *file = fopen(document->file, "rb");
	struct sk_place place = {.file = document->file};

	if (!file) {
		sk_error(document->diag, place, "cannot open %s: %s", document->kind, strerror(errno));
		return NULL;
	}

	size_t capacity = FIRST;
	char *text = sk_arena_alloc(scratch, capacity, 1);

	*size = 0;
	for (size_t count; (count = fread(text + *size, 1, capacity - *size, file)) > 0;) {
		*size += count;
		if (*size == LIMIT)
			break;
		if (*size < capacity)
			continue;
		capacity = capacity * 4 < LIMIT ? capacity * 4 : LIMIT;

		char *larger = sk_arena_alloc(scratch, capacity, 1);

		memcpy(larger, text, *size);
		text = larger;
	}

	bool failed = ferror(file);
	int reason = errno;

	fclose(file);
	if (failed)
		sk_error(document->diag, place, "cannot read %s: %s", document->kind, strerror(reason));
	return failed ? NULL : text;
}

const struct sk_node *sk_document_parse(const struct sk_document *document, struct sk_arena *scratch, const void *text,
					size_t size)
{
	struct sk_diag *diag = document->diag;
	struct sk_place place = {.file = document->file};
	struct builder builder = {.document = document,
				  .scratch = scratch,
				  .texts = document->texts ? document->texts : document->arena,
				  .diag = diag,
				  .text = text,
				  .size = size};
	unsigned errors = diag->errors;

	if (size > SK_DOCUMENT_MAX_BYTES) {
		sk_error(diag, place, "%s is larger than 64 MiB", document->kind);
		return NULL;
	}
	if (refuse_tag_directive(&builder))
		return NULL;
	if (!yaml_parser_initialize(&builder.yaml)) {
		sk_error(diag, place, "libyaml cannot be initialized: out of memory");
		return NULL;
	}
	builder.text = accept_json(scratch, text, size);
	/* Otherwise libyaml would guess UTF-16 from the first bytes. */
	yaml_parser_set_encoding(&builder.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&builder.yaml, (const unsigned char *)builder.text, size);
	builder.room = sk_arena_alloc(builder.texts, size, 1);
	builder.left = size;

	/* Most texts have fewer nodes. */
	builder.nodes.capacity = size / 6 + 1;
	builder.nodes.items = SK_NEW_ARRAY(scratch, struct sk_node, builder.nodes.capacity);

	const struct sk_node *root = build_stream(&builder);

	yaml_parser_delete(&builder.yaml);
	return diag->errors == errors ? root : NULL;
}
