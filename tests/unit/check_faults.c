/* Launches that do not end well, on packages made by hand: hangs, which no package of sklink's has; a lost device;
 * signals that libskrt must not handle. tests/runtime/faults.sh has the faults of kernels in real packages. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/statuses.h"
#include "tests/lib/suite.h"

static const char preamble[] =
	"#include \"format/skabi.h\"\n"
	"#define LOG(core) ((volatile uint64_t *)(core)->bindings[0])\n"
	"void *malloc(unsigned long size); void abort(void);\n"
	"int kernel(void) { return 0; }\n"
	"static int await(struct sk_core *core, unsigned home, uint64_t step)\n"
	"{ uint64_t target = core->lanes[0].base + step; const volatile uint64_t *word = core->homes[home].word;\n"
	"  return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= target ? 0 : core->runtime->await(core, word, target, 1); "
	"}\n";

/* forgotten: all other cores await a step that home 0 never publishes, though it leaves. circle: two homes await each
 * other. itself: a core awaits a step of its own. fine: all count. */
static const char hang_source[] = "int forgotten(struct sk_core *core)\n"
				  "{ if (core->homes[0].mine) return 0;\n"
				  "  return await(core, 0, 1) ? SK_STATUS_ABORTED : 0; }\n"
				  "int circle(struct sk_core *core)\n"
				  "{ if (core->homes[0].mine) return await(core, 1, 2) ? SK_STATUS_ABORTED : 0;\n"
				  "  if (core->homes[1].mine) return await(core, 0, 1) ? SK_STATUS_ABORTED : 0;\n"
				  "  return 0; }\n"
				  "int itself(struct sk_core *core)\n"
				  "{ return core->homes[0].mine && await(core, 0, 1) ? SK_STATUS_ABORTED : 0; }\n"
				  "int fine(struct sk_core *core)\n"
				  "{ __atomic_fetch_add(&LOG(core)[0], 1, __ATOMIC_RELAXED); return 0; }\n";

static const struct handmade_step forgotten_steps[] = {{"a", 0}, {"b", 0}};
static const struct handmade_step circle_steps[] = {{"c", 0}, {"d", 0}};
static const struct handmade_step itself_steps[] = {{"e", 0}};
static const struct handmade_step fine_steps[] = {{"f", 0}};
static const struct handmade_launch hang_launches[] = {
	{"forgotten", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}, {0, 1}}, 2, {{0}}, 0, forgotten_steps, 2},
	{"circle", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}, {0, 1}}, 2, {{0}}, 0, circle_steps, 2},
	{"itself", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, itself_steps, 1},
	{"fine", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, fine_steps, 1},
	{NULL},
};

/* bad: core 0 dies in a package that imports malloc. ends: it calls abort, which holds no lock. */
static const char locking_source[] =
	"int bad(struct sk_core *core)\n"
	"{ if (core->index == 0) *(void *volatile *)8 = core->count ? 0 : malloc(1); return 0; }\n"
	"int ends(struct sk_core *core) { if (core->index == 0) abort(); return 0; }\n"
	"int fine(struct sk_core *core)\n"
	"{ __atomic_fetch_add(&LOG(core)[0], 1, __ATOMIC_RELAXED); return 0; }\n"
	"int fine_serial(void *const *tensors, void *workspace)\n"
	"{ (void)tensors; (void)workspace; return *(volatile int *)16; }\n";

static const struct handmade_step bad_steps[] = {{"g", 0}}, ends_steps[] = {{"h", 0}};
static const struct handmade_launch locking_launches[] = {
	{"bad", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, bad_steps, 1},
	{"ends", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, ends_steps, 1},
	{"fine", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 0}}, 1, {{0}}, 0, fine_steps, 1},
	{NULL},
};

static const struct handmade_tensor tensors[] = {{"log", SK_U64, SK_ROLE_INOUT, 64}, {NULL}};

/* ---- shared by all tests ---- */

static char path[128];
static _Alignas(64) uint64_t log_words[64];

/* A device with a package on it. */
struct rig {
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
};

static void make(const char *source, const struct handmade_launch *launches)
{
	char text[8192];
	struct handmade_package package = {.lane_count = 1, .tensors = tensors, .launches = launches, .source = text};

	ck_assert_int_lt(snprintf(text, sizeof(text), "%s%s", preamble, source), (int)sizeof(text));
	handmade_make(path, &package);
}

static struct rig open_rig(const struct skrt_device_options *options)
{
	struct rig rig;

