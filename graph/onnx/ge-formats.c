/* Storage formats in dumps; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

enum { INT8 = 3 }; /* a type of onnx.proto */

/* A tensor, as nodes describe it. */
struct tensor {
	const char *name;
	const char *format, *origin_format; /* "": not given */
	const struct sk_onnx_attribute *shape, *origin_shape; /* NULL: not given */
	int64_t element; /* the number of its type in onnx.proto; 0: not given */
	size_t place; /* among the node's inputs or outputs */
	bool formed; /* `form` has been found */
	struct sk_stored_form form;
};

/* A node and its tensors. */
struct viewed_node {
	struct sk_ge_translation *translation;
	struct sk_onnx_node *node;
	const char *type; /* GE's type */
	SK_ARRAY(struct tensor) tensors; /* inputs, then outputs, without absent ones */
	size_t inputs;
};

static struct sk_onnx_bytes bytes_of(const char *text)
{
	return (struct sk_onnx_bytes){(const uint8_t *)text, strlen(text)};
}

static void tell(const struct viewed_node *viewed, const char *text)
{
	sk_array_push(viewed->translation->arena, &viewed->node->told, text);
}

/* ---- descriptions ---- */

static const char *text_of(struct sk_arena *arena, const struct sk_onnx_attribute *attribute)
{
	return attribute && attribute->s.size
		       ? sk_arena_copy(arena, (const char *)attribute->s.bytes, attribute->s.size)
		       : "";
}

static struct tensor tensor_of(struct sk_arena *arena, const struct sk_onnx_node *node, const char *side, size_t number)
{
	static const char *const fields[] = {"layout", "origin_layout", "shape", "origin_shape", "dtype"};
	const struct sk_onnx_attribute *found[5];

	for (size_t i = 0; i < 5; i++)
		found[i] = sk_ge_attribute(node, sk_arena_print(arena, "%s_desc_%s:%zu", side, fields[i], number));
	return (struct tensor){.name = "",
			       .format = text_of(arena, found[0]),
			       .origin_format = text_of(arena, found[1]),
			       .shape = found[2],
			       .origin_shape = found[3],
			       .element = found[4] ? sk_onnx_ge_element(found[4]->s) : 0,
			       .place = number};
}

static bool copy_shape(const struct sk_onnx_attribute *from, uint32_t *rank, uint64_t *shape)
{
	if (!from || from->integers.count > SK_MAX_RANK)
		return false;
	for (size_t i = 0; i < from->integers.count; i++) {
		if (from->integers.items[i] < 0)
			return false;
		shape[i] = (uint64_t)from->integers.items[i];
	}
	*rank = (uint32_t)from->integers.count;
	return true;
}

/* Find the form. A tensor that does not say its origin has the axes of its shape. */
static void find_form(struct tensor *tensor)
{
	struct sk_stored_form *form = &tensor->form;
	bool plain = sk_format_is_plain(tensor->format);
	const struct sk_onnx_attribute *origin = tensor->origin_shape || !plain ? tensor->origin_shape : tensor->shape;

	form->format = *tensor->format ? tensor->format : "ND";
	form->origin = *tensor->origin_format ? tensor->origin_format : plain ? form->format : "ND";
	tensor->formed = copy_shape(tensor->shape, &form->rank, form->shape) &&
			 copy_shape(origin, &form->origin_rank, form->origin_shape) && sk_format_read(form);
}

/* True if the stored dimensions are the axes of the origin, in their order. */
static bool is_natural(const struct tensor *tensor)
{
	size_t rank = strlen(tensor->format);

	return sk_format_is_plain(tensor->format) &&
	       (!sk_format_has_names(tensor->format, rank) || !sk_format_has_names(tensor->origin_format, rank) ||
		!strcmp(tensor->format, tensor->origin_format));
}

