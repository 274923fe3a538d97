/* The graph of operators: values, nodes, attributes; the common parts of shape inference and of canonical calls; the
 * users of a value. */
#ifndef SK_GRAPH_GRAPH_H
#define SK_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

struct sk_arena;

/* ==== graph.c ====
 *
 * The graph of operators: what a model file says, before there are kernels and tasks. Nodes make values out of values;
 * a value has one producer at most, and nobody writes to it afterwards. The vocabulary is ONNX's: operators, attributes
 * and their meaning are those of its specification (onnx.ai, docs/Operators.md). All of it lives in the link's arena.
 * References are indices (SK_NONE: none), since arrays grow. */

/* The domain of operators that ONNX lacks; they have the names that MindSpore's primitives have. */
#define SK_OWN_DOMAIN "sklink"

/* The domain of operators that have no name but the one in signatures of kernels; all of them have one schema. */
#define SK_KERNEL_DOMAIN "kernel"

/* A dimension that nobody has said yet. */
#define SK_UNKNOWN UINT64_MAX

/* Values that are tensors. */
typedef SK_ARRAY(uint32_t) sk_graph_sequence;

struct sk_value {
	const char *name; /* the model's; of values that passes make, one that no other value has */
	struct sk_place place;
	enum sk_dtype dtype; /* NONE: not known yet */
	bool shaped; /* rank and shape are known, but for dimensions that are SK_UNKNOWN */
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	const char *symbols[SK_MAX_RANK]; /* of inputs: what the model calls a dimension that is unknown, or NULL */
	uint32_t node; /* its producer; SK_NONE: an input or a constant */
	const void *contents; /* of constants: the elements, packed, little-endian; not NULL even if there are none.
				 NULL: it is none */
	bool fixed; /* it depends on constants only, and will be one */
	const sk_graph_sequence *sequence; /* it is a sequence of these; NULL: it is a tensor */
	bool input, output; /* of the graph */
	bool kept; /* an input that the network writes, too: what it leaves there is what the next run reads */
	uint32_t view_of; /* a value whose bytes it is, in another shape; SK_NONE: it has its own */
	uint64_t view_offset; /* elements from that one's start */
};

struct sk_op_graph;

/* An attribute that is a tensor: `name` is a constant of the graph. */
struct sk_attribute_tensor {
	const char *name;
	uint32_t value;
};

/* An attribute that is a graph: a body of If, Loop or Scan, which may use values of the graphs around it by name. */
struct sk_attribute_graph {
	const char *name;
	struct sk_op_graph *graph;
};

/* Whether the parts of a Split or a Concat may be slices of one value's bytes, so that nothing moves them. */
enum sk_slices {
	SK_SLICES_OFF, /* no: nobody has looked whether they may */
	SK_SLICES_REFUSED, /* no: a refusal of the node says why */
	SK_SLICES_ALL, /* all of them, or none */
	SK_SLICES_ANY, /* each for itself */
};

struct sk_graph_node {
	const char *name; /* the model's; "" if it has none */
	struct sk_place place;
	const char *op; /* the operator, in ONNX's words */
	const char *domain; /* "" is ai.onnx */
	const char *origin; /* what the source calls the operator; NULL: the same */
	const char *rule; /* that has made the node: "'SwiGlu' of set 'onnx' at onnx.yaml:3:9"; NULL: none has */
	uint32_t version; /* of the domain's operator set that the node was written for */
	SK_ARRAY(struct sk_attribute) attributes;
	SK_ARRAY(struct sk_attribute_tensor) tensors;
	SK_ARRAY(struct sk_attribute_graph) graphs;
	SK_ARRAY(uint32_t) inputs; /* values; SK_NONE: absent */
	SK_ARRAY(uint32_t) outputs; /* values; SK_NONE: nobody wants it */
	uint32_t stream;
	const char *scope; /* NULL: none */
	const char *scope_options; /* what the source wants of the scope; NULL: nothing */
	SK_ARRAY(struct sk_attribute) notes; /* what else the source says of it that is nothing to compute by */
	uint32_t iterations; /* of a Loop: how many are nodes already */
	sk_texts refusals; /* "Relu is not expanded by ...": of each rule that has been tried */
	enum sk_slices slices;
	bool no_task; /* it is in the graph, and nothing is called for it: its parts are slices */
	uint32_t composite; /* index of the composite that it is a member of, plus 1; 0: of none */
	bool removed; /* a pass has taken it out; its place in the array stays */
};

