/* An oracle: two links of the same objects must mean the same, wherever each has put the sections.
 *
 *   compare-links GNU.so GNU.map SK.so SK.map OBJECT…
 *
 * The maps (GNU ld's and sklink's) say where each input section lies. Then, in both files,
 *   - every relocation's field is followed, through the loader's relocations, GOT slots and stubs, to its target, which
 *     must be a definition of its symbol, the same definition in both; references into mergeable sections must lead to
 *     equal strings or records;
 *   - all other bytes of the sections must be the objects' own;
 *   - every function's unwind information must be found by binary search, and be that of the object.
 * It reads the objects' symbols itself and shares no code with the linker. Sections that sklink has left out, since
 * nothing leads to them, are counted. The exit status is 1 on any difference, and if nothing was compared. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GNU, SK, IMAGES };

enum { MAXIMUM_COMPLAINTS = 20 };

struct section {
	const char *name;
	Elf64_Shdr header;
	const uint8_t *bytes; /* NULL: zeros */
	const Elf64_Rela *relocations;
	size_t relocation_count;
	uint64_t address[IMAGES];
	bool placed[IMAGES];
};

struct object {
	const char *path;
	struct section *sections;
	size_t section_count;
	const Elf64_Sym *symbols;
	size_t symbol_count, first_global;
	const char *names;
};

/* A global symbol that an object defines. */
struct definition {
	const char *name;
	const struct object *object;
	const Elf64_Sym *symbol;
};

struct image {
	const char *path;
	uint8_t *memory; /* as loaded at address 0, before the loader relocates it */
	uint64_t size;
	Elf64_Rela *relocations; /* the loader's, by place */
	size_t relocation_count;
	const Elf64_Sym *dynamic;
	const char *dynamic_names;
	const Elf64_Phdr *segments;
	size_t segment_count;
};

/* The target of a field. */
struct destination {
	const char *import; /* NULL: the address */
	uint64_t address;
	bool absolute; /* the address is a number that does not move with the image */
};

static struct object *objects;
static size_t object_count;
static struct definition *definitions;
static size_t definition_count;
static struct image images[IMAGES];
static unsigned complaints;
static unsigned long long compared_sections, compared_bytes, compared_relocations, compared_frames, left_out;

_Noreturn static void stop(const char *path, const char *text)
{
	fprintf(stderr, "compare-links: %s: %s\n", path, text);
	exit(2);
}

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
	va_list list;

	if (complaints++ >= MAXIMUM_COMPLAINTS)
		return;
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		stop("memory", strerror(errno));
	return memory;
}

/* Everything that is opened stays open until the process ends. */
static Elf *open_elf(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = descriptor < 0 ? NULL : elf_begin(descriptor, ELF_C_READ, NULL);

	if (!elf || elf_kind(elf) != ELF_K_ELF)
		stop(path, "cannot be read as ELF");
	return elf;
}

static const void *contents(Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);

	return data ? data->d_buf : NULL;
}

/* ---- objects ---- */

static void read_object(struct object *object, const char *path)
{
	Elf *elf = open_elf(path);
	size_t names;

	*object = (struct object){.path = path};
	if (elf_getshdrnum(elf, &object->section_count) || elf_getshdrstrndx(elf, &names))
		stop(path, elf_errmsg(-1));
	object->sections = allocate(object->section_count, sizeof(*object->sections));
	for (size_t i = 1; i < object->section_count; i++) {
		struct section *section = &object->sections[i];
		Elf_Scn *raw = elf_getscn(elf, i);
		const Elf64_Shdr *header = elf64_getshdr(raw);

		section->header = *header;
		section->name = elf_strptr(elf, names, header->sh_name);
		section->bytes = header->sh_type == SHT_NOBITS ? NULL : contents(raw);
		if (header->sh_type == SHT_SYMTAB) {
			object->symbols = contents(raw);
			object->symbol_count = header->sh_size / sizeof(Elf64_Sym);
			object->first_global = header->sh_info;
			object->names = contents(elf_getscn(elf, header->sh_link));
		}
	}
	for (size_t i = 1; i < object->section_count; i++) {
		const Elf64_Shdr *header = &object->sections[i].header;

		if (header->sh_type == SHT_RELA) {
			struct section *target = &object->sections[header->sh_info];

			target->relocations = contents(elf_getscn(elf, i));
			target->relocation_count = header->sh_size / sizeof(Elf64_Rela);
		}
	}
	definition_count += object->symbol_count - object->first_global; /* at most */
}

