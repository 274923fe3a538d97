/* How the checks of consistency.h say that two places of a plan do not agree, and what they share. */
#ifndef SK_CONTRADICTION_H
#define SK_CONTRADICTION_H

#include "base/diag.h"
#include "format/plan/plan.h"
#include "src/proof/access.h"

enum { SK_PLAN_ALIGNMENT = 64 /* of temporaries, constants and scratch */ };

struct sk_consistency {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_task_call *places; /* by task: where the network runs it */
};

/* Returns false, always. */
bool sk_contradict(const struct sk_consistency *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `number` is what a record says, `follows` what follows from others. */
bool sk_same_number(const struct sk_consistency *check, const char *whose, const char *what, uint64_t number,
		    uint64_t follows);
bool sk_same_text(const struct sk_consistency *check, const char *whose, const char *what, const char *text,
		  const char *follows);

/* For greatest values. */
void sk_raise(uint64_t *most, uint64_t other);

/* What is beyond all numbers becomes the greatest one. */
uint64_t sk_align_plan(uint64_t value);

/* consistency-launches.c: what launches say of their steps. */
bool sk_consistency_check_launches(const struct sk_consistency *check);

/* consistency-tensors.c: what tensors are, and where they lie. */
bool sk_consistency_check_tensors(const struct sk_consistency *check);

#endif
