/* Canonical calls; see graph.h. */
#include "graph/graph.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

uint32_t sk_canonical_input(const struct sk_canonical *canonical, size_t number)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];

	return number < node->inputs.count ? node->inputs.items[number] : SK_NONE;
}

uint32_t sk_canonical_output(const struct sk_canonical *canonical, size_t number)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];

	return number < node->outputs.count ? node->outputs.items[number] : SK_NONE;
}

uint32_t sk_canonical_made(struct sk_canonical *canonical, size_t number, enum sk_dtype dtype, uint32_t like)
{
	const struct sk_value shaped = canonical->graph->values.items[like];
	uint32_t output = sk_canonical_output(canonical, number);

	return output != SK_NONE ? output
				 : sk_graph_new_value(canonical->graph, shaped.name, dtype, shaped.rank, shaped.shape);
}

bool sk_canonical_error(const struct sk_canonical *canonical, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sk_node_error(canonical->graph, &canonical->graph->nodes.items[canonical->node], "%s",
		      sk_arena_print_list(canonical->graph->arena, format, args));
	va_end(args);
	return false;
}

/* ---- operands ---- */

struct sk_operand sk_operand_shaped(const struct sk_op_graph *graph, uint32_t value, uint32_t rank,
				    const uint64_t *shape)
{
	struct sk_operand operand = {.value = value, .rank = rank};

	if (value != SK_NONE)
		operand.dtype = graph->values.items[value].dtype;
	if (rank)
		memcpy(operand.shape, shape, rank * sizeof(*shape));
	return operand;
}

struct sk_operand sk_operand_flat(const struct sk_op_graph *graph, uint32_t value)
{
	uint64_t elements = value == SK_NONE ? 0 : sk_value_elements(&graph->values.items[value]);

	return sk_operand_shaped(graph, value, 1, &elements);
}

uint64_t sk_operand_elements(const struct sk_operand *operand)
{
	uint64_t elements = 1;

	for (uint32_t i = 0; i < operand->rank; i++)
		elements *= operand->shape[i];
	return elements;
}

struct sk_operand sk_operand_axis(const struct sk_op_graph *graph, uint32_t value, uint32_t axis)
{
	const struct sk_value *of = &graph->values.items[value];
	uint64_t shape[3] = {1, of->shape[axis], 1};

	for (uint32_t i = 0; i < of->rank; i++)
		if (i != axis)
			shape[i < axis ? 0 : 2] *= of->shape[i];
	return sk_operand_shaped(graph, value, 3, shape);
}

void sk_dense_strides(uint32_t rank, const uint64_t *shape, int64_t *strides)
{
	int64_t stride = 1;

	for (uint32_t i = rank; i--;) {
		strides[i] = stride;
		stride *= (int64_t)shape[i];
	}
}

/* ---- calls ---- */

struct sk_graph_call *sk_canonical_call(struct sk_canonical *canonical, const char *op)
{
	sk_array_push(canonical->graph->arena, canonical->calls,
		      (struct sk_graph_call){.node = canonical->node, .op = op});
	return &canonical->calls->items[canonical->calls->count - 1];
}

void sk_call_input(const struct sk_canonical *canonical, struct sk_graph_call *call, struct sk_operand operand)
{
	sk_array_push(canonical->graph->arena, &call->inputs, operand);
}

void sk_call_output(const struct sk_canonical *canonical, struct sk_graph_call *call, struct sk_operand operand)
{
	sk_array_push(canonical->graph->arena, &call->outputs, operand);
}

static void add_attribute(const struct sk_canonical *canonical, struct sk_graph_call *call,
			  struct sk_attribute attribute)
{
	attribute.place = canonical->graph->nodes.items[canonical->node].place;
	sk_array_push(canonical->graph->arena, &call->attributes, attribute);
}

void sk_call_integer(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		     int64_t integer)
{
	add_attribute(canonical, call,
		      (struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_INTEGER, .integer = integer});
}

void sk_call_real(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, double real)
{
	add_attribute(canonical, call, (struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_REAL, .real = real});
}

void sk_call_word(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, const char *word)
{
	add_attribute(canonical, call,
		      (struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_STRING, .string = word});
}

void sk_call_integers(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		      const int64_t *integers, size_t count)
{
	int64_t *copy = SK_NEW_ARRAY(canonical->graph->arena, int64_t, count + 1);

	if (count)
		memcpy(copy, integers, count * sizeof(*copy));
	add_attribute(
		canonical, call,
		(struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_INTEGERS, .integers = copy, .count = count});
}

