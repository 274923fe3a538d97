/* Proof of a plan with numbers that depend on sizes, for all of them at once. Input: the plan of the largest sizes,
 * which sk_verify has proved, and thereby everything that has no sizes; the values of .sk.dims. Output: errors.
 *
 * A history has an access at all bytes that it touches at some size. A write replaces the earlier accesses only to
 * bytes that it touches at every size, and stands beside the others. For each size the pairs to check are therefore
 * among those that are found, and accesses between them are in the chain at that size. A pair is not checked if the two
 * have no common byte at any size. Rule 3 (verify.c) compares forms (forms.h). Contents are followed by forms, tensor
 * by tensor. */
#include "src/proof/proof.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
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
	const char **networks; /* by value: the network of its dimensions; NULL: it has none */
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

	if (earlier_index == SK_NO_INDEX)
		return;

	const struct sk_step_access *later = &verifier->accesses.items[verifier->current];
	const struct sk_step_access *earlier = &verifier->accesses.items[earlier_index];

	if (later->launch >= verifier->view->network_launch_count && earlier->launch != later->launch)
		return;
	if (!sk_verifier_orders(verifier, earlier, later) &&
	    !sk_sized_apart(sized, sk_sized_rows(sized, earlier), sk_sized_rows(sized, later)))
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
	bool tile = argument->space == SK_SPACE_SCRATCH;
	const struct sk_sized_rows *rows = sk_sized_rows(sized, access);
	const char *wrong = NULL;

	verifier->reported = false;
	if (argument->kind != SK_ARGUMENT_STATE && argument->space != SK_SPACE_SIZES && !tile)
		wrong = sk_sized_check(
			sized, access,
			sk_plan_tensor_start(&view->launches[access->launch], &view->tensors[argument->tensor]));
	if (argument->space == SK_SPACE_SIZES && sk_sized_varies(sized, access))
		wrong = "its list of sizes is another one";
	if (tile && argument->kind == SK_ARGUMENT_POINTER)
		wrong = sk_sized_check_tile(sized, access);
	else if (tile && sk_sized_varies(sized, access))
		wrong = "its scratch is another one";
	if (!wrong && sk_access_writes(argument) && !sk_sized_write_allowed(sized, access))
		wrong = "several cores write it, and it is not divided";
	if (wrong)
		report(verifier, access, wrong);
	if (argument->space == SK_SPACE_CONSTANT || argument->space == SK_SPACE_SIZES || tile || !rows)
		return;
	verifier->current = (uint32_t)verifier->accesses.count;
	sk_array_push(verifier->arena, &verifier->accesses, *access);
	if (rows->hull.width)
		sk_history_access_sized(history_of(verifier, argument), &rows->hull, &rows->core, verifier->current,
					sk_plan_access(argument), check_conflict, verifier);
	follow_contents(verifier, access, rows);
}

/* ---- steps ---- */

/* The step and its partition, which are two records, have one extent. Rows of blocks divide it, and their number of
 * elements is whole units; tiles are whole units. */
static bool partition_fits(struct sk_sized *sized, const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_partition *partition = &view->partitions[step->partition];
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *one = sk_normal_number(forms, 1);
	const struct sk_normal *unit = SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, unit);
	const struct sk_normal *extent = SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, extent);
	const struct sk_normal *rows = SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, rows);

	if (step->kind == SK_STEP_BLOCKS_RANGE)
		return sk_normal_equal(forms, extent, sk_normal_number(forms, step->blocks)) &&
		       sk_normal_equal(forms, unit, one);
	if (!sk_normal_equal(forms, extent, SK_SIZED_FIELD(sized, SK_DIMS_STEPS, view->steps, step, extent)) ||
	    !sk_normal_at_most(forms, one, unit) ||
	    (step->tile && !sk_normal_quotient(forms, sk_normal_number(forms, step->tile), unit)))
		return false;
	return !partition->blocks || (sk_normal_at_most(forms, one, rows) &&
				      sk_normal_quotient(forms, sk_normal_quotient(forms, extent, rows), unit));
}

