/* One request at a time, which is a task's or somebody's who asks: its tensors are matched with the signature's
 * parameters, extents and scalars follow (bind-extents.c, bind-scalars.c), and the arguments come out in the order of
 * the C parameters. */
#include "src/bind/bind.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/bind/binder.h"
#include "src/model/sides.h"
#include "src/model/task.h"
#include "src/model/tensor.h"
#include "src/signature/signature-parser.h"

enum {
	SCRATCH_ALIGNMENT = 64,
	MOST_FRAMES = 1 << 16, /* bytes: a field's place has 16 bits */
	ADDRESS_BYTES = 8,
};

/* ---- tensors to parameters ---- */

static bool takes_tensor(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter == signature->parameter_count ? signature->result != NULL
						       : signature->parameters[parameter].kind == SK_PARAMETER_TENSOR;
}

static const char *parameter_name(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter == signature->parameter_count ? signature->result : signature->parameters[parameter].name;
}

/* "in x f32, in y f32, out z f32" */
static const char *list_parameters(const struct sk_binder *binder)
{
	static const char *const directions[] = {"", "in", "out", "inout"};
	const struct sk_signature *signature = binder->signature;
	const char *text = "";

	for (uint32_t p = 0; p <= signature->parameter_count; p++) {
		if (!takes_tensor(signature, p))
			continue;

		bool result = p == signature->parameter_count;
		const struct sk_parameter *parameter = result ? NULL : &signature->parameters[p];

		text = sk_arena_print(binder->model->arena, "%s%s%s %s %s", text, *text ? ", " : "",
				      directions[result ? SK_ACCESS_WRITE : parameter->access],
				      parameter_name(signature, p),
				      sk_dtype_name(result ? signature->result_dtype : parameter->dtype));
	}
	return *text ? text : "none";
}

static void match_by_position(struct sk_binder *binder)
{
	const struct sk_request *request = binder->request;
	size_t taken = 0, wanted = 0, given = request->arguments.count;

	for (uint32_t p = 0; p <= binder->signature->parameter_count; p++) {
		if (!takes_tensor(binder->signature, p))
			continue;
		wanted++;
		if (taken < given)
			binder->args[p] = &request->arguments.items[taken++];
	}
	if (wanted != given && !sk_binder_fails(binder))
		sk_binder_error(binder, given ? request->arguments.items[0].place : request->place,
				"%zu argument%s needed (%s), but %zu given", wanted, wanted == 1 ? " is" : "s are",
				list_parameters(binder), given);
}

static void report_wrong_name(struct sk_binder *binder, const struct sk_name *name)
{
	const struct sk_signature *signature = binder->signature;
	uint32_t parameter = sk_signature_find_parameter(signature, name->text);
	const char *names[SK_MAX_PARAMETERS + 1];
	size_t count = 0;

	if (parameter != SK_NONE) {
		sk_binder_error(binder, name->place,
				signature->parameters[parameter].kind == SK_PARAMETER_SCALAR
					? "'%s' is a scalar; give its value under 'set'"
					: "'%s' is scratch memory, which needs no tensor",
				name->text);
		return;
	}
	for (uint32_t p = 0; p <= signature->parameter_count; p++)
		if (takes_tensor(signature, p))
			names[count++] = parameter_name(signature, p);
	sk_binder_error(binder, name->place, "no parameter '%s'%s", name->text,
			sk_did_you_mean(binder->model->arena, name->text, names, count));
}

static void match_by_name(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_request *request = binder->request;
	const char *missing = "";

	for (size_t i = 0; i < request->arguments.count; i++) {
		const struct sk_name *name = &request->parameters[i];
		uint32_t parameter = sk_signature_find_parameter(signature, name->text);

		if (signature->result && !strcmp(signature->result, name->text))
			parameter = signature->parameter_count;
		if (parameter == SK_NONE || !takes_tensor(signature, parameter))
			report_wrong_name(binder, name);
		else
			binder->args[parameter] = &request->arguments.items[i];
	}
	for (uint32_t p = 0; p <= signature->parameter_count; p++)
		if (takes_tensor(signature, p) && !binder->args[p])
			missing = sk_arena_print(binder->model->arena, "%s%s'%s'", missing, *missing ? ", " : "",
						 parameter_name(signature, p));
	if (*missing)
		sk_binder_error(binder, request->place, "no tensor for %s", missing);
}

