/* Random numbers: ONNX's operators, and MindSpore's Dropout, its gradient and StandardNormal (domain "sklink"). Each
 * number depends only on its place and on two seeds (kernels/random.c), so every run of a package draws the same
 * numbers. */
#include <string.h>

#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* ---- seeds ---- */

/* A node without a seed has seed 0, and a second seed made of its output's name. Nodes differ from one another, but
 * links are reproducible. */
static int64_t name_seed(const struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (const char *c = sk_node_name(graph, node); *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619U;
	return hash;
}

static void add_seeds(struct sk_canonical *canonical, struct sk_graph_call *call, const char *first, const char *second)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	const struct sk_attribute *attribute = sk_node_attribute(node, first);
	int64_t seed = sk_node_integer(node, first, 0), seed2 = second ? sk_node_integer(node, second, 0) : 0;
	bool seeded = second ? seed || seed2 : attribute != NULL;
	float real;

	if (attribute && attribute->kind == SK_ATTRIBUTE_REAL) { /* its bits */
		uint32_t bits;

		real = (float)attribute->real;
		memcpy(&bits, &real, sizeof(bits));
		seed = bits;
	}
	sk_call_integer(canonical, call, "seed", seed);
	sk_call_integer(canonical, call, "seed2", seeded ? seed2 : name_seed(canonical));
}

/* ---- RandomNormal, RandomUniform and their variants with the shape of another tensor ---- */

static bool is_normal(const struct sk_graph_node *node)
{
	return !strcmp(node->op, "RandomNormal") || !strcmp(node->op, "RandomNormalLike");
}

/* Return the type in the node, or the default. */
static bool find_dtype(const struct sk_inference *inference, enum sk_dtype otherwise, enum sk_dtype *dtype)
{
	int64_t number = sk_node_integer(inference->node, "dtype", 0);

	*dtype = number ? sk_dtype_of_number(number) : otherwise;
	return *dtype != SK_DTYPE_NONE ||
	       sk_infer_error(inference, "there are no tensors of element type %lld here", (long long)number);
}

static bool check_float(const struct sk_inference *inference, enum sk_dtype dtype)
{
	return dtype == SK_F32 || dtype == SK_F64 || dtype == SK_F16 || dtype == SK_BF16 ||
	       sk_infer_error(inference, "there are no random numbers of type %s, only floats", sk_dtype_name(dtype));
}

static bool infer_random(struct sk_inference *inference)
{
	size_t rank;
	const int64_t *given = sk_node_integers(inference->node, "shape", &rank);
	uint64_t shape[SK_MAX_RANK];
	enum sk_dtype dtype;

	if (!find_dtype(inference, SK_F32, &dtype) || !check_float(inference, dtype))
		return false;
	if (rank > SK_MAX_RANK)
		return sk_infer_error(inference, "its shape has %zu dimensions, and a tensor has %d at most", rank,
				      SK_MAX_RANK);
	for (size_t i = 0; i < rank; i++) {
		if (given[i] < 0)
			return sk_infer_error(inference, "its shape has %lld elements in dimension %zu",
					      (long long)given[i], i);
		shape[i] = (uint64_t)given[i];
	}
	return sk_infer_output(inference, 0, dtype, (uint32_t)rank, shape);
}

static bool infer_random_like(struct sk_inference *inference)
{
	const struct sk_value *like = sk_infer_input(inference, 0);
	enum sk_dtype dtype;

	return find_dtype(inference, like->dtype, &dtype) && check_float(inference, dtype) &&
	       sk_infer_output(inference, 0, dtype, like->rank, like->shape);
}

