/* The dynamic section of a mapped package: its tables are found and checked, its relocations applied, its constructors
 * run. The gABI, section "Dynamic Linking", says what the tags mean. Only what sklink writes is taken: eager RELATIVE
 * and GLOB_DAT relocations in DT_RELA, imports from stubs/imports.def, DT_INIT_ARRAY. Whatever else would have to be
 * obeyed is refused by name. */
#include "config.h"

#include "loader/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/imports.h"
#include "loader/report.h"

/* ---- the dynamic section ---- */

/* What is read of the tags before it is checked. A tag that is not there is 0. */
struct tags {
	uint64_t values[DT_RELRENT + 1]; /* by tag, the small ones */
	uint64_t gnu_hash;
};

static const char *refused_tag(int64_t tag)
{
	switch (tag) {
	case DT_REL:
	case DT_RELSZ:
	case DT_RELENT:
		return "relocations without addends (DT_REL)";
	case DT_RELR:
	case DT_RELRSZ:
	case DT_RELRENT:
		return "compact relocations (DT_RELR)";
	case DT_JMPREL:
	case DT_PLTRELSZ:
	case DT_PLTREL:
		return "relocations of a lazy PLT (DT_JMPREL)";
	case DT_TEXTREL:
		return "relocations in text (DT_TEXTREL)";
	case DT_INIT:
	case DT_FINI:
		return "DT_INIT and DT_FINI";
	case DT_FINI_ARRAY:
		return "destructors (DT_FINI_ARRAY)";
	case DT_PREINIT_ARRAY:
		return "DT_PREINIT_ARRAY";
	default:
		return NULL;
	}
}

static enum skrt_status add_tag(const char *path, struct tags *tags, const Elf64_Dyn *entry)
{
	const char *refused = refused_tag(entry->d_tag);

	if (refused)
		return sk_report(SKRT_UNSUPPORTED, "%s: %s are not supported", path, refused);
	switch (entry->d_tag) {
	case DT_FLAGS:
		if (entry->d_un.d_val & DF_TEXTREL)
			return sk_report(SKRT_UNSUPPORTED, "%s: %s are not supported", path, refused_tag(DT_TEXTREL));
		if (entry->d_un.d_val & DF_STATIC_TLS)
			return sk_report(SKRT_UNSUPPORTED, "%s: thread-local storage is not supported", path);
		break;
	case DT_HASH:
	case DT_STRTAB:
	case DT_STRSZ:
	case DT_SYMTAB:
	case DT_SYMENT:
	case DT_RELA:
	case DT_RELASZ:
	case DT_RELAENT:
	case DT_INIT_ARRAY:
	case DT_INIT_ARRAYSZ:
		if (tags->values[entry->d_tag])
			return sk_report(SKRT_BAD_PACKAGE, "%s: dynamic section: tag %" PRId64 " stands there twice",
					 path, (int64_t)entry->d_tag);
		tags->values[entry->d_tag] = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		tags->gnu_hash = entry->d_un.d_val;
		break;
	case DT_NEEDED: /* the libraries of imports.def: libskrt has its own addresses */
	case DT_SONAME:
	case DT_SYMBOLIC:
	case DT_DEBUG:
	case DT_PLTGOT:
	case DT_BIND_NOW:
	case DT_FLAGS_1:
	case DT_RELACOUNT:
	case DT_VERSYM:
	case DT_VERNEED:
	case DT_VERNEEDNUM:
	case DT_VERDEF:
	case DT_VERDEFNUM:
		break;
	default:
		return sk_report(SKRT_UNSUPPORTED, "%s: dynamic section: tag 0x%" PRIx64 " is not supported", path,
				 (uint64_t)entry->d_tag);
	}
	return SKRT_OK;
}

static enum skrt_status read_tags(const char *path, const struct sk_image *image, const Elf64_Phdr *header,
				  struct tags *tags)
{
	const Elf64_Dyn *entries = sk_image_at(image, header->p_vaddr, header->p_memsz, 8, PROT_READ);
	uint64_t count = header->p_memsz / sizeof(*entries);