static const char *shape_text(struct sk_arena *arena, const struct sk_onnx_attribute *shape)
{
	const char *text = "[";

	for (size_t i = 0; shape && i < shape->integers.count && i <= SK_MAX_RANK; i++)
		text = i == SK_MAX_RANK
			       ? sk_arena_join(arena, text, ", …")
			       : sk_arena_print(arena, "%s%s%" PRId64, text, i ? ", " : "", shape->integers.items[i]);
	return shape ? sk_arena_join(arena, text, "]") : "[?]";
}

static const char *tensor_text(struct sk_arena *arena, const struct tensor *tensor)
{
	return sk_arena_print(arena, "%s %s of %s %s", *tensor->format ? tensor->format : "ND",
			      shape_text(arena, tensor->shape), *tensor->origin_format ? tensor->origin_format : "ND",
			      shape_text(arena, tensor->origin_shape));
}

/* The producer's description of the tensor takes precedence over the reader's. False after an error. */
static bool add_input(struct viewed_node *viewed, size_t number)
{
	const struct sk_ge_translation *translation = viewed->translation;
	const char *name = viewed->node->inputs.items[number];
	uint32_t index = sk_map_find(&translation->values, name, strlen(name));
	struct tensor read = tensor_of(translation->arena, viewed->node, "input", number), made = read;

	if (index != SK_NONE)
		made = tensor_of(translation->arena,
				 &translation->graph->nodes.items[translation->makers.items[index].node], "output",
				 translation->makers.items[index].output);
	if (*made.format && *read.format && strcmp(made.format, read.format) != 0 &&
	    !(sk_format_is_plain(made.format) && sk_format_is_plain(read.format))) {
		sk_ge_report(translation, viewed->node,
			     sk_arena_print(translation->arena, "it reads '%s' as %s, and that is made as %s", name,
					    read.format, made.format));
		return false;
	}
	read.name = name;
	read.format = *made.format ? made.format : read.format;
	read.origin_format = *read.origin_format ? read.origin_format : made.origin_format;
	read.shape = made.shape ? made.shape : read.shape;
	read.element = made.element ? made.element : read.element;
	read.origin_shape = read.origin_shape ? read.origin_shape : made.origin_shape;
	find_form(&read);
	sk_array_push(translation->arena, &viewed->tensors, read);
	return true;
}

static bool add_tensors(struct viewed_node *viewed)
{
	const struct sk_onnx_node *node = viewed->node;
	bool added = true;

	for (size_t i = 0; i < node->inputs.count; i++)
		if (*node->inputs.items[i])
			added &= add_input(viewed, i);
	viewed->inputs = viewed->tensors.count;
	for (size_t i = 0; i < node->outputs.count; i++) {
		struct tensor tensor = tensor_of(viewed->translation->arena, node, "output", i);

		tensor.name = node->outputs.items[i];
		find_form(&tensor);
		if (*tensor.name)
			sk_array_push(viewed->translation->arena, &viewed->tensors, tensor);
	}
	return added;
}

/* Return the first tensor in another form than its origin; NULL: there is none. */
static const struct tensor *find_stored(const struct viewed_node *viewed)
{
	for (size_t i = 0; i < viewed->tensors.count; i++)
		if (!is_natural(&viewed->tensors.items[i]))
			return &viewed->tensors.items[i];
	return NULL;
}

/* ---- TransData ---- */

static void set_text(struct sk_arena *arena, struct sk_onnx_node *node, const char *name, const char *text)
{
	struct sk_onnx_attribute *old = sk_ge_attribute(node, name);
	const struct sk_onnx_attribute new = {.name = name, .type = SK_ONNX_ATTRIBUTE_STRING, .s = bytes_of(text)};

	if (old)
		*old = new;
	else
		sk_array_push(arena, &node->attributes, new);
}

