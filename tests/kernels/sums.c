/* Compares the sums of libskernels.a with plain loops: integers that wrap around and wide floats exactly, narrow floats
 * with the sum that they are rounded from. The result may be in place of any of the inputs, and ends where memory ends.
 * */
#include "operands.h"

#include <stdio.h>

typedef void kernel(const void *const *x, void *y, int64_t n, int64_t count);
#define KERNEL_LIST "sums-list.h"
#include "entries.h"

enum { MOST = 123, LONGEST = 600 };

/* For types other than floats only the size matters. */
static enum type type_of(const char *name, size_t *size)
{
	static const char *const sizes[] = {"8", "16", "32", "64"};
	enum type type = f32;

	for (; type < i8; type++) {
		size_t length = strlen(types[type].name);

		*size = types[type].size;
		if (!strncmp(name + strlen("sk_sum_"), types[type].name, length))
			return type;
	}
	for (size_t i = 0; i < 4; i++)
		if (!strncmp(name + strlen("sk_sum_u"), sizes[i], strlen(sizes[i])))
			*size = (size_t)1 << i;
	return TYPES;
}

static uint64_t whole(const void *x, size_t i, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, (const char *)x + i * size, size);
	return number;
}

/* Not the sum of element i. */
static int is_wrong(enum type type, size_t size, void *const *x, int64_t count, const void *y, size_t i)
{
	double wide = 0;
	float narrow = 0;
	uint64_t integer = 0;

	for (int64_t k = 0; k < count; k++) {
		if (type == TYPES)
			integer += whole(x[k], i, size);
		else
			wide += get(type, x[k], i), narrow += (float)get(type, x[k], i);
	}
	if (type == TYPES)
		return memcmp(&integer, (const char *)y + i * size, size) != 0;
	if (type == f64)
		return get(type, y, i) != wide;
	return fabs(get(type, y, i) - narrow) > (type == f32 ? 0 : types[type].epsilon * fabsf(narrow) + 0x1p-25);
}

static int check(const char *name, kernel *call, int64_t n, int64_t count, int64_t place)
{
	static void *x[MOST], *given[MOST];
	size_t size, wrong = 0;
	enum type type = type_of(name, &size);
	void *y = take((size_t)n * size);

	for (int64_t k = 0; k < count; k++) {
		x[k] = malloc((size_t)n * size + 1);
		for (size_t i = 0; type == TYPES && i < (size_t)n * size; i++)
			((uint8_t *)x[k])[i] = (uint8_t)random_bits();
		if (type != TYPES)
			fill(type, x[k], (size_t)n);
		given[k] = k == place ? memcpy(y, x[k], (size_t)n * size) : x[k];
	}
	call((const void *const *)given, y, n, count);
	for (size_t i = 0; i < (size_t)n; i++)
		wrong += is_wrong(type, size, x, count, y, i);
	for (int64_t k = 0; k < count; k++)
		free(x[k]);
	drop(y, (size_t)n * size);
	if (wrong)
		printf("%s of %d inputs, %d elements, in place of %d: %zu are wrong\n", name, (int)count, (int)n,
		       (int)place, wrong);
	return wrong != 0;
}

static void check_entry(const struct entry *entry)
{
	static const int64_t sizes[] = {1, 63, 64, 65, 255, 256, 257, LONGEST};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		for (int64_t count = 1; count <= MOST; count += count < 20 ? 1 : 34)
			failures += check(entry->name, entry->call, sizes[s], count,
					  (int64_t)(random_bits() % (uint64_t)(count + 1)));
}

int main(void)
{
	return check_entries(check_entry);
}
