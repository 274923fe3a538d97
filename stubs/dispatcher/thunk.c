/* Thunks; see dispatcher.h. Each record is made from scratch with the fields that the code depends on. A field that is
 * forgotten here is therefore 0 in every thunk, instead of different in two thunks with the same key. */
#include "stubs/dispatcher/dispatcher.h"

#include <string.h>

#include "base/arena.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "stubs/dispatcher/ops.h"

struct maker {
	struct sk_arena *arena;
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	struct sk_thunk *thunk;
	SK_ARRAY(struct sk_plan_step) steps;
	SK_ARRAY(struct sk_plan_call) calls;
	SK_ARRAY(struct sk_plan_argument) arguments;
	SK_ARRAY(struct sk_plan_loop) loops;
	SK_ARRAY(struct sk_plan_term) terms;
	SK_ARRAY(struct sk_plan_pattern) patterns;
	uint32_t word; /* the next one */
};

/* ---- arguments ---- */

/* Set the fields of an address by which the code advances it. */
static void make_pointer(struct maker *maker, const struct sk_plan_step *step, const struct sk_plan_argument *argument,
			 struct sk_plan_argument *made)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(maker->plan, argument);

	made->kind = SK_ARGUMENT_POINTER;
	made->space = SK_SPACE_BINDING;
	made->index = maker->word;
	if (step->kind == SK_STEP_SPLIT && !(argument->flags & SK_ARGUMENT_WHOLE))
		made->element_bytes = argument->element_bytes;
	if (!pattern || (!pattern->inner_bytes && !pattern->table_count))
		return;
	sk_array_push(maker->arena, &maker->patterns,
		      (struct sk_plan_pattern){.inner_bytes = pattern->inner_bytes,
					       .table_count = pattern->table_count,
					       .table_stride = pattern->table_stride});
	made->value = maker->patterns.count; /* the displacement is part of the word */
}

/* A scalar: loaded from the address in its word, or the word itself. */
static void make_load(struct maker *maker, const struct sk_plan_argument *argument, struct sk_plan_argument *made)
{
	bool far = argument->kind == SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_RESULT;

	made->kind = argument->kind == SK_ARGUMENT_RESULT ? SK_ARGUMENT_RESULT : SK_ARGUMENT_LOAD;
	made->dtype = argument->dtype;
	made->space = far ? SK_SPACE_BINDING : SK_SPACE_WORKSPACE;
	made->index = far ? maker->word : 0;
	made->offset = far ? 0 : 8 * (uint64_t)maker->word;
}

static void make_expression(struct maker *maker, const struct sk_plan_argument *argument, struct sk_plan_argument *made)
{
	made->dtype = argument->dtype;
	made->value = argument->value;
	made->index = (uint32_t)maker->terms.count;
	made->size = argument->size;
	for (uint64_t i = 0; i < argument->size; i++)
		sk_array_push(maker->arena, &maker->terms, maker->plan->terms[argument->index + i]);
}

static void make_argument(struct maker *maker, const struct sk_plan_step *step, const struct sk_plan_argument *argument)
{
	struct sk_plan_argument made = {.kind = argument->kind, .flags = argument->flags, .field = argument->field};

	if (argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_SYMBOL) {
		make_pointer(maker, step, argument, &made);
	} else if (sk_thunk_has_word(step, argument)) {
		make_load(maker, argument, &made);
	} else if (argument->kind == SK_ARGUMENT_EXPRESSION) {
		make_expression(maker, argument, &made);
	} else if (argument->kind == SK_ARGUMENT_LENGTH) {
		made.dtype = argument->dtype;
	} else if (argument->kind == SK_ARGUMENT_SCRATCH) {
		made.offset = argument->offset;
		made.size = argument->size;
		made.value = argument->value;
	}
	sk_array_push(maker->arena, &maker->arguments, made);
	maker->word++;
}

/* ---- calls, steps, the launch ---- */

