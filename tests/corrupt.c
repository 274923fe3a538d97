/* corrupt [--integrity] PACKAGE: changes every byte of a package, one at a time, to each of a few values,
 * and has the readers look at it.
 *
 * With --integrity, all bytes: libskrt must refuse each change when it is asked to check the package's seal.
 * Without, all bytes but those of text: libskrt may accept, or refuse with a reason, and what it refuses skdump must
 * not prove; nothing else must happen. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "package-readers.h"

enum { MOST_BYTES = 1 << 20, VALUES = 4 };

struct file {
	uint8_t *bytes;
	size_t size;
	uint64_t text, text_end; /* the executable segment */
};

static bool read_file(const char *path, struct file *file)
{
	FILE *stream = fopen(path, "rb");

	file->bytes = malloc(MOST_BYTES);
	if (!stream || !file->bytes)
		return false;
	file->size = fread(file->bytes, 1, MOST_BYTES, stream);
	fclose(stream);
	return file->size > sizeof(Elf64_Ehdr) && file->size < MOST_BYTES;
}

static void find_text(struct file *file)
{
	const Elf64_Ehdr *header = (const void *)file->bytes;
	const Elf64_Phdr *headers = (const void *)(file->bytes + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++) {
		if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_X))
			continue;
		file->text = headers[i].p_offset;
		file->text_end = headers[i].p_offset + headers[i].p_filesz;
	}
}

struct counts {
	unsigned long tried, refused;
};

static void try(const struct file *file, size_t at, bool integrity, struct counts *counts)
{
	char path[FUZZ_PATH_SIZE], reason[512];
	int descriptor = fuzz_file(file->bytes, file->size, path);
	bool loaded = readers_load(path, integrity, reason, sizeof(reason));

	counts->tried++;
	counts->refused += !loaded;
	if (integrity && loaded) {
		printf("byte %zu, changed to 0x%02x, is not noticed\n", at, file->bytes[at]);
		exit(EXIT_FAILURE);
	}
	/* What the processor lacks is no fault of the package. */
	if (!integrity && !loaded && !strstr(reason, "this processor has") && readers_prove(path)) {
		printf("byte %zu, changed to 0x%02x, is proved, but libskrt says: %s\n", at, file->bytes[at], reason);
		exit(EXIT_FAILURE);
	}
	close(descriptor);
}

int main(int argc, char **argv)
{
	bool integrity = argc > 2 && !strcmp(argv[1], "--integrity");
	struct counts counts = {0};
	struct file file = {0};

	if (argc < 2 || !read_file(argv[argc - 1], &file)) {
		fprintf(stderr, "cannot read the package\n");
		return EXIT_FAILURE;
	}
	find_text(&file);
	for (size_t at = 0; at < file.size; at++) {
		uint8_t old = file.bytes[at];
		const uint8_t values[VALUES] = {0, 0xff, old ^ 1, old ^ 0x80};

		if (!integrity && at >= file.text && at < file.text_end)
			continue;
		for (int i = 0; i < VALUES; i++) {
			file.bytes[at] = values[i];
			if (values[i] != old && (i < 2 || (values[i] != 0 && values[i] != 0xff)))
				try(&file, at, integrity, &counts);
		}
		file.bytes[at] = old;
	}
	printf("%lu changes: %lu refused\n", counts.tried, counts.refused);
	free(file.bytes);
	return EXIT_SUCCESS;
}