void sk_call_reals(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		   const double *reals, size_t count)
{
	double *copy = SK_NEW_ARRAY(canonical->graph->arena, double, count + 1);

	if (count)
		memcpy(copy, reals, count * sizeof(*copy));
	add_attribute(canonical, call,
		      (struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_REALS, .reals = copy, .count = count});
}

void sk_call_attributes(const struct sk_canonical *canonical, struct sk_graph_call *call)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	const struct sk_schema_attribute *known = canonical->attributes;

	for (; known && known->name; known++) {
		int64_t integer = sk_node_integer(node, known->name, known->integer);
		const char *string = sk_node_string(node, known->name, known->string);

		if (known->kind == SK_ATTRIBUTE_REAL)
			sk_call_real(canonical, call, known->name, sk_node_real(node, known->name, known->real));
		else if (known->kind == SK_ATTRIBUTE_INTEGER && integer != known->integer)
			sk_call_integer(canonical, call, known->name, integer);
		else if (known->kind == SK_ATTRIBUTE_STRING && string &&
			 (!known->string || strcmp(string, known->string)))
			sk_call_word(canonical, call, known->name, string);
	}
}

void sk_call_padded(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, uint32_t rank,
		    const int64_t *items, int64_t rest)
{
	int64_t all[SK_MAX_RANK];

	for (uint32_t i = 0; i < SK_MAX_RANK; i++)
		all[i] = i < rank ? items[i] : rest;
	sk_call_integers(canonical, call, name, all, SK_MAX_RANK);
}

void sk_call_strided(const struct sk_canonical *canonical, struct sk_graph_call *call, uint32_t rank,
		     const uint64_t *shape)
{
	int64_t dimensions[SK_MAX_RANK];

	for (uint32_t i = 0; i < rank; i++)
		dimensions[i] = (int64_t)shape[i];
	sk_call_word(canonical, call, "form", "strided");
	sk_call_integer(canonical, call, "rank", rank);
	sk_call_padded(canonical, call, "dims", rank, dimensions, 1);
}

/* ---- one input, one output, one shape ---- */

bool sk_canonical_elementwise(struct sk_canonical *canonical, const char *op)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, op);

	sk_call_input(canonical, call, sk_operand_flat(canonical->graph, sk_canonical_input(canonical, 0)));
	sk_call_output(canonical, call, sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- values that are broadcast ---- */

enum { MAX_BROADCAST = 8 };

/* Dimensions of an output. Two neighbours are merged where each value has both of them or is repeated along both. */
struct merged {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint32_t repeated[SK_MAX_RANK]; /* bit i: value i is repeated along this dimension */
};

static struct merged merge_dimensions(const struct sk_op_graph *graph, const uint32_t *values, size_t count,
				      uint32_t to)
{
	const struct sk_value *output = &graph->values.items[to];
	struct merged merged = {0};

	for (uint32_t d = 0; d < output->rank; d++) {
		uint32_t repeated = 0;

		if (output->shape[d] == 1)
			continue;
		for (size_t i = 0; i < count; i++) {
			const struct sk_value *value = &graph->values.items[values[i]];
			uint32_t after = output->rank - d; /* counted from the last one */

			if (value->rank < after || value->shape[value->rank - after] == 1)
				repeated |= 1U << i;
		}
		if (merged.rank && merged.repeated[merged.rank - 1] == repeated) {
			merged.shape[merged.rank - 1] *= output->shape[d];
			continue;
		}
		merged.shape[merged.rank] = output->shape[d];
		merged.repeated[merged.rank++] = repeated;
	}
	return merged;
}

static void add_strided(struct sk_canonical *canonical, const char *op, const struct merged *merged,
			const uint32_t *values, size_t count, uint32_t to)
{
	static const char *const names[MAX_BROADCAST] = {"strides0", "strides1", "strides2", "strides3",
							 "strides4", "strides5", "strides6", "strides7"};
	struct sk_graph_call *call = sk_canonical_call(canonical, op);

	sk_call_strided(canonical, call, merged->rank, merged->shape);
	for (size_t i = 0; i < count; i++) {
		int64_t strides[SK_MAX_RANK], stride = 1;

		for (uint32_t d = merged->rank; d--;) {
			bool repeated = merged->repeated[d] >> i & 1;

			strides[d] = repeated ? 0 : stride;
			stride *= repeated ? 1 : (int64_t)merged->shape[d];
		}
		sk_call_padded(canonical, call, names[i], merged->rank, strides, 0);
		sk_call_input(canonical, call, sk_operand_flat(canonical->graph, values[i]));
	}
	sk_call_output(canonical, call, sk_operand_flat(canonical->graph, to));
}

static void add_same(struct sk_canonical *canonical, const char *op, const uint32_t *values, size_t count, uint32_t to)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, op);

	for (size_t i = 0; i < count; i++)
		sk_call_input(canonical, call, sk_operand_flat(canonical->graph, values[i]));
	sk_call_output(canonical, call, sk_operand_flat(canonical->graph, to));
}

