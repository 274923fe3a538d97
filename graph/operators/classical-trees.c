/* Trees of ai.onnx.ml: TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble. Their attributes become a
 * forest, whose sums the kernel computes; nodes of other operators follow the sums. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* ---- lists ---- */

static const struct sk_value *find_tensor(const struct sk_expansion *expansion, const char *name)
{
	for (size_t i = 0; i < expansion->node->tensors.count; i++)
		if (!strcmp(expansion->node->tensors.items[i].name, name))
			return &expansion->graph->values.items[expansion->node->tensors.items[i].value];
	return NULL;
}

/* Numbers of an attribute. */
struct numbers {
	const char *name;
	size_t count;
	const double *reals;
	bool wide; /* they are f64 */
};

/* Read a list of floats, or a tensor of f32 or f64 in its place. */
static bool read_reals(const struct sk_expansion *expansion, const char *name, const char *tensor,
		       struct numbers *numbers)
{
	const struct sk_value *value = find_tensor(expansion, tensor);
	double *reals;

	*numbers = (struct numbers){.name = name};
	if (name)
		numbers->reals = sk_classical_list(expansion, name, &numbers->count);
	if (!value)
		return true;
	if (numbers->count)
		return sk_expansion_refuse(expansion, "it has '%s' and '%s', and one of them is needed", name, tensor);
	if (value->dtype != SK_F32 && value->dtype != SK_F64)
		return sk_expansion_refuse(expansion, "'%s' is %s, and must be f32 or f64", tensor,
					   sk_dtype_name(value->dtype));
	*numbers = (struct numbers){tensor, sk_value_elements(value), NULL, value->dtype == SK_F64};
	reals = SK_NEW_ARRAY(expansion->graph->arena, double, numbers->count + 1);
	for (size_t i = 0; i < numbers->count; i++)
		reals[i] = sk_element_number(value->dtype,
					     (const char *)value->contents + i * sk_dtype_size(value->dtype));
	numbers->reals = reals;
	return true;
}

/* Read a list of integers that has `count` items; an optional one may also be absent. */
static bool read_integers(const struct sk_expansion *expansion, const char *name, size_t count, bool optional,
			  const char *as, const int64_t **integers)
{
	size_t items;

	*integers = sk_node_integers(expansion->node, name, &items);
	if (!items && optional)
		*integers = NULL;
	return items == count || (!items && optional) ||
	       sk_expansion_refuse(expansion, "'%s' has %zu item%s, and '%s' has %zu", name, items, sk_plural(items),
				   as, count);
}

static bool check_count(const struct sk_expansion *expansion, const struct numbers *numbers, size_t count,
			const char *as)
{
	return numbers->count == count ||
	       sk_expansion_refuse(expansion, "'%s' has %zu number%s, and '%s' has %zu", numbers->name, numbers->count,
				   sk_plural(numbers->count), as, count);
}

static const char *label_of(const struct sk_expansion *expansion, int64_t node, int64_t tree)
{
	return sk_arena_print(expansion->graph->arena, "node %" PRIi64 " of tree %" PRIi64, node, tree);
}

/* ---- the forest of the older operators: nodes with a tree and a number each ---- */

struct node_key {
	int64_t tree, node;
};

struct older {
	const struct sk_expansion *expansion;
	struct sk_forest forest;
	struct node_key *keys; /* of nodes */
	struct sk_map places; /* of keys */
	const int64_t *trees, *yes, *no; /* attributes */
};

static bool read_mode(const struct sk_expansion *expansion, const char *text, struct sk_tree_node *node)
{
	static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_LT",	"BRANCH_GTE", "BRANCH_GT",
					    "BRANCH_EQ",  "BRANCH_NEQ", NULL,	      "LEAF"};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (modes[i] && !strcmp(modes[i], text)) {
			node->mode = (enum sk_tree_mode)i;
			return true;
		}
	return sk_expansion_refuse(expansion, "%s has the mode '%s', which does not exist", node->label, text);
}

