/* Shapes of tensors as texts, and names in expressions of sizes; see text.h. Input: extents. Output: a text such as
 * "[64, 1024]". */
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
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

bool sk_is_size_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || (unsigned char)byte >= 0x80;
}

bool sk_is_size_name(const char *name)
{
	bool plain = *name && !isdigit((unsigned char)*name);

	for (const char *at = name; *at; at++)
		plain &= sk_is_size_byte(*at);
	return plain;
}
