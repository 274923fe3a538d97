/* Compares the determinants of libskernels.a with their definition, the sum over all permutations, in 113 bits;
 * matrices without an inverse and with zeros as pivots are among them. */
#include "operands.h"

#include <stdio.h>

extern wide fabsf128(wide x);

typedef void kernel();
#define KERNEL_LIST "det-list.h"
#include "entries.h"

enum { LARGEST = 7, MATRICES = 5 };

/* Expand the determinant of the rows from `row` on, in the columns that are not taken, and of their magnitudes. */
static wide expand(const double *x, int m, int row, unsigned taken, wide *magnitude)
{
	wide sum = 0, all = 0;
	int sign = 1;

	if (row == m) {
		*magnitude = 1;
		return 1;
	}
	for (int column = 0; column < m; column++) {
		wide inner;

		if (taken >> column & 1)
			continue;
		sum += sign * (wide)x[row * m + column] * expand(x, m, row + 1, taken | 1u << column, &inner);
		all += fabsf128(x[row * m + column]) * inner;
		sign = -sign;
	}
	*magnitude = all;
	return sum;
}

static void make_special(enum type type, char *x, int m)
{
	size_t size = types[type].size, row = (size_t)m * size;

	if (m > 1 && random_bits() % 3 == 0)
		memcpy(x + row, x, row); /* two rows are equal */
	if (random_bits() % 3 == 0)
		memset(x, 0, size); /* the first pivot is 0 */
	if (random_bits() % 5 == 0)
		memset(x, 0, row);
}

static void check(const struct entry *entry, enum type type, int m)
{
	size_t size = types[type].size, elements = (size_t)(MATRICES * m * m), x_bytes = elements * size;
	size_t room_bytes = (size_t)(m * m) * (type == f64 ? 8 : 4);
	char *x = take(x_bytes), *y = take(MATRICES * size), *part = take(size);
	void *room = take_scratch(room_bytes ? room_bytes : 64);

	fill(type, x, elements);
	for (int i = 0; i < MATRICES && m; i++)
		make_special(type, x + (size_t)(i * m * m) * size, m);
	entry->call(x, y, (int64_t)MATRICES, (int64_t)m, room);
	for (int i = 0; i < MATRICES; i++) {
		double *numbers = numbers_of(type, x + (size_t)(i * m * m) * size, (size_t)(m * m)),
		       got = get(type, y, i);
		wide magnitude, exact = expand(numbers, m, 0, 0, &magnitude);
		double allowed = (double)(8 * m * m) * types[type].of_sums * (double)magnitude +
				 types[type].epsilon * fabs((double)exact) * 1.001 + (type == f16 ? 0x1p-25 : 0);

		if (!(fabs((double)(got - exact)) <= allowed)) {
			printf("%s of %d rows: %.17g is not %.17g\n", entry->name, m, got, (double)exact);
			failures++;
		}
		entry->call(x + (size_t)(i * m * m) * size, part, (int64_t)1, (int64_t)m, room);
		if (memcmp(part, y + (size_t)i * size, size)) {
			printf("%s of %d rows: parts are other bytes\n", entry->name, m);
			failures++;
		}
		free(numbers);
	}
	if (room_bytes && !scratch_is_kept(room, room_bytes)) {
		printf("%s: writes behind its scratch\n", entry->name);
		failures++;
	}
	drop(x, x_bytes);
	drop(y, MATRICES * size);
	drop(part, size);
}

static void check_entry(const struct entry *entry)
{
	for (enum type type = 0; type < 4; type++) {
		if (strcmp(strrchr(entry->name, '_') + 1, types[type].name))
			continue;
		for (int round = 0; round < 40; round++)
			check(entry, type, round % (LARGEST + 1));
		return;
	}
	printf("%s: there is no such type\n", entry->name);
	failures++;
}

int main(void)
{
	return check_entries(check_entry);
}
