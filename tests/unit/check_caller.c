/* The thread that calls libskrt and the kernels that it plays: neither finds the other's state. Packages are made by
 * hand. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
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

/* The control state that a core, a serial entry or a constructor finds; a core has a row of the log. */
enum { MXCSR, CONTROL_WORD, ERRNO, FIELDS };
enum { CORES = 24, CONSTRUCTOR = CORES, SERIAL, ROWS };

/* state: each core, and the serial entry, notes the state that it finds, and leaves errno and an x87 exception.
 * numbers: the first four cores, and the serial entry, compute twelve words each that every control bit changes. fault:
 * each core does as the first word says: 1 writes to an invalid address, 2 loops forever, 3 recurses forever; the
 * serial entry does the same, and 4 makes the constructor fail. */
static const char source[] =
	"#include \"format/skabi.h\"\n"
	"int *__errno_location(void);\n"
	"int kernel(void) { return 0; }\n"
	"static uint64_t constructed[3];\n"
	"static void note(uint64_t *row)\n"
	"{ unsigned short word; volatile long double x = 1;\n"
	"  __asm__ volatile(\"fnstcw %%0\" : \"=m\"(word));\n"
	"  row[0] = __builtin_ia32_stmxcsr() & ~0x3f; row[1] = word; row[2] = *__errno_location();\n"
	"  *__errno_location() = 99; x /= 3; }\n"
	"static int deep(volatile char *outer) { volatile char frame[4096]; frame[0] = outer[0];\n"
	"  return deep(frame) + frame[0]; }\n"
	"static int fail(uint64_t how) { char start = 0; if (how == 1) *(volatile int *)8 = 1;\n"
	"  while (how == 2) __asm__ volatile(\"\"); return how == 3 ? deep(&start) : 0; }\n"
	"__attribute__((constructor)) static void construct(void) { note(constructed); fail(%d); }\n"
	"int state(struct sk_core *core) { uint64_t *log = core->bindings[0];\n"
	"  note(&log[core->index * 3]); if (!core->index) for (int i = 0; i < 3; i++) log[72 + i] = constructed[i];\n"
	"  return 0; }\n"
	"int state_serial(void *const *tensors, void *workspace)\n"
	"{ note(&((uint64_t *)tensors[0])[75]); return 0; }\n"
	"static long rounded(double x) { long n; __asm__(\"cvtsd2si %%1, %%0\" : \"=r\"(n) : \"x\"(x)); return n; }\n"
	"static long double whole(long double x) { __asm__(\"frndint\" : \"+t\"(x)); return x; }\n"
	"static void compute(uint64_t *row, double start)\n"
	"{ volatile double third = start / 3, tiny = start * 0x1p-1050, huge = start * 0x1p1023, zero = 0;\n"
	"  volatile float single = (float)third, small = (float)(start * 0x1p-140);\n"
	"  volatile long double wide = (long double)start / 3;\n"
	"  union { double d[9]; uint64_t word[9]; } bits = {{third, -third, tiny / 3, tiny + tiny, huge * 4, -huge * "
	"4,\n"
	"    single * 3, small / 5, 1 / zero}};\n"
	"  for (int i = 0; i < 9; i++) row[i] = bits.word[i];\n"
	"  row[9] = rounded(start + third) + 3 * rounded(-start - third) + 9 * (zero / zero != zero);\n"
	"  __builtin_memcpy(&row[10], (const void *)&wide, 8);\n"
	"  row[11] = (uint64_t)(int64_t)whole(start + wide); }\n"
	"int numbers(struct sk_core *core)\n"
	"{ compute((uint64_t *)core->bindings[0] + 12 * core->index, 1.1 + core->index); return 0; }\n"
	"int numbers_serial(void *const *tensors, void *workspace)\n"
	"{ compute((uint64_t *)tensors[0] + 48, 5.3); return 0; }\n"
	"int fault(struct sk_core *core) { return fail(*(volatile uint64_t *)core->bindings[0]); }\n"
	"int fault_serial(void *const *tensors, void *workspace) { return fail(*(volatile uint64_t *)tensors[0]); }\n";