/* Nodes that a pass of graph-kernel fusion has put together: what is to be one tile group. */
struct sk_composite {
	const char *name; /* "Mul_Add_fusion"; of the second one of that name "Mul_Add_fusion_2" */
};

/* Names of composites that are taken. */
struct sk_composite_names {
	struct sk_arena *arena;
	struct sk_map places; /* in `last` */
	SK_ARRAY(uint32_t) last; /* by name: the number that was tried last */
};

/* An output that is the input of the next run: one tensor. */
struct sk_graph_state {
	uint32_t past, present; /* values */
	const char *text; /* "--state 'PAST=PRESENT'", as given */
};

typedef SK_ARRAY(struct sk_graph_node) sk_graph_nodes;

struct sk_op_graph {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *file; /* the path, as given */
	SK_ARRAY(const char *) data; /* other files that contents come from */
	const char *name;
	const char *network; /* of several networks of a package: what this one is called; NULL: there is one */
	SK_ARRAY(struct sk_value) values;
	sk_graph_nodes nodes; /* producers in front of users */
	SK_ARRAY(struct sk_composite) composites;
	bool composites_hold; /* tasks stand in one tile group only if their nodes are members of one composite */
	bool side_by_side; /* tasks that have work for some of the cores may begin at cores of their own */
	SK_ARRAY(uint32_t) inputs, outputs; /* values, in the order of the file */
	SK_ARRAY(struct sk_graph_state) states;
	sk_texts scopes; /* that nodes have been in, whether or not something of them is left, also before the model was
			    written; some of them twice */
	struct sk_map value_names;
	const int64_t *places; /* by value: bytes from the start of the workspace; -1: it is not there. NULL: not known
				  yet */
	sk_texts passes; /* of fusion that have run on it, by their full names: also before the model was written */
	sk_texts told; /* what passes say for --verbose, and nobody has printed yet */
	uint64_t copied; /* values, nodes and operands of bodies that have become its own */
	const struct sk_op_graph *outer; /* of a body: the graph around it */
};

struct sk_op_graph *sk_graph_create(struct sk_arena *arena, struct sk_diag *diag, const char *file);

/* The value of that name, made without type and shape if there is none. */
uint32_t sk_graph_value(struct sk_op_graph *graph, const char *name);

/* A value that only passes know: its name is made of the base and a number, and nobody else has it. */
uint32_t sk_graph_new_value(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			    const uint64_t *shape);

/* A constant that only passes know, with a copy of the elements. */
uint32_t sk_graph_new_constant(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			       const uint64_t *shape, const void *elements);

/* From here on the value is a constant with these elements, which no node makes, and no part of another value. */
void sk_graph_make_constant(struct sk_op_graph *graph, uint32_t value, const void *contents);

/* From here on users of the value read the other one, which has the same type, shape and elements: what is known of one
 * is known of both. Each pass that redirects uses calls this, and changes the inputs of the users itself. */
void sk_graph_redirect(struct sk_op_graph *graph, uint32_t value, uint32_t to);

/* From here on the value is that sequence, and no node makes it. */
void sk_graph_make_sequence(struct sk_op_graph *graph, uint32_t value, const sk_graph_sequence *sequence);

/* A constant of 64-bit integers, of rank 1: shapes, axes, pads. */
uint32_t sk_graph_new_integers(struct sk_op_graph *graph, const char *base, uint64_t count, const int64_t *integers);

/* No name is taken but those of the composites of the graph, or none if it is NULL. */
struct sk_composite_names sk_composite_names(struct sk_arena *arena, const struct sk_op_graph *graph);

/* The name, with a number if it is taken; then it is taken, too. */
const char *sk_composite_names_add(struct sk_composite_names *names, const char *name);

/* Appends an empty node with the op; it is up to the caller to keep producers in front of users. The pointer is valid
 * until the next node is added. */
