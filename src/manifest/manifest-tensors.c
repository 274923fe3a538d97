/* `tensors:` of the manifest. Input: the map's node. Output: model->tensors, with sizes computed and views resolved to
 * a root and an offset in bytes. Views may name later tensors, so they are resolved at the end. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

/* The keys of one tensor's map. */
struct draft {
	struct sk_tensor *tensor;
	/* NULL: not given */
	const struct sk_node *dtype, *shape, *role, *data, *fill, *text, *unwritten, *range, *of, *as, *offset;
};

struct view {
	uint32_t tensor;
	struct sk_name of;
	uint32_t offset_rank;
	uint64_t offset[SK_MAX_RANK];
	const struct sk_node *offset_node, *shape_node, *as_node; /* NULL: not given */
	enum sk_dtype as; /* NONE: the type of the tensor that it is part of */
	uint64_t strides[SK_MAX_RANK]; /* once resolved: bytes from an element to the next in each dimension */
	enum { VIEW_OPEN, VIEW_ENTERED, VIEW_RESOLVED } state;
};

static const char each_dimension[] = "each dimension of tensor";

struct views {
	SK_ARRAY(struct view) list;
	uint32_t *of_tensor; /* tensor index -> view index, or SK_NONE */
	bool *sized; /* by tensor: type, shape and size are known; if not, an error has been reported */
};

/* ---- fields ---- */

/* Read a list of up to SK_MAX_RANK sizes: a shape, or the offset of a view. each: the name of one size in messages. */
static bool read_dimensions(const struct sk_document *document, const struct sk_node *node, const char *what,
			    const char *name, const char *each, uint32_t *rank, uint64_t *dimensions)
{
	*rank = 0;
	if (!sk_expect_list(document, node, what, name))
		return false;
	if (node->count > SK_MAX_RANK) {
		sk_error(document->diag, sk_node_place(document, node),
			 "%s '%s' must have at most %u dimensions, not %u", what, name, SK_MAX_RANK, node->count);
		return false;
	}
	for (const struct sk_node *item = sk_node_first(node); item; item = sk_node_next(item))
		if (!sk_manifest_read_size(document, item, each, name, INT64_MAX, &dimensions[(*rank)++]))
			return false;
	return true;
}

static bool read_dtype(const struct sk_document *document, const struct sk_node *node, const char *name,
		       enum sk_dtype *dtype)
{
	const char *names[SK_DTYPE_COUNT - 1];
	size_t index;

	sk_dtype_names(names);
	if (!sk_read_choice(document, node, "the dtype of tensor", name, names, SK_DTYPE_COUNT - 1, &index))
		return false;
	*dtype = (enum sk_dtype)(index + 1);
	return true;
}

/* Compute elements and bytes. Return false if they are too many, or would be with dimensions of 1 instead of 0, so that
 * no stride overflows. */
static bool compute_size(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *shape)
{
	bool fits = true, empty = false;

	tensor->elements = 1;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		fits = fits && sk_mul(tensor->elements, tensor->shape[i] ? tensor->shape[i] : 1, &tensor->elements);
		empty |= tensor->shape[i] == 0;
	}
	if (fits && sk_mul(tensor->elements, sk_dtype_size(tensor->dtype), &tensor->bytes) &&
	    tensor->bytes <= INT64_MAX) {
		tensor->elements = empty ? 0 : tensor->elements;
		tensor->bytes = empty ? 0 : tensor->bytes;
		return true;
	}
	sk_error(document->diag, sk_node_place(document, shape), "tensor '%s' is larger than 2^63 bytes", tensor->name);
	return false;
}

/* ---- tensors with memory of their own ---- */

static void read_role(const struct sk_document *document, const struct draft *draft)
{
	static const char *const names[] = {"input", "output", "inout", "constant", "temporary"};
	struct sk_tensor *tensor = draft->tensor;
	size_t index;

	if (draft->role &&
	    sk_read_choice(document, draft->role, "the role of tensor", tensor->name, names, 5, &index)) {
		tensor->role = SK_ROLE_INPUT + (enum sk_role)index;
		tensor->role_declared = true;
	}
	const struct sk_node *given = draft->data ? draft->data : draft->fill ? draft->fill : draft->text;

	if (!given) {
		if (tensor->role == SK_ROLE_CONSTANT)
			sk_error(document->diag, sk_node_place(document, draft->role),
				 "constant '%s' has no 'data', 'fill' or 'text'", tensor->name);
		return;
	}
	if (tensor->role_declared && tensor->role != SK_ROLE_CONSTANT)
		sk_error(document->diag, sk_node_place(document, draft->role),
			 "tensor '%s' has '%s', so its role is constant, not %s", tensor->name,
			 draft->data   ? "data"
			 : draft->fill ? "fill"
				       : "text",
			 names[index]);
	if (!draft->data + !draft->fill + !draft->text != 2)
		sk_error(document->diag, sk_node_place(document, draft->text ? draft->text : draft->fill),
			 "constant '%s' has its contents twice; 'data', 'fill' and 'text' exclude each other",
			 tensor->name);
	tensor->role = SK_ROLE_CONSTANT;
}

