/* Fuzz target: one archive through the linker, its members pulled on demand, then all of them. */
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(bytes, size, path);

	fuzz_link(path, false);
	fuzz_link(path, true);
	close(descriptor);
	return 0;
}
