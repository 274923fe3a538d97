/* skkernel.h: for people who write kernels. Freestanding C and C++; needs nothing but the compiler.
 *
 * A kernel is an ordinary C function. SK_KERNEL says how sklink has to call it:
 *
 *   void scale(const float *x, float *y, long n, float factor);
 *   SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
 *
 * The signature's grammar is in doc/manifest.md. The note costs nothing at run time: it goes into a section that is not
 * loaded. */
#ifndef SK_KERNEL_H
#define SK_KERNEL_H

#include <stdint.h>

/* Puts "symbol NUL signature NUL" into the non-allocated section .sk.kernels. Use at file scope, once per kernel;
 * symbol is the name that the linker sees (in C++ declare the kernel extern "C"). */
#define SK_KERNEL(symbol, signature)                                                                                   \
	__asm__(".pushsection .sk.kernels,\"\",%progbits\n\t"                                                          \
		".asciz \"" #symbol "\"\n\t"                                                                           \
		".asciz \"" signature "\"\n\t"                                                                         \
		".popsection")

/* What a kernel of the kinds `blocks` and `blocks=m` gets through its `block` parameter. */
struct sk_block {
	uint32_t index; /* of this call, from 0 */
	uint32_t count; /* of blocks: fixed when linking, whatever the number of cores */
};

/* The range of [0, extent) that a `blocks=` kernel must compute: exactly this, since sklink relies on it. */
static inline void sk_block_range(const struct sk_block *block, uint64_t extent, uint64_t *low, uint64_t *high)
{
	*low = extent * block->index / block->count;
	*high = extent * (block->index + (uint64_t)1) / block->count;
}

#endif
