/* Translation from GE's vocabulary to ONNX's; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/onnx/onnx.h"

/* The most outputs of a node. Outputs that a dump leaves out take space as well. */
enum { MAX_OUTPUTS = 1024 };

/* ---- the model ---- */

/* A node that is an input of the graph. */
struct data {
	int64_t index; /* GE's index of the input */
	uint32_t node;
};

/* The producer of a value, and the number of the output. */
struct maker {
	uint32_t node;
	uint32_t output;
};

typedef SK_ARRAY(uint32_t) numbers;

struct translation {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *path;
	struct sk_onnx_graph *graph;
	struct sk_map inputs; /* outputs of Data nodes, to these nodes */
	SK_ARRAY(struct data) data;
	struct sk_map values; /* names in the dump, to producers */
	SK_ARRAY(struct maker) makers;
	bool *needed; /* by node: outputs of the graph depend on it */
};

static const sk_onnx_imports *imports_of(struct sk_arena *arena, const char *domain, int64_t version)
{
	sk_onnx_imports *imports = SK_NEW(arena, sk_onnx_imports);

	sk_array_push(arena, imports, (struct sk_onnx_import){.domain = domain, .version = version});
	return imports;
}

static const char *type_of(const struct sk_onnx_node *node)
{
	const char *op = node->op ? node->op : "";

	return !strncmp(op, "ge:", 3) ? op + 3 : op;
}

static bool is_ge(const struct sk_onnx_model *model)
{
	if (model->producer && !strcmp(model->producer, "GE"))
		return true;
	for (size_t i = 0; i < model->graph->nodes.count; i++)
		if (type_of(&model->graph->nodes.items[i]) != model->graph->nodes.items[i].op &&
		    model->graph->nodes.items[i].op)
			return true;
	return false;
}

static struct sk_onnx_attribute *find_attribute(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

/* "peer:-1" is a control dependency, without a value. */
static bool is_control(const char *name)
{
	size_t length = strlen(name);

	return length >= 3 && !strcmp(name + length - 3, ":-1");
}

static void drop_controls(struct sk_onnx_node *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->inputs.count; i++)
		if (!is_control(node->inputs.items[i]))
			node->inputs.items[kept++] = node->inputs.items[i];
	node->inputs.count = kept;
	kept = 0;
	for (size_t i = 0; i < node->outputs.count; i++)
		if (!is_control(node->outputs.items[i]))
			node->outputs.items[kept++] = node->outputs.items[i];
	node->outputs.count = kept;
}

static void report(const struct translation *translation, const struct sk_onnx_node *node, const char *text)
{
	sk_error(translation->diag,
		 (struct sk_place){
			 .file = translation->path, .line = node->message.line, .column = node->message.column},
		 "%s: %s", sk_onnx_node_label(translation->arena, node), text);
}

/* ---- outputs ---- */

/* Return the number of a listed output: that in "node:number", or else its position in the list. */
static size_t output_number(const struct sk_onnx_node *node, size_t listed)
{
	const char *colon = strrchr(node->outputs.items[listed], ':'), *digits = colon ? colon + 1 : "";
	size_t length = strspn(digits, "0123456789");

	return length && !digits[length] ? strtoul(digits, NULL, 10) : listed;
}

/* Return the least number of outputs: a split has a number of parts, even if some are unused. */
static size_t count_parts(const struct sk_onnx_node *node)
{
	const struct sk_onnx_attribute *count = find_attribute(node, "num_split");
	int64_t parts = !count ? 0 : count->integers.count == 1 ? count->integers.items[0] : count->i;

	return parts > 0 && parts <= MAX_OUTPUTS ? (size_t)parts : 0;
}

