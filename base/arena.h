/* Memory that lives as long as one link: arenas, and the chunks that they are made of. */
#ifndef SK_BASE_ARENA_H
#define SK_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ==== arena.c ====
 *
 * Arena: memory that lives as long as one link and is freed with it. Hardly any of it is freed piece by piece. If the
 * system has no more memory, the process ends with a message: a linker cannot continue then, and callers need not check
 * for NULL. */

struct sk_arena;

/* End the process with a message in the program's name and exit status 1, because memory is exhausted. */
_Noreturn void sk_out_of_memory(void);

struct sk_arena *sk_arena_create(void);

/* Destroy the arena. Its memory is reused for later allocations of any arena. */
void sk_arena_destroy(struct sk_arena *arena);

/* Take over the contents of the other arena, which ceases to exist. */
void sk_arena_adopt(struct sk_arena *arena, struct sk_arena *other);

/* Free all allocations; the arena can be used again. */
void sk_arena_reset(struct sk_arena *arena);

/* Return zeroed memory, aligned to eight bytes. count * size is checked for overflow. */
void *sk_arena_alloc(struct sk_arena *arena, size_t count, size_t size);

#define SK_NEW(arena, type)		 ((type *)sk_arena_alloc((arena), 1, sizeof(type)))
#define SK_NEW_ARRAY(arena, type, count) ((type *)sk_arena_alloc((arena), (count), sizeof(type)))

/* Release memory of that size without remaining references. Small pieces stay allocated. */
void sk_arena_release(struct sk_arena *arena, void *memory, size_t size);

/* Return NUL-terminated copies. */
char *sk_arena_copy(struct sk_arena *arena, const char *text, size_t length);

/* Return a printable copy (base/text.h). */
char *sk_arena_escape(struct sk_arena *arena, const char *text);

/* Return the concatenation of the texts, much faster than by formatting. */
char *sk_arena_join(struct sk_arena *arena, const char *first, const char *second);
char *sk_arena_join_all(struct sk_arena *arena, const char *first, ...) __attribute__((sentinel)); /* up to NULL */
char *sk_arena_print(struct sk_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *sk_arena_print_list(struct sk_arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* A growable array in the arena: SK_ARRAY(struct sk_task) tasks; read as tasks.items[i], i < tasks.count. Growing moves
 * the items and may free the old ones, so keep indices, not pointers, across a push. If the caller has allocated the
 * items, the capacity is their number, or less. A new item is evaluated before the array changes. */
#define SK_ARRAY(type)                                                                                                 \
	struct {                                                                                                       \
		type *items;                                                                                           \
		size_t count;                                                                                          \
		size_t capacity;                                                                                       \
	}

/* The same with two thirds of the size, for many arrays: each has less than 2^31 items. */
#define SK_SMALL_ARRAY(type)                                                                                           \
	struct {                                                                                                       \
		type *items;                                                                                           \
		uint32_t count;                                                                                        \
		uint32_t capacity;                                                                                     \
	}

typedef SK_ARRAY(const char *) sk_texts;

#define sk_array_push(arena, array, ...)                                                                               \
	do {                                                                                                           \
		__typeof__(*(array)->items) sk_item = (__VA_ARGS__);                                                   \
                                                                                                                       \
		if ((array)->count >= (array)->capacity) {                                                             \
			size_t sk_capacity = (array)->capacity;                                                        \
                                                                                                                       \
			(array)->items = sk_array_reserve((arena), (array)->items, (array)->count, &sk_capacity,       \
							  sizeof(*(array)->items));                                    \
			(array)->capacity = (__typeof__((array)->capacity))sk_capacity;                                \
		}                                                                                                      \
		(array)->items[(array)->count++] = sk_item;                                                            \
	} while (0)

/* Make room for one more item; return the array, perhaps moved. For sk_array_push only. */
void *sk_array_reserve(struct sk_arena *arena, void *items, size_t count, size_t *capacity, size_t size);

/* ==== chunks.c ====
 *
 * Chunks: the large pieces of memory that arenas are made of, on huge pages if the system has some. A chunk that an
 * arena releases is reused by the next arena, in any thread: the system need not zero its pages again, and private
 * memory of a phase does not add to that of the next. Chunks are never returned to the system before the process
 * ends. */

enum { SK_HUGE_PAGE = 2 << 20, SK_CHUNK = SK_HUGE_PAGE };

struct sk_chunk {
	struct sk_chunk *next;
	char *data;
	size_t size;
	size_t used; /* bytes handed out */
	size_t clean; /* zero from `used` to here */
	size_t dirty; /* also zero from here on; bytes between have been allocated before */
	bool mapped; /* its size is SK_CHUNK, and it can be reused as a chunk */
};

/* Return zeroed address space, aligned to huge pages. The size is a multiple of the largest page size except huge
 * pages. Parts that are whole huge pages use them, if the system has some. NULL: no memory. */
void *sk_map_huge(size_t size);

/* Release memory of sk_map_huge: its whole chunks are reused, the rest is unmapped. */
void sk_unmap_huge(void *data, size_t size);

/* Return unused pages of that size to the system, in exchange for pages that are about to be mapped. */
void sk_chunks_empty(size_t size);

/* Return a used chunk, if there is one, with nothing allocated. NULL: no memory. */
struct sk_chunk *sk_chunk_take(void);
void sk_chunk_give(struct sk_chunk *chunk);

#endif