static const struct handmade_step state_steps[] = {{"s", 0}}, numbers_steps[] = {{"n", 0}}, fault_steps[] = {{"f", 0}};
static const struct handmade_launch launches[] = {
	{"state", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 0}}, 1, {{0}}, 0, state_steps, 1},
	{"numbers", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 0}}, 1, {{0}}, 0, numbers_steps, 1},
	{"fault", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 0}}, 1, {{0}}, 0, fault_steps, 1},
	{NULL},
};
static const struct handmade_tensor tensors[] = {{"log", SK_U64, SK_ROLE_INOUT, ROWS *FIELDS}, {NULL}};

static char path[128];
static _Alignas(64) uint64_t log_words[ROWS][FIELDS];
static struct skrt_device *device;
static struct skrt_module *module;
static struct skrt_instance *instance;
static struct skrt_stream *stream;

static void make(int constructor)
{
	char text[8192];
	struct handmade_package package = {.lane_count = 1, .tensors = tensors, .launches = launches, .source = text};

	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
	ck_assert_int_lt(snprintf(text, sizeof(text), source, constructor), (int)sizeof(text));
	handmade_make(path, &package);
}

static void open_instance(const struct skrt_device_options *options)
{
	ok(skrt_device_open(options, &device));
	ok(skrt_module_load(device, path, &module));
	ok(skrt_instance_create(module, &instance));
	ok(skrt_stream_create(device, &stream));
	ok(skrt_instance_bind(instance, 0, log_words, sizeof(log_words)));
}

static void close_instance(void)
{
	ok(skrt_stream_destroy(stream));
	ok(skrt_instance_destroy(instance));
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
}

static const struct skrt_kernel *find(const char *name)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(module, name, &kernel));
	return kernel;
}

/* ---- control state and errno ---- */

struct modes {
	uint32_t mxcsr;
	uint16_t control_word;
};

static const struct modes standard = {0x1f80, 0x37f}, callers[] = {
							      {0x9fc0, 0x37f}, /* flushing to zero */
							      {0x7f80, 0xc7f}, /* rounding to zero */
							      {0x1f80, 0x07f}, /* long double has 24 bits */
							      {0x0f80, 0x35f}, /* inexact operations raise an exception,
										* as in reading a device's profile */
};
enum { CALLERS = sizeof(callers) / sizeof(callers[0]) };

static struct modes read_modes(void)
{
	struct modes modes = {.mxcsr = __builtin_ia32_stmxcsr() & ~0x3fU};

	__asm__ volatile("fnstcw %0" : "=m"(modes.control_word));
	return modes;
}

static void load_modes(struct modes modes)
{
	__builtin_ia32_ldmxcsr(modes.mxcsr);
	__asm__ volatile("fldcw %0" : : "m"(modes.control_word));
}

static bool are_equal(struct modes one, struct modes other)
{
	return one.mxcsr == other.mxcsr && one.control_word == other.control_word;
}

static struct modes called_in;

static void note_modes(void *context, enum skrt_status status)
{
	volatile long double x = 1;

	(void)context;
	(void)status;
	called_in = read_modes();
	x /= 3;
}

static const struct {
	const char *device;
	uint32_t cores;
} places[] = {{"host", 1}, {"host", 2}, {"host", 7}, {"a3", 2}, {"a3", 0}};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

/* Launches that the caller drives, and those that a thread of the device drives, serial runs, constructors and
 * callbacks of a stream: all begin in the standard modes, with errno 0. The caller has its own modes before and
 * afterwards, and no exception of a kernel is raised in it. */
