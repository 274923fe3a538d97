/* entries.h: the kernels of one program that compares them. KERNEL_LIST is the file that name_kernels of compare.sh has
 * written, and `kernel` the type that they are called by. */
#include <stdio.h>
#include <string.h>

struct entry {
	const char *name;
	kernel *call;
};
#define KERNEL_NAME(name) kernel name;
#include KERNEL_LIST
#undef KERNEL_NAME
#define KERNEL_NAME(name) {#name, name},
static const struct entry entries[] = {
#include KERNEL_LIST
};

static int failures;

/* Return whether this machine has the instructions of a variant, given by the end of its name. */
static int runs_here(const char *name)
{
	if (strstr(name, "_v3"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	if (strstr(name, "_v4"))
		return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
	if (strstr(name, "_vnni"))
		return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
	return 1;
}

/* Return the exit status of the program: `check` counts the errors of a kernel in `failures`; no kernel at all is also
 * an error. */
static int check_entries(void (*check)(const struct entry *entry))
{
	size_t count = sizeof entries / sizeof *entries, checked = 0;

	for (size_t i = 0; i < count; i++)
		if (runs_here(entries[i].name)) {
			check(&entries[i]);
			checked++;
		}
	printf("%zu of %zu kernels, %d failures\n", checked, count, failures);
	return failures || !checked;
}
