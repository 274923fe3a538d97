/* Writes well-formed files of about a megabyte that cost far more to link than their size says, unless the linker takes
 * care: names, records or lists that are used again and again. No fuzzer finds these, since each takes thousands of
 * entries that agree. mutate.c's limits apply to them as to any input.
 *
 *   bombs      writes into the working directory: *.o, *.a, *.yaml */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAXIMUM_SECTIONS = 20000, LONG_NAME = 200000 };

struct buffer {
	uint8_t *bytes;
	size_t size, capacity;
};

static size_t append(struct buffer *buffer, const void *bytes, size_t size)
{
	size_t at = buffer->size;

	if (at + size > buffer->capacity) {
		buffer->capacity = 2 * (at + size);
		buffer->bytes = realloc(buffer->bytes, buffer->capacity);
		if (!buffer->bytes)
			abort();
	}
	if (size && bytes)
		memcpy(buffer->bytes + at, bytes, size);
	else if (size)
		memset(buffer->bytes + at, 0, size);
	buffer->size += size;
	return at;
}

static void print(struct buffer *buffer, const char *format, unsigned number)
{
	char text[256];

	append(buffer, text, (size_t)snprintf(text, sizeof(text), format, number, number, number));
}

static void save(const char *name, struct buffer *buffer)
{
	FILE *stream = fopen(name, "wb");

	if (!stream || fwrite(buffer->bytes, 1, buffer->size, stream) != buffer->size || fclose(stream)) {
		perror(name);
		exit(1);
	}
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

/* ---- objects ---- */

struct object {
	struct buffer names, symbols, contents;
	Elf64_Shdr headers[MAXIMUM_SECTIONS];
	unsigned count;
};

enum { NAMES = 1, SYMBOLS = 2 }; /* the first two sections, written last */

static struct object *new_object(void)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		abort();
	object->count = 3;
	append(&object->names, "", 1);
	append(&object->symbols, NULL, sizeof(Elf64_Sym));
	append(&object->contents, NULL, sizeof(Elf64_Ehdr));
	return object;
}

static uint32_t add_name(struct object *object, const char *name)
{
	return (uint32_t)append(&object->names, name, strlen(name) + 1);
}

/* A name of many letters, which has only suffixes that are names as well. */
static uint32_t add_long_name(struct object *object)
{
	char *name = malloc(LONG_NAME);

	if (!name)
		abort();
	for (size_t i = 0; i < LONG_NAME; i++)
		name[i] = (char)('a' + i * i % 23 % 19);

	uint32_t at = (uint32_t)append(&object->names, name, LONG_NAME);

	free(name);
	append(&object->names, "", 1);
	return at;
}

static unsigned add_section(struct object *object, uint32_t name, uint32_t type, uint64_t flags, const void *bytes,
			    size_t size)
{
	append(&object->contents, NULL, -object->contents.size & 15);
	object->headers[object->count] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_flags = flags,
		.sh_offset = object->contents.size,
		.sh_size = size,
		.sh_addralign = 1,
	};
	if (type != SHT_NOBITS)
		append(&object->contents, bytes, size);
	return object->count++;
}

static unsigned add_text(struct object *object, size_t size)
{
	return add_section(object, add_name(object, ".text"), SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, NULL, size);
}

static unsigned add_symbol(struct object *object, uint32_t name, unsigned section, uint64_t value, uint64_t size)
{
	Elf64_Sym symbol = {.st_name = name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, section ? STT_FUNC : STT_NOTYPE),
			    .st_shndx = (uint16_t)section,
			    .st_value = value,
			    .st_size = size};

	return (unsigned)(append(&object->symbols, &symbol, sizeof(symbol)) / sizeof(symbol));
}

static void add_relocations(struct object *object, unsigned section, const Elf64_Rela *relocations, size_t count)
{
	unsigned number = add_section(object, 0, SHT_RELA, SHF_INFO_LINK, relocations, count * sizeof(*relocations));

	object->headers[number].sh_link = SYMBOLS;
	object->headers[number].sh_info = section;
	object->headers[number].sh_entsize = sizeof(*relocations);
}

