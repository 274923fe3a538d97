/* From a mapped image to the parts that the seal covers: the segments as they are mapped, and of the file what lies
 * between and behind them. */
#include "config.h"

#include "loader/integrity.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/report.h"
#include "loader/seal.h"

static enum skrt_status refuse(const struct sk_source *source, const char *what)
{
	return sk_report(SKRT_BAD_PACKAGE, "%s: integrity: %s", source->name, what);
}

/* The plan's seal; NULL: there is none. */
static const struct sk_plan_seal *find_seal(const struct sk_image *image)
{
	uint64_t size = 0;
	const struct sk_plan *plan = sk_image_find(image, "sk_plan", &size);

	if (!plan || (uintptr_t)plan % SK_PLAN_ALIGN || size < sizeof(*plan) ||
	    !sk_image_holds(image, plan, sizeof(*plan), PROT_READ) || plan->magic != SK_PLAN_MAGIC ||
	    plan->version != SK_PLAN_VERSION)
		return NULL;
	return &plan->seal;
}

static const void *in_memory(const struct sk_image *image, uint64_t address)
{
	return (const void *)(image->bias + address);
}

/* The segments stand in the file in the order of their addresses, and the headers in the first. */
static bool has_file_order(const struct sk_image *image)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_segment *segment = &image->segments[i];

		if (segment->offset < end)
			return false;
		end = segment->offset + segment->file_size;
	}
	return image->segments[0].offset == 0 && image->segments[0].file_size >= sizeof(Elf64_Ehdr);
}

static enum skrt_status check_rest(const struct sk_source *source, const struct sk_image *image,
				   const struct sk_plan_seal *seal, int descriptor, uint64_t size)
{
	struct sk_seal_part parts[SK_IMAGE_SEGMENTS + 1];
	uint8_t hash[SK_SEAL_HASH];
	const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	uint64_t at = 0;

	if (bytes == MAP_FAILED)
		return sk_report(SKRT_OUT_OF_MEMORY, "%s: cannot map: %s", source->name, strerror(errno));
	for (uint32_t i = 0; i < image->segment_count; i++) {
		const struct sk_segment *segment = &image->segments[i];

		parts[i] = (struct sk_seal_part){bytes + at, segment->offset - at};
		at = segment->offset + segment->file_size;
	}
	parts[image->segment_count] = (struct sk_seal_part){bytes + at, size - at};
	sk_seal_hash_rest(in_memory(image, image->segments[0].address), parts, image->segment_count + 1, hash);
	munmap((void *)bytes, size);
	return memcmp(hash, seal->rest, sizeof(hash)) == 0
		       ? SKRT_OK
		       : refuse(source, "the file is not as it was linked, but nothing that is loaded has changed");
}

static enum skrt_status check_signature(const struct sk_source *source, const struct sk_seal_bytes *loaded)
{
	static const uint8_t none[SK_SEAL_SIGNATURE];

	if (!sk_seal_can_sign())
		return sk_report(SKRT_UNSUPPORTED, "%s: cannot check a signature: libskrt was built without libsodium",
				 source->name);
	if (!memcmp(loaded->seal->signature, none, sizeof(none)))
		return sk_report(SKRT_BAD_PACKAGE, "%s: it is not signed", source->name);
	if (!sk_seal_check_signature(loaded, source->public_key, loaded->seal->signature))
		return sk_report(SKRT_BAD_PACKAGE,
				 "%s: its signature is not by the trusted key, or it has been changed", source->name);
	return SKRT_OK;
}

enum skrt_status sk_integrity_check(const struct sk_source *source, const struct sk_image *image, int file,
				    uint64_t file_size)
{
	const struct sk_plan_seal *seal = find_seal(image);
	struct sk_seal_part parts[SK_IMAGE_SEGMENTS];
	uint8_t hash[SK_SEAL_HASH];

	if (!seal)
		return refuse(source, "it has no plan, and so no seal");
	if (!has_file_order(image))
		return refuse(source, "its segments are not in the order of the file");
	for (uint32_t i = 0; i < image->segment_count; i++)
		parts[i] = (struct sk_seal_part){in_memory(image, image->segments[i].address),
						 image->segments[i].file_size};
	struct sk_seal_bytes loaded = {
		.parts = parts,
		.count = image->segment_count,
		.header = in_memory(image, image->segments[0].address),
		.seal = seal,
	};
	enum skrt_status status = source->public_key ? check_signature(source, &loaded) : SKRT_OK;
	if (status || !source->check_integrity)
		return status;
	sk_seal_hash_loaded(&loaded, hash);
	if (memcmp(hash, seal->loaded, sizeof(hash)) != 0)
		return refuse(source, "what is loaded is not what was linked");
	/* Who strips a package changes what is not loaded. */
	return file_size == seal->file_size ? check_rest(source, image, seal, file, file_size) : SKRT_OK;
}
