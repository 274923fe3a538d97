/* The graph of operators: values, nodes and attributes; the common parts of shape inference and of canonical calls; the
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
struct sk_exchange;
struct sk_rank_groups;
struct sk_size;
struct sk_size_dimension;
struct sk_sizes;

/* ==== graph.c ====
 *
 * The graph of operators, as read from a model file, before kernels and tasks exist. Nodes compute values from values.
 * A value has at most one producer, and never changes after it is computed. Operators, attributes and their meaning are
 * ONNX's (onnx.ai, docs/Operators.md). All of it is allocated in the link's arena. References are indices (SK_NONE:
 * none), since arrays grow. */

/* The domain of operators that ONNX lacks. Their names are those of MindSpore's primitives. */
#define SK_OWN_DOMAIN "sklink"

/* The domain of operators that are known only by their name in the signatures of kernels. They all have one schema. */
#define SK_KERNEL_DOMAIN "kernel"

/* A dimension that is not known yet. */
#define SK_UNKNOWN UINT64_MAX

/* The values of a sequence, all of them tensors. */
typedef SK_ARRAY(uint32_t) sk_graph_sequence;

struct sk_value {
	const char *name; /* the model's name; for a value that a pass adds, a unique one */
	struct sk_place place;
	enum sk_dtype dtype; /* NONE: not known yet */
	bool shaped; /* rank and shape are known, except dimensions that are SK_UNKNOWN */
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	const char *symbols[SK_MAX_RANK]; /* of an input: the model's names of unknown dimensions, or NULL */
	const struct sk_size *sizes[SK_MAX_RANK]; /* dimensions that depend on dimensions with bounds; `shape` has the
						     largest sizes. NULL: a number */
	bool varies; /* the elements depend on dimensions with bounds, or their number does; the value is no constant */
	const struct sk_size *const *terms; /* of a value that varies, or of few elements that depend on constants only:
					       an integer for each element, where it is an expression of dimensions, or
					       a number (NULL: it is none). NULL: none is */
	const void *known; /* of a value that varies: the elements at the sizes that shapes have; NULL: not known */
	uint32_t node; /* its producer; SK_NONE: an input or a constant */
	const void *contents; /* of a constant: the elements, packed, little-endian; not NULL even if there are none.
				 NULL: not a constant */
	uint8_t element; /* of a constant of a type that only files have (narrow.c): its number (TensorProto.DataType),
			    otherwise 0; dtype is the type of its numbers */
	bool packed; /* the contents of such a constant are those of the file */
	bool fixed; /* depends on constants only, and will become one */
	bool once; /* depends on constants only, and is computed once for each instance of the package */
	const sk_graph_sequence *sequence; /* the value is a sequence of these; NULL: it is a tensor */
	bool input, output; /* of the graph */
	bool kept; /* an input that the network also writes: the next run reads the result */
	uint32_t cache; /* the number of the state, plus 1, whose cache has the rows of this value; 0: none */
	uint32_t view_of; /* the value that owns the bytes, in another shape; SK_NONE: this one does */
	uint64_t view_offset; /* elements from the start of that value */
};

struct sk_op_graph;

/* An attribute that is a tensor: the index of a constant of the graph. */
struct sk_attribute_tensor {
	const char *name;
	uint32_t value;
};

/* An attribute that is a graph: a body of If, Loop or Scan. It may use values of the enclosing graphs by name. */
struct sk_attribute_graph {
	const char *name;
	struct sk_op_graph *graph;
};

/* Whether the parts of a Split or a Concat may be slices of one value's bytes, so that nothing is copied. */
enum sk_slices {
	SK_SLICES_OFF, /* no: this has not been checked yet */
	SK_SLICES_REFUSED, /* no: a refusal of the node gives the reason */
	SK_SLICES_ALL, /* all of them, or none */
	SK_SLICES_ANY, /* each part independently */
};

