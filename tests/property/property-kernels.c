/* Kernels for the property test, each in three types. The manifests say how to call them: the table is in
 * network-kernels.c. */
#include <stdlib.h>

#include "skkernel.h"

/* Kernels get their addresses. */
extern const uint64_t property_squares[4], property_odds[4];
const uint64_t property_squares[4] = {0, 1, 4, 9}, property_odds[4] = {1, 3, 5, 7};

#define T		 uint8_t
#define NAME(function)	 function##_u8
#define CUBE(function)	 function##_u8_mix_aic
#define VECTOR(function) function##_u8_mix_aiv
#include "property-templates.h"
#undef T
#undef NAME
#undef CUBE
#undef VECTOR

#define T		 uint32_t
#define NAME(function)	 function##_u32
#define CUBE(function)	 function##_u32_mix_aic
#define VECTOR(function) function##_u32_mix_aiv
#include "property-templates.h"
#undef T
#undef NAME
#undef CUBE
#undef VECTOR

#define T		 uint64_t
#define NAME(function)	 function##_u64
#define CUBE(function)	 function##_u64_mix_aic
#define VECTOR(function) function##_u64_mix_aiv
#include "property-templates.h"
