/* Inference with numbers, tried at several sizes: the results of operators that only pass dimensions on are recognised
 * in it, and all results are compared with it. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* The shapes and contents of the outputs at some sizes. */
struct trial {
	struct sk_value *saved, *operands; /* room for the node's operands */
	const struct sk_value *outputs; /* of `operands` */
	const char *error; /* NULL: there is no error */
};

static const void *terms_contents(struct sk_arena *arena, const struct sk_value *value, const uint64_t *values)
{
	uint64_t count = sk_value_elements(value);
	size_t size = sk_dtype_size(value->dtype);
	char *contents = SK_NEW_ARRAY(arena, char, count *size + 1);
	double *reals = SK_NEW_ARRAY(arena, double, count + 1);

	for (uint64_t i = 0; i < count; i++) {
		int64_t integer = sk_size_at(value->terms[i], values);

		reals[i] = (double)integer;
		memcpy(contents + i * size, &integer, size); /* little-endian */
	}
	return value->dtype == SK_F32 || value->dtype == SK_F64
		       ? sk_elements_of_reals(arena, value->dtype, count, reals)
		       : contents;
}

const uint64_t *sk_symbolic_present(const struct sk_op_graph *graph)
{
	uint64_t *largest;

	if (graph->sizes_at || !graph->sizes)
		return graph->sizes_at;
	largest = SK_NEW_ARRAY(graph->arena, uint64_t, sk_sizes_count(graph->sizes) + 1);
	sk_sizes_choose(graph->sizes, 1, largest);
	return largest;
}

const void *sk_symbolic_contents(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return sk_symbolic_is_known(value) ? terms_contents(graph->arena, value, sk_symbolic_present(graph)) : NULL;
}

/* Give an input numbers in place of its sizes and terms. */
static void set_numbers(struct sk_arena *arena, struct sk_value *value, bool demanded, const uint64_t *values)
{
	for (uint32_t d = 0; d < value->rank; d++)
		if (value->sizes[d])
			value->shape[d] = (uint64_t)sk_size_at(value->sizes[d], values);
	if (value->varies)
		value->known = demanded && sk_symbolic_is_known(value) ? terms_contents(arena, value, values) : NULL;
}

/* Copy the node's operands to, or from, the list. */
static void copy_values(const struct sk_symbolic *symbolic, struct sk_value *list, bool back)
{
	const struct sk_graph_node *node = symbolic->node;

	for (size_t i = 0; i < node->inputs.count + node->outputs.count; i++) {
		struct sk_value *value = i < node->inputs.count
						 ? sk_node_input(symbolic->graph, node, i)
						 : sk_node_output(symbolic->graph, node, i - node->inputs.count);

		if (value)
			memcpy(back ? value : &list[i], back ? &list[i] : value, sizeof(*value));
	}
}

static struct trial new_trial(const struct sk_symbolic *symbolic)
{
	size_t count = symbolic->node->inputs.count + symbolic->node->outputs.count + 1;

	return (struct trial){.saved = SK_NEW_ARRAY(symbolic->graph->arena, struct sk_value, count),
			      .operands = SK_NEW_ARRAY(symbolic->graph->arena, struct sk_value, count)};
}

static void try_values(const struct sk_symbolic *symbolic, const uint64_t *values, struct trial *trial)
{
	struct sk_op_graph *graph = symbolic->graph;
	const struct sk_graph_node *node = symbolic->node;
	size_t inputs = node->inputs.count, outputs = node->outputs.count;
	struct sk_inference inference = {graph, symbolic->node};
	struct sk_diag *diag = graph->diag, muted;

	sk_diag_init(&muted, graph->arena);
	copy_values(symbolic, trial->saved, false);
	for (size_t i = 0; i < inputs; i++)
		if (node->inputs.items[i] != SK_NONE)
			set_numbers(graph->arena, sk_node_input(graph, node, i), sk_symbolic_demanded(symbolic, i),
				    values);
	for (size_t i = 0; i < outputs; i++)
		if (node->outputs.items[i] != SK_NONE)
			sk_node_output(graph, node, i)->contents = sk_node_output(graph, node, i)->known = NULL;
	graph->diag = &muted;
	trial->error = NULL;
	if (!symbolic->schema->infer(&inference))
		trial->error = sk_diag_first(&muted) ? sk_diag_first(&muted) : "it cannot be inferred";
	graph->diag = diag;
	copy_values(symbolic, trial->operands, false);
	trial->outputs = trial->operands + inputs;
	copy_values(symbolic, trial->saved, true);
}

/* ---- recognised sizes ---- */

enum { FAR_TRIALS = 2, TRIALS = 4 };

/* Sizes of the inputs, and the numbers in place of them in each trial. */
struct candidates {
	SK_ARRAY(const struct sk_size *) sizes;
	uint64_t *values[TRIALS];
};

