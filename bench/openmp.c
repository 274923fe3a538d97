/* See peers.h. Compiled with the compiler's OpenMP. */
#include "bench/peers.h"

static void part(unsigned number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

void bench_openmp_run(const void *context)
{
	const struct bench_chain *chain = context;

	for (unsigned step = 0; step < chain->steps; step++) {
#pragma omp parallel for num_threads(chain->threads) schedule(static)
		for (unsigned i = 0; i < chain->parts; i++)
			part(i);
	}
}
