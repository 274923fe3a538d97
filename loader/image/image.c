/* From a path to a mapped package. The order is: check the ELF header, check the program headers, reserve the address
 * range, map the segments, do dynamic.c's part, then remove write permission from RELRO. None of the package's own code
 * runs here, and the processor is checked before any can run later. The rules are those of the gABI, section "Program
 * Loading", made strict: contents that sklink never writes are refused rather than ignored. */
#include "config.h"

#include "loader/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/seal.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/skrt.h"

enum { HEADER_LIMIT = SK_SEAL_HEADERS };

#define SPAN_LIMIT  (UINT64_C(1) << 40) /* bytes of address space */
#define ALIGN_LIMIT (UINT64_C(1) << 30)

/* In the order of a file of sklink's, so that one read gets them all. */
struct headers {
	Elf64_Ehdr elf;
	Elf64_Phdr programs[HEADER_LIMIT];
};

/* The state of loading. */
struct loading {
	const struct sk_source *source;
	const char *path;
	int file;
	uint64_t file_size;
	uint64_t page;
	struct headers *headers;
	const Elf64_Phdr *dynamic, *relro, *thread, *frames; /* NULL: none */
	uint64_t alignment; /* the largest p_align */
};

static enum skrt_status report_damage(const struct loading *loading, const char *reason)
{
	return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", loading->path, reason);
}

static enum skrt_status damaged_segment(const struct loading *loading, uint32_t index, const char *reason)
{
	return sk_fail(SKRT_BAD_PACKAGE, "%s: program header %" PRIu32 ": %s", loading->path, index, reason);
}

/* ---- the file ---- */

static enum skrt_status open_file(struct loading *loading, struct sk_image *image)
{
	struct stat status;

	/* O_NONBLOCK: opening a pipe must not wait for a writer. */
	if (loading->file < 0)
		loading->file = open(loading->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (loading->file < 0 || fstat(loading->file, &status))
		return sk_fail(SKRT_CANNOT_READ, "%s: %s", loading->path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return sk_fail(SKRT_CANNOT_READ, "%s: not a regular file", loading->path);
	loading->file_size = (uint64_t)status.st_size;
	image->filesystem = status.st_dev;
	image->inode = status.st_ino;
	return SKRT_OK;
}

static enum skrt_status read_file(const struct loading *loading, void *bytes, uint64_t size, uint64_t offset)
{
	return sk_image_read(loading->path, loading->file, bytes, size, offset);
}

/* Check magic, class, byte order, version, type, machine, sizes of the headers, and that the program headers lie in the
 * file. */
static enum skrt_status read_headers(struct loading *loading)
{
	struct headers *headers = loading->headers;
	Elf64_Ehdr *header = &headers->elf;
	uint64_t begin = loading->file_size < sizeof(*headers) ? loading->file_size : sizeof(*headers);

	if (loading->file_size < sizeof(*header))
		return report_damage(loading, "not a package: too short for an ELF header");
	enum skrt_status status = read_file(loading, headers, begin, 0);
	if (status)
		return status;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return report_damage(loading, "not a package: not an ELF file");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT)
		return report_damage(loading, "not a 64-bit little-endian ELF file of version 1");
	if (header->e_ident[EI_OSABI] != ELFOSABI_SYSV && header->e_ident[EI_OSABI] != ELFOSABI_GNU)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: OS ABI %u is neither System V nor GNU", loading->path,
			       header->e_ident[EI_OSABI]);
	if (header->e_type == ET_REL)
		return report_damage(loading,
				     "not a package: an object; objects of sklink -r are for the linker of a program");
	if (header->e_type != ET_DYN)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: ELF type %u, a package has type 3 (ET_DYN)", loading->path,
			       header->e_type);
	if (header->e_machine != SK_MACHINE)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: made for ELF machine %u, this is machine %u", loading->path,
			       header->e_machine, SK_MACHINE);
	if (header->e_ehsize != sizeof(Elf64_Ehdr) || header->e_phentsize != sizeof(Elf64_Phdr))
		return report_damage(loading, "the ELF header has wrong sizes");
	if (header->e_phnum == 0 || header->e_phnum > HEADER_LIMIT)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: %u program headers; 1 to %d are possible", loading->path,
			       header->e_phnum, HEADER_LIMIT);
	uint64_t size = header->e_phnum * sizeof(Elf64_Phdr);
	if (header->e_phoff > loading->file_size || size > loading->file_size - header->e_phoff)
		return report_damage(loading, "the file is truncated: program headers lie past its end");
	return header->e_phoff == sizeof(*header) ? SKRT_OK
						  : read_file(loading, headers->programs, size, header->e_phoff);
}

