/* Arena: a list of blocks that only grows; see arena.h for the contract. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer, what has not been handed out is poisoned, and a gap stays behind what has been: so it sees
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

enum { BLOCK_SIZE = 64 * 1024, ALIGNMENT = 16 };

struct block {
	struct block *next;
	size_t used; /* bytes of data handed out */
	size_t size; /* bytes of data */
	_Alignas(ALIGNMENT) char data[];
};

struct sk_arena {
	struct block *blocks; /* the first is the one that small requests come from */
};

static _Noreturn void out_of_memory(void)
{
	fputs("sklink: fatal: out of memory\n", stderr);
	_Exit(1);
}

static void *allocate_or_die(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		out_of_memory();
	return memory;
}

struct sk_arena *sk_arena_create(void)
{
	return allocate_or_die(sizeof(struct sk_arena));
}

void sk_arena_destroy(struct sk_arena *arena)
{
	if (!arena)
		return;
	for (struct block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(arena);
}

void *sk_arena_alloc(struct sk_arena *arena, size_t count, size_t size)
{
	size_t asked, bytes;

	if (__builtin_mul_overflow(count, size, &asked) || asked > SIZE_MAX / 2)
		out_of_memory();
	bytes = ((asked + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + GAP;

	struct block *block = arena->blocks;

	if (!block || bytes > block->size - block->used) {
		size_t wanted = bytes > BLOCK_SIZE / 4 ? bytes : BLOCK_SIZE;

		block = allocate_or_die(sizeof(*block) + wanted);
		block->size = wanted;
		ASAN_POISON_MEMORY_REGION(block->data, wanted);
		/* A large request gets a block of its own behind the current one, which stays in use. */
		if (wanted != BLOCK_SIZE && arena->blocks) {
			block->next = arena->blocks->next;
			arena->blocks->next = block;
		} else {
			block->next = arena->blocks;
			arena->blocks = block;
		}
	}
	void *memory = block->data + block->used;

	block->used += bytes;
	ASAN_UNPOISON_MEMORY_REGION(memory, asked);
	return memory;
}

char *sk_arena_copy(struct sk_arena *arena, const char *text, size_t length)
{
	char *copy = sk_arena_alloc(arena, length + 1, 1);

	memcpy(copy, text, length);
	return copy;
}

char *sk_arena_print_list(struct sk_arena *arena, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, again);

	va_end(again);
	char *text = sk_arena_alloc(arena, (size_t)length + 1, 1);

	vsnprintf(text, (size_t)length + 1, format, args);
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
	*capacity = *capacity ? *capacity * 2 : 8;

	void *grown = sk_arena_alloc(arena, *capacity, size);

	if (count)
		memcpy(grown, items, count * size);
	return grown;
}