static void run_in(struct modes modes, uint32_t cores, bool before_open, int place)
{
	struct skrt_device_options options = {
		.size = sizeof(options), .device = places[place].device, .cores = places[place].cores};

	memset(log_words, 0xff, sizeof(log_words));
	if (before_open)
		load_modes(modes);
	open_instance(&options);

	const struct skrt_kernel *kernel = find("state");

	load_modes(modes);
	errno = 7;
	enum skrt_status status = skrt_run(stream, instance, kernel);
	int error = errno;
	struct modes after = read_modes();
	__asm__ volatile("fwait");
	status = status ? status : skrt_run_serial(instance, kernel);
	error = error == 7 ? errno : error;
	status = status ? status : skrt_launch(stream, instance, kernel);
	status = status ? status : skrt_stream_call(stream, note_modes, NULL);
	while (!status && skrt_stream_query(stream) == SKRT_NOT_READY)
		usleep(100);
	status = status ? status : skrt_stream_call(stream, note_modes, NULL);
	status = status ? status : skrt_synchronise(stream);
	__asm__ volatile("fwait");
	bool same = are_equal(after, modes) && are_equal(read_modes(), modes);
	close_instance();
	load_modes(standard);
	ok(status);
	ck_assert(same);
	ck_assert(are_equal(called_in, standard));
	ck_assert_int_eq(error, 7);
	for (uint32_t row = 0; row < ROWS; row++) {
		if (row >= cores && row < CONSTRUCTOR)
			continue;
		ck_assert_uint_eq(log_words[row][MXCSR], standard.mxcsr);
		ck_assert_uint_eq(log_words[row][CONTROL_WORD], standard.control_word);
		ck_assert_uint_eq(log_words[row][ERRNO], 0);
	}
}

START_TEST(control_state)
{
	uint32_t cores = places[_i].cores ? places[_i].cores : CORES;

	make(0);
	for (int i = 0; i < CALLERS; i++) {
		run_in(callers[i], cores, false, _i);
		if (i + 1 < CALLERS)
			run_in(callers[i], cores, true, _i);
	}
}
END_TEST

/* ---- random control state ---- */

enum { MOST_CORES = 4, STATES = 150, SIGNALS = 64 };

struct state {
	struct modes modes;
	sigset_t mask;
};

/* splitmix64 */
static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) % limit);
}

/* The word with some of these fields, which are all there may be, as they come. */
static uint32_t change(uint64_t *seed, uint32_t word, const uint32_t *fields)
{
	for (; *fields; fields++)
		if (!random_below(seed, 4))
			word = (word & ~*fields) | (random_below(seed, 1 << 16) & *fields);
	return word;
}

/* Any rounding, precision, flushing, signals, and, if they may trap, exceptions. Only some fields are unusual, so that
 * none of them hides that another one is not checked. */
static struct state draw_state(uint64_t *seed, bool traps)
{
	static const uint32_t mxcsr[] = {0x3f, 0x40, 0x6000, 0x8000, 0x1f80, 0},
			      control_word[] = {0x300, 0xc00, 0x3f, 0};
	struct state state = {.modes = standard};

	state.modes.mxcsr = change(seed, standard.mxcsr, mxcsr) | (traps ? 0 : 0x1f80);
	state.modes.control_word = (uint16_t)(change(seed, standard.control_word, control_word) | (traps ? 0 : 0x3f));
	if ((state.modes.control_word & 0x300) == 0x100) /* is not a precision */
		state.modes.control_word ^= 0x100;
	sigemptyset(&state.mask);
	for (int number = 1; number <= SIGNALS; number++)
		if (random_below(seed, 2))
			sigaddset(&state.mask, number);
	return state;
}

static void enter(const struct state *state)
{
	pthread_sigmask(SIG_SETMASK, &state->mask, NULL);
	load_modes(state->modes);
}

