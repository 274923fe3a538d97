/* Gaps: the bytes that nobody has written, and those that nobody reads. In come the bound tasks, in network order; out
 * come, for every argument that reads, the bytes that no earlier task has written, for every tensor those that no task
 * writes at all, and the arguments whose bytes later tasks all overwrite before any task reads one of them. What a gap
 * means depends on the tensor's role (roles.c). What is declared to have its contents from outside has none. */
#ifndef SK_GAPS_H
#define SK_GAPS_H

#include "src/model/model.h"

struct sk_gap {
	uint32_t tensor; /* a root */
	uint32_t task, argument; /* who reads the bytes; SK_NONE: nobody writes them until the end */
	uint64_t low, high; /* bytes of the tensor */
};

/* An argument whose bytes are all overwritten before one of them is read. */
struct sk_dead_store {
	uint32_t task, argument;
	uint32_t by; /* the task that overwrites the last of them */
};

struct sk_gaps {
	SK_ARRAY(struct sk_gap) reads; /* by task, argument and address; each byte once, where it is read first */
	SK_ARRAY(struct sk_gap) ends; /* by tensor and address */
	SK_ARRAY(struct sk_dead_store)
	stores; /* by the tasks that overwrite; not of tensors with rows of two strides */
	uint64_t steps; /* nodes of the maps that have been looked at, which tests count */
};

/* A parameter that is written counts as written whole: a kernel that writes a part of it reads the rest (inout), as far
 * as its signature says. n log n in the number of arguments, whatever the order of their addresses. */
struct sk_gaps sk_gaps_find(const struct sk_model *model);

#endif
