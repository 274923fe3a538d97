/* Numbers of the plan in code; see ops.h. */
#include "stubs/dispatcher/ops.h"

#include "base/arena.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

/* A number with a value, but without a slot, cannot be read. */
static struct sk_op_number number_of(struct sk_op_slots *slots, uint32_t value, uint64_t number)
{
	struct sk_op_number result = {.number = number, .slot = SK_NO_INDEX};
	char text[SK_DIMS_TEXT_SIZE];

	if (value == SK_NO_INDEX)
		return result;
	result.number -= slots->dims->most[value];
	result.slot = slots->reads ? value : sk_dims_slot_of(slots->dims, value);
	if (slots->reads)
		slots->reads[value] = true;
	if (result.slot != SK_NO_INDEX || slots->reason)
		return result;
	sk_dims_value_text(slots->dims, value, text, sizeof(text));
	slots->reason = sk_arena_print(slots->arena, "the code needs the size %s, which has no slot", text);
	return result;
}

struct sk_op_number sk_op_number(struct sk_op_slots *slots, enum sk_dims_table table, uint32_t record, size_t offset,
				 uint64_t number)
{
	if (!slots)
		return (struct sk_op_number){.number = number, .slot = SK_NO_INDEX};
	return number_of(slots, sk_dims_value_of(slots->dims, table, record, offset), number);
}

static uint32_t value_of(const struct sk_op_slots *slots, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument, size_t offset)
{
	return sk_dims_argument_value(slots->dims, slots->plan, call,
				      (uint32_t)(argument - sk_plan_arguments(slots->plan, call)), offset);
}

struct sk_op_number sk_op_argument_number(struct sk_op_slots *slots, const struct sk_plan_call *call,
					  const struct sk_plan_argument *argument, size_t offset, uint64_t number)
{
	if (!slots || !call)
		return (struct sk_op_number){.number = number, .slot = SK_NO_INDEX};
	return number_of(slots, value_of(slots, call, argument, offset), number);
}

struct sk_op_slots *sk_op_slots_make(struct sk_arena *arena, const struct sk_plan_view *plan,
				     const struct sk_dims_view *dims, bool *reads)
{
	struct sk_op_slots *slots;
	uint64_t sizes[SK_MAX_DIMENSIONS];

	if (!dims)
		return NULL;
	slots = SK_NEW(arena, struct sk_op_slots);
	*slots = (struct sk_op_slots){.arena = arena, .plan = plan, .dims = dims, .reads = reads};
	slots->least = SK_NEW_ARRAY(arena, uint64_t, dims->value_count + (size_t)1);
	for (uint32_t i = 0; i < dims->dimension_count; i++)
		sizes[i] = dims->dimensions[i].least;
	sk_dims_evaluate(dims, sizes, slots->least);
	return slots;
}

/* ---- empty calls ---- */

struct values {
	SK_ARRAY(uint32_t) numbers;
};

/* Return the bytes that a call writes; none if it always writes some. */
static struct values written_values(const struct sk_op_slots *slots, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = slots ? sk_plan_arguments(slots->plan, call) : NULL;
	struct values values = {0};

	for (uint32_t i = 0; slots && i < call->argument_count; i++) {
		uint32_t value = value_of(slots, call, &arguments[i], offsetof(struct sk_plan_argument, size));

		if (!(sk_plan_access(&arguments[i]) & SK_ACCESS_WRITE))
			continue;
		if (value == SK_NO_INDEX || slots->least[value])
			return (struct values){0};
		sk_array_push(slots->arena, &values.numbers, value);
	}
	return values;
}

bool sk_op_may_be_empty(const struct sk_op_slots *slots, const struct sk_plan_call *call)
{
	return written_values(slots, call).numbers.count;
}

uint32_t sk_op_written(struct sk_op_slots *slots, const struct sk_plan_call *call, const struct sk_op_number **numbers)
{
	struct values values = written_values(slots, call);
	struct sk_op_number *found;

	if (!values.numbers.count)
		return 0;
	*numbers = found = SK_NEW_ARRAY(slots->arena, struct sk_op_number, values.numbers.count);
	for (size_t i = 0; i < values.numbers.count; i++)
		found[i] = number_of(slots, values.numbers.items[i], slots->dims->most[values.numbers.items[i]]);
	return (uint32_t)values.numbers.count;
}
