/* The weights file; see image.h and format/skweights.h. */
#include "config.h"

#include "loader/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/seal.h"
#include "format/skweights.h"
#include "loader/base/status.h"
#include "loader/skrt.h"

struct weights {
	const struct sk_source *source;
	const struct sk_image *image;
	const struct sk_weights *record;
	char path[PATH_MAX]; /* of the file, or its name in messages */
	int file;
};

static enum skrt_status report_damage(const struct sk_source *source, const char *reason)
{
	return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", source->name, reason);
}

/* ---- the package's record ---- */

/* Find the record, and check that it lies in a read-only segment, that its name ends and is not a path, and that place
 * and size are those of the segment. */
static enum skrt_status find_record(const struct sk_source *source, const struct sk_image *image,
				    const struct sk_weights **result)
{
	uint64_t size = 0;
	const struct sk_weights *record = sk_image_find(image, "sk_weights", &size);
	const char *name;

	if (!record || (uintptr_t)record % _Alignof(struct sk_weights) || size <= sizeof(*record) ||
	    !sk_image_holds(image, record, size, PROT_READ) || sk_image_holds(image, record, size, PROT_WRITE))
		return report_damage(source, "it has a segment for weights, but does not name them");
	if (record->version != SK_WEIGHTS_VERSION)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: weights of version %" PRIu32 "; this libskrt reads version %d",
			       source->name, record->version, SK_WEIGHTS_VERSION);
	name = record->name;
	size -= sizeof(*record);
	if (size > SK_WEIGHTS_NAME_LIMIT || strnlen(name, size) + 1 != size || size == 1 || strchr(name, '/') ||
	    !strcmp(name, ".") || !strcmp(name, ".."))
		return report_damage(source, "the name of its weights is not the name of a file");
	if (record->identity.size != image->weights.size ||
	    (uintptr_t)&record->constants + (uintptr_t)(intptr_t)record->constants !=
		    image->bias + image->weights.address)
		return report_damage(source, "its weights are not where their segment is");
	*result = record;
	return SKRT_OK;
}

/* ---- the file ---- */

/* Find the path: the file of that name in the package's folder, unless the caller has named another one. */
static enum skrt_status name_file(struct weights *weights)
{
	const struct sk_source *source = weights->source;
	const char *slash = strrchr(source->name, '/');
	int length = slash ? (int)(slash + 1 - source->name) : 0;

	if (source->weights)
		length = snprintf(weights->path, sizeof(weights->path), "%s", source->weights);
	else if (weights->file >= 0)
		length = snprintf(weights->path, sizeof(weights->path), "weights '%s'", weights->record->name);
	else if (source->file >= 0)
		return sk_fail(
			SKRT_CANNOT_READ,
			"%s: its weights are in a file of their own, '%s', and a package without a path has none "
			"beside it: say where they are (weights in struct skrt_source)",
			source->name, weights->record->name);
	else
		length = snprintf(weights->path, sizeof(weights->path), "%.*s%s", length, source->name,
				  weights->record->name);
	if (length < 0 || (size_t)length >= sizeof(weights->path))
		return sk_fail(SKRT_CANNOT_READ, "%s: the path of its weights is too long", source->name);
	return SKRT_OK;
}

static enum skrt_status open_file(struct weights *weights, struct stat *status)
{
	/* O_NONBLOCK: opening a pipe must not wait for a writer. */
	if (weights->file < 0)
		weights->file = open(weights->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (weights->file < 0 || fstat(weights->file, status))
		return sk_fail(SKRT_CANNOT_READ, "%s: cannot open its weights: %s: %s", weights->source->name,
			       weights->path, strerror(errno));
	if (!S_ISREG(status->st_mode))
		return sk_fail(SKRT_CANNOT_READ, "%s: its weights: %s: not a regular file", weights->source->name,
			       weights->path);
	return SKRT_OK;
}

static enum skrt_status check_header(const struct weights *weights, uint64_t file_size)
{
	const struct sk_weights_identity *identity = &weights->record->identity;
	const char *package = weights->source->name;
	struct sk_weights_header header;

