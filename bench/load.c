/* `make bench`: the time from a file to a callable function: libskrt (the module; the module and its first kernel),
 * dlopen, and only the system calls that map the same segments, each touched once. Input: packages with increasing
 * numbers of kernels. */
#include "config.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/measure.h"

enum { ROUNDS = 301, RUNS = 3, PAGE = 4096 };

static struct skrt_device *device;

static void load(const void *path)
{
	struct skrt_module *module;

	bench_check(skrt_module_load(device, path, &module));
	bench_check(skrt_module_unload(module));
}

static void load_kernel(const void *path)
{
	struct skrt_module *module;
	const struct skrt_kernel *kernel;

	bench_check(skrt_module_load(device, path, &module));
	bench_check(skrt_module_kernel(module, 0, &kernel));
	bench_check(skrt_module_unload(module));
}

static void open_library(const void *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library || !dlsym(library, "sk_all_serial")) {
		fprintf(stderr, "bench: %s\n", dlerror());
		exit(1);
	}
	dlclose(library);
}

/* Map the segments of the file without a check; it is known to be good. */
static void map(const void *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header;
	Elf64_Phdr segments[32];
	uint64_t span = 0;

	if (pread(file, &header, sizeof(header), 0) != sizeof(header) || header.e_phnum > 32 ||
	    pread(file, segments, header.e_phnum * sizeof(segments[0]), (off_t)header.e_phoff) < 0)
		exit(1);
	for (int i = 0; i < header.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD)
			span = (segments[i].p_vaddr + segments[i].p_memsz + PAGE - 1) / PAGE * PAGE;
	char *base = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (int i = 0; i < header.e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		uint64_t within = segment->p_vaddr % PAGE;
		int protection = PROT_READ | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
				 (segment->p_flags & PF_X ? PROT_EXEC : 0);

		if (segment->p_type == PT_GNU_RELRO)
			mprotect(base + segment->p_vaddr - within, segment->p_memsz / PAGE * PAGE, PROT_READ);
		if (segment->p_type != PT_LOAD)
			continue;
		char *start = mmap(base + segment->p_vaddr - within, segment->p_filesz + within, protection,
				   MAP_PRIVATE | MAP_FIXED, file, (off_t)(segment->p_offset - within));
		if (start == MAP_FAILED)
			exit(1);
		(void)*(volatile char *)(start + within);
	}
	munmap(base, span);
	close(file);
}

/* Return the number of the package's relocations: all of them are RELATIVE, see bench/generate. */
static double relocation_count(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;
	double count = 0;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		exit(1);
	for (const Elf64_Dyn *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_RELASZ)
			count = (double)entry->d_un.d_val / sizeof(Elf64_Rela);
	dlclose(library);
	return count;
}

static void bench_package(const char *path)
{
	enum { MAP, LOAD, KERNEL, DLOPEN, COUNT };
	static void (*const runs[COUNT])(const void *) = {map, load, load_kernel, open_library};
	static struct bench_variant variants[COUNT];
	struct bench_variant *all[COUNT];
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	double relocations = relocation_count(path);

	for (int i = 0; i < COUNT; i++) {
		variants[i] = (struct bench_variant){.run = runs[i], .context = path, .steps = 1000, .runs = RUNS};
		all[i] = &variants[i];
	}
	bench_measure(all, COUNT, ROUNDS);
	printf("  %-20s %10.1f %10.1f %10.1f %10.1f %10.2f %10.2f %10.2f", name, bench_median(&variants[MAP]),
	       bench_median(&variants[LOAD]), bench_median(&variants[KERNEL]), bench_median(&variants[DLOPEN]),
	       bench_ratio(&variants[LOAD], &variants[MAP]), bench_ratio(&variants[KERNEL], &variants[MAP]),
	       bench_ratio(&variants[KERNEL], &variants[DLOPEN]));
	if (relocations > 0)
		printf("  %.1f ns for each of %.0f relocations",
		       1000 * bench_difference(&variants[LOAD], &variants[MAP]) / relocations, relocations);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct skrt_device_options options = {.size = sizeof(options), .cores = 1};

	bench_check(skrt_device_open(&options, &device));
	printf("load and unload, \u00b5s: medians of %d rounds\n", ROUNDS);
	printf("%-22s %10s %10s %10s %10s %10s %10s %10s\n", "", "mapping", "module", "and kernel", "dlopen",
	       "module/map", "kernel/map", "kernel/dlo");
	for (int i = 1; i < argc; i++)
		bench_package(argv[i]);
	printf("  goals: at most 1.2 times the mapping calls; with relocations at most the time of dlopen\n");
	bench_check(skrt_device_close(device));
	return 0;
}
