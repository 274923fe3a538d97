/* The archive of --repro; see command.h. The files are read again, because a link keeps only the data of its files that
 * it needs. */
#include "config.h"

#include "src/command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "linker/linker.h"

enum { MAPPED_FROM = 64 * 1024 };

struct content {
	const void *bytes;
	uint64_t size;
	bool mapped;
};

struct reproduction {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *folder; /* the archive's only top-level directory */
	const char *current; /* the working directory */
	struct sk_tar tar;
	struct sk_map names; /* files and directories in the archive -> content, by number */
	SK_ARRAY(struct content) contents;
};

/* ---- paths ---- */

/* Add the directory, since a path leads through it. */
static void add_folder(struct reproduction *reproduction, const char *name)
{
	uint32_t fresh = (uint32_t)reproduction->contents.count;

	if (sk_map_insert(&reproduction->names, name, strlen(name), fresh) != fresh)
		return;
	sk_array_push(reproduction->arena, &reproduction->contents, (struct content){0});
	sk_tar_add_folder(&reproduction->tar, sk_arena_print(reproduction->arena, "%s%s", reproduction->folder, name));
}

/* Return the path from the root, "/a/b.o", without "." and "..". With `folders`, also add the directories that ".."
 * leaves again, for paths that will be used unchanged. */
static const char *path_from_root(struct reproduction *reproduction, const char *path, bool folders)
{
	const char *rest =
		sk_arena_print(reproduction->arena, "%s/%s", *path == '/' ? "" : reproduction->current, path);
	char *out = sk_arena_copy(reproduction->arena, rest, strlen(rest)), *end = out;

	while (*rest) {
		size_t length = strcspn(rest += strspn(rest, "/"), "/");

		if (length == 2 && !memcmp(rest, "..", 2)) {
			*end = '\0';
			if (end > out && folders)
				add_folder(reproduction, sk_arena_copy(reproduction->arena, out, (size_t)(end - out)));
			while (end > out && *--end != '/')
				;
		} else if (length && !(length == 1 && *rest == '.')) {
			*end++ = '/';
			memmove(end, rest, length);
			end += length;
		}
		rest += length;
	}
	*end = '\0';
	return out;
}

/* Return the archive's name without directories and ".tar". */
static const char *folder_name(struct sk_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(name);

	if (length > 4 && !strcmp(name + length - 4, ".tar"))
		length -= 4;
	return sk_arena_copy(arena, name, length);
}

/* ---- the files ---- */

static void add_content(struct reproduction *reproduction, const char *path, struct content content)
{
	const char *name = path_from_root(reproduction, path, true);
	uint32_t fresh = (uint32_t)reproduction->contents.count;
	uint32_t number = sk_map_insert(&reproduction->names, name, strlen(name), fresh);

	sk_array_push(reproduction->arena, &reproduction->contents, content);
	if (number == fresh) {
		sk_tar_add_file(&reproduction->tar,
				sk_arena_print(reproduction->arena, "%s%s", reproduction->folder, name), content.bytes,
				content.size);
		return;
	}

	const struct content *other = &reproduction->contents.items[number];

	if (other->size != content.size || (content.size && memcmp(other->bytes, content.bytes, content.size)))
		sk_error(reproduction->diag, (struct sk_place){.file = path},
			 "cannot be reproduced: another file has the same path once symbolic links are ignored");
}

/* Small files are read, since the number of mappings of a process is limited. */
static bool read_content(struct reproduction *reproduction, int descriptor, const char *path, struct content *content)
{
	uint64_t done = 0;
	ssize_t got = 1;

	if (content->size >= MAPPED_FROM) {
		content->bytes = sk_map_file(descriptor, content->size, path);
		content->mapped = content->bytes != NULL;
		return content->mapped;
	}

	uint8_t *bytes = sk_arena_alloc(reproduction->arena, content->size, 1);

	while (done < content->size && got > 0) {
		got = read(descriptor, bytes + done, content->size - done);
		done += got > 0 ? (uint64_t)got : 0;
	}
	content->bytes = bytes;
	content->size = done;
	return got >= 0;
}

