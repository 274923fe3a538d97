/* See forms.h. The functions follow those of access.c, with forms for numbers. */
#include "src/proof/forms.h"

#include <string.h>

#include "base/arena.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof.h"

/* The division of an access's bytes among the cores: ceil(extent / unit) units of `bytes` bytes, or irregular ones of
 * whole rows of `bytes` bytes. */
struct sharing {
	const struct sk_normal *extent, *unit, *bytes;
	const struct sk_normal *count; /* irregular units: the rows; else NULL */
	const struct sk_normal *first; /* elements of the call's extent in the first unit, or in the first row */
	uint64_t first_core;
};

struct sk_sized_access {
	bool known; /* its rows */
	bool divided; /* the cores share out all of its bytes */
	struct sk_sized_rows rows;
	struct sharing sharing; /* if it is divided */
};

void sk_sized_init(struct sk_sized *sized, struct sk_arena *arena, const struct sk_plan_view *view,
		   const struct sk_dims_view *dims)
{
	sized->view = view;
	sized->accesses = SK_NEW_ARRAY(arena, struct sk_sized_access *, view->argument_count);
	sk_normals_build(&sized->forms, arena, dims);
}

/* ---- fields ---- */

const struct sk_normal *sk_sized_field(struct sk_sized *sized, enum sk_dims_table table, uint32_t record, size_t offset,
				       uint64_t number)
{
	return sk_normal_value(&sized->forms, sk_dims_value_of(sized->forms.dims, table, record, offset), number);
}

const struct sk_normal *sk_sized_shape_bytes(struct sk_sized *sized, enum sk_dims_table table, uint32_t record,
					     size_t offset, const uint64_t *shape, uint64_t rank, uint64_t bytes)
{
	const struct sk_normal *product = sk_normal_number(&sized->forms, bytes);

	for (uint32_t d = 0; d < rank; d++)
		product =
			sk_normal_multiply(&sized->forms, product,
					   sk_sized_field(sized, table, record, offset + d * sizeof(*shape), shape[d]));
	return product;
}

/* Return the form of a field of the access's argument. The offset of an operand is relative to its tensor in the list,
 * and not so in the argument. */
static const struct sk_normal *argument_form(struct sk_sized *sized, const struct sk_step_access *access, size_t offset,
					     uint64_t number)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_call *call = &view->calls[access->call];
	uint32_t place = access->argument - call->first_argument;
	uint32_t value = sk_dims_argument_value(sized->forms.dims, view, call, place, offset);
	uint64_t listed = number;

	if (value != SK_NO_INDEX && view->list_count)
		memcpy(&listed, (const char *)&view->lists[call->list + place] + offset, sizeof(listed));
	return sk_normal_add(&sized->forms, sk_normal_value(&sized->forms, value, number),
			     sk_normal_number(&sized->forms, number - listed));
}

#define ARGUMENT_FORM(sized, access, field)                                                                            \
	argument_form((sized), (access), offsetof(struct sk_plan_argument, field),                                     \
		      (sized)->view->arguments[(access)->argument].field)

const struct sk_normal *sk_sized_element_bytes(struct sk_sized *sized, const struct sk_step_access *access)
{
	return ARGUMENT_FORM(sized, access, element_bytes);
}

bool sk_sized_varies(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_normal *forms[] = {ARGUMENT_FORM(sized, access, offset), ARGUMENT_FORM(sized, access, size),
					   ARGUMENT_FORM(sized, access, element_bytes)};
	int64_t number;

	return !sk_normal_is_number(forms[0], &number) || !sk_normal_is_number(forms[1], &number) ||
	       !sk_normal_is_number(forms[2], &number);
}

static const struct sk_plan_argument *argument_of(const struct sk_sized *sized, const struct sk_step_access *access)
{
	return &sized->view->arguments[access->argument];
}

static const struct sk_plan_step *step_of(const struct sk_sized *sized, const struct sk_step_access *access)
{
	return &sized->view->steps[access->step];
}

static const struct sk_normal *times(struct sk_sized *sized, const struct sk_normal *form, uint64_t number)
{
	return sk_normal_multiply(&sized->forms, form, sk_normal_number(&sized->forms, number));
}

