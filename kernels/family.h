/* family.h: included by every source of the kernel library.
 *
 * A source holds a family of kernels. Its opening comment lists them in lines such as
 *
 *	variants: OP=Add,Mul TYPE=floats FORM=same,row ISA=base,v3
 *
 * each a product of its keys. kernels/variants.awk compiles the source once for each element of the product, into an
 * object with one exported function. In the source, KERNEL is the name of that function, `sk` and the values in lower
 * case, joined by underlines (ISA=base is left out), and each key is a macro with its value. Named sets of values
 * (floats, integers ...) are in kernels/variants.awk.
 *
 * To add kernels, extend a line; to add an operator, write its function and a line; to add a family, write a source and
 * name it in kernels/local.mk. Elementwise operators have a row in doc/reference/operators.md, and another with a plain
 * reference in tests/kernels/library-elementwise.c; tests/kernels/library.sh finds those without one.
 *
 * Kernels import nothing, keep no state and return the same bytes on every machine: no contraction to fused
 * multiply-adds, no reassociation, the same operations in the same order at every level of the instruction set.
 * Products and operators built on them (product.h: MatMul, Conv, MatMulNBits, Attention) are the exception: they use
 * fused multiply-adds if the level has them, and their sums along rows have as many parts as a vector has numbers, so
 * their results differ between levels. */
#ifndef SK_KERNELS_FAMILY_H
#define SK_KERNELS_FAMILY_H

#include "format/skkernel.h"

#include <stdint.h>

/* ---- words made of macros ---- */

#define JOIN_WORDS(a, b) a##b
#define JOIN(a, b)	 JOIN_WORDS(a, b)
#define TEXT_OF(word)	 #word
#define TEXT(word)	 TEXT_OF(word)

/* SK_KERNEL for the kernel being compiled: `attributes` and `parameters` are string literals. */
#define SIGNATURE_OF(name, signature)	  SK_KERNEL(name, signature)
#define SIGNATURE(attributes, parameters) SIGNATURE_OF(KERNEL, attributes JOIN(ISA_, ISA) "; " parameters)
#define ISA_base			  ""
#define ISA_v3				  " isa=x86-64-v3"
#define ISA_v4				  " isa=x86-64-v4"

/* Placed before a loop with independent iterations. Without it compilers add checks whether arrays overlap, and would
 * compute in place (y@x) without vectors. (`restrict` would promise too much in place.) */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* ---- element types: stored and computation types ---- */

#define STORED_bool  uint8_t
#define STORED_i8    int8_t
#define STORED_i16   int16_t
#define STORED_i32   int32_t
#define STORED_i64   int64_t
#define STORED_u8    uint8_t
#define STORED_u16   uint16_t
#define STORED_u32   uint32_t
#define STORED_u64   uint64_t
#define STORED_f16   uint16_t
#define STORED_bf16  uint16_t
#define STORED_f32   float
#define STORED_f64   double
#define STORED(type) JOIN(STORED_, type)

#define COMPUTED_bool  uint8_t
#define COMPUTED_i8    int8_t
#define COMPUTED_i16   int16_t
#define COMPUTED_i32   int32_t
#define COMPUTED_i64   int64_t
#define COMPUTED_u8    uint8_t
#define COMPUTED_u16   uint16_t
#define COMPUTED_u32   uint32_t
#define COMPUTED_u64   uint64_t
#define COMPUTED_f16   float
#define COMPUTED_bf16  float
#define COMPUTED_f32   float
#define COMPUTED_f64   double
#define COMPUTED(type) JOIN(COMPUTED_, type)

/* Also for #if: properties of a type, and its bytes. */

#define IS_FLOAT_bool  0
#define IS_FLOAT_i8    0
#define IS_FLOAT_i16   0
#define IS_FLOAT_i32   0
#define IS_FLOAT_i64   0
#define IS_FLOAT_u8    0
#define IS_FLOAT_u16   0
#define IS_FLOAT_u32   0
#define IS_FLOAT_u64   0
#define IS_FLOAT_f16   1
#define IS_FLOAT_bf16  1
#define IS_FLOAT_f32   1
#define IS_FLOAT_f64   1
#define IS_FLOAT(type) JOIN(IS_FLOAT_, type)

