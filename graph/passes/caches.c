/* Caches; see passes.h. A cache is a tensor with a capacity on one axis, so that rows stay where they are when others
 * follow. In place of past rows and the values that are appended to them, other calls read the cache, or a copy of its
 * rows. Rows behind the last one are never read. */
#include "graph/passes/passes.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"

static const char *shape_of(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return sk_partial_shape_text(graph->arena, value->rank, value->shape);
}

/* True if the two values are of one type and have the same size in all dimensions but one, which then is *axis. */
static bool differ_along_axis(const struct sk_value *past, const struct sk_value *present, uint32_t *axis)
{
	uint32_t count = 0;

	if (past->dtype != present->dtype || past->rank != present->rank)
		return false;
	for (uint32_t d = 0; d < past->rank; d++) {
		if (past->sizes[d] == present->sizes[d] && past->shape[d] == present->shape[d])
			continue;
		*axis = d;
		count++;
	}
	return count == 1;
}

/* True if the output has at least as many rows at all sizes. */
static bool grows(const struct sk_op_graph *graph, const struct sk_value *past, const struct sk_value *present,
		  uint32_t axis)
{
	const struct sk_size *less = past->sizes[axis], *more = present->sizes[axis];

	if (!less && !more)
		return past->shape[axis] <= present->shape[axis];
	less = less ? less : sk_size_number(graph->sizes, (int64_t)past->shape[axis]);
	more = more ? more : sk_size_number(graph->sizes, (int64_t)present->shape[axis]);
	return sk_size_at_most(sk_size_compare(graph->sizes, less, more));
}

static uint64_t most_rows(const struct sk_value *value, uint32_t axis)
{
	return value->sizes[axis] ? (uint64_t)sk_size_most(value->sizes[axis]) : value->shape[axis];
}

/* Return "past=0..1536" for the dimension with other bounds. */
static const char *bounds_text(const struct sk_op_graph *graph, const struct sk_size_dimension *dimension,
			       uint64_t least, uint64_t most)
{
	const char *text = sk_arena_print(graph->arena, "%s=%" PRIu64, dimension->name, least);

	text = most > least ? sk_arena_print(graph->arena, "%s..%" PRIu64, text, most) : text;
	return most > least && dimension->multiple > 1
		       ? sk_arena_print(graph->arena, "%s:%" PRIu64, text, dimension->multiple)
		       : text;
}

/* Return the most past rows that leave room for these new ones. */
static uint64_t most_past(const struct sk_size_dimension *past, uint64_t capacity, uint64_t rows)
{
	uint64_t most = capacity < rows ? 0 : (capacity - rows) / past->multiple * past->multiple;

	return most < past->most ? most : past->most;
}

/* Return the options for two networks that use all rows of the capacity, if the rows of the output are the sum of two
 * dimensions, past ones and new ones: one network for all numbers of new rows, and one for the fewest. A plan is that
 * of the largest sizes, so one network needs room for the most of both. "": there are none. */
static const char *propose_networks(const struct sk_op_graph *graph, const struct sk_graph_state *state)
{
	const struct sk_size *past = graph->values.items[state->past].sizes[state->axis];
	const struct sk_size *both = graph->values.items[state->present].sizes[state->axis];
	const struct sk_size_dimension *old = NULL, *new = NULL;
	uint64_t prompt, step;

	for (size_t d = 0; past && both && d < sk_sizes_count(graph->sizes); d++) {
		const struct sk_size *variable = sk_sizes_variable(graph->sizes, d);

		if (variable == past)
			old = sk_sizes_dimension(graph->sizes, d);
		else if (sk_size_add(graph->sizes, past, variable) == both)
			new = sk_sizes_dimension(graph->sizes, d);
	}
	if (!old || !new || old->network)
		return "";
	prompt = most_past(old, state->capacity, new->most);
	step = most_past(old, state->capacity, new->least);
	if (prompt < old->least || state->capacity < new->most || new->least == new->most)
		return "";
	return sk_arena_print(graph->arena, ": --dim prompt:%s,%s --dim step:%s,%s",
			      bounds_text(graph, old, old->least, prompt),
			      bounds_text(graph, new, new->least, new->most),
			      bounds_text(graph, old, old->least, step),
			      bounds_text(graph, new, new->least, new->least));
}

