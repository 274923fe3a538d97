/* See objects.h. */
#include "config.h"

#include "bench/objects.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/rounds.h"

enum { DIGITS = 5, TENSORS = 64, ELEMENTS = 64 };

static char *format(const char *text, const char *folder, unsigned number)
{
	char *result;

	if (asprintf(&result, text, folder, number) < 0)
		bench_fail("asprintf");
	return result;
}

static FILE *create(const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		bench_fail(path);
	return file;
}

static void finish(FILE *file, const char *path)
{
	if (fclose(file))
		bench_fail(path);
}

static uint8_t *read_file(const char *path, size_t *size)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (descriptor < 0 || fstat(descriptor, &status) < 0)
		bench_fail(path);

	uint8_t *bytes = malloc((size_t)status.st_size + 1);

	if (!bytes || read(descriptor, bytes, (size_t)status.st_size) != status.st_size)
		bench_fail(path);
	close(descriptor);
	*size = (size_t)status.st_size;
	return bytes;
}

/* Give the function its number, in every copy of its name. */
static void rename_kernel(uint8_t *bytes, size_t size, unsigned number)
{
	static const char prefix[] = "kernel_";
	const size_t length = sizeof(prefix) - 1;
	char digits[DIGITS];

	for (int i = DIGITS - 1; i >= 0; i--, number /= 10)
		digits[i] = (char)('0' + number % 10);
	for (uint8_t *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), prefix, length));)
		at = memcpy(at + length, digits, DIGITS);
}

static void write_objects(const char *kernel, const char *folder, unsigned count)
{
	char *list = format("%s/objects.txt", folder, 0);
	FILE *names = create(list);
	size_t size;
	uint8_t *bytes = read_file(kernel, &size);

	for (unsigned i = 0; i < count; i++) {
		char *path = format("%s/k%u.o", folder, i);
		FILE *file = create(path);

		rename_kernel(bytes, size, i);
		fwrite(bytes, 1, size, file);
		finish(file, path);
		fprintf(names, "%s\n", path);
		free(path);
	}
	finish(names, list);
	free(bytes);
	free(list);
}

/* A chain: each task reads the output of the one before. */
static void write_manifest(const char *folder, unsigned count)
{
	char *path = format("%s/manifest.yaml", folder, 0);
	FILE *file = create(path);

	fprintf(file, "sklink: 1\ndevice: host\ntensors:\n");
	for (unsigned i = 0; i < TENSORS; i++)
		fprintf(file, "  t%u: {dtype: f32, shape: [%d], role: inout}\n", i, ELEMENTS);
	fprintf(file, "tasks:\n");
	for (unsigned i = 0; i < count; i++)
		fprintf(file, "  - {name: task_%u, kernel: kernel_%0*u, args: [t%u, t%u], scope: all}\n", i, DIGITS, i,
			i % TENSORS, (i + 1) % TENSORS);
	finish(file, path);
	free(path);
}

void bench_write_objects(const char *kernel, const char *folder, unsigned count)
{
	mkdir(folder, 0777);
	write_objects(kernel, folder, count);
	write_manifest(folder, count);
}
