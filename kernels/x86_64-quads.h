/* x86_64-quads.h: for processors that multiply four unsigned bytes by four signed ones and add all four products: makes
 * the core of product.h multiply and add quads of 8 bits instead of pairs of 16. Included before it. */
#ifndef SK_KERNELS_X86_64_QUADS_H
#define SK_KERNELS_X86_64_QUADS_H

#include "kernels/x86_64-vectors.h"

#define ISA_vnni   " isa=x86-64-v4+avx512vnni"
#define ADDS_PAIRS /* of quads */
#undef ADD_PAIRS
#define ADD_PAIRS(a, b, c) ((vector)_mm512_dpbusd_epi32((__m512i)(c), (__m512i)(a), (__m512i)(b)))

#endif