	ok(skrt_device_open(options, &rig.device));
	ok(skrt_module_load(rig.device, path, &rig.module));
	ok(skrt_instance_create(rig.module, &rig.instance));
	ok(skrt_stream_create(rig.device, &rig.stream));
	ok(skrt_instance_bind(rig.instance, 0, log_words, sizeof(log_words)));
	return rig;
}

static void close_rig(const struct rig *rig)
{
	ok(skrt_stream_destroy(rig->stream));
	ok(skrt_instance_destroy(rig->instance));
	ok(skrt_module_unload(rig->module));
	ok(skrt_device_close(rig->device));
}

static enum skrt_status run(const struct rig *rig, const char *name)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(rig->module, name, &kernel));
	return skrt_run(rig->stream, rig->instance, kernel);
}

static void setup(void)
{
	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
	memset(log_words, 0, sizeof(log_words));
}

/* ---- hangs ---- */

static const struct {
	const char *device;
	uint32_t cores, all; /* 0: as many as it has; how many that is */
} places[] = {{"host", 2, 2}, {"host", 3, 3}, {"host", 7, 7}, {"a3", 0, 24}, {"a3", 2, 2}};

enum { PLACES = sizeof(places) / sizeof(places[0]) };

static uint32_t core_count(int index)
{
	static const uint32_t counts[] = {1, 2, 7};

	return counts[index];
}

/* The simulated device notices by itself; on threads it takes the time-out. */
START_TEST(hangs)
{
	bool simulated = !strcmp(places[_i].device, "a3");
	struct skrt_device_options options = {
		.size = sizeof(options),
		.device = places[_i].device,
		.cores = places[_i].cores,
		.timeout_ms = simulated ? 0 : 200,
	};
	const char *how = simulated ? ": hangs: core " : ": not ended within 0.2 s: core ";

	make(hang_source, hang_launches);
	struct rig rig = open_rig(&options);
	for (uint32_t i = 1; i <= 3; i++) {
		expect(run(&rig, "forgotten"), SKRT_KERNEL_FAILED, how);
		expect(SKRT_KERNEL_FAILED, SKRT_KERNEL_FAILED,
		       "core 1 awaits task 'a' (step 1) of core 0, which has left without publishing it");
		expect(run(&rig, "circle"), SKRT_KERNEL_FAILED, how);
		expect(SKRT_KERNEL_FAILED, SKRT_KERNEL_FAILED,
		       "core 0 awaits task 'd' (step 2) of core 1, which waits too; "
		       "core 1 awaits task 'c' (step 1) of core 0, which waits too");
		expect(run(&rig, "itself"), SKRT_KERNEL_FAILED,
		       "core 0 awaits task 'e' (step 1) of core 0, which is itself");
		ok(run(&rig, "fine"));
		ck_assert_uint_eq(log_words[0], i * places[_i].all);
	}
	close_rig(&rig);
}
END_TEST

/* A launch within the time-out is left alone, and so is the next one when the first had little time left. */
START_TEST(in_time)
{
	make(hang_source, hang_launches);
	struct rig rig = open_rig(&OPTIONS(.cores = 2, .timeout_ms = 500));
	for (int i = 0; i < 20; i++) {
		ok(run(&rig, "fine"));
		usleep(40000);
	}
	ck_assert_uint_eq(log_words[0], 40);
	close_rig(&rig);
}
END_TEST

/* ---- lost devices ---- */

START_TEST(lost)
{
	const struct skrt_kernel *kernel;

	make(locking_source, locking_launches);
	struct rig rig = open_rig(&OPTIONS(.cores = core_count(_i)));
	struct rig other = open_rig(&OPTIONS(.cores = core_count(_i)));
	expect(run(&rig, "ends"), SKRT_KERNEL_FAILED, "called abort on core 0");
	ok(run(&rig, "fine"));
	expect(run(&rig, "bad"), SKRT_KERNEL_FAILED, "write at address 0x8;");
	expect(SKRT_KERNEL_FAILED, SKRT_KERNEL_FAILED,
	       "; the package imports malloc, which may have held a lock: the device is lost");
	expect(run(&rig, "fine"), SKRT_DEVICE_LOST, "the device is lost: superkernel bad: task 'g'");
	ok(skrt_module_find_kernel(rig.module, "fine", &kernel));
	expect(skrt_run_serial(rig.instance, kernel), SKRT_DEVICE_LOST, "the device is lost");
	expect(skrt_launch_network(rig.stream, rig.instance), SKRT_DEVICE_LOST, "the device is lost");
	/* The other device lives on, until a serial run also kills it. */
	ok(run(&other, "fine"));
	ok(skrt_module_find_kernel(other.module, "fine", &kernel));
	expect(skrt_run_serial(other.instance, kernel), SKRT_KERNEL_FAILED,
	       "superkernel fine: serial run: task 'f': kernel kernel: segmentation fault (SIGSEGV): read at address "
	       "0x10");
	expect(run(&other, "fine"), SKRT_DEVICE_LOST, "the device is lost: superkernel fine: serial run");
	close_rig(&rig);
	close_rig(&other);
	/* The same holds for a device that is opened in its place. */
	rig = open_rig(&OPTIONS(.cores = core_count(_i)));
	ok(run(&rig, "fine"));
	close_rig(&rig);
}
END_TEST

