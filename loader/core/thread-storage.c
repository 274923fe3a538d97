/* Blocks of thread-local storage: the packages that have some, and each thread's blocks for them (core.h). A thread has
 * a table, indexed by the packages' numbers, which only that thread reads and writes. */
#include "config.h"

#include "loader/core/core.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "loader/arch/machine.h"

/* A thread's block for a number. */
struct block {
	char *memory;
	void *allocated; /* NULL: it is a static one */
	uint64_t generation; /* of the owner that the block was made for */
};

/* It uses the model initial-exec, so that lookups by package code are fast, and since static blocks are found by it. */
static _Thread_local struct {
	struct block *blocks; /* by number */
	uint64_t count;
} of_thread __attribute__((tls_model("initial-exec")));
static _Thread_local char static_blocks[SK_STATIC_STORAGE]
	__attribute__((tls_model("initial-exec"), aligned(SK_STATIC_STORAGE_ALIGNMENT)));

/* ---- packages ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct owner {
	bool taken;
	size_t place, static_size; /* among static blocks */
} * owners; /* by number; 0 is not assigned */
static uint64_t owner_count, generations;

/* Return a free number; 0: no memory. */
static uint64_t find_number(void)
{
	for (uint64_t i = 1; i < owner_count; i++)
		if (!owners[i].taken)
			return i;

	uint64_t fresh = owner_count ? owner_count : 1, count = 2 * fresh;
	struct owner *larger = realloc(owners, count * sizeof(*larger));

	if (!larger)
		return 0;
	memset(larger + owner_count, 0, (count - owner_count) * sizeof(*larger));
	owners = larger;
	owner_count = count;
	return fresh;
}

static bool is_free(size_t place, size_t size)
{
	if (place > SK_STATIC_STORAGE || size > SK_STATIC_STORAGE - place)
		return false;
	for (uint64_t i = 1; i < owner_count; i++)
		if (owners[i].place < place + size && place < owners[i].place + owners[i].static_size)
			return false;
	return true;
}

/* Find the lowest free place: 0, or the end of another one's. False: there is none; *room is the number
 * of unassigned bytes. */
static bool find_place(struct sk_thread_storage *storage, size_t *room)
{
	size_t alignment = storage->alignment, best = SIZE_MAX;

	*room = SK_STATIC_STORAGE;
	for (uint64_t i = 0; i < owner_count || !i; i++) {
		size_t end = i ? owners[i].place + owners[i].static_size : 0;
		size_t place = (end + alignment - 1) & ~(alignment - 1);

		*room -= i ? owners[i].static_size : 0;
		if (place < best && is_free(place, storage->size))
			best = place;
	}
	storage->place = best;
	return best != SIZE_MAX && alignment <= SK_STATIC_STORAGE_ALIGNMENT;
}

bool sk_thread_storage_open(struct sk_thread_storage *storage, size_t *room)
{
	pthread_mutex_lock(&lock);
	storage->number = 0;
	if (!storage->is_static || find_place(storage, room)) {
		*room = SIZE_MAX;
		storage->number = find_number();
	}
	storage->generation = ++generations;
	if (storage->number)
		owners[storage->number] = (struct owner){true, storage->place, storage->is_static ? storage->size : 0};
	pthread_mutex_unlock(&lock);
	return storage->number;
}

void sk_thread_storage_close(struct sk_thread_storage *storage)
{
	if (!storage->number)
		return;
	pthread_mutex_lock(&lock);
	owners[storage->number] = (struct owner){0};
	pthread_mutex_unlock(&lock);
	storage->number = 0;
}

uint64_t sk_thread_storage_distance(const struct sk_thread_storage *storage)
{
	return (uintptr_t)static_blocks + storage->place - sk_thread_pointer();
}

uint64_t sk_errno_distance(void)
{
	return (uintptr_t)&errno - sk_thread_pointer();
}

/* ---- threads ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t table;

static void free_table(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < of_thread.count; i++)
		free(of_thread.blocks[i].allocated);
	free(of_thread.blocks);
	of_thread.blocks = NULL;
	of_thread.count = 0;
}

static void make_key(void)
{
	pthread_key_create(&table, free_table);
}

/* Make sure that the thread's table has a row for the number. */
static bool has_row(uint64_t number)
{
	if (number < of_thread.count)
		return true;

	uint64_t count = number + 8;
	struct block *larger = realloc(of_thread.blocks, count * sizeof(*larger));

	if (!larger)
		return false;
	memset(larger + of_thread.count, 0, (count - of_thread.count) * sizeof(*larger));
	of_thread.blocks = larger;
	of_thread.count = count;
	pthread_once(&once, make_key);
	return !pthread_setspecific(table, larger);
}

/* Round up to a multiple of the alignment, as aligned_alloc requires. */
static void *allocate(const struct sk_thread_storage *storage)
{
	size_t alignment = storage->alignment < sizeof(void *) ? sizeof(void *) : storage->alignment;
	size_t size = (storage->size + alignment - 1) & ~(alignment - 1);

	return aligned_alloc(alignment, size ? size : alignment);
}

bool sk_thread_storage_enter(const struct sk_thread_storage *storage)
{
	if (!storage->number)
		return true;
	if (!has_row(storage->number))
		return false;

	struct block *block = &of_thread.blocks[storage->number];

	if (block->generation == storage->generation)
		return true;
	free(block->allocated);
	*block = (struct block){0};
	if (storage->is_static)
		block->memory = static_blocks + storage->place;
	else
		block->memory = block->allocated = allocate(storage);
	if (!block->memory)
		return false;
	block->generation = storage->generation;
	sk_thread_storage_renew(storage);
	return true;
}

void sk_thread_storage_renew(const struct sk_thread_storage *storage)
{
	if (!storage->number)
		return;

	char *memory = of_thread.blocks[storage->number].memory;

	if (storage->filled)
		memcpy(memory, storage->image, storage->filled);
	memset(memory + storage->filled, 0, storage->size - storage->filled);
}

void *sk_thread_storage_find(const struct sk_thread_address *address)
{
	/* Without a number the variable does not exist, and the offset is the address of its guard. */
	if (!address->number)
		return (void *)(uintptr_t)address->offset;
	return of_thread.blocks[address->number].memory + address->offset;
}
