/* A long text in two threads. It is cut between two lines of what stands under a key of the root, such as `tasks:`, and
 * the lines behind get another key in front of them, so that each half is a document. Comes in: the text. Goes out: the
 * nodes that it has as a whole. That they are the same follows from YAML's indentation: where the first half by itself
 * is a document, no quotes, brackets or lines of a scalar are open behind it, so a line that is indented as the entries
 * of a list or map in block style are, which it ends with, begins the next entry. Whatever is not as expected, or an
 * error, is for the whole text to show. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "src/base/beside.h"
#include "src/base/map.h"
#include "src/document/builder.h"

#define KEY "x:\n" /* in front of the second half */

enum { ROOT, FIRST_KEY, FIRST_VALUE, FIRST_ENTRY }; /* nodes of the second half */

struct half {
	struct sk_document document; /* the whole one, with another sink */
	struct sk_diag diag;
	struct sk_arena *scratch;
	const char *text;
	size_t size, room;
	struct sk_document_nodes nodes;
	bool good;
};

/* ---- where to cut ---- */

static const char *next_line(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return newline ? newline + 1 : end;
}

static const char *line_of(const char *text, const char *at)
{
	const char *newline = memrchr(text, '\n', (size_t)(at - text));

	return newline ? newline + 1 : text;
}

/* What the line begins with, behind blanks; NULL: it is empty, or a comment. */
static const char *content(const char *line, const char *end)
{
	while (line < end && *line == ' ')
		line++;
	return line < end && !strchr("\r\n\t#", *line) ? line : NULL;
}

/* The first line from the middle on that is indented as the first one is under the key of the root there, and begins
 * an entry, as that does; NULL: there is none. */
static const char *find_cut(const char *text, const char *end, size_t *indentation)
{
	const char *middle = text + (end - text) / 2, *key = line_of(text, middle), *first, *entry;

	while (key > text && !isalpha((unsigned char)*key))
		key = line_of(text, key - 1);
	first = next_line(key, end);
	while (first < middle && !content(first, end))
		first = next_line(first, end);
	if (first >= middle || !isalpha((unsigned char)*key))
		return NULL;
	entry = content(first, end);
	*indentation = (size_t)(entry - first);
	for (const char *line = next_line(middle, end); line < end; line = next_line(line, end)) {
		const char *start = content(line, end);

		if (start && (size_t)(start - line) == *indentation && (*start == '-') == (*entry == '-'))
			return line;
	}
	return NULL;
}

/* ---- the halves ---- */

static void build_half(void *context)
{
	struct half *half = context;

	half->good =
		sk_document_build(&half->document, half->scratch, half->text, half->size, half->room, &half->nodes);
}

static void init_half(struct half *half, const struct sk_document *document, struct sk_arena *scratch)
{
	half->document = *document;
	half->scratch = scratch;
	sk_diag_init(&half->diag, scratch);
	half->document.diag = &half->diag;
	half->document.arena = scratch;
}

static struct sk_node *last_of(struct sk_node *node)
{
	struct sk_node *last = node + 1;

	while (last->next)
		last += last->next;
	return last;
}

static bool is_block(const struct sk_node *node, enum sk_node_kind kind, size_t indentation)
{
	return node->kind == kind && node->plain && node->count && node->column == indentation + 1;
}

/* A key without a value ("? a") has an empty one where the next token stands, which the first half does not know. */
static bool ends_early(const struct sk_document_nodes *nodes)
{
	return nodes->ended || nodes->list.items[nodes->list.count - 1].line > nodes->lines;
}

/* The list or map that the first half ends with, which the second one goes on with; NULL: they do not. */
static struct sk_node *find_open(const struct half *front, const struct half *behind, size_t indentation)
{
	struct sk_node *root = front->nodes.list.items, *open;
	const struct sk_node *more = behind->nodes.list.items;

	if (ends_early(&front->nodes) || !is_block(root, SK_NODE_MAP, 0) || !is_block(more, SK_NODE_MAP, 0) ||
	    front->nodes.list.count + behind->nodes.list.count > SK_DOCUMENT_MAX_NODES)
		return NULL;
	open = last_of(root) + 1;
	return open->kind != SK_NODE_SCALAR && is_block(open, open->kind, indentation) &&
			       is_block(&more[FIRST_VALUE], open->kind, indentation)
		       ? open
		       : NULL;
}

static bool has_duplicates(const struct sk_node *map, struct sk_arena *scratch)
{
	struct sk_map seen;
	uint32_t index = 0;

	sk_map_init(&seen, scratch);
	sk_map_reserve(&seen, map->count);
	for (const struct sk_node *key = sk_node_first(map); key; key = sk_node_next(key), index++)
		if (sk_map_insert(&seen, key->text, key->length, index) != index)
			return true;
	return false;
}

/* The nodes of the second half behind those of the first. Each says how far it is to the next, so they are copied as
 * they are, but for their lines. */
static void append(struct half *front, const struct half *behind)
{
	for (size_t i = FIRST_ENTRY; i < behind->nodes.list.count; i++) {
		struct sk_node node = behind->nodes.list.items[i];

		node.line += front->nodes.lines - 1;
		sk_array_push(front->scratch, &front->nodes.list, node);
	}
}

/* False: they do not fit, or keys that are equal are for the whole text to show. */
static bool join(struct half *front, const struct half *behind, size_t indentation)
{
	const struct sk_node *more = behind->nodes.list.items;
	struct sk_node *open = find_open(front, behind, indentation), *root, *key, *entry, *added;
	size_t at, count = front->nodes.list.count;

	if (!open)
		return false;
	at = (size_t)(open - front->nodes.list.items);
	append(front, behind);
	root = front->nodes.list.items;
	open = root + at;
	key = open - 1;
	entry = last_of(open);
	added = root + count - FIRST_ENTRY;
	entry->next = (uint32_t)(added + FIRST_ENTRY - entry);
	open->count += more[FIRST_VALUE].count;
	if (more[FIRST_KEY].next)
		key->next = (uint32_t)(added + FIRST_KEY + more[FIRST_KEY].next - key);
	root->count += more[ROOT].count - 1;
	return !has_duplicates(root, front->scratch) &&
	       (open->kind == SK_NODE_LIST || !has_duplicates(open, front->scratch));
}

const struct sk_node *sk_document_build_halves(const struct sk_document *document, struct sk_arena *scratch,
					       const char *text, size_t size)
{
	size_t indentation;
	const char *cut = find_cut(text, text + size, &indentation);
	struct half front = {.text = text}, behind;
	struct sk_beside beside;

	if (!cut)
		return NULL;
	front.size = (size_t)(cut - text);
	front.room = sk_document_room(size); /* for both */

	struct sk_arena *other = sk_arena_create();
	char *copy = sk_arena_alloc(other, strlen(KEY) + size - front.size, 1);

	memcpy(copy, KEY, strlen(KEY));
	memcpy(copy + strlen(KEY), cut, size - front.size);
	behind = (struct half){.text = copy, .size = strlen(KEY) + size - front.size};
	behind.room = sk_document_room(behind.size);
	init_half(&front, document, scratch);
	init_half(&behind, document, other);
	front.document.texts = document->texts ? document->texts : document->arena;
	behind.document.texts = other;
	sk_beside_start(&beside, document->threads, build_half, &behind);
	build_half(&front);
	sk_beside_wait(&beside);

	bool joined = front.good && behind.good && join(&front, &behind, indentation);

	sk_arena_adopt(front.document.texts, other);
	return joined ? front.nodes.list.items : NULL;
}