/* Read the attributes of nodes, without their children. */
static bool read_nodes(struct older *older, struct numbers *splits)
{
	const struct sk_expansion *expansion = older->expansion;
	struct sk_arena *arena = expansion->graph->arena;
	const struct sk_attribute *modes = sk_node_attribute(expansion->node, "nodes_modes");
	const int64_t *numbers, *features, *missing;
	size_t count;

	older->trees = sk_node_integers(expansion->node, "nodes_treeids", &count);
	if (!count || count > INT32_MAX / 4)
		return sk_expansion_refuse(expansion, "it has %zu nodes ('nodes_treeids')", count);
	if (!read_integers(expansion, "nodes_nodeids", count, false, "nodes_treeids", &numbers) ||
	    !read_integers(expansion, "nodes_featureids", count, false, "nodes_treeids", &features) ||
	    !read_integers(expansion, "nodes_truenodeids", count, false, "nodes_treeids", &older->yes) ||
	    !read_integers(expansion, "nodes_falsenodeids", count, false, "nodes_treeids", &older->no) ||
	    !read_integers(expansion, "nodes_missing_value_tracks_true", count, true, "nodes_treeids", &missing) ||
	    !check_count(expansion, splits, count, "nodes_treeids"))
		return false;
	if (!modes || modes->count != count)
		return sk_expansion_refuse(expansion, "'nodes_modes' has %zu items, and 'nodes_treeids' has %zu",
					   modes ? modes->count : 0, count);
	older->forest.count = (uint32_t)count;
	older->forest.nodes = SK_NEW_ARRAY(arena, struct sk_tree_node, count);
	older->keys = SK_NEW_ARRAY(arena, struct node_key, count);
	for (uint32_t i = 0; i < count; i++) {
		struct sk_tree_node *node = &older->forest.nodes[i];

		*node = (struct sk_tree_node){.label = label_of(expansion, numbers[i], older->trees[i]),
					      .feature = features[i],
					      .split = splits->reals[i],
					      .missing = missing && missing[i]};
		older->keys[i] = (struct node_key){older->trees[i], numbers[i]};
		if (!read_mode(expansion, modes->strings[i], node))
			return false;
		if (sk_map_insert(&older->places, (const char *)&older->keys[i], sizeof(older->keys[i]), i) != i)
			return sk_expansion_refuse(expansion, "%s is there twice", node->label);
	}
	return true;
}

static bool find_child(struct older *older, uint32_t parent, int64_t number, uint32_t *child)
{
	const struct node_key key = {older->trees[parent], number};

	*child = sk_map_find(&older->places, (const char *)&key, sizeof(key));
	return *child != SK_NONE ||
	       sk_expansion_refuse(older->expansion, "%s leads to node %" PRIi64 ", which its tree does not have",
				   older->forest.nodes[parent].label, number);
}

static int compare_trees(const void *a, const void *b)
{
	const struct node_key *one = a, *other = b;

	if (one->tree != other->tree)
		return one->tree < other->tree ? -1 : 1;
	return one->node < other->node ? -1 : one->node > other->node;
}

/* The first node of a tree is its root, and trees are in the order of their numbers. */
static void find_roots(struct older *older)
{
	struct sk_arena *arena = older->expansion->graph->arena;
	uint32_t count = older->forest.count, *roots = SK_NEW_ARRAY(arena, uint32_t, count);
	struct node_key *sorted = SK_NEW_ARRAY(arena, struct node_key, count); /* trees, and places of nodes */

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct node_key){older->trees[i], i};
	qsort(sorted, count, sizeof(*sorted), compare_trees);
	for (uint32_t i = 0; i < count; i++)
		if (!i || sorted[i].tree != sorted[i - 1].tree)
			roots[older->forest.trees++] = (uint32_t)sorted[i].node;
	older->forest.roots = roots;
}

static bool link_nodes(struct older *older)
{
	struct sk_forest *forest = &older->forest;

	for (uint32_t i = 0; i < forest->count; i++)
		if (forest->nodes[i].mode != SK_TREE_LEAF &&
		    (!find_child(older, i, older->yes[i], &forest->nodes[i].yes) ||
		     !find_child(older, i, older->no[i], &forest->nodes[i].no)))
			return false;
	find_roots(older);
	return true;
}

