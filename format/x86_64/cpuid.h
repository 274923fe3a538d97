/* The results of CPUID and XGETBV, and the instruction sets that follow from them. They are separate so that tests can
 * simulate processors. */
#ifndef SK_LOADER_CPUID_H
#define SK_LOADER_CPUID_H

#include <stdint.h>

struct sk_cpuid {
	/* By leaf (1, 7, 7 with subleaf 1, 0x80000001) and register (EAX, EBX, ECX, EDX); 0: the leaf does not
	 * exist. */
	uint32_t leaves[4][4];
	uint64_t state; /* XCR0: the registers that the system saves */
};

/* Return the instruction sets of a processor with these results. */
uint64_t sk_isa_of(const struct sk_cpuid *cpuid);

#endif
