/* Work in a thread; see map.h. Threads are detached. A thread that starts too late finds that its work is done
 * already. */
#include "base/map.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct sk_beside_work {
	void (*work)(void *context);
	void *context;
	atomic_bool begun;
	atomic_int users; /* the starter and the thread: the last one frees the struct */
	pthread_mutex_t lock; /* of `done` */
	pthread_cond_t changed;
	bool done;
};

static void release(struct sk_beside_work *work)
{
	if (atomic_fetch_sub(&work->users, 1) > 1)
		return;
	pthread_cond_destroy(&work->changed);
	pthread_mutex_destroy(&work->lock);
	free(work);
}

static void *run_beside(void *argument)
{
	struct sk_beside_work *work = argument;

	if (!atomic_exchange(&work->begun, true)) {
		work->work(work->context);
		pthread_mutex_lock(&work->lock);
		work->done = true;
		pthread_cond_signal(&work->changed);
		pthread_mutex_unlock(&work->lock);
	}
	release(work);
	return NULL;
}

/* Start a thread; NULL: none is available. */
static struct sk_beside_work *start(void (*work)(void *context), void *context)
{
	struct sk_beside_work *result = malloc(sizeof(*result));
	pthread_t thread;

	if (!result)
		return NULL;
	*result = (struct sk_beside_work){.work = work, .context = context};
	atomic_init(&result->begun, false);
	atomic_init(&result->users, 2);
	pthread_mutex_init(&result->lock, NULL);
	pthread_cond_init(&result->changed, NULL);
	if (pthread_create(&thread, NULL, run_beside, result) == 0) {
		pthread_detach(thread);
		return result;
	}
	atomic_store(&result->users, 1);
	release(result);
	return NULL;
}

void sk_beside_start(struct sk_beside *beside, unsigned threads, void (*work)(void *context), void *context)
{
	beside->work = threads > 1 ? start(work, context) : NULL;
	if (!beside->work)
		work(context);
}

void sk_beside_wait(struct sk_beside *beside)
{
	struct sk_beside_work *work = beside->work;

	if (!work)
		return;
	beside->work = NULL;
	if (!atomic_exchange(&work->begun, true)) {
		work->work(work->context);
	} else {
		pthread_mutex_lock(&work->lock);
		while (!work->done)
			pthread_cond_wait(&work->changed, &work->lock);
		pthread_mutex_unlock(&work->lock);
	}
	release(work);
}