/* Return the form of the elements of the divided extent of the access's call. */
static const struct sk_normal *extent_form(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_plan_step *step = step_of(sized, access);

	return times(sized, SK_SIZED_FIELD(sized, SK_DIMS_STEPS, sized->view->steps, step, extent),
		     sized->view->calls[access->call].scale);
}

/* ---- bytes ---- */

/* Find the least and the most of a sum of values. */
static bool find_bounds(const struct sk_normals *forms, const struct sk_normal *form, int64_t *least, int64_t *most)
{
	return sk_normal_corner(forms, form, false, least) && sk_normal_corner(forms, form, true, most);
}

/* Set a hull and a core of [start, end). */
static bool set_row(const struct sk_normals *forms, struct sk_sized_rows *rows)
{
	int64_t least_start, most_start, least_end, most_end;

	if (!find_bounds(forms, rows->start, &least_start, &most_start) ||
	    !find_bounds(forms, rows->end, &least_end, &most_end) || least_start < 0 || most_end < least_start)
		return false;
	rows->hull = (struct sk_rows){(uint64_t)least_start, (uint64_t)(most_end - least_start), 0, 1};
	rows->core = (struct sk_rows){(uint64_t)most_start,
				      most_start < least_end ? (uint64_t)(least_end - most_start) : 0, 0, 1};
	return true;
}

/* Rows of one stride at all sizes. The hull has the most rows, from the least start to the greatest end in each; the
 * core has the least rows, from the greatest start to the least end. */
static void set_rows(struct sk_normals *forms, struct sk_sized_rows *rows)
{
	const struct sk_normal *end = sk_normal_add(forms, rows->start, rows->width);
	int64_t stride, least_start, most_start, least_end, most_end, least, most;

	rows->core.width = 0;
	if (!sk_normal_is_number(rows->stride, &stride) ||
	    !find_bounds(forms, rows->start, &least_start, &most_start) ||
	    !find_bounds(forms, end, &least_end, &most_end) || !find_bounds(forms, rows->count, &least, &most) ||
	    most_end - least_start > stride || most < 1)
		return;
	rows->hull = (struct sk_rows){(uint64_t)least_start, (uint64_t)(most_end - least_start),
				      most > 1 ? (uint64_t)stride : 0, (uint64_t)most};
	if (least >= 1 && most_start < least_end)
		rows->core = (struct sk_rows){(uint64_t)most_start, (uint64_t)(least_end - most_start),
					      least > 1 ? (uint64_t)stride : 0, (uint64_t)least};
}

/* Fill the rows; false: their bounds are unknown. */
static bool find_rows(struct sk_sized *sized, const struct sk_step_access *access, struct sk_sized_rows *rows)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	struct sk_normals *forms = &sized->forms;

	*rows = (struct sk_sized_rows){.start = ARGUMENT_FORM(sized, access, offset),
				       .width = ARGUMENT_FORM(sized, access, size)};
	if (argument->kind == SK_ARGUMENT_STATE) {
		rows->start = sk_normal_number(forms, argument->index);
		rows->width = sk_normal_number(forms, 1);
	}
	rows->end = sk_normal_add(forms, rows->start, rows->width);
	if (!pattern || pattern->count <= 1)
		return set_row(forms, rows);
	rows->width = SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, view->patterns, pattern, width);
	rows->stride = SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, view->patterns, pattern, stride);
	rows->count = SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, view->patterns, pattern, count);
	if (!set_row(forms, rows))
		return false;
	set_rows(forms, rows);
	return true;
}

/* True if each of the other's rows lies between two rows of the one, at equal strides. */
static bool between(struct sk_normals *forms, const struct sk_sized_rows *one, const struct sk_sized_rows *other)
{
	const struct sk_normal *end = sk_normal_add(forms, one->start, one->width);
	const struct sk_normal *other_end = sk_normal_add(forms, other->start, other->width);

	return sk_normal_at_most(forms, end, other->start) &&
	       sk_normal_at_most(forms, other_end, sk_normal_add(forms, one->start, one->stride));
}

