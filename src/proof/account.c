/* Packs the account into the contents of .sk.report and unpacks it; see proof.h for the format. Input: the fusion's
 * decisions, or the untrusted bytes of a section. */
#include "src/proof/proof.h"

#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "src/proof/proof-parts.h"

enum {
	HEADER = 8,
	FIELDS = 12, /* in a task's line */
	ORDER_FIELDS = 3,
	OBJECT_FIELDS = 2,
	NODE_FIELDS = 4, /* also in a slice's line */
	MAX_RATIO = 1032, /* no zlib stream expands further (deflate's own limit) */
};

static const char SPLITS[] = "splits", JOINS[] = "joins";

/* ---- packing ---- */

/* Compresses the text through a buffer; the whole text is never in memory. */
struct packing {
	z_stream stream;
	struct sk_arena *scratch;
	SK_ARRAY(unsigned char) packed; /* including the header */
	uint64_t length; /* of the text */
	size_t used; /* bytes in the buffer */
	char buffer[16 << 10];
};

/* zlib fails only for lack of memory. Lines are so alike that even the fastest level compresses them to a twentieth. */
static void start_packing(struct packing *packing, struct sk_arena *scratch)
{
	*packing = (struct packing){.scratch = scratch};
	for (int i = 0; i < HEADER; i++)
		sk_array_push(scratch, &packing->packed, 0);
	if (deflateInit(&packing->stream, Z_BEST_SPEED) != Z_OK)
		sk_out_of_memory();
}

/* Compress the buffer's contents; with Z_FINISH, also flush all remaining output. */
static void pack(struct packing *packing, int flush)
{
	unsigned char bytes[16 << 10];
	z_stream *stream = &packing->stream;

	stream->next_in = (Bytef *)packing->buffer;
	stream->avail_in = (uInt)packing->used;
	packing->length += packing->used;
	packing->used = 0;
	do {
		stream->next_out = bytes;
		stream->avail_out = sizeof(bytes);
		deflate(stream, flush);
		for (const unsigned char *byte = bytes; byte < stream->next_out; byte++)
			sk_array_push(packing->scratch, &packing->packed, *byte);
	} while (!stream->avail_out);
}

static void put_character(struct packing *packing, char character)
{
	if (packing->used == sizeof(packing->buffer))
		pack(packing, Z_NO_FLUSH);
	packing->buffer[packing->used++] = character;
}

/* Characters that separate fields and lines; fields contain none of them. */
static const char separators[] = "\t\n\r";

static void add_text(struct packing *packing, const char *text, char separator)
{
	size_t length = strlen(text);
	char *to = packing->buffer + packing->used;

	if (length >= sizeof(packing->buffer) - packing->used) {
		for (; *text; text++)
			put_character(packing, strchr(separators, *text) ? ' ' : *text);
		put_character(packing, separator);
		return;
	}
	memcpy(to, text, length + 1);
	for (char *at = to; (at = strpbrk(at, separators)) != NULL;)
		*at = ' ';
	to[length] = separator;
	packing->used += length + 1;
}

static void add_number(struct packing *packing, uint64_t number, char separator)
{
	char digits[21], *end = digits + sizeof(digits) - 1;

	*end = 0;
	do
		*--end = (char)('0' + number % 10);
	while (number /= 10);
	add_text(packing, end, separator);
}

static void add_task(struct packing *packing, const struct sk_account_entry *entry)
{
	add_number(packing, entry->task, '\t');
	add_text(packing, entry->name, '\t');
	add_text(packing, entry->scope ? entry->scope : "-", '\t');
	add_number(packing, entry->launch, '\t');
	add_text(packing, entry->code, '\t');
	add_text(packing, entry->sentence, '\t');
	add_text(packing, entry->tile_code, '\t');
	add_text(packing, entry->tile_sentence, '\t');
	add_text(packing, entry->block_code ? entry->block_code : "-", '\t');
	add_text(packing, entry->block_code ? entry->block_sentence : "-", '\t');
	add_text(packing, entry->rule ? entry->rule : "-", '\t');
	add_text(packing, entry->file ? entry->file : "-", '\n');
}

static void add_order(struct packing *packing, const struct sk_wanted_order *order)
{
	add_number(packing, order->later, '\t');
	add_number(packing, order->earlier, '\t');
	add_text(packing, order->event ? order->event : "-", '\n');
}

static void add_object(struct packing *packing, size_t kernel, const char *object)
{
	add_number(packing, kernel, '\t');
	add_text(packing, object, '\n');
}