static int compare_definitions(const void *a, const void *b)
{
	const struct definition *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	return order ? order : (left > right) - (left < right);
}

static void gather_definitions(void)
{
	definitions = allocate(definition_count, sizeof(*definitions));
	definition_count = 0;
	for (size_t i = 0; i < object_count; i++)
		for (size_t j = objects[i].first_global; j < objects[i].symbol_count; j++) {
			const Elf64_Sym *symbol = &objects[i].symbols[j];

			if (symbol->st_shndx != SHN_UNDEF)
				definitions[definition_count++] =
					(struct definition){objects[i].names + symbol->st_name, &objects[i], symbol};
		}
	qsort(definitions, definition_count, sizeof(*definitions), compare_definitions);
}

/* The first definition of that name; the end of the table if there is none. */
static size_t find_definition(const char *name)
{
	size_t low = 0, high = definition_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(definitions[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < definition_count && !strcmp(definitions[low].name, name) ? low : definition_count;
}

/* ---- images ---- */

static int compare_relocations(const void *a, const void *b)
{
	const Elf64_Rela *left = a, *right = b;

	return (left->r_offset > right->r_offset) - (left->r_offset < right->r_offset);
}

static void add_relocations(struct image *image, const Elf64_Rela *relocations, size_t count)
{
	image->relocations =
		realloc(image->relocations, (image->relocation_count + count + 1) * sizeof(*image->relocations));
	if (!image->relocations)
		stop(image->path, strerror(errno));
	memcpy(image->relocations + image->relocation_count, relocations, count * sizeof(*relocations));
	image->relocation_count += count;
}

static void load_segments(struct image *image, Elf *elf)
{
	size_t file_size;
	const char *file = elf_rawfile(elf, &file_size);

	elf_getphdrnum(elf, &image->segment_count);
	image->segments = elf64_getphdr(elf);
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_LOAD)
			image->size = image->segments[i].p_vaddr + image->segments[i].p_memsz;
	image->memory = allocate(image->size, 1);
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_LOAD)
			memcpy(image->memory + image->segments[i].p_vaddr, file + image->segments[i].p_offset,
			       image->segments[i].p_filesz);
}

static void read_image(struct image *image, const char *path)
{
	Elf *elf = open_elf(path);

	*image = (struct image){.path = path};
	load_segments(image, elf);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		if (header->sh_type == SHT_RELA && (header->sh_flags & SHF_ALLOC))
			add_relocations(image, contents(section), header->sh_size / sizeof(Elf64_Rela));
		if (header->sh_type == SHT_DYNSYM) {
			image->dynamic = contents(section);
			image->dynamic_names = contents(elf_getscn(elf, header->sh_link));
		}
	}
	if (image->relocation_count)
		qsort(image->relocations, image->relocation_count, sizeof(*image->relocations), compare_relocations);
}

/* `size` bytes of the image, or, outside of it, NULL. */
static const uint8_t *at(const struct image *image, uint64_t address, uint64_t size)
{
	return address <= image->size && size <= image->size - address ? image->memory + address : NULL;
}

static int64_t field(const struct image *image, uint64_t address, unsigned width)
{
	const uint8_t *bytes = at(image, address, width);
	uint64_t value = 0;

	if (!bytes)
		return 0;
	memcpy(&value, bytes, width);
	return (int64_t)(value << (64 - 8 * width)) >> (64 - 8 * width);
}

