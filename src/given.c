/* --shape, --dim and --freeze; see given.h. Names of inputs are any text, so what stands in front of a "=" is the
 * longest name that an input has. */
#include "src/given.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loader/npy/npy.h"

static bool is_input(const struct sk_op_graph *graph, const char *name, size_t length, uint32_t *value)
{
	*value = sk_map_find(&graph->value_names, name, length);
	return *value != SK_NONE && graph->values.items[*value].input;
}

static void report_unknown(struct sk_op_graph *graph, const char *option, const char *text)
{
	const char **names = SK_NEW_ARRAY(graph->arena, const char *, graph->inputs.count + 1);
	const char *end = strchr(text, '=');
	const char *name = sk_arena_copy(graph->arena, text, end ? (size_t)(end - text) : strlen(text));

	for (size_t i = 0; i < graph->inputs.count; i++)
		names[i] = graph->values.items[graph->inputs.items[i]].name;
	sk_error(graph->diag, (struct sk_place){.file = graph->file}, "%s '%s': the model has no input '%s'%s", option,
		 text, name, sk_did_you_mean(graph->arena, name, names, graph->inputs.count));
}

/* The input that "NAME=VALUE" names, and the value; NULL after an error. */
static const char *split(struct sk_op_graph *graph, const char *option, const char *text, uint32_t *value)
{
	for (const char *end = text + strlen(text); end > text; end--)
		if (*end == '=' && is_input(graph, text, (size_t)(end - text), value))
			return end + 1;
	report_unknown(graph, option, text);
	return NULL;
}

static bool set_shape(struct sk_op_graph *graph, const char *text)
{
	struct sk_value *value;
	uint64_t shape[SK_MAX_RANK];
	uint32_t index, rank = 0;
	const char *sizes = split(graph, "--shape", text, &index);
	char *end;

	if (!sizes)
		return false;
	value = &graph->values.items[index];
	for (const char *next = sizes; *next && rank < SK_MAX_RANK; next = end + (*end == 'x')) {
		shape[rank++] = strtoull(next, &end, 10);
		if (end == next || *next == '-' || (*end && *end != 'x') || shape[rank - 1] > INT64_MAX)
			rank = SK_NONE;
		if (rank == SK_NONE)
			break;
	}
	if (rank == SK_NONE) {
		sk_error(graph->diag, (struct sk_place){.file = graph->file},
			 "--shape '%s': '%s' is no shape; write numbers with x between them, such as 1x128x1024", text,
			 sizes);
		return false;
	}
	for (uint32_t i = 0; value->shaped && i < rank && i < value->rank; i++)
		if (value->rank != rank || (value->shape[i] != SK_UNKNOWN && value->shape[i] != shape[i])) {
			sk_error(graph->diag, value->place,
				 "--shape '%s': dimension %u of the model's input is %" PRIu64 ", not %" PRIu64, text,
				 i, value->shape[i], shape[i]);
			return false;
		}
	value->shaped = true;
	value->rank = rank;
	memcpy(value->shape, shape, sizeof(shape));
	return true;
}

static bool set_dimension(struct sk_op_graph *graph, const char *text)
{
	const char *equals = strrchr(text, '=');
	uint64_t size = equals ? strtoull(equals + 1, NULL, 10) : 0;
	bool digits = equals && equals[1] && strspn(equals + 1, "0123456789") == strlen(equals + 1);
	bool found = false;

	if (!digits || size > INT64_MAX) {
		sk_error(graph->diag, (struct sk_place){.file = graph->file}, "--dim '%s' is not NAME=NUMBER", text);
		return false;
	}
	for (size_t i = 0; i < graph->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; value->shaped && d < value->rank; d++) {
			if (!value->symbols[d] || strlen(value->symbols[d]) != (size_t)(equals - text) ||
			    strncmp(value->symbols[d], text, (size_t)(equals - text)))
				continue;
			value->shape[d] = size;
			found = true;
		}
	}
	if (!found)
		sk_error(graph->diag, (struct sk_place){.file = graph->file},
			 "--dim '%s': no input has a dimension of that name", text);
	return found;
}

/* What the file has is what the model wants. */
static bool agrees(const struct sk_value *value, const struct sk_npy *npy)
{
	bool same = !value->shaped || value->rank == npy->rank;

	for (uint32_t i = 0; same && value->shaped && i < value->rank; i++)
		same = value->shape[i] == SK_UNKNOWN || value->shape[i] == npy->shape[i];
	return same;
}

static bool freeze(struct sk_op_graph *graph, const char *text)
{
	struct sk_value *value;
	uint32_t index;
	const char *path = split(graph, "--freeze", text, &index);
	char error[512], shape[SK_SHAPE_SIZE];
	struct sk_npy npy;

	if (!path)
		return false;
	value = &graph->values.items[index];
	if (!sk_npy_open(path, value->dtype, &npy, error, sizeof(error))) {
		sk_error(graph->diag, (struct sk_place){.file = path}, "%s", error);
		return false;
	}
	if (!agrees(value, &npy)) {
		sk_error(graph->diag, (struct sk_place){.file = path}, "is %s, which input '%s' is not",
			 sk_print_shape(npy.rank, npy.shape, shape, sizeof(shape)), value->name);
		return false;
	}
	value->shaped = true;
	value->rank = npy.rank;
	memcpy(value->shape, npy.shape, sizeof(npy.shape));
	value->contents = npy.bytes ? npy.data : "";
	value->input = false;
	return true; /* the file stays mapped as long as the link lives */
}

bool sk_given_apply(const struct sk_command_line *command, struct sk_op_graph *graph)
{
	bool applied = true;

	for (size_t i = 0; i < command->shapes.count; i++)
		applied &= set_shape(graph, command->shapes.items[i]);
	for (size_t i = 0; i < command->dimensions.count; i++)
		applied &= set_dimension(graph, command->dimensions.items[i]);
	for (size_t i = 0; i < command->frozen.count; i++)
		applied &= freeze(graph, command->frozen.items[i]);
	return applied;
}
