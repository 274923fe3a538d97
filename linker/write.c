/* Writes the file, and before it the texts about it. */
#include <string.h>

#include "linker/internal.h"

static bool write_text(struct sk_linker *linker, const char *path, const sk_bytes *text)
{
	const struct sk_file_part part = {0, text->items, text->count};

	return sk_file_replace(linker->diag, path, 0666, &part, 1);
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

bool sk_linker_write(struct sk_linker *linker, const char *path)
{
	if (linker->options.map_file) {
		sk_bytes map = sk_report_map(linker);

		if (!write_text(linker, linker->options.map_file, &map))
			return false;
	}
	if (linker->options.dependency_file) {
		sk_bytes dependencies = sk_report_dependencies(linker, path);

		if (!write_text(linker, linker->options.dependency_file, &dependencies))
			return false;
	}
	return sk_file_replace(linker->diag, path, 0777, linker->parts.items, linker->parts.count);
}
