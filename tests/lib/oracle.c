/* The independent computation for cores.sh: plain loops over x.npy and w.npy, compared bit by bit with the output of
 * skrun. It shares nothing with sklink, and reads the files as NumPy writes them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float *read_npy(const char *path, size_t count)
{
	FILE *file = fopen(path, "rb");
	unsigned char head[10];
	float *values = malloc(count * sizeof(float));

	if (!file || fread(head, 1, 10, file) != 10 || fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) ||
	    fread(values, sizeof(float), count, file) != count || fgetc(file) != EOF) {
		fprintf(stderr, "%s: not %zu floats\n", path, count);
		exit(1);
	}
	fclose(file);
	return values;
}

static void compare(const char *path, const float *expected, size_t count)
{
	float *values = read_npy(path, count);

	for (size_t i = 0; i < count; i++) {
		if (memcmp(&values[i], &expected[i], sizeof(float))) {
			fprintf(stderr, "%s: [%zu] is %g, expected %g\n", path, i, values[i], expected[i]);
			exit(1);
		}
	}
	free(values);
}

/* Values that are exact in every order of operations that matters here, and not all alike. */
static void write_npy(const char *path, size_t rows, size_t width, unsigned seed)
{
	FILE *file = fopen(path, "wb");
	char head[128];

	memset(head, ' ', sizeof(head));
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	head[10 + sprintf(head + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, width)] =
		' ';
	head[127] = '\n';
	fwrite(head, 1, sizeof(head), file);
	for (size_t i = 0; i < rows * width; i++) {
		float value = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / 65536.0f - 128.0f;

		fwrite(&value, sizeof(value), 1, file);
	}
	fclose(file);
}

/* oracle ROWS WIDTH write: makes x.npy and w.npy. oracle ROWS WIDTH: checks y.npy and z.npy, where y = rows shifted by
 * their first element, of 3x + w; z = y reversed, doubled. */
int main(int argc, char **argv)
{
	size_t rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, width = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	size_t count = rows * width;

	if (argc > 3) {
		write_npy("x.npy", rows, width, 1);
		write_npy("w.npy", rows, width, 2);
		return 0;
	}

	float *x = read_npy("x.npy", count), *w = read_npy("w.npy", count);
	volatile float *y = malloc(count * sizeof(float));
	float *out = malloc(count * sizeof(float));

	for (size_t i = 0; i < count; i++) {
		volatile float scaled = x[i] * 3.0f;

		y[i] = scaled + w[i];
	}
	for (size_t r = 0; r < rows; r++) {
		float first = y[r * width];

		for (size_t i = 0; i < width; i++)
			out[r * width + i] = y[r * width + i] - first;
	}
	compare("y.npy", out, count);
	for (size_t i = 0; i < count; i++)
		y[i] = 2.0f * out[count - 1 - i];
	compare("z.npy", (const float *)y, count);
	return 0;
}
