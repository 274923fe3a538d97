/* Fuzz target: a package through both of its readers. Nothing in it is run. */
#include "tests/fuzz/fuzz.h"

#include <elf.h>
#include <unistd.h>

#include "tests/fuzz/package-readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[FUZZ_PATH_SIZE], reason[512];
	int descriptor = fuzz_file(bytes, size, path);

	bool loaded = readers_load(path, false, NULL, reason, sizeof(reason)), sound = readers_prove(path);

	readers_load(path, true, NULL, reason, sizeof(reason));
	/* Objects of sklink -r are only read. */
	if (sound && (loaded || (size > offsetof(Elf64_Ehdr, e_type) && bytes[offsetof(Elf64_Ehdr, e_type)] == ET_REL)))
		fuzz_accept();
	close(descriptor);
	return 0;
}
