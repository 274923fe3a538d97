/* The plan's writer in parts: the tables with their place in the image, and the strings and relocations that their
 * records have. */
#ifndef SK_PLAN_TABLES_H
#define SK_PLAN_TABLES_H

#include "src/model/model.h"
#include "src/planning/plan-writer.h"

struct sk_plan_list_of_task {
	uint32_t list, first_operand;
};

/* What the arguments of all calls are made of; the task's entry shares the task's. */
struct sk_plan_lists {
	SK_ARRAY(struct sk_plan_argument) records;
	SK_ARRAY(struct sk_plan_term) terms;
	SK_ARRAY(struct sk_plan_pattern) patterns;
	SK_ARRAY(uint32_t) operands;
	struct sk_plan_list_of_task *of_tasks; /* by task */
};

/* A table of records that others share: what is equal stands in it once. */
struct sk_plan_shared {
	SK_ARRAY(char) bytes;
	size_t record_size;
	struct sk_map numbers; /* by the bytes of records one behind the other: the first one's */
};

/* Where what a kernel is called stands in the strings. */
struct sk_plan_kernel_strings {
	uint32_t name, symbol, signature;
};

struct sk_plan_writer {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	const struct sk_schedule *schedule;
	const struct sk_memory *memory;
	struct sk_arena *arena; /* of what the image does not hold */
	enum sk_task_entries task_entries;
	struct sk_plan_image *image;
	uint64_t *constant_offsets; /* by tensor */
	const char **entry_names; /* by task; NULL: they have none */
	uint32_t *numbers; /* by tensor that is no view: its number in the plan */

	/* The tables in the image, and how much of each has been written. */
	struct sk_plan *plan;
	int32_t *lanes;
	struct sk_plan_launch *launches;
	struct sk_plan_task *tasks;
	struct sk_plan_cost *costs;
	struct sk_plan_kernel *kernels;
	struct sk_plan_tensor *tensors;
	uint32_t *bindings;
	struct sk_plan_step *steps;
	struct sk_plan_call *calls;
	struct sk_plan_await *awaits;
	struct sk_plan_loop *loops;
	struct sk_plan_symbol *symbols;
	uint32_t *follows;
	uint32_t step_count, call_count, await_count, argument_count, loop_count, follow_count;

	struct sk_plan_lists lists;
	struct sk_map cost_numbers; /* what tasks cost -> index in costs */
	uint32_t *copies; /* by kernel: beside itself */
	uint32_t copy_count;
	uint32_t tensor_count; /* that are no views */

	uint64_t strings_offset; /* in the image */
	SK_ARRAY(char) strings;
	struct sk_map string_offsets;
	const char *last_text; /* that has been looked for there, and what was found */
	uint32_t last_offset;
	/* Of the names that go first: by task, by task if it has an entry, by kernel. */
	uint32_t *task_offsets, *entry_offsets;
	struct sk_plan_kernel_strings *kernel_strings;

	/* Behind the strings: how many they are is known when all others have been written. */
	struct sk_plan_shared forms, types, partitions, homes;
};

/* Makes the lists of arguments; the tensors are numbered. */
void sk_plan_make_lists(struct sk_plan_writer *writer);

/* Counts the records, finds a place for each table, and makes room. False if the plan is too large. */
bool sk_plan_lay_out(struct sk_plan_writer *writer);

/* The names that only messages and tools read. They go first, so that those that loading reads stand together at the
 * end of the strings, where it looks anyway. */
void sk_plan_intern_other_names(struct sk_plan_writer *writer);

/* The number of the first of so many records in a row, which are equal to these; 0 of none. */
uint32_t sk_plan_share(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *records,
		       uint32_t count);

/* What a field of a record that is shared holds until the tables are joined, instead of a reference to a string. NULL:
 * it stays 0. */
int32_t sk_plan_later_string(struct sk_plan_writer *writer, const char *text);

/* A field of the tables that refers to a string; NULL: it stays 0. */
void sk_plan_set_string(struct sk_plan_writer *writer, int32_t *field, const char *text);

/* The same, where its place in the strings is known. */
void sk_plan_set_interned(struct sk_plan_writer *writer, int32_t *field, uint32_t offset);

/* A field of the tables that the linker fills in. Fields come in the order of their places. */
void sk_plan_add_relocation(struct sk_plan_writer *writer, const int32_t *field, enum sk_plan_target target,
			    uint32_t index);

/* Joins tables, strings and what is shared in the image; the form of a launch, and the type of a tensor, is a number
 * until now. False if the plan is too large. */
bool sk_plan_join(struct sk_plan_writer *writer);

#endif
