/* Turns a model file into tasks; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "graph/dumps/dumps.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/onnx/onnx.h"
#include "graph/passes/passes.h"
#include "graph/rewrites/rewrites.h"
#include "graph/rules/rules.h"
#include "linker/linker.h"
#include "src/bind/bind.h"
#include "src/command/command.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "src/package/package.h"

/* State common to all networks of the link. */
struct reading {
	struct sk_link *link;
	const char *network; /* the one that is being read; NULL: the only one */
	const char *path;
	struct sk_networks networks;
	struct sk_constants *constants; /* NULL: a single network */
	struct sk_graph_passes passes;
	struct sk_ge_request *ge;
	sk_dumped_graphs *dumped;
};

/* --model-text. The text includes the effects of all options that have been applied, so that reading it back requires
 * only --state. */
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

/* Each of several networks has a directory of its own. NULL: no dumps are wanted. */
static const char *dump_folder(const struct sk_link *link, const char *network)
{
	const char *folder = sk_command_destination(link->command, link->command->dump_folder);

	return folder && network ? sk_arena_print(link->arena, "%s/%s", folder, network) : folder;
}

/* Texts have a directory of their own, within that of dumps or else within the current one. */
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

/* If the model is itself a dump, dumping must not replace it or its constants. */
static bool check_dumps(const struct reading *reading, const char *network)
{
	const struct sk_link *link = reading->link;
	const char *folder = dump_folder(link, network), *path = reading->path, *slash = strrchr(path, '/');

	if (sk_ge_request_replaces(link->arena, reading->ge, path)) {
		sk_error(link->diag, (struct sk_place){.file = path},
			 "could be replaced by a dump; set DUMP_GRAPH_PATH to another directory");
		return false;
	}
	if (!folder || !sk_file_same(path, sk_arena_print(link->arena, "%s/%s", folder, slash ? slash + 1 : path)))
		return true;
	sk_error(link->diag, (struct sk_place){.file = path},
		 "is in the directory of --dump-dir; give the dumps another one");
	return false;
}

/* A graph that cannot be linked still becomes tasks, so that missing kernels are reported at the same time. */
static bool lower_rest(struct sk_op_graph *graph, const sk_graph_calls *calls, struct sk_model *model)
{
	graph->inputs.count = graph->outputs.count = 0;
	sk_graph_lower(graph, calls, NULL, NULL, model);
	return false;
}

/* Apply the options and the manifest's keys about inputs and scopes. */
static bool apply_given(const struct reading *reading, const char *network, struct sk_op_graph *graph)
{
	const struct sk_link *link = reading->link;
	const struct sk_graph_file *file = &link->model->graph;
	bool given = sk_given_apply(link->command, file, &reading->networks.dimensions, network, graph);

	for (size_t i = 0; i < graph->data.count; i++)
		sk_linker_add_dependency(link->linker, graph->data.items[i], true);
	return given && sk_scopes_assign(link->command, file, graph) && write_text(link, graph);
}

/* Infer types and shapes in another graph of the file, of which only those of the values in graph->undeclared are used.
 * What is wrong there may be outside of the part that is wanted, and is not reported. */
static bool infer_whole(const struct reading *reading, const char *network, const sk_texts *names,
			struct sk_op_graph *graph)
{
	struct sk_link link = *reading->link;
	struct sk_op_graph *whole;
	struct sk_diag said;

	sk_diag_init(&said, link.arena);
	link.diag = &said;
	whole = sk_onnx_read(link.arena, &said, reading->path, link.command->external_links);
	if (!whole)
		return false;
	whole->undeclared = *names;
	sk_undeclared_take(whole, graph); /* what is known from an earlier turn, and constant now */
	for (size_t i = 0; i < names->count; i++) {
		uint32_t value = sk_map_find(&whole->value_names, names->items[i], strlen(names->items[i]));

		if (value != SK_NONE)
			whole->values.items[value].output = true; /* so its node stays */
	}
	sk_graph_take_narrow(whole);
	whole->groups = graph->groups;
	whole->dimensions_of = network;
	whole->sizes_at = graph->sizes_at;
	sk_given_apply(link.command, &link.model->graph, &reading->networks.dimensions, network, whole);
	sk_graph_infer(whole, sk_fold_values, &link);
	sk_undeclared_take(graph, whole);
	return true;
}

