/* See json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Return the number of bytes at the start that are printable ASCII and need no escape. */
static size_t count_plain(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' && text[length] != '\\')
		length++;
	return length;
}

static void put_quoted(const char *text, FILE *stream)
{
	char shown[SK_LONGEST_IN_JSON + 1];

	putc('"', stream);
	for (;;) {
		size_t plain = count_plain(text);

		fwrite(text, 1, plain, stream);
		text += plain;
		if (!*text)
			break;
		text += sk_escape_json_character(text, shown);
		fputs(shown, stream);
	}
	putc('"', stream);
}

static void begin_line(const struct sk_json *json)
{
	fprintf(json->stream, "\n%*s", (int)(json->indent * json->lines), "");
}

/* Write all that precedes a value: the comma, the line, the key. */
static void begin_value(struct sk_json *json, const char *key)
{
	struct sk_json_level *level = json->depth ? &json->levels[json->depth - 1] : NULL;

	if (level) {
		if (level->filled)
			fputs(level->layout || json->compact ? "," : ", ", json->stream);
		if (level->layout == SK_JSON_LINES || (level->layout == SK_JSON_LINES_BETWEEN && level->filled))
			begin_line(json);
		level->filled = true;
	}
	if (key) {
		put_quoted(key, json->stream);
		fputs(json->compact ? ":" : ": ", json->stream);
	}
}

static void begin_level(struct sk_json *json, const char *key, const char *brackets, enum sk_json_layout layout)
{
	begin_value(json, key);
	putc(brackets[0], json->stream);
	json->levels[json->depth++] = (struct sk_json_level){.end = brackets[1], .layout = layout};
	json->lines += layout == SK_JSON_LINES;
}

void sk_json_begin_object(struct sk_json *json, const char *key, enum sk_json_layout layout)
{
	begin_level(json, key, "{}", layout);
}

void sk_json_begin_list(struct sk_json *json, const char *key, enum sk_json_layout layout)
{
	begin_level(json, key, "[]", layout);
}

void sk_json_end(struct sk_json *json)
{
	const struct sk_json_level *level = &json->levels[--json->depth];

	if (level->layout == SK_JSON_LINES) {
		json->lines--;
		begin_line(json);
	}
	putc(level->end, json->stream);
}

void sk_json_put_string(struct sk_json *json, const char *key, const char *text)
{
	begin_value(json, key);
	if (text)
		put_quoted(text, json->stream);
	else
		fputs("null", json->stream);
}

void sk_json_put_number(struct sk_json *json, const char *key, uint64_t number)
{
	fprintf(sk_json_put_value(json, key), "%" PRIu64, number);
}

void sk_json_put_bool(struct sk_json *json, const char *key, bool value)
{
	fputs(value ? "true" : "false", sk_json_put_value(json, key));
}

FILE *sk_json_put_value(struct sk_json *json, const char *key)
{
	begin_value(json, key);
	return json->stream;
}