static const Elf64_Rela *loader_relocation(const struct image *image, uint64_t place)
{
	Elf64_Rela key = {.r_offset = place};

	return image->relocation_count
		       ? bsearch(&key, image->relocations, image->relocation_count, sizeof(key), compare_relocations)
		       : NULL;
}

/* ---- maps ---- */

static struct object *find_object(const char *path)
{
	for (size_t i = 0; i < object_count; i++)
		if (!strcmp(objects[i].path, path))
			return &objects[i];
	return NULL;
}

/* The maps list the sections of one object that have equal names in the objects' order. */
static void place(int which, struct object *object, const char *name, uint64_t address, uint64_t size)
{
	for (size_t i = 1; object && i < object->section_count; i++) {
		struct section *section = &object->sections[i];

		if (section->placed[which] || !(section->header.sh_flags & SHF_ALLOC) || strcmp(section->name, name) ||
		    section->header.sh_size != size)
			continue;
		section->placed[which] = true;
		section->address[which] = address;
		return;
	}
}

/* " .text  0x1000  0x20 a.o", or with the name on a line of its own. Sections before the memory map have been
 * discarded. */
static void read_gnu_map(const char *path)
{
	FILE *stream = fopen(path, "r");
	char line[4096], name[4096] = "", rest[4096], file[4096];
	bool started = false;

	if (!stream)
		stop(path, strerror(errno));
	while (fgets(line, sizeof(line), stream)) {
		unsigned long long address, size;

		started |= !strncmp(line, "Linker script and memory map", 28);
		if (!started || line[0] != ' ')
			continue;
		if (line[1] != ' ' && sscanf(line, " %4095s %4095[^\n]", name, rest) == 1)
			continue;
		if (line[1] == ' ')
			snprintf(rest, sizeof(rest), "%s", line);
		if (sscanf(rest, " 0x%llx 0x%llx %4095[^\n]", &address, &size, file) == 3)
			place(GNU, find_object(file), name, address, size);
	}
	fclose(stream);
}

/* "   1000       20    16         a.o:(.text)" */
static void read_sk_map(const char *path)
{
	FILE *stream = fopen(path, "r");
	char line[4096], file[4096], name[4096];
	unsigned long long address, size, alignment;

	if (!stream)
		stop(path, strerror(errno));
	while (fgets(line, sizeof(line), stream))
		if (sscanf(line, "%llx %llx %llu %4095[^:]:(%4095[^)\n])", &address, &size, &alignment, file, name) ==
		    5)
			place(SK, find_object(file), name, address, size);
	fclose(stream);
}

/* ---- targets of fields ---- */

static struct destination through_loader(const struct image *image, const Elf64_Rela *relocation)
{
	const Elf64_Sym *symbol = &image->dynamic[ELF64_R_SYM(relocation->r_info)];
	uint64_t addend = (uint64_t)relocation->r_addend;

	if (ELF64_R_SYM(relocation->r_info) == 0)
		return (struct destination){.address = addend};
	if (symbol->st_shndx != SHN_UNDEF)
		return (struct destination){.address = symbol->st_value + addend};
	return (struct destination){.import = image->dynamic_names + symbol->st_name, .address = addend};
}

/* Return the word at the address once the image is loaded. */
static struct destination word(const struct image *image, uint64_t address)
{
	const Elf64_Rela *relocation = loader_relocation(image, address);

	if (relocation)
		return through_loader(image, relocation);
	return (struct destination){.address = (uint64_t)field(image, address, 8), .absolute = true};
}

/* Code that only jumps through a word of the GOT leads to where that leads. */
static struct destination code(const struct image *image, uint64_t address)
{
	static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	uint64_t jump = address;
	const uint8_t *bytes = at(image, jump, 16);

