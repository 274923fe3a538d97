/* From a mapped image to the parts that the seal covers: the segments as they are in memory, and the bytes of the file
 * between and after them. The layout is checked first, because the seal covers bytes and the layout gives them their
 * meaning; see image.h. */
#include "config.h"

#include "loader/image/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/seal.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/skrt.h"

static enum skrt_status refuse_package(const struct sk_source *source, const char *reason)
{
	return sk_fail(SKRT_BAD_PACKAGE, "%s: integrity: %s", source->name, reason);
}

static const void *in_memory(const struct sk_image *image, uint64_t address)
{
	return (const void *)(image->bias + address);
}

/* ---- the layout ---- */

/* Return whether the first segment has at `offset` the bytes that were read as a header. */
static bool are_loaded(const struct sk_image *image, uint64_t offset, const void *header, uint64_t size)
{
	const struct sk_image_segment *first = &image->segments[0];

	return offset <= first->file_size && size <= first->file_size - offset &&
	       !memcmp(in_memory(image, first->address + offset), header, size);
}

/* Check that the headers that loading has followed are among the loaded bytes, and so among those that the seal
 * covers. */
static enum skrt_status check_layout(const struct sk_source *source, const struct sk_image *image,
				     const struct sk_image_file *file)
{
	const Elf64_Ehdr *header = file->header;
	uint64_t end = 0;

	for (uint32_t i = 0; i < image->segment_count; i++) {
		if (image->segments[i].offset < end)
			return refuse_package(source, "its segments overlap in the file, or are not in order");
		end = image->segments[i].offset + image->segments[i].file_size;
	}
	if (image->segments[0].offset != 0 || !are_loaded(image, 0, header, sizeof(*header)) ||
	    !are_loaded(image, header->e_phoff, file->headers, header->e_phnum * sizeof(*file->headers)))
		return refuse_package(source, "its headers are not in the first segment, where its seal covers them");
	return SKRT_OK;
}

/* ---- the seal ---- */

/* Find the plan's seal; NULL: none. The segment must not be writable: there the plan could extend past the file's
 * bytes. */
static const struct sk_plan_seal *find_seal(const struct sk_image *image)
{
	uint64_t size = 0;
	const struct sk_plan *plan = sk_image_find(image, "sk_plan", &size);

	if (!plan || (uintptr_t)plan % SK_PLAN_ALIGN || size < sizeof(*plan) ||
	    !sk_image_holds(image, plan, sizeof(*plan), PROT_READ) ||
	    sk_image_holds(image, plan, sizeof(*plan), PROT_WRITE) || plan->magic != SK_PLAN_MAGIC ||
	    plan->version != SK_PLAN_VERSION)
		return NULL;
	return &plan->seal;
}

/* Read the bytes before, between and after the segments. */
static enum skrt_status read_rest(const struct sk_source *source, const struct sk_image *image,
				  const struct sk_image_file *file, char *bytes)
{
	enum skrt_status status = SKRT_OK;
	uint64_t at = 0;

	for (uint32_t i = 0; i <= image->segment_count && !status; i++) {
		bool last = i == image->segment_count;
		uint64_t end = last ? file->size : image->segments[i].offset;

		status = sk_image_read(source->name, file->descriptor, bytes, end - at, at);
		bytes += end - at;
		at = last ? end : end + image->segments[i].file_size;
	}
	return status;
}

static enum skrt_status check_rest(const struct sk_source *source, const struct sk_image *image,
				   const struct sk_plan_seal *seal, const struct sk_image_file *file)
{
	struct sk_seal_part rest = {.size = file->size};
	uint8_t hash[SK_SEAL_HASH];
	enum skrt_status status;

	for (uint32_t i = 0; i < image->segment_count; i++)
		rest.size -= image->segments[i].file_size;
	char *bytes = malloc(rest.size + 1);
	if (!bytes)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory to check it", source->name);
	rest.bytes = bytes;
	status = read_rest(source, image, file, bytes);
	if (!status) {
		sk_seal_hash_rest(in_memory(image, image->segments[0].address), &rest, 1, hash);
		if (memcmp(hash, seal->rest, sizeof(hash)) != 0)
			status = refuse_package(source,
						"the file is not as it was linked, but the loaded bytes are unchanged");
	}
	free(bytes);
	return status;
}

/* Weights in a file of their own are also signed: the hash in the seal finds damage, but not manipulation. */
static enum skrt_status check_signature(const struct sk_source *source, const struct sk_seal_bytes *loaded)
{
	static const uint8_t none[SK_SEAL_SIGNATURE];

	if (!sk_seal_can_sign())
		return sk_fail(SKRT_UNSUPPORTED, "%s: cannot check a signature: libskrt was built without libsodium",
			       source->name);
	if (!memcmp(loaded->seal->signature, none, sizeof(none)))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: it is not signed", source->name);
	if (!sk_seal_check_signature(loaded, source->public_key, loaded->seal->signature))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: its signature is not by the trusted key, or it has been changed",
			       source->name);
	return SKRT_OK;
}

enum skrt_status sk_integrity_check(const struct sk_source *source, const struct sk_image *image,
				    const struct sk_image_file *file)
{
	enum skrt_status status = check_layout(source, image, file);
	const struct sk_plan_seal *seal = find_seal(image);
	struct sk_seal_part parts[SK_IMAGE_SEGMENTS + 1];
	struct sk_seal_segment segments[SK_IMAGE_SEGMENTS + 1];
	size_t count = 0;
	uint8_t hash[SK_SEAL_HASH];

	if (status)
		return status;
	if (!seal)
		return refuse_package(source, "it has no plan in a read-only segment, and so no seal");
	for (uint32_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].file_size)
			parts[count++] = (struct sk_seal_part){in_memory(image, image->segments[i].address),
							       image->segments[i].file_size};
	parts[count] = (struct sk_seal_part){in_memory(image, image->weights.address), image->weights.size};
	for (size_t i = 0; i <= count; i++)
		segments[i] = (struct sk_seal_segment){.parts = &parts[i], .count = 1};
	struct sk_seal_bytes loaded = {.segments = segments,
				       .count = count,
				       .header = in_memory(image, image->segments[0].address),
				       .seal = seal};
	struct sk_seal_bytes signed_bytes = loaded;

	signed_bytes.count += image->weights.size != 0;
	status = source->public_key ? check_signature(source, &signed_bytes) : SKRT_OK;
	if (status || !source->check_integrity)
		return status;
	status = sk_weights_check(source, image);
	if (status)
		return status;
	sk_seal_hash_loaded(&loaded, hash);
	if (memcmp(hash, seal->loaded, sizeof(hash)) != 0)
		return refuse_package(source, "the loaded bytes are not those that were linked");
	/* Stripping changes only bytes that are not loaded, and the file's size. */
	return file->size == seal->file_size ? check_rest(source, image, seal, file) : SKRT_OK;
}
