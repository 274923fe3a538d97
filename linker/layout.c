/* Addresses. Input: live sections. Output: output sections (outputs.c) with their addresses.
 *
 * Five regions, each of whole pages, in this order: read-only data (with the ELF headers), code, data that is read-only
 * once the loader has relocated it, writable data, constants. Writable data shares a segment with the region before it,
 * which saves a mapping. Offsets in the file equal addresses, so zeroed data leaves a hole before the constants.
 * Constants come last because only they may be huge: everything else must be within reach of 32-bit displacements.
 *
 * With -r there are the same output sections in the same order, each at address 0, and no segments. */
#include <inttypes.h>

#include "base/diag.h"
#include "base/ranges.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

/* ---- aligned functions ---- */

/* Align the byte at the offset of the section. The section's start keeps its alignment. Return false if the two, or two
 * such bytes, contradict each other. */
static bool align_byte(struct sk_input_section *section, uint64_t offset, uint32_t alignment)
{
	uint32_t smaller = alignment < section->alignment ? alignment : section->alignment;

	if ((offset - section->aligned) % smaller != 0)
		return false;
	if (alignment > section->alignment) {
		section->alignment = alignment;
		section->aligned = (uint32_t)(offset % alignment);
	}
	return true;
}

static bool align_functions(struct sk_linker *linker)
{
	bool good = true;

	for (size_t i = 0; i < linker->aligned.count; i++) {
		const struct sk_aligned *aligned = &linker->aligned.items[i];
		const struct sk_linker_symbol *symbol = &linker->symbols.items[aligned->code];
		struct sk_target target = sk_symbol_target(linker, aligned->code);

		if (!target.section || align_byte(target.section, target.value, aligned->alignment))
			continue;
		sk_error(linker->diag, sk_section_place(linker->arena, target.section, target.value),
			 "'%s' cannot begin at a multiple of %u bytes, since it is one of several functions in its "
			 "section; compile with -ffunction-sections, or align less",
			 symbol->name, aligned->alignment);
		good = false;
	}
	return good;
}

/* ---- addresses ---- */

/* Padding between sections takes memory and disk space like contents: a few bytes with huge alignments must not become
 * gigabytes. The limit is this much plus eight times the contents. */
#define FREE_PADDING ((uint64_t)32 << 20)

static bool too_sparse(struct sk_linker *linker, uint64_t padding)
{
	sk_error(linker->diag, (struct sk_place){0},
		 "the alignments of sections leave %llu MiB unused between them; align less",
		 (unsigned long long)(padding >> 20));
	return false;
}

static bool too_large(struct sk_linker *linker)
{
	sk_error(linker->diag, (struct sk_place){0},
		 "the image without its constants is larger than 2 GiB, which code cannot reach across");
	return false;
}

/* The address range that libskrt reserves at most; operating systems offer less. */
#define MAXIMUM_SPAN (UINT64_C(1) << 40)

static bool too_wide(struct sk_linker *linker, const struct sk_output *output)
{
	const struct sk_input_section *largest = NULL;

	for (size_t i = 0; i < output->sections.count; i++)
		if (!largest || output->sections.items[i]->size > largest->size)
			largest = output->sections.items[i];

	struct sk_place place = {0};

	if (largest && largest->object)
		place = sk_section_place(linker->arena, largest, 0);
	sk_error(linker->diag, place,
		 "with the %" PRIu64 " bytes of this section the package takes more than 1 TiB of addresses, which "
		 "libskrt does not load",
		 largest ? largest->size : output->size);
	return false;
}

/* Return whether the region begins a new page after the region before it. */
static bool begins_page(const struct sk_linker *linker, enum sk_region before, enum sk_region region)
{
	return region != before && !(region == SK_REGION_WRITABLE && linker->options.no_relro);
}

/* Place the sections of one output section; *address is the earliest start, and afterwards the end. */
static bool place_output(struct sk_output *output, uint64_t *address)
{
	for (size_t i = 0; i < output->sections.count; i++)
		if (output->sections.items[i]->alignment > output->alignment)
			output->alignment = output->sections.items[i]->alignment;
	if (!sk_align(*address, output->alignment, address))
		return false;
	output->address = output->file_offset = *address;
	for (size_t i = 0; i < output->sections.count; i++) {
		struct sk_input_section *section = output->sections.items[i];

		if (!sk_add(*address, section->aligned, address) || !sk_align(*address, section->alignment, address))
			return false;
		*address -= section->aligned;
		section->address = *address;
		if (!sk_add(*address, section->size, address) || *address > INT64_MAX)
			return false;
	}
	output->size = *address - output->address;
	return true;
}

/* Zeroed thread-local variables exist only in threads' blocks, so the next section begins at the same address. */
static bool place_loaded(struct sk_output *output, uint64_t *address)
{
	uint64_t before = *address;
	bool placed = place_output(output, address);

	if (output->rank == SK_RANK_THREAD_ZERO_DATA)
		*address = before;
	return placed;
}

