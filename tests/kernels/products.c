/* Compares the products of libskernels.a with sums in greater precision, for sizes around those of tiles, panels and
 * blocks, and in parts as cores compute them: parts must give the same bytes. Operands end where memory ends, so that a
 * kernel that reads or writes past them is caught. */
#include "operands.h"

#include <stdio.h>

/* Scratch as signatures give it: numbers for all that multiply, and sums of halves; a product of halves with a vector
 * has numbers of that alone. */
enum { ROOM = 114688, SUM_ROWS = 264 };
struct scratch {
	void *room, *sums;
	size_t room_bytes, sum_bytes;
};

/* ---- the kernels ---- */

struct sizes {
	int64_t batches, m, k, n;
};

/* Rows, columns of a row vector's result, or batches [first, first + count) of y. */
struct form {
	const char *name;
	enum { A_TURNED = 1, B_TURNED = 2, B_PACKED = 4, BATCHES = 8, ROW = 16, COLUMN = 32 } is;
};
static const struct form forms[] = {
	{"one_straight_packed", B_PACKED},
	{"one_straight_straight", 0},
	{"one_straight_turned", B_TURNED},
	{"one_turned_straight", A_TURNED},
	{"one_turned_turned", A_TURNED | B_TURNED},
	{"many_straight_straight", BATCHES},
	{"many_straight_turned", BATCHES | B_TURNED},
	{"left_packed", ROW | B_PACKED},
	{"left_straight", ROW},
	{"left_turned", ROW | B_TURNED},
	{"right_straight", COLUMN},
};

typedef void kernel(); /* with as many arguments as its form has */
#define KERNEL_LIST "products-list.h"
#include "entries.h"

/* The operations of a FusedMatMul on its sums: a bias of n numbers and a matrix like y, which may be absent, and an
 * activation by its number in kernels/epilogue.h. */
static struct epilogue {
	int is; /* it is one */
	char *bias, *addend;
	int64_t activation;
} epilogue;

static void call_fused(const struct entry *entry, const struct form *form, size_t size, const struct sizes *sizes,
		       const char *a, const char *b, char *y, int64_t first, int64_t count,
		       const struct scratch *scratch)
{
	int64_t k = sizes->k, n = sizes->n, line = form->is & ROW ? 1 : n, activation = epilogue.activation;
	const char *bias = epilogue.bias, *addend = epilogue.addend ? epilogue.addend + first * line * size : NULL;

	if (form->is & ROW && bias)
		bias += first * size;
	y += first * line * size;
	if (form->is & ROW && form->is & B_PACKED)
		entry->call(a, b, bias, addend, y, k, count, first, scratch->room, activation);
	else if (form->is & ROW && form->is & B_TURNED)
		entry->call(a, b + first * k * size, bias, addend, y, count, k, activation);
	else if (form->is & ROW)
		entry->call(a, b, bias, addend, y, k, count, first, n, activation);
	else
		entry->call(a + first * k * size, b, bias, addend, y, count, k, n, activation, scratch->room,
			    scratch->sums);
}

static void call(const struct entry *entry, const struct form *form, size_t size, const struct sizes *sizes,
		 const void *a, const void *b, void *y, int64_t first, int64_t count, const struct scratch *scratch)
{
	void *room = scratch->room, *sums = scratch->sums;
	const char *left = a, *right = b;
	char *to = y;
	int64_t m = sizes->m, k = sizes->k, n = sizes->n;

	if (epilogue.is)
		call_fused(entry, form, size, sizes, a, b, y, first, count, scratch);
	else if (form->is & BATCHES)
		entry->call(left + first * m * k * size, right + first * k * n * size, to + first * m * n * size, m, k,
			    n, count, room, sums);
	else if (form->is & COLUMN)
		entry->call(left + first * k * size, right, to + first * size, count, k);
	else if (form->is & ROW && form->is & B_PACKED)
		entry->call(left, right, to + first * size, k, count, first, room);
	else if (form->is & ROW && form->is & B_TURNED)
		entry->call(left, right + first * k * size, to + first * size, count, k);
	else if (form->is & ROW)
		entry->call(left, right, to + first * size, k, count, first, n);
	else if (form->is & A_TURNED)
		entry->call(left, right, to + first * n * size, count, k, n, first, m, room, sums);
	else
		entry->call(left + first * k * size, right, to + first * n * size, count, k, n, room, sums);
}

/* ---- expected results ---- */