static void make_call(struct maker *maker, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(maker->plan, call);

	sk_array_push(maker->arena, &maker->calls,
		      (struct sk_plan_call){.task = maker->word + SK_THUNK_TASK,
					    .kernel = maker->word + SK_THUNK_KERNEL,
					    .first_argument = (uint32_t)maker->arguments.count,
					    .argument_count = call->argument_count,
					    .flags = call->flags,
					    .first_loop = (uint32_t)maker->loops.count,
					    .loop_count = call->loop_count,
					    .scale = call->scale});
	maker->word += SK_THUNK_ARGUMENTS;
	for (uint32_t i = 0; i < call->loop_count; i++)
		sk_array_push(maker->arena, &maker->loops, sk_plan_loops(maker->plan, call)[i]);
	for (uint32_t i = 0; i < call->argument_count; i++)
		make_argument(maker, step, &arguments[i]);
}

/* The code depends on the extent only if it computes with it. */
static uint64_t known_extent(const struct maker *maker, const struct sk_plan_step *step)
{
	const struct sk_plan_call *call = sk_plan_step_calls(maker->plan, step).first;
	const struct sk_plan_argument *arguments = sk_plan_arguments(maker->plan, call);

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == SK_ARGUMENT_EXPRESSION && arguments[i].size)
			return step->extent;
	return 0;
}

static void make_step(struct maker *maker, const struct sk_plan_step *step)
{
	sk_array_push(maker->arena, &maker->steps,
		      (struct sk_plan_step){
			      .first_call = (uint32_t)maker->calls.count,
			      .call_count = 1,
			      .lane = step->lane,
			      .kind = step->kind,
			      .flags = step->flags,
			      .number = step->number,
			      .core_set = step->core_set == SK_ALL_CORES ? SK_ALL_CORES
									 : step->core_set - maker->launch->first_home,
			      .partition = step->partition == SK_NO_INDEX
						   ? SK_NO_INDEX
						   : step->partition - maker->launch->first_partition,
			      .blocks = step->blocks,
			      .first_core = step->first_core,
			      .extent = known_extent(maker, step),
		      });
	make_call(maker, step, sk_plan_step_calls(maker->plan, step).first);
}

/* Append all records to the key. */
static void make_key(struct maker *maker, const struct sk_plan_form *form)
{
	const struct {
		const void *records;
		size_t size;
	} tables[] = {
		{form, sizeof(*form)},
		{maker->steps.items, maker->steps.count * sizeof(*maker->steps.items)},
		{maker->calls.items, maker->calls.count * sizeof(*maker->calls.items)},
		{maker->arguments.items, maker->arguments.count * sizeof(*maker->arguments.items)},
		{maker->loops.items, maker->loops.count * sizeof(*maker->loops.items)},
		{maker->terms.items, maker->terms.count * sizeof(*maker->terms.items)},
		{maker->patterns.items, maker->patterns.count * sizeof(*maker->patterns.items)},
	};
	enum { TABLES = sizeof(tables) / sizeof(tables[0]) };
	size_t size = 0;
	char *key;

	for (size_t i = 0; i < TABLES; i++)
		size += tables[i].size;
	maker->thunk->key = key = sk_arena_alloc(maker->arena, 1, size);
	maker->thunk->key_size = size;
	for (size_t i = 0; i < TABLES; key += tables[i++].size)
		if (tables[i].size)
			memcpy(key, tables[i].records, tables[i].size);
}

static void make_view(struct maker *maker)
{
	struct {
		struct sk_plan_launch launch;
		struct sk_plan_form form;
	} *own = sk_arena_alloc(maker->arena, 1, sizeof(*own));
	struct sk_plan_view *view = &maker->thunk->plan;
	const uint32_t *lane_steps = sk_plan_form(maker->launch)->lane_steps;

	own->launch = (struct sk_plan_launch){.form = (int32_t)((char *)&own->form - (char *)&own->launch.form)};
	own->form = (struct sk_plan_form){.kind = SK_LAUNCH_TASK,
					  .step_count = (uint32_t)maker->steps.count,
					  .flags = SK_LAUNCH_THUNK,
					  .lane_steps = {lane_steps[0], lane_steps[1]}};
	*view = *maker->plan;
	view->launches = &own->launch;
	view->steps = maker->steps.items;
	view->calls = maker->calls.items;
	view->arguments = maker->arguments.items;
	view->loops = maker->loops.items;
	view->terms = maker->terms.items;
	view->patterns = maker->patterns.items;
	make_key(maker, &own->form);
}

