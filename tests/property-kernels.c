/* Kernels for the property test, each in three types. The manifests say how to call them: the table is in
 * network-kernels.c. */
#include "skkernel.h"

#define T	       uint8_t
#define NAME(function) function##_u8
#include "property-templates.h"
#undef T
#undef NAME

#define T	       uint32_t
#define NAME(function) function##_u32
#include "property-templates.h"
#undef T
#undef NAME

#define T	       uint64_t
#define NAME(function) function##_u64
#include "property-templates.h"
