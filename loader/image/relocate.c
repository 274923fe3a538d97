/* Symbols and relocations of a mapped package: eager relocations by the bias or to a symbol (RELATIVE and GLOB_DAT),
 * with symbols that are the package's own or on the import list, and those of thread-local storage. Any other is
 * refused by name, and all missing symbols are listed in one error. The tables lie in read-only segments, so no
 * relocation can change the input of the next one. */
#include "config.h"

#include "loader/image/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/import-row.h"
#include "loader/arch/machine.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/skrt.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14; older ones refuse it */
#define MADV_POPULATE_WRITE 23
#endif

enum { DENSE = 64 }; /* bytes for each relocation: up to this, unneeded copies cost little in comparison */

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

static enum skrt_status fail_missing(const char *path, const struct missing *missing)
{
	char more[32] = "";

	if (missing->count == 0)
		return SKRT_OK;
	if (missing->unnamed)
		snprintf(more, sizeof(more), " and %" PRIu32 " more", missing->unnamed);
	return sk_fail(SKRT_UNSUPPORTED, "%s: imports names that libskrt does not provide: %s%s", path, missing->names,
		       more);
}

/* Find an import. A function of the loading program has priority over libskrt's own. It is assumed not to lock, but,
 * like functions that lock, it may read the locale and reach cancellation points. */
static void (*find_import(const struct sk_source *source, struct sk_image *image, const char *name))(void)
{
	enum sk_import_class class = SK_IMPORT_PURE;
	void (*function)(void);
	bool locking;

	for (uint32_t i = 0; i < source->import_count; i++) {
		if (strcmp(source->imports[i].name, name))
			continue;
		image->package.calls_others = true;
		return source->imports[i].function;
	}
	function = sk_import_find(name, &class);
	locking = class == SK_IMPORT_LOCKING || class == SK_IMPORT_STATE;
	if (locking)
		image->locking = name;
	image->package.calls_others |= locking || class == SK_IMPORT_LOCALE;
	return function;
}

/* Find the value for a GLOB_DAT relocation; a missing import is only recorded. */
static enum skrt_status resolve(const struct sk_source *source, struct sk_image *image, const Elf64_Rela *relocation,
				struct missing *missing, uint64_t *value)
{
	const char *name = NULL;
	const Elf64_Sym *symbol = sk_image_symbol(image, ELF64_R_SYM(relocation->r_info), &name);

	if (!symbol)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: the relocation of address 0x%" PRIx64 " has no symbol",
			       source->name, (uint64_t)relocation->r_offset);
	if (symbol->st_shndx == SHN_UNDEF) {
		void (*function)(void) = find_import(source, image, name);

		if (!function)
			add_missing(missing, name);
		*value = (uintptr_t)function;
		return SKRT_OK;
	}
	*value = (uintptr_t)sk_image_symbol_address(image, symbol);
	if (!*value)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: symbol %s lies outside of the segments", source->name, name);
	return SKRT_OK;
}

/* Do the same for a relocation of thread-local variables: the package's own, or errno. */
static enum skrt_status resolve_thread(const struct sk_source *source, const struct sk_image *image,
				       const Elf64_Rela *relocation, enum sk_dynamic_kind kind, struct missing *missing,
				       uint64_t *value)
{
	const struct sk_thread_storage *storage = &image->package.storage;
	uint64_t index = ELF64_R_SYM(relocation->r_info);
	const char *name = NULL;

	if (index && !sk_image_symbol(image, index, &name))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: the relocation of address 0x%" PRIx64 " has no symbol",
			       source->name, (uint64_t)relocation->r_offset);
	if (index) {
		if (kind != SK_DYNAMIC_DISTANCE || strcmp(name, "errno"))
			add_missing(missing, name);
		*value = sk_errno_distance();
		return SKRT_OK;
	}
	if (!storage->number || (kind == SK_DYNAMIC_DISTANCE && !storage->is_static))
		return sk_fail(SKRT_BAD_PACKAGE,
			       "%s: the relocation of address 0x%" PRIx64
			       " is for thread-local storage that the package does not have",
			       source->name, (uint64_t)relocation->r_offset);
	*value = kind == SK_DYNAMIC_BLOCK ? storage->number
					  : sk_thread_storage_distance(storage) + (uint64_t)relocation->r_addend;
	return SKRT_OK;
}