static void save_object(const char *path, struct object *object)
{
	struct buffer *file = &object->contents;
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_REL,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(header),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = (uint16_t)object->count,
			     .e_shstrndx = NAMES};

	object->headers[NAMES] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = file->size, .sh_size = object->names.size, .sh_addralign = 1};
	append(file, object->names.bytes, object->names.size);
	append(file, NULL, -file->size & 7);
	object->headers[SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
						.sh_offset = file->size,
						.sh_size = object->symbols.size,
						.sh_link = NAMES,
						.sh_info = 1,
						.sh_addralign = 8,
						.sh_entsize = sizeof(Elf64_Sym)};
	append(file, object->symbols.bytes, object->symbols.size);
	header.e_shoff = append(file, object->headers, object->count * sizeof(Elf64_Shdr));
	memcpy(file->bytes, &header, sizeof(header));
	save(path, file);
	free(object->names.bytes);
	free(object->symbols.bytes);
	free(object);
}

/* Each symbol's name is an end of one long name: their lengths add up to gigabytes. */
static void write_symbol_names(void)
{
	struct object *object = new_object();
	uint32_t name = add_long_name(object);
	unsigned text = add_text(object, 64);

	for (unsigned i = 0; i < 20000; i++)
		add_symbol(object, name + i, text, 0, 1);
	save_object("symbol-names.o", object);
}

static void write_undefined_names(void)
{
	struct object *object = new_object();
	uint32_t name = add_long_name(object);
	unsigned text = add_text(object, 20000 * 4);
	Elf64_Rela *relocations = calloc(20000, sizeof(*relocations));

	add_symbol(object, add_name(object, "entry"), text, 0, 20000 * 4);
	for (unsigned i = 0; relocations && i < 20000; i++)
		relocations[i] = (Elf64_Rela){
			4 * i, ELF64_R_INFO((uint64_t)add_symbol(object, name + i, 0, 0, 0), R_X86_64_PLT32), -4};
	add_relocations(object, text, relocations, 20000);
	free(relocations);
	save_object("undefined-names.o", object);
}

/* The same for sections, each of which would be one of the output. */
static void write_section_names(void)
{
	struct object *object = new_object();
	uint32_t name = add_long_name(object);

	for (unsigned i = 0; i < 10000; i++)
		add_symbol(object, add_name(object, "f"),
			   add_section(object, name + i, SHT_PROGBITS,
				       SHF_ALLOC | SHF_EXECINSTR | (1 << 21) /* retained */, "x", 1),
			   0, 1);
	save_object("section-names.o", object);
}

/* Little code, and gigabytes between its sections. */
static void write_alignments(void)
{
	struct object *object = new_object();
	uint32_t name = add_name(object, ".text");

	for (unsigned i = 0; i < 120; i++) {
		unsigned section = add_section(object, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, "x", 1);
		char symbol[16];

		object->headers[section].sh_addralign = 1 << 24;
		snprintf(symbol, sizeof(symbol), "f%u", i);
		add_symbol(object, add_name(object, symbol), section, 0, 1);
	}
	save_object("alignments.o", object);
}

/* As many errors as relocations, each about the same long name. */
static void write_errors(void)
{
	struct object *object = new_object();
	unsigned text = add_text(object, 40000);
	unsigned symbol = add_symbol(object, add_long_name(object), text, 0, 40000);
	Elf64_Rela *relocations = calloc(40000, sizeof(*relocations));

	for (unsigned i = 0; relocations && i < 39990; i++)
		relocations[i] = (Elf64_Rela){i, ELF64_R_INFO((uint64_t)symbol, R_X86_64_32), 0};
	add_relocations(object, text, relocations, 39990);
	free(relocations);
	save_object("errors.o", object);
}

/* Each undefined symbol is used in the last of many functions. */
static void write_users(void)
{
	enum { COUNT = 15000 };
	struct object *object = new_object();
	unsigned text = add_text(object, 8 * COUNT);
	Elf64_Rela *relocations = calloc(COUNT, sizeof(*relocations));
	char name[16];

	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add_symbol(object, add_name(object, name), text, i < COUNT - 1 ? 0 : 4,
			   i < COUNT - 1 ? 1 : 8 * COUNT - 4);
	}
	for (unsigned i = 0; relocations && i < COUNT; i++) {
		snprintf(name, sizeof(name), "u%u", i);

		unsigned symbol = add_symbol(object, add_name(object, name), 0, 0, 0);

		relocations[i] = (Elf64_Rela){8 * i + 4, ELF64_R_INFO((uint64_t)symbol, R_X86_64_PLT32), -4};
	}
	add_relocations(object, text, relocations, COUNT);
	free(relocations);
	save_object("users.o", object);
}