static bool canonical_random(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	bool normal = is_normal(node);
	struct sk_graph_call *call = sk_canonical_call(canonical, normal ? "RandomNormal" : "RandomUniform");

	sk_call_real(canonical, call, normal ? "mean" : "low", sk_node_real(node, normal ? "mean" : "low", 0));
	sk_call_real(canonical, call, normal ? "scale" : "high", sk_node_real(node, normal ? "scale" : "high", 1));
	add_seeds(canonical, call, "seed", NULL);
	sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- StandardNormal ---- */

static bool infer_standard_normal(struct sk_inference *inference)
{
	uint64_t rank, shape[SK_MAX_RANK];
	const int64_t *given;

	if (!sk_infer_integers(inference, 0, &rank, &given))
		return false;
	for (uint64_t i = 0; i < rank && i < SK_MAX_RANK; i++) {
		if (given[i] < 0)
			return sk_infer_error(inference, "its shape has %lld elements in a dimension",
					      (long long)given[i]);
		shape[i] = (uint64_t)given[i];
	}
	return sk_infer_output(inference, 0, SK_F32, rank > SK_MAX_RANK ? SK_MAX_RANK + 1 : (uint32_t)rank, shape);
}

static bool canonical_standard_normal(struct sk_canonical *canonical)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, "RandomNormal");

	add_seeds(canonical, call, "seed", "seed2");
	sk_call_output(canonical, call, sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- Bernoulli, Multinomial ---- */

static bool infer_bernoulli(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	enum sk_dtype dtype;

	return check_float(inference, from->dtype) && find_dtype(inference, from->dtype, &dtype) &&
	       sk_infer_output(inference, 0, dtype, from->rank, from->shape);
}

static bool canonical_bernoulli(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), drawn = to;
	const struct sk_value output = graph->values.items[to];
	struct sk_graph_call *call;

	if (output.dtype != SK_BOOL)
		drawn = sk_graph_new_value(graph, output.name, SK_BOOL, output.rank, output.shape);
	call = sk_canonical_call(canonical, "Bernoulli");
	add_seeds(canonical, call, "seed", NULL);
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 0)));
	sk_call_output(canonical, call, sk_operand_flat(graph, drawn));
	if (drawn != to)
		sk_canonical_store(canonical, to, drawn);
	return true;
}

static bool infer_multinomial(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t samples = sk_node_integer(inference->node, "sample_size", 1);
	enum sk_dtype dtype;

	if (!check_float(inference, from->dtype) || !find_dtype(inference, SK_I32, &dtype))
		return false;
	if (dtype != SK_I32 && dtype != SK_I64)
		return sk_infer_error(inference, "classes are i32 or i64, not %s", sk_dtype_name(dtype));
	if (from->rank != 2 || !from->shape[1])
		return sk_infer_error(inference, "'%s' is not [batch, classes], with at least one class", from->name);
	if (samples < 0)
		return sk_infer_error(inference, "sample_size is %lld", (long long)samples);
	return sk_infer_output(inference, 0, dtype, 2, (uint64_t[]){from->shape[0], (uint64_t)samples});
}

static bool canonical_multinomial(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), drawn = to;
	const struct sk_value output = graph->values.items[to];
	struct sk_graph_call *call;

	if (output.dtype != SK_I64)
		drawn = sk_graph_new_value(graph, output.name, SK_I64, 2, output.shape);
	call = sk_canonical_call(canonical, "Multinomial");
	add_seeds(canonical, call, "seed", NULL);
	sk_call_input(canonical, call, sk_operand_shaped(graph, from, 2, graph->values.items[from].shape));
	sk_call_output(canonical, call, sk_operand_shaped(graph, drawn, 2, output.shape));
	if (drawn != to)
		sk_canonical_store(canonical, to, drawn);
	return true;
}

/* ---- Dropout: ONNX's, which drops elements only in training, and MindSpore's ---- */

static bool upgrade_dropout(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	sk_node_remove_attribute(node, "consumed_inputs");
	sk_node_remove_attribute(node, "is_test");
	sk_node_remove_attribute(node, "ratio");
	return true;
}

/* Return the fraction that is kept: 1, unless training is requested. */
static double kept_part(const struct sk_inference *inference)
{
	const struct sk_value *training = sk_infer_input(inference, 2), *ratio = sk_infer_input(inference, 1);
	double trains = 0, part = 0.5;

	if (!training || !sk_value_number(training, &trains) || trains == 0)
		return 1;
	if (ratio)
		sk_value_number(ratio, &part);
	return 1 - part;
}

