/* Tests of graph/operators/resize.c: the rows that each element is made of, for all lengths from 1 to 64, resized to
 * all of these, by sizes and by scales, in all modes. They are compared with ONNX's formulas in exact fractions. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

enum { LONGEST = 64 };

static const char *const coordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
					  "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};

/* ---- fractions ---- */

struct fraction {
	long above, below; /* below is positive */
};

static struct fraction of(long above, long below)
{
	return below < 0 ? (struct fraction){-above, -below} : (struct fraction){above, below};
}

static struct fraction plus(struct fraction a, struct fraction b)
{
	return of(a.above * b.below + b.above * a.below, a.below * b.below);
}

static struct fraction minus(struct fraction a, struct fraction b)
{
	return plus(a, of(-b.above, b.below));
}

static struct fraction times(struct fraction a, struct fraction b)
{
	return of(a.above * b.above, a.below * b.below);
}

static struct fraction over(struct fraction a, struct fraction b)
{
	return of(a.above * b.below, a.below * b.above);
}

static long floor_of(struct fraction a)
{
	long low = -(1L << 20);

	for (long step = 1L << 21; step; step /= 2)
		if ((low + step) * a.below <= a.above)
			low += step;
	return low;
}

static bool is_whole(struct fraction a)
{
	return a.above % a.below == 0;
}

/* ---- expected results ---- */

static const struct fraction half = {1, 2}, start = {1, 5}, end = {4, 5}; /* the cropped part */

static struct fraction place_of(const char *mode, long i, long from, long to)
{
	struct fraction x = of(i, 1), scale = of(to, from), last = of(from - 1, 1);

	if (!strcmp(mode, "half_pixel_symmetric")) {
		struct fraction adjustment = over(of(to, 1), times(scale, of(from, 1)));
		struct fraction center = of(from, 2), offset = times(center, minus(of(1, 1), adjustment));

		return plus(offset, minus(over(plus(x, half), scale), half));
	}
	if (!strcmp(mode, "pytorch_half_pixel") && to <= 1)
		return of(0, 1);
	if (!strcmp(mode, "align_corners"))
		return to == 1 ? of(0, 1) : over(times(x, last), of(to - 1, 1));
	if (!strcmp(mode, "asymmetric"))
		return over(x, scale);
	if (!strcmp(mode, "tf_half_pixel_for_nn"))
		return over(plus(x, half), scale);
	if (!strcmp(mode, "tf_crop_and_resize"))
		return to > 1 ? plus(times(start, last), over(times(times(x, minus(end, start)), last), of(to - 1, 1)))
			      : times(half, times(plus(start, end), last));
	return minus(over(plus(x, half), scale), half);
}

static long nearest_to(const char *rounding, struct fraction place)
{
	long below = floor_of(place);
	struct fraction rest = minus(place, of(below, 1));

	if (is_whole(place) || !strcmp(rounding, "floor"))
		return below;
	if (!strcmp(rounding, "ceil"))
		return below + 1;
	if (2 * rest.above == rest.below)
		return !strcmp(rounding, "round_prefer_ceil") ? below + 1 : below;
	return 2 * rest.above > rest.below ? below + 1 : below;
}

static long within(long row, long from)
{
	return row < 0 ? 0 : row >= from ? from - 1 : row;
}

/* ---- a node ---- */

struct resize {
	const char *mode, *coordinates, *rounding;
	long from, to; /* `to` is the size that the node asks for */
	bool by_scale;
};

static struct sk_op_graph *graph;

static void add_word(struct sk_graph_node *node, const char *name, const char *word)
{
	sk_array_push(arena, &node->attributes,
		      ((struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_STRING, .string = word}));
}

static struct sk_graph_node *make_node(const struct resize *resize)
{
	bool crops = !strcmp(resize->coordinates, "tf_crop_and_resize");
	const float roi[2] = {0.2F, 0.8F}, scale = (float)resize->to / (float)resize->from;
	const uint64_t from = (uint64_t)resize->from, one = 1, two = 2;
	struct sk_graph_node *node;

	graph = sk_graph_create(arena, &diag, "graph");
	node = sk_graph_add_node(graph, "Resize");
	node->domain = "";
	node->version = 20;
	add_word(node, "mode", resize->mode);
	add_word(node, "coordinate_transformation_mode", resize->coordinates);
	add_word(node, "nearest_mode", resize->rounding);
	sk_array_push(arena, &node->inputs, sk_graph_new_value(graph, "x", SK_F32, 1, &from));
	sk_array_push(arena, &node->inputs,
		      crops ? sk_graph_new_constant(graph, "roi", SK_F32, 1, &two, roi) : SK_NONE);
	sk_array_push(arena, &node->inputs,
		      resize->by_scale ? sk_graph_new_constant(graph, "scales", SK_F32, 1, &one, &scale) : SK_NONE);
	sk_array_push(arena, &node->inputs,
		      resize->by_scale ? SK_NONE : sk_graph_new_integers(graph, "sizes", 1, &resize->to));
	sk_array_push(arena, &node->outputs, sk_graph_value(graph, "y"));
	return node;
}

