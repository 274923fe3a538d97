/* sklink: from kernel objects and a manifest or a model to a package. This file lists the phases of a link. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/timing.h"
#include "format/exchange.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "graph/onnx/onnx.h"
#include "linker/linker.h"
#include "src/bind/bind.h"
#include "src/command/command.h"
#include "src/draft/draft.h"
#include "src/link/link.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "src/outputs/outputs.h"
#include "src/package/package.h"

/* Options about a model are errors without a model. */
static void check_options(const struct sk_link *link)
{
	if (link->command->model_option)
		sk_error(link->diag, (struct sk_place){.file = link->command->manifest},
			 "%s is about a model, and this manifest names none ('graph')", link->command->model_option);
}

/* Read the manifest for other sizes. */
static struct sk_model *read_sample(void *context, struct sk_arena *arena, const uint64_t *sizes)
{
	const struct sk_link *link = context;
	struct sk_model *model = sk_model_create(arena, link->diag);

	model->root = link->model->root;
	model->ranks = link->model->ranks;
	model->given_sizes = link->model->given_sizes;
	model->sizes = link->model->sizes;
	model->sizes_at = sizes;
	return sk_manifest_read(model, link->command->manifest) ? model : NULL;
}

static bool read_manifest(struct sk_link *link)
{
	struct sk_model *model = link->model;

	sk_command_read_ahead(link->command, link->arena, link->linker);
	model->given_sizes = link->command->dimensions;
	if (!sk_manifest_read(model, link->command->manifest))
		return false;
	if (!model->graph.path.text) {
		model->package = sk_package_stem(link->arena, link->command->soname);
		check_options(link);
		return !model->has_bounds ||
		       sk_model_sample(model, &(struct sk_sample_source){.read = read_sample, .context = link});
	}
	sk_linker_wait_ahead(link->linker);

	bool read = sk_network_read(link, model->graph.path.text);

	if (read)
		sk_manifest_check_scopes(model);
	return read;
}

/* Reading ahead begins after the graph has been read. Constants are computed in a child process, where locks held by
 * threads of this one would stay locked. */
static bool read_graph(struct sk_link *link)
{
	sk_model_set_file(link->model, link->command->manifest);

	bool read = sk_network_read(link, link->command->manifest);

	if (!link->has_inputs)
		sk_command_read_ahead(link->command, link->arena, link->linker);
	return read;
}

/* Take the ranks of the command line. */
static bool read_ranks(const struct sk_link *link)
{
	const struct sk_command_line *command = link->command;
	const struct sk_place place = {.file = command->manifest};
	bool read = !command->ranks || sk_model_set_ranks(link->model, command->ranks, place);

	for (size_t i = 0; i < command->groups.count && read; i++) {
		const char *text = command->groups.items[i], *sign = strchr(text, '=');

		if (sign) {
			read = sk_model_add_group(link->model, sk_arena_copy(link->arena, text, (size_t)(sign - text)),
						  sign + 1, place);
			continue;
		}
		sk_error(link->diag, place, "--group '%s': NAME=RANKS is expected, such as tp=0,1/2,3", text);
		read = false;
	}
	return read;
}

static bool read_network(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;
	struct sk_model *model = link->model;

	if (!read_ranks(link))
		return false;

	bool read = sk_onnx_is_model(command->manifest) ? read_graph(link) : read_manifest(link);
	size_t count = read ? command->scope_options.count : 0;

	for (size_t i = 0; i < count; i++)
		read &= sk_scope_options_override(model, command->scope_options.items[i].place,
						  command->scope_options.items[i].text);
	sk_model_add_dependencies(model, link->linker);
	return sk_scope_options_check(model, sk_command_strip_option(command), command->relocatable) && read;
}

