/* Compares the products of integers of libskernels.a with the lower bits of sums in 128 bits, all at once and in parts
 * as cores compute them. Operands end where memory ends, so that a kernel that reads or writes past them is caught. */
#include "operands.h"

#include <stdio.h>

typedef void kernel();
#define KERNEL_LIST "exact-products-list.h"
#include "entries.h"

static uint64_t element(const void *from, size_t size, int64_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)from + (size_t)i * size, size);
	return bits;
}

struct product {
	const struct entry *entry;
	size_t size;
	int64_t batches, m, k, n;
	int many, turned_a, turned_b;
	const char *a, *b;
	char *y;
};

/* Batches, or rows, [first, first + count) of y. */
static void call(const struct product *product, int64_t first, int64_t count)
{
	int64_t m = product->m, k = product->k, n = product->n, size = (int64_t)product->size;
	const char *a = product->a, *b = product->b;
	kernel *function = product->entry->call;

	if (product->many)
		function(a + first * m * k * size, b + first * k * n * size, product->y + first * m * n * size, m, k, n,
			 count);
	else if (product->turned_a)
		function(a, b, product->y + first * n * size, count, k, n, first, m);
	else
		function(a + first * k * size, b, product->y + first * n * size, count, k, n);
}

static uint64_t expected(const struct product *product, int64_t batch, int64_t row, int64_t column)
{
	int64_t m = product->m, k = product->k, n = product->n;
	unsigned __int128 sum = 0;

	for (int64_t p = 0; p < k; p++) {
		int64_t at_a = product->turned_a ? p * m + row : row * k + p;
		int64_t at_b = product->turned_b ? column * k + p : p * n + column;

		sum += (unsigned __int128)element(product->a, product->size, batch * m * k + at_a) *
		       element(product->b, product->size, batch * k * n + at_b);
	}
	return product->size == 4 ? (uint32_t)sum : (uint64_t)sum;
}

static void compare(const struct product *product, const char *how)
{
	for (int64_t i = 0; i < product->batches * product->m * product->n; i++) {
		int64_t row = i / product->n, column = i % product->n;
		uint64_t result = element(product->y, product->size, i);

		if (result == expected(product, row / product->m, row % product->m, column))
			continue;
		printf("%s of [%ld,%ld,%ld,%ld], %s: element %ld is wrong\n", product->entry->name,
		       (long)product->batches, (long)product->m, (long)product->k, (long)product->n, how, (long)i);
		failures++;
		return;
	}
}

static void check(struct product *product)
{
	int64_t batches = product->batches, m = product->m, k = product->k, n = product->n;
	size_t size = product->size, a_bytes = (size_t)(batches * m * k) * size,
	       b_bytes = (size_t)(batches * k * n) * size, y_bytes = (size_t)(batches * m * n) * size;
	int64_t extent = product->many ? batches : m, part = 1 + extent / 3;
	char *a = take(a_bytes), *b = take(b_bytes);

	for (size_t i = 0; i < a_bytes; i++)
		a[i] = (char)random_bits();
	for (size_t i = 0; i < b_bytes; i++)
		b[i] = (char)random_bits();
	product->a = a;
	product->b = b;
	product->y = take(y_bytes);
	memset(product->y, 0x5a, y_bytes);
	call(product, 0, extent);
	compare(product, "at once");
	memset(product->y, 0x5a, y_bytes);
	for (int64_t first = 0; first < extent; first += part)
		call(product, first, first + part < extent ? part : extent - first);
	compare(product, "in parts");
	drop(a, a_bytes);
	drop(b, b_bytes);
	drop(product->y, y_bytes);
}

/* sk_matmul_TYPE_COUNT_LEFT_RIGHT */
static void check_entry(const struct entry *entry)
{
	static const int64_t extents[] = {1, 2, 3, 16, 33, 63, 64, 65}, depths[] = {0, 1, 5, 16, 65, 130};
	const char *left = strstr(entry->name, "_one_"), *many = strstr(entry->name, "_many_");
	const char *form = left ? left + strlen("_one_") : many + strlen("_many_");

	for (size_t i = 0; i < 30; i++) {
		struct product product = {.entry = entry,
					  .size = strstr(entry->name, "32_") ? 4 : 8,
					  .batches = many ? 1 + random_bits() % 4 : 1,
					  .m = extents[random_bits() % 8],
					  .k = depths[i % 6],
					  .n = extents[random_bits() % 8],
					  .many = many != NULL,
					  .turned_a = !strncmp(form, "turned_", 7),
					  .turned_b = !strcmp(strchr(form, '_'), "_turned")};

		check(&product);
	}
}

int main(void)
{
	return check_entries(check_entry);
}
