/* Damages an object, or an archive, in every way that one cut or one changed byte can, and links it each time: the link
 * must end with an image or with errors, never with a crash, a hang or an error-free failure. The bytes come before a
 * page that cannot be read, so that reads past them crash even without a sanitizer.
 *
 *   link-damage FILE [VARIANTS]      prints how many links succeeded and failed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "tests/lib/whole-link.h"

struct file {
	uint8_t *bytes;
	size_t size;
};

static struct file read_file(const char *path)
{
	FILE *stream = fopen(path, "rb");
	struct file file = {malloc(1 << 20), 0};

	if (!stream || !file.bytes) {
		perror(path);
		exit(2);
	}
	file.size = fread(file.bytes, 1, 1 << 20, stream);
	fclose(stream);
	return file;
}

/* Memory that is followed by a byte that faults. */
static uint8_t *guarded(size_t size, uint8_t **mapping, size_t *mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;

	*mapped = whole + page;
	*mapping = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*mapping == MAP_FAILED || mprotect(*mapping + whole, page, PROT_NONE))
		abort();
	return *mapping + whole - size;
}

/* Like adding files: an object is loaded while its bytes exist, a member when it is pulled. */
static void add_object(struct sk_linker *linker, struct sk_object_source *source)
{
	struct sk_object *object;

	source->path = "damaged";
	if (sk_object_open(&linker->reader, source, &object) != SK_OBJECT_READY)
		return;
	if (source->transient && !sk_object_load(&linker->reader, object))
		return;
	sk_object_enter(linker, object);
}

static void add_bytes(struct sk_linker *linker, const uint8_t *bytes, size_t size)
{
	struct sk_archive archive;
	struct sk_member member;

	sk_array_push(linker->arena, &linker->inputs, (struct sk_input){.path = "damaged"});
	if (size < 8 || memcmp(bytes, "!<arch>\n", 8) != 0) {
		add_object(linker, &(struct sk_object_source){.transient = true, .bytes = bytes, .size = size});
		return;
	}
	sk_archive_open(&archive, bytes, size);
	for (;;) {
		switch (sk_archive_next(&archive, &member)) {
		case SK_ARCHIVE_ERROR:
			sk_error(linker->diag, (struct sk_place){.file = "damaged"}, "%s", archive.error);
			return;
		case SK_ARCHIVE_END:
			return;
		case SK_ARCHIVE_MEMBER:
			add_object(linker, &(struct sk_object_source){.member = member.name,
								      .member_length = member.name_length,
								      .bytes = member.bytes,
								      .size = member.size});
		}
	}
}

static void ignore(void *context, const struct sk_kernel_record *record)
{
	*(size_t *)context += strlen(record->symbol) + strlen(record->signature);
}

/* Everything that one link does but for writing; every function is required, copied, and asked about. True: there is an
 * image.
 */
static bool link_bytes(const uint8_t *bytes, size_t size)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;
	size_t count, total = 0;

	sk_diag_init(&diag, arena);

	struct sk_linker *linker = sk_linker_create(arena, &diag, &(struct sk_linker_options){0});

	add_bytes(linker, bytes, size);
	sk_linker_visit_kernels(linker, SK_NONE, ignore, &total);

	const char *const *names = sk_linker_function_names(linker, SK_ANYWHERE, &count);

	const struct sk_section_spec spec = {
		.name = ".text.calls", .kind = SK_SECTION_TEXT, .alignment = 64, .size = 8 * count};
	sk_section calls = sk_linker_add_section(linker, &spec);

	sk_linker_define(linker, calls, "calls_of_copies", 0, spec.size, SK_SYMBOL_FUNCTION, true);
	for (size_t i = 0; i < count; i++) {
		struct sk_kernel_record record;
		const uint32_t *states;
		size_t state_count;

		sk_linker_require(linker, names[i]);
		if (!sk_linker_find_kernel(linker, SK_ANYWHERE, names[i], &record))
			continue;

		sk_symbol copy = sk_linker_copy(linker, record.code, 1, record.place);

		if (copy != SK_NONE)
			sk_linker_relocate(linker, calls, 8 * i, SK_RELOCATION_CALL, copy, -4);
		if (!sk_linker_find_state(linker, record.code, &states, &state_count))
			continue;
		for (size_t j = 0; j < state_count; j++)
			total += strlen(sk_linker_state_name(linker, states[j]));
	}

	bool linked = link_whole(linker);

	if (!linked && !diag.errors) {
		fprintf(stderr, "a link failed without an error\n");
		exit(1);
	}
	linked &= total < SIZE_MAX;
	sk_linker_destroy(linker);
	sk_arena_destroy(arena);
	return linked;
}

struct counts {
	size_t linked, refused;
};

static void try_bytes(const uint8_t *bytes, size_t size, struct counts *counts)
{
	if (link_bytes(bytes, size))
		counts->linked++;
	else
		counts->refused++;
}

int main(int argc, char **argv)
{
	static const uint8_t masks[] = {0xff, 0x01, 0x80, 0x10};
	struct file file = read_file(argc > 1 ? argv[1] : "");
	size_t variants = argc > 2 ? strtoul(argv[2], NULL, 10) : 4000, mapped;
	struct counts cut = {0, 0}, changed = {0, 0};
	uint8_t *mapping, *bytes = guarded(file.size, &mapping, &mapped);

	memcpy(bytes, file.bytes, file.size);
	if (!link_bytes(bytes, file.size)) {
		fprintf(stderr, "%s does not link as it is\n", argv[1]);
		return 1;
	}

	/* Cut: the beginning of the file, moved up against the guard. */
	size_t stride = 1 + file.size / (variants / 4);

	for (size_t size = 0; size < file.size; size += stride) {
		memcpy(bytes + file.size - size, file.bytes, size);
		try_bytes(bytes + file.size - size, size, &cut);
	}

	/* Changed: one byte, another way at each visit; the strides of headers and tables get all ways in turn. */
	memcpy(bytes, file.bytes, file.size);
	stride = 1 + file.size * sizeof(masks) / variants;
	for (size_t i = 0; i < file.size * sizeof(masks); i += stride) {
		size_t offset = i / sizeof(masks);

		bytes[offset] = file.bytes[offset] ^ masks[i % sizeof(masks)];
		try_bytes(bytes, file.size, &changed);
		bytes[offset] = file.bytes[offset];
	}
	printf("cut: %zu linked, %zu refused; changed: %zu linked, %zu refused\n", cut.linked, cut.refused,
	       changed.linked, changed.refused);
	munmap(mapping, mapped);
	free(file.bytes);
	return cut.refused > 0 && changed.refused > 0 && changed.linked > 0 ? 0 : 1;
}
