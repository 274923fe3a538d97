/* Support vector machines of ai.onnx.ml: SVMRegressor and SVMClassifier. They become products and functions of their
 * elements, in f64. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

enum { MOST_CLASSES = 1000, MOST_COEFFICIENTS = 1 << 27 };

/* The rows x [N, F] in f64, and vectors [count, F]. */
struct machine {
	const struct sk_expansion *expansion;
	uint32_t x;
	const char *name; /* of x */
	uint64_t width;
	const double *vectors;
	uint64_t count;
	double gamma, offset, degree;
};

static uint32_t real(const struct machine *machine, double number)
{
	return sk_classical_real(machine->expansion, SK_F64, number);
}

static uint32_t binary(const struct machine *machine, const char *op, uint32_t a, uint32_t b)
{
	return sk_expansion_binary(machine->expansion, op, a, b);
}

/* Multiply by a constant matrix [k, n], and add a constant row; NULL: none. */
static uint32_t multiply(const struct machine *machine, uint32_t a, uint64_t k, uint64_t n, const double *b,
			 const double *row)
{
	const struct sk_expansion *expansion = machine->expansion;
	uint32_t factor = sk_classical_reals(expansion, SK_F64, 2, (uint64_t[]){k, n}, b);
	uint32_t addend = row ? sk_classical_reals(expansion, SK_F64, 1, &n, row) : SK_NONE;
	uint32_t product = sk_expansion_value(expansion);
	struct sk_graph_node *node = sk_expansion_node(expansion, "Gemm", a, product);

	sk_array_push(expansion->graph->arena, &node->inputs, factor);
	if (row)
		sk_array_push(expansion->graph->arena, &node->inputs, addend);
	return product;
}

static bool read_machine(const struct sk_expansion *expansion, struct machine *machine)
{
	struct sk_classical_input x;
	size_t count;
	const double *parameters = sk_classical_list(expansion, "kernel_params", &count);

	if (!sk_classical_rows(expansion, &x))
		return false;
	if (count && count != 3)
		return sk_expansion_refuse(expansion, "'kernel_params' has %zu number%s, and 3 are needed", count,
					   sk_plural(count));
	if (!x.width)
		return sk_expansion_refuse(expansion, "'%s' has rows without elements", x.name);
	*machine = (struct machine){.expansion = expansion,
				    .x = x.dtype == SK_F64 ? x.value : sk_classical_cast(expansion, x.value, SK_F64),
				    .name = x.name,
				    .width = x.width};
	if (count) {
		machine->gamma = parameters[0];
		machine->offset = parameters[1];
		machine->degree = (double)(int64_t)(parameters[2] < 0 || parameters[2] > 1e6 ? 0 : parameters[2]);
	}
	return !count || (parameters[2] >= 0 && parameters[2] <= 1e6) ||
	       sk_expansion_refuse(expansion, "the degree in 'kernel_params' is %g", parameters[2]);
}

static bool read_vectors(struct machine *machine, uint64_t count)
{
	size_t numbers;

	machine->vectors = sk_classical_list(machine->expansion, "support_vectors", &numbers);
	machine->count = count;
	return (numbers % count == 0 && numbers / count == machine->width) ||
	       sk_expansion_refuse(machine->expansion,
				   "'support_vectors' has %zu number%s, not %" PRIu64 " for each of the %" PRIu64
				   " feature%s of '%s'",
				   numbers, sk_plural(numbers), count, machine->width, sk_plural(machine->width),
				   machine->name);
}

/* ---- kernels: each function of a row and a vector, [N, count] ---- */

/* Return the vectors as a matrix [F, count], times a factor, after a shift of each feature; NULL: none. */
static double *turn(const struct machine *machine, double factor, const double *shift)
{
	double *turned = SK_NEW_ARRAY(machine->expansion->graph->arena, double, machine->width * machine->count);

	for (uint64_t v = 0; v < machine->count; v++)
		for (uint64_t f = 0; f < machine->width; f++)
			turned[f * machine->count + v] =
				factor * (machine->vectors[v * machine->width + f] - (shift ? shift[f] : 0));
	return turned;
}

