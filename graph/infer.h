/* Shape and type inference of one node, as the operators' schemas do it. */
#ifndef SK_INFER_H
#define SK_INFER_H

#include "graph/graph.h"

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

#endif