/* A value that --freeze names can decide the shape of another one: then that is known in the next turn. */
static void take_types(const struct reading *reading, const char *network, struct sk_op_graph *graph)
{
	size_t before = SIZE_MAX;
	sk_texts names = {NULL, 0, 0};

	sk_cut_list_undeclared(reading->link->command, graph);
	sk_given_list_undeclared(reading->link->command, &reading->link->model->graph, &reading->networks.dimensions,
				 graph);
	for (size_t i = 0; i < graph->undeclared.count; i++)
		sk_array_push(graph->arena, &names, graph->undeclared.items[i]);
	while (graph->undeclared.count && graph->undeclared.count < before) {
		sk_texts all = {NULL, 0, 0};

		for (size_t i = 0; i < names.count; i++)
			sk_array_push(graph->arena, &all, names.items[i]);
		before = graph->undeclared.count;
		if (!infer_whole(reading, network, &all, graph))
			break;
	}
	graph->undeclared.count = 0;
}

/* Apply --inputs and --outputs. */
static bool cut(const struct reading *reading, const char *network, struct sk_op_graph *graph)
{
	const struct sk_command_line *command = reading->link->command;

	take_types(reading, network, graph);
	return !sk_cut_is_wanted(command) || sk_cut_apply(command, graph);
}

/* Return NULL after an error. */
static struct sk_dumps *fuse(const struct reading *reading, struct sk_op_graph *graph, const char *network)
{
	struct sk_dumps *dumps;

	sk_scopes_collect(graph);
	sk_rewrite_sweep(graph);
	dumps = sk_dumps_begin(graph, dump_folders(reading, network));
	return dumps && sk_graph_passes_run(graph, &reading->passes, dumps) ? dumps : NULL;
}

/* Exporters give the graphs of all models the same name, and a program may have several packages. If no name is given
 * for the launches, the package gets the name of its file, unless it has a soname. Its launches also get that name,
 * except in a loaded file: the contents of a loaded file do not depend on its name. */
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
		sk_fold_close(draft);
	return sk_scopes_take_options(graph, model) &&
	       (graph->side_by_side ||
		sk_scope_options_override(model, reading->passes.flags.place, "*=parallel-fusion=0"));
}

/* ---- sizes with bounds ---- */