/* Check the capacity, or choose it. */
static bool set_capacity(struct sk_op_graph *graph, struct sk_graph_state *state)
{
	const struct sk_value *present = &graph->values.items[state->present];
	const struct sk_size *size = present->sizes[state->axis];
	uint64_t most = most_rows(present, state->axis), shape[SK_MAX_RANK];

	if (state->capacity && state->capacity < most) {
		sk_error(graph->diag, present->place,
			 "%s: the cache is to have %" PRIu64 " rows, and output '%s' has up to %" PRIu64
			 "%s%s%s; give it that many, or the dimensions smaller bounds, such as those of a network for "
			 "prompts and one for steps%s",
			 state->text, state->capacity, present->name, most, size ? " ('" : "",
			 size ? sk_size_text(graph->arena, size) : "", size ? "')" : "",
			 propose_networks(graph, state));
		return false;
	}
	state->capacity = state->capacity ? state->capacity : most;
	memcpy(shape, present->shape, sizeof(shape));
	shape[state->axis] = state->capacity;
	if (sk_shape_is_countable(present->dtype, present->rank, shape))
		return true;
	sk_error(graph->diag, present->place, "%s: the cache would be larger than 2^63 bytes", state->text);
	return false;
}

/* Add the cache: a tensor with the name of the input. */
static void add_cache(struct sk_op_graph *graph, struct sk_graph_state *state)
{
	const struct sk_value past = graph->values.items[state->past];
	struct sk_value *cache;

	state->cache = sk_graph_new_value(graph, past.name, past.dtype, past.rank, past.shape);
	cache = &graph->values.items[state->cache];
	memcpy(cache->sizes, past.sizes, sizeof(cache->sizes));
	cache->shape[state->axis] = state->capacity;
	cache->sizes[state->axis] = NULL;
	cache->name = past.name;
	cache->place = past.place;
	cache->shaped = true;
	cache->input = true;
	cache->kept = true;
}

/* Return why the node that makes the output does not only append rows to the input; NULL: it does. */
static const char *copy_reason(const struct sk_op_graph *graph, const struct sk_graph_state *state)
{
	const struct sk_value *present = &graph->values.items[state->present];
	const struct sk_graph_node *node = present->node == SK_NONE ? NULL : &graph->nodes.items[present->node];
	int64_t axis;

	if (!node || present->contents)
		return "no node makes the output";
	if (sk_node_is(node, "Attention"))
		return (node->inputs.count > 4 && node->inputs.items[4] == state->past &&
			node->outputs.items[1] == state->present) ||
				       (node->inputs.count > 5 && node->inputs.items[5] == state->past &&
					node->outputs.count > 2 && node->outputs.items[2] == state->present)
			       ? NULL
			       : "the node does not append to that input";
	if (!sk_node_is(node, "Concat"))
		return "the output is not the result of Concat or Attention";
	axis = sk_node_integer(node, "axis", 1);
	if (axis != state->axis && axis + present->rank != state->axis)
		return "the node joins values along another axis";
	if (node->inputs.items[0] != state->past)
		return "the first value that the node joins is not the input";
	for (size_t i = 1; i < node->inputs.count; i++)
		if (node->inputs.items[i] == state->past)
			return "the node also appends the input itself";
	return NULL;
}

static void decide(struct sk_op_graph *graph, uint32_t number)
{
	const struct sk_graph_state *state = &graph->states.items[number];
	struct sk_value *present = &graph->values.items[state->present];
	const char *reason = copy_reason(graph, state);

	if (reason && present->node != SK_NONE)
		sk_array_push(graph->arena, &graph->nodes.items[present->node].refusals,
			      sk_arena_print(graph->arena, "%s copies the cache: %s", state->text, reason));
	if (reason)
		return;
	present->cache = number + 1;
	present->output = false;
	if (sk_cache_of_state(graph, state).single)
		present->view_of = state->cache;
}