static void set_shape(struct sk_arena *arena, struct sk_onnx_node *node, const char *name, uint32_t rank,
		      const uint64_t *shape)
{
	struct sk_onnx_attribute list = {.name = name, .type = SK_ONNX_ATTRIBUTE_INTS};

	for (uint32_t i = 0; i < rank; i++)
		sk_array_push(arena, &list.integers, (int64_t)shape[i]);
	sk_array_push(arena, &node->attributes, list);
}

static void set_number(struct sk_arena *arena, struct sk_onnx_node *node, const char *name, int64_t number)
{
	sk_array_push(arena, &node->attributes,
		      (struct sk_onnx_attribute){.name = name, .type = SK_ONNX_ATTRIBUTE_INT, .i = number});
}

static void set_forms(struct sk_arena *arena, struct sk_onnx_node *node, const struct sk_stored_form *from,
		      const struct sk_stored_form *to)
{
	set_text(arena, node, "src_format", from->format);
	set_text(arena, node, "dst_format", to->format);
	set_text(arena, node, "src_origin", from->origin);
	set_text(arena, node, "dst_origin", to->origin);
	set_shape(arena, node, "origin_shape", from->origin_rank, from->origin_shape);
	set_shape(arena, node, "dst_shape", to->rank, to->shape);
}

/* Return the form of the tensor in the dimensions of its origin. */
static struct sk_stored_form origin_form(const struct sk_stored_form *form)
{
	struct sk_stored_form origin = *form;

	origin.format = form->origin;
	origin.rank = form->origin_rank;
	memcpy(origin.shape, form->origin_shape, sizeof(origin.shape));
	return origin;
}

/* Return a node that converts a value. It has the scope and the stream of the node that needs it. */
static struct sk_onnx_node conversion(const struct viewed_node *viewed, const char *op, const char *from,
				      const char *to, const char *name)
{
	static const char *const marks[] = {SK_ONNX_SCOPE, SK_ONNX_SCOPE_OPTIONS, SK_ONNX_STREAM};
	struct sk_arena *arena = viewed->translation->arena;
	struct sk_onnx_node node = {.message = viewed->node->message, .name = name, .op = op, .domain = SK_OWN_DOMAIN};

	sk_array_push(arena, &node.inputs, from);
	sk_array_push(arena, &node.outputs, to);
	set_number(arena, &node, SK_ONNX_CONVERTS, 1);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const struct sk_onnx_attribute *mark = sk_ge_attribute(viewed->node, marks[i]);

		if (mark)
			sk_array_push(arena, &node.attributes, *mark);
	}
	node.imports = sk_ge_imports(arena, SK_OWN_DOMAIN, 1);
	return node;
}

/* Add a node TransData. */
static void add_conversion(const struct viewed_node *viewed, const char *from, const struct sk_stored_form *source,
			   const char *to, const struct sk_stored_form *target, const char *name)
{
	struct sk_onnx_node node = conversion(viewed, "TransData", from, to, name);

	set_forms(viewed->translation->arena, &node, source, target);
	sk_array_push(viewed->translation->arena, &viewed->translation->added, node);
}

/* Return the name of the input's value in the dimensions of its origin. */
static const char *convert_input(const struct viewed_node *viewed, const struct tensor *tensor)
{
	struct sk_ge_translation *translation = viewed->translation;
	const struct sk_stored_form origin = origin_form(&tensor->form);
	const char *name = sk_arena_print(translation->arena, "%s/%s", tensor->name, origin.format);
	const char *key =
		sk_arena_print(translation->arena, "%s %s", name, sk_format_text(translation->arena, &tensor->form));
	uint32_t new = (uint32_t)translation->added.count, number;

	number = sk_map_insert(&translation->converted, key, strlen(key), new);
	if (number != new)
		return translation->added.items[number].outputs.items[0];
	if (sk_map_insert(&translation->converted, name, strlen(name), new) != new)
		name = sk_arena_print(translation->arena, "%s/%" PRIu32, name, new);
	add_conversion(viewed, tensor->name, &tensor->form, name, &origin, name);
	return name;
}