/* An object of -r has no section for ranks. */
static bool check_ranks(const struct sk_link *link)
{
	const struct sk_place place = {.file = link->command->manifest};
	const struct sk_model *model = link->model;
	bool exchanges = !model->ranks;

	if (model->ranks && link->command->relocatable) {
		sk_error(link->diag, place, "-r is for one process; a package of ranks is loaded");
		return false;
	}
	for (size_t t = 0; t < model->tasks.count && !exchanges; t++)
		exchanges = model->tasks.items[t].said.exchange != NULL;
	if (!exchanges)
		sk_warning(link->diag, place, "no task exchanges data between the %" PRIu32 " ranks",
			   model->ranks->ranks);
	return true;
}

static bool read_model(struct sk_link *link)
{
	sk_timing_begin(link->timing, "manifest", NULL);
	sk_command_add_dependencies(link->command, link->linker);
	bool read = read_network(link);
	/* Tensors, tasks and scopes have names, types and shapes; kernels are not known yet. */

	if (!sk_pass_inputs(link))
		return false;
	if (!read && (sk_onnx_is_model(link->command->manifest) || link->model->graph.path.text))
		sk_kernels_find(link->model, link->linker); /* reports missing kernels at the same time */
	return read && check_ranks(link) && sk_pass_bind(link);
}

static bool link_package(struct sk_link *link)
{
	if (!read_model(link) || !sk_pass_plan(link))
		return false;
	/* The plan is complete. From here on only the plan matters; the model no longer does. */

	if (!sk_outputs_check(link) || !sk_pass_link(link))
		return false;
	sk_outputs_prepare(link);
	sk_timing_next(link->timing, "write");
	bool written = sk_network_dump_places(link) && sk_outputs_write(link);

	sk_timing_end(link->timing);
	return written;
}

static void run_link(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	if (command->statistics || command->time_trace)
		link->timing = sk_timing_create(link->arena);
	link->linker = sk_command_create_linker(command, link->arena, link->diag, link->timing, &link->lines);
	link->model = sk_model_create(link->arena, link->diag);
	if (command->root)
		link->model->root = command->root;
	link->model->allowed_isa = command->isa;
	link->wants_facts = sk_outputs_want_facts(command);

	if (command->checked_rules) {
		sk_check_rules(link, command->checked_rules);
		return;
	}

	bool linked = link_package(link);

	/* A reproduction is most useful for links that fail. If it is an input, an error has been reported. */
	if (command->reproduction && !command->check && !sk_linker_has_input(link->linker, command->reproduction))
		sk_reproduction_write(link->diag, command, sk_fusion_flags_of_environment(link), link->linker);
	if (linked)
		sk_outputs_print(link);
}

/* What a model asks for and is not there is one message. */
static void join_errors(const struct sk_link *link)
{
	const char *manifest = link->command->manifest;

	if (!manifest || !link->model)
		return;
	if (link->model->graph.path.text)
		manifest = link->model->graph.path.text;
	else if (!sk_onnx_is_model(manifest))
		return;
	sk_diag_join_alike(link->diag, (struct sk_place){.file = manifest}, "nodes and values",
			   link->command->error_limit);
}

int main(int argc, char **argv)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_command_line command;
	struct sk_diag diag;
	struct sk_link link = {.arena = arena, .diag = &diag, .command = &command, .lines = stdout};

	sk_diag_init(&diag, arena);

	bool understood = sk_command_parse(arena, &diag, argc, argv, &command);

	if (command.help)
		sk_command_print_help(arena, stdout);
	else if (command.version)
		puts("sklink " PACKAGE_VERSION);
	else if (understood && command.described)
		sk_draft_print(arena, &diag, command.described, stdout);
	else if (understood)
		run_link(&link);
	join_errors(&link);
	sk_outputs_finish(&diag);
	sk_diag_flush(&diag, "sklink", command.error_limit, stderr);
	sk_linker_destroy(link.linker);

	bool failed = diag.errors;

	sk_dims_close(&link.dims);
	sk_plan_close(&link.plan);
	sk_arena_destroy(arena);
	return failed ? 1 : 0;
}
