/* `make bench`: what a link costs. In: one compiled kernel (bench/link-kernel.c), of which this program makes N objects
 * and an archive, and a manifest with a task for each. Out: a table of wall time, processor time and peak memory of
 * sklink, which reads the manifest, plans, proves and writes the dispatcher besides, and of the linkers that are
 * installed, which link the same objects into a shared object.
 *
 * The floor is a process that reads every file and writes a file of the output's size. "libyaml" is a process that
 * takes the manifest's events from libyaml and drops them.
 *
 * Machines are noisy, so all linkers take turns in rounds, every round begins with another one, and the ratio to lld is
 * the median of the rounds' ratios. */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>

enum { DIGITS = 5, MOST_ROUNDS = 99, TENSORS = 64, ELEMENTS = 64 };

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static char *format(const char *text, const char *folder, unsigned number)
{
	char *result;

	if (asprintf(&result, text, folder, number) < 0)
		fail("asprintf");
	return result;
}

/* ---- what is linked ---- */

static FILE *create(const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		fail(path);
	return file;
}

static void finish(FILE *file, const char *path)
{
	if (fclose(file))
		fail(path);
}

static uint8_t *read_file(const char *path, size_t *size)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (descriptor < 0 || fstat(descriptor, &status) < 0)
		fail(path);

	uint8_t *bytes = malloc((size_t)status.st_size + 1);

	if (!bytes || read(descriptor, bytes, (size_t)status.st_size) != status.st_size)
		fail(path);
	close(descriptor);
	*size = (size_t)status.st_size;
	return bytes;
}

/* Gives the function its number, wherever its name stands. */
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

/* A chain: each task reads what the one before has written. */
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

/* ---- what is measured ---- */

struct cost {
	double wall, processor; /* ms */
	double memory; /* MiB */
};

struct linker {
	const char *name;
	char **command;
	bool installed;
	struct cost costs[MOST_ROUNDS];
};

/* The command's standard output is dropped. */
static bool run(char *const *command, struct cost *cost)
{
	struct timespec start, end;
	struct rusage usage;
	int status;

	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &start);

	pid_t child = vfork();

	if (child < 0)
		fail("vfork");
	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (wait4(child, &status, 0, &usage) < 0)
		fail("wait4");
	clock_gettime(CLOCK_MONOTONIC, &end);
	cost->wall = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
	cost->processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
			  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
	cost->memory = (double)usage.ru_maxrss / 1024;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* `link floor OUTPUT SIZE LIST`: reads every file that the list names, and writes SIZE bytes. */
static int run_floor(const char *output, const char *size_text, const char *list)
{
	static uint8_t buffer[1 << 16];
	FILE *names = fopen(list, "r");
	char path[4096];
	size_t size = strtoul(size_text, NULL, 10);

	if (!names)
		fail(list);
	while (fscanf(names, "%4095s", path) == 1) {
		int descriptor = open(path, O_RDONLY | O_CLOEXEC);

		if (descriptor < 0)
			fail(path);
		while (read(descriptor, buffer, sizeof(buffer)) > 0)
			;
		close(descriptor);
	}
	fclose(names);

	int descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777);

	for (size_t done = 0; done < size;) {
		size_t part = size - done < sizeof(buffer) ? size - done : sizeof(buffer);

		if (write(descriptor, buffer, part) != (ssize_t)part)
			fail(output);
		done += part;
	}
	close(descriptor);
	return 0;
}

/* `link events MANIFEST` */
static int run_events(const char *manifest)
{
	FILE *file = fopen(manifest, "rb");
	yaml_parser_t parser;
	yaml_event_t event;
	bool last = false;

	if (!file || !yaml_parser_initialize(&parser))
		fail(manifest);
	yaml_parser_set_input_file(&parser, file);
	while (!last) {
		if (!yaml_parser_parse(&parser, &event))
			return 1;
		last = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	fclose(file);
	return 0;
}

/* ---- the table ---- */

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double median_of(const struct linker *linker, unsigned rounds, size_t field)
{
	double values[MOST_ROUNDS];

	for (unsigned i = 0; i < rounds; i++)
		values[i] = *(const double *)((const char *)&linker->costs[i] + field);
	return median(values, rounds);
}

static void measure(struct linker *linkers, unsigned count, unsigned rounds)
{
	for (unsigned i = 0; i < count; i++) /* warms the caches */
		linkers[i].installed = run(linkers[i].command, &linkers[i].costs[0]);
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < count; i++) {
			struct linker *linker = &linkers[(i + round) % count];

			if (linker->installed && !run(linker->command, &linker->costs[round]))
				exit(1);
		}
}

