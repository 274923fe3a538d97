/* See forms.h. A chain of pieces covers a read if each piece begins where the one before it ends, or earlier. Rows of
 * one stride and number are covered column by column in the same way. */
#include "src/proof/forms.h"

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"

/* [start, end) in each of `count` rows; in one row if stride and count are NULL. */
struct piece {
	const struct sk_normal *start, *end, *stride, *count;
};

/* Pieces examined for one read. */
enum { MAX_PIECES = 256 };

struct sk_sized_pieces {
	SK_ARRAY(struct piece) list;
};

void sk_sized_contents_init(struct sk_sized_contents *contents, struct sk_sized *sized)
{
	contents->sized = sized;
	contents->tensors = SK_NEW_ARRAY(sized->forms.arena, struct sk_sized_pieces, sized->view->tensor_count);
}

static bool in_same_rows(struct sk_normals *forms, const struct piece *one, const struct piece *other)
{
	return one->stride && other->stride ? sk_normal_equal(forms, one->stride, other->stride) &&
						      sk_normal_equal(forms, one->count, other->count)
					    : !one->stride && !other->stride;
}

/* Extend the chain, which covers the read up to *reached, by pieces in the same rows. */
static bool extend(struct sk_normals *forms, const struct sk_sized_pieces *pieces, const struct piece *read, bool *used,
		   const struct sk_normal **reached)
{
	for (size_t i = 0; i < pieces->list.count && i < MAX_PIECES; i++) {
		const struct piece *piece = &pieces->list.items[i];

		if (used[i] || !in_same_rows(forms, piece, read) || !sk_normal_at_most(forms, piece->start, *reached) ||
		    !sk_normal_at_most(forms, *reached, piece->end))
			continue;
		used[i] = true;
		*reached = piece->end;
		return true;
	}
	return false;
}

static bool is_covered(struct sk_normals *forms, const struct sk_sized_pieces *pieces, const struct piece *read)
{
	const struct sk_normal *reached = read->start;
	bool used[MAX_PIECES] = {false};

	do
		if (sk_normal_at_most(forms, read->end, reached))
			return true;
	while (extend(forms, pieces, read, used, &reached));
	return false;
}

bool sk_sized_covered(struct sk_sized_contents *contents, uint32_t tensor, const struct sk_sized_rows *rows)
{
	struct sk_normals *forms = &contents->sized->forms;
	const struct sk_sized_pieces *pieces = &contents->tensors[tensor];
	const struct piece whole = {rows->start, rows->end, NULL, NULL};
	const struct piece read = {rows->start, sk_normal_add(forms, rows->start, rows->width), rows->stride,
				   rows->count};

	return is_covered(forms, pieces, &whole) || (rows->stride && is_covered(forms, pieces, &read));
}

static struct sk_sized_rows rows_of(struct sk_normals *forms, const struct piece *piece)
{
	struct sk_sized_rows rows = {.start = piece->start,
				     .width = sk_normal_subtract(forms, piece->end, piece->start),
				     .stride = piece->stride,
				     .count = piece->count,
				     .end = piece->end};
	const struct sk_normal *one = sk_normal_number(forms, 1);

	if (piece->stride)
		rows.end = sk_normal_add(
			forms, piece->end,
			sk_normal_multiply(forms, sk_normal_subtract(forms, piece->count, one), piece->stride));
	return rows;
}

static void keep_part(struct sk_normals *forms, struct sk_sized_pieces *pieces, const struct sk_normal *start,
		      const struct sk_normal *end)
{
	if (start && end)
		sk_array_push(forms->arena, &pieces->list, (struct piece){.start = start, .end = end});
}

/* Keep the parts of a single row before and after the bytes. At some sizes they may end before they start; then they
 * extend no chain. */
static void end_piece(struct sk_sized_contents *contents, struct sk_sized_pieces *pieces, size_t number,
		      const struct sk_sized_rows *rows)
{
	struct sk_normals *forms = &contents->sized->forms;
	const struct piece piece = pieces->list.items[number];

	pieces->list.items[number] = pieces->list.items[--pieces->list.count];
	if (piece.stride)
		return;
	keep_part(forms, pieces, piece.start, sk_normal_least(forms, rows->start, piece.end));
	keep_part(forms, pieces, sk_normal_most(forms, rows->end, piece.start), piece.end);
}

static void end_pieces(struct sk_sized_contents *contents, uint32_t tensor, const struct sk_sized_rows *rows)
{
	struct sk_sized_pieces *pieces = &contents->tensors[tensor];

	for (size_t i = pieces->list.count; i-- > 0;) {
		const struct sk_sized_rows other = rows_of(&contents->sized->forms, &pieces->list.items[i]);

		if (!sk_sized_apart(contents->sized, &other, rows))
			end_piece(contents, pieces, i, rows);
	}
}

static void end_others(struct sk_sized_contents *contents, uint32_t tensor, const struct sk_sized_rows *rows)
{
	const struct sk_plan_tensor *tensors = contents->sized->view->tensors;

	for (uint32_t i = 0; i < contents->sized->view->tensor_count; i++)
		if (i != tensor && tensors[i].space == SK_SPACE_WORKSPACE && contents->tensors[i].list.count &&
		    tensors[i].offset < sk_rows_end(&rows->hull) &&
		    rows->hull.start < tensors[i].offset + sk_plan_type(&tensors[i])->bytes)
			end_pieces(contents, i, rows);
}

static bool is_kept(struct sk_normals *forms, const struct sk_sized_pieces *pieces, const struct piece *piece)
{
	for (size_t i = 0; i < pieces->list.count; i++)
		if (in_same_rows(forms, piece, &pieces->list.items[i]) &&
		    sk_normal_equal(forms, piece->start, pieces->list.items[i].start) &&
		    sk_normal_equal(forms, piece->end, pieces->list.items[i].end))
			return true;
	return false;
}

/* Rows of which the columns are covered from the first byte to the distance of the next row have no gaps: they are a
 * single row, too, which can be a part of a chain. */
static void join_columns(struct sk_normals *forms, struct sk_sized_pieces *pieces, const struct piece *written)
{
	for (size_t i = 0, count = pieces->list.count; i < count && i < MAX_PIECES; i++) {
		const struct piece first = pieces->list.items[i];
		const struct piece read = {first.start, sk_normal_add(forms, first.start, written->stride),
					   written->stride, written->count};
		const struct piece joined = {
			first.start,
			sk_normal_add(forms, first.start, sk_normal_multiply(forms, written->stride, written->count)),
			NULL, NULL};

		if (in_same_rows(forms, &first, written) && is_covered(forms, pieces, &read) &&
		    !is_kept(forms, pieces, &joined))
			keep_part(forms, pieces, joined.start, joined.end);
	}
}

void sk_sized_write(struct sk_sized_contents *contents, uint32_t tensor, const struct sk_sized_rows *rows)
{
	struct sk_normals *forms = &contents->sized->forms;
	struct sk_sized_pieces *pieces = &contents->tensors[tensor];
	const struct piece piece = {rows->start,
				    rows->stride ? sk_normal_add(forms, rows->start, rows->width) : rows->end,
				    rows->stride, rows->count};

	if (contents->sized->view->tensors[tensor].space == SK_SPACE_WORKSPACE)
		end_others(contents, tensor, rows);
	if (!rows->certain)
		return;
	if (is_kept(forms, pieces, &piece))
		return;
	sk_array_push(forms->arena, &pieces->list, piece);
	if (piece.stride)
		join_columns(forms, pieces, &piece);
}