bool sk_sized_apart(struct sk_sized *sized, const struct sk_sized_rows *one, const struct sk_sized_rows *other)
{
	struct sk_normals *forms = &sized->forms;

	if (sk_normal_at_most(forms, one->end, other->start) || sk_normal_at_most(forms, other->end, one->start))
		return true;
	return sk_normal_equal(forms, one->stride, other->stride) &&
	       (between(forms, one, other) || between(forms, other, one));
}

/* ---- bytes and divisions ---- */

static const struct sk_normal *shared_bytes(struct sk_sized *sized, const struct sk_sized_rows *rows)
{
	return rows->stride ? sk_normal_multiply(&sized->forms, rows->count, rows->stride) : rows->width;
}

static bool has_halo(const struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(sized->view, argument_of(sized, access));

	return pattern && pattern->halo; /* values do not exceed the record's number */
}

/* True if the cores share out all of the access's bytes. */
static bool are_divided(struct sk_sized *sized, const struct sk_step_access *access, const struct sk_sized_rows *rows)
{
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_normal *bytes = ARGUMENT_FORM(sized, access, element_bytes);

	return argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes != 0 && !has_halo(sized, access) &&
	       sk_plan_divides(step_of(sized, access)) &&
	       sk_normal_equal(&sized->forms, sk_normal_multiply(&sized->forms, bytes, extent_form(sized, access)),
			       shared_bytes(sized, rows));
}

/* True if the access is made at all sizes: bytes that are not divided may be left alone where the extent is 0. */
static bool is_certain(struct sk_sized *sized, const struct sk_step_access *access, bool divided)
{
	return divided || !sk_plan_divides(step_of(sized, access)) ||
	       sk_normal_at_most(&sized->forms, sk_normal_number(&sized->forms, 1), extent_form(sized, access));
}

/* ---- cores ---- */

/* Blocks of a number of rows that varies are irregular. */
static void share_blocks(struct sk_sized *sized, const struct sk_step_access *access, const struct sk_normal *rows,
			 uint64_t blocks, struct sharing *sharing)
{
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *row = sk_normal_quotient(forms, extent_form(sized, access), rows);
	int64_t number;
	bool regular = sk_normal_is_number(rows, &number) && (uint64_t)number % blocks == 0;

	sharing->extent = sk_normal_number(forms, blocks);
	sharing->unit = sk_normal_number(forms, 1);
	sharing->first = regular ? times(sized, row, (uint64_t)number / blocks) : row;
	sharing->count = regular ? NULL : rows;
}

static struct sharing find_sharing(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_step *step = step_of(sized, access);
	const struct sk_plan_partition *partition = &view->partitions[step->partition];
	struct sharing sharing = {.first_core = partition->first_core};

	if (step->kind == SK_STEP_BLOCKS_RANGE) {
		share_blocks(sized, access, SK_SIZED_FIELD(sized, SK_DIMS_STEPS, view->steps, step, extent),
			     step->blocks, &sharing);
	} else if (partition->blocks) {
		share_blocks(sized, access,
			     SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, rows),
			     partition->blocks, &sharing);
	} else {
		sharing.extent = SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, extent);
		sharing.unit = SK_SIZED_FIELD(sized, SK_DIMS_PARTITIONS, view->partitions, partition, unit);
		sharing.first = times(sized, sharing.unit, view->calls[access->call].scale);
	}
	sharing.bytes = sk_normal_multiply(&sized->forms, sharing.first, ARGUMENT_FORM(sized, access, element_bytes));
	return sharing;
}

/* Return the facts about the access, which are found once. */
static struct sk_sized_access *facts_of(struct sk_sized *sized, const struct sk_step_access *access)
{
	struct sk_sized_access **facts = &sized->accesses[access->argument];
	struct sk_sized_rows *rows;

	if (*facts)
		return *facts;
	*facts = SK_NEW(sized->forms.arena, struct sk_sized_access);
	rows = &(*facts)->rows;
	(*facts)->known = find_rows(sized, access, rows);
	if (!(*facts)->known)
		return *facts;
	(*facts)->divided = are_divided(sized, access, rows);
	rows->certain = is_certain(sized, access, (*facts)->divided);
	if (!rows->certain)
		rows->core.width = 0;
	if ((*facts)->divided)
		(*facts)->sharing = find_sharing(sized, access);
	return *facts;
}