static uint32_t multiply_vectors(const struct machine *machine)
{
	return multiply(machine, machine->x, machine->width, machine->count, turn(machine, 1, NULL), NULL);
}

/* exp(-gamma d), for the squared distances d = x x + v v - 2 x v, from the middle of the vectors, so that little of
 * them cancels. */
static uint32_t radial(const struct machine *machine)
{
	struct sk_arena *arena = machine->expansion->graph->arena;
	double *middle = SK_NEW_ARRAY(arena, double, machine->width),
	       *lengths = SK_NEW_ARRAY(arena, double, machine->count);
	uint32_t x, squares, distances;

	for (uint64_t f = 0; f < machine->width; f++) {
		middle[f] = 0;
		for (uint64_t v = 0; v < machine->count; v++)
			middle[f] += machine->vectors[v * machine->width + f] / (double)machine->count;
	}
	for (uint64_t v = 0; v < machine->count; v++) {
		lengths[v] = 0;
		for (uint64_t f = 0; f < machine->width; f++) {
			double part = machine->vectors[v * machine->width + f] - middle[f];

			lengths[v] += part * part;
		}
	}
	x = binary(machine, "Sub", machine->x,
		   sk_classical_reals(machine->expansion, SK_F64, 1, &machine->width, middle));
	squares = sk_classical_reduce(machine->expansion, "ReduceSumSquare", x);
	distances = multiply(machine, x, machine->width, machine->count, turn(machine, -2, middle), lengths);
	distances = binary(machine, "Add", distances, squares);
	return sk_classical_unary(machine->expansion, "Exp",
				  binary(machine, "Mul", distances, real(machine, -machine->gamma)));
}

static bool add_kernel(const struct machine *machine, uint32_t *values)
{
	const char *type = sk_node_string(machine->expansion->node, "kernel_type", "LINEAR");
	bool poly = !strcmp(type, "POLY");
	uint32_t dots;

	if (!strcmp(type, "RBF")) {
		*values = radial(machine);
		return true;
	}
	if (!strcmp(type, "LINEAR")) {
		*values = multiply_vectors(machine);
		return true;
	}
	if (!poly && strcmp(type, "SIGMOID") != 0)
		return sk_expansion_refuse(machine->expansion, "there is no kernel_type '%s'", type);
	dots = binary(machine, "Add", binary(machine, "Mul", multiply_vectors(machine), real(machine, machine->gamma)),
		      real(machine, machine->offset));
	*values = poly ? binary(machine, "Pow", dots, real(machine, machine->degree))
		       : sk_classical_unary(machine->expansion, "Tanh", dots);
	return true;
}

/* ---- SVMRegressor ---- */

/* Read coefficients, one for each of `count` vectors or features, and rho, which is added to the result. */
static bool read_sum(const struct machine *machine, uint64_t count, const char *of, const double **coefficients,
		     const double **rho)
{
	size_t numbers, rhos;

	*coefficients = sk_classical_list(machine->expansion, "coefficients", &numbers);
	*rho = sk_classical_list(machine->expansion, "rho", &rhos);
	if (numbers != count)
		return sk_expansion_refuse(machine->expansion,
					   "'coefficients' has %zu number%s, and there are %" PRIu64 " %s", numbers,
					   sk_plural(numbers), count, of);
	return rhos == 1 || sk_expansion_refuse(machine->expansion, "'rho' has %zu numbers, and 1 is needed", rhos);
}

static bool expand_regressor(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	int64_t supports = sk_node_integer(node, "n_supports", 0);
	enum sk_classical_transform transform;
	const double *coefficients, *rho;
	struct machine machine;
	uint32_t values, scores, positive;

	if (supports < 0 || supports > INT32_MAX)
		return sk_expansion_refuse(&expansion, "'n_supports' is %" PRIi64, supports);
	if (!sk_classical_read_transform(&expansion, &transform) || !read_machine(&expansion, &machine))
		return false;
	if (!read_sum(&machine, supports ? (uint64_t)supports : machine.width,
		      supports ? "support vectors" : "features", &coefficients, &rho))
		return false;
	values = machine.x;
	if (supports && (!read_vectors(&machine, (uint64_t)supports) || !add_kernel(&machine, &values)))
		return false;
	scores = multiply(&machine, values, supports ? (uint64_t)supports : machine.width, 1, coefficients, rho);
	if (sk_node_integer(node, "one_class", 0)) {
		positive = binary(&machine, "Greater", scores, real(&machine, 0));
		scores = sk_classical_choose(&expansion, positive, real(&machine, 1), real(&machine, -1));
	}
	sk_classical_scores(&expansion, transform, scores, SK_F64, 0);
	return true;
}