static const char *convert_output(const struct viewed_node *viewed, const struct tensor *tensor)
{
	struct sk_ge_translation *translation = viewed->translation;
	const struct sk_stored_form origin = origin_form(&tensor->form);
	const char *name = sk_arena_print(translation->arena, "%s/%s of its node", tensor->name, origin.format);

	add_conversion(viewed, name, &origin, tensor->name, &tensor->form,
		       sk_arena_print(translation->arena, "%s/%s", tensor->name, tensor->form.format));
	return name;
}

/* Return the number of groups if a tensor is in a format that depends on it, and is known for one group only; otherwise
 * 1. */
static int64_t groups_of(const struct viewed_node *viewed)
{
	static const char *const names[] = {"groups", "group"};
	int64_t groups = 1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct sk_onnx_attribute *attribute = sk_ge_attribute(viewed->node, names[i]);

		groups = attribute && attribute->i > groups ? attribute->i : groups;
	}
	for (size_t i = 0; i < viewed->tensors.count; i++)
		if (!strncmp(viewed->tensors.items[i].format, "FRACTAL_Z", strlen("FRACTAL_Z")))
			return groups;
	return 1;
}

static bool check_groups(const struct viewed_node *viewed)
{
	int64_t groups = groups_of(viewed);

	if (groups > 1)
		sk_ge_report(viewed->translation, viewed->node,
			     sk_arena_print(viewed->translation->arena,
					    "it has %" PRId64 " groups: FRACTAL_Z is known for one group only",
					    groups));
	return groups == 1;
}

/* Compute the node in the dimensions of origins. False after an error. */
static bool convert(const struct viewed_node *viewed)
{
	struct sk_arena *arena = viewed->translation->arena;

	if (!check_groups(viewed))
		return false;
	for (size_t i = 0; i < viewed->tensors.count; i++) {
		const struct tensor *tensor = &viewed->tensors.items[i];

		if (is_natural(tensor))
			continue;
		if (!tensor->formed) {
			sk_ge_report(viewed->translation, viewed->node,
				     sk_arena_print(arena, "'%s' is stored as %s: there is no such form of a tensor",
						    tensor->name, tensor_text(arena, tensor)));
			return false;
		}
		tell(viewed,
		     sk_arena_print(arena, "'%s' is %s: TransData %s the %s", tensor->name,
				    sk_format_text(arena, &tensor->form),
				    i < viewed->inputs ? "makes it its origin for" : "makes it of the result of",
				    viewed->type));
		if (i < viewed->inputs)
			viewed->node->inputs.items[tensor->place] = convert_input(viewed, tensor);
		else
			viewed->node->outputs.items[tensor->place] = convert_output(viewed, tensor);
	}
	set_number(arena, viewed->node, SK_ONNX_CONVERTS, 1);
	return true;
}

/* A node that changes the format. */
static bool translate_trans_data(const struct viewed_node *viewed)
{
	static const char *const own[] = {"src_format", "dst_format"};
	struct sk_arena *arena = viewed->translation->arena;
	const struct sk_onnx_attribute *groups = sk_ge_attribute(viewed->node, "groups");

	if (viewed->tensors.count != 2 || viewed->inputs != 1)
		return true; /* the operator's own checks report it */
	for (size_t i = 0; i < 2; i++) {
		struct tensor *tensor = &viewed->tensors.items[i];

		if (!*tensor->format)
			tensor->format = text_of(arena, sk_ge_attribute(viewed->node, own[i]));
		find_form(tensor);
		if (!tensor->formed) {
			sk_ge_report(viewed->translation, viewed->node,
				     sk_arena_print(arena, "'%s' is stored as %s: there is no such form of a tensor",
						    tensor->name, tensor_text(arena, tensor)));
			return false;
		}
	}
	if (groups && groups->i > 1) {
		sk_ge_report(viewed->translation, viewed->node,
			     sk_arena_print(arena, "'groups' is %" PRId64 ": only formats of one group are known",
					    groups->i));
		return false;
	}
	set_forms(arena, viewed->node, &viewed->tensors.items[0].form, &viewed->tensors.items[1].form);
	if (viewed->tensors.items[1].element)
		set_number(arena, viewed->node, "to",
			   viewed->tensors.items[1].element == SK_GE_INT4 ? INT8 : viewed->tensors.items[1].element);
	return true;
}