/* Read the votes, and sort them by their leaf; those of a leaf stay in their order. `kind` is "class" or "target". */
static bool read_votes(struct older *older, const char *kind, const struct numbers *weights)
{
	const struct sk_expansion *expansion = older->expansion;
	struct sk_arena *arena = expansion->graph->arena;
	struct sk_forest *forest = &older->forest;
	const char *trees_name = sk_arena_print(arena, "%s_treeids", kind);
	const char *nodes_name = sk_arena_print(arena, "%s_nodeids", kind);
	const char *ids_name = sk_arena_print(arena, "%s_ids", kind);
	const int64_t *trees, *nodes, *ids;
	size_t count = weights->count;
	uint32_t *leaves = SK_NEW_ARRAY(arena, uint32_t, count + 1), first = 0;
	double *sorted = SK_NEW_ARRAY(arena, double, count + 1);
	int64_t *targets = SK_NEW_ARRAY(arena, int64_t, count + 1);

	if (!count || count > INT32_MAX / 4)
		return sk_expansion_refuse(expansion, "it has %zu votes ('%s_weights')", count, kind);
	if (!read_integers(expansion, trees_name, count, false, weights->name, &trees) ||
	    !read_integers(expansion, nodes_name, count, false, weights->name, &nodes) ||
	    !read_integers(expansion, ids_name, count, false, weights->name, &ids))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct node_key key = {trees[i], nodes[i]};

		leaves[i] = sk_map_find(&older->places, (const char *)&key, sizeof(key));
		if (leaves[i] == SK_NONE || forest->nodes[leaves[i]].mode != SK_TREE_LEAF)
			return sk_expansion_refuse(expansion, "vote %zu is of %s, which is not a leaf", i,
						   label_of(expansion, nodes[i], trees[i]));
		forest->nodes[leaves[i]].votes++;
	}
	for (uint32_t i = 0; i < forest->count; i++) {
		forest->nodes[i].first_vote = first;
		first += forest->nodes[i].votes;
		forest->nodes[i].votes = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct sk_tree_node *leaf = &forest->nodes[leaves[i]];

		sorted[leaf->first_vote + leaf->votes] = weights->reals[i];
		targets[leaf->first_vote + leaf->votes++] = ids[i];
	}
	forest->weights = sorted;
	forest->targets = targets;
	forest->votes = count;
	return true;
}

/* Read the forest, and the base values, of an older operator; then compute its sums for the first input, in f64 if
 * that, or one of the lists, is f64. */
static bool sum_older(struct older *older, const char *kind, struct numbers *base, struct sk_classical_input *x,
		      uint32_t *sums)
{
	const struct sk_expansion *expansion = older->expansion;
	struct sk_arena *arena = expansion->graph->arena;
	const char *weights_name = sk_arena_print(arena, "%s_weights", kind);
	struct numbers splits, weights;
	bool wide;

	sk_map_init(&older->places, arena);
	if (!sk_classical_rows(expansion, x) ||
	    !read_reals(expansion, "nodes_values", "nodes_values_as_tensor", &splits) ||
	    !read_reals(expansion, weights_name, sk_arena_print(arena, "%s_as_tensor", weights_name), &weights) ||
	    !read_reals(expansion, "base_values", "base_values_as_tensor", base) || !read_nodes(older, &splits) ||
	    !link_nodes(older) || !read_votes(older, kind, &weights))
		return false;
	wide = x->dtype == SK_F64 || splits.wide || weights.wide || base->wide;
	if (wide && x->dtype != SK_F64)
		x->value = sk_classical_cast(expansion, x->value, SK_F64);
	x->dtype = wide ? SK_F64 : SK_F32;
	older->forest.dtype = x->dtype;
	if (!sk_forest_sums(expansion, &older->forest, x, sums))
		return false;
	for (uint32_t i = 0; i < older->forest.count; i++)
		if (!older->forest.nodes[i].visited)
			return sk_expansion_refuse(expansion, "%s is not reached from the first node of its tree",
						   older->forest.nodes[i].label);
	return true;
}