/* A missing file, or one that is not a regular file, has already been reported. */
static void add_file(void *context, const char *path)
{
	struct reproduction *reproduction = context;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct content content = {0};
	struct stat status;

	if (descriptor < 0)
		return;
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
		content.size = (uint64_t)status.st_size;
		if (read_content(reproduction, descriptor, path, &content))
			add_content(reproduction, path, content);
		else
			sk_error(reproduction->diag, (struct sk_place){.file = path}, "cannot be read: %s",
				 strerror(errno));
	}
	close(descriptor);
}

/* ---- the response file of the link ---- */

/* Quote the word for next_word in response.c. */
static const char *quote(struct sk_arena *arena, const char *word)
{
	char *quoted = SK_NEW_ARRAY(arena, char, 2 * strlen(word) + 1), *end = quoted;

	for (; *word; word++) {
		if (strchr(" \t\r\n\f\v\\\"'", *word))
			*end++ = '\\';
		*end++ = *word;
	}
	return quoted;
}

/* Outputs are written into the directory itself, since others may not exist. */
static const char *value_of(struct reproduction *reproduction, const struct sk_command_word *word)
{
	const char *slash;

	switch (word->kind) {
	case SK_WORD_INPUT:
	case SK_WORD_FOLDER:
		return sk_arena_print(reproduction->arena, ".%s", path_from_root(reproduction, word->value, false));
	case SK_WORD_OUTPUT:
		slash = strrchr(word->value, '/');
		return slash ? slash + 1 : word->value;
	case SK_WORD_PLAIN:
		break;
	}
	return word->value;
}

typedef SK_ARRAY(char) response;

static void add_word(struct reproduction *reproduction, response *text, const struct sk_command_word *word)
{
	struct sk_arena *arena = reproduction->arena;
	const char *value = word->value ? value_of(reproduction, word) : "";
	const char *line = quote(arena, sk_arena_print(arena, "%s%s", word->option ? word->option : "", value));

	for (; *line; line++)
		sk_array_push(arena, text, *line);
	sk_array_push(arena, text, '\n');
}

static void add_response(struct reproduction *reproduction, const struct sk_command_line *command, const char *flags)
{
	const struct sk_command_word fusion = {"--fusion-flags=", flags, SK_WORD_PLAIN};
	const struct sk_command_word root = {"--chroot=", command->root ? command->root : "/", SK_WORD_INPUT};
	response text = {0};

	for (size_t i = 0; i < command->words.count; i++)
		add_word(reproduction, &text, &command->words.items[i]);
	if (flags)
		add_word(reproduction, &text, &fusion);
	add_word(reproduction, &text, &root);
	sk_tar_add_file(&reproduction->tar,
			sk_arena_print(reproduction->arena, "%s/response.txt", reproduction->folder), text.items,
			text.count);
}

static void add_version(struct reproduction *reproduction)
{
	static const char version[] = "sklink " PACKAGE_VERSION "\n";

	sk_tar_add_file(&reproduction->tar, sk_arena_print(reproduction->arena, "%s/version.txt", reproduction->folder),
			version, sizeof(version) - 1);
}

bool sk_reproduction_write(struct sk_diag *diag, const struct sk_command_line *command, const char *flags,
			   struct sk_linker *linker)
{
	struct sk_arena *arena = diag->arena;
	unsigned errors = diag->errors;
	char *current = getcwd(NULL, 0);
	struct reproduction reproduction = {.arena = arena,
					    .diag = diag,
					    .folder = folder_name(arena, command->reproduction),
					    .current = current,
					    .tar = {.arena = arena}};

	if (!current) {
		sk_error(diag, (struct sk_place){0}, "cannot find the working directory: %s", strerror(errno));
		return false;
	}
	sk_map_init(&reproduction.names, arena);
	add_response(&reproduction, command, flags);
	add_version(&reproduction);
	sk_linker_visit_files(linker, add_file, &reproduction);
	sk_tar_finish(&reproduction.tar);

	bool ok = diag->errors == errors && sk_file_replace(diag, command->reproduction, 0666,
							    reproduction.tar.parts.items, reproduction.tar.parts.count);

	for (size_t i = 0; i < reproduction.contents.count; i++)
		if (reproduction.contents.items[i].mapped)
			sk_unmap_file(reproduction.contents.items[i].bytes, reproduction.contents.items[i].size);
	free(current);
	return ok;
}
