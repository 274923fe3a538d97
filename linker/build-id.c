/* The build-id: a hash over the parts of the complete file, stored in the build-id note. */
#include <elf.h>
#include <string.h>
#include <xxhash.h>

#include "base/arena.h"
#include "linker/linker-parts.h"
#include "linker/output.h"

enum { BUILD_ID_SIZE = 16 };

/* Write the note with an id of zeros; return the address of the id. */
static uint8_t *write_note(struct sk_linker *linker)
{
	const Elf64_Nhdr header = {.n_namesz = 4, .n_descsz = BUILD_ID_SIZE, .n_type = NT_GNU_BUILD_ID};
	uint8_t *note = sk_image_at(linker, &linker->made[SK_MADE_BUILD_ID]);

	memcpy(note, &header, sizeof(header));
	memcpy(note + sizeof(header), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	return note + sizeof(header) + sizeof(ELF_NOTE_GNU);
}

static const struct sk_output *find_constants(const struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->outputs.count; i++)
		if (linker->outputs.items[i]->rank == SK_RANK_CONSTANTS && linker->outputs.items[i]->type != SHT_NOBITS)
			return linker->outputs.items[i];
	return NULL;
}

static bool is_of(const struct sk_file_part *part, const struct sk_output *output)
{
	return output && part->offset >= output->file_offset && part->offset - output->file_offset < output->size;
}

static void hash_zeros(XXH3_state_t *state, uint64_t size)
{
	static const uint8_t zeros[4096];

	for (uint64_t done = 0, now; done < size; done += now) {
		now = size - done < sizeof(zeros) ? size - done : sizeof(zeros);
		XXH3_128bits_update(state, zeros, now);
	}
}

static void finish_hash(XXH3_state_t *state, uint8_t hash[BUILD_ID_SIZE])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(hash, &canonical, BUILD_ID_SIZE);
	XXH3_128bits_reset(state);
}

/* Constants may take gigabytes, so they are read once, for both the build-id and the seal. */
static void hash_constants(struct sk_linker *linker, const struct sk_output *constants, XXH3_state_t *state)
{
	struct sk_constants_hash *made = &linker->constants_hash;
	uint64_t at = constants->file_offset;

	for (size_t i = 0; i < linker->parts.count; i++) {
		const struct sk_file_part *part = &linker->parts.items[i];

		if (!is_of(part, constants))
			continue;
		hash_zeros(state, part->offset - at);
		XXH3_128bits_update(state, part->bytes, part->size);
		at = part->offset + part->size;
	}
	hash_zeros(state, constants->file_offset + constants->size - at);
	*made = (struct sk_constants_hash){.offset = constants->file_offset, .size = constants->size};
	finish_hash(state, made->hash);
}

/* Write XXH3-128 over the hash of the constants, all other parts of the file and their offsets, with a build-id of
 * zeros. */
void sk_build_id_write(struct sk_linker *linker)
{
	const struct sk_output *constants = find_constants(linker);
	uint8_t *id = write_note(linker);
	XXH3_state_t *state = XXH3_createState();

	if (!state)
		sk_out_of_memory();
	XXH3_128bits_reset(state);
	if (constants) {
		hash_constants(linker, constants, state);
		XXH3_128bits_update(state, &linker->constants_hash, sizeof(linker->constants_hash));
	}
	for (size_t i = 0; i < linker->parts.count; i++) {
		const struct sk_file_part *part = &linker->parts.items[i];

		if (is_of(part, constants))
			continue;
		XXH3_128bits_update(state, &part->offset, sizeof(part->offset));
		XXH3_128bits_update(state, &part->size, sizeof(part->size));
		XXH3_128bits_update(state, part->bytes, part->size);
	}
	finish_hash(state, id);
	XXH3_freeState(state);
}
