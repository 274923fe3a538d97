/* Random plans with numbers that depend on two sizes, for tests of the proof for all sizes. A program says what a plan
 * does; a plan of it has the largest sizes, and a section of the fields that vary. */
#ifndef SK_TESTS_SIZED_PLANS_H
#define SK_TESTS_SIZED_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

enum { SIZED_S = 4, SIZED_T = 2 }; /* the most of both sizes, which are from 1 on */

/* one + s*S + t*T + st*S*T + half*floor(S/2) + less*(S-1) + least*min(S,2*T) + most*max(S,2*T) */
struct sized_number {
	uint64_t one, s, t, st, half, less, least, most;
};

enum {
	SIZED_STEPS = 6,
	SIZED_ACCESSES = 3,
	SIZED_TENSORS = 5,
	SIZED_TILED = 3, /* the tensor that may be in the scratch */
};

struct sized_access {
	uint32_t tensor;
	unsigned access;
	struct sized_number offset, size, element_bytes;
	struct sized_number width, stride, count; /* count 0: a single row */
	struct sized_number halo;
	bool shaped; /* the call sees it in a shape of its own */
};

struct sized_step {
	enum sk_step_kind kind;
	struct sized_number extent, unit;
	struct sized_number loop, inner; /* the extents of its loops */
	uint64_t first_core;
	uint64_t tile; /* of its loops; 0: it has none */
	uint64_t group; /* it is in tiles of so many elements; 0: it is not */
	uint64_t scale; /* of its call; 0: 1 */
	uint32_t blocks, stream;
	bool awaits[SIZED_STEPS];
	bool same_step; /* a further call of the step before it */
	bool owns; /* SK_STEP_OWN_AWAITS: its kind is BLOCKS, from first_core on, or BLOCKS_RANGE */
	uint32_t access_count;
	struct sized_access accesses[SIZED_ACCESSES];
};

struct sized_program {
	uint64_t state; /* of the random numbers */
	bool lists; /* the plan has lists of arguments */
	uint32_t dropped; /* one in so many fields is left out; 0: none */
	uint64_t scratch; /* its bytes; 0: no tensor is there */
	struct sized_number moved; /* the place of its tile in reads; 0: that of the tensor, offsets[SIZED_TILED] */
	uint64_t offsets[SIZED_TENSORS];
	struct sized_number bytes[SIZED_TENSORS], filled[SIZED_TENSORS];
	struct sized_number once; /* bytes that a launch that runs once writes; 0: there is none */
	uint32_t step_count;
	struct sized_step steps[SIZED_STEPS];
};

/* A section that is being made. */
struct sized_section;

struct sized_plan {
	struct sk_plan_view view; /* of the largest sizes */
	struct sk_dims_view dims;
	struct sk_dims *section; /* the bytes of the sizes, which tests may change … */
	size_t size; /* … and their number */
};

void sized_program_make(struct sized_program *program, uint64_t seed);
void sized_program_print(const struct sized_program *program);

/* Begin a section for sizes up to these, add fields and slots that have these values, and lay it out. */
struct sized_section *sized_section_begin(struct sk_arena *arena, uint64_t s, uint64_t t);
void sized_section_put(struct sized_section *section, enum sk_dims_table table, size_t record, size_t offset,
		       struct sized_number number);
void sized_section_add_slot(struct sized_section *section, struct sized_number number);
void sized_section_make_foreign(struct sized_section *section); /* both are sizes of a network "T" */
void sized_section_finish(struct sized_section *section, struct sized_plan *plan);

/* Return the number for these sizes. */
uint64_t sized_number_at(struct sized_number number, uint64_t s, uint64_t t);

/* Make the plan in the arena. False: a reader refuses it. Release it with sized_plan_close in any case. */
bool sized_plan_make(struct sk_arena *arena, const struct sized_program *program, struct sized_plan *plan);
void sized_plan_close(struct sized_plan *plan);

#endif