/* Leave pages between code and data that no segment has, so that loaders make them inaccessible. */
static bool place_guards(struct sk_linker *linker, uint64_t *address)
{
	linker->guards.address = *address;
	return sk_add(*address, linker->guards.size, address) && sk_align(*address, sk_page_size(linker), address);
}

/* Assign addresses to loaded output sections; set linker->loaded_size and the end of the file so far. */
static bool place_outputs(struct sk_linker *linker, uint64_t address)
{
	const uint64_t page = sk_page_size(linker);
	enum sk_region region = SK_REGION_READ_ONLY;
	uint64_t contents = 0; /* without gaps between sections of a region; no overflow, since addresses have none */

	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];

		if (sk_region_of(output->rank) == SK_REGION_NOT_LOADED)
			break;
		if (begins_page(linker, region, sk_region_of(output->rank))) {
			uint64_t end = address;

			if (!sk_align(address, page, &address))
				return too_large(linker);
			contents += address - end;
		}
		if (region == SK_REGION_CODE && sk_region_of(output->rank) != region && linker->guards.size) {
			if (!place_guards(linker, &address))
				return too_large(linker);
			contents += address - linker->guards.address;
		}
		region = sk_region_of(output->rank);
		if (output->rank == SK_RANK_RELRO_PADDING) /* up to the end of the page */
			output->sections.items[0]->size = -address & (page - 1);
		if (!place_loaded(output, &address))
			return too_large(linker);
		if (address > MAXIMUM_SPAN)
			return too_wide(linker, output);
		for (size_t j = 0; j < output->sections.count && output->rank != SK_RANK_THREAD_ZERO_DATA; j++)
			contents += output->sections.items[j]->size;
		if (output->type != SHT_NOBITS && region != SK_REGION_CONSTANTS) {
			linker->loaded_size = address;
			if (address - contents > FREE_PADDING + 8 * contents)
				return too_sparse(linker, address - contents);
			if (address > INT32_MAX)
				return too_large(linker);
		}
		if (output->type != SHT_NOBITS)
			linker->file_size = address;
	}
	return true;
}

/* Place sections with -r: they only have file offsets, one after the other. The next linker has the same limits, and
 * errors reported here are easier to understand. */
static bool place_apart(struct sk_linker *linker)
{
	uint64_t offset = sizeof(Elf64_Ehdr), contents = 0;

	linker->loaded_size = linker->file_size = offset;
	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];
		uint64_t end = 0;

		if (sk_region_of(output->rank) == SK_REGION_NOT_LOADED)
			break;
		if (!place_output(output, &end) || !sk_align(offset, output->alignment, &output->file_offset))
			return too_large(linker);
		if (output->type == SHT_NOBITS)
			continue;
		if (!sk_add(output->file_offset, output->size, &offset))
			return too_large(linker);
		linker->file_size = offset;
		if (sk_region_of(output->rank) == SK_REGION_CONSTANTS)
			continue;
		linker->loaded_size = offset;
		for (size_t j = 0; j < output->sections.count; j++)
			contents += output->sections.items[j]->size;
		if (offset - contents > FREE_PADDING + 8 * contents)
			return too_sparse(linker, offset - contents);
		if (offset > INT32_MAX)
			return too_large(linker);
	}
	return true;
}

/* Debug information is not loaded; references to its sections are offsets. */
static bool place_debug(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->outputs.count; i++) {
		uint64_t offset = 0;

		if (linker->outputs.items[i]->rank == SK_RANK_DEBUG &&
		    !place_output(linker->outputs.items[i], &offset)) {
			sk_error(linker->diag, (struct sk_place){0}, "the debug information is too large");
			return false;
		}
	}
	return true;
}

/* Drop the padding of the RELRO segment if it is empty. */
static void drop_empty_padding(struct sk_linker *linker)
{
	size_t kept = 0;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];

		if (output->rank == SK_RANK_RELRO_PADDING && !output->size)
			continue;
		output->number = (uint32_t)kept + 1;
		linker->outputs.items[kept++] = output;
	}
	linker->outputs.count = kept;
}

bool sk_layout(struct sk_linker *linker)
{
	enum { MAXIMUM_SEGMENTS = 11 }; /* every kind of segments.c but PT_TLS: a few unused bytes do no harm */

	if (!sk_ranges_unify(linker) || !align_functions(linker) || !sk_outputs_make(linker))
		return false;
	if (linker->options.relocatable) {
		if (!place_apart(linker) || !place_debug(linker))
			return false;
		sk_ranges_place(linker);
		return true;
	}
	linker->made[SK_MADE_DYNAMIC].size = sk_dynamic_size(linker);
	sk_thread_align(linker);
	if (!place_outputs(linker,
			   sizeof(Elf64_Ehdr) + (MAXIMUM_SEGMENTS + linker->thread.exists) * sizeof(Elf64_Phdr)))
		return false;
	sk_thread_place(linker);
	if (!place_debug(linker))
		return false;
	sk_ranges_place(linker);
	drop_empty_padding(linker);
	sk_landmarks_place(linker);
	sk_segments_make(linker);
	return true;
}
