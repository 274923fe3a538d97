/* Functions that are called before a package goes, in one list for all packages: they are few, and come and go seldom.
 * While the list's lock or the allocator's is held, a call is in the runtime, so it is not expelled there. */
#include "config.h"

#include "loader/core/core.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exit_function {
	struct exit_function *next;
	const struct sk_package *package; /* that the call belonged to which registered it */
	void (*function)(void *);
	void *argument;
} * last; /* registered; before it those before it */

int sk_exit_function_add(void (*function)(void *), void *argument, void *handle)
{
	struct sk_host *host = sk_host_in_handler();
	struct exit_function *added;

	(void)handle; /* a package has one */
	if (!host->running) /* a thread of the package's own making: nobody knows which package it is */
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

/* Takes the package's last one off the list. False: there is none. */
static bool take(const struct sk_package *package, struct exit_function *taken)
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

		bool found = take(host->running->package, &taken);

		host->in_runtime = false;
		if (!found)
			return;
		taken.function(taken.argument);
		sk_fibre_tidy(); /* what one leaves is not for the next */
	}
}

void sk_exit_functions_forget(const struct sk_package *package)
{
	struct exit_function unused;

	while (take(package, &unused))
		;
}