/* ---- SVMClassifier: a machine for each pair of classes ---- */

struct pairs {
	size_t classes, count; /* of pairs */
	const int64_t *supports; /* vectors of each class, which follow each other */
	const double *coefficients, *rho; /* [classes - 1, vectors], [count] */
};

static bool read_pairs(struct machine *machine, struct pairs *pairs)
{
	const struct sk_expansion *expansion = machine->expansion;
	size_t classes, coefficients, rhos, probabilities;
	uint64_t vectors = 0;

	pairs->supports = sk_node_integers(expansion->node, "vectors_per_class", &classes);
	pairs->coefficients = sk_classical_list(expansion, "coefficients", &coefficients);
	pairs->rho = sk_classical_list(expansion, "rho", &rhos);
	pairs->count = pairs->classes * (pairs->classes - 1) / 2;
	sk_classical_list(expansion, "prob_a", &probabilities);
	if (probabilities)
		return sk_expansion_refuse(expansion,
					   "it has 'prob_a': probabilities of support vector machines are not "
					   "supported, only their scores; convert the model without "
					   "probabilities");
	if (!classes)
		return sk_expansion_refuse(expansion,
					   "it has no 'vectors_per_class', and ONNX does not define the labels "
					   "of such a model; convert it to LinearClassifier");
	if (classes != pairs->classes)
		return sk_expansion_refuse(expansion, "'vectors_per_class' has %zu number%s, and there are %zu labels",
					   classes, sk_plural(classes), pairs->classes);
	for (size_t i = 0; i < classes; i++) {
		if (pairs->supports[i] < 0 || pairs->supports[i] > INT32_MAX)
			return sk_expansion_refuse(expansion, "'vectors_per_class' has %" PRIi64, pairs->supports[i]);
		vectors += (uint64_t)pairs->supports[i];
	}
	if (!vectors || coefficients % vectors || coefficients / vectors != classes - 1)
		return sk_expansion_refuse(expansion,
					   "'coefficients' has %zu number%s, and %zu for each of %" PRIu64
					   " vectors are needed",
					   coefficients, sk_plural(coefficients), classes - 1, vectors);
	if (rhos != pairs->count)
		return sk_expansion_refuse(expansion, "'rho' has %zu number%s, and there are %zu pairs of labels", rhos,
					   sk_plural(rhos), pairs->count);
	if (vectors * pairs->count > MOST_COEFFICIENTS)
		return sk_expansion_refuse(expansion, "%" PRIu64 " vectors for %zu pairs of labels are too many",
					   vectors, pairs->count);
	return read_vectors(machine, vectors);
}

/* Return the coefficients as a matrix [vectors, pairs]: those of a pair are of the vectors of its classes. */
static const double *spread_coefficients(const struct machine *machine, const struct pairs *pairs)
{
	double *matrix = SK_NEW_ARRAY(machine->expansion->graph->arena, double, machine->count * pairs->count);
	uint64_t first = 0, other;
	size_t pair = 0;

	memset(matrix, 0, machine->count * pairs->count * sizeof(*matrix));
	for (size_t i = 0; i < pairs->classes; first += (uint64_t)pairs->supports[i++]) {
		other = first + (uint64_t)pairs->supports[i];
		for (size_t j = i + 1; j < pairs->classes; j++, pair++) {
			for (uint64_t v = first; v < first + (uint64_t)pairs->supports[i]; v++)
				matrix[v * pairs->count + pair] = pairs->coefficients[(j - 1) * machine->count + v];
			for (uint64_t v = other; v < other + (uint64_t)pairs->supports[j]; v++)
				matrix[v * pairs->count + pair] = pairs->coefficients[i * machine->count + v];
			other += (uint64_t)pairs->supports[j];
		}
	}
	return matrix;
}

