/* The names in "NAME=VALUE"; see link.h. Names may contain any character, so the longest one that matches counts. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "graph/graph.h"

bool sk_given_is_input(const struct sk_op_graph *graph, const char *name, size_t length, uint32_t *value)
{
	*value = sk_map_find(&graph->value_names, name, length);
	return *value != SK_NONE && graph->values.items[*value].input;
}

static bool is_computed(const struct sk_op_graph *graph, const char *name)
{
	uint32_t value = sk_map_find(&graph->value_names, name, strlen(name));

	return value != SK_NONE && graph->values.items[value].node != SK_NONE;
}

static void report_unknown(struct sk_op_graph *graph, const struct sk_given *given)
{
	const char **names = SK_NEW_ARRAY(graph->arena, const char *, graph->inputs.count + 1);
	const char *text = given->text, *end = strchr(text, '=');
	const char *name = sk_arena_copy(graph->arena, text, end ? (size_t)(end - text) : strlen(text));

	for (size_t i = 0; i < graph->inputs.count; i++) {
		names[i] = graph->values.items[graph->inputs.items[i]].name;
		if (strcmp(names[i], name))
			continue;
		sk_error(graph->diag, given->place, "%s '%s': input '%s' is frozen already", given->option, text, name);
		return;
	}
	if (is_computed(graph, name))
		sk_error(graph->diag, given->place,
			 "%s '%s': a node computes '%s'; say it of the inputs that it is computed from", given->option,
			 text, name);
	else
		sk_error(graph->diag, given->place, "%s '%s': the model has no input '%s'%s", given->option, text, name,
			 sk_did_you_mean(graph->arena, name, names, graph->inputs.count));
}

const char *sk_given_split(struct sk_op_graph *graph, const struct sk_given *given, bool inner, uint32_t *value)
{
	const char *text = given->text, *option = given->option;

	for (const char *end = text + strlen(text); end > text; end--) {
		if (*end != '=')
			continue;
		if (sk_given_is_input(graph, text, (size_t)(end - text), value))
			return end + 1;
		*value = inner ? sk_map_find(&graph->value_names, text, (size_t)(end - text)) : SK_NONE;
		if (*value != SK_NONE && graph->values.items[*value].node != SK_NONE)
			return end + 1;
	}
	if (strchr(text, '='))
		report_unknown(graph, given);
	else
		sk_error(graph->diag, given->place, "%s '%s' is not INPUT=%s", option, text,
			 !strcmp(option, "--shape")   ? "AxBxC"
			 : !strcmp(option, "--state") ? "OUTPUT[:ROWS]"
						      : "FILE.npy, nor INPUT=NUMBER");
	return NULL;
}
