/* libyaml's events to a tree, with limits. Comes in: a text that may be parsed. Goes out: its nodes. */
#include "config.h"

#include "src/document/builder.h"

#include <string.h>
#include <yaml.h>

#include "src/base/map.h"

#define TOO_MANY_ERRORS "too many errors; nothing behind this place has been read"

struct builder {
	const struct sk_document *document;
	struct sk_arena *scratch; /* of everything but texts, */
	struct sk_arena *texts; /* which are here, */
	char *room; /* where the next one of most goes: they are as long together as the text, or shorter, */
	size_t left; /* and have so many bytes left */
	struct sk_diag *diag; /* the document's */
	yaml_parser_t yaml;
	const char *text;
	size_t size;
	struct sk_document_nodes *result;
	bool stopped; /* after an error that leaves nothing to go on with */
};

static struct sk_place place_of_mark(const struct builder *builder, yaml_mark_t mark)
{
	return (struct sk_place){
		.file = builder->document->file, .line = (uint32_t)mark.line + 1, .column = (uint32_t)mark.column + 1};
}

/* Errors of libyaml's reader (bytes that are no text) come with an offset instead of a line. */
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

/* A tab in the white space that the line begins with, or just where libyaml stopped: it looks like blanks and is none,
 * and libyaml never names it. */
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

/* Fetches the next event; the caller deletes it. After an error it is a stream end, which ends every loop. */
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

/* Its index: nodes move when others come. */
static uint32_t new_node(struct builder *builder, enum sk_node_kind kind, yaml_mark_t mark)
{
	struct sk_place place = place_of_mark(builder, mark);
	uint32_t index = (uint32_t)builder->result->list.count;

	sk_array_push(builder->scratch, &builder->result->list,
		      (struct sk_node){.kind = kind, .line = place.line, .column = place.column, .text = ""});
	if (builder->result->list.count > SK_DOCUMENT_MAX_NODES)
		stop(builder, place,
		     sk_arena_print(builder->scratch, "%s has too many entries (more than 4194304)",
				    builder->document->what));
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
	memcpy(copy, text, length); /* there are zeros behind it */
	builder->room += length + 1;
	builder->left -= length + 1;
	return copy;
}

static uint32_t build_scalar(struct builder *builder, const yaml_event_t *event)
{
	uint32_t index = new_node(builder, SK_NODE_SCALAR, event->start_mark);
	struct sk_node *node = &builder->result->list.items[index];
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

/* Appends an item or a key, which is `index`, to the list or map whose last one is `last`; 0: it is the first. */
static void add_member(struct builder *builder, uint32_t parent, uint32_t last, uint32_t index)
{
	struct sk_node *nodes = builder->result->list.items;

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

	builder->result->list.items[list].plain = start->data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE;

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

	builder->result->list.items[map].plain = start->data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE;

	refuse_anchor_and_tag(builder, start->start_mark, start->data.mapping_start.anchor,
			      start->data.mapping_start.tag);
	for (;;) {
		next_event(builder, &event);
		if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_STREAM_END_EVENT)
			break;

		uint32_t key = build(builder, &event, depth);

		yaml_event_delete(&event);
		check_key(builder, &builder->result->list.items[key]);
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
		check_duplicate_keys(builder, &builder->result->list.items[map]);
	return map;
}

/* The node that begins with this event, which stays the caller's. */
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
	default: /* libyaml lets nothing else stand where a node is expected */
		stop(builder, place_of_mark(builder, event->start_mark), "invalid YAML: a value is missing");
		return new_node(builder, SK_NODE_SCALAR, event->start_mark);
	}
}

/* ---- the whole document ---- */

static void build_stream(struct builder *builder)
{
	yaml_event_t event;

	for (bool end = false; !end; yaml_event_delete(&event)) {
		next_event(builder, &event);
		end = event.type == YAML_STREAM_END_EVENT;
		builder->result->lines = (uint32_t)event.start_mark.line;
		if (event.type == YAML_DOCUMENT_END_EVENT)
			builder->result->ended |= !event.data.document_end.implicit;
		if (end || event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT ||
		    event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (builder->result->list.count)
			stop(builder, place_of_mark(builder, event.start_mark),
			     "one document is expected, but a second one starts here");
		else
			build(builder, &event, 0);
	}
	if (!builder->result->list.count && !builder->stopped)
		sk_error(builder->diag, (struct sk_place){.file = builder->document->file, .line = 1, .column = 1},
			 "%s is empty", builder->document->what);
}

bool sk_document_build(const struct sk_document *document, struct sk_arena *scratch, const char *text, size_t size,
		       size_t room, struct sk_document_nodes *nodes)
{
	struct builder builder = {.document = document,
				  .scratch = scratch,
				  .texts = document->texts ? document->texts : document->arena,
				  .diag = document->diag,
				  .text = text,
				  .size = size,
				  .result = nodes};
	unsigned errors = document->diag->errors;

	builder.room = sk_arena_alloc(builder.texts, size, 1);
	builder.left = size;
	*nodes = (struct sk_document_nodes){.list.capacity = room};
	nodes->list.items = SK_NEW_ARRAY(scratch, struct sk_node, room);
	if (!yaml_parser_initialize(&builder.yaml)) {
		sk_error(document->diag, (struct sk_place){.file = document->file},
			 "libyaml cannot be initialized: out of memory");
		return false;
	}
	/* Without this, libyaml would guess UTF-16 from the first bytes. */
	yaml_parser_set_encoding(&builder.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&builder.yaml, (const unsigned char *)text, size);
	build_stream(&builder);
	yaml_parser_delete(&builder.yaml);
	return document->diag->errors == errors;
}