/* A positive score of a pair is a vote for its first class, another one for its second class: votes [N, classes]. */
static uint32_t count_votes(const struct machine *machine, const struct pairs *pairs, uint32_t scores)
{
	struct sk_arena *arena = machine->expansion->graph->arena;
	double *change = SK_NEW_ARRAY(arena, double, pairs->count * pairs->classes);
	double *start = SK_NEW_ARRAY(arena, double, pairs->classes);
	uint32_t positive = binary(machine, "Greater", scores, real(machine, 0));
	size_t pair = 0;

	memset(change, 0, pairs->count * pairs->classes * sizeof(*change));
	for (size_t i = 0; i < pairs->classes; i++) {
		start[i] = (double)i;
		for (size_t j = i + 1; j < pairs->classes; j++, pair++) {
			change[pair * pairs->classes + i] = 1;
			change[pair * pairs->classes + j] = -1;
		}
	}
	return multiply(machine, sk_classical_cast(machine->expansion, positive, SK_F64), pairs->count, pairs->classes,
			change, start);
}

static bool expand_classifier(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	enum sk_classical_transform transform;
	struct sk_classical_labels labels;
	sk_graph_sequence both = {NULL, 0, 0};
	struct machine machine;
	struct pairs pairs = {0};
	uint32_t values, scores, negative;

	if (!sk_classical_read_transform(&expansion, &transform) ||
	    !sk_classical_labels(&expansion, "classlabels_ints", &labels) || !read_machine(&expansion, &machine))
		return false;
	pairs.classes = labels.count;
	if (pairs.classes < 2 || pairs.classes > MOST_CLASSES)
		return sk_expansion_refuse(&expansion, "it has %zu label%s, and 2 to %d are possible", pairs.classes,
					   sk_plural(pairs.classes), MOST_CLASSES);
	if (!read_pairs(&machine, &pairs) || !add_kernel(&machine, &values))
		return false;
	scores = multiply(&machine, values, machine.count, pairs.count, spread_coefficients(&machine, &pairs),
			  pairs.rho);
	sk_classical_label(&expansion, &labels, count_votes(&machine, &pairs, scores));
	if (pairs.count == 1) {
		negative = sk_classical_unary(&expansion, "Neg", scores);
		sk_array_push(graph->arena, &both, negative);
		sk_array_push(graph->arena, &both, scores);
		scores = sk_expansion_value(&expansion);
		sk_expansion_concat(&expansion, &both, 1, false, scores);
	}
	sk_classical_scores(&expansion, transform, scores, SK_F64, 1);
	return true;
}

/* ---- the table ---- */

#define LIST(NAME, KIND)                                                                                               \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_##KIND                                                                              \
	}
#define MACHINE                                                                                                        \
	LIST("coefficients", REALS), LIST("kernel_params", REALS),                                                     \
		{"kernel_type", SK_ATTRIBUTE_STRING, .string = "LINEAR"},                                              \
		{"post_transform", SK_ATTRIBUTE_STRING, .string = "NONE"}, LIST("rho", REALS),                         \
		LIST("support_vectors", REALS)

static const struct sk_schema_attribute regressor[] = {
	MACHINE, {"n_supports", SK_ATTRIBUTE_INTEGER}, {"one_class", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute classifier[] = {MACHINE,
							LIST("classlabels_ints", INTEGERS),
							LIST("classlabels_strings", STRINGS),
							LIST("prob_a", REALS),
							LIST("prob_b", REALS),
							LIST("vectors_per_class", INTEGERS),
							{NULL}};

const struct sk_schema sk_operators_classical_svm[] = {
	{"SVMClassifier", SK_CLASSICAL_DOMAIN, 1, 1, 1, 2, .attributes = classifier, .expand = expand_classifier},
	{"SVMRegressor", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = regressor, .expand = expand_regressor},
	{NULL},
};