	if (bytes && !memcmp(bytes, landing, sizeof(landing)))
		bytes += 4, jump += 4;
	if (bytes && bytes[0] == 0xf2) /* bnd */
		bytes++, jump++;
	if (bytes && bytes[0] == 0xff && bytes[1] == 0x25) { /* jmp *slot(%rip) */
		struct destination slot = word(image, jump + 6 + (uint64_t)field(image, jump + 2, 4));

		if (slot.import)
			return slot;
	}
	return (struct destination){.address = address};
}

/* An access to the GOT, which may have been rewritten to reach its target directly. */
static bool got_access(const struct image *image, const struct section *section, uint64_t field_at,
		       const Elf64_Rela *relocation, struct destination *result)
{
	const uint8_t *bytes = at(image, field_at - 2, 7);
	uint64_t target = field_at + (uint64_t)field(image, field_at, 4) - (uint64_t)relocation->r_addend;

	if (relocation->r_offset < 2 || !bytes)
		return false;

	const uint8_t *input = section->bytes + relocation->r_offset - 2;

	if (!memcmp(bytes, input, 2)) {
		*result = word(image, target);
		return true;
	}
	*result = (struct destination){.address = target};
	if (input[0] == 0x8b) /* mov -> lea */
		return bytes[0] == 0x8d && bytes[1] == input[1];
	if (input[0] == 0xff && input[1] == 0x15) /* call *m -> addr32 call */
		return bytes[0] == 0x67 && bytes[1] == 0xe8;
	if (input[0] == 0xff && input[1] == 0x25) { /* jmp *m -> jmp; nop */
		result->address = field_at + 3 + (uint64_t)field(image, field_at - 1, 4);
		return bytes[0] == 0xe9 && bytes[5] == 0x90;
	}
	return false;
}

/* ---- thread-local storage (ELF Handling For Thread-Local Storage, 4.4) ---- */

/* Return the place in the image from which the bytes at the offset in a thread's block are copied. */
static struct destination in_block(const struct image *image, uint64_t offset)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_TLS)
			return (struct destination){.address = image->segments[i].p_vaddr + offset};
	return (struct destination){.absolute = true};
}

/* Follow the loader's relocation of that type at that place; false: there is none. */
static bool through_block(const struct image *image, uint64_t place, uint32_t type, struct destination *result)
{
	const Elf64_Rela *relocation = loader_relocation(image, place);

	if (!relocation || ELF64_R_TYPE(relocation->r_info) != type)
		return false;

	struct destination found = through_loader(image, relocation);

	*result = found.import ? found : in_block(image, found.address);
	return true;
}

/* The two words of a GOT that a dynamic access gives __tls_get_addr: the block's module, and the offset in the block.
 * */
static bool dynamic_access(const struct image *image, uint64_t slot, struct destination *result)
{
	struct destination module;

	if (!through_block(image, slot, R_X86_64_DTPMOD64, &module))
		return false;
	if (!through_block(image, slot + 8, R_X86_64_DTPOFF64, result))
		*result = in_block(image, (uint64_t)field(image, slot + 8, 8));
	return !module.import == !result->import;
}

static bool is_of_block(uint32_t type)
{
	return type == R_X86_64_TLSGD || type == R_X86_64_TLSLD || type == R_X86_64_DTPOFF32 ||
	       type == R_X86_64_GOTTPOFF;
}

static bool follow_to_block(const struct image *image, uint64_t field_at, const Elf64_Rela *relocation,
			    struct destination *result)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uint64_t addend = (uint64_t)relocation->r_addend;
	uint64_t slot = field_at + (uint64_t)field(image, field_at, 4) - addend;
	bool found = true;

	if (type == R_X86_64_DTPOFF32) {
		*result = in_block(image, (uint64_t)field(image, field_at, 4));
		return true;
	}
	found = type == R_X86_64_GOTTPOFF ? through_block(image, slot, R_X86_64_TPOFF64, result)
					  : dynamic_access(image, slot, result);
	result->address += addend;
	return found;
}