/* None of these is steeper than 1.13. */
static double activated(double x)
{
	switch (epilogue.activation) {
	case 1:
		return x > 0 ? x : 0;
	case 2:
		return x / 2 * (1 + erf(x / sqrt(2)));
	case 3:
		return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case 4:
		return x / (1 + exp(-x));
	default:
		return x;
	}
}

/* Check a result: the sum after the epilogue, which is rounded to the type at each step, and the difference that is
 * allowed. */
static int is_finished(enum type type, double sum, double allowed, size_t i, size_t n, double result)
{
	double bias = epilogue.bias ? get(type, epilogue.bias, i % n) : 0;
	double addend = epilogue.addend ? get(type, epilogue.addend, i) : 0, wanted = activated(sum + bias) + addend;
	double most = fabs(sum) + fabs(bias) + fabs(addend) + 1;

	return fabs(result - wanted) <= 1.2 * allowed + 5 * types[type].epsilon * most;
}

static void compare(const char *name, enum type type, const struct form *form, const struct sizes *sizes, const void *a,
		    const void *b, const void *y)
{
	double *left = numbers_of(type, a, sizes->batches * sizes->m * sizes->k);
	double *right = numbers_of(type, b, sizes->batches * sizes->k * sizes->n);

	int64_t count = sizes->batches * sizes->m * sizes->n;

	for (int64_t i = 0; i < count; i += step_of(type, count * sizes->k)) {
		int64_t batch = i / sizes->n / sizes->m, row = i / sizes->n % sizes->m, column = i % sizes->n;
		struct sum sum = {0};
		double result = get(type, y, i);

		for (int64_t p = 0; p < sizes->k; p++) {
			int64_t at_a = form->is & A_TURNED ? p * sizes->m + row : row * sizes->k + p;
			int64_t at_b = form->is & B_TURNED ? column * sizes->k + p : p * sizes->n + column;
			add_product(type, &sum, left[batch * sizes->m * sizes->k + at_a],
				    right[batch * sizes->k * sizes->n + at_b]);
		}
		double allowed = (sizes->k + 2) * types[type].of_sums * sum.magnitude +
				 types[type].epsilon * fabs(total(type, &sum));
		if (epilogue.is ? !is_finished(type, sum.near, allowed, i, sizes->n, result)
				: !(distance(type, &sum, 1, result) <= allowed)) {
			printf("%s of [%ld,%ld,%ld,%ld]: element %ld is %.17g, not %.17g\n", name, (long)sizes->batches,
			       (long)sizes->m, (long)sizes->k, (long)sizes->n, (long)i, result, total(type, &sum));
			failures++;
			break;
		}
	}
	free(left);
	free(right);
}

/* Panels, as matmul-pack.c describes them. */
static void *packed(enum type type, const char *b, int64_t k, int64_t n, size_t *bytes)
{
	size_t size = types[type].size, panel = types[type].panel, panels = (n + panel - 1) / panel;
	char *to = take(*bytes = panels * panel * k * size);

	memset(to, 0, *bytes);
	for (int64_t p = 0; p < k; p++)
		for (int64_t column = 0; column < n; column++)
			memcpy(to + ((column / panel * k + p) * panel + column % panel) * size,
			       b + (p * n + column) * size, size);
	return to;
}

static struct scratch scratch_for(enum type type, const struct form *form, const struct sizes *sizes)
{
	size_t halves = types[type].size == 2, vector = form->is & (ROW | COLUMN);
	struct scratch scratch = {.room_bytes = (type == f64 ? 8 : 4) * (size_t)ROOM,
				  .sum_bytes = halves && !vector ? SUM_ROWS * (size_t)sizes->n * 4 : 0};

	if (vector)
		scratch.room_bytes = halves && form->is & B_PACKED ? (size_t)sizes->k * 4 : 0;
	scratch.room = scratch.room_bytes ? take_scratch(scratch.room_bytes) : NULL;
	scratch.sums = scratch.sum_bytes ? take_scratch(scratch.sum_bytes) : NULL;
	return scratch;
}

static void drop_scratch(const char *name, struct scratch *scratch)
{
	if (!scratch_is_kept(scratch->room, scratch->room_bytes) ||
	    !scratch_is_kept(scratch->sums, scratch->sum_bytes)) {
		printf("%s: writes behind its scratch\n", name);
		failures++;
	}
	if (scratch->room)
		drop(scratch->room, (scratch->room_bytes + 63) / 64 * 64);
	if (scratch->sums)
		drop(scratch->sums, (scratch->sum_bytes + 63) / 64 * 64);
}