/* Add base values, one for each column, if there are any. */
static uint32_t add_base(const struct sk_expansion *expansion, uint32_t sums, enum sk_dtype dtype,
			 const struct numbers *base)
{
	if (!base->count)
		return sums;
	return sk_expansion_binary(expansion, "Add", sums,
				   sk_classical_reals(expansion, dtype, 1, &(uint64_t){base->count}, base->reals));
}

/* ---- TreeEnsembleRegressor ---- */

/* The name of an aggregate function, by its number in the newer operator; AVERAGE is a sum that is divided. */
static const char *const aggregates[][2] = {{"AVERAGE", "sum"}, {"SUM", "sum"}, {"MIN", "min"}, {"MAX", "max"}};

static uint32_t divide(const struct sk_expansion *expansion, uint32_t sums, const struct sk_forest *forest)
{
	return sk_expansion_binary(expansion, "Div", sums,
				   sk_classical_real(expansion, forest->dtype, (double)forest->trees));
}

static bool expand_regressor(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const char *aggregate = sk_node_string(node, "aggregate_function", "SUM");
	int64_t targets = sk_node_integer(node, "n_targets", 1);
	struct older older = {.expansion = &expansion};
	enum sk_classical_transform transform;
	struct sk_classical_input x;
	struct numbers base;
	uint32_t sums;

	for (size_t i = 0; i < sizeof(aggregates) / sizeof(aggregates[0]); i++)
		if (!strcmp(aggregate, aggregates[i][0]))
			older.forest.aggregate = aggregates[i][1];
	if (!older.forest.aggregate)
		return sk_expansion_refuse(&expansion, "there is no aggregate_function '%s'", aggregate);
	if (targets < 1 || targets > INT32_MAX)
		return sk_expansion_refuse(&expansion, "'n_targets' is %" PRIi64, targets);
	older.forest.target_count = (uint64_t)targets;
	if (!sk_classical_read_transform(&expansion, &transform) || !sum_older(&older, "target", &base, &x, &sums))
		return false;
	if (base.count && base.count != (size_t)targets)
		return sk_expansion_refuse(&expansion, "'%s' has %zu number%s, and 'n_targets' is %" PRIi64, base.name,
					   base.count, sk_plural(base.count), targets);
	if (!strcmp(aggregate, "AVERAGE"))
		sums = divide(&expansion, sums, &older.forest);
	sk_classical_scores(&expansion, transform, add_base(&expansion, sums, x.dtype, &base), x.dtype, 0);
	return true;
}

/* ---- TreeEnsembleClassifier ---- */

/* True if there are two classes, and all votes are for one of them: their sum is the score of the second one. */
static bool is_binary(const struct sk_forest *forest, size_t classes)
{
	for (size_t i = 0; i < forest->votes; i++)
		if (forest->targets[i] != forest->targets[0])
			return false;
	return classes == 2;
}

/* Return the scores of both classes from the sums of both columns, of which one has votes. Scores are 1 - s and s where
 * the post transform takes probabilities, and -s and s where it makes them. */
static uint32_t pair_scores(const struct sk_expansion *expansion, const struct sk_forest *forest, uint32_t sums,
			    const struct numbers *base, enum sk_classical_transform transform)
{
	struct sk_op_graph *graph = expansion->graph;
	bool probable = transform == SK_TRANSFORM_NONE || transform == SK_TRANSFORM_PROBIT;
	uint32_t column = sk_graph_new_integers(graph, "column", 1, &forest->targets[0]);
	uint32_t both = sk_expansion_value(expansion), second = sk_expansion_value(expansion), first;
	struct sk_graph_node *gather = sk_expansion_node(expansion, "Gather", sums, second);
	const struct numbers one = {base->name, base->count ? 1 : 0, base->reals, base->wide};
	sk_graph_sequence scores = {NULL, 0, 0};

	sk_array_push(graph->arena, &gather->inputs, column);
	sk_node_set_integer(graph, gather, "axis", 1);
	second = add_base(expansion, second, forest->dtype, &one);
	if (probable)
		first = sk_expansion_binary(expansion, "Sub", sk_classical_real(expansion, forest->dtype, 1), second);
	else
		first = sk_classical_unary(expansion, "Neg", second);
	sk_array_push(graph->arena, &scores, first);
	sk_array_push(graph->arena, &scores, second);
	sk_expansion_concat(expansion, &scores, 1, false, both);
	return both;
}

