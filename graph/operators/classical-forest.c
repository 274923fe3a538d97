/* Trees become lists of nodes that the kernel walks; see operators-parts.h. All tests are x <= split or x == split:
 * other ones have other splits, or their branches the other way round. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* ---- TreeSums ---- */

enum { EQUAL = 1, NAN_IS_TRUE = 2, MOST_NODES = 1 << 29, MOST_WIDTH = INT32_MAX / 64 };
enum { X, ROOTS, FEATURES, SPLITS, CHILDREN, VOTES, TARGETS, WEIGHTS, OPERANDS };

/* Return an element of a list, whose contents may be in a file, at any alignment. */
static int32_t item(const struct sk_value *list, uint64_t number)
{
	int32_t result;

	memcpy(&result, (const char *)list->contents + number * sizeof(result), sizeof(result));
	return result;
}

/* True if all elements of a list are from `least` to `most`. */
static bool check_list(const struct sk_inference *inference, size_t number, int64_t least, int64_t most)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	for (uint64_t i = 0; i < sk_value_elements(value); i++)
		if (item(value, i) < least || item(value, i) > most)
			return sk_infer_error(inference, "element %" PRIu64 " of '%s' is %" PRIi32, i, value->name,
					      item(value, i));
	return true;
}

/* Walks end: nodes lead to later ones, and leaves to themselves. */
static bool check_walks(const struct sk_inference *inference, int64_t count)
{
	const struct sk_value *value = sk_infer_input(inference, CHILDREN);

	for (int64_t i = 0; i < count; i++) {
		int32_t one = item(value, 2 * (uint64_t)i), other = item(value, 2 * (uint64_t)i + 1);

		if ((one <= i || other <= i) && (one != i || other != i))
			return sk_infer_error(inference, "'%s' leads from node %" PRIi64 " to an earlier one",
					      value->name, i);
	}
	return true;
}

/* Kernels rely on the lists, which a file may also have. */
static bool check_lists(const struct sk_inference *inference, int64_t width, int64_t targets)
{
	int64_t count = (int64_t)sk_infer_input(inference, FEATURES)->shape[0];
	int64_t votes = (int64_t)sk_infer_input(inference, TARGETS)->shape[0];
	const struct sk_value *ends = sk_infer_input(inference, VOTES);

	for (size_t i = ROOTS; i < OPERANDS; i++)
		if (!sk_infer_input(inference, i)->contents)
			return sk_infer_error(inference, "'%s' is not a constant", sk_infer_input(inference, i)->name);
	if (!count || count >= MOST_NODES || (int64_t)ends->shape[0] != count + 1 || width > MOST_WIDTH ||
	    (int64_t)sk_infer_input(inference, SPLITS)->shape[0] != count ||
	    (int64_t)sk_infer_input(inference, CHILDREN)->shape[0] != count ||
	    sk_infer_input(inference, CHILDREN)->shape[1] != 2 ||
	    (int64_t)sk_infer_input(inference, WEIGHTS)->shape[0] != votes)
		return sk_infer_error(inference, "its lists do not fit to each other");
	for (uint64_t i = 0; i < (uint64_t)count; i++)
		if (item(ends, i) > item(ends, i + 1))
			return sk_infer_error(inference, "'%s' is not in order", ends->name);
	return check_list(inference, ROOTS, 0, count - 1) && check_list(inference, CHILDREN, 0, count - 1) &&
	       check_walks(inference, count) && check_list(inference, VOTES, 0, votes) &&
	       check_list(inference, TARGETS, 0, targets - 1) && check_list(inference, FEATURES, 0, width * 4 - 1);
}

static bool infer_sums(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, X);
	int64_t targets = sk_node_integer(inference->node, "targets", 1);

	if (x->rank != 2 || (x->dtype != SK_F32 && x->dtype != SK_F64) || targets < 1)
		return sk_infer_error(inference, "'%s' is not a matrix of f32 or f64, or it has no targets", x->name);
	for (size_t i = ROOTS; i < OPERANDS; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		if (value->dtype != (i == SPLITS || i == WEIGHTS ? x->dtype : SK_I32) ||
		    value->rank != (i == CHILDREN ? 2 : 1))
			return sk_infer_error(inference, "'%s' is not a list of the type that trees have", value->name);
	}
	return check_lists(inference, (int64_t)x->shape[1], targets) &&
	       sk_infer_output(inference, 0, x->dtype, 2, (uint64_t[]){x->shape[0], (uint64_t)targets});
}

static bool canonical_sums(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value to = graph->values.items[sk_canonical_output(canonical, 0)];
	const char *aggregate = sk_node_string(&graph->nodes.items[canonical->node], "aggregate", "sum");
	struct sk_graph_call *call;

	if (!sk_value_elements(&to))
		return true;
	call = sk_canonical_call(canonical, "TreeSums");
	sk_call_word(canonical, call, "aggregate", aggregate);
	for (size_t i = X; i < OPERANDS; i++) {
		uint32_t value = sk_canonical_input(canonical, i);
		const struct sk_value *of = &graph->values.items[value];

		sk_call_input(canonical, call, sk_operand_shaped(graph, value, of->rank, of->shape));
	}
	sk_call_output(canonical, call, sk_operand_shaped(graph, sk_canonical_output(canonical, 0), to.rank, to.shape));
	return true;
}

