/* Divides the file into loaded parts and the rest, according to the program headers, and has them hashed and signed.
 * See format/seal.h. */
#include "src/package/package.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "format/seal.h"
#include "linker/linker.h"

typedef SK_ARRAY(struct sk_seal_part) seal_parts;
typedef SK_ARRAY(struct sk_seal_segment) seal_segments;

/* The file, from its start to its end. */
struct reader {
	struct sk_arena *arena;
	struct sk_file_part *parts; /* ascending */
	size_t count, next;
	uint64_t at; /* the bytes before it have been taken */
};

static int compare_parts(const void *a, const void *b)
{
	const struct sk_file_part *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

static struct reader open_reader(struct sk_arena *arena, struct sk_linker *linker)
{
	struct reader reader = {.arena = arena};
	const struct sk_file_part *parts = sk_linker_parts(linker, &reader.count);

	reader.parts = SK_NEW_ARRAY(arena, struct sk_file_part, reader.count);
	memcpy(reader.parts, parts, reader.count * sizeof(*parts));
	qsort(reader.parts, reader.count, sizeof(*parts), compare_parts);
	return reader;
}

static uint64_t file_size(const struct reader *reader)
{
	const struct sk_file_part *last = &reader->parts[reader->count - 1];

	return last->offset + last->size;
}

/* Take the bytes before `end`. Bytes that no part covers are zeros. */
static void take_bytes_before(struct reader *reader, uint64_t end, seal_parts *taken)
{
	while (reader->at < end) {
		const struct sk_file_part *part = reader->next < reader->count ? &reader->parts[reader->next] : NULL;
		uint64_t start = part && part->offset < end ? part->offset : end, stop;
		struct sk_seal_part piece = {NULL, start - reader->at};

		if (reader->at >= start) {
			stop = part->offset + part->size < end ? part->offset + part->size : end;
			piece = (struct sk_seal_part){(const char *)part->bytes + (reader->at - part->offset),
						      stop - reader->at};
			reader->next += stop == part->offset + part->size;
		}
		reader->at += piece.size;
		sk_array_push(reader->arena, taken, piece);
	}
}

/* Weights in a file of their own are also loaded. The seal has their hash, which detects damage but not tampering. */
static struct sk_seal_bytes with_weights(struct sk_arena *arena, const struct sk_seal_bytes *loaded,
					 const struct sk_package_weights *weights)
{
	seal_segments segments = {0};
	struct sk_seal_bytes all = *loaded;

	for (size_t i = 0; i < loaded->count; i++)
		sk_array_push(arena, &segments, loaded->segments[i]);
	sk_array_push(arena, &segments,
		      ((struct sk_seal_segment){.parts = weights->contents.items, .count = weights->contents.count}));
	all.segments = segments.items;
	all.count = segments.count;
	return all;
}

static bool sign(struct sk_arena *arena, struct sk_diag *diag, const struct sk_seal_bytes *loaded,
		 const struct sk_package_weights *weights, const char *path, struct sk_plan_seal *seal)
{
	const struct sk_seal_bytes all = with_weights(arena, loaded, weights);
	uint8_t key[SK_SEAL_KEY];
	const char *error = sk_key_read(path, SK_KEY_PRIVATE, key);

	if (!error && !sk_seal_sign(&all, key, seal->signature))
		error = "the signature cannot be made";
	explicit_bzero(key, sizeof(key));
	if (error)
		sk_error(diag, (struct sk_place){.file = path}, "%s", error);
	return !error;
}

bool sk_seal_write(struct sk_arena *arena, struct sk_diag *diag, struct sk_linker *linker,
		   const struct sk_package_parts *package, const char *private_key)
{
	struct sk_plan_seal *seal = &((struct sk_plan *)sk_linker_contents(linker, package->plan))->seal;
	struct reader reader = open_reader(arena, linker);
	seal_parts rest = {0};
	seal_segments loaded = {0};
	const Elf64_Ehdr *header = reader.parts[0].bytes;
	const Elf64_Phdr *headers = (const Elf64_Phdr *)((const char *)header + header->e_phoff);

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		seal_parts parts = {0};

		if (headers[i].p_type != PT_LOAD || !headers[i].p_filesz)
			continue;
		take_bytes_before(&reader, headers[i].p_offset, &rest);
		take_bytes_before(&reader, headers[i].p_offset + headers[i].p_filesz, &parts);
		sk_array_push(
			arena, &loaded,
			((struct sk_seal_segment){parts.items, parts.count,
						  sk_linker_hash(linker, headers[i].p_offset, headers[i].p_filesz)}));
	}
	take_bytes_before(&reader, file_size(&reader), &rest);
	seal->file_size = file_size(&reader);
	sk_seal_hash_rest(header, rest.items, rest.count, seal->rest);

	const struct sk_seal_bytes bytes = {loaded.items, loaded.count, header, seal};

	if (private_key && !sign(arena, diag, &bytes, &package->weights, private_key, seal))
		return false;
	sk_seal_hash_loaded(&bytes, seal->loaded);
	return true;
}