static bool expand_classifier(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	struct older older = {.expansion = &expansion, .forest.aggregate = "sum"};
	enum sk_classical_transform transform;
	struct sk_classical_labels labels;
	struct sk_classical_input x;
	struct numbers base;
	uint32_t scores;
	bool binary;

	if (!sk_classical_read_transform(&expansion, &transform) ||
	    !sk_classical_labels(&expansion, "classlabels_int64s", &labels))
		return false;
	if (labels.count == 1)
		return sk_expansion_refuse(&expansion, "it has one label, and a classifier needs two");
	older.forest.target_count = labels.count;
	if (!sum_older(&older, "class", &base, &x, &scores))
		return false;
	binary = is_binary(&older.forest, labels.count);
	if (base.count && base.count != (binary ? 1 : labels.count))
		return sk_expansion_refuse(&expansion, "'%s' has %zu number%s, and %zu %s needed", base.name,
					   base.count, sk_plural(base.count), binary ? 1 : labels.count,
					   binary ? "is" : "are");
	scores = binary ? pair_scores(&expansion, &older.forest, scores, &base, transform)
			: add_base(&expansion, scores, x.dtype, &base);
	sk_classical_label(&expansion, &labels, scores);
	sk_classical_scores(&expansion, transform, scores, x.dtype, 1);
	return true;
}

/* ---- TreeEnsemble: lists of nodes, and of leaves with a vote each ---- */

/* The attributes of nodes. */
struct newer {
	const struct sk_expansion *expansion;
	struct sk_forest forest;
	size_t count, leaves;
	struct numbers splits, weights, members;
	const int64_t *features, *yes, *no, *yes_leaf, *no_leaf, *missing;
	const uint8_t *modes;
};

static bool read_newer(struct newer *newer)
{
	const struct sk_expansion *expansion = newer->expansion;
	const struct sk_value *modes = find_tensor(expansion, "nodes_modes");

	if (!modes || modes->dtype != SK_U8)
		return sk_expansion_refuse(expansion, "'nodes_modes' is not a tensor of u8");
	newer->count = sk_value_elements(modes);
	newer->modes = modes->contents;
	if (!read_reals(expansion, NULL, "nodes_splits", &newer->splits) ||
	    !read_reals(expansion, NULL, "leaf_weights", &newer->weights) ||
	    !read_reals(expansion, NULL, "membership_values", &newer->members))
		return false;
	newer->leaves = newer->weights.count;
	if (!newer->count || !newer->leaves || newer->count + newer->leaves > INT32_MAX / 4)
		return sk_expansion_refuse(expansion, "it has %zu node%s and %zu %s", newer->count,
					   sk_plural(newer->count), newer->leaves,
					   newer->leaves == 1 ? "leaf" : "leaves");
	newer->splits.name = "nodes_splits";
	return check_count(expansion, &newer->splits, newer->count, "nodes_modes") &&
	       read_integers(expansion, "nodes_featureids", newer->count, false, "nodes_modes", &newer->features) &&
	       read_integers(expansion, "nodes_truenodeids", newer->count, false, "nodes_modes", &newer->yes) &&
	       read_integers(expansion, "nodes_falsenodeids", newer->count, false, "nodes_modes", &newer->no) &&
	       read_integers(expansion, "nodes_trueleafs", newer->count, false, "nodes_modes", &newer->yes_leaf) &&
	       read_integers(expansion, "nodes_falseleafs", newer->count, false, "nodes_modes", &newer->no_leaf) &&
	       read_integers(expansion, "nodes_missing_value_tracks_true", newer->count, true, "nodes_modes",
			     &newer->missing) &&
	       read_integers(expansion, "leaf_targetids", newer->leaves, false, "leaf_weights", &newer->forest.targets);
}