/* Insert absent outputs: a dump may list only those that are used. False after an error. */
static bool place_outputs(const struct translation *translation, struct sk_onnx_node *node)
{
	size_t listed = node->outputs.count, count = listed > count_parts(node) ? listed : count_parts(node);
	const char **names;

	for (size_t i = 0; i < listed; i++) {
		size_t place = output_number(node, i);

		count = place < count ? count : place + 1;
		if (place < listed || place < MAX_OUTPUTS)
			continue;
		report(translation, node,
		       sk_arena_print(translation->arena, "output '%s' has a number above %d", node->outputs.items[i],
				      MAX_OUTPUTS - 1));
		return false;
	}
	names = SK_NEW_ARRAY(translation->arena, const char *, count + 1);
	for (size_t i = 0; i < listed; i++) {
		size_t place = output_number(node, i);

		if (names[place]) {
			report(translation, node,
			       sk_arena_print(translation->arena, "'%s' and '%s' are both its output %zu", names[place],
					      node->outputs.items[i], place));
			return false;
		}
		names[place] = node->outputs.items[i];
	}
	node->outputs.count = 0;
	for (size_t i = 0; i < count; i++)
		sk_array_push(translation->arena, &node->outputs, names[i] ? names[i] : "");
	return true;
}

/* ---- types of outputs ---- */

/* GE's types, with its numbers and those of onnx.proto. */
static const struct {
	const char *name;
	int64_t number, element;
} types[] = {
	{"DT_FLOAT", 0, 1},    {"DT_FLOAT16", 1, 10}, {"DT_INT8", 2, 3},    {"DT_INT32", 3, 6}, {"DT_UINT8", 4, 2},
	{"DT_INT16", 6, 5},    {"DT_UINT16", 7, 4},   {"DT_UINT32", 8, 12}, {"DT_INT64", 9, 7}, {"DT_UINT64", 10, 13},
	{"DT_DOUBLE", 11, 11}, {"DT_BOOL", 12, 9},    {"DT_BF16", 27, 16},
};

int64_t sk_onnx_ge_element(struct sk_onnx_bytes name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (name.size == strlen(types[i].name) && !memcmp(name.bytes, types[i].name, name.size))
			return types[i].element;
	return 0;
}

const char *sk_onnx_ge_type_name(int64_t element)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].element == element)
			return types[i].name;
	return "DT_UNDEFINED";
}

static int64_t element_of_number(int64_t number)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].number == number)
			return types[i].element;
	return 0;
}

/* Read output_desc_dtype:0 and output_desc_shape:0. -2 is a shape of unknown rank. */
static struct sk_onnx_value_info read_output_type(struct translation *translation, const struct sk_onnx_node *node,
						  size_t output, const char *name)
{
	struct sk_arena *arena = translation->arena;
	const struct sk_onnx_attribute *dtype =
		find_attribute(node, sk_arena_print(arena, "output_desc_dtype:%zu", output));
	const struct sk_onnx_attribute *shape =
		find_attribute(node, sk_arena_print(arena, "output_desc_shape:%zu", output));
	struct sk_onnx_value_info info = {.message = node->message, .name = name};
	struct sk_onnx_tensor_type *tensor = SK_NEW(arena, struct sk_onnx_tensor_type);

	info.type = SK_NEW(arena, struct sk_onnx_value_type);
	info.type->tensor = tensor;
	tensor->element = dtype ? sk_onnx_ge_element(dtype->s) : 0;
	if (!shape || (shape->integers.count == 1 && shape->integers.items[0] == -2))
		return info;
	tensor->shape = SK_NEW(arena, struct sk_onnx_shape);
	for (size_t i = 0; i < shape->integers.count; i++)
		sk_array_push(arena, &tensor->shape->dimensions,
			      (struct sk_onnx_dimension){.message.present = 1u << SK_ONNX_DIMENSION_VALUE,
							 .value = shape->integers.items[i]});
	return info;
}

/* ---- formats ---- */

/* A tensor, as nodes describe it. */
struct tensor {
	const char *name;
	const char *format, *origin_format; /* "": not given */
	const struct sk_onnx_attribute *shape, *origin_shape; /* NULL: not given */
};

/* An axis of a tensor in the stored shape, which is divided into blocks of that many elements. */
struct stored_axis {
	size_t dimension;
	int64_t block;
};