/* ---- int4 ---- */

static bool is_int4(const struct tensor *tensor)
{
	return tensor->element == SK_GE_INT4;
}

static bool has_int4(const struct viewed_node *viewed)
{
	for (size_t i = 0; i < viewed->tensors.count; i++)
		if (is_int4(&viewed->tensors.items[i]))
			return true;
	return false;
}

/* Return the name of the input's value as int8. */
static const char *unpack_input(const struct viewed_node *viewed, const char *from)
{
	struct sk_ge_translation *translation = viewed->translation;
	const char *name = sk_arena_join(translation->arena, from, "/int8");
	uint32_t new = (uint32_t)translation->added.count;

	if (sk_map_insert(&translation->converted, name, strlen(name), new) == new)
		sk_array_push(translation->arena, &translation->added,
			      conversion(viewed, "Int4ToInt8", from, name, name));
	return name;
}

/* Let the node compute int8, the lowest four bits of which are its result. */
static void unpack(struct viewed_node *viewed)
{
	struct sk_arena *arena = viewed->translation->arena;

	for (size_t i = 0; i < viewed->tensors.count; i++) {
		struct tensor *tensor = &viewed->tensors.items[i];
		const char *name = tensor->name;

		if (!is_int4(tensor))
			continue;
		tell(viewed, sk_arena_print(arena, "'%s' is int4: %s computes int8", name, viewed->type));
		if (i < viewed->inputs) {
			tensor->name = viewed->node->inputs.items[tensor->place] = unpack_input(viewed, name);
			continue;
		}
		tensor->name = viewed->node->outputs.items[tensor->place] =
			sk_arena_join(arena, name, "/int8 of its node");
		sk_array_push(
			arena, &viewed->translation->added,
			conversion(viewed, "Int8ToInt4", tensor->name, name, sk_arena_join(arena, name, "/int4")));
	}
}

/* ---- elementwise operators ---- */

static bool is_number(const struct tensor *tensor)
{
	bool one = tensor->shape && sk_format_is_plain(tensor->format);

	for (size_t i = 0; one && i < tensor->shape->integers.count; i++)
		one = tensor->shape->integers.items[i] == 1;
	return one;
}

static bool same_shape(const struct sk_onnx_attribute *a, const struct sk_onnx_attribute *b)
{
	return a->integers.count == b->integers.count &&
	       (!a->integers.count ||
		!memcmp(a->integers.items, b->integers.items, a->integers.count * sizeof(*a->integers.items)));
}

/* True if all tensors are stored alike, or are one number: the operator then computes stored elements. */
static bool are_alike(const struct viewed_node *viewed, const struct tensor *stored)
{
	for (size_t i = 0; i < viewed->tensors.count; i++) {
		const struct tensor *tensor = &viewed->tensors.items[i];
		const bool input = i < viewed->inputs;

		if (input && is_number(tensor))
			continue;
		if ((*tensor->format && strcmp(tensor->format, stored->format)) ||
		    !(tensor->shape && stored->shape ? same_shape(tensor->shape, stored->shape) : !input) ||
		    (tensor->origin_shape && stored->origin_shape &&
		     !same_shape(tensor->origin_shape, stored->origin_shape)))
			return false;
	}
	return true;
}

static bool is_padded(const struct sk_stored_form *form)
{
	bool padded = false;

	for (uint32_t axis = 0; axis < form->origin_rank; axis++)
		padded |= sk_format_padded(form, axis) != form->origin_shape[axis];
	return padded;
}