struct sk_graph_node {
	const char *name; /* the model's name; "" if it has none */
	struct sk_place place;
	const char *op; /* the operator's name in ONNX */
	const char *domain; /* "" is ai.onnx */
	const char *origin; /* the operator's name in the source; NULL: the same */
	const char *rule; /* that made the node: "'SwiGlu' of set 'onnx' at onnx.yaml:3:9"; NULL: none */
	uint32_t version; /* of the domain's operator set that the node was written for */
	SK_ARRAY(struct sk_attribute) attributes;
	SK_ARRAY(struct sk_attribute_tensor) tensors;
	SK_ARRAY(struct sk_attribute_graph) graphs;
	SK_ARRAY(uint32_t) inputs; /* values; SK_NONE: absent */
	SK_ARRAY(uint32_t) outputs; /* values; SK_NONE: unused */
	uint32_t stream;
	uint32_t cube_cores, vector_cores; /* the most cores of its tasks; 0: all */
	const char *scope; /* NULL: none; "": its tasks are launched by themselves */
	const char *scope_options; /* options that the source sets for the scope; NULL: none */
	SK_ARRAY(struct sk_attribute) notes; /* further attributes of the source, which do not affect the result */
	uint32_t iterations; /* of a Loop: the iterations that are unrolled already */
	sk_texts refusals; /* "Relu is not expanded by ...": one for each rule that was tried */
	enum sk_slices slices;
	bool no_task; /* the node stays in the graph without a call: its parts are slices */
	uint32_t composite; /* the index of its composite plus 1; 0: none */
	bool removed; /* a pass removed it; its place in the array stays */
};

/* Nodes that a pass of graph-kernel fusion has combined. They are to become one tile group. */
struct sk_composite {
	const char *name; /* "Mul_Add_fusion"; for the second one of that name "Mul_Add_fusion_2" */
	const char *expanded; /* the operator that the expander has replaced by these nodes; NULL: none */
};

/* Names of composites that are in use. */
struct sk_composite_names {
	struct sk_arena *arena;
	struct sk_map places; /* name to index in `last` */
	SK_ARRAY(uint32_t) last; /* by name: the number that was tried last */
};

/* An output that is an input of the next run. Both become one tensor. If the output has more rows than the input along
 * one axis, this tensor is a cache: it has a capacity on that axis, and values are its first rows. */
struct sk_graph_state {
	uint32_t past, present; /* values */
	const char *text; /* "--state 'PAST=PRESENT'", as given */
	uint64_t capacity; /* rows of the cache; 0: as many as the output has at most */
	bool found; /* nobody has named it: the capacity is for all states that grow */
	uint32_t axis; /* of a cache */
	uint32_t cache; /* the value of the cache, an input; SK_NONE: both values are of one shape */
};

typedef SK_ARRAY(struct sk_graph_node) sk_graph_nodes;

struct sk_op_graph {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *file; /* the path, as given */
	SK_ARRAY(const char *) data; /* paths of other files that contents come from */
	bool partial; /* errors about values of the file have been reported, and the graph lacks their types */
	const char *absent_data; /* a file of contents that is absent: these are 0; NULL: none is */
	const char *name;
	const char *network; /* the name of this network in a package of several; NULL: there is one network */
	SK_ARRAY(struct sk_value) values;
	uint32_t read_values; /* the number of values that the file has; passes add the later ones */
	const char *dimensions_of; /* the network to which its dimensions belong; NULL: there is one network */
	struct sk_sizes *all_sizes; /* for the dimensions of all networks; NULL: the first one with bounds makes it */
	struct sk_sizes *sizes; /* the same, if the graph has dimensions with bounds; NULL: it has none */
	struct sk_sizes *numbers; /* for small integers of a graph without such dimensions; NULL: none so far */
	const uint64_t *sizes_at; /* of a sample: the sizes of its dimensions that shapes and contents have; NULL: the
				     largest */
	sk_graph_nodes nodes; /* producers before users */
	SK_ARRAY(struct sk_composite) composites;
	bool composites_hold; /* tasks may share a tile group only if their nodes are members of one composite */
	bool side_by_side; /* tasks that occupy only some of the cores may begin on other cores */
	SK_ARRAY(uint32_t) inputs, outputs; /* values, in the order of the file */
	SK_ARRAY(struct sk_graph_state) states;
	sk_texts scopes; /* scopes that nodes have been in, even if nothing is left of them, and including those in the
			    model's metadata; duplicates are possible */
	struct sk_map value_names;
	const int64_t *places; /* by value: bytes from the start of the workspace; -1: not there. NULL: not known yet */
	sk_texts passes; /* full names of the passes that have run on it, including those in the model's metadata */
	sk_texts undeclared; /* values of --inputs and --freeze with types or shapes that must be computed first */
	sk_texts former; /* names of dimensions that only inputs had that are left out */
	sk_texts told; /* lines for --verbose that are not printed yet */
	uint64_t copied; /* values, nodes and operands copied from bodies so far */
	const struct sk_op_graph *outer; /* of a body: the enclosing graph */
	const struct sk_rank_groups *groups; /* of ranks; NULL: the graph is for one process */
};

