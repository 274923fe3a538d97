/* Arenas: lists of blocks that only grow; see arena.h. Large arenas are made of chunks. */
#include "config.h"

#include "base/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/text.h"

/* Under AddressSanitizer, unallocated memory is poisoned, with a gap after each allocation. It therefore detects
 * overruns of single allocations, not only of blocks. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size)
#define ASAN_UNPOISON_MEMORY_REGION(address, size)
enum { GAP = 0 };
#endif

/* An arena begins with memory from malloc, since most links are small. From SMALL_ARENA bytes on it takes chunks:
 * zeroing memory page by page would otherwise be a third of a large link. */
enum {
	ALIGNMENT = 8,
	SMALL_BLOCK = 64 << 10,
	SMALL_ARENA = 512 << 10,
	PAGE = 64 << 10, /* the largest page size of systems, except huge pages */
	OWN_BLOCK = 32 << 10, /* larger requests get a block of their own */
	MAPPED_BLOCK = SK_CHUNK - PAGE, /* and still larger ones a mapped block */
	CLEANED = 64 << 10, /* bytes of reused memory that are zeroed at a time for small requests */
};

/* The source of an own block's memory. */
enum origin { FROM_MALLOC, FROM_BLOCK, FROM_SYSTEM };

/* A block for one request. It can be released, so growing arrays leave no garbage. A large one is mapped on huge pages
 * of its own (the last pages are small), and is not copied when it grows. */
struct own_block {
	struct own_block *next;
	struct own_block *previous; /* unless it is part of a block */
	size_t size; /* including this header */
	enum origin origin;
	_Alignas(16) char data[];
};

struct sk_arena {
	struct sk_chunk *blocks; /* requests are served from the first one; others may also have room */
	size_t taken; /* bytes from malloc */
	struct own_block *own; /* those that are not part of a block, in no order */
	struct own_block *unused; /* released parts of blocks, in no order */
};

_Noreturn void sk_out_of_memory(void)
{
	fprintf(stderr, "%s: fatal: out of memory\n", program_invocation_short_name);
	sk_unfinished_unlink();
	_Exit(1);
}

static void *or_die(void *memory)
{
	if (!memory)
		sk_out_of_memory();
	return memory;
}

static void *allocate_or_die(size_t size)
{
	return or_die(calloc(1, size));
}

struct sk_arena *sk_arena_create(void)
{
	return allocate_or_die(sizeof(struct sk_arena));
}

static void link_own(struct sk_arena *arena, struct own_block *block)
{
	block->previous = NULL;
	block->next = arena->own;
	if (block->next)
		block->next->previous = block;
	arena->own = block;
}

static void unlink_own(struct sk_arena *arena, struct own_block *block)
{
	if (block->next)
		block->next->previous = block->previous;
	if (block->previous)
		block->previous->next = block->next;
	else
		arena->own = block->next;
}

static void free_blocks(struct sk_chunk *block)
{
	for (struct sk_chunk *next; block; block = next) {
		next = block->next;
		if (block->mapped) {
			ASAN_POISON_MEMORY_REGION(block->data, block->size);
			sk_chunk_give(block);
			continue;
		}
		ASAN_UNPOISON_MEMORY_REGION(block->data, block->size);
		free(block->data);
		free(block);
	}
}

static void free_own_block(struct own_block *block)
{
	size_t size = block->size;

	if (block->origin != FROM_SYSTEM) {
		free(block);
		return;
	}
	ASAN_POISON_MEMORY_REGION(block, size - size % SK_CHUNK);
	sk_unmap_huge(block, size);
}

static void free_own_blocks(struct own_block *block)
{
	for (struct own_block *next; block; block = next) {
		next = block->next;
		free_own_block(block);
	}
}

void sk_arena_destroy(struct sk_arena *arena)
{
	if (!arena)
		return;
	free_blocks(arena->blocks);
	free_own_blocks(arena->own);
	free(arena);
}

void sk_arena_adopt(struct sk_arena *arena, struct sk_arena *other)
{
	struct sk_chunk **last = &arena->blocks;

	while (*last) /* after the block that serves requests */
		last = &(*last)->next;
	*last = other->blocks;
	arena->taken += other->taken;
	while (other->own) {
		struct own_block *block = other->own;

		unlink_own(other, block);
		link_own(arena, block);
	}
	while (other->unused) {
		struct own_block *block = other->unused;

		other->unused = block->next;
		block->next = arena->unused;
		arena->unused = block;
	}
	free(other);
}

static void empty_block(struct sk_chunk *block)
{
	block->dirty = block->used > block->dirty ? block->used : block->dirty;
	block->used = block->clean = 0;
	ASAN_POISON_MEMORY_REGION(block->data, block->size);
}

