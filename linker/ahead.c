/* Reads inputs before they are added, in threads, while the caller does something else. Each thread has an arena and a
 * sink of its own. A file about which there is anything to say is read again when its turn comes, so messages come in
 * command-line order, and every result is the same with any number of threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "linker/internal.h"

enum { MOST_THREADS = 64 };

struct worker {
	struct sk_ahead *ahead;
	struct sk_arena *arena;
	pthread_t thread;
	bool started;
};

struct sk_ahead {
	bool keep_debug;
	const char *root;
	const char *const *paths;
	struct sk_reading *readings; /* by path */
	bool *usable;
	size_t count;
	atomic_size_t next; /* the first path that no thread has taken */
	struct sk_map numbers; /* by path */
	struct worker workers[MOST_THREADS]; /* the first is the calling thread */
	unsigned worker_count;
	bool finished;
};

static void *read_files(void *context)
{
	struct worker *worker = context;
	struct sk_ahead *ahead = worker->ahead;
	struct sk_diag diag;
	struct sk_reader reader = {
		.arena = worker->arena, .diag = &diag, .keep_debug = ahead->keep_debug, .root = ahead->root};

	sk_diag_init(&diag, worker->arena);
	for (size_t i; (i = atomic_fetch_add(&ahead->next, 1)) < ahead->count;) {
		struct sk_reading *reading = &ahead->readings[i];
		unsigned before = diag.errors + diag.warnings;
		bool ok = sk_reading_open(&reader, ahead->paths[i], reading) && sk_reading_finish(&reader, reading);

		ahead->usable[i] = ok && diag.errors + diag.warnings == before;
	}
	return NULL;
}

void sk_linker_read_ahead(struct sk_linker *linker, const char *const *paths, size_t count)
{
	unsigned threads = linker->options.threads;

	if (threads < 2 || !count)
		return;

	struct sk_ahead *ahead = SK_NEW(linker->arena, struct sk_ahead);

	ahead->keep_debug = linker->reader.keep_debug;
	ahead->root = linker->reader.root;
	ahead->paths = paths;
	ahead->count = count;
	ahead->readings = SK_NEW_ARRAY(linker->arena, struct sk_reading, count);
	ahead->usable = SK_NEW_ARRAY(linker->arena, bool, count);
	atomic_init(&ahead->next, 0);
	sk_map_init(&ahead->numbers, linker->arena);
	for (size_t i = 0; i < count; i++)
		sk_map_insert(&ahead->numbers, paths[i], strlen(paths[i]), (uint32_t)i);
	ahead->worker_count = threads < MOST_THREADS ? threads : MOST_THREADS;
	for (unsigned i = 0; i < ahead->worker_count; i++) {
		struct worker *worker = &ahead->workers[i];

		worker->ahead = ahead;
		worker->arena = sk_arena_create();
		/* Where no thread can be had, the others read more. */
		worker->started = i && !pthread_create(&worker->thread, NULL, read_files, worker);
	}
	linker->ahead = ahead;
}

static void finish(struct sk_ahead *ahead)
{
	if (ahead->finished)
		return;
	ahead->finished = true;
	read_files(&ahead->workers[0]);
	for (unsigned i = 1; i < ahead->worker_count; i++)
		if (ahead->workers[i].started)
			pthread_join(ahead->workers[i].thread, NULL);
}

/* Gives back what nobody has taken. */
static void forget(struct sk_reading *reading)
{
	for (size_t i = 0; i < reading->files.count; i++)
		if (reading->files.items[i].mapped)
			munmap((void *)reading->files.items[i].bytes, reading->files.items[i].size);
	reading->files.count = 0;
}

struct sk_reading *sk_ahead_take(struct sk_linker *linker, const char *path)
{
	struct sk_ahead *ahead = linker->ahead;
	uint32_t number = ahead ? sk_map_find(&ahead->numbers, path, strlen(path)) : SK_NONE;

	if (number == SK_NONE)
		return NULL;
	finish(ahead);
	return ahead->usable[number] ? &ahead->readings[number] : NULL;
}

void sk_ahead_destroy(struct sk_linker *linker)
{
	struct sk_ahead *ahead = linker->ahead;

	if (!ahead)
		return;
	/* Nobody wants the rest. */
	atomic_store(&ahead->next, ahead->count);
	finish(ahead);
	for (size_t i = 0; i < ahead->count; i++)
		forget(&ahead->readings[i]);
	for (unsigned i = 0; i < ahead->worker_count; i++)
		sk_arena_destroy(ahead->workers[i].arena);
}
