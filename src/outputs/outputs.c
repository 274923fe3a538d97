/* Selects the outputs that the command asks for, and the data for each; see outputs.h. */
#include "src/outputs/outputs.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "base/timing.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "src/command/command.h"
#include "src/link/link.h"
#include "src/outputs/outputs-parts.h"
#include "src/package/package.h"
#include "src/proof/proof.h"

bool sk_outputs_want_facts(const struct sk_command_line *command)
{
	return command->report || command->explained.count;
}

/* Return true if the task has been left out of the plan. */
static bool is_idle(const struct sk_link *link, const char *name)
{
	for (size_t i = 0; i < link->model->idle.count; i++)
		if (!strcmp(link->model->idle.items[i].name, name))
			return true;
	return false;
}

bool sk_outputs_check(const struct sk_link *link)
{
	bool ok = true;

	for (size_t i = 0; i < link->command->explained.count; i++) {
		const char *name = link->command->explained.items[i];

		ok &= is_idle(link, name) || sk_account_has_node(&link->account, name) ||
		      sk_explain_find(link->diag, &link->plan, name) != SK_NO_INDEX;
	}
	return ok;
}

/* Print facts that the plan does not have: the rule that made the node, the rules that have not expanded it, and
 * further kernels that its op could have selected. */
static void tell_more(const struct sk_link *link, const char *name)
{
	for (size_t i = 0; i < link->model->tasks.count; i++) {
		const struct sk_task *task = &link->model->tasks.items[i];

		if (strcmp(task->name, name))
			continue;
		if (task->told.rule)
			fprintf(link->explained.stream, "  Its node was made by rule %s.\n",
				sk_arena_escape(link->arena, task->told.rule));
		for (size_t r = 0; r < task->told.refusals.count; r++)
			fprintf(link->explained.stream, "  %s.\n",
				sk_arena_escape(link->arena, task->told.refusals.items[r]));
		if (task->told.others)
			fputs(task->told.others, link->explained.stream);
	}
}

static void explain_tasks(struct sk_link *link)
{
	sk_text_open(&link->explained);

	struct sk_plan_view room, *usual = sk_usual_plan(&link->plan, &link->dims, &room);
	const struct sk_explanation_index index =
		sk_explanation_index(link->arena, &link->plan, &link->dims, usual, &link->facts);
	const struct sk_explanation explanation = {link->arena,	 &link->plan, &link->account,
						   &link->facts, &index,      link->explained.stream};

	for (size_t i = 0; i < link->command->explained.count; i++) {
		const char *name = link->command->explained.items[i];

		if (is_idle(link, name))
			fprintf(link->explained.stream,
				"task '%s': it has nothing to compute, since its outputs have no elements; its "
				"kernel is not called\n",
				sk_arena_escape(link->arena, name));
		else
			sk_explain_tasks(&explanation, link->diag, &name, 1);
		if (sk_account_has_node(&link->account, name))
			sk_virtual_nodes_explain(link->model, link->explained.stream);
		tell_more(link, name);
	}
	for (size_t i = 0; i < link->model->grown.count && link->command->explained.count; i++)
		fprintf(link->explained.stream, "constant %s.\n",
			sk_arena_escape(link->arena, link->model->grown.items[i]));
	if (usual)
		sk_plan_close(usual);
	sk_text_close(link->arena, &link->explained);
}

void sk_outputs_prepare(struct sk_link *link)
{
	if (sk_command_destination(link->command, link->command->map_file))
		sk_linker_end_map(link->linker,
				  sk_shares_text(link->model, &link->plan, link->parts.entries, link->linker));
	explain_tasks(link);
}

static bool write_header(const struct sk_link *link)
{
	const struct sk_command_line *command = link->command;
	struct sk_header_contents contents = {
		.name = link->parts.name,
		.image = &link->image,
		.plan = &link->plan,
		.dims = &link->dims,
		.plan_symbol = command->relocatable ? link->parts.plan_symbol : NULL,
	};

	if (command->embed)
		contents.bytes = sk_linker_bytes(link->linker, &contents.size);
	return sk_header_write(link->arena, link->diag, sk_command_destination(command, command->header), &contents);
}

static bool write_decisions(const struct sk_link *link)
{
	struct sk_linker_statistics counts;

	sk_linker_count(link->linker, &counts);
	return sk_decisions_write(link->arena, link->diag, sk_command_destination(link->command, link->command->report),
				  &(struct sk_decisions){
					  .manifest = link->command->manifest,
					  .device = link->model->device,
					  .plan = &link->plan,
					  .dims = &link->dims,
					  .model = link->model,
					  .account = &link->account,
					  .without_groups = &link->without_groups,
					  .facts = &link->facts,
					  .entries = link->parts.entries,
					  .output_size = counts.output_size,
				  });
}

static bool write_weights(const struct sk_link *link)
{
	const struct sk_package_weights *weights = &link->parts.weights;

	return link->command->check || !weights->path ||
	       sk_file_write(link->diag, weights->path, 0666, weights->file.items, weights->file.count,
			     &link->model->draft);
}

bool sk_outputs_write(const struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	return (!command->header || write_header(link)) && (!command->report || write_decisions(link)) &&
	       write_weights(link) &&
	       sk_linker_write(link->linker, command->output, command->weights ? NULL : &link->model->draft);
}

static void write_time_trace(const struct sk_link *link)
{
	const char *trace = sk_timing_trace(link->timing, "sklink");

	sk_file_write_text(link->diag, sk_command_destination(link->command, link->command->time_trace), trace,
			   strlen(trace));
}

void sk_outputs_print(const struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	fputs(link->explained.bytes, stdout);
	if (command->statistics)
		sk_statistics_print(&(struct sk_statistics){.linker = link->linker,
							    .plan = &link->plan,
							    .dispatcher_size = sk_entries_size(link->parts.entries),
							    .fusion_steps = link->fusion_steps,
							    .memory_steps = link->memory_steps,
							    .proof_steps = link->proof_steps,
							    .children = link->children ? *link->children : 0,
							    .timing = link->timing},
				    stdout);
	if (command->time_trace)
		write_time_trace(link);
}

void sk_outputs_finish(struct sk_diag *diag)
{
	const char *changed = sk_mapped_changed();

	if (changed)
		sk_error(diag, (struct sk_place){.file = changed},
			 "the file has changed while it was linked; link again once it is complete");
	if (fflush(stdout) || ferror(stdout))
		sk_error(diag, (struct sk_place){0}, "cannot write to standard output");
	if (diag->errors)
		sk_unfinished_remove_all();
	else
		sk_files_finish(diag);
}