struct sk_graph_node *sk_graph_add_node(struct sk_op_graph *graph, const char *op);

/* The value that is the input or output of that number; NULL if it is absent. */
struct sk_value *sk_node_input(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t number);
struct sk_value *sk_node_output(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t number);

/* The node's name, or that of the first value that it makes. */
const char *sk_node_name(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* Whether it makes something when the network runs: no pass has taken it out, and not all that it makes has become
 * constants. */
bool sk_node_is_live(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* True if the node is that operator: "Add", or "sklink:NotEqual" of the library's own domain. */
bool sk_node_is(const struct sk_graph_node *node, const char *op);

/* True if the node is one of these operators, of which the last one is followed by NULL. */
bool sk_node_is_one_of(const struct sk_graph_node *node, const char *const *ops);

/* True if it has two operands, and which of them is the first one changes no bit. */
bool sk_node_is_commutative(const struct sk_graph_node *node);

/* Whether the two stand in the same scope and stream, so that they may become one. */
bool sk_node_same_scope(const struct sk_graph_node *a, const struct sk_graph_node *b);

/* The value whose bytes it is, which has its own; SK_NONE of SK_NONE. */
uint32_t sk_value_root(const struct sk_op_graph *graph, uint32_t value);

/* So many elements lie in front of the value's in the bytes that it is seen through. */
uint64_t sk_value_offset(const struct sk_op_graph *graph, uint32_t value);

/* How many elements a value has whose shape is known; overflow was an error when the shape was set. */
uint64_t sk_value_elements(const struct sk_value *value);
uint64_t sk_value_bytes(const struct sk_value *value);

/* "[2, ?, 4]"; "?" where a dimension is unknown. */
const char *sk_partial_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape);

/* True if the known dimensions make no more than 2^63 - 1 bytes, those of 0 left out: plans count them so, too. */
bool sk_shape_is_countable(enum sk_dtype dtype, uint32_t rank, const uint64_t *shape);

/* True if the value may have the shape, as far as something is known of it. */
bool sk_value_admits(const struct sk_value *value, uint32_t rank, const uint64_t *shape);

/* True of f16, bf16, f32 and f64. */
bool sk_value_is_float(const struct sk_value *value);

/* True if the type and all dimensions are known. */
bool sk_value_is_static(const struct sk_value *value);

/* The elements of a constant of integers or bools as 64-bit integers, in the arena; false if it is no such constant. */
bool sk_value_integers(struct sk_arena *arena, const struct sk_value *value, uint64_t *count, const int64_t **integers);

/* An element of any type as a number. */
double sk_element_number(enum sk_dtype dtype, const void *element);

/* So many numbers as elements of f32 or f64. */
const void *sk_elements_of_reals(struct sk_arena *arena, enum sk_dtype dtype, uint64_t count, const double *reals);

/* The one element of a constant as a number; false if it is no constant of one element, or of half precision. */
bool sk_value_number(const struct sk_value *value, double *number);

/* True of constants of which each element has the bits of this number; -0 is 0 to integers. */
bool sk_constant_is(const struct sk_value *value, double number);

/* The numbers of types in files (TensorProto.DataType); NONE if there are no such tensors. */
enum sk_dtype sk_dtype_of_number(int64_t number);

/* Attributes by name; the default if the node has none. An attribute of another kind counts as absent: the schema has
 * been checked before. */
const struct sk_attribute *sk_node_attribute(const struct sk_graph_node *node, const char *name);
int64_t sk_node_integer(const struct sk_graph_node *node, const char *name, int64_t otherwise);
double sk_node_real(const struct sk_graph_node *node, const char *name, double otherwise);
const char *sk_node_string(const struct sk_graph_node *node, const char *name, const char *otherwise);
/* NULL and *count 0 if the node has none. */
const int64_t *sk_node_integers(const struct sk_graph_node *node, const char *name, size_t *count);

/* What the source says beside what is to be computed; NULL: nothing of that name. */
const struct sk_attribute *sk_node_note(const struct sk_graph_node *node, const char *name);
int64_t sk_node_note_integer(const struct sk_graph_node *node, const char *name, int64_t otherwise);
void sk_node_set_note(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, int64_t integer);

/* Adds the attribute, or replaces the one of that name. */
void sk_node_set_integer(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, int64_t integer);
void sk_node_remove_attribute(struct sk_graph_node *node, const char *name);

/* False after an error: the attribute is of another kind. */
bool sk_node_check_kind(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_attribute *given,
			enum sk_attribute_kind kind);

/* Removes the attribute, if the node has it; false after an error: it is of another kind. */
bool sk_node_drop_attribute(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name,
			    enum sk_attribute_kind kind);

/* An attribute that is one integer becomes a list of it. */
void sk_node_make_list(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name);

/* A list that was an attribute in older operator sets becomes the next input, a constant, if the node has it. */
void sk_node_take_integers(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name);

/* "node '/layer.3/MatMul' (MatMul): " in front of the text: an error at the node, one for all nodes of the operator of
 * which it is said. True if this is the first. */
bool sk_node_error(struct sk_op_graph *graph, const struct sk_graph_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ==== canonical.c ====
 *
 * Canonical calls: what nodes become before kernels are chosen. An operator has many ways to say the same; kernels have
 * few forms. */

/* A value, or a piece of it, with the shape in which a kernel sees it. */
struct sk_operand {
	uint32_t value; /* SK_NONE: absent */
	enum sk_dtype dtype; /* as the kernel sees it: of the size of the value's */
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t offset; /* elements from the value's start */
	uint64_t stride; /* rows (the last dimension) lie so many elements apart; 0: without gaps */
};

struct sk_graph_call {
	uint32_t node;
	const char *op;
	SK_ARRAY(struct sk_attribute) attributes; /* those that say something else than the op by itself */
	SK_ARRAY(struct sk_operand) inputs, outputs;
};

typedef SK_ARRAY(struct sk_graph_call) sk_graph_calls;

/* An attribute that an operator has, as of the newest operator set. */
struct sk_schema_attribute {
	const char *name;
	enum sk_attribute_kind kind;
	bool required;
	/* What it is where a node does not say it: of an INTEGER, a REAL, a STRING. */
	int64_t integer;
	double real;
	const char *string;
};

/* One node that becomes calls. All of its values are static. */
struct sk_canonical {
	struct sk_op_graph *graph; /* gets the values between the calls */
	uint32_t node; /* an index, since nodes move when the graph grows */
	sk_graph_calls *calls;
	const struct sk_schema_attribute *attributes; /* of its schema; NULL: there are none */
};

/* The node's input or output of that number as an index; SK_NONE: absent. */
uint32_t sk_canonical_input(const struct sk_canonical *canonical, size_t number);
uint32_t sk_canonical_output(const struct sk_canonical *canonical, size_t number);

/* An output that kernels make in any case: if it is absent, a value that nobody reads, of that type and of the shape
 * of another one. */
uint32_t sk_canonical_made(struct sk_canonical *canonical, size_t number, enum sk_dtype dtype, uint32_t like);

/* An error at the node; returns false. */
bool sk_canonical_error(const struct sk_canonical *canonical, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- operands ---- */

/* The value as [n], which any shape can be, and in a shape of as many elements. SK_NONE is absent. */
struct sk_operand sk_operand_flat(const struct sk_op_graph *graph, uint32_t value);
struct sk_operand sk_operand_shaped(const struct sk_op_graph *graph, uint32_t value, uint32_t rank,
				    const uint64_t *shape);

/* The value as [outer, axis, inner]. */
struct sk_operand sk_operand_axis(const struct sk_op_graph *graph, uint32_t value, uint32_t axis);

uint64_t sk_operand_elements(const struct sk_operand *operand);

/* As kernels that only move elements see it: unsigned integers of their size. */
struct sk_operand sk_operand_moved(struct sk_operand operand);

/* ---- calls ---- */

/* Adds a call of the op. The pointer is valid until the next one is added. */
struct sk_graph_call *sk_canonical_call(struct sk_canonical *canonical, const char *op);

void sk_call_input(const struct sk_canonical *canonical, struct sk_graph_call *call, struct sk_operand operand);
void sk_call_output(const struct sk_canonical *canonical, struct sk_graph_call *call, struct sk_operand operand);
void sk_call_integer(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		     int64_t integer);
void sk_call_word(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, const char *word);
void sk_call_integers(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		      const int64_t *integers, size_t count);

/* Lists for kernels with loops over dimensions have as many items as a tensor can have dimensions. */
void sk_call_padded(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, uint32_t rank,
		    const int64_t *items, int64_t rest);
void sk_call_real(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, double real);
void sk_call_reals(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		   const double *reals, size_t count);

/* The attributes of a node as a call has them: numbers, which kernels take as values, always; integers and texts, which
 * tell kernels apart, where they are not what the schema says anyway. */
void sk_call_attributes(const struct sk_canonical *canonical, struct sk_graph_call *call);

/* ---- what many operators become ---- */

/* The value is the other one's bytes in another shape, `offset` elements behind their start: no call, or a copy where
 * both are needed as they are (an output that is an input's or a constant's bytes, two outputs). */
void sk_canonical_view(struct sk_canonical *canonical, uint32_t value, uint32_t of, uint64_t offset);

/* Where the elements of a value come from: element [i0, i1 …] of `shape` is the one of `from` that lies
 * offset + i0 * strides[0] + i1 * strides[1] … elements from its start. */
struct sk_arrangement {
	uint32_t rank; /* as many as there are: before dimensions are merged it may be more than a tensor can have */
	uint64_t shape[2 * SK_MAX_RANK];
	int64_t strides[2 * SK_MAX_RANK];
	int64_t offset;
	bool apart; /* they get bytes of their own, even if those that they come from would do */
};

/* Elements of that shape, without gaps, with the axes in another order. */
struct sk_arrangement sk_arrangement_of_axes(uint32_t rank, const uint64_t *shape, const uint32_t *order);

/* The operand, which is without gaps or has rows, becomes so many elements of the value. Becomes a view, a flat copy, a
 * transposition or a strided copy, whichever is the simplest. False after an error. */
bool sk_canonical_arrange(struct sk_canonical *canonical, struct sk_operand to, uint32_t from,
			  const struct sk_arrangement *arrangement);

/* Rows of `width` elements by their numbers, any number of times out of k rows each. */
bool sk_canonical_gather(struct sk_canonical *canonical, uint32_t to, uint32_t from, uint32_t indices, uint64_t k,
			 uint64_t width);

/* Strides of a value without gaps, in elements. */
void sk_dense_strides(uint32_t rank, const uint64_t *shape, int64_t *strides);

/* The input, broadcast, as [n] elements of one output: for operators with one input and one output of one shape. */
bool sk_canonical_elementwise(struct sk_canonical *canonical, const char *op);

/* The op of two values that are broadcast to the output's shape, in the simplest form. Where the op is commutative the
 * operands may change places. */
bool sk_canonical_binary(struct sk_canonical *canonical, const char *op, uint32_t a, uint32_t b, uint32_t to,
			 bool commutative);

/* Any number of values that are broadcast, as `same` or `strided`. */
bool sk_canonical_broadcast(struct sk_canonical *canonical, const char *op, const uint32_t *values, size_t count,
			    uint32_t to);

/* The value as one of another type: itself, or what a call makes of it. */
uint32_t sk_canonical_cast(struct sk_canonical *canonical, uint32_t value, enum sk_dtype dtype);

/* All elements of a value into another one of its shape and of another type. */
void sk_canonical_store(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* What kernels compute with: f32 for f16 and bf16. */
enum sk_dtype sk_computed_dtype(enum sk_dtype dtype);

/* The value, broadcast to the shape: itself, or a copy. SK_NONE of SK_NONE. */
uint32_t sk_canonical_spread(struct sk_canonical *canonical, uint32_t value, uint32_t rank, const uint64_t *shape);

/* A value of one element, the number nearest to that one that the type has. */
uint32_t sk_canonical_number(struct sk_canonical *canonical, enum sk_dtype dtype, double number);

/* Each element of the value is that number. */
bool sk_canonical_fill(struct sk_canonical *canonical, uint32_t to, double number);

/* All elements of a value into another one of its type and size. */
void sk_canonical_copy(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* ==== infer.c ====
 *
 * Shape and type inference of one node, as the operators' schemas do it. */

/* One node whose outputs are to be typed and shaped. Its inputs are static; those whose values the schema demands are
 * constants or absent. */
struct sk_inference {
	struct sk_op_graph *graph;
	struct sk_graph_node *node;
};

/* Inputs by number; NULL: absent. */
const struct sk_value *sk_infer_input(const struct sk_inference *inference, size_t number);

/* Types and shapes an output; nothing happens if nobody wants it. A shape that the file declares otherwise gets a
 * warning. False after an error: too many elements, or the file says another type. */
bool sk_infer_output(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
		     const uint64_t *shape);

/* True if two inputs are of one type, or the second is absent; false with an error. */
bool sk_infer_same_types(const struct sk_inference *inference, size_t a, size_t b);

/* The same of all inputs. */
bool sk_infer_one_type(const struct sk_inference *inference);

/* An output of the input's type and shape. */
bool sk_infer_like(const struct sk_inference *inference, size_t output, size_t input);

/* The shape that two shapes have when they are broadcast to one another (as numpy does it): the first one becomes it.
 * False after an error. */
bool sk_infer_broadcast(const struct sk_inference *inference, uint32_t *rank, uint64_t *shape, uint32_t other_rank,
			const uint64_t *other);

/* Output 0 has the common shape of the inputs that are there, and this type. */
bool sk_infer_common_shape(const struct sk_inference *inference, enum sk_dtype dtype);

/* An axis from -rank to rank - 1, counted from the front; false after an error. */
bool sk_infer_axis(const struct sk_inference *inference, int64_t axis, uint32_t rank, uint32_t *counted);

/* An attribute that says an order of so many axes; without one the order stays as it is. False after an error. */
bool sk_infer_order(const struct sk_inference *inference, const char *name, uint32_t rank, uint32_t *order);

/* The values of a demanded input of integers; the list is NULL and *count 0 if the input is absent. False after an
 * error. */
bool sk_infer_integers(const struct sk_inference *inference, size_t number, uint64_t *count, const int64_t **integers);

/* The same of one integer, which is `otherwise` if the input is absent. */
bool sk_infer_integer(const struct sk_inference *inference, size_t number, int64_t otherwise, int64_t *integer);

/* An output that is a constant as soon as shapes are known (Shape, Size, Constant): with a copy of the elements. */
bool sk_infer_constant(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
		       const uint64_t *shape, const void *elements);

/* An error at the node; returns false. */
bool sk_infer_error(const struct sk_inference *inference, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ==== uses.c ====
 *
 * Who uses what in a graph, and which nodes belong together: as it is when somebody asks. */

/* By value: how often nodes that are left have it as an input. */
const uint32_t *sk_graph_count_uses(const struct sk_op_graph *graph);

/* The input of that number of a node. */
struct sk_use {
	uint32_t node, input;
};

/* Uses by value: those of the value v, in the order of the graph, are items[starts[v]] and what follows, up to
 * items[starts[v + 1]]. */
struct sk_uses {
	const uint32_t *starts;
	const struct sk_use *items;
};

/* Those of nodes that are left. */
struct sk_uses sk_graph_uses(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Nodes by what they belong to: those of the number n, in the order of the graph, are nodes[starts[n]] and what
 * follows, up to nodes[starts[n + 1]]. */
struct sk_node_lists {
	const uint32_t *starts, *nodes;
};

/* The live nodes, by numbers below `count`; SK_NONE: it belongs to nothing. */
struct sk_node_lists sk_graph_sort_nodes(struct sk_arena *arena, const struct sk_op_graph *graph,
					 const uint32_t *numbers, size_t count);

/* The live nodes, by composite. */
struct sk_node_lists sk_graph_members(struct sk_arena *arena, const struct sk_op_graph *graph);

/* By value: whether a node outside of the composite of the one that makes it reads it, or the network has it as an
 * output. */
bool *sk_graph_mark_results(struct sk_arena *arena, const struct sk_op_graph *graph);

#endif