/* Return why the dimensions cannot have bounds; NULL: they can. */
static const char *find_wrong_dimension(const struct sk_op_graph *graph)
{
	size_t bounded = 0, all = 0;

	for (size_t d = 0; d < sk_sizes_count(graph->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(graph->sizes, d);

		all += dimension->least < dimension->most;
		if (!sk_size_dimension_is_of(dimension, graph->dimensions_of))
			continue;
		bounded += dimension->least < dimension->most;
	}
	if (all > SK_MAX_DIMENSIONS)
		return sk_arena_print(graph->arena,
				      "%zu dimensions of all networks have bounds, which are more than %d", all,
				      SK_MAX_DIMENSIONS);
	return bounded > SK_MOST_BOUNDED
		       ? sk_arena_print(graph->arena, "%zu dimensions have bounds, which are more than %d", bounded,
					SK_MOST_BOUNDED)
		       : NULL;
}

/* Return why this link cannot have sizes with bounds; NULL: it can. */
static const char *find_obstacle(const struct reading *reading, const struct sk_op_graph *graph)
{
	if (reading->ge->folder)
		return "GE's dumps (DUMP_GE_GRAPH) have no sizes with bounds; give the dimensions numbers, or use "
		       "--dump-dir=DIR in place of DUMP_GE_GRAPH, which writes expressions";
	return find_wrong_dimension(graph);
}

static void add_expression(struct sk_model *model, struct sk_map *known, const struct sk_size *size)
{
	uint32_t number = (uint32_t)model->size_expressions.count;

	if (size && !sk_size_is_number(size, NULL) &&
	    sk_map_insert(known, sk_arena_copy(model->arena, (const char *)&size, sizeof(size)), sizeof(size),
			  number) == number)
		sk_array_push(model->arena, &model->size_expressions, size);
}

/* The dimensions of all values, the products of the dimensions of each, and integers that calls write. */
static void add_expressions(struct sk_model *model, const struct sk_op_graph *graph)
{
	struct sk_map known;

	sk_map_init(&known, model->arena);
	for (size_t v = 0; v < graph->values.count; v++) {
		const struct sk_value *value = &graph->values.items[v];
		const struct sk_size *elements = sk_size_number(graph->sizes, 1);

		for (uint32_t d = 0; d < value->rank; d++) {
			add_expression(model, &known, value->sizes[d]);
			if (value->sizes[d])
				elements = sk_size_multiply(graph->sizes, elements, value->sizes[d]);
		}
		add_expression(model, &known, elements);
		for (uint64_t i = 0; value->terms && i < sk_value_elements(value); i++)
			add_expression(model, &known, value->terms[i]);
	}
}

/* Give the model the sizes of its graph. The shapes of the graph are known. */
static bool take_sizes(const struct reading *reading, struct sk_op_graph *graph)
{
	struct sk_model *model = reading->link->model;
	const char *obstacle = graph->sizes && !graph->sizes_at ? find_obstacle(reading, graph) : NULL;
	uint64_t *largest;

	if (obstacle)
		sk_graph_refuse_bounds(graph, obstacle);
	if (!graph->sizes || graph->sizes_at || obstacle)
		return !obstacle;
	largest = SK_NEW_ARRAY(model->arena, uint64_t, sk_sizes_count(graph->sizes) + 1);
	sk_sizes_choose(graph->sizes, 1, largest);
	model->sizes = graph->sizes;
	model->sizes_at = largest;
	model->has_bounds = true;
	add_expressions(model, graph);
	return true;
}

/* Constants of the file are those of the graph at the largest sizes. */
static void take_constants(const struct reading *reading, struct sk_op_graph *graph)
{
	struct sk_known_contents *known = reading->link->known;

	for (size_t v = 0; v < graph->values.count && graph->sizes; v++) {
		struct sk_value *value = &graph->values.items[v];
		const void *contents = value->contents ? sk_known_find(known, graph, value, 0) : NULL;

		if (contents)
			value->contents = contents;
		else if (value->contents)
			sk_known_add(known, value, 0);
	}
}

/* ---- networks ---- */

/* After the passes of a graph: to calls, and to tasks. */
static bool finish_network(const struct reading *reading, struct sk_op_graph *graph, const char *network,
			   sk_graph_calls *calls, struct sk_dumps *dumps)
{
	const struct sk_link *link = reading->link;
	struct sk_file_draft draft = {0}, *first = &link->model->draft;

	if (!sk_fold_calls(link, graph, calls, graph->sizes_at ? NULL : first->bytes ? &draft : first))
		return false;
	/* Values that depend on constants only are constants. */

	if (!sk_graph_passes_end(graph, calls, &reading->passes, dumps))
		return false;
	/* Parts of split or joined values are placed so that nothing has to move them, as far as that is allowed. */

	sk_graph_unify_constants(graph, calls);
	/* Equal constants are merged. */

	if (!sk_graph_keep_states(graph, calls))
		return false;
	/* States that the next run reads are stored where this run reads them. */

	sk_graph_set_network(graph, network);
	/* Names that only this network has in the package begin with the network's name. */

	if (dump_folder(link, network))
		sk_array_push(link->arena, reading->dumped, ((struct sk_dumped_graph){graph, dumps}));
	return lower(reading, graph, calls, &draft);
}

/* A link that fails explains no tasks. Tell the decisions that passes have made about nodes to be explained. */
static void tell_decisions(const struct sk_link *link, const struct sk_op_graph *graph)
{
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = 0; i < link->command->explained.count; i++)
			for (size_t r = 0; r < node->refusals.count; r++)
				if (!strcmp(link->command->explained.items[i], sk_node_name(graph, node)))
					sk_note(link->diag, "node '%s': %s", sk_node_name(graph, node),
						node->refusals.items[r]);
	}
}

/* Without its data a network is checked up to its kernels: no constant is computed. */
static void warn_of_absent(const struct sk_op_graph *graph)
{
	sk_warning_alike(graph->diag, (struct sk_place){.file = graph->file}, graph->absent_data, graph->absent_data,
			 "this file of the model's data is absent; operators, shapes and kernels are checked, and "
			 "nothing else");
}