static void print_linker(const struct linker *linker, const struct linker *reference, unsigned rounds)
{
	double ratios[MOST_ROUNDS];

	if (!linker->installed) {
		printf("  %-22s not installed\n", linker->name);
		return;
	}
	printf("  %-22s %8.1f %8.1f %8.1f", linker->name, median_of(linker, rounds, offsetof(struct cost, wall)),
	       median_of(linker, rounds, offsetof(struct cost, processor)),
	       median_of(linker, rounds, offsetof(struct cost, memory)));
	if (reference->installed) {
		for (unsigned i = 0; i < rounds; i++)
			ratios[i] = reference->costs[i].wall / linker->costs[i].wall;
		printf("  %.2f", median(ratios, rounds));
	}
	printf("\n");
}

static void print_table(const char *title, struct linker *linkers, unsigned count, unsigned rounds)
{
	const struct linker *reference = &linkers[0];

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(linkers[i].name, "lld"))
			reference = &linkers[i];
	printf("\n%s, medians of %u rounds\n", title, rounds);
	printf("  %-22s %8s %8s %8s  %s\n", "", "wall ms", "CPU ms", "peak MiB", "times faster than lld");
	for (unsigned i = 0; i < count; i++)
		print_linker(&linkers[i], reference, rounds);
}

#define COMMAND(...) ((char *[]){__VA_ARGS__, NULL})

/* Links everything in the folder: the objects one by one, then from one archive. */
static void compare(const char *self, const char *folder, const char *sklink, unsigned count, unsigned rounds)
{
	char *package = format("%s/package.sk", folder, 0), *output = format("%s/out.so", folder, 0);
	char *manifest = format("%s/manifest.yaml", folder, 0), *archive = format("%s/all.a", folder, 0);
	char *list = format("%s/objects.txt", folder, 0), *response = format("@%s/objects.txt", folder, 0);
	struct cost cost;
	struct stat status;

	if (!run(COMMAND("ar", "rcs", archive, response), &cost) ||
	    !run(COMMAND((char *)sklink, manifest, response, "-o", package), &cost) || stat(package, &status) < 0)
		exit(1);

	char *size = format("%s%u", "", (unsigned)status.st_size);
	struct linker loose[] = {
		{.name = "sklink", .command = COMMAND((char *)sklink, manifest, response, "-o", package)},
		{.name = "sklink -j1", .command = COMMAND((char *)sklink, "-j1", manifest, response, "-o", package)},
		{.name = "lld", .command = COMMAND("ld.lld", "-shared", response, "-o", output)},
		{.name = "GNU ld", .command = COMMAND("ld.bfd", "-shared", response, "-o", output)},
		{.name = "mold", .command = COMMAND("mold", "--no-fork", "-shared", response, "-o", output)},
		{.name = "floor (read and write)", .command = COMMAND((char *)self, "floor", output, size, list)},
		{.name = "libyaml's events", .command = COMMAND((char *)self, "events", manifest)},
	};
	struct linker whole[] = {
		{.name = "sklink", .command = COMMAND((char *)sklink, manifest, archive, "-o", package)},
		{.name = "sklink -j1", .command = COMMAND((char *)sklink, "-j1", manifest, archive, "-o", package)},
		{.name = "lld", .command = COMMAND("ld.lld", "-shared", "--whole-archive", archive, "-o", output)},
		{.name = "GNU ld", .command = COMMAND("ld.bfd", "-shared", "--whole-archive", archive, "-o", output)},
		{.name = "mold",
		 .command = COMMAND("mold", "--no-fork", "-shared", "--whole-archive", archive, "-o", output)},
	};
	char *title = format("%s%u kernels, one object each", "", count);

	measure(loose, sizeof(loose) / sizeof(loose[0]), rounds);
	print_table(title, loose, sizeof(loose) / sizeof(loose[0]), rounds);
	free(title);
	title = format("%s%u kernels in one archive", "", count);
	measure(whole, sizeof(whole) / sizeof(whole[0]), rounds);
	print_table(title, whole, sizeof(whole) / sizeof(whole[0]), rounds);
	free(title);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "floor"))
		return run_floor(argv[2], argv[3], argv[4]);
	if (argc == 3 && !strcmp(argv[1], "events"))
		return run_events(argv[2]);
	if (argc != 6) {
		fprintf(stderr, "usage: link SKLINK KERNEL.o FOLDER COUNT ROUNDS\n");
		return 2;
	}

	unsigned count = (unsigned)strtoul(argv[4], NULL, 10), rounds = (unsigned)strtoul(argv[5], NULL, 10);
	char *folder = format("%s/%u", argv[3], count);

	if (count > 100000 || !rounds || rounds > MOST_ROUNDS)
		return 2;
	mkdir(argv[3], 0777);
	mkdir(folder, 0777);
	write_objects(argv[2], folder, count);
	write_manifest(folder, count);
	compare(argv[0], folder, argv[1], count, rounds);
	return 0;
}
