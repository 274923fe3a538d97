/* Send and Receive of MindSpore, HcomSend and HcomReceive of GE: two nodes without an edge between them. All ranks run
 * one network, so it has both. They become one node with the input of the first one and the outputs of the second
 * one. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

static bool is_type(const struct sk_onnx_node *node, const char *op, const char *ge)
{
	const char *domain = node->domain ? node->domain : "", *name = node->op ? node->op : "";

	if (!strcmp(domain, "mindspore"))
		return !strcmp(name, op);
	return (!strncmp(name, "ge:", 3) && !strcmp(name + 3, ge)) || (!strcmp(domain, "ge") && !strcmp(name, ge));
}

static const struct sk_onnx_attribute *find_attribute(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

static int64_t tag_of(const struct sk_onnx_node *node)
{
	const struct sk_onnx_attribute *tag = find_attribute(node, "sr_tag");

	return tag ? tag->i : 0;
}

static bool same_group(const struct sk_onnx_node *a, const struct sk_onnx_node *b)
{
	const struct sk_onnx_attribute *one = find_attribute(a, "group"), *other = find_attribute(b, "group");

	if (!one || !other)
		return !one && !other;
	return one->s.size == other->s.size && (!one->s.size || !memcmp(one->s.bytes, other->s.bytes, one->s.size));
}

/* Return the only node that sends to the one at `receive`; NULL: *why says why there is none. */
static struct sk_onnx_node *find_sender(struct sk_arena *arena, const sk_onnx_nodes *nodes, size_t receive,
					const char **why)
{
	const struct sk_onnx_node *node = &nodes->items[receive];
	struct sk_onnx_node *found = NULL;

	*why = sk_arena_print(arena,
			      "no node sends with 'sr_tag' %" PRId64
			      " in its group; all ranks run one network, which has the sender of each receiver",
			      tag_of(node));
	for (size_t i = 0; i < nodes->count; i++) {
		struct sk_onnx_node *one = &nodes->items[i];

		if (!is_type(one, "Send", "HcomSend") || tag_of(one) != tag_of(node) || !same_group(one, node))
			continue;
		*why = sk_arena_print(arena, "more than one node sends with 'sr_tag' %" PRId64, tag_of(node));
		if (found)
			return NULL;
		found = one;
	}
	return found;
}

/* Give the receiver the sender's input and the rank that it sends to. */
static void join(struct sk_arena *arena, struct sk_onnx_node *receive, const struct sk_onnx_node *send)
{
	const struct sk_onnx_attribute *to = find_attribute(send, "dest_rank");

	receive->inputs.count = 0;
	for (size_t i = 0; i < send->inputs.count; i++)
		sk_array_push(arena, &receive->inputs, send->inputs.items[i]);
	if (to)
		sk_array_push(arena, &receive->attributes, *to);
}

/* Nothing needs a node without outputs, so errors of such nodes are reported here. */
static void report_sender(struct sk_diag *diag, const char *path, const struct sk_onnx_node *node)
{
	sk_error(diag, (struct sk_place){.file = path, .line = node->message.line, .column = node->message.column},
		 "%s: no node receives with 'sr_tag' %" PRId64
		 " in its group; all ranks run one network, which has the receiver of each sender",
		 sk_onnx_node_label(diag->arena, node), tag_of(node));
}

/* Drop the nodes that have been joined. */
static void drop_senders(struct sk_diag *diag, const char *path, struct sk_onnx_graph *graph, const bool *joined)
{
	size_t kept = 0;

	for (size_t i = 0; i < graph->nodes.count; i++) {
		if (joined[i])
			continue;
		if (is_type(&graph->nodes.items[i], "Send", "HcomSend"))
			report_sender(diag, path, &graph->nodes.items[i]);
		graph->nodes.items[kept++] = graph->nodes.items[i];
	}
	graph->nodes.count = kept;
}

void sk_onnx_join_sends(struct sk_diag *diag, const char *path, struct sk_onnx_graph *graph)
{
	struct sk_arena *arena = diag->arena;
	bool *joined = SK_NEW_ARRAY(arena, bool, graph->nodes.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_onnx_node *node = &graph->nodes.items[i], *send;
		const char *why;

		if (!is_type(node, "Receive", "HcomReceive"))
			continue;
		send = find_sender(arena, &graph->nodes, i, &why);
		if (send && joined[send - graph->nodes.items]) {
			why = "another node receives the same";
			send = NULL;
		}
		if (!send) {
			node->wrong = why;
			continue;
		}
		join(arena, node, send);
		joined[send - graph->nodes.items] = true;
	}
	drop_senders(diag, path, graph, joined);
}
