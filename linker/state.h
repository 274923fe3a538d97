/* What is known of what functions reach: the components that state.c finds. */
#ifndef SK_LINKER_STATE_H
#define SK_LINKER_STATE_H

#include "linker/section.h"

/* A section that has been reached from a function. */
struct sk_reached_section {
	struct sk_input_section *section;
	uint32_t low; /* the lowest node of an open component that it is known to lead to */
	uint32_t component;
	const char *barrier; /* that it refers to, or NULL */
};

/* Sections that reach one another, so that what one of them reaches all do. */
struct sk_component {
	SK_ARRAY(struct sk_input_section *) states; /* among them */
	SK_ARRAY(uint32_t)
	targets; /* other components that they lead to directly, and that lead to what is of interest */
	SK_ARRAY(uint32_t) answer; /* numbers of all states that they lead to, once somebody has asked */
	bool answered;
	const char *barrier; /* a function that one of them, or what they lead to, refers to, or NULL */
	struct sk_input_section *thread_storage; /* thread-local, and led to; NULL: none is */
	bool stateful; /* it leads to states, or has some */
	uint32_t group; /* of states that are one, to which those belong that it leads to; 0: not joined */
	uint32_t isa; /* levels that objects need in which anything lies that they lead to */
	uint32_t search; /* the last one that came by */
};

/* A section on the way from a function to what is being looked at. */
struct sk_path_step {
	uint32_t node;
	uint32_t next; /* number of its target that is looked at next */
	size_t first_target; /* how many the stack of targets had before */
};

/* Hidden states that count as one: a set of a union-find forest. */
struct sk_state_group {
	uint32_t parent; /* a set's own number: it has not been joined with another one */
	uint32_t search; /* the last one that came by */
	struct sk_input_section *state; /* stands for all of them; NULL before the first is asked for */
	bool has_library; /* one that it has been joined of leads to the C library's state */
};

struct sk_reached {
	SK_ARRAY(struct sk_reached_section) nodes;
	SK_ARRAY(struct sk_component) components;
	SK_ARRAY(struct sk_state_group) groups; /* the first one stands for none */
	/* Stacks; empty between searches. */
	SK_ARRAY(struct sk_path_step) path;
	SK_ARRAY(uint32_t) open; /* nodes whose components are not complete */
	SK_ARRAY(uint32_t) targets; /* components that they lead to */
	uint32_t search; /* number of the last one among components */
	uint32_t import_search; /* the last one that came by the C library's state */
};

#endif