const struct sk_sized_rows *sk_sized_rows(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_sized_access *facts = facts_of(sized, access);

	return facts->known ? &facts->rows : NULL;
}

/* True if the first unit, or the first row, lies in the window. In rows, its last byte is that of its last row. */
static bool lies_in(struct sk_sized *sized, const struct sk_sized_rows *rows, const struct sharing *sharing,
		    const struct sk_normal *start)
{
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *gap =
		rows->stride ? sk_normal_subtract(forms, rows->stride, rows->width) : sk_normal_number(forms, 0);
	const struct sk_normal *end = sk_normal_add(forms, rows->start, sk_normal_subtract(forms, sharing->bytes, gap));

	return sk_normal_at_most(forms, start, rows->start) &&
	       sk_normal_at_most(forms, end, sk_normal_add(forms, start, sharing->bytes));
}

/* True if there are as many units at each size: also if there is one unit at each size. */
static bool has_same_units(struct sk_normals *forms, const struct sharing *one, const struct sharing *other)
{
	return sk_normal_equal(forms, sk_normal_multiply(forms, one->extent, other->unit),
			       sk_normal_multiply(forms, other->extent, one->unit)) ||
	       (!one->count && !other->count && sk_normal_at_most(forms, one->extent, one->unit) &&
		sk_normal_at_most(forms, other->extent, other->unit));
}

static bool share_alike(struct sk_normals *forms, const struct sharing *one, const struct sharing *other)
{
	return has_same_units(forms, one, other) && sk_normal_equal(forms, one->bytes, other->bytes) &&
	       one->first_core == other->first_core &&
	       (one->count || other->count ? sk_normal_equal(forms, one->count, other->count) : true);
}

bool sk_sized_same_core(struct sk_sized *sized, const struct sk_step_access *one, const struct sk_step_access *other)
{
	const struct sk_plan_argument *argument = argument_of(sized, one), *other_argument = argument_of(sized, other);

	if (one->step == other->step && sk_step_on_one_core(step_of(sized, one)))
		return true;

	const struct sk_sized_access *a = facts_of(sized, one), *b = facts_of(sized, other);

	if (!a->divided || !b->divided || argument->space != other_argument->space ||
	    argument->index != other_argument->index || !share_alike(&sized->forms, &a->sharing, &b->sharing))
		return false;
	return (lies_in(sized, &a->rows, &a->sharing, a->rows.start) &&
		lies_in(sized, &b->rows, &b->sharing, a->rows.start)) ||
	       (lies_in(sized, &a->rows, &a->sharing, b->rows.start) &&
		lies_in(sized, &b->rows, &b->sharing, b->rows.start));
}

static bool same_rows(struct sk_normals *forms, const struct sk_sized_rows *one, const struct sk_sized_rows *other)
{
	return sk_normal_equal(forms, one->start, other->start) && sk_normal_equal(forms, one->width, other->width) &&
	       !one->stride == !other->stride &&
	       (!one->stride || (sk_normal_equal(forms, one->stride, other->stride) &&
				 sk_normal_equal(forms, one->count, other->count)));
}

bool sk_sized_same_rows(struct sk_sized *sized, const struct sk_step_access *one, const struct sk_step_access *other)
{
	const struct sk_sized_access *a = facts_of(sized, one), *b = facts_of(sized, other);

	return a->known && b->known && same_rows(&sized->forms, &a->rows, &b->rows) &&
	       sk_normal_equal(&sized->forms, ARGUMENT_FORM(sized, one, element_bytes),
			       ARGUMENT_FORM(sized, other, element_bytes));
}

bool sk_sized_allowed_within_call(struct sk_sized *sized, const struct sk_step_access *one,
				  const struct sk_step_access *other)
{
	const struct sk_plan_step *step = step_of(sized, one);
	const struct sk_plan_argument *a = argument_of(sized, one), *b = argument_of(sized, other);

	if (sk_step_on_one_core(step))
		return true;
	return a->kind == SK_ARGUMENT_POINTER && b->kind == SK_ARGUMENT_POINTER && a->space == b->space &&
	       a->index == b->index && sk_sized_same_rows(sized, one, other) &&
	       (step->kind == SK_STEP_BLOCKS || facts_of(sized, one)->divided);
}