/* ---- refused instructions ---- */

/* Faults that the processor does not explain. rsi has a page of which addresses are multiples of 64, rdi an address one
 * past it, rcx 8; rbx and r12 an address that no processor can have. */
static const struct {
	const char *instruction, *error;
	const char *isa; /* as __builtin_cpu_supports has it; NULL: all have it */
} refused[] = {
#define ONLY_SYSTEM(name) ": the instruction '" name "', which only the system may execute; at refuse+0x"
#define WANTS(low, size)  low " by an instruction that needs a multiple of " size "; at refuse+0x"
#define IMPOSSIBLE(low)	  ": access to 0x80000000000000" low ", an address that no processor can have; at refuse+0x"
#define JUMP		  "SIGSEGV): a jump or return to an address that no processor can have; at "
#define ANYTHING                                                                                                       \
	": an access that is not aligned as its instruction needs it, an address that no processor can have, or an "   \
	"instruction that only the system may execute, or not with these operands; at refuse+0x"
	{"hlt", ONLY_SYSTEM("hlt")},
	{"cli", ONLY_SYSTEM("cli")},
	{"outb %%al, $0x80", ONLY_SYSTEM("out")},
	{"inw %%dx, %%ax", ONLY_SYSTEM("in")},
	{"int $0x21", ONLY_SYSTEM("int")},
	{"mov %%cr3, %%rax", ONLY_SYSTEM("mov from cr")},
	{"mov %%rax, %%dr7", ONLY_SYSTEM("mov to dr")},
	{"rdmsr", ONLY_SYSTEM("rdmsr")},
	{"wbinvd", ONLY_SYSTEM("wbinvd")},
	{"invlpg (%%rsi)", ONLY_SYSTEM("invlpg")},
	{"ltr %%ax", ONLY_SYSTEM("ltr")},
	{"swapgs", ONLY_SYSTEM("swapgs")},
	{"movaps %%xmm0, 4(%%rsi)", WANTS("44", "16")},
	{"movaps %%xmm0, 0x104(%%rsi,%%rcx,2)", WANTS("54", "16")},
	{"movdqa 8(%%rdi), %%xmm9", WANTS("88", "16")},
	{"addps 8(%%rsi,%%rcx), %%xmm0; nop; addps 12(%%rsi,%%rcx), %%xmm0", WANTS("54", "16")},
	{"pshufb 1(%%rsi), %%xmm0", WANTS("41", "16")},
	{"mov %%rsi, %%r13; movntps %%xmm0, 8(%%r13)", WANTS("48", "16")},
	{"lock cmpxchg16b 8(%%rsi)", WANTS("48", "16")},
	{"vmovaps %%xmm0, 8(%%rsi)", WANTS("48", "16"), "avx"},
	{"vmovaps %%ymm0, 16(%%rsi)", WANTS("50", "32"), "avx"},
	{"mov %%rsi, %%r9; vmovdqa 16(%%r9,%%rcx,4), %%ymm11", WANTS("70", "32"), "avx"},
	{"vmovntdqa 16(%%rsi), %%ymm0", WANTS("50", "32"), "avx2"},
	{"vmovaps %%zmm0, 32(%%rsi)", WANTS("60", "64"), "avx512f"},
	{"sub $8, %%rsi; vmovdqa64 0x40(%%rsi), %%zmm20", WANTS("78", "64"), "avx512f"},
	{"lea 8(%%rsi), %%r10; vmovdqa32 0x40(%%r10), %%zmm20", WANTS("88", "64"), "avx512f"},
	{"mov (%%rbx), %%rax", IMPOSSIBLE("00")},
	{"movb $1, 0x12(%%r12)", IMPOSSIBLE("12")},
	{"imul $0x12345678, 0x7f(%%rbx), %%eax", IMPOSSIBLE("7f")},
	{"movabs 0x8000000000000034, %%al", IMPOSSIBLE("34")},
	{"addsd 8(%%rbx,%%rcx), %%xmm0", IMPOSSIBLE("10")},
	{"mov %%rbx, %%rdi; rep stosb", IMPOSSIBLE("00")},
	{"mov %%r12, %%rsi; rep movsb", IMPOSSIBLE("00")},
	{"mov %%r12, %%rdi; rep movsb", IMPOSSIBLE("00")},
	{"pushq (%%rbx)", IMPOSSIBLE("00")},
	{"call *16(%%rbx)", IMPOSSIBLE("10")},
	{"vmovups (%%rbx,%%rcx), %%ymm0", IMPOSSIBLE("08"), "avx"},
	{"mov %%rbx, %%rbp; mov 0x10(%%rbp), %%rax", "(SIGBUS)" IMPOSSIBLE("10")},
	{"mov %%rbx, %%rsp; push %%rax", "(SIGBUS)" IMPOSSIBLE("00")},
	{"jmp *%%rbx", JUMP},
	{"push %%rbx; ret", JUMP},
	{"mov %%fs:(%%rbx), %%rax", ANYTHING},
	{"pushq $-32768; ldmxcsr (%%rsp)", ANYTHING},
	{"mov %%cx, %%ds", ANYTHING},
};

