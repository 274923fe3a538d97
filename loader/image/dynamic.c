/* The dynamic section of a mapped package: its tables are found and checked. The gABI, section "Dynamic Linking",
 * defines the tags. Only tags that sklink writes are accepted; any other one that affects loading is refused by
 * name. */
#include "config.h"

#include "loader/image/image.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/base/status.h"
#include "loader/skrt.h"

/* ---- the dynamic section ---- */

/* The values of tags, before they are checked. A missing tag is 0. */
struct tags {
	uint64_t values[DT_RELRENT + 1]; /* by tag, the small ones */
	uint64_t gnu_hash, flags;
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
		return sk_fail(SKRT_UNSUPPORTED, "%s: %s are not supported", path, refused);
	switch (entry->d_tag) {
	case DT_FLAGS:
		if (entry->d_un.d_val & DF_TEXTREL)
			return sk_fail(SKRT_UNSUPPORTED, "%s: %s are not supported", path, refused_tag(DT_TEXTREL));
		tags->flags = entry->d_un.d_val;
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
	case DT_FINI_ARRAY:
	case DT_FINI_ARRAYSZ:
		if (tags->values[entry->d_tag])
			return sk_fail(SKRT_BAD_PACKAGE, "%s: dynamic section: tag %" PRId64 " occurs twice", path,
				       (int64_t)entry->d_tag);
		tags->values[entry->d_tag] = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		tags->gnu_hash = entry->d_un.d_val;
		break;
	case DT_NEEDED: /* the libraries of the import list: libskrt has its own addresses */
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
		return sk_fail(SKRT_UNSUPPORTED, "%s: dynamic section: tag 0x%" PRIx64 " is not supported", path,
			       (uint64_t)entry->d_tag);
	}
	return SKRT_OK;
}

static enum skrt_status read_tags(const char *path, const struct sk_image *image, const Elf64_Phdr *header,
				  struct tags *tags)
{
	const Elf64_Dyn *entries = sk_image_memory(image, header->p_vaddr, header->p_memsz, 8, PROT_READ);
	uint64_t count = header->p_memsz / sizeof(*entries);

	memset(tags, 0, sizeof(*tags));
	if (!entries)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: the dynamic section does not lie in a segment", path);
	for (uint64_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		enum skrt_status status = add_tag(path, tags, &entries[i]);

		if (status)
			return status;
		if (i + 1 == count)
			return sk_fail(SKRT_BAD_PACKAGE, "%s: the dynamic section has no end", path);
	}
	return SKRT_OK;
}

/* Return a table in a read-only segment, so that relocations cannot change it after its check. */
static const void *table_at(const struct sk_image *image, uint64_t address, uint64_t size, uint64_t alignment)
{
	if (sk_image_memory(image, address, size, 1, PROT_WRITE))
		return NULL;
	return sk_image_memory(image, address, size, alignment, PROT_READ);
}

/* Return the bytes from a virtual address to the end of its segment; 0 outside. */
static uint64_t bytes_behind(const struct sk_image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_image_segment *segment = &image->segments[i];

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
	/* The section's size is not among the tags; the end of the segment bounds a symbol's index. */
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

/* Find a table of functions. It is in RELRO: the functions are checked after it has been relocated and protected. */
static bool find_functions(const struct sk_image *image, uint64_t address, uint64_t size,
			   struct sk_functions *functions)
{
	*functions = (struct sk_functions){.count = size / sizeof(uint64_t)};
	if (size == 0)
		return true;
	functions->addresses = sk_image_memory(image, address, size, 8, PROT_READ);
	return functions->addresses && size % sizeof(uint64_t) == 0;
}

enum skrt_status sk_dynamic_read(const char *path, struct sk_image *image, const Elf64_Phdr *header,
				 struct sk_dynamic *dynamic)
{
	struct tags tags;
	enum skrt_status status = read_tags(path, image, header, &tags);

	if (status)
		return status;
	if (!find_symbols(image, &tags))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: the dynamic symbol, string or hash table is damaged", path);
	const uint64_t *values = tags.values;
	image->package.storage.is_static = tags.flags & DF_STATIC_TLS;
	dynamic->relocation_count = values[DT_RELASZ] / sizeof(Elf64_Rela);
	dynamic->relocations = table_at(image, values[DT_RELA], values[DT_RELASZ], 8);
	if (values[DT_RELASZ] && (values[DT_RELAENT] != sizeof(Elf64_Rela) || values[DT_RELASZ] % sizeof(Elf64_Rela) ||
				  !dynamic->relocations))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: the relocation table is damaged", path);
	if (!find_functions(image, values[DT_INIT_ARRAY], values[DT_INIT_ARRAYSZ], &image->constructors) ||
	    !find_functions(image, values[DT_FINI_ARRAY], values[DT_FINI_ARRAYSZ], &image->destructors))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: the table of constructors or destructors is damaged", path);
	return SKRT_OK;
}

static bool all_in_text(const struct sk_image *image, const struct sk_functions *functions)
{
	for (uint64_t i = 0; i < functions->count; i++)
		if (!sk_image_holds(image, (const void *)(uintptr_t)functions->addresses[i], 1, PROT_EXEC))
			return false;
	return true;
}

enum skrt_status sk_dynamic_check_functions(const char *path, const struct sk_image *image)
{
	if (all_in_text(image, &image->constructors) && all_in_text(image, &image->destructors))
		return SKRT_OK;
	return sk_fail(SKRT_BAD_PACKAGE, "%s: a constructor or destructor does not lie in text", path);
}