static bool check_kept(const struct sk_inference *inference, double kept)
{
	const struct sk_value *value = sk_infer_input(inference, 0);

	if (!(kept > 0 && kept <= 1))
		return sk_infer_error(inference, "it keeps a part of %g, which is not above 0 and at most 1", kept);
	return sk_value_is_float(value) ||
	       sk_infer_error(inference, "'%s' is %s, and no float", value->name, sk_dtype_name(value->dtype));
}

/* An input that cannot be read must not be taken for an absent one. */
static bool check_numbers(const struct sk_inference *inference)
{
	const struct sk_value *ratio = sk_infer_input(inference, 1), *training = sk_infer_input(inference, 2);
	double trains = 0, part;

	if (training && !sk_value_number(training, &trains))
		return sk_infer_error(inference, "'%s' is not one truth value", training->name);
	return trains == 0 || !ratio || sk_value_number(ratio, &part) ||
	       sk_infer_error(inference, "'%s' is not one number of f32 or f64", ratio->name);
}

static bool infer_dropout(struct sk_inference *inference)
{
	const struct sk_value *value = sk_infer_input(inference, 0);
	double kept = kept_part(inference);

	return check_numbers(inference) && (kept == 1 || check_kept(inference, kept)) &&
	       sk_infer_like(inference, 0, 0) && sk_infer_output(inference, 1, SK_BOOL, value->rank, value->shape);
}

static void add_dropout(struct sk_canonical *canonical, double kept, const char *seed, const char *seed2)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), mask = sk_canonical_output(canonical, 1);
	const struct sk_value from = graph->values.items[sk_canonical_input(canonical, 0)];
	struct sk_graph_call *call;

	if (to == SK_NONE)
		to = sk_graph_new_value(graph, from.name, from.dtype, from.rank, from.shape);
	call = sk_canonical_call(canonical, "RandomDropout");
	sk_call_real(canonical, call, "keep_prob", kept);
	add_seeds(canonical, call, seed, seed2);
	if (mask != SK_NONE && graph->values.items[mask].dtype == SK_BOOL)
		sk_call_word(canonical, call, "mask", "bool");
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 0)));
	sk_call_output(canonical, call, sk_operand_flat(graph, to));
	if (mask != SK_NONE)
		sk_call_output(canonical, call, sk_operand_flat(graph, mask));
}

static bool canonical_dropout(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t to = sk_canonical_output(canonical, 0), mask = sk_canonical_output(canonical, 1);
	double kept = kept_part(&inference);

	if (kept != 1) {
		add_dropout(canonical, kept, "seed", NULL);
		return true;
	}
	if (to != SK_NONE)
		sk_canonical_view(canonical, to, sk_canonical_input(canonical, 0), 0);
	return mask == SK_NONE || sk_canonical_fill(canonical, mask, 1);
}

static bool infer_primitive_dropout(struct sk_inference *inference)
{
	return check_kept(inference, sk_node_real(inference->node, "keep_prob", 0.5)) &&
	       sk_infer_like(inference, 0, 0) && sk_infer_like(inference, 1, 0);
}

static bool canonical_primitive_dropout(struct sk_canonical *canonical)
{
	add_dropout(canonical, sk_node_real(&canonical->graph->nodes.items[canonical->node], "keep_prob", 0.5), "Seed0",
		    "Seed1");
	return true;
}

static bool infer_dropout_gradient(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0), *mask = sk_infer_input(inference, 1);

	if (mask->rank != from->rank || memcmp(mask->shape, from->shape, from->rank * sizeof(*from->shape)))
		return sk_infer_error(inference, "'%s' does not have the shape of '%s'", mask->name, from->name);
	return check_kept(inference, sk_node_real(inference->node, "keep_prob", 0.5)) && sk_infer_like(inference, 0, 0);
}