static void add_candidate(const struct sk_symbolic *symbolic, struct candidates *candidates, const struct sk_size *size)
{
	for (size_t i = 0; i < candidates->sizes.count; i++)
		if (candidates->sizes.items[i] == size)
			return;
	if (size && !sk_size_is_number(size, NULL))
		sk_array_push(symbolic->graph->arena, &candidates->sizes, size);
}

/* Choose numbers that are far apart, perhaps out of bounds, so that no two sizes are equal by chance in all trials. */
static void choose_far(const struct sk_sizes *sizes, size_t trial, uint64_t *values)
{
	static const uint64_t first[FAR_TRIALS] = {211, 307}, second[FAR_TRIALS] = {4, 6}, third[FAR_TRIALS] = {10, 14};
	uint64_t next = 0;

	for (size_t i = 0; i < sk_sizes_count(sizes); i++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(sizes, i);
		bool varies = dimension->least < dimension->most;
		uint64_t number = first[trial] + second[trial] * next + third[trial] * next * next;

		values[i] = varies ? dimension->multiple * number : dimension->most;
		next += varies;
	}
}

static struct candidates list_candidates(const struct sk_symbolic *symbolic)
{
	const struct sk_op_graph *graph = symbolic->graph;
	struct candidates candidates = {{NULL, 0, 0}, {NULL}};

	for (size_t i = 0; i < symbolic->node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(graph, symbolic->node, i);

		for (uint32_t d = 0; value && d < value->rank; d++)
			add_candidate(symbolic, &candidates, value->sizes[d]);
		value = sk_symbolic_demanded(symbolic, i);
		for (uint64_t e = 0; value && value->terms && e < sk_value_elements(value); e++)
			add_candidate(symbolic, &candidates, value->terms[e]);
	}
	for (size_t t = 0; t < TRIALS; t++) {
		candidates.values[t] = SK_NEW_ARRAY(graph->arena, uint64_t, sk_sizes_count(symbolic->sizes) + 1);
		if (t < FAR_TRIALS)
			choose_far(symbolic->sizes, t, candidates.values[t]);
		else
			sk_sizes_choose(symbolic->sizes, t == FAR_TRIALS ? 0 : 1, candidates.values[t]);
	}
	return candidates;
}

static bool has_numbers(const struct candidates *candidates, const struct sk_size *size, const uint64_t *numbers)
{
	for (size_t t = 0; t < TRIALS; t++)
		if (sk_size_at(size, candidates->values[t]) != (int64_t)numbers[t])
			return false;
	return true;
}

/* Return the size that has these numbers: a number, a candidate or the sum of two; NULL: no size has. */
static const struct sk_size *recognise(const struct sk_symbolic *symbolic, const struct candidates *candidates,
				       const uint64_t *numbers)
{
	const struct sk_size *found = NULL;

	if (has_numbers(candidates, sk_size_number(symbolic->sizes, (int64_t)numbers[0]), numbers))
		return sk_size_number(symbolic->sizes, (int64_t)numbers[0]);
	for (size_t i = 0; i < candidates->sizes.count; i++)
		if (has_numbers(candidates, candidates->sizes.items[i], numbers))
			return candidates->sizes.items[i];
	for (size_t i = 0; i < candidates->sizes.count; i++)
		for (size_t j = 0; j <= i; j++) {
			const struct sk_size *sum =
				sk_size_add(symbolic->sizes, candidates->sizes.items[i], candidates->sizes.items[j]);

			if (!sum || sum == found || !has_numbers(candidates, sum, numbers))
				continue;
			if (found)
				return NULL;
			found = sum;
		}
	return found;
}

static bool lift_output(const struct sk_symbolic *symbolic, const struct candidates *candidates,
			const struct trial *trials, size_t output)
{
	const struct sk_value *value = sk_node_output(symbolic->graph, symbolic->node, output);

	for (uint32_t d = 0; value && d < value->rank; d++) {
		uint64_t numbers[TRIALS];

		for (size_t t = 0; t < TRIALS; t++)
			numbers[t] = trials[t].outputs[output].shape[d];
		if (!sk_symbolic_put(symbolic, output, d, recognise(symbolic, candidates, numbers)))
			return false;
	}
	return true;
}

/* ---- all results are compared ---- */

static const uint32_t attempts[] = {0, 1, 5, 9, 67, 71, 75, 64, 65, 66, 68, 69};

enum { ATTEMPTS = sizeof(attempts) / sizeof(attempts[0]) };

static bool report_trial(const struct sk_symbolic *symbolic, const uint64_t *values, const char *error)
{
	return sk_symbolic_error(
		symbolic, "at %s: %s; give bounds without such sizes, or a number",
		sk_sizes_values_text(symbolic->graph->arena, symbolic->sizes, symbolic->graph->dimensions_of, values),
		error);
}

