/* See proof.h. */
#include "src/proof/proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof-parts.h"

/* ---- tensors ---- */

struct place {
	uint64_t offset;
	uint32_t tensor;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

struct sk_temporaries sk_temporaries_sort(struct sk_arena *arena, const struct sk_plan_view *plan)
{
	struct place *places = SK_NEW_ARRAY(arena, struct place, plan->tensor_count);
	struct sk_temporaries sorted = {SK_NEW_ARRAY(arena, uint32_t, plan->tensor_count), 0};

	for (uint32_t i = 0; i < plan->tensor_count; i++)
		if (plan->tensors[i].space == SK_SPACE_WORKSPACE)
			places[sorted.count++] = (struct place){plan->tensors[i].unshared_offset, i};
	qsort(places, sorted.count, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < sorted.count; i++)
		sorted.tensors[i] = places[i].tensor;
	return sorted;
}

/* Return the last temporary that begins at or before the offset in the unshared workspace; NULL: none. */
static const struct sk_plan_tensor *find_temporary(const struct sk_plan_view *plan,
						   const struct sk_temporaries *temporaries, uint64_t offset)
{
	uint32_t low = 0, high = temporaries->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (plan->tensors[temporaries->tensors[middle]].unshared_offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &plan->tensors[temporaries->tensors[low - 1]] : NULL;
}

/* Several temporaries may share the bytes; in the task's own entry each has bytes of its own. */
const char *sk_fact_tensor_text(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_temporaries *temporaries, const struct sk_step_access *access)
{
	const struct sk_plan_call *call = &plan->calls[access->call];
	uint32_t entry = plan->tasks[call->task].task_launch;
	const struct sk_plan_launch *launch = entry < plan->launch_count ? &plan->launches[entry] : NULL;
	const struct sk_plan_call *alone =
		launch && sk_plan_form(launch)->step_count == 1 ? sk_plan_launch_calls(plan, launch).first : NULL;

	if (plan->arguments[access->argument].space != SK_SPACE_WORKSPACE || !alone ||
	    sk_plan_form(launch)->kind != SK_LAUNCH_TASK || alone->task != call->task ||
	    alone->argument_count != call->argument_count)
		return sk_access_tensor_text(arena, plan, access);

	uint32_t argument = alone->first_argument + access->argument - call->first_argument;
	const struct sk_plan_tensor *tensor = find_temporary(plan, temporaries, plan->arguments[argument].offset);

	return tensor ? sk_arena_print(arena, "'%s'", sk_plan_string(&tensor->name)) : "a tensor without a name";
}

/* ---- members in JSON ---- */

static const char *reason_of(const struct sk_plan_view *plan, const struct sk_fact *fact)
{
	if (fact->order)
		return fact->order->event ? "event" : "after";
	if (!sk_access_writes(&plan->arguments[fact->earlier.argument]))
		return "write after read";
	return sk_access_writes(&plan->arguments[fact->later.argument]) ? "write after write" : "read after write";
}

static const char *cover_of(const struct sk_fact *fact)
{
	static const char *const covers[] = {[SK_FACT_AWAIT] = "await",
					     [SK_FACT_KNOWN] = "other await",
					     [SK_FACT_HOME] = "same home",
					     [SK_FACT_SAME_CORE] = "same core",
					     [SK_FACT_LAUNCH] = "launch order"};

	return covers[fact->kind];
}

/* The name without quotes, if the text is a single quoted name. */
static const char *tensor_name(struct sk_arena *arena, const struct sk_plan_view *plan,
			       const struct sk_temporaries *temporaries, const struct sk_step_access *access)
{
	const char *text = sk_fact_tensor_text(arena, plan, temporaries, access);
	size_t length = strlen(text);

	if (length < 2 || text[0] != '\'' || strchr(text + 1, '\'') != text + length - 1)
		return text;
	return sk_arena_copy(arena, text + 1, length - 2);
}

void sk_fact_put_json(struct sk_arena *arena, struct sk_json *json, const struct sk_plan_view *plan,
		      const struct sk_temporaries *temporaries, const struct sk_fact *fact)
{
	sk_json_put_string(json, "why", reason_of(plan, fact));
	if (!fact->order) {
		const char *earlier = tensor_name(arena, plan, temporaries, &fact->earlier);
		const char *later = tensor_name(arena, plan, temporaries, &fact->later);

		sk_json_put_string(json, "tensor", later);
		if (strcmp(earlier, later) != 0)
			sk_json_put_string(json, "in_the_bytes_of", earlier);
	} else if (fact->order->event) {
		sk_json_put_string(json, "event", fact->order->event);
	}
	sk_json_put_string(json, "covered_by", cover_of(fact));
}
