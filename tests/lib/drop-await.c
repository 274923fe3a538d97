/* drop-await PACKAGE NUMBER: removes one await from the plan of a package, in place. The number counts from 0 over all
 * awaits of the plan. Exit status 2: there is none with that number.
 *
 * drop-await --early PACKAGE NUMBER: lets the step with that number start early in every way that its kernel can. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "tests/lib/own-records.h"

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
	struct sk_plan_await *awaits = (struct sk_plan_await *)(uintptr_t)view->awaits;
	struct sk_plan_step *steps = (struct sk_plan_step *)(uintptr_t)view->steps;

	for (uint32_t i = 0; i < view->step_count; i++) {
		uint32_t behind = steps[i].first_await + steps[i].await_count - 1;

		if (number < steps[i].first_await || number > behind || !steps[i].await_count)
			continue;
		memmove(&awaits[number], &awaits[number + 1], (behind - number) * sizeof(*awaits));
		steps[i].await_count--;
	}
}

static void start_early(struct sk_plan_view *view, uint32_t number)
{
	struct sk_plan_step *step = (struct sk_plan_step *)(uintptr_t)&view->steps[number];

	step->flags |= (uint16_t)view->kernels[view->calls[step->first_call].kernel].early;
	for (uint32_t i = 0; i < view->launch_count; i++)
		plan_form(&view->launches[i])->flags |= SK_LAUNCH_EARLY;
}

int main(int argc, char **argv)
{
	char *bytes = aligned_alloc(SK_PLAN_ALIGN, MOST_BYTES);
	bool early = argc > 1 && !strcmp(argv[1], "--early");

	argc -= early;
	argv += early;

	FILE *file = argc == 3 ? fopen(argv[1], "r+b") : NULL;
	struct sk_plan_view view;

	if (!bytes || !file)
		return EXIT_FAILURE;

	size_t size = fread(bytes, 1, MOST_BYTES, file);
	uint32_t number = (uint32_t)strtoul(argv[2], NULL, 10);
	int status = EXIT_SUCCESS;

	if (!find_plan(bytes, size, &view))
		status = EXIT_FAILURE;
	else if (number >= (early ? view.step_count : view.await_count))
		status = 2;
	else if (early)
		start_early(&view, number);
	else
		drop(&view, number);
	rewind(file);
	if (fwrite(bytes, 1, size, file) != size || fclose(file))
		status = EXIT_FAILURE;
	free(bytes);
	return status;
}