enum { REFUSED = sizeof(refused) / sizeof(refused[0]) };

/* Each instruction is a case of a switch on the log's number. */
static void make_refused(void)
{
	static const struct handmade_launch launches[] = {
		{"refuse", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, bad_steps, 1}, {NULL}};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct handmade_package package = {.lane_count = 1, .tensors = tensors, .launches = launches};

	fprintf(stream,
		"%sstatic _Alignas(256) char page[1024];\nint refuse(struct sk_core *core)\n{ switch (LOG(core)[0]) "
		"{\n",
		preamble);
	for (int i = 0; i < REFUSED; i++)
		fprintf(stream,
			"case %d: __asm__ volatile(\"mov $0x8000000000000000, %%%%rbx; mov %%%%rbx, %%%%r12; %s\""
			" : : \"S\"(page + 64), \"D\"(page + 128), \"c\"(8L) : \"rax\", \"rbx\", \"r9\", \"r10\", "
			"\"r12\", "
			"\"r13\", \"memory\"); break;\n",
			i, refused[i].instruction);
	fputs("} return 0; }\n", stream);
	fclose(stream);
	package.source = text;
	handmade_make(path, &package);
	free(text);
}

static bool has_isa(const char *name)
{
	return !name || (!strcmp(name, "avx") && __builtin_cpu_supports("avx")) ||
	       (!strcmp(name, "avx2") && __builtin_cpu_supports("avx2")) ||
	       (!strcmp(name, "avx512f") && __builtin_cpu_supports("avx512f"));
}

START_TEST(refused_instructions)
{
	make_refused();

	struct rig rig = open_rig(&OPTIONS(.cores = 1));

	for (int i = 0; i < REFUSED; i++) {
		if (!has_isa(refused[i].isa))
			continue;
		log_words[0] = (uint64_t)i;
		expect(run(&rig, "refuse"), SKRT_KERNEL_FAILED, refused[i].error);
	}
	log_words[0] = REFUSED;
	ok(run(&rig, "refuse"));
	close_rig(&rig);
}
END_TEST

/* Launches queued after a failure are skipped, and the device's own thread goes on. */
START_TEST(asynchronous)
{
	const struct skrt_kernel *bad, *fine;

	make(hang_source, hang_launches);
	struct rig rig = open_rig(&OPTIONS(.device = "a3", .cores = core_count(_i) + 1));
	ok(skrt_module_find_kernel(rig.module, "forgotten", &bad));
	ok(skrt_module_find_kernel(rig.module, "fine", &fine));
	ok(skrt_launch(rig.stream, rig.instance, bad));
	ok(skrt_launch(rig.stream, rig.instance, fine));
	usleep(10000);
	expect(skrt_synchronise(rig.stream), SKRT_KERNEL_FAILED, "superkernel forgotten: hangs: ");
	ck_assert_uint_eq(log_words[0], 0);
	ok(skrt_run(rig.stream, rig.instance, fine));
	close_rig(&rig);
}
END_TEST

