/* The stacks of fibres, and the notifications for tools that follow stacks: AddressSanitizer and ThreadSanitizer
 * (sanitizer/common_interface_defs.h, tsan_interface.h) at every switch, valgrind once. */
#include "config.h"

#include "loader/core/core.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/arch/machine.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* ThreadSanitizer keeps a stack of the entered functions of each fibre. A function that switches fibres would be noted
 * as entered on one and as left on another. */
#ifdef WITH_TSAN
#define CHANGES_FIBRES __attribute__((no_sanitize("thread")))
#else
#define CHANGES_FIBRES
#endif

/* ---- notifications of tools ---- */

/* Announce the switch, before `from` is left; fake_stack NULL: for good. */
CHANGES_FIBRES static void announce(void **fake_stack, const struct sk_fibre *to)
{
#ifdef WITH_ASAN
	__sanitizer_start_switch_fiber(fake_stack, to->stack, to->size);
#endif
#ifdef WITH_TSAN
	__tsan_switch_to_fiber(to->tsan, 0);
#endif
	(void)fake_stack;
	(void)to;
}

/* Announce the arrival, as the first step after a switch to `fibre`. A signal handler that ends a fibre announces
 * nothing. */
CHANGES_FIBRES static void arrive(struct sk_fibre *fibre)
{
	if (fibre->escaped)
		announce(NULL, fibre);
	fibre->escaped = false;
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(fibre->fake_stack, NULL, NULL);
#endif
}

/* ---- stacks ---- */

/* Return the large guard, unless the process has little address space. ThreadSanitizer supports less than two terabytes
 * of it. */
static size_t guard_size(void)
{
#ifdef WITH_TSAN
	return SK_FIBRE_GUARD / 16;
#else
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur != RLIM_INFINITY ? SK_FIBRE_SMALL_GUARD : SK_FIBRE_GUARD;
#endif
}

/* Reserve address space for a stack and its guard. Inaccessible memory counts only for the limit RLIMIT_AS. */
static bool reserve_stack(struct sk_fibre *fibre, size_t size, size_t guard)
{
	size_t all;

	if (__builtin_add_overflow(size, guard, &all))
		all = SIZE_MAX; /* more than exists */
	char *memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	fibre->stack = memory + guard;
	fibre->size = size;
	fibre->guard = guard;
	return true;
}

bool sk_fibre_open(struct sk_fibre *fibre, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), rounded;

	memset(fibre, 0, sizeof(*fibre));
	rounded = __builtin_add_overflow(size, page - 1, &rounded) ? SIZE_MAX : rounded & ~(page - 1);
	if (!reserve_stack(fibre, rounded, guard_size()) && !reserve_stack(fibre, rounded, SK_FIBRE_SMALL_GUARD))
		return false;
	/* With huge pages every stack would take two megabytes. A kernel without huge pages refuses, which is also
	 * fine. */
	madvise(fibre->stack, fibre->size, MADV_NOHUGEPAGE);
	if (mprotect(fibre->stack, fibre->size, PROT_READ | PROT_WRITE)) {
		munmap(fibre->stack - fibre->guard, fibre->size + fibre->guard);
		return false;
	}
#ifdef HAVE_VALGRIND_VALGRIND_H
	fibre->valgrind = (unsigned)VALGRIND_STACK_REGISTER(fibre->stack, fibre->stack + fibre->size);
#endif
	return true;
}

void sk_fibre_close(struct sk_fibre *fibre)
{
	if (!fibre->stack)
		return;
#ifdef WITH_TSAN
	if (fibre->tsan)
		__tsan_destroy_fiber(fibre->tsan);
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
	VALGRIND_STACK_DEREGISTER(fibre->valgrind);
#endif
	munmap(fibre->stack - fibre->guard, fibre->size + fibre->guard);
	fibre->stack = NULL;
}

void sk_fibre_of_thread(struct sk_fibre *fibre)
{
	memset(fibre, 0, sizeof(*fibre));
#ifdef WITH_ASAN
	pthread_attr_t attributes;
	void *stack;

	if (!pthread_getattr_np(pthread_self(), &attributes)) {
		pthread_attr_getstack(&attributes, &stack, &fibre->size);
		fibre->stack = stack;
		pthread_attr_destroy(&attributes);
	}
#endif
#ifdef WITH_TSAN
	fibre->tsan = __tsan_get_current_fiber();
#endif
}

/* ---- running ---- */

CHANGES_FIBRES static void *begin(void *pointer)
{
	struct sk_fibre *fibre = pointer;

	arrive(fibre);
	struct sk_fibre *next = fibre->run(fibre->context);
	announce(NULL, next);
	return next->sp;
}

void sk_fibre_prepare(struct sk_fibre *fibre, struct sk_fibre *(*run)(void *context), void *context)
{
#ifdef WITH_ASAN
	/* Functions that never returned have left poisoned memory. */
	__asan_unpoison_memory_region(fibre->stack, fibre->size);
#endif
#ifdef WITH_TSAN
	/* Functions that never returned are still on the fibre's stack of functions, which has a limited size. */
	if (fibre->tsan)
		__tsan_destroy_fiber(fibre->tsan);
	fibre->tsan = __tsan_create_fiber(0);
#endif
	fibre->run = run;
	fibre->context = context;
	fibre->sp = NULL;
	fibre->fake_stack = NULL;
}

CHANGES_FIBRES void sk_fibre_switch(struct sk_fibre *from, struct sk_fibre *to, bool last)
{
	announce(last ? NULL : &from->fake_stack, to);
	if (to->sp)
		sk_fibre_jump(&from->sp, to->sp);
	else
		sk_fibre_begin(&from->sp, to->stack + to->size, begin, to);
	arrive(from);
}

bool sk_fibre_holds(const struct sk_fibre *fibre, const void *address)
{
	return (uintptr_t)address - (uintptr_t)fibre->stack < fibre->size;
}

bool sk_fibre_guards(const struct sk_fibre *fibre, const void *address)
{
	return (uintptr_t)fibre->stack - 1 - (uintptr_t)address < fibre->guard;
}