/* `sizes_at`: of a sample; NULL: the largest. */
static bool read_network(const struct reading *reading, const char *network, const uint64_t *sizes_at)
{
	const struct sk_link *link = reading->link;
	const struct sk_onnx_reading how = {
		.links = link->command->external_links, .no_data = link->command->check, .partial = true};
	struct sk_op_graph *graph = sk_onnx_read_as(link->arena, link->diag, reading->path, &how);
	sk_graph_calls calls = {NULL, 0, 0};
	struct sk_dumps *dumps = NULL;
	bool complete;

	if (!graph)
		return false;
	/* Nodes come after those that they need; types and shapes are as in the file. */

	graph->groups = link->model->ranks;
	graph->sizes_at = sizes_at;
	graph->dimensions_of = network;
	graph->all_sizes = sizes_at ? NULL : link->model->sizes;
	if (!check_dumps(reading, network) || !cut(reading, network, graph) || !apply_given(reading, network, graph))
		return false;
	sk_graph_take_narrow(graph);
	/* Constants have types of sklink: weights of 4 bits are operands of products, or numbers. */

	take_constants(reading, graph);
	/* Inputs and scopes also reflect the manifest and the command line. */

	complete = sk_graph_infer(graph, sk_fold_values, link) && !graph->partial;
	if (complete && !take_sizes(reading, graph))
		return false;
	/* Every value has a known type and shape. */

	if (complete && !(dumps = fuse(reading, graph, network)))
		return false;
	/* Operators are those that graph-kernel fusion makes, and nodes are members of composites. */

	if (complete)
		sk_graph_quantise(graph);
	/* Products between quantised values are products of integers. */

	sk_graph_normalise(graph);
	/* Operations that only scale and shift the result of a convolution are part of it. */

	sk_graph_keep_outputs(graph);
	complete = complete && sk_graph_begin_caches(graph, &calls);
	complete &= sk_graph_canonical(graph, graph->outputs.items, graph->outputs.count, &calls);
	sk_graph_end_caches(graph, &calls);
	/* Every node is calls in forms that kernels have. States that grow are caches. */

	if (complete && graph->absent_data)
		warn_of_absent(graph);
	else if (complete)
		return finish_network(reading, graph, network, &calls, dumps);
	tell_decisions(link, graph);
	sk_graph_set_network(graph, network);
	return lower_rest(graph, &calls, link->model);
}

/* The state for the samples of a network. */
struct sampling {
	struct reading reading;
	struct sk_known_contents *known;
	size_t first_tensor; /* of the network */
};

/* Options that concern output files only do not apply to a sample. */
static struct sk_model *read_sample(void *context, struct sk_arena *arena, const uint64_t *sizes)
{
	const struct sampling *sampling = context;
	struct reading reading = sampling->reading;
	struct sk_command_line command = *reading.link->command;
	struct sk_fusion_results results = {0};
	struct sk_ge_request ge = {0};
	sk_dumped_graphs dumped = {0};
	struct sk_link link = *reading.link;

	command.model_text = command.dump_folder = NULL;
	link.command = &command;
	link.arena = arena;
	link.known = sampling->known;
	link.model = sk_model_create(arena, link.diag);
	sk_model_set_file(link.model, reading.link->model->manifest);
	link.model->root = reading.link->model->root;
	link.model->ranks = reading.link->model->ranks;
	link.model->graph = reading.link->model->graph;
	link.model->package = reading.link->model->package;
	link.model->draft = reading.link->model->draft; /* constants have the same order */
	for (size_t t = 0; t < sampling->first_tensor; t++)
		sk_graph_lower_tensor(link.model, &reading.link->model->tensors.items[t]);
	if (reading.constants)
		reading.constants = sk_constants_before(reading.constants, arena, (uint32_t)sampling->first_tensor);
	reading.link = &link;
	reading.ge = &ge;
	reading.dumped = &dumped;
	reading.passes.flags.dump_as_text = false;
	reading.passes.results = &results;
	reading.passes.verbose = false;
	return read_network(&reading, reading.network, sizes) ? link.model : NULL;
}

/* Return the place of the network's first dimension. */
static size_t first_dimension(const struct sk_sizes *sizes, const char *network)
{
	size_t first = 0;

	while (!sk_size_dimension_is_of(sk_sizes_dimension(sizes, first), network))
		first++;
	return first;
}

/* Read a network, and choose the sizes at which it is read again. */
static bool read_and_sample(const struct reading *reading, const char *network)
{
	const struct sk_link *link = reading->link;
	struct sk_model *model = link->model;
	struct sk_sample_source source = {.network = network,
					  .first_expression = model->size_expressions.count,
					  .first_tensor = model->tensors.count,
					  .first_task = model->tasks.count,
					  .first_slice = model->slices.count,
					  .read = read_sample};
	size_t dimensions = model->sizes ? sk_sizes_count(model->sizes) : 0;
	struct sampling *sampling = SK_NEW(link->arena, struct sampling);
	bool read = read_network(reading, network, NULL);

	if (!read || (model->sizes ? sk_sizes_count(model->sizes) : 0) == dimensions)
		return read;
	source.first_dimension = first_dimension(model->sizes, network);
	source.context = sampling;
	*sampling = (struct sampling){*reading, link->known, source.first_tensor};
	sampling->reading.network = network;
	sk_known_complete(link->known);
	return sk_model_sample(model, &source);
}

