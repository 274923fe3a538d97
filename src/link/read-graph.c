/* From a model file to tasks; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "graph/dumps/dumps.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/onnx/onnx.h"
#include "graph/passes/passes.h"
#include "graph/rewrites/rewrites.h"
#include "graph/rules/rules.h"
#include "linker/linker.h"
#include "src/command/command.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "src/package/package.h"

/* What all networks of the link have in common. */
struct reading {
	const struct sk_link *link;
	const char *path;
	struct sk_networks networks;
	struct sk_constants *constants; /* NULL: there is one network */
	struct sk_graph_passes passes;
	struct sk_ge_request *ge;
	sk_dumped_graphs *dumped;
};

/* --model-text: who reads it needs none of the options that have been applied, but for --state. */
static bool write_text(const struct sk_link *link, const struct sk_op_graph *graph)
{
	const char *path = sk_command_destination(link->command, link->command->model_text);
	struct sk_text text;

	if (!path)
		return true;
	sk_text_open(&text);
	sk_onnx_write_text(graph, text.stream);
	sk_text_close(link->arena, &text);
	return sk_file_write_text(link->diag, path, text.bytes, text.size);
}

/* Each of several networks has a folder of its own. NULL: nobody wants dumps. */
static const char *dump_folder(const struct sk_link *link, const char *network)
{
	const char *folder = sk_command_destination(link->command, link->command->dump_folder);

	return folder && network ? sk_arena_print(link->arena, "%s/%s", folder, network) : folder;
}

/* Texts have a folder of their own, in that of dumps, or else in the current one. */
static struct sk_dump_folders dump_folders(const struct reading *reading, const char *network)
{
	const struct sk_link *link = reading->link;
	bool texts = reading->passes.flags.dump_as_text && !link->command->check;
	const char *dumps = dump_folder(link, network), *name = "graph_kernel_dump";

	if (dumps)
		name = sk_arena_print(link->arena, "%s/%s", dumps, name);
	else if (network)
		name = sk_arena_print(link->arena, "%s/%s", name, network);
	return (struct sk_dump_folders){dumps, texts ? name : NULL, reading->ge};
}

/* A model that is a dump itself would be replaced, or its constants would. */
static bool check_dumps(const struct reading *reading, const char *network)
{
	const struct sk_link *link = reading->link;
	const char *folder = dump_folder(link, network), *path = reading->path, *slash = strrchr(path, '/');

	if (sk_ge_request_replaces(link->arena, reading->ge, path)) {
		sk_error(link->diag, (struct sk_place){.file = path},
			 "could be replaced by a dump; let DUMP_GRAPH_PATH say another folder");
		return false;
	}
	if (!folder || !sk_file_same(path, sk_arena_print(link->arena, "%s/%s", folder, slash ? slash + 1 : path)))
		return true;
	sk_error(link->diag, (struct sk_place){.file = path},
		 "is in the folder of --dump-dir; give the dumps another one");
	return false;
}

/* Of a graph that cannot be linked there are tasks, too, so that what kernels are missing is said at the same time. */
static bool lower_rest(struct sk_op_graph *graph, const sk_graph_calls *calls, struct sk_model *model)
{
	graph->inputs.count = graph->outputs.count = 0;
	sk_graph_lower(graph, calls, NULL, NULL, model);
	return false;
}

/* Inputs and scopes become what the manifest and the command line say, too. */
static bool apply_given(const struct reading *reading, const char *network, struct sk_op_graph *graph)
{
	const struct sk_link *link = reading->link;
	const struct sk_graph_file *file = &link->model->graph;
	bool given = sk_given_apply(link->command, file, &reading->networks.dimensions, network, graph);

	for (size_t i = 0; i < graph->data.count; i++)
		sk_linker_add_dependency(link->linker, graph->data.items[i], true);
	return given && sk_scopes_assign(link->command, file, graph) && write_text(link, graph);
}

/* NULL after an error. */
static struct sk_dumps *fuse(const struct reading *reading, struct sk_op_graph *graph, const char *network)
{
	struct sk_dumps *dumps;

	sk_scopes_collect(graph);
	sk_rewrite_sweep(graph);
	dumps = sk_dumps_begin(graph, dump_folders(reading, network));
	return dumps && sk_graph_passes_run(graph, &reading->passes, dumps) ? dumps : NULL;
}

/* Exporters call the graphs of all models alike, and a program may have several. So a package with launches that nobody
 * has named is called after its file, if it has no soname; and so are these launches, but where it is a file that is
 * loaded: its bytes do not depend on its name. */
static void name_launches(const struct sk_link *link, const struct sk_op_graph *graph, const char *scope)
{
	const struct sk_command_line *command = link->command;
	struct sk_model *model = link->model;

	if (!model->package) {
		model->package = sk_package_stem(link->arena, command->output);
		model->names_launches = model->package && command->relocatable;
	}
	if (model->names_launches)
		sk_scopes_set_symbol(graph, model, scope);
}