/* Leave the state, and return whether it was still this one. */
static bool leave(const struct state *state)
{
	struct modes modes = read_modes();
	sigset_t mask, none;
	bool same = modes.mxcsr == (state->modes.mxcsr & ~0x3fU) && modes.control_word == state->modes.control_word;

	__asm__ volatile("fwait");
	load_modes(standard);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &mask);
	for (int number = 1; number <= SIGNALS; number++) /* sigaddset has left out the signals that cannot be blocked
							   * */
		same &= sigismember(&mask, number) == sigismember(&state->mask, number) || number == SIGKILL ||
			number == SIGSTOP;
	return same;
}

/* Launches that the caller drives and others, and a serial run, compute the same bits in any state. */
static enum skrt_status compute(const struct skrt_kernel *kernel, bool later)
{
	enum skrt_status status = later ? skrt_launch(stream, instance, kernel) : skrt_run(stream, instance, kernel);

	status = status || !later ? status : skrt_synchronise(stream);
	return status ? status : skrt_run_serial(instance, kernel);
}

START_TEST(random_control_state)
{
	const struct skrt_device_options options = {
		.size = sizeof(options), .cores = (uint32_t)_i, .timeout_ms = _i % 2 ? 60000 : 0};
	static uint64_t expected[ROWS][FIELDS];
	uint64_t seed = (uint64_t)_i;

	make(0);
	open_instance(&options);
	ok(compute(find("numbers"), false));
	memcpy(expected, log_words, sizeof(expected));
	for (int i = 0; i < STATES; i++) {
		bool reopened = i % 16 == 15, later = random_below(&seed, 2);
		struct state state = draw_state(&seed, !reopened);

		memset(log_words, 0, sizeof(log_words));
		if (reopened) {
			close_instance();
			enter(&state);
			open_instance(&options);
			ck_assert(leave(&state));
		}

		const struct skrt_kernel *kernel = find("numbers");

		enter(&state);
		enum skrt_status status = compute(kernel, later);
		bool same = leave(&state);

		ok(status);
		ck_assert_msg(same && !memcmp(log_words, expected, sizeof(expected)),
			      "%s in MXCSR %#x, control word %#x", same ? "other results" : "the state is another one",
			      state.modes.mxcsr, state.modes.control_word);
	}
	close_instance();
}
END_TEST

/* ---- signals ---- */

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGURG};

static void expect_mask(const sigset_t *wanted)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number < 32; number++)
		if (number != SIGKILL && number != SIGSTOP) /* which cannot be blocked */
			ck_assert_int_eq(sigismember(&mask, number), sigismember(wanted, number));
}

/* Faults of kernels are found on a thread with any set of blocked signals, and it blocks the same ones afterwards. */
static void fail_with(const sigset_t *mask)
{
	static const char fault[] = "segmentation fault (SIGSEGV): write at address 0x8";
	static const char endless[] = "not ended within 0.2 s";

	pthread_sigmask(SIG_SETMASK, mask, NULL);
	for (uint64_t how = 1; how <= 2; how++) {
		const char *text = how == 1 ? fault : endless;

#ifdef SIGNALS_HELD
		if (how == 2)
			break;
#endif
		log_words[0][0] = how;
		expect(skrt_run(stream, instance, find("fault")), SKRT_KERNEL_FAILED, text);
		expect_mask(mask);
		expect(skrt_run_serial(instance, find("fault")), SKRT_KERNEL_FAILED, text);
		expect_mask(mask);
	}
	ok(skrt_run(stream, instance, find("state")));
}

static void *block_signals(void *context)
{
	sigset_t mask;

	(void)context;
	sigfillset(&mask);
	open_instance(&OPTIONS(.cores = 2, .timeout_ms = 200));
	fail_with(&mask);
	close_instance();
	return NULL;
}

