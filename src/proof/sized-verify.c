/* Proof of a plan with numbers that depend on sizes, for all of them at once. Input: the plan of the largest sizes,
 * which sk_verify has proved, and thereby everything that has no sizes; the values of .sk.dims. Output: errors.
 *
 * A history has an access at all bytes that it touches at some size. A write replaces the earlier accesses only to
 * bytes that it touches at every size, and stands beside the others. For each size the pairs to check are therefore
 * among those that are found, and accesses between them are in the chain at that size. A pair is not checked if the two
 * have no common byte at any size. Rule 3 (verify.c) compares forms (forms.h). Contents are followed by forms, tensor
 * by tensor. */
#include "src/proof/proof.h"

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/forms.h"
#include "src/proof/proof-parts.h"

struct prover {
	struct sk_verifier verifier; /* the first member: the ways get its address */
	struct sk_sized sized;
	struct sk_sized_contents contents;
};

static struct prover *prover_of(struct sk_verifier *verifier)
{
	return (struct prover *)verifier;
}

static void report(struct sk_verifier *verifier, const struct sk_step_access *access, const char *error)
{
	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "launch '%s': task '%s', argument %u (%s): at some sizes %s",
		 sk_verifier_launch(verifier, access->launch), sk_verifier_task(verifier, access),
		 access->argument - verifier->view->calls[access->call].first_argument,
		 sk_access_tensor_text(verifier->arena, verifier->view, access), error);
	verifier->reported = true;
}

/* Called for each earlier access that may touch bytes of the current one at some size. */
static void check_conflict(void *context, uint32_t earlier_index)
{
	struct sk_verifier *verifier = context;
	struct sk_sized *sized = &prover_of(verifier)->sized;
	struct sk_sized_rows rows, earlier_rows;

	if (earlier_index == SK_NO_INDEX)
		return;

	const struct sk_step_access *later = &verifier->accesses.items[verifier->current];
	const struct sk_step_access *earlier = &verifier->accesses.items[earlier_index];

	if (later->launch >= verifier->view->network_launch_count && earlier->launch != later->launch)
		return;
	if (sk_sized_rows(sized, later, &rows) && sk_sized_rows(sized, earlier, &earlier_rows) &&
	    sk_sized_apart(sized, &earlier_rows, &rows))
		return;
	sk_verifier_check_order(verifier, earlier, later);
}

/* Reads of a call come before its writes (check_call). */
static void follow_contents(struct sk_verifier *verifier, const struct sk_step_access *access,
			    const struct sk_sized_rows *rows)
{
	const struct sk_plan_argument *argument = &verifier->view->arguments[access->argument];
	struct sk_sized_contents *contents = &prover_of(verifier)->contents;
	bool output =
		argument->space == SK_SPACE_BINDING && verifier->view->tensors[argument->tensor].role == SK_ROLE_OUTPUT;

	if (access->launch >= verifier->view->network_launch_count ||
	    (!output && argument->space != SK_SPACE_WORKSPACE))
		return;
	if (sk_access_reads(argument) && !sk_sized_covered(contents, argument->tensor, rows))
		report(verifier, access,
		       "it reads bytes that no task before it has written, or last as bytes of another tensor");
	if (sk_access_writes(argument))
		sk_sized_write(contents, argument->tensor, rows);
}

static struct sk_history *history_of(struct sk_verifier *verifier, const struct sk_plan_argument *argument)
{
	return argument->space == SK_SPACE_BINDING ? &verifier->bindings[argument->index]
	       : argument->space == SK_SPACE_STATE ? &verifier->states
						   : &verifier->workspace;
}

static void check_access(struct sk_verifier *verifier, const struct sk_step_access *access)
{
	struct sk_sized *sized = &prover_of(verifier)->sized;
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_argument *argument = &view->arguments[access->argument];
	bool tile = argument->space == SK_SPACE_SCRATCH; /* tiles do not depend on sizes: scratch-check.c */
	struct sk_sized_rows rows;
	const char *wrong = NULL;

	verifier->reported = false;
	if (argument->kind != SK_ARGUMENT_STATE && argument->space != SK_SPACE_SIZES && !tile)
		wrong = sk_sized_check(
			sized, access,
			sk_plan_tensor_start(&view->launches[access->launch], &view->tensors[argument->tensor]));
	if (tile && sk_sized_varies(sized, access))
		wrong = "its tile has another size";
	if (!wrong && sk_access_writes(argument) && !sk_sized_write_allowed(sized, access))
		wrong = "several cores write it, and it is not divided";
	if (wrong)
		report(verifier, access, wrong);
	if (argument->space == SK_SPACE_CONSTANT || argument->space == SK_SPACE_SIZES || tile ||
	    !sk_sized_rows(sized, access, &rows))
		return;
	verifier->current = (uint32_t)verifier->accesses.count;
	sk_array_push(verifier->arena, &verifier->accesses, *access);
	if (rows.hull.width)
		sk_history_access_sized(history_of(verifier, argument), &rows.hull, &rows.core, verifier->current,
					sk_plan_access(argument), check_conflict, verifier);
	follow_contents(verifier, access, &rows);
}

