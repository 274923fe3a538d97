/* Memory that lives as long as one link: arenas, and the chunks that they are made of. */
#ifndef SK_BASE_ARENA_H
#define SK_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ==== arena.c ====
 *
 * Arena: memory that lives as long as one link and is freed with it. Next to nothing is freed one by one. When the
 * system has no more memory the process ends with a message: a linker cannot go on then, and no caller has to check for
 * NULL. */

struct sk_arena;

/* Ends the process with a message in the program's name and exit status 1. For all that cannot go on without memory. */
_Noreturn void sk_out_of_memory(void);

struct sk_arena *sk_arena_create(void);

/* What it holds is for what is allocated next, in any arena (arena.h). */
void sk_arena_destroy(struct sk_arena *arena);

/* What the other arena holds is this one's from now on; the other arena itself is gone. */
void sk_arena_adopt(struct sk_arena *arena, struct sk_arena *other);

/* All that was allocated goes; the arena can be used again. */
void sk_arena_reset(struct sk_arena *arena);

/* Zeroed memory, aligned to eight bytes. count * size is checked for overflow. */
void *sk_arena_alloc(struct sk_arena *arena, size_t count, size_t size);

#define SK_NEW(arena, type)		 ((type *)sk_arena_alloc((arena), 1, sizeof(type)))
#define SK_NEW_ARRAY(arena, type, count) ((type *)sk_arena_alloc((arena), (count), sizeof(type)))

/* Gives back memory of that many bytes that nobody refers to any more. Small pieces stay where they are. */
void sk_arena_release(struct sk_arena *arena, void *memory, size_t size);

/* NUL-terminated copies. */
char *sk_arena_copy(struct sk_arena *arena, const char *text, size_t length);

/* A copy as people may see it (base/text.h). */
char *sk_arena_escape(struct sk_arena *arena, const char *text);

/* The texts one behind the other. Formatting takes many times as long. */
char *sk_arena_join(struct sk_arena *arena, const char *first, const char *second);
char *sk_arena_join_all(struct sk_arena *arena, const char *first, ...) __attribute__((sentinel)); /* up to NULL */
char *sk_arena_print(struct sk_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *sk_arena_print_list(struct sk_arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* A growable array in the arena: SK_ARRAY(struct sk_task) tasks; read as tasks.items[i], i < tasks.count. Growing moves
 * the items and may free the old ones, so keep indices, not pointers, across a push. An array whose items the caller
 * has allocated himself has their number as its capacity, or less. A new item is evaluated before the array changes. */
#define SK_ARRAY(type)                                                                                                 \
	struct {                                                                                                       \
		type *items;                                                                                           \
		size_t count;                                                                                          \
		size_t capacity;                                                                                       \
	}

/* The same, two thirds as large itself, for what there are many arrays of: each has less than 2^31 items. */
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

/* Room for one more item; returns the array, perhaps moved. For sk_array_push only. */
void *sk_array_reserve(struct sk_arena *arena, void *items, size_t count, size_t *capacity, size_t size);

/* ==== chunks.c ====
 *
 * Chunks: the large pieces of memory that arenas are made of, on huge pages where the system has some. A chunk that one
 * arena gives back is the next one's, whichever thread it is in: its pages need not be zeroed by the system again, and
 * what a phase of a link needs for itself alone is not added to what the next one needs. So none goes back to the
 * system before the process ends. */

enum { SK_HUGE_PAGE = 2 << 20, SK_CHUNK = SK_HUGE_PAGE };

struct sk_chunk {
	struct sk_chunk *next;
	char *data;
	size_t size;
	size_t used; /* bytes handed out */
	size_t clean; /* from `used` to here it holds zeros */
	size_t dirty; /* from here on it does, too; what is between has been handed out before */
	bool mapped; /* it is SK_CHUNK bytes large, and goes back to where it is from */
};

/* Zeroed address space of that size, a multiple of the largest page but huge ones, aligned to huge pages. Where it has
 * room for a whole one there is one, if the system has some. NULL: there is no memory. */
void *sk_map_huge(size_t size);

/* The same, unless it is much less than a huge page: what is between its beginning and its end is for chunks. */
void sk_unmap_huge(void *data, size_t size);

/* Pages of that size go back to the system, if nobody uses them: those that are about to be mapped take their place. */
void sk_chunks_empty(size_t size);

/* One that has been used before, if there is one. Nothing of it is handed out. NULL: there is no memory. */
struct sk_chunk *sk_chunk_take(void);
void sk_chunk_give(struct sk_chunk *chunk);

#endif
