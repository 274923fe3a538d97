/* Compares the folds of libskernels.a (the parts of ranks as one) with plain loops: maxima and minima, integers, which
 * wrap around, and wide floats exactly, products of narrow floats with the product that they are rounded from. The
 * result may be in place of any part, and ends where memory ends. Kernels of exchanges are called with a runtime that
 * notes its arguments. */
#include "operands.h"

#include "format/skkernel.h"

#include <inttypes.h>
#include <stdio.h>

typedef void kernel(const void *const *x, void *y, int64_t n, int64_t count);
#define KERNEL_LIST "folds-list.h"
#include "entries.h"

typedef void exchange_kernel(const struct sk_block *block, const void *x, void *y);
#undef KERNEL_NAME
#define KERNEL_NAME(name) exchange_kernel name;
#include "exchanges-list.h"
#undef KERNEL_NAME
#define KERNEL_NAME(name) {#name, name},
static const struct exchange_entry {
	const char *name;
	exchange_kernel *call;
} exchanges[] = {
#include "exchanges-list.h"
};

enum { MOST = 9, LONGEST = 600 };

/* The element type of a kernel: of integers only the bytes and the sign. */
struct element {
	enum type type; /* TYPES: an integer */
	size_t size;
	int is_signed;
};

static struct element element_of(const char *name)
{
	const char *type = name + strlen("sk_fold_");
	int bits;

	for (int i = 0; i < i8; i++)
		if (!strncmp(type, types[i].name, strlen(types[i].name)))
			return (struct element){(enum type)i, types[i].size, 1};
	if (sscanf(type + 1, "%d", &bits) != 1)
		abort();
	return (struct element){TYPES, (size_t)bits / 8, *type == 'i'};
}

static int64_t integer(const struct element *element, const void *x, size_t i)
{
	int shift = 64 - 8 * (int)element->size;
	uint64_t number = 0;

	memcpy(&number, (const char *)x + i * element->size, element->size);
	return element->is_signed ? (int64_t)(number << shift) >> shift : (int64_t)number;
}

static int64_t together(const struct element *element, const char *name, int64_t a, int64_t b)
{
	int less = element->is_signed ? a < b : (uint64_t)a < (uint64_t)b;

	return strstr(name, "_prod") ? (int64_t)((uint64_t)a * (uint64_t)b) : !strstr(name, "_max") == less ? a : b;
}

static double together_real(const char *name, enum type type, double a, double b)
{
	double product = type == f64 ? a * b : (float)a * (float)b;

	return strstr(name, "_prod") ? product : strstr(name, "_max") ? (a > b ? a : b) : a < b ? a : b;
}

static int is_wrong(const char *name, const struct element *element, void *const *x, int64_t count, const void *y,
		    size_t i)
{
	if (element->type == TYPES) {
		int64_t all = integer(element, x[0], i);

		for (int64_t k = 1; k < count; k++)
			all = together(element, name, all, integer(element, x[k], i));
		return memcmp(&all, (const char *)y + i * element->size, element->size) != 0;
	}

	double all = get(element->type, x[0], i), found = get(element->type, y, i);
	int exact = element->type == f32 || element->type == f64 || !strstr(name, "_prod");

	for (int64_t k = 1; k < count; k++)
		all = together_real(name, element->type, all, get(element->type, x[k], i));
	return fabs(found - all) > (exact ? 0 : types[element->type].epsilon * fabs(all) + 0x1p-25);
}

static void check(const char *name, kernel *call, int64_t n, int64_t count, int64_t place)
{
	static void *x[MOST], *given[MOST];
	struct element element = element_of(name);
	size_t size = element.size, wrong = 0;
	void *y = take((size_t)n * size);

	for (int64_t k = 0; k < count; k++) {
		x[k] = malloc((size_t)n * size + 1);
		for (size_t i = 0; element.type == TYPES && i < (size_t)n * size; i++)
			((uint8_t *)x[k])[i] = (uint8_t)random_bits();
		if (element.type != TYPES)
			fill(element.type, x[k], (size_t)n);
		given[k] = k == place ? memcpy(y, x[k], (size_t)n * size) : x[k];
	}
	call((const void *const *)given, y, n, count);
	for (size_t i = 0; i < (size_t)n; i++)
		wrong += is_wrong(name, &element, x, count, y, i);
	for (int64_t k = 0; k < count; k++)
		free(x[k]);
	drop(y, (size_t)n * size);
	if (wrong)
		printf("%s of %d parts, %d elements, in place of %d: %zu are wrong\n", name, (int)count, (int)n,
		       (int)place, wrong);
	failures += wrong != 0;
}

static void check_entry(const struct entry *entry)
{
	static const int64_t sizes[] = {1, 63, 255, 256, 257, LONGEST};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		for (int64_t count = 1; count <= MOST; count++)
			check(entry->name, entry->call, sizes[s], count,
			      (int64_t)(random_bits() % (uint64_t)(count + 1)));
}

static const void *noted[3];

static void note(const struct sk_block *block, const void *from, void *to)
{
	noted[0] = block;
	noted[1] = from;
	noted[2] = to;
}

static void check_exchange(const struct exchange_entry *entry)
{
	const struct sk_block_functions functions = {.exchange = note};
	const struct sk_block block = {.count = 1, .functions = &functions};
	char x, y;

	entry->call(&block, &x, &y);
	if (noted[0] == &block && noted[1] == &x && noted[2] == &y)
		return;
	printf("%s: it exchanges something else\n", entry->name);
	failures++;
}

int main(void)
{
	size_t count = sizeof(exchanges) / sizeof(*exchanges);

	for (size_t i = 0; i < count; i++)
		check_exchange(&exchanges[i]);
	printf("%zu kernels of exchanges\n", count);
	return check_entries(check_entry) || count != 13;
}
