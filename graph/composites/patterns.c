/* Patterns; see composites-parts.h. Their names, conditions and order are MindSpore's. doc/reference/passes.md lists
 * them. */
#include "graph/composites/composites-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

enum {
	MOST_REDUCED = 10, /* nodes of an area that a reduction may take in, on Ascend */
	MOST_REDUCED_BY_AKG = 20, /* and on CPU and GPU */
	MOST_SPREAD = 6, /* nodes of an area that its users may take in */
	MOST_AFTER_PRODUCT = 5, /* areas */
};

/* The areas that a pattern lets one area take in. */
struct match {
	const struct sk_pieces *pieces;
	uint32_t area;
	bool whole; /* all are joined at once, or none if a path would leave and come back */
	SK_ARRAY(uint32_t) others;
};

static struct sk_fusion_piece *piece_of(const struct match *match, uint32_t area)
{
	return &match->pieces->items[area];
}

static const sk_area_edges *users_of(const struct match *match, uint32_t area)
{
	return sk_area_users(match->pieces->areas, area);
}

static const sk_area_edges *inputs_of(const struct match *match, uint32_t area)
{
	return sk_area_inputs(match->pieces->areas, area);
}

/* The area has one user. */
static bool is_alone(const struct match *match, uint32_t area)
{
	const sk_area_edges *users = sk_area_few_users(match->pieces->areas, area, 1);

	return users && users->count;
}

static void take_area(struct match *match, uint32_t area)
{
	sk_array_push(match->pieces->graph->arena, &match->others, area);
}

/* ---- the patterns ---- */

static void match_virtual(struct match *match)
{
	const sk_area_edges *inputs = inputs_of(match, match->area);

	for (size_t i = 0; i < inputs->count && piece_of(match, match->area)->kind == SK_KIND_VIRTUAL; i++)
		take_area(match, inputs->items[i].area);
}

/* Take the neighbour of the smallest kind. */
static void match_reshape(struct match *match)
{
	const sk_area_edges *sides[] = {inputs_of(match, match->area), users_of(match, match->area)};
	uint32_t least = SK_NONE;

	for (size_t s = 0; s < 2 && piece_of(match, match->area)->kind == SK_KIND_RESHAPE; s++)
		for (size_t i = 0; i < sides[s]->count; i++) {
			uint32_t other = sides[s]->items[i].area;
			enum sk_kind kind = piece_of(match, other)->kind;

			if (kind <= SK_KIND_BROADCAST && (least == SK_NONE || kind < piece_of(match, least)->kind))
				least = other;
		}
	if (least != SK_NONE)
		take_area(match, least);
}

static bool is_elementwise(const struct sk_fusion_piece *piece)
{
	return piece->kind == SK_KIND_ELEMWISE || piece->kind == SK_KIND_BROADCAST;
}

static void take_elementwise_inputs(struct match *match, bool deep)
{
	const sk_area_edges *inputs = inputs_of(match, match->area);
	const struct sk_fusion_piece *own = piece_of(match, match->area);

	if (!is_elementwise(own) || (deep && inputs->count != 1))
		return;
	for (size_t i = 0; i < inputs->count; i++) {
		uint32_t other = inputs->items[i].area;
		const struct sk_fusion_piece *piece = piece_of(match, other);

		if (piece->kind <= SK_KIND_BROADCAST && !inputs->items[i].broadcast &&
		    piece->elements == own->elements && (!deep || is_alone(match, other)))
			take_area(match, other);
	}
}

static void match_elementwise_fwd_depth(struct match *match)
{
	take_elementwise_inputs(match, true);
}

static void match_elementwise_fwd_width(struct match *match)
{
	take_elementwise_inputs(match, false);
}

static void take_reduced_inputs(struct match *match, bool deep)
{
	const sk_area_edges *inputs = inputs_of(match, match->area);
	enum sk_fusion_target target = match->pieces->flags->target;
	int64_t depth = match->pieces->flags->reduce_fuse_depth;
	uint64_t most = depth >= 0 ? (uint64_t)depth : target == SK_TARGET_ASCEND ? MOST_REDUCED : MOST_REDUCED_BY_AKG;

	if (piece_of(match, match->area)->kind != SK_KIND_REDUCE || (deep && inputs->count != 1))
		return;
	for (size_t i = 0; i < inputs->count; i++) {
		uint32_t other = inputs->items[i].area;
		const struct sk_fusion_piece *piece = piece_of(match, other);
		bool alone = is_alone(match, other);

		if (piece->kind > SK_KIND_BROADCAST || match->pieces->areas->items[other].count > most ||
		    (deep && !alone) ||
		    (inputs->items[i].broadcast && (!alone || (piece->output && target != SK_TARGET_CPU))))
			continue;
		take_area(match, other);
	}
}

