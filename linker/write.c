/* Writes the file's parts to a temporary file beside the target and renames it: whoever runs or maps the old file keeps
 * it, and nobody ever sees half of the new one. What no part covers stays a hole. */
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

static bool write_extents(struct sk_linker *linker, int descriptor)
{
	for (size_t i = 0; i < linker->extents.count; i++)
		if (!write_extent(descriptor, &linker->extents.items[i]))
			return false;
	return true;
}

/* A new file beside the path, with the mode that the umask gives. NULL: it cannot be created. */
static const char *create_beside(struct sk_linker *linker, const char *path, int *descriptor)
{
	for (unsigned i = 0; i < 1000; i++) {
		const char *name = sk_arena_print(linker->arena, "%s.%ld-%u.tmp", path, (long)getpid(), i);

		*descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
		if (*descriptor >= 0)
			return name;
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

bool sk_linker_write(struct sk_linker *linker, const char *path)
{
	struct stat status;
	int descriptor;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		sk_error(linker->diag, (struct sk_place){.file = path}, "cannot be replaced: it is not a regular file");
		return false;
	}

	const char *name = create_beside(linker, path, &descriptor);

	if (!name)
		return fail(linker, path, "create the file");

	bool ok = write_extents(linker, descriptor) || fail(linker, path, "write the file");

	if (close(descriptor) < 0 && ok)
		ok = fail(linker, path, "write the file");
	if (ok && rename(name, path) < 0)
		ok = fail(linker, path, "replace the file");
	if (!ok)
		unlink(name);
	return ok;
}
