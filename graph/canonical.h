/* Canonical calls: what nodes become before kernels are chosen. An operator has many ways to say the same; kernels have
 * few forms. */
#ifndef SK_CANONICAL_H
#define SK_CANONICAL_H

#include "graph/graph.h"

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

#endif
