/* Fuzz target: one object through the linker. */
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(bytes, size, path);

	fuzz_link(path, false);
	close(descriptor);
	return 0;
}
