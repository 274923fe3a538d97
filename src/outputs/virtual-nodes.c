/* See outputs-parts.h. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>

#include "base/json.h"
#include "src/planning/planning.h"

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

void sk_virtual_nodes_explain(const struct sk_model *model, FILE *stream)
{
	const struct sk_peak peak = sk_peak_of_slices(model);

	fprintf(stream,
		"  With all slices of the model temporaries have %" PRIu64
		" bytes at once at most, and with copies in their place %" PRIu64 ".\n",
		peak.with, peak.without);
}
