/* Fuzz target: an ONNX file, read to a graph. What the passes behind the reader take for granted must hold of every
 * graph that it makes. */
#include "tests/fuzz/fuzz-graph.h"
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#include "src/fusion/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(bytes, size, path);
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	const struct sk_op_graph *graph = sk_onnx_read(arena, &diag, path);

	fuzz_promise((graph != NULL) == (diag.errors == 0), "a model that is refused gives an error");
	if (graph) {
		fuzz_graph(graph);
		fuzz_accept();
	}
	sk_arena_destroy(arena);
	close(descriptor);
	return 0;
}