/* A node and its tensors. */
struct viewed_node {
	const struct translation *translation;
	struct sk_onnx_node *node;
	const char *type; /* GE's type */
	SK_ARRAY(struct tensor) tensors; /* inputs, then outputs, without absent ones */
	size_t inputs;
};

static const char *text_of(struct sk_arena *arena, const struct sk_onnx_attribute *attribute)
{
	return attribute && attribute->s.size
		       ? sk_arena_copy(arena, (const char *)attribute->s.bytes, attribute->s.size)
		       : "";
}

static struct tensor tensor_of(struct sk_arena *arena, const struct sk_onnx_node *node, const char *side, size_t number)
{
	const struct sk_onnx_attribute *found[4];
	static const char *const fields[] = {"layout", "origin_layout", "shape", "origin_shape"};

	for (size_t i = 0; i < 4; i++)
		found[i] = find_attribute(node, sk_arena_print(arena, "%s_desc_%s:%zu", side, fields[i], number));
	return (struct tensor){"", text_of(arena, found[0]), text_of(arena, found[1]), found[2], found[3]};
}

/* True if each dimension of the shape is an axis of the tensor, in any order, as in ND, NCHW and NHWC. In other formats
 * an axis is several dimensions, as in FRACTAL_NZ and NC1HWC0. */
static bool has_plain_axes(const char *format)
{
	static const char *const others[] = {"ALL", "NULL", "RESERVED"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(format, others[i]))
			return true;
	return strspn(format, "NCDHWL") == strlen(format);
}

/* True if the axes are those of the origin in another order. (ND, CN and NC have no order.) */
static bool is_turned(const struct tensor *tensor)
{
	size_t length = strlen(tensor->format);

	return length > 2 && length == strlen(tensor->origin_format) && has_plain_axes(tensor->format) &&
	       has_plain_axes(tensor->origin_format) && strcmp(tensor->format, tensor->origin_format) != 0;
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

static bool same_shape(const struct sk_onnx_attribute *a, const struct sk_onnx_attribute *b)
{
	return a->integers.count == b->integers.count &&
	       (!a->integers.count ||
		!memcmp(a->integers.items, b->integers.items, a->integers.count * sizeof(*a->integers.items)));
}

/* The producer's description of the tensor takes precedence over the reader's. False after an error. */
static bool add_input(struct viewed_node *viewed, size_t number)
{
	const struct translation *translation = viewed->translation;
	const char *name = viewed->node->inputs.items[number];
	uint32_t index = sk_map_find(&translation->values, name, strlen(name));
	struct tensor read = tensor_of(translation->arena, viewed->node, "input", number), made = read;

	if (index != SK_NONE)
		made = tensor_of(translation->arena,
				 &translation->graph->nodes.items[translation->makers.items[index].node], "output",
				 translation->makers.items[index].output);
	if (*made.format && *read.format && strcmp(made.format, read.format) != 0 &&
	    !(has_plain_axes(made.format) && has_plain_axes(read.format))) {
		report(translation, viewed->node,
		       sk_arena_print(translation->arena, "it reads '%s' as %s, and that is made as %s", name,
				      read.format, made.format));
		return false;
	}
	read.name = name;
	read.format = *made.format ? made.format : read.format;
	read.origin_format = *read.origin_format ? read.origin_format : made.origin_format;
	read.shape = made.shape ? made.shape : read.shape;
	read.origin_shape = read.origin_shape ? read.origin_shape : made.origin_shape;
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
		if (*tensor.name)
			sk_array_push(viewed->translation->arena, &viewed->tensors, tensor);
	}
	return added;
}

/* Return the first tensor with dimensions that are not axes; NULL: none. */
static const struct tensor *find_blocked(const struct viewed_node *viewed)
{
	for (size_t i = 0; i < viewed->tensors.count; i++)
		if (!has_plain_axes(viewed->tensors.items[i].format))
			return &viewed->tensors.items[i];
	return NULL;
}

