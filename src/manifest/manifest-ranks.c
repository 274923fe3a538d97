/* `ranks:` and `groups:` of the manifest, and `exchange:` of its tasks. Input: nodes. Output: the model's ranks, and
 * the exchanges of tasks. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "format/exchange.h"
#include "format/skranks.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

/* ---- groups ---- */

/* Return the numbers of a list as "0,1", or those of a list of lists as "0,1/2,3"; NULL after an error. */
static const char *read_members(const struct sk_document *document, const struct sk_node *list, const char *name)
{
	const char *text = "";
	uint64_t rank;

	for (const struct sk_node *item = sk_node_items(list, NULL); item; item = sk_node_next(item)) {
		if (item->kind == SK_NODE_LIST) {
			const char *part = read_members(document, item, name);

			if (!part)
				return NULL;
			text = sk_arena_print(document->arena, "%s%s%s", text, *text ? "/" : "", part);
			continue;
		}
		if (!sk_read_integer(document, item, "the ranks of group", name, 0, SK_MAX_RANKS - 1, &rank))
			return NULL;
		text = sk_arena_print(document->arena, "%s%s%" PRIu64, text, *text ? "," : "", rank);
	}
	return text;
}

static void read_groups(const struct sk_document *document, const struct sk_node *map)
{
	if (!sk_expect_map(document, map, "'groups'", NULL))
		return;
	for (const struct sk_node *key = sk_node_first(map); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		struct sk_name name;
		const char *text;

		if (!sk_read_name(document, key, "the name of a group", NULL, &name))
			continue;
		text = read_members(document, sk_node_value(key), name.text);
		if (text)
			sk_model_add_group(document->owner, name.text, text, name.place);
	}
}

void sk_manifest_read_ranks(const struct sk_document *document, const struct sk_node *ranks,
			    const struct sk_node *groups)
{
	uint64_t count;

	if (ranks && sk_read_integer(document, ranks, "'ranks'", NULL, 1, SK_MAX_RANKS, &count))
		sk_model_set_ranks(document->owner, count, sk_node_place(document, ranks));
	if (groups)
		read_groups(document, groups);
}

/* ---- exchanges ---- */

/* Return the bytes of the task's tensor of that number; 0: there is none. */
static uint64_t bytes_of(const struct sk_model *model, const struct sk_task *task, uint32_t number)
{
	uint32_t tensor = number < task->said.args.count ? task->said.args.items[number].tensor : SK_NONE;

	return tensor == SK_NONE ? 0 : model->tensors.items[tensor].bytes;
}

/* Return why the task cannot be that exchange; NULL: it can. */
static const char *find_obstacle(const struct sk_model *model, const struct sk_task *task,
				 const struct sk_exchange *exchange)
{
	uint64_t size = model->ranks->items[exchange->group].size, from = bytes_of(model, task, 0),
		 to = bytes_of(model, task, 1);
	bool gathers = exchange->kind == SK_EXCHANGE_ALL_GATHER;

	if (task->said.kernel_name.text || task->said.op.text || task->said.attributes.count || task->said.set.count ||
	    task->said.blocks || task->said.once)
		return "'kernel', 'op', 'attr', 'set', 'blocks' and 'once' do not go with 'exchange'";
	if (model->has_bounds)
		return "sizes with bounds are not supported for exchanges yet";
	if (!task->said.directed || task->said.input_count != 1 || task->said.args.count != 2 || !from || !to)
		return "it has one tensor as 'inputs', which the rank sends, and one as 'outputs', which it receives; "
		       "both have elements";
	if (model->tensors.items[task->said.args.items[0].tensor].dtype !=
	    model->tensors.items[task->said.args.items[1].tensor].dtype)
		return "the tensors have different types";
	if (from % (gathers ? 1 : size) || (gathers ? from > to / size || from * size != to : from != to))
		return sk_arena_print(model->arena,
				      gathers ? "%" PRIu64 " bytes of each of %" PRIu64
						" ranks cannot be gathered in %" PRIu64
					      : "%" PRIu64 " bytes, parts for %" PRIu64
						" ranks, cannot be exchanged for %" PRIu64,
				      from, size, to);
	return NULL;
}

