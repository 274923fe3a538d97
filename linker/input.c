/* Files in, objects out. Small files are read into the arena, larger ones and archives are mapped; either way the bytes
 * stay until the linker is destroyed, and everything that was found in them is used in place. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linker/internal.h"

enum { MAPPED_FROM = 64 * 1024 };

static bool fail(struct sk_linker *linker, const char *path, const char *text)
{
	sk_error(linker->diag, (struct sk_place){.file = path}, "%s", text);
	return false;
}

/* Reads the whole file; a file that shrinks meanwhile is an error. */
static bool read_all(struct sk_linker *linker, int descriptor, struct sk_file *file)
{
	uint8_t *bytes = sk_arena_alloc(linker->arena, file->size, 1);

	for (uint64_t done = 0; done < file->size;) {
		ssize_t got = read(descriptor, bytes + done, file->size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fail(linker, file->path, got < 0 ? strerror(errno) : "the file has become shorter");
		done += (uint64_t)got;
	}
	file->bytes = bytes;
	return true;
}

static bool take_bytes(struct sk_linker *linker, int descriptor, struct sk_file *file)
{
	if (file->size < MAPPED_FROM)
		return read_all(linker, descriptor, file);

	void *bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, descriptor, 0);

	if (bytes == MAP_FAILED)
		return fail(linker, file->path, strerror(errno));
	file->bytes = bytes;
	file->mapped = true;
	return true;
}

static bool check_regular(struct sk_linker *linker, const char *path, int descriptor, struct stat *status)
{
	if (fstat(descriptor, status) < 0)
		return fail(linker, path, strerror(errno));
	if (!S_ISREG(status->st_mode))
		return fail(linker, path, "is not a regular file");
	return true;
}

static bool take_file(struct sk_linker *linker, int descriptor, struct sk_file *file)
{
	bool ok = take_bytes(linker, descriptor, file);

	sk_array_push(linker->arena, &linker->files, *file);
	linker->input_size += file->size;
	return ok;
}

static int open_file(struct sk_linker *linker, const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (descriptor < 0)
		fail(linker, path, strerror(errno));
	return descriptor;
}

/* What the bytes are, if they are neither object nor archive; NULL if they are. */
static const char *why_not_input(const uint8_t *bytes, uint64_t size)
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

static bool open_member(struct sk_linker *linker, uint32_t number, const struct sk_member *member)
{
	struct sk_input *input = &linker->inputs.items[number];
	struct sk_object *object;
	struct sk_object_source source = {number, member->name, member->name_length, member->bytes, member->size};
	enum sk_object_result result = SK_OBJECT_INTERMEDIATE;

	if (member->size >= SELFMAG && !memcmp(member->bytes, ELFMAG, SELFMAG)) {
		result = sk_object_open(linker, &source, &object);
	} else if (!is_bitcode(member)) {
		sk_warning(linker->diag, (struct sk_place){.file = input->path},
			   "member %.*s is not an object and is ignored", (int)member->name_length, member->name);
		return true;
	}
	if (result == SK_OBJECT_INTERMEDIATE) {
		input->intermediate = true;
		sk_warning(linker->diag, (struct sk_place){.file = input->path},
			   "member %.*s holds only intermediate code of link-time optimisation and is ignored",
			   (int)member->name_length, member->name);
	}
	return result != SK_OBJECT_BAD;
}

/* A thin archive names its members by paths, from its own folder if they are not absolute. */
static bool read_thin_member(struct sk_linker *linker, const char *archive, struct sk_member *member)
{
	const char *slash = member->name[0] == '/' ? NULL : strrchr(archive, '/');
	int folder = slash ? (int)(slash + 1 - archive) : 0;
	struct sk_file file = {.path = sk_arena_print(linker->arena, "%.*s%.*s", folder, archive,
						      (int)member->name_length, member->name)};
	int descriptor = open_file(linker, file.path);
	struct stat status;

	if (descriptor < 0) {
		sk_note(linker->diag, "it is a member of the thin archive %s", archive);
		return false;
	}

	bool ok = check_regular(linker, file.path, descriptor, &status);

	file.size = ok ? (uint64_t)status.st_size : 0;
	ok = ok && take_file(linker, descriptor, &file);
	close(descriptor);
	member->bytes = file.bytes;
	member->size = file.size;
	return ok;
}

static bool open_archive(struct sk_linker *linker, uint32_t number)
{
	struct sk_input *input = &linker->inputs.items[number];
	struct sk_archive archive;
	struct sk_member member;
	bool ok = true;

	sk_archive_open(&archive, input->bytes, input->size);
	for (;;) {
		enum sk_archive_result result = sk_archive_next(&archive, &member);

		if (result == SK_ARCHIVE_ERROR)
			return fail(linker, input->path, archive.error);
		if (result == SK_ARCHIVE_END)
			break;
		if (!member.bytes && !read_thin_member(linker, input->path, &member))
			ok = false;
		else
			ok &= open_member(linker, number, &member);
	}
	input->object_count = (uint32_t)linker->objects.count - input->first_object;
	return ok;
}

