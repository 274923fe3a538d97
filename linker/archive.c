/* Reads archives in the System V/GNU format, thin ones included. Input: bytes. Output: members, one after the other.
 * The archive's symbol index is not used: the members' symbol tables hold the same information and cannot be out of
 * date. Members are not identified by name, since real archives hold several members of one name. */
#include <string.h>

#include "base/ranges.h"
#include "linker/object.h"

/* Limit of a member's name; in thin archives names are paths. The name is part of every message about the member and
 * precedes the places of its symbols, so it must not be as long as the archive. */
enum { LONGEST_NAME = 4096 };

struct header {
	char name[16];
	char date[12];
	char user[6];
	char group[6];
	char mode[8];
	char size[10];
	char end[2];
};

_Static_assert(sizeof(struct header) == 60, "the header of an archive's member has 60 bytes");

void sk_archive_open(struct sk_archive *archive, const uint8_t *bytes, uint64_t size)
{
	*archive = (struct sk_archive){
		.bytes = bytes, .size = size, .offset = strlen("!<arch>\n"), .thin = !memcmp(bytes, "!<thin>\n", 8)};
}

static enum sk_archive_result refuse_archive(struct sk_archive *archive, const char *error)
{
	archive->error = error;
	return SK_ARCHIVE_ERROR;
}

/* Parse a decimal number, left-aligned and padded with spaces. Ten digits cannot overflow. */
static bool parse_number(const char *text, size_t length, uint64_t *number)
{
	size_t i = 0;

	*number = 0;
	for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
		*number = *number * 10 + (uint64_t)(text[i] - '0');
	if (i == 0)
		return false;
	for (; i < length; i++)
		if (text[i] != ' ')
			return false;
	return true;
}

/* "/123": the name is at offset 123 in the table of long names and ends with "/\n". */
static bool find_long_name(const struct sk_archive *archive, const struct header *header, struct sk_member *member)
{
	uint64_t start;

	if (!parse_number(header->name + 1, sizeof(header->name) - 1, &start) || start >= archive->long_names_size)
		return false;

	const char *name = archive->long_names + start;
	const char *end = memchr(name, '\n', archive->long_names_size - start);

	if (!end || end - name > LONGEST_NAME)
		return false;
	if (end > name && end[-1] == '/')
		end--;
	member->name = name;
	member->name_length = (uint32_t)(end - name);
	return true;
}

/* "name/" and spaces. */
static void find_short_name(const struct header *header, struct sk_member *member)
{
	size_t length = sizeof(header->name);
	const char *slash = memchr(header->name, '/', length);

	if (slash)
		length = (size_t)(slash - header->name);
	else
		while (length && header->name[length - 1] == ' ')
			length--;
	member->name = header->name;
	member->name_length = (uint32_t)length;
}

static bool has_name(const struct header *header, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = length; i < sizeof(header->name); i++)
		if (header->name[i] != ' ')
			return false;
	return !memcmp(header->name, name, length);
}

enum sk_archive_result sk_archive_next(struct sk_archive *archive, struct sk_member *member)
{
	for (;;) {
		uint64_t start = archive->offset, size;

		if (start >= archive->size)
			return SK_ARCHIVE_END;
		if (!sk_within(start, sizeof(struct header), archive->size))
			return refuse_archive(archive, "the archive is truncated in a member's header");

		const struct header *header = (const struct header *)(archive->bytes + start);

		if (memcmp(header->end, "`\n", 2) != 0)
			return refuse_archive(archive,
					      "a member's header does not end as it must; the archive is damaged");
		if (!parse_number(header->size, sizeof(header->size), &size))
			return refuse_archive(archive, "a member's size is not a number; the archive is damaged");
		start += sizeof(*header);

		bool is_index = has_name(header, "/") || has_name(header, "/SYM64/");
		bool is_names = has_name(header, "//"), is_elsewhere = archive->thin && !is_index && !is_names;

		archive->offset = start;
		if (!is_elsewhere) {
			if (!sk_within(start, size, archive->size))
				return refuse_archive(
					archive, "a member ends after the end of the file; the archive is truncated");
			archive->offset += size + (size & 1); /* cannot overflow: start + size is within a file */
		}
		if (is_index)
			continue;
		if (is_names) {
			archive->long_names = (const char *)archive->bytes + start;
			archive->long_names_size = size;
			continue;
		}
		*member = (struct sk_member){.offset = start - sizeof(*header),
					     .bytes = is_elsewhere ? NULL : archive->bytes + start,
					     .size = size};
		if (header->name[0] == '#' && header->name[1] == '1' && header->name[2] == '/')
			return refuse_archive(archive, "the archive is in the BSD format, which is not supported");
		if (archive->thin && header->name[0] == '/' && memchr(header->name, ':', sizeof(header->name)))
			return refuse_archive(archive,
					      "the thin archive refers to members of another archive, which is not "
					      "supported; name that archive instead");
		if (header->name[0] != '/')
			find_short_name(header, member);
		else if (!find_long_name(archive, header, member))
			return refuse_archive(
				archive, "a member's long name is not in the table of names; the archive is damaged");
		return SK_ARCHIVE_MEMBER;
	}
}