bool sk_sized_write_allowed(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_plan_step *step = step_of(sized, access);

	if (sk_step_on_one_core(step))
		return true;
	return argument_of(sized, access)->kind == SK_ARGUMENT_POINTER &&
	       (step->kind == SK_STEP_BLOCKS || facts_of(sized, access)->divided);
}

/* ---- one access by itself ---- */

/* The divided extent covers no more than the access has, and elements of rows are whole rows. */
static bool division_fits(struct sk_sized *sized, const struct sk_step_access *access, const struct sk_sized_rows *rows)
{
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(sized->view, argument);
	const struct sk_normal *extent = extent_form(sized, access);
	const struct sk_normal *bytes = ARGUMENT_FORM(sized, access, element_bytes);
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *all = sk_normal_multiply(forms, bytes, extent);

	if (!argument->element_bytes)
		return true;
	if (rows->stride) {
		const struct sk_normal *each = sk_normal_quotient(forms, rows->count, extent);

		return sk_normal_equal(forms, sk_normal_multiply(forms, each, rows->stride), bytes);
	}
	if (pattern && pattern->halo)
		all = sk_normal_add(forms, all,
				    SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, sized->view->patterns, pattern, halo));
	return sk_normal_at_most(forms, all, ARGUMENT_FORM(sized, access, size));
}

/* Rows may have no bytes at some sizes: then the access touches nothing. */
static bool rows_fit(struct sk_sized *sized, const struct sk_step_access *access, const struct sk_sized_rows *rows)
{
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *last, *one = sk_normal_number(forms, 1);

	if (!rows->stride)
		return true;
	last = sk_normal_multiply(forms, sk_normal_subtract(forms, rows->count, one), rows->stride);
	return sk_normal_at_most(forms, sk_normal_number(forms, 0), rows->width) &&
	       sk_normal_at_most(forms, rows->width, rows->stride) && sk_normal_at_most(forms, one, rows->count) &&
	       sk_normal_equal(forms, sk_normal_add(forms, last, rows->width), ARGUMENT_FORM(sized, access, size));
}

/* The elements of the inner loop are inside. */
static bool inner_fits(struct sk_sized *sized, const struct sk_step_access *access, const struct sk_sized_rows *rows)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument_of(sized, access));
	const struct sk_plan_loop *loops = sk_plan_loops(view, &view->calls[access->call]);
	const struct sk_normal *most = ARGUMENT_FORM(sized, access, size), *bytes, *extent;
	struct sk_normals *forms = &sized->forms;

	if (!pattern || !pattern->inner_bytes)
		return true;
	bytes = SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, view->patterns, pattern, inner_bytes);
	extent = SK_SIZED_FIELD(sized, SK_DIMS_LOOPS, view->loops, &loops[1], extent);
	if (rows->stride)
		most = sk_normal_add(forms, most, sk_normal_subtract(forms, rows->stride, rows->width));
	return sk_normal_at_most(forms, sk_normal_multiply(forms, bytes, extent), most) &&
	       sk_normal_divides(&sized->forms, bytes, sk_dtype_size((enum sk_dtype)argument_of(sized, access)->dtype));
}

/* The addresses of a table are inside; if the number of elements varies, inside the shortest part that a call can
 * have. */
static bool table_fits(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	const struct sk_plan_loop *loops = sk_plan_loops(view, &view->calls[access->call]);
	const struct sk_normal *most = ARGUMENT_FORM(sized, access, size), *extent = extent_form(sized, access), *last;
	struct sk_normals *forms = &sized->forms;
	int64_t number;

	if (!pattern || pattern->table_count <= 1 || !pattern->table_stride)
		return true;
	if (step_of(sized, access)->kind == SK_STEP_SPLIT && argument->element_bytes &&
	    !sk_normal_is_number(extent, &number)) {
		bool whole = loops && sk_normal_divides(&sized->forms, extent, loops[0].tile);

		most = times(sized, ARGUMENT_FORM(sized, access, element_bytes), whole ? loops[0].tile : 1);
		most = sk_normal_add(forms, most,
				     SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, view->patterns, pattern, halo));
	}
	last = times(sized, SK_SIZED_FIELD(sized, SK_DIMS_PATTERNS, view->patterns, pattern, table_stride),
		     pattern->table_count - 1);
	return sk_normal_at_most(forms, sk_normal_add(forms, last, sk_normal_number(forms, 1)), most);
}

