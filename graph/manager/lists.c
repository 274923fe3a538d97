/* Lists of operators; see manager.h. An operator has a name in each vocabulary, but nodes have only that of ONNX (or of
 * the domain "sklink"). A list therefore contains all names that the given ones are aliases of. */
#include "graph/manager/manager.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "graph/operators/operators.h"

/* Names, and the same names as they were given, without the operators that they are aliases of. */
struct names {
	struct sk_map all, given;
};

struct sk_op_list {
	bool any; /* all names that are not in `without` */
	struct names names, without;
};

enum { NEVER = 255 };

/* The lowest level at which an operator is in the list of a target. */
struct row {
	const char *name;
	uint8_t ascend, cpu, gpu, host;
};

#define N		     NEVER
#define OP(NAME, A, C, G, H) {NAME, A, C, G, H},
static const struct row expanded[] = {
#include "graph/manager/expand.def"
	{NULL, N, N, N, N},
};
static const struct row clustered[] = {
#include "graph/manager/cluster.def"
	{NULL, N, N, N, N},
};
#undef OP
#undef N

enum {
	EXPANDED = sizeof(expanded) / sizeof(expanded[0]) - 1,
	CLUSTERED = sizeof(clustered) / sizeof(clustered[0]) - 1
};

struct alias {
	const char *source, *name, *target;
};

static const struct alias aliases[] = {
#define ALIAS(SOURCE, NAME, TARGET, VERSION, OUTPUTS, RULES) {SOURCE, NAME, TARGET},
#include "graph/onnx/aliases.def"
#undef ALIAS
};

enum { ALIASES = sizeof(aliases) / sizeof(aliases[0]) };

/* Return the operator that an alias stands for, without its domain. */
static const char *aliased_operator(const struct alias *alias)
{
	const char *colon = strchr(alias->target, ':');

	return colon ? colon + 1 : alias->target;
}

/* ---- the contents of a list ---- */

static void add_name(struct names *names, const char *name)
{
	sk_map_insert(&names->given, name, strlen(name), 0);
	sk_map_insert(&names->all, name, strlen(name), 0);
	for (size_t i = 0; i < ALIASES; i++)
		if (!strcmp(aliases[i].name, name))
			sk_map_insert(&names->all, aliased_operator(&aliases[i]), strlen(aliased_operator(&aliases[i])),
				      0);
}

static void add_names(struct names *names, const sk_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		add_name(names, texts->items[i]);
}

static uint8_t level_of(const struct row *row, enum sk_fusion_target target)
{
	switch (target) {
	case SK_TARGET_ASCEND:
		return row->ascend;
	case SK_TARGET_CPU:
		return row->cpu;
	case SK_TARGET_GPU:
		return row->gpu;
	default:
		return row->host;
	}
}

static void add_defaults(struct sk_op_list *list, const struct row *row, const struct sk_fusion_flags *flags)
{
	for (; row->name; row++) {
		uint8_t level = level_of(row, flags->target);

		if (level == NEVER || level > flags->fusion_ops_level)
			continue;
		if (strcmp(row->name, "*"))
			add_name(&list->names, row->name);
		else
			list->any = true;
	}
}

const struct sk_op_list *sk_valid_ops(struct sk_arena *arena, const struct sk_fusion_flags *flags,
				      enum sk_list_kind kind)
{
	static const sk_texts none = {0};
	const struct {
		const sk_texts *only, *enabled, *disabled;
		const struct row *rows; /* of the target; NULL: all operators */
	} given[] =
		{
			[SK_LIST_EXPAND] = {&flags->enable_expand_ops_only, &flags->enable_expand_ops,
					    &flags->disable_expand_ops, expanded},
			[SK_LIST_CLUSTER] = {&flags->enable_cluster_ops_only, &flags->enable_cluster_ops,
					     &flags->disable_cluster_ops, clustered},
			[SK_LIST_PACKET] = {&flags->enable_packet_ops_only, &none, &flags->disable_packet_ops, NULL},
		},
	  *of = &given[kind];
	struct sk_op_list *list = SK_NEW(arena, struct sk_op_list);