	memset(tags, 0, sizeof(*tags));
	if (!entries)
		return sk_report(SKRT_BAD_PACKAGE, "%s: the dynamic section does not lie in a segment", path);
	for (uint64_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		enum skrt_status status = add_tag(path, tags, &entries[i]);

		if (status)
			return status;
		if (i + 1 == count)
			return sk_report(SKRT_BAD_PACKAGE, "%s: the dynamic section has no end", path);
	}
	return SKRT_OK;
}

/* A table that relocations must not be able to change behind its check: in a read-only segment. */
static const void *table_at(const struct sk_image *image, uint64_t address, uint64_t size, uint64_t alignment)
{
	if (sk_image_at(image, address, size, 1, PROT_WRITE))
		return NULL;
	return sk_image_at(image, address, size, alignment, PROT_READ);
}

/* Bytes from a virtual address to the end of its segment; 0 outside. */
static uint64_t bytes_behind(const struct sk_image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_segment *segment = &image->segments[i];

		if (address >= segment->address && address - segment->address < segment->size)
			return segment->size - (address - segment->address);
	}
	return 0;
}

static bool find_symbols(struct sk_image *image, const struct tags *tags)
{
	const uint64_t *values = tags->values;

	image->strings_size = values[DT_STRSZ];
	image->strings = table_at(image, values[DT_STRTAB], values[DT_STRSZ], 1);
	if (!image->strings || image->strings_size == 0 || image->strings[image->strings_size - 1] != '\0')
		return false;
	if (values[DT_SYMENT] != sizeof(Elf64_Sym))
		return false;
	image->symbols = table_at(image, values[DT_SYMTAB], sizeof(Elf64_Sym), 8);
	if (!image->symbols)
		return false;
	/* The section's size is not among the tags; what bounds a symbol's index is the end of the segment. */
	image->symbol_limit = bytes_behind(image, values[DT_SYMTAB]) / sizeof(Elf64_Sym);
	if (tags->gnu_hash) {
		image->gnu_hash = table_at(image, tags->gnu_hash, 16, 8);
		image->gnu_hash_words = bytes_behind(image, tags->gnu_hash) / sizeof(uint32_t);
	}
	if (values[DT_HASH]) {
		image->hash = table_at(image, values[DT_HASH], 8, 4);
		image->hash_words = bytes_behind(image, values[DT_HASH]) / sizeof(uint32_t);
	}
	return (!tags->gnu_hash || image->gnu_hash) && (!values[DT_HASH] || image->hash) &&
	       (image->gnu_hash || image->hash);
}

enum skrt_status sk_dynamic_read(const char *path, struct sk_image *image, const Elf64_Phdr *header,
				 struct sk_dynamic *dynamic)
{
	struct tags tags;
	enum skrt_status status = read_tags(path, image, header, &tags);

	if (status)
		return status;
	if (!find_symbols(image, &tags))
		return sk_report(SKRT_BAD_PACKAGE, "%s: the dynamic symbol, string or hash table is damaged", path);
	const uint64_t *values = tags.values;
	dynamic->relocation_count = values[DT_RELASZ] / sizeof(Elf64_Rela);
	dynamic->relocations = table_at(image, values[DT_RELA], values[DT_RELASZ], 8);
	if (values[DT_RELASZ] && (values[DT_RELAENT] != sizeof(Elf64_Rela) || values[DT_RELASZ] % sizeof(Elf64_Rela) ||
				  !dynamic->relocations))
		return sk_report(SKRT_BAD_PACKAGE, "%s: the relocation table is damaged", path);
	/* Constructors stand in RELRO; they are looked at when that has been protected. */
	dynamic->constructor_count = values[DT_INIT_ARRAYSZ] / sizeof(uint64_t);
	dynamic->constructors = sk_image_at(image, values[DT_INIT_ARRAY], values[DT_INIT_ARRAYSZ], 8, PROT_READ);
	if (values[DT_INIT_ARRAYSZ] && (values[DT_INIT_ARRAYSZ] % sizeof(uint64_t) || !dynamic->constructors))
		return sk_report(SKRT_BAD_PACKAGE, "%s: the table of constructors is damaged", path);
	return SKRT_OK;
}