/* If the role is not given, binding all tasks shows whether the tensor is an output. */
static void read_unwritten(const struct sk_document *document, const struct draft *draft)
{
	static const char *const choices[] = {"keep"};
	struct sk_tensor *tensor = draft->tensor;
	size_t index;

	if (draft->unwritten)
		tensor->keeps_unwritten = sk_read_choice(document, draft->unwritten, "'unwritten' of tensor",
							 tensor->name, choices, 1, &index);
}

/* Return the least and the greatest value of a type other than a floating-point type, the latter as far as a double is
 * exact. */
static void limits_of(enum sk_dtype dtype, double *low, double *high)
{
	bool is_signed = sk_dtype_is_signed(dtype);
	int bits = dtype == SK_BOOL ? 1 : 8 * (int)sk_dtype_size(dtype) - is_signed;

	*high = ldexp(1, bits < 53 ? bits : 53) - 1;
	*low = is_signed ? -*high - 1 : 0;
}

/* Read one end of a range: a number that the type can represent. */
static bool read_end(const struct sk_document *document, const struct sk_tensor *tensor, const struct sk_node *node,
		     double *value)
{
	bool is_float = sk_dtype_is_float(tensor->dtype);
	double low = tensor->dtype == SK_F16 ? -65504 : -1e38, high = -low;
	char *end;

	if (!is_float)
		limits_of(tensor->dtype, &low, &high);
	if (node->kind == SK_NODE_SCALAR && node->length && strspn(node->text, "0123456789.eE+-") == node->length) {
		*value = strtod(node->text, &end);
		if (!*end && *value >= low && *value <= high && (is_float || *value >= floor(*value)) &&
		    (is_float || *value <= floor(*value)))
			return true;
	}
	sk_error(document->diag, sk_node_place(document, node), "the range of tensor '%s' needs %s from %.16g to %.16g",
		 tensor->name, is_float ? "numbers" : "integers", low, high);
	return false;
}

/* The range is for tools that fill the tensor with random values. */
static void read_range(const struct sk_document *document, const struct draft *draft)
{
	struct sk_tensor *tensor = draft->tensor;
	const struct sk_node *node = draft->range;
	double low, high;

	if (!sk_expect_list(document, node, "the range of tensor", tensor->name))
		return;
	if (node->count != 2) {
		sk_error(document->diag, sk_node_place(document, node),
			 "the range of tensor '%s' is two numbers, [LOW, HIGH], not %u", tensor->name, node->count);
		return;
	}
	if (!read_end(document, tensor, sk_node_first(node), &low) ||
	    !read_end(document, tensor, sk_node_next(sk_node_first(node)), &high))
		return;
	if (low > high)
		sk_error(document->diag, sk_node_place(document, node),
			 "the range of tensor '%s' ends before it begins", tensor->name);
	tensor->range = sk_arena_print(document->arena, "%.17g %.17g", low, high);
	tensor->range_place = sk_node_place(document, node);
}

/* Return false if its size is unknown. */
static bool read_root(const struct sk_document *document, const struct draft *draft)
{
	struct sk_tensor *tensor = draft->tensor;

	if (draft->offset)
		sk_error(document->diag, sk_node_place(document, draft->offset),
			 "only a view has an offset; name the tensor that '%s' is a part of with 'of'", tensor->name);
	if (draft->as)
		sk_error(document->diag, sk_node_place(document, draft->as),
			 "only a view is the bytes of another tensor 'as' a type; the type of '%s' is its 'dtype'",
			 tensor->name);
	if (!draft->dtype)
		sk_error(document->diag, tensor->place, "tensor '%s' has no 'dtype'", tensor->name);
	if (!draft->shape)
		sk_error(document->diag, tensor->place, "tensor '%s' has no 'shape'", tensor->name);
	read_role(document, draft);
	read_unwritten(document, draft);

	bool typed = draft->dtype && read_dtype(document, draft->dtype, tensor->name, &tensor->dtype);
	bool shaped = draft->shape && read_dimensions(document, draft->shape, "the shape of tensor", tensor->name,
						      each_dimension, &tensor->rank, tensor->shape);

	if (!typed || !shaped)
		return false;
	if (draft->range)
		read_range(document, draft);
	if (!compute_size(document, tensor, draft->shape))
		return false;
	if (draft->data || draft->fill || draft->text)
		sk_manifest_read_contents(document, tensor, draft->data, draft->fill, draft->text);
	return true;
}

