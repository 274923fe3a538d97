/* See skdump.h. */
#include "src/skdump/skdump.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof.h"

/* ---- traffic ---- */

static const struct sk_size *form_of(const struct sk_forms *forms, uint32_t value, uint64_t number)
{
	if (value != SK_NO_INDEX)
		return forms->values[value];
	return number <= INT64_MAX ? sk_size_number(forms->sizes, (int64_t)number) : NULL;
}

struct meter {
	const struct sk_forms *forms;
	const struct sk_plan_view *plan;
	struct sk_traffic_forms traffic;
};

/* The forms of an argument's bytes: as sk_plan_rows. */
struct rows {
	const struct sk_size *start, *width, *stride, *count;
};

static struct rows rows_of(const struct meter *meter, const struct sk_plan_call *call, uint32_t number)
{
	const struct sk_dims_view *dims = meter->forms->dims;
	const struct sk_plan_argument *argument = &sk_plan_arguments(meter->plan, call)[number];
	const struct sk_plan_pattern *pattern = sk_plan_pattern(meter->plan, argument);
	struct sk_rows rows = sk_plan_rows(meter->plan, argument);
	uint32_t record = pattern ? (uint32_t)(pattern - meter->plan->patterns) : 0, values[3];
	static const size_t fields[] = {offsetof(struct sk_plan_pattern, width),
					offsetof(struct sk_plan_pattern, stride),
					offsetof(struct sk_plan_pattern, count)};
	uint32_t start =
		sk_dims_argument_value(dims, meter->plan, call, number, offsetof(struct sk_plan_argument, offset));

	for (int i = 0; i < 3; i++)
		values[i] = pattern && pattern->count > 1 ? sk_dims_value_of(dims, SK_DIMS_PATTERNS, record, fields[i])
							  : SK_NO_INDEX;
	if (!pattern || pattern->count <= 1)
		values[0] = sk_dims_argument_value(dims, meter->plan, call, number,
						   offsetof(struct sk_plan_argument, size));
	return (struct rows){
		form_of(meter->forms, start, start == SK_NO_INDEX ? rows.start : 0),
		form_of(meter->forms, values[0], rows.width),
		form_of(meter->forms, values[1], rows.stride),
		form_of(meter->forms, values[2], rows.count),
	};
}

/* Equal forms have one address. */
static void put_rows(void *context, const struct sk_plan_call *call, uint32_t argument, uint64_t *key)
{
	struct rows rows = rows_of(context, call, argument);

	key[0] = (uintptr_t)rows.start;
	key[1] = (uintptr_t)rows.width;
	key[2] = (uintptr_t)rows.stride;
	key[3] = (uintptr_t)rows.count;
}

static void count_rows(void *context, const uint64_t *key, bool cached)
{
	struct meter *meter = context;
	const struct sk_size *width = (const struct sk_size *)(uintptr_t)key[1],
			     *count = (const struct sk_size *)(uintptr_t)key[3],
			     *bytes = sk_size_multiply(meter->forms->sizes, width, count);

	meter->traffic.apart = sk_size_add(meter->forms->sizes, meter->traffic.apart, bytes);
	if (!cached)
		meter->traffic.moved = sk_size_add(meter->forms->sizes, meter->traffic.moved, bytes);
}

struct sk_traffic_forms sk_forms_traffic(struct sk_arena *arena, const struct sk_forms *forms,
					 const struct sk_plan_view *plan, const struct sk_plan_step *step)
{
	const struct sk_size *nothing = sk_size_number(forms->sizes, 0);
	struct meter meter = {.forms = forms, .plan = plan, .traffic = {nothing, nothing}};
	const struct sk_traffic_meter measure = {put_rows, count_rows, &meter};

	sk_traffic_measure(arena, plan, step, &measure);
	return meter.traffic;
}

/* ---- costs at a size ---- */

static int compare_offsets(const void *one, const void *other)
{
	const struct sk_plan_tensor *const *a = one, *const *b = other;

	return ((*a)->offset > (*b)->offset) - ((*a)->offset < (*b)->offset);
}

/* Return the bytes of the workspace that some temporary has. */
static uint64_t used_workspace(struct sk_arena *arena, const struct sk_plan_view *plan)
{
	const struct sk_plan_tensor **tensors =
		SK_NEW_ARRAY(arena, const struct sk_plan_tensor *, plan->tensor_count + 1);
	uint64_t used = 0, end = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < plan->tensor_count; i++)
		if (plan->tensors[i].space == SK_SPACE_WORKSPACE)
			tensors[count++] = &plan->tensors[i];
	qsort(tensors, count, sizeof(*tensors), compare_offsets);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = tensors[i]->offset > end ? tensors[i]->offset : end;
		uint64_t last = tensors[i]->offset + sk_plan_type(tensors[i])->bytes;

		used += last > start ? last - start : 0;
		end = last > end ? last : end;
	}
	return used;
}

const char *sk_show_costs(struct sk_arena *arena, const struct sk_plan_view *plan)
{
	uint64_t bound = 0, moved = 0, used = used_workspace(arena, plan);

	for (uint32_t i = 0; i < plan->binding_count; i++)
		bound += sk_plan_type(&plan->tensors[plan->bindings[i]])->bytes;
	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++)
			moved += sk_traffic_of_step(arena, plan, &plan->steps[plan->launches[l].first_step + i]).moved;
	return sk_arena_print(
		arena, "%" PRIu64 " byte%s bound, %" PRIu64 " byte%s of the workspace used, %" PRIu64 " byte%s moved",
		bound, sk_plural(bound), used, sk_plural(used), moved, sk_plural(moved));
}
