/* Runs skdump for --html; see skrun.h. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Find the program of that name in the folder of this one. False with errno. */
static bool find_beside(const char *name, char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		return false;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if ((size_t)(slash + 1 - path) + strlen(name) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(slash + 1, name);
	return true;
}

bool sk_page_make(const char *page, const char *trace, const char *package)
{
	char path[PATH_MAX] = "skdump";
	/* The name of a file may begin with '-'. */
	const char *words[] = {path, "--html", page, "--trace", trace, "--", package, NULL};
	int status = 0, error = find_beside("skdump", path) ? 0 : errno;
	pid_t child;

	if (!error)
		error = posix_spawn(&child, path, NULL, NULL, (char **)(uintptr_t)words,
				    environ); /* posix_spawn only reads both arrays */
	if (error) {
		sk_skrun_error("%s, which makes the page: %s", path, strerror(error));
		return false;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return status == 0; /* otherwise skdump has printed an error, or was ended by a signal */
}
