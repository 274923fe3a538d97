/* The arguments of calls in the plan: lists that tasks share, and operands of each task. The input is bound tasks. The
 * output is the tables of lists, of their terms and patterns, and of operands, and the first record of each task. See
 * planning-parts.h. */
#include "base/arena.h"
#include "base/map.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"

static bool is_operand(const struct sk_argument *argument)
{
	return argument->tensor != SK_NONE && !argument->of_sizes;
}

/* Make the record without the places of its terms or its pattern. */
static struct sk_plan_argument make_record(const struct sk_argument *argument)
{
	bool operand = is_operand(argument), is_state = argument->kind == SK_ARGUMENT_STATE;
	bool is_number = is_state || argument->kind == SK_ARGUMENT_SYMBOL;
	uint64_t displacement = (uint64_t)(uint32_t)argument->displacement << 32; /* of a POINTER; it has no value */

	return (struct sk_plan_argument){
		.kind = (uint8_t)argument->kind,
		.dtype = (uint8_t)argument->dtype,
		.access = (uint8_t)sk_argument_access(argument),
		.space = is_state ? SK_SPACE_STATE : argument->of_sizes ? SK_SPACE_SIZES : SK_SPACE_NONE,
		.index = is_number ? (uint32_t)argument->value : 0,
		.offset = argument->of_sizes ? 8 * (uint64_t)argument->slot : argument->offset,
		.size = argument->kind == SK_ARGUMENT_EXPRESSION ? argument->term_count : argument->size,
		.element_bytes = argument->element_bytes,
		.value = is_number ? 0 : argument->value | displacement,
		.flags = (uint16_t)((argument->by_reference ? SK_ARGUMENT_BY_REFERENCE : 0) |
				    (argument->by_value ? SK_ARGUMENT_BY_VALUE : 0) |
				    (argument->is_status ? SK_ARGUMENT_STATUS : 0) |
				    (argument->is_field ? SK_ARGUMENT_FIELD : 0) |
				    (is_state && argument->of_library ? SK_ARGUMENT_OF_LIBRARY : 0) |
				    (operand ? SK_ARGUMENT_OPERAND : 0) |
				    (operand && argument->whole ? SK_ARGUMENT_WHOLE : 0)),
		.field = (uint16_t)argument->field,
	};
}

/* The records, each followed by its terms or its pattern, and by its forms. */
static void describe_task(const struct sk_task *task, struct sk_plan_key *text)
{
	text->bytes.count = 0;
	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];
		const struct sk_plan_argument record = make_record(argument);

		sk_plan_key_append(text, &record, sizeof(record));
		if (argument->term_count)
			sk_plan_key_append(text, argument->terms, argument->term_count * sizeof(*argument->terms));
		sk_plan_key_append(text, &(char){argument->pattern != NULL}, 1);
		if (argument->pattern)
			sk_plan_key_append(text, argument->pattern, sizeof(*argument->pattern));
		sk_plan_key_append_sizes(text, argument->varying);
	}
}

static void add_list(struct sk_plan_writer *writer, const struct sk_task *task)
{
	struct sk_plan_lists *lists = &writer->lists;
	struct sk_arena *arena = writer->arena;

	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];
		struct sk_plan_argument record = make_record(argument);

		sk_plan_note_sizes(writer, argument->varying, SK_DIMS_LISTS, (uint32_t)lists->records.count);
		sk_plan_note_sizes(writer, argument->varying, SK_DIMS_TERMS, (uint32_t)lists->terms.count);
		sk_plan_note_sizes(writer, argument->varying, SK_DIMS_PATTERNS, (uint32_t)lists->patterns.count);
		if (argument->kind == SK_ARGUMENT_EXPRESSION)
			record.index = (uint32_t)lists->terms.count;
		for (uint32_t i = 0; i < argument->term_count; i++)
			sk_array_push(arena, &lists->terms, argument->terms[i]);
		if (argument->pattern) {
			sk_array_push(arena, &lists->patterns, *argument->pattern);
			record.value |= lists->patterns.count;
		}
		sk_array_push(arena, &lists->records, record);
	}
}

static void add_task(struct sk_plan_writer *writer, struct sk_map *known, struct sk_plan_key *text, uint32_t number)
{
	const struct sk_task *task = &writer->model->tasks.items[number];
	struct sk_plan_lists *lists = &writer->lists;
	struct sk_plan_list_of_task *place = &lists->of_tasks[number];
	uint32_t first = (uint32_t)lists->operands.count;

	if (!task->bound.argument_count)
		return;
	describe_task(task, text);
	place->list = sk_map_find(known, text->bytes.items, text->bytes.count);
	if (place->list == SK_NONE) {
		const char *key = sk_arena_copy(writer->arena, text->bytes.items, text->bytes.count);

		place->list = sk_map_insert(known, key, text->bytes.count, (uint32_t)lists->records.count);
		add_list(writer, task);
	}
	for (uint32_t a = 0; a < task->bound.argument_count; a++)
		if (is_operand(&task->bound.arguments[a]))
			sk_array_push(writer->arena, &lists->operands,
				      writer->numbers[task->bound.arguments[a].tensor]);
	place->first_operand = lists->operands.count > first ? first : 0;
}

/* In the order of the calls; the sides of a mix task have one list. */
void sk_plan_make_lists(struct sk_plan_writer *writer)
{
	struct sk_plan_key text = {.arena = writer->arena};
	struct sk_map known;

	sk_map_init(&known, writer->arena);
	writer->lists.of_tasks = SK_NEW_ARRAY(writer->arena, struct sk_plan_list_of_task, writer->model->tasks.count);
	for (uint32_t l = 0; l < writer->fusion->launch_count; l++) {
		const struct sk_launch_schedule *launch = &writer->schedule->launches[l];

		for (uint32_t s = 0; s < launch->step_count; s++)
			for (uint32_t i = 0; launch->steps[s].side == 0 && i < launch->steps[s].task_count; i++)
				add_task(writer, &known, &text, launch->steps[s].tasks[i]);
	}
	sk_map_release(&known);
}
