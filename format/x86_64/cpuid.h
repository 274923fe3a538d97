/* What CPUID and XGETBV say, and which instruction sets that makes: apart, so that tests can make processors up. */
#ifndef SK_LOADER_CPUID_H
#define SK_LOADER_CPUID_H

#include <stdint.h>

struct sk_cpuid {
	/* By leaf (1, 7, 7 with subleaf 1, 0x80000001) and register (EAX, EBX, ECX, EDX); 0: there is no such leaf. */
	uint32_t leaves[4][4];
	uint64_t state; /* XCR0: the registers that the system saves */
};

/* The set of a processor that says so. */
uint64_t sk_isa_of(const struct sk_cpuid *cpuid);

#endif