/* ---- the lists of a forest ---- */

typedef SK_ARRAY(int32_t) integers;
typedef SK_ARRAY(double) reals;

/* A node that is still to be written, and the places in `children` that lead to it, every second one; SK_NONE: it is a
 * root. */
struct pending {
	uint32_t node, child, count;
};

struct packing {
	const struct sk_expansion *expansion;
	struct sk_forest *forest;
	uint64_t features; /* of x */
	integers roots, tests, children, votes, targets;
	reals splits, weights;
	SK_ARRAY(struct pending) pending;
};

/* Append a node that leads to itself; return its number. */
static uint32_t add_node(struct packing *packing, int64_t feature, double split, int flags)
{
	struct sk_arena *arena = packing->expansion->graph->arena;
	uint32_t number = (uint32_t)packing->tests.count;

	sk_array_push(arena, &packing->tests, (int32_t)(feature << 2 | flags));
	sk_array_push(arena, &packing->splits, split);
	sk_array_push(arena, &packing->votes, (int32_t)packing->targets.count);
	sk_array_push(arena, &packing->children, (int32_t)number);
	sk_array_push(arena, &packing->children, (int32_t)number);
	return number;
}

static void expect(struct packing *packing, uint32_t node, uint32_t child, uint32_t count)
{
	sk_array_push(packing->expansion->graph->arena, &packing->pending, ((struct pending){node, child, count}));
}

/* Return the greatest number of the type below the split; NaN: there is none. */
static double below(enum sk_dtype dtype, double split)
{
	if (!(split > (double)-INFINITY))
		return NAN;
	return dtype == SK_F32 ? (double)nextafterf((float)split, -INFINITY) : nextafter(split, (double)-INFINITY);
}

/* Append a test for each member: the next one is where the last one is false. */
static uint32_t add_members(struct packing *packing, const struct sk_tree_node *node)
{
	int flags = node->missing ? NAN_IS_TRUE : 0;
	uint32_t first = (uint32_t)packing->tests.count, last = first;

	for (size_t i = 0; i < node->member_count; i++) {
		last = add_node(packing, node->feature, node->members[i], flags | EQUAL);
		if (last > first)
			packing->children.items[2 * last - 1] = (int32_t)last;
	}
	if (!node->member_count)
		add_node(packing, node->feature, (double)NAN, flags);
	expect(packing, node->yes, 2 * first, last - first + 1);
	expect(packing, node->no, 2 * last + 1, 1);
	return first;
}

/* Append a test. x >= s is not x < s, but for a NaN, which has no order: a NaN as the split makes all tests false but
 * that of NEQ. */
static uint32_t add_test(struct packing *packing, const struct sk_tree_node *node)
{
	enum sk_tree_mode mode = node->mode;
	bool turned = mode == SK_TREE_GTE || mode == SK_TREE_GT || mode == SK_TREE_NEQ;
	bool equal = mode == SK_TREE_EQ || mode == SK_TREE_NEQ;
	double split = node->split;
	uint32_t number;

	if (isnan(split) && !equal)
		turned = false;
	else if (mode == SK_TREE_LT || mode == SK_TREE_GTE)
		split = below(packing->forest->dtype, split);
	number = add_node(packing, node->feature, split,
			  (equal ? EQUAL : 0) | (node->missing != turned ? NAN_IS_TRUE : 0));
	expect(packing, node->yes, 2 * number + turned, 1);
	expect(packing, node->no, 2 * number + !turned, 1);
	return number;
}

static uint32_t add_leaf(struct packing *packing, const struct sk_tree_node *node)
{
	struct sk_arena *arena = packing->expansion->graph->arena;
	const struct sk_forest *forest = packing->forest;
	uint32_t number = add_node(packing, 0, NAN, 0);

	for (uint32_t i = node->first_vote; i < node->first_vote + node->votes; i++) {
		sk_array_push(arena, &packing->targets, (int32_t)forest->targets[i]);
		sk_array_push(arena, &packing->weights, forest->weights[i]);
	}
	return number;
}