/* ---- symbols ---- */

/* The symbol with the index, and its name; NULL if either is out of bounds. */
static const Elf64_Sym *symbol_at(const struct sk_image *image, uint64_t index, const char **name)
{
	if (index >= image->symbol_limit || image->symbols[index].st_name >= image->strings_size)
		return NULL;
	*name = image->strings + image->symbols[index].st_name;
	return &image->symbols[index];
}

/* The address of a defined symbol, or NULL if that is not in the image. */
static const void *symbol_address(const struct sk_image *image, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
		return NULL;
	return sk_image_at(image, symbol->st_value, symbol->st_size, 1, PROT_READ);
}

static const Elf64_Sym *match(const struct sk_image *image, uint64_t index, const char *name)
{
	const char *found;
	const Elf64_Sym *symbol = symbol_at(image, index, &found);

	return symbol && symbol->st_shndx != SHN_UNDEF && !strcmp(found, name) ? symbol : NULL;
}

/* The GNU hash table: buckets, symoffset, bloom words, shift; the bloom filter (64-bit words); the buckets; for each
 * symbol from symoffset on its hash, whose lowest bit ends the bucket's chain. */
static const Elf64_Sym *find_gnu(const struct sk_image *image, const char *name)
{
	const uint32_t *table = image->gnu_hash;
	uint64_t buckets = table[0], first = table[1], bloom = table[2];
	uint64_t bucket_at = 4 + bloom * 2, chain_at = bucket_at + buckets;
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (buckets == 0 || chain_at > image->gnu_hash_words)
		return NULL;
	uint64_t index = table[bucket_at + hash % buckets];
	if (index < first)
		return NULL;
	for (uint64_t word = chain_at + index - first; word < image->gnu_hash_words; word++, index++) {
		if ((table[word] | 1) == (hash | 1)) {
			const Elf64_Sym *symbol = match(image, index, name);

			if (symbol)
				return symbol;
		}
		if (table[word] & 1)
			break;
	}
	return NULL;
}

/* The System V hash table: buckets, chain length, the buckets, the chains. */
static const Elf64_Sym *find_sysv(const struct sk_image *image, const char *name)
{
	const uint32_t *table = image->hash;
	uint64_t buckets = table[0], chains = table[1];
	uint32_t hash = 0;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	if (buckets == 0 || 2 + buckets + chains > image->hash_words)
		return NULL;
	uint64_t index = table[2 + hash % buckets];
	/* A chain in a circle ends after as many steps as there are symbols. */
	for (uint64_t steps = 0; index != STN_UNDEF && index < chains && steps < chains; steps++) {
		const Elf64_Sym *symbol = match(image, index, name);

		if (symbol)
			return symbol;
		index = table[2 + buckets + index];
	}
	return NULL;
}

const void *sk_image_find(const struct sk_image *image, const char *name, uint64_t *size)
{
	const Elf64_Sym *symbol = image->gnu_hash ? find_gnu(image, name) : find_sysv(image, name);

	if (!symbol)
		return NULL;
	*size = symbol->st_size;
	return symbol_address(image, symbol);
}

/* ---- relocations ---- */

/* Imports that are not in the list, for one error that names them all. */
struct missing {
	char names[256];
	size_t used;
	uint32_t count, unnamed;
};

static void add_missing(struct missing *missing, const char *name)
{
	size_t room = sizeof(missing->names) - missing->used;
	size_t needed = strlen(name) + 2;

	missing->count++;
	if (missing->unnamed || needed >= room)
		missing->unnamed++;
	else
		missing->used +=
			(size_t)snprintf(missing->names + missing->used, room, "%s%s", missing->used ? ", " : "", name);
}

static enum skrt_status report_missing(const char *path, const struct missing *missing)
{
	char more[32] = "";

	if (missing->count == 0)
		return SKRT_OK;
	if (missing->unnamed)
		snprintf(more, sizeof(more), " and %" PRIu32 " more", missing->unnamed);
	return sk_report(SKRT_UNSUPPORTED, "%s: imports what libskrt does not provide: %s%s", path, missing->names,
			 more);
}

