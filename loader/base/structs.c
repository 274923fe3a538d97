/* Structs of older and newer callers. */
#include "config.h"

#include <string.h>

#include "loader/base/status.h"
#include "loader/skrt.h"

/* Far above any struct of skrt.h: a size beyond it has not been set. */
enum { MOST_BYTES = 4096 };

/* Every struct begins with its size. The caller's may hold more than the library's if all of that is 0: then none of it
 * is needed. */
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