/* Leaves are numbered after all nodes. */
static bool find_branch(const struct newer *newer, size_t node, bool leaf, int64_t to, uint32_t *branch)
{
	size_t count = leaf ? newer->leaves : newer->count;

	*branch = (uint32_t)(to + (leaf ? (int64_t)newer->count : 0));
	return (to >= 0 && to < (int64_t)count) ||
	       sk_expansion_refuse(newer->expansion, "node %zu leads to %s %" PRIi64 ", and there are %zu", node,
				   leaf ? "leaf" : "node", to, count);
}

/* The members of nodes follow each other, each set up to a NaN. */
static bool take_members(struct newer *newer, struct sk_tree_node *node, size_t *next)
{
	size_t first = *next;

	while (*next < newer->members.count && !isnan(newer->members.reals[*next]))
		++*next;
	node->members = newer->members.reals + first;
	node->member_count = *next - first;
	return (*next)++ < newer->members.count ||
	       sk_expansion_refuse(newer->expansion, "'membership_values' has no set that ends with a NaN for %s",
				   node->label);
}

static bool make_nodes(struct newer *newer)
{
	struct sk_arena *arena = newer->expansion->graph->arena;
	struct sk_tree_node *nodes = SK_NEW_ARRAY(arena, struct sk_tree_node, newer->count + newer->leaves);
	size_t member = 0;

	for (size_t i = 0; i < newer->count; i++) {
		nodes[i] = (struct sk_tree_node){.mode = newer->modes[i],
						 .label = sk_arena_print(arena, "node %zu", i),
						 .feature = newer->features[i],
						 .split = newer->splits.reals[i],
						 .missing = newer->missing && newer->missing[i]};
		if (newer->modes[i] > SK_TREE_MEMBER)
			return sk_expansion_refuse(newer->expansion, "node %zu has the mode %u, which does not exist",
						   i, newer->modes[i]);
		if (!find_branch(newer, i, newer->yes_leaf[i], newer->yes[i], &nodes[i].yes) ||
		    !find_branch(newer, i, newer->no_leaf[i], newer->no[i], &nodes[i].no) ||
		    (nodes[i].mode == SK_TREE_MEMBER && !take_members(newer, &nodes[i], &member)))
			return false;
	}
	if (member != newer->members.count)
		return sk_expansion_refuse(newer->expansion, "'membership_values' has more sets than nodes need");
	for (size_t i = 0; i < newer->leaves; i++)
		nodes[newer->count + i] =
			(struct sk_tree_node){.mode = SK_TREE_LEAF, .first_vote = (uint32_t)i, .votes = 1, .label = ""};
	newer->forest.nodes = nodes;
	newer->forest.count = (uint32_t)(newer->count + newer->leaves);
	newer->forest.weights = newer->weights.reals;
	newer->forest.votes = newer->leaves;
	return true;
}

static bool take_roots(struct newer *newer)
{
	struct sk_arena *arena = newer->expansion->graph->arena;
	const int64_t *roots = sk_node_integers(newer->expansion->node, "tree_roots", &newer->forest.trees);
	uint32_t *taken = SK_NEW_ARRAY(arena, uint32_t, newer->forest.trees + 1);

	for (size_t i = 0; i < newer->forest.trees; i++) {
		if (roots[i] < 0 || roots[i] >= (int64_t)newer->count)
			return sk_expansion_refuse(newer->expansion,
						   "'tree_roots' has %" PRIi64 ", and there are %zu nodes", roots[i],
						   newer->count);
		taken[i] = (uint32_t)roots[i];
	}
	newer->forest.roots = taken;
	return newer->forest.trees || sk_expansion_refuse(newer->expansion, "'tree_roots' is empty");
}

