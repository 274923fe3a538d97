/* --freeze and `freeze:`: constants in place of inputs, and of values that nodes make; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/npy/npy.h"
#include "format/skplan.h"
#include "graph/graph.h"

/* A constant that is given for a value. */
struct constant {
	enum sk_dtype dtype;
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	const void *contents;
	struct sk_place place; /* of errors about its shape */
};

/* Open the file, which stays mapped as long as the link exists. */
static bool read_file(struct sk_op_graph *graph, const struct sk_value *value, const char *path,
		      struct constant *constant)
{
	char error[512];
	struct sk_npy npy;

	constant->place = (struct sk_place){.file = path};
	if (!sk_npy_open(path, value->dtype, &npy, error, sizeof(error))) {
		sk_error(graph->diag, constant->place, "%s", error);
		return false;
	}
	constant->dtype = value->dtype;
	constant->rank = npy.rank;
	memcpy(constant->shape, npy.shape, sizeof(npy.shape));
	constant->contents = npy.bytes ? npy.data : "";
	sk_array_push(graph->arena, &graph->data, path);
	return true;
}

/* A single number is that of each element. */
static bool fill(struct sk_op_graph *graph, const struct sk_given *given, const struct sk_value *value,
		 struct constant *constant)
{
	const uint64_t most = UINT64_C(1) << 30;
	uint32_t size = sk_dtype_size(constant->dtype);
	uint64_t count;
	char *contents;

	if (!value->shaped) {
		sk_error(graph->diag, given->place,
			 "%s '%s': the shape of '%s' is neither declared nor computed, and one number does not say it; "
			 "write lists, such as [1]",
			 given->option, given->text, value->name);
		return false;
	}
	if (!sk_value_is_static(value)) {
		sk_error(graph->diag, given->place,
			 "%s '%s': the shape of '%s' is %s, and one number does not say its open sizes; give these, or "
			 "write lists, such as [1]",
			 given->option, given->text, value->name,
			 sk_partial_shape_text(graph->arena, value->rank, value->shape));
		return false;
	}
	count = sk_value_elements(value);
	if (count > most / size) {
		sk_error(graph->diag, given->place, "%s '%s': '%s' has more than 1 GiB; give a file", given->option,
			 given->text, value->name);
		return false;
	}
	contents = sk_arena_alloc(graph->arena, count + 1, size);
	for (uint64_t i = 0; i < count; i++)
		memcpy(contents + i * size, constant->contents, size);
	constant->contents = contents;
	constant->rank = value->rank;
	memcpy(constant->shape, value->shape, sizeof(constant->shape));
	return true;
}

static bool read_text(struct sk_op_graph *graph, const struct sk_given *given, const struct sk_value *value,
		      const char *text, struct constant *constant)
{
	struct sk_literal literal = {.dtype = value->dtype};
	const char *wrong;

	if (!sk_literal_read(graph->arena, text, &literal, &wrong)) {
		sk_error(graph->diag, given->place, "%s '%s': %s", given->option, given->text, wrong);
		return false;
	}
	*constant = (struct constant){
		.dtype = literal.dtype, .rank = literal.rank, .contents = literal.contents, .place = given->place};
	memcpy(constant->shape, literal.shape, sizeof(literal.shape));
	return literal.rank || fill(graph, given, value, constant);
}

/* The node that has made the value no longer does. */
static void leave_node(struct sk_op_graph *graph, uint32_t index)
{
	uint32_t number = graph->values.items[index].node;

	for (size_t i = 0; number != SK_NONE && i < graph->nodes.items[number].outputs.count; i++)
		if (graph->nodes.items[number].outputs.items[i] == index)
			graph->nodes.items[number].outputs.items[i] = SK_NONE;
}

bool sk_freeze_list_undeclared(struct sk_op_graph *graph, const struct sk_given *given)
{
	uint32_t index;
	const struct sk_value *value;

	if (!sk_given_split(graph, given, true, &index))
		return false;
	value = &graph->values.items[index];
	if (!value->input && !(value->dtype && value->shaped && sk_value_is_static(value)))
		sk_array_push(graph->arena, &graph->undeclared, value->name);
	return true;
}

bool sk_given_freeze(struct sk_op_graph *graph, const struct sk_given *given)
{
	struct constant constant;
	char shape[SK_SHAPE_SIZE];
	uint32_t index;
	const char *text = sk_given_split(graph, given, true, &index);
	struct sk_value *value;

	if (!text)
		return false;
	value = &graph->values.items[index];
	if (sk_is_undeclared(graph, value->name))
		return true;
	if (!*text) {
		sk_error(graph->diag, given->place, "%s '%s': neither a file nor elements, such as 1 or [1,2], follow",
			 given->option, given->text);
		return false;
	}
	if (!sk_is_literal(text) && !value->dtype) {
		sk_error(graph->diag, given->place,
			 "%s '%s': the model does not give the type of '%s'; write its elements, such as true or [1,2]",
			 given->option, given->text, value->name);
		return false;
	}
	if (sk_is_literal(text) ? !read_text(graph, given, value, text, &constant)
				: !read_file(graph, value, text, &constant))
		return false;
	if (!sk_value_admits(value, constant.rank, constant.shape)) {
		sk_error(graph->diag, constant.place, "the shape is %s, but that of %s '%s' is %s",
			 sk_print_shape(constant.rank, constant.shape, shape, sizeof(shape)),
			 value->input ? "input" : "value", value->name,
			 sk_partial_shape_text(graph->arena, value->rank, value->shape));
		return false;
	}
	leave_node(graph, index);
	value->dtype = constant.dtype;
	value->shaped = true;
	value->rank = constant.rank;
	memcpy(value->shape, constant.shape, sizeof(constant.shape));
	sk_graph_make_constant(graph, index, constant.contents);
	value->input = false;
	return true;
}