/* Append the node that is next. Where several places of one node lead to another one, it is written for each. */
static bool add_next(struct packing *packing, uint32_t *writer)
{
	const struct pending next = packing->pending.items[--packing->pending.count];
	struct sk_tree_node *node = &packing->forest->nodes[next.node];
	uint32_t number;

	if (node->visited && node->mode != SK_TREE_LEAF)
		return sk_expansion_refuse(packing->expansion,
					   "%s is reached in two ways: trees have no cycles, and nodes one parent",
					   node->label);
	if (node->mode != SK_TREE_LEAF && (node->feature < 0 || (uint64_t)node->feature >= packing->features))
		return sk_expansion_refuse(packing->expansion, "%s tests feature %" PRIi64 ", and rows have %" PRIu64,
					   node->label, node->feature, packing->features);
	node->visited = true;
	if (node->mode == SK_TREE_LEAF)
		number = add_leaf(packing, node);
	else
		number = node->mode == SK_TREE_MEMBER ? add_members(packing, node) : add_test(packing, node);
	if (next.child == SK_NONE)
		*writer = number;
	for (uint32_t i = 0; i < next.count && next.child != SK_NONE; i++)
		packing->children.items[next.child + 2 * i] = (int32_t)number;
	return packing->tests.count < MOST_NODES && packing->targets.count < MOST_NODES
		       ? true
		       : sk_expansion_refuse(packing->expansion, "its trees have more than %d nodes or votes",
					     MOST_NODES);
}

static bool pack(struct packing *packing)
{
	struct sk_arena *arena = packing->expansion->graph->arena;
	const struct sk_forest *forest = packing->forest;
	uint32_t root = 0;

	for (size_t i = 0; i < forest->votes; i++)
		if (forest->targets[i] < 0 || (uint64_t)forest->targets[i] >= forest->target_count)
			return sk_expansion_refuse(
				packing->expansion, "vote %zu is for target %" PRIi64 ", and there %s %" PRIu64, i,
				forest->targets[i], forest->target_count == 1 ? "is" : "are", forest->target_count);
	for (size_t tree = 0; tree < forest->trees; tree++) {
		expect(packing, forest->roots[tree], SK_NONE, 1);
		while (packing->pending.count)
			if (!add_next(packing, &root))
				return false;
		sk_array_push(arena, &packing->roots, (int32_t)root);
	}
	sk_array_push(arena, &packing->votes, (int32_t)packing->targets.count);
	return true;
}

/* ---- the node ---- */

static uint32_t list_of(const struct packing *packing, const char *name, const integers *list)
{
	static const int32_t nothing;

	return sk_graph_new_constant(packing->expansion->graph, name, SK_I32, 1, &(uint64_t){list->count},
				     list->count ? list->items : &nothing);
}

bool sk_forest_sums(const struct sk_expansion *expansion, struct sk_forest *forest, const struct sk_classical_input *x,
		    uint32_t *sums)
{
	struct sk_op_graph *graph = expansion->graph;
	struct packing packing = {.expansion = expansion, .forest = forest, .features = x->width};
	uint32_t operands[OPERANDS] = {x->value};
	struct sk_graph_node *node;

	if (!x->width || x->width > MOST_WIDTH)
		return sk_expansion_refuse(expansion, "rows have %" PRIu64 " features, and 1 to %d are possible",
					   x->width, MOST_WIDTH);
	if (!pack(&packing))
		return false;
	if (!packing.weights.count) { /* kernels have no lists without elements */
		sk_array_push(graph->arena, &packing.weights, 0);
		sk_array_push(graph->arena, &packing.targets, 0);
	}
	operands[ROOTS] = list_of(&packing, "roots", &packing.roots);
	operands[FEATURES] = list_of(&packing, "features", &packing.tests);
	operands[SPLITS] = sk_classical_reals(expansion, forest->dtype, 1, &(uint64_t){packing.splits.count},
					      packing.splits.items);
	operands[CHILDREN] = sk_graph_new_constant(graph, "children", SK_I32, 2,
						   (uint64_t[]){packing.children.count / 2, 2}, packing.children.items);
	operands[VOTES] = list_of(&packing, "votes", &packing.votes);
	operands[TARGETS] = list_of(&packing, "targets", &packing.targets);
	operands[WEIGHTS] = sk_classical_reals(expansion, forest->dtype, 1, &(uint64_t){packing.weights.count},
					       packing.weights.items);
	*sums = sk_expansion_value(expansion);
	node = sk_expansion_node(expansion, "TreeSums", x->value, *sums);
	node->domain = SK_OWN_DOMAIN;
	node->version = 1;
	for (size_t i = ROOTS; i < OPERANDS; i++)
		sk_array_push(graph->arena, &node->inputs, operands[i]);
	sk_node_set_integer(graph, node, "targets", (int64_t)forest->target_count);
	sk_array_push(graph->arena, &node->attributes,
		      ((struct sk_attribute){.name = "aggregate",
					     .place = node->place,
					     .kind = SK_ATTRIBUTE_STRING,
					     .string = forest->aggregate}));
	return true;
}

static const struct sk_schema_attribute sums[] = {
	{"aggregate", SK_ATTRIBUTE_STRING, .string = "sum"}, {"targets", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};

const struct sk_schema sk_operators_forest[] = {
	{"TreeSums", SK_OWN_DOMAIN, OPERANDS, OPERANDS, 1, 1, .attributes = sums, .infer = infer_sums,
	 .canonical = canonical_sums},
	{NULL},
};