struct sk_op_graph *sk_graph_create(struct sk_arena *arena, struct sk_diag *diag, const char *file);

/* Return the value of that name. Add one without type and shape if there is none. */
uint32_t sk_graph_value(struct sk_op_graph *graph, const char *name);

/* Add a value with a unique name that is made of the base and a number. */
uint32_t sk_graph_new_value(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			    const uint64_t *shape);

/* Add a value with a unique name and the shape of another one, at all sizes with bounds. */
uint32_t sk_graph_new_like(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype,
			   const struct sk_value *like);

/* Make the shape of a value that of another one, at all sizes with bounds. */
void sk_value_set_shape(struct sk_value *value, const struct sk_value *like);

/* Add a constant with a unique name and a copy of the elements. */
uint32_t sk_graph_new_constant(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			       const uint64_t *shape, const void *elements);

/* Make the value a constant with these elements. It no longer has a producer, nor is it a view of another value. */
void sk_graph_make_constant(struct sk_op_graph *graph, uint32_t value, const void *contents);

/* Record that users of `value` read `to` from now on, which has the same type, shape and elements: facts known about
 * one hold for both. Each pass that redirects uses calls this, and changes the inputs of the users itself. */
void sk_graph_redirect(struct sk_op_graph *graph, uint32_t value, uint32_t to);

/* Make the value that sequence. It no longer has a producer. */
void sk_graph_make_sequence(struct sk_op_graph *graph, uint32_t value, const sk_graph_sequence *sequence);

/* Add a constant of 64-bit integers, of rank 1: shapes, axes, pads. */
uint32_t sk_graph_new_integers(struct sk_op_graph *graph, const char *base, uint64_t count, const int64_t *integers);