/* Return the writable segment of the eight bytes that a relocation writes; NULL: none. */
static const struct sk_image_segment *find_segment(const struct sk_image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_image_segment *segment = &image->segments[i];
		uint64_t within = address - segment->address;

		if (within < segment->size && segment->size - within >= sizeof(uint64_t))
			return segment->protection & PROT_WRITE ? segment : NULL;
	}
	return NULL;
}

/* Add the bias for this relocation and the following ones of the same kind and segment, which are most. Return the
 * first other one. */
static const Elf64_Rela *add_bias(const struct sk_image *image, const struct sk_image_segment *segment,
				  const Elf64_Rela *relocation, const Elf64_Rela *end)
{
	const uint64_t bias = image->bias, start = segment->address, room = segment->size - sizeof(uint64_t);
	const uint64_t information = relocation->r_info;

	for (; relocation < end && relocation->r_info == information && relocation->r_offset - start <= room;
	     relocation++) {
		uint64_t value = bias + (uint64_t)relocation->r_addend;

		memcpy((void *)(uintptr_t)(bias + relocation->r_offset), &value, sizeof(value));
	}
	return relocation;
}

/* If relocations are sorted and dense, copy their pages from the file in one call rather than with a page fault for
 * each. This only saves time, so it may fail. */
static void prepare_pages(const struct sk_image *image, const struct sk_dynamic *dynamic)
{
	const Elf64_Rela *first = dynamic->relocations, *last = first + dynamic->relocation_count - 1;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size;
	const struct sk_image_segment *segment;

	if (last->r_offset <= first->r_offset)
		return;
	segment = find_segment(image, first->r_offset);
	size = last->r_offset - first->r_offset;
	if (segment && segment == find_segment(image, last->r_offset) && size / DENSE < dynamic->relocation_count)
		madvise((void *)((image->bias + first->r_offset) & ~(page - 1)),
			((image->bias + first->r_offset) & (page - 1)) + size, MADV_POPULATE_WRITE);
}

/* Apply a relocation that needs more than the bias. */
static enum skrt_status relocate(const struct sk_source *source, struct sk_image *image, const Elf64_Rela *relocation,
				 enum sk_dynamic_kind kind, struct missing *missing)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	enum skrt_status status;
	uint64_t value = 0;

	if (kind == SK_DYNAMIC_UNSUPPORTED)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: address 0x%" PRIx64 " needs %s (type %" PRIu32 "), which is not supported",
			       source->name, (uint64_t)relocation->r_offset, sk_dynamic_name(type), type);
	status = kind == SK_DYNAMIC_SYMBOL ? resolve(source, image, relocation, missing, &value)
					   : resolve_thread(source, image, relocation, kind, missing, &value);
	if (!status)
		memcpy((void *)(uintptr_t)(image->bias + relocation->r_offset), &value, sizeof(value));
	return status;
}

enum skrt_status sk_image_relocate(const struct sk_source *source, struct sk_image *image,
				   const struct sk_dynamic *dynamic)
{
	struct missing missing = {.names = ""};

	if (!dynamic->relocation_count)
		return SKRT_OK;
	const Elf64_Rela *relocation = dynamic->relocations, *end = relocation + dynamic->relocation_count;
	prepare_pages(image, dynamic);
	while (relocation < end) {
		const struct sk_image_segment *segment = find_segment(image, relocation->r_offset);
		enum sk_dynamic_kind kind = sk_dynamic_kind(ELF64_R_TYPE(relocation->r_info));

		if (!segment)
			return sk_fail(SKRT_BAD_PACKAGE,
				       "%s: relocation of address 0x%" PRIx64 ", which is not in a writable segment",
				       source->name, (uint64_t)relocation->r_offset);
		if (kind == SK_DYNAMIC_BIAS) {
			relocation = add_bias(image, segment, relocation, end);
			continue;
		}
		enum skrt_status status = relocate(source, image, relocation++, kind, &missing);
		if (status)
			return status;
	}
	return fail_missing(source->name, &missing);
}
