/* Headers of 512 bytes, each followed by its file's bytes up to a multiple of that; two blocks of zeros end the archive
 * (POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header"). */
#include "base/file.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"

enum { BLOCK = 512 };

#define SIZE_LIMIT (UINT64_C(1) << 33) /* eleven octal digits */

struct header {
	char name[100];
	char mode[8], owner[8], group[8];
	char size[12], time[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6], version[2];
	char owner_name[32], group_name[32];
	char major[8], minor[8];
	char prefix[155];
	char unused[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static void add_part(struct sk_tar *tar, const void *bytes, uint64_t size)
{
	if (size)
		sk_array_push(tar->arena, &tar->parts, (struct sk_file_part){tar->size, bytes, size});
	tar->size += (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* A value that does not fit into the header is cut; an extended header before it has the whole value. */
static void add_entry(struct sk_tar *tar, const char *path, char type, const void *bytes, uint64_t size)
{
	struct header *header = SK_NEW(tar->arena, struct header);
	size_t length = strnlen(path, sizeof(header->name));
	char digits[24];
	unsigned sum = 0;

	memcpy(header->name, path, length);
	memcpy(header->mode, type == '5' ? "0000755" : "0000644", sizeof(header->mode));
	memcpy(header->owner, "0000000", sizeof(header->owner));
	memcpy(header->group, "0000000", sizeof(header->group));
	snprintf(digits, sizeof(digits), "%011" PRIo64, size < SIZE_LIMIT ? size : 0);
	memcpy(header->size, digits, sizeof(header->size));
	memcpy(header->time, "00000000000", sizeof(header->time));
	memset(header->checksum, ' ', sizeof(header->checksum));
	header->type = type;
	memcpy(header->magic, "ustar", sizeof(header->magic));
	memcpy(header->version, "00", sizeof(header->version));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += ((const unsigned char *)header)[i];
	snprintf(digits, sizeof(digits), "%06o", sum);
	memcpy(header->checksum, digits, 7); /* six digits and a NUL; the space after them stays */
	add_part(tar, header, sizeof(*header));
	add_part(tar, bytes, size);
}

/* "LENGTH name=value\n", where the length includes its own digits. */
static const char *extended_record(struct sk_arena *arena, const char *name, const char *value)
{
	size_t rest = strlen(name) + strlen(value) + 3, length = rest + 1;

	while ((size_t)snprintf(NULL, 0, "%zu", length) + rest != length)
		length++;
	return sk_arena_print(arena, "%zu %s=%s\n", length, name, value);
}

static void add_extended(struct sk_tar *tar, const char *path, uint64_t size)
{
	const char *records = "";

	if (strlen(path) > sizeof(((struct header *)0)->name))
		records = extended_record(tar->arena, "path", path);
	if (size >= SIZE_LIMIT)
		records = sk_arena_print(
			tar->arena, "%s%s", records,
			extended_record(tar->arena, "size", sk_arena_print(tar->arena, "%" PRIu64, size)));
	if (*records)
		add_entry(tar, "extended", 'x', records, strlen(records));
}

void sk_tar_add_file(struct sk_tar *tar, const char *path, const void *bytes, uint64_t size)
{
	add_extended(tar, path, size);
	add_entry(tar, path, '0', bytes, size);
}

void sk_tar_add_folder(struct sk_tar *tar, const char *path)
{
	add_extended(tar, path, 0);
	add_entry(tar, path, '5', NULL, 0);
}

void sk_tar_finish(struct sk_tar *tar)
{
	static const char end[2 * BLOCK];

	add_part(tar, end, sizeof(end));
}
