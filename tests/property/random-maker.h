/* Shared by the drawing of single nodes (random-graph.c) and of whole patterns (random-pieces.c). */
#ifndef SK_TESTS_RANDOM_MAKER_H
#define SK_TESTS_RANDOM_MAKER_H

#include "tests/property/random-graph.h"

#define SET(dtype) (1u << (dtype))
#define FLOATS	   (SET(SK_F32) | SET(SK_F64) | SET(SK_F16) | SET(SK_BF16))
#define WIDE	   (SET(SK_I32) | SET(SK_I64) | SET(SK_U32) | SET(SK_U64))
#define SIGNED	   (SET(SK_I8) | SET(SK_I16) | SET(SK_I32) | SET(SK_I64))
#define UNSIGNED   (SET(SK_U8) | SET(SK_U16) | SET(SK_U32) | SET(SK_U64))
#define NUMBERS	   (FLOATS | SIGNED | UNSIGNED)
#define BOOL	   SET(SK_BOOL)
#define ALL	   (NUMBERS | BOOL)

struct known_operator;

struct maker {
	struct graph *graph;
	uint64_t random;
	const struct known_operator *drawn;
	uint32_t first; /* value of the part */
	bool parts; /* most nodes split or join, along the first axis above all */
	bool sizes; /* most pieces compute sizes, and all lists are computed */
};

uint32_t draw(struct maker *maker, uint32_t limit);
bool one_in(struct maker *maker, uint32_t count);

int64_t count_of(uint32_t rank, const int64_t *shape);
enum sk_dtype draw_dtype(struct maker *maker, uint32_t dtypes);
const struct graph_value *value_of(const struct maker *maker, uint32_t index);
/* Compute the shape that both shapes are broadcast to, and return its rank; -1: they cannot be. */
int64_t broadcast(const struct graph_value *a, const struct graph_value *b, int64_t *shape);
uint32_t add_value(struct maker *maker, enum graph_kind kind, enum sk_dtype dtype, uint32_t rank, const int64_t *shape);
uint32_t add_list(struct maker *maker, int64_t count, const int64_t *list);
/* Any number of the type. */
number draw_any(struct maker *maker, enum sk_dtype dtype);
/* Elements of all sizes. */
void make_any(struct maker *maker, struct graph_value *value);
/* Round the elements to the type. */
void settle(struct graph_value *value);
/* Return a value of one of the types with so many dimensions: an existing one, rather a late one, or a new one. */
uint32_t pick(struct maker *maker, uint32_t dtypes, uint32_t least_rank, uint32_t most_rank);

uint32_t add_input(struct maker *maker, struct graph_node *node, uint32_t index);
/* False: it would be too large. */
bool add_output(struct maker *maker, struct graph_node *node, enum sk_dtype dtype, uint32_t rank, const int64_t *shape);
/* To the attributes of a node. */
void say(struct graph_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_list(struct graph_node *node, const char *name, int64_t count, const int64_t *list);
/* An attribute that has become an input in later operator sets. */
void say_or_add(struct maker *maker, struct graph_node *node, uint32_t input_since, const char *name, int64_t count,
		const int64_t *list);

/* Add the nodes of a pattern that fusion looks for, or of one that only looks like it. */
void add_piece(struct maker *maker);
enum { PIECE_NODES = 24 }; /* at most */

/* Compute constant lists and numbers of the node that was added last by nodes before it, as far as values of the part
 * have such sizes. */
void compute_lists(struct maker *maker);
/* A piece: a dimension of x is computed for several purposes. */
uint32_t add_sizes(struct maker *maker, uint32_t x);

#endif
