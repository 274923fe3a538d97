/* Temporary files and their removal; see file.h. The table is the only global state here, since a signal handler can
 * find nothing else. One thread writes files. */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --dump-dir writes some hundred files for each of several networks. */
enum { MAXIMUM_FILES = 16 * 1024 };

static struct file {
	char *volatile name; /* of the temporary file; NULL: the entry is free */
	char *path;
	bool replaced; /* it has replaced this file */
	bool folder; /* a folder, under its own name */
} files[MAXIMUM_FILES];

/* ---- signals ---- */

void sk_unfinished_unlink(void)
{
	for (int i = 0; i < MAXIMUM_FILES; i++) {
		const char *name = files[i].name;

		if (name && !files[i].folder)
			unlink(files[i].replaced ? files[i].path : name);
	}
	for (int i = MAXIMUM_FILES - 1; i >= 0; i--)
		if (files[i].name && files[i].folder)
			rmdir(files[i].name); /* unless others have put something there */
}

static void remove_and_die(int number)
{
	sk_unfinished_unlink();
	raise(number); /* its action is the default again, and is taken when this function returns */
}

/* Settings of the program's caller, such as nohup, stay. */
static void handle(int number, void (*handler)(int))
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) < 0 || action.sa_handler != SIG_DFL)
		return;
	action = (struct sigaction){.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
	sigaction(number, &action, NULL);
}

static void watch(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM, SIGABRT};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		handle(signals[i], remove_and_die);
	handle(SIGXFSZ, SIG_IGN);
}

/* ---- files ---- */

static struct file *find_file(const char *path)
{
	for (int i = 0; i < MAXIMUM_FILES; i++)
		if (files[i].name && !strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}

static struct file *free_entry(void)
{
	for (int i = 0; i < MAXIMUM_FILES; i++)
		if (!files[i].name)
			return &files[i];
	errno = EMFILE;
	return NULL;
}

static void release(struct file *file)
{
	int reason = errno;
	char *name = file->name;

	file->name = NULL;
	free(name);
	free(file->path);
	*file = (struct file){0};
	errno = reason;
}

/* The file is in the table from the moment it exists. */
static int begin_file(const char *path, mode_t mode, int nameless)
{
	struct file *file = free_entry();
	sigset_t all, before;
	char *name;

	if (!file || !(file->path = strdup(path)))
		return -1;
	watch();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);

	int descriptor = nameless < 0				    ? sk_temporary_create(path, mode, &name)
			 : sk_temporary_link(path, nameless, &name) ? nameless
								    : -1;
	int reason = errno;

	file->name = name;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = reason;
	if (descriptor < 0)
		release(file);
	return descriptor;
}

int sk_unfinished_create(const char *path, mode_t mode)
{
	return begin_file(path, mode, -1);
}

bool sk_unfinished_link(const char *path, int descriptor)
{
	return begin_file(path, 0, descriptor) >= 0;
}

bool sk_unfinished_make_folder(const char *path)
{
	struct file *file = free_entry();
	char *name = strdup(path);
	sigset_t all, before;

	if (!file || !name || !(file->path = strdup(path))) {
		free(name);
		return false;
	}
	watch();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);

	bool made = mkdir(path, 0777) == 0;
	int reason = errno;

	file->folder = true;
	file->name = name;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = reason;
	if (!made)
		release(file);
	return made;
}

const char *sk_unfinished_next(int *at)
{
	while (*at < MAXIMUM_FILES)
		if (files[(*at)++].name)
			return files[*at - 1].path;
	return NULL;
}

static bool swap(const struct file *file)
{
	return renameat2(AT_FDCWD, file->name, AT_FDCWD, file->path, RENAME_EXCHANGE) == 0;
}

/* Exchange the two files atomically, and remove the old one. A plain rename takes longer: some file systems then begin
 * to write the new file to the disk, and a program that soon replaces it must wait. False: the system does not support
 * it, or there is no old file. */
static bool exchange(const struct file *file)
{
	struct stat status;

	if (lstat(file->path, &status) < 0 || !S_ISREG(status.st_mode) || !swap(file))
		return false;
	if (unlink(file->name) == 0)
		return true;
	swap(file);
	return false;
}

static bool replace(struct file *file)
{
	if (file->folder || exchange(file) || rename(file->name, file->path) == 0)
		return true;

	int reason = errno;

	unlink(file->name);
	errno = reason;
	return false;
}

bool sk_unfinished_finish(const char *path)
{
	struct file *file = find_file(path);
	bool ok = file && replace(file);

	if (file)
		release(file);
	return ok;
}

void sk_unfinished_remove(const char *path)
{
	struct file *file = find_file(path);

	if (!file)
		return;
	unlink(file->name);
	release(file);
}

FILE *sk_unfinished_open(const char *path)
{
	int descriptor = sk_is_special(path) ? sk_special_open(path) : sk_unfinished_create(path, 0666);
	FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");

	if (stream || descriptor < 0)
		return stream;
	close(descriptor);
	sk_unfinished_remove(path);
	errno = ENOMEM;
	return NULL;
}

bool sk_unfinished_close(FILE *stream, const char *path)
{
	if (sk_close_written(stream) && (!find_file(path) || sk_unfinished_finish(path)))
		return true;

	int reason = errno;

	sk_unfinished_remove(path);
	errno = reason;
	return false;
}

bool sk_unfinished_finish_all(char **path)
{
	for (int i = 0; i < MAXIMUM_FILES; i++) {
		if (!files[i].name)
			continue;
		files[i].replaced = replace(&files[i]);
		if (files[i].replaced)
			continue;

		int reason = errno;

		*path = strdup(files[i].path);
		sk_unfinished_remove_all();
		errno = reason;
		return false;
	}
	for (int i = 0; i < MAXIMUM_FILES; i++)
		if (files[i].name)
			release(&files[i]);
	return true;
}

void sk_unfinished_remove_all(void)
{
	sk_unfinished_unlink();
	for (int i = 0; i < MAXIMUM_FILES; i++)
		if (files[i].name)
			release(&files[i]);
}