static void check_tensor(struct sk_binder *binder, uint32_t p)
{
	const struct sk_model *model = binder->model;
	const struct sk_signature *signature = binder->signature;
	const struct sk_request_argument *arg = binder->args[p];
	bool result = p == signature->parameter_count;
	const struct sk_parameter *parameter = result ? NULL : &signature->parameters[p];
	enum sk_dtype wanted = result ? signature->result_dtype : parameter->dtype;
	const struct sk_tensor *tensor = arg->tensor;

	if (tensor->dtype != wanted)
		sk_binder_error(binder, arg->place, "argument '%s' is %s, but tensor '%s' is %s",
				parameter_name(signature, p), sk_dtype_name(wanted), tensor->name,
				sk_dtype_name(tensor->dtype));
	else if (result && tensor->elements != 1)
		sk_binder_error(binder, arg->place, "the result '%s' is one element, but tensor '%s' is %s",
				signature->result, tensor->name,
				sk_shape_text(model->arena, tensor->rank, tensor->shape));
	else if (tensor->rows.count && (result || parameter->stride == SK_NONE))
		sk_binder_error(
			binder, arg->place,
			"view '%s' has gaps: rows of %" PRIu64 " bytes, %" PRIu64
			" bytes apart; argument '%s' takes it if its signature says how far its rows lie apart, "
			"as in f32[m,k:lda]",
			tensor->name, tensor->rows.width, tensor->rows.stride, parameter_name(signature, p));
	else if (!result && tensor->rank < parameter->rank && parameter->rank > 1)
		sk_binder_error(binder, arg->place, "argument '%s' has %u dimensions, but tensor '%s' is %s",
				parameter->name, parameter->rank, tensor->name,
				sk_shape_text(model->arena, tensor->rank, tensor->shape));
	else
		binder->tensors[p] = tensor;
}

static void match_tensors(struct sk_binder *binder)
{
	if (binder->request->parameters)
		match_by_name(binder);
	else
		match_by_position(binder);
	for (uint32_t p = 0; p <= binder->signature->parameter_count; p++)
		if (binder->args[p])
			check_tensor(binder, p);
}

/* ---- arguments ---- */

static void bind_memory(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_tensor *tensor = binder->tensors[p];

	argument->tensor = tensor->view_of == SK_NONE ? binder->args[p]->index : tensor->view_of;
	argument->offset = tensor->view_offset;
	argument->size = sk_tensor_span(tensor);
}

/* The pattern of the argument, which is not shared with any other one. */
static struct sk_plan_pattern *pattern_of(struct sk_binder *binder, struct sk_argument *argument)
{
	struct sk_plan_pattern *pattern = SK_NEW(binder->model->arena, struct sk_plan_pattern);

	if (argument->pattern)
		*pattern = *argument->pattern;
	argument->pattern = pattern;
	return pattern;
}

static void bind_rows(struct sk_binder *binder, const struct sk_rows *rows, struct sk_argument *argument)
{
	struct sk_plan_pattern *pattern = pattern_of(binder, argument);

	pattern->width = rows->width;
	pattern->stride = rows->stride;
	pattern->count = rows->count;
}

/* Bytes from one element of the extent to the next one, which starts a dimension of the parameter. */
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

/* How the inner loop divides the tensor, if it does. */
static void bind_inner(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	struct sk_plan_pattern *pattern;
	uint32_t extent = signature->loops[1].extent;

	if (signature->loop_count < SK_MAX_LOOPS || !sk_parameter_has_extent(&signature->parameters[p], extent))
		return;
	pattern = pattern_of(binder, argument);
	pattern->inner_bytes = bytes_of_element(binder, p, extent);
}

/* How the cores divide the tensor. The extent is the outermost factor, so what is behind it is what one of its elements
 * spans; where something is added to the dimension, each part reads that much of what follows it. */