/* The outer loop goes through the call's extent in units of whole tiles; the inner one has elements. */
static bool loops_fit(struct sk_sized *sized, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_loop *loops = sk_plan_loops(view, call);
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *scale = sk_normal_number(forms, call->scale);

	if (!loops)
		return true;

	const struct sk_plan_partition *partition = &view->partitions[step->partition];
	const struct sk_normal *unit = SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, unit);
	const struct sk_normal *extent = SK_SIZED_FIELD(sized, SK_DIMS_STEPS, view->steps, step, extent);

	return sk_normal_equal(forms, SK_SIZED_FIELD(sized, SK_DIMS_LOOPS, view->loops, &loops[0], extent),
			       sk_normal_multiply(forms, extent, scale)) &&
	       sk_normal_divides(forms, sk_normal_multiply(forms, unit, scale), loops[0].tile) &&
	       (call->loop_count < SK_MAX_LOOPS ||
		sk_normal_at_most(forms, sk_normal_number(forms, 1),
				  SK_SIZED_FIELD(sized, SK_DIMS_LOOPS, view->loops, &loops[1], extent)));
}

/* A question about the values of a step's numbers. */
struct question {
	const struct prover *prover;
	const char *network; /* NULL: does it vary? Else: has it sizes of another network than this one? */
};

static bool ask_value(const struct question *question, uint32_t value)
{
	const char *network = question->prover->networks[value];
	int64_t number;

	if (question->network)
		return network && strcmp(network, question->network) != 0;
	return !sk_normal_is_number(question->prover->sized.forms.values[value], &number);
}

static bool ask_record(const struct question *question, enum sk_dims_table table, size_t record)
{
	uint32_t count;
	const struct sk_dims_field *fields =
		sk_dims_fields_of(question->prover->sized.forms.dims, table, (uint32_t)record, &count);

	for (uint32_t i = 0; i < count; i++)
		if (ask_value(question, fields[i].value))
			return true;
	return false;
}

/* A list of sizes is in slots, which the plan's reader has found to exist. */
static bool ask_list(const struct question *question, const struct sk_plan_argument *argument)
{
	const struct sk_dims_slot *slots = question->prover->sized.forms.dims->slots + argument->offset / 8;

	for (uint64_t i = 0; i < argument->size / 8; i++)
		if (ask_value(question, slots[i].value))
			return true;
	return false;
}

static bool ask_argument(const struct question *question, const struct sk_plan_call *call, uint32_t number)
{
	const struct sk_plan_view *view = question->prover->sized.view;
	const struct sk_plan_argument *argument = &view->arguments[call->first_argument + number];
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	bool holds = view->list_count ? ask_record(question, SK_DIMS_LISTS, call->list + number)
				      : ask_record(question, SK_DIMS_ARGUMENTS, call->first_argument + number);

	for (uint64_t i = 0; argument->kind == SK_ARGUMENT_EXPRESSION && i < argument->size; i++)
		holds |= ask_record(question, SK_DIMS_TERMS, argument->index + i);
	return holds || (argument->space == SK_SPACE_SIZES && ask_list(question, argument)) ||
	       (pattern && ask_record(question, SK_DIMS_PATTERNS, (size_t)(pattern - view->patterns)));
}

/* True if the answer is yes for a number of the step or of its calls. */
static bool ask_step(const struct question *question, const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = question->prover->sized.view;
	struct sk_plan_calls calls = sk_plan_step_calls(view, step);
	bool holds = ask_record(question, SK_DIMS_STEPS, (size_t)(step - view->steps)) ||
		     (sk_plan_divides(step) && ask_record(question, SK_DIMS_PARTITIONS, step->partition));

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		for (uint32_t i = 0; i < call->loop_count; i++)
			holds |= ask_record(question, SK_DIMS_LOOPS, call->first_loop + i);
		for (uint32_t i = 0; i < call->argument_count; i++)
			holds |= ask_argument(question, call, i);
	}
	return holds;
}

/* A launch that runs once for an instance has the same results at all sizes. The slots of a network's sizes are set
 * when it runs, and those of others are not. */