/* ---- constructors ---- */

/* Write to the file with the descriptor in the place of FILE, unless CONSTRUCT does something else first. */
static const char constructor_source[] =
	"#include \"format/skabi.h\"\n"
	"#define LOG(core) ((volatile uint64_t *)(core)->bindings[0])\n"
	"void abort(void);\n"
	"int kernel(void) { return 0; }\n"
	"static volatile uint64_t constructed;\n"
	"static void say(char c)\n"
	"{ long r = 1; __asm__ volatile(\"syscall\" : \"+a\"(r) : \"D\"(%dL), \"S\"(&c), \"d\"(1L) : \"rcx\", \"r11\", "
	"\"memory\"); }\n"
	"__attribute__((constructor(201))) static void first(void) { say('c'); constructed++; %s }\n"
	"__attribute__((constructor(202))) static void second(void) { say('d'); constructed++; }\n"
	"__attribute__((destructor(201))) static void last(void) { say('z'); }\n"
	"__attribute__((destructor(202))) static void before(void) { say('y'); %s }\n"
	"int fine(struct sk_core *core) { LOG(core)[core->index] = constructed; return 0; }\n"
	"int fine_serial(void *const *tensors, void *workspace)\n"
	"{ (void)workspace; while (*(volatile uint64_t *)tensors[0] == 7); return 0; }\n";

static const struct handmade_launch constructor_launches[] = {
	{"fine", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 0}}, 1, {{0}}, 0, fine_steps, 1},
	{NULL},
};

/* Make it; return the file's descriptor for reading. */
static int make_constructors(const char *constructor, const char *destructor)
{
	char text[4096];
	struct handmade_package package = {
		.lane_count = 1, .tensors = tensors, .launches = constructor_launches, .source = text};
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_lt(snprintf(text, sizeof(text), constructor_source, ends[1], constructor, destructor),
			 (int)sizeof(text));
	handmade_make(path, &package);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return ends[0];
}

/* Check the text written since the last call. */
static void expect_said(int file, const char *wanted)
{
	char said[16] = "";

	ck_assert_int_lt(read(file, said, sizeof(said) - 1), (ssize_t)sizeof(said));
	ck_assert_str_eq(said, wanted);
}

/* They run when the first instance is made, once, and before everything else; destructors in reverse order, but not if
 * the constructors have not run. */
START_TEST(constructors)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	int file = make_constructors("", "");

	ok(skrt_device_open(NULL, &device));
	ok(skrt_module_load(device, path, &module));
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
	expect_said(file, "");
	struct rig rig = open_rig(&OPTIONS(.cores = 2));
	expect_said(file, "cd");
	ok(run(&rig, "fine"));
	ck_assert_uint_eq(log_words[1], 2);
	ok(skrt_instance_create(rig.module, &instance));
	ok(skrt_instance_destroy(instance));
	expect_said(file, "");
	close_rig(&rig);
	expect_said(file, "yz");
}
END_TEST

/* The direction flag and alignment checks on, in a constructor. */
#define UNTIDY "__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | 0x40400); "

/* Return whether they, or the trap flag, are set on this thread. */
static bool is_untidy(void)
{
	return __builtin_ia32_readeflags_u64() & 0x40500;
}

static const struct {
	const char *constructor, *error;
} failing[] = {
	{"abort();", ": a constructor called abort at first"},
	{"*(volatile int *)16 = 1;",
	 ": a constructor: segmentation fault (SIGSEGV): write at address 0x10; at first+0x"},
	{"volatile unsigned long far = 60 << 20; *(volatile char *)__builtin_alloca(far) = 1;",
	 ": a constructor: stack overflow (SIGSEGV): the stack has 1048576 bytes; at first+0x"},
	{"__asm__ volatile(\"int3\");", ": a constructor: breakpoint instruction (SIGTRAP): at first+0x"},
	{"__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | 0x100);",
	 ": a constructor: debug trap (SIGTRAP): at first+0x"},
#ifndef SANITIZED /* their threads have alternate stacks of their own */
	{"__asm__ volatile(\"movw %w0, %%fs; movw %w1, %%fs\" : : \"r\"(0x2b), \"r\"(0) : \"memory\");",
	 "; a kernel on this core had changed FS, by which a thread finds its own memory"},
#endif
#ifndef SIGNALS_HELD /* by a handler that does not expect alignment checks, either */
	{UNTIDY "*(volatile int *)16 = 1;",
	 ": a constructor: segmentation fault (SIGSEGV): write at address 0x10; at first+0x"},
	{UNTIDY "for (;;);", ": a constructor has not ended within 0.2 s: it was at first+0x"},
	{"for (;;);", ": a constructor has not ended within 0.2 s: it was at first+0x"},
#endif
};

