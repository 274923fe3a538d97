/* Checks the memory passed to a call: types and modes, division and layout of its bytes, and permitted overlaps. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof.h"

static const char *access_text(unsigned access)
{
	static const char *const texts[] = {"nothing", "read", "written", "read and written"};

	return texts[access & (SK_ACCESS_READ | SK_ACCESS_WRITE)];
}

/* A view may reinterpret a tensor of another type as bytes, or bytes as another type. A view with an explicit shape may
 * also use unsigned integers of the elements' size, for kernels that only move elements. */
static bool may_view(const struct sk_calls *calls, const struct sk_plan_argument *argument, enum sk_dtype of_tensor)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	enum sk_dtype dtype = argument->dtype;
	bool is_unsigned = dtype == SK_U16 || dtype == SK_U32 || dtype == SK_U64;

	return of_tensor == dtype || of_tensor == SK_U8 || dtype == SK_U8 ||
	       (pattern && pattern->rank && is_unsigned && sk_dtype_size(of_tensor) == sk_dtype_size(dtype));
}

bool sk_call_check_memory(struct sk_calls *calls, uint32_t number, enum sk_dtype dtype, unsigned access)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	bool sizes = argument->space == SK_SPACE_SIZES; /* they belong to no tensor */
	enum sk_dtype of_tensor = sizes ? dtype : sk_plan_type(&calls->view->tensors[argument->tensor])->dtype;

	if (argument->dtype != dtype || !may_view(calls, argument, of_tensor))
		return sk_call_disagree(calls, "%s is %s in a tensor of %s", sk_call_parameter_text(calls, number),
					sk_dtype_name(argument->dtype), sk_dtype_name(of_tensor));
	if (argument->access != (argument->size ? access : SK_ACCESS_NONE))
		return sk_call_disagree(calls, "%s is %s", sk_call_parameter_text(calls, number),
					access_text(argument->access));
	if (argument->size % sk_dtype_size(dtype))
		return sk_call_disagree(calls, "%s has %" PRIu64 " bytes, not a whole number of elements",
					sk_call_parameter_text(calls, number), argument->size);
	return true;
}

/* Only parameters that declare a stride accept rows with gaps; the distance between rows then determines the stride. */
static bool check_rows(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	uint64_t size = sk_dtype_size(argument->dtype);

	if (!pattern || pattern->count == 0)
		return true;
	if (parameter->stride == SK_NONE ||
	    (!calls->view->copy && !calls->view->has_sizes &&
	     (pattern->count < 2 || pattern->stride == pattern->width)) ||
	    pattern->width % size || pattern->stride % size)
		return sk_call_disagree(calls, "%s has %" PRIu64 " rows of %" PRIu64 " bytes, %" PRIu64 " bytes apart",
					sk_call_parameter_text(calls, number), pattern->count, pattern->width,
					pattern->stride);
	return sk_call_learn(calls, parameter->stride, pattern->stride / size);
}

/* As sk_access_shared_bytes; at some sizes there is a single row. */
static uint64_t shared_bytes(const struct sk_calls *calls, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);

	return pattern && pattern->count == 1 ? pattern->stride : sk_access_shared_bytes(calls->view, argument);
}

/* Return the distance in bytes between elements of the inner loop's extent; 0: the loop does not divide the tensor. */
static uint64_t inner_bytes_of(const struct sk_calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_parameter *parameter = &signature->parameters[number];
	uint32_t extent = signature->loops[1].extent, dimension;
	struct sk_rows rows = sk_plan_rows(calls->view, sk_call_argument(calls, number));
	uint64_t outside = 1, bytes = sk_access_shared_bytes(calls->view, sk_call_argument(calls, number));

	if (signature->loop_count < SK_MAX_LOOPS || !sk_parameter_has_extent(parameter, extent))
		return 0;
	/* All bytes, or those of a row, divided by the dimensions before this one and by the extent, which is its first
	 * factor. */
	dimension = sk_parameter_dimension_of(parameter, extent);
	bool within = rows.count > 1 && dimension >= parameter->row_dimension;

	for (uint32_t d = within ? parameter->row_dimension : 0; d < dimension; d++) {
		uint64_t of_dimension = sk_call_dimension(calls, &parameter->extents[d]);

		if (of_dimension == SK_EXTENT_UNKNOWN)
			return 0;
		outside *= of_dimension;
	}
	outside *= calls->extents[extent];
	return outside ? (within ? rows.width : bytes) / outside : 0;
}

/* Find the number and distance of a table's addresses. */
static void find_table(const struct sk_calls *calls, uint32_t number, struct sk_plan_pattern *wanted)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_call_values values = sk_call_known_values(calls);
	uint64_t count = 0, stride = 0;

	if (!parameter->table_count)
		return;
	sk_call_constant(&values, parameter->table_count, &count);
	if (parameter->table_stride && argument->size)
		sk_call_constant(&values, parameter->table_stride, &stride);
	else if (count)
		stride = argument->size / count;
	wanted->table_count = count;
	wanted->table_stride = stride;
}