/* The relocation asks for the block itself, without regard to its symbol. */
static bool leads_to_block(const struct image *image, uint64_t field_at, const Elf64_Rela *relocation)
{
	struct destination result, start = in_block(image, (uint64_t)relocation->r_addend);

	return follow_to_block(image, field_at, relocation, &result) && !result.import &&
	       result.address == start.address;
}

/* ---- fields ---- */

static unsigned width_of(uint32_t type)
{
	switch (type) {
	case R_X86_64_64:
	case R_X86_64_PC64:
		return 8;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
	case R_X86_64_TLSGD:
	case R_X86_64_TLSLD:
	case R_X86_64_DTPOFF32:
	case R_X86_64_GOTTPOFF:
		return 4;
	case R_X86_64_PC16:
		return 2;
	case R_X86_64_PC8:
		return 1;
	default:
		return 0;
	}
}

static bool is_got_access(uint32_t type)
{
	return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

/* Find the target of the field at that address, with its addend. For code relative to the place the addend also holds
 * the distance that the processor adds. */
static bool follow(const struct image *image, const struct section *section, uint64_t field_at,
		   const Elf64_Rela *relocation, struct destination *result)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	if (type == R_X86_64_64) {
		*result = word(image, field_at);
		return true;
	}
	if (is_got_access(type)) {
		if (!got_access(image, section, field_at, relocation, result))
			return false;
		result->address += (uint64_t)relocation->r_addend;
		return true;
	}
	if (is_of_block(type))
		return follow_to_block(image, field_at, relocation, result);
	*result = (struct destination){.address = field_at + (uint64_t)field(image, field_at, width_of(type))};
	return width_of(type) != 0;
}

/* ---- relocations ---- */

static bool is_mergeable(const struct section *section)
{
	return (section->header.sh_flags & SHF_MERGE) && !section->relocation_count;
}

/* Return whether the address has the same string or record as the offset of a mergeable section. */
static bool same_contents(const struct image *image, const struct section *section, uint64_t offset, uint64_t address)
{
	uint64_t unit = section->header.sh_entsize ? section->header.sh_entsize : 1, size = unit - offset % unit;
	static const uint8_t zeros[8];

	if (offset >= section->header.sh_size)
		return false;
	if (section->header.sh_flags & SHF_STRINGS)
		for (size = unit; memcmp(section->bytes + offset + size - unit, zeros, unit);)
			size += unit;

	const uint8_t *bytes = at(image, address, size);

	return bytes && !memcmp(bytes, section->bytes + offset, size);
}

/* Return whether the destination is the symbol's definition. */
static bool leads_to(int which, const struct object *object, const Elf64_Sym *symbol, int64_t addend,
		     struct destination destination)
{
	if (symbol->st_shndx == SHN_ABS)
		return destination.absolute && destination.address == symbol->st_value + (uint64_t)addend;
	if (destination.absolute || destination.import || symbol->st_shndx >= object->section_count)
		return false;

	const struct section *section = &object->sections[symbol->st_shndx];

	/* With a section's symbol the addend says which string or record is meant. */
	if (is_mergeable(section) && ELF64_ST_TYPE(symbol->st_info) == STT_SECTION)
		return same_contents(&images[which], section, (uint64_t)addend, destination.address);
	if (is_mergeable(section))
		return same_contents(&images[which], section, symbol->st_value, destination.address - (uint64_t)addend);
	return section->placed[which] &&
	       destination.address == section->address[which] + symbol->st_value + (uint64_t)addend;
}

/* Return a number for the target of the relocation's field at that address, equal in both images if the target is the
 * same; 0: the target is not allowed. */