/* The shape in which the call sees its elements has as many. */
static bool shape_fits(struct sk_sized *sized, const struct sk_step_access *access, const struct sk_sized_rows *rows)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	const struct sk_normal *bytes = rows->stride ? sk_normal_multiply(&sized->forms, rows->count, rows->width)
						     : ARGUMENT_FORM(sized, access, size);

	return !pattern || !pattern->rank ||
	       sk_normal_equal(&sized->forms, bytes,
			       sk_sized_shape_bytes(sized, SK_DIMS_PATTERNS, (uint32_t)(pattern - view->patterns),
						    offsetof(struct sk_plan_pattern, shape), pattern->shape,
						    pattern->rank, sk_dtype_size((enum sk_dtype)argument->dtype)));
}

static bool is_aligned(struct sk_sized *sized, const struct sk_step_access *access)
{
	uint32_t size = sk_dtype_size((enum sk_dtype)argument_of(sized, access)->dtype);

	return size <= 1 || (sk_normal_divides(&sized->forms, ARGUMENT_FORM(sized, access, offset), size) &&
			     sk_normal_divides(&sized->forms, ARGUMENT_FORM(sized, access, element_bytes), size));
}

const char *sk_sized_check_tile(struct sk_sized *sized, const struct sk_step_access *access)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_plan_type *type = sk_plan_type(&view->tensors[argument->tensor]);
	const struct sk_normal *bytes = ARGUMENT_FORM(sized, access, element_bytes);
	const struct sk_normal *all = SK_SIZED_FIELD(sized, SK_DIMS_TYPES, view->types, type, bytes);
	int64_t number;

	if (!sk_normal_is_number(ARGUMENT_FORM(sized, access, offset), &number) || !sk_normal_is_number(bytes, &number))
		return "its tile has another place or size";
	if (!sk_normal_equal(&sized->forms, ARGUMENT_FORM(sized, access, size), all) ||
	    !sk_normal_equal(&sized->forms, sk_normal_multiply(&sized->forms, bytes, extent_form(sized, access)), all))
		return "it does not divide all of its tensor, of which tiles are in the scratch";
	return NULL;
}

const char *sk_sized_check(struct sk_sized *sized, const struct sk_step_access *access, uint64_t start)
{
	const struct sk_plan_view *view = sized->view;
	const struct sk_plan_argument *argument = argument_of(sized, access);
	const struct sk_plan_type *type = sk_plan_type(&view->tensors[argument->tensor]);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	struct sk_normals *forms = &sized->forms;
	const struct sk_normal *first = sk_normal_number(forms, start), *end, *over_read;
	const struct sk_sized_rows *rows = sk_sized_rows(sized, access);

	if (!rows)
		return "its bytes are not known";
	end = sk_normal_add(forms, first, SK_SIZED_FIELD(sized, SK_DIMS_TYPES, view->types, type, bytes));
	over_read = sk_normal_number(forms, pattern ? pattern->over_read : 0);
	if (!sk_normal_at_most(forms, first, rows->start) || !sk_normal_at_most(forms, rows->end, end))
		return "it leaves its tensor";
	if (!sk_normal_at_most(forms, sk_normal_add(forms, rows->end, over_read),
			       sk_normal_add(forms, end, sk_normal_number(forms, type->padding))))
		return "it reads past its tensor's padding";
	if (!rows_fit(sized, access, rows) || !inner_fits(sized, access, rows) || !table_fits(sized, access) ||
	    !shape_fits(sized, access, rows))
		return "its rows are not those of its bytes";
	if (!division_fits(sized, access, rows))
		return "its elements are not those of the divided extent";
	return is_aligned(sized, access) ? NULL : "it is not aligned";
}
