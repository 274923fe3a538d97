/* Files in memory, broken promises; see fuzz.h. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t accepted;

void fuzz_accept(void)
{
	accepted++;
}

uint64_t fuzz_accepted(void)
{
	return accepted;
}

int fuzz_file(const uint8_t *bytes, size_t size, char path[FUZZ_PATH_SIZE])
{
	int descriptor = memfd_create("fuzz", MFD_CLOEXEC);

	for (size_t done = 0; done < size;) {
		ssize_t wrote = descriptor < 0 ? -1 : write(descriptor, bytes + done, size - done);

		if (wrote <= 0) {
			perror("a file in memory");
			abort();
		}
		done += (size_t)wrote;
	}
	snprintf(path, FUZZ_PATH_SIZE, "/proc/self/fd/%d", descriptor);
	return descriptor;
}

void fuzz_promise(bool kept, const char *text)
{
	if (kept)
		return;
	fprintf(stderr, "broken promise: %s\n", text);
	abort();
}