static void check_step(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_step *step = &view->steps[index];
	struct sk_plan_calls calls = sk_plan_step_calls(view, step);
	struct prover *prover = prover_of(verifier);
	struct sk_sized *sized = &prover->sized;
	const char *network = sk_plan_string(&sk_plan_form(&view->launches[launch])->network);
	const char *wrong = NULL;

	if (sk_plan_divides(step) && !partition_fits(sized, step))
		wrong = "at some sizes its extent is not the one that the cores divide";
	for (const struct sk_plan_call *call = calls.first; call < calls.end && !wrong; call++)
		if (!loops_fit(sized, step, call))
			wrong = "at some sizes its loops do not go through its elements in whole tiles";
	if (!wrong && sk_plan_form(&view->launches[launch])->flags & SK_LAUNCH_ONCE &&
	    ask_step(&(struct question){.prover = prover}, step))
		wrong = "it runs once, but depends on sizes";
	if (!wrong && ask_step(&(struct question){prover, network}, step))
		wrong = "it reads sizes of another network";
	if (wrong)
		sk_error(verifier->diag, sk_verifier_place(verifier), "launch '%s': task '%s': %s",
			 sk_verifier_launch(verifier, launch), sk_plan_string(&sk_plan_step_task(view, step)->name),
			 wrong);
}

/* Return the number of a field of a type at sizes. */
static uint64_t type_number(const struct prover *prover, uint32_t type, size_t offset, uint64_t number,
			    const uint64_t *values)
{
	uint32_t value = sk_dims_value_of(prover->sized.forms.dims, SK_DIMS_TYPES, type, offset);

	return value == SK_NO_INDEX ? number : values[value];
}

/* Return sizes at which the bytes of a type are not those of its shape, as a text; "some sizes" if none is found among
 * the least, the largest and the usual sizes and others. */
static const char *find_unlike(const struct prover *prover, const struct sk_plan_type *type, uint32_t number)
{
	enum { SAMPLES = 64, STEP = 7 };
	const struct sk_dims_view *dims = prover->sized.forms.dims;
	struct sk_arena *arena = prover->verifier.arena;
	uint64_t *values = SK_NEW_ARRAY(arena, uint64_t, dims->value_count + 1), sizes[SK_MAX_DIMENSIONS];
	char *text = SK_NEW_ARRAY(arena, char, SK_DIMS_TEXT_SIZE);

	for (uint64_t s = 0; s < SAMPLES; s++) {
		uint64_t bytes = sk_dtype_size(type->dtype);

		for (uint32_t i = 0; i < dims->dimension_count; i++) {
			const struct sk_dims_dimension *dimension = &dims->dimensions[i];
			uint64_t steps = (dimension->most - dimension->least) / dimension->multiple + 1;

			sizes[i] = s == 0   ? dimension->least
				   : s == 1 ? dimension->most
				   : s == 2 ? dimension->usual
					    : dimension->least + s * (STEP + i) % steps * dimension->multiple;
		}
		sk_dims_evaluate(dims, sizes, values);
		for (uint32_t d = 0; d < type->rank; d++)
			bytes *= type_number(prover, number,
					     offsetof(struct sk_plan_type, shape) + d * sizeof(*type->shape),
					     type->shape[d], values);
		if (bytes == type_number(prover, number, offsetof(struct sk_plan_type, bytes), type->bytes, values))
			continue;
		sk_dims_sizes_text(dims, NULL, sizes, text, SK_DIMS_TEXT_SIZE);
		return text;
	}
	return "some sizes";
}

