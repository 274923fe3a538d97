/* Files that are read or mapped; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"

/* Smaller files are read, which costs less; the number of mappings is also limited. */
enum { MAPPED_FROM = 64 * 1024 };

void sk_onnx_files_init(struct sk_onnx_files *files, struct sk_diag *diag, const char *path)
{
	*files = (struct sk_onnx_files){.diag = diag, .path = path};
	sk_map_init(&files->locations, diag->arena);
}

/* Return NULL, or the reason for a failure. */
static const char *read_bytes(int descriptor, uint8_t *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(descriptor, bytes + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? strerror(errno) : "the file has become shorter";
		done += (size_t)got;
	}
	return NULL;
}

static const char *take_bytes(struct sk_arena *arena, int descriptor, const char *path, struct sk_onnx_bytes *bytes)
{
	struct stat status;

	if (fstat(descriptor, &status) < 0)
		return strerror(errno);
	if (!S_ISREG(status.st_mode))
		return "it is not a regular file";
	bytes->size = (size_t)status.st_size;
	if (bytes->size >= MAPPED_FROM) {
		bytes->bytes = sk_map_file(descriptor, bytes->size, path);
		return bytes->bytes ? NULL : strerror(errno);
	}

	uint8_t *copy = sk_arena_alloc(arena, bytes->size + 1, 1);

	bytes->bytes = copy;
	return read_bytes(descriptor, copy, bytes->size);
}

static const char *open_file(struct sk_arena *arena, const char *path, struct sk_onnx_bytes *bytes)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (descriptor < 0)
		return strerror(errno);

	const char *wrong = take_bytes(arena, descriptor, path, bytes);

	close(descriptor);
	return wrong;
}

bool sk_onnx_files_model(struct sk_onnx_files *files, struct sk_onnx_bytes *bytes)
{
	const char *wrong = open_file(files->diag->arena, files->path, bytes);

	if (wrong)
		sk_error(files->diag, (struct sk_place){.file = files->path}, "cannot read the model: %s", wrong);
	return !wrong;
}

size_t sk_onnx_files_start(const char *path, uint8_t *bytes, size_t size)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	ssize_t got = 0;

	if (descriptor < 0)
		return 0;
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
		got = read(descriptor, bytes, size);
	close(descriptor);
	return got > 0 ? (size_t)got : 0;
}

/* ---- external data ---- */

/* True if the path leads out of the model's folder. A model may come from others, so it must not name files
 * elsewhere. */
static bool leaves_folder(const char *location)
{
	if (*location == '/')
		return true;
	for (const char *part = location; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (part[0] == '.' && part[1] == '.' && (!part[2] || part[2] == '/'))
			return true;
	}
	return false;
}

/* Return the target of links, in the arena, if it is neither in the model's folder nor below it: links may be part of
 * an unpacked model. NULL: the target is inside, or does not exist. */
static const char *linked_outside(const struct sk_onnx_files *files, const char *path)
{
	struct sk_arena *arena = files->diag->arena;
	const char *slash = strrchr(files->path, '/'), *outside = NULL;
	char *folder =
		realpath(slash ? sk_arena_print(arena, "%.*s/", (int)(slash - files->path), files->path) : ".", NULL);
	char *target = realpath(path, NULL);
	size_t length = folder ? strlen(folder) : 0;

	if (length && folder[length - 1] == '/') /* the root */
		length--;
	if (folder && target && (strncmp(target, folder, length) != 0 || (target[length] && target[length] != '/')))
		outside = sk_arena_copy(arena, target, strlen(target));
	free(folder);
	free(target);
	return outside;
}

const char *sk_onnx_files_external(struct sk_onnx_files *files, const char *location, struct sk_onnx_bytes *bytes)
{
	uint32_t new = (uint32_t)files->external.count;
	uint32_t number = sk_map_find(&files->locations, location, strlen(location));
	const char *slash = strrchr(files->path, '/');
	const char *path, *wrong;

	if (number != SK_NONE) {
		*bytes = files->external.items[number];
		return NULL;
	}
	if (!*location || leaves_folder(location))
		return "it must lie in the folder of the model";
	path = sk_arena_print(files->diag->arena, "%.*s%s", slash ? (int)(slash + 1 - files->path) : 0, files->path,
			      location);
	wrong = files->links ? NULL : linked_outside(files, path);
	if (wrong)
		return sk_arena_print(files->diag->arena,
				      "it is a link out of the model's folder, to %s, which a model's author may have "
				      "chosen; caches of downloaded models are made of such links: "
				      "--allow-external-links follows them",
				      wrong);
	wrong = open_file(files->diag->arena, path, bytes);
	if (wrong && files->no_data && access(path, F_OK) < 0 && errno == ENOENT) {
		files->absent = files->absent ? files->absent : path;
		*bytes = (struct sk_onnx_bytes){NULL, 0};
	} else if (wrong) {
		return wrong;
	} else {
		sk_array_push(files->diag->arena, &files->paths, path);
	}
	sk_array_push(files->diag->arena, &files->external, *bytes);
	sk_map_insert(&files->locations, location, strlen(location), new);
	return NULL;
}

const uint8_t *sk_onnx_files_zeros(uint64_t size)
{
	void *zeros = mmap(NULL, size ? size : 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return zeros == MAP_FAILED ? NULL : zeros;
}
