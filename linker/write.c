/* Writes the file's parts, and texts about them, each to a temporary file beside the target and renames it: whoever
 * runs or maps the old file keeps it, and nobody ever sees half of the new one. What no part covers stays a hole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linker/internal.h"

static bool fail(struct sk_linker *linker, const char *path, const char *action)
{
	sk_error(linker->diag, (struct sk_place){.file = path}, "cannot %s: %s", action, strerror(errno));
	return false;
}

static bool write_extent(int descriptor, const struct sk_extent *extent)
{
	for (uint64_t done = 0; done < extent->size;) {
		ssize_t wrote = pwrite(descriptor, (const uint8_t *)extent->bytes + done, extent->size - done,
				       (off_t)(extent->offset + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			errno = wrote ? errno : ENOSPC;
			return false;
		}
		done += (uint64_t)wrote;
	}
	return true;
}

static bool write_extents(int descriptor, const struct sk_extent *extents, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!write_extent(descriptor, &extents[i]))
			return false;
	return true;
}

/* A new file beside the path, with the mode that the umask gives. NULL: it cannot be created. */
static const char *create_beside(struct sk_linker *linker, const char *path, mode_t mode, int *descriptor)
{
	for (unsigned i = 0; i < 1000; i++) {
		const char *name = sk_arena_print(linker->arena, "%s.%ld-%u.tmp", path, (long)getpid(), i);

		*descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (*descriptor >= 0)
			return name;
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

static bool replace_file(struct sk_linker *linker, const char *path, mode_t mode, const struct sk_extent *extents,
			 size_t count)
{
	struct stat status;
	int descriptor;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		sk_error(linker->diag, (struct sk_place){.file = path}, "cannot be replaced: it is not a regular file");
		return false;
	}

	const char *name = create_beside(linker, path, mode, &descriptor);

	if (!name)
		return fail(linker, path, "create the file");

	bool ok = write_extents(descriptor, extents, count) || fail(linker, path, "write the file");

	if (close(descriptor) < 0 && ok)
		ok = fail(linker, path, "write the file");
	if (ok && rename(name, path) < 0)
		ok = fail(linker, path, "replace the file");
	if (!ok)
		unlink(name);
	return ok;
}

static bool write_text(struct sk_linker *linker, const char *path, const sk_bytes *text)
{
	const struct sk_extent extent = {0, text->items, text->count};

	return replace_file(linker, path, 0666, &extent, 1);
}

bool sk_linker_write(struct sk_linker *linker, const char *path)
{
	if (linker->options.map_file) {
		sk_bytes map = sk_report_map(linker);

		if (!write_text(linker, linker->options.map_file, &map))
			return false;
	}
	if (linker->options.dependency_file) {
		sk_bytes dependencies = sk_report_dependencies(linker, path);

		if (!write_text(linker, linker->options.dependency_file, &dependencies))
			return false;
	}
	return replace_file(linker, path, 0777, linker->extents.items, linker->extents.count);
}
