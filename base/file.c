/* Reading and writing whole files; see file.h. */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"

static bool report_failed_action(struct sk_diag *diag, const char *path, const char *action)
{
	sk_error(diag, (struct sk_place){.file = path}, "cannot %s: %s", action, strerror(errno));
	return false;
}

enum { LARGEST_TEXT = 64 << 20 };

char *sk_file_read_text(struct sk_diag *diag, const char *path, const char *kind)
{
	FILE *file = fopen(path, "r");
	SK_ARRAY(char) text = {0};
	const char *reason = NULL;
	char buffer[4096];
	size_t got;

	while (file && text.count < LARGEST_TEXT && (got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		for (size_t i = 0; i < got; i++)
			sk_array_push(diag->arena, &text, buffer[i]);
	if (!file || ferror(file))
		reason = strerror(errno);
	else if (text.count >= LARGEST_TEXT || (text.count && memchr(text.items, 0, text.count)))
		reason = "it is too large or not a text";
	if (file)
		fclose(file);
	if (reason) {
		sk_error(diag, (struct sk_place){.file = path}, "cannot read the %s: %s", kind, reason);
		return NULL;
	}
	sk_array_push(diag->arena, &text, '\0');
	return text.items;
}

/* The kernel caches written data in pieces of the call's size. It rarely has larger pieces than this ready, and
 * allocating them costs several times the writing itself. */
enum { LARGEST_WRITE = 64 << 10 };

/* Write at the offset, or (-1) after earlier data. */
static bool write_bytes(int descriptor, const uint8_t *bytes, uint64_t size, off_t offset)
{
	for (uint64_t done = 0; done < size;) {
		uint64_t left = size - done;
		size_t now = left < LARGEST_WRITE ? left : LARGEST_WRITE;
		ssize_t wrote = offset < 0 ? write(descriptor, bytes + done, now)
					   : pwrite(descriptor, bytes + done, now, offset + (off_t)done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0 && errno == EFAULT)
			sk_mapped_touch(bytes + done, now);
		if (wrote <= 0) {
			errno = wrote ? errno : ENOSPC;
			return false;
		}
		done += (uint64_t)wrote;
	}
	return true;
}

static bool write_zeros(int descriptor, uint64_t size, off_t offset)
{
	static const uint8_t zeros[4096];

	for (uint64_t done = 0, now; done < size; done += now) {
		now = size - done < sizeof(zeros) ? size - done : sizeof(zeros);
		if (!write_bytes(descriptor, zeros, now, offset < 0 ? offset : offset + (off_t)done))
			return false;
	}
	return true;
}

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
	return !*bytes && !memcmp(bytes, bytes + 1, size - 1);
}

/* Long runs of zeros become holes, so that huge constants of mostly zeros are read and written as such. */
static bool write_part(int descriptor, const struct sk_file_part *part)
{
	const uint8_t *bytes = part->bytes;

	for (uint64_t done = 0, now; done < part->size; done += now) {
		now = part->size - done < LARGEST_WRITE ? part->size - done : LARGEST_WRITE;
		if (now == LARGEST_WRITE && is_zero(bytes + done, now))
			continue;
		if (!write_bytes(descriptor, bytes + done, now, (off_t)(part->offset + done)))
			return false;
	}
	return true;
}

static bool write_parts(int descriptor, const struct sk_file_part *parts, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		if (!write_part(descriptor, &parts[i]))
			return false;
		if (parts[i].size && parts[i].offset + parts[i].size > end)
			end = parts[i].offset + parts[i].size;
	}
	return ftruncate(descriptor, (off_t)end) == 0; /* it may end with a hole */
}

static int compare_offsets(const void *a, const void *b)
{
	const struct sk_file_part *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

static struct sk_file_part *sort_parts(struct sk_arena *arena, const struct sk_file_part *parts, size_t count)
{
	struct sk_file_part *sorted = SK_NEW_ARRAY(arena, struct sk_file_part, count);

	for (size_t i = 0; i < count; i++)
		sorted[i] = parts[i];
	qsort(sorted, count, sizeof(*sorted), compare_offsets);
	return sorted;
}

/* ---- drafts ---- */

bool sk_file_is_drafted(const struct sk_file_draft *draft, const void *bytes)
{
	uintptr_t within = (uintptr_t)bytes - (uintptr_t)draft->bytes;

	return draft->bytes && within >= draft->start && within < draft->end;
}

/* Parts in another place of the draft would have to be read while others overwrite them. */
static bool is_in_place(const struct sk_file_draft *draft, const struct sk_file_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sk_file_is_drafted(draft, parts[i].bytes) &&
		    parts[i].offset != (uintptr_t)parts[i].bytes - (uintptr_t)draft->bytes)
			return false;
	return true;
}

static bool clear(int descriptor, uint64_t start, uint64_t end)
{
	return start >= end ||
	       !fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)start, (off_t)(end - start)) ||
	       write_zeros(descriptor, end - start, (off_t)start);
}