static bool is_same(const struct merged *merged)
{
	return !merged->rank || (merged->rank == 1 && !merged->repeated[0]);
}

bool sk_canonical_broadcast(struct sk_canonical *canonical, const char *op, const uint32_t *values, size_t count,
			    uint32_t to)
{
	const struct merged merged = merge_dimensions(canonical->graph, values, count, to);

	if (count > MAX_BROADCAST)
		return sk_canonical_error(canonical, "more than %d operands are broadcast", MAX_BROADCAST);
	if (is_same(&merged))
		add_same(canonical, op, values, count, to);
	else
		add_strided(canonical, op, &merged, values, count, to);
	return true;
}

/* Return the form in which the second value (bit 1) is repeated and the first one is not; NULL: there is none. */
static const char *repeated_form(const struct merged *merged, uint32_t bit)
{
	if (merged->rank == 1 && merged->repeated[0] == bit)
		return "scalar";
	if (merged->rank == 2 && merged->repeated[0] == bit && !merged->repeated[1])
		return "row";
	if (merged->rank == 2 && !merged->repeated[0] && merged->repeated[1] == bit)
		return "column";
	return NULL;
}

/* Return the repeated operand, in the shape that its form wants. */
static struct sk_operand repeated_operand(const struct sk_op_graph *graph, uint32_t value, const char *form,
					  const struct merged *merged)
{
	const uint64_t column[2] = {merged->shape[0], 1};

	return *form == 'c' ? sk_operand_shaped(graph, value, 2, column) : sk_operand_flat(graph, value);
}

enum {
	FEW_BATCHES = 64, /* units of as many batches could leave cores without work */
	LONG_ROW = 64, /* elements: at least as many are one row of a cycle, if they are in few dimensions */
};

/* Operators with kernels of the form `cycle`. */
static const char *const cycled[] = {"Add", "Sub", "Mul", NULL};

static bool is_cycled(const char *op)
{
	size_t i = 0;

	while (cycled[i] && strcmp(op, cycled[i]))
		i++;
	return cycled[i];
}

/* Return the first dimension of the row of a cycle: as many as make it long, but not all that the value has. A
 * dimension that depends on sizes is a row by itself, so that the choice is the same at all sizes. */
static uint32_t row_dimension(const struct sk_value *value, uint32_t first)
{
	uint32_t d = value->rank - 1;
	uint64_t length = value->shape[d];

	for (; d > first + 1 && length < LONG_ROW && !value->sizes[d] && !value->sizes[d - 1]; d--)
		length *= value->shape[d - 1];
	return d;
}

/* Return the length of the rows of b in the form `cycle`; 0: the form `row` does as well. b has batches of several rows
 * for `row`, and there are few of them, or a number that depends on sizes: cores could be without work. */
static uint64_t cycle_row(const struct sk_op_graph *graph, const struct merged *merged, uint32_t b, uint32_t to)
{
	const struct sk_value *batch = &graph->values.items[b], *output = &graph->values.items[to];
	bool few = merged->shape[0] < FEW_BATCHES;
	bool is_long = merged->shape[1] > LONG_ROW;
	uint32_t first = 0, outer, inner;
	uint64_t row = 1;

	while (first < batch->rank && batch->shape[first] == 1)
		first++;
	outer = output->rank - (batch->rank - first);
	for (uint32_t d = 0; d < outer; d++)
		few |= output->sizes[d] != NULL;
	for (uint32_t d = outer; d < output->rank; d++)
		is_long |= output->sizes[d] != NULL;
	if (!few || !is_long || first + 1 >= batch->rank)
		return 0;
	inner = row_dimension(batch, first);
	for (uint32_t d = inner; d < batch->rank; d++)
		row *= batch->shape[d];
	return row < merged->shape[1] ? row : 0;
}