static void bind_parts(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	const struct sk_rows *rows = &binder->tensors[p]->rows;
	const struct sk_extent *first = &parameter->extents[0];
	uint64_t extent = binder->extents[binder->signature->spread_extent];
	uint64_t rest = argument->size / sk_folded_dimension(binder->tensors[p], parameter, 0),
		 elements = first->constant;

	if (!first->more) {
		argument->element_bytes = rows->count ? rows->count / extent * rows->stride : argument->size / extent;
		return;
	}
	for (uint32_t i = 1; i < first->name_count; i++)
		elements *= binder->extents[first->names[i]];
	if (rows->count || !sk_mul(elements, rest, &argument->element_bytes) ||
	    argument->size / extent < argument->element_bytes) {
		sk_binder_error(binder, binder->args[p]->place,
				rows->count ? "argument '%s' has a halo, which a view with gaps cannot have"
					    : "argument '%s' is smaller than its parts together: what is added to its "
					      "divided extent must not be negative",
				parameter->name);
		return;
	}
	if (argument->size > extent * argument->element_bytes)
		pattern_of(binder, argument)->halo = argument->size - extent * argument->element_bytes;
}

/* Units of a split extent can be made as large as it takes; tiles and blocks' ranges are what they are. */
static void check_alignment(struct sk_binder *binder, uint32_t p, const struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	uint64_t part = signature->loop_count			    ? signature->loops[0].tile * argument->element_bytes
			: signature->spread == SK_STEP_BLOCKS_RANGE ? argument->element_bytes
								    : 0;
	const char *what = argument->offset % (signature->align ? signature->align : 1) ? "it begins at byte"
			   : signature->loop_count					? "its tiles have, in bytes,"
						   : "blocks' ranges are multiples of";

	if (part % (signature->align ? signature->align : 1) == 0 && signature->loop_count == SK_MAX_LOOPS &&
	    argument->pattern)
		part = signature->loops[1].tile * argument->pattern->inner_bytes;
	if (!signature->align || (argument->offset % signature->align == 0 && part % signature->align == 0))
		return;
	sk_binder_error(binder, binder->args[p]->place, "argument '%s' is to be aligned to %u bytes, but %s %" PRIu64,
			signature->parameters[p].name, signature->align, what,
			argument->offset % signature->align ? argument->offset : part);
}

static void bind_pointer(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_parameter *parameter = &signature->parameters[p];
	const struct sk_rows *rows = &binder->tensors[p]->rows;
	uint32_t spread = signature->spread_extent;

	argument->kind = SK_ARGUMENT_POINTER;
	argument->access = parameter->access;
	bind_memory(binder, p, argument);
	if (rows->count)
		bind_rows(binder, rows, argument);
	/* The extent is the outermost factor, so what is behind it is what one of its elements spans. */
	if (spread != SK_NONE && sk_parameter_is_divided_by(parameter, spread))
		bind_parts(binder, p, argument);
	if (parameter->over_read)
		pattern_of(binder, argument)->over_read = parameter->over_read;
	argument->whole = parameter->whole;
	bind_inner(binder, p, argument);
	check_alignment(binder, p, argument);
}

static bool names_extent(const struct sk_value_expression *value, uint32_t extent)
{
	if (value->kind == SK_VALUE_EXTENT)
		return value->index == extent;
	return (value->left && names_extent(value->left, extent)) ||
	       (value->right && names_extent(value->right, extent));
}

/* The same place behind the start of a call's part, in the part's first row: the inner loop cuts all rows alike. */
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

/* Elements of the loop's extent in the call that has the fewest. */
static uint64_t shortest_part(const struct sk_binder *binder, uint32_t loop)
{
	const struct sk_signature_loop *of = &binder->signature->loops[loop];
	uint64_t rest = binder->extents[of->extent] % of->tile;

	return rest ? rest : of->tile;
}

/* Whether one of the addresses leads to what another call of the inner loop has. */
static bool leaves_inner(const struct sk_binder *binder, uint32_t p, const struct sk_argument *argument, uint64_t count,
			 uint64_t stride)
{
	const struct sk_value_expression *table_count = binder->signature->parameters[p].table_count;
	uint64_t bytes = argument->pattern ? argument->pattern->inner_bytes : 0;

	if (!bytes || names_extent(table_count, binder->signature->loops[1].extent))
		return false;
	bytes *= shortest_part(binder, 1);
	for (uint64_t i = 1; i < count && i < MOST_FRAMES; i++) /* longer tables have been refused */
		if (place_in_inner(binder, p, argument, i * stride) >= bytes)
			return true;
	return false;
}

/* A table that is as long in every call leads to what belongs to the call; one of the divided extent has addresses for
 * all of it, of which a call uses those of its part. */
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