/* The block that serves requests stays. */
void sk_arena_reset(struct sk_arena *arena)
{
	struct sk_chunk *block = arena->blocks;

	free_own_blocks(arena->own);
	arena->own = arena->unused = NULL;
	arena->taken = 0;
	if (!block)
		return;
	free_blocks(block->next);
	block->next = NULL;
	empty_block(block);
}

/* ---- blocks for many requests ---- */

static bool is_large(const struct sk_arena *arena)
{
	return arena->taken >= SMALL_ARENA;
}

static struct sk_chunk *new_small_block(struct sk_arena *arena)
{
	struct sk_chunk *block = allocate_or_die(sizeof(*block));

	block->data = allocate_or_die(SMALL_BLOCK);
	block->size = block->clean = SMALL_BLOCK;
	arena->taken += SMALL_BLOCK;
	return block;
}

static struct sk_chunk *add_block(struct sk_arena *arena)
{
	struct sk_chunk *block = is_large(arena) ? or_die(sk_chunk_take()) : new_small_block(arena);

	ASAN_POISON_MEMORY_REGION(block->data, block->size);
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

static size_t round_up(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* Return the start of the next request of that size in the block; SIZE_MAX: it does not fit. */
static size_t start_in(const struct sk_chunk *block, size_t size, size_t alignment)
{
	size_t start = (block->used + alignment - 1) & ~(alignment - 1);

	return start > block->size || size + GAP > block->size - start ? SIZE_MAX : start;
}

/* Make a block with room for the request the first one. */
static struct sk_chunk *change_block(struct sk_arena *arena, size_t size, size_t alignment)
{
	for (struct sk_chunk **link = &arena->blocks; *link; link = &(*link)->next) {
		struct sk_chunk *block = *link;

		if (!block->mapped || start_in(block, size, alignment) == SIZE_MAX)
			continue;
		*link = block->next;
		block->next = arena->blocks;
		return arena->blocks = block;
	}
	return add_block(arena);
}

/* Zero the memory from `start` to the used end, and some more for later requests. */
static void clean(struct sk_chunk *block, size_t start)
{
	size_t end = block->used + CLEANED < block->dirty ? block->used + CLEANED : block->dirty;

	if (start < block->clean)
		start = block->clean;
	if (start < end) {
		ASAN_UNPOISON_MEMORY_REGION(block->data + start, end - start);
		memset(block->data + start, 0, end - start);
		ASAN_POISON_MEMORY_REGION(block->data + start, end - start);
	}
	block->clean = end < block->dirty ? end : block->size;
}

/* Return memory from the current block, or from another one: up to OWN_BLOCK, or in a large arena up to MAPPED_BLOCK.
 * The caller fills the first `filled` bytes, which need not be zeroed. */
static void *take_memory(struct sk_arena *arena, size_t size, size_t alignment, size_t filled)
{
	struct sk_chunk *block = arena->blocks;
	size_t start = block ? start_in(block, size, alignment) : SIZE_MAX;

	if (start == SIZE_MAX) {
		block = change_block(arena, size, alignment);
		start = start_in(block, size, alignment);
	}
	block->used = round_up(start + size + GAP);
	if (block->used > block->clean)
		clean(block, start + filled);
	ASAN_UNPOISON_MEMORY_REGION(block->data + start, size);
	return block->data + start;
}

/* ---- blocks for one request ---- */

static struct own_block *own_block_of(void *memory)
{
	return (struct own_block *)((char *)memory - offsetof(struct own_block, data));
}

/* Return the size with its header; size is at most SIZE_MAX / 2. */
static size_t mapped_size(size_t size)
{
	return (sizeof(struct own_block) + size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Reuse a released block that is not much too large, zeroed after the bytes that the caller fills; NULL: there is
 * none. */
static struct own_block *reuse(struct sk_arena *arena, size_t size, size_t filled)
{
	for (struct own_block **link = &arena->unused; *link; link = &(*link)->next) {
		struct own_block *block = *link;

		if (block->size < size || block->size / 2 > size)
			continue;
		*link = block->next;
		ASAN_UNPOISON_MEMORY_REGION(block->data, size - sizeof(*block));
		memset(block->data + filled, 0, size - sizeof(*block) - filled);
		return block;
	}
	return NULL;
}

static void *allocate_own(struct sk_arena *arena, size_t asked, size_t filled)
{
	size_t size = sizeof(struct own_block) + asked;
	struct own_block *block;

	if (size >= MAPPED_BLOCK) {
		size = mapped_size(asked);
		sk_chunks_empty(size);
		block = or_die(sk_map_huge(size));
		block->origin = FROM_SYSTEM;
	} else if (is_large(arena)) {
		block = reuse(arena, size, filled);
		if (block)
			return block->data;
		block = take_memory(arena, size, _Alignof(struct own_block), sizeof(*block) + filled);
		block->origin = FROM_BLOCK;
	} else {
		block = allocate_or_die(size);
		block->origin = FROM_MALLOC;
		arena->taken += size;
	}
	block->size = size;
	if (block->origin != FROM_BLOCK)
		link_own(arena, block);
	return block->data;
}

/* Move the pages to a place with room after them. New memory is zeroed. */
static void *extend(struct sk_arena *arena, struct own_block *block, size_t asked)
{
	size_t size = mapped_size(asked);

	if (size <= block->size)
		return block->data;

	void *place = or_die(sk_map_huge(size));

	sk_chunks_empty(size - block->size);
	unlink_own(arena, block);
	block = mremap(block, block->size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	if (block == MAP_FAILED)
		sk_out_of_memory();
	block->size = size;
	link_own(arena, block);
	return block->data;
}

void sk_arena_release(struct sk_arena *arena, void *memory, size_t size)
{
	if (size < OWN_BLOCK)
		return;

	struct own_block *block = own_block_of(memory);

	if (block->origin == FROM_BLOCK) {
		ASAN_POISON_MEMORY_REGION(block->data, block->size - sizeof(*block));
		block->next = arena->unused;
		arena->unused = block;
	} else {
		unlink_own(arena, block);
		free_own_block(block);
	}
}

/* ---- requests ---- */

/* `filled` is as in take. Nearly all requests end in the first part of this function. */
static void *allocate(struct sk_arena *arena, size_t count, size_t size, size_t filled)
{
	struct sk_chunk *block = arena->blocks;
	size_t asked;

	if (__builtin_mul_overflow(count, size, &asked) || asked > SIZE_MAX / 2)
		sk_out_of_memory();
	if (asked < OWN_BLOCK && block && block->used + OWN_BLOCK + GAP <= block->clean) {
		char *memory = block->data + block->used;

		block->used += round_up(asked + GAP);
		ASAN_UNPOISON_MEMORY_REGION(memory, asked);
		return memory;
	}
	return asked < OWN_BLOCK ? take_memory(arena, asked, ALIGNMENT, filled) : allocate_own(arena, asked, filled);
}

void *sk_arena_alloc(struct sk_arena *arena, size_t count, size_t size)
{
	return allocate(arena, count, size, 0);
}

char *sk_arena_copy(struct sk_arena *arena, const char *text, size_t length)
{
	char *copy = allocate(arena, length + 1, 1, length);

	if (length) /* otherwise `text` may be NULL */
		memcpy(copy, text, length);
	return copy;
}

char *sk_arena_join(struct sk_arena *arena, const char *first, const char *second)
{
	size_t length = strlen(first), size = strlen(second) + 1;
	char *text = sk_arena_alloc(arena, length + size, 1);

	memcpy(text, first, length);
	memcpy(text + length, second, size);
	return text;
}

char *sk_arena_join_all(struct sk_arena *arena, const char *first, ...)
{
	size_t size = 1;
	char *text, *end;
	va_list texts;

	va_start(texts, first);
	for (const char *next = first; next; next = va_arg(texts, const char *))
		size += strlen(next);
	va_end(texts);
	text = end = sk_arena_alloc(arena, size, 1);
	va_start(texts, first);
	for (const char *next = first; next; next = va_arg(texts, const char *))
		end = stpcpy(end, next);
	va_end(texts);
	return text;
}

char *sk_arena_escape(struct sk_arena *arena, const char *text)
{
	size_t size = sk_escape(NULL, 0, text) + 1;
	char *escaped = sk_arena_alloc(arena, size, 1);

	sk_escape(escaped, size, text);
	return escaped;
}

char *sk_arena_print_list(struct sk_arena *arena, const char *format, va_list args)
{
	char most[256]; /* most texts fit, and so are formatted once */
	va_list again;

	va_copy(again, args);
	size_t length = (size_t)vsnprintf(most, sizeof(most), format, args);

	if (length < sizeof(most)) {
		va_end(again);
		return sk_arena_copy(arena, most, length);
	}
	char *text = sk_arena_alloc(arena, length + 1, 1);

	vsnprintf(text, length + 1, format, again);
	va_end(again);
	return text;
}

char *sk_arena_print(struct sk_arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = sk_arena_print_list(arena, format, args);

	va_end(args);
	return text;
}

void *sk_array_reserve(struct sk_arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;

	size_t old = *capacity * size; /* it has been allocated: no overflow */

	*capacity = *capacity ? *capacity * 2 : 4;
	if (*capacity > SIZE_MAX / 2 / size)
		sk_out_of_memory();
	if (old >= OWN_BLOCK && own_block_of(items)->origin == FROM_SYSTEM)
		return extend(arena, own_block_of(items), *capacity * size);

	void *grown = allocate(arena, *capacity, size, count * size);

	if (count)
		memcpy(grown, items, count * size);
	sk_arena_release(arena, items, old);
	return grown;
}