/* Each of many unwind records refers to one CIE with many relocations. */
static void write_frames(void)
{
	enum { COUNT = 20000, CIE_SIZE = 4 * COUNT + 16, FDE_SIZE = 24 };
	struct object *object = new_object();
	unsigned text = add_text(object, COUNT);
	unsigned symbol = add_symbol(object, add_name(object, "f"), text, 0, COUNT);
	struct buffer frames = {0};
	Elf64_Rela *relocations = calloc(2 * COUNT, sizeof(*relocations));
	uint32_t words[FDE_SIZE / 4] = {CIE_SIZE - 4, 0};

	append(&frames, words, 8);
	append(&frames, NULL, CIE_SIZE - 8);
	for (unsigned i = 0; relocations && i < COUNT; i++) {
		uint32_t at = CIE_SIZE + i * FDE_SIZE;

		words[0] = FDE_SIZE - 4;
		words[1] = at + 4;
		append(&frames, words, sizeof(words));
		relocations[i] = (Elf64_Rela){16 + 4 * i, ELF64_R_INFO((uint64_t)symbol, R_X86_64_PC32), 0};
		relocations[COUNT + i] = (Elf64_Rela){at + 8, ELF64_R_INFO((uint64_t)symbol, R_X86_64_PC32), i};
	}

	unsigned section =
		add_section(object, add_name(object, ".eh_frame"), SHT_PROGBITS, SHF_ALLOC, frames.bytes, frames.size);

	add_relocations(object, section, relocations, 2 * COUNT);
	free(relocations);
	free(frames.bytes);
	save_object("frames.o", object);
}

/* Terabytes of zeros, in sections and common symbols. */
static void write_zeros(void)
{
	struct object *object = new_object();
	uint32_t name = add_name(object, ".bss");
	unsigned text = add_text(object, 8000);
	Elf64_Rela relocations[2000];
	char symbol[16];

	add_symbol(object, add_name(object, "entry"), text, 0, 8000);
	for (unsigned i = 0; i < 2000; i++) {
		unsigned number;

		snprintf(symbol, sizeof(symbol), "z%u", i);
		if (i % 2) {
			number = add_symbol(object, add_name(object, symbol), SHN_COMMON, 16, (uint64_t)1 << 45);
		} else {
			unsigned section = add_section(object, name, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, NULL, 0);

			object->headers[section].sh_size = (uint64_t)1 << 45;
			number = add_symbol(object, add_name(object, symbol), section, 0, 8);
		}
		relocations[i] = (Elf64_Rela){4 * i, ELF64_R_INFO((uint64_t)number, R_X86_64_PC32), -4};
	}
	add_relocations(object, text, relocations, 2000);
	save_object("zeros.o", object);
}

/* Strings that are suffixes of each other, in sections that keep equal strings once. */
static void write_strings(void)
{
	enum { COUNT = 1400 };
	struct object *object = new_object();
	unsigned text = add_text(object, 64);
	struct buffer strings = {0};

	for (unsigned i = 1; i < COUNT; i++) {
		size_t at = append(&strings, NULL, i + 1);

		memset(strings.bytes + at, 'a', i);
	}

	unsigned section = add_section(object, add_name(object, ".rodata.str1.1"), SHT_PROGBITS,
				       SHF_ALLOC | SHF_MERGE | SHF_STRINGS, strings.bytes, strings.size);

	object->headers[section].sh_entsize = 1;
	unsigned symbol = add_symbol(object, add_name(object, "strings"), section, 0, 1);
	Elf64_Rela relocation = {0, ELF64_R_INFO((uint64_t)symbol, R_X86_64_PC32), -4};

	add_symbol(object, add_name(object, "entry"), text, 0, 64);
	add_relocations(object, text, &relocation, 1);
	free(strings.bytes);
	save_object("strings.o", object);
}

/* Each section has the same contents. */
static void write_overlap(void)
{
	enum { SIZE = 400000 };
	struct object *object = new_object();
	uint32_t name = add_name(object, ".text");
	unsigned text = add_text(object, SIZE);
	char symbol[16];

	for (unsigned i = 0; i < 4000; i++) {
		unsigned section = add_section(object, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, NULL, 0);

		object->headers[section].sh_offset = object->headers[text].sh_offset;
		object->headers[section].sh_size = SIZE;
		snprintf(symbol, sizeof(symbol), "f%u", i);
		add_symbol(object, add_name(object, symbol), section, 0, 1);
	}
	save_object("overlap.o", object);
}