/* Call a kernel for rows of a, with those of b over and over. */
static void add_cycle(struct sk_canonical *canonical, const char *op, uint32_t a, uint32_t b, uint32_t to,
		      const struct merged *merged, uint64_t row)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, op);
	const uint64_t rows = merged->shape[1] / row;
	const uint64_t all[2] = {merged->shape[0] * rows, row}, own[2] = {rows, row};

	sk_call_word(canonical, call, "form", "cycle");
	sk_call_input(canonical, call, sk_operand_shaped(graph, a, 2, all));
	sk_call_input(canonical, call, sk_operand_shaped(graph, b, 2, own));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, all));
}

bool sk_canonical_binary(struct sk_canonical *canonical, const char *op, uint32_t a, uint32_t b, uint32_t to,
			 bool commutative)
{
	const struct sk_op_graph *graph = canonical->graph;
	const uint32_t values[2] = {a, b};
	const struct merged merged = merge_dimensions(graph, values, 2, to);
	const char *right = repeated_form(&merged, 2), *left = repeated_form(&merged, 1);
	const char *form = right ? right : left;

	if (left && commutative)
		return sk_canonical_binary(canonical, op, b, a, to, commutative);
	if (!form)
		return sk_canonical_broadcast(canonical, op, values, 2, to);
	if (right && *form == 'r' && is_cycled(op) && cycle_row(graph, &merged, b, to)) {
		add_cycle(canonical, op, a, b, to, &merged, cycle_row(graph, &merged, b, to));
		return true;
	}

	struct sk_graph_call *call = sk_canonical_call(canonical, op);
	struct sk_operand whole = sk_operand_shaped(graph, right ? a : b, merged.rank, merged.shape);
	struct sk_operand repeated = repeated_operand(graph, right ? b : a, form, &merged);

	sk_call_word(canonical, call, "form", right ? form : sk_arena_join(graph->arena, "l", form));
	sk_call_input(canonical, call, right ? whole : repeated);
	sk_call_input(canonical, call, right ? repeated : whole);
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, merged.rank, merged.shape));
	return true;
}

/* ---- rearrangements ---- */

struct sk_operand sk_operand_moved(struct sk_operand operand)
{
	operand.dtype = sk_dtype_moved(operand.dtype);
	return operand;
}

static void add_flat_copy(struct sk_canonical *canonical, struct sk_operand to, struct sk_operand from)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, "Copy");

	sk_call_input(canonical, call, sk_operand_moved(from));
	sk_call_output(canonical, call, sk_operand_moved(to));
}

void sk_canonical_view(struct sk_canonical *canonical, uint32_t value, uint32_t of, uint64_t offset)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t root = sk_value_root(graph, of);
	struct sk_value *own = &graph->values.items[value], *other = &graph->values.items[root];
	struct sk_operand from = sk_operand_flat(graph, value);

	if (!own->output) { /* refer to the root, so that chains of views stay short */
		own->varies |= graph->values.items[of].varies;
		own->view_of = root;
		own->view_offset = offset + sk_value_offset(graph, of);
		return;
	}
	if (!other->input && !other->output && !other->contents && !other->fixed && root == of && !offset &&
	    sk_value_elements(own) == sk_value_elements(other)) {
		other->view_of = value; /* the producer of the other value writes the output */
		return;
	}
	from.value = of;
	from.offset = offset;
	add_flat_copy(canonical, sk_operand_flat(graph, value), from);
}

struct sk_arrangement sk_arrangement_of_axes(uint32_t rank, const uint64_t *shape, const uint32_t *order)
{
	struct sk_arrangement arrangement = {.rank = rank};
	int64_t strides[SK_MAX_RANK];

	sk_dense_strides(rank, shape, strides);
	for (uint32_t i = 0; i < rank; i++) {
		arrangement.shape[i] = shape[order[i]];
		arrangement.strides[i] = strides[order[i]];
	}
	return arrangement;
}

/* Remove dimensions of one element, and merge neighbours that are contiguous in the source at all sizes. */
static struct sk_arrangement merge_arrangement(const struct sk_arrangement *arrangement)
{
	struct sk_arrangement merged = {.offset = arrangement->offset};

	for (uint32_t i = 0; i < arrangement->rank; i++) {
		uint64_t size = arrangement->shape[i];
		int64_t stride = arrangement->strides[i];
		uint32_t last = merged.rank - 1;

		if (size == 1)
			continue;
		if (merged.rank && merged.strides[last] == stride * (int64_t)size && !(arrangement->parts >> i & 1)) {
			merged.shape[last] *= size;
			merged.strides[last] = stride;
			continue;
		}
		merged.shape[merged.rank] = size;
		merged.strides[merged.rank++] = stride;
	}
	return merged;
}

