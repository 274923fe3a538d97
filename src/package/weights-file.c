/* The weights file; see package.h. Nothing is copied: the file's parts refer to the constants. */
#include "src/package/package.h"

#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "format/seal.h"
#include "format/skweights.h"

static void add_contents(struct sk_arena *arena, struct sk_package_weights *weights, const void *bytes, uint64_t size)
{
	if (size)
		sk_array_push(arena, &weights->contents, (struct sk_seal_part){bytes, size});
}

static void add_part(struct sk_arena *arena, struct sk_package_weights *weights, uint64_t offset, const void *bytes,
		     uint64_t size)
{
	sk_array_push(arena, &weights->file, (struct sk_file_part){offset, bytes, size});
}

static void make_record(struct sk_arena *arena, struct sk_package_weights *weights, uint64_t size)
{
	const char *slash = strrchr(weights->path, '/'), *name = slash ? slash + 1 : weights->path;
	size_t length = strlen(name) + 1;

	weights->record_size = sizeof(*weights->record) + length;
	weights->record = sk_arena_alloc(arena, weights->record_size, _Alignof(struct sk_weights));
	*weights->record = (struct sk_weights){.version = SK_WEIGHTS_VERSION, .identity = {.size = size}};
	memcpy(weights->record->name, name, length);
	sk_seal_hash_weights(weights->contents.items, weights->contents.count, weights->record->identity.hash);
}

void sk_package_weights_make(struct sk_arena *arena, const char *path, const struct sk_piece *pieces, size_t count,
			     uint64_t size, struct sk_package_weights *weights)
{
	struct sk_weights_header *header = SK_NEW(arena, struct sk_weights_header);
	uint64_t end = 0;

	*weights = (struct sk_package_weights){.path = path};
	add_part(arena, weights, 0, header, sizeof(*header));
	for (size_t i = 0; i < count; i++) {
		add_contents(arena, weights, NULL, pieces[i].offset - end);
		add_contents(arena, weights, pieces[i].bytes, pieces[i].size);
		add_part(arena, weights, SK_WEIGHTS_START + pieces[i].offset, pieces[i].bytes, pieces[i].size);
		end = pieces[i].offset + pieces[i].size;
	}
	add_contents(arena, weights, NULL, size - end);
	if (size > end)
		add_part(arena, weights, SK_WEIGHTS_START + size - 1, "", 1);
	make_record(arena, weights, size);
	*header = (struct sk_weights_header){
		.magic = SK_WEIGHTS_MAGIC, .version = SK_WEIGHTS_VERSION, .identity = weights->record->identity};
}
