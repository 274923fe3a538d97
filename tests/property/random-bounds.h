/* Random manifests with sizes with bounds, for the property test of these (bounds.c). Shapes, views, offsets and
 * scalars are expressions of one to three dimensions. The kernels are those of property-kernels.c. */
#ifndef SK_TESTS_RANDOM_BOUNDS_H
#define SK_TESTS_RANDOM_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

enum { BOUNDS_DIMENSIONS = 3, BOUNDS_TASKS = 12, BOUNDS_TEXT = 16384 };

struct bounds_dimension {
	uint64_t least, most, multiple, usual;
};

struct bounds_case {
	struct bounds_dimension dimensions[BOUNDS_DIMENSIONS]; /* named a, b, c */
	uint32_t dimension_count, task_count;
	const char *device; /* "host" or "a3" */
	char tensors[BOUNDS_TEXT], kernels[BOUNDS_TEXT], tasks[BOUNDS_TEXT], scopes[BOUNDS_TEXT];
};

/* Draw the case of a seed. Of its tasks only those in `kept` (bits) are in the manifest. */
void bounds_draw(struct bounds_case *drawn, uint64_t seed, uint32_t kept);

/* Choose sizes of the dimensions: corners for the first attempts, then any. */
void bounds_sizes(const struct bounds_case *drawn, uint64_t *random, uint32_t attempt, uint64_t *sizes);

/* Return the manifest, with bounds (sizes NULL) or with one size for each dimension. The caller frees it. */
char *bounds_manifest(const struct bounds_case *drawn, const uint64_t *sizes);

#endif
