/* A tensor of the model: what the manifest says of it, and what follows from that. */
#ifndef SK_TENSOR_H
#define SK_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "format/skrows.h"

struct sk_tensor {
	const char *name;
	struct sk_place place; /* of its key in the manifest */
	enum sk_dtype dtype;
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t elements;
	uint64_t bytes;
	enum sk_role role; /* as declared, or SK_ROLE_NONE until sk_model_assign_roles */
	bool role_declared; /* the manifest has `role:` */
	bool keeps_unwritten; /* `unwritten: keep`: what no task writes of this output stays as the caller has it */
	const char *range; /* "LOW HIGH" of random values; NULL: not given */
	struct sk_place range_place;
	uint32_t view_of; /* views: the root tensor (never itself a view); else SK_NONE */
	uint64_t view_offset; /* views: bytes from the root's start */
	uint32_t slice; /* views: the innermost slice that it is seen through, plus 1; 0: none */
	bool reshaped; /* views: their dimensions are not pieces of the root's */
	struct sk_rows rows; /* views with gaps: several rows, in bytes of the root; count 0: there are no gaps */
	uint64_t padding; /* bytes of room behind it: the most that a task over-reads */
	const char *data; /* constants: path of the .npy file, resolved; NULL: the manifest has the contents */
	bool filled; /* constants: every element is that of these bits */
	uint64_t fill;
	const void *contents; /* constants: the bytes, once read; owned by the model (mapped or arena) */
	uint32_t binding; /* number among inputs, outputs and inouts, in manifest order; else SK_NONE */
};

/* From the first byte to the last. */
static inline uint64_t sk_tensor_span(const struct sk_tensor *tensor)
{
	return tensor->rows.count ? sk_rows_end(&tensor->rows) - tensor->rows.start : tensor->bytes;
}

#endif