/* Rows of the target are columns of matrices: [b * n, m] from b times [m, n]. */
static bool is_transposition(const struct sk_arrangement *merged, uint64_t *n, uint64_t *m)
{
	const uint64_t *last = merged->shape + merged->rank - 2;
	const int64_t *strides = merged->strides + merged->rank - 2;

	if (merged->rank < 2 || merged->rank > 3 || strides[0] != 1 || strides[1] != (int64_t)last[0] ||
	    (merged->rank == 3 && merged->strides[0] != (int64_t)(last[0] * last[1])))
		return false;
	*n = last[0];
	*m = last[1];
	return true;
}

static void add_transposition(struct sk_canonical *canonical, struct sk_operand to, struct sk_operand from, uint64_t n,
			      uint64_t m)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, "Copy");

	to.rank = 2;
	to.shape[0] = from.shape[0] / m;
	to.shape[1] = m;
	sk_call_word(canonical, call, "form", "transpose");
	sk_call_integer(canonical, call, "n", (int64_t)n);
	sk_call_input(canonical, call, from);
	sk_call_output(canonical, call, to);
}

static bool add_strided_copy(struct sk_canonical *canonical, struct sk_operand to, uint32_t from,
			     const struct sk_arrangement *merged)
{
	struct sk_graph_call *call;

	if (merged->rank > SK_MAX_RANK)
		return sk_canonical_error(canonical,
					  "its elements move along %u dimensions, and at most %d are possible",
					  merged->rank, SK_MAX_RANK);
	call = sk_canonical_call(canonical, "Copy");
	sk_call_strided(canonical, call, merged->rank, merged->shape);
	sk_call_padded(canonical, call, "strides0", merged->rank, merged->strides, 0);
	sk_call_integer(canonical, call, "offset0", merged->offset);
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(canonical->graph, from)));
	sk_call_output(canonical, call, to);
	return true;
}

/* Copy contiguous rows into those of a view with gaps. */
static void add_rows(struct sk_canonical *canonical, struct sk_operand to, struct sk_operand from)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, "Copy");

	memcpy(from.shape, to.shape, sizeof(from.shape));
	from.rank = to.rank;
	sk_call_word(canonical, call, "form", "rows");
	sk_call_input(canonical, call, from);
	sk_call_output(canonical, call, to);
}

bool sk_canonical_arrange(struct sk_canonical *canonical, struct sk_operand to, uint32_t from,
			  const struct sk_arrangement *arrangement)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_arrangement merged = merge_arrangement(arrangement);
	bool dense = !merged.rank || (merged.rank == 1 && merged.strides[0] == 1);
	struct sk_operand source = sk_operand_moved(sk_operand_flat(graph, from)), target = sk_operand_moved(to);
	uint64_t elements = 1, n, m;

	for (uint32_t i = 0; i < to.rank; i++)
		elements *= to.shape[i];
	if (!elements)
		return true;
	source.rank = 1;
	source.shape[0] = elements;
	source.offset = (uint64_t)merged.offset;
	if (!dense && to.stride)
		return sk_canonical_error(canonical, "internal error: arranged rows are not contiguous");
	if (dense && to.stride)
		add_rows(canonical, target, source);
	else if (dense && !arrangement->apart && elements == sk_value_elements(&graph->values.items[to.value]))
		sk_canonical_view(canonical, to.value, from, (uint64_t)merged.offset);
	else if (dense)
		add_flat_copy(canonical, to, source);
	else if (is_transposition(&merged, &n, &m))
		add_transposition(canonical, target, source, n, m);
	else
		return add_strided_copy(canonical, target, from, &merged);
	return true;
}

bool sk_canonical_gather(struct sk_canonical *canonical, uint32_t to, uint32_t from, uint32_t indices, uint64_t k,
			 uint64_t width)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint64_t elements = sk_value_elements(&graph->values.items[to]);
	struct sk_graph_call *call;

	if (!sk_value_elements(&graph->values.items[from]))
		return sk_canonical_error(canonical, "'%s' has no elements that could be looked up",
					  graph->values.items[from].name);
	call = sk_canonical_call(canonical, "Gather");
	sk_call_integer(canonical, call, "k", (int64_t)k);
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(graph, from)));
	sk_call_input(canonical, call, sk_operand_flat(graph, indices));
	sk_call_output(canonical, call,
		       sk_operand_moved(sk_operand_shaped(graph, to, 2, (uint64_t[]){elements / width, width})));
	return true;
}