/* ---- views ---- */

static void read_view(const struct sk_document *document, const struct draft *draft, struct views *views,
		      uint32_t index)
{
	struct sk_tensor *tensor = draft->tensor;
	struct view view = {
		.tensor = index, .offset_node = draft->offset, .shape_node = draft->shape, .as_node = draft->as};
	const struct sk_node *const refused[] = {draft->dtype, draft->role,	 draft->data, draft->fill,
						 draft->text,  draft->unwritten, draft->range};
	static const char *const names[] = {"dtype", "role", "data", "fill", "text", "'unwritten'", "range"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (refused[i])
			sk_error(document->diag, sk_node_place(document, refused[i]),
				 "a view has the %s of the tensor it is part of%s", names[i],
				 refused[i] == draft->dtype ? "; the same bytes in another type are 'as'" : "");
	if (!sk_read_original(document, draft->of, "'of'", NULL, &view.of))
		return;
	if (draft->as && !read_dtype(document, draft->as, tensor->name, &view.as))
		return;
	if (!draft->shape && (!draft->as || draft->offset)) {
		sk_error(document->diag, tensor->place, "view '%s' has no 'shape'", tensor->name);
		return;
	}
	if ((draft->shape && !read_dimensions(document, draft->shape, "the shape of view", tensor->name, each_dimension,
					      &tensor->rank, tensor->shape)) ||
	    (draft->offset && !read_dimensions(document, draft->offset, "the offset of view", tensor->name,
					       "each offset of view", &view.offset_rank, view.offset)))
		return;
	views->of_tensor[index] = (uint32_t)views->list.count;
	sk_array_push(document->arena, &views->list, view);
}

/* The tensor that a view is cut from, perhaps with its bytes reinterpreted as another type. */
struct whole {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK], strides[SK_MAX_RANK]; /* bytes */
	enum sk_dtype dtype;
};

static struct whole whole_of(const struct views *views, const struct sk_tensor *tensor, uint32_t index)
{
	struct whole whole = {.rank = tensor->rank, .dtype = tensor->dtype};
	uint64_t stride = sk_dtype_size(tensor->dtype);

	memcpy(whole.shape, tensor->shape, sizeof(whole.shape));
	for (uint32_t d = tensor->rank; d-- > 0; stride *= tensor->shape[d])
		whole.strides[d] = stride;
	if (tensor->view_of != SK_NONE)
		memcpy(whole.strides, views->list.items[views->of_tensor[index]].strides, sizeof(whole.strides));
	return whole;
}

/* Reinterpret the elements of the last dimension as elements of another size with the same total bytes. */
static bool change_type(const struct sk_document *document, const struct view *view, const struct sk_tensor *tensor,
			const struct sk_tensor *parent, struct whole *whole)
{
	uint32_t last = whole->rank ? whole->rank - 1 : 0;
	uint64_t size = sk_dtype_size(view->as),
		 bytes = (whole->rank ? whole->shape[last] : 1) * sk_dtype_size(whole->dtype);
	bool fits = bytes % size == 0 && parent->view_offset % size == 0;

	if (view->as != whole->dtype && view->as != SK_U8 && whole->dtype != SK_U8) {
		sk_error(document->diag, sk_node_place(document, view->as_node),
			 "view '%s' of '%s', which is %s, cannot be %s: a view has the bytes of another type as u8, or "
			 "bytes (u8) as another type",
			 tensor->name, parent->name, sk_dtype_name(whole->dtype), sk_dtype_name(view->as));
		return false;
	}
	if (!whole->rank && bytes != size) {
		sk_error(document->diag, sk_node_place(document, view->as_node),
			 "view '%s' cannot be %s: '%s' has no dimension that could count its %" PRIu64 " bytes",
			 tensor->name, sk_dtype_name(view->as), parent->name, bytes);
		return false;
	}
	for (uint32_t d = 0; d < last; d++)
		fits &= whole->shape[d] == 1 || whole->strides[d] % size == 0;
	if (!fits) {
		sk_error(document->diag, sk_node_place(document, view->as_node),
			 "view '%s' cannot be %s: rows of '%s' have %" PRIu64
			 " bytes, and each must begin and end at a multiple of %" PRIu64,
			 tensor->name, sk_dtype_name(view->as), parent->name, bytes, size);
		return false;
	}
	whole->dtype = view->as;
	if (whole->rank) {
		whole->shape[last] = bytes / size;
		whole->strides[last] = size;
	}
	return true;
}

