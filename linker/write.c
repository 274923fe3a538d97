/* Writes the finished file, and before it the texts about it; also returns its parts. */
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/output.h"

const struct sk_file_part *sk_linker_parts(const struct sk_linker *linker, size_t *count)
{
	*count = linker->parts.count;
	return linker->parts.items;
}

const uint8_t *sk_linker_hash(const struct sk_linker *linker, uint64_t offset, uint64_t size)
{
	const struct sk_constants_hash *constants = &linker->constants_hash;

	return size && constants->offset == offset && constants->size == size ? constants->hash : NULL;
}

void *sk_linker_contents(struct sk_linker *linker, sk_section section)
{
	return sk_image_at(linker, &linker->synthetic.items[section]->section);
}

/* Add the cross-reference table if it is wanted: to the end of the map, or as lines for the caller to print. */
static void add_cross_references(struct sk_linker *linker, sk_bytes *map)
{
	sk_texts lines = {0};

	if (linker->options.cross_references)
		lines = sk_cross_references(linker);
	for (size_t i = 0; i < lines.count; i++) {
		if (!map) {
			SK_PRINT(linker, "%s", lines.items[i]);
			continue;
		}
		for (const char *character = lines.items[i]; *character; character++)
			sk_array_push(linker->arena, map, (uint8_t)*character);
		sk_array_push(linker->arena, map, '\n');
	}
}

const uint8_t *sk_linker_bytes(struct sk_linker *linker, uint64_t *size)
{
	uint8_t *bytes = sk_arena_alloc(linker->arena, linker->file_size, 1);

	for (size_t i = 0; i < linker->parts.count; i++) {
		const struct sk_file_part *part = &linker->parts.items[i];

		memcpy(bytes + part->offset, part->bytes, part->size);
	}
	*size = linker->file_size;
	return bytes;
}

static bool write_map(struct sk_linker *linker)
{
	if (!linker->options.map_file) {
		add_cross_references(linker, NULL);
		return true;
	}

	sk_bytes map = sk_map_text(linker);

	add_cross_references(linker, &map);
	return sk_file_write_text(linker->diag, linker->options.map_file, map.items, map.count);
}

static bool write_extractions(struct sk_linker *linker)
{
	if (!linker->options.extractions_file)
		return true;

	sk_bytes text = sk_extractions_text(linker);

	return sk_file_write_text(linker->diag, linker->options.extractions_file, text.items, text.count);
}

static bool write_dependencies(struct sk_linker *linker, const char *path)
{
	if (!linker->options.dependency_file)
		return true;

	sk_bytes dependencies = sk_dependencies_text(linker, path);

	return sk_file_write_text(linker->diag, linker->options.dependency_file, dependencies.items,
				  dependencies.count);
}

bool sk_linker_write(struct sk_linker *linker, const char *path, const struct sk_file_draft *draft)
{
	return write_map(linker) && write_extractions(linker) && write_dependencies(linker, path) &&
	       (linker->options.check ||
		sk_file_write(linker->diag, path, 0777, linker->parts.items, linker->parts.count, draft));
}