/* Rows of a tensor, each of which the table has an address of. */
static void bind_table(struct sk_binder *binder, uint32_t p, struct sk_argument *argument)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	struct sk_plan_pattern *pattern;
	uint64_t count, stride, end;

	if (!sk_binder_count(binder, parameter->name, parameter->table_count, &count))
		return;
	stride = argument->size / count;
	if (parameter->table_stride) {
		if (!sk_binder_count(binder, parameter->name, parameter->table_stride, &stride))
			return;
	} else if (argument->size % count || (argument->pattern && argument->pattern->count)) {
		sk_binder_error(binder, binder->request->place,
				"%" PRIu64 " addresses cannot divide the %" PRIu64
				" bytes of '%s'; say how far they lie apart: by BYTES",
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
	if (leaves_part(binder, p, argument, count, stride)) {
		sk_binder_error(binder, binder->request->place,
				"the last of %" PRIu64 " addresses, %" PRIu64
				" bytes apart, leads out of the part of '%s' that a call has; what is read behind a "
				"part is a halo, as in f32[m+2,k]",
				count, stride, parameter->name);
		return;
	}
	if (binder->signature->align && count > 1 && stride % binder->signature->align) {
		sk_binder_error(binder, binder->request->place,
				"argument '%s' is to be aligned to %u bytes, but its addresses lie %" PRIu64
				" bytes apart",
				parameter->name, binder->signature->align, stride);
		return;
	}
	pattern = pattern_of(binder, argument);
	pattern->table_count = count;
	pattern->table_stride = stride;
}

/* The next piece of scratch. */
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

/* Extents in the number of elements are whole, so that it is enough for the longest call on one core. */
static void bind_scratch(struct sk_binder *binder, const struct sk_parameter *parameter, struct sk_argument *argument)
{
	uint64_t bytes = parameter->scratch_bytes, count, size = parameter->dtype ? sk_dtype_size(parameter->dtype) : 1;

	if (parameter->scratch_count) {
		if (!sk_binder_count(binder, parameter->name, parameter->scratch_count, &count))
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
	if (sk_binder_count(binder, parameters[p].name, parameters[p + 1].table_count, &count) &&
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

/* Before the values, which may ask how large it is. */
static void bind_scratches(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;

	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].kind == SK_PARAMETER_SCRATCH)
			bind_scratch(binder, &signature->parameters[p], &binder->arguments[p]);
}

static void bind_arguments(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const char *missing = "";

	bind_structs(binder);
	bind_scratches(binder);
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];
		struct sk_argument *argument = &binder->arguments[binder->argument_count++];

		argument->dtype = parameter->dtype;
		argument->tensor = SK_NONE;
		argument->is_field = parameter->owner != SK_NONE;
		if (argument->is_field)
			argument->field = (uint32_t)(binder->frames[parameter->owner] + parameter->offset);
		switch (parameter->kind) {
		case SK_PARAMETER_TENSOR:
			bind_pointer(binder, p, argument);
			if (parameter->table_count)
				bind_table(binder, p, argument);
			break;
		case SK_PARAMETER_SCALAR:
			if (!sk_binder_bind_scalar(binder, parameter, argument) && !parameter->repeated)
				missing = sk_arena_print(binder->model->arena, "%s%s'%s'", missing,
							 *missing ? ", " : "", parameter->name);
			break;
		case SK_PARAMETER_BLOCK:
			argument->kind = SK_ARGUMENT_BLOCK;
			break;
		case SK_PARAMETER_SCRATCH:
			argument->dtype = SK_DTYPE_NONE;
			break;
		case SK_PARAMETER_STRUCT:
			argument->by_value = parameter->by_value;
			argument->value = parameter->float_parts;
			break;
		}
	}
	if (*missing)
		sk_binder_error(binder, binder->request->place, "no value for %s; give it under 'set'", missing);
	if (!signature->result)
		return;

	struct sk_argument *result = &binder->arguments[binder->argument_count++];

	result->kind = SK_ARGUMENT_RESULT;
	result->dtype = signature->result_dtype;
	result->access = SK_ACCESS_WRITE;
	bind_memory(binder, signature->parameter_count, result);
}

