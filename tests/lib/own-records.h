/* Plans in which launches and tensors have forms and types of their own, for tests that change one of them. */
#ifndef SK_TESTS_OWN_RECORDS_H
#define SK_TESTS_OWN_RECORDS_H

#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"

/* Return the form of a launch, or the type of a tensor, to be changed, also for all others that share it. */
static inline struct sk_plan_form *plan_form(const struct sk_plan_launch *launch)
{
	return (struct sk_plan_form *)(uintptr_t)sk_plan_form(launch);
}

static inline struct sk_plan_type *plan_type(const struct sk_plan_tensor *tensor)
{
	return (struct sk_plan_type *)(uintptr_t)sk_plan_type(tensor);
}

/* Bytes that a plan with records of its own takes. */
static inline uint64_t own_records_size(const struct sk_plan *plan)
{
	return plan->size + plan->launches.count * sizeof(struct sk_plan_form) +
	       plan->tensors.count * sizeof(struct sk_plan_type);
}

/* Return a reference to the place at the same distance from the start in the other plan. */
static inline int32_t own_reference(const struct sk_plan *to, const int32_t *field, const struct sk_plan *from,
				    const int32_t *old)
{
	return *old ? (int32_t)((const char *)old - (const char *)from + *old -
				((const char *)field - (const char *)to))
		    : 0;
}

/* Append a table; NULL: the caller writes its records. */
static inline void *own_table(struct sk_plan *to, struct sk_plan_table *table, const void *records, uint32_t count,
			      size_t record_size)
{
	char *start = (char *)to + to->size;

	*table = (struct sk_plan_table){count ? (int32_t)(start - (char *)table) : 0, count};
	if (records)
		memcpy(start, records, count * record_size);
	to->size += count * record_size;
	return start;
}

/* Copy a plan that sklink has written, in which forms, types, partitions and homes come last. The copy has room for
 * own_records_size bytes, and each launch and each tensor in it has a record of its own. */
static inline void own_records(struct sk_plan *to, const struct sk_plan *from)
{
	const char *forms_of_all = (const char *)&from->forms + from->forms.offset;
	size_t before = (size_t)(forms_of_all - (const char *)from);

	memcpy(to, from, before);
	to->size = before;

	struct sk_plan_launch *launches = (void *)((char *)&to->launches + to->launches.offset);
	struct sk_plan_tensor *tensors = (void *)((char *)&to->tensors + to->tensors.offset);
	const struct sk_plan_launch *old_launches =
		(const void *)((const char *)&from->launches + from->launches.offset);
	const struct sk_plan_tensor *old_tensors = (const void *)((const char *)&from->tensors + from->tensors.offset);
	struct sk_plan_form *forms = own_table(to, &to->forms, NULL, from->launches.count, sizeof(*forms));
	struct sk_plan_type *types = own_table(to, &to->types, NULL, from->tensors.count, sizeof(*types));

	own_table(to, &to->partitions, (const char *)&from->partitions + from->partitions.offset,
		  from->partitions.count, sizeof(struct sk_plan_partition));
	own_table(to, &to->homes, (const char *)&from->homes + from->homes.offset, from->homes.count,
		  sizeof(struct sk_plan_home));
	for (uint32_t i = 0; i < from->launches.count; i++) {
		const struct sk_plan_form *form = sk_plan_form(&old_launches[i]);

		forms[i] = *form;
		forms[i].scope = own_reference(to, &forms[i].scope, from, &form->scope);
		forms[i].network = own_reference(to, &forms[i].network, from, &form->network);
		launches[i].form = (int32_t)((char *)&forms[i] - (char *)&launches[i].form);
	}
	for (uint32_t i = 0; i < from->tensors.count; i++) {
		const struct sk_plan_type *type = sk_plan_type(&old_tensors[i]);

		types[i] = *type;
		types[i].range = own_reference(to, &types[i].range, from, &type->range);
		tensors[i].type = (int32_t)((char *)&types[i] - (char *)&tensors[i].type);
	}
}

#endif