static void match_reduce_fwd_depth(struct match *match)
{
	take_reduced_inputs(match, true);
}

static void match_reduce_fwd_width(struct match *match)
{
	take_reduced_inputs(match, false);
}

/* True if a user may take in the area's computation, which the other users then repeat. */
static bool may_spread(const struct match *match, const struct sk_area_edge *user, uint64_t elements)
{
	const struct sk_fusion_piece *own = piece_of(match, match->area), *piece = piece_of(match, user->area);

	if (piece->kind > SK_KIND_REDUCE || piece->elements != elements)
		return false;
	return piece->kind != SK_KIND_REDUCE || (own->kind == SK_KIND_ELEMWISE && !user->broadcast);
}

static void take_all_users(struct match *match, bool deep)
{
	const sk_area_edges *users = users_of(match, match->area);
	const struct sk_fusion_piece *own = piece_of(match, match->area);

	match->whole = true;
	if (!is_elementwise(own) || own->output || match->pieces->areas->items[match->area].count > MOST_SPREAD ||
	    (deep && users->count != 1))
		return;
	for (size_t i = 0; i < users->count; i++) {
		if (!may_spread(match, &users->items[i], piece_of(match, users->items[0].area)->elements)) {
			match->others.count = 0;
			return;
		}
		take_area(match, users->items[i].area);
	}
}

static void match_elementwise_bwd_depth(struct match *match)
{
	take_all_users(match, true);
}

static void match_elementwise_bwd_width(struct match *match)
{
	take_all_users(match, false);
}

static const struct sk_graph_node *dominant_of(const struct match *match, uint32_t area)
{
	return &match->pieces->graph->nodes.items[piece_of(match, area)->dominant];
}

static void match_slice(struct match *match)
{
	static const char *const ops[] = {"Slice", "sklink:Slice", "sklink:StridedSlice", NULL};
	const sk_area_edges *users = users_of(match, match->area);

	for (size_t i = 0; i < users->count && sk_node_is_one_of(dominant_of(match, match->area), ops); i++)
		if (piece_of(match, users->items[i].area)->kind < SK_KIND_BROADCAST && !users->items[i].broadcast)
			take_area(match, users->items[i].area);
}

static void match_matmul_depth(struct match *match)
{
	static const char *const ops[] = {"MatMul", "Gemm", "sklink:BatchMatMul", NULL};
	const sk_area_edges *users = users_of(match, match->area);
	const struct sk_graph_node *product = dominant_of(match, match->area);
	const struct sk_value *result;

	if (match->pieces->flags->disable_matmul_post_fusion || !sk_node_is_one_of(product, ops) ||
	    users->count > MOST_AFTER_PRODUCT)
		return;
	result = sk_node_output(match->pieces->graph, product, 0);
	for (size_t i = 0; i < users->count && result->rank && result->shape[result->rank - 1] != 1; i++) {
		const struct sk_fusion_piece *piece = piece_of(match, users->items[i].area);

		if (is_elementwise(piece) && piece->elements == sk_value_elements(result))
			take_area(match, users->items[i].area);
	}
}

/* With enable_stitch_fusion, a loop over rows computes the reduction of a row, and then the users of that. */
static void match_reduce_stitch(struct match *match)
{
	const sk_area_edges *users = users_of(match, match->area);

	if (!match->pieces->flags->enable_stitch_fusion || piece_of(match, match->area)->kind != SK_KIND_REDUCE)
		return;
	for (size_t i = 0; i < users->count; i++)
		if (piece_of(match, users->items[i].area)->kind <= SK_KIND_REDUCE)
			take_area(match, users->items[i].area);
}

/* A reshape that is still alone joins a reader, or else the area that it reads, whatever this one computes. */
static void match_isolated_reshape(struct match *match)
{
	const sk_area_edges *sides[] = {users_of(match, match->area), inputs_of(match, match->area)};

	if (piece_of(match, match->area)->kind != SK_KIND_RESHAPE || match->pieces->areas->items[match->area].count > 1)
		return;
	for (size_t s = 0; s < 2 && !match->others.count; s++)
		for (size_t i = 0; i < sides[s]->count && !match->others.count; i++)
			if (piece_of(match, sides[s]->items[i].area)->kind > SK_KIND_RESHAPE)
				take_area(match, sides[s]->items[i].area);
}

/* The targets with a pattern. */
enum { ASCEND = 1 << SK_TARGET_ASCEND, CPU = 1 << SK_TARGET_CPU, GPU = 1 << SK_TARGET_GPU, ALL = ASCEND | CPU | GPU };