static bool begin_cache(struct sk_op_graph *graph, uint32_t number)
{
	struct sk_graph_state *state = &graph->states.items[number];
	const struct sk_value *past = &graph->values.items[state->past],
			      *present = &graph->values.items[state->present];
	bool unlike = differ_along_axis(past, present, &state->axis);

	if (!unlike && state->capacity && !state->found) {
		sk_error(graph->diag, present->place,
			 "%s: input '%s' is %s %s, and output '%s' is %s %s; only an output with more rows along one "
			 "axis is a cache with a capacity",
			 state->text, past->name, sk_dtype_name(past->dtype), shape_of(graph, past), present->name,
			 sk_dtype_name(present->dtype), shape_of(graph, present));
		return false;
	}
	if (!unlike || (!state->capacity && !present->sizes[state->axis]) || !grows(graph, past, present, state->axis))
		return true; /* both are of one shape, or it is an error later */
	if (!set_capacity(graph, state))
		return false;
	add_cache(graph, state);
	if (sk_cache_of_state(graph, state).single)
		graph->values.items[state->past].view_of = state->cache;
	decide(graph, number);
	return true;
}

bool sk_graph_begin_caches(struct sk_op_graph *graph, sk_graph_calls *calls)
{
	bool valid = true;

	for (uint32_t i = 0; i < graph->states.count; i++)
		valid &= begin_cache(graph, i);
	for (size_t i = 0; i < graph->states.count && valid; i++) {
		const struct sk_graph_state *state = &graph->states.items[i];
		struct sk_canonical canonical = {graph, graph->values.items[state->present].node, calls, NULL};
		struct sk_cache cache;

		if (state->cache == SK_NONE || canonical.node == SK_NONE)
			continue;
		cache = sk_cache_of_state(graph, state);
		sk_cache_read(&canonical, &cache, state->past);
	}
	return valid;
}

bool sk_graph_could_be_cache(const struct sk_op_graph *graph, const struct sk_graph_state *state)
{
	const struct sk_value *past = &graph->values.items[state->past],
			      *present = &graph->values.items[state->present];
	uint32_t axis;

	return differ_along_axis(past, present, &axis) && grows(graph, past, present, axis);
}

/* True if the value is the past rows of a cache. They are no longer an input. */
static bool is_past(const struct sk_op_graph *graph, uint32_t value)
{
	for (size_t i = 0; i < graph->states.count; i++)
		if (graph->states.items[i].past == value && graph->states.items[i].cache != SK_NONE)
			return true;
	return false;
}

/* True if the network, or a call with marked inputs, needs the result of the call. */
static bool is_needed(const struct sk_op_graph *graph, const struct sk_graph_call *call, const bool *read)
{
	for (size_t i = 0; i < call->outputs.count; i++) {
		uint32_t root = sk_value_root(graph, call->outputs.items[i].value);

		if (root != SK_NONE && (read[root] || graph->values.items[root].output ||
					(graph->values.items[root].input && !is_past(graph, root))))
			return true;
	}
	return !call->outputs.count;
}

static bool has_cache(const struct sk_op_graph *graph)
{
	for (size_t i = 0; i < graph->states.count; i++)
		if (graph->states.items[i].cache != SK_NONE)
			return true;
	return false;
}

/* Readers come after writers, so one look from the last call to the first is enough. */
void sk_graph_end_caches(const struct sk_op_graph *graph, sk_graph_calls *calls)
{
	bool *read = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);
	bool *needed = SK_NEW_ARRAY(graph->arena, bool, calls->count + 1);
	size_t kept = 0;

	if (!has_cache(graph))
		return;
	for (size_t c = calls->count; c--;) {
		const struct sk_graph_call *call = &calls->items[c];

		needed[c] = is_needed(graph, call, read);
		for (size_t i = 0; needed[c] && i < call->inputs.count; i++)
			if (call->inputs.items[i].value != SK_NONE)
				read[sk_value_root(graph, call->inputs.items[i].value)] = true;
	}
	for (size_t c = 0; c < calls->count; c++)
		if (needed[c])
			calls->items[kept++] = calls->items[c];
	calls->count = kept;
}
