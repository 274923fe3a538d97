/* Runs a fuzz target over files and over mutants of them, without libFuzzer: the same mutants every time.
 *
 *   fuzz-TARGET [--mutants COUNT] [--first NUMBER] [--text | --messages] [--write] FILE…
 *
 * Each file is run as it is; then COUNT mutants, numbered from NUMBER (0), are made of the files in turn. Everything
 * runs in a child process, which is restarted whenever an input ends it. A crash, a sanitizer's report, a leak, more
 * than ten seconds, or more memory than a multiple of the input is a failure: it is printed, and the mutant is left in
 * the working directory. --write runs nothing: it writes the inputs to input-0, input-1 … in the working directory. The
 * exit status is 1 if there was a failure. With mutants it is also 1 if every file or no input was refused, since such
 * a run shows little. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutants.h"

enum { SECONDS = 10, BATCH = 1000, MAXIMUM_FAILURES = 10 };

/* The memory that a target may allocate for an input of N bytes: 64 MiB + 200 N. */
enum { MEMORY_FREE = 64 << 20, MEMORY_FACTOR = 200 };

struct file {
	const char *path;
	uint8_t *bytes;
	size_t size;
};

/* The child's reports to its parent. */
struct progress {
	uint64_t current; /* the input that runs: a file's number, then files + a mutant's */
	uint64_t done, accepted, files_accepted;
	double slowest; /* seconds */
	uint64_t slowest_number;
	double hungriest; /* bytes per byte of input, where a sanitizer counts them */
	uint64_t hungriest_number;
};

struct run {
	struct file *files;
	size_t file_count;
	uint64_t first, mutants;
	bool text, messages, write;
	struct progress *progress; /* shared with the child */
};

static struct file read_file(const char *path)
{
	FILE *stream = fopen(path, "rb");
	struct file file = {.path = path};

	if (!stream || fseek(stream, 0, SEEK_END) || (file.size = (size_t)ftell(stream)) > ((size_t)1 << 30)) {
		perror(path);
		exit(2);
	}
	rewind(stream);
	file.bytes = malloc(file.size + 1);
	if (!file.bytes || fread(file.bytes, 1, file.size, stream) != file.size) {
		perror(path);
		exit(2);
	}
	fclose(stream);
	return file;
}

static struct mutant input_number(const struct run *run, uint64_t number)
{
	const struct file *file = &run->files[number % run->file_count];

	if (number < run->file_count) {
		struct mutant same = {"file", malloc(file->size + 1), file->size};

		if (!same.bytes)
			abort();
		memcpy(same.bytes, file->bytes, file->size);
		return same;
	}
	number = run->first + number - run->file_count;
	file = &run->files[number % run->file_count];
	return (run->text	? mutant_of_text
		: run->messages ? mutant_of_message
				: mutant_of_elf)(file->bytes, file->size, number);
}

/* ---- memory ---- */

/* A sanitizer's own, where there is one. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
					      void (*free_hook)(const volatile void *)) __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *memory) __attribute__((weak));

/* The hooks have no context. */
static size_t allocated, most_allocated, limit = SIZE_MAX;

static void count_malloc(const volatile void *memory, size_t size)
{
	(void)memory;
	size_t now = __atomic_add_fetch(&allocated, size, __ATOMIC_RELAXED);

	if (now > most_allocated)
		most_allocated = now;
	if (now > limit) {
		limit = SIZE_MAX;
		fprintf(stderr, "more memory than an input of this size may take: %zu bytes\n", now);
		abort();
	}
}

static void count_free(const volatile void *memory)
{
	if (memory)
		__atomic_sub_fetch(&allocated, __sanitizer_get_allocated_size(memory), __ATOMIC_RELAXED);
}

