/* corrupt [--integrity | --trust KEY | --dynamic KEY] PACKAGE: change every byte of a package, one at a time, to each
 * of a few values, and have the readers look at it.
 *
 * With --integrity, every byte is changed: libskrt must refuse each change when it is asked to check the package's
 * seal. With --trust, every byte that is loaded: libskrt must refuse each change when it is given the public key,
 * except in the fields that the signature cannot cover. With --dynamic, the entries of .dynamic: each tag becomes every
 * other tag, and each value becomes the value of every other entry and some values near its own. libskrt must refuse
 * each change for the key alone, and for the seal alone. Without an option, every byte except code: libskrt may accept
 * the package, or refuse it with a reason; skdump must not prove a package that libskrt refuses; nothing else may
 * happen. */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/seal.h"
#include "format/skplan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/package-readers.h"

enum { MOST_BYTES = 1 << 20, VALUES = 4 };

struct file {
	uint8_t *bytes;
	size_t size;
	uint64_t text, text_end; /* the executable segment */
	const Elf64_Phdr *headers;
	uint64_t seal; /* the file's offset of its hash of the loaded bytes, which follows the signature */
};

enum check { ALONE, INTEGRITY, TRUST };

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

static void find_parts(struct file *file)
{
	const Elf64_Ehdr *header = (const void *)file->bytes;
	const Elf64_Phdr *headers = (const void *)(file->bytes + header->e_phoff);

	file->headers = headers;
	for (uint64_t at = 0; at + sizeof(struct sk_plan) <= file->size; at += SK_PLAN_ALIGN) {
		const struct sk_plan *plan = (const void *)(file->bytes + at);

		if (plan->magic == SK_PLAN_MAGIC)
			file->seal = at + offsetof(struct sk_plan, seal.loaded);
	}
	for (int i = 0; i < header->e_phnum; i++) {
		if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_X))
			continue;
		file->text = headers[i].p_offset;
		file->text_end = headers[i].p_offset + headers[i].p_filesz;
	}
}

static bool is_in(size_t at, uint64_t start, uint64_t size)
{
	return at >= start && at - start < size;
}

/* Return whether the signature covers the byte. */
static bool is_signed(const struct file *file, size_t at)
{
	const Elf64_Ehdr *header = (const void *)file->bytes;
	bool loaded = false;

	for (int i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &file->headers[i];
		uint64_t place = (uint64_t)((const uint8_t *)segment - file->bytes);

		loaded |= segment->p_type == PT_LOAD && is_in(at, segment->p_offset, segment->p_filesz);
		if (is_in(at, place + offsetof(Elf64_Phdr, p_offset), sizeof(segment->p_offset)))
			return false;
	}
	return loaded && !is_in(at, file->seal, sizeof(((struct sk_plan_seal *)0)->loaded)) &&
	       !is_in(at, offsetof(Elf64_Ehdr, e_shoff), sizeof(header->e_shoff)) &&
	       !is_in(at, offsetof(Elf64_Ehdr, e_shentsize), 3 * sizeof(Elf64_Half));
}

static const unsigned char *read_key(const char *path)
{
	static unsigned char key[SK_SEAL_KEY];
	const char *error = sk_key_read(path, SK_KEY_PUBLIC, key);

	if (!error)
		return key;
	fprintf(stderr, "%s: %s\n", path, error);
	exit(EXIT_FAILURE);
}

struct counts {
	unsigned long tried, refused;
};

static void try(const struct file *file, size_t at, enum check check, const unsigned char *key, struct counts *counts)
{
	char path[FUZZ_PATH_SIZE], reason[512];
	int descriptor = fuzz_file(file->bytes, file->size, path);
	bool loaded = readers_load(path, check == INTEGRITY, key, reason, sizeof(reason));

	counts->tried++;
	counts->refused += !loaded;
	if (check != ALONE && loaded) {
		printf("byte %zu, changed to 0x%02x, is not noticed\n", at, file->bytes[at]);
		exit(EXIT_FAILURE);
	}
	/* A package is not at fault for instructions that the processor lacks. */
	if (check == ALONE && !loaded && !strstr(reason, "this processor has") && readers_prove(path)) {
		printf("byte %zu, changed to 0x%02x, is proved, but libskrt says: %s\n", at, file->bytes[at], reason);
		exit(EXIT_FAILURE);
	}
	close(descriptor);
}