static bool is_number(const struct tensor *tensor)
{
	bool one = tensor->shape && has_plain_axes(tensor->format);

	for (size_t i = 0; one && i < tensor->shape->integers.count; i++)
		one = tensor->shape->integers.items[i] == 1;
	return one;
}

/* An elementwise operator works in any format, if all tensors have the same format and shape, or are one number. */
static bool check_elements(const struct viewed_node *viewed, const struct tensor *blocked)
{
	struct sk_arena *arena = viewed->translation->arena;

	for (size_t i = 0; i < viewed->tensors.count; i++) {
		const struct tensor *tensor = &viewed->tensors.items[i];
		const bool input = i < viewed->inputs;

		if (input && is_number(tensor))
			continue;
		if ((!*tensor->format || !strcmp(tensor->format, blocked->format)) &&
		    (tensor->shape && blocked->shape ? same_shape(tensor->shape, blocked->shape) : !input) &&
		    (!tensor->origin_shape || !blocked->origin_shape ||
		     same_shape(tensor->origin_shape, blocked->origin_shape)))
			continue;
		report(viewed->translation, viewed->node,
		       sk_arena_print(
			       arena,
			       "'%s' is stored as %s %s of %s, and '%s' as %s %s of %s: it takes only tensors that "
			       "are stored alike",
			       blocked->name, blocked->format, shape_text(arena, blocked->shape),
			       shape_text(arena, blocked->origin_shape), tensor->name,
			       *tensor->format ? tensor->format : "ND", shape_text(arena, tensor->shape),
			       shape_text(arena, tensor->origin_shape)));
		return false;
	}
	return true;
}

/* FRACTAL_NZ of [..., m, n] is [..., n / n0, m / m0, m0, n0]. */
static bool find_fractal_axis(const struct tensor *tensor, size_t axis, struct stored_axis *found)
{
	size_t rank = tensor->origin_shape->integers.count;

	if (rank < 2 || tensor->shape->integers.count != rank + 2)
		return false;
	*found = axis + 2 < rank ? (struct stored_axis){axis, 1}
				 : (struct stored_axis){axis + 1 == rank ? rank - 2 : rank - 1,
							tensor->shape->integers.items[axis + 2]};
	return true;
}

/* The name of the format lists its dimensions: a letter for each axis, C1 and C0 for blocks of channels. */
static bool find_named_axis(const struct tensor *tensor, size_t axis, struct stored_axis *found)
{
	size_t dimension = 0, channels = SIZE_MAX;
	bool known = false, blocked = false;

	if (strlen(tensor->origin_format) != tensor->origin_shape->integers.count)
		return false;
	for (const char *at = tensor->format; *at; at++, dimension++) {
		bool digit = *at == 'C' && (at[1] == '0' || at[1] == '1');

		if (!strchr("NCDHW", *at))
			return false;
		if (digit && at[1] == '0') {
			channels = dimension;
		} else if (*at == tensor->origin_format[axis]) {
			*found = (struct stored_axis){dimension, 1};
			known = true;
			blocked = digit;
		}
		at += digit;
	}
	if (!known || dimension != tensor->shape->integers.count || (blocked && channels == SIZE_MAX))
		return false;
	if (blocked)
		found->block = tensor->shape->integers.items[channels];
	return true;
}

static int64_t count_blocks(int64_t elements, int64_t block)
{
	return elements / block + (elements % block ? 1 : 0);
}

/* Find the axis of the origin shape in the stored one. False: the format is not known, or the shapes do not agree. */
static bool find_axis(const struct tensor *tensor, size_t axis, struct stored_axis *found)
{
	int64_t elements, blocks;

	if (!tensor->shape || !tensor->origin_shape || axis >= tensor->origin_shape->integers.count ||
	    !(strcmp(tensor->format, "FRACTAL_NZ") ? find_named_axis(tensor, axis, found)
						   : find_fractal_axis(tensor, axis, found)))
		return false;
	elements = tensor->origin_shape->integers.items[axis];
	blocks = tensor->shape->integers.items[found->dimension];
	return found->block > 0 && elements >= 0 && blocks == count_blocks(elements, found->block);
}