/* Bytes between parts are zeros, regardless of the draft. */
static bool complete_draft(const struct sk_file_draft *draft, const struct sk_file_part *sorted, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		if (!sorted[i].size)
			continue;
		if (!clear(draft->descriptor, end, sorted[i].offset) ||
		    (!sk_file_is_drafted(draft, sorted[i].bytes) &&
		     !write_bytes(draft->descriptor, sorted[i].bytes, sorted[i].size, (off_t)sorted[i].offset)))
			return false;
		end = sorted[i].offset + sorted[i].size;
	}
	return ftruncate(draft->descriptor, (off_t)end) == 0;
}

/* False: it has another mode, or cannot be on that file system. */
static bool name_draft(const struct sk_file_draft *draft, const char *path, mode_t mode)
{
	struct stat status;

	return !fstat(draft->descriptor, &status) && !fchmod(draft->descriptor, status.st_mode & mode) &&
	       sk_unfinished_link(path, draft->descriptor);
}

static bool write_draft(struct sk_diag *diag, const char *path, const struct sk_file_draft *draft,
			const struct sk_file_part *parts, size_t count)
{
	if (complete_draft(draft, sort_parts(diag->arena, parts, count), count))
		return true;
	report_failed_action(diag, path, "write the file");
	sk_unfinished_remove(path);
	return false;
}

/* ---- regular files, written part by part ---- */

static bool write_regular(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts,
			  size_t count)
{
	int descriptor = sk_unfinished_create(path, mode);

	if (descriptor < 0)
		return report_failed_action(diag, path, "create the file");

	bool ok = write_parts(descriptor, parts, count) || report_failed_action(diag, path, "write the file");

	if (close(descriptor) < 0 && ok)
		ok = report_failed_action(diag, path, "write the file");
	if (!ok)
		sk_unfinished_remove(path);
	return ok;
}

/* ---- other files, written at once ---- */

/* Write all bytes in order, since a pipe has no offsets. */
static bool write_sequence(struct sk_diag *diag, const char *path, int descriptor, const struct sk_file_part *parts,
			   size_t count)
{
	const struct sk_file_part *sorted = sort_parts(diag->arena, parts, count);
	uint64_t written = 0;

	for (size_t i = 0; i < count; i++) {
		if (!write_zeros(descriptor, sorted[i].offset - written, -1) ||
		    !write_bytes(descriptor, sorted[i].bytes, sorted[i].size, -1))
			return report_failed_action(diag, path, "write the file");
		written = sorted[i].offset + sorted[i].size;
	}
	return true;
}

static bool write_special(struct sk_diag *diag, const char *path, const struct sk_file_part *parts, size_t count)
{
	int descriptor = sk_special_open(path);

	if (descriptor < 0)
		return report_failed_action(diag, path, "open the file");

	bool ok = write_sequence(diag, path, descriptor, parts, count);

	if (close(descriptor) < 0 && ok)
		ok = report_failed_action(diag, path, "write the file");
	return ok;
}

/* ---- files ---- */

/* True if the path is to be written already: only the last file would remain. */
static bool is_taken(const char *path)
{
	const char *other;

	for (int at = 0; (other = sk_unfinished_next(&at));)
		if (sk_file_same(path, other))
			return true;
	return false;
}

bool sk_file_write(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts, size_t count,
		   const struct sk_file_draft *draft)
{
	if (sk_is_special(path))
		return write_special(diag, path, parts, count);
	if (is_taken(path)) {
		sk_error(diag, (struct sk_place){.file = path},
			 "two files would be written under this name; give one of them another");
		return false;
	}
	if (draft && draft->bytes && is_in_place(draft, parts, count) && name_draft(draft, path, mode))
		return write_draft(diag, path, draft, parts, count);
	return write_regular(diag, path, mode, parts, count);
}

bool sk_file_write_text(struct sk_diag *diag, const char *path, const void *text, size_t size)
{
	return !path || sk_file_write(diag, !strcmp(path, "-") ? "/dev/stdout" : path, 0666,
				      &(struct sk_file_part){0, text, size}, 1, NULL);
}

bool sk_files_finish(struct sk_diag *diag)
{
	char *path = NULL;

	if (sk_unfinished_finish_all(&path))
		return true;
	report_failed_action(diag, path ? sk_arena_copy(diag->arena, path, strlen(path)) : NULL, "replace the file");
	free(path);
	return false;
}

bool sk_file_replace(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts,
		     size_t count)
{
	if (!sk_file_write(diag, path, mode, parts, count, NULL))
		return false;
	return sk_unfinished_finish(path) || report_failed_action(diag, path, "replace the file");
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool find_folder(const char *path, struct stat *status)
{
	size_t length = (size_t)(last_name(path) - path);
	char *folder = length ? strndup(path, length) : strdup(".");
	bool found = folder && stat(folder, status) == 0;

	free(folder);
	return found;
}

bool sk_file_same(const char *first, const char *second)
{
	struct stat folders[2];

	return !strcmp(last_name(first), last_name(second)) && !sk_is_special(first) &&
	       find_folder(first, &folders[0]) && find_folder(second, &folders[1]) &&
	       folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino;
}