enum { FAILING = sizeof(failing) / sizeof(failing[0]) };

/* One that fails is an error of the first instance, and of every other one; nothing else of the package runs. */
START_TEST(failing_constructor)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	int file = make_constructors(failing[_i].constructor, "");

	ok(skrt_device_open(&OPTIONS(.timeout_ms = 200), &device));
	ok(skrt_module_load(device, path, &module));
	for (int i = 0; i < 2; i++) {
		expect(skrt_instance_create(module, &instance), SKRT_KERNEL_FAILED, failing[_i].error);
		ck_assert(!is_untidy());
	}
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
	expect_said(file, "c");
}
END_TEST

/* A constructor that leaves control state changed changes it only for itself. */
START_TEST(untidy_constructor)
{
	int file = make_constructors(UNTIDY, UNTIDY);
	struct rig rig = open_rig(&OPTIONS(.cores = 2));

	ck_assert(!is_untidy());
	ok(run(&rig, "fine"));
	ck_assert_uint_eq(log_words[1], 2);
	close_rig(&rig);
	ck_assert(!is_untidy());
	expect_said(file, "cdyz");
}
END_TEST

/* A destructor that never ends, and a serial run. */
START_TEST(endless_calls)
{
	const struct skrt_kernel *kernel;
	int file = make_constructors("", "for (;;);");
	struct rig rig = open_rig(&OPTIONS(.timeout_ms = 200));

	ok(skrt_module_find_kernel(rig.module, "fine", &kernel));
	log_words[0] = 7;
	expect(skrt_run_serial(rig.instance, kernel), SKRT_KERNEL_FAILED,
	       "superkernel fine: serial run: not ended within 0.2 s: task 'f': kernel kernel: it was at "
	       "fine_serial+0x");
	log_words[0] = 0;
	ok(skrt_run_serial(rig.instance, kernel));
	close_rig(&rig);
	expect_said(file, "cdy");
}
END_TEST

/* ---- other people's signals ---- */

static void open_and_close(void)
{
	make(hang_source, hang_launches);
	struct rig rig = open_rig(NULL);
	ok(run(&rig, "fine"));
	close_rig(&rig);
}

#ifndef SANITIZED /* their handlers were there before */
static volatile sig_atomic_t seen;

static void see(int number)
{
	seen = number;
	signal(number, SIG_DFL);
}

/* A fault of the program's own is its own: it gets the handler that was there before, or ends the process. */
START_TEST(own_handler)
{
	signal(SIGSEGV, see);
	open_and_close();
	raise(SIGSEGV);
	ck_assert_int_eq(seen, SIGSEGV);
}
END_TEST

START_TEST(own_fault)
{
	volatile int *volatile nowhere = NULL;

	open_and_close();
	nowhere[2] = 1;
}
END_TEST

START_TEST(sent_signal)
{
	open_and_close();
	raise(SIGFPE);
}
END_TEST
#endif

/* Urgent data is not a failure. */
START_TEST(urgent)
{
	open_and_close();
	raise(SIGURG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("faults");
	TCase *tests = tcase_create("faults");

	scratch_add(tests);
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, hangs, 0, PLACES);
	tcase_add_test(tests, in_time);
	tcase_add_loop_test(tests, lost, 0, 3);
	tcase_add_loop_test(tests, asynchronous, 0, 3);
	tcase_add_test(tests, refused_instructions);
	tcase_add_test(tests, constructors);
	tcase_add_loop_test(tests, failing_constructor, 0, FAILING);
	tcase_add_test(tests, untidy_constructor);
#ifndef SIGNALS_HELD
	tcase_add_test(tests, endless_calls);
#else
	(void)endless_calls;
#endif
#ifndef SANITIZED
	tcase_add_test(tests, own_handler);
	tcase_add_test_raise_signal(tests, own_fault, SIGSEGV);
	tcase_add_test_raise_signal(tests, sent_signal, SIGFPE);
#endif
	tcase_add_test(tests, urgent);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