/* ---- the segments ---- */

static bool is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static bool is_for_weights(const Elf64_Phdr *header)
{
	return header->p_type == PT_LOAD && !header->p_flags && !header->p_filesz;
}

/* Return whether the segment begins after the pages of the previous one. */
static bool begins_behind(const struct loading *loading, const struct sk_image *image, uint64_t address)
{
	const struct sk_image_segment *last;

	if (!image->segment_count)
		return true;
	last = &image->segments[image->segment_count - 1];
	return address / loading->page > (last->address + last->size - 1) / loading->page;
}

/* Add address space for constants that are in a file of their own. */
static enum skrt_status add_weights(struct loading *loading, struct sk_image *image, uint32_t index)
{
	const Elf64_Phdr *header = &loading->headers->programs[index];
	uint64_t end;

	if (image->weights.size)
		return damaged_segment(loading, index, "a second segment for weights");
	if (__builtin_add_overflow(header->p_vaddr, header->p_memsz, &end) || end > SPAN_LIMIT)
		return damaged_segment(loading, index, "too large an address");
	if (header->p_memsz == 0)
		return damaged_segment(loading, index, "empty");
	if (header->p_vaddr % loading->page || !image->segment_count || !begins_behind(loading, image, header->p_vaddr))
		return damaged_segment(loading, index, "not after the previous segment, on pages of its own");
	image->weights =
		(struct sk_image_segment){.address = header->p_vaddr, .size = header->p_memsz, .protection = PROT_READ};
	return SKRT_OK;
}

/* Check one PT_LOAD against the file, the limits and the previous one, and append it. */
static enum skrt_status add_segment(struct loading *loading, struct sk_image *image, uint32_t index)
{
	const Elf64_Phdr *header = &loading->headers->programs[index];
	uint64_t end, align = header->p_align ? header->p_align : 1;

	if (header->p_filesz > header->p_memsz)
		return damaged_segment(loading, index, "larger in the file than in memory");
	if (header->p_offset > loading->file_size || header->p_filesz > loading->file_size - header->p_offset)
		return damaged_segment(loading, index, "the file is truncated: the segment ends past its end");
	if (__builtin_add_overflow(header->p_vaddr, header->p_memsz, &end) || end > SPAN_LIMIT)
		return damaged_segment(loading, index, "too large an address");
	if (header->p_memsz == 0)
		return damaged_segment(loading, index, "empty");
	if (!is_power_of_two(align) || align > ALIGN_LIMIT)
		return damaged_segment(loading, index, "the alignment is not a power of two up to 2^30");
	if ((header->p_vaddr ^ header->p_offset) & ((align > loading->page ? align : loading->page) - 1))
		return damaged_segment(loading, index, "address and file offset differ within a page");
	if (header->p_flags & ~(uint32_t)(PF_R | PF_W | PF_X))
		return damaged_segment(loading, index, "unknown flags");
	if (!(header->p_flags & PF_R))
		return damaged_segment(loading, index, "not readable");
	if ((header->p_flags & PF_W) && (header->p_flags & PF_X))
		return damaged_segment(loading, index, "both writable and executable");
	if (!(header->p_flags & PF_W) && header->p_filesz != header->p_memsz)
		return damaged_segment(loading, index, "zero-filled, but not writable");
	if (image->segment_count == SK_IMAGE_SEGMENTS)
		return damaged_segment(loading, index, "too many segments");
	if (image->weights.size || !begins_behind(loading, image, header->p_vaddr))
		return damaged_segment(loading, index, "not after the previous segment, on pages of its own");
	image->segments[image->segment_count++] = (struct sk_image_segment){
		.address = header->p_vaddr,
		.size = header->p_memsz,
		.file_size = header->p_filesz,
		.offset = header->p_offset,
		.protection = PROT_READ | (header->p_flags & PF_W ? PROT_WRITE : 0) |
			      (header->p_flags & PF_X ? PROT_EXEC : 0),
	};
	if (align > loading->alignment)
		loading->alignment = align;
	return SKRT_OK;
}