/* Return the bytes of private writable memory that the process has; RLIMIT_DATA limits the same number. */
static size_t data_size(void)
{
	unsigned long pages = 0;
	FILE *stream = fopen("/proc/self/statm", "r");

	if (!stream || fscanf(stream, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		abort();
	fclose(stream);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit_memory(size_t input_size)
{
	size_t more = MEMORY_FREE + MEMORY_FACTOR * input_size;
	struct rlimit data;

	if (__sanitizer_install_malloc_and_free_hooks) {
		most_allocated = allocated;
		limit = allocated + more;
		return;
	}
	if (getrlimit(RLIMIT_DATA, &data))
		abort();
	data.rlim_cur = data_size() + more;
	if (setrlimit(RLIMIT_DATA, &data))
		abort();
}

/* ---- the child ---- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_one(const struct run *run, uint64_t number)
{
	struct progress *progress = run->progress;
	struct mutant mutant = input_number(run, number);

	progress->current = number;
	limit_memory(mutant.size);

	size_t before = allocated;
	uint64_t accepted = fuzz_accepted();
	double start = seconds(), taken;

	alarm(SECONDS);
	LLVMFuzzerTestOneInput(mutant.bytes, mutant.size);
	alarm(0);
	limit = SIZE_MAX;
	taken = seconds() - start;
	if (taken > progress->slowest) {
		progress->slowest = taken;
		progress->slowest_number = number;
	}

	double hunger = (double)(most_allocated - before) / (double)(mutant.size + 1);

	if (most_allocated > before + MEMORY_FREE && hunger > progress->hungriest) {
		progress->hungriest = hunger;
		progress->hungriest_number = number;
	}
	progress->done++;
	progress->accepted += fuzz_accepted() > accepted;
	progress->files_accepted += number < run->file_count && fuzz_accepted() > accepted;
	free(mutant.bytes);
}

static void run_batch(const struct run *run, uint64_t start, uint64_t end)
{
	if (__sanitizer_install_malloc_and_free_hooks)
		__sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
	for (uint64_t i = start; i < end; i++)
		run_one(run, i);
	run->progress->current = UINT64_MAX; /* a leak found later belongs to no single input */
	exit(0);
}

/* ---- the parent ---- */

static void describe(const struct run *run, uint64_t number, char *text, size_t size)
{
	struct mutant mutant = input_number(run, number);
	uint64_t mutant_number = run->first + number - run->file_count;

	if (number < run->file_count)
		snprintf(text, size, "%s", run->files[number].path);
	else
		snprintf(text, size, "mutant %llu (%s) of %s", (unsigned long long)mutant_number, mutant.kind,
			 run->files[mutant_number % run->file_count].path);
	free(mutant.bytes);
}

static void keep(const struct run *run, uint64_t number, const char *what)
{
	char name[64];
	struct mutant mutant = input_number(run, number);

	snprintf(name, sizeof(name), "%s-%llu", what, (unsigned long long)number);

	FILE *stream = fopen(name, "wb");

	if (!stream || fwrite(mutant.bytes, 1, mutant.size, stream) != mutant.size || fclose(stream)) {
		perror(name);
		exit(2);
	}
	free(mutant.bytes);
}

static int write_all(const struct run *run)
{
	for (uint64_t i = 0; i < run->file_count + run->mutants; i++)
		keep(run, i, "input");
	return 0;
}

static void report(const struct run *run, int status)
{
	uint64_t number = run->progress->current;
	char what[512] = "the end of a batch (a leak?)", how[64];

	if (number != UINT64_MAX)
		describe(run, number, what, sizeof(what));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(how, sizeof(how), "takes more than %d seconds", SECONDS);
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(status));
	fprintf(stderr, "FAIL: %s: %s\n", what, how);
	if (number != UINT64_MAX)
		keep(run, number, "failure");
}

static int run_all(const struct run *run)
{
	uint64_t count = run->file_count + run->mutants, start = 0;
	int failures = 0;

	while (start < count && failures < MAXIMUM_FAILURES) {
		uint64_t end = start + BATCH < count ? start + BATCH : count;
		int status;

		fflush(NULL);

		pid_t child = fork();

		if (child == 0)
			run_batch(run, start, end);
		if (child < 0 || waitpid(child, &status, 0) != child) {
			perror("fork");
			return 2;
		}
		start = end;
		if (status) {
			report(run, status);
			failures++;
			if (run->progress->current != UINT64_MAX)
				start = run->progress->current + 1;
		}
	}
	return failures ? 1 : 0;
}

static void summarize(const struct run *run)
{
	const struct progress *progress = run->progress;
	char what[512];

	describe(run, progress->slowest_number, what, sizeof(what));
	printf("%llu of %zu files and %llu of %llu inputs were accepted; slowest: %.0f ms, %s\n",
	       (unsigned long long)progress->files_accepted, run->file_count, (unsigned long long)progress->accepted,
	       (unsigned long long)progress->done, 1e3 * progress->slowest, what);
	if (progress->hungriest == 0)
		return;
	describe(run, progress->hungriest_number, what, sizeof(what));
	printf("hungriest: %.0f bytes per byte, %s\n", progress->hungriest, what);
}

int main(int argc, char **argv)
{
	struct run run = {.files = calloc((size_t)argc, sizeof(struct file))};

	for (int i = 1; run.files && i < argc; i++) {
		if (!strcmp(argv[i], "--text"))
			run.text = true;
		else if (!strcmp(argv[i], "--messages"))
			run.messages = true;
		else if (!strcmp(argv[i], "--write"))
			run.write = true;
		else if (!strcmp(argv[i], "--mutants") && i + 1 < argc)
			run.mutants = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--first") && i + 1 < argc)
			run.first = strtoull(argv[++i], NULL, 10);
		else
			run.files[run.file_count++] = read_file(argv[i]);
	}
	run.progress = mmap(NULL, sizeof(*run.progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!run.file_count || run.progress == MAP_FAILED) {
		fprintf(stderr, "usage: fuzz-TARGET [--mutants COUNT] [--first NUMBER] [--text | --messages] [--write] "
				"FILE...\n");
		return 2;
	}

	int status = (run.write ? write_all : run_all)(&run);

	if (!run.write)
		summarize(&run);
	if (!status && run.mutants && !run.write &&
	    (!run.progress->files_accepted || run.progress->accepted == run.progress->done)) {
		fprintf(stderr, "FAIL: all files were refused, or no input was\n");
		status = 1;
	}
	for (size_t i = 0; i < run.file_count; i++)
		free(run.files[i].bytes);
	free(run.files);
	return status;
}
