/* Fuzz target: a model as protobuf's text format, however it begins, read to a graph. */
#include "tests/fuzz/fuzz-graph.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <unistd.h>

#define MODEL "model.pbtxt"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	FILE *stream = fopen(MODEL, "wb");

	fuzz_promise(stream && fwrite(bytes, 1, size, stream) == size && fclose(stream) == 0, "a file can be written");
	fuzz_model(MODEL);
	fuzz_promise(unlink(MODEL) == 0, "a model is a file");
	return 0;
}