/* Return the names of the graph's composites; an empty set if the graph is NULL. */
struct sk_composite_names sk_composite_names(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Return the name, with a number appended if it is in use, and add it to the set. */
const char *sk_composite_names_add(struct sk_composite_names *names, const char *name);

/* Append an empty node with the op. The caller keeps producers before users. The pointer is valid until the next node
 * is added. */
struct sk_graph_node *sk_graph_add_node(struct sk_op_graph *graph, const char *op);

/* Return the input or output of that number; NULL if it is absent. */
struct sk_value *sk_node_input(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t number);
struct sk_value *sk_node_output(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t number);

/* Return the node's name, or else the name of its first output. */
const char *sk_node_name(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* True if the node computes something when the network runs: no pass has removed it, and its outputs have not all
 * become constants. */
bool sk_node_is_live(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* True if the node is of that operator: "Add", or "sklink:NotEqual" of the library's own domain. */
bool sk_node_is(const struct sk_graph_node *node, const char *op);

/* True if the node is of one of these operators. The list ends with NULL. */
bool sk_node_is_one_of(const struct sk_graph_node *node, const char *const *ops);

/* True if the node has two operands that can be swapped without changing a bit of the result. */
bool sk_node_is_commutative(const struct sk_graph_node *node);

/* True if the node is one of GE's: it may have attributes that mean nothing to its operator. */
bool sk_node_is_of_ge(const struct sk_graph_node *node);

/* True if both nodes are in the same scope and stream, so that they may become one. */
bool sk_node_same_scope(const struct sk_graph_node *a, const struct sk_graph_node *b);

/* Return the value that owns the bytes of this one; SK_NONE for SK_NONE. */
uint32_t sk_value_root(const struct sk_op_graph *graph, uint32_t value);

/* Return the elements before the value's first one in the bytes of its root. */
uint64_t sk_value_offset(const struct sk_op_graph *graph, uint32_t value);

/* Return the number of elements, or bytes, of a value of known shape. They do not overflow: that was an error when the
 * shape was set. */
uint64_t sk_value_elements(const struct sk_value *value);
uint64_t sk_value_bytes(const struct sk_value *value);

/* Return a text such as "[2, ?, 4]", with "?" for unknown dimensions. */
const char *sk_partial_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape);

/* The same for a value, with expressions for dimensions that depend on dimensions with bounds: "[batch, 64]". */
const char *sk_value_shape_text(struct sk_arena *arena, const struct sk_value *value);

/* True if the known dimensions, without those of 0, make at most 2^63 - 1 bytes. Plans count in the same way. */
bool sk_shape_is_countable(enum sk_dtype dtype, uint32_t rank, const uint64_t *shape);

/* True if the shape agrees with all that is known of the value. */
bool sk_value_admits(const struct sk_value *value, uint32_t rank, const uint64_t *shape);

/* True if dimension d of both values is the same at all sizes with bounds. */
bool sk_value_same_extent(const struct sk_value *one, const struct sk_value *other, uint32_t d);

/* True for f16, bf16, f32 and f64. */
bool sk_value_is_float(const struct sk_value *value);

/* True if the type and all dimensions are known. */
bool sk_value_is_static(const struct sk_value *value);

/* A size that a name or a text gives. */
enum sk_size_text {
	SK_SIZE_KNOWN,
	SK_SIZE_OPEN, /* it depends on a name without a size */
	SK_SIZE_MALFORMED, /* neither a name of a dimension nor an expression of such names */
	SK_SIZE_OUT_OF_RANGE, /* negative, beyond 63 bits, or a division by 0 or less */
};

/* Read a size: a name of dimensions of inputs, of any characters, or an expression of integers and such names, such as
 * "2*(past + seq)//3". *size is set if it is known. */
enum sk_size_text sk_size_read(struct sk_op_graph *graph, const char *text, uint64_t *size);

/* True if the name of a dimension is an expression of other names. */
bool sk_size_is_computed(struct sk_op_graph *graph, const char *name);

/* Give each open dimension of an input the size that its name has elsewhere, or that its name computes. False after
 * an error: a dimension has another size than its name computes. */
bool sk_sizes_settle(struct sk_op_graph *graph);

/* Add a dimension with bounds. All inputs' dimensions of its name have its largest size. */
void sk_sizes_bound(struct sk_op_graph *graph, const struct sk_size_dimension *dimension);

/* Set the sizes of dimensions of inputs with names that have bounds, or that compute with such names. False after an
 * error: a size shrinks where a dimension grows, or an input with such a size is a constant. */
bool sk_sizes_express(struct sk_op_graph *graph);

/* Report all inputs whose sizes are open, in one error with the options that would give the sizes. */
void sk_sizes_report_open(struct sk_op_graph *graph);

/* Return the elements of a value at the sizes that shapes have: of a constant, or of a value that varies with sizes.
 * NULL: they are not known. Only for demanded inputs: a call must not have them as constants. */
const void *sk_value_known(const struct sk_value *value);

/* Return the known elements of a value of integers or bools as 64-bit integers, in the arena. False if it is not such a
 * value, or has an element of u64 that is beyond them. */
bool sk_value_integers(struct sk_arena *arena, const struct sk_value *value, uint64_t *count, const int64_t **integers);

/* Return an element of any type as a number. */
double sk_element_number(enum sk_dtype dtype, const void *element);

/* Return a copy of the numbers as elements of f32 or f64. */
const void *sk_elements_of_reals(struct sk_arena *arena, enum sk_dtype dtype, uint64_t count, const double *reals);

/* Return the known element of a value of one element. False if the value is not such a value, or of half precision. */
bool sk_value_number(const struct sk_value *value, double *number);

/* True for a constant whose elements all have the bits of this number. For integers -0 is 0. */
bool sk_constant_is(const struct sk_value *value, double number);

/* Return the type for its number in files (TensorProto.DataType); NONE if there are no such tensors. */
enum sk_dtype sk_dtype_of_number(int64_t number);

/* Return an attribute by name, or the default if the node has none. An attribute of another kind counts as absent,
 * since the schema has been checked before. */
const struct sk_attribute *sk_node_attribute(const struct sk_graph_node *node, const char *name);
int64_t sk_node_integer(const struct sk_graph_node *node, const char *name, int64_t otherwise);
double sk_node_real(const struct sk_graph_node *node, const char *name, double otherwise);
const char *sk_node_string(const struct sk_graph_node *node, const char *name, const char *otherwise);
/* NULL and *count 0 if the node has none. */
const int64_t *sk_node_integers(const struct sk_graph_node *node, const char *name, size_t *count);

/* Return the note of that name, an attribute of the source that does not affect the result; NULL: none. */
const struct sk_attribute *sk_node_note(const struct sk_graph_node *node, const char *name);
int64_t sk_node_note_integer(const struct sk_graph_node *node, const char *name, int64_t otherwise);
void sk_node_set_note(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, int64_t integer);

/* Set the attribute; replace one of the same name. */
void sk_node_set_attribute(struct sk_op_graph *graph, struct sk_graph_node *node, struct sk_attribute attribute);
void sk_node_set_integer(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, int64_t integer);
void sk_node_remove_attribute(struct sk_graph_node *node, const char *name);

/* False with an error if the attribute is of another kind. */
bool sk_node_check_kind(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_attribute *given,
			enum sk_attribute_kind kind);

/* Remove the attribute, if the node has it. False with an error if it is of another kind. */
bool sk_node_drop_attribute(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name,
			    enum sk_attribute_kind kind);

/* Turn an attribute that is one integer into a list of it. */
void sk_node_make_list(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name);

/* Turn an attribute that is a list, as in older operator sets, into the next input, a constant. Nothing happens if the
 * node lacks it. */
void sk_node_take_integers(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name);

/* Report an error at the node, after the text "node '/layer.3/MatMul' (MatMul): ". Several equal errors of one
 * operator's nodes are reported once. True if this is the first. */
bool sk_node_error(struct sk_op_graph *graph, const struct sk_graph_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ==== caches.c ====
 *
 * Caches: tensors of states that grow. Their rows stay in place, so the distance between two of them is a constant. */

struct sk_canonical;

/* A cache as [outer, capacity, inner]: `outer` times rows of `inner` elements. */
struct sk_cache {
	uint32_t value;
	uint64_t outer, capacity, inner;
	bool single; /* outer is 1 at all sizes: the first rows are contiguous */
};

/* Return the cache of a state that grows. */
struct sk_cache sk_cache_of_state(const struct sk_op_graph *graph, const struct sk_graph_state *state);

/* True if the elements of the value are the first rows of a cache; then *cache is set. They are then also those of the
 * value itself, which has bytes of its own. */
bool sk_cache_find(const struct sk_op_graph *graph, uint32_t value, struct sk_cache *cache);

/* Copy all elements of a value, [outer, rows, inner], to the rows of the cache from `begin` on. */
void sk_cache_write(struct sk_canonical *canonical, const struct sk_cache *cache, uint64_t begin, uint32_t from);

/* Copy the first rows of the cache to a value with that number of rows. */
void sk_cache_read(struct sk_canonical *canonical, const struct sk_cache *cache, uint32_t to);

/* ==== canonical.c ====
 *
 * Canonical calls: the form of nodes before kernels are chosen. Operators have many ways to express one computation;
 * kernels have few forms. */

/* A value, or a part of it, with the shape that a kernel sees. */
struct sk_operand {
	uint32_t value; /* SK_NONE: absent */
	enum sk_dtype dtype; /* as the kernel sees it: of the same size as the value's */
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t offset; /* elements from the value's start */
	uint64_t stride; /* distance between rows (the last dimension) in elements; 0: no gaps */
};

struct sk_graph_call {
	uint32_t node;
	const char *op;
	SK_ARRAY(struct sk_attribute) attributes; /* those that are not implied by the op */
	SK_ARRAY(struct sk_operand) inputs, outputs;
	const struct sk_exchange *exchange; /* of ranks, that the call stands for; NULL: it computes */
	bool once; /* runs once for each instance of the package */
};

typedef SK_ARRAY(struct sk_graph_call) sk_graph_calls;

/* An attribute of an operator, in the newest operator set. */
struct sk_schema_attribute {
	const char *name;
	enum sk_attribute_kind kind;
	bool required;
	/* The default, for an INTEGER, a REAL, a STRING. */
	int64_t integer;
	double real;
	const char *string;
};

/* A node that is turned into calls. All of its values are static. */
struct sk_canonical {
	struct sk_op_graph *graph; /* gets the intermediate values */
	uint32_t node; /* an index, since nodes move when the graph grows */
	sk_graph_calls *calls;
	const struct sk_schema_attribute *attributes; /* of its schema; NULL: there are none */
};

/* Return the index of the node's input or output of that number; SK_NONE: absent. */
uint32_t sk_canonical_input(const struct sk_canonical *canonical, size_t number);
uint32_t sk_canonical_output(const struct sk_canonical *canonical, size_t number);

/* Return an output that kernels always write. If it is absent, add a value for it, of that type and of the shape of
 * `like`. */
uint32_t sk_canonical_made(struct sk_canonical *canonical, size_t number, enum sk_dtype dtype, uint32_t like);

/* Report an error at the node; return false. */
bool sk_canonical_error(const struct sk_canonical *canonical, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- operands ---- */

/* Return the value as [n], a view that every value has, or in a shape with the same number of elements. SK_NONE becomes
 * an absent operand. */
struct sk_operand sk_operand_flat(const struct sk_op_graph *graph, uint32_t value);
struct sk_operand sk_operand_shaped(const struct sk_op_graph *graph, uint32_t value, uint32_t rank,
				    const uint64_t *shape);

/* Return the value as [outer, axis, inner]. */
struct sk_operand sk_operand_axis(const struct sk_op_graph *graph, uint32_t value, uint32_t axis);

uint64_t sk_operand_elements(const struct sk_operand *operand);

/* Return the operand as kernels that only move elements see it: unsigned integers of the same size. */
struct sk_operand sk_operand_moved(struct sk_operand operand);

/* ---- calls ---- */

/* Add a call of the op. The pointer is valid until the next call is added. */
struct sk_graph_call *sk_canonical_call(struct sk_canonical *canonical, const char *op);

void sk_call_input(const struct sk_canonical *canonical, struct sk_graph_call *call, struct sk_operand operand);
void sk_call_output(const struct sk_canonical *canonical, struct sk_graph_call *call, struct sk_operand operand);
void sk_call_integer(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		     int64_t integer);
void sk_call_word(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, const char *word);
void sk_call_integers(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		      const int64_t *integers, size_t count);

/* Set a list for a kernel with loops over dimensions: `rank` items, then `rest` up to the most dimensions that a tensor
 * can have. */
void sk_call_padded(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, uint32_t rank,
		    const int64_t *items, int64_t rest);

/* Set the form `strided` and its dimensions. */
void sk_call_strided(const struct sk_canonical *canonical, struct sk_graph_call *call, uint32_t rank,
		     const uint64_t *shape);
void sk_call_real(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name, double real);
void sk_call_reals(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
		   const double *reals, size_t count);

/* Copy the attributes of the node to the call. Numbers, which kernels take as values, are always copied; integers and
 * texts, by which kernels are chosen, only if they differ from the schema's default. */
void sk_call_attributes(const struct sk_canonical *canonical, struct sk_graph_call *call);

/* ---- forms of many operators ---- */

/* Make the value a view of the other one's bytes in another shape, `offset` elements from its start. No call is added,
 * or a copy where both need bytes of their own: an output that would be a view of an input, a constant or another
 * output. */
void sk_canonical_view(struct sk_canonical *canonical, uint32_t value, uint32_t of, uint64_t offset);

/* A mapping of elements to their sources: element [i0, i1 …] of `shape` is the element of `from` at offset + i0 *
 * strides[0] + i1 * strides[1] … */
struct sk_arrangement {
	uint32_t rank; /* before dimensions are merged this may exceed the most dimensions of a tensor */
	uint64_t shape[2 * SK_MAX_RANK];
	int64_t strides[2 * SK_MAX_RANK];
	int64_t offset;
	bool apart; /* the result gets bytes of its own, even where a view would do */
	uint32_t parts; /* bit i: dimension i is a part of the source's at other sizes with bounds, if not here */
};

/* Return the arrangement that permutes the axes of a shape without gaps. */
struct sk_arrangement sk_arrangement_of_axes(uint32_t rank, const uint64_t *shape, const uint32_t *order);

/* Arrange elements of the value `from` into the operand, which has no gaps or is rows. This becomes a view, a flat
 * copy, a transposition or a strided copy, whichever is the simplest. False after an error. */
bool sk_canonical_arrange(struct sk_canonical *canonical, struct sk_operand to, uint32_t from,
			  const struct sk_arrangement *arrangement);

/* Gather rows of `width` elements by their indices, from any number of matrices of k rows each. */
bool sk_canonical_gather(struct sk_canonical *canonical, uint32_t to, uint32_t from, uint32_t indices, uint64_t k,
			 uint64_t width);

/* Compute the strides of a value without gaps, in elements. */
void sk_dense_strides(uint32_t rank, const uint64_t *shape, int64_t *strides);

/* Add a call for an operator with one input and one output of one shape: both as [n] elements. */
bool sk_canonical_elementwise(struct sk_canonical *canonical, const char *op);

/* Add a call of the op on two values that are broadcast to the output's shape, in the simplest form. If the op is
 * commutative, the operands may be swapped. */
bool sk_canonical_binary(struct sk_canonical *canonical, const char *op, uint32_t a, uint32_t b, uint32_t to,
			 bool commutative);

/* Add a call on any number of values that are broadcast, in the form `same` or `strided`. */
bool sk_canonical_broadcast(struct sk_canonical *canonical, const char *op, const uint32_t *values, size_t count,
			    uint32_t to);

/* Return the value in another type: itself, or the result of a call. */
uint32_t sk_canonical_cast(struct sk_canonical *canonical, uint32_t value, enum sk_dtype dtype);

/* Convert all elements of a value to another value of its shape and of another type. */
void sk_canonical_store(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* Return the type that kernels compute in: f32 for f16 and bf16. */
enum sk_dtype sk_computed_dtype(enum sk_dtype dtype);

/* Return the value broadcast to the shape: itself, or a copy. SK_NONE for SK_NONE. */
uint32_t sk_canonical_spread(struct sk_canonical *canonical, uint32_t value, uint32_t rank, const uint64_t *shape);

/* Return a constant of one element: the number, rounded to the type. */
uint32_t sk_canonical_number(struct sk_canonical *canonical, enum sk_dtype dtype, double number);

/* Fill the value with the number. */
bool sk_canonical_fill(struct sk_canonical *canonical, uint32_t to, double number);

/* Copy all elements of a value to another one of its type and size. */
void sk_canonical_copy(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* ==== formats.c ====
 *
 * Storage formats of tensors in the memory of NPUs, by GE's names: ND, NCHW and other orders of axes, NC1HWC0,
 * NDC1HWC0, FRACTAL_NZ, FRACTAL_Z. A tensor has the axes of its origin; its stored shape may have others, and blocks of
 * axes. The last block of an axis may have padding. */

enum { SK_MAX_FORMAT_PARTS = SK_MAX_RANK + 2 };

/* A dimension in the order of storage. One step along it is `step` elements along the axis. An axis is one part, or
 * two: its blocks, and the elements of a block. */
struct sk_format_part {
	uint32_t axis; /* of the origin */
	uint64_t size, step;
};

struct sk_stored_form {
	/* Given: the format's name, the name of the origin's axes (ND: axes without names), the two shapes. */
	const char *format, *origin;
	uint32_t origin_rank, rank;
	uint64_t origin_shape[SK_MAX_RANK], shape[SK_MAX_RANK];
	/* Found: the parts, outermost first. */
	uint32_t count;
	uint32_t merged; /* so many of the first parts are dimension 0 of the stored shape; 0: one */
	struct sk_format_part parts[SK_MAX_FORMAT_PARTS];
};

/* Find the parts. False: the format is unknown, or the stored shape is not that of such a tensor. */
bool sk_format_read(struct sk_stored_form *form);

/* Return the elements along an axis with those of padding. */
uint64_t sk_format_padded(const struct sk_stored_form *form, uint32_t axis);

/* Return a text such as "FRACTAL_NZ [4, 2, 16, 16] of ND [32, 64]". */
const char *sk_format_text(struct sk_arena *arena, const struct sk_stored_form *form);

/* True if each dimension of the stored shape is an axis, in any order, as in ND, NCHW and NHWC. */
bool sk_format_is_plain(const char *format);

/* True if the name gives each of so many axes a letter. ND, CN and NC do not. */
bool sk_format_has_names(const char *format, size_t rank);

/* Find the axis of `to` that is this axis of `from`; both are names of origins. False: there is none. */
bool sk_format_axis(const char *from, const char *to, uint32_t rank, uint32_t axis, uint32_t *found);

/* ==== infer.c ====
 *
 * Shape and type inference of one node, by the operators' schemas. */

/* One node whose output types and shapes are to be inferred. Its inputs are static. Inputs whose elements the schema
 * demands are constants or absent. */
struct sk_inference {
	struct sk_op_graph *graph;
	struct sk_graph_node *node;
};

/* Return the input of that number; NULL: absent. */
const struct sk_value *sk_infer_input(const struct sk_inference *inference, size_t number);

/* Set the type and shape of an output; nothing happens if it is unused. Warn if the file declares another shape. False
 * after an error: too many elements, or the file declares another type. */
bool sk_infer_output(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
		     const uint64_t *shape);

/* True if two inputs are of one type, or the second is absent; otherwise false with an error. */
bool sk_infer_same_types(const struct sk_inference *inference, size_t a, size_t b);

/* True if all inputs are of one type; otherwise false with an error. */
bool sk_infer_one_type(const struct sk_inference *inference);

/* Set the type and shape of an output to those of the input. */
bool sk_infer_like(const struct sk_inference *inference, size_t output, size_t input);

/* Broadcast two shapes to one another, as numpy does it; the result replaces the first. False after an error. */
bool sk_infer_broadcast(const struct sk_inference *inference, uint32_t *rank, uint64_t *shape, uint32_t other_rank,
			const uint64_t *other);

/* Set output 0 to this type, and to the common shape of the inputs that are present. */
bool sk_infer_common_shape(const struct sk_inference *inference, enum sk_dtype dtype);

/* Turn an axis from -rank to rank - 1 into one counted from the front; false after an error. */
bool sk_infer_axis(const struct sk_inference *inference, int64_t axis, uint32_t rank, uint32_t *counted);

/* Read an attribute that is an order of `rank` axes. Without it the order is unchanged. False after an error. */
bool sk_infer_order(const struct sk_inference *inference, const char *name, uint32_t rank, uint32_t *order);

/* Return the elements of a demanded input of integers; the list is NULL and *count 0 if the input is absent. False
 * after an error. */
bool sk_infer_integers(const struct sk_inference *inference, size_t number, uint64_t *count, const int64_t **integers);

/* Return the one integer of a demanded input; `otherwise` if the input is absent. False after an error. */
bool sk_infer_integer(const struct sk_inference *inference, size_t number, int64_t otherwise, int64_t *integer);

/* Set an output that is a constant as soon as shapes are known (Shape, Size, Constant), with a copy of the elements. */
bool sk_infer_constant(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
		       const uint64_t *shape, const void *elements);

/* Report an error at the node; return false. */
bool sk_infer_error(const struct sk_inference *inference, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ==== needed.c ====
 *
 * The nodes that outputs need. */

/* Return, by value, whether a node reads it, also in a body, or it is an output or a state. In the graph's arena. The
 * branch that an If with a constant condition does not take reads nothing. */
bool *sk_graph_find_used(const struct sk_op_graph *graph);

/* Remove the nodes that no output needs. Those that are left keep their order. */
void sk_graph_drop_unneeded(struct sk_op_graph *graph);

/* ==== narrow.c ====
 *
 * Constants of types that only files have: integers of 2 and 4 bits, and floats of 4 and 8 bits. Their numbers are i8,
 * u8 or f32. Nodes that read the numbers may use such a constant. */

/* True for the number of such a type in files. Then the value's type is set. */
bool sk_narrow_take(int64_t element, struct sk_value *value);

/* Return the name of a constant's type in files. */
const char *sk_narrow_name(const struct sk_value *value);

/* Return the bits of an element in the file; 0: sklink has the type. */
unsigned sk_narrow_bits(const struct sk_value *value);

/* Return the number of bytes of so many packed elements. */
uint64_t sk_narrow_bytes(const struct sk_value *value, uint64_t elements);

/* Return the bits of one of the packed elements. */
unsigned sk_narrow_code(const void *packed, unsigned bits, uint64_t index);

/* Replace packed contents by the numbers, of the value's dtype. */
void sk_narrow_widen(struct sk_arena *arena, struct sk_value *value);

/* ==== uses.c ====
 *
 * The uses of values in a graph, and nodes by the set that they belong to, as of the time of the call. */

/* Count by value how often the nodes that are left have it as an input. */
const uint32_t *sk_graph_count_uses(const struct sk_op_graph *graph);

/* An input of a node, by its number. */
struct sk_use {
	uint32_t node, input;
};

/* Uses by value: those of value v are items[starts[v]] up to items[starts[v + 1]], in the order of the graph. */
struct sk_uses {
	const uint32_t *starts;
	const struct sk_use *items;
};

/* Return the uses by the nodes that are left. */
struct sk_uses sk_graph_uses(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Nodes by set: those of set n are nodes[starts[n]] up to nodes[starts[n + 1]], in the order of the graph. */
struct sk_node_lists {
	const uint32_t *starts, *nodes;
};

/* Sort the live nodes by their set, a number below `count`; SK_NONE: none. */
struct sk_node_lists sk_graph_sort_nodes(struct sk_arena *arena, const struct sk_op_graph *graph,
					 const uint32_t *numbers, size_t count);

/* Sort the live nodes by composite. */
struct sk_node_lists sk_graph_members(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Mark by value whether it is an output of the network, or read outside of the composite that computes it. */
bool *sk_graph_mark_results(struct sk_arena *arena, const struct sk_op_graph *graph);

#endif