static const struct pattern {
	const char *name;
	void (*match)(struct match *match);
	unsigned targets;
} patterns[] = {
	{"virtual_node", match_virtual, ASCEND},
	{"bind_virtual_node", match_virtual, CPU | GPU},
	{"reshape", match_reshape, ALL},
	{"elemwise_broadcast_fwd_depth", match_elementwise_fwd_depth, ALL},
	{"elemwise_broadcast_fwd_width", match_elementwise_fwd_width, ALL},
	{"reduce_fwd_depth", match_reduce_fwd_depth, ALL},
	{"reduce_fwd_width", match_reduce_fwd_width, ALL},
	{"elemwise_broadcast_bwd_depth", match_elementwise_bwd_depth, ALL},
	{"elemwise_broadcast_bwd_width", match_elementwise_bwd_width, ALL},
	{"slice", match_slice, ASCEND | GPU},
	{"matmul_depth", match_matmul_depth, ASCEND | GPU},
	{"reduce_stitch", match_reduce_stitch, ASCEND | GPU},
	{"isolate_reshape", match_isolated_reshape, CPU | GPU},
	{NULL, NULL, 0},
};

/* ---- joins ---- */

static int compare_numbers(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* If the result would be too large, keep the smallest areas, up to the first that does not fit. */
static void keep_to_limit(struct match *match)
{
	const struct sk_areas *areas = match->pieces->areas;
	int64_t limit = match->pieces->flags->composite_op_limit_size, sum = areas->items[match->area].count;
	uint64_t *order = SK_NEW_ARRAY(areas->arena, uint64_t, match->others.count + 1);
	size_t count = match->others.count;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint64_t)areas->items[match->others.items[i]].count << 32 | match->others.items[i];
	qsort(order, count, sizeof(*order), compare_numbers);
	match->others.count = 0;
	for (size_t i = 0; i < count && (sum += (int64_t)(order[i] >> 32)) <= limit; i++)
		match->others.items[match->others.count++] = (uint32_t)order[i];
}

static bool join_areas(struct match *match, const uint32_t *set, uint32_t count)
{
	struct sk_fusion_piece joined = *piece_of(match, match->area);

	if (!sk_areas_join(match->pieces->areas, set, count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct sk_fusion_piece *piece = piece_of(match, set[i]);
		bool output = joined.output || piece->output;

		if (piece->kind > joined.kind)
			joined = *piece;
		joined.output = output;
	}
	match->area = sk_area_find(match->pieces->areas, match->area);
	*piece_of(match, match->area) = joined;
	return true;
}

static bool join_matched(struct match *match)
{
	bool joined = false;

	if (match->others.count && match->whole) {
		take_area(match, match->area);
		return join_areas(match, match->others.items, (uint32_t)match->others.count);
	}
	for (size_t i = 0; i < match->others.count; i++) {
		uint32_t set[] = {match->area, match->others.items[i]};

		joined |= join_areas(match, set, 2);
	}
	return joined;
}

static void apply_pattern(const struct sk_pieces *pieces, const struct pattern *pattern)
{
	struct match match = {.pieces = pieces};

	for (uint32_t i = 0; i < pieces->areas->count; i++) {
		match.area = i;
		do {
			match.others.count = 0;
			match.whole = false;
			if (sk_area_find(pieces->areas, match.area) != match.area)
				break;
			pattern->match(&match);
			keep_to_limit(&match);
		} while (join_matched(&match));
	}
}

/* ---- the list ---- */

static bool is_named(const sk_texts *texts, const char *name)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strstr(name, texts->items[i]))
			return true;
	return false;
}

static bool is_enabled(const struct sk_fusion_flags *flags, const char *name)
{
	if (flags->enable_fusion_pattern_only.count)
		return is_named(&flags->enable_fusion_pattern_only, name);
	return !is_named(&flags->disable_fusion_pattern, name);
}

void sk_pieces_match(const struct sk_pieces *pieces)
{
	for (const struct pattern *pattern = patterns; pattern->name; pattern++)
		if (pattern->targets >> pieces->flags->target & 1 && is_enabled(pieces->flags, pattern->name))
			apply_pattern(pieces, pattern);
}

static bool is_read_outside(const struct sk_graph_node *node, const bool *read_outside)
{
	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE && read_outside[node->outputs.items[i]])
			return true;
	return false;
}

struct sk_pieces sk_pieces_create(const struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
				  struct sk_areas *areas, const bool *read_outside)
{
	struct sk_pieces pieces = {graph, flags, areas,
				   SK_NEW_ARRAY(graph->arena, struct sk_fusion_piece, areas->count + 1)};

	for (uint32_t i = 0; i < areas->count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[areas->nodes[i]];
		const struct sk_value *result = sk_node_output(graph, node, 0);

		pieces.items[i] = (struct sk_fusion_piece){.kind = sk_node_kind(graph, node),
							   .elements = result ? sk_value_elements(result) : 0,
							   .dominant = areas->nodes[i],
							   .output = is_read_outside(node, read_outside)};
	}
	return pieces;
}
