/* See virtual-nodes.h. */
#include "src/outputs/virtual-nodes.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/json.h"
#include "src/planning/peak.h"

static void put_slices(const struct sk_model *model, const struct sk_virtual_node *node, FILE *stream)
{
	fputs(", \"slices\": [", stream);
	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_node_part *slice = &model->slices.items[node->first_slice + i];

		sk_json_put_text(model->arena, stream, i ? ", {" : "{", "name", slice->name);
		sk_json_put_text(model->arena, stream, ", ", "of", model->tensors.items[slice->tensor].name);
		sk_json_put_number(stream, ", ", "offset", slice->offset);
		sk_json_put_number(stream, ", ", "bytes", slice->bytes);
		fputc('}', stream);
	}
	fputc(']', stream);
}

static void put_node(const struct sk_model *model, const struct sk_virtual_node *node, FILE *stream)
{
	sk_json_put_text(model->arena, stream, "{", "name", node->name);
	sk_json_put_text(model->arena, stream, ", ", "operator", node->op);
	sk_json_put_number(stream, ", ", "_no_task", node->no_task);
	put_slices(model, node, stream);
	fputs(", \"because\": [", stream);
	for (size_t i = 0; i < node->refusals.count; i++) {
		fputs(i ? ", " : "", stream);
		fputs(sk_json_string(model->arena, node->refusals.items[i]), stream);
	}
	fputs("]}", stream);
}

void sk_virtual_nodes_report(const struct sk_model *model, FILE *stream)
{
	const struct sk_peak peak = sk_peak_of_slices(model);

	fputs("  \"no_task\": [", stream);
	for (size_t i = 0; i < model->virtual_nodes.count; i++) {
		fputs(i ? ",\n    " : "\n    ", stream);
		put_node(model, &model->virtual_nodes.items[i], stream);
	}
	sk_json_put_number(stream, "\n  ],\n  \"peak\": {", "with_slices", peak.with);
	sk_json_put_number(stream, ", ", "with_copies", peak.without);
	fputs("},\n", stream);
}

static bool is_meant(const struct sk_virtual_node *node, const char *name)
{
	return node->no_task && !strcmp(node->name, name);
}

bool sk_virtual_nodes_has(const struct sk_model *model, const char *name)
{
	for (size_t i = 0; i < model->virtual_nodes.count; i++)
		if (is_meant(&model->virtual_nodes.items[i], name))
			return true;
	return false;
}

static void explain(const struct sk_model *model, const struct sk_virtual_node *node, FILE *stream)
{
	fprintf(stream, "node '%s' (%s): it has no task: what it %s is where it has to be already\n",
		sk_arena_escape(model->arena, node->name), sk_arena_escape(model->arena, node->op),
		node->joins ? "joins" : "splits");
	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_node_part *slice = &model->slices.items[node->first_slice + i];

		fprintf(stream, "  '%s' is %" PRIu64 " bytes of '%s', from byte %" PRIu64 " on.\n",
			sk_arena_escape(model->arena, slice->name), slice->bytes,
			sk_arena_escape(model->arena, model->tensors.items[slice->tensor].name), slice->offset);
	}
}

void sk_virtual_nodes_explain(const struct sk_model *model, const char *name, FILE *stream)
{
	const struct sk_peak peak = sk_peak_of_slices(model);

	for (size_t i = 0; i < model->virtual_nodes.count; i++)
		if (is_meant(&model->virtual_nodes.items[i], name))
			explain(model, &model->virtual_nodes.items[i], stream);
	fprintf(stream,
		"  With all slices of the model temporaries have %" PRIu64
		" bytes at once at most, and with copies in their place %" PRIu64 ".\n",
		peak.with, peak.without);
}