/* Sort the program headers into segments, PT_DYNAMIC and PT_GNU_RELRO; refuse types that packages never have. */
static enum skrt_status sort_headers(struct loading *loading, struct sk_image *image)
{
	enum skrt_status status;

	for (uint32_t i = 0; i < loading->headers->elf.e_phnum; i++) {
		const Elf64_Phdr *header = &loading->headers->programs[i];

		switch (header->p_type) {
		case PT_LOAD:
			status = is_for_weights(header) ? add_weights(loading, image, i)
							: add_segment(loading, image, i);
			if (status)
				return status;
			break;
		case PT_DYNAMIC:
			if (loading->dynamic)
				return damaged_segment(loading, i, "a second dynamic section");
			loading->dynamic = header;
			break;
		case PT_GNU_RELRO:
			if (loading->relro)
				return damaged_segment(loading, i, "a second PT_GNU_RELRO");
			loading->relro = header;
			break;
		case PT_TLS:
			if (loading->thread)
				return damaged_segment(loading, i, "a second PT_TLS");
			loading->thread = header;
			break;
		case PT_GNU_EH_FRAME:
			loading->frames = header;
			break;
		case PT_INTERP:
			return report_damage(loading, "a program, not a package (it names an interpreter)");
		case PT_SHLIB:
			return damaged_segment(loading, i, "unknown type");
		case PT_GNU_STACK:
			if (header->p_flags & PF_X)
				return sk_fail(SKRT_UNSUPPORTED, "%s: an executable stack is not supported",
					       loading->path);
			break;
		default: /* notes: loading does not depend on them */
			break;
		}
	}
	if (image->segment_count == 0)
		return report_damage(loading, "nothing to load");
	if (!loading->dynamic)
		return report_damage(loading, "no dynamic section");
	return SKRT_OK;
}

/* Reserve address space for all segments at once, to keep their distances, and set the bias. */
static enum skrt_status reserve_segments(const struct loading *loading, struct sk_image *image)
{
	const struct sk_image_segment *first = &image->segments[0];
	const struct sk_image_segment *last =
		image->weights.size ? &image->weights : &image->segments[image->segment_count - 1];
	uint64_t page = loading->page;
	uint64_t start = first->address & ~(page - 1);
	uint64_t span = ((last->address + last->size + page - 1) & ~(page - 1)) - start;
	/* The bias must be a multiple of the alignment; mmap gives whole pages only. */
	uint64_t slack = loading->alignment > page ? loading->alignment : 0;
	char *mapping = mmap(NULL, span + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapping == MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot reserve %" PRIu64 " bytes of address space: %s",
			       loading->path, span, strerror(errno));
	image->mapping = mapping;
	image->mapping_size = span + slack;
	image->bias = (uintptr_t)mapping - start;
	if (slack)
		image->bias = (image->bias + loading->alignment - 1) & ~(uintptr_t)(loading->alignment - 1);
	return SKRT_OK;
}