/* Find the rows of a view. Bytes without gaps form one row, and all rows must be equally far apart. Return false if
 * they are not. */
static bool find_rows(const struct sk_tensor *view, const struct whole *whole, struct sk_rows *rows)
{
	*rows = (struct sk_rows){view->view_offset, sk_dtype_size(whole->dtype), 0, 1};
	if (!view->elements)
		return true;
	for (uint32_t d = view->rank; d-- > 0;) {
		if (view->shape[d] == 1)
			continue;
		if (rows->count == 1 && whole->strides[d] == rows->width) {
			rows->width *= view->shape[d];
		} else if (rows->count == 1 || whole->strides[d] == rows->stride * rows->count) {
			rows->stride = rows->count == 1 ? whole->strides[d] : rows->stride;
			rows->count *= view->shape[d];
		} else {
			return false;
		}
	}
	return true;
}

static bool check_slice(const struct sk_document *document, const struct view *view, const struct sk_tensor *tensor,
			const struct sk_tensor *parent, const struct whole *whole)
{
	if (tensor->rank != whole->rank || (view->offset_node && view->offset_rank != whole->rank)) {
		sk_error(document->diag, tensor->place, "view '%s' needs as many dimensions as '%s', which is %s",
			 tensor->name, parent->name, sk_shape_text(document->arena, whole->rank, whole->shape));
		return false;
	}
	for (uint32_t i = 0; i < whole->rank; i++) {
		if (sk_within(view->offset[i], tensor->shape[i], whole->shape[i]))
			continue;
		sk_error(document->diag,
			 sk_node_place(document, view->offset_node ? view->offset_node : view->shape_node),
			 "view '%s' ends after '%s' in dimension %u: %" PRIu64 " + %" PRIu64 " > %" PRIu64,
			 tensor->name, parent->name, i, view->offset[i], tensor->shape[i], whole->shape[i]);
		return false;
	}
	return true;
}

/* Suggest cutting the view along its outermost dimension of more than one index. */
static void report_levels(const struct sk_document *document, const struct view *view, const struct sk_tensor *tensor,
			  const struct sk_tensor *parent)
{
	uint32_t first = 0;

	while (tensor->shape[first] == 1)
		first++;
	sk_error(document->diag, sk_node_place(document, view->shape_node),
		 "view '%s' has gaps of several kinds: a slice %s of '%s' is not a set of rows at equal "
		 "distances; write it as %" PRIu64 " views, one for each index of dimension %u",
		 tensor->name, sk_shape_text(document->arena, tensor->rank, tensor->shape), parent->name,
		 tensor->shape[first], first);
}

/* The parent is a root, or a view that has been resolved. Nothing overflows, since the slice lies within it. Return
 * false after an error of the parent or of the view. */
static bool resolve_view(const struct sk_document *document, const struct views *views, struct view *view,
			 uint32_t parent_index)
{
	const struct sk_model *model = document->owner;
	struct sk_tensor *tensor = &model->tensors.items[view->tensor];
	const struct sk_tensor *parent = &model->tensors.items[parent_index];
	struct whole whole = whole_of(views, parent, parent_index);

	if (!views->sized[parent_index] || (view->as && !change_type(document, view, tensor, parent, &whole)))
		return false;
	if (!view->shape_node) {
		tensor->rank = whole.rank;
		memcpy(tensor->shape, whole.shape, sizeof(whole.shape));
	}
	if (!check_slice(document, view, tensor, parent, &whole))
		return false;
	tensor->dtype = whole.dtype;
	tensor->view_of = parent->view_of == SK_NONE ? parent_index : parent->view_of;
	tensor->view_offset = parent->view_offset;
	memcpy(view->strides, whole.strides, sizeof(whole.strides));
	if (!compute_size(document, tensor, view->shape_node))
		return false;
	/* A view without elements has no place; its offset may be at the end of the whole. */
	for (uint32_t i = 0; i < whole.rank && tensor->elements; i++)
		tensor->view_offset += view->offset[i] * whole.strides[i];
	if (!find_rows(tensor, &whole, &tensor->rows)) {
		report_levels(document, view, tensor, parent);
		return false;
	}
	if (tensor->rows.count == 1)
		tensor->rows = (struct sk_rows){0};
	return true;
}

