/* faults PACKAGE KERNEL TITLE DEVICE CORES: run the launch, or the task of that name by itself, again and again, with a
 * kernel that fails in another way each time, and check the error. After each failure the same process, device and
 * stream must compute the right result; the same holds after a kernel has changed control state that is not its own.
 * tests/runtime/faults.sh makes the package. */
#include <fcntl.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/skrt.h"

enum { ELEMENTS = 1000, PAGE = 4096 };

/* The text expected after "TITLE: task 'bad': kernel misbehave", in the order of tests/runtime/fault-kernels.c, from 1
 * on. */
static const char *const expected[] = {
	" on CORE: segmentation fault (SIGSEGV): write at address 0x10; at misbehave[.a-z]*\\+0x[0-9a-f]+ ",
	" on CORE: segmentation fault (SIGSEGV): read at address 0x20; at misbehave[.a-z]*\\+0x[0-9a-f]+ ",
	" on CORE: segmentation fault (SIGSEGV): access to 0x8000000000000000, an address that no processor can have; "
	"at misbehave[.a-z]*\\+0x",
	" on CORE: segmentation fault (SIGSEGV): write at address 0x[0-9a-f]*; at .* of libc",
	" on CORE: segmentation fault (SIGSEGV): instruction fetch at address 0x0; called at misbehave[.a-z]*\\+0x",
	" on CORE: segmentation fault (SIGSEGV): instruction fetch at address 0x[0-9a-f]*; called at "
	"misbehave[.a-z]*\\+0x",
	" on CORE: bus error (SIGBUS): read at address 0x[0-9a-f]*; at misbehave[.a-z]*\\+0x",
	" on CORE: integer division by zero, or its result is too large (SIGFPE): at misbehave[.a-z]*\\+0x",
	" on CORE: illegal instruction (SIGILL): at misbehave[.a-z]*\\+0x",
	" returned status 42 on CORE",
	" on CORE: stack overflow (SIGSEGV): the stack has 8388608 bytes; at ",
	" called abort on CORE, at misbehave[.a-z]*\\+0x",
	" called exit on CORE, at misbehave[.a-z]*\\+0x",
	" called __assert_fail on CORE, at misbehave[.a-z]*\\+0x",
	" called __stack_chk_fail on CORE, at misbehave[.a-z]*\\+0x",
	" on CORE: breakpoint instruction (SIGTRAP): at misbehave[.a-z]*\\+0x",
	" on CORE: debug trap (SIGTRAP): at misbehave[.a-z]*\\+0x",
	" on CORE: debug trap (SIGTRAP): at ",
	" on CORE: segmentation fault (SIGSEGV): access to 0x[0-9a-f]*4 by an instruction that needs a multiple of 16; "
	"at misbehave[.a-z]*\\+0x",
	" on CORE: stack overflow (SIGSEGV): the stack has 8388608 bytes; at frame_16[.a-z]*\\+0x",
	" on CORE: stack overflow (SIGSEGV): the stack has 8388608 bytes; at frame_60[.a-z]*\\+0x",
	" on CORE: bus error (SIGBUS): an access that is not aligned, while the kernel has alignment checks on; at "
	"misbehave",
	" on CORE: segmentation fault (SIGSEGV): write at address 0x10; at misbehave[.a-z]*\\+0x[0-9a-f]+ ",
	"CORE: segmentation fault (SIGSEGV): read at address 0x0; at .*; a kernel on this core had changed FS, by "
	"which "
	"a thread finds its own memory",
	" on CORE: it was at misbehave[.a-z]*\\+0x[0-9a-f]+ .*; a kernel on this core had changed FS",
	" on CORE: it was at misbehave[.a-z]*\\+0x",
	" on CORE: it was at misbehave[.a-z]*\\+0x",
};

enum { KINDS = sizeof(expected) / sizeof(expected[0]), TRUNCATED = 7, LOST_THREAD = KINDS - 3, FINE_KINDS = 10 };

static int32_t *kind;
static float *x, *y;

static void check(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "faults: %s: %s\n", skrt_status_name(status), skrt_error());
	exit(1);
}

/* Write the regular expression of the whole error: parentheses are literal. */
static void compose(char *pattern, size_t size, const char *title, const char *text, int number)
{
	/* When several tasks have all returned, the faulty one is not known. */
	const char *task =
		number == LOST_THREAD ? "(task 'bad': kernel misbehave on )?" : "task 'bad': kernel misbehave";
	size_t used = (size_t)snprintf(pattern, size, "^%s: %s%s", title,
				       number > LOST_THREAD ? "not ended within 0.2 s: " : "", task);

	for (const char *c = text; *c && used + 16 < size; c++) {
		if (!strncmp(c, "CORE", 4)) {
			used += (size_t)snprintf(pattern + used, size - used, "core [0-9]+");
			c += 3;
		} else {
			if (*c == '(' || *c == ')')
				pattern[used++] = '\\';
			pattern[used++] = *c;
		}
	}
	pattern[used] = '\0';
}

