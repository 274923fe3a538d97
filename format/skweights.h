/* Constants in a file of their own (sklink --weights). It is mapped beside the package, where the package's other bytes
 * expect them: in a segment without bytes in its file, which cannot be accessed before (PT_LOAD, p_flags 0). All
 * numbers are little-endian. */
#ifndef SK_WEIGHTS_H
#define SK_WEIGHTS_H

#include <stdint.h>

#define SK_WEIGHTS_MAGIC UINT64_C(0x7468676965776b73) /* "skweight" */

enum {
	SK_WEIGHTS_VERSION = 1,
	SK_WEIGHTS_START = 4096, /* offset of the constants in the file */
	SK_WEIGHTS_NAME_LIMIT = 256 /* bytes of a file's name, with its NUL */
};

/* The identity of constants. */
struct sk_weights_identity {
	uint64_t size; /* bytes */
	uint8_t hash[16]; /* XXH3-128 of them, canonical */
};

/* The start of the file. Zeros follow up to SK_WEIGHTS_START, then the constants up to the end of the file. */
struct sk_weights_header {
	uint64_t magic;
	uint32_t version;
	uint32_t reserved; /* 0 */
	struct sk_weights_identity identity;
};

/* A package's reference to its weights, at the dynamic symbol sk_weights, aligned to 8. */
struct sk_weights {
	uint32_t version;
	int32_t constants; /* the place of the constants: the distance from this field, in bytes */
	struct sk_weights_identity identity;
	char name[]; /* of the file, without a folder; ends with a NUL */
};

#endif
