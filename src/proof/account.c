/* Packs the account into the contents of .sk.report and back; see account.h for the format. In come the fusion's
 * decisions, or the bytes of a section that anybody may have written. */
#include "src/proof/account.h"

#include <string.h>
#include <zlib.h>

enum {
	HEADER = 8,
	FIELDS = 11, /* of a task's line */
	ORDER_FIELDS = 3,
	OBJECT_FIELDS = 2,
	MAX_RATIO = 1032, /* no zlib stream expands further (deflate's own limit) */
};

static void put_field(char **end, const char *text, char separator)
{
	for (; *text; text++)
		*(*end)++ = *text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text;
	*(*end)++ = separator;
}

static const char *print_number(struct sk_arena *scratch, uint32_t number)
{
	enum { DIGITS = 10 };
	char *end = (char *)sk_arena_alloc(scratch, DIGITS + 1, 1) + DIGITS;

	do
		*--end = (char)('0' + number % 10);
	while (number /= 10);
	return end;
}

/* The account as text, in the scratch arena. */
static char *format_account(struct sk_arena *scratch, const struct sk_account *account, size_t *length)
{
	size_t task_fields = account->count * FIELDS, order_end = task_fields + account->order_count * ORDER_FIELDS,
	       all = order_end + account->object_count * OBJECT_FIELDS, total = 0;
	const char **fields = SK_NEW_ARRAY(scratch, const char *, all);

	for (size_t i = 0; i < account->count; i++) {
		const struct sk_account_entry *entry = &account->entries[i];
		const char **line = &fields[i * FIELDS];

		line[0] = print_number(scratch, entry->task);
		line[1] = entry->name;
		line[2] = entry->scope ? entry->scope : "-";
		line[3] = print_number(scratch, entry->launch);
		line[4] = entry->code;
		line[5] = entry->sentence;
		line[6] = entry->tile_code;
		line[7] = entry->tile_sentence;
		line[8] = entry->block_code ? entry->block_code : "-";
		line[9] = entry->block_code ? entry->block_sentence : "-";
		line[10] = entry->rule ? entry->rule : "-";
	}
	for (size_t i = 0; i < account->order_count; i++) {
		const struct sk_wanted_order *order = &account->orders[i];
		const char **line = &fields[task_fields + i * ORDER_FIELDS];

		line[0] = print_number(scratch, order->later);
		line[1] = print_number(scratch, order->earlier);
		line[2] = order->event ? order->event : "-";
	}
	for (size_t i = 0; i < account->object_count; i++) {
		fields[order_end + i * OBJECT_FIELDS] = print_number(scratch, (uint32_t)i);
		fields[order_end + i * OBJECT_FIELDS + 1] = account->objects[i];
	}
	for (size_t i = 0; i < all; i++)
		total += strlen(fields[i]) + 1;

	char *text = sk_arena_alloc(scratch, total + 1, 1), *end = text;

	for (size_t i = 0; i < all; i++) {
		bool last = i < task_fields ? i % FIELDS == FIELDS - 1
			    : i < order_end ? (i - task_fields) % ORDER_FIELDS == ORDER_FIELDS - 1
					    : (i - order_end) % OBJECT_FIELDS == OBJECT_FIELDS - 1;

		put_field(&end, fields[i], last ? '\n' : '\t');
	}
	*length = total;
	return text;
}

void sk_account_pack(struct sk_arena *arena, const struct sk_account *account, const void **bytes, uint64_t *size)
{
	struct sk_arena *scratch = sk_arena_create();
	size_t length;
	char *text = format_account(scratch, account, &length);
	uLongf packed = compressBound(length);
	unsigned char *section = sk_arena_alloc(scratch, HEADER + packed, 1);

	for (int i = 0; i < HEADER; i++)
		section[i] = (unsigned char)((uint64_t)length >> (8 * i));
	/* Only a lack of memory can make this fail: the room is compressBound's. The lines are so alike that the
	 * fastest level leaves a twentieth. */
	if (compress2(section + HEADER, &packed, (const Bytef *)text, length, Z_BEST_SPEED) != Z_OK)
		sk_out_of_memory();
	*size = HEADER + packed;
	*bytes = sk_arena_copy(arena, (const char *)section, *size);
	sk_arena_destroy(scratch);
}

static bool parse_number(const char *text, uint32_t *number)
{
	uint64_t value = 0;
	size_t digits = strlen(text);

	if (digits == 0 || digits > 10)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*number = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* Cuts a line, NUL-terminated, at its tabs. Returns the number of its fields, or one more than there can be. */
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
	return parse_number(fields[0], &entry->task) && parse_number(fields[3], &entry->launch);
}

static bool parse_order(char *const fields[FIELDS], struct sk_wanted_order *order)
{
	order->event = strcmp(fields[2], "-") == 0 ? NULL : fields[2];
	return parse_number(fields[0], &order->later) && parse_number(fields[1], &order->earlier);
}

/* Kernels stand in their order. */
static bool parse_object(char *const fields[FIELDS], size_t number, const char **object)
{
	uint32_t kernel;

	*object = fields[1];
	return parse_number(fields[0], &kernel) && kernel == number;
}

static const char *parse_text(struct sk_arena *arena, char *text, size_t length, struct sk_account *account)
{
	size_t lines = 0, tasks = 0, orders = 0, objects = 0;

	if (memchr(text, '\0', length))
		return "the account's text holds a NUL byte";
	if (length && text[length - 1] != '\n')
		return "the account's last line has no end";
	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';

	struct sk_account_entry *entries = SK_NEW_ARRAY(arena, struct sk_account_entry, lines);
	struct sk_wanted_order *wanted = SK_NEW_ARRAY(arena, struct sk_wanted_order, lines);
	const char **names = SK_NEW_ARRAY(arena, const char *, lines);
	char *line = text;

	for (size_t i = 0; i < lines; i++) {
		char *end = strchr(line, '\n'), *fields[FIELDS];

		*end = '\0';

		int count = cut_line(line, fields);
		bool good = count == FIELDS	     ? !orders && !objects && parse_task(fields, &entries[tasks++])
			    : count == ORDER_FIELDS  ? !objects && parse_order(fields, &wanted[orders++])
			    : count == OBJECT_FIELDS ? parse_object(fields, objects, &names[objects])
						     : false;

		objects += count == OBJECT_FIELDS;
		if (!good || (orders > 1 && wanted[orders - 1].later < wanted[orders - 2].later))
			return sk_arena_print(arena, "line %zu of the account is malformed", i + 1);
		line = end + 1;
	}
	*account = (struct sk_account){entries, tasks, wanted, orders, names, objects};
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

const struct sk_account_entry *sk_account_find(const struct sk_account *account, uint32_t task)
{
	if (task < account->count && account->entries[task].task == task) /* as sklink writes them */
		return &account->entries[task];
	for (size_t i = 0; i < account->count; i++)
		if (account->entries[i].task == task)
			return &account->entries[i];
	return NULL;
}
