/* Arguments that are memory: the bytes of a tensor, their rows, and their division by loops and cores; tables of
 * addresses into them; and the pieces of a core's scratch. The input is a binder with tensors and extents. The output
 * is its arguments. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

enum {
	SCRATCH_ALIGNMENT = 64,
	MOST_FRAMES = 1 << 16, /* bytes: the offset of a field has 16 bits */
	ADDRESS_BYTES = 8,
};

/* ---- tensors ---- */

void sk_binder_bind_memory(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_tensor *tensor = binder->tensors[p];

	argument->tensor = tensor->view_of == SK_NONE ? binder->args[p]->index : tensor->view_of;
	argument->offset = tensor->view_offset;
	argument->size = sk_tensor_span(tensor);
}

/* Return the pattern of the argument; it is not shared with another argument. */
static struct sk_plan_pattern *pattern_of(struct sk_binder *binder, struct sk_argument *argument)
{
	struct sk_plan_pattern *pattern = SK_NEW(binder->model->arena, struct sk_plan_pattern);

	if (argument->pattern)
		*pattern = *argument->pattern;
	argument->pattern = pattern;
	return pattern;
}

static void bind_shape(struct sk_binder *binder, const struct sk_tensor *tensor, struct sk_argument *argument)
{
	struct sk_plan_pattern *pattern = pattern_of(binder, argument);

	pattern->rank = tensor->rank;
	for (uint32_t d = 0; d < tensor->rank; d++)
		pattern->shape[d] = tensor->shape[d];
}

static void bind_rows(struct sk_binder *binder, const struct sk_rows *rows, struct sk_argument *argument)
{
	struct sk_plan_pattern *pattern = pattern_of(binder, argument);

	pattern->width = rows->width;
	pattern->stride = rows->stride;
	pattern->count = rows->count;
}

/* Return the bytes from one element of the extent to the next one. The extent must be the first factor of a dimension
 * of the parameter. */
static uint64_t bytes_of_element(const struct sk_binder *binder, uint32_t p, uint32_t extent)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	uint32_t dimension = sk_parameter_dimension_of(parameter, extent);
	uint64_t bytes = sk_dtype_size(parameter->dtype);

	const struct sk_rows *rows = &binder->tensors[p]->rows;
	uint32_t end = parameter->rank;

	if (rows->count && dimension < parameter->row_dimension) {
		end = parameter->row_dimension;
		bytes = rows->stride;
	}
	bytes *= sk_folded_dimension(binder->tensors[p], parameter, dimension) / binder->extents[extent];
	for (uint32_t d = dimension + 1; d < end; d++)
		bytes *= sk_folded_dimension(binder->tensors[p], parameter, d);
	return bytes;
}

/* Set the division of the tensor by the inner loop, if any. */
static void bind_inner(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	struct sk_plan_pattern *pattern;
	uint32_t extent = signature->loops[1].extent;

	if (signature->loop_count < SK_MAX_LOOPS || !sk_parameter_has_extent(&signature->parameters[p], extent) ||
	    argument->size == 0)
		return;
	pattern = pattern_of(binder, argument);
	pattern->inner_bytes = bytes_of_element(binder, p, extent);
}

/* Set the division of the tensor among cores. The extent is the outermost factor, so the remaining factors are the size
 * of one of its elements. A number added to the dimension is a halo: each part also reads that many elements after
 * it. */
static void bind_parts(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	const struct sk_rows *rows = &binder->tensors[p]->rows;
	const struct sk_extent *first = &parameter->extents[0];
	uint64_t extent = binder->extents[binder->signature->spread_extent];
	uint64_t rest = sk_dtype_size(parameter->dtype), elements = first->constant;

	if (!first->more) {
		argument->element_bytes = rows->count ? rows->count / extent * rows->stride : argument->size / extent;
		return;
	}
	for (uint32_t d = 1; d < parameter->rank; d++)
		rest *= sk_folded_dimension(binder->tensors[p], parameter, d);
	for (uint32_t i = 1; i < first->name_count; i++)
		elements *= binder->extents[first->names[i]];
	if (rows->count || !sk_mul(elements, rest, &argument->element_bytes) ||
	    argument->size / extent < argument->element_bytes) {
		sk_binder_error(binder, binder->args[p]->place,
				rows->count ? "argument '%s' has a halo, which a view with gaps cannot have"
					    : "argument '%s' is smaller than its parts together: a number added to its "
					      "divided extent must not be negative",
				parameter->name);
		return;
	}
	if (argument->size > extent * argument->element_bytes)
		pattern_of(binder, argument)->halo = argument->size - extent * argument->element_bytes;
}