static size_t identify(int which, const struct object *object, const struct section *section,
		       const Elf64_Rela *relocation, uint64_t field_at)
{
	const Elf64_Sym *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
	struct destination destination;

	if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_TLSLD)
		return leads_to_block(&images[which], field_at, relocation);
	if (!follow(&images[which], section, field_at, relocation, &destination))
		return 0;
	if (ELF64_R_SYM(relocation->r_info) < object->first_global)
		return leads_to(which, object, symbol, relocation->r_addend, destination);

	const char *name = object->names + symbol->st_name;
	size_t first = find_definition(name);

	for (size_t i = first; i < definition_count && !strcmp(definitions[i].name, name); i++)
		if (leads_to(which, definitions[i].object, definitions[i].symbol, relocation->r_addend, destination))
			return 2 + i;
	if (first < definition_count)
		return 0;
	if (!destination.import && ELF64_R_TYPE(relocation->r_info) != R_X86_64_64)
		destination = code(&images[which], destination.address - (uint64_t)relocation->r_addend);
	return destination.import && !strcmp(destination.import, name) ? 1 : 0;
}

/* Check the relocation of the field, which is at these addresses. */
static void check_relocation(const struct object *object, const struct section *section, const Elf64_Rela *relocation,
			     const uint64_t addresses[IMAGES])
{
	size_t gnu = identify(GNU, object, section, relocation, addresses[GNU]);
	size_t sk = identify(SK, object, section, relocation, addresses[SK]);
	const Elf64_Sym *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];

	compared_relocations++;
	if (!gnu || gnu != sk)
		complain("%s: %s+0x%llx: relocation of type %u against '%s' %s", object->path, section->name,
			 (unsigned long long)relocation->r_offset, (unsigned)ELF64_R_TYPE(relocation->r_info),
			 object->names + symbol->st_name,
			 gnu && sk ? "leads to two different definitions"
			 : gnu	   ? "leads elsewhere in sklink's output"
			 : sk	   ? "leads elsewhere in GNU ld's output"
				   : "is not understood, or leads elsewhere in both outputs");
}

/* Check the relocations of the bytes at the offset in the section, which are at these addresses in the images. */
static void check_relocations(const struct object *object, const struct section *section, uint64_t offset,
			      uint64_t size, const uint64_t addresses[IMAGES])
{
	for (size_t i = 0; i < section->relocation_count; i++) {
		const Elf64_Rela *relocation = &section->relocations[i];
		uint64_t distance = relocation->r_offset - offset;

		if (distance < size && ELF64_R_TYPE(relocation->r_info) != R_X86_64_NONE)
			check_relocation(object, section, relocation,
					 (const uint64_t[]){addresses[GNU] + distance, addresses[SK] + distance});
	}
}

/* ---- sections ---- */

/* Bytes that relocations write; those of GOT accesses with the instruction's. */
static uint8_t *written_bytes(const struct section *section)
{
	uint8_t *written = allocate(section->header.sh_size, 1);

	for (size_t i = 0; i < section->relocation_count; i++) {
		const Elf64_Rela *relocation = &section->relocations[i];
		uint32_t type = ELF64_R_TYPE(relocation->r_info);
		unsigned before = is_got_access(type) && relocation->r_offset >= 2 ? 2 : 0;

		if (relocation->r_offset + width_of(type) <= section->header.sh_size)
			memset(written + relocation->r_offset - before, 1, before + width_of(type));
	}
	return written;
}

static void check_bytes(const struct object *object, const struct section *section, const uint8_t *written)
{
	for (int which = 0; which < IMAGES; which++) {
		const uint8_t *bytes = at(&images[which], section->address[which], section->header.sh_size);

		if (!bytes) {
			complain("%s: %s lies outside %s", object->path, section->name, images[which].path);
			continue;
		}
		for (uint64_t i = 0; i < section->header.sh_size; i++) {
			if (written[i] || bytes[i] == (section->bytes ? section->bytes[i] : 0))
				continue;
			complain("%s: %s+0x%llx: another byte in %s", object->path, section->name,
				 (unsigned long long)i, images[which].path);
			break;
		}
	}
	compared_bytes += section->header.sh_size;
}