/* The step and its partition, which are two records, have one extent at all sizes. Rows of blocks divide it, and their
 * number of elements is whole units. */
static void check_partition(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_step *step = &view->steps[index];
	struct sk_sized *sized = &prover_of(verifier)->sized;

	if (!sk_plan_divides(step))
		return;

	const struct sk_plan_partition *partition = &view->partitions[step->partition];
	const struct sk_normal *extent = sk_sized_field(sized, SK_DIMS_PARTITIONS, step->partition,
							offsetof(struct sk_plan_partition, extent), partition->extent);
	const struct sk_normal *unit = sk_sized_field(sized, SK_DIMS_PARTITIONS, step->partition,
						      offsetof(struct sk_plan_partition, unit), partition->unit);
	const struct sk_normal *rows = sk_sized_field(sized, SK_DIMS_PARTITIONS, step->partition,
						      offsetof(struct sk_plan_partition, rows), partition->rows);
	const struct sk_normal *row = partition->blocks ? sk_normal_quotient(&sized->forms, extent, rows) : extent;
	const struct sk_normal *one = sk_normal_number(&sized->forms, 1);

	const struct sk_normal *divided = step->kind == SK_STEP_SPLIT
						  ? sk_sized_field(sized, SK_DIMS_STEPS, index,
								   offsetof(struct sk_plan_step, extent), step->extent)
						  : sk_normal_number(&sized->forms, step->blocks);

	if (!sk_normal_equal(extent, divided) || !sk_normal_at_most(&sized->forms, one, unit) ||
	    (partition->blocks && !sk_normal_quotient(&sized->forms, row, unit)))
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launch '%s': task '%s': at some sizes its extent is not the one that the cores divide",
			 sk_verifier_launch(verifier, launch), sk_plan_string(&sk_plan_step_task(view, step)->name));
}

static void add_stride(struct sk_verifier *verifier, const struct sk_step_access *access)
{
	const struct sk_plan_argument *argument = &verifier->view->arguments[access->argument];
	struct sk_sized_rows rows;

	if ((argument->space == SK_SPACE_BINDING || argument->space == SK_SPACE_WORKSPACE) &&
	    sk_sized_rows(&prover_of(verifier)->sized, access, &rows) && rows.hull.count > 1)
		sk_history_add_stride(history_of(verifier, argument), rows.hull.stride);
}

static void add_strides(struct sk_verifier *verifier, uint32_t launch, uint32_t step)
{
	const struct sk_plan_view *view = verifier->view;
	struct sk_plan_calls calls = sk_plan_step_calls(view, &view->steps[step]);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_step_access access = {launch, step, (uint32_t)(call - view->calls),
							      call->first_argument + i};

			if (view->arguments[access.argument].kind == SK_ARGUMENT_POINTER)
				add_stride(verifier, &access);
		}
}

static bool same_core(struct sk_verifier *verifier, const struct sk_step_access *one,
		      const struct sk_step_access *other)
{
	return sk_sized_same_core(&prover_of(verifier)->sized, one, other);
}

static bool allowed_within_call(struct sk_verifier *verifier, const struct sk_step_access *one,
				const struct sk_step_access *other)
{
	return sk_sized_allowed_within_call(&prover_of(verifier)->sized, one, other);
}

static const struct sk_verifier_ways ways = {check_access, check_partition, same_core, allowed_within_call};

bool sk_verify_sizes(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
		     const struct sk_dims_view *dims, const char *file)
{
	struct prover prover = {.verifier = {.arena = arena,
					     .diag = diag,
					     .view = view,
					     .file = file,
					     .ways = &ways,
					     .knowledge = {.arena = arena, .view = view}},
				.sized = {.view = view}};
	unsigned errors = diag->errors;

	sk_normals_build(&prover.sized.forms, arena, dims);
	sk_sized_contents_init(&prover.contents, &prover.sized);
	sk_verifier_init(&prover.verifier);
	for (uint32_t launch = 0; launch < view->launch_count; launch++)
		for (uint32_t i = 0; i < sk_plan_form(&view->launches[launch])->step_count; i++)
			add_strides(&prover.verifier, launch, view->launches[launch].first_step + i);
	sk_verifier_check_launches(&prover.verifier);
	return diag->errors == errors;
}