static void add_node(struct packing *packing, const struct sk_account_node *node)
{
	add_text(packing, node->name, '\t');
	add_text(packing, node->op, '\t');
	add_text(packing, node->joins ? JOINS : SPLITS, '\t');
	add_number(packing, node->slice_count, '\n');
	for (uint32_t i = 0; i < node->slice_count; i++) {
		add_text(packing, node->slices[i].name, '\t');
		add_number(packing, node->slices[i].tensor, '\t');
		add_number(packing, node->slices[i].offset, '\t');
		add_number(packing, node->slices[i].bytes, '\n');
	}
}

static void add_account(struct packing *packing, const struct sk_account *account)
{
	for (size_t i = 0; i < account->count; i++)
		add_task(packing, &account->entries[i]);
	for (size_t i = 0; i < account->order_count; i++)
		add_order(packing, &account->orders[i]);
	for (size_t i = 0; i < account->object_count; i++)
		add_object(packing, i, account->objects[i]);
	for (size_t i = 0; i < account->node_count; i++)
		add_node(packing, &account->nodes[i]);
}

void sk_account_pack(struct sk_arena *arena, const struct sk_account *account, const void **bytes, uint64_t *size)
{
	struct sk_arena *scratch = sk_arena_create();
	struct packing packing;

	start_packing(&packing, scratch);
	add_account(&packing, account);
	pack(&packing, Z_FINISH);
	deflateEnd(&packing.stream);
	for (int i = 0; i < HEADER; i++)
		packing.packed.items[i] = (unsigned char)(packing.length >> (8 * i));
	*size = packing.packed.count;
	*bytes = sk_arena_copy(arena, (const char *)packing.packed.items, *size);
	sk_arena_destroy(scratch);
}

/* ---- unpacking ---- */

static bool parse_wide(const char *text, uint64_t *number)
{
	*number = 0;
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text < '0' || *text > '9' || !sk_mul(*number, 10, number) ||
		    !sk_add(*number, (uint64_t)(*text - '0'), number))
			return false;
	return true;
}

static bool parse_number(const char *text, uint32_t *number)
{
	uint64_t value;
	bool good = parse_wide(text, &value) && value <= UINT32_MAX;

	*number = good ? (uint32_t)value : 0;
	return good;
}

/* Split a NUL-terminated line at its tabs. Return the number of fields, or FIELDS + 1 if there are too many. */
static int cut_line(char *line, char *fields[FIELDS])
{
	int count = 0;

	for (char *field = line; field; count++) {
		char *tab = strchr(field, '\t');

		if (count == FIELDS)
			return FIELDS + 1;
		if (tab)
			*tab++ = '\0';
		fields[count] = field;
		field = tab;
	}
	return count;
}

static bool parse_task(char *const fields[FIELDS], struct sk_account_entry *entry)
{
	entry->name = fields[1];
	entry->scope = strcmp(fields[2], "-") == 0 ? NULL : fields[2];
	entry->code = fields[4];
	entry->sentence = fields[5];
	entry->tile_code = fields[6];
	entry->tile_sentence = fields[7];
	entry->block_code = strcmp(fields[8], "-") == 0 ? NULL : fields[8];
	entry->block_sentence = entry->block_code ? fields[9] : NULL;
	entry->rule = strcmp(fields[10], "-") == 0 ? NULL : fields[10];
	entry->file = strcmp(fields[11], "-") == 0 ? NULL : fields[11];
	return parse_number(fields[0], &entry->task) && parse_number(fields[3], &entry->launch);
}

static bool parse_order(char *const fields[FIELDS], struct sk_wanted_order *order)
{
	order->event = strcmp(fields[2], "-") == 0 ? NULL : fields[2];
	return parse_number(fields[0], &order->later) && parse_number(fields[1], &order->earlier);
}

/* Kernels must be listed in order. */
static bool parse_object(char *const fields[FIELDS], size_t number, const char **object)
{
	uint32_t kernel;

	*object = fields[1];
	return parse_number(fields[0], &kernel) && kernel == number;
}

static bool parse_node(char *const fields[FIELDS], struct sk_account_node *node)
{
	node->name = fields[0];
	node->op = fields[1];
	node->joins = strcmp(fields[2], JOINS) == 0;
	return (node->joins || strcmp(fields[2], SPLITS) == 0) && parse_number(fields[3], &node->slice_count);
}

static bool parse_slice(char *const fields[FIELDS], struct sk_account_slice *slice)
{
	slice->name = fields[0];
	return parse_number(fields[1], &slice->tensor) && parse_wide(fields[2], &slice->offset) &&
	       parse_wide(fields[3], &slice->bytes);
}

/* The records read so far. */
struct reading {
	struct sk_account_entry *entries;
	struct sk_wanted_order *orders;
	const char **objects;
	struct sk_account_node *nodes;
	struct sk_account_slice *slices;
	size_t entry_count, order_count, object_count, node_count, slice_count;
	uint32_t expected; /* slices of the last node that are still missing */
};