/* Read one of several networks. A network without tasks is an error, since the package would not show it. */
static bool read_one_of(const struct reading *reading, const struct sk_name *network)
{
	const struct sk_link *link = reading->link;
	size_t tasks = link->model->tasks.count;
	unsigned errors = link->diag->errors;
	bool read;

	reading->link->known = sk_known_create(link->arena);
	read = read_and_sample(reading, network->text);
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
		return read_and_sample(reading, NULL);
	if (link->command->model_text) {
		sk_error(link->diag, (struct sk_place){.file = reading->path},
			 "--model-text writes one network, and --dim makes networks with names");
		return false;
	}
	reading->constants = sk_constants_create(link->arena);
	reading->link->folded = sk_known_create(link->arena);
	for (size_t i = 0; i < reading->networks.names.count && !sk_diag_is_hopeless(link->diag); i++)
		read &= read_one_of(reading, &reading->networks.names.items[i]);
	return read;
}

/* Read the user's rules, the command line's before the manifest's. */
static bool read_rules(const struct sk_link *link, struct sk_fusion_flags *flags)
{
	const sk_texts *given = &link->command->rules;
	const sk_names *named = &link->model->graph.rules;
	struct sk_rules *rules = SK_NEW(link->arena, struct sk_rules);
	const char *mode = link->command->torchair_mode;
	bool read = true;

	for (size_t i = 0; i < given->count + named->count; i++) {
		const char *file = i < given->count ? given->items[i] : named->items[i - given->count].text;

		read &= sk_rules_read(link->arena, link->diag, file, rules);
		sk_linker_add_dependency(link->linker, file, true);
	}
	flags->rules = rules;
	flags->no_patterns = link->command->no_pattern_fusion || link->model->graph.no_patterns;
	flags->max_autotune = mode && !strcmp(mode, "max-autotune");
	if (mode && !flags->max_autotune && strcmp(mode, "reduce-overhead") != 0) {
		sk_error(link->diag, (struct sk_place){0},
			 "--torchair-mode wants max-autotune or reduce-overhead, not '%s'", mode);
		read = false;
	}
	flags->own_rules = SK_NEW(link->arena, struct sk_rules);
	if (link->command->fold && strcmp(link->command->fold, "all") != 0) {
		sk_error(link->diag, (struct sk_place){0}, "--fold wants all, not '%s'", link->command->fold);
		read = false;
	}
	return read;
}

/* Read the command line's switch file, or else the manifest's. */
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

/* Read the variables of GE's dumps. These go to the directory of the other dumps or, without that, to the current
 * one. */
static bool read_ge_request(const struct sk_link *link, struct sk_ge_request *request)
{
	const struct sk_command_line *command = link->command;
	const char *folder = command->dump_folder ? command->dump_folder : ".";

	const struct sk_ge_variables variables = {command->check ? NULL : command->ge_extent, command->ge_level,
						  command->ge_folder, command->ge_format};

	return sk_ge_request_read(link->diag, &variables, folder, request);
}

/* Write fusion_result.json to the requested path, and among the dumps. */
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
	struct sk_ge_request *ge = SK_NEW(link->arena, struct sk_ge_request);
	struct sk_fusion_results results = {0};
	struct reading reading = {
		.link = link,
		.path = path,
		.passes = {.check = {sk_have_kernels, link}, .results = &results, .verbose = link->command->verbose},
		.ge = ge,
		.dumped = &link->dumped};
	struct sk_model *model = link->model;

	link->known = sk_known_create(link->arena);
	link->children = SK_NEW(link->arena, uint64_t);
	model->package = sk_package_stem(link->arena, link->command->soname);
	model->names_launches = model->package;
	if (!sk_fusion_flags_given(link, &reading.passes.flags) || !read_switches(link, &reading.passes.flags) ||
	    !read_rules(link, &reading.passes.flags) || !read_ge_request(link, ge) ||
	    !sk_graph_passes_begin(link->arena, link->diag, &reading.passes))
		return false;
	/* The passes to run are chosen, once for all networks. */

	return sk_networks_list(link->command, &model->graph, path, link->arena, link->diag, &reading.networks) &&
	       read_networks(&reading) && write_results(link, &results) &&
	       (!reading.passes.flags.enable_debug_mode ||
		sk_scope_options_override(model, reading.passes.flags.place, "*=debug-sync-all=1"));
}

/* Return the plan's temporaries by name. */
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

/* A value in another value's bytes has its place relative to that value. */
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

/* A constant that is a view of another constant is also a constant. */
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
