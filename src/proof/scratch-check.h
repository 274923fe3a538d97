/* The proof of what lies in the scratch: temporaries of which a core has one tile at a time. In come the steps of a
 * plan that sk_plan_check_all has accepted; out comes nothing, or errors that name task and tensor.
 *
 * What has to be shown: such a temporary is accessed by calls of one step only, each of all that it has, divided alike,
 * so that a tile is the same bytes in all of them. Each byte of a tile that a call reads has been written by an earlier
 * call of the same tile, last as a byte of that temporary, whatever else lies there before and behind. Two arguments of
 * one call share no byte unless they are one temporary. And addresses are, modulo 64, those in the tasks' own entries.
 */
#ifndef SK_SCRATCH_CHECK_H
#define SK_SCRATCH_CHECK_H

#include "src/proof/verify.h"

struct sk_scratch_check;

/* In the arena. facts: of reads of tiles; NULL: nobody wants to know. */
struct sk_scratch_check *sk_scratch_check_new(struct sk_arena *arena, struct sk_diag *diag,
					      const struct sk_plan_view *view, const char *file,
					      struct sk_facts *facts);

/* Steps come in the order of the plan, with the launches that they are in. */
void sk_scratch_check_step(struct sk_scratch_check *check, uint32_t launch, uint32_t step);

#endif