/* Units of a split extent can be enlarged for the alignment; tiles and ranges of blocks are fixed. */
static void check_alignment(struct sk_binder *binder, uint32_t p, const struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	const char *what = "it begins at byte";
	uint64_t bytes = argument->offset;

	if (!signature->align || argument->size == 0)
		return;
	if (bytes % signature->align == 0 && signature->loop_count) {
		what = "its tiles have, in bytes,";
		bytes = signature->loops[0].tile * argument->element_bytes;
		if (bytes % signature->align == 0 && signature->loop_count == SK_MAX_LOOPS && argument->pattern)
			bytes = signature->loops[1].tile * argument->pattern->inner_bytes;
	} else if (bytes % signature->align == 0 && signature->spread == SK_STEP_BLOCKS_RANGE) {
		what = "blocks' ranges are multiples of";
		bytes = argument->element_bytes;
	}
	if (bytes % signature->align)
		sk_binder_error(binder, binder->args[p]->place,
				"argument '%s' must be aligned to %u bytes, but %s %" PRIu64,
				signature->parameters[p].name, signature->align, what, bytes);
}

/* ---- tables of addresses ---- */

static bool names_extent(const struct sk_value_expression *value, uint32_t extent)
{
	if (value->kind == SK_VALUE_EXTENT)
		return value->index == extent;
	return (value->left && names_extent(value->left, extent)) ||
	       (value->right && names_extent(value->right, extent));
}

/* Return the same offset from the start of a call's part, in the part's first row: the inner loop cuts all rows
 * alike. */
static uint64_t place_in_inner(const struct sk_binder *binder, uint32_t p, const struct sk_argument *argument,
			       uint64_t place)
{
	uint32_t extent = binder->signature->loops[1].extent;
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	const struct sk_plan_pattern *pattern = argument->pattern;

	if (pattern->count && sk_parameter_dimension_of(parameter, extent) >= parameter->row_dimension)
		place %= pattern->stride;
	return place % (pattern->inner_bytes * binder->extents[extent]);
}

/* Return the number of elements of the loop's extent in its shortest call. */
static uint64_t shortest_part(const struct sk_binder *binder, uint32_t loop)
{
	const struct sk_signature_loop *of = &binder->signature->loops[loop];
	uint64_t rest = binder->extents[of->extent] % of->tile;

	return rest ? rest : of->tile;
}

/* Return whether one of the addresses is in the part of another call of the inner loop. */
static bool leaves_inner(const struct sk_binder *binder, uint32_t p, const struct sk_argument *argument, uint64_t count,
			 uint64_t stride)
{
	const struct sk_value_expression *table_count = binder->signature->parameters[p].table_count;
	uint64_t bytes = argument->pattern ? argument->pattern->inner_bytes : 0;

	if (!bytes || names_extent(table_count, binder->signature->loops[1].extent))
		return false;
	bytes *= shortest_part(binder, 1);
	for (uint64_t i = 1; i < count && i < MOST_FRAMES; i++) /* longer tables have been rejected */
		if (place_in_inner(binder, p, argument, i * stride) >= bytes)
			return true;
	return false;
}

/* Return whether a table's addresses leave the call's part. A table with the same length in every call must stay in
 * that part. A table of the divided extent has addresses for the whole extent, and a call uses those of its part. */
static bool leaves_part(const struct sk_binder *binder, uint32_t p, const struct sk_argument *argument, uint64_t count,
			uint64_t stride)
{
	const struct sk_signature *signature = binder->signature;
	uint64_t elements = signature->loop_count ? shortest_part(binder, 0) : 1, part;

	if (signature->spread != SK_STEP_SPLIT)
		return false;
	if (leaves_inner(binder, p, argument, count, stride))
		return true;
	if (!argument->element_bytes || names_extent(signature->parameters[p].table_count, signature->spread_extent))
		return false;
	return sk_mul(elements, argument->element_bytes, &part) &&
	       sk_add(part, argument->pattern ? argument->pattern->halo : 0, &part) && (count - 1) * stride >= part;
}

/* Return whether one of the addresses is between the rows of a view, where another task's tensor may be. */
static bool leaves_rows(const struct sk_argument *argument, uint64_t count, uint64_t stride)
{
	const struct sk_plan_pattern *pattern = argument->pattern;

	for (uint64_t i = 1; pattern && pattern->count && i < count && i < MOST_FRAMES; i++)
		if (i * stride % pattern->stride >= pattern->width)
			return true;
	return false;
}