static bool expand_ensemble(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	int64_t aggregate = sk_node_integer(node, "aggregate_function", 1);
	int64_t transform = sk_node_integer(node, "post_transform", 0), targets = sk_node_integer(node, "n_targets", 1);
	struct newer newer = {.expansion = &expansion};
	struct sk_classical_input x;
	uint32_t sums;

	if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > SK_TRANSFORM_PROBIT || targets < 1 ||
	    targets > INT32_MAX)
		return sk_expansion_refuse(&expansion,
					   "'aggregate_function' is %" PRIi64 ", 'post_transform' %" PRIi64
					   " and 'n_targets' %" PRIi64,
					   aggregate, transform, targets);
	newer.forest.aggregate = aggregates[aggregate][1];
	newer.forest.target_count = (uint64_t)targets;
	if (!sk_classical_rows(&expansion, &x) || !read_newer(&newer) || !make_nodes(&newer) || !take_roots(&newer))
		return false;
	newer.forest.dtype = x.dtype;
	if (newer.splits.wide != (x.dtype == SK_F64) || newer.weights.wide != (x.dtype == SK_F64))
		return sk_expansion_refuse(&expansion, "'%s' is %s, and 'nodes_splits' or 'leaf_weights' is not",
					   x.name, sk_dtype_name(x.dtype));
	if (!sk_forest_sums(&expansion, &newer.forest, &x, &sums))
		return false;
	if (aggregate == 0)
		sums = divide(&expansion, sums, &newer.forest);
	sk_classical_typed_scores(&expansion, (enum sk_classical_transform)transform, sums, x.dtype);
	return true;
}

/* ---- the table ---- */

#define LIST(NAME, KIND)                                                                                               \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_##KIND                                                                              \
	}
#define NODES                                                                                                          \
	LIST("base_values", REALS), LIST("nodes_falsenodeids", INTEGERS), LIST("nodes_featureids", INTEGERS),          \
		LIST("nodes_hitrates", REALS), LIST("nodes_missing_value_tracks_true", INTEGERS),                      \
		LIST("nodes_modes", STRINGS), LIST("nodes_nodeids", INTEGERS), LIST("nodes_treeids", INTEGERS),        \
		LIST("nodes_truenodeids", INTEGERS), LIST("nodes_values", REALS),                                      \
	{                                                                                                              \
		"post_transform", SK_ATTRIBUTE_STRING, .string = "NONE"                                                \
	}

static const struct sk_schema_attribute regressor[] = {NODES,
						       {"aggregate_function", SK_ATTRIBUTE_STRING, .string = "SUM"},
						       {"n_targets", SK_ATTRIBUTE_INTEGER, true},
						       LIST("target_ids", INTEGERS),
						       LIST("target_nodeids", INTEGERS),
						       LIST("target_treeids", INTEGERS),
						       LIST("target_weights", REALS),
						       {NULL}};
static const struct sk_schema_attribute classifier[] = {NODES,
							LIST("class_ids", INTEGERS),
							LIST("class_nodeids", INTEGERS),
							LIST("class_treeids", INTEGERS),
							LIST("class_weights", REALS),
							LIST("classlabels_int64s", INTEGERS),
							LIST("classlabels_strings", STRINGS),
							{NULL}};
static const struct sk_schema_attribute ensemble[] = {{"aggregate_function", SK_ATTRIBUTE_INTEGER, .integer = 1},
						      LIST("leaf_targetids", INTEGERS),
						      {"n_targets", SK_ATTRIBUTE_INTEGER, .integer = 1},
						      LIST("nodes_falseleafs", INTEGERS),
						      LIST("nodes_falsenodeids", INTEGERS),
						      LIST("nodes_featureids", INTEGERS),
						      LIST("nodes_missing_value_tracks_true", INTEGERS),
						      LIST("nodes_trueleafs", INTEGERS),
						      LIST("nodes_truenodeids", INTEGERS),
						      {"post_transform", SK_ATTRIBUTE_INTEGER, .integer = 0},
						      LIST("tree_roots", INTEGERS),
						      {NULL}};

const struct sk_schema sk_operators_classical_trees[] = {
	{"TreeEnsemble", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = ensemble, .expand = expand_ensemble},
	{"TreeEnsembleClassifier", SK_CLASSICAL_DOMAIN, 1, 1, 1, 2, .attributes = classifier,
	 .expand = expand_classifier},
	{"TreeEnsembleRegressor", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = regressor, .expand = expand_regressor},
	{NULL},
};
