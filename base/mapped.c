/* The mappings, and the handler of SIGBUS that finds the mapped file of an access; see file.h. */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Entries are reused, but never freed, since the handler may be reading them. */
struct mapping {
	struct mapping *next;
	const char *bytes;
	size_t size;
	size_t users; /* calls of sk_map_file that have returned it */
	char *path;
	struct stat status; /* when it was mapped */
};

static struct mapping *volatile mappings; /* the last one comes first, and is usually removed first */
static struct mapping *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;

/* ---- SIGBUS ---- */

static struct iovec text(const char *characters)
{
	return (struct iovec){(void *)(uintptr_t)characters, strlen(characters)};
}

static void report_and_die(const struct mapping *mapping)
{
	const struct iovec parts[] = {text(program_invocation_short_name), text(": error: "), text(mapping->path),
				      text(": the file has become shorter while it was read\n")};

	if (writev(STDERR_FILENO, parts, sizeof(parts) / sizeof(parts[0])) < 0)
		_exit(1); /* the error cannot be reported */
	_exit(1);
}

static void pass_on(int number, siginfo_t *information, void *context)
{
	if (previous.sa_flags & SA_SIGINFO) {
		previous.sa_sigaction(number, information, context);
	} else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
		previous.sa_handler(number);
	} else {
		sigaction(number, &previous, NULL);
		if (information->si_code <= 0) /* sent by a process, not by an access, which would be repeated */
			raise(number);
	}
}

static void handle(int number, siginfo_t *information, void *context)
{
	const char *address = information->si_addr;

	for (const struct mapping *mapping = mappings; mapping; mapping = mapping->next) {
		if (address < mapping->bytes || (size_t)(address - mapping->bytes) >= mapping->size)
			continue;
		sk_unfinished_unlink();
		report_and_die(mapping);
	}
	pass_on(number, information, context);
}

static void watch(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

	sigaction(SIGBUS, &action, &previous);
}

void sk_mapped_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t unblocked;

	pthread_once(&once, watch);
	sigemptyset(&unblocked);
	sigaddset(&unblocked, SIGBUS); /* the program may have been started with it blocked */
	pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
}

/* ---- mappings ---- */

static struct mapping *new_entry(void)
{
	struct mapping *mapping = unused;

	if (mapping)
		unused = mapping->next;
	else
		mapping = calloc(1, sizeof(*mapping));
	return mapping;
}

/* False: no memory. */
static bool enter_mapping(const void *bytes, size_t size, const char *path, const struct stat *status)
{
	char *copy = strdup(path);
	struct mapping *mapping;

	sk_mapped_watch();
	pthread_mutex_lock(&lock);
	mapping = copy ? new_entry() : NULL;
	if (mapping) {
		*mapping = (struct mapping){
			.next = mappings, .bytes = bytes, .size = size, .users = 1, .path = copy, .status = *status};
		mappings = mapping;
	}
	pthread_mutex_unlock(&lock);
	if (!mapping)
		free(copy);
	return mapping != NULL;
}

static bool is_same(const struct mapping *mapping, size_t size, const struct stat *status)
{
	const struct stat *before = &mapping->status;

	return mapping->size == size && before->st_dev == status->st_dev && before->st_ino == status->st_ino &&
	       before->st_size == status->st_size && before->st_mtim.tv_sec == status->st_mtim.tv_sec &&
	       before->st_mtim.tv_nsec == status->st_mtim.tv_nsec;
}

/* A file that is read again, such as a model for each of its networks, has its pages once. */
static const void *find_mapping(size_t size, const struct stat *status)
{
	struct mapping *mapping;

	pthread_mutex_lock(&lock);
	for (mapping = mappings; mapping && !is_same(mapping, size, status);)
		mapping = mapping->next;
	if (mapping)
		mapping->users++;
	pthread_mutex_unlock(&lock);
	return mapping ? mapping->bytes : NULL;
}

const void *sk_map_file(int descriptor, size_t size, const char *path)
{
	const void *known;
	struct stat status;

	if (fstat(descriptor, &status) < 0)
		return NULL;
	known = find_mapping(size, &status);
	if (known)
		return known;

	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	if (enter_mapping(bytes, size, path, &status))
		return bytes;
	munmap(bytes, size);
	errno = ENOMEM;
	return NULL;
}

void sk_unmap_file(const void *bytes, size_t size)
{
	struct mapping *mapping, *newer = NULL;
	bool used;

	pthread_mutex_lock(&lock);
	for (mapping = mappings; mapping && mapping->bytes != bytes; mapping = mapping->next)
		newer = mapping;
	used = mapping && --mapping->users;
	if (mapping && !used) {
		if (newer)
			newer->next = mapping->next;
		else
			mappings = mapping->next;
		free(mapping->path);
		mapping->path = NULL;
		mapping->next = unused;
		unused = mapping;
	}
	pthread_mutex_unlock(&lock);
	if (!used)
		munmap((void *)(uintptr_t)bytes, size);
}

static bool has_changed(const struct mapping *mapping)
{
	const struct stat *before = &mapping->status;
	struct stat now;

	return stat(mapping->path, &now) == 0 && now.st_dev == before->st_dev && now.st_ino == before->st_ino &&
	       (now.st_size != before->st_size || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

const char *sk_mapped_changed(void)
{
	for (const struct mapping *mapping = mappings; mapping; mapping = mapping->next)
		if (has_changed(mapping))
			return mapping->path;
	return NULL;
}

void sk_mapped_touch(const void *bytes, size_t size)
{
	const volatile char *at = bytes;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < size; i += page)
		(void)at[i];
	if (size)
		(void)at[size - 1];
}

void sk_mapped_let_go_of(const void *bytes, size_t size)
{
	madvise((void *)(uintptr_t)bytes, size, MADV_DONTNEED);
}

void sk_mapped_let_go(void)
{
	pthread_mutex_lock(&lock);
	for (const struct mapping *mapping = mappings; mapping; mapping = mapping->next)
		sk_mapped_let_go_of(mapping->bytes, mapping->size);
	pthread_mutex_unlock(&lock);
}
