/* See proof-parts.h. This file computes no units. Two steps are connected if they divide the same bytes of a tensor and
 * one of them writes. If all steps of a connected component that share bytes have units of equally many bytes, the
 * units are fixed up to a common factor. They are minimal if and only if the quotients of units by least units have no
 * common factor. A component that no units fit keeps each kernel's least unit, and awaits order its steps
 * (src/model/model.h). */
#include "src/proof/proof-parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

/* A divided access. */
struct use {
	uint32_t tensor, step; /* step: number within the launch */
	uint64_t offset, size, unit_bytes;
	bool write;
};

/* Properties of a component, indexed by its root. */
struct component {
	uint64_t factor; /* common factor of all units divided by their least units */
	bool fits; /* steps that share bytes have units of equally many bytes */
};

struct checker {
	const struct sk_plan_view *view;
	const struct sk_plan_launch *launch;
	uint32_t *parent; /* by step: union-find */
	SK_ARRAY(struct use) uses;
};

static uint32_t find_root(struct checker *checker, uint32_t step)
{
	while (checker->parent[step] != step)
		step = checker->parent[step] = checker->parent[checker->parent[step]];
	return step;
}

static const struct sk_plan_step *step_of(const struct checker *checker, uint32_t step)
{
	return &checker->view->steps[checker->launch->first_step + step];
}

static uint64_t unit_of(const struct checker *checker, uint32_t step)
{
	return checker->view->partitions[step_of(checker, step)->partition].unit;
}

/* A tile's offset in the scratch must equal its offset in the task's own entry, modulo this. */
enum { CONGRUENCE = 64 };

/* The unit that tiles in the scratch require: tiles of an argument begin at multiples of CONGRUENCE. */
static uint64_t least_of_scratch(const struct checker *checker, const struct sk_plan_call *call)
{
	uint64_t unit = 1;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &checker->view->arguments[call->first_argument + i];
		uint64_t bytes = argument->element_bytes * call->scale;

		if (argument->space != SK_SPACE_SCRATCH)
			continue;
		while (bytes % CONGRUENCE * unit % CONGRUENCE)
			unit *= 2;
	}
	return unit;
}

/* Return the least unit for all kernels of the step: the least common multiple of theirs, in the step's elements. */
static uint64_t least_of(const struct checker *checker, const uint64_t *least, uint32_t step)
{
	struct sk_plan_calls calls = sk_plan_step_calls(checker->view, step_of(checker, step));
	uint64_t unit = 1;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		uint64_t own = least[call - checker->view->calls];
		uint64_t scratch = least_of_scratch(checker, call);

		own /= sk_common_divisor(own, call->scale);
		unit *= own / sk_common_divisor(unit, own);
		unit *= scratch / sk_common_divisor(unit, scratch);
	}
	return unit;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *one = a, *other = b;

	if (one->tensor != other->tensor)
		return one->tensor < other->tensor ? -1 : 1;
	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	return (one->size > other->size) - (one->size < other->size);
}

static void collect_uses_of(struct checker *checker, struct sk_arena *arena, uint32_t step,
			    const struct sk_plan_call *call)
{
	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &checker->view->arguments[call->first_argument + i];
		const struct sk_plan_pattern *pattern = sk_plan_pattern(checker->view, argument);

		if (pattern && pattern->halo)
			continue;
		if (argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes)
			sk_array_push(arena, &checker->uses,
				      (struct use){argument->tensor, step, argument->offset, argument->size,
						   unit_of(checker, step) * call->scale * argument->element_bytes,
						   argument->access & SK_ACCESS_WRITE});
	}
}

static void collect_uses(struct checker *checker, struct sk_arena *arena)
{
	for (uint32_t s = 0; s < sk_plan_form(checker->launch)->step_count; s++) {
		const struct sk_plan_step *step = step_of(checker, s);

		struct sk_plan_calls calls = sk_plan_step_calls(checker->view, step);

		for (const struct sk_plan_call *call = calls.first; step->kind == SK_STEP_SPLIT && call < calls.end;
		     call++)
			collect_uses_of(checker, arena, s, call);
	}
	if (checker->uses.count)
		qsort(checker->uses.items, checker->uses.count, sizeof(struct use), compare_uses);
}

/* Call `look` for each two neighbouring uses of the same bytes, provided one of all the uses is a write. */
static void for_each_pair(struct checker *checker, struct component *components,
			  void (*look)(struct checker *, struct component *, const struct use *, const struct use *))
{
	const struct use *uses = checker->uses.items;

	for (size_t first = 0, end; first < checker->uses.count; first = end) {
		bool written = false;

		for (end = first; end < checker->uses.count && !compare_uses(&uses[first], &uses[end]); end++)
			written |= uses[end].write;
		for (size_t i = first + 1; i < end && written; i++)
			look(checker, components, &uses[i - 1], &uses[i]);
	}
}

static void join_pair(struct checker *checker, struct component *components, const struct use *one,
		      const struct use *other)
{
	(void)components;
	checker->parent[find_root(checker, one->step)] = find_root(checker, other->step);
}

static void compare_pair(struct checker *checker, struct component *components, const struct use *one,
			 const struct use *other)
{
	components[find_root(checker, one->step)].fits &= one->unit_bytes == other->unit_bytes;
}

uint32_t sk_unit_check(struct sk_arena *arena, const struct sk_plan_view *view, const struct sk_plan_launch *launch,
		       const uint64_t *least)
{
	struct checker checker = {.view = view,
				  .launch = launch,
				  .parent = SK_NEW_ARRAY(arena, uint32_t, sk_plan_form(launch)->step_count)};
	struct component *components = SK_NEW_ARRAY(arena, struct component, sk_plan_form(launch)->step_count);

	for (uint32_t s = 0; s < sk_plan_form(launch)->step_count; s++) {
		checker.parent[s] = s;
		components[s].fits = true;
	}
	collect_uses(&checker, arena);
	for_each_pair(&checker, components, join_pair);
	for_each_pair(&checker, components, compare_pair);
	for (uint32_t s = 0; s < sk_plan_form(launch)->step_count; s++)
		if (step_of(&checker, s)->kind == SK_STEP_SPLIT) {
			struct component *component = &components[find_root(&checker, s)];

			component->factor = sk_common_divisor(component->factor,
							      unit_of(&checker, s) / least_of(&checker, least, s));
		}
	for (uint32_t s = 0; s < sk_plan_form(launch)->step_count; s++) {
		const struct component *component = &components[find_root(&checker, s)];

		if (step_of(&checker, s)->kind == SK_STEP_SPLIT &&
		    (component->fits ? component->factor != 1 : unit_of(&checker, s) != least_of(&checker, least, s)))
			return launch->first_step + s;
	}
	return SK_NO_INDEX;
}