static bool read_member(const struct sk_document *document, const struct sk_node *node, const char *what,
			const struct sk_exchange *exchange, uint32_t *member)
{
	const struct sk_model *model = document->owner;
	uint64_t number = 0;
	bool read = !node || sk_read_integer(document, node, what, NULL, 0,
					     model->ranks->items[exchange->group].size - 1, &number);

	*member = (uint32_t)number;
	return read;
}

/* Find the group, all ranks by default. */
static bool read_group(const struct sk_document *document, const struct sk_node *node, struct sk_exchange *exchange)
{
	const struct sk_model *model = document->owner;
	struct sk_name name;

	if (!node)
		return true;
	if (!sk_read_name(document, node, "'group'", NULL, &name))
		return false;
	exchange->group = sk_model_find_group(model, name.text);
	if (exchange->group == SK_NONE)
		sk_error(document->diag, name.place, "there is no group '%s'%s", name.text,
			 SK_SUGGEST_NAME(model, name.text, model->ranks->items, model->ranks->count));
	return exchange->group != SK_NONE;
}

static bool read_keys(const struct sk_document *document, const struct sk_exchange_nodes *nodes,
		      struct sk_exchange *exchange)
{
	const char *kinds[SK_EXCHANGE_KIND_COUNT];
	bool rooted, sends;
	size_t kind;

	for (uint32_t i = 0; i < SK_EXCHANGE_KIND_COUNT; i++)
		kinds[i] = sk_exchange_kind_name(i);
	if (!sk_read_choice(document, nodes->kind, "'exchange'", NULL, kinds, SK_EXCHANGE_KIND_COUNT, &kind) ||
	    !read_group(document, nodes->group, exchange))
		return false;
	exchange->kind = (enum sk_exchange_kind)kind;
	exchange->op = kinds[kind];
	sends = kind == SK_EXCHANGE_SEND;
	rooted = sends || kind == SK_EXCHANGE_BROADCAST;
	if (!rooted == !nodes->root && !sends == !nodes->peer)
		return read_member(document, nodes->root, "'root'", exchange, &exchange->root) &&
		       read_member(document, nodes->peer, "'peer'", exchange, &exchange->peer);
	sk_error(document->diag, sk_node_place(document, nodes->kind),
		 "'root' belongs to broadcast and send, and 'peer' to send; both are members of the group");
	return false;
}

void sk_manifest_read_exchange(const struct sk_document *document, const struct sk_exchange_nodes *nodes,
			       struct sk_task *task)
{
	const struct sk_node *other = nodes->group ? nodes->group : nodes->root ? nodes->root : nodes->peer;
	const struct sk_model *model = document->owner;
	struct sk_exchange *exchange;
	const char *why;

	if (!nodes->kind && other)
		sk_error(document->diag, sk_node_place(document, other),
			 "'group', 'root' and 'peer' belong to 'exchange', which the task does not have");
	if (!nodes->kind)
		return;
	if (!model->ranks) {
		sk_error(document->diag, sk_node_place(document, nodes->kind),
			 "the number of ranks is missing; 'ranks' or --ranks says it");
		return;
	}
	exchange = SK_NEW(document->arena, struct sk_exchange);
	if (!read_keys(document, nodes, exchange))
		return;
	why = find_obstacle(model, task, exchange);
	if (why) {
		sk_error(document->diag, sk_node_place(document, nodes->kind), "%s", why);
		return;
	}
	task->said.exchange = exchange;
	task->said.op = (struct sk_named){"Exchange", sk_spot_of(sk_node_place(document, nodes->kind))};
	task->said.blocks = 1;
}