static void tell_alike(const struct viewed_node *viewed, const struct tensor *stored)
{
	struct sk_arena *arena = viewed->translation->arena;

	tell(viewed, sk_arena_print(arena, "%s computes %s as it is stored%s", viewed->type, tensor_text(arena, stored),
				    !stored->formed	       ? ""
				    : is_padded(&stored->form) ? ", padding included"
							       : ", without padding"));
}

/* ---- splits and joins ---- */

/* An axis of a tensor in the stored shape, which is divided into blocks of that many elements. */
struct stored_axis {
	uint32_t dimension;
	int64_t block;
};

/* Find the dimension of the axis. False: there is none, because the format merges it with others. */
static bool find_axis(const struct tensor *tensor, int64_t axis, struct stored_axis *found)
{
	const struct sk_stored_form *form = &tensor->form;

	if (!tensor->formed || form->merged || axis < 0 || axis >= form->origin_rank)
		return false;
	for (uint32_t i = 0; i < form->count; i++)
		if (form->parts[i].axis == axis) {
			*found = (struct stored_axis){i, (int64_t)form->parts[i].step};
			return true;
		}
	return false;
}

static void set_axis(const struct viewed_node *viewed, uint32_t dimension)
{
	struct sk_onnx_attribute *axis = sk_ge_attribute(viewed->node, "axis");

	if (axis)
		axis->i = dimension;
	else
		set_number(viewed->translation->arena, viewed->node, "axis", dimension);
}

/* True if parts of these elements begin with blocks: all but the last one have only whole blocks. */
static bool begins_with_block(int64_t elements, int64_t block, bool last)
{
	return elements >= 0 && (last || elements % block == 0);
}

/* Convert the sizes of parts to blocks. */
static bool split_sizes(const struct sk_onnx_attribute *sizes, int64_t elements, int64_t block)
{
	for (size_t i = 0; i < sizes->integers.count; i++) {
		int64_t size = sizes->integers.items[i];

		if (!begins_with_block(size, block, i + 1 == sizes->integers.count))
			return false;
		elements = size <= elements ? elements - size : -1;
	}
	for (size_t i = 0; i < sizes->integers.count && !elements; i++)
		sizes->integers.items[i] = (sizes->integers.items[i] + block - 1) / block;
	return !elements;
}

static bool split_blocks(const struct viewed_node *viewed, int64_t elements, int64_t block)
{
	struct sk_onnx_attribute *sizes = sk_ge_attribute(viewed->node, "split");
	const struct sk_onnx_attribute *count = sk_ge_attribute(viewed->node, "num_outputs");
	int64_t parts = count ? count->i : (int64_t)viewed->node->outputs.count;

	if (sizes)
		return split_sizes(sizes, elements, block);
	return parts > 0 && elements % parts == 0 && begins_with_block(elements / parts, block, parts == 1);
}

/* Joined tensors have the same shape except for the axis. */
static bool fits(const struct tensor *tensor, const struct tensor *other, int64_t axis)
{
	for (uint32_t i = 0; i < tensor->form.origin_rank; i++)
		if (i != axis && tensor->form.origin_shape[i] != other->form.origin_shape[i])
			return false;
	return tensor->form.origin_rank == other->form.origin_rank;
}

static bool join_blocks(const struct viewed_node *viewed, int64_t axis, struct stored_axis stored)
{
	struct stored_axis other;

	for (size_t i = 0; i < viewed->inputs; i++) {
		const struct tensor *tensor = &viewed->tensors.items[i];

		if (!find_axis(tensor, axis, &other) || other.dimension != stored.dimension ||
		    other.block != stored.block || !fits(tensor, &viewed->tensors.items[0], axis) ||
		    !begins_with_block((int64_t)tensor->form.origin_shape[axis], stored.block, i + 1 == viewed->inputs))
			return false;
	}
	return true;
}

