/* Compares tasks' own entries with their calls in the network, and the sides of mix tasks, at all sizes. Input: a plan
 * in which they are equal at the largest sizes (consistency.c, sk_plan_check_launch). Output: errors. */
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/forms.h"
#include "src/proof/proof.h"

/* Return the form of the difference to the largest sizes, with the sign reversed: 0 if the field does not vary. */
static const struct sk_normal *shortfall(struct sk_sized *sized, uint32_t value)
{
	struct sk_normals *forms = &sized->forms;

	if (value == SK_NO_INDEX)
		return sk_normal_number(forms, 0);
	return sk_normal_subtract(forms, sk_normal_number(forms, forms->dims->most[value]), forms->values[value]);
}

static bool varies_alike(struct sk_sized *sized, enum sk_dims_table table, uint32_t of, uint32_t record, uint32_t other)
{
	uint32_t count;
	const struct sk_dims_field *fields = sk_dims_fields_of(sized->forms.dims, table, of, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t one = sk_dims_value_of(sized->forms.dims, table, record, fields[i].offset);
		uint32_t another = sk_dims_value_of(sized->forms.dims, table, other, fields[i].offset);

		if (one != another && !sk_normal_equal(&sized->forms, shortfall(sized, one), shortfall(sized, another)))
			return false;
	}
	return true;
}

/* Two records with equal numbers at the largest sizes, perhaps but for their places, are equal at all sizes. */
static bool are_alike(struct sk_sized *sized, enum sk_dims_table table, size_t one, size_t other)
{
	return one == other || (varies_alike(sized, table, (uint32_t)one, (uint32_t)one, (uint32_t)other) &&
				varies_alike(sized, table, (uint32_t)other, (uint32_t)one, (uint32_t)other));
}

static bool same_argument(struct sk_sized *sized, const struct sk_plan_call *call, const struct sk_plan_call *own,
			  uint32_t number)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_argument *one = &view->arguments[call->first_argument + number];
	const struct sk_plan_argument *other = &view->arguments[own->first_argument + number];
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, one);
	bool same = view->list_count ? are_alike(sized, SK_DIMS_LISTS, call->list + number, own->list + number)
				     : are_alike(sized, SK_DIMS_ARGUMENTS, call->first_argument + number,
						 own->first_argument + number);

	for (uint64_t i = 0; one->kind == SK_ARGUMENT_EXPRESSION && i < one->size; i++)
		same &= are_alike(sized, SK_DIMS_TERMS, one->index + i, other->index + i);
	return same && (!pattern || are_alike(sized, SK_DIMS_PATTERNS, (size_t)(pattern - view->patterns),
					      (size_t)(sk_plan_pattern(view, other) - view->patterns)));
}

static bool same_arguments(struct sk_sized *sized, const struct sk_plan_call *call, const struct sk_plan_call *other)
{
	bool same = true;

	for (uint32_t i = 0; i < call->argument_count; i++)
		same &= same_argument(sized, call, other, i);
	return same;
}

static bool same_call(struct sk_sized *sized, const struct sk_plan_step *step, const struct sk_plan_call *call,
		      const struct sk_plan_step *own_step, const struct sk_plan_call *own)
{
	const struct sk_plan_view *view = sized->view;
	bool same = sk_normal_equal(&sized->forms,
				    sk_normal_multiply(&sized->forms,
						       SK_SIZED_FIELD(sized, SK_DIMS_STEPS, view->steps, step, extent),
						       sk_normal_number(&sized->forms, call->scale)),
				    SK_SIZED_FIELD(sized, SK_DIMS_STEPS, view->steps, own_step, extent));

	for (uint32_t i = 0; i < call->loop_count; i++)
		same &= are_alike(sized, SK_DIMS_LOOPS, call->first_loop + i, own->first_loop + i);
	return same && same_arguments(sized, call, own);
}

/* The sides of a mix task have equal arguments. */
static void check_sides(struct sk_diag *diag, struct sk_sized *sized, const char *file)
{
	const struct sk_plan_view *view = sized->view;

	for (uint32_t i = 0; i < view->step_count; i++) {
		const struct sk_plan_call *cube = &view->calls[view->steps[i].first_call];

		if (view->steps[i].flags & SK_STEP_CUBE_SIDE &&
		    !same_arguments(sized, cube, &view->calls[view->steps[i + 1].first_call]))
			sk_error(diag, (struct sk_place){.file = file},
				 "task '%s': at some sizes its sides differ in arguments",
				 sk_plan_string(&view->tasks[cube->task].name));
	}
}

void sk_sized_entries_check(struct sk_arena *arena, struct sk_diag *diag, struct sk_sized *sized, const char *file)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_task_call *places = sk_find_calls(arena, view);

	check_sides(diag, sized, file);
	for (uint32_t i = 0; i < view->task_count; i++) {
		const struct sk_plan_task *task = &view->tasks[i];

		if (task->task_launch == SK_NO_INDEX)
			continue;

		const struct sk_plan_launch *entry = &view->launches[task->task_launch];
		const struct sk_plan_step *own_step = &view->steps[entry->first_step];
		const struct sk_plan_call *own = sk_plan_launch_calls(view, entry).first;
		bool same = true;

		for (uint32_t side = 0; side < sk_plan_form(entry)->step_count; side++)
			same &= same_call(sized, &view->steps[places[i].step + side],
					  &view->calls[places[i].call + side], &own_step[side], &own[side]);
		if (!same)
			sk_error(diag, (struct sk_place){.file = file},
				 "task '%s': at some sizes its own entry and its launch call the kernel differently",
				 sk_plan_string(&task->name));
	}
}
