/* Work in a thread; see beside.h. */
#include "src/base/beside.h"

static void *run(void *argument)
{
	struct sk_beside *beside = argument;

	beside->work(beside->context);
	return NULL;
}

void sk_beside_start(struct sk_beside *beside, unsigned threads, void (*work)(void *context), void *context)
{
	*beside = (struct sk_beside){.work = work, .context = context};
	beside->started = threads > 1 && !pthread_create(&beside->thread, NULL, run, beside);
	if (!beside->started)
		work(context);
}

void sk_beside_wait(struct sk_beside *beside)
{
	if (beside->started)
		pthread_join(beside->thread, NULL);
	beside->started = false;
}