static const char *relocation_name(uint32_t type)
{
	switch (type) {
	case R_X86_64_IRELATIVE:
		return "an indirect function (R_X86_64_IRELATIVE)";
	case R_X86_64_COPY:
		return "a copied variable (R_X86_64_COPY)";
	case R_X86_64_DTPMOD64:
	case R_X86_64_DTPOFF64:
	case R_X86_64_TPOFF64:
	case R_X86_64_TLSDESC:
		return "thread-local storage";
	default:
		return "an unknown kind of relocation";
	}
}

/* The value that a GLOB_DAT relocation wants; a missing import is only noted. */
static enum skrt_status resolve(const char *path, const struct sk_image *image, const Elf64_Rela *relocation,
				struct missing *missing, uint64_t *value)
{
	const char *name = NULL;
	const Elf64_Sym *symbol = symbol_at(image, ELF64_R_SYM(relocation->r_info), &name);

	if (!symbol)
		return sk_report(SKRT_BAD_PACKAGE, "%s: the relocation of address 0x%" PRIx64 " has no symbol", path,
				 (uint64_t)relocation->r_offset);
	if (symbol->st_shndx == SHN_UNDEF) {
		void (*function)(void) = sk_import_find(name);

		if (!function)
			add_missing(missing, name);
		*value = (uintptr_t)function;
		return SKRT_OK;
	}
	*value = (uintptr_t)symbol_address(image, symbol);
	if (!*value)
		return sk_report(SKRT_BAD_PACKAGE, "%s: symbol %s lies outside of the segments", path, name);
	return SKRT_OK;
}

enum skrt_status sk_dynamic_relocate(const char *path, const struct sk_image *image, const struct sk_dynamic *dynamic)
{
	struct missing missing = {.names = ""};

	for (uint64_t i = 0; i < dynamic->relocation_count; i++) {
		const Elf64_Rela *relocation = &dynamic->relocations[i];
		uint32_t type = ELF64_R_TYPE(relocation->r_info);
		void *place = sk_image_at(image, relocation->r_offset, sizeof(uint64_t), 1, PROT_WRITE);
		uint64_t value = image->bias + (uint64_t)relocation->r_addend;

		if (!place)
			return sk_report(SKRT_BAD_PACKAGE,
					 "%s: relocation of address 0x%" PRIx64 ", which is not in a writable segment",
					 path, (uint64_t)relocation->r_offset);
		if (type == R_X86_64_GLOB_DAT) {
			enum skrt_status status = resolve(path, image, relocation, &missing, &value);

			if (status)
				return status;
		} else if (type != R_X86_64_RELATIVE) {
			return sk_report(SKRT_UNSUPPORTED,
					 "%s: address 0x%" PRIx64 " needs %s (type %" PRIu32
					 "), which is not supported",
					 path, (uint64_t)relocation->r_offset, relocation_name(type), type);
		}
		memcpy(place, &value, sizeof(value));
	}
	return report_missing(path, &missing);
}

/* ---- constructors ---- */

/* Constructors get argc, argv and envp, as the C library passes them; a package has no arguments. */
static int run_constructors(void *context)
{
	const struct sk_dynamic *dynamic = context;
	char *arguments[1] = {NULL};

	for (uint64_t i = 0; i < dynamic->constructor_count; i++)
		((void (*)(int, char **, char **))(uintptr_t)dynamic->constructors[i])(0, arguments, environ);
	return 0;
}

enum skrt_status sk_dynamic_construct(const char *path, const struct sk_image *image, const struct sk_dynamic *dynamic)
{
	struct sk_dynamic table = *dynamic;
	struct sk_guard guard;

	for (uint64_t i = 0; i < dynamic->constructor_count; i++)
		if (!sk_image_holds(image, (const void *)(uintptr_t)dynamic->constructors[i], 1, PROT_EXEC))
			return sk_report(SKRT_BAD_PACKAGE, "%s: constructor %" PRIu64 " does not point into text", path,
					 i);
	sk_guard_call(&guard, run_constructors, &table);
	if (guard.function)
		return sk_report(SKRT_KERNEL_FAILED, "%s: a constructor called %s", path, guard.function);
	return SKRT_OK;
}