#define IS_SIGNED_bool	0
#define IS_SIGNED_i8	1
#define IS_SIGNED_i16	1
#define IS_SIGNED_i32	1
#define IS_SIGNED_i64	1
#define IS_SIGNED_u8	0
#define IS_SIGNED_u16	0
#define IS_SIGNED_u32	0
#define IS_SIGNED_u64	0
#define IS_SIGNED_f16	0
#define IS_SIGNED_bf16	0
#define IS_SIGNED_f32	0
#define IS_SIGNED_f64	0
#define IS_SIGNED(type) JOIN(IS_SIGNED_, type)

#define IS_BOOL_bool  1
#define IS_BOOL(type) JOIN(IS_BOOL_, type)

#define SIZE_bool  1
#define SIZE_i8	   1
#define SIZE_i16   2
#define SIZE_i32   4
#define SIZE_i64   8
#define SIZE_u8	   1
#define SIZE_u16   2
#define SIZE_u32   4
#define SIZE_u64   8
#define SIZE_f16   2
#define SIZE_bf16  2
#define SIZE_f32   4
#define SIZE_f64   8
#define SIZE(type) JOIN(SIZE_, type)

/* The least and the greatest number of a type; infinities for floats. */

#define SMALLEST_bool  0
#define LARGEST_bool   1
#define SMALLEST_i8    INT8_MIN
#define LARGEST_i8     INT8_MAX
#define SMALLEST_i16   INT16_MIN
#define LARGEST_i16    INT16_MAX
#define SMALLEST_i32   INT32_MIN
#define LARGEST_i32    INT32_MAX
#define SMALLEST_i64   INT64_MIN
#define LARGEST_i64    INT64_MAX
#define SMALLEST_u8    0
#define LARGEST_u8     UINT8_MAX
#define SMALLEST_u16   0
#define LARGEST_u16    UINT16_MAX
#define SMALLEST_u32   0
#define LARGEST_u32    UINT32_MAX
#define SMALLEST_u64   0
#define LARGEST_u64    UINT64_MAX
#define SMALLEST_f16   -__builtin_inff()
#define LARGEST_f16    __builtin_inff()
#define SMALLEST_bf16  -__builtin_inff()
#define LARGEST_bf16   __builtin_inff()
#define SMALLEST_f32   -__builtin_inff()
#define LARGEST_f32    __builtin_inff()
#define SMALLEST_f64   -__builtin_inf()
#define LARGEST_f64    __builtin_inf()
#define SMALLEST(type) JOIN(SMALLEST_, type)
#define LARGEST(type)  JOIN(LARGEST_, type)

/* ---- bits ---- */

static inline uint32_t bits_f32(float x)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float from_bits_f32(uint32_t bits)
{
	float x;

	__builtin_memcpy(&x, &bits, sizeof x);
	return x;
}

static inline uint64_t bits_f64(double x)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline double from_bits_f64(uint64_t bits)
{
	double x;

	__builtin_memcpy(&x, &bits, sizeof x);
	return x;
}

/* ---- conversion from the stored to the computation type, and back ---- */

/* Both conversions are without branches, so that loops vectorize. NaNs stay NaNs, with their sign and their upper
 * bits. */
static inline float load_f16(uint16_t x)
{
	uint32_t magnitude = (x & 0x7fffu) << 13, sign = (uint32_t)(x & 0x8000u) << 16;
	/* Read as an f32, these bits are 2^-112 times the number, denormal ones included; infinities and NaNs need the
	 * largest exponent. */
	uint32_t scaled = bits_f32(from_bits_f32(magnitude) * 0x1p112f);

	return from_bits_f32(scaled | sign | (magnitude >= 0x0f800000u ? 0x7f800000u : 0));
}

/* To the nearest, ties to even. */
static inline uint16_t store_f16(float x)
{
	uint32_t bits = bits_f32(x), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
	uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
	/* Adding 0.5 leaves the denormal number, rounded by the processor, in the last bits. */
	uint32_t denormal = bits_f32(from_bits_f32(magnitude) + 0.5f) - (126u << 23);
	uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : 0x7c00u;
	uint32_t result = magnitude >= 0x477ff000u ? special : magnitude < 0x38800000u ? denormal : normal;

	return (uint16_t)(result | sign);
}

static inline float load_bf16(uint16_t x)
{
	return from_bits_f32((uint32_t)x << 16);
}

/* To the nearest, ties to even. */
static inline uint16_t store_bf16(float x)
{
	uint32_t bits = bits_f32(x);
	uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;

	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
}