static void set_axis(const struct viewed_node *viewed, size_t dimension)
{
	struct sk_onnx_attribute *axis = find_attribute(viewed->node, "axis");

	if (axis)
		axis->i = (int64_t)dimension;
	else
		sk_array_push(viewed->translation->arena, &viewed->node->attributes,
			      (struct sk_onnx_attribute){
				      .name = "axis", .type = SK_ONNX_ATTRIBUTE_INT, .i = (int64_t)dimension});
}

/* True if parts begin with blocks: all but the last one have only whole blocks. */
static bool check_part(const struct viewed_node *viewed, const struct tensor *tensor, int64_t elements, int64_t block,
		       bool last)
{
	if (elements >= 0 && (last || elements % block == 0))
		return true;
	report(viewed->translation, viewed->node,
	       sk_arena_print(viewed->translation->arena,
			      "a part of %" PRId64 " elements is not a multiple of %" PRId64 ", of which %s has blocks",
			      elements, block, tensor->format));
	return false;
}

static bool refuse_format(const struct viewed_node *viewed, const struct tensor *tensor)
{
	struct sk_arena *arena = viewed->translation->arena;

	report(viewed->translation, viewed->node,
	       sk_arena_print(arena,
			      "'%s' is stored as %s %s of %s %s, and there is no %s of such a tensor; only elementwise "
			      "operators, and those that split and join FRACTAL_NZ and NC1HWC0, have one",
			      tensor->name, tensor->format, shape_text(arena, tensor->shape),
			      *tensor->origin_format ? tensor->origin_format : "ND",
			      shape_text(arena, tensor->origin_shape), viewed->type));
	return false;
}

/* Convert the sizes of parts to blocks. */
static bool split_sizes(const struct viewed_node *viewed, const struct tensor *tensor, int64_t elements, int64_t block,
			struct sk_onnx_attribute *sizes)
{
	for (size_t i = 0; i < sizes->integers.count; i++) {
		int64_t *size = &sizes->integers.items[i];

		if (!check_part(viewed, tensor, *size, block, i + 1 == sizes->integers.count))
			return false;
		elements = *size <= elements ? elements - *size : -1;
		*size = count_blocks(*size, block);
	}
	return !elements || refuse_format(viewed, tensor);
}

static bool split_blocks(const struct viewed_node *viewed, const struct tensor *tensor, int64_t elements, int64_t block)
{
	struct sk_onnx_attribute *sizes = find_attribute(viewed->node, "split");
	const struct sk_onnx_attribute *count = find_attribute(viewed->node, "num_outputs");
	int64_t parts = count ? count->i : (int64_t)viewed->node->outputs.count;

	if (sizes)
		return split_sizes(viewed, tensor, elements, block, sizes);
	if (parts < 1 || elements % parts)
		return refuse_format(viewed, tensor);
	return check_part(viewed, tensor, elements / parts, block, parts == 1);
}

/* Joined tensors have the same shape except for the axis. */
static bool fits(const struct tensor *tensor, const struct tensor *other, size_t axis)
{
	for (size_t i = 0; i < tensor->origin_shape->integers.count; i++)
		if (i != axis && tensor->origin_shape->integers.items[i] != other->origin_shape->integers.items[i])
			return false;
	return true;
}

