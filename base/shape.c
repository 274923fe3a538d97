/* Shapes of tensors as texts; see text.h. Input: extents. Output: a text such as "[64, 1024]". */
#include "base/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

const char *sk_print_shape(uint32_t rank, const uint64_t *shape, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "[");

	for (uint32_t i = 0; i < rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? ", " : "", shape[i]);
	if (used < size)
		snprintf(text + used, size - used, "]");
	return text;
}