START_TEST(blocked_signals)
{
	pthread_t thread;
	sigset_t mask, none;

	make(0);
	sigemptyset(&none);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigemptyset(&mask);
		sigaddset(&mask, signals[i]);
		sigaddset(&mask, SIGUSR1);
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
		/* On this thread for the first time, or checked again with a new instance, or a new stream. */
		open_instance(&OPTIONS(.cores = 1, .timeout_ms = 200));
		fail_with(&mask);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		ok(skrt_stream_destroy(stream));
		ok(skrt_stream_create(device, &stream));
		ok(skrt_run(stream, instance, find("state")));
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
		ok(skrt_stream_destroy(stream));
		ok(skrt_stream_create(device, &stream));
		fail_with(&mask);
		close_instance();
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, block_signals, NULL), 0);
	pthread_join(thread, NULL);
}
END_TEST

/* A thread that waits for urgent data elsewhere gets it: without a time-out the signal stays blocked. */
START_TEST(urgent_data)
{
	sigset_t mask;

	make(0);
	sigemptyset(&mask);
	sigaddset(&mask, SIGURG);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	open_instance(NULL);
	ck_assert_int_eq(pthread_kill(pthread_self(), SIGURG), 0);
	ok(skrt_run(stream, instance, find("state")));
	ok(skrt_run_serial(instance, find("state")));
	ck_assert_int_eq(sigwaitinfo(&mask, NULL), SIGURG);
	close_instance();
}
END_TEST

START_TEST(blocked_in_constructor)
{
	sigset_t mask;

	make(1);
	sigfillset(&mask);
	ok(skrt_device_open(NULL, &device));
	ok(skrt_module_load(device, path, &module));
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	expect(skrt_instance_create(module, &instance), SKRT_KERNEL_FAILED, "a constructor: segmentation fault");
	expect_mask(&mask);
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
}
END_TEST

/* ---- alternate stacks ---- */

#ifndef SANITIZED /* their threads have alternate stacks of their own */
static pthread_key_t end;

static void *stack_of_thread(void)
{
	stack_t there;

	ck_assert_int_eq(sigaltstack(NULL, &there), 0);
	return there.ss_flags & SS_DISABLE ? NULL : there.ss_sp;
}

static void expect_own_stack(void *stack)
{
	ck_assert_ptr_eq(stack_of_thread(), stack);
	ck_assert_int_eq(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL), 0);
	free(stack);
}

/* The handler of a stack overflow needs another stack: the thread's own, or else libskrt's. */
static void *overflow(void *context)
{
	const bool *own_first = context;
	size_t size = 64 << 10;
	void *stack = malloc(size);

	for (int i = 0; i < 2; i++) {
		if (*own_first || i)
			ck_assert_int_eq(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = size}, NULL), 0);
		log_words[0][0] = 3;
		expect(skrt_run_serial(instance, find("fault")), SKRT_KERNEL_FAILED, "stack overflow (SIGSEGV)");
		ck_assert((stack_of_thread() == stack) == (*own_first || i));
	}
	pthread_setspecific(end, stack); /* libskrt's key is older, so libskrt's work at a thread's end is done before
					  * */
	return NULL;
}

START_TEST(alternate_stacks)
{
	bool own_first = _i;
	pthread_t thread;

	make(0);
	open_instance(&OPTIONS(.cores = 1));
	ok(skrt_run(stream, instance, find("state")));
	ck_assert_int_eq(pthread_key_create(&end, expect_own_stack), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, overflow, &own_first), 0);
	pthread_join(thread, NULL);
	close_instance();
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("caller");
	TCase *tests = tcase_create("caller");

	scratch_add(tests);
	tcase_add_loop_test(tests, control_state, 0, PLACES);
	tcase_add_loop_test(tests, random_control_state, 1, MOST_CORES + 1);
	tcase_add_test(tests, blocked_signals);
	tcase_add_test(tests, urgent_data);
	tcase_add_test(tests, blocked_in_constructor);
#ifndef SANITIZED
	tcase_add_loop_test(tests, alternate_stacks, 0, 2);
#endif
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