/* Compute all at once, and in parts. */
static void check(const struct entry *entry, enum type type, const struct form *form, const struct sizes *sizes)
{
	size_t size = types[type].size, a_bytes = sizes->batches * sizes->m * sizes->k * size,
	       b_bytes = sizes->batches * sizes->k * sizes->n * size,
	       y_bytes = sizes->batches * sizes->m * sizes->n * size;
	void *a = take(a_bytes), *b = take(b_bytes), *y = take(y_bytes), *parts = take(y_bytes), *right = b;
	size_t right_bytes = b_bytes;
	int64_t extent = form->is & BATCHES ? sizes->batches : form->is & ROW ? sizes->n : sizes->m;
	int64_t part = form->is & ROW ? 64 : random_bits() % 2 ? 1 : 1 + extent / 3;

	struct scratch scratch = scratch_for(type, form, sizes);

	fill(type, a, a_bytes / size);
	fill(type, b, b_bytes / size);
	epilogue.bias = epilogue.is && random_bits() % 3 ? take(sizes->n * size) : NULL;
	epilogue.addend = epilogue.is && random_bits() % 3 ? take(y_bytes) : NULL;
	if (epilogue.bias)
		fill(type, epilogue.bias, sizes->n);
	if (epilogue.addend)
		fill(type, epilogue.addend, y_bytes / size);
	if (form->is & B_PACKED)
		right = packed(type, b, sizes->k, sizes->n, &right_bytes);
	call(entry, form, size, sizes, a, right, y, 0, extent, &scratch);
	compare(entry->name, type, form, sizes, a, b, y);
	for (int64_t first = 0; first < extent; first += part)
		call(entry, form, size, sizes, a, right, parts, first, first + part < extent ? part : extent - first,
		     &scratch);
	if (memcmp(y, parts, y_bytes)) {
		printf("%s of [%ld,%ld,%ld,%ld]: parts are other bytes\n", entry->name, (long)sizes->batches,
		       (long)sizes->m, (long)sizes->k, (long)sizes->n);
		failures++;
	}
	drop_scratch(entry->name, &scratch);
	if (right != b)
		drop(right, right_bytes);
	if (epilogue.bias)
		drop(epilogue.bias, sizes->n * size);
	if (epilogue.addend)
		drop(epilogue.addend, y_bytes);
	drop(a, a_bytes);
	drop(b, b_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
}

static void check_sizes(const struct entry *entry, enum type type, const struct form *form)
{
	static const int64_t extents[] = {1, 3, 7, 16, 50, 63, 64, 65, 125}, depths[] = {0, 1, 5, 16, 65, 130, 515};
	size_t count = sizeof extents / sizeof *extents;

	for (size_t i = 0; i < 20; i++) {
		struct sizes sizes = {1, extents[random_bits() % count], depths[i % 7], extents[random_bits() % count]};
		if (form->is & BATCHES)
			sizes.batches = 1 + i % 3, sizes.m %= 60;
		if (form->is & ROW)
			sizes.m = 1, sizes.n = i % 2 ? sizes.n : sizes.n + 1025;
		if (form->is & COLUMN)
			sizes.n = 1, sizes.k = i % 2 ? sizes.k : sizes.k + 1025;
		if (epilogue.is) /* which has no product without any elements */
			sizes.k += !sizes.k, epilogue.activation = i / 2 % 5;
		check(entry, type, form, &sizes);
	}
}

/* sk_matmul_TYPE_FORM or sk_matmul_TYPE_FORM_LEVEL, and sk_fusedmatmul_ the same */
static void check_entry(const struct entry *entry)
{
	const char *name = strstr(entry->name, "matmul_") + strlen("matmul_");
	size_t length;

	epilogue.is = strstr(entry->name, "fused") != NULL;

	for (size_t type = 0; type < 4; type++)
		for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
			size_t prefix = strlen(types[type].name);
			if (strncmp(name, types[type].name, prefix) || name[prefix] != '_')
				continue;
			length = strlen(forms[i].name);
			if (strncmp(name + prefix + 1, forms[i].name, length) ||
			    (name[prefix + 1 + length] && strncmp(name + prefix + 1 + length, "_v", 2)))
				continue;
			check_sizes(entry, type, &forms[i]);
			return;
		}
	printf("%s: there is no such form\n", entry->name);
	failures++;
}

int main(void)
{
	return check_entries(check_entry);
}
