/* Bytes of a file, all of them or an error; see image.h. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "loader/base/status.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

enum skrt_status sk_image_read(const char *path, int file, void *bytes, uint64_t size, uint64_t offset)
{
	for (uint64_t done = 0; done < size;) {
		ssize_t count = pread(file, (char *)bytes + done, size - done, (off_t)(offset + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return sk_fail(SKRT_CANNOT_READ, "%s: %s", path, strerror(errno));
		if (count == 0)
			return sk_fail(SKRT_BAD_PACKAGE, "%s: the file is truncated", path);
		done += (uint64_t)count;
	}
	return SKRT_OK;
}