static bool lower(const struct reading *reading, struct sk_op_graph *graph, const sk_graph_calls *calls,
		  const struct sk_file_draft *draft)
{
	struct sk_model *model = reading->link->model;
	const char *scope = sk_scopes_default(graph);

	sk_graph_lower(graph, calls, scope, reading->constants, model);
	if (scope)
		name_launches(reading->link, graph, scope);
	if (draft->bytes)
		sk_fold_close(draft, model);
	return sk_scopes_take_options(graph, model) &&
	       (graph->side_by_side ||
		sk_scope_options_override(model, reading->passes.flags.place, "*=parallel-fusion=0"));
}

static bool read_network(const struct reading *reading, const char *network)
{
	const struct sk_link *link = reading->link;
	struct sk_op_graph *graph = sk_onnx_read(link->arena, link->diag, reading->path, link->command->external_links);
	sk_graph_calls calls = {NULL, 0, 0};
	struct sk_file_draft draft = {0}, *first = &link->model->draft;
	struct sk_dumps *dumps = NULL;
	bool complete;

	if (!graph)
		return false;
	/* Nodes stand behind what they need; types and shapes are what the file says. */

	if (!check_dumps(reading, network) || !apply_given(reading, network, graph))
		return false;
	/* Inputs and scopes are what the manifest and the command line say, too. */

	complete = sk_graph_infer(graph, sk_fold_values, link);
	/* Every value is of a known type and shape. */

	if (complete && !(dumps = fuse(reading, graph, network)))
		return false;
	/* Operators are what graph-kernel fusion makes of them, and nodes are members of composites. */

	if (complete)
		sk_graph_quantise(graph);
	/* Products between quantised values are products of integers. */

	sk_graph_normalise(graph);
	/* What only scales and shifts the result of a convolution is part of it. */

	sk_graph_keep_outputs(graph);
	complete &= sk_graph_canonical(graph, graph->outputs.items, graph->outputs.count, &calls);
	/* Every node is calls in forms that kernels have. */

	if (!complete) {
		sk_graph_set_network(graph, network);
		return lower_rest(graph, &calls, link->model);
	}

	if (!sk_fold_calls(link, graph, &calls, first->bytes ? &draft : first))
		return false;
	/* What depends on constants only is a constant. */

	if (!sk_graph_passes_end(graph, &calls, &reading->passes, dumps))
		return false;
	/* Parts of what is split or joined lie where nothing has to move them, as far as that is allowed. */

	sk_graph_unify_constants(graph, &calls);
	/* Equal constants are one. */

	if (!sk_graph_keep_states(graph, &calls))
		return false;
	/* What the next run reads is where this one reads it. */

	sk_graph_set_network(graph, network);
	/* What the package has of it alone is called after the network. */

	if (dump_folder(link, network))
		sk_array_push(link->arena, reading->dumped, ((struct sk_dumped_graph){graph, dumps}));
	return lower(reading, graph, &calls, &draft);
}

/* One of several. Without a task nobody would know that there is such a network. */
static bool read_one_of(const struct reading *reading, const struct sk_name *network)
{
	const struct sk_link *link = reading->link;
	size_t tasks = link->model->tasks.count;
	unsigned errors = link->diag->errors;
	bool read = read_network(reading, network->text);

	if (read && link->model->tasks.count == tasks) {
		sk_error(link->diag, network->place, "network '%s' has nothing to compute", network->text);
		return false;
	}
	if (link->diag->errors != errors)
		sk_note(link->diag, "in network '%s'", network->text);
	return read;
}

static bool read_networks(struct reading *reading)
{
	const struct sk_link *link = reading->link;
	bool read = true;

	if (!reading->networks.names.count)
		return read_network(reading, NULL);
	if (link->command->model_text) {
		sk_error(link->diag, (struct sk_place){.file = reading->path},
			 "--model-text writes one network, and --dim makes networks with names");
		return false;
	}
	reading->constants = sk_constants_create(link->arena);
	for (size_t i = 0; i < reading->networks.names.count && !sk_diag_is_hopeless(link->diag); i++)
		read &= read_one_of(reading, &reading->networks.names.items[i]);
	return read;
}

/* The user's rules: those of the command line in front of the manifest's. */
static bool read_rules(const struct sk_link *link, struct sk_fusion_flags *flags)
{
	const sk_texts *given = &link->command->rules;
	const sk_names *named = &link->model->graph.rules;
	struct sk_rules *rules = SK_NEW(link->arena, struct sk_rules);
	bool read = true;

	for (size_t i = 0; i < given->count + named->count; i++) {
		const char *file = i < given->count ? given->items[i] : named->items[i - given->count].text;

		read &= sk_rules_read(link->arena, link->diag, file, rules);
		sk_linker_add_dependency(link->linker, file, true);
	}
	flags->rules = rules;
	flags->no_patterns = link->command->no_pattern_fusion || link->model->graph.no_patterns;
	flags->own_rules = SK_NEW(link->arena, struct sk_rules);
	return read;
}

