/* Copies of structs of older and newer callers. */
#include "config.h"

#include <string.h>

#include "loader/base/status.h"
#include "loader/skrt.h"

/* Far above the size of any struct of skrt.h: a larger value was never set. */
enum { MOST_BYTES = 4096 };

/* Check the size with which every struct begins. The caller's struct may be larger than the library's if the excess
 * bytes are all 0: then the caller uses none of those fields. */
static enum skrt_status check_size(const char *name, const void *theirs, size_t known, size_t *size)
{
	const unsigned char *bytes = theirs;

	memcpy(size, theirs, sizeof(*size));
	if (*size < sizeof(*size) || *size > MOST_BYTES)
		return sk_fail(SKRT_INVALID_ARGUMENT, "struct %s: its size is %zu; set it to sizeof(struct %s)", name,
			       *size, name);
	for (size_t i = known; i < *size; i++)
		if (bytes[i])
			return sk_fail(
				SKRT_INVALID_ARGUMENT,
				"struct %s: the byte at offset %zu is not 0; libskrt %s knows the first %zu bytes",
				name, i, skrt_version(), known);
	return SKRT_OK;
}

enum skrt_status sk_struct_read(const char *name, const void *theirs, void *own, size_t known)
{
	size_t size;
	enum skrt_status status = check_size(name, theirs, known, &size);

	if (status)
		return status;
	memset(own, 0, known);
	memcpy(own, theirs, size < known ? size : known);
	memcpy(own, &known, sizeof(known));
	return SKRT_OK;
}

enum skrt_status sk_struct_write(const char *name, const void *own, size_t known, void *theirs)
{
	size_t size;
	enum skrt_status status = check_size(name, theirs, known, &size);

	if (status)
		return status;
	if (size > known)
		size = known;
	memcpy(theirs, own, size);
	memcpy(theirs, &size, sizeof(size));
	return SKRT_OK;
}