/* Translate the axis of a Split or a Concat: GE counts axes of the origin, ONNX those of the stored shape. */
static bool translate_axis(const struct viewed_node *viewed, const struct tensor *blocked)
{
	const struct sk_onnx_attribute *number = find_attribute(viewed->node, "axis");
	const struct tensor *first = &viewed->tensors.items[0];
	bool joins = !strcmp(viewed->node->op, "Concat");
	int64_t axis = number ? number->i : 0;
	struct stored_axis stored, other;

	if (axis < 0 && first->origin_shape)
		axis += (int64_t)first->origin_shape->integers.count;
	if (axis < 0 || !find_axis(first, (size_t)axis, &stored))
		return refuse_format(viewed, blocked);
	for (size_t i = 1; i < viewed->tensors.count; i++) {
		const struct tensor *tensor = &viewed->tensors.items[i];

		if (*tensor->format && strcmp(tensor->format, first->format) != 0)
			return refuse_format(viewed, blocked);
		if (joins && i < viewed->inputs &&
		    (!find_axis(tensor, (size_t)axis, &other) || other.dimension != stored.dimension ||
		     other.block != stored.block ||
		     tensor->origin_shape->integers.count != first->origin_shape->integers.count ||
		     !fits(tensor, first, (size_t)axis)))
			return refuse_format(viewed, blocked);
	}
	for (size_t i = 0; joins && i < viewed->inputs; i++)
		if (!check_part(viewed, first, viewed->tensors.items[i].origin_shape->integers.items[axis],
				stored.block, i + 1 == viewed->inputs))
			return false;
	set_axis(viewed, stored.dimension);
	return joins || split_blocks(viewed, first, first->origin_shape->integers.items[axis], stored.block);
}

/* Translate a node that depends on shapes, if stored shapes have other dimensions than tensors have axes. Either the
 * computation can be expressed in stored shapes, or the node is refused. Operators that are unknown here have kernels
 * of the user, which handle formats. */
static bool translate_formats(const struct translation *translation, struct sk_onnx_node *node, const char *type)
{
	struct viewed_node viewed = {.translation = translation, .node = node, .type = type};
	const struct tensor *blocked;
	bool phony = !strncmp(type, "Phony", 5), moves = !strcmp(node->op, "Split") || !strcmp(node->op, "Concat");

	if (!add_tensors(&viewed))
		return false;
	blocked = find_blocked(&viewed);
	if (!blocked && moves && !phony && viewed.inputs && is_turned(&viewed.tensors.items[0]))
		blocked = &viewed.tensors.items[0];
	if (!blocked)
		return true;
	if (moves && !phony && viewed.inputs)
		return translate_axis(&viewed, blocked);
	return sk_onnx_alias_is_elementwise("ge", type) || sk_onnx_kind_is_elementwise(type)
		       ? check_elements(&viewed, blocked)
		       : refuse_format(&viewed, blocked);
}

/* ---- nodes ---- */

static bool is_constant(const struct sk_onnx_node *node)
{
	return !strcmp(type_of(node), "Const") || !strcmp(type_of(node), "Constant");
}

static bool translate_constant(struct translation *translation, struct sk_onnx_node *node)
{
	struct sk_onnx_attribute *value = find_attribute(node, "value");

	if (!value || !value->t) {
		sk_error(translation->diag,
			 (struct sk_place){translation->path, node->message.line, node->message.column, NULL, {0}},
			 "constant '%s' has no contents in this dump; GE writes them with DUMP_GE_GRAPH=1",
			 node->name ? node->name : "");
		return false;
	}
	node->attributes.items[0] = *value;
	node->attributes.count = 1;
	node->op = "Constant";
	node->imports = imports_of(translation->arena, "", 13);
	return true;
}

/* PhonySplit and PhonyConcat have a number as a list, which may have several items for several axes. They have no task
 * wherever that is possible. */
static void translate_phony(struct translation *translation, struct sk_onnx_node *node)
{
	static const char *const names[] = {"split_dim", "num_split", "concat_dim"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sk_onnx_attribute *list = find_attribute(node, names[i]);

		if (!list || list->integers.count != 1)
			continue;
		*list = (struct sk_onnx_attribute){.message = list->message,
						   .name = list->name,
						   .type = SK_ONNX_ATTRIBUTE_INT,
						   .i = list->integers.items[0]};
		list->message.present = 1u << SK_ONNX_VALUE_I;
	}
	if (!find_attribute(node, "_no_task"))
		sk_array_push(translation->arena, &node->attributes,
			      (struct sk_onnx_attribute){.name = "_no_task", .type = SK_ONNX_ATTRIBUTE_INT, .i = 1});
}