uint32_t sk_canonical_cast(struct sk_canonical *canonical, uint32_t value, enum sk_dtype dtype)
{
	const struct sk_value from = canonical->graph->values.items[value];
	uint32_t to;

	if (from.dtype == dtype)
		return value;
	to = sk_graph_new_value(canonical->graph, from.name, dtype, from.rank, from.shape);
	sk_canonical_store(canonical, to, value);
	return to;
}

void sk_canonical_store(struct sk_canonical *canonical, uint32_t to, uint32_t from)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, "Cast");

	sk_call_input(canonical, call, sk_operand_flat(canonical->graph, from));
	sk_call_output(canonical, call, sk_operand_flat(canonical->graph, to));
}

enum sk_dtype sk_computed_dtype(enum sk_dtype dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16 ? SK_F32 : dtype;
}

uint32_t sk_canonical_spread(struct sk_canonical *canonical, uint32_t value, uint32_t rank, const uint64_t *shape)
{
	struct sk_op_graph *graph = canonical->graph;
	struct sk_arrangement arrangement = {.rank = rank};
	uint64_t elements = 1;
	int64_t stride = 1;
	uint32_t copy;

	for (uint32_t i = 0; i < rank; i++)
		elements *= shape[i];
	if (value == SK_NONE || sk_value_elements(&graph->values.items[value]) == elements)
		return value;
	const struct sk_value from = graph->values.items[value];

	for (uint32_t i = rank; i--;) {
		uint64_t size = i + from.rank < rank ? 1 : from.shape[i + from.rank - rank];

		arrangement.shape[i] = shape[i];
		arrangement.strides[i] = size == 1 ? 0 : stride;
		stride *= (int64_t)size;
	}
	copy = sk_graph_new_value(graph, from.name, from.dtype, rank, shape);
	sk_canonical_arrange(canonical, sk_operand_flat(graph, copy), value, &arrangement);
	return copy;
}

static int64_t clamp_to_type(enum sk_dtype dtype, double number)
{
	static const int64_t least[SK_DTYPE_COUNT] = {
		[SK_I8] = INT8_MIN, [SK_I16] = INT16_MIN, [SK_I32] = INT32_MIN, [SK_I64] = INT64_MIN};
	static const int64_t most[SK_DTYPE_COUNT] = {
		[SK_I8] = INT8_MAX,   [SK_U8] = UINT8_MAX,   [SK_I16] = INT16_MAX, [SK_U16] = UINT16_MAX,
		[SK_I32] = INT32_MAX, [SK_U32] = UINT32_MAX, [SK_I64] = INT64_MAX, [SK_BOOL] = 1};

	if (number != number)
		return 0;
	if (dtype == SK_U64 && number >= 0x1p63)
		return -1; /* all bits */
	if (number <= (double)least[dtype])
		return least[dtype];
	if (number >= (double)most[dtype] && dtype != SK_U64)
		return most[dtype];
	return (int64_t)number;
}

uint32_t sk_canonical_number(struct sk_canonical *canonical, enum sk_dtype dtype, double number)
{
	struct sk_op_graph *graph = canonical->graph;
	float single = (float)number;
	int64_t integer;

	if (dtype == SK_F64)
		return sk_graph_new_constant(graph, "number", dtype, 0, NULL, &number);
	if (dtype == SK_F32)
		return sk_graph_new_constant(graph, "number", dtype, 0, NULL, &single);
	if (dtype == SK_F16 || dtype == SK_BF16)
		return sk_canonical_cast(canonical, sk_graph_new_constant(graph, "number", SK_F32, 0, NULL, &single),
					 dtype);
	integer = clamp_to_type(dtype, number); /* little-endian, as packages are */
	return sk_graph_new_constant(graph, "number", dtype, 0, NULL, &integer);
}

bool sk_canonical_fill(struct sk_canonical *canonical, uint32_t to, double number)
{
	uint32_t value = sk_canonical_number(canonical, canonical->graph->values.items[to].dtype, number);
	struct sk_operand all = sk_operand_flat(canonical->graph, to);
	const struct sk_arrangement arrangement = {.rank = 1, .shape = {all.shape[0]}};

	return sk_canonical_arrange(canonical, all, value, &arrangement);
}

void sk_canonical_copy(struct sk_canonical *canonical, uint32_t to, uint32_t from)
{
	add_flat_copy(canonical, sk_operand_flat(canonical->graph, to), sk_operand_flat(canonical->graph, from));
}