static bool has_one_format(const struct viewed_node *viewed)
{
	for (size_t i = 1; i < viewed->tensors.count; i++)
		if (*viewed->tensors.items[i].format &&
		    strcmp(viewed->tensors.items[i].format, viewed->tensors.items[0].format) != 0)
			return false;
	return true;
}

/* Sizes along the last dimension of int4 are those of bytes. */
static void halve_sizes(const struct viewed_node *viewed)
{
	const struct sk_onnx_attribute *sizes = sk_ge_attribute(viewed->node, "split");

	for (size_t i = 0; sizes && i < sizes->integers.count; i++)
		sizes->integers.items[i] /= 2;
}

/* GE counts axes of the origin, a node here dimensions of the stored shape. False: the parts share blocks, or have
 * several formats. */
static bool translate_axis(const struct viewed_node *viewed, int64_t axis)
{
	const struct tensor *first = &viewed->tensors.items[0];
	bool joins = !strcmp(viewed->node->op, "Concat");
	struct stored_axis stored;

	if (!has_one_format(viewed) || !find_axis(first, axis, &stored))
		return false;
	if (!(joins ? join_blocks(viewed, axis, stored)
		    : split_blocks(viewed, (int64_t)first->form.origin_shape[axis], stored.block)))
		return false;
	set_axis(viewed, stored.dimension);
	if (is_int4(first) && stored.dimension + 1 == first->form.rank)
		halve_sizes(viewed);
	if (is_natural(first))
		return true;
	tell(viewed, sk_arena_print(viewed->translation->arena, "axis %" PRId64 " of %s is dimension %" PRIu32, axis,
				    sk_format_text(viewed->translation->arena, &first->form), stored.dimension));
	return true;
}

/* Note the axis that GE's rules about memory see: of a matrix in FRACTAL_NZ they see the other one. */
static void note_axis(const struct viewed_node *viewed, const struct tensor *first, int64_t axis)
{
	bool turned = !strcmp(first->format, "FRACTAL_NZ") && !strcmp(first->form.origin, "ND") &&
		      first->form.origin_rank == 2;

	set_number(viewed->translation->arena, viewed->node, SK_ONNX_SPLIT_AXIS, turned ? 1 - axis : axis);
}

/* True if the node splits or joins stored elements, maybe after a translation of its axis. */
static bool translate_parts(const struct viewed_node *viewed)
{
	const struct sk_onnx_attribute *number = sk_ge_attribute(viewed->node, "axis");
	const struct tensor *first = &viewed->tensors.items[0];
	int64_t axis = number ? number->i : 0;

	axis += axis < 0 && first->formed ? first->form.origin_rank : 0;
	if (!strcmp(viewed->node->op, "Split") && first->formed && axis >= 0 && axis < first->form.origin_rank)
		note_axis(viewed, first, axis);
	return translate_axis(viewed, axis);
}

bool sk_ge_translate_formats(struct sk_ge_translation *translation, struct sk_onnx_node *node, const char *type)
{
	struct viewed_node viewed = {.translation = translation, .node = node, .type = type};
	bool moves = !strcmp(node->op, "Split") || !strcmp(node->op, "Concat"), packed;
	const struct tensor *stored;

	if (!add_tensors(&viewed))
		return false;
	stored = find_stored(&viewed);
	packed = has_int4(&viewed);
	if ((stored || packed) && moves && viewed.inputs && translate_parts(&viewed))
		return true;
	if (packed && strcmp(node->op, "Identity") != 0)
		unpack(&viewed);
	if (!strcmp(type, "TransData"))
		return translate_trans_data(&viewed);
	if (!stored)
		return true;
	if ((sk_onnx_alias_is_elementwise("ge", type) || sk_onnx_kind_is_elementwise(type)) &&
	    are_alike(&viewed, stored)) {
		tell_alike(&viewed, stored);
		return true;
	}
	return convert(&viewed);
}