/* Return the attribute that is a type; NULL: none is. */
static struct sk_onnx_attribute *find_type(const struct sk_onnx_node *node, const char *type)
{
	/* Operators with that prefix. */
	static const struct {
		const char *type, *attribute;
	} typed[] = {
		{"AscendAntiQuant", "dst_type"},
		{"ArgM", "dtype"},
		{"Cast", "dst_type"},
		{"QuantBatchMatmul", "dtype"},
		{"ReduceMeanWithCast", "dtype"},
		{"SearchSorted", "dtype"},
		{"Shape", "dtype"},
		{"TopKV2", "indices_dtype"},
	};

	for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
		if (!strncmp(type, typed[i].type, strlen(typed[i].type)))
			return find_attribute(node, typed[i].attribute);
	return NULL;
}

static bool translate_operator(struct translation *translation, struct sk_onnx_node *node)
{
	const char *type = type_of(node);
	struct sk_onnx_attribute *target = find_type(node, type);
	bool aliased, needed = translation->needed[node - translation->graph->nodes.items];

	if (!strncmp(type, "Phony", 5))
		translate_phony(translation, node);
	if (target)
		target->i = element_of_number(target->i);
	aliased = sk_onnx_translate_alias(translation->arena, "ge", type, node);
	if (!aliased) {
		node->op = type;
		node->domain = "ge";
		node->imports = imports_of(translation->arena, node->domain, 1);
	}
	node->origin = sk_arena_print(translation->arena, "ge:%s", type);
	for (size_t i = 0; i < node->outputs.count; i++)
		if (*node->outputs.items[i])
			sk_array_push(translation->arena, &translation->graph->infos,
				      read_output_type(translation, node, i, node->outputs.items[i]));
	return (!aliased && !sk_onnx_is_kind(type)) || !needed || translate_formats(translation, node, type);
}

/* Name inputs after their nodes. */
static void rename_inputs(struct translation *translation, struct sk_onnx_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		uint32_t data = sk_map_find(&translation->inputs, node->inputs.items[i], strlen(node->inputs.items[i]));

		if (data != SK_NONE)
			node->inputs.items[i] = translation->graph->nodes.items[data].name;
	}
}

static bool translate_node(struct translation *translation, struct sk_onnx_node *node)
{
	const char *type = type_of(node);

	rename_inputs(translation, node);
	if (is_constant(node))
		return true;
	if (!strcmp(type, "Data")) {
		node->outputs.count = 0;
		return true;
	}
	if (!strcmp(type, "NetOutput")) {
		translation->graph->outputs.count = 0;
		for (size_t i = 0; i < node->inputs.count; i++)
			if (*node->inputs.items[i])
				sk_array_push(translation->arena, &translation->graph->outputs,
					      (struct sk_onnx_value_info){.message = node->message,
									  .name = node->inputs.items[i]});
		node->outputs.count = 0;
		return true;
	}
	return translate_operator(translation, node);
}

/* ---- inputs ---- */

/* Compare by GE's index. */
static int compare_data(const void *first, const void *second)
{
	const struct data *a = first, *b = second;

	return a->index != b->index ? (a->index > b->index) - (a->index < b->index)
				    : (a->node > b->node) - (a->node < b->node);
}