#define LOAD_bool(x)  (x)
#define LOAD_i8(x)    (x)
#define LOAD_i16(x)   (x)
#define LOAD_i32(x)   (x)
#define LOAD_i64(x)   (x)
#define LOAD_u8(x)    (x)
#define LOAD_u16(x)   (x)
#define LOAD_u32(x)   (x)
#define LOAD_u64(x)   (x)
#define LOAD_f16(x)   load_f16(x)
#define LOAD_bf16(x)  load_bf16(x)
#define LOAD_f32(x)   (x)
#define LOAD_f64(x)   (x)
#define STORE_bool(x) (x)
#define STORE_i8(x)   (x)
#define STORE_i16(x)  (x)
#define STORE_i32(x)  (x)
#define STORE_i64(x)  (x)
#define STORE_u8(x)   (x)
#define STORE_u16(x)  (x)
#define STORE_u32(x)  (x)
#define STORE_u64(x)  (x)
#define STORE_f16(x)  store_f16(x)
#define STORE_bf16(x) store_bf16(x)
#define STORE_f32(x)  (x)
#define STORE_f64(x)  (x)

/* LOAD(TYPE, x): the number of the element x; STORE(TYPE, x): the element that is nearest to the number x. */
#define LOAD(type, x)  JOIN(LOAD_, type)(x)
#define STORE(type, x) JOIN(STORE_, type)(x)

/* ---- strided operands ---- */

enum { MAXIMUM_RANK = 8 };

/* A walk over the elements of a tensor with the dimensions `dims`, outermost first, in their order, for operands with
 * other strides. It goes in runs along the last dimension. */
struct walk {
	int64_t rank;
	const int64_t *dims;
	int64_t index[MAXIMUM_RANK]; /* of the next element */
};

/* Begin with element `first`. For a tensor without elements, `first` is 0, and nothing is divided by 0. */
static inline void walk_begin(struct walk *walk, int64_t rank, const int64_t *dims, int64_t first)
{
	walk->rank = rank;
	walk->dims = dims;
	for (int64_t d = rank - 1; d >= 0; d--) {
		walk->index[d] = first ? first % dims[d] : 0;
		first = first ? first / dims[d] : 0;
	}
}

/* Return how many elements, `limit` at most, follow each other along the last dimension. */
static inline int64_t walk_run(const struct walk *walk, int64_t limit)
{
	int64_t run = walk->rank ? walk->dims[walk->rank - 1] - walk->index[walk->rank - 1] : 1;

	return run < limit ? run : limit;
}

/* Return the offset of the next element in an operand with these strides. */
static inline int64_t walk_place(const struct walk *walk, const int64_t *strides)
{
	int64_t place = 0;

	for (int64_t d = 0; d < walk->rank; d++)
		place += walk->index[d] * strides[d];
	return place;
}

/* Go on after a run. */
static inline void walk_on(struct walk *walk, int64_t run)
{
	int64_t d = walk->rank - 1;

	if (d < 0)
		return;
	walk->index[d] += run;
	for (; d > 0 && walk->index[d] == walk->dims[d]; d--) {
		walk->index[d] = 0;
		walk->index[d - 1]++;
	}
}

/* Return the step along the last dimension. */
static inline int64_t last_stride(int64_t rank, const int64_t *strides)
{
	return rank ? strides[rank - 1] : 0;
}

/* Define a function that returns elements of a type that are `stride` apart as adjacent ones: in place if they are, or
 * else copied to `chunk`. */
#define DEFINE_GATHERED(name, type)                                                                                    \
	static inline const type *name(const type *x, int64_t stride, type *chunk, int64_t n)                          \
	{                                                                                                              \
		if (stride == 1)                                                                                       \
			return x;                                                                                      \
		INDEPENDENT                                                                                            \
		for (int64_t i = 0; i < n; i++)                                                                        \
			chunk[i] = x[i * stride];                                                                      \
		return chunk;                                                                                          \
	}

/* The element type that is the computation type of floats. */
#define COMPUTED_TYPE_f16   f32
#define COMPUTED_TYPE_bf16  f32
#define COMPUTED_TYPE_f32   f32
#define COMPUTED_TYPE_f64   f64
#define COMPUTED_TYPE(type) JOIN(COMPUTED_TYPE_, type)

#endif