/* Check that each tensor has the bytes of its shape. */
static void check_types(struct prover *prover)
{
	const struct sk_plan_view *view = prover->verifier.view;
	bool *seen = SK_NEW_ARRAY(prover->verifier.arena, bool, view->type_count);

	for (uint32_t i = 0; i < view->tensor_count; i++) {
		const struct sk_plan_type *type = sk_plan_type(&view->tensors[i]);
		uint32_t number = (uint32_t)(type - view->types);
		const struct sk_normal *bytes = sk_sized_field(&prover->sized, SK_DIMS_TYPES, number,
							       offsetof(struct sk_plan_type, bytes), type->bytes);

		if (!seen[number] &&
		    !sk_normal_equal(&prover->sized.forms, bytes,
				     sk_sized_shape_bytes(&prover->sized, SK_DIMS_TYPES, number,
							  offsetof(struct sk_plan_type, shape), type->shape, type->rank,
							  sk_dtype_size((enum sk_dtype)type->dtype))))
			sk_error(prover->verifier.diag, sk_verifier_place(&prover->verifier),
				 "tensor '%s': at %s it does not have the bytes of its shape",
				 sk_plan_string(&view->tensors[i].name), find_unlike(prover, type, number));
		seen[number] = true;
	}
}

/* ---- all ---- */

static void add_stride(struct sk_verifier *verifier, const struct sk_step_access *access)
{
	const struct sk_plan_argument *argument = &verifier->view->arguments[access->argument];
	const struct sk_sized_rows *rows = sk_sized_rows(&prover_of(verifier)->sized, access);

	if ((argument->space == SK_SPACE_BINDING || argument->space == SK_SPACE_WORKSPACE) && rows &&
	    rows->hull.count > 1)
		sk_history_add_stride(history_of(verifier, argument), rows->hull.stride);
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

static const struct sk_verifier_ways ways = {check_access, check_step, same_core, allowed_within_call};

static void find_networks(struct prover *prover, const struct sk_dims_view *dims)
{
	const char **networks =
		sk_arena_alloc(prover->verifier.arena, dims->value_count + (size_t)1, sizeof(*networks));

	for (uint32_t i = 0; i < dims->value_count; i++) {
		const struct sk_dims_value *value = &dims->values[i];
		bool operands = value->op != SK_DIMS_NUMBER && value->op != SK_DIMS_DIMENSION;

		networks[i] = operands ? networks[value->a] : NULL;
		if (value->op == SK_DIMS_DIMENSION)
			networks[i] = sk_plan_string(&dims->dimensions[value->a].network);
		else if (operands && value->op != SK_DIMS_SUBTRACT && value->op != SK_DIMS_FLOOR && !networks[i])
			networks[i] = networks[value->b];
	}
	prover->networks = networks;
}

/* Prove accesses, and that steps, types and loops are right at all sizes. */
static bool prove_accesses(struct prover *prover, const struct sk_dims_view *dims)
{
	const struct sk_plan_view *view = prover->verifier.view;
	unsigned errors = prover->verifier.diag->errors;

	sk_sized_init(&prover->sized, prover->verifier.arena, view, dims);
	sk_sized_contents_init(&prover->contents, &prover->sized);
	find_networks(prover, dims);
	sk_verifier_init(&prover->verifier);
	check_types(prover);
	for (uint32_t launch = 0; launch < view->launch_count; launch++)
		for (uint32_t i = 0; i < sk_plan_form(&view->launches[launch])->step_count; i++)
			add_strides(&prover->verifier, launch, view->launches[launch].first_step + i);
	sk_verifier_check_launches(&prover->verifier);
	return prover->verifier.diag->errors == errors;
}

static struct prover new_prover(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
				const char *file)
{
	return (struct prover){.verifier = {.arena = arena,
					    .diag = diag,
					    .view = view,
					    .file = file,
					    .ways = &ways,
					    .knowledge = {.arena = arena, .view = view}}};
}

bool sk_verify_accesses_of_sizes(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
				 const struct sk_dims_view *dims, const char *file)
{
	struct prover prover = new_prover(arena, diag, view, file);

	return prove_accesses(&prover, dims);
}

bool sk_verify_sizes(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
		     const struct sk_dims_view *dims, const char *file)
{
	struct prover prover = new_prover(arena, diag, view, file);
	unsigned errors = diag->errors;

	if (prove_accesses(&prover, dims)) {
		sk_sized_entries_check(arena, diag, &prover.sized, file);
		sk_sized_calls_check(arena, diag, &prover.sized, file);
	}
	return diag->errors == errors;
}