static void expect(const char *title, int number)
{
	char pattern[512];
	regex_t expression;

	compose(pattern, sizeof(pattern), title, expected[number - 1], number);
	if (regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) || regexec(&expression, skrt_error(), 0, NULL, 0)) {
		fprintf(stderr, "faults: kind %d: '%s' does not match '%s'\n", number, skrt_error(), pattern);
		exit(1);
	}
	regfree(&expression);
	printf("%s\n", skrt_error());
}

static void *memory[8]; /* of tensors, by binding number */

/* Bind every tensor; the tensor `page` gets the given memory. */
static void bind_all(struct skrt_module *module, struct skrt_instance *instance, void *page)
{
	for (uint32_t i = 0; i < skrt_module_tensor_count(module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};
		void *data = page;

		check(skrt_module_tensor(module, i, &tensor));
		if (strcmp(tensor.name, "page"))
			data = memory[i] = aligned_alloc(64, (tensor.bytes + 63) / 64 * 64);
		check(skrt_instance_bind(instance, i, data, tensor.bytes));
	}
}

static void *memory_of(struct skrt_module *module, const char *name)
{
	uint32_t index;

	check(skrt_module_find_tensor(module, name, &index));
	return memory[index];
}

/* A page of a file that has become shorter: a read of it raises SIGBUS. */
static void *truncated_page(void)
{
	char path[] = "/tmp/faults.XXXXXX";
	int file = mkstemp(path);

	if (file < 0 || ftruncate(file, PAGE) || unlink(path))
		exit(1);
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED || ftruncate(file, 0))
		exit(1);
	close(file);
	return page;
}

static void run_well(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel,
		     float factor)
{
	*kind = 0;
	memset(y, 0, ELEMENTS * sizeof(*y));
	check(skrt_run(stream, instance, kernel));
	for (int i = 0; i < ELEMENTS; i++) {
		if (y[i] == factor * (factor * x[i] + 1))
			continue;
		fprintf(stderr, "faults: y[%d] is %g\n", i, (double)y[i]);
		exit(1);
	}
}

/* Check the control state of the calling thread, and operations that depend on it: copies from the front and of
 * unaligned memory, SSE and x87 arithmetic. */
static void check_thread(int number)
{
	static char bytes[4096];
	volatile long double third = 1;
	uint16_t control_word;
	int32_t odd = 0;

	__asm__("fnstcw %0" : "=m"(control_word));
	memset(bytes, 1, sizeof(bytes) - 1);
	memcpy(&odd, bytes + 1, sizeof(odd));
	third /= 3;
	if (!(__builtin_ia32_readeflags_u64() & (1 << 10 | 1 << 18)) && __builtin_ia32_stmxcsr() >> 7 == 0x1f80 >> 7 &&
	    control_word == 0x37f && odd == 0x01010101 && third == 1 / 3.0L)
		return;
	fprintf(stderr, "faults: kind %d: control state has changed\n", number);
	exit(1);
}

int main(int argc, char **argv)
{
	struct skrt_device_options options = {.size = sizeof(options), .timeout_ms = 200};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	const struct skrt_kernel *kernel;

	if (argc != 6)
		return 2;
	options.device = argv[4];
	options.cores = (uint32_t)strtoul(argv[5], NULL, 10);
	check(skrt_device_open(&options, &device));
	check(skrt_module_load(device, argv[1], &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));
	if (skrt_module_find_task(module, argv[2], &kernel))
		check(skrt_module_find_kernel(module, argv[2], &kernel));
	void *page = truncated_page();
	bind_all(module, instance, page);
	kind = memory_of(module, "kind");
	x = memory_of(module, "x");
	y = memory_of(module, "y");
	float factor = !strcmp(argv[2], "sk_fused") ? 2 : 1;
	for (int i = 0; i < ELEMENTS; i++)
		x[i] = (float)i;
	run_well(stream, instance, kernel, factor);
	for (int number = 1; number <= KINDS; number++) {
#ifdef SANITIZED /* with alternate stacks of the sanitizer's own */
		if (number == LOST_THREAD || number == LOST_THREAD + 1)
			continue;
#endif
		*kind = number;
		if (skrt_run(stream, instance, kernel) != SKRT_KERNEL_FAILED) {
			fprintf(stderr, "faults: kind %d: no error\n", number);
			return 1;
		}
		expect(argv[3], number);
		check_thread(number);
		run_well(stream, instance, kernel, factor);
	}
	for (int number = KINDS + 1; number <= KINDS + FINE_KINDS; number++) {
		*kind = number;
		check(skrt_run(stream, instance, kernel));
		check_thread(number);
		run_well(stream, instance, kernel, factor);
	}
	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(instance));
	check(skrt_module_unload(module));
	check(skrt_device_close(device));
	munmap(page, PAGE);
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		free(memory[i]);
	return 0;
}