/* sklink's segments: only code is executable, no executable segment is writable, and sections that the objects write to
 * are writable. */
static void check_protection(const struct object *object, const struct section *section)
{
	const struct image *image = &images[SK];
	uint64_t address = section->address[SK], alignment = section->header.sh_addralign;
	uint32_t flags = 0;

	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_LOAD && address >= image->segments[i].p_vaddr &&
		    address - image->segments[i].p_vaddr < image->segments[i].p_memsz)
			flags = image->segments[i].p_flags;
	if (!(flags & PF_X) != !(section->header.sh_flags & SHF_EXECINSTR) ||
	    (!(flags & PF_W) && (section->header.sh_flags & SHF_WRITE)) || (flags & (PF_W | PF_X)) == (PF_W | PF_X))
		complain("%s: %s lies in a segment with flags %x", object->path, section->name, flags);
	if (alignment && address % alignment)
		complain("%s: %s is not aligned to %llu", object->path, section->name, (unsigned long long)alignment);
}

/* No part of the image has it: its addresses only say where in a block it lies. */
static bool is_zero_in_block(const struct section *section)
{
	return section->header.sh_flags & SHF_TLS && section->header.sh_type == SHT_NOBITS;
}

static void check_section(const struct object *object, const struct section *section)
{
	if (!(section->header.sh_flags & SHF_ALLOC) || !section->header.sh_size || is_mergeable(section) ||
	    !strcmp(section->name, ".eh_frame") || !strncmp(section->name, ".note", 5))
		return;
	if (!section->placed[SK]) { /* in neither: another object has given the group */
		left_out += section->placed[GNU];
		return;
	}
	if (!section->placed[GNU]) {
		complain("%s: %s is only in sklink's output", object->path, section->name);
		return;
	}

	uint8_t *written = written_bytes(section);

	if (!is_zero_in_block(section)) {
		check_bytes(object, section, written);
		check_protection(object, section);
	}
	free(written);
	check_relocations(object, section, 0, section->header.sh_size, section->address);
	compared_sections++;
}

/* ---- unwind information ---- */

static uint32_t word32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The address of the FDE that the image's table has for the address, or 0. */
static uint64_t look_up(const struct image *image, uint64_t address)
{
	static const uint8_t start[] = {1, 0x1b, 0x03, 0x3b}; /* version; how the pointers are written */
	uint64_t table = 0;

	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_GNU_EH_FRAME)
			table = image->segments[i].p_vaddr;
	if (!table || !at(image, table, 12) || memcmp(at(image, table, 4), start, 4))
		return 0;

	uint64_t low = 0, high = (uint64_t)field(image, table + 8, 4);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (table + (uint64_t)field(image, table + 12 + 8 * middle, 4) < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (table + (uint64_t)field(image, table + 12 + 8 * low, 4) != address)
		return 0;
	return table + (uint64_t)field(image, table + 16 + 8 * low, 4);
}

/* Return whether the CIE or FDE at the offset equals the one at the image's address, except for the bytes that
 * relocations write, and for zeros (no operation) after the end of one. The first `skipped` bytes, which lead from one
 * to the other, are not compared. */
static bool same_frame(const struct image *image, const struct section *frames, const uint8_t *written, uint64_t offset,
		       uint64_t address, uint64_t skipped)
{
	uint64_t left_size = 4 + (uint64_t)word32(frames->bytes + offset), right_size;
	const uint8_t *left = frames->bytes + offset, *right = at(image, address, 4);

	if (!right)
		return false;
	right_size = 4 + (uint64_t)word32(right);
	if (!at(image, address, right_size))
		return false;
	for (uint64_t i = skipped; i < left_size || i < right_size; i++) {
		bool free = i < left_size && i < right_size && written[offset + i];

		if (!free && (i < left_size ? left[i] : 0) != (i < right_size ? right[i] : 0))
			return false;
	}
	return true;
}

