/* The nodes and values that the patterns of random-pieces.c are made of. Each function adds one node, or one value, and
 * returns the value. Outputs of nodes are marked as inner values. Now and then one has another reader, is cast back and
 * forth, or has another constant, so that a part only looks like a pattern. */
#ifndef SK_TESTS_RANDOM_NODES_H
#define SK_TESTS_RANDOM_NODES_H

#include "tests/property/random-maker.h"

/* ---- nodes ---- */

/* Add a node like that one, with an output of the type and shape. */
uint32_t put(struct maker *maker, const struct graph_node *like, enum sk_dtype dtype, uint32_t rank,
	     const int64_t *shape);
uint32_t put_one(struct maker *maker, const char *op, uint32_t x);
/* Operands of commutative operators are in either order; now and then the result has another reader or is cast back and
 * forth. */
uint32_t put_two(struct maker *maker, const char *op, uint32_t a, uint32_t b);
uint32_t put_cast(struct maker *maker, uint32_t x, enum sk_dtype to);
/* Along the last dimension. */
uint32_t put_mean(struct maker *maker, uint32_t x);
uint32_t put_softmax(struct maker *maker, uint32_t x);
/* Exchange two dimensions. */
uint32_t put_transpose(struct maker *maker, uint32_t x, uint32_t one, uint32_t other);
/* Both operands have the same batches. */
uint32_t put_product(struct maker *maker, uint32_t a, uint32_t b);
uint32_t put_where(struct maker *maker, uint32_t condition, uint32_t a, uint32_t b, uint32_t like_value);
/* Two to four parts along an axis; their values follow one another. */
uint32_t put_split(struct maker *maker, uint32_t x, uint32_t axis, uint32_t count);
uint32_t put_concat(struct maker *maker, uint32_t axis, uint32_t count, const uint32_t *parts);

/* ---- values ---- */

/* Add one number, in any of the shapes that are broadcast to all; its error is the rounding to its type. */
uint32_t scalar(struct maker *maker, uint32_t like, number exact);
/* The same, or any number of the type. */
uint32_t factor(struct maker *maker, uint32_t like, number usual);
/* Elements are finite and not near infinity; some constants have all sizes. */
uint32_t fresh(struct maker *maker, enum graph_kind kind, enum sk_dtype dtype, uint32_t rank, const int64_t *shape);
/* A parameter of the last dimension. */
uint32_t parameter(struct maker *maker, uint32_t x);
/* An input of its type and shape. */
uint32_t alike(struct maker *maker, uint32_t x);
enum sk_dtype draw_type(struct maker *maker);
/* Draw an existing value, or a new one with a shape that layers have as input. */
uint32_t draw_input(struct maker *maker);

#endif
