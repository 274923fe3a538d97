/* Fuzz target: a model file, read to a graph: as a text if it begins like one, otherwise as ONNX's binary format. */
#include "tests/fuzz/fuzz-graph.h"
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(bytes, size, path);

	fuzz_model(path);
	close(descriptor);
	return 0;
}