static bool may_have_halo(const struct sk_calls *calls, const struct sk_parameter *parameter)
{
	uint32_t extent = calls->signature->spread_extent;

	return extent != SK_NONE && parameter->extents[0].more && sk_parameter_is_divided_by(parameter, extent);
}

/* Return the number of bytes past each part that its call reads; 0: none. */
static uint64_t halo_of(const struct sk_calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);

	return may_have_halo(calls, &calls->signature->parameters[number])
		       ? argument->size - argument->element_bytes * sk_plan_extent(calls->step, calls->call)
		       : 0;
}

/* If the size of a part follows from the extents, it must equal their product. */
static bool check_halo(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	struct sk_extent product = parameter->extents[0];
	uint64_t all, part;

	product.more = NULL;
	all = sk_call_dimension(calls, &parameter->extents[0]);
	part = sk_call_dimension(calls, &product);
	if (!may_have_halo(calls, parameter) || all == SK_EXTENT_UNKNOWN || part == SK_EXTENT_UNKNOWN || !all ||
	    argument->size / all * part == argument->element_bytes * sk_plan_extent(calls->step, calls->call))
		return true;
	return sk_call_disagree(calls, "each part of %s is %" PRIu64 " bytes for each of %" PRIu64 " elements",
				sk_call_parameter_text(calls, number), argument->element_bytes,
				sk_plan_extent(calls->step, calls->call));
}

/* Units are chosen large enough for alignment (sk_call_minimum_unit); ranges of blocks and the inner loop's tiles are
 * not. */
static bool check_alignment(struct sk_calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	uint64_t align = signature->align, apart = 0;

	if (!align)
		return true;
	if (signature->loop_count || signature->spread == SK_STEP_BLOCKS_RANGE)
		apart = argument->element_bytes * (signature->loop_count ? signature->loops[0].tile : 1);
	if (apart % align == 0 && pattern && signature->loop_count == SK_MAX_LOOPS)
		apart = pattern->inner_bytes * signature->loops[1].tile;
	if (apart % align == 0 && pattern && pattern->table_count > 1)
		apart = pattern->table_stride;
	return apart % align == 0 ||
	       sk_call_disagree(calls, "calls get addresses in %s that lie %" PRIu64 " bytes apart, not aligned to %u",
				sk_call_parameter_text(calls, number), apart, signature->align);
}

/* A table with the same length in all calls must stay within the shortest call's part. */
static bool check_table(struct sk_calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_parameter *parameter = &signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	uint64_t tile = signature->loop_count ? signature->loops[0].tile : 1, shortest;

	if (!parameter->table_count)
		return true;
	if (!pattern || !pattern->table_count)
		return sk_call_disagree(calls, "no addresses in %s are passed", sk_call_parameter_text(calls, number));
	if (!parameter->table_stride && (pattern->count || argument->size % pattern->table_count))
		return sk_call_disagree(calls, "%" PRIu64 " addresses do not divide %s", pattern->table_count,
					sk_call_parameter_text(calls, number));
	if (signature->spread != SK_STEP_SPLIT || !argument->element_bytes || calls->view->copy ||
	    sk_call_names_extent(parameter->table_count, signature->spread_extent))
		return true;
	shortest = sk_plan_extent(calls->step, calls->call) % tile ? sk_plan_extent(calls->step, calls->call) % tile
								   : tile;
	return (pattern->table_count - 1) * pattern->table_stride <
		       shortest * argument->element_bytes + pattern->halo ||
	       sk_call_disagree(calls, "the last of %" PRIu64 " addresses leads out of the part of %s that a call has",
				pattern->table_count, sk_call_parameter_text(calls, number));
}

bool sk_call_check_pattern(struct sk_calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	const struct sk_plan_pattern none = {0};
	struct sk_plan_pattern wanted = {.inner_bytes = inner_bytes_of(calls, number),
					 .halo = halo_of(calls, number),
					 .over_read = calls->signature->parameters[number].over_read};

	if (pattern && pattern->count) { /* see check_rows */
		wanted.width = pattern->width;
		wanted.stride = pattern->stride;
		wanted.count = pattern->count;
	}
	if (pattern) { /* see call-extents.c */
		wanted.rank = pattern->rank;
		memcpy(wanted.shape, pattern->shape, sizeof(wanted.shape));
	}
	find_table(calls, number, &wanted);
	if (pattern && !memcmp(pattern, &none, sizeof(none)))
		return sk_call_disagree(calls, "%s has an empty pattern", sk_call_parameter_text(calls, number));
	if (memcmp(pattern ? pattern : &none, &wanted, sizeof(wanted)))
		return sk_call_disagree(calls, "the bytes of %s have a different layout",
					sk_call_parameter_text(calls, number));
	return check_halo(calls, number) && check_table(calls, number) && check_alignment(calls, number);
}

