/* The independent computation for features.sh: the network of its manifest as plain loops. It shares nothing with
 * sklink; the files are written and read as NumPy does it.
 *
 *   oracle               makes the inputs and the constants
 *   oracle RUNS BLOCKS   compares the outputs after so many runs; BLOCKS is the number of blocks where no task says it
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, WIDTH = 30, ROWS = 100, FEW = 100 };

static int32_t x[N], row[WIDTH], table[2 * N], factor[2] = {99, 3};
static uint16_t high[FEW], low[FEW];
static uint8_t keep[FEW];
static uint64_t state[1] = {7};

static void write_npy(const char *path, const char *type, const char *shape, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	char head[128];

	memset(head, ' ', sizeof(head));
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	head[10 + sprintf(head + 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape)] = ' ';
	head[127] = '\n';
	if (!file || fwrite(head, 1, sizeof(head), file) != sizeof(head) || fwrite(data, 1, bytes, file) != bytes ||
	    fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void make_inputs(void)
{
	uint32_t random = 1;

	for (int i = 0; i < N; i++)
		x[i] = (int32_t)((random = random * 1664525u + 1013904223u) >> 20) - 2048;
	x[N - 1] = 1023;
	for (int i = 0; i < WIDTH; i++)
		row[i] = i * i - 20;
	for (int i = 0; i < 2 * N; i++)
		table[i] = 3 * i - 5000;
	for (int i = 0; i < FEW; i++) {
		high[i] = (uint16_t)(1000 * i + 1);
		low[i] = (uint16_t)(77 * i + 3);
		keep[i] = i % 3 != 1;
	}
}

static void write_inputs(void)
{
	write_npy("x.npy", "<i4", "4, 25, 30", x, sizeof(x));
	write_npy("factor.npy", "<i4", "1, 2", factor, sizeof(factor));
	write_npy("state.npy", "<u8", "1,", state, sizeof(state));
	write_npy("high.npy", "<u2", "100,", high, sizeof(high));
	write_npy("low.npy", "<f2", "100,", low, sizeof(low));
	write_npy("keep.npy", "|b1", "100,", keep, sizeof(keep));
	write_npy("net/data/row.npy", "<i4", "30,", row, sizeof(row));
	write_npy("net/data/table.npy", "<i4", "2, 3000", table, sizeof(table));
}

static int failures;

static void compare(const char *name, const void *expected, size_t count, size_t size)
{
	char path[64], *values = malloc(count * size);
	unsigned char head[10];

	snprintf(path, sizeof(path), "%s.npy", name);

	FILE *file = fopen(path, "rb");

	if (!file || fread(head, 1, 10, file) != 10 || fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) ||
	    fread(values, size, count, file) != count || fgetc(file) != EOF) {
		fprintf(stderr, "%s: not %zu elements of %zu bytes\n", path, count, size);
		exit(1);
	}
	fclose(file);
	for (size_t i = 0; i < count; i++) {
		if (!memcmp(values + i * size, (const char *)expected + i * size, size))
			continue;
		fprintf(stderr, "%s: element %zu is wrong\n", path, i);
		failures++;
		break;
	}
	free(values);
}

static void check_scalars(void)
{
	const int64_t integers[16] = {
		-128, 255, -32768, 65535, INT32_MIN, UINT32_MAX, INT64_MIN, -1, /* 2^64-1 */
		-1,   200, -2,	   60000, -3,	     4000000000, -4,	    INT64_MIN + 1 /* 2^63+1 */};
	const double reals[12] = {(double)0.1f, 0.1, -INFINITY, 1e-300, 1, 2.5, 3, -4, 5, 6000, 16777216, -0.0};
	uint64_t bits[28];

	memcpy(bits, integers, sizeof(integers));
	memcpy(bits + 16, reals, sizeof(reals));
	compare("bits", bits, 28, 8);
}

/* Scaled, shifted and by rows: compute the chain on the whole tensor, and leave rows 60 to 79 in *inner. */
static void check_rows(int32_t *rows, int32_t *inner)
{
	int32_t scaled[N];

	for (int i = 0; i < N; i++)
		scaled[i] = x[i] * factor[1];
	for (int i = 60 * WIDTH; i < 80 * WIDTH; i++)
		scaled[i] *= -3;
	for (int i = 0; i < N / 2; i++)
		scaled[i] += scaled[N / 2 + i];
	for (int i = 0; i < N; i++)
		rows[i] = scaled[i] + 5 + row[i % WIDTH] * ROWS;
	memcpy(inner, scaled + 60 * WIDTH, 20 * WIDTH * sizeof(*inner));
	compare("rows", rows, N, 4);
}

/* Return their sum. */
static int64_t check_numbers(const int32_t *inner, int blocks)
{
	enum { COUNT = 60 * WIDTH };
	int32_t numbers[COUNT];
	int64_t total = 0;

	for (int i = 0; i < COUNT; i++) {
		int from = COUNT - 1 - i;

		numbers[i] = inner[from / 3] + from % 3 + i % 5 * 1000 + 5;
	}
	for (int block = 0; block < blocks; block++)
		for (int i = 60 * block / blocks * WIDTH; i < 60 * (block + 1) / blocks * WIDTH; i++)
			numbers[i] += 100 * block + blocks;
	for (int i = 0; i < COUNT; i++)
		total += numbers[i];
	compare("numbers", numbers, COUNT, 4);
	compare("total", &total, 1, 8);
	return total;
}

static void check_results(void)
{
	const float half = 511.5f;
	const double quarter = 255.75;
	const int8_t byte = -1; /* of 1023 */

	compare("h", &half, 1, 4);
	compare("q", &quarter, 1, 8);
	compare("l", &byte, 1, 1);
}

static void check_streams(const int32_t *rows, int64_t total, unsigned runs)
{
	int32_t both[N], late[N], copies[2 * N];
	uint64_t odd = 0;

	for (int i = 0; i < N; i++) {
		both[i] = 7 * (x[i] + 1) + 7 * table[N + i];
		late[i] = (int32_t)(both[i] + 3 * total);
		odd += 7 * table[N + i] & 1;
	}
	memcpy(copies, both, sizeof(both));
	memcpy(copies + N, rows, sizeof(both));
	*state += runs * (odd + 1);
	compare("both", both, N, 4);
	compare("late", late, N, 4);
	compare("copies", copies, (size_t)2 * N, 4);
	compare("state", state, 1, 8);
}

static void check_packed(void)
{
	uint32_t packed[FEW];

	for (int i = 0; i < FEW; i++)
		packed[i] = keep[i] ? (uint32_t)high[i] * 65536 + low[i] : 0;
	compare("packed", packed, FEW, 4);
}

int main(int argc, char **argv)
{
	int32_t rows[N], inner[20 * WIDTH];

	make_inputs();
	if (argc != 3) {
		write_inputs();
		return 0;
	}
	check_scalars();
	check_rows(rows, inner);

	int64_t total = check_numbers(inner, atoi(argv[2]));

	check_results();
	check_streams(rows, total, (unsigned)atoi(argv[1]));
	check_packed();
	return failures != 0;
}
