/* Reads files. Input: a path. Output: opened objects, with every check done that does not need the other inputs. An
 * archive's members are listed first and opened later, so that several threads can open them. Small files are read into
 * a buffer, and their needed parts are copied; larger ones and archives are mapped and used in place until the linker
 * is destroyed. The needed parts of small members are also copied: they are less than half of the bytes, and are then
 * adjacent. This file does not know the linker, so several threads can read. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "linker/object.h"

enum { MAPPED_FROM = 64 * 1024 };

static bool refuse_file(struct sk_reader *reader, const char *path, const char *text)
{
	sk_error(reader->diag, (struct sk_place){.file = path}, "%s", text);
	return false;
}

/* Read a whole file; a file that shrinks meanwhile is an error. */
static bool read_all(struct sk_reader *reader, int descriptor, const struct sk_file *file, uint8_t *bytes)
{
	for (uint64_t done = 0; done < file->size;) {
		ssize_t got = read(descriptor, bytes + done, file->size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return refuse_file(reader, file->path,
					   got < 0 ? strerror(errno) : "the file has become shorter");
		done += (uint64_t)got;
	}
	return true;
}

/* Return room for a small file. */
static uint8_t *buffer_of(struct sk_reader *reader)
{
	if (!reader->buffer)
		reader->buffer = sk_arena_alloc(reader->arena, MAPPED_FROM, 1);
	return reader->buffer;
}

/* Set file->bytes: in the reader's buffer, or mapped. */
static bool take_bytes(struct sk_reader *reader, int descriptor, struct sk_file *file)
{
	if (file->size < MAPPED_FROM) {
		file->bytes = buffer_of(reader);
		return read_all(reader, descriptor, file, reader->buffer);
	}

	file->bytes = sk_map_file(descriptor, file->size, file->path);
	file->mapped = file->bytes != NULL;
	return file->mapped || refuse_file(reader, file->path, strerror(errno));
}

/* Keep the buffer's contents. */
static void keep_bytes(struct sk_reader *reader, struct sk_file *file)
{
	uint8_t *bytes;

	if (file->mapped)
		return;
	bytes = sk_arena_alloc(reader->arena, file->size, 1);
	memcpy(bytes, file->bytes, file->size);
	file->bytes = bytes;
}

static bool open_file(struct sk_reader *reader, const char *path, struct sk_reading *reading)
{
	*reading = (struct sk_reading){.path = path, .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	return reading->descriptor >= 0 || refuse_file(reader, path, strerror(errno));
}

/* Identify an open file; close it if it is not a regular one. */
static bool identify(struct sk_reader *reader, struct sk_reading *reading)
{
	struct stat status;

	if (fstat(reading->descriptor, &status) < 0)
		refuse_file(reader, reading->path, strerror(errno));
	else if (!S_ISREG(status.st_mode))
		refuse_file(reader, reading->path, "is not a regular file");
	else
		reading->ok = reading->identified = true;
	reading->device = status.st_dev;
	reading->inode = status.st_ino;
	reading->size = (uint64_t)status.st_size;
	if (!reading->ok)
		close(reading->descriptor);
	return reading->ok;
}

bool sk_reading_open(struct sk_reader *reader, const char *path, struct sk_reading *reading)
{
	return open_file(reader, path, reading) && identify(reader, reading);
}

/* Return the kind of bytes that are neither an object nor an archive, or NULL. */
static const char *unusable_kind(const uint8_t *bytes, uint64_t size)
{
	static const struct {
		const char *magic, *text;
	} others[] = {
		{"BC\xc0\xde", "holds only intermediate code of link-time optimisation (LLVM bitcode); recompile "
			       "without -flto"},
		{"\xde\xc0\x17\x0b", "holds only intermediate code of link-time optimisation (LLVM bitcode); "
				     "recompile without -flto"},
		{"/* GNU ld script", "is a linker script; name the archive that it refers to"},
	};

	if (size >= SELFMAG && !memcmp(bytes, ELFMAG, SELFMAG))
		return NULL;
	if (size >= 8 && (!memcmp(bytes, "!<arch>\n", 8) || !memcmp(bytes, "!<thin>\n", 8)))
		return NULL;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (size >= strlen(others[i].magic) && !memcmp(bytes, others[i].magic, strlen(others[i].magic)))
			return others[i].text;
	return size ? "is neither an object nor an archive" : "is empty";
}

static bool is_bitcode(const struct sk_member *member)
{
	return member->size >= 4 &&
	       (!memcmp(member->bytes, "BC\xc0\xde", 4) || !memcmp(member->bytes, "\xde\xc0\x17\x0b", 4));
}

static bool open_member(struct sk_reader *reader, const struct sk_reading *reading, struct sk_member *member)
{
	struct sk_object_source source = {.path = reading->path,
					  .member = member->name,
					  .member_length = member->name_length,
					  .transient = reading->mapped && member->size < MAPPED_FROM,
					  .bytes = member->bytes,
					  .size = member->size};
	enum sk_object_result result = SK_OBJECT_INTERMEDIATE;

	if (member->size >= SELFMAG && !memcmp(member->bytes, ELFMAG, SELFMAG)) {
		result = sk_object_open(reader, &source, &member->object);
	} else if (!is_bitcode(member)) {
		sk_warning(reader->diag, (struct sk_place){.file = reading->path},
			   "member %.*s is not an object and is ignored", (int)member->name_length, member->name);
		return true;
	}
	if (result == SK_OBJECT_INTERMEDIATE) {
		member->intermediate = true;
		sk_warning(reader->diag, (struct sk_place){.file = reading->path},
			   "member %.*s holds only intermediate code of link-time optimisation and is ignored",
			   (int)member->name_length, member->name);
	}
	return result != SK_OBJECT_BAD;
}

/* ---- fetching ahead ----
 *
 * The tables of a member are far apart in the file, and each begins where another one says. Reading them is therefore
 * mostly waiting for memory, unless those of later members are on their way meanwhile. */

enum {
	LINE = 64, /* bytes of a cache line */
	MOST_LINES = 16, /* of a table */
	HEADER_AHEAD = 12, /* members whose ELF header is fetched … */
	SECTIONS_AHEAD = 8, /* … whose section headers are, when the ELF header has come … */
	TABLES_AHEAD = 4, /* … and whose symbols and names are, when the section headers have come */
	MOST_TABLES = 3, /* which assemblers write last */
};

/* Fetch a range of the member's bytes, if it has such bytes. */
static void fetch(const struct sk_member *member, uint64_t start, uint64_t size)
{
	if (start >= member->size || size > member->size - start)
		return;
	for (uint64_t at = 0; at < size && at < MOST_LINES * LINE; at += LINE)
		__builtin_prefetch(member->bytes + start + at);
	if (size)
		__builtin_prefetch(member->bytes + start + size - 1);
}

static bool has_sections(const struct sk_member *member, uint64_t *start, uint64_t *count)
{
	const sk_elf_header *header = (const sk_elf_header *)member->bytes;

	if (member->size < sizeof(*header))
		return false;
	*start = header->e_shoff;
	*count = header->e_shnum;
	return *start < member->size && *count <= (member->size - *start) / sizeof(Elf64_Shdr);
}

static void fetch_tables(const struct sk_member *member)
{
	const sk_elf_section *sections;
	uint64_t start, count;

	if (!has_sections(member, &start, &count))
		return;
	sections = (const sk_elf_section *)(member->bytes + start);
	for (uint64_t i = count > MOST_TABLES ? count - MOST_TABLES : 0; i < count; i++)
		fetch(member, sections[i].sh_offset, sections[i].sh_size);
}

static void fetch_ahead(const struct sk_member *members, size_t next, size_t end)
{
	uint64_t start, count;

	if (next + HEADER_AHEAD < end)
		fetch(&members[next + HEADER_AHEAD], 0, sizeof(Elf64_Ehdr));
	if (next + SECTIONS_AHEAD < end && has_sections(&members[next + SECTIONS_AHEAD], &start, &count))
		fetch(&members[next + SECTIONS_AHEAD], start, count * sizeof(Elf64_Shdr));
	if (next + TABLES_AHEAD < end)
		fetch_tables(&members[next + TABLES_AHEAD]);
}

bool sk_reading_open_members(struct sk_reader *reader, struct sk_reading *reading, size_t first, size_t end)
{
	bool ok = true;

	for (size_t i = first; i < end; i++) {
		fetch_ahead(reading->contents->members.items, i, end);
		ok &= open_member(reader, reading, &reading->contents->members.items[i]);
	}
	return ok;
}

/* Read a member of a thin archive. Its path is relative to the archive's folder unless it is absolute. */
static bool read_thin_member(struct sk_reader *reader, struct sk_reading *archive, struct sk_member *member)
{
	const char *slash = member->name[0] == '/' ? NULL : strrchr(archive->path, '/');
	int folder = slash ? (int)(slash + 1 - archive->path) : 0;
	const char *root = member->name[0] == '/' ? reader->root : "";
	const char *path = sk_arena_print(reader->arena, "%s%.*s%.*s", root, folder, archive->path,
					  (int)member->name_length, member->name);
	struct sk_reading reading;

	if (!sk_reading_open(reader, path, &reading)) {
		sk_note(reader->diag, "it is a member of the thin archive %s", archive->path);
		return false;
	}

	struct sk_file file = {.path = path, .size = reading.size};
	bool ok = take_bytes(reader, reading.descriptor, &file);

	close(reading.descriptor);
	if (!ok)
		return false;
	keep_bytes(reader, &file);
	sk_array_push(reader->arena, &archive->contents->files, file);
	member->bytes = file.bytes;
	member->size = file.size;
	return true;
}

static bool list_members(struct sk_reader *reader, struct sk_reading *reading, const struct sk_file *file)
{
	struct sk_archive archive;
	struct sk_member member;
	bool ok = true;

	reading->contents = SK_NEW(reader->arena, struct sk_contents);
	sk_archive_open(&archive, file->bytes, file->size);
	for (;;) {
		enum sk_archive_result result = sk_archive_next(&archive, &member);

		if (result == SK_ARCHIVE_ERROR)
			return refuse_file(reader, reading->path, archive.error);
		if (result == SK_ARCHIVE_END)
			return ok;
		if (!member.bytes && !read_thin_member(reader, reading, &member))
			ok = false;
		else
			sk_array_push(reader->arena, &reading->contents->members, member);
	}
}

static bool read_object(struct sk_reader *reader, struct sk_reading *reading, const struct sk_file *file)
{
	struct sk_object_source source = {
		.path = reading->path, .transient = !file->mapped, .bytes = file->bytes, .size = file->size};

	switch (sk_object_open(reader, &source, &reading->object)) {
	case SK_OBJECT_READY:
		return sk_object_load(reader, reading->object);
	case SK_OBJECT_INTERMEDIATE:
		return refuse_file(reader, reading->path,
				   "holds only intermediate code of link-time optimisation; recompile without -flto");
	case SK_OBJECT_BAD:
		break;
	}
	return false;
}

static bool read_contents(struct sk_reader *reader, struct sk_reading *reading, struct sk_file *file)
{
	const char *other = unusable_kind(file->bytes, file->size);

	if (other)
		return refuse_file(reader, reading->path, other);
	if (file->bytes[0] != '!')
		return read_object(reader, reading, file);
	keep_bytes(reader, file);
	return list_members(reader, reading, file);
}

bool sk_reading_list(struct sk_reader *reader, struct sk_reading *reading)
{
	struct sk_file file = {.path = reading->path, .size = reading->size};

	reading->ok = take_bytes(reader, reading->descriptor, &file);
	close(reading->descriptor);
	reading->mapped = file.mapped ? file.bytes : NULL;
	reading->ok = reading->ok && read_contents(reader, reading, &file);
	return reading->ok;
}

/* Read a whole small object at once. Everything else is handled like any other file: pread fails on pipes and folders,
 * and devices fill the buffer. */
bool sk_reading_open_and_list(struct sk_reader *reader, const char *path, struct sk_reading *reading)
{
	struct sk_file file = {.path = path};
	ssize_t got;

	if (!open_file(reader, path, reading))
		return false;
	file.bytes = buffer_of(reader);
	got = pread(reading->descriptor, reader->buffer, MAPPED_FROM, 0);
	if (got < SELFMAG || got == MAPPED_FROM || memcmp(file.bytes, ELFMAG, SELFMAG) != 0)
		return identify(reader, reading) && sk_reading_list(reader, reading);
	close(reading->descriptor);
	reading->size = file.size = (uint64_t)got;
	return reading->ok = read_object(reader, reading, &file);
}