void sk_thunk_make(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_plan_launch *launch,
		   struct sk_thunk *thunk)
{
	struct maker maker = {.arena = arena, .plan = plan, .launch = launch, .thunk = thunk};

	*thunk = (struct sk_thunk){0};
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		make_step(&maker, &plan->steps[launch->first_step + i]);
	make_view(&maker);
}

/* ---- sizes ---- */

#define VARIES(dims, table, records, record, field)                                                                    \
	(sk_dims_value_of((dims), (table), (uint32_t)((record) - (records)),                                           \
			  offsetof(__typeof__(*(record)), field)) != SK_NO_INDEX)

static bool term_varies(const struct sk_plan_view *plan, const struct sk_dims_view *dims,
			const struct sk_plan_term *term)
{
	return VARIES(dims, SK_DIMS_TERMS, plan->terms, term, factor) ||
	       VARIES(dims, SK_DIMS_TERMS, plan->terms, term, addend) ||
	       VARIES(dims, SK_DIMS_TERMS, plan->terms, term, divisor) ||
	       VARIES(dims, SK_DIMS_TERMS, plan->terms, term, modulus);
}

/* An expression also depends on the step's extent. */
static bool expression_varies(const struct sk_plan_view *plan, const struct sk_dims_view *dims,
			      const struct sk_plan_step *step, const struct sk_plan_argument *argument)
{
	bool varies = argument->size && VARIES(dims, SK_DIMS_STEPS, plan->steps, step, extent);

	for (uint64_t i = 0; i < argument->size && !varies; i++)
		varies = term_varies(plan, dims, &plan->terms[argument->index + i]);
	return varies;
}

/* True if a number of the argument, beside its word, varies. */
static bool argument_varies(const struct sk_plan_view *plan, const struct sk_dims_view *dims,
			    const struct sk_plan_step *step, const struct sk_plan_call *call, uint32_t index)
{
	const struct sk_plan_argument *argument = &sk_plan_arguments(plan, call)[index];
	const struct sk_plan_pattern *pattern = sk_plan_pattern(plan, argument);
	bool pointer = argument->kind == SK_ARGUMENT_POINTER;
	bool expression = argument->kind == SK_ARGUMENT_EXPRESSION;
	size_t field =
		pointer ? offsetof(struct sk_plan_argument, element_bytes) : offsetof(struct sk_plan_argument, value);

	if ((pointer || (expression && argument->size)) &&
	    sk_dims_argument_value(dims, plan, call, index, field) != SK_NO_INDEX)
		return true;
	return (expression && expression_varies(plan, dims, step, argument)) ||
	       (pattern && (VARIES(dims, SK_DIMS_PATTERNS, plan->patterns, pattern, inner_bytes) ||
			    VARIES(dims, SK_DIMS_PATTERNS, plan->patterns, pattern, table_stride)));
}

static bool call_varies(const struct sk_op_slots *slots, const struct sk_plan_step *step,
			const struct sk_plan_call *call)
{
	const struct sk_plan_loop *loops = sk_plan_loops(slots->plan, call);
	bool varies = sk_op_may_be_empty(slots, call);

	for (uint32_t i = 0; i < call->loop_count; i++)
		varies |= VARIES(slots->dims, SK_DIMS_LOOPS, slots->plan->loops, &loops[i], extent);
	for (uint32_t i = 0; i < call->argument_count && !varies; i++)
		varies = argument_varies(slots->plan, slots->dims, step, call, i);
	return varies;
}

bool sk_thunk_takes(struct sk_arena *scratch, const struct sk_plan_view *plan, const struct sk_dims_view *dims,
		    const struct sk_plan_launch *launch)
{
	const struct sk_op_slots *slots = sk_op_slots_make(scratch, plan, dims, NULL);
	bool takes = true;

	for (uint32_t i = 0; slots && i < sk_plan_form(launch)->step_count && takes; i++) {
		const struct sk_plan_step *step = &plan->steps[launch->first_step + i];

		takes = !call_varies(slots, step, sk_plan_step_calls(plan, step).first);
	}
	return takes;
}
