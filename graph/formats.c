/* Storage formats of tensors; see graph.h. The shapes are those that GE's formats have. */
#include "graph/graph.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"

bool sk_format_is_plain(const char *format)
{
	static const char *const others[] = {"ALL", "NULL", "RESERVED"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(format, others[i]))
			return true;
	return strspn(format, "NCDHWL") == strlen(format);
}

bool sk_format_has_names(const char *format, size_t rank)
{
	return rank > 2 && strlen(format) == rank && strspn(format, "NCDHW") == rank;
}

bool sk_format_axis(const char *from, const char *to, uint32_t rank, uint32_t axis, uint32_t *found)
{
	const char *letter;

	*found = axis;
	if (!sk_format_has_names(from, rank) || !sk_format_has_names(to, rank))
		return true;
	letter = strchr(to, from[axis]);
	*found = letter ? (uint32_t)(letter - to) : 0;
	return letter;
}

/* ---- the parts of each format ---- */

static uint64_t count_blocks(uint64_t elements, uint64_t block)
{
	return elements / block + (elements % block ? 1 : 0);
}

static void add_part(struct sk_stored_form *form, uint32_t axis, uint64_t size, uint64_t step)
{
	form->parts[form->count++] = (struct sk_format_part){axis, size, step};
}

static void add_blocks(struct sk_stored_form *form, uint32_t axis, uint64_t block)
{
	add_part(form, axis, count_blocks(form->origin_shape[axis], block), block);
}

/* FRACTAL_NZ of [..., m, n] is [..., n / n0, m / m0, m0, n0]. */
static bool add_fractal_nz(struct sk_stored_form *form)
{
	uint32_t last = form->origin_rank - 1, rank = form->rank;

	if (form->origin_rank < 2 || rank != form->origin_rank + 2)
		return false;
	for (uint32_t axis = 0; axis + 1 < last; axis++)
		add_part(form, axis, form->origin_shape[axis], 1);
	add_blocks(form, last, form->shape[rank - 1]);
	add_blocks(form, last - 1, form->shape[rank - 2]);
	add_part(form, last - 1, form->shape[rank - 2], 1);
	add_part(form, last, form->shape[rank - 1], 1);
	return true;
}

/* FRACTAL_Z of [k, n] is [k / k0, n / n0, n0, k0]. Of filters it is [C / C0 * H * W, N / n0, n0, C0], and D comes
 * before C. */
static bool add_fractal_z(struct sk_stored_form *form)
{
	const char *order = sk_format_has_names(form->origin, form->origin_rank) ? "DCHWN" : "";
	uint64_t channels = form->rank == 4 ? form->shape[3] : 0, n0 = form->rank == 4 ? form->shape[2] : 0;
	uint32_t k = 0, n = 1;

	if (form->rank != 4 || (*order ? form->origin_rank < 4 : form->origin_rank != 2))
		return false;
	for (; *order; order++) {
		const char *letter = strchr(form->origin, *order);
		uint32_t axis = letter ? (uint32_t)(letter - form->origin) : 0;

		if (!letter && *order != 'D')
			return false;
		if (*order == 'C')
			add_blocks(form, k = axis, channels);
		else if (*order == 'N')
			n = axis;
		else if (letter)
			add_part(form, axis, form->origin_shape[axis], 1);
	}
	if (!form->count)
		add_blocks(form, k, channels);
	form->merged = form->count;
	add_blocks(form, n, n0);
	add_part(form, n, n0, 1);
	add_part(form, k, channels, 1);
	return true;
}

/* The name of the format lists its dimensions: a letter for each axis, C1 and C0 for blocks of channels. */
static bool add_named(struct sk_stored_form *form)
{
	const char *name = form->format;

	if (!sk_format_has_names(form->origin, form->origin_rank))
		return false;
	for (; *name; name++) {
		const char *letter = strchr(form->origin, *name);
		uint32_t axis = letter ? (uint32_t)(letter - form->origin) : 0;
		bool outer = *name == 'C' && name[1] == '1', inner = *name == 'C' && name[1] == '0';

		if (!letter || form->count == form->rank)
			return false;
		if (outer)
			add_blocks(form, axis, form->shape[form->rank - 1]);
		else
			add_part(form, axis, inner ? form->shape[form->rank - 1] : form->origin_shape[axis], 1);
		name += outer || inner;
	}
	return true;
}

static bool add_plain(struct sk_stored_form *form)
{
	if (sk_format_has_names(form->format, form->origin_rank) &&
	    sk_format_has_names(form->origin, form->origin_rank))
		return add_named(form);
	for (uint32_t axis = 0; axis < form->origin_rank; axis++)
		add_part(form, axis, form->origin_shape[axis], 1);
	return true;
}

static bool add_parts(struct sk_stored_form *form)
{
	if (sk_format_is_plain(form->format))
		return add_plain(form);
	if (!strcmp(form->format, "FRACTAL_NZ"))
		return add_fractal_nz(form);
	if (!strcmp(form->format, "FRACTAL_Z") || !strcmp(form->format, "FRACTAL_Z_3D"))
		return add_fractal_z(form);
	return add_named(form);
}

/* ---- reading ---- */

/* True if the dimensions of the shape are the parts; the first ones may be merged into one. */
static bool has_parts(const struct sk_stored_form *form)
{
	uint32_t first = form->merged ? form->merged : 1, dimension = 1;
	uint64_t size = 1;

	if (!form->rank || !form->count)
		return form->rank == form->count;
	for (uint32_t i = 0; i < first; i++)
		if (!sk_mul(size, form->parts[i].size, &size))
			return false;
	if (size != form->shape[0])
		return false;
	for (uint32_t i = first; i < form->count; i++, dimension++)
		if (dimension >= form->rank || form->parts[i].size != form->shape[dimension])
			return false;
	return dimension == form->rank;
}

/* Each axis has a part, and each block a whole of elements. */
static bool covers_axes(const struct sk_stored_form *form)
{
	for (uint32_t axis = 0; axis < form->origin_rank; axis++) {
		uint32_t parts = 0;

		for (uint32_t i = 0; i < form->count; i++)
			parts += form->parts[i].axis == axis;
		if (parts < 1 || parts > 2 || sk_format_padded(form, axis) < form->origin_shape[axis])
			return false;
	}
	return true;
}

uint64_t sk_format_padded(const struct sk_stored_form *form, uint32_t axis)
{
	uint64_t size = 1;

	for (uint32_t i = 0; i < form->count; i++)
		if (form->parts[i].axis == axis)
			size *= form->parts[i].size;
	return size;
}

bool sk_format_read(struct sk_stored_form *form)
{
	form->count = form->merged = 0;
	for (uint32_t i = 0; i < form->rank && !sk_format_is_plain(form->format); i++)
		if (!form->shape[i])
			return false;
	return form->origin_rank + 2 <= SK_MAX_FORMAT_PARTS && add_parts(form) && has_parts(form) && covers_axes(form);
}

const char *sk_format_text(struct sk_arena *arena, const struct sk_stored_form *form)
{
	return sk_arena_print(arena, "%s %s of %s %s", form->format,
			      sk_partial_shape_text(arena, form->rank, form->shape), form->origin,
			      sk_partial_shape_text(arena, form->origin_rank, form->origin_shape));
}