/* Follow the chain from a view towards its root, then resolve the views on the way back. `path` has room for all
 * views. */
static void resolve_chain(const struct sk_document *document, struct views *views, uint32_t first, uint32_t *path)
{
	struct sk_model *model = document->owner;
	uint32_t length = 0, parent = SK_NONE;

	for (uint32_t v = first; v != SK_NONE && views->list.items[v].state != VIEW_RESOLVED;) {
		struct view *view = &views->list.items[v];
		const char *name = view->of.text;

		if (view->state == VIEW_ENTERED) {
			sk_error(document->diag, view->of.place, "view '%s' is part of itself",
				 model->tensors.items[view->tensor].name);
			parent = SK_NONE;
			break;
		}
		view->state = VIEW_ENTERED;
		path[length++] = v;
		parent = sk_map_find(&model->tensor_names, name, strlen(name));
		if (parent == SK_NONE) {
			sk_error(document->diag, view->of.place, "unknown tensor '%s'%s", name,
				 SK_SUGGEST_NAME(model, name, model->tensors.items, model->tensors.count));
			break;
		}
		v = views->of_tensor[parent];
	}
	while (length > 0) {
		struct view *view = &views->list.items[path[--length]];

		view->state = VIEW_RESOLVED;
		views->sized[view->tensor] = parent != SK_NONE && resolve_view(document, views, view, parent);
		parent = view->tensor;
	}
}

/* ---- the section ---- */

static void read_tensor(const struct sk_document *document, const struct sk_node *key, struct views *views)
{
	struct sk_model *model = document->owner;
	static const struct sk_field fields[] = {
		{"dtype", false, NULL, offsetof(struct draft, dtype)},
		{"shape", false, NULL, offsetof(struct draft, shape)},
		{"role", false, NULL, offsetof(struct draft, role)},
		{"data", false, NULL, offsetof(struct draft, data)},
		{"fill", false, NULL, offsetof(struct draft, fill)},
		{"text", false, NULL, offsetof(struct draft, text)},
		{"unwritten", false, NULL, offsetof(struct draft, unwritten)},
		{"range", false, NULL, offsetof(struct draft, range)},
		{"of", false, NULL, offsetof(struct draft, of)},
		{"offset", false, NULL, offsetof(struct draft, offset)},
		{"as", false, NULL, offsetof(struct draft, as)},
	};
	uint32_t index = (uint32_t)model->tensors.count;
	struct sk_name name;

	if (!sk_read_original(document, key, "the name of a tensor", NULL, &name))
		return;
	sk_map_insert(&model->tensor_names, name.text, key->length, index);
	sk_array_push(
		document->arena, &model->tensors,
		(struct sk_tensor){.name = name.text, .place = name.place, .view_of = SK_NONE, .binding = SK_NONE});
	views->of_tensor[index] = SK_NONE;

	struct draft draft = {.tensor = &model->tensors.items[index]};

	if (!sk_read_fields(document, sk_node_value(key), "tensor", name.text, fields,
			    sizeof(fields) / sizeof(fields[0]), &draft))
		return;
	if (draft.of)
		read_view(document, &draft, views, index);
	else
		views->sized[index] = read_root(document, &draft);
}

void sk_manifest_read_tensors(const struct sk_document *document, const struct sk_node *map)
{
	struct sk_model *model = document->owner;
	struct views views = {0};

	if (!sk_expect_map(document, map, "'tensors'", NULL))
		return;
	views.of_tensor = SK_NEW_ARRAY(document->arena, uint32_t, map->count + 1);
	views.sized = SK_NEW_ARRAY(document->arena, bool, map->count + 1);
	model->tensors.items = SK_NEW_ARRAY(document->arena, struct sk_tensor, map->count + 1);
	model->tensors.capacity = map->count + 1;
	for (const struct sk_node *key = sk_node_first(map); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key))
		read_tensor(document, key, &views);

	uint32_t *path = SK_NEW_ARRAY(document->arena, uint32_t, views.list.count + 1);

	for (uint32_t v = 0; v < views.list.count && !sk_diag_is_hopeless(document->diag); v++)
		resolve_chain(document, &views, v, path);
}
