/* Fuzz target: a .npy file, read as every element type. Each array that is accepted is written and read again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <unistd.h>

#include "format/npy/npy.h"
#include "format/skplan.h"

#define COPY "copy.npy"

/* The reader promises to its callers an array within the file, of that many bytes. */
static void check_array(const struct sk_npy *npy, enum sk_dtype dtype, size_t size)
{
	const char *start = npy->mapping, *data = npy->data;
	uint64_t bytes = sk_dtype_size(dtype);

	fuzz_promise(npy->rank <= SK_MAX_RANK && npy->mapping_size == size, "an array has a rank and a file");
	for (uint32_t i = 0; i < npy->rank && bytes; i++) /* an empty array may have any other extents */
		bytes = npy->shape[i] ? bytes : 0;
	for (uint32_t i = 0; i < npy->rank && bytes; i++)
		bytes *= npy->shape[i];
	fuzz_promise(bytes == npy->bytes, "an array has as many bytes as its shape says");
	fuzz_promise(data >= start && npy->bytes == size - (size_t)(data - start),
		     "an array fills the rest of its file");
}

/* Also read every byte of the copy. */
static void check_copy(const struct sk_npy *npy, enum sk_dtype dtype)
{
	struct sk_npy copy;
	char error[256];

	fuzz_promise(sk_npy_write(COPY, dtype, npy->rank, npy->shape, npy->data, error, sizeof(error)),
		     "what has been read can be written");
	fuzz_promise(sk_npy_open(COPY, dtype, &copy, error, sizeof(error)), "what has been written can be read");
	fuzz_promise(copy.rank == npy->rank && copy.bytes == npy->bytes &&
			     !memcmp(copy.shape, npy->shape, sizeof(copy.shape)) &&
			     (!copy.bytes || !memcmp(copy.data, npy->data, copy.bytes)),
		     "a copy is the same array");
	sk_npy_close(&copy);
	fuzz_promise(unlink(COPY) == 0, "a copy is a file");
}

static bool is_printable(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[FUZZ_PATH_SIZE];
	int descriptor = fuzz_file(bytes, size, path);
	bool accepted = false;

	for (int dtype = SK_DTYPE_NONE + 1; dtype < SK_DTYPE_COUNT; dtype++) {
		struct sk_npy npy;
		char error[256] = "";

		if (sk_npy_open(path, (enum sk_dtype)dtype, &npy, error, sizeof(error))) {
			check_array(&npy, (enum sk_dtype)dtype, size);
			check_copy(&npy, (enum sk_dtype)dtype);
			sk_npy_close(&npy);
			accepted = true;
		} else {
			fuzz_promise(!npy.mapping && *error && is_printable(error),
				     "a refusal says why, in plain text");
		}
	}
	if (accepted)
		fuzz_accept();
	close(descriptor);
	return 0;
}
