/* Functions that are called before a package is unloaded, in one list for all packages: they are few, and registered
 * seldom. While the lock of the list or of the allocator is held, a call counts as in the runtime, so it is not
 * expelled there. */
#include "config.h"

#include "loader/core/core.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exit_function {
	struct exit_function *next;
	const struct sk_package *package; /* the package of the call that registered it */
	void (*function)(void *);
	void *argument;
} * last; /* registered last; `before` links to the previous ones */

int sk_exit_function_add(void (*function)(void *), void *argument, void *handle)
{
	struct sk_host *host = sk_host_in_handler();
	struct exit_function *added;

	(void)handle; /* not needed: the running call knows its package */
	if (!host->running) /* in a thread that package code made; its package is not known */
		return -1;
	host->in_runtime = true;
	added = malloc(sizeof(*added));
	if (added) {
		pthread_mutex_lock(&lock);
		*added = (struct exit_function){last, host->running->package, function, argument};
		last = added;
		pthread_mutex_unlock(&lock);
	}
	host->in_runtime = false;
	return added ? 0 : -1;
}

/* Remove the last function of the package from the list. False: there is none. */
static bool take_last_function(const struct sk_package *package, struct exit_function *taken)
{
	struct exit_function **link = &last, *found;

	pthread_mutex_lock(&lock);
	while (*link && (*link)->package != package)
		link = &(*link)->next;
	found = *link;
	if (found) {
		*taken = *found;
		*link = found->next;
	}
	pthread_mutex_unlock(&lock);
	free(found);
	return found;
}

void sk_exit_functions_call(void *handle)
{
	struct sk_host *host = sk_host_in_handler();
	struct exit_function taken;

	(void)handle;
	if (!host->running)
		return;
	for (;;) {
		host->in_runtime = true;

		bool found = take_last_function(host->running->package, &taken);

		host->in_runtime = false;
		if (!found)
			return;
		taken.function(taken.argument);
		sk_fibre_tidy(); /* the next function must not see changed control state */
	}
}

void sk_exit_functions_forget(const struct sk_package *package)
{
	struct exit_function unused;

	while (take_last_function(package, &unused))
		;
}
