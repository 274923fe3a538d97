/* `make bench`: the cost of a link, as tables of wall time, processor time and peak memory, of sklink and of the
 * linkers that are installed. sklink also reads a manifest, plans, proves and writes the dispatcher; the others make a
 * shared object of the same objects.
 *
 *   link SKLINK KERNEL.o FOLDER COUNT ROUNDS
 *       COUNT objects like that one (objects.c writes them), loose and in one archive, with a task for each
 *   link SKLINK FOLDER MEMBERS FUNCTIONS ROUNDS
 *       the output of bench/openblas for Debian's OpenBLAS: the whole archive, with a task for each of its functions,
 *       and a thousand of them on demand
 *   link floor OUTPUT SIZE LIST
 *       the row named floor: reads every file on the list, and writes a file of that size
 *   link events MANIFEST
 *       takes the manifest's events from libyaml and drops them */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "bench/objects.h"
#include "bench/rounds.h"

/* ---- programs compared with ---- */

static int run_floor(const char *output, const char *size_text, const char *list)
{
	static uint8_t buffer[1 << 16];
	FILE *names = fopen(list, "r");
	char path[4096];
	size_t size = strtoul(size_text, NULL, 10);

	if (!names)
		bench_fail(list);
	while (fscanf(names, "%4095s", path) == 1) {
		int descriptor = open(path, O_RDONLY | O_CLOEXEC);

		if (descriptor < 0)
			bench_fail(path);
		while (read(descriptor, buffer, sizeof(buffer)) > 0)
			;
		close(descriptor);
	}
	fclose(names);

	int descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777);

	for (size_t done = 0; done < size;) {
		size_t part = size - done < sizeof(buffer) ? size - done : sizeof(buffer);

		if (write(descriptor, buffer, part) != (ssize_t)part)
			bench_fail(output);
		done += part;
	}
	close(descriptor);
	return 0;
}

