/* Constants with contents in the manifest. Input: a tensor with dtype and shape, and the node of `data`, `fill` or
 * `text`. Output: its bytes, or the path of the file that has them, or the bits of every element. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

enum { MOST_FILLED = 1 << 30 }; /* bytes */

/* Read false, true, or a number that the dtype can represent. */
static bool read_number(const struct sk_document *document, const struct sk_tensor *tensor, const struct sk_node *node,
			uint64_t *bits)
{
	bool is_bool = tensor->dtype == SK_BOOL, valid = false;
	struct sk_number number = {.text = ""};

	if (node->kind == SK_NODE_SCALAR && is_bool && (!strcmp(node->text, "true") || !strcmp(node->text, "false"))) {
		*bits = *node->text == 't';
		return true;
	}
	if (node->kind == SK_NODE_SCALAR && sk_manifest_parse_number(node->text, &number, &valid) && valid &&
	    sk_number_bits(&number, tensor->dtype, bits))
		return true;
	sk_error(document->diag, sk_node_place(document, node), "an element of constant '%s' is %s, not %s%s%s",
		 tensor->name, is_bool ? "true or false" : sk_dtype_name(tensor->dtype),
		 node->kind == SK_NODE_SCALAR ? "'" : "",
		 node->kind == SK_NODE_SCALAR ? node->text
		 : node->kind == SK_NODE_LIST ? "a list"
					      : "a map",
		 node->kind == SK_NODE_SCALAR ? "'" : "");
	return false;
}

/* Check that the list is nested according to the shape. */
static bool has_shape(const struct sk_document *document, const struct sk_tensor *tensor, const struct sk_node *list,
		      uint32_t dimension)
{
	if (list->kind != SK_NODE_LIST || list->count != tensor->shape[dimension]) {
		sk_error(document->diag, sk_node_place(document, list),
			 "constant '%s' is %s, so this must be a list of %" PRIu64 ", not %s", tensor->name,
			 sk_shape_text(document->arena, tensor->rank, tensor->shape), tensor->shape[dimension],
			 list->kind == SK_NODE_LIST ? sk_arena_print(document->arena, "of %u", list->count)
						    : "one value");
		return false;
	}
	for (const struct sk_node *item = sk_node_first(list); item && dimension + 1 < tensor->rank;
	     item = sk_node_next(item))
		if (!has_shape(document, tensor, item, dimension + 1))
			return false;
	return true;
}

/* Read the numbers in lists nested to the given depth. */
static bool read_elements(const struct sk_document *document, const struct sk_tensor *tensor,
			  const struct sk_node *list, uint32_t depth, uint8_t **next)
{
	uint32_t size = sk_dtype_size(tensor->dtype);
	uint64_t bits = 0;

	for (const struct sk_node *item = sk_node_first(list); item; item = sk_node_next(item)) {
		if (depth ? !read_elements(document, tensor, item, depth - 1, next)
			  : !read_number(document, tensor, item, &bits))
			return false;
		if (depth)
			continue;
		memcpy(*next, &bits, size); /* packages are little-endian */
		*next += size;
	}
	return true;
}

/* Read all elements from a flat list, from nested lists, or from the single number of a tensor without dimensions. */
static void read_list(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *list)
{
	bool flat = tensor->rank == 0 || (tensor->elements == 0 && !sk_node_first(list)) ||
		    (tensor->rank > 1 && sk_node_first(list) && sk_node_first(list)->kind == SK_NODE_SCALAR);

	if (flat && list->count != tensor->elements) {
		sk_error(document->diag, sk_node_place(document, list),
			 "constant '%s' has %" PRIu64 " elements, not %u", tensor->name, tensor->elements, list->count);
		return;
	}
	if (!flat && !has_shape(document, tensor, list, 0))
		return;

	uint8_t *bytes = sk_arena_alloc(document->arena, tensor->bytes, 1), *next = bytes;

	if (read_elements(document, tensor, list, flat ? 0 : tensor->rank - 1, &next))
		tensor->contents = bytes;
}

static void read_fill(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *fill)
{
	if (tensor->bytes > MOST_FILLED)
		sk_error(document->diag, sk_node_place(document, fill),
			 "constant '%s' has %" PRIu64 " bytes, and at most %d are filled; store them in a .npy file",
			 tensor->name, tensor->bytes, MOST_FILLED);
	else
		tensor->filled = read_number(document, tensor, fill, &tensor->fill);
}

/* As in C, the bytes after the text are 0. */
static void read_text(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *node)
{
	struct sk_name text;

	if (tensor->dtype != SK_U8 && tensor->dtype != SK_I8) {
		sk_error(document->diag, sk_node_place(document, node),
			 "constant '%s' has 'text', so its dtype is u8, not %s", tensor->name,
			 sk_dtype_name(tensor->dtype));
		return;
	}
	if (!sk_read_text(document, node, "the text of constant", tensor->name, &text))
		return;
	if (node->length > tensor->bytes) {
		sk_error(document->diag, text.place,
			 "the text of constant '%s' has %u bytes, but the tensor has %" PRIu64, tensor->name,
			 node->length, tensor->bytes);
		return;
	}
	if (tensor->bytes > MOST_FILLED) {
		sk_error(document->diag, text.place, "constant '%s' has %" PRIu64 " bytes, and a text of it at most %d",
			 tensor->name, tensor->bytes, MOST_FILLED);
		return;
	}

	uint8_t *bytes = sk_arena_alloc(document->arena, tensor->bytes, 1);

	memcpy(bytes, text.text, node->length);
	tensor->contents = bytes;
}

void sk_manifest_read_contents(const struct sk_document *document, struct sk_tensor *tensor, const struct sk_node *data,
			       const struct sk_node *fill, const struct sk_node *text)
{
	struct sk_name path;

	if (fill)
		read_fill(document, tensor, fill);
	else if (text)
		read_text(document, tensor, text);
	else if (data->kind == SK_NODE_LIST)
		read_list(document, tensor, data);
	else if (sk_read_text(document, data, "the data of tensor", tensor->name, &path))
		tensor->data = sk_model_path(document->owner, path.text);
}