/* Return a constant of the only call that a node becomes; NULL if it becomes a view. */
static const struct sk_value *constant_of(const sk_graph_calls *calls, const char *op, size_t number)
{
	if (!calls->count)
		return NULL;
	ck_assert_uint_eq(calls->count, 1);
	ck_assert_str_eq(calls->items[0].op, op);
	return &graph->values.items[calls->items[0].inputs.items[number].value];
}

static void fail_at(const struct resize *resize, long i, long row, double weight)
{
	ck_abort_msg("%s %s %s from %ld to %ld by %s: element %ld has row %ld (%.17g)", resize->mode,
		     resize->coordinates, resize->rounding, resize->from, resize->to,
		     resize->by_scale ? "scale" : "size", i, row, weight);
}

static void check_nearest(const struct resize *resize, const sk_graph_calls *calls, long to)
{
	bool crops = !strcmp(resize->coordinates, "tf_crop_and_resize"), same = resize->from == to && !crops;
	const struct sk_value *rows = constant_of(calls, crops ? "Interpolate" : "Gather", 1);

	for (long i = 0; i < to; i++) {
		long row = rows ? (long)((const int64_t *)rows->contents)[i] : i;
		/* An axis of scale 1 stays as it is. */
		long right =
			same ? i : nearest_to(resize->rounding, place_of(resize->coordinates, i, resize->from, to));

		if (row != within(right, resize->from))
			fail_at(resize, i, row, 1);
	}
}

static void check_linear(const struct resize *resize, const sk_graph_calls *calls, long to)
{
	const struct sk_value *rows = constant_of(calls, "Interpolate", 1);
	const struct sk_value *weights = constant_of(calls, "Interpolate", 2);

	for (long i = 0; i < to && rows; i++) {
		struct fraction place = place_of(resize->coordinates, i, resize->from, to);
		long row = floor_of(place), got = (long)((const int64_t *)rows->contents)[2 * i];
		struct fraction rest = minus(place, of(row, 1));
		const double *weight = (const double *)weights->contents + 2 * i;
		double right = (double)rest.above / (double)rest.below;

		if (got != within(row, resize->from) || !(fabs(weight[1] - right) <= 0x1p-52) ||
		    !(fabs(weight[0] - (1 - right)) <= 0x1p-52))
			fail_at(resize, i, got, weight[1]);
	}
}

static void check(const struct resize *resize)
{
	bool crops = !strcmp(resize->coordinates, "tf_crop_and_resize");
	long to = crops && resize->by_scale ? 3 * resize->to / 5 : resize->to;
	struct sk_inference inference = {NULL, make_node(resize)};
	sk_graph_calls calls = {0};
	struct sk_canonical canonical = {graph, 0, &calls, sk_operators_resize[0].attributes};

	inference.graph = graph;
	ck_assert(sk_operators_resize[0].infer(&inference));
	ck_assert_uint_eq(sk_node_output(graph, &graph->nodes.items[0], 0)->shape[0], (uint64_t)to);
	ck_assert(sk_operators_resize[0].canonical(&canonical));
	if (!strcmp(resize->mode, "nearest"))
		check_nearest(resize, &calls, to);
	else
		check_linear(resize, &calls, to);
}

static void check_lengths(struct resize resize)
{
	for (long n = 0; n < LONGEST * LONGEST * 2; n++) {
		if (n % LONGEST == 0)
			open_sink();
		resize.by_scale = n % 2;
		resize.to = n / 2 % LONGEST + 1;
		resize.from = n / 2 / LONGEST + 1;
		check(&resize);
		expect_messages("");
		if (n % LONGEST == LONGEST - 1)
			close_sink();
	}
}

START_TEST(nearest_rows)
{
	for (const char *const *rounding = roundings; *rounding; rounding++)
		check_lengths((struct resize){"nearest", coordinates[_i], *rounding, 0, 0, false});
}
END_TEST

START_TEST(linear_weights)
{
	check_lengths((struct resize){"linear", coordinates[_i], "floor", 0, 0, false});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resize");
	TCase *tests = tcase_create("places");
	const int count = sizeof coordinates / sizeof *coordinates - 1;

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, nearest_rows, 0, count);
	tcase_add_loop_test(tests, linear_weights, 0, count);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
