/* drop-await PACKAGE NUMBER: removes one await from the plan of a package, in place. The number counts from 0 over all
 * awaits of the plan. Exit status 2: there is none with that number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/plan.h"

enum { MOST_BYTES = 16 << 20 };

/* Plans are aligned in the file as in memory. */
static char *find_plan(char *bytes, size_t size, struct sk_plan_view *view)
{
	char error[256];

	for (size_t at = 0; at + sizeof(struct sk_plan) <= size; at += SK_PLAN_ALIGN)
		if (sk_plan_open(bytes + at, size - at, view, error, sizeof(error)))
			return bytes + at;
	return NULL;
}

static void drop(struct sk_plan_view *view, uint32_t number)
{
	struct sk_plan_await *awaits = (struct sk_plan_await *)view->awaits;
	struct sk_plan_step *steps = (struct sk_plan_step *)view->steps;

	for (uint32_t i = 0; i < view->step_count; i++) {
		uint32_t behind = steps[i].first_await + steps[i].await_count - 1;

		if (number < steps[i].first_await || number > behind || !steps[i].await_count)
			continue;
		memmove(&awaits[number], &awaits[number + 1], (behind - number) * sizeof(*awaits));
		steps[i].await_count--;
	}
}

int main(int argc, char **argv)
{
	char *bytes = aligned_alloc(SK_PLAN_ALIGN, MOST_BYTES);
	FILE *file = argc == 3 ? fopen(argv[1], "r+b") : NULL;
	struct sk_plan_view view;

	if (!bytes || !file)
		return EXIT_FAILURE;

	size_t size = fread(bytes, 1, MOST_BYTES, file);
	uint32_t number = (uint32_t)strtoul(argv[2], NULL, 10);
	int status = EXIT_SUCCESS;

	if (!find_plan(bytes, size, &view))
		status = EXIT_FAILURE;
	else if (number >= view.await_count)
		status = 2;
	else
		drop(&view, number);
	rewind(file);
	if (fwrite(bytes, 1, size, file) != size || fclose(file))
		status = EXIT_FAILURE;
	free(bytes);
	return status;
}
