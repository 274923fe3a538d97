/* The families of operators. Each table ends with a schema without an op. */
#ifndef SK_FAMILIES_H
#define SK_FAMILIES_H

#include "graph/operators/schema.h"

extern const struct sk_schema sk_operators_attention[];
extern const struct sk_schema sk_operators_axes[];
extern const struct sk_schema sk_operators_bodies[];
extern const struct sk_schema sk_operators_collectives[];
extern const struct sk_schema sk_operators_columns[];
extern const struct sk_schema sk_operators_composites[];
extern const struct sk_schema sk_operators_einsum[];
extern const struct sk_schema sk_operators_elementwise[];
extern const struct sk_schema sk_operators_fourier[];
extern const struct sk_schema sk_operators_fused_normal[];
extern const struct sk_schema sk_operators_fused_products[];
extern const struct sk_schema sk_operators_gradients[];
extern const struct sk_schema sk_operators_indexing[];
extern const struct sk_schema sk_operators_kernels[]; /* of all names */
extern const struct sk_schema sk_operators_losses[];
extern const struct sk_schema sk_operators_microsoft[];
extern const struct sk_schema sk_operators_moves[];
extern const struct sk_schema sk_operators_normal[];
extern const struct sk_schema sk_operators_optimisers[];
extern const struct sk_schema sk_operators_pads[];
extern const struct sk_schema sk_operators_primitives[];
extern const struct sk_schema sk_operators_products[];
extern const struct sk_schema sk_operators_quantised[];
extern const struct sk_schema sk_operators_quantised_products[];
extern const struct sk_schema sk_operators_random[];
extern const struct sk_schema sk_operators_recurrent[];
extern const struct sk_schema sk_operators_resize[];
extern const struct sk_schema sk_operators_sampling[];
extern const struct sk_schema sk_operators_sequences[];
extern const struct sk_schema sk_operators_shapes[];
extern const struct sk_schema sk_operators_signals[];
extern const struct sk_schema sk_operators_training[];
extern const struct sk_schema sk_operators_transposed[];
extern const struct sk_schema sk_operators_windows[];

/* One value becomes another: bit i of the set says that axis i is reduced. */
bool sk_canonical_reduce(struct sk_canonical *canonical, const char *op, uint32_t from, uint32_t to, uint32_t set);

/* One value is repeated until it has the shape of the other one. */
bool sk_canonical_expand(struct sk_canonical *canonical, uint32_t to, uint32_t from);

/* A factor [k, n], or [n, k] if it is turned, as PackMatMulB makes it: panels [(n + 15) / 16, k, 16] (f64: of 8) in the
 * order in which products read it. */
uint32_t sk_canonical_pack(struct sk_canonical *canonical, uint32_t b, uint64_t k, uint64_t n, bool turned);

/* to = a b, of so many matrices [m, k] and [k, n], one behind the other. */
void sk_canonical_product(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint32_t to, uint64_t batches,
			  uint64_t m, uint64_t k, uint64_t n);

/* Products of matrices of bytes: of so many batches, of dimensions `shape`, which factors may be broadcast to. */
struct sk_integer_product {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t batches, m, k, n;
};

/* sums, of i32, = (a - az) (b - bz), of two factors and two zero points, which may be SK_NONE. */
bool sk_canonical_integer_product(struct sk_canonical *canonical, const struct sk_integer_product *product,
				  const uint32_t factors[2], const uint32_t zeros[2], uint32_t sums);

#endif