static enum skrt_status map_segment(const struct loading *loading, const struct sk_image *image,
				    const struct sk_image_segment *segment)
{
	uint64_t page = loading->page, within = segment->address & (page - 1);
	uintptr_t start = image->bias + segment->address - within;
	uintptr_t file_end = image->bias + segment->address + segment->file_size;
	uintptr_t end = image->bias + segment->address + segment->size;
	uintptr_t file_pages_end = start;

	if (segment->file_size) {
		file_pages_end = (file_end + page - 1) & ~(uintptr_t)(page - 1);
		if (mmap((void *)start, file_end - start, segment->protection, MAP_PRIVATE | MAP_FIXED, loading->file,
			 (off_t)(segment->offset - within)) == MAP_FAILED)
			return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot map: %s", loading->path, strerror(errno));
		if (segment->size > segment->file_size)
			memset((void *)file_end, 0, file_pages_end - file_end);
	}
	if (end > file_pages_end && mmap((void *)file_pages_end, end - file_pages_end, segment->protection,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot map: %s", loading->path, strerror(errno));
	return SKRT_OK;
}

/* For sk_source.copied: read the segment's own bytes from the file, and no others of its pages. */
static enum skrt_status copy_segment(const struct loading *loading, const struct sk_image *image,
				     const struct sk_image_segment *segment)
{
	uintptr_t memory = image->bias + segment->address, start = memory & ~(uintptr_t)(loading->page - 1);
	size_t size = memory + segment->size - start;
	enum skrt_status status;

	if (mmap((void *)start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a copy of %" PRIu64 " bytes: %s", loading->path,
			       segment->size, strerror(errno));
	madvise((void *)start, size, MADV_HUGEPAGE); /* 0.1 s for 1 GiB rather than 0.6 s; no harm if it is refused */
	status = read_file(loading, (void *)memory, segment->file_size, segment->offset);
	if (!status && mprotect((void *)start, size, segment->protection))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot protect: %s", loading->path, strerror(errno));
	return status;
}

static enum skrt_status map_segments(const struct loading *loading, struct sk_image *image)
{
	enum skrt_status status = reserve_segments(loading, image);

	for (uint32_t i = 0; i < image->segment_count && !status; i++)
		status = loading->source->copied ? copy_segment(loading, image, &image->segments[i])
						 : map_segment(loading, image, &image->segments[i]);
	return status;
}

/* Only the package's own code reads its unwind tables. */
static enum skrt_status find_frames(const struct loading *loading, struct sk_image *image)
{
	const Elf64_Phdr *header = loading->frames;
	const struct sk_image_segment *last = &image->segments[image->segment_count - 1];

	image->package.start = image->bias + image->segments[0].address;
	image->package.end = image->bias + last->address + last->size;
	if (!header)
		return SKRT_OK;
	image->package.frames = sk_image_memory(image, header->p_vaddr, header->p_memsz, 4, PROT_READ);
	if (!image->package.frames)
		return report_damage(loading, "PT_GNU_EH_FRAME does not lie in a segment");
	return SKRT_OK;
}

/* Assign a number to the package's thread-local storage, which relocations need. */
static enum skrt_status open_storage(const struct loading *loading, struct sk_image *image)
{
	struct sk_thread_storage *storage = &image->package.storage;
	const Elf64_Phdr *header = loading->thread;
	size_t room;

	if (!header && storage->is_static)
		return report_damage(loading, "static thread-local storage without PT_TLS");
	if (!header)
		return SKRT_OK;
	if (header->p_filesz > header->p_memsz || header->p_memsz > SPAN_LIMIT)
		return report_damage(loading, "PT_TLS is larger in the file than in memory, or larger than any memory");
	if (!is_power_of_two(header->p_align) || header->p_align > ALIGN_LIMIT)
		return report_damage(loading, "the alignment of PT_TLS is not a power of two up to 2^30");
	if (header->p_filesz && !sk_image_memory(image, header->p_vaddr, header->p_filesz, 1, PROT_READ))
		return report_damage(loading, "PT_TLS does not lie in a segment");
	storage->image = (const void *)(image->bias + header->p_vaddr);
	storage->filled = header->p_filesz;
	storage->size = header->p_memsz;
	storage->alignment = header->p_align;
	if (sk_thread_storage_open(storage, &room))
		return SKRT_OK;
	if (room == SIZE_MAX)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for thread-local storage", loading->path);
	return sk_fail(
		SKRT_UNSUPPORTED,
		"%s: needs %" PRIu64 " bytes of thread-local storage, aligned to %" PRIu64
		", at one distance from the thread pointer in all threads (initial-exec); libskrt has %zu left "
		"of %d, aligned to %d: compile the code with these variables with -fPIC, and without -ftls-model",
		loading->path, (uint64_t)header->p_memsz, (uint64_t)header->p_align, room, SK_STATIC_STORAGE,
		SK_STATIC_STORAGE_ALIGNMENT);
}

/* Make the data that only relocations write read-only. Like the C library, protect whole pages only. */
static enum skrt_status protect_relro(const struct loading *loading, const struct sk_image *image)
{
	const Elf64_Phdr *relro = loading->relro;

	if (!relro || relro->p_memsz == 0)
		return SKRT_OK;
	if (!sk_image_memory(image, relro->p_vaddr, relro->p_memsz, 1, PROT_WRITE))
		return report_damage(loading, "PT_GNU_RELRO does not lie in a writable segment");
	uintptr_t start = (image->bias + relro->p_vaddr) & ~(uintptr_t)(loading->page - 1);
	uintptr_t end = (image->bias + relro->p_vaddr + relro->p_memsz) & ~(uintptr_t)(loading->page - 1);
	if (end > start && mprotect((void *)start, end - start, PROT_READ))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot protect: %s", loading->path, strerror(errno));
	return SKRT_OK;
}

static enum skrt_status check(const struct loading *loading, const struct sk_image *image)
{
	const struct sk_image_file file = {loading->file, loading->file_size, &loading->headers->elf,
					   loading->headers->programs};

	return loading->source->check ? loading->source->check(loading->source, image, &file) : SKRT_OK;
}

static enum skrt_status load_image(struct loading *loading, struct sk_image *image)
{
	struct sk_dynamic dynamic;
	enum skrt_status status = open_file(loading, image);

	if (!status)
		status = read_headers(loading);
	if (!status)
		status = sort_headers(loading, image);
	/* From here on every segment lies in the file and in SPAN_LIMIT, on pages of its own. */
	if (!status)
		status = map_segments(loading, image);
	if (!status)
		status = sk_dynamic_read(loading->path, image, loading->dynamic, &dynamic);
	if (!status)
		status = sk_weights_open(loading->source, loading->page, image);
	if (!status)
		status = check(loading, image);
	if (!status)
		status = open_storage(loading, image);
	if (!status)
		status = find_frames(loading, image);
	if (!status)
		status = sk_image_relocate(loading->source, image, &dynamic);
	if (!status)
		status = protect_relro(loading, image);
	if (!status)
		status = sk_dynamic_check_functions(loading->path, image);
	if (status || loading->source->only_looked_at)
		return status;
	status = sk_processor_check(loading->path, image);
	if (status)
		return status;
	if (sk_debugger_wanted())
		image->debugger = sk_debugger_register(image, loading->path, loading->file);
	return SKRT_OK;
}

enum skrt_status sk_image_open(const struct sk_source *source, struct sk_image *image)
{
	struct headers headers;
	struct loading loading = {
		.source = source,
		.headers = &headers,
		.path = source->name,
		.file = source->file,
		.page = (uint64_t)sysconf(_SC_PAGESIZE),
	};

	memset(image, 0, sizeof(*image));
	enum skrt_status status = load_image(&loading, image);
	if (loading.file >= 0 && loading.file != source->file)
		close(loading.file);
	if (status)
		sk_image_close(image);
	return status;
}

void sk_image_close(struct sk_image *image)
{
	sk_debugger_unregister(image->debugger);
	sk_thread_storage_close(&image->package.storage);
	if (image->mapping)
		munmap(image->mapping, image->mapping_size);
	memset(image, 0, sizeof(*image));
}

/* ---- inspecting it ---- */
