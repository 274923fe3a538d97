/* Packs the report into the contents of .sk.report and back; see report.h for the format. In come the partition's
 * decisions, or the bytes of a section that anybody may have written. */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	HEADER = 8,
	FIELDS = 6,
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

/* The report as text, in the scratch arena. */
static char *format_entries(struct sk_arena *scratch, const struct sk_report_entry *entries, size_t count,
			    size_t *length)
{
	const char **lines = SK_NEW_ARRAY(scratch, const char *, count *FIELDS);
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		const struct sk_report_entry *entry = &entries[i];
		const char **fields = &lines[i * FIELDS];

		fields[0] = print_number(scratch, entry->task);
		fields[1] = entry->name;
		fields[2] = entry->scope ? entry->scope : "-";
		fields[3] = print_number(scratch, entry->launch);
		fields[4] = entry->code;
		fields[5] = entry->sentence;
		for (size_t f = 0; f < FIELDS; f++)
			total += strlen(fields[f]) + 1;
	}

	char *text = sk_arena_alloc(scratch, total + 1, 1), *end = text;

	for (size_t i = 0; i < count * FIELDS; i++)
		put_field(&end, lines[i], i % FIELDS == FIELDS - 1 ? '\n' : '\t');
	*length = total;
	return text;
}

void sk_report_pack(struct sk_arena *arena, const struct sk_report_entry *entries, size_t count, const void **bytes,
		    uint64_t *size)
{
	struct sk_arena *scratch = sk_arena_create();
	size_t length;
	char *text = format_entries(scratch, entries, count, &length);
	uLongf packed = compressBound(length);
	unsigned char *section = sk_arena_alloc(scratch, HEADER + packed, 1);

	for (int i = 0; i < HEADER; i++)
		section[i] = (unsigned char)((uint64_t)length >> (8 * i));
	/* Only a lack of memory can make this fail: the room is compressBound's. The lines are so alike that the
	 * fastest level leaves a twentieth. */
	if (compress2(section + HEADER, &packed, (const Bytef *)text, length, Z_BEST_SPEED) != Z_OK)
		abort();
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

/* Cuts a line, NUL-terminated, at its tabs. */
static bool parse_line(char *line, struct sk_report_entry *entry)
{
	char *fields[FIELDS];
	int count = 0;

	for (char *field = line; field; count++) {
		char *tab = strchr(field, '\t');

		if (count == FIELDS)
			return false;
		if (tab)
			*tab++ = '\0';
		fields[count] = field;
		field = tab;
	}
	if (count != FIELDS || !parse_number(fields[0], &entry->task) || !parse_number(fields[3], &entry->launch))
		return false;
	entry->name = fields[1];
	entry->scope = strcmp(fields[2], "-") == 0 ? NULL : fields[2];
	entry->code = fields[4];
	entry->sentence = fields[5];
	return true;
}

static const char *parse_text(struct sk_arena *arena, char *text, size_t length, const struct sk_report_entry **entries,
			      size_t *count)
{
	size_t lines = 0;

	if (memchr(text, '\0', length))
		return "the report's text holds a NUL byte";
	if (length && text[length - 1] != '\n')
		return "the report's last line has no end";
	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';

	struct sk_report_entry *parsed = SK_NEW_ARRAY(arena, struct sk_report_entry, lines);
	char *line = text;

	for (size_t i = 0; i < lines; i++) {
		char *end = strchr(line, '\n');

		*end = '\0';
		if (!parse_line(line, &parsed[i]))
			return sk_arena_print(arena, "line %zu of the report is malformed", i + 1);
		line = end + 1;
	}
	*entries = parsed;
	*count = lines;
	return NULL;
}

const char *sk_report_unpack(struct sk_arena *arena, const void *bytes, uint64_t size,
			     const struct sk_report_entry **entries, size_t *count)
{
	const unsigned char *section = bytes;
	uint64_t length = 0;

	*entries = NULL;
	*count = 0;
	if (size < HEADER)
		return "the report is shorter than its header";
	for (int i = 0; i < HEADER; i++)
		length |= (uint64_t)section[i] << (8 * i);
	if (length / MAX_RATIO > size - HEADER)
		return sk_arena_print(arena, "the report claims %llu bytes, more than %llu compressed bytes can hold",
				      (unsigned long long)length, (unsigned long long)(size - HEADER));

	char *text = sk_arena_alloc(arena, length + 1, 1);
	uLongf unpacked = length;
	uLong used = size - HEADER;

	if (uncompress2((Bytef *)text, &unpacked, section + HEADER, &used) != Z_OK || unpacked != length ||
	    used != size - HEADER)
		return "the report's zlib stream is damaged";
	return parse_text(arena, text, length, entries, count);
}
