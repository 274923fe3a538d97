/* Sparse initializers, which become dense constants: elements with their places, and zeros elsewhere. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/skplan.h"
#include "graph/graph.h"

/* A few bytes of a file can ask for much memory. All dense tensors of a model have at most this number of bytes for
 * each byte of the sparse ones, and some more. */
enum { DENSE_OF_SPARSE = 256, FREE_DENSE = 16 << 20 };

/* Set the shape of the dense tensor. */
static const char *take_shape(struct sk_onnx_files *files, const struct sk_onnx_sparse *sparse, struct sk_value *value)
{
	struct sk_arena *arena = files->diag->arena;
	uint64_t bytes = sk_dtype_size(value->dtype);

	if (sparse->dimensions.count > SK_MAX_RANK)
		return sk_arena_print(arena, "it has %zu dimensions; tensors have at most %d", sparse->dimensions.count,
				      SK_MAX_RANK);
	value->rank = (uint32_t)sparse->dimensions.count;
	for (uint32_t d = 0; d < value->rank; d++) {
		int64_t size = sparse->dimensions.items[d];

		if (size < 0)
			return sk_arena_print(arena, "dimension %" PRIu32 " is %" PRId64, d, size);
		value->shape[d] = (uint64_t)size;
		if (!sk_mul(bytes, (uint64_t)size, &bytes) || bytes > INT64_MAX)
			return "it is too large";
	}
	if (!sk_add(files->dense, bytes, &files->dense) ||
	    files->dense / DENSE_OF_SPARSE > files->sparse + FREE_DENSE / DENSE_OF_SPARSE)
		return "as a dense tensor it would have more than 16 MiB, and more than 256 times the bytes of the "
		       "sparse one";
	return NULL;
}

/* Find the place of an element from its indices: a single one, or one for each dimension. */
static bool find_place(const struct sk_value *value, const int64_t *indices, bool single, uint64_t *place)
{
	*place = single ? (uint64_t)indices[0] : 0;
	if (single)
		return indices[0] >= 0 && *place < sk_value_elements(value);
	for (uint32_t d = 0; d < value->rank; d++) {
		if (indices[d] < 0 || (uint64_t)indices[d] >= value->shape[d])
			return false;
		*place = *place * value->shape[d] + (uint64_t)indices[d];
	}
	return true;
}

/* Copy the elements to their places. */
static const char *scatter(struct sk_arena *arena, const struct sk_value *elements, const struct sk_value *places,
			   struct sk_value *value)
{
	uint64_t size = sk_dtype_size(value->dtype), each = places->rank == 1 ? 1 : value->rank;
	char *contents = sk_arena_alloc(arena, sk_value_elements(value) + 1, size);

	for (uint64_t i = 0; i < elements->shape[0]; i++) {
		int64_t indices[SK_MAX_RANK] = {0};
		uint64_t place;

		memcpy(indices, (const char *)places->contents + i * each * sizeof(*indices), each * sizeof(*indices));
		if (!find_place(value, indices, places->rank == 1, &place))
			return sk_arena_print(arena, "its element %" PRIu64 " lies outside of it", i);
		memcpy(contents + place * size, (const char *)elements->contents + i * size, size);
	}
	value->contents = contents;
	return NULL;
}

const char *sk_onnx_take_sparse(struct sk_onnx_files *files, const struct sk_onnx_sparse *sparse,
				struct sk_value *value)
{
	struct sk_arena *arena = files->diag->arena;
	struct sk_value elements = {0}, places = {0};
	const char *wrong = sk_onnx_take_tensor(files, sparse->values, &elements);

	if (wrong)
		return wrong;
	if (!sparse->indices || elements.rank != 1 || elements.element)
		return "it is a sparse tensor without indices, or its elements are not a list of whole bytes";
	wrong = sk_onnx_take_tensor(files, sparse->indices, &places);
	if (wrong)
		return sk_arena_print(arena, "its indices: %s", wrong);
	value->dtype = elements.dtype;
	value->shaped = true;
	files->sparse += sk_value_bytes(&elements) + sk_value_bytes(&places);
	wrong = take_shape(files, sparse, value);
	if (wrong)
		return wrong;
	if (places.dtype != SK_I64 || places.rank < 1 || places.rank > 2 || places.shape[0] != elements.shape[0] ||
	    (places.rank == 2 && places.shape[1] != value->rank))
		return "its indices are neither one for each element, nor one for each dimension of each";
	return scatter(arena, &elements, &places, value);
}