static bool read_order(struct reading *reading, char *const fields[FIELDS])
{
	struct sk_wanted_order *order = &reading->orders[reading->order_count++];

	return parse_order(fields, order) && (order == reading->orders || order[-1].later <= order->later);
}

static bool read_node(struct reading *reading, char *const fields[FIELDS])
{
	struct sk_account_node *node = &reading->nodes[reading->node_count++];

	node->slices = &reading->slices[reading->slice_count];
	if (!parse_node(fields, node))
		return false;
	reading->expected = node->slice_count;
	return true;
}

/* Lines of one kind are contiguous, and the kinds come in a fixed order. */
static bool read_line(struct reading *reading, char *const fields[FIELDS], int count)
{
	if (reading->expected) {
		reading->expected--;
		return count == NODE_FIELDS && parse_slice(fields, &reading->slices[reading->slice_count++]);
	}
	if (count == NODE_FIELDS)
		return read_node(reading, fields);
	if (count == OBJECT_FIELDS && !reading->node_count) {
		size_t number = reading->object_count++;

		return parse_object(fields, number, &reading->objects[number]);
	}
	if (count == ORDER_FIELDS && !reading->object_count && !reading->node_count)
		return read_order(reading, fields);
	return count == FIELDS && !reading->order_count && !reading->object_count && !reading->node_count &&
	       parse_task(fields, &reading->entries[reading->entry_count++]);
}

static const char *parse_text(struct sk_arena *arena, char *text, size_t length, struct sk_account *account)
{
	size_t lines = 0;

	if (memchr(text, '\0', length))
		return "the account's text holds a NUL byte";
	if (length && text[length - 1] != '\n')
		return "the account's last line has no end";
	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';

	struct reading reading = {.entries = SK_NEW_ARRAY(arena, struct sk_account_entry, lines),
				  .orders = SK_NEW_ARRAY(arena, struct sk_wanted_order, lines),
				  .objects = SK_NEW_ARRAY(arena, const char *, lines),
				  .nodes = SK_NEW_ARRAY(arena, struct sk_account_node, lines),
				  .slices = SK_NEW_ARRAY(arena, struct sk_account_slice, lines)};
	char *line = text;

	for (size_t i = 0; i < lines; i++) {
		char *end = strchr(line, '\n'), *fields[FIELDS];

		*end = '\0';
		if (!read_line(&reading, fields, cut_line(line, fields)))
			return sk_arena_print(arena, "line %zu of the account is malformed", i + 1);
		line = end + 1;
	}
	if (reading.expected)
		return "the account ends within a node";
	*account = (struct sk_account){.entries = reading.entries,
				       .count = reading.entry_count,
				       .orders = reading.orders,
				       .order_count = reading.order_count,
				       .objects = reading.objects,
				       .object_count = reading.object_count,
				       .nodes = reading.nodes,
				       .node_count = reading.node_count};
	return NULL;
}

const char *sk_account_unpack(struct sk_arena *arena, const void *bytes, uint64_t size, struct sk_account *account)
{
	const unsigned char *section = bytes;
	uint64_t length = 0;

	*account = (struct sk_account){0};
	if (size < HEADER)
		return "the account is shorter than its header";
	for (int i = 0; i < HEADER; i++)
		length |= (uint64_t)section[i] << (8 * i);
	if (length / MAX_RATIO > size - HEADER)
		return sk_arena_print(arena, "the account claims %llu bytes, more than %llu compressed bytes can hold",
				      (unsigned long long)length, (unsigned long long)(size - HEADER));

	char *text = sk_arena_alloc(arena, length + 1, 1);
	uLongf unpacked = length;
	uLong used = size - HEADER;

	int result = uncompress2((Bytef *)text, &unpacked, section + HEADER, &used);

	if (result == Z_MEM_ERROR)
		sk_out_of_memory();
	if (result != Z_OK || unpacked != length || used != size - HEADER)
		return "the account's zlib stream is damaged";
	return parse_text(arena, text, length, account);
}

bool sk_account_has_node(const struct sk_account *account, const char *name)
{
	for (size_t i = 0; i < account->node_count; i++)
		if (!strcmp(account->nodes[i].name, name))
			return true;
	return false;
}

const struct sk_account_entry *sk_account_find(const struct sk_account *account, uint32_t task)
{
	if (task < account->count && account->entries[task].task == task) /* sklink writes them in this order */
		return &account->entries[task];
	for (size_t i = 0; i < account->count; i++)
		if (account->entries[i].task == task)
			return &account->entries[i];
	return NULL;
}