/* Return the function that the FDE at the offset describes: the target of its first field's relocation. */
static const struct section *described(const struct object *object, const struct section *frames, uint64_t offset,
				       uint64_t *value)
{
	for (size_t i = 0; i < frames->relocation_count; i++) {
		const Elf64_Rela *relocation = &frames->relocations[i];
		const Elf64_Sym *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];

		if (relocation->r_offset != offset + 8 || symbol->st_shndx >= object->section_count)
			continue;
		*value = symbol->st_value + (uint64_t)relocation->r_addend;
		return &object->sections[symbol->st_shndx];
	}
	return NULL;
}

static void check_frame(const struct object *object, const struct section *frames, const uint8_t *written,
			uint64_t offset)
{
	const uint8_t *fde = frames->bytes + offset;
	uint64_t cie = offset + 4 - word32(fde + 4), value, found[IMAGES], found_cie[IMAGES];
	const struct section *function = described(object, frames, offset, &value);

	if (!function || !function->placed[GNU] || !function->placed[SK] || !word32(fde + 12))
		return;
	for (int which = 0; which < IMAGES; which++) {
		const struct image *image = &images[which];
		uint64_t address = function->address[which] + value;

		found[which] = look_up(image, address);
		found_cie[which] = found[which] + 4 - (uint32_t)field(image, found[which] + 4, 4);
		if (!found[which] || found[which] + 8 + (uint64_t)field(image, found[which] + 8, 4) != address ||
		    field(image, found_cie[which] + 4, 4) != 0 ||
		    !same_frame(image, frames, written, offset, found[which], 8) ||
		    !same_frame(image, frames, written, cie, found_cie[which], 8)) {
			complain("%s: the unwind information of %s+0x%llx is not found in %s, or says something else",
				 object->path, function->name, (unsigned long long)value, image->path);
			return;
		}
	}
	check_relocations(object, frames, offset, 4 + (uint64_t)word32(fde), found);
	check_relocations(object, frames, cie, 4 + (uint64_t)word32(frames->bytes + cie), found_cie);
	compared_frames++;
}

static void check_frames(const struct object *object, const struct section *frames)
{
	uint8_t *written = written_bytes(frames);

	for (uint64_t offset = 0; offset + 4 <= frames->header.sh_size && word32(frames->bytes + offset);) {
		uint64_t size = 4 + (uint64_t)word32(frames->bytes + offset);

		if (size > frames->header.sh_size - offset)
			stop(object->path, "has damaged frames");
		if (word32(frames->bytes + offset + 4))
			check_frame(object, frames, written, offset);
		offset += size;
	}
	free(written);
}

int main(int count, char **arguments)
{
	if (count < 6) {
		fprintf(stderr, "usage: compare-links GNU.so GNU.map SK.so SK.map OBJECT...\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	object_count = (size_t)count - 5;
	objects = allocate(object_count, sizeof(*objects));
	for (size_t i = 0; i < object_count; i++)
		read_object(&objects[i], arguments[5 + i]);
	gather_definitions();
	read_image(&images[GNU], arguments[1]);
	read_gnu_map(arguments[2]);
	read_image(&images[SK], arguments[3]);
	read_sk_map(arguments[4]);
	for (size_t i = 0; i < object_count; i++)
		for (size_t j = 1; j < objects[i].section_count; j++) {
			const struct section *section = &objects[i].sections[j];

			check_section(&objects[i], section);
			if (!strcmp(section->name, ".eh_frame") && section->bytes)
				check_frames(&objects[i], section);
		}
	printf("%llu sections, %llu bytes, %llu relocations, %llu frames; %llu sections are not needed\n",
	       compared_sections, compared_bytes, compared_relocations, compared_frames, left_out);
	if (complaints)
		fprintf(stderr, "compare-links: %u differences\n", complaints);
	return complaints || !compared_relocations ? 1 : 0;
}
