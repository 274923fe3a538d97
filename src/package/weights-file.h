/* The file of a package's constants (--weights), and what the package says of it; see format/skweights.h. */
#ifndef SK_PACKAGE_WEIGHTS_H
#define SK_PACKAGE_WEIGHTS_H

#include "base/file.h"
#include "format/seal.h"
#include "format/skweights.h"
#include "linker/linker.h"

struct sk_package_weights {
	const char *path; /* NULL: the constants are in the package */
	SK_ARRAY(struct sk_file_part) file;
	SK_ARRAY(struct sk_seal_part) contents; /* the constants, with the gaps between them */
	struct sk_weights *record;
	size_t record_size;
};

/* What the pieces, which ascend, make of `size` bytes. */
void sk_package_weights_make(struct sk_arena *arena, const char *path, const struct sk_piece *pieces, size_t count,
			     uint64_t size, struct sk_package_weights *weights);

#endif