/* Those of the command line, or the manifest's. */
static bool read_switches(const struct sk_link *link, struct sk_fusion_flags *flags)
{
	const char *file = link->command->switches;
	struct sk_switches *switches = SK_NEW(link->arena, struct sk_switches);

	file = file ? file : link->model->graph.switches.text;
	if (!file)
		return true;
	sk_linker_add_dependency(link->linker, file, true);
	sk_switches_init(switches, link->arena);
	flags->switches = switches;
	return sk_switches_read(link->arena, link->diag, file, switches);
}

/* The variables of GE's dumps, which are in the folder of the others or, without any, in the current one. */
static bool read_ge_request(const struct sk_link *link, struct sk_ge_request *request)
{
	const struct sk_command_line *command = link->command;
	const char *folder = command->dump_folder ? command->dump_folder : ".";

	const struct sk_ge_variables variables = {command->check ? NULL : command->ge_extent, command->ge_level,
						  command->ge_folder, command->ge_format};

	return sk_ge_request_read(link->diag, &variables, folder, request);
}

/* fusion_result.json, where it is asked for, and among the dumps. */
static bool write_results(const struct sk_link *link, const struct sk_fusion_results *results)
{
	const char *path = sk_command_destination(link->command, link->command->fusion_result);
	const char *folder = dump_folder(link, NULL);
	struct sk_text text;

	if (!path && !folder)
		return true;
	sk_text_open(&text);
	sk_fusion_results_print(link->arena, results, text.stream);
	sk_text_close(link->arena, &text);
	return (!path || sk_file_write_text(link->diag, path, text.bytes, text.size)) &&
	       (!folder || sk_file_write_text(link->diag, sk_arena_print(link->arena, "%s/fusion_result.json", folder),
					      text.bytes, text.size));
}

bool sk_network_read(struct sk_link *link, const char *path)
{
	struct sk_ge_request ge;
	struct sk_fusion_results results = {0};
	struct reading reading = {
		.link = link,
		.path = path,
		.passes = {.check = {sk_have_kernels, link}, .results = &results, .verbose = link->command->verbose},
		.ge = &ge,
		.dumped = &link->dumped};
	struct sk_model *model = link->model;

	model->package = sk_package_stem(link->arena, link->command->soname);
	model->names_launches = model->package;
	if (!sk_fusion_flags_given(link, &reading.passes.flags) || !read_switches(link, &reading.passes.flags) ||
	    !read_rules(link, &reading.passes.flags) || !read_ge_request(link, &ge) ||
	    !sk_graph_passes_begin(link->arena, link->diag, &reading.passes))
		return false;
	/* Which passes run is decided, once for all networks. */

	return sk_networks_list(link->command, &model->graph, path, link->arena, link->diag, &reading.networks) &&
	       read_networks(&reading) && write_results(link, &results) &&
	       (!reading.passes.flags.enable_debug_mode ||
		sk_scope_options_override(model, reading.passes.flags.place, "*=debug-sync-all=1"));
}

/* Temporaries of the plan by name. */
static struct sk_map temporaries_of(const struct sk_link *link)
{
	const struct sk_plan_view *plan = &link->plan;
	struct sk_map numbers;

	sk_map_init(&numbers, link->arena);
	for (uint32_t i = 0; i < plan->plan->tensors.count; i++) {
		const char *name = sk_plan_string(&plan->tensors[i].name);

		if (plan->tensors[i].space == SK_SPACE_WORKSPACE)
			sk_map_insert(&numbers, name, strlen(name), i);
	}
	return numbers;
}

/* What lies in another value's bytes has its place from there. */
static const int64_t *places_of(const struct sk_link *link, const struct sk_map *temporaries,
				const struct sk_op_graph *graph)
{
	int64_t *places = SK_NEW_ARRAY(link->arena, int64_t, graph->values.count + 1);

	for (uint32_t v = 0; v < graph->values.count; v++) {
		const char *root = graph->values.items[sk_value_root(graph, v)].name;
		uint32_t tensor = sk_map_find(temporaries, root, strlen(root));
		uint64_t offset = sk_value_offset(graph, v) * sk_dtype_size(graph->values.items[v].dtype);

		places[v] = tensor == SK_NONE ? -1 : (int64_t)(link->plan.tensors[tensor].offset + offset);
	}
	return places;
}

/* A constant whose bytes are another one's is a constant still. */
static void give_contents(struct sk_op_graph *graph)
{
	for (uint32_t v = 0; v < graph->values.count; v++) {
		struct sk_value *value = &graph->values.items[v];
		const char *contents = graph->values.items[sk_value_root(graph, v)].contents;

		if (contents && !value->contents)
			value->contents = contents + sk_value_offset(graph, v) * sk_dtype_size(value->dtype);
	}
}

bool sk_network_dump_places(const struct sk_link *link)
{
	const struct sk_map temporaries = link->dumped.count ? temporaries_of(link) : (struct sk_map){0};
	bool written = true;

	for (size_t i = 0; i < link->dumped.count && written; i++) {
		struct sk_op_graph *graph = link->dumped.items[i].graph;

		give_contents(graph);
		graph->places = places_of(link, &temporaries, graph);
		written = sk_dumps_placed(link->dumped.items[i].dumps, graph);
	}
	return written;
}
