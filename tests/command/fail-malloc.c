/* Preloaded into a program: makes its allocation number FAIL_AT fail and, if FAIL_ON is set, all later allocations.
 * Writes to the file FAIL_LOG that an allocation failed. For tests/command/no-memory.sh; glibc only. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long allocations;

static int fails(void)
{
	const char *at = getenv("FAIL_AT"), *log = getenv("FAIL_LOG");
	long number = atomic_fetch_add(&allocations, 1) + 1, failing = at ? atol(at) : 0;

	if (!failing || number < failing || (number > failing && !getenv("FAIL_ON")))
		return 0;
	if (log && number == failing)
		close(open(log, O_CREAT | O_WRONLY, 0666));
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	*memory = memalign(alignment, size);
	return *memory ? 0 : ENOMEM;
}
