/* See outputs-parts.h. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>

#include "base/json.h"
#include "src/planning/planning.h"

static void put_slices(const struct sk_model *model, const struct sk_virtual_node *node, struct sk_json *json)
{
	sk_json_begin_list(json, "slices", SK_JSON_LINE);
	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_node_part *slice = &model->slices.items[node->first_slice + i];

		sk_json_begin_object(json, NULL, SK_JSON_LINE);
		sk_json_put_string(json, "name", slice->name);
		sk_json_put_string(json, "of", model->tensors.items[slice->tensor].name);
		sk_json_put_number(json, "offset", slice->offset);
		sk_json_put_number(json, "bytes", slice->bytes);
		sk_json_end(json);
	}
	sk_json_end(json);
}

static void put_node(const struct sk_model *model, const struct sk_virtual_node *node, struct sk_json *json)
{
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "name", node->name);
	sk_json_put_string(json, "operator", node->op);
	sk_json_put_number(json, "_no_task", node->no_task);
	put_slices(model, node, json);
	sk_json_begin_list(json, "because", SK_JSON_LINE);
	for (size_t i = 0; i < node->refusals.count; i++)
		sk_json_put_string(json, NULL, node->refusals.items[i]);
	sk_json_end(json);
	sk_json_end(json);
}

void sk_virtual_nodes_report(const struct sk_model *model, struct sk_json *json)
{
	const struct sk_peak peak = sk_peak_of_slices(model);

	sk_json_begin_list(json, "no_task", SK_JSON_LINES);
	for (size_t i = 0; i < model->virtual_nodes.count; i++)
		put_node(model, &model->virtual_nodes.items[i], json);
	sk_json_end(json);
	sk_json_begin_object(json, "peak", SK_JSON_LINE);
	sk_json_put_number(json, "with_slices", peak.with);
	sk_json_put_number(json, "with_copies", peak.without);
	sk_json_end(json);
}

void sk_virtual_nodes_explain(const struct sk_model *model, FILE *stream)
{
	const struct sk_peak peak = sk_peak_of_slices(model);

	fprintf(stream,
		"  With all slices of the model temporaries have %" PRIu64
		" bytes at once at most, and with copies in their place %" PRIu64 ".\n",
		peak.with, peak.without);
}