static void check_set_names(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const char *scalars[SK_MAX_PARAMETERS];
	size_t count = 0;

	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].kind == SK_PARAMETER_SCALAR)
			scalars[count++] = signature->parameters[p].name;
	for (size_t i = 0; i < binder->request->set_count; i++) {
		const struct sk_set *set = &binder->request->set[i];
		uint32_t p = sk_signature_find_parameter(signature, set->name);

		if (p == SK_NONE)
			sk_binder_error(binder, set->place, "no scalar '%s'%s", set->name,
					sk_did_you_mean(binder->model->arena, set->name, scalars, count));
		else if (signature->parameters[p].kind != SK_PARAMETER_SCALAR)
			sk_binder_error(binder, set->place, "'%s' is no scalar and cannot be set", set->name);
	}
}

/* ---- overlap ---- */

static bool overlap(const struct sk_argument *a, const struct sk_argument *b)
{
	struct sk_rows one = sk_argument_rows(a), other = sk_argument_rows(b);

	return a->tensor != SK_NONE && a->tensor == b->tensor && sk_rows_overlap(&one, &other);
}

/* y@x: y may be x. */
static bool may_alias(const struct sk_signature *signature, uint32_t a, uint32_t b)
{
	return b < signature->parameter_count &&
	       (signature->parameters[a].alias_of == b || signature->parameters[b].alias_of == a);
}

static uint64_t inner_bytes_of(const struct sk_argument *argument)
{
	return argument->pattern ? argument->pattern->inner_bytes : 0;
}

/* The same bytes, and nobody reads what another core writes. */
static bool are_alike(const struct sk_argument *a, const struct sk_argument *b)
{
	struct sk_rows one = sk_argument_rows(a), other = sk_argument_rows(b);

	return one.start == other.start && one.width == other.width && one.stride == other.stride &&
	       one.count == other.count && a->element_bytes == b->element_bytes &&
	       inner_bytes_of(a) == inner_bytes_of(b);
}

static void report_overlap(struct sk_binder *binder, uint32_t a, uint32_t b)
{
	const struct sk_signature *signature = binder->signature;
	const char *x = parameter_name(signature, a), *y = parameter_name(signature, b);
	struct sk_place place = binder->args[b] ? binder->args[b]->place : binder->request->place;

	if (may_alias(signature, a, b))
		sk_binder_error(binder, place, "'%s' and '%s' overlap, but are not the same bytes divided alike", x, y);
	else if (b < signature->parameter_count && signature->parameters[b].kind == SK_PARAMETER_TENSOR)
		sk_binder_error(
			binder, place,
			"'%s' overlaps '%s', and one of them is written; a signature that allows this says %s@%s", y, x,
			y, x);
	else
		sk_binder_error(binder, place, "'%s' overlaps '%s', and one of them is written", y, x);
}

static void check_overlaps(struct sk_binder *binder)
{
	const struct sk_argument *arguments = binder->arguments;

	for (uint32_t b = 1; b < binder->argument_count; b++)
		for (uint32_t a = 0; a < b; a++)
			if ((arguments[a].access | arguments[b].access) & SK_ACCESS_WRITE &&
			    overlap(&arguments[a], &arguments[b]) &&
			    !(may_alias(binder->signature, a, b) && are_alike(&arguments[a], &arguments[b])))
				report_overlap(binder, a, b);
}

/* ---- the call ---- */

/* A device has one lane, or that of cube kernels and that of all others. A mix kernel begins on the former. */
static uint32_t lane_of(const struct sk_profile *device, enum sk_lane_kind kind)
{
	return kind == SK_LANE_CUBE || kind == SK_LANE_MIX ? 0 : device->lane_count - 1;
}

/* grid=: as many blocks as all its numbers together. */
static uint64_t grid_count(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	uint64_t blocks = 1;

	for (uint32_t axis = 0; axis < signature->grid_rank; axis++) {
		if (!sk_binder_count(binder, "grid", signature->grid[axis], &binder->grid[axis]))
			return 1;
		if (!sk_mul(blocks, binder->grid[axis], &blocks) || blocks > SK_PROFILE_MAX_BLOCKS) {
			sk_binder_error(binder, binder->request->place, "the grid has more than %d blocks",
					SK_PROFILE_MAX_BLOCKS);
			return 1;
		}
	}
	return blocks;
}

static uint64_t block_count(struct sk_binder *binder)
{
	const struct sk_profile *device = binder->model->device;
	const struct sk_signature *signature = binder->signature;

	if (!sk_signature_has_blocks(signature))
		return 0;
	if (signature->grid_rank)
		return grid_count(binder);
	if (binder->request->blocks)
		return binder->request->blocks;
	if (signature->lane == SK_LANE_MIX)
		return sk_mix_default_blocks(device, signature->mix_ratio);
	return device->lanes[lane_of(device, signature->lane)].blocks;
}