/* Bind a table with the address of each row of a tensor. */
static void bind_table(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	struct sk_plan_pattern *pattern;
	uint64_t count, stride, end;

	if (!sk_binder_count(binder, parameter->name, parameter->table_count, 1, &count))
		return;
	stride = argument->size / count;
	if (argument->size == 0) { /* all addresses refer to no bytes */
		pattern = pattern_of(binder, argument);
		pattern->table_count = count;
		return;
	}
	if (parameter->table_stride) {
		if (!sk_binder_count(binder, parameter->name, parameter->table_stride, 1, &stride))
			return;
	} else if (argument->size % count || (argument->pattern && argument->pattern->count)) {
		sk_binder_error(binder, binder->request->place,
				"%" PRIu64 " addresses cannot divide the %" PRIu64
				" bytes of '%s'; give their distance: by BYTES",
				count, argument->size, parameter->name);
		return;
	}
	if (!sk_mul(count - 1, stride, &end) || end >= argument->size) {
		sk_binder_error(binder, binder->request->place,
				"the last of %" PRIu64 " addresses, %" PRIu64
				" bytes apart, lies outside of '%s', which has %" PRIu64 " bytes",
				count, stride, parameter->name, argument->size);
		return;
	}
	if (leaves_rows(argument, count, stride)) {
		sk_binder_error(binder, binder->request->place,
				"of %" PRIu64 " addresses, %" PRIu64 " bytes apart, some lead between the rows of '%s'",
				count, stride, parameter->name);
		return;
	}
	if (leaves_part(binder, p, argument, count, stride)) {
		sk_binder_error(binder, binder->request->place,
				"the last of %" PRIu64 " addresses, %" PRIu64
				" bytes apart, leads out of the part of '%s' that a call has; bytes read after a "
				"part are a halo, as in f32[m+2,k]",
				count, stride, parameter->name);
		return;
	}
	if (binder->signature->align && count > 1 && stride % binder->signature->align) {
		sk_binder_error(binder, binder->request->place,
				"argument '%s' must be aligned to %u bytes, but its addresses lie %" PRIu64
				" bytes apart",
				parameter->name, binder->signature->align, stride);
		return;
	}
	pattern = pattern_of(binder, argument);
	pattern->table_count = count;
	pattern->table_stride = stride;
}

void sk_binder_bind_pointer(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_parameter *parameter = &signature->parameters[p];
	uint32_t spread = signature->spread_extent;

	if (!binder->tensors[p]) { /* null */
		argument->kind = SK_ARGUMENT_VALUE;
		argument->dtype = SK_U64;
		return;
	}

	const struct sk_rows *rows = &binder->tensors[p]->rows;

	argument->kind = SK_ARGUMENT_POINTER;
	argument->access = parameter->access;
	sk_binder_bind_memory(binder, p, argument);
	if (rows->count)
		bind_rows(binder, rows, argument);
	if (binder->tensors[p]->reshaped)
		bind_shape(binder, binder->tensors[p], argument);
	if (spread != SK_NONE && sk_parameter_is_divided_by(parameter, spread))
		bind_parts(binder, p, argument);
	if (parameter->over_read)
		pattern_of(binder, argument)->over_read = parameter->over_read;
	argument->whole = parameter->whole && argument->size;
	argument->displacement = parameter->displacement;
	bind_inner(binder, p, argument);
	check_alignment(binder, p, argument);
	if (parameter->table_count)
		bind_table(binder, p, argument);
}

/* ---- scratch ---- */

/* Allocate the next piece of scratch. */
static void take_scratch(struct sk_binder *binder, uint64_t bytes, struct sk_argument *argument)
{
	uint64_t offset = binder->scratch_size; /* a multiple of the alignment */

	argument->kind = SK_ARGUMENT_SCRATCH;
	argument->offset = offset;
	argument->size = bytes;
	if (!sk_add(offset, bytes, &binder->scratch_size) ||
	    !sk_align(binder->scratch_size, SCRATCH_ALIGNMENT, &binder->scratch_size) ||
	    binder->scratch_size > INT64_MAX)
		sk_binder_error(binder, binder->request->place, "more than 2^63 bytes of scratch");
}

/* Extents in the number of elements count as a whole, so that it is enough for the longest call on one core. */
static void bind_scratch(struct sk_binder *binder, const struct sk_parameter *parameter, struct sk_argument *argument)
{
	uint64_t bytes = parameter->scratch_bytes, count, size = parameter->dtype ? sk_dtype_size(parameter->dtype) : 1;

	if (parameter->scratch_count) {
		if (!sk_binder_count(binder, parameter->name, parameter->scratch_count, 0, &count))
			return;
		bytes = sk_mul(count, size, &bytes) ? bytes : UINT64_MAX;
	}
	take_scratch(binder, bytes, argument);
}

static uint64_t struct_bytes(struct sk_binder *binder, uint32_t p)
{
	const struct sk_parameter *parameters = binder->signature->parameters;
	uint64_t count = 0, bytes;

	if (!parameters[p + 1].table_count)
		return parameters[p].scratch_bytes;
	if (sk_binder_count(binder, parameters[p].name, parameters[p + 1].table_count, 1, &count) &&
	    sk_mul(count, ADDRESS_BYTES, &bytes))
		return bytes;
	return MOST_FRAMES;
}

/* Structs come first, so that their fields are near the beginning. */
static void bind_structs(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;

	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		if (signature->parameters[p].kind != SK_PARAMETER_STRUCT)
			continue;
		take_scratch(binder, struct_bytes(binder, p), &binder->arguments[p]);
		binder->frames[p] = binder->arguments[p].offset;
		if (binder->scratch_size > MOST_FRAMES) {
			sk_binder_error(binder, binder->request->place,
					"structs and tables have at most %d bytes together", MOST_FRAMES);
			return;
		}
	}
}

/* Scratch comes before the values, which may refer to its size. */
static void bind_scratches(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;

	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].kind == SK_PARAMETER_SCRATCH)
			bind_scratch(binder, &signature->parameters[p], &binder->arguments[p]);
}

void sk_binder_bind_scratch(struct sk_binder *binder)
{
	bind_structs(binder);
	bind_scratches(binder);
}
