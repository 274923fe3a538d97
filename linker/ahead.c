/* Reads inputs before they are added, in threads, while the caller does something else. Each thread has its own arena
 * and sink. Files are taken one by one, then the members of large archives in batches, so that the threads finish at
 * about the same time. Members that will take part, or probably will, are also loaded. A file with errors or warnings
 * is read again when its turn comes. Messages therefore come in command-line order, and every result is the same with
 * any number of threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

enum { MOST_THREADS = 64, MEMBERS = 64 /* members that a thread takes at a time */ };

struct helper {
	struct sk_ahead *ahead;
	struct sk_arena *arena;
	struct sk_beside beside;
};

/* A file that is read. */
struct ahead_file {
	struct sk_reading reading;
	atomic_bool usable; /* no error or warning so far */
	atomic_bool listed; /* it has been read, except for members of an archive */
};

/* An archive with members that threads may take. */
struct ahead_archive {
	struct ahead_archive *next; /* in any order */
	struct ahead_file *file;
	atomic_size_t next_member; /* the first one that no thread has taken */
};

struct sk_ahead {
	bool keep_debug;
	const char *root;
	const struct sk_ahead_path *paths;
	struct ahead_file *files; /* by path */
	size_t count;
	atomic_size_t next; /* the first path that no thread has taken */
	size_t taken; /* number of paths taken */
	struct sk_reader reader; /* of the calling thread */
	struct sk_diag diag; /* the thread's sink */
	struct helper helpers[MOST_THREADS]; /* the first is the calling thread */
	unsigned helper_count;
	bool finished;
	atomic_bool awaited; /* the calling thread has nothing else to do */

	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t changed;
	int listing; /* threads that take files */
	struct ahead_archive *archives, **last_archive;
};

static unsigned messages(const struct sk_reader *reader)
{
	return reader->diag->errors + reader->diag->warnings;
}