static int run_events(const char *manifest)
{
	FILE *file = fopen(manifest, "rb");
	yaml_parser_t parser;
	yaml_event_t event;
	bool last = false;

	if (!file || !yaml_parser_initialize(&parser))
		bench_fail(manifest);
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

/* ---- the tables ---- */

static char *lld, *lld_name, *gnu_name, *mold_name;

static void find_linkers(void)
{
	lld = bench_newest("ld.lld");
	lld_name = bench_name("lld", lld);
	gnu_name = bench_name("GNU ld", "ld.bfd");
	mold_name = bench_name("mold", "mold");
}

#define COMMAND(...)	((char *[]){__VA_ARGS__, NULL})
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static char *format(const char *text, const char *argument)
{
	char *result;

	if (asprintf(&result, text, argument) < 0)
		bench_fail("asprintf");
	return result;
}

/* Run the command before measuring: it must succeed and leave the file. Return the file's size as text. */
static char *size_made(char *const *command, const char *path)
{
	struct bench_cost cost;
	struct stat status;
	char *text;

	if (bench_run(command, &cost) || stat(path, &status) < 0)
		exit(1);
	if (asprintf(&text, "%llu", (unsigned long long)status.st_size) < 0)
		bench_fail("asprintf");
	return text;
}

/* The folder has objects and a manifest. They are linked one by one, then from one archive. */
static void compare_objects(char *self, char *sklink, const char *folder, const char *count, unsigned rounds)
{
	char *package = format("%s/package.sk", folder), *output = format("%s/out.so", folder);
	char *manifest = format("%s/manifest.yaml", folder), *archive = format("%s/all.a", folder);
	char *list = format("%s/objects.txt", folder), *response = format("@%s/objects.txt", folder);
	struct bench_cost cost;

	if (bench_run(COMMAND("ar", "rcs", archive, response), &cost))
		exit(1);

	char *size = size_made(COMMAND(sklink, manifest, response, "-o", package), package);
	struct bench_linker loose[] = {
		{.name = "sklink", .command = COMMAND(sklink, manifest, response, "-o", package)},
		{.name = "sklink -j1", .command = COMMAND(sklink, "-j1", manifest, response, "-o", package)},
		{.name = lld_name, .command = COMMAND(lld, "-shared", response, "-o", output)},
		{.name = gnu_name, .command = COMMAND("ld.bfd", "-shared", response, "-o", output)},
		{.name = mold_name, .command = COMMAND("mold", "--no-fork", "-shared", response, "-o", output)},
		{.name = "floor (read and write)", .command = COMMAND(self, "floor", output, size, list)},
		{.name = "libyaml's events", .command = COMMAND(self, "events", manifest)},
	};
	struct bench_linker whole[] = {
		{.name = "sklink", .command = COMMAND(sklink, manifest, archive, "-o", package)},
		{.name = "sklink -j1", .command = COMMAND(sklink, "-j1", manifest, archive, "-o", package)},
		{.name = lld_name, .command = COMMAND(lld, "-shared", "--whole-archive", archive, "-o", output)},
		{.name = gnu_name, .command = COMMAND("ld.bfd", "-shared", "--whole-archive", archive, "-o", output)},
		{.name = mold_name,
		 .command = COMMAND("mold", "--no-fork", "-shared", "--whole-archive", archive, "-o", output)},
	};

	bench_compare(format("%s kernels, one object each; linkers: -shared", count), loose, COUNT_OF(loose), rounds);
	bench_compare(format("%s kernels in one archive; linkers: -shared --whole-archive", count), whole,
		      COUNT_OF(whole), rounds);
}

/* All members of the archive, with a companion that defines the symbols that they take from the C library. No linker
 * drops any section, and names bind within the output, as in a package. */
static void compare_whole(char *self, char *sklink, const char *folder, const char *title, unsigned rounds)
{
	char *package = format("%s/package.sk", folder), *output = format("%s/out.so", folder);
	char *archive = format("%s/all.a", folder), *companion = format("%s/companion.o", folder);
	char *manifest = format("%s/all.yaml", folder), *single = format("%s/one.yaml", folder);
	char *list = format("%s/files.txt", folder), *all = "--no-gc-sections", *whole = "--whole-archive";
	char **command = COMMAND(sklink, manifest, all, companion, whole, archive, "-o", package);
	char *size = size_made(command, package);
	struct bench_linker linkers[] = {
		{.name = "sklink", .command = command},
		{.name = "sklink -j1",
		 .command = COMMAND(sklink, "-j1", manifest, all, companion, whole, archive, "-o", package)},
		{.name = "sklink, one task",
		 .command = COMMAND(sklink, single, all, companion, whole, archive, "-o", package)},
		{.name = lld_name,
		 .command = COMMAND(lld, "-shared", "-Bsymbolic", companion, whole, archive, "-o", output)},
		{.name = gnu_name,
		 .command = COMMAND("ld.bfd", "-shared", "-Bsymbolic", companion, whole, archive, "-o", output)},
		{.name = mold_name,
		 .command = COMMAND("mold", "--no-fork", "-shared", "-Bsymbolic", companion, whole, archive, "-o",
				    output)},
		{.name = "floor (read and write)", .command = COMMAND(self, "floor", output, size, list)},
		{.name = "libyaml's events", .command = COMMAND(self, "events", manifest)},
	};

	bench_compare(title, linkers, COUNT_OF(linkers), rounds);
}

/* A thousand functions and the members that they need; a response file asks the other linkers for them by -u. */
static void compare_thousand(char *self, char *sklink, const char *folder, unsigned rounds)
{
	char *package = format("%s/package.sk", folder), *output = format("%s/out.so", folder);
	char *archive = format("%s/all.a", folder), *manifest = format("%s/thousand.yaml", folder);
	char *wanted = format("@%s/thousand.txt", folder), *machine = "elf_x86_64"; /* no object says so */
	struct bench_linker linkers[] = {
		{.name = "sklink", .command = COMMAND(sklink, manifest, archive, "-o", package)},
		{.name = "sklink -j1", .command = COMMAND(sklink, "-j1", manifest, archive, "-o", package)},
		{.name = lld_name,
		 .command = COMMAND(lld, "-m", machine, "-shared", "-Bsymbolic", wanted, archive, "-o", output)},
		{.name = gnu_name,
		 .command = COMMAND("ld.bfd", "-m", machine, "-shared", "-Bsymbolic", wanted, archive, "-o", output)},
		{.name = mold_name,
		 .command = COMMAND("mold", "--no-fork", "-m", machine, "-shared", "-Bsymbolic", wanted, archive, "-o",
				    output)},
		{.name = "libyaml's events", .command = COMMAND(self, "events", manifest)},
	};

	bench_compare("1000 kernels of OpenBLAS on demand\nlinkers: -shared -Bsymbolic, and -u for each kernel",
		      linkers, COUNT_OF(linkers), rounds);
}

static unsigned number(const char *text, unsigned most)
{
	unsigned long value = strtoul(text, NULL, 10);

	if (value && value <= most)
		return (unsigned)value;
	fprintf(stderr, "bench: %s is not in [1, %u]\n", text, most);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "floor"))
		return run_floor(argv[2], argv[3], argv[4]);
	if (argc == 3 && !strcmp(argv[1], "events"))
		return run_events(argv[2]);
	if (argc != 6) {
		fprintf(stderr, "usage: link SKLINK KERNEL.o FOLDER COUNT ROUNDS\n"
				"       link SKLINK FOLDER MEMBERS FUNCTIONS ROUNDS\n");
		return 2;
	}

	unsigned rounds = number(argv[5], BENCH_MOST_LINKS);
	struct stat status;

	find_linkers();
	if (stat(argv[2], &status) == 0 && S_ISDIR(status.st_mode)) {
		char *title;

		if (asprintf(&title,
			     "%s members of OpenBLAS, a task for each of %s functions\n"
			     "linkers: -shared -Bsymbolic --whole-archive; sklink: --whole-archive --no-gc-sections",
			     argv[3], argv[4]) < 0)
			bench_fail("asprintf");
		compare_whole(argv[0], argv[1], argv[2], title, rounds);
		compare_thousand(argv[0], argv[1], argv[2], rounds);
		return 0;
	}
	bench_write_objects(argv[2], argv[3], number(argv[4], BENCH_MOST_OBJECTS));
	compare_objects(argv[0], argv[1], argv[3], argv[4], rounds);
	return 0;
}
