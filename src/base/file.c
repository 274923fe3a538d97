/* Writing files as a whole; see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(struct sk_diag *diag, const char *path, const char *action)
{
	sk_error(diag, (struct sk_place){.file = path}, "cannot %s: %s", action, strerror(errno));
	return false;
}

/* The kernel caches what is written in pieces as large as the call. Larger ones than this it seldom has at hand, and
 * making them costs several times what the writing does. */
enum { LARGEST_WRITE = 64 << 10 };

static bool write_part(int descriptor, const struct sk_file_part *part)
{
	for (uint64_t done = 0; done < part->size;) {
		uint64_t left = part->size - done;
		ssize_t wrote = pwrite(descriptor, (const uint8_t *)part->bytes + done,
				       left < LARGEST_WRITE ? left : LARGEST_WRITE, (off_t)(part->offset + done));

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

static bool write_parts(int descriptor, const struct sk_file_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!write_part(descriptor, &parts[i]))
			return false;
	return true;
}

/* A new file beside the path, with the mode that the umask gives. NULL: it cannot be created. */
static const char *create_beside(struct sk_diag *diag, const char *path, mode_t mode, int *descriptor)
{
	for (unsigned i = 0; i < 1000; i++) {
		const char *name = sk_arena_print(diag->arena, "%s.%ld-%u.tmp", path, (long)getpid(), i);

		*descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (*descriptor >= 0)
			return name;
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

bool sk_file_replace(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts,
		     size_t count)
{
	struct stat status;
	int descriptor;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		sk_error(diag, (struct sk_place){.file = path}, "cannot be replaced: it is not a regular file");
		return false;
	}

	const char *name = create_beside(diag, path, mode, &descriptor);

	if (!name)
		return fail(diag, path, "create the file");

	bool ok = write_parts(descriptor, parts, count) || fail(diag, path, "write the file");

	if (close(descriptor) < 0 && ok)
		ok = fail(diag, path, "write the file");
	if (ok && rename(name, path) < 0)
		ok = fail(diag, path, "replace the file");
	if (!ok)
		unlink(name);
	return ok;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool find_folder(const char *path, struct stat *status)
{
	size_t length = (size_t)(last_name(path) - path);
	char *folder = length ? strndup(path, length) : strdup(".");
	bool found = folder && stat(folder, status) == 0;

	free(folder);
	return found;
}

bool sk_file_same(const char *first, const char *second)
{
	struct stat folders[2];

	return !strcmp(last_name(first), last_name(second)) && find_folder(first, &folders[0]) &&
	       find_folder(second, &folders[1]) && folders[0].st_dev == folders[1].st_dev &&
	       folders[0].st_ino == folders[1].st_ino;
}
