/* Temporary files; see file.h. */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAXIMUM_ATTEMPTS = 1000 };

/* Create a new file, or (descriptor) name an unnamed one. */
static int create(const char *name, mode_t mode, int descriptor)
{
	char nameless[32];

	if (descriptor < 0)
		return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	snprintf(nameless, sizeof(nameless), "/proc/self/fd/%d", descriptor);
	return linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0 ? -1 : descriptor;
}

static int find_name(const char *path, mode_t mode, int nameless, char **name)
{
	errno = EEXIST;
	for (unsigned i = 0; errno == EEXIST && i < MAXIMUM_ATTEMPTS; i++) {
		if (asprintf(name, "%s.%ld-%u.tmp", path, (long)getpid(), i) < 0)
			break;

		int descriptor = create(*name, mode, nameless);
		int reason = errno;

		if (descriptor >= 0)
			return descriptor;
		free(*name);
		errno = reason;
	}
	*name = NULL;
	return -1;
}

int sk_temporary_create(const char *path, mode_t mode, char **name)
{
	return find_name(path, mode, -1, name);
}

bool sk_temporary_link(const char *path, int descriptor, char **name)
{
	return find_name(path, 0, descriptor, name) >= 0;
}

/* Return the descriptor that the path refers to, or -1. Opening the path would start at the beginning of the
 * descriptor's file. */
static int named_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *number = path + strlen(folders[i]);
		char *end;

		if (strncmp(path, folders[i], strlen(folders[i])) != 0)
			continue;

		long value = strtol(number, &end, 10);

		if (end != number && !*end && value >= 0 && value <= INT_MAX)
			return (int)value;
	}
	return -1;
}

bool sk_is_special(const char *path)
{
	struct stat status;

	return named_descriptor(path) >= 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

bool sk_is_same(const char *first, const char *second)
{
	struct stat one, other;

	return stat(first, &one) == 0 && stat(second, &other) == 0 && S_ISREG(one.st_mode) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int sk_special_open(const char *path)
{
	int descriptor = named_descriptor(path);

	if (descriptor < 0)
		return open(path, O_WRONLY | O_CLOEXEC);
	fflush(stdout); /* its errors stay in the stream */
	return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

bool sk_close_written(FILE *stream)
{
	bool ok = fflush(stream) == 0 && !ferror(stream);
	int reason = errno;

	if (fclose(stream) && ok)
		return false;
	errno = reason;
	return ok;
}
