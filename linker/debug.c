/* Debug information, so that a debugger steps through the source of a kernel. Input: the .debug_ sections of reached
 * objects, compressed or not. Output: the same sections marked live, with plain contents, checked relocations, and the
 * strings that they need marked. debug-write.c writes them. An object with sections compressed with zstd loses all
 * of its debug information: the library of zstd would be needed for nothing else. A reference from debug information
 * does not keep code alive. */
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

/* Deflate compresses to a 1032nd at best (zlib's "Technical Details"): a section that claims a higher ratio is
 * damaged. */
enum { MAXIMUM_RATIO = 1032 };

/* Limit for all sections together, far above real ratios: a few kilobytes of compressed zeros must not take all
 * memory. */
enum { USUAL_RATIO = 32, FREE_SIZE = 16 << 20 };

/* ELFCOMPRESS_ZSTD, which old versions of <elf.h> lack. */
enum { COMPRESSED_WITH_ZSTD = 2 };

/* ---- reading ---- */

static bool describe_compressed(struct sk_reader *reader, struct sk_input_section *section)
{
	Elf64_Chdr header;

	if (section->size < sizeof(header))
		return SK_BAD_OBJECT(reader, section->object, "the header of the compressed section %s is truncated",
				     section->name);
	memcpy(&header, section->bytes, sizeof(header));
	if (header.ch_type == COMPRESSED_WITH_ZSTD) {
		section->object->unreadable_debug = true;
		section->debug = false; /* as with -S: relocations are of the contents, which stay unknown */
		return true;
	}
	if (header.ch_type != ELFCOMPRESS_ZLIB)
		return SK_BAD_OBJECT(reader, section->object, "section %s is compressed in an unknown way",
				     section->name);
	if (header.ch_size / MAXIMUM_RATIO > section->size ||
	    (header.ch_addralign && !sk_is_power_of_two(header.ch_addralign)) || header.ch_addralign > UINT16_MAX)
		return SK_BAD_OBJECT(reader, section->object, "the header of the compressed section %s is damaged",
				     section->name);
	section->compressed_size = section->size;
	section->size = header.ch_size;
	section->alignment = header.ch_addralign ? (uint32_t)header.ch_addralign : 1;
	return true;
}

bool sk_debug_describe(struct sk_reader *reader, struct sk_input_section *section)
{
	if (!reader->keep_debug || section->type != SHT_PROGBITS)
		return true;
	section->object->obsolete_debug |= sk_starts_with(section->name, ".zdebug_info");
	section->debug = sk_starts_with(section->name, ".debug_");
	section->object->annotated |= section->debug;
	return !section->debug || !(section->flags & SHF_COMPRESSED) || describe_compressed(reader, section);
}

static bool decompress(struct sk_linker *linker, struct sk_input_section *section)
{
	const struct sk_object *object = section->object;
	uint64_t compressed = section->compressed_size - sizeof(Elf64_Chdr);

	linker->decompressed += section->size; /* no overflow: each is at most 1032 times as large as in a file */
	if (linker->decompressed > FREE_SIZE + USUAL_RATIO * linker->input_size)
		return SK_BAD_OBJECT(linker, object,
				     "the compressed section %s is too large: debug information is more than %d times "
				     "as large as the inputs",
				     section->name, USUAL_RATIO);

	uint8_t *bytes = sk_arena_alloc(linker->arena, section->size ? section->size : 1, 1);
	uLongf size = section->size;

	if (uncompress(bytes, &size, section->bytes + sizeof(Elf64_Chdr), compressed) != Z_OK || size != section->size)
		return SK_BAD_OBJECT(linker, object, "the contents of the compressed section %s are damaged",
				     section->name);
	section->bytes = bytes;
	section->address = 0;
	section->flags &= ~(uint32_t)SHF_COMPRESSED;
	return true;
}

/* Check the relocation's type, which must be one that debug information uses. A reference into mergeable strings keeps
 * the string. */
static bool collect_relocation(struct sk_linker *linker, const struct sk_input_section *section,
			       const sk_elf_relocation *relocation)
{
	uint32_t number = ELF64_R_TYPE(relocation->r_info);
	const struct sk_relocation_type *type = sk_relocation_type_find(linker->architecture->relocations, number);
	struct sk_place place = {0};

	switch (type ? type->expression : SK_EXPRESSION_UNSUPPORTED) {
	case SK_EXPRESSION_NONE:
		return true;
	case SK_EXPRESSION_THREAD_OFFSET:
	case SK_EXPRESSION_WORD:
	case SK_EXPRESSION_NARROW:
	case SK_EXPRESSION_RELATIVE:
		break;
	default:
		place = sk_section_place(linker->arena, section, relocation->r_offset);
		sk_error(linker->diag, place, "relocation type %u is not supported in debug information", number);
		return false;
	}

	struct sk_target target = sk_relocation_target(linker, section, relocation);

	if (target.kind == SK_TARGET_OUTSIDE) {
		place = sk_section_place(linker->arena, section, relocation->r_offset);
		sk_error(linker->diag, place, "relocation %s against '%s' lies outside the strings it refers to",
			 type->name, sk_relocation_name(linker, section, relocation));
		return false;
	}
	if (target.section && target.section->debug && target.section->live && target.section->mergeable)
		sk_merge_mark(linker->arena, target.section, target.offset);
	return true;
}

static bool collect_section(struct sk_linker *linker, struct sk_input_section *section)
{
	if (!section->debug || section->discarded)
		return true;
	if ((section->flags & SHF_COMPRESSED) && !decompress(linker, section))
		return false;
	section->mergeable = !section->relocation_count && sk_is_mergeable(section);
	section->live = true;
	return true;
}

static bool collect_references(struct sk_linker *linker, struct sk_input_section *section)
{
	bool ok = true;

	for (uint64_t i = 0; section->debug && section->live && i < section->relocation_count; i++)
		ok &= collect_relocation(linker, section, &section->relocations[i]);
	return ok;
}

static bool visit_debug_sections(struct sk_linker *linker,
				 bool (*function)(struct sk_linker *linker, struct sk_input_section *section))
{
	bool ok = true;

	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0;
		     object->reached && object->annotated && !object->unreadable_debug && j < object->part_count; j++)
			ok &= function(linker, &object->parts[j]);
	}
	return ok;
}

/* Warn once of the debug information that is compressed with zstd: archives have thousands of such objects. */
static void warn_of_unreadable(struct sk_linker *linker)
{
	const struct sk_object *first = NULL;
	size_t others = 0;

	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		if (!object->reached || !object->unreadable_debug)
			continue;
		others += first != NULL;
		first = first ? first : object;
	}
	if (first)
		sk_warning(
			linker->diag, (struct sk_place){.file = sk_object_name(linker->arena, first)},
			"debug information compressed with zstd is dropped%s; recompile with -gz=zlib, decompress it "
			"(objcopy --decompress-debug-sections) or leave it out (-S)",
			others ? sk_arena_print(linker->arena, ", here and in %zu other object%s", others,
						others == 1 ? "" : "s")
			       : "");
}

bool sk_debug_collect(struct sk_linker *linker)
{
	warn_of_unreadable(linker);
	return visit_debug_sections(linker, collect_section) && visit_debug_sections(linker, collect_references);
}

/* ---- collecting ---- */