static const char *shape_text(const struct sk_symbolic *symbolic, const struct sk_value *value)
{
	struct sk_arena *arena = symbolic->graph->arena;
	const char *text = "[";

	for (uint32_t d = 0; d < value->rank; d++)
		text = sk_arena_print(arena, "%s%s%s", text, d ? ", " : "",
				      sk_size_text(arena, sk_symbolic_size(symbolic, value, d)));
	return sk_arena_join(arena, text, "]");
}

static bool compare_terms(const struct sk_symbolic *symbolic, const struct sk_value *value,
			  const struct sk_value *tried, const uint64_t *values)
{
	const int64_t *integers;
	uint64_t count;

	if (!value->terms || !sk_value_integers(symbolic->graph->arena, tried, &count, &integers))
		return true;
	for (uint64_t i = 0; i < count; i++)
		if (value->terms[i] && sk_size_at(value->terms[i], values) != integers[i])
			return report_trial(
				symbolic, values,
				sk_arena_print(symbolic->graph->arena,
					       "internal error: element %" PRIu64 " is %" PRIi64 ", and not '%s'", i,
					       integers[i], sk_size_text(symbolic->graph->arena, value->terms[i])));
	return true;
}

static bool compare_shape(const struct sk_symbolic *symbolic, const struct sk_value *value,
			  const struct sk_value *tried, const uint64_t *values)
{
	struct sk_arena *arena = symbolic->graph->arena;
	bool same = value->rank == tried->rank;

	for (uint32_t d = 0; same && d < value->rank; d++)
		same = (value->sizes[d] ? (uint64_t)sk_size_at(value->sizes[d], values) : value->shape[d]) ==
		       tried->shape[d];
	return same || report_trial(symbolic, values,
				    sk_arena_print(arena, "the shape of '%s' is %s, and not %s", value->name,
						   sk_partial_shape_text(arena, tried->rank, tried->shape),
						   shape_text(symbolic, value)));
}

/* In a sample only its own sizes are compared: the graph at the largest sizes has been compared at many. */
static bool compare_sample(const struct sk_symbolic *symbolic)
{
	const uint64_t *values = symbolic->graph->sizes_at;

	for (size_t i = 0; i < symbolic->node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(symbolic->graph, symbolic->node, i);

		if (value &&
		    (!compare_shape(symbolic, value, value, values) || !compare_terms(symbolic, value, value, values)))
			return false;
	}
	return true;
}

bool sk_symbolic_compare(const struct sk_symbolic *symbolic)
{
	const struct sk_graph_node *node = symbolic->node;
	uint64_t *values = SK_NEW_ARRAY(symbolic->graph->arena, uint64_t, sk_sizes_count(symbolic->sizes) + 1);
	struct trial trial = new_trial(symbolic);

	if (symbolic->graph->sizes_at)
		return compare_sample(symbolic);
	for (size_t a = 0; a < ATTEMPTS; a++) {
		sk_sizes_choose(symbolic->sizes, attempts[a], values);
		try_values(symbolic, values, &trial);
		if (trial.error)
			return report_trial(symbolic, values, trial.error);
		for (size_t i = 0; i < node->outputs.count; i++) {
			const struct sk_value *value = sk_node_output(symbolic->graph, node, i);

			if (value && (!compare_shape(symbolic, value, &trial.outputs[i], values) ||
				      !compare_terms(symbolic, value, &trial.outputs[i], values)))
				return false;
		}
	}
	return true;
}

bool sk_symbolic_fits(const struct sk_symbolic *symbolic)
{
	enum { MOST_ATTEMPTS = 512 };
	uint64_t *values = SK_NEW_ARRAY(symbolic->graph->arena, uint64_t, sk_sizes_count(symbolic->sizes) + 1);
	struct trial trial = new_trial(symbolic);

	for (uint32_t attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
		sk_sizes_choose(symbolic->sizes, attempt, values);
		try_values(symbolic, values, &trial);
		if (!trial.error)
			return true;
	}
	return false;
}

bool sk_symbolic_lift(const struct sk_symbolic *symbolic)
{
	struct candidates candidates = list_candidates(symbolic);
	struct trial trials[TRIALS];

	for (size_t t = 0; t < TRIALS; t++) {
		trials[t] = new_trial(symbolic);
		try_values(symbolic, candidates.values[t], &trials[t]);
		if (trials[t].error)
			return sk_symbolic_compare(symbolic) &&
			       sk_symbolic_error(symbolic, "its sizes have no one expression: %s", trials[t].error);
	}
	for (size_t i = 0; i < symbolic->node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(symbolic->graph, symbolic->node, i);

		for (size_t t = 0; value && t < TRIALS; t++)
			if (trials[t].outputs[i].rank != value->rank)
				return sk_symbolic_compare(symbolic) &&
				       sk_symbolic_error(symbolic, "the number of dimensions of '%s' depends on sizes",
							 value->name);
		if (!lift_output(symbolic, &candidates, trials, i))
			return false;
	}
	return true;
}