/* Compressed debug information: zeros, as many as fit. */
static void write_compressed(void)
{
	enum { SIZE = 400 << 20 };
	struct object *object = new_object();
	unsigned text = add_text(object, 64);
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = SIZE, .ch_addralign = 1};
	uLongf size = compressBound(SIZE);
	uint8_t *zeros = calloc(1, SIZE), *bytes = malloc(sizeof(header) + size);

	if (!zeros || !bytes || compress(bytes + sizeof(header), &size, zeros, SIZE) != Z_OK)
		abort();
	memcpy(bytes, &header, sizeof(header));
	add_symbol(object, add_name(object, "entry"), text, 0, 64);
	add_section(object, add_name(object, ".debug_info"), SHT_PROGBITS, SHF_COMPRESSED, bytes,
		    sizeof(header) + size);
	free(zeros);
	free(bytes);
	save_object("compressed.o", object);
}

/* ---- archives ---- */

/* Each member has the same long name, and something to say about it. */
static void write_member_names(void)
{
	struct buffer file = {0};
	char header[64];

	append(&file, "!<arch>\n", 8);
	append(&file, header, (size_t)snprintf(header, sizeof(header), "%-48s%-10d`\n", "//", 60000));

	size_t names = append(&file, NULL, 60000);

	memset(file.bytes + names, 'n', 59998);
	memcpy(file.bytes + names + 59998, "/\n", 2);
	for (unsigned i = 0; i < 15000; i++)
		append(&file, header, (size_t)snprintf(header, sizeof(header), "%-48s%-10d`\n", "/0", 0));
	save("member-names.a", &file);
}

/* ---- manifests ---- */

static void write_manifest(const char *name, const char *head, unsigned count, const char *line, const char *tail)
{
	struct buffer file = {0};

	append(&file, head, strlen(head));
	for (unsigned i = 0; i < count; i++)
		print(&file, line, i);
	append(&file, tail, strlen(tail));
	save(name, &file);
}

#define TENSORS "sklink: 1\ntensors:\n  x: {dtype: f32, shape: [64]}\n  y: {dtype: f32, shape: [64], role: inout}\n"

/* The first number of a line is the entry's, as are all others. */
static void write_manifests(void)
{
	struct buffer file = {0};

	write_manifest("chain.yaml", TENSORS "tasks:\n", 10000,
		       "  - {name: t%u, kernel: prefix, args: [x, y], scope: s}\n", "");
	write_manifest("halves.yaml", TENSORS "tasks:\n", 10000, "  - {name: t%u, kernel: counter, args: [y]}\n", "");
	write_manifest("streams.yaml", TENSORS "tasks:\n", 1500,
		       "  - {name: t%u, kernel: add, args: [x, x, y], stream: %u, scope: s}\n",
		       "scopes:\n  s: {options: \"stream-fusion=1\"}\n");
	write_manifest("alone.yaml", TENSORS "tasks:\n", 1500,
		       "  - {name: t%u, kernel: add, args: [x, x, y], stream: %u}\n", "");
	write_manifest("names.yaml", TENSORS "tasks:\n", 10000, "  - {name: t%u, kernel: addd%u, args: [x, xx%u]}\n",
		       "");
	write_manifest("missing.yaml", TENSORS, 20000, "  w%u: {of: v%u, shape: [64], colour: %u}\n", "tasks: []\n");

	append(&file, TENSORS, strlen(TENSORS));
	for (unsigned i = 20000; i-- > 1;) {
		char line[64];

		append(&file, line, (size_t)snprintf(line, sizeof(line), "  v%u: {of: v%u, shape: [64]}\n", i, i - 1));
	}

	const char *end = "  v0: {of: x, shape: [64]}\ntasks:\n  - {name: t, kernel: prefix, args: [v19999, y]}\n";

	append(&file, end, strlen(end));
	save("views.yaml", &file);
}

int main(void)
{
	write_symbol_names();
	write_undefined_names();
	write_section_names();
	write_alignments();
	write_errors();
	write_users();
	write_frames();
	write_zeros();
	write_strings();
	write_overlap();
	write_compressed();
	write_member_names();
	write_manifests();
	return 0;
}
