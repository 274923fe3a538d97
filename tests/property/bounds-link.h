/* Links of manifests with sizes with bounds in memory, and damage to the sizes, for bounds.c. */
#ifndef SK_TESTS_BOUNDS_LINK_H
#define SK_TESTS_BOUNDS_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "linker/linker.h"
#include "src/model/model.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

/* A change of the sizes of a link. */
struct change {
	uint64_t *random; /* the state of random numbers */
	uint32_t number; /* below count_changes; SK_NO_INDEX: any change, chosen at random */
};

/* One link. */
struct link {
	const char *text; /* the manifest */
	struct sk_arena *arena;
	struct sk_diag diag;
	struct sk_linker *linker;
	struct sk_model *model;
	struct sk_plan_image image;
	struct sk_plan_view plan;
	struct sk_dims_view dims;
	struct sk_account account;
	const uint8_t *package;
	uint64_t size;
	bool linked;
	const struct change *change; /* NULL: there is none */
	char damaged[80]; /* the change */
};

/* Run the stages of sklink.c, without those for files. kernels: the path of an object. */
void begin_link(struct link *link, const char *kernels, const char *text, const struct change *change);
void end_link(struct link *link);

/* Prove a plan with the orders that the manifest wants. */
bool verify_plan(const struct link *link, struct sk_arena *arena, struct sk_diag *diag,
		 const struct sk_plan_view *plan);

/* Return the messages so far, which the caller frees. */
char *messages_of(struct sk_diag *diag);

/* ==== bounds-damage.c ==== */

/* Change one value, field or slot of .sk.dims of a link whose sizes are open: a member of a record gets another number,
 * or that of another record, or two records exchange one, or a value becomes another one with the same largest number.
 * The link gets a copy of the bytes, and a text of the change. */
void damage_sizes(struct link *link);

/* Return the number of single changes: several of each member of each record. */
uint32_t count_changes(const struct link *link);

/* True if the section can be read after the change of that number. */
bool opens_changed(const struct link *link, uint32_t number);

enum damage {
	SAME, /* all numbers are the same at these sizes */
	OTHER_NETWORK, /* numbers that the manifest alone gives: sizes of tensors, offsets of views, scalars of `set` */
	WRONG, /* a number that follows from others */
};

/* Compare the numbers of two packages of one plan at these sizes. */
enum damage compare_damage(const struct link *link, const struct link *damaged, const uint64_t *sizes);

#endif