	sk_map_init(&list->names.all, arena);
	sk_map_init(&list->names.given, arena);
	sk_map_init(&list->without.all, arena);
	sk_map_init(&list->without.given, arena);
	if (of->only->count) {
		add_names(&list->names, of->only);
		return list;
	}
	list->any = !of->rows;
	if (of->rows)
		add_defaults(list, of->rows, flags);
	add_names(&list->names, of->enabled);
	add_names(&list->without, of->disabled);
	return list;
}

/* ---- nodes ---- */

const char *sk_foreign_name(const struct sk_graph_node *node)
{
	static const char *const sources[] = {"mindspore:", "ge:", "torchair:"};

	for (size_t i = 0; node->origin && i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strncmp(node->origin, sources[i], strlen(sources[i])))
			return node->origin + strlen(sources[i]);
	return NULL;
}

/* True for names of one operator that MindSpore's lists tell apart. */
static bool is_told_apart(const char *name)
{
	return !strcmp(name, "Div") || !strcmp(name, "RealDiv");
}

static bool has_node(const struct names *names, const struct sk_graph_node *node)
{
	const char *name = sk_foreign_name(node);

	if (name && is_told_apart(name))
		return sk_map_find(&names->given, name, strlen(name)) != SK_NONE;
	return sk_map_find(&names->all, node->op, strlen(node->op)) != SK_NONE ||
	       (name && sk_map_find(&names->all, name, strlen(name)) != SK_NONE);
}

bool sk_op_list_has(const struct sk_op_list *list, const struct sk_graph_node *node)
{
	return (list->any || has_node(&list->names, node)) && !has_node(&list->without, node);
}

/* ---- names ---- */

bool sk_op_is_called(const char *op, const char *name)
{
	if (!strcmp(op, name))
		return true;
	for (size_t i = 0; i < ALIASES; i++)
		if (!strcmp(aliases[i].name, name) && !strcmp(aliased_operator(&aliases[i]), op))
			return true;
	return false;
}

/* Return the known name of that number, counted from 0; some occur twice. NULL after the last one. */
static const char *known_name(size_t number)
{
	const struct sk_schema *schema;

	if (number < ALIASES)
		return aliases[number].name;
	number -= ALIASES;
	if (number < EXPANDED)
		return expanded[number].name;
	number -= EXPANDED;
	if (number < CLUSTERED)
		return clustered[number].name;
	schema = sk_schema_at(number - CLUSTERED);
	return schema ? schema->op : NULL;
}

bool sk_op_is_known(const char *name)
{
	const char *known;

	for (size_t i = 0; (known = known_name(i)); i++)
		if (!strcmp(known, name))
			return *name != '*'; /* "*" is a word of the lists only */
	return false;
}

static const char *suggest_operator(struct sk_arena *arena, const char *name)
{
	sk_texts names = {0};
	const char *known;

	for (size_t i = 0; (known = known_name(i)); i++)
		sk_array_push(arena, &names, known);
	return sk_did_you_mean(arena, name, names.items, names.count);
}

void sk_lists_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags)
{
	const struct {
		const char *flag;
		const sk_texts *names;
	} given[] = {
		{"enable_expand_ops", &flags->enable_expand_ops},
		{"enable_expand_ops_only", &flags->enable_expand_ops_only},
		{"disable_expand_ops", &flags->disable_expand_ops},
		{"enable_cluster_ops", &flags->enable_cluster_ops},
		{"enable_cluster_ops_only", &flags->enable_cluster_ops_only},
		{"disable_cluster_ops", &flags->disable_cluster_ops},
		{"enable_packet_ops_only", &flags->enable_packet_ops_only},
		{"disable_packet_ops", &flags->disable_packet_ops},
	};

	for (size_t f = 0; f < sizeof(given) / sizeof(given[0]); f++)
		for (size_t i = 0; i < given[f].names->count; i++) {
			const char *name = given[f].names->items[i];

			if (!sk_op_is_known(name))
				sk_warning(diag, flags->place, "unknown operator '%s' in the flag %s%s", name,
					   given[f].flag,
					   sk_flags_may_suggest(diag) ? suggest_operator(arena, name) : "");
		}
}
