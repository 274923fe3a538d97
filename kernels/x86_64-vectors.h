/* x86_64-vectors.h: the machine's part of products: vector lengths, tiles with sums that fill its registers, and the
 * multiply-add, which is fused if there is an instruction for it. */
#ifndef SK_KERNELS_X86_64_VECTORS_H
#define SK_KERNELS_X86_64_VECTORS_H

#if defined(__AVX512F__)
#include <immintrin.h>
#define VECTOR_BYTES   64
#define TILE_ROWS      8
#define TILE_VECTORS   3
#define FETCHED_ROWS   2 /* of a tile's result, at a time */
#define ROWS_STRIDE    8 /* numbers from one step of packed rows to the next */
#define FUSED(a, b, c) _Generic((number)0, float : _mm512_fmadd_ps, double : _mm512_fmadd_pd)(a, b, c)
#elif defined(__AVX2__)
#include <immintrin.h>
#define VECTOR_BYTES   32
#define TILE_ROWS      4
#define TILE_VECTORS   3
#define FETCHED_ROWS   4
#define ROWS_STRIDE    4
#define FUSED(a, b, c) _Generic((number)0, float : _mm256_fmadd_ps, double : _mm256_fmadd_pd)(a, b, c)
#else
#include <emmintrin.h>
#define VECTOR_BYTES   16
#define TILE_ROWS      4
#define TILE_VECTORS   2
#define FETCHED_ROWS   4
#define ROWS_STRIDE    4
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

/* Parts of vectors: their numbers [first, end) are loaded, the others are 0 and not touched. */
#if defined(__AVX512F__)
#define PART		    __mmask16
#define PART_OF(first, end) (PART)((1u << (end)) - (1u << (first)))
#define LOAD_PART(from, part)                                                                                          \
	_Generic((number)0, float : _mm512_maskz_loadu_ps, double : _mm512_maskz_loadu_pd)(part, from)
#elif defined(__AVX2__)
static const unsigned char part_bytes[96] = {[32 ... 63] = 0xff};
#define PART_BYTES(at)	      _mm256_loadu_si256((const __m256i_u *)(part_bytes + (at)))
#define PART		      __m256i
#define PART_OF(first, end)   (PART_BYTES(32 - (first) * sizeof(number)) & PART_BYTES(64 - (end) * sizeof(number)))
#define LOAD_PART(from, part) _Generic((number)0, float : _mm256_maskload_ps, double : _mm256_maskload_pd)(from, part)
#endif

/* Numbers that are pairs of 16 bits: both products are added. */
#if defined(__AVX512F__)
#define ADD_PAIRS(a, b, c) ((vector)_mm512_madd_epi16((__m512i)(a), (__m512i)(b)) + (c))
#elif defined(__AVX2__)
#define ADD_PAIRS(a, b, c) ((vector)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)) + (c))
#else
#define ADD_PAIRS(a, b, c) ((vector)_mm_madd_epi16((__m128i)(a), (__m128i)(b)) + (c))
#endif

/* As many bytes as a vector has 32-bit numbers, as integers of 32 bits. */
#if defined(__AVX512F__)
#define WIDENED_BYTES(from) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)(from)))
#elif defined(__AVX2__)
#define WIDENED_BYTES(from) _mm256_cvtepu8_epi32(_mm_loadu_si64(from))
#else
#define WIDENED_BYTES(from)                                                                                            \
	_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_loadu_si32(from), _mm_setzero_si128()), _mm_setzero_si128())
#endif

#if defined(__AVX2__)
#define FUSED_NUMBER(a, b, c) _Generic((number)0, float : __builtin_fmaf, double : __builtin_fma)(a, b, c)
#else
#define FUSED_NUMBER(a, b, c) ((a) * (b) + (c))
#endif

#endif