static bool canonical_dropout_gradient(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	double kept = sk_node_real(&graph->nodes.items[canonical->node], "keep_prob", 0.5);
	enum sk_dtype dtype = graph->values.items[sk_canonical_input(canonical, 0)].dtype;
	uint32_t mask = sk_canonical_input(canonical, 1);
	struct sk_graph_call *call;

	if (graph->values.items[mask].dtype != SK_BOOL)
		mask = sk_canonical_cast(canonical, mask, dtype);
	call = sk_canonical_call(canonical, "DropoutGrad");
	sk_call_real(canonical, call, "keep_prob", kept);
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 0)));
	sk_call_input(canonical, call, sk_operand_flat(graph, mask));
	sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- the table ---- */

#define REAL(NAME, DEFAULT)                                                                                            \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_REAL, .real = (DEFAULT)                                                             \
	}
#define DTYPE                                                                                                          \
	{                                                                                                              \
		"dtype", SK_ATTRIBUTE_INTEGER                                                                          \
	}
#define SHAPE                                                                                                          \
	{                                                                                                              \
		"shape", SK_ATTRIBUTE_INTEGERS, true                                                                   \
	}

static const struct sk_schema_attribute normal[] = {DTYPE,	     REAL("mean", 0), REAL("scale", 1),
						    REAL("seed", 0), SHAPE,	      {NULL}};
static const struct sk_schema_attribute uniform[] = {DTYPE,	      REAL("low", 0), REAL("high", 1),
						     REAL("seed", 0), SHAPE,	      {NULL}};
static const struct sk_schema_attribute normal_like[] = {
	DTYPE, REAL("mean", 0), REAL("scale", 1), REAL("seed", 0), {NULL}};
static const struct sk_schema_attribute uniform_like[] = {
	DTYPE, REAL("low", 0), REAL("high", 1), REAL("seed", 0), {NULL}};
static const struct sk_schema_attribute bernoulli[] = {DTYPE, REAL("seed", 0), {NULL}};
static const struct sk_schema_attribute multinomial[] = {
	DTYPE, REAL("seed", 0), {"sample_size", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};
static const struct sk_schema_attribute dropout[] = {{"seed", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute seeds[] = {
	{"seed", SK_ATTRIBUTE_INTEGER}, {"seed2", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute keep[] = {REAL("keep_prob", 0.5), {NULL}};
static const struct sk_schema_attribute keep_seeds[] = {
	REAL("keep_prob", 0.5), {"Seed0", SK_ATTRIBUTE_INTEGER}, {"Seed1", SK_ATTRIBUTE_INTEGER}, {NULL}};

const struct sk_schema sk_operators_random[] = {
	{"Bernoulli", "", 1, 1, 1, 1, .attributes = bernoulli, .infer = infer_bernoulli,
	 .canonical = canonical_bernoulli},
	{"Dropout", "", 1, 3, 1, 2, .demands = 3 << 1, .attributes = dropout, .upgrade = upgrade_dropout,
	 .infer = infer_dropout, .canonical = canonical_dropout},
	{"Dropout", SK_OWN_DOMAIN, 1, 1, 1, 2, .attributes = keep_seeds, .infer = infer_primitive_dropout,
	 .canonical = canonical_primitive_dropout},
	{"DropoutGrad", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = keep, .infer = infer_dropout_gradient,
	 .canonical = canonical_dropout_gradient},
	{"Multinomial", "", 1, 1, 1, 1, .attributes = multinomial, .infer = infer_multinomial,
	 .canonical = canonical_multinomial},
	{"RandomNormal", "", 0, 0, 1, 1, .attributes = normal, .infer = infer_random, .canonical = canonical_random},
	{"RandomNormalLike", "", 1, 1, 1, 1, .attributes = normal_like, .infer = infer_random_like,
	 .canonical = canonical_random},
	{"RandomUniform", "", 0, 0, 1, 1, .attributes = uniform, .infer = infer_random, .canonical = canonical_random},
	{"RandomUniformLike", "", 1, 1, 1, 1, .attributes = uniform_like, .infer = infer_random_like,
	 .canonical = canonical_random},
	{"StandardNormal", SK_OWN_DOMAIN, 1, 1, 1, 1, .demands = 1, .attributes = seeds, .infer = infer_standard_normal,
	 .canonical = canonical_standard_normal},
	{NULL},
};