/* The extents, scalars and overlaps of a call make sense only where all tensors fit. */
static void bind(struct sk_binder *binder)
{
	if (binder->request->blocks && (!sk_signature_has_blocks(binder->signature) || binder->signature->grid_rank))
		sk_binder_error(binder, binder->request->place, "the task has 'blocks', but the signature has %s",
				binder->signature->grid_rank ? "a grid, which says how many there are"
							     : "neither 'blocks' nor 'blocks=NAME'");
	match_tensors(binder);
	check_set_names(binder);
	if (binder->failed)
		return;
	sk_binder_bind_extents(binder);
	if (binder->failed)
		return;
	binder->blocks = block_count(binder);
	bind_arguments(binder);
	check_overlaps(binder);
}

bool sk_bind_fits(struct sk_model *model, const struct sk_request *request, const struct sk_signature *signature)
{
	struct sk_binder binder = {.model = model, .request = request, .signature = signature, .quiet = true};

	bind(&binder);
	return !binder.failed;
}

const char *sk_bind_reason(struct sk_model *model, const struct sk_request *request,
			   const struct sk_signature *signature)
{
	struct sk_binder binder = {.model = model, .request = request, .signature = signature};

	bind(&binder);
	return binder.failed ? binder.reason : NULL;
}

/* Tensors have as much room behind them as those need who read there. */
static void make_room(const struct sk_model *model, const struct sk_task *task)
{
	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_plan_pattern *pattern = task->arguments[a].pattern;

		if (!pattern || task->arguments[a].tensor == SK_NONE)
			continue;
		struct sk_tensor *tensor = &model->tensors.items[task->arguments[a].tensor];

		tensor->padding = pattern->over_read > tensor->padding ? pattern->over_read : tensor->padding;
	}
}

static void commit(const struct sk_binder *binder, struct sk_task *task, const struct sk_kernel *kernel)
{
	struct sk_arena *arena = binder->model->arena;
	uint32_t count = binder->argument_count;

	task->arguments = SK_NEW_ARRAY(arena, struct sk_argument, count + kernel->state_count);
	memcpy(task->arguments, binder->arguments, count * sizeof(struct sk_argument));
	for (uint32_t i = 0; i < count; i++)
		if (task->arguments[i].kind == SK_ARGUMENT_SYMBOL)
			task->arguments[i].value = kernel->symbols[task->arguments[i].value];
	for (size_t i = 0; i < kernel->state_count; i++)
		task->arguments[count++] = (struct sk_argument){.kind = SK_ARGUMENT_STATE,
								.access = SK_ACCESS_READ | SK_ACCESS_WRITE,
								.tensor = SK_NONE,
								.of_library = kernel->state[i] == kernel->library_state,
								.value = kernel->state[i]};
	task->argument_count = count;
	make_room(binder->model, task);
	task->scratch_size = binder->scratch_size;
	if (binder->signature->spread_extent != SK_NONE)
		task->extent = binder->extents[binder->signature->spread_extent];
	task->loop_count = binder->signature->loop_count;
	for (uint32_t i = 0; i < task->loop_count; i++)
		task->loops[i] = (struct sk_plan_loop){binder->extents[binder->signature->loops[i].extent],
						       binder->signature->loops[i].tile};
	task->lane = lane_of(binder->model->device, binder->signature->lane);
	task->block_count = (uint32_t)binder->blocks;
}

bool sk_model_bind(struct sk_model *model)
{
	unsigned errors = model->diag->errors;
	struct sk_request request = {.set = NULL};

	for (size_t t = 0; t < model->tasks.count && !sk_diag_is_hopeless(model->diag); t++) {
		struct sk_task *task = &model->tasks.items[t];
		const struct sk_kernel *kernel = &model->kernels.items[task->kernel];
		struct sk_binder binder = {
			.model = model, .request = &request, .signature = kernel->signature, .kernel = kernel->name};

		sk_request_of_task(model, task, &request);
		bind(&binder);
		sk_binder_check_cost(&binder, task->cost);
		if (binder.failed)
			continue;
		commit(&binder, task, kernel);
		sk_sides_check(model, (uint32_t)t);
	}
	return model->diag->errors == errors;
}
