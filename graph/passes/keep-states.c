/* States; see passes.h. A call that updates (Scatter) changes only some rows, so it can run in place: its output is
 * then the bytes of its first input. That is possible if all other readers of the old bytes run before it. All calls
 * from a state's output back to its input must be of this kind; otherwise the output is computed separately, and copied
 * to the input after all calls. */
#include "graph/passes/passes.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

struct states {
	struct sk_op_graph *graph;
	sk_graph_calls *calls;
	uint32_t *writers; /* by value with bytes: the call that writes them; SK_NONE: none, or several */
	uint32_t *readers; /* by value with bytes: the last call that reads them; SK_NONE: none */
};

static struct sk_value *value_at(const struct states *states, uint32_t index)
{
	return &states->graph->values.items[index];
}

/* ---- readers and writers ---- */

static uint32_t *new_marks(const struct sk_op_graph *graph)
{
	uint32_t *marks = SK_NEW_ARRAY(graph->arena, uint32_t, graph->values.count + 1);

	for (size_t i = 0; i < graph->values.count; i++)
		marks[i] = SK_NONE;
	return marks;
}

static void find_users(struct states *states)
{
	const struct sk_op_graph *graph = states->graph;
	bool *written = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	states->writers = new_marks(graph);
	states->readers = new_marks(graph);
	for (uint32_t c = 0; c < states->calls->count; c++) {
		const struct sk_graph_call *call = &states->calls->items[c];

		for (size_t i = 0; i < call->inputs.count; i++)
			if (call->inputs.items[i].value != SK_NONE)
				states->readers[sk_value_root(graph, call->inputs.items[i].value)] = c;
		for (size_t i = 0; i < call->outputs.count; i++) {
			uint32_t root = sk_value_root(graph, call->outputs.items[i].value);

			if (root == SK_NONE)
				continue;
			states->writers[root] = written[root] ? SK_NONE : c;
			written[root] = true;
		}
	}
}

/* ---- in place ---- */

/* True if the operand is all of a value that owns its bytes, from their start. */
static bool is_whole(const struct states *states, const struct sk_operand *operand)
{
	uint32_t root = sk_value_root(states->graph, operand->value);

	return !operand->offset && !sk_value_offset(states->graph, operand->value) && !operand->stride &&
	       sk_operand_elements(operand) == sk_value_elements(value_at(states, root));
}

/* Return the value that the call may update in place; SK_NONE: that value is still needed, or the call does not
 * update. */
static uint32_t updated(const struct states *states, uint32_t index, uint32_t value)
{
	const struct sk_graph_call *call = &states->calls->items[index];
	uint32_t root;

	if (strcmp(call->op, "Scatter") || !is_whole(states, &call->outputs.items[0]) ||
	    !is_whole(states, &call->inputs.items[0]))
		return SK_NONE;
	root = sk_value_root(states->graph, call->inputs.items[0].value);
	if (states->readers[root] != index || value_at(states, root)->contents || value_at(states, root)->output ||
	    value_at(states, root)->dtype != value_at(states, value)->dtype)
		return SK_NONE;
	for (size_t i = 1; i < call->inputs.count; i++)
		if (sk_value_root(states->graph, call->inputs.items[i].value) == root)
			return SK_NONE;
	return root;
}

/* True if all calls from the output back to the input update in place; then the output becomes the input's bytes. */
static bool update_in_place(struct states *states, uint32_t past, uint32_t present)
{
	uint32_t value = present;

	while (value != past) {
		if (states->writers[value] == SK_NONE || (value_at(states, value)->input && value != present))
			return false;
		value = updated(states, states->writers[value], value);
		if (value == SK_NONE)
			return false;
	}
	for (value = present; value != past;) {
		uint32_t next = updated(states, states->writers[value], value);

		value_at(states, value)->view_of = past;
		value = next;
	}
	return true;
}

/* ---- one state ---- */

static const char *type_text(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return sk_arena_print(graph->arena, "%s %s", sk_dtype_name(value->dtype),
			      sk_partial_shape_text(graph->arena, value->rank, value->shape));
}

static bool check(const struct sk_op_graph *graph, const struct sk_graph_state *state)
{
	const struct sk_value *past = &graph->values.items[state->past],
			      *present = &graph->values.items[state->present];

	if (past->dtype == present->dtype && past->rank == present->rank &&
	    (!past->rank || (!memcmp(past->shape, present->shape, past->rank * sizeof(*past->shape)) &&
			     !memcmp(past->sizes, present->sizes, past->rank * sizeof(*past->sizes)))))
		return true;
	sk_error(graph->diag, present->place, "%s: input '%s' is %s, and output '%s' is %s; %s", state->text,
		 past->name, type_text(graph, past), present->name, type_text(graph, present),
		 sk_graph_could_be_cache(graph, state)
			 ? sk_arena_print(graph->arena,
					  "a cache needs bounds of its rows, or a capacity (--state %s=%s:ROWS)",
					  past->name, present->name)
			 : "one tensor can be both only if they agree");
	return false;
}

static void copy_back(struct states *states, const struct sk_graph_state *state)
{
	struct sk_canonical canonical = {states->graph, value_at(states, state->present)->node, states->calls, NULL};
	struct sk_cache cache;

	if (state->cache == SK_NONE) {
		sk_canonical_copy(&canonical, state->past, state->present);
		return;
	}
	cache = sk_cache_of_state(states->graph, state);
	sk_cache_write(&canonical, &cache, 0, state->present);
}

/* The network gets the cache in place of the input. */
static void replace_input(struct states *states, const struct sk_graph_state *state)
{
	struct sk_op_graph *graph = states->graph;

	for (size_t i = 0; i < graph->inputs.count; i++)
		if (graph->inputs.items[i] == state->past)
			graph->inputs.items[i] = state->cache;
	value_at(states, state->past)->input = false;
	value_at(states, state->past)->name =
		sk_arena_print(graph->arena, "%s:rows", value_at(states, state->past)->name);
}

static void remove_output(struct sk_op_graph *graph, uint32_t value)
{
	size_t kept = 0;

	graph->values.items[value].output = false;
	for (size_t i = 0; i < graph->outputs.count; i++)
		if (graph->outputs.items[i] != value)
			graph->outputs.items[kept++] = graph->outputs.items[i];
	graph->outputs.count = kept;
}

bool sk_graph_keep_states(struct sk_op_graph *graph, sk_graph_calls *calls)
{
	struct states states = {.graph = graph, .calls = calls};
	size_t count = graph->states.count;
	bool valid = true, *copied = SK_NEW_ARRAY(graph->arena, bool, count + 1);

	for (size_t i = 0; i < count; i++)
		valid &= graph->states.items[i].cache != SK_NONE || check(graph, &graph->states.items[i]);
	if (!valid)
		return false;
	find_users(&states);
	for (size_t i = 0; i < count; i++) {
		const struct sk_graph_state *state = &graph->states.items[i];

		if (state->cache != SK_NONE) {
			copied[i] = !value_at(&states, state->present)->cache;
			continue;
		}
		value_at(&states, state->past)->kept = true;
		copied[i] = !update_in_place(&states, state->past, state->present);
	}
	/* After all calls, inputs are no longer read. The copied values have bytes of their own. */
	for (size_t i = 0; i < count; i++) {
		const struct sk_graph_state *state = &graph->states.items[i];

		if (copied[i] && sk_value_elements(value_at(&states, state->past)))
			copy_back(&states, state);
		if (state->cache != SK_NONE)
			replace_input(&states, state);
		remove_output(graph, state->present);
	}
	return true;
}
