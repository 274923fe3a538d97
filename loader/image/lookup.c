/* Lookups in a mapped package: bytes by address, symbols by name. All values in the package are checked against its
 * segments. */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "loader/image/image.h"

static bool is_within(const struct sk_image_segment *segment, uint64_t address, uint64_t size)
{
	uint64_t within = address - segment->address;

	return address >= segment->address && within <= segment->size && size <= segment->size - within;
}

void *sk_image_memory(const struct sk_image *image, uint64_t address, uint64_t size, uint64_t alignment, int protection)
{
	if (address & (alignment - 1))
		return NULL;
	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_image_segment *segment = &image->segments[i];

		if (is_within(segment, address, size))
			return (segment->protection & protection) == protection ? (void *)(image->bias + address)
										: NULL;
	}
	return NULL;
}

bool sk_image_holds(const struct sk_image *image, const void *address, uint64_t size, int protection)
{
	return sk_image_memory(image, (uintptr_t)address - image->bias, size, 1, protection) != NULL ||
	       (protection == PROT_READ && image->weights.size &&
		is_within(&image->weights, (uintptr_t)address - image->bias, size));
}

const Elf64_Sym *sk_image_symbol(const struct sk_image *image, uint64_t index, const char **name)
{
	if (index >= image->symbol_limit || image->symbols[index].st_name >= image->strings_size)
		return NULL;
	*name = image->strings + image->symbols[index].st_name;
	return &image->symbols[index];
}

const void *sk_image_symbol_address(const struct sk_image *image, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
		return NULL;
	return sk_image_memory(image, symbol->st_value, symbol->st_size, 1, PROT_READ);
}

static const Elf64_Sym *match(const struct sk_image *image, uint64_t index, const char *name)
{
	const char *found;
	const Elf64_Sym *symbol = sk_image_symbol(image, index, &found);

	return symbol && symbol->st_shndx != SHN_UNDEF && !strcmp(found, name) ? symbol : NULL;
}

/* Search the GNU hash table: buckets, symoffset, bloom words, shift; the bloom filter (64-bit words); the buckets; for
 * each symbol from symoffset on its hash, the lowest bit of which ends the bucket's chain. */
static const Elf64_Sym *find_gnu(const struct sk_image *image, const char *name)
{
	const uint32_t *table = image->gnu_hash;
	uint64_t buckets = table[0], first = table[1], bloom = table[2];
	uint64_t bucket_at = 4 + bloom * 2, chain_at = bucket_at + buckets;
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (buckets == 0 || chain_at > image->gnu_hash_words)
		return NULL;
	uint64_t index = table[bucket_at + hash % buckets];
	if (index < first)
		return NULL;
	for (uint64_t word = chain_at + index - first; word < image->gnu_hash_words; word++, index++) {
		if ((table[word] | 1) == (hash | 1)) {
			const Elf64_Sym *symbol = match(image, index, name);

			if (symbol)
				return symbol;
		}
		if (table[word] & 1)
			break;
	}
	return NULL;
}

/* Search the System V hash table: buckets, chain length, the buckets, the chains. */
static const Elf64_Sym *find_sysv(const struct sk_image *image, const char *name)
{
	const uint32_t *table = image->hash;
	uint64_t buckets = table[0], chains = table[1];
	uint32_t hash = 0;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	if (buckets == 0 || 2 + buckets + chains > image->hash_words)
		return NULL;
	uint64_t index = table[2 + hash % buckets];
	/* A circular chain ends after as many steps as there are symbols. */
	for (uint64_t steps = 0; index != STN_UNDEF && index < chains && steps < chains; steps++) {
		const Elf64_Sym *symbol = match(image, index, name);

		if (symbol)
			return symbol;
		index = table[2 + buckets + index];
	}
	return NULL;
}

const void *sk_image_find(const struct sk_image *image, const char *name, uint64_t *size)
{
	const Elf64_Sym *symbol = image->gnu_hash ? find_gnu(image, name) : find_sysv(image, name);

	if (!symbol)
		return NULL;
	*size = symbol->st_size;
	return sk_image_symbol_address(image, symbol);
}

const char *sk_image_unused(const struct sk_image *image, uint64_t *size)
{
	const char *names = sk_image_find(image, "sk.unused", size);

	if (names && *size && sk_image_holds(image, names, *size, PROT_READ) && !names[*size - 1])
		return names;
	*size = 0;
	return NULL;
}
