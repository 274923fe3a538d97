/* Constants in a file of their own (sklink --weights), which is mapped beside the package: where the package's other
 * bytes expect them, in a segment that has no bytes in its file and cannot be accessed before (PT_LOAD, p_flags 0). All
 * numbers are little-endian. */
#ifndef SK_WEIGHTS_H
#define SK_WEIGHTS_H

#include <stdint.h>

#define SK_WEIGHTS_MAGIC UINT64_C(0x7468676965776b73) /* "skweight" */

enum {
	SK_WEIGHTS_VERSION = 1,
	SK_WEIGHTS_START = 4096, /* where in the file the constants begin */
	SK_WEIGHTS_NAME_LIMIT = 256 /* bytes of a file's name, with its NUL */
};

/* What tells constants from others. */
struct sk_weights_identity {
	uint64_t size; /* bytes */
	uint8_t hash[16]; /* XXH3-128 of them, canonical */
};

/* The start of the file. Up to SK_WEIGHTS_START there are zeros, then come the constants, then its end. */
struct sk_weights_header {
	uint64_t magic;
	uint32_t version;
	uint32_t reserved; /* 0 */
	struct sk_weights_identity identity;
};

/* What a package says of its weights, at the dynamic symbol sk_weights, aligned to 8. */
struct sk_weights {
	uint32_t version;
	int32_t constants; /* where they are to be: the distance from this field, in bytes */
	struct sk_weights_identity identity;
	char name[]; /* of the file, without a folder; ends with NUL */
};

#endif