bool sk_call_check_tensor(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	uint32_t extent = calls->signature->spread_extent;
	bool divided = extent != SK_NONE && sk_parameter_is_divided_by(parameter, extent);
	uint64_t shared, element_bytes;

	if (parameter->optional && argument->kind == SK_ARGUMENT_VALUE)
		return (argument->dtype == SK_U64 && !argument->value && !(argument->flags & ~SK_ARGUMENT_FIELD)) ||
		       sk_call_disagree(calls, "%s is neither a tensor nor null",
					sk_call_parameter_text(calls, number));
	if (argument->kind != SK_ARGUMENT_POINTER)
		return sk_call_disagree(calls, "no tensor is passed for %s", sk_call_parameter_text(calls, number));
	if (!sk_call_check_memory(calls, number, parameter->dtype, parameter->access) || !check_rows(calls, number))
		return false;
	if (sk_plan_displacement(argument) != parameter->displacement)
		return sk_call_disagree(calls, "the address of %s is displaced by %d bytes",
					sk_call_parameter_text(calls, number), sk_plan_displacement(argument));
	if (calls->signature->align && argument->size && argument->offset % calls->signature->align)
		return sk_call_disagree(calls, "%s is not aligned to %u bytes", sk_call_parameter_text(calls, number),
					calls->signature->align);
	shared = divided ? shared_bytes(calls, argument) : 0;
	if (divided && parameter->extents[0].more) /* see check_pattern */
		shared = argument->element_bytes * sk_plan_extent(calls->step, calls->call);
	if (divided && !sk_plan_extent(calls->step, calls->call)) /* in a plan of one size of several */
		return true;
	element_bytes = divided ? shared / sk_plan_extent(calls->step, calls->call) : 0;
	if (argument->element_bytes != element_bytes ||
	    element_bytes * sk_plan_extent(calls->step, calls->call) != shared)
		return sk_call_disagree(calls,
					"the cores divide the %" PRIu64 " bytes of %s by %" PRIu64
					" for each of %" PRIu64 " elements",
					argument->size, sk_call_parameter_text(calls, number), argument->element_bytes,
					sk_plan_extent(calls->step, calls->call));
	return !(argument->flags & SK_ARGUMENT_WHOLE) == !(parameter->whole && argument->size) ||
	       (calls->view->copy && !argument->size) ||
	       sk_call_disagree(calls, "%s is passed %s", sk_call_parameter_text(calls, number),
				parameter->whole ? "from where its part begins" : "whole");
}

/* ---- overlap ---- */

/* Different tensors in the scratch are tiles, which scratch-check.c compares. */
static bool overlap(const struct sk_calls *calls, const struct sk_plan_argument *one,
		    const struct sk_plan_argument *other)
{
	struct sk_rows rows = sk_plan_rows(calls->view, one), other_rows = sk_plan_rows(calls->view, other);

	if ((one->space == SK_SPACE_SCRATCH && one->tensor != other->tensor) || !one->size || !other->size)
		return false;
	return one->space == other->space && one->index == other->index && sk_rows_overlap(&rows, &other_rows);
}

static bool same_rows(const struct sk_calls *calls, const struct sk_plan_argument *one,
		      const struct sk_plan_argument *other)
{
	struct sk_rows rows = sk_plan_rows(calls->view, one), other_rows = sk_plan_rows(calls->view, other);

	return rows.width == other_rows.width && rows.stride == other_rows.stride && rows.count == other_rows.count;
}

/* y@x: y may be x if both are the same tensor, passed whole and divided alike. Two tensors on the same bytes do not
 * qualify, since the task's own entry passes two addresses for them. */
static bool may_be_same(const struct sk_calls *calls, uint32_t a, uint32_t b)
{
	const struct sk_plan_argument *one = sk_call_argument(calls, a), *other = sk_call_argument(calls, b);
	const struct sk_signature *signature = calls->signature;

	return b < signature->parameter_count && one->tensor == other->tensor &&
	       (sk_signature_may_alias(signature, a, b) || sk_signature_may_alias(signature, b, a)) &&
	       one->offset == other->offset && one->size == other->size && one->element_bytes == other->element_bytes &&
	       inner_bytes_of(calls, a) == inner_bytes_of(calls, b) && same_rows(calls, one, other);
}

static bool is_memory(const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
	       argument->kind == SK_ARGUMENT_RESULT;
}

bool sk_call_check_overlaps(struct sk_calls *calls)
{
	for (uint32_t b = 1; !calls->view->copy && b < calls->call->argument_count; b++) {
		const struct sk_plan_argument *other = sk_call_argument(calls, b);

		for (uint32_t a = 0; a < b && is_memory(other); a++) {
			const struct sk_plan_argument *one = sk_call_argument(calls, a);

			if (is_memory(one) && (sk_access_writes(one) || sk_access_writes(other)) &&
			    overlap(calls, one, other) && !may_be_same(calls, a, b))
				return sk_call_disagree(calls, "%s and %s share bytes, and one of them is written",
							sk_call_parameter_text(calls, a),
							sk_call_parameter_text(calls, b));
		}
	}
	return true;
}
