/* epilogue.h: FusedMatMul's operations on the sums of its products while these are in the caches: a bias for each
 * column, an activation, and a matrix that is added. Values that separate calls would store in memory are also rounded
 * to the type here, so that results are the same bytes. */
#ifndef SK_KERNELS_EPILOGUE_H
#define SK_KERNELS_EPILOGUE_H

#include "kernels/product.h"

#include "kernels/activate.h"

/* Whether this operator has such operations. */
#define FUSES_MatMul	  0
#define FUSES_FusedMatMul 1
#define FUSES		  JOIN(FUSES_, OP)

struct epilogue {
	const element *bias, *addend; /* either may be NULL; rows of the addend are `columns` long */
	size_t columns;
	int64_t activation; /* graph/operators/fused-products.c has the same numbers */
};

enum { IDENTITY, RELU, GELU, GELU_TANH, SWISH };

#define ROUNDED(x) LOAD(TYPE, STORE(TYPE, x))

#define ACTIVATE(value)                                                                                                \
	INDEPENDENT                                                                                                    \
	for (size_t i = 0; i < count; i++)                                                                             \
		c[i] = ROUNDED(value);

/* Finish the sums of a row, from that column on. */
static ALWAYS_INLINE void finish_row(const void *context, number *c, size_t row, size_t column, size_t count)
{
	const struct epilogue *epilogue = context;
	const element *bias = epilogue->bias + column, *addend = epilogue->addend + row * epilogue->columns + column;

	if (CONVERTED)
		ACTIVATE(c[i])
	if (epilogue->bias)
		ACTIVATE(c[i] + LOAD(TYPE, bias[i]))
	if (epilogue->activation == RELU)
		ACTIVATE(relu(c[i]))
	else if (epilogue->activation == GELU)
		ACTIVATE(gelu(c[i]))
	else if (epilogue->activation == GELU_TANH)
		ACTIVATE(gelu_tanh(c[i]))
	else if (epilogue->activation == SWISH)
		ACTIVATE(swish(c[i], 1))
	if (epilogue->addend)
		ACTIVATE(c[i] + LOAD(TYPE, addend[i]))
}

#endif