static void announce(struct sk_ahead *ahead, struct sk_arena *arena, struct ahead_file *file)
{
	struct ahead_archive *archive = SK_NEW(arena, struct ahead_archive);

	archive->file = file;
	atomic_init(&archive->next_member, 0);
	pthread_mutex_lock(&ahead->lock);
	*ahead->last_archive = archive;
	ahead->last_archive = &archive->next;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

static void change_listing(struct sk_ahead *ahead, int change)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->listing += change;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

/* Read the next file. Return false if all files have been taken. */
static bool list_file(struct sk_ahead *ahead, struct sk_reader *reader)
{
	size_t number = atomic_fetch_add(&ahead->next, 1);
	unsigned before = messages(reader);
	struct ahead_file *file;
	bool ok;

	if (number >= ahead->count)
		return false;
	file = &ahead->files[number];
	ok = sk_reading_open_and_list(reader, ahead->paths[number].path, &file->reading);
	atomic_store(&file->usable, ok && messages(reader) == before);
	if (file->reading.contents)
		announce(ahead, reader->arena, file);
	atomic_store(&file->listed, true);
	return true;
}

/* Wait for the archive that `link` leads to. Return NULL if all files have been listed and no archive is left. */
static struct ahead_archive *wait_for_archive(struct sk_ahead *ahead, struct ahead_archive *const *link)
{
	struct ahead_archive *archive;

	pthread_mutex_lock(&ahead->lock);
	while (!*link && ahead->listing)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	archive = *link;
	pthread_mutex_unlock(&ahead->lock);
	return archive;
}

/* Return whether to load the object as well: every member of an archive that is wanted as a whole; and while no thread
 * waits, members with kernels, which tasks probably call. */
static bool will_take_part(struct sk_ahead *ahead, const struct ahead_file *file, const struct sk_object *object)
{
	return object &&
	       (ahead->paths[file - ahead->files].whole || (object->kernel_records && !atomic_load(&ahead->awaited)));
}

static bool open_some(struct sk_ahead *ahead, struct sk_reader *reader, struct ahead_file *file, size_t first,
		      size_t end)
{
	bool ok = sk_reading_open_members(reader, &file->reading, first, end);

	for (size_t i = first; ok && i < end; i++) {
		struct sk_object *object = file->reading.contents->members.items[i].object;

		ok = !will_take_part(ahead, file, object) || sk_object_load(reader, object);
	}
	return ok;
}

static void open_members(struct sk_ahead *ahead, struct sk_reader *reader, struct ahead_archive *archive)
{
	struct ahead_file *file = archive->file;
	const size_t count = file->reading.contents->members.count;
	unsigned before = messages(reader);

	for (size_t first; (first = atomic_fetch_add(&archive->next_member, MEMBERS)) < count;)
		if (!open_some(ahead, reader, file, first, count - first < MEMBERS ? count : first + MEMBERS) ||
		    messages(reader) != before)
			atomic_store(&file->usable, false);
}

static void init_reader(struct sk_ahead *ahead, struct sk_arena *arena, struct sk_diag *diag, struct sk_reader *reader)
{
	sk_diag_init(diag, arena);
	*reader =
		(struct sk_reader){.arena = arena, .diag = diag, .keep_debug = ahead->keep_debug, .root = ahead->root};
}

static void read_files(struct sk_ahead *ahead, struct sk_reader *reader)
{
	struct ahead_archive *const *link = &ahead->archives, *archive;

	change_listing(ahead, 1);
	while (list_file(ahead, reader))
		;
	change_listing(ahead, -1);
	for (; (archive = wait_for_archive(ahead, link)); link = &archive->next)
		open_members(ahead, reader, archive);
}

static void help(void *context)
{
	struct helper *helper = context;
	struct sk_diag diag;
	struct sk_reader reader;

	init_reader(helper->ahead, helper->arena, &diag, &reader);
	read_files(helper->ahead, &reader);
}

void sk_linker_read_ahead(struct sk_linker *linker, const struct sk_ahead_path *paths, size_t count)
{
	unsigned threads = linker->options.threads;

	if (threads < 2 || !count)
		return;

	struct sk_ahead *ahead = SK_NEW(linker->arena, struct sk_ahead);

	ahead->keep_debug = linker->reader.keep_debug;
	ahead->root = linker->reader.root;
	ahead->paths = paths;
	ahead->count = count;
	ahead->files = SK_NEW_ARRAY(linker->arena, struct ahead_file, count);
	ahead->last_archive = &ahead->archives;
	atomic_init(&ahead->next, 0);
	atomic_init(&ahead->awaited, false);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	for (size_t i = 0; i < count; i++) {
		atomic_init(&ahead->files[i].usable, false);
		atomic_init(&ahead->files[i].listed, false);
	}
	ahead->helper_count = threads < MOST_THREADS ? threads : MOST_THREADS;
	for (unsigned i = 0; i < ahead->helper_count; i++) {
		struct helper *helper = &ahead->helpers[i];

		helper->ahead = ahead;
		helper->arena = sk_arena_create();
		if (i)
			sk_beside_start(&helper->beside, threads, help, helper);
	}
	init_reader(ahead, ahead->helpers[0].arena, &ahead->diag, &ahead->reader);
	linker->ahead = ahead;
}

static void finish_reading(struct sk_ahead *ahead)
{
	if (ahead->finished)
		return;
	ahead->finished = true;
	atomic_store(&ahead->awaited, true);
	read_files(ahead, &ahead->reader);
	for (unsigned i = 1; i < ahead->helper_count; i++)
		sk_beside_wait(&ahead->helpers[i].beside);
}

void sk_linker_wait_ahead(struct sk_linker *linker)
{
	if (linker->ahead)
		finish_reading(linker->ahead);
}

/* Release a reading that nothing has taken. */
static void forget(struct sk_reading *reading)
{
	const struct sk_contents *contents = reading->contents;

	if (reading->mapped)
		sk_unmap_file(reading->mapped, reading->size);
	for (size_t i = 0; contents && i < contents->files.count; i++)
		if (contents->files.items[i].mapped)
			sk_unmap_file(contents->files.items[i].bytes, contents->files.items[i].size);
}

/* While another thread reads the file, read some of the files after it. */
static void wait_for(struct sk_ahead *ahead, const struct ahead_file *file)
{
	while (!atomic_load(&file->listed) && list_file(ahead, &ahead->reader))
		;
	if (!atomic_load(&file->listed) || file->reading.contents)
		finish_reading(ahead);
}

struct sk_reading *sk_ahead_take(struct sk_linker *linker, const char *path)
{
	struct sk_ahead *ahead = linker->ahead;

	if (!ahead || ahead->taken == ahead->count || strcmp(ahead->paths[ahead->taken].path, path) != 0)
		return NULL;

	struct ahead_file *file = &ahead->files[ahead->taken++];

	wait_for(ahead, file);
	return atomic_load(&file->usable) ? &file->reading : NULL;
}

void sk_ahead_destroy(struct sk_linker *linker)
{
	struct sk_ahead *ahead = linker->ahead;

	if (!ahead)
		return;
	/* The remaining files are not needed. */
	atomic_store(&ahead->next, ahead->count);
	finish_reading(ahead);
	for (size_t i = 0; i < ahead->count; i++)
		forget(&ahead->files[i].reading);
	for (unsigned i = 0; i < ahead->helper_count; i++)
		sk_arena_destroy(ahead->helpers[i].arena);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
}