static void corrupt_bytes(struct file *file, enum check check, const unsigned char *key, struct counts *counts)
{
	for (size_t at = 0; at < file->size; at++) {
		uint8_t old = file->bytes[at];
		const uint8_t values[VALUES] = {0, 0xff, old ^ 1, old ^ 0x80};

		if (check == ALONE ? is_in(at, file->text, file->text_end - file->text)
				   : check == TRUST && !is_signed(file, at))
			continue;
		for (int i = 0; i < VALUES; i++) {
			file->bytes[at] = values[i];
			if (values[i] != old && (i < 2 || (values[i] != 0 && values[i] != 0xff)))
				try(file, at, check, key, counts);
		}
		file->bytes[at] = old;
	}
}

/* ---- .dynamic ---- */

/* All that libskrt obeys, passes over or refuses by name, and one that it does not know. */
static const int64_t tags[] = {
	DT_NULL,       DT_NEEDED,     DT_PLTRELSZ, DT_PLTGOT,	DT_HASH,	 DT_STRTAB,	  DT_SYMTAB,
	DT_RELA,       DT_RELASZ,     DT_RELAENT,  DT_STRSZ,	DT_SYMENT,	 DT_INIT,	  DT_FINI,
	DT_SONAME,     DT_SYMBOLIC,   DT_REL,	   DT_DEBUG,	DT_TEXTREL,	 DT_JMPREL,	  DT_BIND_NOW,
	DT_INIT_ARRAY, DT_FINI_ARRAY, DT_FLAGS,	   DT_GNU_HASH, DT_INIT_ARRAYSZ, DT_FINI_ARRAYSZ, DT_RELACOUNT,
	DT_FLAGS_1,    DT_VERSYM,     DT_RUNPATH,
};

/* One field of an entry with another value, under each of the two checks. */
static void try_field(const struct file *file, uint64_t *field, uint64_t value, const unsigned char *key,
		      struct counts *counts)
{
	size_t at = (size_t)((uint8_t *)field - file->bytes);
	uint64_t old = *field;

	if (value == old)
		return;
	*field = value;
	try(file, at, TRUST, key, counts);
	try(file, at, INTEGRITY, NULL, counts);
	*field = old;
}

static void corrupt_dynamic(const struct file *file, const unsigned char *key, struct counts *counts)
{
	const Elf64_Ehdr *header = (const void *)file->bytes;
	const Elf64_Phdr *dynamic = file->headers, *end = file->headers + header->e_phnum;

	while (dynamic < end && dynamic->p_type != PT_DYNAMIC)
		dynamic++;
	if (dynamic == end)
		return;

	Elf64_Dyn *entries = (void *)(file->bytes + dynamic->p_offset);
	uint64_t count = dynamic->p_filesz / sizeof(*entries);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t *tag = (uint64_t *)&entries[i].d_tag, *value = &entries[i].d_un.d_val;
		const uint64_t near[] = {0,	      1,	   *value + 8, *value - 8,
					 *value + 24, *value - 24, *value | 4, *value / 2};

		for (size_t j = 0; j < sizeof(tags) / sizeof(tags[0]); j++)
			try_field(file, tag, (uint64_t)tags[j], key, counts);
		for (size_t j = 0; j < sizeof(near) / sizeof(near[0]); j++)
			try_field(file, value, near[j], key, counts);
		for (uint64_t j = 0; j < count; j++)
			try_field(file, value, entries[j].d_un.d_val, key, counts);
	}
}

int main(int argc, char **argv)
{
	bool dynamic = argc == 4 && !strcmp(argv[1], "--dynamic");
	enum check check = argc == 3 && !strcmp(argv[1], "--integrity") ? INTEGRITY
			   : argc == 4 && !strcmp(argv[1], "--trust")	? TRUST
									: ALONE;
	const unsigned char *key = check == TRUST || dynamic ? read_key(argv[2]) : NULL;
	struct counts counts = {0};
	struct file file = {0};

	if (argc < 2 || !read_file(argv[argc - 1], &file)) {
		fprintf(stderr, "cannot read the package\n");
		return EXIT_FAILURE;
	}
	find_parts(&file);
	if (dynamic)
		corrupt_dynamic(&file, key, &counts);
	else
		corrupt_bytes(&file, check, key, &counts);
	printf("%lu changes: %lu refused\n", counts.tried, counts.refused);
	free(file.bytes);
	return EXIT_SUCCESS;
}
