/* The check of JSON; see json.h. Each function reads the element that it is named after, and returns true with the
 * position after it. If the text has something else, the position is there. */
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum { DEEPEST = 64 };

struct reader {
	const char *at;
	int depth;
};

static void read_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t\r\n");
}

static bool read_sign(struct reader *reader, char sign)
{
	bool there = *reader->at == sign;

	reader->at += there;
	return there;
}

static bool read_word(struct reader *reader, const char *word)
{
	while (*word && read_sign(reader, *word))
		word++;
	return !*word;
}

static bool read_digits(struct reader *reader)
{
	size_t count = strspn(reader->at, "0123456789");

	reader->at += count;
	return count > 0;
}

static bool read_number(struct reader *reader)
{
	read_sign(reader, '-');
	if (!read_sign(reader, '0') && !read_digits(reader))
		return false;
	if (read_sign(reader, '.') && !read_digits(reader))
		return false;
	if (!read_sign(reader, 'e') && !read_sign(reader, 'E'))
		return true;
	if (!read_sign(reader, '+'))
		read_sign(reader, '-');
	return read_digits(reader);
}

static bool read_escape(struct reader *reader)
{
	if (!read_sign(reader, 'u')) {
		bool known = *reader->at && strchr("\"\\/bfnrt", *reader->at);

		reader->at += known;
		return known;
	}
	for (int i = 0; i < 4; i++, reader->at++)
		if (!*reader->at || !strchr("0123456789abcdefABCDEF", *reader->at))
			return false;
	return true;
}

static bool read_string(struct reader *reader)
{
	if (!read_sign(reader, '"'))
		return false;
	while (!read_sign(reader, '"')) {
		size_t length = (unsigned char)*reader->at < ' ' ? 0 : sk_character_length(reader->at);

		if (!length)
			return false;
		if (!read_sign(reader, '\\'))
			reader->at += length;
		else if (!read_escape(reader))
			return false;
	}
	return true;
}

static bool read_value(struct reader *reader);

static bool read_name(struct reader *reader)
{
	read_blanks(reader);
	if (!read_string(reader))
		return false;
	read_blanks(reader);
	return read_sign(reader, ':');
}

/* Read the items of a list or an object after its opening sign. */
static bool read_items(struct reader *reader, char end, bool named)
{
	if (++reader->depth > DEEPEST)
		return false;
	read_blanks(reader);
	if (!read_sign(reader, end)) {
		do {
			if ((named && !read_name(reader)) || !read_value(reader))
				return false;
		} while (read_sign(reader, ','));
		if (!read_sign(reader, end))
			return false;
	}
	reader->depth--;
	return true;
}

/* Read a value with the blanks around it. */
static bool read_value(struct reader *reader)
{
	bool good;

	read_blanks(reader);
	switch (*reader->at) {
	case '{':
		reader->at++;
		good = read_items(reader, '}', true);
		break;
	case '[':
		reader->at++;
		good = read_items(reader, ']', false);
		break;
	case '"':
		good = read_string(reader);
		break;
	case 't':
		good = read_word(reader, "true");
		break;
	case 'f':
		good = read_word(reader, "false");
		break;
	case 'n':
		good = read_word(reader, "null");
		break;
	default:
		good = read_number(reader);
	}
	read_blanks(reader);
	return good;
}

const char *sk_json_find_error(const char *text)
{
	struct reader reader = {.at = text};

	return read_value(&reader) && !*reader.at ? NULL : reader.at;
}
