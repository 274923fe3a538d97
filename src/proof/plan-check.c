/* Checks a plan's launches, which are independent, in several threads. Input: the plan's view. Output: the error of the
 * first bad launch, if any. */
#include "src/proof/proof.h"

#include <stdatomic.h>

#include "base/diag.h"
#include "base/timing.h"
#include "format/plan/plan.h"

struct check {
	const struct sk_plan_view *view;
	atomic_size_t first_bad; /* the first launch known to be bad, or the number of launches */
};

static void check_some(void *context, size_t first, size_t end)
{
	struct check *check = context;
	char text[512];
	size_t bad = first;

	while (bad < end && sk_plan_check_launch(check->view, (uint32_t)bad, text, sizeof(text)))
		bad++;
	for (size_t known = atomic_load(&check->first_bad); bad < end && bad < known;)
		if (atomic_compare_exchange_weak(&check->first_bad, &known, bad))
			break;
}

bool sk_plan_check_in_threads(struct sk_diag *diag, const struct sk_plan_view *view, const char *file, unsigned threads)
{
	struct check check = {.view = view};
	size_t launches = view->launch_count;
	char text[512];
	bool sound = sk_plan_check_tables(view, text, sizeof(text));

	atomic_init(&check.first_bad, launches);
	if (sound) {
		sk_parallel(threads, launches, check_some, &check);
		sound = check.first_bad == launches ||
			sk_plan_check_launch(view, (uint32_t)check.first_bad, text, sizeof(text));
	}
	if (!sound)
		sk_error(diag, (struct sk_place){.file = file}, "%s", text);
	return sound;
}