static void add_inputs(struct translation *translation)
{
	struct sk_onnx_graph *graph = translation->graph;

	for (uint32_t i = 0; i < graph->nodes.count; i++) {
		struct sk_onnx_node *node = &graph->nodes.items[i];

		if (strcmp(type_of(node), "Data") || !node->name || !*node->name)
			continue;

		const struct sk_onnx_attribute *index = find_attribute(node, "index");

		sk_array_push(translation->arena, &translation->data, (struct data){index ? index->i : 0, i});
		for (size_t j = 0; j < node->outputs.count; j++)
			sk_map_insert(&translation->inputs, node->outputs.items[j], strlen(node->outputs.items[j]), i);
	}
	if (!translation->data.count)
		return;
	qsort(translation->data.items, translation->data.count, sizeof(*translation->data.items), compare_data);
	graph->inputs.count = 0;
	for (size_t i = 0; i < translation->data.count; i++) {
		const struct sk_onnx_node *node = &graph->nodes.items[translation->data.items[i].node];

		sk_array_push(translation->arena, &graph->inputs, read_output_type(translation, node, 0, node->name));
	}
}

/* Record the outputs of all nodes, and their producers. */
static bool add_makers(struct translation *translation)
{
	sk_onnx_nodes *nodes = &translation->graph->nodes;
	bool placed = true;

	for (uint32_t n = 0; n < nodes->count && !sk_diag_is_hopeless(translation->diag); n++) {
		struct sk_onnx_node *node = &nodes->items[n];

		drop_controls(node);
		placed &= place_outputs(translation, node);
		for (uint32_t i = 0; i < node->outputs.count; i++) {
			const char *name = node->outputs.items[i];

			if (!*name) /* absent */
				continue;
			sk_map_insert(&translation->values, name, strlen(name), (uint32_t)translation->makers.count);
			if (!strcmp(type_of(node), "Data") && node->name) /* the name of its output from now on */
				sk_map_insert(&translation->values, node->name, strlen(node->name),
					      (uint32_t)translation->makers.count);
			sk_array_push(translation->arena, &translation->makers, (struct maker){n, i});
		}
	}
	return placed;
}

static void need(const struct translation *translation, const char *name, numbers *open)
{
	uint32_t index = sk_map_find(&translation->values, name, strlen(name));
	uint32_t node = index == SK_NONE ? SK_NONE : translation->makers.items[index].node;

	if (node == SK_NONE || translation->needed[node])
		return;
	translation->needed[node] = true;
	sk_array_push(translation->arena, open, node);
}

/* Nodes that no output needs are not checked. */
static void mark_needed(struct translation *translation)
{
	const struct sk_onnx_graph *graph = translation->graph;
	numbers open = {NULL, 0, 0};

	translation->needed = SK_NEW_ARRAY(translation->arena, bool, graph->nodes.count + 1);
	for (size_t i = 0; i < graph->outputs.count; i++)
		need(translation, graph->outputs.items[i].name ? graph->outputs.items[i].name : "", &open);
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (!strcmp(type_of(&graph->nodes.items[n]), "NetOutput")) {
			translation->needed[n] = true;
			sk_array_push(translation->arena, &open, n);
		}
	while (open.count) {
		const struct sk_onnx_node *node = &graph->nodes.items[open.items[--open.count]];

		for (size_t i = 0; i < node->inputs.count; i++)
			need(translation, node->inputs.items[i], &open);
	}
}

bool sk_onnx_translate_ge(struct sk_diag *diag, const char *path, struct sk_onnx_model *model)
{
	struct translation translation = {.arena = diag->arena, .diag = diag, .path = path, .graph = model->graph};
	bool ok;

	if (!is_ge(model))
		return true;
	sk_map_init(&translation.inputs, diag->arena);
	sk_map_init(&translation.values, diag->arena);
	ok = add_makers(&translation);
	mark_needed(&translation);
	add_inputs(&translation);
	for (size_t i = 0; i < model->graph->nodes.count && !sk_diag_is_hopeless(diag); i++)
		ok = translate_node(&translation, &model->graph->nodes.items[i]) && ok;
	for (size_t i = 0; i < model->graph->nodes.count && !sk_diag_is_hopeless(diag); i++)
		if (translation.needed[i] &&
		    is_constant(&model->graph->nodes.items[i])) /* its descriptions are dropped */
			ok = translate_constant(&translation, &model->graph->nodes.items[i]) && ok;
	return ok;
}