	if (file_size < sizeof(header))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: %s is too short for weights", package, weights->path);
	enum skrt_status status = sk_image_read(weights->path, weights->file, &header, sizeof(header), 0);
	if (status)
		return status;
	if (header.magic != SK_WEIGHTS_MAGIC)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: %s holds no weights: sklink --weights has not written it",
			       package, weights->path);
	if (header.version != SK_WEIGHTS_VERSION || header.reserved)
		return sk_fail(SKRT_BAD_PACKAGE,
			       "%s: %s: weights of version %" PRIu32 "; this libskrt reads version %d", package,
			       weights->path, header.version, SK_WEIGHTS_VERSION);
	if (header.identity.size != identity->size ||
	    memcmp(header.identity.hash, identity->hash, sizeof(identity->hash)) != 0)
		return sk_fail(SKRT_BAD_PACKAGE,
			       "%s: %s holds other weights than those that the package was linked with", package,
			       weights->path);
	if (file_size - SK_WEIGHTS_START != identity->size)
		return sk_fail(SKRT_BAD_PACKAGE,
			       "%s: %s is damaged: it has %" PRIu64 " bytes, and weights of %" PRIu64 " have %" PRIu64,
			       package, weights->path, file_size, identity->size, identity->size + SK_WEIGHTS_START);
	return SKRT_OK;
}

/* ---- into memory ---- */

static enum skrt_status map(const struct weights *weights)
{
	const struct sk_image_segment *segment = &weights->image->weights;

	if (mmap((void *)(weights->image->bias + segment->address), segment->size, PROT_READ, MAP_PRIVATE | MAP_FIXED,
		 weights->file, SK_WEIGHTS_START) == MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot map: %s", weights->path, strerror(errno));
	return SKRT_OK;
}

static enum skrt_status copy(const struct weights *weights)
{
	const struct sk_image_segment *segment = &weights->image->weights;
	void *memory = (void *)(weights->image->bias + segment->address);
	enum skrt_status status;

	if (mmap(memory, segment->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a copy of %" PRIu64 " bytes: %s", weights->path,
			       segment->size, strerror(errno));
	madvise(memory, segment->size, MADV_HUGEPAGE);
	status = sk_image_read(weights->path, weights->file, memory, segment->size, SK_WEIGHTS_START);
	if (!status && mprotect(memory, segment->size, PROT_READ))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: cannot protect: %s", weights->path, strerror(errno));
	return status;
}

static enum skrt_status open_weights(const struct sk_source *source, uint64_t page, const struct sk_image *image)
{
	struct weights weights = {
		.source = source, .image = image, .file = source->weights_file ? *source->weights_file : -1};
	enum skrt_status status;
	struct stat file;

	if (SK_WEIGHTS_START % page)
		return sk_fail(SKRT_UNSUPPORTED, "%s: weights cannot be mapped in pages of %" PRIu64 " bytes",
			       source->name, page);
	status = find_record(source, image, &weights.record);
	if (source->only_looked_at) /* an inspection needs no constants */
		return status;
	if (!status)
		status = name_file(&weights);
	if (!status)
		status = open_file(&weights, &file);
	if (!status)
		status = check_header(&weights, (uint64_t)file.st_size);
	if (!status)
		status = source->copied ? copy(&weights) : map(&weights);
	if (!source->weights_file && weights.file >= 0)
		close(weights.file);
	return status;
}

enum skrt_status sk_weights_open(const struct sk_source *source, uint64_t page, const struct sk_image *image)
{
	if (image->weights.size)
		return open_weights(source, page, image);
	if (source->weights || source->weights_file)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: it has no constants in a file of their own", source->name);
	return SKRT_OK;
}

enum skrt_status sk_weights_check(const struct sk_source *source, const struct sk_image *image)
{
	const struct sk_weights *record;
	struct sk_seal_part all = {(const void *)(image->bias + image->weights.address), image->weights.size};
	uint8_t hash[SK_SEAL_HASH];
	enum skrt_status status = image->weights.size ? find_record(source, image, &record) : SKRT_OK;

	if (status || !image->weights.size)
		return status;
	sk_seal_hash_weights(&all, 1, hash);
	if (memcmp(hash, record->identity.hash, sizeof(hash)) != 0)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: integrity: its weights, '%s', are not those that were linked",
			       source->name, record->name);
	return SKRT_OK;
}
