/* Fibres: registers that a switch preserves, stacks that end at a guard, restarts, traces that end. */
#include "config.h"

#include <check.h>
#include <execinfo.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/core/core.h"
#include "tests/lib/suite.h"

enum { STACK = 64 << 10 };

static struct sk_fibre own, one, other;
static int log_entries[64], log_count;

static void note(int what)
{
	log_entries[log_count++] = what;
}

static void setup(void)
{
	sk_fibre_of_thread(&own);
	ck_assert(sk_fibre_open(&one, STACK));
	ck_assert(sk_fibre_open(&other, STACK));
	log_count = 0;
}

static void teardown(void)
{
	sk_fibre_close(&one);
	sk_fibre_close(&other);
}

/* Three notes in turn with the other fibre; the stack keeps its contents. */
static struct sk_fibre *take_turns(void *context)
{
	volatile int base = *(int *)context;

	for (volatile int i = 0; i < 3; i++) {
		note(base + i);
		sk_fibre_switch(base == 10 ? &one : &other, base == 10 ? &other : &one, false);
	}
	note(base + 9);
	return &own;
}

START_TEST(turns)
{
	int ten = 10, twenty = 20;
	static const int wanted[] = {10, 20, 11, 21, 12, 22, 19};

	/* Again and again, from the beginning each time, though `other` never ends. */
	for (int round = 0; round < 5; round++) {
		log_count = 0;
		sk_fibre_prepare(&one, take_turns, &ten);
		sk_fibre_prepare(&other, take_turns, &twenty);
		sk_fibre_switch(&own, &one, false);
		ck_assert_int_eq(log_count, 7);
		ck_assert_mem_eq(log_entries, wanted, sizeof(wanted));
	}
}
END_TEST

/* A fibre with another rounding mode. */
static struct sk_fibre *round_down(void *context)
{
	(void)context;
	ck_assert_int_eq(fegetround(), FE_TONEAREST); /* that of the thread that prepared it */
	fesetround(FE_DOWNWARD);
	for (;;) {
		sk_fibre_switch(&one, &own, false);
		ck_assert_int_eq(fegetround(), FE_DOWNWARD);
	}
}

START_TEST(rounding)
{
	sk_fibre_prepare(&one, round_down, NULL);
	for (int i = 0; i < 3; i++) {
		fesetround(i == 1 ? FE_UPWARD : FE_TONEAREST);
		sk_fibre_switch(&own, &one, false);
		ck_assert_int_eq(fegetround(), i == 1 ? FE_UPWARD : FE_TONEAREST);
	}
	fesetround(FE_TONEAREST);
}
END_TEST

static struct sk_fibre *run_alignment(void *context)
{
	uintptr_t *frame = context;
	char buffer[64] __attribute__((aligned(32)));

	memset(buffer, 1, sizeof(buffer));
	frame[0] = (uintptr_t)__builtin_frame_address(0);
	frame[1] = (uintptr_t)buffer;
	return &own;
}

START_TEST(alignment)
{
	uintptr_t frame[2];

	sk_fibre_prepare(&one, run_alignment, frame);
	sk_fibre_switch(&own, &one, false);
	ck_assert_uint_eq(frame[0] % 16, 0); /* rbp after the push of rbp: psABI 3.2.2 */
	ck_assert(sk_fibre_holds(&one, (void *)frame[1]) || frame[1] % 32 == 0);
	ck_assert(sk_fibre_holds(&one, one.stack) && sk_fibre_holds(&one, one.stack + one.size - 1));
	ck_assert(!sk_fibre_holds(&one, one.stack - 1) && !sk_fibre_holds(&one, one.stack + one.size));
	ck_assert(sk_fibre_guards(&one, one.stack - 1) && !sk_fibre_guards(&one, one.stack));
	ck_assert(sk_fibre_guards(&one, one.stack - one.guard));
	ck_assert(!sk_fibre_guards(&one, one.stack - one.guard - 1));
}
END_TEST

#ifndef SANITIZED /* they have handlers of their own */
static struct sk_fibre *touch_guard(void *context)
{
	*(volatile char *)context = 1;
	return &own;
}

START_TEST(guard)
{
	sk_fibre_prepare(&one, touch_guard, one.stack - 1);
	sk_fibre_switch(&own, &one, false);
}
END_TEST
#endif

/* A trace from a fibre ends at its bottom: unwinders do not run into nothing. */
static struct sk_fibre *trace(void *context)
{
	void *frames[64];

	*(int *)context = backtrace(frames, 64);
	return &own;
}

START_TEST(traces)
{
	int depth = 0;

	sk_fibre_prepare(&one, trace, &depth);
	sk_fibre_switch(&own, &one, false);
	ck_assert_int_ge(depth, 2);
	ck_assert_int_le(depth, 8);
}
END_TEST

static void end(void *context)
{
	++*(int *)context;
	sk_fibre_switch(&one, &own, true);
}

static struct sk_fibre *count_one(void *context)
{
	++*(int *)context;
	return &own;
}

static void *run_on_thread(void *context)
{
	sk_fibre_of_thread(&own);
	sk_fibre_prepare(&one, count_one, context);
	sk_fibre_switch(&own, &one, false);
	return NULL;
}

/* Another thread may restart a fibre. */
START_TEST(threads)
{
	pthread_t thread;
	int count = 0;

	for (int i = 0; i < 10; i++) {
		run_on_thread(&count);
		ck_assert_int_eq(pthread_create(&thread, NULL, run_on_thread, &count), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(count, 20);
}
END_TEST

/* Leave from some depth of functions, none of which returns: records that tools keep of open calls must not add up. */
__attribute__((noinline)) static int sink(int depth, void *context)
{
	if (depth)
		return sink(depth - 1, context) + depth;
	end(context);
	return 0;
}

static struct sk_fibre *run_sink(void *context)
{
	sink(8, context);
	return NULL;
}

START_TEST(long_run)
{
	int count = 0;

	for (int i = 0; i < 30000; i++) {
		sk_fibre_prepare(&one, run_sink, &count);
		sk_fibre_switch(&own, &one, false);
	}
	ck_assert_int_eq(count, 30000);
}
END_TEST

START_TEST(no_room)
{
	struct sk_fibre none;

	ck_assert(!sk_fibre_open(&none, SIZE_MAX));
	ck_assert(!sk_fibre_open(&none, (size_t)1 << 60));
}
END_TEST

#ifndef SANITIZED /* they have reserved more, or take a smaller one */
/* If the address space is limited, guards must not use it up. */
START_TEST(limited)
{
	struct rlimit limit = {.rlim_cur = (rlim_t)4 << 30, .rlim_max = RLIM_INFINITY};
	struct sk_fibre fibre;

	ck_assert_uint_eq(one.guard, SK_FIBRE_GUARD);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert(sk_fibre_open(&fibre, STACK));
	ck_assert_uint_eq(fibre.guard, SK_FIBRE_SMALL_GUARD);
	sk_fibre_close(&fibre);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("fibre");
	TCase *tests = tcase_create("fibre");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, turns);
	tcase_add_test(tests, rounding);
	tcase_add_test(tests, alignment);
#ifndef SANITIZED
	tcase_add_test_raise_signal(tests, guard, SIGSEGV);
	tcase_add_test(tests, limited);
#endif
	tcase_add_test(tests, traces);
	tcase_add_test(tests, threads);
	tcase_add_test(tests, long_run);
	tcase_add_test(tests, no_room);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
