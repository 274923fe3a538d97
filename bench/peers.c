/* See peers.h. */
#include "config.h"

#include "bench/peers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- a spinning thread for each part ---- */

enum { MOST_SPINNERS = 64, SPINS = 50 };

struct spinner {
	alignas(128) _Atomic uint64_t done; /* steps, of all runs */
	pthread_t thread;
};

static struct spinner spinners[MOST_SPINNERS];
static unsigned spinner_count;
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t steps; /* of all runs so far */
	bool stop;
} wanted = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void wait_for(const _Atomic uint64_t *word, uint64_t value)
{
	for (unsigned turn = 0; atomic_load_explicit(word, memory_order_acquire) < value; turn++)
		if (turn >= SPINS)
			sched_yield();
}

static void do_steps(struct spinner *own, uint64_t first, uint64_t end)
{
	for (uint64_t step = first; step < end; step++) {
		for (unsigned i = 0; i < spinner_count; i++)
			wait_for(&spinners[i].done, step);
		atomic_store_explicit(&own->done, step + 1, memory_order_release);
	}
}

static void *spin(void *context)
{
	struct spinner *own = context;
	uint64_t done = 0;

	for (;;) {
		pthread_mutex_lock(&wanted.lock);
		while (wanted.steps == done && !wanted.stop)
			pthread_cond_wait(&wanted.changed, &wanted.lock);
		uint64_t end = wanted.steps;
		pthread_mutex_unlock(&wanted.lock);
		if (end == done)
			return NULL;
		do_steps(own, done, end);
		done = end;
	}
}

void bench_spinners_open(unsigned parts)
{
	spinner_count = parts < MOST_SPINNERS ? parts : MOST_SPINNERS;
	for (unsigned i = 1; i < spinner_count; i++)
		pthread_create(&spinners[i].thread, NULL, spin, &spinners[i]);
}

void bench_spinners_run(const void *context)
{
	const struct bench_chain *chain = context;
	uint64_t first = wanted.steps;

	pthread_mutex_lock(&wanted.lock);
	wanted.steps += chain->steps;
	pthread_cond_broadcast(&wanted.changed);
	pthread_mutex_unlock(&wanted.lock);
	do_steps(&spinners[0], first, first + chain->steps);
	for (unsigned i = 1; i < spinner_count; i++)
		wait_for(&spinners[i].done, first + chain->steps);
}

void bench_spinners_close(void)
{
	pthread_mutex_lock(&wanted.lock);
	wanted.stop = true;
	pthread_cond_broadcast(&wanted.changed);
	pthread_mutex_unlock(&wanted.lock);
	for (unsigned i = 1; i < spinner_count; i++)
		pthread_join(spinners[i].thread, NULL);
}

/* ---- a pool with condition variables ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t posted, done;
	pthread_t thread;
	uint64_t step;
	bool busy, stop;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void *work(void *context)
{
	uint64_t seen = 0;

	pthread_mutex_lock(&pool.lock);
	for (;;) {
		while (pool.step == seen && !pool.stop)
			pthread_cond_wait(&pool.posted, &pool.lock);
		if (pool.stop)
			break;
		seen = pool.step;
		pool.busy = false;
		pthread_cond_signal(&pool.done);
	}
	pthread_mutex_unlock(&pool.lock);
	return context;
}

void bench_pool_open(void)
{
	pthread_create(&pool.thread, NULL, work, NULL);
}

void bench_pool_run(const void *context)
{
	const struct bench_chain *chain = context;

	for (unsigned i = 0; i < chain->steps; i++) {
		pthread_mutex_lock(&pool.lock);
		pool.step++;
		pool.busy = true;
		pthread_cond_signal(&pool.posted);
		while (pool.busy)
			pthread_cond_wait(&pool.done, &pool.lock);
		pthread_mutex_unlock(&pool.lock);
	}
}

void bench_pool_close(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.stop = true;
	pthread_cond_signal(&pool.posted);
	pthread_mutex_unlock(&pool.lock);
	pthread_join(pool.thread, NULL);
}

/* ---- a thread that sleeps ---- */

static struct {
	alignas(128) _Atomic uint32_t asked; /* a futex */
	alignas(128) _Atomic uint64_t answered;
	_Atomic bool stop;
	pthread_t thread;
} sleeper;

static void *sleep_and_answer(void *context)
{
	for (uint32_t seen = 0; !sleeper.stop; sleeper.answered = seen) {
		while (sleeper.asked == seen)
			syscall(SYS_futex, &sleeper.asked, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		seen = sleeper.asked;
	}
	return context;
}

/* On the last processor, which bench_pin leaves free. */
void bench_sleeper_open(void)
{
	cpu_set_t all, last;
	size_t number = CPU_SETSIZE - 1;

	pthread_create(&sleeper.thread, NULL, sleep_and_answer, NULL);
	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	while (number > 0 && !CPU_ISSET(number, &all))
		number--;
	CPU_ZERO(&last);
	CPU_SET(number, &last);
	pthread_setaffinity_np(sleeper.thread, sizeof(last), &last);
}

static void wake_sleeper(void)
{
	sleeper.asked++;
	syscall(SYS_futex, &sleeper.asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void bench_sleeper_run(const void *context)
{
	(void)context;
	wake_sleeper();
	while (sleeper.answered != sleeper.asked)
		;
}

void bench_sleeper_close(void)
{
	sleeper.stop = true;
	wake_sleeper();
	pthread_join(sleeper.thread, NULL);
}