static bool open_object(struct sk_linker *linker, uint32_t number)
{
	struct sk_input *input = &linker->inputs.items[number];
	struct sk_object_source source = {.input = number, .bytes = input->bytes, .size = input->size};
	struct sk_object *object;

	switch (sk_object_open(linker, &source, &object)) {
	case SK_OBJECT_READY:
		input->object_count = 1;
		return true;
	case SK_OBJECT_INTERMEDIATE:
		return fail(linker, input->path,
			    "holds only intermediate code of link-time optimisation; recompile without -flto");
	case SK_OBJECT_BAD:
		break;
	}
	return false;
}

/* Pulls what takes part whether or not it is wanted. */
static bool pull_whole(struct sk_linker *linker, const struct sk_input *input)
{
	bool ok = true;

	for (uint32_t i = 0; i < input->object_count; i++)
		ok &= sk_object_pull(linker, linker->objects.items[input->first_object + i]);
	return ok;
}

/* A file is known by what it is, not by its name. */
static const char *identity(struct sk_linker *linker, const struct stat *status)
{
	return sk_arena_print(linker->arena, "%llx:%llx", (unsigned long long)status->st_dev,
			      (unsigned long long)status->st_ino);
}

/* Opens the file; adds it unless it is there already. */
static bool add_opened(struct sk_linker *linker, const char *path, bool whole, int descriptor, uint32_t *number)
{
	struct stat status;

	if (!check_regular(linker, path, descriptor, &status))
		return false;

	const char *key = identity(linker, &status);
	uint32_t fresh = (uint32_t)linker->inputs.count;

	*number = sk_map_insert(&linker->input_numbers, key, strlen(key), fresh);
	if (*number == fresh) {
		struct sk_file file = {.path = sk_arena_copy(linker->arena, path, strlen(path)),
				       .size = (uint64_t)status.st_size};
		bool taken = take_file(linker, descriptor, &file);
		struct sk_input input = {.path = file.path,
					 .bytes = file.bytes,
					 .size = file.size,
					 .first_object = (uint32_t)linker->objects.count};

		/* Entered even if it is bad, so that the next mention of the file says nothing more. */
		sk_array_push(linker->arena, &linker->inputs, input);
		if (!taken)
			return false;

		const char *other = why_not_input(file.bytes, file.size);

		if (other)
			return fail(linker, path, other);
		linker->inputs.items[fresh].archive = file.bytes[0] == '!';
		if (!(linker->inputs.items[fresh].archive ? open_archive : open_object)(linker, fresh))
			return false;
	}

	struct sk_input *input = &linker->inputs.items[*number];

	if (input->whole || (input->archive && !whole))
		return true;
	input->whole = true;
	return pull_whole(linker, input);
}

uint32_t sk_linker_add_file(struct sk_linker *linker, const char *path, bool whole_archive)
{
	int descriptor = open_file(linker, path);
	uint32_t number = SK_NONE;

	if (descriptor < 0)
		return SK_NONE;

	bool ok = add_opened(linker, path, whole_archive, descriptor, &number);

	close(descriptor);
	return ok ? number : SK_NONE;
}

bool sk_linker_has_input(struct sk_linker *linker, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;

	const char *key = identity(linker, &status);

	if (sk_map_find(&linker->input_numbers, key, strlen(key)) != SK_NONE)
		return true;
	for (size_t i = 0; i < linker->dependencies.count; i++) {
		struct stat other;

		if (stat(linker->dependencies.items[i], &other) == 0 && other.st_dev == status.st_dev &&
		    other.st_ino == status.st_ino)
			return true;
	}
	return false;
}

const char *sk_linker_search(struct sk_linker *linker, const char *name)
{
	for (size_t i = 0; i < linker->options.search_path_count; i++) {
		const char *path = sk_arena_print(linker->arena, "%s/%s", linker->options.search_paths[i], name);

		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

uint32_t sk_linker_add_library(struct sk_linker *linker, const char *name, bool whole_archive)
{
	const char *file = name[0] == ':' ? name + 1 : sk_arena_print(linker->arena, "lib%s.a", name);
	const char *path = sk_linker_search(linker, file);

	if (path)
		return sk_linker_add_file(linker, path, whole_archive);
	sk_error(linker->diag, (struct sk_place){0}, "library -l%s: there is no %s on the search paths", name, file);
	for (size_t i = 0; i < linker->options.search_path_count; i++)
		sk_note(linker->diag, "searched %s", linker->options.search_paths[i]);
	return SK_NONE;
}
