/* The parts of the file, one after another. Input: bytes in memory. Output: their offsets in the file. Images, objects
 * (-r) and debug information add their parts here. Constants are never copied: the file's parts refer to the caller's
 * memory. */
#include "base/arena.h"
#include "base/file.h"
#include "base/ranges.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

void sk_image_add(struct sk_linker *linker, uint64_t offset, const void *bytes, uint64_t size)
{
	if (size)
		sk_array_push(linker->arena, &linker->parts, (struct sk_file_part){offset, bytes, size});
}

struct sk_output *sk_image_add_tail(struct sk_linker *linker, const char *name, uint32_t type, const void *bytes,
				    uint64_t size, uint64_t alignment)
{
	struct sk_output *output = SK_NEW(linker->arena, struct sk_output);

	*output = (struct sk_output){.name = name,
				     .rank = SK_RANK_NOT_LOADED,
				     .type = type,
				     .alignment = alignment,
				     .size = size,
				     .number = (uint32_t)linker->outputs.count + 1};
	sk_align(linker->file_size, alignment, &output->file_offset); /* sizes of things in memory: no overflow */
	sk_image_add(linker, output->file_offset, bytes, size);
	linker->file_size = output->file_offset + size;
	sk_array_push(linker->arena, &linker->outputs, output);
	return output;
}

static void add_pieces(struct sk_linker *linker, const struct sk_input_section *section, uint64_t offset)
{
	for (size_t i = 0; i < section->piece_count; i++)
		sk_image_add(linker, offset + section->pieces[i].offset, section->pieces[i].bytes,
			     section->pieces[i].size);
}

/* Constants already have their offsets; sections that are not loaded get theirs now. */
void sk_image_add_uncopied(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];

		for (size_t j = 0; j < output->sections.count; j++) {
			struct sk_input_section *section = output->sections.items[j];

			if (output->type == SHT_NOBITS) {
				continue;
			} else if (output->rank == SK_RANK_CONSTANTS) {
				add_pieces(linker, section, output->file_offset + (section->address - output->address));
			} else if (output->rank == SK_RANK_NOT_LOADED) {
				sk_align(linker->file_size, section->alignment, &linker->file_size);
				if (!j)
					output->file_offset = linker->file_size;
				add_pieces(linker, section, linker->file_size);
				linker->file_size += section->size;
				output->size = linker->file_size - output->file_offset;
				if (section->alignment > output->alignment)
					output->alignment = section->alignment;
			}
		}
	}
}
